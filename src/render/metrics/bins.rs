//! Counts of events in bins of time, with what series did in each bin.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::figures::Row;
use super::table;
use crate::render::events::Format;
use crate::render::number::grouped;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::{self, terminal};
use crate::render::shown::rfc3339;

/// One bin.
pub struct Bin<'a> {
    /// UTC ns.
    pub start: i64,
    pub count: u64,
    /// Figures with the worker of each, where one is known.
    pub figures: Vec<(Option<String>, Row<'a>)>,
}

/// Writes bins of `width` ns.
pub fn write(bins: &[Bin<'_>], width: i64, format: Format, summary: &Json, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => {
            let digits = bins.iter().map(|b| grouped(b.count).len()).max().unwrap_or(0);
            for bin in bins {
                writeln!(out, "{}  {:>digits$}", rfc3339(bin.start, width), grouped(bin.count))?;
                for (worker, row) in &bin.figures {
                    let worker = worker.as_ref().map_or_else(String::new, |w| format!(" ({})", terminal(w)));
                    writeln!(out, "    {}{worker}  {}", terminal(&row.name()), row.brief())?;
                    if let Some(cited) = row.citation() {
                        writeln!(out, "      {}", paint.tone(Tone::Dim, &terminal(&cited)))?;
                    }
                }
            }
            Ok(())
        }
        Format::Json => {
            let list: Vec<Json> = bins.iter().map(|b| json_of(b, width)).collect();
            safe::write_json(out, &json!({"schema": "corr.query.v1", "width_ns": width, "bins": list, "summary": summary}), true)?;
            writeln!(out)
        }
        Format::Jsonl => {
            for bin in bins {
                let mut line = json_of(bin, width);
                line["type"] = "bin".into();
                safe::write_json(out, &line, false)?;
                writeln!(out)?;
            }
            safe::write_json(out, summary, false)?;
            writeln!(out)
        }
        Format::Csv | Format::Markdown => {
            let rows = bins.iter().flat_map(|bin| {
                let start = rfc3339(bin.start, width);
                bin.figures.iter().map(move |(worker, row)| {
                    let worker = worker.clone().unwrap_or_default();
                    vec![start.clone(), bin.count.to_string(), worker, row.name(), row.brief(), row.citation().unwrap_or_default()]
                })
            });
            table::write(format, &["start", "count", "worker", "series", "figure", "citation"], rows, out)
        }
    }
}

fn json_of(bin: &Bin<'_>, width: i64) -> Json {
    let figures: Vec<Json> = bin
        .figures
        .iter()
        .map(|(worker, row)| {
            let mut figure = row.json();
            figure["worker"] = json!(worker);
            figure
        })
        .collect();
    json!({"start": rfc3339(bin.start, width), "count": bin.count, "metrics": figures})
}
