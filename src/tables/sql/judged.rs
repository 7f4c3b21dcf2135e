//! What corr concludes, as tables: lives of servers, verdicts on edges.

use std::collections::BTreeSet;

use corr_evidence::verdict::Attribution;
use corr_readiness::{Instant, Mark};
use corr_sql::{Give, Wanted};

use super::sheet::{Cell, Sheet};
use super::{Asking, captures, columns};
use crate::evidence::Evidence;
use crate::readiness::places::Places;
use crate::readiness::{self};
use crate::render::evidence::attribution;
use crate::render::readiness::words;

/// One row an instant of a run of a unit.
pub fn readiness(asking: &Asking, wanted: &Wanted, give: &mut Give<'_>) -> Result<(), String> {
    let run = asking.run()?;
    let sources = asking.sources()?;
    let asked = captures::open(asking)?;
    let found = readiness::gather(sources, Some((run, &asked)), corr_readiness::Options::default());
    for source in &sources.sources {
        asking.bytes(source);
    }
    let mut cites = BTreeSet::new();
    for run in found.history.units.iter().flat_map(|unit| &unit.invocations) {
        words::instants(&run.instants).iter().for_each(|(_, instant)| cites.extend(instant.cites()));
    }
    let places = Places::new(&cites, sources, &asked.captures);
    let mut sheet = Sheet::new(columns::of("readiness"), give);
    for unit in found.history.units.iter().filter(|unit| wanted.text("unit", &unit.unit)) {
        let server = readiness::is_server(unit);
        for (run, number) in unit.invocations.iter().zip(1u64..) {
            let cause = words::cause(&run.cause);
            for (name, instant) in words::instants(&run.instants) {
                let at = |mark: Option<&Mark>, of: fn(corr_parsers::stamp::Stamp) -> i64| match mark.and_then(|mark| mark.wall) {
                    Some(wall) => Cell::Time(of(wall)),
                    None => Cell::None,
                };
                let cited: Vec<&str> = instant.cites().into_iter().map(|cite| places.of(cite)).collect();
                let cited = Some(cited.join(" ")).filter(|text| !text.is_empty());
                let row = [
                    Cell::Text(&unit.host),
                    Cell::Text(&unit.unit),
                    Cell::Truth(server),
                    Cell::Count(number),
                    Cell::Text(words::verdict(run.verdict)),
                    Cell::Text(&cause),
                    Cell::Text(name),
                    Cell::Text(words::known(instant)),
                    at(instant.lower(), |wall| wall.start),
                    at(instant.upper(), |wall| wall.end),
                    why(instant).into(),
                    (&cited).into(),
                ];
                if sheet.push(row)?.is_break() {
                    return Ok(());
                }
            }
        }
    }
    sheet.end()
}

fn why(instant: &Instant) -> Option<&str> {
    match instant {
        Instant::Exact { .. } => None,
        Instant::AtMost { why, .. } | Instant::AtLeast { why, .. } | Instant::Within { why, .. } => Some(why),
        Instant::Never { why } | Instant::Unknown { why } => Some(why),
    }
}

/// One row an edge, over the whole run.
pub fn verdicts(asking: &Asking, wanted: &Wanted, give: &mut Give<'_>) -> Result<(), String> {
    let sources = asking.sources()?;
    let evidence = Evidence::gather(sources, None).map_err(|e| format!("{e:#}"))?;
    let asked = captures::open(asking)?;
    let judged = evidence.judge_of(asking.run()?, &asked, None, None, None).map_err(|e| e.to_string())?;
    evidence.not_read.iter().for_each(|file| asking.lost(format!("{}: {}", file.name, file.why)));
    let mut sheet = Sheet::new(columns::of("verdicts"), give);
    for verdict in &judged.verdicts {
        let Some(edge) = evidence.edges.edges().get(verdict.edge).filter(|edge| wanted.text("edge", &edge.id)) else { continue };
        let (request, session) = (attribution(&verdict.request), attribution(&verdict.session));
        let (of_request, of_session) = (shares(&verdict.request), shares(&verdict.session));
        let count = |n: Option<usize>| n.map_or(Cell::None, |n| Cell::Count(n as u64));
        let row = [
            Cell::Text(&edge.id),
            Cell::Text(&edge.title),
            Cell::Text(verdict.activity.name()),
            (&verdict.why).into(),
            verdict.count.map_or(Cell::None, Cell::Count),
            verdict.amount.map_or(Cell::None, Cell::Number),
            Some(verdict.unit.as_str()).filter(|unit| !unit.is_empty()).into(),
            Cell::Text(&request),
            count(of_request.0),
            count(of_request.1),
            Cell::Text(&session),
            count(of_session.0),
            count(of_session.1),
            needs(&verdict.request).into(),
        ];
        if sheet.push(row)?.is_break() {
            return Ok(());
        }
    }
    sheet.end()
}

/// Of how many it is proven, and of how many it is asked.
fn shares(of: &Attribution) -> (Option<usize>, Option<usize>) {
    match of {
        Attribution::Proven { k, n, .. } => (Some(*k), Some(*n)),
        Attribution::Unprovable { n, .. } => (None, *n),
        Attribution::Nothing => (None, None),
    }
}

fn needs(of: &Attribution) -> Option<&str> {
    match of {
        Attribution::Proven { needs, .. } => needs.as_deref(),
        Attribution::Unprovable { needs, .. } => Some(needs),
        Attribution::Nothing => None,
    }
}
