//! The typed columns of a segment: one Parquet file, one row a record, rows in source order.
//!
//! Fixed columns begin with `_`; every field of the events is a column of its own name. A column's values are kept with their rows while a part is
//! read, so a field that one record in a thousand has costs what one record in a thousand costs.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, BooleanBufferBuilder, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field as ArrowField, Schema};
use corr_parsers::event::{Event, Level, Value};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use serde::{Deserialize, Serialize};

/// Rows in a row group.
const GROUP: usize = 131_072;
/// Rows in a data page: the unit that a time window can skip.
const PAGE: usize = 8_192;
/// More columns than this are not made in one segment; the segment then says so and such fields are answered by a scan.
pub const MAX_COLUMNS: usize = 1_024;
/// Text values are cut here in the columns; the column then says so.
const MAX_TEXT: usize = 1_024;

/// The type of a field's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    Int,
    Float,
    Bool,
    Text,
}

/// What is known of a field's column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ColumnInfo {
    #[serde(rename = "type")]
    pub kind: Type,
    /// Spellings of the name in the records, the first eight.
    pub raw: Vec<String>,
    /// Rows that have a value.
    pub values: u64,
    /// The column does not say everything: a record has the field twice, values of several types, or long text.
    /// Its rows are then candidates, and each record is read to decide.
    pub partial: bool,
}

#[derive(Debug)]
enum Values {
    Int(Vec<i64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
    Text { bytes: Vec<u8>, ends: Vec<u32> },
}

#[derive(Debug)]
struct Column {
    name: String,
    raw: Vec<String>,
    rows: Vec<u32>,
    values: Values,
    partial: bool,
}

/// The fixed facts of a row.
#[derive(Clone, Copy, Debug)]
pub struct RowFacts {
    pub offset: u64,
    pub length: u64,
    /// 1-based number of the record's first physical line.
    pub line: u64,
    /// Sort key, UTC ns: the record's own stamp, or that of the stamped record before it; `i64::MIN` where there is none.
    pub order: i64,
    /// The stamp, UTC ns, half open.
    pub stamp: Option<corr_parsers::stamp::Stamp>,
    pub level: Option<Level>,
    /// Index into the segment's kinds.
    pub kind: u16,
    /// Index into the segment's outcomes.
    pub outcome: u8,
}

/// Collects the rows of one segment.
#[derive(Default)]
pub struct ColumnsBuilder {
    rows: Vec<RowFacts>,
    columns: Vec<Column>,
    by_name: HashMap<String, usize>,
    /// Per kind: which column the n-th field of the last record of that kind went to. Records of a kind mostly have the same fields.
    habits: Vec<Vec<usize>>,
    /// A field came that no column was made for.
    pub overflow: bool,
}

impl ColumnsBuilder {
    /// Rows so far.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No rows yet.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a record's facts and fields; returns its row.
    pub fn push(&mut self, facts: RowFacts, event: &Event) -> u32 {
        let row = self.rows.len() as u32;
        self.rows.push(facts);
        let kind = usize::from(facts.kind);
        if self.habits.len() <= kind {
            self.habits.resize_with(kind + 1, Vec::new);
        }
        for (n, field) in event.fields.iter().enumerate() {
            let habit = self.habits[kind].get(n).copied();
            let index = match habit {
                Some(i) if same(&self.columns[i].name, &field.name) => i,
                _ => {
                    let Some(i) = self.column(&field.name, &field.value) else {
                        self.overflow = true;
                        continue;
                    };
                    if self.habits[kind].len() == n {
                        self.habits[kind].push(i);
                    } else if n < self.habits[kind].len() {
                        self.habits[kind][n] = i;
                    }
                    i
                }
            };
            self.columns[index].push(row, &field.raw, &field.value);
        }
        row
    }

    /// Adds a value that is no field of the event: what the envelope says.
    pub fn push_extra(&mut self, row: u32, name: &str, value: Value) {
        match self.column(name, &value) {
            Some(i) => self.columns[i].push(row, name, &value),
            None => self.overflow = true,
        }
    }

    fn column(&mut self, name: &str, value: &Value) -> Option<usize> {
        if let Some(i) = self.by_name.get(name) {
            return Some(*i);
        }
        if self.columns.len() >= MAX_COLUMNS {
            return None;
        }
        let values = match value {
            Value::Int(_) => Values::Int(Vec::new()),
            Value::Float(_) => Values::Float(Vec::new()),
            Value::Bool(_) => Values::Bool(Vec::new()),
            Value::UInt(_) | Value::Str(_) => Values::Text { bytes: Vec::new(), ends: Vec::new() },
        };
        let partial = matches!(value, Value::UInt(_));
        self.columns.push(Column { name: name.to_string(), raw: Vec::new(), rows: Vec::new(), values, partial });
        self.by_name.insert(name.to_string(), self.columns.len() - 1);
        Some(self.columns.len() - 1)
    }

    /// What there is to know of the columns, by name.
    pub fn info(&self) -> BTreeMap<String, ColumnInfo> {
        let info = |c: &Column| ColumnInfo { kind: c.values.kind(), raw: c.raw.clone(), values: c.rows.len() as u64, partial: c.partial };
        self.columns.iter().map(|c| (c.name.clone(), info(c))).collect()
    }

    /// Writes the Parquet file. `kinds` and `outcomes` are the tables that the rows' facts point into.
    pub fn write(&self, to: File, kinds: &[String], outcomes: &[String]) -> parquet::errors::Result<()> {
        let mut fields = vec![
            ArrowField::new("_offset", DataType::UInt64, false),
            ArrowField::new("_length", DataType::UInt64, false),
            ArrowField::new("_line", DataType::UInt64, false),
            ArrowField::new("_order", DataType::Int64, true),
            ArrowField::new("_start", DataType::Int64, true),
            ArrowField::new("_end", DataType::Int64, true),
            ArrowField::new("_level", DataType::Utf8, true),
            ArrowField::new("_kind", DataType::Utf8, false),
            ArrowField::new("_kind_id", DataType::UInt32, false),
            ArrowField::new("_outcome", DataType::Utf8, false),
        ];
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by(|a, b| self.columns[*a].name.cmp(&self.columns[*b].name));
        for &i in &order {
            fields.push(ArrowField::new(column_name(&self.columns[i].name), self.columns[i].values.arrow(), true));
        }
        let schema = Arc::new(Schema::new(fields));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_max_row_group_row_count(Some(GROUP))
            .set_data_page_row_count_limit(PAGE)
            .set_write_batch_size(PAGE)
            .set_statistics_enabled(EnabledStatistics::Page);
        for name in ["_offset", "_line", "_order", "_start", "_end"] {
            let path = ColumnPath::from(name);
            properties =
                properties.set_column_dictionary_enabled(path.clone(), false).set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
        // Plain strings and no stored Arrow schema: a join over dictionary types failed on Ballista only (ENGINE.md 5).
        let options = ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        let mut writer = ArrowWriter::try_new_with_options(to, schema.clone(), options)?;
        let mut cursors = vec![0usize; self.columns.len()];
        for from in (0..self.rows.len().max(1)).step_by(GROUP) {
            let to = (from + GROUP).min(self.rows.len());
            let rows = &self.rows[from..to];
            let mut arrays = fixed_arrays(rows, kinds, outcomes);
            for &i in &order {
                let column = &self.columns[i];
                let begin = cursors[i];
                let end = begin + column.rows[begin..].partition_point(|r| (*r as usize) < to);
                cursors[i] = end;
                arrays.push(column.array(begin..end, from, to - from));
            }
            writer.write(&RecordBatch::try_new(schema.clone(), arrays)?)?;
        }
        writer.close()?;
        Ok(())
    }
}

/// A field's column name. Those that begin with `_`, as the fixed columns do, get a trailing `_`.
pub fn column_name(field: &str) -> String {
    if field.starts_with('_') { format!("{field}_") } else { field.to_string() }
}

fn fixed_arrays(rows: &[RowFacts], kinds: &[String], outcomes: &[String]) -> Vec<ArrayRef> {
    let known = |order: i64| (order != i64::MIN).then_some(order);
    vec![
        Arc::new(rows.iter().map(|r| r.offset).collect::<UInt64Array>()),
        Arc::new(rows.iter().map(|r| r.length).collect::<UInt64Array>()),
        Arc::new(rows.iter().map(|r| r.line).collect::<UInt64Array>()),
        Arc::new(rows.iter().map(|r| known(r.order)).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|r| r.stamp.map(|s| s.start)).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|r| r.stamp.map(|s| s.end)).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|r| r.level.map(Level::name)).collect::<StringArray>()),
        Arc::new(rows.iter().map(|r| kinds.get(usize::from(r.kind)).map(String::as_str)).collect::<StringArray>()),
        Arc::new(rows.iter().map(|r| u32::from(r.kind)).collect::<UInt32Array>()),
        Arc::new(rows.iter().map(|r| outcomes.get(usize::from(r.outcome)).map(String::as_str)).collect::<StringArray>()),
    ]
}

impl Values {
    fn kind(&self) -> Type {
        match self {
            Values::Int(_) => Type::Int,
            Values::Float(_) => Type::Float,
            Values::Bool(_) => Type::Bool,
            Values::Text { .. } => Type::Text,
        }
    }

    fn arrow(&self) -> DataType {
        match self {
            Values::Int(_) => DataType::Int64,
            Values::Float(_) => DataType::Float64,
            Values::Bool(_) => DataType::Boolean,
            Values::Text { .. } => DataType::Utf8,
        }
    }
}

/// Are two names the same? Most are short, are the same, and are compared for every field of every record: a few words of eight or sixteen bytes say
/// it sooner than a call does.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        0..=3 => a.iter().eq(b),
        4..=7 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
        8..=16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
        17..=32 => a.first_chunk::<16>() == b.first_chunk() && a.last_chunk::<16>() == b.last_chunk(),
        _ => a == b,
    }
}

/// Largest integer whose neighbours a double still tells apart.
const EXACT: i64 = 1 << 53;

impl Column {
    fn push(&mut self, row: u32, raw: &str, value: &Value) {
        if self.raw.len() < 8 && !self.raw.iter().any(|r| same(r, raw)) {
            self.raw.push(raw.to_string());
        }
        if self.rows.last() == Some(&row) {
            self.partial = true;
            return;
        }
        match (&mut self.values, value) {
            (Values::Int(v), Value::Int(x)) => v.push(*x),
            (Values::Float(v), Value::Float(x)) => v.push(*x),
            (Values::Float(v), Value::Int(x)) if x.abs() < EXACT => v.push(*x as f64),
            (Values::Bool(v), Value::Bool(x)) => v.push(*x),
            (Values::Int(v), Value::Float(x)) if v.iter().all(|i| i.abs() < EXACT) => {
                let mut floats: Vec<f64> = v.iter().map(|i| *i as f64).collect();
                floats.push(*x);
                self.values = Values::Float(floats);
            }
            (Values::Text { .. }, Value::Str(text)) => self.push_text(text),
            (_, value) => {
                self.partial = true;
                self.become_text();
                let text = match value {
                    Value::Int(x) => x.to_string(),
                    Value::UInt(x) => x.to_string(),
                    Value::Float(x) => x.to_string(),
                    Value::Bool(x) => x.to_string(),
                    Value::Str(text) => text.to_string(),
                };
                self.push_text(&text);
            }
        }
        self.rows.push(row);
    }

    fn push_text(&mut self, text: &str) {
        let mut end = text.len().min(MAX_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if end < text.len() {
            self.partial = true;
        }
        if let Values::Text { bytes, ends } = &mut self.values {
            bytes.extend_from_slice(&text.as_bytes()[..end]);
            ends.push(bytes.len() as u32);
        }
    }

    fn become_text(&mut self) {
        let texts: Vec<String> = match &self.values {
            Values::Int(v) => v.iter().map(i64::to_string).collect(),
            Values::Float(v) => v.iter().map(f64::to_string).collect(),
            Values::Bool(v) => v.iter().map(bool::to_string).collect(),
            Values::Text { .. } => return,
        };
        self.values = Values::Text { bytes: Vec::new(), ends: Vec::new() };
        texts.iter().for_each(|t| self.push_text(t));
    }

    /// The values `range` as an array of `len` rows that begins at row `from`.
    fn array(&self, range: std::ops::Range<usize>, from: usize, len: usize) -> ArrayRef {
        let slots = || self.rows[range.clone()].iter().map(|r| *r as usize - from);
        // Most columns are empty in most rows: what is not there is not touched.
        let mut there = BooleanBufferBuilder::new(len);
        there.append_n(len, false);
        slots().for_each(|slot| there.set_bit(slot, true));
        let nulls = Some(NullBuffer::new(there.finish()));
        match &self.values {
            Values::Int(v) => Arc::new(Int64Array::new(spread(slots().zip(v[range.clone()].iter().copied()), len).into(), nulls)),
            Values::Float(v) => Arc::new(Float64Array::new(spread(slots().zip(v[range.clone()].iter().copied()), len).into(), nulls)),
            Values::Bool(v) => {
                let mut bits = BooleanBufferBuilder::new(len);
                bits.append_n(len, false);
                slots().zip(&v[range.clone()]).for_each(|(slot, value)| bits.set_bit(slot, *value));
                Arc::new(BooleanArray::new(bits.finish(), nulls))
            }
            Values::Text { bytes, ends } => {
                let text = |i: usize| {
                    let start = if i == 0 { 0 } else { ends[i - 1] as usize };
                    // cannot fail: only whole characters are pushed
                    std::str::from_utf8(&bytes[start..ends[i] as usize]).unwrap_or("")
                };
                let mut out = vec![None; len];
                slots().zip(range.clone()).for_each(|(slot, i)| out[slot] = Some(text(i)));
                Arc::new(StringArray::from(out))
            }
        }
    }
}

fn spread<T: Copy + Default>(values: impl Iterator<Item = (usize, T)>, len: usize) -> Vec<T> {
    let mut out = vec![T::default(); len];
    for (slot, value) in values {
        out[slot] = value;
    }
    out
}
