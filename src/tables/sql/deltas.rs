//! What series did in a window, as a table that is asked by the window.

use std::fmt::{self, Debug};
use std::sync::Arc;

use corr_sql::arrow::datatypes::SchemaRef;
use corr_sql::{Give, Rows, TableFunction, Wanted};

use super::sheet::{Cell, Sheet, schema};
use super::{Asking, columns};
use crate::cli::metrics;
use crate::render::metrics::{COLUMNS, Value};

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
            run: asking.run()?,
            options: &asking.options,
            store: asking.store.as_deref(),
            window: self.window.as_deref(),
            since: self.since.as_deref(),
            until: self.until.as_deref(),
            now: asking.now,
        };
        let figures = asked.figures().map_err(|e| format!("{e:#}"))?;
        figures.said.into_iter().for_each(|note| asking.note(note));
        figures.lost.into_iter().for_each(|what| asking.lost(what));
        let place = |column: &str| {
            let name = NAMES.iter().find(|(ours, _)| *ours == column).map_or(column, |(_, theirs)| theirs);
            COLUMNS.iter().position(|n| *n == name)
        };
        let places: Vec<Option<usize>> = table().iter().map(|c| place(c.name)).collect();
        let mut sheet = Sheet::new(table(), give);
        for row in &figures.rows {
            let cells = places.iter().map(|at| at.and_then(|at| row.get(at)).map_or(Cell::None, cell));
            if sheet.push(cells)?.is_break() {
                return Ok(());
            }
        }
        sheet.end()
    }
}

fn table() -> &'static [columns::Column] {
    columns::of("deltas")
}

/// A value of a figure as a cell.
fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::None => Cell::None,
        Value::Text(text) => Cell::Text(text),
        Value::Count(n) => Cell::Count(*n),
        Value::Seen(value) | Value::Computed(value) => Cell::Number(*value),
    }
}
