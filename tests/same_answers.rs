//! An index changes how long an answer takes, never the answer: every query is asked with and without one, and after all that can happen to
//! a run and to its index.

mod program;

#[path = "same_answers/kept.rs"]
mod kept;

use std::fs;
use std::path::PathBuf;

use program::{Place, Ran, cases, copy_tree};
use serde_json::Value as Json;

/// Questions that a run of any kind can be asked; most find something in one of the two fixtures.
const QUERIES: &[&str] = &[
    "",
    "*",
    "worker",
    "DISABLED worker",
    "\"rejection disabled\"",
    "\"disabled rejection\"",
    "batch token usage",
    "request_id",
    "info",
    "warn OR error",
    "200",
    "503 health",
    "448",
    "0.20",
    "10.0.0.1",
    "kind:request_end",
    "kind:request_end cached_tokens:>300",
    "kind:request_end cached_tokens:[176 TO 224}",
    "kind:request_end cached_tokens:{176 TO 224]",
    "kind:request_end NOT cached_tokens:0",
    "kind:request_end session:*",
    "kind:request_end session?:sess-000",
    "kind:prefill_batch",
    "kind:prefill_batch cached_tokens:448",
    "\"#cached-token\":>0",
    "new_tokens:[21 TO 164]",
    "new_tokens:256 OR new_tokens:204",
    "token_usage:>0.1",
    "token_usage:*",
    "queue_depth:*",
    "kind:(access OR progress OR exception)",
    "kind:*_batch",
    "kind:/^(route|worker)_/",
    "NOT kind:*",
    "NOT kind:request_end -kind:kv_event_recorded",
    "level:warn",
    "level:>=warn",
    "level:!=info",
    "rid:edf9ed01-3219-4585-a510-233214f462c1",
    "rid:edf9ed01*",
    "rid:edf9ed01…",
    "rid:EDF9ED0132194585A510233214F462C1",
    "chatcmpl-edf9ed01-3219-4585-a510-233214f462c1",
    "edf9ed01",
    "edf9ed01*",
    "session:sess-000",
    "session:sess-*",
    "x_request_id:dup-0001",
    "dup-0001",
    "id:cold-p0",
    "worker_id:722601bff6c43540",
    "worker_id:8225263693429224768",
    "worker_id:722601*",
    "worker:82252*",
    "722601bff6c43540",
    "8225263693429224768",
    "source:logs/*",
    "source:router.log level:warn",
    "format:sglang kind:decode_batch",
    "line:[10 TO 20]",
    "host:vm",
    "pid:31655",
    "unit:*",
    "message:\"token usage\"",
    "message:/^[A-Z]\\w+ batch/",
    "/with 2\\d\\/\\d+ blocks/",
    "/(?i)traceback/",
    "/\\d{19,20}/",
    "target:/kv_router/",
    "target:dynamo*",
    "path:/health",
    "status:[400 TO 599]",
    "error_type:*",
    "cuda (expected OR device)",
    "hicache*",
    "pre?ill",
    "*cache",
    "zebras",
    "api_key",
    "SYNTHETIC OR zebras OR blake3",
    "größe OR /[^ -~\\s]/",
];

/// Other shapes of an answer, over queries that find something.
const SHAPES: &[&[&str]] = &[
    &["kind:*", "--count-by", "kind"],
    &["kind:*", "--count-by", "level"],
    &["kind:*", "--count-by", "worker_id"],
    &["kind:*", "--count-by", "source"],
    &["token_usage:*", "--count-by", "new_tokens"],
    &["", "--histogram", "1s"],
    &["batch OR request", "--histogram", "500ms"],
    &["", "--since", "start+5s", "--until", "end-1s"],
    &["", "--since", "start+5s", "--histogram", "1s"],
    &["kind:*", "--since", "end-10s", "--count-by", "kind"],
    &["kind:*", "--since", "end-10s", "--count-by", "new_tokens"],
    &["request OR batch", "--sort", "-time", "--limit", "7"],
    &["cached_tokens:*", "--sort", "-cached_tokens", "--limit", "9"],
    &["kind:*", "--sort", "target", "--limit", "20"],
    &["level:>=warn", "-C", "2"],
    &["kind:exception OR kind:worker_added", "-A", "3", "-B", "1"],
    &["zebras", "--bodies"],
    &["/zebras/ OR api_key", "--bodies"],
];

/// The answer without its summary, and how many the summary says were found.
fn answer(place: &Place, run: &str, args: &[&str]) -> (Ran, u64) {
    let mut all = vec!["query", run];
    all.extend(args);
    all.extend(["--format", "jsonl"]);
    if !args.contains(&"--limit") {
        all.extend(["--limit", "0"]);
    }
    let mut ran = place.corr(&all);
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{args:?}: {:?}\n{}", ran.code, ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let summary: Json = serde_json::from_str(lines.last().expect("a summary")).expect("the summary is JSON");
    assert_eq!(summary["type"], "summary");
    let matched = summary["matched"].as_u64().expect("a number of hits");
    ran.stdout = lines[..lines.len() - 1].join("\n");
    (ran, matched)
}

fn questions() -> Vec<Vec<&'static str>> {
    QUERIES.iter().map(|q| vec![*q]).chain(SHAPES.iter().map(|s| s.to_vec())).collect()
}

/// Asks both places everything; gives how many of the questions found something.
fn same(run: &str, scanned: &Place, indexed: &Place, when: &str) -> usize {
    same_of(1, run, scanned, indexed, when)
}

/// The same of every `step`th question.
fn same_of(step: usize, run: &str, scanned: &Place, indexed: &Place, when: &str) -> usize {
    let mut finding = 0;
    for question in questions().into_iter().step_by(step) {
        let (by_scan, n) = answer(scanned, run, &question);
        let (by_index, m) = answer(indexed, run, &question);
        assert!(by_scan.stdout == by_index.stdout, "{when}: {question:?}\n{}", difference(&by_scan.stdout, &by_index.stdout));
        assert_eq!((by_scan.code, n), (by_index.code, m), "{when}: {question:?}\n{}\n{}", by_scan.stderr, by_index.stderr);
        finding += usize::from(n > 0);
    }
    finding
}

fn difference(scan: &str, index: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (scan.lines().collect(), index.lines().collect());
    let at = a.iter().zip(&b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
    let line = |lines: &[&str]| lines.get(at).map_or("(no line)".to_string(), |l| l.chars().take(600).collect());
    format!(
        "{} lines by scan, {} by index; first difference in line {}:\nscan:  {}\nindex: {}",
        a.len(),
        b.len(),
        at + 1,
        line(&a),
        line(&b)
    )
}

fn index(place: &Place, run: &str) -> Ran {
    let ran = place.corr(&["index", run]);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    ran
}

fn pair(fixture: &str) -> (Place, Place) {
    let (scanned, indexed) = (Place::with(fixture), Place::with(fixture));
    index(&indexed, fixture);
    (scanned, indexed)
}

#[test]
fn on_the_fixtures() {
    let mut finding = 0;
    for fixture in ["direct-run", "sglang-run"] {
        let (scanned, indexed) = pair(fixture);
        finding += same(fixture, &scanned, &indexed, fixture);
    }
    assert!(finding > 100, "only {finding} questions found anything: they prove nothing");
}

#[test]
fn on_captures() {
    let Some(cases) = cases("") else { return };
    for (below, step) in [("dynamo/D1_disagg_jsonl", 1), ("sglang/a2-0523-retract", 3), ("journald/real", 3), ("sglang-samples", 2)] {
        let (scanned, indexed) = (Place::new(), Place::new());
        for place in [&scanned, &indexed] {
            copy_tree(&cases.join(below), &place.path("run"));
        }
        let report = index(&indexed, "run");
        let finding = same_of(step, "run", &scanned, &indexed, below);
        println!("{below}: {finding} questions found something; {}", report.stderr.lines().last().unwrap_or(""));
        assert!(finding > 10, "{below}: only {finding} questions found anything");
    }
}

#[test]
fn after_a_source_grew() {
    let (scanned, indexed) = pair("direct-run");
    let router = fs::read(indexed.path("direct-run/logs/router.log")).expect("router.log");
    // Again the last lines, and a line that is not ended yet.
    let tail = router[router.len() - 30_000..].splitn(2, |b| *b == b'\n').nth(1).expect("a line").to_vec();
    for place in [&scanned, &indexed] {
        place.append("direct-run/logs/router.log", &tail);
        place.append("direct-run/logs/router.log", b"2026-11-29T18:54:46.000000Z  WARN dynamo_runtime: not ended y");
    }
    same("direct-run", &scanned, &indexed, "by index and tail");
    let report = index(&indexed, "direct-run");
    assert!(report.stderr.contains("(0 new, 1 grown, 6 unchanged, 0 gone)"), "{}", report.stderr);
    same("direct-run", &scanned, &indexed, "by a grown index");
    for place in [&scanned, &indexed] {
        place.append("direct-run/logs/router.log", b"et, now it is\n  and goes on\n");
    }
    same("direct-run", &scanned, &indexed, "by a grown index and the end of a record");
    index(&indexed, "direct-run");
    same("direct-run", &scanned, &indexed, "by an index that grew twice");
    let (ran, n) = answer(&indexed, "direct-run", &["\"not ended yet\""]);
    assert_eq!(n, 1, "{}", ran.stderr);
}

#[test]
fn after_a_traceback_went_on() {
    let (scanned, indexed) = pair("sglang-run");
    for place in [&scanned, &indexed] {
        place.append("sglang-run/logs/crash.log", b"Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n");
    }
    same("sglang-run", &scanned, &indexed, "by index and tail");
    index(&indexed, "sglang-run");
    for place in [&scanned, &indexed] {
        place.append("sglang-run/logs/crash.log", b"ValueError: late zebras\n");
    }
    same("sglang-run", &scanned, &indexed, "after the record that was last went on");
    index(&indexed, "sglang-run");
    same("sglang-run", &scanned, &indexed, "and was indexed again");
}

#[test]
fn after_a_source_changed_in_the_middle() {
    let (scanned, indexed) = pair("direct-run");
    for place in [&scanned, &indexed] {
        let path = place.path("direct-run/logs/worker-0.log");
        let mut bytes = fs::read(&path).expect("worker-0.log");
        let at = bytes.len() / 2;
        let word = memchr::memmem::find(&bytes[at..], b"request").expect("the word") + at;
        bytes[word..word + 7].copy_from_slice(b"zebras!");
        fs::write(&path, bytes).expect("rewrite");
    }
    let (ran, n) = answer(&indexed, "direct-run", &["zebras"]);
    assert_eq!(n, 1);
    assert!(ran.stderr.contains("1 indexed source has changed since; read without the index"), "{}", ran.stderr);
    same("direct-run", &scanned, &indexed, "after a change");
    let report = index(&indexed, "direct-run");
    assert!(report.stderr.contains("(1 new, 0 grown, 6 unchanged, 0 gone)"), "{}", report.stderr);
    same("direct-run", &scanned, &indexed, "after a change was indexed");
}

#[test]
fn after_files_came_and_went() {
    let (scanned, indexed) = pair("direct-run");
    for place in [&scanned, &indexed] {
        fs::remove_file(place.path("direct-run/logs/worker-1.log")).expect("remove");
        place.write("direct-run/logs/worker-2.log", b"2026-11-29T18:54:46.000000Z  WARN dynamo_runtime: a new worker\n");
    }
    same("direct-run", &scanned, &indexed, "before the index knows");
    let report = index(&indexed, "direct-run");
    assert!(report.stderr.contains("(1 new, 0 grown, 6 unchanged, 1 gone)"), "{}", report.stderr);
    same("direct-run", &scanned, &indexed, "after it knows");
}

#[test]
fn after_the_index_was_damaged() {
    let (scanned, indexed) = pair("sglang-run");
    let manifest = indexed.path("sglang-run/.corr/manifest.json");
    let whole = fs::read_to_string(&manifest).expect("the manifest");
    let other = whole.replacen("\"store_version\":", "\"store_version\":9", 1);
    for (text, says) in [
        (&whole[..whole.len() / 2], "is damaged"),
        ("", "is damaged"),
        ("{\"store_version\": \"x\"}", "is damaged"),
        (other.as_str(), "was made by another version of corr"),
    ] {
        fs::write(&manifest, text).expect("damage");
        let (ran, _) = answer(&indexed, "sglang-run", &["kind:prefill_batch"]);
        assert!(ran.stderr.contains(says) && ran.stderr.contains("`corr index` makes it anew"), "{}", ran.stderr);
        same("sglang-run", &scanned, &indexed, says);
        let report = index(&indexed, "sglang-run");
        assert!(report.stderr.contains(says) && report.stderr.contains("(4 new, "), "{}", report.stderr);
        same("sglang-run", &scanned, &indexed, "made anew");
    }
}

#[test]
fn a_damaged_segment_is_said_and_never_misread() {
    let (scanned, indexed) = pair("sglang-run");
    let store = indexed.path("sglang-run/.corr");
    let kept = indexed.path("kept");
    copy_tree(&store, &kept);
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in walkdir::WalkDir::new(&kept).sort_by_file_name() {
        let entry = entry.expect("an entry");
        if entry.file_type().is_file() && entry.depth() > 1 {
            files.push(entry.path().strip_prefix(&kept).expect("below").to_path_buf());
        }
    }
    assert!(files.len() > 8, "{files:?}");
    for file in &files {
        for cut in [0, 1, 2] {
            copy_tree(&kept, &store);
            let path = store.join(file);
            let bytes = fs::read(&path).expect("a file of a segment");
            match cut {
                0 => fs::remove_file(&path).expect("remove"),
                1 => fs::write(&path, &bytes[..bytes.len() / 2]).expect("cut"),
                _ => fs::write(&path, vec![0xa5; bytes.len()]).expect("overwrite"),
            }
            for query in ["kind:prefill_batch", "token", "rid:64469f4f*", "token_usage:>0.1", ""] {
                let (by_scan, n) = answer(&scanned, "sglang-run", &[query]);
                let (by_index, m) = answer(&indexed, "sglang-run", &[query]);
                let whole = by_index.stdout == by_scan.stdout && n == m;
                assert!(
                    whole || by_index.code == Some(3),
                    "{} ({cut}), {query}: {m} of {n} and nothing said\n{}",
                    file.display(),
                    by_index.stderr
                );
            }
        }
        fs::remove_dir_all(&store).expect("remove the store");
    }
}

#[test]
fn after_the_run_moved_away() {
    let place = Place::with("sglang-run");
    let ran = place.corr(&["index", "sglang-run", "--store", "moved.corr", "--embed-text"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let facts = |ran: &Ran| -> Vec<Json> {
        let mut events: Vec<Json> = ran.stdout.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
        for event in &mut events {
            // Bodies are masked in the store: length and hash of what stands there are of the mask.
            for masked in ["message", "withheld"] {
                event.as_object_mut().expect("an object").remove(masked);
            }
        }
        events
    };
    let with_run: Vec<Ran> = QUERIES.iter().map(|q| answer(&place, "sglang-run", &[q, "--store", "moved.corr"]).0).collect();
    fs::rename(place.path("sglang-run"), place.path("elsewhere")).expect("move");
    for (query, before) in QUERIES.iter().zip(&with_run) {
        let (after, _) = answer(&place, "sglang-run", &[query, "--store", "moved.corr"]);
        assert_eq!(facts(&after), facts(before), "{query}\n{}", after.stderr);
        assert!(after.stderr.contains("the run is not there"), "{}", after.stderr);
    }
    let secrets = ["zebras", "forty-two", "sk-synthetic-5f3c9d"];
    let (all, n) = answer(&place, "sglang-run", &["", "--bodies", "--store", "moved.corr"]);
    assert!(n > 80);
    for entry in walkdir::WalkDir::new(place.path("moved.corr")) {
        let entry = entry.expect("an entry");
        let bytes = if entry.file_type().is_file() { fs::read(entry.path()).expect("read") } else { Vec::new() };
        for secret in secrets {
            assert!(!all.stdout.contains(secret), "{secret} is in the answer");
            assert!(memchr::memmem::find(&bytes, secret.as_bytes()).is_none(), "{secret} is in {}", entry.path().display());
        }
    }
}
