//! Dynamo captures: the killed worker's death and return, from logs alone, against what the driver did; and who noticed it first.

use std::collections::BTreeMap;

use corr_readiness::convert::Owner;
use corr_readiness::history::Verdict;
use corr_readiness::merge::Merge;
use corr_readiness::{Instant, Machine, Options};
use serde_json::Value;

use crate::captures::{end, holds, ns, start};
use crate::support::{bytes, cases, observations};

#[test]
fn restarts_of_dynamo_captures() {
    let Some(folder) = cases("dynamo") else { return };
    let (mut lives, mut kills, mut noticed, mut stops, mut lost) = (0, 0, 0, 0, 0);
    let mut dirs: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    dirs.sort();
    for dir in dirs.iter().filter(|dir| dir.join("timeline.jsonl").exists()) {
        let name = dir.file_name().unwrap().to_str().unwrap();
        let timeline: Vec<Value> = String::from_utf8(bytes(&dir.join("timeline.jsonl")))
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let mut sources = Vec::new();
        let mut starts: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for event in timeline.iter().filter(|event| event["event"] == "start") {
            starts.entry(event["proc"].as_str().unwrap().to_owned()).or_default().push(ns(&event["t_unix"]).unwrap());
        }
        starts.retain(|proc, _| proc == "frontend" || proc.len() == 2);
        for proc in starts.keys() {
            for file in [format!("{proc}.log"), format!("{proc}.log.gz"), format!("{proc}.restart.log"), format!("{proc}.restart.log.gz")] {
                if dir.join(&file).exists() {
                    let owner = Owner { host: "vm", unit: proc };
                    sources.push(observations(&bytes(&dir.join(&file)), sources.len() as u32, owner, "UTC", 2026).into_iter());
                }
            }
        }
        let mut machine = Machine::new(Options::default());
        Merge::new(sources).for_each(|seen| machine.take(&seen));
        let history = machine.history();
        for (proc, starts) in &starts {
            let unit = history.unit(proc).next().unwrap_or_else(|| panic!("{name}: {proc}"));
            assert_eq!(
                unit.invocations.len(),
                starts.len(),
                "{name} {proc}: {:#?}",
                unit.invocations.iter().map(|r| (&r.instants.started, r.opened)).collect::<Vec<_>>()
            );
            for (run, begun) in unit.invocations.iter().zip(starts) {
                lives += 1;
                assert!(holds(&run.instants.started, *begun), "{name} {proc}: {:?} {begun}", run.instants.started);
                let ready = run.instants.ready.upper().unwrap_or_else(|| panic!("{name} {proc}: {:?}", run.instants));
                assert!(end(ready) > *begun, "{name} {proc}");
            }
        }
        // When the driver told the last life of a process to end.
        let told: BTreeMap<&str, i64> = timeline
            .iter()
            .filter(|event| event["event"] == "sigterm")
            .map(|event| (event["proc"].as_str().unwrap(), ns(&event["t_unix"]).unwrap()))
            .collect();
        let killed = timeline.iter().find(|event| event["event"] == "kill").map(|event| ns(&event["t_unix"]).unwrap());
        for (proc, starts) in &starts {
            let (runs, told) = (&history.unit(proc).next().unwrap().invocations, told[proc.as_str()]);
            let run = &runs[starts.len() - 1];
            let instants = &run.instants;
            if instants.stops() {
                stops += 1;
                // Its first word of it came at once, and nothing else it says of a stop is of before.
                let by = instants.stopping.upper().unwrap();
                assert!(told < end(by) && start(by) - told < 1_000_000_000, "{name} {proc}: {:?} {told}", instants.stopping);
                assert!(!matches!(instants.asked, Instant::Never { .. }), "{name} {proc}: {:?}", instants.asked);
                assert_eq!(run.verdict, Verdict::ReadyThenStopping, "{name} {proc}");
            } else {
                println!("{name} {proc}: its log has no line of its stop");
            }
            // Nobody is gone before somebody told it to be: a frontend that stops itself drops all its workers.
            for (at, run) in runs.iter().enumerate() {
                let Some(mark) = &run.lost_by_others else { continue };
                let over = if at + 1 < starts.len() { killed.unwrap() } else { told };
                assert!(over < end(mark), "{name} {proc} {}: lost at {mark:?}, and told to end at {over}", at + 1);
                lost += 1;
            }
        }
        for dead in timeline.iter().filter(|event| event["event"] == "dead") {
            let proc = dead["proc"].as_str().unwrap();
            let unit = history.unit(proc).next().unwrap();
            let (died, killed) =
                (ns(&dead["t_unix"]).unwrap(), ns(&timeline.iter().find(|event| event["event"] == "kill").unwrap()["t_unix"]).unwrap());
            let again = starts[proc][1];
            kills += 1;
            let [old, new] = &unit.invocations[..] else { panic!("{name} {proc}") };
            assert_eq!(old.verdict, Verdict::ReadyThenDied, "{name} {proc}");
            assert!(holds(&old.instants.ended, died), "{name} {proc}: {:?} {died}", old.instants.ended);
            let away = old_to_new(new, again - died);
            assert!(away, "{name} {proc}: {:?}", new.outage);
            match &old.lost_by_others {
                // The driver's word for the kill and the frontend's for the stream that broke.
                Some(mark) => {
                    assert!(killed < end(mark) && start(mark) < again, "{name} {proc}: {mark:?}");
                    println!("{name} {proc}: killed, {:.3} s later noticed by the frontend", (start(mark) - killed) as f64 / 1e9);
                    noticed += 1;
                }
                None => println!("{name} {proc}: killed, and no other process's line names it"),
            }
        }
    }
    println!("{lives} lives, {stops} stops, {kills} kills, {noticed} noticed by others, {lost} lost in all");
    assert!(lives >= 25 && stops >= 25 && kills >= 7 && noticed >= 6, "{lives} {stops} {kills} {noticed}");
}

fn old_to_new(new: &corr_readiness::Invocation, away: i64) -> bool {
    new.outage.as_ref().is_some_and(|outage| {
        outage
            .end_to_start
            .as_ref()
            .is_ok_and(|length| length.least.is_none_or(|least| least <= away) && length.most.is_none_or(|most| away <= most))
    })
}
