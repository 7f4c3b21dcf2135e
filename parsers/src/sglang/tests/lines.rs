//! Lines about requests, their life and their data: kinds, ids, values, and what is withheld.

use super::{ids, parse_line, withheld};
use crate::FORMATS;
use crate::event::{Level, Secret, Value};
use crate::ids::IdKind;
use crate::stamp::Zone;

#[test]
fn samples_get_their_kinds() {
    for format in FORMATS.iter().filter(|f| f.name.starts_with("sglang")) {
        for (sample, kind) in format.samples {
            assert!((format.head)(sample.as_bytes()), "{sample}");
            let event = parse_line(sample);
            assert_eq!(event.kind.name, *kind, "{sample}");
            assert!(format.kinds.iter().any(|k| k.name == *kind));
        }
    }
}

#[test]
fn stamps_are_naive_and_as_wide_as_their_text() {
    let second = parse_line("[2026-05-20 08:30:03 TP0] Memory pool end. avail mem=1.00 GB").stamp.expect("a stamp");
    assert_eq!((second.ns, second.width, second.zone, second.at), (1_779_265_803_000_000_000, 1_000_000_000, Zone::Naive, 1));
    let milli = parse_line("[2026-05-20 08:30:03.137 DP0] Memory pool end. avail mem=1.00 GB").stamp.expect("a stamp");
    assert_eq!((milli.ns, milli.width, milli.zone), (1_779_265_803_137_000_000, 1_000_000, Zone::Naive));
    let json = parse_line(
        r#"[2026-11-20 19:45:32] {"timestamp": "2026-11-20T19:45:32", "event": "scheduler.status", "rank": 1, "running_rids": [], "queued_rids": []}"#,
    );
    let stamp = json.stamp.expect("a stamp");
    assert_eq!((stamp.width, stamp.zone, stamp.at), (1_000, Zone::Naive, 37));
    let file = parse_line(r#"{"request_parameters": "{}", "id": "a", "request_received_ts": 1779265829.7861}"#).stamp.expect("a stamp");
    assert_eq!((file.ns, file.width, file.zone), (1_779_265_829_786_100_000, 1_000, Zone::Utc));
}

#[test]
fn time_stats_of_every_form() {
    // Prefix, tail, and what must come out of it.
    type Row = (&'static str, &'static [(&'static str, f64)]);
    let rows: &[Row] = &[
        (
            "Req Time Stats(rid=R, input len=12, output len=3, type=unified): queue_duration=3.11ms, forward_duration=2.50ms, start_time=184266.123456789",
            &[("input_len", 12.0), ("output_len", 3.0), ("queue_ms", 3.11), ("forward_ms", 2.5), ("start_monotonic_s", 184266.123456789)],
        ),
        (
            "Req Time Stats(rid=R, bootstrap_room=77, input len=12, output len=1, type=prefill): bootstrap_duration=1.00ms, queue_duration=2.00ms, forward_duration=3.00ms, start_time=184266.123",
            &[("bootstrap_ms", 1.0), ("queue_ms", 2.0), ("forward_ms", 3.0)],
        ),
        (
            "Req Time Stats(rid=R, bootstrap_room=77, input len=12, output len=1, type=prefill): bootstrap_queue_duration(12.40ms) = alloc_wait(0.10ms) + bootstrap(2.00ms) + other(10.30ms); queue_duration=2.50ms, forward_duration=402.10ms, start=184266.993, transfer_speed=38.21GB/s, transfer_total=612.00MB, #retries=2",
            &[
                ("bootstrap_queue_ms", 12.4),
                ("alloc_wait_ms", 0.1),
                ("bootstrap_ms", 2.0),
                ("other_ms", 10.3),
                ("queue_ms", 2.5),
                ("forward_ms", 402.1),
                ("start_monotonic_s", 184266.993),
                ("transfer_speed_gb_s", 38.21),
                ("transfer_total_mb", 612.0),
                ("retries", 2.0),
            ],
        ),
        (
            "Req Time Stats(rid=R, bootstrap_room=77, input len=12, output len=9, type=decode): prealloc_queue_duration(5.00ms) = bootstrap(2.00ms) + alloc_wait(3.00ms); transfer_duration=7.00ms; queue_duration=0.80ms, forward_duration=90.00ms, start=1.500",
            &[("prealloc_queue_ms", 5.0), ("bootstrap_ms", 2.0), ("alloc_wait_ms", 3.0), ("transfer_ms", 7.0), ("queue_ms", 0.8)],
        ),
        (
            "Req Time Stats(rid=R, bootstrap_room=77, input len=12, output len=9, type=decode): prealloc_duration=5.00ms, transfer_duration=7.00ms, queue_duration=0.80ms, forward_duration=90.00ms, start_time=1.5",
            &[("prealloc_queue_ms", 5.0), ("transfer_ms", 7.0), ("forward_ms", 90.0)],
        ),
        (
            "ReqTimeStats(rid=R, bootstrap_room=77, input_len=12, cached_input_len=4, output_len=1, attempts=1, type=prefill): bootstrap_queue_duration=6.00ms, queue_duration=2.50ms, forward_duration=402.10ms, entry_time=1795203963.389, transfer_speed=38.21 GB/s, transfer_total=612.00 MB",
            &[
                ("cached_input_len", 4.0),
                ("attempts", 1.0),
                ("bootstrap_queue_ms", 6.0),
                ("entry_time", 1795203963.389),
                ("transfer_speed_gb_s", 38.21),
                ("transfer_total_mb", 612.0),
            ],
        ),
        (
            "ReqTimeStats(rid=R, bootstrap_room=77, input_len=12, cached_input_len=4, output_len=9, type=decode): bootstrap_duration=1.00ms, alloc_wait_duration=2.00ms, transfer_duration=3.00ms, queue_duration=4.00ms, forward_duration=5.00ms, entry_time=1795203963.389",
            &[("bootstrap_ms", 1.0), ("alloc_wait_ms", 2.0), ("transfer_ms", 3.0), ("queue_ms", 4.0), ("forward_ms", 5.0)],
        ),
    ];
    for (line, want) in rows {
        let record = format!("[2026-11-20 19:46:04 TP0] {line}");
        let event = parse_line(&record);
        assert_eq!(event.kind.name, "request_time_stats", "{line}");
        assert_eq!(ids(&event, IdKind::Rid), ["R"]);
        let room = if line.contains("bootstrap_room") { vec!["77".to_owned()] } else { vec![] };
        assert_eq!(ids(&event, IdKind::BootstrapRoom), room);
        for (name, number) in *want {
            let got = match event.get(name) {
                Some(Value::Int(n)) => *n as f64,
                Some(Value::Float(n)) => *n,
                other => panic!("{name} is {other:?} in {line}"),
            };
            assert!((got - number).abs() < 1e-9, "{name} is {got} in {line}");
        }
        assert!(event.get("type").is_some());
    }
    let invalid = parse_line("[2026-11-20 19:46:04] Req Time Stats(rid=R, input len=1, output len=0, type=invalid): Invalid Time Stats");
    assert_eq!(invalid.kind.name, "request_time_stats");
}

const FINISH_TEXT: &str = r#"Finish: obj=GenerateReqInput(rid='a#1', text="it's \"quoted\", out={'text': 'no'}", input_ids=[1, 2, 3], sampling_params={'temperature': 0.7, 'stop': None}, bootstrap_room=None, stream=True), headers={'x-smg-routing-key': 's-1', 'x-tenant': 'acme', 'authorization': 'Bearer k'}, out={'text': 'The answer:\n\'42\'', 'output_ids': [7, 8], 'meta_info': {'id': 'a#1', 'finish_reason': {'type': 'stop', 'matched': 151645}, 'prompt_tokens': 12288, 'completion_tokens': 64, 'cached_tokens': 12032, 'cached_tokens_details': {'device': 64, 'host': 5952, 'storage': 6016, 'storage_backend': 'HiCacheFile'}, 'dp_rank': None, 'e2e_latency': 1.2241, 'queue_time': 0.1334}}"#;
const FINISH_JSON: &str = r#"{"timestamp": "2026-11-20T19:45:32.954321", "event": "request.finished", "rid": "a#1", "obj": {"rid": "a#1", "text": "it's \"quoted\", out={'text': 'no'}", "input_ids": [1, 2, 3], "sampling_params": {"temperature": 0.7, "stop": null}, "bootstrap_room": null, "stream": true}, "headers": {"x-smg-routing-key": "s-1", "x-tenant": "acme", "authorization": "Bearer k"}, "out": {"text": "The answer:\n'42'", "output_ids": [7, 8], "meta_info": {"id": "a#1", "finish_reason": {"type": "stop", "matched": 151645}, "prompt_tokens": 12288, "completion_tokens": 64, "cached_tokens": 12032, "cached_tokens_details": {"device": 64, "host": 5952, "storage": 6016, "storage_backend": "HiCacheFile"}, "dp_rank": null, "e2e_latency": 1.2241, "queue_time": 0.1334}}}"#;

#[test]
fn text_and_json_give_the_same_facts() {
    let (text, json) = (parse_line(FINISH_TEXT), parse_line(FINISH_JSON));
    let prefixed = format!("[2026-11-20 19:45:33] {FINISH_JSON}");
    let behind_prefix = parse_line(&prefixed);
    for event in [&text, &json, &behind_prefix] {
        assert_eq!(event.kind.name, "request_finished");
        assert_eq!(ids(event, IdKind::Rid), ["a#1"]);
        assert_eq!(ids(event, IdKind::RoutingKey), ["s-1"]);
        let want = [
            ("temperature", Value::Float(0.7)),
            ("stream", Value::Bool(true)),
            ("finish_reason", Value::Str("stop".into())),
            ("prompt_tokens", Value::Int(12288)),
            ("completion_tokens", Value::Int(64)),
            ("cached_tokens", Value::Int(12032)),
            ("cached_device_tokens", Value::Int(64)),
            ("cached_host_tokens", Value::Int(5952)),
            ("cached_storage_tokens", Value::Int(6016)),
            ("storage_backend", Value::Str("HiCacheFile".into())),
            ("e2e_latency", Value::Float(1.2241)),
            ("queue_time", Value::Float(0.1334)),
        ];
        let got: Vec<(&str, Value<'_>)> = event.fields.iter().map(|f| (f.name.as_ref(), f.value.clone())).collect();
        assert_eq!(got, want);
    }
    let want = [r#""it's \"quoted\", out={'text': 'no'}""#, "[1, 2, 3]", "'acme'", "'Bearer k'", r"'The answer:\n\'42\''", "[7, 8]"];
    assert_eq!(withheld(FINISH_TEXT, &text), want);
    let want = [r#""it's \"quoted\", out={'text': 'no'}""#, "[1, 2, 3]", "\"acme\"", "\"Bearer k\"", r#""The answer:\n'42'""#, "[7, 8]"];
    assert_eq!(withheld(FINISH_JSON, &json), want);
    assert_eq!(withheld(&prefixed, &behind_prefix), want);
    assert_eq!(json.withheld[2].why, Secret::Header);
    assert_eq!(json.withheld[3].why, Secret::Credential);
}

#[test]
fn metrics_file_withholds_inside_the_escaped_request() {
    let record = r#"{"request_parameters": "{\"rid\": \"a\", \"text\": \"say \\\"hi\\\" \u00e9\", \"bootstrap_room\": 77, \"sampling_params\": {\"max_new_tokens\": 8}}", "id": "a", "finish_reason": {"type": "length"}, "cached_tokens_details": {"device": 1, "host": 2}, "request_received_ts": 1779265829.5}"#;
    let event = parse_line(record);
    assert_eq!(event.kind.name, "request_metrics");
    assert_eq!(withheld(record, &event), [r#"\"say \\\"hi\\\" \u00e9\""#]);
    assert_eq!(ids(&event, IdKind::Rid), ["a"]);
    assert_eq!(ids(&event, IdKind::BootstrapRoom), ["77"]);
    assert_eq!(event.get("max_new_tokens"), Some(&Value::Int(8)));
    assert_eq!(event.get("cached_host_tokens"), Some(&Value::Int(2)));
    assert_eq!(event.get("finish_reason"), Some(&Value::Str("length".into())));
}

#[test]
fn cut_requests_show_nothing_of_their_open_value() {
    let record = "[2026-05-20 08:30:03] Receive: obj=GenerateReqInput(rid='a', text='a secret that never en";
    let event = parse_line(record);
    assert_eq!(event.note, Some("truncated"));
    assert!(withheld(record, &event).iter().any(|text| text.contains("a secret")));
    let record = "[2026-05-20 08:30:03] Finish: obj=GenerateReqInput(rid='a')], out={'text': 'secret'}";
    let event = parse_line(record);
    assert_eq!(event.note, Some("damaged"));
    assert!(withheld(record, &event).iter().any(|text| text.contains("secret")));
}

#[test]
fn ids_of_every_line_that_bears_them() {
    let room = "2433235716978554980";
    // Line, kind, rids, rooms.
    let rows: &[(&str, &str, &[&str], &[&str])] = &[
        ("HiCache prefetch success req=r1 completed=1 matched=0 loaded=1 occupied=0", "hicache_prefetch", &["r1"], &[]),
        (
            "HiCache prefetch success req=r1 completed_local=2 completed_synced=2 matched=0 loaded=2 tail_release=0 occupied=0",
            "hicache_prefetch",
            &["r1"],
            &[],
        ),
        ("HiCache prefetch dropped req=r1 completed=1 matched=0 loaded=1 occupied=0", "hicache_prefetch_dropped", &["r1"], &[]),
        ("HiCache prefetch declined req=r1 reason=unservable_prefix device_prefix=4 hit=9", "hicache_prefetch_dropped", &["r1"], &[]),
        (
            "HiCache staged prefetch dropped after 3 device_capacity deferrals req=r1 pool=full tokens=5",
            "hicache_prefetch_dropped",
            &["r1"],
            &[],
        ),
        (
            "HiCache buffer prefetch declined req=r1: the Full/sidecar bounce cannot fit in an empty host arena",
            "hicache_prefetch_dropped",
            &["r1"],
            &[],
        ),
        ("HiCache storage query failed for request r1\nTraceback (most recent call last):\n  x", "hicache_prefetch_failed", &["r1"], &[]),
        ("HiCache L3 prefetch failed for rid=r1: boom; falling back to L2-only LoadingBack", "hicache_prefetch_failed", &["r1"], &[]),
        ("Prefetching 12 pages for request r1.", "hicache_prefetch_started", &["r1"], &[]),
        ("Revoking prefetch for request r1 due to insufficient hits (0).", "hicache_prefetch_revoked", &["r1"], &[]),
        ("Prefetch r1 completed with 768 tokens", "hicache_prefetch", &["r1"], &[]),
        ("Prefetch operation r1 failed to retrieve page ab12.", "hicache_prefetch_failed", &["r1"], &[]),
        ("External linker load failed; aborting 2 request(s): ['r1', 'r2']", "hicache_load_back_failed", &["r1", "r2"], &[]),
        (
            "HiCache load_back failed for rid=r1: device_indices=0, new_indices=4, expected decode_prefix_len=9 (l1=1, l2=2, l3=3)",
            "hicache_load_back_failed",
            &["r1"],
            &[],
        ),
        (
            "Prefill bootstrap failed for request rank=0 req.rid='r1' req.bootstrap_room=2433235716978554980 with exception KVTransferError(bootstrap_room=2433235716978554980): Aborted by AbortReq.",
            "pd_bootstrap_failed",
            &["r1"],
            &[room],
        ),
        (
            "Prefill transfer failed for request rank=1 req.rid='r1' req.bootstrap_room=2433235716978554980",
            "pd_transfer_failed",
            &["r1"],
            &[room],
        ),
        (
            "Decode handshake failed for request rank=0 decode_req.req.rid='r1' decode_req.req.bootstrap_room=2433235716978554980 with exception x",
            "pd_handshake_failed",
            &["r1"],
            &[room],
        ),
        (
            "Decode transfer failed for request rank=0 decode_req.req.rid='r1' decode_req.req.bootstrap_room=2433235716978554980 (HiCache local restore failed on this rank)",
            "pd_transfer_failed",
            &["r1"],
            &[room],
        ),
        ("KV checksum mismatch req=r1 bootstrap_room=2433235716978554980 expected=0x1 got=0x2", "pd_transfer_failed", &["r1"], &[room]),
        ("Req r1 optimistic prefill yielded (1/3 attempts used)", "pd_retry", &["r1"], &[]),
        (
            "Gracefully exiting... Remaining number of requests 2. Remaining requests remaining_rids=['r1', 'r2'].",
            "draining",
            &["r1", "r2"],
            &[],
        ),
        ("Abort running request. req.rid='r1'", "request_abort", &["r1"], &[]),
        ("Abort transfer queue request. decode_req.req.rid='r1'", "request_abort", &["r1"], &[]),
        ("Abort request for rid=r1 not found in rid_to_state; likely already finished/removed.", "request_abort", &["r1"], &[]),
        ("Received output for rid='r1' but the state was deleted in TokenizerManager.", "request_lifecycle", &["r1"], &[]),
        ("retract_decode: aborted last request r1 due to OOM", "retract_abort", &["r1"], &[]),
        ("retract_decode: aborted request r1, retraction host pool exhausted", "retract_abort", &["r1"], &[]),
        ("Request r1 exceeds the maximum number of tokens: 9 > 8", "request_error", &["r1"], &[]),
        ("Input is too long, self.rid='r1'", "request_error", &["r1"], &[]),
        ("Receive generation request: r1", "grpc_request", &["r1"], &[]),
        ("Something new about rid=r1, and bootstrap_room=2433235716978554980.", "sglang_log", &["r1"], &[room]),
    ];
    for (line, kind, rids, rooms) in rows {
        let record = format!("[2026-11-20 19:46:04 TP1] {line}");
        let event = parse_line(&record);
        assert_eq!(event.kind.name, *kind, "{line}");
        assert_eq!(ids(&event, IdKind::Rid), *rids, "{line}");
        assert_eq!(ids(&event, IdKind::BootstrapRoom), *rooms, "{line}");
        assert_eq!(event.get("probe"), None, "{line}");
    }
}

#[test]
fn brackets_in_a_rid_and_behind_the_line_end_no_facts() {
    for (rid, behind) in [("a): b", ""), ("c", "W1120 19:46:05 foo(1): queue")] {
        let record = format!(
            "[2026-11-20 19:46:04] ReqTimeStats(rid={rid}, input_len=12, cached_input_len=4, output_len=9, type=unified): queue_duration=2.50ms, forward_duration=5.00ms{behind}"
        );
        let event = parse_line(&record);
        assert_eq!(ids(&event, IdKind::Rid), [rid]);
        assert_eq!(event.get("input_len"), Some(&Value::Int(12)), "{record}");
        assert_eq!(event.get("type"), Some(&Value::Str("unified".into())), "{record}");
        assert_eq!(event.get("queue_ms"), Some(&Value::Float(2.5)), "{record}");
    }
}

#[test]
fn probes_are_marked() {
    for line in [
        "ReqTimeStats(rid=HEALTH_CHECK_ab, input_len=1, cached_input_len=0, output_len=1, type=unified): queue_duration=1.00ms, forward_duration=1.00ms, entry_time=1.000",
        "Receive health check request: HEALTH_CHECK_1779265829.786",
        "Receive: obj=GenerateReqInput(rid='HEALTH_CHECK_ab', text=None)",
        "Gracefully exiting... Remaining number of requests 1. Remaining requests remaining_rids=['HEALTH_CHECK_ab'].",
        "ReqTimeStats(rid=w, bootstrap_room=0, input_len=1, cached_input_len=0, output_len=1, type=decode): queue_duration=1.00ms",
    ] {
        let record = format!("[2026-11-20 19:46:04] {line}");
        assert_eq!(parse_line(&record).get("probe"), Some(&Value::Bool(true)), "{line}");
    }
}

#[test]
fn retraction_of_every_version() {
    let rows = [
        ("Decode out of memory happened. #retracted_reqs: 4, #new_token_ratio: 0.7341 -> 0.9812", None),
        ("KV cache pool is full. Retract requests. #retracted_reqs: 4, #new_token_ratio: 0.7341 -> 0.9812", None),
        (
            "KV cache pool is full. Retract requests. #retracted_reqs: 4, #aborted_retracted_reqs: 1, #new_token_ratio: 0.7341 -> 0.9812",
            None,
        ),
        (
            "KV cache pool is full. Retract requests. #retracted_reqs: 4, #new_tokens_gained: 18432, #mamba_num_gained: 2, #new_token_ratio: 0.7341 -> 0.9812",
            Some(18432),
        ),
        ("Testing retraction. #retracted_reqs: 4, #new_tokens_gained: 7, #new_token_ratio: 0.7341 -> 0.9812", Some(7)),
    ];
    for (line, gained) in rows {
        let record = format!("[2026-11-20 19:46:04 TP1] {line}");
        let event = parse_line(&record);
        assert_eq!(event.kind.name, "retract", "{line}");
        assert_eq!(event.get("retracted_reqs"), Some(&Value::Int(4)), "{line}");
        assert_eq!(event.get("new_tokens_gained"), gained.map(Value::Int).as_ref(), "{line}");
        assert_eq!(event.get("new_token_ratio_before"), Some(&Value::Float(0.7341)), "{line}");
        assert_eq!(event.get("new_token_ratio_after"), Some(&Value::Float(0.9812)), "{line}");
    }
}

#[test]
fn server_args_of_both_forms() {
    for line in [
        "server_args=ServerArgs(model_path='/m', host='0.0.0.0', port=30000, tp_size=2, api_key='sk-1', admin_api_key=None, max_total_tokens=None, enable_hierarchical_cache=True, hicache_storage_backend_extra_config='{\"access_key\": \"k\"}', custom=(1, ')'), log_level='info')",
        "server_args={'model_path': '/m', 'host': '0.0.0.0', 'port': 30000, 'tp_size': 2, 'api_key': 'sk-1', 'admin_api_key': None, 'max_total_tokens': None, 'enable_hierarchical_cache': True, 'hicache_storage_backend_extra_config': '{\"access_key\": \"k\"}', 'custom': (1, ')'), 'log_level': 'info'}",
    ] {
        let record = format!("[2026-11-20 19:45:32] {line}");
        let event = parse_line(&record);
        assert_eq!(event.kind.name, "server_args");
        let got: Vec<(&str, Value<'_>)> = event.fields.iter().map(|f| (f.name.as_ref(), f.value.clone())).collect();
        let want = [
            ("model_path", Value::Str("/m".into())),
            ("host", Value::Str("0.0.0.0".into())),
            ("port", Value::Int(30000)),
            ("tp_size", Value::Int(2)),
            ("enable_hierarchical_cache", Value::Bool(true)),
            ("log_level", Value::Str("info".into())),
        ];
        assert_eq!(got, want);
        assert_eq!(withheld(&record, &event), ["'sk-1'", "'{\"access_key\": \"k\"}'"]);
        assert!(event.withheld.iter().all(|w| w.why == Secret::Credential));
    }
}

#[test]
fn http_lines() {
    let record = "[2026-11-20 19:46:01] INFO:     10.42.0.9:42037 - \"GET /metrics?token=x HTTP/1.1\" 503 Service Unavailable";
    let event = parse_line(record);
    assert_eq!((event.kind.name, event.level, event.columnar), ("access", Some(Level::Info), false));
    assert_eq!(event.get("path"), Some(&Value::Str("/metrics".into())));
    assert_eq!(event.get("status"), Some(&Value::Int(503)));
    assert_eq!(event.get("client_ip"), Some(&Value::Str("10.42.0.9".into())));
    assert_eq!(withheld(record, &event), ["token=x"]);
    let warning = parse_line("[2026-11-20 19:46:01] WARNING:  Invalid HTTP request received.");
    assert_eq!((warning.kind.name, warning.level), ("uvicorn_log", Some(Level::Warn)));
    let started = parse_line("[2026-11-20 19:46:01] INFO:     Started server process [4121]");
    assert_eq!((started.kind.name, started.get("pid")), ("uvicorn_started", Some(&Value::Int(4121))));
    let rust = parse_line(
        "2026-11-29T19:10:21.220197Z  INFO sglang_server::api_server::log: 127.0.0.1:39240 - \"GET /model_info HTTP/1.1\" 200 OK",
    );
    assert_eq!((rust.kind.name, rust.level, rust.stamp.map(|s| s.zone)), ("access", Some(Level::Info), Some(Zone::Utc)));
}

#[test]
fn a_dump_of_requests_is_withheld() {
    let record = "[2026-11-20 19:46:01 TP0] self.cur_batch.batch_size()=1, self.cur_batch.reqs=[Req(rid=r1, input_ids=[1, 2, 3], output_ids=[9, 9])]";
    let event = parse_line(record);
    assert_eq!(withheld(record, &event), ["[1, 2, 3]", "[9, 9]"]);
    assert_eq!(ids(&event, IdKind::Rid), ["r1"]);
}

#[test]
fn custom_logging_configurations() {
    let json = parse_line(
        r#"{"asctime": "2026-05-20 08:30:12,485", "levelname": "WARNING", "name": "sglang.srt.x", "process": 31223, "message": "10.0.0.1:5 - \"x\" \\ rid=r1 y"}"#,
    );
    assert_eq!((json.kind.name, json.level), ("sglang_log", Some(Level::Warn)));
    assert_eq!(json.stamp.map(|s| s.width), Some(1_000_000));
    assert_eq!(ids(&json, IdKind::Rid), ["r1"]);
    let bracket =
        parse_line("[2026-04-15 17:13:10][scheduler_metrics_mixin.py:424][INFO]: Decode batch, #running-req: 2, #token: 9, #queue-req: 0");
    assert_eq!((bracket.kind.name, bracket.level, bracket.columnar), ("decode_batch", Some(Level::Info), false));
}

/// Only what stands before a keyed record's message is read for words: nothing may stand behind it.
#[test]
fn words_behind_a_message_are_not_forgotten() {
    for line in [
        r#"{"asctime": "2026-05-20 08:30:12,485", "message": "Decode batch, #running-req: 2, #token: 9", "funcName": "report"}"#,
        "`[2026-05-20 08:30:12 site] Decode batch, #running-req: 2, #token: 9</code>",
    ] {
        let event = parse_line(line);
        assert_eq!((event.kind.name, event.columnar, event.keyed), ("decode_batch", false, false), "{line}");
        assert_eq!(event.get("running_reqs"), Some(&Value::Int(2)), "{line}");
        assert!(event.message.end < line.len(), "{line}");
    }
}

#[test]
fn one_long_line_costs_one_read() {
    // Many open quotes, brackets and keys: a parser that starts over at each of them would not end within the test's time.
    for part in [
        "text='",
        "a=",
        "[",
        "rid=",
        "{'",
        "\\'",
        ", out={",
        "input_ids=[",
        "#k: ",
        "(x",
        "req=a ",
        "rid=HEALTH_CHECK_a, ",
        "it/s][2026-01-01 00:00:00 X] ",
    ] {
        let record = format!("[2026-11-20 19:46:01] Finish: obj=GenerateReqInput({}", part.repeat(400_000));
        assert_eq!(parse_line(&record).kind.name, "request_finished");
        let record = format!("[2026-11-20 19:46:01] HiCache {}", part.repeat(400_000));
        assert_eq!(parse_line(&record).kind.name, "hicache_config");
        let record = format!("[2026-11-20 19:46:01] Prefill batch, {}", part.repeat(400_000));
        assert_eq!(parse_line(&record).kind.name, "prefill_batch");
        let foreign = format!("{}%", part.repeat(400_000));
        assert_eq!((crate::sglang::SGLANG.cut)(foreign.as_bytes()), None);
    }
}

#[test]
fn an_exception_names_its_type() {
    let event = parse_line(
        "[2026-11-20 19:46:01 TP1] Scheduler hit an exception: Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n    \
         raise ValueError\nValueError: token_to_kv_pool_allocator memory leak detected! available_size=1",
    );
    assert_eq!(event.kind.name, "exception");
    assert_eq!(event.get("error_type"), Some(&Value::Str("ValueError".into())));
    assert_eq!(event.get("memory_leak"), Some(&Value::Bool(true)));
}

#[test]
fn the_end_of_a_split_request_keeps_its_usage_and_hides_the_rest() {
    let record =
        "882, 349], 'meta_info': {'id': 'long-1', 'finish_reason': {'type': 'length'}, 'prompt_tokens': 7600, 'cached_tokens': 64}}";
    let event = parse_line(record);
    assert_eq!((event.kind.name, event.note), ("request_finished", Some("begins in mid-line")));
    assert_eq!(ids(&event, IdKind::Rid), ["long-1"]);
    assert_eq!(event.get("prompt_tokens"), Some(&Value::Int(7600)));
    assert_eq!(withheld(record, &event), ["882, 349], "]);
}

#[test]
fn what_a_client_wants_to_stop_at_is_withheld() {
    for line in [
        "[2026-11-29 18:49:33] Receive: obj=GenerateReqInput(rid='a', text='x', sampling_params={'temperature': 0.5, 'stop': 'WORD', 'stop_regex': ['WORD'], 'json_schema': '{\"WORD\"}', 'regex': 'WORD', 'ebnf': \"WORD\", 'n': 1}, stream=True)",
        "[2026-11-29 18:49:33] Receive: obj=GenerateReqInput(rid='a', text='x', sampling_params=[{'temperature': 0.5, 'stop': ['WORD']}, {'regex': 'WORD', 'n': 1}], stream=True)",
        r#"{"timestamp": "2026-11-20T19:45:32.954321", "event": "request.received", "rid": "a", "obj": {"rid": "a", "sampling_params": {"temperature": 0.5, "stop": ["WORD"], "structural_tag": "WORD", "n": 1}, "stream": true}}"#,
        "[2026-11-29 18:49:33] Receive OpenAI: obj={'temperature': 0.5, 'stop': 'WORD', 'response_format': {'type': 'json_schema', 'json_schema': {'name': 'WORD'}}, 'n': 1, 'stream': True}",
    ] {
        let event = parse_line(line);
        let hidden = |i: usize| event.withheld.iter().any(|w| w.span.contains(&i));
        assert!(line.match_indices("WORD").all(|(i, _)| hidden(i)), "{line} {:?}", event.withheld);
        let n = line.find("0.5, ").unwrap();
        assert!(!hidden(n) && !format!("{:?}", event.fields).contains("WORD"), "{line}");
        assert_eq!(event.get("temperature"), Some(&Value::Float(0.5)), "{line}");
        assert_eq!(event.get("stream"), Some(&Value::Bool(true)), "{line}");
    }
}

#[test]
fn a_run_that_is_known_again_changes_nothing_that_is_read() {
    let line = "[2026-05-20 08:30:03] Receive: obj=GenerateReqInput(rid='r1', text='hello image_data=None, ', image_data=None, video_data=None, \
                audio_data=None, input_ids=[], log_metrics=True, stream=True, lora_path=None, session_params=None, custom_logit_processor=None, priority=3, \
                bootstrap_host=None, bootstrap_port=None, bootstrap_room=None, data_parallel_rank=None)";
    let (first, second) = (parse_line(line), parse_line(line));
    assert!(first.plain.is_empty() && second.plain.len() == 3, "{:?}", second.plain);
    assert_eq!(&line[second.plain[0].clone()], "image_data=None, video_data=None, audio_data=None, input_ids=[], log_metrics=True, ");
    assert_eq!((&first.fields, &first.ids, &first.withheld, first.note), (&second.fields, &second.ids, &second.withheld, second.note));
    assert_eq!(withheld(line, &second), ["'hello image_data=None, '"]);
    assert_eq!(second.get("priority"), Some(&Value::Int(3)));
    let open = &line[..line.len() - 30];
    assert_eq!(parse_line(open).note, Some("truncated"));
}
