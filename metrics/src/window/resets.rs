//! How sure it is that a process started anew, and starts that no fall shows.
//!
//! A fall of one counter may be a reset, or a number that somebody set back. A process that says when it started (`process_start_time_seconds`,
//! `_created`) shows a start even where the new life has already counted more than the old one.

use serde::Serialize;

use super::scrapes::Scrapes;
use crate::blocks::{Cursor, Fall};
use crate::model::{Capture, Sample};

/// A process started after one instant and by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Restart {
    /// The last scrape of the old life that is known.
    pub after: i64,
    /// The first of the new one.
    pub by: i64,
}

/// Starts of an endpoint's process that its own series of start times show, by time: for [`Scrapes::with_restarts`]. `series` are those of the
/// endpoint.
pub fn told(capture: &Capture, series: &[u32]) -> Vec<Restart> {
    let mut out = Vec::new();
    for &number in series {
        let says = capture.series.get(number as usize).is_some_and(|s| s.name.canonical() == "process_start_time_seconds");
        if says && capture.samples.oddities(number).1 == 0 {
            out.extend(restarts(&capture.samples.all(number)));
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// A series of this name mostly rises.
pub fn rises(name: &str) -> bool {
    ["_total", "_bucket", "_count", "_sum"].iter().any(|ending| name.ends_with(ending))
}

/// Whether counters of one endpoint show a start of its process: more than half of those that `stood` above zero `fell`. One that falls alone is no
/// evidence against the others.
pub fn together(fell: u64, stood: u64) -> bool {
    fell > 1 && fell.saturating_mul(2) > stood
}

/// Starts of an endpoint's process that its counters show together: between two samples more than half of those that stood above zero fell. A
/// counter that rose meanwhile was reset too, and counted more than it had lost. `series` are those of the endpoint; only what mostly rises is
/// looked at.
pub fn shown(capture: &Capture, series: &[u32]) -> Vec<Restart> {
    let store = &capture.samples;
    let counts = |number: &&u32| {
        let name = capture.series.get(**number as usize).map_or("", |s| s.name.canonical());
        rises(name) && store.oddities(**number).1 == 0 && store.falls(**number).is_some()
    };
    let counters: Vec<u32> = series.iter().filter(counts).copied().collect();
    let mut gaps: std::collections::BTreeMap<(i64, i64), u64> = std::collections::BTreeMap::new();
    for &number in &counters {
        for fall in store.falls(number).unwrap_or(&[]) {
            *gaps.entry((fall.before.at, fall.after.at)).or_default() += 1;
        }
    }
    let mut cursor = store.cursor();
    let mut out = Vec::new();
    for ((after, by), fell) in gaps {
        let stood = |number: &&u32| {
            let ordinal = cursor.lower(**number, after);
            cursor.get(**number, ordinal).is_some_and(|s| s.at == after && s.value > 0.0)
        };
        let stood = counters.iter().filter(stood).count() as u64;
        if together(fell, stood) {
            out.push(Restart { after, by });
        }
    }
    out
}

/// Starts that a series of start times shows, by time: where its value grows. What the values say of the time of day is not needed. None where
/// it ever falls: several processes answer in turn then, and which of them a counter is of is unknown.
pub fn restarts(starts: &[Sample]) -> Vec<Restart> {
    let mut out = Vec::new();
    let mut last: Option<Sample> = None;
    for &sample in starts.iter().filter(|s| !s.value.is_nan()) {
        if let Some(last) = last
            && last.value != sample.value
            && last.at < sample.at
        {
            if sample.value < last.value {
                return Vec::new();
            }
            out.push(Restart { after: last.at, by: sample.at });
        }
        last = Some(sample);
    }
    out
}

/// What speaks for a reset beside the fall itself, the strongest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "evidence", rename_all = "snake_case")]
pub enum Evidence {
    /// The process says that it started between the two samples.
    Started(Restart),
    /// Of the endpoint's other counters that stood above zero, most fell between the same scrapes.
    Together { fell: u64, of: u64 },
    /// A scrape between the two failed.
    ScrapeFailed { at: i64 },
    /// Nothing: not corroborated. So many other counters stood above zero and fell or did not.
    Alone { fell: u64, of: u64 },
}

/// What speaks for the fall of a counter; `others` are the other counters of its endpoint, and the restarts of `scrapes` are those that start
/// times told: those of [`shown`] are the others' falls again.
pub fn evidence(cursor: &mut Cursor<'_>, fall: &Fall, others: &[u32], scrapes: &Scrapes) -> Evidence {
    let (before, after) = (fall.before.at, fall.after.at);
    let started = scrapes.restarts().iter().find(|r| r.after < after && r.by > before);
    if let Some(&restart) = started {
        return Evidence::Started(restart);
    }
    let (mut fell, mut of) = (0, 0);
    for &series in others {
        let ordinal = cursor.lower(series, before);
        let there = cursor.get(series, ordinal).is_some_and(|s| s.at == before && s.value > 0.0);
        if !there {
            continue;
        }
        of += 1;
        let falls = cursor.store().falls(series).unwrap_or(&[]);
        fell += u64::from(falls.get(falls.partition_point(|f| f.after.at <= before)).is_some_and(|f| f.before.at < after));
    }
    if fell * 2 > of {
        return Evidence::Together { fell, of };
    }
    match scrapes.failed().iter().find(|at| (before..after).contains(*at)) {
        Some(&at) => Evidence::ScrapeFailed { at },
        None => Evidence::Alone { fell, of },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::model::{Clock, Labels, Precision, StampOf};
    use crate::window::{Window, counter};

    /// One endpoint, scraped four times.
    fn capture(counters: &[(&str, [f64; 4])]) -> Capture {
        let mut builder = Builder::new("test", Clock::Wall, StampOf::Request);
        let endpoint = builder.endpoint("e");
        for (name, values) in counters {
            let id = builder.series(endpoint, name, &Labels::default(), Precision::F64);
            values.iter().zip(0..).for_each(|(value, at)| builder.push(id, at * 10, *value));
        }
        builder.finish()
    }

    #[test]
    fn a_counter_that_rose_while_most_fell_was_reset_too() {
        let rows = [("a_total", [100.0, 110.0, 3.0, 9.0]), ("b_total", [200.0, 210.0, 2.0, 8.0]), ("c_total", [0.0, 8.0, 50.0, 60.0])];
        let capture = capture(&rows);
        let restarts = shown(&capture, &[0, 1, 2]);
        assert_eq!(restarts, [Restart { after: 10, by: 20 }]);
        let scrapes = Scrapes::new(vec![0, 10, 20, 30]).with_restarts(restarts);
        let window = Window::new(0, 30).unwrap();
        let answer = counter::of_store(&mut capture.samples.cursor(), 2, window, Precision::F64, &scrapes);
        let delta = answer.delta().unwrap();
        // 0 to 8 and 50 to 60; the 50 were counted by the new life before its first scrape.
        assert_eq!((delta.inner.value, delta.restart_base.value, delta.outer), (18.0, 50.0, None));
    }

    #[test]
    fn one_counter_that_falls_alone_says_nothing_of_the_others() {
        let rows = [("a_total", [100.0, 110.0, 3.0, 9.0]), ("b_total", [0.0, 0.0, 5.0, 8.0]), ("gauge", [5.0, 4.0, 3.0, 2.0])];
        assert!(shown(&capture(&rows), &[0, 1, 2]).is_empty());
    }

    #[test]
    fn one_that_falls_alone_shows_nothing() {
        assert!(!together(1, 1) && !together(0, 0));
        assert!(together(2, 3) && !together(2, 4));
        assert!(together(u64::MAX, 7), "numbers of a hostile capture do not overflow");
    }
}
