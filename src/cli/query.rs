//! `corr query`: finds events.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, bail};
use corr_parsers::clock::{How, Rule, read_rule};
use serde_json::{Value as Json, json};

use super::{exit, grouped, index, window};
use crate::query::answer::{self, Answer, Question, Sort, Window};
use crate::query::expr::{Expr, Term, Test};
use crate::query::fetch::{self, Context};
use crate::query::matches::Matcher;
use crate::query::sources::{self, Sources};
use crate::query::subject::{NAMES, Name, Special};
use crate::query::{grammar, suggest, timespec};
use crate::render::events::{self, Format, Style};
use crate::render::paint::{Paint, When};
use crate::render::safe;
use crate::render::shown::rfc3339;
use crate::run::{self, Options};
use crate::store::update::UpdateOptions;

/// Find events of a run by words, fields, ids and time.
///
/// An unindexed run is scanned, an indexed one is asked by its index; the answers are the same.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "The query language:
  retract requests            both words, in any case
  \"retract requests\"          the phrase
  kind:prefill_batch          a kind; level:warn, level:>=warn a level
  cached_tokens:>0            a number; also >= < <= != and ranges [1 TO 100} {0 TO *]
  rid:7c1e…  rid:7c1e*        an id or its beginning (also request_id: session: worker_id: trace_id: id:)
  worker:decode*              the process that wrote it, or an id of one
  error_type:*                the field is there; error_type?:x  is x or not there
  a AND (b OR c) NOT d -e     /regex/  field:/regex/

Times: RFC 3339, `2026-11-29 12:02`, `12:02:07` on the run's day, @epoch, start+90s, end-5m.

Examples:
  corr query runs/r42 'kind:prefill_batch cached_tokens:>0' --count-by worker
  corr query runs/r42 'level:>=warn' --since start+90s --histogram 10s
  corr query runs/r42 rid:edf9ed01… -C 2
  corr query runs/r42 'kind:request_end' --fields time,request_id,cached_tokens --format csv
  journalctl -u sglang -o json --all | corr query - 'kind:retract*'")]
pub struct Args {
    /// Run directory, file, glob in quotes, or `-` for standard input.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// What to find; several arguments are joined by blanks. Nothing finds every event. Before a query that begins with `-` write `--`.
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
    /// Only events of a window that corr.toml declares.
    #[arg(long, value_name = "NAME")]
    pub window: Option<String>,
    /// Show this many records after each hit, from the same source.
    #[arg(short = 'A', value_name = "N", default_value_t = 0)]
    pub after: usize,
    /// Show this many records before each hit, from the same source.
    #[arg(short = 'B', value_name = "N", default_value_t = 0)]
    pub before: usize,
    /// Show this many records before and after each hit.
    #[arg(short = 'C', value_name = "N", default_value_t = 0)]
    pub context: usize,
    /// Show at most this many hits; 0 shows all.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Count hits by the values of a field.
    #[arg(long, value_name = "FIELD", conflicts_with = "histogram")]
    pub count_by: Option<String>,
    /// Count hits in bins of time.
    #[arg(long, value_name = "DURATION")]
    pub histogram: Option<String>,
    /// Show only these fields, comma separated.
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// Order: `time`, `-time` (latest first), a field, or `-FIELD` (largest first).
    #[arg(long, value_name = "KEY", default_value = "time", allow_hyphen_values = true)]
    pub sort: String,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Say how the query was read, how it was answered and what each clause removed.
    #[arg(long)]
    pub explain: bool,
    /// Build or refresh the index first.
    #[arg(long)]
    pub index: bool,
    /// Where the index is kept.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Search and show prompts, responses, header values and credentials, which are withheld otherwise.
    #[arg(long)]
    pub bodies: bool,
    /// Zone of stamps that name none, and of civil times in --since and --until: ZONE, or SOURCE=ZONE.
    #[arg(long, value_name = "[SOURCE=]ZONE")]
    pub tz: Vec<String>,
    /// Read a source as this format: SOURCE=FORMAT.
    #[arg(long, value_name = "SOURCE=FORMAT")]
    pub format_of: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let started = Instant::now();
    let text = args.query.join(" ");
    let expr = grammar::parse(&text).map_err(|e| anyhow::anyhow!("{e}\n{}", e.pointer()))?;
    let question = question(args, expr)?;
    let mut runs = vec![args.run.clone()];
    runs.extend(args.also.iter().cloned());
    let options = Options { tz: args.tz.clone(), format_of: args.format_of.clone() };
    if args.index {
        if runs.iter().any(|r| r == "-") {
            bail!("--index: the index of standard input needs a place; index it with `corr index - --store DIR`");
        }
        let opened = run::open(&runs, &options)?;
        if let Some(code) = index::nothing_to_read(&opened, err)? {
            return Ok(code);
        }
        index::build(&opened, args.store.clone(), UpdateOptions::default(), err)?;
    }
    let mut sources = sources::open(&runs, &options, args.store.as_deref())?;
    if sources.sources.is_empty() {
        let opened = run::open(&runs, &options)?;
        return Ok(index::nothing_to_read(&opened, err)?.unwrap_or(exit::ERROR));
    }
    let zone = zone_of_flags(&args.tz)?;
    let resolved = window::resolve(args.since.as_deref(), args.until.as_deref(), args.window.as_deref(), zone, now, &sources)?;
    let question = Question { window: resolved, ..question };
    let mut answer = answer::ask(&question, &sources.sources)?;
    for (asking, source) in answer.asking.iter().zip(&sources.sources) {
        if let Some(why) = &asking.index_failed {
            sources.notes.push(format!("{}: read without its index: {why}", source.name));
        }
    }
    for hit in &answer.hits {
        // The index can say of a source that something is there when the source itself cannot be read any more.
        if let (Err(why), Some(asking)) = (sources.sources[hit.source].bytes(), answer.asking.get_mut(hit.source)) {
            asking.failed.get_or_insert_with(|| why.to_string());
        }
    }
    let summary = summary(args, &text, &question, &answer, &sources, started);
    if args.count_by.is_some() {
        write_counts(args, &answer, &summary, out)?;
    } else if let Some(width) = question.histogram {
        write_histogram(args, width, &answer, &summary, out)?;
    } else {
        let context = Context { before: args.before.max(args.context), after: args.after.max(args.context) };
        let blocks = fetch::blocks(&answer.hits, &sources.sources, context, args.bodies);
        let width = if std::io::stdout().is_terminal() { terminal_width() } else { 0 };
        let style = Style { fields: args.fields.clone(), width, paint: Paint::new(color) };
        match args.format {
            Format::Text => events::text(out, &blocks, &style)?,
            Format::Jsonl => events::jsonl(out, &blocks, &style, &summary)?,
            Format::Json => events::json(out, &blocks, &style, &summary)?,
            Format::Csv => events::csv(out, &blocks, &style)?,
            Format::Markdown => events::markdown(out, &blocks, &style)?,
        }
    }
    out.flush()?;
    if args.explain {
        explain(&question, &answer, &sources, err)?;
    }
    notes(args, &question, &answer, &sources, err)
}

fn question(args: &Args, expr: Expr) -> anyhow::Result<Question> {
    let matcher = Matcher::new(&expr)?;
    let (name, rising) = match args.sort.strip_prefix('-') {
        Some(name) => (name, false),
        None => (args.sort.as_str(), true),
    };
    let sort = if name == "time" { Sort::Time(rising) } else { Sort::Field(name.to_string(), rising) };
    let histogram = match &args.histogram {
        None => None,
        Some(text) => match timespec::parse_duration(text) {
            Some(ns) if ns > 0 => Some(ns),
            _ => bail!("--histogram {text}: not a duration; write 10s, 250ms or 1m"),
        },
    };
    Ok(Question {
        expr,
        matcher,
        window: Window::default(),
        sort,
        limit: args.limit,
        count_by: args.count_by.clone(),
        histogram,
        bodies: args.bodies,
    })
}

/// The zone in which civil times on the command line are read: the plain `--tz`, else UTC.
fn zone_of_flags(flags: &[String]) -> anyhow::Result<Rule> {
    match flags.iter().rev().find(|f| !f.contains('=')) {
        None => Ok(Rule::Fixed(0)),
        Some(text) => read_rule(text).with_context(|| crate::run::declared::bad_zone(text)),
    }
}

fn terminal_width() -> usize {
    console::Term::stdout().size_checked().map_or(0, |(_, columns)| usize::from(columns))
}

/// Facts about the answer, for JSON and the notes.
fn summary(args: &Args, text: &str, question: &Question, answer: &Answer, sources: &Sources, started: Instant) -> Json {
    let shown = answer.hits.len();
    let scanned: u64 = answer.asking.iter().map(|a| a.scanned).sum();
    let assumed: Vec<&str> = sources.sources.iter().filter(|s| s.clock.how == How::Assumed).map(|s| s.key.as_str()).collect();
    let instant = |ns: Option<i64>| ns.map(|n| rfc3339(n, 1));
    let mut out = json!({
        "type": "summary",
        "schema": "corr.query.v1",
        "query": text,
        "since": instant(question.window.since),
        "until": instant(question.window.until),
        "matched": answer.total,
        "shown": if args.count_by.is_some() || args.histogram.is_some() { answer.total } else { shown as u64 },
        "at_window_edge": answer.at_edge,
        "sources": sources.sources.len(),
        "scanned_sources": sources.sources.iter().filter(|s| s.unindexed).count(),
        "scanned_bytes": scanned,
        "not_read": sources.not_read.iter().filter(|n| n.failure).map(|n| json!({"source": n.name, "why": n.why})).collect::<Vec<_>>(),
        "zone_assumed": assumed,
        "elapsed_ms": started.elapsed().as_millis() as u64,
    });
    let failed: Vec<Json> = answer
        .asking
        .iter()
        .zip(&sources.sources)
        .filter_map(|(a, s)| a.failed.as_ref().map(|f| json!({"source": s.name, "why": f})))
        .collect();
    if !failed.is_empty()
        && let Some(list) = out.get_mut("not_read").and_then(Json::as_array_mut)
    {
        list.extend(failed);
    }
    out
}

fn write_counts(args: &Args, answer: &Answer, summary: &Json, out: &mut dyn Write) -> anyhow::Result<()> {
    let field = args.count_by.as_deref().unwrap_or("");
    let mut counts: Vec<(&String, u64)> = answer.counts.iter().map(|(k, n)| (k, *n)).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let all = counts.len();
    if args.limit > 0 {
        counts.truncate(args.limit);
    }
    let label = |value: &str| if value.is_empty() { "(none)".to_string() } else { value.to_string() };
    match args.format {
        Format::Text => {
            let width = counts.iter().map(|c| grouped(c.1).len()).max().unwrap_or(0);
            for (value, n) in &counts {
                writeln!(out, "{:>width$}  {}", grouped(*n), safe::terminal(&label(value)))?;
            }
            if counts.len() < all {
                writeln!(out, "… {} more values; --limit 0 for all", grouped((all - counts.len()) as u64))?;
            }
        }
        Format::Jsonl => {
            for (value, n) in &counts {
                let value = if value.is_empty() { Json::Null } else { json!(value) };
                writeln!(out, "{}", json!({"type": "count", "field": field, "value": value, "count": n}))?;
            }
            writeln!(out, "{summary}")?;
        }
        Format::Json => {
            let list: Vec<Json> = counts
                .iter()
                .map(|(value, n)| json!({"value": if value.is_empty() { Json::Null } else { json!(value) }, "count": n}))
                .collect();
            let whole = json!({"schema": "corr.query.v1", "field": field, "values": all, "counts": list, "summary": summary});
            serde_json::to_writer_pretty(&mut *out, &whole)?;
            writeln!(out)?;
        }
        Format::Csv => {
            writeln!(out, "{},count", safe::csv_field(field))?;
            for (value, n) in &counts {
                writeln!(out, "{},{n}", safe::csv_field(value))?;
            }
        }
        Format::Markdown => {
            writeln!(out, "| {} | count |\n|---|---:|", safe::markdown_cell(field))?;
            for (value, n) in &counts {
                writeln!(out, "| {} | {n} |", safe::markdown_cell(&label(value)))?;
            }
        }
    }
    Ok(())
}

/// Most bins that are filled up between the first and the last one.
const MAX_BINS: i64 = 10_000;

fn write_histogram(args: &Args, width: i64, answer: &Answer, summary: &Json, out: &mut dyn Write) -> anyhow::Result<()> {
    let timed: Vec<(i64, u64)> = answer.bins.iter().filter_map(|(at, n)| at.map(|a| (a, *n))).collect();
    let untimed = answer.bins.get(&None).copied().unwrap_or(0);
    // Bins without a hit are shown: an empty one says that nothing was found there.
    let mut bins: Vec<(i64, u64)> = Vec::new();
    if let (Some(first), Some(last)) = (timed.first(), timed.last())
        && (last.0 - first.0) / width < MAX_BINS
    {
        let mut at = first.0;
        while at <= last.0 {
            bins.push((at, answer.bins.get(&Some(at)).copied().unwrap_or(0)));
            at += width;
        }
    } else {
        bins = timed;
    }
    let most = bins.iter().map(|b| b.1).max().unwrap_or(0).max(1);
    match args.format {
        Format::Text => {
            let digits = grouped(most).len();
            for (at, n) in &bins {
                let bar = "█".repeat((n * 50).div_ceil(most) as usize);
                writeln!(out, "{}  {:>digits$}  {bar}", rfc3339(*at, width), grouped(*n))?;
            }
            if untimed > 0 {
                writeln!(out, "no time known  {}", grouped(untimed))?;
            }
        }
        Format::Jsonl => {
            for (at, n) in &bins {
                writeln!(out, "{}", json!({"type": "bin", "start": rfc3339(*at, width), "width_ns": width, "count": n}))?;
            }
            writeln!(out, "{}", json!({"type": "bin", "start": null, "count": untimed}))?;
            writeln!(out, "{summary}")?;
        }
        Format::Json => {
            let list: Vec<Json> = bins.iter().map(|(at, n)| json!({"start": rfc3339(*at, width), "count": n})).collect();
            let whole = json!({"schema": "corr.query.v1", "width_ns": width, "bins": list, "untimed": untimed, "summary": summary});
            serde_json::to_writer_pretty(&mut *out, &whole)?;
            writeln!(out)?;
        }
        Format::Csv => {
            writeln!(out, "start,count")?;
            for (at, n) in &bins {
                writeln!(out, "{},{n}", rfc3339(*at, width))?;
            }
            if untimed > 0 {
                writeln!(out, ",{untimed}")?;
            }
        }
        Format::Markdown => {
            writeln!(out, "| start | count |\n|---|---:|")?;
            for (at, n) in &bins {
                writeln!(out, "| {} | {n} |", rfc3339(*at, width))?;
            }
        }
    }
    Ok(())
}

/// How the query was read, how it was answered, what each clause removed.
fn explain(question: &Question, answer: &Answer, sources: &Sources, err: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(err, "query    {}", safe::terminal(&question.expr.to_string()))?;
    let everything = Question { expr: Expr::All, matcher: Matcher::new(&Expr::All)?, ..count_only(question)? };
    let all = answer::ask(&everything, &sources.sources)?.total;
    writeln!(err, "records  {} in the window", grouped(all))?;
    for part in question.expr.conjuncts() {
        if *part == Expr::All {
            continue;
        }
        let alone = Question { expr: part.clone(), matcher: Matcher::new(part)?, ..count_only(question)? };
        let n = answer::ask(&alone, &sources.sources)?.total;
        writeln!(err, "clause   {}  matches {}, removes {}", safe::terminal(&part.to_string()), grouped(n), grouped(all - n.min(all)))?;
    }
    for (asking, source) in answer.asking.iter().zip(&sources.sources) {
        let name = safe::terminal(&source.name);
        if source.unindexed {
            writeln!(err, "scan     {name}: {} bytes, {} matched", grouped(asking.scanned), grouped(asking.matched))?;
            continue;
        }
        let read = if asking.read > 0 { format!(", {} records read to judge them", grouped(asking.read)) } else { String::new() };
        let tail = if asking.scanned > 0 { format!(", {} bytes behind it scanned", grouped(asking.scanned)) } else { String::new() };
        writeln!(err, "index    {name}: {} rows, {} matched{read}{tail}", grouped(asking.indexed_rows), grouped(asking.matched))?;
        for (by, rows, exact) in asking.steps.values() {
            writeln!(err, "         by {by}: {} {}", grouped(*rows), if *exact { "rows" } else { "candidates" })?;
        }
    }
    Ok(())
}

fn count_only(question: &Question) -> anyhow::Result<Question> {
    Ok(Question {
        expr: Expr::All,
        matcher: Matcher::new(&Expr::All)?,
        window: question.window,
        sort: Sort::Time(true),
        limit: 1,
        count_by: None,
        histogram: None,
        bodies: question.bodies,
    })
}

/// Says on stderr what a reader of the answer must know; gives the exit code.
fn notes(args: &Args, question: &Question, answer: &Answer, sources: &Sources, err: &mut dyn Write) -> anyhow::Result<i32> {
    for note in &sources.notes {
        writeln!(err, "corr: {}", safe::terminal(note))?;
    }
    if args.since.is_some() || args.until.is_some() || args.window.is_some() {
        let show = |ns: Option<i64>| ns.map_or("…".to_string(), |n| rfc3339(n, 1_000));
        let edge =
            if answer.at_edge > 0 { format!("; {} of the hits reach over an edge of it", grouped(answer.at_edge)) } else { String::new() };
        writeln!(err, "window [{}, {}){edge}", show(question.window.since), show(question.window.until))?;
    }
    let listed = args.count_by.is_none() && question.histogram.is_none();
    let shown = answer.hits.len() as u64;
    if listed && shown < answer.total {
        writeln!(err, "showing {} of {}; --limit 0 for all", grouped(shown), grouped(answer.total))?;
    }
    let scanned = sources.sources.iter().filter(|s| s.unindexed).count();
    if scanned > 0 {
        let bytes: u64 = answer.asking.iter().map(|a| a.scanned).sum();
        let runs = safe::terminal(&args.run).into_owned();
        let hint = if args.run == "-" { String::new() } else { format!("; `corr index {runs}` makes later questions faster") };
        writeln!(err, "scanned {scanned} of {} sources without an index, {:.1} MB{hint}", sources.sources.len(), bytes as f64 / 1e6)?;
    }
    let mut failures = index::failures(&sources.not_read, &[], err)?;
    for (asking, source) in answer.asking.iter().zip(&sources.sources) {
        if let Some(why) = &asking.failed {
            failures += 1;
            writeln!(err, "corr: {}: {}; the other sources are answered", safe::terminal(&source.name), safe::terminal(why))?;
        }
    }
    if answer.total == 0 {
        suggestions(question, sources, err)?;
    }
    if failures > 0 {
        let found = if answer.total > 0 { "rows were found in the rest" } else { "no rows were found in the rest" };
        writeln!(err, "corr: {failures} of the inputs could not be read; {found}")?;
        return Ok(exit::PARTIAL);
    }
    Ok(if answer.total > 0 { exit::FOUND } else { exit::NOTHING })
}

/// Names in a query without answers that no source has, with what they may have been meant to be.
fn suggestions(question: &Question, sources: &Sources, err: &mut dyn Write) -> anyhow::Result<()> {
    let kinds: BTreeSet<&str> = corr_parsers::kinds().map(|k| k.name).collect();
    let mut fields: Option<BTreeSet<String>> = None;
    let mut lines: Vec<String> = Vec::new();
    question.expr.each_clause(&mut |clause| {
        let Term::Field(field) = &clause.term else { return };
        match (Name::new(&field.name).special, &field.test) {
            (Special::Kind, Test::Equals(kind)) if !kinds.contains(kind.as_str()) => {
                lines.push(unknown("kind", kind, &suggest::suggest(kind, kinds.iter().copied())));
            }
            (Special::None, _) => {
                let known = fields.get_or_insert_with(|| field_names(sources));
                if !known.iter().any(|k| k.eq_ignore_ascii_case(&field.name)) {
                    let candidates = NAMES.iter().map(|n| n.0).chain(known.iter().map(String::as_str));
                    lines.push(unknown("field", &field.name, &suggest::suggest(&field.name, candidates)));
                }
            }
            _ => {}
        }
    });
    for line in lines {
        writeln!(err, "corr: {}", safe::terminal(&line))?;
    }
    Ok(())
}

fn unknown(what: &str, name: &str, near: &[&str]) -> String {
    if near.is_empty() {
        return format!("no source has a {what} `{name}`");
    }
    format!("no source has a {what} `{name}`; did you mean {}?", near.join(" or "))
}

/// Field names that the sources have: from the index, or from the first records of what is not indexed.
fn field_names(sources: &Sources) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in &sources.sources {
        for segment in &source.segments {
            if let Ok(meta) = segment.meta() {
                for (name, info) in &meta.columns {
                    names.insert(name.clone());
                    names.extend(info.raw.iter().cloned());
                }
            }
        }
        if source.segments.is_empty()
            && let Ok(bytes) = source.bytes()
        {
            let mut seen = 0;
            let start = crate::run::events::Start::default();
            crate::run::events::each(bytes, &source.layout, source.timing(), start, bytes.len(), |_, event, _| {
                for field in &event.fields {
                    if !names.contains(field.name.as_ref()) {
                        names.insert(field.name.to_string());
                    }
                    if !names.contains(field.raw.as_ref()) {
                        names.insert(field.raw.to_string());
                    }
                }
                seen += 1;
                if seen >= 20_000 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
            });
        }
    }
    names
}
