//! `corr facts`: how a run was configured, who says so, and what nobody says.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;

use super::exit;
use crate::facts::collect;
use crate::query::sources;
use crate::render::events::Format;
use crate::render::facts::Answer;
use crate::render::paint::{Paint, When};
use crate::render::safe::terminal;
use crate::run::{self, Options};

/// Say how a run was configured, with the record, launch command or plan that says each fact.
///
/// Model, versions, parallelism, roles, KV pool, HiCache, router, switches of logs, traces and metrics, load, windows, and whether the benchmark
/// finished. What no source says is unknown, never a default. Workers of one role that differ are told, with both citations.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "Examples:
  corr facts runs/r42
  corr facts runs/r42 --all                      also what no source says, and where it would be found
  corr facts runs/r42 --name 'hicache*' --worker prefill-0
  corr facts runs/r42 --format json | jq '.disagreements'

Exit codes: 0 answered, 1 no such fact, 2 wrong usage or nothing readable, 3 answered, but a source could not be read.")]
pub struct Args {
    /// Run directory, file, or glob in quotes.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// A further run directory, file or glob, read together with RUN.
    #[arg(long = "also", value_name = "RUN")]
    pub also: Vec<String>,
    /// Only facts whose name matches this glob: 'hicache*', 'load_*'.
    #[arg(long, value_name = "GLOB")]
    pub name: Option<String>,
    /// Only the facts of one process.
    #[arg(long, value_name = "WORKER")]
    pub worker: Option<String>,
    /// Also what no source says, with where it would be found.
    #[arg(long)]
    pub all: bool,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Where the index is kept.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Zone of stamps that name none: ZONE, or SOURCE=ZONE.
    #[arg(long, value_name = "[SOURCE=]ZONE")]
    pub tz: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    let mut runs = vec![args.run.clone()];
    runs.extend(args.also.iter().cloned());
    let options = Options { tz: args.tz.clone(), format_of: Vec::new() };
    let glob = args.name.as_deref().map(globset::Glob::new).transpose().context("--name")?;
    let matcher = glob.map(|g| g.compile_matcher());
    let run = run::open(&runs, &options)?;
    let sources = sources::of(&run, &options, args.store.as_deref())?;
    let (mut table, not_read) = collect::table(&sources, &run);
    let mut partial = false;
    for file in not_read.iter().chain(run.not_read.iter().filter(|n| n.failure)) {
        partial |= file.failure;
        writeln!(err, "corr: {}: {}", terminal(&file.name), terminal(&file.why))?;
    }
    let nothing = table.rows.is_empty();
    if nothing && run.sources.is_empty() {
        writeln!(err, "corr: {}: nothing that could be read; `corr sources` lists what there is", terminal(&args.run))?;
        return Ok(exit::ERROR);
    }
    if let Some(worker) = args.worker.as_deref().filter(|w| !table.workers().contains(w)) {
        let names: Vec<&str> = table.workers().into_iter().collect();
        writeln!(err, "corr: no fact is of worker {}; there are {}", terminal(worker), terminal(&names.join(", ")))?;
        return Ok(exit::NOTHING);
    }
    table.only(&|name| matcher.as_ref().is_none_or(|m| m.is_match(name)), args.worker.as_deref());
    let empty = table.rows.is_empty() && (!args.all || table.unknown.is_empty());
    if empty {
        let why = if nothing { "no source says how it was configured" } else { "no source says a fact of this name" };
        writeln!(err, "corr: {}: {why}; --all says where it would be found", terminal(&args.run))?;
    } else {
        Answer { table: &table, run: &args.run, named: args.name.is_some(), all: args.all }.write(args.format, Paint::new(color), out)?;
        out.flush()?;
    }
    Ok(match (partial, empty) {
        (true, _) => exit::PARTIAL,
        (false, true) => exit::NOTHING,
        (false, false) => exit::FOUND,
    })
}
