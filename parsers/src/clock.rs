//! What a source's stamps mean, and how that was found; raw stamps into UTC intervals.

mod named;
#[cfg(test)]
mod tests;
mod turns;

pub use named::{NamedZone, names};
pub use turns::{TurnFinder, Turns};

use chrono::NaiveDate;

use crate::stamp::{RawStamp, SECOND, Stamp, Zone};

/// The rule that turns a source's civil time into UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Seconds east of UTC, the same all year.
    Fixed(i32),
    /// A zone of the tz database.
    Named(NamedZone),
}

/// How a clock's rule was found, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// `corr.toml` or `--tz`.
    Declared,
    /// Every stamp names its own zone or is an epoch number.
    Zoned,
    /// An envelope's zoned stamp against the inner naive one.
    Envelope,
    /// An epoch time in the same record, or an id that occurs in a second, zoned record.
    Id,
    /// A recorded `TZ` or zone name.
    Recorded,
    /// Nothing said otherwise.
    Assumed,
}

/// A source's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    pub rule: Rule,
    pub how: How,
    /// In words: what the rule was found from.
    pub evidence: String,
    /// Smallest and largest difference (other stamp minus this clock's, ns) over the pairs that were compared.
    pub residual: Option<(i64, i64)>,
    /// Pairs compared, and pairs that hold under the rule.
    pub pairs: (usize, usize),
    /// The year of the source's last entry, for stamps without one.
    pub last_year: Option<i32>,
}

impl Clock {
    /// UTC, because nothing said otherwise.
    pub fn assumed() -> Clock {
        Clock {
            rule: Rule::Fixed(0),
            how: How::Assumed,
            evidence: "nothing names a zone".into(),
            residual: None,
            pairs: (0, 0),
            last_year: None,
        }
    }
}

/// Applies a clock to a source's stamps.
///
/// Without [`Turns`] it must see the stamps in source order: in a DST fold it takes the first reading that does not go back. With
/// them ([`Aligner::with_turns`], [`Aligner::stamp_at`]) the answer depends on the entry's offset alone, so a reader that jumps into
/// the middle of a source gets the same stamps as one that reads it from the start.
#[derive(Clone, Debug)]
pub struct Aligner {
    rule: Rule,
    /// Nothing says that the rule is true: it is not used against a zone name in the text.
    assumed: bool,
    turns: Option<Turns>,
    /// Start of the stamp before, to choose a reading in a DST fold.
    last: Option<i64>,
}

/// A stamp that goes back by less than this is no sign of a DST fold. journald prints the source's own stamps in the order of receipt,
/// so they go back by up to 16 ms; a fold is seen as a step of up to an hour.
const JITTER: i64 = 10 * SECOND;

impl Aligner {
    /// For stamps of one source, read in source order. Stamps without a year have no answer: see [`Aligner::with_turns`].
    pub fn new(clock: &Clock) -> Aligner {
        Aligner { rule: clock.rule, assumed: clock.how == How::Assumed, turns: None, last: None }
    }

    /// For stamps at any offset of a source that a [`TurnFinder`] has been through.
    pub fn with_turns(clock: &Clock, turns: Turns) -> Aligner {
        Aligner { turns: Some(turns), ..Aligner::new(clock) }
    }

    /// The UTC interval of a raw stamp; `None` where the text cannot give one (monotonic, year unknown, a zone name that is not
    /// unique, a time that the zone skips).
    pub fn stamp(&mut self, raw: &RawStamp) -> Option<Stamp> {
        let ns = match raw.zone {
            Zone::Yearless => dated(raw.ns, self.turns.as_ref().and_then(Turns::only_year)?)?,
            _ => raw.ns,
        };
        let last = self.last;
        let stamp = match self.readings(raw, ns)? {
            (first, None) => first,
            (first, Some(second)) => {
                let back = last.is_some_and(|last| first.start + JITTER < last);
                if back { second } else { first }
            }
        };
        self.last = Some(stamp.start);
        Some(stamp)
    }

    /// The UTC interval of the stamp of the entry at `offset`, the same whatever was read before.
    pub fn stamp_at(&self, offset: u64, raw: &RawStamp) -> Option<Stamp> {
        self.stamp_and_other(offset, raw).map(|(stamp, _)| stamp)
    }

    /// As [`Aligner::stamp_at`], and the other reading where the local time occurs twice (DST fold).
    pub fn stamp_and_other(&self, offset: u64, raw: &RawStamp) -> Option<(Stamp, Option<Stamp>)> {
        let ns = match raw.zone {
            Zone::Yearless => dated(raw.ns, self.turns.as_ref()?.year(offset)?)?,
            _ => raw.ns,
        };
        match self.readings(raw, ns)? {
            (only, None) => Some((only, None)),
            (first, Some(second)) => {
                let turned = self.turns.as_ref().is_some_and(|turns| turns.folded(offset, ns));
                Some(if turned { (second, Some(first)) } else { (first, Some(second)) })
            }
        }
    }

    /// The stamp, and a second one where the civil time `ns` occurs twice.
    fn readings(&self, raw: &RawStamp, ns: i64) -> Option<(Stamp, Option<Stamp>)> {
        let (first, second) = match raw.zone {
            Zone::Utc | Zone::Offset(_) => (ns, None),
            Zone::Naive | Zone::Yearless => self.rule.readings(ns)?,
            Zone::Abbreviation(name) => (self.abbreviation(ns, &name)?, None),
            Zone::Monotonic => return None,
        };
        Some((Stamp::new(first, raw.width), second.map(|second| Stamp::new(second, raw.width))))
    }

    /// `PST` in the clock's zone; where the zone does not know the name, or is only assumed, the few names that mean one thing.
    fn abbreviation(&self, ns: i64, name: &[u8; 6]) -> Option<i64> {
        let name = std::str::from_utf8(name).ok()?.trim_end();
        match self.rule {
            Rule::Named(zone) => {
                let (first, second) = self.rule.readings(ns).unwrap_or((ns, None));
                for utc in [Some(first), second].into_iter().flatten() {
                    if zone.is_called(utc, name) {
                        return Some(utc);
                    }
                }
            }
            Rule::Fixed(east) if !self.assumed => return ns.checked_sub(i64::from(east) * SECOND),
            Rule::Fixed(_) => {}
        }
        ns.checked_sub(i64::from(unique_abbreviation(name)?) * SECOND)
    }
}

impl Rule {
    /// The UTC nanoseconds of a civil time, the earlier first; two where the local time occurs twice, none where it is skipped.
    pub fn readings(self, ns: i64) -> Option<(i64, Option<i64>)> {
        match self {
            Rule::Fixed(east) => Some((ns.checked_sub(i64::from(east) * SECOND)?, None)),
            Rule::Named(zone) => zone.readings(ns),
        }
    }
}

fn civil(ns: i64) -> chrono::NaiveDateTime {
    chrono::DateTime::from_timestamp_nanos(ns).naive_utc()
}

/// A civil time of 1972 in another year. `None` for 29 February of a year without one.
fn dated(ns: i64, year: i32) -> Option<i64> {
    use chrono::{Datelike, Timelike};
    let time = civil(ns);
    let days = crate::stamp::days(year, time.month(), time.day())?;
    let of_day = i64::from(time.num_seconds_from_midnight()) * SECOND + i64::from(time.nanosecond());
    days.checked_mul(86_400 * SECOND)?.checked_add(of_day)
}

/// Seconds east of UTC of the zone names that are used for one offset only. Not here because they are not: `IST`, `CST`, `BST`, `AST`.
fn unique_abbreviation(name: &str) -> Option<i32> {
    let hours = match name {
        "GMT" | "WET" => 0,
        "CET" | "WEST" => 1,
        "CEST" | "EET" => 2,
        "EEST" | "MSK" => 3,
        "JST" | "KST" => 9,
        "AEST" => 10,
        "AEDT" => 11,
        "NZST" => 12,
        "NZDT" => 13,
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" | "AKDT" => -8,
        "AKST" => -9,
        "HST" => -10,
        _ => return None,
    };
    Some(hours * 3600)
}

/// Reads a zone as users write it: `UTC`, `+08:00`, `-0500`, `America/Los_Angeles`.
pub fn read_rule(text: &str) -> Option<Rule> {
    if text == "UTC" || text == "Z" {
        return Some(Rule::Fixed(0));
    }
    if let (Zone::Offset(east), len) = crate::stamp::read_offset(text.as_bytes())
        && len == text.len()
    {
        return Some(Rule::Fixed(east));
    }
    NamedZone::get(text).map(Rule::Named)
}

/// The year of a UTC nanosecond.
pub fn year(ns: i64) -> i32 {
    use chrono::Datelike;
    chrono::DateTime::from_timestamp_nanos(ns).date_naive().max(NaiveDate::MIN).year()
}
