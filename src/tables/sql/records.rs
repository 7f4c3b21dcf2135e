//! Records as tables: the columns of the store's segments, and of what is not indexed columns that are made for one question.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringViewBuilder};
use arrow::datatypes::{DataType, Float64Type, Int64Type, Schema, UInt64Type};
use corr_metrics::guard::guard;
use corr_parsers::event::Event;
use corr_parsers::ids;
use corr_parsers::record::Record;
use corr_sql::{Engine, FileOf, Files, Function, Table};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use rayon::prelude::*;
use tempfile::TempDir;

use super::Asking;
use super::losses::Cut;
use super::shape::{CONSTANTS, RAW, Shape};
use super::sheet::{Maps, map_type};
use crate::query::sources::Asked;
use crate::render::shown::visible_text;
use crate::run::events::{self, Facts, Start};
use crate::store::columns::{EXACT, Type, column_name};
use crate::store::open::COLUMNS;
use crate::store::segment::{self, SegmentMeta};
use crate::store::update::cut;

/// What is known of a field over all segments.
#[derive(Debug)]
struct Known {
    kind: Type,
    /// Files with the field as whole numbers.
    whole: Vec<PathBuf>,
}

/// The records of a run, as files.
#[derive(Debug)]
pub struct Records {
    files: Vec<FileOf>,
    /// Fields by name.
    fields: BTreeMap<String, Known>,
    /// The fields of each kind.
    kinds: BTreeMap<String, BTreeSet<String>>,
    /// Values that the columns do not hold.
    cut: Cut,
    /// What conditions of a query are made of.
    #[cfg(feature = "cluster")]
    names: crate::tables::shard::narrow::Names,
    /// What is not indexed, made for this question; removed behind it.
    _made: TempDir,
}

/// A file and what is in it.
struct Part {
    file: FileOf,
    meta: SegmentMeta,
}

impl Records {
    /// The files of a run's records. Ctrl-C, which the engine hears, ends it between two parts.
    pub fn open(asking: &Asking, engine: &Engine) -> Result<Records, String> {
        let sources = asking.sources()?;
        let made = TempDir::with_prefix("corr-sql-").map_err(|e| format!("no place for columns of what is not indexed: {e}"))?;
        let read = |(number, source): (usize, &Asked)| of_source(asking, engine, source, &made.path().join(number.to_string()));
        let parts: Vec<Vec<Part>> = sources.sources.par_iter().enumerate().map(read).collect::<Result<_, _>>()?;
        let mut records = Records {
            files: Vec::new(),
            fields: BTreeMap::new(),
            kinds: BTreeMap::new(),
            cut: Cut::default(),
            #[cfg(feature = "cluster")]
            names: Default::default(),
            _made: made,
        };
        parts.into_iter().flatten().for_each(|part| records.take(part));
        records.settle()?;
        Ok(records)
    }

    fn take(&mut self, part: Part) {
        for (name, info) in &part.meta.columns {
            let known = self.fields.entry(name.clone()).or_insert_with(|| Known { kind: info.kind, whole: Vec::new() });
            self.cut.count(name, info.lost);
            #[cfg(feature = "cluster")]
            self.names.field(name, info);
            if info.kind == Type::Int {
                known.whole.push(part.file.path.clone());
            }
            known.kind = known.kind.with(info.kind);
        }
        for (kind, names) in part.meta.kinds.iter().zip(&part.meta.kind_fields) {
            self.kinds.entry(kind.clone()).or_default().extend(names.iter().cloned());
        }
        self.cut.overflow |= part.meta.overflow;
        #[cfg(feature = "cluster")]
        self.names.part(&part.file.constants, part.meta.overflow);
        self.files.push(part.file);
    }

    /// Whole numbers that a double cannot tell apart stay text where another file has the field as doubles.
    fn settle(&mut self) -> Result<(), String> {
        for (name, known) in &mut self.fields {
            if known.kind != Type::Float {
                continue;
            }
            for path in &known.whole {
                if !small(path, &column_name(name))? {
                    known.kind = Type::Text;
                }
            }
        }
        Ok(())
    }

    /// Makes the records and their views known to an engine.
    pub fn add_to(&self, engine: &mut Engine, asking: &Arc<Asking>) {
        let shape = self.shape();
        let files = Files {
            columns: Arc::new(Schema::new(shape.columns())),
            constants: CONSTANTS.iter().map(|name| name.to_string()).collect(),
            files: self.files.clone(),
        };
        engine.add(RAW, Table::Files(Arc::new(files)));
        engine.add_function(text_of(asking.clone()));
        engine.add_function(ids_of(asking.clone()));
        engine.add_function(fields_of(shape.fields.keys().cloned().collect()));
        shape.add_views(engine);
    }

    /// What the records are like.
    pub fn shape(&self) -> Shape {
        let fields = self.fields.iter().map(|(name, known)| (name.clone(), known.kind)).collect();
        Shape { fields, kinds: self.kinds.clone(), written: false }
    }

    /// Values that the columns do not hold.
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// What conditions of a query are made of.
    #[cfg(feature = "cluster")]
    pub fn names(&self) -> &crate::tables::shard::narrow::Names {
        &self.names
    }

    /// Fields of whole numbers of which a double cannot tell some apart.
    #[cfg(feature = "cluster")]
    pub fn wide(&self) -> Result<BTreeSet<String>, String> {
        let mut wide = BTreeSet::new();
        for (name, known) in self.fields.iter().filter(|(_, known)| known.kind == Type::Int) {
            for path in &known.whole {
                if !small(path, &column_name(name))? {
                    wide.insert(name.clone());
                    break;
                }
            }
        }
        Ok(wide)
    }
}

/// The columns of a source: of its segments, and of what stands behind them, made in a directory of its own.
fn of_source(asking: &Asking, engine: &Engine, source: &Asked, made: &Path) -> Result<Vec<Part>, String> {
    let owner = &source.owner;
    let constants = vec![
        Some(source.key.clone()),
        Some(source.name.clone()),
        Some(source.format.to_string()),
        owner.worker.clone(),
        owner.role.clone(),
        owner.host.clone(),
        owner.unit.clone(),
    ];
    let mut parts = Vec::new();
    for segment in &source.segments {
        let meta = segment.meta().map_err(|e| e.to_string())?;
        let rows = (segment.len() < meta.rows as usize).then_some(segment.len());
        let file = FileOf { path: absolute(&segment.dir().join(COLUMNS))?, rows, constants: constants.clone() };
        parts.push(Part { file, meta: meta.clone() });
    }
    if !source.segments.is_empty() && !source.needs_tail() {
        return Ok(parts);
    }
    let Some(bytes) = asking.bytes(source) else { return Ok(parts) };
    let offset = source.indexed_to.min(bytes.len());
    let offset = if source.segments.is_empty() { 0 } else { offset };
    let line = 1 + events::count_lines(bytes.get(..offset).unwrap_or_default());
    let start = Start { offset, line, order: events::order_before(bytes, &source.layout, source.timing(), offset) };
    let built: Vec<Part> = cut(bytes, &source.layout, source.timing(), start)
        .into_par_iter()
        .enumerate()
        .map(|(number, part)| {
            if engine.interrupted() {
                return Err("interrupted".into());
            }
            let dir = made.join(number.to_string());
            let meta = segment::build_columns(&dir, &part).map_err(|e| e.to_string())?;
            let file = FileOf { path: absolute(&dir.join(COLUMNS))?, rows: None, constants: constants.clone() };
            Ok(Part { file, meta })
        })
        .collect::<Result<_, String>>()?;
    parts.extend(built);
    Ok(parts)
}

/// The path as the engine takes it: without `..`, which a run's own path may have.
fn absolute(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|e| format!("{}: {e}; `corr index --rebuild` makes the index anew", path.display()))
}

/// Are all whole numbers of a column doubles without loss, by its statistics?
fn small(path: &Path, column: &str) -> Result<bool, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}; `corr index --rebuild` makes the index anew", path.display());
    let file = std::fs::File::open(path).map_err(|e| failed(&e))?;
    let reader = guard(|| SerializedFileReader::new(file)).map_err(|e| failed(&e))?.map_err(|e| failed(&e))?;
    let metadata = reader.metadata();
    let columns = metadata.file_metadata().schema_descr().columns().to_vec();
    let Some(at) = columns.iter().position(|c| c.name() == column) else { return Ok(true) };
    let exact = |n: Option<&i64>| n.is_none_or(|n| n.unsigned_abs() < EXACT);
    Ok(metadata.row_groups().iter().all(|group| match group.columns().get(at).and_then(|c| c.statistics()) {
        Some(Statistics::Int64(of)) => exact(of.min_opt()) && exact(of.max_opt()),
        _ => false,
    }))
}

/// The message of a record, read from its source; what is withheld stays withheld.
fn text_of(asking: Arc<Asking>) -> Function {
    let call = move |columns: &[ArrayRef], rows: usize| -> Result<ArrayRef, String> {
        // Views have no end at 31 bits: messages can be long.
        let mut texts = StringViewBuilder::new();
        each_record(&asking, columns, rows, |read| {
            texts.append_option(read.map(|Again { record, event, .. }| {
                let range = if event.message.is_empty() { 0..record.payload.len() } else { event.message.clone() };
                visible_text(record.payload, range, &event.withheld)
            }));
            Ok(())
        })?;
        Ok(Arc::new(texts.finish()))
    };
    Function { name: "record_text", returns: DataType::Utf8View, call: Arc::new(call) }
}

/// The ids of a record, read from its source: by what they name, each in the spelling in which all are compared.
fn ids_of(asking: Arc<Asking>) -> Function {
    let call = move |columns: &[ArrayRef], rows: usize| -> Result<ArrayRef, String> {
        let mut maps = Maps::new();
        let mut spelled = String::new();
        each_record(&asking, columns, rows, |read| {
            let mut by_kind: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
            for id in read.iter().flat_map(|read| &read.event.ids) {
                ids::canonical(Some(id.kind), &id.text, &mut spelled);
                let of_kind = by_kind.entry(id.kind.field()).or_default();
                if !of_kind.contains(&spelled) {
                    of_kind.push(spelled.clone());
                }
            }
            for (kind, spelled) in &by_kind {
                maps.entry(kind, Some(&spelled.join(" ")))?;
            }
            maps.end(read.is_some())
        })?;
        Ok(maps.finish())
    };
    Function { name: "record_ids", returns: map_type(), call: Arc::new(call) }
}

/// A record that was read again.
pub(super) struct Again<'r> {
    pub source: &'r Asked,
    pub record: &'r Record<'r>,
    pub event: &'r Event<'r>,
    /// Its line and the sort key of what has no stamp are not known here.
    pub facts: &'r Facts,
}

/// Calls `f` with the record of each row, by its source and its offset; `None` where it cannot be read.
pub(super) fn each_record(
    asking: &Asking,
    columns: &[ArrayRef],
    rows: usize,
    mut f: impl FnMut(Option<Again<'_>>) -> Result<(), String>,
) -> Result<(), String> {
    let [keys, offsets] = columns else { return Err("a record is found by a source and an offset".into()) };
    let (keys, offsets) = (keys.as_string_opt::<i32>(), offsets.as_primitive_opt::<UInt64Type>());
    let (Some(keys), Some(offsets)) = (keys, offsets) else { return Err("a record is found by a source and an offset".into()) };
    let sources = asking.sources()?;
    let by_key: HashMap<&str, &Asked> = sources.sources.iter().map(|s| (s.key.as_str(), s)).collect();
    for row in 0..rows {
        let known = keys.is_valid(row) && offsets.is_valid(row);
        let found = known.then(|| by_key.get(keys.value(row))).flatten().and_then(|source| bytes_of(asking, source));
        let offset = usize::try_from(offsets.value(row)).ok();
        let read = found.zip(offset).filter(|((bytes, _), offset)| *offset < bytes.len()).and_then(|((bytes, source), offset)| {
            let start = Start { offset, line: 0, order: None };
            events::one(bytes, &source.layout, source.timing(), start, |record, event, facts| {
                f(Some(Again { source, record, event, facts }))
            })
        });
        match read {
            Some(done) => done?,
            None => f(None)?,
        }
    }
    Ok(())
}

fn bytes_of<'s>(asking: &Asking, source: &'s Asked) -> Option<(&'s [u8], &'s Asked)> {
    match source.bytes() {
        Ok(bytes) => Some((bytes, source)),
        Err(why) => {
            asking.lost(format!("{}: its text cannot be read: {why}", source.name));
            None
        }
    }
}

/// The columns of all fields into one map a record.
fn fields_of(names: Vec<String>) -> Function {
    let call = move |columns: &[ArrayRef], rows: usize| -> Result<ArrayRef, String> {
        let mut maps = Maps::new();
        for row in 0..rows {
            for (name, column) in names.iter().zip(columns.iter().skip(1)) {
                if column.is_null(row) {
                    continue;
                }
                maps.entry(name, value(column, row).as_deref())?;
            }
            maps.end(true)?;
        }
        Ok(maps.finish())
    };
    Function { name: "record_fields", returns: map_type(), call: Arc::new(call) }
}

/// A value as `corr query` writes it.
fn value(column: &ArrayRef, row: usize) -> Option<String> {
    Some(match column.data_type() {
        DataType::Int64 => column.as_primitive_opt::<Int64Type>()?.value(row).to_string(),
        DataType::Float64 => column.as_primitive_opt::<Float64Type>()?.value(row).to_string(),
        DataType::Boolean => column.as_boolean_opt()?.value(row).to_string(),
        DataType::Utf8View => column.as_string_view_opt()?.value(row).to_string(),
        _ => column.as_string_opt::<i32>()?.value(row).to_string(),
    })
}
