//! From blocks to samples.

use std::hint::black_box;

use super::area::Pieces;
use super::code::{read_times, read_value, read_values};
use super::plans::Plan;
use super::{BLOCK, Block, Fall, Falls};
use crate::model::Sample;

/// The samples of all series of a capture.
#[derive(Debug, Default)]
pub struct Store {
    pub(super) area: Pieces,
    /// Blocks of times, once for series that share all of them.
    pub(super) blocks: Vec<Block>,
    /// Offsets in the area of the values of each series' blocks.
    pub(super) values: Vec<u64>,
    pub(super) plans: Vec<Plan>,
    pub(super) falls: Vec<Falls>,
    /// Samples out of order, and those at a time that is there already.
    pub(super) oddities: Vec<(u64, u64)>,
    pub(super) damage: Option<String>,
}

impl Store {
    pub(super) fn fall(&self, series: u32) -> Falls {
        self.falls.get(series as usize).cloned().unwrap_or_default()
    }

    /// Why samples are missing that were there: those that were spilled and cannot be read back.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// How many series there are.
    pub fn series(&self) -> usize {
        self.plans.len()
    }

    /// Bytes that samples take.
    pub fn bytes(&self) -> usize {
        self.area.len() as usize + std::mem::size_of_val(&self.blocks[..]) + std::mem::size_of_val(&self.values[..])
    }

    fn plan(&self, series: u32) -> Plan {
        self.plans.get(series as usize).copied().unwrap_or_default()
    }

    /// The blocks of a series, by time.
    pub fn blocks(&self, series: u32) -> &[Block] {
        self.blocks_of(self.plan(series))
    }

    pub(super) fn blocks_of(&self, plan: Plan) -> &[Block] {
        self.blocks.get(plan.start..plan.end).unwrap_or(&[])
    }

    /// Where the values of each block of a series lie.
    pub(super) fn values(&self, series: u32) -> &[u64] {
        self.values_of(self.plan(series))
    }

    pub(super) fn values_of(&self, plan: Plan) -> &[u64] {
        self.values.get(plan.values..plan.values + (plan.end - plan.start)).unwrap_or(&[])
    }

    /// How many samples a series has.
    pub fn len(&self, series: u32) -> u64 {
        self.blocks(series).last().map_or(0, |b| b.before + u64::from(b.n))
    }

    /// No series.
    pub fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }

    /// How often a series fell.
    pub fn fall_count(&self, series: u32) -> u64 {
        self.falls.get(series as usize).map_or(0, Falls::count)
    }

    /// Every fall of a series by time; `None` if it fell too often for a counter.
    pub fn falls(&self, series: u32) -> Option<&[Fall]> {
        self.falls.get(series as usize).map_or(Some(&[]), Falls::all)
    }

    /// Times at which a series is NaN; `None` if it is so too often for a counter.
    pub fn unknown(&self, series: u32) -> Option<&[i64]> {
        self.falls.get(series as usize).map_or(Some(&[]), Falls::unknown)
    }

    /// Samples of a series that came before an earlier one and were sorted in, and those at a time that it has already.
    pub fn oddities(&self, series: u32) -> (u64, u64) {
        self.oddities.get(series as usize).copied().unwrap_or((0, 0))
    }

    /// A reader that keeps its buffers: for many questions.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { store: self, recent: Vec::new() }
    }

    /// The first sample of a series.
    pub fn first(&self, series: u32) -> Option<Sample> {
        self.cursor().get(series, 0)
    }

    /// The last sample of a series.
    pub fn last(&self, series: u32) -> Option<Sample> {
        self.cursor().get(series, self.len(series).checked_sub(1)?)
    }

    /// All samples of a series, by time.
    pub fn all(&self, series: u32) -> Vec<Sample> {
        self.between(series, i64::MIN, i64::MAX)
    }

    /// The samples with `from <= at <= to`, by time.
    pub fn between(&self, series: u32, from: i64, to: i64) -> Vec<Sample> {
        let blocks = self.blocks(series);
        let mut out = Vec::new();
        let (mut times, mut values, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        let start = blocks.partition_point(|b| b.last < from);
        for (block, at) in blocks.iter().zip(self.values(series)).skip(start) {
            if block.first > to {
                break;
            }
            let n = usize::from(block.n);
            // Both are looked for: of an area that is there in part it is known at once what is missing.
            let (of_times, of_values) = (self.area.from(block.times), self.area.from(*at));
            if read_times(of_times, n, &mut times) && read_values(of_values, n, &mut scratch, &mut values) {
                let samples = times.iter().zip(&values).filter(|(at, _)| (from..=to).contains(*at));
                out.extend(samples.map(|(&at, &value)| Sample { at, value }));
            }
        }
        out
    }

    /// The times of a block.
    pub fn times_of(&self, block: &Block) -> Vec<i64> {
        let mut times = Vec::new();
        if read_times(self.area.from(block.times), usize::from(block.n), &mut times) { times } else { Vec::new() }
    }

    /// The distinct times of some series, by time.
    pub fn times(&self, series: impl Iterator<Item = u32>) -> Vec<i64> {
        let mut seen = std::collections::HashSet::new();
        let (mut times, mut out) = (Vec::new(), Vec::new());
        for block in series.flat_map(|s| self.blocks(s)) {
            if seen.insert((block.times, block.n)) && read_times(self.area.from(block.times), usize::from(block.n), &mut times) {
                out.extend_from_slice(&times);
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }
}

/// Finds samples; blocks whose times it decoded lately stay decoded. Of values only the one that is asked for is.
#[derive(Debug)]
pub struct Cursor<'s> {
    store: &'s Store,
    recent: Vec<Recent>,
}

/// Times with the place of their block in the store.
#[derive(Clone, Debug, Default)]
struct Recent {
    of: Option<usize>,
    times: Vec<i64>,
}

/// So many blocks stay decoded: series that were scraped together share the blocks of their times, 256 of which are nine hours at one a second.
const KEPT: usize = 256;

impl<'s> Cursor<'s> {
    /// Whose samples it finds.
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// The times of the block at a place in the store's table; none if its bytes hold none.
    fn times(&mut self, place: usize) -> &[i64] {
        if self.recent.is_empty() {
            self.recent.resize_with(KEPT, Recent::default);
        }
        let Some(recent) = self.recent.get_mut(place % KEPT) else { return &[] };
        if recent.of != Some(place) {
            recent.of = Some(place);
            let block = self.store.blocks.get(place);
            if !block.is_some_and(|b| read_times(self.store.area.from(b.times), usize::from(b.n), &mut recent.times)) {
                recent.times.clear();
            }
        }
        &recent.times
    }

    /// Ordinal of the first sample at or after `time`: the number of samples before it.
    pub fn lower(&mut self, series: u32, time: i64) -> u64 {
        let blocks = self.store.blocks(series);
        let i = blocks.partition_point(|b| b.last < time);
        match blocks.get(i) {
            None => self.store.len(series),
            Some(block) if block.first >= time => block.before,
            Some(block) => block.before + self.times(self.store.plan(series).start + i).partition_point(|&t| t < time) as u64,
        }
    }

    /// Ordinal of the first sample after `time`.
    pub fn upper(&mut self, series: u32, time: i64) -> u64 {
        time.checked_add(1).map_or_else(|| self.store.len(series), |next| self.lower(series, next))
    }

    /// The sample of an ordinal.
    pub fn get(&mut self, series: u32, ordinal: u64) -> Option<Sample> {
        let found = self.find(series, ordinal)?;
        self.sample(found)
    }

    /// Samples by series and ordinal. None waits until the memory of another is there, so that many take little longer than one.
    pub fn many<const N: usize>(&mut self, of: [(u32, u64); N]) -> [Option<Sample>; N] {
        let found = of.map(|(series, ordinal)| self.find(series, ordinal));
        // The first byte of each is read before what it is decides anything.
        black_box(found.map(|found| found.and_then(|f| f.values.first().copied())));
        found.map(|found| self.sample(found?))
    }

    /// Where a sample is.
    fn find(&self, series: u32, ordinal: u64) -> Option<Found<'s>> {
        let (store, plan) = (self.store, self.store.plan(series));
        let blocks = store.blocks.get(plan.start..plan.end)?;
        let holds = |b: &Block| (b.before..b.before + u64::from(b.n)).contains(&ordinal);
        // All blocks but the last are full, unless a capture was gone on with.
        let full = usize::try_from(ordinal).ok()? / BLOCK;
        let place = match blocks.get(full).is_some_and(holds) {
            true => full,
            false => blocks.partition_point(|b| b.before + u64::from(b.n) <= ordinal),
        };
        let block = blocks.get(place)?;
        let i = usize::try_from(ordinal.checked_sub(block.before)?).ok()?;
        Some(Found { place: plan.start + place, block, i, values: store.area.from(*store.values.get(plan.values + place)?) })
    }

    fn sample(&mut self, Found { place, block, i, values }: Found<'_>) -> Option<Sample> {
        let value = read_value(values, i, usize::from(block.n))?;
        let at = match i {
            0 => block.first,
            _ => *self.times(place).get(i)?,
        };
        Some(Sample { at, value })
    }
}

/// A sample that is the `i`-th of a block.
#[derive(Clone, Copy)]
struct Found<'s> {
    /// The block's place in the store's table.
    place: usize,
    block: &'s Block,
    i: usize,
    /// From where its values lie.
    values: &'s [u8],
}

#[cfg(test)]
mod tests {
    use super::super::Writer;
    use proptest::prelude::*;

    #[test]
    fn series_scraped_together_share_their_times() {
        let times: Vec<i64> = (0..1000).map(|i| i * 1_000_000_007).collect();
        let mut alone = Writer::default();
        let mut both = Writer::default();
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        alone.extend(0, &times, &values);
        both.extend(0, &times, &values);
        both.extend(1, &times, &values);
        let (alone, both) = (alone.finish(1), both.finish(2));
        assert_eq!(both.blocks(0)[3].times, both.blocks(1)[3].times);
        assert_eq!(both.all(1), alone.all(0));
        assert_eq!(both.times(0..2), times);
    }

    #[test]
    fn more_blocks_than_stay_decoded_are_read_in_any_order() {
        let mut writer = Writer::default();
        for series in 0..3u32 {
            for i in 0..40_000i64 {
                writer.push(series, i * 1000 + i % 7 * i64::from(series), f64::from(series) + i as f64);
            }
        }
        let store = writer.finish(3);
        assert!((0..3).map(|s| store.blocks(s).len()).sum::<usize>() > 3 * super::KEPT);
        let all: Vec<_> = (0..3).map(|s| store.all(s)).collect();
        let mut cursor = store.cursor();
        let mut random = 1u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (series, i) = ((random >> 40) as u32 % 3, (random >> 20) % 40_000);
            let sample = all[series as usize][i as usize];
            assert_eq!(cursor.get(series, i), Some(sample));
            assert_eq!(cursor.lower(series, sample.at), i);
        }
    }

    proptest! {
        #[test]
        fn samples_in_any_order_come_back_by_time(
            rows in prop::collection::vec((0u32..3, -50i64..50, any::<f64>()), 0..900),
            (from, to) in (-60i64..60, -60i64..60),
        ) {
            let mut writer = Writer::default();
            rows.iter().for_each(|&(series, at, value)| writer.push(series, at, value));
            let store = writer.finish(3);
            for series in 0..3 {
                let mut want: Vec<(i64, u64)> = rows.iter().filter(|r| r.0 == series).map(|r| (r.1, r.2.to_bits())).collect();
                want.sort_by_key(|(at, _)| *at);
                let got: Vec<(i64, u64)> = store.all(series).iter().map(|s| (s.at, s.value.to_bits())).collect();
                prop_assert_eq!(&got, &want);
                prop_assert_eq!(store.len(series), want.len() as u64);
                let inside: Vec<(i64, u64)> = want.iter().copied().filter(|(at, _)| (from..=to).contains(at)).collect();
                let between: Vec<(i64, u64)> = store.between(series, from, to).iter().map(|s| (s.at, s.value.to_bits())).collect();
                prop_assert_eq!(between, inside);
                let mut cursor = store.cursor();
                prop_assert_eq!(cursor.lower(series, from), want.iter().filter(|(at, _)| *at < from).count() as u64);
                prop_assert_eq!(cursor.upper(series, from), want.iter().filter(|(at, _)| *at <= from).count() as u64);
                for (i, (at, bits)) in want.iter().enumerate() {
                    let sample = cursor.get(series, i as u64).unwrap();
                    prop_assert_eq!((sample.at, sample.value.to_bits()), (*at, *bits));
                    let [here, over] = cursor.many([(series, i as u64), (series, want.len() as u64)]);
                    prop_assert_eq!((here.map(|s| (s.at, s.value.to_bits())), over), (Some((*at, *bits)), None));
                }
                prop_assert_eq!(cursor.get(series, want.len() as u64), None);
            }
        }
    }
}
