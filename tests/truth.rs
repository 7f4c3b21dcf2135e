//! Answers against what is known to have happened: the clients' own records of the captures in shared/cases. The answers are never given to corr: only
//! the run is copied. Without the cases each test says that it was skipped.

#[path = "program/cases.rs"]
mod cases;
mod diff;
mod facts;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::process::Command;

use cases::cases as case;
use serde_json::Value;

/// Copies a run without the files that hold answers.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let answers = ["client.jsonl", "client_truth", "timeline.jsonl", "health.jsonl", "truth.json", "scrapes.jsonl"];
        if answers.iter().any(|a| name.contains(a)) || name == "metrics" {
            continue;
        }
        let target = to.join(&name);
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            // Written anew, so that the copy is writable whatever the original is.
            std::fs::write(&target, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

fn corr(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_corr")).args(arguments).output().unwrap();
    let text = |b: Vec<u8>| String::from_utf8(b).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// All events of a query, without the summary.
fn events(run: &Path, query: &str) -> Vec<Value> {
    let (code, out, err) = corr(&["query", run.to_str().unwrap(), "--limit", "0", "--format", "jsonl", "--", query]);
    assert!(code == 0 || code == 1, "{query}: exit code {code}\n{err}");
    let mut all: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let summary = all.pop().unwrap();
    assert_eq!(summary["type"], "summary");
    assert_eq!(summary["matched"].as_u64().unwrap() as usize, all.len(), "{query}");
    all
}

fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
    plain
}

fn lines(path: &Path) -> Vec<Value> {
    String::from_utf8(unpacked(path)).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn ids_of(event: &Value, kind: &str) -> Vec<String> {
    let ids = event["ids"].as_array().unwrap();
    ids.iter().filter(|i| i["kind"] == kind).map(|i| i["id"].as_str().unwrap().to_string()).collect()
}

/// Every byte of every event source belongs to exactly one record.
fn assert_accounted(run: &Path) {
    let all = events(run, "");
    let mut at: BTreeMap<&str, u64> = BTreeMap::new();
    let mut sorted: Vec<&Value> = all.iter().collect();
    sorted.sort_by_key(|e| (e["source"].as_str().unwrap(), e["offset"].as_u64().unwrap()));
    for event in sorted {
        let end = at.entry(event["source"].as_str().unwrap()).or_insert(0);
        assert_eq!(event["offset"].as_u64().unwrap(), *end, "{}", event["source"]);
        *end += event["length"].as_u64().unwrap();
    }
    for (source, sum) in at {
        assert_eq!(sum, unpacked(Path::new(source)).len() as u64, "{source}");
    }
}

#[test]
fn direct_run_every_request_is_found_with_its_worker() {
    let name = "corr-direct-20261129T185427Z-1";
    let Some(cases) = case("tachometer/run_dynamo") else { return };
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().join("run");
    copy(&cases.join(name), &run);
    let (code, _, err) = corr(&["index", run.to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");

    let rows = lines(&run.join("artifacts/dynamo-request-trace.000000.jsonl.gz"));
    let traced: Vec<String> = rows.iter().map(|r| r["event"]["request"]["request_id"].as_str().unwrap().to_string()).collect();
    assert_eq!(traced.len(), 153);
    let mut served: BTreeMap<String, String> = BTreeMap::new();
    for id in &traced {
        let found = events(&run, &format!("request_id:{id}"));
        let kinds: BTreeSet<&str> = found.iter().map(|e| e["kind"].as_str().unwrap()).collect();
        assert!(kinds.contains("request_end"), "{id}: no trace row among {kinds:?}");
        assert!(kinds.contains("request_received"), "{id}: not in the router log, only {kinds:?}");
        let routed = found.iter().find(|e| e["kind"] == "route_completed").unwrap_or_else(|| panic!("{id}: no route line among {kinds:?}"));
        served.insert(id.clone(), ids_of(routed, "worker_id")[0].clone());
        // The response id and the undashed form are the same request.
        let undashed: String = id.chars().filter(|c| *c != '-').collect();
        let by_response = events(&run, &format!("id:chatcmpl-{id}"));
        assert_eq!(by_response.len(), events(&run, &format!("id:{undashed}")).len());
        assert!(by_response.len() >= found.len());
    }
    let truth = lines(&cases.join(format!("{name}.client_truth.jsonl")));
    assert_eq!(truth.len(), 152);
    for row in &truth {
        let id = row["response_id"].as_str().unwrap().strip_prefix("chatcmpl-").unwrap();
        let worker = row["nvext"]["worker_id"]["decode_worker_id"].as_u64().unwrap();
        assert_eq!(served[id], worker.to_string(), "{id}");
        let by_hex = events(&run, &format!("request_id:{id} worker_id:{worker:x} kind:worker_selected"));
        assert_eq!(by_hex.len(), 1, "{id} by its worker's hex id");
    }

    let smoke: Value = serde_json::from_slice(&std::fs::read(run.join("logs/smoke.json")).unwrap()).unwrap();
    let response = smoke["id"].as_str().unwrap();
    let found = events(&run, response);
    let file = |e: &Value| Path::new(e["source"].as_str().unwrap()).file_name().unwrap().to_string_lossy().into_owned();
    let sources: BTreeSet<String> = found.iter().map(file).collect();
    assert!(sources.contains("smoke.json") && sources.contains("router.log"), "{sources:?}");
    let trace = found.iter().find(|e| e["kind"] == "request_end").unwrap();
    let selected = found.iter().find(|e| e["kind"] == "worker_selected").unwrap();
    assert_eq!(ids_of(trace, "worker_id")[0], ids_of(selected, "worker_id")[0]);
    assert!(truth.iter().all(|r| r["response_id"] != response), "the smoke request is no client request");

    assert_accounted(&run);
    println!("153 traced requests found, 152 workers equal the client's, smoke request on worker {}", ids_of(trace, "worker_id")[0]);
}

/// Client records of SGLang captures: every request that was answered with usage is in the request log with the same numbers, at a time when the
/// client was waiting for it.
#[test]
fn sglang_request_logs_agree_with_the_clients() {
    for name in ["a-0523-text", "a2-0523-retract", "b-0523-json-hicache", "b2-0523-hicache-restart", "f-056post2-text"] {
        let Some(from) = case(&format!("sglang/{name}")) else { return };
        let temp = tempfile::tempdir().unwrap();
        let run = temp.path().join("run");
        copy(&from, &run);
        let (code, _, err) = corr(&["index", run.to_str().unwrap()]);
        assert_eq!(code, 0, "{name}: {err}");
        let finished = events(&run, "kind:request_finished");
        let received = events(&run, "kind:request_received");
        let mut compared = 0;
        let mut waited = 0;
        for row in lines(&from.join("client.jsonl")) {
            let (Some(rid), Some(200)) = (row["rid"].as_str(), row["status"].as_u64()) else { continue };
            let (Some(prompt), Some(completion)) = (row["prompt_tokens"].as_u64(), row["completion_tokens"].as_u64()) else { continue };
            if row["finish_reason"].is_null() {
                // The client hung up: the server writes no end of it.
                continue;
            }
            let mine = |e: &&Value| ids_of(e, "rid").iter().any(|i| i == rid);
            let ends: Vec<&Value> = finished.iter().filter(mine).collect();
            assert!(!ends.is_empty(), "{name}: the client's request {rid} has no end in the log");
            let (t_start, t_end) = (row["t_start"].as_f64().unwrap(), row["t_end"].as_f64().unwrap());
            let fits = |e: &&Value| {
                e["fields"]["prompt_tokens"].as_u64() == Some(prompt)
                    && e["fields"]["completion_tokens"].as_u64() == Some(completion)
                    && row["cached_tokens"].as_u64().is_none_or(|c| e["fields"]["cached_tokens"].as_u64() == Some(c))
            };
            assert!(ends.iter().any(fits), "{name} {rid}: prompt {prompt}, completion {completion}, cached {}", row["cached_tokens"]);
            compared += 1;
            let in_wait = |e: &&Value| {
                let (start, end) = (e["start_ns"].as_i64().unwrap() as f64 / 1e9, e["end_ns"].as_i64().unwrap() as f64 / 1e9);
                start <= t_end && end >= t_start
            };
            // A rid can be sent again: one of its receipts lies in the client's wait.
            waited += usize::from(received.iter().filter(mine).any(|e| in_wait(&e)));
        }
        assert!(compared >= 10, "{name}: only {compared} requests could be compared");
        assert_eq!(waited, compared, "{name}: receipts that lie in the client's wait");
        assert_accounted(&run);
        println!("{name}: {compared} requests agree with the client in prompt, completion and cached tokens, and in time");
    }
}

/// Client records of Dynamo captures: ids of answered requests stand in the frontend's log.
#[test]
fn dynamo_requests_are_found_by_the_response_id() {
    let captures =
        ["A1_trace_payload_headers_jsonl", "B1_audit_body_only_jsonl", "D1_disagg_jsonl", "E1_busy_text", "T1_tool_events_localtz_noansi"];
    for name in captures {
        let Some(from) = case(&format!("dynamo/{name}")) else { return };
        let temp = tempfile::tempdir().unwrap();
        let run = temp.path().join("run");
        copy(&from, &run);
        let (code, _, err) = corr(&["index", run.to_str().unwrap()]);
        assert_eq!(code, 0, "{name}: {err}");
        let known: BTreeSet<String> = events(&run, "kind:request_received").iter().flat_map(|e| ids_of(e, "request_id")).collect();
        let client = ["client.jsonl", "client.jsonl.gz"].iter().map(|n| from.join(n)).find(|p| p.exists()).unwrap();
        let mut found = 0;
        for row in lines(&client) {
            let text = row.to_string();
            let Some(at) = text.find("chatcmpl-") else { continue };
            let id = &text[at + 9..at + 9 + 36];
            assert!(known.contains(id), "{name}: {id} is not in the frontend's log");
            found += 1;
        }
        assert!(found > 0, "{name}: no response id in the client's file");
        assert_accounted(&run);
        println!("{name}: {found} response ids found in the frontend's log");
    }
}
