//! Readers of scrapes as they were served, and of those that were parsed into JSON lines.

mod any_bytes;
mod composed;
mod real;

use std::fs;
use std::path::Path;

use super::*;
use crate::model::{Outcome, SeriesId};

/// All files below a folder.
fn walk(root: &Path, below: &str, out: &mut Vec<Candidate>) {
    let mut entries: Vec<_> = fs::read_dir(root.join(below)).unwrap().flatten().collect();
    entries.sort_by_key(|e| e.file_name());
    for entry in entries {
        let name = entry.file_name().into_string().unwrap();
        let key = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            walk(root, &key, out);
        } else {
            out.push(look(&root.join(&key), &key));
        }
    }
}

fn claims(root: &Path) -> Vec<(&'static str, Set)> {
    let mut candidates = Vec::new();
    walk(root, "", &mut candidates);
    claim(&candidates).sets
}

/// The captures of the sets of one layout below a folder.
fn captures(root: &Path, layout: &str) -> Vec<(Set, Vec<Capture>)> {
    let sets = claims(root).into_iter().filter(|(name, _)| *name == layout);
    sets.map(|(name, set)| (set.clone(), (by_name(name).unwrap().read)(&set).unwrap())).collect()
}

/// The one capture of a file or folder, whatever layout claims it.
fn only(root: &Path) -> Capture {
    let mut sets = claims(root);
    assert_eq!(sets.len(), 1, "{sets:?}");
    let (name, set) = sets.pop().unwrap();
    let mut captures = (by_name(name).unwrap().read)(&set).unwrap();
    assert_eq!(captures.len(), 1);
    captures.pop().unwrap()
}

/// A capture of one file, as the layout reads it that claims it.
fn read_one(path: &Path) -> Capture {
    let candidate = look(path, path.file_name().unwrap().to_str().unwrap());
    let claims = claim(&[candidate]);
    let (name, set) = claims.sets.first().unwrap();
    (by_name(name).unwrap().read)(set).unwrap().pop().unwrap()
}

fn count(capture: &Capture) -> u64 {
    (0..capture.series.len()).map(|i| capture.samples.len(i as u32)).sum()
}

/// Samples of the series of this spelling.
fn samples(capture: &Capture, spelled: &str) -> Vec<(i64, f64)> {
    let ids = (0..capture.series.len() as u32).map(SeriesId).filter(|id| capture.spelled(*id) == spelled);
    ids.flat_map(|id| capture.samples(id)).map(|s| (s.at, s.value)).collect()
}

fn note<'a>(capture: &'a Capture, code: &str) -> Option<(u64, &'a str)> {
    capture.notes.iter().find(|n| n.code == code).map(|n| (n.count, n.first.as_deref().unwrap_or_default()))
}

fn failed(capture: &Capture) -> Vec<(i64, &str, &str)> {
    let mut failed = Vec::new();
    for endpoint in &capture.endpoints {
        for scrape in &endpoint.scrapes {
            if let Outcome::Failed(why) = &scrape.outcome {
                failed.push((scrape.at, endpoint.name.as_str(), why.as_str()));
            }
        }
    }
    failed
}

/// A folder with files of these contents.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn row(ns: i64, url: &str, rest: serde_json::Value) -> String {
    let mut row = serde_json::json!({"timestamp_ns": ns, "endpoint_url": url, "role": "decode", "worker_id": "node1"});
    row.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    row.to_string()
}
