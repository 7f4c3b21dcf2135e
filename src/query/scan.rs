//! Finding events without an index: candidates by a search for bytes that every match must hold, then the records around them.

use std::ops::ControlFlow;

use corr_parsers::record::{self, Layout};
use rayon::prelude::*;

use super::literals::Literal;
use super::words;
use crate::run::events::{self, Start};
use crate::run::timing::Timing;

/// Bytes of a source that one task reads.
const CHUNK: usize = 8 << 20;

/// Searches bytes for any of some literals, whatever their ASCII case.
pub struct Finder {
    regex: regex::bytes::Regex,
    literals: Vec<Literal>,
    /// Some literal must begin or end a word.
    edges: bool,
}

impl Finder {
    /// A finder for literals, none of them empty; `None` if there is none or they are too many to be worth it.
    pub fn new(literals: &[Literal]) -> Option<Finder> {
        if literals.is_empty() || literals.len() > 200 || literals.iter().any(|l| l.text.is_empty()) {
            return None;
        }
        let mut pattern = String::from("(?i-u)");
        for (i, literal) in literals.iter().enumerate() {
            if i > 0 {
                pattern.push('|');
            }
            for byte in literal.text.bytes() {
                if byte.is_ascii_alphanumeric() {
                    pattern.push(byte as char);
                } else {
                    pattern.push_str(&format!("\\x{byte:02x}"));
                }
            }
            if literal.ends {
                // Said here and not only in `whole`: the engine goes on faster than it starts again.
                pattern.push_str("(?:[^0-9A-Za-z]|\\z)");
            }
        }
        let regex = regex::bytes::RegexBuilder::new(&pattern).size_limit(8 << 20).build().ok()?;
        let edges = literals.iter().any(|l| l.begins || l.ends);
        Some(Finder { regex, literals: literals.to_vec(), edges })
    }

    /// Offset of the first hit at or after `from`.
    pub fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut from = from;
        loop {
            let hit = self.regex.find_at(bytes, from)?;
            if !self.edges || self.whole(bytes, hit.start()) {
                return Some(hit.start());
            }
            from = hit.start() + 1;
        }
    }

    /// Does one of the literals stand here, with its edges? (`num_retractions` holds no word `retract`.)
    fn whole(&self, bytes: &[u8], at: usize) -> bool {
        self.literals.iter().any(|literal| {
            let end = at + literal.text.len();
            bytes.get(at..end).is_some_and(|text| text.eq_ignore_ascii_case(literal.text.as_bytes()))
                && (!literal.begins || words::may_part(bytes, at))
                && (!literal.ends || words::may_part(bytes, end))
        })
    }
}

/// A source as it is scanned.
#[derive(Clone, Copy)]
pub struct Scanned<'s> {
    pub bytes: &'s [u8],
    pub layout: &'s Layout,
    pub timing: &'s Timing,
    /// Count lines too, which costs one more pass: the query asks for them.
    pub lines: bool,
}

/// Calls `judge` for every record from `from` (a record's start) on that can match; collects what it returns, in source order.
///
/// `finder` limits the records that are looked at to those around a hit. Work is spread over rayon's threads.
pub fn each<T: Send>(source: Scanned<'_>, from: usize, finder: Option<&Finder>, judge: impl Judge<T>) -> Vec<T> {
    let chunks = chunks(source, from);
    let starts = starts(source, &chunks);
    let found: Vec<Vec<T>> = chunks
        .par_iter()
        .zip(starts)
        .map(|((_, end), start)| match finder {
            Some(finder) => around_hits(source, start, *end, finder, &judge),
            None => all(source, start, *end, &judge),
        })
        .collect();
    found.into_iter().flatten().collect()
}

/// Decides about a record, from several threads.
pub trait Judge<T>: Fn(&record::Record<'_>, &corr_parsers::event::Event<'_>, &events::Facts) -> Option<T> + Sync {}

impl<T, F> Judge<T> for F where F: Fn(&record::Record<'_>, &corr_parsers::event::Event<'_>, &events::Facts) -> Option<T> + Sync {}

/// Cuts what stands from `from` on into chunks at record starts.
fn chunks(source: Scanned<'_>, from: usize) -> Vec<(usize, usize)> {
    let to = source.bytes.len();
    let mut chunks = Vec::new();
    let mut start = from;
    while start < to {
        let mut end = to;
        if !source.layout.document && to - start > CHUNK + CHUNK / 2 {
            end = record::record_start(source.bytes, start + CHUNK, source.layout);
            if end <= start {
                end = to;
            }
        }
        chunks.push((start, end));
        start = end;
    }
    chunks
}

/// Where each chunk starts and what holds there: the sort key of the record before and, if lines are counted, the line.
fn starts(source: Scanned<'_>, chunks: &[(usize, usize)]) -> Vec<Start> {
    let bytes = source.bytes;
    // What each chunk leaves behind is found from its end, so that a source is walked back over once at the most, however many chunks it has.
    let left: Vec<(Option<i64>, u64)> = chunks
        .par_iter()
        .map(|(start, end)| {
            let order = if *end < bytes.len() { events::order_between(bytes, source.layout, source.timing, *start, *end) } else { None };
            (order, if source.lines { events::count_lines(&bytes[*start..*end]) } else { 0 })
        })
        .collect();
    let from = chunks.first().map_or(0, |c| c.0);
    let mut order = events::order_before(bytes, source.layout, source.timing, from);
    let mut line = if source.lines { 1 + events::count_lines(&bytes[..from]) } else { 0 };
    let mut starts = Vec::with_capacity(chunks.len());
    for ((start, _), (left_order, lines)) in chunks.iter().zip(left) {
        starts.push(Start { offset: *start, line, order });
        order = left_order.or(order);
        line += lines;
    }
    starts
}

fn all<T>(source: Scanned<'_>, start: Start, end: usize, judge: &impl Judge<T>) -> Vec<T> {
    let mut found = Vec::new();
    events::each(source.bytes, source.layout, source.timing, start, end, |record, event, facts| {
        found.extend(judge(record, event, facts));
        ControlFlow::Continue(())
    });
    found
}

fn around_hits<T>(source: Scanned<'_>, start: Start, end: usize, finder: &Finder, judge: &impl Judge<T>) -> Vec<T> {
    let bytes = source.bytes;
    let mut found = Vec::new();
    // What holds behind the last record that was read; walking back for a stamp and counting lines go no further than that.
    let mut behind = start;
    let mut torn = Torn::new(&bytes[..end]);
    while let Some(hit) = earlier(finder.find(&bytes[..end], behind.offset), torn.next(behind.offset)) {
        let offset = record::record_start(bytes, hit, source.layout).max(behind.offset);
        let line = if source.lines { behind.line + events::count_lines(&bytes[behind.offset..offset]) } else { 0 };
        let mut next = Start { offset: offset + 1, line, order: behind.order };
        let mut read = |order: Option<i64>, needs_stamp: bool| {
            let mut done = true;
            events::each(bytes, source.layout, source.timing, Start { offset, line, order }, offset + 1, |record, event, facts| {
                done = facts.stamp.is_some() || !needs_stamp;
                if done {
                    found.extend(judge(record, event, facts));
                    let lines = if source.lines { events::count_lines(&bytes[offset..offset + facts.length]) } else { 0 };
                    next = Start { offset: offset + facts.length, line: line + lines, order: facts.order };
                }
                ControlFlow::Break(())
            });
            done
        };
        // Nearly all records have a stamp of their own; for the others the nearest one above is looked for.
        if !read(None, true) {
            let above = events::order_between(bytes, source.layout, source.timing, behind.offset, offset);
            read(above.or(behind.order), false);
        }
        behind = next;
        if behind.offset >= end {
            break;
        }
    }
    found
}

/// The earlier of two places.
pub fn earlier(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    a.into_iter().chain(b).min()
}

/// Places where an ANSI escape stands inside a word: what is searched for may be spelled across it, so the record around it is read whatever it holds.
pub struct Torn<'b> {
    bytes: &'b [u8],
    next: Option<usize>,
}

impl<'b> Torn<'b> {
    /// The torn words of these bytes.
    pub fn new(bytes: &'b [u8]) -> Torn<'b> {
        Torn { bytes, next: Some(0) }
    }

    /// The first one at or after `from`, which never goes back.
    pub fn next(&mut self, from: usize) -> Option<usize> {
        let mut at = self.next?.max(from);
        while let Some(escape) = memchr::memchr(0x1b, &self.bytes[at.min(self.bytes.len())..]).map(|i| i + at) {
            let word = |i: usize| self.bytes.get(i).is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80);
            at = escape + 1;
            if escape > 0 && word(escape - 1) {
                at = escapes_end(self.bytes, escape);
                if word(at) {
                    self.next = Some(escape);
                    return self.next;
                }
            }
        }
        self.next = None;
        None
    }
}

/// Where the run of escape sequences at `at` ends.
fn escapes_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while bytes.get(end) == Some(&0x1b) {
        end += record::escape_len(&bytes[end..]).max(1);
    }
    end
}
