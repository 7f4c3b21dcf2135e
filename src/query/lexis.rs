//! The smallest pieces of a query's text: quoted and bare text, patterns, and the error that all parsers here share.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{anychar, char};
use nom::combinator::value;
use nom::error::{ErrorKind, ParseError};
use nom::sequence::preceded;
use nom::{Err, IResult, Parser};

use super::expr::{Glob, Part};

/// An error on its way up. As nom's `Error` it lets another branch try, as `Failure` it is final.
#[derive(Debug)]
pub(super) struct Fail {
    /// Bytes left of the query where it occurred.
    pub(super) rest: usize,
    pub(super) expected: String,
    pub(super) hint: String,
}

impl ParseError<&str> for Fail {
    fn from_error_kind(input: &str, _kind: ErrorKind) -> Fail {
        Fail { rest: input.len(), expected: "a term".into(), hint: String::new() }
    }

    fn append(_input: &str, _kind: ErrorKind, other: Fail) -> Fail {
        other
    }
}

pub(super) type Parsed<'a, T> = IResult<&'a str, T, Fail>;

pub(super) fn fail(input: &str, expected: &str, hint: &str) -> Err<Fail> {
    Err::Failure(Fail { rest: input.len(), expected: expected.into(), hint: hint.into() })
}

/// The text behind leading blanks.
pub(super) fn blank(input: &str) -> &str {
    input.trim_start()
}

/// Does a term end here?
pub(super) fn at_boundary(input: &str) -> bool {
    input.chars().next().is_none_or(|c| c.is_whitespace() || c == ')')
}

pub(super) fn boundary(input: &str) -> Result<(), Err<Fail>> {
    if at_boundary(input) {
        return Ok(());
    }
    Err(fail(input, "a blank before the next term", "quote the whole text, or write `\\` before the character"))
}

/// An operator that is a word: a blank, `(` or the end must follow.
pub(super) fn keyword<'a>(word: &'static str) -> impl FnMut(&'a str) -> Parsed<'a, ()> {
    move |input| {
        let (rest, _) = tag(word).parse(input)?;
        match rest.chars().next() {
            Some(c) if !(c.is_whitespace() || c == '(' || c == ')') => Err(Err::Error(Fail::from_error_kind(input, ErrorKind::Tag))),
            _ => Ok((rest, ())),
        }
    }
}

pub(super) fn chars_after_first(input: &str) -> &str {
    let mut chars = input.chars();
    chars.next();
    chars.as_str()
}

/// A value without wildcards, quoted or bare.
pub(super) fn plain_value(input: &str, in_brackets: bool) -> Parsed<'_, String> {
    if input.starts_with('"') {
        return quoted(input);
    }
    let (rest, glob) = bare(input, in_brackets)?;
    match simple(glob) {
        Simple::Text(text) => Ok((rest, text)),
        Simple::Prefix(_) | Simple::Glob(_) => {
            Err(fail(input, "a value without wildcards", "quote it, or write `\\*` for the character itself"))
        }
    }
}

/// `"…"`.
pub(super) fn quoted(input: &str) -> Parsed<'_, String> {
    let mut text = String::new();
    let mut chars = chars_after_first(input).chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok((chars.as_str(), text)),
            '\\' => match chars.next() {
                Some(c) => text.push(c),
                None => break,
            },
            c => text.push(c),
        }
    }
    Err(fail(input, "a closing `\"`", "the quote that opens here is never closed; write `\\\"` for the character itself"))
}

/// `/…/` if a term ends behind the second slash; else the slash is text, as in `/v1/models`.
pub(super) fn regex(input: &str) -> Option<(&str, String)> {
    let mut pattern = String::new();
    let mut chars = input.strip_prefix('/')?.chars();
    while let Some(c) = chars.next() {
        match c {
            '/' if at_boundary(chars.as_str()) && !pattern.is_empty() => return Some((chars.as_str(), pattern)),
            '/' => return None,
            '\\' => match chars.next()? {
                '/' => pattern.push('/'),
                c => pattern.extend(['\\', c]),
            },
            c => pattern.push(c),
        }
    }
    None
}

/// Text without quotes, up to a blank, a quote or a parenthesis, and in brackets up to their end.
pub(super) fn bare(input: &str, in_brackets: bool) -> Parsed<'_, Vec<Part>> {
    let ends = move |c: char| c.is_whitespace() || matches!(c, '"' | '(' | ')') || (in_brackets && matches!(c, ']' | '}' | ','));
    let plain = take_while1(move |c| !ends(c) && !matches!(c, '\\' | '*' | '?'));
    let mut piece = alt((
        preceded(char('\\'), anychar).map(|c: char| Part::Text(c.into())),
        value(Part::Any, char('*')),
        value(Part::One, char('?')),
        plain.map(|text: &str| Part::Text(text.into())),
    ));
    let mut parts = Vec::new();
    let mut rest = input;
    loop {
        let result: Parsed<Part> = piece.parse(rest);
        match result {
            Ok((after, part)) => {
                let last = !rest.starts_with('\\') && (after.is_empty() || after.starts_with(ends));
                match part {
                    Part::Text(text) if last && text.ends_with('…') && !(parts.is_empty() && text.chars().all(|c| c == '…')) => {
                        parts.push(Part::Text(text.trim_end_matches('…').to_string()));
                        parts.push(Part::Any);
                    }
                    part => parts.push(part),
                }
                rest = after;
            }
            Err(_) if rest == "\\" => return Err(fail(rest, "a character after `\\`", "write `\\\\` for a backslash")),
            Err(_) if parts.is_empty() => return Err(fail(rest, "a value", "quote text that begins with this character")),
            Err(_) => return Ok((rest, parts)),
        }
    }
}

pub(super) enum Simple {
    Text(String),
    Prefix(String),
    Glob(Glob),
}

/// Which of the three forms a bare text is.
pub(super) fn simple(parts: Vec<Part>) -> Simple {
    let mut parts = Glob::new(parts).parts;
    match parts.as_mut_slice() {
        [Part::Text(text)] => Simple::Text(std::mem::take(text)),
        [Part::Text(text), Part::Any] => Simple::Prefix(std::mem::take(text)),
        _ => Simple::Glob(Glob { parts }),
    }
}
