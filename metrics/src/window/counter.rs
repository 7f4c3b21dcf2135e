//! What a counter counted in a window: a bracket from four samples, never one number stretched to the window's edges.
//!
//! Falls split the window into segments, each a life of the counted process. What a new life had counted before its first scrape
//! (`restart_base`) and what a series held when it first appeared are said apart: nothing shows when they were counted. What a life counted
//! after its last scrape is lost. A restart whose new life has already counted more than the old one leaves no fall: it is seen only if the
//! starts of the process are known ([`Scrapes::with_restarts`]).

use serde::Serialize;

use super::inside::{Inside, across};
use super::scrapes::Scrapes;
use super::{Figure, Refusal, WHOLE_IN_F32, Window};
use crate::blocks::{Cursor, Fall};
use crate::model::{Capture, Precision, Sample, SeriesId};

/// What can be said of a counter in a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Answer {
    /// No sample in the window: nothing is known but by those around it.
    NoSamples(Nothing),
    /// One sample in the window: no difference, which is not a difference of zero.
    OneSample(One),
    /// There are samples, but they say nothing.
    Refused(Refusal),
    /// First and last sample and what lies between.
    Answered(Delta),
}

/// A window without samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nothing {
    pub window: Window,
    pub before: Option<Sample>,
    pub after: Option<Sample>,
    /// The most it can have counted; `None` if a sample around the window is missing or the series fell between them.
    pub outer: Option<Figure>,
}

/// A window with one sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct One {
    pub window: Window,
    pub sample: Sample,
    /// The most it can have counted; `None` if a sample around the window is missing or the series fell.
    pub outer: Option<Figure>,
    pub start: Edge,
    pub end: Edge,
    /// Median distance of scrapes in nanoseconds, by which the edges are graded.
    pub interval: Option<i64>,
    pub first_appearance: Option<Appearance>,
    pub precision: Precision,
}

/// What a counter did between the first and the last sample of a window, `[from, to]` closed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delta {
    pub window: Window,
    /// Samples in the window.
    pub n: u64,
    pub first: Sample,
    pub last: Sample,
    /// The sum of the segments' differences: the least that it counted in the window.
    pub inner: Figure,
    /// The most that it counted: `inner` and what it may have counted from the sample before the window and to the one after. `None` if one of
    /// those is missing or the series fell.
    pub outer: Option<Figure>,
    /// First values of all segments but the first: counted in the window, if a life starts from zero, but before the first scrape of that life.
    pub restart_base: Figure,
    /// The samples around each reset, by time; a pair that does not fall is a start that the process itself told.
    pub resets: Vec<Fall>,
    pub segments: Vec<Segment>,
    pub start: Edge,
    pub end: Edge,
    /// Median distance of scrapes in nanoseconds, by which the edges are graded.
    pub interval: Option<i64>,
    pub first_appearance: Option<Appearance>,
    pub precision: Precision,
}

/// Samples without a fall between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Segment {
    pub first: Sample,
    pub last: Sample,
    pub n: u64,
    pub delta: Figure,
}

/// An edge of a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// Nanoseconds between the edge and the nearest sample inside.
    pub gap: i64,
    pub grade: Grade,
    /// The nearest sample outside.
    pub outside: Option<Sample>,
}

/// How well a sample stands for an edge of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// It is at the edge.
    Exact,
    /// It is at most one and a half intervals of its endpoint away.
    WithinOneScrape,
    /// It is further away, or the interval is unknown.
    Approximate,
}

/// A series that an earlier scrape of its endpoint did not have, with a value other than zero: counted at some time before `at`, and after
/// `absent_at` if it is of the kind that appears with its first increment. Never part of the difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Appearance {
    /// The last scrape without it.
    pub absent_at: i64,
    pub at: i64,
    #[serde(serialize_with = "crate::model::json::number")]
    pub value: f64,
    /// All that it counted up to the window's last sample, if it began at zero; `None` after a reset.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub lifetime: Option<f64>,
}

/// What the samples prove of activity in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "activity", content = "why", rename_all = "snake_case")]
pub enum Activity {
    /// It counted.
    Moved,
    /// It counted nothing, from the window's first instant to its last.
    Still,
    /// It counted no whole step; 32-bit floats hide fractions.
    NoWholeStep,
    /// The samples do not show that it counted, and not that it did not.
    Unproven(&'static str),
}

/// A rate between two samples, both named: never over the window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    pub per_second: Figure,
    pub first: Sample,
    pub last: Sample,
}

/// From the samples that a window rests on.
pub fn of_inside(inside: Inside, window: Window, precision: Precision, scrapes: &Scrapes) -> Answer {
    let Some((first, last)) = inside.ends else {
        let (before, after) = (inside.before, inside.after);
        let outer = before.zip(after).and_then(|(b, a)| difference(b, a, precision));
        return Answer::NoSamples(Nothing { window, before, after, outer });
    };
    let at_reset = inside.breaks.iter().flat_map(|b| [b.fall.before, b.fall.after]);
    if [first, last].into_iter().chain(at_reset).any(|s| s.value.is_infinite()) {
        return Answer::Refused(Refusal::Infinite);
    }
    let interval = scrapes.interval();
    let start = edge(first.at.saturating_sub(window.from()), interval, inside.before);
    let end = edge(window.to().saturating_sub(last.at), interval, inside.after);
    let appeared = (!inside.earlier && first.value > 0.0).then(|| scrapes.before(first.at)).flatten();
    let first_appearance = appeared.map(|absent_at| {
        let lifetime = inside.breaks.is_empty().then_some(last.value);
        Appearance { absent_at, at: first.at, value: first.value, lifetime }
    });
    let segments = segments(&inside, first, last, precision);
    let inner = sum(segments.iter().map(|s| s.delta));
    let outer = if inside.breaks.is_empty() { outer(inner, (first, start), (last, end), precision) } else { None };
    if inside.count == 1 {
        return Answer::OneSample(One { window, sample: first, outer, start, end, interval, first_appearance, precision });
    }
    let restart_base = sum(segments.iter().skip(1).map(|s| Figure { value: s.first.value, error: precision.error(s.first.value) }));
    let resets = inside.breaks.iter().map(|b| b.fall).collect();
    let n = inside.count;
    let delta =
        Delta { window, n, first, last, inner, outer, restart_base, resets, segments, start, end, interval, first_appearance, precision };
    Answer::Answered(delta)
}

/// From samples by time, those around the window among them.
pub fn of_samples(samples: &[Sample], window: Window, precision: Precision, scrapes: &Scrapes) -> Answer {
    match Refusal::of_samples(samples) {
        Some(refusal) => Answer::Refused(refusal),
        None => {
            let inside = across(window, scrapes.restarts(), |window| Inside::of_samples(samples, window));
            of_inside(inside, window, precision, scrapes)
        }
    }
}

/// From a series of a store.
pub fn of_store(cursor: &mut Cursor<'_>, series: u32, window: Window, precision: Precision, scrapes: &Scrapes) -> Answer {
    let (_, collisions) = cursor.store().oddities(series);
    if collisions > 0 {
        return Answer::Refused(Refusal::Ambiguous { collisions });
    }
    let inside = across(window, scrapes.restarts(), |window| Inside::of_store(cursor, series, window));
    of_inside(inside, window, precision, scrapes)
}

/// From a series of a capture: refused where the capture has found its samples to mean nothing. `None` if there is no such series.
pub fn of_capture(capture: &Capture, cursor: &mut Cursor<'_>, id: SeriesId, window: Window, scrapes: &Scrapes) -> Option<Answer> {
    let series = capture.get(id)?;
    if let Some(refusal) = Refusal::of(&series.trouble) {
        return Some(Answer::Refused(refusal));
    }
    Some(of_store(cursor, id.0, window, series.precision, scrapes))
}

fn segments(inside: &Inside, first: Sample, last: Sample, precision: Precision) -> Vec<Segment> {
    let mut out = Vec::with_capacity(inside.breaks.len() + 1);
    let (mut from, mut counted) = (first, 0);
    for broken in &inside.breaks {
        out.push(segment(from, broken.fall.before, broken.count - counted, precision));
        (from, counted) = (broken.fall.after, broken.count);
    }
    out.push(segment(from, last, inside.count - counted, precision));
    out
}

fn segment(first: Sample, last: Sample, n: u64, precision: Precision) -> Segment {
    let delta = difference(first, last, precision).unwrap_or(Figure { value: 0.0, error: 0.0 });
    Segment { first, last, n, delta }
}

/// What a counter counted between two samples without a fall; one sample is no distance from itself, however it was rounded.
fn difference(from: Sample, to: Sample, precision: Precision) -> Option<Figure> {
    let value = to.value - from.value;
    let error = if from.at == to.at { 0.0 } else { precision.error(from.value) + precision.error(to.value) };
    (value >= 0.0 && value.is_finite()).then_some(Figure { value, error })
}

/// Upper bound: beyond an edge at which a sample stands exactly, nothing is to be bounded.
fn outer(inner: Figure, (first, start): (Sample, Edge), (last, end): (Sample, Edge), precision: Precision) -> Option<Figure> {
    let low = if start.grade == Grade::Exact { first } else { start.outside? };
    let high = if end.grade == Grade::Exact { last } else { end.outside? };
    let below = difference(low, first, precision)?.value;
    let above = difference(last, high, precision)?.value;
    let whole = difference(low, high, precision)?;
    Some(Figure { value: inner.value + below + above, error: whole.error })
}

fn edge(gap: i64, interval: Option<i64>, outside: Option<Sample>) -> Edge {
    let near = interval.is_some_and(|every| gap.saturating_mul(2) <= every.saturating_mul(3));
    let grade = match gap {
        0 => Grade::Exact,
        _ if near => Grade::WithinOneScrape,
        _ => Grade::Approximate,
    };
    Edge { gap, grade, outside }
}

fn sum(figures: impl Iterator<Item = Figure>) -> Figure {
    let mut total = Figure { value: 0.0, error: 0.0 };
    for figure in figures {
        total.value += figure.value;
        total.error += figure.error;
    }
    total
}

impl Answer {
    /// First and last sample with what lies between, if there are two.
    pub fn delta(&self) -> Option<&Delta> {
        match self {
            Answer::Answered(delta) => Some(delta),
            _ => None,
        }
    }

    /// The least and the most that the counter counted in the window, errors of storage added; `None` for no bound, and nothing for samples
    /// that say nothing. The least of a window without two samples is 0, which is no evidence that it counted nothing.
    pub fn bracket(&self) -> Option<(f64, Option<f64>)> {
        let (low, outer) = match self {
            Answer::Refused(_) => return None,
            Answer::NoSamples(nothing) => (0.0, nothing.outer),
            Answer::OneSample(one) => (0.0, one.outer),
            Answer::Answered(delta) => (delta.inner.low().max(0.0), delta.outer),
        };
        Some((low, outer.map(Figure::high)))
    }

    /// Did it count in the window? Stored values that differ were served differently, however coarse the storage; equal ones prove that
    /// nothing was counted only as far as the storage tells counts apart.
    pub fn activity(&self) -> Activity {
        let (outer, samples, precision) = match self {
            Answer::Refused(refusal) => return Activity::Unproven(refusal.words()),
            Answer::NoSamples(_) => return Activity::Unproven("no sample in the window"),
            Answer::OneSample(one) => (one.outer, [one.start.outside, Some(one.sample), Some(one.sample), one.end.outside], one.precision),
            Answer::Answered(delta) if delta.inner.value > 0.0 || delta.restart_base.value > 0.0 => return Activity::Moved,
            Answer::Answered(delta) if !delta.resets.is_empty() => return Activity::Unproven("it was reset in the window"),
            Answer::Answered(delta) => {
                (delta.outer, [delta.start.outside, Some(delta.first), Some(delta.last), delta.end.outside], delta.precision)
            }
        };
        let Some(outer) = outer else { return Activity::Unproven("no sample beyond an edge of the window") };
        if outer.value > 0.0 {
            return Activity::Unproven("it counted between a sample in the window and the one outside");
        }
        if precision == Precision::F64 {
            Activity::Still
        } else if samples.iter().flatten().all(|s| s.value.abs() < WHOLE_IN_F32) {
            Activity::NoWholeStep
        } else {
            Activity::Unproven("32-bit floats of this size hide whole steps")
        }
    }
}

impl Delta {
    /// `inner` by the time between the first and the last sample, an outage between them included.
    pub fn rate(&self) -> Option<Rate> {
        let time = super::seconds(self.last.at.saturating_sub(self.first.at));
        let per_second = Figure { value: self.inner.value / time, error: self.inner.error / time };
        (time > 0.0).then_some(Rate { per_second, first: self.first, last: self.last })
    }
}
