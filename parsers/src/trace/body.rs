//! Requests and responses as OpenAI bodies: what is text is withheld, what counts or configures is a field.

use super::row::{self, Span};
use crate::event::{Event, Secret};
use crate::ids::{self, IdKind};
use crate::json::{self, End, Member};

/// A request body. Every member is withheld but numbers, bools and the few names that hold no text of a user.
pub fn request<'a>(body: Span<'a>, event: &mut Event<'a>) {
    if body.bytes.first() != Some(&b'{') {
        withhold(event, body, "request");
        return;
    }
    let before = event.withheld.len();
    let mut walk = json::members(body.bytes);
    for member in walk.by_ref() {
        if member.key == b"nvext" {
            extension(body.of(&member), event);
            continue;
        }
        let known = match member.key {
            b"model" => Some("model"),
            b"stream" => Some("request_stream"),
            b"max_tokens" => Some("max_tokens"),
            b"max_completion_tokens" => Some("max_completion_tokens"),
            b"n" => Some("n"),
            b"seed" => Some("seed"),
            b"temperature" => Some("temperature"),
            b"top_p" => Some("top_p"),
            b"store" => Some("store"),
            b"priority" => Some("priority"),
            _ => None,
        };
        match known {
            Some("model") if event.get("model").is_some() => {}
            Some(name) => row::scalar(event, name, &member),
            None if harmless(&member) => {}
            None => withhold(event, body.of(&member), body_name(member.key)),
        }
    }
    whole_if_damaged(body, walk.end(), before, event, "request");
}

/// A response body: its usage, its finish reason and its id; everything with text in it is withheld.
pub fn response<'a>(body: Span<'a>, event: &mut Event<'a>) {
    if body.bytes.first() != Some(&b'{') {
        withhold(event, body, "response");
        return;
    }
    let before = event.withheld.len();
    let mut walk = json::members(body.bytes);
    for member in walk.by_ref() {
        match member.key {
            b"id" => response_id(event, &member),
            b"usage" => usage(&member, event),
            b"nvext" => extension(body.of(&member), event),
            b"created" => row::scalar(event, "response_created_s", &member),
            b"model" if event.get("model").is_none() => row::scalar(event, "model", &member),
            b"model" | b"object" | b"system_fingerprint" | b"service_tier" | b"status" => {}
            b"choices" => {
                finish_reason(&member, event);
                withhold(event, body.of(&member), "choices");
            }
            _ if harmless(&member) => {}
            key => withhold(event, body.of(&member), body_name(key)),
        }
    }
    whole_if_damaged(body, walk.end(), before, event, "response");
}

/// What stands behind damage cannot be told from a body: then the object is withheld as a whole.
fn whole_if_damaged(body: Span<'_>, end: End, before: usize, event: &mut Event<'_>, name: &'static str) {
    if !matches!(end, End::Closed(at) if at == body.bytes.len()) {
        event.withheld.truncate(before);
        withhold(event, body, name);
    }
}

/// A member of a record that is neither listed nor a number or bool: it may be a body under a new name.
pub fn unlisted<'a>(value: Span<'a>, event: &mut Event<'a>, member: &Member<'a>) {
    if harmless(member) { row::named(event, member) } else { withhold(event, value, "body") }
}

/// Numbers, bools, null and empty values hold no text; nor do the switches of streaming.
fn harmless(member: &Member<'_>) -> bool {
    let text = matches!(member.value.first(), Some(b'"' | b'{' | b'['));
    !text || matches!(member.value, b"\"\"" | b"{}" | b"[]") || member.key == b"stream_options"
}

fn withhold(event: &mut Event<'_>, span: Span<'_>, name: &'static str) {
    if !span.bytes.is_empty() && span.bytes != b"null" {
        event.withhold(span.at..span.at + span.bytes.len(), Secret::Body, name);
    }
}

fn body_name(key: &[u8]) -> &'static str {
    match key {
        b"messages" => "messages",
        b"prompt" => "prompt",
        b"input" => "input",
        b"tools" => "tools",
        b"instructions" => "instructions",
        b"output" => "output",
        b"stop" => "stop",
        b"user" => "user",
        b"metadata" => "metadata",
        _ => "body",
    }
}

/// Dynamo's own part of a body: in a request the session (to 1.2 its only place), in a response the workers. Its other members may be text.
fn extension<'a>(nvext: Span<'a>, event: &mut Event<'a>) {
    if nvext.bytes.first() != Some(&b'{') {
        withhold(event, nvext, "body");
        return;
    }
    let before = event.withheld.len();
    let mut walk = json::members(nvext.bytes);
    for member in walk.by_ref() {
        match member.key {
            b"worker_id" if member.complete && member.value.first() == Some(&b'{') => workers(&member, event),
            b"agent_context" if member.complete && member.value.first() == Some(&b'{') => {
                super::request::agent_context(nvext.of(&member), event)
            }
            _ if harmless(&member) => {}
            key => withhold(event, nvext.of(&member), body_name(key)),
        }
    }
    whole_if_damaged(nvext, walk.end(), before, event, "body");
}

fn workers<'a>(workers: &Member<'a>, event: &mut Event<'a>) {
    for member in json::members(workers.value) {
        match member.key {
            b"prefill_worker_id" => row::worker(event, "prefill_worker_id", &member),
            b"decode_worker_id" => row::worker(event, "decode_worker_id", &member),
            _ => {}
        }
    }
}

/// `chatcmpl-<request_id>` is the request's id; `resp_…` is another UUID; a cancelled stream's is empty.
fn response_id<'a>(event: &mut Event<'a>, member: &Member<'a>) {
    let Some(text) = json::text(member.value).filter(|_| member.complete) else { return };
    if !(text.starts_with("chatcmpl-") || text.starts_with("cmpl-")) {
        row::scalar(event, "response_id", member);
        return;
    }
    let (mut key, mut other) = (String::new(), String::new());
    ids::canonical(Some(IdKind::RequestId), &text, &mut key);
    let known = event.ids.iter().any(|i| {
        ids::canonical(Some(i.kind), &i.text, &mut other);
        i.kind == IdKind::RequestId && other == key
    });
    if !known {
        crate::dynamo::id(event, IdKind::RequestId, text);
    }
}

/// The engine's own token counts.
fn usage<'a>(usage: &Member<'a>, event: &mut Event<'a>) {
    if usage.value.first() != Some(&b'{') {
        return;
    }
    for member in json::members(usage.value) {
        match member.key {
            b"prompt_tokens" | b"input_tokens" => row::scalar(event, "usage_prompt_tokens", &member),
            b"completion_tokens" | b"output_tokens" => row::scalar(event, "usage_completion_tokens", &member),
            b"total_tokens" => row::scalar(event, "usage_total_tokens", &member),
            b"prompt_tokens_details" | b"input_tokens_details" => {
                if let Some(cached) = json::find(member.value, b"cached_tokens") {
                    row::scalar(event, "usage_cached_tokens", &cached);
                }
            }
            b"completion_tokens_details" | b"output_tokens_details" => {
                if let Some(reasoning) = json::find(member.value, b"reasoning_tokens") {
                    row::scalar(event, "usage_reasoning_tokens", &reasoning);
                }
            }
            _ => {}
        }
    }
}

/// Of the first choice that has one.
fn finish_reason<'a>(choices: &Member<'a>, event: &mut Event<'a>) {
    for choice in json::items(choices.value) {
        if let Some(reason) = json::find(choice.value, b"finish_reason").filter(|m| m.value.first() == Some(&b'"')) {
            row::scalar(event, "finish_reason", &reason);
            return;
        }
    }
}
