//! Scrapes as served, against what other tools count in real captures, and small damaged ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::cases::cases;
use crate::model::{Clock, Kind, Outcome, Sample, SeriesId, StampOf, canonical};

/// All files below a folder.
fn walk(root: &Path, below: &str, out: &mut Vec<Candidate>) {
    let mut entries: Vec<_> = fs::read_dir(root.join(below)).unwrap().flatten().collect();
    entries.sort_by_key(|e| e.file_name());
    for entry in entries {
        let name = entry.file_name().into_string().unwrap();
        let key = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            walk(root, &key, out);
        } else {
            out.push(look(&root.join(&key), &key));
        }
    }
}

fn claims(root: &Path) -> Vec<(&'static str, Set)> {
    let mut candidates = Vec::new();
    walk(root, "", &mut candidates);
    claim(&candidates).sets
}

/// The captures of the sets of one layout below a folder.
fn captures(root: &Path, layout: &str) -> Vec<(Set, Vec<Capture>)> {
    let sets = claims(root).into_iter().filter(|(name, _)| *name == layout);
    sets.map(|(name, set)| (set.clone(), (by_name(name).unwrap().read)(&set).unwrap())).collect()
}

/// The one capture of a file or folder, whatever layout claims it.
fn only(root: &Path) -> Capture {
    let mut sets = claims(root);
    assert_eq!(sets.len(), 1, "{sets:?}");
    let (name, set) = sets.pop().unwrap();
    let mut captures = (by_name(name).unwrap().read)(&set).unwrap();
    assert_eq!(captures.len(), 1);
    captures.pop().unwrap()
}

/// A capture of one file, as the layout reads it that claims it.
fn read_one(path: &Path) -> Capture {
    let candidate = look(path, path.file_name().unwrap().to_str().unwrap());
    let claims = claim(&[candidate]);
    let (name, set) = claims.sets.first().unwrap();
    (by_name(name).unwrap().read)(set).unwrap().pop().unwrap()
}

fn count(capture: &Capture) -> u64 {
    (0..capture.series.len()).map(|i| capture.samples.len(i as u32)).sum()
}

/// Samples of the series of this spelling.
fn samples(capture: &Capture, spelled: &str) -> Vec<(i64, f64)> {
    let ids = (0..capture.series.len() as u32).map(SeriesId).filter(|id| capture.spelled(*id) == spelled);
    ids.flat_map(|id| capture.samples(id)).map(|s| (s.at, s.value)).collect()
}

fn note<'a>(capture: &'a Capture, code: &str) -> Option<(u64, &'a str)> {
    capture.notes.iter().find(|n| n.code == code).map(|n| (n.count, n.first.as_deref().unwrap_or_default()))
}

fn failed(capture: &Capture) -> Vec<(i64, &str, &str)> {
    let mut failed = Vec::new();
    for endpoint in &capture.endpoints {
        for scrape in &endpoint.scrapes {
            if let Outcome::Failed(why) = &scrape.outcome {
                failed.push((scrape.at, endpoint.name.as_str(), why.as_str()));
            }
        }
    }
    failed
}

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

/// A folder with files of these contents.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn row(ns: i64, url: &str, rest: serde_json::Value) -> String {
    let mut row = serde_json::json!({"timestamp_ns": ns, "endpoint_url": url, "role": "decode", "worker_id": "node1"});
    row.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    row.to_string()
}

#[test]
fn damage_in_raw_scrapes_is_said_and_the_rest_kept() {
    let text = |text: &str| serde_json::json!({ "text": text });
    let lines = [
        row(1000, "u1", text("# TYPE a counter\na{x=\"1\"} 1\nb{\na{x=\"2\"} NaN\n")),
        row(1001, "u2", text("a{x=\"1\"} 5\na{x=\"1\"} 6\n")),
        "{\"timestamp_ns\": 10".into(),
        row(2000, "u1", text("# TYPE a gauge\na{x=\"1\"} 2 7\nc 3\n")),
        row(3000, "u1", text("<html>\nnot found")),
        row(4000, "u1", serde_json::json!({"error": "refused", "text": null})),
        row(5000, "u1", text("")),
        row(6000, "u1", text("a{x=\"1\"} 2 7\nc 4")),
        row(7000, "u2", serde_json::json!({"text": "a{x=\"1\"} 7\n", "content_type": "application/openmetrics-text"})),
        "{\"elapsed_s\": 1.5, \"endpoint_url\": \"u1\", \"text\": \"a 1\"}".into(),
        row(8000, "u1", text("a{x=\"1\"} 9\n"))[..60].into(),
    ];
    let dir = folder(&[("raw_prometheus.jsonl", &lines.join("\n"))]);
    let capture = only(dir.path());
    let place = |line: u64| format!("{}:{line}", dir.path().join("raw_prometheus.jsonl").display());
    assert_eq!(capture.stamp_of, StampOf::Body, "the keys are those of srt-slurm");
    let names: Vec<_> = capture.endpoints.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["u1", "u2"]);
    // the sample of 7 ms has its own stamp, and stands there once
    assert_eq!(samples(&capture, "a{x=\"1\"}"), [(1000, 1.0), (7_000_000, 2.0), (1001, 5.0), (1001, 6.0), (7000, 7.0)]);
    assert_eq!(samples(&capture, "c"), [(2000, 3.0), (6000, 4.0)]);
    let nan = samples(&capture, "a{x=\"2\"}");
    assert!(nan.len() == 1 && nan[0].1.is_nan());
    assert_eq!(
        failed(&capture),
        [(3000, "u1", "no sample in the body, line 1: no metric name"), (4000, "u1", "refused"), (5000, "u1", "empty body")]
    );
    for (code, count, line) in [
        ("line_unterminated", 1, 1),
        ("series_twice", 1, 2),
        ("damaged_line", 1, 3),
        ("type_conflict", 1, 4),
        ("own_stamps", 2, 4),
        ("line_no_name", 1, 5),
        ("line_value", 1, 5),
        ("body_cut", 2, 8),
        ("no_stamp", 1, 10),
        ("cut_short", 1, 11),
    ] {
        assert_eq!(note(&capture, code), Some((count, place(line).as_str())), "{code}");
    }
    assert!(note(&capture, "worker_id_shared").is_some());
    assert_eq!(capture.notes.len(), 11);
    let twice = capture.series.iter().find(|s| s.trouble.collisions > 0).unwrap();
    assert_eq!(capture.endpoint(twice.endpoint).unwrap().name, "u2");
}

#[test]
fn scrapes_without_wall_time_have_a_clock_of_their_own() {
    let dir = folder(&[(
        "raw.jsonl",
        "{\"elapsed_s\": 0.1, \"endpoint_url\": \"u\", \"text\": \"a 1\\n\"}\n{\"elapsed_s\": 1.234567891, \"endpoint_url\": \"u\", \"text\": \"a 2 99\\n\"}\n",
    )]);
    let capture = only(dir.path());
    assert_eq!((&capture.clock, capture.stamp_of), (&Clock::Elapsed { anchor: None }, StampOf::Unknown));
    assert_eq!(samples(&capture, "a"), [(100_000_000, 1.0), (1_234_567_891, 2.0)]);
    assert_eq!(note(&capture, "own_stamps_unused").unwrap().0, 1);
}

#[test]
fn a_cut_gzip_file_gives_what_it_has() {
    let mut lines = String::new();
    for i in 0..2000 {
        lines += &row(i, "u", serde_json::json!({"text": format!("a {}\n", i * 7919 % 1000)}));
        lines.push('\n');
    }
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(lines.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("raw_prometheus.jsonl.gz"), &packed[..packed.len() / 2]).unwrap();
    let capture = only(dir.path());
    let kept = samples(&capture, "a");
    assert!((500..2000).contains(&kept.len()), "{}", kept.len());
    assert!(kept.iter().enumerate().all(|(i, (at, value))| *at == i as i64 && *value == (i * 7919 % 1000) as f64));
    assert_eq!(note(&capture, "cut_short").unwrap().0, 1);
}

#[test]
fn a_folder_of_stamped_files_is_one_capture() {
    let dir = folder(&[
        ("m/w1_1795977807000.prom", "# TYPE a counter\na 1\n"),
        ("m/w1_1795977808000.prom", "a 2\n"),
        ("m/w1_1795977809000.err", "connection refused\n"),
        ("m/w1_1795977810000.prom", ""),
        ("m/1795977807000.prom", "b 1\n"),
        ("m/notes.txt", "a list of words\n"),
        ("m/20261129T184327.txt", "# TYPE a counter\na 1\n"),
    ]);
    let mut packer =
        flate2::write::GzEncoder::new(File::create(dir.path().join("m/w1_1795977808000.prom.gz")).unwrap(), flate2::Compression::fast());
    packer.write_all(b"a 2\n").unwrap();
    packer.finish().unwrap();
    let read = captures(dir.path(), "scrape-files");
    assert_eq!(read.len(), 2, "a stamp without a zone is another clock");
    let (set, zoned) = &read[0];
    assert_eq!(
        set.beside.iter().map(|(p, why)| (p.key.as_str(), why.as_str())).collect::<Vec<_>>(),
        [("m/w1_1795977808000.prom.gz", "the same as m/w1_1795977808000.prom")]
    );
    let capture = &zoned[0];
    assert_eq!((&capture.clock, capture.stamp_of), (&Clock::Wall, StampOf::FileName));
    assert_eq!(samples(capture, "a"), [(1_795_977_807_000_000_000, 1.0), (1_795_977_808_000_000_000, 2.0)]);
    let names: BTreeSet<_> = capture.endpoints.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["m", "w1"]), "a bare stamp is of the folder's endpoint");
    assert_eq!(failed(capture), [(1_795_977_809_000_000_000, "w1", "connection refused"), (1_795_977_810_000_000_000, "w1", "empty body")]);
    let naive = &read[1].1[0];
    assert_eq!(naive.clock, Clock::AssumedUtc);
    assert_eq!(samples(naive, "a"), [(1_795_977_807_000_000_000, 1.0)]);
}

fn set_time(path: &Path, seconds: u64) {
    File::options().append(true).open(path).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

#[test]
fn a_pair_has_the_times_of_its_files_unless_they_contradict_its_names() {
    let dir = folder(&[("w1.before.prom", "a 1\n"), ("w1.after.prom", "a 5\n")]);
    set_time(&dir.path().join("w1.before.prom"), 1_795_977_000);
    set_time(&dir.path().join("w1.after.prom"), 1_795_977_060);
    let capture = only(dir.path());
    assert_eq!(capture.stamp_of, StampOf::FileTime);
    assert_eq!(capture.endpoints[0].name, "w1");
    assert_eq!(samples(&capture, "a"), [(1_795_977_000_000_000_000, 1.0), (1_795_977_060_000_000_000, 5.0)]);
    set_time(&dir.path().join("w1.before.prom"), 1_795_977_060);
    let captures = captures(dir.path(), "scrape-files").pop().unwrap().1;
    assert_eq!(captures.len(), 2, "one capture would show a reset from 1 to 5 or 5 to 1");
    assert!(captures.iter().all(|c| count(c) == 1 && note(c, "file_times_contradict").is_some()));
}

#[test]
fn folders_named_before_and_after_are_a_pair() {
    let dir = folder(&[("m/before/w1.prom", "a 1\n"), ("m/after/w1.prom", "a 5\n"), ("m/after/metrics.txt", "# TYPE b gauge\nb 1\n")]);
    set_time(&dir.path().join("m/before/w1.prom"), 1_795_977_000);
    set_time(&dir.path().join("m/after/w1.prom"), 1_795_977_060);
    let capture = only(dir.path());
    assert_eq!(samples(&capture, "a"), [(1_795_977_000_000_000_000, 1.0), (1_795_977_060_000_000_000, 5.0)]);
    assert_eq!(capture.endpoints.iter().map(|e| e.name.as_str()).collect::<BTreeSet<_>>(), BTreeSet::from(["w1", "metrics"]));
}

#[test]
fn samples_that_all_have_stamps_need_no_file_time() {
    let dir = folder(&[("x.om", "# TYPE a gauge\na 1 1795977000.5\na 2 1795977001.5\n# EOF\n")]);
    let capture = only(dir.path());
    assert_eq!(capture.stamp_of, StampOf::Exposition);
    assert_eq!(samples(&capture, "a"), [(1_795_977_000_500_000_000, 1.0), (1_795_977_001_500_000_000, 2.0)]);
}

#[test]
fn an_index_gives_times_and_failures() {
    let dir = folder(&[
        (
            "scrapes.jsonl",
            "{\"target\":\"http://h:1/metrics\",\"t_start\":1795977000.123456789,\"t_end\":1795977000.2,\"error\":\"refused\"}\n\
             {\"target\":\"http://h:1/metrics\",\"t_start\":1795977001.5,\"t_end\":1795977001.75,\"status\":200,\"file\":\"m/1.prom\"}\n\
             {\"target\":\"http://h:1/metrics\",\"timestamp_ns\":1795977002500000000,\"status\":503,\"file\":\"m/2.prom\"}\n\
             {\"target\":\"http://h:1/metrics\",\"time\":\"2026-11-29T18:30:03.5Z\",\"file\":\"m/3.prom\"}\n",
        ),
        ("m/1.prom", "a 1\n"),
        ("m/2.prom", "a 2\n"),
    ]);
    let capture = only(dir.path());
    assert_eq!(samples(&capture, "a"), [(1_795_977_001_500_000_000, 1.0)]);
    assert_eq!(
        failed(&capture),
        [
            (1_795_977_000_123_456_789, "http://h:1/metrics", "refused"),
            (1_795_977_002_500_000_000, "http://h:1/metrics", "HTTP 503"),
            (1_795_977_003_500_000_000, "http://h:1/metrics", "its file m/3.prom is not here"),
        ]
    );
    assert_eq!(capture.endpoints[0].scrapes[1].took, Some(250_000_000));
    assert_eq!(note(&capture, "file_missing").unwrap().0, 1);
}

#[test]
fn parsed_json_lines_keep_what_is_a_number() {
    let dir = folder(&[
        (
            "srt/server_metrics_export.jsonl",
            "{\"timestamp_ns\": 5, \"metrics\": {\"a\": [{\"labels\": {\"x\": \"1\"}, \"value\": 1.5}, {\"labels\": {}, \"value\": null}]}}\n{\"timestamp_ns\": 6, \"metrics\": {\"a\": [{\"labels\": {\"x\": \"1\"}, \"value\": \"NaN\"}, {\"value\": \"much\"}]}}\n{\"timestamp_ns\": 7}\n",
        ),
        (
            "aiperf/server_metrics_export.jsonl",
            "{\"endpoint_url\": \"u\", \"timestamp_ns\": 5, \"endpoint_latency_ns\": 3, \"metrics\": {\"h\": [{\"labels\": {\"x\": \"1\"}, \"buckets\": {\"1.0\": 2, \"+Inf\": 3}, \"sum\": 4.5, \"count\": 3}]}}\n",
        ),
    ]);
    let srt = captures(dir.path(), "srt-schema2-jsonl").pop().unwrap().1.pop().unwrap();
    let a = samples(&srt, "a{x=\"1\"}");
    assert_eq!(a.iter().map(|s| s.0).collect::<Vec<_>>(), [5, 6]);
    assert!(a[0].1 == 1.5 && a[1].1.is_nan());
    assert_eq!(count(&srt), 2);
    assert_eq!(["no_value", "bad_value", "damaged_line"].map(|code| note(&srt, code).unwrap().0), [1, 1, 1]);
    let aiperf = captures(dir.path(), "aiperf-jsonl").pop().unwrap().1.pop().unwrap();
    for (series, value) in
        [("h_bucket{le=\"1\",x=\"1\"}", 2.0), ("h_bucket{le=\"+Inf\",x=\"1\"}", 3.0), ("h_sum{x=\"1\"}", 4.5), ("h_count{x=\"1\"}", 3.0)]
    {
        assert_eq!(samples(&aiperf, series), [(5, value)], "{series}");
    }
    assert_eq!(aiperf.families["h"].kind, Some(Kind::Histogram));
    assert_eq!(aiperf.endpoints[0].scrapes[0].took, Some(3));
}

mod any_bytes {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn no_reader_panics(cut in 0usize..400, junk in proptest::collection::vec(any::<u8>(), 0..40), which in 0usize..5) {
            let (name, text) = [
                ("a.jsonl", row(1, "u", serde_json::json!({"text": "# TYPE a counter\na{x=\"µ\"} 1 5 # {t=\"1\"} 1\n# EOF\n"}))),
                ("a.jsonl", "{\"endpoint_url\":\"u\",\"timestamp_ns\":1,\"metrics\":{\"h\":[{\"labels\":{},\"buckets\":{\"1\":1},\"sum\":1,\"count\":1}]}}".into()),
                ("a.jsonl", "{\"timestamp_ns\":1,\"metrics\":{\"h\":[{\"labels\":{\"a\":\"b\"},\"value\":1}]}}".into()),
                ("scrapes.jsonl", "{\"t_start\":1795977000.5,\"target\":\"a\",\"error\":null,\"file\":\"a.prom\"}".into()),
                ("a_1795977000.prom", "# TYPE a counter\na{x=\"1\"} 1\n".into()),
            ][which].clone();
            let mut bytes = text.repeat(3).into_bytes();
            let at = cut.min(bytes.len());
            bytes.splice(at..(at + junk.len() / 2).min(bytes.len()), junk);
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(name), bytes).unwrap();
            for (layout, set) in claims(dir.path()) {
                for capture in (by_name(layout).unwrap().read)(&set).unwrap() {
                    prop_assert_eq!(capture.samples.series(), capture.series.len());
                }
            }
        }
    }
}
