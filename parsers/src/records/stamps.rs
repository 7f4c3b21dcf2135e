//! Which key of a JSON record is its stamp, and how wide the number or text under it is.

use crate::stamp::{self, RawStamp, SECOND, Zone};

/// Keys that name the time of the record itself, the best first: its writing, then its beginning. A key that is not here is never a stamp.
const NAMES: &[&str] = &[
    "time",
    "timestamp",
    "ts",
    "timestamp_ns",
    "timestamp_us",
    "timestamp_ms",
    "t",
    "t_ns",
    "t_unix",
    "time_unix_nano",
    "time_unix_ms",
    "event_time",
    "event_time_unix_ms",
    "datetime",
    "asctime",
    "start_ns",
    "start_unix",
    "start_time",
    "start_time_unix_nano",
    "started_at",
    "t_start",
    "request_start_ns",
    "created_at",
    "created",
];

/// How good a stamp the value of this key is, 0 the best; `None` for keys that name none.
pub fn rank(name: &str) -> Option<usize> {
    NAMES.iter().position(|n| *n == name)
}

/// Does the key say when a call began?
pub fn is_start(name: &str) -> bool {
    matches!(name, "start_ns" | "start_unix" | "start_time" | "started_at" | "t_start" | "request_start_ns")
}

/// Does the key say when a call ended?
pub fn is_end(name: &str) -> bool {
    matches!(name, "end_ns" | "end_unix" | "end_time" | "ended_at" | "t_end" | "request_end_ns")
}

/// A date with time, or an epoch number whose size says its unit; a number in quotes too. `at`: where the value stands in the payload.
///
/// Numbers that are no epoch between 2001 and 2286 (a duration, milliseconds since a start) give `None`.
pub fn read(value: &[u8], at: usize) -> Option<RawStamp> {
    let (inner, at) = match value.strip_prefix(b"\"") {
        Some(rest) => (rest.strip_suffix(b"\"")?, at + 1),
        None => (value, at),
    };
    let mut stamp = match stamp::read_iso(inner) {
        Some(stamp) if stamp.len as usize == inner.len() => stamp,
        Some(_) => return None,
        None => epoch(inner)?,
    };
    stamp.at = u32::try_from(at).ok()?;
    stamp.len = u32::try_from(inner.len()).ok()?;
    Some(stamp)
}

/// Seconds with or without a fraction, or whole milli-, micro- or nanoseconds.
fn epoch(text: &[u8]) -> Option<RawStamp> {
    let dot = memchr::memchr(b'.', text);
    let whole = &text[..dot.unwrap_or(text.len())];
    if !whole.iter().all(u8::is_ascii_digit) || whole.first() == Some(&b'0') {
        return None;
    }
    // The number of digits is the magnitude: 10 digits are seconds from 2001 to 2286.
    let unit = match whole.len() {
        10 => SECOND,
        13 => 1_000_000,
        16 => 1_000,
        19 => 1,
        _ => return None,
    };
    let mut ns = std::str::from_utf8(whole).ok()?.parse::<i64>().ok()?.checked_mul(unit)?;
    let mut width = unit;
    if let Some(dot) = dot {
        let digits = &text[dot + 1..];
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        // A double of this size resolves 0.24 µs, so what stands behind the microseconds is the printing, not the clock.
        for digit in digits {
            if width <= 1_000 {
                break;
            }
            width /= 10;
            ns = ns.checked_add(i64::from(digit - b'0') * width)?;
        }
    }
    Some(RawStamp { ns, width, zone: Zone::Utc, at: 0, len: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_number_says_its_unit() {
        let ns = 1_795_978_475_973_389_046;
        for (text, start, width) in [
            ("1795978475", 1_795_978_475 * SECOND, SECOND),
            ("1795978475.25", 1_795_978_475_250_000_000, 10_000_000),
            ("1795978475.9733893", 1_795_978_475_973_389_000, 1_000),
            ("1795978475973", 1_795_978_475_973_000_000, 1_000_000),
            ("1795978475973389", 1_795_978_475_973_389_000, 1_000),
            ("1795978475973389046", ns, 1),
            ("\"1795978475973389046\"", ns, 1),
        ] {
            let stamp = read(text.as_bytes(), 7).unwrap();
            assert_eq!((stamp.ns, stamp.width, stamp.zone), (start, width, Zone::Utc), "{text}");
            assert_eq!((stamp.at, stamp.len as usize), if text.starts_with('"') { (8, 19) } else { (7, text.len()) });
        }
        for none in
            ["6401", "0.0174", "-1795978475", "1e9", "1795978475.", "1795978475.1x", "17959784750", "9999999999999999999", "\"x\"", "\""]
        {
            assert_eq!(read(none.as_bytes(), 0), None, "{none}");
        }
    }

    #[test]
    fn dates_are_whole_values() {
        let stamp = read(b"\"2026-11-29T18:55:35.677969+00:00\"", 0).unwrap();
        assert_eq!((stamp.width, stamp.zone, stamp.at, stamp.len), (1_000, Zone::Offset(0), 1, 32));
        assert_eq!(read(b"\"2026-11-29 18:50:42\"", 0).unwrap().zone, Zone::Naive);
        assert_eq!(read(b"\"2026-11-29 18:50:42 it began\"", 0), None);
    }
}
