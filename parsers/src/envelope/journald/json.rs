//! `-o json` (also inside `json-sse` and `json-seq`): one flat object a line. `pretty.rs` reads the same object over several lines.
//!
//! A scanner of its own, because v229 and v237 write what is not JSON (`,  }` after a repeated field, raw bytes inside strings with
//! `--all`), and because most of an entry's fields are passed over.

use std::borrow::Cow;

use memchr::{memchr2, memmem};

use super::fields::{self, Fields, Value};
use super::short;
use crate::format::{Content, Entry};
use crate::json::unicode_escape;
use crate::record::{line_len, strip_ansi, trim_end};

/// Does this line hold an entry?
pub fn begins(line: &[u8]) -> bool {
    if body(line).first() != Some(&b'{') {
        return false;
    }
    // Inside another JSON string the closing quote would be `\"`. A terminal's copy has colours inside the quotes.
    memmem::find(line, b"\"__REALTIME_TIMESTAMP\"").is_some() || memmem::find(line, b"m__REALTIME_TIMESTAMP\x1b[").is_some()
}

/// Without what `json-sse` and `json-seq` put before an object.
fn body(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"data: ").or_else(|| line.strip_prefix(b"\x1e")).unwrap_or(line)
}

/// Reads the line at `bytes[at]`.
pub fn read(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    let len = line_len(&bytes[at..]);
    let line = trim_end(&bytes[at..at + len]);
    if line.is_empty() {
        entry.content = Content::Skip("blank line");
        return len;
    }
    if let Some(reason) = short::marker(line) {
        entry.content = Content::Skip(reason);
        return len;
    }
    read_object(line, entry);
    len
}

/// Reads `text`, which is to be one object, into `entry`.
pub fn read_object(text: &[u8], entry: &mut Entry) {
    let Err(reason) = object(text, entry) else { return };
    // A terminal's copy (`SYSTEMD_COLORS=1`). journalctl itself never writes a bare ESC, but for v237 with --all.
    let mut plain = Vec::new();
    entry.clear();
    if memchr::memchr(0x1b, text).is_some() {
        strip_ansi(text, &mut plain);
    }
    if plain.is_empty() || object(&plain, entry).is_err() {
        entry.clear();
        entry.content = Content::Broken(reason);
    }
}

/// Reads one object into `entry`.
fn object(line: &[u8], entry: &mut Entry) -> Result<(), &'static str> {
    let object = body(line);
    let mut fields = Fields::default();
    scan(object, line.len() - object.len(), &mut fields, entry)?;
    if entry.meta.received.is_none() {
        return Err("JSON, but not of journalctl");
    }
    fields.finish(entry);
    Ok(())
}

fn scan<'a>(object: &'a [u8], before: usize, fields: &mut Fields<'a>, entry: &mut Entry) -> Result<(), &'static str> {
    const CUT: &str = "JSON ends early";
    let mut scan = Scan { bytes: object, at: 0 };
    if !scan.take(b'{') {
        return Err("not JSON");
    }
    loop {
        if scan.take(b'}') {
            break;
        }
        let name = scan.string().ok_or(CUT)?;
        if !scan.take(b':') {
            return Err(CUT);
        }
        let name = name.raw;
        let want = fields::wanted(name);
        match scan.peek().ok_or(CUT)? {
            b'"' => {
                let text = scan.string().ok_or(CUT)?;
                if want {
                    let bytes = text.decode(&mut fields.garbled);
                    fields.set(&mut entry.meta, name, Value { bytes: Some(bytes), at: before + text.at, len: text.raw.len() });
                }
            }
            b'[' => {
                let start = scan.at;
                let array = scan.array().ok_or(CUT)?;
                if want {
                    set_array(array, before + start, name, fields, entry)?;
                }
            }
            _ => {
                let start = scan.at;
                let word = scan.word();
                if want && word == b"null" {
                    fields.set(&mut entry.meta, name, Value { bytes: None, at: before + start, len: 4 });
                } else if word.is_empty() {
                    return Err("not JSON");
                }
            }
        }
        // v229 and v237 leave a comma before the closing brace.
        if !scan.take(b',') && scan.peek() != Some(b'}') {
            return Err(if scan.peek().is_none() { CUT } else { "not JSON" });
        }
    }
    if scan.peek().is_some() { Err("text behind the JSON object") } else { Ok(()) }
}

/// An array: numbers are one value's bytes, anything else is a repeated field.
fn set_array<'a>(array: &'a [u8], at: usize, name: &'a [u8], fields: &mut Fields<'a>, entry: &mut Entry) -> Result<(), &'static str> {
    const BAD: &str = "a JSON array that is neither bytes nor values";
    let mut scan = Scan { bytes: array, at: 1 };
    if scan.peek().is_some_and(|b| b.is_ascii_digit()) {
        let bytes = numbers(array).ok_or(BAD)?;
        fields.set(&mut entry.meta, name, Value { bytes: Some(Cow::Owned(bytes)), at, len: array.len() });
        return Ok(());
    }
    loop {
        let start = scan.at;
        match scan.peek().ok_or(BAD)? {
            b']' => return Ok(()),
            b'"' => {
                let text = scan.string().ok_or(BAD)?;
                let bytes = text.decode(&mut fields.garbled);
                fields.set(&mut entry.meta, name, Value { bytes: Some(bytes), at: at + text.at, len: text.raw.len() });
            }
            b'[' => {
                let inner = scan.array().ok_or(BAD)?;
                let bytes = numbers(inner).ok_or(BAD)?;
                fields.set(&mut entry.meta, name, Value { bytes: Some(Cow::Owned(bytes)), at: at + start, len: inner.len() });
            }
            _ => {
                if scan.word() != b"null" {
                    return Err(BAD);
                }
                fields.set(&mut entry.meta, name, Value { bytes: None, at: at + start, len: 4 });
            }
        }
        if !scan.take(b',') && scan.peek() != Some(b']') {
            return Err(BAD);
        }
    }
}

/// `[27, 91, 51]` into bytes.
fn numbers(array: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(array.len() / 4);
    let mut value: Option<u32> = None;
    for b in array {
        match b {
            b'0'..=b'9' => value = Some(value.unwrap_or(0) * 10 + u32::from(b - b'0')).filter(|v| *v < 256),
            b',' | b']' => bytes.extend(value.take().and_then(|v| u8::try_from(v).ok())),
            b'[' | b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => return None,
        }
        if b.is_ascii_digit() && value.is_none() {
            return None;
        }
    }
    Some(bytes)
}

/// A JSON string as it stands between its quotes.
struct Text<'a> {
    raw: &'a [u8],
    at: usize,
    escaped: bool,
}

impl<'a> Text<'a> {
    fn decode(&self, garbled: &mut bool) -> Cow<'a, [u8]> {
        if !self.escaped { Cow::Borrowed(self.raw) } else { Cow::Owned(unescape(self.raw, garbled)) }
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b) = self.bytes.get(self.at) {
            if !matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*b);
            }
            self.at += 1;
        }
        None
    }

    fn take(&mut self, want: u8) -> bool {
        let found = self.peek() == Some(want);
        self.at += usize::from(found);
        found
    }

    fn string(&mut self) -> Option<Text<'a>> {
        if !self.take(b'"') {
            return None;
        }
        let start = self.at;
        let mut escaped = false;
        loop {
            let next = self.at + memchr2(b'"', b'\\', self.bytes.get(self.at..)?)?;
            if self.bytes[next] == b'"' {
                self.at = next + 1;
                return Some(Text { raw: &self.bytes[start..next], at: start, escaped });
            }
            escaped = true;
            self.at = next + 2;
        }
    }

    /// The array at the next byte, brackets included. Strings inside may hold brackets.
    fn array(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'[' => depth += 1,
                b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(&self.bytes[start..self.at]);
            }
        }
    }

    /// A bare word: `null`, `true`, a number.
    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+')) {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }
}

/// Undoes JSON escapes. What cannot be undone becomes U+FFFD and sets `garbled`.
fn unescape(raw: &[u8], garbled: &mut bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let code = rest.get(at + 1).copied().unwrap_or(b'\\');
        rest = rest.get(at + 2..).unwrap_or(&[]);
        match code {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'u' => {
                let (c, used) = unicode_escape(rest);
                *garbled |= c.is_none();
                out.extend_from_slice(c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[used..];
            }
            other => out.push(other),
        }
    }
    out.extend_from_slice(rest);
    out
}
