//! Entry by entry against the journal captures and their truth (`cases/journald`): set CORR_CASES or put them beside the workspace.
//!
//! Time is what the printed stamp means under the zone of the folder's name. Sources without a year get it as a user would give it:
//! the newest entry is of the year 2026 (`--year 2026`); no answer of the expectation is used for it.

mod cat;
mod options;
mod systemd;
mod truth;
mod views;

use std::path::{Path, PathBuf};

use truth::{Found, Source, compare, read_expected, units};

use super::*;
use crate::cases::cases;
use crate::format::Entry;

/// The names of files and the envelopes that read them. `cat` has none.
static MODES: &[(&str, &Envelope)] = &[
    ("export", &EXPORT),
    ("json", &JSON),
    ("json-sse", &JSON),
    ("json-seq", &JSON),
    ("json-pretty", &JSON_PRETTY),
    ("verbose", &VERBOSE),
    ("short-iso", &SHORT_ISO),
    ("short-iso-precise", &SHORT_ISO_PRECISE),
    ("short-full", &SHORT_FULL),
    ("with-unit", &WITH_UNIT),
    ("short", &SHORT),
    ("short-precise", &SHORT_PRECISE),
    ("short-unix", &SHORT_UNIX),
    ("short-monotonic", &SHORT_MONOTONIC),
    ("short-delta", &SHORT_DELTA),
];

#[test]
fn every_entry_of_every_mode() {
    let Some(root) = cases("journald") else { return };
    let (mut files, mut total, mut different) = (0, 0, 0);
    for (folder, zone) in folders(&root) {
        let expectations = root.join("expected").join(&folder);
        let units = units(&read_expected(&expectations, "export").unwrap());
        for (mode, envelope) in MODES {
            let path = root.join(&folder).join(format!("{mode}.txt"));
            let Some(expected) = read_expected(&expectations, mode) else {
                assert!(!path.exists(), "{} has no expectation", path.display());
                continue;
            };
            let what = format!("{folder}/{mode}");
            let source = Source::read(&path, envelope, &zone);
            let mut wrong = usize::from(source.entries.len() != expected.len());
            for (found, expected) in source.entries.iter().zip(&expected) {
                let differences = compare(expected, found, &units);
                if !differences.is_empty() {
                    wrong += 1;
                    if wrong < 4 {
                        println!("{what}:{}: {}", found.line, differences.join("; "));
                    }
                }
            }
            println!("{what}: {} entries compared, {} expected, {wrong} differences", source.entries.len(), expected.len());
            files += 1;
            total += source.entries.len();
            different += wrong;
        }
    }
    println!("journald cases: {files} files, {total} entries, {different} differences");
    assert!(files > 90, "the folders of the cases have moved");
    assert_eq!(different, 0);
}

/// `synthetic/v257/UTC` and the zone, for all folders that have an expectation.
fn folders(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for origin in ["synthetic", "real"] {
        for version in names(&root.join("expected").join(origin)) {
            for zone in names(&root.join("expected").join(origin).join(&version)) {
                if root.join(origin).join(&version).join(&zone).is_dir() {
                    found.push((format!("{origin}/{version}/{zone}"), zone));
                }
            }
        }
    }
    found
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The mode of a file's name: `short-iso.reverse.txt`, `de_DE.short.txt`, `json.txt`.
fn mode_of(name: &str) -> Option<&'static Envelope> {
    let stem = name.strip_suffix(".txt")?;
    MODES.iter().find(|(mode, _)| stem.split('.').any(|part| part == *mode)).map(|(_, envelope)| *envelope)
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            files(&path, into);
        } else if name.ends_with(".txt") {
            into.push(path);
        }
    }
}

/// Options, locales, catalogs, markers: nothing is broken, and detection names the mode. What is no journal output is not taken for it.
#[test]
fn every_rendering_is_explained_and_detected() {
    let Some(root) = cases("journald") else { return };
    let mut found = Vec::new();
    for folder in ["synthetic", "real", "cases", "locale"] {
        files(&root.join(folder), &mut found);
    }
    let (mut all, mut skipped, mut bad, mut untold) = (0, 0, 0, 0);
    for path in &found {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let envelope = mode_of(path.file_name().unwrap().to_str().unwrap());
        let bytes = std::fs::read(path).unwrap();
        let mut at = 0;
        while let Some(envelope) = envelope.filter(|_| at < bytes.len()) {
            let mut entry = Entry::default();
            let len = (envelope.read)(&bytes, at, &mut entry);
            all += 1;
            match entry.content {
                Content::Payload | Content::Bare => {}
                Content::Skip(_) => skipped += 1,
                Content::Broken(reason) => {
                    bad += 1;
                    println!("{name}: byte {at}: {reason}");
                }
            }
            at += len;
        }
        let head = &bytes[..bytes.len().min(crate::detect::SAMPLE)];
        let detection = crate::detect::detect(head, head.len() == bytes.len());
        let got = detection.layout.envelopes.first().map(|e| e.name);
        println!("{name}: {}, {} entries", got.unwrap_or("no envelope"), detection.envelopes.first().map_or("0 of 0", |e| &e.reason));
        // Where no line shows a unit, as of the kernel alone, nothing tells the two modes apart.
        let tells = |line: &[u8]| {
            let columns = line.split(|b| *b == b' ').skip(4).take(2);
            columns.filter_map(|column| column.split(|b| *b == b'[').next()).any(|c| c.ends_with(b".service") || c.ends_with(b".scope"))
        };
        let envelope = match envelope {
            Some(with_unit) if with_unit.name == WITH_UNIT.name && !head.split(|b| *b == b'\n').any(tells) => {
                untold += 1;
                Some(&SHORT_FULL)
            }
            other => other,
        };
        // The state of a unit ends with its last lines in the short mode.
        let lines_of_status = name.ends_with("systemctl-status.txt") && got == Some(SHORT.name);
        // A file that holds only `-- No entries --` says nothing of its mode.
        if got != envelope.map(|e| e.name) && !lines_of_status && bytes != b"-- No entries --\n" {
            bad += 1;
            println!("{name}: WRONG: detected {got:?}: {:?}", detection.envelopes);
        }
    }
    println!("journald renderings: {} files, {all} entries, {skipped} of them skipped, {bad} not explained or not detected", found.len());
    println!("{untold} files of with-unit show no unit");
    assert!(found.len() > 100, "the folders of the cases have moved");
    assert_eq!(bad, 0);
}
