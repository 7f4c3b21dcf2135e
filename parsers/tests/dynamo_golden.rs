//! Records of each kind in every capture of Dynamo, against tables that grep and jq made (golden/dynamo/README.md).

#[path = "../src/cases.rs"]
mod cases;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use corr_parsers::event::{Event, Outcome};
use corr_parsers::record::{Layout, Reader};
use corr_parsers::{FORMATS, text};

/// What a log may hold beside Dynamo's own lines, by how it begins: two libraries, Python's warnings, and the headings and cut lines of samples.
const FOREIGN: &[&str] = &["None of PyTorch", "[transformers] PyTorch", "## ", "/root/.pyenv/versions/"];

fn read(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if path.extension().is_none_or(|e| e != "gz") {
        return bytes;
    }
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut out).unwrap();
    out
}

type Table = BTreeMap<String, usize>;

/// Every table: source to kind to records.
fn tables() -> BTreeMap<String, Table> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/dynamo");
    let mut all: BTreeMap<String, Table> = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "tsv") || path.ends_with("patterns.tsv") {
            continue;
        }
        for line in std::fs::read_to_string(&path).unwrap().lines().filter(|l| !l.starts_with('#')) {
            let mut parts = line.split('\t');
            let (source, kind, records) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
            let before = all.entry(source.to_owned()).or_default().insert(kind.to_owned(), records.parse().unwrap());
            assert_eq!(before, None, "{source} {kind} twice");
        }
    }
    all
}

fn counted(source: &str, bytes: &[u8]) -> Table {
    let layout = Layout { formats: FORMATS.to_vec(), ..Layout::default() };
    let mut reader = Reader::new(bytes, 0, &layout);
    let mut kinds = Table::new();
    let mut total = 0;
    while let Some(record) = reader.next() {
        total += record.len;
        let mut event = Event::new(&text::kinds::TEXT);
        let outcome = record.parse(&mut event);
        *kinds.entry(event.kind.name.to_owned()).or_default() += 1;
        if let Outcome::Unparsed(reason) = outcome {
            let line = String::from_utf8_lossy(record.payload);
            // Samples were cut at 4,000 characters.
            let cut = reason == "truncated JSON" && source.contains("line-samples") && line.chars().count() >= 3_900;
            assert!(cut || FOREIGN.iter().any(|f| line.starts_with(f)), "{source}: {reason}: {line}");
        }
    }
    assert_eq!(total, bytes.len(), "{source}");
    kinds
}

#[test]
fn every_capture_has_the_kinds_that_grep_counts() {
    let tables = tables();
    assert!(tables.len() >= 80, "{} tables", tables.len());
    let Some(root) = cases::cases("") else { return };
    let (mut counts, mut records) = (0, 0);
    let mut wrong = Vec::new();
    let mut kinds: Table = Table::new();
    for (source, want) in &tables {
        let got = counted(source, &read(&root.join(source)));
        for kind in want.keys().chain(got.keys()) {
            let of = |table: &Table| table.get(kind).copied().unwrap_or(0);
            if of(want) != of(&got) {
                wrong.push(format!("{source}: {kind}: {} by grep, {} here", of(want), of(&got)));
            }
        }
        counts += want.len();
        records += want.values().sum::<usize>();
        for (kind, n) in got {
            *kinds.entry(kind).or_default() += n;
        }
    }
    println!("{} sources, {counts} counts, {records} records, {} differ", tables.len(), wrong.len());
    for (kind, n) in &kinds {
        println!("  {n:6} {kind}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
