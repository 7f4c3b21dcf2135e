//! What one endpoint exposes: its families by who exports them, latency families, and the KV cache of each rank.

use std::collections::{BTreeMap, BTreeSet};

use corr_metrics::catalogue::{Group, Parts};
use corr_metrics::model::{Kind, SeriesId};

use super::kv::{self, Kv};
use crate::exposed::Exposed;
use crate::failure::Failure;
use crate::http::Attempt;
use crate::target::Target;

/// An endpoint, asked once.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Endpoint {
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    /// The request's start, nanoseconds since the epoch.
    pub at_ns: i64,
    pub took_ns: u64,
    pub status: Option<u16>,
    pub content_type: Option<String>,
    /// The `Server` header.
    pub server: Option<String>,
    pub bytes: u64,
    /// `None` where there is no exposition; then `failure` says why.
    pub exposes: Option<Exposes>,
    pub failure: Option<Said>,
}

/// A failure for output.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Said {
    pub kind: &'static str,
    pub what: String,
    /// There was a whole answer: the endpoint is there, its metrics are not.
    pub answered: bool,
}

/// An exposition.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Exposes {
    pub families: Vec<Family>,
    pub series: usize,
    /// By exporter.
    pub exporters: Vec<Exporter>,
    pub kv: Vec<Kv>,
    /// Lines that are no samples, and what is wrong with the first.
    pub bad_lines: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_bad: Option<String>,
    /// OpenMetrics without its `# EOF`: series may be missing.
    pub cut: bool,
}

/// One family.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Family {
    /// Canonical.
    pub name: String,
    /// Other spellings of its series' names, as they were served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seen_as: Vec<String>,
    pub kind: Kind,
    pub exporter: &'static str,
    pub series: usize,
    /// Sets of labels, `le` and `quantile` left out.
    pub label_sets: usize,
    /// Of a histogram or summary: label sets that have observed anything; `None` where no count is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<usize>,
    /// It measures time per request, batch or transfer.
    pub latency: bool,
    /// Canonical names of its series, with `_bucket` and the like.
    #[serde(skip)]
    pub names: BTreeSet<String>,
}

/// Who exports some families.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Exporter {
    pub name: &'static str,
    /// The values of `engine_type` on its series.
    pub roles: Vec<String>,
    pub families: usize,
    pub series: usize,
}

/// Makes an endpoint of an attempt and what its body holds.
pub fn endpoint(target: &Target, attempt: &Attempt, read: Result<Exposed, Failure>) -> Endpoint {
    let (exposes, failure) = match read {
        Ok(exposed) => (Some(exposes(&exposed)), None),
        Err(failure) => (None, Some(Said { kind: failure.kind(), what: failure.to_string(), answered: failure.answered() })),
    };
    Endpoint {
        url: target.shown().to_string(),
        role: target.role.clone(),
        worker_id: target.worker.clone(),
        at_ns: attempt.at,
        took_ns: crate::clock::nanos(attempt.took),
        status: attempt.status,
        content_type: attempt.content_type.clone(),
        server: attempt.server.clone(),
        bytes: attempt.bytes,
        exposes,
        failure,
    }
}

fn exposes(exposed: &Exposed) -> Exposes {
    let families: Vec<Family> = exposed.catalogue.families.iter().map(|group| family(exposed, group)).collect();
    let mut exporters: BTreeMap<&'static str, (BTreeSet<String>, usize, usize)> = BTreeMap::new();
    for (family, group) in families.iter().zip(&exposed.catalogue.families) {
        let entry = exporters.entry(family.exporter).or_default();
        entry.0.extend(group.members.iter().filter_map(|m| m.labels.get("engine_type")).map(str::to_string));
        entry.1 += 1;
        entry.2 += family.series;
    }
    Exposes {
        series: exposed.capture.series.len(),
        families,
        exporters: exporters
            .into_iter()
            .map(|(name, (roles, families, series))| Exporter { name, roles: roles.into_iter().collect(), families, series })
            .collect(),
        kv: kv::of(&exposed.capture),
        bad_lines: exposed.bad,
        first_bad: exposed.first_bad.map(|bad| format!("line {}: {}", bad.line, bad.why)),
        cut: exposed.cut,
    }
}

fn family(exposed: &Exposed, group: &Group) -> Family {
    let ids: Vec<SeriesId> = group.members.iter().flat_map(|m| m.parts.series()).collect();
    let named = || ids.iter().filter_map(|id| exposed.capture.get(*id)).map(|s| &s.name);
    let seen_as: BTreeSet<&str> = named().filter(|n| n.seen() != n.canonical()).map(|n| n.seen()).collect();
    let counts: Vec<SeriesId> = group
        .members
        .iter()
        .filter_map(|m| match &m.parts {
            Parts::Histogram { count, .. } | Parts::Summary { count, .. } => *count,
            Parts::One(_) => None,
        })
        .collect();
    let value = |id: &SeriesId| exposed.capture.samples.last(id.0).map(|s| s.value);
    let timed = matches!(group.typed.kind, Kind::Histogram | Kind::Summary);
    Family {
        seen_as: seen_as.into_iter().map(str::to_string).collect(),
        kind: group.typed.kind,
        exporter: exporter(&group.name),
        series: ids.len(),
        label_sets: group.members.len(),
        observed: (!counts.is_empty()).then(|| counts.iter().filter(|id| value(id).is_some_and(|v| v > 0.0)).count()),
        latency: timed && is_latency(&group.name),
        names: named().map(|n| n.canonical().to_string()).collect(),
        name: group.name.clone(),
    }
}

/// Time, by the name: units of time, or the words that engines use for it.
fn is_latency(name: &str) -> bool {
    ["_seconds", "_ms", "_us"].iter().any(|unit| name.ends_with(unit))
        || ["latency", "duration", "time_to_", "queue_time"].iter().any(|w| name.contains(w))
}

/// Who exports a family, by its canonical name. Longer beginnings stand before shorter ones.
pub fn exporter(name: &str) -> &'static str {
    const BY_START: &[(&str, &str)] = &[
        ("sglang:", "sglang"),
        ("vllm:", "vllm"),
        ("lmcache:", "lmcache"),
        ("dynamo_frontend_", "dynamo frontend"),
        ("dynamo_component_router_", "dynamo router"),
        ("dynamo_component_kv_cache_event", "dynamo router"),
        ("dynamo_router_", "dynamo router"),
        ("dynamo_component_", "dynamo component"),
        ("dynamo_", "dynamo runtime"),
        ("kvbm_", "dynamo kvbm"),
        ("smg_", "sglang gateway"),
        ("sgl_router_", "sglang gateway"),
        ("DCGM_", "dcgm"),
        ("node_", "node exporter"),
    ];
    BY_START.iter().find(|(start, _)| name.starts_with(start)).map_or("other", |(_, who)| who)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_have_an_exporter() {
        assert_eq!(exporter("sglang:token_usage"), "sglang");
        assert_eq!(exporter("dynamo_component_router_kv_hit_rate"), "dynamo router");
        assert_eq!(exporter("dynamo_component_kv_cache_hit_rate"), "dynamo component");
        assert_eq!(exporter("python_info"), "other");
    }

    #[test]
    fn latency_is_told_by_its_name() {
        assert!(is_latency("sglang:time_to_first_token_seconds") && is_latency("dynamo_router_overhead_total_ms"));
        assert!(is_latency("sglang:queue_time_s") && !is_latency("sglang:prompt_tokens_histogram"));
    }
}
