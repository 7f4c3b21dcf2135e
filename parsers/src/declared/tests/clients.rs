//! The home-made clients of the cases, declared as a user would, against another JSON parser.

use super::super::{Definition, load, ordered};
use crate::FORMATS;
use crate::cases::cases;
use crate::dynamo::tests::captures::read;
use crate::event::{Event, Outcome, Value};
use crate::ids::IdKind;
use crate::record::{Layout, Reader};
use crate::text;

const SGLANG: &str = r#"{
    "name": "cases-sglang-client", "json": true, "keys": ["endpoint", "t_start"],
    "stamp": "t_start", "stamp_unit": "s", "kind": "client_request",
    "fields": {"end_s": "t_end", "http_status": "status", "finish_reason": "finish_reason.type"},
    "ids": {"rid": "rid", "session": "session", "x_request_id": "req_headers.x-request-id"},
    "samples": [{"text": "{\"endpoint\": \"/generate\", \"t_start\": 1795977518.5}", "stamp": "2026-11-29T18:38:38.5Z"}]
}"#;

const DYNAMO: &str = r#"{
    "name": "cases-dynamo-client", "json": true, "keys": ["start_unix", "x_request_id"],
    "stamp": "start_unix", "stamp_unit": "s", "kind": "client_request",
    "fields": {"end_s": "end_unix", "http_status": "status", "prompt_tokens": "usage.prompt_tokens", "completion_tokens": "usage.completion_tokens"},
    "ids": {"x_request_id": "x_request_id", "session": "session", "request_id": "response_id"},
    "withheld": ["error_body"],
    "samples": [{"text": "{\"start_unix\": 1795977518.25, \"x_request_id\": \"a\"}", "ids": {"x_request_id": "a"}}]
}"#;

/// Records, tokens in and out, records with a status.
fn count(definition: &str, dir: &str, stamp: &str, tokens: &[&str]) -> Option<[i64; 4]> {
    let definition: Definition = serde_json::from_str(definition).unwrap();
    let format = load(&definition).unwrap();
    let layout = Layout { formats: ordered(FORMATS.to_vec(), &[format]), ..Layout::default() };
    let mut seen = [0i64; 4];
    let mut paths: Vec<_> = std::fs::read_dir(cases(dir)?).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().flat_map(|p| [p.join("client.jsonl"), p.join("client.jsonl.gz")]).filter(|p| p.is_file()) {
        let bytes = read(&path);
        let mut reader = Reader::new(&bytes, 0, &layout);
        while let Some(record) = reader.next() {
            let mut event = Event::new(&text::kinds::TEXT);
            assert_eq!((record.format.map(|f| f.name), record.parse(&mut event)), (Some(format.name), Outcome::Parsed));
            assert_eq!(event.kind.name, "client_request");
            let truth: serde_json::Value = serde_json::from_slice(record.payload).unwrap();
            let behind = truth[stamp].as_f64().unwrap() * 1e9 - event.stamp.unwrap().ns as f64;
            assert!((-1e3..=event.stamp.unwrap().width as f64 + 1e3).contains(&behind), "{}: {behind}", path.display());
            for (key, kind) in [("x_request_id", IdKind::XRequestId), ("session", IdKind::Session), ("rid", IdKind::Rid)] {
                let Some(id) = truth[key].as_str().filter(|id| !id.is_empty() && *id != "None") else { continue };
                assert!(event.ids.iter().any(|i| i.kind == kind && i.text == id), "{}: {key} {id} {:?}", path.display(), event.ids);
            }
            let int = |name: &str| match event.get(name) {
                Some(Value::Int(i)) => *i,
                None => 0,
                other => panic!("{name} {other:?}"),
            };
            seen[0] += 1;
            seen[1] += int(tokens[0]);
            seen[2] += int(tokens[1]);
            seen[3] += i64::from(event.get("http_status").is_some());
        }
    }
    Some(seen)
}

#[test]
fn clients_of_the_cases() {
    // jq -s '[length, (map(.prompt_tokens//0)|add), (map(.completion_tokens//0)|add), (map(select(.status!=null))|length)]', all files summed.
    if let Some(seen) = count(SGLANG, "sglang", "t_start", &["prompt_tokens", "completion_tokens"]) {
        assert_eq!(seen, [713, 119_240, 36_323, 701]);
        println!("read {} records of SGLang's clients", seen[0]);
    }
    // The same over .usage.prompt_tokens and .usage.completion_tokens.
    if let Some(seen) = count(DYNAMO, "dynamo", "start_unix", &["prompt_tokens", "completion_tokens"]) {
        assert_eq!(seen, [1_226, 401_112, 38_316, 1_226]);
        println!("read {} records of Dynamo's clients", seen[0]);
    }
}
