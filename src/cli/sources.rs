//! `corr sources`: what there is, whose it is, which clock, what is missing.

use std::io::{IsTerminal, Write};

use anyhow::bail;

use super::exit;
use super::flags::Reading;
use crate::readiness::remarks;
use crate::render::events::Format;
use crate::render::paint::{Paint, When};
use crate::render::safe;
use crate::render::sources::{self, Report};
use crate::run::declared::did_you_mean;
use crate::run::{self, Run, coverage};
use crate::store::captures::Kept;

/// List what a run holds: formats, owners, clocks, coverage, and what of a complete run is missing.
///
/// Every event source is read whole and every byte of it is accounted for.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr sources runs/r42
  corr sources runs/r42 --explain logs/router.log     why a file is taken for what it is
  corr sources runs/r42 --format-of 'logs/0.log=cri>srun+sglang'   how its lines are wrapped, and what they hold
  corr sources 'logs/*.log' --tz America/New_York     the zone of stamps that name none
  zcat server.log.gz | corr sources -

Exit codes: 0 listed, 2 nothing usable, 3 listed, but a file could not be read whole.")]
pub struct Args {
    /// Run directory, files, globs in quotes, or `-` for standard input.
    #[arg(required = true, value_name = "RUN")]
    pub run: Vec<String>,
    /// How to write.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Say of one file why it is taken for what it is: scores, reasons, and what every other envelope and format objected to.
    #[arg(long, value_name = "FILE")]
    pub explain: Option<String>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    let options = args.reading.options();
    let run = run::open(&args.run, &options)?;
    if let Some(name) = &args.explain {
        return explain(&run, name, args.format, out);
    }
    let read = coverage::all(&run, std::io::stderr().is_terminal());
    let mut report = Report::new(&run, read, Kept::open(&run, args.reading.store.as_deref()));
    if !report.usable() {
        return nothing_usable(&report, err);
    }
    report.notes.extend(remarks::of(&run, &options)?);
    match args.format {
        Format::Text => sources::write_text(&report, Paint::new(color), out)?,
        Format::Json => sources::write_json(&report, out)?,
        Format::Jsonl => sources::write_jsonl(&report, out)?,
        Format::Csv => sources::write_csv(&report, out)?,
        Format::Markdown => sources::write_markdown(&report, out)?,
    }
    out.flush()?;
    if !report.partial() {
        return Ok(exit::FOUND);
    }
    for (source, coverage) in &report.events {
        if let Some(damage) = &coverage.damage {
            writeln!(err, "corr: {}: {}; what came before is listed", safe::terminal(&source.name), safe::terminal(damage))?;
        }
    }
    complain(&report, err)?;
    Ok(exit::PARTIAL)
}

fn explain(run: &Run, name: &str, format: Format, out: &mut dyn Write) -> anyhow::Result<i32> {
    let Some(explained) = sources::explain(run, name) else {
        if let Some(not_read) = run.not_read.iter().find(|n| n.name == name || n.name.ends_with(&format!("/{name}"))) {
            bail!("{}: not read: {}; {}", safe::terminal(&not_read.name), safe::terminal(&not_read.why), safe::terminal(&not_read.next));
        }
        let keys: Vec<&str> = run.sources.iter().map(|s| s.key.as_str()).collect();
        let near = did_you_mean(name, &keys).map_or_else(String::new, |near| format!("; did you mean `{}`?", safe::terminal(near)));
        bail!("--explain {}: no file of the run has this name{near}", safe::terminal(name));
    };
    match format {
        Format::Json | Format::Jsonl => writeln!(out, "{}", explained.json())?,
        Format::Text | Format::Markdown | Format::Csv => explained.write_text(out)?,
    }
    Ok(exit::FOUND)
}

/// Says what was found instead of a run, and what to do.
fn nothing_usable(report: &Report<'_>, err: &mut dyn Write) -> anyhow::Result<i32> {
    let names: Vec<String> = report.run.arguments.iter().map(|a| safe::terminal(a).into_owned()).collect();
    let names = names.join(" ");
    complain(report, err)?;
    let texts: Vec<&str> = report.events.iter().filter(|(_, c)| c.records > 0).map(|(s, _)| s.key.as_str()).collect();
    if report.run.sources.is_empty() && report.not_read.is_empty() {
        writeln!(err, "corr: {names}: the directory is empty; give the directory that holds the run's logs")?;
    } else if let Some(first) = texts.first() {
        let more = if texts.len() > 1 { format!(" and {} more", texts.len() - 1) } else { String::new() };
        writeln!(err, "corr: {names}: no file is in a format that corr knows ({}{more} looked at)", safe::terminal(first))?;
        writeln!(
            err,
            "corr: `corr sources {names} --explain {}` says why; --format-of SOURCE=FORMAT forces a format",
            safe::terminal(first)
        )?;
    } else {
        let n = report.run.sources.len() + report.not_read.len();
        let files = if n == 1 { "file" } else { "files" };
        writeln!(err, "corr: {names}: {n} {files}, none with events or metrics; give the directory that holds the run's logs")?;
    }
    Ok(exit::ERROR)
}

fn complain(report: &Report<'_>, err: &mut dyn Write) -> anyhow::Result<()> {
    for file in report.not_read.iter().filter(|n| n.failure) {
        writeln!(err, "corr: {}: {}; {}", safe::terminal(&file.name), safe::terminal(&file.why), safe::terminal(&file.next))?;
    }
    Ok(())
}
