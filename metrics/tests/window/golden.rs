//! All worked cases of `fixtures/metrics-golden`, every field of each.

use std::collections::BTreeMap;
use std::path::Path;

use corr_metrics::model::{Precision, SECOND, Sample};
use corr_metrics::window::counter::{Answer, Appearance, Edge, Segment};
use corr_metrics::window::quantile::{Cumulative, Estimate, Quantile};
use corr_metrics::window::scrapes::Scrapes;
use corr_metrics::window::{Window, capacity, counter, gauge, histogram, quantile, replica};
use serde_json::{Value, json};

use super::increase::{Rules, increase};

#[test]
fn every_worked_case_comes_out() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/metrics-golden/golden_cases.json");
    let cases: Vec<Value> = serde_json::from_slice(&super::cases::bytes(&path)).unwrap();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut fields = 0;
    for case in &cases {
        let (kind, args) = (case["fn"].as_str().unwrap(), &case["args"]);
        let found = match kind {
            "counter_window" => counter_window(args),
            "prom_increase_vs_ours" => increase_beside_ours(args),
            "gauge_window" => gauge_window(args),
            "bucket_quantile" => quantile_value(&quantile::of(args["q"].as_f64().unwrap(), &buckets(&args["buckets"]))),
            "bucket_quantile_of_delta" => quantile_of_delta(args),
            "replica_check" => replica_check(args),
            "capacity_pair" => capacity_pair(args),
            other => panic!("a case of {other}, which nothing computes"),
        };
        fields +=
            same(&case["expect"], &found).unwrap_or_else(|e| panic!("{}: {e}\nexpected {}\nfound {found}", case["name"], case["expect"]));
        *counts.entry(kind).or_default() += 1;
    }
    println!("{} cases, {fields} values compared: {counts:?}", cases.len());
    assert_eq!(cases.len(), 45);
    assert_eq!(counts.len(), 7);
}

/// Equal in every field and number; the count of values compared.
fn same(expected: &Value, found: &Value) -> Result<usize, String> {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let (mut left, mut right): (Vec<_>, Vec<_>) = (a.keys().collect(), b.keys().collect());
            left.sort();
            right.sort();
            if left != right {
                return Err(format!("fields {left:?} and {right:?}"));
            }
            a.iter().map(|(key, value)| same(value, &b[key]).map_err(|e| format!("{key}: {e}"))).sum()
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a.iter().zip(b).map(|(a, b)| same(a, b)).sum(),
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => Ok(1),
        (a, b) if a == b => Ok(1),
        (a, b) => Err(format!("{a} and {b}")),
    }
}

fn ns(seconds: &Value) -> i64 {
    (seconds.as_f64().unwrap() * SECOND as f64) as i64
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Null => f64::NAN,
        Value::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap(),
    }
}

fn samples(value: &Value) -> Vec<Sample> {
    value.as_array().unwrap().iter().map(|pair| Sample { at: ns(&pair[0]), value: number(&pair[1]) }).collect()
}

fn window(args: &Value) -> Window {
    Window::new(ns(&args["start"]), ns(&args["end"])).unwrap()
}

fn in_seconds(ns: i64) -> f64 {
    ns as f64 / SECOND as f64
}

fn infinite(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(if value > 0.0 { "+Inf" } else { "-Inf" }) }
}

fn pair(sample: Sample) -> Value {
    json!([in_seconds(sample.at), sample.value])
}

fn segment(segment: &Segment) -> Value {
    json!({ "first": pair(segment.first), "last": pair(segment.last), "delta": segment.delta.value, "n": segment.n })
}

fn grade(edge: Edge) -> Value {
    serde_json::to_value(edge.grade).unwrap()
}

fn appearance(found: Option<Appearance>) -> Value {
    found.map_or(Value::Null, |a| json!({ "at": in_seconds(a.at), "value": a.value, "absent_at": in_seconds(a.absent_at) }))
}

fn counter_window(args: &Value) -> Value {
    let samples = samples(&args["samples"]);
    // without a list of scrapes the series' own samples are the scrapes
    let scrapes = match args["scrapes"].as_array() {
        Some(scrapes) => scrapes.iter().map(ns).collect(),
        None => samples.iter().map(|s| s.at).collect(),
    };
    let answer = counter::of_samples(&samples, window(args), Precision::F64, &Scrapes::new(scrapes));
    match &answer {
        Answer::NoSamples(_) => json!({ "status": "no_samples_in_window", "n": 0 }),
        Answer::Refused(why) => panic!("{why:?}"),
        Answer::Answered(delta) => json!({
            "n": delta.n, "first": pair(delta.first), "last": pair(delta.last),
            "resets": delta.resets.iter().map(|fall| json!([pair(fall.before), pair(fall.after)])).collect::<Vec<_>>(),
            "inner": delta.inner.value, "restart_base": delta.restart_base.value,
            "per_segment": delta.segments.iter().map(segment).collect::<Vec<_>>(),
            "gap_start": in_seconds(delta.start.gap), "gap_end": in_seconds(delta.end.gap),
            "scrape_interval": delta.interval.map(in_seconds),
            "boundary_start": grade(delta.start), "boundary_end": grade(delta.end),
            "first_appearance_nonzero": appearance(delta.first_appearance),
            "outer": delta.outer.map(|outer| outer.value), "status": "ok",
        }),
        // where the case says 0 we have no difference, but a lower bound of 0
        Answer::OneSample(one) => json!({
            "n": 1, "first": pair(one.sample), "last": pair(one.sample), "resets": [],
            "inner": answer.bracket().unwrap().0, "restart_base": 0,
            "per_segment": [{ "first": pair(one.sample), "last": pair(one.sample), "delta": 0, "n": 1 }],
            "gap_start": in_seconds(one.start.gap), "gap_end": in_seconds(one.end.gap),
            "scrape_interval": one.interval.map(in_seconds),
            "boundary_start": grade(one.start), "boundary_end": grade(one.end),
            "first_appearance_nonzero": appearance(one.first_appearance),
            "outer": one.outer.map(|outer| outer.value), "status": "single_sample",
        }),
    }
}

fn increase_beside_ours(args: &Value) -> Value {
    let (samples, window) = (samples(&args["samples"]), window(args));
    let answer = counter::of_samples(&samples, window, Precision::F64, &Scrapes::unknown());
    let delta = answer.delta().unwrap();
    json!({
        "increase_2x": increase(&samples, window, Rules::Two), "increase_3x": increase(&samples, window, Rules::Three),
        "ours_inner": delta.inner.value, "ours_restart_base": delta.restart_base.value,
    })
}

fn gauge_window(args: &Value) -> Value {
    let answer = gauge::of_samples(&samples(&args["samples"]), window(args), ns(&args["hold"]), Precision::F64);
    let gauge = answer.gauge().unwrap();
    json!({
        "n": gauge.n, "n_nan": gauge.n_nan, "min": gauge.min.map(|s| s.value), "max": gauge.max.map(|s| s.value),
        "median": gauge.median.as_ref().map(|m| m.value), "sample_mean": gauge.sample_mean, "time_weighted": gauge.time_weighted,
        "covered": in_seconds(gauge.covered), "coverage": gauge.coverage,
    })
}

fn buckets(value: &Value) -> Vec<Cumulative> {
    let pairs = value.as_array().unwrap().iter();
    pairs.map(|pair| Cumulative { bound: number(&pair[0]), count: number(&pair[1]), error: 0.0 }).collect()
}

fn quantile_value(found: &Quantile) -> Value {
    let bracket = |value: f64, low: f64, high: f64| {
        json!({
            "value": infinite(value), "bracket": [infinite(low), infinite(high)], "n": found.n,
            "forced_monotonic": found.forced_monotonic,
        })
    };
    match found.estimate {
        Estimate::Within { value, low, high } => bracket(value, low, high),
        Estimate::Censored { above } => {
            let mut out = bracket(above, above, f64::INFINITY);
            out["censored"] = json!(true);
            out
        }
        Estimate::Outside { value } => json!({ "value": infinite(value) }),
        Estimate::Undefined { reason } => match found.n {
            Some(n) => json!({ "value": null, "why": reason.words(), "n": n }),
            None => json!({ "value": null, "why": reason.words() }),
        },
    }
}

fn quantile_of_delta(args: &Value) -> Value {
    let (before, after, q) = (buckets(&args["before"]), buckets(&args["after"]), args["q"].as_f64().unwrap());
    let series: Vec<(f64, [Sample; 2])> = before
        .iter()
        .zip(&after)
        .map(|(b, a)| (b.bound, [Sample { at: 0, value: b.count }, Sample { at: SECOND, value: a.count }]))
        .collect();
    let slices: Vec<(f64, &[Sample])> = series.iter().map(|(bound, samples)| (*bound, &samples[..])).collect();
    let answer = histogram::of_samples(&slices, Window::new(0, SECOND).unwrap(), Precision::F64, &[]);
    let histogram::Answer::Answered(found) = answer else { panic!("{answer:?}") };
    let right = found.quantile(q);
    json!({
        "delta": found.cumulative().iter().map(|b| json!([infinite(b.bound), b.count])).collect::<Vec<_>>(),
        "right": quantile_value(&right), "right_count": right.n,
        "wrong_using_totals": quantile_value(&quantile::of(q, &after)),
        "wrong_sum_of_buckets": found.cumulative().iter().map(|b| b.count).sum::<f64>(),
    })
}

fn replica_check(args: &Value) -> Value {
    let ranks = args["series"].as_object().unwrap();
    let series: Vec<Vec<Sample>> = ranks.values().map(samples).collect();
    let slices: Vec<&[Sample]> = series.iter().map(|s| &s[..]).collect();
    let found = replica::counters(&slices, Precision::F64).unwrap();
    let resets: serde_json::Map<String, Value> = ranks.keys().cloned().zip(found.resets.iter().map(|r| json!(r))).collect();
    json!({
        "resets": resets, "verdict": serde_json::to_value(found.verdict).unwrap(),
        "common_scrapes": found.common_scrapes, "unequal_scrapes": found.unequal_scrapes,
    })
}

fn capacity_pair(args: &Value) -> Value {
    let (cap, avail) = (samples(&args["cap"]), samples(&args["avail"]));
    let window = Window::new(i64::MIN, i64::MAX).unwrap();
    let pairs = capacity::pairs(&cap, &avail, window);
    let capacity::Answer::Answered(found) = capacity::of(&cap, &avail, window) else { panic!("no pairs") };
    assert_eq!((found.max.occupied, found.max.at, found.unpaired), (79_500.0, SECOND, 2), "the most of pairs, not a pair of the most");
    json!(pairs.iter().map(|p| json!([in_seconds(p.at), p.capacity, p.available, p.occupied])).collect::<Vec<_>>())
}
