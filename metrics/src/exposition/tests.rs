use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Labels = BTreeMap<String, String>;

/// What a body says.
#[derive(Debug)]
struct Said {
    points: Vec<(Labels, f64, Option<i64>)>,
    bad: Vec<Bad>,
    ended: bool,
    lines: Lines,
}

fn said(body: &[u8], format: Format) -> Said {
    let mut reader = Reader::new(body, format);
    let (mut points, mut bad) = (Vec::new(), Vec::new());
    for event in &mut reader {
        match event {
            Event::Point(point) => {
                let mut labels: Labels = pairs(&point.series.labels());
                labels.retain(|_, value| !value.is_empty());
                assert!(labels.insert("__name__".to_string(), point.series.name().into_owned()).is_none());
                points.push((labels, point.value, point.at));
            }
            Event::Bad(line) => bad.push(line),
            _ => {}
        }
    }
    Said { points, bad, ended: reader.ended(), lines: reader.lines() }
}

fn pairs(pairs: &Pairs<'_>) -> Labels {
    pairs.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn labels(of: &[(&str, &str)]) -> Labels {
    of.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

fn text(body: &str) -> Said {
    said(body.as_bytes(), Format::Text)
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

/// Prometheus refuses the scrape; so does corr refuse this line, and would keep others: the body, the line, why, and the words of the line
/// that Prometheus' error quotes (empty where it quotes none).
const REFUSED: &[(&str, u64, Fault, &str)] = &[
    ("m 1e+06 -3982045", 1, Fault::Stamp, ""),
    ("m 1 -3982045\n", 1, Fault::Stamp, ""),
    ("m 0x10", 1, Fault::Value, "0x10"),
    ("m 0x1p3\n", 1, Fault::Value, ""),
    ("m 1_000", 1, Fault::Value, ""),
    ("m 1e\n", 1, Fault::Value, "1e"),
    ("m 1 1395066363000 extra", 1, Fault::Trailing, ""),
    ("m{a=\"unterminated} 1", 1, Fault::Unterminated, ""),
    ("métrique 1", 1, Fault::NameCharacter, "étrique"),
    ("m{a=\"1\",a=\"2\"} 1\n", 1, Fault::LabelTwice, "a"),
    ("m{__name__=\"x\"} 1\n", 1, Fault::TwoNames, "__name__"),
    ("//OM\n# HELP a h\na 1 # {} 0.5\n# EOF\n", 3, Fault::ExemplarPlace, "a"),
];

/// Prometheus 2.42 refuses the scrape; corr keeps everything: the body, name, labels and value of its samples, and why it is kept.
#[allow(clippy::type_complexity)]
const KEPT: &[(&str, &[(&[(&str, &str)], f64)], &str)] = &[
    (
        "{\"my.dotted.metric\",\"error.message\"=\"Not Found\"} 3",
        &[(&[("__name__", "my.dotted.metric"), ("error.message", "Not Found")], 3.0)],
        "quoted names are of Prometheus 3",
    ),
    ("{\"quoted name\",a=\"1\"} 3", &[(&[("__name__", "quoted name"), ("a", "1")], 3.0)], "quoted names are of Prometheus 3"),
    ("  m{a=\"lead ws\"}\t1\t", &[(&[("__name__", "m"), ("a", "lead ws")], 1.0)], "the format's documentation allows leading blanks"),
    ("a 1\r\nb 2\r\n", &[(&[("__name__", "a")], 1.0), (&[("__name__", "b")], 2.0)], "files copied through Windows; the meaning is plain"),
    ("//OM\n# TYPE g gauge\ng 1.0", &[(&[("__name__", "g")], 1.0)], "cut short: what came is kept, and `ended` says that the end did not"),
    ("//OM\n# TYPE a gauge\na 1\n\n# EOF\n", &[(&[("__name__", "a")], 1.0)], "a blank line takes nothing away"),
    ("//OM\n# TYPE a gauge\na  1\n# EOF\n", &[(&[("__name__", "a")], 1.0)], "two blanks between words leave the meaning plain"),
];

/// Prometheus took the scrape, but stored no sample whose own stamp is far from now: series name, value, nanoseconds.
const STAMPED: &[(&str, &str, f64, i64)] = &[
    ("m -Inf 1395066363000", "m", f64::NEG_INFINITY, 1_395_066_363_000_000_000),
    ("m{a=\"1\"} 1 999\n", "m", 1.0, 999_000_000),
    ("//OM\n# TYPE g gauge\ng 17.0 1520879607.789\n# EOF", "g", 17.0, 1_520_879_607_789_000_000),
    ("//OM\n# TYPE a counter\na_total 1 1520879607.7899\na_created 1520879000.5\n# EOF\n", "a_total", 1.0, 1_520_879_607_789_900_000),
];

/// Prometheus stored the first of two samples of one series; corr gives both, so that the reader can say so: the body and the second value.
const TWICE: &[(&str, f64)] =
    &[("dup{a=\"1\"} 1\ndup{a=\"1\"} 2", 2.0), ("//OM\n# TYPE a gauge\na{x=\"1\"} 1\na{x=\"1\"} 2\n# EOF\n", 2.0)];

#[derive(serde::Deserialize)]
struct Verdict {
    input: String,
    up: String,
    error: String,
    series: Vec<(Labels, (f64, String))>,
}

fn verdicts() -> Vec<Verdict> {
    let verdicts = include_str!("../../../fixtures/metrics-torture/prometheus_2.42_parse_verdicts.json");
    serde_json::from_str(verdicts).unwrap()
}

/// A case's body and format.
fn body(input: &str) -> (&str, Format) {
    match input.strip_prefix("//OM\n") {
        Some(body) => (body, Format::OpenMetrics),
        None => (input, Format::Text),
    }
}

#[test]
fn every_torture_case_gets_the_intended_verdict() {
    let verdicts = verdicts();
    assert_eq!(verdicts.len(), 57);
    let (mut stored, mut refused, mut kept) = (0, 0, 0);
    for verdict in &verdicts {
        let input = verdict.input.as_str();
        let (body, format) = body(input);
        let said = said(body.as_bytes(), format);
        if let Some((_, line, why, quoted)) = REFUSED.iter().find(|c| c.0 == input) {
            assert_eq!(verdict.up, "down", "{input}");
            // the mark of the format is no line of the body
            let line = line - u64::from(format == Format::OpenMetrics);
            assert_eq!(said.bad, [Bad { line, why: *why }], "{input}");
            assert!(said.points.is_empty(), "{input}");
            assert!(verdict.error.contains(quoted), "{input}: {}", verdict.error);
            let named = body.lines().nth(line as usize - 1).unwrap();
            assert!(named.contains(quoted), "{input}: the line that corr names is not the one of {}", verdict.error);
            refused += 1;
            continue;
        }
        assert_eq!(said.bad, [], "{input}");
        if let Some((_, points, why)) = KEPT.iter().find(|c| c.0 == input) {
            assert_eq!(verdict.up, "down", "{input}: {why}");
            let points: Vec<_> = points.iter().map(|(of, value)| (labels(of), *value, None)).collect();
            assert_eq!(said.points, points, "{input}: {why}");
            assert_eq!(said.ended, body.contains("# EOF"), "{input}");
            kept += 1;
            continue;
        }
        assert_eq!(verdict.up, "up", "{input}: {}", verdict.error);
        let mut ours = said.points;
        if let Some((_, second)) = TWICE.iter().find(|c| c.0 == input) {
            let twice = ours.pop().unwrap();
            assert!(ours.iter().any(|(labels, ..)| *labels == twice.0), "{input}");
            assert_eq!(twice.1, *second, "{input}");
        }
        if let Some((_, name, value, at)) = STAMPED.iter().find(|c| c.0 == input) {
            let i = ours.iter().position(|(labels, ..)| labels["__name__"] == *name).unwrap();
            let (_, v, t) = ours.remove(i);
            assert_eq!((v, t), (*value, Some(*at)), "{input}");
        }
        assert_eq!(ours.len(), verdict.series.len(), "{input}: {ours:?}");
        for (labels, (_, value)) in &verdict.series {
            let value: f64 = value.parse().unwrap();
            let found = ours.iter().any(|(l, v, at)| l == labels && same(*v, value) && at.is_none());
            assert!(found, "{input}: {labels:?} {value} is not in {ours:?}");
        }
        stored += 1;
    }
    assert_eq!((stored, refused, kept), (38, REFUSED.len(), KEPT.len()), "each exception is of one case");
}

#[test]
fn the_torture_file_holds_the_first_cases() {
    let file = include_str!("../../../fixtures/metrics-torture/exposition_torture.txt");
    let verdicts = verdicts();
    let cases: Vec<&str> = file.trim_end_matches('\n').split("\n---\n").collect();
    assert_eq!(cases.len(), 37);
    for (case, verdict) in cases.iter().zip(&verdicts) {
        assert_eq!(*case, verdict.input);
    }
}

#[test]
fn one_bad_line_is_said_and_the_others_are_kept() {
    let said = text("# HELP a x\na 1\nb{x=\"1\"\nc 2\n\nd nothing\ne 3");
    assert_eq!(said.bad, [Bad { line: 3, why: Fault::Unterminated }, Bad { line: 6, why: Fault::Value }]);
    assert_eq!(said.points.iter().map(|p| p.1).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
    assert_eq!(said.lines, Lines { samples: 3, comments: 1, blank: 1, bad: 2 });
    let said = super::tests::said(b"a 1\n\xff 2\nb{x=\"\xc3\"} 1\nc 3\n", Format::Text);
    assert_eq!(said.bad, [Bad { line: 2, why: Fault::NotUtf8 }, Bad { line: 3, why: Fault::NotUtf8 }]);
    assert_eq!(said.points.len(), 2);
}

#[test]
fn lines_that_no_case_has() {
    for (line, why) in [
        ("{} 1", Fault::NoName),
        ("{a=\"1\"} 1", Fault::NoName),
        ("m{\"n\",a=\"1\"} 1", Fault::TwoNames),
        ("{\"m\",\"n\"} 1", Fault::TwoNames),
        ("{\"m\",a=\"1\",\"a\"=\"2\"} 1", Fault::LabelTwice),
        ("m{b=\"1\",a=\"2\",b=\"3\"} 1", Fault::LabelTwice),
        ("m{a:b=\"1\"} 1", Fault::LabelValue),
        ("m{1a=\"1\"} 1", Fault::LabelName),
        ("m{a=\"1\",,} 1", Fault::LabelName),
        ("m{a=1} 1", Fault::LabelValue),
        ("m{a=\"1\" b=\"2\"} 1", Fault::LabelValue),
        ("m{a=\"1\"", Fault::Unterminated),
        ("m{a=\"1\\\"} 1", Fault::Unterminated),
        ("m", Fault::NoValue),
        ("m{a=\"1\"}", Fault::NoValue),
        ("m 1e400", Fault::Value),
        ("m +nan", Fault::Value),
        ("m 1 1.5", Fault::Stamp),
        ("m 1 9223372036854775807", Fault::Stamp),
        ("m{a=\"1\"} {count:1,sum:2}", Fault::Composite),
        ("m_total 1 # 0.5", Fault::Exemplar),
        ("m_total 1 # {a=\"1\"}", Fault::Exemplar),
        ("# TYPE a", Fault::Comment),
        ("# TYPE a speed", Fault::Type),
        ("1m 1", Fault::NoName),
    ] {
        let said = text(line);
        assert_eq!((said.bad.as_slice(), said.points.len()), (&[Bad { line: 1, why }][..], 0), "{line}");
    }
}

#[test]
fn text_after_the_end_is_not_of_the_scrape() {
    let said = said(b"a 1\n# EOF\n\na 2\n", Format::OpenMetrics);
    assert_eq!(said.bad, [Bad { line: 4, why: Fault::AfterEnd }]);
    assert!(said.ended);
    assert_eq!(said.points.len(), 1);
}

#[test]
fn comments_say_type_help_and_unit() {
    let events: Vec<Event<'_>> = Reader::new(
        b"# TYPE req counter\n# UNIT req seconds\n# HELP req a \\\"b\\\"\\\\n\n# HELP none\n# TYPE \"a.b\" untyped\n# note\n",
        Format::OpenMetrics,
    )
    .collect();
    assert_eq!(
        events,
        [
            Event::Type { family: "req".into(), kind: Kind::Counter },
            Event::Unit { family: "req".into(), unit: "seconds" },
            Event::Help { family: "req".into(), text: "a \"b\"\\n".into() },
            Event::Help { family: "none".into(), text: "".into() },
            Event::Type { family: "a.b".into(), kind: Kind::Unknown },
        ]
    );
    let events: Vec<Event<'_>> = Reader::new(b"# HELP req a \\\"b\\\"\\n", Format::Text).collect();
    assert_eq!(events, [Event::Help { family: "req".into(), text: "a \\\"b\\\"\n".into() }], "text escapes no quotes in HELP");
}

#[test]
fn an_exemplar_has_labels_a_value_and_seconds() {
    let body = b"h_bucket{le=\"0.25\"} 7.0 # {trace_id=\"a}b,c\"} 0.12 1795975352.6621156\nreq_total 1 5 # {} 1\n";
    let marks: Vec<_> = Reader::new(body, Format::OpenMetrics)
        .filter_map(|event| match event {
            Event::Point(point) => point.exemplar.map(|m| (point.series.text(), point.at, pairs(&m.labels), m.value, m.at)),
            _ => None,
        })
        .collect();
    assert_eq!(
        marks,
        [
            ("h_bucket{le=\"0.25\"}", None, labels(&[("trace_id", "a}b,c")]), 0.12, Some(1_795_975_352_662_115_600)),
            ("req_total", Some(5_000_000_000), labels(&[]), 1.0, None),
        ]
    );
}

#[test]
fn the_format_is_found_in_the_body_or_its_type() {
    assert_eq!(Format::of_content_type("application/openmetrics-text; version=1.0.0; charset=utf-8"), Some(Format::OpenMetrics));
    assert_eq!(Format::of_content_type("text/plain; version=0.0.4"), Some(Format::Text));
    assert_eq!(Format::of_content_type("application/vnd.google.protobuf; encoding=delimited"), None);
    assert_eq!(Format::of_body(b"a 1\n# EOF\n"), Format::OpenMetrics);
    assert_eq!(Format::of_body(b"# TYPE a gauge\n# UNIT a x\na 1\n"), Format::OpenMetrics);
    assert_eq!(Format::of_body(b"a 1\n"), Format::Text);
}

#[test]
fn seconds_are_read_digit_by_digit() {
    for (text, ns) in [
        ("1795975352.6621156", Some(1_795_975_352_662_115_600)),
        ("1795975352.123456789987", Some(1_795_975_352_123_456_789)),
        ("1.795975348091749e+09", Some(1_795_975_348_091_749_000)),
        ("15e-10", Some(1)),
        ("-1.5", Some(-1_500_000_000)),
        ("0", Some(0)),
        ("0e999999999", Some(0)),
        (".5", Some(500_000_000)),
        ("5.", Some(5_000_000_000)),
        ("9223372036.854775807", Some(i64::MAX)),
        ("9223372036.854775808", None),
        ("1e999999999", None),
        ("1e99999999999", None),
        ("", None),
        (".", None),
        ("e5", None),
        ("1.2.3", None),
        ("NaN", None),
        ("0x1", None),
        ("1_0", None),
    ] {
        assert_eq!(seconds(text), ns, "{text}");
    }
}

#[test]
fn a_million_label_sets() {
    let mut body = String::from("# TYPE m counter\n");
    for i in 0..1_000_000 {
        body += &format!("m{{path=\"/{i}\",z=\"{}\"}} {i}\n", i % 7);
    }
    body += "m{";
    let mut reader = Reader::new(body.as_bytes(), Format::Text);
    let sum: f64 = reader.by_ref().map(|event| if let Event::Point(point) = event { point.value } else { 0.0 }).sum();
    assert_eq!(sum, 499_999_500_000.0);
    assert_eq!(reader.lines(), Lines { samples: 1_000_000, comments: 1, blank: 0, bad: 1 });
}

/// Lines as `split` sees them; nothing comes after a last line end.
fn count(body: &[u8]) -> u64 {
    let ends = body.iter().filter(|&&b| b == b'\n').count() as u64;
    ends + u64::from(body.last().is_some_and(|&b| b != b'\n'))
}

fn accounts(body: &[u8]) {
    for format in [Format::Text, Format::OpenMetrics] {
        let said = said(body, format);
        let bom = u64::from(body == b"\xef\xbb\xbf");
        assert_eq!(said.lines.all(), count(body) - bom);
        assert_eq!(said.lines.samples, said.points.len() as u64);
        assert_eq!(said.lines.bad, said.bad.len() as u64);
        assert!(said.bad.is_sorted_by(|a, b| a.line < b.line));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_accounted_for(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        accounts(&body);
    }

    #[test]
    fn any_mixture_of_marks_is_accounted_for(body in "([a-z_:]{1,3}|[{}\",=#\\\\\n\r \t]|# |TYPE |HELP |EOF|_total|[0-9.e+-]{1,4}|µ|NaN){0,60}") {
        accounts(body.as_bytes());
    }

    #[test]
    fn labels_come_back_as_they_were_written(pairs in proptest::collection::btree_map("[a-z_][a-z0-9_]{0,5}", any::<String>(), 0..6), value in any::<f64>()) {
        let mut line = String::from("m{");
        for (name, text) in &pairs {
            line += &format!("{name}=\"{}\",", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
        }
        line += &format!("}} {value}");
        let said = text(&line);
        let mut expected = pairs.clone();
        expected.retain(|_, text| !text.is_empty());
        expected.insert("__name__".into(), "m".into());
        prop_assert_eq!(said.bad.len(), 0, "{}", line);
        prop_assert_eq!(&said.points[0].0, &expected);
        prop_assert!(same(said.points[0].1, value));
    }

    #[test]
    fn seconds_agree_with_whole_numbers(ns in any::<i64>()) {
        let (sign, whole, part) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs() / 1_000_000_000, ns.unsigned_abs() % 1_000_000_000);
        let read = seconds(&format!("{sign}{whole}.{part:09}"));
        prop_assert_eq!(read, (ns != i64::MIN).then_some(ns));
    }
}
