//! The records and samples that marks cite, read again.

use std::collections::{BTreeSet, HashMap};

use corr_metrics::model::EndpointId;
use corr_parsers::stamp::Stamp;
use corr_readiness::Cite;

use super::{By, Draft};
use crate::metrics::asked::{Asked, title};
use crate::query::answer::Hit;
use crate::query::fetch::{Context, Reading};
use crate::query::sources::Sources;
use crate::render::shown::Shown;
use crate::timeline::Row;

/// Records that are read at a time.
const BATCH: usize = 1_000;

pub struct Records<'a> {
    shown: HashMap<(usize, u64), Shown>,
    sources: usize,
    captures: &'a Asked<'a>,
}

impl<'a> Records<'a> {
    /// Reads what the rows cite; each source is gone through once.
    pub fn read(drafts: &[Draft], sources: &Sources, captures: &'a Asked<'a>) -> Records<'a> {
        let of = |by: &By| by.cite().map(|cite| (cite.source as usize, cite.offset));
        let places = drafts.iter().flat_map(|d| [Some(&d.first), d.last.as_ref()]).flatten().filter_map(of);
        let places: BTreeSet<(usize, u64)> = places.filter(|(source, _)| *source < sources.sources.len()).collect();
        let hits: Vec<Hit> = places.into_iter().map(|(source, offset)| Hit { source, offset, order: None, key: None }).collect();
        let mut reading = Reading::new(&hits, &sources.sources, Context::default(), false);
        let mut shown = HashMap::with_capacity(hits.len());
        let mut at = hits.iter();
        while let Some(blocks) = reading.next(BATCH) {
            for event in blocks.into_iter().flat_map(|b| b.events) {
                // What could not be read is left out of the blocks.
                if let Some(hit) =
                    at.find(|hit| hit.offset == event.offset && sources.sources.get(hit.source).is_some_and(|s| s.name == event.source))
                {
                    shown.insert((hit.source, hit.offset), event);
                }
            }
        }
        Records { shown, sources: sources.sources.len(), captures }
    }

    /// The row; `None` if its records can no longer be read.
    pub fn row(&self, draft: Draft) -> Option<Row> {
        let Draft { known, mark, kind, says, whose, first, last } = draft;
        let last = match last {
            Some(last) => Some(self.shown(&last)?.says(kind, String::new())),
            None => None,
        };
        let mut first = self.shown(&first)?.says(kind, says);
        first.worker = first.worker.or(whose);
        Some(Row::derived(known, mark, first, last))
    }

    fn shown(&self, by: &By) -> Option<Shown> {
        let mut shown = match (by, by.cite()) {
            (By::Samples(place, stamp), _) => {
                return Some(Shown::of_samples(place.split('#').next().unwrap_or(""), place.clone(), Some(*stamp)));
            }
            (_, Some(cite)) if (cite.source as usize) < self.sources => self.shown.get(&(cite.source as usize, cite.offset))?.clone(),
            (_, Some(cite)) => self.sample(cite)?,
            (_, None) => return None,
        };
        // The state machine may know better when it was than the record's own stamp says.
        if let Some(stamp) = by.stamp() {
            shown.stamp = Some(stamp);
            shown.order = Some(stamp.start);
        }
        Some(shown)
    }

    /// A scrape: the state machine cites it by its time, and its endpoint in the place of a length.
    fn sample(&self, cite: Cite) -> Option<Shown> {
        let captured = self.captures.captures.get((cite.source as usize).checked_sub(self.sources)?)?;
        let endpoint = captured.capture().endpoint(EndpointId(cite.len)).map(title).unwrap_or_default();
        let time = captured.dial().show(i64::try_from(cite.offset).unwrap_or(i64::MAX));
        let stamp = captured.dial().to_utc().zip(i64::try_from(cite.offset).ok());
        let stamp = stamp.map(|((offset, _), at)| Stamp::new(at.saturating_add(offset), 1));
        Some(Shown::of_samples(&captured.name, format!("{}[{endpoint}]@{time}", captured.name), stamp))
    }
}
