//! Timelines, incident notes, pages of reports and exports: as they were read once and found good (`tests/notes/`), against what is known to have happened in captures of shared/cases,
//! and with log text that tries to leave its cell.
//!
//! `CORR_BLESS=1 cargo test --test notes` rewrites the files of `tests/notes`.

#[path = "notes/captures.rs"]
mod captures;
#[path = "notes/exports/mod.rs"]
mod exports;
#[path = "notes/flags.rs"]
mod flags;
#[path = "notes/gfm.rs"]
mod gfm;
#[path = "notes/hostile.rs"]
mod hostile;
#[path = "notes/marks.rs"]
mod marks;
#[path = "notes/page.rs"]
mod page;
mod program;
#[path = "notes/refresh.rs"]
mod refresh;

use std::path::Path;

use program::Place;

/// Compares with a file of `tests/notes`.
fn golden(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/notes").join(name);
    if std::env::var_os("CORR_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, got).expect("write the golden file");
        return;
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    if want != got {
        let differs: Vec<String> = want
            .lines()
            .map(Some)
            .chain(std::iter::repeat(None))
            .zip(got.lines())
            .filter(|(want, got)| *want != Some(*got))
            .take(5)
            .map(|(want, got)| format!("- {}\n+ {got}", want.unwrap_or("(nothing)")))
            .collect();
        panic!("{name} differs ({} lines, now {}):\n{}", want.lines().count(), got.lines().count(), differs.join("\n"));
    }
}

#[test]
fn timelines_and_notes_of_the_fixtures_are_as_they_were_read() {
    for run in ["sglang-run", "direct-run", "restart-run"] {
        let place = Place::with(run);
        let timeline = place.corr(&["timeline", run]);
        assert_eq!(timeline.code, Some(0), "{}", timeline.stderr);
        golden(&format!("{run}.timeline.txt"), &timeline.stdout);
        let note = place.corr(&["note", "incident.md", run, "--limit", "40"]);
        assert_eq!(note.code, Some(0), "{}", note.stderr);
        let text = std::fs::read_to_string(place.path("incident.md")).expect("the note");
        golden(&format!("{run}.note.md"), &text);
        gfm::whole(&text);
        let slack = place.corr(&["note", "incident.md", run, "--stdout", "--format", "slack"]);
        assert_eq!(slack.code, Some(0), "{}", slack.stderr);
        golden(&format!("{run}.slack.txt"), &slack.stdout);
    }
}

/// What the other formats say is the same.
#[test]
fn formats_agree() {
    let place = Place::with("sglang-run");
    let json: serde_json::Value = serde_json::from_str(&place.corr(&["timeline", "sglang-run", "--format", "json"]).stdout).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(json["schema"], "corr.timeline.v1");
    let lines = place.corr(&["timeline", "sglang-run", "--format", "jsonl"]).stdout;
    let lines: Vec<serde_json::Value> = lines.lines().map(|l| serde_json::from_str(l).expect("a line of JSON")).collect();
    assert_eq!(lines.split_last().map(|(last, rows)| (last["type"].clone(), rows.to_vec())), Some(("summary".into(), rows.clone())));
    let csv = place.corr(&["timeline", "sglang-run", "--format", "csv"]).stdout;
    assert!(csv.lines().count() > rows.len(), "a row has a line or more");
    let markdown = place.corr(&["timeline", "sglang-run", "--format", "markdown"]).stdout;
    assert_eq!(gfm::tables(&markdown), [(rows.len() + 1, 5)]);
    let events: u64 = rows.iter().map(|r| r["count"].as_u64().expect("a count")).sum();
    assert_eq!(Some(events), json["summary"]["events"].as_u64(), "each event is in one row");
    // 81 records are in the fixture: 9 + 2 + 50 + 20, of which `corr query` counts the same.
    assert_eq!(events, 81);
    let all = place.corr(&["timeline", "sglang-run", "--all", "--limit", "0", "--format", "jsonl"]).stdout;
    let (marks, events): (Vec<&str>, Vec<&str>) = all.lines().partition(|l| l.starts_with("{\"type\":\"mark\""));
    assert_eq!(events.len(), 82, "the events, and the summary");
    assert_eq!(Some(marks.len() as u64), json["summary"]["marks"].as_u64());
    // Every row is opened by its citation.
    for row in rows {
        let cite = row["cite"].as_str().expect("a citation");
        let shown = place.corr(&["show", cite, "--format", "json"]);
        assert_eq!(shown.code, Some(0), "{cite}: {}", shown.stderr);
    }
}

#[test]
fn windows_and_ids_choose_the_events() {
    let place = Place::with("sglang-run");
    let kinds = |args: &[&str]| -> Vec<String> {
        let ran = place.corr(&[&["timeline", "sglang-run", "--format", "jsonl"], args].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let rows = ran.stdout.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).expect("JSON"));
        rows.filter(|r| r["type"] == "row").map(|r| r["first"]["kind"].as_str().expect("a kind").to_string()).collect()
    };
    // `grep -n warm-p0 logs/server.log`: lines 45, 46, 49.
    assert_eq!(kinds(&["--request", "warm-p0"]), ["request_received", "hicache_prefetch", "request_finished"]);
    assert_eq!(kinds(&["kind:exception"]), ["exception"]);
    // The second has the 9 records of crash.log and no other.
    let around = place.corr(&["timeline", "sglang-run", "--around", "sglang-run/logs/crash.log:7", "--span", "1s", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&around.stdout).expect("JSON");
    assert_eq!(json["summary"]["events"], 9);
    // `zcat artifacts/*.gz | grep -c sess-000`: 4 requests, which the router's and the workers' logs name by their ids alone.
    let place = Place::with("direct-run");
    let ran = place.corr(&["timeline", "direct-run", "--session", "sess-000", "--all", "--format", "jsonl"]);
    for kind in ["request_end", "request_received", "worker_request_received", "worker_selected", "request_completed"] {
        assert_eq!(ran.stdout.matches(&format!("\"kind\":\"{kind}\"")).count(), 4, "{kind}: {}", ran.stderr);
    }
    let place = Place::with("sglang-run");
    for args in [["--session", "nobody"], ["--request", "nothing"]] {
        let ran = place.corr(&[&["timeline", "sglang-run"], args.as_slice()].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("no record bears"), "{}", ran.stderr);
    }
}

#[test]
fn samples_stand_beside_the_rows() {
    let place = Place::with("metrics-run");
    let selector = "sglang:token_usage{tp_rank=\"0\"}";
    let args = ["metrics-run", "kind:decode_batch", "--around", "metrics-run/logs/worker-0.log:10", "--span", "1ms", "--metrics", selector];
    // The scrapes of `raw_prometheus.jsonl` around the second of each line: 42.87 has 0.4557, 43.87 0.4824, 45.87 0.5444 (by jq).
    let each = place.corr(&[&["timeline", "--all"], args.as_slice()].concat());
    assert_eq!(each.code, Some(0), "{}", each.stderr);
    assert!(each.stdout.contains("0.4824 (0.131203 s before), 0.5444 (0.868794 s after)"), "{}", each.stdout);
    // One row for the three lines of 43, 44 and 45: the sample before the first and the one after the last.
    let folded = place.corr(&[&["timeline"], args.as_slice()].concat());
    assert!(folded.stdout.contains("decode_batch (worker-0) 3 lines"), "{}", folded.stdout);
    assert!(folded.stdout.contains(" 0.4557 (0.127228 s before), "), "{}", folded.stdout);
    assert_eq!(folded.stdout.matches(" after)").count(), 1, "{}", folded.stdout);
    let note = place.corr(&[&["note", "n.md"], args.as_slice(), &["--stdout"]].concat());
    assert!(note.stdout.contains("| evidence | metrics |"), "{}", note.stdout);
    gfm::whole(&note.stdout);
}
