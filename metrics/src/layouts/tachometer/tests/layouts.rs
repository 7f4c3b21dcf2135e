//! The simulated worker's capture of cases/metrics in Tachometer's layouts.

use super::*;
use crate::cases::cases;
use crate::model::{Clock, Precision};

const DEVICE: &[(&str, &str)] = &[("cache_source", "device")];

/// The worker's device tokens over a window, as (samples, first, last).
fn device(capture: &Capture, from: i64, to: i64) -> (usize, f64, f64) {
    let id = one(capture, "backend_agg0_rank0", "sglang:cached_tokens_total", DEVICE);
    let inside = capture.samples.between(id.0, from, to);
    (inside.len(), inside.first().unwrap().value, inside.last().unwrap().value)
}

/// T0 of meta.json in nanoseconds: 1795976920.61473 s.
const T0: i64 = 1_795_976_920_614_730_000;

#[test]
fn the_one_question_of_both_generations() {
    let Some(root) = cases("metrics/layouts/T_tachometer") else { return };
    let b = capture(&root, "genB_final.parquet");
    assert_eq!(b.clock, Clock::Wall);
    assert_eq!(device(&b, T0 + 60 * SECOND, T0 + 120 * SECOND), (60, 292_732.0, 792_921.0));
    assert_eq!(792_921 - 292_732, 500_189);
    let a = capture(&root, "genA_final.parquet");
    assert_eq!(a.clock, Clock::Elapsed { anchor: None });
    // Its epoch is not in the file: meta.json says when the writer started.
    let start = 1_795_976_934_689_041_000;
    let (n, first, last) = device(&a, T0 + 60 * SECOND - start, T0 + 120 * SECOND - start);
    let bound = Precision::F32.error(first) + Precision::F32.error(last);
    assert_eq!(n, 60);
    assert!((last - first - 500_189.0).abs() <= bound, "{} ± {bound}", last - first);
    let id = one(&a, "backend_agg0_rank0", "sglang:cached_tokens_total", DEVICE);
    assert_eq!(a.get(id).unwrap().precision, Precision::F32);
    println!("ran: one question on generations A and B");
}

#[test]
fn both_generations_hold_the_same_rows() {
    let Some(root) = cases("metrics/layouts/T_tachometer") else { return };
    // 106 292 rows each, counted with pyarrow; sums and counts that are proven are added to them.
    for key in ["genA_final.parquet", "genB_final.parquet"] {
        let capture = capture(&root, key);
        let own = |s: &crate::model::Series| s.name.seen().ends_with(']');
        let added: u64 = (0..capture.series.len()).filter(|&i| own(&capture.series[i])).map(|i| capture.samples.len(i as u32)).sum();
        assert_eq!(total(&capture) - added, 106_292, "{key}");
        let gauge = find(&capture, "backend_agg0_rank0", "sglang:routing_key_running_req", &[("gt", "10")]);
        assert_eq!(gauge.len(), 2, "le beside gt is no bucket");
    }
    println!("ran: rows of both generations");
}

#[test]
fn real_runs_and_what_a_kill_left() {
    let Some(root) = cases("metrics/layouts/T_tachometer") else { return };
    let sets = sets(&root);
    let keys = |set: &Set| set.files.iter().map(|f| f.key.clone()).collect::<Vec<_>>();
    assert!(sets.iter().any(|s| keys(s) == ["crash_leftovers/out-1.parquet", "crash_leftovers/current.arrow"]));
    // final.parquet stands in the folder above local/: the same scraper
    let a = sets.iter().find(|s| keys(s) == ["real_genA_run/final.parquet"]).unwrap();
    assert_eq!(a.beside.len(), 3);
    let crash = capture(&root, "crash_leftovers/out-1.parquet");
    let copies = note(&crash, "copies_dropped").unwrap();
    assert!(copies.what.starts_with("2017 of 5126 rows"), "{}", copies.what);
    assert!(copies.what.contains("2017 of 2017 in crash_leftovers/current.arrow"), "{}", copies.what);
    for (key, rows) in [("real_genA_run/final.parquet", 16_655), ("real_genB_run/final.parquet", 15_871)] {
        let capture = capture(&root, key);
        let own: u64 = (0..capture.series.len())
            .filter(|&i| !capture.series[i].name.seen().ends_with(']'))
            .map(|i| capture.samples.len(i as u32))
            .sum();
        assert_eq!(own, rows, "{key}");
        assert!(capture.endpoints.iter().all(|e| !e.facts.contains_key("endpoint")), "empty columns are no facts");
    }
    println!("ran: real runs and crash leftovers");
}
