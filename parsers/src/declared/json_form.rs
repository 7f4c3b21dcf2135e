//! Records that are one JSON object with known keys.
//!
//! The general reader of `records` goes first: it finds bodies, credentials, ids and levels by their names, so that a short definition is
//! a safe one. What is declared then wins over what was guessed, but nothing that is withheld is shown again.

use std::borrow::Cow;
use std::ops::Range;

use super::compiled::Parts;
use super::definition::{Definition, Part, Problem};
use super::registry::leak;
use crate::dynamo::id;
use crate::event::{Event, Field, Kind, Level, Outcome, Secret};
use crate::json;
use crate::records::keys::{self, Role};
use crate::records::{self, MAX_FIELD, disjoint};
use crate::trace::row::Span;

/// The keys that make a record one of these, and what its parts are.
#[derive(Debug)]
pub struct JsonForm {
    /// `"key"` as it stands in a record, and the path to it.
    keys: Vec<(Vec<u8>, &'static str)>,
    /// Path and text of the value.
    only: Vec<(&'static str, String)>,
    parts: Parts,
}

impl JsonForm {
    /// Makes the keys of a definition ready.
    pub fn new(definition: &Definition, parts: Parts) -> Result<JsonForm, Problem> {
        let mut paths: Vec<&'static str> = definition.keys.iter().map(|k| leak(k)).collect();
        if paths.is_empty() {
            paths.extend(parts.stamp.iter().map(|(part, _)| *part));
        }
        let only: Vec<(&'static str, String)> = definition.only.iter().map(|(k, v)| (leak(k), v.clone())).collect();
        paths.extend(only.iter().map(|(path, _)| *path));
        if paths.is_empty() {
            let text = "nothing tells its records from other JSON; write the keys that each has: `keys = [\"ts\", \"latency_ms\"]`";
            return Err(definition.problem(Part::Whole, text));
        }
        let quoted = |path: &str| format!("\"{}\"", path.split('.').next().unwrap_or(path)).into_bytes();
        Ok(JsonForm { keys: paths.into_iter().map(|p| (quoted(p), p)).collect(), only, parts })
    }

    /// Does a record begin with this line?
    pub fn head(&self, line: &[u8]) -> bool {
        line.first() == Some(&b'{')
            // A word of the line is sooner looked for than its members are walked.
            && self.keys.iter().all(|(quoted, _)| memchr::memmem::find(line, quoted).is_some())
            && self.keys.iter().all(|(_, path)| find(Span { bytes: line, at: 0 }, path).is_some())
            && self.only.iter().all(|(path, value)| find(Span { bytes: line, at: 0 }, path).is_some_and(|s| is(s.bytes, value)))
    }

    /// Reads a record.
    pub fn parse<'a>(&self, kind: &'static Kind, record: &'a [u8], event: &mut Event<'a>) -> Outcome {
        let outcome = (records::JSON.parse)(record, event);
        event.kind = kind;
        let whole = Span { bytes: record, at: record.len() - record.trim_ascii_start().len() };
        let whole = Span { bytes: &record[whole.at..], ..whole };
        for path in &self.parts.withheld {
            let Some(value) = find(whole, path).filter(|v| !matches!(v.bytes, b"null" | b"\"\"")) else { continue };
            let name = general_name(path);
            event.fields.retain(|f| f.name != name && !f.name.strip_prefix(&name).is_some_and(|rest| rest.starts_with('_')));
            if let Some(text) = json::id(value.bytes) {
                event.ids.retain(|i| i.text != text);
            }
            event.withhold(value.at..value.at + value.bytes.len(), Secret::Body, path);
        }
        disjoint(event);
        let hidden: Vec<Range<usize>> = event.withheld.iter().map(|w| w.span.clone()).collect();
        let shown = |path: &str| {
            let value = find(whole, path)?;
            let overlaps = hidden.iter().any(|h| h.start < value.at + value.bytes.len() && value.at < h.end);
            if overlaps || value.bytes == b"null" { None } else { Some(value) }
        };
        if let Some((path, stamps)) = &self.parts.stamp {
            event.stamp = None;
            if let Some(value) = shown(path) {
                event.stamp = stamps.read(inside(value.bytes), value.at + usize::from(value.bytes.first() == Some(&b'"')));
                match event.stamp {
                    // The stamp says it already.
                    Some(_) => drop_general(event, path),
                    None => event.note = Some("the declared stamp cannot be read"),
                }
            }
        }
        if let Some(path) = self.parts.level
            && let Some(value) = shown(path)
        {
            event.level = json::text(value.bytes).and_then(|t| Level::read(&t));
            if event.level.is_some() {
                drop_general(event, path);
            }
        }
        if let Some(value) = self.parts.message.and_then(shown).filter(|v| v.bytes.len() >= 2 && v.bytes.starts_with(b"\"")) {
            event.message = value.at + 1..value.at + value.bytes.len() - 1;
        }
        for (kind, path) in &self.parts.ids {
            let Some(text) = shown(path).and_then(|v| json::id(v.bytes)) else { continue };
            // What the key's own name would have made of it.
            if let Role::Id(guessed) = keys::role(&keys::snake(last(path).as_bytes()))
                && guessed != *kind
            {
                event.ids.retain(|i| !(i.kind == guessed && i.text == text));
            }
            drop_general(event, path);
            id(event, *kind, text);
        }
        for (name, path) in &self.parts.fields {
            let Some(value) = shown(path).filter(|v| !matches!(v.bytes.first(), Some(b'{' | b'['))) else { continue };
            if value.bytes.len() > MAX_FIELD + 2 {
                continue;
            }
            let Some(found) = json::value(value.bytes) else { continue };
            drop_general(event, path);
            event.fields.retain(|f| f.name != *name);
            event.fields.push(Field { name: Cow::Borrowed(name), raw: Cow::Borrowed(path), value: found });
        }
        outcome
    }
}

/// The value at a path of keys with dots between; a key that itself holds dots is found too.
fn find<'a>(object: Span<'a>, path: &str) -> Option<Span<'a>> {
    for member in json::members(object.bytes) {
        let Some(rest) = path.as_bytes().strip_prefix(member.key) else { continue };
        if rest.is_empty() {
            return if member.complete { Some(object.of(&member)) } else { None };
        }
        if rest[0] == b'.'
            && member.value.first() == Some(&b'{')
            && let Some(found) = std::str::from_utf8(&rest[1..]).ok().and_then(|rest| find(object.of(&member), rest))
        {
            return Some(found);
        }
    }
    None
}

/// Is this value written so, quotes left out?
fn is(value: &[u8], text: &str) -> bool {
    match json::text(value) {
        Some(found) => found == text,
        None => value == text.as_bytes(),
    }
}

/// The bytes between a string's quotes; other values as they stand.
fn inside(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value)
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The field's name that the general reader gives to a path.
fn general_name(path: &str) -> String {
    path.split('.').map(|key| keys::snake(key.as_bytes()).into_owned()).collect::<Vec<_>>().join("_")
}

/// Takes out the field that the general reader made of a path.
fn drop_general(event: &mut Event<'_>, path: &str) {
    if path.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit()) {
        return event.fields.retain(|f| f.name != path);
    }
    let name = general_name(path);
    event.fields.retain(|f| f.name != name);
}
