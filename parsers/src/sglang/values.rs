//! Values as Python's `repr` and JSON print them: where one ends, what its items are, and its scalar.
//!
//! Everything is one pass without recursion, so a value of many MB costs one read and no depth of nesting can exhaust the stack.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

use crate::event::Value;
use crate::{json, keyvalue};

/// Where the string that opens at `at` with a quote ends (behind its closing quote); the end of `bytes` if it never closes.
pub fn string_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let mut at = at + 1;
    while let Some(found) = memchr2(quote, b'\\', &bytes[at.min(bytes.len())..]) {
        at += found;
        if bytes[at] == quote {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// Does a quote at `at` open a string? `don't` in an unquoted `repr` does not; `b'…'` does.
fn opens(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|i| bytes[i]) else { return true };
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let letter_before = at.checked_sub(2).is_some_and(|i| bytes[i].is_ascii_alphanumeric());
    matches!(before, b'b' | b'r' | b'f' | b'u') && !letter_before
}

/// Bytes of a name.
const NAME: [bool; 256] = {
    let mut name = [false; 256];
    let mut b = 0;
    while b < 256 {
        name[b] = (b as u8).is_ascii_alphanumeric() || b as u8 == b'_';
        b += 1;
    }
    name
};

/// Bytes that neither end a value nor open a part of it.
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let marks = b"'\"[](){},";
    let mut i = 0;
    while i < marks.len() {
        plain[marks[i] as usize] = false;
        i += 1;
    }
    plain
};

/// Where the value that begins at `at` ends inside a list, dict or call: at the `,` or bracket that follows it.
///
/// `'first' ... 'last'`, as truncated values are printed, is one value.
pub fn value_end(bytes: &[u8], at: usize) -> usize {
    // What most members of a request are.
    match bytes.get(at..at + 6) {
        Some([b'N', b'o', b'n', b'e', b',', _] | [b'T', b'r', b'u', b'e', b',', _]) => return at + 4,
        Some(b"False,") => return at + 5,
        _ => {}
    }
    let mut at = at;
    let mut depth = 0usize;
    while at < bytes.len() {
        if PLAIN[usize::from(bytes[at])] {
            at += 1;
            continue;
        }
        match bytes[at] {
            b'\'' | b'"' if opens(bytes, at) => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => {
                if depth == 0 {
                    return at;
                }
                depth -= 1;
            }
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Where a value in free text ends: a string or bracket at its end, a word at the next blank, comma, semicolon or bracket.
pub fn end_of(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        None => text.len(),
        Some(b'\'' | b'"') => string_end(text, at),
        Some(b'[' | b'(' | b'{') => closing(text, at),
        Some(_) => {
            let end = text[at..].iter().position(|b| matches!(b, b' ' | b',' | b';' | b')' | b'\n' | b'\r'));
            end.map_or(text.len(), |i| at + i)
        }
    }
}

/// Behind the bracket that closes the one at `at`.
pub fn closing(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    loop {
        end = value_end(bytes, end);
        match bytes.get(end) {
            Some(b',') => end += 1,
            Some(_) => return end + 1,
            None => return bytes.len(),
        }
    }
}

/// One `key: value` or `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The key without quotes.
    pub key: Range<usize>,
    /// The value with quotes and brackets, trimmed.
    pub value: Range<usize>,
    /// The value or its structure does not end within the bytes.
    pub open: bool,
}

/// Walks the items of a dict (`{'k': v, "k": v}`) or of a call (`Name(k=v, …)`) in place.
#[derive(Debug)]
pub struct Items<'a> {
    bytes: &'a [u8],
    at: usize,
    /// A call separates key and value by `=`, a dict by `:`.
    call: bool,
    /// Where the structure ended, behind its closing bracket.
    pub end: Option<usize>,
}

impl<'a> Items<'a> {
    /// Starts at the bracket at `open`, which is `{` of a dict or `(` of a call; any other byte gives no items.
    pub fn new(bytes: &'a [u8], open: usize) -> Items<'a> {
        let call = bytes.get(open) == Some(&b'(');
        let dict = bytes.get(open) == Some(&b'{');
        let at = if call || dict { open + 1 } else { bytes.len() };
        Items { bytes, at, call, end: None }
    }

    /// Where the next item begins, if one does.
    pub fn start(&mut self) -> usize {
        while self.bytes.get(self.at).is_some_and(|b| b.is_ascii_whitespace() || *b == b',') {
            self.at += 1;
        }
        self.at
    }

    /// Passes over whole items of `len` bytes, behind which another item begins.
    pub fn skip(&mut self, len: usize) {
        self.at += len;
    }

    /// The next item.
    #[allow(clippy::should_implement_trait)] // `end` is read between items, which an iterator in a `for` would hide
    pub fn next(&mut self) -> Option<Item> {
        let bytes = self.bytes;
        let at = self.start();
        if matches!(bytes.get(at)?, b'}' | b')' | b']') {
            self.end = Some(at + 1);
            self.at = bytes.len();
            return None;
        }
        let key = self.key();
        let mut value_at = self.at;
        while value_at < bytes.len() && bytes[value_at] == b' ' {
            value_at += 1;
        }
        let end = value_end(bytes, value_at);
        self.at = end;
        let mut trimmed = end;
        while trimmed > value_at && bytes[trimmed - 1].is_ascii_whitespace() {
            trimmed -= 1;
        }
        Some(Item { key, value: value_at..trimmed, open: end >= bytes.len() })
    }

    /// Reads a key and its separator; an element without a key has an empty one.
    fn key(&mut self) -> Range<usize> {
        let bytes = self.bytes;
        let start = self.at;
        if self.call {
            let len = bytes[start..].iter().take_while(|b| NAME[usize::from(**b)]).count();
            if bytes.get(start + len) == Some(&b'=') {
                self.at = start + len + 1;
                return start..start + len;
            }
            return start..start;
        }
        if !matches!(bytes[start], b'\'' | b'"') {
            // Keys that are no strings (`{151645: 1.0}`) name nothing.
            let end = bytes[start..].iter().take(64).position(|b| matches!(b, b':' | b',' | b'}'));
            if let Some(end) = end
                && bytes[start + end] == b':'
            {
                self.at = start + end + 1;
            }
            return start..start;
        }
        let end = string_end(bytes, start);
        let mut at = end;
        while bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        if bytes.get(at) == Some(&b':') {
            self.at = at + 1;
            return start + 1..(end - 1).max(start + 1);
        }
        start..start
    }
}

/// The scalar that these bytes print: `None` for `None`, `null`, lists, dicts and strings longer than `limit`.
pub fn scalar(bytes: &[u8], limit: usize) -> Option<Value<'_>> {
    match bytes.first()? {
        b'\'' | b'"' => {
            let text = string(bytes)?;
            if text.len() > limit { None } else { Some(Value::Str(text)) }
        }
        b'[' | b'{' | b'(' => None,
        _ => {
            if let Some(number) = keyvalue::short_number(bytes).filter(|_| bytes.len() <= limit) {
                return Some(number);
            }
            let text = std::str::from_utf8(bytes).ok()?;
            match text {
                "None" | "null" | "" => None,
                "NaN" | "nan" | "Infinity" | "inf" | "-inf" | "-Infinity" => None,
                _ if text.len() > limit => None,
                _ => Some(keyvalue::typed(text)),
            }
        }
    }
}

/// The text of a whole quoted string.
pub fn string(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let quote = *bytes.first()?;
    if !matches!(quote, b'\'' | b'"') || bytes.len() < 2 || string_end(bytes, 0) != bytes.len() || bytes.last() != Some(&quote) {
        return None;
    }
    let inner = &bytes[1..bytes.len() - 1];
    if memchr::memchr(b'\\', inner).is_none() {
        return Some(String::from_utf8_lossy(inner));
    }
    Some(Cow::Owned(String::from_utf8_lossy(&unescape(inner)).into_owned()))
}

/// Without backslash escapes (those of JSON and of Python's `repr`).
pub fn unescape(inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    while at < inner.len() {
        let (len, _) = unescape_one(&inner[at..], &mut out);
        at += len;
    }
    out
}

/// Unescapes one character at the start of `bytes` (not empty) into `out`; returns how many bytes were read and written.
pub fn unescape_one(bytes: &[u8], out: &mut Vec<u8>) -> (usize, usize) {
    if bytes[0] != b'\\' || bytes.len() < 2 {
        out.push(bytes[0]);
        return (1, 1);
    }
    let fixed = |digits: usize| bytes.get(2..2 + digits).and_then(json::hex).map_or((None, 0), |code| (char::from_u32(code), digits));
    let (c, digits) = match bytes[1] {
        b'u' => json::unicode_escape(&bytes[2..]),
        b'x' => fixed(2),
        b'U' => fixed(8),
        _ => (None, 0),
    };
    if digits > 0 {
        let mut buffer = [0; 4];
        let text = c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut buffer);
        out.extend_from_slice(text.as_bytes());
        return (2 + digits, text.len());
    }
    out.push(match bytes[1] {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        other => other,
    });
    (2, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(text: &str, open: usize) -> Vec<(String, String)> {
        let mut items = Items::new(text.as_bytes(), open);
        let mut out = Vec::new();
        while let Some(item) = items.next() {
            out.push((text[item.key].to_owned(), text[item.value].to_owned()));
        }
        assert_eq!(items.end, Some(text.len()), "{text}");
        out
    }

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn quotes_and_brackets_in_a_repr() {
        let text = r#"X(rid='a', text="it's, out={'x'", n=[1, 2, {'k': ')'}], o=<foo.Bar don't>, e=b'\'', t='a' ... 'b', z=None)"#;
        let want = pairs(&[
            ("rid", "'a'"),
            ("text", r#""it's, out={'x'""#),
            ("n", "[1, 2, {'k': ')'}]"),
            ("o", "<foo.Bar don't>"),
            ("e", r"b'\''"),
            ("t", "'a' ... 'b'"),
            ("z", "None"),
        ]);
        assert_eq!(walk(text, 1), want);
    }

    #[test]
    fn dicts_of_both_kinds() {
        assert_eq!(walk(r#"{"a": "x\"}", "b": [1], "c": {}}"#, 0), pairs(&[("a", r#""x\"}""#), ("b", "[1]"), ("c", "{}")]));
        assert_eq!(walk("{'a': 1, 7: 2}", 0), pairs(&[("a", "1"), ("", "2")]));
    }

    #[test]
    fn strings_unescape() {
        assert_eq!(string(br#""a\n\u00e9\ud83d\ude00""#).as_deref(), Some("a\né😀"));
        assert_eq!(string(br"'it\'s'").as_deref(), Some("it's"));
        assert_eq!(string(br"'\xe9 \U0001f600 \ud83d'").as_deref(), Some("é 😀 \u{fffd}"));
        // A sign is no digit.
        assert_eq!(string(br#""\u+0e9""#).as_deref(), Some("u+0e9"));
        assert_eq!(string(b"'open").as_deref(), None);
    }
}
