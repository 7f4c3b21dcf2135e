//! A JSONL that names the files of scrapes and their times, one attempt a line, with those that failed.
//!
//! Keys, whichever are there: `file` (or `path`) below the JSONL's folder; the start as `t_start`, `start`, `timestamp_ns`, `timestamp` or
//! `time`; `t_end` or `duration_ns`; `target`, `endpoint_url`, `url` or `endpoint`; `status`, `error`, `content_type`.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde_json::value::RawValue;

use super::body::{Bodies, Kept};
use super::lines::{self, Lines, Step, first_keys};
use super::{Candidate, Layout, Part, ReadError, Set, scrape_files, stamp, unpacked};
use crate::build::Builder;
use crate::exposition::{Format, seconds};
use crate::model::{Capture, Clock, Outcome, StampOf};

pub const LAYOUT: Layout =
    Layout { name: "scrape-index", about: "files of one scrape each, and a JSONL that gives their times and the failed ones", claim, read };

/// The members of a line.
type Row<'a> = HashMap<String, &'a RawValue>;

const STARTS: [&str; 5] = ["t_start", "start", "timestamp_ns", "timestamp", "time"];
const FILES: [&str; 2] = ["file", "path"];
const TARGETS: [&str; 4] = ["target", "endpoint_url", "url", "endpoint"];

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut sets = Vec::new();
    let mut by_key: HashMap<&str, Vec<&Candidate>> = HashMap::new();
    for candidate in candidates {
        by_key.entry(unpacked(&candidate.key)).or_default().push(candidate);
    }
    for candidate in candidates {
        let keys = first_keys(candidate);
        let has = |any: &[&str]| keys.iter().any(|k| any.contains(&k.as_str()));
        if !has(&STARTS) || !(has(&FILES) || (has(&TARGETS) && has(&["error"]))) {
            continue;
        }
        // a file of failures alone is known by its name
        let called = candidate.name().starts_with("scrape");
        let begins = candidate.text().unwrap_or_default().split(|&b| b == b'\n').filter_map(|line| file(candidate.folder(), line));
        if !called && !begins.into_iter().any(|key| by_key.contains_key(unpacked(&key))) {
            continue;
        }
        let named = named(candidate);
        let mut files = Vec::new();
        let mut beside = Vec::new();
        for key in &named {
            for twin in by_key.get(unpacked(key)).into_iter().flatten() {
                if twin.key == *key {
                    files.push(twin.part());
                } else if by_key
                    .get(unpacked(key))
                    .into_iter()
                    .flatten()
                    .any(|c| c.key == *key && scrape_files::same_text(&c.path, &twin.path))
                {
                    beside.push((twin.part(), format!("the same as {key}")));
                }
            }
        }
        let because = format!("JSON lines with {}: the times of {} files of one scrape each", keys.join(", "), files.len());
        files.insert(0, candidate.part());
        sets.push(Set { files, beside, because, ties: Vec::new() });
    }
    sets
}

/// The keys of the files that an index names.
fn named(index: &Candidate) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let Ok(mut lines) = Lines::open(&index.path) else { return keys };
    while let Some(step) = lines.next() {
        if let Step::Line(_, line, _) = step {
            keys.extend(file(index.folder(), line));
        }
    }
    keys
}

/// The key of the file that a line names.
fn file(folder: &str, line: &[u8]) -> Option<String> {
    let row: Row<'_> = serde_json::from_slice(line).ok()?;
    Some(join(folder, &text(&row, &FILES)?))
}

/// The first of some members that is there and not null.
fn raw<'a>(row: &Row<'a>, any: &[&str]) -> Option<&'a str> {
    any.iter().find_map(|name| row.get(*name)).map(|v| v.get()).filter(|v| *v != "null")
}

/// A member as text, without quotes.
fn text(row: &Row<'_>, any: &[&str]) -> Option<String> {
    let raw = raw(row, any)?;
    Some(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_string()))
}

fn join(folder: &str, file: &str) -> String {
    let file = file.strip_prefix("./").unwrap_or(file);
    if folder.is_empty() { file.to_string() } else { format!("{folder}/{file}") }
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let Some((index, bodies)) = set.files.split_first() else { return Ok(Vec::new()) };
    let capture = read_index(index, bodies).map_err(|error| ReadError::Io { path: index.path.display().to_string(), error })?;
    Ok(vec![capture])
}

fn read_index(index: &Part, parts: &[Part]) -> std::io::Result<Capture> {
    let path: &Path = &index.path;
    let folder = index.key.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts: HashMap<&str, &Part> = parts.iter().map(|p| (p.key.as_str(), p)).collect();
    let mut lines = Lines::open(path)?;
    let mut builder = Builder::new(LAYOUT.name, Clock::Wall, StampOf::Request);
    builder.file(path);
    let mut bodies = Bodies::default();
    while let Some(step) = lines.next() {
        let (number, line, ended) = match step {
            Step::Line(number, line, ended) => (number, line, ended),
            other => {
                lines::note(&mut builder, path, &other);
                continue;
            }
        };
        let place = || Some(format!("{}:{number}", path.display()));
        let row: Row<'_> = match serde_json::from_slice(line) {
            Ok(row) => row,
            Err(e) => {
                lines::damaged(&mut builder, path, number, ended, &e);
                continue;
            }
        };
        let Some(at) = raw(&row, &STARTS).and_then(instant) else {
            builder.note("no_stamp", || "a scrape without a time is not kept".into(), place);
            continue;
        };
        let duration = raw(&row, &["duration_ns"]).and_then(|d| d.parse().ok());
        let took = duration.or_else(|| raw(&row, &["t_end"]).and_then(instant)?.checked_sub(at));
        let target = text(&row, &TARGETS).unwrap_or_default();
        let endpoint = builder.endpoint(&target);
        if target.contains("://") {
            builder.fact(endpoint, "url", &target);
        }
        let status = text(&row, &["status"]).filter(|s| !s.starts_with('2')).map(|s| format!("HTTP {s}"));
        if let Some(reason) = text(&row, &["error"]).or(status) {
            builder.scrape(endpoint, at, took, Outcome::Failed(reason));
            continue;
        }
        let Some(file) = text(&row, &FILES) else {
            builder.scrape(endpoint, at, took, Outcome::Failed("neither file nor error".into()));
            continue;
        };
        match parts.get(join(folder, &file).as_str()) {
            Some(part) => {
                let format = text(&row, &["content_type"]).as_deref().and_then(Format::of_content_type);
                bodies.take_file(&mut builder, Kept { endpoint, at, took, format, file: &part.path });
            }
            None => {
                builder.note("file_missing", || format!("{file} is named, but not here"), place);
                builder.scrape(endpoint, at, took, Outcome::Failed(format!("its file {file} is not here")));
            }
        }
    }
    Ok(builder.finish())
}

/// A JSON number of seconds, milliseconds, microseconds or nanoseconds by its size, or a text with a calendar time.
fn instant(raw: &str) -> Option<i64> {
    if let Some(text) = raw.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        return stamp::find(text).map(|s| s.at);
    }
    let whole: i64 = raw.split(['.', 'e', 'E']).next()?.parse().ok()?;
    if raw.contains(['e', 'E']) || whole < 100_000_000_000 {
        return seconds(raw);
    }
    if whole < 100_000_000_000_000 {
        seconds(&format!("{raw}e-3"))
    } else if whole < 100_000_000_000_000_000 {
        seconds(&format!("{raw}e-6"))
    } else {
        Some(whole)
    }
}
