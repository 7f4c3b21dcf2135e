//! Journal files as sources: what journalctl gives of them, and what is said where it gives nothing or less.

mod program;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use program::{Place, Ran, cases, finish};
use serde_json::Value;

/// Where the system's programs are, journalctl among them if there is one.
const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin";

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").env("PATH", SYSTEM).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// The journals of the cases, each with the export of the same journal; said where there is nothing to read.
fn journals(place: &Place) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let Some(real) = cases("journald/real") else { return found };
    if !has("xz") || !has("journalctl") {
        println!("skipped: no xz or no journalctl here");
        return found;
    }
    let mut versions: Vec<PathBuf> = std::fs::read_dir(real).unwrap().map(|v| v.unwrap().path()).collect();
    versions.sort();
    for version in versions {
        let packed = version.join("system.journal.xz");
        if !packed.is_file() {
            continue;
        }
        let name = version.file_name().unwrap().to_str().unwrap().to_string();
        let unpacked = Command::new("xz").arg("-dkc").arg(&packed).output().unwrap();
        assert!(unpacked.status.success(), "{}", packed.display());
        place.write(&format!("{name}/system.journal"), &unpacked.stdout);
        let zones = std::fs::read_dir(&version).unwrap().map(|z| z.unwrap().path().join("export.txt"));
        let export = zones.into_iter().find(|e| e.is_file()).expect("an export beside the journal");
        place.write(&format!("{name}-text/system.journal"), &std::fs::read(&export).unwrap());
        println!("reads the journal of {name}");
        found.push((place.path(&name), place.path(&format!("{name}-text"))));
    }
    found
}

/// A second reader of the export format, for the test alone: fields of each entry. A name may come more than once.
fn entries(mut bytes: &[u8]) -> Vec<BTreeMap<String, Vec<Vec<u8>>>> {
    let mut all = vec![BTreeMap::<String, Vec<Vec<u8>>>::new()];
    while !bytes.is_empty() {
        let end = bytes.iter().position(|b| *b == b'\n').unwrap();
        let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
        bytes = rest;
        if line.is_empty() {
            all.push(BTreeMap::new());
            continue;
        }
        let (name, value) = match line.iter().position(|b| *b == b'=') {
            Some(at) => (&line[..at], line[at + 1..].to_vec()),
            None => {
                let size = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
                let value = bytes[8..8 + size].to_vec();
                assert_eq!(bytes[8 + size], b'\n');
                bytes = &bytes[8 + size + 1..];
                (line, value)
            }
        };
        all.last_mut().unwrap().entry(String::from_utf8(name.to_vec()).unwrap()).or_default().push(value);
    }
    all.retain(|entry| !entry.is_empty());
    for values in all.iter_mut().flat_map(|entry| entry.values_mut()) {
        values.sort();
    }
    all
}

fn with_path(place: &Place, path: &str, args: &[&str]) -> Ran {
    finish(place.command(args).env("PATH", path).spawn().unwrap(), b"")
}

fn events(place: &Place, run: &Path) -> Vec<Value> {
    let ran = with_path(place, SYSTEM, &["query", run.to_str().unwrap(), "", "--limit", "0", "--format", "jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut all: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all.pop().unwrap()["type"], "summary");
    all
}

#[test]
fn a_journal_agrees_with_its_export() {
    let place = Place::new();
    for (journal, text) in journals(&place) {
        let opened = corr::run::bytes::open(&journal.join("system.journal")).unwrap();
        assert_eq!((opened.damage, opened.compression), (None, corr::run::bytes::Compression::Journal));
        let (read, expected) = (entries(&opened.bytes), entries(&std::fs::read(text.join("system.journal")).unwrap()));
        assert_eq!(read.len(), expected.len());
        let (mut fields, mut alone) = (0, 0);
        for (read, expected) in read.iter().zip(&expected) {
            for (name, values) in read {
                match expected.get(name) {
                    Some(other) => assert_eq!(values, other, "{name} of {:?}", expected["__CURSOR"]),
                    None => alone += 1,
                }
                fields += 1;
            }
            // Newer versions write more fields of the same entry.
            let lost: Vec<_> = expected.keys().filter(|name| !read.contains_key(*name) && !name.starts_with("__SEQNUM")).collect();
            assert_eq!(lost, Vec::<&String>::new());
        }
        println!("{}: {} entries with {fields} fields agree; {alone} fields only in the journal", journal.display(), read.len());
        assert!(read.len() > 500);

        // And as a run, against the text as a run.
        let (read, expected) = (events(&place, &journal), events(&place, &text));
        assert_eq!(read.len(), expected.len());
        for (read, expected) in read.iter().zip(&expected) {
            for part in ["time", "kind", "level", "unit", "host", "fields", "ids"] {
                assert_eq!(read[part], expected[part], "{part} at line {}", read["line"]);
            }
            // An entry without a message is shown whole, with the fields that newer versions write.
            let message = |event: &Value| -> Vec<String> {
                let text = event["message"].as_str().unwrap();
                text.lines().filter(|line| !line.starts_with("__SEQNUM")).map(str::to_owned).collect()
            };
            assert_eq!(message(read), message(expected), "message at line {}", read["line"]);
        }
        println!("{}: {} records agree", journal.display(), read.len());
    }
}

/// Names as journald gives them are found in a directory, and the index answers as the scan does.
#[test]
fn a_directory_of_journals_is_indexed() {
    let place = Place::new();
    let journals = journals(&place);
    let Some((first, _)) = journals.first() else { return };
    let bytes = std::fs::read(first.join("system.journal")).unwrap();
    let other = std::fs::read(journals.last().unwrap().0.join("system.journal")).unwrap();
    place.write("run/journal/system.journal", &bytes);
    place.write("run/journal/-f.journal~", &other);
    place.write("run/journal/cut.journal", &bytes[..100_000]);
    let ask = |path: &str| {
        let ran = with_path(&place, path, &["query", "run", "kind:unit_started", "--limit", "0", "--format", "jsonl"]);
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        let lines: Vec<String> = ran.stdout.lines().filter(|l| !l.contains("\"summary\"")).map(str::to_owned).collect();
        (lines, ran.stderr)
    };
    let (scanned, said) = ask(SYSTEM);
    assert!(scanned.len() > 20);
    assert!(said.contains("run/journal/cut.journal: a systemd journal file that journalctl"), "{said}");
    assert!(said.contains("`journalctl --file=run/journal/cut.journal -o export --all > run/journal/cut.journal.export`"), "{said}");
    let index = with_path(&place, SYSTEM, &["index", "run"]);
    assert_eq!(index.code, Some(3), "{}", index.stderr);
    assert!(index.stderr.contains("of 2 sources (2 new"), "{}", index.stderr);
    assert_eq!(ask(SYSTEM).0, scanned);
    let again = with_path(&place, SYSTEM, &["index", "run"]);
    assert!(again.stderr.contains("2 unchanged"), "{}", again.stderr);
    // Another journal under the same name.
    place.write("run/journal/-f.journal~", &bytes);
    place.write("run/journal/system.journal", &other);
    let changed = ask(SYSTEM);
    assert_eq!(changed.0.len(), scanned.len());
    assert_ne!(changed.0, scanned);
    let listed = with_path(&place, SYSTEM, &["sources", "run", "--format", "json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    for source in listed["sources"].as_array().unwrap() {
        assert_eq!((&source["envelope"], &source["compression"]), (&"journald-export".into(), &"journal".into()));
        assert!(source["read_by"].as_str().unwrap().starts_with("journalctl "), "{}", source["read_by"]);
    }
}

/// A file with the head of a journal that holds `entries`.
fn journal_head(entries: u64) -> Vec<u8> {
    let mut head = vec![0; 272];
    head[..8].copy_from_slice(b"LPKSHHRH");
    head[152..160].copy_from_slice(&entries.to_le_bytes());
    head
}

/// A `journalctl` that does as the script says; gives the PATH under which it is found first.
fn stand_in(place: &Place, script: &str) -> String {
    let script = format!("#!/bin/sh\ncase \"$1\" in --version) echo 'systemd 252 (stand-in)'; exit;; esac\n{script}\n");
    place.write("bin/journalctl", script.as_bytes());
    let path = place.path("bin/journalctl");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    format!("{}:{SYSTEM}", place.path("bin").display())
}

const ENTRY: &str =
    "__CURSOR=s=1;i=1\\n__REALTIME_TIMESTAMP=1767225460000000\\n_PID=1\\nSYSLOG_IDENTIFIER=systemd\\nMESSAGE=Started a.service - A.\\n\\n";

#[test]
fn what_journalctl_says_and_how_it_ends_is_reported() {
    let place = Place::new();
    place.write("run/system.journal", &journal_head(2));
    place.write("run/other.log", b"[2026-11-29 18:38:36] INFO:     Started server process [1701]\n");
    let query = |path: &str| with_path(&place, path, &["query", "run", "started", "--format", "csv"]);
    let count = |ran: &Ran| ran.stdout.lines().filter(|l| l.contains("tarted")).count();

    let ran = query(&stand_in(&place, "echo 'Bad message\n\u{1b}[31mred' >&2; exit 7"));
    assert_eq!((ran.code, count(&ran)), (Some(3), 1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("run/system.journal: a systemd journal file that journalctl 252 (stand-in) does not read"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("ended with exit status: 7") && ran.stderr.contains("says: Bad message"), "{}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);

    // A part is answered, and what is missing of it is said, whether journalctl noticed or not.
    let ran = query(&stand_in(&place, &format!("printf '{ENTRY}'; echo broke >&2; exit 1")));
    assert_eq!((ran.code, count(&ran)), (Some(3), 2), "{}", ran.stderr);
    assert!(ran.stderr.contains("exit status: 1, journalctl gave 1 of 2 entries, journalctl says: broke"), "{}", ran.stderr);
    let ran = query(&stand_in(&place, &format!("printf '{ENTRY}'")));
    assert_eq!((ran.code, count(&ran)), (Some(3), 2), "{}", ran.stderr);
    assert!(ran.stderr.contains("journalctl gave 1 of 2 entries"), "{}", ran.stderr);
    let ran = query(&stand_in(&place, &format!("printf '{ENTRY}{ENTRY}'")));
    assert_eq!((ran.code, count(&ran)), (Some(0), 3), "{}", ran.stderr);

    // None on the PATH, and one that is no program.
    let ran = query(place.path("nowhere").to_str().unwrap());
    assert_eq!((ran.code, count(&ran)), (Some(3), 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("run/system.journal: a systemd journal file, and there is no journalctl on the PATH"), "{}", ran.stderr);
    let next = "`journalctl --file=run/system.journal -o export --all > run/system.journal.export`";
    assert!(ran.stderr.contains(next), "{}", ran.stderr);

    // A journal that comes through a pipe or compressed is named too.
    let piped = finish(
        place.command(&["sources", "-", "run/other.log"]).env("PATH", SYSTEM).stdin(Stdio::piped()).spawn().unwrap(),
        &journal_head(2),
    );
    assert_eq!(piped.code, Some(3), "{}", piped.stderr);
    assert!(piped.stderr.contains("-: a systemd journal file") && piped.stderr.contains("-o export --all > "), "{}", piped.stderr);
}

#[test]
fn journalctl_gets_the_file_alone_and_nothing_of_the_users_environment() {
    let place = Place::new();
    let name = "-o[1] $(touch x);*.journal";
    place.write(name, &journal_head(1));
    let path =
        stand_in(&place, &format!("for a; do echo \"$a\"; done > '{0}/args'; env > '{0}/env'; printf '{ENTRY}'", place.path("").display()));
    let mut command = place.command(&["query", "--format", "csv", "--", name, "started"]);
    command.env("PATH", &path).env("LANG", "de_DE.UTF-8").env("TZ", "Asia/Tokyo").env("SYSTEMD_LOG_LEVEL", "debug").env("SECRET", "1");
    let ran = finish(command.spawn().unwrap(), b"");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let args = std::fs::read_to_string(place.path("args")).unwrap();
    let file = format!("--file={}", place.path(r"-o\[1\] $(touch x);\*.journal").display());
    assert_eq!(args.lines().collect::<Vec<_>>(), [&file, "--output=export", "--all", "--no-pager", "--quiet"]);
    let env = std::fs::read_to_string(place.path("env")).unwrap();
    let given = ["PATH=", "LC_ALL=C", "TZ=UTC", "SYSTEMD_COLORS=0", "SYSTEMD_LOG_TARGET=console", "PWD=", "SHLVL=", "_=", "OLDPWD="];
    for line in env.lines() {
        assert!(given.iter().any(|known| line.starts_with(known)), "{line}");
    }
    assert!(!place.path("x").exists());
}

/// An index made of a journal answers when journalctl is gone, from the text that it keeps; never with the offsets of another version's text.
#[test]
fn an_index_outlives_the_reader() {
    let place = Place::new();
    place.write("run/system.journal", &journal_head(1));
    let path = stand_in(&place, &format!("printf '{ENTRY}'"));
    let index = with_path(&place, &path, &["index", "run"]);
    assert_eq!(index.code, Some(0), "{}", index.stderr);
    let query = |path: &str| with_path(&place, path, &["query", "run", "kind:unit_started", "--format", "csv"]);
    let before = query(&path);
    assert_eq!((before.code, before.stdout.lines().count()), (Some(0), 2), "{}", before.stderr);
    let gone = query(place.path("nowhere").to_str().unwrap());
    assert_eq!((gone.code, &gone.stdout), (Some(0), &before.stdout), "{}", gone.stderr);
    assert!(gone.stderr.contains("run/system.journal: no journalctl reads it now; answered from the text in the store"), "{}", gone.stderr);
    // The journal grew: what was indexed is kept, and the rest is read.
    let more = stand_in(&place, &format!("printf '{ENTRY}{ENTRY}'"));
    place.write("run/system.journal", &journal_head(2));
    let grown = query(&more);
    assert_eq!((grown.code, grown.stdout.lines().count()), (Some(0), 3), "{}", grown.stderr);
    let index = with_path(&place, &more, &["index", "run"]);
    assert!(index.stderr.contains("1 grown"), "{}", index.stderr);
    assert_eq!(query(&more).stdout, grown.stdout);
    let index = with_path(&place, &more, &["index", "run"]);
    assert!(index.stderr.contains("1 unchanged"), "{}", index.stderr);
    // The same journal in the words of another version.
    let newer = ENTRY.replace("_PID=1", "__SEQNUM=1\\n_PID=1");
    let path = stand_in(&place, &format!("printf '{newer}{newer}'"));
    let script = std::fs::read_to_string(place.path("bin/journalctl")).unwrap();
    place.write("bin/journalctl", script.replace("252 (stand-in)", "257 (stand-in)").as_bytes());
    let other = query(&path);
    assert_eq!((other.code, other.stdout.lines().count()), (Some(0), 3), "{}", other.stderr);
    assert!(other.stderr.contains("1 indexed source has changed since"), "{}", other.stderr);
}

/// journalctl does not go on when corr was killed.
#[test]
fn the_child_ends_with_corr() {
    let place = Place::new();
    place.write("run/system.journal", &journal_head(1));
    let path = stand_in(&place, &format!("echo $$ > '{}'; while :; do printf '{ENTRY}'; done", place.path("pid").display()));
    let mut corr = place.command(&["sources", "run"]).env("PATH", &path).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (started, pid) = (Instant::now(), place.path("pid"));
    while !pid.exists() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    // The first children give the head and are killed; the one that gives the whole runs on.
    std::thread::sleep(Duration::from_millis(300));
    let last = std::fs::read_to_string(&pid).unwrap();
    let process = Path::new("/proc").join(last.trim());
    assert!(!last.is_empty() && process.exists(), "journalctl was not running");
    corr.kill().unwrap();
    corr.wait().unwrap();
    let killed = Instant::now();
    while process.exists() && killed.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!process.exists(), "{} goes on", process.display());
}
