//! Which endpoints should have been scraped: the scraper's TOML, the same text inside a direct run's plan, and Prometheus' configuration.

use std::collections::BTreeMap;

use super::yaml::{self, Node};

/// An endpoint that a configuration names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// As samples name it: Tachometer's endpoint name, Prometheus' `host:port`.
    pub name: String,
    pub url: Option<String>,
    /// Configured time from one scrape to the next, in nanoseconds. The scraper's real period is longer by the scrape, and far longer when it
    /// is starved: it is found from stamps, never from here.
    pub every: Option<i64>,
    /// Role, worker index, host and what else is said of it.
    pub facts: BTreeMap<String, String>,
}

/// What a configuration expects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    pub targets: Vec<Target>,
    /// Parts of the configuration that name endpoints in ways that are not read here.
    pub unread: Vec<String>,
}

/// Why a configuration says nothing.
#[derive(Debug, thiserror::Error)]
pub enum ExpectedError {
    #[error("not TOML: {0}")]
    Toml(Box<toml::de::Error>),
    #[error("not JSON: {0}")]
    Json(serde_json::Error),
    #[error("not YAML that is read here: {0}")]
    Yaml(String),
    #[error("no {0} in it")]
    Lacks(&'static str),
}

/// From `tachometer.toml`, `tachometer_config.toml` or any file with `[[endpoints]]`.
///
/// # Errors
/// The text is not TOML, or names no endpoints.
pub fn from_toml(text: &str) -> Result<Expected, ExpectedError> {
    let table: toml::Table = text.parse().map_err(|e| ExpectedError::Toml(Box::new(e)))?;
    let endpoints = table.get("endpoints").and_then(|e| e.as_array()).ok_or(ExpectedError::Lacks("[[endpoints]]"))?;
    let common = interval(&table);
    let mut expected = Expected::default();
    for (i, endpoint) in endpoints.iter().enumerate() {
        let Some(endpoint) = endpoint.as_table() else {
            expected.unread.push(format!("endpoint {}", i + 1));
            continue;
        };
        let text = |key: &str| endpoint.get(key).and_then(|v| v.as_str()).map(str::to_string);
        let Some(name) = text("name") else {
            expected.unread.push(format!("endpoint {} without a name", i + 1));
            continue;
        };
        let metadata = endpoint.get("node_metadata").and_then(|m| m.as_table());
        let facts = metadata.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), scalar(v)?))).collect();
        expected.targets.push(Target { name, url: text("url"), every: interval(endpoint).or(common), facts });
    }
    Ok(expected)
}

/// `frequency` in Hz, or the later `collect_interval_ms`.
fn interval(table: &toml::Table) -> Option<i64> {
    let number = |key: &str| table.get(key).and_then(|v| v.as_float().or_else(|| v.as_integer().map(|n| n as f64)));
    let period = number("collect_interval_ms").map(|ms| ms * 1e6).or_else(|| number("frequency").map(|f| 1e9 / f))?;
    (period > 0.0 && period < 9e18).then(|| period.round() as i64)
}

fn scalar(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(n) => Some(n.to_string()),
        toml::Value::Float(n) => Some(n.to_string()),
        toml::Value::Boolean(b) => Some(b.to_string()),
        _ => None,
    }
}

/// From a direct run's `direct-plan.json`, which holds the scraper's TOML as text.
///
/// # Errors
/// The text is not JSON, or its plan has no scraper.
pub fn from_plan(text: &str) -> Result<Expected, ExpectedError> {
    let plan: serde_json::Value = serde_json::from_str(text).map_err(ExpectedError::Json)?;
    let enabled = plan.get("tachometer_enabled").and_then(serde_json::Value::as_bool);
    let config = plan.get("tachometer_config").and_then(serde_json::Value::as_str).filter(|c| !c.is_empty());
    match config {
        Some(config) if enabled != Some(false) => from_toml(config),
        _ => Err(ExpectedError::Lacks("tachometer_config that is enabled")),
    }
}

/// From Prometheus' configuration: jobs with `static_configs`. Targets that are discovered are not known from it, and are said so.
///
/// # Errors
/// The text is not YAML, or has no `scrape_configs`.
pub fn from_prometheus(text: &str) -> Result<Expected, ExpectedError> {
    let root = yaml::read(text).map_err(ExpectedError::Yaml)?;
    let jobs = root.get("scrape_configs").and_then(Node::list).ok_or(ExpectedError::Lacks("scrape_configs"))?;
    let common = root.get("global").and_then(|g| g.get("scrape_interval")).and_then(Node::text).unwrap_or("1m");
    let mut expected = Expected::default();
    for job in jobs {
        let word = |key: &str| job.get(key).and_then(Node::text);
        let name = word("job_name").unwrap_or("");
        let every = duration(word("scrape_interval").unwrap_or(common));
        let (scheme, path) = (word("scheme").unwrap_or("http"), word("metrics_path").unwrap_or("/metrics"));
        for group in job.get("static_configs").and_then(Node::list).unwrap_or(&[]) {
            let mut facts: BTreeMap<String, String> = group.get("labels").map(Node::pairs).unwrap_or_default().into_iter().collect();
            facts.insert("job".into(), name.into());
            for target in group.get("targets").and_then(Node::list).unwrap_or(&[]).iter().filter_map(Node::text) {
                let url = Some(format!("{scheme}://{target}{path}"));
                expected.targets.push(Target { name: target.to_string(), url, every, facts: facts.clone() });
            }
        }
        let discovered = job.keys().filter(|k| k.ends_with("_sd_configs"));
        expected.unread.extend(discovered.map(|k| format!("{k} of job {name}")));
    }
    Ok(expected)
}

/// Prometheus' durations: `15s`, `1m30s`, `900ms`.
fn duration(text: &str) -> Option<i64> {
    let mut rest = text.trim();
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let n: i64 = rest.get(..digits)?.parse().ok()?;
        rest = rest.get(digits..)?;
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit: i64 = match rest.get(..end)? {
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            "w" => 604_800_000_000_000,
            "y" => 31_536_000_000_000_000,
            _ => return None,
        };
        total = total.checked_add(n.checked_mul(unit)?)?;
        rest = rest.get(end..)?;
    }
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scrapers_endpoints() {
        let text = r#"
collect_interval_ms = 500
[[endpoints]]
name = "backend_agg0_rank0"
url = "http://127.0.0.1:7500/metrics"
frequency = 2.5
[endpoints.node_metadata]
"worker_index" = "0"
[[endpoints]]
name = "frontend0"
node_metadata = { index = 1 }
[[endpoints]]
url = "http://nameless"
"#;
        let expected = from_toml(text).unwrap();
        assert_eq!(expected.targets.len(), 2);
        assert_eq!(expected.targets[0].every, Some(400_000_000));
        assert_eq!(expected.targets[0].facts["worker_index"], "0");
        assert_eq!(expected.targets[1].every, Some(500_000_000));
        assert_eq!(expected.targets[1].facts["index"], "1");
        assert_eq!(expected.unread, ["endpoint 3 without a name"]);
        let plan = serde_json::json!({ "tachometer_enabled": true, "tachometer_config": text }).to_string();
        assert_eq!(from_plan(&plan).unwrap(), expected);
        assert!(matches!(from_toml("a = 1"), Err(ExpectedError::Lacks(_))));
    }

    #[test]
    fn prometheus_static_targets() {
        let text = "
global:
  scrape_interval: 15s   # a comment
scrape_configs:
  - job_name: \"sglang\"
    metrics_path: /m
    scrape_interval: 1m30s
    static_configs:
      - targets: ['a:1', \"b:2\"]
        labels:
          worker: agg0
  - {job_name: node, static_configs: [{targets: ['c:3']}]}
  - job_name: pods
    kubernetes_sd_configs:
      - role: pod
";
        let expected = from_prometheus(text).unwrap();
        let names: Vec<&str> = expected.targets.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["a:1", "b:2", "c:3"]);
        assert_eq!(expected.targets[1].url.as_deref(), Some("http://b:2/m"));
        assert_eq!(expected.targets[1].facts["worker"], "agg0");
        assert_eq!((expected.targets[0].every, expected.targets[2].every), (Some(90_000_000_000), Some(15_000_000_000)));
        assert_eq!(expected.unread, ["kubernetes_sd_configs of job pods"]);
        assert!(from_prometheus("a: [").is_err());
        assert_eq!(duration("900ms"), Some(900_000_000));
        assert_eq!(duration("9"), None);
    }
}
