//! The panels of a report, in the window of the page. What was gathered for one window is kept a while: who goes back, or sends the address on, waits once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::asked::Asked;
use super::link;
use super::refused::Refused;
use super::state::{Served, View};
use crate::evidence;
use crate::query::answer::Window;
use crate::query::window::closed;
use crate::render::evidence::shell;
use crate::render::html::Html;
use crate::render::report as panels;
use crate::render::shown::rfc3339;
use crate::report::{self, Ask, Base, Report};

/// Rows of the timeline on a page, the most telling ones.
const ROWS: usize = 300;
/// Reports that are kept.
const MOST: usize = 8;

/// Reading of the run, query, window: what a report depends on.
type Key = (u64, String, Window);
type Gathered = Arc<OnceLock<Result<Arc<Report>, String>>>;

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
pub fn report(kept: &Kept, view: &View, served: &Served, asked: &Asked, window: Window, how: Option<&str>) -> Result<Arc<Report>, Refused> {
    let key = (view.number, asked.q.trim().to_string(), window);
    let gathered = kept.of(&key);
    let made = gathered.get_or_init(|| gather(view, served, asked, window, how).map(Arc::new).map_err(|e| format!("{e:#}")));
    made.clone().map_err(Refused::Value)
}

fn gather(view: &View, served: &Served, asked: &Asked, window: Window, how: Option<&str>) -> anyhow::Result<Report> {
    let captures = evidence::captures(&view.run, &served.options, served.store.as_deref())?;
    let closed = closed(window, || view.extent())?;
    let query = asked.q.trim();
    let mut words = vec![if closed.is_some() { "a window" } else { "the whole run" }.to_string()];
    if !query.is_empty() {
        words.push(format!("timeline and found: {query}"));
    }
    let ask = Ask {
        run: served.arguments.join(" "),
        words: words.join(", "),
        query: query.to_string(),
        window,
        closed,
        how: how.map(String::from),
        marked: query.is_empty(),
        rows: ROWS,
        commands: commands(served, query, closed),
        ..Ask::default()
    };
    let base = Base { run: &view.run, sources: &view.sources, captures: &captures };
    let mut report = report::gather(base, &ask)?;
    report.records.page = Some(link::record);
    Ok(report)
}

/// The commands that give each part again.
fn commands(served: &Served, query: &str, closed: Option<(i64, i64)>) -> Vec<String> {
    let (first, also) = served.arguments.split_first().map_or(("", [].as_slice()), |(first, also)| (first.as_str(), also));
    let mut run = shell(first);
    let flags = [("also", also), ("tz", &served.options.tz), ("format-of", &served.options.format_of)];
    let flags: String = flags.iter().flat_map(|(name, values)| values.iter().map(move |v| format!(" --{name} {}", shell(v)))).collect();
    let window = closed.map_or(String::new(), |(from, to)| format!(" --since {} --until {}", rfc3339(from, 1), rfc3339(to, 1)));
    let asked = if query.is_empty() { String::new() } else { format!(" {}", shell(query)) };
    let whole = format!("{run}{flags}{window}");
    run.push_str(&asked);
    vec![
        format!("corr query {run}{flags}{window}"),
        format!("corr timeline {run}{flags}{window}"),
        format!("corr edges {whole} --explain"),
        format!("corr ready {whole}"),
        format!("corr facts {}{flags}", shell(first)),
        format!("corr report {run}{flags}{window} -o report.html"),
    ]
}

/// What the report amounts to, and where its panels are.
pub fn head(report: &Report) -> Html {
    panels::masthead(report)
}

/// The panels below what was found.
pub fn sections(report: &Report) -> Html {
    let Report { covered, facts, pipeline, lives, timeline, series, figures, records, head } = report;
    let mut html = Html::new();
    html.push(&panels::pipeline(pipeline, records));
    html.push(&panels::unprovable(pipeline));
    html.push(&panels::lives(lives, head.axis, records));
    html.push(&panels::timeline(timeline, head.axis, records));
    html.push(&panels::series(series, head.axis));
    html.push(&panels::figures(figures, records));
    html.push(&panels::coverage(covered));
    html.push(&panels::facts(facts, records));
    html.push(&panels::foot(report));
    html
}
