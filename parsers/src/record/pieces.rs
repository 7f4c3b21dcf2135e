//! Lines that an envelope cut into several entries: which entries are one line, and which hold the rest of a line that began elsewhere.
//!
//! A service's request log holds prompts. Where an envelope cut such a line, the pieces behind the first bear no mark of what they are, so
//! pieces that follow each other are joined into one record, and a piece that another process's entry parts from its beginning is withheld.
//! Both are decided from a bounded neighbourhood, so that a read from any record's start sees the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{line_len, line_start, nest, written_format};
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
    pub fn note(&mut self, entry: &Entry, level: Level, start: usize, end: usize) -> bool {
        if entry.content != Content::Payload || (self.lines.is_empty() && entry.meta.cut == Cut::No) {
            return false;
        }
        let writer = writer(&entry.meta, level);
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

    /// Would an entry of one of these writers that begins at `start` be the rest of an open line?
    pub fn holds(&mut self, writers: [u64; 2], start: usize) -> bool {
        writers.iter().any(|writer| self.find(*writer, start).is_some())
    }

    fn find(&mut self, writer: u64, start: usize) -> Option<usize> {
        let old = self.lines.iter().take_while(|(_, end)| end + WINDOW < start).count();
        self.lines.drain(..old);
        self.lines.iter().position(|(open, _)| *open == writer)
    }

    /// Reads entries from `at`, which begins one, to `to`.
    pub fn read(&mut self, bytes: &[u8], at: usize, to: usize, outer: &Envelope, inner: &[&'static Envelope]) {
        let (mut entry, mut spare) = (Entry::default(), Entry::default());
        let mut at = at;
        while at < to {
            let end = read(bytes, at, outer, &mut entry);
            self.note(&entry, Level::Outer, at, end);
            if !inner.is_empty() && entry.meta.cut == Cut::No {
                nest::peel(inner, &mut entry, &mut spare);
                self.note(&entry, Level::Inner, at, end);
            }
            at = end;
        }
    }

    /// What is open at `at`, where a record begins.
    pub fn before(bytes: &[u8], at: usize, outer: &Envelope, inner: &[&'static Envelope]) -> Open {
        let mut open = Open::default();
        if at > 0 {
            open.read(bytes, entry_line(bytes, at.saturating_sub(WINDOW + 1), outer), at, outer, inner);
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

/// Which envelope cut a line: the outermost, or one inside it. Only what is a whole line of the outermost is cut by an inner one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Outer,
    Inner,
}

/// Who wrote: entries of one writer that follow each other may be pieces of one line.
pub fn writer(meta: &Meta, level: Level) -> u64 {
    let stream = meta.more.iter().find(|(name, _)| name == "_STREAM_ID").map(|(_, value)| value);
    let mut hasher = DefaultHasher::new();
    (&meta.host, &meta.boot, &meta.ident, meta.pid, meta.stream, stream).hash(&mut hasher);
    if level == Level::Inner {
        meta.unit.hash(&mut hasher);
    }
    hasher.finish()
}

/// Where a piece and what may go on it stand.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Which envelope cut the line.
    pub level: Level,
    pub start: usize,
    pub next_start: usize,
    /// Envelopes inside the outermost.
    pub inner: &'a [&'static Envelope],
}

/// Does the line of `meta`'s entry go on in `next`?
pub fn goes_on(meta: &Meta, next: &Entry, piece: Piece<'_>, formats: &[&'static Format]) -> bool {
    let Piece { level, start, next_start, inner } = piece;
    meta.cut != Cut::No
        && next.content == Content::Payload
        && next_start - start <= MAX_PIECE
        && start / SPAN == next_start / SPAN
        && writer(meta, level) == writer(&next.meta, level)
        && (meta.cut == Cut::Certain || !(begins(next, formats) || (level == Level::Outer && nest::begins(inner, &next.text))))
}

/// Does a line of a known format begin with this text? Also a rest may be known, by its end.
fn begins(entry: &Entry, formats: &[&'static Format]) -> bool {
    let Some(format) = written_format(&entry.text, &entry.meta, formats) else { return false };
    let is_json = matches!(entry.text.first(), Some(b'{' | b'['));
    is_json || entry.text.len() <= FRONT || systemd::writes(&entry.meta, &entry.text) == Some(true) || (format.head)(&entry.text[..FRONT])
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
pub fn first(bytes: &[u8], start: usize, outer: &Envelope, inner: &[&'static Envelope], formats: &[&'static Format]) -> usize {
    let (mut start, mut before, mut entry, mut spare) = (start, Entry::default(), Entry::default(), Entry::default());
    while start > 0 {
        let floor = start.saturating_sub(MAX_PIECE);
        let mut at = line_start(bytes, start - 1);
        while at > floor && !(outer.begins)(&bytes[at..at + line_len(&bytes[at..])]) {
            at = line_start(bytes, at - 1);
        }
        let mut end = read(bytes, at, outer, &mut before);
        // Of several entries in one line the last is the one before; an empty line is passed over as `next` does.
        while end < start && !bytes[end..start].iter().all(u8::is_ascii_whitespace) {
            at = end;
            end = read(bytes, at, outer, &mut before);
        }
        let mut level = Level::Outer;
        if before.meta.cut == Cut::No && !inner.is_empty() {
            level = Level::Inner;
            nest::peel(inner, &mut before, &mut spare);
        }
        if before.content != Content::Payload || before.meta.cut == Cut::No {
            return start;
        }
        let Some((next, _)) = next(bytes, end, outer, &mut entry).filter(|(next, _)| *next == start) else { return start };
        if level == Level::Inner {
            nest::peel(inner, &mut entry, &mut spare);
        }
        if !goes_on(&before.meta, &entry, Piece { level, start: at, next_start: next, inner }, formats) {
            return start;
        }
        start = at;
    }
    start
}
