//! Reads a run's sources of events into ledgers.

use std::ops::ControlFlow;

use corr_evidence::compiled::Edges;
use corr_evidence::ledger::{Cite, SourceLedger};
use rayon::prelude::*;

use crate::query::extent;
use crate::query::sources::{Asked, Sources};
use crate::run::events::{self, Start};
use crate::run::source::NotRead;

/// One ledger for each source that could be read, in the order of sources. `window` bounds what is counted without ids.
pub fn ledgers(sources: &Sources, edges: &Edges, window: Option<(i64, i64)>) -> (Vec<SourceLedger>, Vec<NotRead>) {
    let read = |(number, source): (usize, &Asked)| match source.bytes() {
        Ok(bytes) => Ok(ledger(number, source, bytes, edges, window)),
        Err(why) => Err(NotRead { name: source.name.clone(), why: why.to_string(), next: String::new(), failure: true }),
    };
    let all: Vec<Result<SourceLedger, NotRead>> = sources.sources.par_iter().enumerate().map(read).collect();
    let mut ledgers = Vec::with_capacity(all.len());
    let mut not_read = Vec::new();
    for one in all {
        match one {
            Ok(ledger) => ledgers.push(ledger),
            Err(why) => not_read.push(why),
        }
    }
    for source in &sources.sources {
        if let Some(damage) = source.damage() {
            not_read.push(NotRead { name: source.name.clone(), why: damage.to_string(), next: String::new(), failure: true });
        }
    }
    (ledgers, not_read)
}

fn ledger(number: usize, source: &Asked, bytes: &[u8], edges: &Edges, window: Option<(i64, i64)>) -> SourceLedger {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    let empty = || SourceLedger::new(number, source.owner.worker.clone(), source.owner.role.clone());
    let part = |(from, to): (usize, usize)| {
        let mut part = empty();
        let order = events::order_before(bytes, &source.layout, source.timing(), from);
        events::each(bytes, &source.layout, source.timing(), Start { offset: from, line: 1, order }, to, |record, event, facts| {
            let cite = Cite {
                source: number,
                offset: facts.offset as u64,
                length: u32::try_from(facts.length).unwrap_or(u32::MAX),
                line: facts.line,
            };
            let format = record.format.map_or("text", |f| f.name);
            part.add(edges, format, event, facts.stamp, facts.order, cite, window);
            ControlFlow::Continue(())
        });
        (part, events::count_lines(bytes.get(from..to).unwrap_or_default()))
    };
    let parts: Vec<(SourceLedger, u64)> = extent::parts(bytes, 0, source).into_par_iter().map(part).collect();
    let mut whole = empty();
    let mut lines = 0;
    for (part, has) in parts {
        whole.append(part, lines);
        lines += has;
    }
    whole
}
