//! A line of a file that holds no events: a configuration, a launch command. `corr facts` cites these.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use serde_json::json;

use super::exit;
use super::show::{Args, ShowFormat};
use crate::facts::masked;
use crate::query::locate::Place;
use crate::render::safe::{terminal, write_json};
use crate::run;
use crate::run::layout::small_text;
use crate::run::source::is_named;

/// Shows the line of such a file with its neighbours; `None` if the run has no small file of this path. Credentials are masked unless bodies are
/// asked for.
pub(super) fn show(path: &str, place: Place, run: &str, args: &Args, out: &mut dyn Write) -> anyhow::Result<Option<i32>> {
    // Of a run that is gone only the store is left, which holds no such files.
    let Ok((listing, _)) = run::list(&[run.to_string()]) else { return Ok(None) };
    let same = |found: &Path| matches!((std::fs::canonicalize(found), std::fs::canonicalize(path)), (Ok(a), Ok(b)) if a == b);
    let Some(found) = listing.files.iter().find(|f| is_named(path, &f.key, &f.name) || same(&f.path)) else { return Ok(None) };
    let (Place::Line(line), Some(text)) = (place, small_text(&found.path)) else { return Ok(None) };
    if text.contains('\0') {
        return Ok(None);
    }
    let text = if args.bodies { text } else { masked(&text) };
    let lines: Vec<&str> = text.lines().collect();
    let Some(at) = usize::try_from(line).ok().and_then(|l| l.checked_sub(1)).filter(|at| *at < lines.len()) else {
        bail!("{}: no line {line}", terminal(&found.name));
    };
    let name = &found.name;
    match args.format {
        ShowFormat::Json => {
            let text = lines.get(at).copied().unwrap_or("");
            write_json(out, &json!({ "source": name, "line": line, "about": "a line of a file that holds no events", "raw": text }), true)?;
            writeln!(out)?;
        }
        ShowFormat::Text => {
            writeln!(out, "{}:{line}  a line of a file that holds no events", terminal(name))?;
            let from = at.saturating_sub(args.context);
            for (n, text) in lines.iter().enumerate().skip(from).take((at - from).saturating_add(args.context).saturating_add(1)) {
                let mark = if n == at { ">" } else { " " };
                writeln!(out, "{mark} {:>5}  {}", n + 1, terminal(text))?;
            }
        }
    }
    out.flush()?;
    Ok(Some(exit::FOUND))
}
