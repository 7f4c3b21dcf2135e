//! Bodies, credentials and header values are withheld as exact spans, also where the record is cut or damaged.

use super::{read, spans};
use crate::dynamo::tests::grammar::ids;
use crate::event::{Event, Outcome, Secret, Value};
use crate::ids::IdKind;

const RECORD: &str = r#"{"request_id":"7c1e9f5a-0000-4000-8000-000000000001","start_unix":1795975544.0837598,"status":200,"prompt":"SECRET1","prompt_tokens":12,"input_ids":[101,7,9],"messages":[{"role":"user","content":"SECRET2"}],"choices":[{"index":0,"message":{"content":"SECRET3"},"finish_reason":"stop"},{"text":"SECRET4"}],"req_headers":{"user-agent":"SECRET5","Authorization":"SECRET6","x-dynamo-session-id":"sess-1"},"nested":{"request":{"pro\u006dpt":"SECRET7","arguments":{"city":"SECRET8"}}},"api_key":"SECRET9","hf_token":"SECRETa","outputText":"SECRETb","note":"{\"text\": \"SECRETc\"}","argv":["python","--api-key","SECRETd","--port","80","--token=SECRETe"],"auth":"Bearer SECRETf0123456789","first_token":3,"output":7,"tools":[],"error_body":{"message":"Model not found"}}"#;

fn covered(event: &Event<'_>, at: usize) -> bool {
    event.withheld.iter().any(|w| w.span.contains(&at))
}

#[test]
fn each_secret_is_an_exact_span() {
    let (event, outcome) = read(RECORD);
    assert_eq!(outcome, Outcome::Parsed);
    let body = Secret::Body;
    let credential = Secret::Credential;
    assert_eq!(
        spans(&event, RECORD),
        [
            ("\"SECRET1\"", body, "prompt"),
            ("[101,7,9]", body, "input_ids"),
            ("[{\"role\":\"user\",\"content\":\"SECRET2\"}]", body, "messages"),
            ("{\"content\":\"SECRET3\"}", body, "message"),
            ("\"SECRET4\"", body, "text"),
            ("\"SECRET5\"", Secret::Header, "header"),
            ("\"SECRET6\"", credential, "credential"),
            ("\"SECRET7\"", body, "prompt"),
            ("{\"city\":\"SECRET8\"}", body, "arguments"),
            ("\"SECRET9\"", credential, "credential"),
            ("\"SECRETa\"", credential, "credential"),
            ("\"SECRETb\"", body, "text"),
            ("\"{\\\"text\\\": \\\"SECRETc\\\"}\"", body, "text"),
            ("\"SECRETd\"", credential, "credential"),
            ("\"--token=SECRETe\"", credential, "text"),
            ("\"Bearer SECRETf0123456789\"", credential, "credential"),
        ]
    );
    assert_eq!(ids(&event, IdKind::Session), ["sess-1"]);
    assert_eq!(event.get("prompt_tokens"), Some(&Value::Int(12)), "a count is no body");
    assert_eq!(event.get("first_token"), Some(&Value::Int(3)), "nor a credential");
    assert_eq!(event.get("output"), Some(&Value::Int(7)));
    assert_eq!(event.get("error_body_message"), Some(&Value::Str("Model not found".into())));
    assert_eq!(event.get("finish_reason"), Some(&Value::Str("stop".into())));
}

#[test]
fn cut_anywhere_nothing_shows() {
    for end in 1..RECORD.len() {
        let part = &RECORD[..end];
        let (event, outcome) = read(part);
        assert_eq!(outcome, Outcome::Unparsed("truncated JSON"), "cut at {end}");
        for (at, _) in part.match_indices("SECRET") {
            assert!(covered(&event, at), "cut at {end}: {}", &part[at..]);
        }
        for pair in event.withheld.windows(2) {
            assert!(pair[0].span.end <= pair[1].span.start, "cut at {end}: {pair:?}");
        }
        let shown = event.fields.iter().any(|f| matches!(&f.value, Value::Str(t) if t.contains("SECRET")));
        assert!(!shown, "cut at {end}");
        if end > 60 {
            assert_eq!(ids(&event, IdKind::RequestId).len(), 1, "ids before the cut are kept");
        }
    }
}

#[test]
fn behind_damage_everything_is_withheld() {
    for (record, from) in [
        (r#"{"a":1,"b":2 "prompt":"SECRET"}"#, 12),
        (r#"{"a":1,"b":{"x":1 "prompt":"SECRET"}}"#, 11),
        (r#"{"a":1} and more SECRET"#, 7),
        (r#"{"a":1}{"prompt":"SECRET"}"#, 7),
    ] {
        let (event, outcome) = read(record);
        let want = if record.starts_with("{\"a\":1}") { Outcome::Parsed } else { Outcome::Unparsed("damaged JSON") };
        assert_eq!(outcome, want, "{record}");
        assert_eq!(event.withheld.iter().map(|w| w.span.start).min(), Some(from), "{record}");
        assert!(covered(&event, record.find("SECRET").unwrap()), "{record}");
    }
}

#[test]
fn long_text_may_be_a_body() {
    let long = "x".repeat(513);
    let record = format!(r#"{{"a":"{long}","b":["{long}"],"c":"{}"}}"#, &long[..201]);
    let (event, _) = read(&record);
    assert_eq!(spans(&event, &record).iter().map(|s| (s.0.len(), s.2)).collect::<Vec<_>>(), [(515, "long text"); 2]);
    assert!(event.fields.is_empty(), "and more than 200 bytes are no field");
}

#[test]
fn a_turn_of_a_conversation_is_no_log_message() {
    let record = r#"{"role":"user","message":"SECRET"}"#;
    let (event, _) = read(record);
    assert_eq!(spans(&event, record), [("SECRET", Secret::Body, "message")]);
}

#[test]
fn hostile_nesting_costs_its_length() {
    for open in ["{\"a\":", "[", "[{\"b\":"] {
        let record = format!("{{\"x\":{}", open.repeat(200_000));
        let (event, outcome) = read(&record);
        assert_eq!(outcome, Outcome::Unparsed("truncated JSON"));
        assert!(event.withheld.len() <= 1);
    }
    // A flag's name is looked at no further than a name is long.
    for unit in ["-", "--x", "x:", "--a "] {
        let record = format!("{{\"a\":;{}", unit.repeat((1 << 20) / unit.len()));
        let start = std::time::Instant::now();
        read(&record);
        assert!(start.elapsed().as_secs() < 5, "{unit}: {:?}", start.elapsed());
    }
    let record = format!("{{\"x\":{}\"SECRET\"{}}}", "[".repeat(50), "]".repeat(50));
    let (event, outcome) = read(&record);
    assert_eq!(outcome, Outcome::Parsed);
    assert!(covered(&event, record.find("SECRET").unwrap()), "too deep to be told from a body");
}
