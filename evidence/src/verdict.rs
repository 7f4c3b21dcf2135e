//! What can be said of an edge: whether it happened, to whom, by what proof, and what is missing.

use std::collections::BTreeMap;

use crate::compiled::SignalRef;
use crate::ledger::{Cite, Shown};

/// Of what an amount is the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summed {
    /// What records say of each of so many requests; of those that they say none of it was zero, or not said.
    Requests(u64),
    /// What all records of one signal say, whomever they are of: health probes and warm-ups too.
    Records { signal: SignalRef, records: u64 },
    /// What counters counted between samples: the least that it was.
    Counters,
}

/// Whether an edge happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// An event or record that is the transition itself.
    Proven,
    /// A direct counter moved; no event shows it.
    Active,
    /// The instrument was there, covered the window, and shows none.
    Absent,
    /// The instrument shows none, but covers only part of the window.
    Partial,
    /// Two direct signals disagree.
    Conflict,
    /// Nothing that was captured could show it.
    NoSignal,
}

impl Activity {
    pub fn name(self) -> &'static str {
        match self {
            Activity::Proven => "proven",
            Activity::Active => "active",
            Activity::Absent => "absent",
            Activity::Partial => "partial",
            Activity::Conflict => "conflict",
            Activity::NoSignal => "no-signal",
        }
    }
}

/// To whom an edge happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribution {
    /// `k` of `n` are proven by a direct signal with their identity; the others are unprovable, for these reasons.
    Proven { k: usize, n: usize, rest: BTreeMap<String, usize>, needs: Option<String> },
    /// Of none it can be proven, for these reasons (each with how many it concerns, where they can be counted).
    Unprovable { n: Option<usize>, reasons: BTreeMap<String, usize>, needs: String },
    /// It did not happen, so there is nobody to whom it did.
    Nothing,
}

/// What one signal shows.
#[derive(Clone, Debug)]
pub struct Proof {
    pub signal: SignalRef,
    /// Records; of logs that hold the same ones those of one.
    pub records: u64,
    /// How many of them lie outside of the window, as a request that began in it may end behind it.
    pub outside: u64,
    /// Records in the window that are not counted, being of requests that were first seen outside of it.
    pub of_others: u64,
    /// Sources that hold the same records, which are not counted again.
    pub copies: Vec<u32>,
    /// Requests that these records bear.
    pub requests: u64,
    /// Sum of its amounts, where it has some.
    pub amount: Option<f64>,
    /// The first and the last record by their stamps; all that bear an id when they were asked for.
    pub cites: Vec<Cite>,
    /// The earliest and the latest record in the window that is the transition itself, or, of a signal that proves less, of the requests whom the edge
    /// concerns: those are counted by it as well. `None` for a signal that proves nothing of it, or without stamps.
    pub when: Option<Shown>,
}

/// What a counter did in the window, as the program works it out from captures.
#[derive(Clone, Debug)]
pub struct Counter {
    pub signal: SignalRef,
    /// The series, as the capture spells it, and whose it is.
    pub series: String,
    pub endpoint: String,
    pub worker: Option<String>,
    /// The series without the labels of tensor-parallel ranks: those that are alike here are replicas where every rank says the same.
    pub rankless: String,
    /// It was never seen while others of its family were: it stands at zero, and what is cited are the scrapes that had its family.
    pub never_seen: bool,
    /// Increase between samples inside the window, and the most that it can have been; in the family's unit. No increase is known where there are
    /// not two samples: that is not zero.
    pub inner: Option<f64>,
    pub outer: Option<f64>,
    /// What a process had counted at its first sample, where it began inside the window: it happened before that sample.
    pub base: f64,
    pub resets: usize,
    /// Why the samples do not cover the whole window, if they do not.
    pub gap: Option<String>,
    /// Where the samples stand.
    pub cites: Vec<String>,
    /// Between which two samples it counted, UTC ns: the first and the last in the window.
    pub between: Option<(i64, i64)>,
}

impl Counter {
    /// It counted something.
    pub fn moved(&self) -> bool {
        self.inner.is_some_and(|inner| inner > 0.0) || self.base > 0.0
    }
}

/// An instrument that could have shown the edge, and was not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Number in the table.
    pub instrument: usize,
    /// `not captured`, `off`, `not shown`.
    pub why: &'static str,
    /// What says that it is off.
    pub cite: Option<Cite>,
    /// It would bear a request's identity.
    pub identity: bool,
}

/// Two direct signals that disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    pub request: String,
    pub one: (SignalRef, f64, Cite),
    pub other: (SignalRef, f64, Cite),
}

/// The verdict on one edge.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Number of the edge in the table.
    pub edge: usize,
    pub activity: Activity,
    /// Occurrences, requests or records that prove it.
    pub count: Option<u64>,
    /// Sum over requests or records, where signals give amounts.
    pub amount: Option<f64>,
    /// Of what it is the sum; the requests or records of `count` may be others.
    pub summed: Option<Summed>,
    /// Beside an amount of counters: what they had counted at the first sample of a process, before which nothing was seen.
    pub before: f64,
    /// What `amount` counts: the edge's unit, or that of the signals that show it.
    pub unit: String,
    pub request: Attribution,
    pub session: Attribution,
    pub proofs: Vec<Proof>,
    /// What is consistent with it and proves nothing.
    pub hints: Vec<Proof>,
    pub counters: Vec<Counter>,
    pub missing: Vec<Missing>,
    pub disagreements: Vec<Disagreement>,
    /// Why the activity is what it is, where no proof says it.
    pub why: Option<String>,
}
