//! What `corr sources` says of a run, before it is written in one format or another.

mod explain;
mod json;
mod table;
mod text;

pub use explain::{Explained, explain};
pub use json::{write_json, write_jsonl};
pub use table::{write_csv, write_markdown};
pub use text::write_text;

use std::collections::{BTreeMap, BTreeSet};

use corr_parsers::clock::How;
use corr_parsers::stamp::Stamp;

use crate::query::sources::Asked;
use crate::run::Run;
use crate::run::coverage::Coverage;
use crate::run::layout::RunLayout;
use crate::run::missing::{self, Missing};
use crate::run::source::{Class, NotRead, Source};
use crate::store::captures::Kept;
use crate::store::manifest::rule_name;

/// Metrics files of one folder and layout.
pub struct Metrics {
    /// The folder, or the only file.
    pub key: String,
    pub layout: String,
    pub files: usize,
    /// How many of them are in the index.
    pub indexed: usize,
}

/// A run, read whole.
pub struct Report<'r> {
    pub run: &'r Run,
    pub layout: RunLayout,
    /// Event sources with what they hold, by key.
    pub events: Vec<(&'r Source, Coverage)>,
    /// Files not read, and event sources that the system would not read.
    pub not_read: Vec<NotRead>,
    pub missing: Vec<Missing>,
    /// Keys of metrics files whose captures are in the index.
    pub indexed: BTreeSet<String>,
    /// Things to know that are no failure.
    pub notes: Vec<String>,
}

impl<'r> Report<'r> {
    /// Puts a run, what was read of it and what its index keeps together; `read` is parallel to the run's sources.
    pub fn new(run: &'r Run, read: Vec<Option<std::io::Result<Coverage>>>, kept: Kept) -> Report<'r> {
        let mut not_read = run.not_read.clone();
        let mut covered: Vec<Option<Coverage>> = Vec::new();
        for (source, read) in run.sources.iter().zip(read) {
            covered.push(match read {
                None => None,
                Some(Ok(coverage)) => Some(coverage),
                Some(Err(error)) => {
                    not_read.push(crate::run::discover::unreadable(source.name.clone(), &error));
                    None
                }
            });
        }
        let borrowed: Vec<Option<&Coverage>> = covered.iter().map(Option::as_ref).collect();
        let missing = missing::of(run, &borrowed);
        let keys: Vec<&str> = run.sources.iter().map(|s| s.key.as_str()).collect();
        let idle = run.declared.unmatched(&keys);
        let mut notes: Vec<String> = idle.iter().map(|p| format!("corr.toml: [source.\"{p}\"] matches no file of the run")).collect();
        for format in run.declared.formats() {
            if !run.sources.iter().any(|s| s.detection.formats.iter().any(|score| score.name == format.name)) {
                notes.push(format!("the declared format `{}` has no record at the head of any source", format.name));
            }
        }
        let indexed = kept.indexed(run);
        notes.extend(kept.notes);
        let events = run.sources.iter().zip(covered).filter_map(|(source, coverage)| Some((source, coverage?))).collect();
        Report { run, layout: RunLayout::read(&run.sources), events, not_read, missing, indexed, notes }
    }

    /// From the earliest to the latest stamp of all event sources.
    pub fn window(&self) -> Option<Stamp> {
        let start = self.events.iter().filter_map(|(_, c)| c.first).map(|s| s.start).min()?;
        let end = self.events.iter().filter_map(|(_, c)| c.last).map(|s| s.end).max()?;
        Some(Stamp { start, end })
    }

    /// Something in the run is of use: a record that was understood, or metrics.
    pub fn usable(&self) -> bool {
        self.events.iter().any(|(_, c)| c.parsed.records > 0) || self.run.sources.iter().any(|s| matches!(s.class, Class::Metrics(_)))
    }

    /// A part of the input could not be read, or breaks off.
    pub fn partial(&self) -> bool {
        self.not_read.iter().any(|n| n.failure) || self.events.iter().any(|(_, c)| c.damage.is_some())
    }

    /// Files of one class that hold no events, by what they are called in output.
    pub fn others(&self) -> Vec<(&'r Source, &'static str, String)> {
        let mut out = Vec::new();
        for source in &self.run.sources {
            match &source.class {
                Class::Events => {}
                Class::Metrics(layout) => out.push((source, "metrics", layout.clone())),
                Class::Config(what) => out.push((source, "config", what.clone())),
                Class::Empty => out.push((source, "empty", String::new())),
                Class::Duplicate(of) => out.push((source, "duplicate", of.clone())),
            }
        }
        out
    }

    /// Metrics files by folder and layout: a folder of scrapes is one line.
    pub fn metrics(&self) -> Vec<Metrics> {
        let mut groups: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
        for source in &self.run.sources {
            if let Class::Metrics(layout) = &source.class {
                let folder = source.key.rsplit_once('/').map_or("", |(folder, _)| folder);
                groups.entry((folder.to_string(), layout.clone())).or_default().push(&source.key);
            }
        }
        let one = |((folder, layout), keys): ((String, String), Vec<&str>)| {
            let key = match keys[..] {
                [only] => only.to_string(),
                _ if folder.is_empty() => "./".to_string(),
                _ => format!("{folder}/"),
            };
            let indexed = keys.iter().filter(|key| self.indexed.contains(**key)).count();
            Metrics { key, layout, files: keys.len(), indexed }
        };
        groups.into_iter().map(one).collect()
    }
}

/// The format of a source and its envelope: `journald-json + sglang`.
fn format_of(source: &Source) -> String {
    let format = source.format();
    match source.detection.layout.wrapped_in() {
        Some(envelopes) => format!("{envelopes} + {format}"),
        None => format.to_string(),
    }
}

/// Share of the sampled records that the commonest format explains.
fn score_of(source: &Source) -> Option<f64> {
    source.detection.formats.first().map(|s| s.share)
}

/// A duration for people, from ns.
fn duration(ns: i64) -> String {
    let seconds = ns as f64 / 1e9;
    match seconds {
        s if s < 0.0 => format!("-{}", duration(ns.saturating_neg())),
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} d", s / 86_400.0),
    }
}

/// What a source's clock is, who says so, and how well it holds.
pub fn clock(source: &Asked) -> String {
    let clock = &source.clock;
    let text = match clock.how {
        How::Zoned => format!("zoned: {}", clock.evidence),
        How::Assumed => format!("{} ASSUMED: {}", rule_name(clock.rule), clock.evidence),
        _ => format!("{}: {}", rule_name(clock.rule), clock.evidence),
    };
    match clock.residual {
        Some((low, high)) => format!("{text}; residual {:.3} to {:.3} s", low as f64 / 1e9, high as f64 / 1e9),
        None => text,
    }
}

/// A stamp's width for people, from ns.
pub fn resolution(ns: i64) -> String {
    match ns {
        n if n >= 1_000_000_000 => format!("{} s", n / 1_000_000_000),
        n if n >= 1_000_000 => format!("{} ms", n / 1_000_000),
        n if n >= 1_000 => format!("{} µs", n / 1_000),
        n => format!("{n} ns"),
    }
}
