//! Each rule on a few lines, composed by hand after the texts of the versions that print them. Expectations are worked out beside them.

use crate::support::observations;
use corr_parsers::stamp::Stamp;
use corr_readiness::claim::{Answer, Claim, judge};
use corr_readiness::convert::Owner;
use corr_readiness::history::{Cause, Ending, Invocation, Opened, TrapKind, UnitHistory, Verdict};
use corr_readiness::rows::{Row, What};
use corr_readiness::time::Measured;
use corr_readiness::{Cite, History, Instant, Machine, Options};

const SECOND: i64 = 1_000_000_000;
/// 2026-06-10T14:00:00Z
const BASE: i64 = 1_781_100_000 * SECOND;
const READY: &str = "The server is fired up and ready to roll!";

/// `SECONDS WRITER TEXT` lines as `-o short-iso-precise` of one host prints them; a line that begins with `--` stands as it is.
fn journal(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        if line.starts_with("--") {
            text += &format!("{line}\n");
            continue;
        }
        let (at, rest) = line.split_once(' ').unwrap();
        let (writer, message) = rest.split_once(' ').unwrap();
        let at: f64 = at.parse().unwrap();
        let (minutes, seconds) = ((at / 60.0) as u32, at % 60.0);
        text += &format!("2026-06-10T14:{minutes:02}:{seconds:09.6}+00:00 gpu-7 {writer}: {message}\n");
    }
    text
}

fn machine_of(text: &str, options: Options) -> Machine {
    let mut machine = Machine::new(options);
    for seen in observations(text.as_bytes(), 0, Owner::default(), "UTC", 2026) {
        machine.take(&seen);
    }
    machine
}

fn history(lines: &[&str]) -> History {
    machine_of(&journal(lines), Options::default()).history()
}

fn only(history: &History) -> &UnitHistory {
    let [unit] = &history.units[..] else { panic!("{:?}", history.units.iter().map(|unit| &unit.unit).collect::<Vec<_>>()) };
    unit
}

fn trap(run: &Invocation, kind: TrapKind) -> &str {
    let found = run.traps.iter().find(|trap| trap.kind == kind).unwrap_or_else(|| panic!("no {kind:?}: {:?}", run.traps));
    assert!(!found.cites.is_empty());
    &found.says
}

fn holds(answer: &Answer) -> Option<bool> {
    match answer {
        Answer::Holds { .. } => Some(true),
        Answer::DoesNotHold { .. } => Some(false),
        Answer::CannotBeKnown { .. } => None,
    }
}

const S: &str = "systemd[1]";

fn line(at: f64, writer: &str, text: &str) -> String {
    format!("{at} {writer} {text}")
}

/// One start of a unit as SGLang prints it, ready ten seconds later.
fn start(at: f64, pid: u32, lines: &mut Vec<String>) {
    let writer = format!("python3[{pid}]");
    let inner = |text: &str| format!("[2026-06-10 14:00:00] {text}");
    lines.push(line(at, S, "Started a.service - A."));
    lines.push(line(at + 1.0, &writer, &inner("server_args=ServerArgs(model_path='/m', tp_size=1, port=30000)")));
    lines.push(line(at + 2.0, &writer, &inner("Load weight begin. avail mem=138.42 GB")));
    lines.push(line(at + 6.0, &writer, &inner("Load weight end. type=Q, avail mem=107.94 GB")));
    lines.push(line(at + 8.0, &writer, &inner("INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)")));
    lines.push(line(at + 10.0, &writer, &inner(READY)));
}

fn served(at: f64, pid: u32) -> String {
    line(at, &format!("python3[{pid}]"), "[2026-06-10 14:00:00] INFO:     10.0.0.5:40112 - \"POST /generate HTTP/1.1\" 200 OK")
}

fn of(lines: &[String]) -> History {
    history(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_program_that_is_not_there_never_ran() {
    // v257's child speaks, v255's does not: the exit says the same.
    let child = "0.1 (python)[77] a.service: Failed at step EXEC spawning /opt/no/python: No such file or directory";
    let exit = "0.2 systemd[1] a.service: Main process exited, code=exited, status=203/EXEC";
    let failed = "0.3 systemd[1] a.service: Failed with result 'exit-code'.";
    let started = "0.0 systemd[1] Started a.service - A.";
    for lines in [&[started, child, exit, failed][..], &[started, exit, failed]] {
        let history = history(lines);
        let run = &only(&history).invocations[0];
        assert_eq!((run.verdict, run.exit.as_deref()), (Verdict::NeverRan, Some("exited/203/EXEC")));
        assert_eq!(trap(run, TrapKind::ExecFailed), "`Started`, but the program never ran");
        assert!(matches!((&run.instants.execd, &run.instants.ready), (Instant::Never { .. }, Instant::Never { .. })));
        assert_eq!(holds(&judge(only(&history), Claim::ReadyWithin(100 * SECOND))), Some(false));
    }
}

#[test]
fn a_stop_while_systemd_waits_cancels_the_restart() {
    let history = history(&[
        "0 systemd[1] Started a.service - A.",
        "1 systemd[1] a.service: Main process exited, code=exited, status=1/FAILURE",
        "1 systemd[1] a.service: Failed with result 'exit-code'.",
        "3 systemd[1] Stopped a.service - A.",
        "60 systemd[1] Started a.service - A.",
    ]);
    let [first, second] = &only(&history).invocations[..] else { panic!() };
    assert_eq!(trap(first, TrapKind::StopDuringRestartDelay), "restart cancelled by a stop while systemd waited");
    assert_eq!(second.cause, Cause::StopThenStart);
}

#[test]
fn stopped_of_an_automatic_restart_is_no_stop() {
    // v252 prints `Stopped` between, v255 does not.
    let mut lines = vec![
        "0 systemd[1] Started a.service - A.",
        "1 systemd[1] a.service: Main process exited, code=killed, status=9/KILL",
        "1 systemd[1] a.service: Failed with result 'signal'.",
        "2 systemd[1] a.service: Scheduled restart job, restart counter is at 1.",
        "2.1 systemd[1] Stopped a.service - A.",
        "2.2 systemd[1] Started a.service - A.",
    ];
    for _ in 0..2 {
        let history = history(&lines);
        let [first, second] = &only(&history).invocations[..] else { panic!() };
        assert_eq!(second.cause, Cause::Automatic { after: "signal".into() });
        assert!(first.traps.iter().all(|trap| trap.kind != TrapKind::StopDuringRestartDelay));
        lines.remove(4);
    }
}

#[test]
fn a_reboot_leaves_the_wall_clock_alone() {
    let mut lines = Vec::new();
    start(0.0, 100, &mut lines);
    lines.push(served(12.0, 100));
    lines.push("-- Boot 0123456789abcdef0123456789abcdef --".into());
    start(300.0, 100, &mut lines);
    let history = of(&lines);
    let [first, second] = &only(&history).invocations[..] else { panic!() };
    assert_eq!((first.verdict, &second.cause), (Verdict::ReadyEndNotInLog, &Cause::Reboot));
    assert!(trap(second, TrapKind::Reboot).contains("only the wall clock applies"));
    // Process id 100 was given again: its lines are of the second run.
    assert_eq!(second.verdict, Verdict::Ready);
    let away = second.outage.as_ref().unwrap().served_to_ready.as_ref().unwrap();
    assert_eq!((away.on, away.middle()), (Measured::WallOverReboot, Some(298 * SECOND)));
    assert_eq!(second.lengths.start_to_ready.as_ref().unwrap().on, Measured::Wall);
}

#[test]
fn old_systemd_names_a_watchdog_by_what_it_did() {
    let history = history(&[
        "0 systemd[1] Started a.service - A.",
        "5 systemd[1] a.service: Watchdog timeout (limit 2s)!",
        "6 systemd[1] a.service: Main process exited, code=dumped, status=6/ABRT",
        "6 systemd[1] a.service: Unit entered failed state.",
        "6 systemd[1] a.service: Failed with result 'core-dump'.",
        "7 systemd[1] a.service: Service hold-off time over, scheduling restart.",
        "7 systemd[1] Stopped a.service - A.",
        "7 systemd[1] Started a.service - A.",
    ]);
    let [first, second] = &only(&history).invocations[..] else { panic!() };
    assert_eq!(first.result.as_deref(), Some("watchdog"));
    trap(first, TrapKind::ResultOfOldSystemd);
    assert_eq!(second.cause, Cause::Watchdog);
}

#[test]
fn one_unit_of_two_hosts_is_two() {
    let one = journal(&["0 systemd[1] Started a.service - A."]);
    let other = one.replace("gpu-7", "gpu-8");
    let ready = journal(&["9 python3[5] [2026-06-10 14:00:09] The server is fired up and ready to roll!"]);
    let history = machine_of(&format!("{one}{other}{ready}"), Options::default()).history();
    let verdicts: Vec<_> = history.unit("a.service").map(|unit| (unit.host.as_str(), unit.invocations[0].verdict)).collect();
    assert_eq!(verdicts, [("gpu-7", Verdict::Ready), ("gpu-8", Verdict::NotReadyYet)]);
}

#[test]
fn a_description_is_no_unit_until_it_is_named() {
    let text = journal(&[
        "0 systemd[1] Started SGLang decode worker.",
        "9 python3[5] [2026-06-10 14:00:09] The server is fired up and ready to roll!",
    ]);
    let unnamed = machine_of(&text, Options::default()).history();
    assert_eq!(unnamed.cannot_say.len(), 1);
    assert!(unnamed.cannot_say[0].why.contains("1 lines of systemd name a description"));
    assert!(only(&unnamed).unnamed);
    let descriptions = vec![("SGLang decode worker".to_owned(), "d.service".to_owned())];
    let named = machine_of(&text, Options { descriptions, ..Options::default() }).history();
    assert_eq!((only(&named).unit.as_str(), only(&named).invocations[0].verdict), ("d.service", Verdict::Ready));
    assert!(named.cannot_say.is_empty());
}

#[test]
fn lines_that_fit_two_units_are_of_none() {
    let history = history(&[
        "0 systemd[1] Started a.service - A.",
        "0 systemd[1] Started b.service - B.",
        "9 python3[5] [2026-06-10 14:00:09] The server is fired up and ready to roll!",
    ]);
    for unit in &history.units {
        let run = &unit.invocations[0];
        assert!(matches!(&run.instants.ready, Instant::Unknown { why } if why.contains("of this unit or of another")));
        assert!(unit.cannot_say[0].why.contains("a ready line is among them"));
        assert_eq!(holds(&judge(unit, Claim::ReadyWithin(SECOND))), None);
    }
}

#[test]
fn claims_hold_or_not_or_cannot_be_known() {
    let mut lines = Vec::new();
    start(0.0, 100, &mut lines);
    lines.push(served(20.0, 100));
    let one = of(&lines);
    assert_eq!(holds(&judge(only(&one), Claim::NoRestarts)), Some(true));
    // Ready 10 s after `Started`.
    assert_eq!(holds(&judge(only(&one), Claim::ReadyWithin(11 * SECOND))), Some(true));
    assert_eq!(holds(&judge(only(&one), Claim::ReadyWithin(9 * SECOND))), Some(false));
    lines.push(line(30.0, S, "Stopping a.service - A..."));
    lines.push(line(31.0, S, "a.service: Deactivated successfully."));
    lines.push(line(31.0, S, "Stopped a.service - A."));
    start(32.0, 200, &mut lines);
    let two = of(&lines);
    assert_eq!(holds(&judge(only(&two), Claim::NoRestarts)), Some(false));
    // Served at 20, asked to stop at 30, gone by 31, ready again at 42: away for 11 s at least and 12 s at most.
    for (limit, wanted) in [(23, Some(true)), (13, Some(true)), (12, None), (10, Some(false))] {
        let answer = judge(only(&two), Claim::OutageMax(limit * SECOND));
        assert_eq!(holds(&answer), wanted, "{limit}: {answer:?}");
    }
    // The second start is not ready when the log ends, 8 s after it.
    lines.pop();
    let cut = of(&lines);
    assert_eq!(holds(&judge(only(&cut), Claim::ReadyWithin(5 * SECOND))), Some(false));
    assert_eq!(holds(&judge(only(&cut), Claim::ReadyWithin(60 * SECOND))), None);
    assert_eq!(judge(only(&cut), Claim::ReadyWithin(60 * SECOND)).exit_code(), 4);
}

#[test]
fn dropped_lines_are_no_proof_of_absence() {
    let mut lines = Vec::new();
    start(0.0, 100, &mut lines);
    lines.pop();
    lines.push(line(30.0, "systemd-journald[40]", "Suppressed 99 messages from a.service"));
    let history = of(&lines);
    let unit = only(&history);
    assert!(matches!(&unit.invocations[0].instants.ready, Instant::Unknown { why } if why.contains("99 messages")));
    assert!(trap(&unit.invocations[0], TrapKind::RateLimit).contains("whether it was ready cannot be said"));
    assert_eq!(unit.dropped.len(), 1);
    assert_eq!(holds(&judge(unit, Claim::ReadyWithin(5 * SECOND))), None);
    assert_eq!(holds(&judge(unit, Claim::NoRestarts)), None);
}

#[test]
fn without_a_warm_up_the_ready_line_proves_little() {
    let history = history(&[
        "0 systemd[1] Started a.service - A.",
        "1 python3[5] [2026-06-10 14:00:01] server_args=ServerArgs(model_path='/m', tp_size=1, skip_server_warmup=True)",
        "9 python3[5] [2026-06-10 14:00:09] The server is fired up and ready to roll!",
    ]);
    let run = &only(&history).invocations[0];
    trap(run, TrapKind::WarmupSkipped);
    // It may precede the port: it is no bound of it.
    assert!(matches!(run.instants.listening, Instant::Unknown { .. }));
}

fn bare_machine(text: &str) -> Machine {
    let mut machine = Machine::new(Options::default());
    for seen in observations(text.as_bytes(), 0, Owner { host: "h", unit: "server" }, "UTC", 2026) {
        machine.take(&seen);
    }
    machine
}

fn bare(text: &str) -> History {
    bare_machine(text).history()
}

const LIFE: &str = "[2026-06-10 14:00:0X] Cuda graph is disabled because of using torch native attention backend
[2026-06-10 14:00:0X] server_args={'model_path': '/m', 'tp_size': 1, 'skip_server_warmup': False}
[2026-06-10 14:00:0X] Init parallel begin.
[2026-06-10 14:00:0X] Load weight begin. avail mem=138.42 GB
[2026-06-10 14:00:0X] Load weight end. elapsed=1.0 s, type=Q, avail mem=107.94 GB, mem usage=1.00 GB.
[2026-06-10 14:00:0X] INFO:     Started server process [41]
[2026-06-10 14:00:0X] INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)
[2026-06-10 14:00:0X] The server is fired up and ready to roll!
";

#[test]
fn a_log_over_several_lives() {
    let stop = "[2026-06-10 14:00:03] SIGTERM received. signum=None frame=None. Draining requests and shutting down...\n\
                [2026-06-10 14:00:03] INFO:     Finished server process [41]\n";
    let life = |second: &str| LIFE.replace('X', second);
    let text = format!("{}{stop}{}{}", life("1"), life("5"), life("8"));
    let history = bare(&text);
    let runs = &only(&history).invocations;
    let causes: Vec<_> = runs.iter().map(|run| run.cause.clone()).collect();
    assert_eq!(causes, [Cause::FirstStart, Cause::StartedAgain { after: Ending::Asked }, Cause::StartedAgain { after: Ending::Silent }]);
    assert_eq!(runs.iter().map(|run| run.verdict).collect::<Vec<_>>(), [Verdict::ReadyThenStopped, Verdict::ReadyThenDied, Verdict::Ready]);
    // The second was gone between its ready line (14:00:05) and the configuration of the third (14:00:08), whatever was noted before that.
    let ended = &runs[1].instants.ended;
    let seconds = |mark: &corr_readiness::Mark| (mark.wall.unwrap().start - BASE) / SECOND;
    assert_eq!((ended.lower().map(seconds), ended.upper().map(seconds)), (Some(5), Some(8)));
    // Without its configuration, as `-o json` prints it, a life is told by the load of its weights.
    let lost: String = text.lines().filter(|line| !line.contains("server_args=")).map(|line| format!("{line}\n")).collect();
    let again = bare(&lost);
    assert_eq!(
        only(&again).invocations.iter().map(|run| run.opened).collect::<Vec<_>>(),
        [Opened::Midway, Opened::ByStartLines, Opened::ByStartLines]
    );
}

fn row(from: i64, until: i64, what: What) -> Row {
    let cite = Cite { source: 9, offset: u64::try_from(from).unwrap(), len: 1 };
    let at = |ms: i64| Stamp::new(BASE + ms * 1_000_000, 1);
    Row { cite, host: "h".into(), unit: "server".into(), from: at(from), until: at(until), what }
}

fn ms(instant: &Instant) -> (Option<i64>, Option<i64>) {
    let at = |mark: &corr_readiness::Mark| (mark.wall.unwrap().start - BASE) / 1_000_000;
    (instant.lower().map(at), instant.upper().map(at))
}

#[test]
fn rows_alone_give_intervals() {
    let mut machine = Machine::new(Options::default());
    for (from, until, up) in
        [(0, 10, false), (20_000, 20_010, false), (40_000, 41_000, true), (60_000, 61_000, true), (80_000, 80_010, false)]
    {
        machine.take_row(&row(from, until, What::Health { up }));
    }
    let history = machine.history();
    let [run] = &only(&history).invocations[..] else { panic!() };
    // From the begin of the last poll that failed to the end of the first that was good.
    assert_eq!(ms(&run.instants.ready), (Some(20_000), Some(41_000)));
    assert_eq!(ms(&run.instants.ended), (Some(60_000), Some(80_010)));
    assert_eq!(holds(&judge(only(&history), Claim::NoRestarts)), None);
}

#[test]
fn a_line_beats_a_poll_and_a_contradiction_is_told() {
    for good in [9_000, 500] {
        let text = LIFE.replace('X', "7");
        let mut machine = Machine::new(Options::default());
        for seen in observations(text.as_bytes(), 0, Owner { host: "h", unit: "server" }, "UTC", 2026) {
            machine.take(&seen);
        }
        machine.take_row(&row(0, 10, What::Health { up: false }));
        machine.take_row(&row(good, good + 100, What::Health { up: true }));
        let history = machine.history();
        let run = &only(&history).invocations[0];
        assert!(matches!(run.instants.ready, Instant::Exact { .. }));
        // A poll that was good before this life's first line is not of this life.
        assert!(run.traps.is_empty(), "{:?}", run.traps);
    }
    // After the first line and before the ready line: both are kept.
    let text = format!(
        "{}{}",
        LIFE.replace('X', "1").replace(&format!("[2026-06-10 14:00:01] {READY}\n"), ""),
        "[2026-06-10 14:00:09] The server is fired up and ready to roll!\n"
    );
    let mut machine = Machine::new(Options::default());
    for seen in observations(text.as_bytes(), 0, Owner { host: "h", unit: "server" }, "UTC", 2026) {
        machine.take(&seen);
    }
    machine.take_row(&row(3_000, 3_010, What::Health { up: false }));
    machine.take_row(&row(5_000, 5_010, What::Health { up: true }));
    let history = machine.history();
    let run = &only(&history).invocations[0];
    assert!(trap(run, TrapKind::PollContradicts).contains("good before the ready line"));
    assert_eq!(ms(&run.instants.ready), (Some(9_000), Some(9_000)));
}

#[test]
fn scrapes_and_clients_tell_what_logs_do_not() {
    let scrape = |up, kv_in_use, process_start| What::Scrape { up, process_start, reset: false, kv_in_use };
    let mut machine = Machine::new(Options::default());
    for seen in observations(LIFE.replace('X', "1").as_bytes(), 0, Owner { host: "h", unit: "server" }, "UTC", 2026) {
        machine.take(&seen);
    }
    machine.take_row(&row(1_500, 1_510, scrape(false, None, None)));
    machine.take_row(&row(2_500, 2_510, scrape(true, Some(false), Some(BASE))));
    machine.take_row(&row(3_500, 3_510, scrape(true, Some(true), Some(BASE))));
    machine.take_row(&row(2_000, 2_900, What::Client { ok: false }));
    machine.take_row(&row(3_000, 4_000, What::Client { ok: true }));
    let history = machine.history();
    let run = &only(&history).invocations[0];
    assert_eq!(ms(&run.instants.metrics_live), (Some(1_500), Some(2_510)));
    assert_eq!(ms(&run.instants.first_kv), (Some(2_500), Some(3_510)));
    assert_eq!(ms(&run.instants.first_served), (Some(2_000), Some(4_000)));
}

#[test]
fn without_starts_in_the_log_every_exit_is_a_run() {
    // `-p notice` keeps exits and results, and drops starts.
    let history = history(&[
        "1 systemd[1] a.service: Main process exited, code=exited, status=1/FAILURE",
        "1 systemd[1] a.service: Failed with result 'exit-code'.",
        "9 systemd[1] a.service: Main process exited, code=exited, status=1/FAILURE",
        "9 systemd[1] a.service: Failed with result 'exit-code'.",
    ]);
    let runs = &only(&history).invocations;
    assert_eq!(runs.iter().map(|run| (run.opened, run.verdict)).collect::<Vec<_>>(), [(Opened::Midway, Verdict::NeverReady); 2]);
    assert!(matches!(runs[1].cause, Cause::Unknown { .. }));
}

#[test]
fn a_kill_that_somebody_asked_for() {
    let mut lines = Vec::new();
    start(0.0, 100, &mut lines);
    lines.push(line(20.0, S, "a.service: Sent signal SIGKILL to main process 100 (python3) on client request."));
    lines.push(line(20.5, S, "a.service: Main process exited, code=killed, status=9/KILL"));
    let history = of(&lines);
    let run = &only(&history).invocations[0];
    assert_eq!(ms(&run.instants.asked), (None, Some(20_000)));
    assert_eq!(run.verdict, Verdict::ReadyThenDied);
}

#[test]
fn ready_and_lost_again() {
    let lost = "[2026-06-10 14:00:09] Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. tic start time: 14:00:01. last_heartbeat time: 14:00:00\n";
    let history = bare(&format!("{}{lost}{lost}", LIFE.replace('X', "1")));
    assert_eq!(trap(&only(&history).invocations[0], TrapKind::ReadyThenLost), "2 health checks failed after it was ready");
}

#[test]
fn a_journal_without_systemds_lines_says_so() {
    // with-unit names the unit of a service's line.
    let text = "Wed 2026-06-10 14:00:01 UTC gpu-7 a.service[5]: [2026-06-10 14:00:01] server_args=ServerArgs(model_path='/m', tp_size=1)\n\
                Wed 2026-06-10 14:00:09 UTC gpu-7 a.service[5]: [2026-06-10 14:00:09] The server is fired up and ready to roll!\n";
    let boots = "-- Boot 0123456789abcdef0123456789abcdef --\n";
    let history = machine_of(&format!("{boots}{text}"), Options::default()).history();
    let unit = only(&history);
    assert_eq!((unit.unit.as_str(), unit.invocations[0].verdict), ("a.service", Verdict::Ready));
    assert!(unit.cannot_say.iter().any(|said| said.what.starts_with("who started")), "{:?}", unit.cannot_say);
}

#[test]
fn a_source_from_its_end_is_recognised() {
    let mut lines = Vec::new();
    start(0.0, 100, &mut lines);
    let forward = observations(journal(&lines.iter().map(String::as_str).collect::<Vec<_>>()).as_bytes(), 0, Owner::default(), "UTC", 2026);
    assert!(!corr_readiness::merge::is_reversed(&forward));
    assert!(corr_readiness::merge::is_reversed(forward.iter().rev()));
}

#[test]
fn two_servers_under_one_name_are_no_restart() {
    // `journalctl -t python3` of a host with two servers: no line of systemd, no unit.
    let server = |at: u32, pid: u32, text: &str| format!("{at} python3[{pid}] [2026-06-10 14:00:{at:02}] {text}");
    let args = "server_args=ServerArgs(model_path='/m', tp_size=1, port=30000)";
    let work = "INFO:     10.0.0.5:40112 - \"POST /generate HTTP/1.1\" 200 OK";
    let lines =
        [server(1, 10, args), server(5, 10, READY), server(6, 20, args), server(9, 10, work), server(12, 20, READY), server(13, 10, work)];
    let history = history(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let [first, second] = &only(&history).invocations[..] else { panic!() };
    assert_eq!((first.verdict, second.verdict), (Verdict::Ready, Verdict::Ready));
    assert!(matches!(first.instants.ended, Instant::Never { .. }));
    assert_eq!(holds(&judge(only(&history), Claim::NoRestarts)), None);
    assert!(matches!(&second.cause, Cause::Unknown { why } if why.contains("two servers")) && second.outage.is_none());
    trap(second, TrapKind::TwoUnitsAtOnce);
}

#[test]
fn scrapes_tell_a_restart_that_no_scrape_missed() {
    let scrape = |process_start, reset| What::Scrape { up: true, process_start, reset, kv_in_use: None };
    let told = |rows: &[(i64, What)]| {
        let mut machine = Machine::new(Options::default());
        rows.iter().for_each(|(at, what)| machine.take_row(&row(*at, at + 5, what.clone())));
        machine.history()
    };
    // One process from the first to the last: by its own word, a negative that is covered.
    let one = told(&[(0, scrape(Some(BASE), false)), (1_000, scrape(Some(BASE), false)), (2_000, scrape(Some(BASE), false))]);
    assert_eq!(holds(&judge(only(&one), Claim::NoRestarts)), Some(true));
    // Another start, or counters that fell: a restart between two scrapes.
    for second in [scrape(Some(BASE + SECOND), false), scrape(None, true)] {
        let two = told(&[(0, scrape(Some(BASE), false)), (1_000, scrape(Some(BASE), false)), (2_000, second)]);
        let [first, second] = &only(&two).invocations[..] else { panic!("{:?}", only(&two).invocations) };
        assert_eq!(ms(&first.instants.ended), (Some(1_000), Some(2_005)));
        assert_eq!(second.cause, Cause::StartedAgain { after: Ending::Silent });
        assert_eq!(holds(&judge(only(&two), Claim::NoRestarts)), Some(false));
    }
    let fell = told(&[(0, scrape(None, false)), (1_000, scrape(None, true))]);
    assert_eq!(holds(&judge(only(&fell), Claim::NoRestarts)), Some(false));
    // Without a start of its own, nothing is covered.
    let none = told(&[(0, scrape(None, false)), (1_000, scrape(None, false))]);
    assert_eq!(holds(&judge(only(&none), Claim::NoRestarts)), None);
}

/// A log that goes on over a restart as if nothing had been: the scrapes tell, and one life by their word is none by the log.
#[test]
fn scrapes_tell_a_restart_that_the_log_does_not() {
    let scrape = |process_start| What::Scrape { up: true, process_start: Some(process_start), reset: false, kv_in_use: None };
    let told = |second: i64| {
        let mut machine = Machine::new(Options::default());
        for seen in observations(LIFE.replace('X', "1").as_bytes(), 0, Owner { host: "h", unit: "server" }, "UTC", 2026) {
            machine.take(&seen);
        }
        for (at, start) in [(10_000, BASE), (20_000, BASE), (30_000, second), (40_000, second)] {
            machine.take_row(&row(at, at + 10, scrape(start)));
        }
        machine.history()
    };
    let same = told(BASE);
    assert!(only(&same).invocations[0].traps.iter().all(|trap| trap.kind != TrapKind::RestartNotInLog));
    let other = told(BASE + 25 * SECOND);
    let run = &only(&other).invocations[0];
    assert!(trap(run, TrapKind::RestartNotInLog).contains("two lives in one run"));
    assert_eq!(holds(&judge(only(&other), Claim::NoRestarts)), Some(false));
}

#[test]
fn a_second_node_prints_no_ready_line() {
    let history = bare(
        "[2026-06-10 14:00:01] server_args={'model_path': '/m', 'tp_size': 16, 'nnodes': 2, 'node_rank': 1}\n\
         [2026-06-10 14:00:09 TP8] Load weight end. elapsed=1.0 s, type=Q, avail mem=107.94 GB, mem usage=1.00 GB.\n",
    );
    let run = &only(&history).invocations[0];
    assert_eq!(run.verdict, Verdict::NoReadyLineOfItsOwn);
    assert!(matches!(&run.instants.ready, Instant::Unknown { why } if why.contains("rank above 0")));
    // One of the eight ranks of this node.
    assert!(matches!(run.instants.loaded, Instant::AtLeast { .. }));
    assert_eq!(holds(&judge(only(&history), Claim::ReadyWithin(SECOND))), None);
}

#[test]
fn daemons_are_no_candidates_and_servers_may_be_named() {
    let ready = "9 python3[5] [2026-06-10 14:00:09] The server is fired up and ready to roll!";
    let lines = ["0 systemd[1] Started ssh.service - OpenBSD Secure Shell server.", "0 systemd[1] Started a.service - A.", ready];
    assert_eq!(only(&history(&lines)).invocations[0].verdict, Verdict::Ready);
    // Whether b.service serves, only the user knows.
    let lines = ["0 systemd[1] Started b.service - B.", "0 systemd[1] Started a.service - A.", ready];
    assert!(history(&lines).units.iter().all(|unit| unit.invocations[0].verdict == Verdict::NotReadyYet));
    let options = Options { servers: vec!["a.service".into()], ..Options::default() };
    let told = machine_of(&journal(&lines), options).history();
    assert_eq!((only(&told).unit.as_str(), only(&told).invocations[0].verdict), ("a.service", Verdict::Ready));
}

#[test]
fn a_server_from_before_the_log_is_not_the_one_that_starts() {
    // Process 7 serves since before the log began; a.service is still loading.
    let work = "2 python3[7] [2026-06-10 14:00:02] INFO:     10.0.0.5:40112 - \"POST /generate HTTP/1.1\" 200 OK";
    let history = history(&[
        "0 systemd[1] Started a.service - A.",
        work,
        "3 python3[20] [2026-06-10 14:00:03] server_args=ServerArgs(model_path='/m', tp_size=1, port=30000)",
        "9 python3[20] [2026-06-10 14:00:09] Load weight begin. avail mem=138.42 GB",
    ]);
    let run = &only(&history).invocations[0];
    assert_eq!(run.verdict, Verdict::NotReadyYet);
    assert!(!run.instants.first_served.happened());
    assert!(only(&history).cannot_say[0].why.contains("began before the log did"));
}

#[test]
fn lines_from_before_systemds_first_word_are_the_units() {
    let work = |at: u32, pid: u32| {
        format!("{at} python3[{pid}] [2026-06-10 14:00:{at:02}] INFO:     10.0.0.5:40112 - \"POST /generate HTTP/1.1\" 200 OK")
    };
    let stop = |pid: u32| {
        format!("11 python3[{pid}] [2026-06-10 14:00:11] SIGTERM received. signum=15 frame=None. Draining requests and shutting down...")
    };
    let mut lines =
        vec![work(1, 7), work(5, 7), line(10.0, S, "Stopping a.service - A..."), stop(7), line(12.0, S, "Stopped a.service - A.")];
    start(13.0, 20, &mut lines);
    let history = of(&lines);
    let [old, new] = &only(&history).invocations[..] else { panic!("{:#?}", history.units) };
    assert_eq!((old.opened, ms(&old.instants.last_served)), (Opened::Midway, (Some(5_000), Some(5_000))));
    // Served at 5, ready again at 23.
    assert_eq!(new.outage.as_ref().unwrap().served_to_ready.as_ref().unwrap().middle(), Some(18 * SECOND));
    assert!(only(&history).cannot_say.iter().any(|said| said.what == "which unit the first lines are of"));
    // A second server among them: nothing tells whose they are.
    lines.insert(1, work(3, 8));
    let mixed = of(&lines);
    assert_eq!(mixed.units.len(), 2);
    let nameless = mixed.units.iter().find(|unit| unit.unnamed).unwrap();
    assert!(nameless.cannot_say.iter().any(|said| said.what == "which server a line is of"));
    let unit = mixed.unit("a.service").next().unwrap();
    assert!(unit.invocations[1].outage.as_ref().unwrap().served_to_ready.is_err());
}

/// Whatever the order of lines, nothing panics, bounds do not cross, and nothing is both ready and not.
#[test]
fn any_order_of_lines() {
    let mut lines = Vec::new();
    start(0.0, 100, &mut lines);
    lines.push(served(12.0, 100));
    lines.push(line(13.0, S, "Stopping a.service - A..."));
    lines.push(line(14.0, S, "a.service: Main process exited, code=killed, status=9/KILL"));
    lines.push(line(14.0, S, "a.service: Failed with result 'timeout'."));
    lines.push(line(15.0, S, "a.service: Scheduled restart job, restart counter is at 1."));
    lines.push(line(15.0, "systemd-journald[40]", "Suppressed 9 messages from a.service"));
    start(16.0, 200, &mut lines);
    lines.push("-- Boot 0123456789abcdef0123456789abcdef --".into());
    start(60.0, 100, &mut lines);
    lines.push(line(70.0, S, "a.service: Start request repeated too quickly."));
    let mut seed = 1u64;
    for _ in 0..400 {
        let mut shuffled = lines.clone();
        for at in (1..shuffled.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            shuffled.swap(at, (seed >> 33) as usize % (at + 1));
        }
        let history = of(&shuffled);
        for run in history.units.iter().flat_map(|unit| &unit.invocations) {
            let lengths = [&run.lengths.start_to_ready, &run.lengths.stop_to_end, &run.lengths.waited, &run.lengths.ready_for];
            for length in lengths.into_iter().flatten() {
                assert!(length.least.zip(length.most).is_none_or(|(least, most)| least <= most), "{length:?}");
            }
        }
        for unit in &history.units {
            let _ = judge(unit, Claim::OutageMax(SECOND)).exit_code();
        }
    }
}

/// A port that is closed is no process that ended; one that never answers again, and that nobody asked to stop, is lost.
#[test]
fn not_answering_is_not_ended() {
    let mut machine = Machine::new(Options::default());
    for seen in observations(LIFE.replace('X', "1").as_bytes(), 0, Owner { host: "h", unit: "server" }, "UTC", 2026) {
        machine.take(&seen);
    }
    for (at, up) in [(60_000, true), (61_000, true), (62_000, false), (63_000, false)] {
        machine.take_row(&row(at, at + 10, What::Health { up }));
    }
    let history = machine.history();
    let run = &only(&history).invocations[0];
    assert_eq!(ms(&run.instants.ended), (Some(61_000), None));
    assert!(trap(run, TrapKind::ReadyThenLost).contains("never answered again"));
    machine.take_row(&row(64_000, 64_010, What::Health { up: true }));
    let history = machine.history();
    assert!(only(&history).invocations[0].traps.iter().all(|trap| trap.kind != TrapKind::ReadyThenLost));
}

/// Numbers of a log are anybody's: three that do not fit together are told as the most there is.
#[test]
fn numbers_of_dropped_messages_do_not_overflow() {
    let mut lines = Vec::new();
    start(0.0, 100, &mut lines);
    lines.pop();
    for at in [30.0, 31.0, 32.0] {
        lines.push(line(at, "systemd-journald[40]", &format!("Suppressed {} messages from a.service", u64::MAX)));
    }
    let history = of(&lines);
    let ready = &only(&history).invocations[0].instants.ready;
    assert!(matches!(ready, Instant::Unknown { why } if why.contains(&format!("dropped {} messages", u64::MAX))), "{ready:?}");
}

/// The clocks of a journal are anybody's as well: one that leaps from zero to the end of time while the other goes back is a step, of the most there is.
#[test]
fn clocks_that_lie_do_not_overflow() {
    let text =
        journal(&["10 systemd[1] Started a.service - A.", "5 systemd[1] Stopped a.service - A.", "20 systemd[1] Started a.service - A."]);
    let mut machine = Machine::new(Options::default());
    for (mut seen, mono) in observations(text.as_bytes(), 0, Owner::default(), "UTC", 2026).into_iter().zip([0, i64::MAX, 0]) {
        (seen.mono, seen.boot) = (Some(mono), "b1".into());
        machine.take(&seen);
    }
    let history = machine.history();
    assert!(history.steps.iter().any(|step| step.by == Some(i64::MIN)), "{:?}", history.steps);
}

/// Lines of d1 and of the frontend of a disaggregated Dynamo run, by the texts of 1.6: the frontend stops first and drops its workers.
#[test]
fn a_frontend_that_stops_loses_nobody() {
    let line = |at: &str, target: &str, message: &str| {
        format!("{{\"time\":\"2026-06-10T14:{at}Z\",\"level\":\"INFO\",\"target\":\"{target}\",\"message\":\"{message}\"}}\n")
    };
    let (runtime, monitor) = ("dynamo_runtime::runtime", "dynamo_llm::discovery::worker_monitor");
    let worker = [
        line("00:01.000000", "dynamo_runtime::worker", "dynamo runtime configuration x"),
        line("00:02.000000", "dynamo_runtime::component::endpoint", "Registered endpoint 'dynamo.backend.generate-5f' with instance_id 42"),
        line("00:02.100000", "dynamo_runtime::utils::graceful_shutdown", "Endpoint registered, total active: 0 -> 1"),
        line("00:02.200000", "dynamo_llm::kv_router", "WorkerKvQuery endpoint starting for worker 42"),
        line("00:22.000000", "main.launch_workers", "Shutting down DistributedRuntime instances"),
        line("00:22.000100", runtime, "Runtime shutdown initiated"),
        line("00:22.000200", runtime, "Phase 1: Cancelling endpoint shutdown token"),
    ];
    let frontend = |from_42: &str| {
        [
            line("00:01.500000", "dynamo_runtime::worker", "dynamo runtime configuration x"),
            line("00:03.000000", "dynamo_llm::discovery", "Model registration succeeded"),
            line(from_42, monitor, "cleaned up metrics for removed worker 42"),
            line("00:20.000000", runtime, "Runtime readiness withdrawn for shutdown"),
            line("00:20.000900", monitor, "cleaned up metrics for removed worker 42"),
        ]
    };
    let judged = |frontend: &[String]| {
        let mut sources = Vec::new();
        for (unit, lines) in [("d1", &worker[..]), ("frontend", frontend)] {
            let owner = Owner { host: "vm", unit };
            sources.push(observations(lines.concat().as_bytes(), sources.len() as u32, owner, "UTC", 2026).into_iter());
        }
        let mut machine = Machine::new(Options::default());
        corr_readiness::merge::Merge::new(sources).for_each(|seen| machine.take(&seen));
        let history = machine.history();
        history.unit("d1").next().unwrap().invocations[0].clone()
    };
    let run = judged(&frontend("00:30.000000")[..2]);
    assert_eq!((run.verdict, ms(&run.instants.stopping)), (Verdict::ReadyThenStopping, (None, Some(22_000))));
    assert!(matches!(&run.instants.asked, Instant::Unknown { why } if why.contains("not that somebody asked")), "{:?}", run.instants.asked);
    let all = frontend("00:30.000000");
    let stopping: Vec<String> = [0, 1, 3, 4].iter().map(|at| all[*at].clone()).collect();
    assert_eq!(judged(&stopping).lost_by_others, None, "the frontend stops itself");
    let before = frontend("00:19.000000");
    assert!(judged(&before).lost_by_others.is_some(), "lost before the frontend stopped");
}

/// `#running-req: 32` is no warm-up: whether it is ready is not known, not denied. One request is one.
#[test]
fn a_server_that_works_is_not_called_unready() {
    let lines = |running: u32| {
        format!(
            "[2026-06-10 14:00:01] server_args=ServerArgs(model_path='/m', tp_size=1, port=30000)\n\
             [2026-06-10 14:00:05] Decode batch, #running-req: {running}, #token: 79900, token usage: 0.40, cuda graph: False, gen throughput (token/s): 100.00, #queue-req: 0\n"
        )
    };
    let run = only(&bare(&lines(32))).invocations[0].clone();
    assert_eq!(run.verdict, Verdict::WorkedWithoutReadyLine);
    assert!(matches!(run.instants.ready, Instant::Unknown { .. }), "{:?}", run.instants.ready);
    assert_eq!(run.instants.last_served.lower().and_then(|mark| mark.wall).map(|wall| (wall.start - BASE) / SECOND), Some(5));
    let run = only(&bare(&lines(1))).invocations[0].clone();
    assert_eq!(run.verdict, Verdict::NotReadyYet);
    // A client that was answered says that it was ready.
    let mut machine = bare_machine(&lines(1));
    machine.take_row(&row(6_000, 7_000, What::Client { ok: false }));
    machine.take_row(&row(8_000, 9_000, What::Client { ok: true }));
    let run = only(&machine.history()).invocations[0].clone();
    assert_eq!((run.verdict, ms(&run.instants.ready)), (Verdict::ServedWithoutReadyLine, (None, Some(9_000))), "{run:#?}");
}

/// What an outage is: its two records, and the length between them.
#[test]
fn an_outage_is_one_window() {
    use corr_readiness::history::Sign;
    let away = |history: &History| only(history).invocations[1].outage.clone().unwrap().window.unwrap();
    let seconds = |mark: corr_readiness::Mark| (mark.wall.unwrap().start - BASE) / SECOND;
    let lives = |middle: &str| {
        format!(
            "[2026-06-10 14:00:01] server_args=ServerArgs(model_path='/m', tp_size=1, port=30000)\n\
             [2026-06-10 14:00:05] {READY}\n{middle}\
             [2026-06-10 14:00:30] server_args=ServerArgs(model_path='/m', tp_size=1, port=30000)\n\
             [2026-06-10 14:00:40] {READY}\n"
        )
    };
    let served = "[2026-06-10 14:00:10] INFO:     10.0.0.5:40112 - \"POST /generate HTTP/1.1\" 200 OK\n";
    let later = "[2026-06-10 14:00:20] Cache flushed successfully!\n";
    let stop = "[2026-06-10 14:00:15] SIGTERM received. signum=15 frame=None. Draining requests and shutting down...\n";
    // By hand: from the second of the one record to that of the other, each a second wide.
    for (middle, by, since) in [
        (format!("{served}{later}"), Sign::Answer, 10),
        (format!("{served}{stop}{later}"), Sign::Stop, 15),
        (later.to_string(), Sign::Line, 20),
    ] {
        let window = away(&bare(&lives(&middle)));
        assert_eq!((window.by, seconds(window.since), window.until.map(seconds)), (by, since, Some(40)), "{middle}");
        let length = window.length.unwrap();
        assert_eq!((length.least, length.most), (Some((40 - since - 1) * SECOND), Some((40 - since + 1) * SECOND)), "{middle}");
        assert_eq!(length.cites, [window.since.cite, window.until.unwrap().cite]);
    }
}

/// A router holds no model: an open port says nothing of weights.
#[test]
fn a_router_loads_no_model() {
    let run = only(&bare(
        "2026-06-10 14:00:01  INFO smg::server: src/server.rs:794: Starting router on 127.0.0.1:31040 | mode: Regular { worker_urls: [] }\n\
         2026-06-10 14:00:02  INFO smg::server: src/server.rs:985: Router ready | workers: []\n",
    ))
    .invocations[0]
        .clone();
    assert!(run.instants.listening.happened(), "{:?}", run.instants);
    for instant in [&run.instants.loading, &run.instants.loaded] {
        assert!(matches!(instant, Instant::Unknown { .. }), "{instant:?}");
    }
}

/// A poll that is answered with 503 finds the process: it is not gone then, as one that is refused may be.
#[test]
fn an_answer_that_it_is_not_well_is_no_end() {
    let judged = |log: bool, last: What| {
        let mut machine = if log { bare_machine(&LIFE.replace('X', "1")) } else { Machine::new(Options::default()) };
        machine.take_row(&row(2_000, 2_010, What::Health { up: false }));
        machine.take_row(&row(4_000, 4_010, What::Health { up: true }));
        machine.take_row(&row(6_000, 6_010, What::Unwell));
        machine.take_row(&row(8_000, 8_010, last));
        only(&machine.history()).invocations[0].clone()
    };
    for log in [true, false] {
        let run = judged(log, What::Unwell);
        assert_eq!(ms(&run.instants.ended), (Some(8_000), None), "{log}: {:?}", run.instants.ended);
        assert!(!run.traps.iter().any(|trap| trap.says.contains("stopped answering")), "{:?}", run.traps);
        assert_ne!(run.verdict, Verdict::ReadyThenDied);
        // Refused later: there until the answer at least.
        assert_eq!(ms(&judged(log, What::Health { up: false }).instants.ended), (Some(6_000), None));
    }
}
