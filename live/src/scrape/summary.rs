//! What a run of scrapes came to.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::child::Ended;
use super::record::Record;
use crate::target::Target;

/// Sums over scrapes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    pub scrapes: u64,
    /// By [`crate::Failure::kind`].
    pub failures: BTreeMap<&'static str, u64>,
    /// Began later than a tenth of the interval after their slot.
    pub late: u64,
    /// The latest of them.
    pub latest: Duration,
    /// Slots without a scrape, because the one before still ran.
    pub missed: u64,
    /// Of bodies.
    pub bytes: u64,
    pub slowest: Duration,
}

impl Totals {
    /// All failures.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    fn count(&mut self, record: &Record) {
        self.scrapes += 1;
        if let Err(failure) = &record.body {
            *self.failures.entry(failure.kind()).or_default() += 1;
        }
        if record.is_late() {
            self.late += 1;
            self.latest = self.latest.max(record.late);
        }
        self.missed += record.slot.missed;
        self.bytes += record.bytes;
        self.slowest = self.slowest.max(record.took);
    }
}

/// Sums of a run, and of each endpoint.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The file of lines.
    pub path: PathBuf,
    /// A line that an earlier run left without its end was ended.
    pub mended: bool,
    /// Written to disk.
    pub written: u64,
    /// How the command ended, if there was one and the run did not end before it.
    pub command: Option<Ended>,
    /// By place of the target.
    pub endpoints: Vec<(String, Totals)>,
    totals: Totals,
}

impl Summary {
    pub(super) fn new(targets: &[Target], path: &Path, mended: bool) -> Summary {
        let endpoints = targets.iter().map(|t| (t.shown().to_string(), Totals::default())).collect();
        Summary { path: path.to_path_buf(), mended, written: 0, command: None, endpoints, totals: Totals::default() }
    }

    pub(super) fn count(&mut self, record: &Record, written: u64) {
        self.written += written;
        self.totals.count(record);
        if let Some((_, totals)) = self.endpoints.get_mut(record.endpoint) {
            totals.count(record);
        }
    }

    /// Of all endpoints.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// For people.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.mended {
            writeln!(out, "{}: its last line had no end; it got one, and stays damaged", self.path.display())?;
        }
        for (shown, totals) in &self.endpoints {
            writeln!(out, "{shown}: {}", said(totals))?;
        }
        if self.endpoints.len() > 1 {
            writeln!(out, "all: {}", said(&self.totals))?;
        }
        if let Some(ended) = self.command {
            writeln!(out, "command: {ended}")?;
        }
        writeln!(out, "{}: {} bytes written", self.path.display(), self.written)
    }
}

fn said(totals: &Totals) -> String {
    let mut parts = vec![format!("{} scrapes", totals.scrapes), format!("{} failed", totals.failed())];
    if !totals.failures.is_empty() {
        let kinds: Vec<String> = totals.failures.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        if let Some(last) = parts.last_mut() {
            *last = format!("{last} ({})", kinds.join(", "));
        }
    }
    match totals.late {
        0 => parts.push("0 late".into()),
        n => parts.push(format!("{n} late (by {:.3} s at most)", totals.latest.as_secs_f64())),
    }
    if totals.missed > 0 {
        parts.push(format!("{} slots missed", totals.missed));
    }
    parts.push(format!("{} bytes", totals.bytes));
    parts.push(format!("slowest {:.3} s", totals.slowest.as_secs_f64()));
    parts.join(", ")
}
