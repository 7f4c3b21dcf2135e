//! Kinds of Dynamo's log lines.

use super::names::name_words;
use crate::event::Kind;

pub static DYNAMO_LOG: Kind = Kind { name: "dynamo_log", about: "a Dynamo line that has no kind of its own", words: "" };
pub static DYNAMO_PYTHON: Kind = Kind {
    name: "dynamo_python",
    about: "a line of Dynamo's Python side (target `module.function`) that has no kind of its own",
    words: "",
};
pub static DYNAMO_ERROR: Kind = Kind { name: "dynamo_error", about: "an ERROR line that has no kind of its own", words: "" };
pub static REQUEST_RECEIVED: Kind = Kind {
    name: "request_received",
    about: "frontend: an HTTP request was accepted for a model (1.1 and later); does not prove that it was routed",
    words: concat!(name_words!(), " request received"),
};
pub static REQUEST_COMPLETED: Kind = Kind {
    name: "request_completed",
    about: "frontend: a request ended, with status, tokens and times as the frontend saw them (1.1 and later); its worker ids are the first attempt's",
    words: concat!(name_words!(), " request completed"),
};
pub static HTTP_RESPONSE: Kind = Kind {
    name: "http_response",
    about: "frontend: an HTTP response was sent, with status code and latency; in text mode its request_id is a decoy, and it is not the end of a stream",
    words: concat!(name_words!(), " http response sent request completed with client request error server error"),
};
pub static HTTP_RESPONSE_FAILED: Kind = Kind {
    name: "http_response_failed",
    about: "frontend: the HTTP layer classed a response as failed (5xx); carries no id before 1.1",
    words: "",
};
pub static CLIENT_DISCONNECT: Kind = Kind {
    name: "client_disconnect",
    about: "frontend: a connection or stream closed early and a cancellation was issued; carries no id",
    words: concat!(name_words!(), " stream connection closed unexpectedly issuing cancellation"),
};
pub static STREAM_FAILURE: Kind = Kind { name: "stream_failure", about: "frontend: a response stream failed in mid-answer", words: "" };
pub static FRONTEND_ERROR: Kind =
    Kind { name: "frontend_error", about: "frontend: a request handler failed, with the error it answered", words: "" };
pub static WORKER_SELECTED: Kind = Kind {
    name: "worker_selected",
    about: "router: the scheduler chose a worker; cost (`logit`, lower is better) and blocks are predictions, `worker_type=decode` is used for aggregated workers too; `total_blocks` are the worker's",
    words: concat!(name_words!(), " selected worker cached blocks effective host pinned disk total tree size workerwithdprank"),
};
pub static PINNED_WORKER_SELECTED: Kind = Kind {
    name: "pinned_worker_selected",
    about: "router: a session or client pin chose the worker",
    words: concat!(name_words!(), " selected pinned worker effective cached blocks"),
};
pub static ROUTE_DECISION: Kind = Kind {
    name: "route_decision",
    about: "router: best worker and overlap for one request; overlap is the router's weighted prediction, not what the engine reused; `total_blocks` are the request's",
    words: concat!(name_words!(), " routing best worker with blocks overlap"),
};
pub static ROUTING_INPUT: Kind = Kind {
    name: "routing_input",
    about: "router: the local block hashes of one request; they equal `tokens_hash` of KV events",
    words: "",
};
pub static ROUTING_FORMULA: Kind = Kind {
    name: "routing_formula",
    about: "router: one candidate's cost and its terms; the candidate need not have been chosen",
    words: "",
};
pub static ROUTING_TIE: Kind = Kind { name: "routing_tie", about: "router: several workers had the same cost", words: "" };
pub static LOWER_OVERLAP: Kind =
    Kind { name: "lower_overlap_selected", about: "router: a worker with less overlap than the best one was chosen", words: "" };
pub static LOWER_TIER_LOOKUP: Kind = Kind {
    name: "lower_tier_lookup",
    about: "router: its index of a lower tier was asked; that is the router's index, not a lookup by the worker",
    words: concat!(name_words!(), " queried lower tier indexer"),
};
pub static WORKER_REPORTED: Kind = Kind {
    name: "worker_reported",
    about: "frontend: the worker ids that it puts into a response for the client, once per chunk (1.0) or answer",
    words: concat!(name_words!(), " injected worker id into chat completion completions nvext prefill decode some none"),
};
pub static SESSION_AFFINITY: Kind = Kind { name: "session_affinity", about: "router: session affinity hit, miss or setting", words: "" };
pub static OVERLAP_REFRESH: Kind =
    Kind { name: "overlap_refresh", about: "router: overlap scores were computed anew after a long wait in the queue", words: "" };
pub static SCHEDULING_OVERLOADED: Kind = Kind {
    name: "scheduling_overloaded",
    about: "router: all eligible workers are overloaded, the request is refused; carries no id",
    words: concat!(name_words!(), " scheduling failed all eligible workers are overloaded"),
};
pub static ROUTE_COMPLETED: Kind = Kind {
    name: "route_completed",
    about: "router: one attempt on one worker ended in success; the highest `request_attempt` names the worker that served",
    words: concat!(name_words!(), " route request completed"),
};
pub static ROUTE_CANCELLED: Kind = Kind {
    name: "route_cancelled",
    about: "router: one attempt on one worker was cancelled",
    words: concat!(name_words!(), " route request cancelled"),
};
pub static ROUTE_FAILED: Kind = Kind {
    name: "route_failed",
    about: "router: one attempt on one worker failed; a migration may follow",
    words: concat!(name_words!(), " route request failed"),
};
pub static MIGRATION_RETRY: Kind = Kind { name: "migration_retry", about: "router: a request is to be tried on another worker", words: "" };
pub static MIGRATION_EXHAUSTED: Kind =
    Kind { name: "migration_exhausted", about: "router: no more migration attempts are allowed", words: "" };
pub static MIGRATION: Kind = Kind { name: "migration", about: "a stream broke and is made anew, or cannot be", words: "" };
pub static MIGRATION_CONFIG: Kind = Kind { name: "migration_config", about: "whether and how often requests may migrate", words: "" };
pub static TRACKER_CONFLICT: Kind = Kind {
    name: "tracker_conflict",
    about: "frontend: a request was routed again; `new` is the worker that really served it, the trace row keeps `existing`",
    words: "",
};
pub static BOOKING_CONFLICT: Kind = Kind {
    name: "booking_conflict",
    about: "router: its bookkeeping of a request failed or found it already there, as after a migration",
    words: "",
};
pub static REQUEST_CANCELLATION: Kind = Kind {
    name: "request_cancellation",
    about: "a cancellation reached a worker, or a request was cancelled before dispatch",
    words: concat!(name_words!(), " request cancellation received cancelled before worker dispatch"),
};
pub static INSTANCE_INHIBITED: Kind = Kind {
    name: "instance_inhibited",
    about: "router: a worker is left out for a while after an error; in 1.5.1 it is removed and added again by this",
    words: "",
};
pub static INSTANCE_DOWN: Kind = Kind { name: "instance_down", about: "router: a worker is reported down after an error", words: "" };
pub static WORKER_REQUEST_RECEIVED: Kind = Kind {
    name: "worker_request_received",
    about: "worker: a request arrived at an endpoint; only `endpoint=generate` is inference, others are internal calls with ids of their own",
    words: concat!(name_words!(), " request received"),
};
pub static WORKER_REQUEST_COMPLETED: Kind = Kind {
    name: "worker_request_completed",
    about: "worker: an endpoint finished a request; only `endpoint=generate` is inference",
    words: concat!(name_words!(), " request completed"),
};
pub static ENGINE_REQUEST: Kind =
    Kind { name: "engine_request", about: "worker: a request is handed to the engine under Dynamo's request id", words: "" };
pub static WORKER_PUBLISH_FAILED: Kind = Kind {
    name: "worker_publish_failed",
    about: "worker: an answer could not be delivered, as after a client's cancel",
    words: concat!(name_words!(), " failed to publish response complete final for stream"),
};
pub static WORKER_AT_CAPACITY: Kind =
    Kind { name: "worker_at_capacity", about: "worker: engine and queue are full, the request is refused", words: "" };
pub static REQUEST_CONNECTION: Kind =
    Kind { name: "request_connection", about: "the request plane's connection to a worker failed or is unavailable", words: "" };
pub static WORKER_ADDED: Kind = Kind {
    name: "worker_added",
    about: "router: a worker is in the candidate set (1.5.1: also when an inhibition expires)",
    words: concat!(name_words!(), " adding worker workerwithdprank"),
};
pub static WORKER_REMOVED: Kind = Kind {
    name: "worker_removed",
    about: "router: a worker left the candidate set; seconds after a kill, at once after an inhibition in 1.5.1",
    words: concat!(name_words!(), " removing worker workerwithdprank"),
};
pub static WORKER_DISCOVERED: Kind = Kind {
    name: "worker_discovered",
    about: "router: discovery saw a worker's endpoint or settings, or it was registered; that it may be chosen is `worker_added`",
    words: "",
};
pub static WORKER_GONE: Kind = Kind { name: "worker_gone", about: "router: discovery lost a worker or its endpoint", words: "" };
pub static WORKER_TREE_DUMP: Kind =
    Kind { name: "worker_tree_dump", about: "router: the state of a worker's KV index was asked for or taken over", words: "" };
pub static WORKER_SET: Kind =
    Kind { name: "worker_set", about: "frontend: workers were added to a model, or a model was added or removed", words: "" };
pub static ENDPOINT: Kind = Kind { name: "endpoint", about: "worker: an endpoint was registered, started or ended", words: "" };
pub static SERVICE_READY: Kind =
    Kind { name: "service_ready", about: "frontend: an API became ready; does not prove that a request succeeds", words: "" };
pub static KV_EVENT_SOURCE: Kind = Kind { name: "kv_event_source", about: "health of a source of KV events, or a gap in them", words: "" };
pub static REJECTION_CONFIG: Kind =
    Kind { name: "rejection_config", about: "whether busy workers' requests are rejected, and the thresholds", words: "" };
pub static OVERLOAD_CHANGED: Kind =
    Kind { name: "overload_changed", about: "router: the set of overloaded workers changed, or one was marked", words: "" };
pub static WORKER_LOAD: Kind = Kind {
    name: "worker_load",
    about: "router: a worker's load as reported to it; carries no request id",
    words: concat!(
        name_words!(),
        " processed active load update checked worker overload state dropping scheduler load event until endpoint membership is discovered published mocker metrics"
    ),
};
pub static PREFILL_ROUTER: Kind = Kind { name: "prefill_router", about: "disaggregation: the prefill router was set up", words: "" };
pub static PREFILL_COMPLETED: Kind = Kind {
    name: "prefill_completed",
    about: "disaggregation: prefill of a request ended, decode follows",
    words: concat!(name_words!(), " prefill completed proceeding to decode"),
};
pub static PREFILL_FAILED: Kind = Kind {
    name: "prefill_failed",
    about: "disaggregation: remote prefill failed or no prefill router is active; up to 0.7 printed for every request of a deployment without one",
    words: "",
};
pub static PREFILL_REJECTED: Kind =
    Kind { name: "prefill_rejected", about: "disaggregation: a prefill worker refused a request for capacity", words: "" };
pub static CONDITIONAL_DISAGG: Kind = Kind {
    name: "conditional_disagg",
    about: "disaggregation: a request was sent to decode without remote prefill, or why not",
    words: "",
};
pub static KV_EVENT_RECORDED: Kind = Kind {
    name: "kv_event_recorded",
    about: "worker: a KV event (stored, removed, cleared) of one tier; names blocks by hash and no request",
    words: "",
};
pub static KV_EVENT_APPLIED: Kind = Kind { name: "kv_event_applied", about: "router: a KV event was applied to its index", words: "" };
pub static KVBM_LOOKUP: Kind = Kind {
    name: "kvbm_lookup",
    about: "KVBM leader: host and disk tiers are asked for blocks that the GPU lacks; a lookup is not a hit",
    words: "",
};
pub static KVBM_MATCH: Kind = Kind {
    name: "kvbm_match",
    about: "KVBM leader: blocks or tokens found per tier; belongs to the lookup line before it, carries no id itself",
    words: "",
};
pub static KVBM_ONBOARD: Kind = Kind {
    name: "kvbm_onboard",
    about: "KVBM leader: blocks are to be brought from host or disk to the GPU; not that they arrived",
    words: "",
};
pub static KVBM_OFFLOAD: Kind =
    Kind { name: "kvbm_offload", about: "KVBM leader: blocks are written to host or disk, with the stage reached", words: "" };
pub static KVBM_TRANSFER_DONE: Kind =
    Kind { name: "kvbm_transfer_done", about: "KVBM: a transfer completed; carries no request id", words: "" };
pub static KVBM_TRANSFER_ERROR: Kind =
    Kind { name: "kvbm_transfer_error", about: "KVBM: a transfer or an allocation for it failed; carries no request id", words: "" };
pub static KVBM_PREEMPTED: Kind =
    Kind { name: "kvbm_preempted", about: "KVBM: a slot was preempted by the engine; carries no request id", words: "" };
pub static KVBM_REQUEST_STATS: Kind =
    Kind { name: "kvbm_request_stats", about: "KVBM: blocks and tokens that one request got from host and disk", words: "" };
pub static KVBM_REQUEST_FINISHED: Kind =
    Kind { name: "kvbm_request_finished", about: "KVBM: a request ended, with cached tokens per tier where printed", words: "" };
pub static KVBM_HIT_RATES: Kind = Kind {
    name: "kvbm_hit_rates",
    about: "KVBM: hit rates over the last 1000 requests; divisor is the blocks asked for below the GPU",
    words: "",
};
pub static KVBM_POOL_FULL: Kind =
    Kind { name: "kvbm_pool_full", about: "KVBM: a write-back was skipped because the target pool is full", words: "" };
pub static KVBM_OPERATION: Kind = Kind { name: "kvbm_operation", about: "KVBM worker: transfer operations were queued", words: "" };
pub static KVBM_AUDIT: Kind = Kind { name: "kvbm_audit", about: "KVBM v2: an audit line of the connector", words: "" };
pub static KVBM_LOG: Kind = Kind { name: "kvbm_log", about: "a line of the KV block manager that has no kind of its own", words: "" };
pub static SHARED_CACHE: Kind = Kind { name: "shared_cache", about: "router: events of a shared (L3) cache; carries no id", words: "" };
pub static SPAN_CREATED: Kind =
    Kind { name: "span_created", about: "a span was made; fields are the span's", words: concat!(name_words!(), " span created") };
pub static SPAN_CLOSED: Kind = Kind {
    name: "span_closed",
    about: "a span ended, with its busy and idle time; of `http-request` up to 1.0 the best sign of a request's end",
    words: concat!(name_words!(), " span closed"),
};
pub static SPAN_FIRST_ENTRY: Kind =
    Kind { name: "span_first_entry", about: "a span was entered for the first time", words: concat!(name_words!(), " span first entry") };
pub static RUNTIME_CONFIG: Kind = Kind { name: "runtime_config", about: "settings of the runtime at start", words: "" };
pub static CONFIG_DUMP: Kind = Kind { name: "config_dump", about: "the whole configuration of a process as JSON", words: "" };
pub static MODEL_SETUP: Kind =
    Kind { name: "model_setup", about: "a model's card, tokenizer, template and parsers were set up", words: "" };
pub static KV_INDEXER: Kind = Kind { name: "kv_indexer", about: "a KV index or its subscription was set up or ended", words: "" };
pub static ROUTER_CONFIG: Kind = Kind { name: "router_config", about: "settings of the router at start", words: "" };
pub static TRACE_CONFIG: Kind =
    Kind { name: "trace_config", about: "request trace or audit was set up, with sinks and records", words: "" };
pub static TRACE_SKIPPED: Kind =
    Kind { name: "trace_skipped", about: "a request gets no trace row (n>1, best_of, embeddings, multimodal)", words: "" };
pub static PAYLOAD_INCOMPLETE: Kind = Kind {
    name: "payload_incomplete",
    about: "a payload row or audit record will lack the response, as after a client's cancel",
    words: "",
};
pub static PARSER_DECISION: Kind =
    Kind { name: "parser_decision", about: "frontend: which tool and reasoning parsers a request gets", words: "" };
pub static HTTP_SERVER: Kind =
    Kind { name: "http_server", about: "frontend: the HTTP server started, changed its endpoints or stops", words: "" };
pub static SHUTDOWN: Kind = Kind { name: "shutdown", about: "a process shuts down, by its phases", words: "" };
pub static DISCOVERY: Kind = Kind { name: "discovery", about: "the discovery backend: entries put, deleted, watched", words: "" };
pub static EVENT_PLANE: Kind = Kind { name: "event_plane", about: "publishers and subscribers of the event plane", words: "" };
pub static REQUEST_PLANE: Kind = Kind { name: "request_plane", about: "servers and connections of the request plane", words: "" };
pub static WORKER_STARTUP: Kind =
    Kind { name: "worker_startup", about: "mocker or worker start: arguments, engines, processes", words: "" };

/// All of them.
pub static KINDS: &[&Kind] = &[
    &DYNAMO_LOG,
    &DYNAMO_PYTHON,
    &DYNAMO_ERROR,
    &REQUEST_RECEIVED,
    &REQUEST_COMPLETED,
    &HTTP_RESPONSE,
    &HTTP_RESPONSE_FAILED,
    &CLIENT_DISCONNECT,
    &STREAM_FAILURE,
    &FRONTEND_ERROR,
    &WORKER_SELECTED,
    &PINNED_WORKER_SELECTED,
    &ROUTE_DECISION,
    &ROUTING_INPUT,
    &ROUTING_FORMULA,
    &ROUTING_TIE,
    &LOWER_OVERLAP,
    &LOWER_TIER_LOOKUP,
    &WORKER_REPORTED,
    &SESSION_AFFINITY,
    &OVERLAP_REFRESH,
    &SCHEDULING_OVERLOADED,
    &ROUTE_COMPLETED,
    &ROUTE_CANCELLED,
    &ROUTE_FAILED,
    &MIGRATION_RETRY,
    &MIGRATION_EXHAUSTED,
    &MIGRATION,
    &MIGRATION_CONFIG,
    &TRACKER_CONFLICT,
    &BOOKING_CONFLICT,
    &REQUEST_CANCELLATION,
    &INSTANCE_INHIBITED,
    &INSTANCE_DOWN,
    &WORKER_REQUEST_RECEIVED,
    &WORKER_REQUEST_COMPLETED,
    &ENGINE_REQUEST,
    &WORKER_PUBLISH_FAILED,
    &WORKER_AT_CAPACITY,
    &REQUEST_CONNECTION,
    &WORKER_ADDED,
    &WORKER_REMOVED,
    &WORKER_DISCOVERED,
    &WORKER_GONE,
    &WORKER_TREE_DUMP,
    &WORKER_SET,
    &ENDPOINT,
    &SERVICE_READY,
    &KV_EVENT_SOURCE,
    &REJECTION_CONFIG,
    &OVERLOAD_CHANGED,
    &WORKER_LOAD,
    &PREFILL_ROUTER,
    &PREFILL_COMPLETED,
    &PREFILL_FAILED,
    &PREFILL_REJECTED,
    &CONDITIONAL_DISAGG,
    &KV_EVENT_RECORDED,
    &KV_EVENT_APPLIED,
    &KVBM_LOOKUP,
    &KVBM_MATCH,
    &KVBM_ONBOARD,
    &KVBM_OFFLOAD,
    &KVBM_TRANSFER_DONE,
    &KVBM_TRANSFER_ERROR,
    &KVBM_PREEMPTED,
    &KVBM_REQUEST_STATS,
    &KVBM_REQUEST_FINISHED,
    &KVBM_HIT_RATES,
    &KVBM_POOL_FULL,
    &KVBM_OPERATION,
    &KVBM_AUDIT,
    &KVBM_LOG,
    &SHARED_CACHE,
    &SPAN_CREATED,
    &SPAN_CLOSED,
    &SPAN_FIRST_ENTRY,
    &RUNTIME_CONFIG,
    &CONFIG_DUMP,
    &MODEL_SETUP,
    &KV_INDEXER,
    &ROUTER_CONFIG,
    &TRACE_CONFIG,
    &TRACE_SKIPPED,
    &PAYLOAD_INCOMPLETE,
    &PARSER_DECISION,
    &HTTP_SERVER,
    &SHUTDOWN,
    &DISCOVERY,
    &EVENT_PLANE,
    &REQUEST_PLANE,
    &WORKER_STARTUP,
    &AUDIT_RECORD,
];

pub use crate::trace::kinds::AUDIT_RECORD;
