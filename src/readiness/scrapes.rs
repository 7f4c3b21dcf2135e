//! What scrapes of `/metrics` say of a process: did it answer, since when does it run, did its counters fall, does it hold KV.

use std::collections::{BTreeMap, HashMap};

use corr_metrics::model::{Endpoint, EndpointId, Outcome, StampOf};
use corr_metrics::window::resets::Restart;
use corr_parsers::stamp::Stamp;
use corr_readiness::Cite;
use corr_readiness::rows::{KV_IN_USE, What};

use crate::metrics::Captured;
use crate::metrics::around::Around;
use crate::run::Run;

/// A scrape of one endpoint.
#[derive(Clone, Debug)]
pub struct Scraped {
    pub cite: Cite,
    pub from: Stamp,
    pub until: Stamp,
    pub what: What,
}

/// What a scraper's log says of failures, by endpoint: when each was on the capture's clock, from and to.
#[derive(Debug, Default)]
pub struct Logged(HashMap<String, Vec<(i64, i64)>>);

impl Logged {
    /// Reads the log beside a capture, if an endpoint of it needs that: one whose own failures the scraper kept does not.
    pub fn of(run: &Run, captured: &Captured<'_>) -> Logged {
        let mut by_endpoint: HashMap<String, Vec<(i64, i64)>> = HashMap::new();
        let capture = captured.capture();
        if let Some(window) = captured.extent()
            && capture.endpoints.iter().any(|endpoint| endpoint.scrapes.is_empty())
        {
            for failure in Around::of(run, captured).ask(capture, window).failures {
                by_endpoint.entry(failure.endpoint).or_default().push((failure.low, failure.high));
            }
        }
        Logged(by_endpoint)
    }
}

/// All scrapes of an endpoint, by time. `source` is the capture's number in citations, whose offset is the time on the capture's own clock
/// and whose length is the endpoint's number. Empty where the capture's clock is not known in UTC.
pub fn of_endpoint(captured: &Captured<'_>, logged: &Logged, id: EndpointId, source: u32) -> Vec<Scraped> {
    let capture = captured.capture();
    let (Some((offset, error)), Some(endpoint)) = (captured.dial().to_utc(), capture.endpoint(id)) else { return Vec::new() };
    let seen = Seen::of(captured, id);
    let attempts = attempts(captured, logged, endpoint, id);
    let mut restarts = Resets::new(captured.scrapes(id).restarts());
    let mut rows = Vec::with_capacity(attempts.len());
    for (at, attempt) in attempts {
        let took = attempt.took.max(0);
        let (from, until) = match capture.stamp_of {
            StampOf::Body => (at.saturating_sub(took), at),
            _ => (at, at.saturating_add(took)),
        };
        let stamp = |ns: i64| Stamp::new(ns.saturating_add(offset).saturating_sub(error), error.saturating_mul(2).max(1_000));
        let what = What::Scrape {
            up: attempt.up,
            process_start: seen.started.get(&at).copied(),
            reset: attempt.up && restarts.at(at),
            kv_in_use: seen.kv.get(&at).copied(),
        };
        let cite = Cite { source, offset: u64::try_from(at).unwrap_or(0), len: id.0 };
        rows.push(Scraped { cite, from: stamp(from), until: stamp(until), what });
    }
    rows
}

/// At which scrapes a process is another one than before.
struct Resets {
    /// The last samples of old lives, by time: the next scrape that answered is of a new one, whatever counters it has yet.
    after: Vec<i64>,
    next: usize,
}

impl Resets {
    /// Counters of one restart fall at different scrapes, as each comes back when it first counts: gaps that have a moment in common are one.
    fn new(restarts: &[Restart]) -> Resets {
        let mut gaps: Vec<(i64, i64)> = restarts.iter().map(|restart| (restart.by, restart.after)).collect();
        gaps.sort_unstable();
        let mut lives: Vec<(i64, i64)> = Vec::new();
        for (by, after) in gaps {
            match lives.last_mut() {
                Some((until, from)) if after < *until => *from = after.max(*from),
                _ => lives.push((by, after)),
            }
        }
        Resets { after: lives.into_iter().map(|(_, after)| after).collect(), next: 0 }
    }

    /// Asked of each scrape that answered, by time.
    fn at(&mut self, at: i64) -> bool {
        let mut found = false;
        while self.after.get(self.next).is_some_and(|after| *after < at) {
            self.next += 1;
            found = true;
        }
        found
    }
}

struct Attempt {
    up: bool,
    took: i64,
}

/// Attempts by time. One that ran into a timeout is none: a busy server answers late.
fn attempts(captured: &Captured<'_>, logged: &Logged, endpoint: &Endpoint, id: EndpointId) -> BTreeMap<i64, Attempt> {
    let mut all = BTreeMap::new();
    for scrape in &endpoint.scrapes {
        let up = match &scrape.outcome {
            Outcome::Read => true,
            Outcome::Failed(why) if is_timeout(why) => continue,
            Outcome::Failed(_) => false,
        };
        all.insert(scrape.at, Attempt { up, took: scrape.took.unwrap_or(0) });
    }
    for at in captured.scrapes(id).times() {
        all.entry(*at).or_insert(Attempt { up: true, took: 0 });
    }
    // A scraper that keeps no failures logs them.
    if endpoint.scrapes.is_empty() {
        for &(low, high) in logged.0.get(&endpoint.name).into_iter().flatten() {
            all.entry(low).or_insert(Attempt { up: false, took: high.saturating_sub(low) });
        }
    }
    all
}

fn is_timeout(why: &str) -> bool {
    let lower = why.to_ascii_lowercase();
    lower.contains("timeout") || lower.contains("timed out")
}

/// What the samples of each scrape say, by its time.
#[derive(Default)]
struct Seen {
    /// UTC nanoseconds.
    started: BTreeMap<i64, i64>,
    kv: BTreeMap<i64, bool>,
}

impl Seen {
    fn of(captured: &Captured<'_>, id: EndpointId) -> Seen {
        let capture = captured.capture();
        let mut seen = Seen::default();
        for &number in captured.series(id) {
            let Some(series) = capture.series.get(number as usize) else { continue };
            let name = series.name.canonical();
            if name == "process_start_time_seconds" {
                for sample in capture.samples.all(number) {
                    // Whole milliseconds: a float holds no more that is sure.
                    let millis = sample.value * 1e3;
                    if millis.is_finite() && (9e11..9e15).contains(&millis) {
                        seen.started.insert(sample.at, (millis.round() as i64).saturating_mul(1_000_000));
                    }
                }
            } else if KV_IN_USE.contains(&name) {
                for sample in capture.samples.all(number) {
                    *seen.kv.entry(sample.at).or_default() |= sample.value > 0.0;
                }
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_no_refusal() {
        assert!(is_timeout("TimeoutError: ") && is_timeout("operation timed out"));
        assert!(!is_timeout("Cannot connect to host 127.0.0.1:31041"));
    }

    #[test]
    fn a_counter_that_comes_back_late_is_of_the_same_restart() {
        let restarts = [(10, 30), (20, 40), (50, 60)].map(|(after, by)| Restart { after, by });
        let found = |scrapes: &[i64]| -> Vec<i64> {
            let mut resets = Resets::new(&restarts);
            scrapes.iter().copied().filter(|at| resets.at(*at)).collect()
        };
        assert_eq!(found(&[0, 10, 20, 30, 40, 50, 60, 70]), [30, 60]);
        // The first that answered has no counter yet: it is of the new life all the same.
        assert_eq!(found(&[0, 10, 20, 25, 30, 40, 50, 55, 60]), [25, 55]);
    }
}
