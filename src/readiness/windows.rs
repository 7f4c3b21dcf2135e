//! Named windows of lives: `ready:UNIT#2` is when its second run was ready, `outage:UNIT#1` when it was away for the first time.

use std::path::Path;

use corr_readiness::history::Invocation;
use corr_readiness::time::Mark;
use corr_readiness::{History, Options, UnitHistory};

use super::gather;
use crate::evidence;
use crate::query::phases::{self, Phase};
use crate::query::sources::Sources;
use crate::run::{self, Run};

/// Beginnings of such names.
pub const PREFIXES: &[&str] = &["ready:", "outage:"];

/// Is a window of this name one of a life?
pub fn is_named(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The windows that a run's records name. Those of lives are looked for by `of_lives`, and only where one is asked about: that reads every log and capture.
///
/// # Errors
/// Those of `of_lives`.
pub fn phases(asked: Option<&str>, sources: &Sources, of_lives: &dyn Fn() -> anyhow::Result<Vec<Phase>>) -> anyhow::Result<Vec<Phase>> {
    let mut found = phases::all(&sources.sources);
    if asked.is_some_and(is_named) {
        found.extend(of_lives()?);
    }
    Ok(found)
}

/// The windows of the lives of a run, which are numbered and bounded as every command has them: by its logs and its captures. `store` is `--store`.
///
/// # Errors
/// What `corr.toml` says of the captures' clocks does not fit.
pub fn of_run(run: &Run, sources: &Sources, options: &run::Options, store: Option<&Path>) -> anyhow::Result<Vec<Phase>> {
    let captures = evidence::captures(run, options, store)?;
    Ok(all(&gather(sources, Some((run, &captures)), Options::default()).history))
}

fn start(mark: &Mark) -> Option<i64> {
    mark.wall.map(|wall| wall.start)
}

fn end(mark: &Mark) -> Option<i64> {
    mark.wall.map(|wall| wall.end)
}

/// The names that units have in windows: with their host where two hosts have one of the same name.
pub fn name_of(history: &[UnitHistory], unit: &UnitHistory) -> String {
    let twice = history.iter().filter(|other| other.unit == unit.unit).count() > 1;
    if twice { format!("{}/{}", unit.host, unit.unit) } else { unit.unit.clone() }
}

/// The number of each run's outage among those of its unit, from 1; `None` where there is none before it.
pub fn numbers(unit: &UnitHistory) -> Vec<Option<usize>> {
    let mut number = 0;
    let one = |(at, run): (usize, &Invocation)| {
        (at > 0 && run.outage.is_some()).then(|| {
            number += 1;
            number
        })
    };
    unit.invocations.iter().enumerate().map(one).collect()
}

/// All windows of a history. Both ends are on the safe side: ready by then, and still there then.
pub fn all(history: &History) -> Vec<Phase> {
    let mut found = Vec::new();
    for unit in &history.units {
        let name = name_of(&history.units, unit);
        let mut before: Option<&Invocation> = None;
        for ((at, run), number) in unit.invocations.iter().enumerate().zip(numbers(unit)) {
            if let (Some(old), Some(outages)) = (before, number) {
                found.extend(outage(old, run).map(|(since, until)| Phase {
                    name: format!("outage:{name}#{outages}"),
                    since,
                    until,
                    requests: None,
                    ends: Vec::new(),
                    how: format!("from the last sign of run {} to run {} of {name} ready", at, at + 1),
                }));
            }
            found.extend(ready(run).map(|(since, until)| Phase {
                name: format!("ready:{name}#{}", at + 1),
                since,
                until,
                requests: None,
                ends: Vec::new(),
                how: format!("run {} of {name}, from ready to its stop", at + 1),
            }));
            before = Some(run);
        }
    }
    found
}

/// From when a run was surely ready to when it was surely still there.
pub fn ready(run: &Invocation) -> Option<(i64, Option<i64>)> {
    let since = end(run.instants.ready.upper()?)?;
    let over = [&run.instants.asked, &run.instants.stopping, &run.instants.ended];
    let until = over.iter().filter(|instant| instant.happened()).filter_map(|instant| {
        // A stop that is known from above only was asked for at some moment before: the last answer is the last that is sure.
        instant.lower().or(run.instants.last_served.lower()).or(run.instants.last_served.upper()).and_then(start)
    });
    let until = until.filter(|until| *until > since).min();
    Some((since, until))
}

/// From the last sign of the old run to the new one ready: the longest that it can have been. Without an end if it never was.
pub fn outage(old: &Invocation, new: &Invocation) -> Option<(i64, Option<i64>)> {
    let (since, until) = outage_ends(old, new)?;
    Some((start(since)?, until.and_then(end)))
}

/// The two records that an outage lies between; without the second if the server was never ready again.
pub fn outage_ends<'i>(old: &'i Invocation, new: &'i Invocation) -> Option<(&'i Mark, Option<&'i Mark>)> {
    let instants = &old.instants;
    let stop = [&instants.asked, &instants.stopping, &instants.ended].into_iter().find_map(|instant| instant.lower().or(instant.upper()));
    let served = instants.last_served.lower().or(instants.last_served.upper());
    // One that was asked to stop answered until then, whether or not anybody asked it anything.
    let since = stop.or(served)?;
    let began = start(since)?;
    let until = new.instants.ready.upper();
    (until.and_then(end).is_none_or(|until| until > began)).then_some((since, until))
}
