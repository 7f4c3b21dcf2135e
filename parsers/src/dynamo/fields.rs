//! Puts one `name=value` of a line into an event: as a field, or as an id where the name is one's.

use std::borrow::Cow;

use super::names::{self, Role};
use super::prose;
use crate::event::{Event, Field, Value};
use crate::ids::{Id, IdKind, is_hex};
use crate::keyvalue;

/// A line keeps this many fields; what follows stays text. The longest line seen has 30.
pub const MAX_FIELDS: usize = 256;

/// What is known while the fields of one line are read.
#[derive(Debug, Default)]
pub struct Reading {
    /// The line is readable text and stands under an `http-request` span, whose `request_id` may be a decoy.
    pub http_span: bool,
    /// The fields now read are those of the `http-request` span (they begin with method, uri, version).
    pub inside_http: bool,
    /// A name that is not in the table was seen: the line's words are not all known.
    pub unknown: bool,
    /// Fields read so far, those that were left out too.
    pub read: usize,
    /// There were more fields than are kept.
    pub full: bool,
    /// `session_id` names a session of the KV block manager, not of a client.
    pub kvbm: bool,
    /// The line speaks of event channels: `instance_id` names a publisher, not a worker.
    pub channel: bool,
}

/// Is this a field whose id is a publisher's on a line about event channels?
pub fn may_name_channel(raw: &str) -> bool {
    matches!(raw, "instance_id" | "instance" | "key" | "path" | "error")
}

/// Adds one field. `text` is the value without quotes.
pub fn put<'a>(event: &mut Event<'a>, reading: &mut Reading, raw: &'a str, text: Cow<'a, str>) {
    reading.read += 1;
    if reading.read > MAX_FIELDS {
        reading.full = true;
        return;
    }
    // What was unescaped does not stand in the record as it is in the field.
    reading.unknown |= matches!(text, Cow::Owned(_));
    let Some((name, role)) = names::known(raw) else {
        reading.unknown = true;
        return field(event, mechanical(raw), raw, typed(text));
    };
    match role {
        Role::Plain => field(event, Cow::Borrowed(name), raw, typed(text)),
        Role::Text => {
            if reading.http_span {
                reading.inside_http = (reading.inside_http && raw != "otel.kind") || raw == "version";
            }
            field(event, Cow::Borrowed(name), raw, Value::Str(some(text)));
        }
        Role::RequestId => {
            // The span has one request_id; a further one belongs to a span inside it.
            let decoy = std::mem::take(&mut reading.inside_http) && raw == "request_id";
            id(event, if decoy { IdKind::Decoy } else { IdKind::RequestId }, text);
        }
        Role::XRequestId => id(event, IdKind::XRequestId, text),
        Role::TraceId => id(event, IdKind::TraceId, text),
        Role::SpanId if is_hex(&text, 16) => id(event, IdKind::SpanId, text),
        Role::SpanId => field(event, Cow::Borrowed(name), raw, typed(text)),
        Role::Session if reading.kvbm => field(event, Cow::Borrowed("kvbm_session_id"), raw, Value::Str(text)),
        Role::Session => id(event, IdKind::Session, some(text)),
        Role::ParentSession => id(event, IdKind::ParentSession, some(text)),
        Role::Worker => prose::field(event, raw, some(text), reading.channel),
        Role::Prose => {
            prose::read(&text, reading.channel, event);
            field(event, Cow::Borrowed(name), raw, Value::Str(text));
        }
        Role::WorkerPart => {
            let text = some(text);
            id(event, IdKind::WorkerId, text.clone());
            field(event, Cow::Borrowed(name), raw, Value::Str(text));
        }
    }
}

/// Ends the line: a decoy that turned out to be the request's own id (with OTLP there is one id everywhere) is none.
pub fn finish(event: &mut Event<'_>, reading: &Reading) {
    let mut at = 0;
    while reading.http_span && at < event.ids.len() {
        let decoy = &event.ids[at];
        let real = decoy.kind == IdKind::Decoy && event.ids.iter().any(|i| i.kind == IdKind::RequestId && i.text == decoy.text);
        if real {
            event.ids.remove(at);
        } else {
            at += 1;
        }
    }
    // Without a session Dynamo prints the request's id for one (`dynamo.session.source=request_id_fallback`).
    let request = |session: &Id<'_>| event.ids.iter().any(|i| i.kind == IdKind::RequestId && i.text == session.text);
    if let Some(at) = event.ids.iter().position(|i| i.kind == IdKind::Session && request(i)) {
        event.ids.remove(at);
    }
    if reading.full {
        event.note = Some("more fields than are kept");
    }
}

/// Adds a field. The same once more is left out; another value under the same name is a further field of that name, behind the first.
fn field<'a>(event: &mut Event<'a>, name: Cow<'a, str>, raw: &'a str, value: Value<'a>) {
    if event.fields.iter().any(|before| (before.raw == raw || before.name == name) && before.value == value) {
        return;
    }
    event.fields.push(Field { name, raw: Cow::Borrowed(raw), value });
}

/// Adds an id that the event does not have yet; `None` and the empty text are none.
pub fn id<'a>(event: &mut Event<'a>, kind: IdKind, text: Cow<'a, str>) {
    if text.is_empty() || text == "None" || event.ids.iter().any(|i| i.kind == kind && i.text == text) {
        return;
    }
    event.ids.push(Id { kind, text });
}

/// `Some(256)` is 256: an `Option` printed by Debug.
fn some(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(t) => Cow::Borrowed(inside_some(t)),
        Cow::Owned(t) => Cow::Owned(inside_some(&t).to_owned()),
    }
}

fn inside_some(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("Some(").and_then(|t| t.strip_suffix(')')) else { return text };
    inner.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(inner)
}

/// A number or bool if the text is one as it would be printed; `01` stays text (trace flags).
pub fn typed(text: Cow<'_, str>) -> Value<'_> {
    let text = some(text);
    let digits = text.as_bytes();
    if digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit() {
        return Value::Str(text);
    }
    keyvalue::typed(text)
}

/// Snake case of a name that is in no table.
fn mechanical(raw: &str) -> Cow<'_, str> {
    if raw.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_field_keeps_its_canonical_name() {
        let mut event = Event::new(&crate::text::kinds::TEXT);
        let mut reading = Reading::default();
        for value in ["server", "client", "client", "server"] {
            put(&mut event, &mut reading, "otel.kind", Cow::Borrowed(value));
        }
        put(&mut event, &mut reading, "A.new-Name", Cow::Borrowed("1"));
        put(&mut event, &mut reading, "A.new-Name", Cow::Borrowed("2"));
        let seen: Vec<(&str, &str)> = event.fields.iter().map(|f| (&*f.name, &*f.raw)).collect();
        let kind = ("otel_kind", "otel.kind");
        let new = ("a_new_name", "A.new-Name");
        assert_eq!(seen, [kind, kind, new, new]);
        assert_eq!(event.fields[1].value, Value::Str("client".into()));
        assert_eq!(event.get("otel_kind"), Some(&Value::Str("server".into())));
    }
}
