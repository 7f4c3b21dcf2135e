//! The reader on files written here, and on real captures with what must be concluded of them.

mod composed;
mod coverage;
mod layouts;
mod real;

use std::path::Path;

use crate::layouts::{Candidate, Set, claim, look};
use crate::model::{Capture, SECOND, Sample, SeriesId};

/// All files below a folder, looked into.
fn candidates(root: &Path) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let key = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
                found.push(look(&path, &key));
            }
        }
    }
    found.sort_by(|a, b| a.key.cmp(&b.key));
    found
}

/// The Tachometer sets of a folder.
fn sets(root: &Path) -> Vec<Set> {
    claim(&candidates(root)).sets.into_iter().filter(|(name, _)| *name == "tachometer").map(|(_, set)| set).collect()
}

/// The set that is read from a file, read.
fn captures(root: &Path, key: &str) -> Vec<Capture> {
    let set = sets(root).into_iter().find(|s| s.files.iter().any(|f| f.key == key)).unwrap_or_else(|| panic!("no set reads {key}"));
    super::read(&set).unwrap()
}

fn capture(root: &Path, key: &str) -> Capture {
    let mut captures = captures(root, key);
    assert_eq!(captures.len(), 1, "{key}");
    captures.remove(0)
}

/// The series of an endpoint with a canonical name and at least these labels.
fn find(capture: &Capture, endpoint: &str, name: &str, labels: &[(&str, &str)]) -> Vec<SeriesId> {
    let matches = |i: &usize| {
        let series = &capture.series[*i];
        capture.endpoint(series.endpoint).unwrap().name == endpoint
            && series.name.canonical() == name
            && labels.iter().all(|(k, v)| series.labels.get(k) == Some(v))
    };
    (0..capture.series.len()).filter(matches).map(|i| SeriesId(i as u32)).collect()
}

fn one(capture: &Capture, endpoint: &str, name: &str, labels: &[(&str, &str)]) -> SeriesId {
    let found = find(capture, endpoint, name, labels);
    assert_eq!(found.len(), 1, "{endpoint} {name} {labels:?}");
    found[0]
}

fn values(capture: &Capture, id: SeriesId) -> Vec<f64> {
    capture.samples(id).iter().map(|s| s.value).collect()
}

/// How many different values there are.
fn distinct(samples: &[Sample]) -> usize {
    samples.iter().map(|s| s.value.to_bits()).collect::<std::collections::HashSet<_>>().len()
}

fn seconds(at: i64) -> f64 {
    at as f64 / SECOND as f64
}

/// Ends of a series: first and last value.
fn ends(capture: &Capture, id: SeriesId) -> (f64, f64) {
    let samples = capture.samples(id);
    (samples.first().unwrap().value, samples.last().unwrap().value)
}

fn note<'a>(capture: &'a Capture, code: &str) -> Option<&'a crate::model::Note> {
    capture.notes.iter().find(|n| n.code == code)
}

fn total(capture: &Capture) -> u64 {
    (0..capture.series.len()).map(|i| capture.samples.len(i as u32)).sum()
}
