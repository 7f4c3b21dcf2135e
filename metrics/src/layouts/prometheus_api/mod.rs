//! Answers of the Prometheus HTTP API (also of VictoriaMetrics, Thanos and Mimir), stored as JSON: a file an answer, bare or inside
//! `{"query": …, "response": …}`. <https://prometheus.io/docs/prometheus/latest/querying/api/>
//!
//! The answers of a folder are taken as one server's. Samples and instants of a query (see [`grade`]) become captures apart, and so does an
//! answer that says something else of a series at the same time (see [`ends`]), so that no sample is counted twice.

mod document;
mod ends;
mod grade;
mod side;
#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::scrapes::Scrapes;
use super::shape::{Shape, shape};
use super::text::{BOM, DOCUMENT, whole};
use super::{Candidate, Layout, Part, ReadError, Set};
use crate::build::Builder;
use crate::model::{Capture, Clock, EndpointId, Fidelity, Labels, Precision, SeriesId, StampOf, canonical};
use document::{Odd, Points, walk};
use ends::{Ends, sorted};
use grade::{Grade, Group, Stamps, group};
use side::Side;

pub(super) const LAYOUT: Layout = Layout { name: "prometheus-api", about: "answers of the Prometheus HTTP API as JSON", claim, read };

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut folders: BTreeMap<&str, (Vec<Part>, BTreeMap<&str, u64>)> = BTreeMap::new();
    for candidate in candidates {
        if let Some(what) = candidate.text().and_then(answer) {
            let (files, kinds) = folders.entry(candidate.folder()).or_default();
            files.push(candidate.part());
            *kinds.entry(what).or_default() += 1;
        }
    }
    let sets = folders.into_values().map(|(mut files, kinds)| {
        files.sort_by(|a, b| a.key.cmp(&b.key));
        let kinds: Vec<String> = kinds.iter().map(|(what, n)| format!("{n} {what}")).collect();
        Set { files, beside: Vec::new(), because: format!("answers of the Prometheus HTTP API: {}", kinds.join(", ")), ties: Vec::new() }
    });
    sets.collect()
}

/// What kind of answer a text begins as.
fn answer(head: &[u8]) -> Option<&'static str> {
    let head = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    if !head.starts_with(b"{") {
        return None;
    }
    let shape = shape(head);
    kind(&shape, "").or_else(|| kind(&shape, "response."))
}

fn kind(shape: &Shape, prefix: &str) -> Option<&'static str> {
    let has = |path: &str| shape.has(&format!("{prefix}{path}"));
    let status = shape.text(&format!("{prefix}status"));
    if status == Some("error") && has("errorType") && has("error") {
        return Some("error");
    }
    let points = |root: &str| {
        let typed = shape.text(&format!("{prefix}{root}resultType"));
        let typed = typed.is_some_and(|t| matches!(t, "matrix" | "vector" | "scalar" | "string"));
        let labelled = shape.below(&format!("{prefix}{root}result[].metric."));
        typed && has(&format!("{root}result"))
            || labelled && (has(&format!("{root}result[].values[][]")) || has(&format!("{root}result[].value[]")))
    };
    if points("data.") || points("") {
        return Some("query result");
    }
    if status != Some("success") {
        return None;
    }
    if has("data.activeTargets") {
        return Some("list of targets");
    }
    if has("data[].seriesLabels") && has("data[].exemplars") {
        return Some("list of exemplars");
    }
    if has("data[].target") && has("data[].metric") && has("data[].type") {
        return Some("metadata");
    }
    if has("data[].__name__") {
        return Some("list of series");
    }
    shape.metadata(&format!("{prefix}data.")).then_some("metadata")
}

impl Shape {
    /// Some key below the prefix is a list of objects with `type` and `help`.
    fn metadata(&self, prefix: &str) -> bool {
        self.paths().any(|p| {
            let family = p.strip_prefix(prefix).and_then(|p| p.strip_suffix("[].type"));
            family.is_some_and(|f| !f.contains('[') && self.has(&format!("{prefix}{f}[].help")))
        })
    }
}

/// Name, other labels (`instance` and `job` among them), and the instance, which is the endpoint's name.
fn split<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> (&'a str, Labels, &'a str) {
    let (mut name, mut instance) = ("", "");
    let mut labels = Vec::new();
    for (key, value) in pairs {
        match key {
            "__name__" => name = value,
            _ => {
                if key == "instance" {
                    instance = value;
                }
                labels.push((key, value));
            }
        }
    }
    (name, Labels::new(labels), instance)
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let mut groups: Vec<Group> = Vec::new();
    let mut side = Side::default();
    let mut errors: Vec<(String, String)> = Vec::new();
    // What was odd in each document, and its query; `None` for those that hold nothing.
    let mut odd: Vec<Option<Odd>> = Vec::new();
    for (i, part) in set.files.iter().enumerate() {
        let file = part.path.display().to_string();
        odd.push(None);
        let (bytes, broken) = match whole(&part.path, DOCUMENT) {
            Ok(read) => read,
            Err(e) => {
                errors.push((file, e.to_string()));
                continue;
            }
        };
        let mut stamps = Stamps::default();
        let contents = walk(&bytes, &mut |points| stamps.take(&points));
        if let Some(error) = contents.odd.error.as_ref().filter(|_| contents.series == 0) {
            errors.push((file, format!("the API answered with an error: {error}")));
            continue;
        }
        side.take(&contents, &file);
        let bare = contents.items.is_empty() && contents.targets.is_empty() && contents.families.is_empty();
        if contents.series > 0 {
            let (grade, why) = grade::grade(&contents, &stamps);
            group(&mut groups, i, grade, why, stamps);
        } else if let Some(damage) = broken.as_ref().or(contents.odd.damage.as_ref()).filter(|_| bare) {
            errors.push((file, damage.clone()));
            continue;
        }
        let damage = broken.or(contents.odd.damage);
        if let Some(odd) = odd.last_mut() {
            *odd = Some(Odd { damage, empty: bare && contents.series == 0, ..contents.odd });
        }
    }
    if odd.iter().all(Option::is_none) {
        let (path, why) = errors.into_iter().next().unwrap_or_default();
        return Err(ReadError::Damaged { path, why });
    }
    if groups.is_empty() {
        groups.push(Group::default());
    }
    // What targets and lists say goes to the samples, or to what comes first.
    groups.sort_by_key(|g| g.grade != Grade::Raw);
    // Names and labels that have samples, if some answer lists series.
    let mut seen: Option<HashSet<(String, Labels)>> = side.lists().then(HashSet::new);
    let mut builders: Vec<Builder> = groups.iter().map(|g| fill(set, g, &odd, &mut seen)).collect();
    builders.iter_mut().for_each(|builder| side.families(builder));
    if let Some(first) = builders.first_mut() {
        for (i, part) in set.files.iter().enumerate() {
            if let (Some(Some(odd)), true) = (odd.get(i), groups.iter().all(|g| !g.documents.contains(&i))) {
                first.file(&part.path);
                say(first, odd, &part.path.display().to_string());
            }
        }
        side.rest(first, &seen.unwrap_or_default());
        for (file, why) in &errors {
            first.note("unread_answer", || why.clone(), || Some(file.clone()));
        }
    }
    Ok(builders.into_iter().map(Builder::finish).collect())
}

/// Reads the documents of a group.
fn fill(set: &Set, group: &Group, odd: &[Option<Odd>], seen: &mut Option<HashSet<(String, Labels)>>) -> Builder {
    let raw = group.grade == Grade::Raw;
    let mut builder = Builder::new(LAYOUT.name, Clock::Wall, if raw { StampOf::Request } else { StampOf::Evaluation });
    if !raw {
        builder.fidelity(Fidelity::StepFilled);
    }
    let code = match group.grade {
        Grade::Raw => "raw_samples",
        Grade::Grid { .. } => "evaluated_instants",
        Grade::Undecided { .. } => "samples_or_instants",
        Grade::Instant => "evaluated_once",
    };
    let mut scrapes = Scrapes::default();
    let mut ends: HashMap<SeriesId, Ends> = HashMap::new();
    for &i in &group.documents {
        let (Some(part), Some(Some(odd))) = (set.files.get(i), odd.get(i)) else { continue };
        let file = part.path.display().to_string();
        builder.file(&part.path);
        builder.note(code, || group.reasons(), || Some(file.clone()));
        say(&mut builder, odd, &file);
        match whole(&part.path, DOCUMENT) {
            Ok((bytes, _)) => {
                walk(&bytes, &mut |points| {
                    let (series, endpoint, name) = series_of(&points, odd.query.as_deref(), &mut builder, seen, &file);
                    let points = if group.repeats { fresh(series, &points, &mut ends, &mut builder, &file) } else { points.all() };
                    for &(at, value) in &points {
                        builder.push(series, at, value);
                        if raw {
                            scrapes.take(endpoint, name, at, value);
                        }
                    }
                });
            }
            Err(e) => builder.note("unread_answer", || e.to_string(), || Some(file.clone())),
        }
    }
    if raw {
        scrapes.give(&mut builder);
    }
    builder
}

/// The series of an answer's points, its endpoint and its name.
fn series_of<'p>(
    points: &'p Points<'_>,
    query: Option<&'p str>,
    builder: &mut Builder,
    seen: &mut Option<HashSet<(String, Labels)>>,
    file: &str,
) -> (SeriesId, EndpointId, &'p str) {
    let (mut name, labels, instance) = split(points.metric.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    if name.is_empty() {
        let what = "series without a name (the result of an expression): named by their query where it is stored";
        builder.note("nameless", || what.into(), || Some(file.to_string()));
        name = query.unwrap_or("");
    }
    let endpoint = builder.endpoint(instance);
    let series = builder.series(endpoint, name, &labels, Precision::F64);
    if let Some(seen) = seen {
        seen.insert((canonical(name).into_owned(), labels));
    }
    (series, endpoint, name)
}

/// The points that no answer before held, in the order in which they came.
fn fresh(series: SeriesId, points: &Points<'_>, ends: &mut HashMap<SeriesId, Ends>, builder: &mut Builder, file: &str) -> Vec<(i64, f64)> {
    let mut fresh = points.all();
    let sorted = sorted(points.at, points.values);
    match ends.entry(series) {
        Entry::Occupied(mut entry) => {
            let before = fresh.len();
            fresh.retain(|(at, value)| !entry.get().holds(&(*at, value.to_bits())));
            for _ in fresh.len()..before {
                let what = "points that an answer before held already, with the same value: taken once";
                builder.note("repeated", || what.into(), || Some(file.to_string()));
            }
            entry.get_mut().add(&sorted);
        }
        Entry::Vacant(entry) => {
            if let Some(ends) = Ends::new(&sorted) {
                entry.insert(ends);
            }
        }
    }
    fresh
}

/// Says what was odd in a document.
fn say(builder: &mut Builder, odd: &Odd, file: &str) {
    if let Some(damage) = &odd.damage {
        builder.note("truncated", || format!("breaks off, and what stood before that is kept: {damage}"), || Some(file.to_string()));
    }
    if odd.empty {
        let query = odd.query.as_deref().unwrap_or("the query, which is not stored,");
        builder.note("empty_result", || format!("{query} found no series"), || Some(file.to_string()));
    }
    for (code, count, what) in [
        ("bad_point", odd.points, "points that are no stamp with a number"),
        ("bad_series", odd.series, "elements of a result that are no series (scalars and strings are such)"),
        ("native_histogram", odd.native, "native histograms, which corr does not read"),
    ] {
        for _ in 0..count {
            builder.note(code, || what.into(), || Some(file.to_string()));
        }
    }
    if let Some(error) = &odd.error {
        builder.note("unread_answer", || format!("the API answered with an error, too: {error}"), || Some(file.to_string()));
    }
    for warning in &odd.warnings {
        builder.note("api_warning", || warning.clone(), || Some(file.to_string()));
    }
}
