//! Rows of real captures (1.2.1 to 1.6.1; the agent row has fewer hashes and fields than it had) with their kinds.

/// Request trace, in the envelope and bare.
pub static REQUEST_TRACE: &[(&str, &str)] = &[
    (
        r##"{"timestamp":10052,"event":{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":1795978361885,"request":{"request_id":"3f5cacf6-1827-45f4-8a65-e20905eb5559","input_tokens":26,"output_tokens":4,"cached_tokens":0,"request_received_ms":1795978361816,"prefill_wait_time_ms":0.942442,"prefill_time_ms":32.235571,"ttft_ms":33.178013,"total_time_ms":69.255117,"avg_itl_ms":12.025701333333332,"kv_hit_rate":0.0,"queue_depth":0,"worker":{"prefill_worker_id":5779057425229993130,"prefill_dp_rank":0,"decode_worker_id":5779057425229993130,"decode_dp_rank":0},"replay":{"trace_block_size":16,"input_length":26,"input_sequence_hashes":[3218096442168831472,4067876701546093923]}}}}"##,
        "request_end",
    ),
    (
        r##"{"timestamp":9569,"event":{"schema":"dynamo.request.trace.v1","event_type":"request_payload","event_time_unix_ms":1795975674945,"event_source":"dynamo","payload":{"request_id":"ac97b44f-3247-4522-9e40-e9e866c3031c","endpoint":"openai.chat_completion","model":"tiny","request":{"messages":[{"role":"user","content":"dup id 1"}],"model":"tiny","max_tokens":4},"response":{"id":"chatcmpl-ac97b44f-3247-4522-9e40-e9e866c3031c","choices":[{"index":0,"message":{"content":" ostloment miingment loquidan rentuost","refusal":null,"role":"assistant"},"finish_reason":"length","logprobs":null}],"created":1795975674,"model":"tiny","object":"chat.completion","usage":{"prompt_tokens":25,"completion_tokens":4,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0}}},"payload_complete":true}}}"##,
        "request_payload",
    ),
    (
        r##"{"timestamp":6314,"event":{"schema":"dynamo.request.trace.v1","event_type":"tool_end","event_time_unix_ms":1795978358146,"event_source":"harness","agent_context":{"session_id":"sess-xreq-000"},"tool":{"tool_call_id":"call_0000","tool_class":"web_search","started_at_unix_ms":1795978357846,"ended_at_unix_ms":1795978358146,"status":"succeeded","duration_ms":300.0,"output_tokens":100,"output_bytes":512,"tool_name_hash":"abc123"}}}"##,
        "tool_end",
    ),
    (
        r##"{"timestamp":10337,"event":{"schema":"dynamo.request.trace.v1","event_type":"tool_error","event_time_unix_ms":1795978362170,"event_source":"harness","agent_context":{"session_id":"sess-xreq-008"},"tool":{"tool_call_id":"call_0004","tool_class":"web_search","started_at_unix_ms":1795978361870,"ended_at_unix_ms":1795978362170,"status":"error","duration_ms":300.0,"error_type":"TimeoutError"}}}"##,
        "tool_error",
    ),
    (
        r##"{"timestamp":6013,"event":{"schema":"dynamo.request.trace.v1","event_type":"tool_start","event_time_unix_ms":1795978357846,"event_source":"harness","agent_context":{"session_id":"sess-xreq-000"},"tool":{"tool_call_id":"call_0000","tool_class":"web_search","started_at_unix_ms":1795978357846,"status":"running"}}}"##,
        "tool_start",
    ),
    (
        r##"{"schema":"dynamo.request.trace.v1","event_type":"tool_start","event_time_unix_ms":1795978357846,"event_source":"harness","agent_context":{"session_id":"sess-xreq-000"},"tool":{"tool_call_id":"call_0000","tool_class":"web_search","started_at_unix_ms":1795978357846,"status":"running"}}"##,
        "tool_start",
    ),
];

/// Agent trace.
pub static AGENT_TRACE: &[(&str, &str)] = &[(
    r##"{"timestamp":13255,"event":{"schema":"dynamo.agent.trace.v1","event_type":"request_end","event_time_unix_ms":1795977933688,"event_source":"dynamo","agent_context":{"session_type_id":"load_test","session_id":"sess-claude-004","trajectory_id":"sess-claude-004:t0"},"request":{"request_id":"3bd06470-dda9-4164-9fd1-8864e11bf35d","x_request_id":"xr-004-0-39d9e058","model":"tiny","input_tokens":175,"output_tokens":40,"cached_tokens":128,"request_received_ms":1795977933194,"ttft_ms":41.344711,"total_time_ms":493.99724699999996,"kv_hit_rate":0.7272727272727273,"queue_depth":0,"worker":{"prefill_worker_id":8613313388603507932,"prefill_dp_rank":0,"decode_worker_id":8613313388603507932,"decode_dp_rank":0},"replay":{"trace_block_size":16,"input_length":175,"input_sequence_hashes":[9299302883729735922,1044045816025896159]}}}}"##,
    "request_end",
)];

/// Audit, in the envelope and bare.
pub static AUDIT: &[(&str, &str)] = &[
    (
        r##"{"timestamp":15166,"event":{"schema_version":1,"request_id":"fed48624-5d9f-4a3e-9ce4-6cad663d5624","requested_streaming":false,"model":"/opt/lab/model/tiny-llm","request":{"messages":[{"role":"user","content":"dup id 1"}],"model":"/opt/lab/model/tiny-llm","max_tokens":4},"response":{"id":"chatcmpl-fed48624-5d9f-4a3e-9ce4-6cad663d5624","choices":[{"index":0,"message":{"content":" tumishashavor ingingostost danlolo","role":"assistant","reasoning_content":null},"finish_reason":"length","logprobs":null}],"created":1795977935,"model":"/opt/lab/model/tiny-llm","service_tier":null,"system_fingerprint":null,"object":"chat.completion","usage":{"prompt_tokens":25,"completion_tokens":4,"total_tokens":29}}}}"##,
        "audit_record",
    ),
    (
        r##"{"schema_version":1,"request_id":"fed48624-5d9f-4a3e-9ce4-6cad663d5624","requested_streaming":false,"model":"/opt/lab/model/tiny-llm","request":{"messages":[{"role":"user","content":"dup id 1"}],"model":"/opt/lab/model/tiny-llm","max_tokens":4},"response":{"id":"chatcmpl-fed48624-5d9f-4a3e-9ce4-6cad663d5624","choices":[{"index":0,"message":{"content":" tumishashavor ingingostost danlolo","role":"assistant","reasoning_content":null},"finish_reason":"length","logprobs":null}],"created":1795977935,"model":"/opt/lab/model/tiny-llm","service_tier":null,"system_fingerprint":null,"object":"chat.completion","usage":{"prompt_tokens":25,"completion_tokens":4,"total_tokens":29}}}"##,
        "audit_record",
    ),
];
