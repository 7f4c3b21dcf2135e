//! Which rows overlap rows of other sources, so that nobody knows which came first?

use std::collections::VecDeque;

use super::row::{Known, Order, Row};

/// Marks rows that come in the order of their start, and gives each on when no later one can overlap it. A row that stands for several events is
/// placed by its first. A row that is no event is marked itself where another row may have come before or after it, and marks no event: of events the
/// order among each other is said.
pub struct Marker {
    /// Rows that are held until it is known whether something overlaps them.
    held: VecDeque<Row>,
    /// Rows given on so far: the number of the first that is held.
    given: u64,
    /// Numbers of held rows that nothing overlapped yet, all of one source.
    unmarked: VecDeque<u64>,
    /// That source.
    of: String,
    /// The latest end of a row with its source, and the latest end among rows of all other sources.
    latest: Option<(i64, String)>,
    second: Option<i64>,
    /// Events of several sources are shown.
    several: bool,
    /// Events were given.
    any: bool,
    /// Rows that are no events and that later ones may overlap.
    open: Vec<Open>,
}

/// A row that is no event.
struct Open {
    /// Its number, where it is held and not marked yet.
    number: Option<u64>,
    known: Known,
    interval: (i64, i64),
    /// Source of its first record, and whose it is.
    source: String,
    worker: Option<String>,
    /// Source of the record that bounds it from above, and where that stands.
    until: Option<(String, u64)>,
}

impl Open {
    /// May an event that stands behind it have come before it?
    fn leaves_open(&self, event: &Row, start: i64) -> bool {
        if start >= self.interval.1 {
            return false;
        }
        let first = &event.first;
        match self.known {
            // What its source says behind its record came later.
            Known::Exact | Known::Lasting | Known::By => first.source != self.source,
            Known::Within => !self.until.as_ref().is_some_and(|(source, offset)| *source == first.source && *offset <= first.offset),
        }
    }
}

impl Marker {
    pub fn new(several: bool) -> Marker {
        Marker {
            held: VecDeque::new(),
            given: 0,
            unmarked: VecDeque::new(),
            of: String::new(),
            latest: None,
            second: None,
            several,
            any: false,
            open: Vec::new(),
        }
    }

    /// Takes the next row; calls `give` with those that are done.
    pub fn push<E>(&mut self, mut row: Row, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        let Some(stamp) = row.first.stamp else {
            row.order = Order::Unstamped;
            self.held.push_back(row);
            return self.release(None, give);
        };
        self.mark_open(&row, stamp.start);
        self.release(Some(stamp.start), give)?;
        if let Some(known) = row.known {
            self.derived(known, row);
            return Ok(());
        }
        self.any = true;
        let source = &row.first.source;
        let other = match &self.latest {
            Some((end, of)) if of != source => Some(*end),
            _ => self.second,
        };
        let overlaps = other.is_some_and(|end| end > stamp.start);
        row.order = match (overlaps, row.first.assumed && self.several) {
            (true, _) => Order::Unknown,
            (false, true) => Order::ZoneAssumed,
            (false, false) => Order::Known,
        };
        if self.of != *source {
            for number in std::mem::take(&mut self.unmarked) {
                let held = number.checked_sub(self.given).and_then(|i| usize::try_from(i).ok()).and_then(|i| self.held.get_mut(i));
                if let Some(held) = held.filter(|h| h.first.stamp.is_some_and(|s| s.end > stamp.start)) {
                    held.order = Order::Unknown;
                }
            }
            self.of.clone_from(source);
        }
        if !overlaps {
            self.unmarked.push_back(self.given + self.held.len() as u64);
        }
        self.see(stamp.end, row.first.source.clone());
        self.held.push_back(row);
        Ok(())
    }

    /// Marks the rows that are no events, and that this event may have come before.
    fn mark_open(&mut self, row: &Row, start: i64) {
        self.open.retain(|open| open.interval.1 > start);
        if row.known.is_some() {
            return;
        }
        for open in &mut self.open {
            if open.leaves_open(row, start) {
                mark(open, &mut self.held, self.given);
            }
        }
    }

    /// Takes a row that is no event.
    fn derived(&mut self, known: Known, mut row: Row) {
        let Some(interval) = row.interval() else { return };
        let other = match &self.latest {
            Some((end, of)) if *of != row.first.source => Some(*end),
            _ => self.second,
        };
        let mut overlaps = match known {
            // It may have been any time before.
            Known::By => self.any,
            _ => other.is_some_and(|end| end > interval.0),
        };
        // Of one worker's life the order is its own; of two workers' it is that of stamps.
        for open in self.open.iter_mut().filter(|o| o.source != row.first.source && (o.worker.is_none() || o.worker != row.first.worker)) {
            if open.interval.1 > interval.0 && interval.1 > open.interval.0 {
                overlaps = true;
                mark(open, &mut self.held, self.given);
            }
        }
        row.order = match (overlaps, row.first.assumed && self.several) {
            (true, _) => Order::Unknown,
            (false, true) => Order::ZoneAssumed,
            (false, false) => Order::Known,
        };
        let number = (!overlaps).then_some(self.given + self.held.len() as u64);
        let until = row.last.as_ref().map(|last| (last.source.clone(), last.offset));
        self.open.push(Open { number, known, interval, source: row.first.source.clone(), worker: row.first.worker.clone(), until });
        self.held.push_back(row);
    }

    /// Gives on the rows that are held still.
    pub fn finish<E>(self, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        self.held.into_iter().try_for_each(give)
    }

    /// Rows that end before `start` are done, and those without a stamp.
    fn release<E>(&mut self, start: Option<i64>, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        let done = |row: &mut Row| match (row.first.stamp, start) {
            (None, _) => true,
            // Of a row that is no event no more can be said than that its order is unknown.
            (Some(_), _) if row.known.is_some() && row.order == Order::Unknown => true,
            (Some(stamp), Some(start)) => row.interval().map_or(stamp.end, |(_, end)| end) <= start,
            (Some(_), None) => false,
        };
        while let Some(row) = self.held.pop_front_if(done) {
            self.given += 1;
            give(row)?;
        }
        while self.unmarked.pop_front_if(|number| *number < self.given).is_some() {}
        Ok(())
    }

    fn see(&mut self, end: i64, source: String) {
        match &mut self.latest {
            Some((latest, of)) if *of == source => *latest = end.max(*latest),
            Some((latest, _)) if end <= *latest => self.second = self.second.max(Some(end)),
            Some((latest, _)) => {
                self.second = Some(*latest);
                self.latest = Some((end, source));
            }
            None => self.latest = Some((end, source)),
        }
    }
}

/// Marks a row that is held.
fn mark(open: &mut Open, held: &mut VecDeque<Row>, given: u64) {
    let Some(number) = open.number.take() else { return };
    let row = number.checked_sub(given).and_then(|i| usize::try_from(i).ok()).and_then(|i| held.get_mut(i));
    if let Some(row) = row {
        row.order = Order::Unknown;
    }
}

#[cfg(test)]
mod tests;
