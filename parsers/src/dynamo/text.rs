//! Readable text (tracing's "compact" form): `STAMP LEVEL [SPANS: ]TARGET: MESSAGE name=value …`.

use std::borrow::Cow;
use std::ops::Range;

use super::fields::{self, Reading};
use super::{bodies, embedded, rows};
use crate::event::{Event, Level, Outcome, Secret, Value};
use crate::json;
use crate::stamp::{self, RawStamp, Zone};

/// `2026-11-29T18:06:46.870571Z  INFO ` with six decimals and a zone; lines of the SGLang gateway, which look alike, are not.
pub fn head(line: &[u8]) -> bool {
    let Some((_, _, at)) = prefix(line) else { return false };
    let rest = &line[at..];
    let (_, target, _) = targets(rest);
    let target = &rest[target];
    !(target.starts_with(b"sglang_server")
        || target.starts_with(b"sglang_router_rs")
        || target.starts_with(b"sgl_router")
        || target == b"smg"
        || target.starts_with(b"smg:")
        || target.starts_with(b"smg_"))
}

/// Stamp, level, and where the rest begins.
fn prefix(line: &[u8]) -> Option<(RawStamp, Level, usize)> {
    if line.len() < 34 || !line[0].is_ascii_digit() || line[10] != b'T' || line[19] != b'.' {
        return None;
    }
    let stamp = stamp::read_iso(line)?;
    let at = stamp.len as usize;
    let zone_len = match stamp.zone {
        Zone::Utc => 1,
        Zone::Offset(_) => 6,
        _ => return None,
    };
    if stamp.width != 1_000 || at != 26 + zone_len {
        return None;
    }
    let level = match line.get(at..at + 7)? {
        b"  INFO " => Level::Info,
        b"  WARN " => Level::Warn,
        b" ERROR " => Level::Error,
        b" DEBUG " => Level::Debug,
        b" TRACE " => Level::Trace,
        _ => return None,
    };
    Some((stamp, level, at + 7))
}

/// Where a further record begins in a line that another one tore: the stamp, level and target of a head, in mid-line.
///
/// Text that quotes a head is not torn: there a quote, bracket, `=`, `:` or a single blank stands before it.
pub fn cut(line: &[u8]) -> Option<usize> {
    for t in memchr::memchr_iter(b'T', line) {
        let digits_around = t > 10 && line[t - 1].is_ascii_digit() && line.get(t + 3) == Some(&b':');
        if !digits_around {
            continue;
        }
        let (stamp, mut start) = (t - 10, t - 10);
        // With colour the stamp stands behind `ESC[2m`.
        if line[..start].ends_with(b"\x1b[2m") {
            start -= 4;
        }
        if start == 0 || quoted(&line[..start]) {
            continue;
        }
        let mut clean = Vec::new();
        let window = &line[stamp..line.len().min(stamp + 512)];
        crate::record::strip_ansi(window, &mut clean);
        if let Some((_, _, at)) = prefix(&clean)
            && !targets(&clean[at..]).1.is_empty()
            && head(&clean)
        {
            return Some(start);
        }
    }
    None
}

/// Does what stands before a head say that it is quoted?
fn quoted(before: &[u8]) -> bool {
    match before {
        [.., b' ', b' '] => false,
        [.., b' ' | b'\t' | b'"' | b'\'' | b'`' | b'(' | b'[' | b'{' | b'<' | b'=' | b':' | b',' | b'\\' | b'|'] => true,
        // Nothing but the leading colour codes or line ends.
        _ => before.iter().all(|b| matches!(b, b'\r' | b'\n')),
    }
}

/// The parts of a head: spans, target (both may be empty) and where the message begins.
fn targets(rest: &[u8]) -> (std::ops::Range<usize>, std::ops::Range<usize>, usize) {
    let Some(first) = part(rest) else { return (0..0, 0..0, 0) };
    let after = first + 2;
    if !contains_path(&rest[..first])
        && let Some(second) = part(&rest[after..])
    {
        let second = &rest[after..after + second];
        // Spans are joined by one colon; a target's path has two.
        let target_shaped = contains_path(second) || !second.contains(&b':');
        if target_shaped && (contains_path(second) || is_span(&rest[..first])) {
            return (0..first, after..after + second.len(), after + second.len() + 2);
        }
    }
    (0..0, 0..first, after)
}

/// Length of the name before `: ` at the start, made of the characters of spans and targets.
fn part(rest: &[u8]) -> Option<usize> {
    if !rest.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') {
        return None;
    }
    let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b':' | b'<' | b'>')))?;
    if rest[end] == b' ' && end > 1 && rest[end - 1] == b':' && rest[end - 2] != b':' { Some(end - 1) } else { None }
}

fn contains_path(name: &[u8]) -> bool {
    name.windows(2).any(|w| w == b"::")
}

/// Is the first of these span names one of Dynamo's?
fn is_span(names: &[u8]) -> bool {
    let first = names.split(|b| *b == b':').next().unwrap_or(names);
    const NAMES: &[&[u8]] = &[b"http-request", b"completions", b"completions_single", b"responses", b"handle_payload", b"client_request"];
    const FAMILIES: &[&[u8]] = &[b"kv_router.", b"router.", b"request.", b"response.", b"worker."];
    NAMES.contains(&first) || FAMILIES.iter().any(|f| first.starts_with(f))
}

/// Is this the `module.function` of Dynamo's Python side?
pub fn is_python(target: &str) -> bool {
    target.contains('.') && !target.contains("::") && target != "dynamo.request_lifecycle"
}

/// Parses one record.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    bodies::without(record, event, read)
}

/// The same; what lies in one of `hidden` gives no field.
fn read<'a>(record: &'a [u8], event: &mut Event<'a>, hidden: &[Range<usize>]) -> Outcome {
    let Some((stamp, level, at)) = prefix(record) else {
        return Outcome::Unparsed("no stamp and level");
    };
    event.stamp = Some(stamp);
    event.level = Some(level);
    let (spans, target, message) = targets(&record[at..]);
    // cannot fail: `part` takes ASCII characters only.
    let text = |r: std::ops::Range<usize>| std::str::from_utf8(&record[at + r.start..at + r.end]).unwrap_or("");
    let (spans, target, start) = (text(spans), text(target), at + message);
    if !target.is_empty() {
        event.field("target", "target", Value::Str(Cow::Borrowed(target)));
    }
    if !spans.is_empty() {
        event.field("spans", "spans", Value::Str(Cow::Borrowed(spans)));
    }
    let rest = &record[start..];
    let mut reading =
        Reading { http_span: spans.split(':').any(|s| s == "http-request"), kvbm: rows::is_kvbm(target), ..Reading::default() };
    let python = is_python(target);
    if rest.starts_with(b"x-dynamo-request-id header ") {
        // The client named the request itself, and the span has that name.
        reading.http_span = false;
    }
    let row = rows::find(target, rest);
    event.kind = row.map_or_else(|| rows::general(target, python, level == Level::Error), |r| r.kind);
    let taken = match row {
        Some(row) => embedded::take(row, rest, start, event, &mut reading),
        None => embedded::Taken { len: 0, whole: false },
    };
    if python {
        // Python's logging has no fields; `=` in its text is text.
        event.message = start..start + trimmed(rest).len();
        embedded::prose(row, rest, start, hidden, event);
        super::finish(event, &reading, false);
        return Outcome::Parsed;
    }
    let fields_at = next_field(rest, taken.len);
    let end = fields_at.map_or(rest.len(), |(name, _)| name);
    let message = trimmed(&rest[..end]);
    event.message = start..start + message.len();
    let whole = taken.whole && message.len() <= taken.len;
    embedded::prose(row, message, start, hidden, event);
    if let Some((name, value)) = fields_at {
        read_fields(Line { rest, base: start, hidden, target, message }, name, value, event, &mut reading);
    }
    super::finish(event, &reading, whole);
    Outcome::Parsed
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_end()
}

/// What stands behind a line's head.
#[derive(Clone, Copy)]
struct Line<'a, 'h> {
    rest: &'a [u8],
    /// Where it begins in the record.
    base: usize,
    /// Bodies, as spans of the record.
    hidden: &'h [Range<usize>],
    target: &'a str,
    message: &'a [u8],
}

/// Reads the fields from the one whose name begins at `name` and whose value begins at `value`.
fn read_fields<'a>(line: Line<'a, '_>, mut name: usize, mut value: usize, event: &mut Event<'a>, reading: &mut Reading) {
    let Line { rest, base, hidden, .. } = line;
    loop {
        // cannot fail: `next_field` takes ASCII names only.
        let raw = std::str::from_utf8(&rest[name..value - 1]).unwrap_or("");
        let audit = raw == "record" && event.kind == &super::kinds::AUDIT_RECORD;
        // A line of an audit record ends with it; if it was cut, all of the rest is its body.
        let end = if audit { rest.len() } else { value_end(rest, value) };
        let next = next_field(rest, end);
        let end = next.map_or(rest.len(), |(n, _)| n);
        let bytes = trimmed(&rest[value..end]);
        if audit {
            super::audit_record(bytes, base + value, event);
        } else if bodies::is_name(raw) && !bodies::is_plain(&unquoted(bytes)) {
            reading.unknown = true;
            if value_end(rest, value) == value {
                // Without quotes nothing tells where it ends: ` name=` may be its own.
                event.withhold(base + value..base + trimmed(rest).len(), Secret::Body, "body");
                return;
            }
            event.withhold(base + value..base + value + bytes.len(), Secret::Body, "body");
        } else if bodies::overlaps(hidden, &(base + value..base + value + bytes.len())) {
            reading.unknown = true;
        } else {
            reading.channel |= fields::may_name_channel(raw) && super::of_channel(line.target, line.message);
            fields::put(event, reading, raw, unquoted(bytes));
        }
        if reading.full {
            return;
        }
        match next {
            Some((n, v)) => (name, value) = (n, v),
            None => return,
        }
    }
}

/// The next field's name and value offsets, at or after `from`: ` name=`.
fn next_field(rest: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while let Some(step) = memchr::memchr(b'=', rest.get(at..)?) {
        let equals = at + step;
        let mut name = equals;
        while name > from && is_name(rest[name - 1]) {
            name -= 1;
        }
        let begins = name < equals && (rest[name].is_ascii_alphabetic() || rest[name] == b'_');
        if begins && name > 0 && name > from.saturating_sub(1) && rest[name - 1] == b' ' && rest.get(equals + 1) != Some(&b'=') {
            return Some((name, equals + 1));
        }
        at = equals + 1;
    }
    None
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'.'
}

/// Does a field's `name=` stand exactly here? Returns where its value begins.
pub fn field_at(rest: &[u8], at: usize) -> Option<usize> {
    let len = rest.get(at..)?.iter().take_while(|b| is_name(**b)).count();
    let begins = len > 0 && (rest[at].is_ascii_alphabetic() || rest[at] == b'_');
    if begins && rest.get(at + len) == Some(&b'=') { Some(at + len + 1) } else { None }
}

/// How far a bracketed value is followed; one that is longer is split like plain text.
const MAX_BRACKETED: usize = 64 << 10;

/// Where the next field may begin at the earliest, for a value at `at`: behind a quoted or bracketed value.
fn value_end(rest: &[u8], at: usize) -> usize {
    let value = &rest[at..rest.len().min(at + MAX_BRACKETED)];
    let lead = if value.starts_with(b"Some(") { 5 } else { 0 };
    let (len, complete) = match value.get(lead) {
        Some(b'"' | b'{' | b'[') => json::value_len(&value[lead..]),
        _ => return at,
    };
    // A bracket or quote that is never closed is only a character of the value.
    if complete { at + lead + len } else { at }
}

/// The text of a value: Debug quotes taken off, a comma behind it (pairs inside a message) too.
fn unquoted(bytes: &[u8]) -> Cow<'_, str> {
    if bytes.len() >= 2 && bytes[0] == b'"' && bytes[bytes.len() - 1] == b'"' {
        let inner = &bytes[1..bytes.len() - 1];
        if memchr::memchr(b'\\', inner).is_none() {
            return String::from_utf8_lossy(inner);
        }
        return Cow::Owned(unescaped(inner));
    }
    let bytes = bytes.strip_suffix(b",").unwrap_or(bytes);
    String::from_utf8_lossy(bytes)
}

/// Undoes Rust's Debug escapes that keep the text readable: `\"`, `\\`, `\n`, `\t`, `\'`. Others stay as they are.
fn unescaped(inner: &[u8]) -> String {
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    while at < inner.len() {
        let next = if inner[at] == b'\\' { inner.get(at + 1) } else { None };
        let plain = match next {
            Some(b'"') => b'"',
            Some(b'\\') => b'\\',
            Some(b'\'') => b'\'',
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            _ => {
                out.push(inner[at]);
                at += 1;
                continue;
            }
        };
        out.push(plain);
        at += 2;
    }
    String::from_utf8_lossy(&out).into_owned()
}
