//! Rows of a Parquet or Arrow file, batch by batch: no more than a batch and a page a column is in memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::guard::guarded;
use super::{Candidate, Head, ReadError, ipc, look};

/// About so many values are in a batch, over all its columns.
const VALUES: usize = 1 << 21;
/// Most rows of a batch: few enough that its columns are still near the processor when they become blocks.
const ROWS: usize = 1 << 13;

/// The batches of a file.
pub struct Batches {
    path: PathBuf,
    source: Source,
    /// Rows that were given out.
    pub rows: u64,
}

enum Source {
    Parquet {
        metadata: ArrowReaderMetadata,
        roots: Vec<usize>,
        group: usize,
        reader: Option<ParquetRecordBatchReader>,
        left: u64,
        size: usize,
    },
    Messages {
        reader: Box<ipc::Messages>,
        cut: Option<String>,
    },
    Ended,
}

/// A batch, or a part of the file that cannot be read: rows after it may still come.
pub enum Next {
    Rows(RecordBatch),
    /// Which rows are lost and why.
    Damage(String),
}

/// Opens a file for some of its columns, by place in its schema. Strings come as dictionaries where the file is Parquet.
pub fn open(path: &Path, roots: &[usize]) -> Result<Batches, ReadError> {
    let damaged = |why: String| ReadError::Damaged { path: path.display().to_string(), why };
    let source = match look(path, "").head {
        Head::Parquet(metadata) => parquet(path, metadata.schema(), roots).map_err(damaged)?,
        Head::Arrow(_) => {
            let (reader, cut) = ipc::open(path, Some(roots.to_vec())).map_err(damaged)?;
            Source::Messages { reader: Box::new(reader), cut }
        }
        Head::Other(why) | Head::Damaged(why) => return Err(damaged(why)),
        Head::Text(_) => return Err(damaged("a text, neither Parquet nor Arrow".into())),
    };
    Ok(Batches { path: path.to_path_buf(), source, rows: 0 })
}

fn parquet(path: &Path, schema: &SchemaRef, roots: &[usize]) -> Result<Source, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let asked: Vec<Arc<Field>> = schema.fields().iter().map(|f| Arc::new(dictionary(f))).collect();
    let asked = Arc::new(Schema::new_with_metadata(asked, schema.metadata().clone()));
    let metadata = guarded(|| {
        ArrowReaderMetadata::load(&file, ArrowReaderOptions::new().with_schema(asked))
            .or_else(|_| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()))
    })?;
    let size = batch_size(&metadata, roots);
    Ok(Source::Parquet { metadata, roots: roots.to_vec(), group: 0, reader: None, left: 0, size })
}

/// The same column with text as a dictionary, which decodes a run of equal texts without copying them.
fn dictionary(field: &Field) -> Field {
    match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            field.clone().with_data_type(DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)))
        }
        _ => field.clone(),
    }
}

/// Rows of a batch: few where a row holds a list of thousands.
fn batch_size(metadata: &ArrowReaderMetadata, roots: &[usize]) -> usize {
    let parquet = metadata.parquet_schema();
    let mut largest = 1;
    for group in metadata.metadata().row_groups() {
        let values: i64 = group
            .columns()
            .iter()
            .enumerate()
            .filter(|(leaf, _)| *leaf < parquet.num_columns() && roots.contains(&parquet.get_column_root_idx(*leaf)))
            .map(|(_, column)| column.num_values().max(0))
            .fold(0, i64::saturating_add);
        let rows = group.num_rows().max(1);
        largest = largest.max(usize::try_from(values / rows).unwrap_or(VALUES));
    }
    (VALUES / largest).clamp(1, ROWS)
}

impl Batches {
    /// What comes next; `None` at the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Next> {
        loop {
            match &mut self.source {
                Source::Ended => return None,
                Source::Parquet { metadata, roots, group, reader, left, size } => {
                    let Some(open) = reader else {
                        if *group >= metadata.metadata().num_row_groups() {
                            self.source = Source::Ended;
                            return None;
                        }
                        let number = *group;
                        *group += 1;
                        *left = u64::try_from(metadata.metadata().row_group(number).num_rows()).unwrap_or(0);
                        let made = File::open(&self.path).map_err(|e| e.to_string()).and_then(|file| {
                            guarded(|| {
                                let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
                                ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                                    .with_row_groups(vec![number])
                                    .with_projection(mask)
                                    .with_batch_size(*size)
                                    .build()
                            })
                        });
                        match made {
                            Ok(made) => *reader = Some(made),
                            Err(why) => return Some(Next::Damage(lost(number, *left, &why))),
                        }
                        continue;
                    };
                    // A group that gives fewer rows than it says is damage too.
                    match guarded(|| open.next().transpose()) {
                        Ok(Some(batch)) => {
                            self.rows += batch.num_rows() as u64;
                            *left = left.saturating_sub(batch.num_rows() as u64);
                            return Some(Next::Rows(batch));
                        }
                        Ok(None) => {
                            *reader = None;
                            if *left > 0 {
                                return Some(Next::Damage(lost(*group - 1, *left, "it ends early")));
                            }
                        }
                        Err(why) => {
                            *reader = None;
                            return Some(Next::Damage(lost(*group - 1, *left, &why)));
                        }
                    }
                }
                Source::Messages { reader, cut } => {
                    let why = match guarded(|| reader.next().transpose()) {
                        Ok(Some(batch)) => {
                            self.rows += batch.num_rows() as u64;
                            return Some(Next::Rows(batch));
                        }
                        Ok(None) => cut.take(),
                        Err(why) => Some(why),
                    };
                    self.source = Source::Ended;
                    return why.map(|why| Next::Damage(format!("rows after the first {} are lost: {why}", self.rows)));
                }
            }
        }
    }

    /// The first batch, for a look.
    pub fn first(candidate: &Candidate, roots: &[usize]) -> Option<RecordBatch> {
        let mut batches = open(&candidate.path, roots).ok()?;
        if let Source::Parquet { size, .. } = &mut batches.source {
            *size = (*size).min(LOOK);
        }
        loop {
            match batches.next()? {
                Next::Rows(batch) if batch.num_rows() > 0 => return Some(batch),
                _ => {}
            }
        }
    }
}

/// Rows that tell the roles of columns.
const LOOK: usize = 4096;

fn lost(group: usize, rows: u64, why: &str) -> String {
    format!("{rows} rows of row group {group} are lost: {why}")
}
