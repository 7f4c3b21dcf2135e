//! Expected metrics: there, not there yet because nothing has used them, or not there. Each is an answer.

use corr_readiness::Cite;
use corr_readiness::history::History;

use super::verdict::named;
use crate::probe::{Endpoint, FIRST_USE, Reason, Verdict, judge};

/// What is known of an expected metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricState {
    There,
    /// Others of its engine are there; it appears with what has not happened yet.
    Lazy,
    /// What makes it appear has happened, or nothing would.
    Missing,
    /// 404: metrics are not switched on, or not at this address.
    NotEnabled,
    /// Nobody answers.
    Down,
    /// What is answered is no exposition, or does not end.
    Unreadable,
    NotScraped,
}

/// One name, and why.
#[derive(Clone, Debug, serde::Serialize)]
pub struct MetricSeen {
    pub name: String,
    pub state: MetricState,
    pub says: String,
    #[serde(skip)]
    pub cites: Vec<Cite>,
}

/// The newest scrape of an endpoint.
#[derive(Debug)]
pub struct Newest {
    pub unit: String,
    pub endpoint: Endpoint,
    /// Its begin, nanoseconds since the epoch.
    pub from: i64,
    pub cite: Cite,
}

/// Judges a name by the newest scrapes.
pub fn seen(name: &str, newest: &[&Newest], history: &History) -> MetricSeen {
    let cites: Vec<Cite> = newest.iter().map(|one| one.cite).collect();
    let of = |state, says: String| MetricSeen { name: name.to_owned(), state, says, cites: cites.clone() };
    if newest.is_empty() {
        return of(MetricState::NotScraped, "no scrape has ended".into());
    }
    let endpoints: Vec<Endpoint> = newest.iter().map(|one| one.endpoint.clone()).collect();
    let judged = judge(name, &endpoints);
    if let Some(found) = judged.found.first() {
        let seen_as = if found.seen_as.is_empty() { String::new() } else { format!(" as {}", found.seen_as.join(", ")) };
        return of(MetricState::There, format!("{} series at {}{seen_as}", found.series, found.url));
    }
    let reasons = || judged.missing.iter().flat_map(|missing| missing.reasons.iter().map(move |reason| (missing, reason)));
    let words = || {
        let said: Vec<String> = judged
            .missing
            .iter()
            .map(|missing| {
                let reasons: Vec<String> = missing.reasons.iter().map(ToString::to_string).collect();
                format!("{}: {}", missing.url, reasons.join("; "))
            })
            .collect();
        said.join(" | ")
    };
    if judged.verdict == Verdict::Unreachable {
        let down = reasons().all(|(_, reason)| matches!(reason, Reason::EndpointDown { .. }));
        return of(if down { MetricState::Down } else { MetricState::Unreadable }, words());
    }
    // Something waits for its first use: has there been one?
    let lazy: Vec<_> = reasons().filter(|(_, reason)| matches!(reason, Reason::Lazy { .. })).collect();
    let could_be: Vec<_> = judged.missing.iter().filter(|missing| missing.verdict == Verdict::CannotKnow).collect();
    if !could_be.is_empty() {
        let used = |url: &str| newest.iter().find(|one| one.endpoint.url == url).is_some_and(|one| served(history, one));
        let by_use = lazy.iter().all(|(_, reason)| !matches!(reason, Reason::Lazy { until } if *until == FIRST_USE));
        if by_use && could_be.iter().all(|missing| used(&missing.url)) {
            return of(MetricState::Missing, format!("a client was answered before the scrape, and it is still absent; {}", words()));
        }
        return of(MetricState::Lazy, words());
    }
    if judged.missing.iter().any(|missing| missing.verdict == Verdict::Unreachable) {
        return of(MetricState::Unreadable, words());
    }
    if reasons().any(|(_, reason)| matches!(reason, Reason::NotEnabled { .. })) {
        return of(MetricState::NotEnabled, words());
    }
    let answered = reasons().any(|(_, reason)| matches!(reason, Reason::NoMetrics { .. }));
    of(if answered { MetricState::Unreadable } else { MetricState::Missing }, words())
}

/// Had the unit's run answered a client when this scrape began?
fn served(history: &History, newest: &Newest) -> bool {
    let run = named(history, &newest.unit).find_map(|unit| unit.invocations.last());
    let mark = run.and_then(|run| run.instants.first_served.upper());
    mark.and_then(|mark| mark.wall).is_some_and(|wall| wall.end <= newest.from)
}
