//! When a sample was taken, in the words of its capture's clock.

use corr_metrics::model::{Anchor, Capture, Clock, SECOND, StampOf};

use crate::render::shown::rfc3339;

/// A clock on which samples of a capture can be told.
#[derive(Clone, Copy, Debug)]
pub enum Dial<'c> {
    /// UTC.
    Wall,
    /// UTC, in stamps that are so many nanoseconds wide.
    Stamped(i64),
    /// Since the capture's start; where that lies is known within an interval.
    Anchored(&'c Anchor),
    /// Since the capture's start, which is unknown.
    Elapsed,
}

impl<'c> Dial<'c> {
    /// The dial of a capture.
    pub fn of(capture: &'c Capture) -> Dial<'c> {
        match (&capture.clock, capture.stamp_of) {
            (Clock::Wall | Clock::AssumedUtc, StampOf::Line { width }) => Dial::Stamped(width),
            (Clock::Wall | Clock::AssumedUtc, _) => Dial::Wall,
            (Clock::Elapsed { anchor: Some(anchor) }, _) => Dial::Anchored(anchor),
            (Clock::Elapsed { anchor: None }, _) => Dial::Elapsed,
        }
    }

    /// Nanoseconds that are added to a sample's time to get UTC, and how far that can be off; `None` where UTC is unknown.
    pub fn to_utc(self) -> Option<(i64, i64)> {
        match self {
            Dial::Wall => Some((0, 0)),
            Dial::Stamped(width) => Some((0, width)),
            Dial::Anchored(anchor) => {
                let half = (anchor.high - anchor.low) / 2;
                Some((anchor.low + half, anchor.high - anchor.low - half))
            }
            Dial::Elapsed => None,
        }
    }

    /// A sample's time for people and JSON: RFC 3339, or `+12.5s` since the capture's start.
    pub fn show(self, at: i64) -> String {
        match self.to_utc() {
            Some((offset, _)) => {
                let at = at.saturating_add(offset);
                // The digits that it has, in threes.
                let width = [SECOND, 1_000_000, 1_000].into_iter().find(|unit| at % unit == 0).unwrap_or(1);
                rfc3339(at, width)
            }
            None => elapsed(at),
        }
    }
}

/// Nanoseconds as `+12.5s`.
fn elapsed(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    let ns = ns.unsigned_abs();
    let fraction = format!("{:09}", ns % 1_000_000_000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}s", ns / 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_on_their_clock() {
        assert_eq!(Dial::Wall.show(1_795_975_214_500_000_000), "2026-11-29T18:00:14.500Z");
        assert_eq!(Dial::Elapsed.show(12_500_000_000), "+12.5s");
        assert_eq!(Dial::Elapsed.show(-3), "-0.000000003s");
        let anchor = Anchor { low: 1_795_975_200_000_000_000, high: 1_795_975_200_004_000_000, how: String::new(), holds: None };
        assert_eq!(Dial::Anchored(&anchor).to_utc(), Some((1_795_975_200_002_000_000, 2_000_000)));
        assert_eq!(Dial::Anchored(&anchor).show(SECOND), "2026-11-29T18:00:01.002Z");
    }
}
