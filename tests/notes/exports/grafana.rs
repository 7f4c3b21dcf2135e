//! The dashboard against the model that Grafana reads, and every query of it against the series of its run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use corr::metrics::Asked;
use corr::run::{self, Options};
use corr_metrics::select::Selector;
use regex::Regex;
use serde_json::Value;

use super::export;
use crate::program::{Place, cases};

/// The few keywords of JSON Schema that `dashboard.schema.json` uses.
fn check(value: &Value, schema: &Value, at: &str) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_i64() || n.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    assert_eq!(schema["type"], kind, "{at}: {value}");
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(allowed.contains(value), "{at}: {value}");
    }
    if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str()) {
        assert!(Regex::new(pattern).expect("a pattern").is_match(text), "{at}: {text}");
    }
    if let Some(number) = value.as_i64() {
        assert!(schema["minimum"].as_i64().is_none_or(|least| number >= least), "{at}: {number}");
        assert!(schema["maximum"].as_i64().is_none_or(|most| number <= most), "{at}: {number}");
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate().filter(|_| schema["items"].is_object()) {
        check(item, &schema["items"], &format!("{at}[{i}]"));
    }
    let Some(object) = value.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(object.contains_key(name.as_str().expect("a name")), "{at}: no {name}");
    }
    for (name, member) in object {
        match schema["properties"].get(name) {
            Some(schema) => check(member, schema, &format!("{at}.{name}")),
            None => assert!(schema["closed"] != true, "{at}: {name} is not of the model"),
        }
    }
}

/// The selectors of a query of PromQL, as far as queries are written here.
fn selectors(expr: &str) -> Vec<String> {
    let by = Regex::new(r"by \([a-z_, ]*\)|\[\$__rate_interval\]").expect("a pattern");
    let plain = by.replace_all(expr, "");
    let found = Regex::new(r#"([a-z_][A-Za-z0-9_:]*)(\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?(\(?)"#).expect("a pattern");
    let series = |c: regex::Captures<'_>| {
        (c.get(3).is_none_or(|call| call.is_empty()) && &c[1] != "sum").then(|| format!("{}{}", &c[1], c.get(2).map_or("", |l| l.as_str())))
    };
    found.captures_iter(&plain).filter_map(series).collect()
}

/// Holds a dashboard to the model, and its queries to the series of the run. Returns the titles of panels and the number of queries.
fn valid(place: &Place, run: &str, text: &str) -> (BTreeSet<String>, usize) {
    let dashboard: Value = serde_json::from_str(text).expect("JSON");
    check(&dashboard, &serde_json::from_str(include_str!("dashboard.schema.json")).expect("the schema"), "dashboard");
    let inputs: Vec<(&str, &str)> = dashboard["templating"]["list"]
        .as_array()
        .expect("variables")
        .iter()
        .map(|v| (v["name"].as_str().unwrap(), v["type"].as_str().unwrap()))
        .collect();
    assert_eq!(inputs, [("datasource", "datasource")]);
    let opened = run::open(&[place.path(run).display().to_string()], &Options::default()).expect("the run");
    let asked = Asked::read(&opened, None);
    let (mut titles, mut queries) = (BTreeSet::new(), 0);
    let mut taken: BTreeSet<(u64, u64)> = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        assert!(ids.insert(panel["id"].as_u64()), "no id twice");
        let grid = |name: &str| panel["gridPos"][name].as_u64().expect("a place");
        for x in grid("x")..grid("x") + grid("w") {
            for y in grid("y")..grid("y") + grid("h") {
                assert!(x < 24 && taken.insert((x, y)), "panels overlap: {panel}");
            }
        }
        if panel["type"] == "row" {
            continue;
        }
        titles.insert(panel["title"].as_str().expect("a title").to_string());
        let targets = panel["targets"].as_array().expect("targets");
        assert!(!targets.is_empty(), "{panel}");
        let cited = panel["description"].as_str().and_then(|d| d.strip_prefix("In the run: ")).expect("what it is of");
        assert!(cited.contains(run) && cited.contains("@20"), "{cited}");
        let references: BTreeSet<&str> = targets.iter().filter_map(|t| t["refId"].as_str()).collect();
        assert_eq!(references.len(), targets.len());
        for target in targets {
            let expr = target["expr"].as_str().expect("a query");
            let found = selectors(expr);
            assert!(!found.is_empty(), "{expr}");
            for selector in found {
                let parsed = Selector::parse(&selector).unwrap_or_else(|e| panic!("{expr}: {e}"));
                assert!(!asked.hits(&[parsed]).is_empty(), "{expr}: no series of the run is {selector}");
                queries += 1;
            }
        }
    }
    (titles, queries)
}

#[test]
fn queries_of_the_fixture_match_its_series() {
    let place = Place::with("metrics-run");
    let text = export(&place, &["grafana", "metrics-run"]).stdout;
    let (titles, queries) = valid(&place, "metrics-run", &text);
    // The families of `raw_prometheus.jsonl`, by `jq -r .text | grep '# TYPE'`: cached tokens, KV tokens, load back, running requests, prompt tokens, TTFT, usage.
    let want = [
        "Bytes loaded back from the host",
        "Cached prompt tokens by the tier that had them",
        "KV tokens in use, and capacity",
        "KV tokens: available, evictable, used by running requests",
        "Prompt tokens a second",
        "Requests running and waiting",
        "Share of the KV cache in use",
        "Time to first token",
        "Tokens loaded back from the host",
    ];
    assert_eq!(titles.iter().map(String::as_str).collect::<Vec<_>>(), want);
    assert_eq!(queries, 15, "{text}");
    // It has no queue, no storage and no generated tokens: there are no panels of those.
    assert!(!text.contains("num_queue_reqs") && !text.contains("prefetched_tokens") && !text.contains("generation_tokens"));
}

/// A scrape of a split engine: roles apart, ranks beside each other, capacity only where it has its counterpart.
#[test]
fn roles_and_ranks_are_told_apart() {
    let place = Place::new();
    let mut body = String::from("# TYPE sglang:max_total_num_tokens gauge\n");
    for (role, rank) in [("prefill", 0), ("prefill", 1), ("decode", 0)] {
        body.push_str(&format!("sglang:max_total_num_tokens{{engine_type=\"{role}\",tp_rank=\"{rank}\"}} 1000\n"));
    }
    body.push_str("# TYPE sglang:kv_available_tokens gauge\nsglang:kv_available_tokens{engine_type=\"decode\",tp_rank=\"0\"} 400\n");
    body.push_str("# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs{engine_type=\"a\\\"b\\\\c\\nd}\",tp_rank=\"0\"} 1\n");
    body.push_str("# TYPE sglang:time_to_first_token_seconds histogram\n");
    for le in ["0.1", "+Inf"] {
        body.push_str(&format!("sglang:time_to_first_token_seconds_bucket{{engine_type=\"decode\",le=\"{le}\"}} 2\n"));
    }
    body.push_str("sglang:time_to_first_token_seconds_sum{engine_type=\"decode\"} 0.2\nsglang:time_to_first_token_seconds_count{engine_type=\"decode\"} 2\n");
    place.write("scrape.prom", body.as_bytes());
    let ran = place.corr(&["export", "grafana", "scrape.prom"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    valid(&place, "scrape.prom", &ran.stdout);
    let dashboard: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let exprs = |title: &str| -> Vec<&str> {
        let panels = dashboard["panels"].as_array().expect("panels");
        let panel = panels.iter().find(|p| p["title"] == title).unwrap_or_else(|| panic!("{title}: {}", ran.stderr));
        panel["targets"].as_array().expect("targets").iter().filter_map(|t| t["expr"].as_str()).collect()
    };
    // Nothing says what of the prefill's capacity is left: no line is drawn for it.
    assert_eq!(
        exprs("KV tokens in use, and capacity"),
        [
            "sglang:max_total_num_tokens{engine_type=\"decode\"} - sglang:kv_available_tokens{engine_type=\"decode\"}",
            "sglang:max_total_num_tokens{engine_type=\"decode\"}"
        ]
    );
    assert_eq!(exprs("Requests running and waiting"), ["sglang:num_running_reqs{engine_type=\"a\\\"b\\\\c\\nd}\"}"]);
    assert_eq!(exprs("Time to first token").len(), 3);
}

/// Every scrape of shared/cases that a panel can show.
#[test]
fn queries_of_captures_match_their_series() {
    let Some(folder) = cases("sglang-samples") else { return };
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut scrapes: Vec<PathBuf> =
        entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.extension().is_some_and(|e| e == "prom")).collect();
    scrapes.sort();
    assert!(!scrapes.is_empty());
    for scrape in scrapes {
        let place = Place::new();
        place.write("scrape.prom", &std::fs::read(&scrape).expect("a scrape"));
        let text = export(&place, &["grafana", "scrape.prom"]).stdout;
        let (titles, queries) = valid(&place, "scrape.prom", &text);
        println!("{}: {} panels, {queries} queries", scrape.display(), titles.len());
    }
}
