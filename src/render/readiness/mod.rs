//! Lives of servers as text with a picture, JSON, CSV and Markdown.

mod json;
pub mod picture;
mod table;
mod text;
pub mod words;

use std::io::{self, Write};

use corr_readiness::claim::Answer;
use corr_readiness::{Cite, History, UnitHistory};

use crate::readiness::Seen;
use crate::readiness::places::Places;
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
    /// Runs outside what was asked about.
    pub outside: usize,
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
