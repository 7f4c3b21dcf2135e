//! Ids are one request where a record bears both, and nowhere else.

use corr_evidence::identity::{Identity, Request};
use corr_evidence::ledger::{Cite, SourceLedger};
use corr_evidence::scope::Scope;
use corr_parsers::event::Event;
use corr_parsers::ids::IdKind;
use corr_parsers::stamp::Stamp;

use super::{edges, kind};

type Ids<'a> = &'a [(IdKind, &'a str)];

/// Sources of SGLang's request log, each of records that bear these ids.
fn sources(of: &[&[Ids<'_>]]) -> Vec<SourceLedger> {
    let edges = edges();
    let (format, kind) = kind("sglang", "request_received").unwrap();
    let mut ledgers = Vec::new();
    for (source, records) in of.iter().enumerate() {
        let source = u32::try_from(source).unwrap();
        let mut ledger = SourceLedger::new(source, None, None);
        for (line, ids) in records.iter().enumerate() {
            let mut event = Event::new(kind);
            ids.iter().for_each(|(kind, text)| event.id(*kind, text.to_string()));
            let line = line as u64;
            let when = Some(Stamp::new(i64::try_from(line).unwrap(), 1));
            ledger.add(&edges, format, &event, when, None, Cite { source, offset: line * 10, length: 10, line: line + 1 }, None);
        }
        ledgers.push(ledger);
    }
    ledgers
}

fn identity(of: &[&[Ids<'_>]]) -> Identity {
    Identity::new(&sources(of))
}

fn one<'i>(identity: &'i Identity, text: &str) -> &'i Request {
    let found = identity.find(None, text);
    assert_eq!(found.len(), 1, "{text}");
    &identity.requests[found[0]]
}

fn same(identity: &Identity, a: &str, b: &str) -> bool {
    identity.find(None, a) == identity.find(None, b)
}

use IdKind::{BootstrapRoom, RequestId, Rid, Session, TraceId, XRequestId};

#[test]
fn a_record_that_bears_both_links_and_is_cited() {
    let identity = identity(&[
        &[&[(Rid, "p1"), (BootstrapRoom, "77")], &[(Rid, "alone")]],
        &[&[(Rid, "other")], &[(Rid, "d1"), (BootstrapRoom, "77")]],
    ]);
    assert_eq!(identity.requests.len(), 3);
    assert!(same(&identity, "p1", "d1") && same(&identity, "p1", "77"));
    assert!(!same(&identity, "p1", "alone") && !same(&identity, "alone", "other"));
    let request = one(&identity, "p1");
    let cites: Vec<(u32, u64)> = request.links.iter().map(|l| (l.cite.source, l.cite.line)).collect();
    assert_eq!(cites, [(0, 1), (1, 2)]);
    assert_eq!(request.sources.len(), 2);
}

#[test]
fn ids_that_look_alike_are_not_linked() {
    // The text of a session, a trace and a client's id is another thing than the request of that name.
    let identity = identity(&[&[&[(Rid, "same"), (Session, "s")]], &[&[(Rid, "r2"), (Session, "same")], &[(Rid, "same2")]]]);
    assert_eq!(identity.requests.len(), 3);
    // A rid and a request id are two names of one thing.
    let identity =
        self::identity(&[&[&[(Rid, "edf9ed01-3219-4585-a510-233214f462c1")]], &[&[(RequestId, "edf9ed0132194585a510233214f462c1")]]]);
    assert_eq!(identity.requests.len(), 1);
}

#[test]
fn a_list_of_requests_links_none() {
    let identity = identity(&[&[
        &[(RequestId, "a"), (RequestId, "b"), (Session, "of-the-list")],
        &[(RequestId, "a"), (Session, "of-a")],
        &[(RequestId, "c"), (RequestId, "d"), (BootstrapRoom, "9")],
    ]]);
    assert!(!same(&identity, "a", "b") && !same(&identity, "c", "d") && !same(&identity, "c", "9"));
    // Nor does it say of one of them what it says of all.
    assert_eq!(one(&identity, "a").sessions.keys().collect::<Vec<_>>(), ["of-a"]);
    assert!(one(&identity, "b").sessions.is_empty());
    assert!(identity.requests.iter().all(|r| r.links.is_empty()));
}

#[test]
fn a_client_id_that_comes_twice_is_of_two_requests() {
    let identity = identity(&[&[
        &[(Rid, "first"), (XRequestId, "dup")],
        &[(Rid, "second"), (XRequestId, "dup")],
        &[(Rid, "third"), (XRequestId, "own")],
    ]]);
    assert_eq!(identity.requests.len(), 3);
    assert!(!same(&identity, "first", "second"));
    assert_eq!(identity.find(Some(XRequestId), "dup").len(), 2);
    let shared = identity.shared_x_request_ids();
    assert_eq!(shared.keys().collect::<Vec<_>>(), [&"dup"]);
    assert_eq!(shared["dup"].len(), 2);
}

#[test]
fn a_record_of_a_shared_client_id_alone_is_nobodys() {
    let identity = identity(&[
        &[&[(Rid, "first"), (XRequestId, "dup")], &[(Rid, "second"), (XRequestId, "dup")], &[(Rid, "third"), (XRequestId, "own")]],
        &[&[(XRequestId, "dup")], &[(XRequestId, "own")], &[(XRequestId, "unheard")]],
    ]);
    assert_eq!(one(&identity, "first").sources.len(), 1);
    assert_eq!(one(&identity, "second").sources.len(), 1);
    assert_eq!(one(&identity, "third").sources.len(), 2, "only it has this id");
    assert_eq!(identity.requests.len(), 4, "an id that no request has is one by itself");
}

#[test]
fn a_trace_of_two_requests_says_nothing_of_either() {
    let records: &[Ids<'_>] = &[&[(Rid, "a"), (TraceId, "t")], &[(Rid, "b"), (TraceId, "t")], &[(TraceId, "t"), (Session, "s")]];
    let (all, two) = (identity(&[records]), identity(&[&records[..2]]));
    assert_eq!(all.requests.len(), 2);
    assert!(all.requests.iter().all(|r| r.sessions.is_empty()));
    let seen = |of: &Identity| of.requests.iter().map(|r| r.sightings.len()).collect::<Vec<_>>();
    assert_eq!(seen(&all), seen(&two));
}

#[test]
fn room_zero_joins_nothing() {
    let identity = identity(&[&[&[(Rid, "warm-up"), (BootstrapRoom, "0")]], &[&[(Rid, "other"), (BootstrapRoom, "0")]]]);
    assert_eq!(identity.requests.len(), 2);
    assert!(identity.requests.iter().all(|r| r.links.is_empty()));
    assert!(identity.find(Some(BootstrapRoom), "0").is_empty());
}

#[test]
fn a_gateways_id_that_a_worker_bears_as_the_clients_is_the_gateways() {
    let identity =
        identity(&[&[&[(RequestId, "gnt-1")]], &[&[(Rid, "r1"), (XRequestId, "gnt-1")], &[(Rid, "r2"), (XRequestId, "of-a-client")]]]);
    assert_eq!(identity.requests.len(), 2);
    assert!(same(&identity, "gnt-1", "r1"));
    assert_eq!(one(&identity, "gnt-1").links.len(), 1);
    assert!(!same(&identity, "r1", "r2"));
}

#[test]
fn probes_are_told_by_their_id() {
    let identity = identity(&[&[&[(Rid, "HEALTH_CHECK_1")], &[(Rid, "a")]]]);
    assert!(one(&identity, "HEALTH_CHECK_1").probe && !one(&identity, "a").probe);
}

#[test]
fn joins_count_what_both_sources_know() {
    let identity = identity(&[&[&[(Rid, "a")], &[(Rid, "b")], &[(Rid, "HEALTH_CHECK_1")]], &[&[(Rid, "b")], &[(Rid, "c")], &[(Rid, "d")]]]);
    let joins: Vec<(usize, usize, usize, usize)> =
        identity.joins(&Scope::default()).iter().map(|j| (j.of, j.with, j.requests, j.common)).collect();
    assert_eq!(joins, [(0, 1, 2, 1), (1, 0, 3, 1)]);
}
