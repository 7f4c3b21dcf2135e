//! Messages of Dynamo's event plane, written down by a subscriber: KV events, load, active sequences, engine steps. See README.md beside this file.

mod blocks;
pub mod kinds;
mod load;
mod samples;
mod sequences;
#[cfg(test)]
mod tests;

use crate::event::{Event, Outcome, Secret, Value};
use crate::format::{Format, all_bodies, never_cut};
use crate::ids::IdKind;
use crate::json::{self, End, Member};
use crate::stamp::{self, RawStamp};
use crate::trace;
use crate::trace::row::{self, Span};

/// One message a line: the envelope that Dynamo publishes, bare or in what a subscriber noted around it.
pub static EVENTS: Format = Format {
    name: "dynamo-events",
    about: "messages of Dynamo's event plane as a subscriber wrote them",
    shape: "`{\"t\":…,\"topic\":\"…\",…,\"envelope\":{` or the envelope `{\"publisher_id\":…,\"sequence\":…,\"published_at\":`",
    head,
    cut: never_cut,
    bodies_read: all_bodies,
    parse,
    kinds: kinds::KINDS,
    samples: samples::EVENTS,
};

/// Events of a harness's tools, which Dynamo takes from it and traces.
const TOOLS: &[u8] = b"\"agent-tool-events\"";

/// The envelope begins in so much of a line.
const HEAD: usize = 320;

fn head(line: &[u8]) -> bool {
    if let Some(rest) = key(line, b"{\"t\":") {
        let number = rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        let Some(rest) = rest[number..].strip_prefix(b",").filter(|_| number > 0).map(<[u8]>::trim_ascii_start) else { return false };
        if rest.starts_with(b"\"topic\":") {
            return memchr::memmem::find(&line[..line.len().min(HEAD)], b"\"envelope\":").is_some();
        }
        return rest.starts_with(b"\"connect\":") && memchr::memmem::find(line, b"\"discovery_json\":").is_some();
    }
    let Some(rest) = key(line, b"{\"publisher_id\":") else { return false };
    memchr::memmem::find(&rest[..rest.len().min(HEAD)], b"\"published_at\":").is_some()
}

/// What follows a key and blanks.
fn key<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    line.strip_prefix(key).map(<[u8]>::trim_ascii_start)
}

fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    event.kind = &kinds::EVENT_MESSAGE;
    event.message = 0..record.len();
    let whole = Span { bytes: record, at: 0 };
    if record.starts_with(b"{\"publisher_id\"") {
        return trace::outcome(envelope(whole, event), record, event);
    }
    let mut inner = None;
    let mut walk = json::members(record);
    for member in walk.by_ref() {
        match member.key {
            b"t" => received(&member, event),
            b"envelope" => inner = Some(envelope(whole.of(&member), event)),
            b"connect" => {
                event.kind = &kinds::EVENT_SUBSCRIPTION;
                row::scalar(event, "endpoint", &member);
            }
            b"discovery_json" => discovered(&member, event),
            b"file" => row::scalar(event, "key", &member),
            _ => {}
        }
    }
    let end = match (walk.end(), inner) {
        (_, Some(End::Damaged)) => End::Damaged,
        (end, _) => end,
    };
    trace::outcome(end, record, event)
}

/// `{publisher_id, sequence, published_at, topic, payload}`.
fn envelope<'a>(object: Span<'a>, event: &mut Event<'a>) -> End {
    let mut published = None;
    let mut topic: &[u8] = b"";
    let mut inner = End::Open;
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        match member.key {
            b"publisher_id" => row::scalar(event, "publisher_id", &member),
            b"sequence" => row::scalar(event, "sequence", &member),
            b"published_at" => published = epoch_ms(object.at, &member),
            b"topic" => {
                topic = member.value;
                row::scalar(event, "topic", &member);
            }
            b"payload" => inner = payload(topic, object.of(&member), event),
            _ => row::named(event, &member),
        }
    }
    // A tool's event has the harness's own stamp.
    if published.is_some() && topic != TOOLS {
        event.stamp = published;
    }
    if inner == End::Damaged { inner } else { walk.end() }
}

/// By topic, and where the topic came too late or is new, not at all.
fn payload<'a>(topic: &[u8], payload: Span<'a>, event: &mut Event<'a>) -> End {
    match topic {
        b"\"kv-events\"" => blocks::read(payload, event),
        b"\"kv_metrics\"" => load::metrics(payload, event),
        b"\"forward-pass-metrics\"" => load::forward_pass(payload, event),
        b"\"active_sequences_events\"" => sequences::read(payload, event),
        TOOLS => trace::read_row(payload, event),
        _ => {
            event.withhold(payload.at..payload.at + payload.bytes.len(), Secret::Body, "payload");
            End::Open
        }
    }
}

fn epoch_ms(base: usize, member: &Member<'_>) -> Option<RawStamp> {
    let Some(Value::Int(ms)) = json::number(member.value).filter(|_| member.complete) else { return None };
    let mut stamp = stamp::from_unix_ms(ms).filter(|_| ms > 0)?;
    stamp.at = (base + member.at) as u32;
    stamp.len = member.value.len() as u32;
    Some(stamp)
}

/// When the capture got the message, by its clock: seconds with a fraction. It is the stamp of what has no other.
fn received<'a>(member: &Member<'a>, event: &mut Event<'a>) {
    row::scalar(event, "received_unix_s", member);
    let text = std::str::from_utf8(member.value).unwrap_or("");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let us = whole.parse::<i64>().ok().and_then(|s| s.checked_mul(1_000_000)?.checked_add(micros.parse::<i64>().ok()?));
    if let Some(mut stamp) = us.filter(|us| *us > 0 && member.complete).and_then(stamp::from_unix_us) {
        stamp.at = member.at as u32;
        stamp.len = member.value.len() as u32;
        event.stamp = Some(stamp);
    }
}

/// The publisher that the capture connected to, as discovery describes it: JSON in a string.
fn discovered<'a>(member: &Member<'a>, event: &mut Event<'a>) {
    let Some(text) = json::text(member.value).filter(|_| member.complete) else { return };
    for found in json::members(text.as_bytes()) {
        match found.key {
            b"topic" => {
                if let Some(topic) = json::text(found.value) {
                    event.field("topic", "topic", Value::Str(topic.into_owned().into()));
                }
            }
            b"instance_id" => {
                if let Some(id) = json::number(found.value) {
                    event.field("publisher_id", "instance_id", id);
                }
            }
            _ => {}
        }
    }
}

/// `worker_id` and `dp_rank` of an object.
fn worker<'a>(member: &Member<'a>, event: &mut Event<'a>) -> bool {
    match member.key {
        b"worker_id" => row::identity(event, IdKind::WorkerId, member),
        b"dp_rank" if event.get("dp_rank").is_none() => row::scalar(event, "dp_rank", member),
        b"dp_rank" => {}
        _ => return false,
    }
    true
}
