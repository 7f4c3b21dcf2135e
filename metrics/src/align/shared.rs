//! Which endpoints and which series of two captures are the same?
//!
//! Endpoints by address, by name, or by the series that they have in common. Series by canonical name and labels, but for labels that one
//! scraper put on everything of a target (`job`, `instance`) and the other did not.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::{Capture, Endpoint, EndpointId, Kind, Labels, Series, SeriesId};

/// An endpoint in two captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Same {
    pub a: EndpointId,
    pub b: EndpointId,
    pub by: By,
}

/// What says that two endpoints are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Host and port.
    Address,
    /// Both captures call it so.
    Name,
    /// More than half of the series of the one with fewer are in the other: two workers of one kind have that too, so values must tell.
    Series,
}

impl By {
    /// For output.
    pub fn word(self) -> &'static str {
        match self {
            By::Address => "address",
            By::Name => "name",
            By::Series => "values of its series",
        }
    }
}

/// Pairs of endpoints that are, or may be, the same. An endpoint found by address or name is in no pair found by series.
pub fn endpoints(a: &Capture, b: &Capture) -> Vec<Same> {
    let mut found = Vec::new();
    let sure = |by: By, key: fn(&Endpoint) -> Option<String>, found: &mut Vec<Same>| {
        let mut places: HashMap<String, Vec<u32>> = HashMap::new();
        for (i, endpoint) in (0u32..).zip(&b.endpoints) {
            if let Some(key) = key(endpoint) {
                places.entry(key).or_default().push(i);
            }
        }
        for (i, endpoint) in (0u32..).zip(&a.endpoints) {
            let Some([only]) = key(endpoint).and_then(|k| places.get(&k)).map(|v| &v[..]) else { continue };
            let (a, b) = (EndpointId(i), EndpointId(*only));
            if !found.iter().any(|s: &Same| s.a == a || s.b == b) {
                found.push(Same { a, b, by });
            }
        }
    };
    sure(By::Address, address, &mut found);
    sure(By::Name, |e| (!e.name.is_empty()).then(|| e.name.clone()), &mut found);
    let free = |id: EndpointId, found: &[Same], which: fn(&Same) -> EndpointId| !found.iter().any(|s| which(s) == id);
    let mut maybe = Vec::new();
    for (i, _) in (0u32..).zip(&a.endpoints).filter(|(i, _)| free(EndpointId(*i), &found, |s| s.a)) {
        for (j, _) in (0u32..).zip(&b.endpoints).filter(|(j, _)| free(EndpointId(*j), &found, |s| s.b)) {
            let (a_id, b_id) = (EndpointId(i), EndpointId(j));
            let fewer = count(a, a_id).min(count(b, b_id));
            if fewer > 0 && series(a, a_id, b, b_id).len() * 2 > fewer {
                maybe.push(Same { a: a_id, b: b_id, by: By::Series });
            }
        }
    }
    found.extend(maybe);
    found
}

fn count(capture: &Capture, endpoint: EndpointId) -> usize {
    capture.series.iter().filter(|s| s.endpoint == endpoint).count()
}

/// `host:port` of an endpoint.
fn address(endpoint: &Endpoint) -> Option<String> {
    let text = endpoint.url.as_deref().unwrap_or(&endpoint.name);
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split(['/', '?']).next()?;
    let (host, port) = text.rsplit_once(':')?;
    port.parse::<u16>().ok()?;
    let host = if host == "localhost" { "127.0.0.1" } else { host };
    Some(format!("{host}:{port}"))
}

/// Series of an endpoint that stand in both captures, by place in `a`.
pub fn series(a: &Capture, in_a: EndpointId, b: &Capture, in_b: EndpointId) -> Vec<(SeriesId, SeriesId)> {
    let (own_a, own_b) = (of(a, in_a), of(b, in_b));
    let drop_a = added(&own_a, &own_b);
    let drop_b = added(&own_b, &own_a);
    let mut places: HashMap<(&str, Labels), Option<SeriesId>> = HashMap::new();
    for (id, series) in &own_b {
        let place = places.entry((series.name.canonical(), series.labels.without(&drop_b)));
        place.and_modify(|id| *id = None).or_insert(Some(*id));
    }
    let mut seen: HashMap<SeriesId, usize> = HashMap::new();
    let mut pairs = Vec::new();
    for (id, series) in &own_a {
        if let Some(Some(other)) = places.get(&(series.name.canonical(), series.labels.without(&drop_a))) {
            *seen.entry(*other).or_default() += 1;
            pairs.push((*id, *other));
        }
    }
    pairs.retain(|(_, other)| seen.get(other) == Some(&1));
    pairs
}

fn of(capture: &Capture, endpoint: EndpointId) -> Vec<(SeriesId, &Series)> {
    (0u32..).map(SeriesId).zip(&capture.series).filter(|(_, s)| s.endpoint == endpoint).collect()
}

/// Labels that every series of `own` has with one value, and none of `other`.
fn added<'s>(own: &[(SeriesId, &'s Series)], other: &[(SeriesId, &Series)]) -> Vec<&'s str> {
    let theirs: BTreeSet<&str> = other.iter().flat_map(|(_, s)| s.labels.iter().map(|(k, _)| k)).collect();
    let mut values: BTreeMap<&str, (&str, usize, bool)> = BTreeMap::new();
    for (name, value) in own.iter().flat_map(|(_, s)| s.labels.iter()) {
        let (first, count, same) = values.entry(name).or_insert((value, 0, true));
        *count += 1;
        *same = *same && *first == value;
    }
    let everywhere = values.iter().filter(|(name, (_, count, same))| *same && *count == own.len() && !theirs.contains(*name));
    everywhere.map(|(name, _)| *name).collect()
}

/// A series that only grows while its process lives, so that what it passed once it does not pass again: a counter, a bucket, a sum, an
/// uptime. By what the capture says of its type, else by its name.
pub fn only_grows(capture: &Capture, series: &Series) -> bool {
    let name = series.name.canonical();
    if series.trouble.collisions > 0 || series.trouble.damaged || series.trouble.foreign || name.ends_with("_created") {
        return false;
    }
    if name.ends_with("uptime_seconds") {
        return true;
    }
    let stem = ["_total", "_bucket", "_count", "_sum"].iter().find_map(|end| name.strip_suffix(end));
    let kind = std::iter::once(name).chain(stem).find_map(|n| capture.families.get(n)?.kind);
    match kind {
        Some(Kind::Counter | Kind::Histogram | Kind::Summary) => series.labels.get("quantile").is_none(),
        Some(Kind::Gauge | Kind::GaugeHistogram | Kind::Info | Kind::StateSet) => false,
        Some(Kind::Unknown) | None => {
            let bucket = series.labels.get("le").is_some() && series.labels.get("gt").is_none();
            bucket || ["_total", "_bucket"].iter().any(|end| name.ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::model::{Clock, Precision, StampOf};

    type Row<'r> = (&'r str, &'r str, &'r [(&'r str, &'r str)]);

    /// Endpoints with their address, series with endpoint, name and labels.
    fn capture(endpoints: &[(&str, &str)], series: &[Row]) -> Capture {
        let mut builder = Builder::new("test", Clock::Wall, StampOf::Request);
        for (name, url) in endpoints {
            let id = builder.endpoint(name);
            builder.fact(id, "url", url);
        }
        for (endpoint, name, labels) in series {
            let id = builder.endpoint(endpoint);
            builder.series(id, name, &Labels::new(labels.iter().copied()), Precision::F64);
        }
        builder.finish()
    }

    #[test]
    fn an_address_is_one_however_it_is_written() {
        let a = capture(&[("router", "http://localhost:8000/metrics"), ("w", "http://127.0.0.1:1/metrics?s=A")], &[]);
        let b = capture(&[("127.0.0.1:8000", ""), ("w", "http://127.0.0.1:2/metrics")], &[]);
        let found = endpoints(&a, &b);
        assert_eq!(found[0], Same { a: EndpointId(0), b: EndpointId(0), by: By::Address });
        assert_eq!(found[1], Same { a: EndpointId(1), b: EndpointId(1), by: By::Name });
    }

    #[test]
    fn labels_of_a_target_are_no_difference() {
        let a = capture(&[], &[("x", "sglang:n_total", &[("tp_rank", "0")]), ("x", "m_total", &[])]);
        let added: &[(&str, &str)] = &[("job", "j"), ("instance", "i")];
        let with: Vec<(&str, &str)> = added.iter().chain(&[("tp_rank", "0")]).copied().collect();
        let b = capture(&[], &[("y", "sglang_n_total", &with), ("y", "m_total", added)]);
        assert_eq!(endpoints(&a, &b), [Same { a: EndpointId(0), b: EndpointId(0), by: By::Series }]);
        let pairs = series(&a, EndpointId(0), &b, EndpointId(0));
        assert_eq!(pairs, [(SeriesId(0), SeriesId(0)), (SeriesId(1), SeriesId(1))]);
    }

    #[test]
    fn a_gauge_with_bounds_does_not_only_grow() {
        let labels: &[(&str, &str)] = &[("gt", "1"), ("le", "2")];
        let made = capture(&[], &[("x", "sglang:routing_key_running_req", labels), ("x", "d", &[("le", "2")]), ("x", "d", &[])]);
        let grows: Vec<bool> = made.series.iter().map(|s| only_grows(&made, s)).collect();
        assert_eq!(grows, [false, true, false]);
    }
}
