//! What would mislead a reader of these lines: each trap by name, where it bites.

use super::{Known, cause, instants};
use crate::history::{Cause, CrashLoop, Invocation, Opened, Point, Trap, TrapKind, Verdict};
use crate::run::{FEW, Run};
use crate::time::{Cite, Instant, Length, Mark, length_text};
use crate::unit::Unit;

fn trap(kind: TrapKind, says: String, marks: &[Option<Mark>]) -> Trap {
    let cites: Vec<Cite> = marks.iter().flatten().map(|mark| mark.cite).collect();
    Trap { kind, says, cites }
}

/// A length for people; `None` where it is not known.
fn seconds(length: &Result<Length, String>) -> Option<String> {
    length.as_ref().ok().map(length_text)
}

pub(crate) fn crash_loop(found: &CrashLoop) -> Trap {
    let gave_up = if found.gave_up { ", gave up" } else { "" };
    let result = found.result.as_deref().map(|result| format!(": {result}")).unwrap_or_default();
    let says = format!("{} starts, {} exits, {} ready{gave_up}{result}", found.starts, found.exits, found.ready);
    Trap { kind: TrapKind::CrashLoop, says, cites: found.cites.clone() }
}

/// Adds those of one run.
pub(crate) fn find(unit: &Unit, run: &Run, before: Option<&Run>, judged: &mut Invocation, known: &Known<'_>) {
    let mut traps = Vec::new();
    stale(run, before, judged, &mut traps);
    late(before.filter(|old| !cause::still_there(unit, old)), &mut traps);
    if instants::warmup_failed_first(run) {
        let what = run.warmup.as_deref().unwrap_or("the warm-up failed");
        let marks = [run.first(Point::WarmupFailed), run.first(Point::ReadyLine)];
        traps.push(trap(TrapKind::ReadyAfterFailedWarmup, format!("ready line printed, but: {what}"), &marks));
    }
    if run.args.as_ref().is_some_and(|args| args.skips_warmup) && run.has(Point::ReadyLine) {
        let says = "the warm-up is skipped: the ready line proves no forward pass".into();
        traps.push(trap(TrapKind::WarmupSkipped, says, &[run.first(Point::ServerArgs), run.first(Point::ReadyLine)]));
    }
    if judged.verdict == Verdict::ReadyThenDied {
        traps.push(crashed(run, judged));
    }
    if let (Some(ready), Some(lost)) = (run.first(Point::ReadyLine), run.last(Point::HealthFailed))
        && ready.before(&lost)
    {
        let says = format!("{} health checks failed after it was ready", run.times(Point::HealthFailed));
        traps.push(trap(TrapKind::ReadyThenLost, says, &[Some(ready), run.first(Point::HealthFailed), Some(lost)]));
    }
    if run.opened == Opened::Midway {
        let load =
            seconds(&judged.lengths.start_to_ready).map(|text| format!(", load time at least {}", text.trim_start_matches("at least ")));
        let says = format!("its start is not in the log{}", load.unwrap_or_default());
        traps.push(trap(TrapKind::LogBeginsMidway, says, &[Some(run.first)]));
    }
    if run.hinted.is_some() {
        let says = "its process is told from another unit's by `disaggregation_mode` and the unit's name alone".into();
        traps.push(trap(TrapKind::TwoUnitsAtOnce, says, &[run.hinted]));
    }
    if unit.unplaced.lines > 0 && run.by_pid {
        let says = format!("{} lines can be of this unit or of another: no unit in this rendering", unit.unplaced.lines);
        traps.push(Trap { kind: TrapKind::TwoUnitsAtOnce, says, cites: unit.unplaced.cites.clone() });
    }
    if let Some(old) = before.filter(|old| cause::still_there(unit, old)) {
        let says = "the process before still writes after this one's start: two servers under one name, no restart".into();
        traps.push(trap(TrapKind::TwoUnitsAtOnce, says, &[Some(run.first), old.late.proper]));
    }
    dropped(run, judged, &mut traps);
    if judged.verdict == Verdict::ServedWithoutReadyLine {
        let says = "the ready line is missing: ready no later than the first answer to a client".into();
        traps.push(trap(TrapKind::ReadyLineMissing, says, &[run.first(Point::Served)]));
    }
    if cause::never_ran(run) {
        let marks = [run.first(Point::Started), run.first(Point::ExecFailed), run.first(Point::Exit)];
        let says = if run.has(Point::Started) { "`Started`, but the program never ran" } else { "the program never ran" };
        traps.push(trap(TrapKind::ExecFailed, says.into(), &marks));
    }
    if cause::stopped_in_delay(run) {
        let says = "restart cancelled by a stop while systemd waited".into();
        traps.push(trap(TrapKind::StopDuringRestartDelay, says, &[run.first(Point::Exit), run.first(Point::Stopped)]));
    }
    if cause::renamed(run) {
        let says = "this systemd names the run's result by what the process did; the cause is in the line before".into();
        let marks = [run.first(Point::Watchdog), run.first(Point::StopTimeout), run.first(Point::StartTimeout), run.first(Point::Failed)];
        traps.push(trap(TrapKind::ResultOfOldSystemd, says, &marks));
    }
    clock(run, before, known, &mut traps);
    if judged.cause == Cause::Reboot
        && let Some(old) = before
    {
        let says = "another boot: the window spans a reboot, only the wall clock applies".into();
        traps.push(trap(TrapKind::Reboot, says, &[Some(old.last), Some(run.first)]));
    }
    judged.traps = traps;
}

/// A ready line of the run before, while this one is not ready.
fn stale(run: &Run, before: Option<&Run>, judged: &Invocation, traps: &mut Vec<Trap>) {
    let Some(ready) = before.and_then(|old| old.last(Point::ReadyLine)) else { return };
    if run.has(Point::ReadyLine) || !matches!(judged.verdict, Verdict::NotReadyYet | Verdict::NeverReady | Verdict::StartNotInLog) {
        return;
    }
    let waited = seconds(&judged.lengths.waited).map(|text| format!(", {text} since its start")).unwrap_or_default();
    let when = if judged.verdict == Verdict::NeverReady { "never ready" } else { "not ready yet at the end of the log" };
    let says = format!("{when}{waited}; the only ready line is of the run before");
    traps.push(trap(TrapKind::StaleReadyLine, says, &[Some(ready), Some(run.first)]));
}

/// Lines of the run before that stand after this one's start; told at the newer run, which they could be taken for.
fn late(before: Option<&Run>, traps: &mut Vec<Trap>) {
    let Some(old) = before.filter(|old| old.late.lines > 0) else { return };
    let ready = if old.late.ready.is_some() { ", a ready line among them" } else { "" };
    let says = format!("{} lines of the run before stand after this one's start{ready}: they do not count", old.late.lines);
    traps.push(Trap { kind: TrapKind::LateLine, says, cites: old.late.cites.clone() });
}

fn crashed(run: &Run, judged: &Invocation) -> Trap {
    let for_how_long = seconds(&judged.lengths.ready_for).map(|text| format!("ready for {text}, then ")).unwrap_or("ready, then ".into());
    let how = match (&judged.exit, &judged.result) {
        (Some(exit), Some(result)) => format!("{exit}, result {result}"),
        (Some(how), None) | (None, Some(how)) => how.clone(),
        (None, None) => run.crash.map(str::to_owned).unwrap_or_else(|| "gone without a line".into()),
    };
    let served = if run.has(Point::Served) || run.has(Point::ServedLocal) { "" } else { "; no line of a client's request being served" };
    let marks = [run.first(Point::ReadyLine).or(run.first(Point::Registered)), run.first(Point::Exit).or(run.first(Point::Crashed))];
    trap(TrapKind::ReadyThenCrash, format!("{for_how_long}{how}{served}"), &marks)
}

fn dropped(run: &Run, judged: &Invocation, traps: &mut Vec<Trap>) {
    if run.dropped.is_empty() {
        return;
    }
    let messages = run.dropped_messages();
    let missing = if run.has(Point::ReadyLine) { "" } else { "ready line missing, " };
    let bound = match &judged.instants.ready {
        Instant::AtMost { .. } | Instant::Within { .. } => "; ready no later than the first answer to a client",
        Instant::Unknown { .. } => "; whether it was ready cannot be said",
        _ => "",
    };
    let cites = run.dropped.iter().take(FEW).map(|(mark, _)| mark.cite).collect();
    traps.push(Trap { kind: TrapKind::RateLimit, says: format!("{missing}{messages} messages were dropped by journald{bound}"), cites });
}

fn clock(run: &Run, before: Option<&Run>, known: &Known<'_>, traps: &mut Vec<Trap>) {
    // The window that a reader would measure: from the stop of the run before to this one's last word on its start.
    let from = before
        .and_then(|old| old.first(Point::Stopping).or(old.end().map(|(_, mark)| mark)).or(old.last(Point::Line)))
        .filter(|mark| mark.order < run.first.order)
        .unwrap_or(run.first);
    let until = run.first(Point::ReadyLine).or(run.first(Point::Registered)).unwrap_or(run.last);
    for step in known.steps_between(&from, &until) {
        let says = match step.by {
            Some(by) => format!("clock stepped {:+.1} s inside the window; durations are from the monotonic clock", by as f64 / 1e9),
            None if step.said => "a line says that the clock was set inside the window; by how much is not said".into(),
            None => format!(
                "stamps go back {:.0} s and no monotonic clock is at hand; durations across it are not known",
                step.back as f64 / 1e9
            ),
        };
        traps.push(trap(TrapKind::ClockStep, says, &[Some(step.before), Some(step.after)]));
    }
}
