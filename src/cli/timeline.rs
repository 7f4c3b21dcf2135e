//! `corr timeline`: what happened, in the order of time, with noise folded.

use std::io::Write;

use corr_parsers::clock::How;
use corr_parsers::stamp::Stamp;
use serde_json::{Value as Json, json};

use super::flags::{self, Around, Reading, Runs, Series};
use super::opened::{Opened, Scoped};
use super::query_metrics::{self, Joined, Wanted};
use super::{exit, index};
use crate::evidence::{Evidence, Judged};
use crate::query::answer::{Question, Window};
use crate::query::rows::{self, Told};
use crate::query::sources::Sources;
use crate::query::window;
use crate::render::events::Format;
use crate::render::evidence::Edged;
use crate::render::number::grouped;
use crate::render::paint::{Paint, When};
use crate::render::safe;
use crate::render::shown::rfc3339;
use crate::render::timeline::Writer;
use crate::run::source::unread;
use crate::timeline::{Row, Totals};

/// Rows that are shown where nothing else is asked for.
pub const LIMIT: usize = 100;

/// What a timeline, or a note with one, is asked about.
#[derive(clap::Args, Clone, Debug)]
pub struct Asking {
    #[command(flatten)]
    pub runs: Runs,
    /// Only events that match, in the language of `corr query`; several arguments are joined by blanks.
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    #[command(flatten)]
    pub when: flags::Window,
    #[command(flatten)]
    pub around: Around,
    #[command(flatten)]
    pub scope: flags::Scope,
    /// Rows that say when servers started, were ready, stopped and were away, and when edges were first and last proven: beside events that no query, session
    /// or request chose (auto), always, or never. They are worked out from all logs and captures.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Marks::Auto)]
    pub marks: Marks,
    /// Every event a row of its own, nothing folded.
    #[arg(long)]
    pub all: bool,
    /// Show at most this many rows, marks and errors first; 0 shows all.
    #[arg(long, short = 'n', value_name = "N", default_value_t = LIMIT)]
    pub limit: usize,
    #[command(flatten)]
    pub reading: Reading,
}

/// When marks stand beside the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Marks {
    Auto,
    Always,
    Never,
}

/// Show what happened in the order of time: the events of all sources, marks of starts, stops and failures, noise folded, every row with its citation.
///
/// Lines that are printed over and over (batches, load reports, access lines, health probes) are one row with the least and the greatest of each
/// number, the same message several times is one row ×N. Rows whose stamps overlap those of another source are marked `order unknown`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "Examples:
  corr timeline runs/r42                                       the whole run, at most 100 rows
  corr timeline runs/r42 --around runs/r42/logs/decode_0.out:918 --span 30s
  corr timeline runs/r42 --session sess-7 --metrics sglang:token_usage
  corr timeline runs/r42 'level:>=warn' --since start+90s --format markdown
  corr timeline runs/r42 --window measured --all --limit 0     every event

Exit codes: 0 rows were found, 1 none, 2 wrong usage or nothing readable, 3 answered, but a source could not be read.")]
pub struct Args {
    #[command(flatten)]
    pub asking: Asking,
    #[command(flatten)]
    pub series: Series,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let wanted = Wanted::read(&args.series)?;
    let opened = args.asking.open()?;
    if opened.is_empty() {
        return opened.nothing(err);
    }
    write(&args.asking, wanted.as_ref(), &opened, (args.format, Paint::new(color)), out, err, now)
}

/// Writes the rows of a run that is open.
pub(super) fn write(
    asking: &Asking,
    wanted: Option<&Wanted>,
    opened: &Opened,
    (format, paint): (Format, Paint),
    out: &mut dyn Write,
    err: &mut dyn Write,
    now: i64,
) -> anyhow::Result<i32> {
    // Captures are read once, for series beside events and for marks.
    let marked = asking.marked();
    let selectors = wanted.map_or(&[][..], Wanted::selectors);
    let read = (marked || wanted.is_some()).then(|| opened.read(selectors, marked)).transpose()?;
    let joined = read.as_ref().and_then(|read| opened.join(wanted, read));
    let scoped = asking.scoped(opened, joined.as_ref(), now)?;
    // A window that no record closes has no marks.
    let closed = opened.closed(&scoped).ok();
    let whose = !asking.scope.is_empty() || marked;
    let evidence = whose.then(|| Evidence::gather(&opened.sources, closed.flatten())).transpose()?;
    let question = asking.question(&scoped, evidence.as_ref())?;
    let (mut marks, mut not_read) = (Vec::new(), Vec::new());
    if let (true, Some(evidence), Some(read), Some(closed)) = (marked, &evidence, &read, closed) {
        let judged = opened.judge(&asking.scope, closed, evidence, &read.asked)?;
        marks = opened.marks(&scoped, evidence, &judged, &read.asked);
        not_read.extend(evidence.not_read.iter().chain(&read.asked.not_read).cloned());
    }
    let mut writer = Writer::begin(out, format, paint, joined.is_some())?;
    let mut told = rows(asking, &opened.sources, &question, joined.as_ref(), marks, &mut |row| Ok(writer.row(&row)?))?;
    told.failed = unread(&not_read, told.failed.iter().map(|(name, why)| (name, why)));
    writer.end(&summary(asking, &opened.sources, &question, &told))?;
    out.flush()?;
    notes(asking, opened, joined.as_ref(), &scoped, &told, err)
}

impl Asking {
    /// Opens the run.
    pub(super) fn open(&self) -> anyhow::Result<Opened> {
        Opened::new(&self.runs, &self.reading)
    }

    /// The window of the flags.
    pub(super) fn scoped(&self, opened: &Opened, joined: Option<&Joined<'_>>, now: i64) -> anyhow::Result<Scoped> {
        opened.scope(self.around.flags(&self.when), &self.reading, joined, now)
    }

    /// What is asked of the sources.
    pub(super) fn question(&self, scoped: &Scoped, evidence: Option<&Evidence<'_>>) -> anyhow::Result<Question> {
        let (session, request) = (self.scope.session.as_deref(), self.scope.request.as_deref());
        rows::question(&self.query.join(" "), scoped.window, session, request, evidence)
    }

    /// The events are those of a query, a session or a request.
    pub(super) fn chosen(&self) -> bool {
        !self.query.is_empty() || !self.scope.is_empty()
    }

    /// Marks stand beside them.
    pub(super) fn marked(&self) -> bool {
        match self.marks {
            Marks::Auto => !self.chosen(),
            Marks::Always => true,
            Marks::Never => false,
        }
    }

    /// Every edge in what was asked; `source` is the runs as arguments of a command.
    pub(super) fn edged<'a>(
        &'a self,
        source: &'a str,
        evidence: &'a Evidence<'a>,
        judged: &'a Judged,
        window: Option<(i64, i64)>,
    ) -> Edged<'a> {
        Edged { evidence, judged, only: &[], run: &self.runs.run, source, scope: self.words(), window, explain: false }
    }

    /// What was asked, in words.
    pub(super) fn words(&self) -> String {
        let mut parts = Vec::new();
        if let Some(around) = &self.around.around {
            parts.push(format!("{} around {around}", self.around.span));
        }
        let flags::Window { since, until, window } = &self.when;
        let flags::Scope { session, request } = &self.scope;
        let said = [("window", window), ("since", since), ("until", until), ("session", session), ("request", request)];
        parts.extend(said.iter().filter_map(|(name, value)| value.as_ref().map(|v| format!("{name} {v}"))));
        if !self.query.is_empty() {
            parts.push(format!("events of {}", self.query.join(" ")));
        }
        if parts.is_empty() { "whole run".into() } else { parts.join(", ") }
    }
}

/// Makes the rows of a question and gives each on, with the samples beside it.
pub(super) fn rows(
    asking: &Asking,
    sources: &Sources,
    question: &Question,
    joined: Option<&Joined<'_>>,
    marks: Vec<Row>,
    give: &mut dyn FnMut(Row) -> anyhow::Result<()>,
) -> anyhow::Result<Told> {
    let how = rows::How { all: asking.all, limit: asking.limit, chosen: asking.chosen() };
    let beside = joined.map(Joined::beside);
    let mut put = |mut row: Row| {
        if let Some(beside) = &beside {
            // Beside several events stand the sample before the first and the one after the last.
            let own = row.first.stamp;
            let last = row.last.as_ref().and_then(|last| last.stamp);
            row.first.stamp = own.zip(last).map(|(first, last)| Stamp { start: first.start, end: last.end.max(first.end) }).or(own);
            query_metrics::put(&mut row.first, beside);
            row.first.stamp = own;
        }
        give(row)
    };
    rows::of(question, sources, how, marks, &mut |_| {}, &mut put)
}

pub(super) fn summary(asking: &Asking, sources: &Sources, question: &Question, told: &Told) -> Json {
    let instant = |ns: Option<i64>| ns.map(|n| rfc3339(n, 1));
    let assumed: Vec<&str> = sources.sources.iter().filter(|s| s.clock.how == How::Assumed).map(|s| s.key.as_str()).collect();
    let unread = sources.not_read.iter().filter(|n| n.failure).map(|n| json!({"source": n.name, "why": n.why}));
    let not_read: Vec<Json> = unread.chain(told.failed.iter().map(|(name, why)| json!({"source": name, "why": why}))).collect();
    json!({
        "type": "summary",
        "schema": "corr.timeline.v1",
        "query": asking.query.join(" "),
        "session": asking.scope.session,
        "request": asking.scope.request,
        "since": instant(question.window.since),
        "until": instant(question.window.until),
        "events": told.totals.events,
        "rows": told.totals.rows,
        "marks": told.totals.marks,
        "shown": told.totals.shown,
        "at_window_edge": told.at_edge,
        "sources": sources.sources.len(),
        "not_read": not_read,
        "zone_assumed": assumed,
    })
}

/// Says on stderr what a reader must know; gives the exit code.
pub(super) fn notes(
    asking: &Asking,
    opened: &Opened,
    joined: Option<&Joined<'_>>,
    scoped: &Scoped,
    told: &Told,
    err: &mut dyn Write,
) -> anyhow::Result<i32> {
    for note in opened.sources.notes.iter().chain(&told.notes) {
        writeln!(err, "corr: {}", safe::terminal(note))?;
    }
    if let Some(joined) = joined {
        joined.tell(&joined.beside(), err)?;
    }
    if let Some(how) = &scoped.how {
        writeln!(err, "corr: {}", safe::terminal(how))?;
    }
    if scoped.window != Window::default() {
        let edge =
            if told.at_edge > 0 { format!("; {} of the events reach over an edge of it", grouped(told.at_edge)) } else { String::new() };
        writeln!(err, "window {}{edge}", window::interval(scoped.window))?;
    }
    let Totals { events, rows, shown, .. } = &told.totals;
    let folded = if asking.all || told.totals.of_events() == *events { "" } else { "; --all shows each event" };
    writeln!(err, "{}{folded}", told.totals.words())?;
    if shown < rows {
        writeln!(err, "showing {} of {} rows, marks and errors first; --limit 0 for all", grouped(*shown), grouped(*rows))?;
    }
    let mut failures = index::failures(&opened.sources.not_read, &[], err)?;
    for (name, why) in &told.failed {
        failures += 1;
        writeln!(err, "corr: {}: {}; the other sources are answered", safe::terminal(name), safe::terminal(why))?;
    }
    Ok(match (failures > 0, *rows > 0) {
        (true, _) => exit::PARTIAL,
        (false, true) => exit::FOUND,
        (false, false) => exit::NOTHING,
    })
}
