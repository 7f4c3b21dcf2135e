//! The text forms.
//!
//! `YYYY-MM-DD HH:MM:SS  INFO [span{fields}: ]target: file:line: message name=value …` is in UTC though no zone is printed: the logger is built so in
//! every version from 0.1.5. `[Router (Rust)] YYYY-MM-DD HH:MM:SS - INFO - message` (to 0.1.4, and the Python launcher's to 0.3.2) is local time.

use memchr::{memchr, memmem};

use super::{fields, is_own, kinds, messages};
use crate::event::{Event, Level, Outcome, Value};
use crate::stamp::{self, RawStamp, SECOND, Zone};

/// A span block is looked for in so many bytes of a line: methods, paths and ids are short, a query need not be.
const MAX_SPANS: usize = 16 << 10;

/// What stands before a message.
struct Head<'a> {
    stamp: Option<RawStamp>,
    level: Level,
    /// `http_request{…}:grpc_execute{…}`, without the colon behind it; where it begins.
    spans: (&'a [u8], usize),
    target: &'a [u8],
    /// Where the message begins.
    len: usize,
}

/// Any of the text forms.
pub fn head(line: &[u8]) -> bool {
    match line.first() {
        Some(b'0'..=b'9') => read(line).is_some(),
        Some(b'[') => read_launcher(line).is_some(),
        _ => false,
    }
}

fn read(line: &[u8]) -> Option<Head<'_>> {
    if line.len() < 30 || line[4] != b'-' {
        return None;
    }
    let at = match line[10] {
        b' ' if line[19] == b' ' => 20,
        // The in-tree router: six decimals and `Z`. Its lines begin with its target or with a span's braces, those of others do not.
        b'T' if line[26] == b'Z' && line[27] == b' ' => 28,
        _ => return None,
    };
    let (level, level_len) = level_at(&line[at..])?;
    let at = at + level_len;
    let rest = &line[at..];
    let (spans, after) = if rest.starts_with(b"s") && is_own(target_of(rest)) { (0, 0) } else { spans_len(rest)? };
    let target = target_of(&rest[after..]);
    if !is_own(target) || (at > 27 && !target.starts_with(b"sgl_router")) {
        return None;
    }
    let mut found = stamp::read_iso(line)?;
    // The text names no zone where it is blank separated: the format does.
    match (line[10], found.zone) {
        (b' ', Zone::Naive) if found.width == SECOND => found.zone = Zone::Utc,
        (b'T', Zone::Utc) => {}
        _ => return None,
    }
    let mut len = at + after + target.len() + 2;
    len += place_len(&line[len.min(line.len())..]);
    let len = len.min(line.len());
    Some(Head { stamp: Some(found), level, spans: (&rest[..spans], at), target, len })
}

/// ` INFO `, `ERROR `: five wide and right-aligned; a copy may have lost a blank.
fn level_at(text: &[u8]) -> Option<(Level, usize)> {
    let blank = usize::from(text.first() == Some(&b' '));
    let (level, len) = match text.get(blank..blank + 5)? {
        b"INFO " => (Level::Info, 4),
        b"WARN " => (Level::Warn, 4),
        b"ERROR" => (Level::Error, 5),
        b"DEBUG" => (Level::Debug, 5),
        b"TRACE" => (Level::Trace, 5),
        _ => return None,
    };
    if text.get(blank + len) == Some(&b' ') { Some((level, blank + len + 1)) } else { None }
}

/// The module path at the start of `rest` that is followed by `: `; empty if there is none.
fn target_of(rest: &[u8]) -> &[u8] {
    let mut end = 0;
    while let Some(b) = rest.get(end) {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => end += 1,
            b':' if rest.get(end + 1) == Some(&b':') => end += 2,
            b':' if rest.get(end + 1).is_none_or(|b| *b == b' ') => return &rest[..end],
            _ => return b"",
        }
    }
    b""
}

/// Length of `name{…}:name{…}` at the start of `rest`, and where what follows it begins.
fn spans_len(rest: &[u8]) -> Option<(usize, usize)> {
    let name = rest.iter().take(64).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    if name == 0 || rest.get(name) != Some(&b'{') {
        return None;
    }
    let limit = &rest[..rest.len().min(MAX_SPANS)];
    let mut from = name;
    while let Some(step) = memmem::find(&limit[from..], b"}: ") {
        let end = from + step + 1;
        if is_own(target_of(&limit[end + 2..])) {
            return Some((end, end + 2));
        }
        from = end;
    }
    None
}

/// Length of `src/server.rs:261: ` at the start of `rest`; 0 where there is none.
fn place_len(rest: &[u8]) -> usize {
    let Some(end) = memmem::find(&rest[..rest.len().min(300)], b": ") else { return 0 };
    let Some(colon) = memchr::memrchr(b':', &rest[..end]) else { return 0 };
    let line_number = &rest[colon + 1..end];
    let is_place = !line_number.is_empty() && line_number.iter().all(u8::is_ascii_digit) && !rest[..colon].contains(&b' ');
    if is_place { end + 2 } else { 0 }
}

/// `[Router (Rust)] 2025-03-07 02:11:05 - INFO - message`, and the same of `(Python)`: local time.
fn read_launcher(line: &[u8]) -> Option<(RawStamp, Level, usize)> {
    let rest = line.strip_prefix(b"[Router (")?;
    let close = memchr(b')', &rest[..rest.len().min(10)])?;
    if !matches!(&rest[..close], b"Rust" | b"Python") {
        return None;
    }
    let at = 9 + close + 3;
    if line.get(at - 2..at) != Some(b"] ") {
        return None;
    }
    let mut found = stamp::read_iso(line.get(at..)?)?;
    if found.zone != Zone::Naive {
        return None;
    }
    found.at = at as u32;
    let level_at = at + found.len as usize;
    let rest = line.get(level_at..)?.strip_prefix(b" - ")?;
    let end = memmem::find(&rest[..rest.len().min(16)], b" - ")?;
    let level = std::str::from_utf8(&rest[..end]).ok().and_then(Level::read)?;
    Some((found, level, level_at + 3 + end + 3))
}

/// Parses one record.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    if let Some((stamp, level, at)) = read_launcher(record) {
        event.stamp = Some(stamp);
        event.level = Some(level);
        event.message = at..record.len();
        messages::read(&record[at..], at, event);
        return Outcome::Parsed;
    }
    let Some(head) = read(record) else { return Outcome::Unparsed("no gateway's head") };
    event.stamp = head.stamp;
    event.level = Some(head.level);
    event.message = head.len..record.len();
    // cannot fail: a target is ASCII.
    if let Ok(target) = std::str::from_utf8(head.target) {
        event.field("target", "target", Value::Str(target.into()));
    }
    event.kind = &kinds::GATEWAY_LOG;
    let (spans, at) = head.spans;
    fields::spans(spans, at, event);
    messages::read(&record[head.len..], head.len, event);
    Outcome::Parsed
}
