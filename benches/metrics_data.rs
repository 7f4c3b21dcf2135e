//! Writes a capture for `metrics-index`: one row a sample, sorted by series and time; the series as a dictionary of `name{labels}`, times as
//! DELTA_BINARY_PACKED, values as BYTE_STREAM_SPLIT.
//!
//! usage: metrics-data FILE [SERIES [SAMPLES-OF-EACH]]     (5000 and 20000 by default)

use std::sync::Arc;

use anyhow::Context;
use arrow::array::{DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int32Type, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().context("usage: metrics-data FILE [SERIES [SAMPLES-OF-EACH]]")?;
    let series: usize = arguments.next().map_or(Ok(5000), |n| n.parse())?;
    let each: usize = arguments.next().map_or(Ok(20_000), |n| n.parse())?;

    let names: Vec<String> = (0..series)
        .map(|i| {
            let (metric, worker, rank) = (i % 50, i / 50 / 8, i / 50 % 8);
            format!("sglang:metric_{metric:02}_total{{model_name=\"Qwen/Qwen3-32B\",tp_rank=\"{rank}\",worker=\"{worker}\"}}")
        })
        .collect();
    let names = Arc::new(StringArray::from(names));
    let schema = Arc::new(Schema::new(vec![
        Field::new("metric", DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)), false),
        Field::new("timestamp", DataType::Int64, false),
        Field::new("value", DataType::Float64, false),
    ]));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_column_dictionary_enabled("timestamp".into(), false)
        .set_column_encoding("timestamp".into(), Encoding::DELTA_BINARY_PACKED)
        .set_column_dictionary_enabled("value".into(), false)
        .set_column_encoding("value".into(), Encoding::BYTE_STREAM_SPLIT)
        .build();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(&path)?, schema.clone(), Some(properties))?;
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    // A scraper visits all series at once, every second and a few milliseconds.
    let times: Vec<i64> = (0..each).map(|i| 1_795_976_934_876 + i as i64 * 1000 + random.below(9) as i64).collect();
    let times = Int64Array::from(times);
    for i in 0..series {
        let mut value = 0.0;
        let values: Vec<f64> = (0..each)
            .map(|_| {
                value = match i % 5 {
                    0 => random.below(4_000_000) as f64 / 64.0,
                    // One restart in half a million samples.
                    _ if random.below(500_000) == 0 => 0.0,
                    1 => value + random.below(1000) as f64 / 1000.0,
                    _ => value + random.below(500) as f64,
                };
                value
            })
            .collect();
        let keys = Int32Array::from(vec![i32::try_from(i)?; each]);
        let metric = DictionaryArray::<Int32Type>::try_new(keys, names.clone())?;
        writer.write(&RecordBatch::try_new(
            schema.clone(),
            vec![Arc::new(metric), Arc::new(times.clone()), Arc::new(Float64Array::from(values))],
        )?)?;
    }
    writer.close()?;
    println!("{path}: {series} series of {each} samples, {} bytes", std::fs::metadata(&path)?.len());
    Ok(())
}
