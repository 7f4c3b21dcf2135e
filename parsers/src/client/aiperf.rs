//! One request as AIPerf records it: with metrics (`profile_export.jsonl`), or raw with all bodies (`profile_export_raw.jsonl`).

use std::borrow::Cow;

use super::{field, holds, kinds, other, withhold};
use crate::event::{Event, Field, Outcome};
use crate::ids::IdKind;
use crate::json::{self, End, Member};
use crate::records::{MAX_FIELD, keys};
use crate::stamp::{RawStamp, from_unix_ns};
use crate::trace::row::{self, Span};
use crate::trace::{self, headers};

/// How far into a line the record's own members are looked for.
const HEAD: usize = 1024;

/// Is this a record of AIPerf?
pub fn head(line: &[u8]) -> bool {
    line.starts_with(b"{\"metadata\":") && holds(line, HEAD, &[b"\"session_num\":", b"\"request_start_ns\":"])
}

/// Parses one record.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    event.kind = kinds::AIPERF[0];
    event.message = 0..record.len();
    let whole = Span { bytes: record, at: 0 };
    let mut walk = json::members(record);
    let mut inner = End::Open;
    for member in walk.by_ref() {
        let value = whole.of(&member);
        let end = match member.key {
            b"metadata" => metadata(value, event),
            b"metrics" => metrics(value, event),
            b"error" => error(value, event),
            _ => {
                beside(&member, value, event);
                End::Open
            }
        };
        // An object that ends too early is the record's own early end; one that is damaged inside is worth saying.
        if end == End::Damaged {
            inner = end;
        }
    }
    let end = if inner == End::Damaged { inner } else { walk.end() };
    trace::outcome(end, record, event)
}

/// Members of a raw record, and of those to come: only numbers are shown.
fn beside<'a>(member: &Member<'a>, value: Span<'a>, event: &mut Event<'a>) {
    match member.key {
        b"request_headers" | b"response_headers" if value.bytes.first() == Some(&b'{') => headers::read(value, event),
        // Wall-clock times of the connection; also headers, which stay withheld.
        b"trace_data" if value.bytes.first() == Some(&b'{') => {
            for inner in json::members(value.bytes) {
                numbers(event, value.of(&inner), &inner, "trace_data");
            }
        }
        b"payload" => withhold(event, value, "payload"),
        b"responses" => withhold(event, value, "responses"),
        _ => numbers(event, value, member, "body"),
    }
}

fn numbers<'a>(event: &mut Event<'a>, value: Span<'a>, member: &Member<'a>, name: &'static str) {
    match value.bytes.first() {
        Some(b'"' | b'{' | b'[') => withhold(event, value, name),
        _ => other(event, value, member),
    }
}

fn metadata<'a>(object: Span<'a>, event: &mut Event<'a>) -> End {
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        let value = object.of(&member);
        match member.key {
            b"x_request_id" => row::identity(event, IdKind::XRequestId, &member),
            // One a session of a user; `conversation_id` names the data set's conversation, which several sessions may replay.
            b"x_correlation_id" => row::identity(event, IdKind::Session, &member),
            b"parent_correlation_id" => row::identity(event, IdKind::ParentSession, &member),
            // AIPerf's own process, no serving worker.
            b"worker_id" => field(event, "client_worker", &member),
            b"request_start_ns" => {
                stamp(value, event);
                field(event, "request_start_ns", &member);
            }
            _ => other(event, value, &member),
        }
    }
    walk.end()
}

/// ns since the epoch, by the client's clock.
fn stamp(value: Span<'_>, event: &mut Event<'_>) {
    let ns = std::str::from_utf8(value.bytes).ok().and_then(|t| t.parse::<i64>().ok()).filter(|ns| *ns > 0);
    if let Some(ns) = ns {
        event.stamp = Some(RawStamp { at: value.at as u32, len: value.bytes.len() as u32, ..from_unix_ns(ns) });
    }
}

/// `{"NAME": {"value": V, "unit": "U"}}`: a field whose name says its unit. A list (one value a chunk) is none.
fn metrics<'a>(object: Span<'a>, event: &mut Event<'a>) -> End {
    if object.bytes == b"null" {
        return End::Open;
    }
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        let value = object.of(&member);
        if member.value.first() != Some(&b'{') {
            other(event, value, &member);
            continue;
        }
        let unit = json::find(member.value, b"unit").and_then(|m| json::text(m.value));
        let Some(number) = json::find(member.value, b"value").filter(|m| m.complete && !m.value.starts_with(b"[")) else { continue };
        let Some(found) = json::number(number.value) else { continue };
        let raw = String::from_utf8_lossy(member.key);
        let name = canonical(member.key, unit.as_deref().unwrap_or(""));
        event.fields.push(Field { name: name.unwrap_or_else(|| raw.clone()), raw, value: found });
    }
    walk.end()
}

/// The name under which other logs have the same number, if the unit is theirs too; else the metric's own with its unit.
fn canonical<'a>(metric: &'a [u8], unit: &str) -> Option<Cow<'a, str>> {
    let suffix = match unit {
        "ms" | "us" | "ns" => unit,
        "s" | "sec" | "seconds" => "s",
        _ => "",
    };
    let base = match (metric, unit) {
        (b"input_sequence_length", "tokens") => return Some(Cow::Borrowed("prompt_tokens")),
        (b"output_sequence_length", "tokens") => return Some(Cow::Borrowed("completion_tokens")),
        (b"reasoning_token_count", "tokens") => return Some(Cow::Borrowed("reasoning_tokens")),
        (b"request_latency", _) => "latency",
        (b"time_to_first_token", _) => "ttft",
        (b"inter_token_latency", _) => "itl",
        _ => std::str::from_utf8(metric).ok()?,
    };
    if suffix.is_empty() {
        return std::str::from_utf8(metric).ok().map(Cow::Borrowed);
    }
    Some(Cow::Owned(format!("{base}_{suffix}")))
}

/// `null`, or code, type and message of a failed request.
fn error<'a>(object: Span<'a>, event: &mut Event<'a>) -> End {
    if object.bytes == b"null" {
        return End::Open;
    }
    if object.bytes.first() != Some(&b'{') {
        withhold(event, object, "error");
        return End::Open;
    }
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        match member.key {
            b"code" => field(event, "error_code", &member),
            b"type" => field(event, "error_type", &member),
            b"message" => message(object.of(&member), event, &member),
            _ => other(event, object.of(&member), &member),
        }
    }
    walk.end()
}

/// What the server or the client library said. A long one, or one that quotes a body, is withheld.
fn message<'a>(value: Span<'a>, event: &mut Event<'a>, member: &Member<'a>) {
    if value.bytes.len() > MAX_FIELD + 2 || keys::secret_inside(value.bytes).is_some() {
        return withhold(event, value, "message");
    }
    field(event, "error", member);
}
