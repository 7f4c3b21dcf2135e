//! Which records are counted, which are cited as the first and the last, and of what amounts are the sum.

use std::borrow::Cow;
use std::collections::BTreeSet;

use corr_evidence::compiled::Edges;
use corr_evidence::identity::Identity;
use corr_evidence::instruments::Instruments;
use corr_evidence::judge::{Findings, Judge};
use corr_evidence::ledger::{Cite, SourceLedger};
use corr_evidence::scope::Scope;
use corr_evidence::twins::Twins;
use corr_evidence::verdict::{Activity, Counter, Proof, Summed, Verdict};
use corr_parsers::event::{Event, Field, Value};
use corr_parsers::ids::IdKind;
use corr_parsers::stamp::Stamp;

use super::{SECOND, edges, kind};

/// A record of SGLang's log: kind, request, field, second.
type Record<'r> = (&'r str, Option<&'r str>, Option<(&'r str, i64)>, i64);

fn ledger(edges: &Edges, source: u32, worker: Option<&str>, records: &[Record<'_>], window: Option<(i64, i64)>) -> SourceLedger {
    let mut ledger = SourceLedger::new(source, worker.map(String::from), None);
    for (line, (name, request, field, second)) in (0u64..).zip(records) {
        let (format, kind) = kind("sglang", name).unwrap();
        let mut event = Event::new(kind);
        if let Some(request) = request {
            event.id(IdKind::Rid, request.to_string());
        }
        if let Some((name, value)) = field {
            event.fields.push(Field { name: Cow::Owned(name.to_string()), raw: Cow::Owned(name.to_string()), value: Value::Int(*value) });
        }
        let when = Some(Stamp::new(second * SECOND, SECOND));
        ledger.add(edges, format, &event, when, None, Cite { source, offset: line * 10, length: 10, line: line + 1 }, window);
    }
    ledger
}

fn judged(edges: &Edges, ledgers: &[SourceLedger], counters: &[Counter], window: Option<(i64, i64)>) -> Findings {
    let identity = Identity::new(ledgers);
    let scope = Scope { window, ..Scope::default() };
    let instruments = Instruments::new(edges, ledgers, &BTreeSet::new());
    let twins = Twins::new(ledgers);
    Judge { edges, ledgers, twins: &twins, identity: &identity, instruments: &instruments, counters, scope: &scope, all_cites: false }
        .findings()
}

fn verdict<'f>(edges: &Edges, found: &'f Findings, id: &str) -> &'f Verdict {
    found.verdicts.iter().find(|v| edges.edges()[v.edge].id == id).unwrap()
}

fn proof<'v>(edges: &Edges, verdict: &'v Verdict, id: &str) -> &'v Proof {
    verdict.proofs.iter().find(|p| edges.get(p.signal).unwrap().id == id).unwrap()
}

/// Source and line of each.
fn places(cites: &[Cite]) -> Vec<(u32, u64)> {
    cites.iter().map(|c| (c.source, c.line)).collect()
}

const ENDED: &str = "request_finished";

fn tokens(n: i64) -> Option<(&'static str, i64)> {
    Some(("completion_tokens", n))
}

#[test]
fn the_first_and_the_last_are_so_by_time_and_not_by_source() {
    let edges = edges();
    let late = [(ENDED, Some("c"), tokens(5), 50), (ENDED, Some("d"), tokens(5), 70)];
    let early = [(ENDED, Some("b"), tokens(5), 20), (ENDED, Some("a"), tokens(5), 10), (ENDED, Some("e"), tokens(5), 60)];
    let ledgers = [ledger(&edges, 0, Some("w0"), &late, None), ledger(&edges, 1, Some("w1"), &early, None)];
    let found = judged(&edges, &ledgers, &[], None);
    let decode = verdict(&edges, &found, "decode");
    assert_eq!(places(&proof(&edges, decode, "request-log-completion").cites), [(1, 2), (0, 2)]);
    let share = found.shares.iter().find(|s| s.of.id == "engine-reuse");
    assert!(share.is_none(), "no record says a prompt");
}

#[test]
fn an_amount_is_of_those_that_say_it() {
    let edges = edges();
    let records = [
        ("prefill_batch", None, Some(("new_tokens", 7)), 1),
        ("prefill_batch", None, Some(("new_tokens", 30)), 2),
        (ENDED, Some("a"), Some(("prefill_finished_time", 3)), 3),
        (ENDED, Some("HEALTH_CHECK_1"), Some(("prefill_finished_time", 3)), 3),
    ];
    let ledgers = [ledger(&edges, 0, Some("w0"), &records, None)];
    let found = judged(&edges, &ledgers, &[], None);
    let prefill = verdict(&edges, &found, "prefill");
    assert_eq!((prefill.count, prefill.amount), (Some(1), Some(37.0)));
    // The batches are also of the probe: their tokens are not those of the one request.
    let Some(Summed::Records { signal, records: 2 }) = prefill.summed else { panic!("{:?}", prefill.summed) };
    assert_eq!(edges.get(signal).unwrap().id, "prefill-batch");

    let some = [(ENDED, Some("a"), tokens(5), 1), (ENDED, Some("b"), tokens(6), 2), ("decode_batch", None, None, 2)];
    let ledgers = [ledger(&edges, 0, Some("w0"), &some, None)];
    let found = judged(&edges, &ledgers, &[], None);
    let decode = verdict(&edges, &found, "decode");
    assert_eq!((decode.count, decode.amount, decode.summed), (Some(2), Some(11.0), Some(Summed::Requests(2))));
}

#[test]
fn records_behind_the_window_are_told_apart() {
    let edges = edges();
    let window = Some((10 * SECOND, 20 * SECOND));
    let records = [
        ("request_received", Some("before"), None, 5),
        ("request_received", Some("inside"), None, 12),
        ("request_received", Some("long"), None, 18),
        (ENDED, Some("before"), tokens(1), 11),
        (ENDED, Some("inside"), tokens(2), 13),
        (ENDED, Some("long"), tokens(4), 25),
    ];
    let ledgers = [ledger(&edges, 0, Some("w0"), &records, window)];
    let found = judged(&edges, &ledgers, &[], window);
    let decode = verdict(&edges, &found, "decode");
    let ended = proof(&edges, decode, "request-log-completion");
    // Those of the two requests that began in it; one of them ended behind it, and in it ended one that began before.
    assert_eq!((ended.records, ended.outside, ended.of_others, ended.requests), (2, 1, 1, 2));
    assert_eq!(decode.amount, Some(6.0));
    let received = proof(&edges, verdict(&edges, &found, "admission"), "request-log");
    assert_eq!((received.records, received.outside, received.of_others), (2, 0, 0));
}

#[test]
fn a_record_without_a_stamp_lies_where_the_one_before_it_does() {
    let edges = edges();
    let (format, kind) = kind("sglang", "decode_batch").unwrap();
    for (order, counted) in [(Some(15 * SECOND), true), (Some(5 * SECOND), false)] {
        let window = Some((10 * SECOND, 20 * SECOND));
        let mut ledger = SourceLedger::new(0, None, None);
        ledger.add(&edges, format, &Event::new(kind), None, order, Cite { source: 0, offset: 0, length: 1, line: 1 }, window);
        let found = judged(&edges, &[ledger], &[], window);
        assert_eq!(verdict(&edges, &found, "decode").activity == Activity::Proven, counted);
    }
}

/// The same records in two logs: a batch of each second and the ends of six requests.
fn twice(first: Option<&str>, second: Option<&str>, other_ids: bool) -> (Edges, Findings) {
    let edges = edges();
    let names: Vec<String> = (0..6).map(|n| format!("r{n}")).collect();
    let others: Vec<String> = (0..6).map(|n| format!("s{n}")).collect();
    let records = |names: &'static [String]| -> Vec<Record<'static>> {
        let ends = names.iter().zip(0..).map(|(name, n)| (ENDED, Some(name.as_str()), tokens(n + 1), n * 2));
        ends.chain((0..5).map(|n| ("prefill_batch", None, Some(("new_tokens", 10 + n)), n))).collect()
    };
    let names: &'static [String] = names.leak();
    let others: &'static [String] = others.leak();
    let (one, mut two) = (records(names), records(if other_ids { others } else { names }));
    // One of them lacks a line.
    two.pop();
    let ledgers = [ledger(&edges, 0, first, &one, None), ledger(&edges, 1, second, &two, None)];
    let found = judged(&edges, &ledgers, &[], None);
    (edges, found)
}

#[test]
fn what_two_logs_hold_is_counted_once() {
    let (edges, found) = twice(Some("w0"), Some("w0"), false);
    let prefill = verdict(&edges, &found, "prefill");
    let batches = proof(&edges, prefill, "prefill-batch");
    assert_eq!((batches.records, batches.amount, &batches.copies[..]), (5, Some(60.0), &[1][..]));
    assert_eq!(places(&batches.cites), [(0, 7), (0, 11)]);
    let decode = verdict(&edges, &found, "decode");
    let ended = proof(&edges, decode, "request-log-completion");
    assert_eq!((ended.records, ended.requests, decode.amount), (6, 6, Some(21.0)));
}

#[test]
fn logs_of_other_workers_or_other_requests_are_no_copies() {
    for (first, second, other_ids) in [(Some("w0"), Some("w1"), false), (Some("w0"), Some("w0"), true)] {
        let (edges, found) = twice(first, second, other_ids);
        let batches = proof(&edges, verdict(&edges, &found, "prefill"), "prefill-batch");
        assert_eq!((batches.records, batches.copies.is_empty()), (9, true), "{first:?} {second:?}");
    }
}

fn counter(edges: &Edges, inner: Option<f64>, base: f64, rank: &str) -> Counter {
    let (at, signal) = edges.all().find(|(_, s)| s.id == "evicted-tokens").unwrap();
    Counter {
        signal: at,
        series: format!("{}{{tp_rank=\"{rank}\"}}", signal.metric.clone().unwrap()),
        endpoint: "e".into(),
        worker: None,
        rankless: String::new(),
        never_seen: false,
        inner,
        outer: None,
        base,
        resets: 0,
        gap: inner.is_none().then(|| "no sample of it lies in the window".to_string()),
        cites: Vec::new(),
        between: None,
    }
}

#[test]
fn a_counter_without_two_samples_is_no_zero() {
    let edges = edges();
    let found = judged(&edges, &[], &[counter(&edges, None, 0.0, "0")], None);
    let evicted = verdict(&edges, &found, "l1-evict");
    assert_eq!((evicted.activity, evicted.amount), (Activity::Partial, None));
    let why = evicted.why.clone().unwrap();
    assert!(why.contains("is not known") && !why.contains("did not move"), "{why}");
}

#[test]
fn what_was_counted_before_the_first_sample_stands_beside_the_least() {
    let edges = edges();
    // Two ranks of one worker, of which each export says the same events.
    let ranks = [counter(&edges, Some(1_430.0), 281.0, "0"), counter(&edges, Some(1_400.0), 311.0, "1")];
    let found = judged(&edges, &[], &ranks, None);
    let evicted = verdict(&edges, &found, "l1-evict");
    assert_eq!((evicted.activity, evicted.amount, evicted.before), (Activity::Active, Some(1_430.0), 281.0));
    assert_eq!(evicted.summed, Some(Summed::Counters));
}

/// A router's log that says where it sent one request, and a worker's log that bears the router's ids of two: the first proof is the worker's.
#[test]
fn the_first_proof_is_the_first_of_those_that_are_counted() {
    let edges = edges();
    let mut router = SourceLedger::new(0, Some("router".into()), Some("router".into()));
    let mut line = 0;
    let mut add = |ledger: &mut SourceLedger, format: &str, name: &str, ids: &[(IdKind, &str)], fields: &[(&str, &str)], second: i64| {
        line += 1;
        let (format, kind) = kind(format, name).unwrap();
        let mut event = Event::new(kind);
        ids.iter().for_each(|(kind, text)| event.id(*kind, text.to_string()));
        for (name, value) in fields {
            let value = Value::Str(Cow::Owned(value.to_string()));
            event.fields.push(Field { name: Cow::Owned(name.to_string()), raw: Cow::Owned(name.to_string()), value });
        }
        let cite = Cite { source: ledger.source, offset: line * 10, length: 10, line };
        ledger.add(&edges, format, &event, Some(Stamp::new(second * SECOND, SECOND)), None, cite, None);
    };
    let started = [("method", "POST"), ("path", "/generate")];
    add(&mut router, "gateway", "gateway_request_started", &[(IdKind::RequestId, "g1")], &started, 1);
    add(&mut router, "gateway", "gateway_request_started", &[(IdKind::RequestId, "g2")], &started, 5);
    add(&mut router, "gateway", "gateway_dispatch", &[(IdKind::RequestId, "g2")], &[("worker_url", "http://w")], 6);
    let mut worker = SourceLedger::new(1, Some("w0".into()), None);
    add(&mut worker, "sglang", "request_received", &[(IdKind::Rid, "warm-up")], &[], 0);
    add(&mut worker, "sglang", "request_received", &[(IdKind::Rid, "r1"), (IdKind::XRequestId, "g1")], &[], 2);
    add(&mut worker, "sglang", "request_received", &[(IdKind::Rid, "r2"), (IdKind::XRequestId, "g2")], &[], 7);
    let found = judged(&edges, &[router, worker], &[], None);
    let sent = verdict(&edges, &found, "router-worker");
    assert_eq!((sent.activity, sent.count), (Activity::Proven, Some(2)));
    let when: Vec<_> = sent.proofs.iter().filter_map(|p| p.when).collect();
    let first = when.iter().map(|w| w.earliest).min_by_key(|e| e.0.start).unwrap();
    let last = when.iter().map(|w| w.latest).max_by_key(|e| e.0.end).unwrap();
    // Not the dispatch of the second request, nor the warm-up that no router sent.
    assert_eq!((first.1.line, last.1.line), (5, 6), "{when:?}");
}
