//! `corr export`: a run for other tools.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use corr_parsers::clock::How;
use corr_parsers::ids::IdKind;
use serde_json::{Map, Value as Json, json};

use super::flags::Series;
use super::opened::{Opened, Scoped};
use super::query_metrics::{Joined, Wanted};
use super::timeline::{self, Asking, Marks};
use super::{exit, index, line};
use crate::aside::Target;
use crate::evidence::Evidence;
use crate::export::perfetto::{self, Known};
use crate::export::spans::{Loose, Span, Spans};
use crate::export::{LeftOut, counters, grafana, jsonl, mermaid, otlp};
use crate::metrics::asked::Asked;
use crate::metrics::span;
use crate::metrics::workers;
use crate::query::answer::Question;
use crate::query::rows::{self, Told};
use crate::readiness;
use crate::readiness::lives;
use crate::render::events::Format;
use crate::render::number::grouped;
use crate::render::paint::Paint;
use crate::render::safe::{terminal, write_json};
use crate::render::shown::{Shown, rfc3339};
use crate::run::source::unread;

/// What a run is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Chrome trace-event JSON: requests and stages as slices, events as instants, series as counters.
    Perfetto,
    /// OTLP JSON, a trace a request, one export a line.
    Otlp,
    /// A Gantt chart of restart windows with their table, for a note.
    Mermaid,
    /// A dashboard of the series that the run has.
    Grafana,
    /// The timeline, a line a row.
    Csv,
    /// Timeline, edges and notes as a stream of JSON lines (corr.report.v1).
    Jsonl,
    /// The timeline as a table.
    Markdown,
}

/// Write a run for other tools: Perfetto, a tracing backend, Grafana, a spreadsheet, a note.
///
/// Nothing is made up: a request without a record of its end gets none, what is inferred or clamped stands apart and says why, and what is left out is
/// counted on standard error. Bodies and credentials are withheld.
#[derive(clap::Args, Debug)]
#[command(mut_arg("limit", |limit| limit.default_value("0").help("Write at most this many rows, marks and errors first; 0 writes all")))]
#[command(after_long_help = "Examples:
  corr export perfetto runs/r42 -o trace.json                     open it in ui.perfetto.dev
  corr export perfetto runs/r42 --session sess-7 --metrics sglang:token_usage,sglang:num_running_reqs -o trace.json
  corr export otlp runs/r42 --window measured -o spans.jsonl      for a collector's otlpjsonfile receiver
  corr export mermaid runs/r42                                    paste it into a note
  corr export grafana runs/r42 -o dashboard.json                  import it, and choose the data source
  corr export csv runs/r42 'level:>=warn' -o events.csv
  corr export jsonl runs/r42 --all | jq -c 'select(.type == \"edge\")'

Exit codes: 0 written, 1 there is nothing of the kind (no file is written), 2 wrong usage or nothing readable, 3 written, but a source could not be read.")]
pub struct Args {
    /// What to write.
    #[arg(value_name = "FORMAT", value_enum)]
    pub form: Form,
    #[command(flatten)]
    pub asking: Asking,
    #[command(flatten)]
    pub series: Series,
    /// The file to write; standard output if left out. One that is there is replaced only if it is such an export.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file whatever it is.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let wanted = may_ask(args)?;
    let Some(path) = &args.output else {
        let code = write(args, wanted.as_ref(), out, err, now)?;
        out.flush()?;
        return Ok(code);
    };
    let shown = terminal(&path.display().to_string()).into_owned();
    let target = Target::of(path).with_context(|| shown.clone())?;
    may_replace(args, &target).with_context(|| shown.clone())?;
    let mut file = BufWriter::new(target.begin().with_context(|| shown.clone())?);
    let code = write(args, wanted.as_ref(), &mut file, err, now)?;
    if matches!(code, exit::FOUND | exit::PARTIAL) {
        let aside = file.into_inner().map_err(|e| e.into_error()).with_context(|| shown.clone())?;
        aside.put().with_context(|| shown.clone())?;
        writeln!(err, "{shown}: written")?;
    }
    Ok(code)
}

/// What an export of a format has near its beginning.
fn sign(form: Form) -> &'static str {
    match form {
        Form::Perfetto => "{\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\"",
        Form::Otlp => "\"corr.request\"",
        Form::Mermaid => "| window | from (UTC) |",
        Form::Grafana => "\"uid\": \"corr-",
        Form::Csv => "time,last_time,worker,",
        Form::Jsonl => "\"schema\":\"corr.report.v1\"",
        Form::Markdown => "| UTC | source | event |",
    }
}

/// A log, or anybody's work, is not replaced by mistake.
fn may_replace(args: &Args, target: &Target) -> anyhow::Result<()> {
    const NEAR: u64 = 64 << 10;
    let head = target.head(NEAR)?;
    if !args.force && !head.is_empty() && memchr::memmem::find(&head, sign(args.form).as_bytes()).is_none() {
        bail!("the file is there and is no such export; choose another name, or replace it with --force");
    }
    Ok(())
}

/// Flags that a format has no use for are refused: an answer must not look as if it were of what they ask. Gives the series that are asked for.
fn may_ask(args: &Args) -> anyhow::Result<Option<Wanted>> {
    let Args { form, asking, series, .. } = args;
    let rows = matches!(form, Form::Csv | Form::Jsonl | Form::Markdown);
    let events = rows || matches!(form, Form::Perfetto | Form::Otlp);
    let windowed = !asking.when.is_empty() || asking.around.around.is_some();
    let refused = [
        ("a query, --session or --request", asking.chosen() && !events),
        ("--since, --until, --window or --around", windowed && *form == Form::Grafana),
        ("--metrics", !series.metrics.is_empty() && !rows && *form != Form::Perfetto),
        ("--map", !series.map.is_empty() && !rows),
        ("--all or --limit", (asking.all || asking.limit > 0) && !rows),
        ("--marks", asking.marks != Marks::Auto && !rows),
    ];
    if let Some((flag, _)) = refused.iter().find(|(_, refused)| *refused) {
        bail!("this format has no use for {flag}; leave it out");
    }
    Wanted::read(series)
}

fn write(args: &Args, wanted: Option<&Wanted>, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let opened = args.asking.open()?.without(args.output.as_deref());
    let rows = |format, out: &mut dyn Write, err: &mut dyn Write| {
        timeline::write(&args.asking, wanted, &opened, (format, Paint::default()), out, err, now)
    };
    match args.form {
        Form::Grafana => dashboard(args, &opened, out, err),
        Form::Perfetto => trace(args, wanted, &opened, out, err, now),
        _ if opened.is_empty() => opened.nothing(err),
        Form::Csv => rows(Format::Csv, out, err),
        Form::Markdown => rows(Format::Markdown, out, err),
        Form::Jsonl => stream(args, wanted, &opened, out, err, now),
        Form::Otlp => spans(args, &opened, out, err, now),
        Form::Mermaid => windows(args, &opened, out, err, now),
    }
}

/// What is asked of the events of a run, and what shows whose they are.
struct Meant<'o> {
    scoped: Scoped,
    question: Question,
    evidence: Evidence<'o>,
}

fn meant<'o>(asking: &Asking, opened: &'o Opened, joined: Option<&Joined<'_>>, now: i64) -> anyhow::Result<Meant<'o>> {
    let scoped = asking.scoped(opened, joined, now)?;
    let evidence = Evidence::gather(&opened.sources, None)?;
    let question = asking.question(&scoped, Some(&evidence))?;
    Ok(Meant { scoped, question, evidence })
}

/// Says on stderr what was left out and could not be read; gives the exit code. `found` is whether there was anything to write.
fn said(
    opened: &Opened,
    scoped: &Scoped,
    told: &Told,
    captures: Option<&Asked<'_>>,
    left_out: &LeftOut,
    found: bool,
    err: &mut dyn Write,
) -> anyhow::Result<i32> {
    for note in opened.sources.notes.iter().chain(&told.notes).chain(captures.iter().flat_map(|c| &c.notes)) {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    if let Some(how) = &scoped.how {
        writeln!(err, "corr: {}", terminal(how))?;
    }
    for (why, count) in left_out.iter() {
        writeln!(err, "left out: {} {}", grouped(count), terminal(why))?;
    }
    let mut failures = index::failures(&opened.sources.not_read, &[], err)?;
    let unread = captures.iter().flat_map(|c| &c.not_read).map(|file| (&file.name, &file.why));
    for (name, why) in told.failed.iter().map(|(name, why)| (name, why)).chain(unread) {
        failures += 1;
        writeln!(err, "corr: {}: {}", terminal(name), terminal(why))?;
    }
    Ok(match (failures > 0, found) {
        (true, _) => exit::PARTIAL,
        (false, true) => exit::FOUND,
        (false, false) => exit::NOTHING,
    })
}

/// What an export is of, for its head or its end.
fn about(asking: &Asking, scoped: &Scoped) -> Map<String, Json> {
    let instant = |ns: Option<i64>| ns.map(|ns| rfc3339(ns, 1));
    let mut about = Map::new();
    about.insert("run".into(), json!(asking.runs.run));
    about.insert("asked".into(), json!(asking.words()));
    about.insert("since".into(), json!(instant(scoped.window.since)));
    about.insert("until".into(), json!(instant(scoped.window.until)));
    about
}

/// Edges that records are proofs of, by source and offset.
struct Proofs {
    sources: HashMap<String, u32>,
    of: Vec<(u32, u64, usize)>,
}

impl Proofs {
    fn new(evidence: &Evidence<'_>) -> Proofs {
        let names = evidence.sources.sources.iter().map(|s| s.name.clone());
        let sources = names.zip(0u32..).collect();
        let direct = |s: &&corr_evidence::ledger::Sighting| evidence.edges.get(s.signal).is_some_and(|signal| signal.direct);
        let sightings = evidence.ledgers.iter().flat_map(|l| &l.sightings).filter(direct);
        let mut of: Vec<(u32, u64, usize)> = sightings.map(|s| (s.cite.source, s.cite.offset, usize::from(s.signal.edge))).collect();
        of.sort_unstable();
        of.dedup();
        Proofs { sources, of }
    }

    fn edges(&self, evidence: &Evidence<'_>, event: &Shown) -> Vec<String> {
        let Some(source) = self.sources.get(&event.source) else { return Vec::new() };
        let from = self.of.partition_point(|(s, at, _)| (*s, *at) < (*source, event.offset));
        let mine = self.of.iter().skip(from).take_while(|(s, at, _)| (*s, *at) == (*source, event.offset));
        mine.filter_map(|(_, _, edge)| Some(evidence.edges.edges().get(*edge)?.id.clone())).collect()
    }
}

fn trace(args: &Args, wanted: Option<&Wanted>, opened: &Opened, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let asking = &args.asking;
    let selectors = wanted.map_or(&[][..], Wanted::selectors);
    let read = opened.read(selectors, true)?;
    let captures = &read.asked;
    let joined = opened.join(wanted, &read);
    if opened.is_empty() && captures.captures.is_empty() {
        return opened.nothing(err);
    }
    let Meant { scoped, question, evidence } = &meant(asking, opened, joined.as_ref(), now)?;
    let proofs = Proofs::new(evidence);
    let session = |_: IdKind, id: &str| {
        let request = evidence.identity.requests.get(evidence.identity.request(id)?)?;
        request.sessions.iter().next().map(|(session, cite)| (session.clone(), evidence.locator(*cite)))
    };
    let edges = |event: &Shown| proofs.edges(evidence, event);
    let known = Known { session: &session, edges: &edges };
    let first = evidence.ledgers.iter().filter_map(|l| l.span).chain(captures.span_utc()).map(|(from, _)| from).min();
    let mut writer = perfetto::Writer::begin(out, first.unwrap_or(0))?;
    let mut gathered = Spans::default();
    let told = rows::events(question, &opened.sources, &mut |event| {
        gathered.push(&event);
        Ok(writer.event(&event, &known)?)
    })?;
    let (spans, loose, left_out) = gathered.finish();
    writer.spans(&spans, &known)?;
    writer.loose(&loose, &known)?;
    let window = span::Span { since: scoped.window.since, until: scoped.window.until };
    let owners = workers::workers(opened.sources.sources.iter().map(|s| &s.owner));
    counters::write(&captures.hits(selectors), window, &owners, !selectors.is_empty(), &mut writer)?;
    for (why, count) in left_out.iter() {
        writer.left_out.some(why, count);
    }
    let (written, left_out) = writer.end(about(asking, scoped))?;
    writeln!(
        err,
        "{} slices, {} instants, {} samples of series{}",
        grouped(written.slices),
        grouped(written.instants),
        grouped(written.samples),
        without_end(&loose)
    )?;
    if let Some(joined) = &joined {
        joined.tell_missing(err)?;
    }
    said(opened, scoped, &told, Some(captures), &left_out, written != perfetto::Written::default(), err)
}

/// Requests of which only one end was read, in words.
fn without_end(loose: &[Loose]) -> String {
    match loose.len() {
        0 => String::new(),
        n => format!("; {} starts and ends of requests have no other end, and no slice", grouped(n as u64)),
    }
}

fn spans(args: &Args, opened: &Opened, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let Meant { scoped, question, evidence } = &meant(&args.asking, opened, None, now)?;
    let mut gathered = Spans::default();
    let told = rows::events(question, &opened.sources, &mut |event| {
        gathered.push(&event);
        Ok(())
    })?;
    let (all, loose, mut left_out) = gathered.finish();
    let mut requests: Vec<otlp::Request> = Vec::new();
    let mut place: HashMap<String, usize> = HashMap::new();
    for span in all {
        if span.traced {
            left_out.one("spans that are somebody's trace already");
            continue;
        }
        let Some((_, id)) = &span.id else {
            left_out.one("calls without the id of a request");
            continue;
        };
        let request = evidence.identity.request(id).and_then(|no| evidence.identity.requests.get(no));
        let name = request.map_or_else(|| id.clone(), |r| r.name().to_string());
        let at = *place.entry(name.clone()).or_insert(requests.len());
        if at == requests.len() {
            requests.push(of_request(name, request, evidence, scoped));
        }
        if let Some(request) = requests.get_mut(at) {
            take(request, span);
        }
    }
    let mut writer = otlp::Writer::new(out);
    for request in &requests {
        writer.request(request)?;
    }
    let (traces, spans) = (writer.traces, writer.spans);
    for (why, count) in writer.left_out.iter() {
        left_out.some(why, count);
    }
    writeln!(err, "{} traces, {} spans{}", grouped(traces), grouped(spans), without_end(&loose))?;
    said(opened, scoped, &told, None, &left_out, traces > 0, err)
}

/// Adds a span, and the session that its own records bear.
fn take(request: &mut otlp::Request, span: Span) {
    if let Some(session) = &span.session
        && !request.sessions.iter().any(|(known, _)| known == session)
        && let Some(cite) = span.cites.last()
    {
        request.sessions.push((session.clone(), cite.clone()));
    }
    request.spans.push(span);
}

/// What is proven of a request beside its spans.
fn of_request(name: String, request: Option<&corr_evidence::identity::Request>, evidence: &Evidence<'_>, scoped: &Scoped) -> otlp::Request {
    let mut made = otlp::Request { name, ..otlp::Request::default() };
    let Some(request) = request else { return made };
    made.sessions = request.sessions.iter().map(|(session, cite)| (session.clone(), evidence.locator(*cite))).collect();
    made.trace_ids = request.trace_ids.keys().cloned().collect();
    for (ledger, sighting) in request.seen(&evidence.ledgers) {
        let Some(signal) = evidence.edges.get(sighting.signal).filter(|signal| signal.direct) else { continue };
        let Some(edge) = evidence.edges.edges().get(usize::from(sighting.signal.edge)) else { continue };
        let Some(when) = sighting.when.filter(|when| scoped.window.may_hold(Some(*when), None)) else { continue };
        made.seen.push(otlp::Seen {
            edge: edge.id.clone(),
            signal: signal.id.clone(),
            at: when.start,
            worker: ledger.worker.clone(),
            cite: evidence.locator(sighting.cite),
        });
    }
    made.seen.sort_by(|a, b| (a.at, &a.cite, &a.edge).cmp(&(b.at, &b.cite, &b.edge)));
    made
}

fn stream(
    args: &Args,
    wanted: Option<&Wanted>,
    opened: &Opened,
    out: &mut dyn Write,
    err: &mut dyn Write,
    now: i64,
) -> anyhow::Result<i32> {
    let asking = &args.asking;
    let read = opened.read(wanted.map_or(&[][..], Wanted::selectors), true)?;
    let captures = &read.asked;
    let joined = opened.join(wanted, &read);
    let scoped = asking.scoped(opened, joined.as_ref(), now)?;
    let sources = &opened.sources;
    let closed = opened.closed(&scoped)?;
    let evidence = Evidence::gather(sources, closed)?;
    let question = asking.question(&scoped, Some(&evidence))?;
    let mut begin = about(asking, &scoped);
    let named =
        |s: &crate::query::sources::Asked| json!({"name": s.name, "format": s.format, "worker": s.owner.worker, "role": s.owner.role});
    begin.insert("sources".into(), sources.sources.iter().map(named).collect());
    let mut writer = jsonl::Writer::begin(out, begin)?;
    let judged = opened.judge(&asking.scope, closed, &evidence, captures)?;
    let marks = if asking.marked() { opened.marks(&scoped, &evidence, &judged, captures) } else { Vec::new() };
    let told = timeline::rows(asking, sources, &question, joined.as_ref(), marks, &mut |row| Ok(writer.row(&row)?))?;
    let source = line::source(&asking.runs, &asking.reading);
    let edged = asking.edged(&source, &evidence, &judged, closed);
    writer.edges(&edged)?;
    for warning in &judged.warnings {
        writer.note("mistake_that_this_run_allows", None, &warning.says)?;
    }
    let failed = told.failed.iter().map(|(name, why)| (name, why));
    for (name, why) in unread(sources.not_read.iter().filter(|n| n.failure).chain(&evidence.not_read).chain(&captures.not_read), failed) {
        writer.note("not_read", Some(&name), &why)?;
    }
    for source in sources.sources.iter().filter(|s| s.clock.how == How::Assumed) {
        writer.note("zone_assumed", Some(&source.name), "nothing says the zone of its stamps: UTC was assumed")?;
    }
    for note in sources.notes.iter().chain(&told.notes).chain(&captures.notes) {
        writer.note("index", None, note)?;
    }
    if told.totals.shown < told.totals.rows {
        let cut = told.totals.rows - told.totals.shown;
        writer.note("cut", None, &format!("{cut} rows are left out; --limit 0 writes all"))?;
    }
    let mut summary = timeline::summary(asking, sources, &question, &told);
    summary["matched"] = json!(told.totals.events);
    summary["returned"] = json!(told.totals.shown);
    summary["cut"] = json!(told.totals.rows - told.totals.shown);
    writer.end(summary)?;
    timeline::notes(asking, opened, joined.as_ref(), &scoped, &told, err)
}

fn windows(args: &Args, opened: &Opened, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let asking = &args.asking;
    let scoped = asking.scoped(opened, None, now)?;
    let captures = opened.captures()?;
    let found = readiness::gather(&opened.sources, Some((&opened.run, &captures)), corr_readiness::Options::default());
    let inside = |w: &mermaid::Window| {
        scoped.window.since.is_none_or(|since| w.until.is_none_or(|until| until > since))
            && scoped.window.until.is_none_or(|until| w.since < until)
    };
    let mut windows = lives::windows(&found.history, &opened.sources, &captures.captures);
    windows.retain(inside);
    let cited = |name: &str| {
        let is_in = |cite: &String| cite.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
        windows.iter().any(|w| w.cites.iter().any(is_in))
    };
    let assumed = opened.sources.sources.iter().filter(|s| s.clock.how == How::Assumed && cited(&s.name));
    let remarks: Vec<String> = assumed.map(|s| format!("The zone of {} was assumed to be UTC.", s.name)).collect();
    let Some(text) = mermaid::write(&windows, &remarks) else {
        writeln!(err, "corr: no server was ready or away in what was read; `corr ready` says what is known of each")?;
        return Ok(exit::NOTHING);
    };
    out.write_all(text.as_bytes())?;
    let told = Told::default();
    said(opened, &scoped, &told, Some(&captures), &LeftOut::default(), true, err)
}

fn dashboard(args: &Args, opened: &Opened, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    let captures = opened.captures()?;
    let unread = captures.not_read.iter().map(|file| (&file.name, &file.why));
    let mut partial = false;
    for (name, why) in unread {
        partial = true;
        writeln!(err, "corr: {}: {}", terminal(name), terminal(why))?;
    }
    let Some(made) = grafana::make(&args.asking.runs.run, &captures.captures)? else {
        writeln!(err, "corr: no series of the run has a panel; `corr metrics` lists those that there are")?;
        return Ok(if partial { exit::PARTIAL } else { exit::NOTHING });
    };
    write_json(out, &made.json, true)?;
    writeln!(out)?;
    writeln!(err, "{} panels; {} families have none: {}", made.panels, made.without.len(), terminal(&made.without.join(", ")))?;
    Ok(if partial { exit::PARTIAL } else { exit::FOUND })
}
