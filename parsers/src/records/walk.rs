//! One JSON object or array into an event: scalars as fields, ids as ids, bodies as withheld spans.

use std::borrow::Cow;
use std::ops::Range;

use super::MAX_FIELD;
use super::keys::{self, Role};
use super::stamps;
use crate::dynamo::id;
use crate::event::{Event, Field, Level, Secret, Value};
use crate::ids::{self, IdKind};
use crate::json::{self, End, Member};
use crate::trace::headers;
use crate::trace::row::Span;

/// Objects and arrays inside one another that are walked; what stands deeper is withheld. Also the bound on this module's recursion,
/// and on how often a byte is looked at.
const MAX_DEPTH: usize = 12;
/// Keys that are joined into a field's name.
const MAX_JOINED: usize = 3;
const MAX_FIELDS: usize = 64;
/// A longer string under any name may be a body, and is withheld.
const MAX_SHOWN: usize = 512;
const MAX_IDS: usize = 256;
/// Longer headers are no headers that a server would take; they are withheld as one.
const MAX_HEADERS: usize = 64 << 10;
/// After so many spans the rest of the record is withheld as one.
const MAX_WITHHELD: usize = 1024;

/// What the members of the record's own object say of the record.
#[derive(Debug, Default)]
pub struct Seen {
    /// Members of the outermost value that were read to their end.
    pub members: usize,
    pub chat: bool,
    pub start: bool,
    pub end: bool,
    pub outcome: bool,
    pub role: bool,
    /// The text of `message`, without quotes.
    pub message: Option<Range<usize>>,
    stamp_rank: Option<usize>,
    /// The field that is the stamp's value.
    pub stamp_field: Option<usize>,
}

/// The walk over one record.
pub struct Walk<'e, 'a> {
    event: &'e mut Event<'a>,
    /// Length of the record.
    len: usize,
    pub seen: Seen,
    /// Keys down to here, joined by `_`, while they are few enough to name a field.
    path: String,
    /// The `request_id` of this record is the one of the HTTP span (see README.md).
    pub decoy: bool,
    full: bool,
}

/// Where a member stands.
#[derive(Clone, Copy)]
struct Place {
    /// 1 for the members of the record's own object.
    depth: usize,
    /// Keys above that are in `path`; `None` inside an array or too far down: then nothing is a field.
    joined: Option<usize>,
}

impl<'e, 'a> Walk<'e, 'a> {
    pub fn new(event: &'e mut Event<'a>, len: usize) -> Walk<'e, 'a> {
        Walk { event, len, seen: Seen::default(), path: String::new(), decoy: false, full: false }
    }

    /// Walks the record: an object or an array.
    pub fn record(&mut self, span: Span<'a>) -> End {
        if span.bytes.first() == Some(&b'[') {
            return self.array(span, Place { depth: 1, joined: None });
        }
        self.object(span, Place { depth: 1, joined: Some(0) })
    }

    fn object(&mut self, span: Span<'a>, place: Place) -> End {
        let mut walk = json::members(span.bytes);
        let (mut worst, mut behind) = (End::Open, 0);
        for member in walk.by_ref() {
            behind = member.at + member.value.len();
            worst = worse(worst, self.member(span.of(&member), &member, place));
            if place.depth == 1 && worst != End::Damaged {
                self.seen.members += usize::from(member.complete);
            }
        }
        self.ended(span, walk.end(), worst, behind)
    }

    fn array(&mut self, span: Span<'a>, place: Place) -> End {
        let mut walk = json::items(span.bytes);
        let (mut worst, mut behind) = (End::Open, 0);
        let inside = Place { depth: place.depth + 1, joined: None };
        let mut credential = false;
        for item in walk.by_ref() {
            behind = item.at + item.value.len();
            let value = span.of(&item);
            if credential && item.value.first() == Some(&b'"') {
                self.withhold(value, Secret::Credential, "credential");
            } else {
                worst = worse(worst, self.value(value, &item, inside));
            }
            // `"--api-key", "…"` in a list of arguments.
            let flag = item.value.strip_prefix(b"\"--").and_then(|v| v.strip_suffix(b"\""));
            credential = flag.is_some_and(keys::is_flag_of_credential);
            if place.depth == 1 && worst != End::Damaged {
                self.seen.members += usize::from(item.complete);
            }
        }
        self.ended(span, walk.end(), worst, behind)
    }

    /// The end of an object or array, its parts included. What stands behind damage cannot be told from a body.
    fn ended(&mut self, span: Span<'a>, end: End, worst: End, behind: usize) -> End {
        match end {
            End::Damaged => {
                self.withhold(Span { bytes: &span.bytes[behind..], at: span.at + behind }, Secret::Body, "text behind damage");
                End::Damaged
            }
            _ => worse(end, worst),
        }
    }

    fn member(&mut self, value: Span<'a>, member: &Member<'a>, place: Place) -> End {
        let name = keys::snake(member.key);
        let own = place.depth == 1 || place.depth == 2 && self.path == "metadata";
        if own {
            self.seen.start |= stamps::is_start(&name);
            self.seen.end |= stamps::is_end(&name);
            self.seen.outcome |= matches!(&*name, "status" | "error" | "rid" | "x_request_id" | "response_id");
            self.seen.role |= name == "role";
        }
        if value.bytes == b"null" {
            return End::Open;
        }
        let text = value.bytes.first() == Some(&b'"');
        let structure = matches!(value.bytes.first(), Some(b'{' | b'['));
        let empty = matches!(value.bytes, b"\"\"" | b"[]" | b"{}");
        match keys::role(&name) {
            _ if empty => {}
            Role::Body(body) if text || structure => self.withhold(value, Secret::Body, body),
            Role::Choices if structure => self.choices(value),
            Role::Choices if text => self.withhold(value, Secret::Body, "choices"),
            Role::Headers if value.bytes.first() == Some(&b'{') && value.bytes.len() <= MAX_HEADERS => headers::read(value, self.event),
            Role::Headers if text || structure => self.withhold(value, Secret::Header, "headers"),
            Role::Credential if !matches!(value.bytes, b"true" | b"false") => self.withhold(value, Secret::Credential, "credential"),
            Role::Token if text => self.withhold(value, Secret::Credential, "credential"),
            Role::Id(kind) if self.identity(kind, &name, member) => {}
            Role::WorkerPart if self.identity(IdKind::WorkerId, &name, member) => {
                if let Some(text) = json::id(member.value) {
                    self.push(name, member.key, Value::Str(text));
                }
            }
            Role::TraceParent if self.trace_parent(member) => {}
            Role::OwnId if self.own_id(member, place) => {}
            Role::ResponseId if self.response_id(member) => {}
            _ => {
                if text && place.depth == 1 && self.head_text(&name, value, member) {
                    return End::Open;
                }
                let fields = self.event.fields.len();
                let stamped = own && !structure && member.complete && self.stamp(&name, value);
                let end = self.named(value, member, &name, place);
                if stamped {
                    // A start is kept as a field too: with the end it gives the duration.
                    let repeated = self.event.fields.len() > fields && !stamps::is_start(&name);
                    self.seen.stamp_field = repeated.then_some(fields);
                }
                return end;
            }
        }
        if member.complete { End::Open } else { End::Truncated }
    }

    /// A member without a role: its field is named by the keys above it.
    fn named(&mut self, value: Span<'a>, member: &Member<'a>, name: &str, place: Place) -> End {
        let joined = place.joined.filter(|n| *n < MAX_JOINED);
        let before = self.path.len();
        if joined.is_some() {
            if before > 0 {
                self.path.push('_');
            }
            self.path.push_str(name);
        }
        let end = self.value(value, member, Place { depth: place.depth + 1, joined: joined.map(|n| n + 1) });
        self.path.truncate(before);
        end
    }

    /// `place` is that of the members of `value`, if it has any.
    fn value(&mut self, value: Span<'a>, member: &Member<'a>, place: Place) -> End {
        match value.bytes.first() {
            Some(b'{' | b'[') if place.depth > MAX_DEPTH => {
                self.withhold(value, Secret::Body, "deep value");
                if member.complete { End::Open } else { End::Truncated }
            }
            Some(b'{') => self.inner(Walk::object, value, member, place),
            Some(b'[') => self.inner(Walk::array, value, member, Place { joined: None, ..place }),
            Some(b'"') => {
                self.text(value, member, place);
                if member.complete { End::Open } else { End::Truncated }
            }
            _ => {
                if !member.complete {
                    return End::Truncated;
                }
                let word = value.bytes.first().is_some_and(u8::is_ascii_alphabetic);
                if word && !matches!(value.bytes, b"true" | b"false" | b"null" | b"NaN" | b"Infinity") {
                    self.withhold(value, Secret::Body, "damaged value");
                    return End::Damaged;
                }
                if place.joined.is_some_and(|n| n > 0)
                    && let Some(found) = json::value(value.bytes)
                {
                    self.field(member.key, found);
                }
                End::Open
            }
        }
    }

    /// A value that was closed from outside must close in itself at the same byte.
    fn inner(&mut self, walk: fn(&mut Self, Span<'a>, Place) -> End, value: Span<'a>, member: &Member<'a>, place: Place) -> End {
        match walk(self, value, place) {
            End::Closed(at) if at == value.bytes.len() => End::Open,
            End::Truncated if !member.complete => End::Truncated,
            _ => {
                self.withhold(value, Secret::Body, "damaged value");
                End::Damaged
            }
        }
    }

    fn text(&mut self, value: Span<'a>, member: &Member<'a>, place: Place) {
        let inner = value.bytes[1..].strip_suffix(b"\"").filter(|_| member.complete).unwrap_or(&value.bytes[1..]);
        if [&b"Bearer "[..], b"Basic ", b"sk-", b"hf_"].iter().any(|p| inner.starts_with(p)) && (inner.len() > 16 || !member.complete) {
            return self.withhold(value, Secret::Credential, "credential");
        }
        if inner.len() > MAX_SHOWN {
            return self.withhold(value, Secret::Body, "long text");
        }
        if let Some(why) = keys::secret_inside(inner) {
            return self.withhold(value, why, "text");
        }
        if member.complete
            && inner.len() <= MAX_FIELD
            && place.joined.is_some_and(|n| n > 0)
            && let Some(text) = json::text(value.bytes)
        {
            self.field(member.key, Value::Str(text));
        }
    }

    /// Adds a field under the joined keys.
    fn field(&mut self, key: &'a [u8], value: Value<'a>) {
        let name = if self.path.as_bytes() == key { String::from_utf8_lossy(key) } else { Cow::Owned(self.path.clone()) };
        self.push(name, key, value);
    }

    fn push(&mut self, name: Cow<'a, str>, key: &'a [u8], value: Value<'a>) {
        if self.event.fields.len() >= MAX_FIELDS {
            self.event.note = Some("more fields than are kept");
            return;
        }
        if self.event.fields.iter().any(|f| f.name == name) {
            self.event.note = Some("duplicate key");
        }
        self.event.fields.push(Field { name, raw: String::from_utf8_lossy(key), value });
    }

    /// Adds an id if the value has the form of one; `false` otherwise.
    fn identity(&mut self, kind: IdKind, name: &str, member: &Member<'a>) -> bool {
        if !member.complete || member.value.len() > MAX_FIELD {
            return false;
        }
        let Some(text) = json::id(member.value) else { return false };
        let shaped = match kind {
            IdKind::TraceId => ids::is_hex(&text, 32),
            IdKind::SpanId => ids::is_hex(&text, 16),
            // A load generator calls its own processes `worker_0`.
            IdKind::WorkerId => ids::worker_id(&text).is_some(),
            _ => true,
        };
        if !shaped {
            return false;
        }
        let kind = if self.decoy && kind == IdKind::RequestId && name == "request_id" { IdKind::Decoy } else { kind };
        self.id(kind, text);
        true
    }

    fn id(&mut self, kind: IdKind, text: Cow<'a, str>) {
        if self.event.ids.len() >= MAX_IDS {
            self.event.note = Some("more ids than are kept");
            return;
        }
        id(self.event, kind, text);
    }

    fn trace_parent(&mut self, member: &Member<'a>) -> bool {
        let Some(text) = json::text(member.value).filter(|_| member.complete) else { return false };
        let (Some(trace), _) = ids::traceparent(&text) else { return false };
        self.id(IdKind::TraceId, Cow::Owned(trace.to_owned()));
        true
    }

    fn own_id(&mut self, member: &Member<'a>, place: Place) -> bool {
        if place.depth == 2 && self.path == "meta_info" {
            return self.identity(IdKind::Rid, "id", member);
        }
        place.depth == 1 && self.response_id(member)
    }

    fn response_id(&mut self, member: &Member<'a>) -> bool {
        let Some(text) = json::text(member.value).filter(|t| member.complete && t.len() <= MAX_FIELD) else { return false };
        let prefixed = ["chatcmpl-", "cmpl-", "resp_"].iter().any(|p| text.starts_with(p));
        if !(prefixed || ids::is_hex(&text, 32) || ids::is_uuid(&text)) {
            return false;
        }
        self.id(IdKind::RequestId, text);
        true
    }

    /// Level, message and type of the record itself; `false` when it is none of them.
    fn head_text(&mut self, name: &str, value: Span<'a>, member: &Member<'a>) -> bool {
        if !member.complete {
            return false;
        }
        match name {
            "level" | "severity" | "levelname" | "lvl" => {
                let level = json::text(value.bytes).and_then(|t| Level::read(&t));
                self.event.level = self.event.level.or(level);
                level.is_some()
            }
            "message" | "msg" if value.bytes.len() <= MAX_SHOWN && keys::secret_inside(value.bytes).is_none() => {
                self.seen.message = Some(value.at + 1..value.at + value.bytes.len() - 1);
                true
            }
            "object" => {
                let types = [&b"\"chat.completion\""[..], b"\"chat.completion.chunk\"", b"\"text_completion\"", b"\"response\""];
                self.seen.chat |= types.contains(&value.bytes);
                false
            }
            _ => false,
        }
    }

    /// Takes the stamp if its key is better than that of the one before.
    fn stamp(&mut self, name: &str, value: Span<'a>) -> bool {
        let better = |rank: &usize| self.seen.stamp_rank.is_none_or(|before| *rank < before);
        let Some(rank) = stamps::rank(name).filter(better) else { return false };
        let Some(stamp) = stamps::read(value.bytes, value.at) else { return false };
        self.event.stamp = Some(stamp);
        self.seen.stamp_rank = Some(rank);
        true
    }

    /// The first finish reason is a field; what else is text is withheld member by member.
    fn choices(&mut self, span: Span<'a>) {
        let before = self.event.withheld.len();
        let mut whole = json::items(span.bytes);
        let mut sound = true;
        for choice in whole.by_ref() {
            let object = span.of(&choice);
            let mut walk = json::members(choice.value);
            for member in walk.by_ref() {
                let text = matches!(member.value.first(), Some(b'"' | b'{' | b'['));
                match member.key {
                    b"finish_reason" if text && member.complete && member.value.len() <= 64 && member.value[0] == b'"' => {
                        if self.event.get("finish_reason").is_none()
                            && let Some(reason) = json::text(member.value)
                        {
                            self.push(Cow::Borrowed("finish_reason"), member.key, Value::Str(reason));
                        }
                    }
                    _ if text => self.withhold(object.of(&member), Secret::Body, choice_name(member.key)),
                    _ => {}
                }
            }
            sound &= !choice.complete || matches!(walk.end(), End::Closed(at) if at == choice.value.len());
            sound &= walk.end() != End::Damaged;
        }
        if !sound || whole.end() == End::Damaged {
            self.event.withheld.truncate(before);
            self.withhold(span, Secret::Body, "choices");
        }
    }

    fn withhold(&mut self, span: Span<'a>, why: Secret, name: &'static str) {
        if span.bytes.is_empty() || self.full {
            return;
        }
        if self.event.withheld.len() >= MAX_WITHHELD {
            self.full = true;
            self.event.withhold(span.at..self.len, Secret::Body, "rest of the record");
            return;
        }
        // A value that turns out to be damaged covers what was found inside it.
        while self.event.withheld.last().is_some_and(|w| w.span.start >= span.at) {
            self.event.withheld.pop();
        }
        self.event.withhold(span.at..span.at + span.bytes.len(), why, name);
    }
}

fn worse(a: End, b: End) -> End {
    let grade = |end: &End| match end {
        End::Open => 0,
        End::Closed(_) => 1,
        End::Truncated => 2,
        End::Damaged => 3,
    };
    if grade(&a) >= grade(&b) { a } else { b }
}

fn choice_name(key: &[u8]) -> &'static str {
    match key {
        b"message" => "message",
        b"delta" => "delta",
        b"text" => "text",
        b"logprobs" => "logprobs",
        _ => "choice",
    }
}
