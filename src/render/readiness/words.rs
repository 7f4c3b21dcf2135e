//! Causes, verdicts, traps, instants and lengths in words.

use corr_parsers::stamp::SECOND;
use corr_readiness::history::{Away, Cause, Ending, Instants, Sign, TrapKind, Verdict};
use corr_readiness::time::{Length, Measured, length_text};
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
        Verdict::WorkedWithoutReadyLine => "worked on requests, ready line missing",
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

/// An outage's window: what its two records are, of the runs of these numbers.
pub fn away(away: &Away, old: usize, new: usize) -> String {
    let sign = match away.by {
        Sign::Stop => "the stop",
        Sign::Answer => "the last answer",
        Sign::Line => "the last line (whether it answered until then is not said)",
    };
    match away.until {
        Some(_) => format!("from {sign} of run {old} to run {new} ready"),
        None => format!("from {sign} of run {old}; run {new} was not ready"),
    }
}

/// How long that window is.
pub fn away_length(away: &Away) -> String {
    match &away.length {
        Ok(known) => length(known),
        Err(why) => format!("unknown: {why}"),
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

/// An instant in the digits of a unit of nanoseconds, rounded up or down: what bounds an interval leaves none of it out.
pub fn moment(ns: i64, unit: i64, up: bool) -> String {
    let unit = unit.max(1);
    let down = ns.div_euclid(unit).saturating_mul(unit);
    rfc3339(if up && down < ns { down.saturating_add(unit) } else { down }, unit)
}

/// When a record was written: UTC, else the boot's own clock; empty where nothing says. A time stands for all of its last digit's unit.
pub fn time(mark: &Mark) -> String {
    stamped(mark, false)
}

/// The same as the end of an interval: a stamp that its digits cannot say is rounded up.
fn time_by(mark: &Mark) -> String {
    stamped(mark, true)
}

fn stamped(mark: &Mark, up: bool) -> String {
    match (mark.wall, mark.mono) {
        (Some(wall), _) => {
            let unit = [SECOND, 1_000_000, 1_000].into_iter().find(|unit| wall.width() >= *unit).unwrap_or(1);
            let whole = wall.width() == unit && wall.start.rem_euclid(unit) == 0;
            moment(if up && !whole { wall.end } else { wall.start }, unit, up)
        }
        (None, Some(mono)) => format!("{:.6} s of boot {}", mono.ns as f64 / 1e9, mono.boot + 1),
        (None, None) => String::new(),
    }
}

/// An instant as time; `None` for one that is never or unknown.
pub fn when(instant: &Instant) -> Option<String> {
    let told = |text: String| Some(text).filter(|text| !text.is_empty()).unwrap_or_else(|| "a record without a time".into());
    let (time, by) = (|mark: &Mark| told(time(mark)), |mark: &Mark| told(time_by(mark)));
    Some(match instant {
        Instant::Exact { mark } => time(mark),
        Instant::AtMost { mark, .. } => format!("by {}", by(mark)),
        Instant::AtLeast { mark, .. } => format!("after {}", time(mark)),
        Instant::Within { after, before, .. } => format!("{} … {}", time(after), by(before)),
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

/// A length for people, with its clock: `11.496 s (monotonic)`, `3.000 to 4.000 s (wall clock)`.
pub fn length(length: &Length) -> String {
    let clock = match length.on {
        Measured::Monotonic => "monotonic",
        Measured::Wall => "wall clock",
        Measured::WallOverReboot => "wall clock, over a reboot",
    };
    format!("{} ({clock})", length_text(length))
}

#[cfg(test)]
mod tests {
    use corr_parsers::stamp::Stamp;
    use corr_readiness::Cite;

    use super::*;

    #[test]
    fn bounds_of_instants() {
        let mark = |start: i64, width: i64| Mark {
            cite: Cite { source: 0, offset: 0, len: 0 },
            wall: Some(Stamp::new(1_795_979_600 * SECOND + start, width)),
            mono: None,
            boot: None,
            order: 0,
        };
        let within = |after: Mark, before: Mark| when(&Instant::Within { after, before, why: "" }).unwrap();
        // A stamp of whole seconds stands for its second.
        assert_eq!(within(mark(0, SECOND), mark(3 * SECOND, SECOND)), "2026-11-29T19:13:20Z … 2026-11-29T19:13:23Z");
        // Of 20.895190500 to 23.914385400 nothing is left out.
        assert_eq!(
            within(mark(895_190_500, 1_000), mark(3_914_384_400, 1_000)),
            "2026-11-29T19:13:20.895190Z … 2026-11-29T19:13:23.914386Z"
        );
        assert_eq!(moment(1_500, 1_000_000, true), "1970-01-01T00:00:00.001Z");
        assert_eq!(moment(2_000_000, 1_000_000, true), "1970-01-01T00:00:00.002Z");
    }

    #[test]
    fn lengths() {
        let of = |least, most| length(&Length { least, most, on: Measured::Wall, cites: Vec::new() });
        assert_eq!(of(Some(11_496_209_000), Some(11_496_211_000)), "11.496 s (wall clock)");
        assert_eq!(of(Some(-5), Some(2_000_000_000)), "0.000 to 2.000 s (wall clock)");
        assert_eq!(of(Some(8_100_000_000), None), "at least 8.100 s (wall clock)");
        assert_eq!(of(None, None), "unknown (wall clock)");
        // Lower bounds are rounded down and upper ones up: 0.5345 to 7.2646 s is within what is written.
        assert_eq!(of(Some(534_515_000), Some(7_264_601_000)), "0.534 to 7.265 s (wall clock)");
        assert_eq!(of(Some(534_999_999), None), "at least 0.534 s (wall clock)");
        assert_eq!(of(None, Some(2_000_000_001)), "at most 2.001 s (wall clock)");
        assert_eq!(of(None, Some(-1_500_000)), "at most -0.001 s (wall clock)");
    }
}
