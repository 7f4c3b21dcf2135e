//! Every capture's verdicts against the expectation that was written from its raw artifacts and its truth (`tests/edges/expected`).

use std::path::Path;

use serde_json::Value;

use crate::common::{Capture, cases, edge, edges, spelled};

struct Expected {
    name: String,
    table: toml::Table,
}

fn expected() -> Vec<Expected> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edges/expected");
    let mut all: Vec<Expected> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            Expected { name, table: std::fs::read_to_string(&path).unwrap().parse().unwrap() }
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn text<'a>(table: &'a toml::Table, key: &str) -> &'a str {
    table[key].as_str().unwrap_or_else(|| panic!("{key} is no text"))
}

fn number(table: &toml::Table, key: &str) -> Option<f64> {
    let value = table.get(key)?;
    Some(value.as_float().unwrap_or_else(|| value.as_integer().unwrap_or_else(|| panic!("{key} is no number")) as f64))
}

/// What differs in one edge, and how many figures were compared.
fn compare(expected: &toml::Table, found: &Value, differences: &mut Vec<String>) -> usize {
    let mut compared = 0;
    let mut differ = |what: &str, wanted: &str, is: &str| {
        compared += 1;
        if wanted != is {
            differences.push(format!("{what}: expected {wanted}, found {is}"));
        }
    };
    let decided = expected.get("decided").map(|d| d.as_table().unwrap());
    let verdict = decided.unwrap_or(expected);
    differ("activity", text(verdict, "activity"), found["activity"].as_str().unwrap());
    for what in ["request", "session"] {
        differ(what, text(verdict, what), &spelled(&found[what]));
        // Where it cannot be proven, something must be named that would prove it, and nothing where it did not happen.
        let of = &found[what];
        match of["verdict"].as_str().unwrap() {
            "UNPROVABLE" => {
                differ("needs named", "true", &of["needs"].as_str().is_some_and(|n| !n.is_empty()).to_string());
                differ("reasons named", "true", &of["reasons"].as_array().is_some_and(|r| !r.is_empty()).to_string());
            }
            "proven" if of["k"] != of["n"] => {
                let rest = &of["rest"];
                differ("rest is", "UNPROVABLE", rest["verdict"].as_str().unwrap_or("nothing"));
                let left = of["n"].as_u64().unwrap() - of["k"].as_u64().unwrap();
                differ("rest counts", &left.to_string(), &rest["count"].to_string());
                let reasons: u64 = rest["reasons"].as_array().unwrap().iter().filter_map(|r| r["count"].as_u64()).sum();
                differ("reasons count", &left.to_string(), &reasons.to_string());
                differ("needs named", "true", &of["needs"].as_str().is_some_and(|n| !n.is_empty()).to_string());
            }
            _ => {}
        }
    }
    let figures = [found["count"].as_f64(), found["amount"].as_f64()];
    let is = format!("{figures:?}");
    if let Some(blocks) = number(expected, "blocks") {
        differ("blocks", &format!("{:?}", Some(blocks)), &format!("{:?}", figures[1]));
    } else if let (None, Some(count)) = (decided, number(expected, "count")) {
        let held = figures.contains(&Some(count));
        differ("count", &count.to_string(), if held { count.to_string() } else { is }.as_str());
    }
    compared
}

/// The head's numbers, where it says them.
fn compare_head(expected: &Expected, answer: &Value, differences: &mut Vec<String>) -> usize {
    let of = |key: &str| expected.table.get(key).and_then(toml::Value::as_integer);
    let mut compared = 0;
    let mut differ = |what: &str, wanted: i64, is: &Value| {
        compared += 1;
        if is.as_i64() != Some(wanted) {
            differences.push(format!("{}: {what}: expected {wanted}, found {is}", expected.name));
        }
    };
    let head = &answer["requests"];
    let by_router = head["router"].as_i64().unwrap() > 0;
    let requests = of("requests").unwrap();
    if by_router {
        differ("requests at the router", requests, &head["router"]);
    } else {
        differ("requests", requests, &head["engine"]);
    }
    if by_router {
        differ("requests at the router, by its verdict", requests, &edge(answer, "router-worker")["request"]["n"]);
    }
    if let Some(engine) = of("engine_requests") {
        differ("requests at engines", engine, &head["engine"]);
        differ("requests at engines, by their verdict", engine, &edge(answer, "admission")["request"]["n"]);
    }
    if of("sessions") == Some(0) {
        differ("requests with a session", 0, &head["with_session"]);
    }
    compared
}

#[test]
fn verdicts_are_those_of_the_raw_artifacts() {
    let Some(cases) = cases() else { return };
    let (mut captures, mut edges_compared, mut figures) = (0, 0, 0);
    let mut differences = Vec::new();
    for expected in expected() {
        let capture = Capture::of(&cases, text(&expected.table, "capture"));
        let answer = edges(&capture.run);
        captures += 1;
        figures += compare_head(&expected, &answer, &mut differences);
        let all = expected.table["edge"].as_array().unwrap();
        assert_eq!(all.len(), answer["edges"].as_array().unwrap().len(), "{}", expected.name);
        for wanted in all {
            let wanted = wanted.as_table().unwrap();
            let mut own = Vec::new();
            figures += compare(wanted, edge(&answer, text(wanted, "id")), &mut own);
            edges_compared += 1;
            differences.extend(own.into_iter().map(|d| format!("{}: {}: {d}", expected.name, text(wanted, "id"))));
        }
    }
    println!("{captures} captures: {edges_compared} edges, {figures} figures compared, {} differ", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!((captures, edges_compared), (20, 440), "an expectation is gone");
}

/// Runs whose traces were off, or whose audit has bodies alone: nobody's session is said anywhere, on no edge, and the switch is named.
#[test]
fn without_a_trace_no_session_is_proven_on_any_edge() {
    let Some(cases) = cases() else { return };
    let mut checked = 0;
    for below in ["dynamo/B1_audit_body_only_jsonl", "dynamo/V061_etcd_nats_text", "dynamo/V102_etcd_nats_jsonl"] {
        let capture = Capture::of(&cases, below);
        for edge in edges(&capture.run)["edges"].as_array().unwrap() {
            let session = &edge["session"];
            match session["verdict"].as_str().unwrap() {
                "none" => assert_eq!(edge["activity"], "absent", "{below}: {}", edge["edge"]),
                verdict => {
                    assert_eq!(verdict, "UNPROVABLE", "{below}: {}", edge["edge"]);
                    let needs = session["needs"].as_str().unwrap();
                    // A refused request has no trace row either: only its client knows its session.
                    let switch =
                        needs.contains("DYN_REQUEST_TRACE=1") || (edge["edge"] == "rejection" && needs.contains("the client's own record"));
                    assert!(switch, "{below}: {}: needs {needs}", edge["edge"]);
                }
            }
            checked += 1;
        }
    }
    println!("{checked} edges without a session");
    assert_eq!(checked, 66);
}
