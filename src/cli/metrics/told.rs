//! What is said beside an answer: what was not read, what was lost, what is not there.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Context as _;
use corr_metrics::model::Note;
use corr_metrics::select::Selector;

use crate::cli::exit;
use crate::metrics::asked::{Asked, Captured, Hit};
use crate::render::number::grouped;
use crate::render::safe::terminal;
use crate::run::Run;
use crate::run::source::NotRead;

/// Writes lines to standard error.
pub fn say(lines: &[String], err: &mut dyn Write) -> anyhow::Result<()> {
    lines.iter().try_for_each(|line| writeln!(err, "corr: {}", terminal(line))).context("cannot write to standard error")
}

/// What could not be read.
pub fn not_read(run: &Run, asked: &Asked<'_>) -> Vec<String> {
    let line = |file: &NotRead| {
        let next = if file.next.is_empty() { String::new() } else { format!("; {}", file.next) };
        format!("{}: {}{next}", file.name, file.why)
    };
    run.not_read.iter().filter(|n| n.failure).chain(&asked.not_read).map(line).collect()
}

/// Names captures that are copies of others.
pub fn copies(run: &Run, asked: &Asked<'_>, err: &mut dyn Write) -> anyhow::Result<()> {
    for (name, of) in asked.copies(run) {
        writeln!(err, "corr: {}: the same bytes as {}, read once", terminal(&name), terminal(&of))?;
    }
    Ok(())
}

/// What was lost of the captures that answer.
pub fn losses(hits: &[Hit<'_>]) -> Vec<String> {
    let mut lossy: Vec<&Captured<'_>> = hits.iter().map(|h| h.captured).collect();
    lossy.dedup_by_key(|captured| std::ptr::from_ref(*captured));
    let losses = lossy.iter().flat_map(|c| c.capture().notes.iter().filter(|n| n.is_loss()).map(move |n| (c, n)));
    let line = |(captured, note): (&&Captured<'_>, &Note)| {
        let first = note.first.as_deref().map_or_else(String::new, |f| format!(", first {f}"));
        format!("{}: {} (×{}{first})", captured.name, note.what, grouped(note.count))
    };
    losses.map(line).collect()
}

/// Says what an answer leaves out.
pub fn cut(shown: u64, cut: u64, what: &str, err: &mut dyn Write) -> anyhow::Result<()> {
    if cut > 0 {
        writeln!(err, "corr: showing {} of {} {what}; --limit 0 for all", grouped(shown), grouped(shown + cut))?;
    }
    Ok(())
}

/// No capture was read.
pub fn nothing(run: &Run, err: &mut dyn Write) -> anyhow::Result<i32> {
    let names: Vec<String> = run.arguments.iter().map(|a| terminal(a).into_owned()).collect();
    writeln!(err, "corr: {}: no metric capture that could be read; `corr sources` lists what there is", names.join(" "))?;
    Ok(exit::ERROR)
}

/// No series is meant: says which names are near.
pub fn none_such(asked: &Asked<'_>, selectors: &[Selector], err: &mut dyn Write) -> anyhow::Result<()> {
    for selector in selectors {
        writeln!(err, "corr: {}", terminal(&asked.none_such(selector))).context("cannot write to standard error")?;
    }
    Ok(())
}

/// The labels of some series, for an error.
pub fn labels(hits: &[Hit<'_>]) -> String {
    let names: BTreeSet<&str> = hits.iter().flat_map(|h| h.member.labels.iter().map(|(name, _)| name)).collect();
    if names.is_empty() { "none".into() } else { names.into_iter().collect::<Vec<_>>().join(", ") }
}
