//! What the tests share: captures without their answers, and corr as a process.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The folder of all cases, or a line that says that it is not there.
pub fn cases() -> Option<PathBuf> {
    crate::cases::cases("")
}

/// Files that say what happened, from outside of what a user of corr would have.
fn is_answer(name: &str) -> bool {
    const WHOLE: &[&str] = &[
        "client.err",
        "truth.json",
        "timeline.jsonl",
        "health.jsonl",
        "scrapes.jsonl",
        "commands.txt",
        "command.json",
        "zygote.log",
        "kvsub.log",
        "scrape.log",
        "listening_sockets.txt",
    ];
    WHOLE.contains(&name) || name.starts_with("client.jsonl") || name.contains("client_truth") || name.ends_with(".timeline.jsonl")
}

/// Copies a capture without its answers.
pub fn copy(from: &Path, to: &Path) {
    // A journal stands there in ten spellings of the same records: one is enough.
    let journal = from.join("journal/journal.export.gz").exists();
    copy_below(from, to, &|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        let other = path.parent().is_some_and(|p| p.ends_with("journal")) && name != "journal.export.gz";
        !(is_answer(&name) || journal && other)
    });
}

fn copy_below(from: &Path, to: &Path, wanted: &dyn Fn(&Path) -> bool) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_below(&path, &target, wanted);
        } else if wanted(&path) {
            // Written anew, so that the copy is writable whatever the original is.
            std::fs::write(&target, std::fs::read(&path).unwrap()).unwrap();
        }
    }
}

/// A copy of a capture, gone with the value.
pub struct Capture {
    _temp: tempfile::TempDir,
    pub run: PathBuf,
    /// Where the original stands, with its answers.
    pub original: PathBuf,
}

impl Capture {
    pub fn of(cases: &Path, below: &str) -> Capture {
        let temp = tempfile::tempdir().unwrap();
        let run = temp.path().join("run");
        let original = cases.join(below);
        copy(&original, &run);
        Capture { _temp: temp, run, original }
    }

    pub fn path(&self) -> &str {
        self.run.to_str().unwrap()
    }
}

pub fn corr(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_corr")).args(arguments).output().unwrap();
    let text = |b: Vec<u8>| String::from_utf8(b).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// An answer in JSON; whatever could not be read is no reason to give none.
pub fn json(arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    let (code, out, err) = corr(&all);
    assert!(code == 0 || code == 3, "{arguments:?}: exit code {code}\n{err}");
    serde_json::from_str(&out).unwrap_or_else(|why| panic!("{arguments:?}: {why}\n{out}"))
}

pub fn edges(run: &Path) -> Value {
    json(&["edges", run.to_str().unwrap()])
}

pub fn edge<'a>(answer: &'a Value, id: &str) -> &'a Value {
    answer["edges"].as_array().unwrap().iter().find(|e| e["edge"] == id).unwrap_or_else(|| panic!("no edge {id}"))
}

/// An attribution as expectations spell it: `k of n`, `UNPROVABLE`, `none`.
pub fn spelled(attribution: &Value) -> String {
    match attribution["verdict"].as_str().unwrap() {
        "proven" => format!("{} of {}", attribution["k"], attribution["n"]),
        other => other.to_string(),
    }
}

pub fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
    plain
}

/// Rows of a client's record, packed or not.
pub fn rows(path: &Path) -> Vec<Value> {
    let packed = PathBuf::from(format!("{}.gz", path.display()));
    let bytes = unpacked(if path.exists() { path } else { &packed });
    String::from_utf8(bytes).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// Lines of sources by number, each source unpacked once.
#[derive(Default)]
pub struct Lines {
    of: HashMap<PathBuf, Vec<String>>,
}

impl Lines {
    /// The line of `path:line`, and those behind it (a record can have several).
    pub fn from(&mut self, path: &str, line: usize) -> &[String] {
        let lines = self.of.entry(PathBuf::from(path)).or_insert_with_key(|path| {
            let text = String::from_utf8_lossy(&unpacked(path)).into_owned();
            text.split('\n').map(str::to_string).collect()
        });
        lines.get(line - 1..).unwrap_or_else(|| panic!("{path} has no line {line}"))
    }
}

/// Path and line of a locator.
pub fn locator(text: &str) -> (&str, usize) {
    let (path, line) = text.rsplit_once(':').unwrap_or_else(|| panic!("no locator: {text}"));
    (path, line.parse().unwrap_or_else(|_| panic!("no locator: {text}")))
}
