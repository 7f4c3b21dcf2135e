//! Small captures: each layout's forms, and damage.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::model::{Clock, Kind, StampOf};

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
fn a_cut_packed_body_loses_no_digit() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packer.write_all(b"a 1\nb 12345678901234567890123\n").unwrap();
    let packed = packer.finish().unwrap();
    let dir = tempfile::tempdir().unwrap();
    // the end of the data, eight bytes of checksum and twelve digits
    fs::write(dir.path().join("w_1795977807.prom.gz"), &packed[..packed.len() - 20]).unwrap();
    let capture = only(dir.path());
    assert_eq!(samples(&capture, "a"), [(1_795_977_807_000_000_000, 1.0)]);
    assert_eq!(samples(&capture, "b"), []);
    assert_eq!(note(&capture, "cut_short").unwrap().0, 1);
}

#[test]
fn a_row_is_known_by_keys_behind_a_long_body() {
    let body = format!("# TYPE a gauge\n{}", "a{x=\"1\"} 1\n".repeat(10_000));
    let line = serde_json::json!({"text": body.replacen(" 1\n", " 2\n", 1), "timestamp_ns": 5, "endpoint_url": "u"}).to_string();
    let dir = folder(&[("raw.jsonl", &line)]);
    let capture = only(dir.path());
    assert_eq!((capture.layout, count(&capture)), ("raw-prometheus", 10_000));
}

#[test]
fn a_body_that_is_not_utf8_is_kept_with_a_note() {
    let line = row(5, "u", serde_json::json!({"text": "a{x=\"?\"} 1\nb 2\n"}));
    let bytes: Vec<u8> = line.bytes().map(|b| if b == b'?' { 0xff } else { b }).collect();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("raw.jsonl"), bytes).unwrap();
    let capture = only(dir.path());
    assert_eq!(samples(&capture, "a{x=\"\u{fffd}\"}"), [(5, 1.0)]);
    assert_eq!(note(&capture, "bytes_not_utf8").unwrap().0, 1);
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
    assert_eq!(note(&capture, "series_twice"), None, "OpenMetrics allows several times of one series");
    assert_eq!(samples(&capture, "a"), [(1_795_977_000_500_000_000, 1.0), (1_795_977_001_500_000_000, 2.0)]);
}

#[test]
fn a_sample_of_zero_at_the_epoch_is_a_sample() {
    let line = |ns| row(ns, "u", serde_json::json!({"text": "a 0 0\nb 1 7\n"}));
    let dir = folder(&[("raw.jsonl", &format!("{}\n{}\n", line(5), line(6)))]);
    let capture = only(dir.path());
    assert_eq!((samples(&capture, "a"), samples(&capture, "b")), (vec![(0, 0.0)], vec![(7_000_000, 1.0)]));
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
