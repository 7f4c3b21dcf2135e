//! What does a query ask for, as a typed tree? And how is that tree written down again?

use std::fmt;
use std::ops::Range;

use super::words;

/// A parsed query. `And` and `Or` made by [`Expr::and`] and [`Expr::or`] hold at least two parts, none of their own sort.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    /// Every event.
    All,
    Clause(Clause),
}

/// One condition and where the query says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    pub term: Term,
    /// Bytes of the query's text.
    pub span: Range<usize>,
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A free word as typed. What holds several words (`10.0.0.1`, `/v1/completions`) is a phrase of them. Also finds an equal id.
    Word(String),
    /// What stood between quotes: its words, in a row.
    Phrase(String),
    /// `decode*`: words of which the last is a beginning. Also finds ids that begin so.
    Prefix(String),
    /// A free word with wildcards in other places.
    Glob(Glob),
    /// `/pattern/` over the visible text.
    Regex(String),
    Field(Field),
}

impl Term {
    /// The lower-case words that the term's text consists of; none for wildcards, patterns and fields.
    pub fn words(&self) -> Vec<String> {
        match self {
            Term::Word(text) | Term::Phrase(text) | Term::Prefix(text) => words::split(text),
            Term::Glob(_) | Term::Regex(_) | Term::Field(_) => Vec::new(),
        }
    }
}

/// A test of a named value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// As typed: a canonical name, a record's own name, an id's or a fact's name.
    pub name: String,
    /// Written `name?:…`: an event that has no such value matches too.
    pub absent_ok: bool,
    pub test: Test,
}

/// What is asked of a named value. Numbers stay text here, [`super::number::Number::read`] makes them numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `name:*`
    Exists,
    /// `name:text`, `name:"text"`
    Equals(String),
    /// `name:text*`, `name:text…`
    Prefix(String),
    /// `name:te*t`, `name:te?t`
    Glob(Glob),
    /// `name:/pattern/`
    Regex(String),
    /// `name:>=12`
    Compare { op: Op, value: String },
    /// `name:[a TO b}`; `None` is the open end `*`.
    Range { lo: Option<Bound>, hi: Option<Bound> },
}

/// One end of a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub value: String,
    /// `[` and `]`; `{` and `}` leave the value itself out.
    pub inclusive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Lt,
    Le,
    Gt,
    Ge,
    Ne,
}

impl Op {
    /// As in the query.
    pub fn sign(self) -> &'static str {
        match self {
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
            Op::Ne => "!=",
        }
    }
}

/// A wildcard pattern. Two neighbours are never both text or both `Any` when made by [`Glob::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct Glob {
    pub parts: Vec<Part>,
}

/// A piece of a wildcard pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    /// `*`: any characters, or none.
    Any,
    /// `?`: one character.
    One,
}

impl Glob {
    /// Joins neighbouring texts and neighbouring `*`.
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Glob {
        let mut joined: Vec<Part> = Vec::new();
        for part in parts {
            match (joined.last_mut(), part) {
                (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
                (Some(Part::Any), Part::Any) => {}
                (_, Part::Text(text)) if text.is_empty() => {}
                (_, part) => joined.push(part),
            }
        }
        Glob { parts: joined }
    }
}

impl Expr {
    /// All of them. Nested `And`s become one; one part stands for itself; none is `All`.
    pub fn and(parts: Vec<Expr>) -> Expr {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Expr::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Expr::All,
            1 => flat.remove(0),
            _ => Expr::And(flat),
        }
    }

    /// Any of them; parts must not be empty. Nested `Or`s become one; one part stands for itself.
    pub fn or(parts: Vec<Expr>) -> Expr {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Expr::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.remove(0) } else { Expr::Or(flat) }
    }

    /// The parts that must all hold: an `And`'s, else the expression itself. `--explain` counts what each of them removes.
    pub fn conjuncts(&self) -> &[Expr] {
        match self {
            Expr::And(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// Calls `visit` with every clause, in the query's order.
    pub fn each_clause<'a>(&'a self, visit: &mut dyn FnMut(&'a Clause)) {
        match self {
            Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|p| p.each_clause(visit)),
            Expr::Not(inner) => inner.each_clause(visit),
            Expr::All => {}
            Expr::Clause(clause) => visit(clause),
        }
    }

    /// The same expression with every span `0..0`, to compare two texts of one meaning.
    pub fn without_spans(mut self) -> Expr {
        fn clear(expr: &mut Expr) {
            match expr {
                Expr::And(parts) | Expr::Or(parts) => parts.iter_mut().for_each(clear),
                Expr::Not(inner) => clear(inner),
                Expr::All => {}
                Expr::Clause(clause) => clause.span = 0..0,
            }
        }
        clear(&mut self);
        self
    }
}

/// Writes a query that parses to the same expression.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Expr::And(parts) => write_joined(f, parts, " AND "),
            Expr::Or(parts) => write_joined(f, parts, " OR "),
            Expr::Not(inner) => {
                f.write_str("NOT ")?;
                write_nested(f, inner)
            }
            Expr::All => f.write_str("*"),
            Expr::Clause(clause) => write!(f, "{}", clause.term),
        }
    }
}

fn write_joined(f: &mut fmt::Formatter, parts: &[Expr], with: &str) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(with)?;
        }
        write_nested(f, part)?;
    }
    Ok(())
}

fn write_nested(f: &mut fmt::Formatter, expr: &Expr) -> fmt::Result {
    match expr {
        Expr::And(_) | Expr::Or(_) => write!(f, "({expr})"),
        other => write!(f, "{other}"),
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Term::Word(text) => write_bare(f, text),
            Term::Phrase(text) => write_quoted(f, text),
            Term::Prefix(text) => {
                write_bare(f, text)?;
                f.write_str("*")
            }
            Term::Glob(glob) => write!(f, "{glob}"),
            Term::Regex(pattern) => write_regex(f, pattern),
            Term::Field(field) => write!(f, "{field}"),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut chars = self.name.chars();
        let plain_name = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '#' | '@'))
            && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '#' | '@' | '.' | '-'));
        if plain_name {
            f.write_str(&self.name)?;
        } else {
            write_quoted(f, &self.name)?;
        }
        f.write_str(if self.absent_ok { "?:" } else { ":" })?;
        match &self.test {
            Test::Exists => f.write_str("*"),
            Test::Equals(text) => write_value(f, text),
            Test::Prefix(text) => {
                write_bare(f, text)?;
                f.write_str("*")
            }
            Test::Glob(glob) => write!(f, "{glob}"),
            Test::Regex(pattern) => write_regex(f, pattern),
            Test::Compare { op, value } => {
                f.write_str(op.sign())?;
                write_value(f, value)
            }
            Test::Range { lo, hi } => {
                let closed = |bound: &Option<Bound>| bound.as_ref().is_none_or(|b| b.inclusive);
                f.write_str(if closed(lo) { "[" } else { "{" })?;
                write_bound(f, lo)?;
                f.write_str(" TO ")?;
                write_bound(f, hi)?;
                f.write_str(if closed(hi) { "]" } else { "}" })
            }
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(text) if i == 0 => write_bare(f, text)?,
                Part::Text(text) => write_escaped(f, text)?,
                Part::Any => f.write_str("*")?,
                Part::One => f.write_str("?")?,
            }
        }
        Ok(())
    }
}

fn write_bound(f: &mut fmt::Formatter, bound: &Option<Bound>) -> fmt::Result {
    match bound {
        None => f.write_str("*"),
        Some(bound) => write_value(f, &bound.value),
    }
}

/// Bare where no character could be taken for another thing, else in quotes.
fn write_value(f: &mut fmt::Formatter, text: &str) -> fmt::Result {
    let plain = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    if plain && !matches!(text, "TO" | "IN" | "AND" | "OR" | "NOT") {
        return f.write_str(text);
    }
    write_quoted(f, text)
}

fn write_quoted(f: &mut fmt::Formatter, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
    }
    f.write_str("\"")
}

/// Without quotes: the first character is escaped where it or the whole text would mean something.
fn write_bare(f: &mut fmt::Formatter, text: &str) -> fmt::Result {
    if text.starts_with('-') || matches!(text, "AND" | "OR" | "NOT" | "IN") {
        f.write_str("\\")?;
        f.write_str(&text[..1])?;
        return write_escaped(f, &text[1..]);
    }
    write_escaped(f, text)
}

fn write_escaped(f: &mut fmt::Formatter, text: &str) -> fmt::Result {
    for c in text.chars() {
        if !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-')) {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
    }
    Ok(())
}

fn write_regex(f: &mut fmt::Formatter, pattern: &str) -> fmt::Result {
    f.write_str("/")?;
    let mut escaped = false;
    for c in pattern.chars() {
        if c == '/' && !escaped {
            f.write_str("\\")?;
        }
        escaped = c == '\\' && !escaped;
        write!(f, "{c}")?;
    }
    f.write_str("/")
}
