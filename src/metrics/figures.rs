//! What a member of a family did in a window: the figure that fits its type.

use corr_metrics::blocks::Fall;
use corr_metrics::catalogue::Parts;
use corr_metrics::model::{Fidelity, Kind, Precision, Sample, SeriesId};
use corr_metrics::window::quantile::Quantile;
use corr_metrics::window::resets::{self, Evidence};
use corr_metrics::window::scrapes::Scrapes;
use corr_metrics::window::{WHOLE_IN_F32, Window, counter, gauge, histogram, mean, summary};

use super::asked::{Captured, Hit};
use super::span::Placed;

/// Quantiles of histograms that are told where no others are asked for.
pub const QUANTILES: &[f64] = &[0.5, 0.9, 0.99];

/// A figure.
#[derive(Clone, Debug)]
pub enum Figure {
    Counter(Counter),
    Gauge(gauge::Answer),
    Histogram(Histogram),
    Summary(summary::Summary),
}

/// A counter's difference.
#[derive(Clone, Debug)]
pub struct Counter {
    pub answer: counter::Answer,
    /// The least and the most that it counted, what the clocks leave open added; `None` for samples that say nothing.
    pub bracket: Option<(f64, Option<f64>)>,
    /// What speaks for each reset, in the answer's order.
    pub resets: Vec<Evidence>,
}

/// A histogram's observations.
#[derive(Clone, Debug)]
pub struct Histogram {
    pub answer: histogram::Answer,
    pub quantiles: Vec<Quantile>,
    pub mean: Result<mean::Mean, mean::NoMean>,
}

/// A figure of some series of a hit.
#[derive(Clone, Debug)]
pub struct Part {
    pub series: Vec<SeriesId>,
    pub figure: Figure,
}

/// The figures of a hit: one for a whole histogram or summary, else one a series.
pub fn of(hit: &Hit<'_>, placed: &Placed, quantiles: &[f64]) -> Vec<Part> {
    let captured = hit.captured;
    let Some(first) = hit.series.first() else { return Vec::new() };
    let scrapes = &*captured.scrapes_of(*first);
    let whole = hit.series.len() == hit.member.parts.series().len();
    match &hit.member.parts {
        Parts::Histogram { buckets, sum, count } if whole && buckets.len() > 1 => {
            let figure = Figure::Histogram(observed(captured, (buckets, *sum, *count), placed, scrapes, quantiles));
            vec![Part { series: hit.series.clone(), figure }]
        }
        Parts::Summary { quantiles: by, sum, count } if whole => {
            let figure = Figure::Summary(summed(captured, (by, *sum, *count), placed, scrapes));
            vec![Part { series: hit.series.clone(), figure }]
        }
        parts => {
            let counts = match parts {
                Parts::One(_) => hit.group.typed.kind == Kind::Counter,
                // Buckets, sums and counts only grow; the quantiles of a summary do not.
                Parts::Histogram { .. } => hit.group.typed.kind == Kind::Histogram,
                Parts::Summary { .. } => false,
            };
            let counts_too = |id: SeriesId| match parts {
                Parts::Summary { sum, count, .. } => *sum == Some(id) || *count == Some(id),
                _ => counts,
            };
            let one = |id: &SeriesId| {
                let figure = if counts_too(*id) { counted(captured, *id, placed, scrapes) } else { level(captured, *id, placed, scrapes) };
                Part { series: vec![*id], figure }
            };
            hit.series.iter().map(one).collect()
        }
    }
}

fn counted(captured: &Captured<'_>, id: SeriesId, placed: &Placed, scrapes: &Scrapes) -> Figure {
    let answer = difference(captured, id, placed.window, scrapes);
    let bracket = match &placed.error {
        None => answer.bracket(),
        Some(error) => {
            let least = error.inner.map(|window| difference(captured, id, window, scrapes).bracket());
            let most = difference(captured, id, error.outer, scrapes).bracket();
            // A window that shrinks to nothing proves nothing; only what is refused has no bracket.
            answer.bracket().map(|_| (least.flatten().map_or(0.0, |(least, _)| least), most.and_then(|(_, most)| most)))
        }
    };
    // Points that a query filled in are of an instant up to five minutes before: they bound nothing.
    let bracket = bracket.filter(|_| captured.capture().fidelity != Fidelity::StepFilled);
    let resets = answer.delta().map(|delta| evidence(captured, id, &delta.resets, scrapes)).unwrap_or_default();
    let bracket = bracket.map(|bracket| if whole(captured, id, &answer) { round(bracket) } else { bracket });
    Figure::Counter(Counter { answer, bracket, resets })
}

/// What speaks for resets of a series: other counters of its endpoint, failed scrapes, the process's own start time.
fn evidence(captured: &Captured<'_>, id: SeriesId, falls: &[Fall], scrapes: &Scrapes) -> Vec<Evidence> {
    if falls.is_empty() {
        return Vec::new();
    }
    let capture = captured.capture();
    let Some(endpoint) = capture.get(id).map(|s| s.endpoint) else { return Vec::new() };
    let counts = |other: &u32| {
        let other = SeriesId(*other);
        other != id && captured.catalogue.family(other).is_some_and(|g| g.typed.kind == Kind::Counter)
    };
    let mine = captured.series(endpoint);
    let others: Vec<u32> = mine.iter().copied().filter(counts).collect();
    let scrapes = scrapes.clone().with_restarts(resets::told(capture, mine));
    let mut cursor = capture.samples.cursor();
    falls.iter().map(|fall| resets::evidence(&mut cursor, fall, &others, &scrapes)).collect()
}

/// Whether a 32-bit series counts whole things: all samples that the answer rests on are whole, small enough to be exact, and not of seconds.
fn whole(captured: &Captured<'_>, id: SeriesId, answer: &counter::Answer) -> bool {
    let small = |s: &Sample| s.value.fract() == 0.0 && s.value.abs() < WHOLE_IN_F32;
    let samples: Vec<Sample> = match answer {
        counter::Answer::Answered(d) => {
            let ends = [Some(d.first), Some(d.last), d.start.outside, d.end.outside];
            ends.into_iter().flatten().chain(d.resets.iter().flat_map(|r| [r.before, r.after])).collect()
        }
        counter::Answer::OneSample(one) => [Some(one.sample), one.start.outside, one.end.outside].into_iter().flatten().collect(),
        counter::Answer::NoSamples(nothing) => [nothing.before, nothing.after].into_iter().flatten().collect(),
        counter::Answer::Refused(_) => return false,
    };
    let name = captured.capture().get(id).map_or("", |s| s.name.canonical());
    !name.contains("seconds") && !name.ends_with("_sum") && samples.iter().all(small)
}

/// A whole number lies between the whole numbers inside its bounds.
fn round((least, most): (f64, Option<f64>)) -> (f64, Option<f64>) {
    (least.ceil(), most.map(f64::floor))
}

fn difference(captured: &Captured<'_>, id: SeriesId, window: Window, scrapes: &Scrapes) -> counter::Answer {
    let capture = captured.capture();
    let nothing = counter::Answer::NoSamples(counter::Nothing { window, before: None, after: None, outer: None });
    counter::of_capture(capture, &mut capture.samples.cursor(), id, window, scrapes).unwrap_or(nothing)
}

fn level(captured: &Captured<'_>, id: SeriesId, placed: &Placed, scrapes: &Scrapes) -> Figure {
    let capture = captured.capture();
    let hold = scrapes.interval().map_or(0, gauge::default_hold);
    let answer = gauge::of_capture(capture, &mut capture.samples.cursor(), id, placed.window, hold);
    Figure::Gauge(answer.unwrap_or(gauge::Answer::NoSamples { before: None }))
}

type Compound<'p> = (&'p [(f64, SeriesId)], Option<SeriesId>, Option<SeriesId>);

fn observed(captured: &Captured<'_>, (buckets, sum, count): Compound<'_>, placed: &Placed, scrapes: &Scrapes, at: &[f64]) -> Histogram {
    let capture = captured.capture();
    let answer = histogram::of_capture(capture, &mut capture.samples.cursor(), buckets, placed.window, scrapes)
        .unwrap_or(histogram::Answer::NoSamples);
    let quantiles = match &answer {
        histogram::Answer::Answered(found) => at.iter().map(|q| found.quantile(*q)).collect(),
        _ => Vec::new(),
    };
    // The bucket of all is the count, where that is not kept apart.
    let count = count.or_else(|| buckets.last().filter(|(bound, _)| *bound == f64::INFINITY).map(|(_, id)| *id));
    let of = |id| difference(captured, id, placed.window, scrapes);
    let unproven = buckets.iter().any(|(_, id)| capture.get(*id).is_some_and(|s| s.trouble.sum_unproven));
    let mean = match sum.zip(count) {
        Some((sum, count)) => mean::of(&of(sum), &of(count)),
        None if unproven => Err(mean::NoMean::SumUnproven),
        None => Err(mean::NoMean::NoSum),
    };
    Histogram { answer, quantiles, mean }
}

fn summed(captured: &Captured<'_>, (by, sum, count): Compound<'_>, placed: &Placed, scrapes: &Scrapes) -> summary::Summary {
    let capture = captured.capture();
    let window = placed.window;
    let read: Vec<(f64, Vec<_>)> = by.iter().map(|(q, id)| (*q, capture.samples.between(id.0, window.from(), window.to()))).collect();
    let slices: Vec<(f64, &[_])> = read.iter().map(|(q, samples)| (*q, &samples[..])).collect();
    let nothing = || counter::Answer::NoSamples(counter::Nothing { window, before: None, after: None, outer: None });
    let of = |id: Option<SeriesId>| id.map_or_else(nothing, |id| difference(captured, id, window, scrapes));
    summary::of(&slices, &of(sum), &of(count), window)
}

impl Part {
    /// Values of its series were stored as 32-bit floats.
    pub fn rounded(&self, captured: &Captured<'_>) -> bool {
        self.series.iter().any(|id| captured.capture().get(*id).is_some_and(|s| s.precision == Precision::F32))
    }
}
