//! `corr query --metrics`: series beside the events of a question.

use std::io::Write;

use anyhow::bail;
use corr_metrics::select::Selector;
use corr_parsers::stamp::Stamp;

use super::flags::{Series, selectors};
use crate::metrics::asked::{Asked, Hit};
use crate::metrics::beside::Beside;
use crate::metrics::common::Covers;
use crate::metrics::figures::{self, QUANTILES};
use crate::metrics::read::Read;
use crate::metrics::span::{Coverage, Span};
use crate::metrics::workers::{self, Mapped, Said, Worker};
use crate::query::answer::Window;
use crate::query::sources::Sources;
use crate::render::metrics::{Figured, Row};
use crate::render::safe::terminal;
use crate::render::shown::Shown;

/// What is joined, read from the flags.
#[derive(Debug)]
pub struct Wanted {
    selectors: Vec<Selector>,
    said: Vec<Said>,
}

/// The captures that are joined; kept apart from what borrows them.
pub struct Joined<'r> {
    asked: &'r Asked<'r>,
    workers: Vec<Worker>,
    wanted: &'r Wanted,
    /// What shows why a field of log records was not found.
    said: &'r [String],
}

impl Wanted {
    /// Reads `--metrics` and `--map`; `None` if no series is wanted.
    pub fn read(series: &Series) -> anyhow::Result<Option<Wanted>> {
        let selectors = selectors(&series.metrics, "metrics")?;
        let mut said = Vec::new();
        for text in &series.map {
            // A URL may hold `=`; a worker's name does not.
            let Some((endpoint, worker)) = text.rsplit_once('=') else {
                bail!("--map {text}: write ENDPOINT=WORKER, the endpoint by its name or URL as `corr metrics` prints it");
            };
            said.push(Said { endpoint: endpoint.to_string(), worker: worker.to_string() });
        }
        Ok((!selectors.is_empty()).then_some(Wanted { selectors, said }))
    }

    pub fn selectors(&self) -> &[Selector] {
        &self.selectors
    }

    /// Takes the series out of what was read for them.
    pub fn join<'r>(&'r self, read: &'r Read<'r>, sources: &Sources) -> Joined<'r> {
        let workers = workers::workers(sources.sources.iter().map(|s| &s.owner));
        Joined { asked: &read.asked, workers, wanted: self, said: &read.said }
    }
}

impl Joined<'_> {
    /// The series, by worker.
    pub fn beside(&self) -> Beside<'_> {
        Beside::new(self.asked, &self.wanted.selectors, &self.workers, &self.wanted.said)
    }

    /// The stretch of time that a citation of a series names; `None` if the text is no citation.
    pub fn stamp_of_citation(&self, text: &str) -> Option<anyhow::Result<Stamp>> {
        self.asked.stamp_of_citation(text)
    }

    /// Adds what the captures of the joined members cover.
    pub fn cover(&self, covers: &mut Covers) {
        let hits = self.hits();
        covers.leave_out(&self.asked.captures, &hits);
        covers.add_beside_logs(hits);
    }

    /// The members that are joined.
    pub fn hits(&self) -> Vec<Hit<'_>> {
        self.asked.hits(&self.wanted.selectors)
    }

    /// Says which series are not there.
    pub fn tell_missing(&self, err: &mut dyn Write) -> anyhow::Result<()> {
        for line in self.said {
            writeln!(err, "corr: --metrics: {}", terminal(line))?;
        }
        let captured = self.asked.captures.iter().any(|c| !c.is_log());
        for selector in self.wanted.selectors.iter().filter(|s| self.asked.hits(std::slice::from_ref(s)).is_empty()) {
            let why = match (selector.of_log(), captured) {
                (true, _) => "no record has such a field as a number",
                (false, false) => "the run holds no metric capture that could be read",
                (false, true) => "no such series; `corr metrics` lists those that there are",
            };
            writeln!(err, "corr: --metrics {}: {why}", terminal(&selector.text))?;
        }
        Ok(())
    }

    /// Says what was joined with what, and what could not be.
    pub fn tell(&self, beside: &Beside<'_>, err: &mut dyn Write) -> anyhow::Result<()> {
        for note in &self.asked.notes {
            writeln!(err, "corr: {}", terminal(note))?;
        }
        for not_read in &self.asked.not_read {
            writeln!(err, "corr: {}: {}; {}", terminal(&not_read.name), terminal(&not_read.why), terminal(&not_read.next))?;
        }
        self.tell_missing(err)?;
        for said in &self.wanted.said {
            let known = self
                .asked
                .captures
                .iter()
                .flat_map(|c| &c.capture().endpoints)
                .any(|e| e.name == said.endpoint || e.url.as_deref() == Some(&said.endpoint));
            if !known {
                writeln!(err, "corr: --map {}: no capture has an endpoint of this name or URL", terminal(&said.endpoint))?;
            }
            if !self.workers.iter().any(|w| w.name == said.worker) {
                writeln!(err, "corr: --map …={}: no log of the run is of a worker of this name", terminal(&said.worker))?;
            }
        }
        for (endpoint, mapped) in &beside.endpoints {
            match mapped {
                Some(mapped) => {
                    writeln!(err, "endpoint {} is {}: {}", terminal(endpoint), terminal(&mapped.worker), terminal(&mapped.how))?
                }
                None => {
                    let names: Vec<&str> = self.workers.iter().map(|w| w.name.as_str()).collect();
                    let names = if names.is_empty() { "the run's logs name none".to_string() } else { names.join(", ") };
                    writeln!(
                        err,
                        "corr: endpoint {}: nothing shows which worker it is ({}); say so with --map ENDPOINT=WORKER",
                        terminal(endpoint),
                        terminal(&names)
                    )?;
                }
            }
        }
        let hits = self.hits();
        for captured in self.asked.captures.iter().filter(|captured| hits.iter().any(|hit| std::ptr::eq(hit.captured, *captured))) {
            if captured.dial().to_utc().is_none() {
                writeln!(
                    err,
                    "corr: {}: not joined: its clock counts from its own start, and where that lies is unknown",
                    terminal(&captured.name)
                )?;
            }
        }
        Ok(())
    }

    /// Figures of the members in a window, and how many of them the captures do not cover whole.
    pub fn figures<'h>(&self, hits: &'h [Hit<'h>], since: i64, until: i64) -> (Vec<Row<'h>>, usize) {
        let span = Span { since: Some(since), until: Some(until) };
        self.laid(hits, span)
    }

    fn laid<'h>(&self, hits: &'h [Hit<'h>], span: Span) -> (Vec<Row<'h>>, usize) {
        let (mut rows, mut short) = (Vec::new(), 0);
        for hit in hits {
            let Ok(placed) = span.on(hit.captured) else { continue };
            short += usize::from(placed.coverage != Coverage::Whole);
            let worker = self.mapped(hit);
            let row = |part| Row { hit, placed, part, worker: worker.clone() };
            rows.extend(figures::of(hit, &placed, QUANTILES).into_iter().map(row));
        }
        (rows, short)
    }

    /// Figures of a question's window.
    pub fn in_window<'h>(&self, hits: &'h [Hit<'h>], window: Window) -> Figured<'h> {
        Figured { covered: Vec::new(), offsets: Vec::new(), rows: self.laid(hits, Span { since: window.since, until: window.until }).0 }
    }

    /// The worker of a hit's endpoint.
    pub fn worker(&self, hit: &Hit<'_>) -> Option<String> {
        self.mapped(hit).map(|m| m.worker)
    }

    fn mapped(&self, hit: &Hit<'_>) -> Option<Mapped> {
        let endpoint = hit.captured.capture().endpoint(hit.member.endpoint)?;
        workers::of(endpoint, &self.workers, &self.wanted.said)
    }
}

/// Puts the samples beside an event.
pub fn put(event: &mut Shown, beside: &Beside<'_>) {
    event.beside = Some(match (&event.worker, event.stamp) {
        _ if beside.is_empty() => Err("no such series".into()),
        (None, _) => Err("nothing says which worker wrote this".into()),
        (_, None) => Err("no stamp".into()),
        (Some(worker), Some(_)) if !beside.knows(worker) => Err(format!("no endpoint with these series is {worker}")),
        (Some(worker), Some(stamp)) => Ok(beside.of(worker, stamp)),
    });
}
