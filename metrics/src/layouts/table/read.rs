//! Rows of a table to series: stretches of rows of one series are handed over as they lie in the batch.

use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;

use super::keys::{Identity, Keys, MOST, Role};
use super::roles::{Mapping, Values};
use super::sink::Sink;
use crate::layouts::ReadError;
use crate::layouts::batches::{Next, open};
use crate::layouts::labels::{braces, split};
use crate::layouts::numbers::{both, pieces, precision, stamps, values};
use crate::layouts::runs::ranges;
use crate::model::{Labels, Precision};

/// A table's columns that are read, by place in its batches.
pub struct Table {
    roots: Vec<usize>,
    time: usize,
    unit: i64,
    values: Values,
    pub keys: Keys,
    wide: Vec<Wide>,
    /// Where this table's series begin among those of the sink.
    pub first_slot: usize,
}

/// A column of a wide table, and the series that it is for each key.
struct Wide {
    place: usize,
    name: String,
    labels: Labels,
    precision: Precision,
}

/// A sample a row, from these places of the file's schema.
pub fn narrow(time: usize, unit: i64, value: usize, keys: Vec<(usize, Role)>) -> Table {
    Table::new(time, unit, Values::One(value), keys)
}

impl Table {
    pub(super) fn of(mapping: &Mapping) -> Table {
        let mut table = Table::new(mapping.time, mapping.stamp.unit, mapping.values.clone(), mapping.keys.clone());
        table.keys.target_label = mapping.target_label;
        table
    }

    fn new(time: usize, unit: i64, values: Values, keys: Vec<(usize, Role)>) -> Table {
        let mut roots: Vec<usize> = keys.iter().map(|(i, _)| *i).chain([time]).collect();
        match &values {
            Values::One(v) | Values::Lists(v) => roots.push(*v),
            Values::Wide(columns) => roots.extend(columns),
        }
        roots.sort_unstable();
        roots.dedup();
        let place = |root: usize| roots.binary_search(&root).unwrap_or(usize::MAX);
        let values = match values {
            Values::One(v) => Values::One(place(v)),
            Values::Lists(v) => Values::Lists(place(v)),
            Values::Wide(columns) => Values::Wide(columns.into_iter().map(place).collect()),
        };
        let keys = Keys::new(keys.into_iter().map(|(i, role)| (place(i), role)).collect::<Vec<_>>());
        Table { time: place(time), unit, values, keys, wide: Vec::new(), first_slot: 0, roots }
    }

    /// Reads a file; how many samples it gave.
    pub fn read(&mut self, path: &Path, sink: &mut Sink) -> Result<u64, ReadError> {
        let mut batches = open(path, &self.roots)?;
        let mut spans = Vec::new();
        let mut samples = 0;
        while let Some(next) = batches.next() {
            let taken = match next {
                Next::Rows(batch) => self.batch(&batch, &mut spans, sink, path),
                Next::Damage(why) => Err(why),
            };
            match taken {
                Ok(n) => samples += n,
                Err(why) => sink.builder().note("damaged_rows", || why, || Some(path.display().to_string())),
            }
        }
        let first = || Some(path.display().to_string());
        let series = self.keys.identities.len();
        if series > MANY {
            sink.builder().note("many_series", || format!("{series} sets of labels in one file: one of them may name each request"), first);
        }
        Ok(samples)
    }

    fn batch(&mut self, batch: &RecordBatch, spans: &mut Vec<(usize, usize, usize)>, sink: &mut Sink, path: &Path) -> Result<u64, String> {
        let dropped = self.keys.spans(batch, spans)?;
        count(sink, path, "series_left_out", dropped, || format!("rows of more than {MOST} series are left out"));
        let column = |place: usize| batch.columns().get(place).ok_or_else(|| "a column is missing".to_string());
        let time = column(self.time)?;
        let mut samples = 0;
        match self.values.clone() {
            Values::Lists(value) => return self.lists(time, column(value)?, spans, sink, path),
            Values::One(value) => {
                let value = column(value)?;
                let precision = precision(value.data_type());
                let times = stamps(time, self.unit).ok_or_else(|| unread(time))?;
                let mut rounded = 0;
                let values = values(value, &mut rounded).ok_or_else(|| unread(value))?;
                note_rounded(sink, path, rounded);
                note_absent(sink, path, absent(&times.valid), absent(&values.valid));
                let valid = both(&times.valid, &values.valid);
                for &(from, to, slot) in spans.iter() {
                    let Some(identity) = self.keys.identities.get(slot) else { continue };
                    pieces(&valid, from, to, |from, to| {
                        samples += (to - from) as u64;
                        sink.add(
                            self.first_slot + slot,
                            |b| identity.series(b, precision),
                            &times.numbers[from..to],
                            &values.numbers[from..to],
                        );
                    });
                }
            }
            Values::Wide(columns) => {
                let times = stamps(time, self.unit).ok_or_else(|| unread(time))?;
                note_absent(sink, path, absent(&times.valid), 0);
                if self.wide.is_empty() {
                    self.wide = columns.iter().filter_map(|&place| Wide::of(batch, place)).collect();
                }
                // Where time falls a new life of the clock begins, for all columns at once.
                let mut stretches: Vec<(usize, usize, usize)> = Vec::new();
                for &(from, to, slot) in spans.iter() {
                    let mut start = from;
                    for row in from + 1..to {
                        if times.numbers[row] < times.numbers[row - 1] {
                            stretches.push((start, row, slot));
                            start = row;
                        }
                    }
                    stretches.push((start, to, slot));
                }
                let mut rounded = 0;
                let mut read = Vec::with_capacity(self.wide.len());
                for wide in &self.wide {
                    let column = column(wide.place)?;
                    let values = values(column, &mut rounded).ok_or_else(|| unread(column))?;
                    let valid = both(&times.valid, &values.valid);
                    read.push((values.numbers, valid));
                }
                note_rounded(sink, path, rounded);
                for (from, to, key) in stretches {
                    for (n, (wide, (numbers, valid))) in self.wide.iter().zip(&read).enumerate() {
                        let Some(of) = self.keys.identities.get(key) else { continue };
                        let slot = self.first_slot + key * self.wide.len() + n;
                        pieces(valid, from, to, |from, to| {
                            samples += (to - from) as u64;
                            sink.add(slot, |b| wide.identity(of).series(b, wide.precision), &times.numbers[from..to], &numbers[from..to]);
                        });
                    }
                }
            }
        }
        Ok(samples)
    }

    fn lists(
        &self,
        time: &ArrayRef,
        value: &ArrayRef,
        spans: &[(usize, usize, usize)],
        sink: &mut Sink,
        path: &Path,
    ) -> Result<u64, String> {
        let precision = precision(value.data_type());
        let (time_rows, times) = opened(time).ok_or_else(|| unread(time))?;
        let (value_rows, numbers) = opened(value).ok_or_else(|| unread(value))?;
        let times = stamps(&times, self.unit).ok_or_else(|| unread(time))?;
        let mut rounded = 0;
        let numbers = values(&numbers, &mut rounded).ok_or_else(|| unread(value))?;
        note_rounded(sink, path, rounded);
        let mut samples = 0;
        let (mut uneven, mut missing) = (0, 0);
        for &(from, to, slot) in spans {
            let Some(identity) = self.keys.identities.get(slot) else { continue };
            for row in from..to {
                let (Some(&(t, t_end)), Some(&(v, v_end))) = (time_rows.get(row), value_rows.get(row)) else { continue };
                let n = (t_end - t).min(v_end - v);
                if t_end - t != v_end - v {
                    uneven += 1;
                }
                let valid = |i: usize| {
                    times.valid.as_ref().is_none_or(|n| n.is_valid(t + i)) && numbers.valid.as_ref().is_none_or(|n| n.is_valid(v + i))
                };
                let mut start = 0;
                for i in 0..=n {
                    if i < n && valid(i) {
                        continue;
                    }
                    if start < i {
                        samples += (i - start) as u64;
                        let (times, values) = (&times.numbers[t + start..t + i], &numbers.numbers[v + start..v + i]);
                        sink.add(self.first_slot + slot, |b| identity.series(b, precision), times, values);
                    }
                    missing += u64::from(i < n);
                    start = i + 1;
                }
            }
        }
        count(sink, path, "uneven_lists", uneven, || {
            "series with more times than values or more values than times: the shorter counts".into()
        });
        note_absent(sink, path, 0, missing);
        Ok(samples)
    }
}

/// More series than a capture of one run has.
const MANY: usize = 100_000;

impl Wide {
    fn of(batch: &RecordBatch, place: usize) -> Option<Wide> {
        let schema = batch.schema();
        let field = schema.fields().get(place)?;
        let (name, inline) = split(field.name());
        let pairs = inline.and_then(braces).unwrap_or_default().pairs;
        let labels = Labels::new(pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        Some(Wide { place, name: name.to_string(), labels, precision: precision(field.data_type()) })
    }

    fn identity(&self, of: &Identity) -> Identity {
        let pairs = self.labels.iter().chain(of.labels.iter());
        Identity {
            target: of.target.clone(),
            name: self.name.clone(),
            labels: Labels::new(pairs),
            damaged: of.damaged,
            ..Identity::default()
        }
    }
}

/// Ranges and items of a list column.
fn opened(column: &ArrayRef) -> Option<(Vec<(usize, usize)>, ArrayRef)> {
    match column.data_type() {
        DataType::List(_) => {
            let list = column.as_list_opt::<i32>()?;
            Some((ranges(list.value_offsets().iter().map(|&o| i64::from(o)), column)?, list.values().clone()))
        }
        DataType::LargeList(_) => {
            let list = column.as_list_opt::<i64>()?;
            Some((ranges(list.value_offsets().iter().copied(), column)?, list.values().clone()))
        }
        _ => None,
    }
}

/// A column is of a type that holds no numbers.
pub fn unread(column: &ArrayRef) -> String {
    format!("a column of {} cannot be read as numbers", column.data_type())
}

fn absent(valid: &Option<arrow::buffer::NullBuffer>) -> u64 {
    valid.as_ref().map_or(0, |n| n.null_count() as u64)
}

fn count(sink: &mut Sink, path: &Path, code: &'static str, n: u64, what: impl FnOnce() -> String) {
    if n > 0 {
        sink.builder().note_many(code, n, what, || Some(path.display().to_string()));
    }
}

fn note_rounded(sink: &mut Sink, path: &Path, n: u64) {
    count(sink, path, "rounded_values", n, || "whole numbers beyond 2^53 are rounded to 64-bit floats".into());
}

fn note_absent(sink: &mut Sink, path: &Path, times: u64, values: u64) {
    count(sink, path, "rows_without_time", times, || "rows whose time is null, not a number or out of range are left out".into());
    count(sink, path, "rows_without_value", values, || "rows whose value is null are no samples".into());
}
