//! The stamps at the start of the short modes' lines: each function says yes or no to one shape.
//!
//! A stamp is followed by one blank, which is not part of it.

use crate::stamp::{self, RawStamp, SECOND, Zone, clock_seconds, days, digits, from_unix_us, read_iso, read_offset};

/// Reads one mode's stamp at the start of a line.
pub type Read = fn(line: &[u8]) -> Option<RawStamp>;

/// `2025-12-31T15:57:42-0800`; `-08:00` from v255 on.
pub fn iso(line: &[u8]) -> Option<RawStamp> {
    zoned(line, SECOND)
}

/// `2025-12-31T23:57:42.011790+00:00`. Other programs write three or nine digits, or `Z`: journalctl never does.
pub fn iso_precise(line: &[u8]) -> Option<RawStamp> {
    zoned(line, 1_000)
}

fn zoned(line: &[u8], width: i64) -> Option<RawStamp> {
    if line.get(10) != Some(&b'T') {
        return None;
    }
    let stamp = read_iso(line)?;
    let shaped = stamp.width == width && matches!(stamp.zone, Zone::Offset(_)) && followed(line, stamp.len);
    if shaped { Some(stamp) } else { None }
}

/// `Wed 2025-12-31 15:57:42 PST`. Weekdays are English in every locale.
pub fn full(line: &[u8]) -> Option<RawStamp> {
    weekday(line, SECOND)
}

/// `Wed 2025-12-31 15:57:42.011790 PST`.
pub fn full_precise(line: &[u8]) -> Option<RawStamp> {
    weekday(line, 1_000)
}

fn weekday(line: &[u8], width: i64) -> Option<RawStamp> {
    let weekday = line.get(..4)?;
    if !matches!(weekday, b"Mon " | b"Tue " | b"Wed " | b"Thu " | b"Fri " | b"Sat " | b"Sun ") || line.get(14) != Some(&b' ') {
        return None;
    }
    let civil = read_iso(&line[4..])?;
    let end = 4 + civil.len as usize;
    if civil.zone != Zone::Naive || civil.width != width || line.get(end) != Some(&b' ') {
        return None;
    }
    let rest = &line[end + 1..];
    let len = rest.iter().take(7).position(|b| *b == b' ')?;
    let (ns, zone) = zone_name(&rest[..len], civil.ns)?;
    Some(RawStamp { ns, width, zone, at: 0, len: (end + 1 + len) as u32 })
}

/// What a zone abbreviation says by itself: `UTC` and the numeric ones (`+03`, `-0330`) are exact, names are not unique.
fn zone_name(name: &[u8], civil: i64) -> Option<(i64, Zone)> {
    if name == b"UTC" {
        return Some((civil, Zone::Utc));
    }
    if matches!(name.first(), Some(b'+' | b'-')) {
        let mut padded = [b'0'; 5];
        padded.get_mut(..name.len())?.copy_from_slice(name);
        let (Zone::Offset(east), 5) = read_offset(&padded) else { return None };
        return if matches!(name.len(), 3 | 5) { Some((civil - i64::from(east) * SECOND, Zone::Offset(east))) } else { None };
    }
    if name.len() < 2 || !name.iter().all(u8::is_ascii_uppercase) {
        return None;
    }
    let mut padded = [b' '; 6];
    padded.get_mut(..name.len())?.copy_from_slice(name);
    Some((civil, Zone::Abbreviation(padded)))
}

/// `Dec 31 23:57:42`, with the month in any of the common locales.
pub fn yearless(line: &[u8]) -> Option<RawStamp> {
    let (ns, len) = month_day_clock(line)?;
    let stamp = RawStamp { ns, width: SECOND, zone: Zone::Yearless, at: 0, len: len as u32 };
    if followed(line, stamp.len) { Some(stamp) } else { None }
}

/// `Dec 31 23:57:42.011790`.
pub fn yearless_precise(line: &[u8]) -> Option<RawStamp> {
    let (ns, len) = month_day_clock(line)?;
    let micros = fraction(line.get(len..len + 7)?)?;
    let stamp = RawStamp { ns: ns + micros * 1_000, width: 1_000, zone: Zone::Yearless, at: 0, len: len as u32 + 7 };
    if followed(line, stamp.len) { Some(stamp) } else { None }
}

/// `1767225462.011790`: ten columns of seconds. A clock that was never set has fewer digits.
pub fn unix(line: &[u8]) -> Option<RawStamp> {
    if line.get(10) != Some(&b'.') || line.get(17) != Some(&b' ') {
        return None;
    }
    let micros = padded(&line[..10])? * 1_000_000 + fraction(&line[10..17])?;
    Some(RawStamp { len: 17, ..from_unix_us(micros)? })
}

/// `[    5.011790]`: since boot.
pub fn monotonic(line: &[u8]) -> Option<RawStamp> {
    let (micros, len) = since_boot(line)?;
    if line.get(len) != Some(&b']') || line.get(len + 1) != Some(&b' ') {
        return None;
    }
    Some(since(micros, len + 1))
}

/// `[    5.011790 <    1.999790 >]`: since boot, and since the entry before (`*` before `>` where that is of another boot and the
/// difference is of the wall clock). The first entry has blanks for the difference.
pub fn delta(line: &[u8]) -> Option<RawStamp> {
    const NONE: &[u8] = b"                ]";
    let (micros, len) = since_boot(line)?;
    let rest = &line[len..];
    let end = if rest.starts_with(NONE) {
        NONE.len()
    } else {
        let step = rest.strip_prefix(b" <")?;
        let dot = seconds(step)?;
        fraction(step.get(dot..dot + 7)?)?;
        if !matches!(step.get(dot + 7..dot + 10), Some(b" >]" | b"*>]")) {
            return None;
        }
        2 + dot + 10
    };
    if rest.get(end) != Some(&b' ') {
        return None;
    }
    Some(since(micros, len + end))
}

fn since(micros: i64, len: usize) -> RawStamp {
    RawStamp { ns: micros.saturating_mul(1_000), width: 1_000, zone: Zone::Monotonic, at: 0, len: len as u32 }
}

/// Microseconds behind `[`, and where their text ends.
fn since_boot(line: &[u8]) -> Option<(i64, usize)> {
    if line.first() != Some(&b'[') {
        return None;
    }
    let dot = 1 + seconds(&line[1..])?;
    let micros = padded(&line[1..dot])? * 1_000_000 + fraction(line.get(dot..dot + 7)?)?;
    Some((micros, dot + 7))
}

/// How long a number of seconds is: five columns, or as many digits as it takes.
fn seconds(text: &[u8]) -> Option<usize> {
    let len = memchr::memchr(b'.', &text[..text.len().min(12)])?;
    let is_number = len >= 5 && padded(&text[..len]).is_some() && (len == 5 || text[0] != b' ');
    is_number.then_some(len)
}

/// A number with blanks before it.
fn padded(text: &[u8]) -> Option<i64> {
    let number = text.trim_ascii_start();
    if number.len() > 12 || text.len() - number.len() != text.iter().take_while(|b| **b == b' ').count() {
        return None;
    }
    digits(number)
}

/// `.011790` in microseconds.
fn fraction(text: &[u8]) -> Option<i64> {
    digits(text.strip_prefix(b".")?)
}

/// Civil time in 1972, and the length of `MONTH DD HH:MM:SS`. The day has two digits (syslog's own files pad it with a blank).
fn month_day_clock(line: &[u8]) -> Option<(i64, usize)> {
    let blank = line.iter().take(12).position(|b| *b == b' ')?;
    let month = month(&line[..blank])?;
    let rest = line.get(blank + 1..blank + 12)?;
    if !rest[0].is_ascii_digit() || !rest[1].is_ascii_digit() || rest[2] != b' ' {
        return None;
    }
    let day = u32::from(rest[0] - b'0') * 10 + u32::from(rest[1] - b'0');
    let seconds = days(1972, month, day)? * 86_400 + clock_seconds(&rest[3..])?;
    Some((seconds * SECOND, blank + 12))
}

fn followed(line: &[u8], len: u32) -> bool {
    line.get(len as usize) == Some(&b' ')
}

/// The month of an abbreviated name in the C locale, or as glibc's locales print `%b` (upper and lower case as printed there).
fn month(name: &[u8]) -> Option<u32> {
    if let Some(month) = stamp::month(name) {
        return Some(month);
    }
    let text = std::str::from_utf8(name).ok()?;
    // Chinese and Japanese count with 月, Korean with 월.
    if let Some(number) = text.strip_suffix('月').or_else(|| text.strip_suffix('월')) {
        return number.parse().ok().filter(|m| (1..=12).contains(m));
    }
    const NAMES: [&[&str]; 12] = [
        &["janv.", "jan", "ene", "gen", "Jän", "jan.", "Januar"],
        &["févr.", "fev", "feb", "feb.", "fév."],
        &["Mär", "mars", "mar", "mrt", "März", "mar.", "mars."],
        &["avril", "avr.", "abr", "apr", "apr."],
        &["mai", "Mai", "may", "mag", "mei", "maj"],
        &["juin", "jun", "giu", "juni", "jun."],
        &["juil.", "jul", "lug", "juli", "jul."],
        &["août", "ago", "aug", "aug."],
        &["sept.", "set", "sep", "sep.", "sept"],
        &["oct.", "out", "oct", "Okt", "okt", "ott", "okt."],
        &["nov.", "nov"],
        &["déc.", "dez", "dic", "Dez", "dec", "dec."],
    ];
    NAMES.iter().position(|names| names.contains(&text)).map(|i| i as u32 + 1)
}
