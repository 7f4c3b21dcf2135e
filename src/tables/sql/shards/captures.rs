//! Metric captures in shards: what each says beside its samples in one table, the blocks of its samples in another. What a question reads of them is
//! brought, and no more.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use arrow::array::{ArrayRef, BinaryBuilder, Int64Builder, RecordBatch, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use corr_metrics::kept::apart;
use corr_sql::{Engine, Give, Rows, Wanted};

use crate::evidence;
use crate::metrics::apart::{About, Brought, asked};
use crate::metrics::asked::Asked;
use crate::run::source::NotRead;
use crate::tables::shard::narrow::text;
use crate::tables::sql::Asking;
use crate::tables::sql::functions::bytes_at;
use crate::tables::sql::hits::{column, int_at, text_at};

/// A row a piece of what a capture says.
pub const CAPTURES: &str = "_captures";
/// A row a block of samples, or of their times.
pub const BLOCKS: &str = "_blocks";

/// What a capture says beside its samples is cut in pieces of so many bytes.
const PIECE: usize = 1 << 20;
/// Rows, and bytes, of a batch.
const BATCH: usize = 4_096;
const BYTES: usize = 8 << 20;
/// Blocks that one question names.
const NAMED: usize = 4_096;
/// A question is asked again so often; each time it reads on by what the last one brought.
const ROUNDS: usize = 64;

/// The columns of both tables. `_capture` is the capture's number in its run, for blocks [`apart::key`]: those of another writing are not taken for its own.
/// `_at` is the number of the piece, or the offset of the block.
pub fn schema(table: &str) -> Option<SchemaRef> {
    let mut fields = vec![
        Field::new("_run", DataType::Utf8, true),
        Field::new("_capture", DataType::Int64, true),
        Field::new("_at", DataType::Int64, true),
        Field::new("_bytes", DataType::Binary, true),
    ];
    match table {
        CAPTURES => fields.push(Field::new("_about", DataType::Utf8, true)),
        BLOCKS => {}
        _ => return None,
    }
    Some(Arc::new(Schema::new(fields)))
}

/// One of the tables of a run, in the making.
pub struct Writing {
    pub asking: Arc<Asking>,
    /// What its folders are called.
    pub run: String,
    pub table: &'static str,
}

impl Debug for Writing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.table)
    }
}

impl Rows for Writing {
    fn schema(&self) -> SchemaRef {
        schema(self.table).unwrap_or_else(|| Arc::new(Schema::empty()))
    }

    fn make(&self, _: &Wanted, give: &mut Give<'_>) -> Result<(), String> {
        let (asking, run) = (&self.asking, self.asking.run()?);
        let asked = evidence::captures(run, &asking.options, asking.store.as_deref()).map_err(|e| format!("{e:#}"))?;
        asked.notes.iter().for_each(|note| asking.note(note.clone()));
        for NotRead { name, why, next, .. } in &asked.not_read {
            asking.lost(if next.is_empty() { format!("{name}: {why}") } else { format!("{name}: {why}; {next}") });
        }
        asked.copies(run).into_iter().for_each(|(name, of)| asking.note(format!("{name}: the same bytes as {of}, read once")));
        let mut pages = Pages::new(self, give);
        for (captured, number) in asked.captures.iter().zip(0..) {
            let capture = captured.capture();
            let tables = apart::tables(capture).map_err(|e| format!("{}: {e}", captured.name))?;
            if self.table == BLOCKS {
                let key = apart::key(&tables);
                for (at, bytes) in apart::blocks(capture) {
                    pages.push(key, i64::try_from(at).map_err(|e| e.to_string())?, bytes, None)?;
                }
                continue;
            }
            let about = serde_json::to_string(&About::of(run, captured)).map_err(|e| e.to_string())?;
            for (piece, at) in tables.chunks(PIECE).zip(0..) {
                pages.push(number, at, piece, Some(&about).filter(|_| at == 0))?;
            }
        }
        pages.flush()
    }
}

/// Rows in batches.
struct Pages<'p, 'g> {
    of: &'p Writing,
    rows: usize,
    held: usize,
    runs: StringBuilder,
    captures: Int64Builder,
    places: Int64Builder,
    bytes: BinaryBuilder,
    abouts: StringBuilder,
    give: &'p mut Give<'g>,
    stopped: bool,
}

impl<'p, 'g> Pages<'p, 'g> {
    fn new(of: &'p Writing, give: &'p mut Give<'g>) -> Pages<'p, 'g> {
        Pages {
            of,
            rows: 0,
            held: 0,
            runs: StringBuilder::new(),
            captures: Int64Builder::new(),
            places: Int64Builder::new(),
            bytes: BinaryBuilder::new(),
            abouts: StringBuilder::new(),
            give,
            stopped: false,
        }
    }

    fn push(&mut self, capture: i64, at: i64, bytes: &[u8], about: Option<&String>) -> Result<(), String> {
        self.runs.append_value(&self.of.run);
        self.captures.append_value(capture);
        self.places.append_value(at);
        self.bytes.append_value(bytes);
        self.abouts.append_option(about);
        self.rows += 1;
        self.held += bytes.len();
        if self.rows >= BATCH || self.held >= BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), String> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.rows, self.held) = (0, 0);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.runs.finish()),
            Arc::new(self.captures.finish()),
            Arc::new(self.places.finish()),
            Arc::new(self.bytes.finish()),
        ];
        let abouts = self.abouts.finish();
        if self.of.table == CAPTURES {
            columns.push(Arc::new(abouts));
        }
        let batch = RecordBatch::try_new(self.of.schema(), columns).map_err(|e| e.to_string())?;
        if !self.stopped {
            self.stopped = (self.give)(batch).is_break();
        }
        Ok(())
    }
}

/// The captures of shards, as far as they were brought.
pub struct Captures<'e> {
    engine: &'e Engine,
    /// Run and number of each.
    keys: Vec<(String, i64)>,
    brought: Vec<Brought>,
}

impl<'e> Captures<'e> {
    /// Brings what the captures say beside their samples.
    pub fn open(engine: &'e Engine) -> anyhow::Result<Captures<'e>> {
        let mut captures = Captures { engine, keys: Vec::new(), brought: Vec::new() };
        let sql = format!("SELECT _run, _capture, _at, _bytes, _about FROM {CAPTURES} ORDER BY _run, _capture, _at");
        captures.each(&sql, |captures, row, batch| {
            let run = text_at(column(batch, "_run")?, row)?.unwrap_or_default();
            let number = int_at(batch, "_capture", row)?.context("a capture has no number")?;
            let bytes = bytes_at(column(batch, "_bytes")?, row).map_err(anyhow::Error::msg)?.unwrap_or_default();
            if let Some(about) = text_at(column(batch, "_about")?, row)? {
                let about =
                    serde_json::from_str(about).context("what shards say of a capture; write them anew by `corr index --shards`")?;
                captures.keys.push((run.to_string(), number));
                captures.brought.push(Brought { about, tables: Vec::new(), blocks: BTreeMap::new() });
            }
            let of_last = captures.keys.last().is_some_and(|(of, capture)| of == run && *capture == number);
            match captures.brought.last_mut().filter(|_| of_last) {
                Some(last) => last.tables.extend_from_slice(bytes),
                None => bail!("the shards lack the beginning of a capture; write them anew by `corr index --shards`"),
            }
            Ok(())
        })?;
        Ok(captures)
    }

    /// Answers by the captures: asked again with what it missed, until it misses nothing. Only what the last one gives counts.
    pub fn answer<T>(&mut self, mut answer: impl FnMut(&Asked<'static>) -> anyhow::Result<T>) -> anyhow::Result<T> {
        for _ in 0..ROUNDS {
            let (asked, missing) = asked(&self.brought).map_err(anyhow::Error::msg)?;
            let answered = answer(&asked);
            let missing: Vec<Vec<u64>> = missing.iter().map(|of| of.offsets().into_iter().collect()).collect();
            if missing.iter().all(Vec::is_empty) {
                return answered;
            }
            for (place, offsets) in missing.iter().enumerate() {
                offsets.chunks(NAMED).try_for_each(|offsets| self.bring(place, offsets))?;
            }
        }
        bail!("the samples that this reads were not all brought after {ROUNDS} questions")
    }

    /// Brings blocks of a capture.
    fn bring(&mut self, place: usize, offsets: &[u64]) -> anyhow::Result<()> {
        let (Some((run, _)), Some(brought)) = (self.keys.get(place), self.brought.get(place)) else { return Ok(()) };
        let (Some(first), Some(last), key) = (offsets.first(), offsets.last(), apart::key(&brought.tables)) else { return Ok(()) };
        let named: Vec<String> = offsets.iter().map(u64::to_string).collect();
        let sql = format!(
            "SELECT _at, _bytes FROM {BLOCKS} WHERE _run = {} AND _capture = {key} AND _at BETWEEN {first} AND {last} AND _at IN ({})",
            text(run),
            named.join(", ")
        );
        self.each(&sql, |captures, row, batch| {
            let at = int_at(batch, "_at", row)?.and_then(|at| u64::try_from(at).ok()).context("a block of samples has no offset")?;
            let bytes = bytes_at(column(batch, "_bytes")?, row).map_err(anyhow::Error::msg)?.unwrap_or_default();
            if let Some(brought) = captures.brought.get_mut(place) {
                brought.blocks.insert(at, Arc::from(bytes));
            }
            Ok(())
        })?;
        let has = |at: &u64| self.brought.get(place).is_some_and(|brought| brought.blocks.get(at).is_some_and(|bytes| !bytes.is_empty()));
        if !offsets.iter().all(has) {
            bail!("the shards lack samples of a capture that is there; write them anew by `corr index --shards`");
        }
        Ok(())
    }

    fn each(&mut self, sql: &str, mut f: impl FnMut(&mut Captures<'e>, usize, &RecordBatch) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut answer = self.engine.ask(sql)?;
        while let Some(batch) = answer.next_batch()? {
            for row in 0..batch.num_rows() {
                f(self, row, &batch)?;
            }
        }
        Ok(())
    }
}
