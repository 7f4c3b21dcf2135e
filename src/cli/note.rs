//! `corr note`: writes what happened into an incident note, and refreshes it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, bail};

use super::exit;
use super::flags::Series;
use super::line::{self, Line};
use super::opened::{Opened, Scoped};
use super::query_metrics::Wanted;
use super::timeline::{self, Asking};
use crate::aside::Target;
use crate::evidence::Evidence;
use crate::metrics::asked::Asked;
use crate::note::body::Note;
use crate::note::{block, diff, slack};
use crate::query::answer::Window;
use crate::query::window;
use crate::render::safe::terminal;
use crate::render::shown::rfc3339;
use crate::run::source::unread;

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
    #[command(flatten)]
    pub series: Series,
    /// The block's name; that of the run if left out.
    #[arg(long, value_name = "BLOCK")]
    pub name: Option<String>,
    /// Replace the block though it was edited by hand.
    #[arg(long, conflicts_with = "stdout")]
    pub force: bool,
    /// Print the block and leave the file alone.
    #[arg(long)]
    pub stdout: bool,
    /// How to write it.
    #[arg(long, value_enum, default_value_t = Form::Markdown)]
    pub format: Form,
}

/// Bytes of the longest note.
const MOST: u64 = 64 << 20;

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let name = args.name.clone().unwrap_or_else(|| block::name_of(&args.asking.runs.run));
    if !block::may_be_named(&name) {
        bail!("--name {name}: a block's name has letters, digits, `-`, `_` and `.`, at most 64");
    }
    let shown = terminal(&args.file.display().to_string()).into_owned();
    let file = Target::of(&args.file).with_context(|| shown.clone())?;
    let old = file.read(MOST).with_context(|| shown.clone())?;
    let old = old.as_slice();
    let blocks = if args.stdout { Vec::new() } else { block::all(old).with_context(|| shown.clone())? };
    let opened = args.asking.open()?.without(Some(&args.file));
    if opened.is_empty() {
        return opened.nothing(err);
    }
    let (body, partial) = body(args, &name, &opened, now)?;
    for note in &opened.sources.notes {
        writeln!(err, "corr: {}", terminal(note))?;
    }
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
    let wanted = Wanted::read(&args.series)?;
    let read = opened.read(wanted.as_ref().map_or(&[][..], Wanted::selectors), true)?;
    let captures = &read.asked;
    let joined = opened.join(wanted.as_ref(), &read);
    let scoped = asking.scoped(opened, joined.as_ref(), now)?;
    let closed = opened.closed(&scoped)?;
    let evidence = Evidence::gather(sources, closed)?;
    let question = asking.question(&scoped, Some(&evidence))?;
    let judged = opened.judge(&asking.scope, closed, &evidence, captures)?;
    let marks = if asking.marked() { opened.marks(&scoped, &evidence, &judged, captures) } else { Vec::new() };
    let mut rows = Vec::new();
    let told = timeline::rows(asking, sources, &question, joined.as_ref(), marks, &mut |row| {
        rows.push(row);
        Ok(())
    })?;
    let asked = asking.words();
    let source = line::source(&asking.runs, &asking.reading);
    let edged = asking.edged(&source, &evidence, &judged, closed);
    let failed = told.failed.iter().map(|(name, why)| (name, why));
    let not_read = unread(sources.not_read.iter().filter(|n| n.failure).chain(&evidence.not_read).chain(&captures.not_read), failed);
    let of_source = |l: &corr_evidence::ledger::SourceLedger| Some((sources.sources.get(l.source as usize)?.name.clone(), l.span?));
    let spans: BTreeMap<String, (i64, i64)> = evidence.ledgers.iter().filter_map(of_source).collect();
    let window = window_words(&scoped);
    let note = Note {
        name,
        run: &asking.runs.words(),
        asked: &asked,
        window: window.as_deref(),
        rows: &rows,
        totals: &told.totals,
        at_edge: told.at_edge,
        sources: &sources.sources,
        spans: &spans,
        captures: &covered(captures),
        edged: &edged,
        not_read: &not_read,
        commands: &commands(args, closed),
        metrics: joined.is_some(),
    };
    let body = match args.format {
        Form::Markdown => note.markdown(),
        Form::Slack => slack::write(&note),
    };
    Ok((body, !not_read.is_empty()))
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
    let words = |c: &crate::metrics::asked::Captured<'_>| match (c.extent(), c.span_utc()) {
        (None, _) => "no samples".to_string(),
        (Some(_), None) => "a clock of its own, of which it is not known where it began".to_string(),
        (Some(_), Some((from, to))) => format!("{} … {}", rfc3339(from, 1_000_000), rfc3339(to, 1_000_000)),
    };
    captures.captures.iter().filter(|c| !c.is_log()).map(|c| (c.name.clone(), words(c))).collect()
}

/// The commands that give each part again.
fn commands(args: &Args, closed: Option<(i64, i64)>) -> Vec<String> {
    let asking = &args.asking;
    let timeline = Line::of("corr timeline").asking(asking, Some(&args.series)).limit(asking.limit, timeline::LIMIT);
    let edges = Line::of("corr edges").runs(&asking.runs).window(closed).scope(&asking.scope).reading(&asking.reading).on("explain");
    let show = Line::of("corr show PATH:LINE").reading(&asking.reading).text() + "  # any citation";
    vec![command(args), timeline.text(), edges.text(), show]
}

/// The command that makes the block.
fn command(args: &Args) -> String {
    let line = Line::of("corr note").word(&args.file.display().to_string()).asking(&args.asking, Some(&args.series));
    let line = line.limit(args.asking.limit, timeline::LIMIT).flag("name", args.name.as_slice());
    if args.format == Form::Slack { line.flag("format", &["slack"]).text() } else { line.text() }
}
