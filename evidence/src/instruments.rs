//! Which instruments a run has: what could have shown an edge, had it happened.

use std::collections::{BTreeMap, BTreeSet};

use corr_parsers::event::Level;

use crate::compiled::Edges;
use crate::definition::{Instrument, System};
use crate::ledger::{Cite, SourceLedger};

/// Whether an instrument was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing that was captured is of it.
    NotCaptured,
    /// A configuration record says that it is off.
    Off(Cite),
    /// Sources of its format are there, and show nothing that it writes: it is off, or there was nothing to write.
    NotShown,
    /// The numbers of the ledgers that are of it; none for metrics.
    There(BTreeSet<usize>),
}

/// Every instrument's state, by its number in the table.
#[derive(Clone, Debug)]
pub struct Instruments {
    pub states: Vec<State>,
    /// Systems of which anything was captured.
    pub systems: BTreeSet<System>,
}

impl Instruments {
    /// Looks at sources, and at the metric families that were captured.
    pub fn new(edges: &Edges, ledgers: &[SourceLedger], families: &BTreeSet<String>) -> Instruments {
        let states: Vec<State> = edges.instruments().iter().enumerate().map(|(i, of)| state(i, of, ledgers, families)).collect();
        let mut systems = BTreeSet::new();
        let fits = |of: &Instrument| {
            let format = ledgers.iter().any(|l| of.formats.iter().any(|f| l.formats.contains(f.as_str())));
            format || of.families.iter().any(|f| families.iter().any(|name| name.starts_with(f.as_str())))
        };
        for of in edges.instruments() {
            if fits(of) {
                systems.insert(of.system);
            }
        }
        Instruments { states, systems }
    }

    pub fn state(&self, instrument: usize) -> &State {
        self.states.get(instrument).unwrap_or(&State::NotCaptured)
    }

    pub fn is_there(&self, instrument: usize) -> bool {
        matches!(self.state(instrument), State::There(_))
    }

    /// Whether anything of a system was captured, so that its instruments are worth naming.
    pub fn concerns(&self, system: System) -> bool {
        system == System::Any || self.systems.contains(&system)
    }
}

fn state(number: usize, of: &Instrument, ledgers: &[SourceLedger], families: &BTreeSet<String>) -> State {
    if !of.families.is_empty() {
        let scraped = of.families.iter().any(|f| families.iter().any(|name| name.starts_with(f.as_str())));
        return if scraped { State::There(BTreeSet::new()) } else { State::NotCaptured };
    }
    let mut there = BTreeSet::new();
    let mut of_format = false;
    let mut off: BTreeMap<usize, Cite> = BTreeMap::new();
    for (l, ledger) in ledgers.iter().enumerate() {
        if let Some((_, cite)) = ledger.off.iter().find(|(i, _)| *i == number) {
            off.insert(l, *cite);
        }
        if !of.formats.iter().any(|f| ledger.formats.contains(f.as_str())) {
            continue;
        }
        of_format = true;
        let shown = of.shown_by.is_empty() || of.shown_by.iter().any(|k| ledger.kinds.contains_key(k.as_str()));
        let deep = of.level.as_deref().and_then(Level::read).is_none_or(|needed| ledger.lowest.is_some_and(|l| l <= needed));
        if shown && deep {
            there.insert(l);
        }
    }
    if !there.is_empty() {
        return State::There(there);
    }
    match off.into_values().next() {
        Some(cite) => State::Off(cite),
        None if of_format => State::NotShown,
        None => State::NotCaptured,
    }
}
