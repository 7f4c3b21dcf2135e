//! Windows of lives as rows for a chart: when a server was ready, when it was away, and which records say so.

use std::collections::BTreeSet;

use corr_readiness::{Cite, History};

use super::places::Places;
use super::{is_server, windows};
use crate::export::mermaid::{What, Window};
use crate::metrics::asked::Captured;
use crate::query::sources::Sources;
use crate::render::readiness::words;

/// The windows of every server, by unit and time.
pub fn windows(history: &History, sources: &Sources, captures: &[Captured<'_>]) -> Vec<Window> {
    let mut found: Vec<(Window, Vec<Cite>)> = Vec::new();
    for unit in history.units.iter().filter(|unit| is_server(unit)) {
        let name = windows::name_of(&history.units, unit);
        for ((at, run), number) in unit.invocations.iter().enumerate().zip(windows::numbers(unit)) {
            let made = |what, number, (since, until), length, how| {
                let unit = name.clone();
                Window { unit, what, number, since, until, length, how, cites: Vec::new() }
            };
            if let (Some(away), Some(number)) = (run.outage.as_ref().and_then(|outage| outage.window.as_ref()), number)
                && let Some(span) = away.span()
            {
                let how = words::away(away, windows::before(unit, at), at + 1);
                let cites = [Some(away.since), away.until].into_iter().flatten().map(|mark| mark.cite).collect();
                found.push((made(What::Outage, number, span, Some(words::away_length(away)), how), cites));
            }
            if let Some(up) = windows::ready(run) {
                let how = format!("run {}, {}", at + 1, up.how);
                found.push((made(What::Ready, at + 1, (up.since, up.until), None, how), up.cites));
            }
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
