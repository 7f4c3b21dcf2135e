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

impl Scanned<'_> {
    fn start(&self, offset: usize, order: Option<i64>) -> Start {
        let line = if self.lines { 1 + events::count_lines(&self.bytes[..offset]) } else { 0 };
        Start { offset, line, order }
    }
}

/// Calls `judge` for every record that begins in `from..to` (both record starts) and can match; collects what it returns, in source order.
///
/// `finder` limits the records that are looked at to those around a hit. Work is spread over rayon's threads.
pub fn each<T: Send>(
    source: Scanned<'_>,
    from: usize,
    to: usize,
    finder: Option<&Finder>,
    judge: impl Fn(&record::Record<'_>, &corr_parsers::event::Event<'_>, &events::Facts) -> Option<T> + Sync,
) -> Vec<T> {
    let chunks = chunks(source, from, to);
    let found: Vec<Vec<T>> = chunks
        .par_iter()
        .map(|(start, end)| match finder {
            Some(finder) => around_hits(source, *start, *end, finder, &judge),
            None => all(source, *start, *end, &judge),
        })
        .collect();
    found.into_iter().flatten().collect()
}

/// Cuts a range into chunks at record starts.
fn chunks(source: Scanned<'_>, from: usize, to: usize) -> Vec<(usize, usize)> {
    let mut chunks = Vec::new();
    let mut start = from;
    while start < to {
        let mut end = to;
        if !source.layout.document && to - start > CHUNK + CHUNK / 2 {
            end = record::record_start(source.bytes, start + CHUNK, source.layout).min(to);
            if end <= start {
                end = to;
            }
        }
        chunks.push((start, end));
        start = end;
    }
    chunks
}

fn all<T>(
    source: Scanned<'_>,
    start: usize,
    end: usize,
    judge: &impl Fn(&record::Record<'_>, &corr_parsers::event::Event<'_>, &events::Facts) -> Option<T>,
) -> Vec<T> {
    let mut found = Vec::new();
    let order = events::order_before(source.bytes, source.layout, source.timing, start);
    events::each(source.bytes, source.layout, source.timing, source.start(start, order), end, |record, event, facts| {
        found.extend(judge(record, event, facts));
        ControlFlow::Continue(())
    });
    found
}

fn around_hits<T>(
    source: Scanned<'_>,
    start: usize,
    end: usize,
    finder: &Finder,
    judge: &impl Fn(&record::Record<'_>, &corr_parsers::event::Event<'_>, &events::Facts) -> Option<T>,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut at = start;
    // The last record that was read, and the sort key that holds behind it, so that walking back for a stamp stays linear.
    let mut behind: (usize, Option<i64>) = (start, None);
    let mut behind_known = false;
    while let Some(hit) = finder.find(&source.bytes[..end], at) {
        let offset = record::record_start(source.bytes, hit, source.layout).max(at);
        let mut next = offset + 1;
        let mut order_behind = None;
        let mut read = |order: Option<i64>, needs_stamp: bool| {
            let mut stamped = true;
            events::each(source.bytes, source.layout, source.timing, source.start(offset, order), offset + 1, |record, event, facts| {
                stamped = facts.stamp.is_some();
                if stamped || !needs_stamp {
                    found.extend(judge(record, event, facts));
                    next = facts.offset + facts.length;
                    order_behind = facts.order;
                }
                ControlFlow::Break(())
            });
            stamped
        };
        // Nearly all records have a stamp of their own; for the others the nearest one above is looked for.
        if !read(None, true) {
            let order = if behind_known && behind.0 == offset {
                behind.1
            } else {
                let floor = if behind_known { behind.0 } else { 0 };
                let above = events::order_between(source.bytes, source.layout, source.timing, floor, offset);
                above.or(if behind_known { behind.1 } else { None })
            };
            read(order, false);
        }
        behind = (next, order_behind);
        behind_known = true;
        at = next;
        if at >= end {
            break;
        }
    }
    found
}

/// Offsets of all records in `from..to` that hold one of the finder's literals.
pub fn offsets(source: Scanned<'_>, from: usize, to: usize, finder: &Finder) -> Vec<u64> {
    let mut hits: Vec<u64> = Vec::new();
    let mut at = from;
    while let Some(hit) = finder.find(&source.bytes[..to], at) {
        hits.push(hit as u64);
        at = hit + 1;
        // One hit a line is enough.
        at += record::line_len(&source.bytes[at.min(to)..to]);
        if at >= to {
            break;
        }
    }
    hits
}
