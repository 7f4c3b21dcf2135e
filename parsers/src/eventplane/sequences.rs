//! `active_sequences_events`: what routers tell each other of requests.

use std::borrow::Cow;

use super::{kinds, worker};
use crate::event::{Event, Secret, Value};
use crate::ids::IdKind;
use crate::json::{self, End, Member};
use crate::trace::row::{self, Span};

/// Reads `{"events": [{request_id, worker, data, router_id, lora_name}]}`.
pub fn read<'a>(payload: Span<'a>, event: &mut Event<'a>) -> End {
    event.kind = &kinds::ACTIVE_SEQUENCES;
    let mut damaged = false;
    let mut walk = json::members(payload.bytes);
    for member in walk.by_ref() {
        if member.key != b"events" {
            row::named(event, &member);
            continue;
        }
        let list = payload.of(&member);
        let mut count = 0;
        let mut items = json::items(list.bytes);
        for item in items.by_ref() {
            count += 1;
            one(list.of(&item), event);
        }
        damaged |= items.end() == End::Damaged;
        event.field("events", "events", Value::Int(count));
    }
    if damaged { End::Damaged } else { walk.end() }
}

fn one<'a>(object: Span<'a>, event: &mut Event<'a>) {
    for member in json::members(object.bytes) {
        match member.key {
            b"request_id" => row::identity(event, IdKind::RequestId, &member),
            b"worker" => {
                for inner in json::members(member.value) {
                    worker(&inner, event);
                }
            }
            b"data" => data(object.of(&member), &member, event),
            b"router_id" if event.get("router_id").is_none() => {
                if let Some(id) = json::id(member.value).filter(|_| member.complete) {
                    event.field("router_id", "router_id", Value::Str(id));
                }
            }
            b"lora_name" if event.get("lora_name").is_none() => row::scalar(event, "lora_name", &member),
            _ => {}
        }
    }
}

/// `"MarkPrefillCompleted"`, `"Free"`, or `{"AddRequest": {…}}`, which describes a request's tokens.
fn data<'a>(value: Span<'a>, member: &Member<'a>, event: &mut Event<'a>) {
    let name = match member.value.first() {
        Some(b'"') => json::text(member.value).filter(|_| member.complete),
        Some(b'{') => {
            event.withhold(value.at..value.at + value.bytes.len(), Secret::Body, "data");
            json::members(member.value).next().map(|m| String::from_utf8_lossy(m.key))
        }
        _ => None,
    };
    let Some(name) = name else { return };
    let known = event.fields.iter().any(|f| f.name == "sequence_event" && matches!(&f.value, Value::Str(t) if *t == name));
    if !known {
        let name: Cow<'a, str> = name;
        event.field("sequence_event", "data", Value::Str(name));
    }
}
