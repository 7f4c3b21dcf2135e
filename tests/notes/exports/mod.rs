//! Exports of the fixtures as they were read once (`golden/`), against the formats that they claim to be, against the raw bytes, and with hostile text.

mod grafana;
mod mermaid;
mod otlp;
mod perfetto;
mod rows;

use serde_json::Value;

use crate::golden;
use crate::program::{Place, Ran};

/// Runs an export that must succeed.
pub fn export(place: &Place, args: &[&str]) -> Ran {
    let ran = place.corr(&[&["export"], args].concat());
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    ran
}

/// Holds a text something that a terminal or a reader would act on: controls but for line ends and tabs, bidirectional controls, invisible characters.
pub fn unsafe_here(text: &str) -> bool {
    let hidden = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}' | '\u{2028}');
    text.chars().any(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || hidden(c))
}

/// Golden files: readable in a diff, one event a line or JSON indented.
#[test]
fn exports_of_the_fixtures_are_as_they_were_read() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("direct-run", &["perfetto", "direct-run", "--request", "edf9ed01-3219-4585-a510-233214f462c1"], "direct-run.perfetto.json"),
        ("direct-run", &["otlp", "direct-run", "--session", "sess-005"], "direct-run.otlp.json"),
        (
            "sglang-run",
            &["perfetto", "sglang-run", "kind:request_received OR kind:request_finished OR kind:hicache_*"],
            "sglang-run.perfetto.json",
        ),
        ("sglang-run", &["otlp", "sglang-run"], "sglang-run.otlp.json"),
        ("sglang-run", &["csv", "sglang-run", "kind:hicache_* OR kind:exception OR kind:request_*"], "sglang-run.csv"),
        (
            "metrics-run",
            &["perfetto", "metrics-run", "--metrics", "sglang:token_usage,sglang:time_to_first_token_seconds_count"],
            "metrics-run.perfetto.json",
        ),
        ("metrics-run", &["grafana", "metrics-run"], "metrics-run.grafana.json"),
        ("restart-run", &["mermaid", "restart-run", "--tz", "UTC"], "restart-run.mermaid.md"),
        ("restart-run", &["markdown", "restart-run", "kind:server_ready OR kind:sigterm OR kind:server_args"], "restart-run.markdown.md"),
    ];
    for (fixture, args, name) in cases {
        let place = Place::with(fixture);
        let text = export(&place, args).stdout;
        let text = if args[0] == "otlp" { indented(&text) } else { text };
        golden(&format!("exports/golden/{name}"), &text);
    }
}

/// Each line of JSON, indented: a line is a whole trace.
fn indented(lines: &str) -> String {
    let one = |line: &str| serde_json::to_string_pretty(&serde_json::from_str::<Value>(line).expect("JSON")).expect("JSON") + "\n";
    lines.lines().map(one).collect()
}

/// A file is replaced if it is such an export, and nothing else is; an export in the run is none of its sources.
#[test]
fn only_an_export_is_replaced() {
    let place = Place::with("sglang-run");
    let args = ["perfetto", "sglang-run", "-o", "sglang-run/trace.json"];
    assert!(export(&place, &args).stdout.is_empty());
    let first = std::fs::read(place.path("sglang-run/trace.json")).expect("the export");
    export(&place, &args);
    assert_eq!(std::fs::read(place.path("sglang-run/trace.json")).expect("the export"), first, "the export itself is none of its sources");
    let log = std::fs::read(place.path("sglang-run/logs/server.log")).expect("a log");
    let over = place.corr(&["export", "perfetto", "sglang-run", "-o", "sglang-run/logs/server.log"]);
    assert_eq!(over.code, Some(2), "{}", over.stderr);
    assert!(over.stderr.contains("--force"), "{}", over.stderr);
    assert_eq!(std::fs::read(place.path("sglang-run/logs/server.log")).expect("a log"), log);
    let nothing = place.corr(&["export", "otlp", "sglang-run", "--session", "nobody", "-o", "none.jsonl"]);
    assert_eq!(nothing.code, Some(1), "{}", nothing.stderr);
    assert!(!place.path("none.jsonl").exists(), "nothing was written");
    assert_eq!(
        std::fs::read_dir(place.path(""))
            .expect("the place")
            .filter(|e| e.as_ref().is_ok_and(|e| e.file_name().to_string_lossy().starts_with(".corr-")))
            .count(),
        0
    );
}

/// A link stays a link, a mode stays, and what is no file is left alone.
#[cfg(unix)]
#[test]
fn an_export_keeps_what_its_place_is() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::with("sglang-run");
    std::fs::create_dir(place.path("kept")).expect("a directory");
    symlink("kept/real.json", place.path("trace.json")).expect("a link");
    let args = ["perfetto", "sglang-run", "kind:exception", "-o", "trace.json"];
    export(&place, &args);
    std::fs::set_permissions(place.path("kept/real.json"), std::fs::Permissions::from_mode(0o640)).expect("a mode");
    export(&place, &args);
    assert!(std::fs::symlink_metadata(place.path("trace.json")).expect("the link").is_symlink());
    assert_eq!(std::fs::metadata(place.path("kept/real.json")).expect("the export").permissions().mode() & 0o777, 0o640);
    let over = place.corr(&["export", "perfetto", "sglang-run", "-o", "kept", "--force"]);
    assert!(over.code == Some(2) && over.stderr.contains("no regular file"), "{}", over.stderr);
    for file in ["kept", "/dev/null"] {
        let page = place.corr(&["report", "sglang-run", "-o", file]);
        assert!(page.code == Some(2) && page.stderr.contains("no regular file"), "{}", page.stderr);
    }
}

/// What a format cannot take into account is no answer that looks as if it had been.
#[test]
fn flags_without_a_use_are_refused() {
    let place = Place::with("metrics-run");
    let refused: &[&[&str]] = &[
        &["grafana", "metrics-run", "--since", "start+1s"],
        &["grafana", "metrics-run", "kind:decode_batch"],
        &["mermaid", "metrics-run", "--request", "a"],
        &["otlp", "metrics-run", "--metrics", "sglang:token_usage"],
        &["perfetto", "metrics-run", "--limit", "5"],
    ];
    for args in refused {
        let ran = place.corr(&[&["export"], *args].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.contains("has no use for"), "{}", ran.stderr);
    }
}
