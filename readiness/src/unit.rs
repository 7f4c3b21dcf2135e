//! One unit of one host: its runs, and which of them a record of it belongs to.

use std::collections::HashMap;

use crate::observe::{Fact, Observation};
use crate::rows::Watch;
use crate::run::{Opened, Point, Run};
use crate::time::{Cite, Mark};

/// A first line so long after an end is of a new process: nanoseconds.
const TRAILING: i64 = 2_000_000_000;

/// Runs of one unit that are kept: a crash loop of a week.
const MOST_RUNS: usize = 20_000;

/// Lines that could be of several units.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unplaced {
    pub lines: u64,
    pub cites: Vec<Cite>,
    /// Ready lines among them.
    pub ready: Vec<Mark>,
    /// The other units.
    pub others: Vec<String>,
}

/// One unit of one host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unit {
    pub host: String,
    pub name: String,
    pub runs: Vec<Run>,
    ids: HashMap<String, usize>,
    /// A manager speaks of it.
    pub managed: bool,
    /// Its name was made here from an identifier: the rendering names no unit.
    pub unnamed: bool,
    pub unplaced: Unplaced,
    /// Records of runs that are too many to keep.
    pub more: u64,
    /// Seen from outside.
    pub watch: Watch,
    /// The last record of it.
    pub last: Option<Mark>,
}

impl Unit {
    pub fn new(host: &str, name: &str) -> Unit {
        Unit { host: host.to_owned(), name: name.to_owned(), ..Unit::default() }
    }

    /// The newest run that had a process, of this boot where boots are known.
    pub fn current(&self, boot: Option<u32>) -> Option<usize> {
        let at = self.runs.iter().rposition(|run| run.opened != Opened::NotStarted)?;
        let run = self.runs.get(at)?;
        let same = run.boot.is_none() || boot.is_none() || run.boot == boot;
        same.then_some(at)
    }

    /// Begins a run; `None` where there are too many.
    pub fn open(&mut self, invocation: &str, boot: Option<u32>, opened: Opened, mark: Mark) -> Option<usize> {
        let at = self.runs.len();
        if at >= MOST_RUNS {
            self.more += 1;
            return None;
        }
        if !invocation.is_empty() {
            self.ids.insert(invocation.to_owned(), at);
        }
        self.runs.push(Run::new(invocation, boot, opened, mark));
        Some(at)
    }

    /// The run of a manager's record.
    pub fn of_manager(&mut self, seen: &Observation, boot: Option<u32>, mark: Mark) -> Option<usize> {
        let opened = match seen.fact {
            Fact::Starting | Fact::Started | Fact::Finished => Opened::ByManager,
            Fact::Skipped | Fact::DependencyFailed | Fact::StartFailed => Opened::NotStarted,
            _ => Opened::Midway,
        };
        if !seen.invocation.is_empty() {
            return match self.ids.get(&seen.invocation) {
                Some(at) => Some(*at),
                None => self.open(&seen.invocation, boot, opened, mark),
            };
        }
        let current = self.current(boot);
        let starts = |run: &Run| {
            run.has(Point::Starting) && ![Point::Started, Point::Finished, Point::StartFailed].iter().any(|point| run.has(*point))
        };
        let goes_on = match seen.fact {
            Fact::Starting | Fact::Skipped | Fact::DependencyFailed => None,
            Fact::Started | Fact::Finished => current.filter(|at| self.runs.get(*at).is_some_and(starts)),
            // Its start is not in the log: filtered by priority, or dropped.
            Fact::MainExited(_) => current.filter(|at| self.runs.get(*at).is_some_and(|run| !run.has(Point::Exit))),
            _ => current,
        };
        goes_on.or_else(|| self.open("", boot, opened, mark))
    }

    /// The run of a process's record whose unit is known.
    pub fn of_process(&mut self, seen: &Observation, boot: Option<u32>, mark: Mark) -> Option<usize> {
        if !seen.invocation.is_empty() {
            if let Some(at) = self.ids.get(&seen.invocation) {
                return Some(*at);
            }
            let opened = if self.runs.is_empty() { Opened::Midway } else { Opened::ByServiceLine };
            return self.open(&seen.invocation, boot, opened, mark);
        }
        let begins = matches!(seen.fact, Fact::ServerArgs(_) | Fact::RuntimeBegan);
        // Weights are loaded once in a life: another start, whose configuration is not here.
        if !self.managed
            && matches!(seen.fact, Fact::InitBegan | Fact::Loading(_))
            && let Some(at) = self.current(boot)
            && let Some(run) = self.runs.get_mut(at)
            && run.has(Point::ReadyLine)
        {
            // Processes of which only notes were seen are the new life's.
            run.pids = std::mem::take(&mut run.proper_pids);
            return self.open("", boot, Opened::ByStartLines, mark);
        }
        if let Some(pid) = seen.pid.filter(|_| !begins) {
            let known = self.runs.iter().rposition(|run| run.pids.contains(&pid) && (run.boot.is_none() || run.boot == boot));
            if let Some(at) = known {
                return Some(at);
            }
        }
        let fresh = match &seen.fact {
            Fact::ServerArgs(_) | Fact::RuntimeBegan => Opened::ByServerArgs,
            _ => Opened::Midway,
        };
        let Some(at) = self.current(boot) else { return self.open("", boot, fresh, mark) };
        let Some(run) = self.runs.get_mut(at) else { return Some(at) };
        run.by_pid |= self.managed;
        if begins && !self.managed && run.opened == Opened::Midway && !run.has(Point::ProperLine) {
            // What stands before a configuration is of the same start: warnings of what it imports, notes on its arguments.
            run.opened = Opened::ByServerArgs;
            return Some(at);
        }
        let again = match &seen.fact {
            Fact::ServerArgs(_) => !self.managed && (run.has(Point::ServerArgs) || run.has(Point::ProperLine)),
            // A start prints several of these; a registered worker prints none.
            Fact::RuntimeBegan => !self.managed && (run.has(Point::Registered) || long_after(run.last, mark)),
            _ => false,
        };
        if again {
            return self.open("", boot, Opened::ByServerArgs, mark);
        }
        if let Some((_, end)) = run.end()
            && long_after(end, mark)
        {
            return self.open("", boot, Opened::ByServiceLine, mark);
        }
        Some(at)
    }
}

/// Is a record too long after an end to be of the process that ended? By stamps; unknown is no.
pub(crate) fn long_after(end: Mark, mark: Mark) -> bool {
    if let (Some(a), Some(b)) = (end.mono, mark.mono)
        && a.boot == b.boot
    {
        return b.ns.saturating_sub(a.ns) > TRAILING;
    }
    let (Some(a), Some(b)) = (end.wall, mark.wall) else { return false };
    b.start.saturating_sub(a.end) > TRAILING
}

/// Gives a process's line to a run, or counts it as late if a newer run has begun.
pub(crate) fn give(unit: &mut Unit, at: usize, seen: &Observation, mark: Mark) {
    unit.last = Some(mark);
    let newest = unit.runs.iter().rposition(|run| run.opened != Opened::NotStarted).unwrap_or(at);
    let Some(run) = unit.runs.get_mut(at) else { return };
    if at < newest { run.take_late(seen, mark) } else { run.take(seen, mark) }
}
