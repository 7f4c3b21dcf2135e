//! When something happened, how well that is known, and which bytes say so.

use corr_parsers::stamp::Stamp;
use serde::{Serialize, Serializer};

/// Where a fact stands. Opaque here: whoever feeds observations can turn it into a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cite {
    /// Number of the source, the caller's own.
    pub source: u32,
    /// Byte offset of the record in the source.
    pub offset: u64,
    /// Bytes of the record.
    pub len: u32,
}

/// A reading of the monotonic clock of one boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mono {
    /// Index in [`crate::History::boots`].
    pub boot: u32,
    /// Nanoseconds since that boot, to the microsecond.
    pub ns: i64,
    /// By how many nanoseconds earlier it may have been: a reading of when journald got it, not of when it was written.
    pub early: i64,
}

/// Journald's monotonic stamps are whole microseconds.
const MONO_WIDTH: i64 = 1_000;

/// One record, and when: the atom of every answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    pub cite: Cite,
    /// The UTC interval of its stamp; `None` where the rendering has no wall clock.
    #[serde(serialize_with = "stamp")]
    pub wall: Option<Stamp>,
    pub mono: Option<Mono>,
    /// Its boot, as an index in [`crate::History::boots`]; `None`: not said.
    pub boot: Option<u32>,
    /// How many records were fed before it: tells apart records of one stamp.
    pub order: u64,
}

fn stamp<S: Serializer>(stamp: &Option<Stamp>, to: S) -> Result<S::Ok, S::Error> {
    stamp.map(|s| [s.start, s.end]).serialize(to)
}

impl Mark {
    /// Nothing says when it was written.
    pub fn timeless(&self) -> bool {
        self.wall.is_none() && self.mono.is_none()
    }

    /// Did it happen before the other, as far as can be told: by the monotonic clock, else by stamps that do not overlap, else by order.
    pub fn before(&self, other: &Mark) -> bool {
        if let (Some(a), Some(b)) = (self.mono, other.mono)
            && a.boot == b.boot
            && a.ns != b.ns
        {
            return a.ns < b.ns;
        }
        if self.cite.source == other.cite.source {
            return self.order < other.order;
        }
        match (self.wall, other.wall) {
            (Some(a), Some(b)) if a.start != b.start => a.start < b.start,
            _ => self.order < other.order,
        }
    }
}

/// One instant of a life, as well as it is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "known")]
pub enum Instant {
    /// The record says it and was written then.
    Exact { mark: Mark },
    /// It had happened by then.
    AtMost { mark: Mark, why: &'static str },
    /// It had not happened before.
    AtLeast { mark: Mark, why: &'static str },
    /// Both.
    Within { after: Mark, before: Mark, why: &'static str },
    /// It did not happen, and the records are such that it would have been seen.
    Never { why: String },
    /// Nothing says.
    Unknown { why: String },
}

impl Instant {
    pub(crate) fn never(why: impl Into<String>) -> Instant {
        Instant::Never { why: why.into() }
    }

    pub(crate) fn unknown(why: impl Into<String>) -> Instant {
        Instant::Unknown { why: why.into() }
    }

    /// From what bounds it; `Unknown` with `why` for no bound.
    pub(crate) fn bounds(after: Option<Mark>, before: Option<Mark>, why: &'static str) -> Instant {
        match (after, before) {
            (Some(after), Some(before)) if after.before(&before) => Instant::Within { after, before, why },
            // A bound that its opposite contradicts is no bound: systemd stamps what it saw, not what the kernel did.
            (_, Some(mark)) => Instant::AtMost { mark, why },
            (Some(mark), None) => Instant::AtLeast { mark, why },
            (None, None) => Instant::unknown(why),
        }
    }

    /// The record before which it did not happen.
    pub fn lower(&self) -> Option<&Mark> {
        match self {
            Instant::Exact { mark } | Instant::AtLeast { mark, .. } | Instant::Within { after: mark, .. } => Some(mark),
            _ => None,
        }
    }

    /// The record by which it had happened.
    pub fn upper(&self) -> Option<&Mark> {
        match self {
            Instant::Exact { mark } | Instant::AtMost { mark, .. } | Instant::Within { before: mark, .. } => Some(mark),
            _ => None,
        }
    }

    /// Did it happen at all, by what is known?
    pub fn happened(&self) -> bool {
        matches!(self, Instant::Exact { .. } | Instant::AtMost { .. } | Instant::Within { .. })
    }

    /// Records that say so.
    pub fn cites(&self) -> Vec<Cite> {
        let mut cites: Vec<Cite> = self.lower().into_iter().chain(self.upper()).map(|mark| mark.cite).collect();
        cites.dedup();
        cites
    }
}

/// Which clock a length was measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// The boot's own clock, which nobody sets.
    Monotonic,
    /// The wall clock, of which no step was seen in between.
    Wall,
    /// The wall clock, over a reboot: there is no other.
    WallOverReboot,
}

/// How long something took: an interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Length {
    /// Nanoseconds at least; `None`: not known.
    pub least: Option<i64>,
    /// Nanoseconds at most; `None`: not known.
    pub most: Option<i64>,
    pub on: Measured,
    /// The records between which it was measured.
    pub cites: Vec<Cite>,
}

impl Length {
    /// Least and most are as near as two stamps allow.
    pub fn middle(&self) -> Option<i64> {
        let (least, most) = (self.least?, self.most?);
        Some(least.saturating_add(most.saturating_sub(least) / 2))
    }
}

/// Nanoseconds as seconds to the millisecond, rounded down: for a lower bound.
pub fn seconds_down(ns: i64) -> String {
    milliseconds(ns.div_euclid(1_000_000))
}

/// The same rounded up: for an upper bound.
pub fn seconds_up(ns: i64) -> String {
    let down = ns.div_euclid(1_000_000);
    milliseconds(if ns.rem_euclid(1_000_000) > 0 { down.saturating_add(1) } else { down })
}

fn milliseconds(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", ms.unsigned_abs() / 1_000, ms.unsigned_abs() % 1_000)
}

/// A length for people: `11.496 s`, `at least 8.100 s`, `3.000 to 4.000 s`. What is written holds what is known.
pub fn length_text(length: &Length) -> String {
    match (length.least, length.most) {
        // What two stamps of a microsecond leave open is not worth a word.
        (Some(least), Some(most)) if most.saturating_sub(least) <= 10_000 => {
            let middle = length.middle().unwrap_or(least);
            format!("{} s", milliseconds(middle.saturating_add(500_000).div_euclid(1_000_000)))
        }
        (Some(least), Some(most)) => format!("{} to {} s", seconds_down(least.max(0)), seconds_up(most)),
        (Some(least), None) => format!("at least {} s", seconds_down(least.max(0))),
        (None, Some(most)) => format!("at most {} s", seconds_up(most)),
        (None, None) => "unknown".into(),
    }
}

/// How far apart two records are, in nanoseconds: least and most.
fn apart(from: &Mark, to: &Mark) -> Option<(i64, i64, Measured)> {
    if let (Some(a), Some(b)) = (from.mono, to.mono)
        && a.boot == b.boot
    {
        let ns = b.ns.saturating_sub(a.ns);
        let least = ns.saturating_sub(b.early).saturating_sub(MONO_WIDTH);
        return Some((least, ns.saturating_add(a.early).saturating_add(MONO_WIDTH), Measured::Monotonic));
    }
    let over_reboot = from.boot.zip(to.boot).is_some_and(|(a, b)| a != b);
    let on = if over_reboot { Measured::WallOverReboot } else { Measured::Wall };
    let (a, b) = (from.wall?, to.wall?);
    Some((b.start.saturating_sub(a.end), b.end.saturating_sub(a.start), on))
}

/// From one instant to another. `stepped` says whether the wall clock was set between two records.
///
/// Fails with the reason where neither bound can be given.
pub fn length(from: &Instant, to: &Instant, stepped: &dyn Fn(&Mark, &Mark) -> bool) -> Result<Length, String> {
    for (name, instant) in [("begin", from), ("end", to)] {
        if let Instant::Never { why } | Instant::Unknown { why } = instant {
            return Err(format!("its {name} is not known: {why}"));
        }
    }
    let mut found = Length { least: None, most: None, on: Measured::Monotonic, cites: Vec::new() };
    let mut why = None;
    let mut take = |pair: Option<(&Mark, &Mark)>, least: bool| {
        let Some((a, b)) = pair else { return };
        let Some((low, high, on)) = apart(a, b) else {
            why = Some("its two records have no clock in common");
            return;
        };
        if on != Measured::Monotonic {
            if stepped(a, b) {
                why = Some("the wall clock was set in between, and no monotonic clock is at hand");
                return;
            }
            found.on = on;
        }
        found.cites.extend([a.cite, b.cite]);
        // What came later took no negative time, whatever the stamps' width leaves open.
        let low = if b.before(a) { low } else { low.max(0) };
        if least { found.least = Some(low) } else { found.most = Some(high) }
    };
    take(from.upper().zip(to.lower()), true);
    take(from.lower().zip(to.upper()), false);
    found.cites.sort_unstable();
    found.cites.dedup();
    if found.least.is_none() && found.most.is_none() {
        return Err(why.unwrap_or("its begin and end are bounded on one side only").into());
    }
    if found.least.zip(found.most).is_some_and(|(least, most)| least > most) {
        return Err("its bounds contradict each other: stamps do not go with the order of records".into());
    }
    Ok(found)
}
