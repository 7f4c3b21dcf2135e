//! The `key: value, key: value` grammar of periodic lines (formats/sglang.md 2.8), and number reading.

use crate::event::Value;

/// Reads a number, `True`/`False`/`true`/`false`, or leaves text. A trailing `%` stays text: percents are not ratios.
pub fn typed(text: &str) -> Value<'_> {
    match text {
        "True" | "true" => return Value::Bool(true),
        "False" | "false" => return Value::Bool(false),
        _ => {}
    }
    number(text).unwrap_or(Value::Str(text.into()))
}

/// Reads an integer or a decimal number that spans the whole text. `nan` and `inf` are not numbers here.
pub fn number(text: &str) -> Option<Value<'static>> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
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
