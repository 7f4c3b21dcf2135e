//! Raw samples.

use std::io::{self, Write};

use corr_metrics::model::{Sample, SeriesId, is_stale};
use serde_json::{Value as Json, json};

use super::{number, table};
use crate::metrics::asked::{Captured, title};
use crate::render::events::Format;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::{self, terminal};

/// Samples of some series.
pub struct Rows<'a> {
    pub series: Vec<(&'a Captured<'a>, SeriesId, Vec<Sample>)>,
    /// Samples that are not shown, of those asked for.
    pub cut: u64,
}

impl<'a> Rows<'a> {
    /// Keeps `limit` samples of all, 0 for no limit: the first ones of each series in turn.
    pub fn new(mut series: Vec<(&'a Captured<'a>, SeriesId, Vec<Sample>)>, limit: usize) -> Rows<'a> {
        let mut cut = 0;
        if limit > 0 {
            let mut left = limit;
            for (_, _, samples) in &mut series {
                let keep = samples.len().min(left);
                cut += (samples.len() - keep) as u64;
                left -= keep;
                samples.truncate(keep);
            }
            series.retain(|(_, _, samples)| !samples.is_empty());
        }
        Rows { series, cut }
    }

    /// How many are shown.
    pub fn shown(&self) -> u64 {
        self.series.iter().map(|(_, _, samples)| samples.len() as u64).sum()
    }

    /// Writes them.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => self.text(paint, out),
            Format::Json => {
                let series: Vec<Json> = self.series.iter().map(|(captured, id, samples)| json_of(captured, *id, samples)).collect();
                let whole = json!({"schema": "corr.metrics.rows.v1", "series": series, "shown": self.shown(), "not_shown": self.cut});
                safe::write_json(out, &whole, true)?;
                writeln!(out)
            }
            Format::Jsonl => {
                for (captured, id, samples) in &self.series {
                    for sample in samples {
                        let mut line = json!({
                            "type": "sample",
                            "capture": captured.name,
                            "target": target(captured, *id),
                            "series": captured.capture().spelled(*id),
                            "time": captured.dial().show(sample.at),
                            "value": value(sample.value),
                        });
                        if let Some(cited) = cited(captured, *id, sample) {
                            line["citation"] = cited.into();
                        }
                        safe::write_json(out, &line, false)?;
                        writeln!(out)?;
                    }
                }
                let summary = json!({"type": "summary", "shown": self.shown(), "not_shown": self.cut});
                safe::write_json(out, &summary, false)?;
                writeln!(out)
            }
            Format::Csv | Format::Markdown => {
                let rows = self.series.iter().flat_map(|(captured, id, samples)| {
                    let (name, target, series) = (captured.name.clone(), target(captured, *id), captured.capture().spelled(*id));
                    let dial = captured.dial();
                    samples.iter().map(move |s| {
                        let line = captured.line(*id, s.at).map(|line| line.to_string()).unwrap_or_default();
                        vec![dial.show(s.at), number(s.value), series.clone(), target.clone(), name.clone(), line]
                    })
                });
                table::write(format, &["time", "value", "series", "target", "capture", "line"], rows, out)
            }
        }
    }

    fn text(&self, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        for (i, (captured, id, samples)) in self.series.iter().enumerate() {
            if i > 0 {
                writeln!(out)?;
            }
            let series = captured.capture().spelled(*id);
            let place = format!("{}  {}", target(captured, *id), captured.name);
            writeln!(out, "{}  {}", paint.tone(Tone::Kind, &terminal(&series)), paint.tone(Tone::Place, &terminal(&place)))?;
            for sample in samples {
                let stale = if is_stale(sample.value) { "  (stale: the series ended)" } else { "" };
                let cited =
                    cited(captured, *id, sample).map_or_else(String::new, |c| format!("  {}", paint.tone(Tone::Dim, &terminal(&c))));
                writeln!(out, "{}  {}{stale}{cited}", captured.dial().show(sample.at), number(sample.value))?;
            }
        }
        Ok(())
    }
}

fn target(captured: &Captured<'_>, id: SeriesId) -> String {
    let capture = captured.capture();
    capture.get(id).and_then(|s| capture.endpoint(s.endpoint)).map(title).unwrap_or_default()
}

/// The record of a log that says a sample, as `path:line`.
fn cited(captured: &Captured<'_>, id: SeriesId, sample: &Sample) -> Option<String> {
    captured.line(id, sample.at).map(|line| format!("{}:{line}", captured.name))
}

/// A value as JSON; those that JSON has no word for as Prometheus writes them.
fn value(value: f64) -> Json {
    if value.is_finite() { json!(value) } else { json!(number(value)) }
}

fn json_of(captured: &Captured<'_>, id: SeriesId, samples: &[Sample]) -> Json {
    let dial = captured.dial();
    let lines: Vec<u64> = samples.iter().filter_map(|s| captured.line(id, s.at)).collect();
    let samples: Vec<Json> = samples.iter().map(|s| json!([dial.show(s.at), value(s.value)])).collect();
    let spelled = captured.capture().spelled(id);
    let mut whole = json!({"capture": captured.name, "target": target(captured, id), "series": spelled, "samples": samples});
    // One a sample, where the samples are records of a log.
    if !lines.is_empty() {
        whole["lines"] = json!(lines);
    }
    whole
}
