//! What a series did in a window: pure arithmetic on samples. Never extrapolated: what is said of a window is said of
//! the samples in it and the two around it, and they stand in every answer.
//!
//! * [`counter`]: a bracket from the samples at both edges; [`inside`] finds these in a slice or in the store.
//! * [`resets`]: how sure a reset is, and those that no fall shows.
//! * [`gauge`], [`histogram`] with [`quantile`], [`summary`], [`mean`]: the figures of the other kinds.
//! * [`replica`], [`capacity`], [`ratio`]: figures of several series.

pub mod capacity;
pub mod counter;
pub mod gauge;
pub mod histogram;
pub mod inside;
pub mod mean;
pub mod quantile;
pub mod ratio;
pub mod replica;
pub mod resets;
pub mod scrapes;
pub mod summary;

#[cfg(test)]
mod tests;

use crate::model::{Precision, Sample, Trouble};

/// A closed range of time, `[from, to]`, in nanoseconds of the capture's clock: a sample at either edge is inside. Prometheus 3 leaves out the
/// sample at `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Window {
    from: i64,
    to: i64,
}

impl Window {
    /// `None` if it would end before it starts.
    pub fn new(from: i64, to: i64) -> Option<Window> {
        (from <= to).then_some(Window { from, to })
    }

    /// Its first instant.
    pub fn from(self) -> i64 {
        self.from
    }

    /// Its last instant.
    pub fn to(self) -> i64 {
        self.to
    }

    /// Is an instant inside?
    pub fn contains(self, at: i64) -> bool {
        (self.from..=self.to).contains(&at)
    }

    /// How long it is, in nanoseconds.
    pub fn length(self) -> i64 {
        self.to.saturating_sub(self.from)
    }
}

/// A number computed from samples, and how far the served samples' own can lie from it, up or down: 0 unless values were stored as 32-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Figure {
    #[serde(serialize_with = "crate::model::json::number")]
    pub value: f64,
    #[serde(serialize_with = "crate::model::json::number")]
    pub error: f64,
}

impl Figure {
    /// The least that it can be.
    pub fn low(self) -> f64 {
        self.value - self.error
    }

    /// The most that it can be.
    pub fn high(self) -> f64 {
        self.value + self.error
    }
}

/// Why samples give no figure, though there are some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Refusal {
    /// Several samples at one time: several series stand under one name, and a difference may be that of two of them.
    Ambiguous { collisions: u64 },
    /// Values that are not the metric's own.
    ForeignValues,
    /// Samples are not in order of time.
    Disordered,
    /// An infinite value stands where a difference is needed.
    Infinite,
}

impl Refusal {
    /// What of a series' troubles forbids figures. A damaged name does not: the samples are those of one series, whatever it was called.
    pub fn of(trouble: &Trouble) -> Option<Refusal> {
        if trouble.foreign {
            Some(Refusal::ForeignValues)
        } else if trouble.collisions > 0 {
            Some(Refusal::Ambiguous { collisions: trouble.collisions })
        } else {
            None
        }
    }

    /// What forbids figures of a slice that should be by time.
    pub fn of_samples(samples: &[Sample]) -> Option<Refusal> {
        let mut collisions = 0;
        for (earlier, later) in samples.iter().zip(samples.iter().skip(1)) {
            if later.at < earlier.at {
                return Some(Refusal::Disordered);
            }
            collisions += u64::from(later.at == earlier.at);
        }
        (collisions > 0).then_some(Refusal::Ambiguous { collisions })
    }

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Refusal::Ambiguous { .. } => "several samples at one time: several series stand under this name",
            Refusal::ForeignValues => "values are not the metric's own",
            Refusal::Disordered => "samples are not in order of time",
            Refusal::Infinite => "a value is infinite",
        }
    }
}

/// Whole numbers below this are stored by 32-bit floats as they are.
pub const WHOLE_IN_F32: f64 = 16_777_216.0;

/// How far a count can lie from its stored value: counts are whole, so that below 2^24 nothing is lost.
pub(crate) fn count_error(precision: Precision, value: f64) -> f64 {
    if value.abs() < WHOLE_IN_F32 { 0.0 } else { precision.error(value) }
}

/// Nanoseconds as seconds, for rates and weights; durations above 104 days lose nanoseconds.
pub(crate) fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e9
}
