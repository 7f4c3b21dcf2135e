//! Timelines of real captures against what the drivers of these captures wrote down. Those files are never given to corr.

use std::path::Path;

use serde_json::Value;

use crate::gfm;
use crate::program::{Place, cases};

/// Captures with the sources of them that are read.
const CAPTURES: &[(&str, &str)] = &[
    ("b2-0523-hicache-restart", "server.log"),
    ("a2-0523-retract", "server.log"),
    ("g-0509-journald", "journal/journalctl-o-json-all.jsonl.gz"),
];

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).expect("a file of truth").lines().map(|l| serde_json::from_str(l).expect("JSON")).collect()
}

fn rows(place: &Place, args: &[&str]) -> (Vec<Value>, Value) {
    let ran = place.corr(&[&["timeline", "run", "--format", "json"], args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    (json["rows"].as_array().expect("rows").clone(), json["summary"].clone())
}

fn count<'r>(rows: impl IntoIterator<Item = &'r Value>) -> u64 {
    rows.into_iter().map(|r| r["count"].as_u64().expect("a count")).sum()
}

#[test]
fn starts_stops_and_probes_are_those_of_the_drivers() {
    let Some(cases) = cases("sglang") else { return };
    let truth: Value = serde_json::from_str(&std::fs::read_to_string(cases.join("truth.json")).expect("truth")).expect("JSON");
    for (name, source) in CAPTURES {
        let place = Place::new();
        let target = format!("run/{source}");
        place.write(&target, &std::fs::read(cases.join(name).join(source)).expect("the capture"));
        let (rows, summary) = rows(&place, &["--limit", "0"]);
        assert_eq!(count(&rows), summary["events"].as_u64().expect("events"), "{name}: each event is in one row");
        let lives = truth["captures"][name]["incarnations"].as_array().expect("incarnations");
        let of = |kind: &str| -> Vec<&Value> { rows.iter().filter(|r| r["first"]["kind"] == kind).collect() };
        let seconds = |row: &Value, end: &str| row["first"][end].as_i64().expect("a stamp") as f64 / 1e9;

        let starts = of("server_args");
        assert_eq!(starts.len(), lives.len(), "{name}: starts");
        let ready: Vec<&Value> = lives.iter().filter(|l| l["first_health_200"].is_number()).collect();
        let says_ready = of("server_ready");
        assert_eq!(says_ready.len(), ready.len(), "{name}: lives that became ready");
        for (start, life) in starts.iter().zip(lives) {
            assert!(start["mark"] == "start" && seconds(start, "end_ns") >= life["exec"].as_f64().expect("exec"), "{name}: {start}");
        }
        for (row, life) in says_ready.iter().zip(&ready) {
            let (exec, healthy) = (life["exec"].as_f64().expect("exec"), life["first_health_200"].as_f64().expect("health"));
            assert!(seconds(row, "end_ns") >= exec && seconds(row, "start_ns") <= healthy + 1.0, "{name}: {row}");
        }
        let told: Vec<&Value> = lives.iter().filter(|l| l["sigterm_sent"].is_number()).collect();
        let stops = of("sigterm");
        assert_eq!((stops.len(), count(stops.iter().copied())), (told.len(), told.len() as u64), "{name}: lives that were told to stop");
        for (row, life) in stops.iter().zip(&told) {
            assert!(row["mark"] == "stop" && seconds(row, "end_ns") >= life["sigterm_sent"].as_f64().expect("sigterm"), "{name}: {row}");
        }

        // Every probe that a server answered is an access line, and is folded as one.
        let polls = lines(&cases.join(name).join("health.jsonl"));
        let answered = polls.iter().filter(|p| p["status"].is_number()).count() as u64;
        let probes: Vec<&Value> =
            rows.iter().filter(|r| r["first"]["kind"] == "access" && r["first"]["fields"]["path"] == "/health").collect();
        assert_eq!(count(probes.iter().copied()), answered, "{name}: answered probes");
        assert!(probes.len() <= answered as usize);
        let batches = of("prefill_batch").len() + of("decode_batch").len();
        assert!(count(of("prefill_batch")) + count(of("decode_batch")) > 4 * batches as u64, "{name}: batches are folded");
        println!(
            "{name}: {} events in {} rows; {} starts, {} ready, {} told to stop, {answered} answered probes in {} rows, as the driver has them",
            summary["events"],
            rows.len(),
            starts.len(),
            ready.len(),
            told.len(),
            probes.len()
        );
    }
}

/// One request of a client is what the timeline of its id shows, and a note of it reads as Markdown.
#[test]
fn a_request_of_a_client_is_followed() {
    let Some(cases) = cases("sglang") else { return };
    for (name, source) in CAPTURES {
        let place = Place::new();
        place.write(&format!("run/{source}"), &std::fs::read(cases.join(name).join(source)).expect("the capture"));
        let answered =
            |r: &Value| r["status"] == 200 && r["rid"].is_string() && r["completion_tokens"].is_number() && !r["finish_reason"].is_null();
        let client = lines(&cases.join(name).join("client.jsonl"));
        let mut followed = 0;
        // A rid that the client used once.
        let once = |r: &&Value| answered(r) && client.iter().filter(|o| o["rid"] == r["rid"]).count() == 1;
        for request in client.iter().filter(once).step_by(9).take(4) {
            let rid = request["rid"].as_str().expect("a rid");
            let (rows, _) = rows(&place, &["--request", rid, "--limit", "0"]);
            let ends: Vec<&Value> = rows.iter().filter(|r| r["first"]["kind"] == "request_finished").collect();
            assert_eq!(ends.len(), 1, "{name} {rid}");
            assert_eq!(ends[0]["first"]["fields"]["completion_tokens"], request["completion_tokens"], "{name} {rid}");
            assert_eq!(rows.iter().filter(|r| r["first"]["kind"] == "request_received").count(), 1, "{name} {rid}");
            followed += 1;
        }
        assert!(followed >= 3, "{name}: only {followed} requests");
        let note = place.corr(&["note", "incident.md", "run"]);
        assert_eq!(note.code, Some(0), "{name}: {}", note.stderr);
        let text = std::fs::read_to_string(place.path("incident.md")).expect("the note");
        gfm::whole(&text);
        let again = place.corr(&["note", "incident.md", "run"]);
        assert_eq!(again.code, Some(0), "{name}: {}", again.stderr);
        assert_eq!(std::fs::read_to_string(place.path("incident.md")).expect("the note"), text, "{name}: refreshed");
        println!("{name}: {followed} requests followed, a note of {} lines", text.lines().count());
    }
}
