//! JSON lines: `{"timestamp":"2026-11-29 18:11:42","level":"INFO","message":…,fields,"target":…,"span":{…},"spans":[…]}`, and
//! the in-tree router's with a `T`, `Z` and `"fields":{"message":…}` (8.5).

use memchr::memmem;

use super::{fields, is_own, kinds, messages};
use crate::event::{Event, Level, Outcome, Value};
use crate::json::{self, End, Member};
use crate::stamp::{self, RawStamp, SECOND, Zone};

const OPEN: &[u8] = b"{\"timestamp\":\"";
const TARGET: &[u8] = b"\"target\":\"";

/// The first bytes, and the first key `target`: a quote inside a string is escaped, so no message can hold it.
pub fn head(line: &[u8]) -> bool {
    if head_stamp(line).is_none() {
        return false;
    }
    let Some(at) = memmem::find(line, TARGET) else { return false };
    let rest = &line[at + TARGET.len()..];
    let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
    is_own(&rest[..end])
}

fn head_stamp(line: &[u8]) -> Option<RawStamp> {
    let rest = line.strip_prefix(OPEN)?;
    let mut found = stamp::read_iso(rest)?;
    if !rest[found.len as usize..].starts_with(b"\",\"level\":\"") {
        return None;
    }
    match (rest[10], found.zone) {
        (b' ', Zone::Naive) if found.width == SECOND => found.zone = Zone::Utc,
        (b'T', Zone::Utc) => {}
        _ => return None,
    }
    found.at = OPEN.len() as u32;
    Some(found)
}

/// Parses one record.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    if !head(record) {
        return Outcome::Unparsed("not a line of a gateway's JSON log");
    }
    event.stamp = head_stamp(record);
    event.kind = &kinds::GATEWAY_LOG;
    let mut message = None;
    let mut more: Vec<(Member<'a>, usize)> = Vec::new();
    let mut walk = json::members(record);
    for member in walk.by_ref() {
        match member.key {
            b"timestamp" | b"line_number" | b"filename" | b"span" => {}
            b"level" => event.level = json::text(member.value).and_then(|level| Level::read(&level)),
            b"message" => message = Some((member, 0)),
            b"target" => {
                if let Some(target) = json::text(member.value) {
                    event.field("target", "target", Value::Str(target));
                }
            }
            b"spans" => spans(&member, event),
            b"fields" => {
                for inner in json::members(member.value) {
                    if inner.key == b"message" {
                        message = Some((inner, member.at));
                    } else {
                        more.push((inner, member.at));
                    }
                }
            }
            _ => more.push((member, 0)),
        }
        if more.len() > 128 {
            break;
        }
    }
    if walk.end() == End::Truncated || walk.end() == End::Damaged {
        event.note = Some("truncated");
    }
    if let Some((member, base)) = message {
        read_message(&member, base, event);
    }
    for (member, base) in more {
        // Half a value is none; half a body is withheld all the same.
        if member.complete || member.value.first() == Some(&b'"') {
            fields::member(member.key, member.value, base + member.at, event);
        }
    }
    Outcome::Parsed
}

fn read_message<'a>(member: &Member<'a>, base: usize, event: &mut Event<'a>) {
    let inner = member.value.strip_prefix(b"\"").unwrap_or(member.value);
    let inner = if member.complete { inner.strip_suffix(b"\"").unwrap_or(inner) } else { inner };
    let at = base + member.at + usize::from(member.value.first() == Some(&b'"'));
    let span = at..at + inner.len();
    event.message = span.clone();
    if memchr::memchr(b'\\', inner).is_none() {
        return messages::read(inner, at, event);
    }
    let Some(copy) = json::text(member.value) else { return };
    messages::read_copy(copy.as_bytes(), span, event);
}

/// The spans from the outermost in, each an object with its `name`.
fn spans<'a>(member: &Member<'a>, event: &mut Event<'a>) {
    let mut names = String::new();
    for span in json::items(member.value).take(16) {
        let base = member.at + span.at;
        for field in json::members(span.value).filter(|field| field.complete) {
            if field.key == b"name" {
                if !names.is_empty() {
                    names.push(':');
                }
                names.push_str(&json::text(field.value).unwrap_or_default());
            } else {
                fields::member(field.key, field.value, base + field.at, event);
            }
        }
    }
    if !names.is_empty() {
        event.field("spans", "spans", Value::Str(names.into()));
    }
}
