//! CSV, JSON lines and Markdown: one implementation of rows, the conventions of each, and hostile text in all exports of a run.

use proptest::prelude::*;
use serde_json::Value;

use super::{export, otlp, perfetto, unsafe_here};
use crate::gfm;
use crate::hostile::{self, hostile};
use crate::program::Place;

/// Records of CSV by RFC 4180.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quoted, c) {
            (true, '"') if chars.peek() == Some(&'"') => field.extend(chars.next()),
            (true, '"') => quoted = false,
            (true, c) => field.push(c),
            (false, '"') => quoted = true,
            (false, ',') => record.push(std::mem::take(&mut field)),
            (false, '\n') => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            (false, c) => field.push(c),
        }
    }
    assert!(!quoted && field.is_empty() && record.is_empty(), "the last record is whole");
    records
}

/// Exports of rows are what the timeline writes, all of them.
#[test]
fn rows_are_those_of_the_timeline() {
    let place = Place::with("sglang-run");
    for form in ["csv", "markdown"] {
        let timeline = place.corr(&["timeline", "sglang-run", "--limit", "0", "--format", form]);
        assert_eq!(export(&place, &[form, "sglang-run"]).stdout, timeline.stdout, "{form}");
    }
    let lines = export(&place, &["jsonl", "sglang-run"]).stdout;
    let lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let kinds: Vec<&str> = lines.iter().map(|l| l["type"].as_str().expect("a type")).collect();
    assert_eq!((kinds[0], *kinds.last().expect("lines")), ("begin", "summary"));
    assert!(lines[0]["schema"] == "corr.report.v1" && lines.last().expect("lines")["schema"] == "corr.report.v1");
    let count = |kind: &str| kinds.iter().filter(|k| **k == kind).count();
    let timeline = place.corr(&["timeline", "sglang-run", "--limit", "0", "--format", "jsonl"]).stdout;
    assert_eq!(count("event") + count("mark"), timeline.lines().count() - 1);
    assert_eq!(count("mark"), timeline.lines().filter(|l| l.starts_with("{\"type\":\"mark\"")).count());
    assert!(count("mark") > 0 && count("event") > count("mark"));
    // One for each edge of the table.
    assert_eq!(count("edge"), 22);
    let summary = lines.last().expect("lines");
    assert_eq!(
        (summary["matched"].as_u64(), summary["returned"].as_u64(), summary["cut"].as_u64()),
        (Some(81), Some((count("event") + count("mark")) as u64), Some(0))
    );
    assert_eq!(summary["notes"].as_u64(), Some(count("note") as u64));
    let cut = export(&place, &["jsonl", "sglang-run", "-n", "5"]).stdout;
    let cut: Vec<Value> = cut.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert!(cut.iter().any(|l| l["type"] == "note" && l["code"] == "cut"));
    assert_eq!(cut.iter().filter(|l| l["type"] == "event" || l["type"] == "mark").count(), 5);
}

/// One header, times as RFC 3339 in UTC or nothing, and a status that says why.
#[test]
fn csv_has_times_or_says_why_not() {
    for fixture in ["sglang-run", "direct-run", "restart-run"] {
        let place = Place::with(fixture);
        let records = records(&export(&place, &["csv", fixture, "--all"]).stdout);
        let column = |name: &str| records[0].iter().position(|c| c == name).unwrap_or_else(|| panic!("no column {name}"));
        let (time, status, evidence) = (column("time"), column("status"), column("evidence"));
        assert!(records.len() > 80);
        for record in &records[1..] {
            assert_eq!(record.len(), records[0].len());
            assert!(
                chrono::DateTime::parse_from_rfc3339(&record[time]).is_ok_and(|t| record[time].ends_with('Z') && t.timestamp() > 0)
                    || (record[time].is_empty() && record[status].contains("no stamp")),
                "{record:?}"
            );
            assert!(record[evidence].starts_with(&format!("{fixture}/")), "{record:?}");
        }
        // crash.log, readiness.log and restart-run's server.log have naive stamps, or none, and nothing that says their zone.
        assert!(records.iter().any(|r| r[status].contains("zone assumed")), "{fixture}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, max_shrink_iters: 30, ..ProptestConfig::default() })]

    /// Log text, whatever it holds, is data in every export.
    #[test]
    fn log_text_stays_data(messages in prop::collection::vec(hostile(), 1..25)) {
        let place = Place::new();
        hostile::run(&place, &messages);
        let trace = export(&place, &["perfetto", "run"]).stdout;
        let events = perfetto::valid(&trace);
        prop_assert!(!unsafe_here(&trace));
        // Each line of the three files is an instant: text lines may hold several, and one that does not look like a record joins the one above it.
        prop_assert!(events.iter().filter(|e| e.json["ph"] == "i").count() >= messages.len());
        let csv = export(&place, &["csv", "run", "--all"]).stdout;
        prop_assert!(!unsafe_here(&csv));
        let rows = records(&csv);
        prop_assert!(rows.iter().all(|r| r.len() == rows[0].len()));
        let lines = export(&place, &["jsonl", "run", "--all"]).stdout;
        prop_assert!(!unsafe_here(&lines));
        let lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
        let told = lines.iter().filter(|l| l["type"] == "event" || l["type"] == "mark").count();
        prop_assert_eq!(told, rows.len() - 1);
        let markdown = export(&place, &["markdown", "run", "--all"]).stdout;
        prop_assert!(!unsafe_here(&markdown));
        let tables = gfm::cells(&markdown);
        prop_assert_eq!((tables.len(), tables[0].len()), (1, told + 1));
        for row in &tables[0] {
            prop_assert!(row.len() == 5 && row.iter().all(|cell| cell.markup.is_empty()));
        }
        // Messages of JSON lines come through whole: what is shown is cut, and says so.
        for (line, message) in lines.iter().filter(|l| l["cite"].as_str().is_some_and(|c| c.starts_with("run/app.jsonl"))).zip(&messages) {
            prop_assert_eq!(line["first"]["fields"]["n"].is_u64() , true, "{} {}", line, message);
        }
        let spans = place.corr(&["export", "otlp", "run"]);
        prop_assert_eq!(spans.code, Some(1), "there is no request: {}", spans.stderr);
        otlp::valid(&spans.stdout);
    }
}
