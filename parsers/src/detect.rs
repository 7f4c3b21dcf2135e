//! What a source is: envelope and formats with a score, the reason, and the runner-up.

use crate::format::{Envelope, Format};
use crate::record::{self, Layout, Reader};
use crate::{ENVELOPES, FORMATS, declared};

/// How much of a source's head is looked at.
pub const SAMPLE: usize = 256 << 10;

/// How well one candidate explains the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    pub name: &'static str,
    /// Share of the sampled lines that the candidate explains, 0 to 1.
    pub share: f64,
    /// Why, in words: "410 of 412 lines begin with …".
    pub reason: String,
}

/// What a sample is taken for.
#[derive(Clone, Debug)]
pub struct Detection {
    pub layout: Layout,
    /// Envelopes that explain anything, best first.
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
    let known = declared::ordered(FORMATS.to_vec(), user);
    let sample = if whole || sample.last() == Some(&b'\n') {
        sample
    } else {
        // A line that the sample cuts is not judged, unless it is the only one.
        match memchr::memrchr(b'\n', sample) {
            Some(end) => &sample[..=end],
            None => sample,
        }
    };
    let envelopes = rank_envelopes(sample);
    let envelope = envelopes.first().filter(|s| s.share >= 0.5).and_then(|s| ENVELOPES.iter().find(|e| e.name == s.name)).copied();
    let document = envelope.is_none() && whole && is_document(sample);
    let (formats, sampled) = rank_formats(sample, envelope, document, &known);
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
    let chosen = declared::ordered(chosen, user);
    Detection { layout: Layout { envelope, formats: chosen, document }, envelopes, formats, sampled }
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

fn rank_envelopes(sample: &[u8]) -> Vec<Score> {
    let mut scores = Vec::new();
    for envelope in ENVELOPES {
        let (seen, hits) = try_envelope(sample, envelope);
        if hits > 0 {
            let reason = format!("{hits} of {seen} entries are {}", envelope.shape);
            scores.push(Score { name: envelope.name, share: hits as f64 / seen as f64, reason });
        }
    }
    scores.sort_by(|a, b| b.share.total_cmp(&a.share));
    scores
}

/// Entries looked at, and entries that the envelope explains.
fn try_envelope(sample: &[u8], envelope: &'static Envelope) -> (usize, usize) {
    let first = &sample[..record::line_len(sample)];
    let mut at = 0;
    let (mut seen, mut hits) = (0usize, 0usize);
    if !(envelope.begins)(record::trim_end(first)) && !sample.is_empty() {
        // An excerpt may begin inside an entry: look at the next lines before giving up.
        let mut tries = 0;
        loop {
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
    let mut entry = crate::format::Entry::default();
    while at < sample.len() && seen < 400 {
        entry.clear();
        at += (envelope.read)(sample, at, &mut entry).max(1);
        seen += 1;
        if !matches!(entry.content, crate::format::Content::Broken(_)) {
            hits += 1;
        }
    }
    (seen.max(1), hits)
}

fn rank_formats(sample: &[u8], envelope: Option<&'static Envelope>, document: bool, known: &[&'static Format]) -> (Vec<Score>, usize) {
    let layout = Layout { envelope, formats: known.to_vec(), document };
    let mut reader = Reader::new(sample, 0, &layout);
    let mut counts = vec![0usize; known.len()];
    let mut sampled = 0usize;
    while let Some(record) = reader.next() {
        if record.payload.iter().all(u8::is_ascii_whitespace) || record.content != crate::format::Content::Payload {
            continue;
        }
        sampled += 1;
        if let Some(format) = record.format
            && let Some(i) = known.iter().position(|f| f.name == format.name)
        {
            counts[i] += 1;
        }
        if sampled >= 2_000 {
            break;
        }
    }
    let mut scores: Vec<Score> = known
        .iter()
        .zip(&counts)
        .filter(|(_, n)| **n > 0)
        .map(|(f, n)| Score {
            name: f.name,
            share: *n as f64 / sampled as f64,
            reason: format!("{n} of {sampled} records begin with {}", f.shape),
        })
        .collect();
    scores.sort_by(|a, b| b.share.total_cmp(&a.share));
    (scores, sampled)
}
