//! From the text of a query to an expression, or to an error that says where, what was expected, and what to write instead.
//!
//! ```text
//! query   = or
//! or      = and { ("OR" | "||") and }
//! and     = unary { ["AND" | "&&"] unary }            AND binds tighter than OR; terms side by side are ANDed
//! unary   = { "NOT" | "-" | "!" | "+" } primary
//! primary = "(" or ")" | name ["?"] ":" test | quoted | /pattern/ | bare
//! test    = "*" | quoted | /pattern/ | bare | op value | range | "IN" "[" value… "]" | "(" or of tests ")"
//! range   = ("[" | "{") bound "TO" bound ("]" | "}")  bound = "*" | value
//! ```
//! A backslash takes the next character as it is, in bare and quoted text. `*` and `?` in bare text are wildcards; a `…` at its end, as
//! shortened ids are printed, is a `*`. A name is what stands before the first `:` of bare text that begins with a letter, `_`, `#` or
//! `@`; a path (`a::b`), a URL (`http://…`), a time and an address (`12:02:08`, `10.0.0.1:80`) have none. `/v1/models` is a pattern only if
//! a blank, `)` or the end follows its second slash.

use std::fmt;
use std::ops::Range;

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{anychar, char};
use nom::combinator::{opt, value};
use nom::multi::many1;
use nom::sequence::{preceded, terminated};
use nom::{Err, Parser};

use super::expr::{Bound, Clause, Expr, Field, Glob, Op, Part, Term, Test};
use super::lexis::{Fail, Parsed, Simple, bare, blank, boundary, chars_after_first, fail, keyword, plain_value, quoted, regex, simple};
use super::words;

/// Longest query in bytes.
pub const MAX_LEN: usize = 16 * 1024;
/// Deepest nesting of parentheses and negations.
pub const MAX_DEPTH: usize = 64;

/// Why a text is no query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// The text.
    pub query: String,
    /// Byte of the text.
    pub at: usize,
    /// Character of the text, the first is 1.
    pub column: usize,
    /// What could have stood there.
    pub expected: String,
    /// What stands there.
    pub found: String,
    /// What to write instead; may be empty.
    pub hint: String,
}

impl QueryError {
    /// The query on one line and a mark under the place on the next.
    pub fn pointer(&self) -> String {
        let shown: String = self.query.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("{shown}\n{}^", " ".repeat(self.column - 1))
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "column {}: expected {}, found {}", self.column, self.expected, self.found)?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for QueryError {}

/// A text as a query takes it: in quotes, with what ends them escaped.
pub fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Parses a query. An empty text asks for every event.
pub fn parse(query: &str) -> Result<Expr, QueryError> {
    let error = |rest: usize, expected: &str, hint: &str| {
        let at = query.len() - rest;
        let found = match query[at..].chars().next() {
            None => "the end".to_string(),
            Some(c) if c.is_control() => format!("`{}`", c.escape_debug()),
            Some(c) => format!("`{c}`"),
        };
        let column = query[..at].chars().count() + 1;
        QueryError { query: query.to_string(), at, column, expected: expected.to_string(), found, hint: hint.to_string() }
    };
    if query.len() > MAX_LEN {
        let rest = query.len() - query.floor_char_boundary(MAX_LEN);
        return Err(error(rest, "the end", &format!("a query is at most {MAX_LEN} bytes long")));
    }
    if blank(query).is_empty() {
        return Ok(Expr::All);
    }
    let place = Place { total: query.len(), depth: 0, field: None };
    match or(place, query) {
        Ok((rest, expr)) => {
            let rest = blank(rest);
            if rest.is_empty() {
                return Ok(expr);
            }
            Err(error(rest.len(), "a term or the end of the query", "no `(` is open here; write `\\)` for the character itself"))
        }
        Err(Err::Error(fail) | Err::Failure(fail)) => Err(error(fail.rest, &fail.expected, &fail.hint)),
        // cannot fail: only streaming parsers are incomplete, and all here are complete ones.
        Err(Err::Incomplete(_)) => Err(error(0, "the rest of the query", "")),
    }
}

/// Where a parser stands: what it needs beside the text that is left.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// Length of the whole query.
    total: usize,
    /// Open parentheses and negations.
    depth: usize,
    /// Inside `name:( … )`: the name, and whether `?` stood behind it.
    field: Option<(&'a str, bool)>,
}

impl<'a> Place<'a> {
    fn deeper<'i>(self, input: &'i str) -> Result<Place<'a>, Err<Fail>> {
        if self.depth >= MAX_DEPTH {
            return Err(fail(input, "a query of less depth", &format!("parentheses and negations nest at most {MAX_DEPTH} deep")));
        }
        Ok(Place { depth: self.depth + 1, ..self })
    }

    fn clause(&self, from: &str, to: &str, term: Term) -> Expr {
        Expr::Clause(Clause { term, span: self.span(from, to) })
    }

    fn span(&self, from: &str, to: &str) -> Range<usize> {
        self.total - from.len()..self.total - to.len()
    }
}

fn or_sign(input: &str) -> Parsed<'_, ()> {
    alt((keyword("OR"), value((), tag("||")))).parse(input)
}

fn and_sign(input: &str) -> Parsed<'_, ()> {
    alt((keyword("AND"), value((), tag("&&")))).parse(input)
}

fn or<'a>(place: Place, input: &'a str) -> Parsed<'a, Expr> {
    let (mut rest, first) = and(place, input)?;
    let mut parts = vec![first];
    while let Ok((after, ())) = or_sign(blank(rest)) {
        let (after, part) = and(place, after)?;
        parts.push(part);
        rest = after;
    }
    Ok((rest, Expr::or(parts)))
}

fn and<'a>(place: Place, input: &'a str) -> Parsed<'a, Expr> {
    let (mut rest, first) = unary(place, blank(input))?;
    let mut parts = vec![first];
    loop {
        let next = blank(rest);
        if next.is_empty() || next.starts_with(')') || or_sign(next).is_ok() {
            return Ok((rest, Expr::and(parts)));
        }
        let (next, _) = opt(and_sign).parse(next)?;
        let (after, part) = unary(place, blank(next))?;
        parts.push(part);
        rest = after;
    }
}

fn unary<'a>(place: Place, input: &'a str) -> Parsed<'a, Expr> {
    if and_sign(input).is_ok() || or_sign(input).is_ok() {
        return Err(fail(input, "a term", "an operator stands between two terms; write `\\AND` for the word itself"));
    }
    if let Ok((rest, ())) = keyword("NOT").parse(input) {
        let (rest, inner) = unary(place.deeper(input)?, blank(rest))?;
        return Ok((rest, Expr::Not(Box::new(inner))));
    }
    let mut chars = input.chars();
    let (sign, next) = (chars.next(), chars.next());
    let rest = chars_after_first(input);
    // `--flag` is text, `-` alone too; inside `name:( … )` `-5` is a number and `!=5` a test.
    let negates = match (sign, next) {
        (Some('-'), Some('-')) | (_, None) => false,
        (Some('-'), Some('0'..='9' | '.')) if place.field.is_some() => false,
        (Some('!'), Some('=')) => false,
        (Some('-' | '!'), Some(c)) => !c.is_whitespace(),
        _ => false,
    };
    if negates {
        let (rest, inner) = unary(place.deeper(input)?, rest)?;
        return Ok((rest, Expr::Not(Box::new(inner))));
    }
    if sign == Some('+') && next.is_some_and(|c| !c.is_whitespace() && c != '+') {
        return unary(place.deeper(input)?, rest);
    }
    primary(place, input)
}

fn primary<'a>(place: Place, input: &'a str) -> Parsed<'a, Expr> {
    match input.chars().next() {
        None => return Err(fail(input, "a term", "the query ends where something should follow")),
        Some(')') => return Err(fail(input, "a term", "write `\\)` for the character itself")),
        Some('(') => return group(place, input),
        Some(_) => {}
    }
    if let Some((name, absent_ok)) = place.field {
        let (rest, expr) = test(place, name, absent_ok, input, input)?;
        return Ok((rest, expr));
    }
    if let Some((rest, name, absent_ok)) = field_name(input)? {
        return test(place, &name, absent_ok, input, rest);
    }
    let (rest, term) = free(input)?;
    boundary(rest)?;
    if term == Term::Glob(Glob::new([Part::Any])) {
        return Ok((rest, Expr::All));
    }
    let text = match &term {
        Term::Word(text) | Term::Phrase(text) | Term::Prefix(text) => Some(text.clone()),
        Term::Glob(glob) => Some(glob.parts.iter().filter_map(|p| if let Part::Text(t) = p { Some(t.as_str()) } else { None }).collect()),
        Term::Regex(_) | Term::Field(_) => None,
    };
    if text.is_some_and(|text| words::words(text.as_bytes()).next().is_none()) {
        return Err(fail(input, "a word to search for", "there is no letter or digit in it; search punctuation with a pattern: `/--/`"));
    }
    Ok((rest, place.clause(input, rest, term)))
}

fn group<'a>(place: Place, input: &'a str) -> Parsed<'a, Expr> {
    let place = place.deeper(input)?;
    let (rest, inner) = or(place, chars_after_first(input))?;
    let rest = blank(rest);
    let Some(rest) = rest.strip_prefix(')') else {
        let open = input.len();
        return Err(fail(rest, "`)`", &format!("it closes the `(` at byte {}", place.total - open + 1)));
    };
    boundary(rest)?;
    Ok((rest, inner))
}

/// A term without a name.
fn free(input: &str) -> Parsed<'_, Term> {
    if input.starts_with('"') {
        let (rest, text) = quoted(input)?;
        return Ok((rest, Term::Phrase(text)));
    }
    if let Some((rest, pattern)) = regex(input) {
        return Ok((rest, Term::Regex(pattern)));
    }
    let (rest, glob) = bare(input, false)?;
    Ok((
        rest,
        match simple(glob) {
            Simple::Text(text) => Term::Word(text),
            Simple::Prefix(text) => Term::Prefix(text),
            Simple::Glob(glob) => Term::Glob(glob),
        },
    ))
}

/// A name and its `:`, if the input begins with one: the rest, the name, and whether `?` stands between.
fn field_name(input: &str) -> Result<Option<(&str, String, bool)>, Err<Fail>> {
    let (rest, name) = if input.starts_with('"') {
        quoted(input)?
    } else {
        if !input.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '#' | '@' | '\\')) {
            return Ok(None);
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | '@' | '.' | '-');
        let piece = alt((preceded(char::<&str, Fail>('\\'), anychar).map(String::from), take_while1(plain).map(String::from)));
        match many1(piece).parse(input) {
            Ok((rest, pieces)) => (rest, pieces.concat()),
            Err(_) => return Ok(None),
        }
    };
    let (rest, absent_ok) = match rest.strip_prefix("?:") {
        Some(rest) => (rest, true),
        None => match rest.strip_prefix(':') {
            Some(rest) => (rest, false),
            None => return Ok(None),
        },
    };
    if !input.starts_with('"') && (rest.starts_with(':') || rest.starts_with("//")) {
        return Ok(None);
    }
    if name.is_empty() {
        return Err(fail(input, "a field name", "write `\\:` for a colon"));
    }
    Ok(Some((rest, name, absent_ok)))
}

/// The test behind `name:`; `from` is where the clause begins.
fn test<'a>(place: Place, name: &str, absent_ok: bool, from: &'a str, input: &'a str) -> Parsed<'a, Expr> {
    let make = |from: &str, to: &str, test: Test| place.clause(from, to, Term::Field(Field { name: name.to_string(), absent_ok, test }));
    let colon = format!("write `{name}:*` for any value, or `{name}\\:` for the text itself");
    match input.chars().next() {
        None => return Err(fail(input, &format!("a value after `{name}:`"), &colon)),
        Some(c) if c.is_whitespace() || c == ')' => return Err(fail(input, &format!("a value after `{name}:`"), &colon)),
        Some('(') => {
            let inside = Place { field: Some((name, absent_ok)), ..place };
            return group(inside, input);
        }
        Some('[' | '{') => {
            let (rest, range) = range(input)?;
            boundary(rest)?;
            return Ok((rest, make(from, rest, range)));
        }
        Some(_) => {}
    }
    if let Some(list) = input.strip_prefix("IN")
        && blank(list).starts_with('[')
    {
        return one_of(from, chars_after_first(blank(list)), &make);
    }
    if let Ok((operand, op)) = operator(input) {
        let operand = blank(operand);
        let (rest, text) = plain_value(operand, false)?;
        boundary(rest)?;
        let test = match op {
            None => Test::Equals(text),
            Some(op) => Test::Compare { op, value: text },
        };
        return Ok((rest, make(from, rest, test)));
    }
    if input.starts_with('"') {
        let (rest, text) = quoted(input)?;
        boundary(rest)?;
        return Ok((rest, make(from, rest, Test::Equals(text))));
    }
    if let Some((rest, pattern)) = regex(input) {
        return Ok((rest, make(from, rest, Test::Regex(pattern))));
    }
    let (rest, glob) = bare(input, false)?;
    boundary(rest)?;
    let test = match simple(glob) {
        Simple::Text(text) => Test::Equals(text),
        Simple::Prefix(text) if text.is_empty() => Test::Exists,
        Simple::Prefix(text) => Test::Prefix(text),
        Simple::Glob(glob) if glob.parts == [Part::Any] => Test::Exists,
        Simple::Glob(glob) => Test::Glob(glob),
    };
    Ok((rest, make(from, rest, test)))
}

/// `None` is `=`: plain equality.
fn operator(input: &str) -> Parsed<'_, Option<Op>> {
    alt((
        value(Some(Op::Ge), tag(">=")),
        value(Some(Op::Le), tag("<=")),
        value(Some(Op::Ne), tag("!=")),
        value(Some(Op::Gt), tag(">")),
        value(Some(Op::Lt), tag("<")),
        value(None, terminated(tag("="), opt(tag("=")))),
    ))
    .parse(input)
}

/// `[ a b c ]` behind its `[`: any of the values.
fn one_of<'a>(from: &'a str, input: &'a str, make: &dyn Fn(&str, &str, Test) -> Expr) -> Parsed<'a, Expr> {
    let mut parts = Vec::new();
    let mut rest = input;
    loop {
        let next = blank(rest).trim_start_matches(',');
        let next = blank(next);
        if let Some(after) = next.strip_prefix(']') {
            if parts.is_empty() {
                return Err(fail(next, "a value", "the list is empty"));
            }
            boundary(after)?;
            return Ok((after, Expr::or(parts)));
        }
        if next.is_empty() {
            return Err(fail(next, "`]`", "it closes the list of values"));
        }
        let (after, text) = plain_value(next, true)?;
        let begin = if parts.is_empty() { from } else { next };
        parts.push(make(begin, after, Test::Equals(text)));
        rest = after;
    }
}

fn range(input: &str) -> Parsed<'_, Test> {
    let hint = "a range is `[1 TO 5]`, `{1 TO 5}` without its ends, `[1 TO *]` without an upper end";
    let open = input.starts_with('[');
    let (rest, lo) = bound(blank(chars_after_first(input)))?;
    let Ok((rest, ())) = keyword("TO").parse(blank(rest)) else { return Err(fail(blank(rest), "`TO`", hint)) };
    let (rest, hi) = bound(blank(rest))?;
    let (rest, close) = match alt((char::<&str, Fail>(']'), char('}'))).parse(blank(rest)) {
        Ok((rest, c)) => (rest, c == ']'),
        Err(_) => return Err(fail(blank(rest), "`]` or `}`", hint)),
    };
    let lo = lo.map(|value| Bound { value, inclusive: open });
    let hi = hi.map(|value| Bound { value, inclusive: close });
    Ok((rest, Test::Range { lo, hi }))
}

fn bound(input: &str) -> Parsed<'_, Option<String>> {
    if let Some(rest) = input.strip_prefix('*')
        && rest.starts_with(|c: char| c.is_whitespace() || matches!(c, ']' | '}'))
    {
        return Ok((rest, None));
    }
    let (rest, text) = plain_value(input, true)?;
    Ok((rest, Some(text)))
}

#[cfg(test)]
#[path = "grammar_tests.rs"]
mod tests;
