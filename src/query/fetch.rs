//! From hits back to their records: read again from the source, with line numbers and neighbours.

use std::collections::HashMap;
use std::ops::ControlFlow;

use corr_parsers::record;
use rayon::prelude::*;

use super::answer::Hit;
use super::plan::PlanError;
use super::sources::Asked;
use crate::render::events::Block;
use crate::render::shown::Shown;
use crate::run::events::{self, Start};
use crate::store::open::Cell;
use crate::store::rowset::RowSet;

/// How many records beside each hit are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    pub before: usize,
    pub after: usize,
}

/// Reads hits again, each with its neighbours, in the hits' order. A neighbour that a block just before has shown is not shown again.
pub fn blocks(hits: &[Hit], sources: &[Asked], context: Context, bodies: bool) -> Result<Vec<Block>, PlanError> {
    let lines = lines(hits, sources)?;
    let mut blocks: Vec<Block> = Vec::new();
    let mut behind: Option<(usize, u64)> = None;
    for (hit, line) in hits.iter().zip(lines) {
        let source = &sources[hit.source];
        let Ok(bytes) = source.bytes() else { continue };
        let start = Start { offset: hit.offset as usize, line, order: hit.order };
        let mut events = before(bytes, source, start, context.before, behind.filter(|b| b.0 == hit.source).map(|b| b.1), bodies);
        let mut taken = 0;
        let mut end = hit.offset;
        events::each(bytes, &source.layout, source.timing(), start, bytes.len(), |record, event, facts| {
            let mut shown = Shown::new(source, record, event, facts, bodies);
            shown.context = taken > 0;
            end = (facts.offset + facts.length) as u64;
            events.push(shown);
            taken += 1;
            if taken > context.after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if context.before + context.after > 0 {
            behind = Some((hit.source, end));
        }
        blocks.push(Block { events });
    }
    Ok(blocks)
}

/// Records above a hit, none of them above byte `floor`.
fn before(bytes: &[u8], source: &Asked, hit: Start, count: usize, floor: Option<u64>, bodies: bool) -> Vec<Shown> {
    let floor = floor.unwrap_or(0) as usize;
    let mut at = hit.offset;
    let mut starts = Vec::new();
    while starts.len() < count && at > floor {
        let start = record::record_start(bytes, at - 1, &source.layout);
        if start < floor || start >= at {
            break;
        }
        starts.push(start);
        at = start;
    }
    starts.reverse();
    let mut shown = Vec::new();
    for start in starts {
        let line = if hit.line > 0 { hit.line - events::count_lines(&bytes[start..hit.offset]) } else { 0 };
        let order = events::order_before(bytes, &source.layout, source.timing(), start);
        let one = events::one(bytes, &source.layout, source.timing(), Start { offset: start, line, order }, |record, event, facts| {
            let mut shown = Shown::new(source, record, event, facts, bodies);
            shown.context = true;
            shown
        });
        shown.extend(one);
    }
    shown
}

/// Line numbers of hits: from the columns of their segment, else counted.
fn lines(hits: &[Hit], sources: &[Asked]) -> Result<Vec<u64>, PlanError> {
    let mut lines = vec![0u64; hits.len()];
    let mut by_source: HashMap<usize, Vec<usize>> = HashMap::new();
    for (i, hit) in hits.iter().enumerate() {
        by_source.entry(hit.source).or_default().push(i);
    }
    for (source, mut of_source) in by_source {
        of_source.sort_by_key(|i| hits[*i].offset);
        let source = &sources[source];
        let mut open: Vec<usize> = Vec::new();
        for i in of_source {
            if source.segments.iter().all(|s| hits[i].offset < s.reference.from || hits[i].offset >= s.reference.to) {
                open.push(i);
            }
        }
        for segment in &source.segments {
            let inside =
                |h: &Hit| std::ptr::eq(&sources[h.source], source) && h.offset >= segment.reference.from && h.offset < segment.reference.to;
            let mine: Vec<usize> = (0..hits.len()).filter(|i| inside(&hits[*i])).collect();
            if mine.is_empty() {
                continue;
            }
            let table = segment.rows()?;
            let mut rows = RowSet::none(segment.len());
            let mut of_row: HashMap<usize, usize> = HashMap::new();
            for i in mine {
                if let Some(row) = table.row_at(hits[i].offset) {
                    rows.insert(row);
                    of_row.insert(row, i);
                }
            }
            segment.column("_line", Some(&rows), |row, cell| {
                if let (Cell::UInt(line), Some(i)) = (cell, of_row.get(&row)) {
                    lines[*i] = line;
                }
            })?;
        }
        if let Ok(bytes) = source.bytes() {
            let mut at = 0;
            let mut line = 1;
            for i in open {
                let offset = (hits[i].offset as usize).min(bytes.len());
                line += bytes[at..offset].par_chunks(1 << 20).map(events::count_lines).sum::<u64>();
                at = offset;
                lines[i] = line;
            }
        }
    }
    Ok(lines)
}
