//! The same of metric captures: what an index keeps of them answers as their files do, byte for byte, and is not used when it is not true.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::program::{Place, Ran, cases, copy_tree};

/// Questions that captures of any kind can be asked.
const QUESTIONS: &[&[&str]] = &[
    &["--limit", "0"],
    &["{__name__=~\".+\"}", "--since", "start+4s", "--until", "end-4s", "--limit", "0"],
    &["{__name__=~\".+\"}", "--rows", "--since", "start+5s", "--until", "start+30s", "--limit", "2000"],
    &["{__name__=~\".+\"}", "--by", "target", "--since", "start+4s", "--limit", "0"],
    &["{__name__=~\".*_total\"}", "--per", "{__name__=~\".*(prompt_tokens|requests)_total\"}", "--since", "start+1s", "--limit", "0"],
    &["no_such_series"],
];
const FORMATS: &[&str] = &["text", "json", "jsonl", "csv"];

/// Everything that captures say, with what is said beside it.
fn answers(place: &Place, run: &str, more: &[&str]) -> Vec<(String, Ran)> {
    let mut all = Vec::new();
    for question in QUESTIONS {
        for format in FORMATS {
            let mut args = vec!["metrics", run];
            args.extend(*question);
            args.extend(["--format", *format]);
            args.extend(more);
            all.push((args.join(" "), place.corr(&args)));
        }
    }
    all
}

/// The same answers with the same exit codes; gives the lines of standard error that only the second has.
fn same(by_files: &[(String, Ran)], by_index: &[(String, Ran)]) -> Vec<String> {
    assert_eq!(by_files.len(), by_index.len());
    let mut notes = Vec::new();
    for ((args, files), (_, index)) in by_files.iter().zip(by_index) {
        assert!(files.stdout == index.stdout, "{args}\n{}", super::difference(&files.stdout, &index.stdout));
        assert_eq!(files.code, index.code, "{args}\n{}\n{}", files.stderr, index.stderr);
        let mut told = files.stderr.lines();
        let mut next = told.next();
        for line in index.stderr.lines() {
            if Some(line) == next {
                next = told.next();
            } else {
                notes.push(line.to_string());
            }
        }
        assert_eq!(next, None, "{args}: not said by the index\n{}", index.stderr);
    }
    notes
}

fn found(answers: &[(String, Ran)]) -> usize {
    answers.iter().filter(|(_, ran)| matches!(ran.code, Some(0 | 3)) && ran.stdout.len() > 100).count()
}

/// Files of captures in a store.
fn kept(store: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(store).sort_by_file_name().into_iter().map(|e| e.expect("an entry"));
    entries.filter(|e| e.path().extension().is_some_and(|e| e == "capture")).map(|e| e.into_path()).collect()
}

fn index(place: &Place, args: &[&str]) -> String {
    let mut all = vec!["index"];
    all.extend(args);
    let ran = place.corr(&all);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    ran.stderr
}

/// A scrape as it is served.
fn exposition(n: u32) -> String {
    format!("# TYPE a_total counter\na_total{{w=\"x\"}} {}\n# TYPE depth gauge\ndepth {}\n", n * n, n % 3)
}

/// A folder of scrapes with their times in their names, one every ten seconds.
fn scrapes(place: &Place, range: std::ops::Range<u32>) {
    for n in range {
        place.write(&format!("run/scrapes/w0.{}.prom", 1_795_976_900 + 10 * n), exposition(n).as_bytes());
    }
}

const CHANGED: &str = "changed since it was indexed; read without the index";

#[test]
fn on_a_fixture() {
    let place = Place::with("metrics-run");
    let by_files = answers(&place, "metrics-run", &[]);
    assert_eq!(found(&by_files), 20, "all but the one for a series that is not there");
    let beside: [&[&str]; 4] = [
        &["query", "metrics-run", "kind:decode_batch", "--metrics", "sglang:token_usage,sglang:cached_tokens_total", "--format", "csv"],
        &["query", "metrics-run", "kind:decode_batch", "--metrics", "sglang:token_usage,log:token_usage", "--limit", "0"],
        &["query", "metrics-run", "kind:decode_batch", "--histogram", "5s", "--metrics", "{__name__=~\".+\"}", "--format", "json"],
        &["edges", "metrics-run", "--explain"],
    ];
    // The summary says how many bytes were scanned.
    let answered = |text: &str| text.split("\"summary\"").next().unwrap_or("").to_string();
    let joined = || beside.map(|args| answered(&place.corr(args).stdout)).to_vec();
    let by_scan = joined();
    assert!(by_scan[..3].iter().all(|text| text.contains("token_usage")) && by_scan[3].contains("cached_tokens_total"), "{by_scan:?}");
    let said = index(&place, &["metrics-run"]);
    assert!(said.contains("indexed 1 metric capture (1 read, 0 unchanged)"), "{said}");
    assert_eq!(same(&by_files, &answers(&place, "metrics-run", &[])), Vec::<String>::new());
    assert_eq!(joined(), by_scan);
    let said = index(&place, &["metrics-run"]);
    assert!(said.contains("indexed 1 metric capture (0 read, 1 unchanged)"), "{said}");
    // A broken file is noticed: so it was this one that answered.
    let [only] = &kept(&place.path("metrics-run/.corr"))[..] else { panic!("one capture") };
    fs::write(only, b"no capture").expect("damage");
    let by_scan_again = joined();
    assert_eq!(by_scan_again, by_scan);
    let ran = place.corr(beside[0]);
    assert!(ran.stderr.contains("0.capture is damaged"), "{}", ran.stderr);
}

#[test]
fn on_captures_of_every_layout() {
    let Some(cases) = cases("") else { return };
    let (mut all, mut finding, mut layouts) = (0, 0, std::collections::BTreeSet::new());
    for below in [
        "metrics/raw",
        "metrics/layouts",
        "metrics/prometheus",
        "tachometer/run_a",
        "tachometer/run_a_starved",
        "tachometer/run_dynamo/corr-direct-20261129T185427Z-1",
        "tachometer/run_dynamo/corr-timeout-20261129T185801Z-3",
        "tachometer/run_rowgroups",
        "tachometer/run_scraper_restarted",
        "sglang-samples",
    ] {
        let place = Place::new();
        copy_tree(&cases.join(below), &place.path("run"));
        let by_files = answers(&place, "run", &[]);
        let said = index(&place, &["run"]);
        assert_eq!(same(&by_files, &answers(&place, "run", &[])), Vec::<String>::new(), "{below}");
        let captures = kept(&place.path("run/.corr"));
        all += by_files.len();
        finding += found(&by_files);
        println!("{below}: {} of {} answers found something; {}", found(&by_files), by_files.len(), said.lines().last().unwrap_or(""));
        assert!(!captures.is_empty(), "{below}: {said}");
        let manifest: serde_json::Value =
            serde_json::from_slice(&fs::read(place.path("run/.corr/manifest.json")).expect("manifest")).expect("JSON");
        let sets = manifest["captures"].as_array().expect("captures");
        layouts.extend(sets.iter().map(|set| set["layout"].as_str().expect("a layout").to_string()));
        // It was these files that answered: without them each set of files is read, and that is said.
        for file in &captures {
            fs::remove_file(file).expect("remove");
        }
        let args = ["metrics", "run", "--limit", "0", "--format", "json"];
        let ran = place.corr(&args);
        let first = by_files.iter().find(|(asked, _)| *asked == "metrics run --limit 0 --format json").expect("it was asked");
        assert!(ran.stdout == first.1.stdout, "{below}");
        let told = ran.stderr.lines().filter(|l| l.contains("is read without the index")).count();
        assert_eq!(told, sets.iter().filter(|set| set["captures"].as_array().is_some_and(|c| !c.is_empty())).count(), "{}", ran.stderr);
    }
    println!("{all} answers, {finding} with something in them, of the layouts {layouts:?}");
    assert!(finding > 150 && layouts.len() > 12, "{finding} {layouts:?}");
}

#[test]
fn after_a_table_changed() {
    let Some(layouts) = cases("metrics/layouts") else { return };
    let place = Place::new();
    let put = |from: &str| place.write("run/a.parquet", &fs::read(layouts.join(from)).expect("a table"));
    put("L01_narrow_map.parquet");
    place.write("run/b.parquet", &fs::read(layouts.join("L08_nested_series.parquet")).expect("a table"));
    index(&place, &["run"]);
    for other in ["L04_narrow_label_columns.parquet", "L05_wide.parquet"] {
        put(other);
        let by_files = answers(&place, "run", &["--store", "none"]);
        let notes = same(&by_files, &answers(&place, "run", &[]));
        assert!(notes.len() == by_files.len() && notes.iter().all(|n| n.contains("run/a.parquet") && n.contains(CHANGED)), "{notes:?}");
        let said = index(&place, &["run"]);
        assert!(said.contains("indexed 2 metric captures (1 read, 1 unchanged)"), "{said}");
        assert_eq!(same(&by_files, &answers(&place, "run", &[])), Vec::<String>::new());
    }
}

#[test]
fn after_a_folder_of_scrapes_grew() {
    let place = Place::new();
    scrapes(&place, 0..12);
    let before = answers(&place, "run", &[]);
    index(&place, &["run"]);
    assert_eq!(same(&before, &answers(&place, "run", &[])), Vec::<String>::new());
    scrapes(&place, 12..15);
    let by_files = answers(&place, "run", &["--store", "none"]);
    let total = by_files.iter().find(|(args, _)| args.contains("run --limit 0 --format csv")).expect("it was asked");
    assert_ne!(total.1.stdout, before.iter().find(|(args, _)| total.0.starts_with(args)).expect("asked before").1.stdout);
    let notes = same(&by_files, &answers(&place, "run", &[]));
    assert!(notes.len() == by_files.len() && notes.iter().all(|n| n.contains(CHANGED) && n.contains("run/scrapes/")), "{notes:?}");
    let said = index(&place, &["run"]);
    assert!(said.contains("indexed 1 metric capture (1 read, 0 unchanged)"), "{said}");
    assert_eq!(same(&by_files, &answers(&place, "run", &[])), Vec::<String>::new());
    assert_eq!(kept(&place.path("run/.corr")).len(), 1, "the old capture is swept");
    // One that went is noticed too.
    fs::remove_file(place.path("run/scrapes/w0.1795976950.prom")).expect("remove");
    let by_files = answers(&place, "run", &["--store", "none"]);
    let notes = same(&by_files, &answers(&place, "run", &[]));
    assert!(notes.len() == by_files.len() && notes.iter().all(|n| n.contains(CHANGED)), "{notes:?}");
}

#[test]
fn after_a_capture_changed() {
    let place = Place::with("metrics-run");
    index(&place, &["metrics-run"]);
    let path = place.path("metrics-run/raw_prometheus.jsonl");
    let bytes = fs::read(&path).expect("the capture");
    // As many bytes as before, one digit is another.
    let mut other = bytes.clone();
    let at = memchr::memmem::find(&other, b"1.9003428e+07").expect("a value");
    other[at + 2] = b'8';
    fs::write(&path, &other).expect("rewrite");
    let by_files = answers(&place, "metrics-run", &["--store", "none"]);
    let notes = same(&by_files, &answers(&place, "metrics-run", &[]));
    let says = |n: &String| n.contains(CHANGED) && n.contains("metrics-run/raw_prometheus.jsonl");
    assert!(notes.len() == by_files.len() && notes.iter().all(says), "{notes:?}");
    let said = index(&place, &["metrics-run"]);
    assert!(said.contains("(1 read, 0 unchanged)"), "{said}");
    assert_eq!(same(&by_files, &answers(&place, "metrics-run", &[])), Vec::<String>::new());
    // The same bytes written again are the same capture.
    fs::write(&path, &other).expect("rewrite");
    assert_eq!(same(&by_files, &answers(&place, "metrics-run", &[])), Vec::<String>::new());
    let said = index(&place, &["metrics-run"]);
    assert!(said.contains("(0 read, 1 unchanged)"), "{said}");
    // Another file under its name, of another layout.
    fs::write(&path, "{\"metric\":{\"__name__\":\"up\"},\"values\":[1,2],\"timestamps\":[1795977040000,1795977050000]}\n")
        .expect("rewrite");
    let by_files = answers(&place, "metrics-run", &["--store", "none"]);
    let notes = same(&by_files, &answers(&place, "metrics-run", &[]));
    assert!(notes.len() == by_files.len() && notes.iter().all(|n| n.contains(CHANGED)), "{notes:?}");
}

/// Without a stamp in a name or a line the times of files are the times of scrapes: the same bytes at another time are another capture.
#[test]
fn after_files_that_stamp_their_scrapes_were_touched() {
    for stamped in [false, true] {
        let place = Place::new();
        let touch = |name: &str, second: u64| {
            let file = fs::File::options().append(true).open(place.path(name)).expect("open");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(second)).expect("set the time");
        };
        for (name, n) in [("before", 3u32), ("after", 5)] {
            let stamp = if stamped { format!(" {}", 1_795_976_900_000u64 + u64::from(n) * 1_000) } else { String::new() };
            let text: String =
                exposition(n).lines().map(|l| if l.starts_with('#') { format!("{l}\n") } else { format!("{l}{stamp}\n") }).collect();
            place.write(&format!("run/w0.{name}.prom"), text.as_bytes());
        }
        touch("run/w0.before.prom", 1_795_976_900);
        touch("run/w0.after.prom", 1_795_976_960);
        let before = answers(&place, "run", &[]);
        index(&place, &["run"]);
        assert_eq!(same(&before, &answers(&place, "run", &[])), Vec::<String>::new());
        touch("run/w0.after.prom", 1_795_976_970);
        let by_files = answers(&place, "run", &["--store", "none"]);
        let notes = same(&by_files, &answers(&place, "run", &[]));
        assert!(notes.len() == by_files.len() && notes.iter().all(|n| n.contains(CHANGED)), "{stamped}: {notes:?}");
        let told = |answers: &[(String, Ran)]| answers.iter().map(|(_, ran)| ran.stdout.clone()).collect::<Vec<_>>();
        assert_ne!(told(&before), told(&by_files), "{stamped}");
    }
}

#[test]
fn a_damaged_capture_is_said_and_never_misread() {
    let place = Place::with("metrics-run");
    let by_files = answers(&place, "metrics-run", &[]);
    index(&place, &["metrics-run"]);
    let [only] = &kept(&place.path("metrics-run/.corr"))[..] else { panic!("one capture") };
    let bytes = fs::read(only).expect("the capture");
    let mut flipped = bytes.clone();
    flipped[3] ^= 4;
    let mut longer = bytes.clone();
    longer.push(0);
    let damages: [(Option<&[u8]>, &str); 5] = [
        (Some(&bytes[..bytes.len() / 2]), "is damaged (its end is missing)"),
        (Some(&flipped), "is damaged (its samples)"),
        (Some(&longer), "is damaged (its end is missing)"),
        (Some(b""), "is damaged (its end is missing)"),
        (None, "No such file"),
    ];
    for (damaged, says) in damages {
        match damaged {
            Some(damaged) => fs::write(only, damaged).expect("damage"),
            None => fs::remove_file(only).expect("remove"),
        }
        let notes = same(&by_files, &answers(&place, "metrics-run", &[]));
        let said =
            |n: &String| n.contains("0.capture") && n.contains(says) && n.contains("is read without the index, which `corr index` mends");
        assert!(notes.len() == by_files.len() && notes.iter().all(said), "{says}: {notes:?}");
    }
    // The bytes that were written, under other facts of the file: all of them are looked at, and they are right.
    fs::write(only, &bytes).expect("mend");
    assert_eq!(same(&by_files, &answers(&place, "metrics-run", &[])), Vec::<String>::new());
    fs::write(only, &flipped).expect("damage");
    let said = index(&place, &["metrics-run"]);
    assert!(said.contains("(1 read, 0 unchanged)"), "{said}");
    assert_eq!(same(&by_files, &answers(&place, "metrics-run", &[])), Vec::<String>::new());
    // The manifest itself.
    fs::write(place.path("metrics-run/.corr/manifest.json"), "{\"store_version\": ").expect("damage");
    let notes = same(&by_files, &answers(&place, "metrics-run", &[]));
    assert!(notes.len() == by_files.len() && notes.iter().all(|n| n.contains("manifest.json is damaged")), "{notes:?}");
}

#[test]
fn by_readers_of_another_version() {
    let place = Place::with("metrics-run");
    let by_files = answers(&place, "metrics-run", &[]);
    index(&place, &["metrics-run"]);
    let manifest = place.path("metrics-run/.corr/manifest.json");
    let text = fs::read_to_string(&manifest).expect("the manifest");
    fs::write(&manifest, text.replacen("\"metrics_version\":", "\"metrics_version\":9", 1)).expect("write");
    let notes = same(&by_files, &answers(&place, "metrics-run", &[]));
    assert!(notes.len() == by_files.len() && notes.iter().all(|n| n.contains("by another version of corr")), "{notes:?}");
    let said = index(&place, &["metrics-run"]);
    assert!(said.contains("(1 read, 0 unchanged)"), "{said}");
    assert_eq!(same(&by_files, &answers(&place, "metrics-run", &[])), Vec::<String>::new());
}

#[test]
fn from_a_store_elsewhere_and_by_other_spellings_of_the_run() {
    let place = Place::with("metrics-run");
    // A line that is none: where it stands is told with the path as it was spelled.
    place.append("metrics-run/raw_prometheus.jsonl", b"{\"timestamp_ns\": cut\n");
    place.write("metrics-run/scrapes/w0.1795976900.prom", exposition(1).as_bytes());
    place.write("metrics-run/scrapes/w0.1795976910.prom", b"a_total 5\nnot a line at all\n");
    let absolute = place.path("metrics-run").display().to_string();
    let inside = place.path("metrics-run/scrapes/..").display().to_string();
    let line = |asked: &str| match asked.trim_end_matches('/') {
        file if file.ends_with("jsonl") => file.to_string(),
        folder => format!("{folder}/raw_prometheus.jsonl"),
    };
    for (indexed, asked) in [
        ("metrics-run", "metrics-run"),
        ("metrics-run", "./metrics-run/"),
        ("metrics-run", absolute.as_str()),
        (absolute.as_str(), "metrics-run"),
        ("metrics-run", inside.as_str()),
        ("metrics-run/raw_prometheus.jsonl", "metrics-run/raw_prometheus.jsonl"),
        ("metrics-run/raw_prometheus.jsonl", "./metrics-run/raw_prometheus.jsonl"),
    ] {
        let by_files = answers(&place, asked, &["--store", "none"]);
        assert!(by_files[0].1.stderr.contains(&format!("(×1, first {}:23)", line(asked))), "{:?}", by_files[0].1.stderr);
        index(&place, &[indexed, "--store", "kept.corr", "--rebuild"]);
        assert_eq!(same(&by_files, &answers(&place, asked, &["--store", "kept.corr"])), Vec::<String>::new(), "{indexed} {asked}");
        for file in kept(&place.path("kept.corr")) {
            fs::write(file, b"damaged").expect("damage");
        }
        let notes = same(&by_files, &answers(&place, asked, &["--store", "kept.corr"]));
        let of = if indexed.ends_with("jsonl") { 1 } else { 2 };
        assert_eq!(notes.len(), of * by_files.len(), "{indexed} {asked}: {notes:?}");
        assert!(!place.path("metrics-run/.corr").exists());
    }
}

#[test]
fn sources_tell_what_is_indexed() {
    let place = Place::with("metrics-run");
    scrapes(&place, 0..3);
    copy_tree(&place.path("run/scrapes"), &place.path("metrics-run/scrapes"));
    let lines = |store: &str| {
        let ran = place.corr(&["sources", "metrics-run", "--store", store]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let lines: Vec<String> = ran.stdout.lines().map(str::trim).filter(|l| l.starts_with("metrics ")).map(str::to_string).collect();
        lines
    };
    index(&place, &["metrics-run"]);
    let whole = ["metrics   raw_prometheus.jsonl  (raw-prometheus, indexed)", "metrics   scrapes/  (3 files, scrape-files, indexed)"];
    let none = ["metrics   raw_prometheus.jsonl  (raw-prometheus)", "metrics   scrapes/  (3 files, scrape-files)"];
    assert_eq!(lines("metrics-run/.corr"), whole);
    assert_eq!(lines("none"), none);
    fs::write(place.path("metrics-run/scrapes/w0.1795976910.prom"), exposition(7)).expect("change");
    assert_eq!(lines("metrics-run/.corr"), [whole[0], none[1]]);
    let ran = place.corr(&["sources", "metrics-run", "--format", "json"]);
    let sources: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let metrics = sources["other_files"].as_array().expect("files").iter().filter(|f| f["class"] == "metrics");
    let indexed: Vec<(&str, bool)> =
        metrics.map(|f| (f["key"].as_str().expect("a key"), f["indexed"].as_bool().expect("a flag"))).collect();
    assert_eq!(indexed.len(), 4);
    assert!(indexed.iter().all(|(key, indexed)| *indexed == (*key == "raw_prometheus.jsonl")), "{indexed:?}");
}

/// The same scrapes on a clock that counts from an unknown start, which the counters that both share place.
#[test]
fn a_clock_that_was_found_is_looked_up_until_a_file_changes() {
    let place = Place::with("metrics-run");
    let text = fs::read_to_string(place.path("metrics-run/raw_prometheus.jsonl")).expect("the capture");
    let mut elapsed = String::new();
    for line in text.lines() {
        let mut scrape: serde_json::Value = serde_json::from_str(line).expect("a scrape");
        scrape.as_object_mut().expect("an object").remove("timestamp_ns");
        elapsed += &format!("{scrape}\n");
    }
    place.write("metrics-run/elapsed/raw_prometheus.jsonl", elapsed.as_bytes());
    let by_files = answers(&place, "metrics-run", &[]);
    assert!(by_files[0].1.stdout.contains("shared counters"), "{}", by_files[0].1.stdout);
    index(&place, &["metrics-run"]);
    assert_eq!(same(&by_files, &answers(&place, "metrics-run", &[])), Vec::<String>::new());
    let clocks = place.path("metrics-run/.corr/clocks.json");
    let kept = fs::read_to_string(&clocks).expect("clocks");
    fs::write(&clocks, kept.replace("shared counters", "looked up")).expect("write");
    let catalogue = || place.corr(&["metrics", "metrics-run", "--limit", "0"]).stdout;
    assert_eq!(catalogue(), by_files[0].1.stdout.replace("shared counters", "looked up"));
    // As another user spells the run, and where the file is damaged or of another publication, it is found again.
    assert!(place.corr(&["metrics", "./metrics-run", "--limit", "0"]).stdout.contains("shared counters"));
    for other in ["", "{", &kept.replacen("\"generation\":1", "\"generation\":7", 1)] {
        fs::write(&clocks, other).expect("write");
        assert_eq!(same(&by_files, &answers(&place, "metrics-run", &[])), Vec::<String>::new());
    }
    // Any file of the run can be what it was found by.
    fs::write(&clocks, kept.replace("shared counters", "looked up")).expect("write");
    place.append("metrics-run/logs/worker-0.log", b"[2026-11-29 18:31:04] one more line\n");
    assert_eq!(catalogue(), place.corr(&["metrics", "metrics-run", "--limit", "0", "--store", "none"]).stdout);
    index(&place, &["metrics-run"]);
    assert!(catalogue().contains("shared counters"), "found anew with the new index");
}
