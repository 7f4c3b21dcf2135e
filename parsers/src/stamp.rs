//! When something happened, and how well that is known.
//!
//! A stamp is never an instant: `[12:02:08]` in a log with one-second stamps is the half-open
//! interval `[12:02:08, 12:02:09)`. Two stamps are before, after, or of unknown order.

/// Nanoseconds in one second.
pub const SECOND: i64 = 1_000_000_000;

/// A half-open interval of UTC time, in nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// First nanosecond at which it can have happened.
    pub start: i64,
    /// First nanosecond at which it can no longer have happened; always greater than `start`.
    pub end: i64,
}

/// How two stamps lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first ended before the second began.
    Before,
    /// The first began after the second ended.
    After,
    /// They overlap: nothing here says which came first.
    Unknown,
}

impl Stamp {
    /// The interval `[start, start + width)`; a width below one nanosecond is one nanosecond.
    pub fn new(start: i64, width: i64) -> Stamp {
        Stamp { start, end: start.saturating_add(width.max(1)) }
    }

    /// The interval's width in nanoseconds.
    pub fn width(&self) -> i64 {
        self.end - self.start
    }

    /// Which of two stamps came first, if that can be said.
    pub fn order(&self, other: &Stamp) -> Order {
        if self.end <= other.start {
            return Order::Before;
        }
        if other.end <= self.start {
            return Order::After;
        }
        Order::Unknown
    }
}

/// What the digits of a stamp are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// The text names UTC or is an epoch number, or its format is UTC in every version: `RawStamp::ns` is the UTC instant.
    Utc,
    /// The text has a numeric offset, in seconds east of UTC: `RawStamp::ns` is the UTC instant already.
    Offset(i32),
    /// No zone in the text: `RawStamp::ns` is the civil time read as if it were UTC.
    Naive,
    /// A zone abbreviation such as `PST`, space padded; abbreviations are not unique.
    /// `RawStamp::ns` is the civil time read as if it were UTC.
    Abbreviation([u8; 6]),
    /// No year and no zone (`Dec 31 23:57:42`): `RawStamp::ns` is the civil time in the leap year 1972 read as UTC.
    Yearless,
    /// Since boot or process start: `RawStamp::ns` is that duration.
    Monotonic,
}

/// A stamp as the bytes say it, before any clock is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawStamp {
    /// Nanoseconds; what they count from is said by `zone`.
    pub ns: i64,
    /// Resolution of the text in nanoseconds: 1 s prints as `1_000_000_000`, milliseconds as `1_000_000`.
    pub width: i64,
    /// What `ns` is relative to.
    pub zone: Zone,
    /// Where the stamp's text begins in the payload (in the entry's own bytes for an envelope's stamp).
    pub at: u32,
    /// How many bytes of text the stamp is.
    pub len: u32,
}

impl RawStamp {
    /// The UTC interval if the text alone fixes it, without any clock.
    pub fn absolute(&self) -> Option<Stamp> {
        match self.zone {
            Zone::Utc | Zone::Offset(_) => Some(Stamp::new(self.ns, self.width)),
            Zone::Naive | Zone::Abbreviation(_) | Zone::Yearless | Zone::Monotonic => None,
        }
    }
}

/// Days since 1970-01-01 of a proleptic Gregorian date. `None` when month or day is out of range for that year.
pub fn days(year: i32, month: u32, day: u32) -> Option<i64> {
    if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
        return None;
    }
    // Howard Hinnant's civil-from-days algorithm, public domain.
    let y = year - i32::from(month <= 2);
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400) as u32;
    let doy = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    Some(i64::from(era) * 146_097 + i64::from(doe) - 719_468)
}

fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        _ if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        _ => 28,
    }
}

/// A number of two digits.
fn two(tens: u8, ones: u8) -> Option<u32> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    if tens > 9 || ones > 9 { None } else { Some(u32::from(tens * 10 + ones)) }
}

/// A number of decimal digits alone, without a sign: `None` for no digit, for any other byte, and for what an `i64` does not hold.
pub(crate) fn digits(bytes: &[u8]) -> Option<i64> {
    if bytes.is_empty() {
        return None;
    }
    let mut value = 0i64;
    for b in bytes {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(value)
}

/// The month, 1 to 12, of its English abbreviation: `Jan`, `Nov`.
pub(crate) fn month(name: &[u8]) -> Option<u32> {
    const NAMES: [&[u8; 3]; 12] = [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    NAMES.iter().zip(1..).find_map(|(known, number)| (name == &known[..]).then_some(number))
}

/// Seconds since midnight of `HH:MM:SS` at the start of `bytes`; 60 is taken as a leap second's clamp to 59.
pub fn clock_seconds(bytes: &[u8]) -> Option<i64> {
    let b: &[u8; 8] = bytes.first_chunk()?;
    if b[2] != b':' || b[5] != b':' {
        return None;
    }
    let (h, m, s) = (two(b[0], b[1])?, two(b[3], b[4])?, two(b[6], b[7])?);
    if h > 23 || m > 59 || s > 60 {
        return None;
    }
    Some(i64::from(h * 3600 + m * 60 + s.min(59)))
}

/// Reads `YYYY-MM-DD HH:MM:SS` (blank or `T` between) with an optional fraction of up to nine digits after `.` or `,`,
/// and an optional zone (`Z`, `+HHMM`, `+HH:MM`), at the start of `bytes`.
///
/// Returns a stamp whose `at` is 0 and whose `len` is the length of what was read. Years 1970 to 2261.
pub fn read_iso(bytes: &[u8]) -> Option<RawStamp> {
    let b: &[u8; 19] = bytes.first_chunk()?;
    if b[4] != b'-' || b[7] != b'-' || (b[10] != b' ' && b[10] != b'T') {
        return None;
    }
    let year = (two(b[0], b[1])? * 100 + two(b[2], b[3])?) as i32;
    if !(1970..=2261).contains(&year) {
        return None;
    }
    let day = days(year, two(b[5], b[6])?, two(b[8], b[9])?)?;
    let seconds = day * 86_400 + clock_seconds(&b[11..])?;
    let mut ns = seconds * SECOND;
    let mut width = SECOND;
    let mut at = 19;
    if matches!(bytes.get(at), Some(b'.' | b',')) && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            if width > 1 {
                width /= 10;
                ns += i64::from(bytes[at] - b'0') * width;
            }
            at += 1;
        }
    }
    let (zone, zone_len) = read_offset(&bytes[at..]);
    if let Zone::Offset(east) = zone {
        ns -= i64::from(east) * SECOND;
    }
    Some(RawStamp { ns, width, zone, at: 0, len: (at + zone_len) as u32 })
}

/// All zones that ever were are nearer to UTC than so many seconds.
pub const MAX_OFFSET: i32 = 16 * 3600;

/// Reads `Z`, `+HHMM`, `+HH:MM`, `-HHMM` or `-HH:MM` at the start of `bytes`; anything else is `Zone::Naive` of length 0.
pub fn read_offset(bytes: &[u8]) -> (Zone, usize) {
    match bytes.first() {
        Some(b'Z') => return (Zone::Utc, 1),
        Some(b'+' | b'-') => {}
        _ => return (Zone::Naive, 0),
    }
    let sign = if bytes[0] == b'-' { -1 } else { 1 };
    let colon = usize::from(bytes.get(3) == Some(&b':'));
    let parts = (bytes.get(1..3).and_then(digits), bytes.get(3 + colon..5 + colon).and_then(digits));
    let (Some(h), Some(m)) = parts else { return (Zone::Naive, 0) };
    let east = sign * (h * 3600 + m * 60) as i32;
    if m > 59 || east.abs() >= MAX_OFFSET {
        return (Zone::Naive, 0);
    }
    (Zone::Offset(east), 5 + colon)
}

/// A stamp from a Unix epoch number of nanoseconds.
pub fn from_unix_ns(ns: i64) -> RawStamp {
    RawStamp { ns, width: 1, zone: Zone::Utc, at: 0, len: 0 }
}

/// A stamp from a Unix epoch number of milliseconds.
pub fn from_unix_ms(ms: i64) -> Option<RawStamp> {
    let ns = ms.checked_mul(1_000_000)?;
    Some(RawStamp { ns, width: 1_000_000, zone: Zone::Utc, at: 0, len: 0 })
}

/// A stamp from a Unix epoch number of microseconds.
pub fn from_unix_us(us: i64) -> Option<RawStamp> {
    let ns = us.checked_mul(1_000)?;
    Some(RawStamp { ns, width: 1_000, zone: Zone::Utc, at: 0, len: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_with_fraction_and_offset() {
        let stamp = read_iso(b"2026-11-29T13:54:31.160201-05:00 INFO").unwrap();
        assert_eq!(stamp.ns, 1_795_978_471_160_201_000);
        assert_eq!(stamp.width, 1_000);
        assert_eq!(stamp.zone, Zone::Offset(-18_000));
        assert_eq!(stamp.len, 32);
    }

    #[test]
    fn iso_naive_second() {
        let stamp = read_iso(b"2026-05-20 08:30:03 TP0]").unwrap();
        assert_eq!((stamp.ns, stamp.width, stamp.zone), (1_779_265_803 * SECOND, SECOND, Zone::Naive));
        assert_eq!(stamp.len, 19);
        assert!(read_iso(b"2026-02-30 08:30:03").is_none());
        assert!(read_iso(b"2026-02-20 24:30:03").is_none());
    }

    #[test]
    fn overlapping_stamps_have_no_order() {
        let second = Stamp::new(10 * SECOND, SECOND);
        let inside = Stamp::new(10 * SECOND + 5, 1);
        assert_eq!(second.order(&inside), Order::Unknown);
        assert_eq!(second.order(&Stamp::new(11 * SECOND, 1)), Order::Before);
        assert_eq!(Stamp::new(11 * SECOND, 1).order(&second), Order::After);
    }
}
