//! Times in Grafana's tables: milliseconds since the epoch, or formatted for the one who looked.

use chrono::{DateTime, NaiveDateTime};

use super::super::text::by_size;

/// How a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// A number, whose unit its size tells.
    Epoch,
    /// With a zone.
    Zoned,
    /// Without one: the zone was the browser's.
    Local,
}

/// Day before month is told by no one: such forms are not read.
const LOCAL: [&str; 5] = ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y/%m/%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"];

/// Nanoseconds since the epoch.
pub(super) fn time(cell: &str) -> Option<(i64, Written)> {
    let cell = cell.trim();
    if let Ok(number) = cell.parse::<i64>() {
        return by_size(number).map(|(ns, _)| (ns, Written::Epoch));
    }
    if let Ok(zoned) = DateTime::parse_from_rfc3339(cell) {
        return Some((zoned.timestamp_nanos_opt()?, Written::Zoned));
    }
    LOCAL.iter().find_map(|form| {
        let local = NaiveDateTime::parse_from_str(cell, form).ok()?;
        Some((local.and_utc().timestamp_nanos_opt()?, Written::Local))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_formatted_times_are_read() {
        assert_eq!(time("1795976934876"), Some((1_795_976_934_876_000_000, Written::Epoch)));
        assert_eq!(time("2026-11-29 18:48:54"), Some((1_795_978_134_000_000_000, Written::Local)));
        assert_eq!(time("2026-11-29 18:48:54.250"), Some((1_795_978_134_250_000_000, Written::Local)));
        assert_eq!(time("2026-11-29T19:48:54.250+01:00"), Some((1_795_978_134_250_000_000, Written::Zoned)));
        for bad in ["", "Time", "11/29/2026, 6:48:54 PM", "29.11.2026 18:48", "1e12"] {
            assert_eq!(time(bad), None, "{bad}");
        }
    }
}
