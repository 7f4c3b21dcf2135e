//! What restarts do to a run's coverage: a server that went away while it was measured, and gaps in metrics that are restarts.

use corr_metrics::coverage::{self, Cause};
use corr_metrics::window::resets;
use corr_readiness::history::{Invocation, TrapKind};
use corr_readiness::{Options as Servers, UnitHistory};

use super::{Readiness, gather, is_server, windows};
use crate::evidence;
use crate::metrics::around::Around;
use crate::metrics::asked::{Asked, title};
use crate::query::phases::{self, Phase};
use crate::query::sources;
use crate::render::readiness::words;
use crate::render::shown::rfc3339;
use crate::run::source::Class;
use crate::run::{Options, Run};

/// A run with more bytes of logs and captures than this is not read again for remarks.
const MOST: u64 = 64 << 20;
/// Windows in which a server is expected to be there.
const MEASURED: &[&str] = &["measured", "benchmark"];

/// An outage of a unit, UTC nanoseconds.
struct Outage<'h> {
    unit: &'h UnitHistory,
    /// What windows call it; empty for a server that did not come back.
    name: String,
    since: i64,
    until: Option<i64>,
    how: String,
}

/// A gap in the scrapes of an endpoint, UTC nanoseconds.
struct Gap {
    capture: String,
    endpoint: String,
    from: i64,
    to: i64,
    /// Most counters of the endpoint fell across it.
    fell: bool,
}

/// Sentences for a report of what there is. Reads logs and captures, so only those of a run that is not large.
pub fn of(run: &Run, options: &Options) -> anyhow::Result<Vec<String>> {
    let size: u64 = run.sources.iter().map(|source| source.stat.size).sum();
    let scraped = run.sources.iter().any(|source| matches!(source.class, Class::Metrics(_)));
    let mut events = run.sources.iter().filter(|source| source.class == Class::Events).peekable();
    let is_asked = events.peek().is_some() && (scraped || events.any(|source| phases::may_name(source.format())));
    if !is_asked || run.arguments.iter().any(|argument| argument == "-") {
        return Ok(Vec::new());
    }
    if size > MOST {
        return Ok(vec!["restarts were not looked for in a run of this size; `corr ready` does".into()]);
    }
    let sources = sources::of(run, options, None)?;
    let measured: Vec<Phase> = sources.phases().into_iter().filter(|phase| MEASURED.contains(&phase.name.as_str())).collect();
    let asked = evidence::captures(run, options, None)?;
    let gaps = gaps(run, &asked);
    if measured.is_empty() && gaps.is_empty() {
        return Ok(Vec::new());
    }
    let found = gather(&sources, Some((run, &asked)), Servers::default());
    let outages: Vec<Outage<'_>> =
        found.history.units.iter().filter(|unit| is_server(unit)).flat_map(|unit| outages(&found, unit)).collect();
    let mut remarks = Vec::new();
    for phase in &measured {
        for outage in outages.iter().filter(|outage| overlaps(outage, phase.since, phase.until)) {
            let window = if outage.name.is_empty() { String::new() } else { format!(" (--window '{}')", outage.name) };
            remarks.push(format!("{} went away during the {} window: {}{window}", outage.unit.unit, phase.name, outage.how));
        }
    }
    for gap in &gaps {
        let linked = found.seen.iter().find(|seen| seen.what == "scrapes" && seen.of == gap.capture && seen.target == gap.endpoint);
        let Some((host, unit)) = linked.and_then(|seen| seen.unit.as_ref()) else { continue };
        let mine =
            |outage: &&Outage<'_>| outage.unit.unit == *unit && outage.unit.host == *host && overlaps(outage, gap.from, Some(gap.to));
        let known = outages.iter().find(mine);
        let what = match known {
            Some(outage) if outage.name.is_empty() => Some("the end".to_string()),
            Some(outage) => Some(format!("the restart `{}`", outage.name)),
            None => gap.fell.then(|| "a restart, which no log here shows,".to_string()),
        };
        if let Some(what) = what {
            let (from, to) = (rfc3339(gap.from, 1_000_000), rfc3339(gap.to, 1_000_000));
            remarks.push(format!("metrics of {} have a gap that is {what} of {unit}: {from} to {to}", gap.endpoint));
        }
    }
    Ok(remarks)
}

fn overlaps(outage: &Outage<'_>, since: i64, until: Option<i64>) -> bool {
    until.is_none_or(|until| outage.since < until) && outage.until.is_none_or(|end| end > since)
}

fn outages<'h>(found: &'h Readiness, unit: &'h UnitHistory) -> Vec<Outage<'h>> {
    let name = windows::name_of(&found.history.units, unit);
    let mut all = Vec::new();
    for ((at, run), number) in unit.invocations.iter().enumerate().zip(windows::numbers(unit)) {
        let old = windows::before(unit, at);
        let verdict = old.checked_sub(1).and_then(|old| unit.invocations.get(old)).map_or("", |old| words::verdict(old.verdict));
        if let (Some(away), Some(number)) = (run.outage.as_ref().and_then(|outage| outage.window.as_ref()), number) {
            let how = format!("run {old} {verdict}, away {}, {}", words::away(away, old, at + 1), words::away_length(away));
            let span = away.span();
            all.extend(span.map(|(since, until)| Outage { unit, name: format!("outage:{name}#{number}"), since, until, how }));
        }
    }
    let before = unit.invocations.last();
    // A last run that ended by itself is no restart, and away from then on.
    let lost = |run: &Invocation| run.traps.iter().any(|trap| trap.kind == TrapKind::ReadyThenLost);
    if let Some(last) = before.filter(|run| (run.instants.ended.happened() || lost(run)) && !run.instants.stops())
        && let Some(since) = last.instants.ended.lower().or(last.instants.ended.upper()).and_then(|mark| mark.wall)
    {
        let how = format!("run {} {}, and no other one followed", unit.invocations.len(), words::verdict(last.verdict));
        all.push(Outage { unit, name: String::new(), since: since.start, until: None, how });
    }
    all
}

fn gaps(run: &Run, asked: &Asked<'_>) -> Vec<Gap> {
    let mut all = Vec::new();
    for captured in asked.captures.iter().filter(|captured| !captured.is_log()) {
        let capture = captured.capture();
        let (Some(window), Some((offset, _))) = (captured.extent(), captured.dial().to_utc()) else { continue };
        let ask = Around::of(run, captured).ask(capture, window);
        for covered in coverage::of_endpoints(capture, &ask) {
            let endpoint = covered.id.and_then(|id| capture.endpoint(id)).map(title).unwrap_or_default();
            let down = covered.gaps.iter().filter(|gap| matches!(gap.cause, Cause::ServerDown | Cause::Restart));
            all.extend(down.map(|gap| Gap {
                capture: captured.name.clone(),
                endpoint: endpoint.clone(),
                from: gap.from.saturating_add(offset),
                to: gap.to.saturating_add(offset),
                fell: resets::together(gap.fell.0, gap.fell.1),
            }));
        }
    }
    all
}
