//! What must hold of any bytes at all.

use proptest::prelude::*;

use crate::FORMATS;
use crate::event::{Event, Value};
use crate::format::Format;
use crate::record::{Layout, Reader};
use crate::text;

fn own() -> impl Iterator<Item = &'static &'static Format> {
    FORMATS.iter().filter(|f| f.name.starts_with("sglang"))
}

/// Nothing may panic; spans must lie in the record; words of columnar records must be accounted for.
fn check(record: &[u8]) {
    for format in own() {
        let _ = (format.head)(record);
        if let Some(at) = (format.cut)(record) {
            assert!(at > 0 && at < record.len());
            assert!((format.head)(&record[at..]), "a record begins at a cut");
        }
        let mut event = Event::new(&text::kinds::TEXT);
        let _ = (format.parse)(record, &mut event);
        assert!(event.message.start <= event.message.end && event.message.end <= record.len());
        for withheld in &event.withheld {
            assert!(withheld.span.start <= withheld.span.end && withheld.span.end <= record.len());
        }
        if let Some(stamp) = event.stamp {
            assert!((stamp.at + stamp.len) as usize <= record.len());
        }
        if event.columnar {
            words_are_known(record, &event);
        }
    }
}

/// Every word of a columnar record is one of the kind's words, part of a value or rank tag, or part of the stamp or level.
fn words_are_known(record: &[u8], event: &Event<'_>) {
    let mut values: Vec<String> = event.kind.words.split_ascii_whitespace().map(str::to_owned).collect();
    for field in &event.fields {
        match &field.value {
            Value::Str(text) => values.extend(words(text.as_bytes())),
            Value::Bool(b) => values.push(b.to_string()),
            Value::Int(n) => values.push(format!("{}{n}", field.raw.rsplit('_').next().unwrap_or("").to_ascii_lowercase())),
            _ => {}
        }
    }
    values.extend(event.ids.iter().flat_map(|id| words(id.text.as_bytes())));
    values.extend(event.level.map(|level| level.name().to_owned()));
    values.extend(["attn".to_owned(), "moe".to_owned()]);
    let stamp = event.stamp.map_or(0..0, |s| s.at as usize..(s.at + s.len) as usize);
    let mut rest = record.to_vec();
    rest[stamp].fill(b' ');
    for word in words(&rest) {
        let number = word.bytes().all(|b| b.is_ascii_digit());
        assert!(number || values.contains(&word), "{word} in {}", String::from_utf8_lossy(record));
    }
}

fn words(text: &[u8]) -> Vec<String> {
    let parts = text.split(|b| !b.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    parts.map(|w| String::from_utf8_lossy(w).to_ascii_lowercase()).collect()
}

/// Records of every format and of every version's periodic line.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = own().flat_map(|f| f.samples.iter().map(|(s, _)| s.as_bytes().to_vec())).collect();
    for row in include_str!("../batch_lines.txt").lines().filter(|row| !row.starts_with('#')) {
        let line = row.split('\t').next_back().unwrap_or("").trim_end_matches('|');
        seeds.push(format!("[2026-05-20 08:30:03 DP0 PP1 ATTN_CP0 MOE_DP2 TP3 EP3] {}", line.replace(": N", ": 1.5")).into_bytes());
    }
    for line in [
        "[2026-11-20 19:46:04] ReqTimeStats(rid=a, bootstrap_room=7, input_len=1): queue_duration=1.00ms, b(2.00ms) = c(1.00ms); e=3",
        "[2026-11-20 19:46:04] Finish: obj=GenerateReqInput(rid='a', text=\"b'c\", n=[1, 2]), headers={'a': 'b'}, out=[{'meta_info': {'id': 'a'}}]",
        "[2026-11-20 19:46:04] server_args={'model_path': '/m', 'api_key': 'x', 'n': [1, (2)]}",
        "[2026-11-20 19:46:04] Decode transfer failed for request rank=0 decode_req.req.rid='a' decode_req.req.bootstrap_room=7 with exception x",
        "[2026-11-20 19:46:04] Gracefully exiting... Remaining number of requests 2. Remaining requests remaining_rids=['a', 'b'].",
        "{\"request_parameters\": \"{\\\"rid\\\": \\\"a\\\", \\\"text\\\": \\\"\\\\u00e9\\\"}\", \"id\": \"a\"}",
        "{\"asctime\": \"2026-05-20 08:30:12,485\", \"levelname\": \"INFO\", \"name\": \"sglang.x\", \"message\": \"a \\\"b\\\" rid=c\"}",
        "\rCapturing batches: 100%|##| 8/8 [00:05<00:00,  1.52it/s][2026-06-08 10:00:00 TP1] Memory pool end. avail mem=1.00 GB",
        "> [2026-05-20 08:30:03 TP0] Decode batch, #running-req: 1, #token: 2`",
        "&gt; \u{201c}[2026-05-20 08:30:03] Receive: obj=GenerateReqInput(rid='a', text='b')<br>",
        "2026-05-20 08:30:03.137 | INFO | x:1 | Prefill batch, #new-seq: 1, #new-token: 7",
        "2026-05-20 08:30:06 [TP1] Finish: obj=GenerateReqInput(rid='a', text='b'), out={'text': 'c', 'meta_info': {'id': 'a'}}",
        "{\"level\": \"INFO\", \"ts\": \"2026-05-20T08:30:03Z\", \"msg\": \"Decode batch, #running-req: 1, #token: 2\"}",
        "2026-10-20 03:02:22 INFO 31223 [DP3 TP3 EP3 x.py:222] Decode batch, #running-req: 1",
    ] {
        seeds.push(line.as_bytes().to_vec());
    }
    seeds
}

#[test]
fn seeds_hold() {
    for seed in seeds() {
        check(&seed);
    }
}

/// Bytes that mean something to these formats.
const STRUCTURAL: &[u8] = b"'\"()[]{},:=\\ \n\r\x1b%#";

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
    }

    #[test]
    fn mutated_samples(
        which in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..4, any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
        shorten in any::<bool>(),
    ) {
        let seeds = seeds();
        let mut record = seeds[which.index(seeds.len())].clone();
        for (at, what, byte) in edits {
            if record.is_empty() {
                break;
            }
            let at = at.index(record.len());
            let structural = STRUCTURAL[usize::from(byte) % STRUCTURAL.len()];
            match what {
                0 => record[at] = byte,
                1 => record[at] = structural,
                2 => record.insert(at, structural),
                _ => { record.remove(at); }
            }
        }
        if shorten && !record.is_empty() {
            record.truncate(cut.index(record.len()));
        }
        check(&record);
    }

    #[test]
    fn every_byte_is_in_one_record(
        picks in proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..12),
        noise in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let seeds = seeds();
        let mut bytes = noise;
        for (pick, end) in picks {
            bytes.extend_from_slice(&seeds[pick.index(seeds.len())]);
            if end {
                bytes.push(b'\n');
            }
        }
        let layout = Layout { envelopes: Vec::new(), formats: own().copied().collect(), document: false };
        let mut reader = Reader::new(&bytes, 0, &layout);
        let mut at = 0;
        while let Some(record) = reader.next() {
            assert_eq!(record.offset, at);
            assert!(record.len > 0);
            at += record.len;
            let mut event = Event::new(&text::kinds::TEXT);
            let _ = record.parse(&mut event);
        }
        assert_eq!(at, bytes.len());
    }
}
