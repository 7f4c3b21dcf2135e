//! journalctl: a script that plays one, and the real one over a real journal where both are at hand.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use corr_live::Stop;
use corr_live::follow::{Ended, Follow, Journal, State, What};
use corr_readiness::history::{Cause, Verdict};

use super::{READY, follow, ms, of_run, run, run_until, told};
use crate::scrape::wall;

/// A journal entry as `-o json` prints it.
fn entry(at: i64, fields: &[(&str, &str)], message: &str) -> String {
    let mut object = serde_json::Map::new();
    let micros = at / 1000;
    for (key, value) in [
        ("__CURSOR", format!("s=1;i={micros:x}")),
        ("__REALTIME_TIMESTAMP", micros.to_string()),
        ("__MONOTONIC_TIMESTAMP", (micros % 1_000_000_000_000).to_string()),
        ("_BOOT_ID", "0123456789abcdef0123456789abcdef".into()),
        ("_HOSTNAME", "gpu-7".into()),
        ("MESSAGE", message.into()),
    ] {
        object.insert(key.into(), value.into());
    }
    for (key, value) in fields {
        object.insert((*key).into(), (*value).into());
    }
    serde_json::Value::Object(object).to_string()
}

/// systemd's word on a.service.
fn systemd(at: i64, invocation: &str, more: &[(&str, &str)], message: &str) -> String {
    let mut fields = vec![
        ("_PID", "1"),
        ("_COMM", "systemd"),
        ("SYSLOG_IDENTIFIER", "systemd"),
        ("_SYSTEMD_UNIT", "init.scope"),
        ("UNIT", "a.service"),
        ("INVOCATION_ID", invocation),
    ];
    fields.extend(more);
    entry(at, &fields, message)
}

/// A line of a.service.
fn service(at: i64, invocation: &str, pid: &str, message: &str) -> String {
    let fields = [
        ("_PID", pid),
        ("SYSLOG_IDENTIFIER", "python3"),
        ("_TRANSPORT", "stdout"),
        ("_SYSTEMD_UNIT", "a.service"),
        ("_SYSTEMD_INVOCATION_ID", invocation),
    ];
    entry(at, &fields, &format!("[2026-06-10 14:00:00] {message}"))
}

const STARTED: (&str, &str) = ("MESSAGE_ID", "39f53479d3a045ac8e11786248231fbf");
const OLD: &str = "11111111111111111111111111111111";
const NEW: &str = "22222222222222222222222222222222";

/// One start of a.service up to its ready line.
fn start(at: i64, invocation: &str, pid: &str) -> Vec<String> {
    let ms = |n: i64| at + n * 1_000_000;
    vec![
        systemd(ms(0), invocation, &[STARTED, ("JOB_TYPE", "start"), ("JOB_RESULT", "done")], "Started a.service - A."),
        service(ms(1), invocation, pid, "server_args=ServerArgs(model_path='/m', tp_size=1, port=30000)"),
        service(ms(2), invocation, pid, "Load weight begin. avail mem=138.42 GB"),
        service(ms(3), invocation, pid, "Load weight end. type=Q, avail mem=107.94 GB"),
        service(ms(4), invocation, pid, "INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)"),
        service(ms(5), invocation, pid, READY),
    ]
}

/// A program that prints `there` newest first where it is asked with `-r`, and else, if it is asked as it should be, `comes`, a line every 20 ms.
fn play(folder: &Path, there: &[String], comes: &[String]) -> Journal {
    play_of("a", folder, there, comes)
}

fn play_of(unit: &str, folder: &Path, there: &[String], comes: &[String]) -> Journal {
    let (old, new, program) = (folder.join("there"), folder.join("comes"), folder.join("journalctl"));
    let back: Vec<String> = there.iter().rev().cloned().collect();
    std::fs::write(&old, back.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    std::fs::write(&new, comes.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n\
         '-o json --all --no-pager -r -u {unit}') cat '{}';;\n\
         '-o json --all --no-pager -f --no-tail'*' -u {unit}') echo $$ > '{}'; echo \"$*\" > '{}'; while IFS= read -r line; do printf '%s\\n' \"$line\"; sleep 0.02; done < '{}'; exec sleep 60;;\n\
         *) echo \"not asked like that: $*\" >&2; exit 1;;\nesac\n",
        old.display(),
        folder.join("id").display(),
        folder.join("asked").display(),
        new.display()
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    Journal { program: program.into(), args: Vec::new() }
}

fn of(journal: Journal) -> Follow {
    Follow { journal: Some(journal), ..follow(&["a"]) }
}

#[tokio::test]
async fn a_restart_by_systemd_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let now = wall();
    let there = start(now - 60_000_000_000, OLD, "11");
    let mut comes = vec![
        systemd(now, OLD, &[("JOB_TYPE", "stop"), ("JOB_ID", "7")], "Stopping a.service - A..."),
        systemd(now + 1_000_000, OLD, &[], "a.service: Deactivated successfully."),
        systemd(now + 2_000_000, OLD, &[("JOB_TYPE", "restart"), ("JOB_ID", "7"), ("JOB_RESULT", "done")], "Stopped a.service - A."),
    ];
    comes.extend(start(now + 3_000_000, NEW, "12"));
    comes.push(service(now + 9_000_000, NEW, "12", "INFO:     10.0.0.9:41234 - \"POST /generate HTTP/1.1\" 200 OK"));
    let mut plan = of(play(folder.path(), &there, &comes));
    plan.require = corr_live::follow::Require::Served;
    let (outcome, all) = run(plan).await;
    assert_eq!((outcome.exit_code(), outcome.ended), (0, Ended::Answered), "{:#?} {:#?}", outcome.units, outcome.sources);
    // What was there, the newest run of it.
    let before: Vec<What> = all.iter().filter(|t| t.before).map(|t| t.what).collect();
    assert!(before.contains(&What::Ready) && before.contains(&What::Started), "{before:?}");
    let life = [What::Started, What::Execd, What::Loading, What::Loaded, What::Listening, What::Ready, What::FirstServed];
    let of_second: Vec<What> = of_run(&all, 1).into_iter().filter(|what| life.contains(what)).collect();
    assert_eq!(of_second, life);
    let unit = outcome.history.unit("a").next().unwrap();
    assert_eq!(unit.invocations.len(), 2);
    assert!(matches!(unit.invocations[1].cause, Cause::RequestedRestart { .. }), "{:?}", unit.invocations[1].cause);
    assert_eq!(unit.invocations[0].verdict, Verdict::ReadyThenStopped);
    assert!(told(&all, What::Stopping).cites[0].text.contains("Stopping a.service"), "{:?}", told(&all, What::Stopping));
    // It goes on behind the last entry that was read.
    let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
    let last = there.last().unwrap();
    let cursor = serde_json::from_str::<serde_json::Value>(last).unwrap()["__CURSOR"].as_str().unwrap().to_owned();
    assert!(asked.contains(&format!("--after-cursor={cursor}")), "{asked}");
}

#[tokio::test]
async fn a_program_that_cannot_be_executed_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let now = wall();
    let comes = [
        systemd(now, NEW, &[STARTED, ("JOB_TYPE", "start"), ("JOB_RESULT", "done")], "Started a.service - A."),
        systemd(
            now + 1_000_000,
            NEW,
            &[("MESSAGE_ID", "98e322203f7a4ed290d09fe03c09fe15"), ("EXIT_CODE", "exited"), ("EXIT_STATUS", "203")],
            "a.service: Main process exited, code=exited, status=203/EXEC",
        ),
        systemd(now + 2_000_000, NEW, &[("UNIT_RESULT", "exit-code")], "a.service: Failed with result 'exit-code'."),
    ];
    let (outcome, _) = run(of(play(folder.path(), &[], &comes))).await;
    assert_eq!((outcome.exit_code(), outcome.units[0].state), (1, State::Failed), "{:#?}", outcome.units);
    assert!(outcome.units[0].says.contains("could not be executed") && !outcome.units[0].cites.is_empty(), "{:?}", outcome.units[0]);
}

#[tokio::test]
async fn a_failure_from_before_is_no_failure_of_what_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let now = wall();
    let mut there = start(now - 60_000_000_000, OLD, "11");
    there.push(systemd(now - 50_000_000_000, OLD, &[], "a.service: Main process exited, code=killed, status=9/KILL"));
    there.push(systemd(now - 50_000_000_000, OLD, &[], "a.service: Failed with result 'signal'."));
    let (outcome, _) = run(of(play(folder.path(), &there, &start(now, NEW, "12")))).await;
    assert_eq!(outcome.exit_code(), 0, "{:#?}", outcome.units);
    // Without a start it is not back when the time is over.
    let mut plan = of(play(folder.path(), &there, &[]));
    plan.timeout = ms(500);
    let (outcome, _) = run(plan).await;
    assert_eq!((outcome.exit_code(), outcome.ended), (1, Ended::TimedOut), "{:#?}", outcome.units);
    assert_eq!(outcome.units[0].says, "it ended (killed/9/KILL, result signal), and was not started again");
}

#[tokio::test]
async fn without_journalctl_nothing_can_be_known() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Journal { program: folder.path().join("journalctl").into(), args: Vec::new() };
    let (outcome, _) = run(of(missing)).await;
    assert_eq!((outcome.exit_code(), outcome.ended, outcome.units[0].state), (4, Ended::Answered, State::CannotBeKnown));
    assert!(outcome.units[0].says.contains("is not on this machine; follow the unit's log file instead"), "{:?}", outcome.units);

    // One that may not read, as journalctl 252 says it.
    let program = folder.path().join("may-not");
    let says = "No journal files were opened due to insufficient permissions.";
    std::fs::write(&program, format!("#!/bin/sh\necho '{says}' >&2\nexit 1\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (outcome, _) = run(of(Journal { program: program.into(), args: Vec::new() })).await;
    assert_eq!((outcome.exit_code(), outcome.units[0].state), (4, State::CannotBeKnown), "{:#?}", outcome.units);
    assert!(outcome.units[0].says.contains("no permission") && outcome.units[0].says.contains(says), "{:?}", outcome.units);
}

#[tokio::test]
async fn the_child_ends_with_the_following() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = of(play(folder.path(), &start(wall() - 60_000_000_000, OLD, "11"), &[]));
    plan.require = corr_live::follow::Require::Served;
    let stop = Stop::new();
    let asked = stop.clone();
    let new = folder.path().join("asked");
    let driver = std::thread::spawn(move || {
        while !new.exists() {
            std::thread::sleep(ms(5));
        }
        asked.ask();
    });
    let (outcome, _) = run_until(plan, stop).await;
    driver.join().unwrap();
    assert_eq!((outcome.ended, outcome.exit_code()), (Ended::Cancelled, 4));
    // `exec` keeps the id.
    let id = std::fs::read_to_string(folder.path().join("id")).unwrap();
    let running = Command::new("kill").args(["-0", id.trim()]).stderr(Stdio::null()).status().unwrap();
    assert!(!running.success(), "{id} still runs");
}

/// The cases of one question each, by their `must`: unit, and the exit code of a look at what is there.
const CASES: &[(&str, &[&str], u8)] = &[
    ("c01_clean_restart_simple", &["sglang-prefill"], 0),
    ("c02_stale_ready_line", &["sglang-prefill"], 1),
    ("c03_never_ready_crash_loop", &["sglang-decode"], 1),
    ("c04_ready_then_crash", &["sglang-prefill"], 1),
    ("c05_log_begins_midway", &["sglang-prefill"], 0),
    ("c06_two_units_at_once", &["sglang-prefill", "sglang-decode"], 0),
    ("c07_pd_warmup_failed_ready_line", &["sglang-prefill"], 1),
    ("c08_clock_step_back_in_restart", &["sglang-prefill"], 0),
    ("c09_late_line_of_old_invocation", &["sglang-prefill"], 1),
    ("c10_rate_limited_ready_line", &["sglang-prefill"], 0),
];

fn cases() -> Option<PathBuf> {
    let root = match std::env::var_os("CORR_CASES") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
    };
    let folder = root.join("journald/cases");
    if !folder.is_dir() {
        println!("skipped: no {} (set CORR_CASES)", folder.display());
        return None;
    }
    Some(folder)
}

#[tokio::test]
async fn the_cases_of_traps_are_not_fallen_into() {
    let Some(cases) = cases() else { return };
    let mut seen = 0;
    for (case, units, expected) in CASES {
        for rendering in
            ["json.txt", "export.txt", "with-unit.txt", "short-full.txt", "short-iso-precise.txt", "short-precise.txt", "short.txt"]
        {
            let path = cases.join(case).join(rendering);
            if !path.is_file() {
                continue;
            }
            let mut plan = follow(units);
            plan.files = vec![super::file(&path)];
            plan.timeout = ms(400);
            let (outcome, _) = run(plan).await;
            println!("{case} {rendering}: {} {:?}", outcome.exit_code(), outcome.units.iter().map(|unit| &unit.says).collect::<Vec<_>>());
            // A rendering that lost the evidence may say that it cannot know; never the contrary.
            let weaker = !matches!(rendering, "json.txt" | "export.txt") && outcome.exit_code() == 4;
            assert!(outcome.exit_code() == *expected || weaker, "{case} {rendering}: {:#?}", outcome.units);
            seen += 1;
        }
        let [unit] = units else { continue };
        // journalctl gives the unit's lines; the trap is in what it has of the run before.
        let text = std::fs::read_to_string(cases.join(case).join("json.txt")).unwrap();
        let there: Vec<String> = text.lines().map(str::to_owned).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut plan = follow(units);
        plan.journal = Some(play_of(unit, folder.path(), &there, &[]));
        plan.timeout = ms(600);
        let (outcome, _) = run(plan).await;
        assert_eq!(outcome.exit_code(), *expected, "{case} by journalctl: {:#?}", outcome.units);
        seen += 1;
    }
    println!("{seen} renderings of {} cases", CASES.len());
    assert!(seen >= 2 * CASES.len());
}

/// The real journal of systemd 252 in the cases, unpacked; `None`, and said, where something is missing.
fn real() -> Option<(tempfile::TempDir, Journal)> {
    let packed = cases()?.join("../real/v252/system.journal.xz");
    if !packed.is_file() {
        println!("skipped: no {} (set CORR_CASES)", packed.display());
        return None;
    }
    if let Err(error) = Command::new("journalctl").arg("--version").stdout(Stdio::null()).status() {
        println!("skipped: journalctl: {error}");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let into = std::fs::File::create(folder.path().join("system.journal")).unwrap();
    match Command::new("xz").arg("-dc").arg(&packed).stdout(into).status() {
        Ok(status) if status.success() => {}
        other => {
            println!("skipped: xz: {other:?}");
            return None;
        }
    }
    let args = vec!["-D".into(), folder.path().into()];
    Some((folder, Journal { program: "journalctl".into(), args }))
}

#[tokio::test]
async fn the_real_journalctl_tells_the_state_of_each_unit() {
    let Some((_folder, journal)) = real() else { return };
    // By eye, `journalctl -u U | tail` of that journal: the last run of sglang-decode prints its ready line at 18:18:15.731 and goes on.
    let mut plan = of(journal.clone());
    plan.units = vec!["sglang-decode".into()];
    plan.timeout = ms(10_000);
    let (outcome, all) = run(plan).await;
    assert_eq!((outcome.exit_code(), outcome.ended), (0, Ended::Answered), "{:#?} {:#?}", outcome.units, outcome.sources);
    let ready = told(&all, What::Ready);
    assert!(ready.before && ready.cites[0].text.ends_with(READY), "{ready:?}");
    let corr_readiness::Instant::Exact { mark } = ready.instant.as_ref().unwrap() else { panic!("{ready:?}") };
    // date -u -d '2026-11-29 18:18:15.731274' +%s%6N
    assert_eq!(mark.wall.unwrap().start / 1000, 1_795_976_295_731_274);
    // A part of a name: what is like it is told.
    let mut plan = of(journal.clone());
    plan.units = vec!["decode".into()];
    plan.timeout = ms(1500);
    let (_, all) = run(plan).await;
    assert!(all.iter().any(|t| t.what == What::Source && t.says.contains("sglang-decode.service")), "{all:#?}");
    // A unit that this journal does not have.
    let mut plan = of(journal);
    plan.units = vec!["nobody".into()];
    plan.timeout = ms(700);
    let (outcome, _) = run(plan).await;
    assert_eq!((outcome.exit_code(), outcome.units[0].state), (4, State::CannotBeKnown), "{:#?}", outcome.units);
    println!("ran with the real journalctl");
}
