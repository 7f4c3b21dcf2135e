//! Causes, verdicts, traps, instants and lengths in words.

use corr_readiness::history::{Cause, Ending, Instants, TrapKind, Verdict};
use corr_readiness::time::{Length, Measured};
use corr_readiness::{Instant, Mark};

use crate::render::shown::rfc3339;

/// The instants of a life by name, in their order.
pub fn instants(instants: &Instants) -> [(&'static str, &Instant); 14] {
    [
        ("started", &instants.started),
        ("exec'd", &instants.execd),
        ("loading", &instants.loading),
        ("loaded", &instants.loaded),
        ("listening", &instants.listening),
        ("metrics live", &instants.metrics_live),
        ("ready", &instants.ready),
        ("first served", &instants.first_served),
        ("first KV in use", &instants.first_kv),
        ("last served", &instants.last_served),
        ("asked to stop", &instants.asked),
        ("stopping", &instants.stopping),
        ("drained", &instants.drained),
        ("ended", &instants.ended),
    ]
}

/// How a run fared.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ready => "ready",
        Verdict::NotReadyYet => "not ready yet",
        Verdict::NoReadyLineOfItsOwn => "alive; of a rank above 0, which prints no ready line",
        Verdict::ReadyThenStopped => "was ready, then stopped",
        Verdict::ReadyThenStopping => "was ready, is stopping",
        Verdict::ReadyThenDied => "was ready, then died",
        Verdict::ReadyEndNotInLog => "was ready; its end is not in the log",
        Verdict::NeverReady => "never ready",
        Verdict::NeverRan => "the program never ran",
        Verdict::ReadyLineAfterFailedWarmup => "ready line printed although the warm-up failed",
        Verdict::ServedWithoutReadyLine => "served a client, ready line missing",
        Verdict::StartNotInLog => "alive; its start and readiness are not in the log",
        Verdict::Skipped => "skipped: a condition was not met",
        Verdict::NeverStarted => "never started",
    }
}

/// Why a run began.
pub fn cause(cause: &Cause) -> String {
    match cause {
        Cause::FirstStart => "first start in the log".into(),
        Cause::RequestedRestart { same_job: Some(true) } => "requested restart (stop and start are one job)".into(),
        Cause::RequestedRestart { .. } => "requested restart".into(),
        Cause::StopThenStart => "stop, then start".into(),
        Cause::StopThenStartOrRestart => "stop, then start or restart".into(),
        Cause::Automatic { after } => format!("automatic restart after {after}"),
        Cause::Watchdog => "automatic restart: the watchdog killed the run before".into(),
        Cause::OomKill => "automatic restart: the run before was killed for memory".into(),
        Cause::Reboot => "reboot".into(),
        Cause::StartedAgain { after } => match after {
            Ending::Asked => "started again; the run before was asked to stop".into(),
            Ending::Crashed => "started again; the run before crashed".into(),
            Ending::Silent => "started again; the run before ended without a word".into(),
        },
        Cause::Unknown { why } => format!("unknown: {why}"),
        Cause::StartNotInLog => "its start is not in the log".into(),
        Cause::NotStarted { why } => format!("not started: {why}"),
    }
}

/// A trap's name.
pub fn trap(kind: TrapKind) -> &'static str {
    match kind {
        TrapKind::StaleReadyLine => "stale ready line",
        TrapKind::LateLine => "late line of the run before",
        TrapKind::CrashLoop => "crash loop",
        TrapKind::ReadyThenCrash => "ready, then crash",
        TrapKind::ReadyThenLost => "ready, then lost",
        TrapKind::LogBeginsMidway => "log begins midway",
        TrapKind::TwoUnitsAtOnce => "two units at once",
        TrapKind::ReadyAfterFailedWarmup => "ready after a failed warm-up",
        TrapKind::WarmupSkipped => "warm-up skipped",
        TrapKind::ClockStep => "clock step",
        TrapKind::RateLimit => "rate limit",
        TrapKind::ExecFailed => "exec failed",
        TrapKind::StopDuringRestartDelay => "stop during the restart delay",
        TrapKind::Reboot => "reboot",
        TrapKind::ReadyLineMissing => "ready line missing",
        TrapKind::RestartNotInLog => "restart that is not in the log",
        TrapKind::PollContradicts => "poll contradicts the log",
        TrapKind::ResultOfOldSystemd => "result of an old systemd",
    }
}

/// How well an instant is known, in one word.
pub fn known(instant: &Instant) -> &'static str {
    match instant {
        Instant::Exact { .. } => "exact",
        Instant::AtMost { .. } => "upper bound",
        Instant::AtLeast { .. } => "lower bound",
        Instant::Within { .. } => "interval",
        Instant::Never { .. } => "never",
        Instant::Unknown { .. } => "unknown",
    }
}

/// When a record was written: UTC, else the boot's own clock; empty where nothing says.
pub fn time(mark: &Mark) -> String {
    match (mark.wall, mark.mono) {
        (Some(wall), _) => rfc3339(wall.start, wall.width()),
        (None, Some(mono)) => format!("{:.6} s of boot {}", mono.ns as f64 / 1e9, mono.boot + 1),
        (None, None) => String::new(),
    }
}

/// An instant as time; `None` for one that is never or unknown.
pub fn when(instant: &Instant) -> Option<String> {
    let time = |mark: &Mark| Some(time(mark)).filter(|text| !text.is_empty()).unwrap_or_else(|| "a record without a time".into());
    Some(match instant {
        Instant::Exact { mark } => time(mark),
        Instant::AtMost { mark, .. } => format!("by {}", time(mark)),
        Instant::AtLeast { mark, .. } => format!("after {}", time(mark)),
        Instant::Within { after, before, .. } => format!("{} … {}", time(after), time(before)),
        Instant::Never { .. } | Instant::Unknown { .. } => return None,
    })
}

/// Why an instant is no exact one.
pub fn why(instant: &Instant) -> Option<&str> {
    match instant {
        Instant::Exact { .. } => None,
        Instant::AtMost { why, .. } | Instant::AtLeast { why, .. } | Instant::Within { why, .. } => Some(why),
        Instant::Never { why } | Instant::Unknown { why } => Some(why),
    }
}

/// Nanoseconds as seconds, to the millisecond.
pub fn seconds(ns: i64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}

/// A length for people: `11.496 s`, `at least 8.100 s`, `3.000 to 4.000 s`.
pub fn length(length: &Length) -> String {
    let clock = match length.on {
        Measured::Monotonic => "monotonic",
        Measured::Wall => "wall clock",
        Measured::WallOverReboot => "wall clock, over a reboot",
    };
    let text = match (length.least, length.most) {
        // What two stamps of a microsecond leave open is not worth a word.
        (Some(least), Some(most)) if most.saturating_sub(least) <= 10_000 => {
            format!("{} s", seconds(length.middle().unwrap_or(least)))
        }
        (Some(least), Some(most)) => format!("{} to {} s", seconds(least.max(0)), seconds(most)),
        (Some(least), None) => format!("at least {} s", seconds(least.max(0))),
        (None, Some(most)) => format!("at most {} s", seconds(most)),
        (None, None) => "unknown".into(),
    };
    format!("{text} ({clock})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let of = |least, most| length(&Length { least, most, on: Measured::Wall, cites: Vec::new() });
        assert_eq!(of(Some(11_496_209_000), Some(11_496_211_000)), "11.496 s (wall clock)");
        assert_eq!(of(Some(-5), Some(2_000_000_000)), "0.000 to 2.000 s (wall clock)");
        assert_eq!(of(Some(8_100_000_000), None), "at least 8.100 s (wall clock)");
        assert_eq!(of(None, None), "unknown (wall clock)");
    }
}
