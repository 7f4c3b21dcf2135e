//! The kinds of records that the gateways write.

use crate::event::Kind;

const fn kind(name: &'static str, about: &'static str) -> Kind {
    Kind { name, about, words: "" }
}

pub static GATEWAY_REQUEST_STARTED: Kind = kind(
    "gateway_request_started",
    "the gateway got an HTTP request; its id is the gateway's and no engine's unless that is said elsewhere",
);
pub static GATEWAY_REQUEST_FINISHED: Kind = kind(
    "gateway_request_finished",
    "the gateway answered a request, with status and latency to the head of the answer; a stream may go on or break after it",
);
pub static GATEWAY_ROUTE: Kind =
    kind("gateway_route", "a policy chose a worker or a prefill and decode pair; not that the request reached it");
pub static GATEWAY_DISPATCH: Kind =
    kind("gateway_dispatch", "a request is being sent to a worker or pair; which request is said by the span, if at all");
pub static GATEWAY_CACHE_PREDICTION: Kind = kind(
    "gateway_cache_prediction",
    "smg's cache trace at dispatch: engine ids, worker and predicted overlap; a prediction of the gateway, only the engine knows what was reused",
);
pub static GATEWAY_CACHE_TRACE_FAILED: Kind =
    kind("gateway_cache_trace_failed", "smg's cache trace of a request that was dispatched to no worker");
pub static GATEWAY_LOAD_BALANCING: Kind =
    kind("gateway_load_balancing", "the cache-aware policy fell back to load because workers were too unequal");
pub static GATEWAY_RETRY: Kind = kind("gateway_retry", "an attempt failed and another one follows or was made");
pub static GATEWAY_BREAKER: Kind =
    kind("gateway_breaker", "a worker's circuit breaker changed its state; before smg 1.13 the line does not say whose");
pub static GATEWAY_WORKER_UNHEALTHY: Kind =
    kind("gateway_worker_unhealthy", "a health check of a worker failed, timed out or is still pending");
pub static GATEWAY_WORKER_HEALTHY: Kind = kind("gateway_worker_healthy", "one worker or all passed a health check");
pub static GATEWAY_WORKER_ADDED: Kind =
    kind("gateway_worker_added", "a worker was registered or its pod was found; only activation says that it gets requests");
pub static GATEWAY_WORKER_ACTIVATED: Kind = kind("gateway_worker_activated", "registered workers were marked as healthy and get requests");
pub static GATEWAY_WORKER_REMOVED: Kind = kind("gateway_worker_removed", "a worker was removed, or its pod is going");
pub static GATEWAY_WORKFLOW: Kind = kind("gateway_workflow", "a step of a background workflow, mostly the registration of one worker");
pub static GATEWAY_REQUEST_ERROR: Kind = kind(
    "gateway_request_error",
    "a request could not be sent to a worker, no worker could be chosen, or a worker's answer failed; the request may be retried",
);
pub static GATEWAY_OVERLOAD: Kind = kind("gateway_overload", "a request was refused or timed out in the gateway's own queue (429)");
pub static GATEWAY_RATE_LIMIT: Kind = kind("gateway_rate_limit", "a step of the token bucket or of the queue before it (debug)");
pub static GATEWAY_POLICY: Kind = kind("gateway_policy", "a routing policy was assigned, set up, changed or removed");
pub static GATEWAY_START: Kind = kind("gateway_start", "a step of the gateway's start: its configuration, its socket");
pub static GATEWAY_READY: Kind =
    kind("gateway_ready", "`Router ready`; since 0.2.2 workers register later, so an empty list is normal and it proves no worker");
pub static GATEWAY_STARTUP_FAILED: Kind = kind("gateway_startup_failed", "the gateway could not be started");
pub static GATEWAY_STOP: Kind = kind("gateway_stop", "a stop was asked for; the gateway drains, forces or ends");
pub static GATEWAY_LOG: Kind = kind("gateway_log", "a gateway line whose message has no kind of its own");

/// All of them.
pub static KINDS: &[&Kind] = &[
    &GATEWAY_REQUEST_STARTED,
    &GATEWAY_REQUEST_FINISHED,
    &GATEWAY_ROUTE,
    &GATEWAY_DISPATCH,
    &GATEWAY_CACHE_PREDICTION,
    &GATEWAY_CACHE_TRACE_FAILED,
    &GATEWAY_LOAD_BALANCING,
    &GATEWAY_RETRY,
    &GATEWAY_BREAKER,
    &GATEWAY_WORKER_UNHEALTHY,
    &GATEWAY_WORKER_HEALTHY,
    &GATEWAY_WORKER_ADDED,
    &GATEWAY_WORKER_ACTIVATED,
    &GATEWAY_WORKER_REMOVED,
    &GATEWAY_WORKFLOW,
    &GATEWAY_REQUEST_ERROR,
    &GATEWAY_OVERLOAD,
    &GATEWAY_RATE_LIMIT,
    &GATEWAY_POLICY,
    &GATEWAY_START,
    &GATEWAY_READY,
    &GATEWAY_STARTUP_FAILED,
    &GATEWAY_STOP,
    &GATEWAY_LOG,
];
