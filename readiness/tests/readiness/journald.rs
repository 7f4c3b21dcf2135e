//! Every journald case and every reference window, from each of its renderings.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{bytes, cases, observations};
use corr_readiness::convert::Owner;
use corr_readiness::history::{Cause, Invocation, Opened, Point, TrapKind, UnitHistory, Verdict};
use corr_readiness::time::{Length, Measured};
use corr_readiness::{History, Instant, Machine, Mark, Options};
use serde_json::Value;

/// What a comparison found.
#[derive(Default)]
struct Found {
    /// Facts of the reference that hold.
    same: usize,
    /// Facts that this rendering lost, and the history says so.
    weaker: Vec<String>,
    /// Anything else.
    wrong: Vec<String>,
}

impl Found {
    fn check(&mut self, ok: bool, what: impl Fn() -> String) {
        if ok { self.same += 1 } else { self.wrong.push(what()) }
    }

    fn add(&mut self, other: Found) {
        self.same += other.same;
        self.weaker.extend(other.weaker);
        self.wrong.extend(other.wrong);
    }
}

fn history(path: &Path, zone: &str, year: i32, servers: &[&str]) -> History {
    let mut machine = Machine::new(Options { servers: servers.iter().map(|unit| unit.to_string()).collect(), ..Options::default() });
    for seen in observations(&bytes(path), 0, Owner::default(), zone, year) {
        machine.take(&seen);
    }
    machine.history()
}

/// The reference's names of points. `ended` is not one: it is the best of several.
fn point(name: &str) -> Option<&'static [Point]> {
    Some(match name {
        "starting" => &[Point::Starting],
        "started" => &[Point::Started, Point::Finished],
        "first_line" => &[Point::Line],
        "server_args" => &[Point::ServerArgs],
        "load_begin" => &[Point::LoadBegin],
        "load_end" => &[Point::LoadEnd],
        "pool" => &[Point::Sized],
        "listening" => &[Point::Listening],
        "ready" => &[Point::ReadyLine],
        "warmup_failed" => &[Point::WarmupFailed],
        "first_batch" => &[Point::Batch],
        "first_request" | "request_without_ready_line" => &[Point::Served],
        "stopping" => &[Point::Stopping],
        "sigterm" => &[Point::Sigterm],
        "drained" => &[Point::Drained],
        "exit" => &[Point::Exit],
        "stopped" => &[Point::Stopped],
        "restart_scheduled" => &[Point::RestartScheduled],
        "start_limit" => &[Point::StartLimit],
        "start_failed" => &[Point::StartFailed, Point::DependencyFailed],
        "start_timeout" => &[Point::StartTimeout],
        "stop_timeout" => &[Point::StopTimeout],
        "watchdog" => &[Point::Watchdog],
        "spawn_failed" => &[Point::ExecFailed],
        "oom" => &[Point::Oom],
        "child_failed" => &[Point::Crashed],
        "skipped" => &[Point::Skipped],
        _ => return None,
    })
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        // The reference has no word for it: by the lines another run follows, and nothing says how this one ended.
        Verdict::Ready | Verdict::ReadyEndNotInLog => "ready",
        Verdict::NotReadyYet | Verdict::NoReadyLineOfItsOwn => "not ready yet",
        Verdict::ReadyThenStopped => "was ready, then stopped",
        Verdict::ReadyThenStopping => "was ready, is stopping",
        Verdict::ReadyThenDied => "was ready, then died",
        Verdict::NeverReady | Verdict::NeverRan => "never ready",
        Verdict::ReadyLineAfterFailedWarmup => "ready line printed although the warm-up failed",
        Verdict::WorkedWithoutReadyLine => "worked, ready line missing",
        Verdict::ServedWithoutReadyLine => "served a client, ready line missing",
        Verdict::StartNotInLog => "start not in the log",
        Verdict::Skipped => "skipped",
        Verdict::NeverStarted => "never started: dependency",
    }
}

fn cause(cause: &Cause) -> String {
    match cause {
        Cause::RequestedRestart { .. } => "requested restart".into(),
        Cause::StopThenStart => "stop, then start".into(),
        Cause::StopThenStartOrRestart => "stop, then start or restart".into(),
        Cause::Automatic { after } => format!("automatic restart after {after}"),
        Cause::Watchdog => "watchdog".into(),
        Cause::OomKill => "oom-kill".into(),
        Cause::Reboot => "reboot".into(),
        Cause::Unknown { .. } => "unknown".into(),
        other => format!("{other:?}"),
    }
}

/// Does the stamp of a mark hold the reference's instant?
fn at(mark: &Mark, ns: i64) -> bool {
    mark.wall.is_some_and(|wall| wall.start <= ns && ns < wall.end)
}

/// Does a length hold the reference's seconds? The reference rounds to a microsecond.
fn holds(length: &Length, seconds: f64) -> bool {
    let ns = (seconds * 1e9).round() as i64;
    // On the wall clock, a few microseconds in seconds are the clock's own: it is steered.
    let slack = if length.on == Measured::Monotonic { 1_500 } else { 10_000 };
    length.least.is_none_or(|least| least <= ns + slack) && length.most.is_none_or(|most| ns - slack <= most)
}

/// A rendering that names no unit may lose what it says it lost.
fn admits(unit: &UnitHistory) -> bool {
    unit.unnamed || !unit.cannot_say.is_empty()
}

fn compare(unit: &UnitHistory, run: &Invocation, want: &Value, full: bool) -> Found {
    let mut found = Found::default();
    let name = format!("{} {}", unit.unit, want["invocation"].as_str().unwrap_or(""));
    for (key, ns) in want["t"].as_object().unwrap() {
        let ns = ns.as_i64().unwrap();
        let marks: Vec<Mark> = match key.as_str() {
            "ended" => run.instants.ended.upper().copied().into_iter().collect(),
            "suppressed" => unit.dropped.iter().map(|lost| lost.said).collect(),
            // Of every rank; after the message that only says where the program was looked for; after the exception that made it fail.
            "load_end" | "spawn_failed" | "child_failed" => point(key).unwrap().iter().filter_map(|point| run.last(*point)).collect(),
            _ => point(key).unwrap_or_else(|| panic!("{key}")).iter().filter_map(|point| run.first(*point)).collect(),
        };
        if marks.is_empty() && !full && admits(unit) {
            found.weaker.push(format!("{name}: {key}: {}", unit.cannot_say.first().map_or("", |said| said.what)));
            continue;
        }
        if marks.is_empty()
            && let Some(said) =
                run.cannot_say.iter().find(|said| matches!(said.what, "what its long lines say" | "whose its first lines are"))
        {
            found.weaker.push(format!("{name}: {key}: {}", said.why));
            continue;
        }
        if !marks.is_empty() && !full && marks.iter().all(|mark| mark.wall.is_none()) {
            found.weaker.push(format!("{name}: {key}: no wall clock in this rendering"));
            continue;
        }
        let later = marks.iter().any(|mark| mark.wall.is_some_and(|wall| wall.end > ns));
        if key == "first_line" && !full && later && !marks.iter().any(|mark| at(mark, ns)) {
            // An earlier line cannot be told from another unit's: this one is an upper bound, as it is said to be.
            let bound = matches!(run.instants.execd, Instant::Within { .. } | Instant::AtMost { .. });
            found.check(bound, || format!("{name}: {:?}", run.instants.execd));
            found.weaker.push(format!("{name}: first_line: a later one"));
            continue;
        }
        found.check(marks.iter().any(|mark| at(mark, ns)), || format!("{name}: {key} {ns}, got {marks:?}"));
    }
    if full {
        found.check(run.id == want["invocation"].as_str().unwrap_or(""), || format!("{name}: id {}", run.id));
    }
    let text = |key: &str| want[key].as_str().map(str::to_owned);
    found.check(run.exit == text("exit"), || format!("{name}: exit {:?}", run.exit));
    found.check(run.result == text("result"), || format!("{name}: result {:?}, not {:?}", run.result, text("result")));
    let lost = |found: &mut Found, ok: bool, what: String| match (ok, !full && admits(unit)) {
        (true, _) => found.same += 1,
        (false, true) => found.weaker.push(what),
        (false, false) => found.wrong.push(what),
    };
    lost(&mut found, verdict(run.verdict) == text("verdict").unwrap(), format!("{name}: verdict {:?}", run.verdict));
    if want["opened_by"] == "log begins midway" {
        found.check(run.opened == Opened::Midway, || format!("{name}: opened {:?}", run.opened));
    }
    if let Some(seconds) = want["start_to_ready_s"].as_f64() {
        if run.verdict == Verdict::ReadyLineAfterFailedWarmup {
            // The reference measures up to a line that is no readiness: nothing may be measured to it.
            found.check(run.lengths.start_to_ready.is_err(), || format!("{name}: {:?}", run.lengths.start_to_ready));
        } else {
            let ok = run.lengths.start_to_ready.as_ref().is_ok_and(|length| holds(length, seconds));
            lost(&mut found, ok, format!("{name}: start to ready {seconds}, got {:?}", run.lengths.start_to_ready));
        }
    }
    if let Some(ns) = want["ready_not_later_than"].as_i64() {
        found.check(run.instants.ready.upper().is_some_and(|mark| at(mark, ns)), || format!("{name}: ready {:?}", run.instants.ready));
    }
    let Some(restart) = want["restart"].as_object() else { return found };
    let wanted = restart["cause"].as_str().unwrap();
    let got = cause(&run.cause);
    match (got == wanted, full, &run.cause) {
        (true, _, _) => found.same += 1,
        (false, false, Cause::StopThenStartOrRestart) if matches!(wanted, "requested restart" | "stop, then start") => {
            found.weaker.push(format!("{name}: cause {wanted}: no job ids in this rendering"));
        }
        _ => found.wrong.push(format!("{name}: cause {got}, not {wanted}")),
    }
    if let (Some(same), true) = (restart.get("same_job").and_then(Value::as_bool), full)
        && wanted == "requested restart"
    {
        found.check(run.cause == Cause::RequestedRestart { same_job: Some(same) }, || format!("{name}: {:?}", run.cause));
    }
    let Some(outage) = &run.outage else {
        found.wrong.push(format!("{name}: no outage"));
        return found;
    };
    let spans = [
        ("last_served_to_ready", &outage.served_to_ready),
        ("stopping_to_ready", &outage.stopping_to_ready),
        ("end_to_ready", &outage.end_to_ready),
    ];
    for (key, got) in spans {
        let Some(seconds) = restart.get("outage_s").and_then(|all| all[key].as_f64()) else { continue };
        let stepped = run.traps.iter().any(|trap| trap.kind == TrapKind::ClockStep);
        match got {
            Ok(length) => lost(&mut found, holds(length, seconds), format!("{name}: {key} {seconds}, got {length:?}")),
            Err(why) if !full && stepped => found.weaker.push(format!("{name}: {key}: {why}")),
            Err(why) => lost(&mut found, false, format!("{name}: {key} {seconds}: {why}")),
        }
    }
    if let Some(step) = restart.get("clock_step_s").and_then(Value::as_f64) {
        let named = run.traps.iter().any(|trap| trap.kind == TrapKind::ClockStep);
        found.check(named, || format!("{name}: no step in {:?}", run.traps));
        if full {
            found.check(outage.clock_step == Some((step * 1e9) as i64), || format!("{name}: step {:?}", outage.clock_step));
        }
    }
    found
}

/// Compares a whole history, unit by unit, run by run.
fn compare_all(history: &History, wanted: &[Value], full: bool) -> Found {
    let mut found = Found::default();
    let mut by_unit: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for want in wanted {
        by_unit.entry(want["unit"].as_str().unwrap()).or_default().push(want);
    }
    for (name, wants) in by_unit {
        // Without any line of systemd the text modes name no unit.
        let unit = history.unit(name).next().or_else(|| history.units.iter().find(|unit| unit.unnamed && !full));
        let lost = |want: &&Value| matches!(want["opened_by"].as_str(), Some("log begins midway" | "service line"));
        let Some(unit) = unit else {
            // systemd says nothing of it, and lines name no unit: they are counted as of nobody known.
            let told = history.units.iter().any(|unit| unit.cannot_say.iter().any(|said| said.what == "which unit some lines are of"));
            if !full && told && wants.iter().all(lost) {
                found.weaker.push(format!("{name}: not named in this rendering"));
                continue;
            }
            found.wrong.push(format!("{name}: not seen"));
            continue;
        };
        let more = wants.get(unit.invocations.len()..).unwrap_or_default();
        if !more.is_empty() && more.iter().all(lost) && !full && admits(unit) {
            found.weaker.push(format!("{name}: {} runs that only lines without a unit show", more.len()));
        } else if unit.invocations.len() != wants.len() {
            found.wrong.push(format!("{name}: {} runs, not {}", unit.invocations.len(), wants.len()));
        }
        for (run, want) in unit.invocations.iter().zip(wants) {
            found.add(compare(unit, run, want, full));
        }
    }
    found
}

fn report(what: &str, found: &Found) {
    println!("{what}: {} facts the same, {} weaker, {} wrong", found.same, found.weaker.len(), found.wrong.len());
    for weaker in &found.weaker {
        println!("    weaker: {weaker}");
    }
    for wrong in &found.wrong {
        println!("    WRONG: {wrong}");
    }
}

#[test]
fn every_case_from_every_rendering() {
    let Some(folder) = cases("journald/cases") else { return };
    let mut all = Found::default();
    let mut renderings = 0;
    let mut dirs: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    dirs.sort();
    for dir in &dirs {
        let wanted: Value = serde_json::from_slice(&bytes(&dir.join("expected.json"))).unwrap();
        let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|ext| ext == "txt")) {
            let mode = file.file_stem().unwrap().to_str().unwrap();
            let full = matches!(mode, "export" | "json");
            let history = history(file, "UTC", 2026, &[]);
            let found = compare_all(&history, wanted["invocations"].as_array().unwrap(), full);
            report(&format!("{} {mode}", wanted["case"].as_str().unwrap()), &found);
            all.add(found);
            renderings += 1;
        }
    }
    println!("{} cases, {renderings} renderings: {} facts the same, {} weaker", dirs.len(), all.same, all.weaker.len());
    assert!(all.wrong.is_empty(), "{} wrong", all.wrong.len());
    assert!(renderings >= 70 && all.same > 1_000, "{renderings} renderings, {} facts", all.same);
}

/// The reference is of the journal, so every rendering of it must agree; a rendering that names no unit agrees where lines can be told apart.
fn windows(reference: &str, folder: &str, zone: &str, modes: &[&str]) -> Found {
    let mut all = Found::default();
    let (Some(expected), Some(folder)) = (cases("journald/expected/windows"), cases(&format!("journald/{folder}"))) else { return all };
    let lines = String::from_utf8(bytes(&expected.join(reference))).unwrap();
    let wanted: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for mode in modes {
        let file = folder.join(format!("{mode}.txt"));
        if !file.exists() {
            println!("{} is not here", file.display());
            continue;
        }
        let history = history(&file, zone, 2026, &[]);
        let found = compare_all(&history, &wanted, FULL.contains(mode));
        report(
            &format!("{reference} {} {mode}", folder.strip_prefix(folder.parent().unwrap().parent().unwrap()).unwrap().display()),
            &found,
        );
        all.add(found);
    }
    all
}

const FULL: &[&str] = &["export", "json", "json-pretty", "json-sse", "json-seq", "json.all", "verbose"];
const TEXT: &[&str] = &["short", "short-precise", "short-iso", "short-iso-precise", "short-full", "short-unix", "with-unit"];

#[test]
fn reference_windows_from_renderings_with_fields() {
    let mut all = Found::default();
    for (reference, folder, zone) in [
        ("real-v252.jsonl", "real/v252/America_New_York", "America/New_York"),
        ("real-v257.jsonl", "real/v257/UTC", "UTC"),
        ("synthetic.jsonl", "synthetic/v252/UTC", "UTC"),
        ("synthetic.jsonl", "synthetic/v257/UTC", "UTC"),
        ("synthetic.jsonl", "synthetic/v252/America_Los_Angeles", "America/Los_Angeles"),
        ("synthetic.jsonl", "synthetic/v229/UTC", "UTC"),
    ] {
        all.add(windows(reference, folder, zone, FULL));
    }
    println!("windows with fields: {} facts the same, {} weaker, {} wrong", all.same, all.weaker.len(), all.wrong.len());
    assert!(all.wrong.is_empty());
    assert!(cases("journald/expected/windows").is_none() || (all.same > 9_000 && all.weaker.len() < 40));
}

#[test]
fn reference_windows_from_text() {
    let mut all = Found::default();
    for (reference, folder, zone) in [
        ("real-v252.jsonl", "real/v252/America_New_York", "America/New_York"),
        ("real-v257.jsonl", "real/v257/UTC", "UTC"),
        ("synthetic.jsonl", "synthetic/v252/UTC", "UTC"),
        ("synthetic.jsonl", "synthetic/v257/UTC", "UTC"),
    ] {
        all.add(windows(reference, folder, zone, TEXT));
    }
    println!("windows from text: {} facts the same, {} weaker, {} wrong", all.same, all.weaker.len(), all.wrong.len());
    assert!(all.wrong.is_empty());
    assert!(cases("journald/expected/windows").is_none() || all.same > 6_000);
}

/// The unit of a case, and its last run.
fn last<'h>(history: &'h History, unit: &'h str) -> (&'h UnitHistory, &'h Invocation) {
    let unit = history.unit(unit).next().or_else(|| history.units.iter().find(|unit| unit.unnamed)).unwrap();
    (unit, unit.invocations.last().unwrap())
}

fn says(run: &Invocation, kind: TrapKind) -> String {
    let trap = run.traps.iter().find(|trap| trap.kind == kind).unwrap_or_else(|| panic!("no {kind:?} in {:?}", run.traps));
    assert!(!trap.cites.is_empty(), "{trap:?} cites nothing");
    trap.says.clone()
}

const PREFILL: &str = "sglang-prefill.service";
const DECODE: &str = "sglang-decode.service";

/// `must` of each case, in its words. `full`: the rendering has fields. Numbers: from the stamps of the case's lines.
fn must(case: &str, full: bool, mode: &str, history: &History) {
    let coarse = matches!(mode, "short" | "short-full" | "with-unit");
    match case {
        "c01_clean_restart_simple" => {
            let (_, run) = last(history, PREFILL);
            let wanted = if full { Cause::RequestedRestart { same_job: Some(true) } } else { Cause::StopThenStartOrRestart };
            assert_eq!((run.verdict, &run.cause), (Verdict::Ready, &wanted));
            assert!(full || run.cannot_say.iter().any(|said| said.what == "which command restarted it"));
            // 14:00:18.616 to 14:00:38.04299
            assert!(holds(run.outage.as_ref().unwrap().served_to_ready.as_ref().unwrap(), 19.42699));
            assert!(!run.instants.ready.cites().is_empty());
        }
        "c02_stale_ready_line" => {
            let (_, run) = last(history, PREFILL);
            assert_eq!(run.verdict, Verdict::NotReadyYet);
            assert!(matches!(run.instants.ready, Instant::Never { .. }));
            assert!(says(run, TrapKind::StaleReadyLine).contains("the only ready line is of the run before"));
            // 14:00:26.54678 to 14:00:30.89699
            assert!(holds(run.lengths.waited.as_ref().unwrap(), 4.35021), "{:?}", run.lengths.waited);
        }
        "c03_never_ready_crash_loop" => {
            let (unit, run) = last(history, DECODE);
            let [found] = &unit.loops[..] else { panic!("{:?}", unit.loops) };
            assert_eq!((found.starts, found.exits, found.ready, found.gave_up), (3, 3, 0, true));
            assert_eq!(says(run, TrapKind::CrashLoop), "3 starts, 3 exits, 0 ready, gave up: exit-code");
        }
        "c04_ready_then_crash" => {
            let (_, run) = last(history, PREFILL);
            assert_eq!(run.verdict, Verdict::ReadyThenDied);
            // 14:00:12.496 to 14:00:12.99579
            assert!(holds(run.lengths.ready_for.as_ref().unwrap(), 0.49979), "{:?}", run.lengths.ready_for);
            let said = says(run, TrapKind::ReadyThenCrash);
            assert!(said.contains("dumped/11/SEGV, result core-dump; no line of a client's request being served"), "{said}");
            assert!(coarse || said.starts_with("ready for 0.500 s"), "{said}");
        }
        "c05_log_begins_midway" => {
            let (unit, run) = last(history, PREFILL);
            assert_eq!((run.verdict, run.cause.clone(), run.opened), (Verdict::Ready, Cause::StartNotInLog, Opened::Midway));
            let length = run.lengths.start_to_ready.as_ref().unwrap();
            assert!(holds(length, 2.126) && length.least.is_some() && length.most.is_none(), "{length:?}");
            assert!(says(run, TrapKind::LogBeginsMidway).contains("at least"));
            assert_eq!(unit.unnamed, !full && mode != "with-unit");
        }
        "c06_two_units_at_once" => {
            let ready = |unit| last(history, unit).1.instants.ready.upper().unwrap().wall.unwrap();
            // 14:00:48.336470 and 14:00:54.339470
            assert!(ready(DECODE).end <= ready(PREFILL).start);
            if !full && mode != "with-unit" {
                for unit in [PREFILL, DECODE] {
                    says(last(history, unit).1, TrapKind::TwoUnitsAtOnce);
                }
            }
        }
        "c07_pd_warmup_failed_ready_line" => {
            let (_, run) = last(history, PREFILL);
            assert_eq!(run.verdict, Verdict::ReadyLineAfterFailedWarmup);
            assert!(!run.instants.ready.happened());
            assert!(says(run, TrapKind::ReadyAfterFailedWarmup).contains("status codes: [500]"));
        }
        "c08_clock_step_back_in_restart" => {
            let (_, run) = last(history, PREFILL);
            let outage = run.outage.as_ref().unwrap();
            let said = says(run, TrapKind::ClockStep);
            if full {
                assert!(said.starts_with("clock stepped -120.0 s"), "{said}");
                assert!(holds(outage.stopping_to_ready.as_ref().unwrap(), 14.4372));
            } else {
                // Stamps go from 14:00:26.516780 to 13:58:26.526990.
                assert!(said.starts_with("stamps go back 1"), "{said}");
                assert!(outage.stopping_to_ready.is_err() && outage.end_to_ready.is_err());
                assert!(run.lengths.start_to_ready.is_ok());
            }
        }
        "c09_late_line_of_old_invocation" => {
            let (_, run) = last(history, PREFILL);
            assert_eq!(run.verdict, Verdict::NotReadyYet);
            assert_eq!(
                says(run, TrapKind::LateLine),
                "2 lines of the run before stand after this one's start, a ready line among them: they do not count"
            );
        }
        "c10_rate_limited_ready_line" => {
            let (unit, run) = last(history, PREFILL);
            assert_eq!(run.verdict, Verdict::ServedWithoutReadyLine);
            assert_eq!(unit.dropped.iter().map(|lost| lost.messages).collect::<Vec<_>>(), [Some(1734)]);
            assert!(says(run, TrapKind::RateLimit).starts_with("ready line missing, 1734 messages were dropped"));
            assert!(says(run, TrapKind::ReadyLineMissing).contains("no later than the first answer"));
        }
        other => panic!("no words for {other}"),
    }
}

#[test]
fn every_case_says_what_it_must() {
    let Some(folder) = cases("journald/cases") else { return };
    let mut renderings = 0;
    for dir in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        let case = dir.file_name().unwrap().to_str().unwrap().to_owned();
        for file in std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()) {
            let mode = file.file_stem().unwrap().to_str().unwrap();
            if mode == "expected" {
                continue;
            }
            let full = matches!(mode, "export" | "json");
            println!("{case} {mode}");
            must(&case, full, mode, &history(&file, "UTC", 2026, &[]));
            renderings += 1;
        }
    }
    println!("{renderings} renderings say what they must");
    assert!(renderings >= 70);
}

/// Every file of the cases, whatever it is: an answer, bounds that do not cross, no panic.
#[test]
fn every_file_gives_an_answer() {
    let Some(folder) = cases("journald") else { return };
    let mut folders = vec![folder];
    let (mut files, mut runs) = (0, 0);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.contains("expected") || name.ends_with(".xz") || name.ends_with(".md") || folder.ends_with("windows") {
                continue;
            }
            let history = history(&path, "UTC", 2026, &[]);
            files += 1;
            for run in history.units.iter().flat_map(|unit| &unit.invocations) {
                runs += 1;
                for instant in [&run.instants.started, &run.instants.ready, &run.instants.ended] {
                    if let Instant::Within { after, before, .. } = instant {
                        assert!(
                            after.order < before.order || after.cite.source != before.cite.source || after.mono.is_some(),
                            "{path:?}: {instant:?}"
                        );
                    }
                }
            }
        }
    }
    println!("{files} files, {runs} runs");
    assert!(files > 200, "{files}");
}

/// Renderings without a wall clock: lengths, causes, results and verdicts are the same.
#[test]
fn reference_windows_without_a_wall_clock() {
    let mut all = Found::default();
    for (reference, folder, zone) in [
        ("real-v252.jsonl", "real/v252/America_New_York", "America/New_York"),
        ("real-v257.jsonl", "real/v257/UTC", "UTC"),
        ("synthetic.jsonl", "synthetic/v252/UTC", "UTC"),
        ("synthetic.jsonl", "synthetic/v257/UTC", "UTC"),
    ] {
        all.add(windows(reference, folder, zone, &["short-monotonic", "short-delta"]));
    }
    println!("windows without a wall clock: {} facts the same, {} weaker, {} wrong", all.same, all.weaker.len(), all.wrong.len());
    assert!(all.wrong.is_empty());
}
