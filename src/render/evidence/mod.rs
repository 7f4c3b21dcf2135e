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

/// A number without a needless fraction: of a sum of fractions twelve digits, which hides what binary fractions add. JSON has it as it was summed.
pub fn figure(n: f64) -> String {
    if n.fract() == 0.0 && n.abs() < 9e15 {
        return crate::render::number::grouped_signed(n);
    }
    if !(1e-3..9e15).contains(&n.abs()) {
        return n.to_string();
    }
    let digits = (11 - n.abs().log10().floor() as i32).clamp(0, 14) as usize;
    let text = format!("{n:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn sums_of_fractions_are_without_what_binary_adds() {
        assert_eq!(figure(126_371.331_100_000_81), "126371.3311");
        assert_eq!([0.1 + 0.2, 0.25, -0.5, 1e-9].map(figure), ["0.3", "0.25", "-0.5", "0.000000001"]);
        assert_eq!([f64::NAN, f64::INFINITY, 1e300].map(figure).map(|text| text.is_empty()), [false; 3]);
        assert_eq!(figure(123_456_789_012.75), "123456789013");
    }
}
