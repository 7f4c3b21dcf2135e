//! Which series a row is of.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};

use crate::build::Builder;
use crate::layouts::labels::{Pairs, braces, json, plain, split};
use crate::layouts::runs::{ByKey, Nested, Numbers, Run, together};
use crate::layouts::texts::Texts;
use crate::model::{EndpointId, Kind, Labels, Precision, SeriesId};

/// What a column of a key says.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// The metric's name, perhaps with labels in braces.
    Name,
    /// What was scraped.
    Target,
    /// The label of this name.
    Label(String),
    /// Labels as map, list of pairs or struct.
    Nested,
    /// Labels as text.
    Json,
    Braces,
    /// `k=v,k=v`, with keys in order or not.
    Plain {
        sorted: bool,
    },
    /// TYPE, HELP and unit of the family: not part of the key.
    Kind,
    Help,
    Unit,
}

/// A series, before any builder knows it.
#[derive(Debug, Default)]
pub struct Identity {
    pub target: Option<Arc<str>>,
    pub name: String,
    pub labels: Labels,
    /// The labels are a guess.
    pub damaged: bool,
    pub kind: Option<Kind>,
    pub help: Option<String>,
    pub unit: Option<String>,
}

/// The endpoint of a target's name; an address is its URL too.
pub fn endpoint(builder: &mut Builder, target: &str) -> EndpointId {
    let id = builder.endpoint(target);
    if target.contains("://") {
        builder.fact(id, "url", target);
    }
    id
}

/// Without what a histogram's or a summary's series add to the family's name.
pub fn family(name: &str, kind: Kind) -> &str {
    let ends: &[&str] = match kind {
        Kind::Histogram | Kind::GaugeHistogram => &["_bucket", "_sum", "_count", "_gsum", "_gcount"],
        Kind::Summary => &["_sum", "_count"],
        _ => &[],
    };
    ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

impl Identity {
    /// As a series of a builder.
    pub fn series(&self, builder: &mut Builder, precision: Precision) -> SeriesId {
        let endpoint = endpoint(builder, self.target.as_deref().unwrap_or(""));
        let series = builder.series(endpoint, &self.name, &self.labels, precision);
        if self.damaged {
            if let Some(trouble) = builder.trouble(series) {
                trouble.damaged = true;
            }
            builder.note(
                "doubtful_labels",
                || "labels are written without escapes or not in their form: how they were split is a guess".into(),
                || Some(format!("{}{}", self.name, self.labels)),
            );
        }
        if self.kind.is_some() || self.help.is_some() || self.unit.is_some() {
            let family = builder.family(self.kind.map_or(&self.name, |kind| family(&self.name, kind)));
            family.kind = self.kind.or(family.kind);
            family.help = self.help.clone().or(family.help.take());
            family.unit = self.unit.clone().or(family.unit.take());
        }
        series
    }
}

/// The columns of a key, and the series that were met.
pub struct Keys {
    parts: Vec<(usize, Role, Numbers)>,
    /// A name that no column holds.
    pub fixed: Option<String>,
    /// The target stands in this label.
    pub target_label: Option<&'static str>,
    pub identities: Vec<Identity>,
    met: ByKey<u32>,
    runs: Vec<Vec<Run>>,
}

/// So many series are kept of one file.
pub const MOST: usize = 1 << 22;

impl Keys {
    /// `columns`: place in the batches, and what it says.
    pub fn new(columns: impl IntoIterator<Item = (usize, Role)>) -> Keys {
        let parts: Vec<_> = columns.into_iter().map(|(place, role)| (place, role, Numbers::default())).collect();
        let runs = vec![Vec::new(); parts.iter().filter(|(_, role, _)| is_key(role)).count()];
        Keys { parts, fixed: None, target_label: None, identities: Vec::new(), met: ByKey::default(), runs }
    }

    /// Stretches of rows that are of one series each: from, to, place in `identities`. Rows of more series than [`MOST`] are left out, and counted.
    pub fn spans(&mut self, batch: &RecordBatch, out: &mut Vec<(usize, usize, usize)>) -> Result<u64, String> {
        out.clear();
        let keys = self.parts.iter_mut().filter(|(_, role, _)| is_key(role));
        for ((place, _, numbers), runs) in keys.zip(&mut self.runs) {
            let Some(column) = batch.columns().get(*place) else { return Err("a column is missing".into()) };
            if !numbers.runs(column, runs) {
                return Err(format!("column {} is {}", batch.schema().field(*place).name(), column.data_type()));
            }
        }
        let mut dropped = 0;
        let mut made = None;
        let Keys { parts, fixed, target_label, identities, met, runs } = self;
        together(runs, batch.num_rows(), |from, to, key| {
            let known = met.get(key).copied();
            let place = match known {
                Some(place) => place as usize,
                None if identities.len() >= MOST => {
                    dropped += (to - from) as u64;
                    return;
                }
                None => {
                    let columns = made.get_or_insert_with(|| Opened::of(parts, batch));
                    identities.push(columns.identity(from, fixed.as_deref(), *target_label));
                    met.insert(key.into(), (identities.len() - 1) as u32);
                    identities.len() - 1
                }
            };
            out.push((from, to, place));
        });
        Ok(dropped)
    }
}

fn is_key(role: &Role) -> bool {
    !matches!(role, Role::Kind | Role::Help | Role::Unit)
}

/// The columns of a key of one batch, opened for single rows.
struct Opened<'r> {
    texts: Vec<(&'r Role, Texts)>,
    nested: Vec<Nested>,
}

impl<'r> Opened<'r> {
    fn of(parts: &'r [(usize, Role, Numbers)], batch: &RecordBatch) -> Opened<'r> {
        let mut opened = Opened { texts: Vec::new(), nested: Vec::new() };
        for (place, role, _) in parts {
            let Some(column): Option<&ArrayRef> = batch.columns().get(*place) else { continue };
            match role {
                Role::Nested => opened.nested.extend(Nested::of(column)),
                _ => opened.texts.extend(Texts::of(column).map(|t| (role, t))),
            }
        }
        opened
    }

    fn identity(&self, row: usize, fixed: Option<&str>, target_label: Option<&str>) -> Identity {
        let mut identity = Identity { name: fixed.unwrap_or("").to_string(), ..Identity::default() };
        let mut pairs: Vec<(String, String)> = Vec::new();
        let mut take = |found: Option<Pairs>, identity: &mut Identity| match found {
            Some(found) => {
                identity.damaged |= found.doubtful;
                pairs.extend(found.pairs);
            }
            None => identity.damaged = true,
        };
        for (role, texts) in &self.texts {
            let Some(text) = texts.get(row).filter(|t| !t.is_empty()) else { continue };
            match role {
                Role::Name => {
                    let (name, inline) = split(text);
                    identity.name = name.to_string();
                    if let Some(inline) = inline {
                        let found = braces(inline);
                        if found.is_none() {
                            identity.name = text.to_string();
                        }
                        take(found, &mut identity);
                    }
                }
                Role::Target => identity.target = Some(text.into()),
                Role::Label(name) => take(Some(Pairs { pairs: vec![(name.clone(), text.to_string())], doubtful: false }), &mut identity),
                Role::Json => take(json(text), &mut identity),
                Role::Braces => take(braces(text), &mut identity),
                Role::Plain { sorted } => take(plain(text, *sorted), &mut identity),
                Role::Kind => identity.kind = Kind::from_word(&text.to_ascii_lowercase()),
                Role::Help => identity.help = Some(text.to_string()),
                Role::Unit => identity.unit = Some(text.to_string()),
                Role::Nested => {}
            }
        }
        for nested in &self.nested {
            nested.each(row, |key, value| pairs.push((key.to_string(), value.to_string())));
        }
        // One label with two values: the first stays, and the series says so.
        identity.damaged |= pairs.iter().enumerate().any(|(i, (k, v))| {
            !v.is_empty() && pairs.get(..i).is_some_and(|before| before.iter().any(|(other, w)| k == other && !w.is_empty() && v != w))
        });
        identity.labels = Labels::new(pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        if let Some(label) = target_label
            && identity.target.is_none()
            && let Some(target) = identity.labels.get(label)
        {
            identity.target = Some(target.into());
            identity.labels = identity.labels.without(&[label]);
        }
        // A map that holds the name too, as Prometheus keeps it.
        if identity.name.is_empty()
            && let Some(name) = identity.labels.get("__name__")
        {
            identity.name = name.to_string();
            identity.labels = identity.labels.without(&["__name__"]);
        }
        identity
    }
}
