//! The tables of a run as Parquet files that the machines of a cluster read: one folder a host or group of sources for its records, one for what is
//! of the whole run. Each folder has a `shard.json`, written last, that says what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use arrow::datatypes::{Field, Schema, SchemaRef};
use corr_sql::cluster::{Folder, Shared};
use corr_sql::{Engine, Limits, Table};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use serde::{Deserialize, Serialize};

use super::records::Records;
use super::shape::{CONSTANTS, RAW, Shape, WRITTEN, quoted};
use super::{Asking, MADE, columns, sheet};
use crate::run::source::Owner;
use crate::store::columns::Type;

/// The form of `shard.json`.
const FORM: &str = "corr.shard.v1";
const FILE: &str = "shard.json";
/// Rows in a row group, and in a page: what a condition can leave out.
const GROUP: usize = 131_072;
const PAGE: usize = 8_192;

/// What a folder holds.
#[derive(Debug, Serialize, Deserialize)]
struct Shard {
    schema: String,
    /// Files below the folder, by table.
    tables: BTreeMap<String, Vec<String>>,
    /// Fields of the records with their types.
    #[serde(default)]
    fields: BTreeMap<String, Type>,
    /// Fields of each kind.
    #[serde(default)]
    kinds: BTreeMap<String, BTreeSet<String>>,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    pub shards: Vec<String>,
    pub records: u64,
    pub bytes: u64,
}

/// Writes the tables of a run to a folder, replacing what a run of this name left there.
pub fn write(asking: &Arc<Asking>, place: &str, limits: Limits) -> anyhow::Result<Written> {
    let folder = Folder::create(place)?;
    let mut engine = Engine::local(limits)?;
    let records = Records::open(asking, &engine).map_err(anyhow::Error::msg)?;
    records.add_to(&mut engine, asking);
    super::add_made(&mut engine, asking);
    let shape = records.shape();
    let explained = |failed: anyhow::Error| match failed.downcast() {
        Ok(failed) => asking.explained(failed),
        Err(other) => other,
    };
    let mut written = Written::default();
    let temp = tempfile::tempdir().context("a place for files before they are sent")?;
    let run = safe_name(&asking.runs.iter().map(|r| last_part(r)).collect::<Vec<_>>().join("+"));
    for (group, keys) in groups(asking)? {
        let name = format!("{run}.{group}");
        let keys: Vec<String> = keys.iter().map(|key| format!("'{}'", key.replace('\'', "''"))).collect();
        let fixed = shape.columns().iter().map(|c| quoted(c.name())).collect::<Vec<_>>().join(", ");
        let constants = CONSTANTS.join(", ");
        let sql = format!(
            "SELECT {fixed}, {constants}, {} AS {}, {} AS {}, {} AS {} FROM {RAW} WHERE _source IN ({})",
            shape.text(),
            WRITTEN[0],
            shape.ids(),
            WRITTEN[1],
            shape.map(),
            WRITTEN[2],
            keys.join(", ")
        );
        let path = temp.path().join("events.parquet");
        let (rows, bytes) = store(&engine, &sql, None, &path).map_err(explained)?;
        folder.upload(&format!("{name}/events.parquet"), &path)?;
        written.records += rows;
        written.bytes += bytes;
        let shard = Shard {
            schema: FORM.into(),
            tables: BTreeMap::from([(RAW.to_string(), vec!["events.parquet".to_string()])]),
            fields: shape.fields.clone(),
            kinds: shape.kinds.clone(),
        };
        folder.put(&format!("{name}/{FILE}"), serde_json::to_vec_pretty(&shard)?)?;
        written.shards.push(name);
    }
    let name = format!("{run}.whole");
    let mut tables = BTreeMap::new();
    for (table, _) in MADE {
        let Some(columns) = columns::Table::named(table) else { continue };
        let path = temp.path().join("table.parquet");
        let (_, bytes) =
            store(&engine, &format!("SELECT * FROM {table}"), Some(sheet::schema(columns.columns)), &path).map_err(explained)?;
        folder.upload(&format!("{name}/{table}.parquet"), &path)?;
        written.bytes += bytes;
        tables.insert(table.to_string(), vec![format!("{table}.parquet")]);
    }
    let shard = Shard { schema: FORM.into(), tables, fields: BTreeMap::new(), kinds: BTreeMap::new() };
    folder.put(&format!("{name}/{FILE}"), serde_json::to_vec_pretty(&shard)?)?;
    written.shards.push(name);
    remove_others(&folder, &run, &written.shards)?;
    Ok(written)
}

/// Removes folders of this run that it does not have any more: what reads them would count them.
fn remove_others(folder: &Folder, run: &str, shards: &[String]) -> anyhow::Result<()> {
    for file in folder.list()? {
        let Some((shard, _)) = file.split_once('/') else { continue };
        if shard.strip_prefix(run).is_some_and(|rest| rest.starts_with('.')) && !shards.iter().any(|s| s == shard) {
            folder.remove(&file)?;
        }
    }
    Ok(())
}

/// Sources by host, else by worker, else together.
fn groups(asking: &Asking) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let sources = asking.sources().map_err(anyhow::Error::msg)?;
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in &sources.sources {
        groups.entry(group(&source.owner)).or_default().push(source.key.clone());
    }
    Ok(groups)
}

fn group(owner: &Owner) -> String {
    match (&owner.host, &owner.worker) {
        (Some(host), _) => safe_name(&format!("host-{host}")),
        (None, Some(worker)) => safe_name(&format!("worker-{worker}")),
        (None, None) => "other".into(),
    }
}

fn last_part(run: &str) -> String {
    let path = std::path::Path::new(run);
    path.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned())
}

/// A name of letters, digits and `-_`: the same in a folder, a URL and a key.
fn safe_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+') { c } else { '_' }).collect()
}

/// The answer to a question as a Parquet file; gives rows and bytes.
fn store(engine: &Engine, sql: &str, schema: Option<SchemaRef>, path: &std::path::Path) -> anyhow::Result<(u64, u64)> {
    let mut answer = engine.ask(sql)?;
    let given = schema.unwrap_or_else(|| answer.schema.clone());
    // Every column may lack a value, whatever the question knows of it: files of other runs stand beside this one.
    let fields: Vec<Field> = given.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(GROUP))
        .set_data_page_row_count_limit(PAGE)
        .set_write_batch_size(PAGE)
        .set_statistics_enabled(EnabledStatistics::Page)
        .build();
    // Plain types and no stored Arrow schema, as in the store: a join over dictionary types failed on a cluster.
    let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(File::create(path)?, schema.clone(), options)?;
    let mut rows = 0;
    while let Some(batch) = answer.next_batch()? {
        rows += batch.num_rows() as u64;
        writer.write(&batch.with_schema(schema.clone())?)?;
    }
    writer.close()?;
    Ok((rows, std::fs::metadata(path)?.len()))
}

/// What the shards of all places hold together.
#[derive(Default)]
struct Merged {
    /// Their manifests: a shard that two places reach is one.
    shards: BTreeSet<String>,
    /// Files by table.
    urls: BTreeMap<String, Vec<String>>,
    shape: Shape,
}

impl Merged {
    /// Takes the shards of a place in.
    fn take(&mut self, place: &str) -> anyhow::Result<()> {
        let folder = Folder::open(place)?;
        let mut any = false;
        for file in folder.list()?.iter().filter(|file| *file == FILE || file.ends_with(&format!("/{FILE}"))) {
            let Some(bytes) = folder.get(file)? else { continue };
            let shard: Shard = serde_json::from_slice(&bytes)
                .with_context(|| format!("{}: damaged; write it anew by `corr index --shards`", folder.url(file)))?;
            if shard.schema != FORM {
                bail!("{}: written by another version of corr; write it anew by `corr index --shards`", folder.url(file));
            }
            any = true;
            if self.shards.insert(folder.url(file)) {
                self.add(&folder, file.strip_suffix(FILE).unwrap_or_default(), shard);
            }
        }
        if !any {
            bail!("{place}: no shard; `corr index RUN --shards {place}` writes some");
        }
        Ok(())
    }

    fn add(&mut self, folder: &Folder, dir: &str, shard: Shard) {
        for (table, files) in shard.tables {
            self.urls.entry(table).or_default().extend(files.iter().map(|file| folder.url(&format!("{dir}{file}"))));
        }
        for (name, kind) in shard.fields {
            let known = self.shape.fields.entry(name).or_insert(kind);
            *known = known.with(kind);
        }
        for (kind, names) in shard.kinds {
            self.shape.kinds.entry(kind).or_default().extend(names);
        }
    }
}

/// Makes the tables of all shards of some places known to an engine of a cluster; gives how many shards these are.
pub fn add(engine: &mut Engine, places: &[&str]) -> anyhow::Result<usize> {
    let mut merged = Merged { shape: Shape { written: true, ..Shape::default() }, ..Merged::default() };
    for place in places {
        merged.take(place)?;
    }
    let Merged { shards, urls, shape } = merged;
    for (table, urls) in urls {
        let columns = match columns::Table::named(&table) {
            Some(known) => sheet::schema(known.columns),
            None if table == RAW => Arc::new(Schema::new(shape.columns())),
            None => continue,
        };
        engine.add(&table, Table::Shared(Arc::new(Shared { urls, columns })));
    }
    shape.add_views(engine);
    Ok(shards.len())
}
