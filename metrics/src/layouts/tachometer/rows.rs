//! From a file to record batches, one at a time: Parquet, and Arrow streams that may end in the middle.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::ipc::reader::{FileReader, StreamDecoder};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use crate::layouts::guard::guarded;

/// Rows of a batch.
const ROWS: usize = 16 * 1024;
/// Bytes that a stream is read by.
const CHUNK: usize = 1 << 20;

/// Gives the batches of a file to `take`, in the file's order.
///
/// # Errors
/// What ended the reading, in words: damage, or what `take` said. Batches before it were given.
pub fn batches(path: &Path, take: &mut dyn FnMut(&RecordBatch) -> Result<(), String>) -> Result<(), String> {
    let mut file = File::open(path).map_err(|e| e.to_string())?;
    let mut magic = [0; 6];
    let n = file.read(&mut magic).map_err(|e| e.to_string())?;
    file.rewind().map_err(|e| e.to_string())?;
    match magic.get(..n).unwrap_or(&[]) {
        head if head.starts_with(b"PAR1") => parquet(file, take),
        head if head.starts_with(b"ARROW1") => {
            let mut reader = guarded(|| FileReader::try_new(file, None))?;
            while let Some(batch) = guarded(|| reader.next().transpose())? {
                take(&batch)?;
            }
            Ok(())
        }
        [] => Err("empty file".into()),
        _ => stream(file, take),
    }
}

fn parquet(file: File, take: &mut dyn FnMut(&RecordBatch) -> Result<(), String>) -> Result<(), String> {
    let plain = guarded(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()))?;
    // The same few names stand in all rows: as dictionaries they are compared by number.
    let fields: Vec<Field> = plain.schema().fields().iter().map(|f| dictionary(f)).collect();
    let wanted = Arc::new(Schema::new(fields));
    let metadata = guarded(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new().with_schema(wanted))).unwrap_or(plain);
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    let unused = ["metric_name_clean", "histogram_bucket_lower"];
    let roots = builder.schema().fields().iter().enumerate().filter(|(_, f)| !unused.contains(&f.name().as_str())).map(|(i, _)| i);
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    let mut reader = guarded(|| builder.with_projection(mask).with_batch_size(ROWS).build())?;
    while let Some(batch) = guarded(|| reader.next().transpose())? {
        take(&batch)?;
    }
    Ok(())
}

fn dictionary(field: &Field) -> Field {
    match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            field.clone().with_data_type(DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)))
        }
        _ => field.clone(),
    }
}

/// A stream is fed piece by piece: a length in it that lies asks for no memory.
fn stream(mut file: File, take: &mut dyn FnMut(&RecordBatch) -> Result<(), String>) -> Result<(), String> {
    let mut decoder = StreamDecoder::new();
    loop {
        let mut chunk = Vec::new();
        let limit = u64::try_from(CHUNK).unwrap_or(u64::MAX);
        (&mut file).take(limit).read_to_end(&mut chunk).map_err(|e| e.to_string())?;
        if chunk.is_empty() {
            // The scraper writes the end of the stream; without it the last batch may be missing.
            return decoder.finish().map_err(|e| e.to_string());
        }
        let mut buffer = Buffer::from_vec(chunk);
        while !buffer.is_empty() {
            if let Some(batch) = guarded(|| decoder.decode(&mut buffer))? {
                take(&batch)?;
            }
        }
    }
}
