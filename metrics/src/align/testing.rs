//! What tests of clocks read of the cases, with a few lines of their own: not the readers.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use arrow::array::{Array, Float32Array, Float64Array, LargeStringArray, StringArray};
use arrow::record_batch::RecordBatch;

use crate::build::Builder;
use crate::model::{Capture, Clock, Kind, Labels, Outcome, Precision, SECOND, StampOf};

pub fn gunzip(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// `1.25` seconds to nanoseconds.
pub fn ns(text: &str) -> i64 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    whole.parse::<i64>().unwrap() * SECOND + format!("{part:0<9}")[..9].parse::<i64>().unwrap()
}

fn labels(text: &str) -> Labels {
    let mut pairs = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else { break };
        pairs.push((name.trim_start_matches([',', ' ']), value));
        rest = after;
    }
    Labels::new(pairs)
}

/// Name, labels, value of a line of an exposition.
fn line(line: &str) -> Option<(&str, Labels, f64)> {
    let (series, value) = match line.rsplit_once("} ") {
        Some((series, value)) => (series, value),
        None => line.split_once(' ')?,
    };
    let (name, own) = series.split_once('{').unwrap_or((series, ""));
    Some((name, labels(own), value.split(' ').next()?.parse().ok()?))
}

/// Samples of an exposition, and the types it declares.
pub fn exposition(builder: &mut Builder, endpoint: &str, at: i64, text: &str) {
    let id = builder.endpoint(endpoint);
    for text in text.lines() {
        if let Some(rest) = text.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            builder.family(name).kind = Kind::from_word(kind);
        } else if !text.starts_with('#')
            && let Some((name, labels, value)) = line(text)
        {
            let series = builder.series(id, name, &labels, Precision::F64);
            builder.push(series, at, value);
        }
    }
}

/// A `raw_prometheus.jsonl.gz`; by `elapsed_s` alone if `elapsed`.
pub fn raw(path: &Path, elapsed: bool) -> Capture {
    let clock = if elapsed { Clock::Elapsed { anchor: None } } else { Clock::Wall };
    let mut builder = Builder::new("raw", clock, StampOf::Request);
    for row in gunzip(path).lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let at = if elapsed { ns(&row["elapsed_s"].to_string()) } else { row["timestamp_ns"].as_i64().unwrap() };
        let url = row["endpoint_url"].as_str().unwrap();
        let id = builder.endpoint(url);
        builder.fact(id, "url", url);
        let outcome = row["error"].as_str().map_or(Outcome::Read, |e| Outcome::Failed(e.to_string()));
        builder.scrape(id, at, row["duration_ns"].as_i64(), outcome);
        exposition(&mut builder, url, at, row["text"].as_str().unwrap_or(""));
    }
    builder.finish()
}

/// The answer of Prometheus to an instant query of a range: samples as scraped.
pub fn matrix(path: &Path) -> Capture {
    let answer: serde_json::Value = serde_json::from_str(&gunzip(path)).unwrap();
    let mut builder = Builder::new("api", Clock::Wall, StampOf::Request);
    for row in answer["data"]["result"].as_array().unwrap() {
        let metric = row["metric"].as_object().unwrap();
        let id = builder.endpoint(metric["instance"].as_str().unwrap());
        let own = metric.iter().filter(|(k, _)| *k != "__name__").map(|(k, v)| (k.as_str(), v.as_str().unwrap()));
        let series = builder.series(id, metric["__name__"].as_str().unwrap(), &Labels::new(own), Precision::F64);
        for point in row["values"].as_array().unwrap() {
            builder.push(series, ns(&point[0].to_string()), point[1].as_str().unwrap().parse().unwrap());
        }
    }
    builder.finish()
}

fn text(batch: &RecordBatch, name: &str) -> Vec<String> {
    let column = batch.column_by_name(name).unwrap();
    if let Some(c) = column.as_any().downcast_ref::<LargeStringArray>() {
        return (0..c.len()).map(|i| c.value(i).to_string()).collect();
    }
    let c = column.as_any().downcast_ref::<StringArray>().unwrap();
    (0..c.len()).map(|i| c.value(i).to_string()).collect()
}

/// A file of Tachometer without wall clock.
pub fn tachometer(paths: &[&Path]) -> Capture {
    let mut builder = Builder::new("tachometer", Clock::Elapsed { anchor: None }, StampOf::Body);
    let mut seen: HashMap<(String, String), crate::model::SeriesId> = HashMap::new();
    let mut rows = std::collections::HashSet::new();
    for path in paths {
        let file = std::fs::File::open(path).unwrap();
        let batches: Vec<RecordBatch> = if path.extension().is_some_and(|e| e == "arrow") {
            arrow::ipc::reader::StreamReader::try_new(file, None).unwrap().map_while(Result::ok).collect()
        } else {
            let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            reader.map(Result::unwrap).collect()
        };
        for batch in &batches {
            let (endpoints, names) = (text(batch, "scraper_endpoint"), text(batch, "metric_name"));
            let values = batch.column_by_name("metric_value").unwrap().as_any().downcast_ref::<Float32Array>().unwrap().clone();
            let times = batch.column_by_name("time_since_start").unwrap().as_any().downcast_ref::<Float64Array>().unwrap().clone();
            for i in 0..batch.num_rows() {
                let key = (endpoints[i].clone(), names[i].clone());
                let series = *seen.entry(key).or_insert_with(|| {
                    let (name, own) = names[i].split_once('{').unwrap_or((&names[i], ""));
                    let id = builder.endpoint(&endpoints[i]);
                    builder.series(id, name, &labels(own), Precision::F32)
                });
                let at = ns(&format!("{:.9}", times.value(i)));
                if rows.insert((series, at)) {
                    builder.push(series, at, f64::from(values.value(i)));
                }
            }
        }
    }
    builder.finish()
}

/// Where the clock of a file of Tachometer with wall clock began.
pub fn tachometer_began(path: &Path) -> i64 {
    let file = std::fs::File::open(path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batch = reader.map(Result::unwrap).next().unwrap();
    let elapsed = batch.column_by_name("time_since_start").unwrap().as_any().downcast_ref::<Float64Array>().unwrap().value(0);
    let wall = batch.column_by_name("timestamp_ns").unwrap().as_any().downcast_ref::<arrow::array::Int64Array>().unwrap().value(0);
    wall - ns(&format!("{elapsed:.9}"))
}

/// Lines of a log without colours, of a text that may be gzipped.
pub fn log(path: &Path) -> Vec<String> {
    let colours = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    let text = if path.extension().is_some_and(|e| e == "gz") {
        gunzip(path)
    } else {
        String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
    };
    text.lines().map(|l| colours.replace_all(l, "").into_owned()).collect()
}

/// Nanoseconds of `2026-11-29T18:54:32.277164Z`, with how far a stamp of so many digits leaves it open.
pub fn stamp(text: &str) -> (i64, i64) {
    let at = chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_nanos_opt().unwrap();
    (at, at)
}

/// One file below a folder whose name differs by run.
pub fn run(root: &Path, prefix: &str) -> std::path::PathBuf {
    let found = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path());
    let mut found: Vec<_> = found.filter(|p| p.is_dir() && p.file_name().unwrap().to_string_lossy().starts_with(prefix)).collect();
    found.sort();
    found.remove(0)
}
