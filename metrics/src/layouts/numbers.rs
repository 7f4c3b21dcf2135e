//! Columns of stamps and of values, as nanoseconds and 64-bit floats.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int64Type, TimeUnit};

use crate::model::Precision;

/// Numbers of a column, and which of them are there.
pub struct Column<T: arrow::datatypes::ArrowNativeType> {
    pub numbers: ScalarBuffer<T>,
    pub valid: Option<NullBuffer>,
}

/// Nanoseconds in a unit of Arrow's.
pub fn nanoseconds(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// Whole numbers, floats and decimals.
pub fn is_number(kind: &DataType) -> bool {
    kind.is_numeric()
}

/// Stamps of `unit` nanoseconds each; those that are NaN or do not fit are not valid. `None` for columns that are no numbers.
pub fn stamps(column: &ArrayRef, unit: i64) -> Option<Column<i64>> {
    match column.data_type() {
        DataType::Float32 | DataType::Float64 => {
            let column = cast(column, &DataType::Float64).ok()?;
            let floats = column.as_primitive_opt::<Float64Type>()?;
            let mut valid: Vec<bool> = (0..floats.len()).map(|i| floats.is_valid(i)).collect();
            let numbers: Vec<i64> = floats.values().iter().zip(&mut valid).map(|(&f, ok)| scaled(f, unit, ok)).collect();
            Some(Column { numbers: numbers.into(), valid: Some(NullBuffer::from(valid)) })
        }
        kind if kind.is_integer() || matches!(kind, DataType::Timestamp(..) | DataType::Duration(_)) => {
            let column = cast(column, &DataType::Int64).ok()?;
            let whole = column.as_primitive_opt::<Int64Type>()?;
            if unit == 1 {
                return Some(Column { numbers: whole.values().clone(), valid: whole.nulls().cloned() });
            }
            // One pass; only where the largest of all bits might not fit, each is looked at.
            let mut bits = 0;
            let scale = |v: &i64| {
                bits |= v ^ (v >> 63);
                v.wrapping_mul(unit)
            };
            let numbers: Vec<i64> = whole.values().iter().map(scale).collect();
            let mut valid = whole.nulls().cloned();
            let fits = |v: &i64| v.checked_mul(unit).is_some();
            if bits >= i64::MAX / unit && !whole.values().iter().all(fits) {
                valid = Some(NullBuffer::from_iter((0..whole.len()).map(|i| whole.is_valid(i) && fits(&whole.value(i)))));
            }
            Some(Column { numbers: numbers.into(), valid })
        }
        _ => None,
    }
}

/// Whole units and their fraction apart, so that only the float's own precision is lost.
fn scaled(stamp: f64, unit: i64, ok: &mut bool) -> i64 {
    let (whole, fraction) = (stamp.trunc(), stamp.fract());
    if stamp.is_nan() || whole.abs() >= 9.2e18 {
        *ok = false;
        return 0;
    }
    match (whole as i64).checked_mul(unit).and_then(|ns| ns.checked_add((fraction * unit as f64).round() as i64)) {
        Some(ns) => ns,
        None => {
            *ok = false;
            0
        }
    }
}

/// Values of a column; whole numbers beyond 2^53 are rounded, and counted. `None` for columns that are no numbers.
pub fn values(column: &ArrayRef, rounded: &mut u64) -> Option<Column<f64>> {
    let kind = column.data_type();
    if !is_number(kind) {
        return None;
    }
    if matches!(kind, DataType::Int64 | DataType::UInt64) {
        const EXACT: i64 = 1 << 53;
        let whole = cast(column, &DataType::Int64).ok()?;
        let whole = whole.as_primitive_opt::<Int64Type>()?;
        let beyond = (0..whole.len()).filter(|&i| match whole.is_valid(i) {
            true => !(-EXACT..=EXACT).contains(&whole.value(i)),
            false => column.is_valid(i),
        });
        *rounded += beyond.count() as u64;
    }
    if let Some(floats) = column.as_primitive_opt::<Float32Type>() {
        let numbers: Vec<f64> = floats.values().iter().map(|&f| f64::from(f)).collect();
        return Some(Column { numbers: numbers.into(), valid: floats.nulls().cloned() });
    }
    let column = cast(column, &DataType::Float64).ok()?;
    let floats = column.as_primitive_opt::<Float64Type>()?;
    Some(Column { numbers: floats.values().clone(), valid: floats.nulls().cloned() })
}

/// How exactly a column's type keeps what was served.
pub fn precision(kind: &DataType) -> Precision {
    match kind {
        DataType::Float32 | DataType::Float16 => Precision::F32,
        DataType::List(item) | DataType::LargeList(item) => precision(item.data_type()),
        _ => Precision::F64,
    }
}

/// The pieces of `from..to` in which neither column lacks a number.
pub fn pieces(valid: &Option<NullBuffer>, from: usize, to: usize, mut take: impl FnMut(usize, usize)) {
    let Some(valid) = valid else {
        return take(from, to);
    };
    for (start, end) in valid.slice(from, to - from).valid_slices() {
        take(from + start, from + end);
    }
}

/// Rows in which both are there.
pub fn both(a: &Option<NullBuffer>, b: &Option<NullBuffer>) -> Option<NullBuffer> {
    NullBuffer::union(a.as_ref(), b.as_ref()).filter(|n| n.null_count() > 0)
}
