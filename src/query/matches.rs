//! Does this event match? The one answer, for events from a scan and from the store alike.
//!
//! A name may mean several things in one event (`id`, `worker`, a field given twice): a test holds if it holds for any of them, and `!=` if
//! there is one and none is equal. A value that is absent fails every test unless the name is written `name?:`. Text ignores ASCII case;
//! numbers compare exactly over all types; a comparison with a number is false for a text that is none. Patterns keep case unless they
//! say `(?i)`.

use std::cmp::Ordering;
use std::ops::Range;

use corr_parsers::event::{Level, Value};
use regex::bytes::{Regex, RegexBuilder};

use super::expr::{Bound, Clause, Expr, Op, Part, Term, Test};
use super::idtest::{IdPrefix, IdTest};
use super::number::Number;
use super::pattern::{self, Phrase};
use super::subject::{Item, Name, Special, Subject};
use super::words;

/// Most patterns in one query.
pub const MAX_PATTERNS: usize = 32;
/// Largest compiled pattern in bytes.
const PATTERN_SIZE: usize = 1 << 20;

/// Why a parsed query cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{clause}`: {reason}")]
pub struct MatchError {
    /// Bytes of the query's text.
    pub span: Range<usize>,
    /// The clause, written out.
    pub clause: String,
    pub reason: String,
}

/// A query made ready to be asked of many events. Shared between threads.
#[derive(Clone, Debug)]
pub struct Matcher {
    root: Node,
}

#[derive(Clone, Debug)]
enum Node {
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    All,
    /// Words in the visible text, or an id.
    Words(Phrase, IdMatch),
    Pattern(Regex),
    Field {
        name: Name,
        absent_ok: bool,
        test: FieldTest,
    },
    Message {
        absent_ok: bool,
        test: MessageTest,
    },
}

#[derive(Clone, Debug)]
enum MessageTest {
    Exists,
    Words(Phrase),
    Lacks(Phrase),
    Pattern(Regex),
}

#[derive(Clone, Debug)]
enum IdMatch {
    None,
    Whole(IdTest),
    Prefix(IdPrefix),
}

#[derive(Clone, Debug)]
enum FieldTest {
    Exists,
    Equals(Equal),
    Differs(Equal),
    Prefix { text: String, id: IdPrefix },
    Glob(Vec<Part>),
    Pattern(Regex),
    Between(Between),
}

/// A text to be equal to, read in every way it could be meant.
#[derive(Clone, Debug)]
struct Equal {
    text: String,
    number: Option<Number>,
    level: Option<Level>,
    id: IdTest,
}

#[derive(Clone, Debug)]
struct Between {
    lo: Option<End>,
    hi: Option<End>,
    /// Every end is a number.
    numeric: bool,
}

#[derive(Clone, Debug)]
struct End {
    text: String,
    number: Option<Number>,
    level: Option<Level>,
    inclusive: bool,
}

impl Matcher {
    /// Compiles a query; fails for a pattern that is wrong or too large, and for a level that there is not.
    pub fn new(expr: &Expr) -> Result<Matcher, MatchError> {
        let mut patterns = 0;
        expr.each_clause(&mut |clause| {
            let is_pattern = match &clause.term {
                Term::Regex(_) => true,
                Term::Field(field) => matches!(field.test, Test::Regex(_)),
                _ => false,
            };
            patterns += usize::from(is_pattern);
        });
        if patterns > MAX_PATTERNS {
            let reason = format!("the query has {patterns} patterns, at most {MAX_PATTERNS} are allowed; join them with `|`");
            return Err(MatchError { span: 0..0, clause: "/…/".into(), reason });
        }
        Ok(Matcher { root: node(expr)? })
    }

    /// Does the event match?
    pub fn matches(&self, subject: &Subject) -> bool {
        holds(&self.root, subject)
    }
}

fn node(expr: &Expr) -> Result<Node, MatchError> {
    let several = |parts: &[Expr]| -> Result<Vec<Node>, MatchError> {
        let mut nodes = parts.iter().map(node).collect::<Result<Vec<_>, _>>()?;
        // Fields are a few comparisons, text must be read.
        nodes.sort_by_key(cost);
        Ok(nodes)
    };
    match expr {
        Expr::And(parts) => Ok(Node::And(several(parts)?)),
        Expr::Or(parts) => Ok(Node::Or(several(parts)?)),
        Expr::Not(inner) => Ok(Node::Not(Box::new(node(inner)?))),
        Expr::All => Ok(Node::All),
        Expr::Clause(clause) => {
            clause_node(clause).map_err(|reason| MatchError { span: clause.span.clone(), clause: clause.term.to_string(), reason })
        }
    }
}

fn cost(node: &Node) -> u32 {
    match node {
        Node::All => 0,
        Node::Field { .. } => 1,
        Node::Words(..) | Node::Message { .. } => 10,
        Node::Pattern(_) => 30,
        Node::Not(inner) => cost(inner),
        Node::And(parts) | Node::Or(parts) => parts.iter().fold(0, |sum, part| sum.saturating_add(cost(part))),
    }
}

fn clause_node(clause: &Clause) -> Result<Node, String> {
    Ok(match &clause.term {
        Term::Word(text) => Node::Words(phrase(text), IdMatch::Whole(IdTest::free(text))),
        Term::Phrase(text) => Node::Words(phrase(text), IdMatch::None),
        Term::Prefix(text) => Node::Words(prefix_phrase(text), IdMatch::Prefix(IdPrefix::free(text))),
        Term::Glob(glob) => Node::Words(Phrase::new(pattern::glob_phrase(&glob.parts)), IdMatch::None),
        Term::Regex(text) => Node::Pattern(regex(text)?),
        Term::Field(field) => {
            let name = Name::new(&field.name);
            let absent_ok = field.absent_ok;
            if name.special == Special::Message {
                return message_node(&field.test, absent_ok);
            }
            let test = field_test(&field.test, &name)?;
            Node::Field { name, absent_ok, test }
        }
    })
}

fn field_test(test: &Test, name: &Name) -> Result<FieldTest, String> {
    Ok(match test {
        Test::Exists => FieldTest::Exists,
        Test::Equals(text) => FieldTest::Equals(equal(text)),
        Test::Compare { op: Op::Ne, value } => FieldTest::Differs(equal(value)),
        Test::Prefix(text) => FieldTest::Prefix { text: text.clone(), id: IdPrefix::new(text) },
        Test::Glob(glob) => FieldTest::Glob(glob.parts.clone()),
        Test::Regex(text) => FieldTest::Pattern(regex(text)?),
        Test::Compare { op, value } => {
            let bound = Bound { value: value.clone(), inclusive: matches!(op, Op::Le | Op::Ge) };
            let (lo, hi) = if matches!(op, Op::Gt | Op::Ge) { (Some(bound), None) } else { (None, Some(bound)) };
            FieldTest::Between(between(name, &lo, &hi)?)
        }
        Test::Range { lo, hi } => FieldTest::Between(between(name, lo, hi)?),
    })
}

/// The test of one field clause, to be asked of single values: what the planner asks of a column.
#[derive(Clone, Debug)]
pub struct ValueTest {
    test: FieldTest,
}

impl ValueTest {
    /// Compiles a clause's test.
    pub fn new(field: &super::expr::Field) -> Result<ValueTest, MatchError> {
        let name = Name::new(&field.name);
        let wrong = |reason| MatchError { span: 0..0, clause: Term::Field(field.clone()).to_string(), reason };
        Ok(ValueTest { test: field_test(&field.test, &name).map_err(wrong)? })
    }

    /// The test is `!=`: it holds if no value is equal, so that one value alone does not decide it.
    pub fn is_negative(&self) -> bool {
        matches!(self.test, FieldTest::Differs(_))
    }

    /// Does an event match whose only value of that name is this one?
    pub fn accepts(&self, item: Item) -> bool {
        match &self.test {
            FieldTest::Differs(equal) => !is_equal(equal, item),
            test => item_holds(test, item),
        }
    }
}

/// `message:…` looks for words, not for the whole message.
fn message_node(test: &Test, absent_ok: bool) -> Result<Node, String> {
    let test = match test {
        Test::Exists => MessageTest::Exists,
        Test::Equals(text) => MessageTest::Words(phrase(text)),
        Test::Compare { op: Op::Ne, value } => MessageTest::Lacks(phrase(value)),
        Test::Prefix(text) => MessageTest::Words(prefix_phrase(text)),
        Test::Glob(glob) => MessageTest::Words(Phrase::new(pattern::glob_phrase(&glob.parts))),
        Test::Regex(text) => MessageTest::Pattern(regex(text)?),
        Test::Compare { .. } | Test::Range { .. } => return Err("a message has no order; search its words".into()),
    };
    Ok(Node::Message { absent_ok, test })
}

fn phrase(text: &str) -> Phrase {
    Phrase::new(pattern::phrase(text))
}

fn prefix_phrase(text: &str) -> Phrase {
    Phrase::new(pattern::glob_phrase(&[Part::Text(text.to_string()), Part::Any]))
}

fn regex(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(PATTERN_SIZE).dfa_size_limit(2 * PATTERN_SIZE).nest_limit(64).build();
    built.map_err(|e| match e {
        regex::Error::Syntax(text) => format!("the pattern is wrong: {}", text.lines().last().unwrap_or("").trim_start_matches("error: ")),
        regex::Error::CompiledTooBig(_) => format!("the pattern takes more than {PATTERN_SIZE} bytes when compiled"),
        other => other.to_string(),
    })
}

fn equal(text: &str) -> Equal {
    Equal { text: text.to_string(), number: Number::read(text), level: Level::read(text), id: IdTest::new(text) }
}

fn between(name: &Name, lo: &Option<Bound>, hi: &Option<Bound>) -> Result<Between, String> {
    let end = |bound: &Option<Bound>| -> Result<Option<End>, String> {
        let Some(bound) = bound else { return Ok(None) };
        let level = Level::read(&bound.value);
        if name.special == Special::Level && level.is_none() {
            return Err(format!("`{}` is no level; levels are trace, debug, info, warn, error, fatal", bound.value));
        }
        Ok(Some(End { text: bound.value.clone(), number: Number::read(&bound.value), level, inclusive: bound.inclusive }))
    };
    let (lo, hi) = (end(lo)?, end(hi)?);
    let numeric = lo.iter().chain(&hi).all(|end| end.number.is_some());
    Ok(Between { lo, hi, numeric })
}

fn holds(node: &Node, subject: &Subject) -> bool {
    match node {
        Node::And(parts) => parts.iter().all(|part| holds(part, subject)),
        Node::Or(parts) => parts.iter().any(|part| holds(part, subject)),
        Node::Not(inner) => !holds(inner, subject),
        Node::All => true,
        Node::Words(tests, id) => {
            let by_id = match id {
                IdMatch::None => false,
                IdMatch::Whole(test) => subject.event.ids.iter().any(|id| test.holds(id)),
                IdMatch::Prefix(test) => subject.event.ids.iter().any(|id| test.holds(id)),
            };
            by_id || words_within(subject, 0..subject.payload.len(), tests)
        }
        Node::Pattern(pattern) => pattern_within(subject, 0..subject.payload.len(), pattern),
        Node::Message { absent_ok, test } => message_holds(subject, *absent_ok, test),
        Node::Field { name, absent_ok, test } => {
            let mut present = false;
            let hit = subject.any(name, &mut |item| {
                present = true;
                match test {
                    FieldTest::Differs(equal) => is_equal(equal, item),
                    test => item_holds(test, item),
                }
            });
            if !present {
                return *absent_ok;
            }
            hit != matches!(test, FieldTest::Differs(_))
        }
    }
}

/// The visible parts of a range of the payload.
fn visible_within<'a>(subject: &'a Subject, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + 'a {
    let end = range.end.min(subject.payload.len());
    words::visible(end, subject.withheld).filter_map(move |seen| {
        let seen = seen.start.max(range.start)..seen.end;
        (!seen.is_empty()).then_some(seen)
    })
}

fn words_within(subject: &Subject, range: Range<usize>, phrase: &Phrase) -> bool {
    visible_within(subject, range).any(|seen| phrase.stands_in(&subject.payload[words::uncut(subject.payload, seen)]))
}

/// What stands before a visible part is looked at for `^` and `\b`; what stands behind it is not: a withheld span ends the text.
fn pattern_within(subject: &Subject, range: Range<usize>, pattern: &Regex) -> bool {
    let begin = range.start;
    visible_within(subject, range).any(|seen| pattern.is_match_at(&subject.payload[begin..seen.end], seen.start - begin))
}

fn message_holds(subject: &Subject, absent_ok: bool, test: &MessageTest) -> bool {
    let message = subject.event.message.clone();
    let message = message.start..message.end.min(subject.payload.len());
    if message.is_empty() {
        return absent_ok;
    }
    match test {
        MessageTest::Exists => true,
        MessageTest::Words(tests) => words_within(subject, message, tests),
        MessageTest::Lacks(tests) => !words_within(subject, message, tests),
        MessageTest::Pattern(pattern) => pattern_within(subject, message, pattern),
    }
}

fn item_holds(test: &FieldTest, item: Item) -> bool {
    match test {
        FieldTest::Exists => true,
        FieldTest::Equals(equal) | FieldTest::Differs(equal) => is_equal(equal, item),
        FieldTest::Prefix { text, id } => match item {
            Item::Id(have) => id.holds(have),
            item => any_text(item, |have| have.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes()))),
        },
        FieldTest::Glob(parts) => any_text(item, |have| pattern::glob(parts, have)),
        FieldTest::Pattern(pattern) => any_text(item, |have| pattern.is_match(have)),
        FieldTest::Between(between) => is_between(between, item),
    }
}

/// Is any text that an item can be written as such that …?
fn any_text(item: Item, mut fits: impl FnMut(&[u8]) -> bool) -> bool {
    match item {
        Item::Text(text) => fits(text.as_bytes()),
        Item::Path(path) => fits(path.as_bytes()) || path.rsplit_once('/').is_some_and(|(_, name)| fits(name.as_bytes())),
        Item::Number(number) => fits(number.to_string().as_bytes()),
        Item::Level(level) => fits(level.name().as_bytes()),
        Item::Id(id) => {
            if fits(id.text.as_bytes()) {
                return true;
            }
            let mut key = String::new();
            corr_parsers::ids::canonical(Some(id.kind), &id.text, &mut key);
            key != id.text && fits(key.as_bytes())
        }
        Item::Value(value) => match value {
            Value::Str(text) => fits(text.as_bytes()),
            Value::Int(int) => fits(int.to_string().as_bytes()),
            Value::UInt(int) => fits(int.to_string().as_bytes()),
            Value::Float(float) => fits(float.to_string().as_bytes()),
            Value::Bool(true) => fits(b"true"),
            Value::Bool(false) => fits(b"false"),
        },
    }
}

fn is_equal(equal: &Equal, item: Item) -> bool {
    let same_number = |have: Number| equal.number.is_some_and(|want| want.order(have) == Some(Ordering::Equal));
    match item {
        Item::Text(text) => text.eq_ignore_ascii_case(&equal.text),
        Item::Path(path) => {
            let want = equal.text.as_bytes();
            let have = path.as_bytes();
            let start = have.len().wrapping_sub(want.len());
            have.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(want)) && (start == 0 || have[start - 1] == b'/')
        }
        Item::Number(number) => same_number(Number::Int(i128::from(number))),
        Item::Level(level) => equal.level == Some(level),
        Item::Id(id) => equal.id.holds(id),
        Item::Value(Value::Str(text)) => text.eq_ignore_ascii_case(&equal.text),
        Item::Value(Value::Bool(have)) => equal.text.eq_ignore_ascii_case(if *have { "true" } else { "false" }),
        Item::Value(value) => Number::of(value).is_some_and(same_number),
    }
}

fn is_between(between: &Between, item: Item) -> bool {
    if let Item::Level(level) = item {
        return within(between, |end| end.level.map(|want| level.cmp(&want)));
    }
    if between.numeric {
        let number = match item {
            Item::Text(text) | Item::Path(text) => Number::read(text),
            Item::Number(number) => Some(Number::Int(i128::from(number))),
            Item::Id(id) => Number::read(&id.text),
            Item::Value(value) => Number::of(value),
            Item::Level(_) => None,
        };
        if between.lo.is_none() && between.hi.is_none() {
            return true;
        }
        return number.is_some_and(|have| within(between, |end| end.number.and_then(|want| have.order(want))));
    }
    let text = match item {
        Item::Text(text) | Item::Path(text) => text,
        Item::Id(id) => &id.text,
        Item::Value(Value::Str(text)) => text,
        Item::Value(_) | Item::Number(_) | Item::Level(_) => return false,
    };
    let lower = |text: &str| text.to_ascii_lowercase();
    let have = lower(text);
    within(between, |end| Some(have.cmp(&lower(&end.text))))
}

/// `order` says how the value lies to an end of the range.
fn within(between: &Between, order: impl Fn(&End) -> Option<Ordering>) -> bool {
    let fits = |end: &Option<End>, wrong: Ordering| {
        let Some(end) = end else { return true };
        match order(end) {
            None => false,
            Some(Ordering::Equal) => end.inclusive,
            Some(found) => found != wrong,
        }
    };
    fits(&between.lo, Ordering::Less) && fits(&between.hi, Ordering::Greater)
}

#[cfg(test)]
#[path = "matches_tests.rs"]
mod tests;
