//! The loop: everything that is seen comes here, in the order in which it was seen.

use std::sync::Arc;
use std::time::Duration;

use corr_readiness::merge::Merge;
use corr_readiness::{Cite, Fact, History, Machine, Observation};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::changes::{Change, Changes, Transition, What};
use super::cited::Texts;
use super::file::{File, Flag};
use super::journal;
use super::lines::Lines;
use super::message::Message;
use super::metrics::{self, MetricSeen, MetricState, Newest};
use super::plan::{Asked, Plan, PlanError};
use super::polls;
use super::sources::{Log, Polls};
use super::tail::EVERY;
use super::verdict::{self, Base, Beside, Judged, State};
use super::{Ended, Follow, MetricOutcome, Outcome, SourceOutcome, UnitOutcome};
use crate::http::Client;
use crate::stop::Stop;

/// Messages under way: a source that is faster than the loop waits.
const UNDER_WAY: usize = 256;

/// Messages taken before something is judged.
const AT_ONCE: usize = 64;

/// What seldom changes anything is judged so often.
const SELDOM: Duration = Duration::from_millis(75);

/// Everything that is watched, and what is known by now.
pub struct Watch<F> {
    pub follow: Follow,
    pub units: Vec<String>,
    pub logs: Vec<Log>,
    pub health: Vec<Polls>,
    pub metrics: Vec<Polls>,
    pub newest: Vec<Option<Newest>>,
    pub machine: Machine,
    pub changes: Changes,
    pub texts: Texts,
    /// The first host that a log names is this one: rows know none.
    pub host: Option<String>,
    /// What was there before, of each log, until all have given it.
    pub old: Vec<(u32, Vec<Observation>)>,
    pub caught_up: bool,
    pub base: Vec<Base>,
    pub history: History,
    /// Something that can change a judgement was taken.
    pub dirty: bool,
    /// Something that seldom does was taken.
    pub stale: bool,
    pub judged_at: Instant,
    pub found: Vec<Option<MetricState>>,
    pub missing_since: Option<Instant>,
    pub on: F,
}

pub async fn run<F: FnMut(&Transition)>(follow: Follow, cancel: Stop, on: F) -> Result<Outcome, PlanError> {
    let plan = Plan::of(&follow)?;
    let targets: Vec<_> = follow.health.iter().chain(&follow.metrics).cloned().collect();
    let client =
        Client::new(follow.request.clone(), follow.ca.as_deref(), &targets).map_err(|error| PlanError::Client(error.to_string()))?;
    let (to, mut from) = channel(UNDER_WAY);
    let flag = Flag::default();
    let mut watch = Watch::new(follow, &plan, on);
    let mut children = Vec::new();
    for (log, (path, owner, _)) in watch.logs.iter().zip(&plan.files) {
        let units = owner.as_ref().map_or_else(|| plan.units.clone(), |owner| vec![owner.clone()]);
        let one = File { source: log.source, units, owner: owner.clone(), rule: watch.follow.zone, clock: watch.follow.clock };
        one.spawn(path, to.clone(), Arc::clone(&flag.0));
    }
    if let Some(journal) = watch.follow.journal.clone() {
        for (log, unit) in watch.logs.iter().skip(plan.files.len()).zip(&plan.units) {
            let to = to.clone();
            let send = move |message| to.blocking_send(message).is_ok();
            match journal::follow(log.source, journal.clone(), unit.clone(), watch.follow.clock, send) {
                Ok(child) => children.push(child),
                Err(error) => return Err(PlanError::Client(format!("no thread for journalctl: {error}"))),
            }
        }
    }
    let mut tasks = JoinSet::new();
    let (clock, every) = (watch.follow.clock, watch.follow.every.max(Duration::from_millis(10)));
    for (polled, asked) in [(&watch.health, polls::Asked::Health), (&watch.metrics, polls::Asked::Metrics)] {
        for (place, one) in polled.iter().enumerate() {
            tasks.spawn(polls::poll(place, asked, Arc::clone(&one.asked.target), client.clone(), clock, every, to.clone()));
        }
    }
    let ended = watch.until_answered(&mut from, &cancel).await;
    // Threads that wait to send end with the receiver.
    drop(from);
    Ok(watch.outcome(ended))
}

impl<F: FnMut(&Transition)> Watch<F> {
    fn new(follow: Follow, plan: &Plan, on: F) -> Watch<F> {
        let mut texts = Texts::default();
        let mut logs = Vec::new();
        for (path, owner, said) in &plan.files {
            let source = texts.source(path.display().to_string());
            let lines = Lines::new(source, owner.clone(), *said, None, follow.zone);
            logs.push(Log::new(source, owner.clone(), lines));
        }
        if follow.journal.is_some() {
            for unit in &plan.units {
                let source = texts.source(format!("journalctl -u {unit}"));
                let lines = Lines::new(source, None, false, Some(journal::layout()), follow.zone);
                logs.push(Log::new(source, Some(unit.clone()), lines));
            }
        }
        let mut polls = |asked: &[Asked]| {
            let mut all: Vec<Polls> = Vec::new();
            for one in asked {
                let speaks = !all.iter().any(|known| known.asked.unit == one.unit);
                let source = texts.source(one.target.shown().to_owned());
                all.push(Polls { source, asked: one.clone(), speaks, attempts: 0, up: None, latest: None });
            }
            all
        };
        let (health, metrics) = (polls(&plan.health), polls(&plan.metrics));
        let machine = Machine::new(follow.options.clone());
        Watch {
            units: plan.units.clone(),
            newest: metrics.iter().map(|_| None).collect(),
            base: plan.units.iter().map(|_| Base::default()).collect(),
            found: follow.expect_metric.iter().map(|_| None).collect(),
            history: machine.history(),
            caught_up: false,
            old: Vec::new(),
            logs,
            health,
            metrics,
            machine,
            changes: Changes::default(),
            texts,
            host: None,
            dirty: true,
            stale: false,
            judged_at: Instant::now(),
            missing_since: None,
            follow,
            on,
        }
    }

    async fn until_answered(&mut self, from: &mut Receiver<Message>, cancel: &Stop) -> Ended {
        let began = Instant::now();
        let end = began.checked_add(self.follow.timeout);
        let over = async {
            match end {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(over);
        let mut tick = tokio::time::interval(EVERY);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = cancel.soon() => return Ended::Cancelled,
                () = &mut over => {
                    // What was read already counts.
                    while let Ok(message) = from.try_recv() {
                        self.take(message);
                    }
                    self.look(true);
                    return if self.answered() { Ended::Answered } else { Ended::TimedOut };
                }
                message = from.recv() => {
                    let Some(message) = message else { return Ended::Answered };
                    self.take(message);
                    for _ in 0..AT_ONCE {
                        let Ok(message) = from.try_recv() else { break };
                        self.take(message);
                    }
                }
                _ = tick.tick() => {}
            }
            self.look(false);
            if self.answered() {
                return Ended::Answered;
            }
        }
    }

    /// Judges what is new, and tells it.
    fn look(&mut self, last: bool) {
        let sources: Vec<u32> = self.logs.iter().map(|log| log.source).collect();
        for source in sources {
            self.lines(source, |lines, give| lines.take(give));
        }
        let begins = !self.caught_up && (last || self.logs.iter().all(|log| log.caught_up && log.lines.idle()));
        if begins {
            let mut old = std::mem::take(&mut self.old);
            // Of stamps of one second, those of the source that prints configurations come first: stderr, where stdout has the rest.
            old.sort_by_key(|(source, all)| {
                (!all.iter().any(|seen| matches!(seen.fact, Fact::ServerArgs(_) | Fact::RuntimeBegan)), *source)
            });
            for seen in Merge::new(old.into_iter().map(|(_, all)| all.into_iter())) {
                self.machine.take(&seen);
            }
            self.caught_up = true;
            self.dirty = true;
        }
        self.dirty |= self.stale && (last || self.judged_at.elapsed() >= SELDOM);
        if !self.caught_up || !self.dirty {
            return;
        }
        (self.dirty, self.stale, self.judged_at) = (false, false, Instant::now());
        self.history = self.machine.history();
        if begins {
            self.base = self.units.iter().map(|unit| verdict::base(&self.history, unit)).collect();
        }
        let seen_at = self.follow.clock.wall();
        let logs = &self.logs;
        let logged = |unit: &str| logs.iter().any(|log| log.fault.is_none() && log.unit.as_deref().is_none_or(|owner| owner == unit));
        for change in self.changes.of(&self.history, &self.units, begins, logged) {
            let cites = change.cites.iter().map(|cite| self.texts.cited(*cite)).collect();
            let Change { unit, run, what, instant, again, says, .. } = change;
            (self.on)(&Transition { unit, run: Some(run), what, instant, again, before: begins, says, cites, seen_at });
        }
        self.look_for_metrics(seen_at);
    }

    fn look_for_metrics(&mut self, seen_at: i64) {
        for (at, seen) in self.expected().into_iter().enumerate() {
            let Some(found) = self.found.get_mut(at) else { continue };
            let is_new = seen.state == MetricState::There && *found != Some(MetricState::There);
            *found = Some(seen.state);
            if is_new {
                self.tell(String::new(), What::MetricThere, format!("{}: {}", seen.name, seen.says), seen.cites, seen_at);
            }
        }
    }

    fn expected(&self) -> Vec<MetricSeen> {
        let newest: Vec<&Newest> = self.newest.iter().flatten().collect();
        self.follow.expect_metric.iter().map(|name| metrics::seen(name, &newest, &self.history)).collect()
    }

    pub fn tell_source(&mut self, source: u32, says: String) {
        let unit = self.logs.iter().find(|log| log.source == source).and_then(|log| log.unit.clone()).unwrap_or_default();
        let says = format!("{}: {says}", self.texts.name(source));
        self.tell(unit, What::Source, says, Vec::new(), self.follow.clock.wall());
    }

    pub fn tell(&mut self, unit: String, what: What, says: String, cites: Vec<Cite>, seen_at: i64) {
        let cites = cites.iter().map(|cite| self.texts.cited(*cite)).collect();
        let before = !self.caught_up;
        (self.on)(&Transition { unit, run: None, what, instant: None, again: false, before, says, cites, seen_at });
    }

    fn beside(&self, unit: &str) -> Beside {
        let of = |all: &[Polls]| all.iter().find(|one| one.speaks && one.asked.unit == unit).map(|one| one.latest.clone());
        let (health, metrics) = (of(&self.health), of(&self.metrics));
        let mut logs = self.logs.iter().filter(|log| log.unit.as_deref().is_none_or(|owner| owner == unit)).peekable();
        let polled = health.is_some() || metrics.is_some();
        let dead = if polled || logs.peek().is_none() {
            None
        } else {
            let faults: Option<Vec<String>> =
                logs.map(|log| log.fault.as_ref().map(|fault| format!("{}: {fault}", self.texts.name(log.source)))).collect();
            faults.map(|faults| faults.join("; "))
        };
        Beside { polls: health.is_some(), scrapes: metrics.is_some(), health: health.flatten(), metrics: metrics.flatten(), dead }
    }

    fn judged(&self) -> Vec<Judged> {
        let all = self.units.iter().zip(&self.base);
        all.map(|(unit, base)| verdict::judge(&self.history, unit, self.follow.require, *base, &self.beside(unit))).collect()
    }

    /// Is there nothing left to wait for?
    fn answered(&mut self) -> bool {
        if !self.caught_up {
            return false;
        }
        let judged = self.judged();
        if judged.iter().any(|judged| judged.state == State::Failed) {
            return true;
        }
        if judged.iter().any(|judged| judged.state == State::Waits) {
            self.missing_since = None;
            return false;
        }
        if judged.iter().any(|judged| judged.state == State::CannotBeKnown) || self.found.iter().all(|f| *f == Some(MetricState::There)) {
            return true;
        }
        let known =
            |state: &Option<MetricState>| matches!(state, Some(MetricState::There | MetricState::Missing | MetricState::NotEnabled));
        if !self.found.iter().all(known) {
            self.missing_since = None;
            return false;
        }
        let since = *self.missing_since.get_or_insert_with(Instant::now);
        since.elapsed() >= self.follow.settle
    }

    fn outcome(mut self, ended: Ended) -> Outcome {
        self.history = self.machine.history();
        let mut units = Vec::new();
        for (unit, judged) in self.units.iter().zip(self.judged()) {
            let Judged { mut state, mut says, cites } = judged;
            if state == State::Waits
                && ended == Ended::TimedOut
                && let Err(why) = verdict::could_be_seen(&self.history, unit, self.follow.require, &self.beside(unit))
            {
                (state, says) = (State::CannotBeKnown, why);
            }
            let cites = cites.iter().map(|cite| self.texts.cited(*cite)).collect();
            units.push(UnitOutcome { unit: unit.clone(), state, says, cites });
        }
        let metrics = self.expected().into_iter().map(|seen| {
            let cites = seen.cites.iter().map(|cite| self.texts.cited(*cite)).collect();
            MetricOutcome { name: seen.name, state: seen.state, says: seen.says, cites }
        });
        let metrics = metrics.collect();
        let mut sources: Vec<SourceOutcome> = self.logs.iter().map(|log| log.outcome(&self.texts)).collect();
        sources.extend(self.health.iter().chain(&self.metrics).map(|polls| polls.outcome(&self.texts)));
        Outcome { ended, units, metrics, sources, history: self.history }
    }
}
