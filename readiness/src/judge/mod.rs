//! What the records of a unit add up to.

mod adopt;
mod cause;
mod instants;
mod loops;
mod outside;
mod traps;

use crate::history::{
    Away, CannotSay, Cause, Dropped, History, Instants, Invocation, Lengths, Opened, Outage, Point, Sign, TrapKind, UnitHistory, Verdict,
};
use crate::machine::Machine;
use crate::run::{FEW, Run};
use crate::steps::{self, Step};
use crate::time::{Instant, Length, Mark, Measured, length};
use crate::unit::Unit;

/// What every judgement may need.
pub(crate) struct Known<'a> {
    pub steps: &'a [Step],
    /// The newest record of the host: where its log ends.
    pub last: Option<Mark>,
}

impl Known<'_> {
    fn length(&self, from: &Instant, to: &Instant) -> Result<Length, String> {
        length(from, to, &|a, b| steps::between(self.steps, a, b))
    }

    /// The steps between two records.
    fn steps_between<'s>(&'s self, a: &'s Mark, b: &'s Mark) -> impl Iterator<Item = &'s Step> {
        self.steps.iter().filter(move |step| steps::between(std::slice::from_ref(step), a, b))
    }
}

/// Judges all units.
pub(crate) fn history(machine: &Machine) -> History {
    let mut cannot_say = Vec::new();
    let undescribed = &machine.undescribed;
    if undescribed.lines > 0 {
        let why = format!(
            "{} lines of systemd name a description and no unit (the default up to v249): name the unit of each description",
            undescribed.lines
        );
        cannot_say.push(CannotSay { what: "which unit systemd speaks of", why, cites: undescribed.cites.clone() });
    }
    if machine.more_units > 0 {
        let why = format!("{} records are of units beyond the first {}", machine.more_units, machine.units.len());
        cannot_say.push(CannotSay { what: "what became of further units", why, cites: Vec::new() });
    }
    let (all, adopted) = adopt::adopt(&machine.units);
    let units = all.iter().enumerate().filter(|(_, unit)| !(unit.unnamed && unit.runs.is_empty()));
    let units = units.map(|(at, unit)| judge(unit, machine, adopted.contains(&at))).collect();
    History { units, boots: machine.boots.clone(), steps: machine.steps.found.clone(), cannot_say }
}

fn judge(unit: &Unit, machine: &Machine, adopted: bool) -> UnitHistory {
    let steps: Vec<Step> = machine.steps.found.iter().filter(|step| step.host == unit.host).cloned().collect();
    let known = Known { steps: &steps, last: machine.ends.get(&unit.host).copied().or(unit.last) };
    let mut invocations: Vec<Invocation> = Vec::new();
    for (at, run) in unit.runs.iter().enumerate() {
        let before = unit.runs.get(..at).and_then(|runs| runs.iter().rposition(|run| run.opened != Opened::NotStarted));
        let before = before.and_then(|at| Some((unit.runs.get(at)?, invocations.get(at)?)));
        let after = unit.runs.get(at + 1..).and_then(|runs| runs.iter().find(|run| run.opened != Opened::NotStarted));
        let after = after.filter(|_| !cause::still_there(unit, run));
        let mut judged = invocation(unit, run, before, after, &known);
        (judged.found_by_others, judged.lost_by_others) = machine.words.of(run, after);
        invocations.push(judged);
    }
    if invocations.is_empty() {
        invocations = outside::alone(&unit.watch, &known);
    } else {
        outside::join(&unit.watch, &mut invocations, &known);
    }
    let loops = loops::find(&invocations, &unit.runs);
    for found in &loops {
        if let Some(last) = invocations.get_mut(found.last) {
            last.traps.push(traps::crash_loop(found));
        }
    }
    let mut cannot_say = Vec::new();
    if unit.more > 0 {
        let why = format!("{} records are of runs after the first {}: they are not judged", unit.more, unit.runs.len());
        cannot_say.push(CannotSay { what: "what became of later runs", why, cites: unit.last.iter().map(|mark| mark.cite).collect() });
    }
    let changes = unit.watch.changes_lost();
    if changes > 0 {
        let why =
            format!("{changes} changes between answering and not are not kept: they are of later polls, scrapes or calls than are judged");
        cannot_say.push(CannotSay { what: "what later polls, scrapes and calls saw", why, cites: Vec::new() });
    }
    let journal = unit.runs.iter().any(|run| run.boot.is_some());
    if journal && !unit.managed && !unit.unnamed {
        let why = "no line of systemd speaks of this unit (a filter by `_SYSTEMD_UNIT=` or `-p` drops them)".into();
        let cites = unit.last.iter().map(|mark| mark.cite).collect();
        cannot_say.push(CannotSay { what: "who started and stopped it, and with which result", why, cites });
    }
    if adopted {
        let why = "lines from before systemd's first word name no unit: they are this one's by the main process id".into();
        cannot_say.push(CannotSay { what: "which unit the first lines are of", why, cites: first(&unit.runs).into_iter().collect() });
    }
    let mixed = unit.runs.iter().any(|run| run.mains.len() > 1 && run.invocation.is_empty());
    if unit.unnamed && mixed {
        let why = "several servers write under this name: what is said of a run can be of any of them".into();
        cannot_say.push(CannotSay { what: "which server a line is of", why, cites: first(&unit.runs).into_iter().collect() });
    }
    if unit.unnamed {
        let why = "the rendering names no unit and no line of systemd does: lines are told apart by process id alone".into();
        cannot_say.push(CannotSay { what: "which unit this is", why, cites: unit.last.iter().map(|mark| mark.cite).collect() });
    }
    if unit.unplaced.lines > 0 {
        cannot_say.push(unplaced(unit));
    }
    UnitHistory {
        host: unit.host.clone(),
        unit: unit.name.clone(),
        unnamed: unit.unnamed,
        invocations,
        loops,
        one_process: unit.watch.one_process(),
        dropped: dropped(&unit.runs),
        cannot_say,
        last: unit.last,
    }
}

fn unplaced(unit: &Unit) -> CannotSay {
    let lost = &unit.unplaced;
    let others: Vec<&str> = lost.others.iter().map(String::as_str).filter(|name| *name != unit.name).collect();
    let ready = if lost.ready.is_empty() { "" } else { "; a ready line is among them" };
    let others = if others.is_empty() { "a process that began before the log did".into() } else { others.join(", ") };
    CannotSay {
        what: "which unit some lines are of",
        why: format!("{} lines can be of this unit or of {others}, and this rendering names no unit{ready}", lost.lines),
        cites: lost.cites.clone(),
    }
}

fn first(runs: &[Run]) -> Option<crate::time::Cite> {
    runs.first().map(|run| run.first.cite)
}

fn dropped(runs: &[Run]) -> Vec<Dropped> {
    let mut all = Vec::new();
    for run in runs {
        for (said, messages) in &run.dropped {
            let before = run.points().flat_map(|(_, seen)| [seen.first, seen.last]).filter(|mark| mark.order < said.order);
            let after = before.reduce(|a, b| if a.order < b.order { b } else { a });
            all.push(Dropped { after, said: *said, messages: *messages });
        }
    }
    all
}

/// Judges one run. `before` is the run before it, judged; `after` the one that follows.
fn invocation(unit: &Unit, run: &Run, before: Option<(&Run, &Invocation)>, after: Option<&Run>, known: &Known<'_>) -> Invocation {
    let verdict = verdict(unit, run, after.is_some());
    let instants = instants::of(unit, run, before.map(|(run, _)| run), after, verdict);
    let cause = cause::of(unit, run, before.map(|(run, _)| run));
    let lengths = Lengths {
        start_to_loading: known.length(&instants.started, &instants.loading),
        loading_to_loaded: known.length(&instants.loading, &instants.loaded),
        loaded_to_ready: known.length(&instants.loaded, &instants.ready),
        start_to_ready: known.length(&instants.started, &instants.ready),
        ready_to_served: known.length(&instants.ready, &instants.first_served),
        ready_for: known.length(&instants.ready, &instants.ended),
        stop_to_end: known.length(&instants.stopping, &instants.ended),
        waited: waited(&instants.started, verdict, known),
    };
    let follows = |(old, _): &(&Run, &Invocation)| run.opened != Opened::NotStarted && !cause::still_there(unit, old);
    let outage = before.filter(follows).map(|(_, old)| outage(old, &instants, known));
    let mut judged = Invocation {
        id: run.invocation.clone(),
        boot: run.boot,
        opened: run.opened,
        pids: run.pids.iter().copied().collect(),
        cause,
        verdict,
        result: cause::result(run),
        exit: run.exit.clone(),
        instants,
        lengths,
        outage,
        found_by_others: None,
        lost_by_others: None,
        last_answered: None,
        traps: Vec::new(),
        cannot_say: Vec::new(),
        seen: run.points().collect(),
    };
    traps::find(unit, run, before.map(|(run, _)| run), &mut judged, known);
    if let Some((_, guess)) = run.guess
        && !run.has(Point::Line)
    {
        let why = "this rendering names no unit: the line is of this unit by its place alone".into();
        judged.cannot_say.push(CannotSay { what: "whose its first lines are", why, cites: vec![guess.cite] });
    }
    if run.lost.0 > 0 {
        let why = format!("{} messages are left out of this rendering: too large for `-o json` without `--all`", run.lost.0);
        judged.cannot_say.push(CannotSay { what: "what its long lines say", why, cites: run.lost.1.clone() });
    }
    say_why(&mut judged);
    judged
}

/// How long a run has been waited for.
fn waited(started: &Instant, verdict: Verdict, known: &Known<'_>) -> Result<Length, String> {
    let waits = matches!(verdict, Verdict::NotReadyYet | Verdict::StartNotInLog);
    let Some(last) = known.last.filter(|_| waits) else { return Err("it is ready or over".into()) };
    known.length(started, &Instant::Exact { mark: last })
}

/// The later of two records; of one that may be missing the other.
fn later(a: Option<Mark>, b: Option<Mark>) -> Option<Mark> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.before(&b) { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// The outage between two runs as one window.
fn away(before: &Invocation, new: &Instants, known: &Known<'_>) -> Option<Away> {
    let old = &before.instants;
    let any = |instant: &Instant| instant.lower().or(instant.upper()).copied();
    // One that fell before it was stopped had answered until it fell, at most.
    let fell = before.first(Point::Crashed);
    let stop = any(&old.asked).or(any(&old.stopping)).filter(|stop| fell.is_none_or(|fell| stop.before(&fell)));
    let answer = later(any(&old.last_served), before.last_answered);
    let line = any(&old.ended);
    let signs = [(Sign::Stop, stop), (Sign::Answer, answer), (Sign::Line, line)];
    let (by, since) = signs.into_iter().find_map(|(by, mark)| Some((by, mark?)))?;
    let until = new.ready.upper().copied();
    let length = match until {
        Some(mark) => known.length(&Instant::Exact { mark: since }, &Instant::Exact { mark }),
        None => Err("it was not ready again".into()),
    };
    Some(Away { since, by, until, length })
}

fn outage(before: &Invocation, new: &Instants, known: &Known<'_>) -> Outage {
    let old = &before.instants;
    let step = old.ended.upper().or(old.stopping.upper()).or(old.last_served.upper()).or(old.last_served.lower());
    let until = new.ready.upper().or(new.started.upper()).or(new.started.lower());
    let by = match (step, until) {
        (Some(a), Some(b)) => {
            let steps: Vec<i64> = known.steps_between(a, b).filter_map(|step| step.by).collect();
            (!steps.is_empty()).then(|| steps.iter().fold(0, |all: i64, by| all.saturating_add(*by)))
        }
        _ => None,
    };
    Outage {
        window: away(before, new, known),
        served_to_ready: known.length(&old.last_served, &new.ready),
        stopping_to_ready: known.length(&old.stopping, &new.ready),
        end_to_start: known.length(&old.ended, &new.started),
        end_to_ready: known.length(&old.ended, &new.ready),
        clock_step: by,
    }
}

/// What became of a run. A run that another one followed is over, whether or not a line says so.
fn verdict(unit: &Unit, run: &Run, followed: bool) -> Verdict {
    if run.has(Point::Skipped) {
        return Verdict::Skipped;
    }
    if run.has(Point::DependencyFailed) || run.opened == Opened::NotStarted {
        return Verdict::NeverStarted;
    }
    if cause::never_ran(run) {
        return Verdict::NeverRan;
    }
    let asked = run.stop().is_some();
    let over = run.over() || followed;
    if instants::warmup_failed_first(run) {
        return Verdict::ReadyLineAfterFailedWarmup;
    }
    if run.has(Point::ReadyLine) || run.has(Point::Registered) {
        return match (over, asked) {
            (true, true) => Verdict::ReadyThenStopped,
            // A process that is killed says nothing; a manager would have.
            (true, false) if unit.managed && !run.over() => Verdict::ReadyEndNotInLog,
            (true, false) => Verdict::ReadyThenDied,
            (false, true) => Verdict::ReadyThenStopping,
            (false, false) => Verdict::Ready,
        };
    }
    if instants::has_no_ready_line(run) && !over {
        return Verdict::NoReadyLineOfItsOwn;
    }
    if run.has(Point::Served) {
        return Verdict::ServedWithoutReadyLine;
    }
    if run.opened != Opened::Midway && run.has(Point::Batch) {
        return Verdict::WorkedWithoutReadyLine;
    }
    if over {
        return Verdict::NeverReady;
    }
    let begun = [Point::ServerArgs, Point::LoadBegin, Point::RuntimeBegan].iter().any(|point| run.has(*point));
    if run.opened == Opened::Midway && !begun { Verdict::StartNotInLog } else { Verdict::NotReadyYet }
}

/// Names what is not known, once for each question that a reader of this run will have.
fn say_why(run: &mut Invocation) {
    if run.cause == Cause::StopThenStartOrRestart {
        let why = "no job of systemd is named (a rendering without fields, or v229): a stop and a start, or one restart".into();
        run.cannot_say.push(CannotSay { what: "which command restarted it", why, cites: run.instants.started.cites() });
    }
    let asked = [
        ("when it started", &run.instants.started),
        ("when its program ran", &run.instants.execd),
        ("when it was ready", &run.instants.ready),
        ("when it had ended", &run.instants.ended),
    ];
    let mut said = Vec::new();
    for (what, instant) in asked {
        if let Instant::Unknown { why } = instant {
            said.push(CannotSay { what, why: why.clone(), cites: run.seen.iter().take(1).map(|(_, seen)| seen.first.cite).collect() });
        }
    }
    if let Some(outage) = &run.outage
        && let Err(why) = &outage.served_to_ready
    {
        let over_step = run.traps.iter().find(|trap| trap.kind == TrapKind::ClockStep);
        let cites = over_step.map(|trap| trap.cites.clone()).unwrap_or_default();
        said.push(CannotSay { what: "how long clients were not served", why: why.clone(), cites });
    }
    if let Ok(length) = &run.lengths.start_to_ready
        && length.on == Measured::WallOverReboot
    {
        let cites = length.cites.iter().take(FEW).copied().collect();
        said.push(CannotSay { what: "how long the start took", why: "only the wall clock spans a reboot".into(), cites });
    }
    run.cannot_say.append(&mut said);
}
