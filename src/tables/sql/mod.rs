//! The tables of a run given to the engine of SQL. What a question does not name is not read.

mod captures;
mod deltas;
#[cfg(feature = "cluster")]
pub mod functions;
#[cfg(feature = "cluster")]
pub mod hits;
mod judged;
mod listed;
mod losses;
mod records;
mod shape;
#[cfg(feature = "cluster")]
pub mod shards;
mod sheet;

use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use corr_sql::arrow::datatypes::SchemaRef;
use corr_sql::{Engine, Give, Limits, Rows, SqlError, Table, Wanted};

use super::columns::{self, TABLES};
use crate::query::sources::{self, Asked, Sources, SourcesError};
use crate::run::{self, OpenError, Options, Run};

pub use losses::Told;
pub use records::Records;

/// A run that is asked in SQL.
pub struct Asking {
    pub runs: Vec<String>,
    pub options: Options,
    pub store: Option<PathBuf>,
    /// Now, nanoseconds since the epoch.
    pub now: i64,
    run: OnceLock<Result<Run, String>>,
    sources: OnceLock<Result<Sources, String>>,
    told: Mutex<Told>,
}

impl Debug for Asking {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "run {:?}", self.runs)
    }
}

impl Asking {
    /// Nothing is opened yet.
    pub fn new(runs: Vec<String>, options: Options, store: Option<PathBuf>, now: i64) -> Asking {
        Asking { runs, options, store, now, run: OnceLock::new(), sources: OnceLock::new(), told: Mutex::default() }
    }

    /// The run, looked into when it is first asked for.
    pub fn run(&self) -> Result<&Run, String> {
        let opened = self.run.get_or_init(|| run::open(&self.runs, &self.options).map_err(|e| e.to_string()));
        opened.as_ref().map_err(Clone::clone)
    }

    /// The sources of events, with what of their index holds.
    pub fn sources(&self) -> Result<&Sources, String> {
        let store = self.store.as_deref();
        let opened = self.sources.get_or_init(|| {
            let run = || -> Result<&Run, SourcesError> { Ok(self.run().map_err(OpenError::Option)?) };
            let sources = sources::find(&self.runs, &self.options, store, &run).map_err(|e| e.to_string())?;
            sources.notes.iter().for_each(|note| self.note(note.clone()));
            sources.not_read.iter().filter(|n| n.failure).for_each(|n| self.lost(format!("{}: {}", n.name, n.why)));
            Ok(sources)
        });
        opened.as_ref().map_err(Clone::clone)
    }

    /// Something to say.
    pub fn note(&self, note: String) {
        self.saying().note(note);
    }

    /// Something that could not be read.
    pub fn lost(&self, what: String) {
        self.saying().lost(what);
    }

    fn saying(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of a source; what is wrong with them is said.
    pub fn bytes<'s>(&self, source: &'s Asked) -> Option<&'s [u8]> {
        let bytes = source.bytes();
        if let Some(why) = bytes.err().or_else(|| source.damage()) {
            self.lost(format!("{}: {why}", source.name));
        }
        bytes.ok()
    }

    /// What is to be said because of this alone.
    #[cfg(feature = "cluster")]
    fn heard<T>(&self, of: impl FnOnce() -> T) -> (T, Told) {
        let before = std::mem::take(&mut *self.saying());
        let done = of();
        let said = self.told();
        let mut all = before;
        all.add(said.clone());
        *self.saying() = all;
        (done, said)
    }

    /// A failure of the engine as it is told: where a file of the index is damaged, that is why.
    pub fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        let error = match error.downcast::<SqlError>() {
            Ok(error) => error,
            Err(other) => return other,
        };
        if matches!(error, SqlError::Broken(_) | SqlError::Read(_))
            && let Some(Ok(sources)) = self.sources.get()
        {
            for segment in sources.sources.iter().flat_map(|source| &source.segments) {
                if let Err(damaged) = segment.check_columns() {
                    return damaged.into();
                }
            }
        }
        match error {
            SqlError::Broken(_) => anyhow::anyhow!("{error}; `corr index --rebuild` makes the index anew, if that is what was read"),
            error => error.into(),
        }
    }

    /// What is to be said so far.
    pub fn told(&self) -> Told {
        self.saying().clone()
    }
}

/// Makes the rows of a table.
type Make = fn(&Asking, &Wanted, &mut Give<'_>) -> Result<(), String>;

/// A table whose rows are made when it is asked.
struct Made {
    table: &'static columns::Table,
    asking: Arc<Asking>,
    make: Make,
}

impl Debug for Made {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.table.name)
    }
}

impl Rows for Made {
    fn schema(&self) -> SchemaRef {
        sheet::schema(self.table.columns)
    }

    fn make(&self, wanted: &Wanted, give: &mut Give<'_>) -> Result<(), String> {
        (self.make)(&self.asking, wanted, give)
    }
}

const MADE: &[(&str, Make)] = &[
    ("samples", captures::samples),
    ("series", captures::series),
    ("readiness", judged::readiness),
    ("verdicts", judged::verdicts),
    ("sources", listed::sources),
];

/// Makes the tables known that are made when they are asked.
fn add_made(engine: &mut Engine, asking: &Arc<Asking>) {
    for (name, make) in MADE {
        let Some(table) = columns::Table::named(name) else { continue };
        engine.add(name, Table::Rows(Arc::new(Made { table, asking: asking.clone(), make: *make })));
    }
}

/// An engine that knows the tables of a run, and what it needs while it answers.
pub struct Prepared {
    pub engine: Engine,
    /// Of the records, where they are asked.
    pub records: Option<Records>,
}

/// Readies the tables that a question names.
pub fn prepare(asking: &Arc<Asking>, sql: &str, limits: Limits) -> Result<Prepared, SqlError> {
    let mut engine = Engine::local(limits)?;
    add_made(&mut engine, asking);
    engine.add_table_function("deltas", Arc::new(deltas::Deltas(asking.clone())));
    let named: BTreeSet<String> = engine.names(sql)?.into_iter().collect();
    let of_records = named.iter().any(|name| name == "events" || !TABLES.iter().any(|t| t.name == name));
    let records = match of_records {
        true => Some(Records::open(asking, &engine).map_err(SqlError::Answer)?),
        false => None,
    };
    if let Some(records) = &records {
        records.add_to(&mut engine, asking);
    }
    Ok(Prepared { engine, records })
}
