//! Small files written here, as the scraper writes them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Float64Array, Int64Array, LargeStringArray, RecordBatch, StringArray};
use arrow::ipc::writer::StreamWriter;
use parquet::arrow::ArrowWriter;

use super::*;
use crate::layouts::ReadError;
use crate::model::{Clock, Precision, StampOf};

/// A row: endpoint, name, value, upper bound, sum and count, time in seconds.
#[derive(Clone)]
struct Row(&'static str, String, f64, Option<f64>, Option<(f64, f64)>, f64);

fn row(endpoint: &'static str, name: &str, value: f64, at: f64) -> Row {
    Row(endpoint, name.to_string(), value, None, None, at)
}

/// A batch of generation A; `large` as Polars writes text.
fn batch(rows: &[Row], large: bool) -> RecordBatch {
    let text = |of: &dyn Fn(&Row) -> String| -> ArrayRef {
        let values = rows.iter().map(of);
        if large { Arc::new(LargeStringArray::from_iter_values(values)) } else { Arc::new(StringArray::from_iter_values(values)) }
    };
    let numbers =
        |of: &dyn Fn(&Row) -> Option<f64>| -> ArrayRef { Arc::new(rows.iter().map(|r| of(r).map(|v| v as f32)).collect::<Float32Array>()) };
    let role = |r: &Row| if r.0 == "w1" { String::new() } else { "agg".to_string() };
    RecordBatch::try_from_iter_with_nullable([
        ("scraper_endpoint", text(&|r| r.0.to_string()), false),
        ("metric_name", text(&|r| r.1.clone()), false),
        ("metric_value", numbers(&|r| Some(r.2)), false),
        ("histogram_bucket_lower", numbers(&|_| Some(0.5)), true),
        ("histogram_bucket_upper", numbers(&|r| r.3), true),
        ("histogram_sum", numbers(&|r| r.4.map(|p| p.0)), true),
        ("histogram_count", numbers(&|r| r.4.map(|p| p.1)), true),
        ("time_since_start", Arc::new(rows.iter().map(|r| Some(r.5)).collect::<Float64Array>()), false),
        ("worker_role", text(&role), false),
    ])
    .unwrap()
}

fn parquet(path: &Path, batch: &RecordBatch) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = ArrowWriter::try_new(fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn stream(path: &Path, batches: &[RecordBatch]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = StreamWriter::try_new(fs::File::create(path).unwrap(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|b| writer.write(b).unwrap());
    writer.finish().unwrap();
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_path_buf();
    (folder, path)
}

/// A counter of two endpoints, `n` scrapes each from the `from`th on.
fn counter(from: u32, n: u32) -> Vec<Row> {
    (from..from + n)
        .flat_map(|i| {
            let i = f64::from(i);
            [row("w0", "x_total{a=\"1\"}", i, i), row("w1", "x_total{a=\"1\"}", 10.0 * i, i + 0.25)]
        })
        .collect()
}

#[test]
fn a_finished_capture_without_clock() {
    let (_keep, root) = folder();
    parquet(&root.join("t/local/final.parquet"), &batch(&counter(0, 3), true));
    let capture = capture(&root, "t/local/final.parquet");
    assert_eq!((&capture.clock, capture.stamp_of), (&Clock::Elapsed { anchor: None }, StampOf::Body));
    let id = one(&capture, "w1", "x_total", &[("a", "1")]);
    assert_eq!(capture.get(id).unwrap().precision, Precision::F32);
    assert_eq!(capture.samples(id)[1], Sample { at: 1_250_000_000, value: 10.0 });
    assert_eq!(capture.endpoints[0].facts["worker_role"], "agg");
    assert!(capture.endpoints[1].facts.is_empty(), "an empty text is no fact");
    assert!(capture.notes.is_empty(), "{:?}", capture.notes);
}

#[test]
fn a_capture_with_clock_is_exact() {
    let (_keep, root) = folder();
    let columns: [(&str, ArrayRef); 5] = [
        ("scraper_endpoint", Arc::new(StringArray::from(vec!["w"; 2]))),
        ("metric_name", Arc::new(StringArray::from(vec!["x_total"; 2]))),
        ("metric_value", Arc::new(Float64Array::from(vec![16_777_217.0, 16_777_219.0]))),
        ("time_since_start", Arc::new(Float64Array::from(vec![1.5, 2.5]))),
        ("timestamp_ns", Arc::new(Int64Array::from(vec![1_795_978_001_500_000_000, 1_795_978_002_500_000_000]))),
    ];
    parquet(&root.join("final.parquet"), &RecordBatch::try_from_iter(columns).unwrap());
    let capture = capture(&root, "final.parquet");
    assert_eq!(capture.clock, Clock::Wall);
    let id = one(&capture, "w", "x_total", &[]);
    assert_eq!(capture.get(id).unwrap().precision, Precision::F64);
    assert_eq!(capture.samples(id)[1], Sample { at: 1_795_978_002_500_000_000, value: 16_777_219.0 });
}

#[test]
fn which_files_are_one_capture() {
    let (_keep, root) = folder();
    for copy in ["a/local/final.parquet", "a/raw/scrape/final.parquet"] {
        parquet(&root.join(copy), &batch(&counter(0, 3), true));
    }
    parquet(&root.join("a/local/out-3.parquet"), &batch(&counter(2, 2), false));
    parquet(&root.join("b/local/out-1.parquet"), &batch(&counter(0, 2), false));
    parquet(&root.join("b/raw/scrape/incomplete-1.parquet"), &batch(&counter(0, 2), true));
    stream(&root.join("b/local/current.arrow"), &[batch(&counter(1, 3), false)]);
    parquet(&root.join("other.parquet"), &RecordBatch::try_from_iter([("x", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]).unwrap());
    let sets = sets(&root);
    let keys = |set: &Set| set.files.iter().map(|f| f.key.clone()).collect::<Vec<_>>();
    assert_eq!(sets.len(), 2);
    assert_eq!(keys(&sets[0]), ["a/raw/scrape/final.parquet"]);
    let beside: Vec<(&str, bool)> = sets[0].beside.iter().map(|(p, why)| (p.key.as_str(), why.starts_with("the same bytes"))).collect();
    assert_eq!(beside, [("a/local/final.parquet", true), ("a/local/out-3.parquet", false)]);
    assert_eq!(keys(&sets[1]), ["b/raw/scrape/incomplete-1.parquet", "b/local/out-1.parquet", "b/local/current.arrow"]);
    let b = capture(&root, "b/local/out-1.parquet");
    assert_eq!(values(&b, one(&b, "w0", "x_total", &[])), [0.0, 1.0, 2.0, 3.0], "each sample once");
    let copies = note(&b, "copies_dropped").unwrap();
    let said = "6 of 14 rows are copies of others: 4 of 4 in b/local/out-1.parquet, 2 of 6 in b/local/current.arrow";
    assert_eq!(copies.what, said);
}

#[test]
fn a_deeper_storage_folder_holds_copies() {
    let (_keep, root) = folder();
    for key in ["t/local/out-1.parquet", "store/2026-11-29/run/out-1.parquet"] {
        parquet(&root.join(key), &batch(&counter(0, 2), false));
    }
    parquet(&root.join("t/local/out-2.parquet"), &batch(&counter(2, 2), false));
    let sets = sets(&root);
    assert_eq!((sets.len(), sets[0].files.len(), sets[0].beside.len()), (1, 2, 1));
}

#[test]
fn parts_of_two_starts_are_two_captures() {
    // the first life left out-3, whose times begin again at zero in the second
    let life = |counts: std::ops::Range<u32>, from: f64, shift: f64| -> Vec<Row> {
        let of = |i: u32| {
            let at = from + shift + f64::from(i - counts.start);
            [row("w", "x_total", f64::from(i), at), row("w", "level", 7.0, at)]
        };
        counts.clone().flat_map(of).collect()
    };
    let (_keep, root) = folder();
    parquet(&root.join("local/out-1.parquet"), &batch(&life(30..42, 0.0, 0.0), false));
    parquet(&root.join("local/out-3.parquet"), &batch(&life(10..16, 4.0, 0.1), false));
    let lives = captures(&root, "local/out-1.parquet");
    let counts: Vec<Vec<f64>> = lives.iter().map(|c| values(c, one(c, "w", "x_total", &[]))).collect();
    assert_eq!(counts, [(10..16).map(f64::from).collect::<Vec<_>>(), (30..42).map(f64::from).collect()]);
    assert_eq!(lives.iter().map(|c| c.samples.len(one(c, "w", "level", &[]).0)).collect::<Vec<_>>(), [6, 12]);
}

#[test]
fn many_label_sets_are_many_series() {
    let rows: Vec<Row> = (0..50_000).map(|i| row("w", &format!("x{{id=\"{i}\"}}"), f64::from(i), 1.0)).collect();
    let (_keep, root) = folder();
    parquet(&root.join("final.parquet"), &batch(&rows, true));
    let capture = capture(&root, "final.parquet");
    assert_eq!((capture.series.len(), total(&capture)), (50_000, 50_000));
}

#[test]
fn copies_are_told_from_series_of_one_name() {
    let rows = [row("w", "x", 1.0, 0.0), row("w", "x", 1.0, 0.0), row("w", "y", 2.0, 0.0)];
    let (_keep, root) = folder();
    parquet(&root.join("final.parquet"), &batch(&rows, true));
    let once = capture(&root, "final.parquet");
    let x = one(&once, "w", "x", &[]);
    assert_eq!((once.samples.len(x.0), once.get(x).unwrap().trouble.collisions), (2, 1), "y stands once: two series of one value");
    let twice: Vec<Row> = rows.iter().chain(&rows).cloned().collect();
    parquet(&root.join("final.parquet"), &batch(&twice, true));
    let copied = capture(&root, "final.parquet");
    assert_eq!(copied.samples.len(one(&copied, "w", "x", &[]).0), 2, "every row stands twice as often: a copy of the scrape");
    assert_eq!(copied.samples.len(one(&copied, "w", "y", &[]).0), 1);
    assert!(note(&copied, "copies_dropped").unwrap().what.starts_with("3 of 6 rows"));
}

#[test]
fn a_sum_is_a_series_where_its_owner_is_proven() {
    // two sets: the stamped pair is that of set A, whose +Inf differs from B's in the second scrape
    let bucket = |set: &str, le: &str, value: f64, upper: Option<f64>, pair: Option<(f64, f64)>, at: f64| {
        Row("w", format!("h{{le=\"{le}\",s=\"{set}\"}}"), value, upper, pair, at)
    };
    let mut rows = Vec::new();
    for (at, a, b) in [(0.0, 5.0, 5.0), (1.0, 6.0, 9.0)] {
        let pair = Some((a * 0.5, a));
        for (set, count) in [("A", a), ("B", b)] {
            rows.push(bucket(set, "1.0", count, Some(1.0), pair, at));
            rows.push(bucket(set, "+Inf", count, None, None, at));
        }
    }
    rows.push(row("w", "gauge{gt=\"0\",le=\"1\"}", 1.0, 0.0));
    let (_keep, root) = folder();
    parquet(&root.join("final.parquet"), &batch(&rows, true));
    let capture = capture(&root, "final.parquet");
    assert_eq!(find(&capture, "w", "h_bucket", &[("le", "+Inf")]).len(), 2);
    assert_eq!(values(&capture, one(&capture, "w", "h_sum", &[("s", "A")])), [2.5, 3.0]);
    assert_eq!(values(&capture, one(&capture, "w", "h_count", &[("s", "A")])), [5.0, 6.0]);
    assert!(find(&capture, "w", "h_sum", &[("s", "B")]).is_empty());
    assert_eq!(find(&capture, "w", "gauge", &[]).len(), 1, "ranges are no buckets");
    assert_eq!(capture.spelled(one(&capture, "w", "h_bucket", &[("le", "1"), ("s", "B")])), "h{le=\"1\",s=\"B\"}", "as seen");
}

#[test]
fn a_stream_that_ends_early_gives_what_it_holds() {
    let (_keep, root) = folder();
    let path = root.join("local/current.arrow");
    stream(&path, &[batch(&counter(0, 2), false), batch(&counter(2, 2), false)]);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 40]).unwrap();
    let capture = capture(&root, "local/current.arrow");
    assert_eq!(total(&capture), 4);
    let cut = note(&capture, "stream_cut").unwrap();
    assert!(cut.what.starts_with("local/current.arrow: 4 rows were read before"), "{}", cut.what);
    fs::write(&path, &bytes[..40]).unwrap();
    assert!(sets(&root).is_empty(), "nothing says what it is");
}

#[test]
fn a_part_without_a_footer_is_named() {
    let (_keep, root) = folder();
    parquet(&root.join("local/out-1.parquet"), &batch(&counter(0, 2), false));
    parquet(&root.join("local/out-2.parquet"), &batch(&counter(2, 2), false));
    let path = root.join("local/out-2.parquet");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let capture = capture(&root, "local/out-1.parquet");
    assert_eq!(total(&capture), 4);
    assert_eq!(note(&capture, "part_damaged").unwrap().first.as_deref(), Some("local/out-2.parquet"));
    // a kill between emptying and writing it
    fs::write(root.join("local/current.arrow"), b"").unwrap();
    let capture = self::capture(&root, "local/out-1.parquet");
    assert_eq!(note(&capture, "stream_cut").unwrap().what, "local/current.arrow: 0 rows were read before: empty file");
}

#[test]
fn columns_of_other_types_are_an_error_that_names_them() {
    let (_keep, root) = folder();
    let columns: [(&str, ArrayRef); 4] = [
        ("scraper_endpoint", Arc::new(StringArray::from(vec!["w"]))),
        ("metric_name", Arc::new(StringArray::from(vec!["x"]))),
        ("metric_value", Arc::new(Int64Array::from(vec![1]))),
        ("time_since_start", Arc::new(Float64Array::from(vec![1.0]))),
    ];
    parquet(&root.join("final.parquet"), &RecordBatch::try_from_iter(columns).unwrap());
    let set = sets(&root).remove(0);
    let error = super::super::read(&set).unwrap_err();
    assert!(matches!(error, ReadError::Damaged { .. }));
    assert!(error.to_string().contains("metric_value is of type Int64"), "{error}");
}

#[test]
fn rows_without_time_or_value_are_counted() {
    let rows = [row("w", "x", 1.0, f64::NAN), row("w", "x", f64::NAN, 1.0), row("w", "x", 2.0, 1e300)];
    let (_keep, root) = folder();
    parquet(&root.join("final.parquet"), &batch(&rows, true));
    let capture = capture(&root, "final.parquet");
    assert_eq!(total(&capture), 1, "NaN is a value, and no time");
    assert!(note(&capture, "rows_incomplete").unwrap().what.starts_with("2 rows"));
}

#[test]
fn damaged_bytes_are_read_or_refused() {
    let (_keep, root) = folder();
    let (table, arrow) = (root.join("local/out-1.parquet"), root.join("local/current.arrow"));
    parquet(&table, &batch(&counter(0, 20), false));
    stream(&arrow, &[batch(&counter(0, 20), false), batch(&counter(20, 20), false)]);
    for path in [&table, &arrow] {
        let good = fs::read(path).unwrap();
        let mut seed = 1u64;
        for _ in 0..150 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut bytes = good.clone();
            let at = (seed >> 33) as usize % bytes.len();
            bytes[at] ^= 1 << (seed >> 29 & 7);
            fs::write(path, &bytes).unwrap();
            for set in sets(&root) {
                let _ = super::super::read(&set);
            }
        }
        fs::write(path, &good).unwrap();
    }
    assert_eq!(total(&capture(&root, "local/out-1.parquet")), 80, "and whole bytes are read whole");
}
