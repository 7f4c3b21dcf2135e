//! Where the elapsed clocks of a run's captures began: by every rule that can be asked, the best of which is taken and named.

use std::path::Path;

use corr_metrics::align::agree::Bound;
use corr_metrics::align::choose::{Found, Rule, choose};
use corr_metrics::align::counters::{self, Offset};
use corr_metrics::align::pairs::{PAIRS, Pair};
use corr_metrics::align::reads::Timing;
use corr_metrics::align::{files, uptime};
use corr_metrics::model::{Anchor, Capture, Clock, EndpointId, Note, StampOf};

use super::around::Around;
use super::asked::{Asked, Captured};
use crate::query::answer::{self, Question, Sort, Window};
use crate::query::fetch::{Context, Reading};
use crate::query::grammar;
use crate::query::matches::Matcher;
use crate::query::sources::{self, Sources};
use crate::run::source::Class;
use crate::run::{Options, Run};
use crate::store::clocks::{self, KeptClock};
use crate::store::update;

/// Finds the beginning of every elapsed clock, or looks it up where the run was indexed and has not changed. Nothing is read where all clocks are
/// wall clocks.
pub fn settle(run: &Run, options: &Options, store: Option<&Path>, asked: &mut Asked<'_>) -> anyhow::Result<()> {
    let elapsed = elapsed(asked);
    if elapsed.is_empty() {
        return Ok(());
    }
    let kept = asked.unchanged.as_ref().and_then(|(store, generation)| clocks::read(store, *generation, &run.arguments));
    let known = |kept: &Vec<KeptClock>| {
        let is_elapsed = |clock: &KeptClock| elapsed.contains(&clock.place);
        kept.iter().all(|clock| is_elapsed(clock) && asked.captures.get(clock.place).is_some_and(|c| c.name == clock.name))
    };
    let settled = match kept.filter(known) {
        Some(kept) => kept,
        None => find(run, options, store, asked, &elapsed)?,
    };
    for clock in settled {
        if let Some(captured) = asked.captures.get_mut(clock.place) {
            let anchor = Anchor { low: clock.low, high: clock.high, how: clock.how, holds: clock.holds };
            let notes = clock.beside.into_iter().map(|(what, agrees)| {
                let code = if agrees { "clock_also_by" } else { "clock_contradicted_by" };
                Note { code, what, count: 1, first: None }
            });
            captured.source.capture.clock = Clock::Elapsed { anchor: Some(anchor) };
            captured.source.capture.notes.extend(notes);
        }
    }
    Ok(())
}

/// Finds them for a run that was just indexed, and puts them into its store.
pub fn keep(run: &Run, options: &Options, store: &Path) -> anyhow::Result<()> {
    let asked = Asked::read(run, Some(store));
    let elapsed = elapsed(&asked);
    let Some((dir, generation)) = asked.unchanged.as_ref().filter(|_| !elapsed.is_empty()) else { return Ok(()) };
    let found = find(run, options, Some(store), &asked, &elapsed)?;
    // Who holds the lock now publishes anew, and finds them for that.
    if let Ok(_lock) = update::lock(dir) {
        clocks::write(dir, *generation, &run.arguments, found)?;
    }
    Ok(())
}

fn elapsed(asked: &Asked<'_>) -> Vec<usize> {
    (0..asked.captures.len()).filter(|&i| asked.captures.get(i).is_some_and(is_elapsed)).collect()
}

fn find(run: &Run, options: &Options, store: Option<&Path>, asked: &Asked<'_>, elapsed: &[usize]) -> anyhow::Result<Vec<KeptClock>> {
    let has_events = run.sources.iter().any(|s| s.class == Class::Events);
    let events = if has_events { Some(sources::of(run, options, store)?) } else { None };
    let mut settled = Vec::new();
    for (place, captured) in elapsed.iter().filter_map(|&i| Some((i, asked.captures.get(i)?))) {
        let around = Around::of(run, captured);
        let mut found = of_others(captured, asked, &around);
        found.extend(of_files(captured, &around));
        let about = found.iter().find(|f| f.rule == Rule::LogLine).map(|f| Bound { low: f.anchor.low, high: f.anchor.high });
        if let Some(events) = &events
            && !found.iter().any(|f| f.rule == Rule::SharedCounters)
        {
            found.extend(of_events(captured.capture(), events, &around, about)?);
        }
        let Some(choice) = choose(found) else { continue };
        let Anchor { low, high, how, holds } = choice.anchor;
        let beside = choice.beside.into_iter().map(|beside| (beside.said, beside.agrees)).collect();
        settled.push(KeptClock { place, name: captured.name.clone(), low, high, how, holds, beside });
    }
    Ok(settled)
}

fn is_elapsed(captured: &Captured<'_>) -> bool {
    matches!(captured.capture().clock, Clock::Elapsed { anchor: None })
}

/// How far the wall clocks of two captures are apart, where they share counters.
pub fn offset(run: &Run, a: &Captured<'_>, b: &Captured<'_>) -> Option<Offset> {
    let wall = |c: &Captured<'_>| !matches!(c.capture().clock, Clock::Elapsed { .. });
    if !wall(a) || !wall(b) {
        return None;
    }
    counters::offset(a.capture(), b.capture(), &timing(a, &Around::of(run, a)), &timing(b, &Around::of(run, b))).ok()
}

fn timing(captured: &Captured<'_>, around: &Around) -> Timing {
    // Only a scraper that waits after each scrape bounds a scrape by the gap before it.
    let pause = around.every().filter(|_| captured.capture().stamp_of == StampOf::Body);
    Timing { pause, ..Timing::default() }
}

fn of_others(captured: &Captured<'_>, asked: &Asked<'_>, around: &Around) -> Vec<Found> {
    let own = timing(captured, around);
    let mut found = Vec::new();
    for other in asked.captures.iter().filter(|c| !matches!(c.capture().clock, Clock::Elapsed { .. })) {
        let theirs = Timing::default();
        if let Ok(offset) = counters::offset(captured.capture(), other.capture(), &own, &theirs)
            && offset.segments.is_empty()
        {
            let anchor = Anchor { how: format!("{}, against {}", offset.anchor.how, other.name), ..offset.anchor };
            found.push(Found { rule: Rule::SharedCounters, anchor });
        } else if let Ok(anchor) = uptime::offset(captured.capture(), other.capture(), &own, &theirs) {
            let anchor = Anchor { how: format!("{}, against {}", anchor.how, other.name), ..anchor };
            found.push(Found { rule: Rule::Uptime, anchor });
        }
    }
    found
}

fn of_files(captured: &Captured<'_>, around: &Around) -> Vec<Found> {
    let mut found = Vec::new();
    let log = around.log.as_ref().map(|(_, log)| log);
    // Of two lives in one file nobody knows which one a capture is.
    if let Some(first) = log.filter(|log| log.starts.len() < 2).and_then(|log| log.first) {
        found.push(Found { rule: Rule::LogLine, anchor: files::first_line(first) });
    }
    for part in &captured.source.set.files {
        let name = part.key.rsplit('/').next().unwrap_or_default();
        let Some(written) = modified(&part.path) else { continue };
        let last = captured.extent().map(|(_, last)| last);
        let only = captured.source.set.files.len() == 1;
        let anchor = if name == "current.arrow" {
            let saves = log.map(|log| log.saves.iter().filter(|s| s.file == "current.arrow").count() as u64);
            let by_saves = saves.zip(log.and_then(|l| l.save_every)).and_then(|(n, every)| files::current_arrow(written, n, every, last));
            by_saves.or_else(|| files::last_sample(written, last.filter(|_| only)?))
        } else if name.starts_with("out-") && only {
            last.and_then(|last| files::last_sample(written, last))
        } else {
            None
        };
        found.extend(anchor.map(|anchor| Found { rule: Rule::FileTime, anchor }));
    }
    found
}

fn modified(path: &std::path::Path) -> Option<i64> {
    let time = std::fs::metadata(path).and_then(|m| m.modified()).ok()?;
    i64::try_from(time.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos()).ok()
}

fn of_events(capture: &Capture, sources: &Sources, around: &Around, about: Option<Bound>) -> anyhow::Result<Vec<Found>> {
    let pause = around.every().filter(|_| capture.stamp_of == StampOf::Body);
    let timing = Timing { pause, ..Timing::default() };
    let mut found = Vec::new();
    for pair in PAIRS {
        let counted = |id: &EndpointId| capture.series.iter().any(|s| s.endpoint == *id && pair.names.contains(&s.name.canonical()));
        let endpoints: Vec<EndpointId> = (0..capture.endpoints.len()).map(|i| EndpointId(i as u32)).filter(counted).collect();
        if endpoints.is_empty() {
            continue;
        }
        for events in logged(pair, sources)? {
            for endpoint in &endpoints {
                if let Ok(fit) = pair.fit(&events, capture, *endpoint, &timing, about) {
                    found.push(Found { rule: Rule::EventCounts, anchor: fit.anchor });
                }
            }
        }
        // The pairs are in order of trust; what a first one tells needs no second.
        if !found.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// Stamps of a pair's events, by source: a log counts what one process did.
fn logged(pair: &Pair, sources: &Sources) -> anyhow::Result<Vec<Vec<(i64, i64)>>> {
    let fields = pair.fields.iter().map(|(name, value)| format!(" {name}:{value}"));
    let expr = grammar::parse(&format!("kind:{}{}", pair.kind, fields.collect::<String>())).map_err(|e| anyhow::anyhow!("{e}"))?;
    let matcher = Matcher::new(&expr)?;
    let window = Window::default();
    let question = Question { expr, matcher, window, sort: Sort::Time(true), limit: 0, count_by: None, histogram: None, bodies: false };
    let answer = answer::ask(&question, &sources.sources)?;
    let mut reading = Reading::new(&answer.hits, &sources.sources, Context::default(), false);
    let mut by_source: std::collections::BTreeMap<String, Vec<(i64, i64)>> = std::collections::BTreeMap::new();
    while let Some(blocks) = reading.next(1_000) {
        for event in blocks.iter().flat_map(|b| &b.events) {
            if let Some(stamp) = event.stamp {
                by_source.entry(event.source.clone()).or_default().push((stamp.start, stamp.end));
            }
        }
    }
    Ok(by_source.into_values().collect())
}
