//! `corr metrics` against the captures whose truth is known (`CORR_CASES`, or `../shared/cases`): what the samples themselves say, never what corr said.

mod program;

#[path = "metrics_truth/clocks.rs"]
mod clocks;
#[path = "metrics_truth/direct_run.rs"]
mod direct_run;
#[path = "metrics_truth/layouts.rs"]
mod layouts;
#[path = "metrics_truth/prometheus.rs"]
mod prometheus;
#[path = "metrics_truth/tachometer.rs"]
mod tachometer;

use std::path::Path;

use program::{Place, cases};
use serde_json::Value;

/// A place with copies of files and folders of the cases, each under the last part of its path.
fn place(folder: &Path, parts: &[&str]) -> Place {
    let place = Place::new();
    for part in parts {
        let (from, to) = (folder.join(part), place.path(part.rsplit('/').next().unwrap()));
        if from.is_dir() {
            program::copy_tree(&from, &to);
        } else {
            std::fs::copy(&from, &to).unwrap();
        }
    }
    place
}

/// The answer to `corr metrics`, whatever its exit code.
fn ask(place: &Place, args: &[&str]) -> Value {
    let ran = place.corr(&[&["metrics"], args, &["--format", "json"]].concat());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", ran.stderr))
}

/// The same as people read it.
fn text(place: &Place, args: &[&str]) -> String {
    let ran = place.corr(&[&["metrics"], args].concat());
    format!("{}{}", ran.stdout, ran.stderr)
}

/// The figures of an answer.
fn figures(answer: &Value) -> &Vec<Value> {
    answer["figures"].as_array().unwrap()
}

/// When the metrics data set began (its `meta.json`), seconds since the epoch.
const T0: f64 = 1_795_976_920.614_73;

/// A window of the metrics data set, in seconds from its beginning.
fn window(from: f64, to: f64) -> [String; 4] {
    ["--since".into(), format!("@{:.5}", T0 + from), "--until".into(), format!("@{:.5}", T0 + to)]
}

/// Nanoseconds since the epoch of a time that corr wrote.
fn ns(time: &Value) -> i64 {
    let time = time.as_str().unwrap_or_else(|| panic!("a time, not {time}"));
    chrono::DateTime::parse_from_rfc3339(time).unwrap_or_else(|e| panic!("{time}: {e}")).timestamp_nanos_opt().unwrap()
}

/// The text of a gzip file.
fn unzip(path: &Path) -> String {
    use std::io::Read;
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}
