//! When an endpoint was scraped: what tells "not there yet" from "nobody looked", and how far apart scrapes usually are.

use super::resets::Restart;
use crate::model::{Endpoint, Outcome};

/// Scrapes of an endpoint, and the starts of its process that are known from elsewhere than the counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scrapes {
    times: Vec<i64>,
    interval: Option<i64>,
    failed: Vec<i64>,
    restarts: Vec<Restart>,
}

impl Scrapes {
    /// Nobody knows when it was scraped: no first appearance can be told, and no edge of a window is within one scrape.
    pub fn unknown() -> Scrapes {
        Scrapes::default()
    }

    /// From the times of scrapes that succeeded, in any order.
    pub fn new(mut times: Vec<i64>) -> Scrapes {
        times.sort_unstable();
        times.dedup();
        let interval = median_interval(&times);
        Scrapes { times, interval, ..Scrapes::default() }
    }

    /// The same with starts of the process, in any order: counters are split there even if they rise.
    pub fn with_restarts(self, mut restarts: Vec<Restart>) -> Scrapes {
        restarts.retain(|r| r.after < r.by);
        restarts.sort_unstable();
        Scrapes { restarts, ..self }
    }

    /// From what a capture says of an endpoint; `None` if it keeps no scrapes apart from samples.
    pub fn of_endpoint(endpoint: &Endpoint) -> Option<Scrapes> {
        if endpoint.scrapes.is_empty() {
            return None;
        }
        let (read, failed): (Vec<_>, Vec<_>) = endpoint.scrapes.iter().partition(|s| s.outcome == Outcome::Read);
        let mut failed: Vec<i64> = failed.iter().map(|s| s.at).collect();
        failed.sort_unstable();
        Some(Scrapes { failed, ..Scrapes::new(read.iter().map(|s| s.at).collect()) })
    }

    /// Only how far they are apart, in nanoseconds.
    pub fn every(interval: i64) -> Scrapes {
        Scrapes { interval: Some(interval), ..Scrapes::default() }
    }

    /// The times, sorted.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// Times of scrapes that failed, sorted.
    pub fn failed(&self) -> &[i64] {
        &self.failed
    }

    /// Starts of the process, by time.
    pub fn restarts(&self) -> &[Restart] {
        &self.restarts
    }

    /// Median distance of neighbours, in nanoseconds; `None` for fewer than two.
    pub fn interval(&self) -> Option<i64> {
        self.interval
    }

    /// The last scrape before an instant.
    pub fn before(&self, at: i64) -> Option<i64> {
        let i = self.times.partition_point(|&t| t < at);
        self.times.get(i.checked_sub(1)?).copied()
    }
}

/// Median distance of neighbours in sorted times: of an even number the mean of the middle two.
pub fn median_interval(times: &[i64]) -> Option<i64> {
    let mut apart: Vec<i64> = times.iter().zip(times.iter().skip(1)).map(|(a, b)| b.saturating_sub(*a)).collect();
    apart.sort_unstable();
    let upper = *apart.get(apart.len() / 2)?;
    if apart.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *apart.get(apart.len() / 2 - 1)?;
    Some(lower + (upper - lower) / 2)
}
