//! Single lines: what the grammar, the classifier and the id rules make of them.

use crate::event::{Event, Level, Outcome, Secret, Value};
use crate::format::Format;
use crate::ids::IdKind;
use crate::record::{Layout, Reader};

/// Parses one record of one format.
pub(crate) fn parse<'a>(format: &Format, line: &'a str) -> (Event<'a>, Outcome) {
    assert!((format.head)(line.as_bytes()), "no head: {line}");
    let mut event = Event::new(&crate::text::kinds::TEXT);
    let outcome = (format.parse)(line.as_bytes(), &mut event);
    (event, outcome)
}

pub(crate) fn text(line: &str) -> Event<'_> {
    let (event, outcome) = parse(&super::super::TEXT, line);
    assert_eq!(outcome, Outcome::Parsed);
    event
}

fn jsonl(line: &str) -> Event<'_> {
    let (event, outcome) = parse(&super::super::JSONL, line);
    assert_eq!(outcome, Outcome::Parsed);
    event
}

pub(crate) fn ids<'e>(event: &'e Event<'_>, kind: IdKind) -> Vec<&'e str> {
    event.ids.iter().filter(|i| i.kind == kind).map(|i| &*i.text).collect()
}

pub(crate) fn word<'e>(event: &'e Event<'_>, name: &str) -> &'e str {
    match event.get(name) {
        Some(Value::Str(t)) => t,
        other => panic!("{name} is {other:?}"),
    }
}

fn message<'a>(event: &Event<'_>, line: &'a str) -> &'a str {
    &line[event.message.clone()]
}

#[test]
fn samples_get_their_kinds_and_no_other_formats_head() {
    let formats = [
        &super::super::TEXT,
        &super::super::JSONL,
        &crate::trace::REQUEST_TRACE,
        &crate::trace::AGENT_TRACE,
        &crate::trace::AUDIT,
        &crate::otlp::TRACES,
        &crate::eventplane::EVENTS,
    ];
    for format in formats {
        assert!(!format.samples.is_empty());
        for (line, kind) in format.samples {
            let (event, outcome) = parse(format, line);
            assert_eq!((event.kind.name, &outcome), (*kind, &Outcome::Parsed), "{line}");
            assert!(format.kinds.iter().any(|k| k.name == *kind));
            for other in formats.iter().filter(|f| f.name != format.name) {
                assert!(!(other.head)(line.as_bytes()), "{} takes {line}", other.name);
            }
            assert!(event.message.end <= line.len());
            if event.columnar {
                super::words::assert_columnar(line.as_bytes(), &event);
            }
        }
    }
}

#[test]
fn text_line_with_two_request_ids() {
    let line = "2026-11-29T18:06:50.001391Z ERROR http-request: dynamo_llm::http::service::metrics: request completed request_id=910db062-0829-4741-a90c-c5b65de0dadf model=unknown_model endpoint=chat_completions request_type=unary status=error error_type=not_found error_detail=model or resource not found elapsed_ms=0 method=POST uri=/v1/chat/completions version=HTTP/1.1 x_request_id=\"xr-odd-404\" request_id=6ab84e7e-edd5-4aac-80a4-94b207d965b8 model=\"unknown_model\" request.outcome=\"error\"";
    let event = text(line);
    assert_eq!(event.kind.name, "request_completed");
    assert_eq!(event.level, Some(Level::Error));
    assert_eq!(event.stamp.map(|s| (s.ns, s.width)), Some((1_795_975_610_001_391_000, 1_000)));
    assert_eq!(ids(&event, IdKind::RequestId), ["910db062-0829-4741-a90c-c5b65de0dadf"]);
    assert_eq!(ids(&event, IdKind::Decoy), ["6ab84e7e-edd5-4aac-80a4-94b207d965b8"]);
    assert_eq!(ids(&event, IdKind::XRequestId), ["xr-odd-404"]);
    assert_eq!(word(&event, "error_detail"), "model or resource not found");
    assert_eq!(event.get("elapsed_ms"), Some(&Value::Int(0)));
    assert_eq!(word(&event, "request_outcome"), "error");
    assert_eq!((word(&event, "target"), word(&event, "spans")), ("dynamo_llm::http::service::metrics", "http-request"));
    assert_eq!(message(&event, line), "request completed");
    assert!(event.columnar);
}

#[test]
fn route_line_has_its_id_last_and_response_line_has_none() {
    let route = "2026-11-29T18:06:46.922251Z  INFO http-request:completions:completions_single:kv_router.route_request: request_span: route request completed request.outcome=\"success\" method=POST uri=/v1/completions version=HTTP/1.1 x_request_id=\"xr-v1-completions\" request_id=91e43bbe-8f90-4e72-a1f6-977d4bc0eba8 otel.kind=\"client\" request_id=16d0d70e-0a5c-4646-85ec-d74145ed9770 dp_rank=0 overlap_blocks=0 phase=Aggregated worker_id=10729358022808528840 request.attempt=0 migration.is_retry=false migration.tokens_completed=0 request.outcome=\"success\"";
    let event = text(route);
    assert_eq!(event.kind.name, "route_completed");
    assert_eq!(ids(&event, IdKind::RequestId), ["16d0d70e-0a5c-4646-85ec-d74145ed9770"]);
    assert_eq!(ids(&event, IdKind::WorkerId), ["10729358022808528840"]);
    assert_eq!(event.get("migration_is_retry"), Some(&Value::Bool(false)));
    assert_eq!(event.fields.iter().filter(|f| f.raw == "request.outcome").count(), 1, "the same value once");
    let sent = "2026-11-29T18:06:46.922444Z  INFO http-request: dynamo_llm::http::service::service_v2: http response sent status=200 latency_ms=53 method=POST uri=/v1/completions version=HTTP/1.1 x_request_id=\"xr-v1-completions\" request_id=91e43bbe-8f90-4e72-a1f6-977d4bc0eba8";
    let event = text(sent);
    assert_eq!(event.kind.name, "http_response");
    assert!(ids(&event, IdKind::RequestId).is_empty());
    assert_eq!(ids(&event, IdKind::Decoy).len(), 1);
}

#[test]
fn one_id_everywhere_is_no_decoy() {
    let line = "2026-11-29T18:06:46.870571Z  INFO http-request: dynamo_llm::http::service::metrics: request received request_id=16d0d70e-0a5c-4646-85ec-d74145ed9770 model=tiny endpoint=completions request_type=unary method=POST uri=/v1/completions version=HTTP/1.1 request_id=16d0d70e-0a5c-4646-85ec-d74145ed9770";
    let event = text(line);
    assert_eq!((ids(&event, IdKind::RequestId).len(), ids(&event, IdKind::Decoy).len()), (1, 0));
}

#[test]
fn a_later_duplicate_keeps_its_raw_name_beside_the_canonical_one() {
    let line = "2026-11-29T18:06:46.870571Z  WARN dynamo_llm::x: odd error_type=first error.type=second error_type=third";
    let event = text(line);
    assert_eq!(word(&event, "error_type"), "first");
    let named: Vec<_> = event.fields.iter().skip(1).map(|f| (&*f.name, &*f.raw)).collect();
    assert_eq!(named, [("error_type", "error_type"), ("error_type", "error.type"), ("error_type", "error_type")]);
}

#[test]
fn selected_worker_of_every_version() {
    let head = "2026-11-29T18:37:28.227538Z  INFO ";
    let lines = [
        (
            "dynamo_llm::kv_router::scheduler: Selected worker: worker_id=7587899242435231749 dp_rank=0, logit: 2.000, cached blocks: 0, total blocks: 256",
            "cached_blocks",
            Some(256),
        ),
        (
            "dynamo_llm::kv_router::scheduler: Selected worker: worker_id=7587899242435231749 dp_rank=0, logit: 2.000, cached blocks: 0, tree size: 9, total blocks: 256",
            "tree_size",
            Some(256),
        ),
        (
            "dynamo_kv_router::scheduling::selector: Selected worker: worker_type=decode, worker_id=7587899242435231749 dp_rank=0, logit: 2.000, cached blocks: 0",
            "worker_type",
            None,
        ),
        (
            "dynamo_kv_router::scheduling::selector: Selected worker: worker_type=decode, worker_id=7587899242435231749 dp_rank=0, logit: 2.000, effective cached blocks: 1.75, host_pinned blocks: 2, disk blocks: 0, total blocks: 256",
            "effective_cached_blocks",
            Some(256),
        ),
        (
            "dynamo_kv_router::scheduling::selector: Selected worker router_mode=\"kv\" worker_id=7587899242435231749 worker_type=decode dp_rank=0 logit=2.0 host_pinned_blocks=0 disk_blocks=0",
            "host_pinned_blocks",
            None,
        ),
        (
            "dynamo_kv_router::scheduling::selector: Selected worker router_mode=\"kv\" worker_id=7587899242435231749 worker_type=prefill dp_rank=Some(0) logit=2.0 effective_cached_blocks=0.0 total_kv_blocks=Some(256)",
            "effective_cached_blocks",
            Some(256),
        ),
        (
            "dynamo_llm::kv_router::scheduler: Selected worker: WorkerWithDpRank { worker_id: 7587899242435231749, dp_rank: 0 }, logit: 2.000, cached blocks: 0, total blocks: 256",
            "cached_blocks",
            Some(256),
        ),
    ];
    for (line, further, total) in lines {
        let line = format!("{head}{line}");
        let event = text(&line);
        assert_eq!(event.kind.name, "worker_selected", "{line}");
        assert_eq!(ids(&event, IdKind::WorkerId), ["7587899242435231749"], "{line}");
        assert_eq!(event.get("logit"), Some(&Value::Float(2.0)), "{line}");
        assert_eq!(event.get("dp_rank"), Some(&Value::Int(0)), "{line}");
        assert!(event.get(further).is_some(), "{further} of {line}");
        assert_eq!(event.get("total_blocks"), total.map(Value::Int).as_ref(), "{line}");
        assert!(event.columnar, "{line}");
        super::words::assert_columnar(line.as_bytes(), &event);
    }
}

#[test]
fn span_fields_follow_a_message_with_values() {
    let line = "2026-11-29T18:32:38.361756Z  INFO http-request:completions:completions_single:kv_router.select_worker:kv_router.schedule: dynamo_kv_router::scheduling::selector: Selected worker: worker_type=decode, worker_id=16867653469349905987 dp_rank=0, logit: 2.000, host_pinned blocks: 0, disk blocks: 0 method=POST uri=/v1/completions version=HTTP/1.1 x_request_id=\"xr-v1-completions\" request_id=cd17c615-b66c-43be-955b-9860770e07a6";
    let event = text(line);
    assert_eq!(word(&event, "worker_type"), "decode");
    assert!(message(&event, line).ends_with("disk blocks: 0"));
    assert_eq!(ids(&event, IdKind::Decoy), ["cd17c615-b66c-43be-955b-9860770e07a6"]);
    assert!(ids(&event, IdKind::RequestId).is_empty());
}

#[test]
fn formula_and_best() {
    let line = "2026-11-29T18:37:28.227503Z  INFO dynamo_llm::kv_router::scheduler: Formula for worker_id=7587899242435231749 dp_rank=0 with 3 cached blocks: 2.500 = 1.0 * prefill_blocks + decode_blocks = 1.0 * 1.000 + 1.000";
    let event = text(line);
    assert_eq!(event.kind.name, "routing_formula");
    assert_eq!((event.get("cached_blocks"), event.get("logit")), (Some(&Value::Int(3)), Some(&Value::Float(2.5))));
    let line = "2026-11-29T18:42:50.159249Z DEBUG http-request:completions:completions_single:kv_router.select_worker: dynamo_llm::kv_router::push_router: [ROUTING] Best: worker_7587899242514933785 dp_rank=0 with 0/1 blocks overlap request_id=120807f1-27c6-43a9-a880-c7a619ac79fb worker_id=7587899242514933785 dp_rank=0 overlap_blocks=0 total_blocks=1 method=POST uri=/v1/completions version=HTTP/1.1 x_request_id=\"xr-v1-completions\"";
    let event = text(line);
    assert_eq!(event.kind.name, "route_decision");
    assert_eq!(ids(&event, IdKind::WorkerId), ["7587899242514933785"]);
    assert_eq!(ids(&event, IdKind::RequestId), ["120807f1-27c6-43a9-a880-c7a619ac79fb"]);
    assert_eq!(event.get("total_blocks"), Some(&Value::Int(1)));
    assert!(event.columnar);
}

#[test]
fn jsonl_values_are_typed_whatever_their_json_type() {
    let line = r#"{"time":"2026-11-29T18:05:44.169713Z","level":"INFO","file":"/opt/dynamo/lib/kv-router/src/scheduling/selector.rs","line":171,"target":"dynamo_kv_router::scheduling::selector","message":"Selected worker","disk_blocks":0,"dp_rank":"0","host_pinned_blocks":0,"logit":2.0,"request_id":"b784d373-44b4-4fba-ae43-92d17e6a16a5","router_mode":"kv","total_kv_blocks":"Some(256)","worker_id":13877594319123340093,"worker_type":"decode"}"#;
    let event = jsonl(line);
    assert_eq!(event.kind.name, "worker_selected");
    assert_eq!(event.get("dp_rank"), Some(&Value::Int(0)));
    assert_eq!(event.get("total_blocks"), Some(&Value::Int(256)));
    assert_eq!(ids(&event, IdKind::WorkerId), ["13877594319123340093"]);
    assert_eq!(event.stamp.map(|s| &line[s.at as usize..(s.at + s.len) as usize]), Some("2026-11-29T18:05:44.169713Z"));
    assert_eq!(message(&event, line), "Selected worker");
    assert!(event.columnar);
    super::words::assert_columnar(line.as_bytes(), &event);
}

#[test]
fn span_events_and_small_span_ids() {
    let line = r#"{"time":"2026-11-29T18:47:46.017755Z","level":"INFO","file":"/opt/dynamo/lib/runtime/src/logging.rs","line":293,"target":"dynamo_runtime::logging","message":"SPAN_CREATED","method":"GET","span_id":"1","span_name":"http-request","uri":"/v1/models","version":"HTTP/1.1"}"#;
    let event = jsonl(line);
    assert_eq!(event.kind.name, "span_created");
    assert_eq!(event.get("span_id"), Some(&Value::Int(1)), "0.6 prints a counter");
    let line = r#"{"time":"2026-11-29T18:47:59.613764Z","level":"INFO","target":"dynamo_runtime::logging","message":"SPAN_CLOSED","method":"POST","span_id":"ee6b4ce41ab6d799","span_name":"http-request","time.busy_us":3030,"time.duration_us":635030,"time.idle_us":632000,"trace_flags":"01","trace_id":"4b6dfd69caa28f96387c64d62ae31e44","uri":"/v1/chat/completions","version":"HTTP/1.1","x_request_id":"xr-001-0-54c8136a"}"#;
    let event = jsonl(line);
    assert_eq!(event.kind.name, "span_closed");
    assert_eq!(ids(&event, IdKind::SpanId), ["ee6b4ce41ab6d799"]);
    assert_eq!(ids(&event, IdKind::TraceId), ["4b6dfd69caa28f96387c64d62ae31e44"]);
    assert_eq!(event.get("time_duration_us"), Some(&Value::Int(635_030)));
    assert_eq!(word(&event, "trace_flags"), "01");
}

#[test]
fn conflict_names_both_workers() {
    let line = r#"{"time":"2026-11-29T18:06:05.616118Z","level":"ERROR","target":"dynamo_llm::protocols::common::timing","message":"Conflicting request tracker write","existing":13877594319123340093,"field":"prefill_worker_id","new":18443390244906947602,"request_id":"92526ef5-c16c-41bd-96d9-d2a89640cfc7"}"#;
    let event = jsonl(line);
    assert_eq!(event.kind.name, "tracker_conflict");
    assert_eq!(ids(&event, IdKind::WorkerId), ["13877594319123340093", "18443390244906947602"]);
    assert_eq!(word(&event, "new"), "18443390244906947602");
}

#[test]
fn recorded_kv_event() {
    let line = "2026-11-29T18:05:44.170000Z DEBUG dynamo_kv_router::indexer::local: Recorded event RouterEvent { worker_id: 18443390244906947602, storage_tier: HostPinned, residency_domain: Known(Worker), event: KvCacheEvent { event_id: 7, data: Stored(KvCacheStoreData { parent_hash: None, start_position: None, blocks: [KvCacheStoredBlockData { block_hash: ExternalSequenceBlockHash(15826490121732238337), tokens_hash: LocalBlockHash(15826490121732238337), mm_extra_info: None }, KvCacheStoredBlockData { block_hash: ExternalSequenceBlockHash(14097765717901383128), tokens_hash: LocalBlockHash(2), mm_extra_info: None }] }), dp_rank: 0 }, state_source: None, session_id: None } in buffer, now size is 6";
    let event = text(line);
    assert_eq!(event.kind.name, "kv_event_recorded");
    assert_eq!(ids(&event, IdKind::WorkerId), ["18443390244906947602"]);
    assert_eq!((word(&event, "kv_event"), word(&event, "storage_tier")), ("stored", "HostPinned"));
    assert_eq!((event.get("blocks"), event.get("event_id")), (Some(&Value::Int(2)), Some(&Value::Int(7))));
    assert_eq!(event.get("buffer_events"), Some(&Value::Int(6)));
    assert!(!event.columnar, "block hashes stand only in the text");
    let removed = line.replace("Stored(KvCacheStoreData", "Removed(KvCacheRemoveData");
    assert_eq!(word(&text(&removed), "kv_event"), "removed");
}

#[test]
fn kvbm_counts_and_tiers() {
    let line = "2026-11-29T18:06:46.871916Z DEBUG _core::block_manager::vllm::connector::leader: Reporting cache stats: host_blocks=4, disk_blocks=2, total_blocks_queried=9, tokens_from_host=64, tokens_from_disk=32 request_id=\"16d0d70e-0a5c-4646-85ec-d74145ed9770\"";
    let event = text(line);
    let int = |name| event.get(name).cloned();
    assert_eq!(
        (int("host_blocks"), int("total_blocks_queried"), int("tokens_from_disk")),
        (Some(Value::Int(4)), Some(Value::Int(9)), Some(Value::Int(32)))
    );
    assert_eq!(ids(&event, IdKind::RequestId), ["16d0d70e-0a5c-4646-85ec-d74145ed9770"]);
    let line = "2026-11-29T18:06:46.871911Z DEBUG _core::block_manager::vllm::connector::leader::slot: start onboarding 4 blocks from Host to device request_id=\"16d0d70e-0a5c-4646-85ec-d74145ed9770\"";
    let event = text(line);
    assert_eq!((event.get("blocks"), word(&event, "tier")), (Some(&Value::Int(4)), "host"));
    let line = "2026-11-29T18:06:46.871911Z DEBUG kvbm_engine::leader: G2 search done session_id=\"0a\"";
    assert!(ids(&text(line), IdKind::Session).is_empty(), "a session of the block manager is no client's");
}

#[test]
fn targets_without_a_path() {
    let line = "2026-11-29T18:06:40.949376Z  INFO main.async_main: Request migration enabled (limit: 3)   ";
    let event = text(line);
    assert_eq!((event.kind.name, word(&event, "target")), ("migration_config", "main.async_main"));
    assert_eq!(message(&event, line), "Request migration enabled (limit: 3)");
    let line = "2026-11-29T18:06:40.949376Z DEBUG args.create_temp: MockEngineArgs: {'num_gpu_blocks': 256} x=1";
    let event = text(line);
    assert_eq!(word(&event, "target"), "args.create_temp", "not a span: it is none of Dynamo's");
    assert_eq!(event.get("x"), None, "Python's text has no fields");
    let line = "2026-11-29T18:06:40.949376Z  WARN mm_routing: model is not supported";
    assert_eq!(word(&text(line), "target"), "mm_routing");
}

#[test]
fn gateway_lines_are_not_dynamos() {
    for target in ["sglang_router_rs::server", "smg::core", "sglang_server"] {
        let line = format!("2026-11-29T18:06:40.949376Z  INFO {target}: started");
        assert!(!(super::super::TEXT.head)(line.as_bytes()), "{line}");
    }
    assert!(!(super::super::TEXT.head)(b"2026-11-29T18:06:40.949Z  INFO a::b: three decimals are another program's"));
}

#[test]
fn local_zone_and_colour() {
    let line = "2026-11-29T13:52:31.800431-05:00  INFO router_args.log_rejection_thresholds: busy-worker rejection disabled: no threshold";
    let event = text(line);
    assert_eq!(event.kind.name, "rejection_config");
    assert_eq!(event.stamp.map(|s| s.ns), Some(1_795_978_351_800_431_000));
    let coloured = "\x1b[2m2026-11-29T18:11:03.552482Z\x1b[0m \x1b[33m WARN\x1b[0m \x1b[2mdynamo_kv_router::sequences::multi_worker\x1b[0m\x1b[2m:\x1b[0m Adding worker WorkerWithDpRank { worker_id: 16764420740253164019, dp_rank: 0 }\n";
    let layout = Layout { formats: crate::FORMATS.to_vec(), ..Layout::default() };
    let mut reader = Reader::new(coloured.as_bytes(), 0, &layout);
    let record = reader.next().unwrap();
    let mut event = Event::new(&crate::text::kinds::TEXT);
    assert_eq!(record.parse(&mut event), Outcome::Parsed);
    assert_eq!(event.kind.name, "worker_added");
    assert_eq!(ids(&event, IdKind::WorkerId), ["16764420740253164019"]);
}

/// Kinds and payloads of the records of a source.
fn records(source: &str) -> Vec<(String, &'static str, Outcome)> {
    let mut found = Vec::new();
    super::captures::each(source.as_bytes(), |payload, event, outcome| {
        found.push((String::from_utf8_lossy(payload).into_owned(), event.kind.name, outcome.clone()));
    });
    found
}

#[test]
fn torn_lines_are_cut_and_quoted_ones_are_not() {
    let whole = "2026-11-29T18:06:46.870571Z  INFO dynamo_llm::http::service::metrics: request received request_id=16d0d70e-0a5c-4646-85ec-d74145ed9770 model=tiny";
    let torn = format!("{}{whole}\n", &whole[..100]);
    let found = records(&torn);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1].0, whole);
    let coloured = format!(
        "{}\x1b[2m2026-11-29T18:06:46.870571Z\x1b[0m \x1b[32m INFO\x1b[0m \x1b[2mdynamo_llm::x\x1b[0m\x1b[2m:\x1b[0m hello\n",
        &whole[..100]
    );
    let found = records(&coloured);
    assert_eq!((found.len(), found[1].0.as_str()), (2, "2026-11-29T18:06:46.870571Z  INFO dynamo_llm::x: hello"), "{found:?}");
    let json = r#"{"time":"2026-11-29T18:05:44.169713Z","level":"INFO","target":"log","message":"x","log.target":"a.b"}"#;
    let found = records(&format!("{}{json}\n", &json[..60]));
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0].2.clone(), found[1].1), (Outcome::Unparsed("truncated JSON"), "dynamo_python"));
    for quoted in [
        format!("2026-11-29T18:06:46.870571Z  INFO relay.run: worker said \"{whole}\"\n"),
        format!("2026-11-29T18:06:46.870571Z  INFO relay.run: worker said: {whole}\n"),
        "2026-11-29T18:06:46.870571Z  INFO relay.run: from 2026-11-29T18:06:46.870571Z on\n".to_owned(),
        format!("{}\n", json.replace("\"x\"", &format!("{{\"inner\":{json}}}"))),
        format!("2026-11-29T18:06:46.870571Z  INFO relay.run: got {json}\n"),
    ] {
        assert_eq!(records(&quoted).len(), 1, "{quoted}");
    }
}

#[test]
fn other_lines_between_records() {
    let source = concat!(
        "2026-11-29T18:06:46.870571Z ERROR dynamo_runtime::pipeline::network::tcp::client: failed to join writer task: I/O error: Broken pipe (os error 32)\n",
        "\n",
        "Caused by:\n",
        "    Broken pipe (os error 32)\n",
        "{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"tool_start\",\"event_time_unix_ms\":1795978357846,\"tool\":{\"tool_call_id\":\"c\"}}\n",
        "INFO 11-29 18:05:44 [scheduler.py:123] a line of vLLM\n",
        "{\"time\":\"2026-11-29T18:05:44.169713Z\",\"level\":\"INFO\",\"target\":\"log\",\"message\":\"x\",\"log.target\":\"a.b\"}\n",
    );
    let found = records(source);
    let kinds: Vec<_> = found.iter().map(|f| f.1).collect();
    assert_eq!(kinds, ["request_plane", "tool_start", "text", "dynamo_python"], "{found:?}");
    assert!(found[0].0.ends_with("Broken pipe (os error 32)"));
}

#[test]
fn a_truncated_record_says_what_it_can_and_hides_its_body() {
    let line = r#"{"time":"2026-11-29T18:45:32.283289Z","level":"WARN","target":"dynamo_llm::audit","message":"audit","log_type":"audit","request_id":"79fdee06-0565-44c7-930e-2e239c2f9e11","record":"{\"schema_version\":1,\"request\":{\"messages\":[{\"content\":\"secret wo"#;
    let layout = Layout { formats: crate::FORMATS.to_vec(), ..Layout::default() };
    let mut reader = Reader::new(line.as_bytes(), 0, &layout);
    let record = reader.next().unwrap();
    let mut event = Event::new(&crate::text::kinds::TEXT);
    assert_eq!(record.parse(&mut event), Outcome::Unparsed("truncated JSON"));
    assert_eq!((event.kind.name, event.level), ("text", Some(Level::Warn)));
    assert!(event.stamp.is_some());
    assert_eq!(ids(&event, IdKind::RequestId), ["79fdee06-0565-44c7-930e-2e239c2f9e11"]);
    let at = line.find("secret").unwrap();
    assert!(event.withheld.iter().any(|w| w.why == Secret::Body && w.span.start <= at && w.span.end == line.len()));
}

#[test]
fn audit_line_in_text_and_jsonl() {
    let record = r#"{"schema_version":1,"request_id":"9dabd612-c7a7-4897-8636-47e8d3559086","requested_streaming":false,"model":"tiny","request":{"messages":[{"role":"user","content":"secret a=b c=d"}],"model":"tiny","max_tokens":4},"response":{"id":"chatcmpl-9dabd612-c7a7-4897-8636-47e8d3559086","choices":[{"index":0,"message":{"content":"secret"},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}}"#;
    let line = format!(
        "2026-11-29T18:37:32.510092Z  INFO dynamo_llm::audit::sink: audit target=\"dynamo_llm::audit\" log_type=\"audit\" record={record}"
    );
    let json = format!(
        "{{\"time\":\"2026-11-29T18:37:32.510092Z\",\"level\":\"INFO\",\"target\":\"dynamo_llm::audit::sink\",\"message\":\"audit\",\"log_type\":\"audit\",\"record\":{}}}",
        serde_json::to_string(record).unwrap()
    );
    for (event, line) in [(text(&line), &line), (jsonl(&json), &json)] {
        assert_eq!(event.kind.name, "audit_record");
        assert_eq!(ids(&event, IdKind::RequestId), ["9dabd612-c7a7-4897-8636-47e8d3559086"]);
        assert_eq!(event.get("usage_prompt_tokens"), Some(&Value::Int(9)));
        assert_eq!(word(&event, "finish_reason"), "length");
        for (at, _) in line.match_indices("secret") {
            assert!(event.withheld.iter().any(|w| w.span.contains(&at) && w.span.end <= line.len()), "at {at}");
        }
        for field in &event.fields {
            assert!(!matches!(&field.value, Value::Str(t) if t.contains("secret")), "{field:?}");
        }
    }
}

#[test]
fn printed_requests_and_credentials_are_withheld() {
    let line = "2026-11-29T18:37:32.510092Z TRACE dynamo_llm::http::service::openai: Received chat completions request: NvCreate { messages: [\"my words x=1\"] }";
    let event = text(line);
    assert_eq!(&line[event.withheld[0].span.clone()], "NvCreate { messages: [\"my words x=1\"] }");
    assert!(event.get("x").is_none());
    let line = r#"{"time":"2026-11-29T18:05:37.863454Z","level":"DEBUG","target":"log","message":"CONFIG_DUMP: {\"config\":{\"api_key\":\"sk-abc\",\"port\":18000}}","log.target":"config_dumper.dump_config"}"#;
    let event = jsonl(line);
    assert_eq!(event.kind.name, "config_dump");
    assert_eq!(event.withheld.iter().map(|w| &line[w.span.clone()]).collect::<Vec<_>>(), ["sk-abc"]);
    // A quote inside of the value, which is escaped twice; and a value that nothing closes.
    let line = r#"{"time":"2026-11-29T18:05:37.863454Z","level":"DEBUG","target":"log","message":"CONFIG_DUMP: {\"wrap_key\":\"ab\\\"cd\\\\\",\"port\":18000,\"sign_key\":\"ef\\\"gh","log.target":"config_dumper.dump_config"}"#;
    let event = jsonl(line);
    assert_eq!(event.withheld.iter().map(|w| &line[w.span.clone()]).collect::<Vec<_>>(), [r#"ab\\\"cd\\\\"#, r#"ef\\\"gh"#]);
    let line =
        r#"2026-11-29T18:05:37.863454Z DEBUG log: CONFIG_DUMP: {"wrap_key":"ab\"cd","port":18000} log.target="config_dumper.dump_config""#;
    let event = text(line);
    assert_eq!(
        (event.kind.name, event.withheld.iter().map(|w| &line[w.span.clone()]).collect::<Vec<_>>()),
        ("config_dump", vec![r#"ab\"cd"#])
    );
}

#[test]
fn duplicate_keys_are_noted() {
    let line = r#"{"time":"2026-11-29T18:05:37.863454Z","level":"INFO","target":"a::b","message":"one","message":"two","n":1,"n":2}"#;
    let event = jsonl(line);
    assert_eq!((event.note, message(&event, line)), (Some("duplicate key"), "one"));
    assert_eq!(event.get("n"), Some(&Value::Int(1)));
    assert!(!event.columnar);
}

#[test]
fn reported_workers_in_whole_and_in_part() {
    let head = "2026-11-29T18:42:51.019582Z DEBUG dynamo_llm::protocols::openai::completions::delta: Injected worker_id into ";
    let line = format!("{head}completions nvext: prefill=Some(7587899242514933769), decode=None");
    let event = text(&line);
    assert_eq!((event.kind.name, ids(&event, IdKind::WorkerId)), ("worker_reported", vec!["7587899242514933769"]));
    assert_eq!((word(&event, "prefill_worker_id"), event.get("decode_worker_id")), ("7587899242514933769", None));
    assert!(event.columnar);
    for broken in ["completions nvext: prefill=Some(7", "completions nvext: prefill=So", "other words: prefill=Some(7), decode=Some(7)"] {
        let line = format!("{head}{broken}");
        assert!(!text(&line).columnar, "{line}");
    }
}

#[test]
fn pythons_request_id() {
    let line = "2026-11-29T18:06:40.949376Z DEBUG handlers.generate: Decode Request ID: 16d0d70e-0a5c-4646-85ec-d74145ed9770";
    let event = text(line);
    assert_eq!((event.kind.name, ids(&event, IdKind::RequestId)), ("engine_request", vec!["16d0d70e-0a5c-4646-85ec-d74145ed9770"]));
}
