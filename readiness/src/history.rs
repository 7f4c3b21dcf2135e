//! The answer: every start, stop and restart of every unit, with what each is known by.

use serde::Serialize;

pub use crate::run::{ENDS, Opened, Point, Seen};
pub use crate::steps::Step;
use crate::time::{Cite, Instant, Length, Mark};

/// Everything that was seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct History {
    /// In the order in which they came into view.
    pub units: Vec<UnitHistory>,
    /// Boot ids, or names made here where the rendering has none. [`crate::time::Mono::boot`] counts in them.
    pub boots: Vec<String>,
    /// Where the wall clock was set.
    pub steps: Vec<Step>,
    /// Of all units together.
    pub cannot_say: Vec<CannotSay>,
}

impl History {
    /// The unit of a name, of any host; several hosts may have one of the same name.
    pub fn unit<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a UnitHistory> {
        self.units.iter().filter(move |unit| unit.unit == name)
    }
}

/// One unit of one host, or one process without a manager.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitHistory {
    pub host: String,
    pub unit: String,
    /// The rendering names no unit: `unit` is an identifier, and several programs may have it.
    pub unnamed: bool,
    pub invocations: Vec<Invocation>,
    pub loops: Vec<CrashLoop>,
    /// First and last scrape, where every scrape that answered was of one process by its `process_start_time_seconds`.
    pub one_process: Option<[Mark; 2]>,
    /// Windows in which journald dropped lines.
    pub dropped: Vec<Dropped>,
    pub cannot_say: Vec<CannotSay>,
    /// The last record of it.
    pub last: Option<Mark>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Invocation {
    /// Empty where the rendering has none.
    pub id: String,
    /// Index in [`History::boots`].
    pub boot: Option<u32>,
    pub opened: Opened,
    pub pids: Vec<u32>,
    pub cause: Cause,
    pub verdict: Verdict,
    /// systemd's `success`, `exit-code`, `oom-kill`, …; `None`: not said.
    pub result: Option<String>,
    /// `killed/9/KILL`; `None`: not said, as for every clean exit.
    pub exit: Option<String>,
    pub instants: Instants,
    pub lengths: Lengths,
    /// How long it was away before this run; `None` for what is no restart.
    pub outage: Option<Outage>,
    /// The first record of another process that may send requests to it.
    pub found_by_others: Option<Mark>,
    /// The first record of another process that lost it, once it was ready: what clients feel first. A health check that was answered with
    /// 503 is none, nor is what a process says that is stopping itself.
    pub lost_by_others: Option<Mark>,
    pub traps: Vec<Trap>,
    pub cannot_say: Vec<CannotSay>,
    /// The last poll that it answered well, if one was not after it.
    pub last_answered: Option<Mark>,
    /// Each point that was seen, for those who need more than instants.
    pub seen: Vec<(Point, Seen)>,
}

impl Invocation {
    /// The first record of a point.
    pub fn first(&self, point: Point) -> Option<Mark> {
        self.seen.iter().find(|(seen, _)| *seen == point).map(|(_, seen)| seen.first)
    }

    /// The last record of a point.
    pub fn last(&self, point: Point) -> Option<Mark> {
        self.seen.iter().find(|(seen, _)| *seen == point).map(|(_, seen)| seen.last)
    }
}

/// One life, in its order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Instants {
    /// systemd began the start, or the process's first sign.
    pub started: Instant,
    /// The program runs.
    pub execd: Instant,
    pub loading: Instant,
    pub loaded: Instant,
    /// The port is open; `/health` may still answer 503.
    pub listening: Instant,
    pub ready: Instant,
    /// The first answer to a client.
    pub first_served: Instant,
    pub metrics_live: Instant,
    /// A KV gauge is above zero.
    pub first_kv: Instant,
    /// The last sign of work for a client.
    pub last_served: Instant,
    /// Somebody asked for the stop: no later than systemd began it.
    pub asked: Instant,
    pub stopping: Instant,
    /// No request was open any more.
    pub drained: Instant,
    /// The main process was gone.
    pub ended: Instant,
}

impl Instants {
    /// Was it being stopped, whoever wanted it?
    pub fn stops(&self) -> bool {
        self.asked.happened() || self.stopping.happened()
    }
}

/// How long each part took, or why that is not known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lengths {
    pub start_to_loading: Result<Length, String>,
    pub loading_to_loaded: Result<Length, String>,
    pub loaded_to_ready: Result<Length, String>,
    pub start_to_ready: Result<Length, String>,
    pub ready_to_served: Result<Length, String>,
    /// From ready to its end.
    pub ready_for: Result<Length, String>,
    pub stop_to_end: Result<Length, String>,
    /// Waited so far, for a run that is not ready when its log ends.
    pub waited: Result<Length, String>,
}

/// What is the last that is known of a server before it was away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// The first sign of its stop: until then it was there for whoever asked.
    Stop,
    /// Its last answer or work for a client, or the last poll that it answered.
    Answer,
    /// Its last line, or the record of its end: that it answered until then is not said.
    Line,
}

/// An outage as one window, which every command means by `outage:UNIT#N`: from the last sign of the run before to the record by which this one
/// was ready. The longest that it can have been, but for [`Sign::Line`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Away {
    pub since: Mark,
    pub by: Sign,
    /// `None`: it was never ready again.
    pub until: Option<Mark>,
    /// Between these two records.
    pub length: Result<Length, String>,
}

impl Away {
    /// Its first nanosecond, UTC, and the one behind its last as far as that is known: `None` without a wall clock, or where stamps contradict it.
    pub fn span(&self) -> Option<(i64, Option<i64>)> {
        let since = self.since.wall?.start;
        let until = self.until.and_then(|mark| mark.wall).map(|wall| wall.end);
        until.is_none_or(|until| until > since).then_some((since, until))
    }
}

/// From the run before to this one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outage {
    /// `None`: nothing of the run before bears a time.
    pub window: Option<Away>,
    /// From the last answer of the run before to this one ready: what clients saw.
    pub served_to_ready: Result<Length, String>,
    pub stopping_to_ready: Result<Length, String>,
    pub end_to_start: Result<Length, String>,
    pub end_to_ready: Result<Length, String>,
    /// By how much the wall clock was set in between, in nanoseconds.
    pub clock_step: Option<i64>,
}

/// Why a run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "cause")]
pub enum Cause {
    /// Nothing of the unit is in the log before.
    FirstStart,
    /// One `systemctl restart`: `Some(true)` when stop and start bear one job id.
    RequestedRestart {
        same_job: Option<bool>,
    },
    /// A stop job, and later a start.
    StopThenStart,
    /// The rendering has no job fields: one of the two.
    StopThenStartOrRestart,
    /// `Restart=` of the unit, after a run of this result.
    Automatic {
        after: String,
    },
    /// systemd's watchdog killed the run before.
    Watchdog,
    /// The run before was killed for memory.
    OomKill,
    Reboot,
    /// A process without a manager is there again; what the one before left behind.
    StartedAgain {
        after: Ending,
    },
    /// The run before ended, and no line says who started this one.
    Unknown {
        why: String,
    },
    /// Its start is not in the log.
    StartNotInLog,
    /// Nothing was started.
    NotStarted {
        why: String,
    },
}

/// How a process without a manager ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It said that it was asked to.
    Asked,
    /// It said why it failed.
    Crashed,
    /// It said nothing: killed, or its last lines are lost.
    Silent,
}

/// How a run fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Ready,
    NotReadyYet,
    /// A node of a rank above 0: it prints no ready line, readiness is the first node's.
    NoReadyLineOfItsOwn,
    ReadyThenStopped,
    /// It is being stopped; its end is not in the log.
    ReadyThenStopping,
    ReadyThenDied,
    /// Another run follows, and no line says how this one ended.
    ReadyEndNotInLog,
    NeverReady,
    /// The program could not be executed.
    NeverRan,
    ReadyLineAfterFailedWarmup,
    /// A client was served; the ready line is not there.
    ServedWithoutReadyLine,
    /// It worked on requests of which no warm-up has as many; the ready line is not there.
    WorkedWithoutReadyLine,
    /// Alive, and its start and readiness are not in the log.
    StartNotInLog,
    Skipped,
    /// A dependency failed.
    NeverStarted,
}

/// What misleads a reader of these lines, and how it was taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trap {
    pub kind: TrapKind,
    /// One sentence, without text from the input but unit names, results and warm-up messages: those are the caller's to make safe.
    pub says: String,
    pub cites: Vec<Cite>,
}

/// The traps, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrapKind {
    StaleReadyLine,
    LateLine,
    CrashLoop,
    ReadyThenCrash,
    /// It was ready, and its health checks failed later.
    ReadyThenLost,
    LogBeginsMidway,
    TwoUnitsAtOnce,
    ReadyAfterFailedWarmup,
    WarmupSkipped,
    ClockStep,
    RateLimit,
    ExecFailed,
    StopDuringRestartDelay,
    Reboot,
    ReadyLineMissing,
    /// A poll says other than the log.
    PollContradicts,
    /// Scrapes show a process of whose start the log has nothing.
    RestartNotInLog,
    /// The result of v229 names what the process did, not why.
    ResultOfOldSystemd,
}

/// A question that has no answer, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CannotSay {
    pub what: &'static str,
    pub why: String,
    pub cites: Vec<Cite>,
}

/// Starts that followed each other without a stop in between.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrashLoop {
    /// Places in [`UnitHistory::invocations`]: first and last.
    pub first: usize,
    pub last: usize,
    pub starts: usize,
    pub exits: usize,
    pub ready: usize,
    /// systemd's start limit was hit.
    pub gave_up: bool,
    pub result: Option<String>,
    pub cites: Vec<Cite>,
}

/// journald dropped lines of the unit: the lines between are no evidence of absence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dropped {
    /// The last line of the unit before; dropped ones come after it.
    pub after: Option<Mark>,
    /// The record that says so, written with the next line that was let through.
    pub said: Mark,
    pub messages: Option<u64>,
}
