//! What a source is: envelope and formats with a score, the reason, and the runner-up.

mod objections;
#[cfg(test)]
mod tests;

pub use objections::{Objection, first_unknown, objections};

use std::cell::OnceCell;

use crate::format::{Content, Entry, Envelope, Format, Meta};
use crate::record::{self, Layout, Reader, Record};
use crate::{ENVELOPES, FORMATS, declared, records};

/// How much of a source's head is looked at.
pub const SAMPLE: usize = 256 << 10;

/// So many entries of a sample are tried with an envelope.
const MAX_ENTRIES: usize = 400;

/// So many records of a sample are tried with the formats.
const MAX_RECORDS: usize = 2_000;

/// How well one candidate explains the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    pub name: &'static str,
    /// Share of the sampled lines that the candidate explains, 0 to 1.
    pub share: f64,
    /// Why, in words: "410 of 412 lines begin with …".
    pub reason: String,
    /// For envelopes: how many chosen ones stand around it.
    pub depth: usize,
}

/// What a sample is taken for.
#[derive(Clone, Debug)]
pub struct Detection {
    pub layout: Layout,
    /// Envelopes that explain anything: by depth, then best first.
    pub envelopes: Vec<Score>,
    /// Formats that explain anything, best first.
    pub formats: Vec<Score>,
    /// Records looked at.
    pub sampled: usize,
}

/// Detects envelope and formats from the first bytes of a source. `whole` says that the sample is the whole source.
pub fn detect(sample: &[u8], whole: bool) -> Detection {
    detect_with(sample, whole, &[])
}

/// [`detect`] with the formats that a run's users declared.
pub fn detect_with(sample: &[u8], whole: bool, user: &[&'static Format]) -> Detection {
    let sample = whole_lines(sample, whole);
    let mut layout = Layout { formats: declared::ordered(FORMATS.to_vec(), user), ..Layout::default() };
    let mut ranked = OnceCell::new();
    let mut envelopes = Vec::new();
    while layout.envelopes.len() < MAX_DEPTH {
        let Some((with, inner)) = envelope_of(sample, &layout, &ranked, &mut envelopes) else { break };
        (layout, ranked) = (with, OnceCell::from(inner));
    }
    if layout.envelopes.is_empty() && whole && is_document(sample) {
        layout.document = true;
        ranked = OnceCell::new();
    }
    let Ranked { formats, sampled, .. } = ranked.into_inner().unwrap_or_else(|| rank_formats(sample, &layout));
    let mut chosen: Vec<&'static Format> = Vec::new();
    for score in &formats {
        chosen.extend(FORMATS.iter().find(|f| f.name == score.name));
    }
    // Formats not seen in the sample may still come later in the source: they follow, in table order.
    for format in FORMATS {
        if !chosen.iter().any(|f| f.name == format.name) {
            chosen.push(format);
        }
    }
    layout.formats = declared::ordered(chosen, user);
    Detection { layout, envelopes, formats, sampled }
}

/// A sample without the line that it cuts, unless that is the only one.
fn whole_lines(sample: &[u8], whole: bool) -> &[u8] {
    match memchr::memrchr(b'\n', sample).filter(|_| !whole) {
        Some(end) => &sample[..=end],
        None => sample,
    }
}

/// Envelopes inside envelopes are looked for up to this depth.
const MAX_DEPTH: usize = 3;

/// The layout with one envelope more, if one is believed of what is inside those of `layout`, and what it holds; notes what was tried in `tried`.
/// `ranked` is what `layout` holds, found when it is first asked for.
fn envelope_of(sample: &[u8], layout: &Layout, ranked: &OnceCell<Ranked>, tried: &mut Vec<Score>) -> Option<(Layout, Ranked)> {
    let depth = layout.envelopes.len();
    let outer = || ranked.get_or_init(|| rank_formats(sample, layout));
    let known = |ranked: &Ranked| ranked.formats.iter().filter(|f| f.name != records::JSON.name).map(|f| f.share).sum::<f64>();
    let found = rank_envelopes(if depth == 0 { sample } else { &outer().lines }, depth);
    let mut chosen = None;
    for (score, hits) in &found {
        let Some(envelope) = ENVELOPES.iter().find(|e| e.name == score.name && !layout.envelopes.iter().any(|l| l.name == e.name)) else {
            continue;
        };
        let sure = *hits >= envelope.least && score.share >= if envelope.least == 1 { ENOUGH } else { SURE };
        // Nothing that it could reveal would count.
        if !sure && score.share < if depth == 0 { ENOUGH } else { SOME } {
            continue;
        }
        let mut with = layout.clone();
        with.envelopes.push(envelope);
        let inner = rank_formats(sample, &with);
        if sure || known(&inner) > known(outer()) {
            chosen = Some((with, inner));
            break;
        }
    }
    tried.extend(found.into_iter().map(|(score, _)| score));
    chosen
}

/// So much of a sample must be an envelope's entries; and so much if its mark is one that other programs may write too; and so much of what
/// stands in another envelope, of which perhaps only one writer has it, if more is known inside it.
const ENOUGH: f64 = 0.5;
const SURE: f64 = 0.9;
const SOME: f64 = 0.02;

/// The first line of what a record holds, which envelopes inside the layout's are tried on.
fn text<'r>(record: &Record<'r>) -> Option<&'r [u8]> {
    let holds = matches!(record.content, Content::Payload | Content::Bare) && !record.payload.is_empty();
    holds.then(|| record::trim_end(&record.payload[..record::line_len(record.payload)]))
}

/// A record that formats are tried on.
fn is_sampled(record: &Record<'_>) -> bool {
    matches!(record.content, Content::Payload | Content::Bare) && !record.payload.iter().all(u8::is_ascii_whitespace)
}

/// One JSON value over several lines, or a single line that is a whole file.
fn is_document(sample: &[u8]) -> bool {
    let body = sample.trim_ascii();
    if !matches!(body.first(), Some(b'{' | b'[')) || !matches!(body.last(), Some(b'}' | b']')) {
        return false;
    }
    if memchr::memchr(b'\n', body).is_none() {
        return false;
    }
    serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
}

/// Envelopes that explain anything of a sample, best first, with the number of their entries.
fn rank_envelopes(sample: &[u8], depth: usize) -> Vec<(Score, usize)> {
    let mut scores = Vec::new();
    let probes = if depth == 0 { probes(sample) } else { Vec::new() };
    for envelope in ENVELOPES.iter().filter(|e| e.marks.is_none_or(|marks| marks(sample))) {
        if depth == 0 && is_hopeless(sample, envelope, &probes) {
            continue;
        }
        let (seen, hits) = try_envelope(sample, envelope);
        if hits > 0 {
            let reason = format!("{hits} of {seen} entries are {}", envelope.shape);
            scores.push((Score { name: envelope.name, share: hits as f64 / seen as f64, reason, depth }, hits));
        }
    }
    scores.sort_by(|a, b| b.0.share.total_cmp(&a.0.share));
    scores
}

/// So many lines are looked at before an envelope is tried on all, half of them the first ones.
const PROBES: usize = 64;

/// Where lines begin that stand for the others: the first ones, and some from everywhere among those that are tried.
fn probes(sample: &[u8]) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut at = 0;
    while at < sample.len() && lines.len() < MAX_ENTRIES {
        let len = record::line_len(&sample[at..]);
        if !sample[at..at + len].trim_ascii().is_empty() {
            lines.push(at);
        }
        at += len;
    }
    if lines.len() > PROBES {
        let rest = lines.split_off(PROBES / 2);
        // Steps of no period that a log has.
        lines.extend((1..=PROBES / 2).map(|i| rest[(i * 0x9e37_79b9) % rest.len()]));
    }
    lines
}

/// Of an envelope whose every line is an entry, is none of these lines one? Then it is none of half of the lines, which it would have to be.
fn is_hopeless(sample: &[u8], envelope: &Envelope, probes: &[usize]) -> bool {
    if !(envelope.begins)(b"") {
        return false;
    }
    let mut entry = Entry::default();
    !probes.iter().any(|at| {
        entry.clear();
        (envelope.read)(sample, *at, &mut entry);
        matches!(entry.content, Content::Payload | Content::Skip(_))
    })
}

/// An envelope says no time of it.
fn is_timeless(meta: &Meta) -> bool {
    meta.stamp.is_none() && meta.received.is_none() && meta.monotonic.is_none()
}

/// Entries looked at, and entries that the envelope explains.
fn try_envelope(sample: &[u8], envelope: &'static Envelope) -> (usize, usize) {
    let first = &sample[..record::line_len(sample)];
    let mut at = 0;
    let (mut seen, mut hits) = (0usize, 0usize);
    // Lines before the first entry that are not indented.
    let mut foreign = 0usize;
    if !(envelope.begins)(record::trim_end(first)) && !sample.is_empty() {
        // An excerpt may begin inside an entry: look at the next lines before giving up.
        let mut tries = 0;
        loop {
            foreign += usize::from(!sample[at..].starts_with(b" "));
            at += record::line_len(&sample[at..]);
            tries += 1;
            if at >= sample.len() || tries > 20 {
                return (0, 0);
            }
            if (envelope.begins)(record::trim_end(&sample[at..at + record::line_len(&sample[at..])])) {
                break;
            }
        }
        seen += 1;
    }
    let mut entry = Entry::default();
    let start = at;
    while at < sample.len() && seen < MAX_ENTRIES {
        entry.clear();
        at += (envelope.read)(sample, at, &mut entry).max(1);
        seen += 1;
        match entry.content {
            // `-- No entries --`, a boot's marker: several envelopes have the same.
            Content::Skip(_) if is_timeless(&entry.meta) => seen -= 1,
            Content::Payload | Content::Skip(_) => hits += 1,
            // An empty line speaks neither for the envelope nor against it.
            Content::Bare if entry.text.is_empty() => seen -= 1,
            Content::Bare | Content::Broken(_) => {}
        }
    }
    // More of them than of what follows: a log of another kind, at whose end stands a line that looks so.
    if foreign > memchr::memchr_iter(b'\n', &sample[start..at.min(sample.len())]).count().max(1) {
        return (0, 0);
    }
    (seen.max(1), hits)
}

/// What a layout holds.
struct Ranked {
    /// Formats that explain anything, best first.
    formats: Vec<Score>,
    sampled: usize,
    /// The first lines of what its envelopes hold; empty where there are none.
    lines: Vec<u8>,
}

fn rank_formats(sample: &[u8], layout: &Layout) -> Ranked {
    let mut reader = Reader::new(sample, 0, layout);
    let known = &layout.formats;
    let mut counts = vec![0usize; known.len()];
    let mut sampled = 0usize;
    let mut lines = Vec::new();
    let mut more_lines = if layout.envelopes.is_empty() { 0 } else { MAX_ENTRIES };
    while let Some(record) = reader.next() {
        if more_lines > 0 {
            more_lines -= 1;
            if let Some(text) = text(&record) {
                lines.extend_from_slice(text);
                lines.push(b'\n');
            }
        }
        if !is_sampled(&record) {
            continue;
        }
        sampled += 1;
        if let Some(format) = record.format
            && let Some(i) = known.iter().position(|f| f.name == format.name)
        {
            counts[i] += 1;
        }
        if sampled >= MAX_RECORDS {
            break;
        }
    }
    let mut formats: Vec<Score> = known
        .iter()
        .zip(&counts)
        .filter(|(_, n)| **n > 0)
        .map(|(f, n)| Score {
            name: f.name,
            share: *n as f64 / sampled as f64,
            reason: format!("{n} of {sampled} records begin with {}", f.shape),
            depth: 0,
        })
        .collect();
    formats.sort_by(|a, b| b.share.total_cmp(&a.share));
    Ranked { formats, sampled, lines }
}
