//! What one source shows: the signals in it, the ids that its records link, and how far it reaches.
//!
//! Sources are read apart, in parallel, and put together by `identity`. What bears an id is kept one by one, since to whom it happened is asked of
//! it; what bears none is only counted.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use corr_parsers::event::{Event, Level};
use corr_parsers::ids::{self, IdKind};
use corr_parsers::stamp::Stamp;

use crate::compiled::{Edges, SignalRef, equal, holds, number};
use crate::definition::Shows;
use crate::twins::Marks;

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cite {
    /// Number of the source.
    pub source: u32,
    /// First byte, in the source as unpacked.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// Line of the first byte, from 1.
    pub line: u64,
}

/// An id as it is compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdText {
    pub kind: IdKind,
    pub text: String,
}

/// One event that bears ids and is a signal.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    pub signal: SignalRef,
    pub cite: Cite,
    pub when: Option<Stamp>,
    /// Where it lies to a window: its stamp, else the place of the stamped record before it.
    pub place: Option<Stamp>,
    /// Number of its record among `SourceLedger::records`.
    pub record: u32,
    /// The value of the signal's amount field; zero where the record says so in another way.
    pub amount: Option<f64>,
}

/// A record that bears ids.
#[derive(Clone, Copy, Debug)]
pub struct Bearer {
    pub cite: Cite,
    pub when: Option<Stamp>,
    /// Its ids are `ids[from..to]` of the source.
    from: u32,
    to: u32,
}

/// Events of one signal without ids.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    pub count: u64,
    /// Sum of the amount field; absent where the signal has none.
    pub amount: Option<f64>,
    pub ends: Ends,
    pub shown: Option<Shown>,
}

/// The first and the last of some records, by their stamps; those without one stand behind those with one, by source and byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub first: (Option<Stamp>, Cite),
    pub last: (Option<Stamp>, Cite),
}

impl Ends {
    /// Of one record.
    pub fn of(when: Option<Stamp>, cite: Cite) -> Ends {
        Ends { first: (when, cite), last: (when, cite) }
    }

    /// Of these records and others.
    pub fn with(self, other: Ends) -> Ends {
        let begins = |(when, cite): (Option<Stamp>, Cite)| (when.is_none(), when.map(|w| w.start), cite);
        let ends = |(when, cite): (Option<Stamp>, Cite)| (when.is_some(), when.map(|w| w.end), cite);
        Ends {
            first: if begins(other.first) < begins(self.first) { other.first } else { self.first },
            last: if ends(other.last) > ends(self.last) { other.last } else { self.last },
        }
    }

    /// Of several sets of records.
    pub fn all(of: impl IntoIterator<Item = Ends>) -> Option<Ends> {
        of.into_iter().reduce(Ends::with)
    }

    /// The first record and, if there is another one, the last.
    pub fn cites(self) -> Vec<Cite> {
        if self.first.1 == self.last.1 { vec![self.first.1] } else { vec![self.first.1, self.last.1] }
    }
}

/// The earliest and the latest record by stamp that shows that something happened: one that says an amount of zero shows none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// By the start of its stamp; of one start the first in the order of sources and bytes.
    pub earliest: (Stamp, Cite),
    /// By the end of its stamp; of one end the last.
    pub latest: (Stamp, Cite),
}

impl Shown {
    /// What one record shows; `None` without a stamp, or for an amount of zero.
    pub fn by(when: Option<Stamp>, amount: Option<f64>, cite: Cite) -> Option<Shown> {
        let when = when.filter(|_| amount.is_none_or(|amount| amount > 0.0))?;
        Some(Shown { earliest: (when, cite), latest: (when, cite) })
    }

    /// Of several records.
    pub fn all(of: impl IntoIterator<Item = Option<Shown>>) -> Option<Shown> {
        of.into_iter().flatten().reduce(Shown::with)
    }

    /// Of these records and others.
    pub fn with(self, b: Shown) -> Shown {
        let a = self;
        Shown {
            earliest: if (b.earliest.0.start, b.earliest.1) < (a.earliest.0.start, a.earliest.1) { b.earliest } else { a.earliest },
            latest: if (b.latest.0.end, b.latest.1) > (a.latest.0.end, a.latest.1) { b.latest } else { a.latest },
        }
    }
}

/// What one source shows.
#[derive(Debug, Default)]
pub struct SourceLedger {
    pub source: u32,
    /// Worker that the source is of, and its role.
    pub worker: Option<String>,
    pub role: Option<String>,
    /// From the first stamp's start to the last stamp's end.
    pub span: Option<(i64, i64)>,
    pub formats: BTreeSet<&'static str>,
    /// The lowest level that a record of it has.
    pub lowest: Option<Level>,
    /// Kinds with their number and first record.
    pub kinds: BTreeMap<&'static str, (u64, Cite)>,
    /// Instruments that a configuration record of it says are off.
    pub off: Vec<(usize, Cite)>,
    /// Flags that a record of it shows.
    pub flags: BTreeMap<usize, Cite>,
    pub sightings: Vec<Sighting>,
    pub records: Vec<Bearer>,
    pub tallies: BTreeMap<SignalRef, Tally>,
    /// By what another log is known to hold the same records.
    pub marks: Marks,
    ids: Vec<u32>,
    texts: Vec<IdText>,
    known: HashMap<IdText, u32>,
    linked: HashSet<Vec<u32>>,
}

/// Ids that say which request or whose it was.
fn names_a_request(kind: IdKind) -> bool {
    matches!(kind, IdKind::Rid | IdKind::RequestId | IdKind::BootstrapRoom | IdKind::TraceId | IdKind::XRequestId)
}

impl SourceLedger {
    pub fn new(source: u32, worker: Option<String>, role: Option<String>) -> SourceLedger {
        SourceLedger { source, worker, role, ..SourceLedger::default() }
    }

    /// Takes one record. `order` is when the last stamped record up to it began, UTC ns: a record without a stamp lies there. `window` bounds what is
    /// counted without ids: a record that does not overlap it is not; of what bears ids all is kept, since a request that began in the window may end
    /// behind it.
    #[allow(clippy::too_many_arguments)]
    pub fn add(
        &mut self,
        edges: &Edges,
        format: &'static str,
        event: &Event<'_>,
        when: Option<Stamp>,
        order: Option<i64>,
        cite: Cite,
        window: Option<(i64, i64)>,
    ) {
        let place = when.or(order.map(|at| Stamp::new(at, 1)));
        self.formats.insert(format);
        if let Some(level) = event.level {
            self.lowest = Some(self.lowest.map_or(level, |l| l.min(level)));
        }
        if let Some(when) = when {
            let (from, to) = self.span.unwrap_or((when.start, when.end));
            self.span = Some((from.min(when.start), to.max(when.end)));
        }
        self.kinds.entry(event.kind.name).or_insert((0, cite)).0 += 1;
        self.turned_off(edges, event, cite);
        for (i, flag) in edges.flagged_by(event.kind.name) {
            let says = |by: &Shows| by.kinds.iter().any(|k| k == event.kind.name) && by.conditions.iter().all(|c| holds(c, &event.fields));
            if !self.flags.contains_key(&i) && flag.shown_by.iter().any(says) {
                self.flags.insert(i, cite);
            }
        }
        let mut record = None;
        for (at, signal) in edges.of_kind(event.kind.name, format) {
            let other_role = self.role.as_ref().is_some_and(|role| signal.except_roles.contains(role));
            if other_role || !signal.conditions.iter().all(|c| holds(c, &event.fields)) {
                continue;
            }
            let mut amount = None;
            if let Some(field) = &signal.amount {
                let value = |name: &str| event.fields.iter().find(|f| f.name == name).and_then(|f| number(&f.value));
                amount = field.split('+').filter_map(value).fold(None, |sum: Option<f64>, v| Some(sum.unwrap_or(0.0) + v));
                if amount.is_none() && signal.zero_when.as_ref().is_some_and(|zero| holds(zero, &event.fields)) {
                    amount = Some(0.0);
                }
                if amount.is_none() {
                    continue;
                }
            }
            self.marks.add(at, event, when);
            if event.ids.iter().any(|id| names_a_request(id.kind)) {
                let record = *record.get_or_insert_with(|| self.bearer(event, when, cite));
                self.sightings.push(Sighting { signal: at, cite, when, place, record, amount });
            } else if window.is_none_or(|w| overlaps(place, w)) {
                let own = Ends::of(when, cite);
                let tally = self.tallies.entry(at).or_insert(Tally { count: 0, amount: None, ends: own, shown: None });
                tally.count += 1;
                tally.ends = tally.ends.with(own);
                tally.shown = Shown::all([tally.shown, Shown::by(when, amount, cite)]);
                if let Some(amount) = amount {
                    tally.amount = Some(tally.amount.unwrap_or(0.0) + amount);
                }
            }
        }
        // A record that is no signal can still link ids; each set of ids once.
        if record.is_none() && event.ids.len() > 1 && event.ids.iter().any(|id| names_a_request(id.kind)) {
            let ids = self.numbers(event);
            if self.linked.insert(ids) {
                self.bearer(event, when, cite);
            }
        }
    }

    fn turned_off(&mut self, edges: &Edges, event: &Event<'_>, cite: Cite) {
        for (i, instrument) in edges.told_off_by(event.kind.name) {
            for off in &instrument.off_by {
                let says = |f: &corr_parsers::event::Field<'_>| f.name == off.field.as_str() && equal(&off.is, &f.value);
                if off.kind == event.kind.name && event.fields.iter().any(says) {
                    self.off.push((i, cite));
                }
            }
        }
    }

    fn numbers(&mut self, event: &Event<'_>) -> Vec<u32> {
        let mut text = String::new();
        let mut numbers = Vec::with_capacity(event.ids.len());
        for id in &event.ids {
            ids::canonical(Some(id.kind), &id.text, &mut text);
            let number = self.number(IdText { kind: id.kind, text: std::mem::take(&mut text) });
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers
    }

    fn bearer(&mut self, event: &Event<'_>, when: Option<Stamp>, cite: Cite) -> u32 {
        let numbers = self.numbers(event);
        let from = self.ids.len() as u32;
        self.ids.extend(numbers);
        self.records.push(Bearer { cite, when, from, to: self.ids.len() as u32 });
        self.records.len() as u32 - 1
    }

    /// Takes in what a later part of the same source shows; its lines were counted from 1, and `lines` stand before it.
    pub fn append(&mut self, later: SourceLedger, lines: u64) {
        let moved = |cite: Cite| Cite { line: cite.line.saturating_add(lines), ..cite };
        self.span = match (self.span, later.span) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, other) => one.or(other),
        };
        self.formats.extend(later.formats);
        self.lowest = self.lowest.into_iter().chain(later.lowest).min();
        for (kind, (count, first)) in later.kinds {
            self.kinds.entry(kind).or_insert((0, moved(first))).0 += count;
        }
        for (flag, cite) in later.flags {
            self.flags.entry(flag).or_insert(moved(cite));
        }
        self.off.extend(later.off.into_iter().map(|(i, cite)| (i, moved(cite))));
        let numbers: Vec<u32> = later.texts.into_iter().map(|text| self.number(text)).collect();
        let (ids, records) = (self.ids.len() as u32, self.records.len() as u32);
        self.ids.extend(later.ids.iter().filter_map(|n| numbers.get(*n as usize)));
        self.records.extend(later.records.into_iter().map(|r| Bearer { cite: moved(r.cite), from: r.from + ids, to: r.to + ids, ..r }));
        self.sightings.extend(later.sightings.into_iter().map(|s| Sighting { cite: moved(s.cite), record: s.record + records, ..s }));
        self.marks.append(later.marks);
        for (at, tally) in later.tallies {
            let (first, last) = (tally.ends.first, tally.ends.last);
            let ends = Ends { first: (first.0, moved(first.1)), last: (last.0, moved(last.1)) };
            let of = self.tallies.entry(at).or_insert(Tally { count: 0, amount: None, ends, shown: None });
            of.count += tally.count;
            of.ends = of.ends.with(ends);
            let place = |(when, cite): (Stamp, Cite)| (when, moved(cite));
            let shown = tally.shown.map(|s| Shown { earliest: place(s.earliest), latest: place(s.latest) });
            of.shown = Shown::all([of.shown, shown]);
            if let Some(amount) = tally.amount {
                of.amount = Some(of.amount.unwrap_or(0.0) + amount);
            }
        }
    }

    fn number(&mut self, text: IdText) -> u32 {
        let next = self.texts.len() as u32;
        let texts = &mut self.texts;
        *self.known.entry(text).or_insert_with_key(|key| {
            texts.push(key.clone());
            next
        })
    }

    /// The ids of a record.
    pub fn ids(&self, record: &Bearer) -> impl Iterator<Item = &IdText> {
        self.ids.get(record.from as usize..record.to as usize).unwrap_or_default().iter().filter_map(|n| self.texts.get(*n as usize))
    }

    /// Some record of it bears this id, as it is compared.
    pub fn bears(&self, kind: IdKind, text: &str) -> bool {
        self.known.contains_key(&IdText { kind, text: text.to_string() })
    }

    /// The record of a sighting.
    pub fn record(&self, number: u32) -> Option<&Bearer> {
        self.records.get(number as usize)
    }
}

/// Whether a stamp may lie in a window; what has none may.
pub fn overlaps(when: Option<Stamp>, (from, to): (i64, i64)) -> bool {
    when.is_none_or(|when| when.start < to && when.end > from)
}
