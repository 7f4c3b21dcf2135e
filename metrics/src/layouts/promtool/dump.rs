//! The text of `promtool tsdb dump`: `{__name__="x", a="b"} value stamp_ms`, a line a sample, series after series.

use std::io::Read;

use super::super::quoted::spelled;
use super::super::scrapes::Scrapes;
use super::super::text::{Line, Lines, head_lines, milliseconds};
use crate::build::Builder;
use crate::model::{EndpointId, Labels, Precision, SeriesId};

/// The first lines of a text are a dump's.
pub(super) fn dumped(head: &[u8]) -> bool {
    let mut lines = head_lines(head).filter(|l| !l.is_empty()).take(4).peekable();
    lines.peek().is_some() && lines.all(|line| series(line).is_some_and(|(of, rest)| !of.name.is_empty() && point(rest).is_some()))
}

/// A series as a dump spells it.
struct Of {
    name: String,
    labels: Labels,
    instance: String,
}

/// The series at the start of a line, and what follows its brace.
fn series(line: &str) -> Option<(Of, &str)> {
    if !line.starts_with('{') {
        return None;
    }
    let spelled = spelled(line)?;
    let text = |key: &str| spelled.labels.iter().find(|(k, _)| k == key).map_or("", |(_, v)| v.as_str());
    let name = if spelled.name.is_empty() { text("__name__") } else { &spelled.name };
    let labels = Labels::new(spelled.labels.iter().filter(|(k, _)| k != "__name__").map(|(k, v)| (k.as_str(), v.as_str())));
    Some((Of { name: name.to_string(), labels, instance: text("instance").to_string() }, spelled.rest))
}

/// ` value stamp_ms`, with the stamp's number of digits.
fn point(rest: &str) -> Option<(f64, i64, usize)> {
    let (value, stamp) = rest.strip_prefix(' ')?.split_once(' ')?;
    Some((value.parse().ok()?, milliseconds(stamp.parse().ok()?)?, stamp.len()))
}

/// What is remembered of the line before: most lines are of the same series.
struct Last {
    /// The line up to and with its brace.
    prefix: Vec<u8>,
    series: SeriesId,
    endpoint: EndpointId,
    /// `up` and its like.
    wanted: Option<String>,
    digits: usize,
}

/// Reads a dump; `file` names it in notes. Returns how many samples it had.
pub(super) fn dump<R: Read>(mut lines: Lines<R>, file: &str, builder: &mut Builder, scrapes: &mut Scrapes) -> u64 {
    let mut last: Option<Last> = None;
    let mut samples = 0;
    while let Some(line) = lines.next() {
        let (number, bytes, ended) = match line {
            Line::Text { number, bytes, ended } => (number, bytes, ended),
            Line::TooLong { number } => {
                builder.note("bad_line", || "lines that are no sample".into(), || Some(format!("{file}:{number}")));
                continue;
            }
            Line::Broken { number, error } => {
                builder.note("truncated", || format!("breaks off: {error}"), || Some(format!("{file}:{number}")));
                break;
            }
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let at = || Some(format!("{file}:{number}"));
        let Some((value, stamp, digits)) = take(bytes, &mut last, builder) else {
            match native(bytes) {
                true => builder.note("native_histogram", || "native histograms, which corr does not read".into(), at),
                false => builder.note("bad_line", || "lines that are no sample".into(), at),
            }
            continue;
        };
        let Some(of) = &mut last else { continue };
        if !ended && of.digits != digits {
            builder.note("truncated", || "the last line has no end, and its stamp is shorter than the others".into(), at);
            break;
        }
        of.digits = digits;
        if value.is_nan() {
            let what = "NaN values: promtool prints the mark that a series ended as NaN, too, and nothing tells them apart";
            builder.note("nan_or_stale", || what.into(), at);
        }
        builder.push(of.series, stamp, value);
        if let Some(name) = &of.wanted {
            scrapes.take(of.endpoint, name, stamp, value);
        }
        samples += 1;
    }
    samples
}

/// Value, stamp and its digits of a line; `last` becomes its series.
fn take(bytes: &[u8], last: &mut Option<Last>, builder: &mut Builder) -> Option<(f64, i64, usize)> {
    if let Some(of) = last.as_ref()
        && let Some(rest) = bytes.strip_prefix(&of.prefix[..])
    {
        return point(std::str::from_utf8(rest).ok()?);
    }
    let line = std::str::from_utf8(bytes).ok()?;
    let (of, rest) = series(line)?;
    let point = point(rest)?;
    let endpoint = builder.endpoint(&of.instance);
    let series = builder.series(endpoint, &of.name, &of.labels, Precision::F64);
    let prefix = line.strip_suffix(rest)?.as_bytes().to_vec();
    let digits = last.as_ref().map_or(point.2, |l| l.digits);
    *last = Some(Last { prefix, series, endpoint, wanted: Scrapes::wants(&of.name).then_some(of.name), digits });
    Some(point)
}

/// `{…} {count:…, sum:…} stamp`
fn native(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).ok().and_then(series).is_some_and(|(_, rest)| rest.starts_with(" {count:"))
}
