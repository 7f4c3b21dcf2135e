//! Nothing shows an edge: that it did not happen, that part of what would show it was not there, or that nothing could have.

use std::collections::{BTreeMap, BTreeSet};

use crate::definition::{Concerns, Proves, Signal, System};
use crate::identity::RequestNo;
use crate::instruments::State;
use crate::judge::{Judge, Population};
use crate::ledger::{SourceLedger, overlaps};
use crate::verdict::{Activity, Counter};

impl Judge<'_> {
    /// Requests of other windows to which records in this one show that it happened: of the window it is then not absent.
    pub(crate) fn of_earlier(&self, edge: usize) -> usize {
        let Some(window) = self.scope.window.filter(|_| !self.scope.by_identity()) else { return 0 };
        let shows = |(l, s): &(usize, usize)| {
            let Some(sighting) = self.ledgers.get(*l).and_then(|ledger| ledger.sightings.get(*s)) else { return false };
            let direct = self.edges.get(sighting.signal).is_some_and(|s| s.direct && s.proves == Proves::Transition && self.applies(s));
            let here = usize::from(sighting.signal.edge) == edge && self.scope.has_ledger(*l) && overlaps(sighting.place, window);
            direct && here && sighting.amount.is_none_or(|a| a > 0.0)
        };
        let others = self.identity.requests.iter().enumerate().filter(|(no, r)| !r.probe && !self.scope.has(*no, r));
        others.filter(|(_, r)| r.sightings.iter().any(shows)).count()
    }

    /// Which of the kinds of nothing it is.
    pub(crate) fn nothing(
        &self,
        edge: usize,
        counters: &[Counter],
        known: &BTreeMap<RequestNo, Option<f64>>,
        population: &Population,
    ) -> (Activity, Option<String>) {
        let concerned = match self.edges.edges().get(edge).map(|e| e.concerns) {
            Some(Concerns::RouterRequests) => &population.router,
            _ => &population.engine,
        };
        let mut part: Option<String> = None;
        let zeros = concerned.iter().filter(|no| matches!(known.get(no), Some(Some(a)) if *a == 0.0)).count();
        if zeros > 0 {
            part = match (zeros == concerned.len(), self.unlogged()) {
                (true, None) => return (Activity::Absent, Some(format!("the records of all {zeros} requests say zero"))),
                (true, Some(engine)) => Some(format!(
                    "the records of all {zeros} requests that are known say zero; no log is there of {engine}, which was scraped"
                )),
                (false, _) => Some(format!("the records of {zeros} of {} requests say zero", concerned.len())),
            };
        }
        for (at, signal) in self.edges.signals(edge).filter(|(_, s)| s.direct && self.applies(s)) {
            let of: Vec<&Counter> = counters.iter().filter(|c| c.signal == at).collect();
            if !of.is_empty() && of.iter().all(|c| c.inner.is_none()) {
                let name = signal.metric.as_deref().unwrap_or(&signal.id);
                let why = of.iter().find_map(|c| c.gap.as_deref()).unwrap_or("no two samples of it");
                part = part.or_else(|| Some(format!("what `{name}` counted here is not known: {why}")));
            } else if !of.is_empty() {
                let name = signal.metric.as_deref().unwrap_or(&signal.id);
                let elsewhere = if self.system(signal) == Some(System::Sglang) { self.unscraped() } else { None };
                match (of.iter().find_map(|c| c.gap.as_ref()), elsewhere) {
                    (None, None) => {
                        return (Activity::Absent, Some(format!("`{name}` did not move, and was scraped over the whole window")));
                    }
                    (Some(gap), _) => part = part.or_else(|| Some(format!("`{name}` did not move where it was scraped: {gap}"))),
                    (None, Some(engine)) => {
                        part = part.or_else(|| Some(format!("`{name}` did not move where it was scraped; {engine} was not")));
                    }
                }
            }
            if signal.silence_is_zero && !self.scope.by_identity() {
                let unseen = || {
                    let engine = self.unlogged().filter(|_| self.system(signal) == Some(System::Sglang));
                    self.before(edge, signal).or(engine.map(|engine| format!("a log of {engine}, which was scraped")))
                };
                match (self.covered(signal), unseen()) {
                    (Some(true), Some(unseen)) => {
                        part = part.or_else(|| Some(format!("{} says none; not there: {unseen}", self.title(signal))));
                    }
                    (Some(true), None) => {
                        return (Activity::Absent, Some(format!("{} would say it each time, and says none", self.title(signal))));
                    }
                    (Some(false), _) => part = part.or_else(|| Some(format!("{} says none, but covers only a part", self.title(signal)))),
                    (None, _) => {}
                }
            }
        }
        match part {
            Some(why) => (Activity::Partial, Some(why)),
            None => (Activity::NoSignal, None),
        }
    }

    fn title(&self, signal: &Signal) -> &str {
        let instrument = self.edges.instrument_of(signal).and_then(|i| self.edges.instruments().get(i));
        instrument.map_or("an instrument", |i| i.title.as_str())
    }

    fn system(&self, signal: &Signal) -> Option<System> {
        Some(self.edges.instruments().get(self.edges.instrument_of(signal)?)?.system)
    }

    /// Workers by engines' logs in the scope; `None` where a log is of no worker that is known, so that it may be anybody's.
    fn logged(&self) -> Option<BTreeSet<&str>> {
        let engines = || self.edges.instruments().iter().filter(|i| i.system == System::Sglang);
        let of_engine = |l: &SourceLedger| engines().any(|i| i.formats.iter().any(|f| l.formats.contains(f.as_str())));
        let ledgers = self.ledgers.iter().enumerate().filter(|(l, ledger)| self.scope.has_ledger(*l) && of_engine(ledger));
        ledgers.map(|(_, l)| l.worker.as_deref()).collect()
    }

    /// Counters of engines.
    fn scraped(&self) -> impl Iterator<Item = &Counter> {
        let of_engine = |c: &&Counter| self.edges.get(c.signal).and_then(|s| self.system(s)) == Some(System::Sglang);
        self.counters.iter().filter(of_engine)
    }

    /// An engine whose metrics are there and no log: what came to it no record may show.
    fn unlogged(&self) -> Option<&str> {
        self.logged()?;
        let known = |c: &&Counter| c.worker.is_some() && self.ledgers.iter().any(|l| l.worker == c.worker);
        self.scraped().find(|c| !known(c)).map(|c| c.endpoint.as_str())
    }

    /// An engine whose log is there and no metrics: what it did no counter may show.
    fn unscraped(&self) -> Option<&str> {
        let logged = self.logged()?;
        let scraped: BTreeSet<&str> = self.scraped().map(|c| c.worker.as_deref()).collect::<Option<_>>()?;
        logged.difference(&scraped).next().copied()
    }

    /// Logs of a router that stood before the signal's engine and could show the edge, if none of them is there: what came no further than the
    /// router is in no engine's log. A router's logs are those that can show an arrival at it.
    fn before(&self, edge: usize, signal: &Signal) -> Option<String> {
        let instrument = |s: &Signal| self.edges.instrument_of(s);
        let system = |i: usize| self.edges.instruments().get(i).map(|i| i.system);
        if instrument(signal).and_then(system) != Some(System::Sglang) {
            return None;
        }
        let records =
            |edge: usize| self.edges.signals(edge).filter(|(_, s)| s.direct && s.metric.is_none()).filter_map(|(_, s)| instrument(s));
        let arrivals: BTreeSet<usize> = records(0).collect();
        let of_router =
            |i: &usize| system(*i).is_some_and(|of| of != System::Sglang && self.instruments.concerns(of)) && arrivals.contains(i);
        let logs: BTreeSet<usize> = records(edge).filter(of_router).collect();
        if logs.iter().any(|i| self.instruments.is_there(*i)) {
            return None;
        }
        let titles: Vec<&str> = logs.iter().filter_map(|i| Some(self.edges.instruments().get(*i)?.title.as_str())).collect();
        (!titles.is_empty()).then(|| titles.join(", "))
    }

    /// Whether the sources of a signal's instrument reach over the window; `None` without any.
    fn covered(&self, signal: &Signal) -> Option<bool> {
        let State::There(ledgers) = self.instruments.state(self.edges.instrument_of(signal)?) else { return None };
        let spans = ledgers.iter().filter(|l| self.scope.has_ledger(**l)).filter_map(|l| self.ledgers.get(*l)?.span);
        let (from, to) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        Some(self.scope.window.is_none_or(|w| from <= w.0 && to >= w.1))
    }
}
