//! What an envelope and a payload format are: the contract behind the tables `ENVELOPES` and `FORMATS`.

use crate::event::{Event, Kind, Outcome};
use crate::stamp::RawStamp;

/// A payload format: what one program writes. It sees clean payload bytes (no envelope, no ANSI escapes, no line end).
#[derive(Debug)]
pub struct Format {
    /// Name in output and in `--format-of`: `sglang`, `dynamo-text`.
    pub name: &'static str,
    /// One line for people: what writes it.
    pub about: &'static str,
    /// What a record's first line looks like, for `corr sources` to say why: "`[YYYY-MM-DD HH:MM:SS` and rank tags".
    pub shape: &'static str,
    /// Does a record of this format begin with this line? Cheap, never allocates; must not be true of other formats' lines.
    pub head: fn(line: &[u8]) -> bool,
    /// Where in this physical line a further record begins (torn writes, a record behind a progress bar), if anywhere.
    pub cut: fn(line: &[u8]) -> Option<usize>,
    /// Did [`Format::parse`] find all prompts and responses that the record holds? Where it did not, a request in the record is looked for as in text
    /// of no format.
    pub bodies_read: fn(event: &Event<'_>) -> bool,
    /// Parses one record (its lines joined by `\n` as they stand).
    pub parse: for<'a> fn(record: &'a [u8], event: &mut Event<'a>) -> Outcome,
    /// Every kind this format can give.
    pub kinds: &'static [&'static Kind],
    /// Sample records with the kind they must get. A format that fails its own samples does not pass its tests.
    pub samples: &'static [(&'static str, &'static str)],
}

/// A container that wraps other programs' lines: journald, docker, CRI. Containers nest: what one holds may itself be an entry of another.
#[derive(Debug)]
pub struct Envelope {
    /// Name in output: `journald-json`.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// What an entry looks like, for `corr sources` to say why.
    pub shape: &'static str,
    /// Does an entry begin with this line? Used to find an entry's start from an offset inside it. An envelope whose every line is an
    /// entry says so of every line.
    pub begins: fn(line: &[u8]) -> bool,
    /// Reads the entry that begins at `bytes[at]` into `entry` (cleared by the caller) and returns how many bytes of the
    /// source it takes: at least 1, at most `bytes.len() - at`. Never panics; damage becomes `Content::Broken`.
    pub read: fn(bytes: &[u8], at: usize, entry: &mut Entry) -> usize,
    /// How many of its entries a sample must hold before it is believed for them alone: 1 where no other program writes the like, more
    /// where a stray line may look so (`0: text`). With fewer it is believed if more records are known inside it than without it.
    pub least: usize,
    /// Its bytes may spell a text otherwise than it reads: JSON escapes, numbers for bytes, `#012`, a line in several parts.
    pub respells: bool,
    /// Where another envelope's entries look the same: does a sample hold what only this one writes?
    pub marks: Option<fn(sample: &[u8]) -> bool>,
    /// It may cut a line into several entries (`Meta::cut`).
    pub cuts: bool,
    /// Its stamps have no year, which only the whole source tells.
    pub yearless: bool,
}

/// One entry out of an envelope. Owned and reused from entry to entry.
#[derive(Debug, Default)]
pub struct Entry {
    /// The wrapped program's bytes, exactly as it wrote them (no line end), empty unless `content` is `Payload`.
    pub text: Vec<u8>,
    /// What the envelope says of it.
    pub meta: Meta,
    /// What the entry is.
    pub content: Content,
}

impl Entry {
    /// Empties it, keeping allocations.
    pub fn clear(&mut self) {
        self.text.clear();
        self.meta.clear();
        self.content = Content::Payload;
    }
}

/// What an envelope's entry holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// A wrapped line.
    #[default]
    Payload,
    /// A line that does not bear the envelope's mark: text is the line itself, and it is read as if it stood bare.
    Bare,
    /// No wrapped line, and known: boot marker, `-- No entries --`. The reason is a fixed phrase.
    Skip(&'static str),
    /// Not an entry of this envelope, or damaged: kept as text, with the reason.
    Broken(&'static str),
}

/// Whether an entry's text is the beginning of a longer line, whose rest is a later entry of the same writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// It is a whole line, or the end of one.
    #[default]
    No,
    /// The envelope says nothing, but the text is as long as the pieces into which it cuts lines.
    Likely,
    /// The envelope says that the line goes on.
    Certain,
}

/// What an envelope says of its entry. Empty strings and `None` mean that this mode does not say.
#[derive(Debug, Default, Clone)]
pub struct Meta {
    /// The stamp that the envelope's text shows (journald: the source's own stamp where there is one).
    pub stamp: Option<RawStamp>,
    /// The envelope's receipt stamp where it has one too (journald `__REALTIME_TIMESTAMP`); of nested envelopes the outer one's stamp.
    pub received: Option<RawStamp>,
    /// Nanoseconds since boot.
    pub monotonic: Option<i64>,
    pub host: String,
    /// systemd unit, container or pod that wrote it; for PID 1's lines the unit they speak of.
    pub unit: String,
    /// Where `unit` comes from: the envelope's own field name.
    pub unit_source: &'static str,
    /// Syslog identifier, process name or container name.
    pub ident: String,
    pub pid: Option<u32>,
    /// syslog priority 0 to 7.
    pub priority: Option<u8>,
    pub boot: String,
    pub invocation: String,
    /// `stdout` or `stderr` where the envelope says.
    pub stream: &'static str,
    /// Further fields, in the envelope's order, worth keeping (`JOB_ID`, `MESSAGE_ID`, `JOB_RESULT`, `CODE_…`).
    pub more: Vec<(String, String)>,
    /// The envelope damaged the payload and says so: blob marker, `null`, cut line.
    pub loss: Option<&'static str>,
    /// The message's exact bytes were not representable in the mode; `text` is what stands there.
    pub lossy: bool,
    /// The line goes on in the next entry of this writer: [`crate::record`] joins them.
    pub cut: Cut,
}

impl Meta {
    /// Empties it, keeping allocations.
    pub fn clear(&mut self) {
        let Meta { host, unit, ident, boot, invocation, more, .. } = self;
        let (mut host, mut unit, mut ident) = (std::mem::take(host), std::mem::take(unit), std::mem::take(ident));
        let (mut boot, mut invocation, mut more) = (std::mem::take(boot), std::mem::take(invocation), std::mem::take(more));
        host.clear();
        unit.clear();
        ident.clear();
        boot.clear();
        invocation.clear();
        more.clear();
        *self = Meta { host, unit, ident, boot, invocation, more, ..Meta::default() };
    }
}

/// For formats of objects, whose members say where a body stands.
pub fn all_bodies(_event: &Event<'_>) -> bool {
    true
}

/// For formats of free text, whose programs may print a request.
pub fn no_bodies(_event: &Event<'_>) -> bool {
    false
}

/// For formats whose lines are never cut in the middle.
pub fn never_cut(_line: &[u8]) -> Option<usize> {
    None
}
