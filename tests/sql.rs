//! `corr sql` and `corr schema`, asked like a user asks them. What is expected was counted in the raw files with grep, jq and python, or is said by
//! truth that corr does not read; never taken from what corr prints.

mod program;

use program::Place;
#[cfg(feature = "sql")]
#[path = "sql/mod.rs"]
mod sql;

#[test]
fn schema_tells_tables_columns_and_units() {
    let place = Place::with("metrics-run");
    let ran = place.corr(&["schema", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let tables = told["tables"].as_array().expect("tables");
    for name in
        ["events", "samples", "series", "deltas", "readiness", "verdicts", "sources", "prefill_batch", "decode_batch", "request_end"]
    {
        let table = tables.iter().find(|t| t["name"] == name).unwrap_or_else(|| panic!("no table {name}"));
        assert!(!table["columns"].as_array().expect("columns").is_empty(), "{name}");
    }
    // With a run, a view has the fields of the run's own records; the run is not indexed and stays so.
    let unindexed = place.corr(&["schema", "metrics-run", "decode_batch", "--format", "csv"]);
    assert_eq!(unindexed.code, Some(0), "{}", unindexed.stderr);
    for line in
        ["decode_batch,running_reqs,BIGINT,", "decode_batch,gen_throughput,DOUBLE,tokens per second,", "decode_batch,cpu_graph,BOOLEAN,"]
    {
        assert!(unindexed.stdout.lines().any(|l| l.starts_with(line)), "{line} in {}", unindexed.stdout);
    }
    assert!(!place.path("metrics-run/.corr").exists());
    assert_eq!(place.corr(&["index", "metrics-run"]).code, Some(0));
    let indexed = place.corr(&["schema", "metrics-run", "decode_batch", "--format", "csv"]);
    assert_eq!(indexed.stdout, unindexed.stdout);
    let none = place.corr(&["schema", "metrics-run", "no_such_table"]);
    assert_eq!(none.code, Some(1), "{}", none.stderr);
}

#[cfg(not(feature = "sql"))]
#[test]
fn without_the_feature_it_says_how_to_get_it() {
    let place = Place::with("metrics-run");
    let ran = place.corr(&["sql", "metrics-run", "SELECT 1"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("--features sql") && ran.stderr.contains("DuckDB"), "{}", ran.stderr);
}
