//! Numbers that JSON has no word for, written as Prometheus writes them: `"NaN"`, `"+Inf"`, `"-Inf"`. As `null` they would read as missing.

use serde::Serializer;

/// A number.
pub fn number<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        to.serialize_f64(*value)
    } else if value.is_nan() {
        to.serialize_str("NaN")
    } else if *value > 0.0 {
        to.serialize_str("+Inf")
    } else {
        to.serialize_str("-Inf")
    }
}

/// A number, or `null` where there is none.
pub fn maybe<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => number(value, to),
        None => to.serialize_none(),
    }
}
