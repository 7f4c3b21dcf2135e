//! Records that people labelled from their text and the format documents alone, drawn by `examples/draw_labels.rs` with the seed that
//! fixtures/labelled/PROVENANCE.toml names: corr must call each what they called it. Where a label names an `alt`, the labeller found both to fit.

use corr_parsers::event::Event;
use corr_parsers::{FORMATS, text};
use serde_json::Value;

fn lines(name: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/labelled").join(name);
    std::fs::read_to_string(path).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn every_labelled_record_gets_its_label() {
    let labels = lines("labels.jsonl");
    let records = lines("records.jsonl");
    assert_eq!(labels.len(), records.len());
    assert!(records.len() >= 300, "{} records", records.len());
    let mut wrong = Vec::new();
    for (record, label) in records.iter().zip(&labels) {
        assert_eq!(record["n"], label["n"]);
        let payload = record["text"].as_str().unwrap().as_bytes();
        let mut event = Event::new(&text::kinds::TEXT);
        match FORMATS.iter().find(|f| f.name == record["format"]) {
            Some(format) => (format.parse)(payload, &mut event),
            None => text::parse(payload, &mut event),
        };
        if label["kind"] != event.kind.name && label["alt"] != event.kind.name {
            let shown: String = record["text"].as_str().unwrap().chars().take(300).collect();
            wrong.push(format!(
                "{} ({}): labelled {}{}, parsed as {}\n    {shown}",
                record["n"],
                record["format"],
                label["kind"],
                label.get("alt").map_or(String::new(), |a| format!(" or {a}")),
                event.kind.name
            ));
        }
    }
    println!("{} labelled records compared, {} differ", records.len(), wrong.len());
    assert!(wrong.is_empty(), "{} records differ from their label:\n{}", wrong.len(), wrong.join("\n"));
}
