//! The head of RFC 3164 and of rsyslog's files, and rsyslog's escapes.

use memchr::memchr;

use super::unit_of;
use crate::envelope::{digits, keep, number, say};
use crate::format::Entry;
use crate::stamp::{RawStamp, SECOND, Zone, clock_seconds, days, month, read_iso};

/// Reads one kind of stamp, behind which a blank stands, at the start of a line.
pub type Read = fn(line: &[u8]) -> Option<RawStamp>;

/// rsyslog takes messages of up to 8 KiB, head included, unless `$MaxMessageSize` says otherwise, and drops what is behind.
const LIMIT: std::ops::RangeInclusive<usize> = 8_000..=8_192;

/// `Nov 29 18:41:23`, `Nov  1 18:41:23`: the day is padded with a blank.
pub fn yearless(line: &[u8]) -> Option<RawStamp> {
    let text = line.get(..16)?;
    if text[3] != b' ' || text[6] != b' ' || text[15] != b' ' {
        return None;
    }
    let month = month(&text[..3])?;
    let day = number(if text[4] == b' ' { &text[5..6] } else { &text[4..6] })?;
    let seconds = days(1972, month, day)? * 86_400 + clock_seconds(&text[7..15])?;
    Some(RawStamp { ns: seconds * SECOND, width: SECOND, zone: Zone::Yearless, at: 0, len: 15 })
}

/// `2026-11-29T18:41:23.972134+00:00`
pub fn iso(line: &[u8]) -> Option<RawStamp> {
    if line.get(10) != Some(&b'T') {
        return None;
    }
    let stamp = read_iso(line)?;
    let shaped = matches!(stamp.zone, Zone::Offset(_)) && line.get(stamp.len as usize) == Some(&b' ');
    shaped.then_some(stamp)
}

/// `<30>`: priority 0 to 7, facility, length.
pub fn priority(text: &[u8]) -> Option<(u8, u8, usize)> {
    let rest = text.strip_prefix(b"<")?;
    let len = digits(rest, 4);
    let number = number(&rest[..len])?;
    if rest.get(len) != Some(&b'>') || number > 191 {
        return None;
    }
    Some(((number % 8) as u8, (number / 8) as u8, len + 2))
}

/// Does a message of RFC 3164, or of rsyslog's forward format, begin here?
pub fn begins(text: &[u8]) -> bool {
    priority(text).is_some_and(|(_, _, len)| yearless(&text[len..]).or_else(|| iso(&text[len..])).is_some())
}

/// `<PRI>STAMP HOST TAG: text`
pub fn read_message(message: &[u8], entry: &mut Entry) -> Option<()> {
    let (level, facility, len) = priority(message)?;
    let rest = &message[len..];
    let read: Read = if yearless(rest).is_some() { yearless } else { iso };
    file(rest, entry, read)?;
    if let Some(stamp) = &mut entry.meta.stamp {
        stamp.at += len as u32;
    }
    entry.meta.priority = Some(level);
    keep(entry, "facility", facility.to_string().as_bytes());
    Some(())
}

/// `STAMP HOST TAG[PID]: text`
pub fn file(line: &[u8], entry: &mut Entry, read: Read) -> Option<()> {
    let stamp = read(line)?;
    let rest = &line[stamp.len as usize + 1..];
    let first = &rest[..memchr(b' ', rest).unwrap_or(rest.len())];
    // Without a host (`logger` to a local socket) the tag comes first.
    let (host, rest) = if first.last() == Some(&b':') { (&[][..], rest) } else { (first, rest.get(first.len() + 1..)?) };
    if first.is_empty() {
        return None;
    }
    let (tag, pid, text) = tag(rest);
    let meta = &mut entry.meta;
    meta.stamp = Some(stamp);
    say(&mut meta.host, host);
    say(&mut meta.ident, tag);
    meta.pid = pid;
    unescape(text, &mut entry.text);
    limit(entry, line.len());
    unit_of(entry);
    Some(())
}

/// Notes that a message of this length may have been longer.
pub fn limit(entry: &mut Entry, len: usize) {
    if LIMIT.contains(&len) {
        entry.meta.loss = Some("as long as rsyslog's limit of 8 KiB: what is behind it may be lost");
    }
}

/// `TAG[PID]: text` or `TAG: text`; a message need not have a tag.
fn tag(rest: &[u8]) -> (&[u8], Option<u32>, &[u8]) {
    let none = (&[][..], None, rest);
    let window = &rest[..rest.len().min(256)];
    let Some(end) = window.iter().position(|b| matches!(b, b' ' | b':' | b'[')) else { return none };
    let (name, mut behind) = (&rest[..end], &rest[end..]);
    let mut pid = None;
    if behind[0] == b'[' {
        let Some(close) = memchr(b']', &behind[..behind.len().min(64)]) else { return none };
        pid = number(&behind[1..close]);
        behind = &behind[close + 1..];
    }
    match behind.strip_prefix(b":") {
        Some(text) if !name.is_empty() => (name, pid, text.strip_prefix(b" ").unwrap_or(text)),
        _ => none,
    }
}

/// Is one of rsyslog's escapes in it: a control character as `#` and three octal digits?
pub fn has_escape(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = memchr(b'#', rest) {
        if escaped(&rest[at..]).is_some() {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

/// The control character of an escape at the start of `text`.
fn escaped(text: &[u8]) -> Option<u8> {
    let [b'#', a @ b'0'..=b'1', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] = text else { return None };
    let value = (a - b'0') * 64 + (b - b'0') * 8 + (c - b'0');
    matches!(value, 0..=0o37 | 0o177).then_some(value)
}

/// Appends `text` with rsyslog's escapes decoded.
pub fn unescape(text: &[u8], into: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr(b'#', rest) {
        into.extend_from_slice(&rest[..at]);
        match escaped(&rest[at..]) {
            Some(byte) => {
                into.push(byte);
                rest = &rest[at + 4..];
            }
            None => {
                into.push(b'#');
                rest = &rest[at + 1..];
            }
        }
    }
    into.extend_from_slice(rest);
}
