//! Captures of Tachometer, srt-slurm's scraper: one row a sample or a histogram's bucket, labels inside the name.
//!
//! Two generations. A stores values as 32-bit floats and time only since the scraper's start; B stores 64-bit floats and a wall clock too
//! (srt-slurm of 26 Aug 2026 and later). What a reader must know of both:
//!
//! * The stamp is taken after the body was read and parsed: a value is older than its stamp by the scrape's duration.
//! * `_bucket`, `_sum` and `_count` are taken off every name where the endpoint has a filter, so series of different names collapse. A bucket
//!   is told by its `le` label and an upper bound in its family, and gets its served name back as the canonical one; of other collapsed names
//!   nothing can be told but that several values stand at one time, which counts as collisions.
//! * The histogram columns hold the lower bound, sum and count of another label set as soon as there are two: only proven sums become series.
//! * A killed scraper leaves the same rows in several files, and the official compaction writes all of them.
//! * Nothing is stored of a scrape that failed, of a type, or of a line that did not parse.

mod claim;
mod clocks;
pub mod expected;
mod ingest;
pub mod log;
mod merge;
mod names;
mod rows;
mod sums;
mod table;
#[cfg(test)]
mod tests;
mod yaml;

use std::collections::{HashMap, HashSet};

use super::{Layout, ReadError, Set};
use crate::blocks::Writer;
use crate::build::Builder;
use crate::model::{Capture, Clock, EndpointId, Exemplar, Labels, Name, SeriesId, StampOf};
use claim::Role;
use clocks::Clocks;
use ingest::Rows;
use merge::{Merged, Part};

/// Tachometer.
pub const TACHOMETER: Layout = Layout {
    name: "tachometer",
    about: "srt-slurm's scraper Tachometer: final.parquet, or the parts and current.arrow of a run that was cut short",
    claim: claim::claim,
    read,
};

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let mut rows = Rows::default();
    let mut parts = Vec::new();
    let mut damage: Vec<(String, String)> = Vec::new();
    for file in &set.files {
        let mut samples = Writer::default();
        let mut n = 0;
        let result = rows::batches(&file.path, &mut |batch| {
            n += rows.take(batch, &mut samples)?;
            Ok(())
        });
        if let Err(why) = result {
            damage.push((file.key.clone(), format!("{n} rows were read before: {why}")));
        }
        let name = file.key.rsplit_once('/').map_or(file.key.as_str(), |(_, name)| name);
        let samples = samples.finish(rows.table.series.len());
        parts.push(Part { key: file.key.clone(), rows: n, compacted: Role::of(name).compacted(), samples });
    }
    if let (Some((path, why)), true) = (damage.first(), parts.iter().all(|p| p.rows == 0)) {
        return Err(ReadError::Damaged { path: path.clone(), why: why.clone() });
    }
    let stamps = std::mem::take(&mut rows.stamps).finish(2 * rows.table.sets.len());
    let merged = Merged::new(parts, &rows.table);
    let clocks = if rows.wall { Clocks::One } else { clocks::look(&merged, &rows.table) };
    let buckets = buckets(&rows);
    let mut builders = match &clocks {
        Clocks::Two(of) => split(set, &rows, &merged, &buckets, of),
        _ => vec![whole(set, &rows, merged, &buckets, &stamps)],
    };
    for builder in &mut builders {
        for (path, why) in &damage {
            let code =
                if Role::of(path.rsplit_once('/').map_or(path, |(_, n)| n)) == Role::Current { "stream_cut" } else { "part_damaged" };
            builder.note(code, || format!("{path}: {why}"), || Some(path.clone()));
        }
        if let Clocks::Unclear(why) = &clocks {
            builder.note("clock_unclear", || why.clone(), || None);
        }
        say(builder, &rows);
    }
    Ok(builders.into_iter().map(Builder::finish).collect())
}

/// What is odd in the rows.
fn say(builder: &mut Builder, rows: &Rows) {
    for series in &rows.table.series {
        if series.damaged {
            let text = || {
                format!("quotes or labels of {}{} are damaged: it may not be the series that was served", series.name.seen(), series.labels)
            };
            builder.note("names_damaged", text, || None);
        }
    }
    if rows.exemplar_rows > 0 {
        let text = || {
            let kept = rows.exemplars.len();
            format!("{} rows hold an exemplar's value in place of the metric's; {kept} of the exemplars are kept", rows.exemplar_rows)
        };
        builder.note("exemplars_for_values", text, || None);
    }
    if rows.incomplete > 0 {
        let text = || format!("{} rows lack a name, a value or a time", rows.incomplete);
        builder.note("rows_incomplete", text, || None);
    }
    if let Some((low, high)) = rows.starts
        && high.saturating_sub(low) > crate::model::SECOND
    {
        builder.note("several_starts", || "rows of several starts of the scraper; their wall clock holds".into(), || None);
    }
}

/// Which series are buckets: `le` without `gt`, and an upper bound on a row of the family at this endpoint.
fn buckets(rows: &Rows) -> Vec<bool> {
    let family = |set: Option<u32>| rows.table.sets.get(set? as usize).map(|s| (s.endpoint, s.name.canonical()));
    let bounded: HashSet<(u32, &str)> = rows.table.series.iter().filter(|s| s.upper).filter_map(|s| family(s.set)).collect();
    rows.table.series.iter().map(|s| family(s.set).is_some_and(|f| bounded.contains(&f))).collect()
}

/// A builder with what does not depend on samples.
fn builder(set: &Set, rows: &Rows) -> Builder {
    let clock = if rows.wall { Clock::Wall } else { Clock::Elapsed { anchor: None } };
    let mut builder = Builder::new(TACHOMETER.name, clock, StampOf::Body);
    set.files.iter().for_each(|f| builder.file(&f.path));
    for endpoint in &rows.table.endpoints {
        let id = builder.endpoint(&endpoint.name);
        endpoint.facts.iter().for_each(|(key, value)| builder.fact(id, key, value));
    }
    builder
}

fn add_series(builder: &mut Builder, rows: &Rows, buckets: &[bool], i: usize) -> Option<SeriesId> {
    let series = rows.table.series.get(i)?;
    let seen = series.name.seen();
    let name = if buckets.get(i) == Some(&true) && !seen.ends_with("_bucket") {
        builder.note(
            "bucket_inferred",
            || format!("{seen} has le and upper bounds: read as {seen}_bucket, a histogram; the capture stores no types"),
            || None,
        );
        Name::meant(seen, &format!("{}_bucket", series.name.canonical()))
    } else {
        series.name.clone()
    };
    let id = builder.series_named(EndpointId(series.endpoint), name, &series.labels, rows.precision);
    if let Some(trouble) = builder.trouble(id) {
        trouble.damaged |= series.damaged;
        trouble.foreign |= series.foreign;
    }
    Some(id)
}

/// One clock: one capture.
fn whole(set: &Set, rows: &Rows, mut merged: Merged, buckets: &[bool], stamps: &crate::blocks::Store) -> Builder {
    let mut builder = builder(set, rows);
    let ids: Vec<Option<SeriesId>> = (0..rows.table.series.len()).map(|i| add_series(&mut builder, rows, buckets, i)).collect();
    let (proven, unproven) = sums::prove(&merged, &rows.table, stamps, rows.precision, buckets);
    let same = ids.iter().enumerate().all(|(i, id)| id.is_some_and(|id| id.0 as usize == i));
    if merged.plain() && same {
        if let Some(part) = merged.parts.pop() {
            builder.resume(part.samples);
        }
    } else {
        let mut dropped = vec![0; merged.parts.len()];
        for (i, (series, id)) in rows.table.series.iter().zip(&ids).enumerate() {
            let (Some(id), Ok(i)) = (id, u32::try_from(i)) else { continue };
            push(&mut builder, *id, &merged.series(i, series.endpoint, &mut dropped));
        }
        say_copies(&mut builder, &merged, &dropped);
    }
    for exemplar in &rows.exemplars {
        if let Some(Some(series)) = ids.get(exemplar.series as usize) {
            builder.exemplar(Exemplar {
                series: *series,
                scraped: exemplar.at,
                at: None,
                labels: exemplar.labels.clone(),
                value: exemplar.value,
            });
        }
    }
    let owners: HashMap<(u32, &str), &Labels> = proven.iter().map(|p| ((p.endpoint, p.canonical.as_str()), &p.labels)).collect();
    let nobody: HashSet<(u32, &str)> = unproven.iter().map(|(endpoint, family)| (*endpoint, family.as_str())).collect();
    for (series, id) in rows.table.series.iter().zip(&ids) {
        let set = series.set.and_then(|set| rows.table.sets.get(set as usize));
        let (Some(set), Some(id)) = (set, id) else { continue };
        let family = (set.endpoint, set.name.canonical());
        let of_other = owners.get(&family).is_some_and(|labels| **labels != set.labels);
        if let Some(trouble) = builder.trouble(*id) {
            trouble.sum_unproven = of_other || nobody.contains(&family);
        }
    }
    for found in proven {
        let base = found.family.as_str();
        for (part, samples) in [("sum", &found.sum), ("count", &found.count)] {
            let name = Name::meant(&format!("{base}[histogram_{part}]"), &format!("{base}_{part}"));
            let id = builder.series_named(EndpointId(found.endpoint), name, &found.labels, rows.precision);
            push(&mut builder, id, samples);
        }
    }
    for (endpoint, family) in unproven {
        let at = rows.table.endpoints.get(endpoint as usize).map_or("", |e| e.name.as_str());
        builder.note(
            "histogram_sum_unproven",
            || {
                format!(
                    "sum and count of {family} at {at} stand for one of several label sets and nothing says which: no mean can be proven"
                )
            },
            || None,
        );
    }
    builder
}

fn push(builder: &mut Builder, id: SeriesId, samples: &[crate::model::Sample]) {
    samples.iter().for_each(|s| builder.push(id, s.at, s.value));
}

fn say_copies(builder: &mut Builder, merged: &Merged, dropped: &[u64]) {
    let total: u64 = dropped.iter().sum();
    if total == 0 {
        return;
    }
    let rows: u64 = merged.parts.iter().map(|p| p.rows).sum();
    let of: Vec<String> =
        merged.parts.iter().zip(dropped).filter(|(_, n)| **n > 0).map(|(p, n)| format!("{n} of {} in {}", p.rows, p.key)).collect();
    let first = merged.parts.iter().zip(dropped).find(|(_, n)| **n > 0).map(|(p, _)| p.key.clone());
    builder.note("copies_dropped", || format!("{total} of {rows} rows are copies of others: {}", of.join(", ")), || first);
}

/// Two clocks: a capture of each life of the scraper, and one of what no counter places in either. No sum is proven over both, and exemplars stay
/// out.
fn split(set: &Set, rows: &Rows, merged: &Merged, buckets: &[bool], of: &HashMap<(u32, i64), u8>) -> Vec<Builder> {
    const LIVES: [&str; 3] = ["the first start", "the second start", "one of two starts, not known which"];
    let mut out = Vec::new();
    for (life, word) in LIVES.iter().enumerate() {
        let mut builder = builder(set, rows);
        let mut any = false;
        for (i, series) in rows.table.series.iter().enumerate() {
            let Ok(id) = u32::try_from(i) else { break };
            let mut dropped = vec![0; merged.parts.len()];
            let mut samples = merged.series(id, series.endpoint, &mut dropped);
            samples.retain(|s| of.get(&(series.endpoint, s.at)).map_or(2, |&l| usize::from(l)) == life);
            if samples.is_empty() {
                continue;
            }
            any = true;
            if let Some(id) = add_series(&mut builder, rows, buckets, i) {
                push(&mut builder, id, &samples);
                // Of such a histogram there were sums, and they are nobody's here.
                let summed = series.set.and_then(|set| rows.table.sets.get(set as usize)).is_some_and(|set| set.witness.is_some());
                if let Some(trouble) = builder.trouble(id) {
                    trouble.sum_unproven |= summed;
                }
            }
        }
        if any {
            builder.note(
                "two_clocks",
                || format!("the scraper was started twice in one folder and both lives count from zero: this is {word}; samples of the other may have been overwritten"),
                || set.files.first().map(|f| f.key.clone()),
            );
            out.push(builder);
        }
    }
    out
}
