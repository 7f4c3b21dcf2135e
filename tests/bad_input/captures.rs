//! Metric captures that are broken, hostile or strange.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;

use super::{ERROR, FOUND, NOTHING, PART, place, rows};

/// A scrape of one counter at a time in whole seconds, as `corr scrape` writes it.
fn scrape(at: i64, url: &str, worker: &str, value: u32) -> String {
    format!(
        "{{\"timestamp_ns\":{},\"endpoint_url\":\"{url}\",\"role\":\"backend\",\"worker_id\":\"{worker}\",\"duration_ns\":1000000,\"text\":\"# TYPE a_total counter\\na_total {value}\\n\"}}\n",
        1_795_976_900_000_000_000i64 + at * 1_000_000_000
    )
}

#[test]
fn a_table_that_cannot_be_read_is_named_beside_one_that_can() {
    let good: String = (0..4).map(|i| scrape(i * 10, "http://h:1/metrics", "w0", 5)).collect();
    let place = place(&[("raw_prometheus.jsonl", good.as_bytes()), ("final.parquet", b"PAR1 cut off in the middle")]);
    let ran = place.corr(&["metrics", "run", "a_total", "--since", "start", "--until", "end"]);
    assert_eq!(ran.code, PART, "{}", ran.stderr);
    assert!(ran.stdout.contains("in the window 0 exactly"), "{}", ran.stdout);
    let line = ran.stderr.lines().find(|l| l.contains("final.parquet")).expect("it is named");
    assert!(line.contains("footer cannot be read") && line.contains("copy it again"), "{line}");
}

#[test]
fn damage_is_told_beside_the_figure_that_rests_on_the_rest() {
    let mut lines: String = (0..4).map(|i| scrape(i * 10, "http://h:1/metrics", "w0", 5 + i as u32)).collect();
    let second = lines.find('\n').expect("a line") + 1;
    lines.insert_str(second, "{\"timestamp_ns\": cut\n");
    let place = place(&[("raw_prometheus.jsonl", lines.as_bytes())]);
    let ran = place.corr(&["metrics", "run", "a_total", "--since", "start", "--until", "end"]);
    assert_eq!(ran.code, PART, "{}", ran.stderr);
    assert!(ran.stdout.contains("3 between 4 samples"), "{}", ran.stdout);
    assert!(ran.stderr.contains("raw_prometheus.jsonl:2"), "{}", ran.stderr);
}

#[test]
fn two_workers_behind_one_address_are_two_endpoints() {
    let url = "http://balancer:1/metrics";
    let both = |i: i64| scrape(i * 10, url, "w0", 10) + &scrape(i * 10 + 5, url, "w1", 1000);
    let place = place(&[("raw_prometheus.jsonl", (0..4).map(both).collect::<String>().as_bytes())]);
    let ran = place.corr(&["metrics", "run", "a_total", "--since", "start", "--until", "end", "--format", "csv"]);
    assert_eq!(ran.code, FOUND, "{}", ran.stderr);
    let lines = rows(&ran);
    assert_eq!(lines.len(), 2, "{}", ran.stdout);
    assert!(lines.iter().all(|l| l.contains("answered,0,")), "neither moved: {}", ran.stdout);
}

#[test]
fn what_is_not_there_is_said_and_exits_by_it() {
    let good: String = (0..4).map(|i| scrape(i * 10, "http://h:1/metrics", "w0", 5)).collect();
    let place = place(&[("raw_prometheus.jsonl", good.as_bytes())]);
    let ran = place.corr(&["metrics", "run", "b_total", "--format", "json"]);
    assert_eq!(ran.code, NOTHING);
    assert!(serde_json::from_str::<serde_json::Value>(&ran.stdout).is_ok(), "{}", ran.stdout);
    assert!(ran.stderr.contains("did you mean `a_total`?"), "{}", ran.stderr);
    let ran = place.corr(&["metrics", "run", "a_total", "--by", "nobody", "--since", "start", "--until", "end"]);
    assert_eq!(ran.code, ERROR);
    let ran = place.corr(&["metrics", "run", "a_total", "--since", "@1795976911", "--until", "@1795976919"]);
    assert_eq!(ran.code, NOTHING, "no sample in the window: {}", ran.stdout);
    assert!(ran.stdout.contains("unknown, not zero"), "{}", ran.stdout);
}

/// Scrapes of one endpoint, each at a time in whole seconds.
fn bodies(scrapes: &[(i64, &str)]) -> String {
    let line = |(at, body): &(i64, &str)| {
        let stamp = 1_795_976_900_000_000_000i64 + at * 1_000_000_000;
        let scrape =
            serde_json::json!({"timestamp_ns": stamp, "endpoint_url": "http://h:1/metrics", "duration_ns": 1_000_000, "text": body});
        format!("{scrape}\n")
    };
    scrapes.iter().map(line).collect()
}

/// NaN is unknown, an infinity has no difference, and a scrape that stands after a later one is sorted in and told.
#[test]
fn values_that_are_no_numbers_and_time_that_goes_back() {
    let scrapes = bodies(&[
        (0, "# TYPE c_total counter\n# TYPE g gauge\n# TYPE n_total counter\nc_total 1\ng NaN\nn_total 5\n"),
        (10, "c_total 3\ng +Inf\nn_total NaN\n"),
        (30, "c_total 9\ng 2\nn_total 7\n"),
        (20, "c_total 6\ng -Inf\nn_total 6\n"),
        (40, "c_total +Inf\ng 1\nn_total 9\n"),
    ]);
    let place = place(&[("raw_prometheus.jsonl", scrapes.as_bytes())]);
    let ran = place.corr(&["metrics", "run", "c_total", "g", "n_total", "--since", "start", "--until", "end"]);
    assert_eq!(ran.code, FOUND, "{}", ran.stderr);
    for said in [
        "no figure: a value is infinite",
        "min -Inf at 2026-11-29T18:28:40Z, median 1.5, max +Inf at 2026-11-29T18:28:30Z",
        "5 samples, 1 of them NaN",
        "4 between 4 samples, 5 at 2026-11-29T18:28:20Z and 9 at 2026-11-29T18:29:00Z",
        "1 samples stood after later ones in the file and were sorted in",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    let ran = place.corr(&["metrics", "run", "c_total", "g", "n_total", "--since", "start", "--until", "end", "--format", "json"]);
    assert!(serde_json::from_str::<serde_json::Value>(&ran.stdout).is_ok(), "JSON has no word for them: {}", ran.stdout);
}

/// Every id is a series of its own, and one of them is found among all.
#[test]
fn a_million_label_sets() {
    let mut body = String::from("# TYPE a_total counter\n");
    for i in 0..1_000_000 {
        body.push_str(&format!("a_total{{id=\"{i}\"}} {i}\n"));
    }
    let place = place(&[("raw_prometheus.jsonl", bodies(&[(0, &body)]).as_bytes())]);
    let ran = place.corr(&["metrics", "run", "a_total{id=\"765432\"}", "--rows", "--format", "csv"]);
    assert_eq!(ran.code, FOUND, "{}", ran.stderr);
    assert_eq!(rows(&ran).len(), 1, "{}", ran.stdout);
    assert!(rows(&ran)[0].starts_with("2026-11-29T18:28:20Z,765432,"), "{}", ran.stdout);
    let ran = place.corr(&["metrics", "run", "-n", "3"]);
    assert!(ran.stderr.contains("showing 3 of 1 000 000 series; --limit 0 for all"), "{}", ran.stderr);
}

fn table(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.into_inner().expect("a file")
}

/// Tables whose columns are called as they should be and are of another type, and one that is cut: named, and the rest is answered.
#[test]
fn tables_of_wrong_types() {
    let texts = |texts: [&str; 2]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
    let numbers = |numbers: [i64; 2]| Arc::new(Int64Array::from(numbers.to_vec())) as ArrayRef;
    let names = || texts(["a_total", "a_total"]);
    let good = bodies(&[(0, "a_total 1\n"), (10, "a_total 5\n")]);
    for (what, bytes) in [
        ("values that are texts", table(vec![("timestamp", numbers([1, 2])), ("name", names()), ("value", texts(["1", "x"]))])),
        ("a truth for a time", {
            let truths = Arc::new(BooleanArray::from(vec![true, false])) as ArrayRef;
            table(vec![("timestamp", truths), ("name", names()), ("value", numbers([1, 2]))])
        }),
        ("names that are numbers", table(vec![("timestamp", numbers([1, 2])), ("name", numbers([7, 8])), ("value", numbers([1, 2]))])),
        ("a scraper's columns", {
            let values = Arc::new(Float64Array::from(vec![1.0, 2.0])) as ArrayRef;
            let columns = [("scraper_endpoint", numbers([1, 2])), ("metric_name", values.clone()), ("metric_value", names())];
            table(columns.into_iter().chain([("timestamp", texts(["a", "b"]))]).collect())
        }),
        ("a table that is cut", {
            let mut whole = table(vec![("timestamp", numbers([1, 2])), ("name", names()), ("value", numbers([1, 2]))]);
            whole.truncate(whole.len() / 2);
            whole
        }),
    ] {
        let place = place(&[("raw_prometheus.jsonl", good.as_bytes()), ("odd.parquet", &bytes)]);
        let ran = place.corr(&["metrics", "run", "a_total", "--since", "start", "--until", "end"]);
        assert!(ran.code == PART || ran.code == FOUND, "{what}: {:?} {}", ran.code, ran.stderr);
        assert!(ran.stdout.contains("4 between 2 samples"), "{what}: {}", ran.stdout);
        assert!(!ran.stderr.contains("panicked"), "{what}: {}", ran.stderr);
        let listed = place.corr(&["sources", "run"]);
        assert!(format!("{}{}", listed.stdout, ran.stderr).contains("odd.parquet"), "{what}: {}", listed.stdout);
    }
}

/// A schema that says impossible types makes the library that reads it panic: that is an error like any other, and nothing of the panic is printed.
#[test]
fn a_panic_over_damaged_bytes_is_an_error_of_the_file() {
    let numbers = || Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef;
    let names = Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef;
    let bytes = table(vec![("timestamp", numbers()), ("name", names), ("value", numbers())]);
    let key = b"ARROW:schema";
    let start = bytes.windows(key.len()).position(|w| w == key).expect("the schema is kept as text") + key.len();
    let text = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let places = (start..bytes.len()).skip_while(|i| !text(&bytes[*i])).take_while(|i| text(&bytes[*i]));
    let mut caught = 0;
    for i in places {
        let mut damaged = bytes.clone();
        damaged[i] = if damaged[i] == b'A' { b'P' } else { b'A' };
        let place = place(&[("final.parquet", &damaged)]);
        let ran = place.corr(&["metrics", "run"]);
        assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains("stack backtrace"), "byte {i}: {}", ran.stderr);
        let said = ran.stderr.lines().any(|l| l.contains("final.parquet") && l.contains("the file is damaged ("));
        caught += usize::from(said);
        if caught == 2 {
            break;
        }
    }
    assert_eq!(caught, 2, "panics that were caught");
}

/// What Prometheus stored of a scrape is what corr keeps of it: series and value, of every torture case that Prometheus took, by one command.
#[test]
fn what_prometheus_stored_of_torture_is_kept() {
    let verdicts = std::fs::read_to_string(super::program::fixtures().join("metrics-torture/prometheus_2.42_parse_verdicts.json"));
    let verdicts: Vec<serde_json::Value> = serde_json::from_str(&verdicts.expect("verdicts")).expect("JSON");
    let line = |(i, verdict): (usize, &serde_json::Value)| {
        let input = verdict["input"].as_str().expect("a body");
        let (body, kind) = match input.strip_prefix("//OM\n") {
            Some(body) => (body, "application/openmetrics-text; version=1.0.0"),
            None => (input, "text/plain; version=0.0.4"),
        };
        let stamp = 1_795_976_900_000_000_000i64 + i as i64 * 1_000_000_000;
        let url = format!("http://case-{i}:1/metrics");
        let scrape =
            serde_json::json!({"timestamp_ns": stamp, "endpoint_url": url, "duration_ns": 1000, "content_type": kind, "text": body});
        format!("{scrape}\n")
    };
    let scrapes: String = verdicts.iter().enumerate().map(line).collect();
    let place = place(&[("raw_prometheus.jsonl", scrapes.as_bytes())]);
    let ran = place.corr(&["metrics", "run", "--list", "--limit", "0", "--format", "json"]);
    // Bodies that end without a line end may be cut, and some have lines that are none: that is said.
    assert_eq!(ran.code, PART, "{}", ran.stderr);
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let series = answer["series"].as_array().expect("series");
    let (mut stored, mut refused, mut one_bound) = (0, 0, 0);
    for (i, verdict) in verdicts.iter().enumerate() {
        let target = format!("http://case-{i}:1/metrics");
        let of_case: Vec<&serde_json::Value> = series.iter().filter(|s| s["target"] == target.as_str()).collect();
        for one in verdict["series"].as_array().expect("series") {
            let mut labels = one[0].as_object().expect("labels").clone();
            let name = labels.remove("__name__").expect("a name");
            let value = one[1][1].as_str().expect("a value");
            let found = of_case.iter().find(|s| s["name"] == name && s["labels"].as_object() == Some(&labels));
            if labels.get("le").is_some_and(|le| le == "1.0") {
                // Two spellings of one bound are one series to corr; that a scrape has both is told, and no figure is made of it.
                let told = of_case.iter().any(|s| s["trouble"].to_string().contains("several series stand under this name"));
                assert!(found.is_none() && told, "case {i}: {of_case:?}");
                one_bound += 1;
                continue;
            }
            let found = found.unwrap_or_else(|| panic!("case {i}: {} is not in {of_case:?}", one[0]));
            let first = &found["first"]["value"];
            let same = first.as_f64() == value.parse().ok() || first.as_str() == Some(value);
            assert!(same, "case {i}: {name} {first}, not {value}");
            stored += 1;
        }
        refused += usize::from(verdict["up"] == "down");
    }
    println!("{stored} series that Prometheus stored; {refused} scrapes that it refused");
    assert_eq!((verdicts.len(), stored, one_bound), (57, 46, 1), "all that Prometheus stored; one bound in two spellings");
}
