//! `corr query --cluster`: the same question, answered by a cluster over shards. Executors filter, order, limit and count; the answer is written here.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::time::Instant;

use anyhow::{Context as _, bail};
use corr_sql::Engine;
use serde_json::{Value as Json, json};

use super::exit;
use super::query::{Args, of_what, terminal_width, zone_of_flags};
use crate::query::answer::{Answer, Question, Sort, Window};
use crate::query::names::{self, Known};
use crate::query::timespec;
use crate::query::window::Times;
use crate::render::counts::{Counts, Histogram};
use crate::render::events::{Block, Style, Writer};
use crate::render::number::grouped;
use crate::render::paint::{Paint, When};
use crate::render::safe;
use crate::render::shown::rfc3339;
use crate::tables::shard::narrow::{Columns, Step};
use crate::tables::shard::question::{Asked, MATCH};
use crate::tables::sql::hits::{self, Hits};
use crate::tables::sql::{Told, functions, shards};

/// Asks the cluster of a scheduler.
pub fn run(
    args: &Args,
    cluster: &str,
    question: Question,
    color: When,
    out: &mut dyn Write,
    err: &mut dyn Write,
    now: i64,
) -> anyhow::Result<i32> {
    let started = Instant::now();
    if let Some((flag, instead)) = refused(args) {
        bail!("{flag}: not asked of a cluster; {instead}");
    }
    let times = times(args)?;
    let zone = zone_of_flags(&args.reading.tz)?;
    let mut engine = args.at.connect(cluster)?;
    functions::asking().into_iter().for_each(|function| engine.add_function(function));
    let shards = shards::add(&mut engine, std::slice::from_ref(&args.runs.run))?;
    anyhow::ensure!(shards.has_records(), "{}: the shards hold no record; `corr sql --cluster` has what they hold", args.runs.run);
    let (run_start, run_end) = if times.of_run() { hits::extent(&engine)? } else { (None, None) };
    let context = timespec::Context { run_start, run_end, now, zone, anchors: times.anchors.clone() };
    let window = if times.open() { Window::default() } else { window(&times, &context)? };
    let question = Question { window, ..question };
    let (text, columns) = (args.query.join(" "), shards.columns());
    let mut steps = Vec::new();
    let condition = columns.condition(&question.expr, &mut steps)?;
    let asked = Asked::new(window, condition.sql.as_deref(), (!condition.exact).then_some(text.as_str()));
    let told = shards.told_of_records();
    let telling = Telling { args, text: &text, question: &question, shards: shards.count(), columns: &columns, told: &told, started };
    let written = telling.write(&engine, &asked, color, out)?;
    out.flush()?;
    if args.explain {
        explain(&telling, &steps, &asked, err)?;
    }
    telling.notes(&written, err)
}

/// A flag that is not asked there, and what to do instead.
fn refused(args: &Args) -> Option<(&'static str, &'static str)> {
    let beside = args.after + args.before + args.context > 0;
    let of_source = args.reading.tz.iter().any(|tz| tz.contains('='));
    let flags = [
        (args.runs.run == "-", "-", "name a place of shards, which `corr index --shards` writes"),
        (!args.runs.also.is_empty(), "--also", "write both runs to one place by `corr index --shards`: they are asked together"),
        (args.when.window.is_some(), "--window", "give the ends of the window by --since and --until"),
        (args.around.around.is_some(), "--around", "give the time around it by --since and --until"),
        (beside, "-A, -B, -C", "`corr query` without --cluster has the records beside a hit, where the run is"),
        (!args.series.metrics.is_empty(), "--metrics", "ask the table `samples` by `corr sql --cluster`"),
        (args.index, "--index", "shards are written by `corr index RUN --shards PLACE`"),
        (args.reading.store.is_some(), "--store", "a store is of one machine; RUN names a place of shards"),
        (args.bodies, "--bodies", "shards hold none: ask where the run is, without --cluster"),
        (of_source, "--tz SOURCE=ZONE", "stamps are placed when shards are written: `corr index RUN --shards PLACE --tz …`"),
        (
            !args.reading.format_of.is_empty(),
            "--format-of",
            "records are read when shards are written: `corr index RUN --shards PLACE --format-of …`",
        ),
    ];
    flags.into_iter().find(|(is, ..)| *is).map(|(_, flag, instead)| (flag, instead))
}

fn times(args: &Args) -> anyhow::Result<Times> {
    let parse = |text: &Option<String>, flag: &str| {
        text.as_deref().map(|text| timespec::parse(text).with_context(|| format!("--{flag}"))).transpose()
    };
    Ok(Times { since: parse(&args.when.since, "since")?, until: parse(&args.when.until, "until")?, ..Times::default() })
}

fn window(times: &Times, context: &timespec::Context) -> anyhow::Result<Window> {
    let window = times.resolve(context)?;
    Ok(Window { since: window.since, until: window.until })
}

/// An answer and all that was asked, to be told.
struct Telling<'a> {
    args: &'a Args,
    text: &'a str,
    question: &'a Question,
    shards: usize,
    columns: &'a Columns,
    /// What is to be said of the shards.
    told: &'a Told,
    started: Instant,
}

/// What became of the answer on its way out.
#[derive(Default)]
struct Written {
    answer: Answer,
    /// Hits that were written; for counts, all that were counted.
    shown: u64,
    /// Values that were counted, and how many of them were written.
    values: Option<(u64, u64)>,
    /// Names that were asked for and that no hit had.
    unseen: Vec<String>,
    /// Hits whose record is not in the shards.
    lost: u64,
}

impl Telling<'_> {
    fn write(&self, engine: &Engine, asked: &Asked, color: When, out: &mut dyn Write) -> anyhow::Result<Written> {
        let question = self.question;
        match (&question.count_by, question.histogram) {
            (Some(field), _) => self.counts(field, hits::counted(engine, asked, question)?, out),
            (None, Some(width)) => {
                let (answer, lost) = hits::counted(engine, asked, question)?;
                let written = Written { shown: answer.total, answer, lost, ..Written::default() };
                Histogram::new(width, &written.answer.bins).write(self.args.format, &self.summary(&written), out)?;
                Ok(written)
            }
            (None, None) => self.hits(Hits::ask(engine, asked, question)?, color, out),
        }
    }

    fn counts(&self, field: &str, (mut answer, lost): (Answer, u64), out: &mut dyn Write) -> anyhow::Result<Written> {
        let counted = std::mem::take(&mut answer.counts);
        let counts = Counts::new(field, &counted, self.args.limit);
        let unseen = if counted.keys().all(String::is_empty) { vec![field.to_string()] } else { Vec::new() };
        let values = Some((counts.values as u64, counts.shown.len() as u64));
        let written = Written { shown: answer.total, answer, values, unseen, lost };
        counts.write(self.args.format, &self.summary(&written), out)?;
        Ok(written)
    }

    fn hits(&self, mut hits: Hits<'_>, color: When, out: &mut dyn Write) -> anyhow::Result<Written> {
        let width = if std::io::stdout().is_terminal() { terminal_width() } else { 0 };
        let style = Style { fields: self.args.fields.clone(), width, paint: Paint::new(color), metrics: false };
        let mut writer = Writer::begin(out, self.args.format, &style, false)?;
        while let Some(shown) = hits.more()? {
            let blocks: Vec<Block> = shown.into_iter().map(|event| Block { events: vec![event], joined: false }).collect();
            writer.blocks(&blocks)?;
        }
        let has_key = hits.has_key;
        let (answer, lost) = hits.end()?;
        let mut written = Written { shown: writer.written(), answer, lost, ..Written::default() };
        written.unseen = writer.end(&self.summary(&written))?;
        if let Sort::Field(field, _) = &self.question.sort
            && !has_key
        {
            written.unseen.push(field.clone());
        }
        Ok(written)
    }

    /// Facts about the answer, for JSON.
    fn summary(&self, written: &Written) -> Json {
        let Written { answer, shown, values, lost, .. } = written;
        let instant = |ns: Option<i64>| ns.map(|n| rfc3339(n, 1));
        let mut not_read: Vec<Json> = Vec::new();
        if self.told.partial {
            not_read.extend(self.told.notes.iter().map(|why| json!({"why": why})));
        }
        if *lost > 0 {
            not_read.push(json!({"why": NO_RECORD, "hits_not_shown": lost}));
        }
        let mut out = json!({
            "type": "summary",
            "schema": "corr.query.v1",
            "query": self.text,
            "since": instant(self.question.window.since),
            "until": instant(self.question.window.until),
            "matched": answer.total,
            "shown": shown,
            "at_window_edge": answer.at_edge,
            "shards": self.shards,
            "not_read": not_read,
            "elapsed_ms": self.started.elapsed().as_millis() as u64,
        });
        if let (Some((values, shown)), Some(out)) = (values, out.as_object_mut()) {
            out.insert("values".into(), json!(values));
            out.insert("values_shown".into(), json!(shown));
        }
        out
    }

    /// Says on stderr what a reader of the answer must know; gives the exit code.
    fn notes(&self, written: &Written, err: &mut dyn Write) -> anyhow::Result<i32> {
        let Written { answer, shown, values, unseen, lost } = written;
        of_what(self.question, answer, *shown, *values, err)?;
        self.told.say(err)?;
        if *lost > 0 {
            writeln!(err, "corr: {} of the hits are not shown: {NO_RECORD}", grouped(*lost))?;
        }
        let query = (answer.total == 0).then_some(&self.question.expr);
        let more: &[&str] = if self.args.fields.is_empty() { &["time"] } else { &["time", "locator"] };
        for line in names::unknown_of(query, unseen, more, &|| known(self.columns)) {
            writeln!(err, "corr: {}", safe::terminal(&line))?;
        }
        Ok(match (self.told.partial || *lost > 0, answer.total) {
            (true, _) => exit::PARTIAL,
            (false, 0) => exit::NOTHING,
            (false, _) => exit::FOUND,
        })
    }
}

const NO_RECORD: &str = "their records could not be read when the shards were written";

/// The names of fields in the shards.
fn known(columns: &Columns) -> Known {
    let spelled = columns.names.spelled.values().flatten();
    let names: BTreeSet<String> = columns.fields.keys().chain(spelled).cloned().collect();
    Known::new(names, columns.names.overflow)
}

/// How the query was read, and what answers each clause.
fn explain(telling: &Telling<'_>, steps: &[Step], asked: &Asked, err: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(err, "query    {}", safe::terminal(&telling.question.expr.to_string()))?;
    writeln!(err, "shards   {}, read by the cluster's executors, which have no word index", grouped(telling.shards as u64))?;
    for Step { clause, by } in steps {
        let how = match (&by.sql, by.exact) {
            (Some(sql), true) => format!("by columns: {sql}"),
            (Some(sql), false) => format!("by {MATCH} over the records that columns leave: {sql}"),
            (None, true) => "by columns: every record".into(),
            (None, false) => format!("by {MATCH}, a scan over the text of each record that the others leave"),
        };
        writeln!(err, "clause   {}  {}", safe::terminal(clause), safe::terminal(&how))?;
    }
    writeln!(err, "where    {}", safe::terminal(asked.condition()))?;
    Ok(())
}
