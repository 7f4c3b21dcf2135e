//! A source's events in source order: records read, parsed, and put on the time axis. Index, scan, `show` and `sources` all read through here, so they
//! cannot disagree.

use std::ops::ControlFlow;

use corr_parsers::event::{Event, Outcome};
use corr_parsers::record::{self, Layout, Reader, Record};
use corr_parsers::stamp::Stamp;
use corr_parsers::text;

use super::timing::{Placed, Timing};

/// What is known of a record beside its event.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Where the record stands in the (decompressed) source, in bytes.
    pub offset: usize,
    /// Length in bytes, line end included.
    pub length: usize,
    /// 1-based number of the record's first physical line; 0 if lines were not counted.
    pub line: u64,
    /// When it happened, if the record or its envelope says.
    pub stamp: Option<Stamp>,
    /// The stamp is the envelope's, not the payload's own.
    pub from_envelope: bool,
    /// The stamp (or that of the record before, where this one has none) got its zone from the source's clock.
    pub by_rule: bool,
    /// Sort key, UTC ns: start of the stamp, or of the stamped record before this one; `None` before the first stamped record.
    pub order: Option<i64>,
    pub outcome: Outcome,
}

/// Where reading starts, and what is known there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// A record's first byte.
    pub offset: usize,
    /// Number of the line there (1-based); 0 leaves lines uncounted.
    pub line: u64,
    /// Sort key of the record before.
    pub order: Option<i64>,
}

impl Start {
    /// The beginning of a source, with lines counted.
    pub fn of_source() -> Start {
        Start { offset: 0, line: 1, order: None }
    }
}

/// Calls `each` for every record from `start` that begins before byte `end`. Returns the offset where reading stopped.
pub fn each(
    bytes: &[u8],
    layout: &Layout,
    timing: &Timing,
    start: Start,
    end: usize,
    mut each: impl FnMut(&Record<'_>, &Event<'_>, &Facts) -> ControlFlow<()>,
) -> usize {
    let mut reader = Reader::new(bytes, start.offset, layout);
    let mut line = start.line;
    let mut order = start.order;
    let mut spare: Option<Event<'static>> = None;
    while reader.offset() < end {
        let Some(record) = reader.next() else { break };
        let mut event = match spare.take() {
            Some(event) => event.recycle(&text::kinds::TEXT),
            None => Event::new(&text::kinds::TEXT),
        };
        let outcome = record.parse(&mut event);
        let Placed { stamp, from_envelope, by_rule } = timing.stamp(&record, &event);
        if let Some(stamp) = stamp {
            order = Some(stamp.start);
        }
        let facts = Facts { offset: record.offset, length: record.len, line, stamp, from_envelope, by_rule, order, outcome };
        let flow = each(&record, &event, &facts);
        if line > 0 {
            line += count_lines(&bytes[record.offset..record.offset + record.len]);
        }
        spare = Some(event.recycle(&text::kinds::TEXT));
        if flow.is_break() {
            break;
        }
    }
    reader.offset()
}

/// Reads the one record that begins at `offset`.
pub fn one<T>(
    bytes: &[u8],
    layout: &Layout,
    timing: &Timing,
    start: Start,
    f: impl FnOnce(&Record<'_>, &Event<'_>, &Facts) -> T,
) -> Option<T> {
    let mut f = Some(f);
    let mut out = None;
    each(bytes, layout, timing, start, start.offset + 1, |record, event, facts| {
        if let Some(f) = f.take() {
            out = Some(f(record, event, facts));
        }
        ControlFlow::Break(())
    });
    out
}

/// The sort key that holds just before a record: the stamp of the nearest stamped record above it.
pub fn order_before(bytes: &[u8], layout: &Layout, timing: &Timing, offset: usize) -> Option<i64> {
    order_between(bytes, layout, timing, 0, offset)
}

/// The same, but no record above byte `floor` is looked at.
pub fn order_between(bytes: &[u8], layout: &Layout, timing: &Timing, floor: usize, offset: usize) -> Option<i64> {
    let mut before = offset;
    while before > floor {
        let start = record::record_start(bytes, before - 1, layout);
        let stamp = one(bytes, layout, timing, Start { offset: start, line: 0, order: None }, |_, _, facts| facts.stamp);
        if let Some(stamp) = stamp.flatten() {
            return Some(stamp.start);
        }
        if start >= before {
            return None;
        }
        before = start;
    }
    None
}

/// Line ends in these bytes.
pub fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
