//! Where a source's calendar turns: the years of stamps without one, and the DST folds.
//!
//! Both depend on the entries before, so one pass over the raw stamps in source order writes the few offsets at which something
//! changes; after it every entry's time follows from its own offset.

use chrono::Datelike;

use super::{Clock, JITTER, Rule, civil, dated};
use crate::stamp::{RawStamp, SECOND, Zone};

const DAY: i64 = 86_400 * SECOND;
/// The year 1972, in which stamps without a year stand.
const YEAR: i64 = 366 * DAY;

/// A source's change points. Small: one entry a new year, one a step back of the clock that lands in a fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// From this offset on, stamps without a year are of this year.
    years: Vec<(u64, i32)>,
    /// From this offset on, local times in the fold that holds this civil nanosecond are the later reading.
    folds: Vec<(u64, i64)>,
}

impl Turns {
    /// A source that lies within one year.
    pub fn one_year(year: i32) -> Turns {
        Turns { years: vec![(0, year)], folds: Vec::new() }
    }

    /// The year of the year-less stamp at an offset.
    pub fn year(&self, offset: u64) -> Option<i32> {
        let after = self.years.partition_point(|(from, _)| *from <= offset);
        // An offset before the first stamp belongs to the first year.
        self.years.get(after.saturating_sub(1)).map(|(_, year)| *year)
    }

    /// The year, if the whole source lies in one.
    pub fn only_year(&self) -> Option<i32> {
        match self.years[..] {
            [(_, year)] => Some(year),
            _ => None,
        }
    }

    /// Is the civil time `ns`, which occurs twice, the later reading at this offset?
    pub(super) fn folded(&self, offset: u64, ns: i64) -> bool {
        let after = self.folds.partition_point(|(from, _)| *from <= offset);
        // A zone's folds are at least a day apart and last at most a few hours.
        self.folds[..after].last().is_some_and(|(_, fold)| ns.abs_diff(*fold) < (DAY / 2) as u64)
    }
}

/// One pass over a source's raw stamps, in source order.
#[derive(Clone, Debug)]
pub struct TurnFinder {
    /// Relative years if the source is in time order: 0 at the first entry.
    forward: Vec<(u64, i32)>,
    /// The same if it is printed newest first (`journalctl -r`).
    reverse: Vec<(u64, i32)>,
    ups: u64,
    downs: u64,
    /// Steps back of civil time: the offset behind the step, its stamp's civil time, and whether it has no year.
    steps: Vec<(u64, i64, bool)>,
    first: Option<RawStamp>,
    last: Option<RawStamp>,
}

impl Default for TurnFinder {
    fn default() -> TurnFinder {
        TurnFinder::new()
    }
}

impl TurnFinder {
    /// Has seen nothing.
    pub fn new() -> TurnFinder {
        TurnFinder { forward: Vec::new(), reverse: Vec::new(), ups: 0, downs: 0, steps: Vec::new(), first: None, last: None }
    }

    /// The stamp of the entry at `offset`. Stamps that name their zone are of no interest and may be left out.
    pub fn push(&mut self, offset: u64, raw: &RawStamp) {
        let yearless = match raw.zone {
            Zone::Yearless => true,
            Zone::Naive => false,
            _ => return,
        };
        if let Some(last) = self.last
            && last.zone == raw.zone
        {
            let step = raw.ns.saturating_sub(last.ns);
            let years = if yearless { forward_turn(last.ns, raw.ns) } else { 0 };
            // Without a year, December to January is a small step up and not a large one down; large steps say nothing of the order.
            let short = if yearless { (step % YEAR + YEAR + YEAR / 2) % YEAR - YEAR / 2 } else { step };
            self.ups += u64::from(short > 0 && short < 45 * DAY);
            self.downs += u64::from(short < 0 && short > -45 * DAY);
            if years < 0 || (years == 0 && step < -JITTER) {
                self.steps.push((offset, raw.ns, yearless));
            }
            if yearless {
                turn(&mut self.forward, offset, years);
                turn(&mut self.reverse, offset, -forward_turn(raw.ns, last.ns));
            }
        } else if yearless && self.forward.is_empty() {
            self.forward.push((offset, 0));
            self.reverse.push((offset, 0));
        }
        self.first = self.first.or(Some(*raw));
        self.last = Some(*raw);
    }

    /// Is the source printed newest first?
    fn reversed(&self) -> bool {
        self.downs > self.ups
    }

    /// The change points, for a source whose newest entry is of the year `newest`.
    pub fn finish(self, clock: &Clock, newest: i32) -> Turns {
        let reversed = self.reversed();
        let relative = if reversed { self.reverse } else { self.forward };
        let base = if reversed { relative.first() } else { relative.last() }.map_or(0, |(_, year)| *year);
        let years = relative.into_iter().map(|(offset, year)| (offset, newest.saturating_add(year).saturating_sub(base))).collect();
        let mut turns = Turns { years, folds: Vec::new() };
        if let Rule::Named(_) = clock.rule
            && !reversed
        {
            for (offset, ns, yearless) in self.steps {
                let ns = if yearless { turns.year(offset).and_then(|year| dated(ns, year)) } else { Some(ns) };
                if let Some(ns) = ns
                    && let Some((_, Some(_))) = clock.rule.readings(ns)
                {
                    turns.folds.push((offset, ns));
                }
            }
        }
        turns
    }

    /// The same for a source that was last written at `written` (UTC nanoseconds, such as a file's mtime): the newest entry is the
    /// latest that is not more than a day after it.
    pub fn finish_before(self, clock: &Clock, written: i64) -> Turns {
        let mut year = super::year(written) + 1;
        let newest = if self.reversed() { self.first } else { self.last };
        if let Some(newest) = newest.filter(|raw| raw.zone == Zone::Yearless) {
            let limit = written.saturating_add(DAY);
            let fits = |year: i32| {
                let utc = dated(newest.ns, year).and_then(|ns| clock.rule.readings(ns)).map(|(utc, _)| utc);
                utc.is_some_and(|utc| utc <= limit)
            };
            // 29 February needs up to eight years.
            let oldest = year - 9;
            while year > oldest && !fits(year) {
                year -= 1;
            }
        }
        self.finish(clock, year)
    }
}

fn turn(years: &mut Vec<(u64, i32)>, offset: u64, by: i32) {
    if by != 0
        && let Some((_, year)) = years.last()
    {
        let year = year + by;
        years.push((offset, year));
    }
}

/// How many years lie between two neighbouring stamps of the year 1972: 1 over New Year, else 0; −1 where a small step back of the
/// clock crosses New Year again. A gap of eleven months or more cannot be told from a small step.
fn forward_turn(before: i64, after: i64) -> i32 {
    let (month_before, month_after) = (civil(before).month(), civil(after).month());
    if month_before > month_after + 1 {
        return 1;
    }
    if month_before == 1 && month_after == 12 && before.saturating_add(YEAR).saturating_sub(after) < DAY {
        return -1;
    }
    0
}
