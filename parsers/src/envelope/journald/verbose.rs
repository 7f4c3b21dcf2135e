//! `-o verbose`: `STAMP [CURSOR]`, then all fields, indented by four blanks.
//!
//! A value's further lines stand below its beginning, so a line with exactly four blanks begins a field. The
//! cursor holds the header's stamp, exact and in UTC: <https://systemd.io/JOURNAL_EXPORT_FORMATS/> names its parts, which are hexadecimal.

use std::borrow::Cow;

use super::fields::{Fields, Value, put};
use super::{short, stamps};
use crate::format::{Content, Entry};
use crate::ids::from_hex;
use crate::record::{MAX_CONTINUED, escape_len, line_len, trim_end};
use crate::stamp::{RawStamp, SECOND, Zone, from_unix_us};

/// Before each field.
const INDENT: usize = 4;

/// Every zone's distance from UTC is a multiple of this, in nanoseconds.
const ZONE_STEP: i64 = 900 * SECOND;

/// Lines emptied by an editor are looked through up to this many.
const MAX_EMPTY: usize = 32;

/// Does an entry, or a line that journalctl itself adds, begin with this line?
pub fn begins(line: &[u8]) -> bool {
    head(trim_end(line)).is_some() || short::is_marker(line)
}

/// The printed stamp, and where the cursor's text begins and ends.
fn head(line: &[u8]) -> Option<(RawStamp, usize, usize)> {
    let lead = colour(line);
    let mut stamp = stamps::full_precise(&line[lead..])?;
    stamp.at = lead as u32;
    let at = lead + stamp.len as usize + 2;
    // Every cursor begins with the id of its journal file.
    let rest = line.get(at - 2..)?.strip_prefix(b" [")?;
    let end = memchr::memchr(b']', rest)?;
    if !rest.starts_with(b"s=") || end + 1 != rest.len() {
        return None;
    }
    Some((stamp, at, at + end))
}

/// Reads the entry at `bytes[at]`.
pub fn read(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    let all = &bytes[at..];
    let mut len = line_len(all);
    let Some((printed, from, to)) = head(trim_end(&all[..len])) else {
        return short::other(all, len, entry);
    };
    read_cursor(&all[..to], from, entry);
    let mut fields = Fields::default();
    while let Some((name, value, next)) = field(all, len) {
        fields.set(&mut entry.meta, name, value);
        len = next;
    }
    fields.finish(entry);
    entry.meta.stamp = Some(shown(printed, entry.meta.stamp));
    if entry.content == Content::Payload {
        short::note_blob(&mut entry.meta, &short::plain(&entry.text));
    }
    len
}

/// `b` is the boot, `m` the monotonic and `t` the wall clock's microseconds of the header.
fn read_cursor(line: &[u8], from: usize, entry: &mut Entry) {
    let mut at = from;
    for part in line[from..].split(|b| *b == b';') {
        let value = part.get(2..).unwrap_or(&[]);
        let number = || i64::try_from(from_hex(std::str::from_utf8(value).ok()?)?).ok();
        match part.get(..2) {
            Some(b"b=") => put(&mut entry.meta.boot, value),
            Some(b"m=") => entry.meta.monotonic = number().and_then(|us| us.checked_mul(1_000)),
            Some(b"t=") => {
                let stamp = number().and_then(from_unix_us);
                entry.meta.received = stamp.map(|stamp| RawStamp { at: at as u32 + 2, len: value.len() as u32, ..stamp });
            }
            _ => {}
        }
        at += part.len() + 1;
    }
}

/// The field that begins at `all[at]`: its name, its value, and where the next one begins.
fn field(all: &[u8], at: usize) -> Option<(&[u8], Value<'_>, usize)> {
    let mut next = at + line_len(&all[at..]);
    let line = line_at(all, at, next);
    let mut from = colour(line);
    if short::blanks(&line[from..], INDENT + 1) != INDENT {
        return None;
    }
    from += INDENT;
    from += colour(&line[from..]);
    let rest = &line[from..];
    let name = &rest[..memchr::memchr(b'=', rest)?];
    if name.is_empty() || !name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_') {
        return None;
    }
    // Colours do not count for the lines below.
    let start = INDENT + name.len() + 1;
    from += name.len() + 1;
    let mut bytes = Cow::Borrowed(&line[from..]);
    while next < all.len() && bytes.len() < MAX_CONTINUED {
        let end = next + line_len(&all[next..]);
        let line = line_at(all, next, end);
        if line.is_empty() {
            let empty = all[next..].iter().take(MAX_EMPTY).take_while(|b| **b == b'\n').count();
            if short::blanks(&all[next + empty..], start) < INDENT {
                break;
            }
            let text = bytes.to_mut();
            text.resize(text.len() + empty, b'\n');
            next += empty;
            continue;
        }
        let lead = short::blanks(line, start);
        if lead <= INDENT {
            break;
        }
        let text = bytes.to_mut();
        text.push(b'\n');
        text.extend_from_slice(&line[lead..]);
        next = end;
    }
    let len = bytes.len();
    Some((name, Value { bytes: Some(bytes), at: at + from, len }, next))
}

/// How long the colour is that a terminal's copy begins with: a field that stands out is reset on the line behind it.
fn colour(line: &[u8]) -> usize {
    if line.starts_with(b"\x1b[") { escape_len(line) } else { 0 }
}

fn line_at(all: &[u8], from: usize, to: usize) -> &[u8] {
    let line = &all[from..to];
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// The printed stamp. Its zone's name is not unique, but the fields beside it are in UTC: if one of them is the same but for a zone's
/// distance, it says what is meant.
fn shown(printed: RawStamp, fields: Option<RawStamp>) -> RawStamp {
    match (printed.zone, fields) {
        (Zone::Abbreviation(_), Some(utc))
            if (printed.ns - utc.ns) % ZONE_STEP == 0 && (printed.ns - utc.ns).abs() <= 16 * 3600 * SECOND =>
        {
            RawStamp { at: printed.at, len: printed.len, ..utc }
        }
        _ => printed,
    }
}
