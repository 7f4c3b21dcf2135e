//! smg's cache trace: `Cache routing dispatch evidence={…}` states the engine ids, the worker and the overlap that
//! the gateway predicted. It is no proof of reuse.

use std::borrow::Cow;

use super::fields;
use super::kinds::*;
use crate::event::{Event, Value};
use crate::ids::IdKind;
use crate::json;
use crate::stamp::{SECOND, Zone, from_unix_ns};

const MARKS: &[(&[u8], &crate::event::Kind)] =
    &[(b"Cache routing dispatch evidence=", &GATEWAY_CACHE_PREDICTION), (b"Cache routing failure evidence=", &GATEWAY_CACHE_TRACE_FAILED)];

/// (key, canonical name) of the object's own scalars.
const TOP: &[(&str, &str)] = &[
    ("schema", "evidence_schema"),
    ("router_epoch", "router_epoch"),
    ("dispatch_timestamp_ns", "dispatch_timestamp_ns"),
    ("dispatch_id", "dispatch_id"),
    ("attempt", "attempt"),
    ("mode", "mode"),
    ("engine_ids_complete", "engine_ids_complete"),
    ("status", "status"),
    ("truncated", "truncated"),
    ("capped", "capped"),
    ("cache_evidence", "cache_evidence"),
];

/// Of each selection; a PD dispatch has one for prefill and one for decode, whose fields then stand twice, in order.
const SELECTION: &[(&str, &str)] =
    &[("policy", "policy"), ("origin", "origin"), ("worker", "worker_url"), ("candidates_complete", "candidates_complete")];

/// Of a prediction. Counts are in blocks or in units of the gateway's tree (characters or tokens), not in tokens of the engine.
const PREDICTION: &[(&str, &str)] = &[
    ("source", "prediction_source"),
    ("branch", "prediction_branch"),
    ("level", "prediction_level"),
    ("overlap_blocks", "overlap_blocks"),
    ("request_blocks", "request_blocks"),
    ("block_size", "block_size"),
    ("matched_units", "matched_units"),
    ("input_units", "input_units"),
    ("credited_units", "credited_units"),
];

/// Selections that are read: smg writes at most so many.
const MAX_SELECTIONS: usize = 16;

/// Reads the message if it is one of these; says whether it was.
pub fn read<'a>(message: &'a [u8], at: usize, event: &mut Event<'a>) -> bool {
    let Some((mark, kind)) = MARKS.iter().find(|(mark, _)| message.starts_with(mark)) else { return false };
    event.kind = kind;
    event.message = at..at + mark.len() - " evidence=".len();
    let mut walk = json::members(&message[mark.len()..]);
    for member in walk.by_ref() {
        match member.key {
            b"root_id" if member.complete => {
                if let Some(id) = json::id(member.value) {
                    fields::request_id(id, event);
                }
            }
            b"engine_ids" => {
                for id in json::items(member.value).filter(|id| id.complete).take(64) {
                    if let Some(id) = json::id(id.value) {
                        fields::id(IdKind::Rid, id, event);
                    }
                }
            }
            b"selections" => selections(member.value, event),
            _ if member.complete => scalar(TOP, member.key, member.value, event),
            _ => {}
        }
    }
    if walk.end() == json::End::Truncated || walk.end() == json::End::Damaged {
        event.note = Some("truncated");
    }
    dispatch_stamp(event);
    true
}

fn selections<'a>(list: &'a [u8], event: &mut Event<'a>) {
    let mut count = 0;
    for selection in json::items(list).take(MAX_SELECTIONS) {
        count += 1;
        let mut worker = None;
        let mut candidates = None;
        for member in json::members(selection.value) {
            match member.key {
                b"prediction" => {
                    for part in json::members(member.value).filter(|part| part.complete) {
                        scalar(PREDICTION, part.key, part.value, event);
                    }
                }
                b"candidates" => candidates = Some(member.value),
                _ => {
                    if member.key == b"worker" {
                        worker = Some(member.value);
                    }
                    if member.complete {
                        scalar(SELECTION, member.key, member.value, event);
                    }
                }
            }
        }
        if let Some(list) = candidates {
            let all = || json::items(list).take(64);
            event.field("candidates", "candidates", Value::Int(i64::try_from(all().count()).unwrap_or(i64::MAX)));
            let chosen = all().find(|c| worker.is_some() && json::find(c.value, b"worker").map(|m| m.value) == worker);
            if let Some(load) = chosen.and_then(|c| json::find(c.value, b"load")).and_then(|load| json::number(load.value)) {
                event.field("load", "load", load);
            }
        }
    }
    event.field("selections", "selections", Value::Int(count));
}

/// Adds the scalar of a key that is in `names`; `null` is none.
fn scalar<'a>(names: &'static [(&str, &'static str)], key: &'a [u8], value: &'a [u8], event: &mut Event<'a>) {
    let Some((raw, name)) = names.iter().find(|(raw, _)| raw.as_bytes() == key) else { return };
    if *raw == "status" && value.first() == Some(&b'"') {
        return fields::status(raw, &json::text(value).unwrap_or_default(), event);
    }
    if let Some(value) = json::value(value) {
        event.fields.push(crate::event::Field { name: Cow::Borrowed(name), raw: Cow::Borrowed(raw), value });
    }
}

/// The time of the dispatch in nanoseconds is the record's, where it lies about the second that the line shows.
fn dispatch_stamp(event: &mut Event<'_>) {
    let (Some(line), Some(Value::Int(ns))) = (event.stamp, event.get("dispatch_timestamp_ns")) else { return };
    if line.zone == Zone::Utc && (line.ns - SECOND..line.ns + line.width).contains(ns) {
        event.stamp = Some(from_unix_ns(*ns));
    }
}
