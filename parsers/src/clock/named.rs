//! Zones of the tz database, by name. The database is part of the program, so that a zone means the same on every machine.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Timestamp, tz};

use crate::stamp::SECOND;

/// A zone of the tz database.
#[derive(Clone, Copy)]
pub struct NamedZone(&'static Held);

struct Held {
    name: String,
    rules: TimeZone,
}

/// The zones that were asked for, once each; they stay until the program ends.
static HELD: RwLock<Vec<&'static Held>> = RwLock::new(Vec::new());

impl NamedZone {
    /// The zone of a name, whatever its case; `None` if the database has none.
    pub fn get(name: &str) -> Option<NamedZone> {
        let known = |held: &[&'static Held]| held.iter().find(|h| h.name.eq_ignore_ascii_case(name)).map(|h| NamedZone(h));
        if let Some(zone) = known(&HELD.read().unwrap_or_else(PoisonError::into_inner)) {
            return Some(zone);
        }
        let rules = tz::db().get(name).ok()?;
        if rules.is_unknown() {
            return None;
        }
        let name = rules.iana_name()?.to_string();
        let mut held = HELD.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(zone) = held.iter().find(|h| h.name == name) {
            return Some(NamedZone(zone));
        }
        let zone: &'static Held = Box::leak(Box::new(Held { name, rules }));
        held.push(zone);
        Some(NamedZone(zone))
    }

    /// Its name in the database: `America/Los_Angeles`.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// Seconds east of UTC at a UTC nanosecond.
    pub fn east(self, utc: i64) -> i32 {
        self.0.rules.to_offset(timestamp(utc)).seconds()
    }

    /// Does the zone call itself so (`PST`) at a UTC nanosecond?
    pub fn is_called(self, utc: i64, abbreviation: &str) -> bool {
        self.0.rules.to_offset_info(timestamp(utc)).abbreviation() == abbreviation
    }

    /// The UTC nanoseconds of a civil time (ns, read as UTC), the earlier first: two where the local time occurs twice, none where it is skipped.
    pub fn readings(self, civil: i64) -> Option<(i64, Option<i64>)> {
        let local: DateTime = Offset::UTC.to_datetime(timestamp(civil));
        let utc = |offset: Offset| civil.checked_sub(i64::from(offset.seconds()) * SECOND);
        match self.0.rules.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => Some((utc(offset)?, None)),
            AmbiguousOffset::Fold { before, after } => Some((utc(before)?, Some(utc(after)?))),
            AmbiguousOffset::Gap { .. } => None,
        }
    }
}

fn timestamp(ns: i64) -> Timestamp {
    // All of i64 is in its range.
    Timestamp::from_nanosecond(i128::from(ns)).unwrap_or_default()
}

/// Names of all zones of the database.
pub fn names() -> Vec<String> {
    tz::db().available().map(|name| name.as_str().to_string()).collect()
}

impl PartialEq for NamedZone {
    fn eq(&self, other: &NamedZone) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for NamedZone {}

impl fmt::Debug for NamedZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for NamedZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_those_of_the_database() {
        let zone = NamedZone::get("america/los_angeles").unwrap();
        assert_eq!((zone.name(), zone), ("America/Los_Angeles", NamedZone::get("America/Los_Angeles").unwrap()));
        assert_ne!(zone, NamedZone::get("America/New_York").unwrap());
        // 2026-07-01 and 2026-01-01, 00:00 UTC.
        assert_eq!((zone.east(1_782_864_000 * SECOND), zone.east(1_767_225_600 * SECOND)), (-7 * 3600, -8 * 3600));
        assert!(zone.is_called(1_782_864_000 * SECOND, "PDT") && !zone.is_called(1_782_864_000 * SECOND, "PST"));
        for none in ["", "America", "Etc/Unknown", "local", "EST6PDT,M3.2.0,M11.1.0", "../../etc/passwd"] {
            assert_eq!(NamedZone::get(none), None, "{none}");
        }
        assert!(names().len() > 400 && names().iter().any(|name| name == "Asia/Shanghai"));
        // Of the first stamp that there can be, the zone has its mean time; of the last one the time would be out of range.
        assert_eq!(zone.readings(i64::MIN), Some((i64::MIN + (7 * 3600 + 52 * 60 + 58) * SECOND, None)));
        assert!(zone.readings(i64::MAX).is_none());
    }
}
