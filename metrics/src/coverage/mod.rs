//! Whether endpoints were scraped over a window, where they were not, and what is known of why.
//!
//! A capture shows only what was kept: a gap is longer than twice an endpoint's median interval, and its cause is graded by what the scraper's
//! log, the other endpoints and the counters on both sides say. No line says why a scrape with an HTTP error left nothing.

mod gaps;
mod scrapes;

pub use scrapes::Phantom;

use crate::model::{Capture, EndpointId, Outcome, Sample, SeriesId};
use gaps::Side;

/// A scrape that failed, on the capture's clock: it lies in `[low, high]`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Failure {
    pub endpoint: String,
    pub low: i64,
    pub high: i64,
}

/// What coverage is asked of, on the capture's clock.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Ask {
    /// First and last instant.
    pub window: (i64, i64),
    /// Names of the endpoints that should be there; empty if nothing says.
    pub expected: Vec<String>,
    /// What the scraper's log says.
    pub failures: Vec<Failure>,
    /// When the scraper was told to stop: it lies in this interval. Servers are torn down then too.
    pub stop: Option<(i64, i64)>,
}

/// How an endpoint, or one series of it, was scraped.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    pub endpoint: String,
    /// Its place in the capture; none if it is expected and nothing of it was kept.
    pub id: Option<EndpointId>,
    /// Whether a configuration names it; `None` if none was given.
    pub expected: Option<bool>,
    /// Scrapes in the window, phantoms not among them.
    pub scrapes: u64,
    /// Scrapes anywhere that share no series with the others: error bodies that were read as samples.
    pub phantoms: Vec<Phantom>,
    /// Least, median and greatest interval between scrapes anywhere in the capture; `None` with less than two.
    pub interval: Option<Interval>,
    /// Share of the window outside gaps, 0 to 1.
    pub fraction: f64,
    /// Gaps that touch the window, by time.
    pub gaps: Vec<Gap>,
    /// Failed scrapes that the log tells: before the stop, and from it on.
    pub failures: (u64, u64),
    /// Failed scrapes in the window that the capture itself keeps, also those between two good ones that make no gap.
    pub failed: u64,
}

/// Intervals between scrapes, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub least: i64,
    pub median: i64,
    pub most: i64,
}

/// A time without scrapes. Its ends are scrapes, or those of the window where no scrape is beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    pub from: i64,
    pub to: i64,
    pub cause: Cause,
    /// Failed scrapes that the log tells in it.
    pub failures: u64,
    /// The first and the last moment at which they can have been: of the rest of the gap nothing says how the server was.
    pub failed: Option<(i64, i64)>,
    /// Counters of the endpoint that are smaller after it than before, of how many that stand on both sides.
    pub fell: (u64, u64),
}

/// What is known of a gap's cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The scraper, or its log, tells failed scrapes in it: the server was down when they were made, as far as anybody looked.
    ServerDown,
    /// Every endpoint that is scraped often enough to show it has the gap: the scraper itself was late.
    ScraperLate,
    /// Counters fell across it.
    Restart,
    /// It begins with the scraper's stop.
    Teardown,
    /// Before the capture's first scrape, or after its last.
    Outside,
    /// Of a series: its endpoint was scraped in the gap, and the series was not there.
    Absent,
    /// The endpoint was never scraped.
    Never,
    /// Nothing says: an HTTP error, a server that hangs, a scrape whose body did not parse.
    Unknown,
}

impl Cause {
    /// For output.
    pub fn word(self) -> &'static str {
        match self {
            Cause::ServerDown => "scrapes failed",
            Cause::ScraperLate => "scraper late",
            Cause::Restart => "restart",
            Cause::Teardown => "teardown",
            Cause::Outside => "outside the capture",
            Cause::Absent => "series absent",
            Cause::Never => "never scraped",
            Cause::Unknown => "unknown",
        }
    }
}

/// Scrapes of a capture, found once for many questions.
#[derive(Debug)]
pub struct Scraped<'c> {
    capture: &'c Capture,
    sides: Vec<Side>,
}

impl<'c> Scraped<'c> {
    /// Finds the scrapes of every endpoint.
    pub fn of(capture: &'c Capture) -> Scraped<'c> {
        let mut sides: Vec<Side> = scrapes::of(capture).into_iter().map(Side::new).collect();
        for (i, (side, endpoint)) in sides.iter_mut().zip(&capture.endpoints).enumerate() {
            // An endpoint without a name is all endpoints: that their scrapes share no series is no oddity.
            if endpoint.name.is_empty() && endpoint.url.is_none() && endpoint.scrapes.is_empty() {
                let own = capture.series.iter().zip(0u32..).filter(|(s, _)| s.endpoint.0 as usize == i).map(|(_, number)| number);
                side.times = capture.samples.times(own);
                side.phantoms.clear();
                side.measure();
            }
            // a capture that keeps its scrapes says more than its samples
            if !endpoint.scrapes.is_empty() {
                side.times = endpoint.scrapes.iter().filter(|s| s.outcome == Outcome::Read).map(|s| s.at).collect();
                side.times.dedup();
                side.failed = endpoint.scrapes.iter().filter(|s| s.outcome != Outcome::Read).map(|s| s.at).collect();
                side.measure();
            }
        }
        Scraped { capture, sides }
    }

    /// Coverage of every endpoint that the capture has or that is expected: those of the capture first, in its order.
    pub fn endpoints(&self, ask: &Ask) -> Vec<Coverage> {
        let has = self.sides.iter().enumerate();
        let mut out: Vec<Coverage> = has.filter_map(|(i, side)| gaps::coverage(self.capture, ask, &self.sides, i, side)).collect();
        for name in &ask.expected {
            if out.iter().all(|c| c.endpoint != *name) {
                out.push(never(name, ask));
            }
        }
        out
    }

    /// Coverage of one series: where its endpoint was scraped and it was not there counts as a gap, and its endpoint's intervals say how long
    /// one is. `None` for a series that is not there.
    pub fn series(&self, series: SeriesId, ask: &Ask) -> Option<Coverage> {
        let place = self.capture.get(series)?.endpoint.0 as usize;
        let side = self.sides.get(place)?.with_times(self.capture.samples.times(std::iter::once(series.0)));
        gaps::coverage(self.capture, ask, &self.sides, place, &side)
    }

    /// When a series was first there. `None` for a series without samples.
    pub fn appearance(&self, series: SeriesId) -> Option<Appearance> {
        let side = self.sides.get(self.capture.get(series)?.endpoint.0 as usize)?;
        let first = self.capture.samples.cursor().get(series.0, 0)?;
        let before = side.times.partition_point(|t| *t < first.at);
        Some(Appearance { absent_at: before.checked_sub(1).and_then(|i| side.times.get(i)).copied(), first })
    }
}

/// How a series came to be there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Appearance {
    /// The last scrape of its endpoint before `first`, in which it was not; `None` if there is none.
    pub absent_at: Option<i64>,
    pub first: Sample,
}

/// Coverage of every endpoint, for one question.
pub fn of_endpoints(capture: &Capture, ask: &Ask) -> Vec<Coverage> {
    Scraped::of(capture).endpoints(ask)
}

fn never(name: &str, ask: &Ask) -> Coverage {
    let failures = gaps::Told::of(name, &[], ask).around(ask.stop);
    let (from, to) = ask.window;
    let gap = Gap { from, to, cause: Cause::Never, failures: failures.0 + failures.1, failed: None, fell: (0, 0) };
    Coverage {
        endpoint: name.to_string(),
        id: None,
        expected: Some(true),
        scrapes: 0,
        phantoms: Vec::new(),
        interval: None,
        fraction: 0.0,
        gaps: vec![gap],
        failures,
        failed: 0,
    }
}

#[cfg(test)]
mod tests;
