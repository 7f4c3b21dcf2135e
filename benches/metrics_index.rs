//! What an index of metrics costs beside decoding its columns: CPU seconds and peak memory of the parquet crate alone, of corr's reader with its
//! store and one delta a series, and of a million windows on the store.
//!
//! usage: metrics-index FILE      (of metrics-data)

use std::collections::HashSet;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use arrow::array::AsArray;
use arrow::datatypes::{Float64Type, Int32Type, Int64Type};
use corr_metrics::blocks::{Area, Cursor, Spill, Spilling, Store, spill_by_default};
use corr_metrics::layouts::{by_name, claim, look};
use corr_metrics::model::Capture;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// So many windows are asked for.
const WINDOWS: u64 = 1_000_000;

/// CPU seconds of this process, from `/proc/self/stat`: its ticks are hundredths on every Linux that runs this.
fn cpu() -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after = stat.rsplit_once(')').context("no ) in /proc/self/stat")?.1;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).context("too few fields in /proc/self/stat").and_then(|f| Ok(f.parse::<f64>()?));
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}

/// Most memory that was resident since [`forget_peak`], in MiB.
fn peak() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).context("no VmHWM in /proc/self/status")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<f64>()? / 1024.0)
}

fn forget_peak() {
    // Where it is not allowed, the peak is that of all stages before too.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Rows of a batch in which the file is decoded alone; the faster is what the reader is compared with.
const BATCHES: [usize; 2] = [1 << 13, 1 << 15];

/// Decodes the file as the crate does best: dictionaries stay dictionaries. How many rows.
fn decode(path: &str, batch: usize) -> anyhow::Result<u64> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.with_batch_size(batch).build()?;
    let mut rows = 0;
    for batch in reader {
        let batch = batch?;
        let names = batch.column(0).as_dictionary::<Int32Type>();
        let (times, values) = (batch.column(1).as_primitive::<Int64Type>(), batch.column(2).as_primitive::<Float64Type>());
        black_box((names.keys().values().last(), times.values().last(), values.values().last()));
        rows += batch.num_rows() as u64;
    }
    Ok(rows)
}

/// Increases within windows of series: last less first, and what each fall in between hides. `ENDS` is twice as many as the windows.
fn deltas<const N: usize, const ENDS: usize>(store: &Store, cursor: &mut Cursor<'_>, windows: [(u32, i64, i64); N]) -> [Option<f64>; N] {
    let mut ends = [(0, 0); ENDS];
    for (pair, (series, from, to)) in ends.as_chunks_mut().0.iter_mut().zip(windows) {
        let first = cursor.lower(series, from);
        *pair = [(series, first), (series, cursor.upper(series, to).saturating_sub(1).max(first))];
    }
    let samples = cursor.many(ends);
    let mut deltas = [None; N];
    for ((delta, pair), (series, ..)) in deltas.iter_mut().zip(samples.as_chunks().0).zip(windows) {
        let [Some(start), Some(last)] = pair else { continue };
        let falls = store.falls(series).unwrap_or(&[]);
        let after = falls.partition_point(|f| f.before.at < start.at);
        let hidden: f64 = falls[after..].iter().take_while(|f| f.after.at <= last.at).map(|f| f.before.value - f.after.value).sum();
        *delta = Some(last.value - start.value + hidden);
    }
    deltas
}

/// A million windows, so many at a time, as one asks of the series of a family.
fn windows<const N: usize, const ENDS: usize>(store: &Store, (first, last): (i64, i64)) -> anyhow::Result<()> {
    let series = store.series() as u64;
    let mut cursor = store.cursor();
    let mut seen = HashSet::new();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below.max(1)
    };
    let began = cpu()?;
    let mut sum = 0.0;
    for _ in 0..WINDOWS / N as u64 {
        let mut asked = [(0, 0, 0); N];
        for window in &mut asked {
            let of = random(series) as u32;
            let from = first + random((last - first) as u64) as i64;
            *window = (of, from, from + random((last - from) as u64) as i64);
            seen.insert(of);
        }
        sum += deltas::<N, ENDS>(store, &mut cursor, asked).into_iter().flatten().sum::<f64>();
    }
    let took = cpu()? - began;
    println!("{WINDOWS} windows    {took:8.2} CPU s  {N} at a time, of {} series  sum {sum}", seen.len());
    Ok(())
}

/// Bytes of a capture's samples that are held when the others go to a file.
const HELD: usize = 4 << 20;

/// A file without a name.
#[derive(Debug)]
struct TemporaryFile(File);

impl Spill for TemporaryFile {
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all(bytes)
    }

    fn view(&self) -> std::io::Result<Area> {
        // SAFETY: nobody else knows the file.
        Ok(Arc::new(unsafe { memmap2::Mmap::map(&self.0)? }))
    }
}

/// The capture, and what it and a delta of each of its series cost.
fn indexed(path: &str, place: &str, rows: u64, alone: f64) -> anyhow::Result<Capture> {
    forget_peak();
    let began = cpu()?;
    let claims = claim(&[look(Path::new(path), path)]);
    let [(layout, set)] = claims.sets.as_slice() else { bail!("{} sets of {path}", claims.sets.len()) };
    let mut captures = (by_name(layout).context("no such layout")?.read)(set)?;
    let (Some(capture), 0) = (captures.pop(), captures.len()) else { bail!("not one capture in {path}") };
    let built = cpu()? - began;
    let store = &capture.samples;
    let series = store.series() as u32;
    let mut cursor = store.cursor();
    let sum: f64 = (0..series).filter_map(|s| deltas::<1, 2>(store, &mut cursor, [(s, i64::MIN, i64::MAX)])[0]).sum();
    let whole = cpu()? - began;
    println!(
        "decode, build      {built:8.2} CPU s  peak {:7.0} MiB  {series} series, store {:.2} bytes a sample, {place}",
        peak()?,
        store.bytes() as f64 / rows as f64
    );
    println!("  and a delta each {whole:8.2} CPU s  {:.2} times decoding alone  sum of deltas {sum}", whole / alone);
    drop(cursor);
    Ok(capture)
}

fn main() -> anyhow::Result<()> {
    let path = std::env::args().nth(1).context("usage: metrics-index FILE")?;
    // Once without counting, so that all read from the page cache.
    decode(&path, BATCHES[0])?;

    let (mut alone, mut rows) = (f64::INFINITY, 0);
    for batch in BATCHES {
        forget_peak();
        let began = cpu()?;
        rows = decode(&path, batch)?;
        let took = cpu()? - began;
        println!("decode alone       {took:8.2} CPU s  peak {:7.0} MiB  {rows} rows in batches of {batch}", peak()?);
        alone = alone.min(took);
    }

    // Held first, then as `corr` does of a large capture: more than a little is in a temporary file.
    indexed(&path, "held", rows, alone)?;
    spill_by_default(Spilling { above: HELD, open: || Ok(Box::new(TemporaryFile(tempfile::tempfile()?))) });
    let capture = indexed(&path, "in a file", rows, alone)?;
    let store = &capture.samples;

    let times = store.times(std::iter::once(0));
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { bail!("no samples") };
    windows::<1, 2>(store, (first, last))?;
    windows::<4, 8>(store, (first, last))?;
    Ok(())
}
