//! The commands. One file each: arguments and what they run; all logic is in the library.

pub mod cluster;
pub mod diff;
pub mod edges;
#[cfg(feature = "cluster")]
mod edges_cluster;
mod endpoints;
pub mod export;
pub mod facts;
pub mod flags;
mod follow;
pub mod index;
mod line;
pub mod man;
pub mod metrics;
pub mod note;
mod opened;
pub mod pager;
pub mod probe;
pub mod query;
#[cfg(feature = "cluster")]
mod query_cluster;
mod query_metrics;
pub mod ready;
pub mod report;
mod samples;
pub mod schema;
pub mod scrape;
pub mod serve;
pub(crate) mod settings;
pub mod show;
pub mod sources;
pub mod sql;
pub mod timeline;
pub mod trace;

use std::io::Write;

use clap::{CommandFactory, Parser, Subcommand};

use crate::query::Nothing;
use crate::render::paint::When;
use crate::render::safe::terminal;

/// Exit codes.
pub mod exit {
    /// Found, or done.
    pub const FOUND: i32 = 0;
    /// Nothing was found.
    pub const NOTHING: i32 = 1;
    /// The command is wrong, or nothing could be read.
    pub const ERROR: i32 = 2;
    /// Answered, but a part of the input could not be read.
    pub const PARTIAL: i32 = 3;
    /// Cannot be proven from what is there.
    pub const UNPROVABLE: i32 = 4;

    /// Of two answers of a gate the one that it leaves with: 4 wins over 3, 3 over 1, 1 over 0.
    pub fn graver(a: i32, b: i32) -> i32 {
        let rank = |code: i32| [FOUND, NOTHING, PARTIAL, UNPROVABLE].iter().position(|c| *c == code);
        if rank(a) >= rank(b) { a } else { b }
    }
}

/// Search and correlate what an LLM-serving run left behind: SGLang and Dynamo logs, journald, request traces.
///
/// Every answer names the bytes that say it (`path:line`); `corr show` opens them.
#[derive(Parser, Debug)]
#[command(name = "corr", version, max_term_width = 100)]
#[command(after_help = "Examples:
  corr sources runs/r42                      what there is, whose it is, which clock, what is missing
  corr query runs/r42 'kind:prefill_batch cached_tokens:>0'
  corr query runs/r42 rid:edf9ed01… -C 3     one request, with the lines around each hit
  corr show runs/r42/logs/router.log:88      the bytes, the fields, the clock behind one line
  corr metrics runs/r42 sglang:cached_tokens_total --since start+60s --until start+120s
  corr ready runs/r42                        starts, stops and restarts, and how well each instant is known
  corr export perfetto runs/r42 -o trace.json

Exit codes: 0 found, 1 nothing found, 2 wrong usage or nothing readable, 3 answered but part of the input could not be read, 4 cannot be known.")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to colour output.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto)]
    color: When,
    /// Do not show long answers through a pager (CORR_PAGER, PAGER, else less) on a terminal.
    #[arg(short = 'P', long, global = true)]
    no_pager: bool,
}

impl Cli {
    /// The pager of the answer; `None` for what is no answer to read, or goes on and on.
    pub fn pager(&self) -> Option<pager::Pager> {
        let read = match &self.command {
            Command::Ready(args) => !args.follow,
            Command::Sources(_) | Command::Query(_) | Command::Show(_) | Command::Metrics(_) | Command::Edges(_) | Command::Trace(_) => {
                true
            }
            Command::Facts(_) | Command::Diff(_) | Command::Timeline(_) => true,
            _ => false,
        };
        if read && !self.no_pager { pager::Pager::of_terminal() } else { None }
    }
}

#[derive(Subcommand, Debug)]
enum Command {
    Sources(sources::Args),
    Query(Box<query::Args>),
    Show(show::Args),
    Metrics(Box<metrics::Args>),
    Edges(Box<edges::Args>),
    Trace(trace::Args),
    Facts(Box<facts::Args>),
    Ready(Box<ready::Args>),
    Diff(Box<diff::Args>),
    Timeline(Box<timeline::Args>),
    Note(Box<note::Args>),
    Serve(serve::Args),
    Report(Box<report::Args>),
    Export(Box<export::Args>),
    Sql(Box<sql::Args>),
    Schema(schema::Args),
    Cluster(cluster::Args),
    Index(index::Args),
    Scrape(scrape::Args),
    Probe(probe::Args),
    Man(man::Args),
    /// Write a shell's completion script to standard output.
    #[command(after_help = "Examples:
  corr completions bash > ~/.local/share/bash-completion/completions/corr
  corr completions zsh > ~/.zfunc/_corr")]
    Completions {
        shell: clap_complete::Shell,
    },
}

/// Runs a parsed command line; gives the exit code.
pub fn run(cli: Cli, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    match command(cli, out, err, now) {
        Err(error) if error.is::<Nothing>() => {
            writeln!(err, "corr: {}", terminal(&format!("{error:#}")))?;
            Ok(exit::NOTHING)
        }
        done => done,
    }
}

fn command(cli: Cli, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    match cli.command {
        Command::Sources(args) => sources::run(&args, cli.color, out, err),
        Command::Query(args) => query::run(&args, cli.color, out, err, now),
        Command::Show(args) => show::run(&args, cli.color, out, err),
        Command::Metrics(args) => metrics::run(&args, cli.color, out, err, now),
        Command::Trace(args) => trace::run(&args, cli.color, out, err),
        Command::Timeline(args) => timeline::run(&args, cli.color, out, err, now),
        Command::Note(args) => note::run(&args, out, err, now),
        Command::Serve(args) => serve::run(&args, out, err),
        Command::Report(args) => report::run(&args, out, err, now),
        Command::Export(args) => export::run(&args, out, err, now),
        Command::Edges(args) => edges::run(&args, cli.color, out, err, now),
        Command::Facts(args) => facts::run(&args, cli.color, out, err),
        Command::Ready(args) => ready::run(&args, cli.color, out, err, now),
        Command::Diff(args) => diff::run(&args, cli.color, out, err, now),
        Command::Sql(args) => sql::run(&args, out, err, now),
        Command::Schema(args) => schema::run(&args, cli.color, out, err),
        Command::Cluster(args) => cluster::run(&args, out, err),
        Command::Index(args) => index::run(&args, err),
        Command::Scrape(args) => scrape::run(&args, err),
        Command::Probe(args) => probe::run(&args, out),
        Command::Man(args) => man::run(&args, Cli::command(), out, err),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "corr", &mut script);
            out.write_all(&script)?;
            Ok(exit::FOUND)
        }
    }
}
