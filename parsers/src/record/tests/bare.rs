//! Bare sources: the same records from wherever one begins to read, in work that grows with the source.

use super::*;
use crate::record::lines;

const DYNAMO: &str = "2026-11-29T18:06:46.870571Z  INFO dynamo_llm::http: request received request_id=41 ";
const COLOURED: &str = "\x1b[2m2026-11-29T18:06:46.870571Z\x1b[0m \x1b[32m INFO\x1b[0m \x1b[2mdynamo_llm::http\x1b[0m\x1b[2m:\x1b[0m text";
const JSONL: &str = r#"{"time":"2026-11-29T18:06:46.870571Z","level":"INFO","target":"a::b","message":"x"}"#;
const TORN: &str = r#"{"time":"2026-11-29T18:06:46.870571Z","level":"INFO","targ"#;
const NESTED: &str = r#"{"time":"2026-11-29T18:06:46.870571Z","level":"INFO","a":[{"time":"2026-11-29T18:06:46.870571Z","level":"INFO"}]}"#;
const SGLANG: &str = "[2026-11-29 18:49:33 TP0] Load weight begin. avail mem=78.68 GB";
const BAR: &str = "\rCapturing batches:  50%|#####     | 4/8 [00:05<00:05,  1.52it/s]";
const GOES_ON: &str = "    at somewhere deep in a stack";

fn formats() -> Layout {
    Layout { formats: FORMATS.to_vec(), ..Layout::default() }
}

/// Offsets of all records from `at` on.
fn starts(bytes: &[u8], at: usize, layout: &Layout, span: usize) -> Vec<usize> {
    let mut reader = Reader { span, ..Reader::new(bytes, at, layout) };
    let mut starts = Vec::new();
    let mut end = at;
    while let Some(record) = reader.next() {
        assert_eq!(record.offset, end);
        end += record.len;
        starts.push(record.offset);
    }
    assert_eq!(end, bytes.len());
    starts
}

/// The start of the record that holds `at`, of those that a full read saw.
fn around(all: &[usize], at: usize) -> usize {
    all[all.partition_point(|start| *start <= at) - 1]
}

/// A read from the start and `tries` jumps agree. Returns the starts.
fn check(name: &str, bytes: &[u8], tries: usize) -> Vec<usize> {
    let layout = formats();
    let all = starts(bytes, 0, &layout, MAX_CONTINUED);
    for i in 0..tries {
        let at = i * 2_654_435_761 % bytes.len();
        assert_eq!(record_start(bytes, at, &layout), around(&all, at), "{name} at {at}");
    }
    for i in 0..4 {
        let at = all.len() * i / 4;
        assert_eq!(starts(bytes, all[at], &layout, MAX_CONTINUED), all[at..], "{name} from {}", all[at]);
    }
    let last = bytes.len() - 1;
    assert_eq!(record_start(bytes, last, &layout), around(&all, last), "{name}");
    all
}

#[test]
fn large_sources_agree() {
    let head = format!("{SGLANG}\n");
    let indented = format!("{head}{}", format!("{GOES_ON} 0123456789012345678\n").repeat(60_000));
    let all = check("60 000 lines", indented.as_bytes(), 60);
    // The head's record takes the lines before the second boundary, the next one those before the third.
    assert_eq!((all.len(), all[1] / MAX_CONTINUED, all[2] / MAX_CONTINUED, indented.len() / MAX_CONTINUED), (3, 1, 2, 3));
    let all = check("lines that go on and no head", &indented.as_bytes()[head.len()..], 60);
    assert_eq!(all.len(), 4);
    let blank = format!("{head}{}{head}", "\n".repeat(2_500_000));
    assert_eq!(check("blank lines", blank.as_bytes(), 5).len(), 3);
    let crlf = format!("{SGLANG}\r\n{GOES_ON}\r\n\r\n").repeat(20_000);
    assert_eq!(check("CRLF", crlf.as_bytes(), 200).len(), 20_000);
    let long = format!("{head}{}\n{GOES_ON}\n{head}", "prompt ".repeat(700_000));
    assert_eq!(check("one long line", long.as_bytes(), 20).len(), 3);
    let long = format!("{head}  {}\n{GOES_ON}\n{head}", "prompt ".repeat(700_000));
    // The long line goes on the head's record, though it holds boundaries: the record began just before.
    assert_eq!(check("one long line that goes on", long.as_bytes(), 20).len(), 2);
    let bars = BAR.repeat(20_000);
    assert_eq!(check("bars without a line end", bars.as_bytes(), 10).len(), 1);
    let bars = format!("{BAR}\n{BAR}\r\n{GOES_ON}\n").repeat(10_000);
    assert_eq!(check("bars", bars.as_bytes(), 100).len(), 20_000);
}

#[test]
fn many_heads_in_one_line_agree() {
    // 4.9 MB each: work that grew with the square of it would take minutes.
    for (name, head) in [("text", DYNAMO), ("colour", COLOURED), ("JSONL", JSONL), ("torn JSONL", TORN)] {
        // A blank before a head says that it is quoted.
        let one = format!("{}#", head.trim_end()).replace("}#", "}");
        let count = 4_900_000 / one.len();
        assert_eq!(check(name, one.repeat(count).as_bytes(), 1_000).len(), count, "{name}");
    }
}

#[test]
fn a_record_across_a_boundary_stays_whole() {
    let layout = formats();
    let plain = "a line of its own\n";
    let mut text = plain.repeat((MAX_CONTINUED - 100) / plain.len());
    let head = text.len();
    text.push_str(&format!("{SGLANG}\n"));
    text.push_str(&format!("{GOES_ON}\n").repeat(100));
    let end = text.len();
    text.push_str(plain);
    assert!(head < MAX_CONTINUED && end > MAX_CONTINUED);
    let all = starts(text.as_bytes(), 0, &layout, MAX_CONTINUED);
    assert_eq!(all[all.len() - 2..], [head, end]);
    assert_eq!(record_start(text.as_bytes(), end - 1, &layout), head);
}

#[test]
fn a_record_is_bounded() {
    let layout = formats();
    let text = format!("{SGLANG}\n{}", format!("{GOES_ON}\n\n").repeat(500));
    for span in [64, 100, 1_000, 1_024] {
        let mut all = starts(text.as_bytes(), 0, &layout, span);
        all.push(text.len());
        assert!(all.windows(2).all(|w| w[1] - w[0] <= 2 * span + GOES_ON.len() + 1), "{span}");
        assert!(all.len() > text.len() / (2 * span + 50), "{span}");
    }
}

fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let known: &[&str] = &[
        DYNAMO,
        COLOURED,
        JSONL,
        TORN,
        NESTED,
        SGLANG,
        BAR,
        GOES_ON,
        "  ",
        "",
        "x",
        "{",
        "{\"a\": ",
        "Traceback (most recent call last):",
    ];
    prop_oneof![
        8 => prop::sample::select(known).prop_map(|t| t.as_bytes().to_vec()),
        1 => prop::sample::select(FORMATS.iter().flat_map(|f| f.samples).map(|s| s.0).collect::<Vec<_>>()).prop_map(|t| t.as_bytes().to_vec()),
        1 => (1_000usize..5_000).prop_map(|n| vec![b'p'; n]),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

fn source(ends: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let part = (fragment(), any::<prop::sample::Index>(), prop::bool::weighted(0.3), prop::sample::select(ends));
    prop::collection::vec(part, 1..40).prop_map(|parts| {
        let mut bytes = Vec::new();
        for (text, at, cut, end) in parts {
            let len = if cut { at.index(text.len() + 1) } else { text.len() };
            bytes.extend_from_slice(&text[..len]);
            bytes.extend_from_slice(end.as_bytes());
        }
        bytes
    })
}

fn agree(bytes: &[u8], span: usize) -> Result<(), TestCaseError> {
    let layout = formats();
    let all = starts(bytes, 0, &layout, span);
    for at in 0..bytes.len() {
        prop_assert_eq!(
            bare_start(bytes, at, &layout.formats, span),
            around(&all, at),
            "at {} of {:?}",
            at,
            String::from_utf8_lossy(bytes)
        );
    }
    for (i, at) in all.iter().enumerate() {
        prop_assert!(starts(bytes, *at, &layout, span) == all[i..], "from {}: {:?}", at, String::from_utf8_lossy(bytes));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn jumps_agree_on_composed_sources(bytes in source(&["\n", "\n", "\r\n", "\n\n\n", "\r", ""]), span in 16usize..2_000) {
        agree(&bytes, span)?;
    }

    #[test]
    fn jumps_agree_in_long_lines(bytes in source(&["", "", "", "#", "\r"]), span in 16usize..2_000) {
        agree(&bytes, span)?;
    }

    #[test]
    fn jumps_agree_on_any_bytes(bytes in prop::collection::vec(prop_oneof![prop::sample::select(&b"\n\r \x1b[%{T"[..]), any::<u8>()], 1..400)) {
        agree(&bytes, 32)?;
    }

    /// What a line's beginning says of its first cut is what the whole line says.
    #[test]
    fn windows_see_what_the_line_says(mut bytes in source(&["", "", "", "#", "\r"])) {
        bytes.retain(|b| *b != b'\n');
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let cuts = FORMATS.iter().filter_map(|f| (f.cut)(rest)).filter(|cut| *cut > 0 && *cut < rest.len());
            let part = lines::read(&bytes, at, FORMATS);
            prop_assert_eq!(part.cut.then_some(part.len), cuts.min(), "at {}", at);
            at += part.len;
        }
    }
}
