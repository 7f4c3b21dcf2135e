//! Every message that Dynamo is known to write, in readable text and in JSONL: kind, ids, and the values that its text carries.

use crate::event::{Event, Outcome, Value};
use crate::format::Format;

const W: &str = "13877594319123340093";
const R: &str = "16d0d70e-0a5c-4646-85ec-d74145ed9770";

/// One message: level and target, text with `{W}` and `{R}` for a worker and a request, fields, and what it must give
/// (kind, ids as `request_id=…`, `worker_id=…`, values as `name=value`).
struct Line {
    at: (&'static str, &'static str),
    text: &'static str,
    fields: &'static [(&'static str, &'static str)],
    kind: &'static str,
    gives: &'static [&'static str],
}

const fn line(
    at: (&'static str, &'static str),
    text: &'static str,
    fields: &'static [(&'static str, &'static str)],
    kind: &'static str,
    gives: &'static [&'static str],
) -> Line {
    Line { at, text, fields, kind, gives }
}

const METRICS: &str = "dynamo_llm::http::service::metrics";
const SERVICE: &str = "dynamo_llm::http::service::service_v2";
const OLD: &str = "dynamo_llm::kv_router::scheduler";
const SELECTOR: &str = "dynamo_kv_router::scheduling::selector";
const QUEUE: &str = "dynamo_kv_router::scheduling::queue";
const HANDLER: &str = "dynamo_runtime::pipeline::network::ingress::push_handler";
const EGRESS: &str = "dynamo_runtime::pipeline::network::egress::push_router";
const SEQUENCES: &str = "dynamo_kv_router::sequences::multi_worker";
const MONITOR: &str = "dynamo_llm::discovery::worker_monitor";
const PREFILL: &str = "dynamo_llm::kv_router::prefill_router";
const LEADER: &str = "_core::block_manager::vllm::connector::leader";
const SLOT: &str = "_core::block_manager::vllm::connector::leader::slot";
const WORKER: &str = "_core::block_manager::vllm::connector::worker";
const STATS: &str = "_core::block_manager::cache_stats";

const ID: &[(&str, &str)] = &[("request_id", "{R}")];
const OP: &[(&str, &str)] = &[("request_id", "{R}"), ("operation_id", "9d968efd-0c48-49c5-b7d8-958bfceab55a")];

static LINES: &[Line] = &[
    // 2.1
    line(
        ("INFO", METRICS),
        "request received",
        &[("request_id", "{R}"), ("model", "tiny"), ("endpoint", "completions"), ("request_type", "unary")],
        "request_received",
        &["request_id={R}", "model=tiny", "endpoint=completions", "request_type=unary"],
    ),
    line(
        ("INFO", METRICS),
        "request completed",
        &[
            ("request_id", "{R}"),
            ("status", "success"),
            ("elapsed_ms", "57"),
            ("input_tokens", "16"),
            ("output_tokens", "6"),
            ("ttft_ms", "26.31"),
            ("avg_itl_ms", "5.3"),
            ("prefill_worker_id", "{W}"),
            ("decode_worker_id", "{W}"),
        ],
        "request_completed",
        &[
            "request_id={R}",
            "worker_id={W}",
            "status=success",
            "elapsed_ms=57",
            "input_tokens=16",
            "output_tokens=6",
            "ttft_ms=26.31",
            "avg_itl_ms=5.3",
            "prefill_worker_id={W}",
            "decode_worker_id={W}",
        ],
    ),
    line(
        ("ERROR", METRICS),
        "request completed",
        &[("request_id", "{R}"), ("status", "error"), ("error_type", "overload"), ("elapsed_ms", "0")],
        "request_completed",
        &["request_id={R}", "error_type=overload"],
    ),
    line(
        ("INFO", SERVICE),
        "http response sent",
        &[("status", "200"), ("latency_ms", "53")],
        "http_response",
        &["status=200", "latency_ms=53"],
    ),
    line(("DEBUG", SERVICE), "request completed", &[("status", "200"), ("latency_ms", "53")], "http_response", &["status=200"]),
    line(
        ("WARN", SERVICE),
        "request completed with client request error",
        &[("status", "404"), ("latency_ms", "0")],
        "http_response",
        &["status=404"],
    ),
    line(
        ("ERROR", SERVICE),
        "request completed with server error",
        &[("status", "503"), ("latency_ms", "0")],
        "http_response",
        &["status=503"],
    ),
    line(("ERROR", "tower_http::trace::on_failure"), "response failed", &[("latency", "1 ms")], "http_response_failed", &[]),
    line(
        ("WARN", "dynamo_llm::http::service::disconnect"),
        "Stream closed unexpectedly; issuing cancellation",
        &[],
        "client_disconnect",
        &[],
    ),
    line(
        ("WARN", "dynamo_llm::http::service::disconnect"),
        "Connection closed unexpectedly; issuing cancellation",
        &[],
        "client_disconnect",
        &[],
    ),
    line(
        ("ERROR", "dynamo_llm::http::service::disconnect"),
        "Semantic streaming failure",
        &[("request_id", "{R}"), ("class", "a"), ("reason", "b"), ("diagnostic", "c")],
        "stream_failure",
        &["request_id={R}", "class=a", "reason=b", "diagnostic=c"],
    ),
    // 2.2, by version
    line(
        ("INFO", OLD),
        "Formula for worker_id={W} dp_rank=0 with 3 cached blocks: 2.000 = 1.0 * prefill_blocks + decode_blocks = 1.0 * 1.000 + 1.000",
        &[],
        "routing_formula",
        &["worker_id={W}", "dp_rank=0", "cached_blocks=3", "logit=2"],
    ),
    line(
        ("INFO", OLD),
        "Selected worker: worker_id={W} dp_rank=0, logit: 2.000, cached blocks: 4, total blocks: 256",
        &[],
        "worker_selected",
        &["worker_id={W}", "dp_rank=0", "logit=2", "cached_blocks=4", "total_blocks=256"],
    ),
    line(
        ("INFO", OLD),
        "Selected worker: WorkerWithDpRank { worker_id: {W}, dp_rank: 1 }, logit: 2.500, cached blocks: 4, total blocks: 256",
        &[],
        "worker_selected",
        &["worker_id={W}", "dp_rank=1", "logit=2.5", "cached_blocks=4"],
    ),
    line(
        ("INFO", OLD),
        "Selected worker: worker_id={W} dp_rank=0, logit: 2.000, cached blocks: 4, tree size: 77, total blocks: 256",
        &[],
        "worker_selected",
        &["worker_id={W}", "cached_blocks=4", "tree_size=77", "total_blocks=256"],
    ),
    line(("DEBUG", OLD), "Multiple workers tied with same logit, using tree size as tie-breaker", &[], "routing_tie", &[]),
    line(
        ("INFO", SELECTOR),
        "Selected worker: worker_type=decode, worker_id={W} dp_rank=0, logit: 1.5, effective cached blocks: 2.75, host_pinned blocks: 1, disk blocks: 2, total blocks: 9",
        &[],
        "worker_selected",
        &[
            "worker_id={W}",
            "worker_type=decode",
            "logit=1.5",
            "effective_cached_blocks=2.75",
            "host_pinned_blocks=1",
            "disk_blocks=2",
            "total_blocks=9",
        ],
    ),
    line(
        ("INFO", SELECTOR),
        "Selected worker",
        &[
            ("router_mode", "kv"),
            ("request_id", "{R}"),
            ("worker_id", "{W}"),
            ("worker_type", "decode"),
            ("dp_rank", "Some(0)"),
            ("logit", "2.0"),
            ("host_pinned_blocks", "0"),
            ("disk_blocks", "0"),
        ],
        "worker_selected",
        &["request_id={R}", "worker_id={W}", "router_mode=kv", "dp_rank=0", "logit=2", "host_pinned_blocks=0"],
    ),
    line(
        ("INFO", EGRESS),
        "Selected worker",
        &[("router_mode", "round-robin"), ("worker_id", "{W}"), ("candidate_count", "2")],
        "worker_selected",
        &["worker_id={W}", "router_mode=round-robin", "candidate_count=2"],
    ),
    line(
        ("INFO", EGRESS),
        "Selected worker",
        &[("router_mode", "least-loaded"), ("worker_id", "{W}"), ("load", "3")],
        "worker_selected",
        &["worker_id={W}", "load=3"],
    ),
    line(
        ("DEBUG", "dynamo_kv_router::scheduling::selector::reference"),
        "Formula for worker_id={W} dp_rank=0 with 2.25 effective cached blocks: 1.000 = prefill_load_scale * adjusted_prefill_blocks + decode_blocks",
        ID,
        "routing_formula",
        &["worker_id={W}", "effective_cached_blocks=2.25", "logit=1"],
    ),
    line(
        ("DEBUG", "dynamo_llm::kv_router::push_router"),
        "[ROUTING] Best: worker_{W} dp_rank=0 with 2/5 blocks overlap",
        ID,
        "route_decision",
        &["worker_id={W}", "request_id={R}", "overlap_blocks=2", "total_blocks=5", "dp_rank=0"],
    ),
    line(
        ("DEBUG", "dynamo_llm::kv_router"),
        "[ROUTING_INPUT] request local hashes",
        &[("request_id", "{R}"), ("isl_tokens", "32"), ("block_size", "16"), ("num_blocks", "2")],
        "routing_input",
        &["request_id={R}", "isl_tokens=32", "block_size=16", "num_blocks=2"],
    ),
    line(
        ("DEBUG", "dynamo_kv_router::indexer::lower_tier_indexers"),
        "Queried lower-tier indexer",
        &[("storage_tier", "HostPinned"), ("queried_workers", "2"), ("matched_workers", "1")],
        "lower_tier_lookup",
        &["storage_tier=HostPinned", "queried_workers=2", "matched_workers=1"],
    ),
    line(
        ("INFO", SELECTOR),
        "Selected pinned worker: worker_type=decode, worker_id={W} dp_rank=0, logit: 1.000, effective cached blocks: 2.50",
        ID,
        "pinned_worker_selected",
        &["worker_id={W}", "request_id={R}", "worker_type=decode", "logit=1", "effective_cached_blocks=2.5"],
    ),
    line(
        ("INFO", SELECTOR),
        "Router selected a worker with lower KV cache overlap",
        &[("request_id", "{R}"), ("selected_worker_id", "{W}")],
        "lower_overlap_selected",
        &["request_id={R}", "worker_id={W}"],
    ),
    line(
        ("DEBUG", "dynamo_kv_router::services::selection::affinity"),
        "Session affinity hit: reusing pinned worker",
        &[("session_id", "s1"), ("worker_id", "{W}"), ("dp_rank", "0"), ("active_leases", "1")],
        "session_affinity",
        &["session=s1", "worker_id={W}", "active_leases=1"],
    ),
    line(
        ("DEBUG", "dynamo_kv_router::services::selection::affinity"),
        "session affinity miss: new session, pinning after worker selection",
        &[("session_id", "s1")],
        "session_affinity",
        &["session=s1"],
    ),
    line(
        ("INFO", QUEUE),
        "refreshed overlap scores after long queue wait",
        &[("request_id", "{R}"), ("wait_ms", "120")],
        "overlap_refresh",
        &["request_id={R}", "wait_ms=120"],
    ),
    line(("WARN", QUEUE), "scheduling failed: all eligible workers are overloaded", &[], "scheduling_overloaded", &[]),
    // 2.3
    line(
        ("INFO", "request_span"),
        "route request completed",
        &[
            ("request.outcome", "success"),
            ("request_id", "{R}"),
            ("worker_id", "{W}"),
            ("overlap_blocks", "0"),
            ("phase", "Prefill"),
            ("request.attempt", "1"),
            ("migration.is_retry", "true"),
        ],
        "route_completed",
        &["request_id={R}", "worker_id={W}", "request_outcome=success", "phase=Prefill", "request_attempt=1", "migration_is_retry=true"],
    ),
    line(
        ("INFO", "request_span"),
        "route request cancelled",
        &[("request.outcome", "cancelled"), ("cancellation.signal", "stream_drop"), ("worker_id", "{W}")],
        "route_cancelled",
        &["worker_id={W}", "cancellation_signal=stream_drop"],
    ),
    line(
        ("WARN", "request_span"),
        "route request failed",
        &[("request.outcome", "error"), ("error.type", "disconnected"), ("worker_id", "{W}")],
        "route_failed",
        &["worker_id={W}", "error_type=disconnected"],
    ),
    line(
        ("INFO", "request_span"),
        "migration retry scheduled",
        &[
            ("request_id", "{R}"),
            ("request.attempt", "1"),
            ("migration.reason", "disconnected"),
            ("migration.from_worker_id", "{W}"),
            ("migration.tokens_completed", "3"),
        ],
        "migration_retry",
        &[
            "request_id={R}",
            "worker_id={W}",
            "migration_from_worker_id={W}",
            "migration_reason=disconnected",
            "migration_tokens_completed=3",
        ],
    ),
    line(("WARN", "request_span"), "migration retries exhausted", ID, "migration_exhausted", &["request_id={R}"]),
    line(("INFO", "request_span"), "request cancelled before worker dispatch", ID, "request_cancellation", &["request_id={R}"]),
    line(
        ("INFO", "request_span"),
        "request cancellation received",
        &[("cancellation.signal", "kill"), ("cancellation.source", "upstream"), ("request_id", "{R}")],
        "request_cancellation",
        &["request_id={R}", "cancellation_signal=kill", "cancellation_source=upstream"],
    ),
    line(("WARN", "dynamo_llm::migration"), "Stream disconnected, recreating stream", &[("error", "x")], "migration", &["error=x"]),
    line(("WARN", "dynamo_llm::migration"), "Stream disconnected... recreating stream...", &[], "migration", &[]),
    line(
        ("INFO", "dynamo_llm::migration"),
        "Creating new stream, retrying",
        &[("error", "CannotConnect: instance_id {W} not found")],
        "migration",
        &[],
    ),
    line(
        ("WARN", "dynamo_llm::migration"),
        "Cannot recreate stream",
        &[("error", "Request {R} already exists (assigned to worker WorkerWithDpRank { worker_id: {W}, dp_rank: 0 })")],
        "migration",
        &["request_id={R}", "worker_id={W}"],
    ),
    line(("WARN", "dynamo_llm::migration"), "Cannot recreate stream: Migration limit exhausted", &[], "migration_exhausted", &[]),
    line(
        ("DEBUG", "dynamo_llm::migration"),
        "n>1 request: migration disabled - per-choice generation state is not tracked",
        &[],
        "migration_config",
        &[],
    ),
    line(("DEBUG", "dynamo_llm::migration"), "Guided-decoding request: migration disabled", &[], "migration_config", &[]),
    line(("DEBUG", "dynamo_llm::migration"), "model tiny migration limit 3 max_seq_len Some(1)", &[], "migration_config", &[]),
    line(
        ("ERROR", "dynamo_llm::protocols::common::timing"),
        "Conflicting request tracker write",
        &[("field", "decode_worker_id"), ("existing", "7"), ("new", "{W}"), ("request_id", "{R}")],
        "tracker_conflict",
        &["request_id={R}", "worker_id=7", "worker_id={W}", "existing=7", "new={W}"],
    ),
    line(
        ("WARN", QUEUE),
        "Failed to add request {R}: Request {R} already exists (assigned to worker WorkerWithDpRank { worker_id: {W}, dp_rank: 0 })",
        &[],
        "booking_conflict",
        &["request_id={R}", "worker_id={W}"],
    ),
    line(
        ("WARN", "dynamo_llm::kv_router::push_router"),
        "Failed to mark prefill completed for request {R}: Request {R} not found",
        &[],
        "booking_conflict",
        &["request_id={R}"],
    ),
    line(("DEBUG", "dynamo_runtime::component::client"), "inhibiting instance {W}", &[], "instance_inhibited", &["worker_id={W}"]),
    line(("DEBUG", EGRESS), "Reporting instance {W} down due to stream error: gone", &[], "instance_down", &["worker_id={W}"]),
    line(("DEBUG", EGRESS), "Marking instance {W} overloaded due to backpressure: full", &[], "overload_changed", &["worker_id={W}"]),
    // 2.4
    line(
        ("INFO", HANDLER),
        "request received",
        &[("request_id", "{R}"), ("component", "backend"), ("endpoint", "generate"), ("namespace", "dynamo"), ("instance_id", "{W}")],
        "worker_request_received",
        &["request_id={R}", "worker_id={W}", "component=backend", "endpoint=generate", "namespace=dynamo"],
    ),
    line(
        ("INFO", HANDLER),
        "request completed",
        &[("request_id", "{R}"), ("endpoint", "generate"), ("instance_id", "{W}")],
        "worker_request_completed",
        &["request_id={R}", "worker_id={W}"],
    ),
    line(("WARN", HANDLER), "Failed to publish response for stream {R}", &[], "worker_publish_failed", &["request_id={R}"]),
    line(("ERROR", HANDLER), "Failed to publish complete final for stream {R}", &[], "worker_publish_failed", &["request_id={R}"]),
    line(
        ("WARN", "dynamo_runtime::pipeline::network::ingress::shared_tcp_endpoint"),
        "Worker at capacity (engine + queue full), rejecting request",
        &[],
        "worker_at_capacity",
        &[],
    ),
    line(("DEBUG", "decode_handler.generate"), "Decode Request ID: {R}", &[], "engine_request", &["request_id={R}"]),
    // 2.5
    line(
        ("WARN", "dynamo_llm::kv_router::sequence"),
        "Adding worker WorkerWithDpRank { worker_id: {W}, dp_rank: 0 }",
        &[],
        "worker_added",
        &["worker_id={W}", "dp_rank=0"],
    ),
    line(
        ("WARN", "dynamo_kv_router::multi_worker_sequence"),
        "Removing worker WorkerWithDpRank { worker_id: {W}, dp_rank: 0 }",
        &[],
        "worker_removed",
        &["worker_id={W}"],
    ),
    line(
        ("WARN", SEQUENCES),
        "Removing worker WorkerWithDpRank { worker_id: {W}, dp_rank: 2 }",
        &[],
        "worker_removed",
        &["worker_id={W}", "dp_rank=2"],
    ),
    line(
        ("DEBUG", SEQUENCES),
        "Registering worker WorkerWithDpRank { worker_id: {W}, dp_rank: 0 }",
        &[],
        "worker_discovered",
        &["worker_id={W}"],
    ),
    line(
        ("ERROR", "dynamo_kv_router::sequences::single"),
        "Request {R} is already active. Ignoring duplicate add.",
        &[],
        "booking_conflict",
        &["request_id={R}"],
    ),
    line(
        ("WARN", "dynamo_llm::kv_router::subscriber"),
        "Generate endpoint instance deleted, removing worker {W}",
        &[],
        "worker_gone",
        &["worker_id={W}"],
    ),
    line(
        ("WARN", "dynamo_llm::kv_router::subscriber"),
        "DISCOVERY: Generate endpoint instance removed, removing worker",
        &[("worker_id", "{W}")],
        "worker_gone",
        &["worker_id={W}"],
    ),
    line(
        ("DEBUG", "dynamo_llm::kv_router::worker_query"),
        "WorkerQueryClient: discovered worker {W} dp_rank 1, endpoint up",
        &[],
        "worker_discovered",
        &["worker_id={W}", "dp_rank=1"],
    ),
    line(
        ("INFO", "dynamo_llm::kv_router::worker_query"),
        "Got tree dump from worker {W} dp_rank 0 (range too old), count: 5, last_event_id: 9",
        &[],
        "worker_tree_dump",
        &["worker_id={W}", "dp_rank=0"],
    ),
    line(("DEBUG", "dynamo_llm::discovery::watcher"), "Adding worker set to model", &[("model", "tiny")], "worker_set", &["model=tiny"]),
    line(
        ("INFO", "dynamo_llm::kv_router::source_health"),
        "KV event source ready",
        &[("diagnostic_code", "ok"), ("worker_id", "{W}")],
        "kv_event_source",
        &["worker_id={W}", "diagnostic_code=ok"],
    ),
    line(
        ("WARN", "dynamo_llm::kv_router::agent"),
        "KV state-agent event gap; resyncing",
        &[("publisher_id", "4"), ("expected", "5"), ("actual", "7")],
        "kv_event_source",
        &["publisher_id=4", "expected=5", "actual=7"],
    ),
    line(
        ("INFO", "dynamo_llm::kv_router::publisher"),
        "Initializing KvEventPublisher for worker {W} on serving endpoint dynamo/backend/generate",
        &[("kv_state_endpoint", "dynamo/backend/generate")],
        "event_plane",
        &["worker_id={W}"],
    ),
    line(
        ("INFO", "dynamo_llm::kv_router::publisher"),
        "LocalKvIndexer enabled for worker {W} on endpoint dynamo/backend/generate",
        &[],
        "kv_indexer",
        &["worker_id={W}"],
    ),
    // 2.6
    line(
        ("INFO", "router_args.log_rejection_thresholds"),
        "busy-worker rejection disabled: no rejection threshold is configured",
        &[],
        "rejection_config",
        &[],
    ),
    line(
        ("DEBUG", MONITOR),
        "overloaded instances changed",
        &[("free_workers", "1"), ("total_workers", "2")],
        "overload_changed",
        &["free_workers=1", "total_workers=2"],
    ),
    line(
        ("DEBUG", MONITOR),
        "processed active load update",
        &[("worker_id", "{W}"), ("dp_rank", "0"), ("total_blocks", "Some(256)")],
        "worker_load",
        &["worker_id={W}", "dp_rank=0", "total_blocks=256"],
    ),
    line(
        ("DEBUG", "dynamo_llm::mocker"),
        "published mocker load metrics",
        &[("worker_id", "{W}"), ("active_decode_blocks", "3")],
        "worker_load",
        &["worker_id={W}", "active_decode_blocks=3"],
    ),
    line(
        ("INFO", "dynamo_llm::discovery::watcher"),
        "Prefill worker detected, registering and activating prefill router",
        &[("model_name", "tiny")],
        "prefill_router",
        &["model_name=tiny"],
    ),
    line(("INFO", PREFILL), "Activating prefill router", &[], "prefill_router", &[]),
    line(("INFO", PREFILL), "Prefill router target activated", &[], "prefill_router", &[]),
    line(("DEBUG", PREFILL), "Prefill completed, proceeding to decode", ID, "prefill_completed", &["request_id={R}"]),
    line(("ERROR", PREFILL), "Remote prefill failed, failing request", ID, "prefill_failed", &["request_id={R}"]),
    line(("DEBUG", PREFILL), "Prefill router not activated, falling back to decode-only", &[], "prefill_failed", &[]),
    line(("WARN", PREFILL), "request rejected by prefill worker (at capacity)", ID, "prefill_rejected", &["request_id={R}"]),
    line(
        ("INFO", PREFILL),
        "Conditional disagg routing to decode",
        &[("request_id", "{R}"), ("worker_id", "{W}"), ("net_new_tokens", "5"), ("overlap_tokens", "7")],
        "conditional_disagg",
        &["request_id={R}", "worker_id={W}", "net_new_tokens=5", "overlap_tokens=7"],
    ),
    // 2.7
    line(
        ("DEBUG", "dynamo_kv_router::indexer::local"),
        "Recorded event RouterEvent { worker_id: {W}, storage_tier: HostPinned, residency_domain: Known(Worker), event: KvCacheEvent { event_id: 3, data: Removed(KvCacheRemoveData { block_hashes: [ExternalSequenceBlockHash(1), ExternalSequenceBlockHash(2)] }), dp_rank: 0 }, state_source: None, session_id: None } in buffer, now size is 4",
        &[],
        "kv_event_recorded",
        &["worker_id={W}", "storage_tier=HostPinned", "kv_event=removed", "blocks=2", "event_id=3", "dp_rank=0", "buffer_events=4"],
    ),
    line(
        ("DEBUG", "dynamo_kv_router::indexer"),
        "Recorded event RouterEvent { worker_id: {W}, event: KvCacheEvent { event_id: 3, data: Cleared, dp_rank: 0 } } in buffer, now size is 4",
        &[],
        "kv_event_recorded",
        &["worker_id={W}", "kv_event=cleared", "blocks=0"],
    ),
    line(
        ("TRACE", "dynamo_kv_router::indexer::kv_indexer"),
        "Applied KV event to global radix tree: event_type=stored, event_id=5, worker_id={W}, success=true, global_radix_tree_size=12",
        &[],
        "kv_event_applied",
        &["worker_id={W}", "kv_event=stored", "event_id=5", "success=true", "global_radix_tree_size=12"],
    ),
    // 2.8
    line(
        ("DEBUG", LEADER),
        "Starting cache lookup: querying 8 blocks from host/disk (num_computed_blocks=2)",
        ID,
        "kvbm_lookup",
        &["request_id={R}", "blocks=8", "num_computed_blocks=2"],
    ),
    line(("DEBUG", LEADER), "no blocks to lookup from host/disk; GPU has all blocks", ID, "kvbm_lookup", &["request_id={R}"]),
    line(("DEBUG", SLOT), "recording 32 cached device tokens", &[], "kvbm_match", &["cached_tokens=32", "tier=device"]),
    line(("DEBUG", SLOT), "recording 64 cached disk tokens", &[], "kvbm_match", &["cached_tokens=64", "tier=disk"]),
    line(
        ("DEBUG", SLOT),
        "successfully matched 3 host blocks and 1 disk blocks; 4 total blocks",
        &[],
        "kvbm_match",
        &["host_blocks=3", "disk_blocks=1", "total_blocks=4"],
    ),
    line(("DEBUG", SLOT), "on a block boundary, throwing away the last block", &[], "kvbm_match", &[]),
    line(("DEBUG", LEADER), "scheduling onboarding for 64 external tokens", ID, "kvbm_onboard", &["request_id={R}", "external_tokens=64"]),
    line(
        ("DEBUG", SLOT),
        "num_device_blocks: 2; num_external_tokens: 64",
        ID,
        "kvbm_onboard",
        &["request_id={R}", "device_blocks=2", "external_tokens=64"],
    ),
    line(("DEBUG", SLOT), "triggering onboarding for 64 external tokens", ID, "kvbm_onboard", &["external_tokens=64"]),
    line(
        ("DEBUG", SLOT),
        "start onboarding 4 blocks from Host to device",
        OP,
        "kvbm_onboard",
        &["request_id={R}", "blocks=4", "tier=host", "operation_id=9d968efd-0c48-49c5-b7d8-958bfceab55a"],
    ),
    line(("DEBUG", SLOT), "Onboarding transfer completed successfully", &[], "kvbm_transfer_done", &[]),
    line(("DEBUG", SLOT), "Offloading transfer to host completed successfully", &[], "kvbm_transfer_done", &["tier=host"]),
    line(("DEBUG", SLOT), "offloading 4 blocks to host", OP, "kvbm_offload", &["request_id={R}", "blocks=4", "tier=host"]),
    line(("DEBUG", SLOT), "offload to disk - stage 3 complete", OP, "kvbm_offload", &["stage=3", "tier=disk"]),
    line(("DEBUG", SLOT), "registered 4 blocks to host", OP, "kvbm_offload", &["blocks=4", "tier=host"]),
    line(("DEBUG", SLOT), "offloading directly to disk (bypassing host)", OP, "kvbm_offload", &["request_id={R}", "tier=disk"]),
    line(("ERROR", SLOT), "LocalOffloadTask: error processing request: out of blocks", &[], "kvbm_transfer_error", &[]),
    line(("ERROR", SLOT), "LocalOnboardTask: error processing request: out of blocks", &[], "kvbm_transfer_error", &[]),
    line(("INFO", LEADER), "slot is in the Preempted state; we get another chance to match", &[], "kvbm_preempted", &[]),
    line(("INFO", SLOT), "after preemption, slot is still alive", &[], "kvbm_preempted", &[]),
    line(
        ("DEBUG", SLOT),
        "Reporting cache stats: host_blocks=3, disk_blocks=1, total_blocks_queried=8, tokens_from_host=48, tokens_from_disk=16",
        ID,
        "kvbm_request_stats",
        &["request_id={R}", "host_blocks=3", "disk_blocks=1", "total_blocks_queried=8", "tokens_from_host=48", "tokens_from_disk=16"],
    ),
    line(
        ("DEBUG", SLOT),
        "request set to finish (with pending operations): cached_gpu_tokens: 32; cached_host_tokens: 48; cached_disk_tokens: 16",
        &[("request_id", "{R}"), ("pending_operations", "2")],
        "kvbm_request_finished",
        &["request_id={R}", "cached_gpu_tokens=32", "cached_host_tokens=48", "cached_disk_tokens=16", "pending_operations=2"],
    ),
    line(
        ("DEBUG", SLOT),
        "request set to finished (no pending operations): cached_gpu_tokens: 32; cached_host_tokens: 48; cached_disk_tokens: 16",
        ID,
        "kvbm_request_finished",
        &["cached_gpu_tokens=32", "cached_disk_tokens=16"],
    ),
    line(("DEBUG", LEADER), "Request finished: {R}; block_ids: [1, 2]", &[], "kvbm_request_finished", &["request_id={R}"]),
    line(("DEBUG", WORKER), "adding operation to slot: x", OP, "kvbm_operation", &["request_id={R}"]),
    line(("DEBUG", WORKER), "Enqueuing offload operation to scheduler", OP, "kvbm_operation", &["request_id={R}"]),
    line(
        ("INFO", WORKER),
        "All layers complete, enqueuing 3 offload operations",
        &[("iteration", "7"), ("num_operations", "3")],
        "kvbm_operation",
        &["operations=3", "iteration=7", "num_operations=3"],
    ),
    line(
        ("INFO", STATS),
        "KVBM [engine-0] Cache Hit Rates - Host: 37.5% (3/8), Disk: 20.0% (1/5)",
        &[],
        "kvbm_hit_rates",
        &[
            "kvbm_id=engine-0",
            "host_hit_percent=37.5",
            "host_hit_blocks=3",
            "host_queried_blocks=8",
            "disk_hit_percent=20",
            "disk_hit_blocks=1",
            "disk_queried_blocks=5",
        ],
    ),
    line(
        ("WARN", "dynamo_llm::block_manager::offload"),
        "Target pool full. Skipping offload. This should only ever happen with very small pool sizes.",
        &[],
        "kvbm_pool_full",
        &[],
    ),
    line(
        ("INFO", "kvbm_audit"),
        "audit",
        &[("event", "gnmt_entry"), ("request_id", "{R}"), ("role", "leader")],
        "kvbm_audit",
        &["request_id={R}", "event=gnmt_entry", "role=leader"],
    ),
    line(
        ("DEBUG", "kvbm_engine::leader"),
        "Remote G4 offload completed successfully",
        &[("transfer_id", "t1"), ("num_blocks", "4")],
        "kvbm_transfer_done",
        &["num_blocks=4", "transfer_id=t1"],
    ),
    line(
        ("INFO", "dynamo_llm::kv_router::shared_cache"),
        "Connected to Mooncake KV events",
        &[("endpoint", "tcp://h:1")],
        "shared_cache",
        &["endpoint=tcp://h:1"],
    ),
    line(
        ("WARN", "dynamo_llm::kv_router::shared_cache"),
        "Mooncake KV event sequence gap; cleared shared-cache state",
        &[("previous", "3"), ("sequence", "9")],
        "shared_cache",
        &["previous=3", "sequence=9"],
    ),
    // 3.7 and 4
    line(
        ("WARN", "dynamo_llm::request_trace::integration"),
        "request trace skipped because the request cannot be represented as one replay request",
        &[("request_id", "{R}"), ("reason", "n>1")],
        "trace_skipped",
        &["request_id={R}", "reason=n>1"],
    ),
    line(("WARN", "dynamo_llm::audit::stream"), "audit: aggregation future canceled/failed", &[], "payload_incomplete", &[]),
];

fn filled(text: &str) -> String {
    text.replace("{W}", W).replace("{R}", R)
}

fn as_text(line: &Line) -> String {
    let (level, target) = line.at;
    let mut out = format!("2026-11-29T18:06:46.870571Z {level:>5} {target}: {}", filled(line.text));
    for (name, value) in line.fields {
        out.push_str(&format!(" {name}={}", filled(value)));
    }
    out
}

fn as_jsonl(line: &Line) -> String {
    let (level, target) = line.at;
    let python = super::super::text::is_python(target);
    let mut out = format!(
        r#"{{"time":"2026-11-29T18:06:46.870571Z","level":"{level}","target":"{}","message":{}"#,
        if python { "log" } else { target },
        serde_json::json!(filled(line.text))
    );
    for (name, value) in line.fields {
        out.push_str(&format!(r#","{name}":{}"#, serde_json::json!(filled(value))));
    }
    if python {
        out.push_str(&format!(r#","log.target":"{target}""#));
    }
    out.push('}');
    out
}

/// What an event gives, in the spelling of the table.
fn given(event: &Event<'_>) -> Vec<String> {
    let ids = event.ids.iter().map(|i| format!("{}={}", i.kind.field(), i.text));
    let fields = event.fields.iter().map(|f| match &f.value {
        Value::Int(v) => format!("{}={v}", f.name),
        Value::UInt(v) => format!("{}={v}", f.name),
        Value::Float(v) => format!("{}={v}", f.name),
        Value::Bool(v) => format!("{}={v}", f.name),
        Value::Str(t) => format!("{}={t}", f.name),
    });
    ids.chain(fields).collect()
}

#[test]
fn every_listed_message_gives_its_kind_and_values_in_both_forms() {
    for line in LINES {
        for (format, text) in [(&super::super::TEXT, as_text(line)), (&super::super::JSONL, as_jsonl(line))] as [(&Format, String); 2] {
            let mut event = Event::new(&crate::text::kinds::TEXT);
            assert!((format.head)(text.as_bytes()), "{text}");
            assert_eq!((format.parse)(text.as_bytes(), &mut event), Outcome::Parsed, "{text}");
            assert_eq!(event.kind.name, line.kind, "{text}");
            let given = given(&event);
            for want in line.gives {
                assert!(given.contains(&filled(want)), "{} of {text}: {given:?}", filled(want));
            }
            // No id is made up.
            for id in &event.ids {
                let known = line.gives.iter().any(|want| filled(want) == format!("{}={}", id.kind.field(), id.text));
                assert!(known || line.fields.iter().any(|f| filled(f.1) == id.text), "{id:?} of {text}");
            }
            if event.columnar {
                super::words::assert_columnar(text.as_bytes(), &event);
            }
        }
    }
    println!("{} messages in two forms", LINES.len());
}

/// An event channel's instance is a publisher, whatever the version calls it.
#[test]
fn a_channel_is_no_worker() {
    let lines = [
        r#"{"time":"2026-11-29T18:45:25.407485Z","level":"INFO","target":"dynamo_runtime::transports::event_plane","message":"EventPublisher registered with discovery (direct mode)","instance_id":"9360883802388059816","topic":"active_sequences_events","transport":"Zmq"}"#,
        r#"{"time":"2026-11-29T18:05:37.908273Z","level":"DEBUG","target":"dynamo_runtime::discovery::kv_store","message":"KVStoreDiscovery::register: Registering event channel instance_id=9360883802388059816, scope=Endpoint { endpoint: EndpointId { namespace: \"dynamo\", component: \"backend\", name: \"generate\" } }, topic=forward-pass-metrics, key=namespace/dynamo/component/backend/endpoint/generate/topic/forward-pass-metrics/81e88a38e10c56a8"}"#,
        r#"2026-11-29T18:42:38.903978Z DEBUG dynamo_runtime::discovery::kv_store: KVStoreDiscovery::register: Registering event channel instance_id=9360883802388059816, namespace=dynamo, component=backend, topic=active_sequences_events, key=dynamo/backend/active_sequences_events/81e88a38e10c56a8"#,
        r#"2026-11-29T13:52:31.844202-05:00  INFO dynamo_runtime::transports::event_plane::dynamic_subscriber: Connecting to new ZMQ publisher endpoint=tcp://127.0.0.1:41445 instance_id=EventChannel(EventChannelInstanceId { scope: Namespace { name: "88b34e78-194c-4986-9439-f2aaa4ed3b84" }, topic: "agent-tool-events", instance_id: 9360883802388059816 })"#,
    ];
    for line in lines {
        let format: &Format = if line.starts_with('{') { &super::super::JSONL } else { &super::super::TEXT };
        let (event, _) = super::grammar::parse(format, line);
        assert!(event.ids.is_empty(), "{:?} of {line}", event.ids);
        assert!(given(&event).contains(&"publisher_id=9360883802388059816".to_owned()), "{line}: {:?}", event.fields);
    }
}

/// Workers in errors, paths and keys, in decimal and in hex.
#[test]
fn workers_in_errors_and_paths() {
    use crate::ids::IdKind;
    let cases = [
        (
            r#"2026-11-29T18:37:41.140168Z ERROR http-request: dynamo_llm::http::service::openai: Internal server error: Failed to generate completions: instance_id=7587899242435231751 not found for endpoint "v1/instances/dynamo/backend/generate" method=POST uri=/v1/chat/completions version=HTTP/1.1 x_request_id="xr-017-0-23496fb1""#,
            "7587899242435231751",
        ),
        (
            r#"2026-11-29T18:37:16.453399Z DEBUG dynamo_runtime::component::endpoint: Starting endpoint: v1/instances/dynamo/backend/generate/694da22898cec005"#,
            "694da22898cec005",
        ),
        (
            r#"{"time":"2026-11-29T18:06:38.419559Z","level":"INFO","target":"dynamo_runtime::pipeline::network::ingress::shared_tcp_endpoint","message":"Unregistered TCP endpoint handler","endpoint_name":"generate","endpoint_path":"fff415b5e1955412/dynamo/backend/generate"}"#,
            "fff415b5e1955412",
        ),
        (
            r#"{"time":"2026-11-29T18:06:38.419097Z","level":"WARN","target":"dynamo_runtime::component::endpoint","message":"Failed to unregister endpoint from discovery","error":"Could not find key '/srv/v1/instances/dynamo%2Fbackend%2Fgenerate%2Ffff415b5e1955412'"}"#,
            "fff415b5e1955412",
        ),
        (
            r#"{"time":"2026-11-29T18:37:05.066758Z","level":"DEBUG","target":"dynamo_runtime::discovery::kv_store","message":"KVStoreDiscovery::list_and_watch: Yielding event: Removed(7587899242585308167)"}"#,
            "7587899242585308167",
        ),
        (
            r#"{"time":"2026-11-29T18:46:14.585852Z","level":"DEBUG","target":"dynamo_runtime::transports::etcd::lease","message":"Established keep-alive stream","lease_id":7587899242571531525}"#,
            "7587899242571531525",
        ),
        (
            r#"2026-11-29T18:37:16.453399Z  INFO dynamo_runtime::discovery::kube: Registering endpoint: namespace=dynamo, component=backend, endpoint=generate, instance_id=fff415b5e1955412"#,
            "fff415b5e1955412",
        ),
    ];
    for (line, worker) in cases {
        let format: &Format = if line.starts_with('{') { &super::super::JSONL } else { &super::super::TEXT };
        let (event, _) = super::grammar::parse(format, line);
        assert_eq!(super::grammar::ids(&event, IdKind::WorkerId), [worker], "{line}");
    }
    // Numbers that are no ids.
    for line in [
        "2026-11-29T18:37:16.453399Z  INFO main.launch_workers: Starting worker 1 of 2",
        "2026-11-29T18:37:16.453399Z  INFO dynamo_llm::model_card: cached at /root/.cache/dynamo/9c9c35d77e6920a36344cdcd848348274ef717d505356fabd14fe35854513032/config.json",
        "2026-11-29T18:37:16.453399Z DEBUG dynamo_runtime::component::endpoint: Starting endpoint: dynamo/backend/worker_kv_query_source_476981f15443a",
        "2026-11-29T18:37:16.453399Z  WARN dynamo_llm::model_card: no such file /run/containers/9c9c35d77e69/config.json",
    ] {
        let (event, _) = super::grammar::parse(&super::super::TEXT, line);
        assert!(event.ids.is_empty(), "{:?} of {line}", event.ids);
    }
}
