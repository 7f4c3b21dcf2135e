//! One event as output sees it: owned, complete, with what is withheld replaced by its length and hash.

use std::borrow::Cow;

use corr_parsers::clock::How;
use corr_parsers::event::{Event, Secret, Value, Withheld};
use corr_parsers::format::Meta;
use corr_parsers::ids::IdKind;
use corr_parsers::record::Record;
use corr_parsers::stamp::{SECOND, Stamp};
use serde_json::{Map, Value as Json, json};

use crate::metrics::beside::Neighbours;
use crate::query::sources::Asked;
use crate::query::subject::{self, Name, Special};
use crate::run::events::Facts;
use crate::store::segment::outcome_label;

/// One event, ready to be written.
#[derive(Clone, Debug)]
pub struct Shown {
    pub stamp: Option<Stamp>,
    /// Sort key where the event has no stamp of its own: the stamped event before it in its source.
    pub order: Option<i64>,
    /// The zone of the stamp was assumed.
    pub assumed: bool,
    pub source: String,
    pub line: u64,
    pub offset: u64,
    pub length: u64,
    pub kind: &'static str,
    pub level: Option<&'static str>,
    pub format: &'static str,
    pub worker: Option<String>,
    pub role: Option<String>,
    pub host: Option<String>,
    pub unit: Option<String>,
    pub pid: Option<u32>,
    pub ids: Vec<(IdKind, String)>,
    pub fields: Vec<(String, String, Json)>,
    pub message: String,
    /// The message leaves out what the record says in fields and ids: for people they are written behind it.
    message_is_part: bool,
    pub withheld: Vec<Json>,
    /// What only the envelope says, under the names that a query has for it.
    envelope: Vec<(String, Json)>,
    pub note: Option<&'static str>,
    pub outcome: String,
    /// Shown because it stands beside a hit.
    pub context: bool,
    /// Samples beside it, if they were asked for; or why there are none.
    pub beside: Option<Result<Vec<Neighbours>, String>>,
    /// Where it stands, if that is no record: samples of a capture.
    place: Option<String>,
}

/// Where a record stands, when and whose it is: what is shown of it beside what it says.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// Path of the source as shown.
    pub source: &'a str,
    /// What is known of the source.
    pub of: subject::Facts<'a>,
    pub stamp: Option<Stamp>,
    /// Sort key, UTC ns, as in [`Shown::order`].
    pub order: Option<i64>,
    /// The zone of the stamp was assumed.
    pub assumed: bool,
    /// 1-based; 0 where lines were not counted.
    pub line: u64,
    pub offset: u64,
    pub length: u64,
    pub format: &'static str,
    pub outcome: Cow<'a, str>,
}

impl<'a> Frame<'a> {
    /// Of a record as it was read from its source.
    pub fn of(source: &'a Asked, record: &Record<'_>, facts: &Facts) -> Frame<'a> {
        Frame {
            source: &source.name,
            of: source.facts(),
            stamp: facts.stamp,
            order: facts.order,
            assumed: source.clock.how == How::Assumed && facts.by_rule,
            line: facts.line,
            offset: facts.offset as u64,
            length: facts.length as u64,
            format: record.format.map_or("text", |f| f.name),
            outcome: Cow::Owned(outcome_label(&facts.outcome)),
        }
    }
}

/// What a record says for people: none of it is withheld.
#[derive(Clone, Debug, PartialEq)]
pub struct Says<'a> {
    pub message: Cow<'a, str>,
    /// As in [`Shown::brief`]: fields and ids are written behind the message.
    pub is_part: bool,
    /// What is withheld: names, lengths, hashes.
    pub withheld: Vec<Json>,
}

impl Says<'static> {
    /// What an event says of which these spans are withheld.
    pub fn of(payload: &[u8], event: &Event<'_>, hidden: &[Withheld]) -> Says<'static> {
        let range = if event.message.is_empty() { 0..payload.len() } else { event.message.clone() };
        Says {
            is_part: !event.fields.is_empty() && (payload.get(range.start) == Some(&b'{') || range.end + 2 < payload.len()),
            message: Cow::Owned(visible_text(payload, range, hidden)),
            withheld: hidden.iter().map(|w| withheld_json(payload, w)).collect(),
        }
    }
}

impl Shown {
    /// Makes an event ready. `bodies` shows what is withheld otherwise.
    pub fn new(source: &Asked, record: &Record<'_>, event: &Event<'_>, facts: &Facts, bodies: bool) -> Shown {
        let hidden: &[Withheld] = if bodies { &[] } else { &event.withheld };
        Shown::framed(Frame::of(source, record, facts), event, record.meta, Says::of(record.payload, event, hidden))
    }

    /// Puts an event together from what is known of it.
    pub fn framed(frame: Frame<'_>, event: &Event<'_>, meta: Option<&Meta>, says: Says<'_>) -> Shown {
        fn known(text: &str) -> Option<String> {
            Some(text).filter(|t| !t.is_empty()).map(String::from)
        }
        let or = |own: Option<&str>, of: &str| own.and_then(known).or_else(|| known(of));
        Shown {
            stamp: frame.stamp,
            order: frame.order,
            assumed: frame.assumed,
            source: frame.source.to_string(),
            line: frame.line,
            offset: frame.offset,
            length: frame.length,
            kind: event.kind.name,
            level: event.level.map(|l| l.name()),
            format: frame.format,
            worker: known(frame.of.worker),
            role: known(frame.of.role),
            host: or(meta.map(|m| m.host.as_str()), frame.of.host),
            unit: or(meta.map(|m| m.unit.as_str()), frame.of.unit),
            pid: meta.and_then(|m| m.pid),
            ids: event.ids.iter().map(|i| (i.kind, i.text.to_string())).collect(),
            fields: event.fields.iter().map(|f| (f.name.to_string(), f.raw.to_string(), json_value(&f.value))).collect(),
            message_is_part: says.is_part,
            message: says.message.into_owned(),
            envelope: meta.map_or_else(Vec::new, envelope),
            withheld: says.withheld,
            note: event.note,
            outcome: frame.outcome.into_owned(),
            context: false,
            beside: None,
            place: None,
        }
    }

    /// An event of a log that says only its kind and a message.
    #[cfg(test)]
    pub fn of_kind(kind: &'static str, message: &str) -> Shown {
        Shown {
            source: "run/a.log".into(),
            line: 1,
            length: 1,
            place: None,
            ..Shown::of_samples("", String::new(), None).says(kind, message.into())
        }
    }

    /// What samples of a capture show, where `place` opens them.
    pub fn of_samples(capture: &str, place: String, stamp: Option<Stamp>) -> Shown {
        Shown {
            stamp,
            order: stamp.map(|s| s.start),
            assumed: false,
            source: capture.into(),
            line: 0,
            offset: 0,
            length: 0,
            kind: "samples",
            level: None,
            format: "text",
            worker: None,
            role: None,
            host: None,
            unit: None,
            pid: None,
            ids: Vec::new(),
            fields: Vec::new(),
            message: String::new(),
            message_is_part: false,
            withheld: Vec::new(),
            envelope: Vec::new(),
            note: None,
            outcome: "parsed".into(),
            context: false,
            beside: None,
            place: Some(place),
        }
    }

    /// What was worked out from this record, in its place: of what it says itself nothing is left.
    pub fn says(self, kind: &'static str, message: String) -> Shown {
        Shown {
            kind,
            level: None,
            ids: Vec::new(),
            fields: Vec::new(),
            message,
            message_is_part: false,
            withheld: Vec::new(),
            envelope: Vec::new(),
            note: None,
            ..self
        }
    }

    /// `path:line`, or `path@offset` where lines were not counted.
    pub fn locator(&self) -> String {
        if let Some(place) = &self.place {
            return place.clone();
        }
        if self.line > 0 { format!("{}:{}", self.source, self.line) } else { format!("{}@{}", self.source, self.offset) }
    }

    /// When, as text: `~` before a time that is the last stamped event's, `?` instead of `Z` where the zone was assumed, `-` where there is none.
    pub fn time(&self) -> String {
        match (self.stamp, self.order) {
            (Some(stamp), _) => time_text(stamp.start, stamp.width(), self.assumed),
            (None, Some(order)) => format!("~{}", time_text(order, SECOND, self.assumed)),
            (None, None) => "-".into(),
        }
    }

    /// The event on one line for people: its message, or, where the record is made of fields, those.
    pub fn brief(&self) -> String {
        if !self.message_is_part {
            return self.message.clone();
        }
        let mut out = if self.message.starts_with('{') { String::new() } else { self.message.clone() };
        let mut push = |name: &str, value: &str| {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(name);
            out.push('=');
            out.push_str(value);
        };
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for (kind, text) in &self.ids {
            // An id that is known to be a decoy is for `corr show`.
            if *kind != IdKind::Decoy && !seen.contains(&(kind.field(), text.as_str())) {
                seen.push((kind.field(), text));
                push(kind.field(), text);
            }
        }
        for (name, _, value) in &self.fields {
            // Where in its program a line was written is for `corr show`.
            let where_from = matches!(name.as_str(), "target" | "spans" | "file" | "line" | "span_name" | "parent_id");
            if !where_from && !value.as_str().is_some_and(|v| seen.iter().any(|s| s.1 == v)) {
                push(name, value.as_str().unwrap_or(&value.to_string()));
            }
        }
        out
    }

    /// The first value of a name that `--fields` asks for; `None` if the event has none.
    pub fn get(&self, name: &str) -> Option<Json> {
        let text = |s: &Option<String>| s.as_ref().map(|s| json!(s));
        let found = match name {
            "time" => Some(json!(self.time())),
            "source" => Some(json!(self.source)),
            "line" => (self.line > 0).then(|| json!(self.line)),
            "locator" => Some(json!(self.locator())),
            "kind" => Some(json!(self.kind)),
            "level" => self.level.map(|l| json!(l)),
            "format" => Some(json!(self.format)),
            "worker" => text(&self.worker),
            "role" => text(&self.role),
            "host" => text(&self.host),
            "unit" => text(&self.unit),
            "pid" => self.pid.map(|p| json!(p)),
            "message" => Some(json!(self.message)),
            "note" => self.note.map(|n| json!(n)),
            "metrics" => self.beside.as_ref().map(|beside| json!(beside_words(beside).join("; "))),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        let named = |other: &str| other.eq_ignore_ascii_case(name);
        if let Some((_, _, value)) = self.fields.iter().find(|(n, raw, _)| named(n) || named(raw)) {
            return Some(value.clone());
        }
        if let Some((_, value)) = self.envelope.iter().find(|(n, _)| named(n)) {
            return Some(value.clone());
        }
        let special = Name::new(name).special;
        let id = self.ids.iter().find(|(kind, _)| match special {
            Special::AnyId => true,
            Special::Ids(kinds) => kinds.contains(kind),
            _ => kind.field() == name,
        });
        id.map(|(_, text)| json!(text))
    }

    /// The event as a JSON object.
    pub fn json(&self) -> Json {
        let mut out = Map::new();
        out.insert("type".into(), json!(if self.context { "context" } else { "event" }));
        if let Some(stamp) = self.stamp {
            out.insert("time".into(), json!(rfc3339(stamp.start, stamp.width())));
            out.insert("start_ns".into(), json!(stamp.start));
            out.insert("end_ns".into(), json!(stamp.end));
        } else {
            out.insert("time".into(), Json::Null);
        }
        if self.assumed {
            out.insert("zone_assumed".into(), json!(true));
        }
        out.insert("source".into(), json!(self.source));
        if self.line > 0 {
            out.insert("line".into(), json!(self.line));
        }
        out.insert("offset".into(), json!(self.offset));
        out.insert("length".into(), json!(self.length));
        out.insert("kind".into(), json!(self.kind));
        out.insert("format".into(), json!(self.format));
        let optional = [("worker", &self.worker), ("role", &self.role), ("host", &self.host), ("unit", &self.unit)];
        if let Some(level) = self.level {
            out.insert("level".into(), json!(level));
        }
        for (name, value) in optional {
            if let Some(value) = value {
                out.insert(name.into(), json!(value));
            }
        }
        if let Some(pid) = self.pid {
            out.insert("pid".into(), json!(pid));
        }
        let ids: Vec<Json> = self.ids.iter().map(|(kind, text)| json!({"kind": kind.field(), "id": text})).collect();
        out.insert("ids".into(), Json::Array(ids));
        let mut fields = Map::new();
        for (name, _, value) in &self.fields {
            match fields.get_mut(name) {
                None => {
                    fields.insert(name.clone(), value.clone());
                }
                Some(Json::Array(list)) => list.push(value.clone()),
                Some(one) => *one = Json::Array(vec![one.clone(), value.clone()]),
            }
        }
        out.insert("fields".into(), Json::Object(fields));
        out.insert("message".into(), json!(self.message));
        if !self.withheld.is_empty() {
            out.insert("withheld".into(), Json::Array(self.withheld.clone()));
        }
        if let Some(beside) = &self.beside {
            out.insert("metrics".into(), beside_json(beside));
        }
        if let Some(note) = self.note {
            out.insert("note".into(), json!(note));
        }
        if self.outcome != "parsed" {
            out.insert("outcome".into(), json!(self.outcome));
        }
        Json::Object(out)
    }
}

/// Samples beside an event, a line each.
pub fn beside_words(beside: &Result<Vec<Neighbours>, String>) -> Vec<String> {
    match beside {
        Ok(found) => found.iter().map(Neighbours::words).collect(),
        Err(why) => vec![format!("no samples beside it: {why}")],
    }
}

pub(super) fn beside_json(beside: &Result<Vec<Neighbours>, String>) -> Json {
    match beside {
        Ok(found) => found.iter().map(Neighbours::json).collect(),
        Err(why) => json!({"unjoined": why}),
    }
}

fn envelope(meta: &Meta) -> Vec<(String, Json)> {
    let mut facts = Vec::new();
    for (name, text) in [("ident", meta.ident.as_str()), ("boot", &meta.boot), ("invocation", &meta.invocation), ("stream", meta.stream)] {
        if !text.is_empty() {
            facts.push((name.to_string(), json!(text)));
        }
    }
    if let Some(priority) = meta.priority {
        facts.push(("priority".into(), json!(priority)));
    }
    facts.extend(meta.more.iter().map(|(name, text)| (name.clone(), json!(text))));
    facts
}

fn withheld_json(payload: &[u8], w: &Withheld) -> Json {
    let bytes = payload.get(w.span.clone()).unwrap_or(&[]);
    if w.why == Secret::Credential {
        // Neither length nor hash: a short key could be guessed from them.
        return json!({"name": w.name, "why": secret_name(w.why)});
    }
    match hash(bytes) {
        Some(hash) => json!({"name": w.name, "why": secret_name(w.why), "bytes": bytes.len(), "blake3": hash}),
        None => json!({"name": w.name, "why": secret_name(w.why), "bytes": bytes.len(), "masked": true}),
    }
}

fn secret_name(why: Secret) -> &'static str {
    match why {
        Secret::Body => "body",
        Secret::Credential => "credential",
        Secret::Header => "header",
    }
}

/// The first 16 hex digits of a BLAKE3 hash: enough to tell bodies apart. `None` for what a store overwrote when it embedded the text: a hash of that
/// would be told as the body's.
fn hash(bytes: &[u8]) -> Option<String> {
    let inner = bytes.strip_prefix(b"\"").and_then(|b| b.strip_suffix(b"\"")).unwrap_or(bytes);
    if !inner.is_empty() && inner.iter().all(|b| matches!(b, b'*' | b'\n')) {
        return None;
    }
    Some(blake3::hash(bytes).to_hex().as_str()[..16].to_string())
}

/// A part of the payload as text, with each withheld span replaced by its name, length and hash; a credential by its name
/// alone.
pub fn visible_text(payload: &[u8], range: std::ops::Range<usize>, withheld: &[Withheld]) -> String {
    let mut spans: Vec<&Withheld> = withheld.iter().collect();
    spans.sort_by_key(|w| w.span.start);
    let mut out = String::new();
    let end = range.end.min(payload.len());
    let mut at = range.start.min(end);
    for w in spans {
        let (from, to) = (w.span.start.clamp(at, end), w.span.end.clamp(at, end));
        if from >= to {
            continue;
        }
        out.push_str(&String::from_utf8_lossy(&payload[at..from]));
        let bytes = payload.get(w.span.clone()).unwrap_or(&[]);
        if w.why == Secret::Credential {
            out.push_str(&format!("‹{} withheld›", w.name));
        } else {
            match hash(bytes) {
                Some(hash) => out.push_str(&format!("‹{}: {} bytes, blake3 {hash}›", w.name, bytes.len())),
                None => out.push_str(&format!("‹{}: {} bytes, masked›", w.name, bytes.len())),
            }
        }
        at = to;
    }
    out.push_str(&String::from_utf8_lossy(&payload[at..end]));
    out
}

/// A typed value as JSON; numbers stay numbers, exactly.
pub fn json_value(value: &Value<'_>) -> Json {
    match value {
        Value::Int(x) => json!(x),
        Value::UInt(x) => json!(x),
        Value::Float(x) => json!(x),
        Value::Bool(x) => json!(x),
        Value::Str(text) => json!(text),
    }
}

/// A UTC time with as many digits as its resolution has, `Z` behind it.
pub fn rfc3339(ns: i64, width: i64) -> String {
    time_text(ns, width, false)
}

fn time_text(ns: i64, width: i64, assumed: bool) -> String {
    let time = chrono::DateTime::from_timestamp_nanos(ns);
    let digits = match width {
        w if w >= SECOND => 0,
        w if w >= 1_000_000 => 3,
        w if w >= 1_000 => 6,
        _ => 9,
    };
    let mut text = time.format("%Y-%m-%dT%H:%M:%S").to_string();
    if digits > 0 {
        let fraction = format!("{:09}", ns.rem_euclid(SECOND));
        text.push('.');
        text.push_str(&fraction[..digits]);
    }
    text.push(if assumed { '?' } else { 'Z' });
    text
}
