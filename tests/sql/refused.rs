//! What is not answered: everything but reading the run's own tables.

use super::ask;
use crate::program::Place;

#[test]
fn nothing_is_written_set_or_read_beside_the_run() {
    let place = Place::with("metrics-run");
    place.write("secret.csv", b"a,b\n1,2\n");
    let secret = place.path("secret.csv").display().to_string();
    let out = place.path("out.parquet").display().to_string();
    let questions = [
        format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{secret}'"),
        format!("COPY (SELECT 1) TO '{out}' STORED AS PARQUET"),
        format!("COPY events TO '{out}'"),
        "CREATE TABLE t AS SELECT 1".into(),
        "CREATE VIEW v AS SELECT 1".into(),
        "CREATE SCHEMA s".into(),
        "CREATE DATABASE d".into(),
        "CREATE FUNCTION f(BIGINT) RETURNS BIGINT RETURN $1".into(),
        "DROP TABLE events".into(),
        "DROP VIEW decode_batch".into(),
        "INSERT INTO events VALUES (1)".into(),
        "UPDATE events SET line = 1".into(),
        "DELETE FROM events".into(),
        "TRUNCATE TABLE events".into(),
        "SET datafusion.execution.batch_size = 1".into(),
        "RESET datafusion.execution.batch_size".into(),
        "PREPARE p AS SELECT 1".into(),
        "EXECUTE p".into(),
        "DEALLOCATE p".into(),
        "BEGIN".into(),
        "COMMIT".into(),
        "USE somewhere".into(),
        "EXPLAIN CREATE TABLE t AS SELECT 1".into(),
        format!("EXPLAIN COPY (SELECT 1) TO '{out}' STORED AS PARQUET"),
        "EXPLAIN ANALYZE INSERT INTO events VALUES (1)".into(),
        "SELECT 1; DROP TABLE events".into(),
        "SELECT 1; SELECT 2".into(),
        format!("SELECT * FROM '{secret}'"),
        format!("SELECT * FROM \"{secret}\""),
        format!("SELECT * FROM read_csv('{secret}')"),
        format!("SELECT * FROM read_parquet('{secret}')"),
        format!("SELECT * FROM events WHERE line IN (SELECT a FROM '{secret}')"),
        format!("WITH t AS (SELECT * FROM '{secret}') SELECT * FROM t"),
        format!("SELECT * FROM deltas((SELECT a FROM '{secret}'))"),
        "SELECT * FROM information_schema.tables".into(),
        "SELECT * FROM no_such_table".into(),
        "SHOW ALL".into(),
        "not SQL".into(),
        "".into(),
    ];
    for sql in &questions {
        let ran = ask(&place, "metrics-run", sql);
        assert_eq!(ran.code, Some(2), "{sql}: {} {}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout, "", "{sql}");
        assert!(ran.stderr.starts_with("corr: ") && ran.stderr.lines().count() <= 3, "{sql}: {}", ran.stderr);
        assert!(!ran.stderr.contains("backtrace") && !ran.stderr.contains("panicked"), "{sql}: {}", ran.stderr);
    }
    assert!(!place.path("out.parquet").exists());
    assert!(!place.path("metrics-run/.corr").exists());
}

#[test]
fn an_error_names_what_there_is() {
    let place = Place::with("metrics-run");
    let ran = ask(&place, "metrics-run", "SELECT * FROM prefil_batch");
    assert!(ran.stderr.contains("prefil_batch") && ran.stderr.contains("prefill_batch"), "{}", ran.stderr);
    let ran = ask(&place, "metrics-run", "SELECT cached_token FROM prefill_batch");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cached_token"), "{}", ran.stderr);
    let ran = ask(&place, "metrics-run", "SELECT * FROM deltas('no such window')");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no such window"), "{}", ran.stderr);
    let ran = ask(&place, "nowhere", "SELECT 1");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

#[test]
fn memory_has_a_limit() {
    let place = Place::with("metrics-run");
    let sql = "SELECT a.value FROM generate_series(1, 3000000) AS a ORDER BY a.value DESC LIMIT 1";
    let ran = place.corr(&["sql", "metrics-run", sql, "--memory", "64MiB", "--format", "csv"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "value\n3000000\n"), "{}", ran.stderr);
    // A join holds one side.
    let sql = "SELECT count(*) FROM generate_series(1, 6000000) a JOIN generate_series(1, 6000000) b ON a.value = b.value";
    let ran = place.corr(&["sql", "metrics-run", sql, "--memory", "16MiB"]);
    assert_eq!(ran.code, Some(2), "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("--memory"), "{}", ran.stderr);
    let ran = place.corr(&["sql", "metrics-run", "SELECT 1", "--memory", "lots"]);
    assert_eq!(ran.code, Some(2));
}
