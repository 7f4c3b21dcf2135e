//! From a question to the rows of a timeline: what is asked, and its events read in the order of time.

use std::collections::BTreeSet;

use super::Nothing;
use super::answer::{self, Answer, Question, Sort, Window};
use super::fetch::{Context, Reading};
use super::grammar::{self, quote};
use super::matches::Matcher;
use super::sources::Sources;
use crate::evidence::{Evidence, trace};
use crate::render::number::grouped;
use crate::render::shown::Shown;
use crate::timeline::{Row, Settings, Timeline, Totals};

/// Requests of a session whose records are looked for; of more a query would be too long.
const MOST_REQUESTS: usize = 2_000;

/// What is asked of the sources by a query, and by a session or a request, of which `evidence` shows which records are theirs.
///
/// # Errors
/// The query is not understood; [`Nothing`] if no record bears the session or request.
pub fn question(
    query: &str,
    window: Window,
    session: Option<&str>,
    request: Option<&str>,
    evidence: Option<&Evidence<'_>>,
) -> anyhow::Result<Question> {
    let mut expr = grammar::parse(query).map_err(|e| anyhow::anyhow!("{e}\n{}", e.pointer()))?;
    if let Some(evidence) = evidence
        && let Some(found) = evidence.requests(session, request)?
    {
        if found.len() > MOST_REQUESTS {
            let many = grouped(found.len() as u64);
            let why = format!("{many} requests are meant, more than {MOST_REQUESTS}: ask for one of them, or for a window");
            return Err(Nothing(why).into());
        }
        let of_request = |no: &usize| evidence.identity.requests.get(*no).map(|r| trace::clauses(evidence, r)).unwrap_or_default();
        let mut clauses: BTreeSet<String> = found.iter().flat_map(of_request).collect();
        clauses.extend(session.map(|id| format!("session:{}", quote(id))));
        let ids: Vec<String> = clauses.into_iter().collect();
        let text = if query.trim().is_empty() { ids.join(" OR ") } else { format!("({query}) AND ({})", ids.join(" OR ")) };
        expr = grammar::parse(&text).map_err(|e| anyhow::anyhow!("{e}\n{}", e.pointer()))?;
    }
    let matcher = Matcher::new(&expr)?;
    Ok(Question { expr, matcher, window, sort: Sort::Time(true), limit: 0, count_by: None, histogram: None, bodies: false })
}

/// How rows are made.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Every event is a row.
    pub all: bool,
    /// Rows that are given, the most telling ones; 0 for all.
    pub limit: usize,
    /// The events are what a query asked for: only what is periodic is folded into runs.
    pub chosen: bool,
}

/// What was told, and what could not be.
#[derive(Default)]
pub struct Told {
    pub totals: Totals,
    /// Hits whose stamps reach over an edge of the window.
    pub at_edge: u64,
    /// Sources that could not be read, or not to their end, with the reason.
    pub failed: Vec<(String, String)>,
    /// What of an index could not be used.
    pub notes: Vec<String>,
}

/// Hits that are read again at a time.
const BATCH: usize = 1_000;

/// Shows every event of a question to `see`, in the order of time, and gives the rows that they and the marks make.
pub fn of(
    question: &Question,
    sources: &Sources,
    how: How,
    marks: Vec<Row>,
    see: &mut dyn FnMut(&Shown),
    give: &mut dyn FnMut(Row) -> anyhow::Result<()>,
) -> anyhow::Result<Told> {
    let answer = answer::ask(question, &sources.sources)?;
    let several = answer.asking.iter().filter(|a| a.matched > 0).count() > 1;
    let mut timeline = Timeline::new(Settings { all: how.all, limit: how.limit, chosen: how.chosen, several }, marks);
    let mut told = read(&answer, sources, question.bodies, &mut |event| {
        see(&event);
        timeline.push(event, give)
    })?;
    told.totals = timeline.finish(give)?;
    Ok(told)
}

/// Gives every event of a question on, in the order of time.
pub fn events(question: &Question, sources: &Sources, give: &mut dyn FnMut(Shown) -> anyhow::Result<()>) -> anyhow::Result<Told> {
    read(&answer::ask(question, &sources.sources)?, sources, question.bodies, give)
}

/// Reads the events of an answer again; says what could not be.
fn read(answer: &Answer, sources: &Sources, bodies: bool, give: &mut dyn FnMut(Shown) -> anyhow::Result<()>) -> anyhow::Result<Told> {
    let mut told = Told { at_edge: answer.at_edge, ..Told::default() };
    for (asking, source) in answer.asking.iter().zip(&sources.sources) {
        if let Some(why) = &asking.failed {
            told.failed.push((source.name.clone(), why.clone()));
        }
        if let Some(why) = &asking.index_failed {
            told.notes.push(format!("{}: read without its index: {why}", source.name));
        }
    }
    let mut reading = Reading::new(&answer.hits, &sources.sources, Context::default(), bodies);
    while let Some(blocks) = reading.next(BATCH) {
        for event in blocks.into_iter().flat_map(|b| b.events) {
            give(event)?;
        }
    }
    for (source, lost) in reading.lost {
        let name = sources.sources.get(source).map_or("", |s| s.name.as_str());
        told.failed.push((name.to_string(), format!("{}; {} of its events are not shown", lost.why, grouped(lost.hits))));
    }
    Ok(told)
}
