//! Stamps in the names of files.

use chrono::{NaiveDate, NaiveTime};

use crate::model::SECOND;

/// A stamp found in a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stamped {
    /// Nanoseconds since the epoch.
    pub at: i64,
    /// It says its zone; an epoch is UTC.
    pub zoned: bool,
    /// The name without it.
    pub rest: String,
}

/// Finds the last stamp in a name without its extensions: seconds, milliseconds, microseconds or nanoseconds since the epoch, by their number
/// of digits (10, 13, 16, 19, of the years 2001 to 2100; seconds may have a fraction), or a calendar time (`20261129T184327Z`,
/// `2026-11-29_18-43-27.5+08:00`).
pub(super) fn find(name: &str) -> Option<Stamped> {
    let bytes = name.as_bytes();
    let mut found = None;
    let mut at = 0;
    while at < bytes.len() {
        let starts =
            bytes.get(at).is_some_and(u8::is_ascii_digit) && !at.checked_sub(1).and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
        let text = name.get(at..).unwrap_or_default();
        match if starts { calendar(text).or_else(|| epoch(text)) } else { None } {
            Some((ns, zoned, len)) => {
                let mut rest = name.get(..at).unwrap_or_default().trim_end_matches(SEPARATORS).to_string();
                let after = name.get(at + len..).unwrap_or_default().trim_start_matches(SEPARATORS);
                if !rest.is_empty() && !after.is_empty() {
                    rest.push('_');
                }
                rest.push_str(after);
                found = Some(Stamped { at: ns, zoned, rest });
                at += len.max(1);
            }
            None => at += 1,
        }
    }
    found
}

/// What stands between the parts of a name.
pub(super) const SEPARATORS: [char; 5] = ['_', '-', '.', ' ', '@'];

/// The epoch in a text's first digits, and how long they are.
fn epoch(text: &str) -> Option<(i64, bool, usize)> {
    let len = digits(text);
    let unit = match len {
        10 => SECOND,
        13 => SECOND / 1_000,
        16 => SECOND / 1_000_000,
        19 => 1,
        _ => return None,
    };
    let number: i64 = text.get(..len)?.parse().ok()?;
    let ns = number.checked_mul(unit)?;
    if !(1_000_000_000..4_102_444_800).contains(&(ns / SECOND)) {
        return None;
    }
    let fraction = text.get(len..).and_then(|rest| rest.strip_prefix('.')).filter(|_| unit == SECOND);
    match fraction.map(|f| (f, digits(f))) {
        Some((f, n @ 1..=9)) => Some((ns.checked_add(nanoseconds(f.get(..n)?)?)?, true, len + 1 + n)),
        _ => Some((ns, true, len)),
    }
}

/// A date and a time at the start of a text.
fn calendar(text: &str) -> Option<(i64, bool, usize)> {
    let mut at = 0;
    let year: i32 = take(text, &mut at, 4)?.parse().ok()?;
    let dashed = skip(text, &mut at, &["-", "_", "."]);
    let month = take(text, &mut at, 2)?.parse().ok()?;
    if dashed && !skip(text, &mut at, &["-", "_", "."]) {
        return None;
    }
    let day = take(text, &mut at, 2)?.parse().ok()?;
    let apart = skip(text, &mut at, &["T", "t", "_", "-", " "]);
    if dashed && !apart {
        return None;
    }
    let hour = take(text, &mut at, 2)?.parse().ok()?;
    let coloned = skip(text, &mut at, &[":", "-", "_", "."]);
    let minute = take(text, &mut at, 2)?.parse().ok()?;
    if coloned && !skip(text, &mut at, &[":", "-", "_", "."]) {
        return None;
    }
    let second = take(text, &mut at, 2)?.parse().ok()?;
    if text.as_bytes().get(at).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let mut fraction = 0;
    if let Some(f) = text.get(at..)?.strip_prefix(['.', ',']) {
        let n = digits(f);
        if (1..=9).contains(&n) {
            fraction = nanoseconds(f.get(..n)?)?;
            at += 1 + n;
        }
    }
    let naive = NaiveDate::from_ymd_opt(year, month, day)?.and_time(NaiveTime::from_hms_opt(hour, minute, second)?);
    let (offset, zoned) = zone(text, &mut at);
    let ns = naive.and_utc().timestamp().checked_sub(offset)?.checked_mul(SECOND)?.checked_add(fraction)?;
    (1_000_000_000..4_102_444_800).contains(&(ns / SECOND)).then_some((ns, zoned, at))
}

/// `Z`, `+08:00`, `-0500`: seconds east of UTC, and whether there was one.
fn zone(text: &str, at: &mut usize) -> (i64, bool) {
    let rest = text.get(*at..).unwrap_or_default();
    let ends = |n: usize| !rest.as_bytes().get(n).is_some_and(u8::is_ascii_alphanumeric);
    if rest.starts_with(['Z', 'z']) && ends(1) {
        *at += 1;
        return (0, true);
    }
    let sign = match rest.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return (0, false),
    };
    let mut end = 1;
    let hours = take(rest, &mut end, 2).and_then(|h| h.parse::<i64>().ok());
    skip(rest, &mut end, &[":"]);
    let minutes = take(rest, &mut end, 2).and_then(|m| m.parse::<i64>().ok());
    match (hours, minutes) {
        (Some(h @ 0..=14), Some(m @ 0..=59)) if ends(end) => {
            *at += end;
            (sign * (h * 3600 + m * 60), true)
        }
        _ => (0, false),
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn take<'a>(text: &'a str, at: &mut usize, n: usize) -> Option<&'a str> {
    let taken = text.get(*at..*at + n)?;
    if !taken.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    *at += n;
    Some(taken)
}

fn skip(text: &str, at: &mut usize, any: &[&str]) -> bool {
    let found = any.iter().find(|s| text.get(*at..).is_some_and(|rest| rest.starts_with(**s)));
    *at += found.map_or(0, |s| s.len());
    found.is_some()
}

/// Up to nine digits behind the point.
fn nanoseconds(digits: &str) -> Option<i64> {
    let number: i64 = digits.parse().ok()?;
    number.checked_mul(10i64.checked_pow(9u32.checked_sub(u32::try_from(digits.len()).ok()?)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_in_names() {
        // seconds by `date -u -d 2026-11-29T18:43:27Z +%s`
        const S: i64 = 1_795_977_807 * SECOND;
        for (name, at, zoned, rest) in [
            ("1795977807", S, true, ""),
            ("w1_1795977807123", S + 123_000_000, true, "w1"),
            ("1795977807123456-w1", S + 123_456_000, true, "w1"),
            ("a_1795977807123456789_b", S + 123_456_789, true, "a_b"),
            ("a.1795977807.25", S + 250_000_000, true, "a"),
            ("scrape-20261129T184327Z", S, true, "scrape"),
            ("20261129184327", S, false, ""),
            ("20261129_184327", S, false, ""),
            ("metrics-2026-11-29T18-43-27", S, false, "metrics"),
            ("metrics_2026-11-29_18:43:27.5Z", S + 500_000_000, true, "metrics"),
            ("m_2026-11-30T02:43:27+08:00", S, true, "m"),
            ("m_20261129T134327-0500_x", S, true, "m_x"),
            ("8000_1795977807", S, true, "8000"),
        ] {
            assert_eq!(find(name), Some(Stamped { at, zoned, rest: rest.into() }), "{name}");
        }
        for name in ["w1", "metrics-0.5.23", "12345", "20261329T184327Z", "99999999999", "2026-11-29", "9999999999999", ""] {
            assert_eq!(find(name), None, "{name}");
        }
    }
}
