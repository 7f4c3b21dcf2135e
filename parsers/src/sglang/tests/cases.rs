//! The samples and captures under `cases/`: what each line of them became.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::FORMATS;
use crate::cases::cases;
use crate::clock::{Aligner, Clock, How, Rule};
use crate::event::{Event, Outcome};
use crate::format::Content;
use crate::record::{Layout, Reader};
use crate::stamp::{Order, Stamp, Zone};
use crate::text;

/// The sample files that are SGLang's own lines without an envelope, and the captures' logs.
fn files(root: &std::path::Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let own = [
        "unified-",
        "pd-",
        "hybrid-",
        "spec-decode-",
        "dp-attention-",
        "log-requests-",
        "sglang-request-metrics-",
        "wrap-crlf",
        "tty-script-",
        "custom-logging-",
        "grpc-mode-",
        "rust-frontend-",
    ];
    for entry in std::fs::read_dir(root.join("sglang-samples")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if own.iter().any(|prefix| name.starts_with(prefix)) {
            files.push(entry.path());
        }
    }
    for capture in std::fs::read_dir(root.join("sglang")).into_iter().flatten().flatten() {
        for folder in ["", "request-metrics", "request-log", "scheduler-status", "journal"] {
            for entry in std::fs::read_dir(capture.path().join(folder)).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name == "journalctl-o-cat.txt" || name.ends_with(".log") && !name.starts_with("router") && name != "zygote.log" {
                    files.push(entry.path());
                }
            }
        }
    }
    files.sort();
    files
}

/// Lines in these sources that other programs wrote: the shell, transformers, torch, gloo, journald, glog's own banner.
const FOREIGN: &[&str] = &[
    "Killed",
    "Token indices sequence length",
    "[transformers] ",
    "WARNING: Logging before InitGoogleLogging()",
    "[Gloo] ",
    "[W0 ",
    "Journal st",
    "Runtime Journal ",
];

/// What one source became.
#[derive(Default)]
struct Counts {
    records: usize,
    parsed: usize,
    skipped: usize,
    unparsed: usize,
    general: usize,
    bytes: usize,
}

#[test]
fn every_known_line_has_its_kind() {
    let Some(root) = cases("") else { return };
    let layout = Layout { envelopes: Vec::new(), formats: FORMATS.to_vec(), document: false };
    let mut general: BTreeMap<String, usize> = BTreeMap::new();
    let mut unparsed: BTreeMap<String, usize> = BTreeMap::new();
    println!("{:<64} {:>7} {:>7} {:>7} {:>8} {:>7}", "source", "records", "parsed", "skipped", "unparsed", "general");
    let files = files(&root);
    for path in &files {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let mut counts = Counts::default();
        let mut reader = Reader::new(&bytes, 0, &layout);
        while let Some(record) = reader.next() {
            counts.records += 1;
            counts.bytes += record.len;
            assert_eq!(record.content, Content::Payload);
            let mut event = Event::new(&text::kinds::TEXT);
            match record.parse(&mut event) {
                Outcome::Parsed => counts.parsed += 1,
                Outcome::Skipped(_) => counts.skipped += 1,
                Outcome::Unparsed(_) => {
                    counts.unparsed += 1;
                    *unparsed.entry(shape(record.payload)).or_default() += 1;
                }
            }
            if event.kind.name == "sglang_log" {
                counts.general += 1;
                *general.entry(shape(&record.payload[event.message.clone()])).or_default() += 1;
            }
        }
        assert_eq!(counts.bytes, bytes.len(), "{}", path.display());
        println!(
            "{:<64} {:>7} {:>7} {:>7} {:>8} {:>7}",
            path.strip_prefix(&root).unwrap_or(path).display(),
            counts.records,
            counts.parsed,
            counts.skipped,
            counts.unparsed,
            counts.general
        );
    }
    println!("read {} sources", files.len());
    for (line, n) in &unparsed {
        println!("unparsed {n:>5} {line}");
        assert!(FOREIGN.iter().any(|foreign| line.starts_with(foreign)), "no foreign text: {line}");
    }
    assert!(files.len() >= 70, "the samples and captures are many");
    assert!(general.is_empty(), "lines without a kind of their own: {general:?}");
}

/// The Rust front-end prints UTC with `Z`, the scheduler of the same process local time, here eight hours ahead: under that rule both make one
/// sequence, in which no record is certainly before the one that stands above it.
#[test]
fn two_clocks_of_one_process_make_one_sequence() {
    let Some(root) = cases("") else { return };
    let clock = Clock { rule: Rule::Fixed(8 * 3600), how: How::Declared, ..Clock::assumed() };
    for name in ["rust-frontend-tp2-0.5.23-ansi-tz+0800.log", "rust-frontend-tp2-0.5.23-nocolor-tz+0800.log"] {
        let bytes = std::fs::read(root.join("sglang-samples").join(name)).expect("the sample");
        let layout = Layout { envelopes: Vec::new(), formats: FORMATS.to_vec(), document: false };
        let mut aligner = Aligner::new(&clock);
        let mut reader = Reader::new(&bytes, 0, &layout);
        let (mut utc, mut local, mut last) = (0, 0, None::<Stamp>);
        while let Some(record) = reader.next() {
            let mut event = Event::new(&text::kinds::TEXT);
            record.parse(&mut event);
            let Some(raw) = event.stamp else { continue };
            match raw.zone {
                Zone::Utc => utc += 1,
                _ => local += 1,
            }
            let stamp = aligner.stamp(&raw).expect("a time");
            if let Some(last) = last {
                assert_ne!(last.order(&stamp), Order::After, "{}", String::from_utf8_lossy(record.payload));
            }
            last = Some(stamp);
        }
        // Counted with grep: lines with `Z` in front, and lines that begin with `[20`.
        assert_eq!((utc, local), (15, 111), "{name}");
        println!("{name}: {utc} stamps in UTC and {local} in local time make one sequence");
    }
}

/// The first words of a line, numbers as `0`.
fn shape(line: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(line).chars().take(110).collect();
    let mut out = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if !(c == '0' && out.ends_with('0')) {
            out.push(c);
        }
    }
    out.replace('\n', "⏎")
}
