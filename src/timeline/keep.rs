//! Which rows are shown where not all are: marks first, those of failures before others, then errors, warnings, what became of cache entries and
//! requests, runs, and all others; of one weight the earliest. When edges were proven stands with what became of cache entries.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::kinds::{self, Mark};
use super::row::{Folded, Row};

/// Keeps the most telling rows.
pub struct Keep {
    limit: usize,
    /// The least telling of the kept is on top.
    heap: BinaryHeap<Ranked>,
    /// All rows, where there is no limit.
    all: Vec<Row>,
    seen: u64,
}

struct Ranked {
    /// Lighter is more telling.
    weight: u8,
    row: Row,
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.weight, self.row.number).cmp(&(other.weight, other.row.number))
    }
}

impl Keep {
    /// `limit` 0 keeps all.
    pub fn new(limit: usize) -> Keep {
        Keep { limit, heap: BinaryHeap::new(), all: Vec::new(), seen: 0 }
    }

    pub fn push(&mut self, row: Row) {
        self.seen += 1;
        if self.limit == 0 {
            self.all.push(row);
            return;
        }
        self.heap.push(Ranked { weight: weight(&row), row });
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// The kept rows in the order of time, and how many there were.
    pub fn finish(self) -> (Vec<Row>, u64) {
        let mut rows = self.all;
        rows.extend(self.heap.into_iter().map(|r| r.row));
        rows.sort_unstable_by_key(|r| r.number);
        (rows, self.seen)
    }
}

fn weight(row: &Row) -> u8 {
    match row.mark {
        // A server that drains says so every few seconds: what failed must not be lost among that.
        Some(Mark::Failure) => return 0,
        Some(Mark::Verdict) => return 4,
        Some(_) => return 1,
        None => {}
    }
    match row.first.level {
        Some("error" | "fatal") => 2,
        Some("warn") => 3,
        _ if kinds::telling(row.first.kind) => 4,
        _ if row.folded == Folded::Run => 5,
        _ => 6,
    }
}

/// The most telling of some rows, in their order.
pub fn most_telling(rows: &[Row], limit: usize) -> Vec<&Row> {
    let mut ranked: Vec<&Row> = rows.iter().collect();
    ranked.sort_by_key(|r| (weight(r), r.number));
    ranked.truncate(limit);
    ranked.sort_by_key(|r| r.number);
    ranked
}
