//! The report as data in its page, for programs that are given the page alone.

use serde_json::{Value as Json, json};

use crate::report::{Plot, Plots, Report};

/// The schema of the data.
const SCHEMA: &str = "corr.report.v1";

/// Everything but the records themselves, which stand in the page.
pub fn data(report: &Report) -> Json {
    json!({
        "schema": SCHEMA,
        "head": report.head,
        "coverage": report.covered,
        "facts": report.facts,
        "pipeline": report.pipeline,
        "lives": report.lives,
        "timeline": report.timeline,
        "series": series(&report.series),
        "figures": report.figures,
        "cited_records_left_out": report.records.left_out,
    })
}

/// Times of samples are microseconds since the first of their series' plot: half the digits.
fn series(plots: &Plots) -> Json {
    let plot = |plot: &Plot| {
        let origin = plot.lines.iter().flat_map(|l| l.pieces.iter().flatten()).map(|point| point.0).min().unwrap_or(0);
        let lines: Vec<Json> = plot
            .lines
            .iter()
            .map(|line| {
                let piece = |piece: &Vec<(i64, f64)>| {
                    piece.iter().map(|(at, value)| json!([at.saturating_sub(origin).div_euclid(1_000), value])).collect::<Vec<_>>()
                };
                json!({
                    "name": line.name, "samples": line.samples, "reduced": line.reduced, "joined": line.joined, "cite": line.cite.text,
                    "pieces": line.pieces.iter().map(piece).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "family": plot.family, "capture": plot.capture, "what": plot.what, "origin_ns": origin, "unit_of_time": "us", "lines": lines,
            "lines_left_out": plot.lines_left_out, "gaps": plot.gaps, "gaps_left_out": plot.gaps_left_out, "note": plot.note,
        })
    };
    json!({"plots": plots.plots.iter().map(plot).collect::<Vec<_>>(), "left_out": plots.left_out, "none": plots.none, "marks": plots.marks})
}
