//! `--since`, `--until` and `--window` into one window of UTC time.

use anyhow::{Context as _, bail};
use corr_parsers::clock::Rule;
use corr_parsers::record;
use rayon::prelude::*;

use crate::query::answer::Window;
use crate::query::phases::{self, Phase};
use crate::query::sources::{Asked, Sources};
use crate::query::timespec::{self, Base, Context, Offset, TimeSpec};
use crate::run::declared::Declared;
use crate::run::events::{self, Start};

/// The ends of a window as written.
#[derive(Clone, Debug, Default)]
pub struct Times {
    pub since: Option<TimeSpec>,
    pub until: Option<TimeSpec>,
    /// What says where a named window lies.
    pub how: Option<String>,
}

impl Times {
    /// Reads the flags; a window that `corr.toml` declares gives the ends that no flag gives.
    pub fn read(
        since: Option<&str>,
        until: Option<&str>,
        named: Option<&str>,
        declared: &Declared,
        phases: &dyn Fn() -> anyhow::Result<Vec<Phase>>,
    ) -> anyhow::Result<Times> {
        let parse = |text: Option<&str>, flag: &str| -> anyhow::Result<Option<TimeSpec>> {
            text.map(|t| timespec::parse(t).with_context(|| format!("--{flag}"))).transpose()
        };
        let mut times = Times { since: parse(since, "since")?, until: parse(until, "until")?, how: None };
        let Some(name) = named else { return Ok(times) };
        if let Some(window) = declared.window(name) {
            let declared = (parse(window.since.as_deref(), "window since")?, parse(window.until.as_deref(), "window until")?);
            times.how = Some(format!("window {name}: corr.toml"));
            times.since = times.since.or(declared.0);
            times.until = times.until.or(declared.1);
            return Ok(times);
        }
        let phases = phases()?;
        let Some(phase) = phases.iter().find(|p| p.name == name) else {
            bail!("no window is named `{name}`; {}. Declare it as [windows.{name}] with since and until", known(declared, &phases));
        };
        let instant = |ns: i64| TimeSpec { text: name.to_string(), base: Base::Instant(ns), offset: Offset::By(0) };
        times.how = Some(format!("window {name}: {}", phase.how));
        times.since = times.since.or(Some(instant(phase.since)));
        times.until = times.until.or(phase.until.map(instant));
        Ok(times)
    }

    /// Neither end was given.
    pub fn open(&self) -> bool {
        self.since.is_none() && self.until.is_none()
    }

    /// An end counts from the run's start or end, or lies on its day.
    pub fn of_run(&self) -> bool {
        let of_run = |time: &TimeSpec| matches!(time.base, Base::RunStart | Base::RunEnd | Base::TimeOfDay(_));
        self.ends().any(of_run)
    }

    /// Every end counts from the run's start or end.
    pub fn only_of_run(&self) -> bool {
        self.ends().all(|time| matches!(time.base, Base::RunStart | Base::RunEnd))
    }

    fn ends(&self) -> impl Iterator<Item = &TimeSpec> {
        [&self.since, &self.until].into_iter().flatten()
    }

    /// The window that they mean.
    pub fn resolve(&self, context: &Context) -> anyhow::Result<timespec::Window> {
        Ok(timespec::window(self.since.as_ref(), self.until.as_ref(), context)?)
    }
}

/// The windows that can be named, in words.
fn known(declared: &Declared, phases: &[Phase]) -> String {
    let declared: Vec<&str> = declared.windows().map(|w| w.0).collect();
    let found: Vec<&str> = phases.iter().map(|p| p.name.as_str()).collect();
    let list = |names: &[&str], none: &str| if names.is_empty() { none.to_string() } else { names.join(", ") };
    format!("corr.toml declares {}, the run's records name {}", list(&declared, "none"), list(&found, "none"))
}

/// Reads the flags. Civil times are read in `zone`.
pub fn resolve(
    since: Option<&str>,
    until: Option<&str>,
    named: Option<&str>,
    zone: Rule,
    now: i64,
    sources: &Sources,
) -> anyhow::Result<Window> {
    let times = Times::read(since, until, named, &sources.declared, &|| Ok(phases::all(&sources.sources)))?;
    if times.open() {
        return Ok(Window::default());
    }
    let (start, end) = if times.of_run() { extent(&sources.sources) } else { (None, None) };
    let context = Context { run_start: start, run_end: end, now, zone, anchors: Default::default() };
    let window = times.resolve(&context)?;
    Ok(Window { since: window.since, until: window.until })
}

/// First and last stamp of a run: by the index where there is one, else by reading every record. Logs are written nearly in order, but not quite, and
/// exports may stand newest first: what is asked relative to the run must mean the same with an index and without.
pub fn extent(sources: &[Asked]) -> (Option<i64>, Option<i64>) {
    let mut found = Extent::default();
    for source in sources {
        for segment in &source.segments {
            found = found.with(Extent { first: segment.reference.first, last: segment.reference.last });
        }
        if (source.unindexed || source.needs_tail())
            && let Ok(bytes) = source.bytes()
        {
            let from = if source.unindexed { 0 } else { source.indexed_to.min(bytes.len()) };
            found = found.with(read(bytes, from, source));
        }
    }
    (found.first, found.last)
}

/// UTC nanoseconds of the earliest start and the latest end of some stamps.
#[derive(Clone, Copy, Default)]
struct Extent {
    first: Option<i64>,
    last: Option<i64>,
}

impl Extent {
    fn with(self, other: Extent) -> Extent {
        Extent { first: self.first.into_iter().chain(other.first).min(), last: self.last.max(other.last) }
    }
}

/// So many bytes are read by one thread at a time.
const CHUNK: usize = 8 << 20;

/// The stamps of the records from byte `from`, which begins one.
fn read(bytes: &[u8], from: usize, source: &Asked) -> Extent {
    let mut starts: Vec<usize> = vec![from];
    starts.extend((from + CHUNK..bytes.len()).step_by(CHUNK).map(|at| record::record_start(bytes, at, &source.layout)));
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let parts: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
    let of = |(offset, end): (usize, usize)| {
        let mut found = Extent::default();
        let start = Start { offset, line: 0, order: None };
        events::each(bytes, &source.layout, source.timing(), start, end, |_, _, facts| {
            if let Some(stamp) = facts.stamp {
                found = found.with(Extent { first: Some(stamp.start), last: Some(stamp.end) });
            }
            std::ops::ControlFlow::Continue(())
        });
        found
    };
    parts.into_par_iter().map(of).reduce(Extent::default, Extent::with)
}
