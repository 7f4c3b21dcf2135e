//! Lines that an envelope cut into several entries: which entries are one line, and which hold the rest of a line that began elsewhere.
//!
//! A service's request log holds prompts. Where journald cut such a line, the pieces behind the first bear no mark of what they are, so
//! pieces that follow each other are joined into one record, and a piece that another process's entry parts from its beginning is withheld.
//! Both are decided from a bounded neighbourhood, so that a read from any record's start sees the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{line_len, line_start, written_format};
use crate::format::{Content, Cut, Entry, Envelope, Format, Meta};
use crate::systemd;

/// No line is joined across a multiple of this offset, which bounds a record's size; what stands behind it is a rest.
const SPAN: usize = 64 << 20;

/// A piece whose entry is larger is not joined with what follows. LineMax is 48 KiB, and JSON makes of a byte up to six.
const MAX_PIECE: usize = 4 << 20;

/// How far a piece may stand from the end of the one that it continues.
const WINDOW: usize = 256 << 10;

/// So many lines of different writers may be open at a time.
const MAX_OPEN: usize = 64;

/// The head of a line stands in its first bytes.
const FRONT: usize = 256;

/// Lines that were cut and whose writers have not written again, youngest last.
#[derive(Debug, Default)]
pub struct Open {
    lines: Vec<(u64, usize)>,
}

impl Open {
    /// Takes the entry `start..end` into account. Is it the rest of an open line?
    pub fn note(&mut self, entry: &Entry, start: usize, end: usize) -> bool {
        if entry.content != Content::Payload || (self.lines.is_empty() && entry.meta.cut == Cut::No) {
            return false;
        }
        let writer = writer(&entry.meta);
        let known = self.find(writer, start);
        if let Some(i) = known {
            self.lines.remove(i);
        }
        if entry.meta.cut != Cut::No {
            if self.lines.len() == MAX_OPEN {
                self.lines.remove(0);
            }
            self.lines.push((writer, end));
        }
        known.is_some()
    }

    /// Would an entry of this writer that begins at `start` be the rest of an open line?
    pub fn holds(&mut self, meta: &Meta, start: usize) -> bool {
        self.find(writer(meta), start).is_some()
    }

    fn find(&mut self, writer: u64, start: usize) -> Option<usize> {
        let old = self.lines.iter().take_while(|(_, end)| end + WINDOW < start).count();
        self.lines.drain(..old);
        self.lines.iter().position(|(open, _)| *open == writer)
    }

    /// Reads entries from `at`, which begins one, to `to`.
    pub fn read(&mut self, bytes: &[u8], at: usize, to: usize, envelope: &Envelope) {
        let mut entry = Entry::default();
        let mut at = at;
        while at < to {
            let end = read(bytes, at, envelope, &mut entry);
            self.note(&entry, at, end);
            at = end;
        }
    }

    /// What is open at `at`, where a record begins.
    pub fn before(bytes: &[u8], at: usize, envelope: &Envelope) -> Open {
        let mut open = Open::default();
        if at > 0 {
            open.read(bytes, entry_line(bytes, at.saturating_sub(WINDOW + 1), envelope), at, envelope);
        }
        open
    }
}

/// Reads the entry at `at`; returns its end.
pub fn read(bytes: &[u8], at: usize, envelope: &Envelope, entry: &mut Entry) -> usize {
    entry.clear();
    at + (envelope.read)(bytes, at, entry).clamp(1, bytes.len() - at)
}

/// The start of the nearest line at or above byte `at` with which an entry begins; 0 if there is none.
pub fn entry_line(bytes: &[u8], at: usize, envelope: &Envelope) -> usize {
    let mut start = line_start(bytes, at);
    while start > 0 && !(envelope.begins)(&bytes[start..start + line_len(&bytes[start..])]) {
        start = line_start(bytes, start - 1);
    }
    start
}

/// Who wrote: entries of one writer that follow each other may be pieces of one line.
fn writer(meta: &Meta) -> u64 {
    let stream = meta.more.iter().find(|(name, _)| name == "_STREAM_ID").map(|(_, value)| value);
    let mut hasher = DefaultHasher::new();
    (&meta.host, &meta.boot, &meta.ident, meta.pid, meta.stream, stream).hash(&mut hasher);
    hasher.finish()
}

/// Does the line of `meta`'s entry, a piece that begins at `start`, go on in `next`, which begins at `next_start`?
pub fn goes_on(meta: &Meta, start: usize, next: &Entry, next_start: usize, formats: &[&'static Format]) -> bool {
    meta.cut != Cut::No
        && next.content == Content::Payload
        && next_start - start <= MAX_PIECE
        && start / SPAN == next_start / SPAN
        && writer(meta) == writer(&next.meta)
        && (meta.cut == Cut::Certain || !begins(next, formats))
}

/// Does a line of a known format begin with this text? Also a rest may be known, by its end.
fn begins(entry: &Entry, formats: &[&'static Format]) -> bool {
    let Some(format) = written_format(&entry.text, &entry.meta, formats) else { return false };
    let is_json = matches!(entry.text.first(), Some(b'{' | b'['));
    is_json || entry.text.len() <= FRONT || systemd::writes(&entry.meta) == Some(true) || (format.head)(&entry.text[..FRONT])
}

/// Reads the entry at `at` that may go on a cut line, past one empty line (json-sse puts one behind every entry). Returns its start and end.
pub fn next(bytes: &[u8], at: usize, envelope: &Envelope, entry: &mut Entry) -> Option<(usize, usize)> {
    if at >= bytes.len() {
        return None;
    }
    let end = read(bytes, at, envelope, entry);
    if entry.content == Content::Payload {
        return Some((at, end));
    }
    let blank = matches!(entry.content, Content::Skip(_)) && bytes[at..end].iter().all(u8::is_ascii_whitespace);
    if !blank || end >= bytes.len() {
        return None;
    }
    Some((end, read(bytes, end, envelope, entry)))
}

/// From the start of an entry to the start of the record that holds it.
pub fn first(bytes: &[u8], start: usize, envelope: &Envelope, formats: &[&'static Format]) -> usize {
    let (mut start, mut before, mut entry) = (start, Entry::default(), Entry::default());
    while start > 0 {
        let floor = start.saturating_sub(MAX_PIECE);
        let mut at = line_start(bytes, start - 1);
        while at > floor && !(envelope.begins)(&bytes[at..at + line_len(&bytes[at..])]) {
            at = line_start(bytes, at - 1);
        }
        let end = read(bytes, at, envelope, &mut before);
        if before.content != Content::Payload || before.meta.cut == Cut::No {
            return start;
        }
        let goes = next(bytes, end, envelope, &mut entry)
            .is_some_and(|(next, _)| next == start && goes_on(&before.meta, at, &entry, next, formats));
        if !goes {
            return start;
        }
        start = at;
    }
    start
}
