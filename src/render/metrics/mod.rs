//! Metric captures as text, JSON, CSV or Markdown.

pub mod bins;
mod catalogue;
pub mod covered;
mod figures;
mod json;
mod offsets;
mod rows;
mod shares;
mod sums;
pub mod table;
mod words;

pub use catalogue::Catalogued;
pub use figures::{COLUMNS, Figured, Row, Value};
pub use offsets::ClockOffset;
pub use rows::Rows;
pub use shares::Shares;
pub use sums::Summed;

/// A value as short as it can be read back.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".into()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf".into() } else { "-Inf".into() }
    } else if value.abs() >= 1e17 || (value != 0.0 && value.abs() < 1e-5) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A computed value: six digits behind what matters, as `number` where it is whole.
pub fn computed(value: f64) -> String {
    if value.fract() == 0.0 || !value.is_finite() {
        return number(value);
    }
    let digits = (6 - value.abs().log10().floor() as i32 - 1).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Nanoseconds as seconds for people.
pub fn seconds(ns: i64) -> String {
    format!("{} s", computed(ns as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_whole_ones_exact() {
        assert_eq!(number(500_189.0), "500189");
        assert_eq!(number(0.1), "0.1");
        assert_eq!(number(1e300), "1e300");
        assert_eq!(computed(8_477.776_271_18), "8477.78");
        assert_eq!(computed(0.123_456_789), "0.123457");
        assert_eq!(computed(f64::INFINITY), "+Inf");
        assert_eq!(computed(1_234_567.891), "1234568");
        assert_eq!(seconds(980_000_000), "0.98 s");
    }
}
