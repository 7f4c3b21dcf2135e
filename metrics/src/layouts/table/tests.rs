use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    ArrayRef, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampMillisecondArray, UInt64Array,
};
use arrow::datatypes::{Field, Float64Type, Int32Type, Int64Type};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::*;
use crate::layouts::{by_name, claim as share, look};
use crate::model::Labels;

pub const T: i64 = 1_795_976_934_000;

pub fn texts(of: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(of.to_vec()))
}

pub fn whole(of: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(of.to_vec()))
}

pub fn floats(of: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(of.to_vec()))
}

/// A Parquet file in a folder of its own.
fn file(columns: Vec<(&str, ArrayRef)>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write(&path, columns);
    (folder, path)
}

pub fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let groups = WriterProperties::builder().set_max_row_group_row_count(Some(4)).build();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), Some(groups)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// The set that the file is.
fn set(columns: Vec<(&str, ArrayRef)>) -> (tempfile::TempDir, Option<Set>) {
    let (folder, path) = file(columns);
    let mut sets = share(&[look(&path, "t.parquet")]).sets;
    assert!(sets.len() <= 1);
    (folder, sets.pop().map(|(_, set)| set))
}

fn captures(columns: Vec<(&str, ArrayRef)>) -> Vec<Capture> {
    let (_folder, set) = set(columns);
    read(&set.unwrap()).unwrap()
}

/// Every series of a capture as text, with its samples.
pub fn told(capture: &Capture) -> Vec<String> {
    let mut out: Vec<String> = (0..capture.series.len() as u32)
        .map(|i| {
            let series = &capture.series[i as usize];
            let samples: Vec<String> = capture.samples.all(i).iter().map(|s| format!("{}:{}", s.at, s.value)).collect();
            format!("{} {}{} {}", capture.endpoints[series.endpoint.0 as usize].name, series.name.seen(), series.labels, samples.join(" "))
        })
        .collect();
    out.sort();
    out
}

pub fn codes(capture: &Capture) -> Vec<(&str, u64)> {
    capture.notes.iter().map(|n| (n.code, n.count)).collect()
}

#[test]
fn tables_that_hold_no_metrics_are_left_alone() {
    let times = whole(&[T, T + 1]);
    let not: [Vec<(&str, ArrayRef)>; 9] = [
        // Events and log records.
        vec![("timestamp", times.clone()), ("event", texts(&["request_done", "request_done"])), ("latency_ms", floats(&[1.0, 2.0]))],
        vec![("ts", times.clone()), ("level", texts(&["INFO", "WARN"])), ("message", texts(&["a", "b"])), ("value", floats(&[1.0, 2.0]))],
        // Spans.
        vec![
            ("name", texts(&["prefill_forward", "decode"])),
            ("start_time", times.clone()),
            ("end_time", times.clone()),
            ("duration", floats(&[1.0, 2.0])),
        ],
        vec![
            ("name", texts(&["prefill", "decode"])),
            ("time", times.clone()),
            ("value", floats(&[1.0, 2.0])),
            ("trace_id", texts(&["a", "b"])),
        ],
        // Scores of an evaluation: no time.
        vec![("metric", texts(&["accuracy", "f1_score"])), ("value", floats(&[0.5, 0.75]))],
        // corr's own store.
        vec![
            ("_offset", whole(&[0, 9])),
            ("_line", whole(&[1, 2])),
            ("_kind", texts(&["a", "b"])),
            ("metric", texts(&["a", "b"])),
            ("time", times.clone()),
            ("value", floats(&[1.0, 2.0])),
        ],
        // Another reader's.
        vec![
            ("scraper_endpoint", texts(&["a", "b"])),
            ("metric_name", texts(&["a", "b"])),
            ("metric_value", floats(&[1.0, 2.0])),
            ("timestamp_ns", times.clone()),
        ],
        // A name that is none of a metric.
        vec![("name", texts(&["GET /x", "GET /y"])), ("time", times.clone()), ("value", floats(&[1.0, 2.0]))],
        vec![("x", floats(&[1.0, 2.0])), ("y", floats(&[1.0, 2.0]))],
    ];
    for columns in not {
        let names: Vec<String> = columns.iter().map(|(n, _)| n.to_string()).collect();
        let (_folder, path) = file(columns);
        assert_eq!(claim(&[look(&path, "t.parquet")]), [], "{names:?}");
    }
}

#[test]
fn a_tie_is_said_and_not_decided() {
    let name = texts(&["up", "up"]);
    let ties: [(Vec<(&str, ArrayRef)>, &str); 5] = [
        (
            vec![("time", whole(&[T, T + 1])), ("timestamp", whole(&[T, T + 1])), ("metric", name.clone()), ("value", floats(&[1.0, 1.0]))],
            "time: could be time (int64), timestamp (int64)",
        ),
        (
            vec![("time", whole(&[T, T + 1])), ("metric", name.clone()), ("mean", floats(&[1.0, 1.0])), ("max", floats(&[1.0, 1.0]))],
            "value: could be mean (float64), max (float64)",
        ),
        (vec![("time", whole(&[T, T + 1])), ("metric", name.clone()), ("value", texts(&["1.0", "2.0"]))], "value: no column holds numbers"),
        (
            vec![("time", whole(&[T, T + 1])), ("metric", name.clone()), ("metric_name", name.clone()), ("value", floats(&[1.0, 1.0]))],
            "name: could be metric (text), metric_name (text)",
        ),
        (
            vec![("time", texts(&["2026-11-29", "2026-11-30"])), ("metric", name.clone()), ("value", floats(&[1.0, 1.0]))],
            "time: no column holds stamps of one unit since the epoch, or elapsed time under a name that says so",
        ),
    ];
    for (columns, want) in ties {
        let (_folder, set) = set(columns);
        let set = set.unwrap();
        assert_eq!(set.ties, [want]);
        let error = read(&set).unwrap_err().to_string();
        assert!(error.contains(want) && error.contains("columns time (") && error.contains("rename"), "{error}");
    }
}

#[test]
fn a_label_in_any_form_is_a_label() {
    let time = || ("time", whole(&[T, T + 1]));
    let value = || ("value", floats(&[1.0, 2.0]));
    let name = || ("metric", texts(&["m", "m"]));
    let fields = StructArray::from(vec![
        (Arc::new(Field::new("a", arrow::datatypes::DataType::Utf8, true)), texts(&["x", "x"])),
        (Arc::new(Field::new("b", arrow::datatypes::DataType::Utf8, true)), texts(&["", ""])),
    ]);
    let forms: [Vec<(&str, ArrayRef)>; 6] = [
        vec![time(), ("metric", texts(&["m{a=\"x\"}", "m{ a=\"x\", b=\"\" }"])), value()],
        vec![time(), name(), value(), ("labels", texts(&["{a=\"x\"}", "{a=\"x\",}"]))],
        vec![time(), name(), value(), ("tags", texts(&["a=x", "a=x,b="]))],
        vec![time(), name(), value(), ("labels", texts(&[r#"{"a":"x"}"#, r#"{"a":"x","b":null}"#]))],
        vec![time(), name(), value(), ("labels", Arc::new(fields))],
        vec![time(), name(), value(), ("a", texts(&["x", "x"])), ("b", texts(&["", ""]))],
    ];
    for columns in forms {
        let captures = captures(columns);
        assert_eq!(told(&captures[0]), [format!(" m{{a=\"x\"}} {}:1 {}:2", T * 1_000_000, (T + 1) * 1_000_000)]);
        assert!(!captures[0].series[0].trouble.damaged);
    }
}

#[test]
fn ranks_are_labels_and_row_numbers_are_not() {
    let n = 200;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("timestamp", Arc::new(TimestampMillisecondArray::from_iter_values((0..n).map(|i| T + i / 2)))),
        ("metric", texts(&vec!["m"; n as usize])),
        ("value", Arc::new(Float32Array::from_iter_values((0..n).map(|i| i as f32)))),
        ("tp_rank", Arc::new(Int32Array::from_iter_values((0..n as i32).map(|i| i % 2)))),
        ("row", Arc::new(UInt64Array::from_iter_values(0..n as u64))),
    ];
    let (_folder, set) = set(columns);
    let set = set.unwrap();
    assert!(set.because.contains("labels tp_rank") && set.because.contains("not read row"), "{}", set.because);
    let captures = read(&set).unwrap();
    let labels: Vec<String> = captures[0].series.iter().map(|s| s.labels.to_string()).collect();
    assert_eq!(labels, [r#"{tp_rank="0"}"#, r#"{tp_rank="1"}"#]);
    assert_eq!((captures[0].samples.len(0), captures[0].clock.clone()), (100, Clock::AssumedUtc));
    assert_eq!(captures[0].series[0].precision, crate::model::Precision::F32);
}

#[test]
fn the_label_instance_is_the_target_where_no_column_is() {
    let labels = ["{\"instance\":\"h:1\",\"endpoint\":\"chat\"}", "{\"instance\":\"h:2\",\"endpoint\":\"chat\"}"];
    let captures = captures(vec![
        ("time", whole(&[T, T + 1])),
        ("metric", texts(&["m", "m"])),
        ("value", floats(&[1.0, 2.0])),
        ("labels", texts(&labels)),
    ]);
    assert_eq!(told(&captures[0])[0], format!("h:1 m{{endpoint=\"chat\"}} {}:1", T * 1_000_000));
    assert_eq!(captures[0].endpoints.len(), 2);
}

#[test]
fn what_is_null_is_no_sample_and_nan_is_one() {
    let captures = captures(vec![
        ("time", Arc::new(Int64Array::from(vec![Some(T), None, Some(T + 2), Some(T + 3)]))),
        ("metric", texts(&["m"; 4])),
        ("value", Arc::new(Float64Array::from(vec![Some(1.0), Some(2.0), None, Some(f64::NAN)]))),
    ]);
    assert_eq!(told(&captures[0]), [format!(" m {}:1 {}:NaN", T * 1_000_000, (T + 3) * 1_000_000)]);
    assert_eq!(codes(&captures[0]), [("rows_without_time", 1), ("rows_without_value", 1)]);
}

#[test]
fn whole_numbers_beyond_a_float_are_counted() {
    let captures =
        captures(vec![("time", whole(&[T, T + 1])), ("metric", texts(&["m", "m"])), ("value", whole(&[1 << 53, (1 << 53) + 1]))]);
    assert_eq!(codes(&captures[0]), [("rounded_values", 1)]);
}

#[test]
fn a_wall_clock_that_goes_back_is_sorted_and_an_elapsed_one_begins_a_capture() {
    let rows = |time: &'static str, times: ArrayRef| {
        captures(vec![(time, times), ("metric", texts(&["a", "b", "a", "b"])), ("value", floats(&[1.0, 2.0, 3.0, 4.0]))])
    };
    let wall = rows("time", whole(&[T + 5, T + 5, T, T]));
    assert_eq!((wall.len(), wall[0].series[0].trouble.disordered), (1, 1));
    let elapsed = rows("elapsed_s", floats(&[5.0, 5.0, 0.5, 0.5]));
    assert_eq!(
        elapsed.iter().map(told).collect::<Vec<_>>(),
        [[" a 5000000000:1", " b 5000000000:2"], [" a 500000000:3", " b 500000000:4"]]
    );
    assert_eq!(codes(&elapsed[1]), [("several_captures", 1)]);
    // Series after series: no fall within any.
    let sorted = captures(vec![
        ("elapsed_s", floats(&[0.5, 5.0, 0.5, 5.0])),
        ("metric", texts(&["a", "a", "b", "b"])),
        ("value", floats(&[1.0, 2.0, 3.0, 4.0])),
    ]);
    assert_eq!(sorted.len(), 1);
    let wide = captures(vec![
        ("elapsed_s", floats(&[0.0, 1.0, 0.0])),
        ("a{x=\"1\"}", floats(&[1.0, 2.0, 3.0])),
        ("b", Arc::new(Float64Array::from(vec![None, None, Some(4.0)]))),
    ]);
    assert_eq!(wide.iter().map(told).collect::<Vec<_>>(), [vec![" a{x=\"1\"} 0:1 1000000000:2"], vec![" a{x=\"1\"} 0:3", " b 0:4"]]);
}

#[test]
fn lists_of_a_row_are_a_series() {
    let times = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(T), Some(T + 1)]), None, Some(vec![Some(T), None])]);
    let values = ListArray::from_iter_primitive::<Float64Type, _, _>([
        Some(vec![Some(1.0), Some(2.0), Some(3.0)]),
        Some(vec![Some(4.0)]),
        Some(vec![Some(5.0), Some(6.0)]),
    ]);
    let captures = captures(vec![("timestamps", Arc::new(times)), ("metric", texts(&["a", "b", "c"])), ("values", Arc::new(values))]);
    let t = T * 1_000_000;
    assert_eq!(told(&captures[0]), [format!(" a {t}:1 {}:2", t + 1_000_000), format!(" c {t}:5")]);
    assert_eq!(codes(&captures[0]), [("uneven_lists", 2), ("rows_without_value", 1)]);
}

#[test]
fn arrow_streams_and_parts_are_tables_too() {
    let folder = tempfile::tempdir().unwrap();
    let metric: DictionaryArray<Int32Type> = ["a", "b"].into_iter().collect();
    let columns = |n: i64| -> Vec<(&str, ArrayRef)> {
        vec![("time", whole(&[T + n, T + n])), ("metric", Arc::new(metric.clone())), ("value", floats(&[1.0, 2.0]))]
    };
    write(&folder.path().join("m-2.parquet"), columns(1));
    write(&folder.path().join("m-10.parquet"), columns(2));
    let batch = RecordBatch::try_from_iter(columns(0)).unwrap();
    let stream = std::fs::File::create(folder.path().join("live.arrow")).unwrap();
    let mut stream = arrow::ipc::writer::StreamWriter::try_new(stream, &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    drop(stream);
    let candidates = ["m-10.parquet", "m-2.parquet", "live.arrow"].map(|n| look(&folder.path().join(n), n));
    let sets = share(&candidates).sets;
    let keys: Vec<Vec<&str>> = sets.iter().map(|(_, s)| s.files.iter().map(|p| p.key.as_str()).collect()).collect();
    assert_eq!(keys, [vec!["m-2.parquet", "m-10.parquet"], vec!["live.arrow"]]);
    let t = T * 1_000_000;
    let parts = read(&sets[0].1).unwrap();
    assert_eq!(
        told(&parts[0]),
        ["a 1", "b 2"].map(|s| {
            let (m, v) = s.split_at(1);
            format!(" {m} {}:{} {}:{}", t + 1_000_000, v.trim(), t + 2_000_000, v.trim())
        })
    );
    // Its writer was killed: there is no end mark.
    let live = read(&sets[1].1).unwrap();
    assert_eq!(codes(&live[0]), []);
    assert_eq!(told(&live[0]), [format!(" a {t}:1"), format!(" b {t}:2")]);
}

#[test]
fn a_million_sets_of_labels_are_read_and_said() {
    let n = 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values((0..n).map(|i| format!("r{i}"))));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("time", Arc::new(Int64Array::from_iter_values((0..n).map(|i| T + i)))),
        ("metric", Arc::new(std::iter::repeat_n("m", n as usize).collect::<DictionaryArray<Int32Type>>())),
        ("value", Arc::new(Float64Array::from_iter_values((0..n).map(|i| i as f64)))),
        ("request", ids),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let sets = share(&[look(&path, "t.parquet")]).sets;
    let captures = read(&sets[0].1).unwrap();
    assert_eq!((captures[0].series.len(), codes(&captures[0])), (n as usize, vec![("many_series", 1)]));
    assert_eq!(captures[0].samples.all(999_999)[0].value, 999_999.0);
    assert_eq!(captures[0].series[7].labels, Labels::new([("request", "r7")]));
}

/// Small files of every form, to be damaged.
fn small() -> Vec<(&'static str, Vec<u8>)> {
    let list = |of: &[i64]| ListArray::from_iter_primitive::<Int64Type, _, _>([Some(of.iter().map(|v| Some(*v)).collect::<Vec<_>>())]);
    let forms: Vec<(&str, Vec<(&str, ArrayRef)>)> = vec![
        (
            "narrow",
            vec![
                ("time", whole(&[T, T + 1, T + 2, T + 3, T + 4, T + 5])),
                ("metric", texts(&["a_total", "a_total", "b:c", "b:c", "a_total", "d"])),
                ("labels", texts(&["{x=\"1\"}", "{x=\"1\"}", "{}", "{y=\"2\"}", "{x=\"1\"}", "{}"])),
                ("value", floats(&[1.0, 2.0, 3.5, f64::NAN, 5.0, 6.0])),
            ],
        ),
        ("wide", vec![("elapsed_s", floats(&[0.0, 1.0, 2.0])), ("a{x=\"1\"}", floats(&[1.0, 2.0, 3.0])), ("b{}", whole(&[1, 2, 3]))]),
        ("lists", vec![("times", Arc::new(list(&[T, T + 1]))), ("metric", texts(&["a"])), ("values", Arc::new(list(&[4, 5])))]),
    ];
    let mut out: Vec<(&str, Vec<u8>)> = Vec::new();
    for (name, columns) in forms {
        let (_folder, path) = file(columns.clone());
        out.push((name, std::fs::read(path).unwrap()));
        if name == "narrow" {
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let mut stream = arrow::ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            stream.write(&batch).unwrap();
            out.push(("stream", stream.into_inner().unwrap()));
        }
    }
    out
}

/// Reads a file, whatever it is; whether there was a capture.
fn survives(path: &Path) -> bool {
    let claims = share(&[look(path, "t.parquet")]);
    claims.sets.iter().any(|(layout, set)| (by_name(layout).unwrap().read)(set).is_ok())
}

#[test]
fn damaged_files_are_captures_or_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    // Panics of the libraries are caught and are expected: their words would fill the screen.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut told = Vec::new();
    for (name, bytes) in small() {
        std::fs::write(&path, &bytes).unwrap();
        assert!(survives(&path), "{name}");
        let (mut read, mut all) = (0, 0);
        for at in (0..bytes.len()).step_by(2) {
            let mut damaged = bytes.clone();
            damaged[at] ^= [0x01, 0x80, 0xff, 0x10][at / 2 % 4];
            std::fs::write(&path, damaged).unwrap();
            read += usize::from(survives(&path));
            all += 1;
        }
        for cut in (0..bytes.len()).step_by(17) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            survives(&path);
        }
        told.push((name, read, all));
    }
    std::panic::set_hook(hook);
    println!("captures of damaged files: {told:?}");
    assert!(told.iter().all(|(_, read, all)| read < all && *all > 0), "{told:?}");
}

#[test]
fn the_rows_before_and_after_damage_are_kept() {
    let times: Vec<i64> = (0..12).map(|i| T + i).collect();
    let (_folder, path) = file(vec![("time", whole(&times)), ("metric", texts(&["m"; 12])), ("value", floats(&[1.5; 12]))]);
    let Head::Parquet(metadata) = look(&path, "").head else { panic!() };
    let (start, length) = metadata.metadata().row_group(1).column(0).byte_range();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[start as usize..(start + length) as usize].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let sets = share(&[look(&path, "t.parquet")]).sets;
    let captures = read(&sets[0].1).unwrap();
    assert_eq!(captures[0].samples.len(0), 8, "two of three row groups of four");
    assert_eq!(codes(&captures[0]), [("damaged_rows", 1)]);
    assert!(captures[0].notes[0].what.starts_with("4 rows of row group 1 are lost: "), "{:?}", captures[0].notes);
}
