//! Bytes of one source as they come, into observations.
//!
//! A line is given on as soon as it is whole. What may still go on (the last entry of an envelope with entries of several lines, a line
//! that an envelope cut) waits until the next entry begins or nothing has come for a while; a line without its end waits for a second, and
//! is given on then if it says anything.

use std::time::{Duration, Instant};

use corr_parsers::clock::{Aligner, Clock, How, Rule};
use corr_parsers::detect;
use corr_parsers::envelope::journald;
use corr_parsers::event::{Event, Withheld};
use corr_parsers::format::Cut;
use corr_parsers::record::{Layout, Reader, Record};
use corr_parsers::stamp::{Stamp, Zone};
use corr_parsers::text;
use corr_readiness::convert::{Owner, observe};
use corr_readiness::{Cite, Fact, Observation};

use super::zone;

/// An entry of several lines is whole when nothing came for so long.
const QUIET: Duration = Duration::from_millis(100);

/// A line without its end is looked at after so long.
const UNENDED: Duration = Duration::from_secs(1);

/// Bytes of a line, or of lines of which nothing is known, that are held.
const MOST_HELD: usize = 4 << 20;

/// Characters of a line that are kept for people.
const SHOWN: usize = 400;

/// An observation, and its line for people.
#[derive(Debug)]
pub struct Taken {
    pub seen: Observation,
    /// Without what is withheld, and not longer than a screen. Input: to be made safe for a terminal.
    pub text: String,
}

/// How a source is read.
#[derive(Debug)]
pub struct Lines {
    source: u32,
    /// Whose lines these are, where they do not say so themselves.
    owner: Option<String>,
    /// The caller said so: then also where the source could hold lines of others.
    owner_said: bool,
    layout: Option<Layout>,
    /// It is a journal's or syslog's, of many units.
    journal: bool,
    held: Vec<u8>,
    /// Place of `held` in the source.
    at: u64,
    grew: Instant,
    received: i64,
    old: bool,
    /// The unended line was looked at when it was so long; it was given on.
    looked_at: usize,
    /// Bytes of `held` in which no format was seen: they are not looked at again until more come.
    detected_at: usize,
    given: bool,
    outer: Aligner,
    inner: Aligner,
    /// The zone was not said by the caller: receipts may correct it.
    may_shift: bool,
    /// What is added to stamps without a zone, in nanoseconds.
    shift: i64,
    /// The start of the last stamp.
    last: Option<i64>,
    /// Something to tell.
    notes: Vec<String>,
    pub records: u64,
    /// Bytes that were given up.
    pub lost: u64,
}

impl Lines {
    /// For a source of a number. `layout` is given where it is known without looking.
    pub fn new(source: u32, owner: Option<String>, owner_said: bool, layout: Option<Layout>, rule: Option<Rule>) -> Lines {
        let how = if rule.is_some() { How::Declared } else { How::Assumed };
        let clock = Clock { rule: rule.unwrap_or_else(zone::of_machine), how, ..Clock::assumed() };
        let mut lines = Lines {
            source,
            owner,
            owner_said,
            layout: None,
            journal: false,
            held: Vec::new(),
            at: 0,
            grew: Instant::now(),
            received: 0,
            old: true,
            looked_at: 0,
            detected_at: 0,
            given: false,
            outer: Aligner::new(&clock),
            inner: Aligner::new(&clock),
            may_shift: rule.is_none(),
            shift: 0,
            last: None,
            notes: Vec::new(),
            records: 0,
            lost: 0,
        };
        if let Some(layout) = layout {
            lines.laid_out(layout);
        }
        lines
    }

    /// The source's layout is known.
    pub fn laid_out(&mut self, layout: Layout) {
        let outer = layout.envelopes.first().map_or("", |envelope| envelope.name);
        self.journal = outer.starts_with("journald") || outer.starts_with("syslog");
        self.layout = Some(layout);
    }

    /// Its stamps are as much later than they say: found from a file's own time.
    pub fn shifted(&mut self, by: i64) {
        if self.may_shift && self.shift == 0 && by != 0 {
            self.shift = by;
            self.notes.push(zone::note(by));
        }
    }

    /// Takes bytes that stand at `at`, received now.
    pub fn push(&mut self, at: u64, bytes: &[u8], received: i64, old: bool) {
        if self.held.is_empty() {
            self.at = at;
        }
        self.held.extend_from_slice(bytes);
        self.grew = Instant::now();
        (self.received, self.old) = (received, old);
    }

    /// What the source's next bytes do not go on.
    pub fn turned(&mut self, give: &mut dyn FnMut(Taken)) {
        self.whole(true, give);
        if !self.held.is_empty() && !self.given && self.layout.is_some() {
            let end = self.held.len();
            self.read(end, true, give);
        }
        self.held.clear();
        (self.looked_at, self.given, self.detected_at) = (0, false, 0);
    }

    /// Nothing that could be an entry waits for what follows it.
    pub fn idle(&self) -> bool {
        self.layout.is_none() || !self.held.contains(&b'\n')
    }

    /// Something to tell the user, once.
    pub fn note(&mut self) -> Option<String> {
        self.notes.pop()
    }

    /// Gives what is whole by now. To be asked after every push and now and then.
    pub fn take(&mut self, give: &mut dyn FnMut(Taken)) {
        let quiet = self.grew.elapsed();
        self.whole(quiet >= QUIET, give);
        if quiet >= UNENDED && self.held.len() > self.looked_at && self.layout.is_some() && !self.given {
            self.unended(give);
        }
        if self.held.len() > MOST_HELD {
            self.notes.push(format!("{} bytes without a line end, or of no known format, were passed over", self.held.len()));
            self.lost += self.held.len() as u64;
            self.held.clear();
            (self.looked_at, self.given, self.detected_at) = (0, false, 0);
        }
    }

    /// Whole lines.
    fn whole(&mut self, quiet: bool, give: &mut dyn FnMut(Taken)) {
        let Some(end) = self.held.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1) else { return };
        if self.layout.is_none() {
            if end == self.detected_at {
                return;
            }
            self.detected_at = end;
            let found = detect::detect(self.held.get(..end).unwrap_or_default(), false);
            // A stray line, or the first of an envelope that is believed for several only: it waits for what makes it plain.
            if found.formats.is_empty() {
                return;
            }
            self.laid_out(found.layout);
        }
        if self.given {
            // The end of a line that was given on already.
            let line = self.held.iter().position(|byte| *byte == b'\n').map_or(end, |at| at + 1);
            self.drop_first(line);
            (self.looked_at, self.given) = (0, false);
            return self.whole(quiet, give);
        }
        self.read(end, quiet, give);
    }

    fn drop_first(&mut self, bytes: usize) {
        let bytes = bytes.min(self.held.len());
        self.held.drain(..bytes);
        self.at += bytes as u64;
        self.looked_at = 0;
    }

    /// A line without its end: given on if it says anything, else it waits on.
    fn unended(&mut self, give: &mut dyn FnMut(Taken)) {
        self.looked_at = self.held.len();
        let (held, Some(layout)) = (std::mem::take(&mut self.held), self.layout.take()) else { return };
        let mut reader = Reader::new(&held, 0, &layout);
        while let Some(record) = reader.next() {
            let one = self.observed(&record);
            // Of an entry that is not whole, nothing is known.
            if let Some(taken) = one.filter(|taken| taken.seen.fact != Fact::Line) {
                self.given = true;
                give(taken);
            }
        }
        (self.held, self.layout) = (held, Some(layout));
    }

    /// Records up to `end`; the last one only if it is whole.
    fn read(&mut self, end: usize, quiet: bool, give: &mut dyn FnMut(Taken)) {
        let (held, Some(layout)) = (std::mem::take(&mut self.held), self.layout.take()) else { return };
        // An entry of such a source is a line, and no line goes on it.
        let by_line = layout.envelopes.first().is_none_or(|outer| (outer.begins)(b"") || outer.name == journald::JSON.name);
        let mut done = 0;
        let mut reader = Reader::new(held.get(..end).unwrap_or(&held), 0, &layout);
        while let Some(record) = reader.next() {
            let last = record.offset + record.len >= end;
            let goes_on = !by_line || record.meta.is_some_and(|meta| meta.cut != Cut::No);
            if last && goes_on && !quiet {
                break;
            }
            done = record.offset + record.len;
            if let Some(taken) = self.observed(&record) {
                give(taken);
            }
        }
        (self.held, self.layout) = (held, Some(layout));
        self.drop_first(done);
    }

    fn observed(&mut self, record: &Record<'_>) -> Option<Taken> {
        let mut event = Event::new(&text::kinds::TEXT);
        record.parse(&mut event);
        self.records += 1;
        let wall = self.wall(record, &event);
        let at = self.at + record.offset as u64;
        let cite = Cite { source: self.source, offset: at, len: u32::try_from(record.len).unwrap_or(u32::MAX) };
        // A journal names units; everybody else names, if anything, containers and tasks.
        let journal = self.journal;
        let owner = self.owner.as_deref().filter(|_| !journal || self.owner_said).unwrap_or_default().to_owned();
        let mut seen = observe(cite, record, &event, wall, Owner { host: "", unit: &owner })?;
        if !journal && !owner.is_empty() {
            seen.unit = owner;
        }
        Some(Taken { seen, text: shown(record.payload, &event.withheld) })
    }

    /// The stamp of a record, no later than its receipt; for a line of a process without a stamp, from the last stamp before it.
    fn wall(&mut self, record: &Record<'_>, event: &Event<'_>) -> Option<Stamp> {
        let envelope = record.meta.and_then(|meta| meta.stamp);
        let monotonic = record.meta.is_some_and(|meta| meta.monotonic.is_some());
        let raw = match envelope {
            Some(raw) => Some((raw, true)),
            None if monotonic => None,
            None => event.stamp.map(|raw| (raw, false)),
        };
        let received = (!self.old).then_some(self.received);
        let stamp = raw.and_then(|(raw, outer)| {
            let raw = zone::with_year(raw, self.received)?;
            let aligner = if outer { &mut self.outer } else { &mut self.inner };
            let stamp = aligner.stamp(&raw)?;
            if raw.zone == Zone::Naive {
                if self.shift == 0
                    && self.may_shift
                    && let Some(by) = received.and_then(|received| zone::shift(stamp, received))
                {
                    self.shift = by;
                    self.notes.push(zone::note(by));
                }
                return Some(moved(stamp, self.shift));
            }
            Some(stamp)
        });
        let Some(stamp) = stamp else {
            // Printed after what stands before it, and before it was read.
            let (last, received) = (self.last?, received?);
            return (record.meta.is_none() && last < received).then(|| Stamp { start: last, end: received.saturating_add(1) });
        };
        self.last = Some(stamp.start);
        let latest = received.map(|received| received.saturating_add(1)).filter(|latest| *latest > stamp.start);
        Some(Stamp { end: latest.map_or(stamp.end, |latest| stamp.end.min(latest)), ..stamp })
    }
}

fn moved(stamp: Stamp, by: i64) -> Stamp {
    Stamp { start: stamp.start.saturating_add(by), end: stamp.end.saturating_add(by) }
}

/// The beginning of a payload, with what is withheld named and not shown.
fn shown(payload: &[u8], withheld: &[Withheld]) -> String {
    let mut spans: Vec<&Withheld> = withheld.iter().collect();
    spans.sort_by_key(|withheld| withheld.span.start);
    let mut out = String::new();
    let mut at = 0;
    for hidden in spans {
        if hidden.span.end <= at || out.len() > SHOWN {
            continue;
        }
        out.push_str(&String::from_utf8_lossy(payload.get(at..hidden.span.start.max(at)).unwrap_or_default()));
        out.push_str(&format!("‹{} withheld›", hidden.name));
        at = hidden.span.end;
    }
    // Four bytes a character at most, and what was shown already.
    let rest = payload.get(at..).unwrap_or_default();
    out.push_str(&String::from_utf8_lossy(rest.get(..SHOWN * 4).unwrap_or(rest)));
    let line = out.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(SHOWN).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
