//! What must hold for any samples: the store and the slice agree, and what was counted lies in the bracket.

use proptest::prelude::*;

use super::super::counter::{self, Activity};
use super::super::inside::Inside;
use super::super::quantile::{Cumulative, Estimate};
use super::super::resets::{self, Restart};
use super::super::scrapes::Scrapes;
use super::super::*;
use super::{STALE, store, window};

/// Samples by time without collisions: any values, among them NaN, markers of the end and infinities.
fn any_samples(most: usize) -> impl Strategy<Value = Vec<Sample>> {
    let value = prop_oneof![
        12 => (0u32..40).prop_map(f64::from),
        1 => Just(f64::NAN),
        1 => Just(f64::from_bits(STALE)),
        1 => prop_oneof![Just(f64::INFINITY), Just(-3.5)],
    ];
    prop::collection::btree_map(-60i64..600, value, 0..most)
        .prop_map(|map| map.into_iter().map(|(at, value)| Sample { at, value }).collect())
}

/// Mostly growing, with resets and NaN few enough to be kept.
fn a_counter() -> impl Strategy<Value = Vec<Sample>> {
    let step = prop_oneof![30 => (0u32..5).prop_map(|n| Some(f64::from(n))), 1 => Just(None), 1 => Just(Some(f64::NAN))];
    prop::collection::vec((1i64..4, step), 0..400).prop_map(|steps| {
        let (mut at, mut total) = (0, 0.0);
        let mut out = Vec::new();
        for (later, step) in steps {
            at += later;
            match step {
                None => total = 1.0,
                Some(step) if !step.is_nan() => total += step,
                Some(_) => {}
            }
            let value = if step.is_some_and(f64::is_nan) { f64::NAN } else { total };
            out.push(Sample { at, value });
        }
        out
    })
}

fn any_window() -> impl Strategy<Value = Window> {
    (-80i64..700, 0i64..400).prop_map(|(from, length)| window(from, from + length))
}

fn some_restarts() -> impl Strategy<Value = Vec<Restart>> {
    let restart = (-20i64..700, 1i64..30).prop_map(|(after, later)| Restart { after, by: after + later });
    prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(restart, 0..4)]
}

/// Debug text tells NaN from NaN alike.
fn shown(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

proptest! {
    #[test]
    fn the_store_and_the_slice_agree(counted in a_counter(), any in any_samples(300), window in any_window(), every in 1i64..20, restarts in some_restarts()) {
        let store = store(&[&counted, &any]);
        let scrapes = Scrapes::new((-40..40).map(|i| i * every).collect()).with_restarts(restarts);
        let mut cursor = store.cursor();
        for (series, samples) in [(0, &counted), (1, &any)] {
            let slice = Inside::of_samples(samples, window);
            prop_assert_eq!(shown(&Inside::of_store(&mut cursor, series, window)), shown(&slice));
            for precision in [Precision::F64, Precision::F32] {
                let slice = counter::of_samples(samples, window, precision, &scrapes);
                prop_assert_eq!(&counter::of_store(&mut cursor, series, window, precision, &scrapes), &slice);
                let slice = gauge::of_samples(samples, window, every * 2, precision);
                prop_assert_eq!(shown(&gauge::of_store(&mut cursor, series, window, every * 2, precision)), shown(&slice));
            }
        }
        prop_assert!(store.falls(0).is_some() && store.unknown(0).is_some(), "the fast way was taken");
    }

    #[test]
    fn histograms_of_the_store_and_of_slices_agree(
        mut a in a_counter(), b in a_counter(), any in any_samples(200), window in any_window(), together in any::<bool>(),
        restarts in some_restarts(),
    ) {
        if together {
            // scraped together, as buckets are: the same times
            a.truncate(b.len());
            a.iter_mut().zip(&b).for_each(|(a, b)| a.at = b.at);
        }
        let (store, inf) = (store(&[&a, &b, &any]), f64::INFINITY);
        let mut cursor = store.cursor();
        for buckets in [&[(1.0, 0), (inf, 1)][..], &[(1.0, 1), (2.0, 0), (inf, 2)]] {
            let series = [&a, &b, &any];
            let slices: Vec<(f64, &[Sample])> = buckets.iter().map(|&(le, i)| (le, &series[i as usize][..])).collect();
            let slice = histogram::of_samples(&slices, window, Precision::F64, &restarts);
            prop_assert_eq!(histogram::of_store(&mut cursor, buckets, window, Precision::F64, &restarts), slice);
        }
    }

    #[test]
    fn what_was_counted_lies_in_the_bracket(
        counts in prop::collection::vec(-100i64..1100, 0..200),
        base in prop_oneof![Just(0u32), Just(16_777_100), Just(40_000_000)],
        scrapes in prop::collection::btree_set(-100i64..1100, 0..60),
        (from, length) in (0i64..1000, 0i64..800),
        precision in prop_oneof![Just(Precision::F64), Just(Precision::F32)],
    ) {
        let served = |at: i64| f64::from(base) + counts.iter().filter(|t| **t <= at).count() as f64;
        let stored = |value: f64| if precision == Precision::F32 { f64::from(value as f32) } else { value };
        let samples: Vec<Sample> = scrapes.iter().map(|&at| Sample { at, value: stored(served(at)) }).collect();
        let window = window(from, from + length);
        let truth = served(window.to()) - served(window.from());
        let answer = counter::of_samples(&samples, window, precision, &Scrapes::new(scrapes.iter().copied().collect()));
        let (low, high) = answer.bracket().unwrap();
        prop_assert!(low <= truth, "{} < {}: {:?}", truth, low, answer);
        prop_assert!(high.is_none_or(|high| truth <= high), "{} > {:?}: {:?}", truth, high, answer);
        let around = samples.iter().any(|s| s.at <= window.from()) && samples.iter().any(|s| s.at >= window.to());
        prop_assert_eq!(high.is_some(), around, "bounded if and only if there are samples on both sides: {:?}", answer);
        match answer.activity() {
            Activity::Moved => prop_assert!(truth > 0.0),
            Activity::Still | Activity::NoWholeStep => prop_assert_eq!(truth, 0.0),
            Activity::Unproven(_) => {}
        }
    }

    #[test]
    fn what_several_lives_counted_lies_in_the_bracket_if_their_starts_are_known(
        counts in prop::collection::vec(-100i64..1100, 0..200),
        starts in prop::collection::btree_set(0i64..1000, 0..4),
        scrapes in prop::collection::btree_set(-100i64..1100, 0..60),
        (from, length) in (0i64..1000, 0i64..800),
    ) {
        let life = |at: i64| starts.range(..=at).next_back().copied().unwrap_or(i64::MIN);
        let samples: Vec<Sample> = scrapes
            .iter()
            .map(|&at| Sample { at, value: counts.iter().filter(|t| **t >= life(at) && **t <= at).count() as f64 })
            .collect();
        let told: Vec<Sample> = scrapes.iter().map(|&at| Sample { at, value: life(at) as f64 }).collect();
        let scrapes = Scrapes::new(scrapes.iter().copied().collect()).with_restarts(resets::restarts(&told));
        let window = window(from, from + length);
        let truth = counts.iter().filter(|t| **t > window.from() && **t <= window.to()).count() as f64;
        let answer = counter::of_samples(&samples, window, Precision::F64, &scrapes);
        let (low, high) = answer.bracket().unwrap();
        prop_assert!(low <= truth, "{} < {}: {:?}", truth, low, answer);
        prop_assert!(high.is_none_or(|high| truth <= high), "{} > {:?}: {:?}", truth, high, answer);
    }

    #[test]
    fn a_quantile_lies_in_its_bracket(values in prop::collection::vec(0.0f64..3.0, 1..60), q in 0.0f64..=1.0) {
        let bounds = [0.5, 1.0, 2.0, f64::INFINITY];
        let buckets: Vec<Cumulative> =
            bounds.iter().map(|&bound| Cumulative { bound, count: values.iter().filter(|v| **v <= bound).count() as f64, error: 0.0 }).collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        // the smallest value at or below which a share of q lies
        let rank = ((q * values.len() as f64).ceil() as usize).max(1);
        let truth = sorted[rank - 1];
        match quantile::of(q, &buckets).estimate {
            Estimate::Within { value, low, high } => {
                prop_assert!(low <= truth && truth <= high, "{} not in {} {}", truth, low, high);
                prop_assert!(low <= value && value <= high);
            }
            Estimate::Censored { above } => prop_assert!(truth > above),
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn any_samples_get_an_answer(samples in prop::collection::vec((any::<i64>(), any::<f64>()), 0..40), a in any::<i64>(), b in any::<i64>()) {
        let samples: Vec<Sample> = samples.into_iter().map(|(at, value)| Sample { at, value }).collect();
        let mut sorted = samples.clone();
        sorted.sort_by_key(|s| s.at);
        let window = window(a.min(b), a.max(b));
        for samples in [&samples, &sorted] {
            let answer = counter::of_samples(samples, window, Precision::F32, &Scrapes::unknown());
            let _ = (answer.bracket(), answer.activity(), answer.delta().and_then(counter::Delta::rate));
            gauge::of_samples(samples, window, a, Precision::F32);
            let buckets: [(f64, &[Sample]); 2] = [(0.0, samples), (f64::INFINITY, samples)];
            if let histogram::Answer::Answered(found) = histogram::of_samples(&buckets, window, Precision::F32, &[]) {
                found.quantile(0.5);
            }
            let _ = (capacity::of(samples, &sorted, window), replica::counters(&[samples, &sorted], Precision::F64));
            let _ = ratio::of(&answer, &answer);
            let _ = summary::of(&[(0.5, samples)], &answer, &answer, window);
        }
    }
}
