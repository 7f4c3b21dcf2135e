//! Which events does a reader look for?

use std::time::Instant;

use super::asked::Asked;
use super::refused::Refused;
use super::state::{Served, View};
use crate::cli::query::{self, Args};
use crate::metrics::common::Covers;
use crate::query::answer::{Answer, Question, Window};
use crate::query::fetch::{Context, Reading};
use crate::query::window::{Known, Times};
use crate::query::{Nothing, grammar, locate, names, timespec};
use crate::readiness::windows;
use crate::render::shown::Shown;

/// Where a window lies.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub window: Window,
    /// What says where a named window lies.
    pub how: Option<String>,
}

/// The window that is asked about. Nothing is opened that is not of the run.
///
/// # Errors
/// A value is not understood; there is no such window.
pub fn scope(view: &View, served: &Served, asked: &Asked) -> Result<Scope, Refused> {
    let args = asked.args(served).map_err(Refused::value)?;
    let sources = &view.sources;
    let flags = args.around.flags(&args.when);
    let covers = || {
        let mut covers = Covers::default();
        covers.add_logs(&sources.sources);
        Ok(covers)
    };
    let known = Known {
        declared: &sources.declared,
        phases: &|| windows::phases(flags.window, sources, &|| Ok(windows::all(&view.whole(served)?.lives.history))),
        stamp: &|event| locate::stamp_of_named(event, sources),
        covers: &covers,
    };
    let times = Times::read(flags, &known).map_err(|error| match error.is::<Nothing>() {
        true => Refused::Nothing(format!("{error:#}")),
        false => Refused::value(error),
    })?;
    let zone = query::zone_of_flags(&args.reading.tz).map_err(Refused::value)?;
    let (run_start, run_end) = if times.of_run() { view.extent() } else { (None, None) };
    let context = timespec::Context { run_start, run_end, now: (served.wall)(), zone, anchors: times.anchors.clone() };
    let timespec::Window { since, until } = times.resolve(&context).map_err(Refused::value)?;
    Ok(Scope { window: Window { since, until }, how: times.how })
}

/// What was found.
pub struct Found {
    pub scope: Scope,
    pub total: u64,
    /// Hits whose stamps reach over an edge of the window.
    pub at_edge: u64,
    pub hits: Vec<Shown>,
    /// What of the input could not be read, with the reason.
    pub not_read: Vec<(String, String)>,
    /// What else a reader should know: names that no event has, an index that could not be used.
    pub notes: Vec<String>,
}

/// Asks the run in a window.
///
/// # Errors
/// The query or another value is not understood.
pub fn find(view: &View, served: &Served, asked: &Asked, scope: &Scope) -> Result<Found, Refused> {
    let (args, question, answer) = ask(view, served, asked, scope)?;
    let sources = &view.sources;
    let mut found = Found {
        scope: scope.clone(),
        total: answer.total,
        at_edge: answer.at_edge,
        hits: Vec::new(),
        not_read: sources.not_read.iter().filter(|n| n.failure).map(|n| (n.name.clone(), n.why.clone())).collect(),
        notes: sources.notes.clone(),
    };
    let mut reading = Reading::new(&answer.hits, &sources.sources, Context::default(), served.bodies);
    while let Some(blocks) = reading.next(args.limit.max(1)) {
        found.hits.extend(blocks.into_iter().flat_map(|b| b.events));
    }
    for (i, (asking, source)) in answer.asking.iter().zip(&sources.sources).enumerate() {
        if let Some(why) = &asking.failed {
            found.not_read.push((source.name.clone(), why.clone()));
        }
        if let Some(lost) = reading.lost.get(&i) {
            found.not_read.push((source.name.clone(), format!("{}; {} of its hits are not shown", lost.why, lost.hits)));
        }
        if let Some(why) = &asking.index_failed {
            found.notes.push(format!("{}: read without its index: {why}", source.name));
        }
    }
    if answer.total == 0 {
        found.notes.extend(names::unknown_names(Some(&question.expr), &[], &[], sources));
        found.notes.extend(names::longer_ids(&question.expr, question.bodies, sources).map_err(Refused::value)?);
    }
    Ok(found)
}

/// The answer as `corr query --format json` writes it.
///
/// # Errors
/// As [`scope`] and [`find`].
pub fn json(view: &View, served: &Served, asked: &Asked) -> Result<Vec<u8>, Refused> {
    let started = Instant::now();
    let scope = scope(view, served, asked)?;
    let (args, question, answer) = ask(view, served, asked, &scope)?;
    let mut out = Vec::new();
    query::write_json(&args, (&question, &answer), &view.sources, started, &mut out).map_err(Refused::value)?;
    Ok(out)
}

fn ask(view: &View, served: &Served, asked: &Asked, scope: &Scope) -> Result<(Args, Question, Answer), Refused> {
    let args = asked.args(served).map_err(Refused::value)?;
    let expr = grammar::parse(&args.query.join(" ")).map_err(Refused::Query)?;
    let (question, answer) = query::ask_in(&args, expr, &view.sources, scope.window).map_err(Refused::value)?;
    Ok((args, question, answer))
}
