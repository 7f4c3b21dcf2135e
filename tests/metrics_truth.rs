//! `corr metrics` against the captures whose truth is known (`CORR_CASES`, or `../shared/cases`): what the samples themselves say, never what corr said.

mod program;

use std::path::{Path, PathBuf};

use program::Place;

fn cases(below: &str) -> Option<PathBuf> {
    let root = std::env::var_os("CORR_CASES").map_or_else(|| PathBuf::from("../shared/cases"), PathBuf::from);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(root).join(below);
    if !folder.is_dir() {
        println!("skipped: no cases {below} (set CORR_CASES)");
        return None;
    }
    println!("read: {below}");
    Some(folder)
}

/// Tokens from the device's cache over one minute: 60 samples, 292732 to 792921 (cases/metrics/README.md, "Check").
#[test]
fn one_question_is_answered_alike_by_every_layout_that_holds_every_scrape() {
    let Some(folder) = cases("metrics") else { return };
    let place = Place::new();
    for part in ["raw", "layouts"] {
        program::copy_tree(&folder.join(part), &place.path(part));
    }
    let t0 = 1_795_976_920.614_73;
    let (since, until) = (format!("@{:.5}", t0 + 60.0), format!("@{:.5}", t0 + 120.0));
    let mut asked = 0;
    for run in [
        "raw/raw_prometheus.jsonl.gz",
        "layouts/L01_narrow_map.parquet",
        "layouts/L02_narrow_json.parquet",
        "layouts/L03_narrow_list_struct.parquet",
        "layouts/L04_narrow_label_columns.parquet",
        "layouts/L05_wide.parquet",
        "layouts/L07_*.parquet",
        "layouts/L08_nested_series.parquet",
        "layouts/L08_victoriametrics_export.jsonl.gz",
        "layouts/L09_srt_schema2.jsonl.gz",
        "layouts/L10_grafana_joined.csv",
        "layouts/L12_prom2parquet",
        "layouts/A_aiperf/server_metrics_export.jsonl.gz",
        "layouts/T_tachometer/genB_final.parquet",
    ] {
        let selector = "sglang:cached_tokens_total{cache_source=\"device\"}";
        let ran = place.corr(&["metrics", run, selector, "--since", &since, "--until", &until, "--format", "json"]);
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{run}: {e}: {}", ran.stderr));
        let figures = answer["figures"].as_array().unwrap();
        assert_eq!(figures.len(), 1, "{run}: {}", ran.stderr);
        let found = &figures[0]["answer"];
        assert_eq!(
            (&found["n"], &found["first"]["value"], &found["last"]["value"]),
            (&60.into(), &292_732.0.into(), &792_921.0.into()),
            "{run}"
        );
        assert_eq!(found["inner"]["value"], 500_189.0, "{run}");
        asked += 1;
    }
    println!("{asked} layouts");
}

/// Requests that the router's log completed, in bins of ten seconds, against what the frontend counted in the same ten seconds.
#[test]
fn a_log_and_its_counter_agree_in_every_bin_that_the_capture_covers() {
    let Some(folder) = cases("tachometer/run_dynamo/corr-direct-20261129T185427Z-1") else { return };
    let place = Place::new();
    program::copy_tree(&folder, &place.path("run"));
    let selector = "dynamo_frontend_requests_total{status=\"success\",request_type=\"stream\"}";
    let query = "kind:request_completed request_type:stream status:success";
    let ran = place.corr(&["query", "run", query, "--histogram", "10s", "--metrics", selector, "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr));
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
