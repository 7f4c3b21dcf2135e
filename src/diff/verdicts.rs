//! Verdicts of two runs side by side, edge by edge.

use std::collections::BTreeMap;

use corr_evidence::verdict::{Activity, Attribution};

use super::Name;

/// A verdict as one run gives it, with its records and series spelled out.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Stable name of the edge: `l3-restore`.
    pub edge: String,
    pub title: String,
    /// What amounts are counted in.
    pub unit: String,
    pub activity: Activity,
    pub why: Option<String>,
    /// Requests, or records, that prove it.
    pub count: Option<u64>,
    pub amount: Option<f64>,
    /// How often, and how much of what: `60 requests; 3 950 tokens in 61 records of prefill-batch`.
    pub counted: String,
    pub request: Attribution,
    pub session: Attribution,
    pub proofs: Vec<Proved>,
    /// Direct counters of it.
    pub counters: Vec<Counted>,
    /// Instruments that could have shown it and were not there.
    pub missing: Vec<String>,
    /// The command that gives it again.
    pub reproduce: String,
}

/// What one signal shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Proved {
    pub signal: String,
    pub records: u64,
    pub requests: u64,
    pub cites: Vec<String>,
}

/// What one direct counter did.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    pub series: String,
    /// Worker, else endpoint.
    pub whose: String,
    /// `None`: there are not two samples.
    pub increase: Option<f64>,
    pub at_most: Option<f64>,
    /// Counted before the first sample of a process.
    pub before: f64,
    pub resets: usize,
    pub cites: Vec<String>,
}

impl Counted {
    /// It counted something.
    pub fn moved(&self) -> bool {
        self.increase.is_some_and(|increase| increase > 0.0) || self.before > 0.0
    }
}

/// Both verdicts on one edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub edge: String,
    pub title: String,
    /// `None`: that run's table has no such edge.
    pub a: Option<Said>,
    pub b: Option<Said>,
    /// What differs, in the order in which it is said: `activity`, `count`, `amount`, `request`, `session`.
    pub differs: Vec<&'static str>,
}

impl Compared {
    /// The verdict of one run.
    pub fn of(&self, which: Name) -> Option<&Said> {
        match which {
            Name::A => self.a.as_ref(),
            Name::B => self.b.as_ref(),
        }
    }
}

/// All edges, in A's order; edges that only B's table has come last.
pub fn compare(a: &[Said], b: &[Said]) -> Vec<Compared> {
    let find = |of: &[Said], edge: &str| of.iter().find(|s| s.edge == edge).cloned();
    let only_b = b.iter().filter(|s| find(a, &s.edge).is_none());
    let all = a.iter().chain(only_b).map(|said| {
        let (a, b) = (find(a, &said.edge), find(b, &said.edge));
        let differs = match (&a, &b) {
            (Some(a), Some(b)) => differs(a, b),
            _ => vec!["edge"],
        };
        Compared { edge: said.edge.clone(), title: said.title.clone(), a, b, differs }
    });
    all.collect()
}

fn differs(a: &Said, b: &Said) -> Vec<&'static str> {
    let mut out = Vec::new();
    let mut say = |other: bool, what| {
        if other {
            out.push(what);
        }
    };
    say(a.activity != b.activity, "activity");
    say(a.count != b.count, "count");
    say(a.amount != b.amount, "amount");
    say(!same(&a.request, &b.request), "request");
    say(!same(&a.session, &b.session), "session");
    out
}

/// To as many of as many, and for the same reasons to no more.
fn same(a: &Attribution, b: &Attribution) -> bool {
    let reasons = |of: &BTreeMap<String, usize>| of.keys().cloned().collect::<Vec<_>>();
    match (a, b) {
        (Attribution::Proven { k, n, rest, .. }, Attribution::Proven { k: k_b, n: n_b, rest: rest_b, .. }) => {
            (k, n) == (k_b, n_b) && reasons(rest) == reasons(rest_b)
        }
        // Of how many nothing is proven follows the load.
        (Attribution::Unprovable { reasons: why, .. }, Attribution::Unprovable { reasons: why_b, .. }) => reasons(why) == reasons(why_b),
        (Attribution::Nothing, Attribution::Nothing) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(edge: &str, activity: Activity, count: Option<u64>, k: usize) -> Said {
        Said {
            edge: edge.into(),
            title: String::new(),
            unit: "tokens".into(),
            activity,
            why: None,
            count,
            amount: None,
            counted: String::new(),
            request: Attribution::Proven { k, n: 9, rest: BTreeMap::new(), needs: None },
            session: Attribution::Nothing,
            proofs: Vec::new(),
            counters: Vec::new(),
            missing: Vec::new(),
            reproduce: String::new(),
        }
    }

    #[test]
    fn each_part_of_a_verdict_is_compared() {
        let a = [said("decode", Activity::Proven, Some(9), 9), said("prefill", Activity::Proven, Some(9), 9)];
        let b = [said("decode", Activity::NoSignal, None, 8), said("prefill", Activity::Proven, Some(9), 9)];
        let found = compare(&a, &b);
        assert_eq!(found[0].differs, ["activity", "count", "request"]);
        assert!(found[1].differs.is_empty());
    }

    #[test]
    fn an_edge_of_one_table_alone_is_told() {
        let found = compare(&[], &[said("site", Activity::Proven, Some(1), 1)]);
        assert_eq!((found[0].a.is_none(), &found[0].differs[..]), (true, &["edge"][..]));
    }
}
