//! How the run was configured, as `corr facts` says it.

use super::Base;
use super::cites::at_line;
use super::model::{Cite, Disagreement, FactRow, Facts};
use crate::facts::table::{Row, Side};
use crate::facts::{self, Who, collect};
use crate::run::source::NotRead;

/// Citations of a fact; those of further workers say the same.
const CITES: usize = 3;
/// More workers are counted.
const WORKERS: usize = 8;

/// All facts; second, files that could not be read for them, or not whole.
pub fn of(base: Base<'_>) -> (Facts, Vec<NotRead>) {
    let (table, not_read) = collect::table(base.sources, base.run);
    let rows = table.rows.iter().map(|row| fact(base, row)).collect();
    let disagreements = table.disagreements.iter().map(|one| Disagreement {
        name: one.name.clone(),
        about: one.sort.about().into(),
        sides: one.sides.iter().map(|s| side(base, &one.name, s)).collect(),
    });
    let unknown = table.unknown.iter().map(|one| (one.name.to_string(), one.needs.clone())).collect();
    (Facts { rows, disagreements: disagreements.collect(), unknown }, not_read)
}

fn fact(base: Base<'_>, row: &Row) -> FactRow {
    FactRow {
        group: row.group.into(),
        name: row.name.clone(),
        value: row.value.to_string(),
        who: who(&row.who),
        how: row.bases().join(", "),
        note: row.note.clone(),
        disputed: row.disputed,
        cites: row.cites.iter().take(CITES).map(|c| cite(base, &c.cite)).collect(),
    }
}

fn side(base: Base<'_>, name: &str, side: &Side) -> FactRow {
    FactRow {
        name: name.into(),
        value: side.value.to_string(),
        who: shortened(side.workers.iter().map(String::as_str).collect()),
        how: side.basis.name().into(),
        cites: side.cites.iter().take(CITES).map(|c| cite(base, c)).collect(),
        ..FactRow::default()
    }
}

fn who(all: &[Who]) -> String {
    let mut names: Vec<&str> = all.iter().filter_map(|who| who.worker.as_deref().or(who.role.as_deref())).collect();
    names.dedup();
    shortened(names)
}

fn shortened(names: Vec<&str>) -> String {
    match names.split_at_checked(WORKERS) {
        Some((some, more)) if !more.is_empty() => format!("{} and {} more", some.join(", "), more.len()),
        _ => names.join(", "),
    }
}

fn cite(base: Base<'_>, cite: &facts::Cite) -> Cite {
    let at = Some(cite.line).filter(|line| *line > 0).and_then(|line| at_line(base, &cite.name, line));
    Cite { text: cite.at(), at, open: String::new() }
}
