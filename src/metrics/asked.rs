//! The captures that a question goes to, and the series that it means.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use corr_metrics::catalogue::{Catalogue, Group, Member};
use corr_metrics::model::{Capture, Endpoint, EndpointId, Family, Kind, SeriesId, StampOf};
use corr_metrics::select::Selector;
use corr_metrics::window::resets;
use corr_metrics::window::scrapes::Scrapes;

use super::around::Told;
use super::logged::{Lines, Logged};
use super::moment::Dial;
use crate::run::Run;
use crate::run::captures::{Captures, Source};
use crate::run::declared::did_you_mean;
use crate::run::source::{Class, NotRead};
use crate::store::captures::Kept;

/// Every capture of a run.
#[derive(Default)]
pub struct Asked<'r> {
    pub captures: Vec<Captured<'r>>,
    /// Captures that could not be read.
    pub not_read: Vec<NotRead>,
    /// What of the run's store could not be used.
    pub notes: Vec<String>,
    /// The store that has all of them and the number of its publication, if no file of the run has changed since.
    pub unchanged: Option<(PathBuf, u64)>,
}

/// A capture, catalogued.
pub struct Captured<'r> {
    /// What citations call it: the name of its file, or of the folder that holds its files.
    pub name: String,
    pub source: Source<'r>,
    pub catalogue: Catalogue,
    /// The series of each endpoint.
    series: Vec<Vec<u32>>,
    /// Scrapes of each endpoint that was asked for: as the capture keeps them, else the times of its samples.
    scrapes: Vec<OnceLock<Scrapes>>,
    /// First and last sample.
    extent: Option<(i64, i64)>,
    /// Where the records of a log stand.
    lines: Lines,
    /// What stands around it in its run, where that is not there to be looked at.
    pub told: Option<Told>,
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
    /// Reads and catalogues the captures of a run, from its store where they are there and still true. `store` is `--store`.
    pub fn read(run: &'r Run, store: Option<&Path>) -> Asked<'r> {
        let kept = Kept::open(run, store);
        let mut captures = Captures::read(run, &|layout, set| kept.captures(layout, set));
        let unchanged = kept.unchanged().filter(|_| captures.all_kept);
        let mut notes = kept.notes;
        notes.append(&mut captures.notes);
        let not_read = std::mem::take(&mut captures.not_read);
        let families = captures.families();
        let captured = |source: Source<'r>| Captured::new(name(run, &source), source, &families);
        let mut captures: Vec<Captured<'r>> = captures.read.into_iter().map(captured).collect();
        tell_apart(&mut captures);
        Asked { captures, not_read, notes, unchanged }
    }

    /// Captures whose runs are not there, each with its name and what stood around it.
    pub fn of(read: Vec<(String, Told, Source<'r>)>) -> Asked<'r> {
        let mut about = Vec::with_capacity(read.len());
        let mut all = Captures::default();
        for (name, told, source) in read {
            about.push((name, told));
            all.read.push(source);
        }
        let families = all.families();
        let captured = |((name, told), source)| Captured { told: Some(told), ..Captured::new(name, source, &families) };
        let mut captures: Vec<Captured<'r>> = about.into_iter().zip(all.read).map(captured).collect();
        tell_apart(&mut captures);
        Asked { captures, ..Asked::default() }
    }

    /// Reads the captures that selectors can mean: none where all of them ask for fields of log records.
    pub fn by(run: &'r Run, store: Option<&Path>, selectors: &[Selector]) -> Asked<'r> {
        if !selectors.is_empty() && selectors.iter().all(Selector::of_log) {
            return Asked::default();
        }
        Asked::read(run, store)
    }

    /// Adds the series of logs that were asked for.
    pub fn add_logged(&mut self, run: &Run, logged: Logged<'r>) {
        for log in logged.captures {
            let captured = Captured::new(name(run, &log.source), log.source, &BTreeMap::new());
            // A log covers what lies between its records, also where none of them has the field.
            let extent = log.covers.or(captured.extent);
            self.captures.push(Captured { extent, lines: log.lines, ..captured });
        }
        self.not_read.extend(logged.not_read);
    }

    /// From the first sample to the last of all captures whose clock is known, UTC ns.
    pub fn span_utc(&self) -> Option<(i64, i64)> {
        self.captures.iter().filter_map(Captured::span_utc).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The same with nothing borrowed of the run.
    pub fn into_owned(self) -> Asked<'static> {
        let owned = |captured: Captured<'r>| {
            let Captured { name, source, catalogue, series, scrapes, extent, lines, told } = captured;
            let source = Source { set: Cow::Owned(source.set.into_owned()), layout: source.layout, capture: source.capture };
            Captured { name, source, catalogue, series, scrapes, extent, lines, told }
        };
        Asked {
            captures: self.captures.into_iter().map(owned).collect(),
            not_read: self.not_read,
            notes: self.notes,
            unchanged: self.unchanged,
        }
    }

    /// Captures that are copies of others and were not read: their names, and the files that they equal.
    pub fn copies(&self, run: &Run) -> Vec<(String, String)> {
        let read: Vec<&str> = self.captures.iter().flat_map(|c| c.source.set.files.iter().map(|p| p.key.as_str())).collect();
        let mut out = Vec::new();
        for source in &run.sources {
            let Class::Duplicate(of) = &source.class else { continue };
            let of_set = run.claims.sets.iter().any(|(_, set)| set.files.iter().any(|part| part.key == source.key));
            if of_set && !read.contains(&source.key.as_str()) {
                out.push((source.name.clone(), of.clone()));
            }
        }
        out
    }

    /// That no series is meant, with a name that is near.
    pub fn none_such(&self, selector: &Selector) -> String {
        let names: Vec<&str> = self.captures.iter().flat_map(|c| c.catalogue.families.iter().map(|g| g.name.as_str())).collect();
        let near = selector.name().and_then(|name| match names.contains(&name) {
            true => Some(format!("; `{name}` is there, with other labels")),
            false => did_you_mean(name, &names)
                .or_else(|| names.iter().find(|n| n.contains(name)).copied())
                .map(|near| format!("; did you mean `{near}`?")),
        });
        format!("{}: no such series in {} captures{}", selector.text, self.captures.len(), near.unwrap_or_default())
    }

    /// The members that one of the selectors means; all of them without any.
    pub fn hits(&self, selectors: &[Selector]) -> Vec<Hit<'_>> {
        let mut hits = Vec::new();
        for captured in &self.captures {
            for group in &captured.catalogue.families {
                let counts = group.typed.kind == Kind::Counter;
                for member in &group.members {
                    let meant = |id: &SeriesId| {
                        let capture = captured.capture();
                        let endpoint = capture.endpoint(member.endpoint);
                        selectors.is_empty()
                            || capture
                                .get(*id)
                                .is_some_and(|series| selectors.iter().any(|s| s.matches(series, endpoint, &group.name, counts)))
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

impl<'r> Captured<'r> {
    fn new(name: String, source: Source<'r>, families: &BTreeMap<String, Family>) -> Captured<'r> {
        let catalogue = Catalogue::new(&source.capture, families);
        let mut series: Vec<Vec<u32>> = vec![Vec::new(); source.capture.endpoints.len()];
        for (one, number) in source.capture.series.iter().zip(0..) {
            if let Some(of) = series.get_mut(one.endpoint.0 as usize) {
                of.push(number);
            }
        }
        let scrapes = series.iter().map(|_| OnceLock::new()).collect();
        let extent = extent(&source.capture);
        Captured { name, catalogue, series, scrapes, extent, source, lines: Lines::default(), told: None }
    }
}

impl Captured<'_> {
    /// What was read.
    pub fn capture(&self) -> &Capture {
        &self.source.capture
    }

    /// Fields of log records, not what was scraped.
    pub fn is_log(&self) -> bool {
        matches!(self.capture().stamp_of, StampOf::Line { .. })
    }

    /// When a series was scraped: with its endpoint, or, where the capture names no endpoint and mixes several, by its own samples.
    pub fn scrapes_of(&self, series: SeriesId) -> Cow<'_, Scrapes> {
        let capture = self.capture();
        let endpoint = capture.get(series).map_or(EndpointId(u32::MAX), |s| s.endpoint);
        if let StampOf::Line { width } = capture.stamp_of {
            // How far apart its own records are; those of one stamp are one.
            let mut times = capture.samples.times(std::iter::once(series.0));
            times.dedup_by_key(|at| at.div_euclid(width.max(1)));
            return Cow::Owned(Scrapes::new(times).interval().map_or_else(Scrapes::unknown, Scrapes::every));
        }
        let named = capture.endpoint(endpoint).is_some_and(|e| !title(e).is_empty() || !e.scrapes.is_empty());
        if named {
            return Cow::Borrowed(self.scrapes(endpoint));
        }
        let own = Scrapes::new(capture.samples.times(std::iter::once(series.0)));
        // Only how far apart: that others were scraped without it shows no absence.
        Cow::Owned(own.interval().map_or_else(Scrapes::unknown, Scrapes::every))
    }

    /// Numbers of an endpoint's series.
    pub fn series(&self, endpoint: EndpointId) -> &[u32] {
        self.series.get(endpoint.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// When an endpoint was scraped.
    pub fn scrapes(&self, endpoint: EndpointId) -> &Scrapes {
        static UNKNOWN: LazyLock<Scrapes> = LazyLock::new(Scrapes::unknown);
        let place = endpoint.0 as usize;
        let (Some(cell), Some(series)) = (self.scrapes.get(place), self.series.get(place)) else { return &UNKNOWN };
        cell.get_or_init(|| scrapes(self.capture(), endpoint, series))
    }

    /// First and last sample or scrape, on the capture's clock.
    pub fn extent(&self) -> Option<(i64, i64)> {
        self.extent
    }

    /// First and last sample or scrape, UTC ns; `None` where it has none, or a clock of which it is not known where it began.
    pub fn span_utc(&self) -> Option<(i64, i64)> {
        let ((first, last), (offset, _)) = (self.extent()?, self.dial().to_utc()?);
        Some((first.saturating_add(offset), last.saturating_add(offset)))
    }

    /// The clock of its samples.
    pub fn dial(&self) -> Dial<'_> {
        Dial::of(self.capture())
    }

    /// Where a number comes from: `path#name{labels}[target]@t0..t1`; of a log with the lines of the first and the last record,
    /// `path:88..412#log:field{labels}[worker]@t0..t1`.
    pub fn citation(&self, series: SeriesId, from: i64, to: i64) -> String {
        let endpoint = self.capture().get(series).map_or(EndpointId(u32::MAX), |s| s.endpoint);
        let place = match (self.line(series, from), self.line(series, to)) {
            (Some(first), Some(last)) if first == last => format!("{}:{first}", self.name),
            (Some(first), Some(last)) => format!("{}:{first}..{last}", self.name),
            _ => self.name.clone(),
        };
        self.cited_in(&place, &self.capture().spelled(series), endpoint, from, to)
    }

    /// The line of a log's record that says a sample; `None` for what was scraped.
    pub fn line(&self, series: SeriesId, at: i64) -> Option<u64> {
        self.lines.of(series, at)
    }

    /// The same for a family of series.
    pub fn cited(&self, spelled: &str, endpoint: EndpointId, from: i64, to: i64) -> String {
        self.cited_in(&self.name, spelled, endpoint, from, to)
    }

    fn cited_in(&self, place: &str, spelled: &str, endpoint: EndpointId, from: i64, to: i64) -> String {
        let target = self.capture().endpoint(endpoint).map(title).unwrap_or_default();
        let dial = self.dial();
        format!("{place}#{spelled}[{target}]@{}..{}", dial.show(from), dial.show(to))
    }
}

fn scrapes(capture: &Capture, endpoint: EndpointId, series: &[u32]) -> Scrapes {
    let kept = capture.endpoint(endpoint).and_then(Scrapes::of_endpoint);
    let scrapes = kept.unwrap_or_else(|| Scrapes::new(capture.samples.times(series.iter().copied())));
    let mut restarts = resets::told(capture, series);
    restarts.extend(resets::shown(capture, series));
    scrapes.with_restarts(restarts)
}

fn extent(capture: &Capture) -> Option<(i64, i64)> {
    let ids = || 0..capture.samples.series() as u32;
    let first = ids().filter_map(|id| capture.samples.blocks(id).first()).map(|b| b.first).min()?;
    let last = ids().filter_map(|id| capture.samples.blocks(id).last()).map(|b| b.last).max()?;
    let tried = || capture.endpoints.iter().flat_map(|e| &e.scrapes).map(|s| s.at);
    Some((tried().chain([first]).min()?, tried().chain([last]).max()?))
}

/// What an endpoint is called: its name, else its URL.
pub fn title(endpoint: &Endpoint) -> String {
    if endpoint.name.is_empty() { endpoint.url.clone().unwrap_or_default() } else { endpoint.name.clone() }
}

/// Numbers captures of one name, so that a citation is of one: two lives of a scraper in one file, two captures in one folder.
fn tell_apart(captures: &mut [Captured<'_>]) {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, captured) in captures.iter().enumerate() {
        by_name.entry(captured.name.clone()).or_default().push(i);
    }
    for (name, same) in by_name.into_iter().filter(|(_, same)| same.len() > 1) {
        for (n, i) in same.iter().enumerate() {
            if let Some(captured) = captures.get_mut(*i) {
                captured.name = format!("{name} ({} of {})", n + 1, same.len());
            }
        }
    }
}

fn name(run: &Run, source: &Source<'_>) -> String {
    // Of a run that is gone only its name is left.
    let below = |key: &str| run.root.join(key).display().to_string();
    let printed = |key: &str| run.sources.iter().find(|s| s.key == key).map_or_else(|| below(key), |s| s.name.clone());
    match &source.set.files[..] {
        [only] => printed(&only.key),
        [first, rest @ ..] => {
            // The folder that holds them all.
            let first = printed(&first.key);
            let mut shared = first.rfind('/').map_or(0, |i| i + 1);
            for part in rest {
                let other = printed(&part.key);
                while !other.starts_with(first.get(..shared).unwrap_or_default()) {
                    shared = first.get(..shared.saturating_sub(1)).and_then(|f| f.rfind('/')).map_or(0, |i| i + 1);
                }
            }
            if shared == 0 { first } else { first.get(..shared).unwrap_or(&first).to_string() }
        }
        [] => String::new(),
    }
}
