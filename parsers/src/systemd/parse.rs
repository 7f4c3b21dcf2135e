//! The texts of systemd, over v229 to v257 and both status styles (`Started D.`, `Started U - D.`).

use memchr::{memchr, memmem};

use super::kinds;
use crate::event::{Event, Kind, Outcome, Value};

/// Samples of each text; the kinds they must get.
pub static SAMPLES: &[(&str, &str)] = &[
    ("Starting sglang-decode.service - SGLang decode worker (Qwen3-32B TP2)...", "unit_starting"),
    ("Started sglang-prefill.service - SGLang prefill worker (Qwen3-32B TP2).", "unit_started"),
    ("Reached target nest.target - nested test target.", "unit_started"),
    ("Stopped target nest.target - nested test target.", "unit_stopped"),
    ("Finished sglang-noisy.service - SGLang noisy worker (rate limited).", "unit_finished"),
    ("Stopping sglang@decode\\x2d0.service - SGLang decode\\x2d0 (decode-0) on gpu-node-07...", "unit_stopping"),
    ("Stopped sglang-decode.service - SGLang decode worker (Qwen3-32B TP2).", "unit_stopped"),
    ("Reloading sglang-decode.service - SGLang decode worker (Qwen3-32B TP2)...", "unit_reloading"),
    ("Reloaded sglang-decode.service - SGLang decode worker (Qwen3-32B TP2).", "unit_reloaded"),
    ("Failed to start sglang-never.service - SGLang worker that never becomes ready.", "unit_start_failed"),
    ("Dependency failed for sglang-dep.service - SGLang worker with a failing dependency.", "unit_dependency_failed"),
    ("sglang-dep.service: Job sglang-dep.service/start failed with result 'dependency'.", "unit_job_failed"),
    (
        "sglang-cond.service - SGLang worker whose model path is missing skipped, unmet condition check ConditionPathExists=/x",
        "unit_skipped",
    ),
    ("U.service - D was skipped because of an unmet condition check (ConditionPathExists=/x).", "unit_skipped"),
    ("sglang-decode.service: Main process exited, code=exited, status=1/FAILURE", "unit_main_exited"),
    ("sglang-decode.service: main process exited, code=killed, status=9/KILL", "unit_main_exited"),
    ("sglang-decode.service: Control process exited, code=exited status=1", "unit_control_exited"),
    ("sglang-decode.service: Failed with result 'exit-code'.", "unit_failed"),
    ("sglang-decode.service: Unit entered failed state.", "unit_failed"),
    ("Unit sglang-decode.service entered failed state.", "unit_failed"),
    ("sglang-prefill.service: Deactivated successfully.", "unit_deactivated"),
    ("sglang-prefill.service: Succeeded.", "unit_deactivated"),
    ("sglang-decode.service: Service hold-off time over, scheduling restart.", "unit_restart_due"),
    ("sglang-decode.service holdoff time over, scheduling restart.", "unit_restart_due"),
    ("sglang-decode.service: Scheduled restart job, restart counter is at 3.", "unit_restart_scheduled"),
    ("sglang-decode.service: Start request repeated too quickly.", "unit_start_limit"),
    ("start request repeated too quickly for sglang-decode.service", "unit_start_limit"),
    ("sglang-decode.service: start operation timed out. Terminating.", "unit_timeout"),
    ("sglang-prefill.service: State 'stop-sigterm' timed out. Killing.", "unit_timeout"),
    ("sglang-decode.service: Watchdog timeout (limit 2min)!", "unit_watchdog"),
    ("sglang-hang.service: Killing process 473 (fake_sglang.sh) with signal SIGKILL.", "unit_killing"),
    ("sglang-prefill.service: Sent signal SIGKILL to main process 185 (fake_sglang.sh) on client request.", "unit_signal_sent"),
    ("sglang-noexec.service: Failed at step EXEC spawning /opt/no/such/python: No such file or directory", "unit_exec_failed"),
    ("sglang-prefill.service: A process of this unit has been killed by the OOM killer.", "unit_oom_killed"),
    ("sglang-prefill.service: Consumed 1h 12min 30.123s CPU time.", "unit_consumed"),
    ("sglang-prefill.service: Stop job pending for unit, skipping automatic restart.", "unit_restart_skipped"),
    ("sglang-prefill.service: Unit process 12 (x) remains running after unit stopped.", "unit_leftover_process"),
    ("Suppressed 1734 messages from sglang-prefill.service", "journal_suppressed"),
    ("Missed 12 kernel messages", "journal_missed"),
    ("Time jumped backwards, rotating.", "clock_changed"),
];

/// `Starting U - D...`: verb and kind. Types other than services have words of their own for started and stopped; the longer first.
static VERBS: &[(&str, &Kind)] = &[
    ("Reached target ", &kinds::STARTED),
    ("Created slice ", &kinds::STARTED),
    ("Listening on ", &kinds::STARTED),
    ("Mounted ", &kinds::STARTED),
    ("Stopped target ", &kinds::STOPPED),
    ("Removed slice ", &kinds::STOPPED),
    ("Closed ", &kinds::STOPPED),
    ("Unmounted ", &kinds::STOPPED),
    ("Starting ", &kinds::STARTING),
    ("Started ", &kinds::STARTED),
    ("Finished ", &kinds::FINISHED),
    ("Stopping ", &kinds::STOPPING),
    ("Stopped ", &kinds::STOPPED),
    ("Reloading ", &kinds::RELOADING),
    ("Reloaded ", &kinds::RELOADED),
    ("Failed to start ", &kinds::START_FAILED),
    ("Dependency failed for ", &kinds::DEPENDENCY_FAILED),
];

/// How the texts behind `U: ` begin. Other texts with a unit before them are systemd's only where the envelope says so: `model.path: …`.
static KNOWN: &[&str] = &[
    "Main process exited, ",
    "main process exited, ",
    "Control process exited, ",
    "control process exited, ",
    "Failed with result '",
    "Unit entered failed state",
    "Succeeded.",
    "Deactivated successfully",
    "Scheduled restart job",
    "Service hold-off time over",
    "Service RestartSec=",
    "Start request repeated too quickly",
    "Stop job pending for unit",
    "Watchdog timeout (limit ",
    "State '",
    "Start operation timed out",
    "start operation timed out",
    "start-pre operation timed out",
    "start-post operation timed out",
    "Stopping timed out",
    "Killing process ",
    "Sent signal ",
    "Sending signal ",
    "Killed unit cgroup with ",
    "Failed at step ",
    "Failed to execute command: ",
    "Failed to locate executable ",
    "Unable to locate executable ",
    "A process of this unit has been killed by the OOM killer",
    "systemd-oomd killed ",
    "Consumed ",
    "Job ",
    "Found left-over process ",
    "Unit process ",
];

/// How the texts behind `U: ` begin that say that U's program could not be executed.
static EXEC_FAILED: &[&str] =
    &["Failed at step ", "Failed to execute command: ", "Failed to locate executable ", "Unable to locate executable "];

/// Does a text say of `unit` that its program could not be executed?
pub fn exec_failed(text: &[u8], unit: &str) -> bool {
    prefixed(text).is_some_and(|(named, rest)| named == unit.as_bytes() && EXEC_FAILED.iter().any(|t| rest.starts_with(t.as_bytes())))
}

const TYPES: &[&str] = &["service", "scope", "slice", "socket", "target", "timer", "mount", "automount", "path", "device", "swap"];

/// Is this a full unit name: `sglang@decode\x2d0.service`?
pub fn is_unit(name: &[u8]) -> bool {
    if name.len() > 255 {
        return false;
    }
    let Some(dot) = memchr::memrchr(b'.', name) else { return false };
    dot > 0
        && TYPES.iter().any(|t| t.as_bytes() == &name[dot + 1..])
        && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'-' | b'_' | b'.' | b'\\' | b'@'))
}

/// The unit that a text of PID 1 speaks of, if the text says it.
pub fn unit_of(text: &[u8]) -> Option<&[u8]> {
    for (verb, _) in VERBS {
        if let Some(rest) = text.strip_prefix(verb.as_bytes()) {
            return named(rest).map(|(unit, _)| unit);
        }
    }
    if let Some((unit, _)) = prefixed(text) {
        return Some(unit);
    }
    let text = text.strip_prefix(b"Unit ").unwrap_or(text);
    named(text).map(|(unit, _)| unit)
}

/// A unit name at the start, and what follows it: ` - D.`, `.`, ` entered failed state.`
fn named(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr(b' ', text).unwrap_or(text.len());
    let mut name = &text[..end];
    while !is_unit(name) {
        name = name.strip_suffix(b".")?;
    }
    Some((name, &text[name.len()..]))
}

/// `U: rest`, or `U holdoff time over…` of v219.
fn prefixed(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memmem::find(&text[..text.len().min(258)], b": ")?;
    let unit = &text[..at];
    if is_unit(unit) { Some((unit, &text[at + 2..])) } else { None }
}

/// Does this text name a unit the way systemd does? Texts without one are systemd's only where the envelope says so.
pub fn head(line: &[u8]) -> bool {
    if !line.first().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':' | b'\\')) {
        return false;
    }
    if VERBS.iter().any(|(verb, _)| line.strip_prefix(verb.as_bytes()).is_some_and(|rest| named(rest).is_some_and(status_end))) {
        return true;
    }
    if let Some((_, rest)) = prefixed(line) {
        return KNOWN.iter().any(|known| rest.starts_with(known.as_bytes()));
    }
    if let Some((_, rest)) = named(line) {
        return rest.starts_with(b" holdoff time over") || (rest.starts_with(b" - ") && skipped(rest).is_some());
    }
    if let Some(rest) = line.strip_prefix(b"Unit ") {
        return named(rest).is_some_and(|(_, rest)| rest.starts_with(b" entered failed state"));
    }
    if let Some(rest) = line.strip_prefix(b"start request repeated too quickly for ") {
        return named(rest).is_some();
    }
    if let Some(rest) = line.strip_prefix(b"Suppressed ") {
        return memmem::find(rest, b" messages from ").is_some();
    }
    (line.starts_with(b"Missed ") && line.ends_with(b" kernel messages")) || line == b"Time jumped backwards, rotating."
}

/// What may follow a unit name in a status text.
fn status_end((_, rest): (&[u8], &[u8])) -> bool {
    rest.starts_with(b" - ") || rest == b"." || rest == b"..."
}

/// Where ` skipped, unmet condition …` (v257) or ` was skipped because …` (v252, v255) begins.
fn skipped(text: &[u8]) -> Option<usize> {
    memmem::find(text, b" skipped, unmet ").or_else(|| memmem::find(text, b" was skipped because "))
}

/// Parses one message.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    event.kind = &kinds::SYSTEMD_LOG;
    event.message = 0..record.len();
    let Ok(text) = std::str::from_utf8(record) else {
        return Outcome::Unparsed("not UTF-8");
    };
    if let Some((unit, rest)) = prefixed(record) {
        let rest = &text[text.len() - rest.len()..];
        unit_field(&text[..unit.len()], event);
        event.kind = about_unit(rest, event);
        return Outcome::Parsed;
    }
    for (verb, kind) in VERBS {
        if let Some(rest) = text.strip_prefix(verb) {
            event.kind = kind;
            status(rest, event);
            return Outcome::Parsed;
        }
    }
    event.kind = general(text, event);
    Outcome::Parsed
}

fn unit_field<'a>(unit: &'a str, event: &mut Event<'a>) {
    event.field("unit", "unit", Value::Str(unit.into()));
}

fn text_field<'a>(name: &'static str, text: &'a str, event: &mut Event<'a>) {
    event.field(name, name, Value::Str(text.into()));
}

fn number_field(name: &'static str, text: &str, event: &mut Event<'_>) {
    if let Some(value) = crate::keyvalue::number(text) {
        event.field(name, name, value);
    }
}

/// `U - D.`, `U.` or `D...` behind a verb.
fn status<'a>(rest: &'a str, event: &mut Event<'a>) {
    let rest = rest.strip_suffix("...").or_else(|| rest.strip_suffix('.')).unwrap_or(rest);
    if is_unit(rest.as_bytes()) {
        return unit_field(rest, event);
    }
    if let Some((unit, description)) = rest.split_once(" - ")
        && is_unit(unit.as_bytes())
    {
        unit_field(unit, event);
        return text_field("description", description, event);
    }
    text_field("description", rest, event);
}

/// What stands behind `U: `.
fn about_unit<'a>(rest: &'a str, event: &mut Event<'a>) -> &'static Kind {
    let lower_start = |text: &str| rest.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
    if lower_start("Main process exited, ") {
        exit(&rest["Main process exited, ".len()..], event);
        return &kinds::MAIN_EXITED;
    }
    if lower_start("Control process exited, ") {
        exit(&rest["Control process exited, ".len()..], event);
        return &kinds::CONTROL_EXITED;
    }
    if let Some(result) = between(rest, "Failed with result '", "'") {
        text_field("result", result, event);
        return &kinds::FAILED;
    }
    if rest.starts_with("Unit entered failed state") {
        return &kinds::FAILED;
    }
    if rest == "Succeeded." || rest.starts_with("Deactivated successfully") {
        text_field("result", "success", event);
        return &kinds::DEACTIVATED;
    }
    if let Some(counter) = between(rest, "Scheduled restart job, restart counter is at ", ".") {
        number_field("restart_counter", counter, event);
        return &kinds::RESTART_SCHEDULED;
    }
    if rest.starts_with("Scheduled restart job") {
        return &kinds::RESTART_SCHEDULED;
    }
    if rest.contains("hold-off time over") {
        return &kinds::RESTART_DUE;
    }
    if lower_start("start request repeated too quickly") {
        return &kinds::START_LIMIT;
    }
    if rest.starts_with("Stop job pending for unit") {
        return &kinds::RESTART_SKIPPED;
    }
    if let Some(limit) = between(rest, "Watchdog timeout (limit ", ")") {
        text_field("limit", limit, event);
        return &kinds::WATCHDOG;
    }
    if let Some((state, action)) = rest.split_once(" timed out") {
        let state = state.strip_prefix("State '").and_then(|s| s.strip_suffix('\'')).unwrap_or(state);
        text_field("state", state.strip_suffix(" operation").unwrap_or(state), event);
        let action = action.trim_start_matches(['.', ' ']).trim_end_matches('.');
        if !action.is_empty() {
            text_field("action", action, event);
        }
        return &kinds::TIMEOUT;
    }
    if let Some(process) = rest.strip_prefix("Killing process ") {
        killed(process, " with signal ", event);
        return &kinds::KILLING;
    }
    if let Some(sent) = rest.strip_prefix("Sent signal ").or_else(|| rest.strip_prefix("Sending signal ")) {
        if let Some((signal, process)) = sent.split_once(" to ") {
            text_field("signal", signal, event);
            killed(process.trim_start_matches("main process ").trim_start_matches("process "), " on ", event);
        }
        return &kinds::SIGNAL_SENT;
    }
    if let Some(signal) = between(rest, "Killed unit cgroup with ", " ") {
        text_field("signal", signal, event);
        return &kinds::SIGNAL_SENT;
    }
    if let Some(step) = rest.strip_prefix("Failed at step ") {
        if let Some((step, rest)) = step.split_once(" spawning ") {
            text_field("step", step, event);
            if let Some((path, reason)) = rest.split_once(": ") {
                text_field("executable", path, event);
                text_field("reason", reason, event);
            }
        }
        return &kinds::EXEC_FAILED;
    }
    if rest.starts_with("Failed to execute")
        || rest.starts_with("Failed to locate executable")
        || rest.starts_with("Unable to locate executable")
    {
        if let Some((_, reason)) = rest.rsplit_once(": ") {
            text_field("reason", reason, event);
        }
        return &kinds::EXEC_FAILED;
    }
    if rest.contains("killed by the OOM killer") || rest.starts_with("systemd-oomd killed ") {
        return &kinds::OOM_KILLED;
    }
    if let Some(cpu) = between(rest, "Consumed ", " CPU time") {
        text_field("cpu_time", cpu, event);
        return &kinds::CONSUMED;
    }
    if let Some((_, result)) = rest.strip_prefix("Job ").and_then(|job| job.split_once(" failed with result '")) {
        text_field("result", result.trim_end_matches(['.', '\'']), event);
        return &kinds::JOB_FAILED;
    }
    if rest.starts_with("Found left-over process ") || rest.starts_with("Unit process ") {
        return &kinds::LEFTOVER;
    }
    &kinds::UNIT_LOG
}

/// `code=exited, status=1/FAILURE`; v229 has no comma and no name for control processes.
fn exit<'a>(text: &'a str, event: &mut Event<'a>) {
    if let Some(code) = text.strip_prefix("code=") {
        text_field("code", code.split([',', ' ']).next().unwrap_or(code), event);
    }
    let Some((_, status)) = text.split_once("status=") else { return };
    let status = status.split(' ').next().unwrap_or(status);
    let (number, name) = status.split_once('/').map_or((status, None), |(number, name)| (number, Some(name)));
    number_field("status", number, event);
    if let Some(name) = name {
        text_field("status_name", name, event);
    }
}

/// `473 (fake_sglang.sh)` up to `end`, and a signal behind ` with signal `.
fn killed<'a>(text: &'a str, end: &str, event: &mut Event<'a>) {
    let Some((process, after)) = text.split_once(end) else { return };
    if let Some((pid, name)) = process.split_once(" (") {
        number_field("pid", pid, event);
        text_field("process", name.trim_end_matches(')'), event);
    }
    if end == " with signal " {
        text_field("signal", after.trim_end_matches('.'), event);
    }
}

/// Texts that do not begin with a unit and a colon.
fn general<'a>(text: &'a str, event: &mut Event<'a>) -> &'static Kind {
    if let Some((count, unit)) = text.strip_prefix("Suppressed ").and_then(|t| t.split_once(" messages from ")) {
        number_field("messages", count, event);
        unit_field(unit.trim_end_matches('.'), event);
        return &kinds::SUPPRESSED;
    }
    if let Some(count) = between(text, "Missed ", " kernel messages") {
        number_field("messages", count, event);
        return &kinds::MISSED;
    }
    if text == "Journal started" {
        return &kinds::JOURNAL_STARTED;
    }
    if text.starts_with("Time has been changed")
        || text.starts_with("Time jumped backwards")
        || text.contains("Realtime clock jumped backwards")
    {
        return &kinds::CLOCK_CHANGED;
    }
    if text.starts_with("Startup finished in ") {
        return &kinds::STARTUP_FINISHED;
    }
    if let Some(description) = between(text, "Condition check resulted in ", " being skipped") {
        status(description, event);
        return &kinds::SKIPPED;
    }
    if let Some(unit) = text.strip_prefix("start request repeated too quickly for ") {
        unit_field(unit.trim_end_matches('.'), event);
        return &kinds::START_LIMIT;
    }
    let named_at = if text.starts_with("Unit ") { 5 } else { 0 };
    let Some((unit, rest)) = named(&text.as_bytes()[named_at..]) else { return &kinds::SYSTEMD_LOG };
    let (unit, rest) = (&text[named_at..named_at + unit.len()], &text[text.len() - rest.len()..]);
    unit_field(unit, event);
    if rest.starts_with(" entered failed state") {
        return &kinds::FAILED;
    }
    if rest.starts_with(" holdoff time over") {
        return &kinds::RESTART_DUE;
    }
    if let Some(at) = skipped(rest.as_bytes()) {
        if let Some(description) = rest.get(3..at) {
            text_field("description", description, event);
        }
        let reason = rest[at..].trim_start_matches(" was skipped because of an ").trim_start_matches(" skipped, ");
        text_field("reason", reason.trim_end_matches('.'), event);
        return &kinds::SKIPPED;
    }
    &kinds::UNIT_LOG
}

/// The text between a prefix of the whole and the next `end`.
fn between<'a>(text: &'a str, prefix: &str, end: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(prefix)?;
    rest.find(end).map(|at| &rest[..at])
}
