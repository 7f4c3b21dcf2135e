//! What SGLang's servers write: the engine log, the request log as JSON, and the request metrics file (see README.md here).

mod admin;
mod batch;
mod bodies;
mod copied;
mod custom;
mod hicache;
pub mod kinds;
mod lifecycle;
mod memory;
mod metrics_file;
mod pd;
mod prefix;
mod repeats;
mod requests;
pub(crate) mod rules;
mod server_args;
#[cfg(test)]
mod tests;
mod time_stats;
mod uvicorn;
mod values;

use crate::event::{Event, Outcome};
use crate::format::{Format, all_bodies, never_cut};

/// The engine log: `[stamp tags] message`, bare request lines of 0.5.8 to 0.5.11, and the Rust front-end's lines.
pub static SGLANG: Format = Format {
    name: "sglang",
    about: "SGLang engine log",
    shape: "`[YYYY-MM-DD HH:MM:SS` and rank tags",
    head,
    cut: prefix::cut,
    bodies_read: |event| kinds::is_request(event.kind),
    parse,
    kinds: kinds::TEXT,
    samples: &[
        (
            "[2026-11-20 19:46:04 TP0] Prefill batch, #new-seq: 2, #new-token: 8192, #cached-token: 64, token usage: 0.25, \
             #running-req: 7, #queue-req: 8, #pending-token: 40960, cuda graph: False, input throughput (token/s): 10511.32",
            "prefill_batch",
        ),
        (
            "[2025-03-04 17:53:04 TP0] Decode batch. #running-req: 8, #token: 21504, token usage: 0.12, gen throughput (token/s): 402.20, \
             largest-len: 4133, #queue-req: 3, ",
            "decode_batch",
        ),
        ("[2026-11-20 19:45:58] The server is fired up and ready to roll!", "server_ready"),
        ("[2026-11-20 19:45:58] INFO:     127.0.0.1:41826 - \"POST /generate HTTP/1.1\" 200 OK", "access"),
        (
            "[2026-11-20 19:46:15 TP0] HiCache prefetch success req=36d768032582d456cdb9ce353f36551d completed=12032 matched=0 \
             loaded=12032 occupied=0",
            "hicache_prefetch",
        ),
        ("Receive: obj=GenerateReqInput(rid='a', text='hello', stream=True)", "request_received"),
        (
            "2026-11-29T19:10:21.220197Z  INFO sglang_server::api_server::log: 127.0.0.1:39240 - \"GET /model_info HTTP/1.1\" 200 OK",
            "access",
        ),
    ],
};

/// The request log as JSON, bare (0.5.7 to 0.5.11, and log files); behind a prefix it is part of [`SGLANG`].
pub static SGLANG_JSON: Format = Format {
    name: "sglang-json",
    about: "SGLang request log (JSON)",
    shape: "`{\"timestamp\": …, \"event\": \"request.` or `\"scheduler.status\"`",
    head: json_head,
    cut: never_cut,
    bodies_read: all_bodies,
    parse: parse_json,
    kinds: kinds::JSON,
    samples: &[
        (
            r#"{"timestamp": "2026-11-20T19:45:32.954321", "event": "request.received", "rid": "a", "obj": {"rid": "a", "stream": true}}"#,
            "request_received",
        ),
        (
            r#"{"timestamp": "2026-11-29T18:40:41.952612", "event": "scheduler.status", "rank": 0, "running_rids": ["a"], "queued_rids": []}"#,
            "scheduler_status",
        ),
    ],
};

/// `--export-metrics-to-file`.
pub static SGLANG_REQUEST_METRICS: Format = Format {
    name: "sglang-request-metrics",
    about: "SGLang request metrics file",
    shape: "`{\"request_parameters\": \"`",
    head: metrics_file::head,
    cut: never_cut,
    bodies_read: all_bodies,
    parse: metrics_file::parse,
    kinds: kinds::METRICS_FILE,
    samples: &[(
        r#"{"request_parameters": "{\"rid\": \"a\", \"stream\": true}", "id": "a", "finish_reason": {"type": "stop"}, "prompt_tokens": 12, "request_received_ts": 1779265829.7861}"#,
        "request_metrics",
    )],
};

fn head(line: &[u8]) -> bool {
    prefix::read(line).is_some()
        || requests::head(line).is_some()
        || uvicorn::is_rust(line)
        || custom::head(line)
        || requests::tail(line).is_some()
        || copied::head(line)
}

fn json_head(line: &[u8]) -> bool {
    requests::is_json(line)
}

fn parse_json<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    if !requests::is_json(record) {
        return Outcome::Unparsed("not a line of the JSON request log");
    }
    event.message = 0..record.len();
    requests::parse_json(record, event);
    Outcome::Parsed
}

fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    if let Some(found) = prefix::read(record) {
        event.stamp = found.stamp;
        event.level = found.level;
        prefix::tag_fields(found.tags, event);
        event.message = found.len..record.len();
        message(&record[found.len..], event);
        if found.level.is_some() || found.stamp.is_none() || found.tags.starts_with(b"encode_") {
            // The prefix itself holds words or digits that are in no field.
            event.columnar = false;
            event.keyed = false;
        }
        return Outcome::Parsed;
    }
    event.message = 0..record.len();
    if let Some((kind, at)) = requests::head(record) {
        event.kind = kind;
        requests::parse_text(record, at, event);
        return Outcome::Parsed;
    }
    if uvicorn::is_rust(record) && uvicorn::parse_rust(record, event) {
        return Outcome::Parsed;
    }
    if custom::parse(record, event) {
        return Outcome::Parsed;
    }
    if let Some(at) = requests::tail(record) {
        requests::parse_tail(record, at, event);
        return Outcome::Parsed;
    }
    if copied::parse(record, event) {
        return Outcome::Parsed;
    }
    Outcome::Unparsed("no SGLang prefix")
}

/// Reads what stands behind the prefix. `event.message` is set and begins where `text` does.
fn message<'a>(text: &'a [u8], event: &mut Event<'a>) {
    event.kind = &kinds::SGLANG_LOG;
    if let Some((kind, at)) = batch::head(text) {
        event.kind = kind;
        return batch::parse(text, at, event);
    }
    if let Some((level, len)) = uvicorn::level(text) {
        event.level = Some(level);
        event.message.start += len;
        return uvicorn::parse(&text[len..], event);
    }
    if let Some(at) = time_stats::head(text) {
        return time_stats::parse(text, at, event);
    }
    if let Some((kind, at)) = requests::head(text) {
        event.kind = kind;
        return requests::parse_text(text, at, event);
    }
    if requests::is_json(text) {
        return requests::parse_json(text, event);
    }
    if text.starts_with(b"server_args=") {
        return server_args::parse(text, event);
    }
    let text = custom::level_and_file(text, event);
    if !rules::apply(text, event) {
        rules::ids_in(text, event);
    }
    if event.kind == &kinds::EXCEPTION {
        rules::error_type(text, event);
    }
    if [&kinds::SGLANG_LOG, &kinds::WATCHDOG, &kinds::WATCHDOG_TIMEOUT, &kinds::EXCEPTION, &kinds::REQUEST_ERROR].contains(&event.kind) {
        rules::withhold_dumps(text, event);
    }
}
