//! The short modes: `STAMP HOST IDENT[PID]: message`, and indented lines that go on.
//!
//! Everything that looks like an entry inside a message stands behind `IDENT[PID]: ` or behind blanks, never at column 0,
//! so a line that begins with a stamp begins an entry.

use std::borrow::Cow;

use memchr::{memchr, memrchr};

use super::cut;
use super::fields::put;
use super::stamps::Read;
use crate::format::{Content, Entry, Meta};
use crate::record::{MAX_CONTINUED, escape_len, line_len, strip_ansi, trim_end};
use crate::stamp::{RawStamp, Zone};

/// No identifier, with its pid, is longer than this.
const MAX_IDENT: usize = 512;

/// Lines emptied by an editor are looked through up to this many.
const MAX_EMPTY: usize = 32;

/// What stands between the host and the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The identifier.
    Ident,
    /// The identifier (`short-full`) or the unit (`with-unit`). A line tells by itself which it is; a sample need not: the kernel's
    /// lines, of which a boot begins with hundreds, are the same in both modes, and so both are read alike.
    IdentOrUnit,
    /// The identifier, and without a pid only the kernel's: `dmesg` begins its lines with the same stamp.
    WithPid,
}

/// One of the short modes.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    pub stamp: Read,
    pub column: Column,
}

struct Header<'a> {
    stamp: RawStamp,
    host: &'a [u8],
    /// Empty where the unit stands in its place.
    ident: &'a [u8],
    /// The unit of the system manager, and that of a user's manager which runs inside it.
    unit: Option<(&'a [u8], Option<&'a [u8]>)>,
    pid: Option<u32>,
    /// Where the message begins in the line: the indent of the lines that go on.
    message: usize,
}

/// Does an entry, or a line that journalctl itself adds, begin with this line?
pub fn begins(line: &[u8], mode: Mode) -> bool {
    header(trim_end(line), mode).is_some() || is_marker(line)
}

/// So many lines without an entry make a sample one of another kind.
const FOREIGN: usize = 64;

/// Does a sample hold an entry with a unit in the identifier's place, `init.scope[1]: ` or `x.service[7]: `?
pub fn shows_units(mut sample: &[u8], mode: Mode) -> bool {
    let mut foreign = 0;
    while !sample.is_empty() && foreign < FOREIGN {
        let len = line_len(sample);
        match header(trim_end(&sample[..len]), mode) {
            Some(header) if header.unit.is_some() && header.pid.is_some() => return true,
            Some(_) => foreign = 0,
            // Lines that go on are no sign of anything.
            None => foreign += usize::from(sample[0] != b' '),
        }
        sample = &sample[len..];
    }
    false
}

/// Reads the entry at `bytes[at]`.
pub fn read(bytes: &[u8], at: usize, entry: &mut Entry, mode: Mode) -> usize {
    let all = &bytes[at..];
    let mut len = line_len(all);
    let line = all[..len].strip_suffix(b"\n").unwrap_or(&all[..len]);
    let Some(header) = header(line, mode) else {
        return other(all, len, entry);
    };
    let meta = &mut entry.meta;
    if header.stamp.zone == Zone::Monotonic {
        meta.monotonic = Some(header.stamp.ns);
    } else {
        meta.stamp = Some(header.stamp);
    }
    put(&mut meta.host, header.host);
    put(&mut meta.ident, header.ident);
    meta.pid = header.pid;
    let text = line.get(header.message..).unwrap_or(&[]);
    entry.text.extend_from_slice(&text[catalog_link(text)..]);
    let indent = header.indent();
    let least = header.stamp.len as usize;
    while len < all.len() && entry.text.len() < MAX_CONTINUED {
        let next = line_len(&all[len..]);
        let line = all[len..len + next].strip_suffix(b"\n").unwrap_or(&all[len..len + next]);
        if line.is_empty() {
            let empty = all[len..].iter().take(MAX_EMPTY).take_while(|b| **b == b'\n').count();
            if blanks(&all[len + empty..], indent) < least {
                break;
            }
            entry.text.resize(entry.text.len() + empty, b'\n');
            len += empty;
            continue;
        }
        let lead = blanks(line, indent);
        if lead < least {
            break;
        }
        entry.text.push(b'\n');
        entry.text.extend_from_slice(&line[lead..]);
        len += next;
    }
    meta.cut = cut::by_length(&entry.text);
    let text = &plain(&entry.text);
    note_blob(meta, text);
    if let Some((system, user)) = header.unit {
        put(&mut meta.unit, user.unwrap_or(system));
        meta.unit_source = PRINTED_UNIT;
        if let Some(user) = user {
            keep(meta, "_SYSTEMD_UNIT", system);
            keep(meta, "_SYSTEMD_USER_UNIT", user);
        }
    }
    let is_pid_1 = header.pid == Some(1) && (header.ident == b"systemd" || header.unit == Some((b"init.scope", None)));
    if is_pid_1 && let Some(unit) = crate::systemd::unit_of(text) {
        if let Some((own, _)) = header.unit {
            keep(meta, "_SYSTEMD_UNIT", own);
        }
        put(&mut meta.unit, unit);
        meta.unit_source = "text of the PID 1 message";
    }
    len
}

/// `unit_source` of what with-unit prints: the unit of the process that wrote.
pub const PRINTED_UNIT: &str = "unit printed in place of the identifier";

fn keep(meta: &mut Meta, name: &str, value: &[u8]) {
    meta.more.push((name.to_owned(), String::from_utf8_lossy(value).into_owned()));
}

/// How long the link to an explanation is that journalctl puts before a message on a terminal (v247 and later): `[🡕] `.
fn catalog_link(text: &[u8]) -> usize {
    if !text.starts_with(b"\x1b]8;;") {
        return 0;
    }
    let mut at = escape_len(text);
    // Without UTF-8 it is spelled out.
    let Some(mark) = ["[🡕]", "[LNK]"].iter().find(|mark| text[at..].starts_with(mark.as_bytes())) else { return 0 };
    at += mark.len();
    if !text[at..].starts_with(b"\x1b]8;;") {
        return 0;
    }
    at += escape_len(&text[at..]);
    if text.get(at) == Some(&b' ') { at + 1 } else { 0 }
}

/// A message without the colours that a terminal's copy has around it.
pub fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr(0x1b, text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::new();
    strip_ansi(text, &mut plain);
    Cow::Owned(plain)
}

/// Notes that of a message only its size is there.
pub fn note_blob(meta: &mut Meta, text: &[u8]) {
    if let Some(size) = blob(text) {
        meta.cut = cut::by_printed_size(size);
        meta.loss = Some("journalctl printed only the size of the message");
        meta.lossy = true;
    }
}

impl Header<'_> {
    /// By how many blanks the lines of this entry that go on are indented: the length of all before the message, but for two of
    /// journalctl's slips.
    fn indent(&self) -> usize {
        match self.unit {
            // It counts the system manager's unit twice and the user's not at all.
            Some((system, Some(user))) => self.message + system.len() - user.len(),
            // It does not count the word it prints for a missing identifier.
            None if self.ident == b"unknown" => self.message - " unknown".len(),
            _ => self.message,
        }
    }
}

/// How many blanks a line begins with, up to `most`.
pub fn blanks(line: &[u8], most: usize) -> usize {
    line.iter().take(most).take_while(|b| **b == b' ').count()
}

/// A line that is no entry.
pub fn other(all: &[u8], len: usize, entry: &mut Entry) -> usize {
    let line = uncoloured(trim_end(&all[..len]));
    if line.is_empty() {
        entry.content = Content::Skip("blank line");
        return len;
    }
    if let Some(reason) = marker(line).or_else(|| catalog(line)) {
        entry.content = Content::Skip(reason);
        if let Some(boot) = boot_id(line) {
            put(&mut entry.meta.boot, boot);
        }
        return len;
    }
    entry.content = Content::Broken(if line[0] == b' ' { "an indented line without its entry" } else { "no stamp of this mode" });
    len
}

/// Lines that journalctl prints at column 0 beside entries: the reason to skip this one.
pub fn marker(line: &[u8]) -> Option<&'static str> {
    if !matches!(line.first(), Some(b'-' | b'H' | b'\x1b')) {
        return None;
    }
    let line = uncoloured(line);
    if line.first() != Some(&b'-') {
        return if line.starts_with(b"Hint: You are currently not seeing messages") { Some("hint of journalctl") } else { None };
    }
    let starts = |text: &[u8]| line.starts_with(text);
    if starts(b"-- Logs begin at ") || starts(b"-- Journal begins at ") {
        return Some("bounds of the journal");
    }
    if starts(b"-- Reboot --") || boot_id(line).is_some() {
        return Some("boot marker");
    }
    if starts(b"-- No entries --") {
        return Some("no entries");
    }
    if starts(b"-- cursor: s=") {
        return Some("cursor");
    }
    None
}

/// Is this a marker that only the short modes and verbose have? A cursor is printed in all, `cat` among them, and so is no sign of any.
pub fn is_marker(line: &[u8]) -> bool {
    marker(line).is_some_and(|reason| reason != "cursor")
}

/// `-- Boot <32 hex> --`
fn boot_id(line: &[u8]) -> Option<&[u8]> {
    let id = uncoloured(line).strip_prefix(b"-- Boot ")?.get(..32)?;
    if id.iter().all(u8::is_ascii_hexdigit) { Some(id) } else { None }
}

/// Without the colours that a terminal's copy puts before a line.
fn uncoloured(mut line: &[u8]) -> &[u8] {
    while line.starts_with(b"\x1b[") {
        line = &line[escape_len(line)..];
    }
    line
}

/// `-x` explanations (`--` up to v245, `░░` later) and what a pager leaves behind.
fn catalog(line: &[u8]) -> Option<&'static str> {
    if line == b"--" || line.starts_with(b"-- ") || line.starts_with(b"--\x1b[") || line.starts_with("░░".as_bytes()) {
        return Some("explanation from the catalog");
    }
    let pager = line == b"~" || (line.starts_with(b"lines ") && line.get(6).is_some_and(u8::is_ascii_digit));
    if pager { Some("pager") } else { None }
}

fn header(line: &[u8], mode: Mode) -> Option<Header<'_>> {
    let mut header = any_header(line, (mode.stamp)(line)?)?;
    match mode.column {
        Column::Ident => {}
        Column::IdentOrUnit => {
            header.unit = units(header.ident);
            if header.unit.is_some() {
                header.ident = b"";
            }
        }
        Column::WithPid => {
            let kernel = matches!(header.ident, b"kernel" | b"unknown") || (header.ident == b"audit" && !header.host.is_empty());
            if header.pid.is_none() && !kernel {
                return None;
            }
        }
    }
    Some(header)
}

/// `sglang.service`, or `user@1000.service/sglang.service` of a user's manager.
fn units(column: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let (system, user) = match memchr(b'/', column) {
        Some(slash) => (&column[..slash], Some(&column[slash + 1..])),
        None => (column, None),
    };
    let is_unit = crate::systemd::is_unit(system) && user.is_none_or(crate::systemd::is_unit);
    is_unit.then_some((system, user))
}

fn any_header(line: &[u8], stamp: RawStamp) -> Option<Header<'_>> {
    let start = stamp.len as usize + 1;
    let rest = line.get(start..)?;
    let first = &rest[..memchr(b' ', rest).unwrap_or(rest.len())];
    // With --no-hostname the identifier comes first.
    if first.last() == Some(&b':') {
        let (ident, pid, len) = identifier(rest)?;
        return Some(Header { stamp, host: b"", ident, unit: None, pid, message: (start + len).min(line.len()) });
    }
    if is_no_host(first) {
        return None;
    }
    let after = start + first.len() + 1;
    let (ident, pid, len) = identifier(line.get(after..)?)?;
    Some(Header { stamp, host: first, ident, unit: None, pid, message: (after + len).min(line.len()) })
}

/// Words that stand behind other programs' stamps.
fn is_no_host(word: &[u8]) -> bool {
    word.is_empty()
        || matches!(
            word,
            b"INFO" | b"WARN" | b"WARNING" | b"ERROR" | b"DEBUG" | b"TRACE" | b"CRITICAL" | b"FATAL" | b"stdout" | b"stderr" | b"-"
        )
}

/// `IDENT[PID]: ` or `IDENT: `: identifier, pid, and the length with the blank.
///
/// An identifier may hold blanks, brackets and colons (`sg lang[x]: y[1801]: `); then only `[digits]: ` ends it.
fn identifier(rest: &[u8]) -> Option<(&[u8], Option<u32>, usize)> {
    let window = &rest[..rest.len().min(MAX_IDENT)];
    let mut fallback = None;
    let mut from = 0;
    while let Some(i) = memchr(b':', &window[from..]) {
        let colon = from + i;
        from = colon + 1;
        if !matches!(rest.get(colon + 1), None | Some(b' ')) {
            continue;
        }
        let before = &window[..colon];
        if let Some((ident, pid)) = with_pid(before) {
            return Some((ident, Some(pid), colon + 2));
        }
        if fallback.is_none() && !before.is_empty() && memchr(b' ', before).is_none() {
            fallback = Some((before, None, colon + 2));
            if before.last() != Some(&b']') {
                break;
            }
        }
    }
    fallback
}

fn with_pid(before: &[u8]) -> Option<(&[u8], u32)> {
    let inside = before.strip_suffix(b"]")?;
    let open = memrchr(b'[', inside)?;
    let digits = &inside[open + 1..];
    if digits.is_empty() || digits.len() > 10 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let pid = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((&inside[..open], pid))
}

/// The size in `[28B blob data]`, `[1.2K blob data]`: the message was not printable. A service may print the same text; nothing tells
/// them apart.
fn blob(text: &[u8]) -> Option<&[u8]> {
    let size = text.strip_prefix(b"[").and_then(|t| t.strip_suffix(b" blob data]"))?;
    let (unit, number) = size.split_last()?;
    let is_size =
        matches!(unit, b'B' | b'K' | b'M' | b'G') && !number.is_empty() && number.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    is_size.then_some(size)
}
