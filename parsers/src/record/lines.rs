//! Lines of a bare source and their parts: what begins a record, where a line is cut, and the part that holds any byte.
//!
//! All of it is decided from a bounded neighbourhood, so that a read from anywhere sees the same parts, and a line of many
//! megabytes costs no more than its length.

use serde::de::IgnoredAny;

use super::ansi::strip_ansi_head;
use super::{head_format, line_start};
use crate::format::Format;
use crate::{dynamo, text};

/// So much of a line is read first; four times as much while nothing is decided.
const FIRST: usize = 2 << 10;

/// A cut is decided by the bytes before it and at most so many from it on: a head, with its colours.
const MARGIN: usize = 640;

/// So much above a byte is first searched for the beginning of its line.
const ABOVE: usize = 4 << 10;

/// What is looked at before a head: two blanks, or the escape of a colour.
const NEAR: usize = 16;

/// The head of a line with ANSI escapes stands in its first bytes.
const COLOURED: usize = 512;

/// A physical line, or the part of one between two cuts.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub len: usize,
    /// The format whose head it has.
    pub format: Option<&'static Format>,
    /// It ends in mid-line, where a further record begins.
    pub cut: bool,
    /// A record begins with it whatever stands before it.
    pub starts: bool,
}

/// The part that begins at byte `at`, which is a line's start or a cut.
pub fn read(bytes: &[u8], at: usize, formats: &[&'static Format]) -> Part {
    let rest = &bytes[at..];
    let mut size = FIRST;
    let (len, cut) = loop {
        let window = &rest[..rest.len().min(size)];
        let end = memchr::memchr(b'\n', window).map(|i| i + 1);
        let line = &window[..end.unwrap_or(window.len())];
        let found = nearest(line, formats);
        if end.is_some() || line.len() == rest.len() {
            break (found.unwrap_or(line.len()), found.is_some());
        }
        if let Some(found) = found
            && found + MARGIN <= line.len()
            && (!is_json(line) || is_broken(line))
        {
            break (found, true);
        }
        size *= 4;
    };
    let part = &rest[..len];
    let format = start_format(part, formats);
    let inside = at > 0 && bytes[at - 1] != b'\n';
    let starts = cut || inside || format.is_some() || !text::continues(part);
    Part { len, format, cut, starts }
}

/// The first cut that any format finds in a line, or in the beginning of one.
pub fn nearest(line: &[u8], formats: &[&'static Format]) -> Option<usize> {
    let json = is_json(line);
    let mut best: Option<usize> = None;
    for format in formats {
        let view = match best {
            Some(at) if !json => &line[..line.len().min(at + MARGIN)],
            _ => line,
        };
        if let Some(at) = (format.cut)(view)
            && at > 0
            && at < line.len()
        {
            best = Some(best.map_or(at, |b| b.min(at)));
        }
    }
    best
}

/// A line that is one JSON value quotes the heads in it, so its cuts depend on all of it.
fn is_json(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'{')
}

/// Is this no beginning of a JSON value, whatever follows?
fn is_broken(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_err_and(|e| !e.is_eof())
}

/// The format of a line whose ANSI escapes are still there.
fn start_format(line: &[u8], formats: &[&'static Format]) -> Option<&'static Format> {
    let line = &line[super::lead(line)..];
    if line.first() == Some(&0x1b) {
        let mut head = [0; COLOURED];
        let len = strip_ansi_head(&line[..line.len().min(COLOURED)], &mut head);
        return head_format(&head[..len], formats);
    }
    head_format(line, formats)
}

/// The part that holds byte `at`, and where it begins.
pub fn holding(bytes: &[u8], at: usize, formats: &[&'static Format]) -> (usize, Part) {
    let mut start = known_start(bytes, at, formats);
    loop {
        let part = read(bytes, start, formats);
        if start + part.len > at {
            return (start, part);
        }
        start += part.len;
    }
}

/// A start of a part at or above byte `at`, near it if there is one.
fn known_start(bytes: &[u8], at: usize, formats: &[&'static Format]) -> usize {
    let mut size = ABOVE;
    loop {
        let floor = at.saturating_sub(size);
        let line = floor + line_start(&bytes[floor..], at - floor);
        if line > floor || floor == 0 {
            return line;
        }
        if let Some(cut) = certain_cut(bytes, floor, at, formats) {
            return cut;
        }
        size *= 4;
    }
}

/// The first cut in `floor..=at`, a stretch of one line, that is one from wherever in its line one begins to look.
///
/// Dynamo's cuts are decided by the bytes at them alone when neither a blank nor punctuation stands before them: the head is then
/// neither quoted nor a value in JSON. SGLang's depend on how their line begins.
fn certain_cut(bytes: &[u8], floor: usize, at: usize, formats: &[&'static Format]) -> Option<usize> {
    let end = bytes.len().min(at + MARGIN);
    let end = memchr::memchr(b'\n', &bytes[at..end]).map_or(end, |i| at + i + 1);
    let mut first: Option<usize> = None;
    for format in formats.iter().filter(|f| f.name == dynamo::TEXT.name || f.name == dynamo::JSONL.name) {
        let mut from = floor;
        while let Some(step) = (format.cut)(&bytes[from..end]).filter(|step| *step > 0) {
            from += step;
            if from > first.unwrap_or(at) {
                break;
            }
            // Near the floor the colour before a stamp may be cut off.
            if from >= floor + NEAR && is_plain(bytes[from - 1]) {
                first = Some(from);
                break;
            }
        }
    }
    first
}

/// Neither white space nor anything that may quote what follows.
fn is_plain(before: u8) -> bool {
    let quotes = matches!(before, b'"' | b'\'' | b'`' | b'(' | b'[' | b'{' | b'<' | b'=' | b':' | b',' | b'\\' | b'|');
    !before.is_ascii_whitespace() && !quotes
}

/// The first multiple of `span` in `start..end`, if any.
pub fn boundary(start: usize, end: usize, span: usize) -> Option<usize> {
    let at = start.div_ceil(span) * span;
    if at < end { Some(at) } else { None }
}
