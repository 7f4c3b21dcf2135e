//! Which lines are JSON records, and that no format's lines go to another.

use super::{JSON, read};
use crate::FORMATS;
use crate::detect::detect;
use crate::event::{Event, Outcome};
use crate::format::Format;
use crate::record::{self, Layout, Reader};

#[test]
fn every_sample_belongs_to_its_own_format() {
    assert_eq!(FORMATS.last().map(|f| f.name), Some(JSON.name), "the general format is the last");
    let mut reversed: Vec<&'static Format> = FORMATS.to_vec();
    reversed.reverse();
    let mut seen = 0;
    for format in FORMATS {
        for (line, kind) in format.samples {
            let first = record::head_format(line.as_bytes(), FORMATS).map(|f| f.name);
            // Some of systemd's own messages name no unit: there only the envelope says who wrote them.
            let by_envelope = format.name == "systemd" && first.is_none();
            assert!(first == Some(format.name) || by_envelope, "{first:?} takes {line}");
            if JSON.name != format.name {
                assert!(!(JSON.head)(line.as_bytes()), "json takes {line}");
            }
            if line.starts_with('{') {
                assert_eq!(record::head_format(line.as_bytes(), &reversed).map(|f| f.name), Some(format.name), "in any order: {line}");
            }
            if !by_envelope {
                let mut event = Event::new(&crate::text::kinds::TEXT);
                (format.parse)(line.as_bytes(), &mut event);
                assert_eq!(event.kind.name, *kind, "{line}");
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} samples");
}

#[test]
fn detection_keeps_the_specific_formats() {
    for format in FORMATS.iter().filter(|f| f.samples.iter().all(|s| s.0.starts_with('{'))) {
        let mut source = String::new();
        for (line, _) in format.samples {
            source.push_str(line);
            source.push('\n');
        }
        let found = detect(source.as_bytes(), true);
        assert_eq!(found.layout.formats[0].name, format.name);
        assert_eq!(found.formats.len(), 1, "no runner-up: {:?}", found.formats);
        // Three of four lines are another program's: the format's own lines are still its own.
        let mixed = source.lines().map(|line| format!("{{\"a\":1}}\n{{\"b\":2}}\n{{\"c\":3}}\n{line}\n")).collect::<String>();
        let found = detect(mixed.as_bytes(), true);
        let mut reader = Reader::new(mixed.as_bytes(), 0, &found.layout);
        let mut own = 0;
        while let Some(record) = reader.next() {
            own += usize::from(record.format.is_some_and(|f| f.name == format.name));
        }
        let others = if format.name == JSON.name { 3 * format.samples.len() } else { 0 };
        assert_eq!(own, format.samples.len() + others, "{}", format.name);
    }
}

#[test]
fn documents_are_one_record() {
    for (file, kind) in [
        (
            "{\n  \"created_at\": \"2026-11-29T18:55:35.677969+00:00\",\n  \"report\": {\n    \"router_events\": 459\n  }\n}\n",
            "json_record",
        ),
        ("\n [\n {\"request_id\": \"a\"},\n {\"request_id\": \"b\"}\n]\n", "json_record"),
        ("[\n  1,\n  2\n]\n", "json_record"),
    ] {
        let found = detect(file.as_bytes(), true);
        assert!(found.layout.document, "{file}");
        let mut reader = Reader::new(file.as_bytes(), 0, &found.layout);
        let record = reader.next().unwrap();
        assert_eq!(record.format.map(|f| f.name), Some("json"), "{file}");
        let mut event = Event::new(&crate::text::kinds::TEXT);
        assert_eq!((record.parse(&mut event), event.kind.name), (Outcome::Parsed, kind));
        assert_eq!(record.len, file.len());
        assert!(event.fields.len() == 1 && event.stamp.is_some() || event.ids.len() == 2 || file.contains('1'), "{event:?}");
    }
}

#[test]
fn what_only_begins_like_json_stays_text() {
    for line in
        ["{not json}", "{", "{'a': 1}", "{\"a\"}", "{\"a\" 1}", "[12:00:01] note [x]", "[1] x", "[", "}", "", "[INFO] {\"a\":1}", "{a:1}"]
    {
        assert!(!(JSON.head)(line.as_bytes()), "{line}");
    }
    // An indented object belongs to the record before it.
    let log = "{\"a\":1}\n  {\"b\":2}\n";
    let layout = Layout { formats: FORMATS.to_vec(), ..Layout::default() };
    let mut reader = Reader::new(log.as_bytes(), 0, &layout);
    assert_eq!(reader.next().map(|r| r.len), Some(log.len()));
    // With a key and a colon it takes a parse to know.
    for line in ["{\"a\": 'x'}", "{\"model\": x for x in y}", "{\"a\": None, \"b\": True}", "{\"a\": <Object>}"] {
        assert!((JSON.head)(line.as_bytes()), "{line}");
        let (event, outcome) = read(line);
        assert_eq!((event.kind.name, outcome), ("text", Outcome::Unparsed("no known format")), "{line}");
        assert!(event.withheld.is_empty() && event.message == (0..line.len()), "{line}");
    }
    let (event, _) = read("{\"a\": 'x', \"prompt\": 'SECRET'}");
    assert_eq!(event.withheld[0].span, 0..30, "unless it names a body");
}
