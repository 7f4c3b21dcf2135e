//! `corr sources` for people.

use std::io::{self, Write};

use corr_parsers::clock::{Clock, How};
use corr_parsers::stamp::Stamp;

use super::{Metrics, Report, duration, format_of, resolution, score_of};
use crate::render::number::{counted, grouped};
use crate::render::paint::{Paint, Tone};
use crate::render::safe::terminal;
use crate::render::shown::rfc3339;
use crate::run::coverage::{Coverage, Tally};
use crate::run::source::Source;
use crate::store::manifest::rule_name;

/// Names of one list that are written out; the rest is counted.
const NAMES: usize = 8;
/// Kinds that are written out for a source.
const KINDS: usize = 6;

/// Writes the report.
pub fn write_text(report: &Report<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    header(report, paint, out)?;
    for (source, coverage) in report.events.iter().filter(|(s, c)| !plain(s, c)) {
        writeln!(out)?;
        one(source, coverage, paint, out)?;
    }
    as_text(report, paint, out)?;
    others(report, paint, out)?;
    not_read(report, paint, out)?;
    missing(report, paint, out)
}

/// Nothing in it was understood and nothing is wrong with it: one line says all.
fn plain(source: &Source, coverage: &Coverage) -> bool {
    let known = !source.detection.layout.envelopes.is_empty() || !source.detection.formats.is_empty();
    !known && coverage.parsed.records == 0 && coverage.first.is_none() && coverage.damage.is_none() && coverage.adds_up()
}

fn as_text(report: &Report<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    if !report.events.iter().any(|(s, c)| plain(s, c)) {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "{}", paint.tone(Tone::Kind, "in no known format, kept as text and searchable"))?;
    for (source, coverage) in report.events.iter().filter(|(s, c)| plain(s, c)) {
        let records = counted(coverage.records, "record");
        writeln!(out, "  {}: {records} in {} bytes, none understood", terminal(&source.key), grouped(coverage.bytes))?;
    }
    Ok(())
}

fn header(report: &Report<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let arguments: Vec<String> = report.run.arguments.iter().map(|a| terminal(a).into_owned()).collect();
    writeln!(out, "{}", paint.tone(Tone::Place, &arguments.join(" ")))?;
    row(out, "layout", report.layout.kind.about())?;
    match report.window() {
        Some(window) => row(out, "window", &span(&window))?,
        None => row(out, "window", "no record has a time")?,
    }
    let count = |class: &str| report.others().iter().filter(|o| o.1 == class).count();
    let mut parts = vec![counted(report.events.len() as u64, "event source")];
    for (class, name) in [("metrics", "metrics file"), ("duplicate", "duplicate"), ("config", "other file"), ("empty", "empty file")] {
        let n = count(class);
        if n > 0 {
            parts.push(counted(n as u64, name));
        }
    }
    if !report.not_read.is_empty() {
        parts.push(format!("{} not read", report.not_read.len()));
    }
    row(out, "files", &parts.join(" · "))?;
    let (bytes, records) = report.events.iter().fold((0, 0), |(b, r), (_, c)| (b + c.bytes, r + c.records));
    row(out, "events", &format!("{} records in {} bytes", grouped(records), grouped(bytes)))?;
    if !report.layout.processes.is_empty() {
        let mut roles: Vec<(String, usize)> = Vec::new();
        for process in &report.layout.processes {
            match roles.iter_mut().find(|(role, _)| *role == process.role) {
                Some((_, n)) => *n += 1,
                None => roles.push((process.role.clone(), 1)),
            }
        }
        let roles: Vec<String> = roles.iter().map(|(role, n)| format!("{n} {}", terminal(role))).collect();
        let from = report.layout.processes.first().map_or("", |p| p.from.as_str());
        row(out, "planned", &format!("{} ({})", roles.join(", "), terminal(from)))?;
    }
    for (name, window) in report.run.declared.windows() {
        let since = window.since.as_deref().unwrap_or("start");
        let until = window.until.as_deref().unwrap_or("end");
        row(out, "declared", &format!("--window {}: {} to {}", terminal(name), terminal(since), terminal(until)))?;
    }
    for note in &report.notes {
        writeln!(out, "  {}", paint.tone(Tone::Warn, &format!("note      {}", terminal(note))))?;
    }
    Ok(())
}

fn row(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {name:<9} {text}")
}

/// `[start, end)` with the digits that are known.
fn span(stamp: &Stamp) -> String {
    let width = if stamp.start % 1_000_000_000 == 0 && stamp.end % 1_000_000_000 == 0 { 1_000_000_000 } else { 1_000 };
    format!("{} to {} ({})", rfc3339(stamp.start, width), rfc3339(stamp.end, width), duration(stamp.width()))
}

fn one(source: &Source, coverage: &Coverage, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", paint.tone(Tone::Place, &terminal(&source.name)))?;
    if coverage.records == 0 {
        row(out, "records", "none")?;
        return damage(coverage, paint, out);
    }
    let mut format = format_of(source);
    match score_of(source) {
        Some(share) => format.push_str(&format!(" ({:.0} % of the sampled records)", share * 100.0)),
        None => format.push_str(" (no known format)"),
    }
    let others: Vec<String> =
        source.detection.formats.iter().skip(1).take(3).map(|s| format!("{} {:.0} %", s.name, s.share * 100.0)).collect();
    if !others.is_empty() {
        format.push_str(&format!(", also {}", others.join(", ")));
    }
    row(out, "format", &format)?;
    if let Some(by) = source.read_by() {
        row(out, "read by", &format!("{} -o export; bytes, lines and @OFFSET count what it writes", terminal(by)))?;
    }
    for version in &coverage.versions {
        row(out, "version", &format!("{}, by {}", version.text(), version.why.join(" and ")))?;
    }
    row(out, "owner", &owner(source, coverage))?;
    clock(source, coverage, paint, out)?;
    match (coverage.first, coverage.last) {
        (Some(first), Some(last)) => {
            let unstamped = match coverage.unstamped {
                0 => String::new(),
                n => format!(", {} without a time", counted(n, "record")),
            };
            let covered = Stamp { start: first.start, end: last.end };
            let width = coverage.resolution.unwrap_or(1);
            let (from, to) = (rfc3339(first.start, width), rfc3339(last.end, width));
            row(out, "covers", &format!("{from} to {to} ({}){unstamped}", duration(covered.width())))?;
        }
        _ => row(out, "covers", "no record has a time")?,
    }
    accounting(coverage, paint, out)?;
    let kinds: Vec<String> = coverage.kinds.iter().take(KINDS).map(|(kind, n)| format!("{} {}", kind.name, grouped(*n))).collect();
    let more = coverage.kinds.len().saturating_sub(KINDS);
    let more = if more > 0 { format!(", {more} more kinds") } else { String::new() };
    row(out, "kinds", &format!("{}{more}", kinds.join(", ")))?;
    if !coverage.levels.is_empty() {
        let levels: Vec<String> = ["trace", "debug", "info", "warn", "error", "fatal"]
            .iter()
            .filter_map(|level| coverage.levels.get(level).map(|n| format!("{level} {}", grouped(*n))))
            .collect();
        row(out, "levels", &levels.join(", "))?;
    }
    for gap in &coverage.gaps {
        let (before, after) = (rfc3339(gap.before.end, 1_000_000), rfc3339(gap.after.start, 1_000_000));
        let text = format!("{} without a record: {before} to {after}, before line {}", duration(gap.length()), grouped(gap.line));
        row(out, "gap", &text)?;
    }
    damage(coverage, paint, out)
}

fn damage(coverage: &Coverage, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    match &coverage.damage {
        Some(damage) => writeln!(out, "  {}", paint.tone(Tone::Bad, &format!("damaged   {}", terminal(damage)))),
        None => Ok(()),
    }
}

fn owner(source: &Source, coverage: &Coverage) -> String {
    let owner = &source.owner;
    let mut parts: Vec<String> = Vec::new();
    match (&owner.worker, &owner.role) {
        (Some(worker), Some(role)) if worker != role => parts.push(format!("{worker}, {role}")),
        (Some(name), _) | (None, Some(name)) => parts.push(name.clone()),
        (None, None) => {}
    }
    if let Some(host) = &owner.host {
        parts.push(format!("host {host}"));
    }
    if let Some(unit) = &owner.unit {
        parts.push(format!("unit {unit}"));
    }
    for (name, ranks) in &coverage.ranks {
        let some: Vec<String> = ranks.iter().take(NAMES).map(i64::to_string).collect();
        let more = if ranks.len() > NAMES { ", …" } else { "" };
        parts.push(format!("{name} {}{more}", some.join(", ")));
    }
    let how = if parts.is_empty() { owner.how.clone() } else { format!("{}  ({})", parts.join(" · "), owner.how) };
    terminal(&how).into_owned()
}

/// What a source's stamps mean and how that is known; `width` stands behind the rule.
pub fn clock_words(clock: &Clock, width: &str) -> String {
    let mut text = match clock.how {
        How::Zoned => format!("zoned{width}: {}", clock.evidence),
        How::Assumed => format!("{} ASSUMED{width}: {}", rule_name(clock.rule), clock.evidence),
        _ => format!("{}{width}: {}", rule_name(clock.rule), clock.evidence),
    };
    if let Some((low, high)) = clock.residual {
        let (pairs, hold) = clock.pairs;
        let (low, high) = (low as f64 / 1e9, high as f64 / 1e9);
        text.push_str(&format!("; {hold} of {pairs} pairs hold, residual {low:.3} to {high:.3} s"));
    }
    text
}

fn clock(source: &Source, coverage: &Coverage, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let clock = &source.clock;
    if coverage.first.is_none() && clock.how == How::Assumed {
        return row(out, "clock", &terminal(&clock.evidence));
    }
    let width = coverage.resolution.map_or(String::new(), |ns| format!(", resolution {}", resolution(ns)));
    let words = clock_words(clock, &width);
    let text = terminal(&words);
    let text = if clock.how == How::Assumed { paint.tone(Tone::Warn, &text) } else { text.into_owned() };
    row(out, "clock", &text)
}

/// The three sums. Each is written so that it can be added up by eye.
fn accounting(coverage: &Coverage, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let sum = |of: fn(&Tally) -> u64| -> String {
        let mut parts = vec![format!("{} parsed", grouped(of(&coverage.parsed)))];
        for (why, tally) in &coverage.skipped {
            parts.push(format!("{} skipped ({why})", grouped(of(tally))));
        }
        for (why, tally) in &coverage.unparsed {
            parts.push(format!("{} unparsed ({why})", grouped(of(tally))));
        }
        parts.join(" + ")
    };
    row(out, "records", &format!("{} = {}", grouped(coverage.records), sum(|t| t.records)))?;
    row(out, "bytes", &format!("{} = {}", grouped(coverage.bytes), sum(|t| t.bytes)))?;
    let lines = match coverage.continuation_lines() {
        n if n >= 0 => {
            format!("{} = {} first of a record + {} continuation", grouped(coverage.lines), grouped(coverage.records), grouped(n as u64))
        }
        n => format!("{}, with {} records that begin in mid-line", grouped(coverage.lines), grouped(n.unsigned_abs())),
    };
    row(out, "lines", &lines)?;
    if coverage.adds_up() {
        return Ok(());
    }
    let text =
        format!("WRONG     {} bytes are in records, {} in the source: this is a fault of corr", coverage.accounted(), coverage.bytes);
    writeln!(out, "  {}", paint.tone(Tone::Bad, &text))
}

fn others(report: &Report<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let others = report.others();
    if others.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "{}", paint.tone(Tone::Kind, "other files"))?;
    for Metrics { key, layout, files, indexed } in report.metrics() {
        let n = if files == 1 { String::new() } else { format!("{files} files, ") };
        let indexed = match indexed {
            0 => String::new(),
            _ if indexed == files => ", indexed".into(),
            _ => format!(", {indexed} indexed"),
        };
        row(out, "metrics", &format!("{}  ({n}{}{indexed})", terminal(&key), terminal(&layout)))?;
    }
    for (source, class, of) in &others {
        if *class == "duplicate" {
            row(out, "duplicate", &format!("{}  (the same bytes as {}, read once)", terminal(&source.key), terminal(of)))?;
        }
    }
    for class in ["config", "empty"] {
        let names: Vec<String> = others.iter().filter(|o| o.1 == class).map(|o| terminal(&o.0.key).into_owned()).collect();
        if !names.is_empty() {
            row(out, class, &listed(&names))?;
        }
    }
    Ok(())
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES { format!("{shown} and {} more (--format json lists all)", names.len() - NAMES) } else { shown }
}

fn not_read(report: &Report<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    if report.not_read.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "{}", paint.tone(Tone::Kind, "not read"))?;
    for file in &report.not_read {
        let next = if file.next.is_empty() { String::new() } else { format!("; {}", terminal(&file.next)) };
        let text = format!("{}: {}{next}", terminal(&file.name), terminal(&file.why));
        let text = if file.failure { paint.tone(Tone::Bad, &text) } else { text };
        writeln!(out, "  {text}")?;
    }
    Ok(())
}

fn missing(report: &Report<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    if report.missing.is_empty() {
        return writeln!(out, "{}", paint.tone(Tone::Kind, "nothing of a complete run is missing"));
    }
    writeln!(out, "{}", paint.tone(Tone::Kind, "missing"))?;
    for missing in &report.missing {
        writeln!(out, "  {}", paint.tone(Tone::Warn, &terminal(&missing.what)))?;
        writeln!(out, "      so     {}", missing.why)?;
        writeln!(out, "      needs  {}", missing.needs)?;
    }
    Ok(())
}
