//! One file or folder a layout in which captures are kept. Adding one is a file here and a line in [`LAYOUTS`].
//!
//! A layout looks at what the files of a run begin with and claims those that are its own, together where they make one capture (the parts of
//! a Tachometer folder, a table of series and its samples); then it reads what it claimed.

mod aiperf_parquet;
mod batches;
mod body;
mod candidate;
#[cfg(test)]
mod exports_truth;
mod grafana;
mod guard;
mod influx;
pub mod ipc;
mod labels;
mod lines;
mod metrics_jsonl;
mod numbers;
mod otap;
#[cfg(test)]
mod parquet_cases;
mod parquet_common;
#[cfg(test)]
mod parquet_small;
mod prom2parquet;
mod prometheus_api;
mod promtool;
mod quoted;
mod raw_prometheus;
mod runs;
mod scrape_files;
mod scrape_index;
#[cfg(test)]
mod scrape_tests;
mod scrapes;
mod series_samples;
mod shape;
mod stamp;
mod table;
pub mod tachometer;
mod text;
mod texts;
mod victoriametrics;

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

pub use candidate::{Bytes, Candidate, Head, look, open, open_at_most};

use crate::model::Capture;

/// A way in which captures are kept.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Stable name, `kebab-case`.
    pub name: &'static str,
    /// Who writes it, in one line.
    pub about: &'static str,
    /// The sets of candidates that are of this layout. Candidates that an earlier layout claimed are not among them.
    pub claim: fn(&[Candidate]) -> Vec<Set>,
    /// Reads a set. More than one capture if it holds more than one clock.
    pub read: fn(&Set) -> Result<Vec<Capture>, ReadError>,
}

/// All layouts; the first that claims a file has it, so what is sure of itself stands first.
pub const LAYOUTS: &[Layout] = &[
    raw_prometheus::LAYOUT,
    metrics_jsonl::AIPERF,
    metrics_jsonl::SRT_SCHEMA2,
    scrape_index::LAYOUT,
    scrape_files::LAYOUT,
    tachometer::TACHOMETER,
    prometheus_api::LAYOUT,
    victoriametrics::LAYOUT,
    promtool::DUMP,
    promtool::BLOCKS,
    influx::LAYOUT,
    grafana::LAYOUT,
    aiperf_parquet::AIPERF_PARQUET,
    parquet_common::PARQUET_COMMON,
    otap::OTAP,
    prom2parquet::PROM2PARQUET,
    series_samples::SERIES_SAMPLES,
    table::TABLE,
];

/// Files that are one capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    /// What is read, in the order in which it is read. Keys and paths as in the candidates.
    pub files: Vec<Part>,
    /// Files of the capture that hold nothing that the others do not, with the reason.
    pub beside: Vec<(Part, String)>,
    /// How the layout was told, for output: `columns scraper_endpoint, metric_name, metric_value (Float32): Tachometer without wall clock`.
    pub because: String,
    /// Layouts that also could be, with what told them apart or that nothing does: a set with a tie is not read.
    pub ties: Vec<String>,
}

/// A file of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub path: PathBuf,
    /// Path below the run's root.
    pub key: String,
}

/// Why a set could not be read at all. What was read before damage is a capture with a note instead.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{path}: {error}")]
    Io { path: String, error: io::Error },
    /// The file is not what it looked like, or damaged before its first sample.
    #[error("{path}: {why}")]
    Damaged { path: String, why: String },
    /// The layout is known, and this is why corr does not read it, with the next step.
    #[error("{path}: {why}; {next}")]
    Declined { path: String, why: String, next: String },
}

/// What is made of some candidates: sets to read, and places of candidates that no layout claims.
#[derive(Debug, Default)]
pub struct Claims {
    pub sets: Vec<(&'static str, Set)>,
    pub unclaimed: Vec<usize>,
}

/// Shares candidates out among the layouts.
pub fn claim(candidates: &[Candidate]) -> Claims {
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    let mut claims = Claims::default();
    for layout in LAYOUTS {
        let open: Vec<Candidate> = left.iter().filter_map(|&i| candidates.get(i)).cloned().collect();
        let sets = (layout.claim)(&open);
        let taken: HashSet<&PathBuf> =
            sets.iter().flat_map(|set| set.files.iter().chain(set.beside.iter().map(|(part, _)| part))).map(|part| &part.path).collect();
        left.retain(|&i| candidates.get(i).is_some_and(|c| !taken.contains(&c.path)));
        claims.sets.extend(sets.into_iter().map(|set| (layout.name, set)));
    }
    claims.unclaimed = left;
    claims
}

/// A file's name without the ending of a packer.
pub fn unpacked(name: &str) -> &str {
    [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The layout of a name.
pub fn by_name(name: &str) -> Option<&'static Layout> {
    LAYOUTS.iter().find(|l| l.name == name)
}
