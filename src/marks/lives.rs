//! Lives of servers as marks: started, loaded, ready or never, asked to stop, ended, noticed to be gone by others, and how long it was away.

use corr_readiness::history::{Cause, Invocation, Trap, TrapKind, Verdict};
use corr_readiness::{History, Instant, Mark as Moment};

use super::{By, Draft};
use crate::readiness::{is_server, windows};
use crate::render::readiness::words;
use crate::timeline::{Known, Mark};

/// Every mark of every server.
pub fn drafts(history: &History) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for unit in history.units.iter().filter(|unit| is_server(unit)) {
        let name = windows::name_of(&history.units, unit);
        for ((at, run), outage) in unit.invocations.iter().enumerate().zip(windows::numbers(unit)) {
            let of = Of { name: &name, number: at + 1, run };
            drafts.extend(outage.and_then(|number| of.outage(windows::before(unit, at), number)));
            of.life(&mut drafts);
        }
    }
    drafts
}

/// One run of one unit.
struct Of<'r> {
    name: &'r str,
    number: usize,
    run: &'r Invocation,
}

impl Of<'_> {
    fn life(&self, drafts: &mut Vec<Draft>) {
        let (run, instants, lengths) = (self.run, &self.run.instants, &self.run.lengths);
        let started = match &run.cause {
            // The same words say why it is no exact instant.
            Cause::StartNotInLog => "was there".to_string(),
            cause => format!("started, cause: {}", words::cause(cause)),
        };
        drafts.extend(self.happened(&instants.started, Mark::Start, "life.started", started));
        drafts.extend(self.happened(&instants.loaded, Mark::Loaded, "life.loaded", "loaded its model".into()));
        let after = lengths.start_to_ready.as_ref().map_or(String::new(), |l| format!(", {} after its start", words::length(l)));
        drafts.extend(self.happened(&instants.ready, Mark::Ready, "life.ready", format!("ready{after}")));
        drafts.extend(self.not_ready());
        drafts.extend(run.traps.iter().filter_map(|trap| self.trap(trap)));
        let stop = if instants.asked.happened() { (&instants.asked, "asked to stop") } else { (&instants.stopping, "began to stop") };
        drafts.extend(self.happened(stop.0, Mark::Stop, "life.stop", stop.1.into()));
        if let Some(lost) = run.lost_by_others {
            let says = match instants.asked.upper().or(instants.stopping.upper()).is_some_and(|stop| stop.before(&lost)) {
                true => "lost, as another process saw it, after its stop began",
                false => "lost, as another process saw it",
            };
            drafts.push(self.draft(Known::Exact, Mark::NotReady, "life.lost", says.into(), lost, None));
        }
        let how = [("exit", &run.exit), ("result", &run.result)];
        let how: String = how.iter().filter_map(|(name, value)| Some(format!("; {name} {}", value.as_ref()?))).collect();
        let took = lengths.stop_to_end.as_ref().map_or(String::new(), |l| format!(", {} after it began to stop", words::length(l)));
        drafts.extend(self.happened(
            &instants.ended,
            self.end(),
            "life.ended",
            format!("ended ({}){took}{how}", words::verdict(run.verdict)),
        ));
    }

    /// How its end is marked: one that nobody asked for, or before it was ready, is a failure.
    fn end(&self) -> Mark {
        match self.run.verdict {
            Verdict::ReadyThenDied | Verdict::NeverReady | Verdict::NeverRan | Verdict::NeverStarted => Mark::Failure,
            _ => Mark::Stop,
        }
    }

    /// That it was never ready, or that it cannot be known, stands at the last record of it that there is.
    fn not_ready(&self) -> Option<Draft> {
        let instants = &self.run.instants;
        let says = match &instants.ready {
            Instant::Never { why } => format!("never ready: {why}"),
            Instant::Unknown { why } => format!("whether it was ready cannot be known: {why}"),
            Instant::AtLeast { mark, why } => {
                return Some(self.draft(Known::Exact, Mark::NotReady, "life.not_ready", format!("not ready by then: {why}"), *mark, None));
            }
            Instant::Exact { .. } | Instant::AtMost { .. } | Instant::Within { .. } => return None,
        };
        let seen = self.run.seen.iter().map(|(_, seen)| seen.last);
        let last = instants.ended.upper().copied().or_else(|| seen.max_by_key(|mark| (mark.wall.map(|w| w.end), mark.order)))?;
        Some(self.draft(Known::Exact, Mark::NotReady, "life.not_ready", says, last, None))
    }

    /// Changes that no instant of a life is: a restart of which the log has nothing, and a server that was ready and is no longer.
    fn trap(&self, trap: &Trap) -> Option<Draft> {
        let (mark, kind) = match trap.kind {
            TrapKind::RestartNotInLog => (Mark::Start, "life.restarted"),
            TrapKind::ReadyThenLost => (Mark::NotReady, "life.failing"),
            _ => return None,
        };
        let says = format!("run {} of {}: {}", self.number, self.name, trap.says);
        let (first, last) = (*trap.cites.first()?, trap.cites.get(1).copied());
        let known = if last.is_some() { Known::Within } else { Known::Exact };
        Some(Draft { known, mark, kind, says, whose: Some(self.name.into()), first: By::Cite(first), last: last.map(By::Cite) })
    }

    /// The outage before it: the window that `outage:UNIT#N` is, with its records and its length.
    fn outage(&self, old: usize, number: usize) -> Option<Draft> {
        let away = self.run.outage.as_ref()?.window.as_ref()?;
        away.span()?;
        let took = away.length.as_ref().map_or(String::new(), |l| format!(", {}", words::length(l)));
        let known = if away.until.is_some() { Known::Lasting } else { Known::Exact };
        let says = format!("outage:{}#{number}: {}{took}", self.name, words::away(away, old, self.number));
        Some(Draft { says, ..self.draft(known, Mark::Outage, "life.outage", String::new(), away.since, away.until) })
    }

    /// A mark of what happened, as well as its instant is known.
    fn happened(&self, instant: &Instant, mark: Mark, kind: &'static str, says: String) -> Option<Draft> {
        let (known, first, last) = match instant {
            Instant::Exact { mark } => (Known::Exact, mark, None),
            Instant::AtMost { mark, .. } => (Known::By, mark, None),
            Instant::Within { after, before, .. } => (Known::Within, after, Some(*before)),
            Instant::AtLeast { .. } | Instant::Never { .. } | Instant::Unknown { .. } => return None,
        };
        let why = words::why(instant).map_or(String::new(), |why| format!(" ({why})"));
        Some(self.draft(known, mark, kind, format!("{says}{why}"), *first, last))
    }

    fn draft(&self, known: Known, mark: Mark, kind: &'static str, says: String, first: Moment, last: Option<Moment>) -> Draft {
        let says = format!("run {} of {}: {says}", self.number, self.name);
        Draft { known, mark, kind, says, whose: Some(self.name.into()), first: By::Moment(first), last: last.map(By::Moment) }
    }
}
