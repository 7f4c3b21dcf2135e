//! Clocks that drift, or that were set: which offset fits which part of the time?

use super::agree::{Bound, agree};
use super::counters::{BATCH, ENOUGH};
use super::crossings::Crossing;

/// The offset in a part of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Of the first capture's clock.
    pub from: i64,
    pub to: i64,
    pub low: i64,
    pub high: i64,
    pub holds: u64,
    pub of: u64,
}

/// The part of the time that a bad clock gains or loses in it.
const DRIFT: i64 = 100;

/// Parts of the time, each with an offset of its own that nearly all of its crossings agree on; as few as do, up to 64. Empty if none do.
pub fn segments(mut crossings: Vec<Crossing>) -> Vec<Segment> {
    crossings.sort_by_key(|c| c.at);
    for parts in [2usize, 4, 8, 16, 32, 64] {
        let each = crossings.len().div_ceil(parts).max(1);
        if each < BATCH {
            break;
        }
        let found: Option<Vec<Segment>> = crossings.chunks(each).map(segment).collect();
        if let Some(found) = found {
            let odd = found.windows(2).filter(|w| matches!(w, [one, next] if !drifts(one, next))).count();
            return if odd <= 1 { found } else { Vec::new() };
        }
    }
    Vec::new()
}

/// From one part of the time to the next the offset changes by no more than clocks drift, and not by what two processes of different speed seem
/// to. A clock that was set shows once.
fn drifts(one: &Segment, next: &Segment) -> bool {
    let between = next.low.saturating_sub(one.high).max(one.low.saturating_sub(next.high));
    between <= next.to.saturating_sub(one.from) / DRIFT
}

fn segment(part: &[Crossing]) -> Option<Segment> {
    let found = agree(part.iter().map(|c| c.offset))?;
    let (first, last) = (part.first()?, part.last()?);
    let Bound { low, high } = found.hull;
    (found.share() >= ENOUGH && found.is_bounded()).then_some(Segment {
        from: first.at,
        to: last.at,
        low,
        high,
        holds: found.holds,
        of: found.of,
    })
}
