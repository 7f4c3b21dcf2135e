//! Every byte of a source belongs to exactly one record, and every record to one row of the index, whatever the bytes are; what is found by
//! the index is what is found by a scan.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use corr::query::answer::{self, Question, Sort, Window};
use corr::query::grammar;
use corr::query::matches::Matcher;
use corr::query::sources::{self, Asked};
use corr::run::events::{self, Start};
use corr::run::{self, Options};
use corr::store::update::{self, Progress, UpdateOptions};
use corr_parsers::detect;
use corr_parsers::record::{self, Layout, Reader};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

struct Silent;

impl Progress for Silent {
    fn total(&self, _: u64) {}
    fn advance(&self, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Lines of the fixtures, of every format that they have.
fn lines() -> Vec<Vec<u8>> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let logs = [
        "direct-run/logs/router.log",
        "direct-run/logs/worker-0.log",
        "sglang-run/logs/server.log",
        "sglang-run/logs/crash.log",
        "sglang-run/logs/requests.log",
        "sglang-run/logs/sglang.journal.jsonl",
    ];
    for log in logs {
        let bytes = fs::read(fixtures.join(log)).expect("a fixture");
        // Of the longer logs every third line is enough.
        let step = if bytes.len() > 50_000 { 3 } else { 1 };
        lines.extend(bytes.split_inclusive(|b| *b == b'\n').step_by(step).map(<[u8]>::to_vec));
    }
    let packed = fs::read(fixtures.join("direct-run/artifacts/dynamo-request-trace.000000.jsonl.gz")).expect("the trace");
    let mut trace = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&packed[..]), &mut trace).expect("unpack");
    lines.extend(trace.split_inclusive(|b| *b == b'\n').step_by(4).map(<[u8]>::to_vec));
    assert!(lines.len() > 200, "{} lines", lines.len());
    lines
}

/// Bytes that are in no format, but near to all of them.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..30),
        2 => prop::sample::select(vec![
            &b"\n"[..], b"\r\n", b"\r", b"\0", b"\x1b[31m", b"\x1b]0;", b"  File \"x\", line 1", b"Traceback (most recent call last):\n",
            b"[2026-05-20 08:30:00] ", b"[2026-05-20 08:30:00 TP0] Prefill batch, #new-seq: ", b"2026-05-20T08:30:00.000000Z  INFO x: ",
            b"{\"timestamp\":1,\"event\":{", b"}}\n", b"{\"MESSAGE\":[1,2", b"__CURSOR=s=1\n", b"MESSAGE\n\x05\0\0\0\0\0\0\0abcde\n",
            b"May 20 08:30:00 node unit[7]: ", b"  0%|          | 0/10 [00:00<?, ?it/s]\r", b"rid='", b"text='", b"', ", b"\xef\xbb\xbf",
        ]).prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Lines of the fixtures in any order, some of them cut, with soup between.
fn shuffled() -> impl Strategy<Value = Vec<u8>> {
    let all = lines();
    let line = (prop::sample::select(all), 0u8..12, any::<prop::sample::Index>()).prop_map(|(line, fate, at)| match fate {
        0 => line[..at.index(line.len() + 1)].to_vec(),
        1 => line[at.index(line.len())..].to_vec(),
        2 => line.strip_suffix(b"\n").unwrap_or(&line).to_vec(),
        _ => line,
    });
    (prop::collection::vec(line, 1..40), soup(), any::<prop::sample::Index>()).prop_map(|(lines, soup, at)| {
        let at = at.index(lines.len() + 1);
        let mut bytes = lines[..at].concat();
        bytes.extend(soup);
        bytes.extend(lines[at..].concat());
        bytes
    })
}

/// Checks that records tile the bytes and that each is found from any of its bytes.
fn tile(bytes: &[u8], layout: &Layout) -> Result<usize, TestCaseError> {
    let mut reader = Reader::new(bytes, 0, layout);
    let mut at = 0;
    let mut records = 0;
    while let Some(record) = reader.next() {
        prop_assert_eq!(record.offset, at, "a gap or an overlap");
        prop_assert!(record.len > 0, "an empty record at {}", at);
        let (offset, len) = (record.offset, record.len);
        for inside in [offset, offset + len / 2, offset + len - 1] {
            let start = record::record_start(bytes, inside, layout);
            prop_assert_eq!(start, offset, "byte {} is of another record when it is looked up", inside);
        }
        at += len;
        records += 1;
    }
    prop_assert_eq!(at, bytes.len(), "bytes are left over");
    Ok(records)
}

/// Words and ids that the records have, and some that none has.
fn queries(source: &Asked, bytes: &[u8]) -> Vec<String> {
    let mut queries: Vec<String> =
        ["token", "batch", "xyzzy", "2026", "0", "kind:text", "NOT kind:text", "level:info", "\"new token\"", "re*", "/[0-9]{4}/"]
            .map(String::from)
            .to_vec();
    let mut seen = 0;
    events::each(bytes, &source.layout, source.timing(), Start::default(), bytes.len(), |record, event, _| {
        seen += 1;
        if seen % 5 == 1 {
            let words = String::from_utf8_lossy(record.payload).into_owned();
            let words: Vec<&str> = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty() && w.len() < 40).collect();
            if let Some(word) = words.get(seen % words.len().max(1)) {
                queries.push(format!("\"{word}\""));
            }
            if let Some(pair) = words.windows(2).nth(seen % words.len().max(1)) {
                queries.push(format!("\"{} {}\"", pair[0], pair[1]));
            }
            for id in event.ids.iter().take(2).filter(|id| id.text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')) {
                queries.push(format!("{}:\"{}\"", id.kind.field(), id.text));
                queries.push(format!("\"{}\"", id.text));
                queries.push(format!("id:{}*", &id.text[..id.text.len().min(6)]));
            }
        }
        ControlFlow::Continue(())
    });
    queries.sort();
    queries.dedup();
    queries.truncate(60);
    queries
}

fn hits(query: &str, sources: &[Asked]) -> Vec<(u64, Option<i64>)> {
    let expr = grammar::parse(query).unwrap_or_else(|e| panic!("{query}: {e}"));
    let matcher = Matcher::new(&expr).unwrap_or_else(|e| panic!("{query}: {e}"));
    let question = Question {
        expr,
        matcher,
        window: Window::default(),
        sort: Sort::Time(true),
        limit: 0,
        count_by: None,
        histogram: None,
        bodies: false,
    };
    let answer = answer::ask(&question, sources).unwrap_or_else(|e| panic!("{query}: {e}"));
    assert!(answer.asking.iter().all(|a| a.failed.is_none()), "{query}: {:?}", answer.asking);
    answer.hits.iter().map(|h| (h.offset, h.order)).collect()
}

/// Indexes the bytes as one source, grown in two steps, and compares with a scan.
fn index_agrees(bytes: &[u8], step: usize) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("source.log");
    let arguments = vec![path.to_str().expect("a path of text").to_string()];
    let (store, options) = (dir.path().join("store"), Options::default());
    fs::write(&path, &bytes[..step]).expect("write the source");
    let first = run::open(&arguments, &options).expect("open");
    update::update(&store, &first, UpdateOptions::default(), &Silent).expect("index");
    fs::write(&path, bytes).expect("write the source");
    let second = run::open(&arguments, &options).expect("open");
    update::update(&store, &second, UpdateOptions::default(), &Silent).expect("index");
    let indexed = sources::open(&arguments, &options, Some(&store)).expect("open the index").sources;
    let scanned = sources::open(&arguments, &options, Some(&dir.path().join("none"))).expect("open without an index").sources;
    prop_assert_eq!(indexed.len(), scanned.len());
    let [source] = &indexed[..] else { return Ok(()) };
    if !source.segments.is_empty() {
        rows_tile(source, bytes.len())?;
    }
    let read = scanned[0].bytes().expect("bytes");
    for query in queries(&scanned[0], read) {
        prop_assert_eq!(hits(&query, &indexed), hits(&query, &scanned), "{}", query);
    }
    Ok(())
}

/// The rows of an indexed source tile its bytes.
fn rows_tile(source: &Asked, len: usize) -> Result<(), TestCaseError> {
    prop_assert!(!source.unindexed && !source.needs_tail());
    let mut at = 0;
    for segment in &source.segments {
        let rows = segment.rows().expect("rows");
        for row in 0..segment.len() {
            prop_assert_eq!(rows.offset(row), at, "row {}", row);
            at += rows.length(row);
        }
        prop_assert_eq!(at, segment.reference.to);
    }
    prop_assert_eq!(at, len as u64, "rows do not cover the source");
    Ok(())
}

/// Whole lines that are put before what is drawn: small sources have no segments, middling ones no index of words.
fn before(size: usize) -> Vec<u8> {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/direct-run/logs/router.log");
    let bytes = fs::read(log).expect("a fixture");
    let end = memchr::memrchr(b'\n', &bytes[..size]).map_or(0, |i| i + 1);
    bytes[..end].to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: Some(Box::new(FileFailurePersistence::Off)), ..ProptestConfig::with_cases(250) })]

    #[test]
    fn records_tile_any_bytes(bytes in prop_oneof![soup(), shuffled()]) {
        let detected = detect::detect(&bytes, true).layout;
        tile(&bytes, &detected)?;
        // Whatever detection says, each format and envelope must tile too.
        tile(&bytes, &Layout::default())?;
        for envelope in corr_parsers::ENVELOPES {
            tile(&bytes, &Layout { envelopes: vec![*envelope], formats: corr_parsers::FORMATS.to_vec(), document: false })?;
        }
        for format in corr_parsers::FORMATS {
            tile(&bytes, &Layout { envelopes: Vec::new(), formats: vec![*format], document: false })?;
        }
        let whole = tile(&bytes, &Layout { document: true, ..Layout::default() })?;
        prop_assert_eq!(whole, usize::from(!bytes.is_empty()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: Some(Box::new(FileFailurePersistence::Off)), ..ProptestConfig::with_cases(30) })]

    #[test]
    fn rows_tile_and_find_what_a_scan_finds(
        drawn in prop_oneof![1 => soup(), 3 => shuffled()],
        lead in prop::sample::select(vec![0usize, 8 << 10, 68 << 10, 68 << 10]),
        step in any::<prop::sample::Index>(),
    ) {
        let mut bytes = before(lead);
        // Grown from within what is drawn, or from its beginning.
        let step = bytes.len() + step.index(drawn.len() + 1);
        bytes.extend(drawn);
        index_agrees(&bytes, step)?;
    }
}
