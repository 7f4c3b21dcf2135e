//! What series did in a window.

use std::io::{self, Write};

use corr_metrics::coverage::Coverage;
use corr_metrics::model::{Fidelity, Sample};
use corr_metrics::window::{capacity, counter, gauge, histogram};
use serde_json::{Value as Json, json};

use super::catalogue::fidelity;
use super::json as dated;
use super::offsets::ClockOffset;
use super::words::{
    bracket_words, counter_lines, gauge_lines, grade, histogram_lines, mean_words, median, no_mean, occupied_lines, quantile_words,
    summary_lines,
};
use super::{computed, covered, number, seconds, table};
use crate::metrics::asked::{Captured, Hit, title};
use crate::metrics::figures::{Counter, Figure, Histogram, Part};
use crate::metrics::occupied::{self, Occupied};
use crate::metrics::span::{Coverage as Lies, Placed};
use crate::metrics::workers::Mapped;
use crate::render::events::Format;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::{self, terminal};

/// Figures of a window, with what they rest on.
pub struct Figured<'a> {
    /// Coverage of the window by the captures that are asked, by endpoint.
    pub covered: Vec<(&'a Captured<'a>, Vec<Coverage>)>,
    /// How far the clocks of the captures are apart.
    pub offsets: Vec<ClockOffset>,
    pub rows: Vec<Row<'a>>,
}

/// The figure of a part of a hit.
pub struct Row<'a> {
    pub hit: &'a Hit<'a>,
    pub placed: Placed,
    pub part: Part,
    /// The worker that its endpoint is, where that was asked.
    pub worker: Option<Mapped>,
}

impl Figured<'_> {
    /// Writes them.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => {
                for (captured, covered) in &self.covered {
                    writeln!(out, "{}", paint.tone(Tone::Place, &terminal(&captured.name)))?;
                    covered::text(captured, covered, "the window", paint, out)?;
                }
                for offset in &self.offsets {
                    offset.text(out)?;
                }
                for (i, row) in self.rows.iter().enumerate() {
                    if i > 0 || !self.covered.is_empty() {
                        writeln!(out)?;
                    }
                    row.text(paint, out)?;
                }
                Ok(())
            }
            Format::Json => {
                let rows: Vec<Json> = self.rows.iter().map(Row::json).collect();
                let offsets: Vec<Json> = self.offsets.iter().map(ClockOffset::json).collect();
                let whole =
                    json!({"schema": "corr.metrics.window.v1", "coverage": self.coverage(), "clock_offsets": offsets, "figures": rows});
                safe::write_json(out, &whole, true)?;
                writeln!(out)
            }
            Format::Jsonl => {
                for mut line in self.coverage() {
                    line["type"] = "coverage".into();
                    safe::write_json(out, &line, false)?;
                    writeln!(out)?;
                }
                for offset in &self.offsets {
                    let mut line = offset.json();
                    line["type"] = "clock_offset".into();
                    safe::write_json(out, &line, false)?;
                    writeln!(out)?;
                }
                for row in &self.rows {
                    safe::write_json(out, &row.json(), false)?;
                    writeln!(out)?;
                }
                Ok(())
            }
            Format::Csv | Format::Markdown => table::write(format, COLUMNS, self.rows.iter().map(Row::cells), out),
        }
    }
}

impl Figured<'_> {
    fn coverage(&self) -> Vec<Json> {
        let all = self.covered.iter().filter_map(|(captured, covered)| match covered::json(captured, covered) {
            Json::Array(list) => Some(list),
            _ => None,
        });
        all.flatten().collect()
    }
}

/// What a cell of a figure says.
#[derive(Clone, Debug)]
pub enum Value {
    None,
    Text(String),
    Count(u64),
    /// As it was scraped.
    Seen(f64),
    /// Of what was scraped; shown to six digits.
    Computed(f64),
}

impl Value {
    fn text(&self) -> String {
        match self {
            Value::None => String::new(),
            Value::Text(text) => text.clone(),
            Value::Count(n) => n.to_string(),
            Value::Seen(value) => number(*value),
            Value::Computed(value) => computed(*value),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        text.to_string().into()
    }
}

impl From<String> for Value {
    /// No text is nothing.
    fn from(text: String) -> Value {
        if text.is_empty() { Value::None } else { Value::Text(text) }
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Value {
        text.map_or(Value::None, Value::from)
    }
}

/// The cells of a figure.
pub const COLUMNS: &[&str] = &[
    "series",
    "target",
    "type",
    "origin",
    "status",
    "least",
    "most",
    "samples",
    "observations",
    "first_time",
    "first",
    "last_time",
    "last",
    "resets",
    "start",
    "end",
    "per_second",
    "min",
    "median",
    "max",
    "time_weighted_mean",
    "coverage",
    "quantiles",
    "mean",
    "sum",
    "occupied_min",
    "occupied_max",
    "occupied_max_time",
    "worker",
    "values",
    "citation",
    "capture",
];

/// What a counter had counted at its first sample, before which none is, and how that is said; `None` where it was seen before, or had counted nothing.
fn unseen(first: Sample, start: counter::Edge, appeared: Option<counter::Appearance>) -> Option<(f64, String)> {
    if let Some(appeared) = appeared {
        return Some((appeared.value, format!("first seen with {}, which is not in it", computed(appeared.value))));
    }
    let stood = start.outside.is_none() && first.value > 0.0;
    stood.then(|| (first.value, format!("it stood at {} at its first sample, which is not in it", computed(first.value))))
}

/// What later lives had counted before their first samples.
fn lives(base: f64) -> String {
    if base > 0.0 { format!("; {} more before the first sample of later lives", computed(base)) } else { String::new() }
}

impl Row<'_> {
    /// Some sample of the window says something.
    pub fn answers(&self) -> bool {
        match &self.part.figure {
            Figure::Counter(counter) => !matches!(counter.answer, counter::Answer::NoSamples(_)),
            Figure::Gauge(answer) => !matches!(answer, gauge::Answer::NoSamples { .. }),
            Figure::Histogram(found) => !matches!(found.answer, histogram::Answer::NoSamples),
            Figure::Summary(found) => found.mean.is_some() || found.quantiles.iter().any(|q| q.n > 0),
        }
    }

    /// `name{labels}[target]`.
    pub fn name(&self) -> String {
        let target = self.target();
        if target.is_empty() { self.spelled() } else { format!("{}[{target}]", self.spelled()) }
    }

    /// The figure on one line.
    pub fn brief(&self) -> String {
        let text = match &self.part.figure {
            Figure::Counter(Counter { answer: counter::Answer::Answered(delta), bracket, .. }) => {
                // What nobody saw it count may have been counted here as well.
                let before = unseen(delta.first, delta.start, delta.first_appearance);
                let bound = bracket.map_or_else(String::new, |(low, high)| {
                    format!(" ({})", bracket_words((low, high.map(|high| high + before.as_ref().map_or(0.0, |b| b.0)))))
                });
                let later = lives(delta.restart_base.value);
                format!("+{}{bound}{}{later}", computed(delta.inner.value), before.map_or(String::new(), |b| format!("; {}", b.1)))
            }
            Figure::Counter(Counter { answer, bracket, .. }) => {
                let bound = bracket.and_then(|b| b.1).map_or_else(String::new, |most| format!(" (at most {})", computed(most)));
                let what = match answer {
                    counter::Answer::Refused(refusal) => refusal.words(),
                    counter::Answer::OneSample(_) => "one sample, no difference",
                    _ => "no sample",
                };
                let before = match answer {
                    counter::Answer::OneSample(one) => unseen(one.sample, one.start, one.first_appearance),
                    _ => None,
                };
                format!("{what}{bound}{}", before.map_or(String::new(), |b| format!("; {}", b.1)))
            }
            Figure::Gauge(gauge::Answer::Answered(found)) => {
                let value = |s: &Option<Sample>| s.map_or_else(|| "?".to_string(), |s| number(s.value));
                let median = found.median.as_ref().map_or_else(|| "?".to_string(), median);
                format!("min {}, median {median}, max {} of {} samples", value(&found.min), value(&found.max), found.n)
            }
            Figure::Gauge(gauge::Answer::NoSamples { .. }) => "no sample".into(),
            Figure::Gauge(gauge::Answer::Refused(refusal)) => refusal.words().into(),
            Figure::Histogram(found) => match &found.answer {
                histogram::Answer::Answered(buckets) => {
                    let n = buckets.buckets.last().map_or(0.0, |b| b.cumulative.count);
                    let quantiles: Vec<String> = found.quantiles.iter().map(quantile_words).collect();
                    let count = found.mean.as_ref().ok().map(|mean| &mean.count);
                    let before =
                        count.and_then(|c| unseen(c.first, c.start, c.first_appearance)).map_or(String::new(), |b| format!("; {}", b.1));
                    let later = lives(buckets.buckets.last().map_or(0.0, |b| b.restart_base));
                    format!("{} observations; {}{before}{later}", computed(n), quantiles.join("; "))
                }
                histogram::Answer::Refused(refusal) => refusal.words().into(),
                histogram::Answer::OneSample { .. } => "one scrape, no difference".into(),
                histogram::Answer::NoSamples => "no scrape".into(),
            },
            Figure::Summary(found) => match (&found.mean, found.no_mean) {
                (Some(mean), _) => mean_words(mean),
                (None, why) => why.map_or_else(|| "no mean".into(), |why| format!("no mean: {}", no_mean(why))),
            },
        };
        match self.placed.coverage {
            Lies::Whole => text,
            Lies::Part { .. } => format!("{text} (the capture covers a part of it)"),
            Lies::Outside => format!("{text} (outside the capture)"),
        }
    }

    /// `name{labels}` of its series; of several the family's.
    fn spelled(&self) -> String {
        match self.part.series[..] {
            [one] => self.hit.captured.capture().spelled(one),
            _ => format!("{}{}", self.hit.group.name, self.hit.member.labels),
        }
    }

    fn target(&self) -> String {
        self.hit.captured.capture().endpoint(self.hit.member.endpoint).map(title).unwrap_or_default()
    }

    /// Where the figure comes from; `None` if it rests on no sample.
    pub fn citation(&self) -> Option<String> {
        self.rests_on().and_then(|(from, to)| self.cited(from, to))
    }

    fn cited(&self, from: i64, to: i64) -> Option<String> {
        self.part.series.first().map(|id| match self.part.series.len() {
            1 => self.hit.captured.citation(*id, from, to),
            _ => self.hit.captured.cited(&self.spelled(), self.hit.member.endpoint, from, to),
        })
    }

    /// The record of a log that says a sample of its one series.
    fn line(&self, at: i64) -> Option<String> {
        let [id] = self.part.series[..] else { return None };
        let line = self.hit.captured.line(id, at)?;
        Some(format!("{}:{line}", self.hit.captured.name))
    }

    /// What the records of a log say together: each says what it did, so that they can be added where a gauge's scrapes cannot.
    fn sum(&self) -> Option<f64> {
        let (Figure::Gauge(gauge::Answer::Answered(found)), [id], true) =
            (&self.part.figure, &self.part.series[..], self.hit.captured.is_log())
        else {
            return None;
        };
        let samples = self.hit.captured.capture().samples.between(id.0, found.window.from(), found.window.to());
        let numbers: Vec<f64> = samples.iter().map(|s| s.value).filter(|v| !v.is_nan()).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum())
    }

    fn occupied(&self) -> Option<Occupied> {
        self.part.series.first().and_then(|id| occupied::of(self.hit, *id, &self.placed))
    }

    /// First and last sample that the figure rests on.
    fn rests_on(&self) -> Option<(i64, i64)> {
        match &self.part.figure {
            Figure::Counter(Counter { answer, .. }) => match answer {
                counter::Answer::Answered(delta) => Some((delta.first.at, delta.last.at)),
                counter::Answer::OneSample(one) => Some((one.sample.at, one.sample.at)),
                _ => None,
            },
            Figure::Gauge(gauge::Answer::Answered(found)) => {
                let id = self.part.series.first()?;
                let samples = self.hit.captured.capture().samples.between(id.0, self.placed.window.from(), self.placed.window.to());
                let first = found.carried.map(|s| s.at).or(samples.first().map(|s| s.at))?;
                Some((first, samples.last().map_or(first, |s| s.at)))
            }
            Figure::Histogram(Histogram { answer: histogram::Answer::Answered(found), .. }) => {
                Some((found.segments.first()?.first, found.segments.last()?.last))
            }
            Figure::Summary(summary) => {
                let ends = summary.quantiles.iter().filter_map(|q| Some((q.first?.at, q.last?.at)));
                ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            }
            _ => None,
        }
    }

    fn text(&self, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let captured = self.hit.captured;
        let typed = self.hit.group.typed;
        let name = paint.tone(Tone::Kind, &terminal(&self.spelled()));
        let place = paint.tone(Tone::Place, &terminal(&self.target()));
        writeln!(out, "{name}  {place}  {} ({})", typed.kind.word(), typed.origin.word())?;
        if let Some(mapped) = self.worker.as_ref().filter(|m| m.worker != self.target()) {
            writeln!(out, "  of {}: {}", terminal(&mapped.worker), terminal(&mapped.how))?;
        }
        let dial = captured.dial();
        for line in self.lines(captured) {
            writeln!(out, "  {line}")?;
        }
        if let Some(sum) = self.sum() {
            writeln!(out, "  sum {} of what these records say", computed(sum))?;
        }
        if let Some(occupied) = self.occupied() {
            for line in occupied_lines(&occupied, captured) {
                writeln!(out, "  {line}")?;
            }
        }
        if let Some(slack) = &self.placed.error {
            writeln!(out, "  the window's edges are ± {} on this capture's clock", seconds(slack.by))?;
        }
        if let Lies::Part { late, early } = self.placed.coverage {
            let mut parts = Vec::new();
            if late > 0 {
                parts.push(format!("begins {} after the window's start", seconds(late)));
            }
            if early > 0 {
                parts.push(format!("ends {} before the window's end", seconds(early)));
            }
            let (first, last) = captured.extent().map(|(a, b)| (dial.show(a), dial.show(b))).unwrap_or_default();
            let text = format!("the capture {}: it covers {first} … {last}", parts.join(" and "));
            writeln!(out, "  {}", paint.tone(Tone::Warn, &text))?;
        }
        let capture = captured.capture();
        let disordered: u64 = self.part.series.iter().filter_map(|id| capture.get(*id)).map(|s| s.trouble.disordered).sum();
        if disordered > 0 {
            let text = format!("{disordered} samples stood after later ones in the file and were sorted in: falls may be of that");
            writeln!(out, "  {}", paint.tone(Tone::Warn, &text))?;
        }
        if capture.fidelity != Fidelity::Raw {
            writeln!(out, "  {}", paint.tone(Tone::Warn, fidelity(capture.fidelity)))?;
        }
        if let Some(cited) = self.citation() {
            writeln!(out, "  {}", paint.tone(Tone::Dim, &terminal(&cited)))?;
        }
        Ok(())
    }

    fn lines(&self, captured: &Captured<'_>) -> Vec<String> {
        let sample = |s: &Sample| {
            let cited = self.line(s.at).map_or_else(String::new, |line| format!(" ({})", terminal(&line)));
            format!("{} at {}{cited}", number(s.value), captured.dial().show(s.at))
        };
        match &self.part.figure {
            Figure::Counter(counter) => counter_lines(counter, sample, captured),
            Figure::Gauge(answer) => gauge_lines(answer, sample),
            Figure::Histogram(found) => histogram_lines(found, captured),
            Figure::Summary(found) => summary_lines(found, sample),
        }
    }

    /// The figure with all that it rests on.
    pub fn json(&self) -> Json {
        let captured = self.hit.captured;
        let dial = captured.dial();
        let (kind, answer) = match &self.part.figure {
            Figure::Counter(found) => {
                let mut answer = dated::of(&found.answer, dial);
                answer["reset_evidence"] = dated::of(&found.resets, dial);
                answer["least"] = json!(found.bracket.map(|b| b.0));
                answer["most"] = json!(found.bracket.and_then(|b| b.1));
                answer["rate"] = found.answer.delta().and_then(counter::Delta::rate).map_or(Json::Null, |r| dated::of(&r, dial));
                ("counter", answer)
            }
            Figure::Gauge(found) => {
                let mut answer = dated::of(found, dial);
                if let gauge::Answer::Answered(found) = found {
                    for (end, sample) in [("min", found.min), ("max", found.max), ("carried", found.carried)] {
                        if let Some(line) = sample.and_then(|s| self.line(s.at)) {
                            answer[end]["citation"] = line.into();
                        }
                    }
                }
                ("gauge", answer)
            }
            Figure::Histogram(found) => {
                let mut answer = dated::of(&found.answer, dial);
                answer["quantiles"] = dated::of(&found.quantiles, dial);
                answer["mean"] = found.mean.as_ref().map_or(Json::Null, |mean| dated::of(mean, dial));
                answer["no_mean"] = json!(found.mean.as_ref().err());
                ("histogram", answer)
            }
            Figure::Summary(summary) => ("summary", dated::of(summary, dial)),
        };
        let labels: serde_json::Map<String, Json> = match self.part.series[..] {
            [one] => captured.capture().get(one).map(|s| s.labels.iter().map(|(k, v)| (k.to_string(), v.into())).collect()),
            _ => Some(self.hit.member.labels.iter().map(|(k, v)| (k.to_string(), v.into())).collect()),
        }
        .unwrap_or_default();
        let mut whole = json!({
            "capture": captured.name,
            "target": self.target(),
            "family": self.hit.group.name,
            "series": self.spelled(),
            "labels": labels,
            "type": self.hit.group.typed.kind.word(),
            "type_origin": self.hit.group.typed.origin,
            "figure": kind,
            "answer": answer,
            "clock_error_ns": self.placed.error.map(|e| e.by),
            "spans_window": self.placed.coverage.word(),
            "exact": !self.part.rounded(captured),
            "fidelity": captured.capture().fidelity,
            "citation": self.citation(),
        });
        if let Some(mapped) = &self.worker {
            whole["worker"] = mapped.worker.as_str().into();
            whole["worker_by"] = mapped.how.as_str().into();
        }
        if let Some(sum) = self.sum() {
            whole["sum"] = json!(sum);
        }
        if let Some(occupied) = self.occupied() {
            whole["occupied"] = dated::of(&occupied.answer, dial);
            whole["occupied"]["at_most_taken"] = json!(occupied.parts);
            whole["occupied"]["error"] = json!(occupied.error);
            whole["occupied"]["capacity_citation"] = json!(self.capacity_cited(&occupied));
        }
        whole
    }

    fn capacity_cited(&self, occupied: &Occupied) -> String {
        self.hit.captured.citation(occupied.capacity, self.placed.window.from(), self.placed.window.to())
    }

    fn cells(&self) -> Vec<String> {
        self.values().iter().map(Value::text).collect()
    }

    /// The values of [`COLUMNS`].
    pub fn values(&self) -> Vec<Value> {
        let captured = self.hit.captured;
        let dial = captured.dial();
        let typed = self.hit.group.typed;
        let mut cells = vec![Value::None; COLUMNS.len()];
        let mut put = |column: &str, value: Value| {
            if let Some(cell) = COLUMNS.iter().position(|c| *c == column).and_then(|i| cells.get_mut(i)) {
                *cell = value;
            }
        };
        let computed = |value: Option<f64>| value.map_or(Value::None, Value::Computed);
        let seen = |value: Option<f64>| value.map_or(Value::None, Value::Seen);
        put("series", self.spelled().into());
        put("target", self.target().into());
        put("type", typed.kind.word().into());
        put("origin", typed.origin.word().into());
        put("capture", captured.name.as_str().into());
        put("citation", self.citation().into());
        put("values", fidelity(captured.capture().fidelity).into());
        put("sum", computed(self.sum()));
        put("worker", self.worker.as_ref().map(|m| m.worker.clone()).into());
        if let Some(capacity::Answer::Answered(found)) = self.occupied().map(|o| o.answer) {
            put("occupied_min", Value::Computed(found.min.occupied));
            put("occupied_max", Value::Computed(found.max.occupied));
            put("occupied_max_time", dial.show(found.max.at).into());
        }
        match &self.part.figure {
            Figure::Counter(Counter { answer, bracket, .. }) => {
                put("status", counter_status(answer).into());
                put("most", computed(bracket.and_then(|b| b.1)));
                if let counter::Answer::Answered(delta) = answer {
                    put("least", computed(bracket.map(|b| b.0)));
                    put("samples", Value::Count(delta.n as u64));
                    put("first_time", dial.show(delta.first.at).into());
                    put("first", Value::Seen(delta.first.value));
                    put("last_time", dial.show(delta.last.at).into());
                    put("last", Value::Seen(delta.last.value));
                    put("resets", Value::Count(delta.resets.len() as u64));
                    if bracket.is_some() {
                        put("start", grade(delta.start.grade).into());
                        put("end", grade(delta.end.grade).into());
                    }
                    put("per_second", computed(delta.rate().map(|r| r.per_second.value)));
                }
            }
            Figure::Gauge(gauge::Answer::Answered(found)) => {
                put("status", "answered".into());
                put("samples", Value::Count(found.n as u64));
                put("min", seen(found.min.map(|s| s.value)));
                put("median", computed(found.median.as_ref().map(|m| m.value)));
                put("max", seen(found.max.map(|s| s.value)));
                put("time_weighted_mean", computed(found.time_weighted));
                put("coverage", computed(found.coverage));
            }
            Figure::Gauge(gauge::Answer::NoSamples { .. }) => put("status", "no_samples".into()),
            Figure::Gauge(gauge::Answer::Refused(_)) => put("status", "refused".into()),
            Figure::Histogram(found) => {
                put("status", histogram_status(&found.answer).into());
                put("quantiles", found.quantiles.iter().map(quantile_words).collect::<Vec<_>>().join("; ").into());
                if let Ok(mean) = &found.mean {
                    put("mean", Value::Computed(mean.value));
                }
                if let histogram::Answer::Answered(buckets) = &found.answer {
                    put("observations", seen(buckets.buckets.last().map(|b| b.cumulative.count)));
                }
            }
            Figure::Summary(found) => {
                put("status", "answered".into());
                put("mean", computed(found.mean.as_ref().map(|m| m.value)));
            }
        }
        cells
    }
}

fn counter_status(answer: &counter::Answer) -> &'static str {
    match answer {
        counter::Answer::Answered(_) => "answered",
        counter::Answer::OneSample(_) => "one_sample",
        counter::Answer::NoSamples(_) => "no_samples",
        counter::Answer::Refused(_) => "refused",
    }
}

fn histogram_status(answer: &histogram::Answer) -> &'static str {
    match answer {
        histogram::Answer::Answered(_) => "answered",
        histogram::Answer::OneSample { .. } => "one_sample",
        histogram::Answer::NoSamples => "no_samples",
        histogram::Answer::Refused(_) => "refused",
    }
}
