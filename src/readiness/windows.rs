//! Named windows of lives: `ready:UNIT#2` is when its second run was ready, `outage:UNIT#1` when it was away for the first time.

use std::path::Path;

use corr_readiness::history::{Invocation, Opened};
use corr_readiness::time::Mark;
use corr_readiness::{Cite, History, Instant, Options, UnitHistory};

use super::gather;
use crate::evidence;
use crate::query::phases::Phase;
use crate::query::sources::Sources;
use crate::render::readiness::words;
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
    let mut found = sources.phases();
    if asked.is_some_and(is_named) {
        match &sources.named {
            Some(named) => found.extend(named.lives.iter().cloned()),
            None => found.extend(of_lives()?),
        }
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

/// The number of the run before that one: a start that never became a process is none.
pub fn before(unit: &UnitHistory, at: usize) -> usize {
    let runs = unit.invocations.get(..at).unwrap_or_default();
    runs.iter().rposition(|run| run.opened != Opened::NotStarted).map_or(0, |at| at + 1)
}

/// All windows of a history. Both ends are on the safe side: ready by then, and still there then.
pub fn all(history: &History) -> Vec<Phase> {
    let mut found = Vec::new();
    for unit in &history.units {
        let name = name_of(&history.units, unit);
        for ((at, run), number) in unit.invocations.iter().enumerate().zip(numbers(unit)) {
            if let (Some(away), Some(outages)) = (run.outage.as_ref().and_then(|outage| outage.window.as_ref()), number) {
                found.extend(away.span().map(|(since, until)| Phase {
                    name: format!("outage:{name}#{outages}"),
                    since,
                    until,
                    requests: None,
                    ends: Vec::new(),
                    how: format!("{name}: {}", words::away(away, before(unit, at), at + 1)),
                }));
            }
            found.extend(ready(run).map(|up| Phase {
                name: format!("ready:{name}#{}", at + 1),
                since: up.since,
                until: up.until,
                requests: None,
                ends: Vec::new(),
                how: format!("run {} of {name}, {}", at + 1, up.how),
            }));
        }
    }
    found
}

/// When a run was surely ready.
pub struct Up {
    /// UTC nanoseconds.
    pub since: i64,
    pub until: Option<i64>,
    pub how: &'static str,
    /// The records of both ends.
    pub cites: Vec<Cite>,
}

/// From when a run was surely ready to when it was surely still there.
pub fn ready(run: &Invocation) -> Option<Up> {
    let instants = &run.instants;
    let ready = instants.ready.upper()?;
    let since = end(ready)?;
    let served = instants.last_served.lower().or(instants.last_served.upper());
    let over = [&instants.asked, &instants.stopping, &instants.ended].into_iter().filter(|instant| instant.happened());
    let until = over.filter_map(|instant| {
        // A stop that is known from above only was asked for at some moment before: the last answer is the last that is sure.
        let (mark, how) = match instant.lower() {
            Some(mark) if matches!(instant, Instant::Exact { .. }) => (mark, "from ready to its stop"),
            Some(mark) => (mark, "from ready to its last sign"),
            None => (served?, "from ready to its last answer"),
        };
        Some((start(mark)?, mark.cite, how))
    });
    let until = until.filter(|(until, ..)| *until > since).min_by_key(|(until, ..)| *until);
    let (how, cites) = match until {
        Some((_, cite, how)) => (how, vec![ready.cite, cite]),
        None => ("from ready; up to when it surely was is not known", vec![ready.cite]),
    };
    Some(Up { since, until: until.map(|(until, ..)| until), how, cites })
}
