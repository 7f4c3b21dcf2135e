//! Input that is empty, broken or hostile: the message names the file and the next step, the exit code says how much was answered, the rest of
//! the run is answered, and nothing is lost.

mod program;

#[path = "bad_input/captures.rs"]
mod captures;

use std::fs;
use std::io::Write;

use program::{Place, Ran};

const GOOD: &str = "\
[2026-05-20 08:30:00] Prefill batch, #new-seq: 1, #new-token: 7, #cached-token: 3, token usage: 0.00, #running-req: 0, #queue-req: 0, \n\
[2026-05-20 08:30:01] Decode batch, #running-req: 1, #token: 33, token usage: 0.01, gen throughput (token/s): 1.00, #queue-req: 0, \n\
[2026-05-20 08:30:02] The server is fired up and ready to roll!\n";

/// Found, nothing found, error, answered in part.
const FOUND: Option<i32> = Some(0);
const NOTHING: Option<i32> = Some(1);
const ERROR: Option<i32> = Some(2);
const PART: Option<i32> = Some(3);

fn place(files: &[(&str, &[u8])]) -> Place {
    let place = Place::new();
    fs::create_dir(place.path("run")).expect("create the run");
    for (path, bytes) in files {
        place.write(&format!("run/{path}"), bytes);
    }
    place
}

/// Asks by scan, then by index; both must answer alike. Gives the answer by scan.
fn ask(place: &Place, query: &str) -> Ran {
    let args = ["query", "run", query, "--format", "csv", "--fields", "locator,kind", "--limit", "0"];
    let by_scan = place.corr(&args);
    let built = place.corr(&["index", "run"]);
    assert_eq!(built.code, if by_scan.code == PART { PART } else { FOUND }, "{}", built.stderr);
    let by_index = place.corr(&args);
    assert_eq!((&by_index.stdout, by_index.code), (&by_scan.stdout, by_scan.code), "{}\n{}", by_scan.stderr, by_index.stderr);
    let again = place.corr(&["index", "run"]);
    assert_eq!(again.code, built.code, "indexed again: {}", again.stderr);
    fs::remove_dir_all(place.path("run/.corr")).expect("remove the index");
    by_scan
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    to.write_all(bytes).expect("compress");
    to.finish().expect("compress")
}

fn rows(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().skip(1).collect()
}

/// The rest of the run is answered, and the message names the file, the fault and a next step.
fn part(ran: &Ran, file: &str, fault: &str) {
    assert_eq!(ran.code, PART, "{}", ran.stderr);
    assert!(rows(ran).iter().any(|r| r.contains("run/good.log:1")), "the good log is not answered: {}", ran.stdout);
    let line = ran
        .stderr
        .lines()
        .find(|l| l.starts_with(&format!("corr: run/{file}: ")))
        .unwrap_or_else(|| panic!("{file} is not named:\n{}", ran.stderr));
    assert!(line.contains(fault), "{line}");
    assert!(line.contains("; "), "no next step: {line}");
    assert!(ran.stderr.contains("rows were found in the rest"), "{}", ran.stderr);
}

#[test]
fn an_empty_directory() {
    let place = place(&[]);
    for command in ["query", "index", "sources"] {
        let ran = place.corr(&[command, "run"]);
        assert_eq!(ran.code, ERROR, "{command}: {}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains("run") && ran.stderr.contains("the directory is empty; give the directory"),
            "{command}: {}",
            ran.stderr
        );
    }
    assert!(!place.path("run/.corr").exists(), "an index of nothing was left");
}

#[test]
fn a_directory_without_a_known_format() {
    let place = place(&[("settings.toml", b"a = 1\n"), ("job.sh", b"#!/bin/sh\n")]);
    for command in ["query", "index"] {
        let ran = place.corr(&[command, "run"]);
        assert_eq!(ran.code, ERROR, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("run: no log or trace among 2 files; `corr sources`"), "{command}: {}", ran.stderr);
    }
}

#[test]
fn what_is_not_there() {
    let place = place(&[("good.log", GOOD.as_bytes())]);
    let cases: &[(&[&str], &str)] = &[
        (&["query", "nowhere", "x"], "nowhere: no such file or directory; give a run directory"),
        (&["index", "run/*.txt"], "run/*.txt: no file matches this pattern"),
        (&["query", "run/[.log", "x"], "run/[.log: bad glob pattern"),
        (&["show", "run/other.log:1"], "run/other.log"),
        (&["show", "run/good.log:9"], "run/good.log: no line 9"),
        (&["show", "run/good.log@99999"], "the source has"),
        (&["query", "run", "x", "--tz", "Mars/Olympus"], "Mars/Olympus"),
        (&["query", "run", "x", "--since", "yesterday-ish"], "--since"),
        (&["query", "run", "x", "--window", "peak"], "no window is named `peak`"),
        (&["query", "run", "x", "--format-of", "good.log=klingon"], "klingon"),
        (&["query", "run", "x", "--histogram", "0s"], "not a duration"),
        (&["query", "-", "x", "--index"], "the index of standard input needs a place"),
        (&["index", "-"], "--store DIR"),
    ];
    for (args, says) in cases {
        let ran = place.corr(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (ERROR, ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("corr: ") && ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_damaged_corr_toml() {
    let place = place(&[("good.log", GOOD.as_bytes()), ("corr.toml", b"[windows.peak]\nsince = \n")]);
    for args in [["query", "run", "x"], ["show", "run/good.log:1", "--color=never"]] {
        let ran = place.corr(&args);
        assert_eq!(ran.code, ERROR, "{}", ran.stderr);
        assert!(ran.stderr.contains("run/corr.toml:2: "), "{}", ran.stderr);
    }
}

#[test]
fn a_binary_file_beside_a_log() {
    let mut blob = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0];
    blob.extend((0..4000u32).flat_map(u32::to_le_bytes));
    let place = place(&[("good.log", GOOD.as_bytes()), ("core.bin", &blob)]);
    part(&ask(&place, "kind:prefill_batch"), "core.bin", "binary");
    let nothing = place.corr(&["query", "run", "xyzzy"]);
    assert_eq!(nothing.code, PART, "{}", nothing.stderr);
    assert!(nothing.stderr.contains("no rows were found in the rest"), "{}", nothing.stderr);
}

#[test]
fn an_unreadable_file() {
    use std::os::unix::fs::PermissionsExt;
    let place = place(&[("good.log", GOOD.as_bytes()), ("secret.log", GOOD.as_bytes())]);
    fs::set_permissions(place.path("run/secret.log"), fs::Permissions::from_mode(0o000)).expect("forbid");
    if fs::read(place.path("run/secret.log")).is_ok() {
        println!("skipped: this user may read every file, so an unreadable one cannot be made");
        return;
    }
    part(&ask(&place, "kind:prefill_batch"), "secret.log", "ermission denied");
}

#[test]
fn an_empty_gzip() {
    let place = place(&[("good.log", GOOD.as_bytes()), ("trace.jsonl.gz", b"")]);
    part(&ask(&place, "kind:prefill_batch"), "trace.jsonl.gz", "empty: not even a compression header was written");
}

#[test]
fn a_gzip_of_nothing_is_empty_and_no_fault() {
    let place = place(&[("good.log", GOOD.as_bytes()), ("trace.jsonl.gz", &gzip(b""))]);
    let ran = ask(&place, "kind:prefill_batch");
    assert_eq!(ran.code, FOUND, "{}", ran.stderr);
}

/// Scheduler lines that hardly compress.
fn long_log(lines: u64) -> String {
    let mut text = String::new();
    let mut r = 0x2545_f491_4f6c_dd1du64;
    for i in 0..lines {
        r ^= r << 13;
        r ^= r >> 7;
        r ^= r << 17;
        text.push_str(&format!(
            "[2026-05-20 09:{:02}:{:02}] HiCache prefetch success req=r{r:016x} completed={i} matched=0 loaded=1 occupied=0\n",
            i / 60 % 60,
            i % 60
        ));
    }
    text
}

#[test]
fn a_truncated_gzip_is_answered_up_to_the_break() {
    let text = long_log(20_000);
    let whole = gzip(text.as_bytes());
    for keep in [whole.len() / 2, whole.len() - 4] {
        let place = place(&[("good.log", GOOD.as_bytes()), ("old.log.1.gz", &whole[..keep])]);
        let ran = ask(&place, "kind:prefill_batch OR kind:hicache_prefetch");
        part(&ran, "old.log.1.gz", "the stream breaks off after");
        let from_it = rows(&ran).iter().filter(|r| r.contains("old.log.1.gz")).count();
        assert!(from_it > 5_000, "only {from_it} records came before the break");
    }
}

#[test]
fn a_truncated_gzip_on_standard_input() {
    let whole = gzip(long_log(20_000).as_bytes());
    let ran = Place::new().corr_with(&["query", "-", "kind:hicache_prefetch", "--count-by", "kind"], &whole[..whole.len() / 2]);
    assert_eq!(ran.code, PART, "{}", ran.stderr);
    assert!(ran.stdout.contains("hicache_prefetch") && ran.stderr.contains("the stream breaks off after"), "{}", ran.stderr);
}

#[test]
fn a_gzip_or_zstd_of_which_nothing_can_be_read() {
    for (name, head) in [("a.log.gz", &[0x1f, 0x8b, 8, 0][..]), ("a.log.zst", &[0x28, 0xb5, 0x2f, 0xfd][..])] {
        let mut bytes = head.to_vec();
        bytes.extend([0xde, 0xad, 0xbe, 0xef].repeat(100));
        let place = place(&[("good.log", GOOD.as_bytes()), (name, &bytes)]);
        part(&ask(&place, "kind:prefill_batch"), name, "nothing can be decompressed from it");
        // Cut right behind its first bytes.
        place.write(&format!("run/{name}"), head);
        part(&ask(&place, "kind:prefill_batch"), name, "nothing can be decompressed from it");
    }
}

#[test]
fn a_truncated_zstd_is_answered_up_to_the_break() {
    let whole = zstd::encode_all(long_log(20_000).as_bytes(), 1).expect("compress");
    let place = place(&[("good.log", GOOD.as_bytes()), ("old.log.zst", &whole[..whole.len() / 2])]);
    let ran = ask(&place, "kind:prefill_batch OR kind:hicache_prefetch");
    part(&ran, "old.log.zst", "the stream breaks off after");
    assert!(rows(&ran).iter().filter(|r| r.contains("old.log.zst")).count() > 1_000);
}

#[test]
fn links_that_loop_or_lead_nowhere() {
    let place = place(&[("good.log", GOOD.as_bytes()), ("below/more.log", GOOD.replace("2026", "2027").as_bytes())]);
    std::os::unix::fs::symlink("..", place.path("run/below/up")).expect("link");
    std::os::unix::fs::symlink("nothing-there.log", place.path("run/dangling.log")).expect("link");
    std::os::unix::fs::symlink("good.log", place.path("run/latest.log")).expect("link");
    let ran = ask(&place, "kind:prefill_batch");
    assert_eq!(ran.code, FOUND, "{}", ran.stderr);
    // Each file once, although one has two names.
    assert_eq!(rows(&ran), ["run/good.log:1,prefill_batch", "run/below/more.log:1,prefill_batch"], "{}", ran.stderr);
    let listed = place.corr(&["sources", "run"]);
    let said = listed.stdout + &listed.stderr;
    for (name, why) in [("dangling.log", "a link to nothing"), ("below/up", "a link to a directory")] {
        assert!(said.lines().any(|l| l.contains(name) && l.contains(why)), "{name} is not said to be {why}:\n{said}");
    }
    // What a link to itself stands for cannot be known: a part of the run may be missing.
    std::os::unix::fs::symlink("itself.log", place.path("run/itself.log")).expect("link");
    part(&ask(&place, "kind:prefill_batch"), "itself.log", "symbolic links");
}

#[test]
fn odd_bytes_in_lines() {
    let mut log = b"\xef\xbb\xbf".to_vec();
    log.extend(GOOD.replace('\n', "\r\n").as_bytes());
    log.extend(b"[2026-05-20 08:30:03] a NUL \0 and \0\0 more: beforenul\0afternul\n");
    log.extend(b"[2026-05-20 08:30:04] not UTF-8: caf\xe9 \xff\xfe \xc0\x80 \xed\xa0\x80 end\n");
    log.extend(b"\n\r\n \t\n\r\r\r\n");
    log.extend(b"[2026-05-20 08:30:05] escapes \x1b[31mred\x1b[0m \x1b]0;title\x07 \xe2\x80\xae reversed \x1b[");
    let place = place(&[("good.log", &log), ("plain.log", GOOD.replace("2026", "2025").as_bytes())]);
    let found = |query: &str| rows(&ask(&place, query)).iter().filter(|r| r.contains("good.log")).count();
    assert_eq!(found("kind:prefill_batch"), 1);
    assert_eq!(found("\"ready to roll\""), 1);
    assert_eq!(found("beforenul"), 1);
    assert_eq!(found("afternul"), 1);
    assert_eq!(found("\"not utf\" end"), 1);
    assert_eq!(found("red reversed"), 1);
    for format in ["text", "markdown", "csv", "json", "jsonl"] {
        let ran = place.corr(&["query", "run", "", "--limit", "0", "--format", format]);
        assert_eq!(ran.code, FOUND, "{}", ran.stderr);
        // CSV and JSON are for programs: JSON escapes controls itself, CSV carries text as it is.
        if format != "csv" {
            let raw =
                ran.stdout.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t') || *c == '\u{202e}' && !format.starts_with("json"));
            assert_eq!(raw, None, "{format} lets a control through");
        }
    }
}

#[test]
fn one_line_of_20_megabytes() {
    let mut log = GOOD.as_bytes().to_vec();
    log.extend(b"[2026-05-20 08:31:00] begin ");
    while log.len() < 20 << 20 {
        log.extend(b"lorem ipsum dolor 0123456789 ");
    }
    log.extend(b"finalword\n");
    log.extend(GOOD.replace("08:30", "08:32").as_bytes());
    let place = place(&[("good.log", &log)]);
    let started = std::time::Instant::now();
    assert_eq!(rows(&ask(&place, "kind:prefill_batch")).len(), 2);
    assert_eq!(rows(&ask(&place, "begin finalword")), ["run/good.log:4,sglang_log"]);
    println!("four questions and four indexings of a line of 20 MB took {:?}", started.elapsed());
    let shown = place.corr(&["show", "run/good.log:5", "-C", "1"]);
    assert_eq!(shown.code, FOUND, "{}", shown.stderr);
    assert!(shown.stdout.contains("prefill_batch"), "{}", &shown.stdout[..200]);
}

#[test]
fn a_last_line_that_is_cut() {
    for cut in 1..GOOD.len() {
        if cut % 7 != 0 && cut + 30 < GOOD.len() {
            continue;
        }
        let place = place(&[("good.log", &GOOD.as_bytes()[..cut])]);
        let args = ["query", "run", "", "--format", "jsonl", "--limit", "0"];
        let by_scan = place.corr(&args);
        assert!(matches!(by_scan.code, FOUND | NOTHING), "cut at {cut}: {}", by_scan.stderr);
        let mut covered = 0;
        for line in by_scan.stdout.lines() {
            let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
            covered += event.get("length").map_or(0, |l| l.as_u64().expect("a length"));
        }
        assert_eq!(covered, cut as u64, "cut at {cut}: {}", by_scan.stdout);
    }
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let place = place(&[("good.log", long_log(50_000).as_bytes())]);
    let mut child = place.command(&["query", "run", "", "--limit", "0"]).spawn().expect("start corr");
    drop(child.stdout.take());
    let ran = program::finish(child, b"");
    assert!(matches!(ran.code, FOUND), "{:?} {}", ran.code, ran.stderr);
    assert!(!ran.stderr.contains("roken pipe"), "{}", ran.stderr);
}

#[test]
fn many_fields_and_deep_json() {
    let mut rows = String::new();
    for i in 0..3000 {
        rows.push_str(&format!(
            "{{\"timestamp\":\"2026-05-20T08:30:00.000000Z\",\"level\":\"INFO\",\"target\":\"x\",\"message\":\"m\",\"f{i}\":{i}}}\n"
        ));
    }
    let deep = format!(
        "{{\"timestamp\":\"2026-05-20T08:30:01.000000Z\",\"level\":\"INFO\",\"target\":\"x\",\"message\":\"m\",\"a\":{}{}}}\n",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let place = place(&[("good.log", GOOD.as_bytes()), ("rows.jsonl", (rows + &deep).as_bytes())]);
    let found = ask(&place, "f2999:2999");
    assert_eq!(self::rows(&found).len(), 1, "{}{}", found.stdout, found.stderr);
    assert_eq!(self::rows(&ask(&place, "f12:* OR kind:server_ready")).len(), 2);
}

/// The smallest whole number there is has no opposite; beside a ratio its column is one of doubles.
#[test]
fn the_smallest_whole_number_beside_a_ratio() {
    let row = |a: &str| format!("{{\"ts\": \"2026-05-20T08:30:00Z\", \"a\": {a}}}\n");
    let smallest = "-9223372036854775808";
    let file = [row(smallest), row("1.5"), row("7")].concat();
    // The same in the other order: there the column is one of doubles before the whole number comes.
    let other = [row("1.5"), row(smallest), row("7")].concat();
    let place = place(&[("a.jsonl", file.as_bytes()), ("b.jsonl", other.as_bytes())]);
    for (query, want) in [("a:>1.4", 4), ("a:>=7", 2), ("a:<0", 2), ("a:>-9223372036854775807 a:<7", 2)] {
        let ran = ask(&place, query);
        assert_eq!((ran.code, rows(&ran).len()), (FOUND, want), "{query}\n{}\n{}", ran.stdout, ran.stderr);
    }
}

/// Every file of a store, cut, overwritten at its end or gone: the answer is the same as from the whole store, read from the sources where it must
/// be, and what is damaged is named.
#[test]
fn a_damaged_store() {
    let place = Place::with("direct-run");
    let indexed = place.corr(&["index", "direct-run", "--store", "store", "--embed-text"]);
    assert_eq!(indexed.code, Some(0), "{}", indexed.stderr);
    let mut files = Vec::new();
    files_below(&place.path("store"), &mut files);
    let questions: &[&[&str]] = &[&["kind:request_end OR worker"], &["rid:*", "--count-by", "kind"], &["adding worker", "-C", "1"]];
    let ask = |question: &[&str]| place.corr(&[&["query", "direct-run"], question, &["--store", "store"]].concat());
    let whole: Vec<_> = questions.iter().map(|q| ask(q)).collect();
    assert!(whole.iter().all(|ran| ran.code == Some(0) && !ran.stdout.is_empty()));
    let mut named = 0;
    for file in &files {
        let bytes = std::fs::read(file).expect("a file of the store");
        let end = bytes.len().saturating_sub(16);
        let in_words = file.parent().is_some_and(|dir| dir.ends_with("words"));
        let cut = Some(bytes[..bytes.len() / 2].to_vec());
        // What tantivy asserts of its footer. corr's own tables have no check sum.
        let garbled = in_words.then(|| [&bytes[..end], &[0xff; 16][..bytes.len() - end]].concat());
        for damaged in [Some(cut), Some(None), garbled.map(Some)].into_iter().flatten() {
            match &damaged {
                Some(bytes) => std::fs::write(file, bytes).expect("write a damaged file"),
                None => std::fs::remove_file(file).expect("remove a file"),
            }
            for (question, whole) in questions.iter().zip(&whole) {
                let ran = ask(question);
                assert_eq!((ran.code, &ran.stdout), (whole.code, &whole.stdout), "{}: {question:?}: {}", file.display(), ran.stderr);
                assert!(!ran.stderr.contains("panicked"), "{}: {question:?}: {}", file.display(), ran.stderr);
                named += usize::from(ran.stderr.contains("corr index --rebuild"));
            }
        }
        std::fs::write(file, bytes).expect("put the file back");
    }
    assert!(named > files.len(), "{named} of {} files", files.len());
}

/// A locator that names nothing is not taken for a source that is gone too.
#[test]
fn show_of_a_store_whose_sources_are_gone() {
    let place = Place::with("direct-run");
    let indexed = place.corr(&["index", "direct-run", "--store", "store", "--embed-text"]);
    assert_eq!(indexed.code, Some(0), "{}", indexed.stderr);
    std::fs::remove_dir_all(place.path("direct-run")).expect("remove the run");
    let show = |locator: &str| place.corr(&["show", locator, "--run", "direct-run", "--store", "store"]);
    let ran = show("nowhere.log:1");
    assert_eq!((ran.code, ran.stdout.as_str()), (ERROR, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("nowhere.log: no source of direct-run has this path"), "{}", ran.stderr);
    let ran = show("logs/router.log:42");
    assert_eq!(ran.code, FOUND, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("direct-run/logs/router.log:42"), "{}", ran.stdout);
}

fn files_below(dir: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory of the store") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// An export stands newest first, and ranks write out of order: the run begins at its earliest stamp, with an index and without.
#[test]
fn a_run_begins_and_ends_at_its_outermost_stamps() {
    let lines: Vec<String> =
        [5, 9, 3, 0, 7].iter().map(|s| format!("[2026-05-20 08:30:0{s}] Load weight begin. avail mem={s}.00 GB\n")).collect();
    let place = place(&[("a.log", lines.concat().as_bytes())]);
    let args = ["query", "run", "*", "--since", "start+3s", "--until", "end-2s", "--format", "csv", "--fields", "locator"];
    let by_scan = place.corr(&args);
    place.corr(&["index", "run"]);
    let by_index = place.corr(&args);
    // Stamps are a second wide: the run is [:00, :10), the window [:03, :08).
    assert_eq!(rows(&by_scan), ["run/a.log:3", "run/a.log:1", "run/a.log:5"], "{}", by_scan.stderr);
    assert_eq!(rows(&by_index), rows(&by_scan), "{}", by_index.stderr);
}
