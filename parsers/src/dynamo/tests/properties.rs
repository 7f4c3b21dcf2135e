//! Whatever the bytes: no panic, spans in bounds, and every byte in one record.

use proptest::prelude::*;

use crate::event::{Event, Outcome};
use crate::format::Format;

static FORMATS: [&Format; 7] = [
    &crate::dynamo::TEXT,
    &crate::dynamo::JSONL,
    &crate::trace::REQUEST_TRACE,
    &crate::trace::AGENT_TRACE,
    &crate::trace::AUDIT,
    &crate::otlp::TRACES,
    &crate::eventplane::EVENTS,
];

/// Parses with every format and checks what must hold of any event.
fn check(bytes: &[u8]) {
    for format in FORMATS {
        let is_head = (format.head)(bytes);
        if let Some(at) = (format.cut)(bytes) {
            assert!(at > 0 && at < bytes.len());
        }
        let mut event = Event::new(&crate::text::kinds::TEXT);
        let outcome = (format.parse)(bytes, &mut event);
        assert!(event.message.start <= event.message.end && event.message.end <= bytes.len());
        for secret in &event.withheld {
            assert!(secret.span.start <= secret.span.end && secret.span.end <= bytes.len(), "{secret:?}");
        }
        if let Some(stamp) = event.stamp {
            assert!((stamp.at + stamp.len) as usize <= bytes.len());
        }
        if is_head && event.columnar && outcome == Outcome::Parsed {
            super::words::assert_columnar(bytes, &event);
        }
    }
    super::captures::each(bytes, |payload, event, _| {
        for secret in &event.withheld {
            assert!(secret.span.end <= payload.len());
        }
    });
}

fn sample() -> impl Strategy<Value = &'static str> {
    let all: Vec<&'static str> = FORMATS.iter().flat_map(|f| f.samples.iter().map(|s| s.0)).collect();
    proptest::sample::select(all)
}

/// Bytes that matter to the grammars.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![proptest::sample::select(b" =\"{}[]:,.\\T-\n\r\x1b0aZ(".to_vec()), any::<u8>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(byte(), 0..300)) {
        check(&bytes);
    }

    #[test]
    fn any_bytes_behind_a_head(at in 0usize..200, line in sample(), bytes in proptest::collection::vec(byte(), 0..200)) {
        let mut all = line.as_bytes()[..at.min(line.len())].to_vec();
        all.extend(bytes);
        check(&all);
    }

    #[test]
    fn mutated_samples(line in sample(), edits in proptest::collection::vec((0usize..1000, byte(), 0u8..3), 0..8)) {
        let mut bytes = line.as_bytes().to_vec();
        for (at, byte, how) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = at % bytes.len();
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => bytes.truncate(at),
            }
        }
        check(&bytes);
    }

    #[test]
    fn spliced_samples(a in sample(), b in sample(), cut in 0usize..1000) {
        let mut bytes = a.as_bytes()[..cut.min(a.len())].to_vec();
        bytes.extend_from_slice(b.as_bytes());
        check(&bytes);
    }
}

/// The cost of a line that tries to be expensive stays that of its length.
#[test]
fn hostile_lines_end() {
    let head = "2026-11-29T18:06:46.870571Z  INFO a::b: ";
    for body in [" x=1".repeat(200_000), "a=(".repeat(200_000), " a=\"".repeat(200_000), "[".repeat(500_000), " r={".repeat(100_000)] {
        check(format!("{head}{body}").as_bytes());
        check(format!("{{\"time\":\"2026-11-29T18:06:46.870571Z\",\"level\":\"INFO\",\"x\":{body}").as_bytes());
    }
}
