//! How a declared stamp is written: strftime letters, an epoch number of a unit, or what can be told from its text.

use chrono::format::{Fixed, Item, Numeric, Parsed, StrftimeItems, parse};
use chrono::{Datelike, Timelike};

use super::definition::{Definition, Part, Problem};
use crate::records::stamps as any;
use crate::stamp::{MAX_OFFSET, RawStamp, SECOND, Zone, days};

/// Earliest and latest epoch that is taken for a time of a log, in ns: 1990 and 2261. A number outside was read in a wrong unit.
const EARLIEST: i64 = 631_152_000 * SECOND;
const LATEST: i64 = 9_183_110_400 * SECOND;

/// How a stamp's text is read.
#[derive(Debug)]
pub enum Stamps {
    /// ISO 8601, or an epoch number whose digits say its unit.
    Any,
    /// An epoch number that counts this many ns.
    Epoch(i64),
    /// In strftime letters.
    Written(Written),
}

/// A strftime format.
#[derive(Debug)]
pub struct Written {
    items: Vec<Item<'static>>,
    has_year: bool,
    /// The text says UTC in letters.
    utc: bool,
    /// Width without a fraction, ns.
    width: i64,
    fraction: Fraction,
}

#[derive(Clone, Copy, Debug)]
enum Fraction {
    None,
    Digits(u32),
    /// As many digits as stand behind the last dot.
    Any,
}

impl Stamps {
    /// What a definition says of its stamp.
    pub fn new(definition: &Definition) -> Result<Stamps, Problem> {
        match (definition.stamp_format.as_deref(), definition.stamp_unit.as_deref()) {
            (Some(_), Some(_)) => Err(definition.problem(Part::Key("stamp_unit"), "it has both `stamp_format` and `stamp_unit`; keep one")),
            (None, None) => Ok(Stamps::Any),
            (None, Some(unit)) => match unit {
                "s" => Ok(Stamps::Epoch(SECOND)),
                "ms" => Ok(Stamps::Epoch(1_000_000)),
                "us" => Ok(Stamps::Epoch(1_000)),
                "ns" => Ok(Stamps::Epoch(1)),
                _ => Err(definition.problem(Part::Key("stamp_unit"), format!("`{unit}` is no unit; write s, ms, us or ns"))),
            },
            (Some(format), None) => {
                Written::new(format).map(Stamps::Written).map_err(|text| definition.problem(Part::Key("stamp_format"), text))
            }
        }
    }

    /// Reads a stamp that spans the whole text, which stands at byte `at` of the payload. `None` rather than a doubtful time.
    pub fn read(&self, text: &[u8], at: usize) -> Option<RawStamp> {
        let mut stamp = match self {
            Stamps::Any => return any::read(text, at),
            Stamps::Epoch(unit) => epoch(text, *unit)?,
            Stamps::Written(written) => written.read(text)?,
        };
        stamp.at = u32::try_from(at).ok()?;
        stamp.len = u32::try_from(text.len()).ok()?;
        Some(stamp)
    }
}

/// Digits with or without a fraction, counting `unit` ns.
fn epoch(text: &[u8], unit: i64) -> Option<RawStamp> {
    let (whole, digits) = match memchr::memchr(b'.', text) {
        Some(dot) if dot + 1 == text.len() => return None,
        Some(dot) => (&text[..dot], &text[dot + 1..]),
        None => (text, &b""[..]),
    };
    if whole.is_empty() || !whole.iter().chain(digits).all(u8::is_ascii_digit) {
        return None;
    }
    let mut ns = std::str::from_utf8(whole).ok()?.parse::<i64>().ok()?.checked_mul(unit)?;
    // All digits of a clock of ns, or as many as a double of this size resolves.
    let exact = unit / 10i64.checked_pow(u32::try_from(digits.len()).ok()?).unwrap_or(i64::MAX) == 1;
    let finest = if exact { 1 } else { 1_000 };
    let mut width = unit;
    for digit in digits {
        if width <= finest {
            break;
        }
        width /= 10;
        ns = ns.checked_add(i64::from(digit - b'0') * width)?;
    }
    if !(EARLIEST..LATEST).contains(&ns) {
        return None;
    }
    Some(RawStamp { ns, width, zone: Zone::Utc, at: 0, len: 0 })
}

impl Written {
    fn new(format: &str) -> Result<Written, String> {
        let items = StrftimeItems::new(format).parse_to_owned();
        let items = items.map_err(|_| format!("`{format}` has letters that strftime does not know"))?;
        let has = |numeric: Numeric| items.iter().any(|i| matches!(i, Item::Numeric(n, _) if *n == numeric));
        let fixed = |test: &dyn Fn(&Fixed) -> bool| items.iter().any(|i| matches!(i, Item::Fixed(f) if test(f)));
        if fixed(&|f| matches!(f, Fixed::RFC2822 | Fixed::RFC3339)) {
            return Err("`%+` and `%c` stand for whole stamps; leave `stamp_format` out for ISO 8601, or spell the parts".into());
        }
        if has(Numeric::Timestamp) {
            return Err("an epoch number is declared with `stamp_unit = \"s\"`".into());
        }
        let month = has(Numeric::Month) || fixed(&|f| matches!(f, Fixed::ShortMonthName | Fixed::LongMonthName));
        if !(has(Numeric::Ordinal) || month && has(Numeric::Day)) {
            return Err("without a month and a day it names no time; stamps need a date".into());
        }
        if !(has(Numeric::Hour) || has(Numeric::Hour12)) || !has(Numeric::Minute) {
            return Err("without hours and minutes it names no time; `%H:%M:%S` is usual".into());
        }
        if has(Numeric::Nanosecond) {
            return Err("`%f` counts nanoseconds; write a fraction as `%.f` (with its dot), or `%3f`, `%6f`, `%9f` (digits alone)".into());
        }
        let fraction = if fixed(&|f| *f == Fixed::Nanosecond) {
            Fraction::Any
        } else {
            ['3', '6', '9'].iter().fold(Fraction::None, |found, n| {
                let written = format.contains(&format!("%.{n}f")) || format.contains(&format!("%{n}f"));
                if written { Fraction::Digits(n.to_digit(10).unwrap_or(0)) } else { found }
            })
        };
        let literal: String = items
            .iter()
            .filter_map(|i| match i {
                Item::OwnedLiteral(text) => Some(text.to_string()),
                Item::Literal(text) => Some((*text).to_string()),
                _ => None,
            })
            .collect::<Vec<_>>()
            .join(" ");
        let utc = literal.split(|c: char| !c.is_ascii_alphabetic()).any(|w| matches!(w, "Z" | "UTC" | "GMT"));
        let has_year = has(Numeric::Year) || has(Numeric::YearMod100);
        let width = if has(Numeric::Second) { SECOND } else { 60 * SECOND };
        Ok(Written { items, has_year, utc, width, fraction })
    }

    fn read(&self, text: &[u8]) -> Option<RawStamp> {
        let text = std::str::from_utf8(text).ok()?;
        let mut parsed = Parsed::new();
        parse(&mut parsed, text, self.items.iter()).ok()?;
        if !self.has_year {
            // A leap year: the 29th of February is a day.
            parsed.set_year(1972).ok()?;
        }
        let date = parsed.to_naive_date().ok()?;
        let time = parsed.to_naive_time().ok()?;
        let day = days(date.year(), date.month(), date.day())?;
        let seconds = day * 86_400 + i64::from(time.num_seconds_from_midnight());
        let fraction = i64::from(time.nanosecond()) % SECOND;
        let mut ns = seconds.checked_mul(SECOND)?.checked_add(fraction)?;
        let digits = match self.fraction {
            Fraction::None => 0,
            Fraction::Digits(n) => n,
            Fraction::Any => {
                let behind = text.rfind('.').map_or("", |dot| &text[dot + 1..]);
                behind.bytes().take_while(u8::is_ascii_digit).count().min(9) as u32
            }
        };
        let width = self.width / 10i64.pow(digits.min(9));
        let zone = match (parsed.offset(), self.has_year) {
            (Some(east), true) if east.abs() < MAX_OFFSET => {
                ns = ns.checked_sub(i64::from(east) * SECOND)?;
                Zone::Offset(east)
            }
            // Without a year an offset places nothing, and none is that of no zone.
            (Some(_), _) => return None,
            (None, true) if self.utc => Zone::Utc,
            (None, true) => Zone::Naive,
            (None, false) => Zone::Yearless,
        };
        if self.has_year && !(0..LATEST).contains(&ns) {
            return None;
        }
        Some(RawStamp { ns, width: width.max(1), zone, at: 0, len: 0 })
    }
}
