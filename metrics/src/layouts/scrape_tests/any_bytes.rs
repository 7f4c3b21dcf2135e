//! Damage of any kind.

use std::fs;

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_reader_panics(cut in 0usize..400, junk in proptest::collection::vec(any::<u8>(), 0..40), which in 0usize..5) {
        let (name, text) = [
            ("a.jsonl", row(1, "u", serde_json::json!({"text": "# TYPE a counter\na{x=\"µ\"} 1 5 # {t=\"1\"} 1\n# EOF\n"}))),
            ("a.jsonl", "{\"endpoint_url\":\"u\",\"timestamp_ns\":1,\"metrics\":{\"h\":[{\"labels\":{},\"buckets\":{\"1\":1},\"sum\":1,\"count\":1}]}}".into()),
            ("a.jsonl", "{\"timestamp_ns\":1,\"metrics\":{\"h\":[{\"labels\":{\"a\":\"b\"},\"value\":1}]}}".into()),
            ("scrapes.jsonl", "{\"t_start\":1795977000.5,\"target\":\"a\",\"error\":null,\"file\":\"a.prom\"}".into()),
            ("a_1795977000.prom", "# TYPE a counter\na{x=\"1\"} 1\n".into()),
        ][which].clone();
        let mut bytes = text.repeat(3).into_bytes();
        let at = cut.min(bytes.len());
        bytes.splice(at..(at + junk.len() / 2).min(bytes.len()), junk);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(name), bytes).unwrap();
        for (layout, set) in claims(dir.path()) {
            for capture in (by_name(layout).unwrap().read)(&set).unwrap() {
                prop_assert_eq!(capture.samples.series(), capture.series.len());
            }
        }
    }
}
