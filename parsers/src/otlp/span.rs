//! One span: names, times, ids, attributes, and what its events and links count.

use std::borrow::Cow;

use super::attributes::{self, Keep};
use crate::dynamo::{self, Reading};
use crate::event::{Event, Value};
use crate::ids::IdKind;
use crate::json::{self, End, Member};
use crate::stamp::{RawStamp, from_unix_ns};
use crate::trace::row::Span;

/// Names of a span's events that become a field: so many, each no longer than this.
const EVENT_NAMES: usize = 16;
const EVENT_NAME: usize = 80;

/// When a span began and ended, nanoseconds since the epoch, and where the first is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub start: Option<i64>,
    pub end: Option<i64>,
    stamp: Option<RawStamp>,
}

impl Times {
    /// Takes the members that are times.
    pub fn see(&mut self, at: usize, member: &Member<'_>) {
        match member.key {
            b"startTimeUnixNano" => {
                self.start = nanos(member);
                self.stamp = self.start.map(|ns| stamp(ns, at, member));
            }
            b"endTimeUnixNano" => self.end = nanos(member),
            _ => {}
        }
    }

    /// The start, as it is written.
    pub fn stamp(&self) -> Option<RawStamp> {
        self.stamp
    }
}

/// Nanoseconds from a number, in quotes or not; 0 says that there is none.
fn nanos(member: &Member<'_>) -> Option<i64> {
    match json::number(member.value).filter(|_| member.complete)? {
        Value::Int(ns) if ns > 0 => Some(ns),
        _ => None,
    }
}

fn stamp(ns: i64, base: usize, member: &Member<'_>) -> RawStamp {
    let quoted = usize::from(member.value.first() == Some(&b'"'));
    let (at, len) = (base + member.at + quoted, member.value.len() - 2 * quoted);
    RawStamp { at: at as u32, len: len as u32, ..from_unix_ns(ns) }
}

/// Reads the span `object` into the event: its only one.
pub fn read<'a>(object: Span<'a>, event: &mut Event<'a>) -> End {
    let mut times = Times::default();
    let mut reading = Reading::default();
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        let value = object.of(&member);
        times.see(object.at, &member);
        match member.key {
            b"traceId" | b"spanId" => identity(&member, event),
            b"parentSpanId" => text("parent_id", "parentSpanId", &member, event),
            b"traceState" => text("tracestate", "traceState", &member, event),
            b"name" => text("span_name", "name", &member, event),
            b"kind" => kind(&member, event),
            b"attributes" => {
                attributes::read(value, Keep::All, &mut reading, event);
            }
            b"events" => events(value, &mut reading, event),
            b"links" => links(value, &mut reading, event),
            b"status" => status(&member, event),
            _ => {}
        }
    }
    event.stamp = times.stamp();
    if let Some(end) = times.end {
        event.field("end_unix_ns", "endTimeUnixNano", Value::Int(end));
    }
    match (times.start, times.end) {
        (Some(start), Some(end)) if end >= start => {
            event.field("duration_ms", "endTimeUnixNano", Value::Float((end - start) as f64 / 1e6));
        }
        (Some(_), Some(_)) => event.note = Some("ends before it starts"),
        _ => {}
    }
    dynamo::finish_fields(event, &reading);
    walk.end()
}

/// Adds the trace's or span's id.
pub fn identity<'a>(member: &Member<'a>, event: &mut Event<'a>) {
    let kind = if member.key == b"traceId" { IdKind::TraceId } else { IdKind::SpanId };
    if let Some(id) = json::text(member.value).filter(|_| member.complete) {
        dynamo::id(event, kind, id);
    }
}

fn text<'a>(name: &'static str, raw: &'static str, member: &Member<'a>, event: &mut Event<'a>) {
    if let Some(text) = json::text(member.value).filter(|t| member.complete && !t.is_empty()) {
        event.field(name, raw, Value::Str(text));
    }
}

/// A number, or its name in protobuf's JSON.
fn kind(member: &Member<'_>, event: &mut Event<'_>) {
    let name = match member.value {
        b"1" | b"\"SPAN_KIND_INTERNAL\"" => "internal",
        b"2" | b"\"SPAN_KIND_SERVER\"" => "server",
        b"3" | b"\"SPAN_KIND_CLIENT\"" => "client",
        b"4" | b"\"SPAN_KIND_PRODUCER\"" => "producer",
        b"5" | b"\"SPAN_KIND_CONSUMER\"" => "consumer",
        _ => return,
    };
    event.field("otel_kind", "kind", Value::Str(Cow::Borrowed(name)));
}

fn status<'a>(status: &Member<'a>, event: &mut Event<'a>) {
    for member in json::members(status.value) {
        match member.key {
            b"code" => {
                let name = match member.value {
                    b"1" | b"\"STATUS_CODE_OK\"" => "ok",
                    b"2" | b"\"STATUS_CODE_ERROR\"" => "error",
                    _ => continue,
                };
                event.field("otel_status_code", "code", Value::Str(Cow::Borrowed(name)));
            }
            b"message" => text("otel_status_description", "message", &member, event),
            _ => {}
        }
    }
}

/// How many events a span has, what they are called, and the ids that they carry.
fn events<'a>(list: Span<'a>, reading: &mut Reading, event: &mut Event<'a>) {
    let (mut count, mut names) = (0, String::new());
    let mut distinct: Vec<Cow<'_, str>> = Vec::new();
    for item in json::items(list.bytes) {
        count += 1;
        let object = list.of(&item);
        for member in json::members(object.bytes) {
            if member.key == b"attributes" {
                attributes::read(object.of(&member), Keep::Ids, reading, event);
            } else if member.key == b"name"
                && let Some(name) = json::text(member.value)
                && name.len() <= EVENT_NAME
                && distinct.len() < EVENT_NAMES
                && !distinct.contains(&name)
            {
                distinct.push(name);
            }
        }
    }
    for name in &distinct {
        if !names.is_empty() {
            names.push_str(", ");
        }
        names.push_str(name);
    }
    if count > 0 {
        event.field("span_events", "events", Value::Int(count));
    }
    if !names.is_empty() {
        event.field("span_event_names", "events", Value::Str(Cow::Owned(names)));
    }
}

fn links<'a>(list: Span<'a>, reading: &mut Reading, event: &mut Event<'a>) {
    let mut count = 0;
    for item in json::items(list.bytes) {
        count += 1;
        let object = list.of(&item);
        if let Some(member) = json::find(object.bytes, b"attributes") {
            attributes::read(object.of(&member), Keep::Nothing, reading, event);
        }
    }
    if count > 0 {
        event.field("span_links", "links", Value::Int(count));
    }
}
