//! From samples, series by series or mixed, to blocks.

use std::collections::HashMap;

use super::area::{Growing, Pieces, Spilling};
use super::code::{read_times, read_values, write_times, write_values};
use super::plans::Plans;
use super::{BLOCK, Block, Falls, Store};

/// Takes samples in any order of series. Memory holds what is in no block yet, where the blocks lie, and their bytes up to a limit; behind it
/// bytes are spilled ([`Spilling`]).
#[derive(Debug, Default)]
pub struct Writer {
    open: Vec<Open>,
    out: Out,
}

/// Where blocks go.
#[derive(Debug, Default)]
struct Out {
    area: Growing,
    times: Shared,
    scratch: Vec<i64>,
}

/// A series of which more may come.
#[derive(Debug, Default)]
struct Open {
    times: Vec<i64>,
    values: Vec<f64>,
    blocks: Blocks,
    falls: Falls,
    last: Option<i64>,
    disordered: u64,
    collisions: u64,
    /// How the values of the last block were written.
    hint: u8,
}

/// What was written of a series: of each block the number of its times and where its values lie.
#[derive(Debug, Default)]
struct Blocks {
    times: Vec<u32>,
    values: Vec<u64>,
}

/// The times of a block, written.
#[derive(Clone, Copy, Debug)]
struct Times {
    first: i64,
    last: i64,
    at: u64,
    n: u16,
    /// Each is after the one before.
    rising: bool,
}

/// All times that were written, by their number, and what the latest were.
#[derive(Debug, Default)]
struct Shared {
    written: Vec<Times>,
    /// Those from the number `since` on.
    latest: Vec<Box<[i64]>>,
    since: usize,
    /// Numbers by the first time, the last and how many there are.
    known: HashMap<(i64, i64, usize), usize>,
}

/// So many blocks of times are remembered: 16 MiB of them.
const REMEMBERED: usize = 1 << 14;

impl Writer {
    /// One that spills as it is told.
    pub fn spilling(how: Spilling) -> Writer {
        Writer { out: Out { area: Growing::new(Some(how)), ..Out::default() }, ..Writer::default() }
    }

    /// Takes a sample. `series` count from 0 without gaps.
    pub fn push(&mut self, series: u32, at: i64, value: f64) {
        self.extend(series, &[at], &[value]);
    }

    /// Takes samples of one series; of slices of different length the shorter counts.
    pub fn extend(&mut self, series: u32, times: &[i64], values: &[f64]) {
        let series = series as usize;
        if self.open.len() <= series {
            self.open.resize_with(series + 1, Open::default);
        }
        let n = times.len().min(values.len());
        let (mut times, mut values) = (&times[..n], &values[..n]);
        let Writer { open, out } = self;
        let Some(open) = open.get_mut(series) else { return };
        while !times.is_empty() {
            let take = (BLOCK - open.times.len()).min(times.len());
            let (now, their) = (&times[..take], &values[..take]);
            (times, values) = (&times[take..], &values[take..]);
            if take == BLOCK {
                // A whole block needs no buffer, which a series of few samples then never has at its full size.
                open.block(now, their, out);
                continue;
            }
            open.times.extend_from_slice(now);
            open.values.extend_from_slice(their);
            if open.times.len() == BLOCK {
                open.close(out);
            }
        }
    }

    /// Everything written, series in order of time.
    pub fn finish(mut self, series: usize) -> Store {
        if self.open.len() < series {
            self.open.resize_with(series, Open::default);
        }
        for open in &mut self.open {
            open.close(&mut self.out);
            (open.times, open.values) = (Vec::new(), Vec::new());
        }
        let disordered: Vec<usize> = (0..self.open.len()).filter(|&i| self.open[i].disordered > 0).collect();
        if !disordered.is_empty() {
            let written = self.out.area.seal().clone();
            disordered.into_iter().for_each(|i| self.sort(i, &written));
        }
        let mut store = Store::default();
        store.values.reserve_exact(self.open.iter().map(|o| o.blocks.values.len()).sum());
        let mut plans = Plans::default();
        let mut blocks: Vec<Block> = Vec::new();
        for open in self.open {
            blocks.clear();
            for times in open.blocks.times.iter().filter_map(|&number| self.out.times.written.get(number as usize)) {
                let before = blocks.last().map_or(0, |b| b.before + u64::from(b.n));
                blocks.push(Block { first: times.first, last: times.last, before, times: times.at, n: times.n });
            }
            store.plans.push(plans.place(&blocks, store.values.len()));
            store.values.extend(open.blocks.values);
            store.falls.push(open.falls);
            store.oddities.push((open.disordered, open.collisions));
        }
        store.blocks = plans.blocks;
        (store.area, store.damage) = self.out.area.finish();
        store
    }

    /// Writes a series again, by time; samples of one time stay in the order in which they came.
    fn sort(&mut self, series: usize, written: &Pieces) {
        let old = std::mem::take(&mut self.open[series]);
        let mut samples: Vec<(i64, f64)> = Vec::new();
        let (mut times, mut values) = (Vec::new(), Vec::new());
        for (number, at) in old.blocks.times.iter().zip(&old.blocks.values) {
            let Some(block) = self.out.times.written.get(*number as usize) else { continue };
            let n = usize::from(block.n);
            let (t, v) = (written.from(block.at), written.from(*at));
            if read_times(t, n, &mut times) && read_values(v, n, &mut self.out.scratch, &mut values) {
                samples.extend(times.iter().copied().zip(values.iter().copied()));
            }
        }
        samples.sort_by_key(|(at, _)| *at);
        let times: Vec<i64> = samples.iter().map(|(at, _)| *at).collect();
        let values: Vec<f64> = samples.iter().map(|(_, v)| *v).collect();
        self.extend(series as u32, &times, &values);
        if let Some(open) = self.open.get_mut(series) {
            open.close(&mut self.out);
            open.disordered = old.disordered;
        }
    }
}

impl From<Store> for Writer {
    /// Goes on where a store was finished.
    fn from(store: Store) -> Writer {
        let count = u32::try_from(store.series()).unwrap_or(u32::MAX);
        let written = |b: &Block| Times { first: b.first, last: b.last, at: b.times, n: b.n, rising: false };
        let written: Vec<Times> = store.blocks.iter().map(written).collect();
        let open = (0..count).map(|i| {
            let (disordered, collisions) = store.oddities(i);
            let first = store.plans.get(i as usize).map_or(0, |p| p.start);
            let numbers = (first..).map_while(|n| u32::try_from(n).ok());
            let (times, values): (Vec<u32>, Vec<u64>) = numbers.zip(store.values(i)).unzip();
            let last = store.blocks(i).last().map(|b| b.last);
            Open { blocks: Blocks { times, values }, falls: store.fall(i), last, disordered, collisions, ..Open::default() }
        });
        let open = open.collect();
        let times = Shared { since: written.len(), written, ..Shared::default() };
        Writer { open, out: Out { area: Growing::after(store.area, store.damage), times, scratch: Vec::new() } }
    }
}

impl Open {
    /// Writes what it holds as a block.
    fn close(&mut self, out: &mut Out) {
        let (mut times, mut values) = (std::mem::take(&mut self.times), std::mem::take(&mut self.values));
        self.block(&times, &values, out);
        times.clear();
        values.clear();
        (self.times, self.values) = (times, values);
    }

    /// Writes a block of samples.
    fn block(&mut self, times: &[i64], values: &[f64], out: &mut Out) {
        let Out { area, times: shared, scratch } = out;
        // Series that were scraped together go on alike.
        let next = self.blocks.times.last().map(|&number| number as usize + 1);
        let Some((number, rising)) = shared.place(times, next, scratch, area) else { return };
        self.order(times, rising);
        self.falls.extend(times, values);
        self.blocks.times.push(number);
        self.blocks.values.push(area.len());
        write_values(values, &mut self.hint, scratch, &mut area.tail);
        area.relieve();
    }

    /// Counts samples that are not after the one before.
    fn order(&mut self, times: &[i64], rising: bool) {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return };
        if rising && self.last.is_none_or(|before| before < first) {
            self.last = Some(last);
            return;
        }
        for &at in times {
            match self.last {
                Some(last) if at < last => self.disordered += 1,
                Some(last) if at == last => self.collisions += 1,
                _ => {}
            }
            self.last = Some(self.last.map_or(at, |last| last.max(at)));
        }
    }
}

impl Shared {
    /// The number of these times, which perhaps are those of number `next`, and whether each is after the one before. They are written if
    /// they were not lately. `None` for no times, and for more blocks than can be numbered, which are lost and said to be.
    fn place(&mut self, times: &[i64], next: Option<usize>, scratch: &mut Vec<i64>, area: &mut Growing) -> Option<(u32, bool)> {
        let (&first, &last) = (times.first()?, times.last()?);
        let key = (first, last, times.len());
        let there = |number: &usize| number.checked_sub(self.since).and_then(|i| self.latest.get(i)).is_some_and(|t| **t == *times);
        let found = next.filter(there).or_else(|| self.known.get(&key).copied().filter(there));
        if let Some(number) = found {
            return Some((u32::try_from(number).ok()?, self.written.get(number)?.rising));
        }
        let (Ok(number), Ok(n)) = (u32::try_from(self.written.len()), u16::try_from(times.len())) else {
            area.damage.get_or_insert_with(|| "more blocks of times than can be numbered".into());
            return None;
        };
        if self.latest.len() >= REMEMBERED {
            self.known.clear();
            self.latest.clear();
            self.since = self.written.len();
        }
        let rising = times.windows(2).all(|w| w[0] < w[1]);
        self.written.push(Times { first, last, at: area.len(), n, rising });
        self.known.insert(key, self.written.len() - 1);
        self.latest.push(times.into());
        write_times(times, scratch, &mut area.tail);
        Some((number, rising))
    }
}
