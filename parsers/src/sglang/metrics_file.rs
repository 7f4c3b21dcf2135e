//! `sglang-request-metrics-YYYYMMDD_HH.log` (`--export-metrics-to-file`, from 0.5.5.post3): one JSON object a finished request.
//!
//! `request_parameters` is a JSON *string* of the request; the other keys are those of `meta_info`. There is no write time: the stamp
//! is `request_received_ts`, epoch seconds.

use super::kinds;
use super::requests;
use super::values::{self, Items};
use crate::event::{Event, Outcome, Secret};
use crate::stamp::{RawStamp, Zone};

/// Does a record begin with this line?
pub fn head(line: &[u8]) -> bool {
    line.starts_with(b"{\"request_parameters\": \"")
}

/// Reads one record.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    if !head(record) {
        return Outcome::Unparsed("not a line of a request metrics file");
    }
    event.kind = &kinds::REQUEST_METRICS;
    event.message = 0..record.len();
    let mut items = Items::new(record, 0);
    while let Some(item) = items.next() {
        let key = &record[item.key.clone()];
        if item.open {
            event.withhold(item.value.clone(), Secret::Body, "open");
            break;
        }
        match key {
            b"request_parameters" => parameters(record, item.value.clone(), event),
            b"request_received_ts" => {
                event.stamp = epoch(&record[item.value.clone()], item.value.start);
                requests::meta_item(key, record, &item, event);
            }
            _ => requests::meta_item(key, record, &item, event),
        }
    }
    if items.end.is_none() {
        event.note = Some("truncated");
    }
    Outcome::Parsed
}

/// Epoch seconds as `repr(float)` prints them. The width is a microsecond, the resolution of `time.time()` in a double of this size.
fn epoch(text: &[u8], at: usize) -> Option<RawStamp> {
    let dot = memchr::memchr(b'.', text).unwrap_or(text.len());
    let seconds: i64 = std::str::from_utf8(&text[..dot]).ok()?.parse().ok()?;
    let mut ns = seconds.checked_mul(1_000_000_000)?;
    let mut unit = 100_000_000;
    for digit in text.get(dot + 1..).unwrap_or(b"") {
        if !digit.is_ascii_digit() {
            return None;
        }
        ns = ns.checked_add(i64::from(digit - b'0') * unit)?;
        unit /= 10;
    }
    let at = u32::try_from(at).ok()?;
    Some(RawStamp { ns, width: 1_000, zone: Zone::Utc, at, len: u32::try_from(text.len()).ok()? })
}

/// The request inside its string. It is unescaped once; spans to withhold are carried back to the escaped text.
fn parameters(record: &[u8], span: std::ops::Range<usize>, event: &mut Event<'_>) {
    let quoted = &record[span.clone()];
    if quoted.len() < 2 || quoted[0] != b'"' || quoted[quoted.len() - 1] != b'"' {
        event.withhold(span, Secret::Body, "request_parameters");
        return;
    }
    let inner = &quoted[1..quoted.len() - 1];
    let text = values::unescape(inner);
    let mut request = Event::new(&kinds::REQUEST_METRICS);
    request.message = 0..text.len();
    requests::parse_object(&text, &mut request);
    for id in request.ids {
        if !event.ids.iter().any(|known| known.kind == id.kind && known.text == id.text) {
            event.id(id.kind, id.text.into_owned());
        }
    }
    for field in request.fields {
        if event.get(&field.name).is_none() {
            event.fields.push(field.into_owned());
        }
    }
    let mut spans = request.withheld;
    spans.sort_by_key(|w| w.span.start);
    // The escaped text is walked once: `from` escaped bytes have given `to` unescaped ones.
    let (mut from, mut to) = (0, 0);
    let mut scratch = Vec::new();
    let mut reach = |target: usize| {
        while to < target && from < inner.len() {
            scratch.clear();
            let (read, written) = values::unescape_one(&inner[from..], &mut scratch);
            from += read;
            to += written;
        }
        from
    };
    for withheld in spans {
        let start = span.start + 1 + reach(withheld.span.start);
        let end = span.start + 1 + reach(withheld.span.end);
        event.withhold(start..end.max(start), withheld.why, withheld.name);
    }
}
