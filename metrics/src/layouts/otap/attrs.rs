//! Attributes of points: rows of (parent, key, type, value) to one set of labels a parent.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};

use crate::build::Builder;
use crate::layouts::numbers::values;
use crate::layouts::texts::Texts;
use crate::model::Labels;

/// Sets of labels, and which a parent has: a number a point stays in memory, a set only once.
#[derive(Default)]
pub struct Attributes {
    sets: Vec<Labels>,
    places: HashMap<Labels, u32>,
    of: HashMap<u64, u32>,
}

impl Attributes {
    /// Place of the labels of a parent, and they; none is a set too.
    pub fn get(&self, parent: u64) -> (u32, Labels) {
        match self.of.get(&parent) {
            Some(&place) => (place + 1, self.sets.get(place as usize).cloned().unwrap_or_default()),
            None => (0, Labels::default()),
        }
    }

    /// Rows of the table. Rows of one parent usually follow each other; those that do not are added to what it has.
    pub fn take(&mut self, batch: &RecordBatch, builder: &mut Builder) -> Result<(), String> {
        let parents = batch.column_by_name("parent_id").and_then(|c| values(c, &mut 0)).ok_or("parent_id is no number")?;
        let keys = batch.column_by_name("key").and_then(Texts::of).ok_or("key is no text")?;
        let columns: Vec<Texts> = ["str", "int", "double", "bool"].iter().filter_map(|name| text(batch.column_by_name(name)?)).collect();
        let mut row = 0;
        while row < batch.num_rows() {
            let parent = parents.numbers[row];
            let mut end = row;
            let mut pairs: Vec<(&str, &str)> = Vec::new();
            while end < batch.num_rows() && parents.numbers[end] == parent {
                match (keys.get(end), columns.iter().find_map(|c| c.get(end))) {
                    (Some(key), Some(value)) => pairs.push((key, value)),
                    _ => builder.note("attribute_left_out", || "an attribute without key, or of bytes, a list or a map".into(), || None),
                }
                end += 1;
            }
            let valid = parents.valid.as_ref().is_none_or(|n| n.is_valid(row)) && parent >= 0.0;
            if valid {
                self.put(parent as u64, &pairs);
            }
            row = end.max(row + 1);
        }
        Ok(())
    }

    fn put(&mut self, parent: u64, pairs: &[(&str, &str)]) {
        let before = self.of.get(&parent).and_then(|&place| self.sets.get(place as usize)).cloned().unwrap_or_default();
        let labels = Labels::new(before.iter().chain(pairs.iter().copied()));
        let place = match self.places.get(&labels) {
            Some(&place) => place,
            None => {
                let place = u32::try_from(self.sets.len()).unwrap_or(u32::MAX - 1);
                self.sets.push(labels.clone());
                self.places.insert(labels, place);
                place
            }
        };
        self.of.insert(parent, place);
    }
}

/// A column of attribute values as text.
fn text(column: &ArrayRef) -> Option<Texts> {
    if let Some(found) = Texts::of(column) {
        return Some(found);
    }
    // Dictionaries of numbers, and floats.
    let plain = match column.data_type() {
        DataType::Dictionary(_, values) => cast(column, values).ok()?,
        _ => column.clone(),
    };
    if let Some(floats) = plain.as_primitive_opt::<Float64Type>() {
        let texts: arrow::array::StringArray = floats.iter().map(|f| f.map(|f| f.to_string())).collect();
        return Some(Texts::Plain(texts));
    }
    (!plain.data_type().is_nested()).then(|| Texts::of(&plain)).flatten()
}
