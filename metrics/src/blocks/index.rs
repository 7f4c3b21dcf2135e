//! Where the blocks of a store lie, and what is known of its series, as bytes: all of a store but its area.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::area::Pieces;
use super::plans::Plans;
use super::{Area, BLOCK, Block, Fall, Falls, Missing, Store};
use crate::kept::bytes::{Put, Take};
use crate::model::Sample;

/// Bytes that the index has of a block.
const ENTRY: usize = 34;

impl Store {
    /// The bytes that blocks lie in, in order.
    pub(crate) fn area(&self) -> impl Iterator<Item = &[u8]> {
        self.area.iter()
    }

    /// Writes everything but the area.
    pub(crate) fn put_index(&self, out: &mut Put) {
        out.count(self.plans.len());
        for (i, plan) in self.plans.iter().enumerate() {
            out.count(plan.end - plan.start);
            let (disordered, collisions) = self.oddities.get(i).copied().unwrap_or_default();
            out.number(disordered);
            out.number(collisions);
            self.falls.get(i).unwrap_or(&Falls::default()).put(out);
        }
        out.0.reserve(self.values.len() * ENTRY);
        for plan in &self.plans {
            for (block, values) in self.blocks_of(*plan).iter().zip(self.values_of(*plan)) {
                out.time(block.first);
                out.time(block.last);
                out.fixed(block.times);
                out.fixed(*values);
                out.0.extend_from_slice(&block.n.to_le_bytes());
            }
        }
    }

    /// The blocks of times and of values by their offset, each with its bytes: together all that is read of the area.
    pub(crate) fn apart(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts: BTreeSet<u64> = self.blocks.iter().map(|b| b.times).chain(self.values.iter().copied()).collect();
        let ends: Vec<u64> = starts.iter().copied().skip(1).chain([self.area.len()]).collect();
        starts.into_iter().zip(ends).map(|(start, end)| {
            let bytes = self.area.from(start);
            let len = usize::try_from(end.saturating_sub(start)).unwrap_or(bytes.len()).min(bytes.len());
            (start, bytes.get(..len).unwrap_or_default())
        })
    }

    /// How many bytes blocks lie in.
    pub(crate) fn area_len(&self) -> u64 {
        self.area.len()
    }

    /// A store whose area is the first `len` bytes of `area`. `None` if the index does not fit it.
    pub(crate) fn take_index(from: &mut Take<'_>, area: Area, len: usize) -> Option<Store> {
        let mut pieces = Pieces::default();
        pieces.push(area, 0, len);
        Store::take_index_of(from, pieces)
    }

    /// A store of whose area of `len` bytes some blocks are there. What is read beside them is missing, and there is nothing to read at it.
    pub(crate) fn take_index_apart(from: &mut Take<'_>, len: u64, there: &BTreeMap<u64, Arc<[u8]>>, missing: &Missing) -> Option<Store> {
        let there = there.iter().map(|(offset, bytes)| (*offset, bytes.clone()));
        Store::take_index_of(from, Pieces::some(len, there, missing.clone()))
    }

    fn take_index_of(from: &mut Take<'_>, area: Pieces) -> Option<Store> {
        let series = from.count()?;
        let mut store = Store { area, ..Store::default() };
        let mut counts = Vec::with_capacity(series);
        for _ in 0..series {
            // Blocks stand further on, and are counted against what is there when they are read.
            counts.push(usize::try_from(from.number()?).ok()?);
            store.oddities.push((from.number()?, from.number()?));
            store.falls.push(Falls::take(from)?);
        }
        let all = counts.iter().try_fold(0usize, |all, n| all.checked_add(*n))?;
        let mut bytes = Take(from.bytes(all.checked_mul(ENTRY)?)?);
        store.values.reserve_exact(all);
        let mut plans = Plans::default();
        let mut blocks = Vec::new();
        for count in counts {
            let mut before = 0;
            let start = store.values.len();
            blocks.clear();
            for _ in 0..count {
                let (first, last) = (bytes.time()?, bytes.time()?);
                let (times, values) = (bytes.fixed()?, bytes.fixed()?);
                let n = u16::from_le_bytes(bytes.bytes(2)?.try_into().ok()?);
                if n == 0 || usize::from(n) > BLOCK || times.max(values) >= store.area.len() {
                    return None;
                }
                blocks.push(Block { first, last, before, times, n });
                store.values.push(values);
                before += u64::from(n);
            }
            store.plans.push(plans.place(&blocks, start));
        }
        store.blocks = plans.blocks;
        Some(store)
    }
}

fn put_sample(out: &mut Put, sample: Sample) {
    out.time(sample.at);
    out.value(sample.value);
}

fn take_sample(from: &mut Take<'_>) -> Option<Sample> {
    Some(Sample { at: from.time()?, value: from.value()? })
}

impl Falls {
    fn put(&self, out: &mut Put) {
        out.maybe(self.kept.as_ref(), |out, kept| {
            out.count(kept.len());
            for fall in kept {
                put_sample(out, fall.before);
                put_sample(out, fall.after);
            }
        });
        out.number(self.count);
        out.number(self.seen);
        out.maybe(self.last, put_sample);
        out.count(self.unknown.len());
        self.unknown.iter().for_each(|&at| out.time(at));
        out.number(self.unknown_count);
    }

    fn take(from: &mut Take<'_>) -> Option<Falls> {
        let fall = |from: &mut Take<'_>| Some(Fall { before: take_sample(from)?, after: take_sample(from)? });
        Some(Falls {
            kept: from.maybe(|from| from.many(fall))?,
            count: from.number()?,
            seen: from.number()?,
            last: from.maybe(take_sample)?,
            unknown: from.many(Take::time)?,
            unknown_count: from.number()?,
        })
    }
}
