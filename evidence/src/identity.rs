//! Which ids are one request, and what its records say of it.
//!
//! Ids are one only where a record bears both; each such link keeps its citation. The same text under two names (an engine's `rid`, a frontend's
//! `request_id`) is one id. A record that lists several requests links none of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use corr_parsers::ids::IdKind;
use corr_parsers::stamp::Stamp;

use crate::ledger::{Bearer, Cite, IdText, Sighting, SourceLedger};
use crate::scope::Scope;

/// Number of a request in [`Identity::requests`].
pub type RequestNo = usize;

/// Two ids of one request, and a record that bears both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub one: IdText,
    pub other: IdText,
    pub cite: Cite,
}

/// One request, as its records show it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Its ids (rids and request ids under one name, bootstrap rooms), each with the first record that bears it.
    pub ids: BTreeMap<IdText, Cite>,
    pub links: Vec<Link>,
    /// What records that bear its id and no other request's say beside it.
    pub sessions: BTreeMap<String, Cite>,
    pub x_request_ids: BTreeMap<String, Cite>,
    pub trace_ids: BTreeMap<String, Cite>,
    /// Workers that records name beside it: the one that was chosen, tried or that wrote the record.
    pub workers: BTreeMap<String, Cite>,
    /// Earliest and latest stamp.
    pub first: Option<Stamp>,
    pub last: Option<Stamp>,
    /// A health probe, by its id.
    pub probe: bool,
    /// Its sightings: number of the ledger, number of the sighting in it.
    pub sightings: Vec<(usize, usize)>,
    /// Ledgers that have a record of it.
    pub sources: BTreeSet<usize>,
}

impl Request {
    /// The id that it goes by in output: a request id, else its room.
    pub fn name(&self) -> &str {
        self.ids.keys().find(|id| id.kind == IdKind::RequestId).or_else(|| self.ids.keys().next()).map_or("", |id| &id.text)
    }
}

/// All requests of a run.
#[derive(Debug, Default)]
pub struct Identity {
    pub requests: Vec<Request>,
    by_id: HashMap<IdText, RequestNo>,
}

/// How many requests of one source another one knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// Numbers of the ledgers.
    pub of: usize,
    pub with: usize,
    /// Requests of `of`, and those of them that `with` has too.
    pub requests: usize,
    pub common: usize,
}

/// Under one name what is one id: both names of a request's id are the same.
fn node(id: &IdText) -> Option<IdText> {
    match id.kind {
        IdKind::Rid | IdKind::RequestId => Some(IdText { kind: IdKind::RequestId, text: id.text.clone() }),
        // The room of the warm-up of a server that is not split.
        IdKind::BootstrapRoom if id.text == "0" => None,
        IdKind::BootstrapRoom => Some(id.clone()),
        _ => None,
    }
}

/// The ids that routers know requests by: a worker's record that bears one as the client's `x-request-id` bears the router's id.
fn request_ids(ledgers: &[SourceLedger]) -> HashSet<&str> {
    let ids = ledgers.iter().flat_map(|l| l.records.iter().flat_map(|r| l.ids(r)));
    ids.filter(|id| id.kind == IdKind::RequestId).map(|id| id.text.as_str()).collect()
}

/// Which nodes a record is of.
struct Of {
    nodes: Vec<IdText>,
    /// They are ids of one request.
    one: bool,
}

fn of(ledger: &SourceLedger, record: &Bearer, known: &HashSet<&str>) -> Of {
    let mut kinds: BTreeMap<IdKind, BTreeSet<&str>> = BTreeMap::new();
    let mut nodes: Vec<IdText> = Vec::new();
    for id in ledger.ids(record) {
        let node = match id.kind {
            IdKind::XRequestId if known.contains(id.text.as_str()) => Some(IdText { kind: IdKind::RequestId, text: id.text.clone() }),
            _ => node(id),
        };
        let Some(node) = node else { continue };
        kinds.entry(id.kind).or_default().insert(&id.text);
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    Of { one: kinds.values().all(|texts| texts.len() == 1), nodes }
}

#[derive(Default)]
struct Groups {
    number: HashMap<IdText, usize>,
    nodes: Vec<IdText>,
    /// The first record that bears each.
    first: Vec<Cite>,
    parent: Vec<usize>,
    links: Vec<(usize, usize, Cite)>,
}

impl Groups {
    fn number(&mut self, node: &IdText, cite: Cite) -> usize {
        if let Some(n) = self.number.get(node) {
            return *n;
        }
        let n = self.nodes.len();
        self.nodes.push(node.clone());
        self.first.push(cite);
        self.parent.push(n);
        self.number.insert(node.clone(), n);
        n
    }

    fn root(&mut self, mut n: usize) -> usize {
        while let Some(&up) = self.parent.get(n)
            && up != n
        {
            let above = self.parent.get(up).copied().unwrap_or(up);
            if let Some(slot) = self.parent.get_mut(n) {
                *slot = above;
            }
            n = above;
        }
        n
    }

    fn join(&mut self, a: usize, b: usize, cite: Cite) {
        let (a_root, b_root) = (self.root(a), self.root(b));
        if a_root != b_root {
            if let Some(slot) = self.parent.get_mut(b_root.max(a_root)) {
                *slot = a_root.min(b_root);
            }
            self.links.push((a, b, cite));
        }
    }
}

impl Identity {
    /// Puts the sources' ids together.
    pub fn new(ledgers: &[SourceLedger]) -> Identity {
        let known = request_ids(ledgers);
        let mut groups = Groups::default();
        for ledger in ledgers {
            for record in &ledger.records {
                let of = of(ledger, record, &known);
                let numbers: Vec<usize> = of.nodes.iter().map(|n| groups.number(n, record.cite)).collect();
                if let ([first, rest @ ..], true) = (&numbers[..], of.one) {
                    for other in rest {
                        groups.join(*first, *other, record.cite);
                    }
                }
            }
        }
        let mut requests: Vec<Request> = Vec::new();
        let mut of_root: HashMap<usize, RequestNo> = HashMap::new();
        let mut of_node: Vec<RequestNo> = Vec::with_capacity(groups.nodes.len());
        for n in 0..groups.nodes.len() {
            let root = groups.root(n);
            of_node.push(*of_root.entry(root).or_insert_with(|| {
                requests.push(Request::default());
                requests.len() - 1
            }));
        }
        for (a, b, cite) in &groups.links {
            let (Some(one), Some(other)) = (groups.nodes.get(*a), groups.nodes.get(*b)) else { continue };
            if let Some(request) = of_node.get(*a).and_then(|r| requests.get_mut(*r)) {
                request.links.push(Link { one: one.clone(), other: other.clone(), cite: *cite });
            }
        }
        let number_of = |node: &IdText| groups.number.get(node).and_then(|n| of_node.get(*n)).copied();
        for ((node, cite), no) in groups.nodes.iter().zip(&groups.first).zip(&of_node) {
            if let Some(request) = requests.get_mut(*no) {
                request.ids.insert(node.clone(), *cite);
            }
        }
        let mut of_record: Vec<Vec<Vec<RequestNo>>> = Vec::with_capacity(ledgers.len());
        for (l, ledger) in ledgers.iter().enumerate() {
            let mut each = Vec::with_capacity(ledger.records.len());
            for record in &ledger.records {
                let of = of(ledger, record, &known);
                let mut numbers: Vec<RequestNo> = of.nodes.iter().filter_map(number_of).collect();
                numbers.sort_unstable();
                numbers.dedup();
                for no in &numbers {
                    if let Some(request) = requests.get_mut(*no) {
                        request.sources.insert(l);
                        request.tell(ledger, record, numbers.len() == 1);
                    }
                }
                each.push(numbers);
            }
            of_record.push(each);
        }
        resolve_by(ledgers, &mut of_record, &mut requests);
        for (l, (ledger, of_record)) in ledgers.iter().zip(&of_record).enumerate() {
            for (s, sighting) in ledger.sightings.iter().enumerate() {
                for no in of_record.get(sighting.record as usize).into_iter().flatten() {
                    if let Some(request) = requests.get_mut(*no) {
                        request.sightings.push((l, s));
                    }
                }
            }
        }
        let by_id = requests.iter().enumerate().flat_map(|(no, r)| r.ids.keys().filter_map(node).map(move |id| (id, no))).collect();
        Identity { requests, by_id }
    }

    /// The request whose own id this is, in any spelling.
    pub fn request(&self, text: &str) -> Option<RequestNo> {
        let mut canonical = String::new();
        corr_parsers::ids::canonical(Some(IdKind::RequestId), text, &mut canonical);
        self.by_id.get(&IdText { kind: IdKind::RequestId, text: canonical }).copied()
    }

    /// The requests that an id names: one for a request's own id, several for a session, a trace or an id that a client repeats. Without a kind, of
    /// whatever kind it is.
    pub fn find(&self, kind: Option<IdKind>, text: &str) -> Vec<RequestNo> {
        let mut canonical = String::new();
        corr_parsers::ids::canonical(kind, text, &mut canonical);
        let mut found = Vec::new();
        for kind in [IdKind::RequestId, IdKind::BootstrapRoom] {
            if let Some(no) = self.by_id.get(&IdText { kind, text: canonical.clone() }) {
                found.push(*no);
            }
        }
        let wanted = |k: IdKind| kind.is_none_or(|kind| kind == k);
        for (no, request) in self.requests.iter().enumerate() {
            let has = |k: IdKind, of: &BTreeMap<String, Cite>| wanted(k) && of.contains_key(canonical.as_str());
            if has(IdKind::XRequestId, &request.x_request_ids)
                || has(IdKind::TraceId, &request.trace_ids)
                || has(IdKind::Session, &request.sessions)
            {
                found.push(no);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// For each ordered pair of sources that have requests of a scope: how many of the one's the other has.
    pub fn joins(&self, scope: &Scope) -> Vec<Join> {
        let mut single: BTreeMap<usize, usize> = BTreeMap::new();
        let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (_, request) in scope.requests(self).filter(|(_, r)| !r.probe && !r.sightings.is_empty()) {
            for a in &request.sources {
                *single.entry(*a).or_default() += 1;
                for b in request.sources.iter().filter(|b| *b != a) {
                    *pairs.entry((*a, *b)).or_default() += 1;
                }
            }
        }
        let keys: Vec<usize> = single.keys().copied().collect();
        let mut joins = Vec::new();
        for (of, requests) in single {
            for with in keys.iter().filter(|k| **k != of) {
                joins.push(Join { of, with: *with, requests, common: pairs.get(&(of, *with)).copied().unwrap_or(0) });
            }
        }
        joins
    }

    /// `x-request-id` values that more than one request bears, each with its requests: a retry or a repeated id, which nothing here tells apart.
    pub fn shared_x_request_ids(&self) -> BTreeMap<&str, Vec<RequestNo>> {
        let mut of: BTreeMap<&str, Vec<RequestNo>> = BTreeMap::new();
        for (no, request) in self.requests.iter().enumerate() {
            for x in request.x_request_ids.keys() {
                of.entry(x).or_default().push(no);
            }
        }
        of.retain(|_, requests| requests.len() > 1);
        of
    }
}

/// A signal's record that names no request but a trace or a client's id belongs to the one request that has it, if there is only one; a trace or
/// client's id that no request has is a request that is known by nothing else.
fn resolve_by(ledgers: &[SourceLedger], of_record: &mut [Vec<Vec<RequestNo>>], requests: &mut Vec<Request>) {
    let mut owners: HashMap<(IdKind, String), Option<RequestNo>> = HashMap::new();
    for (no, request) in requests.iter().enumerate() {
        let traces = request.trace_ids.keys().map(|t| (IdKind::TraceId, t.clone()));
        let xs = request.x_request_ids.keys().map(|t| (IdKind::XRequestId, t.clone()));
        for key in traces.chain(xs) {
            owners.entry(key).and_modify(|owner| *owner = None).or_insert(Some(no));
        }
    }
    for (l, (ledger, of_record)) in ledgers.iter().zip(of_record).enumerate() {
        let signals: HashSet<u32> = ledger.sightings.iter().map(|s| s.record).collect();
        for (r, (record, of)) in ledger.records.iter().zip(of_record).enumerate() {
            if !of.is_empty() || !signals.contains(&(r as u32)) {
                continue;
            }
            let owner = |id: &IdText| owners.get(&(id.kind, id.text.clone())).copied();
            let mut found: Vec<RequestNo> = ledger.ids(record).filter_map(|id| owner(id).flatten()).collect();
            found.dedup();
            let own: Vec<&IdText> = ledger.ids(record).filter(|id| matches!(id.kind, IdKind::TraceId | IdKind::XRequestId)).collect();
            let no = match &found[..] {
                [only] => *only,
                [] if !own.is_empty() && own.iter().all(|id| owner(id).is_none()) => {
                    let no = requests.len();
                    let ids = own.iter().map(|id| ((*id).clone(), record.cite)).collect();
                    requests.push(Request { ids, ..Request::default() });
                    for id in own {
                        owners.insert((id.kind, id.text.clone()), Some(no));
                    }
                    no
                }
                _ => continue,
            };
            of.push(no);
            if let Some(request) = requests.get_mut(no) {
                request.sources.insert(l);
                request.tell(ledger, record, true);
            }
        }
    }
}

impl Request {
    fn tell(&mut self, ledger: &SourceLedger, record: &Bearer, alone: bool) {
        if let Some(when) = record.when {
            self.first = Some(self.first.filter(|f| f.start <= when.start).unwrap_or(when));
            self.last = Some(self.last.filter(|l| l.end >= when.end).unwrap_or(when));
        }
        if !alone {
            return;
        }
        for id in ledger.ids(record) {
            let of = match id.kind {
                // The key by which a router keeps a client's requests on one worker.
                IdKind::Session | IdKind::RoutingKey => &mut self.sessions,
                IdKind::XRequestId => &mut self.x_request_ids,
                IdKind::TraceId => &mut self.trace_ids,
                IdKind::WorkerId => &mut self.workers,
                IdKind::Rid | IdKind::RequestId => {
                    // SGLang names its own probes so.
                    self.probe |= id.text.starts_with("HEALTH_CHECK");
                    continue;
                }
                _ => continue,
            };
            of.entry(id.text.clone()).or_insert(record.cite);
        }
    }

    /// Its sightings, each with its ledger.
    pub fn seen<'a>(&'a self, ledgers: &'a [SourceLedger]) -> impl Iterator<Item = (&'a SourceLedger, &'a Sighting)> {
        self.sightings.iter().filter_map(|(l, s)| {
            let ledger = ledgers.get(*l)?;
            Some((ledger, ledger.sightings.get(*s)?))
        })
    }
}
