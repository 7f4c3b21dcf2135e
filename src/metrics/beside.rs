//! Samples beside an event: the last one before it and the first one after it, of the same worker.

use corr_metrics::model::{Sample, SeriesId};
use corr_metrics::select::Selector;
use corr_parsers::stamp::Stamp;
use serde_json::{Value as Json, json};

use super::asked::{Asked, Captured, title};
use super::workers::{self, Mapped, Said, Worker};
use crate::render::metrics::{number, seconds};

const MINUTE: i64 = 60_000_000_000;

/// The series that stand beside events, by worker.
pub struct Beside<'a> {
    asked: &'a Asked<'a>,
    series: Vec<Joined<'a>>,
    /// The endpoints of these series, with their worker.
    pub endpoints: Vec<(String, Option<Mapped>)>,
}

struct Joined<'a> {
    captured: &'a Captured<'a>,
    id: SeriesId,
    worker: Option<String>,
}

/// A series beside an event.
#[derive(Clone, Debug)]
pub struct Neighbours {
    pub series: String,
    pub target: String,
    pub capture: String,
    pub before: Option<Near>,
    pub after: Option<Near>,
    /// Nanoseconds beyond which a sample is none beside the event.
    pub reach: i64,
    /// Nanoseconds by which the capture's clock can be off.
    pub clock_error: i64,
}

/// A sample near an event.
#[derive(Clone, Debug)]
pub struct Near {
    pub time: String,
    pub value: f64,
    /// Nanoseconds between it and the nearer end of the event's stamp; negative if it lies within the stamp.
    pub away: i64,
}

impl<'a> Beside<'a> {
    /// The series that selectors mean, mapped to workers.
    pub fn new(asked: &'a Asked<'a>, selectors: &[Selector], workers: &[Worker], said: &[Said]) -> Beside<'a> {
        let mut beside = Beside { asked, series: Vec::new(), endpoints: Vec::new() };
        for hit in asked.hits(selectors) {
            let Some(captured) = asked.captures.iter().find(|c| std::ptr::eq(*c, hit.captured)) else { continue };
            let Some(endpoint) = captured.capture().endpoint(hit.member.endpoint) else { continue };
            let mapped = workers::of(endpoint, workers, said);
            let name = format!("{} of {}", title(endpoint), captured.name);
            if !beside.endpoints.iter().any(|(known, _)| *known == name) {
                beside.endpoints.push((name, mapped.clone()));
            }
            let worker = mapped.map(|m| m.worker);
            beside.series.extend(hit.series.iter().map(|id| Joined { captured, id: *id, worker: worker.clone() }));
        }
        beside
    }

    /// Captures that are asked.
    pub fn asked(&self) -> &'a Asked<'a> {
        self.asked
    }

    /// No series is meant.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Some series belongs to this worker.
    pub fn knows(&self, worker: &str) -> bool {
        self.series.iter().any(|s| s.worker.as_deref() == Some(worker))
    }

    /// The samples beside an event of a worker.
    pub fn of(&self, worker: &str, stamp: Stamp) -> Vec<Neighbours> {
        self.series.iter().filter(|s| s.worker.as_deref() == Some(worker)).filter_map(|s| s.near(stamp)).collect()
    }
}

impl Joined<'_> {
    fn near(&self, stamp: Stamp) -> Option<Neighbours> {
        let capture = self.captured.capture();
        let dial = self.captured.dial();
        let (offset, error) = dial.to_utc()?;
        let (start, end) = (stamp.start.saturating_sub(offset), stamp.end.saturating_sub(offset));
        let mut cursor = capture.samples.cursor();
        let before = cursor.upper(self.id.0, start).checked_sub(1).and_then(|i| cursor.get(self.id.0, i));
        let after = cursor.lower(self.id.0, end.saturating_sub(1));
        let after = cursor.get(self.id.0, after);
        // Beyond this a sample says nothing of the event: ten scrapes, at least a minute.
        let scrapes = self.captured.scrapes_of(self.id);
        let reach = scrapes.interval().map_or(MINUTE, |every| every.saturating_mul(10).max(MINUTE));
        let near = |sample: Sample, away: i64| (away <= reach).then(|| Near { time: dial.show(sample.at), value: sample.value, away });
        let series = capture.get(self.id)?;
        Some(Neighbours {
            series: capture.spelled(self.id),
            target: capture.endpoint(series.endpoint).map(title).unwrap_or_default(),
            capture: self.captured.name.clone(),
            before: before.and_then(|s| near(s, start.saturating_sub(s.at))),
            after: after.and_then(|s| near(s, s.at.saturating_sub(end.saturating_sub(1)))),
            reach,
            clock_error: error,
        })
    }
}

impl Neighbours {
    /// For people: `sglang:token_usage{…} 0.42 (0.3 s before) 0.47 (0.7 s after)`.
    pub fn words(&self) -> String {
        let point = |near: &Option<Near>, side: &str| match near {
            Some(near) => format!("{} ({} {side})", number(near.value), seconds(near.away)),
            None => format!("no sample within {} {side}", seconds(self.reach)),
        };
        let error = if self.clock_error > 0 { format!(", clock ± {}", seconds(self.clock_error)) } else { String::new() };
        let place = format!("[{}] of {}", self.target, self.capture);
        format!("{}{place} {}, {}{error}", self.series, point(&self.before, "before"), point(&self.after, "after"))
    }

    /// For JSON.
    pub fn json(&self) -> Json {
        let value = |v: f64| if v.is_finite() { json!(v) } else { json!(number(v)) };
        let point = |near: &Option<Near>| near.as_ref().map(|n| json!({"time": n.time, "value": value(n.value), "away_ns": n.away}));
        json!({
            "series": self.series,
            "target": self.target,
            "capture": self.capture,
            "before": point(&self.before),
            "after": point(&self.after),
            "reach_ns": self.reach,
            "clock_error_ns": self.clock_error,
        })
    }
}
