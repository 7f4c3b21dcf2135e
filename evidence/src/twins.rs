//! Which logs hold the same records: a router's output and its log folder, one log written as text and as JSON. What both say is counted once.
//!
//! Bytes differ, so that logs are held against each other by what their records are: of which signal, of which second, of which request; where no
//! record names a request, of which numbers. A copy may lack what the other has (levels, the last lines), so that of each signal the log is counted
//! that has most of it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use corr_parsers::event::{Event, Value};
use corr_parsers::ids::{self, IdKind};
use corr_parsers::stamp::Stamp;

use crate::compiled::SignalRef;
use crate::ledger::SourceLedger;

/// Marks that are kept of one log: the least of all hashes, so that those of two logs can be compared.
const KEPT: usize = 1_000;
/// So many records have to be the same.
const LEAST: usize = 3;

/// By what the records of a log are known again.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Signal, second and request.
    named: Sketch,
    /// Signal, second and numbers, of records that name no request.
    unnamed: Sketch,
}

/// The least hashes of a set, each with its signal.
#[derive(Clone, Debug, Default)]
struct Sketch(BTreeMap<u64, SignalRef>);

impl Sketch {
    fn add(&mut self, hash: u64, signal: SignalRef) {
        if self.0.len() < KEPT || hash < self.bound() {
            self.0.insert(hash, signal);
        }
        if self.0.len() > KEPT {
            self.0.pop_last();
        }
    }

    /// Greater hashes may be missing.
    fn bound(&self) -> u64 {
        if self.0.len() < KEPT { u64::MAX } else { self.0.last_key_value().map_or(u64::MAX, |(hash, _)| *hash) }
    }

    /// Of the signals that both have: how many are common, and how many the smaller one has.
    fn shared(&self, other: &Sketch) -> (usize, usize) {
        let signals = |of: &Sketch| of.0.values().copied().collect::<BTreeSet<_>>();
        let (mine, theirs) = (signals(self), signals(other));
        let bound = self.bound().min(other.bound());
        let within = |of: &Sketch| of.0.range(..=bound).filter(|(_, s)| mine.contains(s) && theirs.contains(s)).count();
        let common = self.0.range(..=bound).filter(|(hash, _)| other.0.contains_key(hash)).count();
        (common, within(self).min(within(other)))
    }
}

impl Marks {
    /// Takes a record that is a signal.
    pub fn add(&mut self, signal: SignalRef, event: &Event<'_>, when: Option<Stamp>) {
        let Some(when) = when else { return };
        // Both may be written with other digits of one time.
        let begun = |hasher: &mut DefaultHasher| (signal, when.start.div_euclid(1_000_000_000)).hash(hasher);
        let mut named = false;
        let mut text = String::new();
        for id in event.ids.iter().filter(|id| matches!(id.kind, IdKind::Rid | IdKind::RequestId | IdKind::BootstrapRoom)) {
            named = true;
            text.clear();
            ids::canonical(Some(id.kind), &id.text, &mut text);
            let mut hasher = DefaultHasher::new();
            begun(&mut hasher);
            text.hash(&mut hasher);
            self.named.add(hasher.finish(), signal);
        }
        if named {
            return;
        }
        let mut numbers: Vec<(&str, u64)> = event.fields.iter().filter_map(|f| Some((&*f.name, bits(&f.value)?))).collect();
        numbers.sort_unstable();
        let mut hasher = DefaultHasher::new();
        begun(&mut hasher);
        numbers.hash(&mut hasher);
        self.unnamed.add(hasher.finish(), signal);
    }

    /// Takes in those of a later part.
    pub fn append(&mut self, later: Marks) {
        later.named.0.into_iter().for_each(|(hash, signal)| self.named.add(hash, signal));
        later.unnamed.0.into_iter().for_each(|(hash, signal)| self.unnamed.add(hash, signal));
    }
}

fn bits(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Int(n) => Some((*n as f64).to_bits()),
        Value::UInt(n) => Some((*n as f64).to_bits()),
        Value::Float(n) => Some(n.to_bits()),
        Value::Bool(_) | Value::Str(_) => None,
    }
}

/// Which log of several with the same records is counted.
#[derive(Clone, Debug, Default)]
pub struct Twins {
    /// Of each ledger that has copies: the first of them.
    of: BTreeMap<usize, usize>,
    /// Of each signal of such ledgers: the one that has most of it.
    counted: BTreeMap<(usize, SignalRef), (usize, u64)>,
}

impl Twins {
    /// Holds the logs of each worker against each other.
    pub fn new(ledgers: &[SourceLedger]) -> Twins {
        let mut twins = Twins::default();
        for (l, ledger) in ledgers.iter().enumerate() {
            let first = (0..l).find(|other| ledgers.get(*other).is_some_and(|o| same(o, ledger)));
            let Some(first) = first.map(|first| twins.of.get(&first).copied().unwrap_or(first)) else { continue };
            twins.of.insert(first, first);
            twins.of.insert(l, first);
        }
        for (l, first) in &twins.of {
            let Some(ledger) = ledgers.get(*l) else { continue };
            let mut records: BTreeMap<SignalRef, u64> = ledger.tallies.iter().map(|(at, tally)| (*at, tally.count)).collect();
            for sighting in &ledger.sightings {
                *records.entry(sighting.signal).or_default() += 1;
            }
            for (at, n) in records {
                let most = twins.counted.entry((*first, at)).or_insert((*l, n));
                if n > most.1 {
                    *most = (*l, n);
                }
            }
        }
        twins
    }

    /// The records of a signal are counted in this ledger, and not in a copy of it.
    pub fn counts(&self, ledger: usize, signal: SignalRef) -> bool {
        let counted = || self.counted.get(&(*self.of.get(&ledger)?, signal));
        counted().is_none_or(|(by, _)| *by == ledger)
    }
}

/// Both are logs of one worker and hold the same records.
fn same(a: &SourceLedger, b: &SourceLedger) -> bool {
    let apart = a.span.zip(b.span).is_none_or(|(a, b)| a.1 <= b.0 || b.1 <= a.0);
    if apart || a.worker != b.worker {
        return false;
    }
    let ((named, of_named), (unnamed, of_unnamed)) = (a.marks.named.shared(&b.marks.named), a.marks.unnamed.shared(&b.marks.unnamed));
    let most = |common: usize, of: usize| common >= LEAST && common * 10 >= of * 9;
    match (&a.worker, of_named >= LEAST) {
        // Two workers may log one request in one second: whose these are is not known.
        (None, _) => most(named, of_named) && most(unnamed, of_unnamed),
        (Some(_), true) => named >= LEAST && named * 2 >= of_named,
        (Some(_), false) => most(unnamed, of_unnamed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketches_of_large_sets_tell_how_much_is_common() {
        let signal = SignalRef { edge: 0, signal: 0 };
        let sketch = |from: u64, to: u64| {
            let mut sketch = Sketch::default();
            for n in from..to {
                let mut hasher = DefaultHasher::new();
                n.hash(&mut hasher);
                sketch.add(hasher.finish(), signal);
            }
            sketch
        };
        let (all, most, other) = (sketch(0, 20_000), sketch(500, 20_000), sketch(30_000, 50_000));
        let (common, of) = all.shared(&most);
        assert!(common == of && common > 900, "{common} of {of}");
        assert_eq!(all.shared(&other).0, 0);
        assert_eq!(sketch(0, 10).shared(&sketch(5, 10)), (5, 5));
    }
}
