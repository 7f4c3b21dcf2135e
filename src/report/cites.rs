//! The records that a report cites, as `corr show` shows them.

use std::collections::{BTreeMap, BTreeSet};

use corr_parsers::event::Event;
use corr_parsers::record::Record;

use super::model::{Cite, Facts, Figures, Lives, Pipeline, Raw, Records, Timeline};
use super::{Ask, Base};
use crate::facts::masked;
use crate::query::locate::{self, Place};
use crate::render::opened::raw_text;
use crate::run::events::{self, Start};
use crate::run::layout::small_text;

/// Bytes of one record that are kept; `corr show` has all.
const MOST_OF_ONE: usize = 1_500;
/// Bytes of all records together.
const MOST: usize = 3_500_000;

/// Every citation, those of verdicts before those of rows: where not all records fit these stay.
pub fn all<'c>(timeline: &'c Timeline, facts: &'c Facts, pipeline: &'c Pipeline, lives: &'c Lives, figures: &'c Figures) -> Vec<&'c Cite> {
    let sides = facts.disagreements.iter().flat_map(|d| &d.sides);
    let mut cites: Vec<&Cite> = Vec::new();
    cites.extend(pipeline.edges.iter().flat_map(|e| &e.shows).flat_map(|s| &s.cites));
    cites.extend(pipeline.beware.iter().flat_map(|b| &b.cites));
    cites.extend(lives.runs.iter().flat_map(|r| &r.cites));
    cites.extend(figures.rows.iter().flat_map(|r| &r.cites));
    cites.extend(facts.rows.iter().chain(sides).flat_map(|r| &r.cites));
    cites.extend(timeline.rows.iter().flat_map(|r| &r.cites));
    cites
}

/// Reads them.
pub fn read(base: Base<'_>, cites: &[&Cite], ask: &Ask) -> Records {
    let mut records = Records { flags: ask.given.show(), ..Records::default() };
    let mut room = MOST;
    let mut wanted: BTreeSet<(u32, u64)> = BTreeSet::new();
    let mut small: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
    for cite in cites {
        match cite.at {
            Some(at) if wanted.insert(at) => match record(base, at, ask.bodies) {
                Some(raw) if raw.bytes.len() <= room => {
                    room -= raw.bytes.len();
                    records.by.insert(at, raw);
                }
                Some(_) => records.left_out += 1,
                None => {}
            },
            Some(_) => {}
            None => {
                if !records.lines.contains_key(&cite.text)
                    && let Some(raw) = line(base, &cite.text, ask.bodies, &mut small)
                {
                    match room.checked_sub(raw.bytes.len()) {
                        Some(left) => {
                            room = left;
                            records.lines.insert(cite.text.clone(), raw);
                        }
                        None => records.left_out += 1,
                    }
                }
            }
        }
    }
    records
}

/// The record at a line of a source of events.
pub fn at_line(base: Base<'_>, name: &str, line: u64) -> Option<(u32, u64)> {
    let number = base.sources.sources.iter().position(|s| s.name == name)?;
    let source = base.sources.sources.get(number)?;
    let (start, _) = locate::begin(source, source.bytes().ok()?, Place::Line(line)).ok()?;
    Some((u32::try_from(number).ok()?, start.offset as u64))
}

/// The first of the records that samples of a log are: `path:88..412#log:field…`.
pub fn first_record(base: Base<'_>, citation: &str) -> Option<(u32, u64)> {
    let (place, _) = citation.split_once("#log:")?;
    let (name, lines) = place.rsplit_once(':')?;
    let first = lines.split_once("..").map_or(lines, |(first, _)| first);
    at_line(base, name, first.parse().ok()?)
}

fn record(base: Base<'_>, (source, offset): (u32, u64), bodies: bool) -> Option<Raw> {
    let source = base.sources.sources.get(source as usize)?;
    let bytes = source.bytes().ok()?;
    let offset = usize::try_from(offset).ok().filter(|at| *at < bytes.len())?;
    let start = Start { offset, line: 0, order: None };
    let raw = |record: &Record<'_>, event: &Event<'_>| cut(raw_text(bytes, record, event, bodies));
    events::one(bytes, &source.layout, source.timing(), start, |record, event, _| raw(record, event))
}

fn cut(mut bytes: Vec<u8>) -> Raw {
    let mut end = bytes.len().min(MOST_OF_ONE);
    // Not in the middle of a character, which has four bytes at most: bytes that are none could all look as if they went on.
    let begins = |at: &usize| bytes.get(*at).is_none_or(|b| b & 0xc0 != 0x80);
    end = (end.saturating_sub(3)..=end).rev().find(begins).unwrap_or(end);
    let cut = (bytes.len() - end) as u64;
    bytes.truncate(end);
    Raw { bytes, cut }
}

/// A line of a file that holds no events: a plan, a launch command.
fn line(base: Base<'_>, text: &str, bodies: bool, small: &mut BTreeMap<String, Option<Vec<String>>>) -> Option<Raw> {
    let (path, place) = locate::split(text)?;
    let Place::Line(number) = place else { return None };
    let source = base.run.sources.iter().find(|s| s.name == path)?;
    let seen = |text: String| if bodies { text } else { masked(&text) };
    let read = || small_text(&source.path).filter(|t| !t.contains('\0')).map(|t| seen(t).lines().map(String::from).collect());
    let lines = small.entry(path.to_string()).or_insert_with(read).as_ref()?;
    let at = usize::try_from(number).ok()?.checked_sub(1)?;
    Some(cut(lines.get(at)?.clone().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_cut_between_characters() {
        let of = |text: Vec<u8>| {
            let Raw { bytes, cut } = cut(text);
            (bytes.len(), cut)
        };
        assert_eq!(of(vec![b'a'; 1_500]), (1_500, 0));
        assert_eq!(of(vec![b'a'; 1_501]), (1_500, 1));
        // 1 499 bytes and characters of four bytes each: the first of them does not fit.
        assert_eq!(of([vec![b'a'; 1_499], "😀😀".into()].concat()), (1_499, 8));
        assert_eq!(of([vec![b'a'; 1_496], "😀😀".into()].concat()), (1_500, 4));
        // No text at all: what fits is shown.
        assert_eq!(of(vec![0x80; 2_000]), (1_500, 500));
    }
}
