//! The restart tables of real SGLang captures: instants from logs alone lie within the bounds of what the driver did and saw.

use std::collections::BTreeMap;

use crate::support::{bytes, cases, observations};
use corr_parsers::stamp::Stamp;
use corr_readiness::convert::Owner;
use corr_readiness::history::{Cause, Ending, TrapKind, Verdict};
use corr_readiness::merge::Merge;
use corr_readiness::rows::{Row, What};
use corr_readiness::{Cite, History, Instant, Machine, Mark, Options};
use serde_json::Value;

pub fn ns(value: &Value) -> Option<i64> {
    value.as_f64().map(|seconds| (seconds * 1e6).round() as i64 * 1_000)
}

pub fn start(mark: &Mark) -> i64 {
    mark.wall.unwrap().start
}

pub fn end(mark: &Mark) -> i64 {
    mark.wall.unwrap().end
}

/// Is a true instant within what is said of it?
pub fn holds(instant: &Instant, truth: i64) -> bool {
    instant.lower().is_none_or(|mark| start(mark) <= truth) && instant.upper().is_none_or(|mark| truth < end(mark))
}

/// The logs of each target, by the names that the captures use.
fn logs(capture: &std::path::Path, target: &str) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = [format!("{target}.log"), format!("{target}.stdout.log"), format!("{target}.stderr.log")]
        .iter()
        .map(|name| capture.join(name))
        .filter(|path| path.exists())
        .collect();
    found.sort();
    found
}

fn by_target(truth: &Value) -> BTreeMap<&str, Vec<&Value>> {
    let mut targets: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for incarnation in truth["incarnations"].as_array().unwrap() {
        targets.entry(incarnation["target"].as_str().unwrap()).or_default().push(incarnation);
    }
    targets
}

fn machine(capture: &std::path::Path, target: &str) -> Machine {
    let mut machine = Machine::new(Options::default());
    let owner = Owner { host: "vm", unit: target };
    let sources = logs(capture, target).into_iter().enumerate();
    let all = sources.map(|(at, path)| observations(&bytes(&path), at as u32, owner, "UTC", 2026).into_iter());
    for seen in Merge::new(all.collect::<Vec<_>>()) {
        machine.take(&seen);
    }
    machine
}

fn history(capture: &std::path::Path, target: &str, polls: bool) -> History {
    let mut machine = machine(capture, target);
    if polls {
        rows(capture, target, &mut machine);
    }
    machine.history()
}

/// The capture's poll log, as a user's loop would have written it: it is an input here, and the server's own lines are compared with it.
fn rows(capture: &std::path::Path, target: &str, machine: &mut Machine) {
    for line in String::from_utf8(bytes(&capture.join("health.jsonl"))).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if row["target"] != target {
            continue;
        }
        let at = |key: &str| Stamp::new(ns(&row[key]).unwrap(), 1_000);
        machine.take_row(&Row {
            cite: Cite { source: 99, offset: 0, len: 0 },
            host: "vm".into(),
            unit: target.into(),
            from: at("t_start"),
            until: at("t_end"),
            what: What::Health { up: row["status"] == 200 },
        });
    }
}

/// Ends of polls that failed.
fn failures(capture: &std::path::Path, target: &str) -> Vec<i64> {
    let text = String::from_utf8(bytes(&capture.join("health.jsonl"))).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row["target"] == target && row["status"] != 200).map(|row| ns(&row["t_end"]).unwrap()).collect()
}

#[test]
fn restarts_of_sglang_captures() {
    let Some(folder) = cases("sglang") else { return };
    let truth: Value = serde_json::from_slice(&bytes(&folder.join("truth.json"))).unwrap();
    let (mut lives, mut checks, mut kills, mut stops) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for (capture, truth) in truth["captures"].as_object().unwrap() {
        for (target, incarnations) in by_target(truth) {
            let dir = folder.join(capture);
            if target.starts_with("router") || logs(&dir, target).is_empty() {
                println!("{capture} {target}: no server's log of its own here");
                continue;
            }
            let history = history(&dir, target, false);
            let unit = &history.units[0];
            if unit.invocations.len() != incarnations.len() {
                wrong.push(format!("{capture} {target}: {} lives, not {}", unit.invocations.len(), incarnations.len()));
                continue;
            }
            for (at, (run, truth)) in unit.invocations.iter().zip(&incarnations).enumerate() {
                lives += 1;
                let mut check = |ok: bool, what: &str, detail: String| {
                    checks += 1;
                    if !ok {
                        wrong.push(format!("{capture} {target} {}: {what}: {detail}", at + 1));
                    }
                };
                let time = |key: &str| ns(&truth[key]);
                let exec = time("exec").unwrap();
                check(holds(&run.instants.started, exec), "started", format!("{:?} {exec}", run.instants.started));
                check(holds(&run.instants.execd, exec), "execd", format!("{:?} {exec}", run.instants.execd));
                // The bytes are of this life: of stdout and stderr only one has its offset in the table.
                if logs(&dir, target).len() == 1 {
                    let offset = run.instants.started.upper().unwrap().cite.offset;
                    check(offset >= truth["log_offset"].as_u64().unwrap(), "offset", offset.to_string());
                }
                let exited = time("process_exited").unwrap();
                check(holds(&run.instants.ended, exited), "ended", format!("{:?} {exited}", run.instants.ended));
                match time("first_health_200") {
                    Some(healthy) => {
                        let ready = run.instants.ready.upper();
                        let ok = ready.is_some_and(|mark| exec < end(mark) && start(mark) <= healthy);
                        check(ok, "ready", format!("{:?} {healthy}", run.instants.ready));
                        let loaded = run.instants.loaded.upper().is_some_and(|mark| start(mark) <= healthy);
                        check(loaded, "loaded", format!("{:?}", run.instants.loaded));
                    }
                    None => check(matches!(run.instants.ready, Instant::Never { .. }), "ready", format!("{:?}", run.instants.ready)),
                }
                let asked = time("sigterm_sent");
                if let (Some(asked), Some(_)) = (asked, time("first_health_200")) {
                    stops += 1;
                    check(holds(&run.instants.asked, asked), "asked", format!("{:?} {asked}", run.instants.asked));
                    // The last life of a log: no line of the server, and no next one, says that it had ended.
                    let last = at + 1 == incarnations.len();
                    let stopped = run.verdict == Verdict::ReadyThenStopped || (last && run.verdict == Verdict::ReadyThenStopping);
                    check(stopped, "verdict", format!("{:?}", run.verdict));
                    // SGLang looks for the signal every five seconds.
                    let near = run.instants.asked.upper().is_some_and(|mark| start(mark) - asked <= 6_000_000_000);
                    check(near, "asked, five seconds", format!("{:?} {asked}", run.instants.asked));
                }
                if time("sigkill_sent").is_some() || time("sigkill_sent_to_scheduler_child").is_some() {
                    kills += 1;
                    check(run.verdict == Verdict::ReadyThenDied, "verdict", format!("{:?}", run.verdict));
                    check(run.traps.iter().any(|trap| trap.kind == TrapKind::ReadyThenCrash), "trap", format!("{:?}", run.traps));
                }
                if at > 0 {
                    let before = incarnations[at - 1];
                    let after = if !before["sigterm_sent"].is_null() {
                        Ending::Asked
                    } else if !before["sigkill_sent"].is_null() {
                        Ending::Silent
                    } else {
                        Ending::Crashed
                    };
                    check(run.cause == Cause::StartedAgain { after }, "cause", format!("{:?}, not {after:?}", run.cause));
                    let outage = run.outage.as_ref().unwrap();
                    let away = exec - ns(&before["process_exited"]).unwrap();
                    let ok = outage
                        .end_to_start
                        .as_ref()
                        .is_ok_and(|length| length.least.is_none_or(|least| least <= away) && length.most.is_none_or(|most| away <= most));
                    check(ok, "outage", format!("{:?} {away}", outage.end_to_start));
                }
            }
        }
    }
    println!("{lives} lives of servers, {stops} stops, {kills} kills: {checks} checks, {} wrong", wrong.len());
    for wrong in &wrong {
        println!("    WRONG: {wrong}");
    }
    assert!(wrong.is_empty());
    assert!(lives >= 30 && kills >= 7 && stops >= 15, "{lives} {kills} {stops}");
}

/// SGLang under a real journald and no systemd: process ids and configurations alone tell its lives apart, in each rendering.
#[test]
fn restarts_in_a_journal_without_a_manager() {
    let Some(folder) = cases("sglang/g-0509-journald") else { return };
    let all: Value = serde_json::from_slice(&bytes(&folder.join("../truth.json"))).unwrap();
    let truth = &all["captures"]["g-0509-journald"];
    let lives = truth["incarnations"].as_array().unwrap();
    let mut files: Vec<_> = std::fs::read_dir(folder.join("journal")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut renderings = 0;
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        // Parts of the journal, and what has neither stamp nor order.
        if name.contains("-n") || name.contains("header") || name.contains("o-cat") {
            continue;
        }
        let mut machine = Machine::new(Options::default());
        for seen in observations(&bytes(&file), 0, Owner::default(), "UTC", 2026) {
            machine.take(&seen);
        }
        let history = machine.history();
        let [unit] = &history.units[..] else { panic!("{name}: {} units", history.units.len()) };
        assert!(unit.unnamed && unit.cannot_say.iter().any(|said| said.what == "which unit this is"), "{name}");
        assert_eq!(unit.invocations.len(), lives.len(), "{name}");
        for (run, truth) in unit.invocations.iter().zip(lives) {
            let time = |key: &str| ns(&truth[key]).unwrap();
            let said = format!("{name} {:?}", run.instants);
            assert!(holds(&run.instants.started, time("exec")), "{said}");
            assert!(holds(&run.instants.ended, time("process_exited")), "{said}");
            let ready = run.instants.ready.upper().unwrap();
            assert!(time("exec") < end(ready) && start(ready) <= time("first_health_200"), "{said}");
            assert!(run.pids.contains(&(truth["pid"].as_u64().unwrap() as u32)), "{name}: {:?}", run.pids);
            if !truth["sigterm_sent"].is_null() {
                assert!(holds(&run.instants.asked, time("sigterm_sent")), "{said}");
            }
        }
        renderings += 1;
    }
    println!("{renderings} renderings, {} lives each", lives.len());
    assert!(renderings >= 9);
}

/// A poll log alone gives intervals, and each holds the server's own ready line; both together give the line, and no contradiction.
#[test]
fn polls_of_captures() {
    let Some(folder) = cases("sglang") else { return };
    let truth: Value = serde_json::from_slice(&bytes(&folder.join("truth.json"))).unwrap();
    let (mut compared, mut contradictions, mut missed) = (0, 0, 0);
    for (capture, truth) in truth["captures"].as_object().unwrap() {
        for (target, incarnations) in by_target(truth) {
            let dir = folder.join(capture);
            if target.starts_with("router") || logs(&dir, target).is_empty() {
                continue;
            }
            let mut machine = Machine::new(Options::default());
            rows(&dir, target, &mut machine);
            let polled = machine.history();
            let both = history(&dir, target, true);
            let log = history(&dir, target, false);
            let Some(polled) = polled.units.first() else { continue };
            let ready: Vec<_> = log.units[0].invocations.iter().filter_map(|run| run.instants.ready.upper()).collect();
            let intervals: Vec<_> = polled.invocations.iter().map(|run| &run.instants.ready).collect();
            for (run, alone) in both.units[0].invocations.iter().zip(&log.units[0].invocations) {
                assert_eq!(run.instants.ready, alone.instants.ready, "{capture} {target}: the line beats the poll");
                contradictions += run.traps.iter().filter(|trap| trap.kind == TrapKind::PollContradicts).count();
            }
            // A poll that fails in a busy server's life makes an interval more: each ready line has one.
            for line in ready {
                let fits = intervals.iter().any(|found| {
                    let (Some(lower), Some(upper)) = (found.lower(), found.upper()) else { return false };
                    start(lower) < end(line) && start(line) < end(upper)
                });
                if fits {
                    compared += 1;
                    continue;
                }
                // An outage shorter than the polls' distance is missed: by the truth's exit before, no poll fell into it.
                let exits = incarnations.iter().filter_map(|life| ns(&life["process_exited"])).filter(|exit| *exit < start(line));
                let exit = exits.max().unwrap();
                let failed = failures(&dir, target).into_iter().filter(|poll| exit < *poll && *poll < end(line)).count();
                assert_eq!(failed, 0, "{capture} {target}: {line:?} in none of {intervals:?}");
                missed += 1;
            }
        }
    }
    println!("{compared} ready lines, each within an interval of polls; {missed} that no poll noticed; {contradictions} contradictions");
    assert!(compared >= 25 && missed <= 3 && contradictions == 0);
}

/// Scrapes of the captures: metrics are live no earlier than the port is open, and the interval says so in every life.
#[test]
fn scrapes_of_captures() {
    let Some(folder) = cases("sglang") else { return };
    let truth: Value = serde_json::from_slice(&bytes(&folder.join("truth.json"))).unwrap();
    let (mut live, mut lives) = (0, 0);
    for (capture, truth) in truth["captures"].as_object().unwrap() {
        for (target, _) in by_target(truth) {
            let dir = folder.join(capture);
            if target.starts_with("router") || logs(&dir, target).is_empty() {
                continue;
            }
            let mut machine = machine(&dir, target);
            let text = String::from_utf8(bytes(&dir.join("scrapes.jsonl"))).unwrap();
            let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            for row in rows.iter().filter(|row| row["target"] == target) {
                let at = |key: &str| Stamp::new(ns(&row[key]).unwrap(), 1_000);
                machine.take_row(&Row {
                    cite: Cite { source: 98, offset: 0, len: 0 },
                    host: "vm".into(),
                    unit: target.into(),
                    from: at("t_start"),
                    until: at("t_end"),
                    what: What::Scrape { up: row["status"] == 200, process_start: None, reset: false, kv_in_use: None },
                });
            }
            for run in &machine.history().units[0].invocations {
                lives += 1;
                let (Some(upper), Some(port)) = (run.instants.metrics_live.upper(), run.instants.listening.upper()) else { continue };
                assert!(start(port) < end(upper), "{capture} {target}: {:?} {port:?}", run.instants.metrics_live);
                live += 1;
            }
        }
    }
    println!("{live} of {lives} lives with live metrics, none before its port");
    assert!(live >= 20, "{live}");
}

/// A router and its workers: the router's lives, and when it lost and found each worker.
#[test]
fn a_router_loses_its_workers() {
    let Some(folder) = cases("sglang") else { return };
    let all: Value = serde_json::from_slice(&bytes(&folder.join("truth.json"))).unwrap();
    let (mut lives, mut lost) = (0, 0);
    for capture in ["d-0523-router", "e-0523-pd-mooncake-tcp"] {
        let dir = folder.join(capture);
        let targets = by_target(&all["captures"][capture]);
        let mut sources = Vec::new();
        for target in targets.keys() {
            for path in logs(&dir, target) {
                sources
                    .push(observations(&bytes(&path), sources.len() as u32, Owner { host: "vm", unit: target }, "UTC", 2026).into_iter());
            }
        }
        let mut machine = Machine::new(Options::default());
        Merge::new(sources).for_each(|seen| machine.take(&seen));
        let history = machine.history();
        let router = history.unit("router").next().unwrap();
        let truth = &targets["router"];
        assert_eq!(router.invocations.len(), truth.len(), "{capture}");
        for (run, truth) in router.invocations.iter().zip(truth) {
            let time = |key: &str| ns(&truth[key]).unwrap();
            let said = format!("{capture} {:?} {truth}", run.instants);
            assert!(holds(&run.instants.started, time("exec")) && holds(&run.instants.asked, time("sigterm_sent")), "{said}");
            assert!(holds(&run.instants.ended, time("process_exited")), "{said}");
            lives += 1;
        }
        for (target, truth) in targets.iter().filter(|(target, _)| **target != "router") {
            let runs = &history.unit(target).next().unwrap().invocations;
            for (at, (run, life)) in runs.iter().zip(truth).enumerate() {
                let asked = ["sigterm_sent", "sigkill_sent"].iter().find_map(|key| ns(&life[key])).unwrap();
                let next = truth.get(at + 1).map_or(i64::MAX, |life| ns(&life["exec"]).unwrap());
                let Some(mark) = &run.lost_by_others else { continue };
                // The router's stamps are whole seconds. A process that drains answers health checks with 503: it is lost when it is gone.
                let gone = ns(&life["process_exited"]).unwrap();
                assert!(gone < end(mark) && start(mark) < next, "{capture} {target}: {mark:?} {asked} {gone}");
                println!(
                    "{capture} {target} {}: told to end, {:.1} s later lost by the router",
                    at + 1,
                    (start(mark) - asked) as f64 / 1e9
                );
                lost += 1;
            }
        }
    }
    println!("{lives} lives of routers, {lost} workers lost");
    assert!(lives == 3 && lost >= 2, "{lives} {lost}");
}
