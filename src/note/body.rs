//! What stands in a block of Markdown: facts, timeline, edges, what is unprovable, commands, citations as footnotes.

use std::collections::BTreeMap;
use std::fmt::Write;

use corr_evidence::verdict::Verdict;
use corr_parsers::clock::How;

use crate::query::sources::Asked;
use crate::render::evidence::details::needed;
use crate::render::evidence::{Edged, UNPROVABLE, table};
use crate::render::number::grouped;
use crate::render::safe::{fenced, markdown_cell, markdown_code, terminal};
use crate::render::shown::rfc3339;
use crate::render::sources::{clock_words, resolution};
use crate::render::timeline::{event_cell, metrics_cell, status_cell, times, who};
use crate::timeline::{Row, Seen, Totals};

/// All that a note says.
pub struct Note<'a> {
    /// The block's name, which its footnotes bear.
    pub name: &'a str,
    /// The run as the user gave it, all arguments.
    pub run: &'a str,
    /// What was asked, in words: `whole run`, `window measured, session s-1`.
    pub asked: &'a str,
    /// What the window resolved to, and what says so; `None` for the whole run.
    pub window: Option<&'a str>,
    pub rows: &'a [Row],
    pub totals: &'a Totals,
    /// Events whose stamps reach over an edge of the window.
    pub at_edge: u64,
    pub sources: &'a [Asked],
    /// First start and last end of each source's stamps over the whole run, UTC ns, by the source's name.
    pub spans: &'a BTreeMap<String, (i64, i64)>,
    /// Captures with what they cover, in words.
    pub captures: &'a [(String, String)],
    pub edged: &'a Edged<'a>,
    /// What was not read, with the reason.
    pub not_read: &'a [(String, String)],
    /// Commands that give each part again.
    pub commands: &'a [String],
    /// Samples stand beside the rows.
    pub metrics: bool,
}

/// Sources that are named one by one.
const SOURCES: usize = 40;
/// Citations of an edge.
const CITES: usize = 4;

/// Citations, numbered as they are first used.
struct Footnotes<'n> {
    name: &'n str,
    texts: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Footnotes<'_> {
    fn cite(&mut self, text: String) -> String {
        let next = self.texts.len() + 1;
        let number = *self.numbers.entry(text.clone()).or_insert(next);
        if number == next {
            self.texts.push(text);
        }
        format!("[^{}-{number}]", self.name)
    }
}

impl Note<'_> {
    /// The body of the block: Markdown as GitHub reads it.
    pub fn markdown(&self) -> String {
        let mut notes = Footnotes { name: self.name, texts: Vec::new(), numbers: BTreeMap::new() };
        let mut out = String::new();
        // Writing to a text cannot fail.
        let _ = self.write(&mut out, &mut notes);
        out
    }

    fn write(&self, out: &mut String, notes: &mut Footnotes<'_>) -> std::fmt::Result {
        writeln!(out, "\n### {}: {}\n", markdown_cell(self.run), markdown_cell(self.asked))?;
        self.facts(out)?;
        self.covered(out)?;
        self.timeline(out, notes)?;
        self.edges(out, notes)?;
        self.unprovable(out)?;
        self.reproduce(out)?;
        if !notes.texts.is_empty() {
            writeln!(out)?;
        }
        for (i, text) in notes.texts.iter().enumerate() {
            writeln!(out, "[^{}-{}]: {}", self.name, i + 1, markdown_code(text))?;
        }
        writeln!(out)
    }

    fn facts(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "| fact | |\n|---|---|")?;
        let mut row = |name: &str, text: &str| writeln!(out, "| {name} | {} |", markdown_cell(text));
        row("asked", self.asked)?;
        row("window", self.window.unwrap_or("the whole run"))?;
        let Totals { rows, shown, .. } = self.totals;
        let cut =
            if shown < rows { format!(", of which the {shown} most telling are shown (marks and errors first)") } else { String::new() };
        row("events", &format!("{}{cut}", self.totals.words()))?;
        if self.at_edge > 0 {
            row("at the window's edge", &format!("{} events whose stamps reach over it", grouped(self.at_edge)))?;
        }
        let assumed: Vec<&str> =
            self.sources.iter().filter(|s| s.clock.how == How::Assumed && self.seen(s).span.is_some()).map(|s| s.key.as_str()).collect();
        let zones = match assumed[..] {
            [] => "all known".to_string(),
            _ => {
                format!("ASSUMED for {}: their times end in `?`, and their place among other sources' is an assumption", assumed.join(", "))
            }
        };
        row("zones", &zones)?;
        row("not read", if self.not_read.is_empty() { "nothing" } else { "see below" })?;
        for (name, why) in self.not_read {
            writeln!(out, "| not read | {}: {} |", markdown_cell(name), markdown_cell(why))?;
        }
        writeln!(out)
    }

    fn seen(&self, source: &Asked) -> Seen {
        self.totals.sources.get(&source.name).copied().unwrap_or_default()
    }

    fn covered(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "| source | covers | events here | stamps | clock |\n|---|---|---|---|---|")?;
        for source in self.sources.iter().take(SOURCES) {
            let seen = self.seen(source);
            let covers = match self.spans.get(&source.name) {
                Some((from, to)) => format!("{} … {}", rfc3339(*from, 1_000_000), rfc3339(*to, 1_000_000)),
                None => "no stamps".to_string(),
            };
            let width = seen.width.map_or(String::new(), |w| format!("within {}", resolution(w)));
            let cells = [&source.key, &covers, &grouped(seen.events), &width, &clock_words(&source.clock, "")].map(|c| markdown_cell(c));
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        for (name, covers) in self.captures {
            writeln!(out, "| {} | {} | | | |", markdown_cell(name), markdown_cell(covers))?;
        }
        writeln!(out)?;
        if self.sources.len() > SOURCES {
            writeln!(out, "{} more sources: `corr sources` lists them.\n", self.sources.len() - SOURCES)?;
        }
        Ok(())
    }

    fn timeline(&self, out: &mut String, notes: &mut Footnotes<'_>) -> std::fmt::Result {
        if self.rows.is_empty() {
            return writeln!(out, "No event.\n");
        }
        let day = one_day(self.rows);
        if let Some(day) = &day {
            writeln!(out, "Times are UTC of {day}.\n")?;
        }
        let (head, rule) = if self.metrics { (" metrics |", "---|") } else { ("", "") };
        writeln!(out, "| UTC | source | event | status | evidence |{head}\n|---|---|---|---|---|{rule}")?;
        for row in self.rows {
            let cells = [markdown_cell(&short(row, day.as_deref())), markdown_cell(&who(&row.first)), event_cell(row), status_cell(row)];
            let metrics = if self.metrics { format!(" {} |", metrics_cell(row)) } else { String::new() };
            writeln!(out, "| {} | {} |{metrics}", cells.join(" | "), notes.cite(row.citation()))?;
        }
        writeln!(out)
    }

    fn edges(&self, out: &mut String, notes: &mut Footnotes<'_>) -> std::fmt::Result {
        writeln!(out, "Edges of the cache path, {}:\n", markdown_cell(&table::population(self.edged)))?;
        let mut cell = |verdict: &Verdict| {
            let of_proof = |cites: &[corr_evidence::ledger::Cite]| match cites {
                [] => None,
                [one] => Some(self.edged.evidence.locator(*one)),
                [first, .., last] => Some(format!("{} … {}", self.edged.evidence.locator(*first), self.edged.evidence.locator(*last))),
            };
            let proofs = verdict.proofs.iter().filter_map(|p| of_proof(&p.cites));
            let counters = verdict.counters.iter().filter(|c| c.moved()).flat_map(|c| c.cites.first().cloned());
            proofs.chain(counters).take(CITES).map(|text| notes.cite(text)).collect::<Vec<_>>().join(" ")
        };
        let mut table = Vec::new();
        // Writing to memory cannot fail.
        let _ = table::markdown_with(self.edged, Some(("evidence", &mut cell)), &mut table);
        out.push_str(&String::from_utf8_lossy(&table));
        writeln!(out)
    }

    fn unprovable(&self, out: &mut String) -> std::fmt::Result {
        let by = needed(self.edged);
        for ((what, needs), edges) in &by {
            writeln!(out, "- {UNPROVABLE} by {what}: {}. Needs: {}", markdown_cell(&edges.join(", ")), markdown_cell(needs))?;
        }
        if by.is_empty() { Ok(()) } else { writeln!(out) }
    }

    fn reproduce(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "```sh")?;
        for command in self.commands {
            writeln!(out, "{}", fence_safe(command))?;
        }
        writeln!(out, "```")
    }
}

/// A command as it is, unless it would end the fence.
fn fence_safe(command: &str) -> String {
    if command.contains("```") { fenced(command) } else { terminal(command).into_owned() }
}

/// The day on which all rows lie.
pub fn one_day(rows: &[Row]) -> Option<String> {
    let ends = rows.iter().flat_map(|r| [Some(&r.first), r.last.as_deref()]).flatten();
    let mut days = ends.filter_map(|e| e.stamp.map(|s| s.start).or(e.order)).map(|ns| rfc3339(ns, 1_000_000_000));
    let first: String = days.next()?.chars().take(10).collect();
    days.all(|day| day.starts_with(&first)).then_some(first)
}

/// The time of a row, without the day that all have.
pub fn short(row: &Row, day: Option<&str>) -> String {
    let whole = times(row);
    match day {
        Some(day) => whole.replace(&format!("{day}T"), "").replace('Z', ""),
        None => whole,
    }
}
