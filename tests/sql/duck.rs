//! Another engine over the same files, where python has it.

use std::process::Command;

use serde_json::{Value as Json, json};

use super::rows;
use crate::program::Place;

/// A python that has DuckDB, or a printed reason.
fn python() -> Option<String> {
    let python = std::env::var("CORR_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = Command::new(&python).args(["-c", "import duckdb"]).output().is_ok_and(|o| o.status.success());
    if !has {
        println!("skipped: {python} has no module duckdb (set CORR_PYTHON)");
    }
    has.then_some(python)
}

/// What DuckDB says of the columns of a store.
fn duck(python: &str, place: &Place, run: &str, sql: &str) -> Json {
    let files = place.path(&format!("{run}/.corr/seg-*/columns.parquet")).display().to_string();
    let program = "import sys, json, duckdb\n\
                   c = duckdb.connect()\n\
                   c.execute(f\"CREATE VIEW records AS SELECT * FROM read_parquet('{sys.argv[1]}', union_by_name=true)\")\n\
                   r = c.execute(sys.argv[2])\n\
                   names = [d[0] for d in r.description]\n\
                   print(json.dumps([dict(zip(names, row)) for row in r.fetchall()]))";
    let ran = Command::new(python).args(["-c", program, &files, sql]).output().expect("start python");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).expect("JSON")
}

#[test]
fn duckdb_reads_the_same_files() {
    let Some(python) = python() else { return };
    println!("read by DuckDB");
    let place = Place::with("metrics-run");
    assert_eq!(place.corr(&["index", "metrics-run"]).code, Some(0));
    // As counted in the log itself: see tables.rs.
    let sql = "SELECT count(*) AS n, CAST(sum(running_reqs) AS BIGINT) AS running, max(gen_throughput) AS top FROM records WHERE _kind = 'decode_batch'";
    assert_eq!(duck(&python, &place, "metrics-run", sql), json!([{"n": 15, "running": 455, "top": 100.0}]));
    let place = Place::with("direct-run");
    assert_eq!(place.corr(&["index", "direct-run"]).code, Some(0));
    let theirs = duck(
        &python,
        &place,
        "direct-run",
        "SELECT _kind AS kind, count(*) AS n, CAST(sum(_offset) AS BIGINT) AS offsets, min(_start) AS first, max(_end) AS last \
         FROM records GROUP BY 1 ORDER BY 1",
    );
    let ours = rows(
        &place,
        "direct-run",
        "SELECT kind, count(*) AS n, CAST(sum(byte_offset) AS BIGINT) AS offsets, CAST(min(time) AS BIGINT) AS first, \
         CAST(max(time_end) AS BIGINT) AS last FROM events GROUP BY 1 ORDER BY 1",
    );
    assert!(ours.len() > 5);
    assert_eq!(Json::Array(ours), theirs);
    let sql = "SELECT count(*) AS n, CAST(sum(input_tokens) AS BIGINT) AS i, max(ttft_ms) AS ttft, max(prefill_worker_id) AS id \
               FROM records WHERE _kind = 'request_end'";
    assert_eq!(duck(&python, &place, "direct-run", sql), json!([{"n": 39, "i": 5789, "ttft": 55.91087, "id": "8225263693429224768"}]));
}
