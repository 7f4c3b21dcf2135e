//! Starts, stops and restarts of the servers of a run.

use std::collections::BTreeSet;

use corr_readiness::time::Length;
use corr_readiness::{Cite as Place, Instant, Invocation};

use super::model::{Cite, LifeRow, Lives};
use super::{Ask, Base};
use crate::readiness::places::Places;
use crate::readiness::{self, Readiness};
use crate::render::readiness::{Unit, words};

/// Runs that are written out, the last ones of each unit: a crash loop has thousands.
const RUNS: usize = 60;
/// Citations of a run.
const CITES: usize = 6;

/// Every run of every server that was there in a window.
pub fn of(base: Base<'_>, found: &Readiness, ask: &Ask) -> Lives {
    let window = ask.window;
    let all = &found.history.units;
    let servers = all.iter().filter(|unit| readiness::is_server(unit));
    let mut units: Vec<Unit> = servers.map(|unit| Unit::within(all, unit, (window.since, window.until))).collect();
    units.retain(|unit| !unit.unit.invocations.is_empty());
    let wanted: BTreeSet<Place> = units.iter().flat_map(|unit| last(unit).map(|(_, run)| run)).flat_map(cites).collect();
    let places = Places::new(&wanted, base.sources, &base.captures.captures);
    let left_out = units.iter().map(|unit| unit.unit.invocations.len().saturating_sub(RUNS) as u64).sum();
    let row = |unit: &Unit| last(unit).map(|(at, run)| life((base, ask), &places, unit, at, run)).collect::<Vec<_>>();
    let runs = units.iter().flat_map(row).collect();
    Lives { runs, cannot_say: cannot_say(found, &units), left_out, units }
}

fn last(unit: &Unit) -> impl Iterator<Item = (usize, &Invocation)> {
    let runs = &unit.unit.invocations;
    runs.iter().enumerate().skip(runs.len().saturating_sub(RUNS))
}

fn cites(run: &Invocation) -> Vec<Place> {
    let instants = &run.instants;
    let all = [&instants.started, &instants.ready, &instants.first_served, &instants.asked, &instants.stopping, &instants.ended];
    let mut cites: Vec<Place> = Vec::new();
    for cite in all.into_iter().flat_map(Instant::cites).chain(run.traps.iter().flat_map(|trap| trap.cites.iter().copied())) {
        if !cites.contains(&cite) {
            cites.push(cite);
        }
    }
    cites.truncate(CITES);
    cites
}

fn life((base, ask): (Base<'_>, &Ask), places: &Places, unit: &Unit, at: usize, run: &Invocation) -> LifeRow {
    let when = |instant: &Instant| match (words::when(instant), words::why(instant)) {
        (Some(when), _) => when,
        (None, Some(why)) => format!("{}: {why}", words::known(instant)),
        (None, None) => words::known(instant).into(),
    };
    let length = |length: Option<&Result<Length, String>>| match length {
        Some(Ok(length)) => words::length(length),
        Some(Err(why)) => format!("unknown: {why}"),
        None => String::new(),
    };
    let of_log = |place: &Place| (place.source as usize) < base.sources.sources.len();
    let cite = |place: Place| {
        let (text, at) = (places.of(place).to_string(), of_log(&place).then_some((place.source, place.offset)));
        let open = if at.is_some() { String::new() } else { ask.given.opens(&text, ask.closed) };
        Cite { text, at, open }
    };
    LifeRow {
        unit: unit.name.clone(),
        number: unit.numbers.get(at).copied().unwrap_or_default(),
        verdict: words::verdict(run.verdict).into(),
        cause: words::cause(&run.cause),
        started: when(&run.instants.started),
        ready: when(&run.instants.ready),
        ended: when(&run.instants.ended),
        start_to_ready: length(Some(&run.lengths.start_to_ready)),
        away: run.outage.as_ref().and_then(|outage| outage.window.as_ref()).map_or(String::new(), words::away_length),
        traps: run.traps.iter().map(|trap| format!("{}: {}", words::trap(trap.kind), trap.says)).collect(),
        cites: cites(run).into_iter().map(cite).filter(|cite| !cite.text.is_empty()).collect(),
    }
}

fn cannot_say(found: &Readiness, units: &[Unit]) -> Vec<String> {
    let of_units =
        units.iter().flat_map(|unit| unit.unit.cannot_say.iter().map(move |said| format!("{}: {}: {}", unit.name, said.what, said.why)));
    let of_all = found.history.cannot_say.iter().map(|said| format!("{}: {}", said.what, said.why));
    let mut all: Vec<String> = of_units.chain(of_all).collect();
    all.dedup();
    all
}
