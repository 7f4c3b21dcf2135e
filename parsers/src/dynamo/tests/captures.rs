//! The real captures with the client's truth (`CORR_CASES`): every line parses, and ids are those that the client saw.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::event::{Event, Outcome};
use crate::ids::{self, IdKind};
use crate::record::{Layout, Reader};

/// The folder of cases, if this machine has it.
pub(crate) fn cases(sub: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("CORR_CASES") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
    };
    let dir = root.join(sub);
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: no cases {sub} (set CORR_CASES)");
    None
}

/// A file's bytes, unpacked (several gzip members too).
pub(crate) fn read(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if path.extension().is_none_or(|e| e != "gz") {
        return bytes;
    }
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut out).unwrap();
    out
}

/// Every log of a capture by its file name.
fn logs(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let ours = ["frontend", "router", "worker-", "w1", "w2", "p1", "p2", "d1", "d2"].iter().any(|p| name.starts_with(p));
        if ours && (name.ends_with(".log") || name.ends_with(".log.gz")) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Walks a source record by record with all formats.
pub(crate) fn each(bytes: &[u8], mut see: impl FnMut(&[u8], &Event<'_>, &Outcome)) {
    let layout = Layout { formats: crate::FORMATS.to_vec(), ..Layout::default() };
    let mut reader = Reader::new(bytes, 0, &layout);
    let mut total = 0;
    while let Some(record) = reader.next() {
        total += record.len;
        let mut event = Event::new(&crate::text::kinds::TEXT);
        let outcome = record.parse(&mut event);
        see(record.payload, &event, &outcome);
    }
    assert_eq!(total, bytes.len());
}

fn captures() -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    for sub in ["dynamo", "tachometer/run_dynamo"] {
        let Some(dir) = cases(sub) else { continue };
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let logs = path.join("logs");
            if logs.is_dir() {
                dirs.push(logs);
            } else if path.join("client.jsonl").is_file() || path.join("client.jsonl.gz").is_file() {
                dirs.push(path);
            }
        }
    }
    dirs.sort();
    dirs
}

#[test]
fn every_line_of_every_log_parses() {
    for dir in captures() {
        for path in logs(&dir) {
            let bytes = read(&path);
            let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
            let mut unparsed: BTreeMap<String, usize> = BTreeMap::new();
            let mut general: BTreeMap<String, usize> = BTreeMap::new();
            let mut columnar = 0;
            each(&bytes, |payload, event, outcome| {
                *kinds.entry(event.kind.name).or_default() += 1;
                columnar += usize::from(event.columnar);
                if let Outcome::Unparsed(reason) = outcome {
                    let text = String::from_utf8_lossy(payload);
                    *unparsed.entry(format!("{reason}: {}", text.chars().take(120).collect::<String>())).or_default() += 1;
                }
                if event.kind.name == "dynamo_log" || event.kind.name == "dynamo_error" || event.kind.name == "dynamo_python" {
                    let text = String::from_utf8_lossy(&payload[event.message.clone()]);
                    let text = text.chars().take(90).map(|c| if c.is_ascii_digit() { 'N' } else { c }).collect::<String>();
                    *general.entry(format!("{:?} {text}", event.get("target"))).or_default() += 1;
                }
            });
            let name = path.strip_prefix(dir.parent().unwrap()).unwrap();
            let all: usize = kinds.values().sum();
            let counted: usize = general.values().sum();
            println!(
                "{}: {all} records, {columnar} columnar, {counted} general, {} unparsed",
                name.display(),
                unparsed.values().sum::<usize>()
            );
            if std::env::var_os("CORR_SHOW").is_some() {
                println!("  {kinds:?}");
                for (k, n) in &unparsed {
                    println!("  ! {n} {k}");
                }
                for (k, n) in &general {
                    println!("  ? {n} {k}");
                }
            }
        }
    }
}
