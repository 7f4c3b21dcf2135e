//! What Prometheus itself answered over the same samples, where it means the same: quantiles, gauges, counts of resets.

use std::collections::BTreeSet;

use corr_metrics::model::Precision;
use corr_metrics::window::quantile::{Cumulative, Estimate, Quantile};
use corr_metrics::window::scrapes::Scrapes;
use corr_metrics::window::{Window, counter, gauge, histogram, quantile};
use serde_json::{Value, json};

use super::dump::{Dump, Labels, Tally, file, object_labels, windows};
use super::increase::{Rules, increase};

/// `name(q, sum by (le, more) (rate(family_bucket[60s])))`.
fn read_question(text: &str) -> Option<(f64, bool, &str)> {
    let rest = text.strip_prefix("histogram_quantile(")?;
    let (q, rest) = rest.split_once(", sum by (")?;
    let (by, rest) = rest.split_once(") (rate(")?;
    let (family, _) = rest.split_once("_bucket[")?;
    Some((q.parse().ok()?, by.contains("is_streaming"), family))
}

/// What `sum by (le, …) (rate(…))` holds: every series stretched to the window by itself, then added.
fn stretched(dump: &Dump, family: &str, window: Window, keep: impl Fn(&Labels) -> bool) -> Vec<Cumulative> {
    let mut sums: Vec<Cumulative> = Vec::new();
    for buckets in dump.buckets(family).into_iter().filter(|(labels, _)| keep(labels)).map(|(_, buckets)| buckets) {
        for (bound, series) in buckets {
            let Some(count) = increase(&dump.samples[series], window, Rules::Two) else { continue };
            match sums.iter_mut().find(|b| b.bound == bound) {
                Some(bucket) => bucket.count += count,
                None => sums.push(Cumulative { bound, count, error: 0.0 }),
            }
        }
    }
    sums
}

fn value_of(found: &Quantile) -> Option<f64> {
    match found.estimate {
        Estimate::Within { value, .. } => Some(value),
        Estimate::Censored { above } => Some(above),
        Estimate::Outside { .. } | Estimate::Undefined { .. } => None,
    }
}

#[test]
fn quantiles_are_those_of_prometheus() {
    let (Some(dump), Some(theirs), Some(reference)) =
        (Dump::read(), file("prometheus_reference.json.gz"), file("exact_from_prometheus_samples.json"))
    else {
        return;
    };
    let mut tally = Tally::default();
    let (mut answers, mut undefined, mut at_zero, mut not_comparable, mut other_windows) = (0, 0, 0, 0, BTreeSet::new());
    for (name, window) in &windows(&reference) {
        for (question, answer) in theirs["answers"][name].as_object().unwrap() {
            let Some((q, by_streaming, family)) = read_question(question) else { continue };
            for result in answer["result"].as_array().unwrap() {
                answers += 1;
                let value: f64 = result["value"][1].as_str().unwrap().parse().unwrap();
                let streaming = result["metric"].get("is_streaming").and_then(Value::as_str);
                let keep = |labels: &Labels| !by_streaming || labels.get("is_streaming").map(String::as_str) == streaming;
                let of_theirs = quantile::of(q, &stretched(&dump, family, *window, keep));
                let parts = dump.histograms(family, *window).into_iter().filter(|(labels, _)| keep(labels));
                let parts: Vec<histogram::Buckets> = parts.map(|(_, buckets)| buckets).collect();
                // with a reset inside, Prometheus adds what the new life had counted before its first scrape; label sets that were not
                // scraped equally long are each stretched by another factor before they are added
                let comparable = parts.iter().all(|p| p.segments.len() == 1 && p.segments == parts[0].segments);
                let ours = histogram::Sum::of(parts).unwrap().quantile(q);
                if value.is_nan() {
                    undefined += 1;
                    // Prometheus divides nothing by nothing where the lowest bucket is empty; the lowest that is not has the answer
                    let zero = q == 0.0 && matches!(ours.estimate, Estimate::Within { value, low, .. } if value == low);
                    at_zero += usize::from(zero);
                    assert!(zero || value_of(&ours).is_none(), "{name} {question}: {ours:?}");
                    continue;
                }
                let place = format!("{name} {question}: Prometheus {value}");
                let near = |found: &Quantile| value_of(found).is_some_and(|found| (found - value).abs() <= 1e-9 * value.abs());
                *tally.compared.entry("our quantile of their rates").or_default() += 1;
                if !near(&of_theirs) {
                    tally.differ.push(format!("{place}, of their rates {of_theirs:?}"));
                }
                if !comparable {
                    other_windows.insert(name.clone());
                    not_comparable += 1;
                    continue;
                }
                *tally.compared.entry("our quantile").or_default() += 1;
                if !near(&ours) {
                    tally.differ.push(format!("{place}, found {ours:?}"));
                }
            }
        }
    }
    println!("{answers} answers of Prometheus: {undefined} undefined, {at_zero} of them q = 0 with an empty lowest bucket");
    println!("{not_comparable} not comparable for a reset inside or label sets of different scrapes: {other_windows:?}");
    assert_eq!(answers, 330);
    tally.done("quantiles of Prometheus");
}

#[test]
fn gauges_and_resets_are_those_of_prometheus() {
    let (Some(dump), Some(theirs), Some(reference)) =
        (Dump::read(), file("prometheus_reference.json.gz"), file("exact_from_prometheus_samples.json"))
    else {
        return;
    };
    let mut tally = Tally::default();
    let mut poisoned = 0;
    for (name, window) in &windows(&reference) {
        for (question, answer) in theirs["answers"][name].as_object().unwrap() {
            let Some((function, rest)) = question.split_once('(') else { continue };
            let rest = rest.trim_start_matches("0.5, ");
            let Some((metric, _)) = rest.split_once('[') else { continue };
            let gauge = function.ends_with("_over_time") && !matches!(function, "stddev_over_time" | "last_over_time");
            if !gauge && function != "resets" {
                continue;
            }
            for result in answer["result"].as_array().unwrap() {
                let labels = object_labels(metric, &result["metric"]);
                let samples = &dump.samples[dump.find(&labels)];
                let told = json!(result["value"][1].as_str().unwrap().parse::<f64>().unwrap());
                let place = format!("{name} {question} {labels:?}");
                if !gauge {
                    let answer = counter::of_samples(samples, *window, Precision::F64, &Scrapes::unknown());
                    tally.near("resets", &place, &told, Some(answer.delta().map_or(0.0, |d| d.resets.len() as f64)));
                    continue;
                }
                let answer = gauge::of_samples(samples, *window, 0, Precision::F64);
                let found = answer.gauge().unwrap();
                // a NaN among the samples makes most of their answers NaN, or less than the others say
                if found.n_nan > 0 && function != "count_over_time" {
                    poisoned += 1;
                    continue;
                }
                match function {
                    "count_over_time" => tally.near("count", &place, &told, Some(found.n as f64)),
                    "min_over_time" => tally.near("min", &place, &told, found.min.map(|s| s.value)),
                    "max_over_time" => tally.near("max", &place, &told, found.max.map(|s| s.value)),
                    "avg_over_time" => tally.near("mean", &place, &told, found.sample_mean),
                    "quantile_over_time" => tally.near("median", &place, &told, found.median.as_ref().map(|m| m.value)),
                    other => panic!("{other}"),
                }
            }
        }
    }
    println!("{poisoned} answers over samples that are NaN in part are left out");
    tally.done("gauges of Prometheus");
}
