//! Endpoints and series of the rows, numbered as they come.

use std::collections::{BTreeMap, HashMap};

use super::names::{self, Parsed};
use crate::model::{Labels, Name};

/// What was seen in the rows, apart from their times and values.
#[derive(Debug, Default)]
pub struct Table {
    pub endpoints: Vec<Endpoint>,
    endpoint_ids: HashMap<String, u32>,
    pub names: Vec<NameRow>,
    name_ids: HashMap<String, u32>,
    pub series: Vec<Series>,
    series_ids: HashMap<(u32, Name, Labels), u32>,
    pub sets: Vec<LabelSet>,
    set_ids: HashMap<(u32, Name, Labels), u32>,
}

#[derive(Debug)]
pub struct Endpoint {
    pub name: String,
    pub facts: BTreeMap<String, String>,
}

/// A name, read once.
#[derive(Debug)]
pub struct NameRow {
    pub name: Name,
    pub labels: Labels,
    pub damaged: bool,
    pub foreign: bool,
    /// Series of this name by endpoint.
    series: Vec<(u32, u32)>,
}

#[derive(Debug)]
pub struct Series {
    pub endpoint: u32,
    pub name: Name,
    pub labels: Labels,
    pub damaged: bool,
    pub foreign: bool,
    /// Some row has an upper bound: it is a histogram's bucket.
    pub upper: bool,
    /// The label set whose bucket it may be.
    pub set: Option<u32>,
}

/// A histogram's labels without `le`: what has one sum and one count.
#[derive(Debug)]
pub struct LabelSet {
    pub endpoint: u32,
    pub name: Name,
    pub labels: Labels,
    /// The bucket whose rows' sum and count are taken: the scraper writes the same pair on all of them.
    pub witness: Option<u32>,
}

impl Table {
    pub fn endpoint(&mut self, name: &str) -> u32 {
        if let Some(id) = self.endpoint_ids.get(name) {
            return *id;
        }
        let id = number(self.endpoints.len());
        self.endpoints.push(Endpoint { name: name.to_string(), facts: BTreeMap::new() });
        self.endpoint_ids.insert(name.to_string(), id);
        id
    }

    /// Keeps what a column says of an endpoint; the first value stays.
    pub fn fact(&mut self, endpoint: u32, key: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        if let Some(endpoint) = self.endpoints.get_mut(endpoint as usize)
            && !endpoint.facts.contains_key(key)
        {
            endpoint.facts.insert(key.to_string(), value.to_string());
        }
    }

    /// The place of a name in `names`. Names with an exemplar's line in them are one for each identity: the text of each scrape is another.
    pub fn name(&mut self, text: &str) -> u32 {
        if let Some(id) = self.name_ids.get(text) {
            return *id;
        }
        let parsed = names::parse(text);
        if parsed.exemplar.is_none() {
            return self.add(text.to_string(), parsed);
        }
        let key = format!("{}{} #", parsed.base, parsed.labels);
        match self.name_ids.get(&key) {
            Some(id) => *id,
            None => self.add(key, parsed),
        }
    }

    fn add(&mut self, key: String, parsed: Parsed<'_>) -> u32 {
        let id = number(self.names.len());
        self.names.push(NameRow {
            name: Name::new(&parsed.base),
            labels: parsed.labels,
            damaged: parsed.damaged,
            foreign: parsed.exemplar.is_some(),
            series: Vec::new(),
        });
        self.name_ids.insert(key, id);
        id
    }

    /// The series of a name at an endpoint.
    pub fn of(&mut self, endpoint: u32, name: u32) -> u32 {
        let Some(row) = self.names.get_mut(name as usize) else { return 0 };
        if let Some((_, id)) = row.series.iter().find(|(e, _)| *e == endpoint) {
            return *id;
        }
        let key = (endpoint, row.name.clone(), row.labels.clone());
        let next = number(self.series.len());
        let id = *self.series_ids.entry(key).or_insert(next);
        row.series.push((endpoint, id));
        if id == next {
            let set = bucket(&row.name, &row.labels).map(|(name, labels)| {
                let next = number(self.sets.len());
                let id = *self.set_ids.entry((endpoint, name.clone(), labels.clone())).or_insert(next);
                if id == next {
                    self.sets.push(LabelSet { endpoint, name, labels, witness: None });
                }
                id
            });
            self.series.push(Series {
                endpoint,
                name: row.name.clone(),
                labels: row.labels.clone(),
                damaged: row.damaged,
                foreign: row.foreign,
                upper: false,
                set,
            });
        } else if let Some(series) = self.series.get_mut(id as usize) {
            series.damaged |= row.damaged;
            series.foreign |= row.foreign;
        }
        id
    }
}

/// The family and the label set of a series that may be a bucket. `gt` beside `le` is a gauge of ranges, not a histogram.
fn bucket(name: &Name, labels: &Labels) -> Option<(Name, Labels)> {
    if labels.get("le").is_none() || labels.get("gt").is_some() {
        return None;
    }
    let seen = name.seen();
    Some((Name::new(seen.strip_suffix("_bucket").unwrap_or(seen)), labels.without(&["le"])))
}

/// A count as number; counts of what stands in memory fit.
fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
