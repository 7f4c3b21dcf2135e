//! `corr show` of a citation of samples: the samples that it names, from the first to the last, of each series that it means.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use corr_metrics::select::Selector;

use super::show::{Args, ShowFormat, run_of};
use super::{exit, index};
use crate::evidence;
use crate::metrics::asked::Asked;
use crate::metrics::logged;
use crate::query::sources;
use crate::render::events::Format;
use crate::render::metrics::Rows;
use crate::render::paint::Paint;
use crate::render::safe::terminal;
use crate::run::{self, Options};

/// Whether a locator is a citation of samples, `path#name{labels}[target]@from..to`, and not a place of a record.
pub(super) fn is_citation(locator: &str) -> bool {
    locator.rsplit_once("]@").is_some_and(|(place, times)| place.contains('#') && times.contains(".."))
}

/// Shows the samples. The run is the one that is named, else the nearest around the capture's path under which it is cited so.
pub(super) fn show(args: &Args, paint: Paint, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    let cited = &args.locator;
    let options = args.reading.options();
    let (path, _) = cited.split_once('#').with_context(|| format!("{} names no series", terminal(cited)))?;
    let path = path.rsplit_once(" (").filter(|(_, number)| number.ends_with(')')).map_or(path, |(path, _)| path);
    for candidate in runs(args, Path::new(path)) {
        let Ok(opened) = run::open(std::slice::from_ref(&candidate), &options) else { continue };
        let asked = captures(cited, &opened, &options, args)?;
        let Some(series) = asked.cited(cited) else { continue };
        let format = if args.format == ShowFormat::Json { Format::Json } else { Format::Text };
        Rows::new(series, 0).write(format, paint, out)?;
        out.flush()?;
        for note in &asked.notes {
            writeln!(err, "corr: {}", terminal(note))?;
        }
        let failures = index::failures(&asked.not_read, &[], err)?;
        return Ok(if failures > 0 { exit::PARTIAL } else { exit::FOUND });
    }
    let next = if args.run.is_some() { "take it as corr prints it" } else { "take it as corr prints it, and name its run with --run" };
    bail!("{}: no samples are cited so; {next}", terminal(cited));
}

fn captures<'r>(cited: &str, opened: &'r run::Run, options: &Options, args: &Args) -> anyhow::Result<Asked<'r>> {
    let store = args.reading.store.as_deref();
    let Some((_, field)) = cited.split_once("#log:") else { return evidence::captures(opened, options, store) };
    let field: String = field.chars().take_while(|c| !matches!(c, '{' | '[')).collect();
    let selectors = [Selector::parse(&format!("log:{field}"))?];
    let sources = sources::of(opened, options, store)?;
    let mut asked = Asked::default();
    asked.add_logged(opened, logged::read(&selectors, &sources));
    Ok(asked)
}

/// Where the capture may be read from as it is cited: a folder of many captures is the run itself, or lies in it.
fn runs(args: &Args, path: &Path) -> Vec<String> {
    if let Some(run) = &args.run {
        return vec![run.clone()];
    }
    let mut runs = vec![run_of(path)];
    let mut at = Some(path);
    while let Some(here) = at.filter(|here| !here.as_os_str().is_empty()) {
        let shown = here.display().to_string();
        if here.is_dir() && !runs.contains(&shown) {
            runs.push(shown);
        }
        at = here.parent();
    }
    // The run of a capture is one of the folders around it, not the root of a disk.
    runs.truncate(4);
    runs
}
