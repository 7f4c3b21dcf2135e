//! `name=value` of spans and messages, and the members of the JSON form: canonical names, ids, what is withheld.

use std::borrow::Cow;
use std::ops::Range;

use crate::event::{Event, Field, Secret, Value};
use crate::ids::{IdKind, is_hex};
use crate::json;
use crate::keyvalue;

/// What a field's value is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A number, bool or word, up to the next blank.
    Plain,
    /// Text that may hold blanks: it ends where the next field begins.
    Text,
    /// A path whose query is withheld.
    Path,
    /// `200`, or `200 OK` of 0.1.9.
    Status,
    /// Integer microseconds, or a duration as Rust prints it.
    Latency,
    RequestId,
    TraceId,
    SpanId,
    Room,
    RoutingKey,
    /// Prompts, answers, token ids.
    Body,
}

use Role::*;

/// (name as printed, canonical name, role). Names that are not here are kept as they are.
static NAMES: &[(&str, &str, Role)] = &[
    ("method", "method", Plain),
    ("uri", "path", Path),
    ("path", "path", Path),
    ("version", "http_version", Plain),
    ("module", "module", Plain),
    ("request_id", "request_id", RequestId),
    ("root_id", "request_id", RequestId),
    ("status_code", "status", Status),
    ("status", "status", Status),
    ("latency", "latency_ms", Latency),
    ("trace_id", "trace_id", TraceId),
    ("span_id", "span_id", SpanId),
    ("bootstrap_room", "bootstrap_room", Room),
    ("url", "worker_url", Plain),
    ("worker_url", "worker_url", Plain),
    ("worker", "worker_url", Plain),
    ("prefill", "prefill_url", Plain),
    ("decode", "decode_url", Plain),
    ("instance_id", "workflow_id", Plain),
    ("definition_id", "workflow", Plain),
    ("step_id", "step", Plain),
    ("key", "routing_key", RoutingKey),
    ("error", "error", Text),
    ("err", "error", Text),
    ("reason", "reason", Text),
    ("result", "result", Text),
    ("cause", "cause", Text),
    ("body", "body", Body),
    ("text", "text", Body),
    ("content", "content", Body),
    ("event", "event", Body),
    ("prompt", "prompt", Body),
    ("messages", "messages", Body),
    ("input", "input", Body),
    ("arguments", "tool arguments", Body),
    ("output_preview", "tool output", Body),
    ("token_preview", "token ids", Body),
    ("output_ids", "output_ids", Body),
    ("token_ids", "token_ids", Body),
];

/// A line keeps this many fields. The longest line seen has 12.
const MAX_FIELDS: usize = 128;

fn role_of(raw: &str) -> (Option<&'static str>, Role) {
    NAMES.iter().find(|row| row.0 == raw).map_or((None, Plain), |row| (Some(row.1), row.2))
}

/// Reads the fields of `name{a=b c="d"}:name{…}`, which begins at byte `at` of the record. Nested spans repeat what their parents have.
pub fn spans<'a>(spans: &'a [u8], at: usize, event: &mut Event<'a>) {
    if spans.is_empty() {
        return;
    }
    let names = names_of(spans);
    if !names.is_empty() {
        event.field("spans", "spans", Value::Str(names.into()));
    }
    // A brace begins a span's fields as a blank does, and ends them.
    pairs(spans, at, true, event);
}

/// `http_request:grpc_execute` of the spans' text: what stands before each opening brace.
fn names_of(spans: &[u8]) -> String {
    let mut names = String::new();
    let mut from = 0;
    while let Some(step) = memchr::memchr(b'{', &spans[from..]) {
        let open = from + step;
        let start = spans[..open].iter().rposition(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).map_or(0, |i| i + 1);
        let first = start == 0 || spans[..start].ends_with(b"}:");
        if first && start < open && names.len() < 256 {
            if !names.is_empty() {
                names.push(':');
            }
            names.push_str(&String::from_utf8_lossy(&spans[start..open]));
        }
        from = open + 1;
    }
    names
}

/// Reads the ` name=value` pairs of a message that stands at byte `at` of the record.
pub fn pairs_of<'a>(message: &'a [u8], at: usize, event: &mut Event<'a>) {
    pairs(message, at, false, event);
}

fn pairs<'a>(text: &'a [u8], at: usize, in_span: bool, event: &mut Event<'a>) {
    let mut next = next_pair(text, 0, in_span);
    while let Some((name, value)) = next {
        // cannot fail: a name is ASCII.
        let raw = std::str::from_utf8(&text[name..value - 1]).unwrap_or("");
        let (_, role) = role_of(raw);
        let closed = value_len(&text[value..]);
        let follow = next_pair(text, value + closed, in_span);
        let end = match role {
            // Without quotes nothing tells where a body ends.
            Body if closed == 0 => text.len(),
            Text | Status | Latency if closed == 0 => {
                let end = follow.map_or(text.len(), |(name, _)| name);
                if in_span { end.min(value + brace(&text[value..])) } else { end }
            }
            _ if closed == 0 => value + word(&text[value..], in_span),
            _ => value + closed,
        };
        put(raw, text, value..end.max(value), at, event);
        if event.fields.len() > MAX_FIELDS || (role == Body && closed == 0) {
            return;
        }
        next = match follow {
            Some((name, _)) if name < end => next_pair(text, end, in_span),
            follow => follow,
        };
    }
}

/// One field of the text form: `range` is the value's place in `text`, which begins at byte `at` of the record.
fn put<'a>(raw: &'a str, text: &'a [u8], range: Range<usize>, at: usize, event: &mut Event<'a>) {
    let bytes = text[range.clone()].trim_ascii_end();
    let bytes = bytes.strip_suffix(b",").unwrap_or(bytes);
    let start = at + range.start;
    let quoted = bytes.len() >= 2 && bytes[0] == b'"' && bytes[bytes.len() - 1] == b'"';
    let value = if quoted { json::text(bytes).unwrap_or_default() } else { String::from_utf8_lossy(bytes) };
    let inner = start + usize::from(quoted)..start + bytes.len() - usize::from(quoted);
    field(raw, value, inner, event);
}

/// One field of the JSON form, whose value begins at byte `at` of the record.
pub fn member<'a>(key: &'a [u8], value: &'a [u8], at: usize, event: &mut Event<'a>) {
    let Ok(raw) = std::str::from_utf8(key) else { return };
    if event.fields.len() > MAX_FIELDS || value == b"null" {
        return;
    }
    let quoted = value.len() >= 2 && value[0] == b'"';
    let text = if quoted { json::text(value).unwrap_or_default() } else { String::from_utf8_lossy(value) };
    let inner = at + usize::from(quoted)..at + value.len() - usize::from(quoted);
    field(raw, text, inner, event);
}

/// Adds a field or id. `inner` is where the value's text stands in the record.
fn field<'a>(raw: &'a str, text: Cow<'a, str>, inner: Range<usize>, event: &mut Event<'a>) {
    let (name, role) = role_of(raw);
    let text = some(text);
    if text.is_empty() || text == "None" {
        return;
    }
    let name = name.map_or(Cow::Borrowed(raw), Cow::Borrowed);
    match role {
        Plain if raw == "version" => {
            let version = text.strip_prefix("HTTP/").unwrap_or(&text).to_owned();
            add(name, raw, Value::Str(version.into()), event);
        }
        // `Some("round_robin")` of other messages is no url.
        Plain if matches!(raw, "prefill" | "decode" | "worker" | "url") && !text.contains("://") => {
            add(Cow::Borrowed(raw), raw, keyvalue::typed(text), event);
        }
        Plain => add(name, raw, keyvalue::typed(text), event),
        Text => add(name, raw, Value::Str(text), event),
        Path => path(raw, text, inner, event),
        Status => status(raw, &text, event),
        Latency => match latency_ms(&text) {
            Some(ms) => add(name, raw, Value::Float(ms), event),
            None => add(Cow::Borrowed(raw), raw, Value::Str(text), event),
        },
        RequestId => request_id(text, event),
        TraceId if is_hex(&text, 32) => id(IdKind::TraceId, text, event),
        SpanId if is_hex(&text, 16) => id(IdKind::SpanId, text, event),
        Room if text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit()) => id(IdKind::BootstrapRoom, text, event),
        TraceId | SpanId | Room => add(name, raw, keyvalue::typed(text), event),
        RoutingKey => id(IdKind::RoutingKey, text, event),
        Body => {
            let why = NAMES.iter().find(|row| row.0 == raw).map_or("body", |row| row.1);
            event.withhold(inner, Secret::Body, why);
        }
    }
}

/// Adds a field unless it is there already: a span's fields are recorded twice in some builds, and repeated by nested spans.
pub fn add<'a>(name: Cow<'a, str>, raw: &'a str, value: Value<'a>, event: &mut Event<'a>) {
    if !event.fields.iter().any(|field| field.name == name && field.value == value) {
        event.fields.push(Field { name, raw: Cow::Borrowed(raw), value });
    }
}

pub fn id<'a>(kind: IdKind, text: Cow<'a, str>, event: &mut Event<'a>) {
    if !text.is_empty() && text.len() <= 512 && !event.ids.iter().any(|id| id.kind == kind && id.text == text) {
        event.id(kind, text);
    }
}

/// The gateway's request id. One that it did not make itself came in the client's `x-request-id`.
pub fn request_id<'a>(text: Cow<'a, str>, event: &mut Event<'a>) {
    if !is_generated(&text) {
        id(IdKind::XRequestId, text.clone(), event);
    }
    id(IdKind::RequestId, text, event);
}

/// `chatcmpl-` and the like with 24 letters and digits.
fn is_generated(text: &str) -> bool {
    let prefixes = ["chatcmpl-", "cmpl-", "gnt-", "resp-", "req-"];
    let made = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix));
    made.is_some_and(|rest| rest.len() == 24 && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// A path without its query, which may hold a key or a prompt and is withheld.
fn path<'a>(raw: &'a str, text: Cow<'a, str>, inner: Range<usize>, event: &mut Event<'a>) {
    let Some(mark) = text.find('?') else { return add(Cow::Borrowed("path"), raw, Value::Str(text), event) };
    // An escaped value is longer in the record than as text: then all behind the path is withheld.
    let query = (inner.start + mark + 1).min(inner.end)..inner.end;
    if !query.is_empty() {
        event.withhold(query, Secret::Body, "query");
    }
    let path = match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..mark]),
        Cow::Owned(text) => Cow::Owned(text[..mark].to_owned()),
    };
    add(Cow::Borrowed("path"), raw, Value::Str(path), event);
}

/// `503 Service Unavailable`, `200`: the code, and the reason as text. Other words of that name (`success`) stay as they are.
pub fn status<'a>(raw: &'a str, text: &str, event: &mut Event<'a>) {
    let (code, reason) = text.split_once(' ').unwrap_or((text, ""));
    match keyvalue::number(code) {
        Some(code @ Value::Int(100..=999)) => {
            add(Cow::Borrowed("status"), raw, code, event);
            if !reason.is_empty() {
                add(Cow::Borrowed("reason"), raw, Value::Str(reason.to_owned().into()), event);
            }
        }
        _ => add(Cow::Borrowed("status"), raw, Value::Str(text.to_owned().into()), event),
    }
}

/// Milliseconds of `3797944` (microseconds, from 0.2.4), or of `2.387693768s`, `275.081493ms`, `45.678µs`, `120ns` (to 0.2.2).
pub fn latency_ms(text: &str) -> Option<f64> {
    let unit_at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let power = match &text[unit_at..] {
        "" | "µs" | "μs" | "us" => -3,
        "s" => 3,
        "ms" => 0,
        "ns" => -6,
        _ => return None,
    };
    // By the decimal's own power, so that `45.678µs` is the number nearest to 0.045678.
    let number: f64 = format!("{}e{power}", &text[..unit_at]).parse().ok()?;
    number.is_finite().then_some(number)
}

/// `Some(256)` is 256, `Some("a")` is a.
fn some(text: Cow<'_, str>) -> Cow<'_, str> {
    let inside = |text: &str| -> Option<Range<usize>> {
        let inner = text.strip_prefix("Some(")?.strip_suffix(')')?;
        let quoted = inner.len() >= 2 && inner.starts_with('"') && inner.ends_with('"');
        Some(if quoted { 6..text.len() - 2 } else { 5..text.len() - 1 })
    };
    let Some(range) = inside(&text) else { return text };
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
        Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
    }
}

/// The next field's name and value offsets, at or after `from`: ` name=`, in a span also `{name=`.
fn next_pair(text: &[u8], from: usize, in_span: bool) -> Option<(usize, usize)> {
    let mut at = from;
    while let Some(step) = memchr::memchr(b'=', text.get(at..)?) {
        let equals = at + step;
        let mut name = equals;
        while name > from && is_name(text[name - 1]) {
            name -= 1;
        }
        let before = name.checked_sub(1).map(|i| text[i]);
        let opens = before == Some(b' ') || before.is_none() || (in_span && before == Some(b'{'));
        let begins = name < equals && (text[name].is_ascii_alphabetic() || text[name] == b'_');
        if opens && begins && text.get(equals + 1) != Some(&b'=') {
            return Some((name, equals + 1));
        }
        at = equals + 1;
    }
    None
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'.'
}

/// How far a quoted or bracketed value is followed.
const MAX_CLOSED: usize = 64 << 10;

/// Length of a quoted or bracketed value at the start of `text`; 0 for a plain one, or for one that is never closed.
fn value_len(text: &[u8]) -> usize {
    let text = &text[..text.len().min(MAX_CLOSED)];
    let lead = if text.starts_with(b"Some(") { 5 } else { 0 };
    match text.get(lead) {
        Some(b'"' | b'{' | b'[') => match json::value_len(&text[lead..]) {
            (len, true) => lead + len + usize::from(lead > 0 && text.get(lead + len) == Some(&b')')),
            _ => 0,
        },
        _ => 0,
    }
}

/// Length of a plain word: to the next blank, in a span also to its closing brace.
fn word(text: &[u8], in_span: bool) -> usize {
    let blank = memchr::memchr(b' ', text).unwrap_or(text.len());
    if in_span { blank.min(brace(text)) } else { blank }
}

/// Where a span's closing brace stands: one before `:`, or the last byte.
fn brace(text: &[u8]) -> usize {
    let mut from = 0;
    while let Some(step) = memchr::memchr(b'}', &text[from..]) {
        let at = from + step;
        if at + 1 == text.len() || text[at + 1] == b':' {
            return at;
        }
        from = at + 1;
    }
    text.len()
}
