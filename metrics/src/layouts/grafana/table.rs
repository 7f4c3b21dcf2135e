//! The columns of a panel's table, and what a row of it says.

use super::super::quoted::spelled;
use super::time::time;
use crate::build::Builder;
use crate::model::{Labels, Precision, SeriesId};

/// A table's columns.
#[derive(Debug)]
pub(super) struct Table {
    header: Vec<String>,
    time: usize,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// A column a series.
    Wide(Vec<Option<SeriesId>>),
    /// A row a point: values stand in these columns, labels in all others.
    Long(Vec<usize>),
}

/// Columns that make a table one of rows with labels.
const LABELS: [&str; 6] = ["__name__", "Series", "series", "Metric", "instance", "job"];

impl Table {
    /// `None` where no column is Grafana's time.
    pub(super) fn new(header: Vec<String>) -> Option<Table> {
        let header: Vec<String> = header.iter().map(|h| h.trim().to_string()).collect();
        let named = |name: &str| header.iter().position(|h| h == name);
        let time = named("Time").or_else(|| named("time").filter(|_| names_series(&header)))?;
        let values: Vec<usize> = (0..header.len()).filter(|&i| header.get(i).is_some_and(|h| is_value(h))).collect();
        let long = !values.is_empty() && header.iter().any(|h| LABELS.contains(&h.as_str()));
        if header.len() < 2 || (!long && time != 0) {
            return None;
        }
        let form = if long { Form::Long(values) } else { Form::Wide(Vec::new()) };
        Some(Table { header, time, form })
    }

    /// Some header is a series with labels.
    pub(super) fn names_series(&self) -> bool {
        names_series(&self.header)
    }

    pub(super) fn time_header(&self) -> &str {
        self.header.get(self.time).map_or("", String::as_str)
    }

    /// For output.
    pub(super) fn word(&self) -> &'static str {
        match self.form {
            Form::Wide(_) => "Grafana, series joined by time",
            Form::Long(_) => "Grafana, a row a point",
        }
    }

    /// The cell with a row's time.
    pub(super) fn time<'r>(&self, row: &'r [String]) -> Option<&'r str> {
        row.get(self.time).map(String::as_str)
    }

    /// A row has a time, and its values are numbers or absent, possibly with a unit.
    pub(super) fn fits(&self, row: &[String]) -> bool {
        let number = |i: usize| {
            let cell = row.get(i).map_or("", |c| c.trim());
            absent(cell) || cell.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) || cell.parse::<f64>().is_ok()
        };
        let values = match &self.form {
            Form::Wide(_) => (0..self.header.len().min(row.len())).filter(|i| *i != self.time).all(number),
            Form::Long(values) => values.iter().all(|&i| number(i)),
        };
        values && self.time(row).and_then(time).is_some()
    }

    /// The series of a table whose columns are series.
    pub(super) fn columns(&mut self, builder: &mut Builder, file: &str) {
        let Form::Wide(series) = &mut self.form else { return };
        for (i, header) in self.header.iter().enumerate() {
            let id = (i != self.time).then(|| series_of(header, &[], builder, file));
            series.push(id);
        }
    }

    /// Takes a row.
    pub(super) fn row(&self, row: &[String], stamp: i64, builder: &mut Builder, at: impl Fn() -> Option<String>) {
        if row.len() != self.header.len() {
            let what = || format!("rows with {} fields under {} headers", row.len(), self.header.len());
            builder.note("ragged_row", what, &at);
        }
        match &self.form {
            Form::Wide(series) => {
                for (cell, series) in row.iter().zip(series) {
                    let Some(series) = *series else { continue };
                    if let Some(value) = value(cell, builder, &at) {
                        builder.push(series, stamp, value);
                    }
                }
            }
            Form::Long(values) => self.long(row, values, stamp, builder, at),
        }
    }

    fn long(&self, row: &[String], values: &[usize], stamp: i64, builder: &mut Builder, at: impl Fn() -> Option<String>) {
        let mut name = None;
        let mut labels = Vec::new();
        for (i, (header, cell)) in self.header.iter().zip(row).enumerate() {
            match header.as_str() {
                _ if i == self.time || values.contains(&i) => {}
                "__name__" | "Series" | "series" | "Metric" => name = Some(cell.as_str()),
                _ => labels.push((header.as_str(), cell.as_str())),
            }
        }
        for &i in values {
            let Some(value) = row.get(i).and_then(|cell| value(cell, builder, &at)) else { continue };
            let header = self.header.get(i).map_or("", String::as_str);
            let series = series_of(name.unwrap_or(header), &labels, builder, "");
            builder.push(series, stamp, value);
        }
    }
}

fn names_series(header: &[String]) -> bool {
    header.iter().any(|h| h.contains('{') && spelled(h).is_some_and(|s| s.rest.is_empty()))
}

/// `Value`, or `Value #A` where several queries are in one table.
fn is_value(header: &str) -> bool {
    header == "Value" || header == "value" || header.starts_with("Value #")
}

fn absent(cell: &str) -> bool {
    cell.is_empty() || cell == "null" || cell == "undefined"
}

/// A cell's number; `None` where it is absent, or said to be none.
fn value(cell: &str, builder: &mut Builder, at: impl Fn() -> Option<String>) -> Option<f64> {
    let cell = cell.trim();
    if absent(cell) {
        return None;
    }
    let number = cell.parse().ok();
    if number.is_none() {
        let what = || format!("cells that are no plain number (like {cell:?}): export without formatting");
        builder.note("bad_value", what, at);
    }
    number
}

/// The series of a header: `name{k="v"}`, or a display name, which stands for itself.
fn series_of(header: &str, more: &[(&str, &str)], builder: &mut Builder, file: &str) -> SeriesId {
    let whole = spelled(header).filter(|s| s.rest.is_empty());
    let (name, own) = match whole {
        Some(s) => {
            let inner = s.labels.iter().find(|(k, _)| k == "__name__").map(|(_, v)| v.clone());
            (if s.name.is_empty() { inner.unwrap_or_default() } else { s.name }, s.labels)
        }
        None => {
            let what = || format!("names of a panel's legend (like {header:?}): which metric and labels they stand for is not said");
            builder.note("display_name", what, || (!file.is_empty()).then(|| file.to_string()));
            (header.to_string(), Vec::new())
        }
    };
    if name.is_empty() {
        builder.note("nameless", || "series without a name".into(), || (!file.is_empty()).then(|| file.to_string()));
    }
    let own = own.iter().filter(|(k, _)| k != "__name__").map(|(k, v)| (k.as_str(), v.as_str()));
    let labels = Labels::new(own.chain(more.iter().copied()));
    let endpoint = builder.endpoint(labels.get("instance").unwrap_or(""));
    builder.series(endpoint, &name, &labels, Precision::F64)
}
