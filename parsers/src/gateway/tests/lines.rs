//! Every form and the messages that matter, one by one.

use super::parse_line;
use crate::FORMATS;
use crate::event::{Event, Level, Value};
use crate::ids::IdKind;
use crate::stamp::{SECOND, Zone};
use crate::text;

fn text<'e>(event: &'e Event<'_>, name: &str) -> Option<&'e str> {
    match event.get(name) {
        Some(Value::Str(text)) => Some(text),
        _ => None,
    }
}

fn ids(event: &Event<'_>, kind: IdKind) -> Vec<String> {
    event.ids.iter().filter(|id| id.kind == kind).map(|id| id.text.to_string()).collect()
}

/// 2025-08-05 07:32:11 UTC.
const AUGUST: i64 = 1_754_379_131 * SECOND;

#[test]
fn a_request_of_each_version() {
    let lines = [
        "2025-08-05 07:32:11  INFO http_request{method=POST uri=/generate version=HTTP/1.1 request_id=gnt-UMPM08HSe8jnPJjoqgA2RB19 status=200 OK latency=275.081493ms}: sglang_router_rs::response: src/middleware.rs:169: finished processing request",
        "2025-08-05 07:32:11  INFO http_request{method=POST uri=/generate version=HTTP/1.1 request_id=\"gnt-UMPM08HSe8jnPJjoqgA2RB19\" status_code=200 latency=\"275.081493ms\"}: sglang_router_rs::response: src/middleware.rs:169: finished processing request",
        "2025-08-05 07:32:11  INFO http_request{method=POST uri=/generate version=HTTP/1.1 module=\"smg\" request_id=\"gnt-UMPM08HSe8jnPJjoqgA2RB19\" request_id=\"gnt-UMPM08HSe8jnPJjoqgA2RB19\" status_code=200 status_code=200 latency=275081 latency=275081}: smg::response: /home/runner/opt/lab:359: finished processing request",
        "2025-08-05 07:32:11  INFO http_request{method=POST path=/generate version=HTTP/1.1 module=\"smg\" request_id=\"gnt-UMPM08HSe8jnPJjoqgA2RB19\" status_code=200 latency=275081}:grpc_execute{request_id=\"gnt-UMPM08HSe8jnPJjoqgA2RB19\"}: smg::response: model_gateway/src/middleware/logging.rs:227: finished processing request",
        r#"{"timestamp":"2025-08-05 07:32:11","level":"INFO","message":"finished processing request","target":"smg::response","filename":"/home/runner/opt/lab","line_number":359,"span":{"latency":275081,"method":"POST","module":"smg","request_id":"gnt-UMPM08HSe8jnPJjoqgA2RB19","status_code":200,"uri":"/generate","version":"HTTP/1.1","name":"http_request"},"spans":[{"latency":275081,"method":"POST","module":"smg","request_id":"gnt-UMPM08HSe8jnPJjoqgA2RB19","status_code":200,"uri":"/generate","version":"HTTP/1.1","name":"http_request"}]}"#,
    ];
    for line in lines {
        let event = parse_line(line);
        assert_eq!(event.kind.name, "gateway_request_finished", "{line}");
        let stamp = event.stamp.unwrap();
        assert_eq!((stamp.ns, stamp.width, stamp.zone), (AUGUST, SECOND, Zone::Utc), "{line}");
        assert_eq!(&line[stamp.at as usize..(stamp.at + stamp.len) as usize], "2025-08-05 07:32:11");
        assert_eq!(event.level, Some(Level::Info));
        assert_eq!((text(&event, "method"), text(&event, "path")), (Some("POST"), Some("/generate")), "{line}");
        assert_eq!((text(&event, "http_version"), event.get("status")), (Some("1.1"), Some(&Value::Int(200))), "{line}");
        let Some(Value::Float(ms)) = event.get("latency_ms") else { panic!("no latency in {line}") };
        assert!((ms - 275.081).abs() < 0.001, "{ms} in {line}");
        assert_eq!(ids(&event, IdKind::RequestId), ["gnt-UMPM08HSe8jnPJjoqgA2RB19"], "{line}");
        assert_eq!(ids(&event, IdKind::XRequestId), [""; 0], "{line}");
        for name in ["status", "latency_ms", "method"] {
            assert_eq!(event.fields.iter().filter(|f| f.name == name).count(), 1, "{name} in {line}");
        }
        assert_eq!(&line[event.message.clone()], "finished processing request");
    }
}

#[test]
fn an_id_of_the_client_is_its_x_request_id_too() {
    let event = parse_line(
        "2026-11-29 18:51:50  INFO http_request{method=POST uri=/generate?key=geheim version=HTTP/1.1 module=\"smg\" request_id=\"xr-sra6-t2\"}: smg::request: src/middleware.rs:310: started processing request",
    );
    assert_eq!(event.kind.name, "gateway_request_started");
    assert_eq!(ids(&event, IdKind::RequestId), ["xr-sra6-t2"]);
    assert_eq!(ids(&event, IdKind::XRequestId), ["xr-sra6-t2"]);
    assert_eq!(text(&event, "path"), Some("/generate"));
    assert_eq!(event.withheld.len(), 1);
    assert!(!event.fields.iter().any(|f| format!("{:?}", f.value).contains("geheim")));
}

#[test]
fn latencies_in_every_unit() {
    let of = super::super::fields::latency_ms;
    assert_eq!(of("3797944"), Some(3_797.944));
    assert_eq!(of("3.411568123s"), Some(3_411.568_123));
    assert_eq!(of("512.345678ms"), Some(512.345_678));
    assert_eq!(of("45.678µs"), Some(0.045_678));
    assert_eq!(of("soon"), None);
}

/// Message, kind, and some of its fields as `name=value`.
const MESSAGES: &[(&str, &str, &[&str])] = &[
    (
        "PD routing decision route=/generate prefill_url=http://10.0.0.6:30000 decode_url=http://10.0.0.7:30001",
        "gateway_route",
        &["route=/generate", "prefill_url=http://10.0.0.6:30000", "decode_url=http://10.0.0.7:30001"],
    ),
    (
        "Power-of-two selection: http://10.0.0.6:30000=3 vs http://10.0.0.7:30000=4 -> selected http://10.0.0.6:30000",
        "gateway_route",
        &["worker_url=http://10.0.0.6:30000"],
    ),
    ("Sending request url=http://10.0.0.6:30000", "gateway_dispatch", &["worker_url=http://10.0.0.6:30000"]),
    (
        "Sending concurrent requests to prefill=http://10.0.0.6:30000 decode=http://10.0.0.7:30001",
        "gateway_dispatch",
        &["prefill_url=http://10.0.0.6:30000", "decode_url=http://10.0.0.7:30001"],
    ),
    (
        "Load balancing triggered | max: 40 | min: 2 | workers: [(\"http://10.0.0.6:30000\", 40), (\"http://10.0.0.7:30000\", 2)]",
        "gateway_load_balancing",
        &["max_load=40", "min_load=2"],
    ),
    (
        "PD retry attempt 1 using prefill=http://10.0.0.6:30000 decode=http://10.0.0.7:30001",
        "gateway_retry",
        &["attempt=1", "prefill_url=http://10.0.0.6:30000", "decode_url=http://10.0.0.7:30001"],
    ),
    ("Retry backoff attempt=0 next_attempt=1 delay_ms=44", "gateway_retry", &["attempt=0", "next_attempt=1", "delay_ms=44"]),
    ("Circuit breaker state transition: open -> half_open", "gateway_breaker", &["from=open", "to=half_open"]),
    (
        "Circuit breaker state transition: open -> half_open worker_url=http://10.0.0.7:30000 from=\"open\" to=\"half_open\" cause=\"timeout\"",
        "gateway_breaker",
        &["from=open", "to=half_open", "worker_url=http://10.0.0.7:30000", "cause=timeout"],
    ),
    (
        "HTTP health check failed for http://10.0.0.7:30000/health: reqwest::Error { kind: Request, url: \"http://10.0.0.7:30000/health\" }",
        "gateway_worker_unhealthy",
        &["worker_url=http://10.0.0.7:30000"],
    ),
    (
        "HTTP health check returned non-success status for http://10.0.0.7:30000/health: 503 Service Unavailable",
        "gateway_worker_unhealthy",
        &["worker_url=http://10.0.0.7:30000", "status=503", "reason=Service Unavailable"],
    ),
    ("gRPC health timed out for grpc://10.0.0.7:30000", "gateway_worker_unhealthy", &["worker_url=grpc://10.0.0.7:30000"]),
    ("Worker http://10.0.0.7:30000 is now healthy", "gateway_worker_healthy", &["worker_url=http://10.0.0.7:30000"]),
    ("Activated worker http://10.0.0.7:30000 (marked as healthy)", "gateway_worker_activated", &["worker_url=http://10.0.0.7:30000"]),
    ("Activated 1 worker(s) (marked as healthy)", "gateway_worker_activated", &["workers=1"]),
    (
        "Activated 1 of 2 worker(s) (others left as-is: already ready or awaiting connect signal)",
        "gateway_worker_activated",
        &["workers=1", "of_workers=2"],
    ),
    ("Added worker: http://10.0.0.8:30000", "gateway_worker_added", &["worker_url=http://10.0.0.8:30000"]),
    (
        "Adding pod: sgl-0 | type: Some(Prefill) | url: http://10.0.0.8:30000",
        "gateway_worker_added",
        &["pod=sgl-0", "worker_url=http://10.0.0.8:30000"],
    ),
    ("Removed worker: http://10.0.0.8:30000", "gateway_worker_removed", &["worker_url=http://10.0.0.8:30000"]),
    (
        "Step succeeded instance_id=f9e20aa7-51c7-487e-8cb6-9ab7f5a0d02e step_id=create_worker duration_ms=35",
        "gateway_workflow",
        &["workflow_id=f9e20aa7-51c7-487e-8cb6-9ab7f5a0d02e", "step=create_worker", "duration_ms=35"],
    ),
    (
        "Failed to send typed request worker_url=http://10.0.0.7:30000 route=/v1/completions error=error sending request for url (http://10.0.0.7:30000/v1/completions)",
        "gateway_request_error",
        &[
            "worker_url=http://10.0.0.7:30000",
            "route=/v1/completions",
            "error=error sending request for url (http://10.0.0.7:30000/v1/completions)",
        ],
    ),
    (
        "Prefill server failed (CRITICAL) prefill_url=http://10.0.0.6:30000 error=connection closed. Decode will timeout without prefill KV cache.",
        "gateway_request_error",
        &["prefill_url=http://10.0.0.6:30000", "error=connection closed"],
    ),
    (
        "Failed to select PD pair error=No prefill workers available. Please check if prefill servers are configured and healthy.",
        "gateway_request_error",
        &["error=No prefill workers available. Please check if prefill servers are configured and healthy."],
    ),
    ("No healthy workers available", "gateway_request_error", &[]),
    ("Request queue is full, returning 429", "gateway_overload", &[]),
    ("Token bucket: acquired 1 tokens, 0 remaining", "gateway_rate_limit", &[]),
    ("Assigning policy cache_aware to new model qwen3-32b", "gateway_policy", &["policy=cache_aware", "model=qwen3-32b"]),
    ("Workers initialized: 0 total, 0 healthy", "gateway_start", &["workers=0", "healthy_workers=0"]),
    ("Router ready | workers: []", "gateway_ready", &[]),
    ("Received terminate signal, starting graceful shutdown", "gateway_stop", &[]),
    (
        "Processing job: type=AddWorker, worker=http://10.0.0.7:30000",
        "gateway_log",
        &["type=AddWorker", "worker_url=http://10.0.0.7:30000"],
    ),
    (
        "Model m has conflicting load_balance_method: prefill=Some(\"follow_bootstrap_room\"), decode=Some(\"round_robin\")",
        "gateway_log",
        &["prefill=follow_bootstrap_room", "decode=round_robin"],
    ),
];

#[test]
fn messages_mean_the_same_in_text_and_json() {
    for (message, kind, fields) in MESSAGES {
        let in_text = format!("2026-11-29 18:51:50 ERROR smg::x: src/x.rs:1: {message}");
        let quoted = message.replace('"', "\\\"");
        let in_json = format!(
            r#"{{"timestamp":"2026-11-29 18:51:50","level":"ERROR","message":"{quoted}","target":"smg::x","filename":"src/x.rs","line_number":1}}"#
        );
        for line in [&in_text, &in_json] {
            let event = parse_line(line);
            assert_eq!((event.kind.name, event.level), (*kind, Some(Level::Error)), "{line}");
            for want in *fields {
                let (name, value) = want.split_once('=').unwrap();
                let got: Vec<String> = event.fields.iter().filter(|f| f.name == name).map(|f| shown(&f.value)).collect();
                assert_eq!(got, [value], "{name} of {line}");
            }
        }
    }
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        Value::Int(n) => n.to_string(),
        Value::UInt(n) => n.to_string(),
        Value::Float(n) => n.to_string(),
        Value::Bool(b) => b.to_string(),
    }
}

#[test]
fn the_oldest_form_and_the_launchers_are_local_time() {
    let line = "[Router (Rust)] 2025-03-07 02:11:05 - INFO - Worker http://127.0.0.1:31000 health check is pending with error: error sending request for url (http://127.0.0.1:31000/health)";
    let event = parse_line(line);
    let stamp = event.stamp.unwrap();
    assert_eq!(
        (stamp.zone, stamp.width, &line[stamp.at as usize..(stamp.at + stamp.len) as usize]),
        (Zone::Naive, SECOND, "2025-03-07 02:11:05")
    );
    assert_eq!((event.kind.name, text(&event, "worker_url")), ("gateway_worker_unhealthy", Some("http://127.0.0.1:31000")));
    let event = parse_line("[Router (Python)] 2025-01-09 00:28:10 - ERROR - Error starting router: address in use[ - launch_router.py:88]");
    assert_eq!((event.kind.name, event.level, event.stamp.unwrap().zone), ("gateway_startup_failed", Some(Level::Error), Zone::Naive));
    let event = parse_line("[Router (Rust)] 2025-03-07 02:11:35 - INFO - ✅ Serving workers on [\"http://127.0.0.1:31000\"]");
    assert_eq!(event.kind.name, "gateway_ready");
}

#[test]
fn the_in_tree_router() {
    let in_text = "2026-09-22T10:00:00.123456Z  WARN sgl_router::proxy: prefill request failed; cancelling decode prefill_url=http://10.0.0.6:30000 bootstrap_room=77 error=connection refused";
    let in_json = r#"{"timestamp":"2026-09-22T10:00:00.123456Z","level":"WARN","fields":{"message":"prefill request failed; cancelling decode","prefill_url":"http://10.0.0.6:30000","bootstrap_room":"77","error":"connection refused"},"target":"sgl_router::proxy"}"#;
    for line in [in_text, in_json] {
        let event = parse_line(line);
        assert_eq!((event.kind.name, event.level), ("gateway_request_error", Some(Level::Warn)), "{line}");
        let stamp = event.stamp.unwrap();
        assert_eq!((stamp.ns, stamp.width, stamp.zone), (1_790_071_200_123_456_000, 1_000, Zone::Utc), "{line}");
        assert_eq!((text(&event, "prefill_url"), text(&event, "error")), (Some("http://10.0.0.6:30000"), Some("connection refused")));
        assert_eq!(ids(&event, IdKind::BootstrapRoom), ["77"], "{line}");
    }
}

const EVIDENCE: &str = r#"{"schema":1,"router_epoch":"019aa2f4-6d1c-7c3e-9a41-5d0f5a7e2b10","dispatch_timestamp_ns":1793610765288058880,"root_id":"chatcmpl-bmiDIx8weCurngKob9Pvat2M","dispatch_id":"01a19b88-53e8-7212-a63c-bff4376c1fdf","attempt":0,"engine_ids":["chatcmpl-bmiDIx8weCurngKob9Pvat2M-01a19b88-53e8-7aaa-b6ab-8efaf019daee"],"mode":"regular","engine_ids_complete":true,"selections":[{"policy":"cache_aware","origin":"policy","worker":"grpc://10.0.0.7:30000","prediction":{"source":"event_index_overlap","branch":"hit","overlap_blocks":188,"request_blocks":192,"block_size":64},"candidates":[{"worker":"grpc://10.0.0.6:30000","load":3},{"worker":"grpc://10.0.0.7:30000","load":2}],"candidates_complete":true,"gates":[]}],"truncated":false,"unattributed_prediction":null,"cache_evidence":"unknown"}"#;

#[test]
fn a_cache_trace_joins_gateway_and_engine() {
    let span = "http_request{method=POST path=/v1/chat/completions version=HTTP/1.1 module=\"smg\" request_id=\"chatcmpl-bmiDIx8weCurngKob9Pvat2M\"}";
    let in_text = format!(
        "2026-11-02 09:12:45  INFO {span}: smg::cache_trace: model_gateway/src/observability/cache_trace.rs:361: Cache routing dispatch evidence={EVIDENCE}"
    );
    let in_json = format!(
        r#"{{"timestamp":"2026-11-02 09:12:45","level":"INFO","message":"Cache routing dispatch evidence={}","target":"smg::cache_trace"}}"#,
        EVIDENCE.replace('"', "\\\"")
    );
    for line in [&in_text, &in_json] {
        let event = parse_line(line);
        assert_eq!(event.kind.name, "gateway_cache_prediction", "{line}");
        assert_eq!(ids(&event, IdKind::RequestId), ["chatcmpl-bmiDIx8weCurngKob9Pvat2M"]);
        assert_eq!(ids(&event, IdKind::Rid), ["chatcmpl-bmiDIx8weCurngKob9Pvat2M-01a19b88-53e8-7aaa-b6ab-8efaf019daee"]);
        let stamp = event.stamp.unwrap();
        assert_eq!(
            (stamp.ns, stamp.width, stamp.zone),
            (1_793_610_765_288_058_880, 1, Zone::Utc),
            "the dispatch is known to the nanosecond"
        );
        assert_eq!(
            (text(&event, "worker_url"), text(&event, "prediction_source")),
            (Some("grpc://10.0.0.7:30000"), Some("event_index_overlap"))
        );
        for (name, value) in [
            ("overlap_blocks", 188),
            ("request_blocks", 192),
            ("block_size", 64),
            ("attempt", 0),
            ("candidates", 2),
            ("load", 2),
            ("selections", 1),
        ] {
            assert_eq!(event.get(name), Some(&Value::Int(value)), "{name}");
        }
        assert_eq!(text(&event, "cache_evidence"), Some("unknown"));
    }
    // A dispatch time that is not about the line's second is damage, and the line's own stamp stays.
    let event = parse_line(
        "2026-11-02 09:12:45  INFO smg::cache_trace: x.rs:1: Cache routing dispatch evidence={\"dispatch_timestamp_ns\":1793610799288058880",
    );
    assert_eq!((event.stamp.unwrap().ns, event.note), (1_793_610_765 * SECOND, Some("truncated")));
    let event = parse_line(
        "2026-11-02 09:12:45  INFO smg::cache_trace: x.rs:1: Cache routing failure evidence={\"root_id\":\"client-1\",\"status\":503,\"selections\":[],\"gates\":[],\"truncated\":false}",
    );
    assert_eq!((event.kind.name, event.get("status")), ("gateway_cache_trace_failed", Some(&Value::Int(503))));
    assert_eq!(ids(&event, IdKind::XRequestId), ["client-1"]);
}

#[test]
fn bodies_are_withheld() {
    for message in [
        "Prefill server returned error status prefill_url=http://10.0.0.6:30000 status=500 body={\"error\":\"geheim\"}",
        "Modified request body: {\"prompt\":\"geheim\"}",
        "DECODED_TEXT_START",
        "Building tool result message with Tool role (recipient=assistant, no channel) tool_name=get output_preview=geheim it is",
        "Encoded conversation to tokens - decoded text follows: token_count=3 token_preview=[77, 78] decoded_length=5",
        "Applied remote tree insert: model=m, text=geheim, tenant=t",
    ] {
        let line = format!("2026-11-29 18:51:50 DEBUG smg::x: src/x.rs:1: {message}");
        let event = parse_line(&line);
        let mut masked = line.clone().into_bytes();
        for withheld in &event.withheld {
            masked[withheld.span.clone()].fill(b'#');
        }
        let masked = String::from_utf8_lossy(&masked);
        assert!(!masked.contains("geheim") && !masked.contains("77, 78"), "{masked}");
        assert!(!event.fields.iter().any(|f| shown(&f.value).contains("geheim")), "{line}");
    }
}

#[test]
fn foreign_lines_are_not_taken() {
    for line in [
        "2025-08-05 07:32:08  INFO myapp::server: src/server.rs:1: hello",
        "2025-08-05 07:32:08,123 - INFO - smg::server: x",
        "2025-08-05 07:32:08.123  INFO smg::server: src/server.rs:1: x",
        "2025-08-05T07:32:08.123456Z  INFO smg::server: x",
        "[2025-08-05 07:32:08] smg::server: x",
        "[Router (Go)] 2025-03-07 02:11:05 - INFO - x",
        "2025-08-05 07:32:08  INFO smgx::server: src/server.rs:1: x",
        r#"{"timestamp":"2026-02-19 13:31:12","level":"INFO","message":"\"target\":\"smg::x\"","target":"other"}"#,
        r#"{"timestamp":"2026-02-19 13:31:12,1","level":"INFO","message":"x","target":"smg::x"}"#,
    ] {
        let taken = FORMATS.iter().filter(|f| f.name.starts_with("gateway")).any(|f| (f.head)(line.as_bytes()));
        assert!(!taken, "{line}");
    }
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    /// Nothing panics, and spans lie in the record.
    fn check(record: &[u8]) {
        for format in FORMATS.iter().filter(|f| f.name.starts_with("gateway")) {
            let _ = (format.head)(record);
            let mut event = Event::new(&text::kinds::TEXT);
            let _ = (format.parse)(record, &mut event);
            assert!(event.message.start <= event.message.end && event.message.end <= record.len());
            assert!(event.withheld.iter().all(|w| w.span.start <= w.span.end && w.span.end <= record.len()));
            assert!(event.stamp.is_none_or(|s| (s.at + s.len) as usize <= record.len()));
        }
    }

    fn seeds() -> Vec<Vec<u8>> {
        let own = FORMATS.iter().filter(|f| f.name.starts_with("gateway"));
        let mut seeds: Vec<Vec<u8>> = own.flat_map(|f| f.samples.iter().map(|(s, _)| s.as_bytes().to_vec())).collect();
        for (message, _, _) in MESSAGES {
            seeds.push(
                format!("2026-11-29 18:51:50 ERROR http_request{{uri=/a?b=c latency=\"1.5µs\"}}:x{{a=1}}: smg::x: src/x.rs:1: {message}")
                    .into_bytes(),
            );
        }
        seeds.push(format!("2026-11-02 09:12:45  INFO smg::cache_trace: x.rs:1: Cache routing dispatch evidence={EVIDENCE}").into_bytes());
        seeds.push(br#"{"timestamp":"2026-09-22T10:00:00.123456Z","level":"WARN","fields":{"message":"a \"b\" body=c","body":"x","uri":"/a?b"},"target":"sgl_router::proxy","spans":[{"name":"a","uri":"/x?\u00e9"}]}"#.to_vec());
        seeds
    }

    proptest! {
        #[test]
        fn mutated_samples(which in 0usize..1000, cut in 0usize..2000, edits in prop::collection::vec((0usize..2000, any::<u8>()), 0..4)) {
            let seeds = seeds();
            let mut record = seeds[which % seeds.len()].clone();
            for (at, byte) in edits {
                let len = record.len();
                record[at % len] = byte;
            }
            record.truncate(record.len().min(cut.max(1)));
            check(&record);
        }

        #[test]
        fn any_bytes(record in prop::collection::vec(any::<u8>(), 0..300)) {
            check(&record);
        }
    }
}
