//! One question, asked of every layout: tokens from the device's cache between 60 s and 120 s (cases/metrics/README.md, "Check").

use serde_json::{Value, json};

use super::{ask, cases, figures, place, program, text, unzip, window};

const DEVICE: &str = "sglang:cached_tokens_total{cache_source=\"device\"}";

/// 60 samples, 292732 to 792921.
#[test]
fn one_question_is_answered_alike_by_every_layout_that_holds_every_scrape() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["raw", "layouts"]);
    let window = window(60.0, 120.0);
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
        let answer = ask(&place, &[&[run, DEVICE], &window.each_ref().map(String::as_str)[..]].concat());
        let figures = figures(&answer);
        assert_eq!(figures.len(), 1, "{run}");
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

/// A capture of fewer scrapes, of another scraper or on another clock: what its own samples say, read from its text by hand (Telegraf's lines,
/// the bodies of `raw_*.jsonl.gz`, the dump's lines; L13 holds Telegraf's scrapes). The most is the sample after the window less the one before.
#[test]
fn captures_of_other_scrapes_say_their_own() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["raw", "layouts", "prometheus"]);
    let window = window(60.0, 120.0);
    for (run, n, first, last, least, most) in [
        ("layouts/L11_telegraf_v1.lp.gz", 12, 327_126.0, 792_921.0, 465_795.0, 557_745.0),
        ("layouts/L11_telegraf_v2.lp.gz", 12, 327_126.0, 792_921.0, 465_795.0, 557_745.0),
        ("layouts/L13_otap", 12, 327_126.0, 792_921.0, 465_795.0, 557_745.0),
        ("raw/raw_openmetrics.jsonl.gz", 12, 328_761.0, 794_928.0, 466_167.0, 559_532.0),
        // Its clock is 2.7 s fast: its minute is another one.
        ("raw/raw_skewed_clock.jsonl.gz", 46, 269_734.0, 773_534.0, 503_800.0, 522_012.0),
        ("prometheus/promtool_tsdb_dump.txt.gz", 60, 296_968.0, 797_645.0, 500_677.0, 520_098.0),
        ("prometheus/api", 60, 296_968.0, 797_645.0, 500_677.0, 520_098.0),
    ] {
        let answer = ask(&place, &[&[run, DEVICE], &window.each_ref().map(String::as_str)[..]].concat());
        let raw: Vec<&Value> = figures(&answer).iter().filter(|f| f["fidelity"] == "raw").collect();
        assert_eq!(raw.len(), 1, "{run}");
        let found = &raw[0]["answer"];
        let got = [&found["n"], &found["first"]["value"], &found["last"]["value"], &found["least"], &found["most"]];
        assert_eq!(got, [&json!(n), &json!(first), &json!(last), &json!(least), &json!(most)], "{run}");
    }
}

/// Blocks of Prometheus' database, through whatever `promtool` is on the PATH: here one that prints the dump that the real one made of them.
/// Without it the answer says what is missing.
#[test]
fn blocks_are_read_through_promtool() {
    let Some(folder) = cases("metrics/prometheus") else { return };
    let place = place(&folder, &["tsdb_snapshot"]);
    let window = window(60.0, 120.0);
    let args = [&["metrics", "tsdb_snapshot", DEVICE][..], &window.each_ref().map(String::as_str)[..]].concat();
    let without = place.corr(&args);
    assert_eq!(without.code, Some(2), "{}", without.stdout);
    assert!(without.stderr.contains("put promtool on the PATH"), "{}", without.stderr);
    place.write("dump.txt", unzip(&folder.join("promtool_tsdb_dump.txt.gz")).as_bytes());
    place.write("bin/promtool", format!("#!/bin/sh\nexec /bin/cat '{}'\n", place.path("dump.txt").display()).as_bytes());
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path("bin/promtool"), executable).unwrap();
    let command = place.command(&[&args[..], &["--format", "json"]].concat()).env("PATH", place.path("bin")).spawn().unwrap();
    let ran = program::finish(command, b"");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr));
    let found = &figures(&answer)[0]["answer"];
    assert_eq!((&found["n"], &found["least"], &found["most"]), (&json!(60), &json!(500_677.0), &json!(520_098.0)));
}

/// `query_range_02.json.gz` asks every second, another every five: each point is the last sample before it, so that they bound nothing.
#[test]
fn points_of_a_range_query_are_no_samples_and_bound_nothing() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["prometheus"]);
    let answer = ask(&place, &[&["prometheus/api", DEVICE], &window(60.0, 120.0).each_ref().map(String::as_str)[..]].concat());
    let points: Vec<&Value> = figures(&answer).iter().filter(|f| f["fidelity"] == "step_filled").collect();
    let said: Vec<(&Value, &Value)> = points.iter().map(|f| (&f["answer"]["n"], &f["answer"]["inner"]["value"])).collect();
    assert_eq!(said, [(&json!(60), &json!(498_914.0)), (&json!(12), &json!(466_534.0))]);
    for one in points {
        assert!(one["answer"]["least"].is_null() && one["answer"]["most"].is_null(), "{one}");
        assert_ne!(one["capture"], figures(&answer)[0]["capture"], "captures that lie in one folder are told apart");
    }
}

/// Elapsed time alone: no answer to a question in wall time, until a capture with a wall clock stands beside it. Rounding to 32 bits and what
/// the clock leaves open stand in the answer.
#[test]
fn elapsed_captures_answer_beside_one_with_a_clock() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["raw", "layouts"]);
    let window = window(60.0, 120.0);
    let window = &window.each_ref().map(String::as_str)[..];
    for run in ["layouts/L06_wide_elapsed_f32.parquet", "layouts/T_tachometer/genA_final.parquet"] {
        let alone = text(&place, &[&[run, DEVICE], window].concat());
        assert!(alone.contains("its clock counts from its own start, and where that lies is unknown"), "{run}: {alone}");
        let args = [&[run, DEVICE, "--also", "raw/raw_prometheus.jsonl.gz"], window].concat();
        let answer = ask(&place, &args);
        let found = figures(&answer).iter().find(|f| f["capture"] == run).unwrap_or_else(|| panic!("{run}"));
        let figure = &found["answer"];
        assert_eq!((&figure["n"], &figure["inner"]["value"]), (&json!(60), &json!(500_189.0)), "{run}");
        // What the window can hold at most by the raw scrapes is in the bracket too: the clock is known within a second or so.
        assert!(figure["least"].as_f64() <= Some(500_189.0) && figure["most"].as_f64() >= Some(516_356.0), "{run}: {figure}");
        assert!(found["clock_error_ns"].as_i64() > Some(0) && found["exact"] == false, "{run}");
        let said = text(&place, &args);
        assert!(said.contains("as values were stored as 32-bit floats"), "{run}: {said}");
        assert!(said.contains("on this capture's clock"), "{run}: {said}");
    }
}

/// AIPerf's Parquet counts from one base sample: the first one of the whole capture (6044), the last one before its window (286237 at 59 s,
/// 632113 at 99 s). After the worker starts anew its values stay at zero: the reset is hidden, and nothing bounds the window from above.
#[test]
fn aiperf_tables_count_from_a_base_and_say_so() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["layouts"]);
    for (table, base, (from, to), n, first, last) in [
        ("whole", 6_044.0, (60.0, 120.0), 60, 292_732.0, 792_921.0),
        ("window_60_120", 286_237.0, (60.0, 120.0), 60, 292_732.0, 792_921.0),
        ("window_span_reset_100_190", 632_113.0, (100.0, 120.0), 20, 643_800.0, 792_921.0),
    ] {
        let run = format!("layouts/A_aiperf/server_metrics_export.{table}.parquet");
        let window = window(from, to);
        let args = [&[run.as_str(), DEVICE], &window.each_ref().map(String::as_str)[..]].concat();
        let answer = ask(&place, &args);
        let figure = &figures(&answer)[0];
        let found = &figure["answer"];
        let got = [&found["n"], &found["first"]["value"], &found["last"]["value"], &found["inner"]["value"]];
        assert_eq!(got, [&json!(n), &json!(first - base), &json!(last - base), &json!(last - first)], "{table}");
        assert_eq!(figure["fidelity"], "since_base", "{table}");
        assert!(text(&place, &args).contains("count from one base sample and never below it: resets are hidden"), "{table}");
    }
}

/// Another scraper's answer differs because its clock does: that is said where both are asked.
#[test]
fn two_scrapers_that_differ_have_their_clocks_compared() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["raw"]);
    let args = ["raw/raw_prometheus.jsonl.gz", DEVICE, "--also", "raw/raw_skewed_clock.jsonl.gz"];
    let window = window(60.0, 120.0);
    let said = text(&place, &[&args[..], &window.each_ref().map(String::as_str)[..]].concat());
    assert!(said.contains("clock of raw/raw_skewed_clock.jsonl.gz less that of raw/raw_prometheus.jsonl.gz: between 2.6"), "{said}");
}
