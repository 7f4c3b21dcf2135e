//! The questions that the direct-layout run must answer, each by one command; the answers are those of `expected/direct.toml`, which were worked out
//! from its raw artifacts, and of its client's own record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::common::{Capture, cases, corr, edge, edges, json, rows, spelled};

const RUN: &str = "tachometer/run_dynamo/corr-direct-20261129T185427Z-1";

fn facts() -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edges/expected/direct.toml");
    let table: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    table["facts"].as_table().unwrap().clone()
}

fn number(facts: &toml::Table, key: &str) -> u64 {
    u64::try_from(facts[key].as_integer().unwrap_or_else(|| panic!("{key}"))).unwrap()
}

/// Records of one query.
fn query(run: &str, query: &str, more: &[&str]) -> Vec<Value> {
    let mut arguments = vec!["query", run, query, "--limit", "0", "--format", "jsonl"];
    arguments.extend(more);
    let (code, out, err) = corr(&arguments);
    assert!(code == 0 || code == 1, "{arguments:?}: {code}\n{err}");
    out.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()).filter(|e| e["type"] == "event").collect()
}

fn id(event: &Value, kind: &str) -> String {
    let ids = event["ids"].as_array().unwrap();
    ids.iter().find(|i| i["kind"] == kind).unwrap_or_else(|| panic!("no {kind}: {event}"))["id"].as_str().unwrap().to_string()
}

fn sum(events: &[Value], field: &str) -> u64 {
    events.iter().map(|e| e["fields"][field].as_u64().unwrap_or_else(|| panic!("no {field}"))).sum()
}

/// Which worker served request X: the log that has its arrival is that of the worker that the client was told.
#[test]
fn which_worker_served_each_request() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, RUN);
    let truth = rows(&cases.join(format!("{RUN}.client_truth.jsonl")));
    let mut name_of: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    let mut right = 0;
    for row in &truth {
        let request = row["response_id"].as_str().unwrap().trim_start_matches("chatcmpl-");
        let worker = row["nvext"]["worker_id"]["decode_worker_id"].as_u64().unwrap();
        let answer = json(&["trace", capture.path(), request, "--stages"]);
        assert_eq!(answer["found"], 1, "{request}");
        let trace = &answer["requests"][0];
        let ids: BTreeSet<&str> = trace["workers"].as_array().unwrap().iter().map(|w| w["id"].as_str().unwrap()).collect();
        assert_eq!(ids, BTreeSet::from([worker.to_string().as_str()]), "{request}");
        let admission = trace["stages"].as_array().unwrap().iter().find(|s| s["stage"] == "admission").unwrap();
        let served: BTreeSet<&str> = admission["seen"].as_array().unwrap().iter().filter_map(|s| s["worker"].as_str()).collect();
        assert_eq!(served.len(), 1, "{request}: {served:?}");
        name_of.entry(worker).or_default().extend(served.iter().map(|s| s.to_string()));
        let session = row["session"].as_str();
        let said: Vec<&str> = trace["sessions"].as_array().into_iter().flatten().map(|s| s["id"].as_str().unwrap()).collect();
        assert_eq!(said, session.into_iter().collect::<Vec<_>>(), "{request}");
        assert!(session.is_some() || trace["sessions"] == "UNPROVABLE", "{request}");
        right += 1;
    }
    // One name for each id, and another for the other.
    assert!(name_of.len() == 2 && name_of.values().all(|names| names.len() == 1), "{name_of:?}");
    let names: BTreeSet<&String> = name_of.values().flatten().collect();
    assert_eq!(names.len(), 2);
    println!("worker and session right for {right} of {} requests", truth.len());
    assert_eq!(format!("{right} of {}", truth.len()), facts()["worker_of_request"].as_str().unwrap());
    // The smoke request is in no client's record, and in a worker's log.
    let arrivals = query(capture.path(), "kind:worker_request_received endpoint:generate", &[]);
    let served: BTreeSet<(String, String)> =
        arrivals.iter().map(|e| (id(e, "request_id"), e["worker"].as_str().unwrap().to_string())).collect();
    assert_eq!(format!("{} of 153", served.len()), facts()["worker_of_request_in_artifacts"].as_str().unwrap());
}

#[test]
fn how_many_requests_sessions_and_phases() {
    let Some(cases) = cases() else { return };
    let (facts, capture) = (facts(), Capture::of(&cases, RUN));
    let answer = edges(&capture.run);
    assert_eq!(answer["requests"]["with_session"].as_u64(), Some(number(&facts, "with_session")));
    assert_eq!(answer["requests"]["without_session"].as_u64(), Some(number(&facts, "without_session")));
    let counted = json(&["query", capture.path(), "kind:request_end", "--count-by", "session", "--limit", "0"]);
    let sessions = counted["counts"].as_array().unwrap().iter().filter(|c| c["value"].is_string()).count() as u64;
    assert_eq!(sessions, number(&facts, "sessions"));
    let phase = |window: &str| {
        let answer = json(&["edges", capture.path(), "--window", window]);
        let of = &edge(&answer, "request-router")["request"];
        assert_eq!(of["k"], of["n"], "{window}");
        assert_eq!(answer["requests"]["router"], of["n"], "{window}");
        of["n"].as_u64().unwrap()
    };
    let (measured, warm) = (phase("measured"), phase("warmup"));
    assert_eq!((measured, warm), (number(&facts, "requests_measured"), number(&facts, "requests_warmup")));
    assert_eq!(answer["requests"]["router"].as_u64().unwrap() - measured - warm, number(&facts, "requests_smoke"));
    let without = query(capture.path(), "kind:request_received NOT x_request_id:*", &[]);
    assert_eq!(without.len() as u64, number(&facts, "without_x_request_id"));
    println!("{measured} measured, {warm} warm-up; {sessions} sessions");
}

/// Two requests with one client id; nothing says that one is the other's retry.
#[test]
fn a_shared_client_id_is_no_proof_of_a_retry() {
    let Some(cases) = cases() else { return };
    let (facts, capture) = (facts(), Capture::of(&cases, RUN));
    let shared = facts["shared_x_request_id"].as_str().unwrap();
    let answer = edges(&capture.run);
    let said = answer["shared_x_request_ids"].as_array().unwrap();
    assert_eq!(said.len(), 1);
    assert_eq!(said[0]["x_request_id"], shared);
    assert_eq!(said[0]["requests"].as_array().unwrap().len() as u64, number(&facts, "shared_x_request_id_requests"));
    assert_eq!(said[0]["retry"].as_str(), facts["shared_x_request_id_retry"].as_str());
    let trace = json(&["trace", capture.path(), shared, "--stages"]);
    assert_eq!(trace["found"].as_u64(), Some(number(&facts, "shared_x_request_id_requests")));
    for request in trace["requests"].as_array().unwrap() {
        assert_eq!(request["sessions"][0]["id"], "sess-dup");
        assert_eq!(request["x_request_ids"][0]["id"], shared);
    }
    let (_, text, _) = corr(&["trace", capture.path(), shared, "--stages"]);
    assert_eq!(text.matches("that one is a retry: UNPROVABLE").count(), 2, "{text}");
}

/// What the router predicted is there, token by token; of the engine's reuse nothing is said, and what would say it is named.
#[test]
fn predicted_reuse_is_the_routers_and_the_engines_is_unknown() {
    let Some(cases) = cases() else { return };
    let (facts, capture) = (facts(), Capture::of(&cases, RUN));
    let lookup = json(&["edges", capture.path(), "--edge", "l1-lookup"]);
    let lookup = edge(&lookup, "l1-lookup");
    assert_eq!(lookup["activity"].as_str(), facts["engine_reuse"].as_str());
    assert_eq!((spelled(&lookup["request"]), spelled(&lookup["session"])), ("UNPROVABLE".into(), "UNPROVABLE".into()));
    assert!(lookup["proofs"].as_array().unwrap().is_empty());
    let missing: BTreeSet<&str> = lookup["missing"].as_array().unwrap().iter().map(|m| m["instrument"].as_str().unwrap()).collect();
    assert!(missing.contains("dynamo-payload"), "{missing:?}");
    assert!(lookup["missing"].as_array().unwrap().iter().any(|m| m["switch"].as_str().unwrap().contains("request_payload")));
    assert!(!lookup["request"]["needs"].as_str().unwrap().is_empty());
    let hints: BTreeMap<&str, &Value> = lookup["hints"].as_array().unwrap().iter().map(|h| (h["signal"].as_str().unwrap(), h)).collect();
    for name in ["trace-predicted", "trace-hit-rate", "route-overlap"] {
        assert!(hints[name]["does_not_prove"].as_str().unwrap().contains("prediction"), "{name}");
    }

    let measured = query(capture.path(), "kind:request_end", &["--window", "measured"]);
    let (cached, input) = (sum(&measured, "cached_tokens"), sum(&measured, "input_tokens"));
    assert_eq!(format!("{cached} of {input}"), facts["predicted_reuse_measured_tokens"].as_str().unwrap());
    let thousandths = |a: u64, b: u64| (a as f64 / b as f64 * 1e3).round() / 1e3;
    assert_eq!(Some(thousandths(cached, input)), facts["predicted_reuse_measured"].as_float());
    let whole = query(capture.path(), "kind:request_end", &[]);
    assert_eq!(
        Some(thousandths(sum(&whole, "cached_tokens"), sum(&whole, "input_tokens"))),
        facts["predicted_reuse_whole_capture"].as_float()
    );

    // The same by one command, named as what it is.
    let answer = json(&["edges", capture.path(), "--window", "measured"]);
    let named = |list: &str, id: &str| {
        let all = answer[list].as_array().unwrap();
        all.iter().find(|s| s["id"] == id).unwrap_or_else(|| panic!("{list}: no {id}")).clone()
    };
    let share = named("shares", "router-predicted-reuse");
    assert_eq!((share["above"].as_f64(), share["below"].as_f64()), (Some(cached as f64), Some(input as f64)));
    assert_eq!(share["requests"].as_u64(), Some(number(&facts, "requests_measured")));
    assert_eq!(share["share"].as_f64().map(|s| (s * 1e3).round() / 1e3), facts["predicted_reuse_measured"].as_float());
    assert!(share["says"].as_str().unwrap().contains("the router's prediction"));
    let shares: Vec<&str> = answer["shares"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
    assert!(!shares.iter().any(|id| id.starts_with("engine-reuse")), "{shares:?}");
    let agree = named("comparisons", "overlap-against-trace");
    assert_eq!((agree["requests"].as_u64(), agree["agree"].as_u64()), (Some(132), Some(132)));
    assert_eq!((agree["independent"].as_bool(), agree["conflict"].as_bool()), (Some(false), Some(false)));

    // Both are the router's: that they agree says nothing of the engine.
    let decisions = query(capture.path(), "kind:route_decision", &[]);
    assert_eq!(sum(&decisions, "overlap_blocks"), number(&facts, "overlap_blocks"));
    let traced: BTreeMap<String, u64> =
        whole.iter().map(|e| (id(e, "request_id"), e["fields"]["cached_tokens"].as_u64().unwrap())).collect();
    let agree = decisions.iter().filter(|d| traced[&id(d, "request_id")] == 16 * d["fields"]["overlap_blocks"].as_u64().unwrap()).count();
    assert_eq!(format!("{agree} of {}", decisions.len()), facts["overlap_times_block_is_trace"].as_str().unwrap());
}

/// The router's sample before each decision, with its age.
#[test]
fn samples_before_decisions_have_an_age() {
    let Some(cases) = cases() else { return };
    let (facts, capture) = (facts(), Capture::of(&cases, RUN));
    let decisions =
        query(capture.path(), "kind:route_decision", &["--window", "measured", "--metrics", "dynamo_frontend_inflight_requests"]);
    let mut ages: Vec<f64> = Vec::new();
    for decision in &decisions {
        let before = &decision["metrics"][0]["before"];
        ages.extend(before["away_ns"].as_f64().map(|ns| ns / 1e9));
    }
    assert_eq!(format!("{} of {}", ages.len(), decisions.len()), facts["samples_before_decision"].as_str().unwrap());
    ages.sort_by(f64::total_cmp);
    // The scraper began within 0.06 s of the earliest start that the raw files allow.
    let wanted: Vec<f64> = facts["sample_age_router_earliest_start"].as_array().unwrap().iter().map(|a| a.as_float().unwrap()).collect();
    let found = [ages[0], (ages[ages.len() / 2 - 1] + ages[ages.len() / 2]) / 2.0, ages[ages.len() - 1]];
    for (wanted, found) in wanted.iter().zip(found) {
        assert!((wanted - found).abs() < 0.06, "{wanted} s, found {found} s");
    }
    println!("age of the router's sample before {} decisions: {found:?} s", ages.len());
}
