//! Per-kind counts of every SGLang and gateway log under `cases/` against `golden/counts.tsv`, which `golden/count.sh` makes with grep alone.
//!
//! A source whose envelope is not among the crate's is left out by name, and so is everything where the cases are not.

#[path = "../src/cases.rs"]
mod cases;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use corr_parsers::event::{Event, Outcome};
use corr_parsers::format::Content;
use corr_parsers::record::Reader;
use corr_parsers::{ENVELOPES, FORMATS, detect, text};

/// The rows of a table, without its comments.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|row| !row.starts_with('#')).map(|row| row.split('\t').collect())
}

/// Is the envelope of this wrapped sample read by this build?
fn is_wrapped_unknown(source: &str) -> bool {
    const NEEDS: &[(&str, &str)] = &[
        ("wrap-docker-compose", "compose"),
        ("wrap-docker-json-file", "docker"),
        ("wrap-docker-logs-timestamps", "docker"),
        ("wrap-k8s-cri", "cri"),
        ("wrap-kubectl-logs-prefix", "kubectl"),
        ("wrap-loki-jsonlines", "loki"),
        ("wrap-ray-actor", "ray"),
        ("wrap-srun-label", "srun"),
        ("wrap-torchrun", "torchrun"),
    ];
    let needs = NEEDS.iter().find(|(name, _)| source.contains(name));
    needs.is_some_and(|(_, envelope)| !ENVELOPES.iter().any(|e| e.name.contains(envelope)))
}

/// A source's bytes, unpacked.
fn bytes(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if path.extension().is_none_or(|end| end != "gz") {
        return bytes;
    }
    let mut all = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut all).expect("gzip");
    all
}

/// What one source became.
#[derive(Default)]
struct Found {
    kinds: BTreeMap<&'static str, usize>,
    parsed: usize,
    skipped: usize,
    unparsed: usize,
    records: usize,
}

fn read(bytes: &[u8]) -> Found {
    let sample = &bytes[..bytes.len().min(detect::SAMPLE)];
    let layout = detect::detect(sample, sample.len() == bytes.len()).layout;
    let mut found = Found::default();
    let mut reader = Reader::new(bytes, 0, &layout);
    let mut len = 0;
    while let Some(record) = reader.next() {
        len += record.len;
        found.records += 1;
        if record.content != Content::Payload {
            found.skipped += 1;
            continue;
        }
        let mut event = Event::new(&text::kinds::TEXT);
        match record.parse(&mut event) {
            Outcome::Parsed => found.parsed += 1,
            Outcome::Skipped(_) => found.skipped += 1,
            Outcome::Unparsed(_) => found.unparsed += 1,
        }
        *found.kinds.entry(event.kind.name).or_default() += 1;
    }
    assert_eq!(len, bytes.len(), "every byte is in one record");
    found
}

#[test]
fn counts_by_kind_are_those_of_grep() {
    let Some(root) = cases::cases("") else { return };
    let patterns: BTreeSet<&str> = rows(include_str!("golden/patterns.tsv")).map(|row| row[0]).collect();
    let own: BTreeSet<&str> = FORMATS
        .iter()
        .filter(|f| f.name.starts_with("sglang") || f.name.starts_with("gateway"))
        .flat_map(|f| f.kinds)
        .map(|k| k.name)
        .collect();
    let mut want: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for row in rows(include_str!("golden/counts.tsv")) {
        want.entry(row[0]).or_default().insert(row[1], row[2].parse().expect("a count"));
    }
    println!("{:<70} {:>7} {:>7} {:>7} {:>8} {:>6}", "source", "records", "parsed", "skipped", "unparsed", "kinds");
    let (mut sources, mut compared, mut wrong) = (0, 0, Vec::new());
    for row in rows(include_str!("golden/sources.tsv")) {
        let source = row[0];
        if is_wrapped_unknown(source) {
            println!("{source:<70} left out: no envelope of its kind");
            continue;
        }
        let found = read(&bytes(&root.join(source)));
        let want = want.remove(source).unwrap_or_default();
        println!("{source:<70} {:>7} {:>7} {:>7} {:>8} {:>6}", found.records, found.parsed, found.skipped, found.unparsed, want.len());
        sources += 1;
        // What is not parsed is foreign text, whose beginnings `patterns.tsv` lists; the rest of a cut record is neither.
        assert_eq!(found.unparsed, found.kinds.get("text").copied().unwrap_or(0), "{source}");
        let names: BTreeSet<&str> = want.keys().copied().chain(found.kinds.keys().copied()).collect();
        for name in names {
            if !patterns.contains(name) && !own.contains(name) {
                continue;
            }
            let (want, have) = (want.get(name).copied().unwrap_or(0), found.kinds.get(name).copied().unwrap_or(0));
            compared += 1;
            if want != have {
                wrong.push(format!("{source}: {name} is {have}, grep says {want}"));
            }
        }
    }
    println!("{sources} sources, {compared} counts compared, {} differences", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(sources >= 90, "the samples and captures are many");
}
