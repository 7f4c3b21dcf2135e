//! Ids that stand in the prose of a message, or in the text of a field such as `error`: `for worker N`, `instance_id=N`, `…/generate/HEX`.
//!
//! An endpoint's instance is a worker. A publisher of events has an id of its own under the same name (`instance_id`; from 1.3 on it is no
//! process's): it becomes the field `publisher_id` and never a worker.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::fields;
use crate::event::{Event, Field, Value};
use crate::ids::{self, IdKind};
use crate::search;

/// How much of a text is looked at; what is printed with it (a whole model card) names no worker.
const MAX: usize = 4 << 10;

/// A worker id has this many digits at least where only a word of prose names it: `worker 1` counts workers.
const LONG: usize = 10;

/// What stands before an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    /// A worker, whatever the length of its id.
    Worker,
    /// An instance of an endpoint, or of a channel.
    Instance,
    /// Prose: a worker if the number is long.
    Prose,
    Publisher,
    /// A part of a path: a worker's id in hex, if it is that.
    Path,
    /// A request if a UUID follows.
    Request,
    /// The text speaks of event channels and their publishers.
    Channel,
}

static LABELS: &[(&str, Label)] = &[
    ("worker_id: ", Label::Worker),
    ("worker_id=", Label::Worker),
    ("instance_id: ", Label::Instance),
    ("instance_id=", Label::Instance),
    ("publisher_id: ", Label::Publisher),
    ("publisher_id=", Label::Publisher),
    ("orker ", Label::Prose),
    ("nstance ", Label::Prose),
    ("Removed(", Label::Prose),
    ("/", Label::Path),
    ("%2F", Label::Path),
    ("generate-", Label::Path),
    ("equest ", Label::Request),
    ("stream ", Label::Request),
    ("EventChannel", Label::Channel),
    ("EventPublisher", Label::Channel),
    ("EventSource", Label::Channel),
    ("event channel", Label::Channel),
    ("event source", Label::Channel),
    ("event_channels", Label::Channel),
    ("event_sources", Label::Channel),
    ("topic/", Label::Channel),
    ("topic%2F", Label::Channel),
    ("kv_metrics/", Label::Channel),
    ("kv-events/", Label::Channel),
    ("active_sequences_events/", Label::Channel),
    ("forward-pass-metrics/", Label::Channel),
];

static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| search::for_words(MatchKind::LeftmostLongest, LABELS.iter().map(|l| l.0)));

/// Does the text speak of event channels? Then `instance_id` is a publisher's.
pub fn of_channel(text: &[u8]) -> bool {
    let text = &text[..text.len().min(MAX)];
    SEARCH.find_iter(text).any(|hit| label(hit) == Label::Channel)
}

/// Adds the ids that `text` names. `channel` says that the line speaks of event channels.
#[expect(clippy::ptr_arg, reason = "what is borrowed from the record stays borrowed")]
pub fn read<'a>(text: &Cow<'a, str>, channel: bool, event: &mut Event<'a>) {
    match text {
        Cow::Borrowed(text) => scan(text, channel, &mut |found| add(event, found, Cow::Borrowed)),
        Cow::Owned(text) => scan(text, channel, &mut |found| add(event, found, |t| Cow::Owned(t.to_owned()))),
    }
}

/// One id as it stands in the text.
enum Found<'t> {
    Worker(&'t str),
    Publisher(&'t str),
    Request(&'t str),
}

fn add<'t, 'a>(event: &mut Event<'a>, found: Found<'t>, keep: impl Fn(&'t str) -> Cow<'a, str>) {
    match found {
        Found::Worker(text) => add_worker(event, keep(text)),
        Found::Request(text) => fields::id(event, IdKind::RequestId, keep(text)),
        Found::Publisher(text) => publisher(event, text, "publisher_id"),
    }
}

/// Adds a worker that the event does not have yet in another spelling.
fn add_worker<'a>(event: &mut Event<'a>, text: Cow<'a, str>) {
    let Some(number) = ids::worker_id(&text) else { return };
    let known = event.ids.iter().any(|i| i.kind == IdKind::WorkerId && ids::worker_id(&i.text) == Some(number));
    if !known {
        fields::id(event, IdKind::WorkerId, text);
    }
}

/// Adds a publisher of events, a number that is no process's id.
pub fn publisher<'a>(event: &mut Event<'a>, text: &str, raw: &'static str) {
    if let Some(value) = crate::keyvalue::number(text)
        && !event.fields.iter().any(|f| f.name == "publisher_id" && f.value == value)
    {
        event.fields.push(Field { name: Cow::Borrowed("publisher_id"), raw: Cow::Borrowed(raw), value });
    }
}

/// The id that a field holds, its text taken for a word or for prose: `758… not found for endpoint …`, `EventChannel(… instance_id: N)`.
pub fn field<'a>(event: &mut Event<'a>, raw: &'a str, text: Cow<'a, str>, channel: bool) {
    let end = text.bytes().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))).unwrap_or(text.len());
    let instance = raw == "instance_id";
    if end == text.len() {
        if instance && channel {
            publisher(event, &text, "instance_id");
        } else {
            fields::id(event, IdKind::WorkerId, text);
        }
        return;
    }
    // More than a word: what stands before the first blank is the id if it is a number.
    if end > 0 && text.as_bytes()[..end].iter().all(u8::is_ascii_digit) {
        let number = match &text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
            Cow::Owned(text) => Cow::Owned(text[..end].to_owned()),
        };
        if instance && channel {
            publisher(event, &number, "instance_id");
        } else {
            fields::id(event, IdKind::WorkerId, number);
        }
    }
    read(&text, channel, event);
    event.fields.push(Field { name: Cow::Borrowed(raw), raw: Cow::Borrowed(raw), value: Value::Str(text) });
}

fn label(hit: aho_corasick::Match) -> Label {
    LABELS.get(hit.pattern().as_usize()).map_or(Label::Channel, |l| l.1)
}

/// Calls `see` for each id.
fn scan<'t>(text: &'t str, channel: bool, see: &mut dyn FnMut(Found<'t>)) {
    let text = &text[..text.floor_char_boundary(MAX)];
    let channel = channel || of_channel(text.as_bytes());
    // A path may begin with the id.
    if let Some(id) = hex(text, 0).filter(|id| !channel && text[id.len()..].starts_with('/')) {
        see(Found::Worker(id));
    }
    for hit in SEARCH.find_iter(text) {
        let at = hit.end();
        let digits = digits(text, at);
        match label(hit) {
            Label::Worker if !digits.is_empty() => see(Found::Worker(digits)),
            Label::Instance if !digits.is_empty() && channel => see(Found::Publisher(digits)),
            Label::Instance if !digits.is_empty() => see(Found::Worker(digits)),
            // Kubernetes' discovery prints it in hex.
            Label::Instance if !channel => hex(text, at).into_iter().for_each(|id| see(Found::Worker(id))),
            Label::Prose if digits.len() >= LONG => see(Found::Worker(digits)),
            Label::Publisher if !digits.is_empty() => see(Found::Publisher(digits)),
            Label::Path if !channel => hex(text, at).into_iter().for_each(|id| see(Found::Worker(id))),
            Label::Request => {
                let id = text.get(at..at + 36).filter(|id| ids::is_uuid(id));
                id.into_iter().for_each(|id| see(Found::Request(id)));
            }
            _ => {}
        }
    }
}

/// The decimal number at `at`, if no letter follows it.
fn digits(text: &str, at: usize) -> &str {
    let rest = &text.as_bytes()[at..];
    let len = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let ends = !rest.get(len).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    if ends { &text[at..at + len] } else { "" }
}

/// A worker's id in hex at `at`: 13 to 16 digits, as one in 65,536 has fewer and containers' short names have 12; one a letter, for what is all
/// decimal cannot be told from a decimal id.
fn hex(text: &str, at: usize) -> Option<&str> {
    let rest = &text.as_bytes()[at..];
    let len = rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).count();
    let ends = !rest.get(len).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    let id = &text[at..at + len];
    let has = |f: fn(&u8) -> bool| id.as_bytes().iter().any(f);
    ((13..=16).contains(&len) && ends && has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit)).then_some(id)
}
