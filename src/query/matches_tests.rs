use std::borrow::Cow;

use super::super::grammar::parse;
use super::super::literals::{Literal, required_literals};
use super::super::subject::Facts;
use super::*;
use corr_parsers::event::{Event, Field, Kind, Secret, Withheld};
use corr_parsers::format::Meta;
use corr_parsers::ids::{Id, IdKind};
use proptest::prelude::*;

static PREFILL: Kind = Kind { name: "prefill_batch", about: "a test's kind", words: "" };
static OTHER: Kind = Kind { name: "other", about: "a test's kind", words: "" };

const LINE: &str =
    "[2026-05-20 08:30:03 TP0] Prefill batch, #new-token: 12, #cached_tokens: 4096, path /v1/completions text=\"SECRET words\" done";

fn sample() -> Event<'static> {
    let mut event = Event::new(&PREFILL);
    event.level = Some(Level::Warn);
    let start = LINE.find("Prefill").unwrap();
    event.message = start..LINE.len();
    event.field("new_tokens", "#new-token", Value::Int(12));
    event.field("token_usage", "token usage", Value::Float(0.5));
    event.field("room", "room", Value::UInt(u64::MAX));
    event.field("reason", "reason", Value::Str("Out Of Memory".into()));
    event.field("version", "version", Value::Str("0.5".into()));
    event.field("done", "done", Value::Bool(true));
    event.id(IdKind::RequestId, "edf9ed01-3219-4585-a510-233214f462c1");
    event.id(IdKind::Session, "abc#1");
    event.id(IdKind::WorkerId, "fff415b5e1955412");
    let secret = LINE.find("SECRET").unwrap();
    event.withhold(secret..secret + "SECRET words".len(), Secret::Body, "text");
    event
}

fn asks(query: &str) -> bool {
    let event = sample();
    let meta = Meta { unit: "sglang.service".into(), pid: Some(77), more: vec![("JOB_ID".into(), "9".into())], ..Meta::default() };
    let facts = Facts { source: "logs/decode_0.out", worker: "decode_0", role: "decode", host: "node-1", unit: "", format: "sglang" };
    let subject = Subject { event: &event, payload: LINE.as_bytes(), withheld: &event.withheld, facts, meta: Some(&meta), line: Some(41) };
    let expr = parse(query).unwrap_or_else(|e| panic!("{query}: {e}"));
    Matcher::new(&expr).unwrap_or_else(|e| panic!("{query}: {e}")).matches(&subject)
}

#[test]
fn what_matches() {
    let queries = "
        *
        prefill BATCH
        cached_tokens
        cached
        /v1/completions
        v1/comp*
        \"prefill batch new token\"
        /new-token: \\d+/
        /(?i)prefill BATCH/
        /^\\[2026/
        kind:prefill_batch
        kind:prefill*
        kind:/^prefill/
        level:warn
        level:WARNING
        level:>=warn
        level:[info TO error}
        level:!=error
        new_tokens:12
        new_tokens:12.0
        #new-token:>11.5
        NEW_TOKENS:[12 TO 13}
        new_tokens:{11 TO 12]
        new_tokens:1*
        new_tokens:/^1/
        new_tokens:!=13
        \"token usage\":<=0.5
        room:18446744073709551615
        room:>18446744073709551614
        reason:\"out of memory\"
        reason:out*
        reason:*of*
        reason:[n TO p]
        reason:*
        version:>0.4
        done:true
        missing?:5
        missing?:>5
        new_tokens?:12
        rid:edf9ed01-3219-4585-a510-233214f462c1
        request_id:EDF9ED0132194585A510233214F462C1
        rid:edf9ed01-32…
        rid:edf9ed0132*
        chatcmpl-edf9ed01-3219-4585-a510-233214f462c1
        edf9ed0132194585*
        session:abc#1
        id:abc#1
        abc#1
        worker_id:18443390244906947602
        worker:18443390244906947602
        18443390244906947602
        fff415b5e1955412
        worker:decode*
        worker:decode_0
        role:decode
        host:NODE-1
        unit:sglang.service
        unit:sglang*
        pid:77
        job_id:9
        source:decode_0.out
        source:logs/decode_0.out
        source:decode_*
        source:/out$/
        format:sglang
        line:[40 TO 42]
        message:prefill
        message:\"batch new\"
        message:/^Prefill/
        message:comp*
        NOT retract
        retract OR prefill
        new_tokens:(12 OR 13)
        new_tokens:IN [1 12]
        done -SECRET
    ";
    for query in queries.lines().map(str::trim).filter(|q| !q.is_empty()) {
        assert!(asks(query), "{query}");
    }
}

#[test]
fn what_does_not_match() {
    let queries = "
        retract
        prefil
        \"batch prefill\"
        SECRET
        words
        \"text done\"
        /text.*done/
        /SECRET/
        /PREFILL/
        kind:prefill
        level:error
        level:>warn
        level:!=warn
        new_tokens:11
        new_tokens:!=12
        new_tokens:{12 TO 13]
        new_tokens:[11 TO 12}
        reason:>5
        reason:memory
        missing:5
        missing:!=5
        missing:*
        missing:[* TO *]
        NOT missing?:5
        new_tokens?:13
        rid:edf9ed01-33*
        session:ABC#1
        session:abc
        parent_session:abc#1
        x_request_id:edf9ed01-3219-4585-a510-233214f462c1
        worker:prefill*
        source:0.out
        host:node
        message:2026
        message:TP0
        NOT prefill
        prefill AND retract
        done:false
    ";
    for query in queries.lines().map(str::trim).filter(|q| !q.is_empty()) {
        assert!(!asks(query), "{query}");
    }
}

#[test]
fn bodies_are_found_only_when_shown() {
    let event = sample();
    let subject = Subject { event: &event, payload: LINE.as_bytes(), withheld: &[], facts: Facts::default(), meta: None, line: None };
    let shown = |query: &str| Matcher::new(&parse(query).unwrap()).unwrap().matches(&subject);
    assert!(shown("SECRET") && shown("\"secret words done\"") && shown("/text.*done/"));
    assert!(!shown("worker:decode_0") && !shown("line:*") && !shown("unit:*"));
}

#[test]
fn what_cannot_be_asked() {
    let error = |query: &str| Matcher::new(&parse(query).unwrap()).unwrap_err();
    let e = error("a level:>loud");
    assert_eq!(e.span, 2..13);
    assert_eq!(e.to_string(), "`level:>loud`: `loud` is no level; levels are trace, debug, info, warn, error, fatal");
    assert_eq!(error("x:/a(/").to_string(), "`x:/a(/`: the pattern is wrong: unclosed group");
    assert!(error("/(a{1000}){1000}/").reason.contains("bytes when compiled"));
    assert!(error(&"/a/ ".repeat(MAX_PATTERNS + 1)).reason.contains("at most 32"));
    assert!(error("message:>5").reason.contains("no order"));
}

/// A small record, and a query about it, drawn from the same few words and ids.
#[derive(Debug, Clone)]
struct Record {
    tokens: Vec<(&'static str, bool)>,
    separators: Vec<&'static str>,
    number: Option<i64>,
    text: Option<&'static str>,
    ids: Vec<(IdKind, &'static str)>,
    level: Option<Level>,
    prefill: bool,
}

const WORDS: &[&str] = &["foo", "Bar", "foobar", "a", "12", "größe", "BAR"];
const IDS: &[&str] = &[
    "edf9ed01-3219-4585-a510-233214f462c1",
    "EDF9ED0132194585a510233214f462c1",
    "chatcmpl-edf9ed01-3219-4585-a510-233214f462c1",
    "fff415b5e1955412",
    "18443390244906947602",
    "0xfff415b5e1955412",
    "foo-bar",
    "12",
    "0xc",
];
const KINDS: &[IdKind] = &[IdKind::Rid, IdKind::RequestId, IdKind::Session, IdKind::WorkerId];

fn record() -> impl Strategy<Value = Record> {
    let tokens = prop::collection::vec((prop::sample::select(WORDS), prop::bool::weighted(0.2)), 0..6);
    let separators = prop::collection::vec(prop::sample::select(vec![" ", "_", ", ", "\\n", "…"]), 6);
    let ids = prop::collection::vec((prop::sample::select(KINDS), prop::sample::select(IDS)), 0..3);
    let level = prop::option::of(prop::sample::select(vec![Level::Info, Level::Warn, Level::Error]));
    (tokens, separators, prop::option::of(-2i64..14), prop::option::of(prop::sample::select(WORDS)), ids, level, any::<bool>()).prop_map(
        |(tokens, separators, number, text, ids, level, prefill)| Record { tokens, separators, number, text, ids, level, prefill },
    )
}

/// A clause as text, and what it means of a record, said plainly.
#[derive(Clone)]
struct Meaning(std::rc::Rc<dyn Fn(&Record) -> bool>);

impl std::fmt::Debug for Meaning {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("meaning")
    }
}

fn means(f: impl Fn(&Record) -> bool + 'static) -> Meaning {
    Meaning(std::rc::Rc::new(f))
}

/// The record's words in lower case; `None` stands for a withheld one.
fn plain_words(record: &Record) -> Vec<Option<String>> {
    let mut found: Vec<Option<String>> = record.tokens.iter().map(|(w, hidden)| (!hidden).then(|| w.to_lowercase())).collect();
    for (_, id) in &record.ids {
        found.push(None);
        found.extend(id.split('-').map(|part| Some(part.to_lowercase())));
    }
    found
}

fn has_phrase(record: &Record, phrase: &[String]) -> bool {
    plain_words(record).windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(w, p)| w.as_ref() == Some(p)))
}

fn same_id(kind: IdKind, have: &str, want: &str, free: bool) -> bool {
    let bare = |text: &str| {
        let text = text.trim_start_matches("chatcmpl-");
        if text.len() > 30 { text.replace('-', "").to_lowercase() } else { text.to_string() }
    };
    let worker = |text: &str| match text {
        "fff415b5e1955412" | "0xfff415b5e1955412" => "18443390244906947602".to_string(),
        "0xc" if !free => "12".to_string(),
        text => bare(text),
    };
    match kind {
        IdKind::WorkerId => worker(have) == worker(want),
        _ => bare(have) == bare(want),
    }
}

fn leaf() -> impl Strategy<Value = (String, Meaning)> {
    let word = prop::sample::select(WORDS).prop_map(|w| {
        let phrase = vec![w.to_lowercase()];
        let meaning = move |r: &Record| has_phrase(r, &phrase) || r.ids.iter().any(|(k, id)| same_id(*k, id, w, true));
        (w.to_string(), means(meaning))
    });
    let phrase = prop::collection::vec(prop::sample::select(WORDS), 1..3).prop_map(|ws| {
        let phrase: Vec<String> = ws.iter().map(|w| w.to_lowercase()).collect();
        (format!("\"{}\"", ws.join(" ")), means(move |r: &Record| has_phrase(r, &phrase)))
    });
    let free_id = prop::sample::select(IDS).prop_map(|want| {
        let phrase: Vec<String> = want.split('-').map(str::to_lowercase).collect();
        let meaning = move |r: &Record| has_phrase(r, &phrase) || r.ids.iter().any(|(k, id)| same_id(*k, id, want, true));
        (want.to_string(), means(meaning))
    });
    let field_id = (prop::sample::select(vec!["rid", "session", "worker_id", "id"]), prop::sample::select(IDS)).prop_map(|(name, want)| {
        let takes = move |kind: IdKind| match name {
            "rid" => matches!(kind, IdKind::Rid | IdKind::RequestId),
            "session" => kind == IdKind::Session,
            "worker_id" => kind == IdKind::WorkerId,
            _ => true,
        };
        let meaning = move |r: &Record| r.ids.iter().any(|(k, id)| takes(*k) && same_id(*k, id, want, false));
        (format!("{name}:{want}"), means(meaning))
    });
    let number = (prop::sample::select(vec!["<", "<=", ">", ">=", "!=", "="]), -2i64..14, any::<bool>()).prop_map(|(op, n, absent)| {
        let meaning = move |r: &Record| match r.number {
            None => absent,
            Some(have) => match op {
                "<" => have < n,
                "<=" => have <= n,
                ">" => have > n,
                ">=" => have >= n,
                "!=" => have != n,
                _ => have == n,
            },
        };
        (format!("n{}:{op}{n}", if absent { "?" } else { "" }), means(meaning))
    });
    let text = prop::sample::select(WORDS).prop_map(|w| {
        let meaning = move |r: &Record| r.text.is_some_and(|t| t.eq_ignore_ascii_case(w));
        (format!("t:{w}"), means(meaning))
    });
    let level = Just(("level:>=warn".to_string(), means(|r: &Record| r.level >= Some(Level::Warn))));
    let kind = Just(("kind:prefill_batch".to_string(), means(|r: &Record| r.prefill)));
    prop_oneof![3 => word, 2 => phrase, 2 => free_id, 2 => field_id, 2 => number, 1 => text, 1 => level, 1 => kind]
}

fn query() -> impl Strategy<Value = (String, Meaning)> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|((a, f), (b, g))| (format!("({a} {b})"), means(move |r: &Record| (f.0)(r) && (g.0)(r)))),
            two.prop_map(|((a, f), (b, g))| (format!("({a} OR {b})"), means(move |r: &Record| (f.0)(r) || (g.0)(r)))),
            inner.prop_map(|(a, f)| {
                // `--` begins a text.
                let not = if a.starts_with('-') { "NOT " } else { "-" };
                (format!("{not}{a}"), means(move |r: &Record| !(f.0)(r)))
            }),
        ]
    })
}

/// Writes the record as bytes and as an event, and asks.
fn ask(record: &Record, query: &str) -> (bool, Vec<u8>) {
    let mut payload = String::new();
    let mut withheld = Vec::new();
    for ((word, hidden), separator) in record.tokens.iter().zip(&record.separators) {
        let start = payload.len();
        payload.push_str(word);
        if *hidden {
            withheld.push(Withheld { span: start..payload.len(), why: Secret::Body, name: "text" });
        }
        payload.push_str(separator);
    }
    // Between the ids stands a withheld word, so that no phrase runs from one to the next.
    for (_, id) in &record.ids {
        payload.push(' ');
        withheld.push(Withheld { span: payload.len()..payload.len() + 6, why: Secret::Header, name: "header" });
        payload.push_str("hidden ");
        payload.push_str(id);
    }
    let mut event = Event::new(if record.prefill { &PREFILL } else { &OTHER });
    event.level = record.level;
    event.fields.extend(record.number.map(|n| Field { name: "n".into(), raw: "N".into(), value: Value::Int(n) }));
    event.fields.extend(record.text.map(|t| Field { name: "t".into(), raw: "t".into(), value: Value::Str(Cow::Borrowed(t)) }));
    event.ids.extend(record.ids.iter().map(|(kind, id)| Id { kind: *kind, text: Cow::Borrowed(*id) }));
    let expr = parse(query).unwrap_or_else(|e| panic!("{query}: {e}"));
    let subject =
        Subject { event: &event, payload: payload.as_bytes(), withheld: &withheld, facts: Facts::default(), meta: None, line: None };
    let found = Matcher::new(&expr).unwrap().matches(&subject);
    if found && let Some(literals) = required_literals(&expr) {
        let lower = payload.to_ascii_lowercase().into_bytes();
        let has = |literal: &Literal| {
            let (text, whole) = (literal.text.as_bytes(), payload.as_bytes());
            lower.windows(text.len()).enumerate().any(|(at, w)| {
                let parts = |wanted: bool, at: usize| !wanted || super::super::words::may_part(whole, at);
                w == text && parts(literal.begins, at) && parts(literal.ends, at + text.len())
            })
        };
        assert!(literals.iter().any(has), "{query} matches {payload} without any of {literals:?}");
    }
    (found, payload.into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn agrees_with_the_plain_meaning_and_literals_are_required(record in record(), (query, meaning) in query()) {
        let (found, payload) = ask(&record, &query);
        prop_assert_eq!(found, (meaning.0)(&record), "{} on {}", query, String::from_utf8_lossy(&payload));
    }

    #[test]
    fn any_bytes_and_spans_are_asked_safely(
        payload in prop::collection::vec(any::<u8>(), 0..80),
        spans in prop::collection::vec((0usize..100, 0usize..100), 0..5),
        message in (0usize..100, 0usize..100),
    ) {
        let mut event = Event::new(&OTHER);
        event.message = message.0..message.1;
        for (a, b) in spans {
            event.withhold(a.min(b)..a.max(b), Secret::Body, "text");
        }
        let subject = Subject { event: &event, payload: &payload, withheld: &event.withheld, facts: Facts::default(), meta: None, line: None };
        for query in ["a", "\"a b\"", "a*", "*a?", "/a|\\b./", "message:/./", "message:a", "message:*", "NOT a"] {
            let matcher = Matcher::new(&parse(query).unwrap()).unwrap();
            let found = matcher.matches(&subject);
            if query == "NOT a" {
                prop_assert_eq!(!found, Matcher::new(&parse("a").unwrap()).unwrap().matches(&subject));
            }
        }
    }
}
