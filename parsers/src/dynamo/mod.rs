//! Log lines of NVIDIA Dynamo 0.6 to 1.6.1: frontend, router, worker, mocker, KVBM. See README.md beside this file.
//!
//! Two grammars (readable text, JSONL) give target, message and fields; one classifier makes kind, ids and fields of them.

mod bodies;
mod embedded;
mod fields;
mod jsonl;
pub mod kinds;
mod names;
mod prose;
mod rows;
mod samples;
#[cfg(test)]
pub(crate) mod tests;
mod text;

use crate::event::{Event, Field, Secret};
use crate::format::{Format, all_bodies};

pub(crate) use bodies::{is_name as is_body_name, is_plain};
pub(crate) use fields::{MAX_FIELDS, Reading, finish as finish_fields, id, put};
pub(crate) use names::names_id;

/// Readable text, with its ANSI escapes already taken off.
pub static TEXT: Format = Format {
    name: "dynamo-text",
    about: "NVIDIA Dynamo's log in readable text",
    shape: "`YYYY-MM-DDTHH:MM:SS.ffffffZ LEVEL [spans: ]target: `",
    head: text::head,
    cut: text::cut,
    bodies_read: all_bodies,
    parse: text::parse,
    kinds: kinds::KINDS,
    samples: samples::TEXT,
};

/// One JSON object a line.
pub static JSONL: Format = Format {
    name: "dynamo-jsonl",
    about: "NVIDIA Dynamo's log as JSONL",
    shape: "`{\"time\":\"YYYY-MM-DDTHH:MM:SS.ffffffZ\",\"level\":\"`",
    head: jsonl::head,
    cut: jsonl::cut,
    bodies_read: all_bodies,
    parse: jsonl::parse,
    kinds: kinds::KINDS,
    samples: samples::JSONL,
};

/// Does a line speak of event channels and their publishers?
fn of_channel(target: &str, message: &[u8]) -> bool {
    target.contains("event_plane") || prose::of_channel(message)
}

/// What both grammars do at a line's end. `whole` says that the message has no variable part outside of fields and ids.
fn finish(event: &mut Event<'_>, reading: &Reading, whole: bool) {
    if event.kind == &kinds::TRACKER_CONFLICT {
        conflict_workers(event);
    }
    if event.kind == &kinds::KV_EVENT_APPLIED {
        // Under the name that all other lines about KV events have.
        event.fields.iter_mut().filter(|f| f.raw == "event_type").for_each(|f| f.name = "kv_event".into());
    }
    let head = event.stamp.is_some() && event.level.is_some();
    let known = !reading.unknown && !reading.full && event.withheld.is_empty();
    event.columnar = whole && head && known && !event.kind.words.is_empty();
    fields::finish(event, reading);
}

/// `existing` and `new` of a tracker conflict are workers when `field` says so.
fn conflict_workers(event: &mut Event<'_>) {
    use crate::event::Value;
    let of_worker = matches!(event.get("field"), Some(Value::Str(f)) if f.ends_with("worker_id"));
    if !of_worker {
        return;
    }
    let mut workers = Vec::new();
    for field in &mut event.fields {
        if field.name != "existing" && field.name != "new" {
            continue;
        }
        let text = match &field.value {
            Value::Int(v) => v.to_string(),
            Value::UInt(v) => v.to_string(),
            Value::Str(t) => t.to_string(),
            Value::Float(_) | Value::Bool(_) => continue,
        };
        field.value = Value::Str(text.clone().into());
        workers.push(text);
    }
    for worker in workers {
        id(event, crate::ids::IdKind::WorkerId, worker.into());
    }
}

/// The `record` of an audit line: bodies withheld as one span, what is not a body read out of it.
fn audit_record<'a>(value: &'a [u8], at: usize, event: &mut Event<'a>) {
    if value.first() == Some(&b'{') {
        crate::trace::audit_fields(value, at, event);
        return;
    }
    event.withhold(at..at + value.len(), Secret::Body, "record");
    let Some(text) = crate::json::text(value) else { return };
    let mut inner = Event::new(event.kind);
    crate::trace::audit_fields(text.as_bytes(), 0, &mut inner);
    for found in inner.ids {
        id(event, found.kind, found.text.into_owned().into());
    }
    event.fields.extend(inner.fields.into_iter().map(Field::into_owned));
}
