//! Counts, bins and the order of rows that are known to match, from the columns alone: no record is read.

use std::collections::{BTreeMap, HashMap};

use corr_parsers::event::Value;

use super::answer::{self, Hit, Question, Sort, Window};
use super::rank::{Keeper, Key};
use super::subject::{Name, Special};
use crate::store::columns::column_name;
use crate::store::open::{Cell, Segment, StoreError};
use crate::store::rowset::RowSet;
use corr_parsers::stamp::Stamp;

/// What is wanted of the rows.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Their order in time, or bins of it.
    Times,
    /// How many there are of each kind.
    Kinds,
    /// How many there are of each value of a column; `None`: no row has one.
    Counts(Option<String>),
    /// Their order by the values of a column; `None`: no row has one.
    Keys(Option<String>),
}

impl Wanted {
    /// What a question wants of a segment; `None` if only the records can say it.
    pub fn of(question: &Question, segment: &Segment) -> Result<Option<Wanted>, StoreError> {
        if let Some(field) = &question.count_by {
            return Ok(match Name::new(field).special {
                Special::Kind => Some(Wanted::Kinds),
                Special::Level => Some(Wanted::Counts(Some("_level".into()))),
                Special::None => column(field, segment)?.map(Wanted::Counts),
                _ => None,
            });
        }
        match &question.sort {
            Sort::Field(field, _) if question.histogram.is_none() => match Name::new(field).special {
                Special::None => Ok(column(field, segment)?.map(Wanted::Keys)),
                _ => Ok(None),
            },
            _ => Ok(Some(Wanted::Times)),
        }
    }
}

/// The one column that says all that a name means in the segment's records, or that none has it; `None` if columns do not say it.
fn column(field: &str, segment: &Segment) -> Result<Option<Option<String>>, StoreError> {
    let meta = segment.meta()?;
    if meta.overflow {
        return Ok(None);
    }
    let mut columns = meta.columns.iter().filter(|(name, info)| info.may_mean(name, field));
    let Some((name, info)) = columns.next() else { return Ok(Some(None)) };
    Ok((info.is_exact(name, field) && columns.next().is_none()).then(|| Some(column_name(name))))
}

/// What rows gave.
pub struct Gathered {
    pub keeper: Keeper,
    pub matched: u64,
    /// Rows whose stamp reaches over an edge of the window.
    pub at_edge: u64,
    /// The empty text stands for rows without a value.
    pub counts: BTreeMap<String, u64>,
    pub bins: BTreeMap<Option<i64>, u64>,
}

/// Gathers what is wanted of the rows that lie in the question's window. `source` is the number of theirs.
pub fn gather(question: &Question, source: usize, segment: &Segment, rows: RowSet, wanted: &Wanted) -> Result<Gathered, StoreError> {
    let keeper = Keeper::new(question.sort.clone(), question.limit);
    let mut gathered = Gathered { keeper, matched: 0, at_edge: 0, counts: BTreeMap::new(), bins: BTreeMap::new() };
    let rows = match question.window == Window::default() {
        true => rows,
        false => inside(&question.window, segment, &rows, &mut gathered.at_edge)?,
    };
    gathered.matched = rows.count() as u64;
    match wanted {
        Wanted::Kinds => kinds(segment, &rows, &mut gathered.counts)?,
        Wanted::Counts(column) => counts(segment, &rows, column.as_deref(), &mut gathered.counts)?,
        Wanted::Times => match question.histogram {
            Some(width) => bins(segment, &rows, width, &mut gathered.bins)?,
            None => keep(source, segment, &rows, None, &mut gathered.keeper)?,
        },
        Wanted::Keys(column) => {
            let mut keys = vec![None; segment.len()];
            if let Some(column) = column {
                segment.column(column, Some(&rows), |row, cell| {
                    if let Some(key) = keys.get_mut(row) {
                        *key = Some(key_of(&cell));
                    }
                })?;
            }
            keep(source, segment, &rows, Some(keys), &mut gathered.keeper)?;
        }
    }
    Ok(gathered)
}

/// The rows that can have happened in a window; counts those that reach over an edge of it.
fn inside(window: &Window, segment: &Segment, rows: &RowSet, at_edge: &mut u64) -> Result<RowSet, StoreError> {
    let mut starts: Vec<Option<i64>> = vec![None; segment.len()];
    let mut inside = RowSet::none(segment.len());
    let mut unstamped = rows.clone();
    segment.column("_start", Some(rows), |row, cell| {
        if let (Cell::Int(start), Some(slot)) = (cell, starts.get_mut(row)) {
            unstamped.remove(row);
            *slot = Some(start);
        }
    })?;
    segment.column("_end", Some(rows), |row, cell| {
        if let (Cell::Int(end), Some(Some(start))) = (cell, starts.get(row)) {
            let stamp = Some(Stamp { start: *start, end });
            if window.may_hold(stamp, None) {
                inside.insert(row);
                *at_edge += u64::from(window.cuts(stamp));
            }
        }
    })?;
    if !unstamped.is_empty() {
        segment.column("_order", Some(&unstamped), |row, cell| {
            if let Cell::Int(order) = cell
                && window.may_hold(None, Some(order))
            {
                inside.insert(row);
            }
        })?;
    }
    Ok(inside)
}

fn kinds(segment: &Segment, rows: &RowSet, counts: &mut BTreeMap<String, u64>) -> Result<(), StoreError> {
    let table = segment.rows()?;
    let meta = segment.meta()?;
    let mut numbers = vec![0u64; meta.kinds.len()];
    for kind in rows.iter().filter_map(|row| table.kind(row)) {
        if let Some(n) = numbers.get_mut(kind) {
            *n += 1;
        }
    }
    for (kind, n) in meta.kinds.iter().zip(numbers).filter(|(_, n)| *n > 0) {
        *counts.entry(kind.clone()).or_default() += n;
    }
    Ok(())
}

/// Small whole numbers (ranks, states, counts) are counted in a table.
const SMALL: usize = 1 << 12;

fn counts(segment: &Segment, rows: &RowSet, column: Option<&str>, counts: &mut BTreeMap<String, u64>) -> Result<(), StoreError> {
    let mut small = vec![0u64; SMALL];
    let mut ints: HashMap<i64, u64> = HashMap::new();
    // By their bits: the text of each is made once.
    let mut floats: HashMap<u64, u64> = HashMap::new();
    let mut texts: HashMap<String, u64> = HashMap::new();
    let mut truths = [0u64; 2];
    let mut counted = 0;
    if let Some(column) = column {
        segment.column(column, Some(rows), |_, cell| {
            counted += 1;
            match cell {
                Cell::Int(n) => match usize::try_from(n).ok().and_then(|n| small.get_mut(n)) {
                    Some(slot) => *slot += 1,
                    None => *ints.entry(n).or_default() += 1,
                },
                Cell::Float(n) => *floats.entry(n.to_bits()).or_default() += 1,
                Cell::Bool(truth) => truths[usize::from(truth)] += 1,
                Cell::UInt(n) => *texts.entry(n.to_string()).or_default() += 1,
                Cell::Text(text) => match texts.get_mut(text) {
                    Some(n) => *n += 1,
                    None => {
                        texts.insert(text.to_string(), 1);
                    }
                },
            }
        })?;
    }
    let small = small.into_iter().enumerate().map(|(value, n)| (value.to_string(), n));
    let ints = ints.into_iter().map(|(value, n)| (value.to_string(), n));
    let floats = floats.into_iter().map(|(bits, n)| (Value::Float(f64::from_bits(bits)).to_string(), n));
    let truths = [(false.to_string(), truths[0]), (true.to_string(), truths[1])];
    let without = [(String::new(), (rows.count() as u64).saturating_sub(counted))];
    for (value, n) in small.chain(ints).chain(floats).chain(texts).chain(truths).chain(without).filter(|(_, n)| *n > 0) {
        *counts.entry(value).or_default() += n;
    }
    Ok(())
}

fn bins(segment: &Segment, rows: &RowSet, width: i64, bins: &mut BTreeMap<Option<i64>, u64>) -> Result<(), StoreError> {
    let mut counted = 0;
    // Rows are nearly in the order of time: most fall into the bin of the one before.
    let mut last: Option<(i64, u64)> = None;
    let mut put = |run: Option<(i64, u64)>| {
        if let Some((bin, n)) = run {
            *bins.entry(Some(bin)).or_default() += n;
        }
    };
    segment.column("_order", Some(rows), |_, cell| {
        let Cell::Int(order) = cell else { return };
        counted += 1;
        let bin = answer::bin(order, width);
        match &mut last {
            Some((at, n)) if *at == bin => *n += 1,
            _ => put(last.replace((bin, 1))),
        }
    })?;
    put(last);
    let unknown = (rows.count() as u64).saturating_sub(counted);
    if unknown > 0 {
        *bins.entry(None).or_default() += unknown;
    }
    Ok(())
}

fn keep(
    source: usize,
    segment: &Segment,
    rows: &RowSet,
    mut keys: Option<Vec<Option<Key>>>,
    keeper: &mut Keeper,
) -> Result<(), StoreError> {
    let table = segment.rows()?;
    let mut unknown = rows.clone();
    let mut push = |row: usize, order: Option<i64>| {
        let key = keys.as_mut().and_then(|keys| keys.get_mut(row)?.take());
        if keeper.wants(source, order, key.as_ref()) {
            keeper.push(Hit { source, offset: table.offset(row), order, key });
        }
    };
    segment.column("_order", Some(rows), |row, cell| {
        if let Cell::Int(order) = cell {
            unknown.remove(row);
            push(row, Some(order));
        }
    })?;
    for row in unknown.iter() {
        push(row, None);
    }
    Ok(())
}

fn key_of(cell: &Cell<'_>) -> Key {
    match cell {
        Cell::Int(n) => Key::Number(*n as f64),
        Cell::UInt(n) => Key::Number(*n as f64),
        Cell::Float(n) => Key::Number(*n),
        Cell::Bool(truth) => Key::Text(truth.to_string()),
        Cell::Text(text) => Key::Text((*text).to_string()),
    }
}
