//! What series did in a window, as a table that is asked by the window.

use std::fmt::{self, Debug};
use std::sync::Arc;

use corr_sql::arrow::datatypes::SchemaRef;
use corr_sql::{Give, Rows, TableFunction, Wanted};

use super::sheet::{Cell, Sheet, schema};
use super::{Asking, columns};
use crate::cli::metrics;
use crate::tables::Type;

/// `deltas('measured')`, `deltas('start+60s', 'end')`, `deltas()`.
#[derive(Debug)]
pub struct Deltas(pub Arc<Asking>);

impl TableFunction for Deltas {
    fn table(&self, arguments: &[String]) -> Result<Arc<dyn Rows>, String> {
        let end = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let (window, since, until) = match arguments {
            [] => (None, None, None),
            [window] => (Some(window.clone()), None, None),
            [since, until] => (None, end(since), end(until)),
            _ => return Err("deltas takes a window's name, or since and until; an end may be ''".into()),
        };
        Ok(Arc::new(Figures { asking: self.0.clone(), window, since, until }))
    }
}

struct Figures {
    asking: Arc<Asking>,
    window: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

impl Debug for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "deltas {:?} {:?} {:?}", self.window, self.since, self.until)
    }
}

/// Columns whose cells have another name in `corr metrics`.
const NAMES: &[(&str, &str)] = &[
    ("endpoint", "target"),
    ("type_origin", "origin"),
    ("first_value", "first"),
    ("last_value", "last"),
    ("start_grade", "start"),
    ("end_grade", "end"),
];

impl Rows for Figures {
    fn schema(&self) -> SchemaRef {
        schema(table())
    }

    fn make(&self, _: &Wanted, give: &mut Give<'_>) -> Result<(), String> {
        let asking = &self.asking;
        let asked = metrics::Windowed {
            runs: &asking.runs,
            options: &asking.options,
            store: asking.store.as_deref(),
            window: self.window.as_deref(),
            since: self.since.as_deref(),
            until: self.until.as_deref(),
            now: asking.now,
        };
        let mut said = Vec::new();
        let (names, rows, partial) = asked.cells(&mut said).map_err(|e| format!("{e:#}"))?;
        for line in String::from_utf8_lossy(&said).lines() {
            let line = line.strip_prefix("corr: ").unwrap_or(line).to_string();
            if partial { asking.lost(line) } else { asking.note(line) }
        }
        let place = |column: &str| {
            let name = NAMES.iter().find(|(ours, _)| *ours == column).map_or(column, |(_, theirs)| theirs);
            names.iter().position(|n| *n == name)
        };
        let places: Vec<Option<usize>> = table().iter().map(|c| place(c.name)).collect();
        let mut sheet = Sheet::new(table(), give);
        for row in &rows {
            let cells = table().iter().zip(&places).map(|(column, at)| {
                let text = at.and_then(|at| row.get(at)).map_or("", String::as_str);
                cell(column.kind, text)
            });
            if sheet.push(cells)?.is_break() {
                return Ok(());
            }
        }
        sheet.end()
    }
}

fn table() -> &'static [columns::Column] {
    columns::Table::named("deltas").map_or(&[][..], |t| t.columns)
}

/// A cell of a figure as a value.
fn cell(kind: Type, text: &str) -> Cell<'_> {
    if text.is_empty() {
        return Cell::None;
    }
    match kind {
        Type::Count | Type::Int => text.parse().map_or(Cell::None, Cell::Count),
        Type::Number => text.parse().map_or(Cell::None, Cell::Number),
        _ => Cell::Text(text),
    }
}
