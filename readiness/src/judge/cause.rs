//! Why a run began, and how the one before ended.

use crate::history::{Cause, Ending, Opened, Point};
use crate::run::Run;
use crate::unit::Unit;

/// Does a process without a manager go on after another one began? Then the second is no restart of the first.
pub(crate) fn still_there(unit: &Unit, run: &Run) -> bool {
    !unit.managed && run.late.proper.is_some()
}

/// Was the program never executed? The exec's own status says so where the child's message is missing (v255): 200/CHDIR, 203/EXEC, 217/USER, …
pub(crate) fn never_ran(run: &Run) -> bool {
    let lines = run.has(Point::ServerArgs) || run.has(Point::ProperLine);
    let status = run.exit.as_deref().and_then(|exit| exit.strip_prefix("exited/")?.split('/').next()?.parse().ok());
    !lines && (run.has(Point::ExecFailed) || status.is_some_and(|status: u32| (200..=245).contains(&status)))
}

/// systemd's result of a run. v229 names a watchdog or a timeout only by what it did.
pub(crate) fn result(run: &Run) -> Option<String> {
    let by_deed = if run.has(Point::Watchdog) {
        Some("watchdog")
    } else if run.has(Point::StartTimeout) || run.has(Point::StopTimeout) {
        Some("timeout")
    } else {
        None
    };
    match (by_deed, run.result.as_deref()) {
        (Some(deed), Some("signal" | "exit-code" | "core-dump") | None) if run.over() => Some(deed.into()),
        (_, result) => result.map(str::to_owned),
    }
}

/// Is its result by its deed, not by its word?
pub(crate) fn renamed(run: &Run) -> bool {
    run.result.is_some() && result(run) != run.result
}

/// A stop while systemd waited to restart it: `Stopped` without a `Stopping`, and no restart came.
pub(crate) fn stopped_in_delay(run: &Run) -> bool {
    let restarts = run.has(Point::RestartScheduled);
    let by_restart = run.stopped_job.as_ref().and_then(|job| job.kind.as_deref()) == Some("restart");
    let ended = run.has(Point::Exit) || run.has(Point::Failed);
    run.has(Point::Stopped) && !run.has(Point::Stopping) && !restarts && !by_restart && ended
}

pub(crate) fn of(unit: &Unit, run: &Run, before: Option<&Run>) -> Cause {
    if run.opened == Opened::NotStarted {
        let why = if run.has(Point::Skipped) { "a condition was not met" } else { "the start job failed" };
        return Cause::NotStarted { why: run.start_result.clone().unwrap_or_else(|| why.into()) };
    }
    let Some(old) = before else {
        return match run.opened {
            Opened::Midway | Opened::ByServiceLine => Cause::StartNotInLog,
            _ => Cause::FirstStart,
        };
    };
    if old.boot != run.boot {
        return Cause::Reboot;
    }
    if still_there(unit, old) {
        return Cause::Unknown { why: "the process before still writes: two servers under one name".into() };
    }
    if !unit.managed {
        return Cause::StartedAgain { after: ending(old) };
    }
    let automatic = old.has(Point::RestartScheduled) || old.has(Point::RestartDue);
    let gave_up = old.has(Point::StartLimit);
    match result(old).as_deref() {
        Some("watchdog") if automatic => return Cause::Watchdog,
        Some("oom-kill") if automatic => return Cause::OomKill,
        _ => {}
    }
    if automatic && !gave_up {
        return Cause::Automatic { after: result(old).unwrap_or_else(|| "an end of unknown result".into()) };
    }
    if old.has(Point::Stopped) {
        let job = old.stopped_job.as_ref();
        return match job.and_then(|job| job.kind.as_deref()) {
            Some("restart") => Cause::RequestedRestart { same_job: same_job(old, run) },
            Some("stop") => Cause::StopThenStart,
            _ if stopped_in_delay(old) => Cause::StopThenStart,
            // A unit that was stopped by one job and started by another need not have been asked twice.
            _ => Cause::StopThenStartOrRestart,
        };
    }
    if old.has(Point::Stopping) {
        return Cause::StopThenStartOrRestart;
    }
    let why = match (old.over(), gave_up) {
        (true, true) => "systemd had given up after the start limit; no line says who started it again",
        (true, false) => "the run before had ended without a restart of systemd's; no line says who started it again",
        (false, _) => "the end of the run before is not in the log",
    };
    Cause::Unknown { why: why.into() }
}

fn same_job(old: &Run, run: &Run) -> Option<bool> {
    let stop = old.stop_job.as_ref().or(old.stopped_job.as_ref())?.id.as_ref()?;
    let start = run.start_job.as_ref()?.id.as_ref()?;
    Some(stop == start)
}

/// How a process without a manager ended, by its own lines. A crash that follows a stop is the stop's.
pub(crate) fn ending(run: &Run) -> Ending {
    match (run.stop(), run.first(Point::Crashed)) {
        (Some(asked), Some(crashed)) if crashed.before(&asked) => Ending::Crashed,
        (Some(_), _) => Ending::Asked,
        (None, Some(_)) => Ending::Crashed,
        (None, None) if run.has(Point::ProcessFinished) => Ending::Asked,
        (None, None) => Ending::Silent,
    }
}
