//! Layouts of known writers on small tables that are made here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, ListArray, StringArray, TimestampNanosecondArray, UInt8Array, UInt16Array,
    UInt32Array,
};
use arrow::datatypes::{Float64Type, UInt64Type};

use super::table::tests::{T, codes, floats, texts, told, whole, write};
use super::{Set, by_name, claim, look};
use crate::model::{Capture, Kind};

type Columns = Vec<(&'static str, ArrayRef)>;

/// Files of a folder with what all layouts make of them.
fn sets(files: &[(&str, Columns)]) -> (tempfile::TempDir, Vec<(&'static str, Set)>) {
    let folder = tempfile::tempdir().unwrap();
    let look = |(key, columns): &(&str, Columns)| {
        let path = folder.path().join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, columns.clone());
        look(&path, key)
    };
    let candidates: Vec<_> = files.iter().map(look).collect();
    let sets = claim(&candidates).sets;
    (folder, sets)
}

fn one(files: &[(&str, Columns)], layout: &str) -> Capture {
    let (_folder, mut sets) = sets(files);
    assert_eq!(sets.len(), 1);
    let (found, set) = sets.remove(0);
    assert_eq!((found, set.ties), (layout, vec![]));
    let (_again, sets) = self::sets(files);
    let mut captures = (by_name(layout).unwrap().read)(&sets[0].1).unwrap();
    assert_eq!(captures.len(), 1);
    captures.remove(0)
}

fn error(files: &[(&str, Columns)]) -> String {
    let (_folder, sets) = sets(files);
    assert_eq!(sets.len(), 1);
    (by_name(sets[0].0).unwrap().read)(&sets[0].1).unwrap_err().to_string()
}

fn ns(of: &[i64]) -> ArrayRef {
    Arc::new(TimestampNanosecondArray::from(of.to_vec()))
}

fn otap(temporality: i32, starts: &[i64]) -> Vec<(&'static str, Columns)> {
    let counts = [[1u64, 2, 0], [0, 1, 4]].map(|row| Some(row.map(Some).to_vec()));
    let bounds = [[0.5, 1.0]; 2].map(|row| Some(row.map(Some).to_vec()));
    vec![
        (
            "o/univariate_metrics.parquet",
            vec![
                ("id", Arc::new(UInt16Array::from(vec![0, 1, 2]))),
                ("metric_type", Arc::new(UInt8Array::from(vec![2, 3, 2]))),
                ("name", texts(&["http.server.requests", "http.server.duration", "queue.length"])),
                ("unit", texts(&["1", "s", ""])),
                ("aggregation_temporality", Arc::new(Int32Array::from(vec![temporality, temporality, 2]))),
                ("is_monotonic", Arc::new(BooleanArray::from(vec![true, false, false]))),
            ],
        ),
        (
            "o/number_data_points.parquet",
            vec![
                ("id", Arc::new(UInt32Array::from(vec![0, 1, 2, 3, 4]))),
                ("parent_id", Arc::new(UInt16Array::from(vec![0, 0, 2, 0, 9]))),
                ("start_time_unix_nano", ns(&[starts[0], starts[1], 0, starts[1], 0])),
                ("time_unix_nano", ns(&[100, 200, 200, 300, 300])),
                ("int_value", Arc::new(arrow::array::Int64Array::from(vec![Some(5), None, Some(-3), None, Some(1)]))),
                ("double_value", Arc::new(Float64Array::from(vec![None, Some(7.5), None, None, None]))),
            ],
        ),
        (
            "o/number_dp_attrs.parquet",
            vec![
                ("parent_id", Arc::new(UInt32Array::from(vec![0, 0, 1, 3, 0]))),
                ("key", texts(&["code", "ok", "code", "code", "late"])),
                ("type", Arc::new(UInt8Array::from(vec![2, 4, 2, 2, 1]))),
                ("str", Arc::new(StringArray::from(vec![None, None, None, None, Some("")]))),
                ("int", Arc::new(arrow::array::Int64Array::from(vec![Some(200), None, Some(200), Some(200), None]))),
                ("bool", Arc::new(BooleanArray::from(vec![None, Some(true), None, None, None]))),
            ],
        ),
        (
            "o/histogram_data_points.parquet",
            vec![
                ("id", Arc::new(UInt32Array::from(vec![0, 1]))),
                ("parent_id", Arc::new(UInt16Array::from(vec![1, 1]))),
                ("time_unix_nano", ns(&[100, 200])),
                ("count", Arc::new(arrow::array::UInt64Array::from(vec![3, 5]))),
                ("sum", floats(&[1.5, 9.0])),
                ("bucket_counts", Arc::new(ListArray::from_iter_primitive::<UInt64Type, _, _>(counts))),
                ("explicit_bounds", Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(bounds))),
            ],
        ),
    ]
}

#[test]
fn cumulative_points_with_their_start_times() {
    let capture = one(&otap(2, &[50, 150]), "otap");
    assert_eq!(
        told(&capture),
        [
            " http.server.duration_bucket{le=\"+Inf\"} 100:3 200:5",
            " http.server.duration_bucket{le=\"0.5\"} 100:1 200:0",
            " http.server.duration_bucket{le=\"1\"} 100:3 200:1",
            " http.server.duration_count 100:3 200:5",
            " http.server.duration_sum 100:1.5 200:9",
            " http.server.requests_created{code=\"200\",ok=\"true\"} 100:0.00000005",
            " http.server.requests_created{code=\"200\"} 200:0.00000015 300:0.00000015",
            " http.server.requests{code=\"200\",ok=\"true\"} 100:5",
            " http.server.requests{code=\"200\"} 200:7.5",
            " queue.length 200:-3",
        ]
    );
    assert_eq!(
        codes(&capture),
        [("rows_without_value", 1), ("point_without_metric", 1), ("no_attributes", 1)],
        "the third point recorded nothing, the fifth has a metric that has no name, histograms have no table of attributes"
    );
    let kind = |name: &str| capture.families[name].kind;
    assert_eq!(kind("http.server.requests"), Some(Kind::Counter));
    assert_eq!(kind("queue.length"), Some(Kind::Gauge), "a sum that may fall");
    assert_eq!(capture.families["http.server.duration"].unit.as_deref(), Some("s"));
}

#[test]
fn points_that_are_differences_are_added_up() {
    let capture = one(&otap(1, &[50, 100]), "otap");
    let told = told(&capture);
    assert!(told.contains(&" http.server.duration_bucket{le=\"+Inf\"} 100:3 200:8".to_string()), "{told:#?}");
    assert!(told.contains(&" http.server.requests{code=\"200\",ok=\"true\"} 50:0 100:5".to_string()), "{told:#?}");
    assert!(told.contains(&" queue.length 200:-3".to_string()), "what is cumulative stays: {told:#?}");
    assert!(codes(&capture).iter().any(|(code, _)| *code == "delta_added_up"));
}

#[test]
fn points_without_names_or_of_two_exports_are_ties() {
    let mut files = otap(2, &[50, 150]);
    files.remove(0);
    assert!(error(&files).contains("without the table univariate_metrics"), "{}", error(&files));
    let mut files = otap(2, &[50, 150]);
    let again = ("o/number_data_points.2.parquet", files[1].1.clone());
    files.push(again);
    assert!(error(&files).contains("are both Numbers"), "{}", error(&files));
}

fn aiperf(value: ArrayRef) -> Columns {
    let text = |of: [Option<&str>; 4]| -> ArrayRef { Arc::new(StringArray::from(of.to_vec())) };
    let number = |of: [Option<f64>; 4]| -> ArrayRef { Arc::new(Float64Array::from(of.to_vec())) };
    vec![
        ("endpoint_url", texts(&["http://h:1/metrics"; 4])),
        ("metric_name", texts(&["a", "h", "h", "h"])),
        ("metric_type", texts(&["counter", "histogram", "histogram", "histogram"])),
        ("timestamp_ns", whole(&[T, T, T, T + 1])),
        ("rank", text([Some("0"), None, None, None])),
        ("value", value),
        ("sum", number([None, Some(2.5), Some(2.5), Some(3.0)])),
        ("count", number([None, Some(4.0), Some(4.0), Some(5.0)])),
        ("bucket_le", text([None, Some("1.0"), Some("+Inf"), Some("1.0")])),
        ("bucket_count", number([None, Some(3.0), Some(4.0), Some(4.0)])),
    ]
}

#[test]
fn sums_of_aiperf_stand_in_every_bucket_and_count_once() {
    let value: ArrayRef = Arc::new(Float64Array::from(vec![Some(7.0), None, None, None]));
    let capture = one(&[("x.parquet", aiperf(value))], "aiperf-parquet");
    let t = "http://h:1/metrics";
    assert_eq!(
        told(&capture),
        [
            format!("{t} a{{rank=\"0\"}} {T}:7"),
            format!("{t} h_bucket{{le=\"+Inf\"}} {T}:4"),
            format!("{t} h_bucket{{le=\"1\"}} {T}:3 {}:4", T + 1),
            format!("{t} h_count {T}:4 {}:5", T + 1),
            format!("{t} h_sum {T}:2.5 {}:3", T + 1),
        ]
    );
    let error = error(&[("x.parquet", aiperf(texts(&["7", "", "", ""])))]);
    assert!(error.contains("none of its rows can be read"), "{error}");
}

fn pair(ids: ArrayRef) -> Vec<(&'static str, Columns)> {
    vec![
        (
            "p/series.parquet",
            vec![("series_id", whole(&[7, 8, 8, 9])), ("name", texts(&["a", "b", "c", "d"])), ("labels", texts(&["{\"x\":\"1\"}"; 4]))],
        ),
        ("p/samples.parquet", vec![("series_id", ids), ("timestamp", whole(&[T, T + 1, T, T])), ("value", floats(&[1.0, 2.0, 3.0, 4.0]))]),
    ]
}

#[test]
fn samples_find_their_series_or_are_counted() {
    let capture = one(&pair(whole(&[7, 7, 8, 5])), "series-samples");
    let t = T * 1_000_000;
    assert_eq!(told(&capture), [format!(" a{{x=\"1\"}} {t}:1 {}:2", t + 1_000_000), format!(" b{{x=\"1\"}} {t}:3")]);
    assert_eq!(codes(&capture), [("samples_of_unknown_series", 1), ("series_without_samples", 2), ("series_twice", 1)]);
}

#[test]
fn a_table_of_samples_alone_is_no_capture() {
    let files = pair(whole(&[7, 7, 8, 5]));
    assert_eq!(sets(&files[1..]).1, vec![]);
    assert_eq!(sets(&files[..1]).1, vec![]);
    let named = |names: [&'static str; 3]| {
        let [a, b] = <[_; 2]>::try_from(pair(whole(&[7, 7, 8, 5]))).unwrap();
        let files = [(names[0], a.1.clone()), (names[1], a.1), (names[2], b.1)];
        sets(&files).1.remove(0).1
    };
    let clear = named(["p/one-series.parquet", "p/two-series.parquet", "p/two-samples.parquet"]);
    assert_eq!((clear.files[0].key.as_str(), clear.ties), ("p/two-series.parquet", vec![]), "the longer common beginning decides");
    let tie = named(["p/series-a.parquet", "p/series-b.parquet", "p/samples.parquet"]);
    assert_eq!(tie.ties, ["samples.parquet could be of the series in series-a.parquet, series-b.parquet: names decide, and do not here"]);
}

#[test]
fn blocks_of_thanos_are_declined_with_the_way_out() {
    let why = error(&[("0.chunks.parquet", vec![("s_series_hash", texts(&["x"])), ("s_data_0", texts(&["x"]))])]);
    assert!(why.contains("s_data_0") && why.contains("promtool tsdb dump"), "{why}");
}

#[test]
fn a_metric_that_only_its_folder_names() {
    let file = |labels: &[&str]| -> Columns {
        let n = labels.len();
        let mut columns: Columns = vec![("timestamp", whole(&vec![T; n])), ("value", floats(&vec![1.0; n]))];
        columns.extend(["pod", "container", "namespace", "node"].map(|name| (name, texts(&vec![if name == "pod" { "p" } else { "" }; n]))));
        columns.push(("labels", texts(labels)));
        columns
    };
    let files =
        [("k/up/20261129180000.parquet", file(&["instance=h:1,job=a,b"])), ("k/x_total/20261129180000.parquet", file(&["instance=h:1"]))];
    let capture = one(&files, "prom2parquet");
    let t = T * 1_000_000;
    assert_eq!(told(&capture), [format!("h:1 up{{job=\"a,b\",pod=\"p\"}} {t}:1"), format!("h:1 x_total{{pod=\"p\"}} {t}:1")]);
}

/// Reads what a folder's files are, whatever they are.
fn survive(paths: &[(PathBuf, &str)]) -> bool {
    let candidates: Vec<_> = paths.iter().map(|(path, key)| look(path, key)).collect();
    let sets = claim(&candidates).sets;
    sets.iter().fold(false, |any, (layout, set)| (by_name(layout).unwrap().read)(set).is_ok() || any)
}

#[test]
fn damaged_tables_of_known_writers_are_captures_or_errors() {
    let value: ArrayRef = Arc::new(Float64Array::from(vec![Some(7.0), None, None, None]));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut seen = Vec::new();
    for files in [otap(2, &[50, 150]), vec![("x.parquet", aiperf(value))], pair(whole(&[7, 7, 8, 5]))] {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<(PathBuf, &str)> = files.iter().map(|(key, _)| (folder.path().join(key), *key)).collect();
        for ((path, _), (_, columns)) in paths.iter().zip(&files) {
            std::fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
            write(path, columns.clone());
        }
        assert!(survive(&paths));
        let (mut read, mut all) = (0, 0);
        for (path, _) in &paths {
            let bytes = std::fs::read(path).unwrap();
            for at in (0..bytes.len()).step_by(13) {
                let mut damaged = bytes.clone();
                damaged[at] ^= [0x01, 0x80, 0xff, 0x10][at % 4];
                std::fs::write(path, damaged).unwrap();
                read += usize::from(survive(&paths));
                all += 1;
            }
            std::fs::write(path, bytes).unwrap();
        }
        seen.push((read, all));
    }
    std::panic::set_hook(hook);
    assert!(seen.iter().all(|(read, all)| read <= all && *all > 50), "{seen:?}");
}
