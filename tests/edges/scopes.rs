//! Verdicts on a part of a run: its sessions, as their clients sent them, and its workers, as their logs have them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::common::{Capture, cases, corr, edge, json, rows, spelled, unpacked};

/// Requests of each session that were answered, by the client's record.
fn answered(capture: &Capture) -> BTreeMap<String, usize> {
    let mut sessions = BTreeMap::new();
    for row in rows(&capture.original.join("client.jsonl")).iter().filter(|r| r["status"] == 200) {
        if let Some(session) = row["session"].as_str() {
            *sessions.entry(session.to_string()).or_default() += 1;
        }
    }
    sessions
}

fn of_session(capture: &Capture, session: &str) -> Value {
    json(&["edges", capture.path(), "--session", session])
}

#[test]
fn sessions_of_dynamo_have_the_requests_that_clients_sent() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, "dynamo/A1_trace_payload_headers_jsonl");
    let sessions = answered(&capture);
    let mut compared = 0;
    for (session, requests) in sessions.iter().step_by(5) {
        let answer = of_session(&capture, session);
        let all = format!("{requests} of {requests}");
        for id in ["request-router", "router-worker", "admission", "prefill", "decode"] {
            let edge = edge(&answer, id);
            assert_eq!((spelled(&edge["request"]), spelled(&edge["session"])), (all.clone(), all.clone()), "{session}: {id}");
        }
        // Evictions name nobody: of a session nothing is said.
        let evicted = edge(&answer, "l1-evict");
        assert_eq!((evicted["activity"].as_str(), evicted["count"].is_null()), (Some("no-signal"), true), "{session}");
        assert_eq!(spelled(&evicted["session"]), "UNPROVABLE", "{session}");
        assert!(evicted["counters"].as_array().unwrap().is_empty(), "{session}: a counter is nobody's");
        compared += 1;
    }
    println!("{compared} of {} sessions compared", sessions.len());
    // The cache key that one client sends beside its session is none.
    let (code, _, err) = corr(&["edges", capture.path(), "--session", "codex-cache-sess-codex-013"]);
    assert!(code == 1 && err.contains("no record bears session"), "{code} {err}");
}

#[test]
fn sessions_of_sglang_are_the_routing_keys_that_clients_sent() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, "sglang/d-0523-router");
    let mut sessions: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows(&capture.original.join("client.jsonl")).iter().filter(|r| r["status"] == 200) {
        if let Some(key) = row["req_headers"]["x-smg-routing-key"].as_str() {
            *sessions.entry(key.to_string()).or_default() += 1;
        }
    }
    assert!(sessions.len() > 10);
    let mut compared = 0;
    for (session, requests) in sessions.iter().step_by(4) {
        let answer = of_session(&capture, session);
        let admitted = edge(&answer, "decode");
        assert_eq!(admitted["session"]["k"].as_u64(), Some(*requests as u64), "{session}: {}", admitted["session"]);
        compared += 1;
    }
    println!("{compared} of {} sessions compared", sessions.len());
}

/// Each worker has the requests whose arrival its own log says; a request that was sent on has two.
#[test]
fn workers_have_the_requests_of_their_logs() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, "dynamo/A1_trace_payload_headers_jsonl");
    for (worker, logs) in [("w1", &["w1.log"][..]), ("w2", &["w2.log", "w2.restart.log"])] {
        let mut ids: BTreeSet<String> = BTreeSet::new();
        for log in logs {
            let text = String::from_utf8(unpacked(&capture.original.join(log))).unwrap();
            for line in text.lines().filter(|l| l.contains("\"message\":\"request received\"")) {
                let line: Value = serde_json::from_str(line).unwrap();
                if line["endpoint"] == "generate" {
                    ids.insert(line["request_id"].as_str().unwrap().to_string());
                }
            }
        }
        let answer = json(&["edges", capture.path(), "--worker", worker]);
        let admission = edge(&answer, "admission");
        let wanted = format!("{0} of {0}", ids.len());
        assert_eq!(spelled(&admission["request"]), wanted, "{worker}");
        for proof in answer["edges"].as_array().unwrap().iter().flat_map(|e| e["proofs"].as_array().unwrap()) {
            for cite in proof["cites"].as_array().unwrap() {
                let cite = cite.as_str().unwrap();
                assert!(logs.iter().any(|log| cite.contains(&format!("/{log}:"))), "{worker}: {cite}");
            }
        }
        for counter in answer["edges"].as_array().unwrap().iter().flat_map(|e| e["counters"].as_array().unwrap()) {
            assert_eq!(counter["worker"], worker);
        }
        println!("{worker}: {} requests", ids.len());
    }
}
