//! The table from (target, message) to kind: what Dynamo's lines say, by their first words.

use super::kinds as k;
use crate::event::Kind;

/// What a message carries inside its text, read after the prefix.
#[derive(Clone, Copy, Debug)]
pub enum Take {
    /// Nothing by its place; ids are read where the prose names them.
    Nothing,
    /// The same, and `name=value, name=value`: readable text has them as fields already.
    Pairs,
    /// The message is the prefix and nothing else (a field or the end follows).
    Exact,
    /// The next word is a worker's id; `dp_rank N` may follow.
    Worker,
    /// The next word is a request's id.
    Request,
    /// `WorkerWithDpRank { worker_id: N, dp_rank: N }`.
    WorkerStruct,
    /// The `key=value` and `key: value` pairs of "Selected worker: …".
    Selection,
    /// The pairs of a formula line.
    Formula,
    /// `worker_{W} dp_rank={D} with {o}/{t} blocks overlap`.
    Best,
    /// A `RouterEvent { … }` printed by Debug.
    RouterEvent,
    /// The next numbers of the text, in order, and the tier that it names.
    Counts(&'static [&'static str]),
    /// The rest of the message is a request body.
    Body,
    /// `…: prefill=Some(W), decode=Some(W)`.
    Injected,
    /// `{id}] Cache Hit Rates - Host: 12.5% (1/8), Disk: 0.0% (0/7)`.
    HitRates,
    /// JSON of a configuration, which may hold credentials.
    Config,
}

/// One row: the target contains `target`, the message begins with `prefix`.
#[derive(Debug)]
pub struct Row {
    pub target: &'static str,
    pub prefix: &'static str,
    pub kind: &'static Kind,
    pub take: Take,
}

const fn row(target: &'static str, prefix: &'static str, kind: &'static Kind, take: Take) -> Row {
    Row { target, prefix, kind, take }
}

use Take::*;

/// The rows, in the order in which they are tried: a longer prefix stands before a shorter one.
static ROWS: &[Row] = &[
    // every request
    row("http::service::metrics", "request received", &k::REQUEST_RECEIVED, Exact),
    row("http::service::metrics", "request completed", &k::REQUEST_COMPLETED, Exact),
    row("push_handler", "request received", &k::WORKER_REQUEST_RECEIVED, Exact),
    row("push_handler", "request completed", &k::WORKER_REQUEST_COMPLETED, Exact),
    row("", "http response sent", &k::HTTP_RESPONSE, Exact),
    row("service_v2", "request completed with client request error", &k::HTTP_RESPONSE, Exact),
    row("service_v2", "request completed with server error", &k::HTTP_RESPONSE, Exact),
    row("service_v2", "request completed", &k::HTTP_RESPONSE, Exact),
    row("", "Selected worker: ", &k::WORKER_SELECTED, Selection),
    row("", "Selected worker", &k::WORKER_SELECTED, Exact),
    row("", "Selected pinned worker: ", &k::PINNED_WORKER_SELECTED, Selection),
    row("", "Selected pinned worker", &k::PINNED_WORKER_SELECTED, Exact),
    row("", "[ROUTING] Best: ", &k::ROUTE_DECISION, Best),
    row("", "[ROUTING_INPUT]", &k::ROUTING_INPUT, Nothing),
    row("kv_router", "Formula for ", &k::ROUTING_FORMULA, Formula),
    row("request_span", "route request completed", &k::ROUTE_COMPLETED, Exact),
    row("request_span", "route request cancelled", &k::ROUTE_CANCELLED, Exact),
    row("request_span", "route request failed", &k::ROUTE_FAILED, Exact),
    row("", "Queried lower-tier indexer", &k::LOWER_TIER_LOOKUP, Exact),
    row("", "processed active load update", &k::WORKER_LOAD, Exact),
    row("", "checked worker overload state", &k::WORKER_LOAD, Exact),
    row("", "published mocker load metrics", &k::WORKER_LOAD, Exact),
    row("worker_monitor", "dropping scheduler load until endpoint membership is discovered", &k::WORKER_LOAD, Exact),
    row("worker_monitor", "dropping load event until endpoint membership is discovered", &k::WORKER_LOAD, Exact),
    row("", "Recorded event RouterEvent {", &k::KV_EVENT_RECORDED, RouterEvent),
    row("", "SPAN_CLOSED", &k::SPAN_CLOSED, Exact),
    row("", "SPAN_CREATED", &k::SPAN_CREATED, Exact),
    row("", "SPAN_FIRST_ENTRY", &k::SPAN_FIRST_ENTRY, Exact),
    // request ends badly
    row("", "Stream closed unexpectedly; issuing cancellation", &k::CLIENT_DISCONNECT, Exact),
    row("", "Connection closed unexpectedly; issuing cancellation", &k::CLIENT_DISCONNECT, Exact),
    row("disconnect", "Connection closed unexpectedly", &k::CLIENT_DISCONNECT, Nothing),
    row("tower_http", "response failed", &k::HTTP_RESPONSE_FAILED, Nothing),
    row("", "Semantic streaming failure", &k::STREAM_FAILURE, Nothing),
    row("", "Streaming error", &k::STREAM_FAILURE, Nothing),
    row("", "fold aggregation failed", &k::PAYLOAD_INCOMPLETE, Nothing),
    row("http::service", "Internal server error", &k::FRONTEND_ERROR, Nothing),
    row("http::service", "Failed to ", &k::FRONTEND_ERROR, Nothing),
    row("http::service", "Received ", &k::DYNAMO_LOG, Body),
    row("", "request cancellation received", &k::REQUEST_CANCELLATION, Exact),
    row("request_span", "request cancelled", &k::REQUEST_CANCELLATION, Nothing),
    row("push_handler", "Failed to publish response for stream ", &k::WORKER_PUBLISH_FAILED, Request),
    row("push_handler", "Failed to publish complete final for stream ", &k::WORKER_PUBLISH_FAILED, Request),
    row("push_handler", "Failed to ", &k::WORKER_PUBLISH_FAILED, Nothing),
    row("", "Decode Request ID: ", &k::ENGINE_REQUEST, Request),
    row("", "Prefill Request ID: ", &k::ENGINE_REQUEST, Request),
    row("", "New Request ID: ", &k::ENGINE_REQUEST, Request),
    row("", "Worker at capacity", &k::WORKER_AT_CAPACITY, Nothing),
    row("addressed_router", "Disconnected", &k::REQUEST_CONNECTION, Nothing),
    row("addressed_router", "Unavailable", &k::REQUEST_CONNECTION, Nothing),
    row("addressed_router", "Stream ended", &k::REQUEST_CONNECTION, Nothing),
    row("tcp_client", "TCP connection unavailable", &k::REQUEST_CONNECTION, Nothing),
    row("tcp_client", "TCP request failed", &k::REQUEST_CONNECTION, Nothing),
    row("tcp_client", "Reader task failed", &k::REQUEST_CONNECTION, Nothing),
    row("tcp_client", "Writer task failed", &k::REQUEST_CONNECTION, Nothing),
    row("", "scheduling failed: all eligible workers are overloaded", &k::SCHEDULING_OVERLOADED, Exact),
    row("", "scheduling failed", &k::SCHEDULING_OVERLOADED, Nothing),
    // migration
    row("", "migration retry scheduled", &k::MIGRATION_RETRY, Nothing),
    row("", "migration retries exhausted", &k::MIGRATION_EXHAUSTED, Nothing),
    row("llm::migration", "Cannot recreate stream: Migration limit exhausted", &k::MIGRATION_EXHAUSTED, Nothing),
    row("llm::migration", "Stream disconnected", &k::MIGRATION, Nothing),
    row("llm::migration", "Creating new stream", &k::MIGRATION, Nothing),
    row("llm::migration", "Cannot recreate stream", &k::MIGRATION, Nothing),
    row("llm::migration", "", &k::MIGRATION_CONFIG, Nothing),
    row("main.async_main", "Request migration ", &k::MIGRATION_CONFIG, Nothing),
    row("", "Conflicting request tracker write", &k::TRACKER_CONFLICT, Nothing),
    row("kv_router", "Failed to add request ", &k::BOOKING_CONFLICT, Request),
    row("kv_router", "Failed to mark prefill completed for request ", &k::BOOKING_CONFLICT, Request),
    row("kv_router", "Failed to book scheduler state", &k::BOOKING_CONFLICT, Nothing),
    row("kv_router", "Failed to free request ", &k::BOOKING_CONFLICT, Request),
    row("", "inhibiting instance ", &k::INSTANCE_INHIBITED, Worker),
    row("", "Reporting instance ", &k::INSTANCE_DOWN, Worker),
    row("push_router", "Marking instance ", &k::OVERLOAD_CHANGED, Worker),
    // routing, seldom
    row("kv_router", "Multiple workers tied", &k::ROUTING_TIE, Nothing),
    row("", "Router selected a worker with lower KV cache overlap", &k::LOWER_OVERLAP, Nothing),
    row("affinity", "", &k::SESSION_AFFINITY, Nothing),
    row("", "Session affinity ", &k::SESSION_AFFINITY, Nothing),
    row("", "session affinity ", &k::SESSION_AFFINITY, Nothing),
    row("", "refreshed overlap scores", &k::OVERLAP_REFRESH, Nothing),
    row("worker_monitor", "overloaded instances changed", &k::OVERLOAD_CHANGED, Nothing),
    row("router_args", "busy-worker rejection ", &k::REJECTION_CONFIG, Nothing),
    // worker set
    row("", "Adding worker WorkerWithDpRank", &k::WORKER_ADDED, WorkerStruct),
    row("", "Removing worker WorkerWithDpRank", &k::WORKER_REMOVED, WorkerStruct),
    row("", "Registering worker WorkerWithDpRank", &k::WORKER_DISCOVERED, WorkerStruct),
    row("", "WorkerQueryClient: discovered worker ", &k::WORKER_DISCOVERED, Worker),
    row("", "WorkerQueryClient: all dp_ranks gone for worker ", &k::WORKER_GONE, Worker),
    row("", "Generate endpoint instance deleted, removing worker ", &k::WORKER_GONE, Worker),
    row("", "DISCOVERY: Generate endpoint instance removed, removing worker", &k::WORKER_GONE, Nothing),
    row("worker_monitor", "Cleaned up metrics for removed decode worker ", &k::WORKER_GONE, Worker),
    row("worker_monitor", "Removed Prometheus metrics for worker ", &k::WORKER_GONE, Worker),
    row("worker_monitor", "cleaned up metrics for removed worker ", &k::WORKER_GONE, Worker),
    row("", "Got tree dump from worker ", &k::WORKER_TREE_DUMP, Worker),
    row("", "Got tree dump", &k::WORKER_TREE_DUMP, Nothing),
    row("", "Attempting recovery from worker ", &k::WORKER_TREE_DUMP, Worker),
    row("", "Received query request for worker ", &k::WORKER_TREE_DUMP, Worker),
    row("indexer", "No start_id specified, dumping entire tree", &k::WORKER_TREE_DUMP, Nothing),
    row("indexer", "Built compressed radix recovery dump", &k::WORKER_TREE_DUMP, Nothing),
    row("", "WorkerKvQuery endpoint starting for worker ", &k::ENDPOINT, Worker),
    row("", "Adding worker set to model", &k::WORKER_SET, Nothing),
    row("discovery::watcher", "added model", &k::WORKER_SET, Nothing),
    row("discovery::watcher", "adding model", &k::WORKER_SET, Nothing),
    row("discovery::watcher", "building worker set pipeline", &k::WORKER_SET, Nothing),
    row("discovery::watcher", "Committed discovered model group", &k::WORKER_SET, Nothing),
    row("discovery::watcher", "Worker joined existing WorkerSet", &k::WORKER_SET, Nothing),
    row("discovery::watcher", "Chat completions is ready", &k::SERVICE_READY, Nothing),
    row("discovery::watcher", "Completions is ready", &k::SERVICE_READY, Nothing),
    row("discovery::watcher", "Prefill worker detected", &k::PREFILL_ROUTER, Nothing),
    row("source_health", "", &k::KV_EVENT_SOURCE, Nothing),
    row("", "KV event source", &k::KV_EVENT_SOURCE, Nothing),
    row("", "KV state-agent event gap", &k::KV_EVENT_SOURCE, Nothing),
    row("", "Applied KV event to global radix tree", &k::KV_EVENT_APPLIED, Pairs),
    row("component::endpoint", "", &k::ENDPOINT, Nothing),
    row("input::endpoint", "Endpoint service", &k::ENDPOINT, Nothing),
    row("shared_tcp_endpoint", "Registered endpoint", &k::ENDPOINT, Nothing),
    row("shared_tcp_endpoint", "Unregistered TCP endpoint", &k::ENDPOINT, Nothing),
    row("nats_server", "Registering NATS endpoint", &k::ENDPOINT, Nothing),
    row("graceful_shutdown", "Endpoint ", &k::ENDPOINT, Nothing),
    // disaggregation
    row("prefill_router", "Activating prefill router", &k::PREFILL_ROUTER, Nothing),
    row("prefill_router", "Prefill router target activated", &k::PREFILL_ROUTER, Nothing),
    row("", "Prefill completed, proceeding to decode", &k::PREFILL_COMPLETED, Exact),
    row("", "Remote prefill failed", &k::PREFILL_FAILED, Nothing),
    row("", "Prefill router not activated", &k::PREFILL_FAILED, Nothing),
    row("", "request rejected by prefill worker", &k::PREFILL_REJECTED, Nothing),
    row("", "Conditional disagg", &k::CONDITIONAL_DISAGG, Nothing),
    row("", "Injected worker_id into ", &k::WORKER_REPORTED, Injected),
    row("kv_router", "Runtime config found for worker_id: ", &k::WORKER_DISCOVERED, Worker),
    row("kv_router", "No events to recover from worker ", &k::WORKER_TREE_DUMP, Worker),
    row("worker_query", "Worker ", &k::WORKER_TREE_DUMP, Worker),
    row("kv_router", "Dumping radix tree", &k::WORKER_TREE_DUMP, Nothing),
    row("::sequence", "Request ", &k::BOOKING_CONFLICT, Request),
    // start, stop, plumbing
    row("config_dumper", "CONFIG_DUMP: ", &k::CONFIG_DUMP, Config),
    row("", "CONFIG_DUMP: ", &k::CONFIG_DUMP, Config),
    row("model_card", "", &k::MODEL_SETUP, Nothing),
    row("local_model", "", &k::MODEL_SETUP, Nothing),
    row("mm_routing", "", &k::MODEL_SETUP, Nothing),
    row("prefetch_model", "", &k::WORKER_STARTUP, Nothing),
    row("dynamo_unified", "", &k::PARSER_DECISION, Nothing),
    row("", "Selected model parser route", &k::MODEL_SETUP, Nothing),
    row("formatters", "Chat template", &k::MODEL_SETUP, Nothing),
    row("llm::audit", "audit: aggregation future", &k::PAYLOAD_INCOMPLETE, Nothing),
    row("llm::audit", "audit", &k::AUDIT_RECORD, Exact),
    row("", "request trace skipped", &k::TRACE_SKIPPED, Nothing),
    row("", "request payload: ", &k::PAYLOAD_INCOMPLETE, Nothing),
    row("request_trace", "Request trace ", &k::TRACE_CONFIG, Nothing),
    row("agents::trace", "Agent trace ", &k::TRACE_CONFIG, Nothing),
    row("", "Audit initialized", &k::TRACE_CONFIG, Nothing),
    row("", "Audit sinks ready", &k::TRACE_CONFIG, Nothing),
    row("dynamo_runtime::worker", "dynamo runtime configuration", &k::RUNTIME_CONFIG, Nothing),
    row("", "Initializing KV store discovery backend", &k::RUNTIME_CONFIG, Nothing),
    row("network::manager", "", &k::REQUEST_PLANE, Nothing),
    row("", "KV Routing initialized", &k::ROUTER_CONFIG, Nothing),
    row("", "KvRouter scheduling on", &k::ROUTER_CONFIG, Nothing),
    row("scheduling::queue", "Router ", &k::ROUTER_CONFIG, Nothing),
    row("", "HTTP server shutdown requested", &k::SHUTDOWN, Nothing),
    row("service_v2", "frontend service entering", &k::SHUTDOWN, Nothing),
    row("service_v2", "", &k::HTTP_SERVER, Nothing),
    row("openapi_docs", "", &k::HTTP_SERVER, Nothing),
    row("input::http", "", &k::HTTP_SERVER, Nothing),
    row("system_status_server", "", &k::HTTP_SERVER, Nothing),
    row("dynamo_runtime::runtime", "Runtime shutdown initiated", &k::SHUTDOWN, Nothing),
    row("dynamo_runtime::runtime", "Runtime readiness withdrawn", &k::SHUTDOWN, Nothing),
    row("dynamo_runtime::runtime", "Phase ", &k::SHUTDOWN, Nothing),
    row("dynamo_runtime::runtime", "Active graceful endpoints", &k::SHUTDOWN, Nothing),
    row("dynamo_runtime::runtime", "", &k::RUNTIME_CONFIG, Nothing),
    row("graceful_shutdown", "", &k::SHUTDOWN, Nothing),
    row("", "DistributedRuntime shutdown complete", &k::SHUTDOWN, Nothing),
    row("main.launch_workers", "Shutting down", &k::SHUTDOWN, Nothing),
    row("dynamo_runtime::discovery", "", &k::DISCOVERY, Pairs),
    row("storage::kv", "", &k::DISCOVERY, Nothing),
    row("transports::etcd", "", &k::DISCOVERY, Nothing),
    row("event_plane", "", &k::EVENT_PLANE, Nothing),
    row("fpm_publisher", "", &k::EVENT_PLANE, Nothing),
    row("transports::nats", "", &k::EVENT_PLANE, Nothing),
    row("kv_router::publisher", "LocalKvIndexer", &k::KV_INDEXER, Nothing),
    row("kv_router::publisher", "", &k::EVENT_PLANE, Nothing),
    row("shared_tcp_endpoint", "", &k::REQUEST_PLANE, Nothing),
    row("pipeline::network", "", &k::REQUEST_PLANE, Nothing),
    row("dynamo_llm::mocker", "", &k::WORKER_STARTUP, Nothing),
    row("main.worker", "", &k::WORKER_STARTUP, Nothing),
    row("main.launch_workers", "", &k::WORKER_STARTUP, Nothing),
    row("args.", "", &k::WORKER_STARTUP, Nothing),
    row("shared_cache", "", &k::SHARED_CACHE, Nothing),
    row("kv_router::indexer", "", &k::KV_INDEXER, Nothing),
    row("kv_router::subscriber", "", &k::KV_INDEXER, Nothing),
    row("discovery::watcher", "", &k::WORKER_SET, Nothing),
    row("discovery::model_manager", "", &k::WORKER_SET, Nothing),
    row("discovery::controller", "", &k::WORKER_SET, Nothing),
    row("dynamo_runtime::distributed", "", &k::RUNTIME_CONFIG, Nothing),
    row("dynamo_runtime::config", "", &k::RUNTIME_CONFIG, Nothing),
    row("dynamo_runtime::logging", "OpenTelemetry", &k::RUNTIME_CONFIG, Nothing),
    row("kv_manager", "", &k::WORKER_STARTUP, Nothing),
    row("component::client", "", &k::DISCOVERY, Pairs),
    row("request_trace", "", &k::TRACE_CONFIG, Nothing),
];

/// KVBM's rows, by the text of `lib/bindings/kvbm` 1.6.1; tried for its targets only.
static KVBM: &[Row] = &[
    row("", "Starting cache lookup: querying ", &k::KVBM_LOOKUP, Counts(&["blocks", "num_computed_blocks"])),
    row("", "no blocks to lookup from host/disk", &k::KVBM_LOOKUP, Nothing),
    row("", "recording ", &k::KVBM_MATCH, Counts(&["cached_tokens"])),
    row("", "successfully matched ", &k::KVBM_MATCH, Counts(&["host_blocks", "disk_blocks", "total_blocks"])),
    row("", "on a block boundary", &k::KVBM_MATCH, Nothing),
    row("", "scheduling onboarding for ", &k::KVBM_ONBOARD, Counts(&["external_tokens"])),
    row("", "num_device_blocks: ", &k::KVBM_ONBOARD, Counts(&["device_blocks", "external_tokens"])),
    row("", "triggering onboarding for ", &k::KVBM_ONBOARD, Counts(&["external_tokens"])),
    row("", "start onboarding ", &k::KVBM_ONBOARD, Counts(&["blocks"])),
    row("", "Onboarding transfer completed", &k::KVBM_TRANSFER_DONE, Nothing),
    row("", "Offloading transfer to ", &k::KVBM_TRANSFER_DONE, Counts(&[])),
    row("", "Remote G4 ", &k::KVBM_TRANSFER_DONE, Nothing),
    row("", "offloading directly to disk", &k::KVBM_OFFLOAD, Counts(&[])),
    row("", "offloading ", &k::KVBM_OFFLOAD, Counts(&["blocks"])),
    row("", "offload to ", &k::KVBM_OFFLOAD, Counts(&["stage"])),
    row("", "registered ", &k::KVBM_OFFLOAD, Counts(&["blocks"])),
    row("", "LocalOffloadTask: error", &k::KVBM_TRANSFER_ERROR, Nothing),
    row("", "LocalOnboardTask: error", &k::KVBM_TRANSFER_ERROR, Nothing),
    row("", "slot is in the Preempted state", &k::KVBM_PREEMPTED, Nothing),
    row("", "after preemption", &k::KVBM_PREEMPTED, Nothing),
    row(
        "",
        "Reporting cache stats: ",
        &k::KVBM_REQUEST_STATS,
        Counts(&["host_blocks", "disk_blocks", "total_blocks_queried", "tokens_from_host", "tokens_from_disk"]),
    ),
    row("", "request set to finish", &k::KVBM_REQUEST_FINISHED, Counts(&["cached_gpu_tokens", "cached_host_tokens", "cached_disk_tokens"])),
    row("", "Request finished: ", &k::KVBM_REQUEST_FINISHED, Request),
    row("", "KVBM [", &k::KVBM_HIT_RATES, HitRates),
    row("", "Target pool full", &k::KVBM_POOL_FULL, Nothing),
    row("", "adding operation to slot", &k::KVBM_OPERATION, Nothing),
    row("", "Enqueuing offload operation", &k::KVBM_OPERATION, Nothing),
    row("", "All layers complete, enqueuing ", &k::KVBM_OPERATION, Counts(&["operations"])),
];

/// Is this a target of the KV block manager?
pub fn is_kvbm(target: &str) -> bool {
    target.starts_with("kvbm") || target.starts_with("_core::block_manager") || target.starts_with("dynamo_llm::block_manager")
}

/// The row that explains a line, if one does. `message` may be followed by the line's fields.
pub fn find(target: &str, message: &[u8]) -> Option<&'static Row> {
    if is_kvbm(target)
        && let Some(found) = first(KVBM, target, message)
    {
        return Some(found);
    }
    first(ROWS, target, message)
}

fn first(rows: &'static [Row], target: &str, message: &[u8]) -> Option<&'static Row> {
    for row in rows {
        let Some(rest) = message.strip_prefix(row.prefix.as_bytes()) else { continue };
        if matches!(row.take, Take::Exact) && !ends_here(rest) {
            continue;
        }
        if row.target.is_empty() || target.contains(row.target) {
            return Some(row);
        }
    }
    None
}

/// Nothing but blanks, or a field, follows.
fn ends_here(rest: &[u8]) -> bool {
    let Some(trimmed) = rest.iter().position(|b| *b != b' ') else { return true };
    trimmed > 0 && super::text::field_at(rest, trimmed).is_some()
}

/// The kind of a line that no row explains.
pub fn general(target: &str, python: bool, error: bool) -> &'static Kind {
    if target == "kvbm_audit" {
        return &k::KVBM_AUDIT;
    }
    if is_kvbm(target) {
        return &k::KVBM_LOG;
    }
    if python {
        return &k::DYNAMO_PYTHON;
    }
    if error { &k::DYNAMO_ERROR } else { &k::DYNAMO_LOG }
}
