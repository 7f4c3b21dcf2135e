//! Tests of JSON records: fields, ids, stamps, what is withheld, and which lines are JSON at all.

mod cases;
mod heads;
mod properties;
mod secrets;

use super::JSON;
use crate::dynamo::tests::grammar::{ids, parse, word};
use crate::event::{Event, Level, Outcome, Secret, Value};
use crate::ids::IdKind;
use crate::stamp::{SECOND, Zone};

fn sample(has: &str) -> &'static str {
    JSON.samples.iter().map(|s| s.0).find(|s| s.contains(has)).unwrap()
}

/// What `corr` would make of the record, `text` for damage included.
fn read(record: &str) -> (Event<'_>, Outcome) {
    let mut event = Event::new(&crate::text::kinds::TEXT);
    let outcome = (JSON.parse)(record.as_bytes(), &mut event);
    (event, outcome)
}

fn names<'e>(event: &'e Event<'_>) -> Vec<&'e str> {
    event.fields.iter().map(|f| &*f.name).collect()
}

fn spans<'r>(event: &Event<'_>, record: &'r str) -> Vec<(&'r str, Secret, &'static str)> {
    event.withheld.iter().map(|w| (&record[w.span.clone()], w.why, w.name)).collect()
}

#[test]
fn smoke_response_is_one_request() {
    let line = sample("chatcmpl-edf9ed01");
    let (event, _) = parse(&JSON, line);
    assert_eq!(event.kind.name, "chat_response");
    assert_eq!(ids(&event, IdKind::RequestId), ["chatcmpl-edf9ed01-3219-4585-a510-233214f462c1"]);
    let mut key = String::new();
    crate::ids::canonical(Some(IdKind::RequestId), &event.ids[0].text, &mut key);
    assert_eq!(key, "edf9ed0132194585a510233214f462c1");
    assert_eq!(event.stamp.map(|s| (s.ns, s.width, s.zone)), Some((1_795_978_472 * SECOND, SECOND, Zone::Utc)));
    assert_eq!(word(&event, "finish_reason"), "length");
    assert_eq!(event.get("usage_prompt_tokens"), Some(&Value::Int(41)));
    assert_eq!(event.get("created"), None, "the stamp is not said twice");
    let spans = spans(&event, line);
    assert_eq!(spans.len(), 1);
    assert!(spans[0].0.starts_with("{\"content\": \" loquiablevor") && spans[0].0.ends_with("\"role\": \"assistant\"}"));
    assert_eq!((spans[0].1, spans[0].2), (Secret::Body, "message"));
}

#[test]
fn dynamo_client_row() {
    let line = sample("\"phase\": \"profiling\"");
    let (event, _) = parse(&JSON, line);
    let row: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(event.kind.name, "client_request");
    assert_eq!(ids(&event, IdKind::Session), [row["session"].as_str().unwrap()]);
    assert_eq!(ids(&event, IdKind::XRequestId), [row["x_request_id"].as_str().unwrap()]);
    assert_eq!(ids(&event, IdKind::RequestId), [row["response_id"].as_str().unwrap()]);
    let worker = row["nvext"]["worker_id"]["decode_worker_id"].to_string();
    assert_eq!(ids(&event, IdKind::WorkerId), [worker.as_str()]);
    assert_eq!(word(&event, "decode_worker_id"), worker, "exact, as text");
    assert_eq!(event.get("nvext_timing_ttft_ms"), row["nvext"]["timing"]["ttft_ms"].as_f64().map(Value::Float).as_ref());
    assert_eq!(event.get("usage_total_tokens"), row["usage"]["total_tokens"].as_i64().map(Value::Int).as_ref());
    let stamp = event.stamp.unwrap();
    assert_eq!((Some(stamp.ns), stamp.width), (row["start_ns"].as_i64(), 1));
    assert_eq!(event.get("start_ns"), row["start_ns"].as_i64().map(Value::Int).as_ref(), "a start is kept for the duration");
    assert!(event.withheld.is_empty());
}

#[test]
fn sglang_client_row() {
    let line = sample("sja5-t0");
    let (event, _) = parse(&JSON, line);
    assert_eq!(event.kind.name, "client_request");
    assert_eq!(ids(&event, IdKind::Rid), ["sja5-t0"], "meta_info.id is the same rid");
    assert_eq!(ids(&event, IdKind::XRequestId), ["xr-sja5-t0"], "out of the headers");
    assert_eq!(ids(&event, IdKind::RoutingKey), ["sja5"]);
    assert_eq!(event.stamp.map(|s| (s.ns, s.width)), Some((1_795_978_169_026_720_000, 10_000)), "as many digits as are there");
    assert_eq!(event.get("meta_info_cached_tokens"), Some(&Value::Int(0)));
    assert_eq!(word(&event, "meta_info_finish_reason_type"), "length");
    assert_eq!(spans(&event, line), [("\"Origin\"", Secret::Header, "header")]);
}

#[test]
fn ids_in_arrays_and_nulls() {
    let line = r#"{"t": 1795975544.1, "source": "x", "payload": {"worker_id": 13877594319123340093, "active_decode_blocks": null, "kv_used_blocks": 0}}"#;
    let (event, _) = parse(&JSON, line);
    assert_eq!(event.kind.name, "json_record");
    assert_eq!(ids(&event, IdKind::WorkerId).len(), 1);
    assert!(matches!(event.get("payload_kv_used_blocks"), Some(Value::Int(_))));
    assert_eq!(event.get("payload_active_decode_blocks"), None, "null is no zero");
    let line = r#"{"t": 1795975544.2, "source": "x", "payload": [{"worker_id": 13877594319123340093, "blocks": [{"block_hash": 7299830972566621386}]}]}"#;
    let (event, _) = parse(&JSON, line);
    assert_eq!(ids(&event, IdKind::WorkerId).len(), 1, "ids are found in arrays");
    assert!(event.withheld.is_empty() && event.get("worker_id").is_none());
}

#[test]
fn ruter_rows_know_the_http_id_from_the_requests() {
    let line = sample("dynamo_router");
    let (event, _) = parse(&JSON, line);
    assert_eq!(ids(&event, IdKind::RequestId), ["edf9ed01-3219-4585-a510-233214f462c1"]);
    assert_eq!(ids(&event, IdKind::Decoy).len(), 1);
    assert_eq!(spans(&event, line).iter().map(|s| s.2).collect::<Vec<_>>(), ["raw"]);
}

#[test]
fn a_log_of_an_unknown_program() {
    let line = r#"{"ts":"2026-11-29T18:55:35.677Z","level":"warn","logger":"x.y","msg":"cache full","otel.kind":"server","traceId":"4BF92F3577B34DA6A3CE929D0E0E4736","spanId":"00f067aa0ba902b7","bootstrap_room":6612345678901234567,"a":{"b":{"c":{"d":1}}},"tags":["x"]}"#;
    let (event, _) = parse(&JSON, line);
    assert_eq!((event.kind.name, event.level), ("json_record", Some(Level::Warn)));
    assert_eq!(&line[event.message.clone()], "cache full");
    assert_eq!(names(&event), ["logger", "otel_kind"], "neither the stamp nor level, nor a fourth level of keys, nor an array");
    assert_eq!(event.fields[1].raw, "otel.kind");
    assert_eq!(ids(&event, IdKind::TraceId), ["4BF92F3577B34DA6A3CE929D0E0E4736"]);
    assert_eq!(ids(&event, IdKind::SpanId), ["00f067aa0ba902b7"]);
    assert_eq!(ids(&event, IdKind::BootstrapRoom), ["6612345678901234567"]);
    let stamp = event.stamp.unwrap();
    assert_eq!((stamp.width, &line[stamp.at as usize..(stamp.at + stamp.len) as usize]), (1_000_000, "2026-11-29T18:55:35.677Z"));
}

#[test]
fn the_best_stamp_wins_wherever_it_stands() {
    let (event, _) = parse(&JSON, r#"{"created":1795978472,"timestamp":6401,"t_ns":1795978472143561000,"t":0.25}"#);
    assert_eq!(event.stamp.map(|s| s.ns), Some(1_795_978_472_143_561_000));
    assert_eq!(names(&event), ["created", "timestamp", "t"], "what is no date stays a field");
    let (event, _) = parse(&JSON, r#"{"uptime":1795978472,"x":{"time":1795978472}}"#);
    assert_eq!(event.stamp, None, "only the record's own, under a known name");
}

#[test]
fn many_fields_and_ids_are_cut_with_a_note() {
    let line = format!("{{{}}}", (0..100).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(","));
    let (event, _) = parse(&JSON, &line);
    assert_eq!((event.fields.len(), event.note), (64, Some("more fields than are kept")));
    let line = format!("[{}]", (0..400).map(|i| format!("{{\"request_id\":\"r{i}\",\"text\":\"x\"}}")).collect::<Vec<_>>().join(","));
    let (event, outcome) = parse(&JSON, &line);
    assert_eq!((event.ids.len(), event.withheld.len(), outcome), (256, 400, Outcome::Parsed));
    let line = format!("[{}]", vec!["{\"text\":\"SECRET\"}"; 2000].join(","));
    let (event, _) = parse(&JSON, &line);
    assert_eq!(event.withheld.len(), 1025);
    assert!(line.match_indices("SECRET").all(|(at, _)| event.withheld.iter().any(|w| w.span.contains(&at))));
}
