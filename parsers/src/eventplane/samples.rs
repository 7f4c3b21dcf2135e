//! Messages of real captures (1.2.1 and 1.6.1) with their kinds; the last is an envelope without what the subscriber noted around it.

/// One a line.
pub static EVENTS: &[(&str, &str)] = &[
    (
        r##"{"t": 1795975544.2017252, "topic": "kv-events", "nframes": 4, "publisher_id_frame": 4375519048645219, "sequence_frame": 0, "frame_version": 1, "frame_len": 280, "envelope": {"publisher_id": 4375519048645219, "sequence": 0, "published_at": 1795975544199, "topic": "kv-events", "payload": [{"worker_id": 13877594319123340093, "storage_tier": "device", "residency_domain": "worker", "event": {"event_id": 1, "data": {"stored": {"parent_hash": null, "start_position": null, "blocks": [{"block_hash": 7299830972566621386, "tokens_hash": 7299830972566621386, "mm_extra_info": null}]}}, "dp_rank": 0}}]}}"##,
        "kv_stored",
    ),
    (
        r##"{"t": 1795977932.1358542, "topic": "kv-events", "nframes": 4, "publisher_id_frame": 8613313388603507932, "sequence_frame": 0, "frame_version": 1, "frame_len": 255, "envelope": {"publisher_id": 8613313388603507932, "sequence": 0, "published_at": 1795977932133, "topic": "kv-events", "payload": {"worker_id": 8613313388603507932, "storage_tier": "device", "event": {"event_id": 1, "data": {"stored": {"parent_hash": null, "start_position": null, "blocks": [{"block_hash": 7299830972566621386, "tokens_hash": 7299830972566621386, "mm_extra_info": null}]}}, "dp_rank": 0}}}}"##,
        "kv_stored",
    ),
    (
        r##"{"t": 1795975551.2991428, "topic": "kv-events", "nframes": 4, "publisher_id_frame": 4375519048645219, "sequence_frame": 100, "frame_version": 1, "frame_len": 210, "envelope": {"publisher_id": 4375519048645219, "sequence": 100, "published_at": 1795975551298, "topic": "kv-events", "payload": [{"worker_id": 13877594319123340093, "storage_tier": "device", "residency_domain": "worker", "event": {"event_id": 110, "data": {"removed": {"block_hashes": [6606792106385507899]}}, "dp_rank": 0}}]}}"##,
        "kv_removed",
    ),
    (
        r##"{"t": 1795975562.4356823, "topic": "kv-events", "nframes": 4, "publisher_id_frame": 4375519048645219, "sequence_frame": 346, "frame_version": 1, "frame_len": 717, "envelope": {"publisher_id": 4375519048645219, "sequence": 346, "published_at": 1795975562433, "topic": "kv-events", "payload": [{"worker_id": 13877594319123340093, "storage_tier": "device", "residency_domain": "worker", "event": {"event_id": 456, "data": {"removed": {"block_hashes": [2742200129701182941, 12140538704309739766, 3497840604837601837, 7291907334904444506]}}, "dp_rank": 0}}, {"worker_id": 13877594319123340093, "storage_tier": "device", "residency_domain": "worker", "event": {"event_id": 457, "data": {"stored": {"parent_hash": 14727387412624004433, "start_position": null, "blocks": [{"block_hash": 4987343145817006853, "tokens_hash": 12462369580532142096, "mm_extra_info": null}, {"block_hash": 11921112843544282834, "tokens_hash": 3442637084196339517, "mm_extra_info": null}, {"block_hash": 436514859896809068, "tokens_hash": 17632170196096245149, "mm_extra_info": null}]}}, "dp_rank": 0}}, {"worker_id": 13877594319123340093, "storage_tier": "host_pinned", "residency_domain": "worker", "event": {"event_id": 458, "data": {"removed": {"block_hashes": [16376677536015049601, 6753931117008730066, 12298019468522477091]}}, "dp_rank": 0}}]}}"##,
        "kv_events",
    ),
    (
        r##"{"t": 1795975544.1827872, "topic": "kv_metrics", "nframes": 4, "publisher_id_frame": 2898881958886144, "sequence_frame": 0, "frame_version": 1, "frame_len": 172, "envelope": {"publisher_id": 2898881958886144, "sequence": 0, "published_at": 1795975544182, "topic": "kv_metrics", "payload": {"worker_id": 13877594319123340093, "dp_rank": 0, "active_decode_blocks": null, "active_prefill_tokens": null, "kv_used_blocks": 0}}}"##,
        "kv_metrics",
    ),
    (
        r##"{"t": 1795975544.203545, "topic": "active_sequences_events", "nframes": 4, "publisher_id_frame": 4370183346633306, "sequence_frame": 0, "frame_version": 1, "frame_len": 246, "envelope": {"publisher_id": 4370183346633306, "sequence": 0, "published_at": 1795975544202, "topic": "active_sequences_events", "payload": {"events": [{"request_id": "b784d373-44b4-4fba-ae43-92d17e6a16a5", "worker": {"worker_id": 13877594319123340093, "dp_rank": 0}, "data": "MarkPrefillCompleted", "router_id": 13877594319123340093, "lora_name": null}]}}}"##,
        "active_sequences",
    ),
    (
        r##"{"t": 1795975541.6971133, "topic": "forward-pass-metrics", "nframes": 4, "publisher_id_frame": 4059741380264007, "sequence_frame": 3, "frame_version": 1, "frame_len": 520, "envelope": {"publisher_id": 4059741380264007, "sequence": 3, "published_at": 1795975541696, "topic": "forward-pass-metrics", "payload": {"version": 1, "worker_id": "13877594319123340093", "dp_rank": 0, "counter_id": 4, "wall_time": 0.0, "scheduled_requests": {"num_prefill_requests": 0, "sum_prefill_tokens": 0, "var_prefill_length": 0.0, "sum_prefill_kv_tokens": 0, "num_decode_requests": 0, "sum_decode_kv_tokens": 0, "var_decode_kv_tokens": 0.0}, "queued_requests": {"num_prefill_requests": 0, "sum_prefill_tokens": 0, "var_prefill_length": 0.0, "num_decode_requests": 0, "sum_decode_kv_tokens": 0, "var_decode_kv_tokens": 0.0}}}}"##,
        "forward_pass",
    ),
    (
        r##"{"t": 1795978358.1478758, "topic": "agent-tool-events", "nframes": 4, "publisher_id_frame": 7592992105320092, "sequence_frame": 1, "frame_version": 1, "frame_len": 427, "envelope": {"publisher_id": 7592992105320092, "sequence": 1, "published_at": 1795978358147, "topic": "agent-tool-events", "payload": {"schema": "dynamo.request.trace.v1", "event_type": "tool_end", "event_time_unix_ms": 1795978358146, "event_source": "harness", "agent_context": {"session_id": "sess-xreq-000"}, "tool": {"tool_call_id": "call_0000", "tool_class": "web_search", "started_at_unix_ms": 1795978357846, "ended_at_unix_ms": 1795978358146, "status": "succeeded", "duration_ms": 300.0, "output_tokens": 100, "output_bytes": 512, "tool_name_hash": "abc123"}}}}"##,
        "tool_end",
    ),
    (
        r##"{"t": 1795975541.688752, "connect": "tcp://127.0.0.1:45421", "file": "namespace/dynamo/component/backend/endpoint/generate/topic/active_sequences_events/573d9fb299ea0", "discovery_json": "{\"type\":\"EventChannel\",\"scope\":{\"kind\":\"endpoint\",\"endpoint\":{\"namespace\":\"dynamo\",\"component\":\"backend\",\"name\":\"generate\"}},\"topic\":\"active_sequences_events\",\"instance_id\":1534754942459552,\"transport\":{\"kind\":\"Zmq\",\"config\":{\"endpoint\":\"tcp://127.0.0.1:45421\"}}}"}"##,
        "event_subscription",
    ),
    (
        r##"{"publisher_id":2898881958886144,"sequence":0,"published_at":1795975544182,"topic":"kv_metrics","payload":{"worker_id":13877594319123340093,"dp_rank":0,"active_decode_blocks":null,"active_prefill_tokens":null,"kv_used_blocks":0}}"##,
        "kv_metrics",
    ),
];
