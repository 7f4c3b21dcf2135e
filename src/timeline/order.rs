//! Which rows overlap rows of other sources, so that nobody knows which came first?

use std::collections::VecDeque;

use super::row::{Order, Row};

/// Marks rows that come in the order of their start, and gives each on when no later one can overlap it. A row that stands for several events is
/// placed by its first.
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
}

impl Marker {
    pub fn new(several: bool) -> Marker {
        Marker { held: VecDeque::new(), given: 0, unmarked: VecDeque::new(), of: String::new(), latest: None, second: None, several }
    }

    /// Takes the next row; calls `give` with those that are done.
    pub fn push<E>(&mut self, mut row: Row, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        let Some(stamp) = row.first.stamp else {
            row.order = Order::Unstamped;
            self.held.push_back(row);
            return self.release(None, give);
        };
        self.release(Some(stamp.start), give)?;
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

    /// Gives on the rows that are held still.
    pub fn finish<E>(self, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        self.held.into_iter().try_for_each(give)
    }

    /// Rows that end before `start` are done, and those without a stamp.
    fn release<E>(&mut self, start: Option<i64>, give: &mut dyn FnMut(Row) -> Result<(), E>) -> Result<(), E> {
        let done = |row: &mut Row| match (row.first.stamp, start) {
            (None, _) => true,
            (Some(stamp), Some(start)) => stamp.end <= start,
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

#[cfg(test)]
mod tests;
