//! A quantile of a classic histogram: what its buckets prove, and the usual estimate inside.
//!
//! The buckets are differences over a window, never totals. Proven is only the bracket `(low, high]`; the value is linear between its bounds, as
//! Prometheus computes it.

use serde::Serialize;

/// Observations at or below a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cumulative {
    /// `+Inf` for the bucket of all.
    #[serde(serialize_with = "crate::model::json::number")]
    pub bound: f64,
    #[serde(serialize_with = "crate::model::json::number")]
    pub count: f64,
    /// How far the count can lie from the one that was served.
    #[serde(serialize_with = "crate::model::json::number")]
    pub error: f64,
}

/// A quantile with what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantile {
    #[serde(serialize_with = "crate::model::json::number")]
    pub q: f64,
    /// Observations in the window; `None` where no bucket says.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub n: Option<f64>,
    /// A bucket counted less than one below it (a torn read) and was raised to it.
    pub forced_monotonic: bool,
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// What the buckets say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Estimate {
    /// It lies in `(low, high]`; in `[low, high]` for the first bucket, whose low bound is 0 if its high bound is positive.
    Within {
        #[serde(serialize_with = "crate::model::json::number")]
        value: f64,
        #[serde(serialize_with = "crate::model::json::number")]
        low: f64,
        #[serde(serialize_with = "crate::model::json::number")]
        high: f64,
    },
    /// It is greater than this, the highest finite bound; nobody knows by how much.
    Censored {
        #[serde(serialize_with = "crate::model::json::number")]
        above: f64,
    },
    /// `q` is below 0 or above 1: infinite, as Prometheus has it.
    Outside {
        #[serde(serialize_with = "crate::model::json::number")]
        value: f64,
    },
    /// Nothing can be said.
    Undefined { reason: Reason },
}

/// Why a quantile is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    NoInfinity,
    TooFewBuckets,
    NoObservations,
    NotANumber,
    SameBound,
}

impl Reason {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Reason::NoInfinity => "no +Inf bucket",
            Reason::TooFewBuckets => "fewer than 2 buckets",
            Reason::NoObservations => "no observations",
            Reason::NotANumber => "a bound, a count or q is not a number",
            Reason::SameBound => "two buckets have the same bound",
        }
    }
}

/// The `q`-quantile of buckets in any order.
pub fn of(q: f64, buckets: &[Cumulative]) -> Quantile {
    let answer = |n, forced_monotonic, estimate| Quantile { q, n, forced_monotonic, estimate };
    let undefined = |n, reason| answer(n, false, Estimate::Undefined { reason });
    if q.is_nan() || buckets.iter().any(|b| b.bound.is_nan() || !b.count.is_finite() || b.error.is_nan()) {
        return undefined(None, Reason::NotANumber);
    }
    if q < 0.0 {
        return answer(None, false, Estimate::Outside { value: f64::NEG_INFINITY });
    }
    if q > 1.0 {
        return answer(None, false, Estimate::Outside { value: f64::INFINITY });
    }
    let mut buckets = buckets.to_vec();
    buckets.sort_by(|a, b| a.bound.total_cmp(&b.bound));
    if buckets.iter().zip(buckets.iter().skip(1)).any(|(a, b)| a.bound == b.bound) {
        return undefined(None, Reason::SameBound);
    }
    if buckets.len() < 2 {
        return undefined(None, Reason::TooFewBuckets);
    }
    let forced = force_monotonic(&mut buckets);
    let Some(all) = buckets.last().copied().filter(|b| b.bound == f64::INFINITY) else {
        return undefined(None, Reason::NoInfinity);
    };
    if all.count <= 0.0 {
        return undefined(Some(0.0), Reason::NoObservations);
    }
    // the rank can only be off by what the total is, and a bucket holds it if its count can reach it
    let reaches = |count: f64, rank: f64| count >= rank && count > 0.0;
    let holds = |rank: f64, sign: f64| buckets.iter().position(|b| reaches(b.count + sign * b.error, rank));
    let rank = q * all.count;
    let Some(i) = holds(rank, 0.0) else { return undefined(Some(0.0), Reason::NoObservations) };
    let least = holds(q * (all.count - all.error), 1.0).map_or(i, |least| least.min(i));
    let most = holds(q * (all.count + all.error), -1.0).map_or(buckets.len() - 1, |most| most.max(i));
    let bound = |i: usize| buckets.get(i).map_or(f64::INFINITY, |b| b.bound);
    let below = |i: usize| match i.checked_sub(1) {
        Some(before) => bound(before),
        None if bound(0) > 0.0 => 0.0,
        None => f64::NEG_INFINITY,
    };
    if bound(i) == f64::INFINITY {
        return answer(Some(all.count), forced, Estimate::Censored { above: below(least) });
    }
    let count_below = i.checked_sub(1).and_then(|b| buckets.get(b)).map_or(0.0, |b| b.count);
    let in_bucket = buckets.get(i).map_or(0.0, |b| b.count) - count_below;
    let start = below(i);
    let value = if start.is_finite() { start + (bound(i) - start) * ((rank - count_below) / in_bucket) } else { bound(i) };
    answer(Some(all.count), forced, Estimate::Within { value, low: below(least), high: bound(most) })
}

/// Raises each count to the one before it, and says whether that was needed.
fn force_monotonic(buckets: &mut [Cumulative]) -> bool {
    let mut forced = false;
    let mut most = f64::NEG_INFINITY;
    for bucket in buckets {
        if bucket.count < most {
            bucket.count = most;
            forced = true;
        }
        most = bucket.count;
    }
    forced
}
