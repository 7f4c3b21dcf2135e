//! Clocks of captures: where an elapsed clock began, how far two scrapers are apart, and how well that is known.
//!
//! What each way gives is an [`crate::model::Anchor`]. [`choose`] takes the best of them and says what the others think of it.
//! No way guesses: it bounds, and says what it took for granted.

pub mod agree;
pub mod choose;
pub mod counters;
pub mod crossings;
pub mod events;
pub mod files;
pub mod pairs;
pub mod reads;
pub mod segments;
pub mod shared;
pub mod tally;
#[cfg(test)]
mod testing;
pub mod uptime;

use crate::model::SECOND;

/// `0.250 s` of nanoseconds, for sentences.
fn seconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let second = SECOND.unsigned_abs();
    format!("{sign}{}.{:03} s", ns / second, ns % second / 1_000_000)
}
