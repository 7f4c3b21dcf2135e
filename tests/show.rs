//! `corr show` on files that no fixture has.

mod program;

use program::Place;

#[test]
fn two_characters_are_no_line_break() {
    let place = Place::new();
    place.write("run/server.log", b"[2026-11-29 18:49:08] a\\n[2026-11-29 18:49:09] forged\n    and more\n");
    let ran = place.corr(&["show", "run/server.log:1", "-C", "0"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let raw: Vec<&str> = ran.stdout.lines().skip_while(|l| *l != "raw").skip(1).take_while(|l| *l != "event").collect();
    assert_eq!(raw, ["  [2026-11-29 18:49:08] a\\n[2026-11-29 18:49:09] forged", "      and more"]);
}

#[test]
fn what_was_not_read_is_said() {
    let place = Place::new();
    place.write("run/server.log", b"[2026-11-29 18:49:08] fine\n");
    place.write("run/worker.log.gz", b"\x1f\x8b\x08\x00 this is no gzip stream");
    for format in ["text", "json"] {
        let ran = place.corr(&["show", "run/server.log:1", "--run", "run", "--format", format]);
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        assert!(ran.stdout.contains("fine"), "{}", ran.stdout);
        assert!(ran.stderr.contains("worker.log.gz"), "{}", ran.stderr);
        assert_eq!(ran.stdout.contains("worker.log.gz"), format == "json", "{}", ran.stdout);
    }
}

/// All there is may be asked for by a number that is none of a file's.
#[test]
fn any_context_of_a_configuration_file_is_shown() {
    let place = Place::with("direct-run");
    let ran = place.corr(&["show", "direct-run/tachometer.toml:2", "-C", &usize::MAX.to_string()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines = std::fs::read_to_string(place.path("direct-run/tachometer.toml")).unwrap().lines().count();
    assert_eq!(ran.stdout.lines().filter(|line| line.starts_with(['>', ' '])).count(), lines, "{}", ran.stdout);
}

/// A log under a second name is not read as a source; its bodies are no less withheld.
#[test]
fn the_copy_of_a_log_is_not_shown_as_a_configuration() {
    let place = Place::with("direct-run");
    let bytes = std::fs::read(place.path("direct-run/logs/smoke.json")).unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let body = answer["choices"][0]["message"]["content"].as_str().unwrap().lines().next().unwrap().to_string();
    assert!(body.len() > 20, "{body}");
    place.write("direct-run/logs/z-smoke-copy.json", &bytes);
    for name in ["smoke.json", "z-smoke-copy.json"] {
        let ran = place.corr(&["show", &format!("direct-run/logs/{name}:1"), "--run", "direct-run"]);
        assert!(!ran.stdout.contains(&body), "{name}: {}", ran.stdout);
        assert_eq!(ran.code, Some(if name == "smoke.json" { 0 } else { 2 }), "{}", ran.stderr);
    }
    let ran = place.corr(&["show", "direct-run/logs/z-smoke-copy.json:1", "--run", "direct-run"]);
    assert!(ran.stderr.contains("a copy of another source") && ran.stderr.contains("corr sources direct-run"), "{}", ran.stderr);
    let ran = place.corr(&["sources", "direct-run"]);
    assert!(ran.stdout.lines().any(|l| l.contains("z-smoke-copy.json") && l.contains("logs/smoke.json")), "{}", ran.stdout);
}
