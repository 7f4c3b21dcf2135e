//! `corr timeline`: what happened, in the order of time, with noise folded.

use std::io::Write;
use std::path::{Path, PathBuf};

use corr_evidence::scope::Scope;
use corr_parsers::clock::How;
use corr_parsers::stamp::Stamp;
use serde_json::{Value as Json, json};

use super::query::zone_of_flags;
use super::query_metrics::{self, Joined, Wanted};
use super::window::{self, Flags, Known, Times};
use super::{exit, grouped, index};
use crate::evidence::{self, Evidence, Judged};
use crate::marks;
use crate::metrics::asked::Asked as Captures;
use crate::metrics::common::Covers;
use crate::query::Nothing;
use crate::query::answer::{Question, Window};
use crate::query::extent::extent;
use crate::query::locate;
use crate::query::rows::{self, Told};
use crate::query::sources::{self, Sources};
use crate::readiness::{self, windows};
use crate::render::events::Format;
use crate::render::paint::{Paint, When};
use crate::render::safe;
use crate::render::shown::rfc3339;
use crate::render::timeline::Writer;
use crate::run::{self, Options, Run};
use crate::timeline::{Row, Totals};

/// Rows that are shown where nothing else is asked for.
pub const LIMIT: usize = 100;

/// What a timeline, or a note with one, is asked about.
#[derive(clap::Args, Clone, Debug)]
pub struct Asking {
    /// Run directory, file, or glob in quotes.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Only events that match, in the language of `corr query`; several arguments are joined by blanks.
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// A further run directory, file or glob, read together with RUN.
    #[arg(long = "also", value_name = "RUN")]
    pub also: Vec<String>,
    /// Only events that may lie at or after this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// Only events that may lie before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// Only events of a window that corr.toml declares or the run's records name (warmup, measured, benchmark, teardown, ready:UNIT#N, outage:UNIT#N), or of
    /// `common`.
    #[arg(long, value_name = "NAME")]
    pub window: Option<String>,
    /// Only events around one event, by its locator as corr prints it (`path:line`).
    #[arg(long, value_name = "LOCATOR", conflicts_with_all = ["since", "until", "window"])]
    pub around: Option<String>,
    /// How long before and after the event of --around.
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub span: String,
    /// Only records of the requests of a session.
    #[arg(long, value_name = "ID", conflicts_with = "request")]
    pub session: Option<String>,
    /// Only records of one request, by any of its ids.
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,
    /// Put series beside events: the sample before and after each, of the same worker. Selectors as in `corr metrics`, comma separated.
    #[arg(long, value_name = "SELECTORS")]
    pub metrics: Vec<String>,
    /// Say which worker an endpoint is, where nothing else shows it.
    #[arg(long, value_name = "ENDPOINT=WORKER", requires = "metrics")]
    pub map: Vec<String>,
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
    /// Where the index is kept.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Zone of stamps that name none, and of civil times in --since and --until: ZONE, or SOURCE=ZONE.
    #[arg(long, value_name = "[SOURCE=]ZONE")]
    pub tz: Vec<String>,
    /// Read a source as this format: SOURCE=FORMAT, SOURCE=ENVELOPE+FORMAT, or SOURCE=OUTER>INNER+FORMAT.
    #[arg(long, value_name = "SOURCE=FORMAT")]
    pub format_of: Vec<String>,
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
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let Some(opened) = Opened::new(&args.asking, None)? else { return nothing(&args.asking, err) };
    write(&args.asking, &opened, args.format, Paint::new(color), out, err, now)
}

/// Writes the rows of a run that is open.
pub(super) fn write(
    asking: &Asking,
    opened: &Opened,
    format: Format,
    paint: Paint,
    out: &mut dyn Write,
    err: &mut dyn Write,
    now: i64,
) -> anyhow::Result<i32> {
    let joined = opened.join(asking)?;
    let scoped = opened.scope(asking, joined.as_ref(), now)?;
    let evidence = opened.evidence(asking, &scoped)?;
    let question = scoped.question(asking, evidence.as_ref())?;
    let (marks, not_read) = match evidence.as_ref().filter(|_| asking.marked()) {
        Some(evidence) => opened.marks(asking, &scoped, evidence)?,
        None => (Vec::new(), Vec::new()),
    };
    let mut writer = Writer::begin(out, format, paint, joined.is_some())?;
    let mut told = rows(asking, &opened.sources, &question, joined.as_ref(), marks, &mut |row| Ok(writer.row(&row)?))?;
    for (name, why) in not_read {
        if !told.failed.iter().any(|(known, _)| *known == name) {
            told.failed.push((name, why));
        }
    }
    writer.end(&summary(asking, &opened.sources, &question, &told))?;
    out.flush()?;
    notes(asking, opened, joined.as_ref(), &scoped, &told, err)
}

impl Asking {
    /// The events are those of a query, a session or a request.
    fn chosen(&self) -> bool {
        !self.query.is_empty() || self.session.is_some() || self.request.is_some()
    }

    /// Marks stand beside them.
    pub(super) fn marked(&self) -> bool {
        match self.marks {
            Marks::Auto => !self.chosen(),
            Marks::Always => true,
            Marks::Never => false,
        }
    }
}

/// Says that there is nothing to read; gives the exit code.
pub(super) fn nothing(asking: &Asking, err: &mut dyn Write) -> anyhow::Result<i32> {
    let opened = run::open(&runs(asking), &options(asking))?;
    Ok(index::nothing_to_read(&opened, err)?.unwrap_or(exit::ERROR))
}

fn runs(asking: &Asking) -> Vec<String> {
    let mut runs = vec![asking.run.clone()];
    runs.extend(asking.also.iter().cloned());
    runs
}

fn options(asking: &Asking) -> Options {
    Options { tz: asking.tz.clone(), format_of: asking.format_of.clone() }
}

/// A run, opened for its timeline.
pub(super) struct Opened {
    pub sources: Sources,
    pub run: Run,
    pub options: Options,
    wanted: Option<Wanted>,
}

/// Names of files, each with the reason.
type NotRead = Vec<(String, String)>;

/// A window, and what says where it lies.
pub(super) struct Scoped {
    pub window: Window,
    pub how: Option<String>,
}

impl Opened {
    /// Opens it; `None` if there is no source of events. `without` is a file that is none of the run's: the note itself.
    pub fn new(asking: &Asking, without: Option<&Path>) -> anyhow::Result<Option<Opened>> {
        let opened = Opened::open(asking, without)?;
        Ok((!opened.sources.sources.is_empty()).then_some(opened))
    }

    /// Opens it, whatever there is.
    pub fn open(asking: &Asking, without: Option<&Path>) -> anyhow::Result<Opened> {
        let (runs, options) = (runs(asking), options(asking));
        let mut run = run::open(&runs, &options)?;
        let mut sources = sources::of(&run, &options, asking.store.as_deref())?;
        if let Some(own) = without.and_then(|path| std::fs::canonicalize(path).ok()) {
            let is_own = |path: &Path| std::fs::canonicalize(path).is_ok_and(|path| path == own);
            sources.sources.retain(|s| !is_own(&s.path));
            run.sources.retain(|s| !is_own(&s.path));
        }
        let wanted = Wanted::read(&asking.metrics, &asking.map)?;
        Ok(Opened { sources, run, options, wanted })
    }

    /// The captures of --metrics.
    pub fn join(&self, asking: &Asking) -> anyhow::Result<Option<Joined<'_>>> {
        self.wanted.as_ref().map(|wanted| wanted.join(&self.run, &self.options, asking.store.as_deref(), &self.sources)).transpose()
    }

    /// The window of the flags.
    pub fn scope(&self, asking: &Asking, joined: Option<&Joined<'_>>, now: i64) -> anyhow::Result<Scoped> {
        let sources = &self.sources;
        let flags = Flags {
            since: asking.since.as_deref(),
            until: asking.until.as_deref(),
            window: asking.window.as_deref(),
            around: asking.around.as_deref(),
            span: &asking.span,
        };
        let covers = || {
            let mut covers = Covers::default();
            covers.add_logs(&sources.sources);
            if let Some(joined) = joined {
                joined.cover(&mut covers);
            }
            Ok(covers)
        };
        let stamp = |event: &str| match joined.and_then(|joined| joined.stamp_of_citation(event)) {
            Some(stamp) => stamp,
            None => locate::stamp(event, sources, &asking.run),
        };
        let known = Known {
            declared: &sources.declared,
            phases: &|| Ok(windows::phases(asking.window.as_deref(), sources)),
            stamp: &stamp,
            covers: &covers,
        };
        let times = Times::read(flags, &known)?;
        let window = window::resolve(&times, zone_of_flags(&asking.tz)?, now, sources)?;
        Ok(Scoped { window, how: times.how })
    }

    /// What shows which records are a session's or a request's, and when edges were proven, if that is asked for.
    fn evidence(&self, asking: &Asking, scoped: &Scoped) -> anyhow::Result<Option<Evidence<'_>>> {
        let wanted = asking.session.is_some() || asking.request.is_some() || asking.marked();
        wanted.then(|| Evidence::gather(&self.sources, self.closed(scoped).ok().flatten())).transpose()
    }

    /// The window with both ends closed; `None` for the whole run.
    ///
    /// # Errors
    /// If no record has a stamp that would close it.
    pub fn closed(&self, scoped: &Scoped) -> anyhow::Result<Option<(i64, i64)>> {
        window::closed(scoped.window, || extent(&self.sources.sources))
    }

    /// Verdicts on what is asked about.
    pub fn judge(
        &self,
        asking: &Asking,
        window: Option<(i64, i64)>,
        evidence: &Evidence<'_>,
        captures: &Captures<'_>,
    ) -> Result<Judged, Nothing> {
        let requests = evidence.requests(asking.session.as_deref(), asking.request.as_deref())?;
        let scope = Scope { window, requests, ..Scope::default() };
        let how = evidence::Asking { of_session: asking.session.is_some(), ..evidence::Asking::default() };
        Ok(evidence.judge_with(&self.run, captures, &scope, how))
    }

    /// Marks in the window, and what could not be read for them. A window that no record closes has none.
    fn marks(&self, asking: &Asking, scoped: &Scoped, evidence: &Evidence<'_>) -> anyhow::Result<(Vec<Row>, NotRead)> {
        let Ok(closed) = self.closed(scoped) else { return Ok((Vec::new(), Vec::new())) };
        let captures = evidence::captures(&self.run, &self.options, asking.store.as_deref())?;
        let judged = self.judge(asking, closed, evidence, &captures)?;
        let not_read = evidence.not_read.iter().chain(&captures.not_read).map(|n| (n.name.clone(), n.why.clone())).collect();
        Ok((self.marks_of(scoped, evidence, &judged, &captures), not_read))
    }

    /// Marks in the window, of what was judged.
    pub fn marks_of(&self, scoped: &Scoped, evidence: &Evidence<'_>, judged: &Judged, captures: &Captures<'_>) -> Vec<Row> {
        let lives = readiness::gather(&self.sources, Some((&self.run, captures)), corr_readiness::Options::default());
        marks::all(&lives, evidence, judged, &self.sources, captures, scoped.window)
    }
}

impl Scoped {
    /// What is asked of the sources.
    pub fn question(&self, asking: &Asking, evidence: Option<&Evidence<'_>>) -> anyhow::Result<Question> {
        rows::question(&asking.query.join(" "), self.window, asking.session.as_deref(), asking.request.as_deref(), evidence)
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
        "session": asking.session,
        "request": asking.request,
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
