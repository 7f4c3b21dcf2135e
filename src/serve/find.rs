//! Which events does a reader look for?

use std::time::Instant;

use super::asked::Asked;
use super::refused::Refused;
use super::state::{Served, View};
use crate::cli::query::{self, Args};
use crate::query::answer::Window;
use crate::query::fetch::{Context, Reading};
use crate::query::{Nothing, grammar, names};
use crate::render::shown::Shown;

/// What was found.
pub struct Found {
    pub window: Window,
    /// What says where a named window lies.
    pub how: Option<String>,
    pub total: u64,
    /// Hits whose stamps reach over an edge of the window.
    pub at_edge: u64,
    pub hits: Vec<Shown>,
    /// What of the input could not be read, with the reason.
    pub not_read: Vec<(String, String)>,
    /// What else a reader should know: names that no event has, an index that could not be used.
    pub notes: Vec<String>,
}

/// Asks the run.
///
/// # Errors
/// The query or another value is not understood; there is no such window.
pub fn find(view: &View, served: &Served, asked: &Asked) -> Result<Found, Refused> {
    let (args, answered) = ask(view, served, asked)?;
    let query::Asked { question, answer, how } = answered;
    let sources = &view.sources;
    let mut found = Found {
        window: question.window,
        how,
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
/// As [`find`].
pub fn json(view: &View, served: &Served, asked: &Asked) -> Result<Vec<u8>, Refused> {
    let started = Instant::now();
    let (args, answered) = ask(view, served, asked)?;
    let mut out = Vec::new();
    query::write_json(&args, &answered, &view.sources, started, &mut out).map_err(Refused::value)?;
    Ok(out)
}

fn ask(view: &View, served: &Served, asked: &Asked) -> Result<(Args, query::Asked), Refused> {
    let args = asked.args(served).map_err(Refused::value)?;
    let expr = grammar::parse(&args.query.join(" ")).map_err(Refused::Query)?;
    match query::ask(&args, expr, &view.sources, None, (served.wall)()) {
        Ok(answered) => Ok((args, answered)),
        Err(error) if error.is::<Nothing>() => Err(Refused::Nothing(format!("{error:#}"))),
        Err(error) => Err(Refused::value(error)),
    }
}
