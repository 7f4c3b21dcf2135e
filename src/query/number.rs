//! Which of two numbers is greater, exactly, whatever their types?

use std::cmp::Ordering;

use corr_parsers::event::Value;

/// A number of a query or a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Any i64 or u64.
    Int(i128),
    /// Not NaN when it comes from [`Number::read`].
    Float(f64),
}

impl Number {
    /// Reads a decimal integer or a float (`-3`, `0.5`, `1e6`, `inf`). Integers up to u64 are exact, longer ones are floats.
    pub fn read(text: &str) -> Option<Number> {
        if let Ok(int) = text.parse::<i64>() {
            return Some(Number::Int(i128::from(int)));
        }
        if let Ok(int) = text.parse::<u64>() {
            return Some(Number::Int(i128::from(int)));
        }
        match text.parse::<f64>() {
            Ok(float) if !float.is_nan() => Some(Number::Float(float)),
            _ => None,
        }
    }

    /// The number that a field's value is. A text that spells a number is that number.
    pub fn of(value: &Value) -> Option<Number> {
        match value {
            Value::Int(int) => Some(Number::Int(i128::from(*int))),
            Value::UInt(int) => Some(Number::Int(i128::from(*int))),
            Value::Float(float) => Some(Number::Float(*float)),
            Value::Bool(_) => None,
            Value::Str(text) => Number::read(text),
        }
    }

    /// How the first lies to the second; `None` only for NaN.
    pub fn order(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            (Number::Int(a), Number::Float(b)) => order_mixed(a, b),
            (Number::Float(a), Number::Int(b)) => order_mixed(b, a).map(Ordering::reverse),
        }
    }
}

fn order_mixed(int: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // The cast saturates, and `int` is far from the ends of i128, so infinities and huge floats compare as they should.
    let whole = float.trunc() as i128;
    Some(int.cmp(&whole).then_with(|| 0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(a: &str, b: &str) -> Ordering {
        Number::read(a).unwrap().order(Number::read(b).unwrap()).unwrap()
    }

    #[test]
    fn exact_over_all_types() {
        assert_eq!(order("12", "12.0"), Ordering::Equal);
        assert_eq!(order("18446744073709551615", "18446744073709551614"), Ordering::Greater);
        assert_eq!(order("9007199254740993", "9007199254740992.0"), Ordering::Greater);
        assert_eq!(order("-3", "-2.5"), Ordering::Less);
        assert_eq!(order("-2", "-2.5"), Ordering::Greater);
        assert_eq!(order("2", "2.5"), Ordering::Less);
        assert_eq!(order("18446744073709551615", "inf"), Ordering::Less);
        assert_eq!(order("0", "-inf"), Ordering::Greater);
    }

    #[test]
    fn no_number() {
        for text in ["", "nan", "12a", "0x10", "--1", "1_000", " 1"] {
            assert_eq!(Number::read(text), None, "{text}");
        }
    }
}
