//! Two runs side by side: what differs, and what a comparison of them supports.
//!
//! Pure: what was read of each run goes in as a [`Side`], what can be said comes out as a [`Diff`]. Nothing here says why runs differ.

pub mod alternatives;
pub mod facts;
pub mod figures;
pub mod range;
pub mod reps;
pub mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

use alternatives::Alternative;

use crate::facts::table::Table;
use crate::query::phases::Phase;
use crate::run::source::NotRead;

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    A,
    B,
}

impl Name {
    pub const BOTH: [Name; 2] = [Name::A, Name::B];

    pub fn letter(self) -> &'static str {
        match self {
            Name::A => "A",
            Name::B => "B",
        }
    }
}

/// The part of a run that is compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windowed {
    /// As asked: `measured`, `since start+60s`; `whole run`.
    pub asked: String,
    /// UTC nanoseconds, half-open; `None`: no record has a stamp.
    pub span: Option<(i64, i64)>,
    /// What says where it lies.
    pub how: String,
    /// Requests of the load generator in it, where they name it.
    pub of_load: Option<u64>,
    /// Requests that records show at the router and at engines; `None`: no engine's record names one.
    pub router: usize,
    pub engine: Option<usize>,
    /// Health probes left out.
    pub probes: usize,
    pub scraped: Vec<Scraped>,
    /// The flags of a command that asks for it.
    pub flags: String,
}

impl Windowed {
    /// Nanoseconds.
    pub fn length(&self) -> Option<i64> {
        self.span.map(|(from, to)| to.saturating_sub(from))
    }
}

/// How an endpoint was scraped over the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Scraped {
    pub capture: String,
    pub target: String,
    /// Share of the window outside gaps; `None`: the capture's clock is not known.
    pub fraction: Option<f64>,
    pub scrapes: u64,
    /// The longest gap with its cause, and how many more there are.
    pub gap: Option<String>,
}

/// What was read of one run.
#[derive(Debug, Default)]
pub struct Side {
    /// As the user gave it.
    pub run: String,
    pub facts: Table,
    pub window: Windowed,
    pub verdicts: Vec<verdicts::Said>,
    pub figures: Vec<figures::Figure>,
    /// First and last stamp of any record.
    pub extent: Option<(i64, i64)>,
    /// Windows that its records name.
    pub phases: Vec<Phase>,
    /// Hosts that its sources name.
    pub hosts: BTreeSet<String>,
    /// Sources whose stamps name no zone, and for which UTC was assumed.
    pub assumed_utc: usize,
    /// Beginnings of families of the hosts themselves that were captured.
    pub of_hosts: BTreeSet<String>,
    /// Files that could not be read.
    pub not_read: Vec<NotRead>,
    /// There is nothing in it that could be read.
    pub empty: bool,
}

/// All that can be said of two runs.
#[derive(Debug)]
pub struct Diff {
    /// Both are the same files.
    pub one_run: bool,
    pub facts: Vec<facts::Compared>,
    pub verdicts: Vec<verdicts::Compared>,
    pub figures: Vec<figures::Compared>,
    pub alone: figures::Alone,
    pub support: reps::Support,
    pub alternatives: Vec<Alternative>,
}

impl Diff {
    /// Compares two runs; `reps` is what was found of declared repetitions.
    pub fn new(a: &Side, b: &Side, one_run: bool, reps: Option<reps::Repeated>) -> Diff {
        let facts = facts::compare(&a.facts, &b.facts);
        let (figures, alone) = figures::compare(&a.figures, &b.figures);
        let support = reps::support((a, b), one_run, reps);
        let alternatives = if one_run { Vec::new() } else { alternatives::of(a, b, &facts, support.repeated.is_some()) };
        Diff { one_run, verdicts: verdicts::compare(&a.verdicts, &b.verdicts), facts, figures, alone, support, alternatives }
    }

    /// Facts by how they compare.
    pub fn counts(&self) -> BTreeMap<facts::State, usize> {
        let mut out = BTreeMap::new();
        for fact in &self.facts {
            *out.entry(fact.state).or_default() += 1;
        }
        out
    }

    /// Nothing is shown to differ.
    pub fn is_empty(&self) -> bool {
        use facts::State::{ByNature, Differs, OnlyA, OnlyB};
        let alone = |f: &figures::Compared| f.a.is_none() || f.b.is_none();
        !self.facts.iter().any(|f| matches!(f.state, Differs | OnlyA | OnlyB | ByNature))
            && self.verdicts.iter().all(|v| v.differs.is_empty())
            && !self.figures.iter().any(|f| f.differs() || alone(f))
    }
}
