//! What of an old index is still true of a source that was written on: which segments, and where reading goes on.

use corr_parsers::record::{self, Layout};
use rayon::prelude::*;

use super::digest;
use super::manifest::{Entry, SegmentRef};

/// The segments of an entry as far as they hold for the source's bytes now, and the offset where reading goes on (the source's end if nothing
/// came). `None`: the source no longer begins with what was indexed.
pub fn kept(entry: &Entry, layout: &Layout, bytes: &[u8]) -> Option<(Vec<SegmentRef>, usize)> {
    let size = usize::try_from(entry.size).ok()?;
    // A source without segments was too small for them: there is nothing to keep.
    if size == 0 || bytes.len() < size || (entry.document && bytes.len() != size) || entry.segments.is_empty() {
        return None;
    }
    // Nothing but their digest says that the old bytes are the old ones; it is most of what re-indexing after growth costs.
    let unchanged = |s: &SegmentRef| {
        let part = bytes.get(s.from as usize..s.hashed_to as usize);
        part.is_some_and(|part| digest::of(part) == s.hash)
    };
    if !entry.segments.par_iter().all(unchanged) {
        return None;
    }
    let mut segments = entry.segments.clone();
    if bytes.len() == size {
        return Some((segments, size));
    }
    // The last record of the old bytes, as the old reader saw it, is read again: new lines may belong to it. If its line grew so that it now
    // continues the record before, that one is read again too.
    let old = &bytes[..size];
    let mut offset = record::record_start(old, size - 1, layout);
    let mut dropped = 1u32;
    while offset > 0 && record::record_start(bytes, offset, layout) != offset {
        offset = record::record_start(old, offset - 1, layout);
        dropped += 1;
    }
    while let Some(last) = segments.last_mut() {
        if last.rows > dropped {
            last.rows -= dropped;
            last.to = offset as u64;
            break;
        }
        dropped -= last.rows;
        segments.pop();
        if dropped == 0 {
            break;
        }
    }
    // A manifest that does not say one after the other is none to go on with.
    let goes_on = segments.last().is_none_or(|last| last.from <= last.to && last.to == offset as u64);
    (goes_on && (offset == 0) == segments.is_empty()).then_some((segments, offset))
}
