//! What is an event to a reader of a timeline: a mark, a line that is printed again and again, or one among others?

use serde_json::Value as Json;

use crate::render::shown::Shown;

/// What a kind says of a process's or a run's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A process began, or its configuration shows that it did.
    Start,
    /// It says of itself that it serves.
    Ready,
    /// It was told to end, or ends.
    Stop,
    /// It died, or could not do what it is for.
    Failure,
    /// Workers came or went.
    Members,
    /// A phase of the driver.
    Phase,
    /// Lines were lost, or the clock was set.
    Gap,
    /// A model was loaded.
    Loaded,
    /// It was never ready, is no longer, or it cannot be known.
    NotReady,
    /// From one run to the next ready one.
    Outage,
    /// Of an edge: when records first and last prove it, or when it was counted.
    Verdict,
}

impl Mark {
    /// The word in every output.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Start => "start",
            Mark::Ready => "ready",
            Mark::Stop => "stop",
            Mark::Failure => "failure",
            Mark::Members => "members",
            Mark::Phase => "phase",
            Mark::Gap => "gap",
            Mark::Loaded => "loaded",
            Mark::NotReady => "not ready",
            Mark::Outage => "outage",
            Mark::Verdict => "verdict",
        }
    }
}

/// How an event is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Mark(Mark),
    /// Said again and again: folded with its like from the second on. The text tells lines of one kind apart.
    Periodic(&'static str),
    /// Warnings and errors: folded when they are alike, or very many.
    Serious,
    /// Anything else: folded where there are several in a row.
    Other,
}

/// Kinds that are marks.
pub fn mark(kind: &str) -> Option<Mark> {
    Some(match kind {
        "server_args" | "unit_starting" | "unit_started" | "unit_restart_scheduled" | "run_started" | "process_started" => Mark::Start,
        "server_ready" | "service_ready" | "gateway_ready" | "model_ready" | "infra_ready" => Mark::Ready,
        "sigterm" | "draining" | "forced_exit" | "kill_process_tree" | "uvicorn_shutdown" | "uvicorn_finished" | "gateway_stop"
        | "unit_stopping" | "unit_stopped" | "unit_deactivated" | "unit_finished" | "unit_killing" | "unit_signal_sent"
        | "process_exited" | "run_interrupted" | "run_ended" => Mark::Stop,
        "exception"
        | "child_crashed"
        | "sigquit"
        | "out_of_memory"
        | "watchdog_timeout"
        | "startup_failed"
        | "gateway_startup_failed"
        | "health_check_failed"
        | "memory_leak"
        | "crash_dump"
        | "unit_start_failed"
        | "unit_dependency_failed"
        | "unit_job_failed"
        | "unit_main_exited"
        | "unit_failed"
        | "unit_start_limit"
        | "unit_timeout"
        | "unit_watchdog"
        | "unit_exec_failed"
        | "unit_oom_killed"
        | "not_ready"
        | "benchmark_failed"
        | "run_failed" => Mark::Failure,
        "worker_added"
        | "worker_removed"
        | "worker_gone"
        | "instance_down"
        | "instance_inhibited"
        | "gateway_worker_added"
        | "gateway_worker_removed"
        | "pd_connection_lost"
        | "pd_role_switch" => Mark::Members,
        "phase_started"
        | "benchmark_started"
        | "benchmark_completed"
        | "load_level_started"
        | "load_level_completed"
        | "cleanup_started"
        | "run_completed"
        | "cache_flushed" => Mark::Phase,
        "journal_suppressed" | "journal_missed" | "clock_changed" => Mark::Gap,
        _ => return None,
    })
}

/// Kinds of lines that state the same thing over and over.
const PERIODIC: &[&str] = &[
    "prefill_batch",
    "decode_batch",
    "scheduler_status",
    "http_client",
    "http_response",
    "progress",
    "forward_pass",
    "active_sequences",
    "kv_metrics",
    "kv_stored",
    "kv_removed",
    "kv_events",
    "kv_event_recorded",
    "kv_event_applied",
    "kvbm_hit_rates",
    "worker_load",
    "worker_reported",
    "overload_changed",
    "routing_formula",
    "routing_input",
    "span_created",
    "span_closed",
    "span_first_entry",
    "gateway_rate_limit",
    "gateway_worker_healthy",
    "hicache_write_back",
    "hicache_load_back",
    "waiting",
    "unit_consumed",
    "otlp_span",
    "planned_request",
];

/// Beginnings of kinds that say what became of a cache entry or a request.
const TELLING: &[&str] = &[
    "hicache_prefetch",
    "hicache_lookup",
    "hicache_backup_failed",
    "hicache_dropped",
    "hicache_storage_",
    "kvbm_onboard",
    "kvbm_offload",
    "retract",
    "migration",
    "pd_",
    "request_error",
    "request_abort",
    "request_cancellation",
    "client_disconnect",
    "stream_failure",
    "gateway_retry",
    "gateway_breaker",
];

/// A kind that is shown before others where not all can be.
pub fn telling(kind: &str) -> bool {
    TELLING.iter().any(|beginning| kind.starts_with(beginning))
}

/// Paths that health checks ask for.
pub const PROBES: &[&str] =
    &["/health", "/health_generate", "/healthz", "/livez", "/live", "/readyz", "/ready", "/ping", "/liveness", "/readiness"];
/// Paths that scrapers ask for.
const SCRAPES: &[&str] = &["/metrics", "/engine_metrics"];

/// Where SGLang's own probes have their rid from.
const PROBE_ID: &str = "HEALTH_CHECK";

/// What an event is.
pub fn class(event: &Shown) -> Class {
    if let Some(mark) = mark(event.kind) {
        return Class::Mark(mark);
    }
    if event.ids.iter().any(|(_, id)| id.starts_with(PROBE_ID)) {
        return Class::Periodic("of health probes");
    }
    if let Some(of) = path(event) {
        return Class::Periodic(of);
    }
    if matches!(event.level, Some("warn" | "error" | "fatal")) {
        return Class::Serious;
    }
    if PERIODIC.contains(&event.kind) { Class::Periodic("") } else { Class::Other }
}

/// Access lines by what was asked for. A probe that a server answers with an error is a probe.
fn path(event: &Shown) -> Option<&'static str> {
    let path = event.fields.iter().find(|(name, _, _)| name == "path" || name == "uri").and_then(|f| f.2.as_str());
    let path = path.map(|p| p.split(['?', ' ']).next().unwrap_or(""));
    match path {
        Some(path) if PROBES.contains(&path) => Some("of health probes"),
        Some(path) if SCRAPES.contains(&path) => Some("of scrapes"),
        _ if event.kind == "access" => Some("of other calls"),
        _ => None,
    }
}

/// Numbers that say where a line comes from and not what it says: no range is made of them.
const NO_QUANTITY: &[&str] = &["line", "pid", "tid", "sequence"];
const NO_QUANTITY_ENDS: &[&str] = &["port", "_id", "_rank", "_hash"];

/// The numbers of an event of which ranges are made.
pub fn quantities(event: &Shown) -> impl Iterator<Item = (&str, &serde_json::Number)> {
    event.fields.iter().filter_map(|(name, _, value)| match value {
        Json::Number(_) if NO_QUANTITY.contains(&name.as_str()) || NO_QUANTITY_ENDS.iter().any(|end| name.ends_with(end)) => None,
        Json::Number(n) => Some((name.as_str(), n)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind that is named here is a kind of a format: a misspelled one would never be found.
    #[test]
    fn kinds_are_those_of_the_formats() {
        let about = include_str!("../../docs/kinds.md");
        let known = |kind: &str| about.contains(&format!("| `{kind}` |"));
        let source = include_str!("kinds.rs");
        let marks = source.split("pub fn mark").nth(1).and_then(|s| s.split("_ => return None").next()).expect("the table of marks");
        let mut count = 0;
        for kind in marks.split('"').skip(1).step_by(2).chain(PERIODIC.iter().copied()) {
            assert!(known(kind), "{kind} is no kind of docs/kinds.md");
            count += 1;
        }
        assert!(count > 80, "only {count} kinds were looked at");
    }
}
