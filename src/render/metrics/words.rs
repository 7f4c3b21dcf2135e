//! Figures in words.

use corr_metrics::model::Sample;
use corr_metrics::window::counter::{self, Grade};
use corr_metrics::window::quantile::{Estimate, Quantile};
use corr_metrics::window::resets::Evidence;
use corr_metrics::window::{capacity, gauge, histogram, mean, summary};

use super::{computed, number, seconds};
use crate::metrics::asked::Captured;
use crate::metrics::figures::{Counter, Histogram};
use crate::metrics::occupied::Occupied;
use crate::render::safe::terminal;

/// What was taken of a capacity: the most of pairs that stood at one scrape.
pub fn occupied_lines(occupied: &Occupied, captured: &Captured<'_>) -> Vec<String> {
    let dial = captured.dial();
    let capacity = captured.capture().spelled(occupied.capacity);
    let found = match &occupied.answer {
        capacity::Answer::Answered(found) => found,
        capacity::Answer::Refused(refusal) => return vec![format!("occupied of {}: no figure: {}", terminal(&capacity), refusal.words())],
        capacity::Answer::NoPairs { capacity: with, available } => {
            let text = format!("no scrape has both: {with} have the capacity, {available} what is available");
            return vec![format!("occupied of {}: {text}", terminal(&capacity))];
        }
    };
    let pair = |pair: &capacity::Pair| {
        format!("{} = {} - {} at {}", computed(pair.occupied), number(pair.capacity), number(pair.available), dial.show(pair.at))
    };
    let unpaired = if found.unpaired > 0 { format!(", {} samples without the other", found.unpaired) } else { String::new() };
    let mut lines = vec![
        format!("occupied of {}: most {}, least {}", terminal(&capacity), pair(&found.max), pair(&found.min)),
        format!("{} scrapes have both{unpaired}", found.pairs),
    ];
    if let Some(parts) = &occupied.parts {
        let value = |v: Option<f64>| v.map_or_else(|| "not captured".to_string(), number);
        let rest = parts.in_neither.map_or_else(String::new, |rest| format!(", in neither {}", computed(rest)));
        lines.push(format!("of the most: evictable {}, used {}{rest}", value(parts.evictable), value(parts.used)));
    }
    if occupied.error > 0.0 {
        lines.push(format!("occupied ± {}, as values were stored as 32-bit floats", computed(occupied.error)));
    }
    lines
}

/// A sample's value as it was served; between two of them as it was computed.
pub fn median(median: &gauge::Median) -> String {
    if median.of.len() == 1 { number(median.value) } else { computed(median.value) }
}

pub fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Exact => "exact",
        Grade::WithinOneScrape => "within one scrape",
        Grade::Approximate => "approximate",
    }
}

/// `at least 5, at most 7`, or what of it is known.
pub fn bracket_words(bracket: (f64, Option<f64>)) -> String {
    match bracket {
        (least, Some(most)) if least == most => format!("{} exactly", computed(least)),
        (least, Some(most)) => format!("at least {}, at most {}", computed(least), computed(most)),
        (least, None) => format!("at least {}; no upper bound", computed(least)),
    }
}

pub fn counter_lines(counter: &Counter, sample: impl Fn(&Sample) -> String, captured: &Captured<'_>) -> Vec<String> {
    let bound = counter.bracket.map(bracket_words).unwrap_or_default();
    match &counter.answer {
        counter::Answer::Refused(refusal) => vec![format!("no figure: {}", refusal.words())],
        counter::Answer::NoSamples(nothing) => {
            let mut lines = vec!["no sample in the window: unknown, not zero".to_string()];
            if let (Some(before), Some(after)) = (&nothing.before, &nothing.after) {
                lines.push(format!("around it {} and {}", sample(before), sample(after)));
            }
            if nothing.outer.is_some() {
                lines.push(bound);
            }
            lines
        }
        counter::Answer::OneSample(one) => {
            vec![format!("one sample in the window, {}: no difference, which is not a difference of zero", sample(&one.sample)), bound]
        }
        counter::Answer::Answered(delta) => {
            let mut lines = vec![format!(
                "{} between {} samples, {} and {}",
                computed(delta.inner.value),
                delta.n,
                sample(&delta.first),
                sample(&delta.last)
            )];
            if delta.inner.error > 0.0 && counter.bracket.is_none_or(|b| b.0 != delta.inner.value) {
                lines.push(format!("± {}, as values were stored as 32-bit floats", computed(delta.inner.error)));
            }
            lines.push(if counter.bracket.is_some() { format!("in the window {bound}") } else { "points of a query bound nothing".into() });
            if let Some(rate) = delta.rate() {
                lines.push(format!("{}/s between these two samples", computed(rate.per_second.value)));
            }
            let edge = |edge: &counter::Edge| match edge.grade {
                Grade::Exact => "exact".to_string(),
                other => format!("{} ({})", grade(other), seconds(edge.gap)),
            };
            if counter.bracket.is_some() {
                lines.push(format!("start {}, end {}", edge(&delta.start), edge(&delta.end)));
            }
            for (reset, evidence) in delta.resets.iter().zip(&counter.resets) {
                let why = evidence_words(evidence, captured);
                lines.push(format!("reset: {}, then {}; {why}", sample(&reset.before), sample(&reset.after)));
            }
            if !delta.resets.is_empty() {
                lines.push(format!("{} more were counted by later lives before their first scrape", computed(delta.restart_base.value)));
            }
            if let Some(first) = &delta.first_appearance {
                let dial = captured.dial();
                lines.push(format!(
                    "first seen at {} with {}; the scrape at {} did not have it: not part of the difference",
                    dial.show(first.at),
                    number(first.value),
                    dial.show(first.absent_at)
                ));
            }
            lines
        }
    }
}

/// What speaks for a reset.
pub fn evidence_words(evidence: &Evidence, captured: &Captured<'_>) -> String {
    let dial = captured.dial();
    match evidence {
        Evidence::Started(restart) => format!("the process started between {} and {}", dial.show(restart.after), dial.show(restart.by)),
        Evidence::Together { fell, of } => format!("{fell} of {of} other counters of the endpoint fell with it"),
        Evidence::ScrapeFailed { at } => format!("a scrape failed at {}", dial.show(*at)),
        Evidence::Alone { fell, of } => format!("not corroborated: {fell} of {of} other counters fell"),
    }
}

pub fn gauge_lines(answer: &gauge::Answer, sample: impl Fn(&Sample) -> String) -> Vec<String> {
    match answer {
        gauge::Answer::Refused(refusal) => vec![format!("no figure: {}", refusal.words())],
        gauge::Answer::NoSamples { before } => {
            let before = before.as_ref().map_or_else(String::new, |b| format!(" (before it {})", sample(b)));
            vec![format!("no sample in the window{before}: unknown, not zero")]
        }
        gauge::Answer::Answered(found) => {
            let mut lines = Vec::new();
            if let (Some(min), Some(median), Some(max)) = (&found.min, &found.median, &found.max) {
                lines.push(format!("min {}, median {}, max {}", sample(min), self::median(median), sample(max)));
            }
            let nan = if found.n_nan > 0 { format!(", {} of them NaN", found.n_nan) } else { String::new() };
            let coverage = found.coverage.map_or_else(String::new, |c| format!(" over {} % of the window", computed(c * 100.0)));
            let mean = found.time_weighted.map_or_else(String::new, |m| format!("; mean {} weighed by time{coverage}", computed(m)));
            lines.push(format!("{} samples{nan}{mean}", found.n));
            if found.error > 0.0 {
                lines.push(format!("± {}, as values were stored as 32-bit floats", computed(found.error)));
            }
            if let Some(carried) = &found.carried {
                lines.push(format!("carried in: {}", sample(carried)));
            }
            lines
        }
    }
}

/// `p50 0.667 in (0.5, 1]`.
pub fn quantile_words(quantile: &Quantile) -> String {
    let name = format!("p{}", computed(quantile.q * 100.0));
    let forced = if quantile.forced_monotonic { " (a bucket counted less than one below it)" } else { "" };
    match quantile.estimate {
        Estimate::Within { value, low, high } => format!("{name} about {} in ({}, {}]{forced}", computed(value), number(low), number(high)),
        Estimate::Censored { above } => format!("{name} > {}{forced}", number(above)),
        Estimate::Outside { value } => format!("{name} {}", number(value)),
        Estimate::Undefined { reason } => format!("{name} undefined: {}", reason.words()),
    }
}

pub fn histogram_lines(found: &Histogram, captured: &Captured<'_>) -> Vec<String> {
    let dial = captured.dial();
    match &found.answer {
        histogram::Answer::Refused(refusal) => vec![format!("no figure: {}", refusal.words())],
        histogram::Answer::NoSamples => vec!["no scrape in the window has every bucket: unknown, not zero".into()],
        histogram::Answer::OneSample { at } => vec![format!("one scrape in the window, at {}: no difference", dial.show(*at))],
        histogram::Answer::Answered(buckets) => {
            let n = buckets.buckets.last().map_or(0.0, |b| b.cumulative.count);
            let stretches: Vec<String> =
                buckets.segments.iter().map(|s| format!("{} … {}", dial.show(s.first), dial.show(s.last))).collect();
            let mut lines = vec![format!("{} observations between the scrapes {}", computed(n), stretches.join(" and "))];
            lines.extend(found.quantiles.iter().map(quantile_words));
            match &found.mean {
                Ok(mean) => lines.push(mean_words(mean)),
                Err(why) => lines.push(format!("no mean: {}", no_mean(*why))),
            }
            lines
        }
    }
}

pub fn mean_words(mean: &mean::Mean) -> String {
    format!("mean {} = {} / {}", computed(mean.value), computed(mean.sum.inner.value), computed(mean.count.inner.value))
}

pub fn no_mean(why: mean::NoMean) -> &'static str {
    match why {
        mean::NoMean::NoDifference => "sum or count has no difference in the window",
        mean::NoMean::OtherScrapes => "sum and count were not read, or not reset, at the same scrapes",
        mean::NoMean::NoObservations => "nothing was observed",
        mean::NoMean::NoSum => "the capture has no sum",
        mean::NoMean::SumUnproven => "the sum that stands beside it is of one of several label sets, and nothing says which",
    }
}

pub fn summary_lines(found: &summary::Summary, sample: impl Fn(&Sample) -> String) -> Vec<String> {
    let mut lines = Vec::new();
    for quantile in &found.quantiles {
        let name = format!("p{}", computed(quantile.q * 100.0));
        lines.push(match (&quantile.refused, &quantile.min, &quantile.max) {
            (Some(refusal), _, _) => format!("{name}: no figure: {}", refusal.words()),
            (None, Some(min), Some(max)) => {
                format!("{name} as the server reported it, over an unknown stretch: min {}, max {}", sample(min), sample(max))
            }
            _ => format!("{name}: no number in the window"),
        });
    }
    match (&found.mean, found.no_mean) {
        (Some(mean), _) => lines.push(mean_words(mean)),
        (None, Some(why)) => lines.push(format!("no mean: {}", no_mean(why))),
        (None, None) => {}
    }
    lines
}
