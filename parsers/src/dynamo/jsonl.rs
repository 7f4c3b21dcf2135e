//! JSONL: one object a line, `{"time":…,"level":…,["file","line",]"target":…,"message":…, fields by name}`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::fields::{self, Reading};
use super::{bodies, embedded, rows};
use crate::event::{Event, Level, Outcome, Secret, Value};
use crate::json::{self, End, Member};
use crate::stamp;

const OPEN: &[u8] = b"{\"time\":\"";

/// `{"time":"2026-…","level":"`.
pub fn head(line: &[u8]) -> bool {
    head_len(line).is_some()
}

fn head_len(line: &[u8]) -> Option<usize> {
    let rest = line.strip_prefix(OPEN)?;
    let stamp = stamp::read_iso(rest)?;
    let end = OPEN.len() + stamp.len as usize;
    if line[end..].starts_with(b"\",\"level\":\"") { Some(end) } else { None }
}

/// Where a further record begins in a line that another one tore. A line that is valid JSON as a whole only contains such text.
pub fn cut(line: &[u8]) -> Option<usize> {
    static FIND: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(OPEN));
    let mut from = 1;
    while let Some(step) = FIND.find(line.get(from..)?) {
        let at = from + step;
        if head(&line[at..]) {
            let first = line.trim_ascii_start();
            if first.first() == Some(&b'{') {
                let valid = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
                return if valid { None } else { Some(at) };
            }
            // In other text, what stands before it says whether it is quoted.
            let quoted = matches!(line[at - 1], b' ' | b'\t' | b'"' | b'\'' | b'`' | b'(' | b'[' | b'=' | b':' | b',' | b'\\' | b'|');
            if !quoted && line[..at].iter().any(|b| !matches!(b, b'\r' | b'\n')) {
                return Some(at);
            }
        }
        from = at + OPEN.len();
    }
    None
}

/// What the head's members say; the rest are fields.
#[derive(Default)]
struct Head<'a> {
    target: Option<Cow<'a, str>>,
    python: Option<Cow<'a, str>>,
    message: Option<Member<'a>>,
    record: Option<Member<'a>>,
    duplicate: bool,
}

impl Head<'_> {
    /// Does the line speak of event channels, as far as it is read?
    fn of_channel(&self) -> bool {
        let message = self.message.map_or(&b""[..], |m| inside(m).0);
        super::of_channel(self.target.as_deref().unwrap_or(""), message)
    }
}

/// Parses one record.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    bodies::without(record, event, read)
}

/// The same; what lies in one of `hidden` gives no field.
fn read<'a>(record: &'a [u8], event: &mut Event<'a>, hidden: &[Range<usize>]) -> Outcome {
    let mut reading = Reading::default();
    let mut head = Head::default();
    let mut walk = json::members(record);
    for member in walk.by_ref() {
        if !member.complete {
            // Half a value is not a value, but half a message can still be read.
            if member.key == b"message" {
                head.message = head.message.or(Some(member));
            } else if member.key == b"record" {
                head.record = head.record.or(Some(member));
            }
            continue;
        }
        read_member(member, hidden, &mut head, event, &mut reading);
    }
    let (inner, at) = head.message.map_or((&b""[..], 0), inside);
    event.message = at..at + inner.len();
    let python = head.python.is_some();
    let target = head.python.or(head.target).unwrap_or_default();
    reading.unknown |= matches!(target, Cow::Owned(_));
    let row = rows::find(&target, inner);
    event.kind = row.map_or_else(|| rows::general(&target, python, event.level == Some(Level::Error)), |r| r.kind);
    if !target.is_empty() {
        event.field("target", if python { "log.target" } else { "target" }, Value::Str(target));
    }
    let whole = match row {
        Some(row) => {
            let taken = embedded::take(row, inner, at, event, &mut reading);
            taken.whole && inner.trim_ascii_end().len() <= taken.len
        }
        None => false,
    };
    if row.is_some_and(|r| matches!(r.take, rows::Take::Pairs)) {
        embedded::pairs(inner, event, &mut reading);
    }
    embedded::prose(row, inner, at, hidden, event);
    if let Some(member) = head.record {
        super::audit_record(member.value, member.at, event);
    }
    super::finish(event, &reading, whole && !head.duplicate && !python);
    match walk.end() {
        End::Closed(end) => {
            if head.duplicate {
                event.note = Some("duplicate key");
            }
            if record[end..].iter().any(|b| !b.is_ascii_whitespace()) {
                event.note = Some("text behind the JSON object");
                event.columnar = false;
            }
            Outcome::Parsed
        }
        End::Truncated => Outcome::Unparsed("truncated JSON"),
        End::Open | End::Damaged => Outcome::Unparsed("damaged JSON"),
    }
}

/// A string value's bytes without its quotes, and where they stand.
fn inside(member: Member<'_>) -> (&[u8], usize) {
    let Some(inner) = member.value.strip_prefix(b"\"") else { return (member.value, member.at) };
    let inner = if member.complete { inner.strip_suffix(b"\"").unwrap_or(inner) } else { inner };
    (inner, member.at + 1)
}

fn read_member<'a>(member: Member<'a>, hidden: &[Range<usize>], head: &mut Head<'a>, event: &mut Event<'a>, reading: &mut Reading) {
    let value = member.value;
    match member.key {
        b"time" if event.stamp.is_none() => {
            let (inner, at) = inside(member);
            if let Some(mut stamp) = stamp::read_iso(inner) {
                stamp.at = at as u32;
                event.stamp = Some(stamp);
            }
        }
        b"level" if event.level.is_none() => event.level = json::text(value).and_then(|t| Level::read(&t)),
        b"target" if head.target.is_none() => {
            head.target = json::text(value);
            reading.kvbm = head.target.as_deref().is_some_and(rows::is_kvbm);
        }
        b"message" if head.message.is_none() => head.message = Some(member),
        b"log.target" if head.python.is_none() => head.python = json::text(value),
        b"record" if head.record.is_none() => head.record = Some(member),
        b"time" | b"level" | b"target" | b"message" | b"log.target" | b"record" => head.duplicate = true,
        b"log.file" => event.field("file", "log.file", json::text(value).map_or(Value::Str(Cow::Borrowed("")), Value::Str)),
        b"log.line" => event.fields.extend(json::number(value).map(|v| crate::event::Field {
            name: Cow::Borrowed("line"),
            raw: Cow::Borrowed("log.line"),
            value: v,
        })),
        key => {
            let Ok(raw) = std::str::from_utf8(key) else {
                reading.unknown = true;
                return;
            };
            let text = match value.first() {
                Some(b'n') => {
                    reading.unknown |= super::names::known(raw).is_none();
                    return;
                }
                Some(b'"') => json::text(value).unwrap_or_default(),
                _ => String::from_utf8_lossy(value),
            };
            reading.channel |= fields::may_name_channel(raw) && head.of_channel();
            let span = member.at..member.at + value.len();
            if bodies::is_name(raw) && !bodies::is_plain(&text) {
                reading.unknown = true;
                event.withhold(span, Secret::Body, "body");
            } else if bodies::overlaps(hidden, &span) {
                reading.unknown = true;
            } else {
                fields::put(event, reading, raw, text);
            }
        }
    }
}
