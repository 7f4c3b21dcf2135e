//! What a capture says beside its samples, as bytes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::bytes::{Put, Take};
use crate::blocks::Store;
use crate::model::{
    Anchor, Capture, Clock, Endpoint, EndpointId, Exemplar, Family, Labels, Name, Note, Outcome, Precision, Scrape, Series, SeriesId,
    Trouble,
};

/// Words of this program that a capture refers to (codes of notes, layouts): one copy each for as long as it runs, and few.
fn word(text: &str) -> &'static str {
    static WORDS: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(word) = words.get(text) {
        return word;
    }
    let word: &'static str = Box::leak(text.into());
    words.insert(word);
    word
}

/// Texts that many series share, each written once.
#[derive(Default)]
struct Texts<'c> {
    of: HashMap<&'c str, u64>,
    put: Put,
}

impl<'c> Texts<'c> {
    fn number(&mut self, text: &'c str) -> u64 {
        let next = self.of.len() as u64;
        *self.of.entry(text).or_insert_with(|| {
            self.put.text(text);
            next
        })
    }
}

/// Writes all but the samples; `files` are those that it names.
pub(super) fn put(capture: &Capture, files: &[PathBuf], out: &mut Put) -> io::Result<()> {
    out.text(capture.layout);
    put_clock(&capture.clock, out);
    out.word(&capture.stamp_of)?;
    out.word(&capture.fidelity)?;
    out.count(files.len());
    for file in files {
        let text = file.to_str().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the file's name is not UTF-8"))?;
        out.text(text);
    }
    out.count(capture.endpoints.len());
    capture.endpoints.iter().for_each(|endpoint| put_endpoint(endpoint, out));
    out.count(capture.families.len());
    for (name, family) in &capture.families {
        out.text(name);
        out.flag(family.kind.is_some());
        if let Some(kind) = &family.kind {
            out.word(kind)?;
        }
        out.maybe(family.help.as_deref(), Put::text);
        out.maybe(family.unit.as_deref(), Put::text);
    }
    out.count(capture.notes.len());
    for note in &capture.notes {
        out.text(note.code);
        out.text(&note.what);
        out.number(note.count);
        out.maybe(note.first.as_deref(), Put::text);
    }
    let mut texts = Texts::default();
    let mut rest = Put::default();
    rest.count(capture.series.len());
    capture.series.iter().for_each(|series| put_series(series, &mut texts, &mut rest));
    rest.count(capture.exemplars.len());
    for exemplar in &capture.exemplars {
        rest.number(u64::from(exemplar.series.0));
        rest.time(exemplar.scraped);
        rest.maybe(exemplar.at, Put::time);
        put_labels(&exemplar.labels, &mut texts, &mut rest);
        rest.value(exemplar.value);
    }
    out.count(texts.of.len());
    out.0.append(&mut texts.put.0);
    out.0.append(&mut rest.0);
    Ok(())
}

/// Reads what [`put`] wrote, to the last byte.
pub(super) fn take(from: &mut Take<'_>, samples: Store) -> Option<Capture> {
    let layout = word(from.text()?);
    let clock = take_clock(from)?;
    let (stamp_of, fidelity) = (from.word()?, from.word()?);
    let files = from.many(|from| from.text().map(PathBuf::from))?;
    let endpoints = from.many(take_endpoint)?;
    let families = from.many(|from| {
        let name = from.string()?;
        Some((name, Family { kind: from.maybe(Take::word)?, help: from.maybe(Take::string)?, unit: from.maybe(Take::string)? }))
    })?;
    let notes = from.many(|from| {
        Some(Note { code: word(from.text()?), what: from.string()?, count: from.number()?, first: from.maybe(Take::string)? })
    })?;
    let texts = from.many(Take::shared)?;
    let series = from.many(|from| take_series(from, &texts))?;
    let exemplars = from.many(|from| {
        Some(Exemplar {
            series: SeriesId(u32::try_from(from.number()?).ok()?),
            scraped: from.time()?,
            at: from.maybe(Take::time)?,
            labels: take_labels(from, &texts)?,
            value: from.value()?,
        })
    })?;
    if !from.0.is_empty() || series.len() != samples.series() {
        return None;
    }
    let families: BTreeMap<String, Family> = families.into_iter().collect();
    Some(Capture { files, layout, clock, stamp_of, fidelity, endpoints, series, families, exemplars, notes, samples })
}

fn put_clock(clock: &Clock, out: &mut Put) {
    match clock {
        Clock::Wall => out.number(0),
        Clock::AssumedUtc => out.number(1),
        Clock::Elapsed { anchor } => {
            out.number(2);
            out.maybe(anchor.as_ref(), |out, anchor| {
                out.time(anchor.low);
                out.time(anchor.high);
                out.text(&anchor.how);
                out.maybe(anchor.holds, |out, (agree, all)| {
                    out.number(agree);
                    out.number(all);
                });
            });
        }
    }
}

fn take_clock(from: &mut Take<'_>) -> Option<Clock> {
    Some(match from.number()? {
        0 => Clock::Wall,
        1 => Clock::AssumedUtc,
        2 => Clock::Elapsed {
            anchor: from.maybe(|from| {
                Some(Anchor {
                    low: from.time()?,
                    high: from.time()?,
                    how: from.string()?,
                    holds: from.maybe(|from| Some((from.number()?, from.number()?)))?,
                })
            })?,
        },
        _ => return None,
    })
}

fn put_endpoint(endpoint: &Endpoint, out: &mut Put) {
    out.text(&endpoint.name);
    out.maybe(endpoint.url.as_deref(), Put::text);
    out.count(endpoint.facts.len());
    for (key, value) in &endpoint.facts {
        out.text(key);
        out.text(value);
    }
    out.count(endpoint.scrapes.len());
    for scrape in &endpoint.scrapes {
        out.time(scrape.at);
        out.maybe(scrape.took, Put::time);
        let failed = match &scrape.outcome {
            Outcome::Read => None,
            Outcome::Failed(why) => Some(why.as_str()),
        };
        out.maybe(failed, Put::text);
    }
}

fn take_endpoint(from: &mut Take<'_>) -> Option<Endpoint> {
    let (name, url) = (from.string()?, from.maybe(Take::string)?);
    let facts = from.many(|from| Some((from.string()?, from.string()?)))?.into_iter().collect();
    let scrapes = from.many(|from| {
        let (at, took) = (from.time()?, from.maybe(Take::time)?);
        Some(Scrape { at, took, outcome: from.maybe(Take::string)?.map_or(Outcome::Read, Outcome::Failed) })
    })?;
    Some(Endpoint { name, url, facts, scrapes })
}

fn put_labels<'c>(labels: &'c Labels, texts: &mut Texts<'c>, out: &mut Put) {
    out.count(labels.len());
    for (name, value) in labels.iter() {
        let (name, value) = (texts.number(name), texts.number(value));
        out.number(name);
        out.number(value);
    }
}

fn text(from: &mut Take<'_>, texts: &[Arc<str>]) -> Option<Arc<str>> {
    texts.get(usize::try_from(from.number()?).ok()?).cloned()
}

fn take_labels(from: &mut Take<'_>, texts: &[Arc<str>]) -> Option<Labels> {
    Some(Labels::of_pairs(from.many(|from| Some((text(from, texts)?, text(from, texts)?)))?))
}

fn put_series<'c>(series: &'c Series, texts: &mut Texts<'c>, out: &mut Put) {
    out.number(u64::from(series.endpoint.0));
    let (seen, canonical) = (texts.number(series.name.seen()), texts.number(series.name.canonical()));
    out.number(seen);
    out.number(canonical);
    put_labels(&series.labels, texts, out);
    out.flag(series.precision == Precision::F32);
    let Trouble { collisions, disordered, damaged, foreign, sum_unproven } = series.trouble;
    out.number(collisions);
    out.number(disordered);
    out.flag(damaged);
    out.flag(foreign);
    out.flag(sum_unproven);
}

fn take_series(from: &mut Take<'_>, texts: &[Arc<str>]) -> Option<Series> {
    let endpoint = EndpointId(u32::try_from(from.number()?).ok()?);
    let name = Name::of_spellings(text(from, texts)?, text(from, texts)?);
    let labels = take_labels(from, texts)?;
    let precision = if from.flag()? { Precision::F32 } else { Precision::F64 };
    let trouble = Trouble {
        collisions: from.number()?,
        disordered: from.number()?,
        damaged: from.flag()?,
        foreign: from.flag()?,
        sum_unproven: from.flag()?,
    };
    Some(Series { endpoint, name, labels, precision, trouble })
}
