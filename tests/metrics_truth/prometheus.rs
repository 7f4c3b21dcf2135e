//! The same samples as Prometheus has them: every figure without extrapolation, and its own quantiles.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::{ask, cases, figures, ns, place, unzip};

/// A window's ends of `exact_from_prometheus_samples.json`, as flags.
fn ends(window: &Value) -> [String; 4] {
    let at = |end: &str| {
        let ms = window[end].as_i64().unwrap();
        format!("@{}.{:03}", ms / 1000, ms % 1000)
    };
    ["--since".into(), at("start_ms"), "--until".into(), at("end_ms")]
}

fn reference(folder: &Path, file: &str) -> Value {
    let path = folder.join("reference").join(file);
    let text = if file.ends_with(".gz") { unzip(&path) } else { std::fs::read_to_string(&path).unwrap() };
    serde_json::from_str(&text).unwrap()
}

/// Seven things of every row of the nine windows, from the dump and from the answers of the HTTP API.
#[test]
fn every_row_of_the_nine_windows_is_reproduced() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["prometheus"]);
    let exact = reference(&folder, "exact_from_prometheus_samples.json");
    for run in ["prometheus/promtool_tsdb_dump.txt.gz", "prometheus/api"] {
        let mut rows = 0;
        for (name, window) in exact["windows"].as_object().unwrap() {
            let wanted = window["rows"].as_array().unwrap();
            let mut names: Vec<&str> = wanted.iter().map(|r| r["series"].as_str().unwrap().split('{').next().unwrap()).collect();
            names.sort_unstable();
            names.dedup();
            let ends = ends(window);
            let answer = ask(&place, &[&[run], &names[..], &ends.each_ref().map(String::as_str)[..]].concat());
            let found: BTreeMap<&str, &Value> =
                figures(&answer).iter().filter(|f| f["fidelity"] == "raw").map(|f| (f["series"].as_str().unwrap(), &f["answer"])).collect();
            for row in wanted {
                let series = row["series"].as_str().unwrap();
                let got = found.get(series).unwrap_or_else(|| panic!("{run} {name}: {series}"));
                let point = |p: &Value| json!([ns(&p["at"]) / 1_000_000, p["value"]]);
                let outer = if got["outer"].is_null() { Value::Null } else { got["outer"]["value"].clone() };
                let said = json!([
                    got["n"],
                    got["inner"]["value"],
                    got["restart_base"]["value"],
                    outer,
                    got["resets"].as_array().map(Vec::len),
                    point(&got["first"]),
                    point(&got["last"]),
                ]);
                let want = ["n", "inner_delta", "restart_base", "outer_bound", "resets", "first", "last"].map(|key| row[key].clone());
                assert_eq!(said, json!(want), "{run} {name}: {series}");
                rows += 1;
            }
        }
        println!("{run}: {rows} rows");
        assert_eq!(rows, 233, "rows of the nine windows");
    }
}

/// Quantiles of all series of a histogram together: value, bracket and number of observations, in the nine windows.
#[test]
fn quantiles_of_bucket_differences_are_reproduced() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["prometheus"]);
    let exact = reference(&folder, "exact_from_prometheus_samples.json");
    let mut compared = 0;
    for (name, families) in exact["histograms"].as_object().unwrap() {
        let ends = ends(&exact["windows"][name]);
        for (family, wanted) in families.as_object().unwrap() {
            let args = ["prometheus/promtool_tsdb_dump.txt.gz", family, "--by", "target"];
            let answer = ask(&place, &[&args[..], &ends.each_ref().map(String::as_str)[..]].concat());
            let sums = answer["sums"].as_array().unwrap();
            assert_eq!(sums.len(), 1, "{name} {family}");
            let quantiles = sums[0]["total"]["quantiles"].as_array().unwrap_or_else(|| panic!("{name} {family}: {}", sums[0]));
            for (at, got) in ["p50", "p90", "p99"].iter().zip(quantiles) {
                let want = &wanted[*at];
                assert_eq!(sums[0]["total"]["count"].as_f64(), want["n"].as_f64(), "{name} {family}");
                let label = format!("{name} {family} {at}: {got}");
                match want["value"].as_f64() {
                    None => assert!(got["value"].is_null(), "{label}"),
                    Some(value) => {
                        assert!((got["value"].as_f64().unwrap() - value).abs() <= 1e-9 * value.abs(), "{label}, not {value}");
                        assert_eq!(json!([got["low"], got["high"]]), want["bracket"], "{label}");
                    }
                }
                compared += 1;
            }
        }
    }
    println!("{compared} quantiles");
    assert!(compared >= 50, "{compared}");
}

/// Prometheus' `histogram_quantile` of `rate` for one series a label: its extrapolation scales all buckets alike and cancels. Where the worker
/// started anew in the window it adds what the new life had counted, which is not the window's own: left out.
#[test]
fn quantiles_agree_with_those_that_prometheus_computed() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["prometheus"]);
    let exact = reference(&folder, "exact_from_prometheus_samples.json");
    let own = reference(&folder, "prometheus_reference.json.gz");
    let (mut compared, mut undefined) = (0, 0);
    for name in ["steady_before", "steady_before_30", "after_reset", "idle", "sparse_3s"] {
        let ends = ends(&exact["windows"][name]);
        for family in
            ["sglang_time_to_first_token_seconds", "sglang_e2e_request_latency_seconds", "dynamo_frontend_time_to_first_token_seconds"]
        {
            let args = ["prometheus/promtool_tsdb_dump.txt.gz", family, "--quantiles", "0.5,0.9,0.99,1"];
            let answer = ask(&place, &[&args[..], &ends.each_ref().map(String::as_str)[..]].concat());
            for (query, said) in own["answers"][name].as_object().unwrap() {
                let Some(q) = query.strip_prefix("histogram_quantile(").and_then(|rest| rest.split(',').next()) else { continue };
                if !query.contains("is_streaming") || !query.contains(&format!("({family}_bucket")) || q == "0" {
                    continue;
                }
                for one in said["result"].as_array().unwrap() {
                    let streaming = &one["metric"]["is_streaming"];
                    let figure = figures(&answer).iter().find(|f| &f["labels"]["is_streaming"] == streaming);
                    let figure = figure.unwrap_or_else(|| panic!("{name} {query}: {one}"));
                    let value: f64 = one["value"][1].as_str().unwrap().parse().unwrap();
                    let found = figure["answer"]["quantiles"].as_array().unwrap();
                    let found = found.iter().find(|f| f["q"].as_f64() == q.parse().ok()).unwrap();
                    if value.is_nan() {
                        assert!(found["value"].is_null(), "{name} {query}: {found}");
                        undefined += 1;
                        continue;
                    }
                    let got = found["value"].as_f64().unwrap_or_else(|| panic!("{name} {query}: {found}"));
                    assert!((got - value).abs() <= 1e-9 * value.abs(), "{name} {query}: {got}, not {value}");
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} quantiles, {undefined} undefined for both");
    assert!(compared >= 60, "{compared}");
}

/// The raw samples of the API's answers; gauges of ten series in nine windows, weighed by the time that each value held.
#[test]
fn gauges_weighed_by_time_are_reproduced() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["prometheus/api"]);
    let exact = reference(&folder, "exact_from_prometheus_samples.json");
    let mut compared = 0;
    for (name, wanted) in exact["gauges"].as_object().unwrap() {
        let ends = ends(&exact["windows"][name]);
        let wanted = wanted["gauges"].as_array().unwrap();
        let mut names: Vec<&str> = wanted.iter().map(|g| g["series"].as_str().unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        let answer = ask(&place, &[&["api"], &names[..], &ends.each_ref().map(String::as_str)[..]].concat());
        for want in wanted {
            let series = want["series"].as_str().unwrap();
            let same = |f: &&Value| {
                f["fidelity"] == "raw" && f["labels"] == want["labels"] && f["series"].as_str().unwrap().starts_with(&format!("{series}{{"))
            };
            let figure = figures(&answer).iter().find(same).unwrap_or_else(|| panic!("{name}: {want}"));
            let got = &figure["answer"];
            let label = format!("{name} {series} {}: {got}", want["labels"]["tp_rank"]);
            for (got, key) in [(&got["n"], "n"), (&got["n_nan"], "n_nan")] {
                assert_eq!(got, &want[key], "{label}");
            }
            for (got, key) in [
                (&got["min"]["value"], "min"),
                (&got["max"]["value"], "max"),
                (&got["median"]["value"], "median"),
                (&got["time_weighted"], "time_weighted"),
                (&got["coverage"], "coverage"),
            ] {
                match want[key].as_f64() {
                    None => assert!(got.is_null(), "{key} {label}"),
                    Some(want) => assert!((got.as_f64().unwrap() - want).abs() <= 1e-9 * want.abs(), "{key}, not {want}: {label}"),
                }
            }
            compared += 1;
        }
    }
    println!("{compared} gauges");
    assert_eq!(compared, 90, "ten series in nine windows");
}

/// Capacity less what is available, at the scrapes that have both.
#[test]
fn what_was_taken_of_a_capacity_is_reproduced() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["prometheus/api"]);
    let exact = reference(&folder, "exact_from_prometheus_samples.json");
    let mut compared = 0;
    for (name, wanted) in exact["gauges"].as_object().unwrap() {
        let ends = ends(&exact["windows"][name]);
        let args = ["api", "sglang_kv_available_tokens"];
        let answer = ask(&place, &[&args[..], &ends.each_ref().map(String::as_str)[..]].concat());
        for want in wanted["l1_occupancy"].as_array().unwrap() {
            let same = |f: &&Value| f["fidelity"] == "raw" && f["labels"] == want["labels"];
            let got = &figures(&answer).iter().find(same).unwrap_or_else(|| panic!("{name}: {want}"))["occupied"];
            let most = &got["max"];
            let said = json!([got["pairs"], most["occupied"], ns(&most["at"]) / 1_000_000, most["capacity"], most["available"]]);
            let want = ["pairs", "max_occupied", "at_ms", "capacity", "available"].map(|key| want[key].clone());
            assert_eq!(said, json!(want), "{name}");
            compared += 1;
        }
    }
    println!("{compared} occupancies");
    assert!(compared >= 16, "{compared}");
}

/// Two ranks that do the same work: compared scrape by scrape before anything is added up.
#[test]
fn ranks_are_compared_as_the_samples_say() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["prometheus/api"]);
    let exact = reference(&folder, "exact_from_prometheus_samples.json");
    let ends = ends(&exact["windows"]["whole"]);
    for (name, want) in exact["replicas"].as_object().unwrap() {
        let answer = ask(&place, &[&["api", name, "--by", "instance"], &ends.each_ref().map(String::as_str)[..]].concat());
        let (unequal, all) = (&want["unequal_scrapes"], &want["common_scrapes"]);
        // Gauges have no updates that could be one apart, and a few unequal scrapes among many are told as such.
        let said = match want["verdict"].as_str().unwrap() {
            "identical" => format!("equal at all {all} scrapes that they share"),
            "synchronised" => format!("one update apart at {unequal} of {all} scrapes, else equal, counted once"),
            _ if unequal == all => format!("unequal at {unequal} of {all} scrapes, each counted"),
            _ => format!("at {unequal} of {all} scrapes, each counted"),
        };
        let ranks: Vec<&str> = answer["sums"].as_array().unwrap().iter().filter_map(|s| s["ranks"][0].as_str()).collect();
        assert!(ranks.iter().any(|r| r.contains(&said)), "{name}: {said} is not in {ranks:?}");
    }
}
