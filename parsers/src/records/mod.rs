//! JSON of programs that have no format of their own: clients' results, health checks, timelines, manifests, responses. See README.md beside this file.

pub(crate) mod keys;
pub mod kinds;
mod samples;
pub(crate) mod stamps;
#[cfg(test)]
mod tests;
mod walk;

use crate::event::{Event, Outcome, Secret};
use crate::format::{Format, all_bodies, never_cut};
use crate::json::{self, End};
use crate::text;
use crate::trace::row::Span;
use walk::{Seen, Walk};

/// A longer string is no field of a JSON record.
pub(crate) const MAX_FIELD: usize = 200;

/// One JSON object or array, on a line or as a whole file. The last of `FORMATS`.
pub static JSON: Format = Format {
    name: "json",
    about: "JSON records of any program",
    shape: "a JSON object or array that no other format owns",
    head,
    cut: never_cut,
    bodies_read: all_bodies,
    parse,
    kinds: kinds::KINDS,
    samples: samples::JSON,
};

/// JSON that every other format has refused. It asks them itself: a source's formats are tried in the order of their share, and there
/// this one may stand first.
fn head(line: &[u8]) -> bool {
    looks(line) && !crate::FORMATS.iter().any(|f| f.name != JSON.name && (f.head)(line))
}

/// `{"key":`, `{}`, an array of such, or any other valid array.
fn looks(line: &[u8]) -> bool {
    let start = line.trim_ascii_start();
    // An indented line continues the record before it. Blanks may stand before a value only where it is given with further lines.
    let indented = matches!(line.first(), Some(b' ' | b'\t'));
    if indented && memchr::memchr(b'\n', line.trim_ascii_end()).is_none() {
        return false;
    }
    match start.first() {
        Some(b'{') => opens_object(start),
        Some(b'[') => {
            let inside = start[1..].trim_ascii_start();
            if inside.first() == Some(&b'{') {
                return opens_object(inside);
            }
            start.trim_ascii_end().last() == Some(&b']') && serde_json::from_slice::<serde::de::IgnoredAny>(start).is_ok()
        }
        _ => false,
    }
}

fn opens_object(bytes: &[u8]) -> bool {
    let inside = bytes[1..].trim_ascii_start();
    match inside.first() {
        Some(b'}') => true,
        Some(b'"') => {
            let (len, complete) = json::value_len(inside);
            complete && inside[len..].trim_ascii_start().first() == Some(&b':')
        }
        _ => false,
    }
}

fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    event.kind = &kinds::JSON_RECORD;
    event.message = 0..record.len();
    let at = record.len() - record.trim_ascii_start().len();
    let span = Span { bytes: &record[at..], at };
    let mut walk = Walk::new(event, record.len());
    walk.decoy = is_http_id(span.bytes);
    let end = walk.record(span);
    let seen = walk.seen;
    if end == End::Damaged && seen.members == 0 {
        return not_json(record, event);
    }
    finish(&seen, event);
    let outcome = match end {
        End::Closed(end) => {
            let behind = at + end;
            if record[behind..].iter().any(|b| !b.is_ascii_whitespace()) {
                event.note = Some("text behind the JSON value");
                event.withhold(behind..record.len(), Secret::Body, "text behind the record");
            }
            Outcome::Parsed
        }
        End::Truncated => Outcome::Unparsed("truncated JSON"),
        End::Open | End::Damaged => Outcome::Unparsed("damaged JSON"),
    };
    disjoint(event);
    outcome
}

/// Kind, message and what only the whole record can say.
fn finish(seen: &Seen, event: &mut Event<'_>) {
    if seen.chat {
        event.kind = &kinds::CHAT_RESPONSE;
    } else if seen.start && seen.end && seen.outcome {
        event.kind = &kinds::CLIENT_REQUEST;
    }
    if let Some(field) = seen.stamp_field.filter(|i| *i < event.fields.len()) {
        event.fields.remove(field);
    }
    match &seen.message {
        // A message with a role is a turn of a conversation, not a log's.
        Some(span) if seen.role || seen.chat => event.withhold(span.clone(), Secret::Body, "message"),
        Some(span) => event.message = span.clone(),
        None => {}
    }
}

/// A line that only began like JSON: text, and withheld as a whole where it names a body or a credential.
fn not_json<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    let outcome = text::parse(record, event);
    if event.withheld.is_empty()
        && let Some(why) = keys::secret_inside(record)
    {
        event.withhold(0..record.len(), why, "record");
    }
    outcome
}

/// Brings the spans into their order and leaves out those inside another.
pub(crate) fn disjoint(event: &mut Event<'_>) {
    event.withheld.sort_by_key(|w| (w.span.start, std::cmp::Reverse(w.span.end)));
    let mut end = 0;
    event.withheld.retain(|w| {
        let outside = w.span.end > end;
        end = end.max(w.span.end);
        outside
    });
}

/// ruter's rows of a router log copy the `request_id` of the HTTP span, which is another id than the request's,
/// but for the candidates' rows.
fn is_http_id(record: &[u8]) -> bool {
    let is = |key: &[u8], value: &[u8]| json::find(record, key).is_some_and(|m| m.value == value);
    record.starts_with(b"{\"fields\":") && is(b"source", b"\"dynamo_router\"") && !is(b"kind", b"\"routing_candidate\"")
}
