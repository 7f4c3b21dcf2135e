//! Real records of each kind: a smoke response, clients of SGLang and Dynamo, probes, scrapes, a load generator, event planes, a timeline.

/// (record, kind)
pub static JSON: &[(&str, &str)] = &[
    (
        r#"{"id": "chatcmpl-edf9ed01-3219-4585-a510-233214f462c1", "choices": [{"index": 0, "message": {"content": " loquiablevor kapreost ostabletu vorpelvor mentablemi quiloconpel belerka ostingalcon ostmial tiondanpel mimidan tumenttusha quiablealloost ableabletion danquicon", "refusal": null, "role": "assistant"}, "finish_reason": "length", "logprobs": null}], "created": 1795978472, "model": "tiny", "object": "chat.completion", "usage": {"prompt_tokens": 41, "completion_tokens": 16, "total_tokens": 57}}"#,
        "chat_response",
    ),
    (
        r#"{"phase": "profiling", "session": "sess-000", "i": 0, "turn": 0, "x_request_id": "b20f2ac2-2998-464f-8b17-ea989a76a9e9", "start_ns": 1795978479301136846, "max_tokens": 8, "prompt_chars": 826, "status": 200, "response_id": "chatcmpl-6c978efe-1b6b-4ad3-b184-55f97f7893d3", "nvext": {"worker_id": {"prefill_worker_id": 8225263693429224768, "prefill_dp_rank": 0, "decode_worker_id": 8225263693429224768, "decode_dp_rank": 0}, "timing": {"request_received_ms": 1795978479305, "prefill_wait_time_ms": 2.5878720000000004, "prefill_time_ms": 32.561285000000005, "ttft_ms": 35.149157, "total_time_ms": 79.92556400000001, "kv_hit_rate": 0.0, "router_queue_depth": 0}}, "finish_reason": "length", "usage": {"prompt_tokens": 187, "completion_tokens": 8, "total_tokens": 195}, "done": true, "first_token_ns": 1795978479345135645, "end_ns": 1795978479388222879, "content_chunks": 8, "content_chars": 86}"#,
        "client_request",
    ),
    (
        r#"{"n": 7, "target": "31060", "endpoint": "/generate", "kind": "turn", "session": "sja5", "turn": 0, "rid": "sja5-t0", "stream": false, "req_headers": {"x-request-id": "xr-sja5-t0", "x-smg-routing-key": "sja5"}, "t_start": 1795978169.02672, "status": 200, "resp_headers": {"Vary": "Origin"}, "t_end": 1795978169.1895504, "cached_tokens": 0, "prompt_tokens": 95, "completion_tokens": 25, "finish_reason": {"type": "length", "length": 25}, "meta_info": {"id": "sja5-t0", "finish_reason": {"type": "length", "length": 25}, "prompt_tokens": 95, "weight_version": "default", "total_retractions": 0, "queue_time": 0.0005229319999671134, "prefill_launch_delay": 0.0004211610003039823, "prefill_launch_latency": 0.012860306999755267, "prefill_finished_ts": 1795978169.0671997, "completion_tokens": 25, "cached_tokens": 0, "cached_tokens_details": null, "e2e_latency": 0.14750218391418457, "request_received_ts": 1795978169.0386603, "request_sent_to_scheduler_ts": 1795978169.0390623, "decode_finished_ts": 1795978169.1861625, "inference_time": 0.13244810400010465, "response_sent_to_client_ts": 1795978169.1868064}}"#,
        "client_request",
    ),
    (
        r#"{"target": "sglang", "t_start": 1795978162.7898202, "t_end": 1795978162.8013673, "error": "ClientConnectorError: Cannot connect to host 127.0.0.1:31060 ssl:default [Connect call failed ('127.0.0.1', 31060)]"}"#,
        "client_request",
    ),
    (
        r#"{"target": "sglang", "t_start": 1795978166.7915485, "t_end": 1795978166.8068779, "status": 200, "bytes": 24822, "content_type": "text/plain; version=0.0.4; charset=utf-8", "file": "metrics/sglang/1795978166791.prom.gz"}"#,
        "client_request",
    ),
    (r#"{"t_ns": 1795978469097605018, "event": "_start_workers_and_router:begin"}"#, "json_record"),
    (
        r#"{"kind": "otherapi", "path": "/v1/completions", "x_request_id": "xr-v1-completions", "session": "sess-other-api", "start_unix": 1795975544.0837598, "end_unix": 1795975544.2295744, "status": 200, "body": "{\"id\":\"cmpl-b784d373-44b4-4fba-ae43-92d17e6a16a5\",\"choices\":[{\"text\":\" ostshaerloablepreer kavorostbel tumentmi preingmentlo erbelal\",\"index\":0,\"finish_reason\":\"length\"}],\"created\":1795975544,\"model\":\"tiny\",\"system_fingerprint\":null,\"object\":\"text_completion\",\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":6,\"total_tokens\":22,\"prompt_tokens_details\":{\"audio_tokens\":null,\"cached_tokens\":0}}}"}"#,
        "client_request",
    ),
    (
        r#"{"ts": 1795976920.985326, "trace_id": "a6a3a4506513270e269e0d37f2a74de4", "span_id": "128b2f330c5c7fd0", "ttft": 0.5207857936998581, "worker_id": "7587890", "status": "success"}"#,
        "json_record",
    ),
    (
        r#"{"fields":{"dp_rank":"0","dynamo_request_id":"edf9ed01-3219-4585-a510-233214f462c1","method":"POST","model":"tiny","overlap_blocks":"0","request_id":"0f35ccbd-d2bc-4f66-a7e9-8f1795bdc41d","total_blocks":"3","uri":"/v1/chat/completions","version":"HTTP/1.1","worker_id":"17455822474245500398"},"kind":"routing_decision","raw":"\u001b[2m2026-11-29T18:54:32.147213Z\u001b[0m \u001b[34mDEBUG\u001b[0m \u001b[1mhttp-request\u001b[0m:\u001b[1mkv_router.select_worker\u001b[0m: \u001b[2mdynamo_llm::kv_router::routing_host::kv_selection\u001b[0m\u001b[2m:\u001b[0m [ROUTING] Best: worker_17455822474245500398 dp_rank=0 with 0/3 blocks overlap \u001b[3mrequest_id\u001b[0m\u001b[2m=\u001b[0medf9ed01-3219-4585-a510-233214f462c1 \u001b[3mworker_id\u001b[0m\u001b[2m=\u001b[0m17455822474245500398 \u001b[3mdp_rank\u001b[0m\u001b[2m=\u001b[0m0 \u001b[3moverlap_blocks\u001b[0m\u001b[2m=\u001b[0m0 \u001b[3mtotal_blocks\u001b[0m\u001b[2m=\u001b[0m3 \u001b[2m\u001b[3mmethod\u001b[0m\u001b[2m=\u001b[0mPOST \u001b[3muri\u001b[0m\u001b[2m=\u001b[0m/v1/chat/completions \u001b[3mversion\u001b[0m\u001b[2m=\u001b[0mHTTP/1.1 \u001b[3mrequest_id\u001b[0m\u001b[2m=\u001b[0m0f35ccbd-d2bc-4f66-a7e9-8f1795bdc41d \u001b[3mmodel\u001b[0m\u001b[2m=\u001b[0m\"tiny\"\u001b[0m","request_id":"0f35ccbd-d2bc-4f66-a7e9-8f1795bdc41d","source":"dynamo_router","timestamp_ns":1795978472147213000,"worker_index":null,"worker_role":null}"#,
        "json_record",
    ),
];
