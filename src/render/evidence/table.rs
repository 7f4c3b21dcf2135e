//! One line an edge.

use std::io::{self, Write};

use corr_evidence::compiled::{Edges, SignalRef};
use corr_evidence::judge::Population;
use corr_evidence::verdict::{Activity, Summed, Verdict};

use super::{Edged, attribution, figure};
use crate::render::number::grouped;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::{csv_field, markdown_cell, terminal};

const HEAD: [&str; 5] = ["edge", "activity", "count", "request", "session"];

/// How often an edge was shown: `40 requests, 504 tokens`; an amount that is not of those that are counted stands behind a semicolon with what it is of.
pub fn count(edges: &Edges, verdict: &Verdict) -> String {
    let unit = &verdict.unit;
    let mut parts = Vec::new();
    let requests = verdict.proofs.iter().any(|p| p.requests > 0);
    if let Some(count) = verdict.count {
        let times = if requests { "requests" } else { "times" };
        parts.push(format!("{} {times}", grouped(count)));
    }
    if let Some(amount) = verdict.amount.filter(|a| *a > 0.0 || verdict.activity == Activity::Absent) {
        let amount = format!("{} {unit}", figure(amount));
        match (verdict.summed, verdict.count) {
            (Some(Summed::Counters), _) => {
                let before =
                    if verdict.before > 0.0 { format!(", {} more before first samples", figure(verdict.before)) } else { String::new() };
                parts.push(format!("at least {amount}{before}"));
            }
            // Of other requests, or records, than those that are counted: said apart.
            (Some(Summed::Requests(of)), Some(count)) if of != count => {
                return format!("{}; {amount} of {} requests", parts.join(", "), grouped(of));
            }
            (Some(Summed::Records { signal: at, records }), Some(count)) if requests || records != count => {
                return format!("{}; {amount} in {} records of {}", parts.join(", "), grouped(records), signal(edges, at));
            }
            _ => parts.push(amount),
        }
    } else if verdict.activity == Activity::Active {
        let moved = verdict.counters.iter().filter(|c| c.moved()).count();
        let of = if moved == 1 { "counter" } else { "counters" };
        parts.push(format!("{moved} {of} moved"));
    }
    parts.join(", ")
}

fn rows(edged: &Edged<'_>) -> Vec<[String; 5]> {
    let row = |v: &Verdict| {
        [
            edged.id(v).to_string(),
            v.activity.name().to_string(),
            count(&edged.evidence.edges, v),
            attribution(&v.request),
            attribution(&v.session),
        ]
    };
    edged.verdicts().map(row).collect()
}

/// The requests of the router; without one, those of engines.
pub fn concerned(of: &Population) -> usize {
    if of.router_arrivals > 0 { of.router_arrivals } else { of.engine.len() }
}

/// Whom the verdicts are about, in one sentence.
pub fn population(edged: &Edged<'_>) -> String {
    let of = &edged.judged.population;
    let mut text = match (of.router_arrivals, of.engine.len(), of.engine_unseen) {
        (0, 0, _) => "no request is shown by any record".to_string(),
        (router, _, true) => format!("{router} requests at the router; no engine's record names one"),
        (0, engine, _) => format!("{engine} requests at engines; no router's record names one"),
        (router, engine, _) => format!("{router} requests at the router, {engine} at engines"),
    };
    let concerned = concerned(of);
    if concerned > 0 {
        let with = of.with_session.len();
        text.push_str(&format!("; {with} with a session that a record says, {} without", concerned.saturating_sub(with)));
    }
    if concerned > 0 && edged.window.is_some() {
        text.push_str("; all of them first seen in the window");
    }
    if !of.probes.is_empty() {
        text.push_str(&format!("; {} health probes left out", of.probes.len()));
    }
    text
}

/// For people.
pub fn text(edged: &Edged<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", terminal(&edged.scope), population(edged))?;
    writeln!(out)?;
    let rows = rows(edged);
    let mut widths = HEAD.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; 5], tone: Option<Tone>| {
        let mut text = String::new();
        for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let padded = if i == 4 { cell.clone() } else { format!("{cell:width$}  ") };
            let padded = match (i, tone) {
                (1, Some(tone)) => paint.tone(tone, &padded),
                (0, Some(_)) => paint.tone(Tone::Kind, &padded),
                _ => padded,
            };
            text.push_str(&padded);
        }
        text
    };
    writeln!(out, "{}", line(&HEAD.map(|h| h.to_uppercase()), None))?;
    for (row, verdict) in rows.iter().zip(edged.verdicts()) {
        let tone = match verdict.activity {
            Activity::Proven | Activity::Active => Tone::Place,
            Activity::Conflict => Tone::Bad,
            Activity::Partial => Tone::Warn,
            Activity::Absent | Activity::NoSignal => Tone::Dim,
        };
        writeln!(out, "{}", line(row, Some(tone)).trim_end())?;
    }
    Ok(())
}

fn signal(edges: &Edges, at: SignalRef) -> &str {
    edges.get(at).map_or("", |s| s.id.as_str())
}

/// Of what an amount is the sum: `40 requests`, `61 records of prefill-batch`, `counters, at least`.
fn summed(edges: &Edges, verdict: &Verdict) -> String {
    match verdict.summed {
        None => String::new(),
        Some(Summed::Counters) => "counters, at least".into(),
        Some(Summed::Requests(of)) => format!("{of} requests"),
        Some(Summed::Records { signal, records }) => {
            format!("{records} records of {}", self::signal(edges, signal))
        }
    }
}

/// For spreadsheets.
pub fn csv(edged: &Edged<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "edge,activity,count,amount,unit,amount_of,request,session")?;
    for verdict in edged.verdicts() {
        let unit = &verdict.unit;
        let count = verdict.count.map_or(String::new(), |c| c.to_string());
        let amount = verdict.amount.map_or(String::new(), |a| a.to_string());
        let (request, session) = (attribution(&verdict.request), attribution(&verdict.session));
        let of = summed(&edged.evidence.edges, verdict);
        let cells = [edged.id(verdict), verdict.activity.name(), &count, &amount, unit, &of, &request, &session];
        let cells: Vec<_> = cells.iter().map(|c| csv_field(c)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

/// For notes.
pub fn markdown(edged: &Edged<'_>, out: &mut dyn Write) -> io::Result<()> {
    markdown_with(edged, None, out)
}

/// A column's name, and what gives its Markdown.
pub type Column<'c> = (&'c str, &'c mut dyn FnMut(&Verdict) -> String);

/// For notes, with a last column of the caller's.
pub fn markdown_with(edged: &Edged<'_>, last: Option<Column<'_>>, out: &mut dyn Write) -> io::Result<()> {
    let (head, mut cell) = last.unzip();
    let mut names = HEAD.to_vec();
    names.extend(head);
    writeln!(out, "| {} |", names.join(" | "))?;
    writeln!(out, "|{}", "---|".repeat(names.len()))?;
    for (row, verdict) in rows(edged).iter().zip(edged.verdicts()) {
        let mut cells: Vec<String> = row.iter().map(|c| markdown_cell(c)).collect();
        cells.extend(cell.as_mut().map(|cell| cell(verdict)));
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}
