//! What the tests share.

use std::path::Path;

use serde_json::Value;

pub use crate::program::cases;
use crate::program::{Place, Ran, copy_tree};

/// Copies a capture without what says the truth about it: that is never input.
pub fn without_truth(from: &Path, place: &Place, name: &str) {
    copy_tree(from, &place.path(name));
    for truth in ["truth.json", "timeline.jsonl", "expected.json"] {
        let _ = std::fs::remove_file(place.path(name).join(truth));
    }
}

/// Asks for JSON.
pub fn ready(place: &Place, args: &[&str]) -> (Value, Ran) {
    let mut all = vec!["ready"];
    all.extend(args);
    all.extend(["--format", "json"]);
    let ran = place.corr(&all);
    let value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}\n{}\n{}", ran.stdout, ran.stderr));
    (value, ran)
}

pub fn unit<'v>(answer: &'v Value, name: &str) -> &'v Value {
    let units = answer["units"].as_array().unwrap();
    units.iter().find(|unit| unit["unit"] == name).unwrap_or_else(|| panic!("no unit {name} in {answer:#}"))
}

pub fn runs<'v>(answer: &'v Value, name: &str) -> &'v [Value] {
    unit(answer, name)["invocations"].as_array().unwrap()
}

/// The interval of UTC nanoseconds in which an instant lies, as far as it is bounded.
pub fn bounds(instant: &Value) -> (Option<i64>, Option<i64>) {
    let wall = |mark: &str, side: usize| instant[mark]["wall"][side].as_i64();
    match instant["known"].as_str().unwrap() {
        "exact" => (wall("mark", 0), wall("mark", 1)),
        "at_most" => (None, wall("mark", 1)),
        "at_least" => (wall("mark", 0), None),
        "within" => (wall("after", 0), wall("before", 1)),
        "never" | "unknown" => (None, None),
        other => panic!("{other}"),
    }
}

/// Is something said of it, and does what is said hold for the true instant?
pub fn holds(instant: &Value, truth: i64) -> bool {
    let (after, by) = bounds(instant);
    (after.is_some() || by.is_some()) && after.is_none_or(|after| after <= truth) && by.is_none_or(|by| truth < by)
}

/// Does a length of JSON hold so many seconds?
pub fn lasts(length: &Value, seconds: f64) -> bool {
    let ns = (seconds * 1e9).round() as i64;
    // A truth in microseconds, and stamps of a microsecond.
    let (least, most) = (length["least"].as_i64(), length["most"].as_i64());
    (least.is_some() || most.is_some()) && least.is_none_or(|least| least <= ns + 10_000) && most.is_none_or(|most| ns - 10_000 <= most)
}

pub fn traps(run: &Value) -> Vec<&str> {
    run["traps"].as_array().unwrap().iter().map(|trap| trap["kind"].as_str().unwrap()).collect()
}

/// Seconds since the epoch as nanoseconds, to the microsecond.
pub fn ns(value: &Value) -> Option<i64> {
    value.as_f64().map(|seconds| (seconds * 1e6).round() as i64 * 1_000)
}
