//! What a column of stamps counts, from when.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};

use super::super::numbers::nanoseconds;

/// How a column says time.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    /// Nanoseconds of one of its units.
    pub unit: i64,
    pub from: From,
}

/// What stamps count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The Unix epoch.
    Epoch,
    /// The Unix epoch, taken as UTC: a timestamp without a zone.
    AssumedUtc,
    /// The start of the capture.
    Start,
}

/// Seconds of 2000-01-01 and of 2100-01-01: stamps of captures lie between.
const YEARS: (f64, f64) = (946_684_800.0, 4_102_444_800.0);
/// An elapsed clock's first stamp is at most so many seconds after its start.
const NEAR: f64 = 600.0;
/// And its last at most so many: three years.
const LONG: f64 = 1e8;

impl Stamp {
    /// From the type, or from the magnitude of the numbers; `None` if they are no time. `largest` is that of the whole file, where its statistics
    /// have it. An elapsed time must be told by its name.
    pub fn of(name: &str, column: &ArrayRef, largest: Option<f64>) -> Option<Stamp> {
        let numbers = floats(column)?;
        let (least, median, greatest) = spread(numbers)?;
        let greatest = largest.unwrap_or(greatest).max(greatest);
        match column.data_type() {
            DataType::Timestamp(unit, zone) => {
                let unit = nanoseconds(*unit);
                let from = match zone {
                    _ if greatest * unit as f64 / 1e9 < LONG => From::Start,
                    Some(_) => From::Epoch,
                    None => From::AssumedUtc,
                };
                return Some(Stamp { unit, from });
            }
            DataType::Duration(unit) => return Some(Stamp { unit: nanoseconds(*unit), from: From::Start }),
            kind if !(kind.is_integer() || kind.is_floating()) => return None,
            _ => {}
        }
        for unit in [1_000_000_000, 1_000_000, 1_000, 1] {
            let seconds = |n: f64| n * unit as f64 / 1e9;
            if (YEARS.0..YEARS.1).contains(&seconds(median)) {
                // A file whose largest stamp is of another unit is not one clock.
                return (seconds(greatest) < YEARS.1).then_some(Stamp { unit, from: From::Epoch });
            }
        }
        let unit = unit_of(name, column.data_type().is_floating())?;
        let seconds = |n: f64| n * unit as f64 / 1e9;
        (least >= 0.0 && seconds(least) <= NEAR && seconds(greatest) < LONG).then_some(Stamp { unit, from: From::Start })
    }

    /// For output.
    pub fn words(&self) -> String {
        let unit = match self.unit {
            1 => "ns",
            1_000 => "us",
            1_000_000 => "ms",
            _ => "s",
        };
        match self.from {
            From::Epoch => format!("{unit} since the epoch"),
            From::AssumedUtc => format!("{unit} since the epoch, no zone: assumed UTC"),
            From::Start => format!("{unit} since the capture's start: no wall clock"),
        }
    }
}

/// The unit that a name's last word says; seconds for floats whose name says none.
fn unit_of(name: &str, float: bool) -> Option<i64> {
    match words(name).last().map(String::as_str) {
        Some("ns" | "nano" | "nanos" | "nanoseconds") => Some(1),
        Some("us" | "micros" | "microseconds") => Some(1_000),
        Some("ms" | "millis" | "milliseconds") => Some(1_000_000),
        Some("s" | "sec" | "secs" | "seconds") => Some(1_000_000_000),
        _ => float.then_some(1_000_000_000),
    }
}

/// A name's words in lower case: `scrapeTime_ms` has scrape, time and ms.
pub fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut lower = false;
    let mut open = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            open = false;
            continue;
        }
        if !open || (c.is_uppercase() && lower) {
            out.push(String::new());
            open = true;
        }
        lower = c.is_lowercase();
        if let Some(word) = out.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    out
}

fn floats(column: &ArrayRef) -> Option<Vec<f64>> {
    let column = match column.data_type() {
        DataType::Timestamp(..) | DataType::Duration(_) => cast(column, &DataType::Int64).ok()?,
        _ => column.clone(),
    };
    let column = cast(&column, &DataType::Float64).ok()?;
    let floats = column.as_primitive_opt::<Float64Type>()?;
    Some(floats.iter().flatten().filter(|f| f.is_finite()).collect())
}

fn spread(mut numbers: Vec<f64>) -> Option<(f64, f64, f64)> {
    numbers.sort_by(f64::total_cmp);
    Some((*numbers.first()?, *numbers.get(numbers.len() / 2)?, *numbers.last()?))
}

/// Words of a name that says time.
const TIME: [&str; 13] =
    ["time", "timestamp", "timestamps", "times", "ts", "t", "epoch", "elapsed", "datetime", "date", "unix", "when", "at"];
/// Words that may stand beside in the name of the one column that is the sample's time.
const UNITS: [&str; 18] = [
    "s",
    "sec",
    "secs",
    "seconds",
    "ms",
    "millis",
    "milliseconds",
    "us",
    "micros",
    "microseconds",
    "ns",
    "nano",
    "nanos",
    "nanoseconds",
    "utc",
    "unix",
    "since",
    "start",
];

/// How much a name says that the column is the sample's time: 2 alone with its unit, 1 among other words, 0 not.
pub fn said(name: &str) -> u8 {
    let words = words(name);
    let time = |w: &String| TIME.contains(&w.as_str());
    match words.iter().any(time) {
        true if words.iter().all(|w| time(w) || UNITS.contains(&w.as_str())) => 2,
        true => 1,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Float64Array, Int64Array, TimestampMillisecondArray};

    use super::*;

    fn whole(numbers: &[i64]) -> ArrayRef {
        Arc::new(Int64Array::from(numbers.to_vec()))
    }

    #[test]
    fn the_unit_is_that_of_the_median() {
        for (stamp, unit) in
            [(1_795_976_934, 1_000_000_000), (1_795_976_934_876, 1_000_000), (1_795_976_934_876_000, 1_000), (1_795_976_934_876_000_123, 1)]
        {
            let column = whole(&[0, stamp, stamp + 1]);
            assert_eq!(Stamp::of("t", &column, None), Some(Stamp { unit, from: From::Epoch }), "{stamp}");
        }
        assert_eq!(Stamp::of("t", &whole(&[1_795_976_934]), Some(1_795_976_934_876.0)), None, "two units in one file");
        assert_eq!(Stamp::of("t", &whole(&[5, 6, 7]), None), None, "whole numbers near zero without a unit");
        assert_eq!(Stamp::of("elapsed_ms", &whole(&[5, 6]), None), Some(Stamp { unit: 1_000_000, from: From::Start }));
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.0, 1.5, 245.0]));
        assert_eq!(Stamp::of("elapsed_s", &floats, None), Some(Stamp { unit: 1_000_000_000, from: From::Start }));
        let stamps = TimestampMillisecondArray::from(vec![1_795_976_934_876]);
        assert_eq!(Stamp::of("x", &(Arc::new(stamps.clone()) as ArrayRef), None).map(|s| s.from), Some(From::AssumedUtc));
        assert_eq!(Stamp::of("x", &(Arc::new(stamps.with_timezone_utc()) as ArrayRef), None).map(|s| s.from), Some(From::Epoch));
    }

    #[test]
    fn names_that_say_time() {
        assert_eq!(["timestamp", "ts_ms", "elapsed_s", "time_since_start", "timestamp_ns"].map(said), [2; 5]);
        assert_eq!(["process_start_time_seconds", "scrapeTime", "value", "rate"].map(said), [1, 1, 0, 0]);
    }
}
