//! A record with all that a query can ask of it and all that is shown of it, as bytes: one column of a shard. What is withheld is not in it.
//! The first byte is the form; shards of another form are refused as a whole by their `shard.json`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use corr_parsers::event::{Event, Field, Kind, Level, Secret, Withheld};
use corr_parsers::format::Meta;
use corr_parsers::ids::{Id, IdKind};
use corr_parsers::stamp::Stamp;
use serde_json::Value as Json;

use super::bytes::{Put, Take, damaged};
use super::masked::Masked;
use crate::query::subject::{Facts, Subject};
use crate::render::shown::{Frame, Says, Shown, visible_text};

/// The form of the bytes.
const FORM: u8 = 1;
/// Different names of kinds, formats and notes that are taken from shards: they are kept until the process ends.
const MOST_NAMES: usize = 16_384;
const LONGEST_NAME: usize = 256;

/// A record of a shard.
#[derive(Debug)]
pub struct Whole<'a> {
    event: Event<'a>,
    payload: &'a [u8],
    meta: Option<Meta>,
    frame: Frame<'a>,
    is_part: bool,
    /// What is shown of the message, where that is not what stands in the payload.
    message: Option<&'a str>,
    /// As JSON; empty for nothing.
    withheld: &'a str,
}

/// Writes a record.
pub fn write(frame: &Frame<'_>, payload: &[u8], event: &Event<'_>, meta: Option<&Meta>) -> Vec<u8> {
    let masked = Masked::of(payload, &event.withheld, &event.message);
    let says = Says::of(payload, event, &event.withheld);
    let mut to = Put(Vec::with_capacity(masked.payload.len() + 256));
    to.0.push(FORM);
    to.text(event.kind.name);
    to.text(event.level.map_or("", Level::name));
    to.text(event.note.unwrap_or_default());
    let Frame { source, of, stamp, order, assumed, line, offset, length, format, outcome } = frame;
    [source, of.source, of.worker, of.role, of.host, of.unit, of.format, format, outcome].iter().for_each(|text| to.text(text));
    to.instants(stamp.map(|s| [s.start, s.end]));
    to.instants(order.map(|order| [order]));
    to.flag(*assumed);
    [*line, *offset, *length].iter().for_each(|n| to.count(*n));
    to.bytes(&masked.payload);
    to.size(masked.withheld.len());
    masked.withheld.iter().for_each(|span| to.range(span));
    to.range(&masked.message);
    to.flag(says.is_part);
    // The message stands in the payload, but for what is said of what is withheld in it.
    let message =
        (says.message != visible_text(&masked.payload, shown(&masked.message, masked.payload.len()), &[])).then_some(&says.message);
    to.flag(message.is_some());
    to.text(message.map_or("", |m| m));
    to.text(&if says.withheld.is_empty() { String::new() } else { Json::Array(says.withheld).to_string() });
    to.size(event.ids.len());
    for id in &event.ids {
        to.text(id.kind.field());
        to.text(&id.text);
    }
    to.size(event.fields.len());
    for field in &event.fields {
        to.text(&field.name);
        to.text(&field.raw);
        to.value(&field.value);
    }
    to.flag(meta.is_some());
    if let Some(meta) = meta {
        [&meta.host, &meta.unit, &meta.ident, &meta.boot, &meta.invocation].iter().for_each(|text| to.text(text));
        to.text(meta.stream);
        to.count(meta.pid.map_or(0, |pid| u64::from(pid) + 1));
        to.count(meta.priority.map_or(0, |priority| u64::from(priority) + 1));
        to.size(meta.more.len());
        for (name, text) in &meta.more {
            to.text(name);
            to.text(text);
        }
    }
    to.0
}

/// Where what is shown as the message stands.
fn shown(message: &Range<usize>, len: usize) -> Range<usize> {
    if message.is_empty() { 0..len } else { message.clone() }
}

impl<'a> Whole<'a> {
    /// Reads a record.
    ///
    /// # Errors
    /// The bytes are not those of a record.
    pub fn read(bytes: &'a [u8]) -> Result<Whole<'a>, String> {
        let mut from = Take(bytes);
        if from.byte()? != FORM {
            return Err("a record of a shard is of another version of corr; write the shards anew by `corr index --shards`".into());
        }
        let mut event = Event::new(kept(from.text()?)?);
        let level = from.text()?;
        event.level = if level.is_empty() { None } else { Some(Level::read(level).ok_or_else(damaged)?) };
        event.note = Some(name(&mut from)?).filter(|note| !note.is_empty());
        let source = from.text()?;
        let of = Facts {
            source: from.text()?,
            worker: from.text()?,
            role: from.text()?,
            host: from.text()?,
            unit: from.text()?,
            format: from.text()?,
        };
        let (format, outcome) = (name(&mut from)?, Cow::Borrowed(from.text()?));
        let stamp = from.instants::<2>()?.map(|[start, end]| Stamp { start, end });
        if stamp.is_some_and(|s| s.end < s.start || s.end.checked_sub(s.start).is_none()) {
            return Err(damaged());
        }
        let order = from.instants::<1>()?.map(|[order]| order);
        let assumed = from.flag()?;
        let (line, offset, length) = (from.count()?, from.count()?, from.count()?);
        let payload = from.bytes()?;
        let mut at = 0;
        for _ in 0..from.size()? {
            let span = from.range(at, payload.len())?;
            at = span.end;
            event.withheld.push(Withheld { span, why: Secret::Body, name: "" });
        }
        event.message = from.range(0, payload.len())?;
        let (is_part, other) = (from.flag()?, from.flag()?);
        let message = Some(from.text()?).filter(|_| other);
        let withheld = from.text()?;
        for _ in 0..from.size()? {
            let field = from.text()?;
            let kind = IdKind::of_field(field).ok_or_else(damaged)?;
            event.ids.push(Id { kind, text: Cow::Borrowed(from.text()?) });
        }
        for _ in 0..from.size()? {
            let (name, raw) = (Cow::Borrowed(from.text()?), Cow::Borrowed(from.text()?));
            event.fields.push(Field { name, raw, value: from.value()? });
        }
        let meta = if from.flag()? { Some(envelope(&mut from)?) } else { None };
        let frame = Frame { source, of, stamp, order, assumed, line, offset, length, format, outcome };
        Ok(Whole { event, payload, meta, frame, is_part, message, withheld })
    }

    /// What a query can ask of it.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            event: &self.event,
            payload: self.payload,
            withheld: &self.event.withheld,
            facts: self.frame.of,
            meta: self.meta.as_ref(),
            line: (self.frame.line > 0).then_some(self.frame.line),
        }
    }

    /// Where it stands, and what its source is.
    pub fn frame(&self) -> &Frame<'a> {
        &self.frame
    }

    /// What it says.
    pub fn event(&self) -> &Event<'a> {
        &self.event
    }

    /// When it happened, if it says.
    pub fn stamp(&self) -> Option<Stamp> {
        self.frame.stamp
    }

    /// As it is shown.
    ///
    /// # Errors
    /// What is said of what is withheld cannot be read.
    pub fn shown(self) -> Result<Shown, String> {
        let message = match self.message {
            Some(message) => Cow::Borrowed(message),
            None => Cow::Owned(visible_text(self.payload, shown(&self.event.message, self.payload.len()), &[])),
        };
        let withheld: Vec<Json> = match self.withheld {
            "" => Vec::new(),
            text => serde_json::from_str(text).map_err(|_| damaged())?,
        };
        Ok(Shown::framed(self.frame, &self.event, self.meta.as_ref(), Says { message, is_part: self.is_part, withheld }))
    }
}

/// A name that lives as long as the process, as a kind: that of a format, where one has it.
fn kept(name: &str) -> Result<&'static Kind, String> {
    static NAMES: RwLock<Option<HashMap<&'static str, &'static Kind>>> = RwLock::new(None);

    if let Some(kind) = NAMES.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|names| names.get(name)) {
        return Ok(kind);
    }
    if name.len() > LONGEST_NAME {
        return Err(damaged());
    }
    let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    let kind = match names.get(name).copied().or_else(|| corr_parsers::kind(name)) {
        Some(kind) => kind,
        None if names.len() >= MOST_NAMES => {
            return Err(format!("the shards have more than {MOST_NAMES} names of kinds, formats and notes"));
        }
        None => {
            let name: &'static str = Box::leak(name.to_string().into_boxed_str());
            Box::leak(Box::new(Kind { name, about: "", words: "" }))
        }
    };
    names.insert(kind.name, kind);
    Ok(kind)
}

/// What the envelope says.
fn envelope(from: &mut Take<'_>) -> Result<Meta, String> {
    let mut meta = Meta::default();
    for text in [&mut meta.host, &mut meta.unit, &mut meta.ident, &mut meta.boot, &mut meta.invocation] {
        *text = from.text()?.to_string();
    }
    meta.stream = name(from)?;
    meta.pid = from.count()?.checked_sub(1).map(u32::try_from).transpose().map_err(|_| damaged())?;
    meta.priority = from.count()?.checked_sub(1).map(u8::try_from).transpose().map_err(|_| damaged())?;
    for _ in 0..from.size()? {
        meta.more.push((from.text()?.to_string(), from.text()?.to_string()));
    }
    Ok(meta)
}

fn name(from: &mut Take<'_>) -> Result<&'static str, String> {
    known(from.text()?)
}

/// A name of a kind or a format that lives as long as the process.
///
/// # Errors
/// It is too long, or there are too many.
pub fn known(name: &str) -> Result<&'static str, String> {
    Ok(kept(name)?.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::grammar;
    use crate::query::matches::Matcher;
    use crate::query::sources;
    use crate::run::Options;
    use crate::run::events::{self, Start};
    use corr_parsers::event::Value;
    use proptest::prelude::*;
    use std::ops::ControlFlow;
    use std::path::Path;

    const QUERIES: &[&str] = &[
        "*",
        "kind:decode_batch",
        "level:>=warn",
        "running_reqs:>2",
        "id:*",
        "worker:decode*",
        "source:router.log",
        "batch",
        "\"http 1\"",
        "pro*",
        "/[0-9]{4}/",
        "/\\bSYNTHETIC/",
        "SYNTHETIC",
        "message:/e/",
        "line:<10",
        "pid:*",
        "host?:x",
        "NOT token*",
        "text",
        "format:sglang",
        "unit:*",
    ];

    /// Every record of every fixture: shown as before, found as before.
    #[test]
    fn a_record_stays_what_it_is() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let matchers: Vec<Matcher> = QUERIES.iter().map(|q| Matcher::new(&grammar::parse(q).expect(q)).expect(q)).collect();
        let (mut records, mut withheld, mut found) = (0, 0, vec![0; QUERIES.len()]);
        for run in std::fs::read_dir(&fixtures).expect("fixtures").map(|e| e.expect("an entry").path()) {
            let Ok(sources) = sources::open(&[run.display().to_string()], &Options::default(), None) else { continue };
            for source in &sources.sources {
                let Ok(bytes) = source.bytes() else { continue };
                events::each(bytes, &source.layout, source.timing(), Start::of_source(), bytes.len(), |record, event, facts| {
                    let written = write(&Frame::of(source, record, facts), record.payload, event, record.meta);
                    let whole = Whole::read(&written).expect("what was written");
                    let subject = Subject {
                        event,
                        payload: record.payload,
                        withheld: &event.withheld,
                        facts: source.facts(),
                        meta: record.meta,
                        line: Some(facts.line),
                    };
                    for ((matcher, query), found) in matchers.iter().zip(QUERIES).zip(&mut found) {
                        let holds = matcher.matches(&subject);
                        assert_eq!(matcher.matches(&whole.subject()), holds, "{query} at {}:{}", source.name, facts.line);
                        *found += usize::from(holds);
                    }
                    let before = Shown::new(source, record, event, facts, false);
                    for span in &event.withheld {
                        let secret = record.payload.get(span.span.clone()).unwrap_or_default();
                        assert!(secret.len() < 8 || !written.windows(secret.len()).any(|w| w == secret), "{}:{}", source.name, facts.line);
                        withheld += 1;
                    }
                    let after = whole.shown().expect("what was written");
                    assert_eq!(after.json(), before.json());
                    assert_eq!((after.brief(), after.time(), after.locator()), (before.brief(), before.time(), before.locator()));
                    for name in ["pid", "ident", "priority", "unit", "host", "rid", "message"] {
                        assert_eq!(after.get(name), before.get(name), "{name}");
                    }
                    records += 1;
                    ControlFlow::Continue(())
                });
            }
        }
        println!("{records} records, {withheld} withheld spans, found {found:?}");
        assert!(records > 500 && withheld > 10 && found.iter().filter(|n| **n > 0).count() > 12, "{records} {withheld} {found:?}");
    }

    fn one() -> Vec<u8> {
        let mut event = Event::new(&corr_parsers::text::kinds::TEXT);
        event.message = 2..12;
        event.id(IdKind::Rid, "abc");
        event.field("n", "#n", Value::UInt(u64::MAX));
        event.field("f", "f", Value::Float(0.5));
        event.field("t", "t", Value::Str("x".into()));
        event.withhold(4..6, Secret::Body, "text");
        let of = Facts { source: "s", ..Facts::default() };
        let (stamp, order) = (Some(Stamp { start: i64::MIN, end: -1 }), Some(i64::MIN));
        let outcome = Cow::Borrowed("parsed");
        let frame =
            Frame { source: "r/s", of, stamp, order, assumed: true, line: 1, offset: u64::MAX, length: 300, format: "text", outcome };
        let meta = Meta { pid: Some(u32::MAX), priority: Some(0), more: vec![("A".into(), "b".into())], ..Meta::default() };
        write(&frame, b"0123456789abcdef", &event, Some(&meta))
    }

    #[test]
    fn the_ends_of_numbers() {
        let bytes = one();
        let whole = Whole::read(&bytes).expect("a record");
        assert_eq!(whole.stamp(), Some(Stamp { start: i64::MIN, end: -1 }));
        let shown = whole.shown().expect("a record");
        assert_eq!((shown.offset, shown.length, shown.order, shown.pid), (u64::MAX, 300, Some(i64::MIN), Some(u32::MAX)));
        assert_eq!(shown.get("priority"), Some(serde_json::json!(0)));
        assert_eq!(shown.get("n"), Some(serde_json::json!(u64::MAX)));
    }

    proptest! {
        #[test]
        fn damaged_bytes_are_an_error(at in 0usize..400, byte in any::<u8>(), cut in 0usize..400, noise in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = one();
            let cut = cut.min(bytes.len());
            prop_assert!(cut == bytes.len() || Whole::read(&bytes[..cut]).is_err());
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            let matcher = Matcher::new(&grammar::parse("a* /b/ message:x").expect("a query")).expect("a query");
            for bytes in [bytes, [&[FORM][..], &noise].concat()] {
                if let Ok(whole) = Whole::read(&bytes) {
                    matcher.matches(&whole.subject());
                    let _ = whole.shown().map(|shown| shown.json());
                }
            }
        }
    }
}
