//! A line of a file that holds no events: a configuration, a launch command. `corr facts` cites these.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use serde_json::json;

use super::exit;
use super::show::{Args, ShowFormat};
use crate::facts::{is_asked, masked};
use crate::query::locate::Place;
use crate::render::safe::{terminal, write_json};
use crate::run;
use crate::run::layout::small_text;
use crate::run::source::is_named;

/// A line of such a file with those around it.
pub(crate) struct Lines {
    pub name: String,
    pub line: u64,
    /// Number and text of each that is shown; that of `line` is among them.
    pub around: Vec<(u64, String)>,
}

/// Reads lines of such a file; `None` if it is no small text. Credentials are masked unless bodies are asked for.
pub(crate) fn lines(path: &Path, name: &str, place: Place, context: usize, bodies: bool) -> anyhow::Result<Option<Lines>> {
    let (Place::Line(line), Some(text)) = (place, small_text(path)) else { return Ok(None) };
    if text.contains('\0') {
        return Ok(None);
    }
    let text = if bodies { text } else { masked(&text) };
    let lines: Vec<&str> = text.lines().collect();
    let Some(at) = usize::try_from(line).ok().and_then(|l| l.checked_sub(1)).filter(|at| *at < lines.len()) else {
        bail!("{}: no line {line}", terminal(name));
    };
    let from = at.saturating_sub(context);
    let shown = (1..).zip(&lines).skip(from).take((at - from).saturating_add(context).saturating_add(1));
    let around = shown.map(|(number, text): (u64, _)| (number, text.to_string())).collect();
    Ok(Some(Lines { name: name.to_string(), line, around }))
}

/// Shows the line of such a file with its neighbours; `None` if the run has no small file of this path that facts are read from.
pub(super) fn show(path: &str, place: Place, run: &str, args: &Args, out: &mut dyn Write) -> anyhow::Result<Option<i32>> {
    // Of a run that is gone only the store is left, which holds no such files.
    let Ok((listing, _)) = run::list(&[run.to_string()]) else { return Ok(None) };
    let same = |found: &Path| matches!((std::fs::canonicalize(found), std::fs::canonicalize(path)), (Ok(a), Ok(b)) if a == b);
    let Some(found) = listing.files.iter().find(|f| is_named(path, &f.key, &f.name) || same(&f.path)) else { return Ok(None) };
    // Other files may hold bodies, the copy of a log among them, and nothing here knows where.
    if !is_asked(&found.key) {
        bail!(
            "{}: no events are read from it: a metric capture, a copy of another source, or what no format explains; `corr sources {run}` says which",
            terminal(&found.name)
        );
    }
    let Some(Lines { name, line, around }) = lines(&found.path, &found.name, place, args.context, args.bodies)? else { return Ok(None) };
    match args.format {
        ShowFormat::Json => {
            let text = around.iter().find(|(number, _)| *number == line).map_or("", |(_, text)| text);
            write_json(out, &json!({ "source": name, "line": line, "about": "a line of a file that holds no events", "raw": text }), true)?;
            writeln!(out)?;
        }
        ShowFormat::Text => {
            writeln!(out, "{}:{line}  a line of a file that holds no events", terminal(&name))?;
            for (number, text) in &around {
                let mark = if *number == line { ">" } else { " " };
                writeln!(out, "{mark} {number:>5}  {}", terminal(text))?;
            }
        }
    }
    out.flush()?;
    Ok(Some(exit::FOUND))
}
