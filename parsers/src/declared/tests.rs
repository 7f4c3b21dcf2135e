//! What a definition reads, and what it refuses. Expected values were worked out by hand (`date -u -d … +%s`).

mod clients;

use proptest::prelude::*;

use super::{Definition, OneOrMany, Part, Sample, load, ordered};
use crate::event::{Event, Level, Outcome, Secret, Value};
use crate::ids::IdKind;
use crate::record::{Layout, Reader};
use crate::stamp::Zone;
use crate::{FORMATS, text};

fn sample(text: &str) -> Sample {
    Sample { text: text.into(), taken: true, ..Sample::default() }
}

fn pattern(name: &str, pattern: &str, line: &str) -> Definition {
    Definition { name: name.into(), pattern: Some(pattern.into()), samples: vec![sample(line)], ..Definition::default() }
}

fn json(name: &str, keys: &[&str], line: &str) -> Definition {
    let keys = keys.iter().map(|k| (*k).into()).collect();
    Definition { name: name.into(), json: true, keys, samples: vec![sample(line)], ..Definition::default() }
}

/// The record as the definition's format reads it.
fn read<'a>(definition: &Definition, record: &'a str) -> Event<'a> {
    let format = load(definition).unwrap();
    assert!((format.head)(record.as_bytes()), "{record}");
    let mut event = Event::new(&text::kinds::TEXT);
    assert_eq!((format.parse)(record.as_bytes(), &mut event), Outcome::Parsed);
    for w in &event.withheld {
        assert!(w.span.end <= record.len());
    }
    event
}

fn stamped(definition: &Definition, record: &str) -> Option<(i64, i64, Zone)> {
    read(definition, record).stamp.map(|s| (s.ns, s.width, s.zone))
}

#[test]
fn groups_are_fields_of_their_own_or_another_name() {
    let mut d = pattern("t-groups", r#"(?<status>\d+) (?<took>\S+) (?<who>\S*) (?<flag>\w+) "(?<p>[^"]*)""#, "1 2  x \"\"");
    d.fields.insert("latency_ms".into(), "took".into());
    d.withheld = vec!["p".into()];
    let event = read(&d, "200 12.5 - true \"a secret\"\n  and its rest");
    assert_eq!(event.get("status"), Some(&Value::Int(200)));
    assert_eq!(event.get("latency_ms"), Some(&Value::Float(12.5)));
    assert_eq!(event.get("flag"), Some(&Value::Bool(true)));
    assert_eq!((event.get("who"), event.get("took"), event.get("p")), (None, None, None));
    assert_eq!(event.fields.iter().find(|f| f.name == "latency_ms").map(|f| &*f.raw), Some("took"));
    assert_eq!((event.withheld[0].span.clone(), event.withheld[0].why, event.withheld[0].name), (17..25, Secret::Body, "p"));
    assert_eq!((event.kind.name, event.message.clone()), ("t_groups", 0..41));
}

#[test]
fn a_body_that_a_line_ends_in_takes_the_lines_behind_it() {
    let mut d = pattern("t-body", r"Q (?<id>\S+) (?<q>.*)", "Q 1 x");
    d.withheld = vec!["q".into()];
    d.ids.insert("rid".into(), OneOrMany::One("id".into()));
    let record = "Q r1 tell me\n a secret";
    let event = read(&d, record);
    assert_eq!(event.withheld[0].span, 5..record.len());
    assert_eq!((event.ids[0].kind, &*event.ids[0].text), (IdKind::Rid, "r1"));
}

#[test]
fn what_is_withheld_is_no_field_and_no_id() {
    let mut d = pattern("t-nested", r"X (?<body>a=(?<a>\d+) b=(?<b>\d+)) c=(?<c>\d+)", "X a=1 b=2 c=3");
    d.withheld = vec!["body".into(), "b".into()];
    d.ids.insert("session".into(), OneOrMany::Many(vec!["a".into(), "c".into()]));
    let event = read(&d, "X a=1 b=2 c=3");
    assert_eq!(event.withheld.len(), 1, "one inside another is one");
    assert_eq!(event.ids.iter().map(|i| &*i.text).collect::<Vec<_>>(), ["3"]);
    assert!(event.fields.is_empty());
}

#[test]
fn stamps_are_as_wide_as_their_digits() {
    let text = |format: Option<&str>, unit: Option<&str>, stamp: &str| {
        let name = format!("t-stamp-{}", format.or(unit).unwrap_or("any").bytes().map(|b| format!("{b:x}")).collect::<String>());
        let mut d = pattern(&name, "S (?<t>.+) END", &format!("S {stamp} END"));
        (d.stamp, d.stamp_format, d.stamp_unit) = (Some("t".into()), format.map(Into::into), unit.map(Into::into));
        stamped(&d, &format!("S {stamp} END"))
    };
    // date -u -d '2026-11-29 18:54:32' +%s: 1795978472
    let at = 1_795_978_472_000_000_000;
    let (s, ms, us) = (1_000_000_000, 1_000_000, 1_000);
    assert_eq!(text(None, None, "2026-11-29T18:54:32.143Z"), Some((at + 143 * ms, ms, Zone::Utc)));
    assert_eq!(text(Some("%d/%b/%Y:%H:%M:%S %z"), None, "29/Nov/2026:13:54:32 -0500"), Some((at, s, Zone::Offset(-18_000))));
    assert_eq!(text(Some("%Y-%m-%d %H:%M:%S,%3f"), None, "2026-11-29 18:54:32,143"), Some((at + 143 * ms, ms, Zone::Naive)));
    assert_eq!(text(Some("%Y/%m/%d %H:%M:%S%.f"), None, "2026/11/29 18:54:32.1430"), Some((at + 143 * ms, 100 * us, Zone::Naive)));
    assert_eq!(text(Some("%Y%m%dT%H%M%SZ"), None, "20261129T185432Z"), Some((at, s, Zone::Utc)));
    assert_eq!(text(Some("%m/%d/%y %I:%M %p"), None, "11/29/26 06:54 PM"), Some((at - 32 * s, 60 * s, Zone::Naive)));
    // date -u -d '1972-11-29 18:54:32' +%s: 91911272
    assert_eq!(text(Some("%b %e %H:%M:%S"), None, "Nov 29 18:54:32"), Some((91_911_272 * s, s, Zone::Yearless)));
    assert_eq!(text(None, Some("s"), "1795978472"), Some((at, s, Zone::Utc)));
    assert_eq!(text(None, Some("ms"), "1795978472143"), Some((at + 143 * ms, ms, Zone::Utc)));
    assert_eq!(text(None, Some("us"), "1795978472143000.5"), Some((at + 143 * ms, us, Zone::Utc)));
    assert_eq!(text(None, Some("ns"), "1795978472143000001"), Some((at + 143 * ms + 1, 1, Zone::Utc)));
}

#[test]
fn an_offset_that_no_zone_has_gives_no_time() {
    let mut d = pattern("t-offset", r"S (?<t>.+) END", "S 29/Nov/2026:18:54:32 +0000 END");
    (d.stamp, d.stamp_format) = (Some("t".into()), Some("%d/%b/%Y:%H:%M:%S %z".into()));
    let far = stamped(&d, "S 29/Nov/2026:18:54:32 +1400 END");
    assert_eq!(far, Some((1_795_978_472_000_000_000 - 14 * 3_600_000_000_000, 1_000_000_000, Zone::Offset(50_400))));
    for offset in ["+1600", "-2359", "+3000", "-9959"] {
        assert_eq!(stamped(&d, &format!("S 29/Nov/2026:18:54:32 {offset} END")), None, "{offset}");
    }
}

#[test]
fn a_double_is_no_finer_than_it_resolves() {
    let mut d = pattern("t-double", r"S (?<t>\S+)", "S 1795978472.5");
    (d.stamp, d.stamp_unit) = (Some("t".into()), Some("s".into()));
    let at = 1_795_978_472_000_000_000;
    assert_eq!(stamped(&d, "S 1795978472.5"), Some((at + 500_000_000, 100_000_000, Zone::Utc)));
    assert_eq!(stamped(&d, "S 1795978472.1234567"), Some((at + 123_456_000, 1_000, Zone::Utc)));
    assert_eq!(stamped(&d, "S 1795978472.123456789"), Some((at + 123_456_789, 1, Zone::Utc)));
    // A number of another unit is no time, and the record says so.
    for wrong in ["1795978472143", "12", "1795978472.", "1.7e9", "-5", "99999999999999999999"] {
        let record = format!("S {wrong}");
        let event = read(&d, &record);
        assert_eq!((event.stamp, event.note), (None, Some("the declared stamp cannot be read")), "{wrong}");
    }
}

#[test]
fn json_members_take_declared_names() {
    let line = r#"{"at":1795978472143,"id":"x-1","sess":"s1","sev":"warn","took":1.5,"usage":{"in":18,"out":2},"q":"secret","output":"secret too","worker_id":"worker_0"}"#;
    let mut d = json("t-json", &["at", "usage.in"], line);
    (d.stamp, d.stamp_unit, d.level) = (Some("at".into()), Some("ms".into()), Some("sev".into()));
    for (name, path) in [("latency_s", "took"), ("prompt_tokens", "usage.in"), ("completion_tokens", "usage.out"), ("said", "output")] {
        d.fields.insert(name.into(), path.into());
    }
    d.ids.insert("x_request_id".into(), OneOrMany::One("id".into()));
    d.ids.insert("session".into(), OneOrMany::One("sess".into()));
    d.withheld = vec!["q".into()];
    let event = read(&d, line);
    assert_eq!(event.stamp.map(|s| (s.ns, s.width)), Some((1_795_978_472_143_000_000, 1_000_000)));
    assert_eq!(event.level, Some(Level::Warn));
    let fields: Vec<(&str, &str)> = event.fields.iter().map(|f| (&*f.name, &*f.raw)).collect();
    let known = [("worker_id", "worker_id"), ("completion_tokens", "usage.out"), ("latency_s", "took"), ("prompt_tokens", "usage.in")];
    assert_eq!(fields, known);
    assert_eq!(event.get("prompt_tokens"), Some(&Value::Int(18)));
    let ids: Vec<(IdKind, &str)> = event.ids.iter().map(|i| (i.kind, &*i.text)).collect();
    assert_eq!(ids, [(IdKind::Session, "s1"), (IdKind::XRequestId, "x-1")]);
    let shown: String =
        line.bytes().enumerate().filter(|(i, _)| !event.withheld.iter().any(|w| w.span.contains(i))).map(|(_, b)| b as char).collect();
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn json_records_are_told_by_keys_and_values() {
    let mut d = json("t-where", &["usage.in"], r#"{"type":"a","usage":{"in":1}}"#);
    d.only.insert("type".into(), "a".into());
    let format = load(&d).unwrap();
    for (line, taken) in [
        (r#"{"usage":{"in":1},"type":"a"}"#, true),
        (r#"{"usage":{"in":1},"type":"b"}"#, false),
        (r#"{"usage":{"out":1},"type":"a","in":1}"#, false),
        (r#"{"text":"\"usage\"","type":"a"}"#, false),
        (r#"{"usage.in":1,"type":"a"}"#, false),
        (r#"[{"usage":{"in":1},"type":"a"}]"#, false),
        ("{\"usage\":{\"in\":1},\"type\":\"a\"}\r\n", true),
        ("", false),
    ] {
        assert_eq!((format.head)(line.as_bytes()), taken, "{line}");
    }
}

#[test]
fn the_built_in_formats_keep_their_lines_and_the_general_one_is_last() {
    let plain = load(&pattern("t-plain", r"\[x\] .*", "[x] y")).unwrap();
    let mut d = pattern("t-over", r"\[\d{4}-.*", "[2026-11-29 18:54:32] a");
    d.over = vec!["sglang".into()];
    let over = load(&d).unwrap();
    let names: Vec<&str> = ordered(FORMATS.to_vec(), &[plain, over]).iter().map(|f| f.name).collect();
    let at = |name: &str| names.iter().position(|n| *n == name).unwrap();
    assert!(at("t-over") < at("sglang") && at("sglang") < at("t-plain") && at("t-plain") < at("json"));
    assert!(at("dynamo-text") < at("t-over") && at("json") == names.len() - 1 && names.len() == FORMATS.len() + 2);
    assert_eq!(ordered(FORMATS.to_vec(), &[]).len(), FORMATS.len());
}

#[test]
fn what_contradicts_itself_is_refused() {
    let ok = pattern("t-ok", r"A (?<n>\d+)", "A 1");
    let refused = |change: &dyn Fn(&mut Definition), part: Part, said: &str| {
        let mut d = ok.clone();
        d.name = "t-refused".into();
        change(&mut d);
        let problem = load(&d).unwrap_err();
        assert!(problem.part == part && problem.text.contains(said), "{problem:?}");
    };
    refused(&|d| d.name = "sglang".into(), Part::Key("name"), "choose another");
    refused(&|d| d.name = "My Log".into(), Part::Key("name"), "lower case");
    refused(&|d| d.json = true, Part::Key("json"), "keep one");
    refused(&|d| d.pattern = None, Part::Whole, "`match = '…'`");
    refused(&|d| d.pattern = Some(".*".into()), Part::Key("match"), "every line");
    refused(&|d| d.pattern = Some(r"A (?=x)".into()), Part::Key("match"), "look-around");
    refused(&|d| d.pattern = Some(r"(?:\w{100}){200}".into()), Part::Key("match"), "size limit");
    refused(&|d| d.pattern = Some(r"A (?<kind>\d+)".into()), Part::Key("match"), "`kind`");
    refused(&|d| d.pattern = Some(r"A (?<rid>\d+)".into()), Part::Key("match"), "under `ids`");
    refused(&|d| d.stamp = Some("t".into()), Part::Key("stamp"), "no group");
    refused(&|d| d.stamp_unit = Some("s".into()), Part::Key("stamp_unit"), "without `stamp`");
    refused(&|d| (d.stamp, d.stamp_unit) = (Some("n".into()), Some("minutes".into())), Part::Key("stamp_unit"), "s, ms, us or ns");
    refused(&|d| (d.stamp, d.stamp_format) = (Some("n".into()), Some("%H:%M:%S".into())), Part::Key("stamp_format"), "date");
    refused(&|d| (d.stamp, d.stamp_format) = (Some("n".into()), Some("%Y-%m-%d".into())), Part::Key("stamp_format"), "hours");
    refused(&|d| (d.stamp, d.stamp_format) = (Some("n".into()), Some("%Q".into())), Part::Key("stamp_format"), "strftime");
    refused(&|d| (d.stamp, d.stamp_format) = (Some("n".into()), Some("%F %T.%f".into())), Part::Key("stamp_format"), "`%.f`");
    refused(&|d| d.keys = vec!["a".into()], Part::Key("keys"), "json");
    refused(&|d| d.over = vec!["sglnag".into()], Part::Key("over"), "known are sglang");
    refused(&|d| _ = d.ids.insert("user".into(), OneOrMany::One("n".into())), Part::Key("ids"), "known are rid");
    refused(&|d| _ = d.fields.insert("Took".into(), "n".into()), Part::Key("fields"), "lower case");
    refused(&|d| d.kind = Some("a kind".into()), Part::Key("kind"), "lower case");
    refused(&|d| d.samples.clear(), Part::Whole, "no sample");
    refused(&|d| d.samples[0].level = Some("info".into()), Part::Sample(0, Some("level")), "expected info, read none");
    refused(&|d| d.samples.push(Sample { taken: false, ..sample("A 2") }), Part::Sample(1, Some("taken")), "say more");
    refused(&|d| (d.pattern, d.json) = (None, true), Part::Whole, "keys = ");
    let braces = |d: &mut Definition| (d.pattern, d.samples) = (Some(r"\{.*".into()), vec![sample("{\"prompt\": \"x\"}")]);
    refused(&braces, Part::Sample(0, Some("text")), "json = true");
    load(&ok).unwrap();
    assert!(std::ptr::eq(load(&ok).unwrap(), load(&ok).unwrap()), "the same words are the same format");
}

fn formats() -> Vec<&'static crate::format::Format> {
    let mut a = pattern("p-text", r"(?<t>\d{10}) (?<b>.*?)(?: k=(?<k>\S+))?$", "1795978472 x k=1");
    (a.stamp, a.stamp_unit, a.withheld) = (Some("t".into()), Some("s".into()), vec!["b".into()]);
    let mut b = json("p-json", &["ts"], r#"{"ts":"2026-11-29T18:54:32Z"}"#);
    (b.stamp, b.withheld, b.message) = (Some("ts".into()), vec!["a.b".into(), "q".into()], Some("m".into()));
    b.fields.insert("k".into(), "a.k".into());
    vec![load(&a).unwrap(), load(&b).unwrap()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn any_bytes_are_read_whole(
        parts in prop::collection::vec(
            prop_oneof![
                Just("1795978472 ".to_string()), Just("{\"ts\":".into()), Just("\"2026-11-29T18:54:32Z\"".into()), Just(",\"a\":{\"b\":".into()),
                Just("\"k\":1}}".into()), Just(" k=5".into()), Just("\n".into()), Just("\"m\":\"".into()), ".{0,12}",
            ], 0..24),
    ) {
        let source = parts.concat();
        let layout = Layout { formats: ordered(FORMATS.to_vec(), &formats()), ..Layout::default() };
        let mut reader = Reader::new(source.as_bytes(), 0, &layout);
        let mut at = 0;
        while let Some(record) = reader.next() {
            prop_assert_eq!(record.offset, at);
            at += record.len;
            let payload = record.payload.len();
            let mut event = Event::new(&text::kinds::TEXT);
            let _ = record.parse(&mut event);
            prop_assert!(event.message.end <= payload && event.message.start <= event.message.end);
            prop_assert!(event.withheld.iter().all(|w| w.span.end <= payload && w.span.start <= w.span.end));
        }
        prop_assert_eq!(at, source.len());
    }

    #[test]
    fn any_definition_is_compiled_or_refused(
        text in prop_oneof![".{0,20}", r"(?:\(\?<[a-z]{1,3}>|\\[dwsS]|[+*?.|()\[\]{}]|[0-9a-z]){0,12}"],
        stamp in prop_oneof![Just(String::new()), "(?:%[a-zA-Z%.:+0-9-]|[ /:.,TZ-]){0,10}", ".{0,12}"],
        line in ".{0,40}",
        part in "[a-z.]{0,4}",
        json in any::<bool>(),
    ) {
        let mut d = Definition { name: "p-any".into(), ..Definition::default() };
        if json {
            (d.json, d.keys, d.message) = (true, vec![part.clone()], Some(text.clone()));
        } else {
            d.pattern = Some(format!("(?<t>{text})"));
        }
        d.stamp = Some(if json { part } else { "t".into() });
        d.stamp_format = Some(stamp).filter(|s| !s.is_empty());
        if let Ok(compiled) = super::compiled::Compiled::new(&d) {
            for record in [line.as_str(), "2026-11-29 18:54:32.143 +0000", "29/Nov/2026:18:54:32", "{\"a\":{\"b\":\"Nov 29 18:54:32\"}}"] {
                let mut event = Event::new(&text::kinds::TEXT);
                let is_head = compiled.head(record.as_bytes());
                let outcome = compiled.parse(record.as_bytes(), &mut event);
                let is_json = matches!(record.as_bytes(), [0x7b, ..] | [0x5b, 0x7b, ..]);
                prop_assert!(json || is_json || is_head == (outcome == Outcome::Parsed));
                prop_assert!(event.message.end <= record.len());
            }
        }
    }
}
