//! Which rows are copies of others, over the files of a capture that was not finished, or that was finished wrongly.
//!
//! A killed scraper leaves rows in a part and in what the part was synced into, and the official compaction then writes both. A sample counts
//! as often as it stands in the one file in which it stands most; in a file that was compacted, a scrape whose every row stands n times was
//! written n times. Files are held as blocks and merged series by series, which costs the blocks of all files and one series at a time.

use std::collections::HashMap;

use super::table::Table;
use crate::blocks::Store;
use crate::model::Sample;

/// A file's rows.
#[derive(Debug)]
pub struct Part {
    pub key: String,
    pub rows: u64,
    /// Written by a compaction, which copies.
    pub compacted: bool,
    pub samples: Store,
}

/// Rows of several files, each sample as often as it was taken.
#[derive(Debug)]
pub struct Merged {
    pub parts: Vec<Part>,
    /// How often every row of a scrape stands in a compacted file, where that is more than once: by part, endpoint and time.
    copies: HashMap<(usize, u32, i64), u32>,
}

impl Merged {
    /// Looks for scrapes that stand several times in one file.
    pub fn new(parts: Vec<Part>, table: &Table) -> Merged {
        let mut copies = HashMap::new();
        for (p, part) in parts.iter().enumerate() {
            let repeats = (0..series_count(&part.samples)).any(|s| part.samples.oddities(s).1 > 0);
            if !part.compacted || !repeats {
                continue;
            }
            for (s, series) in table.series.iter().enumerate() {
                let Ok(s) = u32::try_from(s) else { break };
                for (at, values) in by_time(&part.samples.all(s)) {
                    let least = counted(values).of.iter().map(|(_, n)| *n).min().unwrap_or(1);
                    let known = copies.entry((p, series.endpoint, at)).or_insert(least);
                    *known = (*known).min(least);
                }
            }
        }
        copies.retain(|_, n| *n > 1);
        Merged { parts, copies }
    }

    /// True if no row is a copy, which needs no look at the samples.
    pub fn plain(&self) -> bool {
        self.parts.len() == 1 && self.copies.is_empty()
    }

    /// The samples of a series by time. Adds to `dropped` how many rows of each part were copies.
    pub fn series(&self, series: u32, endpoint: u32, dropped: &mut [u64]) -> Vec<Sample> {
        if let ([part], true) = (&self.parts[..], self.copies.is_empty()) {
            return part.samples.all(series);
        }
        let all: Vec<Vec<Sample>> = self.parts.iter().map(|p| p.samples.all(series)).collect();
        let mut ends: Vec<usize> = vec![0; all.len()];
        let mut out = Vec::new();
        loop {
            let Some(at) = all.iter().zip(&ends).filter_map(|(s, &i)| s.get(i)).map(|s| s.at).min() else {
                return out;
            };
            // at one time: each value as often as the part says that has it most
            let mut here = Counts::default();
            for (p, samples) in all.iter().enumerate() {
                let Some(end) = ends.get_mut(p) else { continue };
                let start = *end;
                while samples.get(*end).is_some_and(|s| s.at == at) {
                    *end += 1;
                }
                let copies = self.copies.get(&(p, endpoint, at)).copied().unwrap_or(1);
                let rows = samples.get(start..*end).unwrap_or(&[]);
                let mut fresh = 0;
                for (bits, n) in counted(rows).of {
                    fresh += here.at_least(bits, (n / copies).max(1));
                }
                if let Some(dropped) = dropped.get_mut(p) {
                    *dropped += (rows.len() as u64).saturating_sub(fresh);
                }
            }
            for (bits, n) in here.of {
                out.extend((0..n).map(|_| Sample { at, value: f64::from_bits(bits) }));
            }
        }
    }
}

/// How often each of some values stands, in the order in which they came. Mostly one value; a scrape of a node exporter has up to 144 under
/// one name, and damaged files any number.
#[derive(Default)]
struct Counts {
    of: Vec<(u64, u32)>,
    places: HashMap<u64, usize>,
}

/// So many values are looked through one by one.
const FEW: usize = 16;

impl Counts {
    fn place(&mut self, bits: u64) -> Option<&mut (u64, u32)> {
        if self.of.len() <= FEW {
            return self.of.iter_mut().find(|(b, _)| *b == bits);
        }
        if self.places.len() < self.of.len() {
            self.places = self.of.iter().enumerate().map(|(i, (b, _))| (*b, i)).collect();
        }
        self.places.get(&bits).and_then(|&i| self.of.get_mut(i))
    }

    fn push(&mut self, bits: u64, n: u32) {
        if !self.places.is_empty() {
            self.places.insert(bits, self.of.len());
        }
        self.of.push((bits, n));
    }

    fn add(&mut self, bits: u64) {
        match self.place(bits) {
            Some((_, n)) => *n += 1,
            None => self.push(bits, 1),
        }
    }

    /// Raises a count; by how much.
    fn at_least(&mut self, bits: u64, n: u32) -> u64 {
        match self.place(bits) {
            Some((_, known)) => {
                let more = n.saturating_sub(*known);
                *known += more;
                u64::from(more)
            }
            None => {
                self.push(bits, n);
                u64::from(n)
            }
        }
    }
}

fn counted(samples: &[Sample]) -> Counts {
    let mut counts = Counts::default();
    samples.iter().for_each(|s| counts.add(s.value.to_bits()));
    counts
}

fn series_count(store: &Store) -> u32 {
    u32::try_from(store.series()).unwrap_or(u32::MAX)
}

/// Samples of one time each.
fn by_time(samples: &[Sample]) -> impl Iterator<Item = (i64, &[Sample])> {
    samples.chunk_by(|a, b| a.at == b.at).filter_map(|c| c.first().map(|s| (s.at, c)))
}
