//! Whether endpoints were scraped over a window, where they were not, and what is known of why.
//!
//! A capture shows only what was kept: a gap is longer than twice an endpoint's median interval, and its cause is graded by what the scraper's
//! log, the other endpoints and the counters on both sides say. No line says why a scrape with an HTTP error left nothing.

mod gaps;
mod scrapes;

pub use scrapes::{Appearance, Phantom, appearance};

use crate::model::{Capture, EndpointId, Outcome, SeriesId};
use gaps::Side;

/// A scrape that failed, on the capture's clock: it lies in `[low, high]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub endpoint: String,
    pub low: i64,
    pub high: i64,
}

/// What coverage is asked of, on the capture's clock.
#[derive(Clone, Debug, Default)]
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
    /// Counters of the endpoint that are smaller after it than before, of how many that stand on both sides.
    pub fell: (u64, u64),
}

/// What is known of a gap's cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The scraper's log tells failed scrapes in it.
    ServerDown,
    /// Every endpoint that is scraped often enough to show it has the gap: the scraper itself was late.
    ScraperLate,
    /// Counters fell across it.
    Restart,
    /// It begins with the scraper's stop.
    Teardown,
    /// Before the capture's first scrape, or after its last.
    Outside,
    /// The endpoint was never scraped.
    Never,
    /// Nothing says: an HTTP error, a server that hangs, a scrape whose body did not parse.
    Unknown,
}

impl Cause {
    /// For output.
    pub fn word(self) -> &'static str {
        match self {
            Cause::ServerDown => "server down",
            Cause::ScraperLate => "scraper late",
            Cause::Restart => "restart",
            Cause::Teardown => "teardown",
            Cause::Outside => "outside the capture",
            Cause::Never => "never scraped",
            Cause::Unknown => "unknown",
        }
    }
}

/// Coverage of every endpoint that the capture has or that is expected: those of the capture first, in its order.
pub fn of_endpoints(capture: &Capture, ask: &Ask) -> Vec<Coverage> {
    let sides = sides(capture);
    let mut out: Vec<Coverage> = (0..sides.len()).filter_map(|i| gaps::coverage(capture, ask, &sides, i)).collect();
    for name in &ask.expected {
        if out.iter().all(|c| c.endpoint != *name) {
            out.push(never(name, ask));
        }
    }
    out
}

/// Coverage of one series: where its endpoint was scraped and it was not there counts as a gap. `None` for a series that is not there.
pub fn of_series(capture: &Capture, series: SeriesId, ask: &Ask) -> Option<Coverage> {
    let endpoint = capture.get(series)?.endpoint.0 as usize;
    let mut sides = sides(capture);
    let side = sides.get_mut(endpoint)?;
    side.times = capture.samples.times(std::iter::once(series.0));
    side.phantoms.clear();
    gaps::coverage(capture, ask, &sides, endpoint)
}

/// Scrapes of each endpoint.
fn sides(capture: &Capture) -> Vec<Side> {
    let mut sides: Vec<Side> = scrapes::of(capture).into_iter().map(Side::new).collect();
    for (side, endpoint) in sides.iter_mut().zip(&capture.endpoints) {
        // a capture that keeps its scrapes says more than its samples
        if !endpoint.scrapes.is_empty() {
            side.times = endpoint.scrapes.iter().filter(|s| s.outcome == Outcome::Read).map(|s| s.at).collect();
            side.times.dedup();
            side.failed = endpoint.scrapes.iter().filter(|s| s.outcome != Outcome::Read).map(|s| s.at).collect();
            side.measure();
        }
    }
    sides
}

fn never(name: &str, ask: &Ask) -> Coverage {
    let failures = gaps::Told::of(name, &[], ask).around(ask.stop);
    let (from, to) = ask.window;
    let gap = Gap { from, to, cause: Cause::Never, failures: failures.0 + failures.1, fell: (0, 0) };
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
    }
}

#[cfg(test)]
mod tests;
