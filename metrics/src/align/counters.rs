//! How far are the clocks of two scrapers apart? Counters that both scraped passed each level at one instant, which each clock brackets
//! between two scrapes. Every level of every shared counter bounds the offset; where all bounds hold it is proven, if what was served was of the
//! instant: a replica that is behind can move the bracket by as much as it is behind, and mostly shows as levels that do not hold.
//!
//! The work is bounded: the series that grew most come first, each family once before any comes twice, and no more are read than make the
//! bracket smaller.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::agree::{Agreement, Bound, agree};
use super::crossings::{Crossing, Life, crossings, lives};
use super::reads::{Reads, Timing, unfit};
use super::seconds;
use super::segments::{Segment, segments};
use super::shared::{By, Same, endpoints, only_grows, series};
use crate::model::{Anchor, Capture, EndpointId, Precision, SeriesId};

/// The clock of the second capture less that of the first. If the first is an elapsed clock and the second UTC, it is the instant at which the
/// first began.
#[derive(Clone, Debug, PartialEq)]
pub struct Offset {
    /// Over all of the time that both saw.
    pub anchor: Anchor,
    /// Where one offset does not fit all of it: the offset by time. Else empty.
    pub segments: Vec<Segment>,
    /// Endpoints that were found to be the same.
    pub same: Vec<Same>,
    /// What is odd about it, in sentences.
    pub notes: Vec<String>,
}

/// Why counters do not tell.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoOffset {
    #[error("{layout}: {why}")]
    Unfit { layout: &'static str, why: &'static str },
    #[error("no endpoint of one capture is in the other")]
    NoEndpoint,
    #[error("none of {shared} shared counters passed a level in both captures")]
    NoCrossing { shared: usize },
    #[error("{holds} of {of} levels agree at best: not the same process, or clocks that jump")]
    Disagree { holds: u64, of: u64 },
}

/// So many samples are read at most, of both captures together, and so many crossings kept.
const SAMPLES: u64 = 1 << 23;
const CROSSINGS: usize = 1 << 20;
/// Series between two looks at the bracket.
pub(super) const BATCH: usize = 16;
/// A counter with more lives is none.
const LIVES: usize = 32;
/// Share of crossings that must agree on one offset, or clocks drift.
pub(super) const ENOUGH: f64 = 0.98;
/// Share below which endpoints are not the same.
const RELATED: f64 = 0.9;

/// One life of a series in both captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pairing {
    same: usize,
    series: usize,
    lives: (usize, usize),
}

/// A crossing, and whose.
#[derive(Clone, Copy, Debug)]
struct Found {
    pairing: Pairing,
    crossing: Crossing,
}

/// Everything that is asked of two captures.
struct Search<'c> {
    a: &'c Capture,
    b: &'c Capture,
    reads_a: HashMap<EndpointId, Reads>,
    reads_b: HashMap<EndpointId, Reads>,
    samples: u64,
    used: usize,
    found: Vec<Found>,
    ranges: HashMap<Pairing, [(i64, i64); 2]>,
    /// Place of the endpoints among the candidates, of the series among theirs.
    seen: HashSet<(usize, usize)>,
}

/// The offset between two captures, with what is known of the scrapers.
pub fn offset(a: &Capture, b: &Capture, timing_a: &Timing, timing_b: &Timing) -> Result<Offset, NoOffset> {
    for capture in [a, b] {
        if let Some(why) = unfit(capture) {
            return Err(NoOffset::Unfit { layout: capture.layout, why });
        }
    }
    let candidates = endpoints(a, b);
    if candidates.is_empty() {
        return Err(NoOffset::NoEndpoint);
    }
    let shared: Vec<Vec<(SeriesId, SeriesId)>> = candidates.iter().map(|s| counters(a, b, *s)).collect();
    let mut search = Search {
        a,
        b,
        reads_a: candidates.iter().map(|s| (s.a, Reads::of(a, s.a, timing_a))).collect(),
        reads_b: candidates.iter().map(|s| (s.b, Reads::of(b, s.b, timing_b))).collect(),
        samples: 0,
        used: 0,
        found: Vec::new(),
        ranges: HashMap::new(),
        seen: HashSet::new(),
    };
    let mut notes = Vec::new();
    let kept = search.related(&candidates, &shared, &mut notes);
    let total = shared.iter().map(Vec::len).sum();
    if kept.is_empty() {
        return Err(search.refuse(total));
    }
    search.found.retain(|f| kept.contains(&f.pairing.same));
    search.used = search.found.iter().map(|f| (f.pairing.same, f.pairing.series)).collect::<BTreeSet<_>>().len();
    search.read_until_told(&candidates, &shared, &kept);
    let crossings = search.of_one_life();
    let Some(all) = agree(crossings.iter().map(|c| c.offset)) else { return Err(search.refuse(total)) };
    if !all.is_bounded() {
        return Err(NoOffset::NoCrossing { shared: total });
    }
    let segments = if all.share() < ENOUGH { segments(crossings) } else { Vec::new() };
    if segments.is_empty() && all.share() < RELATED {
        return Err(NoOffset::Disagree { holds: all.holds, of: all.of });
    }
    let same: Vec<Same> = kept.iter().filter_map(|&i| candidates.get(i).copied()).collect();
    let anchor = search.anchor(&all, &segments, &same);
    if !segments.is_empty() {
        notes.push(format!(
            "one offset fits {} of {} levels: the clocks drift, or one was set; {} parts of the time have their own",
            all.holds,
            all.of,
            segments.len()
        ));
    } else if all.holds < all.of {
        notes.push(format!(
            "{} of {} levels contradict the others; the interval is as wide as if as many more were wrong",
            all.of - all.holds,
            all.of
        ));
    }
    Ok(Offset { anchor, segments, same, notes })
}

/// Shared counters of an endpoint: those that grew most first, and each name once before any comes again.
fn counters(a: &Capture, b: &Capture, same: Same) -> Vec<(SeriesId, SeriesId)> {
    let mut cursor_a = a.samples.cursor();
    let mut grown: Vec<(f64, SeriesId, SeriesId)> = Vec::new();
    for (in_a, in_b) in series(a, same.a, b, same.b) {
        let (Some(one), Some(other)) = (a.get(in_a), b.get(in_b)) else { continue };
        if !only_grows(a, one) || !only_grows(b, other) {
            continue;
        }
        let first = cursor_a.get(in_a.0, 0).map_or(0.0, |s| s.value);
        let last = a.samples.len(in_a.0).checked_sub(1).and_then(|n| cursor_a.get(in_a.0, n)).map_or(0.0, |s| s.value);
        let falls: f64 = a.samples.falls(in_a.0).map_or(0.0, |f| f.iter().map(|f| f.before.value - f.after.value).sum());
        let growth = last - first + falls;
        if growth > 0.0 {
            grown.push((growth, in_a, in_b));
        }
    }
    grown.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    let mut times: HashMap<&str, usize> = HashMap::new();
    let mut ranked: Vec<(usize, SeriesId, SeriesId)> = Vec::new();
    for (_, in_a, in_b) in grown {
        let Some(series) = a.get(in_a) else { continue };
        let time = times.entry(series.name.canonical()).or_default();
        ranked.push((*time, in_a, in_b));
        *time += 1;
    }
    ranked.sort_by_key(|r| r.0);
    ranked.into_iter().map(|(_, in_a, in_b)| (in_a, in_b)).collect()
}

impl Search<'_> {
    /// Reads the crossings of one shared series.
    fn read(&mut self, same: (usize, Same), series: usize, (in_a, in_b): (SeriesId, SeriesId)) {
        let (place, same) = same;
        self.seen.insert((place, series));
        let (Some(reads_a), Some(reads_b)) = (self.reads_a.get(&same.a), self.reads_b.get(&same.b)) else { return };
        let (samples_a, samples_b) = (self.a.samples(in_a), self.b.samples(in_b));
        self.samples += (samples_a.len() + samples_b.len()) as u64;
        let (lives_a, lives_b) = (lives(&samples_a, reads_a), lives(&samples_b, reads_b));
        if lives_a.len() * lives_b.len() > LIVES {
            return;
        }
        let rounded = |c: &Capture, id| c.get(id).is_some_and(|s| s.precision == Precision::F32);
        let precision = if rounded(self.a, in_a) || rounded(self.b, in_b) { Precision::F32 } else { Precision::F64 };
        let mut passed = Vec::new();
        let before = self.found.len();
        for (i, one) in lives_a.iter().enumerate() {
            for (j, other) in lives_b.iter().enumerate() {
                passed.clear();
                crossings(one, other, precision, &mut passed);
                let pairing = Pairing { same: place, series, lives: (i, j) };
                if let (false, Some(ranges)) = (passed.is_empty(), ranges(one, other)) {
                    self.ranges.insert(pairing, ranges);
                    self.found.extend(passed.iter().map(|&crossing| Found { pairing, crossing }));
                }
            }
        }
        self.used += usize::from(self.found.len() > before);
    }

    /// The candidates that are the same: those that name or address says, unless values contradict; of those that only series suggest, for each
    /// endpoint the one whose values agree best.
    fn related(&mut self, candidates: &[Same], shared: &[Vec<(SeriesId, SeriesId)>], notes: &mut Vec<String>) -> Vec<usize> {
        let mut told: Vec<(usize, f64, usize)> = Vec::new();
        // half of the work, in equal parts
        let part = SAMPLES / 2 / (candidates.len() as u64).max(1);
        for (i, (same, pairs)) in candidates.iter().zip(shared).enumerate() {
            let before = self.found.len();
            let end = self.samples.saturating_add(part);
            for (n, pair) in pairs.iter().take(BATCH).enumerate() {
                self.read((i, *same), n, *pair);
                if self.samples > end {
                    break;
                }
            }
            if self.samples > SAMPLES {
                notes.push(format!("{} of {} pairs of endpoints were compared", i + 1, candidates.len()));
                break;
            }
            let own = self.found.get(before..).unwrap_or(&[]);
            match agree(own.iter().map(|f| f.crossing.offset)) {
                None => {}
                Some(found) => told.push((i, score(&found, own), own.len())),
            }
        }
        let mut kept: Vec<usize> = Vec::new();
        told.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        for (i, share, levels) in told {
            let Some(same) = candidates.get(i) else { continue };
            let taken = |k: &usize| candidates.get(*k).is_some_and(|s| s.a == same.a || s.b == same.b);
            if same.by == By::Series && (share < RELATED || levels < BATCH || kept.iter().any(taken)) {
                continue;
            }
            if share < 0.5 {
                notes.push(format!("{} is in both captures by its {}, but its counters do not agree", self.name(same), same.by.word()));
                continue;
            }
            kept.push(i);
        }
        kept.sort_unstable();
        kept
    }

    fn name(&self, same: &Same) -> String {
        match self.a.endpoint(same.a).or(self.b.endpoint(same.b)) {
            Some(e) if !e.name.is_empty() => e.name.clone(),
            Some(e) => e.url.clone().unwrap_or_else(|| "an endpoint".to_string()),
            None => "an endpoint".to_string(),
        }
    }

    /// Reads on while the bracket shrinks and work is left.
    fn read_until_told(&mut self, candidates: &[Same], shared: &[Vec<(SeriesId, SeriesId)>], kept: &[usize]) {
        let longest = kept.iter().filter_map(|&i| shared.get(i)).map(Vec::len).max().unwrap_or(0);
        let mut width = self.width();
        let mut idle = 0;
        let mut since = 0;
        for n in 0..longest {
            for &i in kept {
                let (Some(same), Some(pair)) = (candidates.get(i), shared.get(i).and_then(|s| s.get(n))) else { continue };
                if self.seen.contains(&(i, n)) {
                    continue;
                }
                if self.samples > SAMPLES || self.found.len() > CROSSINGS {
                    return;
                }
                self.read((i, *same), n, *pair);
                since += 1;
            }
            if since >= BATCH {
                since = 0;
                let now = self.width();
                // a hundredth less is not worth another batch
                idle = if now > width - width / 100 { idle + 1 } else { 0 };
                width = now;
                if idle == 2 {
                    return;
                }
            }
        }
    }

    fn width(&self) -> i64 {
        let found = agree(self.found.iter().map(|f| f.crossing.offset));
        found.map_or(i64::MAX, |f| f.hull.high.saturating_sub(f.hull.low))
    }

    /// Crossings of lives that were one and the same: the offset at which most agree says which of the other's lives each ran beside.
    fn of_one_life(&self) -> Vec<Crossing> {
        let several = self.ranges.keys().any(|p| p.lives != (0, 0));
        let Some(Bound { low, high }) = agree(self.found.iter().map(|f| f.crossing.offset)).map(|f| f.hull).filter(|_| several) else {
            return self.found.iter().map(|f| f.crossing).collect();
        };
        let about = low / 2 + high / 2;
        let mut beside: HashMap<(usize, usize, usize), (i64, Pairing)> = HashMap::new();
        let mut ranges: Vec<_> = self.ranges.iter().collect();
        ranges.sort_by_key(|(p, _)| (p.same, p.series, p.lives));
        for (pairing, [a, b]) in ranges {
            let overlap = a.1.saturating_add(about).min(b.1).saturating_sub(a.0.saturating_add(about).max(b.0));
            let best = beside.entry((pairing.same, pairing.series, pairing.lives.0)).or_insert((0, *pairing));
            if overlap > best.0 {
                *best = (overlap, *pairing);
            }
        }
        let one = |f: &&Found| {
            let best = beside.get(&(f.pairing.same, f.pairing.series, f.pairing.lives.0));
            best.is_some_and(|(overlap, pairing)| *overlap > 0 && *pairing == f.pairing)
        };
        self.found.iter().filter(one).map(|f| f.crossing).collect()
    }

    fn refuse(&self, shared: usize) -> NoOffset {
        match agree(self.found.iter().map(|f| f.crossing.offset)) {
            Some(found) => NoOffset::Disagree { holds: found.holds, of: found.of },
            None if self.found.is_empty() => NoOffset::NoCrossing { shared },
            None => NoOffset::Disagree { holds: 0, of: self.found.len() as u64 },
        }
    }

    fn anchor(&self, all: &Agreement, segments: &[Segment], same: &[Same]) -> Anchor {
        let low = segments.iter().map(|s| s.low).min().unwrap_or(all.hull.low);
        let high = segments.iter().map(|s| s.high).max().unwrap_or(all.hull.high);
        let mut said: Vec<&str> = Vec::new();
        let reads = same.iter().flat_map(|s| [self.reads_a.get(&s.a), self.reads_b.get(&s.b)]);
        for sentence in reads.flatten().map(|r| r.said.as_str()) {
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
        let mut endpoints: Vec<String> = same.iter().take(4).map(|s| format!("{} (same {})", self.name(s), s.by.word())).collect();
        if same.len() > endpoints.len() {
            endpoints.push(format!("{} more", same.len() - endpoints.len()));
        }
        let how = format!(
            "shared counters: {} levels of {} series of {}, {} wide; {}",
            all.of,
            self.used,
            endpoints.join(", "),
            seconds(high.saturating_sub(low)),
            said.join("; ")
        );
        Anchor { low, high, how, holds: Some((all.holds, all.of)) }
    }
}

fn ranges(a: &Life, b: &Life) -> Option<[(i64, i64); 2]> {
    Some([a.range()?, b.range()?])
}

/// Share that agrees, by parts of the time if clocks drift. Lives that never met cross levels too, so that with several lives the share is
/// of those of the best offset.
fn score(found: &Agreement, own: &[Found]) -> f64 {
    if found.share() >= RELATED {
        return found.share();
    }
    let parts = segments(own.iter().map(|f| f.crossing).collect());
    if !parts.is_empty() {
        return ENOUGH;
    }
    let lives: BTreeSet<(usize, usize)> = own.iter().map(|f| f.pairing.lives).collect();
    let Some(place) = found.best.first() else { return 0.0 };
    if lives.len() < 2 {
        return found.share();
    }
    let mut meet: HashMap<(usize, (usize, usize)), (u64, u64)> = HashMap::new();
    for f in own {
        let (holds, of) = meet.entry((f.pairing.series, f.pairing.lives)).or_default();
        *of += 1;
        *holds += u64::from(f.crossing.offset.low <= place.low && place.low <= f.crossing.offset.high);
    }
    let (holds, of) = meet.values().filter(|(holds, of)| holds * 2 > *of).fold((0, 0), |sum, m| (sum.0 + m.0, sum.1 + m.1));
    if of == 0 { 0.0 } else { holds as f64 / of as f64 }
}

#[cfg(test)]
mod tests;
