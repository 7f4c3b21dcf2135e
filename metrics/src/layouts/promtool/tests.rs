use std::path::PathBuf;
use std::time::Instant;

use proptest::prelude::*;

use super::super::look;
use super::*;
use crate::model::Outcome;

fn read_text(text: &[u8]) -> Capture {
    let mut builder = Builder::new(DUMP.name, Clock::Wall, StampOf::Request);
    let mut scrapes = Scrapes::default();
    dump::dump(Lines::new(text), "d.txt", &mut builder, &mut scrapes);
    scrapes.give(&mut builder);
    builder.finish()
}

fn codes(capture: &Capture) -> Vec<(&'static str, u64, String)> {
    capture.notes.iter().map(|n| (n.code, n.count, n.first.clone().unwrap_or_default())).collect()
}

const DUMPED: &str = "\
{__name__=\"up\", instance=\"h:1\"} 1 1795976926574
{__name__=\"up\", instance=\"h:1\"} 0 1795976927574
{__name__=\"x\", instance=\"h:1\", model=\"a, b={c}\\\"d\\\"\"} 1.5 1795976926574
{__name__=\"x\", instance=\"h:1\", model=\"a, b={c}\\\"d\\\"\"} NaN 1795976927574
{__name__=\"x\", instance=\"h:1\", model=\"a, b={c}\\\"d\\\"\"} +Inf 1795976925574
";

#[test]
fn lines_are_samples_and_up_tells_scrapes() {
    assert!(dump::dumped(DUMPED.as_bytes()));
    let capture = read_text(DUMPED.as_bytes());
    assert_eq!(capture.series.len(), 2);
    assert_eq!(capture.series[1].labels.get("model"), Some("a, b={c}\"d\""));
    assert_eq!(capture.series[1].trouble.disordered, 1);
    assert_eq!(capture.samples.all(1)[0].value, f64::INFINITY);
    assert_eq!(codes(&capture), [("nan_or_stale", 1, "d.txt:4".into())]);
    let outcomes: Vec<bool> = capture.endpoints[0].scrapes.iter().map(|s| s.outcome == Outcome::Read).collect();
    assert_eq!(outcomes, [true, false]);
}

#[test]
fn damage_is_said_with_its_line() {
    let text = format!(
        "{}{{__name__=\"x\n{{__name__=\"n\"}} {{count:3, sum:1}} 1795976926574\n{{__name__=\"up\", instance=\"h:1\"}} 1 17959769",
        DUMPED
    );
    let capture = read_text(text.as_bytes());
    assert_eq!(capture.samples.len(0), 2, "a cut stamp is no time");
    let want =
        [("nan_or_stale", 1, "d.txt:4"), ("bad_line", 1, "d.txt:6"), ("native_histogram", 1, "d.txt:7"), ("truncated", 1, "d.txt:8")];
    assert_eq!(codes(&capture), want.map(|(code, n, at)| (code, n, at.to_string())));
    let unended = DUMPED.trim_end();
    assert_eq!(read_text(unended.as_bytes()).samples.len(1), 3, "only the line end is missing");
}

#[test]
fn expositions_and_logs_are_not_claimed() {
    for other in
        ["", "up{instance=\"h:1\"} 1 1795976926574\n", "{\"a\":1}\n", "{\"name\", a=\"b\"}\n", "{__name__=\"x\"} 1\n", "{a=\"b\"} 1 17\n"]
    {
        assert!(!dump::dumped(other.as_bytes()), "{other}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_said(cut in 0usize..400, flips in prop::collection::vec((0usize..400, any::<u8>()), 0..6)) {
        let mut bytes = DUMPED.as_bytes().to_vec();
        for (at, byte) in flips {
            if let Some(b) = bytes.get_mut(at) {
                *b = byte;
            }
        }
        bytes.truncate(cut);
        dump::dumped(&bytes);
        read_text(&bytes);
    }
}

/// A database of one block and a `wal/`, which only looks like one.
fn database(folder: &Path) -> Set {
    let files = [
        (
            "data/01M8M9ACQ985C1MEJGX8PPWZKQ/meta.json",
            r#"{"ulid":"01M8M9ACQ985C1MEJGX8PPWZKQ","minTime":1,"maxTime":2,"stats":{"numSamples":5,"numSeries":2},"version":1}"#,
        ),
        ("data/01M8M9ACQ985C1MEJGX8PPWZKQ/index", "\0index"),
        ("data/01M8M9ACQ985C1MEJGX8PPWZKQ/tombstones", "\0t"),
        ("data/01M8M9ACQ985C1MEJGX8PPWZKQ/chunks/000001", "\0chunks"),
        ("data/wal/00000000", "\0wal"),
        ("other.json", "{}"),
    ];
    let mut candidates = Vec::new();
    for (key, text) in files {
        let path = folder.join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        candidates.push(look(&path, key));
    }
    let sets = blocks::claim(&candidates);
    assert_eq!(sets.len(), 1);
    let keys: Vec<&str> = sets[0].files.iter().map(|p| p.key.strip_prefix("data/").unwrap()).collect();
    let block = "01M8M9ACQ985C1MEJGX8PPWZKQ";
    let want = ["chunks/000001", "index", "meta.json", "tombstones"].map(|f| format!("{block}/{f}"));
    assert_eq!(keys, [&want[0], &want[1], &want[2], &want[3], "wal/00000000"]);
    assert_eq!(sets[0].because, "1 block of Prometheus' database: 2 series, 5 samples by meta.json");
    sets[0].clone()
}

/// A shell script in place of promtool.
#[cfg(unix)]
fn fake(folder: &Path, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("promtool");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[cfg(unix)]
#[test]
fn blocks_are_read_through_promtool_from_a_folder_that_it_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let set = database(folder.path());
    // It checks what promtool asks of a database, and answers with a dump.
    let promtool = fake(
        folder.path(),
        &format!(
            "set -e\n[ \"$1 $2\" = 'tsdb dump' ]\nb=\"$3/01M8M9ACQ985C1MEJGX8PPWZKQ\"\n[ -d \"$b\" ] && [ ! -L \"$b\" ] && [ -d \"$b/chunks\" ]\n\
             [ -f \"$b/meta.json\" ] && [ -f \"$b/index\" ] && [ -f \"$b/chunks/000001\" ] && [ -d \"$3/wal\" ]\n\
             [ -f \"$3/wal/00000000\" ] && [ ! -L \"$3/wal/00000000\" ]\ncat <<'END'\n{DUMPED}END"
        ),
    );
    let captures = through(&set, Some(&promtool), PATIENCE).unwrap();
    assert_eq!(captures[0].series.len(), 2);
    assert_eq!(captures[0].layout, "tsdb");
    assert_eq!(codes(&captures[0]), [("nan_or_stale", 1, "promtool tsdb dump:4".into())]);
    assert_eq!(std::fs::read(folder.path().join("data/01M8M9ACQ985C1MEJGX8PPWZKQ/index")).unwrap(), b"\0index");
}

#[cfg(unix)]
#[test]
fn failures_of_promtool_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let set = database(folder.path());
    let refused = fake(folder.path(), "echo 'opening db: no wal' >&2\nexit 3");
    let error = through(&set, Some(&refused), PATIENCE).unwrap_err().to_string();
    assert!(error.contains("opening db: no wal") && error.contains('3'), "{error}");

    let half = fake(folder.path(), "echo '{__name__=\"x\"} 1 1795976926574'\necho 'bad chunk' >&2\nexit 1");
    let captures = through(&set, Some(&half), PATIENCE).unwrap();
    assert_eq!(captures[0].samples.len(0), 1);
    let codes: Vec<&str> = captures[0].notes.iter().map(|n| n.code).collect();
    assert_eq!(codes, ["promtool_failed", "fewer_samples"]);

    let begun = Instant::now();
    let silent = fake(folder.path(), "echo '{__name__=\"x\"} 1 1795976926574'\nexec sleep 60");
    let captures = through(&set, Some(&silent), Duration::from_millis(700)).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(captures[0].samples.len(0), 1);
    assert!(captures[0].notes.iter().any(|n| n.code == "truncated" && n.what.contains("was stopped")), "{:?}", captures[0].notes);
}

#[test]
fn without_promtool_the_next_step_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let set = database(folder.path());
    let error = through(&set, None, PATIENCE).unwrap_err();
    assert!(matches!(&error, ReadError::Declined { next, .. } if next.contains("promtool tsdb dump")), "{error}");
}

#[test]
fn promtool_is_looked_for_on_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("promtool{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::join_paths([folder.path().join("none"), folder.path().to_path_buf()]).unwrap();
    assert_eq!(run::find(Some(&path)), None);
    std::fs::write(folder.path().join(&name), "").unwrap();
    assert_eq!(run::find(Some(&path)), Some(folder.path().join(&name)));
    assert_eq!(run::find(None), None);
}

#[test]
fn other_json_of_that_name_is_no_block() {
    assert!(blocks::meta(br#"{"ulid":"x","minTime":1,"maxTime":2,"stats":{},"version":1}"#).is_none());
    assert!(blocks::meta(br#"{"name":"run"}"#).is_none());
}

#[cfg(unix)]
#[test]
fn the_block_of_the_cases_gives_what_it_counts() {
    let Some(folder) = crate::cases::cases("metrics/prometheus") else { return };
    let block = "tsdb_snapshot/01M8M9ACQ985C1MEJGX8PPWZKQ";
    let keys = ["chunks/000001", "index", "meta.json", "tombstones"].map(|f| format!("{block}/{f}"));
    let candidates: Vec<Candidate> = keys.iter().map(|key| look(&folder.join(key), key)).collect();
    let sets = blocks::claim(&candidates);
    assert_eq!(sets[0].because, "1 block of Prometheus' database: 426 series, 112959 samples by meta.json");
    let out = tempfile::tempdir().unwrap();
    // What promtool 2.42 printed of this block was kept.
    let promtool = fake(out.path(), &format!("exec gzip -dc '{}'", folder.join("promtool_tsdb_dump.txt.gz").display()));
    let capture = through(&sets[0], Some(&promtool), PATIENCE).unwrap().remove(0);
    let samples: u64 = (0..capture.series.len()).map(|i| capture.samples.len(u32::try_from(i).unwrap())).sum();
    assert_eq!((capture.series.len(), samples), (426, 112_959));
    assert_eq!(codes(&capture), [("nan_or_stale", 502, capture.notes[0].first.clone().unwrap())]);
    println!("read 426 series, 112,959 samples");
}
