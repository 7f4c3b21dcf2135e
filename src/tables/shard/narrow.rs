//! What of a query columns say: conditions in SQL that hold for every record that matches, so that files, row groups and pages are left out by their
//! statistics. A condition that holds for no other record is exact; all else is judged by the matcher, record by record.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::query::expr::{Clause, Expr, Field, Op, Term, Test};
use crate::query::matches::{MatchError, ValueTest};
use crate::query::number::Number;
use crate::query::subject::{Item, Name, Special};
use crate::store::columns::{ColumnInfo, SPELLINGS, Type, column_name};
use corr_parsers::event::Level;

/// Values that are listed in a condition.
const MOST_LISTED: usize = 512;
const LEVELS: [Level; 6] = [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Fatal];

/// What is known of the records of shards beside the types of their fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Names {
    pub sources: BTreeSet<String>,
    pub formats: BTreeSet<String>,
    /// How the records spell each field.
    pub spelled: BTreeMap<String, BTreeSet<String>>,
    /// Fields that may be spelled in more ways.
    pub open: BTreeSet<String>,
    /// Fields whose column does not hold every value.
    pub partial: BTreeSet<String>,
    /// Some fields have no column.
    pub overflow: bool,
}

impl Names {
    /// Takes a field of a segment in.
    pub fn field(&mut self, name: &str, info: &ColumnInfo) {
        self.spelled.entry(name.to_string()).or_default().extend(info.raw.iter().cloned());
        if info.raw.len() >= SPELLINGS {
            self.open.insert(name.to_string());
        }
        if info.partial || info.lost > 0 {
            self.partial.insert(name.to_string());
        }
    }

    /// Takes a segment of a source in: key and format of the source are the first and the third of what its file says of all its rows.
    pub fn part(&mut self, constants: &[Option<String>], overflow: bool) {
        self.sources.extend(constants.first().cloned().flatten());
        self.formats.extend(constants.get(2).cloned().flatten());
        self.overflow |= overflow;
    }

    /// Takes the names of other shards in.
    pub fn add(&mut self, other: Names) {
        self.sources.extend(other.sources);
        self.formats.extend(other.formats);
        for (name, spelled) in other.spelled {
            self.spelled.entry(name).or_default().extend(spelled);
        }
        self.open.extend(other.open);
        self.partial.extend(other.partial);
        self.overflow |= other.overflow;
    }
}

/// The columns of all shards that are asked.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    pub fields: BTreeMap<String, Type>,
    pub kinds: BTreeSet<String>,
    pub names: Names,
}

/// A condition on columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `None`: every record.
    pub sql: Option<String>,
    /// It holds for no record that does not match.
    pub exact: bool,
}

impl Condition {
    const EVERY: Condition = Condition { sql: None, exact: false };

    fn of(sql: String, exact: bool) -> Condition {
        Condition { sql: Some(sql), exact }
    }
}

/// How a clause is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub clause: String,
    pub by: Condition,
}

impl Columns {
    /// What columns say of a query, and of each of its clauses.
    ///
    /// # Errors
    /// A clause that the matcher does not take either.
    pub fn condition(&self, expr: &Expr, steps: &mut Vec<Step>) -> Result<Condition, MatchError> {
        let before = steps.len();
        Ok(match expr {
            Expr::All => Condition { sql: None, exact: true },
            Expr::Clause(clause) => {
                let by = self.clause(clause)?;
                steps.push(Step { clause: clause.term.to_string(), by: by.clone() });
                by
            }
            Expr::And(parts) => {
                let parts: Vec<Condition> = parts.iter().map(|part| self.condition(part, steps)).collect::<Result<_, _>>()?;
                let exact = parts.iter().all(|part| part.exact);
                let sql: Vec<String> = parts.into_iter().filter_map(|part| part.sql).collect();
                Condition { sql: (!sql.is_empty()).then(|| sql.join(" AND ")), exact }
            }
            Expr::Or(parts) => {
                let parts: Vec<Condition> = parts.iter().map(|part| self.condition(part, steps)).collect::<Result<_, _>>()?;
                let exact = parts.iter().all(|part| part.exact);
                match parts.into_iter().map(|part| part.sql).collect::<Option<Vec<String>>>() {
                    Some(sql) => {
                        Condition::of(format!("({})", sql.iter().map(|s| format!("({s})")).collect::<Vec<_>>().join(" OR ")), exact)
                    }
                    None => unused(steps, before),
                }
            }
            Expr::Not(inner) => match self.condition(inner, steps)? {
                Condition { sql: Some(sql), exact: true } => Condition::of(format!("NOT ({sql})"), true),
                Condition { sql: None, exact: true } => Condition::of("false".into(), true),
                Condition { exact: false, .. } => unused(steps, before),
            },
        })
    }

    fn clause(&self, clause: &Clause) -> Result<Condition, MatchError> {
        let Term::Field(field) = &clause.term else { return Ok(Condition::EVERY) };
        let name = Name::new(&field.name);
        // Built for all: what the matcher refuses is refused here.
        let test = ValueTest::new(field)?;
        Ok(match name.special {
            Special::Kind => listed("_kind", &self.kinds, |kind| test.accepts(Item::Text(kind))),
            Special::Source => listed("_source", &self.names.sources, |source| test.accepts(Item::Path(source))),
            Special::Format => listed("_format", &self.names.formats, |format| test.accepts(Item::Text(format))),
            Special::Level => {
                let accepted: Vec<&str> =
                    LEVELS.iter().filter(|level| test.accepts(Item::Level(**level))).map(|level| level.name()).collect();
                let given = format!("_level IS NOT NULL AND {}", one_of("_level", &accepted));
                // True or false, never unknown: it can be negated.
                Condition::of(if field.absent_ok { format!("(_level IS NULL OR ({given}))") } else { format!("({given})") }, true)
            }
            Special::Line if !field.absent_ok => match ends(&field.test) {
                Some(ends) => Condition { sql: whole_between("_line", ends), exact: false },
                None => Condition::EVERY,
            },
            Special::None if !field.absent_ok => self.field(field),
            _ => Condition::EVERY,
        })
    }

    /// A record that matches has the field, and where its column holds every value as a number, one within the ends of the test.
    fn field(&self, field: &Field) -> Condition {
        if self.names.overflow {
            return Condition::EVERY;
        }
        let named = |name: &str| name.eq_ignore_ascii_case(&field.name);
        let spelled = |name: &String| self.names.spelled.get(name).is_some_and(|spelled| spelled.iter().any(|s| named(s)));
        let may = |(name, _): &(&String, &Type)| named(name) || spelled(name) || self.names.open.contains(*name);
        let columns: Vec<String> = self.fields.iter().filter(may).map(|(name, kind)| self.column(name, *kind, &field.test)).collect();
        Condition::of(if columns.is_empty() { "false".into() } else { format!("({})", columns.join(" OR ")) }, false)
    }

    fn column(&self, name: &str, kind: Type, test: &Test) -> String {
        let column = quoted(&column_name(name));
        let ends = if self.names.partial.contains(name) { None } else { ends(test) };
        let between = ends.and_then(|ends| match kind {
            Type::Int => whole_between(&column, ends),
            Type::Float => double_between(&column, ends),
            Type::Bool | Type::Text => None,
        });
        between.unwrap_or_else(|| format!("{column} IS NOT NULL"))
    }
}

/// Conditions below are not used: one beside them is not known.
fn unused(steps: &mut [Step], from: usize) -> Condition {
    steps.iter_mut().skip(from).for_each(|step| step.by = Condition::EVERY);
    Condition::EVERY
}

/// A column that has one of some known values in every record.
fn listed(column: &str, values: &BTreeSet<String>, accepts: impl Fn(&str) -> bool) -> Condition {
    let accepted: Vec<&str> = values.iter().map(String::as_str).filter(|value| accepts(value)).collect();
    match accepted.len() {
        n if n > MOST_LISTED => Condition::EVERY,
        _ => Condition::of(one_of(column, &accepted), true),
    }
}

fn one_of(column: &str, values: &[&str]) -> String {
    match values {
        [] => "false".into(),
        [one] => format!("{column} = {}", text(one)),
        values => format!("{column} IN ({})", values.iter().map(|v| text(v)).collect::<Vec<_>>().join(", ")),
    }
}

/// A text as SQL takes it.
pub fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A name as SQL takes it letter by letter.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Least and greatest number of a test; both belong to it here. `None`: no test of numbers.
type Ends = (Option<Number>, Option<Number>);

fn ends(test: &Test) -> Option<Ends> {
    let end = |bound: &Option<crate::query::expr::Bound>| match bound {
        None => Some(None),
        Some(bound) => Number::read(&bound.value).map(Some),
    };
    match test {
        Test::Equals(value) => Number::read(value).map(|n| (Some(n), Some(n))),
        Test::Compare { op: Op::Ge | Op::Gt, value } => Number::read(value).map(|n| (Some(n), None)),
        Test::Compare { op: Op::Le | Op::Lt, value } => Number::read(value).map(|n| (None, Some(n))),
        Test::Range { lo, hi } => Some((end(lo)?, end(hi)?)).filter(|ends| *ends != (None, None)),
        _ => None,
    }
}

/// A column of whole numbers between two ends; `None` where they leave nothing out.
fn whole_between(column: &str, (lo, hi): Ends) -> Option<String> {
    // Casts saturate far outside of what a column holds.
    let least = lo.map(|lo| match lo {
        Number::Int(n) => n,
        Number::Float(x) => x.ceil() as i128,
    });
    let most = hi.map(|hi| match hi {
        Number::Int(n) => n,
        Number::Float(x) => x.floor() as i128,
    });
    let (first, last) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let crossed = least.zip(most).is_some_and(|(least, most)| least > most);
    if crossed || least.is_some_and(|n| n > last) || most.is_some_and(|n| n < first) {
        return Some("false".into());
    }
    let least = least.filter(|n| *n > first).map(|n| format!("{column} >= {n}"));
    let most = most.filter(|n| *n < last).map(|n| format!("{column} <= {n}"));
    joined(least, most)
}

/// A column of doubles between two ends.
fn double_between(column: &str, (lo, hi): Ends) -> Option<String> {
    // The nearest double of a whole number has no other double between it and the number.
    let double = |n: Number| match n {
        Number::Int(n) => n as f64,
        Number::Float(x) => x,
    };
    let least = lo.map(double).filter(|x| x.is_finite()).map(|x| format!("{column} >= {x:?}"));
    let most = hi.map(double).filter(|x| x.is_finite()).map(|x| format!("{column} <= {x:?}"));
    joined(least, most)
}

fn joined(least: Option<String>, most: Option<String>) -> Option<String> {
    match (least, most) {
        (Some(least), Some(most)) => Some(format!("({least} AND {most})")),
        (least, most) => least.or(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::grammar;

    fn columns() -> Columns {
        let set = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<BTreeSet<String>>();
        let mut columns = Columns {
            fields: [("n", Type::Int), ("x", Type::Float), ("t", Type::Text), ("twice", Type::Int), ("_own", Type::Int), ("N", Type::Int)]
                .map(|(name, kind)| (name.to_string(), kind))
                .into(),
            kinds: set(&["a", "A'b", "c"]),
            ..Columns::default()
        };
        columns.names.sources = set(&["logs/a.log", "logs/b.log"]);
        columns.names.formats = set(&["sglang"]);
        columns.names.spelled = [("t".to_string(), set(&["#tee", "t"]))].into();
        columns.names.partial = set(&["twice"]);
        columns
    }

    fn of(columns: &Columns, query: &str) -> (String, bool) {
        let condition = columns.condition(&grammar::parse(query).expect(query), &mut Vec::new()).expect(query);
        (condition.sql.unwrap_or_else(|| "every".into()), condition.exact)
    }

    #[test]
    fn conditions() {
        let columns = columns();
        let exact = [
            ("*", "every"),
            ("kind:a", "_kind = 'a'"),
            ("kind:A*", "_kind IN ('A''b', 'a')"),
            ("kind:!=a", "_kind IN ('A''b', 'c')"),
            ("kind:none", "false"),
            ("NOT kind:none", "NOT (false)"),
            ("source:a.log", "_source = 'logs/a.log'"),
            ("format:*", "_format = 'sglang'"),
            ("level:>=error", "(_level IS NOT NULL AND _level IN ('error', 'fatal'))"),
            ("NOT level?:info", "NOT ((_level IS NULL OR (_level IS NOT NULL AND _level = 'info')))"),
            ("kind:a OR level:info", "((_kind = 'a') OR ((_level IS NOT NULL AND _level = 'info')))"),
        ];
        for (query, sql) in exact {
            assert_eq!(of(&columns, query), (sql.to_string(), true), "{query}");
        }
        let wider = [
            ("word", "every"),
            ("NOT word", "every"),
            ("NOT n:1", "every"),
            ("word OR kind:a", "every"),
            ("word kind:a", "_kind = 'a'"),
            ("n:>5", "(\"N\" >= 5 OR \"n\" >= 5)"),
            ("n:5.5", "(false OR false)"),
            ("n:[2.5 TO 9}", "((\"N\" >= 3 AND \"N\" <= 9) OR (\"n\" >= 3 AND \"n\" <= 9))"),
            ("n:<99999999999999999999", "(\"N\" IS NOT NULL OR \"n\" IS NOT NULL)"),
            ("n:>99999999999999999999", "(false OR false)"),
            ("n:!=5", "(\"N\" IS NOT NULL OR \"n\" IS NOT NULL)"),
            ("n:*", "(\"N\" IS NOT NULL OR \"n\" IS NOT NULL)"),
            ("n?:5", "every"),
            ("x:9007199254740993", "((\"x\" >= 9007199254740992.0 AND \"x\" <= 9007199254740992.0))"),
            ("x:<=-0.5", "(\"x\" <= -0.5)"),
            ("x:<inf", "(\"x\" IS NOT NULL)"),
            ("\"#TEE\":q", "(\"t\" IS NOT NULL)"),
            ("twice:3", "(\"twice\" IS NOT NULL)"),
            ("_own:3", "((\"_own_\" >= 3 AND \"_own_\" <= 3))"),
            ("unheard:3", "false"),
            ("line:[10 TO 20]", "(_line >= 10 AND _line <= 20)"),
            ("rid:abc", "every"),
            ("worker:x", "every"),
            ("message:x", "every"),
        ];
        for (query, sql) in wider {
            assert_eq!(of(&columns, query), (sql.to_string(), false), "{query}");
        }
    }

    #[test]
    fn what_is_not_known_leaves_nothing_out() {
        let mut columns = columns();
        columns.names.open.insert("t".into());
        assert_eq!(of(&columns, "unheard:3").0, "(\"t\" IS NOT NULL)");
        columns.names.overflow = true;
        assert_eq!(of(&columns, "unheard:3").0, "every");
        columns.names.sources = (0..600).map(|n| n.to_string()).collect();
        assert_eq!(of(&columns, "source:*"), ("every".into(), false));
    }

    #[test]
    fn steps_say_what_is_used() {
        let mut steps = Vec::new();
        let query = grammar::parse("kind:a NOT (n:3 level:info) (word OR kind:c)").expect("a query");
        columns().condition(&query, &mut steps).expect("a query");
        let told: Vec<(&str, bool)> = steps.iter().map(|step| (step.clause.as_str(), step.by.sql.is_some())).collect();
        assert_eq!(told, [("kind:a", true), ("n:3", false), ("level:info", false), ("word", false), ("kind:c", false)]);
    }
}
