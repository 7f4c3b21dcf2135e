//! A payload without what is withheld of it, in which a search finds what it finds in the payload.
//!
//! For each withheld span stand two characters that say what a search sees at the span's edges, and no more: whether a word goes on into it (its first
//! and last byte, [`crate::query::words::uncut`]), and what `\b` and `^` of a pattern look back at (its last character). Not its bytes, not its length.
//! That is exact where spans begin and end, and messages begin, between characters, as those of the parsers do.

use std::ops::Range;
use std::sync::LazyLock;

use corr_parsers::event::Withheld;
use regex::Regex;

/// A payload as it leaves the machine.
#[derive(Debug, PartialEq)]
pub struct Masked {
    pub payload: Vec<u8>,
    /// Where something is withheld, in order and apart from each other.
    pub withheld: Vec<Range<usize>>,
    /// Where the message stands.
    pub message: Range<usize>,
}

impl Masked {
    /// Leaves out what is withheld.
    pub fn of(payload: &[u8], withheld: &[Withheld], message: &Range<usize>) -> Masked {
        let spans = apart(withheld, payload.len());
        let (mut out, mut masks) = (Vec::with_capacity(payload.len()), Vec::with_capacity(spans.len()));
        let mut at = 0;
        for span in &spans {
            out.extend_from_slice(payload.get(at..span.start).unwrap_or_default());
            let from = out.len();
            mask(payload, span, &mut out);
            masks.push(from..out.len());
            at = span.end;
        }
        out.extend_from_slice(payload.get(at..).unwrap_or_default());
        // Where a place of the payload is now; one inside a span is at the near or the far end of what stands for it.
        let now = |place: usize, far: bool| {
            let mut behind = (0, 0);
            for (span, mask) in spans.iter().zip(&masks).take_while(|(span, _)| span.start < place) {
                if place < span.end {
                    return if far { mask.end } else { mask.start };
                }
                behind = (span.end, mask.end);
            }
            behind.1 + (place - behind.0)
        };
        let message = message.start..message.end.min(payload.len());
        let message = if message.is_empty() { 0..0 } else { now(message.start, false)..now(message.end, true) };
        Masked { payload: out, withheld: masks, message }
    }
}

/// The withheld spans in order, those that touch as one.
fn apart(withheld: &[Withheld], len: usize) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = withheld.iter().map(|w| w.span.start..w.span.end.min(len)).filter(|s| !s.is_empty()).collect();
    spans.sort_by_key(|span| span.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match apart.last_mut().filter(|last| last.end >= span.start) {
            Some(last) => last.end = last.end.max(span.end),
            None => apart.push(span),
        }
    }
    apart
}

/// What stands for a span.
fn mask(payload: &[u8], span: &Range<usize>, out: &mut Vec<u8>) {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\w$").ok());

    let in_word = payload.get(span.start).is_some_and(u8::is_ascii_alphanumeric);
    out.push(if in_word { b'x' } else { b' ' });
    let Some((c, whole)) = last_char(payload.get(..span.end).unwrap_or_default()) else {
        // No character at all is neither in a word nor out of it.
        out.push(0xff);
        return;
    };
    match c {
        '\n' | '\r' | '_' => out.push(c as u8),
        c if c.is_ascii() => out.push(if c.is_ascii_alphanumeric() { b'x' } else { b' ' }),
        c => {
            let is_word = WORD.as_ref().is_some_and(|word| word.is_match(c.encode_utf8(&mut [0; 4])));
            out.extend_from_slice(if is_word { "é" } else { "…" }.as_bytes());
        }
    }
    if !whole {
        out.push(0x80);
    }
}

/// The character that a pattern sees when it looks back from the end of the bytes, and whether it ends there: bytes that go on with a character where
/// none can are looked over, up to three of them.
fn last_char(bytes: &[u8]) -> Option<(char, bool)> {
    let goes_on = |byte: &&u8| **byte & 0xc0 == 0x80;
    let start = bytes.len().checked_sub(1 + bytes.iter().rev().take(3).take_while(goes_on).count())?;
    let tail = bytes.get(start..)?;
    let c = (1..=tail.len()).find_map(|n| std::str::from_utf8(tail.get(..n)?).ok()?.chars().next())?;
    Some((c, c.len_utf8() == tail.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::grammar;
    use crate::query::matches::Matcher;
    use crate::query::subject::{Facts, Subject};
    use corr_parsers::event::{Event, Secret};
    use corr_parsers::text;
    use proptest::prelude::*;
    use std::slice;

    fn spans(spans: &[Range<usize>]) -> Vec<Withheld> {
        spans.iter().map(|span| Withheld { span: span.clone(), why: Secret::Body, name: "text" }).collect()
    }

    fn finds(matcher: &Matcher, payload: &[u8], withheld: &[Withheld], message: &Range<usize>) -> bool {
        let mut event = Event::new(&text::kinds::TEXT);
        event.message = message.clone();
        matcher.matches(&Subject { event: &event, payload, withheld, facts: Facts::default(), meta: None, line: None })
    }

    #[test]
    fn nothing_of_it_is_left() {
        let payload = b"prompt=\"SECRET words\" key=sk-12345678 end";
        let masked = Masked::of(payload, &spans(&[8..20, 26..37]), &(0..payload.len()));
        assert_eq!(String::from_utf8_lossy(&masked.payload), "prompt=\"xx\" key=xx end");
        assert_eq!(masked.withheld, [8..10, 16..18]);
        assert_eq!(masked.message, 0..masked.payload.len());
        // The same for a longer key.
        let longer = b"prompt=\"SECRET words\" key=sk-1234567890abcdef end";
        assert_eq!(Masked::of(longer, &spans(&[26..45, 8..20, 9..12]), &(0..longer.len())), masked);
    }

    #[test]
    fn patterns_look_over_bytes_that_are_no_character() {
        for (payload, query, found) in [
            (&b"a\x80\xc0"[..], "/\\b/", true),
            (b"a\x80\xc0", "/(?-u:\\b)/", false),
            (b" \x80\xc0", "/\\b/", false),
            ("é\u{e9}".as_bytes(), "/\\B/", true),
            (b"a\x80\x80\x80\xc0", "/\\b/", true),
            (b"a\x80\x80\x80\x80\xc0", "/\\b/", false),
        ] {
            let end = payload.len() - 1 - usize::from(payload.last().is_some_and(|b| *b & 0xc0 == 0x80));
            let (withheld, message) = (spans(&[Range { start: 0, end }]), 0..0);
            let matcher = Matcher::new(&grammar::parse(query).expect("a query")).expect("a query");
            let masked = Masked::of(payload, &withheld, &message);
            assert_eq!(finds(&matcher, payload, &withheld, &message), found, "{query} in {payload:?}");
            assert_eq!(finds(&matcher, &masked.payload, &spans(&masked.withheld), &message), found, "{query} in {masked:?}");
        }
    }

    #[test]
    fn a_message_in_a_span() {
        let payload = b"abc0123456789def";
        for (message, expected) in
            [(0..3, 0..3), (3..13, 3..5), (5..8, 3..5), (2..7, 2..5), (7..16, 3..8), (13..16, 5..8), (16..16, 0..0), (5..5, 0..0)]
        {
            assert_eq!(Masked::of(payload, &spans(slice::from_ref(&(3..13))), &message).message, expected, "{message:?}");
        }
        assert_eq!(Masked::of(payload, &spans(slice::from_ref(&(3..99))), &(4..99)).message, 3..5);
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            4 => "[a-c é_\\n\\r.…x]{0,8}".prop_map(String::into_bytes),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }

    const QUERIES: &[&str] = &[
        "a",
        "ab",
        "b*",
        "a?c",
        "\"a b\"",
        "/a/",
        "/\\ba/",
        "/a\\b/",
        "/\\Ba/",
        "/^a/",
        "/(?m)^a/",
        "/(?m)a$/",
        "/(?mR)^b/",
        "/a$/",
        "/(?-u:\\b)a/",
        "/(?-u:\\B)a/",
        "/\\bé/",
        "/\\Bé/",
        "/\\b{start}b/",
        "message:a",
        "message:/\\bb/",
        "message:/^a/",
        "message:*",
        "message?:b*",
        "message:!=a",
        "NOT a",
        "é",
        "/^/",
        "/\\b/",
        "/\\B/",
    ];

    static MATCHERS: LazyLock<Vec<Matcher>> =
        LazyLock::new(|| QUERIES.iter().map(|q| Matcher::new(&grammar::parse(q).expect("a query")).expect("a query")).collect());

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn a_search_finds_the_same(
            payload in text(),
            hidden in prop::collection::vec((0usize..40, 0usize..10), 0..4),
            message in (0usize..30, 0usize..40),
        ) {
            let between = |at: usize| (at..).find(|at| payload.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80)).expect("the end");
            let hidden: Vec<Range<usize>> = hidden.iter().map(|(from, len)| between(*from)..between(from + len)).collect();
            let withheld = spans(&hidden);
            let message = between(message.0)..between(message.0) + message.1;
            let masked = Masked::of(&payload, &withheld, &message);
            let left = spans(&masked.withheld);
            for (query, matcher) in QUERIES.iter().zip(MATCHERS.iter()) {
                let (before, after) = (finds(matcher, &payload, &withheld, &message), finds(matcher, &masked.payload, &left, &masked.message));
                prop_assert_eq!(before, after, "{} in {:?}: {:?}", query, payload, masked);
            }
        }
    }
}
