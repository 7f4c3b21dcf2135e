//! Every table of the metric cases, sample for sample: digests as `tests/parquet_cases.py` computes them from the scrapes and with pyarrow.

use std::path::Path;

use super::{Set, by_name, claim, look};
use crate::cases::cases;
use crate::model::{Capture, Clock, Fidelity, SECOND, StampOf};

/// T0 of `meta.json`, in nanoseconds.
const T0: i64 = 1_795_976_920_614_730_000;

/// What all files below a folder of the layouts are, read.
fn read(files: &[&str]) -> Option<Vec<(&'static str, Set, Vec<Capture>)>> {
    let folder = cases("metrics/layouts")?;
    let candidates: Vec<_> = files.iter().map(|f| look(&folder.join(f), f)).collect();
    let claims = claim(&candidates);
    assert!(claims.unclaimed.is_empty(), "{files:?}");
    let read = |(layout, set): (&'static str, Set)| {
        let captures = (by_name(layout).unwrap().read)(&set).unwrap();
        (layout, set, captures)
    };
    Some(claims.sets.into_iter().map(read).collect())
}

/// The one capture of some files.
fn one(files: &[&str], layout: &str) -> Option<(Set, Capture)> {
    let mut sets = read(files)?;
    assert_eq!(sets.len(), 1, "{files:?}");
    let (found, set, mut captures) = sets.remove(0);
    assert_eq!((found, captures.len(), &set.ties), (layout, 1, &vec![]), "{}", set.because);
    Some((set, captures.remove(0)))
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// How many samples there are, and the sum of their hashes.
fn digest(capture: &Capture) -> (u64, String) {
    let (mut n, mut sum) = (0, 0u64);
    for (i, series) in capture.series.iter().enumerate() {
        let endpoint = &capture.endpoints[series.endpoint.0 as usize].name;
        let labels = series.labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join("\x1f");
        for sample in capture.samples.all(i as u32) {
            let value = if sample.value.is_nan() { f64::NAN } else { sample.value };
            sum = sum.wrapping_add(fnv(&format!("{endpoint}\t{}\t{labels}\t{}\t{:016x}", series.name.seen(), sample.at, value.to_bits())));
            n += 1;
        }
    }
    (n, format!("{sum:016x}"))
}

/// The question of all layouts: samples of tokens from the device within T0+60..T0+120, first and last value.
fn device(capture: &Capture, zero: i64) -> (usize, f64, f64) {
    let is =
        |s: &crate::model::Series| s.name.canonical().starts_with("sglang:cached_tokens") && s.labels.get("cache_source") == Some("device");
    let places: Vec<usize> = (0..capture.series.len()).filter(|&i| is(&capture.series[i])).collect();
    let [place] = places.as_slice() else { panic!("{places:?}") };
    let samples = capture.samples.between(*place as u32, T0 + 60 * SECOND - zero, T0 + 120 * SECOND - zero);
    (samples.len(), samples.first().unwrap().value, samples.last().unwrap().value)
}

const DEVICE: (usize, f64, f64) = (60, 292_732.0, 792_921.0);

#[test]
fn whole_captures_are_read_to_the_sample() {
    let tables = [
        (vec!["L01_narrow_map.parquet"], "table", Clock::Wall, "f69cbe46d0018ea5"),
        (vec!["L02_narrow_json.parquet"], "table", Clock::Wall, "f69cbe46d0018ea5"),
        (vec!["L03_narrow_list_struct.parquet"], "table", Clock::AssumedUtc, "bcb6784882952e6b"),
        (vec!["L04_narrow_label_columns.parquet"], "table", Clock::Wall, "89bddf34efaa0411"),
        (vec!["L07_samples.parquet", "L07_series.parquet"], "series-samples", Clock::Wall, "d4b37a35dbc5dc6c"),
        (vec!["L08_nested_series.parquet"], "table", Clock::Wall, "f69cbe46d0018ea5"),
    ];
    for (files, layout, clock, hash) in tables {
        let Some((set, capture)) = one(&files, layout) else { return };
        println!("{files:?}: {}", set.because);
        assert_eq!(digest(&capture), (98_810, hash.to_string()), "{files:?}");
        assert_eq!((capture.series.len(), capture.endpoints.len()), (411, 3), "{files:?}");
        assert_eq!((device(&capture, 0), capture.clock), (DEVICE, clock), "{files:?}");
        assert_eq!(capture.notes, [], "{files:?}");
    }
}

#[test]
fn dynamos_label_endpoint_is_not_the_target() {
    let Some((_, capture)) = one(&["L04_narrow_label_columns.parquet"], "table") else { return };
    let labelled = capture.series.iter().filter(|s| s.labels.get("endpoint") == Some("chat_completions")).count();
    assert_eq!(labelled, 4, "984 rows of two labelled sets of two metrics");
    assert!(capture.endpoints.iter().all(|e| e.url.as_deref().is_some_and(|u| u.starts_with("http://127.0.0.1:"))));
}

#[test]
fn wide_tables_hold_the_workers_series() {
    let Some((_, capture)) = one(&["L05_wide.parquet"], "table") else { return };
    assert_eq!((digest(&capture), device(&capture, 0)), ((41_984, "451057c56de9044e".into()), DEVICE));
    let Some((set, capture)) = one(&["L06_wide_elapsed_f32.parquet"], "table") else { return };
    assert!(set.because.contains("no wall clock") && set.because.contains("float32"), "{}", set.because);
    assert_eq!((digest(&capture), capture.clock.clone()), ((41_984, "305600bd8a47f0bf".into()), Clock::Elapsed { anchor: None }));
    // The first stamp of the scrapes is the zero; the values are below 2^24, so that 32 bits hold them.
    let zero = 1_795_976_934_876_043_331;
    assert_eq!(device(&capture, zero), DEVICE);
    let precision = |v: f64| capture.series[0].precision.error(v);
    assert_eq!(precision(792_921.0), 0.03125, "each end of the window is known to half a step");
}

#[test]
fn a_folder_a_metric() {
    let metrics = ["corr_torture_gauge", "dynamo_frontend_requests_total", "sglang_cached_tokens_total", "sglang_kv_available_tokens"];
    let files: Vec<String> = metrics.iter().map(|m| format!("L12_prom2parquet/{m}/20261129180000.parquet")).collect();
    let Some((_, capture)) = one(&files.iter().map(String::as_str).collect::<Vec<_>>(), "prom2parquet") else { return };
    assert_eq!((digest(&capture), device(&capture, 0)), ((2438, "0ec5f8c6966fb3fe".into()), DEVICE));
    assert_eq!(capture.stamp_of, StampOf::Request);
    let guessed: Vec<String> = (0..capture.series.len())
        .filter(|&i| capture.series[i].trouble.damaged)
        .map(|i| capture.series[i].labels.get("model").unwrap_or("").to_string())
        .collect();
    assert_eq!(guessed, [r#"a,b={c}"d""#], "the one value that could be two labels is marked");
}

#[test]
fn tables_of_opentelemetry() {
    let files = ["histogram_data_points", "histogram_dp_attrs", "number_data_points", "number_dp_attrs", "univariate_metrics"];
    let files: Vec<String> = files.iter().map(|f| format!("L13_otap/{f}.parquet")).collect();
    let Some((_, capture)) = one(&files.iter().map(String::as_str).collect::<Vec<_>>(), "otap") else { return };
    // Every fifth scrape of the worker; all of its samples are in the scrapes too.
    assert_eq!(digest(&capture), (8440, "36cea4e02922c720".into()));
    assert_eq!(device(&capture, 0).0, 12);
    assert_eq!(capture.notes, []);
    assert_eq!(capture.families["sglang:cached_tokens_total"].kind, Some(crate::model::Kind::Counter));
    assert_eq!(capture.families["sglang:time_to_first_token_seconds"].kind, Some(crate::model::Kind::Histogram));
}

#[test]
fn aiperfs_counters_are_since_a_base() {
    let files = [
        ("whole", 46_870, "7f5ad69d9c168bd6"),
        ("window_60_120", 11_982, "227d1a94278b1685"),
        ("window_span_reset_100_190", 16_124, "ebd998a952be7425"),
    ];
    for (name, n, hash) in files {
        let file = format!("A_aiperf/server_metrics_export.{name}.parquet");
        let Some((_, capture)) = one(&[&file], "aiperf-parquet") else { return };
        assert_eq!(digest(&capture), (n, hash.into()), "{name}");
        assert_eq!((capture.fidelity, capture.stamp_of), (Fidelity::SinceBase, StampOf::FirstByte));
        assert_eq!(capture.notes.iter().map(|n| n.code).collect::<Vec<_>>(), ["counters_since_base", "not_exported"]);
        if name == "window_60_120" {
            // last<=b minus last<=a; the samples inside say 500189 as everywhere.
            assert_eq!(device(&capture, 0), (60, 6495.0, 506_684.0));
            assert!(capture.notes[0].what.contains("2026-11-29T18:29:40.614Z"), "{}", capture.notes[0].what);
        }
        assert_eq!(capture.families["sglang:time_to_first_token_seconds"].unit.as_deref(), Some("seconds"));
    }
}

#[test]
fn captures_of_tachometer_are_left_to_their_reader() {
    let Some(folder) = cases("metrics/layouts/T_tachometer") else { return };
    for file in ["genA_final.parquet", "genB_final.parquet", "crash_leftovers/current.arrow", "crash_leftovers/out-1.parquet"] {
        let candidates = [look(&folder.join(file), file)];
        assert!(candidates[0].schema().is_some(), "{file}");
        let ours = ["aiperf-parquet", "parquet-common", "otap", "prom2parquet", "series-samples", "table"];
        for (layout, set) in claim(&candidates).sets {
            assert!(!ours.contains(&layout), "{file}: {}", set.because);
        }
    }
}

#[test]
fn all_files_of_the_folder_at_once() {
    let Some(folder) = cases("metrics/layouts") else { return };
    let names: Vec<String> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    let candidates: Vec<_> =
        names.iter().filter(|n| n.ends_with(".parquet")).map(|n| look(Path::new(&folder).join(n).as_path(), n)).collect();
    let mut layouts: Vec<(&str, usize)> = claim(&candidates).sets.iter().map(|(name, set)| (*name, set.files.len())).collect();
    layouts.sort_unstable();
    let mut want = vec![("table", 1); 7];
    want.insert(0, ("series-samples", 2));
    assert_eq!(layouts, want);
}
