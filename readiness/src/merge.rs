//! Several sources of one process (stdout and stderr, a log and its next file) into one order, by time.

use std::iter::Peekable;

use corr_parsers::stamp::{Order, SECOND};

use crate::observe::Observation;

/// Does a source stand with its newest record first (`journalctl -r`)? Then it is to be fed from its end. By whole seconds: smaller steps
/// back are journald's own.
pub fn is_reversed<'o>(source: impl IntoIterator<Item = &'o Observation>) -> bool {
    let (mut back, mut on) = (0u64, 0u64);
    let mut last = None;
    for wall in source.into_iter().filter_map(|seen| seen.wall) {
        if let Some(last) = last.replace(wall) {
            match wall.order(&last) {
                Order::Before if last.start.saturating_sub(wall.start) >= SECOND / 10 => back += 1,
                Order::After => on += 1,
                _ => {}
            }
        }
    }
    back > on
}

/// Gives observations by the stamps of their sources. Of each source the order is kept: a record without a stamp, or with one that
/// goes back, stands behind the record before it.
#[derive(Debug)]
pub struct Merge<I: Iterator<Item = Observation>> {
    sources: Vec<(Peekable<I>, i64)>,
}

impl<I: Iterator<Item = Observation>> Merge<I> {
    /// Of any number of sources. Where stamps are the same, the earlier source comes first.
    pub fn new(sources: impl IntoIterator<Item = I>) -> Merge<I> {
        Merge { sources: sources.into_iter().map(|source| (source.peekable(), i64::MIN)).collect() }
    }
}

impl<I: Iterator<Item = Observation>> Iterator for Merge<I> {
    type Item = Observation;

    fn next(&mut self) -> Option<Observation> {
        let mut first: Option<(usize, i64)> = None;
        for (at, (source, last)) in self.sources.iter_mut().enumerate() {
            let Some(next) = source.peek() else { continue };
            let stamp = next.wall.map_or(*last, |wall| wall.start.max(*last));
            if first.is_none_or(|(_, earliest)| stamp < earliest) {
                first = Some((at, stamp));
            }
        }
        let (at, stamp) = first?;
        let (source, last) = self.sources.get_mut(at)?;
        *last = stamp;
        source.next()
    }
}
