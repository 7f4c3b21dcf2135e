//! Lines of the HTTP server: uvicorn's, and those of the Rust front-end (`SGLANG_RUST_SERVER=1`).

use memchr::{memchr, memmem};

use super::kinds::*;
use super::rules;
use crate::event::{Event, Kind, Level, Value};
use crate::keyvalue;
use crate::stamp::{self, Zone};

/// uvicorn's level column is nine bytes wide and then a blank: `INFO:     text`, `WARNING:  text`, `ERROR:    text`.
pub fn level(message: &[u8]) -> Option<(Level, usize)> {
    let (level, len) = if message.starts_with(b"INFO:     ") {
        (Level::Info, 10)
    } else if message.starts_with(b"WARNING:  ") {
        (Level::Warn, 10)
    } else if message.starts_with(b"ERROR:    ") {
        (Level::Error, 10)
    } else if message.starts_with(b"CRITICAL: ") {
        (Level::Fatal, 10)
    } else if message.starts_with(b"DEBUG:    ") {
        (Level::Debug, 10)
    } else {
        return None;
    };
    Some((level, len))
}

/// uvicorn's own messages: prefix and kind.
const LINES: &[(&str, &Kind)] = &[
    ("Waiting for application startup", &UVICORN_STARTUP),
    ("Application startup complete", &UVICORN_STARTUP),
    ("Application startup failed", &STARTUP_FAILED),
    ("Shutting down", &UVICORN_SHUTDOWN),
    ("Waiting for application shutdown", &UVICORN_SHUTDOWN),
    ("Waiting for connections to close", &UVICORN_SHUTDOWN),
    ("Waiting for background tasks to complete", &UVICORN_SHUTDOWN),
    ("Application shutdown complete", &UVICORN_SHUTDOWN),
    ("[Errno ", &STARTUP_FAILED),
];

/// Reads what stands behind uvicorn's level.
pub fn parse<'a>(text: &'a [u8], event: &mut Event<'a>) {
    event.kind = &UVICORN_LOG;
    if access(text, event) {
        event.columnar &= event.level == Some(Level::Info);
        return;
    }
    if let Some(rest) = text.strip_prefix(b"Started server process [") {
        event.kind = &UVICORN_STARTED;
        pid(rest, event);
    } else if let Some(rest) = text.strip_prefix(b"Finished server process [") {
        event.kind = &UVICORN_FINISHED;
        pid(rest, event);
    } else if let Some(rest) = text.strip_prefix(b"Uvicorn running on ") {
        event.kind = &UVICORN_LISTENING;
        let end = memchr(b' ', rest).unwrap_or(rest.len());
        event.field("address", "", Value::Str(String::from_utf8_lossy(&rest[..end])));
    } else {
        for (prefix, kind) in LINES {
            if text.starts_with(prefix.as_bytes()) {
                event.kind = kind;
            }
        }
    }
}

fn pid(rest: &[u8], event: &mut Event<'_>) {
    let end = memchr(b']', rest).unwrap_or(rest.len());
    let number = std::str::from_utf8(&rest[..end]).ok().and_then(keyvalue::number);
    if let Some(value) = number {
        event.field("pid", "", value);
    }
}

/// `10.42.0.17:42025 - "POST /v1/chat/completions HTTP/1.1" 200 OK`; says whether it was one.
///
/// The path's query may hold secrets or prompts: it is withheld, and only the path is a field.
pub fn access<'a>(text: &'a [u8], event: &mut Event<'a>) -> bool {
    let Ok(line) = std::str::from_utf8(text) else { return false };
    let Some(dash) = line.find(" - \"") else { return false };
    let client = &line[..dash];
    let Some(quote) = line.rfind('"') else { return false };
    let (Some(request), Some(status)) = (line.get(dash + 4..quote), line.get(quote + 1..)) else { return false };
    let Some((client_ip, client_port)) = client.rsplit_once(':') else { return false };
    let Some((method, target)) = request.split_once(' ') else { return false };
    let Some((target, version)) = target.rsplit_once(" HTTP/") else { return false };
    let status = status.strip_prefix(' ').unwrap_or(status);
    let (code, reason) = status.split_once(' ').unwrap_or((status, ""));
    let (Some(code @ Value::Int(_)), Some(port @ Value::Int(_))) = (keyvalue::number(code), keyvalue::number(client_port)) else {
        return false;
    };
    if client_ip.contains(' ') || method.is_empty() || !method.bytes().all(|b| b.is_ascii_alphabetic()) {
        return false;
    }
    event.kind = &ACCESS;
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    event.field("client_ip", "", Value::Str(client_ip.into()));
    event.field("client_port", "", port);
    event.field("method", "", Value::Str(method.into()));
    event.field("path", "", Value::Str(path.into()));
    event.field("http_version", "", Value::Str(version.into()));
    event.field("status", "", code);
    if !reason.is_empty() {
        event.field("reason", "", Value::Str(reason.into()));
    }
    if let Some(query) = query {
        let at = event.message.start + text_offset(line, query);
        event.withhold(at..at + query.len(), crate::event::Secret::Body, "query");
    }
    event.columnar = query.is_none();
    true
}

/// Where a part stands in the whole that it was cut from.
fn text_offset(whole: &str, part: &str) -> usize {
    // Both point into one allocation, the part inside the whole.
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

/// `2026-11-29T19:10:21.220197Z  INFO sglang_server::api_server::log: message`.
///
/// UTC with microseconds, while the scheduler's lines of the same process are in local time.
pub fn is_rust(line: &[u8]) -> bool {
    line.len() > 40 && line[4] == b'-' && line[10] == b'T' && memmem::find(&line[20..line.len().min(60)], b" sglang_server::").is_some()
}

/// Reads a line for which [`is_rust`] holds; `false` when it is not one after all.
pub fn parse_rust<'a>(line: &'a [u8], event: &mut Event<'a>) -> bool {
    let Some(found) = stamp::read_iso(line) else { return false };
    if found.zone != Zone::Utc {
        return false;
    }
    let rest = &line[found.len as usize..];
    let Some(target) = memmem::find(rest, b" sglang_server::") else { return false };
    let level = std::str::from_utf8(&rest[..target]).ok().and_then(Level::read);
    let Some(colon) = memmem::find(&rest[target..], b": ") else { return false };
    let message = found.len as usize + target + colon + 2;
    event.stamp = Some(found);
    event.level = level;
    event.message = message..line.len();
    let text = &line[message..];
    event.kind = &RUST_SERVER;
    if let Ok(name) = std::str::from_utf8(&rest[target + 1..target + colon]) {
        event.field("target", "", Value::Str(name.into()));
    }
    if access(text, event) {
        // The target's words are in its field; a damaged level is in none.
        event.columnar &= rest[..target].trim_ascii() == b"INFO" && event.get("target").is_some();
        return true;
    }
    if text.starts_with(b"The server is fired up and ready to roll!") {
        event.kind = &SERVER_READY;
    } else if text.starts_with(b"startup warmup") {
        event.kind = &STARTUP_FAILED;
        rules::items(text, event);
    } else {
        rules::items(text, event);
    }
    true
}
