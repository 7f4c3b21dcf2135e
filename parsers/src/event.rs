//! A parsed record: stamp, kind, ids, typed fields, message.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::ids::{Id, IdKind};
use crate::stamp::RawStamp;

/// What a record says happened. Each format's folder declares its own kinds in `kinds.rs`.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name in queries and output, snake case: `prefill_batch`.
    pub name: &'static str,
    /// One line: what a record of this kind says, and what it does not.
    pub about: &'static str,
    /// For kinds whose every variable part is a field or an id (see [`Event::columnar`]): the words that every record of
    /// the kind may contain beside its values, blank separated, lower case. Empty for all other kinds.
    pub words: &'static str,
}

/// Severity as printed. SGLang prints none on most lines: then it is absent, not `Info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Fatal,
}

impl Level {
    /// Lower-case name, as in queries.
    pub fn name(self) -> &'static str {
        match self {
            Level::Trace => "trace",
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
            Level::Fatal => "fatal",
        }
    }

    /// Reads the spellings that the upstreams print (`WARNING`, ` WARN`, `CRITICAL`, …), in any case.
    pub fn read(text: &str) -> Option<Level> {
        let text = text.trim();
        let is = |name: &str| text.eq_ignore_ascii_case(name);
        if is("info") || is("notice") {
            return Some(Level::Info);
        }
        if is("warn") || is("warning") {
            return Some(Level::Warn);
        }
        if is("error") || is("err") {
            return Some(Level::Error);
        }
        if is("debug") {
            return Some(Level::Debug);
        }
        if is("trace") {
            return Some(Level::Trace);
        }
        if is("critical") || is("fatal") || is("crit") || is("alert") || is("emerg") {
            return Some(Level::Fatal);
        }
        None
    }
}

/// A typed value. Numbers keep the type the text has; u64 above `i64::MAX` stay exact.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Int(i64),
    /// Only for numbers above `i64::MAX`.
    UInt(u64),
    Float(f64),
    Bool(bool),
    Str(Cow<'a, str>),
}

/// The value alone, as counts and tables show it: text without quotes.
impl fmt::Display for Value<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(n) => n.fmt(out),
            Value::UInt(n) => n.fmt(out),
            Value::Float(n) => n.fmt(out),
            Value::Bool(b) => b.fmt(out),
            Value::Str(text) => text.fmt(out),
        }
    }
}

impl Value<'_> {
    /// The same value, borrowing nothing.
    pub fn into_owned<'b>(self) -> Value<'b> {
        match self {
            Value::Int(n) => Value::Int(n),
            Value::UInt(n) => Value::UInt(n),
            Value::Float(n) => Value::Float(n),
            Value::Bool(b) => Value::Bool(b),
            Value::Str(text) => Value::Str(Cow::Owned(text.into_owned())),
        }
    }
}

/// One field of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<'a> {
    /// The canonical name: snake case, the same over all versions (`cached_tokens`).
    pub name: Cow<'a, str>,
    /// The name as the record spells it (`#cached-token`).
    pub raw: Cow<'a, str>,
    /// The typed value.
    pub value: Value<'a>,
}

impl Field<'_> {
    /// The same field, borrowing nothing: for what was read from a decoded copy of a record's part.
    pub fn into_owned<'b>(self) -> Field<'b> {
        Field { name: Cow::Owned(self.name.into_owned()), raw: Cow::Owned(self.raw.into_owned()), value: self.value.into_owned() }
    }
}

/// Why a span of the payload is not rendered, indexed or stored unless asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret {
    /// Prompt or response text, token ids, tool arguments.
    Body,
    /// A key, token or password.
    Credential,
    /// The value of an HTTP header.
    Header,
}

/// A span of the payload that is withheld by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// Bytes of the payload.
    pub span: Range<usize>,
    /// Why.
    pub why: Secret,
    /// What it is called where it stands: `text`, `input_ids`, `authorization`.
    pub name: &'static str,
}

/// One record, understood. Borrows from the record's payload; reuse one with [`Event::recycle`].
#[derive(Debug)]
pub struct Event<'a> {
    pub kind: &'static Kind,
    pub level: Option<Level>,
    /// The payload's own stamp. The envelope's stands in [`crate::format::Meta`].
    pub stamp: Option<RawStamp>,
    /// Bytes of the payload that are the message: after stamp, tags, level and target.
    pub message: Range<usize>,
    pub fields: Vec<Field<'a>>,
    pub ids: Vec<Id<'a>>,
    pub withheld: Vec<Withheld>,
    /// Spans of the payload, in order, that are known to hold nothing but names and constants: no digit, no credential, nothing withheld, no part of a
    /// word. Which are given depends on what was read before; whoever passes over them finds the same.
    pub plain: Vec<Range<usize>>,
    /// Every variable part of the record stands in `fields`, `ids`, `stamp` or `level`, and the rest are the kind's `words`.
    /// Such a record is found by columns and needs no document in the word index.
    pub columnar: bool,
    /// Of a columnar record, further: its words are those of its kind, of what stands before `message`, of its fields' raw names, and `true` and
    /// `false`. It has no id, and no run of twelve digits. Records of a kind that have the same names then have the same words.
    pub keyed: bool,
    /// Something the reader of this event should know: `torn`, `truncated`, `duplicate key`.
    pub note: Option<&'static str>,
}

impl<'a> Event<'a> {
    /// An empty event of a kind.
    pub fn new(kind: &'static Kind) -> Event<'a> {
        Event {
            kind,
            level: None,
            stamp: None,
            message: 0..0,
            fields: Vec::new(),
            ids: Vec::new(),
            withheld: Vec::new(),
            plain: Vec::new(),
            columnar: false,
            keyed: false,
            note: None,
        }
    }

    /// The same allocation, emptied, for the next record.
    pub fn recycle<'b>(mut self, kind: &'static Kind) -> Event<'b> {
        self.plain.clear();
        Event {
            kind,
            level: None,
            stamp: None,
            message: 0..0,
            fields: recycle(self.fields),
            ids: recycle(self.ids),
            withheld: recycle(self.withheld),
            plain: self.plain,
            columnar: false,
            keyed: false,
            note: None,
        }
    }

    /// Adds a field whose canonical name is known at compile time.
    pub fn field(&mut self, name: &'static str, raw: impl Into<Cow<'a, str>>, value: Value<'a>) {
        self.fields.push(Field { name: Cow::Borrowed(name), raw: raw.into(), value });
    }

    /// Adds an id.
    pub fn id(&mut self, kind: IdKind, text: impl Into<Cow<'a, str>>) {
        self.ids.push(Id { kind, text: text.into() });
    }

    /// Withholds a span of the payload.
    pub fn withhold(&mut self, span: Range<usize>, why: Secret, name: &'static str) {
        self.withheld.push(Withheld { span, why, name });
    }

    /// The first field of a canonical name.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.fields.iter().find(|f| f.name == name).map(|f| &f.value)
    }
}

/// Empties a vector and changes what it borrows from, keeping its allocation (the standard library collects in place).
fn recycle<A, B>(mut from: Vec<A>) -> Vec<B> {
    from.clear();
    from.into_iter().map_while(|_| None).collect()
}

/// What a format made of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Understood.
    Parsed,
    /// Known and of no further interest; the event is still kept and searchable. The reason is a fixed phrase.
    Skipped(&'static str),
    /// Not understood; the event is of kind `text`. The reason is a fixed phrase.
    Unparsed(&'static str),
}
