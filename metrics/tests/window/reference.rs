//! Nine windows over a capture by Prometheus, against figures that were computed from the same samples apart from this code
//! (`cases/metrics/reference`).

use std::collections::{BTreeMap, BTreeSet};

use corr_metrics::model::{Precision, Sample};
use corr_metrics::window::counter::Answer;
use corr_metrics::window::quantile::{Estimate, Quantile};
use corr_metrics::window::resets::{self, Evidence};
use corr_metrics::window::scrapes::Scrapes;
use corr_metrics::window::{capacity, counter, gauge, histogram, replica};
use serde_json::{Value, json};

use super::dump::{Dump, MS, Tally, file, object_labels, read_labels, windows};
use super::increase::{Rules, increase};

/// The samples of the API's raw matrix, from which the reference's replica checks were made, end here; the dump goes on for 15 s.
const MATRIX_END: i64 = 1_795_977_181_000 * MS;

fn pair(sample: Sample) -> Value {
    json!([sample.at / MS, sample.value])
}

#[test]
fn counters_of_nine_windows() {
    let (Some(dump), Some(reference)) = (Dump::read(), file("exact_from_prometheus_samples.json")) else { return };
    let windows = windows(&reference);
    assert_eq!(windows.len(), 9);
    let mut tally = Tally::default();
    let (mut compared, mut above, mut below, mut fractions) = (0, 0, 0, 0);
    let mut families = BTreeSet::new();
    let (mut rows, mut resets, mut corroborated) = (0, 0, 0);
    let counters: Vec<usize> = {
        let all = windows.iter().flat_map(|(name, _)| reference["windows"][name]["rows"].as_array().unwrap());
        let series: BTreeSet<&str> = all.map(|row| row["series"].as_str().unwrap()).collect();
        series.into_iter().map(|spelled| dump.find(&read_labels(spelled))).collect()
    };
    for (name, window) in &windows {
        let mut seen = BTreeSet::new();
        for row in reference["windows"][name]["rows"].as_array().unwrap() {
            rows += 1;
            let spelled = row["series"].as_str().unwrap();
            let labels = read_labels(spelled);
            families.insert(labels["__name__"].clone());
            let series = dump.find(&labels);
            seen.insert(series);
            let (samples, scrapes) = (&dump.samples[series], &dump.scrapes[&labels["instance"]]);
            let answer = counter::of_samples(samples, *window, Precision::F64, scrapes);
            let stored = counter::of_store(&mut dump.store.cursor(), series as u32, *window, Precision::F64, scrapes);
            assert_eq!(answer, stored, "the two ways");
            let Answer::Answered(delta) = &answer else { panic!("{name} {spelled}: {answer:?}") };
            let place = format!("{name} {spelled}");
            tally.equal("n", &place, &row["n"], json!(delta.n));
            tally.equal("resets", &place, &row["resets"], json!(delta.resets.len()));
            tally.equal("first", &place, &row["first"], pair(delta.first));
            tally.equal("last", &place, &row["last"], pair(delta.last));
            tally.equal("inner_delta", &place, &row["inner_delta"], json!(delta.inner.value));
            tally.equal("restart_base", &place, &row["restart_base"], json!(delta.restart_base.value));
            tally.equal("outer_bound", &place, &row["outer_bound"], json!(delta.outer.map(|o| o.value)));
            tally.equal("gap_start_ms", &place, &row["gap_start_ms"], json!(delta.start.gap / MS));
            tally.equal("gap_end_ms", &place, &row["gap_end_ms"], json!(delta.end.gap / MS));
            tally.equal("boundary", &place, &row["boundary"], json!([delta.start.grade, delta.end.grade]));
            let appearance = delta.first_appearance.map(|a| json!({ "at": a.at / MS, "value": a.value, "absent_at": a.absent_at / MS }));
            tally.equal("first_appearance", &place, &row["first_appearance_nonzero"], json!(appearance));
            tally.near("prom_increase", &place, &row["prom_increase"], increase(samples, *window, Rules::Two));
            assert_eq!(delta.segments.len(), delta.resets.len() + 1);
            for fall in &delta.resets {
                let others: Vec<u32> = counters
                    .iter()
                    .filter(|i| **i != series && dump.labels[**i]["instance"] == labels["instance"])
                    .map(|i| *i as u32)
                    .collect();
                let evidence = resets::evidence(&mut dump.store.cursor(), fall, &others, scrapes);
                corroborated += usize::from(matches!(evidence, Evidence::Together { fell, of } if fell == of && of > 10));
                resets += 1;
            }
            assert_eq!(delta.segments.iter().map(|s| s.n).sum::<u64>(), delta.n);
            let Some(told) = row["prom_increase"].as_f64() else { continue };
            let (low, high) = answer.bracket().unwrap();
            let Some(high) = high else { continue };
            compared += 1;
            above += usize::from(told > high + 1e-9);
            below += usize::from(told < low - 1e-9);
            fractions += usize::from((told - told.round()).abs() > 1e-6);
        }
        // what has no row has no two samples
        for family in &families {
            for series in dump.named(family).filter(|series| !seen.contains(series)) {
                let answer = counter::of_samples(&dump.samples[series], *window, Precision::F64, &Scrapes::unknown());
                assert!(answer.delta().is_none(), "{name} {:?}: {answer:?}", dump.labels[series]);
            }
        }
    }
    println!("{rows} rows; increase: {compared} compared, {above} above the bracket, {below} below, {fractions} not whole");
    println!("{resets} resets, {corroborated} of them with every other counter of the endpoint");
    assert!(resets > 0 && corroborated == resets);
    let contrast = &reference["contrast"];
    tally.equal("contrast", "compared", &contrast["compared"], json!(compared));
    tally.equal("contrast", "above", &contrast["prom_above_provable_upper_bound"], json!(above));
    tally.equal("contrast", "below", &contrast["prom_below_provable_lower_bound"], json!(below));
    tally.equal("contrast", "fractions", &contrast["prom_not_an_integer"], json!(fractions));
    tally.done("counters");
}

#[test]
fn gauges_and_capacity_of_nine_windows() {
    let (Some(dump), Some(reference)) = (Dump::read(), file("exact_from_prometheus_samples.json")) else { return };
    let mut tally = Tally::default();
    for (name, window) in &windows(&reference) {
        for row in reference["gauges"][name]["gauges"].as_array().unwrap() {
            let labels = object_labels(row["series"].as_str().unwrap(), &row["labels"]);
            let series = dump.find(&labels);
            let hold = gauge::default_hold(dump.scrapes[&labels["instance"]].interval().unwrap());
            let answer = gauge::of_samples(&dump.samples[series], *window, hold, Precision::F64);
            assert_eq!(answer, gauge::of_store(&mut dump.store.cursor(), series as u32, *window, hold, Precision::F64), "the two ways");
            let found = answer.gauge().unwrap_or_else(|| panic!("{name} {labels:?}: {answer:?}"));
            let place = format!("{name} {labels:?}");
            tally.equal("hold_ms", &place, &row["hold_ms"], json!(found.hold / MS));
            tally.equal("n", &place, &row["n"], json!(found.n));
            tally.equal("n_nan", &place, &row["n_nan"], json!(found.n_nan));
            tally.equal("min", &place, &row["min"], json!(found.min.map(|s| s.value)));
            tally.equal("max", &place, &row["max"], json!(found.max.map(|s| s.value)));
            tally.equal("median", &place, &row["median"], json!(found.median.as_ref().map(|m| m.value)));
            tally.near("sample_mean", &place, &row["sample_mean"], found.sample_mean);
            tally.near("time_weighted", &place, &row["time_weighted"], found.time_weighted);
            tally.equal("covered", &place, &row["covered"], json!(found.covered / MS));
            tally.near("coverage", &place, &row["coverage"], found.coverage);
        }
        let rows = reference["gauges"][name]["l1_occupancy"].as_array().unwrap();
        let mut answered = 0;
        for capacity_series in dump.named("sglang_max_total_num_tokens") {
            let mut labels = dump.labels[capacity_series].clone();
            labels.insert("__name__".to_string(), "sglang_kv_available_tokens".to_string());
            let available = &dump.samples[dump.find(&labels)];
            let capacity::Answer::Answered(found) = capacity::of(&dump.samples[capacity_series], available, *window) else { continue };
            answered += 1;
            let row = rows.iter().find(|row| object_labels("sglang_kv_available_tokens", &row["labels"]) == labels).unwrap();
            tally.equal("pairs", name, &row["pairs"], json!(found.pairs));
            tally.equal("max_occupied", name, &row["max_occupied"], json!(found.max.occupied));
            tally.equal("at_ms", name, &row["at_ms"], json!(found.max.at / MS));
            tally.equal("capacity", name, &row["capacity"], json!(found.max.capacity));
            tally.equal("available", name, &row["available"], json!(found.max.available));
        }
        tally.equal("occupancy rows", name, &json!(rows.len()), json!(answered));
    }
    tally.done("gauges");
}

fn compare_quantile(tally: &mut Tally, place: &str, expected: &Value, found: &Quantile) {
    let (value, bracket, censored) = match found.estimate {
        Estimate::Within { value, low, high } => (Some(value), json!([low, high]), Value::Null),
        Estimate::Censored { above } => (Some(above), json!([above, "+Inf"]), json!(true)),
        Estimate::Outside { .. } => panic!("{place}: q out of range"),
        Estimate::Undefined { reason } => {
            tally.equal("why", place, &expected["why"], json!(reason.words()));
            (None, Value::Null, Value::Null)
        }
    };
    tally.equal("quantile n", place, &expected["n"], json!(found.n));
    tally.near("quantile", place, &expected["value"], value);
    if value.is_some() {
        tally.equal("bracket", place, &expected["bracket"], bracket);
        tally.equal("censored", place, &expected["censored"], censored);
        tally.equal("forced_monotonic", place, &expected["forced_monotonic"], json!(found.forced_monotonic));
    }
}

#[test]
fn histograms_of_nine_windows() {
    let (Some(dump), Some(reference)) = (Dump::read(), file("exact_from_prometheus_samples.json")) else { return };
    let mut tally = Tally::default();
    for (name, window) in &windows(&reference) {
        let families = reference["histograms"][name].as_object().unwrap();
        for family in ["sglang_time_to_first_token_seconds", "dynamo_frontend_time_to_first_token_seconds"] {
            let parts: Vec<histogram::Buckets> = dump.histograms(family, *window).into_iter().map(|(_, b)| b).collect();
            let Some(sum) = histogram::Sum::of(parts) else {
                assert!(!families.contains_key(family), "{name} {family}");
                continue;
            };
            let (expected, place) = (&families[family], format!("{name} {family}"));
            let found: Vec<Value> =
                sum.buckets.iter().map(|b| json!([if b.bound.is_finite() { json!(b.bound) } else { json!("+Inf") }, b.count])).collect();
            let deltas = expected["bucket_deltas"].as_array().unwrap();
            assert_eq!(deltas.len(), found.len(), "{place}");
            for (expected, found) in deltas.iter().zip(found) {
                tally.equal("bucket_deltas", &place, expected, found);
            }
            for (field, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
                compare_quantile(&mut tally, &format!("{place} {field}"), &expected[field], &sum.quantile(q));
            }
        }
    }
    tally.done("histograms");
}

#[test]
fn replicas_of_the_capture() {
    let (Some(dump), Some(reference)) = (Dump::read(), file("exact_from_prometheus_samples.json")) else { return };
    let mut tally = Tally::default();
    for (name, expected) in reference["replicas"].as_object().unwrap() {
        let ranks: BTreeMap<String, usize> = dump.named(name).map(|i| (dump.labels[i]["tp_rank"].clone(), i)).collect();
        let slices: Vec<&[Sample]> = ranks
            .values()
            .map(|i| &dump.samples[*i][..])
            .map(|samples| &samples[..samples.partition_point(|s| s.at <= MATRIX_END)])
            .collect();
        let found = replica::counters(&slices, Precision::F64).unwrap();
        tally.equal("verdict", name, &expected["verdict"], json!(found.verdict));
        tally.equal("common_scrapes", name, &expected["common_scrapes"], json!(found.common_scrapes));
        tally.equal("unequal_scrapes", name, &expected["unequal_scrapes"], json!(found.unequal_scrapes));
        for (rank, resets) in ranks.keys().zip(&found.resets) {
            tally.equal("resets", name, &expected["resets"][rank], json!(resets));
        }
        // the reference asks gauges as if they were counters; asked as gauges, those of two ranks are mostly equal
        if name.starts_with("sglang_kv_") {
            let gauges = replica::gauges(&slices, Precision::F64).unwrap();
            assert_eq!(gauges.verdict, replica::Verdict::MostlyEqual, "{name}");
        }
    }
    tally.done("replicas");
}
