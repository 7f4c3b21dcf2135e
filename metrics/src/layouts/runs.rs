//! Which rows in a row hold the same key, so that a series is looked up once for all of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::DataType;

use super::texts::Texts;

/// Rows up to `end` hold the value of this number; 0 is null or empty.
pub type Run = (usize, u32);

/// The values of a column over all batches, each with a number.
#[derive(Default)]
pub struct Numbers {
    numbers: HashMap<Vec<u8>, u32>,
    /// Numbers of the places in the dictionary that the last batch had.
    dictionary: Vec<u32>,
    of: Option<StringArray>,
    scratch: Vec<u8>,
    before: Vec<u8>,
}

const UNKNOWN: u32 = u32::MAX;

impl Numbers {
    fn number(&mut self, value: &[u8]) -> u32 {
        if value.is_empty() {
            return 0;
        }
        if let Some(&number) = self.numbers.get(value) {
            return number;
        }
        let number = u32::try_from(self.numbers.len() + 1).unwrap_or(UNKNOWN - 1);
        self.numbers.insert(value.to_vec(), number);
        number
    }

    /// The runs of a column of text, of maps, of lists of two texts, or of a struct of texts; false for others.
    #[must_use]
    pub fn runs(&mut self, column: &ArrayRef, out: &mut Vec<Run>) -> bool {
        out.clear();
        match Texts::of(column) {
            Some(Texts::Dictionary { keys, values }) => {
                self.adopt(&values);
                let nulls = keys.nulls();
                let keys = keys.values();
                let mut start = 0;
                while let Some(&key) = keys.get(start) {
                    let null = nulls.is_some_and(|n| n.is_null(start));
                    let mut end = start + same(&keys[start..], key);
                    if let Some(nulls) = nulls {
                        end = (start..end).find(|&i| nulls.is_null(i) != null).unwrap_or(end);
                    }
                    let number = if null { 0 } else { self.place(key, &values) };
                    push(out, end, number);
                    start = end;
                }
                true
            }
            Some(texts) => {
                let mut row = 0;
                while row < texts.len() {
                    let text = texts.get(row);
                    let mut end = row + 1;
                    while end < texts.len() && texts.get(end) == text {
                        end += 1;
                    }
                    let number = self.number(text.unwrap_or("").as_bytes());
                    push(out, end, number);
                    row = end;
                }
                true
            }
            None => self.nested(column, out),
        }
    }

    /// Numbers stay where the dictionary is the one of the last batch.
    fn adopt(&mut self, values: &StringArray) {
        let same = self.of.as_ref().is_some_and(|of| {
            of.len() == values.len()
                && std::ptr::eq(of.value_data().as_ptr(), values.value_data().as_ptr())
                && std::ptr::eq(of.value_offsets().as_ptr(), values.value_offsets().as_ptr())
        });
        if !same {
            self.dictionary.clear();
            self.dictionary.resize(values.len(), UNKNOWN);
            self.of = Some(values.clone());
        }
    }

    fn place(&mut self, key: i32, values: &StringArray) -> u32 {
        let Ok(at) = usize::try_from(key) else { return 0 };
        match self.dictionary.get(at) {
            Some(&number) if number != UNKNOWN => number,
            Some(_) => {
                let number = if values.is_null(at) { 0 } else { self.number(values.value(at).as_bytes()) };
                if let Some(place) = self.dictionary.get_mut(at) {
                    *place = number;
                }
                number
            }
            None => 0,
        }
    }

    fn nested(&mut self, column: &ArrayRef, out: &mut Vec<Run>) -> bool {
        let Some(pairs) = Nested::of(column) else { return false };
        let mut number = UNKNOWN;
        for row in 0..column.len() {
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.clear();
            pairs.each(row, |key, value| {
                if !value.is_empty() {
                    for text in [key, value] {
                        scratch.extend_from_slice(&(text.len() as u64).to_le_bytes());
                        scratch.extend_from_slice(text.as_bytes());
                    }
                }
            });
            if number == UNKNOWN || scratch != self.before {
                number = self.number(&scratch);
                std::mem::swap(&mut self.before, &mut scratch);
            }
            self.scratch = scratch;
            push(out, row + 1, number);
        }
        true
    }
}

/// How many of the first keys are this one.
fn same(keys: &[i32], key: i32) -> usize {
    let mut n = 0;
    // Sixteen at a time without a branch for each.
    for chunk in keys.chunks_exact(16) {
        if chunk.iter().fold(0, |differ, k| differ | (k ^ key)) != 0 {
            break;
        }
        n += 16;
    }
    n + keys[n..].iter().take_while(|k| **k == key).count()
}

fn push(out: &mut Vec<Run>, end: usize, number: u32) {
    match out.last_mut() {
        Some(last) if last.1 == number => last.0 = end,
        _ => out.push((end, number)),
    }
}

/// A column in which a row holds labels.
pub enum Nested {
    /// Map, or list of structs of two texts: offsets into keys and values.
    Pairs { offsets: Vec<(usize, usize)>, keys: Box<Texts>, values: Box<Texts> },
    /// A struct: one text a field.
    Fields(Vec<(String, Texts)>),
}

impl Nested {
    /// `None` for columns of other types.
    pub fn of(column: &ArrayRef) -> Option<Nested> {
        let (offsets, items): (Vec<(usize, usize)>, &ArrayRef) = match column.data_type() {
            DataType::Map(_, _) => {
                let map = column.as_map_opt()?;
                return Some(Nested::Pairs {
                    offsets: ranges(map.value_offsets().iter().map(|&o| i64::from(o)), column)?,
                    keys: Box::new(Texts::of(map.keys())?),
                    values: Box::new(Texts::of(map.values())?),
                });
            }
            DataType::List(_) => {
                let list = column.as_list_opt::<i32>()?;
                (ranges(list.value_offsets().iter().map(|&o| i64::from(o)), column)?, list.values())
            }
            DataType::LargeList(_) => {
                let list = column.as_list_opt::<i64>()?;
                (ranges(list.value_offsets().iter().copied(), column)?, list.values())
            }
            DataType::Struct(fields) => {
                let columns = column.as_struct_opt()?.columns();
                let texts = fields.iter().zip(columns).map(|(f, c)| Some((f.name().clone(), Texts::of(c)?)));
                return Some(Nested::Fields(texts.collect::<Option<_>>()?));
            }
            _ => return None,
        };
        let [keys, values] = items.as_struct_opt()?.columns() else { return None };
        Some(Nested::Pairs { offsets, keys: Box::new(Texts::of(keys)?), values: Box::new(Texts::of(values)?) })
    }

    /// Each pair of a row.
    pub fn each<'t>(&'t self, row: usize, mut take: impl FnMut(&'t str, &'t str)) {
        match self {
            Nested::Pairs { offsets, keys, values } => {
                let (from, to) = offsets.get(row).copied().unwrap_or((0, 0));
                for i in from..to {
                    take(keys.get(i).unwrap_or(""), values.get(i).unwrap_or(""));
                }
            }
            Nested::Fields(fields) => fields.iter().for_each(|(name, texts)| take(name, texts.get(row).unwrap_or(""))),
        }
    }
}

/// From and to of each row's items, empty where the row is null.
pub fn ranges(offsets: impl Iterator<Item = i64>, column: &ArrayRef) -> Option<Vec<(usize, usize)>> {
    let offsets: Vec<usize> = offsets.map(|o| usize::try_from(o).ok()).collect::<Option<_>>()?;
    let pairs = offsets.windows(2).enumerate();
    Some(pairs.map(|(row, w)| if column.is_null(row) { (0, 0) } else { (w[0], w[1].max(w[0])) }).collect())
}

/// The rows that are equal in all of some columns, and the tuple of their numbers.
pub fn together(columns: &[Vec<Run>], rows: usize, mut take: impl FnMut(usize, usize, &[u32])) {
    let mut places = vec![0usize; columns.len()];
    let mut key = vec![0u32; columns.len()];
    let mut start = 0;
    while start < rows {
        let mut end = rows;
        for ((runs, place), number) in columns.iter().zip(&mut places).zip(&mut key) {
            while runs.get(*place).is_some_and(|run| run.0 <= start) {
                *place += 1;
            }
            if let Some(run) = runs.get(*place) {
                end = end.min(run.0);
                *number = run.1;
            }
        }
        take(start, end, &key);
        start = end;
    }
}

/// A map by numbers that this process gave out itself: no one can choose them to collide.
pub type ByKey<V> = HashMap<Box<[u32]>, V, BuildHasherDefault<Mix>>;

/// Multiplies and folds.
#[derive(Default)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<4>();
        words.iter().for_each(|w| self.write_u32(u32::from_le_bytes(*w)));
        rest.iter().for_each(|b| self.write_u32(u32::from(*b)));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0.rotate_left(23) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u32(number as u32);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{DictionaryArray, StringArray};
    use arrow::datatypes::Int32Type;

    use super::*;

    #[test]
    fn runs_of_dictionaries_and_of_texts_are_the_same() {
        let texts: Vec<Option<&str>> = [vec![Some("a"); 40], vec![Some("b"), None, Some(""), Some("a")], vec![Some("b"); 17]].concat();
        let plain: ArrayRef = Arc::new(StringArray::from(texts.clone()));
        let dictionary: ArrayRef = Arc::new(texts.iter().copied().collect::<DictionaryArray<Int32Type>>());
        let want: Vec<Run> = vec![(40, 1), (41, 2), (43, 0), (44, 1), (61, 2)];
        for column in [plain, dictionary] {
            let (mut numbers, mut out) = (Numbers::default(), Vec::new());
            assert!(numbers.runs(&column, &mut out));
            assert_eq!(out, want);
            assert!(numbers.runs(&column.slice(40, 3), &mut out));
            assert_eq!(out, [(1, 2), (3, 0)], "numbers stay from batch to batch");
        }
    }

    #[test]
    fn a_run_ends_where_any_column_changes() {
        let mut seen = Vec::new();
        together(&[vec![(3, 1), (5, 2)], vec![(2, 7), (4, 8), (5, 9)]], 5, |a, b, key| seen.push((a, b, key.to_vec())));
        assert_eq!(seen, [(0, 2, vec![1, 7]), (2, 3, vec![1, 8]), (3, 4, vec![2, 8]), (4, 5, vec![2, 9])]);
        together(&[], 4, |a, b, key| assert_eq!((a, b, key.len()), (0, 4, 0)));
    }
}
