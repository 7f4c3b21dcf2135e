//! Tests over fixtures in this folder, and over the captured cases where they are present.

mod batch_lines;
mod cases;
mod lines;
mod properties;

use crate::FORMATS;
use crate::event::{Event, Outcome};
use crate::text;

/// Parses one record with the format whose head it has.
fn parse_line(record: &str) -> Event<'_> {
    let format = FORMATS.iter().find(|f| (f.head)(record.as_bytes())).unwrap_or_else(|| panic!("no format for {record}"));
    let mut event = Event::new(&text::kinds::TEXT);
    let outcome = (format.parse)(record.as_bytes(), &mut event);
    assert_eq!(outcome, Outcome::Parsed, "{record}");
    event
}

/// The withheld texts of a record.
fn withheld<'r>(record: &'r str, event: &Event<'_>) -> Vec<&'r str> {
    event.withheld.iter().map(|w| &record[w.span.clone()]).collect()
}

/// A record's ids of one kind.
fn ids(event: &Event<'_>, kind: crate::ids::IdKind) -> Vec<String> {
    event.ids.iter().filter(|id| id.kind == kind).map(|id| id.text.to_string()).collect()
}
