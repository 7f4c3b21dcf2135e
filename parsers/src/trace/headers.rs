//! Captured HTTP headers: ids where the header is one, withheld otherwise.

use std::borrow::Cow;

use super::row::{self, Span};
use crate::dynamo::id;
use crate::event::{Event, Secret};
use crate::ids::{self, IdKind};
use crate::json::{self, End, Member};

/// What a header's value identifies; names are compared in lower case.
fn identifies(name: &str) -> Option<IdKind> {
    match name {
        "x-request-id" => Some(IdKind::XRequestId),
        "x-dynamo-request-id" => Some(IdKind::RequestId),
        // `session-id` is none: the client that sends it beside `thread-id` keeps a cache key in it, and no version reads a session from it.
        "x-dynamo-session-id" | "x-claude-code-session-id" | "x-claude-code-agent-id" | "thread-id" | "x-session-id" => {
            Some(IdKind::Session)
        }
        "x-dynamo-trajectory-id" => Some(IdKind::Session),
        "x-dynamo-parent-session-id" | "x-claude-code-parent-agent-id" | "x-codex-parent-thread-id" | "x-parent-session-id" => {
            Some(IdKind::ParentSession)
        }
        "traceparent" => Some(IdKind::TraceId),
        "x-smg-routing-key" => Some(IdKind::RoutingKey),
        _ => None,
    }
}

/// Reads `{name: value}` or `{name: [values]}`.
pub fn read<'a>(headers: Span<'a>, event: &mut Event<'a>) {
    if headers.bytes.first() != Some(&b'{') {
        event.withhold(headers.at..headers.at + headers.bytes.len(), Secret::Header, "header");
        return;
    }
    let before = event.withheld.len();
    let mut walk = json::members(headers.bytes);
    for member in walk.by_ref() {
        let value = headers.of(&member);
        let mut name = String::from_utf8_lossy(member.key);
        if name.bytes().any(|b| b.is_ascii_uppercase()) {
            name = Cow::Owned(name.to_ascii_lowercase());
        }
        let Some(kind) = identifies(&name).filter(|_| member.complete) else {
            let credential = ["authorization", "cookie", "token", "api-key", "secret", "password"].iter().any(|c| name.contains(c));
            let why = if credential { Secret::Credential } else { Secret::Header };
            event.withhold(value.at..value.at + value.bytes.len(), why, if credential { "credential" } else { "header" });
            continue;
        };
        if member.value.first() == Some(&b'[') {
            for item in json::items(member.value) {
                one(event, kind, &item);
            }
        } else {
            one(event, kind, &member);
        }
    }
    if !matches!(walk.end(), End::Closed(at) if at == headers.bytes.len()) {
        // What stands behind damage cannot be told from a value.
        event.withheld.truncate(before);
        event.withhold(headers.at..headers.at + headers.bytes.len(), Secret::Credential, "headers");
    }
}

fn one<'a>(event: &mut Event<'a>, kind: IdKind, member: &Member<'a>) {
    if kind != IdKind::TraceId {
        row::identity(event, kind, member);
        return;
    }
    let Some(text) = json::text(member.value) else { return };
    if let (Some(trace), _) = ids::traceparent(&text) {
        id(event, kind, Cow::Owned(trace.to_owned()));
    }
}
