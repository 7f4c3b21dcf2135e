//! What a gauge showed in a window: the values at its scrapes, and a mean over the time that they are known for.
//!
//! A value is taken to hold until the next scrape, but no longer than `hold`; time after that, and after a NaN, is unknown and counts for
//! nothing. The markers that Prometheus writes when a series ends are no values and are passed over.

use serde::Serialize;

use super::{Refusal, Window};
use crate::blocks::Cursor;
use crate::model::{Capture, Precision, Sample, SeriesId, is_stale};

/// What can be said of a gauge in a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Answer {
    /// No sample in the window, and none before it that holds into it.
    NoSamples {
        before: Option<Sample>,
    },
    Refused(Refusal),
    Answered(Gauge),
}

/// Figures of a gauge, `[from, to]` closed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gauge {
    pub window: Window,
    /// Samples in the window, and those of them that are NaN.
    pub n: u64,
    pub n_nan: u64,
    /// The first of the smallest and of the largest values in the window.
    pub min: Option<Sample>,
    pub max: Option<Sample>,
    /// Of the values in the window, each counted once.
    pub median: Option<Median>,
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub sample_mean: Option<f64>,
    /// The mean over `covered`, each value weighed by how long it held.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub time_weighted: Option<f64>,
    /// Nanoseconds of the window for which a value is known.
    pub covered: i64,
    /// The same as a share of the window; `None` for a window of no length.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub coverage: Option<f64>,
    /// Nanoseconds that a value was held at most.
    pub hold: i64,
    /// The sample before the window whose value was carried into it.
    pub carried: Option<Sample>,
    /// How far a served value can lie from its stored one, at most: no figure above is further off.
    #[serde(serialize_with = "crate::model::json::number")]
    pub error: f64,
    pub precision: Precision,
}

/// A median with the one or two samples that it is taken from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Median {
    #[serde(serialize_with = "crate::model::json::number")]
    pub value: f64,
    pub of: Vec<Sample>,
}

/// How long a value holds if nothing else is said: two intervals, in nanoseconds.
pub fn default_hold(interval: i64) -> i64 {
    interval.saturating_mul(2)
}

/// From samples by time, the one before the window among them.
pub fn of_samples(samples: &[Sample], window: Window, hold: i64, precision: Precision) -> Answer {
    if let Some(refusal) = Refusal::of_samples(samples) {
        return Answer::Refused(refusal);
    }
    let start = samples.partition_point(|s| s.at < window.from());
    let before = samples.get(..start).unwrap_or(&[]).iter().rev().find(|s| !is_stale(s.value)).copied();
    let inside = samples.get(start..).unwrap_or(&[]).iter().take_while(|s| s.at <= window.to()).filter(|s| !is_stale(s.value));
    of_inside(before, inside.copied().collect(), window, hold, precision)
}

/// From a series of a store.
pub fn of_store(cursor: &mut Cursor<'_>, series: u32, window: Window, hold: i64, precision: Precision) -> Answer {
    let store = cursor.store();
    let (_, collisions) = store.oddities(series);
    if collisions > 0 {
        return Answer::Refused(Refusal::Ambiguous { collisions });
    }
    let mut ordinal = cursor.lower(series, window.from());
    let mut before = None;
    while let Some(earlier) = ordinal.checked_sub(1) {
        before = cursor.get(series, earlier).filter(|s| !is_stale(s.value));
        if before.is_some() {
            break;
        }
        ordinal = earlier;
    }
    let mut inside = store.between(series, window.from(), window.to());
    inside.retain(|s| !is_stale(s.value));
    of_inside(before, inside, window, hold, precision)
}

/// From a series of a capture: refused where the capture has found its samples to mean nothing. `None` if there is no such series.
pub fn of_capture(capture: &Capture, cursor: &mut Cursor<'_>, id: SeriesId, window: Window, hold: i64) -> Option<Answer> {
    let series = capture.get(id)?;
    if let Some(refusal) = Refusal::of(&series.trouble) {
        return Some(Answer::Refused(refusal));
    }
    Some(of_store(cursor, id.0, window, hold, series.precision))
}

fn of_inside(before: Option<Sample>, inside: Vec<Sample>, window: Window, hold: i64, precision: Precision) -> Answer {
    let mut carried = None;
    let (mut covered, mut weighted) = (0i64, 0.0);
    let held = before.into_iter().chain(inside.iter().copied());
    let next = inside.iter().map(|s| s.at).chain([window.to()]).skip(usize::from(before.is_none()));
    for (sample, next) in held.zip(next) {
        let start = sample.at.max(window.from());
        let held = next.min(sample.at.saturating_add(hold.max(0))).saturating_sub(start);
        if held <= 0 || sample.value.is_nan() {
            continue;
        }
        covered = covered.saturating_add(held);
        weighted += sample.value * held as f64;
        if sample.at < window.from() {
            carried = Some(sample);
        }
    }
    if inside.is_empty() && carried.is_none() {
        return Answer::NoSamples { before };
    }
    let mut known: Vec<Sample> = inside.iter().filter(|s| !s.value.is_nan()).copied().collect();
    let error = known.iter().chain(&carried).map(|s| precision.error(s.value)).fold(0.0, f64::max);
    let sum: f64 = known.iter().map(|s| s.value).sum();
    known.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.at.cmp(&b.at)));
    let largest = known.last().map(|s| s.value);
    let gauge = Gauge {
        window,
        n: inside.len() as u64,
        n_nan: (inside.len() - known.len()) as u64,
        min: known.first().copied(),
        max: known.iter().find(|s| Some(s.value) == largest).copied(),
        median: median(&known),
        sample_mean: (!known.is_empty()).then(|| sum / known.len() as f64),
        time_weighted: (covered > 0).then(|| weighted / covered as f64),
        covered,
        coverage: (window.length() > 0).then(|| covered as f64 / window.length() as f64),
        hold,
        carried,
        error,
        precision,
    };
    Answer::Answered(gauge)
}

/// Of samples by value.
fn median(sorted: &[Sample]) -> Option<Median> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(Median { value: upper.value, of: vec![upper] });
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    Some(Median { value: f64::midpoint(lower.value, upper.value), of: vec![lower, upper] })
}

impl Answer {
    /// The figures, if there are any.
    pub fn gauge(&self) -> Option<&Gauge> {
        match self {
            Answer::Answered(gauge) => Some(gauge),
            _ => None,
        }
    }
}
