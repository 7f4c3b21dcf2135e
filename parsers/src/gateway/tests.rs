//! Expectations are read off the samples by eye, or from the captures' truth files.

mod cases;
mod lines;

use crate::FORMATS;
use crate::event::{Event, Outcome};
use crate::text;

/// Parses one record with the format whose head it has, which must be a gateway's.
fn parse_line(record: &str) -> Event<'_> {
    let format = FORMATS.iter().find(|f| (f.head)(record.as_bytes())).unwrap_or_else(|| panic!("no format for {record}"));
    assert!(format.name.starts_with("gateway"), "{} for {record}", format.name);
    let mut event = Event::new(&text::kinds::TEXT);
    assert_eq!((format.parse)(record.as_bytes(), &mut event), Outcome::Parsed, "{record}");
    event
}
