//! What each journald case must yield, from renderings with fields and from text.

use serde_json::Value;

use crate::program::Place;
use crate::support::{cases, lasts, ready, runs, traps};

/// The verdict's word in JSON for the reference's.
fn verdict(reference: &str) -> &'static str {
    match reference {
        "ready" => "ready",
        "not ready yet" => "not_ready_yet",
        "was ready, then stopped" => "ready_then_stopped",
        "was ready, then died" => "ready_then_died",
        "never ready" => "never_ready",
        "ready line printed although the warm-up failed" => "ready_line_after_failed_warmup",
        "served a client, ready line missing" => "served_without_ready_line",
        other => panic!("{other}"),
    }
}

/// The trap that each case is about.
const TRAPS: &[(&str, &str)] = &[
    ("c02", "stale_ready_line"),
    ("c03", "crash_loop"),
    ("c04", "ready_then_crash"),
    ("c05", "log_begins_midway"),
    ("c07", "ready_after_failed_warmup"),
    ("c08", "clock_step"),
    ("c09", "late_line"),
    ("c10", "rate_limit"),
];

#[test]
fn every_case_from_several_renderings() {
    let Some(folder) = cases("journald/cases") else { return };
    let (mut asked, mut facts) = (0, 0);
    let mut dirs: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    dirs.sort();
    for dir in dirs {
        let name = dir.file_name().unwrap().to_str().unwrap().to_owned();
        let expected: Value = serde_json::from_slice(&std::fs::read(dir.join("expected.json")).unwrap()).unwrap();
        for mode in ["export", "json", "short-precise"] {
            let full = mode != "short-precise";
            let place = Place::new();
            let file = format!("{name}.{mode}.txt");
            place.write(&file, &std::fs::read(dir.join(format!("{mode}.txt"))).unwrap());
            let (answer, ran) = ready(&place, &[&file]);
            asked += 1;
            let mut wanted: Vec<&Value> = expected["invocations"].as_array().unwrap().iter().collect();
            // Of a unit of which systemd says nothing, text names no unit.
            if !full && name.starts_with("c05") {
                assert!(ran.code == Some(0), "{file}: {}", ran.stderr);
                assert!(answer["units"][0]["unnamed"] == true, "{file}: {answer:#}");
                continue;
            }
            let units: std::collections::BTreeSet<&str> = wanted.iter().map(|want| want["unit"].as_str().unwrap()).collect();
            for unit in units {
                let mine: Vec<&Value> = wanted.iter().copied().filter(|want| want["unit"] == unit).collect();
                let found = runs(&answer, unit);
                assert_eq!(found.len(), mine.len(), "{file} {unit}");
                for (run, want) in found.iter().zip(&mine) {
                    // Where the rendering cannot tell, it says so instead: a late line without an invocation id.
                    let open = !full && !run["cannot_say"].as_array().unwrap().is_empty();
                    let same = run["verdict"] == verdict(want["verdict"].as_str().unwrap());
                    assert!(same || open, "{file} {unit}: {} not {}", run["verdict"], want["verdict"]);
                    facts += usize::from(same);
                    if let Some(seconds) = want["start_to_ready_s"].as_f64() {
                        let length = &run["lengths"]["start_to_ready"];
                        // To a ready line that is none nothing is measured.
                        if want["verdict"].as_str().unwrap().contains("warm-up failed") {
                            assert!(length["unknown"].is_string(), "{file}: {length}");
                        } else {
                            assert!(lasts(length, seconds), "{file} {unit}: {length} {seconds}");
                        }
                        facts += 1;
                    }
                    if full && let Some(cause) = want["restart"]["cause"].as_str() {
                        let said = run["cause_says"].as_str().unwrap();
                        assert!(said.starts_with(cause), "{file}: {said}, not {cause}");
                        facts += 1;
                    }
                    for key in ["stopping_to_ready", "end_to_ready"] {
                        if let (true, Some(seconds)) = (full, want["restart"]["outage_s"][key].as_f64()) {
                            assert!(lasts(&run["outage"][key], seconds), "{file} {key}: {:#}", run["outage"]);
                            facts += 1;
                        }
                    }
                }
            }
            wanted.clear();
            if let Some((_, trap)) = TRAPS.iter().find(|(case, _)| name.starts_with(case)).filter(|_| full) {
                let all = answer["units"].as_array().unwrap().iter().flat_map(|unit| unit["invocations"].as_array().unwrap());
                let named: Vec<&str> = all.flat_map(traps).collect();
                assert!(named.contains(trap), "{file}: {named:?}");
                // People are told by the same name.
                let text = place.corr(&["ready", &file]).stdout;
                assert!(text.contains("trap"), "{file}: {text}");
                facts += 1;
            }
        }
    }
    println!("{asked} renderings, {facts} facts");
    assert!(asked >= 30 && facts >= 100, "{asked} {facts}");
}
