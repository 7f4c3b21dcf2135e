//! Cut lines: joined, withheld, and the same from wherever one begins to read.

mod bare;

use proptest::prelude::*;

use super::*;
use crate::envelope::journald::{EXPORT, JSON, SHORT, SHORT_ISO_PRECISE};
use crate::event::Value;
use crate::{ENVELOPES, FORMATS};

/// One entry to be composed.
#[derive(Clone, Debug)]
struct Line {
    pid: u32,
    text: Vec<u8>,
    /// `_LINE_BREAK=line-max`
    cut: bool,
    /// JSON's `null`
    lost: bool,
}

fn line(pid: u32, text: &str, cut: bool) -> Line {
    Line { pid, text: text.as_bytes().to_vec(), cut, lost: false }
}

fn compose(lines: &[Line], envelope: &Envelope) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let Line { pid, text, cut, lost } = line;
        if envelope.name == EXPORT.name {
            out.extend_from_slice(
                format!("__CURSOR=s={i}\n__REALTIME_TIMESTAMP=17959781731{i:05}\n_TRANSPORT=stdout\n_STREAM_ID=a\n").as_bytes(),
            );
            out.extend_from_slice(format!("SYSLOG_IDENTIFIER=sglang\n_PID={pid}\n").as_bytes());
            if *cut {
                out.extend_from_slice(b"_LINE_BREAK=line-max\n");
            }
            out.extend_from_slice(b"MESSAGE=");
            out.extend_from_slice(text);
            out.extend_from_slice(b"\n\n");
        } else if envelope.name == JSON.name {
            let text = if *lost { "null".to_owned() } else { serde_json::to_string(&String::from_utf8_lossy(text)).unwrap() };
            let mark = if *cut { r#""_LINE_BREAK":"line-max","# } else { "" };
            let head = format!(r#"{{"__REALTIME_TIMESTAMP":"17959781731{i:05}","_TRANSPORT":"stdout","_STREAM_ID":"a",{mark}"#);
            out.extend_from_slice(format!("{head}\"SYSLOG_IDENTIFIER\":\"sglang\",\"_PID\":\"{pid}\",\"MESSAGE\":{text}}}\n").as_bytes());
        } else {
            let stamp = if envelope.name == SHORT.name { "Nov 29 18:49:33" } else { "2026-11-29T18:49:33.134876+0000" };
            out.extend_from_slice(format!("{stamp} vm sglang[{pid}]: ").as_bytes());
            out.extend_from_slice(text);
            out.push(b'\n');
        }
    }
    out
}

static MODES: [&Envelope; 4] = [&EXPORT, &JSON, &SHORT, &SHORT_ISO_PRECISE];

fn layout(envelope: &'static Envelope) -> Layout {
    Layout { envelopes: vec![envelope], formats: FORMATS.to_vec(), document: false }
}

/// A record, owned.
#[derive(Debug, PartialEq)]
struct Seen {
    offset: usize,
    len: usize,
    payload: Vec<u8>,
    rest: Option<usize>,
    outcome: Outcome,
    kind: &'static str,
    /// Everything that is not withheld: the payload's other bytes, fields and ids.
    visible: String,
}

fn see(record: &Record<'_>) -> Seen {
    let mut event = Event::new(&text::kinds::TEXT);
    let outcome = record.parse(&mut event);
    let mut visible = String::new();
    let mut hidden = vec![false; record.payload.len()];
    for withheld in &event.withheld {
        hidden[withheld.span.clone()].fill(true);
    }
    let shown: Vec<u8> = record.payload.iter().zip(&hidden).map(|(b, hidden)| if *hidden { b' ' } else { *b }).collect();
    visible.push_str(&String::from_utf8_lossy(&shown));
    for field in &event.fields {
        if let Value::Str(text) = &field.value {
            visible = visible + " " + text;
        }
    }
    for id in &event.ids {
        visible = visible + " " + &id.text;
    }
    let (offset, len, payload, rest) = (record.offset, record.len, record.payload.to_vec(), record.rest);
    Seen { offset, len, payload, rest, outcome, kind: event.kind.name, visible }
}

fn read_from(bytes: &[u8], at: usize, layout: &Layout) -> Vec<Seen> {
    let mut reader = Reader::new(bytes, at, layout);
    let mut seen = Vec::new();
    while let Some(record) = reader.next() {
        seen.push(see(&record));
    }
    seen
}

/// Every byte is in one record, and a read from anywhere sees the records that a read from the start sees.
fn check_jumps(bytes: &[u8], layout: &Layout, every: usize) {
    let all = read_from(bytes, 0, layout);
    let mut at = 0;
    for record in &all {
        assert_eq!(record.offset, at);
        at += record.len;
        let ends = [record.offset, record.offset + record.len - 1];
        for inside in (record.offset..at).step_by(every).chain(ends) {
            assert_eq!(record_start(bytes, inside, layout), record.offset, "at {inside}");
        }
    }
    assert_eq!(at, bytes.len());
    for (i, record) in all.iter().enumerate() {
        assert_eq!(read_from(bytes, record.offset, layout), all[i..], "from {}", record.offset);
    }
}

const HEAD: &str = "Receive: obj=GenerateReqInput(rid='r1', text='";
const TAIL: &str = "', input_ids=None, stream=False)";

/// A request line with `size` bytes of prompt, in pieces of `max` bytes.
fn request(pid: u32, size: usize, max: usize) -> Vec<Line> {
    let mut prompt = "confidential words, ".repeat(size / 20 + 1);
    prompt.truncate(size);
    let whole = format!("{HEAD}{prompt}{TAIL}").into_bytes();
    let count = whole.len().div_ceil(max);
    let pieces = whole.chunks(max).enumerate();
    // journald strips the white space at the end of a piece.
    pieces.map(|(i, piece)| Line { pid, text: piece.trim_ascii_end().to_vec(), cut: i + 1 < count, lost: false }).collect()
}

fn other(pid: u32) -> Line {
    line(pid, "[2026-11-29 18:49:33 TP0] Decode batch, #running-req: 1, #token: 7602, token usage: 0.91", false)
}

#[test]
fn pieces_that_follow_each_other_are_one_record() {
    for envelope in MODES {
        for max in [49_152, 2_048] {
            if max == 2_048 && envelope.name.contains("export") {
                continue; // A journal with stream ids is of a version that marks its cuts.
            }
            let mut lines = vec![other(9)];
            lines.extend(request(7, 3 * max, max));
            lines.push(other(7));
            let bytes = compose(&lines, envelope);
            let seen = read_from(&bytes, 0, &layout(envelope));
            let kinds: Vec<&str> = seen.iter().map(|s| s.kind).collect();
            assert_eq!(kinds, ["decode_batch", "request_received", "decode_batch"], "{} {max}", envelope.name);
            assert!(seen[1].payload.ends_with(TAIL.as_bytes()));
            assert!(seen[1].visible.contains("stream=False") && !seen[1].visible.contains("confidential"), "{}", envelope.name);
            assert_eq!(seen[1].outcome, Outcome::Parsed);
            check_jumps(&bytes, &layout(envelope), 997);
        }
    }
}

#[test]
fn a_piece_parted_from_its_beginning_is_withheld() {
    for envelope in MODES {
        let pieces = request(7, 3 * 49_152, 49_152);
        let mut lines = vec![pieces[0].clone(), other(9), pieces[1].clone(), other(9), other(9), pieces[2].clone(), pieces[3].clone()];
        lines.push(line(7, "a line of its own", false));
        let bytes = compose(&lines, envelope);
        let seen = read_from(&bytes, 0, &layout(envelope));
        assert_eq!(seen.len(), 7, "{}", envelope.name);
        for record in &seen {
            assert!(!record.visible.contains("confidential"), "{}: {}", envelope.name, record.visible);
        }
        for rest in [&seen[2], &seen[5]] {
            assert_eq!(
                (&rest.outcome, rest.rest),
                (&Outcome::Unparsed("rest of a line that its envelope cut"), Some(0)),
                "{}",
                envelope.name
            );
            assert_eq!(rest.visible.trim(), "");
        }
        assert!(seen[5].payload.ends_with(TAIL.as_bytes()));
        assert_eq!(seen[6].visible, "a line of its own");
        check_jumps(&bytes, &layout(envelope), 997);
    }
}

#[test]
fn what_follows_a_lost_piece_is_withheld() {
    let mut pieces = request(7, 3 * 49_152, 49_152);
    pieces[1].lost = true;
    let bytes = compose(&pieces, &JSON);
    let seen = read_from(&bytes, 0, &layout(&JSON));
    assert_eq!((seen.len(), seen[0].kind), (1, "request_received"));
    assert_eq!(seen[0].rest.map(|at| seen[0].payload[at..].len()), Some(pieces[2].text.len() + pieces[3].text.len()));
    assert!(seen[0].visible.contains("rid='r1'") && !seen[0].visible.contains("confidential") && !seen[0].visible.contains("stream=False"));
    pieces[0].lost = true;
    let seen = read_from(&compose(&pieces, &JSON), 0, &layout(&JSON));
    assert_eq!((seen.len(), seen[0].visible.trim()), (1, ""));
    // The short modes print the size of what is not printable.
    let mut pieces = request(7, 2 * 49_152, 49_152);
    pieces[0].text = b"[48.0K blob data]".to_vec();
    let seen = read_from(&compose(&pieces, &SHORT), 0, &layout(&SHORT));
    assert_eq!((seen.len(), seen[0].visible.trim()), (1, "[48.0K blob data]"));
}

#[test]
fn whole_lines_stay_whole() {
    // As long as a piece, but a line of a known format follows; and shorter, of the same process.
    for envelope in MODES {
        for (length, text) in [(49_152, "[2026-11-29 18:49:33] INFO:     Started server process [7]"), (40_000, "Ignore import error")] {
            let lines = [line(7, &"x".repeat(length), false), line(7, text, false)];
            let bytes = compose(&lines, envelope);
            let seen = read_from(&bytes, 0, &layout(envelope));
            assert_eq!((seen.len(), seen[1].visible.starts_with(text)), (2, true), "{} {length}", envelope.name);
        }
    }
    // The journal's own mark is stronger than a length.
    let lines = [line(7, &"x".repeat(49_152), false), line(7, "a warning", false)];
    assert_eq!(read_from(&compose(&lines, &EXPORT), 0, &layout(&EXPORT)).len(), 2);
}

#[test]
fn the_empty_line_of_json_sse_is_no_gap() {
    let bytes = compose(&request(7, 2 * 49_152, 49_152), &JSON);
    let sse: Vec<u8> = bytes.split_inclusive(|b| *b == b'\n').flat_map(|l| [b"data: ", l, b"\n"].concat()).collect();
    let seen = read_from(&sse, 0, &layout(&JSON));
    assert_eq!((seen.len(), seen[0].kind, seen[1].kind), (2, "request_received", "marker"));
    check_jumps(&sse, &layout(&JSON), 997);
}

/// The words of every prompt and response of the journal, from its export rendering: the values of `text=` in the request lines.
fn bodies(export: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let layout = layout(&EXPORT);
    let mut reader = Reader::new(export, 0, &layout);
    while let Some(record) = reader.next() {
        let text = String::from_utf8_lossy(record.payload);
        for key in ["text='", "text=\"", "'text': '", "'text': \"", "input_ids=["] {
            for (at, _) in text.match_indices(key) {
                let body = &text[at + key.len()..];
                let quote = if key.ends_with('[') { ']' } else { key.chars().last().unwrap() };
                let end = body.find(quote).unwrap_or(body.len());
                found.push(body[..end].to_owned());
            }
        }
    }
    found
}

#[test]
fn no_body_of_a_real_journal_is_visible() {
    let Some(folder) = crate::cases::cases("sglang/g-0509-journald/journal") else { return };
    let packed = std::fs::read(folder.join("journal.export.gz")).unwrap();
    let unpack = |packed: &[u8]| {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(packed), &mut bytes).unwrap();
        bytes
    };
    let export = unpack(&packed);
    let bodies = bodies(&export);
    // Runs of 24 bytes that no line but a body's has: looked up in one set.
    let mut runs = std::collections::HashSet::new();
    // One prompt imitates a log line: looked for by its own number instead.
    let imitates = |body: &&String| body.contains("Prefill batch");
    assert!(bodies.iter().any(|b| b.contains("#new-token: 99") && imitates(&b)));
    for body in bodies.iter().filter(|b| b.len() >= 48 && !imitates(b)) {
        runs.extend(body.as_bytes().windows(24).map(<[u8]>::to_vec));
    }
    assert!(runs.len() > 50_000, "the case has moved: {}", runs.len());
    let (mut files, mut records, mut joined, mut leaks) = (0, 0, 0, 0);
    for (name, envelope) in [
        ("journal.export.gz", &EXPORT),
        ("journalctl-o-json-all.jsonl.gz", &JSON),
        ("journalctl-o-json.jsonl", &JSON),
        ("journalctl-o-short.txt", &SHORT),
        ("journalctl-o-short-iso-precise.txt", &SHORT_ISO_PRECISE),
    ] {
        let mut bytes = std::fs::read(folder.join(name)).unwrap();
        if name.ends_with(".gz") {
            bytes = unpack(&bytes);
        }
        files += 1;
        for seen in read_from(&bytes, 0, &layout(envelope)) {
            records += 1;
            joined += usize::from(seen.payload.len() > 49_152 || (seen.rest.is_some() && seen.len > 1_000));
            let leak = seen.visible.as_bytes().windows(24).find(|run| runs.contains(*run));
            assert!(!seen.visible.contains("#new-token: 99"), "{name}: byte {}", seen.offset);
            if let Some(leak) = leak {
                leaks += 1;
                println!("{name}: byte {}: {} shows {:?}", seen.offset, seen.kind, String::from_utf8_lossy(leak));
            }
        }
        check_starts(&bytes, &layout(envelope));
    }
    println!("journal case: {files} renderings, {records} records, {} bodies, {joined} joined, {leaks} leaks", bodies.len());
    assert_eq!((joined, leaks), (4, 0));
}

/// The starts of all records are found from their ends.
fn check_starts(bytes: &[u8], layout: &Layout) {
    let mut reader = Reader::new(bytes, 0, layout);
    while let Some((offset, len)) = reader.next().map(|record| (record.offset, record.len)) {
        assert_eq!(record_start(bytes, offset + len - 1, layout), offset);
    }
}

fn any_line() -> impl Strategy<Value = Line> {
    let text = prop_oneof![
        4 => "[a-z ]{0,12}".prop_map(String::into_bytes),
        1 => Just(HEAD.as_bytes().to_vec()),
        1 => Just(TAIL.as_bytes().to_vec()),
        1 => Just(other(1).text),
        1 => Just(b"\x1b[32mgreen".to_vec()),
        2 => (2_010usize..2_050).prop_map(|n| vec![b'p'; n]),
    ];
    (1u32..4, text, prop::bool::weighted(0.4), prop::bool::weighted(0.1)).prop_map(|(pid, text, cut, lost)| Line { pid, text, cut, lost })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn jumps_agree_on_composed_journals(lines in prop::collection::vec(any_line(), 1..24)) {
        for envelope in [&EXPORT, &JSON, &SHORT] {
            check_jumps(&compose(&lines, envelope), &layout(envelope), 13);
        }
    }

    /// Damage: every byte is still in one record, and nothing panics.
    #[test]
    fn damaged_journals(
        lines in prop::collection::vec(any_line(), 1..10),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        noise: Vec<u8>,
    ) {
        for envelope in ENVELOPES {
            let mut bytes = compose(&lines, envelope);
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            bytes.extend_from_slice(&noise);
            let seen = read_from(&bytes, 0, &layout(envelope));
            prop_assert_eq!(seen.iter().map(|s| s.len).sum::<usize>(), bytes.len());
            for at in (0..bytes.len()).step_by(101) {
                prop_assert!(record_start(&bytes, at, &layout(envelope)) <= at);
            }
        }
    }
}

#[test]
fn a_byte_order_mark_hides_no_head() {
    let source = b"\xef\xbb\xbf[2026-11-29 18:00:00] Prefill batch, #new-seq: 1\r\n\xef\xbb\xbf{\"a\":1}\n";
    let layout = Layout { envelopes: Vec::new(), formats: crate::FORMATS.to_vec(), document: false };
    let mut reader = Reader::new(source, 0, &layout);
    let first = reader.next().unwrap();
    assert_eq!((first.offset, first.payload_at, first.format.map(|f| f.name)), (0, Some(3), Some("sglang")));
    assert!(first.payload.starts_with(b"[2026"));
    let second = reader.next().unwrap();
    assert_eq!((second.payload, second.format.map(|f| f.name)), (&b"{\"a\":1}"[..], Some("json")));
    assert_eq!(second.offset + second.len, source.len());
}

/// What is withheld of a one-line source, and the kind that it gets.
fn withheld_of(line: &str, formats: Vec<&'static crate::format::Format>) -> (String, String) {
    let layout = Layout { formats, ..Layout::default() };
    let mut reader = Reader::new(line.as_bytes(), 0, &layout);
    let record = reader.next().unwrap();
    let mut event = Event::new(&crate::text::kinds::TEXT);
    record.parse(&mut event);
    let hidden = event.withheld.iter().map(|w| &line[w.span.clone()]).collect::<Vec<_>>().join("|");
    assert!(event.fields.iter().all(|f| !format!("{:?}", f.value).contains("zebra")), "{:?}", event.fields);
    (event.kind.name.to_string(), hidden)
}

#[test]
fn a_request_behind_another_record_or_of_no_known_line_is_withheld() {
    let request = "Receive OpenAI: obj={'messages': [{'role': 'user', 'content': 'zebra'}]}";
    let body = "{'messages': [{'role': 'user', 'content': 'zebra'}]}";
    let all = crate::FORMATS.to_vec();
    for (before, kind) in [
        ("[2026-05-20 08:30:31 TP0] Decode batch, #running-req: 2, #queue-req: 0[2026-05-20 08:41:00] ", "decode_batch"),
        (
            "[2026-05-20 08:41:04] INFO:     10.42.0.20:45009 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK[2026-05-20 08:41:00] ",
            "access",
        ),
        ("[2026-05-20 08:41:04] The server is fired up and ready to roll![2026-05-20 08:41:00] ", "server_ready"),
        ("[2026-05-20 08:41:04] INFO ", "sglang_log"),
    ] {
        assert_eq!(withheld_of(&format!("{before}{request}"), all.clone()), (kind.to_string(), body.to_string()), "{before}");
    }
    let (kind, hidden) = withheld_of(&format!("[2026-05-20 08:41:04] {request}"), Vec::new());
    assert_eq!((kind.as_str(), hidden.as_str()), ("log", body));
    let (_, hidden) = withheld_of("[2026-05-20 08:41:04] curl -d {\"messages\":[{\"content\":\"zebra\"}]}", all.clone());
    assert_eq!(hidden, "[{\"content\":\"zebra\"}]}");
    let (kind, hidden) = withheld_of("2026-05-20 08:41:04 [INFO] curl -d {\"messages\":[{\"content\":\"zebra\"}]}", all.clone());
    assert_eq!((kind.as_str(), hidden.as_str()), ("driver_log", "[{\"content\":\"zebra\"}]}"));
    let (kind, hidden) = withheld_of("[2026-05-20 08:41:04] Receive: obj=GenerateReqInput(rid='a', stream=True)", all);
    assert_eq!((kind.as_str(), hidden.as_str()), ("request_received", ""), "the request log's own line is read, not hidden");
}

#[test]
fn a_credential_in_a_columnar_record_is_withheld() {
    let line = "[2026-05-20 08:41:04] INFO:     10.42.0.20:45009 - \"GET /x/sk-zebra4567890123456789012345 HTTP/1.1\" 200 OK";
    let (kind, hidden) = withheld_of(line, crate::FORMATS.to_vec());
    assert_eq!((kind.as_str(), hidden.as_str()), ("access", "sk-zebra4567890123456789012345"));
}
