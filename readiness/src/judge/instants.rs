//! Each instant of a run, as exact as its best record allows (formats: README.md, "what proves what").

use crate::history::{Instants, Opened, Point, Verdict};
use crate::run::Run;
use crate::time::{Instant, Mark};
use crate::unit::Unit;

/// The ready line came after a warm-up that had failed: it says nothing.
pub(crate) fn warmup_failed_first(run: &Run) -> bool {
    match (run.first(Point::WarmupFailed), run.first(Point::ReadyLine)) {
        (Some(failed), Some(ready)) => failed.before(&ready),
        _ => false,
    }
}

/// A node of a rank above 0 has no HTTP server.
pub(crate) fn has_no_ready_line(run: &Run) -> bool {
    run.args.as_ref().and_then(|args| args.node_rank).is_some_and(|rank| rank > 0)
}

fn exact(mark: Option<Mark>, else_: impl FnOnce() -> Instant) -> Instant {
    mark.map_or_else(else_, |mark| Instant::Exact { mark })
}

/// All of them. `before` and `after` are the runs around it.
pub(crate) fn of(unit: &Unit, run: &Run, before: Option<&Run>, after: Option<&Run>, verdict: Verdict) -> Instants {
    let started = started(run, before);
    let not_started = matches!(verdict, Verdict::Skipped | Verdict::NeverStarted);
    let ready = ready(unit, run, verdict);
    let mut instants = Instants {
        execd: execd(run, before, verdict),
        loading: loading(run),
        loaded: loaded(run),
        listening: listening(run),
        first_served: first_served(run),
        metrics_live: metrics_live(run),
        first_kv: Instant::unknown("no scrapes of its metrics"),
        last_served: last_served(run),
        asked: asked(run),
        stopping: stopping(run),
        drained: drained(run),
        ended: ended(unit, run, after),
        started,
        ready,
    };
    if not_started {
        let never = || Instant::never("nothing was started");
        let Instants { execd, loading, loaded, listening, ready, first_served, last_served, drained, ended, .. } = &mut instants;
        for instant in [execd, loading, loaded, listening, ready, first_served, last_served, drained, ended] {
            *instant = never();
        }
    }
    instants
}

fn started(run: &Run, before: Option<&Run>) -> Instant {
    if let Some(mark) = run.earliest(&[Point::Starting, Point::Started, Point::Finished]) {
        return Instant::Exact { mark };
    }
    if let Some(mark) = run.earliest(&[Point::Skipped, Point::StartFailed, Point::DependencyFailed]) {
        return Instant::AtMost { mark, why: "the start job had ended" };
    }
    match run.opened {
        // Notes before it may be of the process before: this one is not.
        Opened::ByServerArgs => {
            let mark = run.earliest(&[Point::ServerArgs, Point::RuntimeBegan]).unwrap_or(run.first);
            Instant::bounds(last_sign(before), Some(mark), "no later than the configuration that it prints at its start")
        }
        Opened::ByStartLines => {
            Instant::bounds(last_sign(before), Some(run.first), "the first line of its start; its configuration is not in the log")
        }
        _ => Instant::AtMost { mark: run.first, why: "its start is not in the log: counted from the first line seen" },
    }
}

/// The last line that only the process before can have printed: one log has one process at a time.
fn last_sign(before: Option<&Run>) -> Option<Mark> {
    before.and_then(|old| old.last(Point::ProperLine))
}

fn execd(run: &Run, before: Option<&Run>, verdict: Verdict) -> Instant {
    if verdict == Verdict::NeverRan {
        return Instant::never("the program could not be executed");
    }
    let line = run.first(Point::Line);
    let starting = run.first(Point::Starting);
    // `Started` of Type=simple is fork(); of every other type, which prints `Starting` first, the program ran.
    let proof = match (starting, run.first(Point::Started), line) {
        (Some(_), Some(started), Some(line)) => Some(if line.before(&started) { line } else { started }),
        (Some(_), Some(started), None) => Some(started),
        _ if run.opened == Opened::ByServerArgs => run.earliest(&[Point::ServerArgs, Point::RuntimeBegan]),
        (_, _, line) => line,
    };
    let fork = starting.or(run.first(Point::Started));
    if proof.is_none()
        && let Some((_, guess)) = run.guess
    {
        return Instant::bounds(fork, Some(guess), "between the start job and a line that is of this unit by its place alone");
    }
    let fork = if run.opened == Opened::ByServerArgs { last_sign(before) } else { fork };
    Instant::bounds(fork, proof, "between the start job and the first sign of the program")
}

/// Does any line of it show a model? A router and a frontend hold none: that their port is open says nothing of weights.
fn holds_a_model(run: &Run) -> bool {
    [Point::ServerArgs, Point::InitBegan, Point::LoadBegin, Point::LoadEnd, Point::Sized, Point::ReadyLine]
        .iter()
        .any(|point| run.has(*point))
}

fn loading(run: &Run) -> Instant {
    if !holds_a_model(run) {
        return Instant::unknown("no line of loading");
    }
    if let Some(mark) = run.first(Point::LoadBegin) {
        return Instant::Exact { mark };
    }
    let before = run.earliest(&[Point::LoadEnd, Point::Sized, Point::Listening]);
    let after = run.first(Point::ServerArgs);
    match (after, before) {
        (_, None) => Instant::unknown("no line of loading"),
        (after, before) => Instant::bounds(after, before, "its own line is missing"),
    }
}

fn loaded(run: &Run) -> Instant {
    if !holds_a_model(run) {
        return Instant::unknown("no line says that weights were loaded");
    }
    let Some(last) = run.last(Point::LoadEnd) else {
        let before = run.earliest(&[Point::Sized, Point::Listening, Point::ReadyLine]);
        return match before {
            None => Instant::unknown("no line says that weights were loaded"),
            before => Instant::bounds(run.last(Point::LoadBegin), before, "its own line is missing"),
        };
    };
    // Of several nodes each prints its own ranks.
    let here = |ranks: u64, nodes: u64| ranks.checked_div(nodes.max(1)).unwrap_or(ranks);
    let expected = run.args.as_ref().and_then(|args| Some(here(args.ranks?, args.nodes.unwrap_or(1))));
    let tagged = run.loaded_ranks.iter().any(|rank| !rank.is_empty());
    let ended = run.loaded_ranks.len();
    let all = match expected {
        Some(ranks) => u64::try_from(ended).unwrap_or(u64::MAX) >= ranks,
        // One rank prints no tag (0.4.6 and later); of tagged ones there are others.
        None => !tagged || (ended > 1 && run.loaded_ranks.is_superset(&run.begun_ranks)),
    };
    if all {
        return Instant::Exact { mark: last };
    }
    let before = run.earliest(&[Point::Sized, Point::Listening, Point::ReadyLine]);
    Instant::bounds(Some(last), before.filter(|mark| last.before(mark)), "not every rank's line is there").at_least_if_alone(last)
}

impl Instant {
    /// A lone rank's end is no upper bound of all ranks'.
    fn at_least_if_alone(self, mark: Mark) -> Instant {
        match self {
            Instant::AtMost { why, .. } => Instant::AtLeast { mark, why },
            other => other,
        }
    }
}

fn listening(run: &Run) -> Instant {
    exact(run.first(Point::Listening), || match run.earliest(&[Point::Served, Point::ReadyLine]) {
        // With `--skip-server-warmup` the ready line may precede the port.
        Some(mark) if run.args.as_ref().is_none_or(|args| !args.skips_warmup) => Instant::AtMost { mark, why: "its own line is missing" },
        _ => Instant::unknown("no line says that the port is open"),
    })
}

fn ready(unit: &Unit, run: &Run, verdict: Verdict) -> Instant {
    let served = run.first(Point::Served);
    match verdict {
        Verdict::NeverRan => return Instant::never("the program could not be executed"),
        Verdict::ReadyLineAfterFailedWarmup => {
            return match served.filter(|served| run.first(Point::ReadyLine).is_some_and(|ready| ready.before(served))) {
                Some(mark) => Instant::AtMost { mark, why: "a client was served although the warm-up had failed" },
                None => Instant::unknown("its warm-up failed; the ready line that follows is printed all the same"),
            };
        }
        _ => {}
    }
    if let Some(mark) = run.first(Point::ReadyLine).or(run.first(Point::Registered)) {
        return Instant::Exact { mark };
    }
    if let Some(served) = served {
        let after = [Point::Listening, Point::Sized, Point::LoadEnd, Point::LoadBegin, Point::ServerArgs, Point::Line];
        let after = after.iter().find_map(|point| run.first(*point)).filter(|mark| mark.order < served.order);
        return Instant::bounds(after, Some(served), "the ready line is missing; a client was served");
    }
    if has_no_ready_line(run) {
        return Instant::unknown("a node of a rank above 0 prints no ready line");
    }
    if !run.dropped.is_empty() {
        let messages = run.dropped_messages();
        return Instant::unknown(format!("no ready line, and journald dropped {messages} messages of the unit"));
    }
    if !unit.unplaced.ready.is_empty() {
        return Instant::unknown("a ready line is of this unit or of another: the rendering names no unit");
    }
    if verdict == Verdict::WorkedWithoutReadyLine {
        let why = "no ready line, and it worked on several requests at once: no warm-up does, and that a client was answered is not said";
        return Instant::unknown(why);
    }
    if run.over() {
        return Instant::never("no ready line before its end");
    }
    if run.opened == Opened::Midway && verdict == Verdict::StartNotInLog {
        return Instant::unknown("its start is not in the log: it may have been ready before");
    }
    Instant::never("not ready at the end of the log")
}

fn first_served(run: &Run) -> Instant {
    let served = run.first(Point::Served);
    let local = run.first(Point::ServedLocal);
    let first = match (served, local) {
        (Some(a), Some(b)) => Some(if b.before(&a) { b } else { a }),
        (a, b) => a.or(b),
    };
    if let Some(mark) = first {
        return Instant::AtMost { mark, why: "its line is written when the answer begins or ends" };
    }
    Instant::unknown("no line of an answer to a client")
}

/// Work after its last proof is possible: the proof is a lower bound.
fn last_served(run: &Run) -> Instant {
    let served = [run.last(Point::Served), run.last(Point::ServedLocal)].into_iter().flatten();
    if let Some(mark) = served.reduce(|a, b| if a.before(&b) { b } else { a }) {
        return Instant::Exact { mark };
    }
    match run.last(Point::Batch) {
        Some(mark) => Instant::AtLeast { mark, why: "a batch was worked on: that it was answered is not said" },
        None => Instant::unknown("no line of an answer or of work"),
    }
}

fn metrics_live(run: &Run) -> Instant {
    match run.first(Point::Listening) {
        Some(mark) => Instant::AtLeast { mark, why: "metrics answer from the open port on; no scrapes to say when they did" },
        None => Instant::unknown("no scrapes of its metrics"),
    }
}

fn asked(run: &Run) -> Instant {
    if let Some(mark) = run.earliest(&[Point::Stopping, Point::Sigterm]) {
        return Instant::AtMost { mark, why: "the command came before systemd or the server acted on it" };
    }
    if let Some(shuts) = run.first(Point::ShutsDown) {
        return match run.first(Point::Crashed) {
            Some(crashed) if crashed.before(&shuts) => Instant::never("nobody asked: it failed, and shut down by itself"),
            _ => Instant::unknown("it says that it shuts down, not that somebody asked"),
        };
    }
    if let Some(mark) = run.first(Point::SignalSent) {
        return Instant::AtMost { mark, why: "a signal was sent on a client's request" };
    }
    if run.has(Point::Stopped) && !run.over() {
        return Instant::unknown("`Stopped` without the lines before it");
    }
    if run.over() { Instant::never("nobody asked: it ended by itself") } else { Instant::never("no stop in the log") }
}

fn stopping(run: &Run) -> Instant {
    if let Some(mark) = run.first(Point::Stopping) {
        return Instant::Exact { mark };
    }
    match run.stop() {
        Some(mark) if run.first(Point::Sigterm) == Some(mark) => Instant::AtMost { mark, why: "the server had the signal" },
        Some(mark) => Instant::AtMost { mark, why: "the server says that it shuts down" },
        None if run.over() => Instant::never("nobody asked: it ended by itself"),
        None => Instant::never("no stop in the log"),
    }
}

fn drained(run: &Run) -> Instant {
    if let Some(mark) = run.first(Point::Drained) {
        return Instant::AtMost { mark, why: "the server looks every five seconds" };
    }
    if run.stop().is_some() {
        return Instant::unknown("no line says that no request was open");
    }
    Instant::never("no stop in the log")
}

fn ended(unit: &Unit, run: &Run, after: Option<&Run>) -> Instant {
    // Without a manager, the last lines of a log's part may be the next process's first ones.
    let lines = run.last(if unit.managed { Point::Line } else { Point::ProperLine });
    let next_first = |next: &Run| match next.opened {
        Opened::ByServerArgs => next.earliest(&[Point::ServerArgs, Point::RuntimeBegan]).unwrap_or(next.first),
        _ => next.first,
    };
    match run.end() {
        Some((Point::Exit, mark)) => return Instant::Exact { mark },
        Some((Point::ProcessFinished, mark)) => {
            return Instant::AtLeast { mark, why: "uvicorn's last line; the process ends after it" }.until(after.map(next_first));
        }
        Some((_, mark)) => {
            // Only the main process says these; lines of its children are no proof that it was there.
            let signs = [Point::Stopping, Point::Sigterm, Point::ShutsDown, Point::Drained].iter().filter_map(|point| run.last(*point));
            let lower = signs.filter(|sign| sign.before(&mark)).reduce(|a, b| if a.before(&b) { b } else { a });
            return Instant::bounds(lower, Some(mark), "systemd had seen its end; a clean exit has no line");
        }
        None => {}
    }
    if let Some(next) = after {
        if next.boot != run.boot {
            return Instant::bounds(Some(run.last), Some(next_first(next)), "the host was booted again");
        }
        let lower = lines.or(run.last(Point::ServerArgs)).or(Some(run.first));
        return Instant::bounds(lower, Some(next_first(next)), "between its last line and the first of the run that follows");
    }
    match run.stop().or(run.first(Point::Crashed)) {
        Some(_) => Instant::AtLeast { mark: lines.unwrap_or(run.last), why: "its last line; no line says that it ended" },
        None => Instant::never("no end in the log"),
    }
}

impl Instant {
    /// Bounded from above by the run that follows.
    fn until(self, after: Option<Mark>) -> Instant {
        match (self, after) {
            (Instant::AtLeast { mark, why }, Some(next)) => Instant::bounds(Some(mark), Some(next), why),
            (other, _) => other,
        }
    }
}
