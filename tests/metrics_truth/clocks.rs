//! Where the clocks of captures lie: against the clock that a file of truth gives.

use std::time::{Duration, UNIX_EPOCH};

use super::{ask, cases, ns, place};

/// The second scraper's clock is 2.7 s fast (`meta.json`: `skew_offset_s`).
#[test]
fn the_offset_of_a_skewed_scraper_is_bracketed() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["raw/raw_prometheus.jsonl.gz", "raw/raw_skewed_clock.jsonl.gz"]);
    let args = ["raw_prometheus.jsonl.gz", "sglang:prompt_tokens_total", "--also", "raw_skewed_clock.jsonl.gz"];
    for (what, more) in [("the list", &["--list"][..]), ("a window", &["--since", "start+60s", "--until", "start+120s"][..])] {
        let answer = ask(&place, &[&args[..], more].concat());
        let offsets = answer["clock_offsets"].as_array().unwrap();
        assert_eq!(offsets.len(), 1, "{what}");
        let one = &offsets[0];
        assert_eq!((one["a"].as_str(), one["b"].as_str()), (Some("raw_prometheus.jsonl.gz"), Some("raw_skewed_clock.jsonl.gz")), "{what}");
        let (low, high) = (one["low_ns"].as_i64().unwrap(), one["high_ns"].as_i64().unwrap());
        assert!((low..=high).contains(&2_700_000_000), "{what}: [{low}, {high}]");
        assert!(high - low <= 200_000_000, "{what}: {} ns wide", high - low);
        assert!(one["of"].as_u64() > Some(1_000) && one["holds"] == one["of"], "{what}: {one}");
    }
}

/// One line of JSON an offset, beside those of coverage and figures.
#[test]
fn offsets_are_lines_of_jsonl() {
    let Some(folder) = cases("metrics") else { return };
    let place = place(&folder, &["raw/raw_prometheus.jsonl.gz", "raw/raw_skewed_clock.jsonl.gz"]);
    let args =
        ["metrics", "raw_prometheus.jsonl.gz", "sglang:prompt_tokens_total", "--also", "raw_skewed_clock.jsonl.gz", "--format", "jsonl"];
    for more in [&["--list"][..], &["--since", "start+60s", "--until", "start+120s"][..]] {
        let ran = place.corr(&[&args[..], more].concat());
        let lines: Vec<serde_json::Value> = ran.stdout.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let offsets: Vec<_> = lines.iter().filter(|l| l["type"] == "clock_offset").collect();
        assert_eq!(offsets.len(), 1, "{more:?}");
        assert!(
            offsets[0]["low_ns"].as_i64() < Some(2_700_000_000) && offsets[0]["high_ns"].as_i64() > Some(2_700_000_000),
            "{}",
            offsets[0]
        );
    }
}

/// The elapsed clocks of two runs began when the scraper was started (`*.timeline.jsonl`: `_start_tachometer:begin`; the start itself takes some
/// hundredths of a second).
#[test]
fn counted_events_anchor_an_elapsed_clock() {
    for run in ["corr-direct-20261129T185427Z-1", "corr-timeout-20261129T185801Z-3"] {
        let Some(folder) = cases("tachometer/run_dynamo") else { return };
        let place = place(&folder, &[run]);
        let timeline = std::fs::read_to_string(folder.join(format!("{run}.timeline.jsonl"))).unwrap();
        let line = timeline.lines().find(|l| l.contains("_start_tachometer:begin")).unwrap();
        let begun = serde_json::from_str::<serde_json::Value>(line).unwrap()["t_ns"].as_i64().unwrap();
        let answer = ask(&place, &[run]);
        let capture = &answer["captures"][0];
        let anchor = &capture["anchor"];
        let middle = ns(&anchor["low"]).midpoint(ns(&anchor["high"]));
        assert!((middle - begun).abs() <= 50_000_000, "{run}: {} ns from the scraper's start: {anchor}", middle - begun);
        assert!(anchor["how"].as_str().unwrap().contains("event counts"), "{run}: {anchor}");
        assert!(anchor["holds"].as_u64() > Some(20), "{run}: {anchor}");
    }
}

/// A capture that was killed, without a log whose events are counted: by the scraper's own first line, with which the file's time less its four
/// saves agrees, and without that by the file's time less its last sample. The file was written at 1795978707.060 (testcases.jsonl, CLK-4:
/// 687.060 and four saves five seconds apart); the scraper was started at 686.742.
#[test]
fn weaker_rules_print_an_interval_that_holds_the_truth() {
    let Some(folder) = cases("tachometer/run_dynamo/corr-timeout-20261129T185801Z-3") else { return };
    const BEGUN: i64 = 1_795_978_686_741_808_375;
    for (files, how, also) in [
        (
            &["artifacts/tachometer/local/current.arrow", "logs/tachometer.log", "tachometer.toml"][..],
            "first line of the scraper's log",
            Some("time of the file agrees with first line of the scraper's log"),
        ),
        (&["artifacts/tachometer/local/current.arrow"][..], "time of the file less its last sample", None),
    ] {
        let place = place(&folder, files);
        let file = std::fs::File::options().append(true).open(place.path("current.arrow")).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(1_795_978_707_060)).unwrap();
        let answer = ask(&place, &["."]);
        let capture = &answer["captures"][0];
        let anchor = &capture["anchor"];
        assert!((ns(&anchor["low"])..=ns(&anchor["high"])).contains(&BEGUN), "{how}: {anchor}");
        let said = anchor["how"].as_str().unwrap();
        assert!(said.starts_with(how) && said.ends_with("cannot check itself"), "{said}");
        let agrees = capture["notes"].as_array().unwrap().iter().find(|n| n["code"] == "clock_also_by");
        assert_eq!(agrees.and_then(|n| n["what"].as_str()), also, "{how}");
    }
}
