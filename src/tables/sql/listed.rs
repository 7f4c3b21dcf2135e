//! The files of a run as a table.

use corr_sql::{Give, Wanted};

use super::sheet::{Cell, Sheet};
use super::{Asking, columns};
use crate::run::source::Class;
use crate::store::manifest::{how_name, rule_name};

/// One row a file.
pub fn sources(asking: &Asking, _: &Wanted, give: &mut Give<'_>) -> Result<(), String> {
    let run = asking.run()?;
    let table = columns::of("sources");
    let mut sheet = Sheet::new(table, give);
    for source in &run.sources {
        let (class, format) = match &source.class {
            Class::Events => ("events", Some(source.format().to_string())),
            Class::Metrics(layout) => ("metrics", Some(layout.clone())),
            Class::Config(what) => ("config", Some(what.clone())),
            Class::Empty => ("empty", None),
            Class::Duplicate(of) => ("duplicate", Some(of.clone())),
        };
        let events = source.class == Class::Events;
        let envelopes: Vec<&str> = source.detection.layout.envelopes.iter().map(|e| e.name).collect();
        let envelopes = Some(envelopes.join(">")).filter(|text| events && !text.is_empty());
        let rule = rule_name(source.clock.rule);
        let clock = |text: &'_ str| Some(text.to_string()).filter(|_| events);
        let (rule, how, evidence) = (clock(&rule), clock(how_name(source.clock.how)), clock(&source.clock.evidence));
        let owner = &source.owner;
        let row = [
            Cell::Text(&source.key),
            Cell::Text(&source.name),
            Cell::Text(class),
            (&format).into(),
            (&envelopes).into(),
            (&owner.worker).into(),
            (&owner.role).into(),
            (&owner.host).into(),
            (&owner.unit).into(),
            Some(owner.how.as_str()).filter(|how| !how.is_empty()).into(),
            (&rule).into(),
            (&how).into(),
            (&evidence).into(),
            Cell::Count(source.stat.size),
            (&source.damage).into(),
        ];
        if sheet.push(row)?.is_break() {
            return Ok(());
        }
    }
    for file in &run.not_read {
        let mut row: Vec<Cell<'_>> = vec![Cell::None, Cell::Text(&file.name), Cell::Text("not read")];
        row.extend((row.len()..table.len().saturating_sub(1)).map(|_| Cell::None));
        row.push(Cell::Text(&file.why));
        if sheet.push(row)?.is_break() {
            return Ok(());
        }
        if file.failure {
            asking.lost(format!("{}: {}", file.name, file.why));
        }
    }
    sheet.end()
}
