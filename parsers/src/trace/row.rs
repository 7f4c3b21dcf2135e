//! Puts members of trace records into an event: scalars as fields, ids as ids, and never a body.

use std::borrow::Cow;

use crate::dynamo::{MAX_FIELDS, id};
use crate::event::{Event, Field, Value};
use crate::ids::IdKind;
use crate::json::{self, Member};

/// Where an object stands: its bytes and their offset in the payload.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Span<'a> {
    /// The value of a member of this span.
    pub fn of(&self, member: &Member<'a>) -> Span<'a> {
        Span { bytes: member.value, at: self.at + member.at }
    }
}

/// Adds a scalar under a known name. Objects and arrays, and values whose end is missing, are left out.
pub fn scalar<'a>(event: &mut Event<'a>, name: &'static str, member: &Member<'a>) {
    if let Some(value) = plain(member) {
        push(event, Cow::Borrowed(name), member.key, value);
    }
}

/// Adds a scalar under its own name.
pub fn named<'a>(event: &mut Event<'a>, member: &Member<'a>) {
    let name = String::from_utf8_lossy(member.key);
    if let Some(value) = plain(member) {
        push(event, name, member.key, value);
    }
}

fn push<'a>(event: &mut Event<'a>, name: Cow<'a, str>, key: &'a [u8], value: Value<'a>) {
    if event.fields.len() >= MAX_FIELDS {
        event.note = Some("more fields than are kept");
        return;
    }
    if event.fields.iter().any(|f| f.name == name) {
        event.note = Some("duplicate key");
    }
    event.fields.push(Field { name, raw: String::from_utf8_lossy(key), value });
}

fn plain<'a>(member: &Member<'a>) -> Option<Value<'a>> {
    if !member.complete || matches!(member.value.first(), Some(b'{' | b'[')) {
        return None;
    }
    json::value(member.value)
}

/// Adds an id, from a string or a number.
pub fn identity<'a>(event: &mut Event<'a>, kind: IdKind, member: &Member<'a>) {
    if member.complete
        && let Some(text) = json::id(member.value)
    {
        id(event, kind, text);
    }
}

/// Adds a worker's id, and a field that says in which part: digits kept as text, for they exceed i64.
pub fn worker<'a>(event: &mut Event<'a>, name: &'static str, member: &Member<'a>) {
    if member.complete
        && let Some(text) = json::id(member.value)
    {
        id(event, IdKind::WorkerId, text.clone());
        push(event, Cow::Borrowed(name), member.key, Value::Str(text));
    }
}

/// Adds an id and a field of the same text.
pub fn identity_and_field<'a>(event: &mut Event<'a>, kind: IdKind, name: &'static str, member: &Member<'a>) {
    identity(event, kind, member);
    scalar(event, name, member);
}

/// Adds the number of items of an array.
pub fn count(event: &mut Event<'_>, name: &'static str, member: &Member<'_>) {
    if member.complete && member.value.first() == Some(&b'[') {
        let items = json::items(member.value).count();
        event.field(name, name, Value::Int(items as i64));
    }
}
