//! What happened, in the order of time: events of all sources as rows that people can read.
//!
//! Events come in the order of time (start of stamp, source, position). `fold` makes rows of them, `keep` chooses those that are shown, `order`
//! says of which the place among other sources' rows is not known. Nothing here reads a file or writes.

mod fold;
mod keep;
mod kinds;
mod order;
mod row;

use std::collections::{BTreeMap, VecDeque};

pub use keep::most_telling;
pub use kinds::{Mark, PROBES};
pub use row::{Folded, Known, Order, Range, Row};

use crate::render::number::grouped;
use crate::render::shown::Shown;
use fold::Folder;
use keep::Keep;
use order::Marker;

/// How rows are made.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Every event is a row.
    pub all: bool,
    /// Rows that are shown; 0 shows all.
    pub limit: usize,
    /// The events are what a query asked for: only what is periodic becomes a run.
    pub chosen: bool,
    /// Events of several sources are asked.
    pub several: bool,
}

/// What was made of the events.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    pub events: u64,
    /// Rows, marks that are no events among them.
    pub rows: u64,
    /// Rows that are no events.
    pub marks: u64,
    /// Rows that were given.
    pub shown: u64,
    /// What was seen of each source.
    pub sources: BTreeMap<String, Seen>,
}

impl Totals {
    /// Rows that are events.
    pub fn of_events(&self) -> u64 {
        self.rows.saturating_sub(self.marks)
    }

    /// `81 events in 40 rows, and 12 marks`.
    pub fn words(&self) -> String {
        let marks = if self.marks > 0 { format!(", and {} marks", grouped(self.marks)) } else { String::new() };
        format!("{} events in {} rows{marks}", grouped(self.events), grouped(self.of_events()))
    }
}

/// What was seen of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub events: u64,
    /// First start and last end of its stamps, UTC ns.
    pub span: Option<(i64, i64)>,
    /// The widest of its stamps, ns.
    pub width: Option<i64>,
}

impl Seen {
    fn add(&mut self, event: &Shown) {
        self.events += 1;
        if let Some(stamp) = event.stamp {
            let (from, to) = self.span.unwrap_or((stamp.start, stamp.end));
            self.span = Some((from.min(stamp.start), to.max(stamp.end)));
            self.width = self.width.max(Some(stamp.width()));
        }
    }
}

/// Where a mark stands: by the start of its first record's stamp, then source and position.
fn place(mark: &Row) -> (Option<i64>, &str, u64) {
    let first = &mark.first;
    (first.stamp.map(|s| s.start).or(first.order), &first.source, first.offset)
}

/// Makes rows of events, and gives each as soon as nothing that follows can change it: with `all` and no limit a few are held, else those that are
/// shown and those that are still folded into.
pub struct Timeline {
    settings: Settings,
    folder: Folder,
    keep: Keep,
    marker: Marker,
    totals: Totals,
    done: Vec<Row>,
    /// Marks that stand behind all events so far, in the order of time.
    marks: VecDeque<Row>,
    /// Events and marks so far.
    number: u64,
}

impl Timeline {
    /// `marks` are rows that are no events: [`Row::derived`].
    pub fn new(settings: Settings, mut marks: Vec<Row>) -> Timeline {
        marks.sort_by(|a, b| place(a).cmp(&place(b)));
        Timeline {
            settings,
            folder: Folder::new(settings.chosen),
            keep: Keep::new(settings.limit),
            marker: Marker::new(settings.several),
            totals: Totals::default(),
            done: Vec::new(),
            marks: marks.into(),
            number: 0,
        }
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// Those of `give`.
    pub fn push<E>(&mut self, event: Shown, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        let key = event.order.or(event.stamp.map(|s| s.start));
        self.marks_before(|mark| place(mark).0 < key, give)?;
        let own = self.marks.front().filter(|mark| mark.first.offset == event.offset && mark.first.source == event.source);
        let own = own.map(|mark| (mark.first.source.clone(), mark.first.offset));
        self.event(event, give)?;
        // What was worked out from its own record stands behind it.
        let Some((source, offset)) = own else { return Ok(()) };
        self.marks_before(|mark| mark.first.offset == offset && mark.first.source == source, give)
    }

    fn event<E>(&mut self, event: Shown, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        let number = self.number;
        self.number += 1;
        self.totals.events += 1;
        match self.totals.sources.get_mut(&event.source) {
            Some(seen) => seen.add(&event),
            None => self.totals.sources.entry(event.source.clone()).or_default().add(&event),
        }
        if !self.settings.all {
            self.folder.push(event, number, &mut self.done);
            self.done.drain(..).for_each(|row| self.keep.push(row));
            return Ok(());
        }
        let mark = kinds::mark(event.kind);
        self.put(Row::new(event, number, "", mark), give)
    }

    /// Takes marks from the front, while they are meant.
    fn marks_before<E>(&mut self, meant: impl Fn(&Row) -> bool, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        while let Some(mut mark) = self.marks.pop_front_if(|mark| meant(mark)) {
            mark.number = self.number;
            self.number += 1;
            self.totals.marks += 1;
            self.put(mark, give)?;
        }
        Ok(())
    }

    /// A row that is not folded.
    fn put<E>(&mut self, row: Row, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        if !self.settings.all || self.settings.limit > 0 {
            self.keep.push(row);
            return Ok(());
        }
        self.totals.rows += 1;
        self.totals.shown += 1;
        self.marker.push(row, give)
    }

    /// Gives what was held, and says what was made.
    ///
    /// # Errors
    /// Those of `give`.
    pub fn finish<E>(mut self, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<Totals, E> {
        self.marks_before(|_| true, give)?;
        self.folder.finish(&mut self.done);
        self.done.drain(..).for_each(|row| self.keep.push(row));
        let (rows, seen) = self.keep.finish();
        self.totals.rows += seen;
        self.totals.shown += rows.len() as u64;
        for row in rows {
            self.marker.push(row, give)?;
        }
        self.marker.finish(give)?;
        Ok(self.totals)
    }
}
