//! What endpoints expose now, and why an expected metric is not there.

mod expect;
mod known;
mod kv;
mod seen;
mod spelling;
mod text;

use std::io::{self, Write};
use std::sync::Arc;

use tokio::task::JoinSet;

pub use expect::{Expected, Found, Missing, Reason, Verdict};
pub(crate) use expect::{FIRST_USE, judge};
pub use kv::Kv;
pub(crate) use seen::endpoint;
pub use seen::{Endpoint, Exporter, Exposes, Family, Said};

use crate::clock::Clock;
use crate::exposed;
use crate::http::Client;
use crate::target::Target;

/// Name and version of the JSON that [`Report::write_json`] writes.
pub const SCHEMA: &str = "corr.probe.v1";

/// All endpoints, asked once at the same time.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Report {
    pub schema: &'static str,
    /// In the order of the targets.
    pub endpoints: Vec<Endpoint>,
    /// In the order of the names.
    pub expected: Vec<Expected>,
}

/// What a report comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every expected metric is there; without any, every endpoint exposes metrics.
    Holds,
    /// An expected metric is not there though its endpoints answer; without any, no endpoint exposes metrics.
    Fails,
    /// It holds, but an endpoint that answers exposes no metrics.
    Partly,
    /// An expected metric is not there yet, and need not be before its first use.
    CannotKnow,
    /// An endpoint could not be read.
    Unreachable,
}

/// Asks every target once, and looks for the expected names.
pub async fn run(targets: &[Target], client: &Client, clock: Clock, expected: &[String]) -> Report {
    let mut tasks = JoinSet::new();
    for (place, target) in targets.iter().enumerate() {
        let (client, target) = (client.clone(), Arc::new(target.clone()));
        tasks.spawn(async move {
            let mut attempt = client.get(&target, &clock).await;
            let body = std::mem::replace(&mut attempt.body, Ok(Vec::new()));
            let content_type = attempt.content_type.as_deref();
            let read =
                body.and_then(|bytes| exposed::judge(content_type, &bytes).map(|()| exposed::read(content_type, &bytes, attempt.at)));
            (place, seen::endpoint(&target, &attempt, read))
        });
    }
    let mut endpoints = Vec::new();
    while let Some(done) = tasks.join_next().await {
        // A task ends early only with the runtime.
        endpoints.extend(done);
    }
    endpoints.sort_by_key(|(place, _)| *place);
    let endpoints: Vec<Endpoint> = endpoints.into_iter().map(|(_, endpoint)| endpoint).collect();
    let expected = expected.iter().map(|name| expect::judge(name, &endpoints)).collect();
    Report { schema: SCHEMA, endpoints, expected }
}

impl Report {
    /// What the report comes to.
    pub fn outcome(&self) -> Outcome {
        let of = |verdict| self.expected.iter().any(|e| e.verdict == verdict);
        let without = self.endpoints.iter().filter(|e| e.exposes.is_none()).count();
        if self.endpoints.iter().any(|e| e.failure.as_ref().is_some_and(|f| !f.answered)) {
            Outcome::Unreachable
        } else if of(Verdict::CannotKnow) {
            Outcome::CannotKnow
        } else if of(Verdict::Absent) || without == self.endpoints.len() {
            Outcome::Fails
        } else if without > 0 {
            Outcome::Partly
        } else {
            Outcome::Holds
        }
    }

    /// For people; `families` lists every family.
    pub fn write_text(&self, families: bool, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, families, out)
    }

    /// One object.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}
