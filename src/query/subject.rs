//! What of an event does a name in a query mean?

use corr_parsers::event::{Event, Level, Value, Withheld};
use corr_parsers::format::Meta;
use corr_parsers::ids::{Id, IdKind};

/// What is known of an event's source. Empty text means unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// Path as shown, relative to the run.
    pub source: &'a str,
    /// The serving process that wrote it: `decode_0`.
    pub worker: &'a str,
    /// `prefill`, `decode`, `router`, …
    pub role: &'a str,
    pub host: &'a str,
    pub unit: &'a str,
    /// Name of the payload format.
    pub format: &'a str,
}

/// Everything a query can ask about one event.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub event: &'a Event<'a>,
    /// The bytes that `event` was parsed from.
    pub payload: &'a [u8],
    /// Spans of the payload in which nothing is found: the event's own, or none when the user asked to see bodies.
    pub withheld: &'a [Withheld],
    pub facts: Facts<'a>,
    /// What the envelope says.
    pub meta: Option<&'a Meta>,
    /// First line of the record in its source, from 1.
    pub line: Option<u64>,
}

/// A name of a query, looked up once.
#[derive(Clone, Debug)]
pub struct Name {
    text: String,
    /// What it names beside fields.
    pub special: Special,
}

/// Names that are not, or not only, fields of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Only a field.
    None,
    /// Ids of these kinds, and nothing else.
    Ids(&'static [IdKind]),
    /// Ids of every kind.
    AnyId,
    /// The words of the message.
    Message,
    Kind,
    Level,
    Line,
    Source,
    Format,
    /// The source's worker, ids of workers, fields.
    Worker,
    /// The rest are also looked up among fields.
    Role,
    Host,
    Unit,
    Ident,
    Pid,
    Priority,
    Boot,
    Invocation,
    Stream,
    Note,
}

/// Names with a fixed meaning, for help and "did you mean".
pub const NAMES: &[(&str, Special)] = &[
    ("kind", Special::Kind),
    ("level", Special::Level),
    ("message", Special::Message),
    ("line", Special::Line),
    ("source", Special::Source),
    ("format", Special::Format),
    ("worker", Special::Worker),
    ("role", Special::Role),
    ("host", Special::Host),
    ("unit", Special::Unit),
    ("ident", Special::Ident),
    ("pid", Special::Pid),
    ("priority", Special::Priority),
    ("boot", Special::Boot),
    ("invocation", Special::Invocation),
    ("stream", Special::Stream),
    ("note", Special::Note),
    ("id", Special::AnyId),
    ("rid", Special::Ids(&[IdKind::Rid, IdKind::RequestId])),
    ("request_id", Special::Ids(&[IdKind::Rid, IdKind::RequestId])),
    ("x_request_id", Special::Ids(&[IdKind::XRequestId])),
    ("session", Special::Ids(&[IdKind::Session])),
    ("session_id", Special::Ids(&[IdKind::Session])),
    ("parent_session", Special::Ids(&[IdKind::ParentSession])),
    ("parent_session_id", Special::Ids(&[IdKind::ParentSession])),
    ("trace_id", Special::Ids(&[IdKind::TraceId])),
    ("span_id", Special::Ids(&[IdKind::SpanId])),
    ("bootstrap_room", Special::Ids(&[IdKind::BootstrapRoom])),
    ("worker_id", Special::Ids(&[IdKind::WorkerId])),
    ("tool_call", Special::Ids(&[IdKind::ToolCall])),
    ("decoy_request_id", Special::Ids(&[IdKind::Decoy])),
    ("routing_key", Special::Ids(&[IdKind::RoutingKey])),
];

impl Name {
    /// Looks a name up, whatever its case.
    pub fn new(text: &str) -> Name {
        let special = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map_or(Special::None, |(_, special)| *special);
        Name { text: text.to_string(), special }
    }

    fn takes(&self, kind: IdKind) -> bool {
        match self.special {
            Special::AnyId => true,
            Special::Worker => kind == IdKind::WorkerId,
            Special::Ids(kinds) => kinds.contains(&kind),
            _ => false,
        }
    }
}

/// One thing that a name means in an event.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    Text(&'a str),
    /// A path: its last part stands for it too.
    Path(&'a str),
    Number(u64),
    Level(Level),
    Id(&'a Id<'a>),
    Value(&'a Value<'a>),
}

impl<'a> Subject<'a> {
    /// Calls `visit` with everything that a name means here, until it returns true; says whether it did.
    /// [`Special::Message`] means nothing here: it is text, not a value.
    pub fn any(&self, name: &Name, visit: &mut dyn FnMut(Item<'a>) -> bool) -> bool {
        let event = self.event;
        match name.special {
            Special::Message => return false,
            Special::Kind => return visit(Item::Text(event.kind.name)),
            Special::Level => return event.level.is_some_and(|level| visit(Item::Level(level))),
            Special::Line => return self.line.is_some_and(|line| visit(Item::Number(line))),
            Special::Source => return !self.facts.source.is_empty() && visit(Item::Path(self.facts.source)),
            Special::Format => return text(self.facts.format, visit),
            Special::Ids(_) | Special::AnyId => return self.any_id(name, visit),
            _ => {}
        }
        if self.any_fact(name, visit) || (name.special == Special::Worker && self.any_id(name, visit)) {
            return true;
        }
        let named = |field: &str| field.eq_ignore_ascii_case(&name.text);
        if event.fields.iter().any(|f| (named(&f.name) || named(&f.raw)) && visit(Item::Value(&f.value))) {
            return true;
        }
        self.meta.is_some_and(|meta| meta.more.iter().any(|(key, value)| named(key) && visit(Item::Text(value))))
    }

    fn any_id(&self, name: &Name, visit: &mut dyn FnMut(Item<'a>) -> bool) -> bool {
        self.event.ids.iter().any(|id| name.takes(id.kind) && visit(Item::Id(id)))
    }

    fn any_fact(&self, name: &Name, visit: &mut dyn FnMut(Item<'a>) -> bool) -> bool {
        let facts = self.facts;
        match (name.special, self.meta) {
            (Special::Worker, _) => text(facts.worker, visit),
            (Special::Role, _) => text(facts.role, visit),
            (Special::Host, meta) => text(facts.host, visit) || meta.is_some_and(|m| text(&m.host, visit)),
            (Special::Unit, meta) => text(facts.unit, visit) || meta.is_some_and(|m| text(&m.unit, visit)),
            (Special::Note, _) => self.event.note.is_some_and(|note| visit(Item::Text(note))),
            (Special::Ident, Some(meta)) => text(&meta.ident, visit),
            (Special::Boot, Some(meta)) => text(&meta.boot, visit),
            (Special::Invocation, Some(meta)) => text(&meta.invocation, visit),
            (Special::Stream, Some(meta)) => text(meta.stream, visit),
            (Special::Pid, Some(meta)) => meta.pid.is_some_and(|pid| visit(Item::Number(u64::from(pid)))),
            (Special::Priority, Some(meta)) => meta.priority.is_some_and(|p| visit(Item::Number(u64::from(p)))),
            _ => false,
        }
    }
}

/// Empty text is unknown, not a value.
fn text<'a>(fact: &'a str, visit: &mut dyn FnMut(Item<'a>) -> bool) -> bool {
    !fact.is_empty() && visit(Item::Text(fact))
}
