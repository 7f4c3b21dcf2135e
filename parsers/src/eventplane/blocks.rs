//! KV events: blocks stored in, removed from or cleared out of a tier. A message holds one (1.2) or a list of them.

use std::borrow::Cow;

use super::{kinds, worker};
use crate::event::{Event, Value};
use crate::ids::IdKind;
use crate::json::{self, End, Member};
use crate::trace::row::{self, Span};

/// Tiers by the names of the wire, with the fields that count their blocks.
static TIERS: [(&str, [&str; 2]); 5] = [
    ("device", ["device_stored_blocks", "device_removed_blocks"]),
    ("host_pinned", ["host_pinned_stored_blocks", "host_pinned_removed_blocks"]),
    ("disk", ["disk_stored_blocks", "disk_removed_blocks"]),
    ("external", ["external_stored_blocks", "external_removed_blocks"]),
    // A tier that is not known here, or none.
    ("", ["other_stored_blocks", "other_removed_blocks"]),
];

/// What the events of one message say together.
#[derive(Default)]
struct Seen {
    events: i64,
    /// By tier: blocks stored and removed, where there were such events.
    blocks: [[Option<i64>; 2]; 5],
    cleared: bool,
    damaged: bool,
    last_event: Option<Value<'static>>,
}

/// Reads the payload of `kv-events`.
pub fn read<'a>(payload: Span<'a>, event: &mut Event<'a>) -> End {
    let mut seen = Seen::default();
    event.kind = &kinds::KV_EVENTS;
    let end = if payload.bytes.first() == Some(&b'[') {
        let mut walk = json::items(payload.bytes);
        for item in walk.by_ref() {
            one(payload.of(&item), &mut seen, event);
        }
        walk.end()
    } else {
        one(payload, &mut seen, event)
    };
    finish(&seen, event);
    if seen.damaged { End::Damaged } else { end }
}

/// `{worker_id, storage_tier, residency_domain, event: {event_id, data, dp_rank}, session_id?}`.
fn one<'a>(object: Span<'a>, seen: &mut Seen, event: &mut Event<'a>) -> End {
    seen.events += 1;
    let (mut tier, mut data): (&[u8], Option<Member<'a>>) = (b"", None);
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        match member.key {
            b"storage_tier" => {
                tier = member.value;
                distinct("storage_tier", &member, event);
            }
            b"residency_domain" => distinct("residency_domain", &member, event),
            b"session_id" => row::identity(event, IdKind::Session, &member),
            b"event" => {
                for inner in json::members(member.value) {
                    match inner.key {
                        b"data" => data = Some(inner),
                        b"event_id" if event.get("event_id").is_none() => row::scalar(event, "event_id", &inner),
                        b"event_id" => seen.last_event = json::number(inner.value),
                        _ => {
                            worker(&inner, event);
                        }
                    }
                }
            }
            _ => {
                worker(&member, event);
            }
        }
    }
    if let Some(data) = data {
        count(&data, tier, seen, event);
    }
    seen.damaged |= walk.end() == End::Damaged;
    walk.end()
}

/// `{"stored": {blocks: […]}}`, `{"removed": {block_hashes: […]}}` or `"cleared"`.
fn count<'a>(data: &Member<'a>, tier: &[u8], seen: &mut Seen, event: &mut Event<'a>) {
    if data.value == b"\"cleared\"" {
        seen.cleared = true;
        return once("kv_event", "cleared", event);
    }
    for what in json::members(data.value) {
        let (name, list, column): (_, &[u8], _) = match what.key {
            b"stored" => ("stored", b"blocks", 0),
            b"removed" => ("removed", b"block_hashes", 1),
            b"cleared" => {
                seen.cleared = true;
                once("kv_event", "cleared", event);
                continue;
            }
            _ => continue,
        };
        once("kv_event", name, event);
        // Blocks whose list has no end are not a count.
        let blocks = json::find(what.value, list).filter(|m| m.complete).map(|m| json::items(m.value).count() as i64);
        let tier = tier.strip_prefix(b"\"").and_then(|t| t.strip_suffix(b"\"")).unwrap_or(b"");
        let tier = TIERS.iter().position(|t| t.0.as_bytes() == tier).unwrap_or(TIERS.len() - 1);
        if let Some(blocks) = blocks {
            *seen.blocks[tier][column].get_or_insert(0) += blocks;
        }
    }
}

fn finish(seen: &Seen, event: &mut Event<'_>) {
    let any = |column: usize| seen.blocks.iter().any(|tier| tier[column].is_some());
    event.kind = match (any(0), any(1), seen.cleared) {
        (true, false, false) => &kinds::KV_STORED,
        (false, true, false) => &kinds::KV_REMOVED,
        (false, false, true) => &kinds::KV_CLEARED,
        _ => &kinds::KV_EVENTS,
    };
    event.field("events", "payload", Value::Int(seen.events));
    if let Some(last) = &seen.last_event {
        event.field("last_event_id", "event_id", last.clone());
    }
    let mut total = None;
    for ((_, names), counts) in TIERS.iter().zip(&seen.blocks) {
        for (name, blocks) in names.iter().zip(counts) {
            if let Some(blocks) = blocks {
                event.field(name, "blocks", Value::Int(*blocks));
                *total.get_or_insert(0) += blocks;
            }
        }
    }
    // Stored and removed together are no number of anything.
    if let Some(total) = total.filter(|_| !(any(0) && any(1))) {
        event.field("blocks", "blocks", Value::Int(total));
    }
}

/// A value that the events of a message share, once.
fn distinct<'a>(name: &'static str, member: &Member<'a>, event: &mut Event<'a>) {
    let Some(text) = json::text(member.value).filter(|_| member.complete) else { return };
    if !event.fields.iter().any(|f| f.name == name && matches!(&f.value, Value::Str(t) if *t == text)) {
        event.field(name, name, Value::Str(text));
    }
}

fn once(name: &'static str, text: &'static str, event: &mut Event<'_>) {
    if !event.fields.iter().any(|f| f.name == name && matches!(&f.value, Value::Str(t) if t == text)) {
        event.field(name, "data", Value::Str(Cow::Borrowed(text)));
    }
}
