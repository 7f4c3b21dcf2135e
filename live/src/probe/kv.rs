//! The KV cache of each rank in one line, from gauges that are there. What is missing is said.

use std::collections::BTreeMap;

use corr_metrics::model::{Capture, Labels};

/// The gauges of one rank, at one scrape. `None` is not served.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Kv {
    /// The labels that tell ranks apart.
    pub rank: BTreeMap<String, String>,
    /// `tokens`, or `blocks` where the engine counts those.
    pub unit: &'static str,
    pub capacity: Option<f64>,
    /// capacity − available: what the cache holds, used or evictable.
    pub occupied: Option<f64>,
    /// 0 to 1, occupied / capacity, or as the engine says where it says only that.
    pub share: Option<f64>,
    /// Held by running requests: not occupancy.
    pub used: Option<f64>,
    pub running: Option<f64>,
    pub queue: Option<f64>,
    /// 0 to 1. SGLang's is of the last prefill batch.
    pub cache_hit: Option<f64>,
    /// Names of the gauges that the line wants and that are not served.
    pub missing: Vec<String>,
}

/// What an engine calls them.
struct Names {
    unit: &'static str,
    capacity: &'static str,
    available: Option<&'static str>,
    share: Option<&'static str>,
    used: &'static [&'static str],
    running: Option<&'static str>,
    queue: Option<&'static str>,
    cache_hit: &'static str,
}

/// SGLang, and Dynamo's workers (1.0 and later; earlier ones under `kvstats`).
const ENGINES: &[Names] = &[
    Names {
        unit: "tokens",
        capacity: "sglang:max_total_num_tokens",
        available: Some("sglang:kv_available_tokens"),
        share: None,
        used: &["sglang:kv_used_tokens", "sglang:num_used_tokens"],
        running: Some("sglang:num_running_reqs"),
        queue: Some("sglang:num_queue_reqs"),
        cache_hit: "sglang:cache_hit_rate",
    },
    Names {
        unit: "blocks",
        capacity: "dynamo_component_total_blocks",
        available: None,
        share: Some("dynamo_component_gpu_cache_usage_percent"),
        used: &[],
        running: None,
        queue: None,
        cache_hit: "dynamo_component_kv_cache_hit_rate",
    },
];

/// These labels do not tell ranks apart: `pid` is of gauges that every process writes, and requests of one priority are a part of a rank's.
const NOT_A_RANK: &[&str] = &["pid", "priority"];

/// Every rank that serves at least one of the gauges.
pub fn of(capture: &Capture) -> Vec<Kv> {
    ENGINES.iter().flat_map(|names| engine(capture, names)).collect()
}

fn engine(capture: &Capture, names: &Names) -> Vec<Kv> {
    let mut ranks: BTreeMap<Labels, BTreeMap<&'static str, f64>> = BTreeMap::new();
    for (i, series) in capture.series.iter().enumerate() {
        let Some(name) = names.all().find(|name| *name == series.name.canonical()) else { continue };
        if series.labels.get("priority").is_some() {
            continue;
        }
        let Some(last) = u32::try_from(i).ok().and_then(|i| capture.samples.last(i)) else { continue };
        ranks.entry(series.labels.without(NOT_A_RANK)).or_default().insert(name, last.value);
    }
    ranks.into_iter().map(|(labels, values)| kv(names, &labels, &values)).collect()
}

impl Names {
    fn all(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.capacity), self.available, self.share, self.running, self.queue, Some(self.cache_hit)]
            .into_iter()
            .flatten()
            .chain(self.used.iter().copied())
    }
}

fn kv(names: &Names, labels: &Labels, values: &BTreeMap<&'static str, f64>) -> Kv {
    let mut missing = Vec::new();
    let mut get = |name: Option<&'static str>| {
        let name = name?;
        let value = values.get(name).copied();
        if value.is_none() {
            missing.push(name.to_string());
        }
        value
    };
    let capacity = get(Some(names.capacity));
    let available = get(names.available);
    let said = get(names.share);
    let running = get(names.running);
    let queue = get(names.queue);
    let cache_hit = get(Some(names.cache_hit));
    let occupied = capacity.zip(available).map(|(capacity, available)| capacity - available).filter(|n| n.is_finite());
    Kv {
        rank: labels.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        unit: names.unit,
        capacity,
        occupied,
        share: said.or_else(|| occupied.zip(capacity).filter(|(_, capacity)| *capacity > 0.0).map(|(n, capacity)| n / capacity)),
        used: names.used.iter().find_map(|name| values.get(name).copied()),
        running,
        queue,
        cache_hit,
        missing,
    }
}

impl Kv {
    /// `KV 12,034 / 2,581,504 tokens (0.47 %) · running 3 · queue 0 · cache hit 18.2 %`.
    pub fn line(&self) -> String {
        let number = |n: Option<f64>| n.map_or_else(|| "?".to_string(), count);
        let percent = |n: f64, digits: usize| if n.is_finite() { format!("{:.digits$} %", n * 100.0) } else { count(n) };
        let mut parts = vec![match (self.occupied, self.share) {
            (None, Some(share)) => format!("KV {} of {} {}", percent(share, 2), number(self.capacity), self.unit),
            (occupied, share) => {
                let share = share.map_or_else(String::new, |s| format!(" ({})", percent(s, 2)));
                format!("KV {} / {} {}{share}", number(occupied), number(self.capacity), self.unit)
            }
        }];
        parts.extend(self.running.map(|n| format!("running {}", count(n))));
        parts.extend(self.queue.map(|n| format!("queue {}", count(n))));
        parts.extend(self.cache_hit.map(|n| format!("cache hit {}", percent(n, 1))));
        if !self.missing.is_empty() {
            parts.push(format!("not served: {}", self.missing.join(", ")));
        }
        if let (None, Some(used)) = (self.occupied, self.used) {
            parts.push(format!("used by running requests {} (not occupancy)", count(used)));
        }
        parts.join(" · ")
    }

    /// `prefill tp 0 pp 0`: the role, and the ranks that are there; other labels where these tell nothing.
    pub fn name(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.rank.get("engine_type").cloned());
        for (label, short) in [("dp_rank", "dp"), ("pp_rank", "pp"), ("tp_rank", "tp"), ("moe_ep_rank", "ep")] {
            parts.extend(self.rank.get(label).map(|v| format!("{short} {v}")));
        }
        for label in ["worker_addr", "dynamo_component", "worker_id"] {
            parts.extend(self.rank.get(label).cloned());
        }
        parts.join(" ")
    }
}

/// `2,581,504`; not more digits than there are.
pub fn count(n: f64) -> String {
    if !n.is_finite() {
        return n.to_string();
    }
    let text = n.abs().to_string();
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = String::from(if n < 0.0 { "-" } else { "" });
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exposed;

    fn lines(body: &str) -> Vec<String> {
        of(&exposed::read(Some("text/plain"), body.as_bytes(), 0).capture)
            .iter()
            .map(|kv| format!("{}: {}", kv.name(), kv.line()))
            .collect()
    }

    #[test]
    fn one_line_a_rank_in_both_spellings() {
        let body = r#"sglang:max_total_num_tokens{engine_type="prefill",tp_rank="0"} 2.581504e+06
sglang:kv_available_tokens{engine_type="prefill",tp_rank="0"} 2569470.0
sglang:kv_used_tokens{engine_type="prefill",tp_rank="0"} 9000.0
sglang:num_running_reqs {engine_type="prefill",tp_rank="0"} 3.0
sglang:num_running_reqs{engine_type="prefill",priority="1",tp_rank="0"} 2.0
sglang:num_queue_reqs{engine_type="prefill",tp_rank="0"} 0.0
sglang:cache_hit_rate{engine_type="prefill",tp_rank="0"} 0.182
sglang_max_total_num_tokens{engine_type="prefill",tp_rank="1"} 100
sglang_kv_available_tokens{engine_type="prefill",tp_rank="1"} 100
"#;
        assert_eq!(
            lines(body),
            [
                "prefill tp 0: KV 12,034 / 2,581,504 tokens (0.47 %) · running 3 · queue 0 · cache hit 18.2 %",
                "prefill tp 1: KV 0 / 100 tokens (0.00 %) · not served: sglang:num_running_reqs, sglang:num_queue_reqs, sglang:cache_hit_rate",
            ]
        );
    }

    #[test]
    fn what_is_missing_is_said_and_never_zero() {
        let body = "sglang:num_used_tokens{tp_rank=\"0\"} 500\nsglang:num_running_reqs{tp_rank=\"0\"} NaN\n";
        assert_eq!(
            lines(body),
            ["tp 0: KV ? / ? tokens · running NaN · not served: sglang:max_total_num_tokens, sglang:kv_available_tokens, \
              sglang:num_queue_reqs, sglang:cache_hit_rate · used by running requests 500 (not occupancy)"]
        );
        assert_eq!(lines("up 1\n"), [""; 0]);
    }

    #[test]
    fn dynamo_counts_blocks() {
        let body = "dynamo_component_total_blocks{dp_rank=\"0\",dynamo_component=\"backend\",model=\"m\"} 4096\n\
                    dynamo_component_gpu_cache_usage_percent{dp_rank=\"0\",dynamo_component=\"backend\",model=\"m\"} 0.25\n";
        assert_eq!(lines(body), ["dp 0 backend: KV 25.00 % of 4,096 blocks · not served: dynamo_component_kv_cache_hit_rate"]);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([count(0.0), count(999.0), count(1000.0), count(-12345.5), count(f64::NAN)], ["0", "999", "1,000", "-12,345.5", "NaN"]);
    }
}
