//! `--since`, `--until`, `--window` and `--around` into one window of UTC time.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use corr_parsers::clock::Rule;
use corr_parsers::stamp::Stamp;

use super::Nothing;
use super::answer::Window;
use super::extent::extent;
use super::phases::Phase;
use super::sources::Sources;
use super::timespec::{self, Base, Context, Offset, TimeSpec};
use crate::metrics::common::Covers;
use crate::render::shown::rfc3339;
use crate::run::declared::Declared;

/// The flags that say a window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags<'a> {
    pub since: Option<&'a str>,
    pub until: Option<&'a str>,
    pub window: Option<&'a str>,
    pub around: Option<&'a str>,
    pub span: &'a str,
}

/// What a window may be asked to lie by, found when it is needed.
pub struct Known<'a> {
    pub declared: &'a Declared,
    /// Windows that the run's records name.
    pub phases: &'a dyn Fn() -> anyhow::Result<Vec<Phase>>,
    /// The stamp of a locator's event.
    pub stamp: &'a dyn Fn(&str) -> anyhow::Result<Stamp>,
    /// What everything that is asked covers.
    pub covers: &'a dyn Fn() -> anyhow::Result<Covers>,
}

/// The ends of a window as written.
#[derive(Clone, Debug, Default)]
pub struct Times {
    pub since: Option<TimeSpec>,
    pub until: Option<TimeSpec>,
    /// What says where a named window lies.
    pub how: Option<String>,
    /// Events that the ends are written by.
    pub anchors: BTreeMap<String, Stamp>,
}

/// The window that all sources cover.
const COMMON: &str = "common";

impl Times {
    /// Reads the flags; a named window gives the ends that no flag gives.
    ///
    /// # Errors
    /// A time is not understood, no window has the name; [`Nothing`] if what was asked covers no time together.
    pub fn read(flags: Flags<'_>, known: &Known<'_>) -> anyhow::Result<Times> {
        let parse = |text: Option<&str>, flag: &str| -> anyhow::Result<Option<TimeSpec>> {
            text.map(|t| timespec::parse(t).with_context(|| format!("--{flag}"))).transpose()
        };
        let mut times = Times { since: parse(flags.since, "since")?, until: parse(flags.until, "until")?, ..Times::default() };
        if let Some(event) = flags.around {
            let (event, span_text) = around(event).unwrap_or((event, flags.span));
            let Some(span) = timespec::parse_duration(span_text).filter(|ns| *ns > 0) else {
                bail!("--span {span_text}: not a duration; write 30s, 250ms or 2m");
            };
            let stamp = (known.stamp)(event).context("--around")?;
            times.how = Some(format!("{span_text} before and after {event}, which is stamped {}", stamped(stamp)));
            times.anchors.insert(event.to_string(), stamp);
            let end = TimeSpec { text: event.to_string(), base: Base::Anchor(event.to_string()), offset: Offset::Around(span) };
            times.since = Some(end.clone());
            times.until = Some(end);
            return Ok(times);
        }
        let Some(name) = flags.window else { return Ok(times) };
        if let Some(window) = known.declared.window(name) {
            let declared = (parse(window.since.as_deref(), "window since")?, parse(window.until.as_deref(), "window until")?);
            times.how = Some(format!("window {name}: corr.toml"));
            times.since = times.since.or(declared.0);
            times.until = times.until.or(declared.1);
            return Ok(times);
        }
        let instant = |ns: i64| TimeSpec { text: name.to_string(), base: Base::Instant(ns), offset: Offset::By(0) };
        if name == COMMON {
            let shared = (known.covers)()?.shared().map_err(|why| Nothing(format!("window {name}: {why}")))?;
            times.how = Some(format!("window {name}: {}", shared.how));
            times.since = times.since.or(Some(instant(shared.since)));
            times.until = times.until.or(Some(instant(shared.until)));
            return Ok(times);
        }
        let phases = (known.phases)()?;
        let Some(phase) = phases.iter().find(|p| p.name == name) else {
            let names = names(known.declared, &phases);
            bail!("no window is named `{name}`; {names}. Declare it as [windows.{name}] with since and until");
        };
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

/// `LOCATOR±2s` as locator and duration; `None` without a duration at its end.
fn around(text: &str) -> Option<(&str, &str)> {
    let (event, span) = text.rsplit_once('±').or_else(|| text.rsplit_once("+-"))?;
    timespec::parse_duration(span).map(|_| (event, span))
}

/// A stamp for people: its start, and its end where it is wide.
fn stamped(stamp: Stamp) -> String {
    let width = stamp.end.saturating_sub(stamp.start);
    let wide = if width > 1_000_000 { format!(" and {} wide", crate::render::metrics::seconds(width)) } else { String::new() };
    format!("{}{wide}", rfc3339(stamp.start, 1_000))
}

/// Names of windows that are written out.
const MOST_NAMES: usize = 30;

/// The windows that can be named, in words.
fn names(declared: &Declared, phases: &[Phase]) -> String {
    let declared: Vec<&str> = declared.windows().map(|w| w.0).collect();
    let found: Vec<&str> = phases.iter().map(|p| p.name.as_str()).collect();
    let list = |names: &[&str], none: &str| match names {
        [] => none.to_string(),
        names if names.len() > MOST_NAMES => {
            let shown = names.get(..MOST_NAMES).unwrap_or(names);
            format!("{} and {} more", shown.join(", "), names.len() - shown.len())
        }
        names => names.join(", "),
    };
    format!("corr.toml declares {}, the run's records name {}", list(&declared, "none"), list(&found, "none"))
}

/// The window of the flags. Civil times are read in `zone`.
pub fn resolve(times: &Times, zone: Rule, now: i64, sources: &Sources) -> anyhow::Result<Window> {
    if times.open() {
        return Ok(Window::default());
    }
    let (start, end) = if times.of_run() { extent(&sources.sources) } else { (None, None) };
    let context = Context { run_start: start, run_end: end, now, zone, anchors: times.anchors.clone() };
    let window = times.resolve(&context)?;
    Ok(Window { since: window.since, until: window.until })
}

/// `[since, until)`, open ends as `…`.
pub fn interval(window: Window) -> String {
    let show = |ns: Option<i64>| ns.map_or("…".to_string(), |n| rfc3339(n, 1_000));
    format!("[{}, {})", show(window.since), show(window.until))
}

/// A window with both ends closed by the run's own, its first and last stamp; `None` for the whole run.
pub fn closed(window: Window, ends: impl FnOnce() -> (Option<i64>, Option<i64>)) -> anyhow::Result<Option<(i64, i64)>> {
    if window == Window::default() {
        return Ok(None);
    }
    // Where both ends are given no record is read for them.
    let (first, last) = if window.since.is_some() && window.until.is_some() { (None, None) } else { ends() };
    let from = window.since.or(first).context("the window has no start: no record has a stamp")?;
    let to = window.until.or(last).context("the window has no end: no record has a stamp")?;
    if from < to {
        return Ok(Some((from, to)));
    }
    let show = |ns: i64| rfc3339(ns, 1_000);
    match (window.since, window.until) {
        (Some(_), None) => bail!("the window is empty: it begins at {}, and the run ends at {}", show(from), show(to)),
        (None, Some(_)) => bail!("the window is empty: it ends at {}, and the run begins at {}", show(to), show(from)),
        _ if from == to => bail!("the window is empty: it begins and ends at {}", show(from)),
        _ => bail!("the window ends at {}, before it begins at {}", show(to), show(from)),
    }
}
