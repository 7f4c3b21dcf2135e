//! On the fixtures. Times of the real run are those that its driver wrote down; journals are as their entries were composed.

use serde_json::Value;

use crate::program::Place;
use crate::support::{bounds, holds, lasts, ready, runs, traps, unit};

/// What the driver of the run in `restart-run` did and saw, UTC seconds: exec, first good poll, stop or kill, exit.
const LIVES: [[f64; 4]; 3] = [
    [1795979600.182, 1795979609.470, 1795979613.242, 1795979619.023],
    [1795979619.102, 1795979626.899, 1795979628.141, 1795979628.166],
    [1795979628.255, 1795979637.983, 1795979639.540, 1795979642.104],
];

fn ns(seconds: f64) -> i64 {
    (seconds * 1e3).round() as i64 * 1_000_000
}

#[test]
fn three_lives_of_a_server() {
    let place = Place::with("restart-run");
    let (answer, ran) = ready(&place, &["restart-run", "--tz", "UTC"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(answer["schema"], "corr.ready.v1");
    let runs = runs(&answer, "server");
    assert_eq!(runs.len(), 3);
    for (run, [exec, healthy, told, exited]) in runs.iter().zip(LIVES) {
        let instants = &run["instants"];
        assert!(holds(&instants["started"], ns(exec)), "{instants:#}");
        assert!(holds(&instants["ended"], ns(exited)), "{instants:#}");
        let (after, by) = bounds(&instants["ready"]);
        assert_eq!(instants["ready"]["known"], "exact");
        assert!(after.unwrap() <= ns(healthy) && by.unwrap() > ns(exec), "{instants:#}");
        // The second one was killed: nobody asked it.
        if run["number"] != 2 {
            assert!(holds(&instants["asked"], ns(told)), "{instants:#}");
        }
    }
    let verdicts: Vec<&str> = runs.iter().map(|run| run["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts[..2], ["ready_then_stopped", "ready_then_died"]);
    assert_eq!(runs[1]["cause"], serde_json::json!({"cause": "started_again", "after": "asked"}));
    assert_eq!(runs[2]["cause"], serde_json::json!({"cause": "started_again", "after": "silent"}));
    // From one exit to the next exec.
    for (run, [before, after]) in runs[1..].iter().zip([[LIVES[0][3], LIVES[1][0]], [LIVES[1][3], LIVES[2][0]]]) {
        assert!(lasts(&run["outage"]["end_to_start"], after - before), "{:#}", run["outage"]);
    }
    let seen = &answer["seen_from_outside"][0];
    assert_eq!((seen["what"].as_str(), seen["unit"].as_str(), seen["rows"].as_u64()), (Some("polls"), Some("server"), Some(20)));
}

/// Every place that is named is the record that says so.
#[test]
fn places_are_the_lines_that_say_so() {
    let place = Place::with("restart-run");
    let (answer, _) = ready(&place, &["restart-run", "--tz", "UTC"]);
    let log = std::fs::read_to_string(place.path("restart-run/server.log")).unwrap();
    let lines: Vec<(usize, &str)> = log.lines().enumerate().filter(|(_, line)| line.contains("fired up")).collect();
    assert_eq!(lines.len(), 3);
    for (run, (at, line)) in runs(&answer, "server").iter().zip(lines) {
        let mark = &run["instants"]["ready"]["mark"];
        assert_eq!(mark["cite"]["place"], format!("restart-run/server.log:{}", at + 1));
        let offset = mark["cite"]["offset"].as_u64().unwrap() as usize;
        assert!(log[offset..].starts_with(line));
        let shown = place.corr(&["show", mark["cite"]["place"].as_str().unwrap()]);
        assert!(shown.code == Some(0) && shown.stdout.contains("server_ready"), "{}", shown.stdout);
    }
}

/// Without the log a poll log gives intervals; each holds the ready line. The kill fell between two polls that are ten seconds apart: no poll
/// noticed.
#[test]
fn polls_alone_are_intervals() {
    let place = Place::with("restart-run");
    let (with, _) = ready(&place, &["restart-run", "--tz", "UTC"]);
    std::fs::remove_file(place.path("restart-run/server.log")).unwrap();
    let (answer, ran) = ready(&place, &["restart-run"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let polled = runs(&answer, "server");
    assert_eq!(polled.len(), 2);
    for (polled, logged) in polled.iter().zip(runs(&with, "server")) {
        assert_eq!(polled["instants"]["ready"]["known"], "within");
        assert_eq!(polled["instants"]["loaded"]["known"], "unknown");
        let ((after, by), (line, line_end)) = (bounds(&polled["instants"]["ready"]), bounds(&logged["instants"]["ready"]));
        assert!(after.unwrap() < line_end.unwrap() && line.unwrap() < by.unwrap());
    }
    let ran = place.corr(&["ready", "restart-run"]);
    assert!(ran.stdout.contains("no log of it is here: seen from outside only"), "{}", ran.stdout);
}

/// A URL that differs in each poll is one server: none of 6,000 polls is lost, and its end is seen after more than there are targets.
#[test]
fn polls_with_urls_of_their_own_are_of_one_server() {
    let place = Place::new();
    let began = 1_795_979_600;
    // One a second; from the 5,001st on nobody answers.
    let row = |at: usize| {
        let outcome = if at < 5_000 { "\"status\": 200" } else { "\"error\": \"ClientConnectorError\"" };
        format!("{{\"t_start\": {0}.0, \"t_end\": {0}.0, {outcome}, \"url\": \"http://127.0.0.1:30000/health?t={at}\"}}\n", began + at)
    };
    place.write("run/health.jsonl", (0..6_000).map(row).collect::<String>().as_bytes());
    let (answer, ran) = ready(&place, &["run"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let seen = answer["seen_from_outside"].as_array().unwrap();
    assert_eq!(seen.len(), 1, "{seen:#?}");
    assert_eq!((&seen[0]["target"], &seen[0]["rows"]), (&"http://127.0.0.1:30000".into(), &6_000.into()));
    let runs = runs(&answer, "http://127.0.0.1:30000");
    assert_eq!(runs.len(), 1);
    // Between the last poll that was answered and the first that was not.
    let second = |number: usize| (began + number) as i64 * 1_000_000_000;
    let (after, by) = bounds(&runs[0]["instants"]["ended"]);
    assert!(after.unwrap() >= second(4_999) && by.unwrap() <= second(5_001), "{:#}", runs[0]["instants"]["ended"]);
}

/// What is not told apart is told.
#[test]
fn targets_that_are_too_many_are_told() {
    let place = Place::new();
    let row = |at: usize| format!("{{\"t_start\": 1795979600.0, \"t_end\": 1795979600.0, \"status\": 200, \"target\": \"s{at}\"}}\n");
    place.write("run/health.jsonl", (0..4_099).map(row).collect::<String>().as_bytes());
    let ran = place.corr(&["ready", "run", "--unit", "s7"]);
    assert!(
        ran.stdout.contains("3 polls in run/health.jsonl: no unit, left out: the source names more than 4096 targets"),
        "{}",
        ran.stdout
    );
}

#[test]
fn claims_and_their_exit_codes() {
    let place = Place::with("restart-run");
    let code = |args: &[&str]| {
        let mut all = vec!["ready", "restart-run", "--tz", "UTC"];
        all.extend(args);
        place.corr(&all)
    };
    // By the driver's table the slowest start took 9.8 s, and the server was away 9.8 s at most from kill to ready.
    for (args, want) in [
        // When the first one was started is known from above only.
        (&["--within", "60s"][..], 4),
        (&["--since", "2026-11-29T19:13:38Z", "--within", "60s"], 0),
        (&["--within", "2s"], 1),
        (&["--outage-max", "60s"], 0),
        (&["--outage-max", "2s"], 1),
        (&["--no-restarts"], 1),
        (&["--within", "60s", "--outage-max", "60s"], 4),
        (&["--outage-max", "60s", "--no-restarts"], 1),
        (&["--within", "soon"], 2),
        (&["--unit", "server", "--outage-max", "60s"], 0),
        // The first run's start is in no window from there on: a claim about later ones holds.
        (&["--since", "2026-11-29T19:13:55Z", "--no-restarts"], 0),
        (&["--until", "2026-11-29T19:00:00Z"], 1),
    ] {
        let ran = code(args);
        assert_eq!(ran.code, Some(want), "{args:?}\n{}\n{}", ran.stdout, ran.stderr);
    }
    let ran = code(&["--within", "2s"]);
    assert!(ran.stdout.contains("DOES NOT HOLD") && ran.stderr.contains("server --within 2s"), "{}", ran.stderr);
}

#[test]
fn the_picture_marks_phases() {
    let place = Place::with("restart-run");
    let ran = place.corr(&["ready", "restart-run", "--tz", "UTC"]);
    let bars: Vec<&str> = ran.stdout.lines().filter(|line| line.trim_start().starts_with('#') && line.ends_with('|')).collect();
    assert_eq!(bars.len(), 3, "{}", ran.stdout);
    for bar in &bars {
        assert!(bar.contains('R') && bar.contains('█'), "{bar}");
    }
    // One after the other, on one axis.
    let ready: Vec<usize> = bars.iter().map(|bar| bar.chars().position(|c| c == 'R').unwrap()).collect();
    assert!(ready.is_sorted() && ready[0] < ready[1] && ready[1] < ready[2], "{bars:?}");
    assert!(bars[1].contains('X') && !bars[0].contains('X'), "{bars:?}");
    assert!(ran.stdout.contains("R ready"), "{}", ran.stdout);
}

#[test]
fn every_format_says_the_same() {
    let place = Place::with("restart-run");
    let of = |format: &str| place.corr(&["ready", "restart-run", "--tz", "UTC", "--format", format]).stdout;
    let lines: Vec<Value> = of("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["run", "run", "run", "summary"]);
    let csv = of("csv");
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(csv.lines().count(), 4);
    let verdict = head.iter().position(|name| *name == "ready_known").unwrap();
    assert!(verdict > 0 && csv.lines().skip(1).all(|line| line.contains(",exact,")), "{csv}");
    let markdown = of("markdown");
    assert_eq!(markdown.lines().count(), 5, "{markdown}");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(markdown.lines().all(|line| columns(line) == 11), "{markdown}");
}

/// Named windows: what lies in them is what the log's own lines say.
#[test]
fn lives_are_named_windows() {
    let place = Place::with("restart-run");
    let ask = |window: &str| {
        let ran = place.corr(&[
            "query",
            "restart-run",
            "--tz",
            "UTC",
            "--window",
            window,
            "--limit",
            "0",
            "--format",
            "jsonl",
            "source:server.log",
        ]);
        assert_eq!(ran.code, Some(0), "{window}: {}", ran.stderr);
        let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.into_iter().filter(|line| line["type"] == "event").collect::<Vec<_>>()
    };
    let away = ask("outage:server#1");
    let kinds: Vec<&str> = away.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"server_args") && kinds.contains(&"weights_loaded") && kinds.contains(&"sigterm"), "{kinds:?}");
    let up = ask("ready:server#2");
    assert!(!up.is_empty() && up.iter().all(|event| event["kind"] == "access"), "{up:#?}");
    let ran = place.corr(&["query", "restart-run", "--window", "outage:server#9", "kind:access"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("outage:server#1"), "{}", ran.stderr);
}

#[test]
fn a_requested_restart_is_measured_on_the_monotonic_clock() {
    let place = Place::with("restart-journals");
    let (answer, ran) = ready(&place, &["restart-journals/requested.export"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let runs = runs(&answer, "sglang-prefill.service");
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1]["cause"], serde_json::json!({"cause": "requested_restart", "same_job": true}));
    for run in runs {
        assert!(lasts(&run["lengths"]["start_to_ready"], 11.49621), "{:#}", run["lengths"]);
        assert_eq!(run["lengths"]["start_to_ready"]["on"], "monotonic");
    }
    assert!(lasts(&runs[1]["outage"]["stopping_to_ready"], 14.4272), "{:#}", runs[1]["outage"]);
    assert!(lasts(&runs[1]["outage"]["end_to_ready"], 11.5263), "{:#}", runs[1]["outage"]);
    // The place of an entry is its first line.
    let text = std::fs::read_to_string(place.path("restart-journals/requested.export")).unwrap();
    let place_of = runs[1]["instants"]["ready"]["mark"]["cite"]["place"].as_str().unwrap();
    let line: usize = place_of.rsplit(':').next().unwrap().parse().unwrap();
    let entry: Vec<&str> = text.lines().skip(line - 1).take_while(|line| !line.is_empty()).collect();
    assert!(entry[0].starts_with("__CURSOR=") && entry.iter().any(|line| line.ends_with("ready to roll!")), "{entry:?}");
}

#[test]
fn a_stale_ready_line_is_none() {
    let place = Place::with("restart-journals");
    let file = "restart-journals/stale.short-precise";
    let (answer, _) = ready(&place, &[file]);
    let runs = runs(&answer, "sglang-prefill.service");
    assert_eq!(runs[1]["verdict"], "not_ready_yet");
    assert_eq!(runs[1]["instants"]["ready"]["known"], "never");
    assert!(traps(&runs[1]).contains(&"stale_ready_line"));
    let ran = place.corr(&["ready", file]);
    let line = ran.stdout.lines().find(|line| line.contains("stale ready line")).unwrap();
    assert!(line.contains("stale.short-precise:11"), "{line}");
    // Four seconds after its start the log ends: within two is wrong, within sixty cannot be known.
    assert_eq!(place.corr(&["ready", file, "--within", "2s"]).code, Some(1));
    let ran = place.corr(&["ready", file, "--within", "60s"]);
    assert!(ran.code == Some(4) && ran.stdout.contains("CANNOT BE KNOWN"), "{}", ran.stdout);
    // What cannot be known wins over what does not hold.
    assert_eq!(place.corr(&["ready", file, "--within", "60s", "--no-restarts"]).code, Some(4));
}

#[test]
fn a_crash_loop_is_counted() {
    let place = Place::with("restart-journals");
    let ran = place.corr(&["ready", "restart-journals/loop.json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("3 starts, 3 exits, 0 ready, gave up: exit-code"), "{}", ran.stdout);
    assert!(ran.stderr.contains("no run of it was ready"), "{}", ran.stderr);
    let (answer, _) = ready(&place, &["restart-journals/loop.json"]);
    let unit = unit(&answer, "sglang-decode.service");
    assert_eq!(unit["loops"][0]["starts"], 3);
    assert!(unit["invocations"].as_array().unwrap().iter().all(|run| run["verdict"] == "never_ready"));
    let ran = place.corr(&["ready", "restart-journals/loop.json", "--limit", "1"]);
    assert!(ran.stdout.contains("showing the last 1 of 3 runs; --limit 0 for all"), "{}", ran.stdout);
}

#[test]
fn two_units_are_told_apart() {
    let place = Place::with("restart-journals");
    let (answer, ran) = ready(&place, &["restart-journals/two-units.short"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let of = |unit: &str| bounds(&runs(&answer, unit)[1]["instants"]["ready"]);
    let (prefill, decode) = (of("sglang-prefill.service"), of("sglang-decode.service"));
    assert!(decode.1.unwrap() <= prefill.0.unwrap(), "{decode:?} {prefill:?}");
    let (answer, _) = ready(&place, &["restart-journals/two-units.short", "--unit", "sglang-decode"]);
    assert_eq!(answer["units"].as_array().unwrap().len(), 1);
    assert_eq!(answer["other_units"][0], "sglang-prefill.service");
}

#[test]
fn a_unit_that_is_not_there() {
    let place = Place::with("restart-journals");
    let ran = place.corr(&["ready", "restart-journals/requested.export", "--unit", "sglang-prefil.service"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("did you mean sglang-prefill.service?") && ran.stdout.is_empty(), "{}", ran.stderr);
    let ran = place.corr(&["ready", "restart-journals/requested.export", "--unit", "zzzzzzzzzzzz"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("there are sglang-prefill.service"), "{}", ran.stderr);
}

/// A journal without systemd's own lines and without a ready line: nothing is made up.
#[test]
fn a_journal_without_systemd_and_a_ready_line() {
    let place = Place::with("restart-journals");
    let text = std::fs::read_to_string(place.path("restart-journals/requested.export")).unwrap();
    let entries = text.split("\n\n").filter(|entry| !entry.contains("\n_PID=1\n") && !entry.contains("fired up"));
    let entries: Vec<&str> = entries.filter(|entry| !entry.contains("POST /generate")).collect();
    place.write("cut.export", (entries.join("\n\n") + "\n\n").as_bytes());
    let (answer, ran) = ready(&place, &["cut.export", "--unit", "sglang-prefill.service"]);
    assert!(matches!(ran.code, Some(1 | 4)), "{:?} {}", ran.code, ran.stderr);
    assert!(ran.stderr.contains("sglang-prefill.service: "), "{}", ran.stderr);
    let unit = unit(&answer, "sglang-prefill.service");
    let whats: Vec<&str> = unit["cannot_say"].as_array().unwrap().iter().map(|said| said["what"].as_str().unwrap()).collect();
    assert!(whats.contains(&"who started and stopped it, and with which result"), "{whats:?}");
    for run in unit["invocations"].as_array().unwrap() {
        assert!(matches!(run["instants"]["ready"]["known"].as_str(), Some("never" | "unknown")), "{run:#}");
        assert_ne!(run["instants"]["started"]["known"], "exact");
    }
    let ran = place.corr(&["ready", "cut.export", "--no-restarts"]);
    assert_eq!(ran.code, Some(1), "two invocation ids are a restart: {}", ran.stderr);
}

#[test]
fn what_holds_no_server() {
    let place = Place::new();
    place.write("notes.txt", b"nothing of a server\n");
    let ran = place.corr(&["ready", "notes.txt"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("no log of a server"), "{}", ran.stderr);
    place.write("empty.log", b"");
    assert_eq!(place.corr(&["ready", "empty.log"]).code, Some(2));
    assert_eq!(place.corr(&["ready", "nowhere"]).code, Some(2));
}

/// Standard input, and text that would move a terminal's cursor.
#[test]
fn from_standard_input_and_harmless() {
    let place = Place::with("restart-journals");
    let bytes = std::fs::read(place.path("restart-journals/requested.export")).unwrap();
    let ran = place.corr_with(&["ready", "-"], &bytes);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("sglang-prefill.service"), "{}", ran.stdout);
    let text = String::from_utf8(bytes).unwrap().replace("sglang-prefill.service", "sglang-\u{1b}[2Jx.service");
    let ran = place.corr_with(&["ready", "-"], text.as_bytes());
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{}", ran.stdout);
    assert!(ran.stdout.contains("sglang-\\x1b[2Jx.service"), "{}", ran.stdout);
}

/// An index makes no difference, and neither does the order of a journal's entries.
#[test]
fn with_an_index_and_newest_first() {
    let place = Place::with("restart-run");
    let args = ["ready", "restart-run", "--tz", "UTC", "--format", "json"];
    let plain = place.corr(&args).stdout;
    assert_eq!(place.corr(&["index", "restart-run"]).code, Some(0));
    assert_eq!(place.corr(&args).stdout, plain);
    let place = Place::with("restart-journals");
    let text = std::fs::read_to_string(place.path("restart-journals/requested.export")).unwrap();
    let mut entries: Vec<&str> = text.split("\n\n").filter(|entry| !entry.trim().is_empty()).collect();
    entries.reverse();
    place.write("reversed.export", (entries.join("\n\n") + "\n\n").as_bytes());
    let (forward, _) = ready(&place, &["restart-journals/requested.export"]);
    let (reversed, _) = ready(&place, &["reversed.export"]);
    let short = |answer: &Value| -> Vec<Value> {
        let runs = runs(answer, "sglang-prefill.service").iter();
        runs.map(|run| {
            serde_json::json!([
                run["verdict"],
                run["cause"],
                run["instants"]["ready"]["mark"]["wall"],
                run["lengths"]["start_to_ready"]["least"]
            ])
        })
        .collect()
    };
    assert_eq!(short(&forward), short(&reversed));
}

/// A load generator's measured window over a restart, and a gap in metrics that is one: `corr sources` says so.
#[test]
fn coverage_says_that_a_server_went_away() {
    let place = Place::with("restart-run");
    let said = |place: &Place, run: &str| place.corr(&["sources", run, "--tz", "UTC"]).stdout;
    assert!(!said(&place, "restart-run").contains("went away"), "nothing was measured");
    let row = |n: u32, from: i64, until: i64| {
        format!(
            "{{\"metadata\":{{\"session_num\":{n},\"benchmark_phase\":\"profiling\",\"request_start_ns\":{from},\"request_end_ns\":{until}}},\"metrics\":{{}},\"error\":null}}\n"
        )
    };
    let at = |seconds: f64| ns(seconds);
    // From before the first stop to before the kill.
    let rows = [row(0, at(1795979612.0), at(1795979612.5)), row(1, at(1795979627.1), at(1795979627.9))];
    place.write("restart-run/profile_export.jsonl", rows.concat().as_bytes());
    let text = said(&place, "restart-run");
    let notes: Vec<&str> = text.lines().filter(|line| line.contains("went away during the measured window")).collect();
    assert!(notes.len() == 1 && notes[0].contains("outage:server#1"), "{text}");
    let (answer, _) = ready(&place, &["restart-run", "--tz", "UTC"]);
    let seen = answer["seen_from_outside"].as_array().unwrap();
    let clients = seen.iter().find(|seen| seen["what"] == "clients").unwrap();
    assert_eq!((clients["unit"].as_str(), clients["rows"].as_u64()), (Some("server"), Some(2)));

    let place = Place::with("metrics-run");
    let text = said(&place, "metrics-run");
    assert!(text.contains("have a gap that is a restart, which no log here shows, of worker-0"), "{text}");
    // Its log goes on over the gap as if nothing had been: the scrapes' counters fell.
    let (answer, _) = ready(&place, &["metrics-run", "--tz", "UTC"]);
    assert!(traps(&runs(&answer, "worker-0")[0]).contains(&"restart_not_in_log"));
    assert_eq!(place.corr(&["ready", "metrics-run", "--tz", "UTC", "--no-restarts"]).code, Some(1));
}

/// Whoever takes `--window` takes the windows of lives.
#[test]
fn every_command_with_windows_knows_those_of_lives() {
    let place = Place::with("restart-run");
    let window = ["--window", "outage:server#1"];
    for command in [
        vec!["query", "restart-run", "kind:sigterm"],
        vec!["edges", "restart-run"],
        vec!["timeline", "restart-run"],
        vec!["diff", "restart-run", "restart-run"],
    ] {
        let ran = place.corr(&[&command[..], &window].concat());
        assert_eq!(ran.code, Some(0), "{command:?}: {}", ran.stderr);
    }
    place.write("note.md", b"");
    let ran = place.corr(&["note", "note.md", "restart-run", "--window", "outage:server#1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(std::fs::read_to_string(place.path("note.md")).unwrap().contains("SIGTERM"));
}

/// One outage, one answer: `ready`, `timeline` and the Mermaid chart give the same records, interval and length. By `grep -n` in server.log: the
/// SIGTERM of line 28 and the ready line 43; the last answer of the killed run, line 52, and the ready line 62; stamps are a second wide.
#[test]
fn an_outage_is_the_same_everywhere() {
    let place = Place::with("restart-run");
    let (answer, _) = ready(&place, &["restart-run", "--tz", "UTC"]);
    let text = place.corr(&["ready", "restart-run", "--tz", "UTC"]).stdout;
    let chart = place.corr(&["export", "mermaid", "restart-run", "--tz", "UTC"]).stdout;
    let told = place.corr(&["timeline", "restart-run", "--tz", "UTC", "--limit", "0", "--format", "json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    for (number, by, [first, last], [least, most]) in [(1, "stop", [28, 43], [11, 13]), (2, "answer", [52, 62], [7, 9])] {
        let name = format!("outage:server#{number}");
        let window = &runs(&answer, "server")[number]["outage"]["window"];
        let lines = [first, last].map(|line| format!("restart-run/server.log:{line}"));
        assert_eq!(window["by"], by, "{window:#}");
        assert_eq!([&window["since"]["cite"]["place"], &window["until"]["cite"]["place"]], [lines[0].as_str(), lines[1].as_str()]);
        let length = [window["length"]["least"].as_i64(), window["length"]["most"].as_i64()];
        assert_eq!(length, [Some(least * 1_000_000_000), Some(most * 1_000_000_000)], "{window:#}");
        let length = format!("{least}.000 to {most}.000 s (wall clock)");
        let mark = told["rows"].as_array().unwrap().iter().find(|row| row["says"].as_str().is_some_and(|says| says.starts_with(&name)));
        let mark = mark.unwrap_or_else(|| panic!("no mark {name}"));
        assert!(mark["cite"] == lines[0] && mark["says"].as_str().unwrap().ends_with(&length), "{mark:#}");
        assert_eq!(
            [&mark["from"]["start_ns"], &mark["to"]["end_ns"]],
            [&window["since"]["wall"][0], &window["until"]["wall"][1]],
            "{mark:#}"
        );
        let row = chart.lines().find(|line| line.contains(&format!("`{name}`"))).unwrap_or_else(|| panic!("{chart}"));
        assert!(row.contains(&length) && row.ends_with(&format!("| `{}` `{}` |", lines[0], lines[1])), "{row}");
        let line = text.lines().find(|line| line.contains(&format!("window {name} "))).unwrap_or_else(|| panic!("{text}"));
        assert!(line.contains(&format!("{length}  [{}, {}]", lines[0], lines[1])), "{line}");
    }
}

/// Its batches hold up to 43 requests, by `grep -o 'running-req: [0-9]*'`, and no line says that it is ready: that is not known, and not denied.
#[test]
fn a_server_that_works_is_not_called_unready() {
    let place = Place::with("metrics-run");
    let (answer, ran) = ready(&place, &["metrics-run", "--tz", "UTC"]);
    let run = &runs(&answer, "worker-0")[0];
    assert_eq!((run["verdict"].as_str(), run["instants"]["ready"]["known"].as_str()), (Some("worked_without_ready_line"), Some("unknown")));
    assert!(ran.code == Some(4) && ran.stderr.contains("cannot be known"), "{:?} {}", ran.code, ran.stderr);
}
