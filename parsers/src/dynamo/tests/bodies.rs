//! Bodies that log lines name: withheld, and in no field.

use crate::FORMATS;
use crate::dynamo::bodies;
use crate::event::{Event, Value};
use crate::text;

fn visible(line: &str) -> (String, Event<'_>) {
    let format = FORMATS.iter().find(|f| (f.head)(line.as_bytes())).unwrap();
    let mut event = Event::new(&text::kinds::TEXT);
    (format.parse)(line.as_bytes(), &mut event);
    let shown = line.bytes().enumerate().filter(|(i, _)| !event.withheld.iter().any(|w| w.span.contains(i)));
    let shown = shown.map(|(_, b)| b).collect();
    (String::from_utf8(shown).unwrap(), event)
}

#[test]
fn bodies_are_withheld_and_no_fields() {
    const HEAD: &str = "2026-11-29T18:06:46.870571Z DEBUG dynamo_llm::preprocessor: ";
    const JSON: &str = r#"{"time":"2026-11-29T18:06:46.870571Z","level":"DEBUG","target":"dynamo_llm::preprocessor","message":"#;
    for (rest, after) in [
        (r#"formatted prompt="SECRET one" ttl_secs=7"#, true),
        (r#"formatted prompt="SECRET \" model=\"SECRET" ttl_secs=7"#, true),
        ("formatted ttl_secs=7 prompt=SECRET two x=SECRET", true),
        (r#"got messages=[User { content: "SECRET ] }" }] ttl_secs=7"#, true),
        (r#"got request=Request { messages: [User { content: "SECRET x=SECRET" }], n: 1 } ttl_secs=7"#, true),
        (r#"got Request { messages: [User(Message { content: Text("SECRET"), name: None })] } ttl_secs=7"#, true),
        (r#"got Inner { prompt: Some("SECRET \" a"), text: "SECRET" } ttl_secs=7"#, true),
        (r#"got {"model":"m","input":"SECRET","tools":[{"a":"SECRET"}]} ttl_secs=7"#, true),
        (r#"call arguments={"city": "SECRET"} body="SECRET" system_prompt="SECRET" ttl_secs=7"#, true),
        (r#"token_ids=[1, 2, 3] tool_calls: [Call { arguments: "SECRET" }] ttl_secs=7"#, true),
        (r#"got content: "SECRET that never ends"#, false),
    ] {
        let line = format!("{HEAD}{rest}");
        let (shown, event) = visible(&line);
        assert!(!shown.contains("SECRET") && !format!("{:?}{:?}", event.fields, event.ids).contains("SECRET"), "{shown} {event:?}");
        assert!(!event.columnar);
        assert_eq!(event.get("ttl_secs") == Some(&Value::Int(7)), after, "{rest}: {:?}", event.fields);
        let escaped = serde_json::to_string(rest).unwrap();
        let line = format!("{JSON}{escaped},\"ttl_secs\":7}}");
        let (shown, event) = visible(&line);
        if rest.contains("two x=") {
            continue; // In JSON a message is no list of fields.
        }
        assert!(!shown.contains("SECRET") && !format!("{:?}{:?}", event.fields, event.ids).contains("SECRET"), "{shown} {event:?}");
    }
    for member in [r#""prompt":"SECRET""#, r#""messages":[{"role":"user","content":"SECRET"}]"#, r#""request":"R { text: \"SECRET\" }""#] {
        let line = format!("{JSON}\"x\",{member},\"ttl_secs\":7}}");
        let (shown, event) = visible(&line);
        assert!(!shown.contains("SECRET") && !format!("{:?}", event.fields).contains("SECRET"), "{shown} {event:?}");
        assert_eq!(event.get("ttl_secs"), Some(&Value::Int(7)), "{member}");
    }
}

#[test]
fn counts_and_prose_stay() {
    let line = "2026-11-29T18:06:46.870571Z DEBUG dynamo_llm::x: Failed to read body: end of input, context: 'a' input_tokens=5 tokens=12 input=3 prompt=None";
    let (shown, event) = visible(line);
    assert_eq!(shown, line);
    assert_eq!(event.get("tokens"), Some(&Value::Int(12)));
    assert_eq!(event.get("input"), Some(&Value::Int(3)));
    assert_eq!(event.get("input_tokens"), Some(&Value::Int(5)));
}

/// Bytes that make every look fail as late as it can still cost a bounded time a byte.
#[test]
fn no_bytes_are_slow() {
    for unit in ["text: \"", "text: [", "text: Some(", "text=\\\\\\\"", "prompt: {'", "text: A {", "text:"] {
        let bytes = unit.repeat((1 << 20) / unit.len());
        let start = std::time::Instant::now();
        let found = bodies::find(bytes.as_bytes());
        assert!(found.iter().all(|span| span.end <= bytes.len()));
        assert!(start.elapsed().as_secs() < 5, "{unit}: {:?}", start.elapsed());
    }
}

proptest::proptest! {
    #[test]
    fn spans_are_sound(pieces in proptest::collection::vec(proptest::sample::select(vec![
        "text: ", "\"", "\\\"", "'", "[", "]", "{", "}", "Some(", ")", "content=", "\\", " ", "User {", "é", "\"prompt\":", ",",
    ]), 0..40)) {
        let bytes = pieces.concat();
        let mut end = 0;
        for span in bodies::find(bytes.as_bytes()) {
            proptest::prop_assert!(end <= span.start && span.start < span.end && span.end <= bytes.len());
            end = span.end;
        }
    }
}

#[test]
fn every_name_of_a_body_is_one_by_its_end_too() {
    for name in super::super::bodies::names() {
        assert!(super::super::bodies::is_name(&name), "{name}");
        assert!(super::super::bodies::is_name(&name.to_ascii_uppercase()), "{name}");
        assert!(super::super::bodies::is_name(&format!("a.{name}")), "{name}");
    }
    assert!(!super::super::bodies::is_name("endpoint") && !super::super::bodies::is_name("worker_id"));
}
