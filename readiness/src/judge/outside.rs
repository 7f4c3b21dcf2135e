//! What polls, scrapes and clients add: intervals, never points. A log's own line beats a poll; where they contradict, both are kept.

use corr_parsers::stamp::{SECOND, Stamp};

use super::Known;
use crate::history::{Cause, Ending, Instants, Invocation, Lengths, Opened, Outage, Point, Trap, TrapKind, Verdict};
use crate::rows::{Change, Changes, Watch};
use crate::time::{Instant, Mark};

const POLL: &str = "between the last failed and the first good poll";
const SCRAPE: &str = "between the last failed and the first good scrape";
const CLIENT: &str = "between a client's last failure and its first success";

/// First and last moment of a run's window: from its first sign to the next run's.
struct Window<'a> {
    from: Option<&'a Mark>,
    until: Option<&'a Mark>,
}

impl Window<'_> {
    /// Is the first attempt that found a new state of this run?
    fn holds(&self, change: &Change) -> bool {
        let after = self.from.is_none_or(|from| !ends_before(&change.first, from));
        let before = self.until.is_none_or(|until| ends_before(&change.first, until));
        after && before
    }

    /// The first change to up in the window. `None` too where it was up when the window began.
    fn up<'c>(&self, changes: &'c Changes) -> Option<&'c Change> {
        changes.all.iter().find(|change| change.up && self.holds(change))
    }
}

/// Does a lie before the begin of b, by stamps?
fn ends_before(a: &Mark, b: &Mark) -> bool {
    match (a.wall, b.wall) {
        (Some(a), Some(b)) => a.end <= b.start,
        _ => false,
    }
}

/// Adds what was seen from outside to runs of a log.
pub(crate) fn join(watch: &Watch, invocations: &mut [Invocation], known: &Known<'_>) {
    if watch.is_empty() {
        return;
    }
    let starts: Vec<Option<Mark>> = invocations.iter().map(|run| run.seen.iter().map(|(_, seen)| seen.first).reduce(older)).collect();
    let window = |at: usize| Window { from: of(&starts, at), until: of(&starts, at + 1) };
    let mut over = vec![false; invocations.len()];
    for ((at, run), over) in invocations.iter_mut().enumerate().zip(&mut over) {
        let window = window(at);
        ready(watch, &window, run);
        clients(watch, &window, run);
        run.last_answered = answered(&watch.health, &window);
        *over = ended(&watch.health, &window, run);
    }
    // Before scrapes are taken: whoever asks for the window has logs and polls alone.
    each_pair(invocations, |old, new| {
        if let Some(outage) = &mut new.outage {
            outage.window = super::away(old, &new.instants, known);
        }
    });
    for ((at, run), over) in invocations.iter_mut().enumerate().zip(over) {
        let window = window(at);
        metrics(watch, &window, run);
        if !over {
            ended(&watch.scrapes, &window, run);
        }
        let Instants { started, ready, first_served, ended, .. } = &run.instants;
        run.lengths.start_to_ready = known.length(started, ready);
        run.lengths.ready_to_served = known.length(ready, first_served);
        run.lengths.ready_for = known.length(ready, ended);
    }
    unlogged(watch, &starts, invocations);
    each_pair(invocations, |old, new| {
        if let Some(outage) = new.outage.take() {
            new.outage = Some(Outage { window: outage.window, ..super::outage(old, &new.instants, known) });
        }
    });
}

fn of(starts: &[Option<Mark>], at: usize) -> Option<&Mark> {
    starts.get(at).and_then(Option::as_ref)
}

/// Each run with the one before it that had a process.
fn each_pair(invocations: &mut [Invocation], mut with: impl FnMut(&Invocation, &mut Invocation)) {
    for at in 1..invocations.len() {
        let (old, new) = invocations.split_at_mut(at);
        let old = old.iter().rfind(|run| run.opened != Opened::NotStarted);
        if let (Some(old), Some(new)) = (old, new.first_mut()) {
            with(old, new);
        }
    }
}

/// Scrapes of another process, of which the log has no start: two lives stand in one run.
fn unlogged(watch: &Watch, starts: &[Option<Mark>], invocations: &mut [Invocation]) {
    // Who scraped first saw no restart.
    let first = usize::from(watch.process_starts.first().is_some_and(|(start, _)| start.is_some()));
    for ((_, change), before) in watch.process_starts.iter().zip(&watch.answered_before).skip(first) {
        let Some(before) = *before else { continue };
        let between = |mark: &Mark| !ends_before(mark, &before) && !ends_before(&change.first, mark);
        if starts.iter().skip(1).flatten().any(between) {
            continue;
        }
        let at = starts.iter().rposition(|start| start.as_ref().is_some_and(|start| ends_before(start, &change.first)));
        if let Some(run) = at.and_then(|at| invocations.get_mut(at)) {
            let says = "scrapes are of another process from some moment on, and no line of the log is of its start: two lives in one run";
            let cites = vec![before.cite, change.first.cite];
            run.traps.push(Trap { kind: TrapKind::RestartNotInLog, says: says.into(), cites });
        }
    }
}

fn older(a: Mark, b: Mark) -> Mark {
    if b.order < a.order { b } else { a }
}

fn ready(watch: &Watch, window: &Window<'_>, run: &mut Invocation) {
    let Some(change) = window.up(&watch.health) else { return };
    match &run.instants.ready {
        Instant::Exact { mark } => {
            // A poll that was good before the line, or failed after it, says other than the log.
            let early = ends_before(&change.first, mark);
            let late = change.last_other.as_ref().is_some_and(|failed| ends_before(mark, failed));
            if early || late {
                let says = if early {
                    "a health poll was good before the ready line: the polled address may be another process's, or the clocks differ"
                } else {
                    "a health poll failed after the ready line"
                };
                let cites = [Some(mark.cite), change.last_other.map(|mark| mark.cite), Some(change.first.cite)];
                run.traps.push(Trap { kind: TrapKind::PollContradicts, says: says.into(), cites: cites.into_iter().flatten().collect() });
            }
        }
        Instant::Never { .. } if run.verdict == Verdict::NeverRan => {}
        Instant::Never { .. } | Instant::Unknown { .. } => {
            run.instants.ready = change.instant(POLL);
            let asked = run.instants.stops();
            run.verdict = match run.verdict {
                Verdict::NotReadyYet | Verdict::StartNotInLog | Verdict::WorkedWithoutReadyLine => Verdict::Ready,
                Verdict::NeverReady if asked => Verdict::ReadyThenStopped,
                Verdict::NeverReady => Verdict::ReadyThenDied,
                other => other,
            };
            let says = "no ready line counts: a health poll was good".into();
            run.traps.retain(|trap| trap.kind != TrapKind::StaleReadyLine);
            run.traps.push(Trap { kind: TrapKind::ReadyLineMissing, says, cites: run.instants.ready.cites() });
        }
        Instant::AtMost { mark, .. } | Instant::Within { before: mark, .. } => {
            let mark = *mark;
            if ends_before(&change.first, &mark) || change.last_other.is_some() {
                let upper = if ends_before(&mark, &change.first) { mark } else { change.first };
                run.instants.ready = Instant::bounds(change.last_other, Some(upper), POLL);
            }
        }
        Instant::AtLeast { .. } => {}
    }
}

fn metrics(watch: &Watch, window: &Window<'_>, run: &mut Invocation) {
    if watch.scrapes.rows == 0 {
        return;
    }
    // The kernel's start of a process, as its metrics tell it: in whole seconds of the boot's time.
    let process = watch.process_starts.iter().find_map(|(start, change)| start.filter(|_| window.holds(change)).zip(Some(change)));
    if let (Some((start, change)), true) = (process, run.opened != Opened::ByManager) {
        let wall = Stamp { start: start.saturating_sub(SECOND), end: start.saturating_add(SECOND) };
        run.instants.started = Instant::Exact { mark: Mark { wall: Some(wall), ..change.first } };
    }
    run.instants.metrics_live = match window.up(&watch.scrapes) {
        Some(change) => change.instant(SCRAPE),
        // Nothing failed in between: a new process answered the next scrape.
        None => match watch.process_starts.iter().find(|(_, change)| window.holds(change)) {
            Some((_, change)) => change.instant("between two scrapes, of which the second is of a new process"),
            None => Instant::unknown("no scrape found it live in this run"),
        },
    };
    run.instants.first_kv = match window.up(&watch.kv) {
        Some(change) => change.instant("between two scrapes: the gauge was zero or absent in the first"),
        None if watch.kv.rows == 0 => Instant::unknown("no scrape has a KV gauge"),
        None => Instant::never("no scrape of this run has a KV gauge above zero"),
    };
}

fn clients(watch: &Watch, window: &Window<'_>, run: &mut Invocation) {
    if let Some(change) = window.up(&watch.clients)
        && !run.instants.first_served.happened()
    {
        run.instants.first_served = change.instant(CLIENT);
        // Whoever answers a client is ready, whether or not a line says so.
        let open = matches!(run.instants.ready, Instant::Never { .. } | Instant::Unknown { .. });
        if open
            && matches!(run.verdict, Verdict::NotReadyYet | Verdict::NeverReady | Verdict::StartNotInLog | Verdict::WorkedWithoutReadyLine)
        {
            run.instants.ready = Instant::AtMost { mark: change.first, why: "no ready line; a client was answered" };
            run.verdict = Verdict::ServedWithoutReadyLine;
            let says = "the ready line is missing: ready no later than the first answer to a client".into();
            run.traps.retain(|trap| trap.kind != TrapKind::StaleReadyLine);
            run.traps.push(Trap { kind: TrapKind::ReadyLineMissing, says, cites: vec![change.first.cite] });
        }
    }
}

/// The last poll that a run answered before one that it did not.
fn answered(polls: &Changes, window: &Window<'_>) -> Option<Mark> {
    let downs = polls.all.iter().filter(|change| !change.up).filter_map(|change| change.last_other);
    let mut of_it = downs.filter(|last| window.from.is_none_or(|from| !ends_before(last, from)));
    of_it.rfind(|last| window.until.is_none_or(|until| ends_before(last, until)))
}

/// A process that says nothing of its end: that it was there is known up to its last answer. Is that what these rows show?
fn ended(changes: &Changes, window: &Window<'_>, run: &mut Invocation) -> bool {
    if !matches!(run.instants.ended, Instant::Never { .. } | Instant::AtLeast { .. }) {
        return false;
    }
    let up = changes.all.iter().position(|change| change.up && window.holds(change));
    let down = up.and_then(|at| changes.all.get(at + 1)).filter(|change| !change.up && window.holds(change));
    // A process that writes after it did not answer had not ended then.
    let writes = |change: &Change| run.last(Point::Line).is_some_and(|last| ends_before(&change.first, &last));
    if let Some(change) = down.filter(|change| !writes(change)) {
        let lower = run.instants.ended.lower().copied();
        let latest = |a: Option<Mark>, b: Option<Mark>| match (a, b) {
            (Some(a), Some(b)) => Some(if ends_before(&a, &b) { b } else { a }),
            (a, b) => a.or(b),
        };
        // Whoever answers that it is not well is there.
        let lower = latest(latest(lower, change.last_other), change.answered);
        // A server closes its port before its process ends: that is no upper bound.
        if let Some(mark) = lower {
            run.instants.ended = Instant::AtLeast { mark, why: "it stopped answering after this; when its process ended is not said" };
        }
        let to_the_end = changes.all.last().is_some_and(|last| last.first.order == change.first.order);
        if to_the_end && !run.instants.stops() {
            let says = match change.answered {
                Some(_) => "its health was never good again, though it answered, and nobody asked it to stop",
                None => "it stopped answering, nobody asked it to stop, and it never answered again",
            };
            let says = says.into();
            let cites = change.last_other.into_iter().chain([change.first]).map(|mark| mark.cite).collect();
            run.traps.push(Trap { kind: TrapKind::ReadyThenLost, says, cites });
        }
        return true;
    }
    false
}

/// Runs of a unit of which no log is at hand.
pub(crate) fn alone(watch: &Watch, known: &Known<'_>) -> Vec<Invocation> {
    if watch.is_empty() {
        return Vec::new();
    }
    let changes = if watch.health.rows > 0 {
        &watch.health
    } else if watch.scrapes.rows > 0 {
        &watch.scrapes
    } else {
        &watch.clients
    };
    let is_health = watch.health.rows > 0;
    let mut runs: Vec<Invocation> = Vec::new();
    let begins = watch.begins(changes);
    for (at, change) in begins.iter().enumerate() {
        let until = begins.get(at + 1).map(|next| next.first);
        let down = changes.all.iter().find(|down| !down.up && ends_before(&change.first, &down.first));
        let down = down.filter(|down| until.is_none_or(|until| ends_before(&down.first, &until)));
        let window = Window { from: change.last_other.as_ref().or(Some(&change.first)), until: until.as_ref() };
        let found = change.instant(if is_health { POLL } else { SCRAPE });
        let unwell = down.and_then(|down| down.answered);
        let ended = match (down, begins.get(at + 1)) {
            (Some(Change { answered: Some(mark), .. }), _) => {
                Instant::AtLeast { mark: *mark, why: "it answered that it is not well; when its process ended is not said" }
            }
            (Some(down), _) => down.instant("between the last good and the first failed row: not answering is not yet ended"),
            (None, Some(next)) => next.instant("another process answered"),
            (None, None) => Instant::never("it answered to the end of the rows"),
        };
        let unknown = || Instant::unknown("no log of this process");
        let instants = Instants {
            started: Instant::AtMost { mark: change.first, why: "it answered" },
            execd: Instant::AtMost { mark: change.first, why: "it answered" },
            loading: unknown(),
            loaded: unknown(),
            listening: Instant::AtMost { mark: change.first, why: "it answered" },
            ready: if is_health { found } else { Instant::unknown("no health polls and no log: metrics are live before readiness") },
            first_served: unknown(),
            metrics_live: Instant::unknown("no scrapes of its metrics"),
            first_kv: Instant::unknown("no scrapes of its metrics"),
            last_served: unknown(),
            asked: unknown(),
            stopping: unknown(),
            drained: unknown(),
            ended,
        };
        let none = || Err("no log of this process".to_owned());
        let verdict = match (is_health, instants.ended.happened()) {
            (true, true) => Verdict::ReadyThenDied,
            (true, false) if unwell.is_some() => Verdict::ReadyEndNotInLog,
            (true, false) => Verdict::Ready,
            (false, _) => Verdict::StartNotInLog,
        };
        let cause = if runs.is_empty() { Cause::StartNotInLog } else { Cause::StartedAgain { after: Ending::Silent } };
        let mut run = Invocation {
            id: String::new(),
            boot: None,
            opened: Opened::ByRows,
            pids: Vec::new(),
            cause,
            verdict,
            result: None,
            exit: None,
            lengths: Lengths {
                start_to_loading: none(),
                loading_to_loaded: none(),
                loaded_to_ready: none(),
                start_to_ready: none(),
                ready_to_served: none(),
                ready_for: known.length(&instants.ready, &instants.ended),
                stop_to_end: none(),
                waited: none(),
            },
            instants,
            outage: None,
            found_by_others: None,
            lost_by_others: None,
            last_answered: down.and_then(|down| down.last_other),
            traps: Vec::new(),
            cannot_say: Vec::new(),
            seen: Vec::new(),
        };
        metrics(watch, &window, &mut run);
        clients(watch, &window, &mut run);
        if let Some(old) = runs.last() {
            run.outage = Some(super::outage(old, &run.instants, known));
        }
        runs.push(run);
    }
    runs
}
