//! A run's tables written as shards.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use arrow::datatypes::{Field, Schema, SchemaRef};
use corr_sql::cluster::Folder;
use corr_sql::{Engine, Limits, Table};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use tempfile::TempDir;

use super::{FILE, FORM, Logs, Shard, WHOLE, captures};
use crate::run::source::Owner;
use crate::tables::columns;
use crate::tables::shard::question::WHOLE as RECORD;
use crate::tables::sql::functions;
use crate::tables::sql::losses::Losses;
use crate::tables::sql::records::Records;
use crate::tables::sql::shape::{CONSTANTS, RAW, Shape, WRITTEN, quoted};
use crate::tables::sql::{Asking, MADE, add_made, sheet};

/// Rows in a row group, and in a page: what a condition can leave out.
const GROUP: usize = 131_072;
const PAGE: usize = 8_192;

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    pub shards: BTreeSet<String>,
    pub records: u64,
    pub bytes: u64,
}

/// Writes the tables of a run to a folder, replacing what this run left there.
pub fn write(asking: &Arc<Asking>, place: &str, limits: Limits) -> anyhow::Result<Written> {
    let folder = Folder::create(place)?;
    let (opened, of_run) = asking.heard(|| asking.sources().map(|_| ()));
    opened.map_err(anyhow::Error::msg)?;
    let mut losses = Losses { run: of_run, ..Losses::default() };
    let run = name_of(&asking.runs);
    let temp = tempfile::tempdir().context("a place for files before they are sent")?;
    let mut writing = Writing { asking, folder, engine: Engine::local(limits)?, temp, run, written: Written::default() };
    let whole = format!("{}.{WHOLE}", writing.run);
    // What stands there is not whole from now on, until all is written.
    writing.remove(|dir| dir == whole)?;
    let (records, of_records) = asking.heard(|| writing.records());
    losses.cut = records?.cut().clone();
    losses.tables.insert(RAW.to_string(), of_records);
    add_made(&mut writing.engine, asking);
    let mut shard = Shard { schema: FORM.into(), ..Shard::default() };
    for (table, _) in MADE {
        let columns = sheet::schema(columns::of(table));
        let (stored, of_table) = asking.heard(|| writing.table(&whole, table, &format!("SELECT * FROM {table}"), Some(columns)));
        stored?;
        losses.tables.insert(table.to_string(), of_table);
        shard.tables.insert(table.to_string(), vec![file_of(table)]);
    }
    for table in [captures::CAPTURES, captures::BLOCKS] {
        let rows = captures::Writing { asking: asking.clone(), run: writing.run.clone(), table };
        writing.engine.add(table, Table::Rows(Arc::new(rows)));
        let (stored, of_table) = asking.heard(|| writing.table(&whole, table, &format!("SELECT * FROM {table}"), captures::schema(table)));
        stored?;
        losses.tables.insert(table.to_string(), of_table);
        shard.tables.insert(table.to_string(), vec![file_of(table)]);
    }
    writing.written.shards.insert(whole.clone());
    let (logs, of_logs) = asking.heard(|| Logs::of(asking));
    shard.logs = Some(logs?);
    losses.tables.entry(RAW.to_string()).or_default().add(of_logs);
    shard.folders = writing.written.shards.clone();
    shard.losses = losses;
    // Folders that this run does not have any more: what reads them would count them.
    let (mine, has) = (format!("{}.", writing.run), writing.written.shards.clone());
    writing.remove(|dir| dir.starts_with(&mine) && !has.contains(dir))?;
    writing.end(&whole, &shard)?;
    Ok(writing.written)
}

/// Shards in the making.
struct Writing<'a> {
    asking: &'a Arc<Asking>,
    folder: Folder,
    engine: Engine,
    temp: TempDir,
    /// What the names of its folders begin with.
    run: String,
    written: Written,
}

impl Writing<'_> {
    /// Writes the records, a folder a group.
    fn records(&mut self) -> anyhow::Result<Records> {
        let records = Records::open(self.asking, &self.engine).map_err(anyhow::Error::msg)?;
        records.add_to(&mut self.engine, self.asking);
        self.engine.add_function(functions::whole_of(self.asking.clone()));
        let shape = records.shape();
        let shard = Shard {
            schema: FORM.into(),
            tables: BTreeMap::from([(RAW.to_string(), vec![file_of("events")])]),
            fields: shape.fields.clone(),
            wide: records.wide().map_err(anyhow::Error::msg)?,
            kinds: shape.kinds.clone(),
            names: records.names().clone(),
            ..Shard::default()
        };
        for (group, keys) in self.groups()? {
            let name = format!("{}.{group}", self.run);
            self.written.records += self.table(&name, "events", &records_of(&shape, &keys), None)?;
            self.end(&name, &shard)?;
            self.written.shards.insert(name);
        }
        Ok(records)
    }

    /// Writes the answer to a question as a table of a shard; gives its rows.
    fn table(&mut self, shard: &str, table: &str, sql: &str, schema: Option<SchemaRef>) -> anyhow::Result<u64> {
        let path = self.temp.path().join("table.parquet");
        let (rows, bytes) = store(&self.engine, sql, schema, &path).map_err(|e| self.asking.explained(e))?;
        self.folder.upload(&format!("{shard}/{}", file_of(table)), &path)?;
        self.written.bytes += bytes;
        Ok(rows)
    }

    /// Says what is in a shard: from then on it is there.
    fn end(&self, name: &str, shard: &Shard) -> anyhow::Result<()> {
        Ok(self.folder.put(&format!("{name}/{FILE}"), serde_json::to_vec_pretty(shard)?)?)
    }

    /// Removes folders: first what says that they are there.
    fn remove(&self, which: impl Fn(&str) -> bool) -> anyhow::Result<()> {
        let files = self.folder.list()?;
        let of = |file: &&String| file.split_once('/').is_some_and(|(dir, _)| which(dir));
        let (first, rest): (Vec<&String>, Vec<&String>) = files.iter().filter(of).partition(|file| file.ends_with(&format!("/{FILE}")));
        first.into_iter().chain(rest).try_for_each(|file| Ok(self.folder.remove(file)?))
    }

    /// Sources by host, else by worker, else together.
    fn groups(&self) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
        let sources = self.asking.sources().map_err(anyhow::Error::msg)?;
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for source in &sources.sources {
            groups.entry(group(&source.owner)).or_default().push(source.key.clone());
        }
        Ok(groups)
    }
}

fn group(owner: &Owner) -> String {
    match (&owner.host, &owner.worker) {
        (Some(host), _) => safe_name(&format!("host-{host}")),
        (None, Some(worker)) => safe_name(&format!("worker-{worker}")),
        (None, None) => "other".into(),
    }
}

fn file_of(table: &str) -> String {
    format!("{table}.parquet")
}

/// The records of some sources, with what is not in the store's columns.
fn records_of(shape: &Shape, keys: &[String]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("'{}'", key.replace('\'', "''"))).collect();
    let columns: Vec<String> = shape.columns().iter().map(|c| quoted(c.name())).collect();
    let made: Vec<String> =
        [shape.text(), shape.ids(), &shape.map()].iter().zip(WRITTEN).map(|(from, name)| format!("{from} AS {name}")).collect();
    let (columns, constants, made) = (columns.join(", "), CONSTANTS.join(", "), made.join(", "));
    let whole = format!("{}(_source, _offset, _line, _order) AS {RECORD}", functions::WRITE);
    format!("SELECT {columns}, {constants}, {made}, {whole} FROM {RAW} WHERE _source IN ({})", keys.join(", "))
}

/// What the folders of a run are called: its last parts for who reads it, and a hash of machine and whole paths, for another run, or the part of the
/// run that another host has, can be called the same.
fn name_of(runs: &[String]) -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::env::var("HOSTNAME")).unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    hasher.update(machine.trim().as_bytes());
    let mut names = Vec::new();
    for run in runs {
        let path = Path::new(run);
        let whole = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf());
        hasher.update(b"\n").update(whole.as_os_str().as_encoded_bytes());
        names.push(whole.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned()));
    }
    format!("{}-{:.8}", safe_name(&names.join("+")), hasher.finalize().to_hex())
}

/// A name of letters, digits and `-_+`: the same in a folder, a URL and a key.
fn safe_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+') { c } else { '_' }).collect()
}

/// The answer to a question as a Parquet file; gives rows and bytes.
fn store(engine: &Engine, sql: &str, schema: Option<SchemaRef>, path: &Path) -> anyhow::Result<(u64, u64)> {
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
