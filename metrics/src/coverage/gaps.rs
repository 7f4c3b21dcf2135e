//! Gaps of one endpoint and their causes.

use super::scrapes::{Phantom, Scrapes};
use super::{Ask, Cause, Coverage, Gap, Interval};
use crate::model::{Capture, EndpointId};

/// What is known of one endpoint's scrapes.
#[derive(Debug)]
pub struct Side {
    /// Times of scrapes that kept samples.
    pub times: Vec<i64>,
    /// Times of failed scrapes that the capture itself keeps.
    pub failed: Vec<i64>,
    pub phantoms: Vec<Phantom>,
    interval: Option<Interval>,
}

impl Side {
    pub fn new(scrapes: Scrapes) -> Side {
        let mut side = Side { times: scrapes.times, failed: Vec::new(), phantoms: scrapes.phantoms, interval: None };
        side.measure();
        side
    }

    /// The same endpoint, as one of its series saw it.
    pub fn with_times(&self, times: Vec<i64>) -> Side {
        Side { times, failed: self.failed.clone(), phantoms: Vec::new(), interval: self.interval }
    }

    /// Finds the intervals anew.
    pub fn measure(&mut self) {
        let mut steps: Vec<i64> = self.times.windows(2).map(|w| w[1].saturating_sub(w[0])).collect();
        steps.sort_unstable();
        self.interval = match (steps.first(), steps.get(steps.len() / 2), steps.last()) {
            (Some(&least), Some(&median), Some(&most)) => Some(Interval { least, median, most }),
            _ => None,
        };
    }

    /// Longer than this between scrapes is a gap.
    fn limit(&self) -> Option<i64> {
        self.interval.map(|i| i.median.saturating_mul(2))
    }

    /// Times from one scrape to the next that are gaps, and those to the window's ends.
    fn gaps(&self, window: (i64, i64)) -> Vec<(i64, i64)> {
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else { return vec![window] };
        if window.1 < first || window.0 > last {
            return vec![window];
        }
        let Some(limit) = self.limit() else {
            // one scrape: nothing says how long it stands for
            return if window.0 < window.1 { vec![window] } else { Vec::new() };
        };
        let mut out = Vec::new();
        if window.0 < first {
            out.push((window.0, first));
        }
        out.extend(self.times.windows(2).map(|w| (w[0], w[1])));
        if window.1 > last {
            out.push((last, window.1));
        }
        out.retain(|(from, to)| to.saturating_sub(*from) > limit);
        out
    }
}

/// Coverage of the endpoint at a place: `side` is what is asked of it, `sides` are those of all endpoints.
pub fn coverage(capture: &Capture, ask: &Ask, sides: &[Side], place: usize, side: &Side) -> Option<Coverage> {
    let endpoint = capture.endpoints.get(place)?;
    let id = EndpointId(u32::try_from(place).ok()?);
    let (from, to) = ask.window;
    let inside = side.times.partition_point(|t| *t <= to).saturating_sub(side.times.partition_point(|t| *t < from));
    let mut missing: i64 = 0;
    let mut ends = side.gaps(ask.window);
    ends.retain(|(a, b)| *b.min(&to) > *a.max(&from));
    let told = Told::of(&endpoint.name, &side.failed, ask);
    let fell = fell(capture, id, &ends);
    let mut gaps = Vec::new();
    for (&(a, b), fell) in ends.iter().zip(fell) {
        missing = missing.saturating_add(b.min(to).saturating_sub(a.max(from)));
        let (failures, failed) = told.within(a, b);
        gaps.push(Gap { from: a, to: b, cause: cause(ask, sides, place, side, (a, b), failures, fell), failures, failed, fell });
    }
    let length = to.saturating_sub(from);
    let tried = side.failed.partition_point(|t| *t <= to).saturating_sub(side.failed.partition_point(|t| *t < from));
    let fraction = if length > 0 { 1.0 - missing.min(length) as f64 / length as f64 } else { f64::from(u8::from(inside > 0)) };
    Some(Coverage {
        endpoint: endpoint.name.clone(),
        id: Some(id),
        expected: (!ask.expected.is_empty()).then(|| ask.expected.contains(&endpoint.name)),
        scrapes: inside as u64,
        phantoms: side.phantoms.clone(),
        interval: side.interval,
        fraction,
        gaps,
        failures: told.around(ask.stop),
        failed: tried as u64,
    })
}

/// Failed scrapes of an endpoint: the earliest and the latest instants at which they can have been.
pub struct Told {
    lows: Vec<i64>,
    highs: Vec<i64>,
}

impl Told {
    /// Those of the log, and those that the capture itself keeps.
    pub fn of(name: &str, own: &[i64], ask: &Ask) -> Told {
        let told: Vec<(i64, i64)> = ask.failures.iter().filter(|f| f.endpoint == name).map(|f| (f.low, f.high)).collect();
        let mut lows: Vec<i64> = told.iter().map(|t| t.0).chain(own.iter().copied()).collect();
        let mut highs: Vec<i64> = told.iter().map(|t| t.1).chain(own.iter().copied()).collect();
        lows.sort_unstable();
        highs.sort_unstable();
        Told { lows, highs }
    }

    /// How many can have been in a time, and the first and the last moment of them in it.
    fn within(&self, from: i64, to: i64) -> (u64, Option<(i64, i64)>) {
        let begun = self.lows.partition_point(|t| *t <= to);
        let over = self.highs.partition_point(|t| *t < from);
        let first = self.lows.get(over).filter(|_| over < begun);
        let last = begun.checked_sub(1).and_then(|at| self.highs.get(at));
        let span = first.zip(last).map(|(first, last)| (from.max(*first), to.min(*last)));
        (begun.saturating_sub(over) as u64, span)
    }

    /// How many were before the stop, and from it on. One of the stop's own second may be either: it is taken for one of the teardown, which
    /// proves less.
    pub fn around(&self, stop: Option<(i64, i64)>) -> (u64, u64) {
        let before = stop.map_or(self.highs.len(), |(_, high)| self.highs.partition_point(|t| *t < high));
        (before as u64, self.highs.len().saturating_sub(before) as u64)
    }
}

fn cause(ask: &Ask, sides: &[Side], place: usize, side: &Side, gap: (i64, i64), failures: u64, fell: (u64, u64)) -> Cause {
    let limit = side.limit().unwrap_or(0);
    let (from, to) = gap;
    if side.times.is_empty() {
        return Cause::Never;
    }
    if let Some(own) = sides.get(place)
        && own.times.get(own.times.partition_point(|t| *t <= from)).is_some_and(|t| *t < to)
    {
        return Cause::Absent;
    }
    // the stop ends the scrapes if none is missing before it
    if ask.stop.is_some_and(|(low, high)| {
        high.saturating_add(limit) >= from && low.saturating_sub(limit) <= from && high < to.saturating_add(limit)
    }) {
        return Cause::Teardown;
    }
    if failures > 0 {
        return Cause::ServerDown;
    }
    let first = sides.iter().filter_map(|s| s.times.first()).min().copied().unwrap_or(from);
    let last = sides.iter().filter_map(|s| s.times.last()).max().copied().unwrap_or(to);
    if to <= first.saturating_add(limit) || from >= last.saturating_sub(limit) {
        return Cause::Outside;
    }
    if fell.0 > 0 {
        return Cause::Restart;
    }
    if late(sides, place, gap) {
        return Cause::ScraperLate;
    }
    Cause::Unknown
}

/// Whether all others that are scraped often enough to show the gap lack scrapes in at least half of it.
fn late(sides: &[Side], place: usize, (from, to): (i64, i64)) -> bool {
    let length = to.saturating_sub(from);
    let mut others = sides.iter().enumerate().filter(|(i, s)| *i != place && s.limit().is_some_and(|l| l < length)).peekable();
    others.peek().is_some()
        && others.all(|(_, other)| {
            let gaps = other.gaps((from, to));
            gaps.iter().any(|(a, b)| to.min(*b).saturating_sub(from.max(*a)).saturating_mul(2) >= length)
        })
}

/// For each gap: counters of the endpoint that are smaller after it than before, of those that stand on both sides. Gaps by time.
fn fell(capture: &Capture, endpoint: EndpointId, gaps: &[(i64, i64)]) -> Vec<(u64, u64)> {
    let mut out = vec![(0, 0); gaps.len()];
    let mut add = |from: i64, to: i64, fell: bool| {
        let start = gaps.partition_point(|g| g.0 < from);
        let within = gaps.iter().skip(start).take_while(|g| g.1 <= to).count();
        for slot in out.iter_mut().skip(start).take(within) {
            if fell {
                slot.0 += 1;
            } else {
                slot.1 += 1;
            }
        }
    };
    for (i, series) in capture.series.iter().enumerate() {
        let counter = ["_total", "_count", "_bucket"].iter().any(|s| series.name.canonical().ends_with(s));
        let Ok(i) = u32::try_from(i) else { break };
        if series.endpoint != endpoint || !counter || series.trouble.collisions > 0 || series.trouble.foreign {
            continue;
        }
        let blocks = capture.samples.blocks(i);
        let (Some(first), Some(last), Some(falls)) = (blocks.first(), blocks.last(), capture.samples.falls(i)) else { continue };
        add(first.first, last.last, false);
        falls.iter().for_each(|f| add(f.before.at, f.after.at, true));
    }
    out
}
