//! The direct run: windows that its load generator names, and its log beside its counter.

use serde_json::Value;

use super::{ask, cases, figures, ns, place};

const RUN: &str = "corr-direct-20261129T185427Z-1";

/// The client's own record of its requests: phase, start, end.
fn requests(truth: &str, phase: &str) -> Vec<(i64, i64)> {
    let rows = truth.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
    rows.filter(|r| r["phase"] == phase).map(|r| (r["start_ns"].as_i64().unwrap(), r["end_ns"].as_i64().unwrap())).collect()
}

/// 20 requests of warm-up and 132 that are measured: each window holds all of its own and none of the other's, and the counter's bracket holds
/// their number.
#[test]
fn named_windows_are_those_of_the_load_generator() {
    let Some(folder) = cases("tachometer/run_dynamo") else { return };
    let place = place(&folder, &[RUN]);
    let truth = std::fs::read_to_string(folder.join(format!("{RUN}.client_truth.jsonl"))).unwrap();
    let selector = "dynamo_frontend_requests_total{status=\"success\",request_type=\"stream\"}";
    for (window, phase, n) in [("warmup", "warmup", 20), ("measured", "profiling", 132)] {
        let mine = requests(&truth, phase);
        assert_eq!(mine.len(), n, "the truth of {window}");
        let ran = place.corr(&["metrics", RUN, selector, "--window", window]);
        let said = format!("window {window}: {n} requests of the load generator");
        assert!(ran.stderr.contains(&said), "{window}: {}", ran.stderr);
        let answer = ask(&place, &[RUN, selector, "--window", window]);
        let figure = &figures(&answer)[0]["answer"];
        let (from, to) = (ns(&figure["window"]["from"]), ns(&figure["window"]["to"]));
        for (start, end) in &mine {
            assert!(from <= *start && *end <= to, "{window}: {start} to {end} in {from} to {to}");
        }
        let other = if phase == "warmup" { "profiling" } else { "warmup" };
        for (start, end) in requests(&truth, other) {
            assert!(end < from || start > to, "{window}: {start} is not of it");
        }
        let (least, most) = (figure["least"].as_f64().unwrap(), figure["most"].as_f64());
        assert!(least <= n as f64 && most.is_none_or(|most| most >= n as f64), "{window}: {n} in [{least}, {most:?}]");
    }
}

/// Requests that the router's log completed, in bins of ten seconds, against what the frontend counted in the same ten seconds.
#[test]
fn a_log_and_its_counter_agree_in_every_bin_that_the_capture_covers() {
    let Some(folder) = cases("tachometer/run_dynamo") else { return };
    let place = place(&folder, &[RUN]);
    let selector = "dynamo_frontend_requests_total{status=\"success\",request_type=\"stream\"}";
    let query = "kind:request_completed request_type:stream status:success";
    let ran = place.corr(&["query", RUN, query, "--histogram", "10s", "--metrics", selector, "--format", "json"]);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr));
    let mut compared = 0;
    for bin in answer["bins"].as_array().unwrap() {
        let figure = &bin["metrics"][0];
        if figure["spans_window"] != "whole" {
            continue;
        }
        let count = bin["count"].as_f64().unwrap();
        let (least, most) = (figure["answer"]["least"].as_f64().unwrap(), figure["answer"]["most"].as_f64().unwrap());
        assert!((least..=most).contains(&count), "{}: {count} in [{least}, {most}]", bin["start"]);
        compared += 1;
    }
    println!("{compared} bins");
    assert!(compared >= 4);
}
