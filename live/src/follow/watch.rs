//! The loop: everything that is seen comes here, in the order in which it was seen.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use corr_parsers::clock::Rule;
use corr_parsers::stamp::Stamp;
use corr_readiness::merge::Merge;
use corr_readiness::rows::{Row, What as Polled};
use corr_readiness::{Cite, Fact, History, Machine, Observation};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::back::{self, is_unit};
use super::changes::{Changes, Transition, What};
use super::cited::Texts;
use super::journal;
use super::lines::{Lines, Taken};
use super::message::{Fault, Message, Scrape};
use super::metrics::{self, MetricSeen, MetricState, Newest};
use super::plan::{Asked, Plan, PlanError};
use super::polls;
use super::tail::{EVERY, Seen, Tail, Turn};
use super::verdict::{self, Base, Beside, Judged, Latest, State};
use super::{Ended, Follow, MetricOutcome, Outcome, SourceOutcome, UnitOutcome};
use crate::clock::Clock;
use crate::http::{Attempt, Client};
use crate::stop::Stop;

/// Messages under way: a source that is faster than the loop waits.
const UNDER_WAY: usize = 256;

/// Messages taken before something is judged.
const AT_ONCE: usize = 64;

/// What seldom changes anything is judged so often.
const SELDOM: Duration = Duration::from_millis(75);

/// A source of log lines.
struct Log {
    source: u32,
    /// Whose; `None`: of any.
    unit: Option<String>,
    lines: Lines,
    caught_up: bool,
    fault: Option<Fault>,
    rotations: u64,
    truncations: u64,
}

/// An endpoint that is polled.
struct Polls {
    source: u32,
    asked: Asked,
    /// The first of its unit: it speaks for it.
    speaks: bool,
    attempts: u64,
    up: Option<bool>,
    latest: Option<Latest>,
}

/// Stops the threads of files.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Watch<F> {
    follow: Follow,
    units: Vec<String>,
    logs: Vec<Log>,
    health: Vec<Polls>,
    metrics: Vec<Polls>,
    newest: Vec<Option<Newest>>,
    machine: Machine,
    changes: Changes,
    texts: Texts,
    /// The first host that a log names is this one: rows know none.
    host: Option<String>,
    /// What was there before, of each log, until all have given it.
    old: Vec<(u32, Vec<Observation>)>,
    caught_up: bool,
    base: Vec<Base>,
    history: History,
    /// Something that can change a judgement was taken.
    dirty: bool,
    /// Something that seldom does was taken.
    stale: bool,
    judged_at: Instant,
    found: Vec<Option<MetricState>>,
    missing_since: Option<Instant>,
    on: F,
}

pub async fn run<F: FnMut(&Transition)>(follow: Follow, cancel: Stop, on: F) -> Result<Outcome, PlanError> {
    let plan = Plan::of(&follow)?;
    let targets: Vec<_> = follow.health.iter().chain(&follow.metrics).cloned().collect();
    let client =
        Client::new(follow.request.clone(), follow.ca.as_deref(), &targets).map_err(|error| PlanError::Client(error.to_string()))?;
    let (to, mut from) = channel(UNDER_WAY);
    let flag = Flag(Arc::default());
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

/// A file's thread.
struct File {
    source: u32,
    units: Vec<String>,
    owner: Option<String>,
    rule: Option<Rule>,
    clock: Clock,
}

impl File {
    fn spawn(self, path: &Path, to: Sender<Message>, over: Arc<AtomicBool>) {
        let (path, source) = (path.to_owned(), self.source);
        let sender = to.clone();
        let thread = std::thread::Builder::new().name("corr-tail".into()).spawn(move || self.run(&path, &to, &over));
        if let Err(error) = thread {
            // Rare enough to be told by the only way that does not wait: an empty channel takes it.
            let _ = sender.try_send(Message::Fault { source, what: Fault::Unreadable(error.to_string()) });
            let _ = sender.try_send(Message::CaughtUp { source });
        }
    }

    fn run(self, path: &Path, to: &Sender<Message>, over: &AtomicBool) {
        let source = self.source;
        let clock = self.clock;
        let mut gone = false;
        let mut tail = Tail::new(path);
        let send = |seen: Seen, old: bool| to.blocking_send(Message::Tail { source, seen, received: clock.wall(), old }).is_err();
        let past = |file: &mut std::fs::File, len: u64| {
            let past = back::look(file, len, &self.units, self.owner.as_deref(), self.rule);
            // What cannot be read here will be said by the first look.
            let Ok(past) = past else { return len };
            let _ = to.blocking_send(Message::Past { source, layout: past.layout, shift: past.shift });
            past.from
        };
        tail.begin(past, &mut |seen| gone |= send(seen, true));
        // All of it, in as many looks as that takes.
        let mut more = true;
        while more && !gone {
            more = false;
            tail.look(&mut |seen| {
                more |= matches!(seen, Seen::Bytes { .. });
                gone |= send(seen, true);
            });
        }
        let _ = to.blocking_send(Message::CaughtUp { source });
        while !gone && !over.load(Ordering::Relaxed) {
            std::thread::sleep(EVERY);
            tail.look(&mut |seen| gone |= send(seen, false));
        }
    }
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

    /// Takes one thing that was seen.
    fn take(&mut self, message: Message) {
        match message {
            Message::Past { source, layout, shift } => {
                let Some(log) = self.log(source) else { return };
                if let Some(layout) = layout {
                    log.lines.laid_out(layout);
                }
                log.lines.shifted(shift);
            }
            Message::Tail { source, seen, received, old } => self.tail(source, seen, received, old),
            Message::CaughtUp { source } => {
                if let Some(log) = self.log(source) {
                    log.caught_up = true;
                }
                self.dirty = true;
            }
            Message::Fault { source, what } => {
                let says = what.to_string();
                if let Some(log) = self.log(source) {
                    log.fault = Some(what);
                }
                self.tell_source(source, says);
                self.dirty = true;
            }
            Message::Note { source, says } => self.tell_source(source, says),
            Message::Health { place, attempt } => self.polled(place, &attempt),
            Message::Scrape { place, scrape } => self.scraped(place, *scrape),
        }
    }

    fn log(&mut self, source: u32) -> Option<&mut Log> {
        self.logs.iter_mut().find(|log| log.source == source)
    }

    fn tail(&mut self, source: u32, seen: Seen, received: i64, old: bool) {
        match seen {
            Seen::Bytes { at, file, offset, bytes } => {
                self.texts.bytes(source, at, file, offset);
                self.lines(source, |lines, give| {
                    lines.push(at, &bytes, received, old);
                    lines.take(give);
                });
            }
            Seen::Turned { how, .. } => {
                self.lines(source, |lines, give| lines.turned(give));
                let Some(log) = self.log(source) else { return };
                let says = match how {
                    Turn::Rotated => {
                        log.rotations += 1;
                        "another file has its name: followed there, and here for as long as it grows"
                    }
                    Turn::Truncated => {
                        log.truncations += 1;
                        "it was truncated: read from its beginning"
                    }
                };
                self.tell_source(source, says.into());
            }
            Seen::Trouble { kind, what } => {
                let fault = match kind {
                    std::io::ErrorKind::NotFound => None,
                    std::io::ErrorKind::PermissionDenied => Some(Fault::NoPermission(what.clone())),
                    _ => Some(Fault::Unreadable(what.clone())),
                };
                let says = fault.as_ref().map_or_else(|| "it is not there; waiting for it".into(), ToString::to_string);
                if let Some(log) = self.log(source) {
                    log.fault = fault;
                }
                self.tell_source(source, says);
                self.dirty = true;
            }
            Seen::Opened => {
                if let Some(log) = self.log(source) {
                    log.fault = None;
                }
                self.tell_source(source, "it can be read now".into());
            }
        }
    }

    /// Lets a source's lines give what they have.
    fn lines(&mut self, source: u32, work: impl FnOnce(&mut Lines, &mut dyn FnMut(Taken))) {
        let mut all = Vec::new();
        let Some(log) = self.log(source) else { return };
        work(&mut log.lines, &mut |taken| all.push(taken));
        let note = log.lines.note();
        for taken in all {
            self.observed(taken);
        }
        if let Some(note) = note {
            self.tell_source(source, note);
        }
    }

    fn observed(&mut self, taken: Taken) {
        let Taken { mut seen, text, .. } = taken;
        if let Some(unit) = self.units.iter().find(|unit| is_unit(&seen.unit, unit)) {
            seen.unit.clone_from(unit);
        }
        if !seen.host.is_empty() {
            let here = self.host.get_or_insert_with(|| seen.host.clone());
            if *here == seen.host {
                seen.host.clear();
            }
        }
        let says = !matches!(seen.fact, Fact::Line | Fact::Batch | Fact::Served { .. });
        self.texts.keep(seen.cite, text, says);
        match seen.fact {
            Fact::Batch => {}
            // Thousands a second of a server that works.
            Fact::Line | Fact::Served { .. } => self.stale = true,
            _ => self.dirty = true,
        }
        if self.caught_up || self.logs.len() == 1 {
            self.machine.take(&seen);
            return;
        }
        let source = seen.cite.source;
        match self.old.iter_mut().find(|(known, _)| *known == source) {
            Some((_, all)) => all.push(seen),
            None => self.old.push((source, vec![seen])),
        }
    }

    fn polled(&mut self, place: usize, attempt: &Attempt) {
        let Some(polls) = self.health.get_mut(place) else { return };
        let up = attempt.status.is_some_and(|status| (200..300).contains(&status));
        let what = match (&attempt.body, attempt.status) {
            (_, Some(status)) => format!("HTTP {status}"),
            (Err(failure), None) => failure.to_string(),
            (Ok(_), None) => "an answer without a status".into(),
        };
        let says = format!("{}: {what}", polls.asked.target.shown());
        let cite = polls.next();
        let latest = Latest { up, says: says.clone(), cite, from: attempt.at };
        let (unit, speaks, changed) = (polls.asked.unit.clone(), polls.speaks, polls.up != Some(up));
        polls.up = Some(up);
        polls.latest = Some(latest);
        self.texts.keep(cite, says.clone(), changed);
        let until = polls::until(attempt);
        if speaks {
            self.row(&unit, cite, attempt.at, until, Polled::Health { up });
        }
        self.dirty = true;
        if changed {
            let what = if up { What::HealthUp } else { What::HealthDown };
            self.tell(unit, what, says, vec![cite], until);
        }
    }

    fn scraped(&mut self, place: usize, scrape: Scrape) {
        let Some(polls) = self.metrics.get_mut(place) else { return };
        let Scrape { endpoint, from, until, process_start, reset, kv_in_use } = scrape;
        let up = endpoint.exposes.is_some();
        let what = match (&endpoint.exposes, &endpoint.failure) {
            (Some(exposes), _) => format!("{} families, {} series", exposes.families.len(), exposes.series),
            (None, Some(failure)) => failure.what.clone(),
            (None, None) => "nothing".into(),
        };
        let says = format!("{}: {what}", polls.asked.target.shown());
        let cite = polls.next();
        let (unit, speaks, before) = (polls.asked.unit.clone(), polls.speaks, polls.up);
        polls.up = Some(up);
        polls.latest = Some(Latest { up, says: says.clone(), cite, from });
        self.texts.keep(cite, says.clone(), before != Some(up));
        if let Some(newest) = self.newest.get_mut(place) {
            *newest = Some(Newest { unit: unit.clone(), endpoint, from, cite });
        }
        if speaks {
            self.row(&unit, cite, from, until, Polled::Scrape { up, process_start, reset, kv_in_use });
        }
        self.dirty = true;
        if before == Some(true) && !up {
            self.tell(unit, What::MetricsDown, says, vec![cite], until);
        }
    }

    fn row(&mut self, unit: &str, cite: Cite, from: i64, until: i64, what: Polled) {
        let row = Row { cite, host: String::new(), unit: unit.to_owned(), from: Stamp::new(from, 1), until: Stamp::new(until, 1), what };
        self.machine.take_row(&row);
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
            old.sort_by_key(|(_, all)| !all.iter().any(|seen| matches!(seen.fact, Fact::ServerArgs(_) | Fact::RuntimeBegan)));
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
        for change in self.changes.of(&self.history, &self.units, begins) {
            let cites = change.cites.iter().map(|cite| self.texts.cited(*cite)).collect();
            let super::changes::Change { unit, run, what, instant, again, says, .. } = change;
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

    fn tell_source(&mut self, source: u32, says: String) {
        let unit = self.logs.iter().find(|log| log.source == source).and_then(|log| log.unit.clone()).unwrap_or_default();
        let says = format!("{}: {says}", self.texts.name(source));
        self.tell(unit, What::Source, says, Vec::new(), self.follow.clock.wall());
    }

    fn tell(&mut self, unit: String, what: What, says: String, cites: Vec<Cite>, seen_at: i64) {
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

impl Log {
    fn new(source: u32, unit: Option<String>, lines: Lines) -> Log {
        Log { source, unit, lines, caught_up: false, fault: None, rotations: 0, truncations: 0 }
    }

    fn outcome(&self, texts: &Texts) -> SourceOutcome {
        SourceOutcome {
            name: texts.name(self.source).to_owned(),
            records: self.lines.records,
            lost: self.lines.lost,
            rotations: self.rotations,
            truncations: self.truncations,
            fault: self.fault.as_ref().map(ToString::to_string),
        }
    }
}

impl Polls {
    /// A citation of the attempt that just ended: its number, from 0.
    fn next(&mut self) -> Cite {
        self.attempts += 1;
        Cite { source: self.source, offset: self.attempts - 1, len: 0 }
    }

    fn outcome(&self, texts: &Texts) -> SourceOutcome {
        let fault = self.latest.as_ref().filter(|latest| !latest.up).map(|latest| latest.says.clone());
        SourceOutcome { name: texts.name(self.source).to_owned(), records: self.attempts, lost: 0, rotations: 0, truncations: 0, fault }
    }
}
