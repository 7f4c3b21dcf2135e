//! Figures added up by a label.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::json as dated;
use super::words::{bracket_words, quantile_words};
use super::{computed, table};
use crate::metrics::sums::{Sum, Total};
use crate::render::events::Format;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::{self, terminal};

/// Sums of a window by the values of a label.
pub struct Summed<'a> {
    pub label: &'a str,
    pub sums: Vec<Sum<'a>>,
}

impl Summed<'_> {
    /// Writes them.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => self.sums.iter().try_for_each(|sum| self.text(sum, paint, out)),
            Format::Json => {
                let sums: Vec<Json> = self.sums.iter().map(|s| self.json(s)).collect();
                safe::write_json(out, &json!({"schema": "corr.metrics.by.v1", "by": self.label, "sums": sums}), true)?;
                writeln!(out)
            }
            Format::Jsonl => {
                for sum in &self.sums {
                    safe::write_json(out, &self.json(sum), false)?;
                    writeln!(out)?;
                }
                Ok(())
            }
            Format::Csv | Format::Markdown => {
                let columns = ["family", self.label, "sum", "least", "most", "quantiles", "counted", "missing", "ranks", "capture"];
                table::write(format, &columns, self.sums.iter().map(cells), out)
            }
        }
    }

    fn text(&self, sum: &Sum<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let name = paint.tone(Tone::Kind, &terminal(sum.family));
        let value = if sum.value.is_empty() { format!("without {}", self.label) } else { format!("{}={}", self.label, sum.value) };
        writeln!(out, "{name}  {}  {}", terminal(&value), paint.tone(Tone::Place, &terminal(&sum.captured.name)))?;
        let n = match sum.counted.len() {
            1 => "1 member".to_string(),
            n => format!("{n} members"),
        };
        match &sum.total {
            Total::Counter { inner, least, most } => {
                writeln!(out, "  {} in {n}; in the window {}", computed(*inner), bracket_words((*least, *most)))?;
            }
            Total::Histogram { count, quantiles } => {
                writeln!(out, "  {} observations in {n}", computed(*count))?;
                for quantile in quantiles {
                    writeln!(out, "  {}", quantile_words(quantile))?;
                }
            }
            Total::Nothing(why) => writeln!(out, "  no sum: {}", terminal(why))?,
        }
        for line in &sum.ranks {
            writeln!(out, "  {}", terminal(line))?;
        }
        for line in &sum.missing {
            writeln!(out, "  {}", paint.tone(Tone::Warn, &format!("not in it: {}", terminal(line))))?;
        }
        for line in &sum.counted {
            writeln!(out, "  {}", paint.tone(Tone::Dim, &terminal(line)))?;
        }
        Ok(())
    }

    fn json(&self, sum: &Sum<'_>) -> Json {
        let total = match &sum.total {
            Total::Counter { inner, least, most } => json!({"status": "answered", "sum": inner, "least": least, "most": most}),
            Total::Histogram { count, quantiles } => {
                json!({"status": "answered", "count": count, "quantiles": dated::of(quantiles, sum.captured.dial())})
            }
            Total::Nothing(why) => json!({"status": "no_sum", "why": why}),
        };
        json!({
            "capture": sum.captured.name,
            "family": sum.family,
            "value": sum.value,
            "total": total,
            "counted": sum.counted,
            "ranks": sum.ranks,
            "missing": sum.missing,
        })
    }
}

fn cells(sum: &Sum<'_>) -> Vec<String> {
    let (total, least, most, quantiles) = match &sum.total {
        Total::Counter { inner, least, most } => {
            (computed(*inner), computed(*least), most.map(computed).unwrap_or_default(), String::new())
        }
        Total::Histogram { count, quantiles } => {
            (computed(*count), String::new(), String::new(), quantiles.iter().map(quantile_words).collect::<Vec<_>>().join("; "))
        }
        Total::Nothing(_) => Default::default(),
    };
    vec![
        sum.family.to_string(),
        sum.value.clone(),
        total,
        least,
        most,
        quantiles,
        sum.counted.len().to_string(),
        sum.missing.join("; "),
        sum.ranks.join("; "),
        sum.captured.name.clone(),
    ]
}
