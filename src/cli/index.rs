//! `corr index`: builds or refreshes the index of a run.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::exit;
use super::flags::Reading;
use crate::metrics::anchors;
use crate::render::number::grouped;
use crate::render::safe;
use crate::run::source::NotRead;
use crate::run::{self, Options, Run};
use crate::store::place;
use crate::store::update::{self, Progress, Report, UpdateOptions};

/// Build or refresh the index of a run, so that questions are answered in milliseconds.
///
/// Unchanged sources are kept, grown ones are read from where they ended; a metric capture of which a file changed is read anew. The index
/// stands in RUN/.corr, or in the user's cache where the run cannot be written. A kill at any moment leaves the old index whole.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr index runs/r42
  corr index runs/r42 --store r42.corr --embed-text     an index that can be moved without the run")]
pub struct Args {
    /// Run directory, files, globs in quotes, or `-` for standard input.
    #[arg(required = true, value_name = "RUN")]
    pub run: Vec<String>,
    /// Keep the text of every source in the index too, bodies and credentials masked.
    #[arg(long)]
    pub embed_text: bool,
    /// Write the run's tables, one folder a host or worker, where the machines of a cluster read them: a folder that all of them see, or
    /// s3://BUCKET/PREFIX. The index itself is not touched; `corr sql --cluster` asks them.
    #[arg(long, value_name = "DIR|s3://…", conflicts_with_all = ["embed_text", "rebuild"])]
    pub shards: Option<String>,
    /// Make the whole index anew.
    #[arg(long)]
    pub rebuild: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Runs the command.
pub fn run(args: &Args, err: &mut dyn Write) -> anyhow::Result<i32> {
    if args.reading.store.is_none() && args.run.iter().any(|r| r == "-") {
        anyhow::bail!("the index of standard input needs a place: `--store DIR`; ask it by `corr query DIR QUERY --store DIR`");
    }
    let options = args.reading.options();
    if let Some(place) = &args.shards {
        return shards(args, options, place, err);
    }
    let opened = run::open(&args.run, &options)?;
    if opened.claims.sets.is_empty()
        && let Some(code) = nothing_to_read(&opened, err)?
    {
        return Ok(code);
    }
    let how = UpdateOptions { embed_text: args.embed_text, rebuild: args.rebuild };
    let report = build(&opened, &options, args.reading.store.clone(), how, err)?;
    let failures = failures(&opened.not_read, &report.failures, err)?;
    Ok(if failures > 0 { exit::PARTIAL } else { exit::FOUND })
}

#[cfg(not(feature = "cluster"))]
fn shards(_: &Args, _: Options, _: &str, err: &mut dyn Write) -> anyhow::Result<i32> {
    super::sql::not_built("shards for a cluster", "cluster", err)
}

/// Writes the tables of the run for a cluster.
#[cfg(feature = "cluster")]
fn shards(args: &Args, options: Options, place: &str, err: &mut dyn Write) -> anyhow::Result<i32> {
    use std::sync::Arc;

    use crate::tables::sql::{Asking, shards};

    let asking = Arc::new(Asking::new(args.run.clone(), options, args.reading.store.clone(), 0));
    let written = shards::write(&asking, place, corr_sql::Limits { memory: 1 << 30, threads: super::sql::threads() })?;
    let told = asking.told();
    told.say(err)?;
    writeln!(
        err,
        "wrote {} records in {} shards, {:.1} MB: {}",
        grouped(written.records),
        written.shards.len(),
        written.bytes as f64 / 1e6,
        safe::terminal(&written.shards.into_iter().collect::<Vec<_>>().join(", "))
    )?;
    Ok(if told.partial { exit::PARTIAL } else { exit::FOUND })
}

/// A run without any event source is an error that says what was found instead.
pub fn nothing_to_read(run: &Run, err: &mut dyn Write) -> anyhow::Result<Option<i32>> {
    let events = run.sources.iter().filter(|s| s.class == crate::run::source::Class::Events).count();
    if events > 0 {
        return Ok(None);
    }
    failures(&run.not_read, &[], err)?;
    let shown = run.arguments.join(" ");
    let found = run.sources.len();
    if found == 0 && run.not_read.is_empty() {
        writeln!(err, "corr: {}: the directory is empty; give the directory that the run wrote its logs to", safe::terminal(&shown))?;
    } else {
        writeln!(
            err,
            "corr: {}: no log or trace among {found} files; `corr sources` says what each file is, `--format-of FILE=FORMAT` reads one as you say",
            safe::terminal(&shown)
        )?;
    }
    Ok(Some(exit::ERROR))
}

/// Prints what could not be read; gives how many failures there were.
pub fn failures(not_read: &[NotRead], more: &[NotRead], err: &mut dyn Write) -> anyhow::Result<usize> {
    let mut shown: Vec<&str> = Vec::new();
    let mut count = 0;
    for n in not_read.iter().chain(more).filter(|n| n.failure) {
        if shown.contains(&n.name.as_str()) {
            continue;
        }
        shown.push(&n.name);
        count += 1;
        let next = if n.next.is_empty() { String::new() } else { format!("; {}", safe::terminal(&n.next)) };
        writeln!(err, "corr: {}: {}{}", safe::terminal(&n.name), safe::terminal(&n.why), next)?;
    }
    Ok(count)
}

/// Builds the index of an opened run, with progress, and says what was done.
pub fn build(run: &Run, options: &Options, store: Option<PathBuf>, how: UpdateOptions, err: &mut dyn Write) -> anyhow::Result<Report> {
    let dir = store.unwrap_or_else(|| place::choose(&run.root, run.is_directory, &run.arguments));
    let bar = Bar::default();
    let started = Instant::now();
    let report = update::update(&dir, run, how, &bar)?;
    let clocks = anchors::keep(run, options, &dir);
    bar.finish();
    if let Err(why) = clocks {
        writeln!(err, "corr: clocks of captures are found at each question, not kept: {}", safe::terminal(&why.to_string()))?;
    }
    for note in &report.notes {
        writeln!(err, "corr: {}", safe::terminal(note))?;
    }
    let seconds = started.elapsed().as_secs_f64();
    let share = if report.covered == 0 { 0.0 } else { report.size as f64 * 100.0 / report.covered as f64 };
    writeln!(
        err,
        "indexed {} records of {} sources ({} new, {} grown, {} unchanged, {} gone): read {:.1} MB in {seconds:.1} s; {:.1} MB in {}, {share:.1} % of the source",
        grouped(report.records),
        report.kept + report.grown + report.built,
        report.built,
        report.grown,
        report.kept,
        report.removed,
        report.bytes as f64 / 1e6,
        report.size as f64 / 1e6,
        safe::terminal(&dir.display().to_string()),
    )?;
    if report.captures > 0 {
        let unchanged = report.captures - report.captures_read;
        let captures = if report.captures == 1 { "capture" } else { "captures" };
        writeln!(err, "indexed {} metric {captures} ({} read, {unchanged} unchanged)", report.captures, report.captures_read)?;
    }
    Ok(report)
}

/// A progress bar that appears on a terminal when the work takes longer than half a second.
struct Bar {
    bar: ProgressBar,
    started: Mutex<Option<Instant>>,
}

impl Default for Bar {
    fn default() -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let template = "{bar:30} {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Bar { bar, started: Mutex::new(None) }
    }
}

impl Bar {
    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn total(&self, bytes: u64) {
        self.bar.set_length(bytes);
        if let Ok(mut started) = self.started.lock() {
            *started = Some(Instant::now());
        }
    }

    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        self.bar.inc(bytes);
        if self.bar.is_hidden()
            && std::io::stderr().is_terminal()
            && let Ok(started) = self.started.lock()
            && started.is_some_and(|s| s.elapsed() > Duration::from_millis(500))
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        ControlFlow::Continue(())
    }
}
