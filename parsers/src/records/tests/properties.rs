//! Whatever the bytes: no panic, spans in bounds, and what stands under a body's key is covered.

use proptest::prelude::*;

use super::JSON;
use crate::event::{Event, Value};

fn check(bytes: &[u8]) {
    let head = (JSON.head)(bytes);
    let mut event = Event::new(&crate::text::kinds::TEXT);
    let _ = (JSON.parse)(bytes, &mut event);
    assert!(event.message.start <= event.message.end && event.message.end <= bytes.len());
    assert!(event.fields.len() <= 64 && !event.columnar);
    let mut end = 0;
    for secret in &event.withheld {
        assert!(secret.span.start <= secret.span.end && secret.span.end <= bytes.len(), "{secret:?}");
        assert!(secret.span.end > end, "in order, none inside another");
        end = secret.span.end;
    }
    if let Some(stamp) = event.stamp {
        assert!((stamp.at + stamp.len) as usize <= bytes.len());
    }
    if head {
        assert!(crate::FORMATS.iter().filter(|f| (f.head)(bytes)).count() == 1, "one owner");
    }
    crate::dynamo::tests::captures::each(bytes, |payload, event, _| {
        assert!(event.withheld.iter().all(|w| w.span.end <= payload.len()));
    });
}

fn sample() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(JSON.samples.iter().map(|s| s.0).collect::<Vec<_>>())
}

fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![proptest::sample::select(b" \"\"{}[]:,.\\-\n\r\x1b0atn=".to_vec()), any::<u8>()]
}

fn key() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "a",
        "prompt",
        "text",
        "messages",
        "message",
        "choices",
        "headers",
        "output",
        "api_key",
        "id",
        "session",
        "worker_id",
        "t",
        "delta",
        "role",
        "x",
    ])
}

/// A JSON value whose every string is `SECRET`.
fn tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::json!("SECRET")),
        any::<i64>().prop_map(Into::into),
        any::<bool>().prop_map(Into::into),
        Just(serde_json::Value::Null)
    ];
    leaf.prop_recursive(6, 48, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
            proptest::collection::vec((key(), inner), 0..4)
                .prop_map(|all| serde_json::Value::Object(all.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(byte(), 0..300)) {
        check(&bytes);
    }

    #[test]
    fn a_sample_with_other_bytes_inside(line in sample(), at in 0usize..1500, gap in 0usize..40, bytes in proptest::collection::vec(byte(), 0..40)) {
        let line = line.as_bytes();
        let at = at.min(line.len());
        let mut all = line[..at].to_vec();
        all.extend(bytes);
        all.extend(&line[(at + gap).min(line.len())..]);
        check(&all);
    }

    #[test]
    fn every_text_under_a_body_is_covered(
        body in proptest::sample::select(vec!["prompt", "content", "messages", "input_ids", "output", "arguments", "generated_text", "tools", "delta", "choices", "api_key"]),
        value in tree(),
        deep in 0usize..20,
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut record = serde_json::json!({ body: value });
        for i in 0..deep {
            record = if i % 3 == 0 { serde_json::json!([record]) } else { serde_json::json!({ "k": record, "after": 1 }) };
        }
        let record = serde_json::json!({ "a": 1, "r": record }).to_string();
        for end in [record.len(), cut.index(record.len())] {
            let part = &record[..end];
            check(part.as_bytes());
            let mut event = Event::new(&crate::text::kinds::TEXT);
            let _ = (JSON.parse)(part.as_bytes(), &mut event);
            for (at, _) in part.match_indices("SECRET") {
                // Of a choice, the finish reason alone is shown.
                let reason = part[..at].ends_with("\"finish_reason\":\"");
                prop_assert!(reason || event.withheld.iter().any(|w| w.span.contains(&at)), "{part}");
            }
            prop_assert!(!event.fields.iter().any(|f| matches!(&f.value, Value::Str(t) if t.contains("SECRET"))), "{part}");
        }
    }
}
