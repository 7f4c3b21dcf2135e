//! From record batches to series: every row once, as it stands.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Float32Array, Float64Array, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Int32Type};

use super::names;
use super::table::Table;
use crate::blocks::Writer;
use crate::model::{Labels, Precision};

/// Columns that are not facts of an endpoint.
const OWN: [&str; 3] = ["scraper_endpoint", "metric_name", "metric_name_clean"];
/// So many exemplars are kept.
const EXEMPLARS: usize = 100_000;

/// What the rows of a set are read into.
#[derive(Debug, Default)]
pub struct Rows {
    pub table: Table,
    /// Sum and count that stand on the witness bucket of each label set: series `2 * set` and `2 * set + 1`.
    pub stamps: Writer,
    pub precision: Precision,
    pub exemplars: Vec<Exemplar>,
    pub exemplar_rows: u64,
    /// Rows without a value, a name or a time.
    pub incomplete: u64,
    /// Times are a wall clock's.
    pub wall: bool,
    /// Least and greatest wall time of a capture's start that rows say: stamp minus elapsed time.
    pub starts: Option<(i64, i64)>,
    pending: Pending,
}

/// Samples of one batch by series. Endpoints alternate from row to row, and a writer takes many samples of one series faster than one of many.
#[derive(Debug, Default)]
struct Pending {
    /// Place of a series in `of` plus one; 0 for none.
    places: Vec<u32>,
    of: Vec<(u32, Vec<i64>, Vec<f64>)>,
    used: usize,
}

impl Pending {
    fn push(&mut self, series: u32, at: i64, value: f64) {
        let index = series as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        let Some(place) = self.places.get_mut(index) else { return };
        if *place == 0 {
            if self.of.len() == self.used {
                self.of.push(Default::default());
            }
            self.used += 1;
            *place = u32::try_from(self.used).unwrap_or(u32::MAX);
        }
        if let Some((id, times, values)) = self.of.get_mut(*place as usize - 1) {
            *id = series;
            times.push(at);
            values.push(value);
        }
    }

    fn flush(&mut self, samples: &mut Writer) {
        for (series, times, values) in self.of.iter_mut().take(self.used) {
            samples.extend(*series, times, values);
            times.clear();
            values.clear();
            if let Some(place) = self.places.get_mut(*series as usize) {
                *place = 0;
            }
        }
        self.used = 0;
    }
}

#[derive(Debug)]
pub struct Exemplar {
    pub series: u32,
    pub at: i64,
    pub labels: Labels,
    pub value: f64,
}

impl Rows {
    /// Takes a batch into `samples`; the number of its rows that are in it.
    ///
    /// # Errors
    /// A column is missing or of a type that the scraper does not write.
    pub fn take(&mut self, batch: &RecordBatch, samples: &mut Writer) -> Result<u64, String> {
        let column = |name: &str| batch.column_by_name(name).ok_or_else(|| format!("no column {name}"));
        let values = Numbers::of("metric_value", column("metric_value")?)?;
        if values.precision() == Precision::F32 {
            self.precision = Precision::F32;
        }
        let times = Times::of(batch)?;
        self.wall |= times.wall.is_some();
        // most batches hold no bucket: columns without a value are not looked at row by row
        let number = |name: &str| batch.column_by_name(name).filter(|c| c.null_count() < c.len()).map(|c| Numbers::of(name, c)).transpose();
        let (upper, sum, count) = (number("histogram_bucket_upper")?, number("histogram_sum")?, number("histogram_count")?);
        let names = column("metric_name")?;
        let endpoints = column("scraper_endpoint")?;
        let endpoint_codes = codes(endpoints, |text| self.table.endpoint(text))?;
        let name_codes = codes(names, |text| self.table.name(text))?;
        self.facts(batch, &endpoint_codes)?;

        let mut last = None;
        let mut kept = 0;
        for row in 0..batch.num_rows() {
            let (Some(&Some(endpoint)), Some(&Some(name)), Some(at), Some(value)) =
                (endpoint_codes.get(row), name_codes.get(row), times.get(row), values.get(row))
            else {
                self.incomplete += 1;
                continue;
            };
            let series = match last {
                Some((e, n, series)) if (e, n) == (endpoint, name) => series,
                _ => self.table.of(endpoint, name),
            };
            last = Some((endpoint, name, series));
            self.pending.push(series, at, value);
            kept += 1;
            if upper.as_ref().is_some_and(|u| u.get(row).is_some())
                && let Some(series) = self.table.series.get_mut(series as usize)
            {
                series.upper = true;
            }
            if let Some(count) = count.as_ref().and_then(|c| c.get(row)) {
                self.stamp(series, at, sum.as_ref().and_then(|s| s.get(row)), count);
            }
            if let Some((low, high)) = times.start(row) {
                let (l, h) = self.starts.unwrap_or((low, high));
                self.starts = Some((l.min(low), h.max(high)));
            }
            if self.table.names.get(name as usize).is_some_and(|n| n.foreign) {
                self.exemplar(series, at, value, text(names, row).unwrap_or(""));
            }
        }
        self.pending.flush(samples);
        Ok(kept)
    }

    fn stamp(&mut self, series: u32, at: i64, sum: Option<f64>, count: f64) {
        let Some(set) = self.table.series.get(series as usize).and_then(|s| s.set) else { return };
        let Some(row) = self.table.sets.get_mut(set as usize) else { return };
        if *row.witness.get_or_insert(series) != series {
            return;
        }
        if let Some(sum) = sum {
            self.stamps.push(2 * set, at, sum);
        }
        self.stamps.push(2 * set + 1, at, count);
    }

    fn exemplar(&mut self, series: u32, at: i64, value: f64, text: &str) {
        self.exemplar_rows += 1;
        if self.exemplars.len() < EXEMPLARS
            && let Some(exemplar) = names::parse(text).exemplar
        {
            self.exemplars.push(Exemplar { series, at, labels: exemplar.labels, value });
        }
    }

    /// What the columns of text say of endpoints: from the first row of each in a batch.
    fn facts(&mut self, batch: &RecordBatch, endpoints: &[Option<u32>]) -> Result<(), String> {
        let mut first: HashMap<u32, usize> = HashMap::new();
        let mut last = None;
        for (row, endpoint) in endpoints.iter().enumerate() {
            if *endpoint != last
                && let Some(endpoint) = endpoint
            {
                first.entry(*endpoint).or_insert(row);
            }
            last = *endpoint;
        }
        let schema = batch.schema();
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            if OWN.contains(&field.name().as_str()) || !is_text(field.data_type()) {
                continue;
            }
            for (&endpoint, &row) in &first {
                if let Some(value) = text(column, row) {
                    self.table.fact(endpoint, field.name(), value);
                }
            }
        }
        Ok(())
    }
}

/// Whether a column is text as Polars or the scraper writes it, or as dictionary of such.
pub fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(keys, of) => {
            **keys == DataType::Int32 && matches!(**of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        }
        _ => false,
    }
}

fn text(column: &ArrayRef, row: usize) -> Option<&str> {
    if row >= column.len() || column.is_null(row) {
        return None;
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string_opt::<i32>().map(|c| c.value(row)),
        DataType::LargeUtf8 => column.as_string_opt::<i64>().map(|c| c.value(row)),
        DataType::Utf8View => column.as_string_view_opt().map(|c| c.value(row)),
        DataType::Dictionary(_, _) => {
            let dictionary = column.as_dictionary_opt::<Int32Type>()?;
            text(dictionary.values(), dictionary.key(row)?)
        }
        _ => None,
    }
}

/// What `number` says of each row's text: it is asked once for each value of a dictionary, and once for equal rows that follow each other.
fn codes(column: &ArrayRef, mut number: impl FnMut(&str) -> u32) -> Result<Vec<Option<u32>>, String> {
    if let Some(dictionary) = column.as_dictionary_opt::<Int32Type>() {
        return Ok(of_dictionary(dictionary, number));
    }
    if !is_text(column.data_type()) {
        return Err(format!("names of type {}", column.data_type()));
    }
    let mut last: Option<(&str, u32)> = None;
    let code = |row| {
        let text = text(column, row)?;
        if let Some((same, code)) = last
            && same == text
        {
            return Some(code);
        }
        let code = number(text);
        last = Some((text, code));
        Some(code)
    };
    Ok((0..column.len()).map(code).collect())
}

fn of_dictionary(column: &DictionaryArray<Int32Type>, mut number: impl FnMut(&str) -> u32) -> Vec<Option<u32>> {
    let values = column.values();
    let mut known: Vec<Option<u32>> = vec![None; values.len()];
    let code = |row| {
        let key = column.key(row)?;
        let known = known.get_mut(key)?;
        if known.is_none() {
            *known = text(values, key).map(&mut number);
        }
        *known
    };
    (0..column.len()).map(code).collect()
}

/// A column of numbers of either generation.
enum Numbers<'a> {
    F32(&'a Float32Array),
    F64(&'a Float64Array),
}

impl Numbers<'_> {
    fn of<'a>(name: &str, column: &'a ArrayRef) -> Result<Numbers<'a>, String> {
        match column.data_type() {
            DataType::Float32 => column.as_any().downcast_ref().map(Numbers::F32),
            DataType::Float64 => column.as_any().downcast_ref().map(Numbers::F64),
            _ => None,
        }
        .ok_or_else(|| format!("column {name} is of type {}, not a float", column.data_type()))
    }

    fn get(&self, row: usize) -> Option<f64> {
        match self {
            Numbers::F32(c) => (row < c.len() && !c.is_null(row)).then(|| f64::from(c.value(row))),
            Numbers::F64(c) => (row < c.len() && !c.is_null(row)).then(|| c.value(row)),
        }
    }

    fn precision(&self) -> Precision {
        match self {
            Numbers::F32(_) => Precision::F32,
            Numbers::F64(_) => Precision::F64,
        }
    }
}

/// Stamps of rows: wall time where the generation has it, else time since the start.
struct Times<'a> {
    elapsed: Option<Numbers<'a>>,
    wall: Option<&'a Int64Array>,
}

impl Times<'_> {
    fn of(batch: &RecordBatch) -> Result<Times<'_>, String> {
        let elapsed = batch.column_by_name("time_since_start").map(|c| Numbers::of("time_since_start", c)).transpose()?;
        let wall = match batch.column_by_name("timestamp_ns") {
            Some(c) => Some(c.as_any().downcast_ref().ok_or_else(|| format!("column timestamp_ns is of type {}", c.data_type()))?),
            None => None,
        };
        if elapsed.is_none() && wall.is_none() {
            return Err("no column time_since_start and none timestamp_ns".into());
        }
        Ok(Times { elapsed, wall })
    }

    fn get(&self, row: usize) -> Option<i64> {
        match self.wall {
            Some(wall) => (row < wall.len() && !wall.is_null(row)).then(|| wall.value(row)),
            None => nanoseconds(self.elapsed.as_ref()?.get(row)?),
        }
    }

    fn start(&self, row: usize) -> Option<(i64, i64)> {
        let at = self.wall.filter(|w| row < w.len() && !w.is_null(row))?.value(row);
        let start = at.checked_sub(nanoseconds(self.elapsed.as_ref()?.get(row)?)?)?;
        Some((start, start))
    }
}

/// Seconds of the column as nanoseconds; nothing for what is no time.
fn nanoseconds(seconds: f64) -> Option<i64> {
    let scaled = (seconds * 1e9).round();
    (scaled.abs() < 9.2e18).then_some(scaled as i64)
}
