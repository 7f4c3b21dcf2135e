//! The `key: value, key: value` grammar of periodic lines, and number reading.

use std::borrow::Cow;

use crate::event::Value;

/// Reads a number, `True`/`False`/`true`/`false`, or leaves text. A trailing `%` stays text: percents are not ratios.
pub fn typed<'a>(text: impl Into<Cow<'a, str>>) -> Value<'a> {
    let text = text.into();
    let known = match text.as_ref() {
        "True" | "true" => Some(Value::Bool(true)),
        "False" | "false" => Some(Value::Bool(false)),
        text => number(text),
    };
    known.unwrap_or(Value::Str(text))
}

/// Reads an integer or a decimal number that spans the whole text. `nan` and `inf` are not numbers here.
pub fn number(text: &str) -> Option<Value<'static>> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    if let Some(short) = short_number(bytes) {
        return Some(short);
    }
    let unsigned = if first == b'-' || first == b'+' { &bytes[1..] } else { bytes };
    if !unsigned.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    if unsigned.iter().all(u8::is_ascii_digit) {
        if let Ok(value) = text.parse::<i64>() {
            return Some(Value::Int(value));
        }
        return text.parse::<u64>().ok().map(Value::UInt);
    }
    if !unsigned.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+')) {
        return None;
    }
    text.parse::<f64>().ok().filter(|v| v.is_finite()).map(Value::Float)
}

/// Reads `12288` and `0.25` in one pass; anything else, or more than fifteen digits, takes the long way.
///
/// Up to fifteen digits and a power of ten up to 10^15 are exact in a double, so the one division rounds as a full parse would.
pub(crate) fn short_number(bytes: &[u8]) -> Option<Value<'static>> {
    const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    if bytes.is_empty() || bytes.len() > 16 || bytes[0] == b'.' {
        return None;
    }
    let mut mantissa = 0i64;
    let mut point = None;
    for (at, byte) in bytes.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            mantissa = mantissa * 10 + i64::from(digit);
        } else if *byte == b'.' && point.is_none() {
            point = Some(at);
        } else {
            return None;
        }
    }
    match point {
        None if bytes.len() <= 15 => Some(Value::Int(mantissa)),
        None => None,
        Some(at) => Some(Value::Float(mantissa as f64 / POWERS[bytes.len() - at - 1])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_the_numbers_of_a_full_parse() {
        for text in ["0", "12288", "007", "999999999999999"] {
            assert_eq!(short_number(text.as_bytes()), text.parse().ok().map(Value::Int), "{text}");
        }
        for text in ["0.00", "0.25", "1.10", "7456.67", "18297.75", "99999999999.9999", "5.", "0.1234567890123"] {
            assert_eq!(short_number(text.as_bytes()), text.parse().ok().map(Value::Float), "{text}");
        }
        for text in ["", ".5", "-1", "1e5", "9999999999999999", "1.2.3", "nan", "12%"] {
            assert_eq!(short_number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn numbers_of_every_form() {
        let cases = [
            ("-1", Some(Value::Int(-1))),
            ("+7", Some(Value::Int(7))),
            ("9223372036854775808", Some(Value::UInt(1 << 63))),
            ("1e5", Some(Value::Float(1e5))),
            ("5.123456789012345678", Some(Value::Float(5.123456789012345))),
            ("1.2.3", None),
            (".5", None),
            ("nan", None),
            ("12%", None),
            ("", None),
        ];
        for (text, want) in cases {
            assert_eq!(number(text), want, "{text}");
        }
    }
}
