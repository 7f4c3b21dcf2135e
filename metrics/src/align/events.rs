//! Where did an elapsed clock begin, if a log tells of the events that a counter counted? A count of n at elapsed t says that the n-th event
//! had happened by then and the next had not. Every sample bounds the beginning; the share of samples that hold is the check that log and
//! counter count the same.
//!
//! Events before the log's first (a request that tested whether the server is ready) shift the count: the base is searched. That a line and
//! its count are of one instant is taken for granted; the share tells where they are not.

use super::agree::{Agreement, Bound, agree};
use super::seconds;
use super::tally::Count;
use crate::model::Anchor;

/// Where the clock began, or, of a capture with a wall clock, how far the log's clock is ahead of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    pub anchor: Anchor,
    /// The count at the log's beginning.
    pub base: i64,
    /// Other bases at which the samples hold as well: the interval covers them.
    pub rivals: Vec<i64>,
    /// What the samples say at the base.
    pub agreement: Agreement,
}

/// Why events do not tell.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoFit {
    #[error("{events} events and {counts} different counts are too few to tell")]
    Few { events: usize, counts: usize },
    #[error("{holds} of {of} samples hold at best: the log and the counter do not count the same")]
    Disagree { holds: u64, of: u64 },
    /// Events in a rhythm, or few samples.
    #[error("the samples hold at {bases} or more different counts at the log's beginning")]
    Ambiguous { bases: usize },
    #[error("{bases} counts at the log's beginning are possible, too many to try; where the clock began must be known better")]
    Wide { bases: usize },
    #[error("the samples leave a side open")]
    Open,
}

/// Share of samples that must hold.
const ENOUGH: f64 = 0.9;
/// Fewer different counts fit anywhere.
const FEW: usize = 5;
/// Bounds that are made while bases are searched, at most.
const WORK: usize = 1 << 22;
/// Bases that are looked at with all samples, and most of which the samples may hold.
const BEST: usize = 64;
const RIVALS: usize = 8;
/// So few counts tell bases apart.
const THIN: usize = 16;

/// Finds base and beginning. `events` are the stamps of the log's events, each an interval in nanoseconds since the epoch, in any order.
/// `about`: where the clock began as a weaker rule says, if one does, so that far bases need no look.
pub fn fit(events: &[(i64, i64)], counts: &[Count], about: Option<Bound>) -> Result<Fit, NoFit> {
    // of n events in any order the k-th was not before the k-th smallest lower end, nor after the k-th smallest upper end
    let mut lows: Vec<i64> = events.iter().map(|e| e.0).collect();
    let mut highs: Vec<i64> = events.iter().map(|e| e.1).collect();
    lows.sort_unstable();
    highs.sort_unstable();
    let log = Log { lows, highs };
    let mut different: Vec<i64> = counts.iter().map(|c| c.low).collect();
    different.dedup();
    if different.len() < FEW || events.len() < FEW {
        return Err(NoFit::Few { events: events.len(), counts: different.len() });
    }
    let (first, last) = bases(&log, counts, about);
    let span = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX).saturating_add(1);
    if span > WORK / THIN {
        return Err(NoFit::Wide { bases: span });
    }
    let sample = thin(counts, (WORK / span).clamp(THIN, 512));
    let mut scores: Vec<(u64, u64, i64)> = Vec::new();
    for base in first..=last {
        if let Some(found) = log.agree(&sample, base) {
            scores.push((found.holds, found.of, base));
        }
    }
    // the most that hold; of equals, the fewest that fail
    scores.sort_by_key(|&(holds, of, base)| (std::cmp::Reverse(holds), of - holds, base));
    let mut found: Vec<(i64, Agreement)> =
        scores.iter().take(BEST).filter_map(|&(_, _, base)| Some((base, log.agree(counts, base)?))).collect();
    found.sort_by_key(|(base, a)| (std::cmp::Reverse(a.holds), a.of - a.holds, *base));
    let Some((base, agreement)) = found.first().cloned() else { return Err(NoFit::Disagree { holds: 0, of: counts.len() as u64 }) };
    let of = agreement.of.max(counts.len() as u64 / 2);
    if (agreement.holds as f64) < ENOUGH * of as f64 {
        return Err(NoFit::Disagree { holds: agreement.holds, of });
    }
    if !agreement.is_bounded() {
        return Err(NoFit::Open);
    }
    let floor = agreement.holds.saturating_sub(agreement.of - agreement.holds);
    let rivals: Vec<&(i64, Agreement)> = found.iter().skip(1).filter(|(_, a)| a.holds >= floor && a.is_bounded()).collect();
    if rivals.len() >= RIVALS {
        return Err(NoFit::Ambiguous { bases: rivals.len() + 1 });
    }
    let low = rivals.iter().map(|(_, a)| a.hull.low).fold(agreement.hull.low, i64::min);
    let high = rivals.iter().map(|(_, a)| a.hull.high).fold(agreement.hull.high, i64::max);
    let how = format!(
        "event counts: {} of {} samples hold at base {base}, {} wide",
        agreement.holds,
        agreement.of,
        seconds(high.saturating_sub(low))
    );
    let anchor = Anchor { low, high, how, holds: Some((agreement.holds, agreement.of)) };
    let rivals = rivals.iter().map(|(base, _)| *base).collect();
    Ok(Fit { anchor, base, rivals, agreement })
}

/// The stamps of events, in order.
struct Log {
    lows: Vec<i64>,
    highs: Vec<i64>,
}

impl Log {
    /// What a count says if `base` events were counted before the log's first. `None` if the log does not reach so far: more events than it has,
    /// or fewer than were before it.
    fn bound(&self, count: &Count, base: i64) -> Option<Bound> {
        let happened = count.low.checked_sub(base)?;
        let not_yet = usize::try_from(count.high.checked_sub(base)?).ok()?;
        let low = match usize::try_from(happened).ok()?.checked_sub(1) {
            None => i64::MIN,
            Some(i) => self.lows.get(i)?.saturating_sub(count.to),
        };
        let high = self.highs.get(not_yet).map_or(i64::MAX, |h| h.saturating_sub(count.from));
        Some(Bound { low, high })
    }

    fn agree(&self, counts: &[Count], base: i64) -> Option<Agreement> {
        agree(counts.iter().filter_map(|c| self.bound(c, base)))
    }
}

/// The bases at which log and counts overlap at all; with an idea where the clock began, those near it.
fn bases(log: &Log, counts: &[Count], about: Option<Bound>) -> (i64, i64) {
    let least = counts.iter().map(|c| c.low).min().unwrap_or(0);
    let most = counts.iter().map(|c| c.high).max().unwrap_or(0);
    let events = i64::try_from(log.lows.len()).unwrap_or(i64::MAX);
    let (mut first, mut last) = (least.saturating_sub(events), most);
    if let (Some(about), Some(count)) = (about, counts.get(counts.len() / 2)) {
        let by = |time: i64| i64::try_from(log.lows.partition_point(|&l| l <= time)).unwrap_or(i64::MAX);
        let fewest = by(about.low.saturating_add(count.from));
        let most = by(about.high.saturating_add(count.to));
        first = first.max(count.low.saturating_sub(most).saturating_sub(FEW as i64));
        last = last.min(count.high.saturating_sub(fewest).saturating_add(FEW as i64));
    }
    (first, last.max(first))
}

/// Some counts, evenly, of those at which the count changes.
fn thin(counts: &[Count], keep: usize) -> Vec<Count> {
    let mut some: Vec<Count> = counts.to_vec();
    some.dedup_by_key(|c| c.low);
    let each = some.len().div_ceil(keep.max(1)).max(1);
    some.into_iter().step_by(each).collect()
}

#[cfg(test)]
mod tests;
