//! Lives of servers for people.

use std::io::{self, Write};

use corr_readiness::Cite;
use corr_readiness::claim::Answer;
use corr_readiness::history::{Invocation, Opened};
use corr_readiness::time::Length;

use super::{Lives, Unit, picture, words};
use crate::render::number::{counted, grouped};
use crate::render::paint::{Paint, Tone};
use crate::render::safe::terminal;

/// Width of the names in front of facts.
const NAME: usize = 16;

/// Writes the answer.
pub fn write(lives: &Lives<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let mut legend = false;
    for (at, unit) in lives.units.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", paint.tone(Tone::Place, &terminal(&title(unit))))?;
        let bars = picture::bars(unit);
        let drawn = picture::text(unit, tail(&bars, lives.limit));
        legend |= !drawn.is_empty();
        for line in drawn {
            writeln!(out, "  {line}")?;
        }
        let first = unit.unit.invocations.len() - tail(&unit.unit.invocations, lives.limit).len();
        if first > 0 {
            let all = unit.unit.invocations.len();
            writeln!(out, "  showing the last {} of {} runs; --limit 0 for all", all - first, grouped(all as u64))?;
        }
        for (at, run) in unit.unit.invocations.iter().enumerate().skip(first) {
            writeln!(out)?;
            one(lives, unit, at, run, paint, out)?;
        }
        of_unit(lives, unit, paint, out)?;
    }
    if legend {
        writeln!(out)?;
        writeln!(out, "{}", paint.tone(Tone::Dim, picture::LEGEND))?;
    }
    beside(lives, paint, out)?;
    claims(lives, paint, out)
}

fn tail<T>(all: &[T], limit: usize) -> &[T] {
    if limit == 0 { all } else { all.get(all.len().saturating_sub(limit)..).unwrap_or(all) }
}

/// `sglang.service on gpu-7: 3 runs, 2 ready, 2 restarts; now: not ready yet`.
fn title(unit: &Unit) -> String {
    let runs = &unit.unit.invocations;
    let started = runs.iter().filter(|run| run.opened != Opened::NotStarted).count();
    let ready = runs.iter().filter(|run| run.instants.ready.happened()).count();
    let restarts = runs.iter().filter(|run| run.outage.is_some()).count();
    let host = if unit.unit.host.is_empty() { String::new() } else { format!(" on {}", unit.unit.host) };
    let last = runs.last().map_or("nothing of it in this window", |run| words::verdict(run.verdict));
    let outside = if unit.outside == 0 { String::new() } else { format!(" ({} outside the window)", unit.outside) };
    let (started, restarts) = (counted(started as u64, "run"), counted(restarts as u64, "restart"));
    format!("{}{host}: {started}{outside}, {} ready, {restarts}; at the end: {last}", unit.unit.unit, grouped(ready as u64))
}

fn fact(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "    {name:<NAME$} {text}")
}

fn one(lives: &Lives<'_>, unit: &Unit, at: usize, run: &Invocation, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let number = unit.numbers.get(at).copied().unwrap_or_default();
    let mut head = format!("#{number}  {} · {}", words::verdict(run.verdict), words::cause(&run.cause));
    if let Some(exit) = &run.exit {
        head.push_str(&format!(" · exit {exit}"));
    }
    if let Some(result) = &run.result {
        head.push_str(&format!(" · result {result}"));
    }
    writeln!(out, "  {}", paint.tone(Tone::Kind, &terminal(&head)))?;
    let mut whose = Vec::new();
    if !run.pids.is_empty() {
        let shown: Vec<String> = run.pids.iter().take(6).map(u32::to_string).collect();
        let more = if run.pids.len() > 6 { format!(" and {} more", run.pids.len() - 6) } else { String::new() };
        whose.push(format!("pid {}{more}", shown.join(" ")));
    }
    if !run.id.is_empty() {
        whose.push(format!("invocation {}", run.id));
    }
    // A rendering that only marks boots has no ids of them.
    let is_id = |boot: &&String| boot.len() == 32;
    if let Some(boot) = run.boot.and_then(|boot| lives.history.boots.get(boot as usize)).filter(is_id) {
        whose.push(format!("boot {boot}"));
    }
    if !whose.is_empty() {
        fact(out, "", &terminal(&whose.join(" · ")))?;
    }
    instants(lives, run, out)?;
    lengths(run, out)?;
    outage(lives, unit, at, run, paint, out)?;
    for (name, mark) in [("found by others", run.found_by_others), ("lost by others", run.lost_by_others)] {
        if let Some(mark) = mark {
            fact(out, name, &terminal(&format!("{}  {}", words::time(&mark), lives.places.of(mark.cite))))?;
        }
    }
    for trap in &run.traps {
        let text = format!("{}: {}{}", words::trap(trap.kind), trap.says, places(lives, &trap.cites));
        fact(out, &paint.tone(Tone::Warn, &format!("{:<NAME$}", "trap")), &terminal(&text))?;
    }
    for said in &run.cannot_say {
        fact(out, "cannot say", &terminal(&format!("{}: {}{}", said.what, said.why, places(lives, &said.cites))))?;
    }
    Ok(())
}

fn places(lives: &Lives<'_>, cites: &[Cite]) -> String {
    let found = lives.places(cites);
    if found.is_empty() { String::new() } else { format!("  [{}]", found.join(", ")) }
}

/// Each instant on a line of its own; those that are never or unknown together, by their reason.
fn instants(lives: &Lives<'_>, run: &Invocation, out: &mut dyn Write) -> io::Result<()> {
    let mut open: Vec<(&'static str, &str, Vec<&str>)> = Vec::new();
    for (name, instant) in words::instants(&run.instants) {
        let Some(when) = words::when(instant) else {
            let (known, why) = (words::known(instant), words::why(instant).unwrap_or_default());
            match open.iter_mut().find(|(k, w, _)| *k == known && *w == why) {
                Some((_, _, names)) => names.push(name),
                None => open.push((known, why, vec![name])),
            }
            continue;
        };
        let why = words::why(instant).map(|why| format!(": {why}")).unwrap_or_default();
        let text = format!("{when}  {}{why}{}", words::known(instant), places(lives, &instant.cites()));
        fact(out, name, &terminal(&text))?;
    }
    for (known, why, names) in open {
        fact(out, known, &terminal(&format!("{}: {why}", names.join(", "))))?;
    }
    Ok(())
}

fn lengths(run: &Invocation, out: &mut dyn Write) -> io::Result<()> {
    let all: [(&str, &Result<Length, String>); 8] = [
        ("start to loading", &run.lengths.start_to_loading),
        ("loading", &run.lengths.loading_to_loaded),
        ("loaded to ready", &run.lengths.loaded_to_ready),
        ("start to ready", &run.lengths.start_to_ready),
        ("ready to first served", &run.lengths.ready_to_served),
        ("ready for", &run.lengths.ready_for),
        ("stop to end", &run.lengths.stop_to_end),
        ("waited so far", &run.lengths.waited),
    ];
    for (name, length) in all {
        if let Ok(length) = length {
            fact(out, "took", &format!("{name}: {}", words::length(length)))?;
        }
    }
    Ok(())
}

fn outage(lives: &Lives<'_>, unit: &Unit, at: usize, run: &Invocation, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let Some(outage) = &run.outage else { return Ok(()) };
    let number = unit.numbers.get(at).copied().unwrap_or_default();
    let name = match (&outage.window, unit.outages.get(at).copied().flatten()) {
        (Some(away), Some(named)) => {
            let cites: Vec<Cite> = [Some(away.since), away.until].into_iter().flatten().map(|mark| mark.cite).collect();
            let (says, took) = (words::away(away, unit.before.get(at).copied().unwrap_or_default(), number), words::away_length(away));
            format!("window outage:{}#{named} {says}, {took}{}", unit.name, places(lives, &cites))
        }
        _ => String::new(),
    };
    fact(out, &paint.tone(Tone::Warn, &format!("{:<NAME$}", "outage")), &terminal(&name))?;
    let all = [
        ("last served to ready", &outage.served_to_ready),
        ("stop to ready", &outage.stopping_to_ready),
        ("end to start", &outage.end_to_start),
        ("end to ready", &outage.end_to_ready),
    ];
    for (name, length) in all {
        let text = match length {
            Ok(length) => format!("{name}: {}{}", words::length(length), places(lives, &length.cites)),
            Err(why) => format!("{name}: unknown, {why}"),
        };
        fact(out, "", &terminal(&text))?;
    }
    if let Some(step) = outage.clock_step {
        fact(out, "", &format!("the wall clock was set by {:+.3} s in it", step as f64 / 1e9))?;
    }
    Ok(())
}

fn of_unit(lives: &Lives<'_>, unit: &Unit, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let facts = !unit.unit.loops.is_empty() || !unit.unit.dropped.is_empty() || !unit.unit.cannot_say.is_empty();
    if facts {
        writeln!(out)?;
    }
    for found in &unit.unit.loops {
        let gave_up = if found.gave_up { ", gave up" } else { "" };
        let result = found.result.as_deref().map(|result| format!(": {result}")).unwrap_or_default();
        let number = |at: usize| unit.numbers.get(at).copied().unwrap_or(at + 1);
        let text = format!(
            "runs #{} to #{}: {} starts, {} exits, {} ready{gave_up}{result}{}",
            number(found.first),
            number(found.last),
            found.starts,
            found.exits,
            found.ready,
            places(lives, &found.cites)
        );
        writeln!(out, "  {} {}", paint.tone(Tone::Bad, &format!("{:<18}", "crash loop")), terminal(&text))?;
    }
    for lost in &unit.unit.dropped {
        let n = lost.messages.map_or("messages".into(), |n| format!("{} messages", grouped(n)));
        let text = format!("{n} by journald, by {}{}", words::time(&lost.said), places(lives, &[lost.said.cite]));
        writeln!(out, "  {:<18} {}", "dropped", terminal(&text))?;
    }
    for said in &unit.unit.cannot_say {
        writeln!(out, "  {:<18} {}", "cannot say", terminal(&format!("{}: {}{}", said.what, said.why, places(lives, &said.cites))))?;
    }
    Ok(())
}

/// What was linked, left out and not known of all units together.
fn beside(lives: &Lives<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Vec::new();
    for step in &lives.history.steps {
        let by = match step.by {
            Some(by) => format!("by {:+.3} s", by as f64 / 1e9),
            None if step.back > 0 => format!("back by at least {:.0} s", step.back as f64 / 1e9),
            None => "by an unknown amount".into(),
        };
        let host = if step.host.is_empty() { String::new() } else { format!(" of {}", step.host) };
        lines.push(format!("clock{host} set {by}{}", places(lives, &[step.before.cite, step.after.cite])));
    }
    for said in &lives.history.cannot_say {
        lines.push(format!("cannot say {}: {}{}", said.what, said.why, places(lives, &said.cites)));
    }
    for seen in lives.seen {
        let target = if seen.target.is_empty() { String::new() } else { format!(" of {}", seen.target) };
        let unit = seen.unit.as_ref().map_or("no unit".into(), |(_, unit)| unit.clone());
        lines.push(format!("{} {}{target} in {}: {unit}, {}", grouped(seen.rows), seen.what, seen.of, seen.how));
    }
    for (copy, of) in lives.copies {
        lines.push(format!("{copy}: says the same as {of}, read once"));
    }
    if !lives.others.is_empty() {
        let shown: Vec<&str> = lives.others.iter().take(8).map(String::as_str).collect();
        let more = if lives.others.len() > 8 { format!(" and {} more", lives.others.len() - 8) } else { String::new() };
        lines.push(format!("not shown: {}{more}; --unit NAME shows one", shown.join(", ")));
    }
    if !lines.is_empty() {
        writeln!(out)?;
    }
    for line in lines {
        writeln!(out, "{}", paint.tone(Tone::Dim, &terminal(&line)))?;
    }
    Ok(())
}

fn claims(lives: &Lives<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    if !lives.claims.is_empty() {
        writeln!(out)?;
    }
    for claimed in lives.claims {
        let (word, tone, says, cites) = match &claimed.answer {
            Answer::Holds { says, cites } => ("holds", Tone::Place, says, cites),
            Answer::DoesNotHold { says, cites } => ("DOES NOT HOLD", Tone::Bad, says, cites),
            Answer::CannotBeKnown { why, cites } => ("CANNOT BE KNOWN", Tone::Warn, why, cites),
        };
        let word = paint.tone(tone, word);
        let text = format!("{says}{}", places(lives, cites));
        writeln!(out, "{} {}: {word}: {}", terminal(&claimed.claim), terminal(&claimed.unit), terminal(&text))?;
    }
    Ok(())
}
