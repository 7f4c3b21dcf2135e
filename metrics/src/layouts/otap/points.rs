//! Points to series. Buckets come as counts of each and become cumulative; points since the last one (delta) are added up.

use std::collections::{BTreeMap, HashMap};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;

use super::attrs::Attributes;
use super::{each, kind};
use crate::build::Builder;
use crate::layouts::numbers::{Column, nanoseconds, stamps, values};
use crate::layouts::runs::ranges;
use crate::layouts::texts::Texts;
use crate::layouts::{Part, ReadError};
use crate::model::{Kind, Labels, Precision, SECOND, SeriesId};

/// A row of `univariate_metrics`.
pub struct Metric {
    pub name: String,
    pub kind: Kind,
    pub unit: Option<String>,
    pub help: Option<String>,
    /// Points hold what came since the one before.
    delta: bool,
}

/// The metrics by number.
pub fn metrics(file: &Part, builder: &mut Builder) -> Result<BTreeMap<u64, Metric>, ReadError> {
    let mut out = BTreeMap::new();
    each(&file.path, builder, |batch, builder| {
        let number = |name: &str| batch.column_by_name(name).and_then(|c| values(&plain(c), &mut 0));
        let text = |name: &str| batch.column_by_name(name).and_then(Texts::of);
        let ids = number("id").ok_or("id is no number")?;
        let names = text("name").ok_or("name is no text")?;
        let (kinds, temporality) = (number("metric_type"), number("aggregation_temporality"));
        let monotonic = batch.column_by_name("is_monotonic").and_then(|c| c.as_boolean_opt());
        let (unit, help) = (text("unit"), text("description"));
        let some = |t: &Option<Texts>, row| t.as_ref().and_then(|t| t.get(row)).filter(|t| !t.is_empty()).map(str::to_string);
        for row in 0..batch.num_rows() {
            let (Some(id), Some(name)) = (get(&ids, row), names.get(row)) else {
                builder.note("metric_without_name", || "a metric without number or name".into(), || Some(file.key.clone()));
                continue;
            };
            let number = kinds.as_ref().and_then(|k| get(k, row));
            let kind = kind(number, monotonic.and_then(|m| m.is_valid(row).then(|| m.value(row))));
            // AGGREGATION_TEMPORALITY_DELTA is 1, CUMULATIVE 2.
            let delta = temporality.as_ref().and_then(|t| get(t, row)) == Some(1.0);
            out.insert(id as u64, Metric { name: name.to_string(), kind, unit: some(&unit, row), help: some(&help, row), delta });
        }
        Ok(())
    })?;
    Ok(out)
}

/// Numbers may lie in a dictionary.
fn plain(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Dictionary(_, of) => arrow::compute::cast(column, of).unwrap_or_else(|_| column.clone()),
        _ => column.clone(),
    }
}

/// Series of the points that were met.
pub struct Points<'a> {
    metrics: &'a BTreeMap<u64, Metric>,
    attributes: &'a Attributes,
    /// By metric, set of labels, and what of a point it is.
    series: HashMap<(u64, u32, Of), Series>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    Value,
    Created,
    Sum,
    Count,
    /// Up to the bound of these bits.
    Bucket(u64),
}

struct Series {
    id: SeriesId,
    /// Of delta points.
    total: f64,
    begun: bool,
}

/// What a point says of its time.
struct At {
    metric: u64,
    place: u32,
    time: i64,
    start: Option<i64>,
}

impl<'a> Points<'a> {
    pub fn new(metrics: &'a BTreeMap<u64, Metric>, attributes: &'a Attributes) -> Points<'a> {
        Points { metrics, attributes, series: HashMap::new() }
    }

    /// Rows of a table of points.
    pub fn take(&mut self, batch: &RecordBatch, histogram: bool, builder: &mut Builder) -> Result<(), String> {
        let number = |name: &str| batch.column_by_name(name).and_then(|c| values(&plain(c), &mut 0));
        let stamp = |name: &str| {
            let column = batch.column_by_name(name)?;
            let unit = match column.data_type() {
                DataType::Timestamp(unit, _) => nanoseconds(*unit),
                _ => 1,
            };
            stamps(column, unit)
        };
        let (ids, parents) = (number("id").ok_or("id is no number")?, number("parent_id").ok_or("parent_id is no number")?);
        let times = stamp("time_unix_nano").ok_or("time_unix_nano is no time")?;
        let starts = stamp("start_time_unix_nano");
        let whole = number("int_value");
        let float = number("double_value");
        let (count, sum) = (number("count"), number("sum"));
        let buckets = match histogram {
            true => Some((
                Lists::of(batch.column_by_name("bucket_counts")).ok_or("bucket_counts is no list")?,
                Lists::of(batch.column_by_name("explicit_bounds")).ok_or("explicit_bounds is no list")?,
            )),
            false => None,
        };
        for row in 0..batch.num_rows() {
            let (Some(parent), Some(time)) = (get(&parents, row), at(&times, row)) else {
                builder.note("point_without_time", || "points without a metric or without time are left out".into(), || None);
                continue;
            };
            let Some(metric) = self.metrics.get(&(parent as u64)) else {
                builder.note(
                    "point_without_metric",
                    || "points of a metric that univariate_metrics does not name are left out".into(),
                    || None,
                );
                continue;
            };
            // A point without a number has no attributes.
            let (place, labels) = get(&ids, row).map_or((0, Labels::default()), |id| self.attributes.get(id as u64));
            let start = starts.as_ref().and_then(|s| at(s, row)).filter(|&s| s != 0);
            let at = At { metric: parent as u64, place, time, start };
            let value = |c: &Option<Column<f64>>| c.as_ref().and_then(|c| get(c, row));
            match &buckets {
                None => match value(&float).or_else(|| value(&whole)) {
                    Some(v) => self.put(metric, &at, &labels, Of::Value, v, builder),
                    None => {
                        builder.note("rows_without_value", || "points that say that no value was recorded are no samples".into(), || None)
                    }
                },
                Some((counts, bounds)) => {
                    self.histogram(metric, &at, &labels, (value(&count), value(&sum)), (counts, bounds, row), builder)
                }
            }
            if let Some(start) = start {
                self.put(metric, &at, &labels, Of::Created, start as f64 / SECOND as f64, builder);
            }
        }
        Ok(())
    }

    fn histogram(
        &mut self,
        metric: &Metric,
        at: &At,
        labels: &Labels,
        (count, sum): (Option<f64>, Option<f64>),
        (counts, bounds, row): (&Lists, &Lists, usize),
        builder: &mut Builder,
    ) {
        if let Some(sum) = sum {
            self.put(metric, at, labels, Of::Sum, sum, builder);
        }
        if let Some(count) = count {
            self.put(metric, at, labels, Of::Count, count, builder);
        }
        let (counts, bounds) = (counts.row(row), bounds.row(row));
        if counts.is_empty() {
            return;
        }
        if counts.len() != bounds.len() + 1 {
            builder.note(
                "uneven_buckets",
                || "histogram points whose counts are not one more than their bounds: buckets left out".into(),
                || None,
            );
            return;
        }
        let mut below = 0.0;
        for (n, bound) in counts.iter().zip(bounds.iter().copied().chain([f64::INFINITY])) {
            below += n;
            self.put(metric, at, labels, Of::Bucket(bound.to_bits()), below, builder);
        }
        if count.is_some_and(|count| count != below) {
            builder.note("count_differs", || "histogram points whose count is not the sum of their buckets".into(), || None);
        }
    }

    fn put(&mut self, metric: &Metric, at: &At, labels: &Labels, of: Of, value: f64, builder: &mut Builder) {
        let series = self.series.entry((at.metric, at.place, of)).or_insert_with(|| {
            let endpoint = builder.endpoint("");
            let id = match of {
                Of::Value => builder.series(endpoint, &metric.name, labels, Precision::F64),
                Of::Created => builder.series(endpoint, &format!("{}_created", metric.name), labels, Precision::F64),
                Of::Sum => builder.series(endpoint, &format!("{}_sum", metric.name), labels, Precision::F64),
                Of::Count => builder.series(endpoint, &format!("{}_count", metric.name), labels, Precision::F64),
                Of::Bucket(bits) => {
                    let bound = f64::from_bits(bits).to_string();
                    let labels = Labels::new(labels.iter().filter(|(k, _)| *k != "le").chain([("le", bound.as_str())]));
                    builder.series(endpoint, &format!("{}_bucket", metric.name), &labels, Precision::F64)
                }
            };
            Series { id, total: 0.0, begun: false }
        });
        if !metric.delta || of == Of::Created {
            builder.push(series.id, at.time, value);
            return;
        }
        if !series.begun {
            series.begun = true;
            // Nothing had been counted when the first point's time began.
            if let Some(start) = at.start.filter(|&start| start < at.time) {
                builder.push(series.id, start, 0.0);
            }
            builder.note(
                "delta_added_up",
                || "series whose points are differences are added up; points that were lost are missing from them".into(),
                || Some(metric.name.clone()),
            );
        }
        series.total += value;
        builder.push(series.id, at.time, series.total);
    }
}

/// Lists of numbers.
struct Lists {
    rows: Vec<(usize, usize)>,
    numbers: Column<f64>,
}

impl Lists {
    fn of(column: Option<&ArrayRef>) -> Option<Lists> {
        let column = column?;
        let (rows, items) = match column.data_type() {
            DataType::List(_) => {
                let list = column.as_list_opt::<i32>()?;
                (ranges(list.value_offsets().iter().map(|&o| i64::from(o)), column)?, list.values())
            }
            DataType::LargeList(_) => {
                let list = column.as_list_opt::<i64>()?;
                (ranges(list.value_offsets().iter().copied(), column)?, list.values())
            }
            _ => return None,
        };
        Some(Lists { rows, numbers: values(items, &mut 0)? })
    }

    fn row(&self, row: usize) -> &[f64] {
        let (from, to) = self.rows.get(row).copied().unwrap_or((0, 0));
        self.numbers.numbers.get(from..to).unwrap_or(&[])
    }
}

fn get(column: &Column<f64>, row: usize) -> Option<f64> {
    column.valid.as_ref().is_none_or(|n| n.is_valid(row)).then(|| column.numbers.get(row).copied()).flatten()
}

fn at(column: &Column<i64>, row: usize) -> Option<i64> {
    column.valid.as_ref().is_none_or(|n| n.is_valid(row)).then(|| column.numbers.get(row).copied()).flatten()
}
