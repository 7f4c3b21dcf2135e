//! prom2parquet: what Prometheus sends by remote write, a folder a metric, `<prefix>/<metric>/YYYYMMDDhhmmss.parquet`. The metric's name stands in
//! the path alone; labels are `k=v,k=v` by key, without escapes.

use std::collections::BTreeMap;

use arrow::datatypes::DataType;

use super::labels::is_name;
use super::table::{Role, Sink, narrow};
use super::texts::is_text;
use super::{Candidate, Layout, Part, ReadError, Set, look};
use crate::model::{Capture, Clock, StampOf};

/// prom2parquet's folders.
pub const PROM2PARQUET: Layout = Layout { name: "prom2parquet", about: "prom2parquet: a folder a metric", claim, read: self::read };

/// Columns of text: four labels that have one of their own, and the others.
const OWN: [&str; 4] = ["pod", "container", "namespace", "node"];

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut prefixes: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for candidate in candidates.iter().filter(|c| own(c)) {
        let folder = candidate.folder();
        let prefix = folder.rsplit_once('/').map_or("", |(prefix, _)| prefix);
        prefixes.entry(prefix.to_string()).or_default().push(candidate.part());
    }
    let set = |mut files: Vec<Part>| {
        files.sort_by(|a, b| a.key.cmp(&b.key));
        let because =
            "columns timestamp, value, pod, container, namespace, node, labels in a folder named for the metric: prom2parquet".into();
        Set { files, because, ..Set::default() }
    };
    prefixes.into_values().map(set).collect()
}

fn own(candidate: &Candidate) -> bool {
    let Some(schema) = candidate.schema() else { return false };
    let kind = |name: &str| schema.field_with_name(name).map(|f| f.data_type());
    schema.fields().len() == OWN.len() + 3
        && kind("timestamp").is_ok_and(|k| k == &DataType::Int64)
        && kind("value").is_ok_and(|k| k == &DataType::Float64)
        && OWN.iter().chain(&["labels"]).all(|name| kind(name).is_ok_and(is_text))
        && is_name(metric(&candidate.key), b"")
}

/// The folder that the file is in.
fn metric(key: &str) -> &str {
    let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.rsplit_once('/').map_or(folder, |(_, name)| name)
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let mut sink = Sink::new(PROM2PARQUET.name, Clock::Wall, StampOf::Request);
    let mut files = Vec::new();
    let mut slots = 0;
    let mut failed = None;
    for part in &set.files {
        let found = look(&part.path, &part.key);
        let taken = match (found.schema(), own(&found)) {
            (Some(schema), true) => {
                let place = |name: &str| schema.index_of(name).unwrap_or(usize::MAX);
                let labels = OWN.iter().map(|name| (place(name), Role::Label(name.to_string())));
                let keys = [(place("labels"), Role::Plain { sorted: true })].into_iter().chain(labels).collect();
                let mut table = narrow(place("timestamp"), 1_000_000, place("value"), keys);
                table.keys.fixed = Some(metric(&part.key).to_string());
                table.keys.target_label = Some("instance");
                table.first_slot = slots;
                let taken = table.read(&part.path, &mut sink);
                slots += table.keys.identities.len();
                taken.map(|_| ())
            }
            _ => Err(ReadError::Damaged { path: part.path.display().to_string(), why: "no file of prom2parquet any more".into() }),
        };
        match taken {
            Ok(()) => files.push(part.path.clone()),
            Err(error) => {
                sink.builder().note("unread_file", || error.to_string(), || Some(part.key.clone()));
                failed = Some(error);
            }
        }
    }
    match failed {
        Some(error) if files.is_empty() => Err(error),
        _ => Ok(sink.finish(&files)),
    }
}
