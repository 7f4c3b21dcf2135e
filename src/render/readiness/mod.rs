//! Lives of servers as text with a picture, JSON, CSV and Markdown.

mod json;
pub mod picture;
mod table;
mod text;
pub mod words;

use std::io::{self, Write};

use corr_readiness::claim::Answer;
use corr_readiness::history::Invocation;
use corr_readiness::{Cite, History, Instant, UnitHistory};

use crate::readiness::places::Places;
use crate::readiness::{Seen, windows};
use crate::render::events::Format;
use crate::render::paint::Paint;

/// One unit, as far as it was asked about.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Only the runs that were asked about.
    pub unit: UnitHistory,
    /// As windows and `--unit` name it.
    pub name: String,
    /// Of each run its number in the whole history, from 1.
    pub numbers: Vec<usize>,
    /// Of each run the number of the outage before it, from 1.
    pub outages: Vec<Option<usize>>,
    /// Of each run the number of the one before it.
    pub before: Vec<usize>,
    /// Runs outside what was asked about.
    pub outside: usize,
}

impl Unit {
    /// A unit of a history with those runs that were there in a window, UTC ns.
    pub fn within(all: &[UnitHistory], unit: &UnitHistory, window: (Option<i64>, Option<i64>)) -> Unit {
        let numbered = windows::numbers(unit);
        let kept: Vec<usize> =
            (0..unit.invocations.len()).filter(|at| unit.invocations.get(*at).is_some_and(|run| overlaps(run, window))).collect();
        let pick = |at: &usize| unit.invocations.get(*at).cloned();
        let mut shown = unit.clone();
        shown.invocations = kept.iter().filter_map(pick).collect();
        shown.loops.retain_mut(|found| {
            let place = |at: usize| kept.iter().position(|kept| *kept == at);
            match (place(found.first), place(found.last)) {
                (Some(first), Some(last)) => {
                    (found.first, found.last) = (first, last);
                    true
                }
                _ => false,
            }
        });
        Unit {
            name: windows::name_of(all, unit),
            numbers: kept.iter().map(|at| at + 1).collect(),
            outages: kept.iter().map(|at| numbered.get(*at).copied().flatten()).collect(),
            before: kept.iter().map(|at| windows::before(unit, *at)).collect(),
            outside: unit.invocations.len() - kept.len(),
            unit: shown,
        }
    }
}

/// When a run began at the latest, and ended at the earliest, as far as is known.
pub fn extent(run: &Invocation) -> (Option<i64>, Option<i64>) {
    let marks = || run.seen.iter().flat_map(|(_, seen)| [seen.first, seen.last]).filter_map(|mark| mark.wall);
    let began = |instant: &Instant| instant.lower().or(instant.upper()).and_then(|mark| mark.wall).map(|wall| wall.start);
    let first = began(&run.instants.started).or_else(|| marks().map(|wall| wall.start).min());
    let last = run.instants.ended.upper().and_then(|mark| mark.wall).map(|wall| wall.end);
    (first, last)
}

/// A run without times is in every window: nothing shows that it is not.
fn overlaps(run: &Invocation, (since, until): (Option<i64>, Option<i64>)) -> bool {
    let (first, last) = extent(run);
    let after = since.zip(last).is_none_or(|(since, last)| last > since);
    let before = until.zip(first).is_none_or(|(until, first)| first < until);
    after && before
}

/// A claim of the user's, judged.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub unit: String,
    /// As the user wrote it: `--within 120s`.
    pub claim: String,
    pub answer: Answer,
}

/// An answer of `corr ready`.
pub struct Lives<'a> {
    /// As the user gave it.
    pub run: &'a str,
    pub history: &'a History,
    pub units: &'a [Unit],
    pub places: &'a Places,
    pub seen: &'a [Seen],
    pub copies: &'a [(String, String)],
    pub claims: &'a [Claimed],
    /// Units that are no servers, or were not asked about.
    pub others: &'a [String],
    /// UTC nanoseconds; what was asked about.
    pub window: (Option<i64>, Option<i64>),
    /// Runs of a unit that are written out as text; 0 for all.
    pub limit: usize,
}

impl Lives<'_> {
    /// Writes it.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => text::write(self, paint, out),
            Format::Json => json::whole(self, out),
            Format::Jsonl => json::lines(self, out),
            Format::Csv => table::csv(self, out),
            Format::Markdown => table::markdown(self, out),
        }
    }

    /// Places of some records, each once.
    fn places(&self, cites: &[Cite]) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for cite in cites {
            let place = self.places.of(*cite);
            if !place.is_empty() && !found.contains(&place) {
                found.push(place);
            }
        }
        found
    }
}
