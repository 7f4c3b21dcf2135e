//! From when to when do sources have stamps?

use corr_parsers::record;
use rayon::prelude::*;

use super::sources::Asked;
use crate::run::events::{self, Start};

/// First and last stamp of a run: by the index where there is one, else by reading every record. Logs are written nearly in order, but not quite, and
/// exports may stand newest first: what is asked relative to the run must mean the same with an index and without.
pub fn extent(sources: &[Asked]) -> (Option<i64>, Option<i64>) {
    let found = sources.iter().map(Asked::extent).fold(Extent::default(), |found, (first, last)| found.with(Extent { first, last }));
    (found.first, found.last)
}

impl Asked {
    /// Its first and last stamp; it is read for them once.
    pub fn extent(&self) -> (Option<i64>, Option<i64>) {
        *self.extent.get_or_init(|| {
            let mut found = Extent::default();
            for segment in &self.segments {
                found = found.with(Extent { first: segment.reference.first, last: segment.reference.last });
            }
            if (self.unindexed || self.needs_tail())
                && let Ok(bytes) = self.bytes()
            {
                let from = if self.unindexed { 0 } else { self.indexed_to.min(bytes.len()) };
                found = found.with(read(bytes, from, self));
            }
            (found.first, found.last)
        })
    }
}

/// UTC nanoseconds of the earliest start and the latest end of some stamps.
#[derive(Clone, Copy, Default)]
struct Extent {
    first: Option<i64>,
    last: Option<i64>,
}

impl Extent {
    fn with(self, other: Extent) -> Extent {
        Extent { first: self.first.into_iter().chain(other.first).min(), last: self.last.max(other.last) }
    }
}

/// So many bytes are read by one thread at a time.
const CHUNK: usize = 8 << 20;

/// The stamps of the records from byte `from`, which begins one.
fn read(bytes: &[u8], from: usize, source: &Asked) -> Extent {
    let of = |(offset, end): (usize, usize)| {
        let mut found = Extent::default();
        let start = Start { offset, line: 0, order: None };
        events::each(bytes, &source.layout, source.timing(), start, end, |_, _, facts| {
            if let Some(stamp) = facts.stamp {
                found = found.with(Extent { first: Some(stamp.start), last: Some(stamp.end) });
            }
            std::ops::ControlFlow::Continue(())
        });
        found
    };
    parts(bytes, from, source).into_par_iter().map(of).reduce(Extent::default, Extent::with)
}

/// The source from byte `from`, which begins a record, in parts that threads can read apart: where the first record of each begins, and its end.
pub fn parts(bytes: &[u8], from: usize, source: &Asked) -> Vec<(usize, usize)> {
    let mut starts: Vec<usize> = vec![from];
    starts.extend((from + CHUNK..bytes.len()).step_by(CHUNK).map(|at| record::record_start(bytes, at, &source.layout)));
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    starts.iter().copied().zip(ends).collect()
}
