//! Whole captures, copied without what their drivers wrote down: instants lie within what the drivers did and saw.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::program::Place;
use crate::support::{bounds, cases, holds, ns, ready, traps, without_truth};

fn by_target(truth: &Value) -> BTreeMap<&str, Vec<&Value>> {
    let mut targets: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for life in truth["incarnations"].as_array().unwrap() {
        targets.entry(life["target"].as_str().unwrap()).or_default().push(life);
    }
    targets
}

/// `worker0` and `worker-0` are one name.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect()
}

fn of<'v>(answer: &'v Value, target: &str) -> Option<&'v Value> {
    answer["units"].as_array().unwrap().iter().find(|unit| plain(unit["unit"].as_str().unwrap()) == plain(target))
}

#[test]
fn restarts_of_sglang_captures() {
    let Some(folder) = cases("sglang") else { return };
    let truth: Value = serde_json::from_slice(&std::fs::read(folder.join("truth.json")).unwrap()).unwrap();
    let (mut lives, mut checks, mut metrics, mut polled) = (0, 0, 0, 0);
    for (capture, truth) in truth["captures"].as_object().unwrap() {
        let dir = folder.join(capture);
        if !dir.is_dir() || capture == "g-0509-journald" {
            println!("{capture}: no logs of its servers by their names here");
            continue;
        }
        let place = Place::new();
        without_truth(&dir, &place, "run");
        let (answer, ran) = ready(&place, &["run", "--tz", "UTC"]);
        assert!(matches!(ran.code, Some(0 | 1 | 4)), "{capture}: {:?} {}", ran.code, ran.stderr);
        if capture == "d-0523-router" {
            let said = place.corr(&["sources", "run", "--tz", "UTC"]).stdout;
            for restart in ["outage:worker-0#1", "outage:worker-1#1", "outage:router#1"] {
                assert!(said.contains(&format!("have a gap that is the restart `{restart}`")), "{restart}: {said}");
            }
        }
        for (target, incarnations) in by_target(truth) {
            let logged = std::fs::read_dir(&dir).unwrap().any(|entry| {
                let name = entry.unwrap().file_name().into_string().unwrap();
                name.starts_with(&format!("{target}.")) && name.ends_with(".log")
            });
            if !logged {
                println!("{capture} {target}: no log of its own here");
                continue;
            }
            let unit = of(&answer, target).unwrap_or_else(|| panic!("{capture}: no {target} in {:#}", answer["seen_from_outside"]));
            let runs = unit["invocations"].as_array().unwrap();
            assert_eq!(runs.len(), incarnations.len(), "{capture} {target}");
            for (run, life) in runs.iter().zip(&incarnations) {
                lives += 1;
                let instants = &run["instants"];
                let time = |key: &str| ns(&life[key]);
                let mut check = |ok: bool, what: &str| {
                    checks += 1;
                    assert!(ok, "{capture} {target} {}: {what}: {life} {instants:#}", run["number"]);
                };
                check(holds(&instants["started"], time("exec").unwrap()), "started");
                check(!traps(run).contains(&"restart_not_in_log"), "every restart is in the log");
                check(holds(&instants["ended"], time("process_exited").unwrap()), "ended");
                if let Some(asked) = time("sigterm_sent").filter(|_| !life["first_health_200"].is_null()) {
                    check(holds(&instants["asked"], asked), "asked");
                }
                // A gateway is healthy without workers; it can answer once one is activated.
                let answered = if target.starts_with("router") { "first_generate_200" } else { "first_health_200" };
                match time(answered) {
                    Some(healthy) => {
                        let (after, by) = bounds(&instants["ready"]);
                        check(by.is_some_and(|by| by > time("exec").unwrap()) && after.is_none_or(|after| after <= healthy), "ready");
                    }
                    None => check(instants["ready"]["known"] == "never", "never ready"),
                }
                if instants["metrics_live"]["known"] == "within" {
                    metrics += 1;
                    // The port was open by the end of the scrape that answered.
                    let by = bounds(&instants["metrics_live"]).1.unwrap();
                    check(bounds(&instants["listening"]).0.is_none_or(|port| port < by), "metrics live");
                }
            }
            let mine = |seen: &&Value| seen["unit"] == unit["unit"] && seen["what"] == "polls";
            polled += answer["seen_from_outside"].as_array().unwrap().iter().filter(mine).count();
        }
    }
    println!("{lives} lives, {checks} checks, {metrics} with live metrics, {polled} units that were polled");
    assert!(lives >= 30 && checks >= 100 && metrics >= 15 && polled >= 8, "{lives} {checks} {metrics} {polled}");
}

#[test]
fn the_killed_worker_of_dynamo_captures() {
    let Some(folder) = cases("dynamo") else { return };
    let (mut kills, mut noticed) = (0, 0);
    let mut dirs: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    dirs.sort();
    for dir in dirs.iter().filter(|dir| dir.join("timeline.jsonl").exists()) {
        let name = dir.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(dir.join("timeline.jsonl")).unwrap();
        let timeline: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let at = |event: &str| timeline.iter().find(|row| row["event"] == event);
        let (Some(dead), Some(kill)) = (at("dead"), at("kill")) else { continue };
        let proc = dead["proc"].as_str().unwrap();
        let starts: Vec<i64> =
            timeline.iter().filter(|row| row["event"] == "start" && row["proc"] == proc).map(|row| ns(&row["t_unix"]).unwrap()).collect();
        let place = Place::new();
        without_truth(dir, &place, "run");
        let (answer, ran) = ready(&place, &["run", "--tz", "UTC"]);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.stderr);
        let unit = of(&answer, proc).unwrap_or_else(|| panic!("{name}: no {proc}"));
        let [old, new] = &unit["invocations"].as_array().unwrap()[..] else { panic!("{name} {proc}: not two lives") };
        assert_eq!(old["verdict"], "ready_then_died", "{name}");
        assert!(holds(&old["instants"]["ended"], ns(&dead["t_unix"]).unwrap()), "{name}: {:#}", old["instants"]["ended"]);
        assert!(holds(&old["instants"]["started"], starts[0]) && holds(&new["instants"]["started"], starts[1]), "{name}");
        kills += 1;
        if let Some(lost) = old["lost_by_others"]["wall"][0].as_i64() {
            let end = old["lost_by_others"]["wall"][1].as_i64().unwrap();
            assert!(ns(&kill["t_unix"]).unwrap() < end && lost < starts[1], "{name}");
            noticed += 1;
        }
    }
    println!("{kills} kills, {noticed} noticed by others");
    assert!(kills >= 7 && noticed >= 6, "{kills} {noticed}");
}
