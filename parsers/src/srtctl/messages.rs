//! What a message of the driver says. Messages are matched by their fixed words (srt-slurm c88ef731); all others stay what they are.

use super::kinds as k;
use crate::event::{Event, Kind, Value};
use crate::keyvalue;

/// Messages that are one fixed text, or begin with it.
const FIXED: &[(&str, &Kind)] = &[
    ("Sweep Orchestrator", &k::RUN_STARTED),
    ("Starting benchmark", &k::BENCHMARK_STARTED),
    ("Server is healthy - starting benchmark", &k::BENCHMARK_STARTED),
    ("Benchmark completed successfully", &k::BENCHMARK_COMPLETED),
    ("Server did not become healthy", &k::NOT_READY),
    ("Wait for model aborted by stop event", &k::NOT_READY),
    ("Waiting for ", &k::WAITING),
    ("Polling ", &k::WAITING),
    ("Stop requested, terminating benchmark", &k::RUN_INTERRUPTED),
    ("Critical process failure detected!", &k::RUN_FAILED),
    ("Cleanup", &k::CLEANUP_STARTED),
    ("✓ Sweep completed successfully", &k::RUN_COMPLETED),
    ("Interrupted", &k::RUN_INTERRUPTED),
];

/// How the orchestrator announces a phase, and the phase.
const PHASES: &[(&str, &str)] = &[
    ("Starting infrastructure services", "infrastructure"),
    ("Starting backend workers", "workers"),
    ("Starting frontend layer", "frontend"),
    ("Starting Tachometer", "tachometer"),
];

/// `Name: value` lines of the orchestrator's banner.
const FACTS: &[(&str, &str)] = &[
    ("Job ID: ", "job_id"),
    ("Run name: ", "run_name"),
    ("Config: ", "config"),
    ("Infra node: ", "infra_node"),
    ("Head node: ", "head_node"),
    ("Worker nodes: ", "worker_nodes"),
];

/// Reads one message.
pub fn read<'a>(text: &'a str, event: &mut Event<'a>) {
    let Some(kind) = varied(text, event).or_else(|| fixed(text, event)) else { return };
    event.kind = kind;
}

fn fixed<'a>(text: &'a str, event: &mut Event<'a>) -> Option<&'static Kind> {
    if let Some((start, name)) = FACTS.iter().find(|(start, _)| text.starts_with(start)) {
        event.field(name, start.trim_end_matches([':', ' ']), Value::Str(text[start.len()..].into()));
        return Some(&k::RUN_FACT);
    }
    if let Some((start, phase)) = PHASES.iter().find(|(start, _)| text.starts_with(start)) {
        event.field("phase", *start, Value::Str((*phase).into()));
        return Some(&k::PHASE_STARTED);
    }
    FIXED.iter().find(|(start, _)| text.starts_with(start)).map(|(_, kind)| *kind)
}

/// Messages with parts.
fn varied<'a>(text: &'a str, event: &mut Event<'a>) -> Option<&'static Kind> {
    if let Some(dir) = text.strip_prefix("Run directory: ") {
        event.field("run_directory", "Run directory", Value::Str(dir.into()));
        return Some(&k::RUN_STARTED);
    }
    if let Some((name, rest)) = text.strip_prefix("Started ").and_then(|t| t.split_once(": pid=")) {
        let (pid, log) = rest.split_once(" log=").unwrap_or((rest, ""));
        put(event, "process", name);
        put(event, "pid", pid);
        put(event, "log", log);
        return Some(&k::PROCESS_STARTED);
    }
    if let Some(rest) = text.strip_prefix("Router ready: prefill=") {
        let (prefill, decode) = rest.split_once(" decode=")?;
        for (have, want, counts) in [("prefill", "prefill_expected", prefill), ("decode", "decode_expected", decode)] {
            let (n, of) = counts.split_once('/').unwrap_or((counts, ""));
            put(event, have, n);
            put(event, want, of);
        }
        return Some(&k::MODEL_READY);
    }
    if let Some(rest) = text.strip_prefix("Model is ready. Have ") {
        let mut words = rest.split(' ');
        put(event, "prefill", words.next().unwrap_or(""));
        put(event, "decode", words.nth(2).unwrap_or(""));
        return Some(&k::MODEL_READY);
    }
    if let Some(name) = text.strip_suffix(" is ready").filter(|n| !n.is_empty() && !n.contains(' ')) {
        put(event, "service", name);
        return Some(&k::INFRA_READY);
    }
    if text.contains(" did not become ready") || text.starts_with("Model did not get healthy in ") {
        put(event, "reason", text.strip_prefix("ERROR: ").unwrap_or(text));
        return Some(&k::NOT_READY);
    }
    exits(text, event).or_else(|| starting(text, event))
}

/// Ends, with their status.
fn exits<'a>(text: &'a str, event: &mut Event<'a>) -> Option<&'static Kind> {
    if let Some((name, code)) = text.strip_prefix("Critical process '").and_then(|t| t.split_once("' exited with code ")) {
        put(event, "process", name);
        put(event, "exit_code", code);
        return Some(&k::PROCESS_EXITED);
    }
    if let Some(name) = text.strip_prefix("ERROR: owned service ").and_then(|t| t.strip_suffix(" exited")) {
        put(event, "process", name);
        return Some(&k::PROCESS_EXITED);
    }
    if let Some(code) = text.strip_prefix("Benchmark failed with exit code ") {
        put(event, "exit_code", code);
        return Some(&k::BENCHMARK_FAILED);
    }
    if let Some(rest) = text.strip_prefix("ERROR: Benchmark exited with status ") {
        put(event, "exit_code", rest.split(';').next().unwrap_or(""));
        return Some(&k::BENCHMARK_FAILED);
    }
    if let Some(rest) = text.strip_prefix("✗ Sweep failed (exit code: ") {
        put(event, "exit_code", rest.split(')').next().unwrap_or(""));
        return Some(&k::RUN_FAILED);
    }
    if let Some(reason) = text.strip_prefix("ERROR: ") {
        put(event, "reason", reason);
        return Some(&k::RUN_FAILED);
    }
    if let Some(signal) = text.strip_prefix("Interrupted by signal ") {
        put(event, "signal", signal);
        return Some(&k::RUN_INTERRUPTED);
    }
    if let Some(rest) = text.strip_prefix("Received signal ") {
        put(event, "signal", rest.split(',').next().unwrap_or(""));
        return Some(&k::RUN_INTERRUPTED);
    }
    if let Some(rest) = text.strip_prefix("Cleaning up ") {
        put(event, "processes", rest.split(' ').next().unwrap_or(""));
        return Some(&k::CLEANUP_STARTED);
    }
    None
}

/// `Starting agg worker 0 on node01`, `Starting dynamo frontend 0 on node01`, and the benchmark scripts' levels.
fn starting<'a>(text: &'a str, event: &mut Event<'a>) -> Option<&'static Kind> {
    for (start, kind) in
        [("Running benchmark with concurrency: ", &k::LEVEL_STARTED), ("Completed benchmark with concurrency: ", &k::LEVEL_COMPLETED)]
    {
        if let Some(concurrency) = text.strip_prefix(start) {
            put(event, "concurrency", concurrency);
            return Some(kind);
        }
    }
    if let Some(name) = text.strip_prefix("Running ").and_then(|t| t.strip_suffix(" benchmark")) {
        put(event, "benchmark", name);
        return Some(&k::BENCHMARK_STARTED);
    }
    let (name, node) = text.strip_prefix("Starting ")?.rsplit_once(" on ")?;
    let (what, index) = name.rsplit_once(' ')?;
    if !index.bytes().all(|b| b.is_ascii_digit()) || !(what.ends_with(" worker") || what.ends_with(" frontend")) {
        return None;
    }
    put(event, "process", what);
    put(event, "index", index);
    put(event, "node", node);
    Some(&k::PROCESS_STARTED)
}

/// A typed field; the empty text is none.
fn put<'a>(event: &mut Event<'a>, name: &'static str, text: &'a str) {
    let text = text.trim();
    if !text.is_empty() {
        event.field(name, name, keyvalue::typed(text));
    }
}
