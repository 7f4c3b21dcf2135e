//! A summary in a window: its quantile series, each by itself, and the mean.
//!
//! The server computed the quantiles, over a stretch of time that nothing names: they are never averaged over scrapes and never joined between
//! servers. Of a summary only the differences of `_sum` and `_count` say something about the window, and those combine.

use serde::Serialize;

use super::counter;
use super::mean::{self, Mean, NoMean};
use super::{Refusal, Window};
use crate::model::Sample;

/// A summary's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub window: Window,
    /// By quantile.
    pub quantiles: Vec<Reported>,
    /// One of the two is there.
    pub mean: Option<Mean>,
    pub no_mean: Option<NoMean>,
}

/// What the server reported of one quantile at the scrapes of a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reported {
    #[serde(serialize_with = "crate::model::json::number")]
    pub q: f64,
    pub refused: Option<Refusal>,
    /// Scrapes at which it was a number, and those at which it was NaN: nothing was observed lately.
    pub n: u64,
    pub unknown: u64,
    pub first: Option<Sample>,
    pub last: Option<Sample>,
    pub min: Option<Sample>,
    pub max: Option<Sample>,
}

/// From the samples of each quantile series by time, and the differences of `_sum` and `_count`.
pub fn of(quantiles: &[(f64, &[Sample])], sum: &counter::Answer, count: &counter::Answer, window: Window) -> Summary {
    let mut quantiles: Vec<Reported> = quantiles.iter().map(|(q, samples)| reported(*q, samples, window)).collect();
    quantiles.sort_by(|a, b| a.q.total_cmp(&b.q));
    let (mean, no_mean) = match mean::of(sum, count) {
        Ok(mean) => (Some(mean), None),
        Err(why) => (None, Some(why)),
    };
    Summary { window, quantiles, mean, no_mean }
}

fn reported(q: f64, samples: &[Sample], window: Window) -> Reported {
    let mut out = Reported { q, refused: Refusal::of_samples(samples), n: 0, unknown: 0, first: None, last: None, min: None, max: None };
    if out.refused.is_some() {
        return out;
    }
    for &sample in samples.iter().filter(|s| window.contains(s.at)) {
        if crate::model::is_stale(sample.value) {
            continue;
        }
        if sample.value.is_nan() {
            out.unknown += 1;
            continue;
        }
        out.n += 1;
        out.first = out.first.or(Some(sample));
        out.last = Some(sample);
        if out.min.is_none_or(|min| sample.value < min.value) {
            out.min = Some(sample);
        }
        if out.max.is_none_or(|max| sample.value > max.value) {
            out.max = Some(sample);
        }
    }
    out
}
