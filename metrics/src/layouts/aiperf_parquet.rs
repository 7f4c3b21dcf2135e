//! AIPerf's `server_metrics_export.parquet` (0.13.0): long rows, a column a label, counters and buckets as differences from the last sample before
//! profiling began, never below zero.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Schema};

use super::batches::{Next, open};
use super::numbers::{Column, stamps, values};
use super::runs::{Numbers, together};
use super::table::{endpoint, unread};
use super::texts::{Texts, is_text};
use super::{Candidate, Head, Layout, ReadError, Set, look};
use crate::build::Builder;
use crate::model::{Capture, Clock, EndpointId, Fidelity, Kind, Labels, Precision, SeriesId, StampOf};

/// AIPerf's Parquet.
pub const AIPERF_PARQUET: Layout =
    Layout { name: "aiperf-parquet", about: "AIPerf's server_metrics_export.parquet", claim, read: self::read };

const SIGNATURE: [&str; 3] = ["endpoint_url", "metric_type", "bucket_le"];
/// Columns that are no labels.
const OWN: [&str; 11] = [
    "endpoint_url",
    "metric_name",
    "metric_type",
    "unit",
    "description",
    "timestamp_ns",
    "value",
    "sum",
    "count",
    "bucket_le",
    "bucket_count",
];

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let own = |c: &&Candidate| c.schema().is_some_and(|s| SIGNATURE.iter().all(|name| s.field_with_name(name).is_ok()));
    let because = |c: &Candidate| {
        let version = footer(c, "aiperf.version").map_or(String::new(), |v| format!(" {v}"));
        format!("columns endpoint_url, metric_type, bucket_le: AIPerf{version}, counters since a base")
    };
    candidates.iter().filter(own).map(|c| Set { files: vec![c.part()], because: because(c), ..Set::default() }).collect()
}

fn footer(candidate: &Candidate, key: &str) -> Option<String> {
    let of_schema = || candidate.schema()?.metadata().get(key).cloned();
    match &candidate.head {
        Head::Parquet(metadata) => {
            let pairs = metadata.metadata().file_metadata().key_value_metadata()?;
            pairs.iter().find(|p| p.key == key).and_then(|p| p.value.clone()).or_else(of_schema)
        }
        _ => of_schema(),
    }
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    set.files.iter().map(|part| one(&look(&part.path, &part.key))).collect()
}

fn one(file: &Candidate) -> Result<Capture, ReadError> {
    let path = || file.path.display().to_string();
    let damaged = |why: String| ReadError::Damaged { path: path(), why };
    let schema = file.schema().ok_or_else(|| damaged("not a table".into()))?;
    let mut builder = Builder::new(AIPERF_PARQUET.name, Clock::Wall, StampOf::FirstByte);
    builder.file(&file.path);
    builder.fidelity(Fidelity::SinceBase);
    let mut rows = Rows::new(schema).map_err(damaged)?;
    let roots: Vec<usize> = (0..schema.fields().len()).collect();
    let mut batches = open(&file.path, &roots)?;
    let mut any = false;
    while let Some(next) = batches.next() {
        let taken = match next {
            Next::Rows(batch) => rows.batch(&batch, &mut builder).map(|()| any = true),
            Next::Damage(why) => Err(why),
        };
        if let Err(why) = taken {
            builder.note("damaged_rows", || why, || Some(path()));
        }
    }
    if !any {
        return Err(damaged("none of its rows can be read".into()));
    }
    say(file, &mut builder);
    Ok(builder.finish())
}

/// What this export cannot give, with the window that it was cut to.
fn say(file: &Candidate, builder: &mut Builder) {
    let nanoseconds = |key| footer(file, key).and_then(|v| v.parse::<i64>().ok());
    let first = || Some(file.path.display().to_string());
    let from = nanoseconds("aiperf.time_filter_start_ns").map(utc);
    let to = nanoseconds("aiperf.time_filter_end_ns").map(utc);
    let base = from.clone().map_or("its start".to_string(), |at| format!("{at} (else from its first)"));
    builder.note(
        "counters_since_base",
        || {
            format!(
                "counters, sums, counts and buckets are what was added since the last sample before {base}, never below 0: a window's inner \
                 difference holds while no reset lies in it, the last value is last<=b minus last<=a; totals, restarts (0 until the old value is \
                 passed) and what came with a first appearance are not in this file; AIPerf's JSONL has them"
            )
        },
        first,
    );
    builder.note(
        "not_exported",
        || {
            let window = match (from, to) {
                (Some(from), Some(to)) => format!("; samples of {from} to {to} alone"),
                _ => String::new(),
            };
            format!("AIPerf drops `_total` from counters' names, summaries, `_created` series, NaN and infinities, and labels named like its columns{window}")
        },
        first,
    );
}

fn utc(at: i64) -> String {
    chrono::DateTime::from_timestamp_nanos(at).to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

/// Columns by role and the series that were met.
struct Rows {
    key: Vec<(usize, Numbers)>,
    labels: Vec<(usize, String)>,
    place: HashMap<&'static str, usize>,
    met: HashMap<Box<[u32]>, Met>,
    /// Key and time whose sum and count are taken.
    summed: Option<(Box<[u32]>, i64)>,
}

/// The series of rows of one key.
struct Met {
    endpoint: EndpointId,
    name: String,
    labels: Labels,
    value: Option<SeriesId>,
    sums: Option<(SeriesId, SeriesId)>,
    buckets: HashMap<String, SeriesId>,
}

impl Rows {
    fn new(schema: &Schema) -> Result<Rows, String> {
        let text = |i: usize| is_text(schema.field(i).data_type());
        let place: HashMap<&'static str, usize> = OWN.iter().filter_map(|name| Some((*name, schema.index_of(name).ok()?))).collect();
        for (name, wanted_text) in
            [("endpoint_url", true), ("metric_name", true), ("metric_type", true), ("bucket_le", true), ("timestamp_ns", false)]
        {
            match place.get(name) {
                Some(&i) if text(i) == wanted_text => {}
                Some(&i) => return Err(format!("column {name} is {}", schema.field(i).data_type())),
                None => return Err(format!("no column {name}")),
            }
        }
        let labels: Vec<(usize, String)> = (0..schema.fields().len())
            .filter(|&i| text(i) && !OWN.contains(&schema.field(i).name().as_str()))
            .map(|i| (i, schema.field(i).name().clone()))
            .collect();
        let names = ["endpoint_url", "metric_name", "metric_type"].iter().filter_map(|name| place.get(name).copied());
        let key = names.chain(labels.iter().map(|(i, _)| *i)).map(|i| (i, Numbers::default())).collect();
        Ok(Rows { key, labels, place, met: HashMap::new(), summed: None })
    }

    fn batch(&mut self, batch: &RecordBatch, builder: &mut Builder) -> Result<(), String> {
        let column = |name: &str| self.place.get(name).and_then(|&i| batch.columns().get(i));
        let number = |name: &str| match column(name) {
            None => Ok(None),
            Some(c) if c.data_type() == &DataType::Null => Ok(None),
            Some(c) => values(c, &mut 0).map(Some).ok_or_else(|| unread(c)),
        };
        let time = column("timestamp_ns").ok_or("no column timestamp_ns")?;
        let times = stamps(time, 1).ok_or_else(|| unread(time))?;
        let (value, sum, count, bucket) = (number("value")?, number("sum")?, number("count")?, number("bucket_count")?);
        let text = |name: &str| column(name).and_then(|c: &ArrayRef| Texts::of(c));
        let le = text("bucket_le");
        let mut runs = vec![Vec::new(); self.key.len()];
        for ((i, numbers), runs) in self.key.iter_mut().zip(&mut runs) {
            let column = batch.columns().get(*i).ok_or("a column is missing")?;
            if !numbers.runs(column, runs) {
                return Err(unread(column));
            }
        }
        let texts: Vec<(&str, Texts)> =
            self.labels.iter().filter_map(|(i, name)| Some((name.as_str(), Texts::of(batch.columns().get(*i)?)?))).collect();
        let (url, name, kind) = (text("endpoint_url"), text("metric_name"), text("metric_type"));
        let (unit, help) = (text("unit"), text("description"));
        let at = |texts: &Option<Texts>, row: usize| texts.as_ref().and_then(|t| t.get(row)).unwrap_or("").to_string();
        let mut without = 0;
        together(&runs, batch.num_rows(), |from, to, key| {
            let met = self.met.entry(key.into()).or_insert_with(|| {
                let name = at(&name, from);
                let family = builder.family(&name);
                family.kind = Kind::from_word(&at(&kind, from)).or(family.kind);
                family.unit = Some(at(&unit, from)).filter(|u| !u.is_empty()).or(family.unit.take());
                family.help = Some(at(&help, from)).filter(|h| !h.is_empty()).or(family.help.take());
                let labels = Labels::new(texts.iter().map(|(name, t)| (*name, t.get(from).unwrap_or(""))));
                let endpoint = endpoint(builder, &at(&url, from));
                Met { endpoint, name, labels, value: None, sums: None, buckets: HashMap::new() }
            });
            for row in from..to {
                if times.valid.as_ref().is_some_and(|n| n.is_null(row)) {
                    without += 1;
                    continue;
                }
                let time = times.numbers[row];
                let mut some = false;
                if let Some(v) = get(&value, row) {
                    let series = *met.value.get_or_insert_with(|| builder.series(met.endpoint, &met.name, &met.labels, Precision::F64));
                    builder.push(series, time, v);
                    some = true;
                }
                if let (Some(v), Some(le)) = (get(&bucket, row), le.as_ref().and_then(|t| t.get(row))) {
                    let series = match met.buckets.get(le) {
                        Some(series) => *series,
                        None => {
                            let labels = Labels::new(met.labels.iter().filter(|(k, _)| *k != "le").chain([("le", le)]));
                            let series = builder.series(met.endpoint, &format!("{}_bucket", met.name), &labels, Precision::F64);
                            met.buckets.insert(le.to_string(), series);
                            series
                        }
                    };
                    builder.push(series, time, v);
                    some = true;
                }
                // Each bucket's row repeats them.
                if let (Some(s), Some(c)) = (get(&sum, row), get(&count, row)) {
                    if self.summed.as_ref().is_none_or(|(k, at)| **k != *key || *at != time) {
                        let (sums, counts) = *met.sums.get_or_insert_with(|| {
                            let mut series = |end| builder.series(met.endpoint, &format!("{}{end}", met.name), &met.labels, Precision::F64);
                            (series("_sum"), series("_count"))
                        });
                        builder.push(sums, time, s);
                        builder.push(counts, time, c);
                        self.summed = Some((key.into(), time));
                    }
                    some = true;
                }
                without += u64::from(!some);
            }
        });
        if without > 0 {
            builder.note_many("rows_without_value", without, || "rows without time or value are no samples".into(), || None);
        }
        Ok(())
    }
}

fn get(column: &Option<Column<f64>>, row: usize) -> Option<f64> {
    let column = column.as_ref()?;
    column.valid.as_ref().is_none_or(|n| n.is_valid(row)).then(|| column.numbers.get(row).copied()).flatten()
}
