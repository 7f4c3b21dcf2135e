//! A run with one artifact taken away: the verdicts that rest on it change, no other does, and what is gone is named.
//!
//! What rests on an artifact is read from the whole run's answer (its citations), from the table of edges (whom an edge concerns) and from the
//! artifact's own bytes (whether they bear a session).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Capture, cases, edge, edges, json, rows, spelled, unpacked};

/// Names of the table that come with an answer only in part.
struct Table {
    title: BTreeMap<String, String>,
    switch: BTreeMap<String, String>,
    instrument: BTreeMap<(String, String), String>,
    concerns: BTreeMap<String, String>,
}

impl Table {
    fn read() -> Table {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("evidence/edges.toml");
        let table: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
        let text = |t: &toml::Value, key: &str| t[key].as_str().unwrap().to_string();
        let list = |t: &toml::Value, key: &str| t.get(key).and_then(|v| v.as_array()).cloned().unwrap_or_default();
        let whole = toml::Value::Table(table);
        let title = list(&whole, "instrument").iter().map(|i| (text(i, "id"), text(i, "title"))).collect();
        let switch = list(&whole, "instrument").iter().map(|i| (text(i, "id"), text(i, "switch"))).collect();
        let (mut instrument, mut concerns) = (BTreeMap::new(), BTreeMap::new());
        for edge in list(&whole, "edge") {
            concerns.insert(text(&edge, "id"), text(&edge, "concerns"));
            for signal in list(&edge, "signal") {
                instrument.insert((text(&edge, "id"), text(&signal, "id")), text(&signal, "instrument"));
            }
        }
        Table { title, switch, instrument, concerns }
    }
}

/// What one artifact is in the whole run's answer.
struct Artifact<'a> {
    whole: &'a Value,
    table: &'a Table,
    paths: Vec<String>,
    bears_sessions: bool,
}

fn shown<'v>(edge: &'v Value, what: &str) -> Vec<&'v Value> {
    edge[what].as_array().unwrap().iter().collect()
}

impl Artifact<'_> {
    fn is_of(&self, cite: &Value) -> bool {
        let cite = cite.as_str().unwrap();
        self.paths.iter().any(|p| cite.strip_prefix(p.as_str()).is_some_and(|rest| rest.starts_with([':', '#', '/'])))
    }

    fn cites(&self, shown: &Value) -> bool {
        shown["cites"].as_array().unwrap().iter().any(|c| self.is_of(c))
    }

    fn only(&self, shown: &Value) -> bool {
        let cites = shown["cites"].as_array().unwrap();
        !cites.is_empty() && cites.iter().all(|c| self.is_of(c))
    }

    /// Instruments that speak in it, on any edge.
    fn instruments(&self) -> BTreeSet<String> {
        let mut of = BTreeSet::new();
        for edge in self.whole["edges"].as_array().unwrap() {
            let id = edge["edge"].as_str().unwrap();
            for shown in ["proofs", "hints", "counters"].iter().flat_map(|w| shown(edge, w)).filter(|s| self.cites(s)) {
                of.insert(self.table.instrument[&(id.to_string(), shown["signal"].as_str().unwrap().to_string())].clone());
            }
        }
        of
    }

    /// Why an edge's verdict may change without it.
    fn rests_on(&self, edge: &Value) -> Option<&'static str> {
        let cited = |id: &str| shown(crate::common::edge(self.whole, id), "proofs").iter().any(|p| self.cites(p));
        if ["proofs", "hints", "counters"].iter().flat_map(|w| shown(edge, w)).any(|s| self.cites(s)) {
            return Some("it is cited");
        }
        let why = edge["why"].as_str().unwrap_or("");
        if self.instruments().iter().any(|i| why.contains(self.table.title[i].as_str())) {
            return Some("its silence is the reason");
        }
        match self.table.concerns[edge["edge"].as_str().unwrap()].as_str() {
            "router-requests" if cited("request-router") || cited("router-worker") => return Some("it shows who came to the router"),
            "engine-requests" if cited("admission") => return Some("it shows who came to an engine"),
            _ => {}
        }
        (self.bears_sessions && edge["session"]["verdict"] == "proven").then_some("it bears sessions")
    }

    /// Whether an answer without it names it, where something cannot be said any more.
    fn is_named(&self, reduced: &Value) -> bool {
        let instruments = self.instruments();
        let missing = shown(reduced, "missing").iter().any(|m| instruments.contains(m["instrument"].as_str().unwrap()));
        let mut words = reduced["why"].as_str().unwrap_or("").to_string();
        for of in [&reduced["request"], &reduced["session"]] {
            for reasons in [&of["reasons"], &of["rest"]["reasons"]] {
                reasons.as_array().into_iter().flatten().for_each(|r| words.push_str(r["reason"].as_str().unwrap()));
            }
        }
        // What would prove it is told by how it is switched on.
        let needed = |i: &String| {
            let needs = [&reduced["request"]["needs"], &reduced["session"]["needs"]];
            needs.iter().filter_map(|n| n.as_str()).any(|n| n.contains(self.table.switch[i].as_str()))
        };
        missing || instruments.iter().any(|i| words.contains(self.table.title[i].as_str()) || needed(i))
    }
}

fn says(edge: &Value) -> [String; 5] {
    let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_string);
    [text(&edge["activity"]), spelled(&edge["request"]), spelled(&edge["session"]), text(&edge["count"]), text(&edge["amount"])]
}

/// An artifact's paths, and, worked out by hand, the edges whose activity becomes another without it, with what it becomes.
type Taken<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);

/// Takes artifacts away one by one.
fn take_away(below: &str, artifacts: &[Taken<'_>]) {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, below);
    let whole = json(&["edges", capture.path(), "--all-citations"]);
    let sessions: BTreeSet<String> = rows(&capture.original.join("client.jsonl"))
        .iter()
        .filter_map(|r| r["session"].as_str())
        .filter(|s| s.len() > 3 && *s != "probe")
        .map(str::to_string)
        .collect();
    let bearers = bearers(&capture, &sessions);
    assert!(!bearers.is_empty());
    let table = Table::read();
    let (mut changed, mut kept) = (0, 0);
    for (names, expected) in artifacts {
        let paths: Vec<PathBuf> = names.iter().map(|n| capture.run.join(n)).collect();
        let artifact = Artifact {
            whole: &whole,
            table: &table,
            paths: paths.iter().map(|p| p.to_str().unwrap().to_string()).collect(),
            bears_sessions: paths.iter().any(|p| bearers.contains(p)),
        };
        let aside = tempfile::tempdir().unwrap();
        for (i, path) in paths.iter().enumerate() {
            std::fs::rename(path, aside.path().join(i.to_string())).unwrap();
        }
        let reduced = edges(&capture.run);
        for (i, path) in paths.iter().enumerate() {
            std::fs::rename(aside.path().join(i.to_string()), path).unwrap();
        }
        let mut other: BTreeMap<&str, &str> = BTreeMap::new();
        for before in whole["edges"].as_array().unwrap() {
            let id = before["edge"].as_str().unwrap();
            let after = edge(&reduced, id);
            let at = format!("{below} without {names:?}: {id}: {:?}, then {:?}", says(before), says(after));
            if says(before) != says(after) {
                changed += 1;
                assert!(artifact.rests_on(before).is_some(), "{at}: changed, but rests on nothing of it");
            } else {
                kept += 1;
            }
            if before["activity"] != after["activity"] {
                other.insert(id, after["activity"].as_str().unwrap());
            }
            for cited in ["proofs", "hints", "counters"].iter().flat_map(|w| shown(after, w)) {
                assert!(!artifact.cites(cited), "{at}: still cites it");
            }
            // What happened does not unhappen.
            let happened = matches!(before["activity"].as_str().unwrap(), "proven" | "active" | "conflict");
            assert!(!(happened && after["activity"] == "absent"), "{at}");
            let moved =
                |c: &&Value| c["direct"] == true && (c["increase"].as_f64() > Some(0.0) || c["before_first_sample"].as_f64() > Some(0.0));
            let counters: Vec<&Value> = shown(before, "counters").into_iter().filter(moved).collect();
            let proofs = shown(before, "proofs");
            if !proofs.is_empty() && proofs.iter().all(|p| artifact.only(p)) {
                assert_ne!(after["activity"], "proven", "{at}: all that proved it is gone");
                if counters.iter().all(|c| artifact.only(c)) {
                    assert!(matches!(after["activity"].as_str().unwrap(), "no-signal" | "partial"), "{at}: all that showed it is gone");
                }
            }
            if before["session"]["verdict"] == "proven" && bearers.iter().all(|b| paths.contains(b)) {
                assert_ne!(after["session"]["verdict"], "proven", "{at}: nothing else bears a session");
            }
            let lost = |what: &str| before[what]["verdict"] == "proven" && after[what]["verdict"] == "UNPROVABLE";
            let silent = before["activity"] != "no-signal" && after["activity"] == "no-signal";
            if lost("request") || lost("session") || silent {
                assert!(artifact.is_named(after), "{at}: what is gone is not named in {after}");
            }
        }
        assert_eq!(other, expected.iter().copied().collect(), "{below} without {names:?}");
    }
    println!("{below}: {} times something taken away; {changed} verdicts changed, {kept} did not", artifacts.len());
}

/// Artifacts at the top of a run that bear a session.
fn bearers(capture: &Capture, sessions: &BTreeSet<String>) -> Vec<PathBuf> {
    let tops = std::fs::read_dir(&capture.run).unwrap().map(|e| e.unwrap().path());
    tops.filter(|top| files(top).iter().any(|file| bears(file, sessions))).collect()
}

/// Whether a session stands in a file as a word of its own.
fn bears(file: &Path, sessions: &BTreeSet<String>) -> bool {
    let text = String::from_utf8_lossy(&unpacked(file)).into_owned();
    let of_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let alone = |at: usize, s: &str| !of_word(text[..at].chars().next_back()) && !of_word(text[at + s.len()..].chars().next());
    sessions.iter().any(|s| text.match_indices(s.as_str()).any(|(at, s)| alone(at, s)))
}

fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    std::fs::read_dir(path).unwrap().flat_map(|e| files(&e.unwrap().path())).collect()
}

#[test]
fn dynamo_without_one_artifact() {
    take_away(
        "dynamo/A1_trace_payload_headers_jsonl",
        &[
            // Usage stands in payload rows alone.
            (&["trace"], &[("l1-lookup", "no-signal")]),
            // Refusals and migrations are lines of the frontend; of migrations there is a counter too.
            (&["frontend.log"], &[("rejection", "no-signal"), ("migration", "active")]),
            // Nothing but a counter of the engine speaks of retractions.
            (&["metrics"], &[("retraction", "no-signal")]),
            (&["w1.log"], &[]),
            (&["w2.log", "w2.restart.log"], &[]),
            // Counters of the workers say that requests came.
            (&["w1.log", "w2.log", "w2.restart.log"], &[("admission", "active")]),
            // The workers' own lines say the same events.
            (&["kv_events_wire.jsonl.gz"], &[]),
        ],
    );
}

#[test]
fn sglang_without_one_artifact() {
    take_away(
        "sglang/e-0523-pd-mooncake-tcp",
        &[
            // The gateway's refusals are nowhere else, and the engines' silence is not the gateway's; its metrics say that it was there.
            (&["router.log"], &[("request-router", "no-signal"), ("rejection", "partial")]),
            (&["metrics"], &[("router-worker", "no-signal"), ("writeback-drop", "no-signal")]),
            // Counters of the server whose log is gone say that it went on; the other's records and its silence say nothing of what came to it.
            (&["prefill.log"], &[("prefill", "active"), ("retraction", "partial")]),
            (&["decode.log"], &[("decode", "active"), ("retraction", "partial")]),
            // Records of requests are gone: counters are left, of which those of lower tiers were never exposed.
            (
                &["prefill.log", "decode.log"],
                &[
                    ("admission", "no-signal"),
                    ("queue-wait", "active"),
                    ("l1-lookup", "active"),
                    ("l3-restore", "no-signal"),
                    ("l2-restore", "no-signal"),
                    ("prefill", "active"),
                    ("kv-transfer", "active"),
                    ("decode", "active"),
                    ("retraction", "no-signal"),
                ],
            ),
        ],
    );
}
