//! `corr trace` against what each request's client knows of it: 20 requests of three captures, drawn evenly from the client's record.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::common::{Capture, cases, json, rows, unpacked};

/// 20 of them, evenly.
fn drawn<T>(all: &[T]) -> Vec<&T> {
    assert!(all.len() >= 20, "only {}", all.len());
    (0..20).map(|i| &all[i * (all.len() - 1) / 19]).collect()
}

/// The one request that an id names.
fn traced(capture: &Capture, id: &str) -> Value {
    let mut answer = json(&["trace", capture.path(), id, "--stages"]);
    assert_eq!(answer["found"], 1, "{id}");
    answer["requests"][0].take()
}

fn stage<'a>(trace: &'a Value, id: &str) -> &'a Value {
    trace["stages"].as_array().unwrap().iter().find(|s| s["stage"] == id).unwrap_or_else(|| panic!("no stage {id}"))
}

/// Stages that a record proves.
fn present(trace: &Value) -> BTreeSet<&str> {
    let all = trace["stages"].as_array().unwrap();
    assert_eq!(all.len(), 22);
    all.iter().filter(|s| s["nothing"].is_null()).map(|s| s["stage"].as_str().unwrap()).collect()
}

/// Workers whose own records prove a stage.
fn workers<'a>(trace: &'a Value, id: &str) -> BTreeSet<&'a str> {
    stage(trace, id)["seen"].as_array().unwrap().iter().filter(|s| s["direct"] == true).filter_map(|s| s["worker"].as_str()).collect()
}

/// Amounts that a signal gives on a stage.
fn amounts(trace: &Value, id: &str, signal: &str) -> Vec<f64> {
    stage(trace, id)["seen"].as_array().unwrap().iter().filter(|s| s["signal"] == signal).filter_map(|s| s["amount"].as_f64()).collect()
}

fn ids(of: &Value) -> BTreeSet<&str> {
    of.as_array().map_or_else(BTreeSet::new, |all| all.iter().map(|i| i["id"].as_str().unwrap()).collect())
}

/// Session and x-request-id are those that the client sent, and none where it sent none.
fn assert_sent(trace: &Value, session: Option<&str>, x_request_id: Option<&str>, at: &str) {
    match session {
        Some(session) => assert_eq!(ids(&trace["sessions"]), BTreeSet::from([session]), "{at}"),
        None => assert_eq!(trace["sessions"], "UNPROVABLE", "{at}"),
    }
    assert_eq!(ids(&trace["x_request_ids"]), x_request_id.into_iter().collect(), "{at}");
}

/// Every locator of a trace names a line that bears one of the request's ids, or the id of its trace.
fn assert_cited(trace: &Value, of_trace: &[String], lines: &mut crate::common::Lines, at: &str) -> usize {
    let own = ids(&trace["ids"]).into_iter().chain(ids(&trace["x_request_ids"])).flat_map(|id| [id.to_string(), dashed(id)]);
    let known: Vec<String> = own.chain(of_trace.iter().cloned()).collect();
    let mut cited = 0;
    for seen in trace["stages"].as_array().unwrap().iter().flat_map(|s| s["seen"].as_array().unwrap()) {
        let (path, line) = crate::common::locator(seen["cite"].as_str().unwrap());
        let text = &lines.from(path, line)[0];
        assert!(known.iter().any(|id| text.contains(id.as_str())), "{at}: {path}:{line} bears none of {known:?}");
        cited += 1;
    }
    cited
}

fn dashed(id: &str) -> String {
    if id.len() != 32 || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return id.to_string();
    }
    format!("{}-{}-{}-{}-{}", &id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..])
}

/// Workers whose raw log has the request's arrival (`request received` of the endpoint `generate`).
fn arrivals(original: &Path, logs: &[&str], id: &str) -> BTreeSet<String> {
    let of = |log: &&&str| {
        let path = original.join(log);
        let packed = original.join(format!("{log}.gz"));
        let text = String::from_utf8_lossy(&unpacked(if path.exists() { &path } else { &packed })).into_owned();
        text.lines().any(|l| l.contains(id) && l.contains("\"message\":\"request received\"") && l.contains("\"endpoint\":\"generate\""))
    };
    logs.iter().filter(of).map(|log| log.split('.').next().unwrap().to_string()).collect()
}

struct Dynamo {
    below: &'static str,
    logs: &'static [&'static str],
    /// Usage stands in payload rows.
    payload: bool,
}

fn dynamo(of: &Dynamo) {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, of.below);
    // Answers of one choice, whose id is the request's, each with the id that it was asked by.
    let answered = |r: &Value| r["response_id"].as_str().is_some_and(|id| id.starts_with("chatcmpl-")) && r["status"] == 200;
    let all: Vec<Value> = rows(&capture.original.join("client.jsonl")).into_iter().filter(answered).collect();
    let mut lines = crate::common::Lines::default();
    let (mut stages, mut cited) = (0, 0);
    for row in drawn(&all) {
        let id = row["response_id"].as_str().unwrap().trim_start_matches("chatcmpl-");
        let at = format!("{}: {id} ({})", of.below, row["kind"]);
        let trace = traced(&capture, id);
        assert_sent(&trace, row["session"].as_str(), row["x_request_id"].as_str(), &at);
        let arrived = arrivals(&capture.original, of.logs, id);
        assert!(!arrived.is_empty(), "{at}");
        assert_eq!(workers(&trace, "admission"), arrived.iter().map(String::as_str).collect(), "{at}");
        let present = present(&trace);
        let mut wanted = BTreeSet::from(["request-router", "router-worker", "admission", "prefill", "decode"]);
        // Payload rows have usage; a client that broke off does not know of it.
        if of.payload && (!row["usage"].is_null() || present.contains("l1-lookup")) {
            wanted.insert("l1-lookup");
        }
        // Its worker was killed: the frontend says that it sent it on.
        let frontend = ["frontend.log", "frontend.log.gz"].map(|n| capture.original.join(n)).into_iter().find(|p| p.exists()).unwrap();
        let frontend = String::from_utf8_lossy(&unpacked(&frontend)).into_owned();
        let own: Vec<&str> = frontend.lines().filter(|l| l.contains(id)).collect();
        if own.iter().any(|l| l.contains("migration retry scheduled")) {
            wanted.insert("migration");
        }
        let received = own.iter().find(|l| l.contains("\"message\":\"request received\"")).unwrap();
        let received: Value = serde_json::from_str(received).unwrap();
        assert_eq!(present, wanted, "{at}");
        stages += 22;
        if let Some(tokens) = row["usage"]["completion_tokens"].as_f64() {
            assert_eq!(amounts(&trace, "decode", "trace-output"), [tokens], "{at}");
        }
        if let (true, Some(cached)) = (of.payload, row["usage"]["prompt_tokens_details"]["cached_tokens"].as_f64()) {
            assert_eq!(amounts(&trace, "l1-lookup", "payload-usage"), [cached], "{at}");
        }
        cited += assert_cited(&trace, &[received["trace_id"].as_str().unwrap().to_string()], &mut lines, &at);
    }
    println!("{}: 20 of {} answered requests traced, {stages} stages compared, {cited} citations opened", of.below, all.len());
}

#[test]
fn dynamo_requests_pass_the_stages_that_clients_saw() {
    dynamo(&Dynamo { below: "dynamo/A1_trace_payload_headers_jsonl", logs: &["w1.log", "w2.log", "w2.restart.log"], payload: true });
}

#[test]
fn disaggregated_dynamo_requests_pass_the_stages_that_clients_saw() {
    dynamo(&Dynamo { below: "dynamo/D1_disagg_jsonl", logs: &["p1.log", "p2.log", "p2.restart.log", "d1.log", "d2.log"], payload: false });
}

#[test]
fn disaggregated_sglang_requests_pass_the_stages_that_clients_saw() {
    let Some(cases) = cases() else { return };
    let below = "sglang/e-0523-pd-mooncake-tcp";
    let capture = Capture::of(&cases, below);
    // The engine's id as the client knows it: its own rid, else the answer's id; of those that timed out only a rid of its own.
    let id = |r: &Value| match (r["status"].as_u64(), r["resp_id"].as_str(), r["endpoint"].as_str()) {
        (Some(200), Some(id), _) => Some(id.to_string()),
        (Some(200), None, _) | (None, None, Some("/generate")) => r["rid"].as_str().map(str::to_string),
        _ => None,
    };
    let all: Vec<(String, Value)> = rows(&capture.original.join("client.jsonl")).into_iter().filter_map(|r| Some((id(&r)?, r))).collect();
    let mut lines = crate::common::Lines::default();
    let (mut lost, mut cited) = (0, 0);
    let mut drawn = drawn(&all);
    drawn.extend(all.iter().filter(|(_, r)| r["status"].is_null()));
    for (id, row) in &drawn {
        let at = format!("{below}: {id}");
        let trace = traced(&capture, id);
        // The router prints the x-request-id, the engines the routing key: no record bears both.
        assert_sent(&trace, row["req_headers"]["x-smg-routing-key"].as_str(), None, &at);
        let present = present(&trace);
        if row["status"].is_null() {
            // The decode server had been killed; the prefill server gave up on it.
            assert_eq!(workers(&trace, "admission"), BTreeSet::from(["prefill"]), "{at}");
            for stage in ["queue-wait", "l1-lookup", "prefill", "decode"] {
                assert!(!present.contains(stage), "{at}: {stage}");
            }
            assert!(present.contains("kv-transfer"), "{at}: the failure is shown");
            lost += 1;
        } else {
            assert_eq!(workers(&trace, "admission"), BTreeSet::from(["prefill", "decode"]), "{at}");
            let always = ["router-worker", "admission", "queue-wait", "l1-lookup", "l2-lookup", "l3-restore", "l2-restore"];
            let wanted: BTreeSet<&str> = always.into_iter().chain(["prefill", "kv-transfer", "decode"]).collect();
            assert_eq!(present, wanted, "{at}");
            assert_eq!(amounts(&trace, "decode", "request-log-completion"), [row["completion_tokens"].as_f64().unwrap()], "{at}");
            let cached = row["cached_tokens"].as_f64().unwrap();
            let said = amounts(&trace, "l1-lookup", "request-log-device");
            let zero = cached == 0.0 && amounts(&trace, "l1-lookup", "request-log-total").iter().all(|a| *a == 0.0);
            assert!(said.iter().all(|a| *a == cached) && (!said.is_empty() || zero), "{at}: {cached}, {said:?}");
            assert_eq!(workers(&trace, "decode"), BTreeSet::from(["decode"]), "{at}");
            assert_eq!(workers(&trace, "prefill"), BTreeSet::from(["prefill"]), "{at}");
        }
        cited += assert_cited(&trace, &[], &mut lines, &at);
    }
    println!("{below}: {} of {} requests traced, {lost} of them lost in the kill, {cited} citations opened", drawn.len(), all.len());
    assert_eq!(lost, 1 + drawn.iter().take(20).filter(|(_, r)| r["status"].is_null()).count());
}
