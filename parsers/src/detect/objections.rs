//! What each envelope and format that was not chosen objected to. Asked for by people alone, so it reads the sample again, candidate by candidate.

use super::{Detection, MAX_ENTRIES, MAX_RECORDS, is_timeless, whole_lines};
use crate::format::{Content, Entry, Envelope, Format};
use crate::record::{Layout, Reader};
use crate::{ENVELOPES, FORMATS, declared};

/// A candidate that was rejected, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Objection {
    pub name: &'static str,
    /// `envelope` or `format`.
    pub what: &'static str,
    /// How many of the chosen envelopes stand around what it was tried on. Of several depths the one where it explains most.
    pub depth: usize,
    /// Of so many entries (an envelope's) or records (a format's) of the sample …
    pub of: usize,
    /// … it does not take so many.
    pub not_taken: usize,
    /// Byte of the sample where the first of those stands; `None` if there is none.
    pub first: Option<usize>,
    /// A fixed phrase; empty if there is no more to say than that its shape is another.
    pub reason: &'static str,
    /// What it would take.
    pub shape: &'static str,
}

/// Of every envelope and format that `detection` did not choose, what it objected to in the sample that was looked at: envelopes first, in the
/// order of their tables. `user` are the formats that a run's users declared.
pub fn objections(sample: &[u8], whole: bool, user: &[&'static Format], detection: &Detection) -> Vec<Objection> {
    let sample = whole_lines(sample, whole);
    let chosen = &detection.layout.envelopes;
    let levels: Vec<Level> = (0..=chosen.len()).map(|depth| Level::new(sample, &chosen[..depth])).collect();
    let mut out: Vec<Objection> = Vec::new();
    for envelope in ENVELOPES.iter().filter(|e| !chosen.iter().any(|c| c.name == e.name)) {
        let tried = levels.iter().enumerate().map(|(depth, level)| of_envelope(envelope, level, depth));
        // The first of those that are as good: what is outermost is what people see.
        out.extend(tried.reduce(|best, next| if next.share() > best.share() { next } else { best }));
    }
    let formats = declared::ordered(FORMATS.to_vec(), user);
    let rejected = formats.into_iter().filter(|f| !detection.formats.iter().any(|s| s.name == f.name));
    out.extend(of_formats(rejected.collect(), sample, &detection.layout));
    out
}

impl Objection {
    fn share(&self) -> f64 {
        (self.of - self.not_taken) as f64 / self.of.max(1) as f64
    }
}

/// What the outer envelopes of a layout hold, line by line.
struct Level {
    lines: Vec<u8>,
    /// Where a line stands in `lines` and the sample, ascending.
    places: Vec<(usize, usize)>,
}

impl Level {
    fn new(sample: &[u8], envelopes: &[&'static Envelope]) -> Level {
        if envelopes.is_empty() {
            return Level { lines: sample.to_vec(), places: Vec::new() };
        }
        let layout = Layout { envelopes: envelopes.to_vec(), ..Layout::default() };
        let (mut lines, mut places) = (Vec::new(), Vec::new());
        let mut reader = Reader::new(sample, 0, &layout);
        for _ in 0..MAX_ENTRIES {
            let Some(record) = reader.next() else { break };
            if let Some(line) = super::text(&record) {
                places.push((lines.len(), record.offset));
                lines.extend_from_slice(line);
                lines.push(b'\n');
            }
        }
        Level { lines, places }
    }

    /// The byte of the sample that byte `at` of the lines comes from.
    fn place(&self, at: usize) -> usize {
        match self.places.partition_point(|(line, _)| *line <= at) {
            0 => at,
            n => self.places[n - 1].1,
        }
    }
}

fn of_envelope(envelope: &'static Envelope, level: &Level, depth: usize) -> Objection {
    let mut out =
        Objection { name: envelope.name, what: "envelope", depth, of: 0, not_taken: 0, first: None, reason: "", shape: envelope.shape };
    let mut entry = Entry::default();
    let mut at = 0;
    while at < level.lines.len() && out.of < MAX_ENTRIES {
        entry.clear();
        let start = at;
        at += (envelope.read)(&level.lines, at, &mut entry).max(1);
        let blank = level.lines[start..at.min(level.lines.len())].trim_ascii().is_empty();
        let reason = match entry.content {
            _ if blank => continue,
            Content::Skip(_) if is_timeless(&entry.meta) => continue,
            Content::Payload | Content::Skip(_) => None,
            Content::Bare => Some(""),
            Content::Broken(reason) => Some(reason),
        };
        out.of += 1;
        if let Some(reason) = reason {
            out.not_taken += 1;
            if out.first.is_none() {
                (out.first, out.reason) = (Some(level.place(start)), reason);
            }
        }
    }
    if out.of == 0 {
        out.reason = "nothing in it tells what wrote it";
    } else if envelope.marks.is_some_and(|marks| !marks(&level.lines)) {
        out.reason = "nothing that only it writes";
    } else if out.not_taken == 0 {
        out.reason = "too few entries, or another tells more";
    }
    out
}

fn of_formats(rejected: Vec<&'static Format>, sample: &[u8], layout: &Layout) -> Vec<Objection> {
    let new = |format: &&'static Format| Objection {
        name: format.name,
        what: "format",
        depth: layout.envelopes.len(),
        of: 0,
        not_taken: 0,
        first: None,
        reason: "",
        shape: format.shape,
    };
    let mut out: Vec<Objection> = rejected.iter().map(new).collect();
    let mut reader = Reader::new(sample, 0, layout);
    let mut records = 0;
    while let Some(record) = reader.next().filter(|_| records < MAX_RECORDS) {
        if !super::is_sampled(&record) {
            continue;
        }
        records += 1;
        for (format, objection) in rejected.iter().zip(&mut out) {
            objection.of += 1;
            // A head that another format's records have too is no objection of its own: that one is tried first.
            if !(format.head)(record.payload) {
                objection.not_taken += 1;
                objection.first = objection.first.or(Some(record.offset));
            }
        }
    }
    for objection in &mut out {
        if objection.of == 0 {
            objection.reason = "no records";
        } else if objection.not_taken < objection.of {
            objection.reason = "another format takes what it would take";
        }
    }
    out
}

/// Where the first record of a sample stands that no format's head fits.
pub fn first_unknown(sample: &[u8], whole: bool, layout: &Layout) -> Option<usize> {
    let mut reader = Reader::new(whole_lines(sample, whole), 0, layout);
    while let Some(record) = reader.next() {
        if super::is_sampled(&record) && record.format.is_none() {
            return Some(record.offset);
        }
    }
    None
}
