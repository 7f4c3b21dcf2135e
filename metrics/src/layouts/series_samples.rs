//! Two tables: one of series with a number each, one of samples with the number of their series.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{Schema, UInt64Type};

use super::batches::{Batches, Next, open};
use super::numbers::{both, pieces, precision, stamps, values};
use super::table::roles::{key_of, name_of, value_of};
use super::table::time::{From, Stamp, said};
use super::table::{Keys, Sink, largest, unread};
use super::texts::{Texts, is_text};
use super::{Candidate, Head, Layout, Part, ReadError, Set, look};
use crate::model::{Capture, Clock, StampOf};

/// A table of series and tables of their samples.
pub const SERIES_SAMPLES: Layout =
    Layout { name: "series-samples", about: "a table of series and tables of their samples", claim, read: self::read };

/// What a table is, with the place of the series' number.
enum Half {
    Series { id: usize, name: usize },
    Samples { id: usize, time: usize, stamp: Stamp, value: usize },
}

/// A column that may number series.
fn is_id(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["series", "sid", "fingerprint", "series_hash", "series_ref", "id"].contains(&name.as_str())
        || name.ends_with("series_id")
        || name.ends_with("metric_id")
}

/// The schema alone: cheap, and rules most tables out.
fn id_of(schema: &Schema) -> Option<usize> {
    let ids: Vec<usize> = (0..schema.fields().len())
        .filter(|&i| is_id(schema.field(i).name()) && (schema.field(i).data_type().is_integer() || is_text(schema.field(i).data_type())))
        .collect();
    match ids.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

fn half(candidate: &Candidate) -> Option<Half> {
    let schema = candidate.schema()?;
    let id = id_of(schema)?;
    if schema.field_with_name("time_unix_nano").is_ok() || schema.field_with_name("parent_id").is_ok() {
        return None;
    }
    let all: Vec<usize> = (0..schema.fields().len()).collect();
    let rows = Batches::first(candidate, &all)?;
    let metadata = match &candidate.head {
        Head::Parquet(metadata) => Some(metadata.as_ref()),
        _ => None,
    };
    let mut times = all.iter().filter(|&&i| i != id).filter_map(|&i| {
        let name = schema.field(i).name();
        let stamp = Stamp::of(name, rows.column(i), metadata.and_then(|m| largest(m, i)))?;
        (said(name) > 0).then_some((i, stamp))
    });
    match (name_of(&rows), times.next(), times.next()) {
        (Some(name), None, _) if value_of(&rows, &[id]).is_none() => Some(Half::Series { id, name }),
        // Samples have no words of their own.
        (None, Some((time, stamp)), None) if all.iter().all(|&i| i == id || !is_text(schema.field(i).data_type())) => {
            Some(Half::Samples { id, time, stamp, value: value_of(&rows, &[id, time])? })
        }
        _ => None,
    }
}

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut series: BTreeMap<(&str, String), Vec<&Candidate>> = BTreeMap::new();
    let mut samples: BTreeMap<(&str, String), Vec<&Candidate>> = BTreeMap::new();
    // No half without a file of the same folder that has a column of the same name.
    let column = |c: &Candidate| c.schema().and_then(|s| Some(s.field(id_of(s)?).name().clone()));
    for candidate in candidates {
        let Some(id) = column(candidate) else { continue };
        let other =
            candidates.iter().any(|c| c.path != candidate.path && c.folder() == candidate.folder() && column(c).as_ref() == Some(&id));
        if !other {
            continue;
        }
        let key = (candidate.folder(), id);
        match half(candidate) {
            Some(Half::Series { .. }) => series.entry(key).or_default().push(candidate),
            Some(Half::Samples { .. }) => samples.entry(key).or_default().push(candidate),
            None => {}
        }
    }
    let mut sets: Vec<Set> = Vec::new();
    for (key, tables) in samples {
        let Some(series) = series.get(&key) else { continue };
        for table in tables {
            let nearest = series.iter().map(|s| alike(s.name(), table.name())).max().unwrap_or(0);
            let near: Vec<&&Candidate> = series.iter().filter(|s| alike(s.name(), table.name()) == nearest).collect();
            let [of] = near.as_slice() else {
                let names = near.iter().map(|s| s.name()).collect::<Vec<_>>().join(", ");
                let tie = format!("{} could be of the series in {names}: names decide, and do not here", table.name());
                sets.push(Set { files: vec![table.part()], because: because(&key.1), ties: vec![tie], ..Set::default() });
                continue;
            };
            match sets.iter_mut().find(|s| s.ties.is_empty() && s.files.first().is_some_and(|f| f.path == of.path)) {
                Some(set) => set.files.push(table.part()),
                None => sets.push(Set { files: vec![of.part(), table.part()], because: because(&key.1), ..Set::default() }),
            }
        }
    }
    for set in &mut sets {
        if let Some((_, samples)) = set.files.split_first_mut() {
            samples.sort_by_key(|p| (p.key.len(), p.key.clone()));
        }
    }
    sets
}

fn because(id: &str) -> String {
    format!("a table of series and one of samples share the column {id}")
}

/// How many first characters two names share.
fn alike(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// A series' number, or its word.
#[derive(PartialEq, Eq, Hash)]
enum Id {
    Number(i64),
    Word(String),
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let path = |part: &Part| part.path.display().to_string();
    let Some((first, samples)) = set.files.split_first().filter(|_| set.ties.is_empty()) else {
        let why = set.ties.first().cloned().unwrap_or_else(|| "no table of series".into());
        let next = "keep each pair of tables in a folder of its own".into();
        return Err(ReadError::Declined { path: set.files.first().map_or_else(String::new, path), why, next });
    };
    let found = look(&first.path, &first.key);
    let Some(Half::Series { id, name }) = half(&found) else {
        return Err(ReadError::Damaged { path: path(first), why: "no table of series any more".into() });
    };
    let (mut keys, places, oddities) = series(&found, id, name)?;
    let mut sink: Option<Sink> = None;
    let mut files = vec![first.path.clone()];
    let mut unknown = 0;
    let mut some = vec![false; keys.identities.len()];
    for part in samples {
        let Some(Half::Samples { id, time, stamp, value }) = half(&look(&part.path, &part.key)) else {
            return Err(ReadError::Damaged { path: path(part), why: "no table of samples any more".into() });
        };
        files.push(part.path.clone());
        let clock = match stamp.from {
            From::Epoch => Clock::Wall,
            From::AssumedUtc => Clock::AssumedUtc,
            From::Start => Clock::Elapsed { anchor: None },
        };
        let sink = sink.get_or_insert_with(|| Sink::new(SERIES_SAMPLES.name, clock, StampOf::Unknown));
        let mut roots = vec![id, time, value];
        roots.sort_unstable();
        let place = |root: usize| roots.iter().position(|r| *r == root).unwrap_or(usize::MAX);
        let mut batches = open(&part.path, &roots)?;
        while let Some(next) = batches.next() {
            let taken = match next {
                Next::Rows(batch) => Samples { id: place(id), time: place(time), unit: stamp.unit, value: place(value) }.take(
                    &batch,
                    &keys,
                    &places,
                    &mut some,
                    &mut unknown,
                    sink,
                ),
                Next::Damage(why) => Err(why),
            };
            if let Err(why) = taken {
                sink.builder().note("damaged_rows", || why, || Some(path(part)));
            }
        }
    }
    let Some(mut sink) = sink else { return Err(ReadError::Damaged { path: path(first), why: "no samples beside it".into() }) };
    let builder = sink.builder();
    for (code, n, what) in [
        ("samples_of_unknown_series", unknown, "samples whose series is not in the table of series are left out"),
        ("series_without_samples", some.iter().filter(|s| !**s).count() as u64, "series of the table that have no sample"),
        ("series_twice", oddities.0, "a series' number stands twice in the table of series: the first counts"),
        ("damaged_rows", oddities.1, "rows of the table of series cannot be read"),
    ] {
        if n > 0 {
            builder.note_many(code, n, || what.to_string(), || Some(first.key.clone()));
        }
    }
    keys.identities.clear();
    Ok(sink.finish(&files))
}

/// The series by their numbers; then how many numbers stood twice, and how often rows were damaged.
type Known = (Keys, HashMap<Id, usize>, (u64, u64));

fn series(found: &Candidate, id: usize, name: usize) -> Result<Known, ReadError> {
    let all: Vec<usize> = (0..found.schema().map_or(0, |s| s.fields().len())).collect();
    let rows = Batches::first(found, &all)
        .ok_or_else(|| ReadError::Damaged { path: found.path.display().to_string(), why: "no series in it".into() })?;
    let (columns, target_label, _) = key_of(&rows, Some(name), |i| i == id, |_| false);
    let mut keys = Keys::new(columns);
    keys.target_label = target_label;
    let mut batches = open(&found.path, &all)?;
    let (mut places, mut spans) = (HashMap::new(), Vec::new());
    let mut odd = (0, 0);
    while let Some(next) = batches.next() {
        let Next::Rows(batch) = next else {
            odd.1 += 1;
            continue;
        };
        let ids = batch.columns().get(id).map(ids).unwrap_or_default();
        if keys.spans(&batch, &mut spans).is_err() {
            odd.1 += 1;
            continue;
        }
        let mut start = 0;
        for (end, id) in ids {
            // One row a series: the same number again is one too many.
            odd.0 += (end - start - 1) as u64;
            let span = spans.get(spans.partition_point(|(_, to, _)| *to <= start)).filter(|(from, ..)| *from <= start);
            if let (Some(id), Some(&(_, _, place))) = (id, span) {
                match places.entry(id) {
                    Entry::Occupied(_) => odd.0 += 1,
                    Entry::Vacant(free) => {
                        free.insert(place);
                    }
                }
            }
            start = end;
        }
    }
    Ok((keys, places, odd))
}

/// Rows up to where have which id; `None` where it is null.
fn ids(column: &ArrayRef) -> Vec<(usize, Option<Id>)> {
    let mut out: Vec<(usize, Option<Id>)> = Vec::new();
    let mut push = |row: usize, id: Option<Id>| match out.last_mut() {
        Some(last) if last.1 == id => last.0 = row + 1,
        _ => out.push((row + 1, id)),
    };
    if column.data_type().is_integer() {
        // Hashes of 64 bits without sign do not fit, and are told apart as they are.
        if let Some(whole) = column.as_primitive_opt::<UInt64Type>() {
            (0..whole.len()).for_each(|row| push(row, whole.is_valid(row).then(|| Id::Number(whole.value(row).cast_signed()))));
            return out;
        }
        if let Some(numbers) = stamps(column, 1) {
            let valid = |row| numbers.valid.as_ref().is_none_or(|n| n.is_valid(row));
            let mut row = 0;
            while let Some(&number) = numbers.numbers.get(row) {
                push(row, valid(row).then_some(Id::Number(number)));
                row += 1;
            }
        }
    } else if let Some(texts) = Texts::of(column) {
        (0..texts.len()).for_each(|row| push(row, texts.get(row).map(|t| Id::Word(t.to_string()))));
    }
    out
}

/// Places of the columns of a batch of samples.
struct Samples {
    id: usize,
    time: usize,
    unit: i64,
    value: usize,
}

impl Samples {
    fn take(
        &self,
        batch: &RecordBatch,
        keys: &Keys,
        places: &HashMap<Id, usize>,
        some: &mut [bool],
        unknown: &mut u64,
        sink: &mut Sink,
    ) -> Result<(), String> {
        let column = |place: usize| batch.columns().get(place).ok_or_else(|| "a column is missing".to_string());
        let (id, time, value) = (column(self.id)?, column(self.time)?, column(self.value)?);
        let precision = precision(value.data_type());
        let times = stamps(time, self.unit).ok_or_else(|| unread(time))?;
        let mut rounded = 0;
        let numbers = values(value, &mut rounded).ok_or_else(|| unread(value))?;
        let valid = both(&times.valid, &numbers.valid);
        let absent = valid.as_ref().map_or(0, |v| v.null_count() as u64);
        for (code, n, what) in [
            ("rounded_values", rounded, "whole numbers beyond 2^53 are rounded to 64-bit floats"),
            ("rows_without_value", absent, "rows without a time or a value are no samples"),
        ] {
            if n > 0 {
                sink.builder().note_many(code, n, || what.to_string(), || None);
            }
        }
        let mut start = 0;
        for (end, id) in ids(id) {
            let place = id.and_then(|id| places.get(&id).copied());
            match place.and_then(|place| Some((place, keys.identities.get(place)?))) {
                Some((place, identity)) => {
                    if let Some(some) = some.get_mut(place) {
                        *some = true;
                    }
                    pieces(&valid, start, end, |from, to| {
                        sink.add(place, |b| identity.series(b, precision), &times.numbers[from..to], &numbers.numbers[from..to]);
                    });
                }
                None => *unknown += (end - start) as u64,
            }
            start = end;
        }
        Ok(())
    }
}
