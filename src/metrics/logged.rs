//! Numeric fields of log records as series: what periodic lines say of token usage and queues, beside what was scraped.
//!
//! A selector `log:FIELD` means the field of every record that has it as a number. Each log is a capture of its own, since each has a clock
//! of its own; its endpoint is the worker that wrote it, and its series are told apart by kind of record and rank. Ids are no labels.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use corr_metrics::build::Builder;
use corr_metrics::known::LOG;
use corr_metrics::layouts::{Part, Set};
use corr_metrics::model::{Capture, Clock, EndpointId, Labels, Precision, SeriesId, StampOf};
use corr_metrics::select::Selector;
use corr_parsers::clock::How;
use corr_parsers::event::{Event, Value};
use corr_parsers::record::Record;
use corr_parsers::stamp::Stamp;
use rayon::prelude::*;

use crate::query::answer::{self, Hit, Question, Sort, Window};
use crate::query::expr::{Clause, Expr, Field, Term, Test};
use crate::query::extent;
use crate::query::fetch;
use crate::query::matches::Matcher;
use crate::query::names;
use crate::query::sources::{Asked as Log, Sources};
use crate::run::captures::Source;
use crate::run::events::{self, Facts, Start};
use crate::run::source::NotRead;

/// The layout that these captures print.
pub const LAYOUT: &str = "log";

/// Fields that say which rank of an engine wrote a record.
const RANKS: &[&str] = &["dp_rank", "tp_rank", "pp_rank", "ep_rank", "moe_dp_rank", "attn_cp_rank"];

/// The most series of one log. Fields, kinds and ranks are few; a pattern over every field of a strange log is not.
const MOST_SERIES: usize = 5_000;

/// Hits that one thread reads at a time.
const CHUNK: usize = 1024;

/// The series of logs that were asked for.
#[derive(Debug, Default)]
pub struct Logged<'r> {
    /// One for each log that has such a field.
    pub captures: Vec<OfLog<'r>>,
    pub not_read: Vec<NotRead>,
    /// Why a selector found nothing, where a name shows it.
    pub said: Vec<String>,
}

/// The series of one log.
#[derive(Debug)]
pub struct OfLog<'r> {
    pub source: Source<'r>,
    /// First and last stamp of the log.
    pub covers: Option<(i64, i64)>,
    pub lines: Lines,
}

/// The lines at which records stand, by series and the time of the sample; each series by time.
#[derive(Clone, Debug, Default)]
pub struct Lines(Vec<Vec<(i64, u64)>>);

impl Lines {
    fn put(&mut self, series: SeriesId, at: i64, line: u64) {
        let i = series.0 as usize;
        if self.0.len() <= i {
            self.0.resize_with(i + 1, Vec::new);
        }
        if let Some(of) = self.0.get_mut(i) {
            of.push((at, line));
        }
    }

    /// The line of a sample.
    pub fn of(&self, series: SeriesId, at: i64) -> Option<u64> {
        let of = self.0.get(series.0 as usize)?;
        of.get(of.partition_point(|(time, _)| *time < at)).filter(|(time, line)| *time == at && *line > 0).map(|(_, line)| *line)
    }
}

/// Some selector asks for fields of log records.
pub fn asked(selectors: &[Selector]) -> bool {
    selectors.iter().any(Selector::of_log)
}

/// Reads them: by the index where there is one.
pub fn read<'r>(selectors: &[Selector], sources: &Sources) -> Logged<'r> {
    let selectors: Vec<&Selector> = selectors.iter().filter(|s| s.of_log()).collect();
    let mut logged = Logged::default();
    for log in &sources.sources {
        let mine: Vec<&Selector> = selectors.iter().copied().filter(|s| may_mean(s, log)).collect();
        if mine.is_empty() {
            continue;
        }
        match said(log, &mine) {
            Ok(said) => {
                let covers = said.covers;
                let damage = said.damage.clone();
                if !said.rows.is_empty() {
                    let (capture, lines) = capture(log, said);
                    let part = Part { path: log.path.clone(), key: log.key.clone() };
                    let set = Set { files: vec![part], because: "numeric fields of its records".into(), ..Set::default() };
                    let source = Source { set: Cow::Owned(set), layout: LAYOUT, capture };
                    logged.captures.push(OfLog { source, covers, lines });
                }
                logged.not_read.extend(damage.map(|why| not_read(log, why)));
            }
            Err(why) => logged.not_read.push(not_read(log, why)),
        }
    }
    let found = |s: &&&Selector| logged.captures.iter().any(|c| c.source.capture.series.iter().any(|one| s.names(one.name.canonical())));
    let missing: Vec<&Selector> = selectors.iter().filter(|s| !found(s)).copied().collect();
    if !missing.is_empty() {
        logged.said = names::unknown_names(Some(&question(&missing)), &[], &[], sources);
    }
    logged
}

fn not_read(log: &Log, why: String) -> NotRead {
    NotRead { name: log.name.clone(), why, next: String::new(), failure: true }
}

/// Can series of this log be meant?
fn may_mean(selector: &Selector, log: &Log) -> bool {
    let worker = selector.only("worker").is_none_or(|worker| log.owner.worker.as_deref() == Some(worker));
    let source = selector.only("source").is_none_or(|source| {
        let last = |path: &str| path.rsplit('/').next() == Some(source);
        log.key == source || log.name == source || last(&log.key)
    });
    worker && source
}

/// The records that can have what selectors mean.
fn question(selectors: &[&Selector]) -> Expr {
    let clause = |name: &str, test: Test| {
        let field = Field { name: name.to_string(), absent_ok: false, test };
        Expr::Clause(Clause { term: Term::Field(field), span: 0..0 })
    };
    let of = |selector: &&Selector| {
        let field = selector.name().and_then(|name| name.strip_prefix(LOG)).map(|name| clause(name, Test::Exists));
        let kind = selector.only("kind").map(|kind| clause("kind", Test::Equals(kind.to_string())));
        Expr::and(kind.into_iter().chain(field).collect())
    };
    Expr::or(selectors.iter().map(of).collect())
}

/// What records say.
#[derive(Default)]
struct Said {
    rows: Vec<Row>,
    /// Records with such a field and without a stamp.
    unstamped: u64,
    /// First and last stamp of all records.
    covers: Option<(i64, i64)>,
    /// Why not all of the log was read.
    damage: Option<String>,
}

/// A number of a record.
struct Row {
    offset: usize,
    start: i64,
    end: i64,
    kind: &'static str,
    /// What wrote the record, where its source is not of one process.
    unit: String,
    ranks: Vec<(&'static str, String)>,
    name: String,
    value: f64,
}

impl Said {
    fn take(&mut self, record: &Record<'_>, event: &Event<'_>, facts: &Facts, selectors: &[&Selector]) {
        let values = numbers(event, selectors);
        match facts.stamp {
            _ if values.is_empty() => {}
            None => self.unstamped += 1,
            Some(stamp) => self.rows.extend(values.into_iter().map(|(name, value)| Row {
                offset: facts.offset,
                start: stamp.start,
                end: stamp.end,
                kind: event.kind.name,
                unit: record.meta.map(|meta| meta.unit.clone()).unwrap_or_default(),
                ranks: ranks(event),
                name,
                value,
            })),
        }
    }

    /// Takes in the stamp of a record of any kind.
    fn cover(&mut self, stamp: Stamp) {
        let (first, last) = self.covers.unwrap_or((stamp.start, stamp.end));
        self.covers = Some((first.min(stamp.start), last.max(stamp.end)));
    }

    fn with(mut self, other: Said) -> Said {
        self.rows.extend(other.rows);
        self.unstamped += other.unstamped;
        if let Some((start, end)) = other.covers {
            self.cover(Stamp { start, end });
        }
        self.damage = self.damage.or(other.damage);
        self
    }
}

/// What a log says: found by its index, or, where it has none, on one way through it.
fn said(log: &Log, selectors: &[&Selector]) -> Result<Said, String> {
    let mut said = if log.segments.is_empty() { scanned(log, selectors)? } else { indexed(log, selectors)? };
    // Records of one stamp keep their order.
    said.rows.par_sort_by_key(|row| (row.start, row.offset));
    Ok(said)
}

fn scanned(log: &Log, selectors: &[&Selector]) -> Result<Said, String> {
    let bytes = log.bytes()?;
    let read = |(offset, end): (usize, usize)| {
        let mut said = Said::default();
        events::each(bytes, &log.layout, log.timing(), Start { offset, line: 0, order: None }, end, |record, event, facts| {
            if let Some(stamp) = facts.stamp {
                said.cover(stamp);
            }
            said.take(record, event, facts, selectors);
            ControlFlow::Continue(())
        });
        said
    };
    let mut said = extent::parts(bytes, 0, log).into_par_iter().map(read).reduce(Said::default, Said::with);
    said.damage = log.damage().map(|damage| format!("{damage}; what stands before the break is answered"));
    Ok(said)
}

fn indexed(log: &Log, selectors: &[&Selector]) -> Result<Said, String> {
    let expr = question(selectors);
    let matcher = Matcher::new(&expr).map_err(|e| e.to_string())?;
    let window = Window::default();
    let question = Question { expr, matcher, window, sort: Sort::Time(true), limit: 0, count_by: None, histogram: None, bodies: false };
    let mut answer = answer::ask(&question, std::slice::from_ref(log)).map_err(|e| e.to_string())?;
    let mut said = Said { damage: answer.asking.pop().and_then(|asking| asking.failed), ..Said::default() };
    if !answer.hits.is_empty() {
        let bytes = log.bytes()?;
        answer.hits.par_sort_unstable_by_key(|hit| hit.offset);
        let read = |hits: &[Hit]| {
            let mut said = Said::default();
            for hit in hits {
                let Ok(offset) = usize::try_from(hit.offset) else { continue };
                let start = Start { offset, line: 0, order: hit.order };
                events::one(bytes, &log.layout, log.timing(), start, |record, event, facts| said.take(record, event, facts, selectors));
            }
            said
        };
        said = answer.hits.par_chunks(CHUNK).map(read).reduce(Said::default, Said::with).with(said);
    }
    let (first, last) = log.extent();
    said.covers = first.zip(last);
    Ok(said)
}

fn numbers(event: &Event<'_>, selectors: &[&Selector]) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    for field in &event.fields {
        let value = match field.value {
            Value::Int(n) => n as f64,
            Value::UInt(n) => n as f64,
            Value::Float(x) => x,
            Value::Bool(_) | Value::Str(_) => continue,
        };
        let name = format!("{LOG}{}", field.name);
        let meant = |s: &&&Selector| s.names(&name) && s.only("kind").is_none_or(|kind| kind == event.kind.name);
        if selectors.iter().any(|s| meant(&s)) && !out.iter().any(|(known, _)| *known == name) {
            out.push((name, value));
        }
    }
    out
}

fn ranks(event: &Event<'_>) -> Vec<(&'static str, String)> {
    let rank = |name: &&'static str| event.get(name).map(|value| (*name, value.to_string()));
    RANKS.iter().filter_map(rank).collect()
}

/// Unit, kind of record, field and ranks: what tells the series of a log apart.
type Key = (String, &'static str, String, Vec<(&'static str, String)>);

fn capture(log: &Log, said: Said) -> (Capture, Lines) {
    let at: Vec<Hit> = said.rows.iter().map(|row| Hit { source: 0, offset: row.offset as u64, order: None, key: None }).collect();
    let stands = fetch::lines(&at, std::slice::from_ref(log));
    let mut lines = Lines::default();
    let clock = if log.clock.how == How::Assumed { Clock::AssumedUtc } else { Clock::Wall };
    let width = said.rows.iter().map(|row| row.end.saturating_sub(row.start)).max().unwrap_or(0);
    let mut builder = Builder::new(LAYOUT, clock, StampOf::Line { width });
    builder.file(&log.path);
    let mut series: BTreeMap<Key, SeriesId> = BTreeMap::new();
    let mut last: HashMap<SeriesId, (i64, i64)> = HashMap::new();
    for (row, line) in said.rows.into_iter().zip(stands) {
        let key = (row.unit, row.kind, row.name, row.ranks);
        let id = match series.get(&key) {
            Some(id) => Some(*id),
            None if series.len() >= MOST_SERIES => None,
            None => {
                let (unit, kind, name, ranks) = &key;
                let endpoint = endpoint(&mut builder, log, unit);
                let labels = ranks.iter().map(|(name, value)| (*name, value.as_str())).chain([("kind", *kind)]);
                let id = builder.series(endpoint, name, &Labels::new(labels), Precision::F64);
                series.insert(key, id);
                Some(id)
            }
        };
        let Some(id) = id else {
            let what = || format!("more than {MOST_SERIES} series: the samples of further ones are left out");
            builder.note("series_left_out", what, || None);
            continue;
        };
        let behind = match last.get(&id) {
            Some((start, behind)) if *start == row.start => behind + 1,
            _ => 0,
        };
        last.insert(id, (row.start, behind));
        if behind > 0 {
            let what = || "records with the stamp of the one before stand a nanosecond behind it, in their order".to_string();
            builder.note("stamps_shared", what, || None);
        }
        // No further than the stamp is wide.
        let within = row.end.saturating_sub(row.start).saturating_sub(1).max(0);
        let at = row.start.saturating_add(behind.min(within));
        builder.push(id, at, row.value);
        lines.put(id, at, line);
    }
    if said.unstamped > 0 {
        let what = || "records without a stamp are not among the samples".to_string();
        builder.note_many("no_stamp", said.unstamped, what, || None);
    }
    (builder.finish(), lines)
}

fn endpoint(builder: &mut Builder, log: &Log, unit: &str) -> EndpointId {
    let owner = &log.owner;
    let unit = owner.unit.as_deref().filter(|own| !own.is_empty()).unwrap_or(unit);
    let name = match &owner.worker {
        Some(worker) => worker,
        None if !unit.is_empty() => unit,
        None => &log.key,
    };
    let id = builder.endpoint(name);
    for (key, fact) in [("worker", &owner.worker), ("role", &owner.role), ("host", &owner.host)] {
        builder.fact(id, key, fact.as_deref().unwrap_or_default());
    }
    builder.fact(id, "unit", unit);
    builder.fact(id, "source", &log.key);
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::sources;
    use crate::run::Options;

    fn logged(text: &str, selectors: &[&str]) -> Logged<'static> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("decode-1.log");
        std::fs::write(&path, text).unwrap();
        let sources = sources::open(&[path.display().to_string()], &Options::default(), None).unwrap();
        let selectors: Vec<Selector> = selectors.iter().map(|s| Selector::parse(s).unwrap()).collect();
        read(&selectors, &sources)
    }

    const LOG: &str = "\
[2026-11-29 10:00:01 DP0 TP1] Decode batch, #running-req: 3, #token: 30, token usage: 0.10, cuda graph: True, gen throughput (token/s): 5.00, #queue-req: 0
[2026-11-29 10:00:01 DP0 TP1] Decode batch, #running-req: 4, #token: 40, token usage: 0.20, cuda graph: True, gen throughput (token/s): 5.00, #queue-req: 0
[2026-11-29 10:00:02 DP1 TP1] Decode batch, #running-req: 5, #token: 50, token usage: 0.30, cuda graph: True, gen throughput (token/s): 5.00, #queue-req: 0
[2026-11-29 10:00:09] The server is fired up and ready to roll!
";

    #[test]
    fn ranks_are_series_and_records_of_one_stamp_keep_their_order() {
        let mut found = logged(LOG, &["log:token_usage"]);
        let OfLog { source, covers, lines } = found.captures.pop().unwrap();
        let capture = source.capture;
        let spelled: Vec<String> = (0..capture.series.len()).map(|i| capture.spelled(SeriesId(i as u32))).collect();
        let of = |dp: u8| format!(r#"log:token_usage{{dp_rank="{dp}",kind="decode_batch",tp_rank="1"}}"#);
        assert_eq!(spelled, [of(0), of(1)]);
        let start = 1_795_946_401_000_000_000;
        assert_eq!([0, 1, 2].map(|behind| lines.of(SeriesId(0), start + behind)), [Some(1), Some(2), None]);
        assert_eq!(lines.of(SeriesId(1), start + 1_000_000_000), Some(3));
        let samples: Vec<(i64, f64)> = capture.samples(SeriesId(0)).iter().map(|s| (s.at - start, s.value)).collect();
        assert_eq!(samples, [(0, 0.1), (1, 0.2)]);
        assert_eq!(capture.stamp_of, StampOf::Line { width: 1_000_000_000 });
        assert_eq!(capture.clock, Clock::AssumedUtc);
        assert_eq!(covers, Some((start, start + 9_000_000_000)), "the last record is part of what the log covers");
        assert_eq!(capture.notes.iter().map(|n| (n.code, n.count)).collect::<Vec<_>>(), [("stamps_shared", 1)]);
    }

    #[test]
    fn texts_and_switches_are_no_series() {
        assert!(logged(LOG, &["log:cuda_graph"]).captures.is_empty());
        assert!(logged(LOG, &["log:token_usage{kind=\"prefill_batch\"}"]).captures.is_empty());
        assert!(logged(LOG, &["log:token_usage{worker=\"decode-2\"}"]).captures.is_empty());
        assert_eq!(logged(LOG, &["log:token_usages"]).said.len(), 1, "what it was meant to be is said");
        assert_eq!(logged(LOG, &["log:*_reqs"]).captures[0].source.capture.series.len(), 4, "two fields of two ranks");
    }
}
