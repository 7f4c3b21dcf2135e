//! What layouts of text share: lines with their numbers, whole documents, and stamps written in decimals.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::{ReadError, open};
use crate::model::SECOND;

/// Most bytes of one line; a longer one is skipped and said.
pub(super) const LINE: usize = 256 << 20;
/// A byte order mark, which some editors and PowerShell put before a text.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";
/// Most bytes of one document that is read whole.
pub(super) const DOCUMENT: u64 = 1 << 30;

/// A line of a text.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// Its number from 1, its bytes without the line end, and whether a line end stood there.
    Text { number: u64, bytes: &'a [u8], ended: bool },
    /// It is longer than [`LINE`].
    TooLong { number: u64 },
    /// The text cannot be read on from here; what the line held is lost.
    Broken { number: u64, error: io::Error },
}

/// Reads a text line by line, in the memory of one line.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    done: bool,
    limit: usize,
}

/// Lines of a file, unpacked.
pub(super) fn lines(path: &Path) -> Result<Lines<Box<dyn Read>>, ReadError> {
    Ok(Lines::new(open(path).map_err(|e| io_error(path, e))?))
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Lines<R> {
        Lines { input: BufReader::with_capacity(1 << 17, input), line: Vec::new(), number: 0, done: false, limit: LINE }
    }

    /// The next line; `None` at the end, and after a broken one.
    pub(super) fn next(&mut self) -> Option<Line<'_>> {
        if self.done {
            return None;
        }
        self.line.clear();
        self.number += 1;
        let number = self.number;
        let mut long = false;
        loop {
            let held = match self.input.fill_buf() {
                Ok(held) => held,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.done = true;
                    return Some(Line::Broken { number, error });
                }
            };
            let end = memchr::memchr(b'\n', held);
            let (text, _) = held.split_at(end.unwrap_or(held.len()));
            if self.line.len() + text.len() > self.limit {
                long = true;
                self.line.clear();
            }
            if !long {
                self.line.extend_from_slice(text);
            }
            let used = text.len() + usize::from(end.is_some());
            let ended = end.is_some();
            let over = held.is_empty();
            self.input.consume(used);
            if over {
                self.done = true;
                if self.line.is_empty() && !long {
                    return None;
                }
            }
            if ended || over {
                if long {
                    return Some(Line::TooLong { number });
                }
                let bytes = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
                let bytes = if number == 1 { bytes.strip_prefix(BOM).unwrap_or(bytes) } else { bytes };
                return Some(Line::Text { number, bytes, ended });
            }
        }
    }
}

/// A whole text of at most `limit` bytes. Where it breaks off (a damaged gzip, too long), what stands before that and the reason.
pub(super) fn whole(path: &Path, limit: u64) -> Result<(Vec<u8>, Option<String>), ReadError> {
    let mut input = open(path).map_err(|e| io_error(path, e))?.take(limit.saturating_add(1));
    let mut bytes = Vec::new();
    let mut broken = input.read_to_end(&mut bytes).err().map(|e| e.to_string());
    if u64::try_from(bytes.len()).is_ok_and(|n| n > limit) {
        bytes.pop();
        broken = Some(format!("more than {limit} bytes in one document"));
    }
    if bytes.starts_with(BOM) {
        bytes.drain(..BOM.len());
    }
    Ok((bytes, broken))
}

pub(super) fn io_error(path: &Path, error: io::Error) -> ReadError {
    ReadError::Io { path: path.display().to_string(), error }
}

/// Whole lines of a head: the last one may be cut where the head ends, and is left out unless the head is all there is of it.
pub(super) fn head_lines(head: &[u8]) -> impl Iterator<Item = &str> {
    let head = head.strip_prefix(BOM).unwrap_or(head);
    let whole = match memchr::memrchr(b'\n', head) {
        Some(end) => head.split_at(end).0,
        None => head,
    };
    whole.split(|&b| b == b'\n').filter_map(|line| std::str::from_utf8(line).ok()).map(|line| line.trim_end_matches('\r'))
}

/// Nanoseconds of decimal seconds: `1795976926.574`, `1.795976926574e9`. Digits beyond the ninth are cut off; `None` for other text and for
/// times that 64 bits do not hold.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = 0i128;
    let mut any = false;
    let mut count = 0;
    for c in whole.bytes().chain(fraction.bytes()) {
        if !c.is_ascii_digit() {
            return None;
        }
        any = true;
        if digits == 0 && c == b'0' {
            continue;
        }
        count += 1;
        if count > 30 {
            return None;
        }
        digits = digits * 10 + i128::from(c - b'0');
    }
    if !any {
        return None;
    }
    let shift = i32::try_from(fraction.len()).ok()?.checked_neg()?.checked_add(exponent)?.checked_add(9)?;
    let power = |n: i32| u32::try_from(n).ok().and_then(|n| 10i128.checked_pow(n));
    let ns = match shift {
        _ if digits == 0 => 0,
        n if n >= 0 => digits.checked_mul(power(n)?)?,
        n => power(n.checked_neg()?).map_or(0, |p| digits / p),
    };
    i64::try_from(if negative { -ns } else { ns }).ok()
}

/// Nanoseconds of milliseconds.
pub(super) fn milliseconds(ms: i64) -> Option<i64> {
    ms.checked_mul(SECOND / 1000)
}

/// Nanoseconds since the epoch of a whole number whose unit is told by its size, with the unit's name. The bounds lie in 1973 (ns) to 5138 (s).
pub(super) fn by_size(stamp: i64) -> Option<(i64, &'static str)> {
    let (factor, unit) = match stamp.unsigned_abs() {
        n if n < 100_000_000_000 => (SECOND, "s"),
        n if n < 100_000_000_000_000 => (1_000_000, "ms"),
        n if n < 100_000_000_000_000_000 => (1000, "us"),
        _ => (1, "ns"),
    };
    Some((stamp.checked_mul(factor)?, unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seconds_are_read_as_text() {
        assert_eq!(seconds("1795976926.574"), Some(1_795_976_926_574_000_000));
        assert_eq!(seconds("1795976926.5741234567"), Some(1_795_976_926_574_123_456), "more digits than a float of 64 bits holds");
        assert_eq!(seconds("1.795976926574e9"), Some(1_795_976_926_574_000_000));
        assert_eq!(seconds("1.5E+3"), Some(1_500_000_000_000));
        assert_eq!(seconds("-0.000000001"), Some(-1));
        assert_eq!(seconds("15e-10"), Some(1));
        assert_eq!(seconds("0"), Some(0));
        assert_eq!(seconds("0e999999"), Some(0));
        for bad in ["", ".", "-", "1e", "x", "1.2.3", "NaN", "1e30", "99999999999", "1_0"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_unit_of_a_whole_number_is_told_by_its_size() {
        let want = Some(1_795_976_926_000_000_000);
        let of = |n| by_size(n).map(|(ns, _)| ns);
        assert_eq!(of(1_795_976_926), want);
        assert_eq!(of(1_795_976_926_000), want);
        assert_eq!(of(1_795_976_926_000_000), want);
        assert_eq!(by_size(1_795_976_926_000_000_000), Some((1_795_976_926_000_000_000, "ns")));
    }

    fn all(text: impl Read, limit: usize) -> Vec<String> {
        let mut lines = Lines { limit, ..Lines::new(text) };
        let mut out = Vec::new();
        while let Some(line) = lines.next() {
            out.push(match line {
                Line::Text { number, bytes, ended } => format!("{number} {} {ended}", String::from_utf8_lossy(bytes)),
                Line::TooLong { number } => format!("{number} long"),
                Line::Broken { number, .. } => format!("{number} broken"),
            });
        }
        out
    }

    #[test]
    fn a_line_says_whether_it_ended_and_a_long_one_is_skipped() {
        assert_eq!(all(&b"a\r\n\nbb"[..], 3), ["1 a true", "2  true", "3 bb false"]);
        assert_eq!(all(&b"aaaa\nb\n"[..], 3), ["1 long", "2 b true"]);
        assert_eq!(all(&b"\xef\xbb\xbfa\n"[..], 9), ["1 a true"]);
        assert_eq!(all(&b""[..], 3), [""; 0]);
    }

    #[test]
    fn of_a_text_that_breaks_off_the_cut_line_is_lost_and_said() {
        use std::io::Write;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        packed.write_all(b"one\ntwo\nthree 1795976926574\n").unwrap();
        let packed = packed.finish().unwrap();
        let cut = flate2::read::MultiGzDecoder::new(&packed[..packed.len() - 14]);
        assert_eq!(all(cut, 99), ["1 one true", "2 two true", "3 broken"]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_time_or_none(text in "[-+0-9.eE]{0,40}") {
            if let (Some(ns), Ok(float)) = (seconds(&text), text.parse::<f64>()) {
                prop_assert!((ns as f64 / 1e9 - float).abs() <= float.abs() * 1e-9 + 2e-9, "{ns} {float}");
            }
        }
    }
}
