//! Traces as OTLP JSON (the collector's file exporter), of Dynamo, SGLang and others. See README.md beside this file.

mod attributes;
mod export;
pub mod kinds;
mod samples;
mod span;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem::Finder;

use crate::event::{Event, Outcome, Secret};
use crate::format::{Format, all_bodies};
use crate::json::{self, End};
use crate::search;
use crate::trace::row::Span;

/// A line of an export, and each span on it.
pub static TRACES: Format = Format {
    name: "otlp-traces",
    about: "traces as OTLP JSON, by OpenTelemetry's file exporter",
    shape: "`{\"resourceSpans\":[`, or a span `{\"traceId\":\"…\",\"spanId\":\"`",
    head,
    cut,
    bodies_read: all_bodies,
    parse,
    kinds: kinds::KINDS,
    samples: samples::TRACES,
};

const EXPORT: &[u8] = b"{\"resourceSpans\":";
const TRACE: &[u8] = b"{\"traceId\":\"";
const SCOPES: &[&[u8]] = &[b"{\"scope\":{", b"{\"resource\":{"];

/// A value before a span's name is no longer than this.
const NEAR: usize = 400;

fn head(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && (line.starts_with(EXPORT) || is_span(line) || is_document(line) || is_scope(line))
}

/// `{"traceId":"32 hex","spanId":"16 hex"`, and a name before times and attributes: a link of a span begins like one and has no name.
fn is_span(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(TRACE).and_then(|rest| hex(rest, 32)) else { return false };
    let Some(mut rest) = rest.strip_prefix(b",\"spanId\":\"").and_then(|rest| hex(rest, 16)) else { return false };
    for _ in 0..4 {
        if rest.starts_with(b",\"name\":\"") {
            return true;
        }
        let known = [&b",\"traceState\":"[..], b",\"parentSpanId\":", b",\"flags\":"].into_iter().find_map(|key| rest.strip_prefix(key));
        let Some(value) = known else { return false };
        let (len, complete) = json::value_len(&value[..value.len().min(NEAR)]);
        if !complete {
            return false;
        }
        rest = &value[len..];
    }
    false
}

/// What follows `len` hex digits and a quote.
fn hex(bytes: &[u8], len: usize) -> Option<&[u8]> {
    let rest = bytes.get(len..)?.strip_prefix(b"\"")?;
    bytes[..len].iter().all(u8::is_ascii_hexdigit).then_some(rest)
}

/// The beginning of a further resource or scope, up to its spans if it has any.
fn is_scope(line: &[u8]) -> bool {
    static FIND: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"spans\":["));
    SCOPES.iter().any(|open| line.starts_with(open)) && FIND.find(line).is_some()
}

/// A document over several lines: `{`, blanks, `"resourceSpans"`.
fn is_document(bytes: &[u8]) -> bool {
    matches!(bytes.get(1), Some(b' ' | b'\t' | b'\r' | b'\n')) && bytes[1..].trim_ascii_start().starts_with(b"\"resourceSpans\"")
}

/// Where the next span, scope or resource of an export's line begins. Inside a string its quotes would be escaped.
fn cut(line: &[u8]) -> Option<usize> {
    static FIND: LazyLock<AhoCorasick> =
        LazyLock::new(|| search::for_words(MatchKind::LeftmostFirst, ["{\"traceId\":\"", ",{\"scope\":{", ",{\"resource\":{"]));
    if line.first() != Some(&b'{') || !(line.starts_with(EXPORT) || is_span(line) || SCOPES.iter().any(|open| line.starts_with(open))) {
        return None;
    }
    let mut from = 1;
    while let Some(hit) = line.get(from..).and_then(|rest| FIND.find(rest)) {
        let at = from + hit.start();
        match hit.pattern().as_usize() {
            0 if is_span(&line[at..]) => return Some(at),
            0 => {}
            _ => return Some(at + 1),
        }
        from = at + hit.len();
    }
    None
}

fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    event.message = 0..record.len();
    let at = record.len() - record.trim_ascii_start().len();
    let whole = Span { bytes: &record[at..], at };
    if is_span(whole.bytes) {
        event.kind = &kinds::OTLP_SPAN;
        let end = span::read(whole, event);
        return outcome(end, whole.bytes, event);
    }
    let (end, begun) = export::read(whole, event);
    if begun && end == End::Truncated {
        return Outcome::Parsed;
    }
    outcome(end, whole.bytes, event)
}

fn outcome(end: End, record: &[u8], event: &mut Event<'_>) -> Outcome {
    match end {
        End::Closed(at) => {
            // What closes the lists that the span stands in, or parts it from the next.
            let behind = record[at..].iter().position(|b| !matches!(b, b',' | b']' | b'}') && !b.is_ascii_whitespace());
            if let Some(behind) = behind {
                let base = event.message.end - record.len();
                event.note = Some("text behind the JSON object");
                event.withhold(base + at + behind..event.message.end, Secret::Body, "text behind the record");
            }
            Outcome::Parsed
        }
        End::Truncated => Outcome::Unparsed("truncated JSON"),
        End::Open | End::Damaged => {
            // What stands behind damage cannot be told from a body.
            event.withheld.clear();
            event.withhold(event.message.clone(), Secret::Body, "record");
            Outcome::Unparsed("damaged JSON")
        }
    }
}
