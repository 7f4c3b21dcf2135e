//! From samples, series by series or mixed, to blocks.

use std::collections::HashMap;

use super::area::{Growing, Pieces, Spilling};
use super::code::{read_times, read_values, write_times, write_values};
use super::{BLOCK, Block, Falls, Store};

/// Takes samples in any order of series. Memory holds what is in no block yet, where the blocks lie, and their bytes up to a limit; behind it
/// bytes are spilled ([`Spilling`]).
#[derive(Debug, Default)]
pub struct Writer {
    area: Growing,
    open: Vec<Open>,
    times: Shared,
    scratch: Vec<i64>,
}

/// A series of which more may come.
#[derive(Debug, Default)]
struct Open {
    times: Vec<i64>,
    values: Vec<f64>,
    blocks: Vec<Block>,
    falls: Falls,
    n: u64,
    last: Option<i64>,
    disordered: u64,
    collisions: u64,
    /// How the values of the last block were written.
    hint: u8,
}

/// Where times lie in the area, and the times.
type Placed = (u64, Box<[i64]>);

/// Where times were written lately, by the first, the last and how many they are.
#[derive(Debug, Default)]
struct Shared {
    at: HashMap<(i64, i64, usize), Placed>,
}

impl Open {
    /// Counts samples that are not after the one before.
    fn order(&mut self, times: &[i64]) {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return };
        if self.last.is_none_or(|before| before < first) && times.windows(2).all(|w| w[0] < w[1]) {
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

/// So many blocks of times are remembered: 16 MiB of them.
const REMEMBERED: usize = 1 << 14;

impl Writer {
    /// One that spills as it is told.
    pub fn spilling(how: Spilling) -> Writer {
        Writer { area: Growing::new(Some(how)), ..Writer::default() }
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
        let Writer { area, open, times: shared, scratch } = self;
        let Some(open) = open.get_mut(series) else { return };
        while !times.is_empty() {
            let take = (BLOCK - open.times.len()).min(times.len());
            let (now, their) = (&times[..take], &values[..take]);
            (times, values) = (&times[take..], &values[take..]);
            open.order(now);
            open.falls.extend(now, their);
            open.n += take as u64;
            if take == BLOCK {
                // A whole block needs no buffer, which a series of few samples then never has at its full size.
                open.blocks.extend(block((now, their), open.n, &mut open.hint, shared, scratch, area));
                continue;
            }
            open.times.extend_from_slice(now);
            open.values.extend_from_slice(their);
            if open.times.len() == BLOCK {
                open.close(shared, scratch, area);
            }
        }
    }

    /// Writes what a series holds open as a block.
    fn close(&mut self, series: usize) {
        if let Some(open) = self.open.get_mut(series) {
            open.close(&mut self.times, &mut self.scratch, &mut self.area);
        }
    }

    /// Everything written, series in order of time.
    pub fn finish(mut self, series: usize) -> Store {
        if self.open.len() < series {
            self.open.resize_with(series, Open::default);
        }
        for i in 0..self.open.len() {
            self.close(i);
            if let Some(open) = self.open.get_mut(i) {
                (open.times, open.values) = (Vec::new(), Vec::new());
            }
        }
        let disordered: Vec<usize> = (0..self.open.len()).filter(|&i| self.open[i].disordered > 0).collect();
        if !disordered.is_empty() {
            let written = self.area.seal().clone();
            disordered.into_iter().for_each(|i| self.sort(i, &written));
        }
        let mut blocks = Vec::with_capacity(self.open.iter().map(|o| o.blocks.len()).sum());
        let mut ends = Vec::with_capacity(self.open.len());
        let mut falls = Vec::with_capacity(self.open.len());
        let mut oddities = Vec::with_capacity(self.open.len());
        for open in self.open {
            blocks.extend(open.blocks);
            ends.push(blocks.len());
            falls.push(open.falls);
            oddities.push((open.disordered, open.collisions));
        }
        let (area, damage) = self.area.finish();
        Store { area, blocks, ends, falls, oddities, damage }
    }

    /// Writes a series again, by time; samples of one time stay in the order in which they came.
    fn sort(&mut self, series: usize, written: &Pieces) {
        let old = std::mem::take(&mut self.open[series]);
        let mut samples: Vec<(i64, f64)> = Vec::with_capacity(old.n as usize);
        let (mut times, mut values) = (Vec::new(), Vec::new());
        for block in &old.blocks {
            let n = usize::from(block.n);
            let (t, v) = (written.from(block.times), written.from(block.values));
            if read_times(t, n, &mut times) && read_values(v, n, &mut self.scratch, &mut values) {
                samples.extend(times.iter().copied().zip(values.iter().copied()));
            }
        }
        samples.sort_by_key(|(at, _)| *at);
        let times: Vec<i64> = samples.iter().map(|(at, _)| *at).collect();
        let values: Vec<f64> = samples.iter().map(|(_, v)| *v).collect();
        self.extend(series as u32, &times, &values);
        self.close(series);
        self.open[series].disordered = old.disordered;
    }
}

impl From<Store> for Writer {
    /// Goes on where a store was finished.
    fn from(store: Store) -> Writer {
        let count = u32::try_from(store.series()).unwrap_or(u32::MAX);
        let open = (0..count).map(|i| {
            let (disordered, collisions) = store.oddities(i);
            let blocks = store.blocks(i).to_vec();
            let last = blocks.last().map(|b| b.last);
            Open { blocks, falls: store.fall(i), n: store.len(i), last, disordered, collisions, ..Open::default() }
        });
        Writer { open: open.collect(), area: Growing::after(store.area, store.damage), ..Writer::default() }
    }
}

impl Open {
    /// Writes what it holds as a block.
    fn close(&mut self, shared: &mut Shared, scratch: &mut Vec<i64>, area: &mut Growing) {
        self.blocks.extend(block((&self.times, &self.values), self.n, &mut self.hint, shared, scratch, area));
        self.times.clear();
        self.values.clear();
    }
}

/// Writes a block of samples, the last of which is the series' `end`-th.
fn block(
    (times, values): (&[i64], &[f64]),
    end: u64,
    hint: &mut u8,
    shared: &mut Shared,
    scratch: &mut Vec<i64>,
    area: &mut Growing,
) -> Option<Block> {
    let (first, last) = (*times.first()?, *times.last()?);
    let n = u16::try_from(times.len()).ok()?;
    let at = shared.place(times, scratch, area);
    let start = area.len();
    write_values(values, hint, scratch, &mut area.tail);
    area.relieve();
    Some(Block { first, last, before: end - u64::from(n), times: at, values: start, n })
}

impl Shared {
    /// Where the same times lie already, or where they are written now.
    fn place(&mut self, times: &[i64], scratch: &mut Vec<i64>, area: &mut Growing) -> u64 {
        let key = (times.first().copied().unwrap_or(0), times.last().copied().unwrap_or(0), times.len());
        if let Some((at, there)) = self.at.get(&key)
            && **there == *times
        {
            return *at;
        }
        if self.at.len() >= REMEMBERED {
            self.at.clear();
        }
        let at = area.len();
        write_times(times, scratch, &mut area.tail);
        self.at.insert(key, (at, times.into()));
        at
    }
}
