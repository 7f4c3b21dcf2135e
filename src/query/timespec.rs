//! Which instant does `--since` or `--until` mean?
//!
//! | written | means |
//! |---|---|
//! | `2026-11-29T12:02:07.5Z`, `…+08:00`, `… UTC` | that instant |
//! | `2026-11-29`, `2026-11-29 12:02[:07[.5]]` | that civil time in the zone of the context |
//! | `12:02[:07[.5]]` | that time on the run's first day; on the next day if it lies before the run there and in the run here |
//! | `@1764417727[.5]` | seconds since the Unix epoch |
//! | `start+90s`, `end-5m`, `now-1h`, `-5m` | from the run's first or last stamp, or from now |
//! | `E3`, `ready-30s`, `EVENT±2s` | from an event that the caller knows; `±` (or `+-`) goes back for `--since` and on for `--until` |
//!
//! A window is half-open: `--until` itself is left out.

use std::collections::BTreeMap;

use corr_parsers::clock::Rule;
use corr_parsers::stamp::{self, SECOND, Stamp, Zone};

/// Why a time cannot be read or resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {reason}")]
pub struct TimeError {
    /// As typed.
    pub text: String,
    /// With what to write instead.
    pub reason: String,
}

/// A time as written. All numbers are nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSpec {
    /// As typed, for errors and for printing back.
    pub text: String,
    pub base: Base,
    pub offset: Offset,
}

/// What a time counts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A UTC instant.
    Instant(i64),
    /// A civil time, read as if it were UTC.
    Civil(i64),
    /// Since midnight of the run's day.
    TimeOfDay(i64),
    Now,
    RunStart,
    RunEnd,
    /// An event that the caller knows by this name.
    Anchor(String),
}

/// What is added to the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    By(i64),
    /// Back for the window's start, on for its end.
    Around(i64),
}

/// Which end of a window a time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Since,
    Until,
}

/// What relative times are relative to.
#[derive(Clone, Debug)]
pub struct Context {
    /// First stamp of the run, UTC nanoseconds.
    pub run_start: Option<i64>,
    /// End of the last stamp of the run.
    pub run_end: Option<i64>,
    pub now: i64,
    /// Zone of civil times.
    pub zone: Rule,
    /// Events by name.
    pub anchors: BTreeMap<String, Stamp>,
}

/// A half-open range of UTC nanoseconds; `None` is without an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub since: Option<i64>,
    pub until: Option<i64>,
}

/// How a stamp lies to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    Inside,
    Outside,
    /// The stamp is wider than what would tell.
    Unknown,
}

impl Window {
    /// Where a stamp lies.
    pub fn place(&self, stamp: Stamp) -> Lies {
        let (since, until) = (self.since.unwrap_or(i64::MIN), self.until.unwrap_or(i64::MAX));
        if stamp.end <= since || stamp.start >= until {
            return Lies::Outside;
        }
        if stamp.start >= since && stamp.end <= until { Lies::Inside } else { Lies::Unknown }
    }
}

/// Resolves both ends; fails if nothing can lie between them.
pub fn window(since: Option<&TimeSpec>, until: Option<&TimeSpec>, context: &Context) -> Result<Window, TimeError> {
    let start = since.map(|spec| resolve(spec, Side::Since, context)).transpose()?;
    let end = until.map(|spec| resolve(spec, Side::Until, context)).transpose()?;
    if let (Some(from), Some(to), Some(spec)) = (start, end, until)
        && from >= to
    {
        let show = |ns| chrono::DateTime::from_timestamp_nanos(ns).to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
        let reason = format!("the window is empty: it would end at {} and start at {}", show(to), show(from));
        return Err(TimeError { text: spec.text.clone(), reason });
    }
    Ok(Window { since: start, until: end })
}

/// The UTC nanosecond that a time means.
pub fn resolve(spec: &TimeSpec, side: Side, context: &Context) -> Result<i64, TimeError> {
    let error = |reason: String| TimeError { text: spec.text.clone(), reason };
    let no_run = || error("no source of the run has a stamp to count from; give a full date and time".into());
    let base = match &spec.base {
        Base::Instant(ns) => *ns,
        Base::Civil(ns) => civil(*ns, side, context.zone).map_err(error)?,
        Base::TimeOfDay(ns) => time_of_day(*ns, side, context).ok_or_else(no_run)?.map_err(error)?,
        Base::Now => context.now,
        Base::RunStart => context.run_start.ok_or_else(no_run)?,
        Base::RunEnd => context.run_end.ok_or_else(no_run)?,
        Base::Anchor(name) => {
            let Some(stamp) = context.anchors.get(name) else {
                let known: Vec<&str> = context.anchors.keys().map(String::as_str).take(8).collect();
                let known = if known.is_empty() { String::new() } else { format!("; known are {}", known.join(", ")) };
                return Err(error(format!("no event is called `{name}`; times count from start, end, now or a known event{known}")));
            };
            if side == Side::Since { stamp.start } else { stamp.end }
        }
    };
    let by = match (spec.offset, side) {
        (Offset::By(ns), _) | (Offset::Around(ns), Side::Until) => ns,
        (Offset::Around(ns), Side::Since) => -ns,
    };
    base.checked_add(by).ok_or_else(|| error("the time is out of range".into()))
}

/// A civil time in a zone. Of an hour that comes twice, a window's start is in the first and its end in the second.
fn civil(ns: i64, side: Side, zone: Rule) -> Result<i64, String> {
    match zone {
        Rule::Fixed(east) => ns.checked_sub(i64::from(east) * SECOND).ok_or_else(|| "the time is out of range".to_string()),
        Rule::Named(named) => match named.readings(ns) {
            Some((first, second)) => Ok(if side == Side::Since { first } else { second.unwrap_or(first) }),
            None => Err(format!("clocks in {named} skip this time; give it with an offset, such as `+00:00`")),
        },
    }
}

/// `None` if the run has no stamps.
fn time_of_day(ns: i64, side: Side, context: &Context) -> Option<Result<i64, String>> {
    const DAY: i64 = 86_400 * SECOND;
    let start = context.run_start?;
    let local = match context.zone {
        Rule::Fixed(east) => start.checked_add(i64::from(east) * SECOND)?,
        Rule::Named(zone) => start.checked_add(i64::from(zone.east(start)) * SECOND)?,
    };
    let midnight = local.div_euclid(DAY).checked_mul(DAY)?;
    let first = civil(midnight.checked_add(ns)?, side, context.zone);
    let next = civil(midnight.checked_add(DAY)?.checked_add(ns)?, side, context.zone);
    match (&first, &next, context.run_end) {
        (Ok(here), Ok(there), Some(end)) if *here < start && *there <= end => Some(next),
        _ => Some(first),
    }
}

/// Reads a time as users write it.
pub fn parse(text: &str) -> Result<TimeSpec, TimeError> {
    let trimmed = text.trim();
    let error = |reason: &str| TimeError { text: text.to_string(), reason: reason.to_string() };
    let make = |base, offset| Ok(TimeSpec { text: text.to_string(), base, offset });
    let first = match trimmed.chars().next() {
        None => return Err(error("a time is expected, such as `12:02`, `start+90s` or `2026-11-29T12:02:07Z`")),
        Some(c) => c,
    };
    if first == '@' {
        let ns = epoch(&trimmed[1..])
            .ok_or_else(|| error("seconds since the epoch are expected after `@`; milliseconds go behind a point: `@1764417727.123`"))?;
        return make(Base::Instant(ns), Offset::By(0));
    }
    if first.is_ascii_digit() {
        let base = date_or_time(trimmed).ok_or_else(|| {
            let hint =
                if parse_duration(trimmed).is_some() { "; a duration needs a start: `start+90s`, `end-5m`, `-5m` before now" } else { "" };
            error(&format!("not a date or time; write `2026-11-29 12:02:07`, `12:02`, or RFC 3339{hint}"))
        })?;
        return make(base, Offset::By(0));
    }
    let end = trimmed.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '#'))).unwrap_or(trimmed.len());
    let (name, rest) = trimmed.split_at(end);
    let base = match name {
        "" | "now" => Base::Now,
        "start" => Base::RunStart,
        "end" => Base::RunEnd,
        name => Base::Anchor(name.to_string()),
    };
    if rest.is_empty() {
        return make(base, Offset::By(0));
    }
    let around = rest.strip_prefix('±').or_else(|| rest.strip_prefix("+-"));
    let (duration, sign) = match (around, rest.strip_prefix('+'), rest.strip_prefix(['-', '−'])) {
        (Some(rest), _, _) => (rest, 0),
        (_, Some(rest), _) => (rest, 1),
        (_, _, Some(rest)) => (rest, -1),
        _ => return Err(error("after the name `+`, `-` or `±` and a duration are expected: `start+90s`")),
    };
    let ns = parse_duration(duration)
        .ok_or_else(|| error("a duration is numbers with units d, h, m, s, ms, us, ns: `90s`, `1h30m`, `250ms`"))?;
    make(base, if sign == 0 { Offset::Around(ns) } else { Offset::By(sign * ns) })
}

/// Reads a duration such as `90s`, `1h30m`, `1.5s`, `250ms`: nanoseconds, never negative.
pub fn parse_duration(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut sum = 0i64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, after) = rest.split_at(digits);
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let scale = match unit {
            "d" => 86_400 * SECOND,
            "h" => 3_600 * SECOND,
            "m" | "min" => 60 * SECOND,
            "s" | "sec" => SECOND,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1_000,
            "ns" => 1,
            _ => return None,
        };
        sum = sum.checked_add(decimal(number, scale)?)?;
        rest = after;
    }
    Some(sum)
}

/// A decimal number times `scale`, exact but for what is less than one.
fn decimal(text: &str, scale: i64) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut value = whole.parse::<i64>().ok()?.checked_mul(scale)?;
    let mut weight = i128::from(scale);
    let mut part = 0i128;
    let mut below = 1i128;
    // Digits beyond the eighteenth are less than a nanosecond of any scale.
    for digit in fraction.bytes().take(18) {
        below *= 10;
        part = part * 10 + i128::from(digit - b'0');
    }
    weight *= part;
    value = value.checked_add(i64::try_from(weight / below).ok()?)?;
    Some(value)
}

/// `1764417727.5` as nanoseconds.
fn epoch(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(positive) => Some(-decimal(positive, SECOND)?),
        None => decimal(text, SECOND),
    }
}

/// A date, a date and time, or a time of day.
fn date_or_time(text: &str) -> Option<Base> {
    if !text.is_ascii() {
        return None;
    }
    if text.as_bytes().get(4) != Some(&b'-') {
        // A day that has every time, to share one reader.
        let (base, zoned) = full(&format!("1970-01-01 {text}"))?;
        return if zoned { None } else { Some(Base::TimeOfDay(base)) };
    }
    let text = if text.len() == 10 { format!("{text} 00:00") } else { text.to_string() };
    let (ns, zoned) = full(&text)?;
    Some(if zoned { Base::Instant(ns) } else { Base::Civil(ns) })
}

/// A date and time with optional seconds, fraction and zone: nanoseconds, and whether the text names the zone.
fn full(text: &str) -> Option<(i64, bool)> {
    let mut text = text.to_string();
    if text.as_bytes().get(10) == Some(&b't') {
        text.replace_range(10..11, "T");
    }
    if let Some(bare) = text.strip_suffix(" UTC").or_else(|| text.strip_suffix('z')) {
        text = format!("{bare}Z");
    }
    if text.len() >= 16 && text.as_bytes().get(16) != Some(&b':') {
        text.insert_str(16, ":00");
    }
    let read = stamp::read_iso(text.as_bytes())?;
    if usize::try_from(read.len).ok()? != text.len() {
        return None;
    }
    Some((read.ns, !matches!(read.zone, Zone::Naive)))
}

#[cfg(test)]
#[path = "timespec_tests.rs"]
mod tests;
