//! What the scraper says of itself in `tachometer.log` or `tachometer.out`: starts, saves, scrapes that failed, its stop.
//!
//! Stamps are whole seconds, UTC. An HTTP error, a line that did not parse and a server that hangs leave no line here.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use crate::model::{Anchor, SECOND};

/// A log, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// The first stamp, in nanoseconds since the epoch: the scraper's clock started less than a second after it.
    pub first: Option<i64>,
    /// Seconds in which a scraper started; more than one if a second life wrote into the same file.
    pub starts: Vec<i64>,
    /// The signal that ended it.
    pub stop: Option<i64>,
    /// It said that it was done.
    pub complete: Option<i64>,
    /// Configured time between saves of `current.arrow`, in nanoseconds.
    pub save_every: Option<i64>,
    /// Saves of files, in the log's order.
    pub saves: Vec<Save>,
    /// Scrapes that failed, by endpoint.
    pub failures: BTreeMap<String, Failures>,
    /// What made it exit, in its words.
    pub fatal: Vec<String>,
    /// Lines that are none of these.
    pub others: u64,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Save {
    pub at: i64,
    pub file: String,
    pub rows: u64,
}

/// Failed scrapes of one endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// The second of each line.
    pub at: Vec<i64>,
    /// The first line's reason.
    pub why: String,
}

/// Longest line that is looked at.
const LINE: u64 = 64 * 1024;
/// So many saves and fatal lines are kept.
const KEPT: usize = 100_000;

/// Whether a text begins as such a log does.
pub fn is_log(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head.get(..4096).unwrap_or(head));
    text.lines().filter_map(line).any(|(_, _, message)| {
        message.starts_with("Starting scraper with")
            || message.starts_with("Using remote storage path")
            || message.starts_with("Saved current.arrow")
    }) || text.starts_with("Error: \"Storage path")
}

/// Reads a log.
///
/// # Errors
/// Those of the reader.
pub fn read(mut from: impl BufRead) -> io::Result<Log> {
    let mut log = Log::default();
    let mut last = None;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if (&mut from).take(LINE).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(log);
        }
        let text = String::from_utf8_lossy(&bytes);
        match line(&text) {
            Some((at, level, message)) => {
                log.first.get_or_insert(at);
                last = Some(at);
                log.take(at, level, message);
            }
            None => log.continued(last, text.trim()),
        }
    }
}

/// Stamp, level and message of `[2026-11-29T18:46:46Z INFO  target] message`.
fn line(text: &str) -> Option<(i64, &str, &str)> {
    let (head, message) = text.strip_prefix('[')?.split_once("] ")?;
    let mut words = head.split_whitespace();
    let stamp = chrono::DateTime::parse_from_rfc3339(words.next()?).ok()?.timestamp_nanos_opt()?;
    Some((stamp, words.next()?, message.trim()))
}

impl Log {
    fn take(&mut self, at: i64, level: &str, message: &str) {
        if let Some(rest) = message.strip_prefix("Error scraping ")
            && let Some((endpoint, why)) = rest.split_once(": ")
        {
            let failures = self.failures.entry(endpoint.to_string()).or_default();
            failures.at.push(at);
            if failures.why.is_empty() {
                failures.why = why.to_string();
            }
        } else if message.starts_with("Starting scraper with") {
            self.starts.push(at);
        } else if let Some(save) = saved(at, message) {
            if self.saves.len() < KEPT {
                self.saves.push(save);
            }
        } else if let Some((_, every)) = message.rsplit_once("Save interval: ") {
            self.save_every = every.strip_suffix('s').and_then(|n| n.parse::<i64>().ok()).and_then(|n| n.checked_mul(SECOND));
        } else if message.starts_with("Shutdown complete") {
            self.complete = Some(at);
        } else if message.starts_with("Shutting down writer") || stopped(message) {
            self.stop.get_or_insert(at);
        } else if level == "ERROR" && self.fatal.len() < KEPT {
            self.fatal.push(message.to_string());
        } else {
            self.others += 1;
        }
    }

    /// A line without stamp: the signal stands on one, below the stamp of the line before; what made it exit has none at all.
    fn continued(&mut self, last: Option<i64>, text: &str) {
        if stopped(text) {
            self.stop = self.stop.or(last);
        } else if text.starts_with("Error: ") && self.fatal.len() < KEPT {
            self.fatal.push(text.to_string());
        } else if !text.is_empty() {
            self.others += 1;
        }
    }

    /// Where zero of the scraper's elapsed clock lies by this log alone.
    pub fn anchor(&self) -> Option<Anchor> {
        let low = self.first?;
        Some(Anchor { low, high: low.checked_add(SECOND)?, how: "the scraper's first log line, whole seconds".into(), holds: None })
    }

    /// Failed scrapes as intervals of the capture's clock: `anchor` is where its zero lies; none for a wall clock.
    pub fn failures_on(&self, anchor: Option<&Anchor>) -> Vec<crate::coverage::Failure> {
        let mut out = Vec::new();
        for (endpoint, failures) in &self.failures {
            for &at in &failures.at {
                let (low, high) = on(at, anchor);
                out.push(crate::coverage::Failure { endpoint: endpoint.clone(), low, high });
            }
        }
        out
    }

    /// When it was stopped, on the capture's clock.
    pub fn stop_on(&self, anchor: Option<&Anchor>) -> Option<(i64, i64)> {
        self.stop.map(|at| on(at, anchor))
    }
}

fn on(second: i64, anchor: Option<&Anchor>) -> (i64, i64) {
    let (low, high) = anchor.map_or((0, 0), |a| (a.low, a.high));
    (second.saturating_sub(high), second.saturating_add(SECOND).saturating_sub(low))
}

fn stopped(text: &str) -> bool {
    text.starts_with("Received ") && text.contains("shutting down")
}

/// `Saved current.arrow with 2012 rows`, `Saved parquet file out-1.parquet with …`, `Flushed current.arrow with … on shutdown`.
fn saved(at: i64, message: &str) -> Option<Save> {
    let rest = message.strip_prefix("Saved ").or_else(|| message.strip_prefix("Flushed "))?;
    let (file, rest) = rest.strip_prefix("parquet file ").unwrap_or(rest).split_once(" with ")?;
    let rows = rest.split_once(" rows")?.0.parse().ok()?;
    Some(Save { at, file: file.to_string(), rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
[2026-11-29T18:46:46Z INFO  tachometer_scraper] Using remote storage path: scrape
[2026-11-29T18:46:46Z INFO  tachometer_scraper] Rows per parquet: 1000000, Save interval: 5s
[2026-11-29T18:46:46Z INFO  tachometer_scraper] Starting scraper with 2 endpoint(s)
[2026-11-29T18:46:47Z ERROR tachometer_scraper] Error scraping w: Failed to fetch URL http://127.0.0.1:1/metrics: refused
[2026-11-29T18:46:51Z INFO  tachometer_writer::writer] Saved current.arrow with 12 rows
[2026-11-29T18:46:53Z INFO  tachometer_scraper] 
    Received SIGTERM, shutting down gracefully...
[2026-11-29T18:46:54Z INFO  tachometer_scraper] Shutting down writer...
[2026-11-29T18:46:54Z INFO  tachometer_writer::writer] Flushed current.arrow with 20 rows on shutdown
[2026-11-29T18:46:55Z INFO  tachometer_scraper] Shutdown complete.
";

    #[test]
    fn a_log_says_when_it_started_saved_failed_and_stopped() {
        assert!(is_log(TEXT.as_bytes()));
        assert!(!is_log(b"[2026-11-29T18:46:46Z INFO  router] hello"));
        let log = read(TEXT.as_bytes()).unwrap();
        let first = 1_795_978_006 * SECOND;
        assert_eq!(log.first, Some(first));
        assert_eq!((log.stop, log.complete), (Some(first + 7 * SECOND), Some(first + 9 * SECOND)));
        assert_eq!(log.save_every, Some(5 * SECOND));
        assert_eq!(log.saves.iter().map(|s| s.rows).collect::<Vec<_>>(), [12, 20]);
        assert_eq!(log.failures["w"].at, [first + SECOND]);
        let anchor = log.anchor().unwrap();
        let failure = &log.failures_on(Some(&anchor))[0];
        assert_eq!((failure.low, failure.high), (0, 2 * SECOND), "a second each of the line and of the anchor");
    }

    #[test]
    fn what_made_it_exit_is_kept() {
        let text = "Error: \"Storage path '/r/tachometer' is an existing directory. Please specify a nested path\"\n";
        assert!(is_log(text.as_bytes()));
        assert_eq!(read(text.as_bytes()).unwrap().fatal.len(), 1);
    }
}
