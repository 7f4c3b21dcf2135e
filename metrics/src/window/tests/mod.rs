//! What is worked out by hand. What must hold for any samples stands in `properties`.

mod properties;

use serde_json::{Value, json};

use super::counter::{self, Activity, Answer, Grade};
use super::quantile::{Cumulative, Estimate, Reason};
use super::replica::Verdict;
use super::resets::{self, Evidence, Restart};
use super::scrapes::{Scrapes, median_interval};
use super::*;
use crate::blocks::{Store, Writer};
use crate::build::Builder;
use crate::model::{Clock, Labels, Outcome, Scrape, StampOf};

const STALE: u64 = 0x7ff0_0000_0000_0002;

fn samples(pairs: &[(i64, f64)]) -> Vec<Sample> {
    pairs.iter().map(|&(at, value)| Sample { at, value }).collect()
}

fn window(from: i64, to: i64) -> Window {
    Window::new(from, to).unwrap()
}

fn count(pairs: &[(i64, f64)], (from, to): (i64, i64), precision: Precision) -> Answer {
    counter::of_samples(&samples(pairs), window(from, to), precision, &Scrapes::every(10))
}

fn store(series: &[&[Sample]]) -> Store {
    let mut writer = Writer::default();
    for (i, samples) in series.iter().enumerate() {
        samples.iter().for_each(|s| writer.push(i as u32, s.at, s.value));
    }
    writer.finish(series.len())
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn a_window_does_not_end_before_it_starts() {
    assert_eq!(Window::new(2, 1), None);
    assert_eq!(window(i64::MIN, i64::MAX).length(), i64::MAX, "too long to say: as long as can be said");
}

#[test]
fn what_32_bit_floats_hide_is_no_evidence_of_rest() {
    let big = 16_777_216.0;
    let flat = |value| [(0, value), (10, value), (20, value)];
    assert_eq!(count(&flat(big), (0, 20), Precision::F64).activity(), Activity::Still);
    assert_eq!(count(&flat(1000.0), (0, 20), Precision::F32).activity(), Activity::NoWholeStep);
    let hidden = count(&flat(big), (0, 20), Precision::F32);
    assert_eq!(hidden.activity(), Activity::Unproven("32-bit floats of this size hide whole steps"));
    assert_eq!(hidden.bracket(), Some((0.0, Some(2.0))), "two steps of one may be lost");
    let seen = count(&[(0, big), (20, big + 2.0)], (0, 20), Precision::F32);
    assert_eq!(seen.activity(), Activity::Moved, "values stored apart were served apart");
    assert_eq!(seen.delta().unwrap().inner, Figure { value: 2.0, error: 2.0 });
    assert_eq!(seen.bracket(), Some((0.0, Some(4.0))));
}

#[test]
fn every_life_adds_its_own_rounding() {
    let big = 33_554_432.0;
    let answer = count(&[(0, big), (10, big + 8.0), (20, big), (30, big + 4.0), (40, big)], (0, 40), Precision::F32);
    let delta = answer.delta().unwrap();
    // 2 + 2 in the first two lives; the third has one sample, which is no distance from itself
    assert_eq!(delta.inner, Figure { value: 12.0, error: 8.0 });
    assert_eq!(delta.restart_base, Figure { value: 2.0 * big, error: 4.0 });
}

#[test]
fn rest_is_proven_only_by_samples_beyond_both_edges() {
    let still = |window| count(&[(0, 7.0), (10, 7.0), (20, 7.0), (30, 9.0)], window, Precision::F64).activity();
    assert_eq!(still((0, 20)), Activity::Still);
    assert_eq!(still((5, 15)), Activity::Still, "one sample, and equal ones around it");
    assert_eq!(still((5, 25)), Activity::Unproven("it counted between a sample in the window and the one outside"));
    assert_eq!(still((-5, 15)), Activity::Unproven("no sample beyond an edge of the window"));
    assert_eq!(still((11, 19)), Activity::Unproven("no sample in the window"));
    assert_eq!(count(&[(0, 5.0), (10, 0.0)], (0, 10), Precision::F64).activity(), Activity::Unproven("it was reset in the window"));
    assert_eq!(count(&[(0, 5.0), (10, 2.0)], (0, 10), Precision::F64).activity(), Activity::Moved, "the new life counted 2");
}

#[test]
fn a_window_without_samples_is_bounded_by_those_around_it() {
    let answer = count(&[(0, 1.0), (40, 30.0)], (10, 20), Precision::F64);
    assert_eq!(answer.bracket(), Some((0.0, Some(29.0))));
    assert_eq!(count(&[(0, 30.0), (40, 1.0)], (10, 20), Precision::F64).bracket(), Some((0.0, None)), "reset between them");
    assert_eq!(count(&[(0, 30.0)], (10, 20), Precision::F64).bracket(), Some((0.0, None)));
    assert_eq!(count(&[], (10, 20), Precision::F64).bracket(), Some((0.0, None)));
}

#[test]
fn a_rate_is_between_its_two_samples() {
    let second = crate::model::SECOND;
    let pairs = samples(&[(5 * second, 10.0), (15 * second, 60.0)]);
    let answer = counter::of_samples(&pairs, window(0, 20 * second), Precision::F64, &Scrapes::unknown());
    let rate = answer.delta().unwrap().rate().unwrap();
    assert_eq!((rate.per_second.value, rate.first, rate.last), (5.0, pairs[0], pairs[1]));
    assert_eq!(answer.delta().unwrap().end.grade, Grade::Approximate, "no interval is known");
}

#[test]
fn an_edge_is_near_up_to_one_and_a_half_intervals() {
    let grade = |to| count(&[(0, 1.0), (10, 4.0)], (0, to), Precision::F64).delta().unwrap().end.grade;
    assert_eq!(
        (grade(10), grade(11), grade(25), grade(26)),
        (Grade::Exact, Grade::WithinOneScrape, Grade::WithinOneScrape, Grade::Approximate)
    );
}

#[test]
fn samples_that_say_nothing_are_refused() {
    let answer = |pairs: &[(i64, f64)]| count(pairs, (0, 40), Precision::F64);
    assert_eq!(answer(&[(0, 1.67), (0, 793.0), (10, 2.0)]), Answer::Refused(Refusal::Ambiguous { collisions: 1 }));
    assert_eq!(answer(&[(10, 1.0), (0, 2.0)]), Answer::Refused(Refusal::Disordered));
    assert_eq!(answer(&[(0, 1.0), (10, f64::INFINITY)]), Answer::Refused(Refusal::Infinite));
    assert_eq!(answer(&[(0, 1.0), (10, f64::INFINITY), (20, 2.0)]), Answer::Refused(Refusal::Infinite), "it stands at a fall");
    assert_eq!(answer(&[(0, 1.0), (10, 2.0), (50, f64::INFINITY)]).bracket(), Some((1.0, None)), "one outside bounds nothing");
    assert_eq!(answer(&[(0, 1.0)]).bracket(), Some((0.0, None)));
    assert_eq!(answer(&[(0, f64::NAN), (10, f64::NAN)]).bracket(), Some((0.0, None)));
}

#[test]
fn a_capture_refuses_what_it_found_to_be_nothing() {
    let mut builder = Builder::new("test", Clock::Wall, StampOf::Request);
    let endpoint = builder.endpoint("a");
    let mut series = |name: &str| builder.series(endpoint, name, &Labels::default(), Precision::F32);
    let (good, twice, foreign) = (series("a_total"), series("b_total"), series("c_total"));
    for at in [0, 10] {
        builder.push(good, at, at as f64);
        builder.push(twice, at, 1.0);
        builder.push(twice, at, 2.0);
        builder.push(foreign, at, 1.0);
    }
    builder.trouble(foreign).unwrap().foreign = true;
    let capture = builder.finish();
    let mut cursor = capture.samples.cursor();
    let mut ask = |id| counter::of_capture(&capture, &mut cursor, id, window(0, 10), &Scrapes::unknown());
    assert_eq!(ask(good).unwrap().delta().unwrap().precision, Precision::F32);
    assert_eq!(ask(twice), Some(Answer::Refused(Refusal::Ambiguous { collisions: 2 })));
    assert_eq!(ask(foreign), Some(Answer::Refused(Refusal::ForeignValues)));
    assert_eq!(ask(crate::model::SeriesId(9)), None);
    let refused = gauge::of_capture(&capture, &mut capture.samples.cursor(), twice, window(0, 10), 10);
    assert_eq!(refused, Some(gauge::Answer::Refused(Refusal::Ambiguous { collisions: 2 })));
    let buckets = [(1.0, good), (f64::INFINITY, twice)];
    let refused = histogram::of_capture(&capture, &mut capture.samples.cursor(), &buckets, window(0, 10), &Scrapes::unknown());
    assert_eq!(refused, Some(histogram::Answer::Refused(Refusal::Ambiguous { collisions: 2 })));
}

#[test]
fn a_series_appears_only_where_its_endpoint_was_scraped_without_it() {
    let ask = |pairs: &[(i64, f64)], from| {
        let answer = counter::of_samples(&samples(pairs), window(from, 40), Precision::F64, &Scrapes::new(vec![0, 10, 20, 30, 40]));
        answer.delta().unwrap().first_appearance
    };
    let found = ask(&[(20, 700.0), (30, 750.0)], 0).unwrap();
    assert_eq!((found.absent_at, found.at, found.value, found.lifetime), (10, 20, 700.0, Some(750.0)));
    assert_eq!(ask(&[(20, 700.0), (30, 5.0)], 0).unwrap().lifetime, None, "reset");
    assert_eq!(ask(&[(20, 0.0), (30, 5.0)], 0), None, "it began at zero");
    assert_eq!(ask(&[(0, 700.0), (30, 750.0)], 0), None, "no scrape before it");
    assert_eq!(ask(&[(10, f64::NAN), (20, 700.0), (30, 750.0)], 0), None, "it was there, without a value");
    assert_eq!(ask(&[(10, 1.0), (20, 700.0), (30, 750.0)], 15), None, "it was there before the window");
}

#[test]
fn a_start_that_the_process_tells_splits_a_counter_that_rose() {
    let restarts = resets::restarts(&samples(&[(0, 100.0), (10, 100.0), (20, 115.0), (30, f64::NAN), (40, 115.0)]));
    assert_eq!(restarts, [Restart { after: 10, by: 20 }]);
    let known = Scrapes::every(10).with_restarts(restarts);
    let pairs = samples(&[(0, 5.0), (10, 8.0), (20, 50.0), (30, 51.0)]);
    let ask = |from, to| counter::of_samples(&pairs, window(from, to), Precision::F64, &known);
    let answer = ask(0, 30);
    let delta = answer.delta().unwrap();
    assert_eq!((delta.inner.value, delta.restart_base.value, delta.outer), (4.0, 50.0, None), "3 + 1, not 46");
    assert_eq!(delta.segments.iter().map(|s| (s.delta.value, s.n)).collect::<Vec<_>>(), [(3.0, 2), (1.0, 2)]);
    assert_eq!(ask(0, 10).bracket(), Some((3.0, Some(3.0))), "before the start");
    assert_eq!(ask(0, 15).bracket(), Some((3.0, None)), "the sample after the window is of another life");
    assert_eq!(ask(15, 30).bracket(), Some((1.0, None)), "and so is the one before it");
    assert_eq!(ask(12, 18).bracket(), Some((0.0, None)), "nothing bounds a window between two lives");
    assert_eq!(ask(20, 30).bracket(), Some((1.0, Some(1.0))));
    // scraped at other times than the start was read: of unknown life
    let loose = samples(&[(0, 5.0), (9, 8.0), (15, 20.0), (21, 50.0), (30, 51.0)]);
    let answer = counter::of_samples(&loose, window(0, 30), Precision::F64, &known);
    assert_eq!(answer.delta().map(|d| (d.n, d.inner.value)), Some((4, 4.0)), "the sample at 15 is of neither life");
}

#[test]
fn an_endpoint_tells_its_own_starts() {
    let mut builder = Builder::new("test", Clock::Wall, StampOf::Request);
    for (name, starts) in [("a", [100.0, 115.0]), ("b", [100.0, 100.0]), ("two processes", [100.0, 90.0])] {
        let endpoint = builder.endpoint(name);
        let told = builder.series(endpoint, "process_start_time_seconds", &Labels::default(), Precision::F64);
        builder.push(told, 10, starts[0]);
        builder.push(told, 20, starts[1]);
    }
    let capture = builder.finish();
    let told = |i| resets::told(&capture, &[i]);
    assert_eq!(told(0), [Restart { after: 10, by: 20 }]);
    assert_eq!((told(1), told(2), told(3)), (vec![], vec![], vec![]), "the last one is not there");
}

#[test]
fn a_start_that_the_process_tells_splits_buckets_that_rose() {
    let restarts = [Restart { after: 10, by: 20 }];
    let low = samples(&[(0, 0.0), (10, 1.0), (20, 30.0), (30, 32.0)]);
    let all = samples(&[(0, 10.0), (10, 20.0), (20, 50.0), (30, 55.0)]);
    let ask = |from, to| histogram::of_samples(&[(1.0, &low), (f64::INFINITY, &all)], window(from, to), Precision::F64, &restarts);
    let histogram::Answer::Answered(found) = ask(0, 30) else { panic!() };
    assert_eq!(found.cumulative().iter().map(|b| b.count).collect::<Vec<_>>(), [3.0, 15.0]);
    assert_eq!(found.resets().collect::<Vec<_>>(), [(10, 20)]);
    assert_eq!(counts_of(ask(10, 20)), [0.0, 0.0], "two lives of one scrape each");
    assert_eq!(counts_of(ask(0, 15)), [1.0, 10.0]);
}

fn counts_of(answer: histogram::Answer) -> Vec<f64> {
    let histogram::Answer::Answered(found) = answer else { panic!("{answer:?}") };
    found.cumulative().iter().map(|b| b.count).collect()
}

#[test]
fn a_reset_is_as_sure_as_what_speaks_for_it() {
    let falling = samples(&[(0, 5.0), (10, 8.0), (30, 2.0)]);
    let steady = samples(&[(0, 5.0), (10, 8.0), (30, 9.0)]);
    let empty = samples(&[(0, 0.0), (10, 0.0), (30, 0.0)]);
    let store = store(&[&falling, &falling, &falling, &steady, &empty]);
    let mut cursor = store.cursor();
    let fall = store.falls(0).unwrap()[0];
    let mut ask = |others: &[u32], scrapes: &Scrapes| resets::evidence(&mut cursor, &fall, others, scrapes);
    let mut endpoint = crate::model::Endpoint::default();
    for (at, outcome) in [(10, Outcome::Read), (20, Outcome::Failed("refused".to_string())), (30, Outcome::Read)] {
        endpoint.scrapes.push(Scrape { at, took: None, outcome });
    }
    let scrapes = Scrapes::of_endpoint(&endpoint).unwrap();
    assert_eq!((scrapes.times(), scrapes.failed()), (&[10, 30][..], &[20][..]));
    let told = Restart { after: 10, by: 30 };
    assert_eq!(ask(&[1, 2], &scrapes.clone().with_restarts(vec![told])), Evidence::Started(told));
    assert_eq!(ask(&[1, 2, 3, 4], &scrapes), Evidence::Together { fell: 2, of: 3 }, "what stands at zero cannot fall");
    assert_eq!(ask(&[1, 3], &scrapes), Evidence::ScrapeFailed { at: 20 });
    assert_eq!(ask(&[1, 3], &Scrapes::unknown()), Evidence::Alone { fell: 1, of: 2 });
}

#[test]
fn scrapes_are_as_far_apart_as_most_of_them() {
    assert_eq!(median_interval(&[0, 10, 20, 80]), Some(10));
    assert_eq!(median_interval(&[0, 10, 40]), Some(20), "of two the mean");
    assert_eq!(median_interval(&[5]), None);
    assert_eq!(Scrapes::new(vec![20, 0, 10, 10]).times(), &[0, 10, 20]);
}

#[test]
fn a_marker_of_an_ended_series_is_no_sample() {
    let stale = f64::from_bits(STALE);
    let pairs = samples(&[(0, 2.0), (10, stale), (30, 4.0)]);
    let answer = gauge::of_samples(&pairs, window(0, 40), 20, Precision::F64);
    let gauge = answer.gauge().unwrap();
    assert_eq!((gauge.n, gauge.n_nan, gauge.covered, gauge.time_weighted), (2, 0, 30, Some(8.0 / 3.0)));
    let nan = samples(&[(0, 2.0), (10, f64::NAN), (30, 4.0)]);
    let answer = gauge::of_samples(&nan, window(0, 40), 20, Precision::F64);
    assert_eq!(answer.gauge().map(|g| (g.n, g.n_nan, g.covered)), Some((3, 1, 20)), "a NaN ends what was known");
    let before = samples(&[(0, 2.0), (3, stale)]);
    assert_eq!(gauge::of_samples(&before, window(30, 40), 20, Precision::F64), gauge::Answer::NoSamples { before: Some(before[0]) });
}

#[test]
fn a_gauge_names_its_samples() {
    let pairs = samples(&[(0, 5.0), (10, 1.0), (20, 9.0), (30, 1.0)]);
    let answer = gauge::of_samples(&pairs, window(0, 30), 20, Precision::F32);
    let gauge = answer.gauge().unwrap();
    assert_eq!((gauge.min, gauge.max), (Some(pairs[1]), Some(pairs[2])));
    assert_eq!(gauge.median.as_ref().map(|m| (m.value, m.of.clone())), Some((3.0, vec![pairs[3], pairs[0]])));
    assert_eq!(gauge.error, Precision::F32.error(9.0));
    let instant = gauge::of_samples(&pairs, window(10, 10), 20, Precision::F64);
    assert_eq!(instant.gauge().map(|g| (g.n, g.time_weighted, g.coverage)), Some((1, None, None)), "no time to weigh");
}

fn cumulative(pairs: &[(f64, f64)], error: f64) -> Vec<Cumulative> {
    pairs.iter().map(|&(bound, count)| Cumulative { bound, count, error }).collect()
}

#[test]
fn a_quantile_of_rounded_counts_has_a_wider_bracket() {
    let pairs = [(0.1, 10.0), (0.5, 40.0), (1.0, 70.0), (f64::INFINITY, 100.0)];
    let at = |q, error| quantile::of(q, &cumulative(&pairs, error)).estimate;
    assert_eq!(at(0.4, 0.0), Estimate::Within { value: 0.5, low: 0.1, high: 0.5 });
    assert_eq!(at(0.4, 2.0), Estimate::Within { value: 0.5, low: 0.1, high: 1.0 }, "rank 40 may be 40.8 of counts that may be 38");
    assert_eq!(at(0.41, 2.0), Estimate::Within { value: 0.5 + 0.5 / 30.0, low: 0.1, high: 1.0 });
    assert_eq!(at(0.7, 2.0), Estimate::Within { value: 1.0, low: 0.5, high: f64::INFINITY });
    assert_eq!(at(0.71, 2.0), Estimate::Censored { above: 0.5 });
    assert_eq!(at(0.71, 0.0), Estimate::Censored { above: 1.0 });
}

#[test]
fn a_quantile_of_nonsense_is_undefined() {
    let inf = f64::INFINITY;
    let why = |q, pairs: &[(f64, f64)]| match quantile::of(q, &cumulative(pairs, 0.0)).estimate {
        Estimate::Undefined { reason } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(f64::NAN, &[(1.0, 1.0), (inf, 2.0)]), Reason::NotANumber);
    assert_eq!(why(0.5, &[(1.0, f64::NAN), (inf, 2.0)]), Reason::NotANumber);
    assert_eq!(why(0.5, &[(1.0, 1.0), (1.0, 1.0), (inf, 2.0)]), Reason::SameBound);
    assert_eq!(why(0.5, &[]), Reason::TooFewBuckets);
    let low = quantile::of(0.0, &cumulative(&[(1.0, 0.0), (2.0, 4.0), (inf, 4.0)], 0.0));
    assert_eq!(low.estimate, Estimate::Within { value: 1.0, low: 1.0, high: 2.0 }, "the lowest bucket that is not empty");
}

#[test]
fn a_reset_splits_every_bucket_at_the_same_scrapes() {
    // the lowest bucket rises over the restart, so that it alone does not show it
    let low = samples(&[(0, 0.0), (10, 1.0), (20, 3.0), (30, 4.0)]);
    let all = samples(&[(0, 10.0), (10, 20.0), (20, 5.0), (30, 9.0)]);
    let histogram::Answer::Answered(found) =
        histogram::of_samples(&[(1.0, &low), (f64::INFINITY, &all)], window(0, 30), Precision::F64, &[])
    else {
        panic!()
    };
    assert_eq!(found.cumulative().iter().map(|b| b.count).collect::<Vec<_>>(), [2.0, 14.0], "1 + 1 and 10 + 4");
    assert_eq!(found.buckets.iter().map(|b| b.restart_base).collect::<Vec<_>>(), [3.0, 5.0]);
    assert_eq!(found.resets().collect::<Vec<_>>(), [(10, 20)]);
}

#[test]
fn buckets_are_compared_at_scrapes_that_have_them_all() {
    let low = samples(&[(10, 1.0), (20, 2.0), (30, 7.0)]);
    let all = samples(&[(0, 10.0), (10, 20.0), (20, 30.0)]);
    let slices: [(f64, &[Sample]); 2] = [(1.0, &low), (f64::INFINITY, &all)];
    let histogram::Answer::Answered(found) = histogram::of_samples(&slices, window(0, 30), Precision::F64, &[]) else { panic!() };
    assert_eq!(found.cumulative().iter().map(|b| b.count).collect::<Vec<_>>(), [1.0, 10.0]);
    assert_eq!(found.segments, [histogram::Stretch { first: 10, last: 20 }]);
    assert_eq!(histogram::of_samples(&slices, window(0, 10), Precision::F64, &[]), histogram::Answer::OneSample { at: 10 });
    assert_eq!(histogram::of_samples(&slices, window(0, 5), Precision::F64, &[]), histogram::Answer::NoSamples);
    let other = histogram::of_samples(&[(2.0, &low), (f64::INFINITY, &all)], window(0, 30), Precision::F64, &[]);
    let histogram::Answer::Answered(other) = other else { panic!() };
    assert_eq!(histogram::Sum::of(vec![found.clone(), other]), None, "bounds of another server");
    assert_eq!(histogram::Sum::of(vec![found.clone(), found]).unwrap().buckets[1].count, 20.0);
}

#[test]
fn a_mean_is_of_one_stretch() {
    let answer = |pairs: &[(i64, f64)]| count(pairs, (0, 40), Precision::F64);
    let sum = answer(&[(0, 10.0), (10, 40.0)]);
    let found = mean::of(&sum, &answer(&[(0, 100.0), (10, 110.0)])).unwrap();
    assert_eq!((found.value, found.low, found.high), (3.0, 3.0, 3.0));
    assert_eq!(mean::of(&sum, &answer(&[(0, 100.0), (20, 110.0)])), Err(mean::NoMean::OtherScrapes));
    assert_eq!(mean::of(&sum, &answer(&[(0, 100.0), (10, 100.0)])), Err(mean::NoMean::NoObservations));
    assert_eq!(mean::of(&sum, &answer(&[(0, 100.0)])), Err(mean::NoMean::NoDifference));
    let fallen = answer(&[(0, 10.0), (10, 4.0)]);
    assert_eq!(mean::of(&fallen, &answer(&[(0, 1.0), (10, 2.0)])), Err(mean::NoMean::OtherScrapes), "a sum of negative observations");
}

#[test]
fn quantiles_of_a_summary_stay_apart() {
    let half = samples(&[(0, f64::NAN), (10, 0.2), (20, 0.1)]);
    let most = samples(&[(0, 0.9), (20, 0.8)]);
    let (sum, count) = (count(&[(0, 0.0), (20, 6.0)], (0, 20), Precision::F64), count(&[(0, 0.0), (20, 3.0)], (0, 20), Precision::F64));
    let found = summary::of(&[(0.9, &most), (0.5, &half)], &sum, &count, window(0, 20));
    assert_eq!(found.quantiles.iter().map(|q| (q.q, q.n, q.unknown)).collect::<Vec<_>>(), [(0.5, 2, 1), (0.9, 2, 0)]);
    assert_eq!((found.quantiles[0].first, found.quantiles[0].max), (Some(half[1]), Some(half[1])));
    assert_eq!((found.quantiles[0].last, found.quantiles[0].min), (Some(half[2]), Some(half[2])));
    assert_eq!(found.mean.map(|m| m.value), Some(2.0));
}

#[test]
fn several_denominators_are_added_with_their_brackets() {
    let above = count(&[(0, 0.0), (10, 3.0), (20, 9.0), (30, 12.0)], (5, 25), Precision::F64);
    let below = [[0.0, 10.0, 20.0, 40.0], [0.0, 1.0, 3.0, 4.0]].map(|v| {
        let samples: Vec<(i64, f64)> = [0, 10, 20, 30].into_iter().zip(v).collect();
        count(&samples, (5, 25), Precision::F64)
    });
    let bracketed = |answer: &'_ Answer| (answer.delta().unwrap().clone(), answer.bracket().unwrap());
    let (above, below) = (bracketed(&above), [bracketed(&below[0]), bracketed(&below[1])]);
    let found = ratio::divide((&above.0, above.1), &[(&below[0].0, below[0].1), (&below[1].0, below[1].1)]);
    // 6 of 10 + 2; at least 6 of 40 + 4, at most 12 of 12.
    assert_eq!((found.value, found.low, found.high, found.same_scrapes), (Some(0.5), 6.0 / 44.0, Some(1.0), true));
}

#[test]
fn a_ratio_has_a_bracket_from_both() {
    let hits = count(&[(0, 0.0), (10, 10.0), (20, 40.0), (30, 50.0)], (5, 25), Precision::F64);
    let all = count(&[(0, 0.0), (10, 20.0), (20, 80.0), (30, 100.0)], (5, 25), Precision::F64);
    let found = ratio::of(&hits, &all).unwrap();
    assert_eq!((found.value, found.low, found.high, found.same_scrapes), (Some(0.5), 0.3, Some(50.0 / 60.0), true));
    assert_eq!((found.denominator.inner.value, found.denominator.outer.unwrap().value), (60.0, 100.0));
    let still = count(&[(0, 7.0), (10, 7.0), (20, 7.0), (30, 8.0)], (5, 25), Precision::F64);
    let none = ratio::of(&hits, &still).unwrap();
    assert_eq!((none.value, none.low, none.high), (None, 30.0, None));
    assert_eq!(ratio::of(&hits, &count(&[], (5, 25), Precision::F64)), Err(ratio::NoRatio::NoDenominator));
}

#[test]
fn ranks_are_told_by_their_values() {
    let rank = |values: &[f64]| values.iter().zip(0..).map(|(&value, at)| Sample { at, value }).collect::<Vec<_>>();
    let verdict = |a: &[f64], b: &[f64]| replica::counters(&[&rank(a), &rank(b)], Precision::F64).unwrap().verdict;
    assert_eq!(verdict(&[1.0, 2.0, 1.0, 1.0, 2.0], &[1.0, 2.0, 2.0, 1.0, 2.0]), Verdict::Synchronised, "reset a scrape apart");
    assert_eq!(verdict(&[10.0, 20.0, 30.0], &[11.0, 21.0, 31.0]), Verdict::Independent);
    assert_eq!(verdict(&[], &[]), Verdict::Unknown);
    let still = replica::counters(&[&rank(&[0.0, 0.0]), &rank(&[0.0, 0.0])], Precision::F64).unwrap();
    assert_eq!((still.verdict, still.moved), (Verdict::Identical, false));
    let (a, b) = (rank(&[2e7, 3e7]), rank(&[2e7, 3e7]));
    assert!(replica::counters(&[&a, &b], Precision::F32).unwrap().rounded);
    assert!(!replica::counters(&[&a, &b], Precision::F64).unwrap().rounded);
    let gauge: Vec<f64> = (0..20).map(f64::from).collect();
    let mut other = gauge.clone();
    other[7] = -3.0;
    assert_eq!(replica::gauges(&[&rank(&gauge), &rank(&other)], Precision::F64).unwrap().verdict, Verdict::MostlyEqual);
    other[9] = -3.0;
    assert_eq!(replica::gauges(&[&rank(&gauge), &rank(&other)], Precision::F64).unwrap().verdict, Verdict::Independent);
    assert_eq!(replica::gauges(&[&rank(&gauge)], Precision::F64).unwrap().verdict, Verdict::Unknown, "one rank");
    let elsewhere: Vec<Sample> = rank(&gauge).iter().map(|s| Sample { at: s.at + 100, ..*s }).collect();
    assert_eq!(replica::gauges(&[&rank(&gauge), &elsewhere], Precision::F64).unwrap().verdict, Verdict::Unknown, "no common scrape");
}

#[test]
fn capacity_without_a_scrape_that_has_both_is_not_zero() {
    let found = capacity::of(&samples(&[(0, 9.0)]), &samples(&[(1, 4.0), (2, 3.0)]), window(0, 10));
    assert_eq!(found, capacity::Answer::NoPairs { capacity: 1, available: 2 });
}

#[test]
fn what_is_occupied_has_parts_at_its_own_scrape() {
    let capacity::Answer::Answered(found) = capacity::of(&samples(&[(0, 9.0), (1, 9.0)]), &samples(&[(0, 8.0), (1, 2.0)]), window(0, 10))
    else {
        panic!()
    };
    let parts = found.max.parts(&samples(&[(0, 1.0), (1, 4.0)]), &samples(&[(1, 2.0)]));
    assert_eq!((parts.evictable, parts.used, parts.in_neither), (Some(4.0), Some(2.0), Some(1.0)));
    assert_eq!(found.min.parts(&samples(&[(0, 1.0)]), &samples(&[(1, 2.0)])).in_neither, None, "used is not known at that scrape");
}

#[test]
fn answers_are_json_with_the_samples_behind_them() {
    let answer = count(&[(0, 1.0), (10, 4.0), (20, 9.0)], (5, 15), Precision::F64);
    let one = json!({
        "status": "one_sample", "window": { "from": 5, "to": 15 }, "sample": { "at": 10, "value": 4.0 },
        "outer": { "value": 8.0, "error": 0.0 },
        "start": { "gap": 5, "grade": "within_one_scrape", "outside": { "at": 0, "value": 1.0 } },
        "end": { "gap": 5, "grade": "within_one_scrape", "outside": { "at": 20, "value": 9.0 } },
        "interval": 10, "first_appearance": null, "precision": "f64",
    });
    assert_eq!(json(&answer), one);
    assert_eq!(
        json(&Answer::Refused(Refusal::Ambiguous { collisions: 2 })),
        json!({ "status": "refused", "why": "ambiguous", "collisions": 2 })
    );
    assert_eq!(json(&Answer::Refused(Refusal::Infinite)), json!({ "status": "refused", "why": "infinite" }));
    assert_eq!(json(&Activity::Unproven("x")), json!({ "activity": "unproven", "why": "x" }));
    let pairs = [(1.0, 1.0), (f64::INFINITY, 9.0)];
    let found = json!({ "q": 0.9, "n": 9.0, "forced_monotonic": false, "status": "censored", "above": 1.0 });
    assert_eq!(json(&quantile::of(0.9, &cumulative(&pairs, 0.0))), found);
    assert_eq!(json(&Sample { at: 1, value: f64::NEG_INFINITY }), json!({ "at": 1, "value": "-Inf" }));
    assert_eq!(json(&Sample { at: 1, value: f64::NAN }), json!({ "at": 1, "value": "NaN" }));
    let (low, all) = (samples(&[(0, 0.0), (10, 1.0)]), samples(&[(0, 0.0), (10, 2.0)]));
    let found = json(&histogram::of_samples(&[(1.0, &low), (f64::INFINITY, &all)], window(0, 10), Precision::F64, &[]));
    assert_eq!(found["buckets"][1]["bound"], json!("+Inf"));
    assert_eq!(found["status"], json!("answered"));
}
