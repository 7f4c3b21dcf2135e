//! One request's durations by phase: `Req Time Stats(rid=…, …): …` (0.4.6 to 0.5.11) and `ReqTimeStats(rid=…, …): …` (from 0.5.12).
//!
//! `entry_time` (from 0.5.12) is epoch seconds and so fixes the log's zone; `start_time` and `start` before it are the process's
//! `time.perf_counter()` and fix nothing.

use std::borrow::Cow;

use memchr::memmem;

use super::rules;
use super::{kinds, values};
use crate::event::{Event, Field, Value};
use crate::keyvalue;

/// Keys as printed and their canonical names, for those that are not the same. Durations are in milliseconds.
const NAMES: &[(&str, &str)] = &[
    ("input len", "input_len"),
    ("output len", "output_len"),
    ("queue_duration", "queue_ms"),
    ("forward_duration", "forward_ms"),
    ("bootstrap_duration", "bootstrap_ms"),
    ("bootstrap", "bootstrap_ms"),
    ("alloc_wait_duration", "alloc_wait_ms"),
    ("alloc_wait", "alloc_wait_ms"),
    ("other", "other_ms"),
    ("bootstrap_queue_duration", "bootstrap_queue_ms"),
    ("prealloc_duration", "prealloc_queue_ms"),
    ("prealloc_queue_duration", "prealloc_queue_ms"),
    ("transfer_duration", "transfer_ms"),
    ("transfer_speed", "transfer_speed_gb_s"),
    ("transfer_total", "transfer_total_mb"),
    ("start_time", "start_monotonic_s"),
    ("start", "start_monotonic_s"),
    ("#retries", "retries"),
];

/// Is this such a line? Returns where the list of the request's own facts begins.
pub fn head(message: &[u8]) -> Option<usize> {
    [&b"ReqTimeStats("[..], b"Req Time Stats("].iter().find(|h| message.starts_with(h)).map(|h| h.len())
}

/// Reads the line; `at` is what [`head`] gave.
pub fn parse<'a>(message: &'a [u8], at: usize, event: &mut Event<'a>) {
    event.kind = &kinds::REQUEST_TIME_STATS;
    // A client's own rid may hold `): `, and so may text that another process wrote behind the line. `type` is the last fact in every version.
    let last = memmem::find(&message[at..], b", type=").map_or(at, |i| at + i);
    let close = memmem::find(&message[last..], b"): ").map_or(message.len(), |i| last + i);
    facts(&message[at..close], event);
    if let Some(tail) = message.get(close + 3..) {
        durations(tail, event);
    } else {
        event.note = Some("truncated");
    }
}

/// `rid=…, bootstrap_room=…, input_len=…, output_len=…, type=…`.
fn facts<'a>(text: &'a [u8], event: &mut Event<'a>) {
    for part in split_items(text) {
        let Some(eq) = memchr::memchr(b'=', part) else { continue };
        let (key, value) = (&part[..eq], &part[eq + 1..]);
        match key {
            b"rid" => rules::rid(rules::unquote(value), event),
            b"bootstrap_room" => rules::room(value, event),
            _ => push(key, value, event),
        }
    }
}

/// The text's parts between `, `.
fn split_items(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| *b == b',').map(<[u8]>::trim_ascii)
}

/// `a=1.00ms, b(2.00ms) = c(1.00ms) + d(1.00ms); e=3.000`.
fn durations<'a>(tail: &'a [u8], event: &mut Event<'a>) {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'#');
    let mut at = 0;
    while at < tail.len() {
        if !is_name(&tail[at]) {
            at += 1;
            continue;
        }
        let key_len = tail[at..].iter().take_while(|b| is_name(b)).count();
        let key = &tail[at..at + key_len];
        at += key_len;
        let Some(mark) = tail.get(at) else { break };
        if *mark != b'=' && *mark != b'(' {
            continue;
        }
        let start = at + 1;
        let end = values::end_of(tail, start).max(start);
        push(key, &tail[start..end], event);
        at = end;
    }
}

/// One value, its unit cut off.
fn push<'a>(key: &'a [u8], value: &'a [u8], event: &mut Event<'a>) {
    let (Ok(key), Ok(value)) = (std::str::from_utf8(key), std::str::from_utf8(value)) else { return };
    let value = value.trim_end_matches(|c: char| c.is_ascii_whitespace() || c == ')');
    let number = value.trim_end_matches("ms").trim_end_matches("GB/s").trim_end_matches("MB").trim_end();
    let typed = match keyvalue::number(number) {
        Some(Value::Int(n)) if key.ends_with("duration") => Value::Float(n as f64),
        Some(number) => number,
        None if value.is_empty() => return,
        None => Value::Str(Cow::Borrowed(value)),
    };
    let known = NAMES.iter().find(|(raw, _)| *raw == key).map(|(_, name)| *name);
    let name = known.unwrap_or(key);
    event.fields.push(Field { name: Cow::Borrowed(name), raw: Cow::Borrowed(key), value: typed });
}
