//! Claims about a unit, for scripts: they hold, they do not, or that cannot be known. A negative needs coverage.

use serde::Serialize;

use crate::history::{Invocation, Opened, Outage, Sign, TrapKind, UnitHistory, Verdict};
use crate::time::{Cite, Instant, Length, seconds_down, seconds_up};

/// What is claimed of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Every start was ready within so many nanoseconds.
    ReadyWithin(i64),
    /// From one run to the next the server was away for no longer than so many nanoseconds.
    OutageMax(i64),
    /// There was one run.
    NoRestarts,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Answer {
    Holds { says: String, cites: Vec<Cite> },
    DoesNotHold { says: String, cites: Vec<Cite> },
    CannotBeKnown { why: String, cites: Vec<Cite> },
}

impl Answer {
    /// 0, 1 or 4: for the end of a program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Answer::Holds { .. } => 0,
            Answer::DoesNotHold { .. } => 1,
            Answer::CannotBeKnown { .. } => 4,
        }
    }
}

/// Judges a claim by everything that was seen of a unit.
pub fn judge(unit: &UnitHistory, claim: Claim) -> Answer {
    if unit.invocations.is_empty() {
        return Answer::CannotBeKnown { why: "nothing of this unit was seen".into(), cites: Vec::new() };
    }
    match claim {
        Claim::ReadyWithin(limit) => all(&unit.invocations, |run| ready_within(run, limit), "every start was ready in time"),
        Claim::OutageMax(limit) => all(&unit.invocations, |run| outage(run, limit), "no outage was longer"),
        Claim::NoRestarts => no_restarts(unit),
    }
}

/// One that does not hold decides; then one that cannot be known.
fn all(runs: &[Invocation], judge: impl Fn(&Invocation) -> Option<Answer>, says: &str) -> Answer {
    let answers: Vec<Answer> = runs.iter().filter_map(judge).collect();
    if let Some(bad) = answers.iter().find(|answer| matches!(answer, Answer::DoesNotHold { .. })) {
        return bad.clone();
    }
    if let Some(open) = answers.iter().find(|answer| matches!(answer, Answer::CannotBeKnown { .. })) {
        return open.clone();
    }
    let cites = answers.into_iter().flat_map(|answer| match answer {
        Answer::Holds { cites, .. } => cites,
        _ => Vec::new(),
    });
    Answer::Holds { says: says.into(), cites: cites.collect() }
}

fn open(least: Option<i64>, most: Option<i64>) -> String {
    let text = |seconds: Option<String>| seconds.map_or("unknown".into(), |seconds| format!("{seconds} s"));
    format!("{} at least and {} at most", text(least.map(seconds_down)), text(most.map(seconds_up)))
}

fn compared(length: &Length, limit: i64, what: &str) -> Answer {
    let cites = length.cites.clone();
    match (length.least, length.most) {
        (Some(least), _) if least > limit => Answer::DoesNotHold {
            says: format!("{what} took at least {} s, more than {} s", seconds_down(least), seconds_down(limit)),
            cites,
        },
        (_, Some(most)) if most <= limit => Answer::Holds { says: format!("{what} took at most {} s", seconds_up(most.max(0))), cites },
        (least, most) => Answer::CannotBeKnown { why: format!("{what} took {}", open(least, most)), cites },
    }
}

/// A start counts if it was meant to run; what began before the log is judged by its lower bound alone.
fn ready_within(run: &Invocation, limit: i64) -> Option<Answer> {
    let first = |run: &Invocation| run.seen.iter().take(1).map(|(_, seen)| seen.first.cite).collect::<Vec<_>>();
    match run.verdict {
        Verdict::Skipped => return None,
        Verdict::NeverStarted | Verdict::NeverRan | Verdict::NeverReady if run.instants.ready.upper().is_none() => {
            if let Instant::Unknown { why } = &run.instants.ready {
                return Some(Answer::CannotBeKnown { why: why.clone(), cites: first(run) });
            }
            return Some(Answer::DoesNotHold { says: "a run ended without ever being ready".into(), cites: first(run) });
        }
        _ => {}
    }
    match (&run.lengths.start_to_ready, &run.instants.ready) {
        (Ok(length), _) => Some(compared(length, limit, "a start")),
        (Err(_), Instant::Never { why }) => Some(match &run.lengths.waited {
            Ok(waited) if waited.least.is_some_and(|least| least > limit) => compared(waited, limit, "a start that is not ready yet"),
            _ => Answer::CannotBeKnown { why: why.clone(), cites: first(run) },
        }),
        // A failed warm-up is an answer: the server is not well.
        (Err(why), _) if run.verdict == Verdict::ReadyLineAfterFailedWarmup => {
            let cites = run.traps.iter().filter(|trap| trap.kind == TrapKind::ReadyAfterFailedWarmup).flat_map(|trap| trap.cites.clone());
            Some(Answer::DoesNotHold { says: why.clone(), cites: cites.collect() })
        }
        (Err(why), _) => Some(Answer::CannotBeKnown { why: why.clone(), cites: first(run) }),
    }
}

/// A server is away at least from its end to its readiness, and at most for the outage's window.
fn outage(run: &Invocation, limit: i64) -> Option<Answer> {
    let outage = run.outage.as_ref()?;
    if let Ok(gone) = &outage.end_to_ready
        && let Some(least) = gone.least.filter(|least| *least > limit)
    {
        let says = format!("no process was ready for at least {} s, more than {} s", seconds_down(least), seconds_down(limit));
        return Some(Answer::DoesNotHold { says, cites: gone.cites.clone() });
    }
    let window = outage.window.as_ref().filter(|away| away.by != Sign::Line);
    let longest = window.and_then(|away| away.length.as_ref().ok()).and_then(|length| Some((length.most?, length)));
    if let Some((most, length)) = longest
        && most <= limit
    {
        let says = format!("away for at most {} s", seconds_up(most.max(0)));
        return Some(Answer::Holds { says, cites: length.cites.clone() });
    }
    if let Instant::Never { why } = &run.instants.ready {
        return Some(not_back(run, why, outage, limit));
    }
    let least = outage.end_to_ready.as_ref().ok().and_then(|length| length.least);
    let why = format!("away for {}", open(least, longest.map(|(most, _)| most)));
    let cites = outage.end_to_ready.as_ref().or(outage.served_to_ready.as_ref()).map(|length| length.cites.clone());
    Some(Answer::CannotBeKnown { why, cites: cites.unwrap_or_default() })
}

/// A run that is not ready: the way to it is longer than what was waited, or than its life.
fn not_back(run: &Invocation, why: &str, outage: &Outage, limit: i64) -> Answer {
    let waited = run.lengths.waited.as_ref().ok().and_then(|length| Some((length.least?, length)));
    let away = outage.end_to_start.as_ref().ok().and_then(|length| length.least).unwrap_or(0).max(0);
    match waited {
        Some((least, length)) if least.saturating_add(away) > limit => {
            let says = format!("not ready again after at least {} s", seconds_down(least.saturating_add(away)));
            Answer::DoesNotHold { says, cites: length.cites.clone() }
        }
        _ => Answer::CannotBeKnown { why: why.to_owned(), cites: run.instants.started.cites() },
    }
}

fn no_restarts(unit: &UnitHistory) -> Answer {
    let ran: Vec<&Invocation> = unit.invocations.iter().filter(|run| run.opened != Opened::NotStarted).collect();
    let restarts: Vec<&Invocation> = ran.iter().skip(1).filter(|run| run.outage.is_some()).copied().collect();
    if !restarts.is_empty() {
        let cites = restarts.iter().filter_map(|run| run.instants.started.upper()).map(|mark| mark.cite).collect();
        return Answer::DoesNotHold { says: format!("{} restarts", restarts.len()), cites };
    }
    let unlogged = ran.iter().flat_map(|run| &run.traps).find(|trap| trap.kind == TrapKind::RestartNotInLog);
    if let Some(trap) = unlogged {
        return Answer::DoesNotHold { says: "scrapes are of more than one process".into(), cites: trap.cites.clone() };
    }
    if let Some([first, last]) = unit.one_process {
        let says = "every scrape is of one process, by its own start".into();
        return Answer::Holds { says, cites: vec![first.cite, last.cite] };
    }
    if ran.len() > 1 {
        return Answer::CannotBeKnown { why: "several servers write under this name".into(), cites: Vec::new() };
    }
    if let Some(lost) = unit.dropped.first() {
        return Answer::CannotBeKnown { why: "journald dropped lines of the unit".into(), cites: vec![lost.said.cite] };
    }
    if let Some(why) = unit.cannot_say.first() {
        return Answer::CannotBeKnown { why: why.why.clone(), cites: why.cites.clone() };
    }
    let Some(run) = ran.first() else {
        return Answer::CannotBeKnown { why: "nothing of this unit ran".into(), cites: Vec::new() };
    };
    match run.opened {
        // Between two polls a restart that is shorter than their distance is not seen.
        Opened::ByRows => {
            Answer::CannotBeKnown { why: "seen from outside only: a restart between two rows is not seen".into(), cites: Vec::new() }
        }
        _ => Answer::Holds {
            says: "one run from the first record to the last".into(),
            cites: run.seen.iter().map(|(_, seen)| seen.first.cite).take(1).chain(unit.last.map(|mark| mark.cite)).collect(),
        },
    }
}
