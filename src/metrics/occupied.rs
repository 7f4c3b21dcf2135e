//! How much of the KV cache was taken: what an engine's rank says is available, subtracted from its capacity at the same scrape.

use corr_metrics::model::{Precision, Sample, SeriesId};
use corr_metrics::window::capacity::{self, Parts};

use super::asked::Hit;
use super::ratios::same_ranks;
use super::span::Placed;

/// The family whose figure has this beside it.
const AVAILABLE: &str = "sglang:kv_available_tokens";
const CAPACITY: &str = "sglang:max_total_num_tokens";
const EVICTABLE: &str = "sglang:kv_evictable_tokens";
const USED: &str = "sglang:kv_used_tokens";

/// What was taken of a capacity in a window.
#[derive(Clone, Debug)]
pub struct Occupied {
    pub answer: capacity::Answer,
    /// What else the endpoint says at the scrape with the most taken.
    pub parts: Option<Parts>,
    /// The series that the capacity is read from.
    pub capacity: SeriesId,
    /// How far it can be off, as values were stored as 32-bit floats.
    pub error: f64,
}

/// Beside the figure of a series of available tokens; `None` for other series, and where the capacity is not captured.
pub fn of(hit: &Hit<'_>, available: SeriesId, placed: &Placed) -> Option<Occupied> {
    if hit.group.name != AVAILABLE {
        return None;
    }
    let whole = beside(hit, CAPACITY)?;
    let capture = hit.captured.capture();
    let window = placed.window;
    let samples = |id: SeriesId| capture.samples.between(id.0, window.from(), window.to());
    let other = |name: &str| beside(hit, name).map(samples).unwrap_or_default();
    let (capacity, left) = (samples(whole), samples(available));
    let answer = capacity::of(&capacity, &left, window);
    let rounded = |id: SeriesId, s: &[Sample]| {
        let precision = capture.get(id).map_or(Precision::F64, |s| s.precision);
        s.iter().map(|s| precision.error(s.value)).fold(0.0, f64::max)
    };
    let error = rounded(whole, &capacity) + rounded(available, &left);
    let parts = match &answer {
        capacity::Answer::Answered(found) => Some(found.max.parts(&other(EVICTABLE), &other(USED))),
        _ => None,
    };
    Some(Occupied { answer, parts, capacity: whole, error })
}

/// The one series of a family that the endpoint and rank of a hit has.
fn beside(hit: &Hit<'_>, family: &str) -> Option<SeriesId> {
    let capture = hit.captured.capture();
    let mut found = capture.series.iter().enumerate().filter(|(_, series)| {
        series.endpoint == hit.member.endpoint && series.name.canonical() == family && same_ranks(&series.labels, &hit.member.labels)
    });
    let first = found.next()?;
    if found.next().is_some() { None } else { u32::try_from(first.0).ok().map(SeriesId) }
}
