//! `corr query`: finds events.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Instant;

use anyhow::{Context as _, bail};
use corr_parsers::clock::{How, Rule, read_rule};
use serde_json::{Value as Json, json};

use super::flags::{self, Around, Runs, Series};
use super::line::Line;
use super::opened::{Lives, times};
#[cfg(feature = "cluster")]
use super::query_cluster;
use super::query_metrics::{self, Joined, Wanted};
use super::{exit, index};
use crate::metrics::read;
use crate::query::answer::{self, Answer, Question, Sort, Window};
use crate::query::expr::Expr;
use crate::query::fetch::{Context, Lost, Reading};
use crate::query::matches::Matcher;
use crate::query::sources::{self, Sources};
use crate::query::{grammar, names, timespec, window};
use crate::readiness::windows;
use crate::render::counts::{Counts, Histogram};
use crate::render::events::{Format, Style, Writer};
use crate::render::metrics::bins::{self, Bin};
use crate::render::number::grouped;
use crate::render::paint::{Paint, When};
use crate::render::safe;
use crate::render::shown::rfc3339;
use crate::run;
use crate::store::update::UpdateOptions;

/// Find events of a run by words, fields, ids and time.
///
/// An unindexed run is scanned, an indexed one is asked by its index; the answers are the same.
#[derive(clap::Args, Debug)]
#[command(mut_arg("span", |span| span.default_value("5s")))]
#[command(mut_arg("metrics", |metrics| metrics.help("Put series beside events: the sample before and after each, of the same worker; with --histogram or a window what they did in it. Selectors as in `corr metrics`, comma separated")))]
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
  journalctl -u sglang -o json --all | corr query - 'kind:retract*'
  corr query s3://bucket/r42 'level:>=warn' --cluster df://head:50050      over shards that `corr index --shards` wrote")]
pub struct Args {
    #[command(flatten)]
    pub runs: Runs,
    /// What to find; several arguments are joined by blanks. Nothing finds every event. Before a query that begins with `-` write `--`.
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    #[command(flatten)]
    pub when: flags::Window,
    #[command(flatten)]
    pub around: Around,
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
    #[command(flatten)]
    pub series: Series,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Say how the query was read, how it was answered and what each clause removed.
    #[arg(long)]
    pub explain: bool,
    /// Build or refresh the index first.
    #[arg(long)]
    pub index: bool,
    /// Search and show prompts, responses, header values and credentials, which are withheld otherwise.
    #[arg(long)]
    pub bodies: bool,
    #[command(flatten)]
    pub reading: flags::Reading,
    #[command(flatten)]
    pub at: flags::Cluster,
}

impl Args {
    /// The arguments of `corr query RUN`, with nothing else said.
    pub(crate) fn of(run: &str) -> Args {
        Args {
            runs: Runs { run: run.to_string(), also: Vec::new() },
            query: Vec::new(),
            when: flags::Window::default(),
            around: Around { around: None, span: "5s".into() },
            after: 0,
            before: 0,
            context: 0,
            limit: 50,
            count_by: None,
            histogram: None,
            fields: Vec::new(),
            sort: "time".into(),
            series: Series::default(),
            format: Format::Text,
            explain: false,
            index: false,
            bodies: false,
            reading: flags::Reading::default(),
            at: flags::Cluster::default(),
        }
    }
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let started = Instant::now();
    let text = args.query.join(" ");
    let expr = grammar::parse(&text).map_err(|e| anyhow::anyhow!("{e}\n{}", e.pointer()))?;
    let asked = question(args, expr.clone())?;
    #[cfg(feature = "cluster")]
    if let Some(cluster) = &args.at.cluster {
        return query_cluster::run(args, cluster, asked, color, out, err, now);
    }
    #[cfg(not(feature = "cluster"))]
    if args.at.cluster.is_some() {
        return super::sql::not_built("a cluster", "cluster", err);
    }
    drop(asked);
    let wanted = Wanted::read(&args.series)?;
    let runs = args.runs.all();
    let options = args.reading.options();
    let store = args.reading.store.as_deref();
    // The run is looked into once, and not at all where its index can answer.
    let mut run = None;
    if args.index {
        if runs.iter().any(|r| r == "-") {
            bail!("--index: the index of standard input needs a place; index it with `corr index - --store DIR`");
        }
        let opened = run::open(&runs, &options)?;
        if let Some(code) = index::nothing_to_read(&opened, err)? {
            return Ok(code);
        }
        index::build(&opened, &options, args.reading.store.clone(), UpdateOptions::default(), err)?;
        run = Some(opened);
    } else if wanted.is_some() {
        run = Some(sources::looked_into(&runs, &options, store)?);
    }
    let mut sources = match &run {
        Some(run) => sources::of(run, &options, store)?,
        None => sources::open(&runs, &options, store)?,
    };
    if sources.sources.is_empty() {
        let opened = match run {
            Some(run) => run,
            None => sources::looked_into(&runs, &options, store)?,
        };
        return match index::nothing_to_read(&opened, err)? {
            Some(code) => Ok(code),
            None => bail!("{}: nothing that could be read", safe::terminal(&args.runs.words())),
        };
    }
    let read = match (&wanted, &run) {
        (Some(wanted), Some(run)) => {
            let mut read = read::read(run, &options, store, wanted.selectors(), false, || Ok(&sources))?;
            // Of the store as a whole the sources have said it.
            read.asked.notes.retain(|note| !sources.notes.contains(note));
            Some(read)
        }
        _ => None,
    };
    let joined = wanted.as_ref().zip(read.as_ref()).map(|(wanted, read)| wanted.join(read, &sources));
    let lives = || match &run {
        Some(run) => windows::of_run(run, &sources, &options, store),
        None => windows::of_run(&sources::looked_into(&runs, &options, store)?, &sources, &options, store),
    };
    let Asked { question, answer, how } = ask(args, expr, &sources, joined.as_ref(), now, &lives)?;
    if let Some(how) = how.filter(|_| args.around.around.is_some() || args.when.window.as_deref() == Some("common")) {
        writeln!(err, "corr: {}", safe::terminal(&how))?;
    }
    for (asking, source) in answer.asking.iter().zip(&sources.sources) {
        if let Some(why) = &asking.index_failed {
            sources.notes.push(format!("{}: read without its index: {why}", source.name));
        }
    }
    let told = Told { args, text: &text, question: &question, answer: &answer, sources: &sources, started, joined: joined.as_ref() };
    let written = told.write(color, out)?;
    out.flush()?;
    if args.explain {
        explain(&question, &answer, &sources, err)?;
    }
    told.notes(&written, err)
}

/// A question that was asked.
pub(crate) struct Asked {
    pub question: Question,
    pub answer: Answer,
    /// What says where a named window lies.
    pub how: Option<String>,
}

/// Asks sources that are open.
pub(crate) fn ask(
    args: &Args,
    expr: Expr,
    sources: &Sources,
    joined: Option<&Joined<'_>>,
    now: i64,
    lives: Lives<'_>,
) -> anyhow::Result<Asked> {
    let times = times(args.around.flags(&args.when), sources, &args.runs.run, joined, lives)?;
    let window = window::resolve(&times, zone_of_flags(&args.reading.tz)?, now, sources)?;
    let (question, answer) = ask_in(args, expr, sources, window)?;
    Ok(Asked { question, answer, how: times.how })
}

/// Asks sources in a window that is known.
pub(crate) fn ask_in(args: &Args, expr: Expr, sources: &Sources, window: Window) -> anyhow::Result<(Question, Answer)> {
    let question = Question { window, ..question(args, expr)? };
    let answer = answer::ask(&question, &sources.sources)?;
    Ok((question, answer))
}

/// Writes an answer as `--format json` has it.
pub(crate) fn write_json(
    args: &Args,
    (question, answer): (&Question, &Answer),
    sources: &Sources,
    started: Instant,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let text = args.query.join(" ");
    let told = Told { args, text: &text, question, answer, sources, started, joined: None };
    told.write(When::Never, out)?;
    Ok(())
}

fn question(args: &Args, expr: Expr) -> anyhow::Result<Question> {
    let matcher = Matcher::new(&expr)?;
    let (name, rising) = match args.sort.strip_prefix('-') {
        Some(name) => (name, false),
        None => (args.sort.as_str(), true),
    };
    let sort = if name.eq_ignore_ascii_case("time") { Sort::Time(rising) } else { Sort::Field(name.to_string(), rising) };
    if matches!(&sort, Sort::Field(name, _) if is_one_of(name, &["message", "locator", "line"])) {
        bail!("--sort {}: hits are not ordered by that; write `time`, `-time`, a field, or `-FIELD`", args.sort);
    }
    if let Some(name) = &args.count_by {
        if name.eq_ignore_ascii_case("time") {
            bail!("--count-by {name}: write `--histogram 10s` to count by time");
        }
        if is_one_of(name, &["message", "locator", "line"]) {
            bail!("--count-by {name}: nearly every hit has its own; count by a field, `kind`, `source` or `worker`");
        }
    }
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

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|n| n.eq_ignore_ascii_case(name))
}

/// The zone in which civil times on the command line are read: the plain `--tz`, else UTC.
pub(crate) fn zone_of_flags(flags: &[String]) -> anyhow::Result<Rule> {
    match flags.iter().rev().find(|f| !f.contains('=')) {
        None => Ok(Rule::Fixed(0)),
        Some(text) => read_rule(text).with_context(|| crate::run::declared::bad_zone(text)),
    }
}

pub(super) fn terminal_width() -> usize {
    console::Term::stdout().size_checked().map_or(0, |(_, columns)| usize::from(columns))
}

/// Hits that are read again and written at a time.
const BATCH: usize = 1_000;

/// An answer and all that was asked, to be told.
struct Told<'a> {
    args: &'a Args,
    text: &'a str,
    question: &'a Question,
    answer: &'a Answer,
    sources: &'a Sources,
    started: Instant,
    joined: Option<&'a Joined<'a>>,
}

/// What became of the answer on its way out.
#[derive(Default)]
struct Written {
    /// Hits that were written; for counts, all that were counted.
    shown: u64,
    /// Values that were counted, and how many of them were written.
    values: Option<(u64, u64)>,
    /// Names that were asked for and that no hit had.
    unseen: Vec<String>,
    /// Hits whose records could not be read again, by source.
    lost: BTreeMap<usize, Lost>,
}

impl Told<'_> {
    /// Writes the answer in the format asked for.
    fn write(&self, color: When, out: &mut dyn Write) -> anyhow::Result<Written> {
        let (args, answer) = (self.args, self.answer);
        let mut written = Written { shown: answer.total, ..Written::default() };
        if let Some(field) = &args.count_by {
            let counts = Counts::new(field, &answer.counts, args.limit);
            written.values = Some((counts.values as u64, counts.shown.len() as u64));
            if answer.counts.keys().all(String::is_empty) {
                written.unseen.push(field.clone());
            }
            counts.write(args.format, &self.summary(&written), out)?;
            if let Some(joined) = self.joined {
                self.window_figures(joined, color, out)?;
            }
            return Ok(written);
        }
        if let Some(width) = self.question.histogram {
            let histogram = Histogram::new(width, &answer.bins);
            match self.joined {
                None => histogram.write(args.format, &self.summary(&written), out)?,
                Some(joined) => self.bins(joined, &histogram, width, Paint::new(color), out)?,
            }
            return Ok(written);
        }
        let context = Context { before: args.before.max(args.context), after: args.after.max(args.context) };
        let width = if std::io::stdout().is_terminal() { terminal_width() } else { 0 };
        let beside = self.joined.map(Joined::beside);
        let style = Style { fields: args.fields.clone(), width, paint: Paint::new(color), metrics: beside.is_some() };
        let mut reading = Reading::new(&answer.hits, &self.sources.sources, context, args.bodies);
        let mut writer = Writer::begin(out, args.format, &style, context.any())?;
        while let Some(mut blocks) = reading.next(BATCH) {
            if let Some(beside) = &beside {
                blocks.iter_mut().flat_map(|b| &mut b.events).for_each(|event| query_metrics::put(event, beside));
            }
            writer.blocks(&blocks)?;
        }
        written.shown = writer.written();
        written.lost = reading.lost;
        written.unseen = writer.end(&self.summary(&written))?;
        if let Some(joined) = self.joined {
            self.window_figures(joined, color, out)?;
        }
        if let Sort::Field(field, _) = &self.question.sort
            && answer.hits.iter().all(|h| h.key.is_none())
        {
            written.unseen.push(field.clone());
        }
        Ok(written)
    }

    /// Counts in bins, with what series did in each.
    fn bins(&self, joined: &Joined<'_>, histogram: &Histogram, width: i64, paint: Paint, out: &mut dyn Write) -> anyhow::Result<()> {
        let hits = joined.hits();
        let mut bins = Vec::new();
        for (start, count) in histogram.bins() {
            let (rows, _) = joined.figures(&hits, *start, start.saturating_add(width));
            let figures = rows.into_iter().map(|row| (joined.worker(row.hit), row)).collect();
            bins.push(Bin { start: *start, count: *count, figures });
        }
        let written = Written { shown: self.answer.total, ..Written::default() };
        bins::write(&bins, width, self.args.format, &self.summary(&written), paint, out)?;
        Ok(())
    }

    /// What series did in the window of the question, for people.
    fn window_figures(&self, joined: &Joined<'_>, color: When, out: &mut dyn Write) -> anyhow::Result<()> {
        if self.question.window == Window::default() || self.args.format != Format::Text {
            return Ok(());
        }
        let hits = joined.hits();
        let figured = joined.in_window(&hits, self.question.window);
        if !figured.rows.is_empty() {
            writeln!(out, "\nin the window:")?;
            figured.write(Format::Text, Paint::new(color), out)?;
        }
        Ok(())
    }

    /// Facts about the answer, for JSON.
    fn summary(&self, written: &Written) -> Json {
        let Told { args: _, text, question, answer, sources, started, joined } = self;
        let scanned: u64 = answer.asking.iter().map(|a| a.scanned).sum();
        let assumed: Vec<&str> = sources.sources.iter().filter(|s| s.clock.how == How::Assumed).map(|s| s.key.as_str()).collect();
        let instant = |ns: Option<i64>| ns.map(|n| rfc3339(n, 1));
        let mut not_read: Vec<Json> =
            sources.not_read.iter().filter(|n| n.failure).map(|n| json!({"source": n.name, "why": n.why})).collect();
        for (i, (asking, source)) in answer.asking.iter().zip(&sources.sources).enumerate() {
            let lost = written.lost.get(&i);
            if let Some(why) = asking.failed.as_ref().or(lost.map(|l| &l.why)) {
                not_read.push(json!({"source": source.name, "why": why, "hits_not_shown": lost.map_or(0, |l| l.hits)}));
            }
        }
        let mut out = json!({
            "type": "summary",
            "schema": "corr.query.v1",
            "query": text,
            "since": instant(question.window.since),
            "until": instant(question.window.until),
            "matched": answer.total,
            "shown": written.shown,
            "at_window_edge": answer.at_edge,
            "sources": sources.sources.len(),
            "scanned_sources": sources.sources.iter().filter(|s| s.unindexed).count(),
            "scanned_bytes": scanned,
            "not_read": not_read,
            "zone_assumed": assumed,
            "elapsed_ms": started.elapsed().as_millis() as u64,
        });
        if let (Some((values, shown)), Some(out)) = (written.values, out.as_object_mut()) {
            out.insert("values".into(), json!(values));
            out.insert("values_shown".into(), json!(shown));
        }
        if let (Some(joined), Some(out)) = (joined, out.as_object_mut())
            && question.window != Window::default()
            && question.histogram.is_none()
        {
            let hits = joined.hits();
            let rows = joined.in_window(&hits, question.window).rows;
            let figures: Vec<Json> = rows
                .iter()
                .map(|row| {
                    let mut figure = row.json();
                    figure["worker"] = json!(joined.worker(row.hit));
                    figure
                })
                .collect();
            out.insert("metrics".into(), figures.into());
        }
        out
    }

    /// Says on stderr what a reader of the answer must know; gives the exit code.
    fn notes(&self, written: &Written, err: &mut dyn Write) -> anyhow::Result<i32> {
        let Told { args, question, answer, sources, .. } = self;
        for note in &sources.notes {
            writeln!(err, "corr: {}", safe::terminal(note))?;
        }
        if let Some(joined) = self.joined {
            joined.tell(&joined.beside(), err)?;
        }
        of_what(question, answer, written.shown, written.values, err)?;
        let scanned = sources.sources.iter().filter(|s| s.unindexed).count();
        if scanned > 0 {
            let bytes: u64 = answer.asking.iter().map(|a| a.scanned).sum();
            let index = Line::of("corr index").words(&args.runs.all()).reading(&args.reading).text();
            let hint = match args.runs.all().iter().any(|run| run == "-") {
                true => String::new(),
                false => format!("; `{}` makes later questions faster", safe::terminal(&index)),
            };
            writeln!(err, "scanned {scanned} of {} sources without an index, {:.1} MB{hint}", sources.sources.len(), bytes as f64 / 1e6)?;
        }
        let mut failures = index::failures(&sources.not_read, &[], err)?;
        for (i, (asking, source)) in answer.asking.iter().zip(&sources.sources).enumerate() {
            let lost = written.lost.get(&i);
            failures += usize::from(asking.failed.is_some() || lost.is_some());
            let name = safe::terminal(&source.name);
            if let Some(why) = &asking.failed {
                writeln!(err, "corr: {name}: {}; the other sources are answered", safe::terminal(why))?;
            }
            if let Some(Lost { hits, why }) = lost {
                writeln!(err, "corr: {name}: {}; {} of its hits are not shown", safe::terminal(why), grouped(*hits))?;
            }
        }
        let nothing = answer.total == 0;
        let query = nothing.then_some(&question.expr);
        let more: &[&str] = if args.fields.is_empty() { &["time"] } else { &["time", "locator"] };
        for line in names::unknown_names(query, &written.unseen, more, sources) {
            writeln!(err, "corr: {}", safe::terminal(&line))?;
        }
        if nothing {
            for line in names::longer_ids(&question.expr, question.bodies, sources)? {
                writeln!(err, "corr: {}", safe::terminal(&line))?;
            }
        }
        if failures > 0 {
            let found = if answer.total > 0 { "rows were found in the rest" } else { "no rows were found in the rest" };
            writeln!(err, "corr: {failures} of the inputs could not be read; {found}")?;
            return Ok(exit::PARTIAL);
        }
        Ok(if answer.total > 0 { exit::FOUND } else { exit::NOTHING })
    }
}

/// Of which window the answer is, and of how much it is a part. `values`: of how many values that were counted how many are shown.
pub(super) fn of_what(
    question: &Question,
    answer: &Answer,
    shown: u64,
    values: Option<(u64, u64)>,
    err: &mut dyn Write,
) -> anyhow::Result<()> {
    if question.window != Window::default() {
        let edge = match answer.at_edge {
            0 => String::new(),
            n => format!("; {} of the hits reach over an edge of it", grouped(n)),
        };
        writeln!(err, "window {}{edge}", window::interval(question.window))?;
    }
    let (shown, of, what) = match values {
        Some((values, shown)) => (shown, values, " values"),
        None => (shown, answer.total, ""),
    };
    if shown < of {
        let cut = question.limit > 0 && question.limit as u64 <= of;
        let hint = if cut { "; --limit 0 for all" } else { "" };
        writeln!(err, "showing {} of {}{what}{hint}", grouped(shown), grouped(of))?;
    }
    Ok(())
}

/// How the query was read, how it was answered, what each clause removed.
fn explain(question: &Question, answer: &Answer, sources: &Sources, err: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(err, "query    {}", safe::terminal(&question.expr.to_string()))?;
    let everything = Question::count(Expr::All, question.window, question.bodies)?;
    let all = answer::ask(&everything, &sources.sources)?.total;
    writeln!(err, "records  {} in the window", grouped(all))?;
    for part in question.expr.conjuncts() {
        if *part == Expr::All {
            continue;
        }
        let alone = Question::count(part.clone(), question.window, question.bodies)?;
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
