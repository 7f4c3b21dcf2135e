//! Answers of a cluster to a query, as `corr query` has them.

use anyhow::{Context as _, bail};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use corr_sql::Engine;

use super::functions::bytes_at;
use crate::query::answer::{Answer, Question, Sort, first_key};
use crate::render::shown::Shown;
use crate::tables::shard::question::{self, Asked};
use crate::tables::shard::whole::Whole;

/// Rows whose record could not be read when shards were written.
pub type Lost = u64;

/// Counts hits by the values of a field, or by bins of time: each of the question.
pub fn counted(engine: &Engine, asked: &Asked, of: &Question) -> anyhow::Result<(Answer, Lost)> {
    let (mut answer, mut lost) = (Answer::default(), 0);
    if let Some(field) = &of.count_by {
        each_row(engine, &asked.counts(field), |row, batch| {
            let (n, edge) = (count(batch, "n", row)?, count(batch, "edge", row)?);
            let lists = column(batch, "v")?;
            let Some(list) = text_at(lists, row)? else {
                lost += n;
                return Ok(());
            };
            let values: Vec<String> = serde_json::from_str(list).context("a list of values")?;
            for value in values {
                *answer.counts.entry(value).or_default() += n;
            }
            answer.total += n;
            answer.at_edge += edge;
            Ok(())
        })?;
    } else if let Some(width) = of.histogram {
        each_row(engine, &asked.bins(width), |row, batch| {
            let n = count(batch, "n", row)?;
            *answer.bins.entry(int_at(batch, "v", row)?).or_default() += n;
            answer.total += n;
            answer.at_edge += count(batch, "edge", row)?;
            Ok(())
        })?;
    }
    Ok((answer, lost))
}

/// The hits of a question in their order, as they come.
pub struct Hits<'a> {
    engine: &'a Engine,
    asked: &'a Asked,
    of: &'a Question,
    rows: corr_sql::Answer<'a>,
    next: Option<RecordBatch>,
    answer: Answer,
    seen: u64,
    lost: Lost,
    /// A hit had a value of the field that is sorted by.
    pub has_key: bool,
}

impl<'a> Hits<'a> {
    /// Asks, and waits for the first of them.
    pub fn ask(engine: &'a Engine, asked: &'a Asked, of: &'a Question) -> anyhow::Result<Hits<'a>> {
        let mut rows = engine.ask(&asked.hits(&of.sort, of.limit))?;
        let next = rows.next_batch()?;
        Ok(Hits { engine, asked, of, rows, next, answer: Answer::default(), seen: 0, lost: 0, has_key: false })
    }

    /// The next hits; `None` behind the last.
    pub fn more(&mut self) -> anyhow::Result<Option<Vec<Shown>>> {
        let Some(batch) = self.next.take() else { return Ok(None) };
        let records = column(&batch, question::WHOLE)?;
        let mut shown = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            self.seen += 1;
            let Some(bytes) = bytes_at(records, row).map_err(anyhow::Error::msg)? else {
                self.lost += 1;
                continue;
            };
            let whole = Whole::read(bytes).map_err(anyhow::Error::msg)?;
            self.answer.at_edge += u64::from(self.of.window.cuts(whole.stamp()));
            if let Sort::Field(field, _) = &self.of.sort {
                self.has_key = self.has_key || first_key(&whole.subject(), field).is_some();
            }
            shown.push(whole.shown().map_err(anyhow::Error::msg)?);
        }
        self.next = self.rows.next_batch()?;
        Ok(Some(shown))
    }

    /// How many there are in all.
    pub fn end(mut self) -> anyhow::Result<(Answer, Lost)> {
        self.answer.total = self.seen;
        if self.of.limit > 0 && self.seen >= self.of.limit as u64 {
            // There may be more than were asked for.
            each_row(self.engine, &self.asked.totals(), |row, batch| {
                (self.answer.total, self.answer.at_edge) = (count(batch, "n", row)?, count(batch, "edge", row)?);
                Ok(())
            })?;
        }
        Ok((self.answer, self.lost))
    }
}

/// First and last instant of all records.
pub fn extent(engine: &Engine) -> anyhow::Result<(Option<i64>, Option<i64>)> {
    let mut extent = (None, None);
    each_row(engine, &question::extent(), |row, batch| {
        extent = (int_at(batch, "first", row)?, int_at(batch, "last", row)?);
        Ok(())
    })?;
    Ok(extent)
}

fn each_row(engine: &Engine, sql: &str, mut f: impl FnMut(usize, &RecordBatch) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut answer = engine.ask(sql)?;
    while let Some(batch) = answer.next_batch()? {
        for row in 0..batch.num_rows() {
            f(row, &batch)?;
        }
    }
    Ok(())
}

pub(super) fn column<'b>(batch: &'b RecordBatch, name: &str) -> anyhow::Result<&'b ArrayRef> {
    batch.column_by_name(name).with_context(|| format!("the cluster's answer has no column {name}"))
}

pub(super) fn int_at(batch: &RecordBatch, name: &str, row: usize) -> anyhow::Result<Option<i64>> {
    let numbers = column(batch, name)?.as_primitive_opt::<Int64Type>().with_context(|| format!("{name}: no whole numbers"))?;
    Ok(numbers.is_valid(row).then(|| numbers.value(row)))
}

/// A count; that of no rows is none.
fn count(batch: &RecordBatch, name: &str, row: usize) -> anyhow::Result<u64> {
    Ok(int_at(batch, name, row)?.map(u64::try_from).transpose()?.unwrap_or(0))
}

pub(super) fn text_at(column: &ArrayRef, row: usize) -> anyhow::Result<Option<&str>> {
    if column.is_null(row) {
        return Ok(None);
    }
    match (column.as_string_opt::<i32>(), column.as_string_view_opt()) {
        (Some(texts), _) => Ok(Some(texts.value(row))),
        (_, Some(texts)) => Ok(Some(texts.value(row))),
        _ => bail!("a column of lists is {}", column.data_type()),
    }
}
