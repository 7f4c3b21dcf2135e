//! How much of a capacity was taken: what is left is subtracted from the whole at one scrape of one endpoint and rank. The most of these pairs,
//! never a pair of the largest and the smallest value, which may never have stood together.

use serde::Serialize;

use super::{Refusal, Window};
use crate::model::Sample;

/// Capacity and what was available of it, at one scrape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pair {
    pub at: i64,
    #[serde(serialize_with = "crate::model::json::number")]
    pub capacity: f64,
    #[serde(serialize_with = "crate::model::json::number")]
    pub available: f64,
    /// `capacity - available`.
    #[serde(serialize_with = "crate::model::json::number")]
    pub occupied: f64,
}

/// Pairs of a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Answer {
    /// No scrape has both: so many had the capacity, and so many what is available.
    NoPairs {
        capacity: u64,
        available: u64,
    },
    Refused(Refusal),
    Answered(Occupancy),
}

/// What was taken in a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Occupancy {
    pub window: Window,
    /// Scrapes that have both.
    pub pairs: u64,
    /// Scrapes that have only one of the two, or a NaN.
    pub unpaired: u64,
    pub first: Pair,
    pub last: Pair,
    /// The first of those with the least, and with the most taken.
    pub min: Pair,
    pub max: Pair,
}

/// What else the endpoint says of a pair's occupied part, at the same scrape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parts {
    /// `None` where the scrape has no such value.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub evictable: Option<f64>,
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub used: Option<f64>,
    /// `occupied` without both. SGLang counts tokens that are protected or held by a session in neither.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub in_neither: Option<f64>,
}

impl Pair {
    /// Its parts, from two more series of the same endpoint and rank, by time.
    pub fn parts(&self, evictable: &[Sample], used: &[Sample]) -> Parts {
        let here = |samples: &[Sample]| {
            let found = samples.binary_search_by_key(&self.at, |s| s.at).ok().and_then(|i| samples.get(i));
            found.map(|s| s.value).filter(|v| !v.is_nan())
        };
        let (evictable, used) = (here(evictable), here(used));
        let in_neither = evictable.zip(used).map(|(evictable, used)| self.occupied - evictable - used);
        Parts { evictable, used, in_neither }
    }
}

/// Pairs of samples of two series of one endpoint, both by time, at equal times in the window.
pub fn pairs(capacity: &[Sample], available: &[Sample], window: Window) -> Vec<Pair> {
    let mut out = Vec::new();
    let mut left = available.iter().peekable();
    for whole in capacity.iter().filter(|s| window.contains(s.at)) {
        while left.next_if(|s| s.at < whole.at).is_some() {}
        let Some(rest) = left.peek().filter(|s| s.at == whole.at) else { continue };
        if !whole.value.is_nan() && !rest.value.is_nan() {
            let occupied = whole.value - rest.value;
            out.push(Pair { at: whole.at, capacity: whole.value, available: rest.value, occupied });
        }
    }
    out
}

/// What was taken in a window.
pub fn of(capacity: &[Sample], available: &[Sample], window: Window) -> Answer {
    if let Some(refusal) = Refusal::of_samples(capacity).or(Refusal::of_samples(available)) {
        return Answer::Refused(refusal);
    }
    let found = pairs(capacity, available, window);
    let inside = |samples: &[Sample]| samples.iter().filter(|s| window.contains(s.at)).count() as u64;
    let (with_capacity, with_available) = (inside(capacity), inside(available));
    let (Some(&first), Some(&last)) = (found.first(), found.last()) else {
        return Answer::NoPairs { capacity: with_capacity, available: with_available };
    };
    let (mut min, mut max) = (first, first);
    for &pair in &found {
        if pair.occupied < min.occupied {
            min = pair;
        }
        if pair.occupied > max.occupied {
            max = pair;
        }
    }
    let pairs = found.len() as u64;
    let unpaired = (with_capacity - pairs) + (with_available - pairs);
    Answer::Answered(Occupancy { window, pairs, unpaired, first, last, min, max })
}
