//! What stamps without a zone, or without a year, mean while they are written.

use std::path::Path;

use corr_parsers::clock::{Rule, read_rule, year};
use corr_parsers::stamp::{RawStamp, SECOND, Stamp, Zone, days};

/// The machine's zone: `TZ`, else the name behind `/etc/localtime`; UTC where there is neither, as libc has it.
pub fn of_machine() -> Rule {
    let said = std::env::var("TZ").ok().and_then(|zone| read_rule(zone.trim_start_matches(':')));
    let link = || {
        let path = std::fs::canonicalize("/etc/localtime").ok()?;
        named(&path)
    };
    said.or_else(link).unwrap_or(Rule::Fixed(0))
}

/// `/usr/share/zoneinfo/America/New_York`, also below `posix/`.
fn named(path: &Path) -> Option<Rule> {
    let path = path.to_str()?;
    let name = path.split("zoneinfo/").nth(1)?;
    read_rule(name.trim_start_matches("posix/").trim_start_matches("right/"))
}

/// A stamp without a year, in the year that is nearest to its receipt.
pub fn with_year(raw: RawStamp, received: i64) -> Option<RawStamp> {
    if raw.zone != Zone::Yearless {
        return Some(raw);
    }
    let day = 86_400 * SECOND;
    let in_day = raw.ns.rem_euclid(day);
    let number = raw.ns.div_euclid(day);
    let month = (1..=12).rev().find(|month| days(1972, *month, 1).is_some_and(|first| first <= number))?;
    let of_month = u32::try_from(number - days(1972, month, 1)? + 1).ok()?;
    let now = year(received);
    let dated = |year: i32| Some(days(year, month, of_month)?.checked_mul(day)?.saturating_add(in_day));
    let ns = [now - 1, now, now + 1].into_iter().filter_map(dated).min_by_key(|ns| ns.abs_diff(received))?;
    Some(RawStamp { ns, zone: Zone::Naive, ..raw })
}

/// All offsets are multiples of a quarter of an hour.
const QUARTER: i64 = 900 * SECOND;

/// By how much a stamp of a line that was just written is off: whole quarters of an hour, if it is not now and would be with them. A line
/// may be older than its receipt (a buffer), never younger.
pub fn shift(stamp: Stamp, received: i64) -> Option<i64> {
    let late = received.saturating_sub(stamp.start);
    let quarters = late.saturating_add(2 * SECOND).div_euclid(QUARTER);
    let by = quarters.checked_mul(QUARTER)?;
    let fits = late.saturating_sub(by) <= 10 * SECOND;
    let is_a_zone = by != 0 && by.abs() <= 26 * 3600 * SECOND;
    (fits && is_a_zone).then_some(by)
}

/// What the user is told.
pub fn note(by: i64) -> String {
    let minutes = by.abs() / (60 * SECOND);
    let way = if by > 0 { "later" } else { "earlier" };
    format!("its stamps are of another zone than was assumed: they are read as {}:{:02} h {way}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_has_the_name_of_its_file() {
        assert_eq!(named(Path::new("/usr/share/zoneinfo/America/New_York")), read_rule("America/New_York"));
        assert_eq!(named(Path::new("/usr/share/zoneinfo/posix/Europe/Rome")), read_rule("Europe/Rome"));
        assert_eq!(named(Path::new("/etc/localtime")), None);
    }

    #[test]
    fn a_stamp_without_a_year_is_of_the_nearest() {
        // 31 December 23:59:59, received on 1 January 2027 at 00:00:01.
        let raw =
            RawStamp { ns: (days(1972, 12, 31).unwrap() * 86_400 + 86_399) * SECOND, width: SECOND, zone: Zone::Yearless, at: 0, len: 15 };
        let received = (days(2027, 1, 1).unwrap() * 86_400 + 1) * SECOND;
        let dated = with_year(raw, received).unwrap();
        assert_eq!((dated.ns, dated.zone), (received - 2 * SECOND, Zone::Naive));
        let leap = RawStamp { ns: days(1972, 2, 29).unwrap() * 86_400 * SECOND, ..raw };
        assert_eq!(with_year(leap, received - 100 * 86_400 * SECOND), None, "no year around 2026 has it");
    }

    #[test]
    fn a_line_that_was_just_written_tells_its_zone() {
        let at = |ns: i64| Stamp::new(ns * SECOND, SECOND);
        let now = 1_781_100_000;
        assert_eq!(shift(at(now), now * SECOND), None);
        assert_eq!(shift(at(now - 5), now * SECOND), None);
        assert_eq!(shift(at(now - 4 * 3600 - 1), now * SECOND), Some(4 * 3600 * SECOND), "written in New York, read as UTC");
        assert_eq!(shift(at(now + 19_800), now * SECOND), Some(-19_800 * SECOND), "India");
        assert_eq!(shift(at(now - 600), now * SECOND), None, "ten minutes in a buffer are no zone");
    }
}
