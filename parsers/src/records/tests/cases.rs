//! The real captures (`CORR_CASES`): every record parses, and ids, stamps and numbers are those of the record.

use std::path::{Path, PathBuf};

use crate::cases::cases;
use crate::detect::detect;
use crate::dynamo::tests::captures::read;
use crate::event::{Event, Outcome};
use crate::ids::IdKind;
use crate::record::Reader;

fn json_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            json_files(&path, found);
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let json = [".json", ".jsonl", ".jsonl.gz"].iter().any(|end| name.ends_with(end));
        // Traces, audits, the event plane, the journal and AIPerf's records (`trace.jsonl`) have their own formats.
        let own = ["request-trace", "agent-trace", "audit", "kv_events_wire", "journalctl"].iter().any(|p| name.contains(p));
        let other = own || name == "trace.jsonl";
        if json && !other {
            found.push(path);
        }
    }
}

#[test]
fn every_record_of_the_captures() {
    let (mut files, mut records, mut requests) = (Vec::new(), 0usize, 0usize);
    for sub in ["dynamo", "sglang", "tachometer/run_dynamo", "tachometer/run_a", "tachometer/run_slurm_tacho_asshipped/logs"] {
        if let Some(dir) = cases(sub) {
            json_files(&dir, &mut files);
        }
    }
    if files.is_empty() {
        return;
    }
    files.sort();
    for path in &files {
        let bytes = read(path);
        let found = detect(&bytes, true);
        let mut reader = Reader::new(&bytes, 0, &found.layout);
        let mut total = 0;
        while let Some(record) = reader.next() {
            total += record.len;
            let mut event = Event::new(&crate::text::kinds::TEXT);
            let outcome = record.parse(&mut event);
            let shown = String::from_utf8_lossy(&record.payload[..record.payload.len().min(300)]);
            assert_eq!(outcome, Outcome::Parsed, "{}: {shown}", path.display());
            assert_eq!(record.format.map(|f| f.name), Some("json"), "{}: {shown}", path.display());
            records += 1;
            requests += usize::from(event.kind.name == "client_request");
            let truth: serde_json::Value = serde_json::from_slice(record.payload).unwrap();
            agrees(&truth, &event, path);
        }
        assert_eq!(total, bytes.len());
    }
    assert!(requests > 1_000, "{requests} requests");
    println!("read {records} JSON records of {} files, {requests} of them client requests", files.len());
}

/// The record's ids, read by another parser, are the event's.
fn agrees(truth: &serde_json::Value, event: &Event<'_>, path: &Path) {
    let has = |kind: IdKind, text: &str| event.ids.iter().any(|i| i.kind == kind && i.text == text);
    for (key, kind) in
        [("rid", IdKind::Rid), ("x_request_id", IdKind::XRequestId), ("session", IdKind::Session), ("response_id", IdKind::RequestId)]
    {
        let Some(text) = truth[key].as_str().filter(|t| !t.is_empty() && *t != "None") else { continue };
        assert!(has(kind, text), "{}: {key} {text} in {:?}", path.display(), event.ids);
    }
    let worker = &truth["nvext"]["worker_id"]["decode_worker_id"];
    if worker.is_u64() {
        assert!(has(IdKind::WorkerId, &worker.to_string()));
    }
    for (key, unit) in [("t_ns", 1e0), ("start_ns", 1e0), ("t_start", 1e9), ("start_unix", 1e9), ("t_unix", 1e9), ("t", 1e9)] {
        let Some(number) = truth[key].as_f64().filter(|n| n * unit > 1e18) else { continue };
        let stamp = event.stamp.unwrap();
        let behind = number * unit - stamp.ns as f64;
        assert!((-1_000.0..=stamp.width as f64 + 1_000.0).contains(&behind), "{}: {key} {number} {stamp:?}", path.display());
        break;
    }
}
