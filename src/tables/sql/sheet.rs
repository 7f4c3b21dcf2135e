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
/// Bytes of text in a batch: a row that goes over begins the next one.
const TEXT: usize = 64 << 20;
/// Arrow counts the text of a column in 31 bits.
const MOST: usize = i32::MAX as usize;
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

/// Maps of text to text in the making, one a row.
pub struct Maps {
    builder: MapBuilder<StringBuilder, StringBuilder>,
    keys: usize,
    values: usize,
    most: usize,
}

impl Maps {
    /// None yet.
    pub fn new() -> Maps {
        Maps::up_to(MOST)
    }

    fn up_to(most: usize) -> Maps {
        let names = MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() };
        let builder = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
        Maps { builder, keys: 0, values: 0, most }
    }

    /// Adds an entry to the row's map.
    ///
    /// # Errors
    /// The maps together hold more text than Arrow can count.
    pub fn entry(&mut self, key: &str, value: Option<&str>) -> Result<(), String> {
        self.keys += key.len();
        self.values += value.map_or(0, str::len);
        if self.keys.max(self.values) > self.most {
            return Err(format!(
                "the maps of these records hold more than {} bytes of text: ask for fewer of them, or for single columns of the kind's view",
                self.most
            ));
        }
        self.builder.keys().append_value(key);
        self.builder.values().append_option(value);
        Ok(())
    }

    /// Ends the row's map; a row without one has none.
    pub fn end(&mut self, has: bool) -> Result<(), String> {
        self.builder.append(has).map_err(|e| e.to_string())
    }

    /// The maps of all rows.
    pub fn finish(&mut self) -> ArrayRef {
        (self.keys, self.values) = (0, 0);
        Arc::new(self.builder.finish())
    }
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

impl Cell<'_> {
    /// Bytes of its text.
    fn text(&self) -> usize {
        match self {
            Cell::Text(text) => text.len(),
            Cell::Map(pairs) => pairs.iter().map(|(key, value)| key.len() + value.len()).sum(),
            Cell::None | Cell::Count(_) | Cell::Number(_) | Cell::Truth(_) | Cell::Time(_) => 0,
        }
    }
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
    Map(Box<Maps>),
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
            Type::Map => Builder::Map(Box::new(Maps::new())),
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
                    to.entry(key, Some(value))?;
                }
                to.end(true)?;
            }
            (Builder::Map(to), _) => to.end(false)?,
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
            Builder::Map(of) => of.finish(),
        }
    }
}

/// Gives rows on in batches.
pub struct Sheet<'g, 'b> {
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
    /// Bytes of the text of these rows.
    text: usize,
    give: &'g mut Give<'b>,
    stopped: bool,
}

impl<'g, 'b> Sheet<'g, 'b> {
    pub fn new(columns: &[Column], give: &'g mut Give<'b>) -> Sheet<'g, 'b> {
        let builders = columns.iter().map(|c| Builder::of(c.kind)).collect();
        Sheet { schema: schema(columns), builders, rows: 0, text: 0, give, stopped: false }
    }

    /// Adds a row, in the order of the columns. `Break`: no more is wanted.
    pub fn push<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) -> Result<ControlFlow<()>, String> {
        let cells: Vec<Cell<'c>> = cells.into_iter().collect();
        let text: usize = cells.iter().map(Cell::text).sum();
        if text > MOST {
            return Err(format!("a row holds {text} bytes of text: more than a column can"));
        }
        if self.text + text > TEXT {
            self.flush()?;
        }
        self.text += text;
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
        (self.rows, self.text) = (0, 0);
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(|e| e.to_string())?;
        self.stopped = (self.give)(batch).is_break();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::columns;

    #[test]
    fn batches_are_cut_by_their_text() {
        let mut rows = Vec::new();
        let mut give = |batch: RecordBatch| {
            rows.push(batch.num_rows());
            ControlFlow::Continue(())
        };
        let long = "x".repeat(TEXT / 4);
        let mut sheet = Sheet::new(columns::of("sources"), &mut give);
        for _ in 0..6 {
            assert!(sheet.push([Cell::Text(&long)]).expect("a row").is_continue());
        }
        sheet.end().expect("the rest");
        assert_eq!(rows, [4, 2]);
    }

    #[test]
    fn maps_that_hold_too_much_are_an_error() {
        let mut maps = Maps::up_to(10);
        maps.entry("k", Some("0123456789")).expect("ten bytes");
        maps.end(true).expect("a map");
        assert!(maps.entry("k", Some("0")).expect_err("eleven").contains("more than 10 bytes"));
        assert_eq!(maps.finish().len(), 1);
    }
}
