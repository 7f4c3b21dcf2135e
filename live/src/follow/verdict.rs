//! Does the requirement hold for a unit, has it failed, or is it still to come?

use corr_readiness::history::{CrashLoop, History, Invocation, Opened, Point, TrapKind, UnitHistory, Verdict};
use corr_readiness::{Cite, Instant};

use super::back::is_unit;
use super::changes::{how, last_words, never, over};

/// What must be so, of the newest run of every unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Require {
    /// Its ready line (or a client's answer, or a good health poll where no log says more), and the newest health poll where there are any.
    #[default]
    Ready,
    /// A client was answered.
    Served,
    /// Its metrics are served, which is so before it is ready.
    Metrics,
}

/// What is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Holds,
    Failed,
    /// It may still come.
    Waits,
    /// Nothing that is watched can say it.
    CannotBeKnown,
}

/// A state and what says so.
#[derive(Clone, Debug)]
pub struct Judged {
    pub state: State,
    pub says: String,
    pub cites: Vec<Cite>,
}

impl Judged {
    fn new(state: State, says: impl Into<String>, cites: Vec<Cite>) -> Judged {
        Judged { state, says: says.into(), cites }
    }
}

/// A unit when following began: what had failed by then is no failure of a start that is still to come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Base {
    pub runs: usize,
    pub over: bool,
}

/// The newest attempt at an endpoint.
#[derive(Clone, Debug)]
pub struct Latest {
    pub up: bool,
    pub says: String,
    pub cite: Cite,
    /// Its begin, nanoseconds since the epoch.
    pub from: i64,
}

/// What is known of a unit beside its history.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// A health endpoint is polled; its newest poll.
    pub polls: bool,
    pub health: Option<Latest>,
    pub scrapes: bool,
    pub metrics: Option<Latest>,
    /// All its sources are of no use, and why.
    pub dead: Option<String>,
}

/// The units of a history that have this name: of several hosts, several.
pub fn named<'h>(history: &'h History, unit: &'h str) -> impl Iterator<Item = &'h UnitHistory> {
    history.units.iter().filter(move |known| is_unit(&known.unit, unit) && !known.invocations.is_empty())
}

/// A unit's state when following begins.
pub fn base(history: &History, unit: &str) -> Base {
    let Some(unit) = named(history, unit).next() else { return Base::default() };
    // What had crashed by then is over too, whether or not a line says so.
    let is_over = |run: &Invocation| over(unit, unit.invocations.len() - 1, run) || run.first(Point::Crashed).is_some();
    let over = unit.invocations.last().is_some_and(is_over);
    Base { runs: unit.invocations.len(), over }
}

/// Judges one unit by everything seen so far. Of several hosts that have it, the worst counts.
pub fn judge(history: &History, name: &str, require: Require, base: Base, beside: &Beside) -> Judged {
    let mut all: Vec<Judged> = named(history, name).map(|unit| one(unit, require, base, beside)).collect();
    if all.is_empty() {
        if let Some(why) = &beside.dead {
            return Judged::new(State::CannotBeKnown, why, Vec::new());
        }
        if require == Require::Metrics
            && let Some(latest) = beside.metrics.as_ref().filter(|latest| latest.up)
        {
            return Judged::new(State::Holds, "its metrics are live", vec![latest.cite]);
        }
        let health = beside.health.as_ref().or(beside.metrics.as_ref());
        let (says, cites) = match health {
            Some(latest) => (format!("nothing of it was seen; {}", latest.says), vec![latest.cite]),
            None => ("nothing of it was seen".into(), Vec::new()),
        };
        return Judged::new(State::Waits, says, cites);
    }
    let rank = |judged: &Judged| match judged.state {
        State::Failed => 0,
        State::CannotBeKnown => 1,
        State::Waits => 2,
        State::Holds => 3,
    };
    all.sort_by_key(rank);
    all.swap_remove(0)
}

fn one(unit: &UnitHistory, require: Require, base: Base, beside: &Beside) -> Judged {
    let Some((at, run)) = unit.invocations.iter().enumerate().next_back() else {
        return Judged::new(State::Waits, "nothing of it was seen", Vec::new());
    };
    // A failure that was there before following began is not what is waited for.
    let is_new = at >= base.runs || !base.over;
    if is_new && let Some(failed) = failed(unit, at, base, beside) {
        return failed;
    }
    if over(unit, at, run) {
        let how = how(run);
        let how = if how.is_empty() { String::new() } else { format!(" ({how})") };
        let found = unit.loops.iter().find(|found| found.last == at).map(|found| format!("; {}", loop_words(found)));
        let says = format!("it ended{how}, and was not started again{}", found.unwrap_or_default());
        return Judged::new(State::Waits, says, last_words(run));
    }
    if run.first(Point::Stopping).or(run.first(Point::Sigterm)).is_some() {
        return Judged::new(State::Waits, "it was asked to stop", run.instants.asked.cites());
    }
    if run.first(Point::ShutsDown).is_some() {
        return Judged::new(State::Waits, "it shuts down", run.instants.stopping.cites());
    }
    let held = match require {
        Require::Ready => &run.instants.ready,
        Require::Served => &run.instants.first_served,
        Require::Metrics => &run.instants.metrics_live,
    };
    if held.happened() {
        let mut judged = now(require, held, beside);
        let managed = unit.invocations.iter().any(|run| run.first(Point::Started).or(run.first(Point::Starting)).is_some());
        if judged.state == State::Holds && at < base.runs && !managed && !beside.polls && !beside.scrapes {
            judged.says += "; it was when following began, and a log alone does not tell that its process still runs";
        }
        return judged;
    }
    // No scrape failed between two runs: the newest one is of this run if it began after it.
    let started = run.instants.started.upper().and_then(|mark| mark.wall);
    if require == Require::Metrics
        && let Some(latest) = beside.metrics.as_ref().filter(|latest| latest.up && started.is_some_and(|at| at.end <= latest.from))
    {
        return Judged::new(State::Holds, "its metrics are live", vec![latest.cite]);
    }
    if require != Require::Metrics && run.verdict == Verdict::NoReadyLineOfItsOwn && !beside.polls {
        let says = "a node of a rank above 0 has no HTTP server and prints no ready line: ask the first node";
        return Judged::new(State::CannotBeKnown, says, run.instants.started.cites());
    }
    if let Some(why) = &beside.dead {
        return Judged::new(State::CannotBeKnown, why, Vec::new());
    }
    Judged::new(State::Waits, waits(run, require, beside), run.instants.started.cites())
}

/// It was so in this run. Is it, as far as the newest poll says?
fn now(require: Require, held: &Instant, beside: &Beside) -> Judged {
    let (polled, newest, word) = match require {
        Require::Metrics => (beside.scrapes, &beside.metrics, "its metrics are live"),
        Require::Ready => (beside.polls, &beside.health, "it is ready"),
        Require::Served => (beside.polls, &beside.health, "it served"),
    };
    let mut cites = held.cites();
    let why = match held {
        Instant::AtMost { why, .. } | Instant::Within { why, .. } => format!(": {why}"),
        _ => String::new(),
    };
    match newest {
        Some(latest) if latest.up => {
            cites.push(latest.cite);
            Judged::new(State::Holds, format!("{word}{why}"), cites)
        }
        Some(latest) => {
            cites.push(latest.cite);
            Judged::new(State::Waits, format!("{word} by its log; {}", latest.says), cites)
        }
        None if polled => Judged::new(State::Waits, format!("{word} by its log; no poll has ended yet"), cites),
        None => Judged::new(State::Holds, format!("{word}{why}"), cites),
    }
}

fn loop_words(found: &CrashLoop) -> String {
    let gave_up = if found.gave_up { ", systemd gave up" } else { "" };
    format!("crash loop: {} starts, {} exits, {} ready{gave_up}", found.starts, found.exits, found.ready)
}

/// The newest run's failure, if it failed.
fn failed(unit: &UnitHistory, at: usize, base: Base, beside: &Beside) -> Option<Judged> {
    let run = unit.invocations.get(at)?;
    let asked = [Point::Stopping, Point::Sigterm, Point::SignalSent].iter().any(|point| run.first(*point).is_some());
    let ready = run.instants.ready.happened();
    if let Some(found) = unit.loops.iter().find(|found| found.last == at && at >= base.runs) {
        return Some(Judged::new(State::Failed, loop_words(found), found.cites.clone()));
    }
    match run.verdict {
        Verdict::NeverRan | Verdict::NeverStarted => return Some(Judged::new(State::Failed, never(run), last_words(run))),
        Verdict::Skipped => return Some(Judged::new(State::Failed, "its start was skipped: a condition was not met", last_words(run))),
        Verdict::ReadyLineAfterFailedWarmup if !ready => {
            let trap = run.traps.iter().find(|trap| trap.kind == TrapKind::ReadyAfterFailedWarmup);
            let (says, cites) = trap.map(|trap| (trap.says.clone(), trap.cites.clone())).unwrap_or_default();
            return Some(Judged::new(State::Failed, says, cites));
        }
        _ => {}
    }
    // What was asked for may be half of a restart.
    if asked {
        return None;
    }
    let how = how(run);
    let how = if how.is_empty() { String::new() } else { format!(": {how}") };
    if over(unit, at, run) {
        let says = if ready { format!("it was ready, and ended{how}") } else { never(run) };
        return Some(Judged::new(State::Failed, says, last_words(run)));
    }
    if let Some(crashed) = run.first(Point::Crashed) {
        // A server may survive an exception; its start does not, nor one that does not answer any more.
        let answers = beside.health.as_ref().is_some_and(|latest| latest.up);
        let is_later = run.instants.ready.upper().is_some_and(|ready| ready.before(&crashed));
        if (ready && !is_later) || answers {
            return None;
        }
        let says = if ready { "it was ready, and a process of it failed" } else { "its start failed: a process of it said so" };
        return Some(Judged::new(State::Failed, says, last_words(run)));
    }
    None
}

fn waits(run: &Invocation, require: Require, beside: &Beside) -> String {
    let i = &run.instants;
    let stage = if run.opened == Opened::ByRows {
        "seen from outside only"
    } else if i.ready.happened() {
        "ready"
    } else if i.listening.happened() {
        "listening"
    } else if i.loaded.happened() {
        "weights are loaded"
    } else if i.loading.happened() {
        "loading weights"
    } else if run.verdict == Verdict::StartNotInLog {
        "its start is not in the log, and it may have been ready before"
    } else {
        "started"
    };
    let lacks = match require {
        Require::Ready => "not ready",
        Require::Served => "no client was answered",
        Require::Metrics => "no scrape found its metrics",
    };
    let polled = if require == Require::Metrics { &beside.metrics } else { &beside.health };
    let polled = polled.as_ref().filter(|latest| !latest.up).map(|latest| format!("; {}", latest.says)).unwrap_or_default();
    format!("{stage}; {lacks}{polled}")
}

/// At the end of the time: was it looked for where it would have been seen?
pub fn could_be_seen(history: &History, name: &str, require: Require, beside: &Beside) -> Result<(), String> {
    let Some(unit) = named(history, name).next() else {
        // A server that is polled and does not answer is not there; of a log that is silent nothing is known.
        return if beside.polls || beside.scrapes {
            Ok(())
        } else {
            let others: Vec<&str> = history.units.iter().map(|unit| unit.unit.as_str()).take(8).collect();
            let others = if others.is_empty() { String::new() } else { format!(" (seen: {})", others.join(", ")) };
            Err(format!("nothing of this unit was seen: is that its name, and are these its sources?{others}"))
        };
    };
    let Some(run) = unit.invocations.last() else { return Ok(()) };
    if require == Require::Metrics || beside.polls {
        return Ok(());
    }
    match &run.instants.ready {
        Instant::Unknown { why } if run.opened != Opened::ByRows || require == Require::Ready => Err(why.clone()),
        _ if run.opened == Opened::ByRows && require == Require::Served => {
            Err("answers to clients are in its log, which is not followed".into())
        }
        _ => Ok(()),
    }
}
