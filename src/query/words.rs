//! What is a word? The one tokenizer of the index, the scan and the matcher.
//!
//! A word is a maximal run of letters and digits (Unicode alphanumerics), compared in lower case. Everything else separates, `_` too:
//! `cached_tokens` is two words, so `cached`, `tokens`, `cached_tokens`, `cached-tokens` and `"cached tokens"` all find it (`cachedTokens` is
//! one word and does not). A search for a part of a log line is expected to do that, and it is the rule by which the parsers promise that
//! a columnar record holds no other words.
//!
//! Further rules:
//! * after a backslash the letters `n`, `r` and `t` separate: payloads hold JSON and Python strings, where `done\nnext` is two words;
//! * Han, Hiragana and Katakana have no blanks between words, so each such character is a word, and a query of several is a phrase;
//! * bytes that are not UTF-8 separate;
//! * lower-casing is by character and never changes whether a character is ASCII (the Kelvin sign stays what it is), so an ASCII word's
//!   bytes stand in the record as they are, but for case.

use std::borrow::Cow;
use std::ops::Range;

use corr_parsers::event::Withheld;

const SEPARATOR: u8 = 0;
const WORD: u8 = 1;
/// A byte beyond ASCII.
pub const HIGH: u8 = 2;
const BACKSLASH: u8 = 4;
/// A decimal digit.
pub const DECIMAL: u8 = 8;
/// A letter that is no hex digit.
pub const LETTER: u8 = 16;

const CLASS: [u8; 256] = {
    let mut class = [SEPARATOR; 256];
    let mut b = 0;
    while b < 256 {
        let byte = b as u8;
        if byte.is_ascii_digit() {
            class[b] = WORD | DECIMAL;
        } else if byte.is_ascii_hexdigit() {
            class[b] = WORD;
        } else if byte.is_ascii_alphabetic() {
            class[b] = WORD | LETTER;
        } else if byte >= 0x80 {
            class[b] = HIGH;
        } else if byte == b'\\' {
            class[b] = BACKSLASH;
        }
        b += 1;
    }
    class
};

/// The words of some bytes, as ranges of them, in order. Never allocates.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    made_of: u8,
}

/// The words of some bytes.
pub fn words(bytes: &[u8]) -> Words<'_> {
    Words { bytes, at: 0, made_of: 0 }
}

/// Calls `each` with every word that [`words`] gives and what it is made of, in the same order. Reads 64 bytes at a time where they are plain
/// ASCII, which nearly all of a log is: the index looks at every byte, and this was a seventh of its time.
pub fn each_word(bytes: &[u8], mut each: impl FnMut(Range<usize>, u8)) {
    let mut at = 0;
    let mut tail = [0u8; 64];
    while at < bytes.len() {
        let rest = &bytes[at..];
        let block = match rest.first_chunk::<64>() {
            Some(block) => block,
            None => {
                // Behind the last byte stand zeros, which are no word.
                tail[..rest.len()].copy_from_slice(rest);
                tail[rest.len()..].fill(0);
                &tail
            }
        };
        let masks = Masks::of(block);
        let mut left = masks.word;
        let mut next = at + 64;
        if masks.odd {
            left = 0;
            match plainly(bytes, at, next, &mut each) {
                Some(end) => next = end,
                None => return,
            }
        }
        while left != 0 {
            let start = left.trailing_zeros() as usize;
            let len = (!(left >> start)).trailing_zeros() as usize;
            if start + len >= 64 {
                // The word may go on behind the block.
                next = at + start;
                if start == 0 {
                    match plainly(bytes, at, at + 1, &mut each) {
                        Some(end) => next = end,
                        None => return,
                    }
                }
                break;
            }
            let bits = ((1u64 << len) - 1) << start;
            let decimal = if masks.decimal & bits != 0 { DECIMAL } else { 0 };
            let letter = if masks.letter & bits != 0 { LETTER } else { 0 };
            each(at + start..at + start + len, WORD | decimal | letter);
            left &= !bits;
        }
        at = next;
    }
}

/// Word by word from `at` until one ends at or behind `until`: where that is. `None` at the end of the bytes.
fn plainly(bytes: &[u8], at: usize, until: usize, each: &mut impl FnMut(Range<usize>, u8)) -> Option<usize> {
    let mut words = Words { bytes, at, made_of: 0 };
    while let Some(word) = words.next() {
        let end = word.end;
        each(word, words.made_of);
        if end >= until {
            return Some(end);
        }
    }
    None
}

/// In ASCII text without backslashes: the first word at or behind `from`, where no word is cut, that has a decimal digit, and what it is made of.
pub fn next_with_digit(text: &[u8], from: usize) -> Option<(Range<usize>, u8)> {
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let mut at = from;
    let digit = loop {
        let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            break at + text.get(at..)?.iter().position(u8::is_ascii_digit)?;
        };
        let bytes = u64::from_le_bytes(*eight);
        let decimal = at_least(bytes, b'0') & !at_least(bytes, b'9' + 1) & TOPS;
        if decimal != 0 {
            break at + decimal.trailing_zeros() as usize / 8;
        }
        at += 8;
    };
    let mut made_of = WORD | DECIMAL;
    let mut start = digit;
    while start > from && CLASS[usize::from(text[start - 1])] & WORD != 0 {
        start -= 1;
        made_of |= CLASS[usize::from(text[start])];
    }
    let mut end = digit + 1;
    while end < text.len() && CLASS[usize::from(text[end])] & WORD != 0 {
        made_of |= CLASS[usize::from(text[end])];
        end += 1;
    }
    Some((start..end, made_of))
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// The top bit of each of eight bytes, all below 0x80, that is at least `n`; the other bits say nothing.
fn at_least(bytes: u64, n: u8) -> u64 {
    bytes + ONES * u64::from(0x80 - n)
}

/// What the bytes of a block are, one bit each, the first byte lowest. Only good where `odd` is false.
struct Masks {
    word: u64,
    decimal: u64,
    letter: u64,
    /// There are bytes beyond ASCII or backslashes.
    odd: bool,
}

impl Masks {
    fn of(block: &[u8; 64]) -> Masks {
        const TOPS: u64 = 0x8080_8080_8080_8080;
        let at_least = |bytes: u64, n: u8| at_least(bytes, n) & TOPS;
        // The top bits of eight bytes side by side.
        let gather = |tops: u64| (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        let mut masks = Masks { word: 0, decimal: 0, letter: 0, odd: false };
        let mut odd = 0;
        for (i, eight) in block.chunks_exact(8).enumerate() {
            let raw = u64::from_le_bytes([eight[0], eight[1], eight[2], eight[3], eight[4], eight[5], eight[6], eight[7]]);
            let bytes = raw & !TOPS;
            let lower = bytes | (ONES * 0x20);
            let decimal = at_least(bytes, b'0') & !at_least(bytes, b'9' + 1);
            let behind = !at_least(lower, b'z' + 1);
            let letter = at_least(lower, b'g') & behind;
            let word = at_least(lower, b'a') & behind | decimal;
            let backslash = !((bytes ^ (ONES * u64::from(b'\\'))) + ONES * 0x7f) & TOPS;
            odd |= raw & TOPS | backslash;
            masks.word |= gather(word) << (8 * i);
            masks.decimal |= gather(decimal) << (8 * i);
            masks.letter |= gather(letter) << (8 * i);
        }
        masks.odd = odd != 0;
        masks
    }
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.bytes;
        let mut at = self.at;
        while at < bytes.len() {
            self.made_of = CLASS[usize::from(bytes[at])];
            match self.made_of {
                SEPARATOR => at += 1,
                class if class & WORD != 0 => return Some(self.run(at, at + 1)),
                BACKSLASH => at += if matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'\\')) { 2 } else { 1 },
                HIGH => match decode(bytes, at) {
                    Some((c, len)) if is_ideograph(c) => {
                        self.at = at + len;
                        return Some(at..at + len);
                    }
                    Some((c, len)) if c.is_alphanumeric() => return Some(self.run(at, at + len)),
                    Some((_, len)) => at += len,
                    None => at += 1,
                },
                _ => at += 1,
            }
        }
        self.at = at;
        None
    }
}

impl Words<'_> {
    /// What the word that came last is made of: `DECIMAL`, `LETTER`, `HIGH`, as many as apply.
    pub fn made_of(&self) -> u8 {
        self.made_of
    }

    #[inline]
    /// The word that began at `start` and holds at least the bytes before `at`.
    fn run(&mut self, start: usize, mut at: usize) -> Range<usize> {
        let bytes = self.bytes;
        loop {
            while at < bytes.len() {
                let class = CLASS[usize::from(bytes[at])];
                if class & WORD == 0 {
                    break;
                }
                self.made_of |= class;
                at += 1;
            }
            if at == bytes.len() || bytes[at] < 0x80 {
                break;
            }
            match decode(bytes, at) {
                Some((c, len)) if c.is_alphanumeric() && !is_ideograph(c) => {
                    self.made_of |= HIGH;
                    at += len;
                }
                _ => break,
            }
        }
        self.at = at;
        start..at
    }
}

/// A visible range of a payload without the words at its edges that go on in what is withheld: a part of a word is no word.
pub fn uncut(payload: &[u8], range: Range<usize>) -> Range<usize> {
    let is_word = |at: usize| payload.get(at).is_some_and(|b| CLASS[usize::from(*b)] & WORD != 0);
    let (mut start, mut end) = (range.start, range.end);
    if start > 0 && is_word(start - 1) {
        while start < end && is_word(start) {
            start += 1;
        }
    }
    if is_word(end) {
        while start < end && is_word(end - 1) {
            end -= 1;
        }
    }
    start..end
}

/// Could a word of these bytes begin or end between the bytes at `at - 1` and `at`? Never `false` where one does, in whatever surroundings:
/// behind `\n` in a string, beside letters beyond ASCII, or behind an ANSI escape that is still there.
pub fn may_part(bytes: &[u8], at: usize) -> bool {
    let (Some(before), Some(after)) = (at.checked_sub(1).map(|i| bytes[i]), bytes.get(at)) else { return true };
    if !before.is_ascii_alphanumeric() || !after.is_ascii_alphanumeric() {
        return true;
    }
    // A record that was torn ends in the middle of a word, and the next one begins there with its stamp, `2026-11-29T…`.
    if after.is_ascii_digit() && bytes.get(at + 4) == Some(&b'-') && bytes.get(at + 10) == Some(&b'T') {
        return true;
    }
    let lead = &bytes[at.saturating_sub(40)..at];
    (lead.ends_with(b"\\n") || lead.ends_with(b"\\r") || lead.ends_with(b"\\t")) || memchr::memchr(0x1b, lead).is_some()
}

/// The character at `at` and its length, if the bytes there are UTF-8.
fn decode(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let len = match bytes[at] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let c = std::str::from_utf8(bytes.get(at..at + len)?).ok()?.chars().next()?;
    Some((c, len))
}

/// Han, Hiragana, Katakana.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF) && c.is_alphanumeric()
}

/// One character in lower case; as it is where that would be several characters, or would turn a character beyond ASCII into ASCII.
pub fn lower_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) if !one.is_ascii() => one,
        _ => c,
    }
}

/// Appends a word in lower case. Bytes that are not UTF-8 (never inside a word) become U+FFFD.
pub fn push_lower(word: &[u8], out: &mut String) {
    for chunk in word.utf8_chunks() {
        if chunk.valid().is_ascii() {
            out.extend(chunk.valid().bytes().map(|b| b.to_ascii_lowercase() as char));
        } else {
            out.extend(chunk.valid().chars().map(lower_char));
        }
        if !chunk.invalid().is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Is this word of a record the same as a lower-case word?
pub fn same(word: &[u8], lower: &str) -> bool {
    if word.is_ascii() {
        return word.eq_ignore_ascii_case(lower.as_bytes());
    }
    match std::str::from_utf8(word) {
        Ok(word) => word.chars().map(lower_char).eq(lower.chars()),
        Err(_) => false,
    }
}

/// The words of a text in lower case: what a query's free word or phrase looks for.
pub fn split(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for range in words(text.as_bytes()) {
        let mut word = String::new();
        push_lower(&text.as_bytes()[range], &mut word);
        found.push(word);
    }
    found
}

/// The ranges of a payload outside its withheld spans, in order; empty ones are left out.
///
/// Spans may overlap, lie in any order or beyond the payload. The words of a payload are the words of each of these ranges by itself: no
/// word, phrase or pattern runs across a withheld span.
#[derive(Debug)]
pub struct Visible<'a> {
    spans: Cow<'a, [Withheld]>,
    next: usize,
    at: usize,
    len: usize,
}

/// The ranges of a payload of `len` bytes that are not withheld.
pub fn visible(len: usize, withheld: &[Withheld]) -> Visible<'_> {
    let mut spans = Cow::Borrowed(withheld);
    if !withheld.is_sorted_by_key(|w| w.span.start) {
        spans.to_mut().sort_by_key(|w| w.span.start);
    }
    Visible { spans, next: 0, at: 0, len }
}

impl Iterator for Visible<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        while self.at < self.len {
            let Some(hidden) = self.spans.get(self.next) else {
                let rest = self.at..self.len;
                self.at = self.len;
                return Some(rest);
            };
            self.next += 1;
            if hidden.span.is_empty() {
                continue;
            }
            let seen = self.at..hidden.span.start.min(self.len);
            self.at = self.at.max(hidden.span.end);
            if !seen.is_empty() {
                return Some(seen);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corr_parsers::event::Secret;
    use proptest::prelude::*;

    #[test]
    fn punctuation_and_underscore_separate() {
        assert_eq!(split("Prefill batch, #cached_tokens: 12.5"), ["prefill", "batch", "cached", "tokens", "12", "5"]);
        assert_eq!(split("10.0.0.1:30000"), ["10", "0", "0", "1", "30000"]);
        assert_eq!(split("--- … ║"), Vec::<String>::new());
    }

    #[test]
    fn an_escaped_line_end_separates() {
        assert_eq!(split(r#""done\nnext\tcell" C:\\name"#), ["done", "next", "cell", "c", "name"]);
        assert_eq!(split(r"\x41"), ["x41"]);
    }

    #[test]
    fn letters_beyond_ascii() {
        assert_eq!(split("Größe NAÏVE x²"), ["größe", "naïve", "x²"]);
        assert_eq!(split("缓存命中 ok"), ["缓", "存", "命", "中", "ok"]);
        assert_eq!(split("\u{212A}elvin"), ["\u{212A}elvin"]);
        assert!(same("GRÖSSE".as_bytes(), "grösse"));
    }

    #[test]
    fn words_may_part_where_a_torn_record_ends() {
        let torn = b"request comp2026-11-29T18:54:31.160201Z  INFO";
        assert!(may_part(torn, 12) && may_part(torn, 8));
        assert!(!may_part(torn, 9) && !may_part(torn, 14) && !may_part(b"x2026-11-29", 1));
    }

    #[test]
    fn withheld_spans_in_any_order() {
        let hide = |span| Withheld { span, why: Secret::Body, name: "text" };
        let spans = [hide(8..10), hide(2..4), hide(3..5), hide(20..30)];
        let seen: Vec<_> = visible(12, &spans).collect();
        assert_eq!(seen, [0..2, 5..8, 10..12]);
        assert_eq!(visible(4, &[hide(0..9)]).count(), 0);
    }

    proptest! {
        #[test]
        fn words_are_the_runs_between_separators(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut last = 0;
            for range in words(&bytes) {
                prop_assert!(range.start >= last && range.start < range.end && range.end <= bytes.len());
                let word = std::str::from_utf8(&bytes[range.clone()]).unwrap();
                prop_assert!(word.chars().all(char::is_alphanumeric));
                last = range.end;
            }
        }

        #[test]
        fn blocks_give_the_words_that_the_iterator_gives(
            parts in prop::collection::vec(
                prop_oneof![
                    6 => "[ -~]{0,90}".prop_map(String::into_bytes),
                    2 => "[a-z0-9]{50,140}".prop_map(String::into_bytes),
                    2 => "[a-fA-F0-9_.:=,-]{0,60}".prop_map(String::into_bytes),
                    1 => prop::collection::vec(any::<u8>(), 0..30),
                    1 => "(é|缓|\\\\n|ß){0,5}".prop_map(String::into_bytes),
                ],
                0..8,
            )
        ) {
            let bytes = parts.concat();
            let mut want = Vec::new();
            let mut iterator = words(&bytes);
            while let Some(word) = iterator.next() {
                want.push((word, iterator.made_of()));
            }
            let mut got = Vec::new();
            each_word(&bytes, |word, made_of| got.push((word, made_of)));
            prop_assert_eq!(got, want);
        }

        #[test]
        fn ascii_words_agree_with_a_plain_split(text in "[a-zA-Z0-9_ ,.:#/-]{0,80}") {
            let plain: Vec<String> =
                text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_ascii_lowercase).collect();
            prop_assert_eq!(split(&text), plain);
        }
    }
}
