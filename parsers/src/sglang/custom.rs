//! Prefixes that SGLang does not print by default: `SGLANG_LOGGING_CONFIG_PATH` replaces its own, tags and all.

use memchr::memmem;

use super::copied;
use super::values::{self, Items};
use crate::event::{Event, Field, Level};
use crate::stamp;

/// What the objects of JSON formatters begin with.
const FIRST_KEYS: &[&[u8]] =
    &[b"asctime", b"timestamp", b"@timestamp", b"time", b"ts", b"levelname", b"level", b"severity", b"logger", b"name", b"message", b"msg"];

/// A JSON formatter's object whose logger is SGLang's, or whose message stands for itself.
pub fn head(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"{\"") else { return false };
    if rest.starts_with(b"asctime\": \"") && memmem::find(&line[..line.len().min(240)], b"\"name\": \"sglang").is_some() {
        return true;
    }
    let is_log = FIRST_KEYS.iter().any(|key| rest.strip_prefix(*key).is_some_and(|rest| rest.starts_with(b"\":")));
    is_log && copied::in_object(line)
}

/// Reads such an object; `false` when it is none.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> bool {
    if !head(record) {
        return false;
    }
    let mut items = Items::new(record, 0);
    let mut text = None;
    while let Some(item) = items.next() {
        let value = &record[item.value.clone()];
        match &record[item.key.clone()] {
            b"asctime" | b"timestamp" | b"@timestamp" | b"time" | b"ts" if event.stamp.is_none() => {
                if let Some(mut found) = stamp::read_iso(value.get(1..).unwrap_or(b"")) {
                    found.at = u32::try_from(item.value.start + 1).unwrap_or(u32::MAX);
                    event.stamp = Some(found);
                }
            }
            b"levelname" | b"level" | b"severity" => event.level = values::string(value).and_then(|level| Level::read(&level)),
            b"process" | b"pid" => {
                if let Some(pid) = values::scalar(value, 20) {
                    event.field("pid", "process", pid);
                }
            }
            b"message" | b"msg" if !item.open && value.len() >= 2 => text = Some(item.value.start + 1..item.value.end - 1),
            _ => {}
        }
    }
    let Some(span) = text else { return true };
    event.message = span.clone();
    let inner = &record[span.clone()];
    if memchr::memchr(b'\\', inner).is_none() {
        super::message(inner, event);
        // The object's other words are in no field.
        event.columnar = false;
        event.keyed = false;
        return true;
    }
    // An escaped message is read from its own copy, so that nothing of it is borrowed.
    let copy = values::unescape(inner);
    let mut part = Event::new(event.kind);
    part.message = 0..copy.len();
    super::message(&copy, &mut part);
    event.kind = part.kind;
    event.note = part.note;
    if !part.withheld.is_empty() {
        event.withhold(span, part.withheld[0].why, part.withheld[0].name);
    }
    for id in part.ids {
        event.id(id.kind, id.text.into_owned());
    }
    event.fields.extend(part.fields.into_iter().map(Field::into_owned));
    true
}

/// `WARNING server_args.py:123: message`, as some modules print behind the prefix: sets level and message, returns the message.
pub fn level_and_file<'a>(text: &'a [u8], event: &mut Event<'a>) -> &'a [u8] {
    let Some(word) = text[..text.len().min(9)].iter().position(|b| *b == b' ') else { return text };
    let Some(level) = std::str::from_utf8(&text[..word]).ok().filter(|w| w.len() > 3).and_then(Level::read) else { return text };
    let rest = &text[word + 1..];
    let Some(colon) = memmem::find(&rest[..rest.len().min(80)], b": ") else { return text };
    if memmem::find(&rest[..colon], b".py:").is_none() || rest[..colon].contains(&b' ') {
        return text;
    }
    event.level = Some(level);
    event.message.start += word + 1 + colon + 2;
    &rest[colon + 2..]
}
