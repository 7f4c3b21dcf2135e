//! Rests of records whose beginning is lost show no body; ordinary lines stay as they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::event::{Event, Outcome, Secret};
use crate::format::Content;
use crate::record::{self, Record};
use crate::{FORMATS, dynamo, text};

/// Reads one payload as the first record of a file.
fn record(payload: &[u8]) -> Record<'_> {
    let format = record::head_format(payload, FORMATS);
    Record { offset: 0, len: payload.len(), payload, payload_at: Some(0), meta: None, content: Content::Payload, format, rest: None }
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| ["log", "jsonl", "txt", "gz"].iter().any(|known| e == *known)) {
            found.push(path);
        }
    }
}

#[test]
fn cut_records_of_the_cases_show_no_body() {
    let mut found = Vec::new();
    for sub in ["dynamo", "sglang", "sglang-samples", "journald/containers"] {
        let Some(dir) = crate::cases::cases(sub) else { continue };
        files(&dir, &mut found);
    }
    found.sort();
    let (mut lines, mut caught, mut cuts, mut shown) = (0, Vec::new(), 0, Vec::new());
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for path in &found {
        let bytes = dynamo::tests::captures::read(path);
        dynamo::tests::captures::each(&bytes, |payload, event, outcome| {
            let foreign = record::head_format(payload, FORMATS).is_none();
            if foreign {
                lines += 1;
                // A journal's own lines are no plain text; here they are read as such.
                let request = [&b"Receive: obj="[..], b"Finish: obj=", b"Receive OpenAI: obj="];
                let request = request.iter().any(|head| memchr::memmem::find(payload, head).is_some());
                if *outcome == Outcome::Unparsed(text::CUT) && !request {
                    caught.push(format!("{}: {}", path.display(), String::from_utf8_lossy(&payload[..payload.len().min(400)])));
                }
                return;
            }
            let count = seen.entry(event.kind.name).or_default();
            // The pieces of a journal's JSON are its envelope's.
            if *count >= 300 || event.withheld.iter().any(|w| w.name == "long text") {
                return;
            }
            for body in event.withheld.iter().filter(|w| w.why == Secret::Body && w.span.len() > 12) {
                *count += 1;
                let len = body.span.len();
                for at in [body.span.start + 1, body.span.start + len / 3, body.span.start + len / 2, body.span.end - 6] {
                    cuts += 1;
                    let tail = &payload[at..];
                    let mut event = Event::new(&text::kinds::TEXT);
                    record(tail).parse(&mut event);
                    // The closing quotes and brackets of a body tell nothing.
                    let hidden = |i: usize| event.withheld.iter().any(|w| w.span.contains(&i));
                    let open: Vec<u8> = (0..body.span.end - at).filter(|i| !hidden(*i)).map(|i| tail[i]).collect();
                    // The last brackets of a record, and the keys of a rest that is itself JSON, are no body.
                    let known = record::head_format(tail, FORMATS).is_some();
                    if open.len() > 64 && !known {
                        let (open, all) = (String::from_utf8_lossy(&open), String::from_utf8_lossy(tail));
                        shown.push(format!("{} {} {}: {open}   in {all}", path.display(), event.kind.name, body.name));
                    }
                }
            }
        });
    }
    if found.is_empty() {
        return;
    }
    println!("read {} files: {cuts} cuts, {} show a body; {lines} foreign lines, {} caught", found.len(), shown.len(), caught.len());
    for line in shown.iter().step_by(1 + shown.len() / 20).chain(caught.iter().step_by(1 + caught.len() / 20)) {
        println!("  {line}");
    }
    assert!(cuts > 100, "{cuts}");
    assert!(shown.is_empty() && caught.is_empty());
}

#[test]
fn a_rest_is_withheld_whole() {
    for line in [
        "WORD', input_ids=None, sampling_params={'temperature': 0}, stream=True)",
        "WORD'}], 'model': 'm', 'stream': True}",
        r#"WORD"}],"model":"m"},"response":{"id":"x","choices":[]},"payload_complete":true}}}"#,
        r#"WORD\"}],\"model\":\"m\"}}","target":"dynamo_llm::audit"}"#,
        r#"WORD", "sampling_params": {"n": 1}}, "out": {"meta_info": {"id": "a"}}}"#,
    ] {
        let mut event = Event::new(&text::kinds::TEXT);
        let outcome = record(line.as_bytes()).parse(&mut event);
        let hidden = event.withheld.iter().any(|w| w.why == Secret::Body && w.span.start == 0 && w.span.end >= 5);
        assert!(hidden && event.fields.iter().all(|f| !format!("{f:?}").contains("WORD")), "{line} {outcome:?} {event:?}");
    }
    for line in [
        "a log line of some program: content is {\"role\": 1}",
        "preferred_sampling_params=None, enable_custom_logit_processor=False",
        "}",
        "text in brackets (so) and a smile :)",
        "UserWarning: the model: 'x' has no finish_reason",
    ] {
        let mut event = Event::new(&text::kinds::TEXT);
        record(line.as_bytes()).parse(&mut event);
        assert_eq!(event.withheld, [], "{line}");
    }
}
