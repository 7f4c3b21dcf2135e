//! The engine over tables of its own: files that differ, rows that are made, what is refused.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, TimeUnit};
use corr_sql::{Engine, FileOf, Files, Function, Give, Limits, Rows, SqlError, Table, Wanted};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

fn engine() -> Engine {
    Engine::local(Limits { memory: 64 << 20, threads: 2 }).unwrap()
}

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(4)).build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn numbers(engine: &Engine, sql: &str) -> Vec<i64> {
    let mut answer = engine.ask(sql).unwrap();
    let mut all = Vec::new();
    while let Some(batch) = answer.next_batch().unwrap() {
        all.extend(batch.column(0).as_primitive::<Int64Type>().iter().map(|n| n.unwrap_or(-1)));
    }
    all
}

#[test]
fn files_with_other_columns_other_types_and_fewer_rows() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a b#.parquet"), dir.path().join("b.parquet"));
    write(&a, vec![("n", Arc::new(Int64Array::from_iter_values(1..=10)) as ArrayRef)]);
    write(
        &b,
        vec![
            ("n", Arc::new(Float64Array::from(vec![0.5, 100.0])) as ArrayRef),
            ("t", Arc::new(StringArray::from(vec!["x", "y"])) as ArrayRef),
        ],
    );
    let columns = Arc::new(Schema::new(vec![Field::new("n", DataType::Float64, true), Field::new("t", DataType::Utf8, true)]));
    let file = |path: &Path, rows, of: &str| FileOf { path: path.to_path_buf(), rows, constants: vec![Some(of.to_string()), None] };
    let files = Files {
        columns,
        constants: vec!["of".into(), "none".into()],
        // Seven rows of the first file lie in two of its row groups.
        files: vec![file(&a, Some(7), "a"), file(&b, None, "b")],
    };
    let mut engine = engine();
    engine.add("raw", Table::Files(Arc::new(files)));
    engine.add("v", Table::View("SELECT * FROM raw WHERE n > 1".into()));
    engine.add("w", Table::View("SELECT * FROM v".into()));
    assert_eq!(numbers(&engine, "SELECT count(*) FROM raw"), [9]);
    assert_eq!(numbers(&engine, "SELECT CAST(sum(n) * 10 AS BIGINT) FROM raw"), [1_285]);
    assert_eq!(numbers(&engine, "SELECT count(*) FROM raw WHERE of = 'a'"), [7]);
    assert_eq!(numbers(&engine, "SELECT count(t) FROM raw"), [2]);
    assert_eq!(numbers(&engine, "SELECT count(none) FROM raw"), [0]);
    assert_eq!(numbers(&engine, "SELECT count(*) FROM w"), [7]);
    assert_eq!(numbers(&engine, "SELECT count(*) FROM w a JOIN v b ON a.n = b.n"), [7]);
    let answer = engine.ask("SELECT count(*) FROM w WHERE of = 'b'").unwrap();
    let mut read = answer.reads.clone();
    read[0].columns.sort();
    assert_eq!((read[0].table.as_str(), read[0].columns.as_slice()), ("raw", &["n".to_string(), "of".to_string()][..]));
}

/// Numbers from 0 with the text of each and a time.
#[derive(Debug)]
struct Counting {
    up_to: i64,
    asked: Arc<Mutex<Vec<String>>>,
    batches: Arc<AtomicUsize>,
}

impl Rows for Counting {
    fn schema(&self) -> SchemaRef {
        let time = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
        let fields = vec![Field::new("n", DataType::Int64, true), Field::new("t", DataType::Utf8, true), Field::new("at", time, true)];
        Arc::new(Schema::new(fields))
    }

    fn make(&self, wanted: &Wanted, give: &mut Give<'_>) -> Result<(), String> {
        self.asked.lock().unwrap().push(format!(
            "7 {} 8 {} at {:?} t {} n {}",
            wanted.text("t", "7"),
            wanted.text("t", "8"),
            wanted.time("at"),
            wanted.column("t"),
            wanted.column("n")
        ));
        for from in (0..self.up_to).step_by(100) {
            let all: Vec<i64> = (from..(from + 100).min(self.up_to)).collect();
            let batch = RecordBatch::try_new(
                self.schema(),
                vec![
                    Arc::new(Int64Array::from(all.clone())),
                    Arc::new(StringArray::from_iter_values(all.iter().map(i64::to_string))),
                    Arc::new(TimestampNanosecondArray::from(all).with_timezone("UTC")),
                ],
            );
            self.batches.fetch_add(1, Ordering::SeqCst);
            if give(batch.map_err(|e| e.to_string())?) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
        if self.up_to == 13 { Err("nothing is left".into()) } else { Ok(()) }
    }
}

#[test]
fn rows_are_made_as_they_are_wanted() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let batches = Arc::new(AtomicUsize::new(0));
    let mut engine = engine();
    engine.add("counting", Table::Rows(Arc::new(Counting { up_to: 1_000_000, asked: asked.clone(), batches: batches.clone() })));
    engine.add("failing", Table::Rows(Arc::new(Counting { up_to: 13, asked: asked.clone(), batches: batches.clone() })));
    let sql = "SELECT n FROM counting WHERE t = '7' AND at >= TIMESTAMP '1970-01-01T00:00:00.000000005Z' LIMIT 1";
    assert_eq!(numbers(&engine, sql), [7]);
    assert_eq!(asked.lock().unwrap().pop().unwrap(), format!("7 true 8 false at (5, {}) t true n true", i64::MAX));
    assert!(batches.load(Ordering::SeqCst) < 1_000, "a table is made as far as it is read, not {}", batches.load(Ordering::SeqCst));
    assert_eq!(numbers(&engine, "SELECT sum(n) FROM counting"), [499_999_500_000]);
    assert_eq!(asked.lock().unwrap().pop().unwrap(), format!("7 true 8 true at ({}, {}) t false n true", i64::MIN, i64::MAX));
    let mut answer = engine.ask("SELECT count(*) FROM failing").unwrap();
    assert_eq!(answer.next_batch().unwrap_err().to_string(), "nothing is left");
}

#[test]
fn functions_of_the_user() {
    let mut engine = engine();
    let call = |columns: &[ArrayRef], rows: usize| -> Result<ArrayRef, String> {
        assert_eq!(columns[0].len(), rows);
        let doubled: Int64Array = columns[0].as_primitive::<Int64Type>().unary(|n| n * 2);
        Ok(Arc::new(doubled))
    };
    engine.add_function(Function { name: "twice", returns: DataType::Int64, call: Arc::new(call) });
    assert_eq!(numbers(&engine, "SELECT twice(value) FROM generate_series(1, 3) ORDER BY 1"), [2, 4, 6]);
}

#[test]
fn what_is_no_question_is_refused() {
    let engine = engine();
    for sql in [
        "CREATE TABLE t AS SELECT 1",
        "COPY (SELECT 1) TO '/tmp/x.csv'",
        "SET a.b = 1",
        "EXPLAIN EXPLAIN DROP TABLE t",
        "INSERT INTO t VALUES (1)",
    ] {
        assert!(matches!(engine.ask(sql), Err(SqlError::Refused(_) | SqlError::Question(_))), "{sql}");
    }
    for sql in ["SELECT", "SELECT * FROM '/etc/passwd'", "SELECT * FROM a.b.c", "SELECT 1; SELECT 2", ""] {
        assert!(matches!(engine.ask(sql), Err(SqlError::Question(_))), "{sql}: {:?}", engine.ask(sql).err());
    }
}

#[cfg(feature = "cluster")]
mod cluster {
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::time::Duration;

    use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};
    use corr_sql::cluster::{Executor, Folder, Scheduler, Shared, connect};
    use corr_sql::{Function, SqlError, Table};

    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn nobody_there_is_said_at_once() {
        for wrong in ["h:1", "http://h:1", "df://", "df://u@h:1", "df://h/x"] {
            assert!(matches!(connect(wrong, 1, PATIENCE), Err(SqlError::Cluster(_))), "{wrong}");
        }
        // Bound and given back: nobody listens on it now.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let error = connect(&format!("df://127.0.0.1:{port}"), 1, PATIENCE).unwrap_err().to_string();
        assert!(error.contains("no scheduler answers") && !error.contains("transport"), "{error}");
    }

    #[test]
    fn a_folder_of_shards() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("a b");
        assert!(Folder::open(place.to_str().unwrap()).unwrap_err().to_string().contains("no shard"));
        let folder = Folder::create(place.to_str().unwrap()).unwrap();
        assert!(folder.list().unwrap().is_empty());
        folder.put("one/x.json", b"1".to_vec()).unwrap();
        std::fs::write(dir.path().join("big"), vec![7u8; 12 << 20]).unwrap();
        folder.upload("two/big.parquet", &dir.path().join("big")).unwrap();
        assert_eq!(folder.list().unwrap(), ["one/x.json", "two/big.parquet"]);
        assert_eq!(folder.get("one/x.json").unwrap().as_deref(), Some(&b"1"[..]));
        assert_eq!(folder.get("one/y.json").unwrap(), None);
        assert_eq!(std::fs::metadata(place.join("two/big.parquet")).unwrap().len(), 12 << 20);
        folder.remove("one/x.json").unwrap();
        assert_eq!(folder.list().unwrap(), ["two/big.parquet"]);
        assert!(folder.url("x").starts_with("file:///"));
        // Another way to the same folder is the same folder.
        std::fs::create_dir(dir.path().join("beside")).unwrap();
        let around = Folder::open(dir.path().join("beside/../a b").to_str().unwrap()).unwrap();
        assert_eq!((around.url("x"), around.list().unwrap()), (folder.url("x"), folder.list().unwrap()));
        assert!(Folder::open("gs://bucket/x").is_err());
    }

    /// A node that lacks a function of the question's: its scheduler, or its executors. Nodes run until the tests end.
    #[test]
    fn a_node_without_a_function_is_said() {
        let dir = tempfile::tempdir().unwrap();
        super::write(&dir.path().join("t.parquet"), vec![("n", Arc::new(Int64Array::from_iter_values(1..=10)) as ArrayRef)]);
        let url = Folder::open(dir.path().to_str().unwrap()).unwrap().url("t.parquet");
        let odd = |columns: &[ArrayRef], _: usize| {
            Ok(Arc::new(columns[0].as_primitive::<Int64Type>().iter().map(|n| n.map(|n| n % 2 == 1)).collect::<BooleanArray>()) as ArrayRef)
        };
        let function = Function { name: "corr_odd", returns: DataType::Boolean, call: Arc::new(odd) };
        let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        for (scheduler_has, executor_has) in [(false, false), (true, false), (true, true)] {
            let of = |has: bool| if has { vec![function.clone()] } else { Vec::new() };
            let port = free();
            let scheduler = Scheduler { bind: "127.0.0.1".into(), port, functions: of(scheduler_has) };
            std::thread::spawn(move || scheduler.run());
            let executor = Executor {
                bind: "127.0.0.1".into(),
                external: None,
                ports: (free(), free()),
                scheduler: ("127.0.0.1".into(), port),
                threads: 1,
                work_dir: Some(dir.path().join(port.to_string())),
                memory: 256 << 20,
                functions: of(executor_has),
            };
            std::fs::create_dir(dir.path().join(port.to_string())).unwrap();
            while TcpStream::connect(("127.0.0.1", port)).is_err() {
                std::thread::sleep(Duration::from_millis(50));
            }
            std::thread::spawn(move || executor.run());
            let mut engine = connect(&format!("df://127.0.0.1:{port}"), 1, Duration::from_secs(60)).unwrap();
            engine.add_function(function.clone());
            let columns = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]));
            engine.add("t", Table::Shared(Arc::new(Shared { urls: vec![url.clone()], columns })));
            assert_eq!(super::numbers(&engine, "SELECT count(*) FROM t WHERE n > 2"), [8]);
            let sql = "SELECT sum(n) FROM t WHERE corr_odd(n)";
            if executor_has {
                assert_eq!(super::numbers(&engine, sql), [25]);
                continue;
            }
            let asked = engine.ask(sql).and_then(|mut answer| answer.next_batch());
            let said = asked.unwrap_err().to_string();
            assert!(said.contains("start scheduler and executors by `corr cluster` of this version"), "{said}");
            assert_eq!(said.contains("no function corr_odd"), !scheduler_has, "{said}");
        }
    }
}
