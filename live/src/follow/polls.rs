//! `/health` and `/metrics`, asked again and again: each endpoint on its own task and grid.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

use super::message::{Message, Scrape};
use crate::clock::{Clock, nanos};
use crate::exposed::{self, Exposed};
use crate::http::{Attempt, Client};
use crate::probe::{Endpoint, endpoint};
use crate::schedule::Grid;
use crate::target::Target;

/// What an endpoint is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Health,
    Metrics,
}

/// One endpoint's task: until nobody listens.
pub async fn poll(place: usize, asked: Asked, target: Arc<Target>, client: Client, clock: Clock, every: Duration, to: Sender<Message>) {
    let grid = Grid::new(Instant::now(), every, None);
    let (mut done, mut before) = (None, HashMap::new());
    while let Some(due) = grid.next(done, Instant::now()) {
        tokio::time::sleep_until(due.at).await;
        done = Some(due.slot);
        let attempt = client.get(&target, &clock).await;
        let message = match asked {
            Asked::Health => Message::Health { place, attempt },
            Asked::Metrics => Message::Scrape { place, scrape: Box::new(scrape(&target, attempt, &mut before)) },
        };
        if to.send(message).await.is_err() {
            return;
        }
    }
}

/// End of an attempt, nanoseconds since the epoch.
pub fn until(attempt: &Attempt) -> i64 {
    attempt.at.saturating_add(i64::try_from(nanos(attempt.took)).unwrap_or(i64::MAX))
}

/// Reads a scrape. `before` holds the counters of the last one that answered.
fn scrape(target: &Target, mut attempt: Attempt, before: &mut HashMap<String, f64>) -> Scrape {
    let body = std::mem::replace(&mut attempt.body, Ok(Vec::new()));
    let content_type = attempt.content_type.as_deref();
    let read = body.and_then(|bytes| exposed::judge(content_type, &bytes).map(|()| exposed::read(content_type, &bytes, attempt.at)));
    let (mut process_start, mut reset) = (None, false);
    if let Ok(exposed) = &read {
        // Up to the year 2262: exact to a microsecond, and no cast that saturates.
        process_start = value(exposed, "process_start_time_seconds").filter(|s| *s < 9.2e9).map(|seconds| (seconds * 1e9) as i64);
        let now = counters(exposed);
        reset = now.iter().any(|(name, value)| before.get(name).is_some_and(|before| value < before));
        *before = now;
    }
    let (from, until) = (attempt.at, until(&attempt));
    let endpoint = endpoint(target, &attempt, read);
    let kv_in_use = kv_in_use(&endpoint);
    Scrape { endpoint, from, until, process_start, reset, kv_in_use }
}

/// The one value of a series that stands alone; `None` where several processes say it.
fn value(exposed: &Exposed, name: &str) -> Option<f64> {
    let mut found = exposed.capture.series.iter().enumerate().filter(|(_, series)| series.name.canonical() == name);
    let (at, _) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    exposed.capture.samples.last(u32::try_from(at).ok()?).map(|sample| sample.value).filter(|value| value.is_finite() && *value > 0.0)
}

fn counters(exposed: &Exposed) -> HashMap<String, f64> {
    let mut all = HashMap::new();
    for (at, series) in exposed.capture.series.iter().enumerate() {
        let name = series.name.canonical();
        // Names of which this is a promise; a `_sum` may fall.
        if !name.ends_with("_total") && !name.ends_with("_count") {
            continue;
        }
        let Some(sample) = u32::try_from(at).ok().and_then(|at| exposed.capture.samples.last(at)) else { continue };
        let labels: Vec<String> = series.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        all.insert(format!("{name}|{}", labels.join(",")), sample.value);
    }
    all
}

/// Is a gauge of KV in use above zero? `None` where none is served.
fn kv_in_use(endpoint: &Endpoint) -> Option<bool> {
    let kv = &endpoint.exposes.as_ref()?.kv;
    let said: Vec<f64> = kv.iter().flat_map(|rank| [rank.used, rank.occupied]).flatten().collect();
    if said.is_empty() {
        return None;
    }
    Some(said.iter().any(|value| *value > 0.0))
}
