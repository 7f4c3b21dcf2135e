//! What the envelopes beside journald make of captures, of each other and of any bytes.

mod containers;
mod foreign;
mod lines;
mod nesting;
mod properties;
mod syslog;
mod wraps;

use crate::event::Event;
use crate::format::Meta;
use crate::record::{Layout, Reader};
use crate::text;

fn more<'m>(meta: &'m Meta, name: &str) -> Option<&'m str> {
    meta.more.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// What a record says, but for where it stands.
#[derive(Debug, PartialEq)]
struct Seen {
    kind: &'static str,
    payload: String,
    fields: Vec<String>,
    ids: Vec<String>,
    /// Its own stamp and level, what is withheld, and what became of it.
    rest: String,
}

fn seen(bytes: &[u8], layout: &Layout) -> Vec<Seen> {
    let mut reader = Reader::new(bytes, 0, layout);
    let mut all = Vec::new();
    while let Some(record) = reader.next() {
        let mut event = Event::new(&text::kinds::TEXT);
        let outcome = record.parse(&mut event);
        all.push(Seen {
            kind: event.kind.name,
            payload: String::from_utf8_lossy(record.payload).into_owned(),
            fields: event.fields.iter().map(|f| format!("{}={:?} ({})", f.name, f.value, f.raw)).collect(),
            ids: event.ids.iter().map(|id| format!("{:?} {}", id.kind, id.text)).collect(),
            rest: format!("{:?} {:?} {:?} {:?} {outcome:?}", event.stamp, event.level, event.message, event.withheld),
        });
    }
    all
}
