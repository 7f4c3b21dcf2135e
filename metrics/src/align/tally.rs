//! A counter as numbers of events: how many had happened when each scrape read it.

use std::collections::BTreeMap;

use super::reads::{Reads, Timing};
use super::shared::only_grows;
use crate::model::{Capture, EndpointId, Labels, SeriesId};

/// A count, and when it was read. The capture's clock, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The scrape's stamp.
    pub stamp: i64,
    /// It was read in `[from, to]`.
    pub from: i64,
    pub to: i64,
    /// So many at least and at most: they differ where the value was rounded.
    pub low: i64,
    pub high: i64,
}

/// The counts of the series of an endpoint that have this name and these labels, summed. Which of them a scrape has changes when labels first
/// appear, and when a process starts anew under another id: of the stretches that have the same series and do not fall, the longest. Empty if
/// there are none.
pub fn tally(capture: &Capture, endpoint: EndpointId, name: &str, labels: &[(&str, &str)], timing: &Timing) -> Vec<Count> {
    let fits = |own: &Labels| labels.iter().all(|(k, v)| own.get(k) == Some(*v));
    let series = (0u32..).map(SeriesId).zip(&capture.series);
    let chosen = series.filter(|(_, s)| s.endpoint == endpoint && s.name.canonical() == name && fits(&s.labels) && only_grows(capture, s));
    let mut sums: BTreeMap<i64, Sum> = BTreeMap::new();
    for (id, series) in chosen {
        for sample in capture.samples(id).iter().filter(|s| s.value.is_finite()) {
            let sum = sums.entry(sample.at).or_default();
            sum.of.push(id);
            sum.value += sample.value;
            sum.error += series.precision.error(sample.value);
        }
    }
    let reads = Reads::of(capture, endpoint, timing);
    let mut stretches: Vec<Vec<Count>> = Vec::new();
    let mut before: Option<(i64, Vec<SeriesId>)> = None;
    for (stamp, sum) in sums {
        let (Some(low), Some(high)) = (whole((sum.value - sum.error).ceil()), whole((sum.value + sum.error).floor())) else { continue };
        // not a whole number: no count
        if low > high {
            continue;
        }
        if before.as_ref().is_none_or(|(least, of)| high < *least || *of != sum.of) {
            stretches.push(Vec::new());
        }
        before = Some((low, sum.of));
        let span = reads.at(stamp);
        if let Some(stretch) = stretches.last_mut() {
            stretch.push(Count { stamp, from: span.from, to: span.to, low, high });
        }
    }
    stretches.into_iter().rev().max_by_key(Vec::len).unwrap_or_default()
}

/// What series have together at one scrape, and how far rounding may have moved it.
#[derive(Default)]
struct Sum {
    of: Vec<SeriesId>,
    value: f64,
    error: f64,
}

/// A whole number that a 64-bit float holds exactly.
fn whole(value: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (-EXACT..=EXACT).contains(&value).then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::model::{Clock, Precision, SECOND, StampOf};

    #[test]
    fn the_longest_stretch_of_one_set_of_series_counts() {
        let mut builder = Builder::new("t", Clock::Wall, StampOf::Exposition);
        let id = builder.endpoint("x");
        let one = builder.series(id, "n_total", &Labels::new([("a", "1"), ("s", "ok")]), Precision::F64);
        let two = builder.series(id, "n_total", &Labels::new([("a", "2"), ("s", "ok")]), Precision::F64);
        let other = builder.series(id, "n_total", &Labels::new([("a", "2"), ("s", "no")]), Precision::F64);
        for (series, at, value) in [
            (one, 0, 4.0),
            (one, 1, 5.0),
            (two, 1, 7.0),
            (other, 1, 100.0),
            (one, 2, 0.0),
            (two, 2, 1.0),
            (one, 3, 2.0),
            (two, 3, 3.0),
            (two, 4, 9.0),
        ] {
            builder.push(series, at * SECOND, value);
        }
        let counts = tally(&builder.finish(), id, "n_total", &[("s", "ok")], &Timing::default());
        let counts: Vec<(i64, i64)> = counts.iter().map(|c| (c.stamp / SECOND, c.low)).collect();
        assert_eq!(counts, [(2, 1), (3, 5)], "the second series came at 1, both fell at 2, the first went at 4");
    }

    #[test]
    fn a_rounded_count_is_between_two_numbers() {
        let mut builder = Builder::new("t", Clock::Wall, StampOf::Exposition);
        let id = builder.endpoint("x");
        let series = builder.series(id, "n_total", &Labels::default(), Precision::F32);
        builder.push(series, 0, 16_777_220.0);
        let capture = builder.finish();
        let counts = tally(&capture, id, "n_total", &[], &Timing::default());
        assert_eq!((counts[0].low, counts[0].high), (16_777_219, 16_777_221));
    }
}
