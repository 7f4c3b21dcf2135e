//! From rows of any layout to a capture.

use std::collections::HashMap;
use std::path::Path;

use crate::blocks::{Store, Writer};
use crate::model::{
    Capture, Clock, Endpoint, EndpointId, Exemplar, Family, Fidelity, Labels, Name, Note, Outcome, Precision, Scrape, Series, SeriesId,
    StampOf, Trouble, canonical,
};

/// Collects what a reader finds. Rows may come in any order.
#[derive(Debug)]
pub struct Builder {
    capture: Capture,
    writer: Writer,
    endpoints: HashMap<String, EndpointId>,
    series: HashMap<(EndpointId, Name, Labels), SeriesId>,
    notes: HashMap<&'static str, usize>,
}

impl Builder {
    /// A capture of this layout, which nothing is known of yet.
    pub fn new(layout: &'static str, clock: Clock, stamp_of: StampOf) -> Builder {
        let capture = Capture {
            files: Vec::new(),
            layout,
            clock,
            stamp_of,
            fidelity: Fidelity::Raw,
            endpoints: Vec::new(),
            series: Vec::new(),
            families: std::collections::BTreeMap::new(),
            exemplars: Vec::new(),
            notes: Vec::new(),
            samples: Store::default(),
        };
        Builder { capture, writer: Writer::default(), endpoints: HashMap::new(), series: HashMap::new(), notes: HashMap::new() }
    }

    /// A file that rows come from.
    pub fn file(&mut self, path: &Path) {
        if !self.capture.files.iter().any(|f| f == path) {
            self.capture.files.push(path.to_path_buf());
        }
    }

    /// Says that values are not the samples themselves.
    pub fn fidelity(&mut self, fidelity: Fidelity) {
        self.capture.fidelity = fidelity;
    }

    /// What times are relative to, if that became known late.
    pub fn clock(&mut self, clock: Clock) {
        self.capture.clock = clock;
    }

    /// Which instant its stamps say, if that became known late.
    pub fn stamp_of(&mut self, stamp_of: StampOf) {
        self.capture.stamp_of = stamp_of;
    }

    /// The endpoint that the capture calls so; empty for captures that name none.
    pub fn endpoint(&mut self, name: &str) -> EndpointId {
        if let Some(id) = self.endpoints.get(name) {
            return *id;
        }
        let id = EndpointId(self.capture.endpoints.len() as u32);
        self.capture.endpoints.push(Endpoint { name: name.to_string(), ..Endpoint::default() });
        self.endpoints.insert(name.to_string(), id);
        id
    }

    /// What is said of an endpoint beside its name: empty values are not kept, and what was said first stays.
    pub fn fact(&mut self, endpoint: EndpointId, key: &str, value: &str) {
        let Some(endpoint) = self.capture.endpoints.get_mut(endpoint.0 as usize) else { return };
        if key == "url" && !value.is_empty() {
            endpoint.url.get_or_insert_with(|| value.to_string());
        } else if !value.is_empty() && !endpoint.facts.contains_key(key) {
            endpoint.facts.insert(key.to_string(), value.to_string());
        }
    }

    /// An attempt to scrape.
    pub fn scrape(&mut self, endpoint: EndpointId, at: i64, took: Option<i64>, outcome: Outcome) {
        if let Some(endpoint) = self.capture.endpoints.get_mut(endpoint.0 as usize) {
            endpoint.scrapes.push(Scrape { at, took, outcome });
        }
    }

    /// Samples that were written before, instead of any pushed till now: their series are numbered as those of this builder.
    pub fn resume(&mut self, samples: Store) {
        self.writer = samples.into();
    }

    /// The series of an endpoint with this name and these labels. Readers remember it by their own key (a dictionary's number, a line's
    /// bytes): this is a look into a map.
    pub fn series(&mut self, endpoint: EndpointId, name: &str, labels: &Labels, precision: Precision) -> SeriesId {
        self.series_named(endpoint, Name::new(name), labels, precision)
    }

    /// The same for a name whose served spelling is known to be another.
    pub fn series_named(&mut self, endpoint: EndpointId, name: Name, labels: &Labels, precision: Precision) -> SeriesId {
        let key = (endpoint, name, labels.clone());
        if let Some(id) = self.series.get(&key) {
            return *id;
        }
        let id = SeriesId(self.capture.series.len() as u32);
        let trouble = Trouble::default();
        self.capture.series.push(Series { endpoint, name: key.1.clone(), labels: labels.clone(), precision, trouble });
        self.series.insert(key, id);
        id
    }

    /// Marks what is wrong with a series.
    pub fn trouble(&mut self, series: SeriesId) -> Option<&mut Trouble> {
        self.capture.series.get_mut(series.0 as usize).map(|s| &mut s.trouble)
    }

    /// A sample. Several at one time of one series are kept, and counted as collisions.
    pub fn push(&mut self, series: SeriesId, at: i64, value: f64) {
        self.writer.push(series.0, at, value);
    }

    /// Samples of one series.
    pub fn extend(&mut self, series: SeriesId, at: &[i64], values: &[f64]) {
        self.writer.extend(series.0, at, values);
    }

    /// What the capture says of a family, under its canonical name.
    pub fn family(&mut self, name: &str) -> &mut Family {
        let name = canonical(name);
        self.capture.families.entry(name.into_owned()).or_default()
    }

    /// An exemplar.
    pub fn exemplar(&mut self, exemplar: Exemplar) {
        self.capture.exemplars.push(exemplar);
    }

    /// Something odd: `what` and `first` are kept of the first, the others counted.
    pub fn note(&mut self, code: &'static str, what: impl FnOnce() -> String, first: impl FnOnce() -> Option<String>) {
        self.note_many(code, 1, what, first);
    }

    /// The same, `n` times.
    pub fn note_many(&mut self, code: &'static str, n: u64, what: impl FnOnce() -> String, first: impl FnOnce() -> Option<String>) {
        match self.notes.get(code).and_then(|&i| self.capture.notes.get_mut(i)) {
            Some(note) => note.count += n,
            None => {
                self.notes.insert(code, self.capture.notes.len());
                self.capture.notes.push(Note { code, what: what(), count: n, first: first() });
            }
        }
    }

    /// The capture.
    pub fn finish(self) -> Capture {
        let mut capture = self.capture;
        let count = capture.series.len();
        capture.samples = self.writer.finish(count);
        for (i, series) in capture.series.iter_mut().enumerate() {
            let (disordered, collisions) = capture.samples.oddities(i as u32);
            series.trouble.disordered = disordered;
            series.trouble.collisions = collisions;
        }
        for endpoint in &mut capture.endpoints {
            endpoint.scrapes.sort_by_key(|s| s.at);
        }
        capture
    }
}
