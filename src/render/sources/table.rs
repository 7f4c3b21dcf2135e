//! `corr sources` as a table: CSV for tools, Markdown for notes.

use std::io::{self, Write};

use super::{Metrics, Report, duration, format_of};
use crate::render::safe::{csv_field, markdown_cell, terminal};
use crate::render::shown::rfc3339;
use crate::run::coverage::{Coverage, Tally};
use crate::run::source::Source;
use crate::store::manifest::{how_name, rule_name};

const COLUMNS: &[&str] = &[
    "source", "envelope", "format", "version", "worker", "role", "host", "unit", "zone", "zone_by", "first", "last", "records", "parsed",
    "skipped", "unparsed", "lines", "bytes", "damage",
];

/// A header and one line a source.
pub fn write_csv(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    for (source, coverage) in &report.events {
        let cells = cells(source, coverage);
        let fields: Vec<String> = cells.iter().map(|c| csv_field(&terminal(c)).into_owned()).collect();
        writeln!(out, "{}", fields.join(","))?;
    }
    Ok(())
}

fn cells(source: &Source, coverage: &Coverage) -> Vec<String> {
    let owner = &source.owner;
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    let time = |ns: Option<i64>| ns.map(|ns| rfc3339(ns, coverage.resolution.unwrap_or(1))).unwrap_or_default();
    let sum = |tallies: &mut dyn Iterator<Item = &Tally>| tallies.map(|t| t.records).sum::<u64>().to_string();
    vec![
        source.name.clone(),
        source.detection.layout.wrapped_in().unwrap_or_default(),
        source.format().into(),
        coverage.versions.iter().map(|v| v.text()).collect::<Vec<_>>().join("; "),
        or_empty(&owner.worker),
        or_empty(&owner.role),
        or_empty(&owner.host),
        or_empty(&owner.unit),
        rule_name(source.clock.rule),
        how_name(source.clock.how).into(),
        time(coverage.first.map(|s| s.start)),
        time(coverage.last.map(|s| s.end)),
        coverage.records.to_string(),
        coverage.parsed.records.to_string(),
        sum(&mut coverage.skipped.values()),
        sum(&mut coverage.unparsed.values()),
        coverage.lines.to_string(),
        coverage.bytes.to_string(),
        or_empty(&coverage.damage),
    ]
}

/// A table of sources, then what was not read and what is missing.
pub fn write_markdown(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(window) = report.window() {
        let (start, end) = (rfc3339(window.start, 1_000_000), rfc3339(window.end, 1_000_000));
        writeln!(out, "{}, {start} to {end} ({})\n", markdown_cell(report.layout.kind.about()), duration(window.width()))?;
    }
    writeln!(out, "| source | format | owner | clock | first | last | records | unparsed | bytes |")?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- | ---: | ---: | ---: |")?;
    for (source, coverage) in &report.events {
        let owner: Vec<&str> = [&source.owner.worker, &source.owner.role, &source.owner.host, &source.owner.unit]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        let clock = format!("{} ({})", rule_name(source.clock.rule), how_name(source.clock.how));
        let time = |ns: Option<i64>| ns.map_or("none".to_string(), |ns| rfc3339(ns, coverage.resolution.unwrap_or(1)));
        let unparsed: u64 = coverage.unparsed.values().map(|t| t.records).sum();
        let mut name = markdown_cell(&source.key);
        if coverage.damage.is_some() {
            name.push_str(" (damaged)");
        }
        writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {} | {} | {unparsed} | {} |",
            markdown_cell(&format_of(source)),
            markdown_cell(&owner.join(", ")),
            markdown_cell(&clock),
            time(coverage.first.map(|s| s.start)),
            time(coverage.last.map(|s| s.end)),
            coverage.records,
            coverage.bytes,
        )?;
    }
    for Metrics { key, layout, files, indexed } in report.metrics() {
        let indexed = if indexed > 0 { format!(", {indexed} indexed") } else { String::new() };
        writeln!(out, "| {} | metrics: {} | | | | | {files} files{indexed} | | |", markdown_cell(&key), markdown_cell(&layout))?;
    }
    if !report.not_read.is_empty() {
        writeln!(out, "\nNot read:\n")?;
        for file in &report.not_read {
            writeln!(out, "- {}: {}", markdown_cell(&file.name), markdown_cell(&file.why))?;
        }
    }
    if !report.missing.is_empty() {
        writeln!(out, "\nMissing:\n")?;
        for missing in &report.missing {
            writeln!(out, "- {}: {}; needs {}", markdown_cell(&missing.what), markdown_cell(missing.why), markdown_cell(missing.needs))?;
        }
    }
    Ok(())
}
