//! Lines of no known format: what continues a record, and what can still be said of the rest.

mod cut;
mod foreign;
pub mod kinds;
mod request;
#[cfg(test)]
mod tests;

pub(crate) use cut::is_rest;
pub use foreign::{CUT, is_progress, parse};
pub use request::begins as request_begins;

use crate::event::Event;

/// Makes `event` the plain text of `payload`.
pub fn plain<'a>(payload: &'a [u8], event: &mut Event<'a>) {
    event.kind = &kinds::TEXT;
    event.message = 0..payload.len();
    event.level = None;
    event.stamp = None;
    event.fields.clear();
    event.ids.clear();
    event.withheld.clear();
    event.plain.clear();
    event.columnar = false;
    event.keyed = false;
    event.note = None;
}

/// Is this physical line, which is no format's head, part of the record before it? Decided from the line alone.
pub fn continues(line: &[u8]) -> bool {
    let line = crate::record::trim_end(line);
    let Some(first) = line.first() else { return true };
    if *first == b'\r' {
        return false;
    }
    if *first == b' ' || *first == b'\t' {
        return !foreign::is_progress(line);
    }
    foreign::continues_traceback(line)
}
