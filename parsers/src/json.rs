//! Members of a JSON object (or items of an array) as slices of the record's own bytes.
//!
//! A log line is read where it stands: values keep their offsets, so a body can be withheld as an exact span; duplicated keys keep
//! their order; a record that ends too early still gives what stands before the end. Nothing here recurses or allocates, so
//! hostile nesting costs only its length. It is lenient: it finds where a value ends and does not prove that the value is valid.

use std::borrow::Cow;

use crate::event::Value;
use crate::keyvalue;

/// One member of an object, or one item of an array (then `key` is empty).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The key between its quotes, escapes as they stand.
    pub key: &'a [u8],
    /// The value's bytes, quotes and brackets included.
    pub value: &'a [u8],
    /// Where the value begins in the bytes that were given.
    pub at: usize,
    /// The value's end was reached.
    pub complete: bool,
}

/// How a walk over an object or array ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Not yet.
    Open,
    /// At its closing bracket; the offset behind it.
    Closed(usize),
    /// The bytes ended first.
    Truncated,
    /// Something that is not JSON stands here.
    Damaged,
}

/// A walk over the members of an object or the items of an array.
#[derive(Debug)]
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    array: bool,
    first: bool,
    end: End,
}

/// Walks the object at the start of `bytes` (blanks before it are passed over).
pub fn members(bytes: &[u8]) -> Members<'_> {
    walk(bytes, false)
}

/// Walks the array at the start of `bytes`.
pub fn items(bytes: &[u8]) -> Members<'_> {
    walk(bytes, true)
}

fn walk(bytes: &[u8], array: bool) -> Members<'_> {
    let at = blanks(bytes, 0);
    let open = if array { b'[' } else { b'{' };
    let end = match bytes.get(at) {
        Some(b) if *b == open => End::Open,
        Some(_) => End::Damaged,
        None => End::Truncated,
    };
    Members { bytes, at: at + 1, array, first: true, end }
}

impl<'a> Members<'a> {
    /// How the walk ended; `Open` until [`Iterator::next`] gave `None`.
    pub fn end(&self) -> End {
        self.end
    }

    fn stop(&mut self, end: End) -> Option<Member<'a>> {
        self.end = end;
        None
    }

    /// Passes over `byte`, which must come next but for blanks.
    fn expect(&mut self, byte: u8) -> Result<(), End> {
        self.at = blanks(self.bytes, self.at);
        match self.bytes.get(self.at) {
            None => Err(End::Truncated),
            Some(b) if *b == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(End::Damaged),
        }
    }

    fn key(&mut self) -> Result<&'a [u8], End> {
        self.at = blanks(self.bytes, self.at);
        match self.bytes.get(self.at) {
            None => return Err(End::Truncated),
            Some(b'"') => {}
            Some(_) => return Err(End::Damaged),
        }
        let (len, complete) = string_len(&self.bytes[self.at..]);
        if !complete {
            return Err(End::Truncated);
        }
        let key = &self.bytes[self.at + 1..self.at + len - 1];
        self.at += len;
        self.expect(b':')?;
        Ok(key)
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        if self.end != End::Open {
            return None;
        }
        self.at = blanks(self.bytes, self.at);
        let close = if self.array { b']' } else { b'}' };
        match self.bytes.get(self.at) {
            None => return self.stop(End::Truncated),
            Some(b) if *b == close => {
                let end = self.at + 1;
                return self.stop(End::Closed(end));
            }
            Some(b',') if !self.first => self.at += 1,
            Some(_) if self.first => {}
            Some(_) => return self.stop(End::Damaged),
        }
        self.first = false;
        let mut key: &[u8] = b"";
        if !self.array {
            match self.key() {
                Ok(k) => key = k,
                Err(end) => return self.stop(end),
            }
        }
        self.at = blanks(self.bytes, self.at);
        let at = self.at;
        let (len, complete) = value_len(&self.bytes[at..]);
        if len == 0 {
            return self.stop(if at >= self.bytes.len() { End::Truncated } else { End::Damaged });
        }
        self.at += len;
        if !complete {
            self.end = End::Truncated;
        }
        Some(Member { key, value: &self.bytes[at..at + len], at, complete })
    }
}

fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Length of the value at the start of `bytes`, and whether its end was reached. Length 0: no value begins here.
pub fn value_len(bytes: &[u8]) -> (usize, bool) {
    match bytes.first() {
        Some(b'"') => string_len(bytes),
        Some(b'{' | b'[') => nested_len(bytes),
        Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {
            let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
            let len = bytes.iter().take_while(|b| plain(b)).count();
            // A number or word at the very end of the bytes may have been longer.
            (len, len < bytes.len())
        }
        _ => (0, false),
    }
}

/// Length of the string at the start of `bytes` (which begin with a quote), quotes included.
fn string_len(bytes: &[u8]) -> (usize, bool) {
    let mut at = 1;
    while let Some(step) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or(b"")) {
        at += step;
        if bytes[at] == b'"' {
            return (at + 1, true);
        }
        at += 2;
    }
    (bytes.len(), false)
}

fn nested_len(bytes: &[u8]) -> (usize, bool) {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        match b {
            b'"' => {
                let (len, complete) = string_len(&bytes[at..]);
                if !complete {
                    return (bytes.len(), false);
                }
                at += len;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return (at + 1, true);
                }
            }
            _ => {
                at += plain_len(&bytes[at..]).max(1);
                continue;
            }
        }
        at += 1;
    }
    (bytes.len(), false)
}

/// How many bytes from here on surely neither open nor close anything. Long numbers stand in traces by the dozen.
fn plain_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The lowest byte that is marked is zero.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let mut at = 0;
    while let Some(eight) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        // `[` and `{`, `]` and `}` differ in one bit.
        let folded = word | (ONES << 5);
        let are = |word: u64, byte: u8| zeros(word ^ (ONES * u64::from(byte)));
        let found = are(word, b'"') | are(folded, b'{') | are(folded, b'}');
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at
}

/// The text of a string value (unescaped; a string without its closing quote gives what is there). `None` for other values.
pub fn text(value: &[u8]) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix(b"\"")?;
    let (inner, closed) = match inner.strip_suffix(b"\"") {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    if memchr::memchr(b'\\', inner).is_none() {
        return Some(String::from_utf8_lossy(inner));
    }
    if closed && let Ok(text) = serde_json::from_slice::<String>(value) {
        return Some(Cow::Owned(text));
    }
    Some(String::from_utf8_lossy(inner))
}

/// The character that the bytes behind `\u` are, and how many of them it took: four digits, or ten bytes where a second half of a
/// surrogate pair follows. A half alone is no character and takes four; what are no four hex digits take nothing.
pub fn unicode_escape(rest: &[u8]) -> (Option<char>, usize) {
    let Some(first) = rest.get(..4).and_then(hex) else { return (None, 0) };
    if !(0xd800..0xe000).contains(&first) {
        return (char::from_u32(first), 4);
    }
    if first < 0xdc00
        && rest.get(4..6) == Some(b"\\u")
        && let Some(second) = rest.get(6..10).and_then(hex)
        && (0xdc00..0xe000).contains(&second)
    {
        return (char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)), 10);
    }
    (None, 4)
}

/// Up to eight hex digits, without a sign.
pub fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value: u32, b| Some(value << 4 | char::from(*b).to_digit(16)?))
}

/// The text of a string, or the digits of a number: ids stand as either.
pub fn id(value: &[u8]) -> Option<Cow<'_, str>> {
    if value.first() == Some(&b'"') {
        return text(value);
    }
    if value.first().is_some_and(u8::is_ascii_digit) {
        return std::str::from_utf8(value).ok().map(Cow::Borrowed);
    }
    None
}

/// A number, from a number or from a string that is one.
pub fn number(value: &[u8]) -> Option<Value<'static>> {
    let inner = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value);
    keyvalue::number(std::str::from_utf8(inner).ok()?)
}

/// A field's value: number, bool or text; objects and arrays as their own text; `None` for `null`.
pub fn value(value: &[u8]) -> Option<Value<'_>> {
    match value.first()? {
        b'"' => text(value).map(Value::Str),
        b'n' => None,
        b't' if value == b"true" => Some(Value::Bool(true)),
        b'f' if value == b"false" => Some(Value::Bool(false)),
        _ => number(value).or_else(|| Some(Value::Str(String::from_utf8_lossy(value)))),
    }
}

/// The value of the first member of this key.
pub fn find<'a>(object: &'a [u8], key: &[u8]) -> Option<Member<'a>> {
    members(object).find(|m| m.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_offsets_and_order() {
        let bytes = br#" {"a":1, "b" : {"x":[1,"}"]},"a":"q\"w"}tail"#;
        let mut walk = members(bytes);
        let all: Vec<_> = walk.by_ref().map(|m| (m.key, m.value, m.at)).collect();
        assert_eq!(all[0], (&b"a"[..], &b"1"[..], 6));
        assert_eq!(all[1].1, br#"{"x":[1,"}"]}"#);
        assert_eq!(&bytes[all[1].2..all[1].2 + all[1].1.len()], all[1].1);
        assert_eq!(text(all[2].1).as_deref(), Some("q\"w"));
        assert_eq!(walk.end(), End::Closed(bytes.len() - 4));
    }

    #[test]
    fn truncated_records_give_what_is_there() {
        let mut walk = members(br#"{"id":"x","request":{"messages":[{"content":"hel"#);
        assert_eq!(walk.next().map(|m| m.value), Some(&br#""x""#[..]));
        let last = walk.next().unwrap();
        assert_eq!((last.key, last.complete, last.at), (&b"request"[..], false, 20));
        assert_eq!(walk.next(), None);
        assert_eq!(walk.end(), End::Truncated);
    }

    #[test]
    fn what_opens_and_closes_is_found_wherever_it_stands() {
        for special in *b"\"{}[]" {
            for at in 0..20 {
                for filler in [b'7', b'+', b'z', 0x02, 0xa2, 0xdb, 0xfd, b';'] {
                    let mut bytes = [filler; 20];
                    bytes[at] = special;
                    let plain = plain_len(&bytes);
                    assert!(plain == at || plain < at && plain == 16, "{special} at {at} in {filler:#x}: {plain}");
                }
            }
        }
        assert_eq!(value_len(br#"[[1,23456789012345,{"a]":12345678901234567890}],"x"]tail"#), (52, true));
    }

    #[test]
    fn damage_ends_the_walk() {
        for bytes in [&b"{\"a\" 1}"[..], b"{a:1}", b"[1]", b"{\"a\":1 \"b\":2}"] {
            let mut walk = members(bytes);
            for _ in walk.by_ref() {}
            assert_eq!(walk.end(), End::Damaged, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn unicode_escapes() {
        assert_eq!(unicode_escape(b"00e9x"), (Some('\u{e9}'), 4));
        assert_eq!(unicode_escape(br"d83d\ude00x"), (Some('\u{1f600}'), 10));
        // Halves of pairs, alone and in the wrong order.
        assert_eq!(unicode_escape(br"d83d\u0041"), (None, 4));
        assert_eq!(unicode_escape(br"de00\ud83d"), (None, 4));
        assert_eq!(unicode_escape(b"+0e9"), (None, 0));
        assert_eq!(unicode_escape(b"00e"), (None, 0));
    }

    #[test]
    fn numbers_come_as_numbers_or_strings() {
        assert_eq!(number(b"\"26.31\""), Some(Value::Float(26.31)));
        assert_eq!(number(b"18443390244906947602"), Some(Value::UInt(18_443_390_244_906_947_602)));
        assert_eq!(id(b"18443390244906947602").as_deref(), Some("18443390244906947602"));
        assert_eq!(value(b"null"), None);
    }
}
