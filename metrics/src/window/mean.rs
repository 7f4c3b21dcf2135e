//! The mean of what was observed in a window, from the `_sum` and `_count` of a histogram or summary.
//!
//! For whom these two belong together: Tachometer's columns `histogram_sum` and `histogram_count` do not as soon as a histogram has more than
//! one label set, and must not come here.

use serde::Serialize;

use super::counter::{Answer, Delta};

/// A mean with both differences behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mean {
    #[serde(serialize_with = "crate::model::json::number")]
    pub value: f64,
    /// The served values' own lies in `[low, high]`; both are `value` unless values were stored as 32-bit floats.
    #[serde(serialize_with = "crate::model::json::number")]
    pub low: f64,
    /// Infinite if the count may have been zero.
    #[serde(serialize_with = "crate::model::json::number")]
    pub high: f64,
    pub sum: Delta,
    pub count: Delta,
}

/// Why there is no mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoMean {
    /// One of the two has no difference in the window.
    NoDifference,
    /// The two were not read at the same first and last scrape, or were reset at different ones: negative observations make a sum fall.
    OtherScrapes,
    /// Nothing was observed.
    NoObservations,
    /// The capture has no sum.
    NoSum,
    /// The capture has a sum that may be another label set's.
    SumUnproven,
}

/// The mean of observations between the first and the last scrape.
pub fn of(sum: &Answer, count: &Answer) -> Result<Mean, NoMean> {
    let (Some(sum), Some(count)) = (sum.delta(), count.delta()) else { return Err(NoMean::NoDifference) };
    let ends = |delta: &Delta| -> Vec<(i64, i64)> { delta.segments.iter().map(|s| (s.first.at, s.last.at)).collect() };
    if ends(sum) != ends(count) {
        return Err(NoMean::OtherScrapes);
    }
    if count.inner.value <= 0.0 {
        return Err(NoMean::NoObservations);
    }
    let value = sum.inner.value / count.inner.value;
    let low = sum.inner.low().max(0.0) / count.inner.high();
    let least = count.inner.low();
    let high = if least > 0.0 { sum.inner.high() / least } else { f64::INFINITY };
    Ok(Mean { value, low, high, sum: sum.clone(), count: count.clone() })
}
