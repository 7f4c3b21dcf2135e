//! The exposition formats: Prometheus text 0.0.4 and OpenMetrics 1.0, line by line from bytes, without copying.
//!
//! One line that cannot be read is an event with its number and the reason, and the others are kept; Prometheus refuses the whole scrape.
//! Kept beyond what Prometheus 2.42 takes: blanks before a line, `\r\n`, quoted names (as Prometheus 3), and in OpenMetrics blank lines,
//! several blanks between words and a missing `# EOF` ([`Reader::ended`] says so). Native histograms and the composite values of
//! OpenMetrics 2.0 are refused by line.

mod number;
mod series;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::model::Kind;
pub use number::{seconds, value};
pub use series::{Pairs, Series};

/// The two formats. They differ in the unit of a sample's stamp: milliseconds in text, seconds in OpenMetrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    OpenMetrics,
}

/// Something that a line says.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    Point(Point<'a>),
    /// `# TYPE`: in OpenMetrics the family of a counter lacks the `_total` of its samples.
    Type {
        family: Cow<'a, str>,
        kind: Kind,
    },
    Help {
        family: Cow<'a, str>,
        text: Cow<'a, str>,
    },
    Unit {
        family: Cow<'a, str>,
        unit: &'a str,
    },
    /// A line that was not understood.
    Bad(Bad),
}

/// One sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Point<'a> {
    /// Number of its line, from 1.
    pub line: u64,
    pub series: Series<'a>,
    pub value: f64,
    /// Its own stamp, in nanoseconds since the epoch.
    pub at: Option<i64>,
    pub exemplar: Option<Mark<'a>>,
}

/// The exemplar of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark<'a> {
    pub labels: Pairs<'a>,
    pub value: f64,
    /// In nanoseconds since the epoch.
    pub at: Option<i64>,
}

/// A line that was not understood, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bad {
    /// From 1.
    pub line: u64,
    pub why: Fault,
}

/// Why a line was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Fault {
    #[error("not UTF-8")]
    NotUtf8,
    #[error("no metric name")]
    NoName,
    #[error("a second metric name")]
    TwoNames,
    #[error("a character that no name has")]
    NameCharacter,
    #[error("bad label name")]
    LabelName,
    #[error("a label without `=\"value\"`")]
    LabelValue,
    #[error("a quote or brace is not closed")]
    Unterminated,
    #[error("a label is given twice")]
    LabelTwice,
    #[error("no value")]
    NoValue,
    #[error("the value is not a number")]
    Value,
    #[error("composite values and native histograms are not read")]
    Composite,
    #[error("bad timestamp")]
    Stamp,
    #[error("text after the sample")]
    Trailing,
    #[error("bad exemplar")]
    Exemplar,
    #[error("an exemplar after a name that ends neither in `_total` nor in `_bucket`")]
    ExemplarPlace,
    #[error("TYPE, HELP or UNIT without a family or its word")]
    Comment,
    #[error("a type that is none")]
    Type,
    #[error("text after `# EOF`")]
    AfterEnd,
}

impl Fault {
    /// Stable name, `snake_case`, for notes.
    pub fn code(self) -> &'static str {
        match self {
            Fault::NotUtf8 => "line_not_utf8",
            Fault::NoName => "line_no_name",
            Fault::TwoNames => "line_two_names",
            Fault::NameCharacter => "line_name_character",
            Fault::LabelName => "line_label_name",
            Fault::LabelValue => "line_label_value",
            Fault::Unterminated => "line_unterminated",
            Fault::LabelTwice => "line_label_twice",
            Fault::NoValue => "line_no_value",
            Fault::Value => "line_value",
            Fault::Composite => "line_composite",
            Fault::Stamp => "line_stamp",
            Fault::Trailing => "line_trailing",
            Fault::Exemplar => "line_exemplar",
            Fault::ExemplarPlace => "line_exemplar_place",
            Fault::Comment => "line_comment",
            Fault::Type => "line_type",
            Fault::AfterEnd => "line_after_end",
        }
    }
}

/// How many lines were read, by what they are: together all lines of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    pub samples: u64,
    /// With TYPE, HELP, UNIT and EOF.
    pub comments: u64,
    pub blank: u64,
    pub bad: u64,
}

impl Lines {
    /// All of them.
    pub fn all(self) -> u64 {
        self.samples + self.comments + self.blank + self.bad
    }
}

/// Reads an exposition line by line.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    format: Format,
    ended: bool,
    lines: Lines,
}

impl Format {
    /// From a `Content-Type`; `None` for others, protobuf among them.
    pub fn of_content_type(content_type: &str) -> Option<Format> {
        match content_type.split(';').next()?.trim() {
            "text/plain" => Some(Format::Text),
            "application/openmetrics-text" => Some(Format::OpenMetrics),
            _ => None,
        }
    }

    /// From the body: OpenMetrics ends in `# EOF` and alone knows `# UNIT`; else text.
    pub fn of_body(body: &[u8]) -> Format {
        let ended = body.trim_ascii_end().ends_with(b"# EOF");
        if ended || body.starts_with(b"# UNIT ") || memchr::memmem::find(body, b"\n# UNIT ").is_some() {
            Format::OpenMetrics
        } else {
            Format::Text
        }
    }
}

impl<'a> Reader<'a> {
    /// Reads a body, or a whole file of one scrape.
    pub fn new(body: &'a [u8], format: Format) -> Reader<'a> {
        let rest = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        Reader { rest, format, ended: false, lines: Lines::default() }
    }

    /// Whether `# EOF` was seen. OpenMetrics without it was cut short.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The lines so far.
    pub fn lines(&self) -> Lines {
        self.lines
    }

    fn read(&mut self, line: &'a [u8], number: u64) -> Result<Option<Event<'a>>, Fault> {
        let line = std::str::from_utf8(line).map_err(|_| Fault::NotUtf8)?;
        let line = line.trim_start_matches(blank);
        if line.trim_end_matches(blank).is_empty() {
            self.lines.blank += 1;
            return Ok(None);
        }
        if self.ended && self.format == Format::OpenMetrics {
            return Err(Fault::AfterEnd);
        }
        if let Some(comment) = line.strip_prefix('#') {
            let event = self.comment(comment)?;
            self.lines.comments += 1;
            return Ok(event);
        }
        let point = point(line, number, self.format)?;
        self.lines.samples += 1;
        Ok(Some(Event::Point(point)))
    }

    /// What stands behind `#`.
    fn comment(&mut self, comment: &'a str) -> Result<Option<Event<'a>>, Fault> {
        let text = comment.trim_start_matches(blank);
        if text.len() == comment.len() {
            return Ok(None);
        }
        if text.trim_end_matches(blank) == "EOF" {
            self.ended = true;
            return Ok(None);
        }
        let Some((word @ ("TYPE" | "HELP" | "UNIT"), rest)) = text.split_once(blank) else { return Ok(None) };
        let (family, rest) = series::family(rest.trim_start_matches(blank))?;
        let rest = rest.trim_start_matches(blank);
        Ok(Some(match word {
            "TYPE" => {
                let word = rest.trim_end_matches(blank);
                if word.is_empty() {
                    return Err(Fault::Comment);
                }
                Event::Type { family, kind: Kind::from_word(word).ok_or(Fault::Type)? }
            }
            "HELP" => Event::Help { family, text: series::unescape(rest, self.format == Format::OpenMetrics) },
            _ => Event::Unit { family, unit: rest.trim_end_matches(blank) },
        }))
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        while !self.rest.is_empty() {
            let (line, rest) = match memchr::memchr(b'\n', self.rest) {
                Some(end) => (self.rest.get(..end)?, self.rest.get(end + 1..)?),
                None => (self.rest, &self.rest[..0]),
            };
            self.rest = rest;
            let number = self.lines.all() + 1;
            match self.read(line.strip_suffix(b"\r").unwrap_or(line), number) {
                Ok(None) => {}
                Ok(event) => return event,
                Err(why) => {
                    self.lines.bad += 1;
                    return Some(Event::Bad(Bad { line: number, why }));
                }
            }
        }
        None
    }
}

fn blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// A line that is no comment and starts with no blank.
fn point(line: &str, number: u64, format: Format) -> Result<Point<'_>, Fault> {
    let (series, rest) = Series::read(line)?;
    let rest = rest.trim_start_matches(blank);
    let (word, rest) = word(rest);
    let value = number::value(word).ok_or(match word.chars().next() {
        None | Some('#') => Fault::NoValue,
        Some('{') => Fault::Composite,
        _ => Fault::Value,
    })?;
    let mut point = Point { line: number, series, value, at: None, exemplar: None };
    let mut rest = rest;
    if !rest.is_empty() && !rest.starts_with('#') {
        let (stamp, after) = self::word(rest);
        point.at = Some(
            match format {
                Format::Text => number::milliseconds(stamp),
                Format::OpenMetrics => number::seconds(stamp),
            }
            .ok_or(Fault::Stamp)?,
        );
        rest = after;
    }
    if let Some(mark) = rest.strip_prefix('#') {
        point.exemplar = Some(exemplar(mark.trim_start_matches(blank))?);
        let name = series.name();
        if !name.ends_with("_total") && !name.ends_with("_bucket") {
            return Err(Fault::ExemplarPlace);
        }
    } else if !rest.is_empty() {
        return Err(Fault::Trailing);
    }
    Ok(point)
}

/// `{labels} value [seconds]`.
fn exemplar(text: &str) -> Result<Mark<'_>, Fault> {
    let (labels, rest) = Pairs::read(text)?;
    let (number, rest) = word(rest.trim_start_matches(blank));
    let value = value(number).ok_or(Fault::Exemplar)?;
    let (stamp, rest) = word(rest);
    let at = match stamp {
        "" => None,
        stamp => Some(seconds(stamp).ok_or(Fault::Exemplar)?),
    };
    if rest.is_empty() { Ok(Mark { labels, value, at }) } else { Err(Fault::Exemplar) }
}

/// Up to the next blank; and what comes after the blanks.
fn word(text: &str) -> (&str, &str) {
    match text.bytes().position(|b| b == b' ' || b == b'\t').and_then(|i| text.split_at_checked(i)) {
        Some((word, rest)) => (word, rest.trim_start_matches(blank)),
        None => (text, ""),
    }
}
