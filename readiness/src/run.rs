//! One run of one unit: what was seen of it, first and last of each point. Bounded, however long its log.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::observe::{About, Fact, Job, Observation, ServerArgs, Word, Writer};
use crate::time::{Cite, Mark};

/// What a run can be seen to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    Starting,
    Started,
    Finished,
    Skipped,
    StartFailed,
    DependencyFailed,
    Stopping,
    Stopped,
    Exit,
    Failed,
    Deactivated,
    RestartDue,
    RestartScheduled,
    StartLimit,
    StartTimeout,
    StopTimeout,
    Watchdog,
    ExecFailed,
    Oom,
    SignalSent,
    /// Any line of a process of the run.
    Line,
    /// A line that only a server past its configuration prints.
    ProperLine,
    ServerArgs,
    RuntimeBegan,
    InitBegan,
    LoadBegin,
    LoadEnd,
    Sized,
    ServerProcess,
    Listening,
    ReadyLine,
    WarmupFailed,
    Registered,
    Served,
    /// Served to this host, after the ready line: before it, that is the warm-up.
    ServedLocal,
    Batch,
    Sigterm,
    ShutsDown,
    Drained,
    HealthFailed,
    ProcessFinished,
    Crashed,
}

/// How a run came into view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Opened {
    /// The manager's `Starting` or `Started`.
    ByManager,
    /// The manager spoke of a start that never became a process.
    NotStarted,
    /// What a server prints at its start; no manager speaks of it.
    ByServerArgs,
    /// Lines of a start, of a process whose configuration is not in the log (`-o json` without `--all` leaves it out).
    ByStartLines,
    /// A line of a process, of a unit whose earlier run had ended.
    ByServiceLine,
    /// Its start is not in the log.
    Midway,
    /// Seen only from outside: by polls, scrapes, clients.
    ByRows,
}

/// First and last record of a point, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Seen {
    pub first: Mark,
    pub last: Mark,
    pub times: u64,
}

/// Lines of a run after its successor had begun.
#[derive(Clone, Debug, Default)]
pub struct Late {
    pub lines: u64,
    /// The first few.
    pub cites: Vec<Cite>,
    pub ready: Option<Mark>,
    /// The last that only a running server prints.
    pub proper: Option<Mark>,
}

/// First and last record that bear a time: one that does not bounds nothing.
fn keep(first: &mut Mark, last: &mut Mark, mark: Mark) {
    if first.timeless() && !mark.timeless() {
        *first = mark;
    }
    if last.timeless() || !mark.timeless() {
        *last = mark;
    }
}

/// Is it printed by the process with the HTTP server, never by a rank?
fn is_of_main(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::ServerArgs(_)
            | Fact::ServerProcess(_)
            | Fact::Listening
            | Fact::ReadyLine
            | Fact::Served { .. }
            | Fact::Sigterm
            | Fact::ShutsDown
            | Fact::Draining { .. }
    )
}

/// Ids and ranks kept of one run; more than any server has.
const MOST: usize = 256;

/// What says that a run has ended, the nearest to its end first.
pub const ENDS: [Point; 7] =
    [Point::Exit, Point::Deactivated, Point::Failed, Point::Stopped, Point::Finished, Point::StartFailed, Point::ProcessFinished];
/// What says that a run is being stopped.
pub const STOPS: [Point; 3] = [Point::Stopping, Point::Sigterm, Point::ShutsDown];
/// Citations kept of what can be repeated without end.
pub const FEW: usize = 4;

/// Everything kept of one run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Empty where the rendering has no invocation ids.
    pub invocation: String,
    /// Index of its boot; `None`: the rendering does not say.
    pub boot: Option<u32>,
    pub opened: Opened,
    pub first: Mark,
    pub last: Mark,
    pub pids: BTreeSet<u32>,
    /// Those that wrote what only a server's main process writes.
    pub mains: BTreeSet<u32>,
    /// Those that wrote a line which only a running server writes.
    pub proper_pids: BTreeSet<u32>,
    pub begun_ranks: BTreeSet<String>,
    pub loaded_ranks: BTreeSet<String>,
    pub args: Option<ServerArgs>,
    /// Names that other processes have for it.
    pub names: BTreeSet<String>,
    pub exit: Option<String>,
    pub result: Option<String>,
    pub warmup: Option<String>,
    pub crash: Option<&'static str>,
    pub start_job: Option<Job>,
    pub stop_job: Option<Job>,
    /// Job that `Stopped` belongs to.
    pub stopped_job: Option<Job>,
    pub start_result: Option<String>,
    pub restarts: Option<u64>,
    /// Records of dropped messages, and how many each says.
    pub dropped: Vec<(Mark, Option<u64>)>,
    pub late: Late,
    /// Its process's lines were attributed by process id or place alone.
    pub by_pid: bool,
    /// The configuration by whose `disaggregation_mode` alone its process was told from another unit's.
    pub hinted: Option<Mark>,
    /// The first line of a process that is of this run by place alone, and its process id: any program's line.
    pub guess: Option<(Option<u32>, Mark)>,
    /// Entries whose text the rendering left out, and the first few.
    pub lost: (u64, Vec<Cite>),
    points: BTreeMap<Point, Seen>,
}

impl Run {
    /// An empty run that came into view with a record.
    pub fn new(invocation: &str, boot: Option<u32>, opened: Opened, mark: Mark) -> Run {
        Run {
            invocation: invocation.to_owned(),
            boot,
            opened,
            first: mark,
            last: mark,
            pids: BTreeSet::new(),
            proper_pids: BTreeSet::new(),
            mains: BTreeSet::new(),
            begun_ranks: BTreeSet::new(),
            loaded_ranks: BTreeSet::new(),
            args: None,
            names: BTreeSet::new(),
            exit: None,
            result: None,
            warmup: None,
            crash: None,
            start_job: None,
            stop_job: None,
            stopped_job: None,
            start_result: None,
            restarts: None,
            dropped: Vec::new(),
            late: Late::default(),
            by_pid: false,
            hinted: None,
            guess: None,
            lost: (0, Vec::new()),
            points: BTreeMap::new(),
        }
    }

    /// How often a point was seen.
    pub fn times(&self, point: Point) -> u64 {
        self.points.get(&point).map_or(0, |seen| seen.times)
    }

    /// The first record of a point.
    pub fn first(&self, point: Point) -> Option<Mark> {
        self.points.get(&point).map(|seen| seen.first)
    }

    /// The last record of a point.
    pub fn last(&self, point: Point) -> Option<Mark> {
        self.points.get(&point).map(|seen| seen.last)
    }

    /// Was it seen?
    pub fn has(&self, point: Point) -> bool {
        self.points.contains_key(&point)
    }

    /// Which was seen first of these.
    pub fn earliest(&self, points: &[Point]) -> Option<Mark> {
        let marks = points.iter().filter_map(|point| self.first(*point));
        marks.reduce(|a, b| if b.before(&a) { b } else { a })
    }

    /// Every point seen, with its records.
    pub fn points(&self) -> impl Iterator<Item = (Point, Seen)> + '_ {
        self.points.iter().map(|(point, seen)| (*point, *seen))
    }

    /// Its first sign of a stop that it did not fall into: systemd's, a signal, its own shutdown.
    pub fn stop(&self) -> Option<Mark> {
        self.earliest(&STOPS)
    }

    /// The record by which its main process, or the run, had ended: the nearest to the end first.
    pub fn end(&self) -> Option<(Point, Mark)> {
        ENDS.iter().find_map(|point| Some((*point, self.first(*point)?)))
    }

    /// No process of it runs any more, as far as was seen, or it never had one.
    pub fn over(&self) -> bool {
        self.end().is_some() || self.opened == Opened::NotStarted
    }

    fn note(&mut self, point: Point, mark: Mark) {
        let seen = self.points.entry(point).or_insert(Seen { first: mark, last: mark, times: 0 });
        seen.times += 1;
        keep(&mut seen.first, &mut seen.last, mark);
    }

    /// Takes one record of this run.
    pub fn take(&mut self, seen: &Observation, mark: Mark) {
        keep(&mut self.first, &mut self.last, mark);
        if seen.writer == Writer::Service {
            if let Some((pid, first)) = self.guess.take_if(|(pid, _)| *pid == seen.pid && pid.is_some()) {
                self.pids.extend(pid);
                self.note(Point::Line, first);
            }
            self.note(Point::Line, mark);
            if is_of_main(&seen.fact) {
                self.mains.extend(seen.pid.filter(|_| self.mains.len() < MOST));
            }
            if seen.proper {
                self.note(Point::ProperLine, mark);
                self.proper_pids.extend(seen.pid.filter(|_| self.proper_pids.len() < MOST));
            }
            if seen.lost {
                self.lost.0 += 1;
                if self.lost.1.len() < FEW {
                    self.lost.1.push(seen.cite);
                }
            }
            if let Some(pid) = seen.pid
                && self.pids.len() < MOST
            {
                self.pids.insert(pid);
            }
        }
        if let Some(About { worker, word: Word::Own }) = &seen.about
            && self.names.len() < MOST
        {
            self.names.insert(worker.clone());
        }
        let point = match &seen.fact {
            Fact::Starting => {
                self.start_job = Some(seen.job.clone());
                Point::Starting
            }
            Fact::Started => {
                self.start_job = Some(seen.job.clone());
                Point::Started
            }
            Fact::Finished => Point::Finished,
            Fact::Skipped => Point::Skipped,
            Fact::StartFailed => {
                self.start_result = seen.job.result.clone().or(self.start_result.take());
                Point::StartFailed
            }
            Fact::DependencyFailed => {
                self.start_result = Some("dependency".into());
                Point::DependencyFailed
            }
            Fact::Stopping => {
                self.stop_job = Some(seen.job.clone());
                Point::Stopping
            }
            Fact::Stopped => {
                self.stopped_job = Some(seen.job.clone());
                Point::Stopped
            }
            Fact::MainExited(how) => {
                self.exit.get_or_insert_with(|| how.clone());
                Point::Exit
            }
            Fact::Failed(result) => {
                // v219 and v229 print the state without its result, and after a start limit the result again.
                self.result = self.result.take().or_else(|| result.clone());
                Point::Failed
            }
            Fact::Deactivated => {
                self.result.get_or_insert_with(|| "success".into());
                Point::Deactivated
            }
            Fact::RestartDue => Point::RestartDue,
            Fact::RestartScheduled(count) => {
                self.restarts = count.or(self.restarts);
                Point::RestartScheduled
            }
            Fact::StartLimit => Point::StartLimit,
            Fact::TimedOut(state) if state.starts_with("start") => Point::StartTimeout,
            Fact::TimedOut(_) => Point::StopTimeout,
            Fact::WatchdogExpired => Point::Watchdog,
            Fact::ExecFailed => Point::ExecFailed,
            Fact::OomKilled => Point::Oom,
            Fact::SignalSent => Point::SignalSent,
            Fact::Suppressed(messages) => {
                if self.dropped.len() < MOST {
                    self.dropped.push((mark, *messages));
                }
                return;
            }
            Fact::ServerArgs(args) => {
                self.args = Some(args.clone());
                Point::ServerArgs
            }
            Fact::RuntimeBegan => Point::RuntimeBegan,
            Fact::InitBegan => Point::InitBegan,
            Fact::Loading(rank) => {
                if self.begun_ranks.len() < MOST {
                    self.begun_ranks.insert(rank.clone());
                }
                Point::LoadBegin
            }
            Fact::Loaded(rank) => {
                if self.loaded_ranks.len() < MOST {
                    self.loaded_ranks.insert(rank.clone());
                }
                Point::LoadEnd
            }
            Fact::Sized => Point::Sized,
            Fact::ServerProcess(pid) => {
                self.pids.extend(pid.filter(|_| self.pids.len() < MOST));
                Point::ServerProcess
            }
            Fact::Listening => Point::Listening,
            Fact::ReadyLine => Point::ReadyLine,
            Fact::WarmupFailed(what) => {
                self.warmup.get_or_insert_with(|| what.clone());
                Point::WarmupFailed
            }
            Fact::Registered => Point::Registered,
            Fact::Served { local: false } => Point::Served,
            Fact::Served { local: true } if self.has(Point::ReadyLine) => Point::ServedLocal,
            // Before the server is ready, a batch of one request is the warm-up's.
            Fact::Batch { several }
                if *several
                    || self.opened == Opened::Midway
                    || [Point::ReadyLine, Point::Registered, Point::Served].iter().any(|p| self.has(*p)) =>
            {
                Point::Batch
            }
            Fact::Sigterm => Point::Sigterm,
            Fact::ShutsDown => Point::ShutsDown,
            Fact::Draining { left: Some(0) } => Point::Drained,
            Fact::HealthFailed => Point::HealthFailed,
            Fact::ProcessFinished => Point::ProcessFinished,
            Fact::Crashed(what) => {
                self.crash.get_or_insert(what);
                Point::Crashed
            }
            Fact::Served { .. }
            | Fact::Batch { .. }
            | Fact::Draining { .. }
            | Fact::WarmingUp
            | Fact::Line
            | Fact::ClockSet
            | Fact::BootMarker => return,
        };
        self.note(point, mark);
    }

    /// Messages that journald dropped, as far as it said how many.
    pub fn dropped_messages(&self) -> u64 {
        self.dropped.iter().filter_map(|(_, messages)| *messages).fold(0, u64::saturating_add)
    }

    /// Takes what was seen of the same run later, under a better name.
    pub fn absorb(&mut self, later: &Run) {
        self.last = later.last;
        self.pids.extend(&later.pids);
        self.mains.extend(&later.mains);
        self.proper_pids.extend(&later.proper_pids);
        self.begun_ranks.extend(later.begun_ranks.iter().cloned());
        self.loaded_ranks.extend(later.loaded_ranks.iter().cloned());
        self.names.extend(later.names.iter().cloned());
        self.dropped.extend(later.dropped.iter().copied());
        self.by_pid = true;
        for (point, seen) in &later.points {
            self.points.entry(*point).and_modify(|mine| (mine.last, mine.times) = (seen.last, mine.times + seen.times)).or_insert(*seen);
        }
        let Run { args, exit, result, warmup, crash, stop_job, stopped_job, restarts, late, .. } = later.clone();
        self.args = self.args.take().or(args);
        (self.exit, self.result, self.stop_job, self.stopped_job) = (exit, result, stop_job, stopped_job);
        (self.restarts, self.late) = (restarts, late);
        self.warmup = self.warmup.take().or(warmup);
        self.crash = self.crash.or(crash);
    }

    /// A line of this run after the next one had begun: no evidence of the next.
    pub fn take_late(&mut self, seen: &Observation, mark: Mark) {
        self.late.lines += 1;
        if self.late.cites.len() < FEW {
            self.late.cites.push(seen.cite);
        }
        if seen.proper && !mark.timeless() {
            self.late.proper = Some(mark);
        }
        if seen.fact == Fact::ReadyLine {
            self.late.ready.get_or_insert(mark);
            if self.late.cites.last() != Some(&seen.cite) {
                self.late.cites.push(seen.cite);
            }
        }
    }
}
