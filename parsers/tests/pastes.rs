//! What people paste (`pastes/pastes.txt`): each record is recognised, or kept as text with the reason; never dropped, never at a wrong time.

use corr_parsers::detect;
use corr_parsers::event::{Event, Outcome, Value};
use corr_parsers::record::Reader;
use corr_parsers::stamp::Zone;
use corr_parsers::text;

/// A sample and what its records must become.
struct Paste {
    title: &'static str,
    sample: String,
    want: Vec<&'static str>,
}

fn pastes() -> Vec<Paste> {
    let file = include_str!("pastes/pastes.txt");
    let mut all = Vec::new();
    for part in file.split("\n=== ").skip(1) {
        let (title, rest) = part.split_once('\n').expect("a title");
        let (sample, want) = rest.split_once("\n---\n").expect("an expectation");
        let sample = sample.replace('␛', "\x1b").replace('␍', "\r") + "\n";
        all.push(Paste { title, sample, want: want.lines().filter(|line| !line.is_empty()).collect() });
    }
    all
}

/// A record in the words of the file: kind, stamp and zone.
fn shown(event: &Event<'_>, payload: &[u8]) -> String {
    let stamp = event.stamp.map_or_else(
        || "-".to_owned(),
        |stamp| {
            let text = String::from_utf8_lossy(&payload[stamp.at as usize..(stamp.at + stamp.len) as usize]);
            let zone = match stamp.zone {
                Zone::Utc | Zone::Offset(_) => "utc",
                Zone::Naive => "local",
                _ => "other",
            };
            format!("{text} {zone}")
        },
    );
    format!("{} @ {stamp}", event.kind.name)
}

fn value(value: &Value<'_>) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::UInt(n) => n.to_string(),
        Value::Float(n) => n.to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Str(text) => text.to_string(),
    }
}

/// What `want` says of the record that does not hold.
fn differences(want: &str, event: &Event<'_>, outcome: &Outcome, payload: &[u8]) -> Vec<String> {
    let (head, facts) = want.split_once(" |").unwrap_or((want, ""));
    let mut wrong = Vec::new();
    let have = shown(event, payload);
    if head != have {
        wrong.push(format!("`{have}`, not `{head}`"));
    }
    for fact in facts.split(';').map(str::trim).filter(|fact| !fact.is_empty()) {
        let (name, text) = fact.split_once('=').expect("name=value");
        let holds = match name {
            "why" => matches!(outcome, Outcome::Unparsed(why) | Outcome::Skipped(why) if *why == text),
            "level" => event.level.is_some_and(|level| level.name() == text),
            "withheld" => {
                let at = payload.windows(text.len()).position(|w| w == text.as_bytes()).expect("the text that is withheld");
                event.withheld.iter().any(|w| w.span.start <= at && at + text.len() <= w.span.end)
                    && !event.fields.iter().any(|field| value(&field.value).contains(text))
            }
            _ => match name.strip_prefix("id:") {
                Some(kind) => event.ids.iter().any(|id| id.kind.field() == kind && id.text == text),
                None => event.get(name).is_some_and(|have| value(have) == text),
            },
        };
        if !holds {
            wrong.push(format!("{fact} does not hold: {outcome:?}, {:?} {:?}", event.fields, event.ids));
        }
    }
    if !facts.contains("why=") && *outcome != Outcome::Parsed {
        wrong.push(format!("{outcome:?}"));
    }
    wrong
}

#[test]
fn every_variation_is_recognised_or_kept() {
    let pastes = pastes();
    let (mut records, mut kept, mut wrong) = (0, 0, Vec::new());
    for paste in &pastes {
        let bytes = paste.sample.as_bytes();
        let layout = detect::detect(bytes, true).layout;
        let mut reader = Reader::new(bytes, 0, &layout);
        let (mut at, mut len) = (0, 0);
        while let Some(record) = reader.next() {
            len += record.len;
            let mut event = Event::new(&text::kinds::TEXT);
            let outcome = record.parse(&mut event);
            let differences = match paste.want.get(at) {
                Some(want) => differences(want, &event, &outcome, record.payload),
                None => vec!["a record that nothing is expected of".to_owned()],
            };
            let line = String::from_utf8_lossy(record.payload).chars().take(80).collect::<String>();
            wrong.extend(differences.into_iter().map(|difference| format!("{}\n    {line}\n    {difference}", paste.title)));
            records += 1;
            kept += usize::from(outcome != Outcome::Parsed);
            at += 1;
        }
        assert_eq!(len, bytes.len(), "every byte of {} is in a record", paste.title);
        if at != paste.want.len() {
            wrong.push(format!("{}\n    {at} records, not {}", paste.title, paste.want.len()));
        }
    }
    println!("{} pastes, {records} records, of which {kept} are kept as text or progress with the reason", pastes.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for number in 1..=48 {
        assert!(pastes.iter().any(|paste| paste.title.starts_with(&format!("{number} "))), "variation {number}");
    }
}
