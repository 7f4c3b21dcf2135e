//! Columns of text, however Arrow keeps them.

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, LargeStringArray, StringArray, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};

/// A column of text.
pub enum Texts {
    Plain(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
    Dictionary { keys: Int32Array, values: StringArray },
}

/// Text, or a dictionary of it.
pub fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

impl Texts {
    /// A column as text; whole numbers and truth values are written out. `None` for other types.
    pub fn of(column: &ArrayRef) -> Option<Texts> {
        match column.data_type() {
            DataType::Utf8 => column.as_string_opt::<i32>().cloned().map(Texts::Plain),
            DataType::LargeUtf8 => column.as_string_opt::<i64>().cloned().map(Texts::Large),
            DataType::Utf8View => column.as_string_view_opt().cloned().map(Texts::View),
            DataType::Dictionary(_, values) if is_text(values) => {
                let wanted = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
                let column = if column.data_type() == &wanted { column.clone() } else { cast(column, &wanted).ok()? };
                let dictionary = column.as_dictionary_opt::<Int32Type>()?;
                Some(Texts::Dictionary { keys: dictionary.keys().clone(), values: dictionary.values().as_string_opt::<i32>()?.clone() })
            }
            kind if kind.is_integer() || kind == &DataType::Boolean => {
                cast(column, &DataType::Utf8).ok()?.as_string_opt::<i32>().cloned().map(Texts::Plain)
            }
            _ => None,
        }
    }

    /// The text of a row; `None` where it is null or beyond the end.
    pub fn get(&self, row: usize) -> Option<&str> {
        match self {
            Texts::Plain(a) => (row < a.len() && a.is_valid(row)).then(|| a.value(row)),
            Texts::Large(a) => (row < a.len() && a.is_valid(row)).then(|| a.value(row)),
            Texts::View(a) => (row < a.len() && a.is_valid(row)).then(|| a.value(row)),
            Texts::Dictionary { keys, values } => {
                if row >= keys.len() || keys.is_null(row) {
                    return None;
                }
                let at = usize::try_from(keys.value(row)).ok()?;
                (at < values.len() && values.is_valid(at)).then(|| values.value(at))
            }
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Texts::Plain(a) => a.len(),
            Texts::Large(a) => a.len(),
            Texts::View(a) => a.len(),
            Texts::Dictionary { keys, .. } => keys.len(),
        }
    }
}
