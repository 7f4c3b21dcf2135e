//! Records whose first line matches a regular expression.

use std::borrow::Cow;
use std::ops::Range;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::compiled::{Parts, field_name};
use super::definition::{Definition, Part, Problem};
use super::registry::leak;
use crate::dynamo::id;
use crate::event::{Event, Field, Level, Outcome, Secret};
use crate::keyvalue;
use crate::record::trim_end;
use crate::records::disjoint;

/// A longer line is not looked at: matching is linear, but so is the time of a line of a gigabyte.
const MAX_LINE: usize = 64 << 10;
/// Bytes that a compiled pattern may take; Unicode classes such as `\w` are large.
const MAX_PATTERN: usize = 8 << 20;

/// A pattern and what its groups are.
#[derive(Debug)]
pub struct TextForm {
    pattern: Regex,
    parts: Parts,
}

impl TextForm {
    /// Compiles the pattern. Named groups that nothing else names become fields of their own name.
    pub fn new(definition: &Definition, pattern: &str, mut parts: Parts) -> Result<TextForm, Problem> {
        for (key, given) in [("keys", !definition.keys.is_empty()), ("where", !definition.only.is_empty())] {
            if given {
                return Err(definition.problem(Part::Key(key), format!("`{key}` belongs to `json = true`; a pattern says it itself")));
            }
        }
        let wrong = |text: String| definition.problem(Part::Key("match"), text);
        let build = |text: &str| RegexBuilder::new(text).size_limit(MAX_PATTERN).dfa_size_limit(MAX_PATTERN).build();
        // The user's own text first, so that an error shows it as it was written.
        build(pattern).map_err(|e| wrong(format!("`match` is no regular expression: {e}")))?;
        let anchored = build(&format!(r"\A(?:{pattern})")).map_err(|e| wrong(format!("`match` is no regular expression: {e}")))?;
        if anchored.is_match(b"") {
            return Err(wrong("`match` also matches nothing at all, and so every line; write what its lines begin with".into()));
        }
        let groups: Vec<&str> = anchored.capture_names().flatten().collect();
        let missing = parts.named().find(|(_, part)| !groups.contains(part));
        if let Some((key, part)) = missing {
            let text = format!("`match` has no group `(?<{part}>…)`; it has {}", some(&groups));
            return Err(definition.problem(Part::Key(key), text));
        }
        let mut own = Vec::new();
        for group in groups.iter().filter(|g| !parts.named().any(|(_, part)| part == **g)) {
            field_name(definition, group)?;
            let name = leak(group);
            own.push((name, name));
        }
        parts.fields.extend(own);
        Ok(TextForm { pattern: anchored, parts })
    }

    /// Does a record begin with this line? JSON is never one: bodies in it are found by their names, which a pattern would pass by.
    pub fn head(&self, line: &[u8]) -> bool {
        let line = first_line(line);
        !matches!(line, [b'{', ..] | [b'[', b'{', ..]) && line.len() <= MAX_LINE && self.pattern.is_match(line)
    }

    /// Reads a record by its first line; what follows belongs to the message, or to the body that the line ends in.
    pub fn parse<'a>(&self, record: &'a [u8], event: &mut Event<'a>) -> Outcome {
        let line = first_line(record);
        let Some(found) = (if line.len() <= MAX_LINE { self.pattern.captures(line) } else { None }) else {
            return Outcome::Unparsed("the declared pattern does not match");
        };
        for part in &self.parts.withheld {
            if let Some(span) = span(&found, part) {
                let end = if span.end == line.len() { record.len() } else { span.end };
                event.withhold(span.start..end, Secret::Body, part);
            }
        }
        disjoint(event);
        let hidden: Vec<Range<usize>> = event.withheld.iter().map(|w| w.span.clone()).collect();
        let text = |part: &str| -> Option<(Cow<'a, str>, usize)> {
            let span = span(&found, part)?;
            if hidden.iter().any(|h| h.start < span.end && span.start < h.end) {
                return None;
            }
            let bytes = &line[span.clone()];
            // A dash is how access logs write that there is none.
            if matches!(bytes, b"" | b"-") { None } else { Some((String::from_utf8_lossy(bytes), span.start)) }
        };
        if let Some((part, stamps)) = &self.parts.stamp
            && let Some(span) = span(&found, part)
        {
            event.stamp = stamps.read(&line[span.clone()], span.start);
            if event.stamp.is_none() {
                event.note = Some("the declared stamp cannot be read");
            }
        }
        if let Some((level, _)) = self.parts.level.and_then(text) {
            event.level = Level::read(&level);
        }
        if let Some(part) = self.parts.message.and_then(|part| span(&found, part)) {
            let end = if part.end == line.len() { record.len() } else { part.end };
            event.message = part.start..end;
        }
        for (kind, part) in &self.parts.ids {
            if let Some((found, _)) = text(part) {
                id(event, *kind, found);
            }
        }
        for (name, part) in &self.parts.fields {
            if let Some((found, _)) = text(part) {
                event.fields.push(Field { name: Cow::Borrowed(name), raw: Cow::Borrowed(part), value: keyvalue::typed(found) });
            }
        }
        Outcome::Parsed
    }
}

fn span(found: &Captures<'_>, part: &str) -> Option<Range<usize>> {
    found.name(part).map(|m| m.range())
}

fn first_line(record: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', record).unwrap_or(record.len());
    trim_end(&record[..end])
}

fn some(groups: &[&str]) -> String {
    if groups.is_empty() { "none".into() } else { groups.join(", ") }
}
