//! Traces against OTLP's mapping to JSON, and read again by corr's own reader of OTLP.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::export;
use crate::program::Place;

fn hex(value: &Value, digits: usize) -> String {
    let text = value.as_str().expect("an id is text");
    assert!(
        text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) && text.bytes().any(|b| b != b'0'),
        "{text}"
    );
    text.to_string()
}

/// fixed64 is text in JSON.
fn nanos(value: &Value) -> u64 {
    value.as_str().expect("64 bits are text").parse().expect("digits")
}

fn attributes(list: &Value) -> BTreeMap<String, Value> {
    let any = |value: &Value| {
        let of = value.as_object().filter(|o| o.len() == 1).expect("one kind of value");
        of.iter().for_each(|(kind, value)| match kind.as_str() {
            "stringValue" => assert!(value.is_string()),
            "boolValue" => assert!(value.is_boolean()),
            "arrayValue" => assert!(value["values"].as_array().is_some_and(|v| v.iter().all(|v| v["stringValue"].is_string()))),
            other => panic!("a value of kind {other}"),
        });
    };
    let list = list.as_array().expect("attributes");
    list.iter().for_each(|a| any(&a["value"]));
    list.iter().map(|a| (a["key"].as_str().expect("a key").to_string(), a["value"].clone())).collect()
}

/// Holds every span to the format; parents and links must be there. Returns the spans.
pub fn valid(text: &str) -> Vec<Value> {
    let mut spans = Vec::new();
    for line in text.lines() {
        let export: Value = serde_json::from_str(line).expect("an export a line");
        for resource in export["resourceSpans"].as_array().expect("resourceSpans") {
            assert!(attributes(&resource["resource"]["attributes"]).contains_key("service.name"));
            for scope in resource["scopeSpans"].as_array().expect("scopeSpans") {
                assert_eq!(scope["scope"]["name"], "corr");
                spans.extend(scope["spans"].as_array().expect("spans").iter().cloned());
            }
        }
    }
    let mut ids = BTreeSet::new();
    for span in &spans {
        ids.insert((hex(&span["traceId"], 32), hex(&span["spanId"], 16)));
    }
    for span in &spans {
        let known =
            ["traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "events", "links"];
        assert!(span.as_object().expect("a span").keys().all(|k| known.contains(&k.as_str())), "{span}");
        assert!(span["name"].is_string() && span["kind"].as_u64().is_some_and(|k| (1..=5).contains(&k)), "{span}");
        assert!(nanos(&span["startTimeUnixNano"]) <= nanos(&span["endTimeUnixNano"]), "{span}");
        let said = attributes(&span["attributes"]);
        assert!(said["corr.cites"]["arrayValue"]["values"].as_array().is_some_and(|c| !c.is_empty()), "{span}");
        assert_eq!(said.contains_key("corr.inferred"), said.contains_key("corr.evidence"));
        if let Some(parent) = span.get("parentSpanId") {
            assert!(ids.contains(&(hex(&span["traceId"], 32), hex(parent, 16))), "{span}");
        }
        for event in span["events"].as_array().into_iter().flatten() {
            assert!(nanos(&event["timeUnixNano"]) > 0 && event["name"].is_string());
            assert!(attributes(&event["attributes"]).contains_key("corr.cite"));
        }
        for link in span["links"].as_array().into_iter().flatten() {
            assert!(ids.contains(&(hex(&link["traceId"], 32), hex(&link["spanId"], 16))), "{link}");
            attributes(&link["attributes"]);
        }
    }
    spans
}

/// One trace a request: of the 41 ids of which both ends were read 39 are requests, each with a row of the trace, and two are calls between workers.
#[test]
fn a_request_is_one_trace() {
    let place = Place::with("direct-run");
    std::fs::create_dir(place.path("again")).expect("a folder");
    let text = export(&place, &["otlp", "direct-run"]).stdout;
    assert_eq!(export(&place, &["otlp", "direct-run"]).stdout, text, "ids are hashes of what spans are");
    let spans = valid(&text);
    let traces: BTreeSet<&str> = spans.iter().filter_map(|s| s["traceId"].as_str()).collect();
    assert_eq!((text.lines().count(), traces.len()), (41, 41));
    let roots: Vec<&Value> = spans.iter().filter(|s| s.get("parentSpanId").is_none()).collect();
    assert_eq!(roots.len(), 41, "one root a trace");
    // 39 roots of several spans, 39 rows, 39 pairs of the frontend, 39 of workers, 3 stages of each row, 2 calls between workers.
    assert_eq!(spans.len(), 39 * 4 + 39 * 3 + 2);
    // Of 15 requests in 6 sessions all but the first of each link to the one before.
    let links: usize = spans.iter().map(|s| s["links"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(links, 15 - 6);
    // Read again, it is the same spans.
    place.write("again/spans.jsonl", text.as_bytes());
    let read = place.corr(&["query", "again", "kind:otlp_span", "--limit", "0", "--format", "jsonl"]);
    assert_eq!(read.code, Some(0), "{}", read.stderr);
    let id = |event: &Value, kind: &str| {
        let ids = event["ids"].as_array().expect("ids");
        ids.iter().find(|i| i["kind"] == kind).and_then(|i| i["id"].as_str()).expect("an id").to_string()
    };
    let read: BTreeSet<(String, String, String, u64, u64)> = read
        .stdout
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).expect("JSON"))
        .filter(|l| l["type"] == "event")
        .map(|l| {
            let end = l["fields"]["end_unix_ns"].as_u64().expect("an end");
            let name = l["fields"]["span_name"].as_str().expect("a name").to_string();
            (id(&l, "trace_id"), id(&l, "span_id"), name, l["start_ns"].as_u64().expect("a start"), end)
        })
        .collect();
    let text_of = |s: &Value, name: &str| s[name].as_str().expect("text").to_string();
    let wrote: BTreeSet<(String, String, String, u64, u64)> = spans
        .iter()
        .map(|s| {
            (text_of(s, "traceId"), text_of(s, "spanId"), text_of(s, "name"), nanos(&s["startTimeUnixNano"]), nanos(&s["endTimeUnixNano"]))
        })
        .collect();
    assert_eq!(wrote.len(), spans.len(), "no id twice");
    assert_eq!(read, wrote);
}
