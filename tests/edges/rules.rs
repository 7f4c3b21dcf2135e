//! Rules of the trade fire where a run has what someone would fall for, and nowhere else.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{Capture, cases, json, unpacked};

/// The rules that fire, by name.
fn fired(arguments: &[&str]) -> BTreeSet<String> {
    let answer = json(arguments);
    let warnings = answer["warnings"].as_array().unwrap();
    warnings.iter().map(|w| w["rule"].as_str().unwrap().to_string()).collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|n| n.to_string()).collect()
}

/// Trace rows and route lines predict reuse, no engine says any; there is one start of each server, and no metrics.
#[test]
fn a_prediction_is_called_one() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/direct-run");
    let run = run.to_str().unwrap();
    assert_eq!(fired(&["edges", run]), names(&["prediction-is-not-reuse"]));
    // Of one session what storage missed is nobody's.
    let rows = unpacked(&Path::new(run).join("artifacts/dynamo-request-trace.000000.jsonl.gz"));
    let text = String::from_utf8(rows).unwrap();
    let id = text.split("\"session_id\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(fired(&["edges", run, "--session", id]).contains("storage-misses-are-nobodys"));
}

/// What each capture has, by its README and scrapes: x: storage looked up in vain, host memory used, policy set; b: host memory filled and never
/// read; b2: restored from storage; c: two ranks.
#[test]
fn each_fires_where_it_is_due() {
    let Some(cases) = cases() else { return };
    let storage = ["lookup-is-not-hit", "load-back-is-not-prefetch", "policy-is-not-prefetch", "occupancy-is-not-usefulness"];
    for (below, due, never) in [
        ("sglang/x-0523-hicache-hash-jit-fail", &storage[..3], &storage[3..]),
        ("sglang/b-0523-json-hicache", &storage[2..], &storage[..2]),
        (
            "sglang/b2-0523-hicache-restart",
            &["first-value-is-not-zero", "write-back-is-not-reuse", "backed-up-is-not-a-hit"][..],
            &storage[..],
        ),
        (
            "sglang/c-0523-tp2-dp2",
            &["ranks-are-replicas", "whole-capture-total", "used-is-not-occupied", "capacity-of-one-scrape"][..],
            &storage[..],
        ),
    ] {
        let capture = Capture::of(&cases, below);
        let fired = fired(&["edges", capture.path()]);
        assert!(names(due).is_subset(&fired), "{below}: {fired:?}");
        assert!(names(never).is_disjoint(&fired), "{below}: {fired:?}");
    }
}
