//! Against what other tools count in real captures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;

use super::*;
use crate::cases::cases;
use crate::model::{Clock, Kind, Sample, StampOf, canonical};

/// Lines of a file, unpacked, that are neither blank nor comments: samples, where nothing is damaged.
fn sample_lines(path: &Path) -> u64 {
    let mut text = String::new();
    open(path).unwrap().read_to_string(&mut text).unwrap();
    text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).count() as u64
}

/// `T0` of the metrics case, in nanoseconds: its text is 1795976920.61473.
const T0: i64 = 1_795_976_920_614_730_000;

/// The question that every layout of the case must answer alike (README of the case).
fn device_tokens(capture: &Capture, name: &str) {
    let mut found: Vec<Sample> = Vec::new();
    for i in 0..capture.series.len() as u32 {
        let series = capture.get(SeriesId(i)).unwrap();
        if series.name.canonical() == name && series.labels.get("cache_source") == Some("device") {
            found.extend(capture.samples(SeriesId(i)));
        }
    }
    found.retain(|s| (T0 + 60_000_000_000..=T0 + 120_000_000_000).contains(&s.at));
    assert_eq!(found.len(), 60);
    assert_eq!((found[0].value, found[59].value), (292_732.0, 792_921.0));
}

#[test]
fn raw_scrapes_of_the_case_are_read_whole() {
    let Some(root) = cases("metrics/raw") else { return };
    let capture = read_one(&root.join("raw_prometheus.jsonl.gz"));
    assert_eq!((capture.layout, &capture.clock, capture.stamp_of), ("raw-prometheus", &Clock::Wall, StampOf::Request));
    // counted by python: lines of the texts that are neither blank nor comments
    assert_eq!(count(&capture), 98_810);
    assert_eq!(capture.notes, []);
    device_tokens(&capture, "sglang:cached_tokens_total");
    let worker = capture.endpoints.iter().find(|e| e.name == "http://127.0.0.1:13000/metrics").unwrap();
    assert_eq!(worker.url.as_deref(), Some("http://127.0.0.1:13000/metrics"));
    assert_eq!((worker.facts["role"].as_str(), worker.facts["worker_id"].as_str()), ("backend", "agg0"));
    assert_eq!(capture.endpoints.iter().map(|e| e.scrapes.len()).collect::<Vec<_>>(), [246, 246, 246]);
    assert_eq!(capture.families["sglang:load_back_duration_seconds"].kind, Some(Kind::Histogram));
    let gaps: Vec<(i64, String, String)> =
        serde_json::from_str(&fs::read_to_string(root.parent().unwrap().join("gaps.json")).unwrap()).unwrap();
    assert_eq!(gaps.len(), 7);
    let gaps: Vec<_> = gaps.iter().map(|(at, url, why)| (*at, url.as_str(), why.as_str())).collect();
    assert_eq!(failed(&capture), gaps);
}

#[test]
fn a_scraper_without_wall_clock_keeps_its_samples() {
    let Some(root) = cases("metrics/raw") else { return };
    let mut text = String::new();
    open(&root.join("raw_skewed_clock.jsonl.gz")).unwrap().read_to_string(&mut text).unwrap();
    let (mut lines, mut expected, mut failures) = (String::new(), 0, 0);
    for line in text.lines() {
        let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
        row.as_object_mut().unwrap().remove("timestamp_ns");
        match row["text"].as_str() {
            Some(body) => expected += body.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).count() as u64,
            None => failures += 1,
        }
        lines += &format!("{row}\n");
    }
    let dir = folder(&[("raw_prometheus.jsonl", &lines)]);
    let capture = only(dir.path());
    assert_eq!(capture.clock, Clock::Elapsed { anchor: None });
    assert_eq!((count(&capture), failed(&capture).len()), (expected, failures));
    let times: Vec<i64> = capture.endpoints.iter().flat_map(|e| &e.scrapes).map(|s| s.at).collect();
    assert!(times.iter().all(|at| (0..262_000_000_000).contains(at)), "the case lasted 262 s");
}

#[test]
fn exemplars_lead_to_requests() {
    let Some(root) = cases("metrics") else { return };
    let capture = read_one(&root.join("raw/raw_openmetrics.jsonl.gz"));
    // counted by python as above
    assert_eq!(count(&capture), 10_220);
    assert_eq!(capture.notes, []);
    let log = fs::read_to_string(root.join("logs/frontend_requests.jsonl")).unwrap();
    let requests: BTreeMap<String, f64> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|row| (row["trace_id"].as_str().unwrap().to_string(), row["ts"].as_f64().unwrap()))
        .collect();
    let traces: BTreeSet<&str> = capture.exemplars.iter().map(|e| e.labels.get("trace_id").unwrap()).collect();
    assert_eq!(traces.len(), 254);
    for exemplar in &capture.exemplars {
        let ts = requests[exemplar.labels.get("trace_id").unwrap()];
        let apart = exemplar.at.unwrap() as f64 / 1e9 - ts;
        assert!(apart.abs() <= 0.0026, "{apart}");
        assert!(exemplar.at.unwrap() <= exemplar.scraped + 1_000_000_000, "an exemplar is older than its scrape");
    }
    let name = capture.series.iter().map(|s| s.name.seen()).find(|n| n.contains("load_back_tokens_total")).unwrap();
    assert_eq!((name, &*canonical(name)), ("sglang_load_back_tokens_total", "sglang:load_back_tokens_total"));
}

#[test]
fn parsed_json_lines_say_the_same() {
    let Some(root) = cases("metrics/layouts") else { return };
    let srt = read_one(&root.join("L09_srt_schema2.jsonl.gz"));
    assert_eq!((srt.layout, srt.stamp_of), ("srt-schema2-jsonl", StampOf::Body));
    // 526 of the 98 810 raw samples are NaN or infinite (counted by jq and grep)
    assert_eq!(count(&srt), 98_810 - 526);
    device_tokens(&srt, "sglang:cached_tokens_total");
    assert_eq!(srt.endpoints[0].scrapes, [], "731 lines of three endpoints are no scrapes of one");
    let aiperf = read_one(&root.join("A_aiperf/server_metrics_export.jsonl.gz"));
    assert_eq!((aiperf.layout, aiperf.stamp_of), ("aiperf-jsonl", StampOf::FirstByte));
    // counted by python: 14 103 values and 31 307 buckets, sums and counts
    assert_eq!(count(&aiperf), 14_103 + 31_307);
    assert!(note(&aiperf, "unchanged_omitted").is_some());
    device_tokens(&aiperf, "sglang:cached_tokens");
}

#[test]
fn both_formats_of_one_endpoint_agree() {
    let Some(root) = cases("metrics/raw") else { return };
    let captures = captures(&root, "scrape-files");
    assert_eq!(captures.len(), 2, "without stamps, text and OpenMetrics have no order");
    let mut values: Vec<BTreeMap<(String, String, String), f64>> = Vec::new();
    for (_, captures) in &captures {
        let capture = &captures[0];
        let help = capture.families["corr_torture_gauge"].help.as_deref();
        assert_eq!(help, Some("help with \\ backslash, \"quotes\" and\nnewline"));
        let mut of = BTreeMap::new();
        for (i, series) in capture.series.iter().enumerate() {
            let samples = capture.samples(SeriesId(i as u32));
            assert_eq!(samples.len(), 1);
            let endpoint = capture.endpoint(series.endpoint).unwrap().name.clone();
            of.insert((endpoint, series.name.canonical().to_string(), series.labels.to_string()), samples[0].value);
        }
        values.push(of);
    }
    let (text, open) = (&values[0], &values[1]);
    assert_eq!(text.keys().collect::<Vec<_>>(), open.keys().collect::<Vec<_>>());
    let equal = |endpoint: &str| {
        let of = text.iter().filter(|(key, _)| key.0 == endpoint);
        let same = of.clone().filter(|(key, value)| **value == open[key] || (value.is_nan() && open[key].is_nan()));
        (of.count(), same.count())
    };
    // counted by python. The frontend stood still; the worker served one more request between the two scrapes, OpenMetrics first
    assert_eq!(equal("frontend"), (32, 32));
    assert_eq!(equal("worker"), (180, 85));
    for (key, value) in text.iter().filter(|(key, value)| **value < open[key]) {
        assert_eq!(key.1, "sglang:kv_available_tokens", "{value}: only this gauge is lower in the later scrape");
    }
}

#[test]
fn every_scrape_file_of_the_cases_is_read_whole() {
    for (below, layout, sets, min_failed) in
        [("dynamo", "scrape-files", 9, 59), ("sglang", "scrape-index", 11, 467), ("sglang-samples", "scrape-files", 1, 0)]
    {
        let Some(root) = cases(below) else { continue };
        let read = captures(&root, layout);
        assert_eq!(read.len(), sets, "{below}");
        let mut failures = 0;
        for (set, captures) in &read {
            let [capture] = &captures[..] else { panic!("{below}: {} captures", captures.len()) };
            let files = set.files.iter().filter(|p| !p.key.ends_with(".err") && !p.key.ends_with(".jsonl"));
            let expected: u64 = files.map(|p| sample_lines(&p.path)).sum();
            assert_eq!(count(capture), expected, "{}", set.files[0].key);
            assert_eq!(capture.notes.iter().filter(|n| n.code.starts_with("line_")).count(), 0);
            assert!(capture.series.iter().all(|s| s.trouble.collisions == 0));
            failures += failed(capture).len();
            assert!(set.beside.iter().all(|(part, _)| set.files.iter().all(|f| f.key != part.key)));
        }
        assert_eq!(failures, min_failed, "{below}");
    }
}

#[test]
fn the_same_scrapes_by_their_index_and_by_their_names() {
    let Some(root) = cases("sglang/b-0523-json-hicache") else { return };
    let index = captures(&root, "scrape-index").pop().unwrap().1.pop().unwrap();
    let files = captures(&root.join("metrics"), "scrape-files").pop().unwrap().1.pop().unwrap();
    assert_eq!((index.stamp_of, files.stamp_of), (StampOf::Request, StampOf::FileName));
    assert_eq!((count(&index), index.series.len()), (count(&files), files.series.len()));
    let (a, b) = (&index.endpoints[0], &files.endpoints[0]);
    assert_eq!((a.name.as_str(), b.name.as_str()), ("server", "server"));
    let read: Vec<_> = a.scrapes.iter().filter(|s| s.outcome == Outcome::Read).collect();
    assert_eq!(read.len(), b.scrapes.len());
    for (a, b) in read.iter().zip(&b.scrapes) {
        assert!(a.at - b.at < 1_000_000 && a.at >= b.at, "names have the milliseconds of the start");
        assert!(a.took.unwrap() > 0);
    }
}
