//! The tables of a run as Parquet files that the machines of a cluster read: one folder a host or group of sources for its records, one for what is
//! of the whole run. Each folder has a `shard.json`, written last, that says what is in it.

pub mod captures;
mod logs;
mod read;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};
use corr_sql::cluster::Folder;
use serde::{Deserialize, Serialize};

use super::losses::Losses;
use crate::store::columns::Type;
use crate::tables::shard::narrow::Names;

pub use logs::Logs;
pub use read::{Shards, add};
pub use write::{Written, write};

/// The form of `shard.json`.
const FORM: &str = "corr.shard.v4";
const FILE: &str = "shard.json";
/// The folder of what is of the whole run, behind the run's name.
const WHOLE: &str = "whole";

/// What a folder holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Shard {
    schema: String,
    /// Files below the folder, by table.
    tables: BTreeMap<String, Vec<String>>,
    /// Fields of the records with their types.
    #[serde(default)]
    fields: BTreeMap<String, Type>,
    /// Fields of whole numbers of which a double cannot tell some apart.
    #[serde(default)]
    wide: BTreeSet<String>,
    /// Fields of each kind.
    #[serde(default)]
    kinds: BTreeMap<String, BTreeSet<String>>,
    /// What conditions of `corr query` are made of.
    #[serde(default)]
    names: Names,
    /// Of the whole run: every folder that it has.
    #[serde(default)]
    folders: BTreeSet<String>,
    /// Of the whole run: its sources of events.
    #[serde(default)]
    logs: Option<Logs>,
    /// Of the whole run: what is to be said beside answers.
    #[serde(default)]
    losses: Losses,
}

impl Shard {
    /// What the file says; `None` if there is none.
    fn read(folder: &Folder, file: &str) -> anyhow::Result<Option<Shard>> {
        /// What every form has.
        #[derive(Deserialize)]
        struct Form {
            schema: String,
        }

        let Some(bytes) = folder.get(file)? else { return Ok(None) };
        let damaged = || format!("{}: damaged; write it anew by `corr index --shards`", folder.url(file));
        let form: Form = serde_json::from_slice(&bytes).with_context(damaged)?;
        if form.schema != FORM {
            bail!("{}: written by another version of corr; remove the folder and write it anew by `corr index --shards`", folder.url(file));
        }
        serde_json::from_slice(&bytes).with_context(damaged).map(Some)
    }
}
