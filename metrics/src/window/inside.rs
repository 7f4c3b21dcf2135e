//! The samples that a counter's window rests on: those at its edges, those around it, and where the series fell between. From a slice, or from
//! the store by two searches, without a look at the samples between.

use super::Window;
use crate::blocks::{Cursor, Fall};
use crate::model::Sample;

/// What a counter's window rests on. Samples that are NaN are passed over: they are no counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inside {
    /// The last sample before the window.
    pub before: Option<Sample>,
    /// The first and the last sample in it; the same one if it is alone.
    pub ends: Option<(Sample, Sample)>,
    /// The first sample after the window.
    pub after: Option<Sample>,
    /// How many samples are in it.
    pub count: u64,
    /// Where the series fell from one sample in it to the next, by time.
    pub breaks: Vec<Break>,
    /// There is a sample, be it NaN, before the first one in the window: the series was there.
    pub earlier: bool,
}

/// A fall inside a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Break {
    pub fall: Fall,
    /// Samples of the window up to and with `fall.before`.
    pub count: u64,
}

impl Inside {
    /// From samples by time.
    pub fn of_samples(samples: &[Sample], window: Window) -> Inside {
        let start = samples.partition_point(|s| s.at < window.from());
        let end = samples.partition_point(|s| s.at <= window.to());
        let known = |s: &&Sample| !s.value.is_nan();
        let mut inside = Inside {
            before: samples.get(..start).unwrap_or(&[]).iter().rev().find(known).copied(),
            after: samples.get(end..).unwrap_or(&[]).iter().find(known).copied(),
            earlier: start > 0,
            ..Inside::default()
        };
        for &sample in samples.get(start..end).unwrap_or(&[]) {
            if sample.value.is_nan() {
                inside.earlier |= inside.ends.is_none();
                continue;
            }
            match &mut inside.ends {
                None => inside.ends = Some((sample, sample)),
                Some((_, last)) => {
                    if sample.value < last.value {
                        inside.breaks.push(Break { fall: Fall { before: *last, after: sample }, count: inside.count });
                    }
                    *last = sample;
                }
            }
            inside.count += 1;
        }
        if inside.ends.is_none() {
            inside.earlier = false;
        }
        inside
    }

    /// From a series of a store: two searches, and two more for every fall in the window. A series that falls or is NaN too often for a
    /// counter is read sample by sample.
    pub fn of_store(cursor: &mut Cursor<'_>, series: u32, window: Window) -> Inside {
        let store = cursor.store();
        let start = cursor.lower(series, window.from());
        let before = back(cursor, series, start);
        let (Some(falls), Some(unknown)) = (store.falls(series), store.unknown(series)) else {
            let samples = store.between(series, window.from(), window.to());
            let end = cursor.upper(series, window.to());
            let read = Inside::of_samples(&samples, window);
            let earlier = read.ends.is_some() && (start > 0 || read.earlier);
            return Inside { before, after: forth(cursor, series, end), earlier, ..read };
        };
        let first = forth(cursor, series, start).filter(|s| s.at <= window.to());
        let end = cursor.upper(series, window.to());
        let last = back(cursor, series, end).filter(|s| s.at >= window.from());
        let after = forth(cursor, series, end);
        let (Some(first), Some(last)) = (first, last) else {
            return Inside { before, after, ..Inside::default() };
        };
        let unknown_to = |at: i64| unknown.partition_point(|&t| t <= at) as u64;
        let unknown_before = unknown.partition_point(|&t| t < window.from()) as u64;
        let inside_to = |end: u64, at: i64| (end + unknown_before).saturating_sub(start + unknown_to(at));
        let mut breaks = Vec::new();
        let from = falls.partition_point(|f| f.before.at < window.from());
        for fall in falls.get(from..).unwrap_or(&[]).iter().take_while(|f| f.after.at <= window.to()) {
            let end = cursor.upper(series, fall.before.at);
            breaks.push(Break { fall: *fall, count: inside_to(end, fall.before.at) });
        }
        let unknown_first = unknown.get(unknown_before as usize).is_some_and(|&t| t < first.at);
        let earlier = start > 0 || unknown_first;
        Inside { before, ends: Some((first, last)), after, count: inside_to(end, window.to()), breaks, earlier }
    }
}

/// The last sample before an ordinal that is a number.
fn back(cursor: &mut Cursor<'_>, series: u32, mut ordinal: u64) -> Option<Sample> {
    loop {
        ordinal = ordinal.checked_sub(1)?;
        let sample = cursor.get(series, ordinal)?;
        if !sample.value.is_nan() {
            return Some(sample);
        }
    }
}

/// The first sample at or after an ordinal that is a number.
fn forth(cursor: &mut Cursor<'_>, series: u32, mut ordinal: u64) -> Option<Sample> {
    loop {
        let sample = cursor.get(series, ordinal)?;
        if !sample.value.is_nan() {
            return Some(sample);
        }
        ordinal += 1;
    }
}
