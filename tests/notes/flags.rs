//! What flags mean is the same for every command: windows that are none, commands that are printed to be given again, stores without their runs, files
//! that are replaced, flags that would do nothing.

use serde_json::Value;

use crate::page;
use crate::program::{Place, Ran, words};

/// A second log a day after the others: nothing covers a time together.
fn a_day_apart() -> Place {
    let place = Place::with("sglang-run");
    let log = std::fs::read_to_string(place.path("sglang-run/logs/server.log")).expect("a log");
    place.write("sglang-run/logs/later.log", log.replace("[2026-11-29", "[2026-11-30").as_bytes());
    place
}

#[test]
fn nothing_in_common_is_no_answer() {
    let place = a_day_apart();
    let commands: &[&[&str]] = &[
        &["edges", "sglang-run"],
        &["timeline", "sglang-run"],
        &["query", "sglang-run", "retract"],
        &["note", "n.md", "sglang-run"],
        &["report", "sglang-run", "-o", "r.html"],
        &["diff", "sglang-run", "sglang-run"],
        &["export", "csv", "sglang-run"],
        &["export", "jsonl", "sglang-run"],
        &["export", "perfetto", "sglang-run", "-o", "p.json"],
        &["export", "otlp", "sglang-run"],
        &["export", "mermaid", "sglang-run"],
    ];
    for command in commands {
        let ran = place.corr(&[*command, &["--window", "common"]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{command:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("cover no time together"), "{command:?}: {}", ran.stderr);
    }
    for file in ["n.md", "r.html", "p.json"] {
        assert!(!place.path(file).exists(), "{file}");
    }
    // Without the window there is an answer.
    assert_eq!(place.corr(&["edges", "sglang-run"]).code, Some(0));
}

/// Two logs of which one begins five seconds into the other and ends with it: the window is what both have.
#[test]
fn edges_take_what_all_sources_cover() {
    let place = Place::new();
    let log = std::fs::read_to_string(crate::program::fixtures().join("sglang-run/logs/server.log")).expect("a log");
    place.write("run/a.log", log.as_bytes());
    let later: String = log.split_inclusive('\n').filter(|l| l.starts_with("[2026-11-29 19:13:") && &l[18..20] >= "27").collect();
    place.write("run/b.log", later.as_bytes());
    let ran = place.corr(&["edges", "run", "--window", "common", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    // `date -ud '2026-11-29 19:13:27' +%s`; both end with the second 19:13:32.
    assert_eq!(
        (&json["window"]["since_ns"], &json["window"]["until_ns"]),
        (&1_795_979_607_000_000_000_i64.into(), &1_795_979_613_000_000_000_i64.into())
    );
    assert!(ran.stderr.contains("it begins with run/b.log"), "{}", ran.stderr);
}

/// The commands of a page.
fn commands_of(text: &str) -> Vec<String> {
    let page = page::read(text);
    let whole = page.id("reproduce").and_then(|foot| foot.named("pre").first().copied()).expect("commands");
    whole.text.lines().map(str::to_string).filter(|l| l.starts_with("corr ") && !l.contains("PATH:LINE")).collect()
}

/// A command line that is printed is one of corr's, and has an answer.
fn again(place: &Place, line: &str) -> Ran {
    let ran = place.corr(&words(line)[1..]);
    assert!(ran.code.is_some_and(|code| code != 2), "{line}: {:?} {}", ran.code, ran.stderr);
    ran
}

const READING: &[&str] = &["--also", "metrics-run", "--tz", "UTC", "--format-of", "sglang-run/logs/server.log=sglang", "--store", "kept"];

fn two_runs() -> Place {
    let place = Place::with("sglang-run");
    crate::program::copy_tree(&crate::program::fixtures().join("metrics-run"), &place.path("metrics-run"));
    place
}

#[test]
fn the_commands_of_a_page_give_it_again() {
    let place = two_runs();
    let args = ["report", "sglang-run", "-n", "7", "-o", "r.html", "--since", "2026-11-29T18:00:00Z"];
    let ran = place.corr(&[&args, READING].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = std::fs::read_to_string(place.path("r.html")).expect("the page");
    let lines = commands_of(&page);
    assert_eq!(lines.len(), 7, "{lines:?}");
    for line in &lines {
        for flag in ["metrics-run", "--tz UTC", "--format-of sglang-run/logs/server.log=sglang", "--store kept"] {
            assert!(line.contains(flag), "{flag}: {line}");
        }
        again(&place, line);
    }
    let report = lines.iter().find(|l| l.starts_with("corr report")).expect("its own command");
    assert!(report.contains(" --limit 7 "), "{report}");
    assert!(std::fs::read_to_string(place.path("r.html")).expect("the page") == page, "its own command gives the same bytes");
    // As many rows as a page has by itself need no flag, as many as a timeline has do.
    for (limit, said) in [("2000", false), ("100", true)] {
        let ran = place.corr(&["report", "sglang-run", "-n", limit, "-o", "other.html"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let lines = commands_of(&std::fs::read_to_string(place.path("other.html")).expect("the page"));
        assert_eq!(lines[0].contains(&format!("--limit {limit}")), said, "{}", lines[0]);
    }
}

#[test]
fn the_commands_of_a_note_say_how_the_run_was_read() {
    let place = two_runs();
    let ran = place.corr(&[&["note", "n.md", "sglang-run", "--limit", "12"], READING].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = std::fs::read_to_string(place.path("n.md")).expect("the note");
    let block = text.split("```sh\n").nth(1).and_then(|b| b.split("```").next()).expect("commands");
    let lines: Vec<&str> = block.lines().filter(|l| !l.contains("PATH:LINE")).collect();
    assert_eq!(lines.len(), 3, "{block}");
    for line in lines {
        for flag in ["--also metrics-run", "--tz UTC", "--format-of sglang-run/logs/server.log=sglang", "--store kept"] {
            assert!(line.contains(flag), "{flag}: {line}");
        }
        again(&place, line);
    }
    assert_eq!(std::fs::read_to_string(place.path("n.md")).expect("the note"), text);
}

/// Every figure of the verdicts has a command, which asks the same runs.
#[test]
fn the_commands_beside_figures_ask_the_same_runs() {
    let place = Place::with("metrics-run");
    crate::program::copy_tree(&crate::program::fixtures().join("direct-run"), &place.path("direct-run"));
    let ran = place.corr(&["edges", "direct-run", "--also", "metrics-run", "--tz", "UTC", "--explain", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut lines = Vec::new();
    reproduce(&serde_json::from_str(&ran.stdout).expect("JSON"), &mut lines);
    lines.sort();
    lines.dedup();
    assert!(lines.iter().any(|l| l.starts_with("corr metrics")) && lines.iter().any(|l| l.starts_with("corr query")), "{lines:?}");
    for line in &lines {
        assert!(line.contains("direct-run --also metrics-run --tz UTC"), "{line}");
        let ran = again(&place, line);
        assert_ne!(ran.code, Some(1), "{line}: {}", ran.stderr);
    }
}

fn reproduce(json: &Value, lines: &mut Vec<String>) {
    match json {
        Value::Object(members) => members.values().for_each(|value| reproduce(value, lines)),
        Value::Array(items) => items.iter().for_each(|value| reproduce(value, lines)),
        Value::String(text) if text.starts_with("corr ") => lines.push(text.clone()),
        _ => {}
    }
}

/// Fields of its records too: 15 decode batches and 9 prefill batches.
#[test]
fn a_store_without_its_run_has_the_fields_of_its_records() {
    let place = Place::with("metrics-run");
    assert_eq!(place.corr(&["index", "metrics-run", "--store", "moved", "--embed-text"]).code, Some(0));
    let asked = || place.corr(&["metrics", "metrics-run", "log:token_usage", "--rows", "--format", "csv", "--store", "moved"]);
    let before = asked();
    assert_eq!((before.code, before.stdout.lines().count()), (Some(0), 1 + 24), "{}", before.stderr);
    std::fs::rename(place.path("metrics-run"), place.path("gone")).expect("rename");
    assert_eq!(asked().stdout, before.stdout);
    // Captures of the store are not asked, which is said.
    let ran = place.corr(&["edges", "metrics-run", "--store", "moved"]);
    assert!(ran.stderr.contains("its metric captures are not asked"), "{}", ran.stderr);
}

/// A store that was moved with its text answers every command that reads records.
#[test]
fn a_store_without_its_run_is_asked_by_every_command() {
    let place = Place::with("restart-run");
    assert_eq!(place.corr(&["index", "restart-run", "--store", "moved", "--embed-text"]).code, Some(0));
    let asked = |args: &[&str]| place.corr(&[args, &["--store", "moved"]].concat());
    let same: &[&[&str]] = &[
        &["export", "csv", "restart-run", "kind:server_ready OR kind:sigterm", "--all"],
        &["timeline", "restart-run", "kind:server_ready", "--format", "csv"],
        &["ready", "restart-run", "--format", "csv"],
    ];
    let before: Vec<Ran> = same.iter().map(|args| asked(args)).collect();
    std::fs::rename(place.path("restart-run"), place.path("gone")).expect("rename");
    for (args, before) in same.iter().zip(&before) {
        let after = asked(args);
        assert_eq!((after.code, after.stdout.as_str()), (before.code, before.stdout.as_str()), "{args:?}: {}", after.stderr);
    }
    let others: &[&[&str]] = &[
        &["edges", "restart-run"],
        &["facts", "restart-run"],
        &["note", "n.md", "restart-run", "--stdout"],
        &["report", "restart-run", "-o", "-"],
        &["export", "jsonl", "restart-run"],
        &["export", "perfetto", "restart-run"],
        &["export", "mermaid", "restart-run"],
    ];
    for args in others {
        let ran = asked(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        assert!(!ran.stdout.is_empty() && ran.stderr.contains("the run is not there"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_run_of_the_note_alone_is_said() {
    let place = Place::new();
    place.write("only/n.log", b"[2026-11-29 18:30:40] a line\n");
    for args in [["note", "only/n.log", "only"].as_slice(), &["export", "csv", "only", "-o", "only/n.log", "--force"]] {
        let ran = place.corr(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("nothing is there but the file that is written"), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(std::fs::read(place.path("only/n.log")).expect("the file"), b"[2026-11-29 18:30:40] a line\n");
}

#[test]
fn flags_that_would_do_nothing_are_refused() {
    let place = Place::with("restart-run");
    let refused: &[&[&str]] = &[
        &["ready", "restart-run", "--require", "served"],
        &["ready", "restart-run", "--timeout", "1s"],
        &["ready", "restart-run", "--every", "1s"],
        &["ready", "--follow", "restart-run/server.log", "--limit", "3"],
        &["ready", "--follow", "restart-run/server.log", "--server", "a"],
        &["ready", "--follow", "restart-run/server.log", "--description", "a=b"],
        &["ready", "--follow", "restart-run/server.log", "--format-of", "a=sglang"],
        &["ready", "--follow", "restart-run/server.log", "--tz", "server.log=UTC"],
        &["timeline", "restart-run", "--span", "3s"],
        &["query", "restart-run", "--span", "3s"],
        &["note", "n.md", "restart-run", "--stdout", "--force"],
        &["sql", "restart-run", "SELECT 1", "--cluster", "df://127.0.0.1:1", "--tz", "UTC"],
        &["sql", "restart-run", "SELECT 1", "--cluster", "df://127.0.0.1:1", "--memory", "64MB"],
        &["sql", "restart-run", "SELECT 1", "--cluster", "df://127.0.0.1:1", "--store", "s"],
        &["sql", "restart-run", "SELECT 1", "--cluster", "df://127.0.0.1:1", "--format-of", "a=sglang"],
        &["export", "otlp", "restart-run", "--marks", "always"],
        &["export", "perfetto", "restart-run", "--marks", "never"],
        &["export", "mermaid", "restart-run", "--marks", "always"],
    ];
    for args in refused {
        let ran = place.corr(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {}", ran.stderr);
        let said = ["cannot be used with", "required arguments", "has no use for", "takes one zone"];
        assert!(said.iter().any(|said| ran.stderr.contains(said)), "{args:?}: {}", ran.stderr);
    }
}

/// A field of a log that is asked for covers what its log does: it neither counts again nor limits the window where its log does not.
#[test]
fn a_log_is_common_once() {
    let place = a_day_apart();
    // The two logs with more than a second of stamps.
    let text = "the 2 sources that were asked cover no time together";
    let ask = |more: &[&str]| {
        place.corr(&[&["query", "sglang-run/logs/server.log", "--also", "sglang-run/logs/later.log"], more].concat()).stderr
    };
    for more in [&["--window", "common"][..], &["--window", "common", "--metrics", "log:token_usage"]] {
        let said = ask(more);
        assert!(said.contains(text), "{more:?}: {said}");
    }
}

#[test]
fn commands_of_a_comparison_take_a_zone_west_of_utc() {
    let place = Place::with("sglang-run");
    let ran = place.corr(&["diff", "sglang-run", "sglang-run", "--tz=-03:00", "--format", "json"]);
    let json: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let text = json.to_string();
    assert!(text.contains(" --tz=-03:00") && !text.contains(" --tz -03:00"), "{text}");
}

#[test]
fn any_number_of_neighbours() {
    let place = Place::with("sglang-run");
    let all = usize::MAX.to_string();
    let ran = place.corr(&["query", "sglang-run/logs/crash.log", "kind:exception", "-B", &all, "-A", "1", "--format", "jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let both = place.corr(&["query", "sglang-run/logs/crash.log", "kind:exception", "-C", &all, "--format", "jsonl"]);
    assert!(both.code == Some(0) && both.stdout.lines().count() >= ran.stdout.lines().count(), "{}", both.stderr);
    // More than the hit itself.
    assert!(ran.stdout.lines().count() > 1, "{}", ran.stdout);
}
