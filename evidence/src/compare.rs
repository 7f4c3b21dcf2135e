//! Figures of several signals held against each other, request by request: shares, and two sides that ought to agree or do not.

use serde::{Deserialize, Serialize};

use crate::compiled::{Edges, SignalRef};
use crate::identity::Identity;
use crate::judge::{AllShown, Said};
use crate::ledger::{Cite, Ends};

/// A quotient of two signals' amounts: `router-predicted-reuse`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ShareOf {
    pub id: String,
    /// `edge/signal`.
    pub above: String,
    pub below: String,
    /// What it is, and what it is not.
    pub says: String,
}

/// Two signals that speak of the same tokens of a request.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CompareOf {
    pub id: String,
    /// `edge/signal`.
    pub left: String,
    /// A signal of the same request whose amount the left one is multiplied by: blocks by the size of a block.
    #[serde(default)]
    pub left_times: Option<String>,
    pub right: String,
    /// They are of different parties, so that a difference is a conflict; else their agreement proves nothing.
    pub independent: bool,
    pub says: String,
}

/// A share, over the requests of which both amounts are known.
#[derive(Clone, Debug)]
pub struct Share {
    pub of: ShareOf,
    pub requests: usize,
    pub above: f64,
    pub below: f64,
    /// The first and the last record that says one of these amounts.
    pub cites: Vec<Cite>,
}

/// A comparison, over the requests of which both sides are known.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub of: CompareOf,
    pub requests: usize,
    pub agree: usize,
    pub left: f64,
    pub right: f64,
    /// Some that differ.
    pub differ: Vec<Differ>,
    /// The first and the last record that says one of these amounts.
    pub cites: Vec<Cite>,
}

/// One request whose sides differ.
#[derive(Clone, Debug)]
pub struct Differ {
    pub request: String,
    pub left: f64,
    pub left_cite: Cite,
    pub right: f64,
    pub right_cite: Cite,
}

/// So many differences are kept.
const KEPT: usize = 5;

pub(crate) fn signal(edges: &Edges, path: &str) -> Option<SignalRef> {
    let (edge, id) = path.split_once('/')?;
    let edge = edges.edges().iter().position(|e| e.id == edge)?;
    edges.signals(edge).find(|(_, s)| s.id == id).map(|(at, _)| at)
}

pub(crate) fn shares(edges: &Edges, shown: &AllShown) -> Vec<Share> {
    let one = |of: &ShareOf| {
        let (above, below) = (shown.get(&signal(edges, &of.above)?)?, shown.get(&signal(edges, &of.below)?)?);
        let mut share = Share { of: of.clone(), requests: 0, above: 0.0, below: 0.0, cites: Vec::new() };
        let mut ends = None;
        for (no, one) in &above.requests {
            let Some(other) = below.requests.get(no) else { continue };
            let (Some(a), Some(b)) = (one.amount, other.amount) else { continue };
            share.requests += 1;
            share.above += a;
            share.below += b;
            ends = Ends::all([ends, Some(records(one)), Some(records(other))].into_iter().flatten());
        }
        share.cites = ends.map(Ends::cites).unwrap_or_default();
        (share.requests > 0).then_some(share)
    };
    edges.shares().iter().filter_map(one).collect()
}

pub(crate) fn comparisons(edges: &Edges, identity: &Identity, shown: &AllShown) -> Vec<Comparison> {
    let one = |of: &CompareOf| {
        let (left, right) = (shown.get(&signal(edges, &of.left)?)?, shown.get(&signal(edges, &of.right)?)?);
        let times = match &of.left_times {
            Some(path) => Some(shown.get(&signal(edges, path)?)?),
            None => None,
        };
        let mut found = Comparison { of: of.clone(), requests: 0, agree: 0, left: 0.0, right: 0.0, differ: Vec::new(), cites: Vec::new() };
        let mut ends = None;
        for (no, one) in &left.requests {
            let Some(two) = right.requests.get(no) else { continue };
            let (Some(amount), Some(other)) = (one.amount, two.amount) else { continue };
            let factor = match times {
                Some(times) => match times.requests.get(no).and_then(|said| said.amount) {
                    Some(factor) => factor,
                    None => continue,
                },
                None => 1.0,
            };
            let amount = amount * factor;
            found.requests += 1;
            found.left += amount;
            found.right += other;
            ends = Ends::all([ends, Some(records(one)), Some(records(two))].into_iter().flatten());
            if amount == other {
                found.agree += 1;
            } else if found.differ.len() < KEPT {
                let request = identity.requests.get(*no).map(|r| r.name().to_string()).unwrap_or_default();
                found.differ.push(Differ { request, left: amount, left_cite: one.cite, right: other, right_cite: two.cite });
            }
        }
        found.cites = ends.map(Ends::cites).unwrap_or_default();
        (found.requests > 0).then_some(found)
    };
    edges.comparisons().iter().filter_map(one).collect()
}

fn records(said: &Said) -> Ends {
    Ends::of(said.when, said.cite)
}
