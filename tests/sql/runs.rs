//! Runs in every state: not indexed, indexed, grown, packed, of bodies, and every way to write an answer.

use serde_json::json;

use super::{ask, rows};
use crate::program::Place;

const COUNT: &str = "SELECT count(*) AS n, max(line) AS line, count(DISTINCT byte_offset) AS places FROM decode_batch";

/// A run that grew behind its index: what stands behind it is read too, and the last record of the index counts once.
#[test]
fn a_grown_source_is_asked_whole() {
    let place = Place::with("metrics-run");
    assert_eq!(place.corr(&["index", "metrics-run"]).code, Some(0));
    let lines = std::fs::read_to_string(place.path("metrics-run/logs/worker-0.log")).expect("read").lines().count();
    let line = "[2026-11-29 18:31:02] Decode batch, #running-req: 7, #token: 66700, token usage: 0.33, cpu graph: False, gen throughput (token/s): 100.00, #queue-req: 0\n";
    place.append("metrics-run/logs/worker-0.log", line.repeat(2).as_bytes());
    let grown = [json!({"n": 17, "line": lines + 2, "places": 17})];
    assert_eq!(rows(&place, "metrics-run", COUNT), grown);
    // Indexed again: the segment of before answers for fewer rows than it has.
    assert_eq!(place.corr(&["index", "metrics-run"]).code, Some(0));
    assert_eq!(rows(&place, "metrics-run", COUNT), grown);
}

/// A changed source is read anew, whatever its index says.
#[test]
fn a_changed_source_is_read_anew() {
    let place = Place::with("metrics-run");
    assert_eq!(place.corr(&["index", "metrics-run"]).code, Some(0));
    let line = "[2026-11-29 18:31:02] Decode batch, #running-req: 7, #token: 1, token usage: 0.33, cpu graph: False, gen throughput (token/s): 100.00, #queue-req: 0\n";
    place.write("metrics-run/logs/worker-0.log", line.repeat(3).as_bytes());
    let ran = ask(&place, "metrics-run", COUNT);
    assert!(ran.stdout.contains("\"n\":3"), "{}", ran.stdout);
    assert!(ran.stderr.contains("changed since"), "{}", ran.stderr);
}

/// More sources than get an index each.
#[test]
fn sources_too_small_for_an_index() {
    let place = Place::new();
    for i in 0..70 {
        place.write(&format!("run/worker-{i}.log"), format!("[2026-11-29 18:31:02] Decode batch, #running-req: {i}, #token: 1, token usage: 0.33, cuda graph: True, gen throughput (token/s): 1.5, #queue-req: 0\n").as_bytes());
    }
    assert_eq!(place.corr(&["index", "run"]).code, Some(0));
    let sql = "SELECT count(*) AS n, sum(running_reqs) AS s, count(DISTINCT source) AS sources FROM decode_batch";
    assert_eq!(rows(&place, "run", sql), [json!({"n": 70, "s": 70 * 69 / 2, "sources": 70})]);
}

/// A run beside the working directory, by a way with `..` in it.
#[test]
fn a_run_beside_the_working_directory() {
    let place = Place::with("metrics-run");
    std::fs::create_dir(place.path("beside")).expect("a directory");
    let count = ["sql", "../metrics-run", "SELECT count(*) AS n, min(length(text)) > 0 AS text FROM decode_batch", "--format", "csv"];
    let ask = || {
        let mut command = place.command(&count);
        let ran = crate::program::finish(command.current_dir(place.path("beside")).spawn().expect("start corr"), b"");
        (ran.code, ran.stdout, ran.stderr)
    };
    let expected = (Some(0), "n,text\n15,true\n".to_string(), String::new());
    assert_eq!(ask(), expected);
    assert_eq!(place.corr(&["index", "metrics-run"]).code, Some(0));
    assert_eq!(ask(), expected);
}

/// Files of an index with bytes changed in every part of them: the right answer or an error that names the file, in one line of corr's own.
#[test]
fn a_damaged_index_is_said() {
    let place = Place::with("metrics-run");
    assert_eq!(place.corr(&["index", "metrics-run"]).code, Some(0));
    let found = walkdir(&place.path("metrics-run/.corr"));
    let path = found.iter().find(|path| path.ends_with("columns.parquet")).expect("columns of the one log");
    let whole = std::fs::read(path).expect("read");
    let sql = "SELECT count(*) AS n, sum(running_reqs) AS s, count(DISTINCT citation) AS c FROM decode_batch";
    let right = ask(&place, "metrics-run", sql);
    assert_eq!(right.code, Some(0), "{}", right.stderr);
    assert!(right.stdout.contains("\"n\":15,\"s\":455,\"c\":15"), "{}", right.stdout);
    let mut said = 0;
    let mut damaged: Vec<Vec<u8>> =
        [0, 1, 7, whole.len() / 2, whole.len() - 9, whole.len() - 1].iter().map(|n| whole[..*n].to_vec()).collect();
    for part in 0..16 {
        let mut bytes = whole.clone();
        let at = part * (whole.len() - 24) / 15;
        bytes[at..at + 24].iter_mut().for_each(|byte| *byte = !*byte);
        damaged.push(bytes);
    }
    for (number, bytes) in damaged.iter().enumerate() {
        std::fs::write(path, bytes).expect("write");
        let ran = ask(&place, "metrics-run", sql);
        if ran.code == Some(0) {
            assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (right.stdout.as_str(), ""), "{number}");
            continue;
        }
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{number}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("corr: ") && ran.stderr.contains("columns.parquet"), "{number}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked") && ran.stderr.lines().count() == 1, "{number}: {}", ran.stderr);
        said += 1;
    }
    assert!(said > 6, "{said}");
    println!("{said} of {} damages said", damaged.len());
}

/// Every file below a directory.
fn walkdir(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { walkdir(&path) } else { vec![path] }).collect()
}

/// Fields that are called as a column of every event, and as that column is called then: each has its own.
#[test]
fn fields_with_names_of_columns() {
    let place = Place::new();
    let record =
        b"{\"time\":\"2026-11-29T18:00:00Z\",\"outcome\":\"a\",\"outcome_\":2,\"outcome__\":2.5,\"_x\":3,\"_x_\":4,\"fields_\":5}\n";
    place.write("run/a.jsonl", record.repeat(3).as_slice());
    let sql = "SELECT DISTINCT outcome_, outcome__, outcome___, _x_, _x__, fields__ FROM json_record";
    let expected = [json!({"outcome_": "a", "outcome__": 2, "outcome___": 2.5, "_x_": 3, "_x__": 4, "fields__": 5})];
    assert_eq!(rows(&place, "run", sql), expected);
    assert_eq!(place.corr(&["index", "run"]).code, Some(0));
    assert_eq!(rows(&place, "run", sql), expected);
}

/// Types of a field that differ from file to file: doubles where that loses nothing, text where it would.
#[test]
fn types_that_differ_from_file_to_file() {
    let place = Place::new();
    place.write("run/a.jsonl", b"{\"time\":\"2026-11-29T18:00:00Z\",\"x\":1,\"y\":9007199254740993,\"z\":1}\n".repeat(3).as_slice());
    place.write("run/b.jsonl", b"{\"time\":\"2026-11-29T18:00:01Z\",\"x\":2.5,\"y\":2.5,\"z\":\"w\"}\n".repeat(3).as_slice());
    let sql = "SELECT sum(x) AS x, max(y) AS y, min(z) AS z FROM json_record";
    let expected = [json!({"x": 10.5, "y": "9007199254740993", "z": "1"})];
    assert_eq!(rows(&place, "run", sql), expected);
    assert_eq!(place.corr(&["index", "run"]).code, Some(0));
    assert_eq!(rows(&place, "run", sql), expected);
}

/// A run with a format of the user's own: five records, two of which have a value of 3000 bytes.
pub fn long_values(place: &Place) {
    let format = "[[format]]\nname = \"own\"\nabout = \"a log of tests\"\nmatch = '(?<time>\\S+Z) long=(?<long>\\S+) n=(?<n>\\d+)$'\nstamp = \"time\"\n\
                  stamp_format = \"%Y-%m-%dT%H:%M:%SZ\"\nkind = \"own_record\"\nkind_about = \"a record of tests\"\n\
                  [[format.samples]]\ntext = '2026-11-29T18:00:00Z long=x n=1'\nstamp = \"2026-11-29T18:00:00Z\"\nfields = { long = \"x\", n = 1 }\n\
                  [[format.samples]]\ntext = \"no\"\ntaken = false\n";
    place.write("run/corr.toml", format.as_bytes());
    let long = "v".repeat(3_000);
    let log: String = (1..=5).map(|n| format!("2026-11-29T18:00:0{n}Z long={} n={n}\n", if n > 3 { &long } else { "short" })).collect();
    place.write("run/a.log", log.as_bytes());
}

/// What a column cannot hold is said, and only where it is asked for. The kind is the user's own, and has a view like any other.
#[test]
fn a_value_that_is_not_whole_is_said() {
    let place = Place::new();
    long_values(&place);
    let ran = ask(&place, "run", "SELECT long FROM own_record");
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("long: 2 values are not whole"), "{}", ran.stderr);
    let ran = ask(&place, "run", "SELECT n FROM own_record");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

/// Prompts, answers and header values do not come out of any column.
#[test]
fn bodies_are_withheld() {
    let place = Place::with("sglang-run");
    for index in [false, true] {
        if index {
            assert_eq!(place.corr(&["index", "sglang-run"]).code, Some(0));
        }
        for format in ["text", "json", "jsonl", "csv", "markdown"] {
            let ran = place.corr(&["sql", "sglang-run", "SELECT * FROM events", "--format", format]);
            assert!(matches!(ran.code, Some(0 | 3)), "{format}: {}", ran.stderr);
            assert!(ran.stdout.contains("64469f4f7f6244d6b59c80708603c139"), "{format} shows the request");
            assert!(!ran.stdout.contains("SYNTHETIC-PROMPT") && !ran.stdout.contains("SYNTHETIC-ANSWER"), "{format}");
            assert!(!ran.stdout.contains('\u{1b}'), "{format} lets escapes through");
        }
    }
}

#[test]
fn answers_in_every_format() {
    let place = Place::with("metrics-run");
    let sql = "SELECT 1 AS a, 'x|y' AS b, NULL AS c, '' AS d, TIMESTAMP '2026-11-29T18:00:00.5' AS t, 2.5 AS f UNION ALL \
               SELECT 20, 'u', NULL, 'v', NULL, CAST('NaN' AS DOUBLE) ORDER BY a";
    let write = |format: &str| place.corr(&["sql", "metrics-run", sql, "--format", format]);
    let text = write("text");
    assert_eq!(text.code, Some(0), "{}", text.stderr);
    assert_eq!(
        text.stdout,
        " a  b    c     d  t                          f\n 1  x|y  NULL     2026-11-29T18:00:00.500  2.5\n20  u    NULL  v  NULL                     NaN\n"
    );
    assert_eq!(write("csv").stdout, "a,b,c,d,t,f\n1,x|y,,\"\",2026-11-29T18:00:00.500,2.5\n20,u,,v,,NaN\n");
    let lines = write("jsonl").stdout;
    let lines: Vec<serde_json::Value> = lines.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert_eq!(lines[0], json!({"a": 1, "b": "x|y", "c": null, "d": "", "t": "2026-11-29T18:00:00.500", "f": 2.5}));
    assert_eq!(lines[1], json!({"a": 20, "b": "u", "c": null, "d": "v", "t": null, "f": "NaN"}));
    assert_eq!(lines[2], json!({"summary": {"schema": "corr.sql.v1", "rows": 2}}));
    let markdown = write("markdown").stdout;
    assert_eq!(markdown.lines().count(), 4);
    assert!(markdown.starts_with("| a | b | c | d | t | f |\n|---|---|---|---|---|---|\n"), "{markdown}");
    let none = place.corr(&["sql", "metrics-run", "SELECT 1 AS a WHERE false", "--format", "json"]);
    assert_eq!(none.code, Some(1), "{}", none.stderr);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&none.stdout).expect("JSON")["rows"], json!([]));
}

/// Names that two columns share are told apart, and every name stays one column.
#[test]
fn columns_of_one_name() {
    let place = Place::with("metrics-run");
    let sql = "SELECT a.line, b.line FROM decode_batch a JOIN decode_batch b ON a.line = b.line ORDER BY 1 LIMIT 1";
    assert_eq!(rows(&place, "metrics-run", sql), [json!({"line": 2, "line_2": 2})]);
}

/// EXPLAIN shows the plan; a condition on time reaches the files, where it is judged by statistics.
#[test]
fn explain_shows_what_is_read() {
    let place = Place::with("metrics-run");
    assert_eq!(place.corr(&["index", "metrics-run"]).code, Some(0));
    let sql = "EXPLAIN SELECT count(*) FROM decode_batch WHERE time >= '2026-11-29T18:30:50Z'";
    let ran = place.corr(&["sql", "metrics-run", sql]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("columns.parquet") && ran.stdout.contains("_start"), "{}", ran.stdout);
    assert!(ran.stdout.contains("pruning_predicate"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("record_text"), "{}", ran.stdout);
}

/// A store that was moved with its text is asked alone.
#[test]
fn a_store_without_its_run() {
    let place = Place::with("metrics-run");
    assert_eq!(place.corr(&["index", "metrics-run", "--store", "moved", "--embed-text"]).code, Some(0));
    std::fs::rename(place.path("metrics-run"), place.path("gone")).expect("rename");
    let ran = place.corr(&[
        "sql",
        "metrics-run",
        "--store",
        "moved",
        "SELECT count(*) AS n, min(text) AS t FROM decode_batch",
        "--format",
        "csv",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("n,t\n15,"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Decode batch"), "{}", ran.stdout);
}

/// Ctrl-C ends a question, and what was made for it is removed.
#[cfg(unix)]
#[test]
fn an_interrupted_question_leaves_nothing() {
    let place = Place::with("metrics-run");
    std::fs::create_dir(place.path("temp")).expect("a directory");
    let left = || std::fs::read_dir(place.path("temp")).expect("read").count();
    let sql = "SELECT count(*) FROM decode_batch, generate_series(1, 4000000000) a WHERE a.value % 7 = 3";
    let mut command = place.command(&["sql", "metrics-run", sql]);
    let asked = command.env("TMPDIR", place.path("temp")).spawn().expect("start corr");
    let id = asked.id().to_string();
    let began = std::time::Instant::now();
    // It listens before it makes anything.
    while left() == 0 {
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "nothing is made");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let ran = crate::program::finish(asked, b"");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(2), "", "corr: interrupted\n"));
    assert_eq!(left(), 0);
}
