//! What is new in a history since it was last looked at.

use std::collections::HashMap;

use corr_readiness::history::{Cause, ENDS, Ending, History, Invocation, Opened, Point, TrapKind, UnitHistory, Verdict};
use corr_readiness::{Cite, Instant};

use super::back::is_unit;
use super::cited::Cited;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Started,
    Execd,
    Loading,
    Loaded,
    Listening,
    Ready,
    FirstServed,
    MetricsLive,
    /// A KV gauge is above zero.
    FirstKv,
    /// A stop was asked for.
    Asked,
    Stopping,
    Drained,
    Ended,
    /// A line says that a process of the server failed.
    Crashed,
    /// The run will not be ready.
    NeverReady,
    /// Several starts without a stop in between.
    CrashLoop,
    /// What would mislead a reader of the log.
    Trap(TrapKind),
    /// `/health` says 200 for the first time, or again.
    HealthUp,
    HealthDown,
    /// The first scrape that failed after one that answered.
    MetricsDown,
    /// An expected metric is there.
    MetricThere,
    /// Of a source, not of a unit: rotated, truncated, not there.
    Source,
}

/// Something that happened, told as it happens.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Transition {
    /// As it was asked for; empty for what is of no unit.
    pub unit: String,
    /// Which run of it, from 0 for the first that was seen.
    pub run: Option<usize>,
    pub what: What,
    /// How well it is known; `None` for what is no instant of a run.
    pub instant: Option<Instant>,
    /// It was told before, and is known better now.
    pub again: bool,
    /// It was so before following began.
    pub before: bool,
    /// In words. Parts of it may be input: to be made safe for a terminal.
    pub says: String,
    /// What says so.
    pub cites: Vec<Cited>,
    /// When corr saw it, nanoseconds since the epoch.
    pub seen_at: i64,
}

/// A transition whose citations are not looked up yet.
#[derive(Debug)]
pub struct Change {
    pub unit: String,
    pub run: usize,
    pub what: What,
    pub instant: Option<Instant>,
    pub again: bool,
    pub says: String,
    pub cites: Vec<Cite>,
}

/// Of each run, what was told, and whether it was exact.
type Told = HashMap<(String, String, usize), HashMap<What, bool>>;

/// What was told so far.
#[derive(Debug, Default)]
pub struct Changes {
    told: Told,
}

/// Runs of a unit whose changes are still told: nothing happens to older ones.
const LIVE: usize = 4;

impl Changes {
    /// Everything new. `first`: only of each unit's newest run, which is what there was before. `logged` says whether a unit's log is followed:
    /// then what polls alone show of a run waits for its log, which numbers runs and says more.
    pub fn of(&mut self, history: &History, units: &[String], first: bool, logged: impl Fn(&str) -> bool) -> Vec<Change> {
        let mut found = Vec::new();
        for unit in &history.units {
            let Some(name) = units.iter().find(|name| is_unit(&unit.unit, name)) else { continue };
            let runs = unit.invocations.len();
            for (at, run) in unit.invocations.iter().enumerate().skip(runs.saturating_sub(LIVE)) {
                if run.opened == Opened::ByRows && logged(name) {
                    continue;
                }
                let told = self.told.entry((unit.host.clone(), unit.unit.clone(), at)).or_default();
                let mut new = changes(unit, at, run, told);
                if first && at + 1 < runs {
                    continue;
                }
                for change in &mut new {
                    change.unit.clone_from(name);
                }
                found.append(&mut new);
            }
        }
        found
    }
}

fn changes(unit: &UnitHistory, at: usize, run: &Invocation, told: &mut HashMap<What, bool>) -> Vec<Change> {
    let mut found = Vec::new();
    let i = &run.instants;
    let all = [
        (What::Started, &i.started),
        (What::Execd, &i.execd),
        (What::Loading, &i.loading),
        (What::Loaded, &i.loaded),
        (What::Listening, &i.listening),
        (What::MetricsLive, &i.metrics_live),
        (What::Ready, &i.ready),
        (What::FirstServed, &i.first_served),
        (What::FirstKv, &i.first_kv),
        (What::Asked, &i.asked),
        (What::Stopping, &i.stopping),
        (What::Drained, &i.drained),
        (What::Ended, &i.ended),
    ];
    let mut tell = |what: What, exact: bool, instant: Option<Instant>, says: String, cites: Vec<Cite>| {
        let before = told.insert(what, exact);
        if before.is_none() || (before == Some(false) && exact) {
            found.push(Change { unit: String::new(), run: at, what, instant, again: before.is_some(), says, cites });
        } else if before == Some(true) {
            told.insert(what, true);
        }
    };
    for (what, instant) in all {
        // Not answering is not yet ended.
        if !instant.happened() || (what == What::Ended && !over(unit, at, run)) {
            continue;
        }
        let mut says = why(instant);
        if what == What::Started {
            says = [cause(&run.cause), says].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        }
        if what == What::Ended {
            says = [how(run), says].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        }
        tell(what, matches!(instant, Instant::Exact { .. }), Some(instant.clone()), says, instant.cites());
    }
    if let Some(mark) = run.first(Point::Crashed) {
        tell(What::Crashed, true, Some(Instant::Exact { mark }), "a process of the server failed".into(), vec![mark.cite]);
    }
    if matches!(run.verdict, Verdict::NeverReady | Verdict::NeverRan | Verdict::NeverStarted) {
        let (says, cites) = (never(run), last_words(run));
        tell(What::NeverReady, true, None, says, cites);
    }
    for trap in &run.traps {
        let what = match trap.kind {
            TrapKind::CrashLoop => What::CrashLoop,
            // Said of every run whose log begins midway, or that is not ready while the one before was: its instants say so.
            TrapKind::LogBeginsMidway | TrapKind::StaleReadyLine | TrapKind::Reboot | TrapKind::ResultOfOldSystemd => continue,
            kind => What::Trap(kind),
        };
        tell(what, true, None, trap.says.clone(), trap.cites.clone());
    }
    found
}

/// Is a run over by what its log says: its own end, or another run after it?
pub fn over(unit: &UnitHistory, at: usize, run: &Invocation) -> bool {
    at + 1 < unit.invocations.len() || ENDS.iter().any(|point| run.first(*point).is_some())
}

/// How it ended, by the log.
pub fn how(run: &Invocation) -> String {
    match (&run.exit, &run.result) {
        (Some(exit), Some(result)) => format!("{exit}, result {result}"),
        (Some(how), None) | (None, Some(how)) => how.clone(),
        (None, None) => String::new(),
    }
}

/// Why a run that is over was never ready.
pub fn never(run: &Invocation) -> String {
    let how = how(run);
    let how = if how.is_empty() { String::new() } else { format!(": {how}") };
    match run.verdict {
        Verdict::NeverRan => format!("the program could not be executed{how}"),
        Verdict::NeverStarted => format!("nothing was started{how}"),
        _ => format!("its start failed{how}"),
    }
}

/// The records that say most of how a run ended.
pub fn last_words(run: &Invocation) -> Vec<Cite> {
    let points = [Point::ExecFailed, Point::Crashed, Point::Exit, Point::Failed, Point::StartFailed, Point::StartLimit];
    let mut cites: Vec<Cite> = points.iter().filter_map(|point| run.first(*point)).map(|mark| mark.cite).collect();
    if cites.is_empty() {
        cites.extend(run.seen.iter().map(|(_, seen)| seen.last).max_by_key(|mark| mark.order).map(|mark| mark.cite));
    }
    cites
}

fn why(instant: &Instant) -> String {
    match instant {
        Instant::AtMost { why, .. } | Instant::AtLeast { why, .. } | Instant::Within { why, .. } => (*why).to_owned(),
        _ => String::new(),
    }
}

fn cause(cause: &Cause) -> String {
    match cause {
        Cause::FirstStart | Cause::StartNotInLog => String::new(),
        Cause::RequestedRestart { .. } => "a restart was asked for".into(),
        Cause::StopThenStart => "stopped, then started".into(),
        Cause::StopThenStartOrRestart => "stopped and started, or restarted".into(),
        Cause::Automatic { after } => format!("restarted by systemd after {after}"),
        Cause::Watchdog => "restarted after systemd's watchdog".into(),
        Cause::OomKill => "restarted after it was killed for memory".into(),
        Cause::Reboot => "the host was booted".into(),
        Cause::StartedAgain { after: Ending::Asked } => "started again after a stop".into(),
        Cause::StartedAgain { after: Ending::Crashed } => "started again after a crash".into(),
        Cause::StartedAgain { after: Ending::Silent } => "started again; the run before said nothing of its end".into(),
        Cause::Unknown { why } | Cause::NotStarted { why } => why.clone(),
    }
}
