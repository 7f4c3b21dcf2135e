//! Whose is a line that names no unit? By process id, by who can have started one; never by the identifier, which is `python3` for all.

use std::collections::HashMap;

use crate::observe::{Fact, Observation};
use crate::run::{Opened, Point, Run};
use crate::time::Mark;
use crate::unit::{Unit, long_after};

/// The answer.
pub(crate) enum Place {
    /// Of no unit of interest.
    Nobody,
    /// Unit and run.
    Run(usize, usize),
    /// Unit and run, by a hint of the configuration.
    Hinted(usize, usize),
    /// Of this unit and run by place alone: any program's line.
    Guess(usize, usize),
    /// A run of this unit whose start is not in the log.
    New(usize),
    /// Of a server, and the log names no unit at all.
    Unnamed,
    /// Of one of these: nothing tells which.
    Several(Vec<usize>),
}

/// Which process ids were seen in which run.
#[derive(Debug, Default)]
pub(crate) struct Pids {
    known: HashMap<(String, u32), (usize, usize)>,
}

/// Processes remembered; a line of a later one is placed by what can run then.
const MOST: usize = 1_000_000;

/// Daemons whose lines are of no server.
const DAEMONS: &[&str] = &[
    "kernel",
    "sshd",
    "cron",
    "crond",
    "CRON",
    "sudo",
    "su",
    "login",
    "dockerd",
    "containerd",
    "kubelet",
    "chronyd",
    "ntpd",
    "rsyslogd",
    "auditd",
    "audit",
    "polkitd",
    "dbus-daemon",
    "NetworkManager",
    "dhclient",
    "snapd",
    "nvidia-persistenced",
];

fn is_daemon(ident: &str) -> bool {
    ident.starts_with("systemd") || DAEMONS.contains(&ident)
}

impl Pids {
    /// Remembers whose a process is.
    pub fn learn(&mut self, seen: &Observation, unit: usize, run: usize) {
        let named = match seen.fact {
            Fact::ServerProcess(pid) => pid,
            _ => None,
        };
        for pid in [seen.pid, named].into_iter().flatten() {
            if self.known.len() >= MOST {
                return;
            }
            self.known.insert((seen.host.clone(), pid), (unit, run));
        }
    }

    pub fn place(&self, units: &[Unit], seen: &Observation, boot: Option<u32>, mark: Mark) -> Place {
        if is_daemon(&seen.ident) {
            return Place::Nobody;
        }
        let begins = matches!(seen.fact, Fact::ServerArgs(_) | Fact::RuntimeBegan);
        if let Some(pid) = seen.pid
            && let Some((unit, run)) = self.known.get(&(seen.host.clone(), pid)).copied()
        {
            let old = units.get(unit).and_then(|unit| unit.runs.get(run));
            // The kernel gives ids again: a start of a server, or another boot, is of another process.
            let again = old.is_some_and(|run| (begins && (run.has(Point::ServerArgs) || run.over())) || run.boot != boot);
            if !again {
                return Place::Run(unit, run);
            }
        }
        let managed: Vec<usize> = (0..units.len()).filter(|at| units.get(*at).is_some_and(|u| u.managed && u.host == seen.host)).collect();
        if managed.is_empty() {
            return if seen.serving { Place::Unnamed } else { Place::Nobody };
        }
        // Not known which process this is: any unit that can have one.
        let open: Vec<(usize, usize)> = managed
            .iter()
            .filter_map(|at| {
                let unit = units.get(*at)?;
                let run = unit.current(boot)?;
                can_run(unit.runs.get(run)?, mark).then_some((*at, run))
            })
            .collect();
        let stage = Stage::of(seen);
        let fitting: Vec<(usize, usize)> = open
            .iter()
            .filter(|(unit, run)| units.get(*unit).and_then(|unit| unit.runs.get(*run)).is_some_and(|run| stage.fits(run)))
            .copied()
            .collect();
        match (stage, &fitting[..]) {
            (Stage::Any, [(unit, run)]) => Place::Guess(*unit, *run),
            // Any program's line: it would prove only that a process ran.
            (Stage::Any, _) => Place::Nobody,
            (_, [(unit, run)]) => Place::Run(*unit, *run),
            (Stage::Begins, []) if open.is_empty() && managed.len() == 1 => Place::New(managed.first().copied().unwrap_or_default()),
            (_, []) if open.is_empty() => Place::Several(managed),
            (_, []) => Place::Several(open.iter().map(|(unit, _)| *unit).collect()),
            (_, several) => match named_for_its_mode(units, several, seen) {
                Some((unit, run)) => Place::Hinted(unit, run),
                None => Place::Several(several.iter().map(|(unit, _)| *unit).collect()),
            },
        }
    }
}

/// At which point of a life a process prints a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Once, at the start.
    Begins,
    /// Before it is ready.
    Starts,
    /// Later.
    Runs,
    /// At any time.
    Any,
}

impl Stage {
    fn of(seen: &Observation) -> Stage {
        match &seen.fact {
            Fact::ServerArgs(_) | Fact::RuntimeBegan => Stage::Begins,
            Fact::InitBegan | Fact::Loading(_) | Fact::Loaded(_) | Fact::Sized => Stage::Starts,
            Fact::ServerProcess(_) | Fact::Listening | Fact::WarmingUp | Fact::WarmupFailed(_) | Fact::ReadyLine => Stage::Starts,
            _ if seen.proper => Stage::Runs,
            _ => Stage::Any,
        }
    }

    /// Can a process of this run, of which no line was seen yet, print such a line first?
    fn fits(self, run: &Run) -> bool {
        match self {
            Stage::Begins => !run.has(Point::ServerArgs) && !run.has(Point::ReadyLine),
            Stage::Starts => !run.has(Point::ReadyLine),
            // What a process prints at its start would have been seen, unless the start or some lines are not in the log. It may as well be
            // of a unit that began before the log did, and of which systemd says nothing here.
            Stage::Runs => run.opened == Opened::Midway || !run.dropped.is_empty(),
            Stage::Any => !run.has(Point::Line),
        }
    }
}

/// The one hint that a start gives: `disaggregation_mode='decode'` in a unit that is named for it.
fn named_for_its_mode(units: &[Unit], of: &[(usize, usize)], seen: &Observation) -> Option<(usize, usize)> {
    let Fact::ServerArgs(args) = &seen.fact else { return None };
    let mode = args.disaggregation.as_deref().filter(|mode| *mode != "null" && !mode.is_empty())?;
    let mut named = of.iter().filter(|(unit, _)| units.get(*unit).is_some_and(|unit| unit.name.contains(mode)));
    let only = named.next()?;
    if named.next().is_some() { None } else { Some(*only) }
}

/// Can a line of now be of a process of this run?
fn can_run(run: &Run, mark: Mark) -> bool {
    match run.end() {
        None => true,
        // The last lines may come after the manager has seen the end.
        Some((_, end)) => !run.has(Point::Line) && !long_after(end, mark),
    }
}
