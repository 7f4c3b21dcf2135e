//! `/health` and `/metrics`, asked again and again: each endpoint on its own task and grid.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use corr_metrics::window::resets;
use corr_readiness::rows::KV_IN_USE;
use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

use super::message::{Message, Scrape};
use crate::clock::{Clock, nanos};
use crate::exposed::{self, Exposed};
use crate::http::{Attempt, Client};
use crate::probe::endpoint;
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
    let (mut process_start, mut reset, mut in_use) = (None, false, None);
    if let Ok(exposed) = &read {
        // Up to the year 2262: exact to a microsecond, and no cast that saturates.
        process_start = value(exposed, "process_start_time_seconds").filter(|s| *s < 9.2e9).map(|seconds| (seconds * 1e9) as i64);
        let now = counters(exposed);
        let stood = before.values().filter(|value| **value > 0.0).count() as u64;
        let fell = now.iter().filter(|(name, value)| before.get(*name).is_some_and(|before| *value < before)).count() as u64;
        reset = resets::together(fell, stood);
        *before = now;
        in_use = kv_in_use(exposed);
    }
    let (from, until) = (attempt.at, until(&attempt));
    let endpoint = endpoint(target, &attempt, read);
    Scrape { endpoint, from, until, process_start, reset, kv_in_use: in_use }
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
        if !resets::rises(name) {
            continue;
        }
        let Some(sample) = u32::try_from(at).ok().and_then(|at| exposed.capture.samples.last(at)) else { continue };
        let labels: Vec<String> = series.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        all.insert(format!("{name}|{}", labels.join(",")), sample.value);
    }
    all
}

/// Is a gauge of KV in use above zero? `None` where none is served.
fn kv_in_use(exposed: &Exposed) -> Option<bool> {
    let all = exposed.capture.series.iter().zip(0u32..).filter(|(series, _)| KV_IN_USE.contains(&series.name.canonical()));
    all.filter_map(|(_, number)| exposed.capture.samples.last(number)).map(|sample| sample.value > 0.0).reduce(|a, b| a | b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exposed(text: &str) -> Exposed {
        exposed::read(Some("text/plain"), text.as_bytes(), 1_781_100_000_000_000_000)
    }

    #[test]
    fn kv_is_in_use_by_the_gauges_that_captures_are_asked_for() {
        assert_eq!(kv_in_use(&exposed("vllm:kv_cache_usage_perc 0.25\n")), Some(true));
        assert_eq!(kv_in_use(&exposed("dynamo_component_gpu_cache_usage_percent 0\n")), Some(false));
        // What may be evicted is occupied, and in use by nobody.
        let kept = "sglang:max_total_num_tokens 100\nsglang:kv_available_tokens 40\nsglang:kv_used_tokens 0\n";
        assert_eq!(kv_in_use(&exposed(kept)), Some(false));
        assert_eq!(kv_in_use(&exposed("process_start_time_seconds 1\n")), None);
    }
}
