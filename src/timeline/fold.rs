//! Folds noise: lines that are said over and over become one row, and the same message several times becomes one.
//!
//! Events come in the order of time. What is folded is of one source and one kind; a mark of the source ends its runs, and so does a pause: what
//! a server said before it was restarted stays apart from what it said behind. Memory is bounded by sources × kinds.

use std::collections::BTreeMap;

use super::kinds::{self, Class};
use super::row::{Folded, Range, Row};
use crate::render::shown::Shown;

/// A pause of this many ns ends a run.
const PAUSE: i64 = 60_000_000_000;
/// Events of a kind that are shown one by one before they become a run.
const FEW: usize = 3;
/// Warnings and errors likewise.
const FEW_SERIOUS: usize = 20;
/// Messages of one kind that are looked for repeats; what is older is shown.
const REMEMBERED: usize = 64;
/// Numbers of which a run keeps ranges.
const RANGES: usize = 64;

/// Source, kind, and what tells lines of a kind apart.
type Group = (String, &'static str, &'static str);

/// Folds events.
pub struct Folder {
    open: BTreeMap<Group, Open>,
    /// The user chose the events: only what is periodic becomes a run.
    chosen: bool,
}

struct Open {
    rows: Vec<Row>,
    run: Option<Row>,
    /// Rows that may stand alone before they become a run; `None`: they never do.
    few: Option<usize>,
    /// Sort key of the last event.
    last: Option<i64>,
}

impl Folder {
    /// `chosen`: the events are what a query asked for.
    pub fn new(chosen: bool) -> Folder {
        Folder { open: BTreeMap::new(), chosen }
    }

    /// Takes an event; gives the rows that are done by it.
    pub fn push(&mut self, event: Shown, number: u64, done: &mut Vec<Row>) {
        let class = kinds::class(&event);
        let (of, mark, few) = match class {
            Class::Mark(mark) => ("", Some(mark), None),
            Class::Periodic(of) => (of, None, Some(1)),
            Class::Serious => ("", None, Some(FEW_SERIOUS)),
            Class::Other => ("", None, Some(FEW)),
        };
        let few = if self.chosen && !matches!(class, Class::Periodic(_)) { None } else { few };
        // Warnings stand apart from what their kind says otherwise.
        let apart = if class == Class::Serious { "serious" } else { of };
        let group: Group = (event.source.clone(), event.kind, apart);
        if mark.is_some() {
            self.end(&group, done);
        }
        let key = event.order.or(event.stamp.map(|s| s.start));
        let open = self.open.entry(group).or_insert_with(|| Open { rows: Vec::new(), run: None, few, last: None });
        if open.last.zip(key).is_some_and(|(last, now)| now.saturating_sub(last) > PAUSE) {
            open.close(done);
        }
        open.last = key.or(open.last);
        open.add(Row::new(event, number, of, mark), done);
    }

    /// Ends what a source has open, but for the group of the mark itself: every rank may say it.
    fn end(&mut self, mark: &Group, done: &mut Vec<Row>) {
        let of_source: Vec<Group> =
            self.open.range((mark.0.clone(), "", "")..).map(|(k, _)| k).take_while(|k| k.0 == mark.0).cloned().collect();
        for group in of_source.iter().filter(|g| *g != mark) {
            if let Some(mut open) = self.open.remove(group) {
                open.close(done);
            }
        }
    }

    /// The rows that were still open.
    pub fn finish(self, done: &mut Vec<Row>) {
        for mut open in self.open.into_values() {
            open.close(done);
        }
    }
}

impl Open {
    fn add(&mut self, row: Row, done: &mut Vec<Row>) {
        if let Some(run) = &mut self.run {
            return extend(run, row);
        }
        let brief = row.first.brief();
        if let Some(same) = self.rows.iter_mut().find(|r| r.first.level == row.first.level && r.first.brief() == brief) {
            same.count += 1;
            same.folded = Folded::Repeats;
            same.last = Some(Box::new(row.first));
            return;
        }
        if self.few.is_some_and(|few| self.rows.len() >= few) {
            let mut rows = std::mem::take(&mut self.rows).into_iter().chain([row]);
            let Some(mut run) = rows.next() else { return };
            run.ranges = ranges(&run.first, run.count);
            rows.for_each(|row| extend(&mut run, row));
            run.folded = Folded::Run;
            self.run = Some(run);
            return;
        }
        if self.rows.len() >= REMEMBERED {
            done.push(self.rows.remove(0));
        }
        self.rows.push(row);
    }

    fn close(&mut self, done: &mut Vec<Row>) {
        done.extend(self.run.take());
        done.append(&mut self.rows);
    }
}

fn ranges(event: &Shown, count: u64) -> Vec<Range> {
    let one = |(name, n): (&str, &serde_json::Number)| Range { name: name.to_string(), min: n.clone(), max: n.clone(), count };
    let mut found: Vec<Range> = Vec::new();
    for range in kinds::quantities(event).map(one).take(RANGES) {
        if !found.iter().any(|r| r.name == range.name) {
            found.push(range);
        }
    }
    found
}

/// Adds a row's events to a run.
fn extend(run: &mut Row, row: Row) {
    let room = RANGES.saturating_sub(run.ranges.len());
    let mut new = Vec::new();
    for (name, n) in kinds::quantities(&row.first) {
        match run.ranges.iter_mut().find(|r| r.name == name) {
            Some(range) => {
                range.count += row.count;
                if less(n, &range.min) {
                    range.min = n.clone();
                }
                if less(&range.max, n) {
                    range.max = n.clone();
                }
            }
            None if new.len() < room && !new.iter().any(|r: &Range| r.name == name) => {
                new.push(Range { name: name.to_string(), min: n.clone(), max: n.clone(), count: row.count })
            }
            None => {}
        }
    }
    run.ranges.append(&mut new);
    run.count += row.count;
    let last = row.last.unwrap_or_else(|| Box::new(row.first));
    // Rows that stood side by side may have ended in another order than they began.
    let later = |a: &Shown, b: &Shown| (a.order, a.offset) > (b.order, b.offset);
    if run.last.as_ref().is_none_or(|known| later(&last, known)) {
        run.last = Some(last);
    }
}

fn less(a: &serde_json::Number, b: &serde_json::Number) -> bool {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a < b,
        _ => a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a < b),
    }
}

#[cfg(test)]
mod tests;
