//! Questions and their answers.

#[cfg(feature = "cluster")]
mod cluster;
mod duck;
#[cfg(feature = "cluster")]
mod judged_cluster;
#[cfg(feature = "cluster")]
mod query_cluster;
mod refused;
mod runs;
mod tables;

use serde_json::Value as Json;

use crate::program::{Place, Ran};

/// Asks; gives what the program did.
pub fn ask(place: &Place, run: &str, sql: &str) -> Ran {
    place.corr(&["sql", run, sql, "--format", "json"])
}

/// The rows of an answer.
pub fn rows(place: &Place, run: &str, sql: &str) -> Vec<Json> {
    let ran = ask(place, run, sql);
    assert!(matches!(ran.code, Some(0 | 1)), "{sql}: {:?} {}", ran.code, ran.stderr);
    let answer: Json = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{sql}: {e}: {}", ran.stdout));
    assert_eq!(answer["schema"], "corr.sql.v1");
    let rows = answer["rows"].as_array().expect("rows").clone();
    assert_eq!(answer["count"], rows.len());
    rows
}

/// Asks a run without an index and with one: the answer must be the same and this.
pub fn both(fixture: &str, sql: &str, expected: &Json) {
    let place = Place::with(fixture);
    assert_eq!(Json::Array(rows(&place, fixture, sql)), *expected, "without an index: {sql}");
    assert!(!place.path(&format!("{fixture}/.corr")).exists(), "a question leaves nothing in the run");
    let indexed = place.corr(&["index", fixture]);
    assert_eq!(indexed.code, Some(0), "{}", indexed.stderr);
    assert_eq!(Json::Array(rows(&place, fixture, sql)), *expected, "with an index: {sql}");
}
