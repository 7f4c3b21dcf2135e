//! No file of the cases and fixtures is taken for what it is not: the envelope of each is known from where it stands.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cases::cases;
use crate::detect::{SAMPLE, detect};

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// The first bytes of a file, unpacked, and whether they are all.
fn head(path: &Path) -> Option<(Vec<u8>, bool)> {
    let file = std::fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    let limit = SAMPLE as u64 + 1;
    let is_packed = path.extension().is_some_and(|e| e == "gz");
    if is_packed {
        flate2::read::MultiGzDecoder::new(file).take(limit).read_to_end(&mut bytes).ok()?;
    } else {
        file.take(limit).read_to_end(&mut bytes).ok()?;
    }
    let whole = bytes.len() <= SAMPLE;
    bytes.truncate(SAMPLE);
    Some((bytes, whole))
}

/// What a file of the cases must be taken for.
#[derive(Debug, PartialEq)]
enum Known {
    Exactly(&'static str),
    /// Rendered by journalctl, in a mode that may not be read, or beside such a file. journald's own tests name the modes.
    JournaldOrBare,
    Bare,
}

fn known(path: &str) -> Known {
    static WRAPS: &[(&str, &str)] = &[
        ("wrap-docker-compose", "docker-compose"),
        ("wrap-docker-json-file", "docker-json"),
        ("wrap-docker-logs-timestamps", "docker-timestamps"),
        ("wrap-journald-json", "journald-json"),
        ("wrap-journald-short-iso-precise", "journald-short-iso-precise"),
        ("wrap-journald-short", "journald-short"),
        ("wrap-k8s-cri", "cri"),
        ("wrap-kubectl-logs-prefix", "kubectl"),
        ("wrap-loki-jsonlines", "loki-jsonl"),
        ("wrap-ray-actor", "ray"),
        ("wrap-srun-label", "srun"),
        ("wrap-torchrun", "torchrun"),
        ("containers/cri", "cri"),
        ("containers/docker-compose", "docker-compose"),
        ("containers/docker-json", "docker-json"),
        ("containers/kubectl", "kubectl"),
        ("containers/srun", "srun"),
        ("syslog/traditional", "syslog"),
        ("syslog/fileformat", "syslog-iso"),
        ("syslog/protocol23", "syslog-5424"),
        ("syslog/forward", "syslog-3164"),
    ];
    let is_expectation = path.contains(".expected.") || path.contains("/expected");
    if let Some((_, name)) = WRAPS.iter().find(|(part, _)| path.contains(part) && !is_expectation) {
        return Known::Exactly(name);
    }
    if path.contains("journal") && !is_expectation && !path.contains("journald/syslog/") {
        return Known::JournaldOrBare;
    }
    Known::Bare
}

#[test]
fn no_file_is_taken_for_another_envelopes() {
    let mut found = Vec::new();
    if let Some(root) = cases("") {
        files(&root, &mut found);
    }
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures"), &mut found);
    found.sort();
    let (mut looked, mut wrong, mut wrapped) = (0, 0, 0);
    for path in &found {
        let Some((bytes, whole)) = head(path) else { continue };
        let name = path.display().to_string();
        let got = detect(&bytes, whole).layout.wrapped_in();
        let is_journald = got.as_deref().is_some_and(|e| e.starts_with("journald") && !e.contains(" > "));
        let ok = match known(&name) {
            Known::Exactly(want) => got.as_deref() == Some(want),
            Known::JournaldOrBare => got.is_none() || is_journald,
            Known::Bare => got.is_none(),
        };
        looked += 1;
        wrapped += usize::from(got.is_some());
        if !ok {
            wrong += 1;
            println!("{name}: {got:?} instead of {:?}", known(&name));
        }
    }
    println!("envelopes of {looked} files: {wrapped} in one, {wrong} wrong");
    assert!(looked >= 10);
    assert_eq!(wrong, 0);
}

/// Lines of every envelope that its upstream writes into other logs too.
static STRAY: &[&str] = &[
    "0: a line of a list",
    "[rank0]: Traceback (most recent call last):",
    "(raylet) Spilled 2 MiB",
    "(f pid=7) [2026-05-20 08:30:04 TP0] Load weight begin. avail mem=77.52 GB",
    "sglang-1  | [2026-05-20 08:30:04 TP0] Load weight begin. avail mem=77.52 GB",
    "[pod/a/b] text",
    "2026-06-10T14:00:02.350000000Z text",
    "2026-06-10T14:00:02.350000000Z stdout F text",
    "{\"log\":\"x\\n\",\"stream\":\"stdout\",\"time\":\"2026-06-10T14:00:02.35Z\"}",
    "{\"line\":\"x\",\"timestamp\":\"1781100002350000000\"}",
    "<30>1 2026-11-29T18:41:23.972134+00:00 vm python3 2101 - - text",
    "<30>Nov 29 18:41:23 vm python3[2101]: text",
    "Nov  9 18:41:23 vm python3[2101]: text#012 more",
    " a line with a blank before it",
];

#[test]
fn a_stray_line_makes_no_envelope() {
    let bare = [
        "[2026-05-20 08:30:03] INFO:     Started server process [7]",
        "[2026-05-20 08:30:04 TP0] Load weight begin. avail mem=77.52 GB",
        "2026-05-20T08:30:04.123456Z  INFO dynamo_runtime: started",
    ];
    for stray in STRAY {
        for place in 0..=bare.len() {
            let mut lines = bare.to_vec();
            lines.insert(place, stray);
            let source = lines.join("\n") + "\n";
            assert_eq!(detect(source.as_bytes(), true).layout.wrapped_in(), None, "{source}");
        }
    }
}

/// A crash, of which PyTorch prints more lines than the log had: nothing known is in them.
#[test]
fn a_crash_makes_no_torchrun_log() {
    let mut source = String::from("[2026-05-20 08:30:04 TP0] Load weight begin. avail mem=77.52 GB\n");
    for i in 0..5 {
        source += &format!("[rank0]:   File \"a.py\", line {i}, in f\n");
    }
    assert_eq!(detect(source.as_bytes(), true).layout.wrapped_in(), None);
}

/// What is weak alone is believed for what is found inside.
#[test]
fn few_lines_are_enough_where_they_hold_something_known() {
    let sglang = "[2026-05-20 08:30:04 TP0] Load weight begin. avail mem=77.52 GB";
    // SGLang's lines are known behind a blank too: there is nothing left for an envelope to explain.
    let dynamo = "2026-05-20T08:30:04.123456Z  INFO dynamo_runtime::worker: started";
    let cases = [
        ("0: ", sglang, "srun"),
        ("[rank0]: ", sglang, "torchrun"),
        ("sglang  | ", sglang, "docker-compose"),
        (" ", dynamo, "docker-compose-no-prefix"),
    ];
    for (prefix, known, name) in cases {
        let source = format!("{prefix}{known}\n{prefix}{known}\n");
        assert_eq!(detect(source.as_bytes(), true).layout.wrapped_in().as_deref(), Some(name));
        let unknown = format!("{prefix}some\n{prefix}text\n");
        assert_eq!(detect(unknown.as_bytes(), true).layout.wrapped_in(), None, "{unknown}");
    }
}
