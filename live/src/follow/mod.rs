//! Starts followed as they happen: `corr ready --follow`.
//!
//! Data flows one way. Threads read files (`tail`) and journalctl (`journal`), tasks poll endpoints (`polls`); what they find comes
//! over one channel to the loop in `watch`, where bytes become observations (`lines`), observations and polls a history
//! (corr-readiness), and what is new in the history is told (`changes`) and judged (`verdict`, `metrics`).

mod back;
mod changes;
mod cited;
mod file;
mod journal;
mod lines;
mod message;
mod metrics;
mod plan;
mod polls;
mod sources;
mod tail;
mod take;
mod verdict;
mod watch;
mod zone;

use std::path::PathBuf;
use std::time::Duration;

use corr_parsers::clock::Rule;
use corr_readiness::History;

pub use changes::{Transition, What};
pub use cited::Cited;
pub use journal::Journal;
pub use metrics::MetricState;
pub use plan::{Followed, PlanError};
pub use verdict::{Require, State};

use crate::clock::Clock;
use crate::http::Request;
use crate::stop::Stop;
use crate::target::Target;

/// What is followed, and until when.
#[derive(Clone, Debug)]
pub struct Follow {
    /// Names as systemd has them, with or without `.service`, or the caller's own. None: the files' names, or the endpoints'.
    pub units: Vec<String>,
    pub files: Vec<Followed>,
    /// Follows the journal of every unit.
    pub journal: Option<Journal>,
    /// `UNIT=URL`, or a URL where there is one unit. The first of a unit says whether its metrics are live; expected metrics are looked for at all.
    pub metrics: Vec<Target>,
    pub health: Vec<Target>,
    pub request: Request,
    /// A PEM file of authorities trusted besides the system's.
    pub ca: Option<PathBuf>,
    /// From one poll of an endpoint to the next.
    pub every: Duration,
    pub timeout: Duration,
    pub require: Require,
    pub expect_metric: Vec<String>,
    /// When all units hold and an expected metric is known to be missing, so long it is waited for all the same.
    pub settle: Duration,
    /// What stamps without a zone mean. `None`: the machine's zone, corrected where lines that were just written show another.
    pub zone: Option<Rule>,
    pub clock: Clock,
    pub options: corr_readiness::Options,
}

impl Follow {
    /// Nothing is followed yet; ten minutes for everything to be ready, a poll a second.
    pub fn new(clock: Clock) -> Follow {
        Follow {
            units: Vec::new(),
            files: Vec::new(),
            journal: None,
            metrics: Vec::new(),
            health: Vec::new(),
            request: Request::default(),
            ca: None,
            every: Duration::from_secs(1),
            timeout: Duration::from_secs(600),
            require: Require::Ready,
            expect_metric: Vec::new(),
            settle: Duration::from_secs(35),
            zone: None,
            clock,
            options: corr_readiness::Options::default(),
        }
    }

    /// Follows until the requirement holds for every unit, one has failed, nothing can be known, the time is over, or `cancel` is asked.
    /// Every transition is given to `on` as it is seen. Needs a running tokio with time and I/O.
    pub async fn follow(self, cancel: Stop, on: impl FnMut(&Transition)) -> Result<Outcome, PlanError> {
        watch::run(self, cancel, on).await
    }
}

/// Why following ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Every unit has an answer.
    Answered,
    TimedOut,
    Cancelled,
}

/// What following came to.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Outcome {
    pub ended: Ended,
    /// In the order asked for.
    pub units: Vec<UnitOutcome>,
    pub metrics: Vec<MetricOutcome>,
    pub sources: Vec<SourceOutcome>,
    /// Everything that was seen.
    pub history: History,
}

/// A unit at the end.
#[derive(Clone, Debug, serde::Serialize)]
pub struct UnitOutcome {
    pub unit: String,
    /// `Waits`: the time was over, or the end was asked for, before there was an answer.
    pub state: State,
    pub says: String,
    pub cites: Vec<Cited>,
}

/// An expected metric at the end.
#[derive(Clone, Debug, serde::Serialize)]
pub struct MetricOutcome {
    pub name: String,
    pub state: MetricState,
    pub says: String,
    pub cites: Vec<Cited>,
}

/// A source at the end.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SourceOutcome {
    pub name: String,
    /// Records read, or attempts made.
    pub records: u64,
    /// Bytes passed over: of no known format, or a line of many megabytes.
    pub lost: u64,
    pub rotations: u64,
    pub truncations: u64,
    pub fault: Option<String>,
}

impl Outcome {
    /// 0 if everything holds; 1 if a unit failed, an expected metric is not there, or the time was over; 4 if that cannot be known, or the
    /// end was asked for before there was an answer.
    pub fn exit_code(&self) -> u8 {
        let unit = |state| self.units.iter().any(|unit| unit.state == state);
        let metric = |states: &[MetricState]| self.metrics.iter().any(|metric| states.contains(&metric.state));
        if unit(State::Failed) || (unit(State::Waits) && self.ended == Ended::TimedOut) {
            return 1;
        }
        if unit(State::CannotBeKnown) || unit(State::Waits) || (self.ended == Ended::Cancelled && !self.metrics.is_empty()) {
            return if self.holds() { 0 } else { 4 };
        }
        if metric(&[MetricState::Missing, MetricState::NotEnabled, MetricState::Down, MetricState::Unreadable]) {
            return 1;
        }
        if metric(&[MetricState::Lazy, MetricState::NotScraped]) { 4 } else { 0 }
    }

    /// Every unit holds, and every expected metric is there.
    pub fn holds(&self) -> bool {
        self.units.iter().all(|unit| unit.state == State::Holds) && self.metrics.iter().all(|metric| metric.state == MetricState::There)
    }
}
