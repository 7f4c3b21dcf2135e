//! A figure of a run, with the bounds of each of its numbers.

use corr_metrics::window::counter::{Answer, Delta};
use corr_metrics::window::quantile::Estimate;
use corr_metrics::window::{gauge, histogram};

use crate::diff::figures::{Figure, Quantity};
use crate::diff::range::Range;
use crate::metrics::asked::{Captured, Hit, title};
use crate::metrics::figures::{self, Counter, Histogram};
use crate::metrics::span::{Coverage, Placed};
use crate::metrics::workers::Mapped;
use crate::render::evidence::shell;
use crate::render::metrics::{Row, computed, seconds};

/// What is known of one part of a hit.
pub struct Part<'a> {
    pub run: &'a str,
    pub hit: &'a Hit<'a>,
    pub placed: &'a Placed,
    pub part: figures::Part,
    pub mapped: Option<Mapped>,
    pub role: Option<String>,
    /// Flags of the window, for the command.
    pub flags: String,
    pub if_both: bool,
}

/// The figure of it.
pub fn of(given: Part<'_>) -> Figure {
    let Part { run, hit, placed, part, mapped, role, flags, if_both } = given;
    let captured = hit.captured;
    let target = captured.capture().endpoint(hit.member.endpoint).map(title).unwrap_or_default();
    let spelled = match part.series[..] {
        [one] => captured.capture().spelled(one),
        _ => format!("{}{}", hit.group.name, hit.member.labels),
    };
    let (quantities, ends, resets, mut notes) = match &part.figure {
        figures::Figure::Counter(counter) => of_counter(counter, placed),
        figures::Figure::Gauge(answer) => of_gauge(answer),
        figures::Figure::Histogram(found) => of_histogram(found, placed),
        figures::Figure::Summary(found) => {
            let mean =
                found.mean.as_ref().map(|m| Quantity { name: "mean".into(), value: Some(m.value), range: Some(bounds(m.low, m.high)) });
            let ends = found.mean.as_ref().map(|m| (m.count.first.at, m.count.last.at));
            (mean.into_iter().collect(), ends, 0, vec!["quantiles are the server's own over an unknown stretch: not compared".to_string()])
        }
    };
    let kind = match &part.figure {
        figures::Figure::Counter(_) => "counter",
        figures::Figure::Gauge(_) => "gauge",
        figures::Figure::Histogram(_) => "histogram",
        figures::Figure::Summary(_) => "summary",
    };
    match placed.coverage {
        Coverage::Whole => {}
        Coverage::Part { late, early } => {
            notes.push(format!("the capture begins {} after the window's start and ends {} before its end", seconds(late), seconds(early)));
        }
        Coverage::Outside => notes.push("the capture covers nothing of the window".into()),
    }
    if let Some(slack) = &placed.error {
        notes.push(format!("the window's edges are ± {} on this capture's clock", seconds(slack.by)));
    }
    let labels = hit.member.labels.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let selector = selector(&spelled, &target);
    let row = Row { hit, placed: *placed, part, worker: None };
    let says = match ends {
        Some((first, last)) => format!("{}, between {} and {}", row.brief(), show(captured, first), show(captured, last)),
        None => row.brief(),
    };
    Figure {
        family: hit.group.name.clone(),
        citation: row.citation(),
        spelled,
        labels,
        target,
        worker: mapped.as_ref().map(|m| m.worker.clone()),
        role,
        how: mapped.map(|m| m.how),
        capture: captured.name.clone(),
        kind,
        says,
        quantities,
        notes,
        resets,
        whole: placed.coverage == Coverage::Whole,
        reproduce: format!("corr metrics {} {}{flags}", shell(run), shell(&selector)),
        if_both,
    }
}

fn show(captured: &Captured<'_>, at: i64) -> String {
    captured.dial().show(at)
}

/// The selector that means this series of this endpoint.
fn selector(spelled: &str, target: &str) -> String {
    if target.is_empty() {
        return spelled.to_string();
    }
    let target = format!("target=\"{}\"", target.replace('\\', "\\\\").replace('"', "\\\""));
    match spelled.strip_suffix('}') {
        Some(open) if open.ends_with('{') => format!("{open}{target}}}"),
        Some(open) => format!("{open},{target}}}"),
        None => format!("{spelled}{{{target}}}"),
    }
}

type Numbers = (Vec<Quantity>, Option<(i64, i64)>, usize, Vec<String>);

fn bounds(low: f64, high: f64) -> Range {
    Range::new(low, high.is_finite().then_some(high))
}

/// Seconds of the window, least and most.
fn length(placed: &Placed) -> (f64, f64) {
    let by = placed.error.map_or(0, |slack| slack.by).saturating_mul(2);
    let ns = placed.window.length();
    (ns.saturating_sub(by).max(0) as f64 / 1e9, ns.saturating_add(by) as f64 / 1e9)
}

/// A count by the window's length; what its bracket leaves open stays open.
fn per_second(range: Range, placed: &Placed) -> Option<Range> {
    let (least, most) = length(placed);
    let high = range.high.filter(|_| least > 0.0).map(|high| high / least);
    (most > 0.0).then(|| Range::new(range.low / most, high))
}

/// A difference with its bracket, and both by the second.
fn of_delta(name: &str, delta: &Delta, range: Option<Range>, placed: &Placed) -> Vec<Quantity> {
    let rate = delta.rate().map(|r| r.per_second.value);
    // What a series had counted at its first sample may have been counted in the window or before it, whether an earlier scrape lacks it or there
    // is none.
    let unseen = if delta.start.outside.is_none() { delta.first.value } else { 0.0 };
    let appeared = delta.first_appearance.map_or(unseen, |first| first.value);
    let range = range.map(|r| Range::new(r.low, r.high.map(|high| high + appeared)));
    vec![
        Quantity { name: name.into(), value: Some(delta.inner.value), range },
        Quantity { name: format!("{name} per second"), value: rate, range: range.and_then(|r| per_second(r, placed)) },
    ]
}

fn of_counter(counter: &Counter, placed: &Placed) -> Numbers {
    let range = counter.bracket.map(|(low, high)| Range::new(low, high));
    match &counter.answer {
        Answer::Answered(delta) => {
            let mut notes = Vec::new();
            if !delta.resets.is_empty() {
                let base = computed(delta.restart_base.value);
                notes
                    .push(format!("reset {} times; {base} more were counted by later lives before their first scrape", delta.resets.len()));
            }
            if let Some(first) = &delta.first_appearance {
                notes.push(format!("appeared with {}, which may have been counted in the window or before", computed(first.value)));
            } else if delta.start.outside.is_none() && delta.first.value > 0.0 {
                let stood = computed(delta.first.value);
                notes.push(format!("stood at {stood} at its first sample: that may have been counted in the window or before"));
            }
            (of_delta("increase", delta, range, placed), Some((delta.first.at, delta.last.at)), delta.resets.len(), notes)
        }
        Answer::OneSample(one) => {
            let none = Quantity { name: "increase".into(), value: None, range };
            (vec![none], Some((one.sample.at, one.sample.at)), 0, Vec::new())
        }
        Answer::NoSamples(_) => (vec![Quantity { name: "increase".into(), value: None, range }], None, 0, Vec::new()),
        Answer::Refused(_) => (vec![Quantity { name: "increase".into(), value: None, range: None }], None, 0, Vec::new()),
    }
}

/// What its samples showed: from the least to the most.
fn of_gauge(answer: &gauge::Answer) -> Numbers {
    let gauge::Answer::Answered(found) = answer else {
        return (vec![Quantity { name: "values".into(), value: None, range: None }], None, 0, Vec::new());
    };
    let ends = found.min.zip(found.max);
    let range = ends.map(|(min, max)| Range::new(min.value - found.error, Some(max.value + found.error)));
    (vec![Quantity { name: "values".into(), value: found.median.as_ref().map(|m| m.value), range }], None, 0, Vec::new())
}

fn of_histogram(found: &Histogram, placed: &Placed) -> Numbers {
    let histogram::Answer::Answered(buckets) = &found.answer else {
        return (vec![Quantity { name: "observations".into(), value: None, range: None }], None, 0, Vec::new());
    };
    let ends = buckets.segments.first().zip(buckets.segments.last()).map(|(a, b)| (a.first, b.last));
    let mut quantities = Vec::new();
    match &found.mean {
        Ok(mean) => {
            let count = &mean.count;
            let range = Range::new(count.inner.low(), count.outer.map(|o| o.high()));
            quantities.extend(of_delta("observations", count, Some(range), placed));
            quantities.push(Quantity { name: "mean".into(), value: Some(mean.value), range: Some(bounds(mean.low, mean.high)) });
        }
        Err(_) => {
            // Without a count of its own nothing bounds what was observed outside of these scrapes.
            let n = buckets.buckets.last().map(|b| b.cumulative.count);
            quantities.push(Quantity { name: "observations".into(), value: n, range: n.map(|n| Range::new(n, None)) });
        }
    }
    for quantile in &found.quantiles {
        let name = format!("p{}", computed(quantile.q * 100.0));
        let (value, range) = match quantile.estimate {
            // The first bucket holds its low bound, zero.
            Estimate::Within { value, low, high } => (Some(value), Some(Range { low, high: Some(high), open: low > 0.0 })),
            Estimate::Censored { above } => (None, Some(Range { low: above, high: None, open: true })),
            Estimate::Outside { .. } | Estimate::Undefined { .. } => (None, None),
        };
        quantities.push(Quantity { name, value, range });
    }
    (quantities, ends, buckets.segments.len().saturating_sub(1), Vec::new())
}
