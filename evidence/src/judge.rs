//! From what was seen to verdicts.

use std::collections::{BTreeMap, BTreeSet};

use corr_parsers::stamp::Stamp;

use crate::attribute;
use crate::compare::{self, Comparison, Share};
use crate::compiled::{Edges, SignalRef};
use crate::definition::{Concerns, Edge, Proves, Signal};
use crate::identity::{Identity, RequestNo};
use crate::instruments::{Instruments, State};
use crate::ledger::{self, Cite, Ends, Sighting, SourceLedger, overlaps};
use crate::scope::Scope;
use crate::twins::Twins;
use crate::verdict::{Activity, Counter, Disagreement, Missing, Proof, Summed, Verdict};

/// Everything that verdicts are made of.
pub struct Judge<'a> {
    pub edges: &'a Edges,
    pub ledgers: &'a [SourceLedger],
    pub twins: &'a Twins,
    pub identity: &'a Identity,
    pub instruments: &'a Instruments,
    /// What counters of signals did in the scope.
    pub counters: &'a [Counter],
    pub scope: &'a Scope,
    /// Keep the citation of every record, not only the first and the last.
    pub all_cites: bool,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Findings {
    pub population: Population,
    pub verdicts: Vec<Verdict>,
    pub shares: Vec<Share>,
    pub comparisons: Vec<Comparison>,
}

/// The requests that edges concern.
#[derive(Clone, Debug, Default)]
pub struct Population {
    pub router: BTreeSet<RequestNo>,
    pub engine: BTreeSet<RequestNo>,
    /// Of the router's (else the engine's): those whose session a record says.
    pub with_session: BTreeSet<RequestNo>,
    /// Health probes, in neither.
    pub probes: BTreeSet<RequestNo>,
    /// Requests of the router whose id arrived more than once, with how often: the client used it again.
    pub repeated: BTreeMap<RequestNo, usize>,
    /// How many requests reached the router at least: arrivals of known ids, or records that each show one.
    pub router_arrivals: usize,
    /// No engine shows its requests: edges of engines are asked of the router's.
    pub engine_unseen: bool,
}

impl Population {
    /// How many requests some of the router's ids stand for.
    pub fn arrivals<'r>(&self, ids: impl Iterator<Item = &'r RequestNo>) -> usize {
        ids.map(|no| self.repeated.get(no).copied().unwrap_or(1)).sum()
    }
}

/// What one signal shows of requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    pub records: u64,
    /// Of these records those outside of the window, and records in it that are of requests of other windows.
    pub outside: u64,
    pub of_others: u64,
    /// Ledgers whose records another one has too, and that are not counted.
    pub copies: BTreeSet<usize>,
    /// Per request the amount (of several records the largest), and the record that says it.
    pub requests: BTreeMap<RequestNo, Said>,
    pub anonymous: u64,
    /// Records in the window by ledger: those that name a request, and others.
    pub by_ledger: BTreeMap<usize, (u64, u64)>,
    pub anonymous_amount: Option<f64>,
    pub ends: Option<Ends>,
    /// Every record, where all are asked for.
    pub each: Vec<(Option<Stamp>, Cite)>,
    /// When, by those of its records whose stamps lie in the window.
    pub when: Option<ledger::Shown>,
    /// The same of each request, where the signal proves less than the transition: it counts for those whom the edge concerns.
    pub when_of: BTreeMap<RequestNo, ledger::Shown>,
}

/// What a record says of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub amount: Option<f64>,
    pub cite: Cite,
    pub when: Option<Stamp>,
}

impl Said {
    fn by(sighting: &Sighting) -> Said {
        Said { amount: sighting.amount, cite: sighting.cite, when: sighting.when }
    }
}

impl Shown {
    fn cite(&mut self, ends: Ends, all: bool) {
        self.ends = Ends::all(self.ends.into_iter().chain([ends]));
        if all {
            self.each.push(ends.first);
            if ends.last.1 != ends.first.1 {
                self.each.push(ends.last);
            }
        }
    }

    fn cites(&self) -> Vec<Cite> {
        if self.each.is_empty() {
            return self.ends.map(Ends::cites).unwrap_or_default();
        }
        let mut each = self.each.clone();
        each.sort_unstable_by_key(|(when, cite)| (when.is_none(), when.map(|w| w.start), *cite));
        each.into_iter().map(|(_, cite)| cite).collect()
    }

    fn total(&self) -> Option<f64> {
        let known = self.requests.values().filter_map(|said| said.amount).chain(self.anonymous_amount);
        known.fold(None, |sum: Option<f64>, amount| Some(sum.unwrap_or(0.0) + amount))
    }
}

pub(crate) type AllShown = BTreeMap<SignalRef, Shown>;

impl<'a> Judge<'a> {
    /// A verdict on every edge, in the table's order, and whom they are about.
    pub fn findings(&self) -> Findings {
        let shown = self.shown();
        let population = self.population(&shown);
        let verdicts = (0..self.edges.edges().len()).filter_map(|edge| self.verdict(edge, &shown, &population)).collect();
        let shares = compare::shares(self.edges, &shown);
        let comparisons = compare::comparisons(self.edges, self.identity, &shown);
        Findings { population, verdicts, shares, comparisons }
    }

    fn shown(&self) -> AllShown {
        let mut shown = AllShown::new();
        let none = || -> Vec<Vec<bool>> { self.ledgers.iter().map(|l| vec![false; l.sightings.len()]).collect() };
        let mut attached = none();
        // A record that lists several requests is one record.
        let mut counted = none();
        let mut others = none();
        let less =
            |s: &Sighting| self.edges.get(s.signal).is_some_and(|s| s.direct && matches!(s.proves, Proves::Attempt | Proves::Presence));
        for (no, request) in self.identity.requests.iter().enumerate() {
            let meant = self.scope.has(no, request) && !request.probe;
            for (l, s) in &request.sightings {
                if let Some(slot) = attached.get_mut(*l).and_then(|a| a.get_mut(*s)) {
                    *slot = true;
                }
                let Some(sighting) = self.ledgers.get(*l).and_then(|ledger| ledger.sightings.get(*s)) else { continue };
                if !self.scope.has_ledger(*l) {
                    continue;
                }
                // A request that began in the window may end behind it.
                let inside = self.scope.window.is_none_or(|w| overlaps(sighting.place, w));
                let counts = self.twins.counts(*l, sighting.signal);
                if !meant {
                    if inside && counts && !request.probe && !self.scope.by_identity() {
                        mark(&mut others, *l, *s);
                    }
                    continue;
                }
                let of = shown.entry(sighting.signal).or_default();
                let known = of.requests.entry(no).or_insert(Said::by(sighting));
                if sighting.amount > known.amount {
                    *known = Said::by(sighting);
                }
                if !counts {
                    of.copies.insert(*l);
                    continue;
                }
                if let Some(when) =
                    ledger::Shown::by(sighting.when.filter(|_| inside), sighting.amount, sighting.cite).filter(|_| less(sighting))
                {
                    of.when_of.entry(no).and_modify(|w| *w = w.with(when)).or_insert(when);
                }
                if !mark(&mut counted, *l, *s) {
                    of.records += 1;
                    of.outside += u64::from(!inside);
                    of.cite(Ends::of(sighting.when, sighting.cite), self.all_cites);
                    of.when =
                        ledger::Shown::all([of.when, ledger::Shown::by(sighting.when.filter(|_| inside), sighting.amount, sighting.cite)]);
                }
                of.by_ledger.entry(*l).or_default().0 += u64::from(inside);
            }
        }
        if self.scope.by_identity() {
            return shown;
        }
        for ((ledger, others), counted) in self.ledgers.iter().zip(&others).zip(&counted) {
            // What names a request of this window as well is counted.
            for ((sighting, other), counted) in ledger.sightings.iter().zip(others).zip(counted) {
                if *other && !counted {
                    shown.entry(sighting.signal).or_default().of_others += 1;
                }
            }
        }
        for (l, (ledger, attached)) in self.ledgers.iter().zip(&attached).enumerate().filter(|(l, _)| self.scope.has_ledger(*l)) {
            for (at, tally) in &ledger.tallies {
                let of = shown.entry(*at).or_default();
                if !self.twins.counts(l, *at) {
                    of.copies.insert(l);
                    continue;
                }
                of.records += tally.count;
                of.anonymous += tally.count;
                of.by_ledger.entry(l).or_default().1 += tally.count;
                of.anonymous_amount = sum(of.anonymous_amount, tally.amount);
                of.when = ledger::Shown::all([of.when, tally.shown]);
                of.cite(tally.ends, self.all_cites);
            }
            // Their id belongs to no request that is known.
            for (sighting, _) in ledger.sightings.iter().zip(attached).filter(|(_, attached)| !**attached) {
                if self.scope.window.is_some_and(|w| !overlaps(sighting.place, w)) {
                    continue;
                }
                let of = shown.entry(sighting.signal).or_default();
                if !self.twins.counts(l, sighting.signal) {
                    of.copies.insert(l);
                    continue;
                }
                of.records += 1;
                of.anonymous += 1;
                of.by_ledger.entry(l).or_default().1 += 1;
                of.anonymous_amount = sum(of.anonymous_amount, sighting.amount);
                of.cite(Ends::of(sighting.when, sighting.cite), self.all_cites);
                of.when = ledger::Shown::all([of.when, ledger::Shown::by(sighting.when, sighting.amount, sighting.cite)]);
            }
        }
        shown
    }

    fn population(&self, shown: &AllShown) -> Population {
        let mut population = Population::default();
        let first_of_engine = self.edges.edges().iter().position(|e| e.concerns == Concerns::EngineRequests);
        let mut all_served = BTreeSet::new();
        for (no, request) in self.scope.requests(self.identity) {
            let mut router = false;
            let mut engine = false;
            let mut served = false;
            let mut arrivals: BTreeMap<(SignalRef, u32), usize> = BTreeMap::new();
            for (_, sighting) in request.seen(self.ledgers) {
                let Some(signal) = self.edges.get(sighting.signal) else { continue };
                let Some(edge) = self.edges.edges().get(usize::from(sighting.signal.edge)) else { continue };
                // What is consistent with an arrival shows a request as well.
                let is_first = usize::from(sighting.signal.edge) == 0;
                let passed = signal.direct && matches!(signal.proves, Proves::Transition | Proves::Attempt);
                match edge.concerns {
                    Concerns::RouterRequests => router |= passed || is_first,
                    Concerns::EngineRequests => {
                        engine |= passed && Some(usize::from(sighting.signal.edge)) == first_of_engine;
                        served |= passed;
                    }
                    Concerns::Occurrences => {}
                }
                if is_first && passed && self.scope.window.is_none_or(|w| overlaps(sighting.place, w)) {
                    *arrivals.entry((sighting.signal, sighting.cite.source)).or_default() += 1;
                }
            }
            let times = arrivals.into_values().max().unwrap_or(1);
            if times > 1 && router && !request.probe {
                population.repeated.insert(no, times);
            }
            if request.probe {
                if router || engine {
                    population.probes.insert(no);
                }
                continue;
            }
            if router {
                population.router.insert(no);
            }
            if engine {
                population.engine.insert(no);
            }
            if served {
                all_served.insert(no);
            }
        }
        if population.engine.is_empty() {
            // No engine's log says what arrived: those of the router, else those that some record says were served.
            population.engine_unseen = !population.router.is_empty();
            population.engine = if population.router.is_empty() { all_served } else { population.router.clone() };
        } else {
            // One engine's log may be there and another's not: what was served had arrived, whoever says so.
            population.engine.extend(all_served);
        }
        population.router_arrivals = population.arrivals(population.router.iter()).max(attribute::arrived(self, shown));
        let whose = if population.router.is_empty() { &population.engine } else { &population.router };
        let has_session = |no: &&RequestNo| self.identity.requests.get(**no).is_some_and(|r| !r.sessions.is_empty());
        population.with_session = whose.iter().filter(has_session).copied().collect();
        population
    }

    fn verdict(&self, number: usize, shown: &AllShown, population: &Population) -> Option<Verdict> {
        let edge = self.edges.edges().get(number)?;
        let concerned = match edge.concerns {
            Concerns::RouterRequests => Some(&population.router),
            Concerns::EngineRequests => Some(&population.engine),
            Concerns::Occurrences => None,
        };
        let mut proofs = Vec::new();
        let mut hints = Vec::new();
        let mut proven_records = 0u64;
        let mut proven_anonymous = 0u64;
        let mut attempted: BTreeSet<RequestNo> = BTreeSet::new();
        let mut unclear = 0u64;
        let mut at_least = 0u64;
        let mut proven_requests: BTreeSet<RequestNo> = BTreeSet::new();
        // What is known of each request: how much, by the largest direct figure.
        let mut known: BTreeMap<RequestNo, Option<f64>> = BTreeMap::new();
        for (at, signal) in self.edges.signals(number) {
            if !self.applies(signal) {
                continue;
            }
            let Some(seen) = shown.get(&at).filter(|s| s.records > 0) else { continue };
            let zeros_only = signal.zeros_only_if.as_deref().is_some_and(|flag| self.has(flag));
            let proof = Proof {
                signal: at,
                records: seen.records,
                outside: seen.outside,
                of_others: seen.of_others,
                copies: seen.copies.iter().filter_map(|l| Some(self.ledgers.get(*l)?.source)).collect(),
                requests: seen.requests.len() as u64,
                amount: seen.total(),
                cites: seen.cites(),
                when: match signal.proves {
                    Proves::Transition if !zeros_only => seen.when,
                    _ => seen
                        .when_of
                        .iter()
                        .filter(|(no, _)| concerned.is_some_and(|c| c.contains(no)))
                        .map(|(_, w)| *w)
                        .reduce(ledger::Shown::with),
                },
            };
            if !signal.direct || signal.proves == Proves::Hint {
                hints.push(proof);
                continue;
            }
            proofs.push(proof);
            for (no, Said { amount, .. }) in &seen.requests {
                if zeros_only && amount.is_none_or(|a| a > 0.0) {
                    continue;
                }
                let amount = self.in_unit(edge, signal, *amount);
                let slot = known.entry(*no).or_insert(amount);
                if amount > *slot {
                    *slot = amount;
                }
            }
            if signal.proves == Proves::Attempt {
                attempted.extend(seen.requests.keys().copied());
            }
            if signal.proves != Proves::Transition || zeros_only {
                unclear +=
                    u64::from(zeros_only) * seen.requests.values().filter(|said| said.amount.is_some_and(|a| a > 0.0)).count() as u64;
                continue;
            }
            let happened = |amount: Option<f64>| amount.is_none_or(|a| a > 0.0);
            let requests = seen.requests.iter().filter(|(_, said)| happened(said.amount)).map(|(no, _)| *no);
            let before = proven_requests.len();
            proven_requests.extend(requests);
            let anonymous = if signal.amount.is_some() && !happened(seen.anonymous_amount) { 0 } else { seen.anonymous };
            proven_anonymous = proven_anonymous.max(anonymous);
            if proven_requests.len() > before || anonymous > 0 {
                proven_records += seen.records;
                at_least = at_least.max(seen.requests.len() as u64 + anonymous);
            }
        }
        let counters: Vec<Counter> =
            self.counters.iter().filter(|c| usize::from(c.signal.edge) == number && self.counts(c)).cloned().collect();
        let disagreements = self.disagreements(number, shown);
        let amounts: Vec<f64> = known.values().filter_map(|a| *a).collect();
        let mut unit = edge.unit.clone();
        let mut summed = None;
        let said = if amounts.is_empty() {
            // In the edge's unit if a signal has it, else in that of the signal that shows most.
            let of = |p: &Proof| {
                let records = Summed::Records { signal: p.signal, records: p.records };
                Some((self.edges.get(p.signal)?.counts.clone(), p.amount?, records))
            };
            let most = proofs.iter().filter_map(of).max_by(|a, b| (a.0 == edge.unit).cmp(&(b.0 == edge.unit)).then(a.1.total_cmp(&b.1)));
            most.map(|(counts, amount, of)| {
                unit = counts;
                summed = Some(of);
                amount
            })
        } else {
            // A wait of none is a wait; of tokens none are none.
            let some = amounts.iter().filter(|a| **a > 0.0 || edge.unit == "seconds").count();
            summed = Some(Summed::Requests(some as u64));
            Some(amounts.iter().sum())
        };
        let moved = |c: &Counter| c.moved() && self.edges.get(c.signal).is_some_and(|s| s.direct);
        let (activity, why) = if !disagreements.is_empty() {
            (Activity::Conflict, None)
        } else if proven_records > 0 {
            (Activity::Proven, None)
        } else if counters.iter().any(moved) {
            (Activity::Active, None)
        } else {
            match (self.nothing(number, &counters, &known, population), self.of_earlier(number)) {
                ((Activity::Absent | Activity::NoSignal, _), n) if n > 0 => {
                    (Activity::Partial, Some(format!("records in the window show it of {n} requests that were first seen outside of it")))
                }
                (nothing, _) => nothing,
            }
        };
        let why = match (activity, unclear) {
            (_, 0) | (Activity::Proven | Activity::Active, _) => why,
            (_, n) => Some(format!("{}those of {n} say an amount, but not of which tier", why.map_or(String::new(), |w| format!("{w}; ")))),
        };
        // A counter moved, and records say who tried.
        if activity == Activity::Active && proven_requests.is_empty() && edge.concerns == Concerns::Occurrences {
            proven_requests = attempted;
        }
        let (mut amount, mut before) = (said, 0.0);
        if activity == Activity::Active {
            (amount, before) = self.counted(edge, &counters).map_or((None, 0.0), |(inner, base)| (Some(inner), base));
            summed = amount.map(|_| Summed::Counters);
            unit.clone_from(&edge.unit);
        }
        let occurred = Occurred { anonymous: proven_anonymous, at_least, requests: proven_requests, known };
        let count = match (edge.concerns, activity) {
            (_, Activity::Active | Activity::Absent | Activity::Partial | Activity::NoSignal) => None,
            // A record without an id may be of a request that another record names.
            (Concerns::Occurrences, _) => Some((occurred.requests.len() as u64).max(occurred.at_least)),
            (_, _) if occurred.requests.is_empty() => Some(occurred.anonymous),
            // Of edges with amounts it is those to which some came; of others those that are shown to have passed.
            (_, _) if said.is_some() && edge.unit != "seconds" => Some(occurred.requests.len() as u64),
            (Concerns::RouterRequests, _) => {
                Some(population.arrivals(occurred.known.keys().filter(|no| population.router.contains(no))) as u64)
            }
            _ => Some(occurred.known.keys().filter(|no| population.engine.contains(no)).count() as u64),
        };
        let missing = self.missing(number);
        let said = attribute::About { edge, activity, occurred: &occurred, population, missing: &missing };
        let (request, session) = attribute::of(self, &said);
        Some(Verdict {
            edge: number,
            activity,
            count,
            amount,
            summed,
            before,
            unit,
            request,
            session,
            proofs,
            hints,
            counters,
            missing,
            disagreements,
            why,
        })
    }

    /// An amount in the edge's unit. What says that nothing happened says zero; an amount in another unit is none, but for its zero.
    fn in_unit(&self, edge: &Edge, signal: &Signal, amount: Option<f64>) -> Option<f64> {
        match (signal.proves, amount) {
            (Proves::Absence, _) => Some(0.0),
            (_, Some(0.0)) => Some(0.0),
            (_, Some(amount)) if signal.counts == edge.unit => Some(amount),
            (_, Some(amount)) if signal.counts == "milliseconds" && edge.unit == "seconds" => Some(amount / 1e3),
            _ => None,
        }
    }

    /// A record shows a flag of the run.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.edges.flag(flag).is_some_and(|flag| self.ledgers.iter().any(|l| l.flags.contains_key(&flag)))
    }

    /// The signal means something in this run.
    pub(crate) fn applies(&self, signal: &Signal) -> bool {
        signal.only_if.as_deref().is_none_or(|flag| self.has(flag)) && !signal.unless.as_deref().is_some_and(|flag| self.has(flag))
    }

    /// A counter's increase is this edge's.
    fn counts(&self, counter: &Counter) -> bool {
        let Some(signal) = self.edges.get(counter.signal) else { return false };
        let zeros_only = signal.zeros_only_if.as_deref().is_some_and(|flag| self.has(flag));
        self.applies(signal) && !(zeros_only && counter.moved())
    }

    /// What counters in the edge's unit counted between samples, and what more before the first ones: of several signals the largest sum, of
    /// replicas one.
    fn counted(&self, edge: &Edge, counters: &[Counter]) -> Option<(f64, f64)> {
        let mut most: Option<(f64, f64)> = None;
        for (at, signal) in edge.signals.iter().enumerate().filter(|(_, s)| s.direct && s.counts == edge.unit) {
            let mut groups: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
            for counter in counters.iter().filter(|c| usize::from(c.signal.signal) == at) {
                let Some(inner) = counter.inner.or((counter.base > 0.0).then_some(0.0)) else { continue };
                groups.entry((&counter.endpoint, &counter.rankless)).or_default().push((inner, inner + counter.base));
            }
            if groups.is_empty() {
                continue;
            }
            let add = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
            let larger = |a: (f64, f64), b: (f64, f64)| (a.0.max(b.0), a.1.max(b.1));
            let one =
                |of: &Vec<(f64, f64)>| of.iter().copied().fold((0.0, 0.0), |a, b| if signal.each_rank { larger(a, b) } else { add(a, b) });
            let sum = groups.values().map(one).fold((0.0, 0.0), add);
            if most.is_none_or(|m| sum.1 > m.1) {
                most = Some(sum);
            }
        }
        most.map(|(inner, whole)| (inner, whole - inner))
    }

    /// Instruments of an edge's direct signals that were not there.
    fn missing(&self, edge: usize) -> Vec<Missing> {
        let mut missing: Vec<Missing> = Vec::new();
        for (_, signal) in self.edges.signals(edge).filter(|(_, s)| s.direct) {
            let Some(number) = self.edges.instrument_of(signal) else { continue };
            let Some(instrument) = self.edges.instruments().get(number) else { continue };
            if !self.instruments.concerns(instrument.system) {
                continue;
            }
            let (why, cite) = match self.instruments.state(number) {
                State::There(_) => continue,
                State::NotCaptured => ("not captured", None),
                State::NotShown => ("not shown", None),
                State::Off(cite) => ("off", Some(*cite)),
            };
            let identity = attribute::names_request(signal);
            match missing.iter_mut().find(|m| m.instrument == number) {
                Some(known) => known.identity |= identity,
                None => missing.push(Missing { instrument: number, why, cite, identity }),
            }
        }
        missing
    }

    /// Requests of which two direct signals of one edge give amounts that differ. Several workers may each have a part of a request, so that
    /// only records of sources of one worker are held against each other.
    fn disagreements(&self, edge: usize, shown: &AllShown) -> Vec<Disagreement> {
        let amounts: Vec<(SignalRef, &Signal, &Shown)> = self
            .edges
            .signals(edge)
            .filter(|(_, s)| s.direct && s.amount.is_some() && s.proves == Proves::Transition)
            .filter_map(|(at, s)| Some((at, s, shown.get(&at)?)))
            .collect();
        let mut found = Vec::new();
        let worker = |cite: &Cite| self.ledgers.iter().find(|l| l.source == cite.source).and_then(|l| l.worker.as_deref());
        for (i, (one_at, one, a)) in amounts.iter().enumerate() {
            for (other_at, _, b) in amounts.iter().skip(i + 1).filter(|(_, o, _)| o.counts == one.counts && o.amount == one.amount) {
                for (no, one) in &a.requests {
                    let Some(other) = b.requests.get(no) else { continue };
                    let (Some(x), Some(y)) = (one.amount, other.amount) else { continue };
                    // Nearly all agree: whose they are is asked of the others only.
                    if x == y {
                        continue;
                    }
                    let (x_worker, y_worker) = (worker(&one.cite), worker(&other.cite));
                    if x_worker.is_none() || y_worker.is_none() || x_worker == y_worker {
                        let request = self.identity.requests.get(*no).map(|r| r.name().to_string()).unwrap_or_default();
                        found.push(Disagreement { request, one: (*one_at, x, one.cite), other: (*other_at, y, other.cite) });
                    }
                }
            }
        }
        found
    }
}

/// What happened, and to whom as far as records say.
pub(crate) struct Occurred {
    /// Occurrences that name no request.
    pub anonymous: u64,
    /// By the signal that shows most of them.
    pub at_least: u64,
    /// Requests to which it is proven to have happened.
    pub requests: BTreeSet<RequestNo>,
    /// Requests of which it is known whether it did, with the amount where one is said.
    pub known: BTreeMap<RequestNo, Option<f64>>,
}

/// Marks a sighting; whether it was marked before.
fn mark(of: &mut [Vec<bool>], ledger: usize, sighting: usize) -> bool {
    of.get_mut(ledger).and_then(|l| l.get_mut(sighting)).is_some_and(|slot| std::mem::replace(slot, true))
}

fn sum(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (one, other) => one.or(other),
    }
}
