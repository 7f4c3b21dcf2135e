//! A store, open for reading. Nothing is read before it is asked for: a question about an id touches two files of a segment.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type, UInt32Type, UInt64Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector};
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;

use super::ids::Ids;
use super::manifest::SegmentRef;
use super::pages;
use super::rows::Rows;
use super::rowset::RowSet;
use super::segment::SegmentMeta;
use super::word_index::WordIndex;
use crate::run::bytes::{self, Bytes};
use corr_metrics::guard::guard;

const WORDS: &str = "words";
/// The file of a segment's columns.
pub const COLUMNS: &str = "columns.parquet";

/// What of a store cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}; `corr index --rebuild` makes the index anew")]
pub struct StoreError {
    pub path: String,
    pub error: String,
}

/// One segment.
pub struct Segment {
    dir: PathBuf,
    pub reference: SegmentRef,
    rows: OnceLock<Bytes>,
    ids: OnceLock<Bytes>,
    meta: OnceLock<SegmentMeta>,
    words: OnceLock<WordIndex>,
    columns: OnceLock<(File, ArrowReaderMetadata)>,
}

/// The values of a column for some rows.
#[derive(Debug)]
pub enum Cell<'a> {
    Int(i64),
    UInt(u64),
    Float(f64),
    Bool(bool),
    Text(&'a str),
}

impl Segment {
    /// A segment of the store in `store`.
    pub fn new(store: &Path, reference: &SegmentRef) -> Segment {
        Segment {
            dir: store.join(&reference.dir),
            reference: reference.clone(),
            rows: OnceLock::new(),
            ids: OnceLock::new(),
            meta: OnceLock::new(),
            words: OnceLock::new(),
            columns: OnceLock::new(),
        }
    }

    /// Rows that it answers for.
    pub fn len(&self) -> usize {
        self.reference.rows as usize
    }

    /// It answers for nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn damaged(&self, file: &str, error: impl std::fmt::Display) -> StoreError {
        StoreError { path: self.dir.join(file).display().to_string(), error: error.to_string() }
    }

    /// What a library reads of one of the segment's files.
    fn guarded<T, E: std::fmt::Display>(&self, file: &str, read: impl FnOnce() -> Result<T, E>) -> Result<T, StoreError> {
        guard(read).map_err(|e| self.damaged(file, e))?.map_err(|e| self.damaged(file, e))
    }

    fn load<'a>(&self, cell: &'a OnceLock<Bytes>, file: &str) -> Result<&'a Bytes, StoreError> {
        if let Some(bytes) = cell.get() {
            return Ok(bytes);
        }
        let bytes = bytes::open_store_file(&self.dir.join(file)).map_err(|e| self.damaged(file, e))?;
        Ok(cell.get_or_init(|| bytes))
    }

    /// Where each row's record stands.
    pub fn rows(&self) -> Result<Rows<'_>, StoreError> {
        let rows = Rows::open(self.load(&self.rows, "rows.bin")?).ok_or_else(|| self.damaged("rows.bin", "damaged"))?;
        if rows.len() < self.len() {
            return Err(self.damaged("rows.bin", "cut short"));
        }
        Ok(rows)
    }

    /// Rows by id.
    pub fn ids(&self) -> Result<Ids<'_>, StoreError> {
        Ids::open(self.load(&self.ids, "ids.bin")?).ok_or_else(|| self.damaged("ids.bin", "damaged"))
    }

    /// What is in it.
    pub fn meta(&self) -> Result<&SegmentMeta, StoreError> {
        if let Some(meta) = self.meta.get() {
            return Ok(meta);
        }
        let bytes = std::fs::read(self.dir.join("segment.json")).map_err(|e| self.damaged("segment.json", e))?;
        let meta: SegmentMeta = serde_json::from_slice(&bytes).map_err(|e| self.damaged("segment.json", e))?;
        if meta.from != self.reference.from || meta.hash != self.reference.hash {
            return Err(self.damaged("segment.json", "not the segment that the manifest names"));
        }
        Ok(self.meta.get_or_init(|| meta))
    }

    /// Calls `hit` for every row, in no order, that the word index has for a term.
    pub fn rows_of_word(&self, term: &str, prefix: bool, mut hit: impl FnMut(u32)) -> Result<(), StoreError> {
        let words = self.words()?;
        self.guarded(WORDS, || words.rows(term, prefix, &mut hit))
    }

    /// Rows by word.
    fn words(&self) -> Result<&WordIndex, StoreError> {
        if let Some(words) = self.words.get() {
            return Ok(words);
        }
        let words = self.guarded(WORDS, || WordIndex::open(&self.dir.join(WORDS)))?;
        Ok(self.words.get_or_init(|| words))
    }

    /// The masked text of the segment's bytes, if it was kept.
    pub fn text(&self) -> Result<Vec<u8>, StoreError> {
        super::text::read(&self.dir.join(super::text::FILE)).map_err(|e| self.damaged(super::text::FILE, e))
    }

    fn parquet(&self) -> Result<&(File, ArrowReaderMetadata), StoreError> {
        if let Some(open) = self.columns.get() {
            return Ok(open);
        }
        let file = File::open(self.dir.join(COLUMNS)).map_err(|e| self.damaged(COLUMNS, e))?;
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = self.guarded(COLUMNS, || ArrowReaderMetadata::load(&file, options))?;
        Ok(self.columns.get_or_init(|| (file, metadata)))
    }

    /// Calls `each` with the row and the value of one column, rows rising, values that are missing left out.
    /// `only` reads no other rows than those.
    pub fn column(&self, name: &str, only: Option<&RowSet>, each: impl FnMut(usize, Cell<'_>)) -> Result<(), StoreError> {
        let (file, metadata) = self.parquet()?;
        let file = file.try_clone().map_err(|e| self.damaged(COLUMNS, e))?;
        self.guarded(COLUMNS, || self.cells(name, only, file, metadata, each))
    }

    /// Reads every column to its end: an error that names the file if it is damaged.
    pub fn check_columns(&self) -> Result<(), StoreError> {
        let (file, metadata) = self.parquet()?;
        let file = file.try_clone().map_err(|e| self.damaged(COLUMNS, e))?;
        self.guarded(COLUMNS, || {
            for batch in ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone()).build()? {
                batch?;
            }
            Ok::<_, ParquetError>(())
        })
    }

    /// Rows that can lie in a window, UTC ns, half open: those of the pages in which a stamp can overlap it, or a sort key of a record without one.
    pub fn rows_in(&self, since: Option<i64>, until: Option<i64>) -> Result<RowSet, StoreError> {
        let (_, metadata) = self.parquet()?;
        let pages = |name: &str, may_hold: &dyn Fn(i64, i64) -> bool| {
            let column = metadata.schema().index_of(name).map_err(|e| self.damaged(COLUMNS, e))?;
            self.guarded(COLUMNS, || Ok::<_, ParquetError>(pages::rows(metadata.metadata(), column, self.len(), may_hold)))
        };
        let begun = |least: i64| until.is_none_or(|until| least < until);
        let mut rows = pages("_start", &|least, _| begun(least))?;
        rows.intersect(&pages("_end", &|_, most| since.is_none_or(|since| most > since))?);
        rows.unite(&pages("_order", &|least, most| begun(least) && since.is_none_or(|since| most >= since))?);
        Ok(rows)
    }

    fn cells(
        &self,
        name: &str,
        only: Option<&RowSet>,
        file: File,
        metadata: &ArrowReaderMetadata,
        mut each: impl FnMut(usize, Cell<'_>),
    ) -> Result<(), ParquetError> {
        // By position: a name with a dot would be taken for a path.
        let at = metadata.schema().index_of(name)?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), [at]);
        let mut builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone()).with_projection(mask).with_batch_size(65_536);
        // Many rows are read faster by reading all.
        let chosen: Option<Vec<usize>> = only.filter(|set| set.count() < self.len() / 4).map(|set| set.iter().collect());
        if let Some(rows) = &chosen {
            builder = builder.with_row_selection(selection(rows));
        }
        let reader = builder.build()?;
        let mut read = 0usize;
        for batch in reader {
            let batch = batch?;
            let array = batch.column(0);
            for i in 0..array.len() {
                let row = match &chosen {
                    Some(rows) => rows.get(read + i).copied().unwrap_or(usize::MAX),
                    None => read + i,
                };
                if row >= self.len() || array.is_null(i) || only.is_some_and(|set| !set.contains(row)) {
                    continue;
                }
                let cell = match array.data_type() {
                    DataType::Int64 => Cell::Int(array.as_primitive::<Int64Type>().value(i)),
                    DataType::UInt64 => Cell::UInt(array.as_primitive::<UInt64Type>().value(i)),
                    DataType::UInt32 => Cell::UInt(u64::from(array.as_primitive::<UInt32Type>().value(i))),
                    DataType::Float64 => Cell::Float(array.as_primitive::<Float64Type>().value(i)),
                    DataType::Boolean => Cell::Bool(array.as_boolean().value(i)),
                    DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(i)),
                    other => return Err(ParquetError::General(format!("column {name} has the type {other}"))),
                };
                each(row, cell);
            }
            read += array.len();
        }
        Ok(())
    }
}

fn selection(rows: &[usize]) -> RowSelection {
    let mut selectors: Vec<RowSelector> = Vec::new();
    let mut at = 0;
    let mut i = 0;
    while i < rows.len() {
        let from = rows[i];
        let mut to = from + 1;
        i += 1;
        while i < rows.len() && rows[i] == to {
            to += 1;
            i += 1;
        }
        if from > at {
            selectors.push(RowSelector::skip(from - at));
        }
        selectors.push(RowSelector::select(to - from));
        at = to;
    }
    RowSelection::from(selectors)
}
