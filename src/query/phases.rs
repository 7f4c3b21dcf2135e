//! Windows that a run's own records name: the load generator's phases, the driver's benchmark and its teardown.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use corr_parsers::event::{Event, Value};
use serde::{Deserialize, Serialize};

use super::sources::Asked;
use crate::run::events::{self, Facts, Start};

/// A window that records name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// `warmup`, `measured`, `benchmark`, `teardown`, or the load generator's own word.
    pub name: String,
    /// UTC nanoseconds, half-open; `None` is without an end.
    pub since: i64,
    pub until: Option<i64>,
    /// What says so, with the records that are its ends.
    pub how: String,
    /// Requests of the load generator in it, where those are what names it.
    pub requests: Option<u64>,
    /// The records that are its ends: source and line.
    pub ends: Vec<(String, u64)>,
}

/// The windows of records that are not there to be read for them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Named {
    /// Those that records name.
    pub phases: Vec<Phase>,
    /// Those of the lives of servers.
    pub lives: Vec<Phase>,
}

/// The formats whose records name phases.
const FORMATS: &[&str] = &["aiperf", "srtctl"];

/// Can records of this format name a window?
pub fn may_name(format: &str) -> bool {
    FORMATS.contains(&format)
}

/// All of a run, by name.
pub fn all(sources: &[Asked]) -> Vec<Phase> {
    let mut found = Found::default();
    for source in sources.iter().filter(|s| may_name(s.format)) {
        let Ok(bytes) = source.bytes() else { continue };
        events::each(bytes, &source.layout, source.timing(), Start::of_source(), bytes.len(), |_, event, facts| {
            found.take(event, facts, &source.name);
            ControlFlow::Continue(())
        });
    }
    found.phases()
}

#[derive(Default)]
struct Found {
    /// Requests of each phase: their number, first start and last end, with the records that say so.
    requests: BTreeMap<String, Requests>,
    benchmark: Option<(i64, Place)>,
    completed: Option<(i64, Place)>,
    cleanup: Option<(i64, Place)>,
}

/// A record: source and line.
type Place = (String, u64);

fn at(place: &Place) -> String {
    format!("{}:{}", place.0, place.1)
}

struct Requests {
    n: u64,
    first: (i64, Place),
    last: (i64, Place),
}

impl Found {
    fn take(&mut self, event: &Event<'_>, facts: &Facts, source: &str) {
        let Some(stamp) = facts.stamp else { return };
        let here = || (source.to_string(), facts.line);
        if let Some(Value::Str(phase)) = event.get("benchmark_phase") {
            // A request without an end was seen to start.
            let end = match event.get("request_end_ns") {
                Some(Value::Int(ns)) => *ns,
                _ => stamp.start,
            };
            let name = if phase == "profiling" { "measured" } else { phase };
            let known = self.requests.entry(name.to_string()).or_insert_with(|| Requests {
                n: 0,
                first: (i64::MAX, Place::default()),
                last: (i64::MIN, Place::default()),
            });
            known.n += 1;
            if stamp.start < known.first.0 {
                known.first = (stamp.start, here());
            }
            if end > known.last.0 {
                known.last = (end, here());
            }
        }
        let place = match event.kind.name {
            "benchmark_started" => &mut self.benchmark,
            "benchmark_completed" | "benchmark_failed" => &mut self.completed,
            "cleanup_started" => &mut self.cleanup,
            _ => return,
        };
        // The first start, and the last end before it is known what came of it.
        if place.is_none() {
            *place = Some((stamp.start, here()));
        }
    }

    fn phases(self) -> Vec<Phase> {
        let mut out: Vec<Phase> = self
            .requests
            .into_iter()
            .map(|(name, found)| Phase {
                name,
                since: found.first.0,
                // Half-open: the last request's end is in it.
                until: found.last.0.checked_add(1),
                how: format!("{} requests of the load generator, {} to {}", found.n, at(&found.first.1), at(&found.last.1)),
                requests: Some(found.n),
                ends: vec![found.first.1, found.last.1],
            })
            .collect();
        if let (Some((since, from)), Some((until, to))) = (&self.benchmark, &self.completed) {
            let how = format!("the driver's benchmark command, warm-up in it, {} to {}", at(from), at(to));
            let ends = vec![from.clone(), to.clone()];
            out.push(Phase { name: "benchmark".into(), since: *since, until: Some(*until), how, requests: None, ends });
        }
        if let Some((since, from)) = self.cleanup.or(self.completed) {
            let how = format!("from the driver's {} on", at(&from));
            out.push(Phase { name: "teardown".into(), since, until: None, how, requests: None, ends: vec![from] });
        }
        out
    }
}
