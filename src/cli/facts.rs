//! `corr facts`: how a run was configured, who says so, and what nobody says.

use std::io::Write;

use anyhow::Context as _;

use super::exit;
use super::flags::{Reading, Runs};
use super::opened::Opened;
use crate::facts::collect;
use crate::render::events::Format;
use crate::render::facts::Answer;
use crate::render::paint::{Paint, When};
use crate::render::safe::terminal;
use crate::run::source::unread;

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
    #[command(flatten)]
    pub runs: Runs,
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
    #[command(flatten)]
    pub reading: Reading,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    let glob = args.name.as_deref().map(globset::Glob::new).transpose().context("--name")?;
    let matcher = glob.map(|g| g.compile_matcher());
    let opened = Opened::new(&args.runs, &args.reading)?;
    let run = &args.runs.run;
    let (mut table, not_read) = collect::table(&opened.sources, &opened.run);
    for note in &opened.sources.notes {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    let partial = not_read.iter().chain(&opened.sources.not_read).any(|n| n.failure);
    for (name, why) in unread(not_read.iter().chain(opened.sources.not_read.iter().filter(|n| n.failure)), []) {
        writeln!(err, "corr: {}: {}", terminal(&name), terminal(&why))?;
    }
    let nothing = table.rows.is_empty();
    if nothing && opened.run.sources.is_empty() && opened.is_empty() {
        writeln!(err, "corr: {}: nothing that could be read; `corr sources` lists what there is", terminal(run))?;
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
        writeln!(err, "corr: {}: {why}; --all says where it would be found", terminal(run))?;
    } else {
        Answer { table: &table, run, named: args.name.is_some(), all: args.all }.write(args.format, Paint::new(color), out)?;
        out.flush()?;
    }
    Ok(match (partial, empty) {
        (true, _) => exit::PARTIAL,
        (false, true) => exit::NOTHING,
        (false, false) => exit::FOUND,
    })
}
