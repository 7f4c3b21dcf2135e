//! What a source's stamps mean, and how that was found; raw stamps into UTC intervals.

use chrono::{LocalResult, NaiveDate, TimeZone};

use crate::stamp::{RawStamp, SECOND, Stamp, Zone};

/// The rule that turns a source's civil time into UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Seconds east of UTC, the same all year.
    Fixed(i32),
    /// A zone of the tz database.
    Named(chrono_tz::Tz),
}

/// How a clock's rule was found, best first (DESIGN.md section 4).
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

/// Applies a clock to a source's stamps in source order.
#[derive(Clone, Debug)]
pub struct Aligner {
    rule: Rule,
    /// Start of the stamp before, to choose a reading in a DST fold.
    last: Option<i64>,
}

impl Aligner {
    /// For stamps of one source, read in source order.
    pub fn new(clock: &Clock) -> Aligner {
        Aligner { rule: clock.rule, last: None }
    }

    /// The UTC interval of a raw stamp; `None` where the text cannot give one (monotonic, year unknown).
    pub fn stamp(&mut self, raw: &RawStamp) -> Option<Stamp> {
        let stamp = match raw.zone {
            Zone::Utc | Zone::Offset(_) => Stamp::new(raw.ns, raw.width),
            Zone::Naive => self.civil(raw.ns, raw.width)?,
            Zone::Abbreviation(_) | Zone::Yearless | Zone::Monotonic => return None,
        };
        self.last = Some(stamp.start);
        Some(stamp)
    }

    fn civil(&self, ns: i64, width: i64) -> Option<Stamp> {
        let zone = match self.rule {
            Rule::Fixed(east) => return Some(Stamp::new(ns - i64::from(east) * SECOND, width)),
            Rule::Named(zone) => zone,
        };
        let civil = chrono::DateTime::from_timestamp_nanos(ns).naive_utc();
        match zone.from_local_datetime(&civil) {
            LocalResult::Single(t) => Some(Stamp::new(t.timestamp_nanos_opt()?, width)),
            LocalResult::Ambiguous(a, b) => {
                let (a, b) = (a.timestamp_nanos_opt()?, b.timestamp_nanos_opt()?);
                let first = self.last.is_none_or(|last| a + width > last);
                Some(Stamp::new(if first { a } else { b }, width))
            }
            LocalResult::None => None,
        }
    }
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
    text.parse().ok().map(Rule::Named)
}

/// The year of a UTC nanosecond.
pub fn year(ns: i64) -> i32 {
    use chrono::Datelike;
    chrono::DateTime::from_timestamp_nanos(ns).date_naive().max(NaiveDate::MIN).year()
}
