//! What of a complete run is not there, why that matters, and the switch that would give it.

use corr_parsers::clock::How;

use super::Run;
use super::coverage::Coverage;
use super::source::{Class, Source};

/// One thing that a run lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Stable name, for programs.
    pub id: &'static str,
    /// What is not there.
    pub what: String,
    /// What cannot be shown without it.
    pub why: &'static str,
    /// The switch or step that would give it.
    pub needs: &'static str,
}

/// A source with its coverage.
type Covered<'a> = (&'a Source, &'a Coverage);

/// Lists what is missing; `coverage` is parallel to the run's sources.
pub fn of(run: &Run, coverage: &[Option<&Coverage>]) -> Vec<Missing> {
    let covered: Vec<Covered<'_>> = run.sources.iter().zip(coverage).filter_map(|(s, c)| Some((s, (*c)?))).collect();
    let has = |prefix: &str| covered.iter().any(|(s, _)| s.detection.formats.iter().any(|f| f.name.starts_with(prefix)));
    let (dynamo, sglang) = (has("dynamo"), has("sglang"));
    let mut missing = Vec::new();
    if dynamo {
        missing.extend(of_dynamo(&covered));
    }
    if sglang {
        missing.extend(of_sglang(&covered));
    }
    if !dynamo && !sglang {
        missing.push(Missing {
            id: "worker_log",
            what: "no log of a serving process".into(),
            why: "nothing here says what the engine did",
            needs: "put the workers' standard error and output into files of the run",
        });
    }
    if !run.sources.iter().any(|s| matches!(s.class, Class::Metrics(_))) {
        missing.push(Missing {
            id: "metrics",
            what: "no metrics capture".into(),
            why: "L1 hits, evictions and write-backs are visible only as counters in most versions",
            needs: "scrape /metrics of every worker and of the frontend (SGLang: --enable-metrics)",
        });
    }
    if !covered.iter().any(|(s, _)| s.detection.layout.envelopes.iter().any(|e| e.name.starts_with("journald"))) {
        missing.push(Missing {
            id: "journald",
            what: "no journald export".into(),
            why: "when a process was started, stopped or killed, and by whom, is known only by what the processes themselves printed",
            needs: "journalctl -o export -b > journal.export (or -o json --all, or the journal file itself), if systemd runs the servers",
        });
    }
    let assumed: Vec<&str> =
        covered.iter().filter(|(s, c)| s.clock.how == How::Assumed && c.first.is_some()).map(|(s, _)| s.key.as_str()).collect();
    if !assumed.is_empty() {
        missing.push(Missing {
            id: "zone",
            what: format!("no zone for {}: UTC is assumed", list(&assumed)),
            why: "joining its times with those of other sources may be wrong by whole hours",
            needs: "--tz SOURCE=ZONE, or tz in corr.toml",
        });
    }
    let timeless: Vec<&str> = covered
        .iter()
        // A document has no time and wants none.
        .filter(|(s, c)| !s.detection.formats.is_empty() && c.parsed.records > 1 && c.first.is_none())
        .map(|(s, _)| s.key.as_str())
        .collect();
    if !timeless.is_empty() {
        missing.push(Missing {
            id: "stamps",
            what: format!("no times in {}", list(&timeless)),
            why: "its records cannot be placed on the time axis",
            needs: "for zone names that are not unique: --tz SOURCE=ZONE; else a source with stamps",
        });
    }
    missing
}

fn of_dynamo(covered: &[Covered<'_>]) -> Vec<Missing> {
    let mut missing = Vec::new();
    let sum = |names: &[&str]| -> u64 {
        let dynamo = covered.iter().filter(|(s, _)| s.detection.formats.iter().any(|f| f.name.starts_with("dynamo")));
        dynamo.map(|(_, c)| names.iter().map(|n| c.of_kind(n)).sum::<u64>()).sum()
    };
    let rows = sum(&["request_end"]);
    if rows == 0 {
        missing.push(Missing {
            id: "request_trace",
            what: "no request trace rows".into(),
            why: "sessions, the router's prediction and a request's times are not in the logs",
            needs: "DYN_REQUEST_TRACE=1 on the frontend (1.2: DYN_AGENT_TRACE_SINKS=jsonl)",
        });
    } else {
        let trace = covered.iter().filter(|(_, c)| c.of_kind("request_end") > 0);
        let (mut n, mut session, mut x) = (0, 0, 0);
        for (_, c) in trace {
            (n, session, x) = (n + c.requests, session + c.with_session, x + c.with_x_request_id);
        }
        if session < n {
            missing.push(Missing {
                id: "session",
                what: format!("no session on {} of {n} trace rows", n - session),
                why: "a row without a session header also lacks x_request_id, model and finish reason; what it did cannot be tied to a session",
                needs: "clients that send x-dynamo-session-id (1.3 and later)",
            });
        }
        if x < n {
            missing.push(Missing {
                id: "x_request_id",
                what: format!("no x_request_id on {} of {n} trace rows", n - x),
                why: "these rows join with the client's records only through the frontend's request_id",
                needs: "clients that send x-request-id and a session header; DYN_REQUEST_TRACE_HTTP_HEADER_CAPTURE_LIST=x-request-id,… with payload rows",
            });
        }
    }
    if sum(&["worker_selected", "route_completed", "request_received", "request_completed", "http_response", "service_ready"]) == 0 {
        missing.push(Missing {
            id: "router_log",
            what: "no frontend or router log".into(),
            why: "which worker a request went to, and whether it migrated, is said only there",
            needs: "put the frontend's standard error into a file of the run",
        });
    }
    let roles = ["prefill", "decode", "unified"];
    let worker_log = covered.iter().any(|(s, c)| s.owner.role.as_deref().is_some_and(|r| roles.contains(&r)) && c.records > 0);
    if !worker_log && sum(&["worker_request_received", "kv_event_recorded", "worker_startup"]) == 0 {
        missing.push(Missing {
            id: "worker_log",
            what: "no worker log".into(),
            why: "that a request reached its worker, and when, is not shown",
            needs: "put the workers' standard error into files of the run",
        });
    }
    let logs = covered.iter().filter(|(s, _)| s.detection.formats.iter().any(|f| matches!(f.name, "dynamo-text" | "dynamo-jsonl")));
    let quiet: Vec<&str> = logs.filter(|(_, c)| c.debug() == 0 && c.parsed.records > 0).map(|(s, _)| s.key.as_str()).collect();
    if !quiet.is_empty() {
        missing.push(Missing {
            id: "debug",
            what: format!("no debug lines in {}", list(&quiet)),
            why: "routing inputs, block overlap and KV events are DEBUG",
            needs: "DYN_LOG=info,dynamo_kv_router=debug,dynamo_llm::kv_router=debug",
        });
    }
    missing
}

fn of_sglang(covered: &[Covered<'_>]) -> Vec<Missing> {
    let mut missing = Vec::new();
    let servers: Vec<&Covered<'_>> =
        covered.iter().filter(|(s, _)| s.detection.formats.iter().any(|f| f.name.starts_with("sglang"))).collect();
    let sum = |names: &[&str]| -> u64 { servers.iter().map(|(_, c)| names.iter().map(|n| c.of_kind(n)).sum::<u64>()).sum() };
    if sum(&["prefill_batch", "decode_batch", "server_args", "server_ready"]) == 0 {
        missing.push(Missing {
            id: "worker_log",
            what: "no SGLang server log".into(),
            why: "batches, restarts and HiCache are said only there",
            needs: "put the server's standard error and output into files of the run",
        });
    }
    if sum(&["request_received", "request_finished"]) == 0 {
        missing.push(Missing {
            id: "request_log",
            what: "no SGLang request log".into(),
            why: "a server log alone names no request: batches carry no rid",
            needs: "--log-requests --log-requests-level 0 (no bodies), or --export-metrics-to-file",
        });
    } else {
        let (mut n, mut x) = (0, 0);
        for (_, c) in servers.iter().filter(|(_, c)| c.of_kind("request_end") == 0) {
            (n, x) = (n + c.requests, x + c.with_x_request_id);
        }
        if x < n {
            missing.push(Missing {
                id: "headers",
                what: format!("no x-request-id on {} of {n} logged requests", n - x),
                why: "the engine's rid joins with a router or client only through a header that both have",
                needs: "SGLANG_LOG_REQUEST_HEADERS=x-request-id beside --log-requests, and clients that send it",
            });
        }
    }
    if sum(&["request_time_stats", "request_metrics"]) == 0 {
        missing.push(Missing {
            id: "time_stats",
            what: "no times by request".into(),
            why: "time in queue, in transfer and in forward passes is not told apart by request",
            needs: "--enable-request-time-stats-logging, or --export-metrics-to-file",
        });
    }
    let logs = servers.iter().filter(|(_, c)| c.of_kind("server_args") + c.of_kind("prefill_batch") + c.of_kind("decode_batch") > 0);
    let quiet: Vec<&str> = logs.filter(|(_, c)| c.debug() == 0 && !debug_kinds(c)).map(|(s, _)| s.key.as_str()).collect();
    if !quiet.is_empty() {
        missing.push(Missing {
            id: "debug",
            what: format!("no debug lines in {}", list(&quiet)),
            why: "L2 load-back, write-back and most L3 prefetches succeed without a line at INFO",
            needs: "--log-level debug, or the counters of /metrics",
        });
    }
    missing
}

/// SGLang prints no level on most lines: these kinds exist at debug level only.
fn debug_kinds(coverage: &Coverage) -> bool {
    ["hicache_prefetch_started", "hicache_load_back", "hicache_write_back"].iter().any(|kind| coverage.of_kind(kind) > 0)
}

/// At most four names, and how many more.
fn list(names: &[&str]) -> String {
    let shown = names.iter().take(4).copied().collect::<Vec<_>>().join(", ");
    if names.len() > 4 { format!("{shown} and {} more", names.len() - 4) } else { shown }
}
