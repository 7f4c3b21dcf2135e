//! Load: `kv_metrics` of a worker or router, and the steps of an engine.

use std::borrow::Cow;

use super::{kinds, worker};
use crate::event::{Event, Field};
use crate::json::{self, End};
use crate::trace::row::{self, Span};

/// Reads the payload of `kv_metrics`; what is null is absent.
pub fn metrics<'a>(payload: Span<'a>, event: &mut Event<'a>) -> End {
    event.kind = &kinds::KV_METRICS;
    let mut walk = json::members(payload.bytes);
    for member in walk.by_ref() {
        if !worker(&member, event) {
            row::named(event, &member);
        }
    }
    walk.end()
}

/// Reads the payload of `forward-pass-metrics`: counts of `scheduled_requests` and `queued_requests` under one name each.
pub fn forward_pass<'a>(payload: Span<'a>, event: &mut Event<'a>) -> End {
    event.kind = &kinds::FORWARD_PASS;
    let mut walk = json::members(payload.bytes);
    for member in walk.by_ref() {
        match member.key {
            b"wall_time" => row::scalar(event, "wall_time_s", &member),
            b"version" => {}
            b"scheduled_requests" => counts("scheduled_", payload.of(&member), event),
            b"queued_requests" => counts("queued_", payload.of(&member), event),
            _ if worker(&member, event) => {}
            _ => row::named(event, &member),
        }
    }
    walk.end()
}

fn counts<'a>(prefix: &str, object: Span<'a>, event: &mut Event<'a>) {
    for member in json::members(object.bytes) {
        if let Some(value) = json::number(member.value).filter(|_| member.complete)
            && event.fields.len() < crate::dynamo::MAX_FIELDS
        {
            let raw = String::from_utf8_lossy(member.key);
            event.fields.push(Field { name: Cow::Owned(format!("{prefix}{raw}")), raw, value });
        }
    }
}
