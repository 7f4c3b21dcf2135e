//! Functions of SQL over whole records: what writes them into shards, and what corr's executors ask of them.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, BinaryViewBuilder, BooleanBuilder, StringBuilder};
use arrow::datatypes::{DataType, TimestampNanosecondType, UInt64Type};
use corr_sql::{Call, Function};

use super::Asking;
use super::records::{Again, each_record};
use crate::query::answer::{first_key, values};
use crate::query::grammar;
use crate::query::matches::Matcher;
use crate::render::shown::Frame;
use crate::tables::shard::question::{KEY, MATCH, VALUES};
use crate::tables::shard::whole::{self, Whole};

/// Writes the record of a source at an offset; its line and its sort key are given beside them.
pub const WRITE: &str = "record_whole";

/// The function that writes records.
pub fn whole_of(asking: Arc<Asking>) -> Function {
    let call = move |columns: &[ArrayRef], rows: usize| -> Result<ArrayRef, String> {
        let wrong = || format!("{WRITE}: a record is found by a source and an offset, and has a line and a time");
        let (place, rest) = columns.split_at_checked(2).ok_or_else(wrong)?;
        let [lines, orders] = rest else { return Err(wrong()) };
        let lines = lines.as_primitive_opt::<UInt64Type>().ok_or_else(wrong)?;
        let orders = orders.as_primitive_opt::<TimestampNanosecondType>().ok_or_else(wrong)?;
        let mut written = BinaryViewBuilder::new();
        let mut row = 0;
        each_record(&asking, place, rows, |read| {
            let (line, order) = (lines.is_valid(row).then(|| lines.value(row)), orders.is_valid(row).then(|| orders.value(row)));
            row += 1;
            written.append_option(read.map(|Again { source, record, event, facts }| {
                let frame = Frame { line: line.unwrap_or(0), order, ..Frame::of(source, record, facts) };
                whole::write(&frame, record.payload, event, record.meta)
            }));
            Ok(())
        })?;
        Ok(Arc::new(written.finish()))
    };
    Function { name: WRITE, returns: DataType::BinaryView, call: Arc::new(call) }
}

/// The functions that ask records. Scheduler, executors and client have the same.
pub fn asking() -> Vec<Function> {
    vec![
        Function { name: MATCH, returns: DataType::Boolean, call: matching() },
        Function { name: KEY, returns: DataType::Binary, call: Arc::new(keys) },
        Function { name: VALUES, returns: DataType::Utf8, call: Arc::new(lists) },
    ]
}

/// Is it a record that matches? A row whose record could not be read when shards were written is none.
fn matching() -> Arc<Call> {
    // A question's batches come one behind the other; a query is compiled for the first of them.
    let last: Mutex<Option<(String, Arc<Matcher>)>> = Mutex::new(None);
    Arc::new(move |columns: &[ArrayRef], rows: usize| -> Result<ArrayRef, String> {
        let mut found = BooleanBuilder::new();
        let mut known: Option<Arc<Matcher>> = None;
        each(columns, rows, |query, whole| {
            let matcher = match known.clone() {
                Some(matcher) => matcher,
                None => {
                    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                    let matcher = match last.as_ref().filter(|(of, _)| of == query) {
                        Some((_, matcher)) => matcher.clone(),
                        None => Arc::new(compiled(query)?),
                    };
                    *last = Some((query.to_string(), matcher.clone()));
                    known = Some(matcher.clone());
                    matcher
                }
            };
            found.append_value(whole.is_some_and(|whole| matcher.matches(&whole.subject())));
            Ok(())
        })?;
        Ok(Arc::new(found.finish()))
    })
}

fn compiled(query: &str) -> Result<Matcher, String> {
    let expr = grammar::parse(query).map_err(|e| e.to_string())?;
    Matcher::new(&expr).map_err(|e| e.to_string())
}

/// What records are sorted by: the name of a field, with `-` before it for the largest first.
fn keys(columns: &[ArrayRef], rows: usize) -> Result<ArrayRef, String> {
    let mut keys = BinaryBuilder::new();
    each(columns, rows, |name, whole| {
        let (name, falling) = match name.strip_prefix('-') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let key = whole.and_then(|whole| first_key(&whole.subject(), name));
        keys.append_value(crate::query::rank::sortable(key.as_ref(), falling));
        Ok(())
    })?;
    Ok(Arc::new(keys.finish()))
}

/// What records are counted by, as lists in JSON.
fn lists(columns: &[ArrayRef], rows: usize) -> Result<ArrayRef, String> {
    let mut lists = StringBuilder::new();
    each(columns, rows, |name, whole| {
        lists.append_option(whole.map(|whole| serde_json::Value::from(values(&whole.subject(), name)).to_string()));
        Ok(())
    })?;
    Ok(Arc::new(lists.finish()))
}

/// Calls `f` with the text, which is one for all, and the record of each row.
fn each(columns: &[ArrayRef], rows: usize, mut f: impl FnMut(&str, Option<&Whole<'_>>) -> Result<(), String>) -> Result<(), String> {
    let [text, records] = columns else { return Err("a text and a record are asked".into()) };
    if rows == 0 {
        return Ok(());
    }
    let text = match text.data_type() {
        DataType::Utf8View => text.as_string_view_opt().filter(|t| t.is_valid(0)).map(|t| t.value(0)),
        DataType::LargeUtf8 => text.as_string_opt::<i64>().filter(|t| t.is_valid(0)).map(|t| t.value(0)),
        _ => text.as_string_opt::<i32>().filter(|t| t.is_valid(0)).map(|t| t.value(0)),
    };
    let text = text.ok_or("no text is asked")?;
    for row in 0..rows {
        let bytes = bytes_at(records, row)?;
        let whole = bytes.map(Whole::read).transpose()?;
        f(text, whole.as_ref())?;
    }
    Ok(())
}

/// The bytes of a row, of whatever type of bytes; `None` where there are none.
pub fn bytes_at(column: &ArrayRef, row: usize) -> Result<Option<&[u8]>, String> {
    if column.is_null(row) {
        return Ok(None);
    }
    let bytes = match column.data_type() {
        DataType::Binary => column.as_binary_opt::<i32>().map(|of| of.value(row)),
        DataType::LargeBinary => column.as_binary_opt::<i64>().map(|of| of.value(row)),
        DataType::BinaryView => column.as_binary_view_opt().map(|of| of.value(row)),
        _ => None,
    };
    bytes.map(Some).ok_or_else(|| format!("a column of records is {}", column.data_type()))
}
