//! The samples that a counter's window rests on: those at its edges, those around it, and where the series fell between. From a slice, or from
//! the store by two searches, without a look at the samples between.

use super::Window;
use super::resets::Restart;
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
    /// Where a life ended and another began between two samples in it, by time: falls, and rises over a known start of the process.
    pub breaks: Vec<Break>,
    /// There is a sample, be it NaN, before the first one in the window: the series was there.
    pub earlier: bool,
}

/// The end of a life inside a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Break {
    /// The last sample of the old life and the first of the new one.
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
        let end = cursor.upper(series, window.to());
        let known = |s: &Sample| !s.value.is_nan();
        let [first, last] = cursor.many([(series, start), (series, end.saturating_sub(1))]).map(|s| s.filter(known));
        let first = first.or_else(|| forth(cursor, series, start)).filter(|s| s.at <= window.to());
        let last = last.or_else(|| back(cursor, series, end)).filter(|s| s.at >= window.from());
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

/// What `ask` finds in a window, split at starts of the process (sorted by time) as if the series had fallen there. Samples between the last
/// one known of the old life and the first of the new are of neither, and left out.
pub fn across(window: Window, restarts: &[Restart], mut ask: impl FnMut(Window) -> Inside) -> Inside {
    if restarts.is_empty() {
        return ask(window);
    }
    let mut start = window.from();
    let mut whole = Inside::default();
    let near = restarts.iter().filter(|r| r.by > window.from() && r.after < window.to());
    let mut parts: Vec<Option<Window>> = Vec::new();
    for restart in near {
        parts.push(Window::new(start, restart.after));
        start = start.max(restart.by);
    }
    parts.push(Window::new(start, window.to()));
    let all = ask(window);
    (whole.before, whole.after) = (all.before, all.after);
    for part in parts.into_iter().flatten().map(ask) {
        let Some((first, last)) = part.ends else { continue };
        match &mut whole.ends {
            None => {
                whole.ends = Some((first, last));
                whole.earlier = part.earlier;
            }
            Some((_, end)) => {
                whole.breaks.push(Break { fall: Fall { before: *end, after: first }, count: whole.count });
                *end = last;
            }
        }
        whole.breaks.extend(part.breaks.iter().map(|b| Break { count: b.count + whole.count, ..*b }));
        whole.count += part.count;
    }
    // a sample outside bounds nothing of another life
    let between = |a: i64, b: i64| restarts.iter().any(|r| r.after < b && r.by > a);
    let (first, last) = match whole.ends {
        Some((first, last)) => (Some(first.at), Some(last.at)),
        None => (whole.after.map(|s| s.at), whole.before.map(|s| s.at)),
    };
    let (before, after) = (whole.before, whole.after);
    whole.before = before.filter(|b| first.is_none_or(|first| !between(b.at, first)));
    whole.after = after.filter(|a| last.is_none_or(|last| !between(last, a.at)));
    whole
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
