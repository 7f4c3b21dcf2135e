//! Verdicts as text, JSON, CSV and Markdown.

pub mod details;
mod json;
pub mod table;
pub mod trace;

pub use details::shell;

use std::io::{self, Write};

use corr_evidence::verdict::{Attribution, Verdict};

use crate::evidence::{Evidence, Judged};
use crate::render::events::Format;
use crate::render::paint::Paint;

/// The word for what cannot be proven, in every output.
pub const UNPROVABLE: &str = "UNPROVABLE";

/// An answer of `corr edges`.
pub struct Edged<'a> {
    pub evidence: &'a Evidence<'a>,
    pub judged: &'a Judged,
    /// Only these edges, by number; all if empty.
    pub only: &'a [usize],
    /// As the user gave it.
    pub run: &'a str,
    /// The run as an argument of a command, with the flags that it was read with: for commands that reproduce a figure.
    pub source: &'a str,
    /// What was asked about, in words: `window measured`, `session s-1`.
    pub scope: String,
    pub window: Option<(i64, i64)>,
    /// Every edge with its proofs.
    pub explain: bool,
}

impl Edged<'_> {
    /// Writes it.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => {
                table::text(self, paint, out)?;
                details::text(self, paint, out)
            }
            Format::Json => json::whole(self, out),
            Format::Jsonl => json::lines(self, out),
            Format::Csv => table::csv(self, out),
            Format::Markdown => table::markdown(self, out),
        }
    }

    /// One JSON object an edge, a line each.
    pub fn edge_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        json::edges(self, out)
    }

    /// The verdicts that are shown.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.judged.verdicts.iter().filter(|v| self.only.is_empty() || self.only.contains(&v.edge))
    }

    /// The name of its edge.
    pub fn id(&self, verdict: &Verdict) -> &str {
        self.evidence.edges.edges().get(verdict.edge).map_or("", |e| e.id.as_str())
    }
}

/// `289 of 289`, `263 of 289, 26 UNPROVABLE`, `UNPROVABLE`.
pub fn attribution(of: &Attribution) -> String {
    match of {
        Attribution::Proven { k, n, .. } if k == n => format!("proven {k} of {n}"),
        Attribution::Proven { k, n, .. } => format!("proven {k} of {n}, {} {UNPROVABLE}", n.saturating_sub(*k)),
        Attribution::Unprovable { .. } => UNPROVABLE.to_string(),
        Attribution::Nothing => "none".to_string(),
    }
}

/// A number without a needless fraction.
pub fn figure(n: f64) -> String {
    if n.fract() == 0.0 && n.abs() < 9e15 { crate::render::number::grouped_signed(n) } else { format!("{n}") }
}
