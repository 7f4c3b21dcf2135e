//! A whole export, or the beginning of one: resources, scopes, and the spans in it.

use super::attributes::{self, Keep};
use super::kinds;
use super::span::{self, Times};
use crate::dynamo::Reading;
use crate::event::{Event, Value};
use crate::json::{self, End};
use crate::trace::row::Span;

/// So many ids of several spans are kept; a document of thousands has no more.
const MAX_IDS: usize = 4_096;

/// What a walk over an export saw.
#[derive(Default)]
struct Seen<'a> {
    spans: usize,
    first: Option<Span<'a>>,
    times: Times,
    services: usize,
    scopes: usize,
    /// The record ends where the spans of a scope begin.
    begun: bool,
    damaged: bool,
}

/// Reads what stands here. The second value says that the record ends where a scope's spans begin: they are the records that follow.
pub fn read<'a>(whole: Span<'a>, event: &mut Event<'a>) -> (End, bool) {
    let mut seen = Seen::default();
    let mut end = End::Closed(whole.bytes.len());
    if whole.bytes.starts_with(b"{\"scope\"") {
        end = scope(whole, &mut seen, event);
    } else if whole.bytes.starts_with(b"{\"resource\"") {
        end = resource(whole, &mut seen, event);
    } else {
        let mut walk = json::members(whole.bytes);
        for member in walk.by_ref() {
            if member.key == b"resourceSpans" {
                let list = whole.of(&member);
                for item in json::items(list.bytes) {
                    resource(list.of(&item), &mut seen, event);
                }
            }
        }
        if walk.end() != End::Open {
            end = walk.end();
        }
    }
    if seen.damaged {
        end = End::Damaged;
    }
    finish(&seen, event);
    (end, seen.begun && seen.spans == 0)
}

fn finish<'a>(seen: &Seen<'a>, event: &mut Event<'a>) {
    event.kind = match seen.spans {
        0 => &kinds::OTLP_RESOURCE,
        1 => &kinds::OTLP_SPAN,
        _ => &kinds::OTLP_SPANS,
    };
    if seen.spans == 1
        && let Some(only) = seen.first
    {
        event.ids.clear();
        span::read(only, event);
        // It was seen twice.
        event.withheld.sort_by_key(|w| (w.span.start, w.span.end));
        event.withheld.dedup();
        return;
    }
    if seen.spans > 1 {
        event.field("spans", "spans", Value::Int(seen.spans as i64));
        event.stamp = seen.times.stamp();
        if let (Some(start), Some(end)) = (seen.times.start, seen.times.end)
            && end >= start
        {
            event.field("end_unix_ns", "endTimeUnixNano", Value::Int(end));
            event.field("duration_ms", "endTimeUnixNano", Value::Float((end - start) as f64 / 1e6));
        }
    }
    if event.ids.len() >= MAX_IDS {
        event.note = Some("more ids than are kept");
    }
}

fn resource<'a>(object: Span<'a>, seen: &mut Seen<'a>, event: &mut Event<'a>) -> End {
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        let value = object.of(&member);
        match member.key {
            b"resource" => {
                if let Some(list) = json::find(value.bytes, b"attributes") {
                    let keep = if seen.services == 0 { Keep::All } else { Keep::Nothing };
                    attributes::read(value.of(&list), keep, &mut Reading::default(), event);
                }
                seen.services += 1;
            }
            b"scopeSpans" | b"instrumentationLibrarySpans" => {
                for item in json::items(value.bytes) {
                    scope(value.of(&item), seen, event);
                }
            }
            _ => {}
        }
    }
    seen.damaged |= walk.end() == End::Damaged;
    walk.end()
}

fn scope<'a>(object: Span<'a>, seen: &mut Seen<'a>, event: &mut Event<'a>) -> End {
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        let value = object.of(&member);
        match member.key {
            b"scope" if seen.scopes == 0 => {
                if let Some(name) = json::find(value.bytes, b"name").and_then(|m| json::text(m.value)).filter(|n| !n.is_empty()) {
                    event.field("scope_name", "name", Value::Str(name));
                }
                seen.scopes += 1;
            }
            b"spans" => {
                seen.begun |= !member.complete && value.bytes.trim_ascii_end() == b"[";
                let mut items = json::items(value.bytes);
                for item in items.by_ref() {
                    one(value.of(&item), seen, event);
                }
                seen.damaged |= items.end() == End::Damaged;
            }
            _ => {}
        }
    }
    seen.damaged |= walk.end() == End::Damaged;
    walk.end()
}

/// One of perhaps several spans: its ids, its times, and what it withholds.
fn one<'a>(object: Span<'a>, seen: &mut Seen<'a>, event: &mut Event<'a>) {
    let mut times = Times::default();
    let mut reading = Reading::default();
    let keep = if event.ids.len() < MAX_IDS { Keep::Ids } else { Keep::Nothing };
    for member in json::members(object.bytes) {
        let value = object.of(&member);
        times.see(object.at, &member);
        match member.key {
            b"traceId" | b"spanId" if keep == Keep::Ids => span::identity(&member, event),
            b"attributes" => {
                attributes::read(value, keep, &mut reading, event);
            }
            b"events" | b"links" => {
                for item in json::items(value.bytes) {
                    let inner = value.of(&item);
                    if let Some(list) = json::find(inner.bytes, b"attributes") {
                        attributes::read(inner.of(&list), Keep::Nothing, &mut reading, event);
                    }
                }
            }
            _ => {}
        }
    }
    let end = seen.times.end.max(times.end);
    if seen.spans == 0 || times.start.is_some_and(|new| seen.times.start.is_none_or(|old| new < old)) {
        seen.times = times;
    }
    seen.times.end = end;
    seen.spans += 1;
    seen.first.get_or_insert(object);
}
