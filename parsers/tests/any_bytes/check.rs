//! What holds of every envelope and every format, whatever the bytes. Property tests and fuzz targets run the same.

use std::sync::LazyLock;

use corr_parsers::declared::{self, Definition};
use corr_parsers::detect::{Score, detect};
use corr_parsers::event::{Event, Kind, Outcome, Value};
use corr_parsers::format::{Cut, Entry, Envelope, Format, Meta};
use corr_parsers::record::{self, Layout, Reader, record_start};
use corr_parsers::stamp::{RawStamp, Zone};
use corr_parsers::{ENVELOPES, FORMATS, text};

use super::seeds;

/// What is checked: an entry of one of the two tables, or what is made of them.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    Envelope(&'static Envelope),
    Format(&'static Format),
    /// Envelopes inside each other, which the first bytes name.
    Nested,
    /// Formats that a user declared.
    Declared,
    /// Whatever detection takes the bytes for.
    Detection,
}

impl Target {
    /// All of them: one an entry of the tables, and the three others.
    pub fn all() -> impl Iterator<Item = Target> {
        let envelopes = ENVELOPES.iter().map(|e| Target::Envelope(e));
        let formats = FORMATS.iter().map(|f| Target::Format(f));
        envelopes.chain(formats).chain([Target::Nested, Target::Declared, Target::Detection])
    }

    /// The name of its fuzz target.
    pub fn name(self) -> String {
        match self {
            Target::Envelope(envelope) => format!("envelope-{}", envelope.name),
            Target::Format(format) => format!("format-{}", format.name),
            Target::Nested => "nested".into(),
            Target::Declared => "declared".into(),
            Target::Detection => "detection".into(),
        }
    }

    /// Panics if anything does not hold.
    pub fn check(self, bytes: &[u8]) {
        match self {
            Target::Envelope(one) => {
                envelope(one, bytes);
                layout(bytes, &Layout { envelopes: vec![one], formats: FORMATS.to_vec(), document: false });
            }
            Target::Format(one) => {
                format(one, bytes);
                layout(bytes, &Layout { formats: vec![one], ..Layout::default() });
                layout(bytes, &Layout { formats: FORMATS.to_vec(), ..Layout::default() });
                layout(bytes, &Layout { formats: vec![one], document: true, ..Layout::default() });
            }
            Target::Nested => {
                let Some((names, bytes)) = bytes.split_first_chunk::<NAMED>() else { return };
                layout(bytes, &Layout { envelopes: named(names), formats: FORMATS.to_vec(), document: false });
            }
            Target::Declared => {
                for one in USER.iter() {
                    format(one, bytes);
                }
                layout(bytes, &Layout { formats: declared::ordered(FORMATS.to_vec(), &USER), ..Layout::default() });
            }
            Target::Detection => detection(bytes),
        }
    }
}

/// So many bytes of a nested source name its envelopes.
pub const NAMED: usize = 3;

/// Two envelopes, or three if the last byte is even.
fn named(names: &[u8; NAMED]) -> Vec<&'static Envelope> {
    let mut envelopes: Vec<&'static Envelope> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let envelope = ENVELOPES[usize::from(*name) % ENVELOPES.len()];
        let wanted = i < 2 || name % 2 == 0;
        if wanted && !envelopes.iter().any(|e| e.name == envelope.name) {
            envelopes.push(envelope);
        }
    }
    envelopes
}

/// The formats that [`seeds::definitions`] declares.
static USER: LazyLock<Vec<&'static Format>> = LazyLock::new(|| {
    let load = |definition: &Definition| declared::load(definition).unwrap_or_else(|problem| panic!("{problem}"));
    seeds::definitions().iter().map(load).collect()
});

/// An envelope reads any bytes, entry by entry and from the start of any line.
fn envelope(envelope: &Envelope, bytes: &[u8]) {
    let mut entry = Entry::default();
    let mut at = 0;
    while at < bytes.len() {
        entry.clear();
        let len = (envelope.read)(bytes, at, &mut entry);
        assert!(len >= 1 && len <= bytes.len() - at, "takes {len} of {} at {at}", bytes.len() - at);
        entry_holds(envelope, &entry, len);
        at += len;
    }
    at = 0;
    for _ in 0..MAX_LINES {
        if at >= bytes.len() {
            break;
        }
        let end = at + record::line_len(&bytes[at..]);
        let _ = (envelope.begins)(&bytes[at..end]);
        let _ = (envelope.begins)(record::trim_end(&bytes[at..end]));
        entry.clear();
        let len = (envelope.read)(bytes, at, &mut entry);
        assert!(len >= 1 && len <= bytes.len() - at, "takes {len} of {} at line {at}", bytes.len() - at);
        entry_holds(envelope, &entry, len);
        at = end;
    }
    if let Some(marks) = envelope.marks {
        let _ = marks(bytes);
    }
}

/// So many lines are tried as beginnings.
const MAX_LINES: usize = 64;

/// What is said of an entry that takes `len` bytes.
fn entry_holds(envelope: &Envelope, entry: &Entry, len: usize) {
    // A byte of an export or of a JSON text is never more than three of it (U+FFFD for one that is no UTF-8).
    assert!(entry.text.len() <= 3 * len + 16, "a text of {} bytes out of {len}", entry.text.len());
    assert!(meta_text(&entry.meta) <= 8 * len + 256, "{} bytes said of {len}", meta_text(&entry.meta));
    assert!(envelope.cuts || entry.meta.cut == Cut::No, "cuts without saying so");
    meta_holds(&entry.meta);
    for stamp in [entry.meta.stamp, entry.meta.received].into_iter().flatten() {
        stamp_holds(&stamp, len);
    }
}

fn meta_holds(meta: &Meta) {
    assert!(meta.priority.is_none_or(|p| p <= 7), "priority {:?}", meta.priority);
    assert!(meta.unit.is_empty() || !meta.unit_source.is_empty(), "a unit from nowhere");
}

/// How much an envelope's words about an entry take.
fn meta_text(meta: &Meta) -> usize {
    let Meta { host, unit, ident, boot, invocation, more, .. } = meta;
    let texts: usize = [host, unit, ident, boot, invocation].iter().map(|t| t.len()).sum();
    texts + more.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
}

fn stamp_holds(stamp: &RawStamp, len: usize) {
    assert!(stamp.at as usize + stamp.len as usize <= len, "{stamp:?} in {len} bytes");
    assert!(stamp.width >= 1, "{stamp:?}");
    if let Zone::Offset(east) = stamp.zone {
        assert!(east.abs() < 16 * 3600, "{stamp:?}");
    }
}

/// A format's functions read any bytes, also those that are no record of it.
fn format(format: &'static Format, bytes: &[u8]) {
    for line in bytes.split_inclusive(|b| *b == b'\n').take(MAX_LINES) {
        let _ = (format.head)(line);
        if let Some(at) = (format.cut)(line) {
            assert!(at <= line.len(), "a cut at {at} of {}", line.len());
        }
    }
    let payload = record::trim_end(bytes);
    let mut event = Event::new(&text::kinds::TEXT);
    let outcome = (format.parse)(payload, &mut event);
    event_holds(payload, &event);
    if outcome == Outcome::Parsed {
        assert!(format.kinds.contains(&event.kind) || is_text(event.kind), "{} is no kind of {}", event.kind.name, format.name);
    }
}

fn is_text(kind: &Kind) -> bool {
    text::kinds::KINDS.iter().any(|k| **k == *kind)
}

/// What is said of an event, whatever its format.
fn event_holds(payload: &[u8], event: &Event<'_>) {
    let inside = |span: &std::ops::Range<usize>| span.start <= span.end && span.end <= payload.len();
    assert!(inside(&event.message), "message {:?} of {}", event.message, payload.len());
    for withheld in &event.withheld {
        assert!(inside(&withheld.span), "{withheld:?} of {}", payload.len());
        assert!(!withheld.name.is_empty());
    }
    if let Some(stamp) = &event.stamp {
        stamp_holds(stamp, payload.len());
    }
    let mut size = 0;
    for field in &event.fields {
        size += field.name.len() + field.raw.len() + 16;
        match &field.value {
            Value::Str(text) => size += text.len(),
            Value::UInt(n) => assert!(*n > i64::MAX as u64, "{field:?}"),
            Value::Float(n) => assert!(n.is_finite(), "{field:?}"),
            Value::Int(_) | Value::Bool(_) => {}
        }
    }
    for id in &event.ids {
        assert!(!id.text.is_empty(), "{id:?}");
        size += id.text.len() + 16;
    }
    size += 16 * event.withheld.len();
    assert!(size <= 64 * payload.len() + 1024, "{size} bytes of values out of {}", payload.len());
    assert!(!event.keyed || (event.columnar && event.ids.is_empty()), "keyed, but not columnar or with ids");
}

/// A record, as a read from elsewhere must see it too.
#[derive(Debug, PartialEq)]
struct Told {
    offset: usize,
    len: usize,
    payload: u64,
    rest: Option<usize>,
    format: Option<&'static str>,
    kind: &'static str,
    outcome: Outcome,
}

/// Reads at most `most` records from `at`, checking each.
fn read_from(bytes: &[u8], at: usize, layout: &Layout, most: usize) -> Vec<Told> {
    let mut reader = Reader::new(bytes, at, layout);
    let mut all = Vec::new();
    while all.len() < most {
        let Some(record) = reader.next() else { break };
        assert!(record.len >= 1, "an empty record at {}", record.offset);
        assert!(record.rest.is_none_or(|at| at <= record.payload.len()), "{record:?}");
        if let Some(start) = record.payload_at {
            assert_eq!(bytes.get(start..start + record.payload.len()), Some(record.payload), "a payload that stands elsewhere");
            assert!(start >= record.offset && start + record.payload.len() <= record.offset + record.len);
        }
        if let Some(meta) = record.meta {
            meta_holds(meta);
            assert!(meta_text(meta) <= 8 * record.len + 256, "{} bytes said of {}", meta_text(meta), record.len);
        }
        assert!(record.payload.len() <= 3 * record.len + 16, "a payload of {} bytes out of {}", record.payload.len(), record.len);
        let mut event = Event::new(&text::kinds::TEXT);
        let outcome = record.parse(&mut event);
        event_holds(record.payload, &event);
        if let Outcome::Unparsed(_) = outcome {
            assert!(is_text(event.kind), "unparsed, and of kind {}", event.kind.name);
        }
        all.push(Told {
            offset: record.offset,
            len: record.len,
            payload: hash(record.payload),
            rest: record.rest,
            format: record.format.map(|f| f.name),
            kind: event.kind.name,
            outcome,
        });
    }
    all
}

fn hash(bytes: &[u8]) -> u64 {
    // FNV: nothing here is hostile, and it is short.
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

/// Jumps are tried to so many records, and reads from so many.
const MAX_JUMPS: usize = 6;

/// Every byte is in one record, and a jump to any byte sees the records that a read from the start sees.
fn layout(bytes: &[u8], layout: &Layout) {
    let all = read_from(bytes, 0, layout, usize::MAX);
    let mut at = 0;
    for record in &all {
        assert_eq!(record.offset, at, "bytes between records, {:?}", layout.wrapped_in());
        at += record.len;
    }
    assert_eq!(at, bytes.len(), "records end before the source, {:?}", layout.wrapped_in());
    if bytes.len() > 1 && !layout.document {
        grown(bytes, 1 + hash(bytes) as usize % (bytes.len() - 1), &all, layout);
    }
    let step = all.len().div_ceil(MAX_JUMPS).max(1);
    for (i, record) in all.iter().enumerate().skip(bytes.len() % step).step_by(step) {
        for inside in [0, record.len / 2, record.len - 1] {
            let start = record_start(bytes, record.offset + inside, layout);
            assert_eq!(start, record.offset, "a jump to {}, {:?}", record.offset + inside, layout.wrapped_in());
        }
        let again = read_from(bytes, record.offset, layout, 4);
        assert_eq!(again, all[i..(i + 4).min(all.len())], "a read from {}, {:?}", record.offset, layout.wrapped_in());
    }
}

/// A source that grew keeps its records up to the last one that begins where it did (`store/reopen.rs` goes on from there).
fn grown(bytes: &[u8], size: usize, all: &[Told], layout: &Layout) {
    let old = &bytes[..size];
    let mut from = record_start(old, size - 1, layout);
    while from > 0 && record_start(bytes, from, layout) != from {
        from = record_start(old, from - 1, layout);
    }
    let before = read_from(old, 0, layout, usize::MAX);
    let kept = before.iter().take_while(|r| r.offset < from);
    let same = all.iter().take_while(|r| r.offset < from);
    assert!(kept.eq(same), "other records before {from} when it was of {size} bytes, {:?}", layout.wrapped_in());
}

/// What bytes are taken for is a layout that reads them, with scores that are shares.
fn detection(bytes: &[u8]) {
    let Some((whole, bytes)) = bytes.split_first() else { return };
    let found = detect(bytes, whole % 2 == 0);
    let is_share = |score: &Score| score.share > 0.0 && score.share <= 1.0 && !score.reason.is_empty();
    assert!(found.envelopes.iter().chain(&found.formats).all(is_share), "{found:?}");
    assert_eq!(found.layout.formats.len(), FORMATS.len());
    layout(bytes, &found.layout);
}
