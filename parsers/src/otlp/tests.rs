//! Tests of OTLP traces.

use crate::cases::cases;
use crate::dynamo::tests::captures::{each, read};
use crate::dynamo::tests::grammar::{ids, parse, word};
use crate::event::{Event, Outcome, Secret, Value};
use crate::ids::IdKind;
use crate::record::{Layout, Reader, record_start};

fn sample(n: usize) -> (Event<'static>, Outcome) {
    parse(&super::TRACES, super::TRACES.samples[n].0)
}

/// What a span says, by one reading or another.
#[derive(Debug, Default, PartialEq)]
struct Said {
    name: String,
    trace: String,
    span: String,
    parent: String,
    start: i64,
    duration: f64,
    rid: String,
    attributes: usize,
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

/// The spans of a line by a general JSON reader.
fn truth(line: &str) -> Vec<Said> {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let mut all = Vec::new();
    for resource in line["resourceSpans"].as_array().unwrap() {
        for scope in resource["scopeSpans"].as_array().unwrap() {
            for span in scope["spans"].as_array().unwrap() {
                let ns = |key: &str| span[key].as_str().unwrap().parse::<i64>().unwrap();
                let (start, end) = (ns("startTimeUnixNano"), ns("endTimeUnixNano"));
                let attributes = span["attributes"].as_array().unwrap();
                let rid = attributes.iter().find(|a| a["key"] == "rid").map_or(String::new(), |a| text(&a["value"]["stringValue"]));
                all.push(Said {
                    name: text(&span["name"]),
                    trace: text(&span["traceId"]),
                    span: text(&span["spanId"]),
                    parent: text(&span["parentSpanId"]),
                    start,
                    duration: (end - start) as f64 / 1e6,
                    rid,
                    attributes: attributes.len(),
                });
            }
        }
    }
    all
}

fn said(event: &Event<'_>, attributes: usize) -> Said {
    let first = |kind| ids(event, kind).first().map_or(String::new(), |t| (*t).to_owned());
    let field = |name| match event.get(name) {
        Some(Value::Str(t)) => t.to_string(),
        _ => String::new(),
    };
    Said {
        name: field("span_name"),
        trace: first(IdKind::TraceId),
        span: first(IdKind::SpanId),
        parent: field("parent_id"),
        start: event.stamp.map_or(0, |s| s.ns),
        duration: match event.get("duration_ms") {
            Some(Value::Float(ms)) => *ms,
            _ => -1.0,
        },
        rid: first(IdKind::Rid),
        attributes,
    }
}

/// Every span of SGLang's captures is a record of its own and says what the JSON says.
#[test]
fn every_span_of_sglangs_traces_is_an_event() {
    let Some(dir) = cases("sglang-samples") else { return };
    for (name, lines, spans, rids) in [("otlp-traces-0.5.23.jsonl", 5, 110, 5), ("otlp-traces-0.5.9.jsonl", 5, 60, 5)] {
        let bytes = read(&dir.join(name));
        let want: Vec<Said> = String::from_utf8_lossy(&bytes).lines().flat_map(truth).collect();
        let mut got: Vec<Said> = Vec::new();
        let mut resources = 0;
        each(&bytes, |payload, event, outcome| {
            assert_eq!(*outcome, Outcome::Parsed, "{}", String::from_utf8_lossy(payload));
            if event.kind.name == "otlp_resource" {
                resources += 1;
                assert_eq!(word(event, "service_name"), "sglang");
                assert_eq!(word(event, "scope_name"), "sglang server");
                return;
            }
            assert_eq!(event.kind.name, "otlp_span");
            let stamp = event.stamp.unwrap();
            let digits = &payload[stamp.at as usize..(stamp.at + stamp.len) as usize];
            assert_eq!(String::from_utf8_lossy(digits), stamp.ns.to_string());
            got.push(said(event, want.get(got.len()).map_or(0, |w| w.attributes)));
        });
        assert_eq!(got, want, "{name}");
        assert_eq!((resources, got.len()), (lines, spans), "{name}");
        assert_eq!(got.iter().filter(|s| !s.rid.is_empty()).count(), rids, "{name}");
        println!("{name}: {resources} lines, {} spans as in the JSON, {rids} request ids", got.len());
    }
}

#[test]
fn sglangs_root_span_has_usage_and_rid() {
    let (event, outcome) = sample(2);
    assert_eq!((event.kind.name, outcome), ("otlp_span", Outcome::Parsed));
    assert_eq!(ids(&event, IdKind::Rid), ["b8a1abcd1a6916c74da4f9fc3c6da5d7"]);
    assert_eq!(word(&event, "span_name"), " Req b8a1abcd");
    assert_eq!(word(&event, "finish_reason"), "stop");
    assert_eq!(word(&event, "model"), "qwen3-32b");
    for (name, value) in [("prompt_tokens", 12_288), ("completion_tokens", 64), ("cached_tokens", 12_032), ("top_k", -1)] {
        assert_eq!(event.get(name), Some(&Value::Int(value)), "{name}");
    }
    assert_eq!(event.get("ttft_s"), Some(&Value::Float(0.8151)));
    assert_eq!(event.get("parent_id"), None, "the empty parent is none");
    assert!(event.withheld.is_empty());
}

#[test]
fn dynamos_spans_have_the_names_of_its_logs() {
    let (event, outcome) = sample(3);
    assert_eq!((event.kind.name, outcome), ("otlp_span", Outcome::Parsed));
    assert_eq!(word(&event, "span_name"), "kv_router.route_request");
    assert_eq!(word(&event, "otel_kind"), "client");
    assert_eq!(ids(&event, IdKind::TraceId), ["941841a76c5a4c0e83f9edd7980903b6"]);
    assert_eq!(ids(&event, IdKind::RequestId).len(), 1);
    assert_eq!(ids(&event, IdKind::WorkerId).len(), 1);
    assert_eq!(word(&event, "phase"), "Aggregated");
    assert_eq!(event.get("request_attempt"), Some(&Value::Int(0)), "as in the log, though the attribute is a string");
    assert!(matches!(event.get("duration_ms"), Some(Value::Float(ms)) if *ms > 0.0));
    assert!(matches!(event.get("span_events"), Some(Value::Int(n)) if *n > 0));
    // The one that names a session twice, for want of one by the request's id.
    let (event, _) = sample(4);
    assert_eq!(word(&event, "span_name"), "request.lifecycle");
    assert_eq!(word(&event, "dynamo_session_source"), "request_id_fallback");
    assert_eq!(ids(&event, IdKind::RequestId), ["9d7a9e2c-b27c-417e-a412-958a5b7a2f21"]);
    assert!(ids(&event, IdKind::Session).is_empty());
}

/// One full span of each kind that a run of Dynamo 1.6.1 exported.
#[test]
fn every_kind_of_dynamos_spans_says_what_the_json_says() {
    let Some(dir) = cases("sglang-samples") else { return };
    let path = dir.join("../../formats/dynamo-appendix/otlp_examples.json");
    let Ok(bytes) = std::fs::read(&path) else {
        println!("skipped: no {}", path.display());
        return;
    };
    let examples: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let mut names = Vec::new();
    for example in examples.as_object().unwrap().values() {
        let line = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{example}]}}]}}]}}"#);
        let want = &truth(&line)[0];
        let (event, outcome) = parse(&super::TRACES, &line);
        assert_eq!((event.kind.name, outcome), ("otlp_span", Outcome::Parsed));
        assert_eq!(said(&event, want.attributes), *want);
        let attribute = |key: &str| {
            let list = example["attributes"].as_array().unwrap();
            list.iter().find(|a| a["key"] == key).map(|a| text(&a["value"]["stringValue"]))
        };
        for (key, kind) in [("x_request_id", IdKind::XRequestId), ("instance_id", IdKind::WorkerId), ("worker_id", IdKind::WorkerId)] {
            if let Some(id) = attribute(key) {
                assert_eq!(ids(&event, kind), [id], "{key} of {}", want.name);
            }
        }
        if let Some(id) = attribute("request_id").or_else(|| attribute("dynamo.request.id")) {
            assert_eq!(ids(&event, IdKind::RequestId), [id], "{}", want.name);
        }
        names.push(want.name.clone());
    }
    names.sort();
    names.dedup();
    println!("{} examples of {} spans are as in the JSON: {names:?}", examples.as_object().unwrap().len(), names.len());
    assert_eq!(names.len(), 13);
}

#[test]
fn one_span_with_its_resource_and_several_in_a_document() {
    let (event, outcome) = sample(5);
    assert_eq!((event.kind.name, outcome), ("otlp_span", Outcome::Parsed));
    assert_eq!(word(&event, "service_name"), "dynamo-frontend");
    assert_eq!(word(&event, "span_name"), "http-request");
    let (event, outcome) = sample(6);
    assert_eq!((event.kind.name, outcome), ("otlp_spans", Outcome::Parsed));
    assert_eq!(event.get("spans"), Some(&Value::Int(2)));
    assert_eq!(ids(&event, IdKind::SpanId), ["c135806b664c697b", "cddadb51a3e25627"]);
    assert_eq!(ids(&event, IdKind::TraceId), ["941841a76c5a4c0e83f9edd7980903b6"]);
    assert_eq!(event.stamp.unwrap().ns, 1_795_975_799_770_916_448, "the earliest start");
}

const LINK: &str = r#"{"traceId":"00000000000000007a97c643656412a9","spanId":"8ca5996666ceab36","flags":256}"#;

fn span(name: &str, attributes: &str) -> String {
    format!(
        r#"{{"traceId":"00000000000000007a97c643656412a9","spanId":"4a14876aeaff1a09","parentSpanId":"","flags":257,"name":"{name}","kind":1,"startTimeUnixNano":"1779265829786100000","endTimeUnixNano":"1779265829792200000","attributes":[{attributes}],"links":[{LINK}],"status":{{"code":2,"message":"gone"}}}}"#
    )
}

fn line(spans: &str) -> String {
    format!(
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[]}},"scopeSpans":[{{"scope":{{"name":"a"}},"spans":[{spans}]}},{{"scope":{{"name":"b"}},"spans":[{spans}]}}]}},{{"resource":{{"attributes":[]}},"scopeSpans":[{{"scope":{{}},"spans":[]}}]}}]}}"#
    )
}

/// Offsets and kinds of the records of `bytes`.
fn records(bytes: &[u8]) -> Vec<(usize, &'static str)> {
    let layout = Layout { formats: crate::FORMATS.to_vec(), ..Layout::default() };
    let mut reader = Reader::new(bytes, 0, &layout);
    let mut found = Vec::new();
    let mut end = 0;
    while let Some(record) = reader.next() {
        let mut event = Event::new(&crate::text::kinds::TEXT);
        record.parse(&mut event);
        assert_eq!(record.offset, end);
        end += record.len;
        found.push((record.offset, event.kind.name));
    }
    assert_eq!(end, bytes.len());
    found
}

#[test]
fn spans_scopes_and_resources_are_records_and_links_are_none() {
    let escaped = r#"{"key":"note","value":{"stringValue":"{\"traceId\":\"0000\",\"spanId\":\"00\",\"name\":\""}}"#;
    let all = line(&format!("{},{}", span("x", escaped), span("y", "")));
    let bytes = format!("{all}\n{all}\n");
    let found = records(bytes.as_bytes());
    let kinds: Vec<&str> = found.iter().map(|f| f.1).collect();
    let once = ["otlp_resource", "otlp_span", "otlp_span", "otlp_resource", "otlp_span", "otlp_span", "otlp_resource"];
    assert_eq!(kinds, [once, once].concat());
    // From any byte the same records are seen.
    let layout = Layout { formats: crate::FORMATS.to_vec(), ..Layout::default() };
    for at in 0..bytes.len() {
        let want = found[found.partition_point(|f| f.0 <= at) - 1].0;
        assert_eq!(record_start(bytes.as_bytes(), at, &layout), want, "{at}");
    }
}

#[test]
fn prompts_headers_and_credentials_of_attributes_are_withheld() {
    let hidden = [
        ("gen_ai.prompt", r#"{"stringValue":"SECRET1"}"#, Secret::Body),
        ("gen_ai.input.messages", r#"{"arrayValue":{"values":[{"stringValue":"SECRET2"}]}}"#, Secret::Body),
        ("input.value", r#"{"stringValue":"SECRET3"}"#, Secret::Body),
        ("anything", r#"{"kvlistValue":{"values":[{"key":"a","value":{"stringValue":"SECRET4"}}]}}"#, Secret::Body),
        ("http.request.header.user-agent", r#"{"stringValue":"SECRET5"}"#, Secret::Header),
        ("http.request.header.authorization", r#"{"stringValue":"SECRET6"}"#, Secret::Credential),
    ];
    let attributes: Vec<String> = hidden.iter().map(|(key, value, _)| format!(r#"{{"key":"{key}","value":{value}}}"#)).collect();
    let one = span("x", &attributes.join(","));
    let (event, outcome) = parse(&super::TRACES, &one);
    assert_eq!(outcome, Outcome::Parsed);
    let spans: Vec<(&str, Secret)> = event.withheld.iter().map(|w| (&one[w.span.clone()], w.why)).collect();
    assert_eq!(spans, hidden.map(|(_, value, why)| (value, why)));
    assert_eq!((word(&event, "otel_status_code"), word(&event, "otel_status_description")), ("error", "gone"));
    assert!(!event.fields.iter().any(|f| matches!(&f.value, Value::Str(t) if t.contains("SECRET"))));
    // However it is cut, and inside an export too, no secret that is left is uncovered.
    let whole = line(&one);
    for text in [&one, &whole] {
        for end in 1..=text.len() {
            let mut event = Event::new(&crate::text::kinds::TEXT);
            (super::TRACES.parse)(&text.as_bytes()[..end], &mut event);
            for (at, _) in text[..end].match_indices("SECRET") {
                assert!(event.withheld.iter().any(|w| w.span.contains(&at) && w.span.end <= end), "cut at {end}, {at}");
            }
        }
    }
}

#[test]
fn times_that_are_missing_or_turned_give_no_duration() {
    let one = span("x", "");
    let turned = one.replace("1779265829792200000", "1779265829786000000");
    let (event, _) = parse(&super::TRACES, &turned);
    assert_eq!((event.get("duration_ms"), event.note), (None, Some("ends before it starts")));
    let open = one.replace(r#""1779265829792200000""#, r#""0""#);
    let (event, _) = parse(&super::TRACES, &open);
    assert_eq!((event.get("duration_ms"), event.get("end_unix_ns"), event.note), (None, None, None));
    let never = one.replace(r#""1779265829786100000""#, r#""0""#);
    assert_eq!(parse(&super::TRACES, &never).0.stamp, None);
}

#[test]
fn bootstrap_rooms_are_decimal() {
    let one = span("x", r#"{"key":"bootstrap_room","value":{"stringValue":"0x1f"}}"#);
    assert_eq!(ids(&parse(&super::TRACES, &one).0, IdKind::BootstrapRoom), ["31"]);
    let none = span("x", r#"{"key":"bootstrap_room","value":{"stringValue":"0x0"}}"#);
    assert!(ids(&parse(&super::TRACES, &none).0, IdKind::BootstrapRoom).is_empty());
}
