//! Files that Dynamo's frontend writes beside its log: request trace, agent trace, audit. See README.md beside this file.
//!
//! A line is a record, or `{"timestamp":MS,"event":RECORD}` where `timestamp` counts milliseconds since the sink started.

mod audit;
mod body;
pub(crate) mod headers;
pub mod kinds;
mod request;
pub(crate) mod row;
mod samples;
#[cfg(test)]
mod tests;

use crate::event::{Event, Outcome, Secret};
use crate::format::{Format, all_bodies, never_cut};
use crate::json::{self, End};
use row::Span;

/// Request trace, 1.3 and later.
pub static REQUEST_TRACE: Format = Format {
    name: "dynamo-request-trace",
    about: "rows of Dynamo's request trace (dynamo.request.trace.v1)",
    shape: "`{\"timestamp\":…,\"event\":{\"schema\":\"dynamo.request.trace.v1\"` or the record bare",
    head: |line| request::head(line, b"\"dynamo.request.trace.v1\""),
    cut: never_cut,
    bodies_read: all_bodies,
    parse: request::parse,
    kinds: kinds::TRACE,
    samples: samples::REQUEST_TRACE,
};

/// Agent trace, 1.2.
pub static AGENT_TRACE: Format = Format {
    name: "dynamo-agent-trace",
    about: "rows of Dynamo 1.2's agent trace (dynamo.agent.trace.v1)",
    shape: "`{\"timestamp\":…,\"event\":{\"schema\":\"dynamo.agent.trace.v1\"` or the record bare",
    head: |line| request::head(line, b"\"dynamo.agent.trace.v1\""),
    cut: never_cut,
    bodies_read: all_bodies,
    parse: request::parse,
    kinds: kinds::TRACE,
    samples: samples::AGENT_TRACE,
};

/// Audit v1, 0.6 to 1.3.
pub static AUDIT: Format = Format {
    name: "dynamo-audit",
    about: "Dynamo's audit records, version 1",
    shape: "`{\"schema_version\":1,\"request_id\":`, bare or in `{\"timestamp\":…,\"event\":`",
    head: audit::head,
    cut: never_cut,
    bodies_read: all_bodies,
    parse: audit::parse,
    kinds: kinds::AUDIT,
    samples: samples::AUDIT,
};

/// Reads an audit record that stands in a log line at offset `at` of the payload.
pub(crate) fn audit_fields<'a>(record: &'a [u8], at: usize, event: &mut Event<'a>) {
    let before = event.withheld.len();
    let end = audit::read(Span { bytes: record, at }, event);
    if !matches!(end, End::Closed(e) if e == record.len()) {
        event.withheld.truncate(before);
        event.withhold(at..at + record.len(), Secret::Body, "record");
    }
}

/// Reads a row of the request trace that stands in something else: a tool's event on the event plane.
pub(crate) fn read_row<'a>(row: Span<'a>, event: &mut Event<'a>) -> End {
    event.kind = &kinds::TRACE_ROW;
    request::read(row, event)
}

/// The bytes of the record's own object: behind `{"timestamp":N,"event":`, or the line itself.
fn inside_envelope(line: &[u8]) -> Option<&[u8]> {
    if line.first() != Some(&b'{') {
        return None;
    }
    let Some(rest) = line.strip_prefix(b"{\"timestamp\":") else { return Some(line) };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    rest[digits..].strip_prefix(b",\"event\":")
}

/// Peels the sink's envelope if there is one, reads the record with `read`, and says how the line ended.
fn parse_enveloped<'a>(record: &'a [u8], event: &mut Event<'a>, read: impl Fn(Span<'a>, &mut Event<'a>) -> End) -> Outcome {
    let enveloped = record.starts_with(b"{\"timestamp\"") || json::find(record, b"event").is_some_and(|m| m.value.starts_with(b"{"));
    if !enveloped {
        event.message = 0..record.len();
        return outcome(read(Span { bytes: record, at: 0 }, event), record, event);
    }
    let whole = Span { bytes: record, at: 0 };
    let mut inner = End::Damaged;
    let mut walk = json::members(record);
    for member in walk.by_ref() {
        match member.key {
            b"timestamp" => row::scalar(event, "sink_ms", &member),
            b"event" => {
                event.message = member.at..member.at + member.value.len();
                inner = read(whole.of(&member), event);
            }
            _ => row::named(event, &member),
        }
    }
    // A record that ends too early ends its envelope too early; damage inside is worth saying first.
    let end = match (walk.end(), inner) {
        (_, End::Damaged) => End::Damaged,
        (end, _) => end,
    };
    outcome(end, record, event)
}

pub(crate) fn outcome(end: End, record: &[u8], event: &mut Event<'_>) -> Outcome {
    match end {
        End::Closed(at) => {
            if record[at..].iter().any(|b| !b.is_ascii_whitespace()) {
                event.note = Some("text behind the JSON object");
                event.withhold(at..record.len(), Secret::Body, "text behind the record");
            }
            Outcome::Parsed
        }
        End::Truncated => Outcome::Unparsed("truncated JSON"),
        End::Open | End::Damaged => {
            // What stands behind damage cannot be told from a body.
            event.withheld.clear();
            event.withhold(0..record.len(), Secret::Body, "record");
            Outcome::Unparsed("damaged JSON")
        }
    }
}
