//! `corr note`: writes what happened into an incident note, and refreshes it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::ValueEnum as _;

use super::timeline::{self, Asking, Marks, Opened, Scoped};
use super::{exit, window};
use crate::evidence::{self, Evidence};
use crate::metrics::asked::Asked;
use crate::note::body::Note;
use crate::note::{block, diff, file, slack};
use crate::query::answer::Window;
use crate::render::evidence::Edged;
use crate::render::evidence::details::shell;
use crate::render::safe::terminal;
use crate::render::shown::rfc3339;

/// How a note is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Tables and footnotes, as GitHub and GitLab read them.
    Markdown,
    /// Aligned text in a fence, at most 30 rows.
    Slack,
}

/// Write what happened into an incident note, or refresh what an earlier call wrote: timeline, edges, what is unprovable, commands and citations.
///
/// It stands in a block between two HTML comments, and all outside of it is left as it is. A block that somebody edited is left as well, and the
/// difference is shown, unless --force is given. A file may have several blocks, each with its --name.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "Examples:
  corr note incident.md runs/r42 --window measured             a new file, or a block at its end, or the block as it is now
  corr note incident.md runs/r42 --request edf9ed01… --name one-request
  corr note incident.md runs/r42 --stdout --format slack       to paste into a chat

Exit codes: 0 the block is in the file, 1 nothing was written (edited by hand, or no such window, session or request), 2 wrong usage or nothing
readable, 3 written, but a source could not be read.")]
pub struct Args {
    /// The note.
    #[arg(value_name = "FILE.md")]
    pub file: PathBuf,
    #[command(flatten)]
    pub asking: Asking,
    /// The block's name; that of the run if left out.
    #[arg(long, value_name = "BLOCK")]
    pub name: Option<String>,
    /// Replace the block though it was edited by hand.
    #[arg(long)]
    pub force: bool,
    /// Print the block and leave the file alone.
    #[arg(long)]
    pub stdout: bool,
    /// How to write it.
    #[arg(long, value_enum, default_value_t = Form::Markdown)]
    pub format: Form,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let name = args.name.clone().unwrap_or_else(|| block::name_of(&args.asking.run));
    if !block::may_be_named(&name) {
        bail!("--name {name}: a block's name has letters, digits, `-`, `_` and `.`, at most 64");
    }
    let shown = terminal(&args.file.display().to_string()).into_owned();
    let file = file::File::read(&args.file).with_context(|| shown.clone())?;
    let old = file.bytes.as_deref().unwrap_or_default();
    let blocks = if args.stdout { Vec::new() } else { block::all(old).with_context(|| shown.clone())? };
    let Some(opened) = Opened::new(&args.asking, Some(&args.file))? else { return timeline::nothing(&args.asking, err) };
    let (body, partial) = body(args, &name, &opened, now)?;
    let done = if partial { exit::PARTIAL } else { exit::FOUND };
    let whole = block::write(&name, &command(args), &body);
    if args.stdout {
        // A chat shows comments as they stand.
        out.write_all(if args.format == Form::Slack { body.as_bytes() } else { whole.as_bytes() })?;
        return Ok(done);
    }
    let new = block::put(old, &name, &whole)?;
    if new == old {
        writeln!(err, "{shown}: block {name} is as it was")?;
        return Ok(done);
    }
    let found = blocks.iter().find(|(known, _)| *known == name).map(|(_, found)| found);
    if let Some(found) = found.filter(|f| f.edited(old) && !args.force) {
        let there = String::from_utf8_lossy(old.get(found.body.clone()).unwrap_or_default()).into_owned();
        for (sign, line) in diff::lines(&there, &body) {
            writeln!(out, "{sign}{}", terminal(&line))?;
        }
        writeln!(err, "corr: {shown}: block {name} was edited by hand and is left as it is: - stands there, + would; --force replaces it")?;
        return Ok(exit::NOTHING);
    }
    file.replace(&new).with_context(|| shown.clone())?;
    let what = if found.is_some() { "refreshed" } else { "written" };
    writeln!(err, "{shown}: block {name} {what}")?;
    Ok(done)
}

/// What stands in the block, and whether a part of the input could not be read.
fn body(args: &Args, name: &str, opened: &Opened, now: i64) -> anyhow::Result<(String, bool)> {
    let asking = &args.asking;
    let sources = &opened.sources;
    let joined = opened.join(asking)?;
    let scoped = opened.scope(asking, joined.as_ref(), now)?;
    let closed = opened.closed(&scoped)?;
    let evidence = Evidence::gather(sources, closed)?;
    let question = scoped.question(asking, Some(&evidence))?;
    let captures = evidence::captures(&opened.run, &opened.options, asking.store.as_deref())?;
    let judged = opened.judge(asking, closed, &evidence, &captures)?;
    let marks = if asking.marked() { opened.marks_of(&scoped, &evidence, &judged, &captures) } else { Vec::new() };
    let mut rows = Vec::new();
    let told = timeline::rows(asking, sources, &question, joined.as_ref(), marks, &mut |row| {
        rows.push(row);
        Ok(())
    })?;
    let asked = words(asking);
    let edged =
        Edged { evidence: &evidence, judged: &judged, only: &[], run: &asking.run, scope: asked.clone(), window: closed, explain: false };
    let mut not_read: Vec<(String, String)> = Vec::new();
    let files = sources.not_read.iter().filter(|n| n.failure).chain(&evidence.not_read).chain(&captures.not_read);
    for (name, why) in files.map(|n| (n.name.clone(), n.why.clone())).chain(told.failed.iter().cloned()) {
        if !not_read.iter().any(|(known, _)| *known == name) {
            not_read.push((name, why));
        }
    }
    let of_source = |l: &corr_evidence::ledger::SourceLedger| Some((sources.sources.get(l.source as usize)?.name.clone(), l.span?));
    let spans: BTreeMap<String, (i64, i64)> = evidence.ledgers.iter().filter_map(of_source).collect();
    let window = window_words(&scoped);
    let run: Vec<&str> = [asking.run.as_str()].into_iter().chain(asking.also.iter().map(String::as_str)).collect();
    let note = Note {
        name,
        run: &run.join(" "),
        asked: &asked,
        window: window.as_deref(),
        rows: &rows,
        totals: &told.totals,
        at_edge: told.at_edge,
        sources: &sources.sources,
        spans: &spans,
        captures: &covered(&captures),
        edged: &edged,
        not_read: &not_read,
        commands: &commands(args, &scoped, closed),
        metrics: joined.is_some(),
    };
    let body = match args.format {
        Form::Markdown => note.markdown(),
        Form::Slack => slack::write(&note),
    };
    Ok((body, !not_read.is_empty()))
}

/// What was asked, in words.
pub(super) fn words(asking: &Asking) -> String {
    let mut parts = Vec::new();
    let flags = [
        ("window", &asking.window),
        ("since", &asking.since),
        ("until", &asking.until),
        ("session", &asking.session),
        ("request", &asking.request),
    ];
    if let Some(around) = &asking.around {
        parts.push(format!("{} around {around}", asking.span));
    }
    parts.extend(flags.iter().filter_map(|(name, value)| value.as_ref().map(|v| format!("{name} {v}"))));
    if !asking.query.is_empty() {
        parts.push(format!("events of {}", asking.query.join(" ")));
    }
    if parts.is_empty() { "whole run".into() } else { parts.join(", ") }
}

pub(super) fn window_words(scoped: &Scoped) -> Option<String> {
    if scoped.window == Window::default() {
        return None;
    }
    let how = scoped.how.as_ref().map_or(String::new(), |how| format!(" ({how})"));
    Some(format!("{}{how}", window::interval(scoped.window)))
}

/// Each capture with what it covers, in words.
fn covered(captures: &Asked<'_>) -> Vec<(String, String)> {
    let words = |c: &crate::metrics::asked::Captured<'_>| match (c.extent(), c.dial().to_utc()) {
        (None, _) => "no samples".to_string(),
        (Some(_), None) => "a clock of its own, of which it is not known where it began".to_string(),
        (Some((from, to)), Some((offset, _))) => {
            format!("{} … {}", rfc3339(from.saturating_add(offset), 1_000_000), rfc3339(to.saturating_add(offset), 1_000_000))
        }
    };
    captures.captures.iter().filter(|c| !c.is_log()).map(|c| (c.name.clone(), words(c))).collect()
}

/// The commands that give each part again.
fn commands(args: &Args, scoped: &Scoped, closed: Option<(i64, i64)>) -> Vec<String> {
    let asking = &args.asking;
    let timeline = format!("corr timeline {}", flags(asking));
    let mut edges = vec!["corr".to_string(), "edges".into(), shell(&asking.run)];
    push(&mut edges, "also", &asking.also);
    if let Some((from, to)) = closed {
        // Whatever said where the window lies: here it is in full.
        let ends = (scoped.window.since.unwrap_or(from), scoped.window.until.unwrap_or(to));
        edges.push(format!("--since {} --until {}", rfc3339(ends.0, 1), rfc3339(ends.1, 1)));
    }
    push(&mut edges, "session", asking.session.as_slice());
    push(&mut edges, "request", asking.request.as_slice());
    push(&mut edges, "tz", &asking.tz);
    edges.push("--explain".into());
    vec![command(args), timeline, edges.join(" "), "corr show PATH:LINE  # any citation".into()]
}

/// The command that makes the block.
fn command(args: &Args) -> String {
    let mut parts = vec!["corr note".to_string(), shell(&args.file.display().to_string()), flags(&args.asking)];
    push(&mut parts, "name", args.name.as_slice());
    if args.format == Form::Slack {
        parts.push("--format slack".into());
    }
    parts.join(" ")
}

/// What was asked, as flags.
pub(super) fn flags(asking: &Asking) -> String {
    let mut parts = vec![shell(&asking.run)];
    let query = asking.query.join(" ");
    if !query.is_empty() {
        // One that begins with `-` would be taken for a flag.
        parts.push(shell(&if query.starts_with('-') { format!("({query})") } else { query }));
    }
    push(&mut parts, "also", &asking.also);
    push(&mut parts, "since", asking.since.as_slice());
    push(&mut parts, "until", asking.until.as_slice());
    push(&mut parts, "window", asking.window.as_slice());
    push(&mut parts, "around", asking.around.as_slice());
    if asking.around.is_some() {
        parts.push(format!("--span {}", shell(&asking.span)));
    }
    push(&mut parts, "session", asking.session.as_slice());
    push(&mut parts, "request", asking.request.as_slice());
    push(&mut parts, "metrics", &asking.metrics);
    push(&mut parts, "map", &asking.map);
    if let Some(when) = asking.marks.to_possible_value().filter(|_| asking.marks != Marks::Auto) {
        parts.push(format!("--marks {}", when.get_name()));
    }
    if asking.all {
        parts.push("--all".into());
    }
    if asking.limit != timeline::LIMIT {
        parts.push(format!("--limit {}", asking.limit));
    }
    push(&mut parts, "tz", &asking.tz);
    push(&mut parts, "format-of", &asking.format_of);
    push(&mut parts, "store", asking.store.as_ref().map(|s| s.display().to_string()).as_slice());
    parts.join(" ")
}

pub(super) fn push(parts: &mut Vec<String>, flag: &str, values: &[String]) {
    // A value that begins with `-` must touch its flag.
    parts.extend(
        values.iter().map(|v| if v.starts_with('-') { format!("--{flag}={}", shell(v)) } else { format!("--{flag} {}", shell(v)) }),
    );
}
