//! Which events of logs does which counter count? Each pair was seen to hold in captures of real runs; where log and counter do not belong
//! together the share of samples that hold says so.

use super::agree::Bound;
use super::events::{Fit, NoFit, fit};
use super::reads::{Reads, Timing};
use super::tally::tally;
use crate::model::{Capture, EndpointId};

/// Events and the counter of the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Kind of the event, as the parsers name it.
    pub kind: &'static str,
    /// Fields that the event must have, with these values.
    pub fields: &'static [(&'static str, &'static str)],
    /// The counter, by canonical name: it may be spelled in several ways, of which the first that is there counts.
    pub names: &'static [&'static str],
    /// Labels that its series must have.
    pub labels: &'static [(&'static str, &'static str)],
    /// Whose log counts: each worker's events stand against its own endpoint.
    pub side: Side,
}

/// Who writes the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Frontend,
    Worker,
}

/// Dynamo 1.2 to 1.6 (`request_received`, `worker_selected`: 1.5 and later): the frontend's and router's lines first, since they are of all
/// workers. Streamed and unary requests are counted apart. `route_completed` is not here: it does not count what
/// `dynamo_component_router_requests_total` does once requests are cancelled or tried again.
pub const PAIRS: &[Pair] = &[
    frontend("request_completed", &[("request_type", "stream"), ("status", "success")], &["dynamo_frontend_requests_total"]),
    frontend("request_completed", &[("request_type", "unary"), ("status", "success")], &["dynamo_frontend_requests_total"]),
    frontend("request_received", &[("request_type", "stream")], &["dynamo_frontend_requests_started_total"]),
    frontend("request_received", &[("request_type", "unary")], &["dynamo_frontend_requests_started_total"]),
    frontend("worker_selected", &[], &["dynamo_component_router_requests_started_total"]),
    Pair {
        kind: "worker_request_completed",
        fields: &[("endpoint", "generate")],
        // Tachometer keeps no ending of a histogram's names, and only its buckets
        names: &["dynamo_component_request_duration_seconds", "dynamo_component_request_duration_seconds_bucket"],
        labels: &[("dynamo_endpoint", "generate"), ("le", "+Inf")],
        side: Side::Worker,
    },
    Pair {
        kind: "worker_request_received",
        fields: &[("endpoint", "generate")],
        names: &["dynamo_component_requests_total"],
        labels: &[("dynamo_endpoint", "generate")],
        side: Side::Worker,
    },
];

/// The frontend's fields and labels have the same names.
const fn frontend(kind: &'static str, fields: &'static [(&'static str, &'static str)], names: &'static [&'static str]) -> Pair {
    Pair { kind, fields, names, labels: fields, side: Side::Frontend }
}

impl Pair {
    /// If the events of this pair, with these stamps, are those that an endpoint counted: where the capture's clock began.
    pub fn fit(
        &self,
        events: &[(i64, i64)],
        capture: &Capture,
        endpoint: EndpointId,
        timing: &Timing,
        about: Option<Bound>,
    ) -> Result<Fit, NoFit> {
        let counts = self.names.iter().map(|name| tally(capture, endpoint, name, self.labels, timing)).find(|c| !c.is_empty());
        let mut found = fit(events, &counts.unwrap_or_default(), about)?;
        let said = Reads::of(capture, endpoint, timing).said;
        found.anchor.how = format!("{} ({} against {}); {said}", found.anchor.how, self.events(), self.counter());
        Ok(found)
    }

    /// `request_completed{status=success}`.
    pub fn events(&self) -> String {
        spelled(self.kind, self.fields)
    }

    /// `dynamo_frontend_requests_total{status=success}`.
    pub fn counter(&self) -> String {
        spelled(self.names.first().copied().unwrap_or_default(), self.labels)
    }
}

fn spelled(name: &str, pairs: &[(&str, &str)]) -> String {
    let inside: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}={v}")).collect();
    if inside.is_empty() { name.to_string() } else { format!("{name}{{{}}}", inside.join(",")) }
}
