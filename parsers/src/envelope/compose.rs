//! `docker compose logs` and `docker-compose up`: the container's name, padded, and a bar.

use super::{every_line, keep, number, say, stamped, uncoloured};
use crate::format::{Entry, Envelope};

/// `NAME-1  | line`.
pub static COMPOSE: Envelope = Envelope {
    name: "docker-compose",
    about: "docker compose logs and up, v1 and v2, with or without -t and colours",
    shape: "`NAME  | ` and the line",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, prefixed),
    // Tables look like it.
    least: 20,
    respells: true,
    marks: None,
    cuts: false,
    yearless: false,
};

/// `docker compose logs --no-log-prefix`: some versions leave the blank that stood behind the prefix. Nothing but what is found inside tells.
pub static NO_PREFIX: Envelope = Envelope {
    name: "docker-compose-no-prefix",
    about: "docker compose logs --no-log-prefix: a blank before every line",
    shape: "a blank and the line",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, blank),
    least: usize::MAX,
    respells: false,
    marks: None,
    cuts: false,
    yearless: false,
};

/// Names are no longer than this, with their padding.
const MAX_NAME: usize = 160;

fn prefixed(line: &[u8], entry: &mut Entry) -> Option<()> {
    let plain = uncoloured(line);
    let window = &plain[..plain.len().min(MAX_NAME)];
    let name = &window[..window.iter().position(|b| !is_name_byte(*b))?];
    let padded = window[name.len()..].iter().take_while(|b| **b == b' ').count();
    let bar = name.len() + padded;
    if name.is_empty() || padded == 0 || window.get(bar) != Some(&b'|') {
        return None;
    }
    // v1 ends the colour before the blank, v2 behind it.
    let behind = uncoloured(&plain[bar + 1..]);
    let text = match behind.first() {
        None => behind,
        Some(b' ') => uncoloured_once(&behind[1..], line),
        Some(_) => return None,
    };
    let meta = &mut entry.meta;
    say(&mut meta.unit, name);
    meta.unit_source = "container";
    let (service, replica) = replica(name);
    say(&mut meta.ident, service);
    stamped::behind(text, line.len() - text.len(), entry);
    keep(entry, "service", service);
    if let Some(replica) = replica {
        keep(entry, "replica", replica.to_string().as_bytes());
    }
    Some(())
}

/// Without the end of the prefix's colour; the line's own colours stay.
fn uncoloured_once<'a>(text: &'a [u8], line: &[u8]) -> &'a [u8] {
    if line.first() == Some(&0x1b) { text.strip_prefix(b"\x1b[0m").unwrap_or(text) } else { text }
}

fn is_name_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')
}

/// `sglang-decode-1` of v2, `sglang-decode_1` of v1: service and number. A name of the user's own may have no number.
fn replica(name: &[u8]) -> (&[u8], Option<u32>) {
    let Some(at) = name.iter().rposition(|b| matches!(b, b'-' | b'_')) else { return (name, None) };
    match number(&name[at + 1..]) {
        Some(replica) if at > 0 => (&name[..at], Some(replica)),
        _ => (name, None),
    }
}

fn blank(line: &[u8], entry: &mut Entry) -> Option<()> {
    entry.text.extend_from_slice(line.strip_prefix(b" ")?);
    Some(())
}
