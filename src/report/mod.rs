//! What of a run goes into a report, gathered from the same places that the single commands ask.
//!
//! [`Base`] is a run that is open, [`Whole`] what of it is the same in every window, [`Ask`] what is asked of it: the whole run or a window, all events or
//! some. [`gather`] makes a [`Report`], of which `render::report` writes a page or single panels.

mod cites;
mod covered;
mod facts;
mod figures;
mod given;
mod lives;
mod model;
mod pipeline;
mod plots;
mod timeline;

pub use given::{Given, window_flags};
pub use model::*;

use corr_metrics::select::Selector;
use corr_readiness::Options;

use crate::evidence::Evidence;
use crate::marks;
use crate::metrics::asked::Asked;
use crate::query::answer::{Question, Window};
use crate::query::rows;
use crate::query::sources::Sources;
use crate::readiness::{self, Readiness};
use crate::run::Run;
use crate::run::source::NotRead;

/// A run, open for questions: it is opened once and asked as often as one likes.
#[derive(Clone, Copy)]
pub struct Base<'r> {
    pub run: &'r Run,
    pub sources: &'r Sources,
    /// As `evidence::captures` gives them: each on a clock that is known as far as it can be.
    pub captures: &'r Asked<'r>,
}

/// What is asked of a run.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// The run as the user gave it, for commands that reproduce a figure.
    pub given: Given,
    /// What was asked, in words.
    pub words: String,
    /// Only events that match, in the language of `corr query`; empty for all.
    pub query: String,
    pub session: Option<String>,
    pub request: Option<String>,
    /// The window as it was asked; an open end is the run's own.
    pub window: Window,
    /// The window with both ends; `None` for the whole run.
    pub closed: Option<(i64, i64)>,
    /// What says where the window lies.
    pub how: Option<String>,
    /// Series that are plotted; empty for those that say most.
    pub series: Vec<Selector>,
    /// Marks of lives and edges stand among the rows.
    pub marked: bool,
    /// Every event is a row.
    pub all: bool,
    /// Rows of the timeline, the most telling ones; 0 for all.
    pub rows: usize,
    /// Bodies and credentials are searched and shown.
    pub bodies: bool,
    /// Commands that give each part again.
    pub commands: Vec<String>,
}

impl Ask {
    /// The events were chosen, not taken as they came.
    fn chosen(&self) -> bool {
        !self.query.is_empty() || self.session.is_some() || self.request.is_some()
    }
}

/// What of a run is the same in every window. It is gathered once, however many windows are asked about.
pub struct Whole<'r> {
    pub lives: Readiness,
    facts: Facts,
    /// Fields of log records as series.
    logged: Asked<'r>,
    missing: Vec<MissingRow>,
    /// What could not be read for these, or not whole.
    not_read: Vec<NotRead>,
}

impl<'r> Whole<'r> {
    /// Reads all sources and captures. `series` are those that will be asked for.
    pub fn gather(base: Base<'_>, series: &[Selector]) -> Whole<'r> {
        let lives = readiness::gather(base.sources, Some((base.run, base.captures)), Options::default());
        let (facts, mut not_read) = facts::of(base);
        let logged = plots::logged(base, series, plots::fields().chain(figures::fields()));
        not_read.extend(logged.not_read.iter().cloned());
        let (missing, lost) = covered::missing(base);
        not_read.extend(lost);
        Whole { lives, facts, logged, missing, not_read }
    }
}

/// Gathers everything.
///
/// # Errors
/// If the query is wrong, or what `corr.toml` adds to the table of edges does not fit it; [`Nothing`](crate::query::Nothing) if no record bears the
/// session or request.
pub fn gather(base: Base<'_>, whole: &Whole<'_>, ask: &Ask) -> anyhow::Result<Report> {
    let evidence = Evidence::gather(base.sources, ask.closed)?;
    let question = rows::question(&ask.query, ask.window, ask.session.as_deref(), ask.request.as_deref(), Some(&evidence))?;
    let question = Question { bodies: ask.bodies, ..question };
    let axis = ask.closed.or_else(|| extent(base, &evidence));
    let judged = pipeline::judge(base, &evidence, ask)?;
    let marks = match ask.marked {
        false => Vec::new(),
        true => marks::all(&whole.lives, &evidence, &judged, base.sources, base.captures, ask.window),
    };
    let (timeline, told) = timeline::of(base, &question, ask, axis, marks)?;
    let covered = covered::of(base, &evidence, &told, whole, ask.closed);
    let pipeline = pipeline::of(&evidence, &judged, ask);
    let lives = lives::of(base, &whole.lives, ask);
    let series = plots::of(base, &whole.logged, ask, axis, &covered, &timeline);
    let figures = figures::of(base, &whole.logged, &evidence, &judged, ask);
    let facts = whole.facts.clone();
    let records = cites::read(base, &cites::all(&timeline, &facts, &pipeline, &lives, &figures), ask);
    let head = Head {
        run: ask.given.run(),
        asked: ask.words.clone(),
        window: ask.closed,
        window_words: ask.how.clone(),
        axis,
        commands: ask.commands.clone(),
        bodies: ask.bodies,
    };
    Ok(Report { head, covered, facts, pipeline, lives, timeline, series, figures, records })
}

/// From the first stamp or sample to the last, UTC ns.
fn extent(base: Base<'_>, evidence: &Evidence<'_>) -> Option<(i64, i64)> {
    let of_logs = evidence.ledgers.iter().filter_map(|l| l.span);
    let (from, to) = of_logs.chain(base.captures.span_utc()).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    Some((from, to.max(from.saturating_add(1))))
}

/// The run's own ends, by which a window is closed: its first and last stamp; the ends of its captures where it has no stamp.
pub fn ends(of_stamps: (Option<i64>, Option<i64>), captures: &Asked<'_>) -> (Option<i64>, Option<i64>) {
    match of_stamps {
        (None, None) => captures.span_utc().unzip(),
        found => found,
    }
}
