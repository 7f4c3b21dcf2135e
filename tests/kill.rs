//! The indexer is killed at random moments: the index that is left opens, and answers as before or as after.

mod program;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

use program::{Place, copy_tree};
use serde_json::Value as Json;

const KILLS: usize = 20;
/// Bytes of each of three sources before and after it grew.
const BEFORE: usize = 8 << 20;
const AFTER: usize = 10 << 20;
/// Scrapes before a capture grew to twice as many.
const SCRAPES: u64 = 600;

/// Numbers that are the same on every run (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Scheduler lines of a worker, whole lines up to about `size` bytes.
fn log(size: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut text = String::with_capacity(size + 256);
    let mut at = 0u64;
    while text.len() < size {
        at += 1;
        let (h, m, s) = (at / 90_000 % 24, at / 1_500 % 60, at / 25 % 60);
        let r = random.next();
        let _ = write!(text, "[2026-05-20 {h:02}:{m:02}:{s:02} TP0] ");
        let _ = match r % 10 {
            0..6 => writeln!(
                text,
                "Decode batch, #running-req: {}, #token: {}, token usage: 0.{:02}, gen throughput (token/s): {}.{:02}, #queue-req: 0, ",
                r % 64,
                r >> 8 & 0xffff,
                r % 100,
                r % 3000,
                r % 97
            ),
            6..9 => writeln!(
                text,
                "Prefill batch, #new-seq: {}, #new-token: {}, #cached-token: {}, token usage: 0.{:02}, #running-req: {}, #queue-req: 0, ",
                r % 7,
                r >> 4 & 0xfff,
                r >> 9 & 0xfff,
                r % 100,
                r % 64
            ),
            _ => {
                writeln!(text, "HiCache prefetch success req=r{:016x} completed={} matched=0 loaded=192 occupied=0", random.next(), r % 512)
            }
        };
    }
    text.into_bytes()
}

/// Scrapes of 40 series, one a second.
fn scrapes(range: std::ops::Range<u64>) -> Vec<u8> {
    let mut text = String::new();
    for at in range {
        let _ =
            write!(text, "{{\"timestamp_ns\":{},\"endpoint_url\":\"http://h:1/metrics\",\"text\":\"", (1_779_235_200 + at) * 1_000_000_000);
        for series in 0..40 {
            let _ = write!(text, "a_total{{n=\\\"{series}\\\"}} {}\\n", at * series);
        }
        text.push_str("\"}\n");
    }
    text.into_bytes()
}

fn generation(place: &Place) -> u64 {
    let text = fs::read_to_string(place.path("run/.corr/manifest.json")).expect("a manifest");
    let manifest: Json = serde_json::from_str(&text).expect("the manifest is whole");
    manifest["generation"].as_u64().expect("a generation")
}

/// What the run answers, without what may differ (notes, timing).
fn answers(place: &Place) -> Vec<String> {
    let questions: [&[&str]; 4] = [
        &["cached_tokens:>4000", "--count-by", "new_seqs", "--format", "csv"],
        &["kind:hicache_prefetch completed:7", "--limit", "0", "--format", "csv"],
        &["hicache -kind:decode_batch", "--histogram", "600s", "--format", "csv"],
        &["running", "--sort", "-time", "--limit", "20", "--format", "csv"],
    ];
    let ask = |question: &&[&str]| {
        let mut args = vec!["query", "run"];
        args.extend(*question);
        let ran = place.corr(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stderr.contains("damaged") && !ran.stderr.contains("changed since"), "{}", ran.stderr);
        ran.stdout
    };
    questions.iter().map(ask).chain([figures(place).0]).collect()
}

/// What the metric capture answers, and what is said of the index.
fn figures(place: &Place) -> (String, String) {
    let ran = place.corr(&["metrics", "run", "a_total{n=\"7\"}", "--rows", "--limit", "0", "--format", "csv"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("damaged"), "{}", ran.stderr);
    (ran.stdout, ran.stderr)
}

/// Directories of segments and captures that the store has, and those that its manifest names.
fn segments(place: &Place) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut there = BTreeSet::new();
    for entry in fs::read_dir(place.path("run/.corr")).expect("the store") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "manifest.json" && name != "lock" {
            there.insert(name);
        }
    }
    let manifest: Json = serde_json::from_slice(&fs::read(place.path("run/.corr/manifest.json")).expect("manifest")).expect("JSON");
    let mut named = BTreeSet::new();
    for source in manifest["sources"].as_object().expect("sources").values() {
        for segment in source["segments"].as_array().expect("segments") {
            named.insert(segment["dir"].as_str().expect("a name").to_string());
        }
    }
    for captures in manifest["captures"].as_array().expect("captures") {
        named.insert(captures["dir"].as_str().expect("a name").to_string());
    }
    (there, named)
}

#[test]
fn a_killed_indexer_leaves_the_old_index_or_the_new_one() {
    let place = Place::new();
    let logs: Vec<(String, Vec<u8>)> = (0..3).map(|i| (format!("run/decode_{i}.log"), log(AFTER, 0x9e37 + i))).collect();
    for (path, bytes) in &logs {
        place.write(path, &bytes[..BEFORE]);
    }
    place.write("run/raw_prometheus.jsonl", &scrapes(0..SCRAPES));
    let ran = place.corr(&["index", "run"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    copy_tree(&place.path("run/.corr"), &place.path("before"));
    let old = generation(&place);
    for (path, bytes) in &logs {
        place.append(path, &bytes[BEFORE..]);
    }
    place.append("run/raw_prometheus.jsonl", &scrapes(SCRAPES..SCRAPES * 2));
    assert!(figures(&place).1.contains("run/raw_prometheus.jsonl: changed since it was indexed"));
    // The old index answers for what it knows, the tail is scanned: the answer is that of the new index.
    let by_old = answers(&place);
    let started = Instant::now();
    let ran = place.corr(&["index", "run"]);
    let whole = started.elapsed();
    assert!(ran.stderr.contains("(0 new, 3 grown, 0 unchanged, 0 gone)"), "{}", ran.stderr);
    let new = generation(&place);
    assert!(new > old);
    let expected = answers(&place);
    assert!(!figures(&place).1.contains("index"), "{}", figures(&place).1);
    assert_eq!(by_old, expected);

    let mut random = Random(20_261_129);
    let (mut cut_off, mut completed) = (0, 0);
    for kill in 0..KILLS {
        fs::remove_dir_all(place.path("run/.corr")).expect("remove the store");
        copy_tree(&place.path("before"), &place.path("run/.corr"));
        // Moments are spread evenly over the time that an undisturbed run takes, and a little beyond.
        let share = (kill as f64 + (random.next() % 1000) as f64 / 1000.0) / KILLS as f64;
        let mut child = place.command(&["index", "run"]).spawn().expect("start corr");
        std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * 1.05 * share));
        let _ = child.kill();
        let ended = child.wait().expect("wait");
        cut_off += usize::from(ended.code().is_none());
        let now = generation(&place);
        assert!(now == old || now == new, "generation {now} after kill {kill}; before {old}, after {new}");
        completed += usize::from(now == new);
        assert_eq!(figures(&place).1.contains("changed since it was indexed"), now == old, "generation {now} after kill {kill}");
        assert_eq!(answers(&place), expected, "after kill {kill} at {share:.2}");
        if kill % 4 == 0 {
            let ran = place.corr(&["index", "run"]);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            let (there, named) = segments(&place);
            assert_eq!(there, named, "the next index left something behind after kill {kill}");
            assert_eq!(answers(&place), expected, "after kill {kill} and a repair");
        }
    }
    println!("{KILLS} kills over {whole:?}: {cut_off} met the indexer at work, {completed} found the new index published");
    assert!(cut_off >= KILLS / 2, "only {cut_off} kills met the indexer at work");
}
