//! What clients and poll loops wrote of their calls, as rows: who was asked, from when to when, and did it answer.

use std::collections::HashMap;
use std::ops::ControlFlow;

use corr_parsers::event::{Event, Value};
use corr_parsers::stamp::Stamp;
use corr_readiness::Cite;
use corr_readiness::rows::What;
use rayon::prelude::*;

use crate::query::sources::{Asked, Sources};
use crate::run::events::{self, Facts, Start};
use crate::run::layout::base_name;
use crate::timeline::PROBES;

/// Whom a call went to, in the words of who made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// A name; empty where there is none.
    pub name: String,
    /// The server of a URL, `scheme://host:port` or `host:port`: a path and what is asked of it are no other server. Empty where there is none.
    pub url: String,
}

/// A call, of a target that is not linked yet.
#[derive(Clone, Debug)]
pub struct Call {
    pub cite: Cite,
    /// Place in [`Calls::targets`].
    pub target: usize,
    pub from: Stamp,
    pub until: Stamp,
    pub what: What,
}

/// The calls of one source.
#[derive(Debug, Default)]
pub struct Calls {
    /// Its place in [`Sources::sources`].
    pub source: usize,
    pub targets: Vec<Target>,
    pub calls: Vec<Call>,
    /// They are polls of a health endpoint.
    pub polls: bool,
    /// Calls of targets beyond the first [`MOST_TARGETS`], which are not among `calls`.
    pub beyond: u64,
}

/// Targets of one source that are kept apart; more are no servers.
pub const MOST_TARGETS: usize = 4_096;

/// Reads the records of all sources but the logs of processes.
pub fn all(sources: &Sources, logs: &[usize]) -> Vec<Calls> {
    let others: Vec<usize> = (0..sources.sources.len()).filter(|number| !logs.contains(number)).collect();
    let read = others.par_iter().filter_map(|number| of_source(*number, sources.sources.get(*number)?));
    read.collect()
}

fn of_source(number: usize, source: &Asked) -> Option<Calls> {
    let bytes = source.bytes().ok()?;
    let cited = u32::try_from(number).ok()?;
    let by_name = says_health(base_name(&source.key));
    let mut found = Calls { source: number, ..Calls::default() };
    let mut places = HashMap::new();
    events::each(bytes, &source.layout, source.timing(), Start { offset: 0, line: 0, order: None }, bytes.len(), |_, event, facts| {
        if let Some((target, what)) = read(event, source.format, by_name) {
            let cite = Cite { source: cited, offset: facts.offset as u64, len: u32::try_from(facts.length).unwrap_or(u32::MAX) };
            found.take(&mut places, target, what, times(event, facts), cite);
        }
        ControlFlow::Continue(())
    });
    (!found.calls.is_empty()).then_some(found)
}

impl Calls {
    /// `places` has the place of each target in `targets`.
    fn take(&mut self, places: &mut HashMap<Target, usize>, target: Target, what: What, times: Option<(Stamp, Stamp)>, cite: Cite) {
        let Some((from, until)) = times else { return };
        self.polls |= matches!(what, What::Health { .. } | What::Unwell);
        let at = match places.get(&target) {
            Some(at) => *at,
            None if self.targets.len() < MOST_TARGETS => {
                let at = self.targets.len();
                self.targets.push(target.clone());
                places.insert(target, at);
                at
            }
            None => {
                self.beyond += 1;
                return;
            }
        };
        self.calls.push(Call { cite, target: at, from, until, what });
    }
}

/// The file's name says that it holds polls: `health.jsonl`, `readyz.log`.
fn says_health(base: &str) -> bool {
    let lower = base.to_ascii_lowercase();
    ["health", "readyz", "livez"].iter().any(|word| lower.starts_with(word))
}

/// Paths at which tokens are asked for.
fn asks_tokens(path: &str) -> bool {
    path == "/generate" || path.starts_with("/v1/") && !path.starts_with("/v1/models")
}

fn text<'e>(event: &'e Event<'_>, names: &[&str]) -> Option<&'e str> {
    names.iter().find_map(|name| match event.get(name) {
        Some(Value::Str(text)) if !text.is_empty() => Some(&**text),
        _ => None,
    })
}

fn number(event: &Event<'_>, names: &[&str]) -> Option<f64> {
    names.iter().find_map(|name| match event.get(name)? {
        Value::Int(n) => Some(*n as f64),
        Value::UInt(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        Value::Str(text) => text.parse().ok(),
        _ => None,
    })
}

/// Whom a record's call went to, and what came of it. `None` for what is no call, or whose outcome says nothing of the server.
fn read(event: &Event<'_>, format: &str, by_name: bool) -> Option<(Target, What)> {
    let kind = event.kind.name;
    let declared = kind.starts_with("health_poll");
    if !declared && !matches!(kind, "client_request" | "json_record") {
        return None;
    }
    let place = text(event, &["url", "base_url", "uri"]).or_else(|| text(event, &["endpoint"]).filter(|text| text.contains("://")));
    let path = text(event, &["path"]).or_else(|| text(event, &["endpoint"]).filter(|text| text.starts_with('/')));
    let path = path.or_else(|| place.and_then(path_of)).map(|path| path.split('?').next().unwrap_or(path).trim_end_matches('/'));
    let target = Target {
        name: text(event, &["target", "server", "worker", "instance", "unit", "service"]).unwrap_or_default().to_string(),
        url: place.map(server).unwrap_or_default(),
    };
    let status = number(event, &["status", "status_code", "http_status", "http_code", "code", "response_code"]);
    let good = status.map(|status| (200.0..300.0).contains(&status));
    let failed = text(event, &["error", "err", "exception", "error_type"]).is_some();
    if declared || path.is_some_and(|path| PROBES.contains(&path)) || (by_name && path.is_none_or(|path| !asks_tokens(path))) {
        let said = ["up", "ok", "healthy", "ready", "alive"].iter().find_map(|name| match event.get(name) {
            Some(Value::Bool(up)) => Some(*up),
            _ => None,
        });
        let up = good.or(said).or(failed.then_some(false))? && !failed;
        // Status 0 is a connection that could not be made, in curl's word.
        let answered = status.is_some_and(|status| status >= 100.0);
        return Some((target, if answered && !up { What::Unwell } else { What::Health { up } }));
    }
    if kind != "client_request" || path.is_some_and(|path| !asks_tokens(path)) {
        return None;
    }
    let ok = match status {
        Some(_) if failed => false,
        Some(status) if (200.0..300.0).contains(&status) => true,
        // A connection that could not be made, in curl's word.
        Some(0.0) => false,
        Some(status) if status >= 500.0 => false,
        // The server answered, and served no tokens: neither.
        Some(_) => return None,
        None if failed => false,
        None if format == "aiperf" => !matches!(event.get("was_cancelled"), Some(Value::Bool(true))) && event.get("error_code").is_none(),
        None => return None,
    };
    Some((target, What::Client { ok }))
}

/// The scheme of a URL, if it has one, and what comes after it.
fn scheme(url: &str) -> (Option<&str>, &str) {
    match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?', '#']) => (Some(scheme), rest),
        _ => (None, url),
    }
}

fn path_of(url: &str) -> Option<&str> {
    let (_, rest) = scheme(url);
    rest.find('/').and_then(|at| rest.get(at..))
}

/// `scheme://host:port` of a URL, without a user's name and password; empty for a path alone.
fn server(url: &str) -> String {
    let (scheme, rest) = scheme(url);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match scheme {
        Some(scheme) if !host.is_empty() => format!("{scheme}://{host}").to_ascii_lowercase(),
        _ => host.to_ascii_lowercase(),
    }
}

/// When the call began and ended: the same where only one of them is said.
fn times(event: &Event<'_>, facts: &Facts) -> Option<(Stamp, Stamp)> {
    let stamp = facts.stamp?;
    let from = number(event, &["t_start", "start_unix", "start_time", "started_at", "request_start_ns", "start_ns"]).and_then(epoch);
    let from = from.unwrap_or(stamp);
    let until = number(event, &["t_end", "end_unix", "end_time", "ended_at", "request_end_ns", "end_ns"]).and_then(epoch);
    let took = || {
        let units = [("ms", 1e6), ("s", 1e9), ("us", 1e3), ("ns", 1.0)];
        let names = ["took", "duration", "elapsed", "latency"];
        let all = names.iter().flat_map(|name| units.iter().map(move |(unit, ns)| (format!("{name}_{unit}"), *ns)));
        let mut found = all.filter_map(|(name, ns)| number(event, &[&name]).map(|value| value * ns));
        found.find(|ns| ns.is_finite() && (0.0..8e18).contains(ns)).map(|ns| Stamp::new(from.start.saturating_add(ns as i64), from.width()))
    };
    let until = until.or_else(took).filter(|until| until.end >= from.start).unwrap_or(from);
    Some((from, until))
}

/// An epoch number whose size says its unit, to the microsecond.
fn epoch(value: f64) -> Option<Stamp> {
    let micros = match value {
        v if !v.is_finite() || v < 9e8 => return None,
        v if v < 1e11 => v * 1e6,
        v if v < 1e14 => v * 1e3,
        v if v < 1e17 => v,
        v if v < 9e18 => v / 1e3,
        _ => return None,
    };
    Some(Stamp::new((micros.round() as i64).checked_mul(1_000)?, 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_epochs() {
        assert_eq!(path_of("http://h:1/health?x"), Some("/health?x"));
        assert_eq!(path_of("h:1"), None);
        assert_eq!(path_of("h:1/a?from=http://other/b"), Some("/a?from=http://other/b"));
        for (url, of) in [
            ("http://127.0.0.1:30000/health?t=17", "http://127.0.0.1:30000"),
            ("HTTP://Host:1?x", "http://host:1"),
            ("https://user:word@h/v1", "https://h"),
            ("[::1]:8000/health", "[::1]:8000"),
            ("h:1", "h:1"),
            ("/health", ""),
        ] {
            assert_eq!(server(url), of, "{url}");
        }
        assert!(asks_tokens("/v1/completions") && !asks_tokens("/v1/models"));
        assert!(!PROBES.iter().any(|path| asks_tokens(path)), "who asks for tokens asks for no health");
        assert!(says_health("health.jsonl") && !says_health("client.jsonl"));
        let at = 1_795_978_297_895_273_000;
        for value in [1_795_978_297.895273, 1_795_978_297_895.273, 1_795_978_297_895_273.0] {
            assert_eq!(epoch(value).map(|stamp| stamp.start), Some(at), "{value}");
        }
        assert_eq!(epoch(12.5), None);
    }

    /// What is not kept apart is counted.
    #[test]
    fn targets_beyond_the_most_are_counted() {
        let (mut calls, mut places) = (Calls::default(), HashMap::new());
        let times = Some((Stamp::new(0, 1), Stamp::new(0, 1)));
        let cite = Cite { source: 0, offset: 0, len: 0 };
        // Each target twice: 5,000 - 4,096 = 904 are too many.
        for number in (0..5_000).chain(0..5_000) {
            let target = Target { name: format!("s{number}"), url: String::new() };
            calls.take(&mut places, target, What::Health { up: true }, times, cite);
        }
        assert_eq!((calls.targets.len(), calls.calls.len(), calls.beyond), (4_096, 8_192, 2 * 904));
        assert!(calls.calls.iter().all(|call| calls.targets.get(call.target).is_some()));
    }
}
