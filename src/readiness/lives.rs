//! Windows of lives as rows for a chart: when a server was ready, when it was away, and which records say so.

use std::collections::BTreeSet;

use corr_readiness::history::Invocation;
use corr_readiness::{Cite, History};

use super::places::Places;
use super::{is_server, windows};
use crate::export::mermaid::{What, Window};
use crate::metrics::asked::Captured;
use crate::query::sources::Sources;

/// The windows of every server, by unit and time.
pub fn windows(history: &History, sources: &Sources, captures: &[Captured<'_>]) -> Vec<Window> {
    let mut found: Vec<(Window, Vec<Cite>)> = Vec::new();
    for unit in history.units.iter().filter(|unit| is_server(unit)) {
        let name = windows::name_of(&history.units, unit);
        let numbers = windows::numbers(unit);
        let mut before: Option<&Invocation> = None;
        for ((at, run), number) in unit.invocations.iter().enumerate().zip(numbers) {
            let made =
                |what, number, (since, until), how| Window { unit: name.clone(), what, number, since, until, how, cites: Vec::new() };
            if let (Some(old), Some(number)) = (before, number)
                && let Some(window) = windows::outage(old, run)
            {
                let how = format!("from the last sign of run {at} to run {} ready", at + 1);
                let cites = over(old).into_iter().chain(run.instants.ready.cites()).collect();
                found.push((made(What::Outage, number, window, how), cites));
            }
            if let Some(window) = windows::ready(run) {
                let how = format!("run {}, from ready to its stop", at + 1);
                let cites = run.instants.ready.cites().into_iter().chain(over(run)).collect();
                found.push((made(What::Ready, at + 1, window, how), cites));
            }
            before = Some(run);
        }
    }
    let all: BTreeSet<Cite> = found.iter().flat_map(|(_, cites)| cites.iter().copied()).collect();
    let places = Places::new(&all, sources, captures);
    let placed = |(window, cites): (Window, Vec<Cite>)| {
        let mut shown: Vec<String> = Vec::new();
        for place in cites.iter().map(|cite| places.of(*cite)).filter(|place| !place.is_empty()) {
            if !shown.iter().any(|known| known == place) {
                shown.push(place.to_string());
            }
        }
        Window { cites: shown, ..window }
    };
    found.into_iter().map(placed).collect()
}

/// The records that say that a run was asked to stop, else that it ended, else that it last served.
fn over(run: &Invocation) -> Vec<Cite> {
    let instants = &run.instants;
    let ends = [&instants.asked, &instants.stopping, &instants.ended, &instants.last_served];
    ends.iter().find(|instant| instant.lower().is_some() || instant.upper().is_some()).map(|instant| instant.cites()).unwrap_or_default()
}
