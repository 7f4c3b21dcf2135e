//! From hits back to their records: read again from the source, with line numbers and neighbours.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use corr_parsers::record;
use rayon::prelude::*;

use super::answer::Hit;
use super::sources::Asked;
use crate::render::events::Block;
use crate::render::shown::Shown;
use crate::run::events::{self, Start};
use crate::store::open::{Cell, Segment, StoreError};
use crate::store::rowset::RowSet;

/// How many records beside each hit are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    pub before: usize,
    pub after: usize,
}

impl Context {
    /// Is anything beside the hits wanted?
    pub fn any(self) -> bool {
        self.before > 0 || self.after > 0
    }
}

/// Hits of one source whose records could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    pub hits: u64,
    /// Why the first of them could not.
    pub why: String,
}

/// Reads hits again, in their order, a batch at a time.
///
/// Among hits of one source that follow each other no record is given twice: a block's neighbours end at the next hit and at what an earlier block
/// has shown.
pub struct Reading<'a> {
    hits: &'a [Hit],
    sources: &'a [Asked],
    context: Context,
    bodies: bool,
    lines: Vec<u64>,
    at: usize,
    near: Near,
    /// Source and end of the block before.
    behind: Option<(usize, u64)>,
    /// What could not be read, by source.
    pub lost: BTreeMap<usize, Lost>,
}

/// A run of hits of one source that follow each other.
#[derive(Default)]
struct Near {
    /// Index behind its last hit.
    until: usize,
    /// Where its hits begin, sorted.
    hits: Vec<u64>,
    /// Bytes that were shown: start and end.
    shown: BTreeMap<u64, u64>,
}

impl Near {
    /// A neighbour that begins here is a hit itself or was shown.
    fn has(&self, offset: u64) -> bool {
        self.hits.binary_search(&offset).is_ok() || self.shown.range(..=offset).next_back().is_some_and(|(_, end)| *end > offset)
    }

    fn show(&mut self, from: u64, to: u64) {
        match self.shown.range_mut(..=from).next_back() {
            Some((_, end)) if *end == from => *end = to,
            _ => {
                self.shown.insert(from, to);
            }
        }
    }
}

impl<'a> Reading<'a> {
    /// Finds the hits' lines; `bodies` shows what is withheld otherwise.
    pub fn new(hits: &'a [Hit], sources: &'a [Asked], context: Context, bodies: bool) -> Reading<'a> {
        let lines = lines(hits, sources);
        Reading { hits, sources, context, bodies, lines, at: 0, near: Near::default(), behind: None, lost: BTreeMap::new() }
    }

    /// The blocks of the next hits, at most `count`; `None` when all were read.
    pub fn next(&mut self, count: usize) -> Option<Vec<Block>> {
        if self.at >= self.hits.len() {
            return None;
        }
        let end = (self.at + count.max(1)).min(self.hits.len());
        let mut blocks = Vec::with_capacity(end - self.at);
        while self.at < end {
            let index = self.at;
            self.at += 1;
            match self.block(index) {
                Ok(block) => blocks.push(block),
                Err(why) => self.lost.entry(self.hits[index].source).or_insert(Lost { hits: 0, why }).hits += 1,
            }
        }
        Some(blocks)
    }

    fn block(&mut self, index: usize) -> Result<Block, String> {
        let hit = &self.hits[index];
        let source = &self.sources[hit.source];
        let bytes = source.bytes()?;
        let offset = hit.offset as usize;
        if offset >= bytes.len() {
            return Err(format!("it ends before byte {offset}"));
        }
        if self.context.any() && index >= self.near.until {
            self.near = near(self.hits, index);
        }
        let top = self.top(bytes, source, offset);
        let line = self.lines[index].saturating_sub(events::count_lines(&bytes[top..offset]));
        // A hit without a sort key has no stamped record above it: there is nothing to look for.
        let order = match hit.order {
            Some(_) if top < offset => events::order_before(bytes, &source.layout, source.timing(), top),
            order => order,
        };
        let (near, context, bodies) = (&self.near, self.context, self.bodies);
        let mut read: Vec<Shown> = Vec::new();
        let mut after = 0;
        let mut found = false;
        let start = Start { offset: top, line, order };
        events::each(bytes, &source.layout, source.timing(), start, bytes.len(), |record, event, facts| {
            let at = facts.offset as u64;
            if at > hit.offset {
                if !found || near.has(at) {
                    return ControlFlow::Break(());
                }
                after += 1;
            }
            found |= at == hit.offset;
            let mut shown = Shown::new(source, record, event, facts, bodies);
            shown.context = at != hit.offset;
            read.push(shown);
            if found && after >= context.after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let (true, Some(first), Some(last)) = (found, read.first(), read.last()) else {
            return Err(format!("no record begins at byte {offset}"));
        };
        let (from, to) = (first.offset, last.offset + last.length);
        let joined = self.behind == Some((hit.source, from));
        self.behind = Some((hit.source, to));
        if self.context.any() {
            self.near.show(from, to);
        }
        Ok(Block { events: read, joined })
    }

    /// Where the neighbours above a hit begin.
    fn top(&self, bytes: &[u8], source: &Asked, offset: usize) -> usize {
        let mut at = offset;
        for _ in 0..self.context.before {
            if at == 0 {
                break;
            }
            let start = record::record_start(bytes, at - 1, &source.layout);
            if start >= at || self.near.has(start as u64) {
                break;
            }
            at = start;
        }
        at
    }
}

/// The run of hits of one source that begins at `index`.
fn near(hits: &[Hit], index: usize) -> Near {
    let source = hits[index].source;
    let len = hits[index..].iter().take_while(|h| h.source == source).count();
    let mut offsets: Vec<u64> = hits[index..index + len].iter().map(|h| h.offset).collect();
    offsets.sort_unstable();
    Near { until: index + len, hits: offsets, shown: BTreeMap::new() }
}

/// Line numbers of hits: from the columns of their segment, else counted. 0 where the source cannot be read.
pub fn lines(hits: &[Hit], sources: &[Asked]) -> Vec<u64> {
    let mut lines = vec![0u64; hits.len()];
    let mut by_source: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, hit) in hits.iter().enumerate() {
        by_source.entry(hit.source).or_default().push(i);
    }
    for (source, mut of_source) in by_source {
        of_source.sort_unstable_by_key(|i| hits[*i].offset);
        let source = &sources[source];
        for segment in &source.segments {
            let from = of_source.partition_point(|i| hits[*i].offset < segment.reference.from);
            let to = of_source.partition_point(|i| hits[*i].offset < segment.reference.to);
            // A segment that cannot be read leaves its hits to be counted.
            let _: Result<(), StoreError> = lines_of(source, segment, hits, of_source.get(from..to).unwrap_or(&[]), &mut lines);
        }
        if of_source.iter().all(|i| lines[*i] > 0) {
            continue;
        }
        let Ok(bytes) = source.bytes() else { continue };
        let mut at = 0;
        let mut line = 1;
        for i in of_source {
            let offset = (hits[i].offset as usize).min(bytes.len());
            // What the columns say saves counting from the start.
            if lines[i] == 0 {
                line += bytes[at..offset].par_chunks(1 << 20).map(events::count_lines).sum::<u64>();
                lines[i] = line;
            }
            (at, line) = (offset, lines[i]);
        }
    }
    lines
}

/// So many hits of a segment are counted to from the line that its rows know; for more, the column is read.
const COUNTED: usize = 64;

/// Finds the line numbers of some hits by the segment that they lie in.
fn lines_of(source: &Asked, segment: &Segment, hits: &[Hit], mine: &[usize], lines: &mut [u64]) -> Result<(), StoreError> {
    if mine.is_empty() {
        return Ok(());
    }
    let table = segment.rows()?;
    // Opening the columns costs more than the rest of a question about an id.
    if mine.len() <= COUNTED
        && !source.masked
        && let Ok(bytes) = source.bytes()
    {
        for i in mine {
            let offset = hits[*i].offset;
            let above = table.row_at(offset).and_then(|row| table.line_above(row));
            if let Some((from, line)) = above
                && let Some(between) = bytes.get(from as usize..offset as usize)
            {
                lines[*i] = line.saturating_add(events::count_lines(between));
            }
        }
        return Ok(());
    }
    let mut rows = RowSet::none(segment.len());
    let mut of_row: HashMap<usize, usize> = HashMap::with_capacity(mine.len());
    for i in mine {
        if let Some(row) = table.row_at(hits[*i].offset) {
            rows.insert(row);
            of_row.insert(row, *i);
        }
    }
    segment.column("_line", Some(&rows), |row, cell| {
        if let (Cell::UInt(line), Some(i)) = (cell, of_row.get(&row)) {
            lines[*i] = line;
        }
    })
}

#[cfg(test)]
mod tests;
