//! Tests of the event plane's messages.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::cases::cases;
use crate::dynamo::tests::captures::{each, read};
use crate::dynamo::tests::grammar::{ids, parse, word};
use crate::event::{Event, Outcome, Value};
use crate::ids::IdKind;

fn sample(n: usize) -> (&'static str, Event<'static>) {
    let line = super::EVENTS.samples[n].0;
    let (event, outcome) = parse(&super::EVENTS, line);
    assert_eq!(outcome, Outcome::Parsed);
    (line, event)
}

fn number(event: &Event<'_>, name: &str) -> i64 {
    match event.get(name) {
        Some(Value::Int(n)) => *n,
        None => 0,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn a_stored_block_has_worker_tier_and_the_publishers_stamp() {
    let (line, event) = sample(0);
    assert_eq!(event.kind.name, "kv_stored");
    let json: Json = serde_json::from_str(line).unwrap();
    let stamp = event.stamp.unwrap();
    assert_eq!((stamp.ns / 1_000_000, stamp.width), (json["envelope"]["published_at"].as_i64().unwrap(), 1_000_000));
    assert_eq!(&line[stamp.at as usize..(stamp.at + stamp.len) as usize], json["envelope"]["published_at"].to_string());
    assert_eq!(ids(&event, IdKind::WorkerId), [json["envelope"]["payload"][0]["worker_id"].to_string()]);
    assert_eq!((word(&event, "storage_tier"), word(&event, "kv_event")), ("device", "stored"));
    assert_eq!((number(&event, "blocks"), number(&event, "device_stored_blocks"), number(&event, "events")), (1, 1, 1));
    assert_eq!(event.get("removed_blocks"), None);
    assert!(matches!(event.get("received_unix_s"), Some(Value::Float(_))));
    // 1.2 publishes one event and no list, and no domain.
    let (_, event) = sample(1);
    assert_eq!((event.kind.name, number(&event, "events")), ("kv_stored", 1));
    assert_eq!((ids(&event, IdKind::WorkerId).len(), event.get("residency_domain")), (1, None));
}

#[test]
fn a_mixed_message_counts_by_tier() {
    let (line, event) = sample(3);
    assert_eq!(event.kind.name, "kv_events");
    assert_eq!(event.get("blocks"), None, "stored and removed together are no count");
    let json: Json = serde_json::from_str(line).unwrap();
    let mut want = [0i64; 4];
    for e in json["envelope"]["payload"].as_array().unwrap() {
        let data = &e["event"]["data"];
        let tier = if e["storage_tier"] == "device" { 0 } else { 2 };
        want[tier] += data["stored"]["blocks"].as_array().map_or(0, Vec::len) as i64;
        want[tier + 1] += data["removed"]["block_hashes"].as_array().map_or(0, Vec::len) as i64;
    }
    let names = ["device_stored_blocks", "device_removed_blocks", "host_pinned_stored_blocks", "host_pinned_removed_blocks"];
    assert_eq!(names.map(|n| number(&event, n)), want);
}

#[test]
fn cleared_and_new_sorts() {
    let line = |payload: &str| {
        format!(r#"{{"publisher_id":1,"sequence":2,"published_at":1795975544199,"topic":"kv-events","payload":[{payload}]}}"#)
    };
    let cleared = line(r#"{"worker_id":7,"storage_tier":"disk","event":{"event_id":1,"data":"cleared","dp_rank":3}}"#);
    let (event, _) = parse(&super::EVENTS, &cleared);
    assert_eq!((event.kind.name, word(&event, "kv_event"), number(&event, "dp_rank")), ("kv_cleared", "cleared", 3));
    assert_eq!(event.get("blocks"), None);
    let session =
        line(r#"{"worker_id":7,"storage_tier":"tape","session_id":"s","event":{"event_id":1,"data":{"removed":{"block_hashes":[1,2]}}}}"#);
    let (event, _) = parse(&super::EVENTS, &session);
    assert_eq!((event.kind.name, number(&event, "other_removed_blocks"), number(&event, "blocks")), ("kv_removed", 2, 2));
    assert_eq!(ids(&event, IdKind::Session), ["s"]);
    let new = line("1").replace("kv-events", "new-topic").replace("[1]", r#"{"prompt":"SECRET"}"#);
    let (event, outcome) = parse(&super::EVENTS, &new);
    assert_eq!((event.kind.name, outcome), ("event_message", Outcome::Parsed));
    assert!(event.withheld.iter().any(|w| new[w.span.clone()].contains("SECRET")));
    let added = r#"{"publisher_id":1,"sequence":2,"published_at":1795975544199,"topic":"active_sequences_events","payload":{"events":[{"request_id":"r1","worker":{"worker_id":7,"dp_rank":0},"data":{"AddRequest":{"token_ids":[1,2]}},"router_id":9,"lora_name":null}]}}"#;
    let (event, _) = parse(&super::EVENTS, added);
    assert_eq!((word(&event, "sequence_event"), word(&event, "router_id")), ("AddRequest", "9"));
    assert_eq!((ids(&event, IdKind::RequestId), ids(&event, IdKind::WorkerId)), (vec!["r1"], vec!["7"]));
    assert_eq!(&added[event.withheld[0].span.clone()], r#"{"AddRequest":{"token_ids":[1,2]}}"#);
}

#[test]
fn tool_events_are_the_traces() {
    let (_, event) = sample(7);
    assert_eq!(event.kind.name, "tool_end");
    assert_eq!((ids(&event, IdKind::ToolCall), ids(&event, IdKind::Session)), (vec!["call_0000"], vec!["sess-xreq-000"]));
    assert_eq!(event.stamp.unwrap().ns, 1_795_978_358_146_000_000, "the harness's");
    assert_eq!(word(&event, "topic"), "agent-tool-events");
}

/// Blocks by tier and requests by worker, of every capture, as a general JSON reader has them.
#[test]
fn sums_over_the_captures_are_those_of_the_json() {
    let Some(root) = cases("dynamo") else { return };
    let tiers = ["device", "host_pinned"];
    let (mut files, mut compared) = (0, 0);
    let mut runs: Vec<_> = std::fs::read_dir(&root).unwrap().map(|e| e.unwrap().path()).collect();
    runs.sort();
    for run in runs {
        let path = run.join("kv_events_wire.jsonl.gz");
        if !path.is_file() {
            continue;
        }
        let bytes = read(&path);
        let text = String::from_utf8(bytes.clone()).unwrap();
        let (mut want, mut pairs) = ([[0i64; 2]; 2], BTreeSet::new());
        let mut lines = 0;
        for line in text.lines() {
            lines += 1;
            let json: Json = serde_json::from_str(line).unwrap();
            let payload = &json["envelope"]["payload"];
            for event in payload["events"].as_array().into_iter().flatten() {
                pairs.insert((text_of(&event["request_id"]), text_of(&event["worker"]["worker_id"])));
            }
            if json["topic"] != "kv-events" {
                continue;
            }
            let list = payload.as_array().cloned().unwrap_or_else(|| vec![payload.clone()]);
            for event in list {
                let tier = tiers.iter().position(|t| event["storage_tier"] == *t).unwrap();
                want[tier][0] += event["event"]["data"]["stored"]["blocks"].as_array().map_or(0, Vec::len) as i64;
                want[tier][1] += event["event"]["data"]["removed"]["block_hashes"].as_array().map_or(0, Vec::len) as i64;
            }
        }
        let (mut got, mut seen) = ([[0i64; 2]; 2], BTreeSet::new());
        let mut records = 0;
        each(&bytes, |payload, event, outcome| {
            records += 1;
            assert_eq!(*outcome, Outcome::Parsed);
            assert!(super::EVENTS.kinds.contains(&event.kind), "{}: {}", event.kind.name, String::from_utf8_lossy(payload));
            assert!(event.stamp.is_some() && event.note.is_none() && event.kind.name != "event_message");
            for (sums, tier) in got.iter_mut().zip(tiers) {
                sums[0] += number(event, &format!("{tier}_stored_blocks"));
                sums[1] += number(event, &format!("{tier}_removed_blocks"));
            }
            for request in ids(event, IdKind::RequestId) {
                for worker in ids(event, IdKind::WorkerId) {
                    seen.insert((request.to_owned(), worker.to_owned()));
                }
            }
        });
        assert_eq!((records, got), (lines, want), "{}", run.display());
        assert!(pairs.is_subset(&seen));
        println!(
            "{}: {records} messages, blocks {got:?}, {} requests with their worker",
            run.file_name().unwrap().to_string_lossy(),
            pairs.len()
        );
        if run.ends_with("A1_trace_payload_headers_jsonl") {
            assert_eq!(got, [[6_641, 5_878], [4_025, 2_489]]);
        }
        (files, compared) = (files + 1, compared + records);
    }
    println!("{files} captures of the event plane, {compared} messages");
    assert_eq!(files, 7);
}

fn text_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
