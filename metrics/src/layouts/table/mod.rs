//! Any other table of metrics, Parquet or Arrow: roles of columns are found by type and content, the mapping that was chosen is said, and a tie is
//! not decided.

pub mod keys;
mod read;
pub mod roles;
mod sink;
pub mod time;

use std::collections::HashMap;

use arrow::datatypes::Schema;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::statistics::Statistics;

use super::batches::Batches;
use super::{Candidate, Head, Layout, ReadError, Set, look};
use crate::model::{Capture, Clock, StampOf};
use roles::{Mapping, Values, Verdict, kind_word};
use time::From;

pub use keys::{Keys, Role, endpoint};
pub use read::{Table, narrow, unread};
pub use sink::Sink;

/// Tables whose writer is not known.
pub const TABLE: Layout = Layout { name: "table", about: "any table with a time, a name and a value", claim, read: self::read };

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut sets: Vec<Set> = Vec::new();
    let mut parts: HashMap<String, usize> = HashMap::new();
    for candidate in candidates {
        let Some((verdict, schema)) = verdict(candidate) else { continue };
        let (because, ties) = match verdict {
            Verdict::Not => continue,
            Verdict::Tie(ties) => (format!("a table of metrics with columns {}", columns(&schema)), ties),
            Verdict::Found(mapping) => (mapping.words(&schema), Vec::new()),
        };
        // Parts of one capture differ by a number in the file's name alone.
        let stem: String = candidate.name().chars().filter(|c| !c.is_ascii_digit()).collect();
        let key = format!("{}/{stem}\n{because}\n{}", candidate.folder(), columns(&schema));
        match parts.get(&key).and_then(|&i| sets.get_mut(i)) {
            Some(set) if stem.len() < candidate.name().len() => set.files.push(candidate.part()),
            _ => {
                parts.insert(key, sets.len());
                sets.push(Set { files: vec![candidate.part()], beside: Vec::new(), because, ties });
            }
        }
    }
    sets.iter_mut().for_each(|s| s.files.sort_by_key(|p| (p.key.len(), p.key.clone())));
    sets
}

fn verdict(candidate: &Candidate) -> Option<(Verdict, Schema)> {
    let schema = candidate.schema()?;
    if !roles::possible(schema) {
        return None;
    }
    let every: Vec<usize> = (0..schema.fields().len()).collect();
    let rows = Batches::first(candidate, &every)?;
    let metadata = match &candidate.head {
        Head::Parquet(metadata) => Some(metadata.as_ref()),
        _ => None,
    };
    let largest = |root: usize| metadata.and_then(|m| largest(m, root));
    // A batch of strange bytes must not stop the look at other files.
    let verdict = super::guard::guarded(|| Ok::<_, String>(roles::roles(&rows, largest))).ok()?;
    Some((verdict, schema.as_ref().clone()))
}

/// The largest number of a plain column, where all row groups have it in their statistics.
pub fn largest(metadata: &ArrowReaderMetadata, root: usize) -> Option<f64> {
    let parquet = metadata.parquet_schema();
    let leaf = (0..parquet.num_columns()).find(|&leaf| parquet.get_column_root_idx(leaf) == root)?;
    let mut largest: Option<f64> = None;
    for group in metadata.metadata().row_groups() {
        let greatest = match group.columns().get(leaf)?.statistics()? {
            Statistics::Int64(s) => *s.max_opt()? as f64,
            Statistics::Int32(s) => f64::from(*s.max_opt()?),
            Statistics::Double(s) => *s.max_opt()?,
            Statistics::Float(s) => f64::from(*s.max_opt()?),
            _ => return None,
        };
        largest = Some(largest.map_or(greatest, |l| l.max(greatest)));
    }
    largest
}

/// Names and types, not more than fit a line.
pub fn columns(schema: &Schema) -> String {
    let mut words: Vec<String> = schema.fields().iter().take(12).map(|f| format!("{} ({})", f.name(), kind_word(f.data_type()))).collect();
    if schema.fields().len() > 12 {
        words.push(format!("{} more", schema.fields().len() - 12));
    }
    words.join(", ")
}

impl Mapping {
    /// What was chosen, for output.
    fn words(&self, schema: &Schema) -> String {
        let name = |i: usize| schema.field(i).name().as_str();
        let kind = |i: usize| kind_word(schema.field(i).data_type());
        let mut out = vec![format!("time {} ({}, {})", name(self.time), kind(self.time), self.stamp.words())];
        let of = |wanted: fn(&Role) -> bool| self.keys.iter().filter(move |(_, role)| wanted(role)).map(|(i, _)| *i);
        out.extend(of(|r| *r == Role::Name).map(|i| format!("name {}", name(i))));
        match &self.values {
            Values::One(v) => out.push(format!("value {} ({})", name(*v), kind(*v))),
            Values::Lists(v) => out.push(format!("value {} ({}), a series a row", name(*v), kind(*v))),
            Values::Wide(columns) => {
                let float32 = columns.iter().filter(|&&i| kind(i) == "float32").count();
                let how = if float32 > 0 { format!(", {float32} of them float32") } else { String::new() };
                out.push(format!("a scrape a row, a series in each of {} columns{how}", columns.len()));
            }
        }
        match of(|r| *r == Role::Target).next() {
            Some(i) => out.push(format!("target {}", name(i))),
            None if self.target_label.is_some() => out.push("target label instance".into()),
            None => out.push("no target".into()),
        }
        for (i, role) in &self.keys {
            let form = match role {
                Role::Nested => kind(*i),
                Role::Json => "JSON".into(),
                Role::Braces => "{k=\"v\"}".into(),
                Role::Plain { .. } => "k=v,k=v".into(),
                _ => continue,
            };
            out.push(format!("labels {} ({form})", name(*i)));
        }
        let labels: Vec<&str> = of(|r| matches!(r, Role::Label(_))).map(name).collect();
        if !labels.is_empty() {
            out.push(format!("labels {}", labels.join(", ")));
        }
        let about: Vec<&str> = of(|r| matches!(r, Role::Kind | Role::Help | Role::Unit)).map(name).collect();
        if !about.is_empty() {
            out.push(format!("of the family {}", about.join(", ")));
        }
        if !self.unread.is_empty() {
            out.push(format!("not read {}", self.unread.iter().map(|i| name(*i)).collect::<Vec<_>>().join(", ")));
        }
        out.join("; ")
    }
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let path = || set.files.first().map_or_else(String::new, |p| p.path.display().to_string());
    let next = "rename the columns to timestamp, metric and value, or drop those that are none of them".to_string();
    let mut open: Option<(Sink, Table, Schema)> = None;
    let mut files = Vec::new();
    let mut rows = 0;
    for part in &set.files {
        let candidate = look(&part.path, &part.key);
        if let Some((sink, table, of)) = &mut open {
            // Parts of one capture are read as the first was.
            let read = match candidate.schema() {
                Some(schema) if schema.fields() == of.fields() => table.read(&part.path, sink),
                _ => Err(ReadError::Damaged { path: part.path.display().to_string(), why: "not of the columns of the other parts".into() }),
            };
            match read {
                Ok(n) => {
                    rows += n;
                    files.push(part.path.clone());
                }
                Err(error) => sink.builder().note("unread_file", || error.to_string(), || Some(part.key.clone())),
            }
            continue;
        }
        let (mapping, schema) = match verdict(&candidate) {
            Some((Verdict::Found(mapping), schema)) => (mapping, schema),
            Some((Verdict::Tie(ties), schema)) => {
                let why = format!("{}; columns {}", ties.join("; "), columns(&schema));
                return Err(ReadError::Declined { path: path(), why, next });
            }
            Some((Verdict::Not, _)) | None => {
                let why = match candidate.head {
                    Head::Other(why) | Head::Damaged(why) => why,
                    _ => "no table of metrics, or none of its rows can be read".into(),
                };
                return Err(ReadError::Damaged { path: part.path.display().to_string(), why });
            }
        };
        let clock = match mapping.stamp.from {
            From::Epoch => Clock::Wall,
            From::AssumedUtc => Clock::AssumedUtc,
            From::Start => Clock::Elapsed { anchor: None },
        };
        let mut sink = Sink::new(TABLE.name, clock, StampOf::Unknown);
        let mut table = Table::of(&mapping);
        files.push(part.path.clone());
        rows += table.read(&part.path, &mut sink)?;
        open = Some((sink, table, schema));
    }
    match open {
        Some((sink, ..)) if rows > 0 => Ok(sink.finish(&files)),
        _ => Err(ReadError::Damaged { path: path(), why: "none of its rows can be read".into() }),
    }
}

#[cfg(test)]
pub mod tests;
