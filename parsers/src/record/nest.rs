//! Envelopes inside envelopes: the text of an outer entry is read as an entry of the next envelope, where it is one.

use crate::format::{Content, Cut, Entry, Envelope, Meta};

/// Takes `entry`'s text out of the envelopes that stand inside its own, outermost first. Where a text is no entry of one of them, it stays
/// as it is.
pub fn peel(inner: &[&'static Envelope], entry: &mut Entry, spare: &mut Entry) {
    for envelope in inner {
        if entry.text.is_empty() || !matches!(entry.content, Content::Payload | Content::Bare) {
            return;
        }
        let Some(len) = read(envelope, &entry.text, spare) else { continue };
        if len < entry.text.len() {
            // Lines behind the first: nothing is lost of them.
            spare.text.push(b'\n');
            spare.text.extend_from_slice(&entry.text[len..]);
        }
        std::mem::swap(&mut entry.text, &mut spare.text);
        entry.content = Content::Payload;
        merge(&mut entry.meta, &mut spare.meta);
    }
}

/// Is this text an entry of one of these envelopes?
pub fn begins(inner: &[&'static Envelope], text: &[u8]) -> bool {
    let mut spare = Entry::default();
    !text.is_empty() && inner.iter().any(|envelope| read(envelope, text, &mut spare).is_some())
}

/// Reads a text as an entry; returns how much of it that takes, or `None` if it is none.
fn read(envelope: &Envelope, text: &[u8], entry: &mut Entry) -> Option<usize> {
    entry.clear();
    let len = (envelope.read)(text, 0, entry).clamp(1, text.len());
    if entry.content == Content::Payload { Some(len) } else { None }
}

/// What the inner envelope says goes before what the outer one says.
fn merge(outer: &mut Meta, inner: &mut Meta) {
    if inner.stamp.is_some() {
        outer.received = outer.received.or(outer.stamp);
        outer.stamp = inner.stamp;
    }
    outer.monotonic = inner.monotonic.or(outer.monotonic);
    outer.pid = inner.pid.or(outer.pid);
    outer.priority = inner.priority.or(outer.priority);
    if !inner.unit.is_empty() {
        outer.unit_source = inner.unit_source;
    }
    for (out, said) in [
        (&mut outer.host, &mut inner.host),
        (&mut outer.unit, &mut inner.unit),
        (&mut outer.ident, &mut inner.ident),
        (&mut outer.boot, &mut inner.boot),
        (&mut outer.invocation, &mut inner.invocation),
    ] {
        if !said.is_empty() {
            std::mem::swap(out, said);
        }
    }
    if !inner.stream.is_empty() {
        outer.stream = inner.stream;
    }
    for (name, value) in inner.more.drain(..) {
        match outer.more.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => outer.more.push((name, value)),
        }
    }
    outer.loss = outer.loss.or(inner.loss);
    outer.lossy |= inner.lossy;
    if outer.cut == Cut::No {
        outer.cut = inner.cut;
    }
}
