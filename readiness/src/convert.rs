//! From a parsed record to an observation.
//!
//! The writer decides, not the text: what a service prints is never taken for systemd's. Kinds and fields are those of corr-parsers.

use corr_parsers::event::{Event, Value};
use corr_parsers::format::{Content, Meta};
use corr_parsers::ids::{self, IdKind};
use corr_parsers::record::Record;
use corr_parsers::stamp::{Stamp, Zone};
use corr_parsers::systemd;

use crate::observe::{About, Fact, Job, Observation, ServerArgs, Word, Writer};
use crate::time::Cite;

/// Whose a source is, for records whose envelope does not say: a bare log of one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owner<'a> {
    pub host: &'a str,
    /// The caller's name of the process; empty for a source of many (a journal).
    pub unit: &'a str,
}

/// The latest receipt of a manager's line that was seen was 13 ms after it was written.
const LATEST_SEEN: i64 = 20_000_000;

/// PID 1's source stamp is earlier than journald's receipt by so much at most (13 ms were seen).
const LATEST_RECEIPT: i64 = 100_000_000;

/// What SGLang prints only after its configuration. The rest, notes on arguments above all, may be the next process's in the same log.
const RUNNING: &[&str] = &[
    "prefill_batch",
    "decode_batch",
    "scheduler_status",
    "access",
    "init_begin",
    "init_end",
    "memory_baseline",
    "memory_pool_end",
    "kv_cache_allocated",
    "cuda_graph_begin",
    "cuda_graph_end",
    "startup_timings",
    "server_ready",
    "warmup",
    "sigterm",
    "draining",
    "sigquit",
    "exception",
    "child_crashed",
    "forced_exit",
    "kill_process_tree",
    "crash_dump",
    "retract",
    "retract_abort",
    "out_of_memory",
    "cache_flushed",
    "scheduler_sized",
    "watchdog_timeout",
];

/// Beginnings of further names of such kinds.
const RUNNING_FAMILIES: &[&str] = &["request_", "uvicorn_", "weights_", "health_check_", "hicache_prefetch", "hicache_load_back"];

/// What Dynamo and gateways print while they are being configured.
const CONFIGURING: &[&str] = &[
    "dynamo_log",
    "dynamo_python",
    "worker_startup",
    "runtime_config",
    "router_config",
    "rejection_config",
    "migration_config",
    "http_server",
    "gateway_start",
    "gateway_policy",
    "gateway_log",
    "gateway_workflow",
    "text",
];

/// Does only a process that is past its configuration print this kind?
fn is_proper(format: &str, kind: &str) -> bool {
    if format.starts_with("sglang") {
        return RUNNING.contains(&kind) || RUNNING_FAMILIES.iter().any(|start| kind.starts_with(start));
    }
    !CONFIGURING.contains(&kind)
}

/// Digests one record. `wall` is its place on the time axis, as the caller's clocks give it. `None` for what says nothing of any
/// process: headers, blank lines.
pub fn observe(cite: Cite, record: &Record<'_>, event: &Event<'_>, wall: Option<Stamp>, owner: Owner<'_>) -> Option<Observation> {
    let none = Meta::default();
    let meta = record.meta.unwrap_or(&none);
    let mut seen = Observation {
        cite,
        wall,
        mono: monotonic(meta),
        mono_late: 0,
        boot: meta.boot.clone(),
        host: if meta.host.is_empty() { owner.host.into() } else { meta.host.clone() },
        unit: String::new(),
        description: String::new(),
        invocation: String::new(),
        pid: meta.pid,
        ident: meta.ident.clone(),
        writer: Writer::Service,
        serving: false,
        proper: false,
        lost: record.payload.is_empty() && meta.loss.is_some(),
        job: Job::default(),
        about: None,
        fact: Fact::Line,
    };
    if let Content::Skip(reason) = record.content {
        if reason != "boot marker" {
            return None;
        }
        seen.fact = Fact::BootMarker;
        seen.boot = boot_id(record.payload);
        return Some(seen);
    }
    let format = record.format.map_or("", |f| f.name);
    if format == systemd::SYSTEMD.name {
        managers(meta, event, &mut seen);
        return Some(seen);
    }
    if record.payload.is_empty() && meta.loss.is_none() {
        return None;
    }
    let foreign = matches!(meta.unit_source, "UNIT" | "USER_UNIT") || meta.unit == "init.scope";
    if !foreign {
        seen.unit.clone_from(&meta.unit);
        seen.invocation.clone_from(&meta.invocation);
    }
    if seen.unit.is_empty() {
        seen.unit = owner.unit.into();
    }
    seen.serving = ["sglang", "dynamo", "sgl-", "smg", "gateway", "router"].iter().any(|name| format.starts_with(name));
    seen.proper = seen.serving && is_proper(format, event.kind.name);
    seen.fact = services(event, record.payload);
    seen.about = about(event, &seen);
    Some(seen)
}

/// The monotonic reading of the moment that the shown stamp stands for: journald's own is that of the receipt.
fn monotonic(meta: &Meta) -> Option<i64> {
    let received = meta.monotonic?;
    let late = match (meta.received, meta.stamp) {
        (Some(at), Some(stamp)) if at.zone == Zone::Utc && stamp.zone == Zone::Utc => at.ns.saturating_sub(stamp.ns),
        _ => 0,
    };
    Some(if (0..=LATEST_RECEIPT).contains(&late) { received.saturating_sub(late) } else { received })
}

/// `-- Boot <32 hex> --`; empty for `-- Reboot --`.
fn boot_id(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let id = text.split("-- Boot ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    if id.len() == 32 { id.to_owned() } else { String::new() }
}

fn text(event: &Event<'_>, name: &str) -> Option<String> {
    match event.get(name)? {
        Value::Str(text) => Some(text.to_string()),
        other => Some(other.to_string()),
    }
}

fn number(event: &Event<'_>, name: &str) -> Option<u64> {
    match event.get(name)? {
        Value::Int(n) => u64::try_from(*n).ok(),
        Value::UInt(n) => Some(*n),
        _ => None,
    }
}

fn more<'m>(meta: &'m Meta, name: &str) -> Option<&'m str> {
    meta.more.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// What PID 1, a user's manager or journald says.
fn managers(meta: &Meta, event: &Event<'_>, seen: &mut Observation) {
    seen.writer = Writer::Manager;
    if seen.mono.is_some() && meta.received.is_none() {
        // Up to v255 the text modes print the receipt's reading, v257 the source's: which one this is is not said.
        seen.mono_late = LATEST_SEEN;
    }
    let named = text(event, "unit");
    let spoken = matches!(meta.unit_source, "UNIT" | "USER_UNIT");
    seen.unit = if spoken { meta.unit.clone() } else { named.unwrap_or_default() };
    if spoken {
        seen.invocation.clone_from(&meta.invocation);
    }
    if seen.unit.is_empty() {
        seen.description = text(event, "description").unwrap_or_default();
    }
    let owned = |name: &str| more(meta, name).map(str::to_owned);
    seen.job = Job { id: owned("JOB_ID"), kind: owned("JOB_TYPE"), result: owned("JOB_RESULT").or_else(|| owned("RESULT")) };
    seen.fact = match event.kind.name {
        "unit_starting" => Fact::Starting,
        "unit_started" => Fact::Started,
        "unit_finished" => Fact::Finished,
        "unit_skipped" => Fact::Skipped,
        "unit_start_failed" => Fact::StartFailed,
        "unit_dependency_failed" => Fact::DependencyFailed,
        "unit_stopping" => Fact::Stopping,
        "unit_stopped" => Fact::Stopped,
        "unit_main_exited" => {
            let part = |name| text(event, name).unwrap_or_else(|| "?".into());
            let name = text(event, "status_name").map(|name| format!("/{name}")).unwrap_or_default();
            Fact::MainExited(format!("{}/{}{name}", part("code"), part("status")))
        }
        "unit_failed" => Fact::Failed(owned("UNIT_RESULT").or_else(|| text(event, "result"))),
        "unit_deactivated" => Fact::Deactivated,
        "unit_restart_due" => Fact::RestartDue,
        "unit_restart_scheduled" => {
            Fact::RestartScheduled(number(event, "restart_counter").or_else(|| more(meta, "N_RESTARTS").and_then(|n| n.parse().ok())))
        }
        "unit_start_limit" => Fact::StartLimit,
        "unit_timeout" => Fact::TimedOut(text(event, "state").unwrap_or_default()),
        "unit_watchdog" => Fact::WatchdogExpired,
        "unit_exec_failed" => Fact::ExecFailed,
        "unit_oom_killed" => Fact::OomKilled,
        "unit_signal_sent" => Fact::SignalSent,
        "journal_suppressed" => {
            seen.writer = Writer::Journal;
            if let Some(unit) = more(meta, "OBJECT_SYSTEMD_UNIT") {
                seen.unit = unit.to_owned();
            }
            seen.invocation = more(meta, "OBJECT_SYSTEMD_INVOCATION_ID").unwrap_or_default().to_owned();
            Fact::Suppressed(number(event, "messages"))
        }
        "clock_changed" => Fact::ClockSet,
        _ => Fact::Line,
    };
    if seen.fact == Fact::ExecFailed && seen.invocation.is_empty() {
        // The child between fork and exec speaks in the unit itself.
        seen.invocation.clone_from(&meta.invocation);
    }
}

/// What a server's own line says.
fn services(event: &Event<'_>, payload: &[u8]) -> Fact {
    match event.kind.name {
        "server_args" => Fact::ServerArgs(server_args(event)),
        "init_begin" => Fact::InitBegan,
        "weights_begin" => Fact::Loading(rank(event)),
        "weights_loaded" => Fact::Loaded(rank(event)),
        "scheduler_sized" => Fact::Sized,
        "uvicorn_started" => Fact::ServerProcess(number(event, "pid").and_then(|pid| u32::try_from(pid).ok())),
        "uvicorn_listening" => Fact::Listening,
        "server_ready" => Fact::ReadyLine,
        "warmup" => Fact::WarmingUp,
        "startup_failed" => startup_failed(event, payload),
        "prefill_batch" | "decode_batch" => {
            Fact::Batch { several: ["new_seqs", "running_reqs"].iter().any(|name| number(event, name).is_some_and(|n| n > 1)) }
        }
        "access" => access(event),
        "sigterm" => Fact::Sigterm,
        "draining" => Fact::Draining { left: number(event, "remaining_reqs") },
        "health_check_failed" => Fact::HealthFailed,
        "uvicorn_finished" => Fact::ProcessFinished,
        "exception" => Fact::Crashed("an exception"),
        "child_crashed" => Fact::Crashed("a child process ended"),
        "sigquit" => Fact::Crashed("a child failed (SIGQUIT)"),
        "watchdog_timeout" => Fact::Crashed("SGLang's watchdog"),
        // Of a gateway, only an activated worker says that requests can be answered.
        "service_ready" | "gateway_worker_activated" => Fact::Registered,
        "gateway_start" if message(event, payload).starts_with("Starting router on") => Fact::RuntimeBegan,
        "gateway_stop" => Fact::Sigterm,
        "gateway_ready" => Fact::Listening,
        "gateway_request_finished" => access(event),
        "worker_request_completed" if text(event, "endpoint").as_deref() == Some("generate") => Fact::Served { local: false },
        "request_completed" if text(event, "status").as_deref() == Some("success") => Fact::Served { local: false },
        // Its endpoints' lines have this kind too, those of a start among them.
        "shutdown" => shutdown(&message(event, payload)),
        "endpoint" | "runtime_config" | "http_server" | "worker_startup" | "dynamo_log" | "dynamo_python" | "worker_discovered" => {
            dynamo(event, payload)
        }
        _ => Fact::Line,
    }
}

/// Kinds by which a Dynamo worker names itself.
const OWN: &[&str] = &["endpoint", "worker_request_received", "worker_request_completed", "kv_event_recorded"];
/// Kinds by which a frontend or a router says that it lost a worker: what clients feel first.
const LOST: &[&str] = &[
    "instance_down",
    "instance_inhibited",
    "route_failed",
    "migration_retry",
    "worker_removed",
    "worker_gone",
    "gateway_worker_unhealthy",
];
/// Kinds by which it says that a worker may be chosen.
const FOUND: &[&str] = &["worker_added", "gateway_worker_healthy"];

/// The worker that a record names, and what it says of it.
fn about(event: &Event<'_>, seen: &Observation) -> Option<About> {
    if let Fact::ServerArgs(args) = &seen.fact {
        let (ip, port) = (args.host.as_deref().unwrap_or("127.0.0.1"), args.port?);
        return Some(About { worker: address(ip, &port.to_string(), &seen.host), word: Word::Own });
    }
    let kind = event.kind.name;
    // A status is an answer, 503 too: the process is there.
    if kind == "gateway_worker_unhealthy" && event.get("status").is_some() {
        return None;
    }
    let word = match kind {
        _ if OWN.contains(&kind) => Word::Own,
        _ if LOST.contains(&kind) => Word::Lost,
        _ if FOUND.contains(&kind) => Word::Found,
        _ => return None,
    };
    if let Some(url) = text(event, "worker_url") {
        let place = url.split("://").nth(1)?.split('/').next()?.to_owned();
        let (ip, port) = place.rsplit_once(':')?;
        return Some(About { worker: address(ip, port, &seen.host), word });
    }
    let id = event.ids.iter().find(|id| id.kind == IdKind::WorkerId)?;
    let mut worker = String::new();
    ids::canonical(Some(IdKind::WorkerId), &id.text, &mut worker);
    Some(About { worker, word })
}

/// An address as all processes spell it: a loopback one, or one for every interface, is its host's.
fn address(ip: &str, port: &str, host: &str) -> String {
    let is_here = ip.starts_with("127.") || matches!(ip, "localhost" | "0.0.0.0" | "::" | "::1" | "[::1]");
    if is_here { format!("{host}|here:{port}") } else { format!("{ip}:{port}") }
}

/// `DP0 TP1` as `dp0 tp1`; empty for a rank without a tag.
fn rank(event: &Event<'_>) -> String {
    let mut rank = String::new();
    for (field, letters) in [("dp_rank", "dp"), ("pp_rank", "pp"), ("tp_rank", "tp"), ("ep_rank", "ep")] {
        if let Some(n) = number(event, field) {
            rank.push_str(&format!("{}{letters}{n}", if rank.is_empty() { "" } else { " " }));
        }
    }
    rank
}

fn server_args(event: &Event<'_>) -> ServerArgs {
    let is = |name: &str| matches!(event.get(name), Some(Value::Bool(true)));
    let size = |name: &str| number(event, name);
    let ranks = size("tp_size").map(|tp| {
        let dp = if is("enable_dp_attention") { 1 } else { size("dp_size").unwrap_or(1) };
        tp.saturating_mul(size("pp_size").unwrap_or(1)).saturating_mul(dp)
    });
    ServerArgs {
        disaggregation: text(event, "disaggregation_mode"),
        ranks,
        nodes: size("nnodes"),
        node_rank: size("node_rank"),
        skips_warmup: is("skip_server_warmup"),
        host: text(event, "host"),
        port: size("port"),
    }
}

/// A failed warm-up leaves the process running; every other failure of a start ends it.
fn startup_failed(event: &Event<'_>, payload: &[u8]) -> Fact {
    let message = message(event, payload);
    let lower = message.to_ascii_lowercase();
    if lower.contains("warmup") || lower.contains("warm up") {
        return Fact::WarmupFailed(message.lines().next().unwrap_or_default().chars().take(160).collect());
    }
    Fact::Crashed("the start failed")
}

fn message(event: &Event<'_>, payload: &[u8]) -> String {
    String::from_utf8_lossy(payload.get(event.message.clone()).unwrap_or(payload)).into_owned()
}

/// A request for tokens that was answered; probes and administration are not.
fn access(event: &Event<'_>) -> Fact {
    let path = text(event, "path").unwrap_or_default();
    let asks = text(event, "method").as_deref() == Some("POST")
        && (path == "/generate" || path.starts_with("/v1/") || matches!(path.as_str(), "/encode" | "/classify" | "/invocations"));
    let ok = number(event, "status").is_some_and(|status| (200..300).contains(&status));
    if !asks || !ok {
        return Fact::Line;
    }
    let ip = text(event, "client_ip").unwrap_or_default();
    Fact::Served { local: ip.starts_with("127.") || ip == "::1" || ip == "[::1]" }
}

/// Dynamo's start, registration and shutdown; texts: 0.6 to 1.6.
fn dynamo(event: &Event<'_>, payload: &[u8]) -> Fact {
    let message = message(event, payload);
    let starts = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
    if starts(&["dynamo runtime configuration", "OpenTelemetry OTLP export", "[spawn_system_status_server] binding to"]) {
        return Fact::RuntimeBegan;
    }
    // By `worker_kv_query_source_…` (`worker_kv_indexer_query_…` up to 1.0) routers fetch KV events: it serves no request, and may come first.
    let serves = !message.contains("worker_kv_");
    if serves && starts(&["Model registration succeeded", "Endpoint registered, total active", "Registered endpoint"]) {
        return Fact::Registered;
    }
    shutdown(&message)
}

/// A signal, or the first steps of a shutdown: a runtime takes the same ones whoever wants it to.
fn shutdown(message: &str) -> Fact {
    let says = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
    if says(&["Received SIGTERM", "Received SIGINT", "Received shutdown signal"]) {
        return Fact::Sigterm;
    }
    let steps = [
        "Runtime readiness withdrawn",
        "Runtime shutdown",
        "Shutting down DistributedRuntime",
        "Phase 1:",
        "HTTP server shutdown requested",
        "frontend service entering draining",
        "frontend service entering stopping",
        "DistributedRuntime shutdown complete",
    ];
    if says(&steps) { Fact::ShutsDown } else { Fact::Line }
}
