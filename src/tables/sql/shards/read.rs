//! Shards of any number of places as tables of a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::bail;
use arrow::datatypes::Schema;
use corr_sql::cluster::{Folder, Shared};
use corr_sql::{Engine, Read, Table};

use super::{FILE, Logs, Shard, captures};
use crate::store::columns::Type;
use crate::tables::columns;
use crate::tables::shard::narrow::{Columns, Names};
use crate::tables::sql::losses::{Losses, Told};
use crate::tables::sql::shape::{RAW, Shape};
use crate::tables::sql::sheet;

/// What the shards of all places hold together.
#[derive(Debug, Default)]
pub struct Shards {
    /// Their `shard.json`: a shard that two places reach is one.
    files: BTreeSet<String>,
    /// Files by table.
    urls: BTreeMap<String, Vec<String>>,
    fields: BTreeMap<String, Type>,
    wide: BTreeSet<String>,
    kinds: BTreeMap<String, BTreeSet<String>>,
    names: Names,
    losses: Losses,
    /// The sources of each run.
    logs: Vec<Logs>,
}

/// Makes the tables of all shards of some places known to an engine of a cluster.
pub fn add(engine: &mut Engine, places: &[String]) -> anyhow::Result<Shards> {
    let mut shards = Shards::default();
    for place in places {
        shards.take(place)?;
    }
    let shape = shards.shape();
    for (table, urls) in &shards.urls {
        let columns = match columns::Table::named(table) {
            Some(known) => sheet::schema(known.columns),
            None if table == RAW => Arc::new(Schema::new(shape.columns())),
            None => match captures::schema(table) {
                Some(columns) => columns,
                None => continue,
            },
        };
        engine.add(table, Table::Shared(Arc::new(Shared { urls: urls.clone(), columns })));
    }
    shape.add_views(engine);
    Ok(shards)
}

impl Shards {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// What is to be said of what a question reads.
    pub fn told(&self, reads: &[Read]) -> Told {
        self.losses.told(reads)
    }

    /// Takes the shards of a place in.
    fn take(&mut self, place: &str) -> anyhow::Result<()> {
        let folder = Folder::open(place)?;
        let files = folder.list()?;
        // Folders with tables, folders that say what they hold, and folders that a run says it has.
        let (mut begun, mut ended, mut due) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for file in &files {
            let (dir, name) = file.rsplit_once('/').unwrap_or(("", file));
            if name.ends_with(".parquet") {
                begun.insert(dir.to_string());
            }
            if name != FILE {
                continue;
            }
            let Some(shard) = Shard::read(&folder, file)? else { continue };
            ended.insert(dir.to_string());
            let beside = dir.rsplit_once('/').map_or(String::new(), |(above, _)| format!("{above}/"));
            due.extend(shard.folders.iter().map(|name| format!("{beside}{name}")));
            if self.files.insert(folder.url(file)) {
                self.add(&folder, dir, shard);
            }
        }
        if ended.is_empty() {
            bail!("{place}: no shard; `corr index RUN --shards {place}` writes some");
        }
        // A place that is itself one shard is asked for that alone.
        if ended.contains("") {
            return Ok(());
        }
        let mut gap = |name: &String, what: &str| {
            self.losses.run.lost(format!("{}: {what}; write the run anew by `corr index RUN --shards {place}`", folder.url(name)));
        };
        due.difference(&ended).for_each(|name| gap(name, "of a run that is there, but not there itself"));
        (&begun | &ended).difference(&due).for_each(|name| gap(name, "its run was not written to the end"));
        Ok(())
    }

    fn add(&mut self, folder: &Folder, dir: &str, shard: Shard) {
        let below = |file: &String| folder.url(&if dir.is_empty() { file.clone() } else { format!("{dir}/{file}") });
        for (table, files) in &shard.tables {
            self.urls.entry(table.clone()).or_default().extend(files.iter().map(below));
        }
        for (name, kind) in shard.fields {
            let known = self.fields.entry(name).or_insert(kind);
            *known = known.with(kind);
        }
        self.wide.extend(shard.wide);
        for (kind, names) in shard.kinds {
            self.kinds.entry(kind).or_default().extend(names);
        }
        self.names.add(shard.names);
        self.logs.extend(shard.logs);
        self.losses.add(shard.losses);
    }

    /// Are there records among them? A run can have captures alone.
    pub fn has_records(&self) -> bool {
        self.urls.contains_key(RAW)
    }

    /// What conditions of `corr query` are made of.
    pub fn columns(&self) -> Columns {
        Columns { fields: self.shape().fields, kinds: self.kinds.keys().cloned().collect(), names: self.names.clone() }
    }

    /// The sources of events of all runs.
    pub fn logs(&self) -> Logs {
        Logs::together(&self.logs)
    }

    /// What is to be said of what reads whole records.
    pub fn told_of_records(&self) -> Told {
        self.told_of(RAW)
    }

    /// What is to be said of what reads captures.
    pub fn told_of_captures(&self) -> Told {
        self.told_of(captures::CAPTURES)
    }

    fn told_of(&self, table: &str) -> Told {
        let mut told = self.losses.run.clone();
        self.losses.tables.get(table).into_iter().for_each(|of_table| told.add(of_table.clone()));
        told
    }

    /// What the records of all are like. Whole numbers that a double cannot tell apart are text where another shard has the field as doubles.
    fn shape(&self) -> Shape {
        let mut fields = self.fields.clone();
        for (name, kind) in &mut fields {
            if *kind == Type::Float && self.wide.contains(name) {
                *kind = Type::Text;
            }
        }
        Shape { fields, kinds: self.kinds.clone(), written: true }
    }
}
