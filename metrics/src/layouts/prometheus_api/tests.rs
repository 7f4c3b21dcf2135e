use std::io::Write;

use proptest::prelude::*;

use super::super::{Head, look};
use super::*;
use crate::model::Outcome;

/// Writes files, claims and reads them.
fn read_files(files: &[(&str, &str)]) -> Result<Vec<Capture>, ReadError> {
    let folder = tempfile::tempdir().unwrap();
    let mut candidates = Vec::new();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        candidates.push(look(&path, name));
    }
    let sets = claim(&candidates);
    assert_eq!(sets.len(), 1, "{files:?}");
    assert_eq!(sets[0].files.len(), files.len());
    read(&sets[0])
}

fn codes(capture: &Capture) -> Vec<(&'static str, u64)> {
    capture.notes.iter().map(|n| (n.code, n.count)).collect()
}

const RAW: &str = r#"{"status":"success","data":{"resultType":"matrix","result":[
{"metric":{"__name__":"up","instance":"h:1","job":"a"},"values":[[1795976926.574,"1"],[1795976927.579,"0"]]},
{"metric":{"__name__":"sglang_x","instance":"h:1","job":"a"},"values":[[1795976926.574,"NaN"],[1795976927.579,"+Inf"],[1795976928,"3"]]},
{"metric":{"__name__":"scrape_duration_seconds","instance":"h:1","job":"a"},"values":[[1795976926.574,"0.25"]]}]}}"#;

const TARGETS: &str = r#"{"status":"success","data":{"activeTargets":[{"labels":{"instance":"h:2","job":"b"},"scrapeUrl":"http://h:2/metrics",
        "lastError":"connection refused","health":"down","scrapeInterval":"1s"},7],"droppedTargets":[]}}"#;

const EXEMPLARS: &str = r#"{"status":"success","data":[{"seriesLabels":{"__name__":"x_bucket","le":"1.0","instance":"h:1"},
        "exemplars":[{"labels":{"trace_id":"t"},"value":"0.5","timestamp":1795976926.574},{"labels":{},"value":"z","timestamp":1}]}]}"#;

#[test]
fn samples_come_with_the_scrapes_that_up_tells() {
    let captures = read_files(&[("r.json", RAW)]).unwrap();
    assert_eq!((captures.len(), captures[0].fidelity), (1, Fidelity::Raw));
    let samples = captures[0].samples.all(1);
    assert_eq!(
        samples.iter().map(|s| s.at).collect::<Vec<_>>(),
        [1_795_976_926_574_000_000, 1_795_976_927_579_000_000, 1_795_976_928_000_000_000]
    );
    assert!(samples[0].value.is_nan() && samples[1].value == f64::INFINITY);
    assert_eq!(captures[0].series[1].name.canonical(), "sglang:x");
    assert_eq!(captures[0].series[1].labels.to_string(), r#"{instance="h:1",job="a"}"#);
    let scrapes = &captures[0].endpoints[0].scrapes;
    assert_eq!((scrapes[0].took, &scrapes[0].outcome), (Some(250_000_000), &Outcome::Read));
    assert!(matches!(&scrapes[1].outcome, Outcome::Failed(why) if why.starts_with("up is 0")));
}

/// A wrapped answer of one series at whole seconds.
fn wrapped(query: &str, more: &str, from: i64) -> String {
    format!(
        r#"{{"query":"{query}",{more}"response":{{"status":"success","data":{{"resultType":"matrix","result":[
        {{"metric":{{"__name__":"x","instance":"h:1"}},"values":[[{from},"1"],[{},"2"]]}}]}}}}}}"#,
        from + 1
    )
}

#[test]
fn the_stored_query_tells_what_points_are() {
    let one = |text: &str| {
        let captures = read_files(&[("a.json", text)]).unwrap();
        (captures[0].fidelity, codes(&captures[0])[0].0)
    };
    assert_eq!(one(&wrapped("x[5m]", "", 1_795_976_926)), (Fidelity::Raw, "raw_samples"));
    assert_eq!(one(&wrapped("x[5m:1s]", "", 1_795_976_926)), (Fidelity::StepFilled, "evaluated_instants"));
    assert_eq!(one(&wrapped("x", r#""step":"1","#, 1_795_976_926)), (Fidelity::StepFilled, "evaluated_instants"));
    assert_eq!(one(&wrapped("x", "", 1_795_976_926)), (Fidelity::StepFilled, "evaluated_instants"));
    let bare = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"x"},"values":[[1,"1"],[2,"1"]]}]}}"#;
    assert_eq!(one(bare), (Fidelity::StepFilled, "samples_or_instants"));
    let two = |a: &str| {
        format!(
            r#"{{"status":"success","data":{{"resultType":"matrix","result":[
            {{"metric":{{"__name__":"x","instance":"h:1"}},"values":[[1.{a},"1"],[2.{a},"1"]]}},
            {{"metric":{{"__name__":"x","instance":"h:2"}},"values":[[1.{a},"1"],[3.{a},"1"]]}}]}}}}"#
        )
    };
    assert_eq!(one(&two("5")), (Fidelity::StepFilled, "evaluated_instants"));
    assert_eq!(one(&two("0")), (Fidelity::StepFilled, "samples_or_instants"), "whole seconds have no phase");
    let vector = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"x"},"value":[1795976926.5,"1"]}]}}"#;
    assert_eq!(one(vector), (Fidelity::StepFilled, "evaluated_once"));
}

#[test]
fn answers_that_go_on_are_one_capture_and_each_sample_is_taken_once() {
    let seconds = |c: &Capture| c.samples.all(0).iter().map(|s| s.at / 1_000_000_000).collect::<Vec<_>>();
    let (a, b) = (wrapped("x[5m]", "", 1000), wrapped("x[5m]", "", 1002));
    let captures = read_files(&[("a.json", &a), ("b.json", &b)]).unwrap();
    assert_eq!((captures.len(), seconds(&captures[0])), (1, vec![1000, 1001, 1002, 1003]));

    // The same sample at 1001, then another value at a time that was there.
    let same = wrapped("x[5m]", "", 1001).replacen(r#""1""#, r#""2""#, 1);
    let captures = read_files(&[("a.json", &a), ("b.json", &same)]).unwrap();
    assert_eq!((captures.len(), seconds(&captures[0])), (1, vec![1000, 1001, 1002]));
    assert_eq!(codes(&captures[0]), [("raw_samples", 2), ("repeated", 1)]);
    let other = wrapped("x[5m]", "", 1001);
    let captures = read_files(&[("a.json", &a), ("b.json", &other)]).unwrap();
    assert_eq!((seconds(&captures[0]), seconds(&captures[1])), (vec![1000, 1001], vec![1001, 1002]));
    assert!(captures.iter().all(|c| c.series[0].trouble.collisions == 0));

    // One file, an answer a line.
    let line = |text: &str| text.replace('\n', " ");
    let lines = format!("{}\n{}\n", line(&a), line(&same));
    let captures = read_files(&[("a.jsonl", &lines)]).unwrap();
    assert_eq!((captures.len(), seconds(&captures[0])), (1, vec![1000, 1001, 1002]));
    assert_eq!(codes(&captures[0]), [("raw_samples", 1), ("repeated", 1)]);
}

#[test]
fn errors_of_the_api_are_said() {
    let error = r#"{"status":"error","errorType":"bad_data","error":"parse error: unexpected end"}"#;
    let alone = read_files(&[("e.json", error)]).unwrap_err().to_string();
    assert!(alone.contains("bad_data: parse error: unexpected end"), "{alone}");
    let captures = read_files(&[("e.json", error), ("r.json", RAW)]).unwrap();
    assert_eq!(codes(&captures[0]), [("raw_samples", 1), ("unread_answer", 1)]);
    let warned = RAW.replacen("\"success\",", "\"success\",\"warnings\":[\"partial\"],", 1);
    assert_eq!(codes(&read_files(&[("r.json", &warned)]).unwrap()[0]), [("raw_samples", 1), ("api_warning", 1)]);
}

#[test]
fn an_answer_without_series_is_said() {
    let empty = r#"{"query":"y[5m]","response":{"status":"success","data":{"resultType":"matrix","result":[]}}}"#;
    let captures = read_files(&[("e.json", empty), ("r.json", RAW)]).unwrap();
    assert_eq!(codes(&captures[0]), [("raw_samples", 1), ("empty_result", 1)]);
    assert_eq!(captures[0].notes[1].what, "y[5m] found no series");
    assert_eq!(read_files(&[("e.json", empty)]).unwrap()[0].series.len(), 0);
}

#[test]
fn a_cut_answer_keeps_what_stood_before_the_cut() {
    let at = RAW.find("[1795976928").unwrap();
    let captures = read_files(&[("r.json", &RAW[..at + 5])]).unwrap();
    assert_eq!(captures[0].series.len(), 2);
    assert_eq!(captures[0].samples.len(1), 2);
    assert_eq!(codes(&captures[0]), [("samples_or_instants", 1), ("truncated", 1)], "two stamps lie on some grid");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(RAW.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    std::fs::write(&path, &packed[..packed.len() - 40]).unwrap();
    let sets = claim(&[look(&path, "r.json.gz")]);
    let captures = read(&sets[0]).unwrap();
    assert_eq!(captures[0].samples.len(1), 3);
    assert_eq!(codes(&captures[0]).last(), Some(&("truncated", 1)));
}

#[test]
fn wrong_types_are_counted_and_the_rest_kept() {
    let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
        {"metric":{"__name__":"x","instance":"h:1"},"values":[[1.001,"1"],[2,{}],"x",[3],["4","y"],[5.5,"2"],[0.25,"7"]]},
        {"metric":{"__name__":5},"values":[[1,"1"]]}, 7, null, "s", [1,"2"],
        {"metric":{"__name__":"h"},"histograms":[[1,{"count":"1"}]]}]}}"#;
    let captures = read_files(&[("r.json", text)]).unwrap();
    assert_eq!(captures[0].samples.len(0), 3);
    assert_eq!(captures[0].series[0].trouble.disordered, 1, "time went back");
    let codes = codes(&captures[0]);
    assert!(codes.contains(&("bad_point", 5)), "{codes:?}");
    assert!(codes.contains(&("bad_series", 5)), "{codes:?}");
    assert!(codes.contains(&("native_histogram", 1)), "{codes:?}");
}

#[test]
fn what_is_said_of_targets_families_and_exemplars_is_kept() {
    let metadata = r#"{"status":"success","data":{"sglang_x":[{"type":"gauge","help":"h","unit":""},{"type":"counter","help":"","unit":""}],
        "y":[{"type":"novel","help":"","unit":""}]}}"#;
    let series =
        r#"{"status":"success","data":[{"__name__":"sglang:x","instance":"h:1","job":"a"},{"__name__":"unseen","instance":"h:1"}]}"#;
    let files = [("e.json", EXEMPLARS), ("m.json", metadata), ("r.json", RAW), ("s.json", series), ("t.json", TARGETS)];
    let captures = read_files(&files).unwrap();
    assert_eq!(captures.len(), 1);
    let c = &captures[0];
    let down = c.endpoints.iter().find(|e| e.name == "h:2").unwrap();
    assert_eq!((down.facts["health"].as_str(), down.facts["last_error"].as_str()), ("down", "connection refused"));
    assert_eq!(down.url.as_deref(), Some("http://h:2/metrics"));
    assert_eq!(c.families["sglang:x"].kind, Some(crate::model::Kind::Gauge));
    assert_eq!((c.exemplars.len(), c.exemplars[0].at, c.exemplars[0].value), (1, Some(1_795_976_926_574_000_000), 0.5));
    assert_eq!(c.spelled(c.exemplars[0].series), r#"x_bucket{instance="h:1",le="1"}"#);
    let listed = c.notes.iter().find(|n| n.code == "listed_without_samples").unwrap();
    assert_eq!((listed.count, listed.first.as_deref()), (1, Some(r#"unseen{instance="h:1"}"#)));
    let codes: Vec<&str> = c.notes.iter().map(|n| n.code).collect();
    for code in ["two_types", "unknown_type", "damaged_answer", "exemplar_one_stamp"] {
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
    assert_eq!(c.files.len(), 5);
}

#[test]
fn a_million_label_sets_are_read() {
    let mut text =
        String::from(r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"x"},"value":[1,"1"]}"#);
    for i in 0..1_000_000 {
        text.push_str(&format!(r#",{{"metric":{{"__name__":"x","i":"{i}"}},"value":[1,"{i}"]}}"#));
    }
    text.push_str("]}}");
    let captures = read_files(&[("v.json", &text)]).unwrap();
    assert_eq!(captures[0].series.len(), 1_000_001);
    assert_eq!(captures[0].samples.all(1_000_000)[0].value, 999_999.0);
}

#[test]
fn other_documents_are_not_claimed() {
    for other in [
        r#"{"status":"success","message":"request done","data":{"id":5}}"#,
        r#"{"status":"success","data":["up","x"]}"#,
        r#"{"status":"error","error":"x","ts":1}"#,
        r#"{"level":"info","query":"x","response":{"status":"ok"}}"#,
        r#"{"status":"success","data":{"alerts":[]}}"#,
        r#"{"result":[{"metric":"ttft","value":1}]}"#,
        r#"[{"metric":{},"values":[]}]"#,
        "status success",
    ] {
        assert_eq!(answer(other.as_bytes()), None, "{other}");
    }
    let sorted = r#"{"data":{"result":[{"metric":{"__name__":"x"},"values":[[1,"1"]]}],"resultType":"matrix"},"status":"success"}"#;
    assert_eq!(answer(sorted.as_bytes()), Some("query result"), "keys in another order");
    assert_eq!(answer(RAW.as_bytes().get(..150).unwrap()), Some("query result"), "cut where a head ends");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(cut in 0usize..700, flips in prop::collection::vec((0usize..700, any::<u8>()), 0..6)) {
        let mut bytes = RAW.as_bytes().to_vec();
        for (at, byte) in flips {
            if let Some(b) = bytes.get_mut(at) {
                *b = byte;
            }
        }
        bytes.truncate(cut);
        answer(&bytes);
        let mut stamps = Stamps::default();
        let contents = walk(&bytes, &mut |points| stamps.take(&points));
        grade::grade(&contents, &stamps);
        Side::default().take(&contents, "a.json");
    }

    #[test]
    fn any_bytes_of_files_are_read_or_refused(
        which in 0usize..4, cut in 0usize..700, flips in prop::collection::vec((0usize..700, any::<u8>()), 0..3)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let a = [RAW, &wrapped("x", r#""step":"1","#, 5), TARGETS, EXEMPLARS][which].to_string();
        let mut bytes = a.into_bytes();
        for (at, byte) in flips {
            if let Some(b) = bytes.get_mut(at) {
                *b = byte;
            }
        }
        bytes.truncate(cut.max(200));
        let candidates: Vec<Candidate> = [("a.json", &bytes[..]), ("b.json", RAW.as_bytes())]
            .into_iter()
            .map(|(name, bytes)| {
                let path = folder.path().join(name);
                std::fs::write(&path, bytes).unwrap();
                look(&path, name)
            })
            .collect();
        for set in claim(&candidates) {
            let captures = read(&set).unwrap();
            let files: usize = captures.iter().map(|c| c.files.len() + c.notes.iter().filter(|n| n.code == "unread_answer").count()).sum();
            prop_assert!(files >= set.files.len(), "each file is read or said");
        }
    }

    #[test]
    fn any_query_has_an_ending(query in r#"[a\[\]:5m"{} offset@]{0,20}"#) {
        let contents = document::Contents { lists: true, queries: [query].into(), ..Default::default() };
        grade::grade(&contents, &Stamps::default());
    }
}

#[test]
fn what_could_not_be_opened_is_no_answer() {
    let mut candidate = look(std::path::Path::new("/nowhere/at/all.json"), "all.json");
    assert!(claim(std::slice::from_ref(&candidate)).is_empty());
    candidate.head = Head::Text(RAW.as_bytes().into());
    let error = read(&claim(&[candidate])[0]).unwrap_err().to_string();
    assert!(error.contains("all.json"), "{error}");
}
