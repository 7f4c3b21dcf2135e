//! Tests of trace rows and audit records.

use crate::cases::cases;
use crate::dynamo::tests::captures::{each, read};
use crate::dynamo::tests::grammar::{ids, parse, word};
use crate::event::{Outcome, Secret, Value};
use crate::ids::IdKind;
use crate::stamp::Zone;

#[test]
fn request_end_row() {
    let (line, _) = super::REQUEST_TRACE.samples.iter().find(|s| s.1 == "request_end").unwrap();
    let (event, outcome) = parse(&super::REQUEST_TRACE, line);
    assert_eq!((event.kind.name, outcome), ("request_end", Outcome::Parsed));
    let row: serde_json::Value = serde_json::from_str(line).unwrap();
    let row = &row["event"];
    let stamp = event.stamp.unwrap();
    assert_eq!((stamp.zone, stamp.width), (Zone::Utc, 1_000_000));
    assert_eq!(Some(stamp.ns / 1_000_000), row["event_time_unix_ms"].as_i64(), "never the envelope's");
    assert_eq!(&line[stamp.at as usize..(stamp.at + stamp.len) as usize], row["event_time_unix_ms"].to_string());
    assert!(matches!(event.get("sink_ms"), Some(Value::Int(ms)) if *ms < 10_000_000));
    assert_eq!(ids(&event, IdKind::RequestId), [row["request"]["request_id"].as_str().unwrap()]);
    let worker = row["request"]["worker"]["prefill_worker_id"].to_string();
    assert_eq!(ids(&event, IdKind::WorkerId), [worker.as_str()]);
    assert_eq!(word(&event, "prefill_worker_id"), worker);
    let hashes = row["request"]["replay"]["input_sequence_hashes"].as_array().unwrap().len() as i64;
    assert_eq!(event.get("replay_blocks"), Some(&Value::Int(hashes)));
    assert!(event.get("input_sequence_hashes").is_none());
    for name in ["input_tokens", "output_tokens", "cached_tokens", "request_received_ms", "queue_depth"] {
        assert_eq!(event.get(name), row["request"][name].as_i64().map(Value::Int).as_ref(), "{name}");
    }
    assert!(event.kind.about.contains("prediction") && event.kind.about.contains("first attempt"));
}

#[test]
fn agent_row_has_session_and_trajectory() {
    let (event, outcome) = parse(&super::AGENT_TRACE, super::AGENT_TRACE.samples[0].0);
    assert_eq!((event.kind.name, outcome), ("request_end", Outcome::Parsed));
    assert_eq!(ids(&event, IdKind::Session), ["sess-claude-004", "sess-claude-004:t0"]);
    assert_eq!(word(&event, "trajectory_id"), "sess-claude-004:t0");
    assert_eq!(ids(&event, IdKind::XRequestId), ["xr-004-0-39d9e058"]);
    assert_eq!(word(&event, "schema"), "dynamo.agent.trace.v1");
}

#[test]
fn payload_row_withholds_bodies_and_headers() {
    let line = r#"{"timestamp":6401,"event":{"schema":"dynamo.request.trace.v1","event_type":"request_payload","event_time_unix_ms":1795975544231,"event_source":"dynamo","payload":{"request_id":"a14ce8a3-f878-45d4-b50c-a3d8eedbd4f9","endpoint":"openai.chat_completion","model":"tiny","request":{"messages":[{"role":"user","content":"SECRET1"}],"model":"tiny","max_completion_tokens":6,"stream":true,"tools":[{"name":"SECRET2"}],"new_text":"SECRET3","stream_options":{"include_usage":true}},"response":{"id":"chatcmpl-a14ce8a3-f878-45d4-b50c-a3d8eedbd4f9","choices":[{"index":0,"message":{"content":"SECRET4"},"finish_reason":"length"}],"created":1795975544,"model":"tiny","object":"chat.completion","usage":{"prompt_tokens":32,"completion_tokens":6,"total_tokens":38,"prompt_tokens_details":{"cached_tokens":16}}},"http_request_headers":{"user-agent":"SECRET5","authorization":"SECRET6","x-dynamo-session-id":"sess-other-api","x-request-id":"xr-v1-responses","traceparent":"00-a632a5f002c9b2fcb5aa45d281b91096-68988074763424c9-01"},"payload_complete":true}}}"#;
    let (event, outcome) = parse(&super::REQUEST_TRACE, line);
    assert_eq!((event.kind.name, outcome), ("request_payload", Outcome::Parsed));
    assert_eq!(ids(&event, IdKind::RequestId), ["a14ce8a3-f878-45d4-b50c-a3d8eedbd4f9"]);
    assert_eq!(ids(&event, IdKind::XRequestId), ["xr-v1-responses"]);
    assert_eq!(ids(&event, IdKind::Session), ["sess-other-api"]);
    assert_eq!(ids(&event, IdKind::TraceId), ["a632a5f002c9b2fcb5aa45d281b91096"]);
    assert_eq!(event.get("usage_cached_tokens"), Some(&Value::Int(16)));
    assert_eq!(event.get("payload_complete"), Some(&Value::Bool(true)));
    assert_eq!(word(&event, "model"), "tiny");
    let spans: Vec<(&str, Secret)> = event.withheld.iter().map(|w| (&line[w.span.clone()], w.why)).collect();
    assert_eq!(
        spans,
        [
            (r#"[{"role":"user","content":"SECRET1"}]"#, Secret::Body),
            (r#"[{"name":"SECRET2"}]"#, Secret::Body),
            (r#""SECRET3""#, Secret::Body),
            (r#"[{"index":0,"message":{"content":"SECRET4"},"finish_reason":"length"}]"#, Secret::Body),
            (r#""SECRET5""#, Secret::Header),
            (r#""SECRET6""#, Secret::Credential),
        ]
    );
    for field in &event.fields {
        assert!(!matches!(&field.value, Value::Str(t) if t.contains("SECRET")), "{field:?}");
    }
    // However it is cut, no secret that is left is uncovered or becomes a field.
    for end in 1..line.len() {
        let mut event = crate::event::Event::new(&crate::text::kinds::TEXT);
        (super::REQUEST_TRACE.parse)(&line.as_bytes()[..end], &mut event);
        for (at, _) in line[..end].match_indices("SECRET") {
            assert!(event.withheld.iter().any(|w| w.span.contains(&at) && w.span.end <= end), "cut at {end}, {at}");
        }
    }
}

#[test]
fn damage_hides_the_rest() {
    let line = r#"{"schema_version":1,"request_id":"a","request":{"messages":"x" "tools":"SECRET"}}"#;
    let (event, outcome) = parse(&super::AUDIT, line);
    let at = line.find("SECRET").unwrap();
    assert!(event.withheld.iter().any(|w| w.span.contains(&at)), "{outcome:?}");
    let line = r#"{"schema_version":1,"request_id":"a","request":{}} {"prompt":"SECRET"}"#;
    let (event, _) = parse(&super::AUDIT, line);
    let at = line.find("SECRET").unwrap();
    assert!(event.withheld.iter().any(|w| w.span.contains(&at)));
    assert_eq!(event.note, Some("text behind the JSON object"));
}

#[test]
fn audit_has_no_date() {
    for (line, _) in super::AUDIT.samples {
        let (event, _) = parse(&super::AUDIT, line);
        assert_eq!((event.kind.name, event.stamp), ("audit_record", None));
        assert_eq!(ids(&event, IdKind::RequestId).len(), 1);
        assert!(!event.withheld.is_empty());
    }
}

#[test]
fn tool_rows_name_call_and_session() {
    let (line, _) = super::REQUEST_TRACE.samples.iter().find(|s| s.1 == "tool_end").unwrap();
    let (event, _) = parse(&super::REQUEST_TRACE, line);
    assert_eq!(ids(&event, IdKind::ToolCall).len(), 1);
    assert_eq!(ids(&event, IdKind::Session).len(), 1);
    assert!(matches!(event.get("duration_ms"), Some(Value::Float(_))));
}

/// To 1.2 the session stands in the body; workers stand in the answer of a client that asked for them.
#[test]
fn the_extension_of_a_body_names_session_and_workers() {
    let line = r#"{"schema_version":1,"request_id":"r","requested_streaming":false,"model":"m","request":{"messages":"SECRET","nvext":{"agent_context":{"session_type_id":"load_test","session_id":"s","trajectory_id":"s:t1","parent_trajectory_id":"s:t0"},"annotations":["SECRET"],"greed_sampling":true}},"response":{"id":"chatcmpl-r","nvext":{"worker_id":{"prefill_worker_id":13877594319123340093,"decode_worker_id":7},"note":"SECRET"},"choices":[]}}"#;
    let (event, outcome) = parse(&super::AUDIT, line);
    assert_eq!(outcome, Outcome::Parsed);
    assert_eq!(ids(&event, IdKind::Session), ["s", "s:t1"]);
    assert_eq!(ids(&event, IdKind::ParentSession), ["s:t0"]);
    assert_eq!(ids(&event, IdKind::WorkerId), ["13877594319123340093", "7"]);
    assert_eq!((word(&event, "session_type_id"), word(&event, "decode_worker_id")), ("load_test", "7"));
    for end in 1..line.len() {
        let mut event = crate::event::Event::new(&crate::text::kinds::TEXT);
        (super::AUDIT.parse)(&line.as_bytes()[..end], &mut event);
        for (at, _) in line[..end].match_indices("SECRET") {
            assert!(event.withheld.iter().any(|w| w.span.contains(&at) && w.span.end <= end), "cut at {end}, {at}");
        }
    }
}

#[test]
fn headers_name_sessions_of_every_client() {
    let line = r#"{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":1,"agent_context":{"session_id":"child","parent_session_id":"root","agent_headers":{"x-claude-code-session-id":["root"],"x-claude-code-agent-id":["child"],"x-openai-subagent":["SECRET"]},"input_trigger":"tool_result"},"request":{"request_id":"r","finish_reason_metadata":{"finish_reason":"tool_calls","tool_calls":[{"id":"call_1","name":"f"}],"choices":[]}}}"#;
    let (event, _) = parse(&super::REQUEST_TRACE, line);
    assert_eq!(ids(&event, IdKind::Session), ["child", "root"]);
    assert_eq!(ids(&event, IdKind::ParentSession), ["root"]);
    assert_eq!(ids(&event, IdKind::ToolCall), ["call_1"]);
    assert_eq!(event.get("sink_ms"), None, "no envelope");
    assert_eq!(event.withheld.len(), 1);
}

#[test]
fn a_cache_key_beside_a_thread_is_no_session() {
    let line = r#"{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":1,"agent_context":{"session_id":"thread","agent_headers":{"session-id":["key-of-thread"],"thread-id":["thread"],"x-codex-window-id":["0"]}},"request":{"request_id":"r"}}"#;
    let (event, _) = parse(&super::REQUEST_TRACE, line);
    assert_eq!(ids(&event, IdKind::Session), ["thread"]);
    assert_eq!(event.withheld.len(), 2);
}

/// What was counted in A1: rows with a session, with an x-request-id, cancelled ones.
#[test]
fn the_rows_of_a1_are_as_counted() {
    let Some(root) = cases("dynamo") else { return };
    let (mut ends, mut sessions, mut clients, mut neither, mut dropped, mut hidden) = (0, 0, 0, 0, 0, 0);
    let (mut predicted, mut used) = (0, 0);
    for part in 0..3 {
        let path = root.join(format!("A1_trace_payload_headers_jsonl/trace/request-trace.{part:06}.jsonl.gz"));
        each(&read(&path), |payload, event, outcome| {
            assert_eq!(*outcome, Outcome::Parsed);
            let has = |kind| event.ids.iter().any(|i| i.kind == kind);
            match event.kind.name {
                "request_end" => {
                    ends += 1;
                    sessions += usize::from(has(IdKind::Session));
                    clients += usize::from(has(IdKind::XRequestId));
                    neither += usize::from(!has(IdKind::Session) && !has(IdKind::XRequestId));
                    if let Some(Value::Int(n)) = event.get("cached_tokens") {
                        predicted += n;
                    }
                }
                "request_payload" => {
                    dropped += usize::from(event.get("payload_complete") == Some(&Value::Bool(false)));
                    if let Some(Value::Int(n)) = event.get("usage_cached_tokens") {
                        used += n;
                    }
                    let text = String::from_utf8_lossy(payload);
                    let at = text.find("\"content\":").unwrap();
                    hidden += usize::from(event.withheld.iter().any(|w| w.span.contains(&at)));
                }
                other => panic!("{other}"),
            }
        });
    }
    println!(
        "A1: {ends} rows, {sessions} with a session, {clients} with x-request-id; cached tokens {predicted} predicted, {used} in payload usage"
    );
    assert_eq!((ends, sessions, clients, neither), (287, 215, 110, 72));
    assert_eq!((dropped, hidden), (25, 287));
    assert_eq!(predicted, 68_336);
}
