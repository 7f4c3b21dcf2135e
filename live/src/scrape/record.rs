//! One scrape as it is written: the keys of srt-slurm's `raw_prometheus.jsonl`, and what corr knows beside them.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::{Clock, nanos};
use crate::exposed;
use crate::failure::Failure;
use crate::http::Attempt;
use crate::target::Target;

/// Which slot of the grid a scrape fills.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    pub slot: Option<u64>,
    /// Slots that passed before it, unscraped.
    pub missed: u64,
    /// `before` or `after`.
    pub phase: Option<&'static str>,
    /// Starts later than this are called late.
    pub tolerance: Duration,
}

/// One scrape.
#[derive(Clone, Debug)]
pub struct Record {
    /// Place of the endpoint among the targets.
    pub endpoint: usize,
    pub target: Arc<Target>,
    pub at: i64,
    pub elapsed: Duration,
    pub took: Duration,
    pub head_after: Option<Duration>,
    pub slot: Slot,
    /// From the slot until the request began.
    pub late: Duration,
    pub status: Option<u16>,
    pub content_type: Option<String>,
    pub bytes: u64,
    pub body: Result<String, Failure>,
}

/// The keys in the order in which they are written; the body comes last, so that a line that was cut still says what it was.
#[derive(serde::Serialize)]
struct Line<'a> {
    timestamp_ns: i64,
    elapsed_s: f64,
    endpoint_url: &'a str,
    role: Option<&'a str>,
    worker_id: Option<&'a str>,
    content_type: Option<&'a str>,
    status: Option<u16>,
    duration_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_byte_after_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<u64>,
    late_ns: u64,
    #[serde(skip_serializing_if = "is_zero")]
    missed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Record {
    /// Judges what came of a request.
    pub fn new(endpoint: usize, target: Arc<Target>, clock: &Clock, slot: Slot, due: Instant, attempt: Attempt) -> Record {
        let body = attempt.body.and_then(|bytes| {
            exposed::judge(attempt.content_type.as_deref(), &bytes)?;
            String::from_utf8(bytes).map_err(|e| Failure::NotUtf8 { at: e.utf8_error().valid_up_to() as u64 })
        });
        Record {
            endpoint,
            target,
            at: attempt.at,
            elapsed: clock.elapsed(attempt.began),
            took: attempt.took,
            head_after: attempt.head_after,
            slot,
            late: attempt.began.saturating_duration_since(due),
            status: attempt.status,
            content_type: attempt.content_type,
            bytes: attempt.bytes,
            body,
        }
    }

    /// Whether it began so late after its slot that it must be said.
    pub fn is_late(&self) -> bool {
        self.slot.slot.is_some() && self.late > self.slot.tolerance
    }

    /// As a line with its end. `file` stands for the text where that is a file of its own.
    pub fn line(&self, file: Option<&str>) -> serde_json::Result<Vec<u8>> {
        let failure = self.body.as_ref().err();
        let line = Line {
            timestamp_ns: self.at,
            elapsed_s: self.elapsed.as_micros() as f64 / 1e6,
            endpoint_url: self.target.shown(),
            role: self.target.role.as_deref(),
            worker_id: self.target.worker.as_deref(),
            content_type: self.content_type.as_deref(),
            status: self.status,
            duration_ns: nanos(self.took),
            first_byte_after_ns: self.head_after.map(nanos),
            slot: self.slot.slot,
            late_ns: nanos(self.late),
            missed: self.slot.missed,
            phase: self.slot.phase,
            bytes: self.bytes,
            file,
            error: failure.map(ToString::to_string),
            error_kind: failure.map(Failure::kind),
            text: self.body.as_deref().ok().filter(|_| file.is_none()),
        };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
