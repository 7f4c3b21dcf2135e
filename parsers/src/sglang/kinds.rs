//! The kinds of records that SGLang writes.

use super::batch::WORDS;
use crate::event::Kind;

/// A kind whose records are found by their words.
const fn kind(name: &'static str, about: &'static str) -> Kind {
    Kind { name, about, words: "" }
}

// Periodic.
pub static PREFILL_BATCH: Kind = Kind {
    name: "prefill_batch",
    about: "a batch of prefill work, scheduled (to 0.5.8) or done (from 0.5.9); `cached_tokens` is device, host and storage reuse together; no request is named",
    words: WORDS,
};
pub static DECODE_BATCH: Kind = Kind {
    name: "decode_batch",
    about: "the state every 40 decode steps; shorter requests may appear in none; no request is named",
    words: WORDS,
};
pub static SCHEDULER_STATUS: Kind =
    kind("scheduler_status", "which requests were running and queued at one moment (SGLANG_LOG_SCHEDULER_STATUS_TARGET)");

// Requests.
pub static REQUEST_RECEIVED: Kind =
    kind("request_received", "a request as the tokenizer process got it (`--log-requests`); not that it was scheduled");
pub static REQUEST_FINISHED: Kind =
    kind("request_finished", "a request's end with its usage and times (`--log-requests`); cached tokens by tier from 0.5.9");
pub static REQUEST_RECEIVED_OPENAI: Kind =
    kind("request_received_openai", "an OpenAI body before tokenisation (`--log-requests`, level 2 and up, from 0.5.10); it has no rid");
pub static REQUEST_TIME_STATS: Kind =
    kind("request_time_stats", "one request's durations by phase at its finish (`--enable-request-time-stats-logging`)");
pub static REQUEST_METRICS: Kind =
    kind("request_metrics", "one finished request of `--export-metrics-to-file`; probes are left out by SGLang");
pub static REQUEST_ABORT: Kind = kind("request_abort", "a request was aborted or its abort was asked for");
pub static REQUEST_ERROR: Kind = kind("request_error", "a request was refused or failed in the HTTP or tokenizer process");
pub static REQUEST_LIFECYCLE: Kind =
    kind("request_lifecycle", "a rare line about one request: output for a forgotten state, a debug step of batching or tokenizing");
pub static REQUEST_LOG_CONFIG: Kind = kind("request_log_config", "the request log's settings changed at run time");
pub static ACCESS: Kind = Kind {
    name: "access",
    about: "an HTTP access line: written when the response starts, so a streamed request may still fail; no rid, no latency",
    words: "info http",
};
pub static HTTP_CLIENT: Kind = kind("http_client", "a debug line of the HTTP client library about a call that this process made");
pub static DEPRECATED_ENDPOINT: Kind = kind("deprecated_endpoint", "a client or the warm-up called a deprecated path");

// Start and readiness.
pub static SERVER_ARGS: Kind = kind("server_args", "a process began and this is its whole configuration; one per incarnation of a server");
pub static ENGINE_LAUNCH: Kind = kind("engine_launch", "a process or rank is being launched");
pub static TOKENIZER_READY: Kind = kind("tokenizer_ready", "the chat template was found, so the tokenizer is loaded");
pub static INIT_BEGIN: Kind = kind("init_begin", "a scheduler rank is alive and begins to set up its process groups");
pub static INIT_END: Kind = kind("init_end", "a scheduler rank's process groups are up");
pub static NCCL_VERSION: Kind = kind("nccl_version", "the collective library's version");
pub static MEMORY_BASELINE: Kind = kind("memory_baseline", "device memory in use before weights are loaded");
pub static WEIGHTS_BEGIN: Kind = kind("weights_begin", "a rank begins to load weights");
pub static WEIGHTS_FORMAT: Kind = kind("weights_format", "which weight files are read");
pub static WEIGHTS_LOADED: Kind = kind("weights_loaded", "a rank's weights are resident");
pub static KV_CACHE_DTYPE: Kind = kind("kv_cache_dtype", "data type of the KV cache");
pub static KV_CACHE_ALLOCATED: Kind = kind("kv_cache_allocated", "a rank's device KV pool and its size in tokens");
pub static MEMORY_POOL_END: Kind = kind("memory_pool_end", "free device memory after the pools were made");
pub static CUDA_GRAPH_BEGIN: Kind = kind("cuda_graph_begin", "graph capture begins");
pub static CUDA_GRAPH_END: Kind = kind("cuda_graph_end", "graph capture is done");
pub static CUDA_GRAPH_CONFIG: Kind = kind("cuda_graph_config", "graph batch sizes, or why there is no graph");
pub static SCHEDULER_SIZED: Kind = kind("scheduler_sized", "capacity of the scheduler: tokens of L1, running requests, chunk size");
pub static TREE_CACHE: Kind = kind("tree_cache", "which cache class serves the prefix tree");
pub static STARTUP_TIMINGS: Kind = kind("startup_timings", "seconds of each phase of the start: all schedulers have reported");
pub static UVICORN_STARTED: Kind = kind("uvicorn_started", "the HTTP server's process id");
pub static UVICORN_STARTUP: Kind = kind("uvicorn_startup", "the HTTP application is starting or has started");
pub static UVICORN_LISTENING: Kind = kind("uvicorn_listening", "the HTTP socket is open; health is still 503 until the warm-up is done");
pub static UVICORN_SHUTDOWN: Kind = kind("uvicorn_shutdown", "the HTTP server is shutting down");
pub static UVICORN_FINISHED: Kind = kind("uvicorn_finished", "the HTTP server's process ends");
pub static UVICORN_LOG: Kind = kind("uvicorn_log", "another line of uvicorn");
pub static SERVER_READY: Kind =
    kind("server_ready", "the warm-up request succeeded; with `--skip-server-warmup` it proves no forward pass");
pub static WARMUP: Kind = kind("warmup", "a step of the warm-up");
pub static RUST_SERVER: Kind = kind("rust_server", "the Rust front-end: socket, cores, shutdown, warm-up");
pub static GRPC_SERVER: Kind = kind("grpc_server", "the gRPC front-end: start, socket, health status, stop");
pub static GRPC_REQUEST: Kind = kind("grpc_request", "the gRPC front-end got a request; its rid is the router's request id");
pub static STARTUP_FAILED: Kind = kind("startup_failed", "the start failed: warm-up error, dead rank");
pub static CONFIG_NOTE: Kind = kind("config_note", "a default, an automatic choice or a deprecation while the server is being configured");
pub static MODEL_IMPORT_SKIPPED: Kind =
    kind("model_import_skipped", "a model's module could not be imported; harmless unless that model is served");

// Stop, health and crash.
pub static HEALTH_CHECK_FAILED: Kind = kind("health_check_failed", "no output from the detokenizer within the window; health answers 503");
pub static HEALTH_CHECK_SHUTDOWN: Kind = kind("health_check_shutdown", "a health check came while the server was draining");
pub static WATCHDOG_TIMEOUT: Kind =
    kind("watchdog_timeout", "a process made no progress for the watchdog's time; it is killed unless soft");
pub static WATCHDOG: Kind = kind("watchdog", "the watchdog was set up, or its dump of the current batch");
pub static EXCEPTION: Kind = kind("exception", "a process died of an exception; the traceback follows in the same record");
pub static CHILD_CRASHED: Kind = kind("child_crashed", "a child process ended by itself or by a signal");
pub static SIGQUIT: Kind =
    kind("sigquit", "a child failed and the server is going down; may be printed before the traceback that caused it");
pub static SIGTERM: Kind = kind("sigterm", "a stop was asked for; the server drains");
pub static DRAINING: Kind = kind("draining", "requests still running while draining, by rid from 0.5.3");
pub static FORCED_EXIT: Kind = kind("forced_exit", "the drain was cut short");
pub static KILL_PROCESS_TREE: Kind = kind("kill_process_tree", "a process kills its children or itself");
pub static CRASH_DUMP: Kind = kind("crash_dump", "requests are dumped before a crash or on demand");

// Memory.
pub static RETRACT: Kind = kind(
    "retract",
    "running requests were thrown back to the queue because the KV pool was full; which ones is not said; every rank prints it",
);
pub static RETRACT_ABORT: Kind = kind("retract_abort", "a request was aborted while retracting");
pub static OUT_OF_MEMORY: Kind = kind("out_of_memory", "no KV slots or device memory for a batch");
pub static MEMORY_LEAK: Kind = kind("memory_leak", "the pool's bookkeeping does not add up");
pub static CACHE_FLUSHED: Kind = kind("cache_flushed", "the prefix cache was emptied");
pub static CACHE_NOT_FLUSHED: Kind = kind("cache_not_flushed", "a flush was refused or timed out because requests were running");

// HiCache.
pub static HICACHE_ALLOCATED: Kind = kind("hicache_allocated", "a host memory pool (L2) and its size");
pub static HICACHE_CONFIG: Kind = kind("hicache_config", "HiCache settings, sizing and set-up of a pool or backend");
pub static HICACHE_ADMIN: Kind =
    kind("hicache_admin", "a storage backend was attached, detached or cleared, or a policy was set at run time");
pub static HICACHE_PREFETCH_STARTED: Kind = kind("hicache_prefetch_started", "an L3 prefetch of a request begins (debug)");
pub static HICACHE_PREFETCH: Kind = kind("hicache_prefetch", "an L3 to L2 restore of a request succeeded; every TP rank prints it");
pub static HICACHE_PREFETCH_DROPPED: Kind = kind("hicache_prefetch_dropped", "an L3 prefetch was dropped, declined or deferred");
pub static HICACHE_PREFETCH_REVOKED: Kind =
    kind("hicache_prefetch_revoked", "an L3 prefetch was given up: too few hits or no host memory (debug)");
pub static HICACHE_PREFETCH_FAILED: Kind = kind("hicache_prefetch_failed", "an L3 query or transfer of a request failed");
pub static HICACHE_LOOKUP: Kind = kind("hicache_lookup", "an L3 lookup of a request hit");
pub static HICACHE_LOAD_BACK: Kind =
    kind("hicache_load_back", "an L2 to L1 load was issued or done (debug); names a tree node, no request");
pub static HICACHE_LOAD_BACK_FAILED: Kind = kind("hicache_load_back_failed", "an L2 to L1 load failed");
pub static HICACHE_WRITE_BACK: Kind = kind("hicache_write_back", "L1 to L2 or L2 to L3 writes were handled (debug)");
pub static HICACHE_BACKUP_FAILED: Kind = kind("hicache_backup_failed", "a write to storage (L3) failed");
pub static HICACHE_DROPPED: Kind = kind("hicache_dropped", "KV left the device without a backup because host memory was short");
pub static HICACHE_STORAGE: Kind = kind("hicache_storage", "the storage backend: set-up, warm-up, statistics");
pub static HICACHE_STORAGE_EVICT: Kind = kind("hicache_storage_evict", "the storage backend freed space");
pub static HICACHE_STORAGE_REFUSED: Kind = kind("hicache_storage_refused", "the storage backend refused to write");
pub static HICACHE_STORAGE_ERROR: Kind = kind("hicache_storage_error", "the storage backend failed");

// Prefill/decode disaggregation.
pub static PD_BOOTSTRAP_FAILED: Kind = kind("pd_bootstrap_failed", "prefill: the handshake for a request failed; once per TP rank");
pub static PD_HANDSHAKE_FAILED: Kind = kind("pd_handshake_failed", "decode: the handshake for a request failed; once per TP rank");
pub static PD_TRANSFER_FAILED: Kind = kind("pd_transfer_failed", "the KV transfer of a request failed; once per TP rank");
pub static PD_CONNECTION_LOST: Kind = kind("pd_connection_lost", "decode lost a prefill server");
pub static PD_CONNECTION: Kind = kind("pd_connection", "connections between prefill and decode: sessions, probes, bootstrap server");
pub static PD_RETRY: Kind = kind("pd_retry", "an optimistic prefill was tried again or given up");
pub static PD_TIMEOUT_HINT: Kind =
    kind("pd_timeout_hint", "requests timed out between prefill and decode; printed once in a process's life");
pub static PD_ROLE_SWITCH: Kind = kind("pd_role_switch", "a server changed its role in place");
pub static PD_LOG: Kind = kind("pd_log", "another line about the hand-over between prefill and decode");

// General.
pub static SGLANG_LOG: Kind = kind("sglang_log", "an SGLang line whose message has no kind of its own");

/// Kinds of the text format.
pub static TEXT: &[&Kind] = &[
    &PREFILL_BATCH,
    &DECODE_BATCH,
    &SCHEDULER_STATUS,
    &REQUEST_RECEIVED,
    &REQUEST_FINISHED,
    &REQUEST_RECEIVED_OPENAI,
    &REQUEST_TIME_STATS,
    &REQUEST_ABORT,
    &REQUEST_ERROR,
    &REQUEST_LIFECYCLE,
    &REQUEST_LOG_CONFIG,
    &ACCESS,
    &HTTP_CLIENT,
    &DEPRECATED_ENDPOINT,
    &SERVER_ARGS,
    &ENGINE_LAUNCH,
    &TOKENIZER_READY,
    &INIT_BEGIN,
    &INIT_END,
    &NCCL_VERSION,
    &MEMORY_BASELINE,
    &WEIGHTS_BEGIN,
    &WEIGHTS_FORMAT,
    &WEIGHTS_LOADED,
    &KV_CACHE_DTYPE,
    &KV_CACHE_ALLOCATED,
    &MEMORY_POOL_END,
    &CUDA_GRAPH_BEGIN,
    &CUDA_GRAPH_END,
    &CUDA_GRAPH_CONFIG,
    &SCHEDULER_SIZED,
    &TREE_CACHE,
    &STARTUP_TIMINGS,
    &UVICORN_STARTED,
    &UVICORN_STARTUP,
    &UVICORN_LISTENING,
    &UVICORN_SHUTDOWN,
    &UVICORN_FINISHED,
    &UVICORN_LOG,
    &SERVER_READY,
    &WARMUP,
    &RUST_SERVER,
    &GRPC_SERVER,
    &GRPC_REQUEST,
    &STARTUP_FAILED,
    &CONFIG_NOTE,
    &MODEL_IMPORT_SKIPPED,
    &HEALTH_CHECK_FAILED,
    &HEALTH_CHECK_SHUTDOWN,
    &WATCHDOG_TIMEOUT,
    &WATCHDOG,
    &EXCEPTION,
    &CHILD_CRASHED,
    &SIGQUIT,
    &SIGTERM,
    &DRAINING,
    &FORCED_EXIT,
    &KILL_PROCESS_TREE,
    &CRASH_DUMP,
    &RETRACT,
    &RETRACT_ABORT,
    &OUT_OF_MEMORY,
    &MEMORY_LEAK,
    &CACHE_FLUSHED,
    &CACHE_NOT_FLUSHED,
    &HICACHE_ALLOCATED,
    &HICACHE_CONFIG,
    &HICACHE_ADMIN,
    &HICACHE_PREFETCH_STARTED,
    &HICACHE_PREFETCH,
    &HICACHE_PREFETCH_DROPPED,
    &HICACHE_PREFETCH_REVOKED,
    &HICACHE_PREFETCH_FAILED,
    &HICACHE_LOOKUP,
    &HICACHE_LOAD_BACK,
    &HICACHE_LOAD_BACK_FAILED,
    &HICACHE_WRITE_BACK,
    &HICACHE_BACKUP_FAILED,
    &HICACHE_DROPPED,
    &HICACHE_STORAGE,
    &HICACHE_STORAGE_EVICT,
    &HICACHE_STORAGE_REFUSED,
    &HICACHE_STORAGE_ERROR,
    &PD_BOOTSTRAP_FAILED,
    &PD_HANDSHAKE_FAILED,
    &PD_TRANSFER_FAILED,
    &PD_CONNECTION_LOST,
    &PD_CONNECTION,
    &PD_RETRY,
    &PD_TIMEOUT_HINT,
    &PD_ROLE_SWITCH,
    &PD_LOG,
    &SGLANG_LOG,
];

/// Kinds of the bare JSON request log.
pub static JSON: &[&Kind] = &[&REQUEST_RECEIVED, &REQUEST_FINISHED, &REQUEST_RECEIVED_OPENAI, &SCHEDULER_STATUS, &SGLANG_LOG];

/// Kinds of the request metrics file.
pub static METRICS_FILE: &[&Kind] = &[&REQUEST_METRICS];

/// Is a record of this kind one of the request log, whose parser knows where each body in it ends?
pub fn is_request(kind: &Kind) -> bool {
    [&REQUEST_RECEIVED, &REQUEST_RECEIVED_OPENAI, &REQUEST_FINISHED].contains(&kind)
}
