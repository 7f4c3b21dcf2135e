//! Asks a question of every source and gathers what was found: by the index where there is one, by a scan elsewhere, by both where a source grew.

use std::collections::{BTreeMap, HashMap};

use corr_parsers::event::{Event, Value};
use corr_parsers::record::Record;
use corr_parsers::stamp::Stamp;
use rayon::prelude::*;

use super::columns::{self, Wanted};
use super::expr::Expr;
use super::literals::{Literal, required_literals};
use super::matches::{MatchError, Matcher};
use super::plan::{self, PlanError, Step, View};
use super::rank::{Keeper, Key};
use super::scan::{self, Finder, Scanned};
use super::sources::Asked;
use super::subject::{Item, Name, Special, Subject};
use crate::run::events::{self, Facts, Start};
use crate::store::open::{Cell, Segment};
use crate::store::rowset::RowSet;

/// A window of time, UTC ns, half open; `None` is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub since: Option<i64>,
    pub until: Option<i64>,
}

impl Window {
    /// Can something of this stamp have happened in the window? Without a stamp the sort key decides; without either it stays outside,
    /// unless the window is open.
    pub fn may_hold(&self, stamp: Option<Stamp>, order: Option<i64>) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        let (start, end) = match (stamp, order) {
            (Some(s), _) => (s.start, s.end),
            (None, Some(order)) => (order, order.saturating_add(1)),
            (None, None) => return false,
        };
        self.until.is_none_or(|until| start < until) && self.since.is_none_or(|since| end > since)
    }

    /// Does the stamp reach over an edge of the window, so that it is not known to lie inside?
    pub fn cuts(&self, stamp: Option<Stamp>) -> bool {
        let Some(stamp) = stamp else { return false };
        self.since.is_some_and(|since| stamp.start < since && stamp.end > since)
            || self.until.is_some_and(|until| stamp.start < until && stamp.end > until)
    }
}

/// How hits are put in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort {
    /// By time, then source, then position; `false`: the latest first.
    Time(bool),
    /// By a field, then by time; `false`: the largest first. Events without it come last.
    Field(String, bool),
}

/// What is asked.
pub struct Question {
    pub expr: Expr,
    pub matcher: Matcher,
    pub window: Window,
    pub sort: Sort,
    /// How many hits are kept; 0 keeps all.
    pub limit: usize,
    /// Count hits by the values of this name.
    pub count_by: Option<String>,
    /// Count hits in bins of this many ns.
    pub histogram: Option<i64>,
    /// Bodies are searched too.
    pub bodies: bool,
}

impl Question {
    /// How many events match: no hit is kept that nobody looks at.
    pub fn count(expr: Expr, window: Window, bodies: bool) -> Result<Question, MatchError> {
        let matcher = Matcher::new(&expr)?;
        Ok(Question { expr, matcher, window, sort: Sort::Time(true), limit: 1, count_by: None, histogram: None, bodies })
    }
}

/// One event that matched, by where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Index of the source.
    pub source: usize,
    pub offset: u64,
    pub order: Option<i64>,
    /// Its value of the field that is sorted by.
    pub key: Option<Key>,
}

/// How a source was asked.
#[derive(Clone, Debug, Default)]
pub struct Asking {
    /// Rows that the index answered for.
    pub indexed_rows: u64,
    /// Bytes that were scanned.
    pub scanned: u64,
    /// Records that were read to judge them.
    pub read: u64,
    pub matched: u64,
    /// What each clause left, by segment, summed.
    pub steps: BTreeMap<(usize, usize), (&'static str, u64, bool)>,
    /// The source could not be read, or not to its end.
    pub failed: Option<String>,
    /// Its index could not be read; it was scanned.
    pub index_failed: Option<String>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Answer {
    pub hits: Vec<Hit>,
    pub total: u64,
    /// Hits whose stamp reaches over an edge of the window.
    pub at_edge: u64,
    /// Hits by value of the field that is counted by; the empty text stands for events without it.
    pub counts: BTreeMap<String, u64>,
    /// Hits by the start of their bin; `None`: no time is known.
    pub bins: BTreeMap<Option<i64>, u64>,
    pub asking: Vec<Asking>,
}

/// Bytes of a source that one task searches for a text.
const SCAN_STEP: usize = 16 << 20;

/// Records that one task reads.
const READ_AT_ONCE: usize = 1024;

/// What is kept of one matching record.
struct Found {
    offset: u64,
    order: Option<i64>,
    at_edge: bool,
    key: Option<Key>,
    counted: Vec<String>,
}

/// Asks all sources.
pub fn ask(question: &Question, sources: &[Asked]) -> Result<Answer, PlanError> {
    let mut answer = Answer::default();
    let mut keeper = Keeper::new(question.sort.clone(), question.limit);
    for (i, source) in sources.iter().enumerate() {
        let mut part = Part::new(question);
        match ask_source(question, i, source, true, &mut part) {
            Ok(()) => {}
            Err(PlanError::Store(error)) => {
                // The index cannot be read, perhaps because another writer just replaced it: the source can.
                part = Part::new(question);
                part.asking.index_failed = Some(error.to_string());
                ask_source(question, i, source, false, &mut part)?;
            }
            Err(error) => return Err(error),
        }
        answer.total += part.asking.matched;
        answer.at_edge += part.at_edge;
        for (value, n) in part.counts {
            *answer.counts.entry(value).or_default() += n;
        }
        for (bin, n) in part.bins {
            *answer.bins.entry(bin).or_default() += n;
        }
        part.keeper.finish().into_iter().for_each(|hit| keeper.push(hit));
        answer.asking.push(part.asking);
    }
    answer.hits = keeper.finish();
    Ok(answer)
}

/// What one source gave.
struct Part {
    asking: Asking,
    keeper: Keeper,
    at_edge: u64,
    counts: BTreeMap<String, u64>,
    bins: BTreeMap<Option<i64>, u64>,
}

impl Part {
    fn new(question: &Question) -> Part {
        Part {
            asking: Asking::default(),
            keeper: Keeper::new(question.sort.clone(), question.limit),
            at_edge: 0,
            counts: BTreeMap::new(),
            bins: BTreeMap::new(),
        }
    }
}

impl Part {
    /// Takes in what another part of the same source gave.
    fn take(&mut self, other: Part) {
        let (asking, more) = (&mut self.asking, other.asking);
        asking.indexed_rows += more.indexed_rows;
        asking.scanned += more.scanned;
        asking.read += more.read;
        asking.matched += more.matched;
        for (span, (by, rows, exact)) in more.steps {
            let entry = asking.steps.entry(span).or_insert((by, 0, true));
            entry.1 += rows;
            entry.2 &= exact;
        }
        asking.failed = asking.failed.take().or(more.failed);
        asking.index_failed = asking.index_failed.take().or(more.index_failed);
        other.keeper.finish().into_iter().for_each(|hit| self.keeper.push(hit));
        self.at_edge += other.at_edge;
        for (value, n) in other.counts {
            *self.counts.entry(value).or_default() += n;
        }
        for (bin, n) in other.bins {
            *self.bins.entry(bin).or_default() += n;
        }
    }
}

fn ask_source(question: &Question, index: usize, source: &Asked, by_index: bool, part: &mut Part) -> Result<(), PlanError> {
    let mut from = 0;
    // Bodies are in no index.
    if by_index && !source.unindexed && !question.bodies {
        let ask = |segment: &Segment| {
            let mut part = Part::new(question);
            ask_segment(question, index, source, segment, &mut part).map(|()| part)
        };
        // What ids answer is answered sooner than other threads wake up.
        let parts: Vec<Result<Part, PlanError>> = match plan::by_ids(&question.expr) {
            true => source.segments.iter().map(ask).collect(),
            false => source.segments.par_iter().map(ask).collect(),
        };
        for of_segment in parts {
            part.take(of_segment?);
        }
        if !source.needs_tail() {
            return Ok(());
        }
        from = source.indexed_to;
    }
    match source.bytes() {
        Ok(bytes) => {
            part.asking.scanned += (bytes.len() - from.min(bytes.len())) as u64;
            let found = scan_range(question, source, bytes, from);
            note(question, index, found, part);
            if source.unindexed
                && let Some(damage) = source.damage()
            {
                part.asking.failed = Some(format!("{damage}; what stands before the break is answered"));
            }
        }
        Err(error) => part.asking.failed = Some(error.to_string()),
    }
    Ok(())
}

fn ask_segment(question: &Question, index: usize, source: &Asked, segment: &Segment, part: &mut Part) -> Result<(), PlanError> {
    let asking = &mut part.asking;
    let (first, last) = (segment.reference.first, segment.reference.last);
    asking.indexed_rows += segment.len() as u64;
    let bounds = match (first, last) {
        (Some(first), Some(last)) => Some(Stamp { start: first, end: last.max(first.saturating_add(1)) }),
        _ => None,
    };
    if let Some(bounds) = bounds
        && !question.window.may_hold(Some(bounds), None)
    {
        return Ok(());
    }
    let scan = |text: &str| scan_rows(source, segment, text);
    let view = View { segment, facts: source.facts(), scan: &scan };
    let mut steps: Vec<Step> = Vec::new();
    let mut rows = plan::rows(&question.expr, &view, &mut steps)?;
    for step in steps {
        let entry = asking.steps.entry((step.span.start, step.span.end)).or_insert((step.by, 0, true));
        entry.1 += step.rows as u64;
        entry.2 &= step.exact;
    }
    rows.truncate(segment.len());
    let windowed = question.window != Window::default();
    if windowed && rows.count() > plan::FEW {
        rows.intersect(&segment.rows_in(question.window.since, question.window.until)?);
    }
    if rows.is_empty() {
        return Ok(());
    }
    // Which rows lie in the window is said by the columns, unless so few are left that reading them says it sooner.
    if rows.exact
        && let Some(wanted) = Wanted::of(question, segment)?
    {
        let gathered = columns::gather(question, index, segment, rows, &wanted)?;
        part.asking.matched += gathered.matched;
        part.at_edge += gathered.at_edge;
        // The part is this segment's own.
        (part.keeper, part.counts, part.bins) = (gathered.keeper, gathered.counts, gathered.bins);
        return Ok(());
    }
    let bytes = match source.bytes() {
        Ok(bytes) => bytes,
        Err(error) => {
            asking.failed = Some(error.to_string());
            return Ok(());
        }
    };
    let chosen: Vec<usize> = rows.iter().collect();
    asking.read += chosen.len() as u64;
    let orders = orders_of(segment, &rows, windowed || chosen.len() > 4096)?;
    let table = segment.rows()?;
    let needs_line = uses_line(&question.expr);
    let mut lines: HashMap<usize, u64> = HashMap::new();
    if needs_line {
        segment.column("_line", Some(&rows), |row, cell| {
            if let Cell::UInt(line) = cell {
                lines.insert(row, line);
            }
        })?;
    }
    let places: Vec<(u64, Option<i64>, u64)> =
        chosen.iter().map(|row| (table.offset(*row), orders.get(row).copied(), lines.get(row).copied().unwrap_or(0))).collect();
    let known_orders = windowed || chosen.len() > 4096;
    let read = |chunk: &[(u64, Option<i64>, u64)]| {
        let mut found = Vec::new();
        for (offset, order, line) in chunk {
            let start = Start { offset: *offset as usize, line: *line, order: *order };
            let judged = events::one(bytes, &source.layout, source.timing(), start, |record, event, facts| {
                judge(question, source, record, event, facts)
            });
            found.extend(judged.flatten());
        }
        found
    };
    let mut found: Vec<Found> = match places.len() {
        0..=READ_AT_ONCE => read(&places),
        _ => places.par_chunks(READ_AT_ONCE).flat_map_iter(read).collect(),
    };
    if !known_orders {
        complete_orders(segment, &mut found)?;
    }
    note(question, index, found, part);
    Ok(())
}

/// Sort keys of rows, where reading them all costs less than it saves.
fn orders_of(segment: &Segment, rows: &RowSet, wanted: bool) -> Result<HashMap<usize, i64>, PlanError> {
    let mut orders = HashMap::new();
    if wanted {
        segment.column("_order", Some(rows), |row, cell| {
            if let Cell::Int(order) = cell {
                orders.insert(row, order);
            }
        })?;
    }
    Ok(orders)
}

/// Gives events without a stamp of their own the sort key that the columns have for them.
fn complete_orders(segment: &Segment, found: &mut [Found]) -> Result<(), PlanError> {
    if found.iter().all(|f| f.order.is_some()) {
        return Ok(());
    }
    let table = segment.rows()?;
    let mut rows = RowSet::none(segment.len());
    let mut of_row: HashMap<usize, usize> = HashMap::new();
    for (i, f) in found.iter().enumerate().filter(|(_, f)| f.order.is_none()) {
        if let Some(row) = table.row_at(f.offset) {
            rows.insert(row);
            of_row.insert(row, i);
        }
    }
    segment.column("_order", Some(&rows), |row, cell| {
        if let (Cell::Int(order), Some(i)) = (cell, of_row.get(&row)) {
            found[*i].order = Some(order);
        }
    })?;
    Ok(())
}

fn uses_line(expr: &Expr) -> bool {
    let mut uses = false;
    expr.each_clause(&mut |clause| {
        if let super::expr::Term::Field(field) = &clause.term {
            uses |= Name::new(&field.name).special == Special::Line;
        }
    });
    uses
}

/// Rows of a segment whose bytes hold a text, by reading the source.
fn scan_rows(source: &Asked, segment: &Segment, text: &str) -> Option<RowSet> {
    if respelled(source) || !text.is_ascii() {
        return None;
    }
    let finder = Finder::new(&[Literal { text: text.to_ascii_lowercase(), begins: false, ends: false }])?;
    let bytes = source.bytes().ok()?;
    let (from, to) = (segment.reference.from as usize, (segment.reference.to as usize).min(bytes.len()));
    let table = segment.rows().ok()?;
    let starts: Vec<usize> = (from..to).step_by(SCAN_STEP).collect();
    let found: Vec<Vec<usize>> = starts
        .par_iter()
        .map(|start| {
            // A step ends in the middle of a record: what begins in it is found in it.
            let end = (start + SCAN_STEP + text.len()).min(to);
            let mut rows = Vec::new();
            let mut at = *start;
            let mut torn = scan::Torn::new(&bytes[..end]);
            while let Some(hit) = scan::earlier(finder.find(&bytes[..end], at), torn.next(at)) {
                let Some(row) = table.row_at(hit as u64) else { break };
                rows.push(row);
                at = table.offset(row).saturating_add(table.length(row)) as usize;
                if at >= end {
                    break;
                }
            }
            rows
        })
        .collect();
    let mut rows = RowSet::none(segment.len());
    found.into_iter().flatten().for_each(|row| rows.insert(row));
    Some(rows)
}

/// Can the bytes of a source spell a payload otherwise than it reads (numbers for bytes in journald's JSON, JSON escapes)?
fn respelled(source: &Asked) -> bool {
    source.layout.envelopes.iter().any(|e| e.respells)
}

fn scan_range(question: &Question, source: &Asked, bytes: &[u8], from: usize) -> Vec<Found> {
    let literals = if respelled(source) || question.bodies { None } else { required_literals(&question.expr) };
    let finder = literals.as_deref().and_then(Finder::new);
    let scanned = Scanned { bytes, layout: &source.layout, timing: source.timing(), lines: uses_line(&question.expr) };
    scan::each(scanned, from, finder.as_ref(), |record, event, facts| judge(question, source, record, event, facts))
}

/// Does a record match? And what is kept of it.
fn judge(question: &Question, source: &Asked, record: &Record<'_>, event: &Event<'_>, facts: &Facts) -> Option<Found> {
    if !question.window.may_hold(facts.stamp, facts.order) {
        return None;
    }
    let subject = Subject {
        event,
        payload: record.payload,
        withheld: if question.bodies { &[] } else { &event.withheld },
        facts: source.facts(),
        meta: record.meta,
        line: (facts.line > 0).then_some(facts.line),
    };
    if !question.matcher.matches(&subject) {
        return None;
    }
    let key = match &question.sort {
        Sort::Time(_) => None,
        Sort::Field(field, _) => first_key(&subject, field),
    };
    let counted = question.count_by.as_ref().map_or_else(Vec::new, |field| values(&subject, field));
    Some(Found { offset: facts.offset as u64, order: facts.order, at_edge: question.window.cuts(facts.stamp), key, counted })
}

/// The values that an event is counted by, each once; the empty text for one without any.
pub fn values(subject: &Subject<'_>, field: &str) -> Vec<String> {
    let mut counted = Vec::new();
    subject.any(&Name::new(field), &mut |item| {
        let text = item_text(item);
        if !counted.contains(&text) {
            counted.push(text);
        }
        false
    });
    if counted.is_empty() {
        counted.push(String::new());
    }
    counted
}

/// What an event is sorted by: the first value of a field.
pub fn first_key(subject: &Subject<'_>, field: &str) -> Option<Key> {
    let mut key = None;
    subject.any(&Name::new(field), &mut |item| {
        key = Some(match item {
            Item::Number(n) => Key::Number(n as f64),
            Item::Value(Value::Int(x)) => Key::Number(*x as f64),
            Item::Value(Value::UInt(x)) => Key::Number(*x as f64),
            Item::Value(Value::Float(x)) => Key::Number(*x),
            item => Key::Text(item_text(item)),
        });
        true
    });
    key
}

/// An item as it is counted and printed.
pub fn item_text(item: Item<'_>) -> String {
    match item {
        Item::Text(text) | Item::Path(text) => text.to_string(),
        Item::Number(n) => n.to_string(),
        Item::Level(level) => level.name().to_string(),
        Item::Id(id) => {
            let mut text = String::new();
            if id.kind == corr_parsers::ids::IdKind::WorkerId {
                corr_parsers::ids::canonical(Some(id.kind), &id.text, &mut text);
            } else {
                text.push_str(&id.text);
            }
            text
        }
        Item::Value(value) => value.to_string(),
    }
}

/// Where the bin of an instant begins, bins of `width` ns counted from the epoch. Of one that would begin before time does, the first instant there is.
pub fn bin(at: i64, width: i64) -> i64 {
    at.div_euclid(width).saturating_mul(width)
}

/// Takes matching records into a source's part of the answer.
fn note(question: &Question, index: usize, found: Vec<Found>, part: &mut Part) {
    part.asking.matched += found.len() as u64;
    for f in found {
        part.at_edge += u64::from(f.at_edge);
        for text in f.counted {
            *part.counts.entry(text).or_default() += 1;
        }
        if let Some(width) = question.histogram {
            *part.bins.entry(f.order.map(|o| bin(o, width))).or_default() += 1;
        }
        if question.count_by.is_none() && question.histogram.is_none() {
            part.keeper.push(Hit { source: index, offset: f.offset, order: f.order, key: f.key });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::bin;

    /// -9223372036854775808 in bins of 10: the one below it would begin at …810, where no instant is.
    #[test]
    fn bins_hold_the_first_and_the_last_instant() {
        assert_eq!(bin(i64::MIN, 10), i64::MIN);
        assert_eq!(bin(i64::MIN + 8, 10), i64::MIN + 8, "-9223372036854775800 begins one");
        assert_eq!(bin(i64::MAX, 10), i64::MAX - 7);
        assert_eq!((bin(-1, 10), bin(0, 10), bin(19, 10)), (-10, 0, 10));
    }
}
