//! What stands at a locator? Only files of the run are opened, whatever a locator says: its path is compared, never followed.

use std::collections::BTreeMap;

use super::refused::Refused;
use super::state::{Served, View};
use crate::cli::settings::{self, Lines};
use crate::cli::show;
use crate::facts;
use crate::query::locate;
use crate::render::opened::Opened;
use crate::run::source::{Class, Source, is_named};

/// What was opened.
pub enum Found {
    Record {
        opened: Box<Opened>,
        /// The line that was asked for.
        line: Option<u64>,
        /// Sources that its ids could not be looked for in.
        not_asked: BTreeMap<String, String>,
    },
    /// A line of a file that holds no events.
    Lines(Lines),
}

/// Records, or lines, that are shown on either side.
pub const BESIDE: usize = 4;

/// Opens a locator.
///
/// # Errors
/// It is none, or the run has no such file, line or byte.
pub fn open(view: &View, served: &Served, locator: &str) -> Result<Found, Refused> {
    let locator = locator.trim();
    let Some((path, place)) = locate::split(locator) else {
        return Err(Refused::Value(format!("`{locator}` is no locator; write PATH:LINE or PATH@OFFSET, as every page prints it")));
    };
    let sources = &view.sources;
    if let Some(source) = locate::named(sources, path) {
        let found = show::open(source, sources, place, BESIDE, served.bodies).map_err(|e| Refused::Nothing(format!("{e:#}")))?;
        let mut not_asked = found.unasked;
        not_asked.extend(sources.not_read.iter().filter(|n| n.failure).map(|n| (n.name.clone(), n.why.clone())));
        return Ok(Found::Record { opened: Box::new(found.opened), line: found.line, not_asked });
    }
    // Of other files only those are shown that facts are read from: what else lies there may hold bodies, and nothing here knows where.
    let shown = |s: &&Source| is_named(path, &s.key, &s.name) && facts::is_asked(&s.key) && !matches!(s.class, Class::Metrics(_));
    if let Some(file) = view.run.sources.iter().find(shown) {
        let lines = settings::lines(&file.path, &file.name, place, BESIDE, served.bodies);
        if let Some(lines) = lines.map_err(|e| Refused::Nothing(format!("{e:#}")))? {
            return Ok(Found::Lines(lines));
        }
    }
    let why = sources.not_read.iter().find(|n| n.name == path).map(|n| format!("{}; {}", n.why, n.next));
    Err(Refused::Nothing(format!("{path}: {}", why.as_deref().unwrap_or("no file of this run whose lines are shown has this path"))))
}
