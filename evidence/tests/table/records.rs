//! Every signal of events is found in a record, as the parsers read it: a field that no parser gives, or gives by another name, is found here.

use std::collections::BTreeSet;

use corr_evidence::definition::{Condition, Literal, Signal, Table};
use corr_parsers::FORMATS;
use corr_parsers::event::{Event, Outcome, Value};

const RECORDS: &str = include_str!("records.txt");

/// Parses a record of a format and hands the event on.
fn with_event<T>(format: &str, record: &str, see: impl FnOnce(&Event<'_>) -> T) -> T {
    let format = FORMATS.iter().find(|f| f.name == format).unwrap_or_else(|| panic!("{format}"));
    let mut event = Event::new(format.kinds[0]);
    let outcome = (format.parse)(record.as_bytes(), &mut event);
    assert!(!matches!(outcome, Outcome::Unparsed(_)), "{outcome:?}: {record}");
    see(&event)
}

fn same(value: &Value<'_>, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Bool(a), Literal::Bool(b)) => a == b,
        (Value::Int(a), Literal::Int(b)) => a == b,
        (Value::Float(a), Literal::Int(b)) => a.to_string() == b.to_string(),
        (Value::Float(a), Literal::Float(b)) => a == b,
        (Value::Str(a), Literal::Text(b)) => a == b,
        _ => false,
    }
}

fn number(value: &Value<'_>) -> Option<f64> {
    value.to_string().parse().ok()
}

/// Does one of the fields of that name hold what is asked? A record may have several.
fn holds(condition: &Condition, event: &Event<'_>) -> bool {
    let values: Vec<&Value<'_>> = event.fields.iter().filter(|f| f.name == condition.field).map(|f| &f.value).collect();
    let any = |literal: &Literal| values.iter().any(|value| same(value, literal));
    condition.present.is_none_or(|present| present != values.is_empty())
        && condition.is.as_ref().is_none_or(any)
        && condition.is_not.as_ref().is_none_or(|literal| !any(literal))
        && (condition.one_of.is_empty() || condition.one_of.iter().any(any))
        && condition.above.is_none_or(|low| values.iter().any(|value| number(value).is_some_and(|n| n > low)))
}

/// Is the event this signal, amount and all?
fn is(signal: &Signal, event: &Event<'_>) -> bool {
    signal.kinds.iter().any(|kind| kind == event.kind.name)
        && signal.conditions.iter().all(|c| holds(c, event))
        && signal.amount.as_deref().is_none_or(|amount| amount.split('+').any(|field| event.get(field).and_then(number).is_some()))
}

/// The signals that a record is, as `edge/signal`.
fn signals_of(table: &Table, format: &str, record: &str) -> BTreeSet<String> {
    let formats = |signal: &Signal| {
        let instrument = table.instruments.iter().find(|i| i.id == signal.instrument);
        instrument.is_some_and(|i| i.formats.iter().any(|f| f == format))
    };
    with_event(format, record, |event| {
        let edges = table.edges.iter().flat_map(|edge| edge.signals.iter().map(move |signal| (edge, signal)));
        let found = edges.filter(|(_, signal)| formats(signal) && is(signal, event));
        found.map(|(edge, signal)| format!("{}/{}", edge.id, signal.id)).collect()
    })
}

#[test]
fn every_signal_of_events_is_in_a_record() {
    let table = super::read();
    let mut seen = BTreeSet::new();
    for line in RECORDS.lines().filter(|line| !line.starts_with('#')) {
        let (format, record) = line.split_once('\t').expect("a format and a record");
        let found = signals_of(&table, format, record);
        assert!(!found.is_empty(), "no signal: {record}");
        seen.extend(found);
    }
    let every: BTreeSet<String> =
        super::signals(&table).filter(|(_, s)| s.metric.is_none()).map(|(edge, s)| format!("{}/{}", edge.id, s.id)).collect();
    let missing: Vec<&String> = every.difference(&seen).collect();
    assert!(missing.is_empty(), "no record: {missing:?}");
    println!("{} signals of events, each in a record", every.len());
}

/// The signals of a record, those of the edges named.
fn at<'s>(found: &'s BTreeSet<String>, edge: &str) -> Vec<&'s str> {
    found.iter().filter_map(|id| id.strip_prefix(edge)?.strip_prefix('/')).collect()
}

#[test]
fn what_is_not_inference_is_no_signal() {
    let table = super::read();
    let gateway = |method: &str, path: &str| {
        format!(
            "2026-11-29 18:58:25  INFO http_request{{method={method} uri={path} version=HTTP/1.1 module=\"smg\" request_id=\"req-a\"}}: \
             smg::request: src/x.rs:1: started processing request"
        )
    };
    assert_eq!(signals_of(&table, "gateway", &gateway("GET", "/health")), BTreeSet::new());
    assert_eq!(at(&signals_of(&table, "gateway", &gateway("POST", "/generate")), "request-router"), ["gateway-request-started"]);
    let access =
        |request: &str| format!("[2026-11-29 19:13:27] INFO:     127.0.0.1:40586 - \"{request} HTTP/1.1\" 503 Service Unavailable");
    assert_eq!(signals_of(&table, "sglang", &access("GET /health")), BTreeSet::new());
    assert_eq!(signals_of(&table, "sglang", &access("GET /get_model_info")), BTreeSet::new());
    assert_eq!(at(&signals_of(&table, "sglang", &access("POST /generate")), "rejection"), ["engine-access-refused"]);
    let worker = |endpoint: &str| {
        format!(
            "2026-11-29T18:06:46.871919Z  INFO handle_payload: dynamo_runtime::pipeline::network::ingress::push_handler: request received \
             request_id=16d0d70e-0a5c-4646-85ec-d74145ed9770 component=\"backend\" endpoint=\"{endpoint}\" namespace=\"dynamo\""
        )
    };
    assert_eq!(signals_of(&table, "dynamo-text", &worker("worker_kv_query_source_1")), BTreeSet::new());
    assert_eq!(at(&signals_of(&table, "dynamo-text", &worker("generate")), "admission"), ["worker-request-received"]);
}

#[test]
fn a_tier_is_not_taken_for_another() {
    let table = super::read();
    let event = |tier: &str| {
        format!(
            "{{\"publisher_id\":1,\"sequence\":2,\"published_at\":1795975544227,\"topic\":\"kv-events\",\"payload\":[{{\"worker_id\":5,\
             \"storage_tier\":\"{tier}\",\"event\":{{\"event_id\":1,\"data\":{{\"removed\":{{\"block_hashes\":[1,2]}}}},\"dp_rank\":0}}}}]}}"
        )
    };
    for (tier, edge, signal) in
        [("device", "l1-evict", "device-removed"), ("host_pinned", "l2-evict", "host-removed"), ("disk", "l3-evict", "disk-removed")]
    {
        let found = signals_of(&table, "dynamo-events", &event(tier));
        let evictions: Vec<&str> = ["l1-evict", "l2-evict", "l3-evict"].iter().flat_map(|edge| at(&found, edge)).collect();
        assert_eq!(evictions, [signal], "{tier}");
        assert_eq!(at(&found, edge), [signal], "{tier}");
    }
}
