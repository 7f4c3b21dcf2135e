//! A run, opened as flags say, and what is asked of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use corr_metrics::select::Selector;

use super::flags::{self, Reading, Runs};
use super::query::zone_of_flags;
use super::query_metrics::{Joined, Wanted};
use super::{exit, index};
use crate::evidence::{Evidence, Judged};
use crate::marks;
use crate::metrics::asked::Asked as Captures;
use crate::metrics::common::Covers;
use crate::metrics::read::{self, Read};
use crate::query::answer::Window;
use crate::query::extent::extent;
use crate::query::locate;
use crate::query::phases::Phase;
use crate::query::sources::{self, Sources};
use crate::query::window::{self, Flags, Known, Times};
use crate::readiness::{self, windows};
use crate::render::safe::terminal;
use crate::run::{Options, Run};
use crate::timeline::Row;

/// A run that is open.
pub(super) struct Opened {
    pub sources: Sources,
    pub run: Run,
    pub options: Options,
    pub store: Option<PathBuf>,
    /// A source that was left out, being the file that is written.
    own: bool,
}

/// A window, and what says where it lies.
pub(super) struct Scoped {
    pub window: Window,
    pub how: Option<String>,
}

impl Opened {
    /// Opens it, whatever there is.
    pub fn new(runs: &Runs, reading: &Reading) -> anyhow::Result<Opened> {
        Opened::of(&runs.all(), reading)
    }

    /// The same of runs that are named otherwise.
    pub fn of(runs: &[String], reading: &Reading) -> anyhow::Result<Opened> {
        let options = reading.options();
        let (run, sources) = sources::run(runs, &options, reading.store.as_deref())?;
        Ok(Opened { sources, run, options, store: reading.store.clone(), own: false })
    }

    /// One whose records are elsewhere.
    #[cfg(feature = "cluster")]
    pub fn elsewhere(sources: Sources, runs: &Runs, reading: &Reading) -> Opened {
        Opened {
            run: Run { declared: sources.declared.clone(), ..Run::gone(&runs.all()) },
            sources,
            options: reading.options(),
            store: None,
            own: false,
        }
    }

    /// Leaves out a file that is none of the run's: the one that is written.
    pub fn without(mut self, path: Option<&Path>) -> Opened {
        if let Some(own) = path.and_then(|path| std::fs::canonicalize(path).ok()) {
            let is_own = |path: &Path| std::fs::canonicalize(path).is_ok_and(|path| path == own);
            self.own = self.run.sources.iter().any(|s| is_own(&s.path));
            self.sources.sources.retain(|s| !is_own(&s.path));
            self.run.sources.retain(|s| !is_own(&s.path));
        }
        self
    }

    /// It has no source of events.
    pub fn is_empty(&self) -> bool {
        self.sources.sources.is_empty()
    }

    /// Says that there is nothing to read; gives the exit code.
    pub fn nothing(&self, err: &mut dyn Write) -> anyhow::Result<i32> {
        if self.own && self.run.sources.is_empty() && !self.sources.not_read.iter().any(|n| n.failure) {
            let runs = self.run.arguments.join(" ");
            writeln!(err, "corr: {}: nothing is there but the file that is written", terminal(&runs))?;
            return Ok(exit::ERROR);
        }
        if let Some(code) = index::nothing_to_read(&self.run, err)? {
            return Ok(code);
        }
        // What there is was not opened: of a source that is named nothing can be asked.
        for why in self.sources.not_read.iter().chain(&self.run.not_read) {
            writeln!(err, "corr: {}: {}", terminal(&why.name), terminal(&why.why))?;
        }
        writeln!(err, "corr: {}: nothing that could be read", terminal(&self.run.arguments.join(" ")))?;
        Ok(exit::ERROR)
    }

    /// The captures, and the fields of log records that are asked for; with `all` also captures that no series is wanted of.
    pub fn read(&self, selectors: &[Selector], all: bool) -> anyhow::Result<Read<'_>> {
        let mut read = read::read(&self.run, &self.options, self.store.as_deref(), selectors, all, || Ok(&self.sources))?;
        // Of the store as a whole the sources have said it.
        read.asked.notes.retain(|note| !self.sources.notes.contains(note));
        Ok(read)
    }

    /// All captures.
    pub fn captures(&self) -> anyhow::Result<Captures<'_>> {
        Ok(self.read(&[], true)?.asked)
    }

    /// The series of --metrics among what was read.
    pub fn join<'r>(&self, wanted: Option<&'r Wanted>, read: &'r Read<'r>) -> Option<Joined<'r>> {
        Some(wanted?.join(read, &self.sources))
    }

    /// The window of the flags. Civil times are read in the zone of `reading`.
    pub fn scope(&self, flags: Flags<'_>, reading: &Reading, joined: Option<&Joined<'_>>, now: i64) -> anyhow::Result<Scoped> {
        let run = self.run.arguments.first().map_or("", String::as_str);
        let lives = || windows::of_run(&self.run, &self.sources, &self.options, self.store.as_deref());
        let times = times(flags, &self.sources, run, joined, &lives)?;
        let window = window::resolve(&times, zone_of_flags(&reading.tz)?, now, &self.sources)?;
        Ok(Scoped { window, how: times.how })
    }

    /// The window with both ends closed; `None` for the whole run.
    ///
    /// # Errors
    /// If no record has a stamp that would close it.
    pub fn closed(&self, scoped: &Scoped) -> anyhow::Result<Option<(i64, i64)>> {
        window::closed(scoped.window, || extent(&self.sources.sources))
    }

    /// Verdicts on what is asked about.
    ///
    /// # Errors
    /// No record bears the session or request.
    pub fn judge(
        &self,
        scope: &flags::Scope,
        window: Option<(i64, i64)>,
        evidence: &Evidence<'_>,
        captures: &Captures<'_>,
    ) -> anyhow::Result<Judged> {
        Ok(evidence.judge_of(&self.run, captures, window, scope.session.as_deref(), scope.request.as_deref())?)
    }

    /// Marks in the window, of what was judged.
    pub fn marks(&self, scoped: &Scoped, evidence: &Evidence<'_>, judged: &Judged, captures: &Captures<'_>) -> Vec<Row> {
        let lives = readiness::gather(&self.sources, Some((&self.run, captures)), corr_readiness::Options::default());
        marks::all(&lives, evidence, judged, &self.sources, captures, scoped.window)
    }
}

/// The windows of a run's lives, which every log and capture is read for.
pub(crate) type Lives<'a> = &'a dyn Fn() -> anyhow::Result<Vec<Phase>>;

/// The ends of a window, by the sources of events and the captures that are joined with them.
pub(super) fn times(
    flags: Flags<'_>,
    sources: &Sources,
    run: &str,
    joined: Option<&Joined<'_>>,
    lives: Lives<'_>,
) -> anyhow::Result<Times> {
    let covers = || {
        let mut covers = Covers::default();
        covers.add_logs(&sources.sources);
        if let Some(joined) = joined {
            joined.cover(&mut covers);
        }
        Ok(covers)
    };
    let stamp = |event: &str| match joined.and_then(|joined| joined.stamp_of_citation(event)) {
        Some(stamp) => stamp,
        None => locate::stamp(event, sources, run),
    };
    let known =
        Known { declared: &sources.declared, phases: &|| windows::phases(flags.window, sources, lives), stamp: &stamp, covers: &covers };
    Times::read(flags, &known)
}
