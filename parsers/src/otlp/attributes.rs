//! Attributes of spans, events and resources: `[{"key":"name","value":{"stringValue":"…"}}]` into fields and ids, or withheld.

use std::borrow::Cow;

use crate::dynamo::{self, Reading};
use crate::event::{Event, Field, Secret, Value};
use crate::ids::{IdKind, from_hex};
use crate::json::{self, End, Member};
use crate::trace::row::Span;

/// What is made of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Fields and ids.
    All,
    /// Ids only: the attributes are those of something inside the record.
    Ids,
    /// Neither.
    Nothing,
}

/// Names of SGLang's spans and of OpenTelemetry's conventions for generative models; Dynamo's have their names from its logs.
static NAMES: &[(&str, &str)] = &[
    ("gen_ai.usage.prompt_tokens", "prompt_tokens"),
    ("gen_ai.usage.completion_tokens", "completion_tokens"),
    ("gen_ai.usage.cached_tokens", "cached_tokens"),
    ("gen_ai.request.max_tokens", "max_tokens"),
    ("gen_ai.request.top_p", "top_p"),
    ("gen_ai.request.top_k", "top_k"),
    ("gen_ai.request.temperature", "temperature"),
    ("gen_ai.request.n", "n"),
    ("gen_ai.response.model", "model"),
    ("gen_ai.response.finish_reasons", "finish_reason"),
    ("gen_ai.latency.time_to_first_token", "ttft_s"),
    ("gen_ai.latency.e2e", "e2e_s"),
    ("gen_ai.latency.time_in_model_decode", "decode_s"),
    ("gen_ai.latency.time_in_model_inference", "inference_s"),
    ("gen_ai.latency.time_in_model_prefill", "prefill_s"),
];

/// The id that an attribute is, beside those that Dynamo's table knows.
fn identifies(key: &str) -> Option<IdKind> {
    match key {
        "rid" | "gen_ai.request.id" => Some(IdKind::Rid),
        "bootstrap_room" => Some(IdKind::BootstrapRoom),
        _ => None,
    }
}

/// Reads a list of attributes. Returns whether it is whole.
pub fn read<'a>(list: Span<'a>, keep: Keep, reading: &mut Reading, event: &mut Event<'a>) -> bool {
    let mut walk = json::items(list.bytes);
    for item in walk.by_ref() {
        let object = list.of(&item);
        let (mut key, mut value) = (None, None);
        for member in json::members(object.bytes) {
            match member.key {
                b"key" => key = json::text(member.value),
                b"value" => value = Some(object.of(&member)),
                _ => {}
            }
        }
        match (key, value) {
            (Some(key), Some(value)) => one(key, value, keep, reading, event),
            (_, Some(value)) => hide(value, Secret::Body, event),
            _ => {}
        }
    }
    matches!(walk.end(), End::Closed(_))
}

fn one<'a>(key: Cow<'a, str>, value: Span<'a>, keep: Keep, reading: &mut Reading, event: &mut Event<'a>) {
    let Some(inner) = json::members(value.bytes).next() else { return };
    let text = match inner.key {
        b"stringValue" | b"intValue" | b"doubleValue" | b"boolValue" => json::text(inner.value).unwrap_or_else(|| plain(&inner)),
        b"arrayValue" => String::from_utf8_lossy(inner.value),
        // A map or bytes: what is in it has no name here.
        _ => return hide(value, Secret::Body, event),
    };
    let secret = withheld(&key, &text);
    if secret.is_some() || !inner.complete {
        return hide(value, secret.unwrap_or(Secret::Body), event);
    }
    if keep == Keep::Nothing {
        return;
    }
    if let Some(kind) = identifies(&key) {
        return identity(kind, text, event);
    }
    match &key {
        Cow::Borrowed(raw) if keep == Keep::All => named(raw, text, &inner, reading, event),
        Cow::Borrowed(raw) if dynamo::names_id(raw) => {
            let fields = event.fields.len();
            dynamo::put(event, reading, raw, text);
            event.fields.truncate(fields);
        }
        _ => {}
    }
}

fn named<'a>(raw: &'a str, text: Cow<'a, str>, inner: &Member<'a>, reading: &mut Reading, event: &mut Event<'a>) {
    let Some((_, name)) = NAMES.iter().find(|row| row.0 == raw) else { return dynamo::put(event, reading, raw, text) };
    let value = match inner.key {
        // `["stop"]`: one reason is printed as a list.
        b"stringValue" => {
            let reason = text.strip_prefix("[\"").and_then(|t| t.strip_suffix("\"]")).filter(|t| !t.contains('"'));
            Value::Str(reason.map_or(text.clone(), |t| Cow::Owned(t.to_owned())))
        }
        _ => json::number(inner.value).unwrap_or(Value::Str(text)),
    };
    event.fields.push(Field { name: Cow::Borrowed(name), raw: Cow::Borrowed(raw), value });
}

/// A bootstrap room is printed in hex here and in decimal in logs; `0x0` and `None` are none.
fn identity<'a>(kind: IdKind, text: Cow<'a, str>, event: &mut Event<'a>) {
    let room = if kind == IdKind::BootstrapRoom { text.strip_prefix("0x") } else { None };
    match room.and_then(from_hex) {
        Some(0) => {}
        Some(room) => dynamo::id(event, kind, Cow::Owned(room.to_string())),
        None => dynamo::id(event, kind, text),
    }
}

fn plain<'a>(inner: &Member<'a>) -> Cow<'a, str> {
    String::from_utf8_lossy(inner.value)
}

/// Is the value of this attribute no text for everybody?
fn withheld(key: &str, text: &str) -> Option<Secret> {
    let lower = key.to_ascii_lowercase();
    if dynamo::is_plain(text) {
        return None;
    }
    if ["authorization", "cookie", "token", "api_key", "apikey", "password", "secret"].iter().any(|end| lower.ends_with(end)) {
        return Some(Secret::Credential);
    }
    if lower.starts_with("http.request.header.") || lower.starts_with("http.response.header.") {
        return Some(Secret::Header);
    }
    lower.split('.').any(dynamo::is_body_name).then_some(Secret::Body)
}

fn hide(value: Span<'_>, why: Secret, event: &mut Event<'_>) {
    let name = match why {
        Secret::Body => "body",
        Secret::Credential => "credential",
        Secret::Header => "header",
    };
    event.withhold(value.at..value.at + value.bytes.len(), why, name);
}
