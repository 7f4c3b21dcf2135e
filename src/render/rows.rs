//! Rows of an answer in SQL as text, JSON, CSV or Markdown, batch by batch.

use std::io::{self, Write};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int64Type, Schema, UInt64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::{Map, Value as Json, json};

use super::events::Format;
use super::metrics::number;
use super::safe;

/// Rows that are looked at for the widths of text columns; what comes behind them is written with those.
const MEASURED: usize = 1_000;
const NULL: &str = "NULL";

/// Writes an answer.
pub struct Writer<'o> {
    out: &'o mut dyn Write,
    format: Format,
    names: Vec<String>,
    types: Vec<DataType>,
    rows: u64,
    /// Rows of text that wait for the widths of columns.
    waiting: Vec<Vec<Option<String>>>,
    widths: Option<Vec<usize>>,
    plan: bool,
}

impl<'o> Writer<'o> {
    /// Writes what stands above the rows.
    pub fn begin(out: &'o mut dyn Write, format: Format, schema: &Schema) -> io::Result<Writer<'o>> {
        let names = names(schema);
        let types: Vec<DataType> = schema.fields().iter().map(|f| f.data_type().clone()).collect();
        let plan = names == ["plan_type", "plan"];
        match format {
            Format::Csv => {
                let head: Vec<String> = names.iter().map(|n| safe::csv_field(n).into_owned()).collect();
                writeln!(out, "{}", head.join(","))?;
            }
            Format::Markdown => {
                let head: Vec<String> = names.iter().map(|n| safe::markdown_cell(n)).collect();
                writeln!(out, "| {} |", head.join(" | "))?;
                writeln!(out, "|{}", "---|".repeat(names.len()))?;
            }
            Format::Json => {
                let columns: Vec<Json> =
                    names.iter().zip(&types).map(|(name, kind)| json!({"name": name, "type": kind.to_string()})).collect();
                write!(out, "{{\n  \"schema\": \"corr.sql.v1\",\n  \"columns\": ")?;
                safe::write_json(out, &Json::Array(columns), false)?;
                write!(out, ",\n  \"rows\": [")?;
            }
            Format::Text | Format::Jsonl => {}
        }
        Ok(Writer { out, format, names, types, rows: 0, waiting: Vec::new(), widths: None, plan })
    }

    /// Writes rows.
    pub fn batch(&mut self, batch: &RecordBatch) -> Result<(), arrow::error::ArrowError> {
        let options = FormatOptions::default().with_display_error(true);
        let shown = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options)).collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let columns = batch.columns().iter().zip(&shown);
            match self.format {
                Format::Json | Format::Jsonl => {
                    let values = columns.map(|(column, shown)| json_of(column, shown, row));
                    let object: Map<String, Json> = self.names.iter().cloned().zip(values).collect();
                    if self.format == Format::Json {
                        write!(self.out, "{}\n    ", if self.rows == 0 { "" } else { "," })?;
                        safe::write_json(self.out, &Json::Object(object), false)?;
                    } else {
                        safe::write_json(self.out, &Json::Object(object), false)?;
                        writeln!(self.out)?;
                    }
                }
                Format::Csv => {
                    let cells: Vec<String> = columns.map(|(column, shown)| csv_cell(text_of(column, shown, row))).collect();
                    writeln!(self.out, "{}", cells.join(","))?;
                }
                Format::Markdown => {
                    let cells: Vec<String> =
                        columns.map(|(column, shown)| safe::markdown_cell(&text_of(column, shown, row).unwrap_or(NULL.into()))).collect();
                    writeln!(self.out, "| {} |", cells.join(" | "))?;
                }
                Format::Text => {
                    let cells: Vec<Option<String>> = columns.map(|(column, shown)| text_of(column, shown, row)).collect();
                    if self.plan { self.plan(&cells)? } else { self.text(cells)? }
                }
            }
            self.rows += 1;
        }
        Ok(())
    }

    /// Writes what stands below the rows; gives how many there were.
    pub fn end(mut self) -> io::Result<u64> {
        match self.format {
            Format::Text => self.measure()?,
            Format::Json => writeln!(self.out, "{}  ],\n  \"count\": {}\n}}", if self.rows == 0 { "" } else { "\n" }, self.rows)?,
            Format::Jsonl => {
                safe::write_json(self.out, &json!({"summary": {"schema": "corr.sql.v1", "rows": self.rows}}), false)?;
                writeln!(self.out)?;
            }
            Format::Csv | Format::Markdown => {}
        }
        Ok(self.rows)
    }

    /// One plan of an EXPLAIN, line by line.
    fn plan(&mut self, cells: &[Option<String>]) -> io::Result<()> {
        let mut cells = cells.iter().map(|cell| cell.as_deref().unwrap_or_default());
        writeln!(self.out, "{}:", safe::terminal(cells.next().unwrap_or_default()))?;
        for line in safe::terminal_lines(cells.next().unwrap_or_default().as_bytes()) {
            writeln!(self.out, "  {line}")?;
        }
        Ok(())
    }

    fn text(&mut self, cells: Vec<Option<String>>) -> io::Result<()> {
        let cells: Vec<Option<String>> = cells.into_iter().map(|cell| cell.map(|text| safe::terminal(&text).into_owned())).collect();
        match &self.widths {
            Some(widths) => line(self.out, &cells, widths, &self.types),
            None => {
                self.waiting.push(cells);
                if self.waiting.len() >= MEASURED { self.measure() } else { Ok(()) }
            }
        }
    }

    /// Finds the widths of columns and writes the rows that waited for them.
    fn measure(&mut self) -> io::Result<()> {
        if self.widths.is_some() || self.plan {
            return Ok(());
        }
        let head: Vec<Option<String>> = self.names.iter().map(|name| Some(safe::terminal(name).into_owned())).collect();
        let width = |at: usize| {
            let of = |row: &Vec<Option<String>>| console::measure_text_width(row.get(at).and_then(Option::as_deref).unwrap_or(NULL));
            self.waiting.iter().chain([&head]).map(of).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.names.len()).map(width).collect();
        if self.rows > 0 || !self.waiting.is_empty() {
            line(self.out, &head, &widths, &self.types)?;
        }
        for row in std::mem::take(&mut self.waiting) {
            line(self.out, &row, &widths, &self.types)?;
        }
        self.widths = Some(widths);
        Ok(())
    }
}

/// Names of columns, each once: a second `x` is `x_2`.
fn names(schema: &Schema) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for field in schema.fields() {
        let mut name = field.name().clone();
        let mut number = 2;
        while names.contains(&name) {
            name = format!("{}_{number}", field.name());
            number += 1;
        }
        names.push(name);
    }
    names
}

/// One line of text; numbers end, all else begins at its column's edge.
fn line(out: &mut dyn Write, cells: &[Option<String>], widths: &[usize], types: &[DataType]) -> io::Result<()> {
    let mut written = String::new();
    for ((cell, width), kind) in cells.iter().zip(widths).zip(types) {
        let text = cell.as_deref().unwrap_or(NULL);
        let blank = " ".repeat(width.saturating_sub(console::measure_text_width(text)));
        if !written.is_empty() {
            written.push_str("  ");
        }
        if kind.is_numeric() {
            written.push_str(&blank);
            written.push_str(text);
        } else {
            written.push_str(text);
            written.push_str(&blank);
        }
    }
    writeln!(out, "{}", written.trim_end())
}

/// A value as text; `None` for none.
fn text_of(column: &ArrayRef, shown: &ArrayFormatter<'_>, row: usize) -> Option<String> {
    if column.is_null(row) {
        return None;
    }
    match column.data_type() {
        DataType::Float64 => column.as_primitive_opt::<Float64Type>().map(|values| number(values.value(row))),
        DataType::Float32 => column.as_primitive_opt::<Float32Type>().map(|values| number(f64::from(values.value(row)))),
        DataType::Null => None,
        _ => Some(shown.value(row).to_string()),
    }
}

/// A value as JSON; what JSON has no word for as text.
fn json_of(column: &ArrayRef, shown: &ArrayFormatter<'_>, row: usize) -> Json {
    if column.is_null(row) {
        return Json::Null;
    }
    let whole = || Some(shown.value(row).to_string());
    match column.data_type() {
        DataType::Int64 => column.as_primitive_opt::<Int64Type>().map_or(Json::Null, |values| json!(values.value(row))),
        DataType::UInt64 => column.as_primitive_opt::<UInt64Type>().map_or(Json::Null, |values| json!(values.value(row))),
        kind if kind.is_integer() => whole().and_then(|text| text.parse::<i64>().ok()).map_or(Json::Null, Json::from),
        DataType::Float64 | DataType::Float32 => {
            let value = text_of(column, shown, row).unwrap_or_default();
            match value.parse::<f64>() {
                Ok(number) if number.is_finite() => json!(number),
                _ => json!(value),
            }
        }
        DataType::Boolean => column.as_boolean_opt().map_or(Json::Null, |values| json!(values.value(row))),
        DataType::Map(..) => map(column, row).unwrap_or_default(),
        DataType::List(_) => column.as_list_opt::<i32>().map_or(Json::Null, |lists| list(&lists.value(row))),
        DataType::Null => Json::Null,
        _ => whole().map_or(Json::Null, Json::from),
    }
}

fn map(column: &ArrayRef, row: usize) -> Option<Json> {
    let entries = column.as_map_opt()?.value(row);
    let (keys, values) = (entries.column(0), entries.column(1));
    let options = FormatOptions::default().with_display_error(true);
    let (keys_shown, values_shown) = (ArrayFormatter::try_new(keys, &options).ok()?, ArrayFormatter::try_new(values, &options).ok()?);
    let pair = |at: usize| (text_of(keys, &keys_shown, at).unwrap_or_default(), json_of(values, &values_shown, at));
    Some(Json::Object((0..entries.len()).map(pair).collect()))
}

fn list(values: &ArrayRef) -> Json {
    let options = FormatOptions::default().with_display_error(true);
    let Ok(shown) = ArrayFormatter::try_new(values, &options) else { return Json::Null };
    (0..values.len()).map(|at| json_of(values, &shown, at)).collect()
}

/// Nothing is nothing between commas, no text is `""`.
fn csv_cell(text: Option<String>) -> String {
    match text {
        None => String::new(),
        Some(text) if text.is_empty() => "\"\"".into(),
        Some(text) => safe::csv_field(&text).into_owned(),
    }
}
