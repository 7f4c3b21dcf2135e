//! Whose is a line that names no unit? By process id, by who can have started one; never by the identifier, which is `python3` for all.

use std::collections::HashMap;

use crate::observe::{Fact, Observation};
use crate::run::{Point, Run};
use crate::time::Mark;
use crate::unit::{Unit, long_after};

/// The answer.
pub(crate) enum Place {
    /// Of no unit of interest.
    Nobody,
    /// Unit and run.
    Run(usize, usize),
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
        let fitting = self.fitting(units, &open, seen);
        match (&fitting[..], seen.serving) {
            ([(unit, run)], true) => Place::Run(*unit, *run),
            ([(unit, run)], false) => Place::Guess(*unit, *run),
            ([], true) if open.is_empty() => match &managed[..] {
                [unit] => Place::New(*unit),
                several => Place::Several(several.to_vec()),
            },
            ([], true) => Place::Several(open.iter().map(|(unit, _)| *unit).collect()),
            ([], false) => Place::Nobody,
            (several, true) => Place::Several(several.iter().map(|(unit, _)| *unit).collect()),
            // Any program's line, of any unit: it would prove only that a process ran.
            (_, false) => Place::Nobody,
        }
    }

    /// Of the units that can have a process, those of which this line can be the first of one.
    fn fitting(&self, units: &[Unit], open: &[(usize, usize)], seen: &Observation) -> Vec<(usize, usize)> {
        let run_of = |(unit, run): &(usize, usize)| units.get(*unit).and_then(|unit| unit.runs.get(*run));
        let keep = |fits: &dyn Fn(&Run) -> bool| -> Vec<(usize, usize)> {
            open.iter().filter(|pair| run_of(pair).is_some_and(fits)).copied().collect()
        };
        let fitting = match &seen.fact {
            Fact::ServerArgs(_) | Fact::RuntimeBegan => keep(&|run| !run.has(Point::ServerArgs) && !run.has(Point::ReadyLine)),
            Fact::Loading(_) | Fact::Loaded(_) | Fact::Sized | Fact::ServerProcess(_) | Fact::Listening | Fact::ReadyLine => {
                keep(&|run| !run.has(Point::ReadyLine))
            }
            _ if !seen.serving => keep(&|run| !run.has(Point::Line)),
            _ => open.to_vec(),
        };
        if fitting.len() < 2 {
            return fitting;
        }
        let Fact::ServerArgs(args) = &seen.fact else { return fitting };
        // The one hint that a start gives: `disaggregation_mode='decode'` in a unit that is named for it.
        let Some(mode) = args.disaggregation.as_deref().filter(|mode| *mode != "null" && !mode.is_empty()) else { return fitting };
        let named: Vec<(usize, usize)> =
            fitting.iter().filter(|(unit, _)| units.get(*unit).is_some_and(|unit| unit.name.contains(mode))).copied().collect();
        if named.len() == 1 { named } else { fitting }
    }
}

/// Can a line of now be of a process of this run?
fn can_run(run: &Run, mark: Mark) -> bool {
    match run.end() {
        None => true,
        // The last lines may come after the manager has seen the end.
        Some((_, end)) => !run.has(Point::Line) && !long_after(end, mark),
    }
}
