//! One row a run: CSV for spreadsheets, Markdown for notes.

use std::io::{self, Write};

use corr_readiness::Instant;
use corr_readiness::time::{Length, seconds_down, seconds_up};

use super::{Lives, words};
use crate::render::safe::{csv_field, markdown_cell};

/// The earliest and the latest moment of an instant, as times; empty where unbounded.
fn bounds(instant: &Instant) -> [String; 2] {
    let time = |ns: Option<i64>, up: bool| ns.map_or(String::new(), |ns| words::moment(ns, 1_000, up));
    [
        time(instant.lower().and_then(|mark| mark.wall).map(|wall| wall.start), false),
        time(instant.upper().and_then(|mark| mark.wall).map(|wall| wall.end), true),
    ]
}

/// Seconds at least and at most; empty where unknown.
fn seconds(length: Option<&Result<Length, String>>) -> [String; 2] {
    match length {
        Some(Ok(length)) => [length.least.map_or(String::new(), seconds_down), length.most.map_or(String::new(), seconds_up)],
        _ => [String::new(), String::new()],
    }
}

/// For spreadsheets.
pub fn csv(lives: &Lives<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut head: Vec<String> = ["host", "unit", "run", "invocation", "verdict", "cause", "exit", "result"].map(String::from).to_vec();
    for name in ["started", "ready", "first_served", "asked", "ended"] {
        head.extend([format!("{name}_known"), format!("{name}_after"), format!("{name}_by")]);
    }
    for name in ["start_to_ready", "end_to_ready", "served_to_ready"] {
        head.extend([format!("{name}_least_s"), format!("{name}_most_s")]);
    }
    head.extend(["traps".into(), "ready_places".into()]);
    writeln!(out, "{}", head.join(","))?;
    for unit in lives.units {
        for (at, run) in unit.unit.invocations.iter().enumerate() {
            let number = unit.numbers.get(at).copied().unwrap_or_default();
            let mut cells = vec![
                unit.unit.host.clone(),
                unit.unit.unit.clone(),
                number.to_string(),
                run.id.clone(),
                words::verdict(run.verdict).into(),
                words::cause(&run.cause),
                run.exit.clone().unwrap_or_default(),
                run.result.clone().unwrap_or_default(),
            ];
            let instants = &run.instants;
            for instant in [&instants.started, &instants.ready, &instants.first_served, &instants.asked, &instants.ended] {
                cells.push(words::known(instant).into());
                cells.extend(bounds(instant));
            }
            cells.extend(seconds(Some(&run.lengths.start_to_ready)));
            cells.extend(seconds(run.outage.as_ref().map(|outage| &outage.end_to_ready)));
            cells.extend(seconds(run.outage.as_ref().map(|outage| &outage.served_to_ready)));
            let traps: Vec<&str> = run.traps.iter().map(|trap| words::trap(trap.kind)).collect();
            cells.push(traps.join("; "));
            cells.push(lives.places(&run.instants.ready.cites()).join(" "));
            let cells: Vec<_> = cells.iter().map(|cell| csv_field(cell)).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}

/// For notes.
pub fn markdown(lives: &Lives<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| UNIT | RUN | VERDICT | CAUSE | STARTED | READY | START TO READY | END TO READY | TRAPS | CITED |")?;
    writeln!(out, "|{}", "---|".repeat(10))?;
    for unit in lives.units {
        for (at, run) in unit.unit.invocations.iter().enumerate() {
            let when = |instant: &Instant| words::when(instant).unwrap_or_else(|| words::known(instant).into());
            let length = |length: Option<&Result<Length, String>>| match length {
                Some(Ok(length)) => words::length(length),
                Some(Err(_)) => "unknown".into(),
                None => String::new(),
            };
            let traps: Vec<&str> = run.traps.iter().map(|trap| words::trap(trap.kind)).collect();
            let mut cites = run.instants.started.cites();
            cites.extend(run.instants.ready.cites());
            let cells = [
                unit.name.clone(),
                unit.numbers.get(at).copied().unwrap_or_default().to_string(),
                words::verdict(run.verdict).into(),
                words::cause(&run.cause),
                when(&run.instants.started),
                when(&run.instants.ready),
                length(Some(&run.lengths.start_to_ready)),
                length(run.outage.as_ref().map(|outage| &outage.end_to_ready)),
                traps.join("; "),
                lives.places(&cites).join(" "),
            ];
            let cells: Vec<String> = cells.iter().map(|cell| markdown_cell(cell)).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
    }
    Ok(())
}
