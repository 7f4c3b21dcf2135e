//! Prompts, messages, tool arguments and token ids that an event names: as a field, inside a struct that Debug printed, or in JSON.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::event::{Event, Outcome, Secret, Value};
use crate::search;

/// Names whose value is text of a user or a model, or token ids. A number under such a name is a count. `suffix` is not among them: in
/// these logs it is the end of a model's slug.
const NAMES: &[&str] = &[
    "prompt",
    "prompts",
    "messages",
    "content",
    "contents",
    "text",
    "texts",
    "input",
    "inputs",
    "output",
    "outputs",
    "body",
    "tools",
    "tool_calls",
    "arguments",
    "completion",
    "choices",
    "delta",
    "instructions",
    "reasoning",
    "reasoning_content",
    "input_ids",
    "output_ids",
    "token_ids",
    "tokens",
    "image_url",
    "audio_data",
    "stop",
];

/// Names that end so are such names too: `system_prompt`, `prompt_text`, `request_body`.
const ENDS: &[&str] = &["_prompt", "_text", "_body", "_messages", "_content", "_arguments", "_token_ids", "_input"];

/// What every name of a body ends in. Of what one search finds, the words around it decide.
static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| search::for_words(MatchKind::LeftmostLongest, NAMES.iter().copied()));

/// All of them, each as a name of its own.
#[cfg(test)]
pub fn names() -> impl Iterator<Item = String> {
    NAMES.iter().map(|name| name.to_string()).chain(ENDS.iter().map(|end| format!("x{end}")))
}

/// Is this the name of a body?
pub fn is_name(raw: &str) -> bool {
    // Most names are told from all of them by how they end.
    const LAST: &[u8] = b"tsynaglp";
    if !raw.as_bytes().last().is_some_and(|b| LAST.contains(&b.to_ascii_lowercase())) {
        return false;
    }
    let last = raw.rsplit('.').next().unwrap_or(raw);
    let is = |known: &str| last.eq_ignore_ascii_case(known);
    NAMES.iter().any(|known| is(known))
        || ENDS.iter().any(|end| {
            let from = last.len().checked_sub(end.len());
            from.and_then(|from| last.get(from..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
        })
}

/// Is a value a number, a bool or nothing, and so no text?
pub fn is_plain(value: &str) -> bool {
    let inner = value.strip_prefix("Some(").and_then(|v| v.strip_suffix(')')).unwrap_or(value);
    matches!(inner, "" | "None" | "null" | "true" | "false" | "True" | "False" | "[]" | "{}") || inner.parse::<f64>().is_ok()
}

/// Reads a line with `read`; where a body stands in it, once more without the fields and ids that lie in one.
pub fn without<'a>(
    record: &'a [u8],
    event: &mut Event<'a>,
    read: impl Fn(&'a [u8], &mut Event<'a>, &[Range<usize>]) -> Outcome,
) -> Outcome {
    let outcome = read(record, event, &[]);
    // What columns explain wholly has no room for a body but in a long text.
    let long = |value: &Value<'_>| matches!(value, Value::Str(text) if text.len() > 48);
    if event.columnar && !event.fields.iter().any(|field| long(&field.value)) {
        return outcome;
    }
    let mut bodies = find(record);
    bodies.retain(|span| !event.withheld.iter().any(|w| w.span.start <= span.start && span.end <= w.span.end));
    if bodies.is_empty() {
        return outcome;
    }
    let kind = event.kind;
    *event = Event::new(kind);
    let outcome = read(record, event, &bodies);
    for span in bodies {
        event.withhold(span, Secret::Body, "body");
    }
    event.columnar = false;
    outcome
}

/// Does a span lie in a body, or a body in it?
pub fn overlaps(bodies: &[Range<usize>], span: &Range<usize>) -> bool {
    bodies.iter().any(|body| body.start < span.end && span.start < body.end)
}

/// The spans of `bytes` that hold a body behind its name: quoted text, or all that stands in a bracket. In order, none overlapping.
pub fn find(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(hit) = bytes.get(at..).and_then(|rest| SEARCH.find(rest)) {
        at += hit.end();
        if let Some(span) = value(bytes, at - hit.len(), at) {
            at = span.end.max(at);
            if !span.is_empty() {
                found.push(span);
            }
        }
    }
    found
}

/// The value behind the name that stands at `start..end`.
fn value(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let before = bytes[..start].iter().rev().take(64).take_while(|b| word(b)).count();
    let name = std::str::from_utf8(&bytes[start - before..end]).ok()?;
    if !is_name(name) {
        return None;
    }
    // A name in JSON or a dict has quotes, escaped inside a string.
    let mut at = end;
    at += bytes[at..].iter().take(8).take_while(|b| **b == b'\\').count();
    if matches!(bytes.get(at), Some(b'"' | b'\'')) {
        at += 1;
    }
    if !matches!(bytes.get(at), Some(b':' | b'=')) {
        return None;
    }
    at += 1;
    at += bytes[at..].iter().take_while(|b| **b == b' ').count();
    // `Some(`, `Text(`, `Array(` and the like, one in another.
    for _ in 0..4 {
        let wrap = bytes[at..].iter().take(64).take_while(|b| word(b)).count();
        if wrap == 0 || bytes.get(at + wrap) != Some(&b'(') {
            break;
        }
        at += wrap + 1;
    }
    match bytes.get(at)? {
        b'[' | b'{' => Some(at..at + bracket_len(&bytes[at..])),
        b'"' | b'\'' | b'\\' => quoted(bytes, at),
        _ => structure(bytes, at),
    }
}

/// `User { … }`: a struct as Debug prints it.
fn structure(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let name = bytes[at..].iter().take(64).take_while(|b| b.is_ascii_alphanumeric()).count();
    if name == 0 || !bytes[at].is_ascii_uppercase() || !bytes[at + name..].starts_with(b" {") {
        return None;
    }
    let open = at + name + 1;
    Some(open..open + bracket_len(&bytes[open..]))
}

/// Up to the bracket that closes; all of the rest where it does not. Quotes may be escaped, as in a JSON string.
fn bracket_len(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' => {
                depth -= 1; // At least 1: the first byte opens, and the last one that closes returns.
                if depth == 0 {
                    return at + 1;
                }
            }
            b'"' | b'\'' => {
                let escapes = bytes[..at].iter().rev().take(8).take_while(|b| **b == b'\\').count();
                let before = at.checked_sub(escapes + 1).map(|i| bytes[i]);
                // An apostrophe opens nothing.
                if *byte == b'"' || matches!(before, Some(b'[' | b'{' | b'(' | b',' | b':' | b' ' | b'=')) {
                    let Some(text) = quoted(bytes, at - escapes) else { return bytes.len() };
                    at = (text.end + escapes + 1).min(bytes.len());
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// A quoted text: its span without the quotes, all of the rest where it does not end.
fn quoted(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let escapes = bytes[at..].iter().take(8).take_while(|b| **b == b'\\').count();
    let quote = *bytes.get(at + escapes)?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let from = at + escapes + 1;
    let mut next = from;
    while let Some(step) = memchr::memchr(quote, &bytes[next..]) {
        let close = next + step;
        let before = bytes[from..close].iter().rev().take_while(|b| **b == b'\\').count();
        // A quote inside has more backslashes before it; `\\` before the closing one are the text's own.
        let closes = if escapes == 0 { before % 2 == 0 } else { before % (2 * escapes + 2) == escapes };
        if closes {
            return Some(from..close - escapes);
        }
        next = close + 1;
    }
    Some(from..bytes.len())
}
