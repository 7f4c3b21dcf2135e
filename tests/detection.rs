//! Is every file detected as what it is? What it is stands in `tests/detection/*.txt`, written without corr's help.

#[path = "program/cases.rs"]
mod cases;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use cases::cases;
use corr::run::captures;
use corr::run::discover::{self, Found, Looked};
use corr::run::source::{Class, Stat};
use globset::{Glob, GlobBuilder, GlobMatcher};

/// A line of a table: which paths, and what they are (`journald-json + sglang`).
struct Row {
    matcher: GlobMatcher,
    what: String,
    used: bool,
}

fn table(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [glob, envelopes, format] = words[..] else { panic!("three words a line: {line}") };
        let glob: Glob = GlobBuilder::new(glob).literal_separator(true).empty_alternates(true).build().unwrap();
        let what = if envelopes == "-" { format.to_string() } else { format!("{envelopes} + {format}") };
        rows.push(Row { matcher: glob.compile_matcher(), what, used: false });
    }
    rows
}

/// What corr takes a file for, in the table's words.
fn detected(found: &Found, captures: &HashMap<PathBuf, &str>, damaged: &HashMap<PathBuf, String>) -> String {
    if captures.contains_key(&found.path) {
        return "metrics".into();
    }
    if damaged.contains_key(&found.path) {
        return "binary".into();
    }
    match discover::look(found, None, &[]) {
        Looked::NotRead(_) => "binary".into(),
        Looked::Source(source) => match &source.class {
            Class::Events => match source.detection.layout.wrapped_in() {
                Some(envelopes) => format!("{} + {}", envelopes.replace(' ', ""), source.format()),
                None => source.format().into(),
            },
            Class::Metrics(_) => "metrics".into(),
            Class::Config(_) => "config".into(),
            Class::Empty => "empty".into(),
            Class::Duplicate(_) => "duplicate".into(),
        },
    }
}

fn found(path: &Path, root: &Path) -> Found {
    let meta = std::fs::metadata(path).unwrap();
    let key = path.strip_prefix(root).unwrap().display().to_string();
    Found { path: path.to_path_buf(), name: key.clone(), key, stat: Stat::of(&meta) }
}

/// Compares a folder with its table and prints the confusion matrix: rows what it is, columns what it was taken for.
fn compare(root: &Path, text: &str) {
    let mut rows = table(text);
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let (mut files, mut wrong, mut unknown) = (0, Vec::new(), Vec::new());
    let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().map(|e| e.unwrap());
    let found: Vec<Found> = entries.filter(|e| e.file_type().is_file()).map(|e| found(e.path(), root)).collect();
    // Which files are captures is told from all of them together.
    let (claims, damaged) = captures::claim(&found, &|_| false);
    let captures = captures::layouts(&claims);
    for found in &found {
        let key = Path::new(&found.key);
        let Some(row) = rows.iter_mut().find(|r| r.matcher.is_match(key)) else {
            unknown.push(key.display().to_string());
            continue;
        };
        row.used = true;
        files += 1;
        let taken = detected(found, &captures, &damaged);
        if taken != row.what {
            wrong.push(format!("{}: is {}, was taken for {taken}", key.display(), row.what));
        }
        *counts.entry((row.what.clone(), taken)).or_default() += 1;
    }
    print_matrix(&counts);
    println!("{}: {files} files, {} off the diagonal", root.display(), wrong.len());
    assert!(unknown.is_empty(), "no line of the table says what these are:\n{}", unknown.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let idle: Vec<&str> = rows.iter().filter(|r| !r.used).map(|r| r.matcher.glob().glob()).collect();
    assert!(idle.is_empty(), "lines of the table that no file has: {idle:?}");
}

/// Every row with the columns that are not zero: a full matrix of forty columns would not be read.
fn print_matrix(counts: &BTreeMap<(String, String), usize>) {
    let what: BTreeSet<&String> = counts.keys().map(|(what, _)| what).collect();
    for what in what {
        let right = counts.get(&(what.clone(), what.clone())).copied().unwrap_or(0);
        let others: Vec<String> =
            counts.iter().filter(|((is, taken), _)| is == what && taken != what).map(|((_, taken), n)| format!("{n} as {taken}")).collect();
        let others = if others.is_empty() { "0 as anything else".into() } else { others.join(", ") };
        println!("{what:<44} {right:>5} right, {others}");
    }
}

#[test]
fn every_fixture_is_taken_for_what_it_is() {
    compare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), include_str!("detection/fixtures.txt"));
}

#[test]
fn every_file_of_the_captures_is_taken_for_what_it_is() {
    let Some(root) = cases("") else { return };
    compare(&root, include_str!("detection/cases.txt"));
}
