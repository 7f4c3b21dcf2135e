//! `raw_prometheus.jsonl`: every scrape as it was served, one a line.
//!
//! srt-slurm writes `{timestamp_ns, endpoint_url, role, worker_id, text}`, stamped after the fetch, and nothing for a failed scrape. Two workers
//! of one node share their `worker_id` there, so that an endpoint is its URL. Scrapers that write `duration_ns`, `content_type`, `elapsed_s` and
//! `error` as well stamp the request's start; a `stamp_of` in the line says otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::value::RawValue;

use super::body::{Bodies, Scraped};
use super::lines::{self, Lines, Step, first_keys};
use super::{Candidate, Layout, ReadError, Set};
use crate::build::Builder;
use crate::exposition::{Format, seconds};
use crate::model::{Capture, Clock, Outcome, StampOf};

pub const LAYOUT: Layout = Layout {
    name: "raw-prometheus",
    about: "raw_prometheus.jsonl of srt-slurm and of `corr scrape`: scrapes as they were served",
    claim,
    read,
};

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut sets = Vec::new();
    for candidate in candidates {
        let keys = first_keys(candidate);
        let has = |name: &str| keys.iter().any(|k| k == name);
        if has("endpoint_url") && (has("timestamp_ns") || has("elapsed_s")) && (has("text") || has("error")) && !has("metrics") {
            sets.push(Set {
                files: vec![candidate.part()],
                beside: Vec::new(),
                because: format!("JSON lines with {}: a scrape as served in each", keys.join(", ")),
                ties: Vec::new(),
            });
        }
    }
    sets
}

#[derive(serde::Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    timestamp_ns: Option<&'a RawValue>,
    #[serde(borrow)]
    elapsed_s: Option<&'a RawValue>,
    endpoint_url: Option<String>,
    role: Option<serde_json::Value>,
    worker_id: Option<serde_json::Value>,
    content_type: Option<String>,
    text: Option<String>,
    error: Option<serde_json::Value>,
    #[serde(borrow)]
    duration_ns: Option<&'a RawValue>,
    stamp_of: Option<serde_json::Value>,
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let mut captures = Vec::new();
    for part in &set.files {
        captures.push(read_file(&part.path).map_err(|error| ReadError::Io { path: part.path.display().to_string(), error })?);
    }
    Ok(captures)
}

fn read_file(path: &Path) -> std::io::Result<Capture> {
    let mut lines = Lines::open(path)?;
    let mut builder = Builder::new(LAYOUT.name, Clock::Wall, StampOf::Unknown);
    builder.file(path);
    let mut bodies = Bodies::default();
    let mut wall = None;
    let mut names: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut seen: Vec<(String, String)> = Vec::new();
    let mut workers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    while let Some(step) = lines.next() {
        let (number, line, ended) = match step {
            Step::Line(number, line, ended) => (number, line, ended),
            other => {
                lines::note(&mut builder, path, &other);
                continue;
            }
        };
        let place = || Some(format!("{}:{number}", path.display()));
        let repaired;
        let line = match std::str::from_utf8(line) {
            Ok(line) => line,
            Err(_) => {
                builder.note("bytes_not_utf8", || "bytes that are not UTF-8 are read as U+FFFD".into(), place);
                repaired = String::from_utf8_lossy(line).into_owned();
                &repaired
            }
        };
        let row: Row<'_> = match serde_json::from_str(line) {
            Ok(row) => row,
            Err(e) => {
                lines::damaged(&mut builder, path, number, ended, &e);
                continue;
            }
        };
        // the first stamp says which clock the capture has
        let on_wall = *wall.get_or_insert_with(|| {
            let on_wall = row.timestamp_ns.is_some();
            builder.clock(if on_wall { Clock::Wall } else { Clock::Elapsed { anchor: None } });
            let declared = row.stamp_of.clone().and_then(|word| serde_json::from_value(word).ok());
            builder.stamp_of(declared.unwrap_or(match row.duration_ns {
                Some(_) => StampOf::Request,
                None if on_wall && row.elapsed_s.is_none() && row.content_type.is_none() => StampOf::Body,
                None => StampOf::Unknown,
            }));
            on_wall
        });
        let at = if on_wall { row.timestamp_ns.and_then(|t| t.get().parse().ok()) } else { row.elapsed_s.and_then(|t| seconds(t.get())) };
        let Some(at) = at else {
            let what = if on_wall { "timestamp_ns" } else { "elapsed_s" };
            builder.note("no_stamp", || format!("a scrape without {what}, which the first has: it is not kept"), place);
            continue;
        };
        let worker = row.worker_id.as_ref().map(word).unwrap_or_default();
        let url = row.endpoint_url.unwrap_or_default();
        let known = names.entry((url.to_string(), worker.clone())).or_insert_with(|| {
            // Two workers behind one URL, as a balancer has them, are two endpoints; a line that names no worker is of the first.
            let first = !seen.iter().any(|(other, named)| *other == url && !named.is_empty());
            seen.push((url.to_string(), worker.clone()));
            match (url.is_empty(), first || worker.is_empty()) {
                (true, _) => worker.clone(),
                (false, true) => url.to_string(),
                (false, false) => format!("{url} worker_id={worker}"),
            }
        });
        let endpoint = builder.endpoint(known);
        builder.fact(endpoint, "url", &url);
        builder.fact(endpoint, "role", &row.role.as_ref().map(word).unwrap_or_default());
        builder.fact(endpoint, "worker_id", &worker);
        if !worker.is_empty() && !url.is_empty() && !workers.get(&worker).is_some_and(|urls| urls.contains(&url)) {
            workers.entry(worker).or_default().insert(url);
        }
        let took = row.duration_ns.and_then(|t| t.get().parse().ok());
        match (row.text, row.error.as_ref().filter(|e| !e.is_null())) {
            (Some(text), None) => {
                let declared = row.content_type.as_deref();
                let format = declared.and_then(Format::of_content_type).unwrap_or_else(|| Format::of_body(text.as_bytes()));
                let body = text.as_bytes();
                bodies.take(&mut builder, Scraped { endpoint, at, took, format, body, file: path, line: Some(number), wall: on_wall });
            }
            (_, Some(error)) => builder.scrape(endpoint, at, took, Outcome::Failed(word(error))),
            (None, None) => builder.scrape(endpoint, at, took, Outcome::Failed("neither text nor error".into())),
        }
    }
    for (worker, urls) in workers.iter().filter(|(_, urls)| urls.len() > 1) {
        let what = || format!("the worker_id {worker} is of {} endpoints: they are told apart by their URL", urls.len());
        builder.note("worker_id_shared", what, || Some(path.display().to_string()));
    }
    Ok(builder.finish())
}

/// A value as text, without quotes.
fn word(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    }
}
