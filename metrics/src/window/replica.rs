//! Do series of several ranks say the same thing, so that it is counted once? Told by their values at the scrapes that they share, never by
//! how many ranks there are.

use serde::Serialize;

use super::{Refusal, WHOLE_IN_F32};
use crate::model::{Precision, Sample};

/// How series of several ranks stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Equal at every scrape, reset at the same ones: one logical series.
    Identical,
    /// Wherever they differ, one was read an update late: one logical series.
    Synchronised,
    /// Gauges that are equal at 95 % of scrapes or more.
    MostlyEqual,
    /// Each counts for itself.
    Independent,
    /// No scrape has all of them, or there are fewer than two series.
    Unknown,
}

/// A verdict with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replicas {
    pub verdict: Verdict,
    /// Scrapes at which every series has a number, and those of them at which not all are equal.
    pub common_scrapes: u64,
    pub unequal_scrapes: u64,
    /// Time of the first unequal ones, at most [`SHOWN`].
    pub unequal_at: Vec<i64>,
    /// For each series, in the order asked: which of the common scrapes, counted from 0, show less than the one before.
    pub resets: Vec<Vec<u64>>,
    /// Some series changed its value. If none did, equality is not much of a proof.
    pub moved: bool,
    /// Values are so large that 32-bit floats round whole numbers: equality holds but for that.
    pub rounded: bool,
}

/// So many unequal scrapes are named.
pub const SHOWN: usize = 16;

/// Counters, which only grow: a value that is read late lies between those of the other rank at the scrape before and the one after. At the
/// first and the last common scrape one of these is missing, so that an unequal value there is taken for the rank's own.
pub fn counters(series: &[&[Sample]], precision: Precision) -> Result<Replicas, Refusal> {
    let table = Table::new(series)?;
    let mut found = table.compare(precision);
    let resets = &found.resets;
    let same_resets = resets.iter().all(|r| Some(r) == resets.first());
    let near_resets = resets.iter().all(|r| near(r, resets.first().map_or(&[], |f| f)));
    found.verdict = match found.common_scrapes {
        0 => Verdict::Unknown,
        _ if found.unequal_scrapes == 0 && same_resets => Verdict::Identical,
        _ if near_resets && table.only_late() => Verdict::Synchronised,
        _ => Verdict::Independent,
    };
    Ok(found)
}

/// Gauges, which may go anywhere: only equality at the same scrape tells.
pub fn gauges(series: &[&[Sample]], precision: Precision) -> Result<Replicas, Refusal> {
    let mut found = Table::new(series)?.compare(precision);
    let (all, unequal) = (u128::from(found.common_scrapes), u128::from(found.unequal_scrapes));
    found.verdict = match all {
        0 => Verdict::Unknown,
        _ if unequal == 0 => Verdict::Identical,
        _ if unequal * 100 <= all * 5 => Verdict::MostlyEqual,
        _ => Verdict::Independent,
    };
    Ok(found)
}

/// Values of all series at the scrapes that they share.
struct Table {
    times: Vec<i64>,
    /// A column a series.
    columns: Vec<Vec<f64>>,
}

impl Table {
    fn new(series: &[&[Sample]]) -> Result<Table, Refusal> {
        if let Some(refusal) = series.iter().find_map(|samples| Refusal::of_samples(samples)) {
            return Err(refusal);
        }
        let mut table = Table { times: Vec::new(), columns: vec![Vec::new(); series.len()] };
        if series.len() < 2 {
            return Ok(table);
        }
        let mut cursors = vec![0; series.len()];
        let Some(one) = series.first() else { return Ok(table) };
        for sample in *one {
            let mut row = Vec::with_capacity(series.len());
            for (samples, cursor) in series.iter().zip(&mut cursors) {
                while samples.get(*cursor).is_some_and(|s| s.at < sample.at) {
                    *cursor += 1;
                }
                row.extend(samples.get(*cursor).filter(|s| s.at == sample.at && !s.value.is_nan()).map(|s| s.value));
            }
            if row.len() == series.len() {
                table.times.push(sample.at);
                table.columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            }
        }
        Ok(table)
    }

    fn compare(&self, precision: Precision) -> Replicas {
        let mut found = Replicas {
            verdict: Verdict::Unknown,
            common_scrapes: self.times.len() as u64,
            unequal_scrapes: 0,
            unequal_at: Vec::new(),
            resets: self.columns.iter().map(|column| falls(column)).collect(),
            moved: self.columns.iter().any(|column| column.iter().any(|v| Some(v) != column.first())),
            rounded: precision == Precision::F32 && self.columns.iter().flatten().any(|v| v.abs() >= WHOLE_IN_F32),
        };
        for (i, at) in self.times.iter().enumerate() {
            let mut values = self.columns.iter().filter_map(|column| column.get(i));
            let first = values.next();
            if values.any(|value| Some(value) != first) {
                found.unequal_scrapes += 1;
                if found.unequal_at.len() < SHOWN {
                    found.unequal_at.push(*at);
                }
            }
        }
        found
    }

    /// Every value that differs from another rank's lies within what that rank shows from the scrape before to the one after.
    fn only_late(&self) -> bool {
        self.columns.iter().all(|mine| self.columns.iter().all(|other| (0..mine.len()).all(|i| within(mine, other, i))))
    }
}

fn within(mine: &[f64], other: &[f64], i: usize) -> bool {
    let Some(value) = mine.get(i) else { return false };
    if other.get(i) == Some(value) {
        return true;
    }
    let around = other.get(i.saturating_sub(1)..(i + 2).min(other.len())).unwrap_or(&[]);
    around.iter().any(|v| v <= value) && around.iter().any(|v| v >= value)
}

fn falls(column: &[f64]) -> Vec<u64> {
    let pairs = column.iter().zip(column.iter().skip(1));
    pairs.zip(1..).filter(|((before, after), _)| after < before).map(|(_, i)| i).collect()
}

/// The same resets, each at most one scrape apart.
fn near(some: &[u64], others: &[u64]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(a, b)| a.abs_diff(*b) <= 1)
}
