//! The typed columns of a segment: one Parquet file, one row a record, rows in source order.
//!
//! Fixed columns begin with `_`; every field of the events is a column of its own name. A column's values are kept with their rows while a part is
//! read, so a field that one record in a thousand has costs what one record in a thousand costs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBufferBuilder, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field as ArrowField, Schema};
use corr_parsers::event::{Event, Level, Value};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
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
// Arrow counts the text of a row group in 31 bits.
const _: () = assert!(GROUP * MAX_TEXT < i32::MAX as usize);

/// Spellings of a field's name that are remembered; where there are so many, there may be more.
pub const SPELLINGS: usize = 8;

/// The type of a field's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    Int,
    Float,
    Bool,
    Text,
}

impl Type {
    /// The type of a column that holds values of both.
    pub fn with(self, other: Type) -> Type {
        match (self, other) {
            (a, b) if a == b => a,
            (Type::Int | Type::Float, Type::Int | Type::Float) => Type::Float,
            _ => Type::Text,
        }
    }
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
    /// Values that the column does not hold whole: the second of a record, and what a long text was cut by.
    pub lost: u64,
}

impl ColumnInfo {
    /// Can records have what this column, `own` by its name, holds under another name? Letter case does not matter.
    pub fn may_mean(&self, own: &str, name: &str) -> bool {
        // Of more spellings not all are kept.
        self.is_named(own, name) || self.raw.len() >= SPELLINGS
    }

    /// Is every value of the column, which [may mean](Self::may_mean) this name, one of the name, and whole?
    pub fn is_exact(&self, own: &str, name: &str) -> bool {
        !self.partial && (own.eq_ignore_ascii_case(name) || self.raw.len() == 1 && self.is_named(own, name))
    }

    fn is_named(&self, own: &str, name: &str) -> bool {
        own.eq_ignore_ascii_case(name) || self.raw.iter().any(|raw| raw.eq_ignore_ascii_case(name))
    }
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
    lost: u64,
}

/// The fixed facts of a row.
#[derive(Clone, Copy, Debug)]
pub struct RowFacts {
    pub offset: u64,
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
    /// Per kind: to which column the n-th field of the last record of that kind went, and under which spelling. Records of a kind mostly have the same
    /// fields.
    habits: Vec<Vec<(usize, usize)>>,
    /// Per kind: which columns its records have a value in.
    had: Vec<Vec<bool>>,
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

    /// Adds a record's facts and fields; returns its row. `names` gets a number for each name as it is spelt, and for `true` and `false`: two records
    /// of which all numbers are equal have the same names and the same truth values. `None` stands for a spelling that is not remembered.
    pub fn push(&mut self, facts: RowFacts, event: &Event, mut names: impl FnMut(Option<u64>)) -> u32 {
        let row = self.rows.len() as u32;
        self.rows.push(facts);
        let kind = usize::from(facts.kind);
        if self.habits.len() <= kind {
            self.habits.resize_with(kind + 1, Vec::new);
        }
        if self.had.len() <= kind {
            self.had.resize_with(kind + 1, Vec::new);
        }
        let habits = &mut self.habits[kind];
        for (n, field) in event.fields.iter().enumerate() {
            let habit = habits.get(n).copied().filter(|(i, _)| same(&self.columns[*i].name, &field.name));
            let index = match habit {
                Some((i, _)) => i,
                None => {
                    let Some(i) = column(&mut self.columns, &mut self.by_name, &field.name, &field.value) else {
                        self.overflow = true;
                        names(None);
                        continue;
                    };
                    have(&mut self.had[kind], i);
                    i
                }
            };
            let spelling = self.columns[index].push(row, &field.raw, habit.map_or(0, |(_, n)| n), &field.value);
            let now = (index, spelling.unwrap_or(0));
            if n == habits.len() {
                habits.push(now);
            } else if let Some(habit) = habits.get_mut(n) {
                *habit = now;
            }
            let truth = match field.value {
                Value::Bool(truth) => 1 + u64::from(truth),
                _ => 0,
            };
            names(spelling.map(|n| (index * SPELLINGS + n) as u64 * 3 + truth));
        }
        row
    }

    /// Adds a value that is no field of the event: what the envelope says.
    pub fn push_extra(&mut self, row: u32, name: &str, value: Value) {
        match column(&mut self.columns, &mut self.by_name, name, &value) {
            Some(i) => {
                self.columns[i].push(row, name, 0, &value);
                let kind = self.rows.get(row as usize).map_or(0, |facts| usize::from(facts.kind));
                if let Some(had) = self.had.get_mut(kind) {
                    have(had, i);
                }
            }
            None => self.overflow = true,
        }
    }

    /// The type of a column whose first value this is.
    pub fn type_of(value: &Value) -> Type {
        match value {
            Value::Int(_) => Type::Int,
            Value::Float(_) => Type::Float,
            Value::Bool(_) => Type::Bool,
            Value::UInt(_) | Value::Str(_) => Type::Text,
        }
    }

    /// Names of the fields that records of each kind have, by the number of the kind.
    pub fn of_kinds(&self) -> Vec<BTreeSet<String>> {
        let names = |had: &Vec<bool>| had.iter().zip(&self.columns).filter(|(had, _)| **had).map(|(_, c)| c.name.clone()).collect();
        self.had.iter().map(names).collect()
    }

    /// What there is to know of the columns, by name.
    pub fn info(&self) -> BTreeMap<String, ColumnInfo> {
        let info = |c: &Column| ColumnInfo {
            kind: c.values.kind(),
            raw: c.raw.clone(),
            values: c.rows.len() as u64,
            partial: c.partial,
            lost: c.lost,
        };
        self.columns.iter().map(|c| (c.name.clone(), info(c))).collect()
    }

    /// Writes the Parquet file. `kinds` and `outcomes` are the tables that the rows' facts point into; a parsed row's outcome is none.
    pub fn write(&self, to: File, kinds: &[String], outcomes: &[Option<String>]) -> parquet::errors::Result<()> {
        let mut fields = vec![
            ArrowField::new("_offset", DataType::UInt64, false),
            ArrowField::new("_line", DataType::UInt64, false),
            ArrowField::new("_order", DataType::Int64, true),
            ArrowField::new("_start", DataType::Int64, true),
            ArrowField::new("_end", DataType::Int64, true),
            ArrowField::new("_level", DataType::Utf8, true),
            ArrowField::new("_kind", DataType::Utf8, false),
            ArrowField::new("_outcome", DataType::Utf8, true),
        ];
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by(|a, b| self.columns[*a].name.cmp(&self.columns[*b].name));
        for &i in &order {
            fields.push(ArrowField::new(column_name(&self.columns[i].name), self.columns[i].values.arrow(), true));
        }
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_max_row_group_row_count(Some(GROUP))
            .set_data_page_row_count_limit(PAGE)
            .set_write_batch_size(PAGE)
            .set_statistics_enabled(EnabledStatistics::Page);
        let few: HashSet<String> = self.columns.iter().filter(|c| c.values.has_few()).map(|c| column_name(&c.name)).collect();
        // Numbers mostly differ from row to row: a dictionary of them costs a hash a value and is given up in the end.
        for field in &fields {
            // Not from text: a name with a dot would be taken for a path.
            let path = ColumnPath::new(vec![field.name().clone()]);
            let encoding = match field.data_type() {
                DataType::Int64 | DataType::UInt64 => {
                    // Packed to the bits that differ, there is little left to compress, but for stamps: of most the second is that of the row before.
                    if !matches!(field.name().as_str(), "_order" | "_start" | "_end") {
                        properties = properties.set_column_compression(path.clone(), Compression::UNCOMPRESSED);
                    }
                    Encoding::DELTA_BINARY_PACKED
                }
                // Ratios of two decimals have a hundred values: a dictionary says them in seven bits.
                DataType::Float64 if few.contains(field.name()) => continue,
                DataType::Float64 => Encoding::BYTE_STREAM_SPLIT,
                _ => continue,
            };
            properties = properties.set_column_dictionary_enabled(path.clone(), false).set_column_encoding(path, encoding);
        }
        let schema = Arc::new(Schema::new(fields));
        let parquet_schema = ArrowSchemaConverter::new().convert(&schema)?;
        // Plain strings and no stored Arrow schema: a join over dictionary types failed on Ballista only.
        let mut file = SerializedFileWriter::new(to, parquet_schema.root_schema_ptr(), Arc::new(properties.build()))?;
        let texts = ArrowRowGroupWriterFactory::new(&file, schema.clone());
        let mut cursors = vec![0usize; self.columns.len()];
        let mut levels = Vec::new();
        for (group, from) in (0..self.rows.len().max(1)).step_by(GROUP).enumerate() {
            let to = (from + GROUP).min(self.rows.len());
            let rows = &self.rows[from..to];
            let mut group =
                Group { writer: file.next_row_group()?, texts: texts.create_column_writers(group)?.into_iter(), schema: &schema, at: 0 };
            let known = |order: i64| (order != i64::MIN).then_some(order);
            group.numbers::<Int64Type>(&rows.iter().map(|r| r.offset as i64).collect::<Vec<_>>(), None)?;
            group.numbers::<Int64Type>(&rows.iter().map(|r| r.line as i64).collect::<Vec<_>>(), None)?;
            group.instants(rows, &mut levels, |r| known(r.order))?;
            group.instants(rows, &mut levels, |r| r.stamp.map(|s| s.start))?;
            group.instants(rows, &mut levels, |r| r.stamp.map(|s| s.end))?;
            group.texts(rows.iter().map(|r| r.level.map(Level::name)).collect())?;
            group.texts(rows.iter().map(|r| kinds.get(usize::from(r.kind)).map(String::as_str)).collect())?;
            group.texts(rows.iter().map(|r| outcomes.get(usize::from(r.outcome)).and_then(Option::as_deref)).collect())?;
            for &i in &order {
                let column = &self.columns[i];
                let begin = cursors[i];
                let end = begin + column.rows[begin..].partition_point(|r| (*r as usize) < to);
                cursors[i] = end;
                column.write(begin..end, from, to - from, &mut group, &mut levels)?;
            }
            group.writer.close()?;
        }
        file.close()?;
        Ok(())
    }
}

/// Notes that a kind has a column.
fn have(had: &mut Vec<bool>, column: usize) {
    if had.len() <= column {
        had.resize(column + 1, false);
    }
    had[column] = true;
}

/// The column of a name; it is made if there is none yet.
fn column(columns: &mut Vec<Column>, by_name: &mut HashMap<String, usize>, name: &str, value: &Value) -> Option<usize> {
    if let Some(i) = by_name.get(name) {
        return Some(*i);
    }
    if columns.len() >= MAX_COLUMNS {
        return None;
    }
    let values = match ColumnsBuilder::type_of(value) {
        Type::Int => Values::Int(Vec::new()),
        Type::Float => Values::Float(Vec::new()),
        Type::Bool => Values::Bool(Vec::new()),
        Type::Text => Values::Text { bytes: Vec::new(), ends: Vec::new() },
    };
    let partial = matches!(value, Value::UInt(_));
    columns.push(Column { name: name.to_string(), raw: Vec::new(), rows: Vec::new(), values, partial, lost: 0 });
    by_name.insert(name.to_string(), columns.len() - 1);
    Some(columns.len() - 1)
}

/// A row group that is being written, column by column. Numbers go to Parquet as they are kept, without those that are missing; texts go through
/// Arrow, whose writer does not hold each of them for itself.
struct Group<'a> {
    writer: SerializedRowGroupWriter<'a, File>,
    texts: std::vec::IntoIter<ArrowColumnWriter>,
    schema: &'a Schema,
    at: usize,
}

impl Group<'_> {
    /// The next column: its values and, where rows may have none, a level a row (1: there is a value).
    fn numbers<T: parquet::data_type::DataType>(&mut self, values: &[T::T], levels: Option<&[i16]>) -> parquet::errors::Result<()> {
        let mut column = self.writer.next_column()?.ok_or_else(|| ParquetError::General("more columns than the schema has".into()))?;
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()?;
        self.texts.next();
        self.at += 1;
        Ok(())
    }

    fn instants(&mut self, rows: &[RowFacts], levels: &mut Vec<i16>, of: impl Fn(&RowFacts) -> Option<i64>) -> parquet::errors::Result<()> {
        let values: Vec<i64> = rows.iter().filter_map(&of).collect();
        levels.clear();
        levels.extend(rows.iter().map(|r| i16::from(of(r).is_some())));
        self.numbers::<Int64Type>(&values, Some(levels))
    }

    fn texts(&mut self, values: StringArray) -> parquet::errors::Result<()> {
        let mut column = self.texts.next().ok_or_else(|| ParquetError::General("more columns than the schema has".into()))?;
        let array: ArrayRef = Arc::new(values);
        for leaf in compute_leaves(self.schema.field(self.at), &array)? {
            column.write(&leaf)?;
        }
        column.close()?.append_to_row_group(&mut self.writer)?;
        self.at += 1;
        Ok(())
    }
}

/// A field's column name. Those that begin with `_`, as the fixed columns do, get a trailing `_`.
pub fn column_name(field: &str) -> String {
    if field.starts_with('_') { format!("{field}_") } else { field.to_string() }
}

/// Numbers that are looked at to tell whether a column has few different ones, and how many are few.
const LOOKED_AT: usize = 4_096;
const FEW: usize = 256;

impl Values {
    /// Are few of its numbers different, as far as the first ones say?
    fn has_few(&self) -> bool {
        let Values::Float(values) = self else { return false };
        let mut first: Vec<u64> = values.iter().take(LOOKED_AT).map(|x| x.to_bits()).collect();
        first.sort_unstable();
        first.dedup();
        values.len() >= LOOKED_AT && first.len() <= FEW
    }

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
pub(crate) const EXACT: u64 = 1 << 53;

impl Column {
    /// Adds a value; returns the number of the name's spelling, which is likely `guess`.
    fn push(&mut self, row: u32, raw: &str, guess: usize, value: &Value) -> Option<usize> {
        let mut spelling = match self.raw.get(guess) {
            Some(known) if same(known, raw) => Some(guess),
            _ => self.raw.iter().position(|r| same(r, raw)),
        };
        if spelling.is_none() && self.raw.len() < SPELLINGS {
            spelling = Some(self.raw.len());
            self.raw.push(raw.to_string());
        }
        if self.rows.last() == Some(&row) {
            self.partial = true;
            self.lost += 1;
            return spelling;
        }
        match (&mut self.values, value) {
            (Values::Int(v), Value::Int(x)) => v.push(*x),
            (Values::Float(v), Value::Float(x)) => v.push(*x),
            (Values::Float(v), Value::Int(x)) if x.unsigned_abs() < EXACT => v.push(*x as f64),
            (Values::Bool(v), Value::Bool(x)) => v.push(*x),
            (Values::Int(v), Value::Float(x)) if v.iter().all(|i| i.unsigned_abs() < EXACT) => {
                let mut floats: Vec<f64> = v.iter().map(|i| *i as f64).collect();
                floats.push(*x);
                self.values = Values::Float(floats);
            }
            (Values::Text { .. }, Value::Str(text)) => self.push_text(text),
            (_, value) => {
                self.partial = true;
                self.become_text();
                self.push_text(&value.to_string());
            }
        }
        self.rows.push(row);
        spelling
    }

    fn push_text(&mut self, text: &str) {
        if let Values::Text { bytes, ends } = &mut self.values {
            // `ends` count in 32 bits: what has no room there is not kept, and the column says so.
            let end = text.floor_char_boundary(MAX_TEXT.min(u32::MAX as usize - bytes.len()));
            self.partial |= end < text.len();
            self.lost += u64::from(end < text.len());
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

    /// Writes the values `range`, which stand in the `len` rows from row `from` on.
    fn write(
        &self,
        range: std::ops::Range<usize>,
        from: usize,
        len: usize,
        group: &mut Group<'_>,
        levels: &mut Vec<i16>,
    ) -> parquet::errors::Result<()> {
        let slots = self.rows[range.clone()].iter().map(|r| *r as usize - from);
        if let Values::Text { bytes, ends } = &self.values {
            // Row by row where its text ends; the texts stand one behind the other already.
            let start = if range.start == 0 { 0 } else { ends[range.start - 1] };
            let mut offsets = Vec::with_capacity(len + 1);
            let mut there = BooleanBufferBuilder::new(len);
            there.append_n(len, false);
            let mut last = 0;
            offsets.push(last);
            for (slot, i) in slots.zip(range.clone()) {
                there.set_bit(slot, true);
                offsets.resize(slot + 1, last);
                last = (ends[i] - start) as i32;
                offsets.push(last);
            }
            offsets.resize(len + 1, last);
            let texts = &bytes[start as usize..start as usize + last as usize];
            let array =
                StringArray::try_new(OffsetBuffer::new(offsets.into()), Buffer::from(texts), Some(NullBuffer::new(there.finish())))?;
            return group.texts(array);
        }
        levels.clear();
        levels.resize(len, 0);
        slots.for_each(|slot| levels[slot] = 1);
        match &self.values {
            Values::Int(v) => group.numbers::<Int64Type>(&v[range], Some(levels)),
            Values::Float(v) => group.numbers::<DoubleType>(&v[range], Some(levels)),
            Values::Bool(v) => group.numbers::<BoolType>(&v[range], Some(levels)),
            Values::Text { .. } => Ok(()),
        }
    }
}
