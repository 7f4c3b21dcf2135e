//! The panels of a report, in the window of the page. What was gathered for one window is kept a while: who goes back, or sends the address on, waits once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::asked::Asked;
use super::find::Scope;
use super::link;
use super::once::Once;
use super::refused::Refused;
use super::state::{Served, View};
use crate::query::answer::Window;
use crate::query::window::{closed, interval};
use crate::render::evidence::shell;
use crate::render::html::Html;
use crate::render::report as panels;
use crate::report::{self, Ask, Base, Given, Report, window_flags};

/// Rows of the timeline on a page, the most telling ones.
const ROWS: usize = 300;
/// Reports that are kept.
const MOST: usize = 8;

/// Reading of the run, query, window: what a report depends on.
type Key = (u64, String, Window);
type Gathered = Arc<Once<Report>>;

/// Reports that were gathered, the last ones used at the end.
#[derive(Default)]
pub struct Kept(Mutex<VecDeque<(Key, Gathered)>>);

impl Kept {
    fn of(&self, key: &Key) -> Gathered {
        // A panic in here leaves reports that are whole.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(known, _)| known == key);
        let entry = place.and_then(|at| kept.remove(at)).unwrap_or_else(|| (key.clone(), Gathered::default()));
        let gathered = entry.1.clone();
        // An older reading of the run is of no use any more.
        kept.retain(|((number, ..), _)| *number >= key.0);
        kept.push_back(entry);
        while kept.len() > MOST {
            kept.pop_front();
        }
        gathered
    }
}

/// Gathers a report, or gives the one that is kept.
///
/// # Errors
/// The window has no end, or ends before it begins; what `corr.toml` says does not fit.
pub fn report(kept: &Kept, view: &View, served: &Served, asked: &Asked, scope: &Scope) -> Result<Arc<Report>, Refused> {
    let key = (view.number, asked.q.trim().to_string(), scope.window);
    kept.of(&key).get(|| gather(view, served, asked, scope.window)).map_err(Refused::value)
}

fn gather(view: &View, served: &Served, asked: &Asked, window: Window) -> anyhow::Result<Report> {
    let closed = if window == Window::default() {
        None
    } else {
        let ends = view.ends(served)?;
        closed(window, || ends)?
    };
    let query = asked.q.trim();
    let mut words = vec![if closed.is_some() { "a window" } else { "the whole run" }.to_string()];
    if !query.is_empty() {
        words.push(format!("timeline and found: {query}"));
    }
    let given = served.given();
    let ask = Ask {
        words: words.join(", "),
        query: query.to_string(),
        window,
        closed,
        marked: query.is_empty(),
        rows: ROWS,
        bodies: served.bodies,
        commands: commands(&given, query, served.bodies, closed),
        given,
        ..Ask::default()
    };
    let (captures, whole) = (view.captures(served)?, view.whole(served)?);
    let base = Base { run: &view.run, sources: &view.sources, captures: &captures };
    let mut report = report::gather(base, &whole, &ask)?;
    report.records.page = Some(link::record);
    Ok(report)
}

/// The commands that give each part again.
fn commands(given: &Given, query: &str, bodies: bool, closed: Option<(i64, i64)>) -> Vec<String> {
    let (words, window) = (given.words(), window_flags(closed));
    // A query that begins with `-` would be taken for a flag.
    let query = if query.starts_with('-') { format!("({query})") } else { query.to_string() };
    let asked = if query.is_empty() { String::new() } else { format!(" {}", shell(&query)) };
    let open = if bodies { " --bodies" } else { "" };
    vec![
        format!("corr query {words}{asked}{window}{open}"),
        format!("corr timeline {words}{asked}{window}"),
        format!("corr edges {words}{window} --explain"),
        format!("corr ready {words}{window}"),
        format!("corr facts {words}"),
        format!("corr report {words}{asked}{window} -o report.html"),
    ]
}

/// What the report amounts to, and where its panels are. The same window may be asked for in other words: what said where it lies is of the address.
pub fn head(report: &Report, scope: &Scope) -> Html {
    let how = scope.how.as_ref().map(|how| format!("{} ({how})", interval(scope.window)));
    panels::masthead(report, how.as_deref())
}

/// The panels below what was found.
pub fn sections(report: &Report) -> Html {
    let Report { covered, facts, pipeline, lives, timeline, series, figures, records, head } = report;
    let mut html = Html::new();
    html.push(&panels::pipeline(pipeline, records));
    html.push(&panels::unprovable(pipeline));
    html.push(&panels::lives(lives, head.axis, records));
    html.push(&panels::timeline(timeline, head.axis, records, false));
    html.push(&panels::series(series, head.axis));
    html.push(&panels::figures(figures, records));
    html.push(&panels::coverage(covered));
    html.push(&panels::facts(facts, records));
    html.push(&panels::foot(report));
    html
}
