//! The window that is asked for, on the clock of each capture.

use std::cell::OnceCell;
use std::path::Path;

use anyhow::Context as _;

use super::Args;
use crate::cli::query::zone_of_flags;
use crate::metrics::asked::{Asked, Captured};
use crate::metrics::span::{Misplaced, Placed, Span};
use crate::query::extent::extent;
use crate::query::phases::Phase;
use crate::query::sources::{self, Sources};
use crate::query::timespec::Context;
use crate::query::window::Times;
use crate::readiness::windows;
use crate::render::shown::rfc3339;
use crate::run::source::Class;
use crate::run::{Options, Run};

/// The run's sources of events, opened when they are first asked.
pub struct Events<'a> {
    run: &'a Run,
    options: &'a Options,
    store: Option<&'a Path>,
    opened: OnceCell<Sources>,
    /// They are there, whatever the run has.
    elsewhere: bool,
}

impl<'a> Events<'a> {
    pub fn of(run: &'a Run, options: &'a Options, store: Option<&'a Path>) -> Events<'a> {
        Events { run, options, store, opened: OnceCell::new(), elsewhere: false }
    }

    /// Of a run that is elsewhere.
    #[cfg(feature = "cluster")]
    pub fn elsewhere(run: &'a Run, options: &'a Options, sources: Sources) -> Events<'a> {
        Events { run, options, store: None, opened: OnceCell::from(sources), elsewhere: true }
    }

    pub fn get(&self) -> anyhow::Result<&Sources> {
        if self.opened.get().is_none() {
            let sources = sources::of(self.run, self.options, self.store)?;
            return Ok(self.opened.get_or_init(|| sources));
        }
        self.opened.get().context("the sources of events are not open")
    }

    /// The windows of the run's lives.
    pub fn lives(&self) -> anyhow::Result<Vec<Phase>> {
        windows::of_run(self.run, self.get()?, self.options, self.store)
    }
}

/// A window that is to be laid on captures.
pub struct Placing<'a> {
    pub args: &'a Args,
    pub run: &'a Run,
    pub events: &'a Events<'a>,
    pub times: Times,
    pub now: i64,
}

impl Placing<'_> {
    /// The window on every capture's clock, `None` where it cannot be laid; and what is to be said of it.
    pub fn spans(&self, asked: &Asked<'_>) -> anyhow::Result<(Vec<Option<Placed>>, Vec<String>)> {
        let mut said = Vec::new();
        let zone = zone_of_flags(&self.args.reading.tz)?;
        let context = |start, end| Context { run_start: start, run_end: end, now: self.now, zone, anchors: self.times.anchors.clone() };
        let (start, end) = if self.times.of_run() { self.extent(asked)? } else { (None, None) };
        let shared = if start.is_none() && self.times.of_run() {
            None
        } else {
            let window = self.times.resolve(&context(start, end))?;
            Some(Span { since: window.since, until: window.until })
        };
        if let Some(span) = shared
            && !self.times.open()
        {
            let show = |at: Option<i64>| at.map_or("…".into(), |at| rfc3339(at, 1_000_000));
            said.push(format!("window {} to {}", show(span.since), show(span.until)));
        }
        let mut out = Vec::new();
        for captured in &asked.captures {
            let placed = match shared.map(|span| span.on(captured)) {
                Some(Err(Misplaced::NoWallClock)) | None if self.times.only_of_run() => {
                    let extent = captured.extent();
                    let own = self.times.resolve(&context(extent.map(|e| e.0), extent.map(|e| e.1)))?;
                    said.push(format!("{}: start and end are the capture's own", captured.name));
                    Span { since: own.since, until: own.until }.on_own(captured)
                }
                Some(placed) => placed,
                None => Err(Misplaced::NoWallClock),
            };
            if let Err(why) = &placed {
                let next = if why == &Misplaced::NoWallClock {
                    "; give times as start+60s, or a second capture of the same endpoint with --also"
                } else {
                    ""
                };
                said.push(format!("{}: not asked: {why}{next}", captured.name));
            }
            out.push(placed.ok());
        }
        Ok((out, said))
    }

    /// First and last instant of the run: of its events; of its captures, if it has none.
    fn extent(&self, asked: &Asked<'_>) -> anyhow::Result<(Option<i64>, Option<i64>)> {
        if self.events.elsewhere || self.run.sources.iter().any(|s| s.class == Class::Events) {
            let found = extent(&self.events.get()?.sources);
            if found.0.is_some() {
                return Ok(found);
            }
        }
        let both = asked.span_utc();
        Ok((both.map(|b| b.0), both.map(|b| b.1)))
    }
}

/// Where the window lies on a capture.
pub fn span_of<'s>(asked: &Asked<'_>, spans: &'s [Option<Placed>], captured: &Captured<'_>) -> Option<&'s Placed> {
    let i = asked.captures.iter().position(|c| std::ptr::eq(c, captured))?;
    spans.get(i)?.as_ref()
}
