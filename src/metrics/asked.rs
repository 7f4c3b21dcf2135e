//! The captures that a question goes to, and the series that it means.

use corr_metrics::catalogue::{Catalogue, Group, Member};
use corr_metrics::model::{Capture, Endpoint, SeriesId};
use corr_metrics::select::Selector;

use super::moment::Dial;
use crate::run::Run;
use crate::run::captures::{Captures, Source};
use crate::run::source::NotRead;

/// Every capture of a run.
pub struct Asked<'r> {
    pub captures: Vec<Captured<'r>>,
    /// Captures that could not be read.
    pub not_read: Vec<NotRead>,
}

/// A capture, catalogued.
pub struct Captured<'r> {
    /// What citations call it: the name of its file, or of the folder that holds its files.
    pub name: String,
    pub source: Source<'r>,
    pub catalogue: Catalogue,
}

/// A member of a family that was asked for, with its series that were.
pub struct Hit<'a> {
    pub captured: &'a Captured<'a>,
    pub group: &'a Group,
    pub member: &'a Member,
    /// The series of the member that the selector means.
    pub series: Vec<SeriesId>,
}

impl<'r> Asked<'r> {
    /// Reads and catalogues the captures of a run.
    pub fn read(run: &'r Run) -> Asked<'r> {
        let Captures { read, not_read } = Captures::read(run);
        let captures = Captures { read, not_read: Vec::new() };
        let families = captures.families();
        let captures = captures.read.into_iter().map(|source| Captured {
            name: name(run, &source),
            catalogue: Catalogue::new(&source.capture, &families),
            source,
        });
        Asked { captures: captures.collect(), not_read }
    }

    /// The members that a selector means; all of them without one.
    pub fn hits(&self, selector: Option<&Selector>) -> Vec<Hit<'_>> {
        let mut hits = Vec::new();
        for captured in &self.captures {
            for group in &captured.catalogue.families {
                for member in &group.members {
                    let meant = |id: &SeriesId| {
                        let capture = captured.capture();
                        let endpoint = capture.endpoint(member.endpoint);
                        selector.is_none_or(|s| capture.get(*id).is_some_and(|series| s.matches(series, endpoint, &group.name)))
                    };
                    let series: Vec<SeriesId> = member.parts.series().into_iter().filter(meant).collect();
                    if !series.is_empty() {
                        hits.push(Hit { captured, group, member, series });
                    }
                }
            }
        }
        hits
    }
}

impl Captured<'_> {
    /// What was read.
    pub fn capture(&self) -> &Capture {
        &self.source.capture
    }

    /// The clock of its samples.
    pub fn dial(&self) -> Dial<'_> {
        Dial::of(self.capture())
    }

    /// Where a number comes from: `path#name{labels}[target]@t0..t1`.
    pub fn citation(&self, series: SeriesId, from: i64, to: i64) -> String {
        let capture = self.capture();
        let target = capture.get(series).and_then(|s| capture.endpoint(s.endpoint)).map(title).unwrap_or_default();
        let dial = self.dial();
        format!("{}#{}[{target}]@{}..{}", self.name, capture.spelled(series), dial.show(from), dial.show(to))
    }
}

/// What an endpoint is called: its name, else its URL.
pub fn title(endpoint: &Endpoint) -> String {
    if endpoint.name.is_empty() { endpoint.url.clone().unwrap_or_default() } else { endpoint.name.clone() }
}

fn name(run: &Run, source: &Source<'_>) -> String {
    let printed = |key: &str| run.sources.iter().find(|s| s.key == key).map_or_else(|| key.to_string(), |s| s.name.clone());
    match &source.set.files[..] {
        [only] => printed(&only.key),
        [first, ..] => {
            let first = printed(&first.key);
            first.rsplit_once('/').map_or(first.clone(), |(folder, _)| format!("{folder}/"))
        }
        [] => String::new(),
    }
}
