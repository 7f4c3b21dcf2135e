//! Which run of which unit does a record belong to? One state machine for every host and unit.
//!
//! An invocation id beats a process id, a process id beats position (a late line of the run before must not count for the next one).
//! Observations of one source come in its order; sources of one process are merged by time by the caller.

use std::collections::HashMap;

use crate::history::History;
use crate::observe::{Fact, Observation, Writer};
use crate::place::{Pids, Place};
use crate::rows::Row;
use crate::run::{FEW, Opened};
use crate::steps::Steps;
use crate::time::{Mark, Mono};
use crate::unit::{Unit, Unplaced, give};
use crate::words::Words;

/// What the user knows and the records do not say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// All units that run servers, where the user says so; empty: any can. In a text mode, whose lines name no unit, this is what makes
    /// lines separable. It is a statement, not a filter: naming one of two servers would give it the lines of both.
    pub servers: Vec<String>,
    /// `(description, unit)`, for systemd up to v249, whose text names no unit.
    pub descriptions: Vec<(String, String)>,
}

/// Units and hosts that are kept.
const MOST_UNITS: usize = 50_000;

/// How units begin that are no servers of models on any host. What is not here may be one.
const DAEMONS: &[&str] = &[
    "systemd-",
    "ssh.",
    "sshd",
    "cron",
    "dbus",
    "getty@",
    "serial-getty@",
    "user@",
    "user-runtime-dir@",
    "NetworkManager",
    "networkd-",
    "docker.",
    "containerd.",
    "kubelet.",
    "chrony",
    "ntp",
    "rsyslog",
    "auditd",
    "polkit",
    "snapd",
    "udisks2",
    "nvidia-persistenced",
    "unattended-upgrades",
    "apt-",
    "logrotate",
    "man-db",
    "fstrim",
    "motd-",
    "packagekit",
    "irqbalance",
    "init.scope",
];

/// systemd's other types have no process that serves, and of some services it is known that they do not.
fn may_serve(unit: &str) -> bool {
    let others = [".scope", ".slice", ".socket", ".target", ".timer", ".mount", ".automount", ".path", ".device", ".swap"];
    !others.iter().any(|end| unit.ends_with(end)) && !DAEMONS.iter().any(|start| unit.starts_with(start))
}

/// Takes observations and rows; gives a [`History`].
#[derive(Debug, Default)]
pub struct Machine {
    options: Options,
    pub(crate) units: Vec<Unit>,
    index: HashMap<(String, String), usize>,
    pids: Pids,
    pub(crate) boots: Vec<String>,
    boot_index: HashMap<String, u32>,
    /// The boot that a text mode's markers say, per source.
    marked: HashMap<u32, (u64, u32)>,
    pub(crate) steps: Steps,
    /// The newest record of each host: where its log ends.
    pub(crate) ends: HashMap<String, Mark>,
    /// Lines that name a description and no unit.
    pub(crate) undescribed: Unplaced,
    pub(crate) words: Words,
    /// Records of units, and of hosts, that are too many to keep.
    pub(crate) more_units: u64,
    order: u64,
}

impl Machine {
    /// An empty machine.
    pub fn new(options: Options) -> Machine {
        Machine { options, ..Machine::default() }
    }

    /// Takes the next record of a source.
    pub fn take(&mut self, seen: &Observation) {
        self.order += 1;
        let boot = self.boot(seen);
        let mono = seen.mono.zip(boot).map(|(ns, boot)| Mono { boot, ns, early: seen.mono_late });
        let mark = Mark { cite: seen.cite, wall: seen.wall, mono, boot, order: self.order };
        if seen.fact == Fact::BootMarker {
            return;
        }
        self.steps.take(&seen.host, mark);
        self.ends(&seen.host, mark);
        if seen.fact == Fact::ClockSet {
            self.steps.say(&seen.host, mark);
            return;
        }
        self.words.take(seen, mark);
        match seen.writer {
            Writer::Manager | Writer::Journal => self.of_manager(seen, boot, mark),
            Writer::Service => self.of_process(seen, boot, mark),
        }
    }

    /// Takes a poll, a scrape or a client's row.
    pub fn take_row(&mut self, row: &Row) {
        self.order += 1;
        let order = self.order;
        let at = self.unit(&row.host, &row.unit);
        if let Some(unit) = at.and_then(|at| self.units.get_mut(at)) {
            unit.watch.take(row, order);
        }
    }

    /// What was seen so far, judged; nothing is lost by asking, and more may be taken.
    pub fn history(&self) -> History {
        crate::judge::history(self)
    }

    /// Of one source the newer record is the later; of several the later stamp.
    fn ends(&mut self, host: &str, mark: Mark) {
        if mark.timeless() {
            return;
        }
        let Some(end) = self.ends.get_mut(host) else {
            if self.ends.len() < MOST_UNITS {
                self.ends.insert(host.to_owned(), mark);
            }
            return;
        };
        let later = end.cite.source == mark.cite.source || mark.wall.zip(end.wall).is_some_and(|(new, old)| new.start >= old.start);
        if later {
            *end = mark;
        }
    }

    fn boot(&mut self, seen: &Observation) -> Option<u32> {
        let source = seen.cite.source;
        if seen.fact == Fact::BootMarker {
            let turn = self.marked.get(&source).map_or(1, |(turn, _)| turn + 1);
            let name = if seen.boot.is_empty() { format!("boot {} of source {source}", turn + 1) } else { seen.boot.clone() };
            let boot = self.intern(&name);
            self.marked.insert(source, (turn, boot));
            return Some(boot);
        }
        if !seen.boot.is_empty() {
            return Some(self.intern(&seen.boot));
        }
        if let Some((_, boot)) = self.marked.get(&source) {
            return Some(*boot);
        }
        let journal = seen.mono.is_some() || !seen.ident.is_empty() || seen.writer != Writer::Service;
        if !journal {
            return None;
        }
        let boot = self.intern(&format!("boot 1 of source {source}"));
        self.marked.insert(source, (0, boot));
        Some(boot)
    }

    fn intern(&mut self, name: &str) -> u32 {
        if let Some(at) = self.boot_index.get(name) {
            return *at;
        }
        let at = u32::try_from(self.boots.len()).unwrap_or(u32::MAX);
        self.boots.push(name.to_owned());
        self.boot_index.insert(name.to_owned(), at);
        at
    }

    /// Its place; `None` where there are too many.
    fn unit(&mut self, host: &str, name: &str) -> Option<usize> {
        let key = (host.to_owned(), name.to_owned());
        if let Some(at) = self.index.get(&key) {
            return Some(*at);
        }
        let at = self.units.len();
        if at >= MOST_UNITS {
            self.more_units += 1;
            return None;
        }
        self.units.push(Unit::new(host, name));
        self.index.insert(key, at);
        Some(at)
    }

    fn wanted(&self, unit: &str) -> bool {
        may_serve(unit) && (self.options.servers.is_empty() || self.options.servers.iter().any(|wanted| wanted == unit))
    }

    fn of_manager(&mut self, seen: &Observation, boot: Option<u32>, mark: Mark) {
        if seen.fact == Fact::Line {
            return;
        }
        let mut name = seen.unit.as_str();
        if name.is_empty() {
            let known = self.options.descriptions.iter().find(|(description, _)| *description == seen.description);
            let Some((_, unit)) = known else {
                self.undescribed.lines += 1;
                if self.undescribed.cites.len() < FEW {
                    self.undescribed.cites.push(seen.cite);
                }
                return;
            };
            name = unit;
        }
        if !self.wanted(name) {
            return;
        }
        let name = name.to_owned();
        let at = self.unit(&seen.host, &name);
        let Some(unit) = at.and_then(|at| self.units.get_mut(at)) else { return };
        unit.managed = true;
        unit.last = Some(mark);
        let Some(run) = unit.of_manager(seen, boot, mark) else { return };
        if let Some(run) = unit.runs.get_mut(run) {
            run.take(seen, mark);
        }
    }

    fn of_process(&mut self, seen: &Observation, boot: Option<u32>, mark: Mark) {
        if seen.unit.is_empty() {
            self.of_nobody(seen, boot, mark);
            return;
        }
        if !self.wanted(&seen.unit) {
            return;
        }
        let at = self.unit(&seen.host, &seen.unit);
        let Some(unit) = at.and_then(|at| self.units.get_mut(at)) else { return };
        let Some(run) = unit.of_process(seen, boot, mark) else { return };
        give(unit, run, seen, mark);
    }

    /// A text mode's line, which names no unit.
    fn of_nobody(&mut self, seen: &Observation, boot: Option<u32>, mark: Mark) {
        let place = self.pids.place(&self.units, seen, boot, mark);
        let is_hint = matches!(place, Place::Hinted(..));
        match place {
            Place::Nobody => {}
            Place::Run(at, run) | Place::Hinted(at, run) => {
                let Some(unit) = self.units.get_mut(at) else { return };
                if let Some(run) = unit.runs.get_mut(run) {
                    run.by_pid = true;
                    if is_hint {
                        run.hinted = Some(mark);
                    }
                }
                self.pids.learn(seen, at, run);
                give(unit, run, seen, mark);
            }
            Place::Guess(at, run) => {
                let Some(run) = self.units.get_mut(at).and_then(|unit| unit.runs.get_mut(run)) else { return };
                run.guess.get_or_insert((seen.pid, mark));
            }
            Place::New(at) => {
                let Some(unit) = self.units.get_mut(at) else { return };
                let Some(run) = unit.open("", boot, Opened::ByServiceLine, mark) else { return };
                self.pids.learn(seen, at, run);
                give(unit, run, seen, mark);
            }
            Place::Unnamed => {
                let name = if seen.ident.is_empty() { "(no unit named)" } else { seen.ident.as_str() };
                let name = name.to_owned();
                let at = self.unit(&seen.host, &name);
                let Some(unit) = at.and_then(|at| self.units.get_mut(at)) else { return };
                unit.unnamed = true;
                let Some(run) = unit.of_process(seen, boot, mark) else { return };
                give(unit, run, seen, mark);
            }
            Place::Several(units) => {
                let names: Vec<String> = units.iter().filter_map(|at| self.units.get(*at)).map(|unit| unit.name.clone()).collect();
                for at in units {
                    let Some(unit) = self.units.get_mut(at) else { continue };
                    unit.last = Some(mark);
                    let unplaced = &mut unit.unplaced;
                    unplaced.lines += 1;
                    if unplaced.cites.len() < FEW {
                        unplaced.cites.push(seen.cite);
                    }
                    if seen.fact == Fact::ReadyLine && unplaced.ready.len() < FEW {
                        unplaced.ready.push(mark);
                    }
                    unplaced.others.clone_from(&names);
                }
            }
        }
    }
}
