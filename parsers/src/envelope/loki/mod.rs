//! What Grafana Loki held: `logcli -o jsonl`, and the exports of Grafana's Explore.

use std::borrow::Cow;

use memchr::{memchr, memmem};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{digits, every_line, keep_any, say, torn};
use crate::format::{Content, Entry, Envelope};
use crate::record::{line_len, trim_end};
use crate::stamp::{RawStamp, Zone, from_unix_ns, read_iso};

/// `logcli query -o jsonl`, and other exports of one row a line.
pub static JSON_LINES: Envelope = Envelope {
    name: "loki-jsonl",
    about: "Loki rows, one object a line: logcli -o jsonl, or Explore's JSON cut into lines",
    shape: "objects with `\"line\"`, a stamp and labels",
    begins: every_line,
    read: read_line,
    least: 1,
    respells: true,
    marks: None,
    cuts: false,
    yearless: false,
};

/// Grafana Explore, download as JSON: one array on one line.
pub static EXPLORE_JSON: Envelope = Envelope {
    name: "grafana-json",
    about: "Grafana Explore's download as JSON: one array of rows",
    shape: "`[{\"line\":…,\"timestamp\":…,\"fields\":…},…]`",
    begins: |line| line.starts_with(b"[{\"line\":\""),
    read: read_row,
    least: 1,
    respells: true,
    marks: None,
    cuts: false,
    yearless: false,
};

/// Grafana Explore, download as TXT: `MILLISECONDS<TAB>STAMP<TAB>line`.
pub static EXPLORE_TEXT: Envelope = Envelope {
    name: "grafana-text",
    about: "Grafana Explore's download as text: epoch milliseconds, stamp and line, tabs between",
    shape: "`MILLISECONDS<TAB>YYYY-MM-DDTHH:MM:SS.mmmZ<TAB>` and the line",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, tabbed),
    least: 1,
    respells: false,
    marks: None,
    cuts: false,
    yearless: false,
};

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    line: Cow<'a, str>,
    #[serde(alias = "ts")]
    timestamp: Value,
    #[serde(alias = "fields", default)]
    labels: Map<String, Value>,
}

/// So many labels of a row are kept.
const MAX_LABELS: usize = 64;

fn read_line(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    let len = line_len(&bytes[at..]);
    let line = trim_end(&bytes[at..at + len]);
    if line.is_empty() {
        entry.content = Content::Bare;
    } else if line[0] != b'{' || memmem::find(line, b"\"line\"").is_none() || !row(line, entry) {
        entry.clear();
        entry.content = Content::Broken("no row of Loki");
    }
    len
}

/// Reads one object of the array: from the bracket or comma before it to the brackets behind the last.
fn read_row(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    let rest = &bytes[at..];
    // Not beyond a line's end: a row may begin the next line.
    let lead = rest.iter().take_while(|b| matches!(b, b'[' | b',' | b' ' | b'\t' | b'\r')).count();
    if rest.get(lead) == Some(&b'\n') {
        entry.content = Content::Bare;
        return lead + 1;
    }
    let mut stream = serde_json::Deserializer::from_slice(&rest[lead..]).into_iter::<Row<'_>>();
    let found = match stream.next() {
        Some(Ok(found)) if lead > 0 || at > 0 => fill(&found, entry),
        _ => false,
    };
    if !found {
        entry.clear();
        entry.content = Content::Broken("no row of an Explore export");
        return line_len(rest);
    }
    let mut len = lead + stream.byte_offset();
    len += rest[len..].iter().take_while(|b| **b == b']' || b.is_ascii_whitespace()).count();
    len
}

fn row(line: &[u8], entry: &mut Entry) -> bool {
    match serde_json::from_slice::<Row<'_>>(line) {
        Ok(row) => fill(&row, entry),
        // As in Docker's file: what is withheld of a torn text stays so.
        Err(error) if error.is_eof() && line.starts_with(b"{\"labels\"") => match torn(line, b"\"line\"") {
            Some(text) => {
                entry.text = text;
                entry.meta.loss = Some("the object ends early");
                true
            }
            None => false,
        },
        Err(_) => false,
    }
}

/// Writes a row into `entry`; a row without a stamp is none.
fn fill(row: &Row<'_>, entry: &mut Entry) -> bool {
    let Some(stamp) = stamp(&row.timestamp) else { return false };
    entry.meta.stamp = Some(stamp);
    entry.text.extend_from_slice(trim_end(row.line.as_bytes()));
    for (name, value) in row.labels.iter().take(MAX_LABELS) {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Null => continue,
            other => other.to_string(),
        };
        label(name, value, entry);
    }
    true
}

/// Labels that say what other envelopes say too, by the names that the usual collectors give them.
fn label(name: &str, value: String, entry: &mut Entry) {
    let meta = &mut entry.meta;
    match name {
        "host" | "hostname" | "node_name" if meta.host.is_empty() => say(&mut meta.host, value.as_bytes()),
        "pod" | "unit" | "systemd_unit" if meta.unit.is_empty() => {
            say(&mut meta.unit, value.as_bytes());
            meta.unit_source = if name == "pod" { "pod" } else { "unit" };
        }
        "container" if meta.ident.is_empty() => say(&mut meta.ident, value.as_bytes()),
        "stream" => {
            meta.stream = match value.as_str() {
                "stdout" => "stdout",
                "stderr" => "stderr",
                _ => "",
            };
            return;
        }
        _ => {}
    }
    keep_any(entry, name, &value);
}

/// RFC 3339 with a zone, or epoch nanoseconds.
fn stamp(value: &Value) -> Option<RawStamp> {
    let text = match value {
        Value::String(text) => text.as_str(),
        Value::Number(_) => return nanoseconds(value.as_i64()?),
        _ => return None,
    };
    if text.len() >= 18 && text.bytes().all(|b| b.is_ascii_digit()) {
        return nanoseconds(text.parse().ok()?);
    }
    let stamp = read_iso(text.as_bytes())?;
    let whole = stamp.len as usize == text.len() && matches!(stamp.zone, Zone::Utc | Zone::Offset(_));
    whole.then_some(RawStamp { len: 0, ..stamp })
}

/// Only numbers of this century's size are taken for nanoseconds.
fn nanoseconds(ns: i64) -> Option<RawStamp> {
    (ns >= 100_000_000_000_000_000).then(|| from_unix_ns(ns))
}

fn tabbed(line: &[u8], entry: &mut Entry) -> Option<()> {
    let len = digits(line, 16);
    if !(12..=14).contains(&len) || line.get(len) != Some(&b'\t') {
        return None;
    }
    let rest = &line[len + 1..];
    let tab = memchr(b'\t', &rest[..rest.len().min(40)])?;
    let mut stamp = read_iso(&rest[..tab])?;
    if stamp.len as usize != tab || stamp.zone != Zone::Utc {
        return None;
    }
    stamp.at = len as u32 + 1;
    entry.meta.stamp = Some(stamp);
    entry.text.extend_from_slice(&rest[tab + 1..]);
    Some(())
}
