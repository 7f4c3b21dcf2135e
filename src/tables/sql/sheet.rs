//! Rows of cells into batches.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, MapBuilder, MapFieldNames, RecordBatch, StringBuilder,
    TimestampNanosecondBuilder, UInt64Builder,
};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use corr_sql::Give;

use crate::tables::{Column, Type};

/// Rows of a batch.
const BATCH: usize = 8_192;
const UTC: &str = "UTC";

/// The Arrow type of a column.
pub fn data_type(kind: Type) -> DataType {
    match kind {
        Type::Text => DataType::Utf8,
        Type::Int => DataType::Int64,
        Type::Count => DataType::UInt64,
        Type::Number => DataType::Float64,
        Type::Truth => DataType::Boolean,
        Type::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into())),
        Type::Map => map_type(),
    }
}

/// Text to text, as Parquet and Arrow both name its parts.
pub fn map_type() -> DataType {
    let entry = Fields::from(vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Utf8, true)]);
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entry), false)), false)
}

/// A builder of maps of this type.
pub fn map_builder() -> MapBuilder<StringBuilder, StringBuilder> {
    let names = MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() };
    MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new())
}

/// Columns as Arrow has them.
pub fn schema(columns: &[Column]) -> SchemaRef {
    let fields: Vec<Field> = columns.iter().map(|c| Field::new(c.name, data_type(c.kind), true)).collect();
    Arc::new(Schema::new(fields))
}

/// One value.
#[derive(Debug)]
pub enum Cell<'a> {
    None,
    Text(&'a str),
    Count(u64),
    Number(f64),
    Truth(bool),
    /// Nanoseconds since the epoch.
    Time(i64),
    Map(Vec<(&'a str, &'a str)>),
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Cell<'a> {
        text.map_or(Cell::None, Cell::Text)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Cell<'a> {
        Cell::Text(text)
    }
}

impl<'a> From<&'a Option<String>> for Cell<'a> {
    fn from(text: &'a Option<String>) -> Cell<'a> {
        text.as_deref().into()
    }
}

/// A column in the making.
enum Builder {
    Text(StringBuilder),
    Int(Int64Builder),
    Count(UInt64Builder),
    Number(Float64Builder),
    Truth(BooleanBuilder),
    Time(TimestampNanosecondBuilder),
    Map(Box<MapBuilder<StringBuilder, StringBuilder>>),
}

impl Builder {
    fn of(kind: Type) -> Builder {
        match kind {
            Type::Text => Builder::Text(StringBuilder::new()),
            Type::Int => Builder::Int(Int64Builder::new()),
            Type::Count => Builder::Count(UInt64Builder::new()),
            Type::Number => Builder::Number(Float64Builder::new()),
            Type::Truth => Builder::Truth(BooleanBuilder::new()),
            Type::Time => Builder::Time(TimestampNanosecondBuilder::new().with_timezone(UTC)),
            Type::Map => Builder::Map(Box::new(map_builder())),
        }
    }

    fn push(&mut self, cell: Cell<'_>) -> Result<(), String> {
        match (self, cell) {
            (Builder::Text(to), Cell::Text(text)) => to.append_value(text),
            (Builder::Count(to), Cell::Count(n)) => to.append_value(n),
            (Builder::Int(to), Cell::Count(n)) => to.append_option(i64::try_from(n).ok()),
            (Builder::Number(to), Cell::Number(n)) => to.append_value(n),
            (Builder::Truth(to), Cell::Truth(is)) => to.append_value(is),
            (Builder::Time(to), Cell::Time(at)) => to.append_value(at),
            (Builder::Map(to), Cell::Map(pairs)) => {
                for (key, value) in pairs {
                    to.keys().append_value(key);
                    to.values().append_value(value);
                }
                to.append(true).map_err(|e| e.to_string())?;
            }
            (Builder::Map(to), _) => to.append(false).map_err(|e| e.to_string())?,
            (Builder::Text(to), _) => to.append_null(),
            (Builder::Int(to), _) => to.append_null(),
            (Builder::Count(to), _) => to.append_null(),
            (Builder::Number(to), _) => to.append_null(),
            (Builder::Truth(to), _) => to.append_null(),
            (Builder::Time(to), _) => to.append_null(),
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Text(of) => Arc::new(of.finish()),
            Builder::Int(of) => Arc::new(of.finish()),
            Builder::Count(of) => Arc::new(of.finish()),
            Builder::Number(of) => Arc::new(of.finish()),
            Builder::Truth(of) => Arc::new(of.finish()),
            Builder::Time(of) => Arc::new(of.finish()),
            Builder::Map(of) => Arc::new(of.finish()),
        }
    }
}

/// Gives rows on in batches.
pub struct Sheet<'g, 'b> {
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
    give: &'g mut Give<'b>,
    stopped: bool,
}

impl<'g, 'b> Sheet<'g, 'b> {
    pub fn new(columns: &[Column], give: &'g mut Give<'b>) -> Sheet<'g, 'b> {
        let builders = columns.iter().map(|c| Builder::of(c.kind)).collect();
        Sheet { schema: schema(columns), builders, rows: 0, give, stopped: false }
    }

    /// Adds a row, in the order of the columns. `Break`: no more is wanted.
    pub fn push<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) -> Result<ControlFlow<()>, String> {
        let mut cells = cells.into_iter();
        for builder in &mut self.builders {
            builder.push(cells.next().unwrap_or(Cell::None))?;
        }
        self.rows += 1;
        if self.rows >= BATCH {
            self.flush()?;
        }
        Ok(if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Gives the last rows.
    pub fn end(mut self) -> Result<(), String> {
        self.flush()
    }

    fn flush(&mut self) -> Result<(), String> {
        if self.rows == 0 || self.stopped {
            return Ok(());
        }
        self.rows = 0;
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(|e| e.to_string())?;
        self.stopped = (self.give)(batch).is_break();
        Ok(())
    }
}
