//! What a classic histogram observed in a window: every bucket's difference, between the same scrapes for all of them.
//!
//! A fall of any bucket, or a known start of the process, is a reset of all: they split at the same scrapes, so that what the buckets say stays one distribution. Observations
//! that only some buckets would count across a reset are left out of all.

use serde::Serialize;

use super::inside::Inside;
use super::quantile::{self, Cumulative, Quantile};
use super::resets::Restart;
use super::scrapes::Scrapes;
use super::{Refusal, Window, count_error};
use crate::blocks::Cursor;
use crate::model::{Capture, Precision, Sample, SeriesId};

/// What can be said of a histogram in a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Answer {
    /// No scrape in the window has every bucket.
    NoSamples,
    /// One scrape has every bucket: no difference.
    OneSample {
        at: i64,
    },
    Refused(Refusal),
    Answered(Buckets),
}

/// Differences of all buckets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Buckets {
    pub window: Window,
    /// By bound.
    pub buckets: Vec<Bucket>,
    /// First and last scrape of each life, by time.
    pub segments: Vec<Stretch>,
    pub precision: Precision,
}

/// Scrapes without a reset between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stretch {
    pub first: i64,
    pub last: i64,
}

/// One bucket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bucket {
    #[serde(flatten)]
    pub cumulative: Cumulative,
    pub first: Sample,
    pub last: Sample,
    /// What later lives had counted before their first scrape; not in the count.
    #[serde(serialize_with = "crate::model::json::number")]
    pub restart_base: f64,
}

/// Histograms of several label sets, added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sum {
    pub buckets: Vec<Cumulative>,
    pub parts: Vec<Buckets>,
}

/// One scrape of all buckets.
struct Row {
    at: i64,
    values: Vec<f64>,
}

impl Buckets {
    /// The counts, for [`quantile::of`].
    pub fn cumulative(&self) -> Vec<Cumulative> {
        self.buckets.iter().map(|b| b.cumulative).collect()
    }

    /// The `q`-quantile of what was observed between the first and the last scrape.
    pub fn quantile(&self, q: f64) -> Quantile {
        quantile::of(q, &self.cumulative())
    }

    /// Resets in the window: the scrapes before and after each.
    pub fn resets(&self) -> impl Iterator<Item = (i64, i64)> {
        self.segments.iter().zip(self.segments.iter().skip(1)).map(|(a, b)| (a.last, b.first))
    }
}

impl Sum {
    /// Adds histograms; `None` if there are none or their bounds differ: a bucket that one of them lacks cannot be added.
    pub fn of(parts: Vec<Buckets>) -> Option<Sum> {
        let mut buckets = parts.first()?.cumulative();
        for part in parts.iter().skip(1) {
            let same = part.buckets.len() == buckets.len();
            if !same || part.buckets.iter().zip(&buckets).any(|(a, b)| a.cumulative.bound != b.bound) {
                return None;
            }
            for (total, bucket) in buckets.iter_mut().zip(&part.buckets) {
                total.count += bucket.cumulative.count;
                total.error += bucket.cumulative.error;
            }
        }
        Some(Sum { buckets, parts })
    }

    /// The `q`-quantile of all together.
    pub fn quantile(&self, q: f64) -> Quantile {
        quantile::of(q, &self.buckets)
    }
}

/// From the samples of each bucket, by time, with its bound. Scrapes that lack a bucket are passed over.
pub fn of_samples(buckets: &[(f64, &[Sample])], window: Window, precision: Precision, restarts: &[Restart]) -> Answer {
    if let Some(refusal) = buckets.iter().find_map(|(_, samples)| Refusal::of_samples(samples)) {
        return Answer::Refused(refusal);
    }
    let known = |s: &&Sample| window.contains(s.at) && !s.value.is_nan();
    let Some((_, some)) = buckets.first() else { return Answer::NoSamples };
    let mut common: Vec<i64> = some.iter().filter(known).map(|s| s.at).collect();
    for (_, samples) in buckets {
        common.retain(|at| value_at(samples, *at).is_some_and(|v| !v.is_nan()));
    }
    let (Some(&first), Some(&last)) = (common.first(), common.last()) else { return Answer::NoSamples };
    let mut splits = Vec::new();
    for (_, samples) in buckets {
        for broken in Inside::of_samples(samples, window).breaks {
            splits.push((broken.fall.before.at, broken.fall.after.at));
        }
    }
    splits.extend(restarts.iter().map(|r| (r.after, r.by)));
    for (before, after) in &mut splits {
        let scrape = common.partition_point(|at| at <= before).checked_sub(1).and_then(|i| common.get(i));
        *before = scrape.copied().unwrap_or(i64::MIN);
        *after = common.get(common.partition_point(|at| at < after)).copied().unwrap_or(i64::MAX);
    }
    let row = |at: i64| {
        let values: Option<Vec<f64>> = buckets.iter().map(|(_, samples)| value_at(samples, at)).collect();
        values.map(|values| Row { at, values })
    };
    let bounds: Vec<f64> = buckets.iter().map(|(bound, _)| *bound).collect();
    of_rows(&bounds, first, last, splits, row, window, precision).unwrap_or(Answer::NoSamples)
}

/// From the series of a store, each with its bound: the samples between are read only if the buckets were not scraped together.
pub fn of_store(cursor: &mut Cursor<'_>, buckets: &[(f64, u32)], window: Window, precision: Precision, restarts: &[Restart]) -> Answer {
    let store = cursor.store();
    let collisions = buckets.iter().map(|(_, series)| store.oddities(*series).1).sum();
    if collisions > 0 {
        return Answer::Refused(Refusal::Ambiguous { collisions });
    }
    let insides: Vec<Inside> = buckets.iter().map(|(_, series)| Inside::of_store(cursor, *series, window)).collect();
    let ends: Option<Vec<(Sample, Sample)>> = insides.iter().map(|inside| inside.ends).collect();
    let Some(ends) = ends else { return Answer::NoSamples };
    let first = ends.iter().map(|(first, _)| first.at).max();
    let last = ends.iter().map(|(_, last)| last.at).min();
    let (Some(first), Some(last)) = (first, last) else { return Answer::NoSamples };
    let splits = insides.iter().flat_map(|i| &i.breaks).map(|b| (b.fall.before.at, b.fall.after.at));
    let splits: Vec<(i64, i64)> = splits.chain(restarts.iter().map(|r| (r.after, r.by))).collect();
    let bounds: Vec<f64> = buckets.iter().map(|(bound, _)| *bound).collect();
    let row = |at: i64| {
        let values: Option<Vec<f64>> = buckets.iter().map(|(_, series)| stored_at(cursor, *series, at)).collect();
        values.map(|values| Row { at, values })
    };
    if first <= last
        && let Some(answer) = of_rows(&bounds, first, last, splits, row, window, precision)
    {
        return answer;
    }
    let read: Vec<Vec<Sample>> = buckets.iter().map(|(_, series)| store.between(*series, window.from(), window.to())).collect();
    let slices: Vec<(f64, &[Sample])> = bounds.iter().zip(&read).map(|(bound, samples)| (*bound, &samples[..])).collect();
    of_samples(&slices, window, precision, restarts)
}

/// From the series of a capture; `None` if one of them is not there.
pub fn of_capture(
    capture: &Capture,
    cursor: &mut Cursor<'_>,
    buckets: &[(f64, SeriesId)],
    window: Window,
    scrapes: &Scrapes,
) -> Option<Answer> {
    let mut precision = Precision::F64;
    for (_, id) in buckets {
        let series = capture.get(*id)?;
        if let Some(refusal) = Refusal::of(&series.trouble) {
            return Some(Answer::Refused(refusal));
        }
        if series.precision == Precision::F32 {
            precision = Precision::F32;
        }
    }
    let numbers: Vec<(f64, u32)> = buckets.iter().map(|(bound, id)| (*bound, id.0)).collect();
    Some(of_store(cursor, &numbers, window, precision, scrapes.restarts()))
}

/// Adds up the stretches between splits; `None` if a scrape that is needed lacks a bucket. A split before the first scrape or after the last
/// leaves out the scrapes up to it, or from it on.
fn of_rows(
    bounds: &[f64],
    first: i64,
    last: i64,
    mut splits: Vec<(i64, i64)>,
    mut row: impl FnMut(i64) -> Option<Row>,
    window: Window,
    precision: Precision,
) -> Option<Answer> {
    splits.retain(|(before, after)| *before < last && *after > first);
    splits.sort_unstable();
    let mut rows = Vec::new();
    let mut start = first;
    for (before, after) in splits {
        // a split that another one contains is no second reset
        if after > start && before >= start {
            rows.push((row(start)?, row(before)?));
        }
        start = start.max(after);
    }
    if start <= last {
        rows.push((row(start)?, row(last)?));
    }
    let (Some((head, _)), Some((_, tail))) = (rows.first(), rows.last()) else { return Some(Answer::NoSamples) };
    if head.at == tail.at {
        return Some(Answer::OneSample { at: head.at });
    }
    if rows.iter().flat_map(|(a, b)| a.values.iter().chain(&b.values)).any(|v| v.is_infinite()) {
        return Some(Answer::Refused(Refusal::Infinite));
    }
    let mut buckets = Vec::with_capacity(bounds.len());
    for (i, &bound) in bounds.iter().enumerate() {
        let value = |row: &Row| row.values.get(i).copied().unwrap_or(f64::NAN);
        let mut bucket = Bucket {
            cumulative: Cumulative { bound, count: 0.0, error: 0.0 },
            first: Sample { at: head.at, value: value(head) },
            last: Sample { at: tail.at, value: value(tail) },
            restart_base: 0.0,
        };
        for (n, (from, to)) in rows.iter().enumerate() {
            if n > 0 {
                bucket.restart_base += value(from);
            }
            if from.at != to.at {
                bucket.cumulative.count += value(to) - value(from);
                bucket.cumulative.error += count_error(precision, value(to)) + count_error(precision, value(from));
            }
        }
        buckets.push(bucket);
    }
    buckets.sort_by(|a, b| a.cumulative.bound.total_cmp(&b.cumulative.bound));
    let segments = rows.iter().map(|(a, b)| Stretch { first: a.at, last: b.at }).collect();
    Some(Answer::Answered(Buckets { window, buckets, segments, precision }))
}

fn value_at(samples: &[Sample], at: i64) -> Option<f64> {
    samples.binary_search_by_key(&at, |s| s.at).ok().and_then(|i| samples.get(i)).map(|s| s.value)
}

fn stored_at(cursor: &mut Cursor<'_>, series: u32, at: i64) -> Option<f64> {
    let ordinal = cursor.lower(series, at);
    cursor.get(series, ordinal).filter(|s| s.at == at && !s.value.is_nan()).map(|s| s.value)
}
