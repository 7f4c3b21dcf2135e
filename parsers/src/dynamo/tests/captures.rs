//! The real captures with the client's truth (`CORR_CASES`): every line parses, and ids are those that the client saw.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cases::cases;
use crate::event::{Event, Outcome};
use crate::ids::{self, IdKind};
use crate::record::{Layout, Reader};

/// A file's bytes, unpacked (several gzip members too).
pub(crate) fn read(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if path.extension().is_none_or(|e| e != "gz") {
        return bytes;
    }
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut out).unwrap();
    out
}

/// Every log of a capture by its file name.
pub(crate) fn logs(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let ours = ["frontend", "router", "worker-", "w1", "w2", "p1", "p2", "d1", "d2"].iter().any(|p| name.starts_with(p));
        if ours && (name.ends_with(".log") || name.ends_with(".log.gz")) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Walks a source record by record with all formats.
pub(crate) fn each(bytes: &[u8], mut see: impl FnMut(&[u8], &Event<'_>, &Outcome)) {
    let layout = Layout { formats: crate::FORMATS.to_vec(), ..Layout::default() };
    let mut reader = Reader::new(bytes, 0, &layout);
    let mut total = 0;
    while let Some(record) = reader.next() {
        total += record.len;
        let mut event = Event::new(&crate::text::kinds::TEXT);
        let outcome = record.parse(&mut event);
        see(record.payload, &event, &outcome);
    }
    assert_eq!(total, bytes.len());
}

pub(crate) fn captures() -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    for sub in ["dynamo", "tachometer/run_dynamo"] {
        let Some(dir) = cases(sub) else { continue };
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let logs = path.join("logs");
            if logs.is_dir() {
                dirs.push(logs);
            } else if path.join("client.jsonl").is_file() || path.join("client.jsonl.gz").is_file() {
                dirs.push(path);
            }
        }
    }
    dirs.sort();
    dirs
}

/// What a log may hold beside Dynamo's own lines, by how it begins.
const FOREIGN: &[&str] = &["None of PyTorch", "[transformers] PyTorch"];

/// One log, counted.
#[derive(Default)]
struct Count {
    records: usize,
    columnar: usize,
    general: usize,
    foreign: usize,
    kinds: BTreeMap<&'static str, usize>,
    general_lines: BTreeMap<String, usize>,
}

fn count(bytes: &[u8], name: &str) -> Count {
    let mut count = Count::default();
    each(bytes, |payload, event, outcome| {
        let text = String::from_utf8_lossy(payload);
        count.records += 1;
        count.columnar += usize::from(event.columnar);
        *count.kinds.entry(event.kind.name).or_default() += 1;
        if let Outcome::Unparsed(reason) = outcome {
            assert!(FOREIGN.iter().any(|f| text.starts_with(f)), "{name}: {reason}: {text}");
            count.foreign += 1;
        }
        if matches!(event.kind.name, "dynamo_log" | "dynamo_error" | "dynamo_python") {
            count.general += 1;
            let line = text.chars().skip(28).take(150).map(|c| if c.is_ascii_digit() { 'N' } else { c }).collect();
            *count.general_lines.entry(line).or_default() += 1;
        }
        for secret in &event.withheld {
            assert!(secret.span.end <= payload.len(), "{name}: {text}");
        }
        if event.columnar {
            super::words::assert_columnar(payload, event);
        }
    });
    count
}

/// Every line of every log is Dynamo's, or of the two libraries above; a table says how much of it has a kind of its own.
#[test]
fn every_line_of_every_log_parses() {
    let mut records = 0;
    for dir in captures() {
        for path in logs(&dir) {
            let name = format!("{}/{}", dir.file_name().unwrap().to_string_lossy(), path.file_name().unwrap().to_string_lossy());
            let count = count(&read(&path), &name);
            records += count.records;
            println!(
                "{name}: {} records, {} columnar, {} general, {} foreign, {} kinds",
                count.records,
                count.columnar,
                count.general,
                count.foreign,
                count.kinds.len()
            );
            if std::env::var_os("CORR_SHOW").is_some() {
                println!("  {:?}", count.kinds);
                for (line, n) in &count.general_lines {
                    println!("  general {n} {line}");
                }
            }
            assert!(count.general * 10 <= count.records + 100, "{name}: too much is general");
        }
    }
    println!("read {records} records of logs");
}

/// Request ids that the client saw in response ids, found by text search only.
pub(crate) fn client_ids(dir: &Path) -> BTreeSet<String> {
    let packed = dir.join("client.jsonl.gz");
    let bytes = read(&if packed.is_file() { packed } else { dir.join("client.jsonl") });
    let text = String::from_utf8_lossy(&bytes);
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("cmpl-") {
        let id = text.get(at + 5..at + 41).unwrap_or("");
        if ids::is_uuid(id) {
            found.insert(id.replace('-', ""));
        }
    }
    found
}

/// Canonical ids of one kind in events of one kind, and how many events there were.
fn event_ids(files: &[PathBuf], kind: &str, id_kind: IdKind) -> (BTreeSet<String>, usize) {
    let (mut found, mut events) = (BTreeSet::new(), 0);
    let mut key = String::new();
    for path in files {
        each(&read(path), |_, event, outcome| {
            if event.kind.name != kind {
                return;
            }
            assert_eq!(*outcome, Outcome::Parsed);
            events += 1;
            for id in event.ids.iter().filter(|i| i.kind == id_kind) {
                ids::canonical(Some(id.kind), &id.text, &mut key);
                found.insert(key.clone());
            }
        });
    }
    (found, events)
}

pub(crate) fn files(dir: &Path, sub: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir.join(sub)) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    found.sort();
    found
}

/// Client ids, "request received" lines, request_end, request_payload and tool rows, audit records: counted with grep over the
/// captures, not with this crate. In 0.6 and 1.0 the frontend logs no "request received" with an id.
const COUNTED: &[(&str, [usize; 6])] = &[
    ("A1_trace_payload_headers_jsonl", [287, 289, 287, 287, 0, 0]),
    ("B1_audit_body_only_jsonl", [287, 289, 0, 287, 0, 0]),
    ("D1_disagg_jsonl", [103, 105, 103, 0, 0, 0]),
    ("E1_busy_text", [30, 105, 30, 0, 0, 0]),
    ("T1_tool_events_localtz_noansi", [79, 81, 79, 0, 40, 0]),
    ("V061_etcd_nats_text", [96, 0, 0, 0, 0, 0]),
    ("V102_etcd_nats_jsonl", [52, 0, 0, 0, 0, 0]),
    ("V121_agenttrace_audit_jsonl", [92, 105, 68, 0, 0, 93]),
    ("V151_trace_jsonl", [79, 81, 79, 79, 0, 0]),
];

#[test]
fn the_clients_ids_are_in_log_and_trace() {
    let Some(root) = cases("dynamo") else { return };
    for (name, [clients, received, ends, payloads, tools, audits]) in COUNTED {
        let dir = root.join(name);
        let client = client_ids(&dir);
        assert_eq!(client.len(), *clients, "{name}");
        let frontend: Vec<PathBuf> = logs(&dir).into_iter().filter(|p| p.to_string_lossy().contains("frontend")).collect();
        let (logged, lines) = event_ids(&frontend, "request_received", IdKind::RequestId);
        assert_eq!(lines, *received, "{name}");
        assert_eq!(logged.len(), *received, "{name}: one id a line");
        if *received > 0 {
            assert!(client.is_subset(&logged), "{name}");
        }
        let (traced, rows) = event_ids(&files(&dir, "trace"), "request_end", IdKind::RequestId);
        assert_eq!((traced.len(), rows), (*ends, *ends), "{name}");
        // Rows are of requests that the frontend logged, though not each of those has one.
        assert!(traced.is_subset(&logged) || *received == 0, "{name}");
        let bodies: Vec<PathBuf> = files(&dir, "trace").into_iter().chain(files(&dir, "audit")).collect();
        let (paid, rows) = event_ids(&bodies, "request_payload", IdKind::RequestId);
        assert_eq!((paid.len(), rows), (*payloads, *payloads), "{name}");
        assert!(paid.is_subset(&logged), "{name}");
        let mut tool_rows = 0;
        for kind in ["tool_start", "tool_end", "tool_error"] {
            tool_rows += event_ids(&bodies, kind, IdKind::ToolCall).1;
        }
        assert_eq!(tool_rows, *tools, "{name}");
        let (audited, rows) = event_ids(&files(&dir, "audit"), "audit_record", IdKind::RequestId);
        assert_eq!((audited.len(), rows), (*audits, *audits), "{name}");
        if *name == "V102_etcd_nats_jsonl" {
            // 1.0 logs no "request received", but its routing lines carry the id.
            let (routed, _) = event_ids(&frontend, "route_decision", IdKind::RequestId);
            assert!(client.is_subset(&routed), "{name}");
        }
        let joined = client.intersection(&traced).count();
        println!(
            "{name}: {clients} client ids; {} of them in {received} received lines, {joined} in {ends} request_end rows, {} in {payloads} payload rows, {} in {audits} audit records",
            client.intersection(&logged).count(),
            client.intersection(&paid).count(),
            client.intersection(&audited).count(),
        );
    }
}

/// Text mode prints two ids on most frontend lines: the real ones are those of the trace rows.
#[test]
fn text_mode_tells_the_id_from_the_decoy() {
    let Some(root) = cases("dynamo") else { return };
    let dir = root.join("E1_busy_text");
    let frontend = logs(&dir).into_iter().filter(|p| p.to_string_lossy().contains("frontend")).collect::<Vec<_>>();
    let workers = logs(&dir).into_iter().filter(|p| !p.to_string_lossy().contains("frontend")).collect::<Vec<_>>();
    let (received, _) = event_ids(&frontend, "request_received", IdKind::RequestId);
    let (decoys, _) = event_ids(&frontend, "request_received", IdKind::Decoy);
    let (routed, _) = event_ids(&frontend, "route_completed", IdKind::RequestId);
    let (traced, _) = event_ids(&files(&dir, "trace"), "request_end", IdKind::RequestId);
    assert!(!traced.is_empty() && traced.is_subset(&received));
    assert!(decoys.is_disjoint(&received) && decoys.is_disjoint(&traced));
    assert!(!routed.is_empty() && routed.is_subset(&received));
    let (sent, _) = event_ids(&frontend, "http_response", IdKind::RequestId);
    assert!(sent.is_empty(), "a response line has no id of its own in text mode");
    let mut worker_ids = BTreeSet::new();
    for path in workers {
        each(&read(&path), |_, event, _| {
            let inference = matches!(event.get("endpoint"), Some(crate::event::Value::Str(e)) if e == "generate");
            if event.kind.name == "worker_request_received" && inference {
                worker_ids.extend(event.ids.iter().filter(|i| i.kind == IdKind::RequestId).map(|i| i.text.replace('-', "")));
            }
        });
    }
    assert!(!worker_ids.is_empty() && worker_ids.is_subset(&received));
    println!(
        "E1_busy_text: {} received, {} decoys, {} routed, {} on workers",
        received.len(),
        decoys.len(),
        routed.len(),
        worker_ids.len()
    );
}

/// The worker of every traced request of the direct run is the one that the client was told (`nvext`).
#[test]
fn the_direct_runs_workers_are_the_clients() {
    let Some(root) = cases("tachometer/run_dynamo") else { return };
    let run = root.join("corr-direct-20261129T185427Z-1");
    let (traced, rows) = event_ids(&[run.join("artifacts/dynamo-request-trace.000000.jsonl.gz")], "request_end", IdKind::RequestId);
    let router = [run.join("logs/router.log")];
    let (received, _) = event_ids(&router, "request_received", IdKind::RequestId);
    assert_eq!((traced.len(), rows), (153, 153));
    assert!(traced.is_subset(&received));
    let mut chosen: BTreeMap<String, String> = BTreeMap::new();
    each(&read(&router[0]), |_, event, _| {
        let of = |kind| event.ids.iter().find(|i| i.kind == kind).map(|i| i.text.to_string());
        if event.kind.name == "worker_selected"
            && let (Some(request), Some(worker)) = (of(IdKind::RequestId), of(IdKind::WorkerId))
        {
            chosen.insert(request, worker);
        }
    });
    let mut compared = 0;
    let truth = read(&root.join("corr-direct-20261129T185427Z-1.client_truth.jsonl"));
    for line in String::from_utf8_lossy(&truth).lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let (Some(id), Some(worker)) = (row["response_id"].as_str(), row["nvext"]["worker_id"]["decode_worker_id"].as_u64()) else {
            continue;
        };
        let id = id.trim_start_matches("chatcmpl-");
        assert_eq!(chosen.get(id), Some(&worker.to_string()), "{id}");
        compared += 1;
    }
    println!("corr-direct: {rows} traced requests in the router's log, {compared} workers equal to the client's");
    assert_eq!(compared, 152);
}

/// formats/dynamo-appendix/identity_coverage.txt: per message, how many of its lines carry an id.
#[test]
fn ids_are_as_often_there_as_counted() {
    let Some(root) = cases("dynamo") else { return };
    // (kind, lines, with request_id, with x_request_id, with trace_id), of A1
    let frontend: &[(&str, [usize; 4])] = &[
        ("routing_input", [292, 292, 150, 292]),
        ("worker_selected", [292, 292, 0, 0]),
        ("route_decision", [292, 292, 150, 292]),
        ("lower_tier_lookup", [291, 291, 149, 291]),
        ("request_received", [289, 289, 149, 289]),
        ("route_completed", [263, 263, 139, 263]),
        ("route_cancelled", [25, 25, 9, 25]),
        ("client_disconnect", [25, 0, 0, 0]),
    ];
    let mut seen: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    let dir = root.join("A1_trace_payload_headers_jsonl");
    each(&read(&dir.join("frontend.log")), |_, event, _| {
        let has = |kind| usize::from(event.ids.iter().any(|i| i.kind == kind));
        let row = seen.entry(event.kind.name).or_default();
        for (slot, more) in row.iter_mut().zip([1, has(IdKind::RequestId), has(IdKind::XRequestId), has(IdKind::TraceId)]) {
            *slot += more;
        }
    });
    for (kind, want) in frontend {
        let got = seen.get(kind).copied().unwrap_or_default();
        assert_eq!(got, *want, "{kind}");
    }
    println!("A1: ids of {} kinds as counted", frontend.len());
}

/// One line of every template of eleven versions and modes: all are Dynamo's but the file's own headings and what is named here.
#[test]
fn every_template_parses() {
    let Some(root) = cases("dynamo") else { return };
    let mut records = 0;
    for path in files(&root, "line-samples") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (mut seen, mut general) = (0, 0);
        each(&read(&path), |payload, event, outcome| {
            let text = String::from_utf8_lossy(payload);
            if text.starts_with("## ") {
                return;
            }
            seen += 1;
            general += usize::from(matches!(event.kind.name, "dynamo_log" | "dynamo_error" | "dynamo_python"));
            if let Outcome::Unparsed(reason) = outcome {
                // The samples were cut at 4,000 characters.
                let cut = *reason == "truncated JSON" && text.chars().count() >= 3_900;
                assert!(cut || FOREIGN.iter().any(|f| text.starts_with(f)), "{name}: {reason}: {text}");
            }
            if event.columnar {
                super::words::assert_columnar(payload, event);
            }
        });
        records += seen;
        println!("{name}: {seen} templates, {general} general");
    }
    println!("read {records} templates");
}
