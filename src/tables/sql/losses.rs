//! What is to be said beside answers: what could not be read of a run, and what its tables do not hold.

use std::collections::BTreeMap;
use std::io::{self, Write};

use corr_sql::Read;
use serde::{Deserialize, Serialize};

use super::shape::{RAW, WRITTEN};
use crate::render::safe::terminal;
use crate::store::columns::column_name;

/// What is to be said.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Told {
    pub notes: Vec<String>,
    /// A part of the input could not be read.
    pub partial: bool,
}

impl Told {
    /// Something to say, once.
    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Something that could not be read.
    pub fn lost(&mut self, what: String) {
        self.note(what);
        self.partial = true;
    }

    /// Writes it, a line each.
    pub fn say(&self, err: &mut dyn Write) -> io::Result<()> {
        self.notes.iter().try_for_each(|note| writeln!(err, "corr: {}", terminal(note)))
    }

    /// All that another says.
    #[cfg(feature = "cluster")]
    pub fn add(&mut self, other: Told) {
        other.notes.into_iter().for_each(|note| self.note(note));
        self.partial |= other.partial;
    }
}

/// Values of records that their columns do not hold.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cut {
    /// By field, how many are not whole.
    pub fields: BTreeMap<String, u64>,
    /// Some fields have no column.
    pub overflow: bool,
}

impl Cut {
    /// So many more of a field.
    pub fn count(&mut self, field: &str, lost: u64) {
        if lost > 0 {
            *self.fields.entry(field.to_string()).or_default() += lost;
        }
    }

    /// What is lost of what a question reads.
    pub fn said(&self, reads: &[Read]) -> Vec<String> {
        let mut lost = Vec::new();
        let mut any = false;
        for read in reads.iter().filter(|read| read.table == RAW) {
            any = true;
            let has = |name: &str| read.columns.iter().any(|column| column == name);
            let all = has(WRITTEN[2]);
            for (name, count) in self.fields.iter().filter(|(name, _)| all || has(&column_name(name))) {
                lost.push(format!(
                    "{name}: {count} values are not whole in SQL: longer than 1024 bytes, or the second of a record; `corr show` and `corr query` have them"
                ));
            }
        }
        if any && self.overflow {
            lost.push("a source has more than 1024 fields; those behind them are not in SQL, `corr query` has them".into());
        }
        lost
    }
}

/// What is to be said of tables that were written before: of the run, of each table, of each column.
#[cfg(feature = "cluster")]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Losses {
    /// Whatever is asked.
    #[serde(default)]
    pub run: Told,
    /// Where a table is asked.
    #[serde(default)]
    pub tables: BTreeMap<String, Told>,
    /// Where a column is asked.
    #[serde(default)]
    pub cut: Cut,
}

#[cfg(feature = "cluster")]
impl Losses {
    /// Those of another run too.
    pub fn add(&mut self, other: Losses) {
        self.run.add(other.run);
        for (table, told) in other.tables {
            self.tables.entry(table).or_default().add(told);
        }
        other.cut.fields.iter().for_each(|(field, lost)| self.cut.count(field, *lost));
        self.cut.overflow |= other.cut.overflow;
    }

    /// What is to be said of what a question reads.
    pub fn told(&self, reads: &[Read]) -> Told {
        let mut told = self.run.clone();
        for read in reads {
            if let Some(of_table) = self.tables.get(&read.table) {
                told.add(of_table.clone());
            }
        }
        self.cut.said(reads).into_iter().for_each(|what| told.lost(what));
        told
    }
}
