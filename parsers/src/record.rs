//! Bytes of a source into records: every byte belongs to exactly one record.
//!
//! Where a record begins is decided from its own line (a head, or not a continuation) and, in a run of a megabyte of lines that go on,
//! from where that line stands in the source. So the record around any offset is found by walking back a bounded number of lines, and
//! a search that jumps into the middle of a source sees the same records as a full read.

mod ansi;
mod lines;
mod nest;
mod pieces;
#[cfg(test)]
mod tests;

pub use ansi::{escape_len, strip_ansi};
use memchr::memchr;

use self::pieces::Level;
use crate::event::{Event, Outcome, Secret};
use crate::format::{Content, Cut, Entry, Envelope, Format, Meta};
use crate::{secret, systemd, text};

/// A line that would go on a record begins one if it holds a multiple of this offset, and no record has begun by itself since the
/// multiple before: a record is of at most twice this size and a line.
pub const MAX_CONTINUED: usize = 1 << 20;

/// How a source is to be read: what detection found, or the user said.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// What wraps the lines, outermost first; empty for a bare source.
    pub envelopes: Vec<&'static Envelope>,
    /// Payload formats that this source holds, the commonest first. Lines of none of them are text.
    pub formats: Vec<&'static Format>,
    /// The whole source is one record (a JSON document).
    pub document: bool,
}

impl Layout {
    /// May a line stand in several entries?
    fn cuts(&self) -> bool {
        self.envelopes.iter().any(|e| e.cuts)
    }

    /// The names of the envelopes, as people read them: `cri > srun`.
    pub fn wrapped_in(&self) -> Option<String> {
        if self.envelopes.is_empty() {
            return None;
        }
        Some(self.envelopes.iter().map(|e| e.name).collect::<Vec<_>>().join(" > "))
    }
}

/// One record: where it stands and what it holds.
#[derive(Debug)]
pub struct Record<'r> {
    /// Byte offset in the (decompressed) source.
    pub offset: usize,
    /// Length in bytes, line end included.
    pub len: usize,
    /// Clean payload: envelope peeled, ANSI escapes and trailing line ends removed.
    pub payload: &'r [u8],
    /// `payload` is a plain sub-slice of the source that begins at this offset; `None` if it was decoded.
    pub payload_at: Option<usize>,
    /// What the envelope says; `None` for a bare source.
    pub meta: Option<&'r Meta>,
    /// What the envelope made of the entry; `Payload` for a bare source.
    pub content: Content,
    /// The format whose head the payload has; `None` for foreign text.
    pub format: Option<&'static Format>,
    /// From this byte of `payload` on, it is the rest of a line whose beginning is not here: the envelope cut the line, and another
    /// writer's entry or a loss parts the pieces. Nothing tells what such a text is, so it is withheld.
    pub rest: Option<usize>,
}

impl<'r> Record<'r> {
    /// Parses the payload. The event is complete whatever the outcome: an unparsed record is of kind `text`.
    pub fn parse(&self, event: &mut Event<'r>) -> Outcome {
        let mut outcome = self.read_all(event);
        if let Some(at) = self.request(event) {
            // Read again as if it ended there: no field may repeat what follows.
            text::plain(self.payload, event);
            outcome = self.read(&self.payload[..at], event);
            event.columnar = false;
            event.keyed = false;
            event.withhold(at..self.payload.len(), Secret::Body, "request");
        }
        secret::scrub(self.payload, event);
        outcome
    }

    /// Where a request's body begins that the record's own format did not read.
    fn request(&self, event: &Event<'_>) -> Option<usize> {
        let is_read = self.format.is_some_and(|format| (format.bodies_read)(event));
        if event.keyed || is_read || matches!(self.content, Content::Skip(_)) {
            return None;
        }
        let at = text::request_begins(self.payload)?;
        let is_hidden = event.withheld.iter().any(|withheld| withheld.span.contains(&at));
        if is_hidden { None } else { Some(at) }
    }

    fn read_all(&self, event: &mut Event<'r>) -> Outcome {
        let Some(rest) = self.rest else {
            return self.read(self.payload, event);
        };
        let mut outcome = Outcome::Unparsed("rest of a line that its envelope cut");
        if rest == 0 {
            text::plain(self.payload, event);
        } else {
            outcome = self.read(&self.payload[..rest], event);
            event.columnar = false;
            event.keyed = false;
        }
        event.withhold(rest..self.payload.len(), Secret::Body, "rest of a cut line");
        outcome
    }

    fn read(&self, payload: &'r [u8], event: &mut Event<'r>) -> Outcome {
        match self.content {
            Content::Payload | Content::Bare => {}
            Content::Skip(reason) => {
                text::plain(payload, event);
                event.kind = &text::kinds::MARKER;
                return Outcome::Skipped(reason);
            }
            Content::Broken(reason) => {
                // The rest of a record can stand in what is left of a damaged entry: it is withheld as a bare one is.
                let _ = text::parse(payload, event);
                event.kind = &text::kinds::TEXT;
                return Outcome::Unparsed(reason);
            }
        }
        if payload.iter().all(u8::is_ascii_whitespace) {
            if let Some(loss) = self.meta.and_then(|meta| meta.loss) {
                text::plain(payload, event);
                return Outcome::Unparsed(loss);
            }
            event.kind = &text::kinds::BLANK;
            return Outcome::Skipped("blank line");
        }
        let Some(format) = self.format else {
            return text::parse(payload, event);
        };
        let outcome = (format.parse)(payload, event);
        if let Outcome::Unparsed(_) = outcome {
            // What could be read of damage stays: above all, what is withheld stays withheld.
            let (stamp, level) = (event.stamp, event.level);
            let (ids, withheld) = (std::mem::take(&mut event.ids), std::mem::take(&mut event.withheld));
            text::plain(payload, event);
            (event.stamp, event.level, event.ids, event.withheld) = (stamp, level, ids, withheld);
        }
        outcome
    }
}

/// Reads a source record by record from any record start.
#[derive(Debug)]
pub struct Reader<'s> {
    bytes: &'s [u8],
    at: usize,
    layout: &'s Layout,
    entry: Entry,
    /// What follows a cut line.
    next: Entry,
    /// For envelopes inside the outermost one.
    spare: Entry,
    /// Lines whose rest is still to come; `None` until it is needed by a reader that began in mid-source.
    open: Option<pieces::Open>,
    clean: Vec<u8>,
    /// The part behind the last record, which was looked at to end it.
    ahead: Option<lines::Part>,
    /// [`MAX_CONTINUED`], less in tests.
    span: usize,
}

impl<'s> Reader<'s> {
    /// Starts at offset `at`, which must be 0 or a record's start (see [`record_start`]).
    pub fn new(bytes: &'s [u8], at: usize, layout: &'s Layout) -> Reader<'s> {
        Reader {
            bytes,
            at: at.min(bytes.len()),
            layout,
            entry: Entry::default(),
            next: Entry::default(),
            spare: Entry::default(),
            open: if at == 0 { Some(pieces::Open::default()) } else { None },
            clean: Vec::new(),
            ahead: None,
            span: MAX_CONTINUED,
        }
    }

    /// Where the next record begins.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The next record, or `None` at the end of the source.
    #[allow(clippy::should_implement_trait)] // lends from itself, which Iterator cannot
    pub fn next(&mut self) -> Option<Record<'_>> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let offset = self.at;
        if self.layout.document {
            self.at = self.bytes.len();
            let payload = trim_end(&self.bytes[offset..]);
            let format = head_format(payload, &self.layout.formats);
            return Some(Record {
                offset,
                len: self.at - offset,
                payload,
                payload_at: Some(offset),
                meta: None,
                content: Content::Payload,
                format,
                rest: None,
            });
        }
        if let [outer, inner @ ..] = &self.layout.envelopes[..] {
            return Some(self.enveloped(outer, inner, offset));
        }
        let format = self.bare(offset);
        let len = self.at - offset;
        let raw = trim_end(&self.bytes[offset..offset + len]);
        let lead = lead(raw);
        let raw = &raw[lead..];
        let (payload, payload_at) = if memchr(0x1b, raw).is_some() {
            strip_ansi(raw, &mut self.clean);
            (&self.clean[..], None)
        } else {
            (raw, Some(offset + lead))
        };
        Some(Record { offset, len, payload, payload_at, meta: None, content: Content::Payload, format, rest: None })
    }

    /// Reads the parts of the bare record at `offset`; returns its format.
    fn bare(&mut self, offset: usize) -> Option<&'static Format> {
        let formats = &self.layout.formats;
        let first = self.ahead.take().unwrap_or_else(|| lines::read(self.bytes, offset, formats));
        self.at = offset + first.len;
        while !first.cut && self.at < self.bytes.len() {
            let part = lines::read(self.bytes, self.at, formats);
            let far = lines::boundary(self.at, self.at + part.len, self.span).is_some_and(|b| !first.starts || offset + self.span < b);
            if part.starts || far {
                self.ahead = Some(part);
                break;
            }
            self.at += part.len;
        }
        first.format
    }

    fn enveloped(&mut self, outer: &'static Envelope, inner: &'s [&'static Envelope], offset: usize) -> Record<'_> {
        let Taken { is_rest, mut rest, writers } = self.take(outer, inner, offset);
        if matches!(self.entry.content, Content::Skip(_) | Content::Broken(_)) && self.entry.text.is_empty() {
            let raw = trim_end(&self.bytes[offset..self.at]);
            self.entry.text.extend_from_slice(raw);
        }
        let text = &mut self.entry.text;
        if memchr(0x1b, text).is_some() {
            let at = rest.unwrap_or(text.len());
            strip_ansi(&text[..at], &mut self.clean);
            let rest_text = text.split_off(at);
            std::mem::swap(&mut self.clean, text);
            strip_ansi(&rest_text, &mut self.clean);
            rest = rest.map(|_| text.len());
            text.extend_from_slice(&self.clean);
        }
        let payload = trim_end(&self.entry.text);
        let lead = lead(payload);
        let mut payload = &payload[lead..];
        rest = rest.map(|at| at.saturating_sub(lead).min(payload.len()));
        let content = self.entry.content;
        let mut format = match content {
            Content::Payload | Content::Bare => {
                written_format(&payload[..rest.unwrap_or(payload.len())], &self.entry.meta, &self.layout.formats)
            }
            Content::Skip(_) | Content::Broken(_) => None,
        };
        if format.is_none()
            && rest.is_none()
            && let Some(at) = behind_progress(payload, content, &self.layout.formats)
        {
            payload = &payload[at..];
            format = written_format(payload, &self.entry.meta, &self.layout.formats);
        }
        if content == Content::Payload && format.is_none() {
            let is_rest = is_rest.unwrap_or_else(|| {
                if !self.layout.cuts() {
                    return false;
                }
                let mut open = pieces::Open::before(self.bytes, offset, outer, inner);
                let is_rest = open.holds(writers, offset);
                open.read(self.bytes, offset, self.at, outer, inner);
                self.open = Some(open);
                is_rest
            });
            if is_rest {
                rest = Some(0);
            }
        }
        let rest = rest.filter(|at| *at < payload.len());
        Record { offset, len: self.at - offset, payload, payload_at: None, meta: Some(&self.entry.meta), content, format, rest }
    }

    /// Reads the entry at `offset` and those that go on its line.
    fn take(&mut self, outer: &Envelope, inner: &[&'static Envelope], offset: usize) -> Taken {
        self.at = pieces::read(self.bytes, offset, outer, &mut self.entry);
        let mut taken = Taken::default();
        match &mut self.open {
            Some(open) => taken.is_rest = Some(open.note(&self.entry, Level::Outer, offset, self.at)),
            None => taken.writers[0] = pieces::writer(&self.entry.meta, Level::Outer),
        }
        if self.entry.content == Content::Payload && self.entry.meta.cut != Cut::No {
            taken.rest = self.join(outer, inner, Level::Outer, offset);
            if !inner.is_empty() {
                // Which piece a mark inside of it speaks of is not known.
                let cut = self.entry.meta.cut;
                nest::peel(inner, &mut self.entry, &mut self.spare);
                self.entry.meta.cut = cut;
            }
        } else if !inner.is_empty() {
            nest::peel(inner, &mut self.entry, &mut self.spare);
            match &mut self.open {
                Some(open) => {
                    let is_rest = open.note(&self.entry, Level::Inner, offset, self.at);
                    taken.is_rest = taken.is_rest.map(|known| known || is_rest);
                }
                None => taken.writers[1] = pieces::writer(&self.entry.meta, Level::Inner),
            }
            if self.entry.content == Content::Payload && self.entry.meta.cut != Cut::No {
                taken.rest = self.join(outer, inner, Level::Inner, offset);
            }
        }
        taken
    }

    /// Joins the entries that go on the line that begins at `start`. Returns from where on its text cannot be understood because a piece before
    /// is lost.
    fn join(&mut self, outer: &Envelope, inner: &[&'static Envelope], level: Level, start: usize) -> Option<usize> {
        let (mut rest, mut start) = (None, start);
        while self.entry.meta.cut != Cut::No {
            let Some((next, end)) = pieces::next(self.bytes, self.at, outer, &mut self.next) else { break };
            if level == Level::Inner {
                if self.next.meta.cut != Cut::No {
                    break;
                }
                nest::peel(inner, &mut self.next, &mut self.spare);
            }
            let piece = pieces::Piece { level, start, next_start: next, inner };
            if !pieces::goes_on(&self.entry.meta, &self.next, piece, &self.layout.formats) {
                break;
            }
            if let Some(open) = &mut self.open {
                open.note(&self.next, level, next, end);
            }
            if rest.is_none() {
                if self.entry.meta.lossy || self.next.meta.lossy {
                    rest = Some(self.entry.text.len());
                }
                if !self.entry.meta.lossy {
                    self.entry.meta.loss = self.next.meta.loss;
                }
            }
            self.entry.text.extend_from_slice(&self.next.text);
            self.entry.meta.lossy |= self.next.meta.lossy;
            self.entry.meta.cut = self.next.meta.cut;
            (start, self.at) = (next, end);
        }
        rest
    }
}

/// What is known of an entry that was read.
#[derive(Debug, Default)]
struct Taken {
    /// It is the rest of a line that began elsewhere; `None` in a reader that does not know what stands before it.
    is_rest: Option<bool>,
    /// From here on its text cannot be understood.
    rest: Option<usize>,
    /// Who wrote it, by the outer and by the inner envelopes, where `is_rest` is not known.
    writers: [u64; 2],
}

/// Where in an entry's text a record stands behind a progress bar, which ends without a line end. In a bare source the two are a record each;
/// an entry is one, and its payload is what says more.
fn behind_progress(payload: &[u8], content: Content, formats: &[&'static Format]) -> Option<usize> {
    if !matches!(content, Content::Payload | Content::Bare) || memchr(b'%', payload).is_none() {
        return None;
    }
    let at = lines::nearest(payload, formats)?;
    text::is_progress(trim_end(&payload[..at])).then_some(at)
}

/// The first format of `formats` that has `line` as its head.
pub fn head_format(line: &[u8], formats: &[&'static Format]) -> Option<&'static Format> {
    formats.iter().find(|f| (f.head)(line)).copied()
}

/// The format of an enveloped payload: systemd's own messages go by the writer that the envelope names, all others by their head.
fn written_format(payload: &[u8], meta: &Meta, formats: &[&'static Format]) -> Option<&'static Format> {
    let is_systemd = |format: &Format| format.name == systemd::SYSTEMD.name;
    match systemd::writes(meta, payload) {
        Some(true) => formats.iter().find(|f| is_systemd(f)).copied().or_else(|| head_format(payload, formats)),
        Some(false) => formats.iter().find(|f| !is_systemd(f) && (f.head)(payload)).copied(),
        None => head_format(payload, formats),
    }
}

/// The start of the record that holds byte `at` of a source (`at < bytes.len()`).
pub fn record_start(bytes: &[u8], at: usize, layout: &Layout) -> usize {
    if layout.document || bytes.is_empty() {
        return 0;
    }
    let at = at.min(bytes.len() - 1);
    let [outer, inner @ ..] = &layout.envelopes[..] else { return bare_start(bytes, at, &layout.formats, MAX_CONTINUED) };
    let mut start = pieces::entry_line(bytes, at, outer);
    if layout.cuts() {
        start = pieces::first(bytes, start, outer, inner, &layout.formats);
    }
    // Forward to the record that holds `at`. Only where entries end is asked, not what they hold.
    let mut reader = Reader::new(bytes, start, layout);
    let mut found = start;
    while reader.offset() <= at {
        found = reader.offset();
        reader.take(outer, inner, found);
    }
    found
}

/// [`record_start`] in a bare source: back to the nearest part that starts a record by itself, or to a line that is too far from one.
fn bare_start(bytes: &[u8], at: usize, formats: &[&'static Format], span: usize) -> usize {
    let (mut start, mut part) = lines::holding(bytes, at, formats);
    // The nearest line that holds a boundary, and from where on a record must begin by itself for that line to go on it.
    let mut limit: Option<(usize, usize)> = None;
    loop {
        if limit.is_none() && !part.starts {
            limit = lines::boundary(start, start + part.len, span).filter(|b| *b > 0).map(|b| (start, b - span));
        }
        match limit {
            Some((line, from)) if part.starts => return if start < from { line } else { start },
            Some((line, from)) if start <= from => return line,
            _ if part.starts || start == 0 => return start,
            _ => {}
        }
        (start, part) = lines::holding(bytes, start - 1, formats);
    }
}

/// Length of the line at `bytes[0]`, `\n` included.
pub fn line_len(bytes: &[u8]) -> usize {
    memchr(b'\n', bytes).map_or(bytes.len(), |i| i + 1)
}

/// Start of the physical line that holds byte `at`.
pub fn line_start(bytes: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |i| i + 1)
}

/// How many bytes stand before a record's text: line ends and carriage returns, and a byte-order mark (at the start of a file, or where files were joined).
fn lead(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += bytes[at..].iter().take_while(|b| **b == b'\r' || **b == b'\n').count();
        if !bytes[at..].starts_with(b"\xef\xbb\xbf") {
            return at;
        }
        at += 3;
    }
}

/// Without trailing `\n` and `\r`.
pub fn trim_end(mut bytes: &[u8]) -> &[u8] {
    while let [rest @ .., b'\n' | b'\r'] = bytes {
        bytes = rest;
    }
    bytes
}
