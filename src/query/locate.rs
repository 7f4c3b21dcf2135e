//! Which record does `PATH:LINE` or `PATH@OFFSET` mean?

use std::path::Path;

use anyhow::{Context as _, bail};
use corr_parsers::record;
use corr_parsers::stamp::Stamp;

use super::sources::{Asked, Sources};
use crate::render::safe;
use crate::run::events::{self, Start};
use crate::run::source::is_named;

/// A place in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Line(u64),
    Offset(u64),
}

/// Splits `PATH:LINE` or `PATH@OFFSET`. No file is looked at.
pub fn split(text: &str) -> Option<(&str, Place)> {
    let of = |separator: char, place: fn(u64) -> Place| {
        let (path, number) = text.rsplit_once(separator)?;
        Some((path, place(number.parse().ok()?))).filter(|(path, _)| !path.is_empty())
    };
    of(':', Place::Line).or_else(|| of('@', Place::Offset))
}

/// The same of an argument of a command. The whole text as a path, where there is such a file, is not split: it names no record.
///
/// # Errors
/// It is a file, or no locator.
pub fn locator<'t>(text: &'t str, run: Option<&str>) -> anyhow::Result<(&'t str, Place)> {
    let shown = safe::terminal(text);
    if Path::new(text).is_file() || run.is_some_and(|run| Path::new(run).join(text).is_file()) {
        bail!("`{shown}` is a whole file; write `{shown}:LINE` or `{shown}@OFFSET`");
    }
    split(text).with_context(|| none(text))
}

fn none(text: &str) -> String {
    format!("`{}` is no locator; write PATH:LINE or PATH@OFFSET", safe::terminal(text))
}

/// The source of this name, as printed or below the run.
pub fn named<'s>(sources: &'s Sources, path: &str) -> Option<&'s Asked> {
    sources.sources.iter().find(|s| is_named(path, &s.key, &s.name))
}

/// The source of a path, as printed, below the run, or by the file itself.
pub fn find<'s>(sources: &'s Sources, run: &str, path: &str) -> Option<&'s Asked> {
    named(sources, path).or_else(|| {
        let joined = Path::new(run).join(path);
        // Two paths that are nowhere are not the same file.
        let real = std::fs::canonicalize(path).ok();
        sources.sources.iter().find(|s| s.path == joined || (real.is_some() && std::fs::canonicalize(&s.path).ok() == real))
    })
}

/// Where the record of a place begins, and the line that was asked for.
pub fn begin(source: &Asked, bytes: &[u8], place: Place) -> anyhow::Result<(Start, Option<u64>)> {
    let (offset, line) = match place {
        Place::Offset(offset) if (offset as usize) < bytes.len() => (offset as usize, None),
        Place::Offset(offset) => bail!("{}: byte {offset} is behind the end; the source has {} bytes", source.name, bytes.len()),
        Place::Line(line) => (offset_of_line(bytes, line).with_context(|| format!("{}: no line {line}", source.name))?, Some(line)),
    };
    let start = record::record_start(bytes, offset, &source.layout);
    let order = events::order_before(bytes, &source.layout, source.timing(), start);
    Ok((Start { offset: start, line: 1 + events::count_lines(&bytes[..start]), order }, line))
}

/// When the event of a locator happened.
///
/// # Errors
/// It is no locator, no source has its path, or its record has no stamp.
pub fn stamp(text: &str, sources: &Sources, run: &str) -> anyhow::Result<Stamp> {
    let (path, place) = locator(text, Some(run))?;
    stamp_at(text, find(sources, run, path), path, place)
}

/// The same where whoever asks may learn nothing of files that are not of the run: sources are found by their names alone.
///
/// # Errors
/// As [`stamp`].
pub fn stamp_of_named(text: &str, sources: &Sources) -> anyhow::Result<Stamp> {
    let (path, place) = split(text).with_context(|| none(text))?;
    stamp_at(text, named(sources, path), path, place)
}

fn stamp_at(text: &str, source: Option<&Asked>, path: &str, place: Place) -> anyhow::Result<Stamp> {
    let Some(source) = source else {
        bail!("{path}: no source of events has this path; `corr sources` lists them");
    };
    let bytes = source.bytes().map_err(|e| anyhow::anyhow!("{}: {e}", source.name))?;
    let (begin, _) = begin(source, bytes, place)?;
    let stamp = events::one(bytes, &source.layout, source.timing(), begin, |_, _, facts| facts.stamp).flatten();
    stamp.with_context(|| format!("{text}: this record has no stamp; name one that has"))
}

/// Offset of the first byte of a 1-based line.
fn offset_of_line(bytes: &[u8], line: u64) -> Option<usize> {
    if line == 0 || bytes.is_empty() {
        return None;
    }
    if line == 1 {
        return Some(0);
    }
    let end = memchr::memchr_iter(b'\n', bytes).nth(usize::try_from(line - 2).ok()?)?;
    (end + 1 < bytes.len()).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_a_file_is_not_split() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(path("a.log:12"), "x\n").expect("write a file");
        std::fs::write(path("b.log"), "x\n").expect("write a file");
        let split =
            |text: &str, run: Option<&str>| locator(text, run).map(|(path, place)| (path.to_string(), place)).map_err(|e| e.to_string());
        assert_eq!(split(&path("a.log:12:5"), None), Ok((path("a.log:12"), Place::Line(5))));
        assert_eq!(split(&path("b.log:12"), None), Ok((path("b.log"), Place::Line(12))));
        assert_eq!(split(&path("b.log@7"), None), Ok((path("b.log"), Place::Offset(7))));
        assert_eq!(split("b.log:3", Some(&path(""))), Ok(("b.log".into(), Place::Line(3))));
        for (text, run) in [(path("a.log:12"), None), (path("b.log"), None), ("a.log:12".into(), Some(path("")))] {
            let error = split(&text, run.as_deref()).expect_err("a whole file");
            assert!(error.contains(":LINE"), "{error}");
        }
        assert!(split("nowhere", None).is_err_and(|e| e.contains("no locator")));
    }

    #[test]
    fn a_locator_is_a_path_and_a_place() {
        assert_eq!(split("a/b.log:12"), Some(("a/b.log", Place::Line(12))));
        assert_eq!(split("a:12:5"), Some(("a:12", Place::Line(5))));
        assert_eq!(split("a.gz@4096"), Some(("a.gz", Place::Offset(4096))));
        for text in ["", ":5", "a", "a:b", "a:-1", "a.parquet#series@1..2", "../x"] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
