//! From an expression to the rows of a segment that can match it, without reading the records.
//!
//! Every step gives a set that holds all matches. A set is exact when nothing else is in it; otherwise each of its records is read and
//! judged by the matcher, so an index can make an answer faster but never other.

use corr_parsers::ids::{self, IdKind};

use super::expr::{Clause, Expr, Field, Term, Test};
use super::matches::{MatchError, ValueTest};
use super::subject::{Item, Name, Special};
use super::words;
use crate::store::columns::column_name;
use crate::store::open::{Cell, Segment, StoreError};
use crate::store::rowset::RowSet;
use crate::store::word_index::{ID_WORD, LONGEST, WordClass, class, first_bytes};

/// Why rows could not be found.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Match(#[from] MatchError),
}

/// So few candidate rows that reading them costs less than narrowing them further.
pub const FEW: usize = 512;

/// A segment and what is known of its source.
pub struct View<'v> {
    pub segment: &'v Segment,
    pub facts: super::subject::Facts<'v>,
    /// Finds the rows whose bytes hold a text, whatever its case, by reading the source. `None`: the source cannot be read.
    pub scan: &'v dyn Fn(&str) -> Option<RowSet>,
}

/// What was done for one clause, for `--explain`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes of the query's text.
    pub span: std::ops::Range<usize>,
    /// Where the rows came from: `word index`, `id index`, `columns`, `source scan`, `every record`.
    pub by: &'static str,
    /// Rows that it left as candidates.
    pub rows: usize,
    pub exact: bool,
}

/// Is it the id index that says which few rows can match?
pub fn by_ids(expr: &Expr) -> bool {
    match expr {
        Expr::And(parts) => parts.iter().any(by_ids),
        Expr::Or(parts) => parts.iter().all(by_ids),
        Expr::Clause(clause) => match &clause.term {
            Term::Word(text) => ids::is_uuid(text) || class(text.as_bytes()) == WordClass::Id,
            Term::Field(field) => {
                matches!(Name::new(&field.name).special, Special::Ids(_) | Special::AnyId)
                    && matches!(field.test, Test::Equals(_))
                    && !field.absent_ok
            }
            _ => false,
        },
        Expr::All | Expr::Not(_) => false,
    }
}

/// The rows of a segment that can match.
pub fn rows(expr: &Expr, view: &View<'_>, steps: &mut Vec<Step>) -> Result<RowSet, PlanError> {
    let len = view.segment.len();
    match expr {
        Expr::All => Ok(RowSet::all(len)),
        Expr::Not(inner) => Ok(rows(inner, view, steps)?.complement()),
        Expr::Or(parts) => {
            let mut set = RowSet::none(len);
            for part in parts {
                set.unite(&rows(part, view, steps)?);
            }
            Ok(set)
        }
        Expr::And(parts) => {
            let mut order: Vec<&Expr> = parts.iter().collect();
            order.sort_by_key(|p| cost(p));
            let mut set = RowSet::all(len);
            for part in order {
                set.intersect(&rows(part, view, steps)?);
                if set.count() <= FEW {
                    // Reading so few records is cheaper than the rest of the plan, and the matcher asks them everything.
                    set.exact = set.is_empty();
                    break;
                }
            }
            Ok(set)
        }
        Expr::Clause(clause) => {
            let (set, by) = clause_rows(clause, view)?;
            steps.push(Step { span: clause.span.clone(), by, rows: set.count(), exact: set.exact });
            Ok(set)
        }
    }
}

/// Cheap first: ids, then words and kinds, then columns, then what must read the source.
fn cost(expr: &Expr) -> u8 {
    match expr {
        Expr::All => 0,
        Expr::Not(inner) => 1 + cost(inner),
        Expr::And(parts) | Expr::Or(parts) => parts.iter().map(cost).max().unwrap_or(0),
        Expr::Clause(clause) => match &clause.term {
            Term::Field(field) => match Name::new(&field.name).special {
                Special::Ids(_) | Special::AnyId => 1,
                Special::Kind | Special::Source | Special::Format => 2,
                Special::Stream | Special::Note => 8,
                _ => 4,
            },
            Term::Glob(_) | Term::Regex(_) => 9,
            term => match term.words().iter().map(|w| class(w.as_bytes())).find(|c| *c != WordClass::Number) {
                Some(_) => 3,
                None => 7,
            },
        },
    }
}

fn clause_rows(clause: &Clause, view: &View<'_>) -> Result<(RowSet, &'static str), PlanError> {
    match &clause.term {
        Term::Word(text) => text_rows(text, false, true, view),
        Term::Phrase(text) => text_rows(text, false, false, view),
        Term::Prefix(text) => text_rows(text, true, true, view),
        Term::Glob(_) | Term::Regex(_) => Ok((RowSet::unknown(view.segment.len()), "every record")),
        Term::Field(field) => field_rows(field, view),
    }
}

/// Rows that hold all words of a text (the last one as a beginning if `prefix`), or bear it as an id if `or_id`.
fn text_rows(text: &str, prefix: bool, or_id: bool, view: &View<'_>) -> Result<(RowSet, &'static str), PlanError> {
    let segment = view.segment;
    let mut ids = RowSet::none(segment.len());
    if or_id {
        id_rows(text, prefix, &[None, Some(IdKind::WorkerId)], segment, &mut ids)?;
        if ids::is_uuid(text) && !prefix {
            // Every UUID that stands in a record is in the id index, whether the parser knew it for an id or not.
            ids.exact = false;
            return Ok((ids, "id index"));
        }
    }
    let words = words::split(text);
    if words.is_empty() {
        return Ok((RowSet::unknown(segment.len()), "every record"));
    }
    let mut by = "word index";
    let mut set = RowSet::all(segment.len());
    let last = words.len() - 1;
    let numbers_only = words.iter().all(|w| class(w.as_bytes()) == WordClass::Number);
    for (i, word) in words.iter().enumerate() {
        if class(word.as_bytes()) == WordClass::Number && !numbers_only {
            set.exact = false;
            continue;
        }
        let (rows, found_by) = word_rows(word, prefix && i == last, view)?;
        if found_by != "word index" {
            by = found_by;
        }
        set.intersect(&rows);
    }
    if words.len() > 1 {
        set.exact = false;
    }
    let ids_found = !ids.is_empty();
    ids.exact = !ids_found;
    set.unite(&ids);
    Ok((set, by))
}

fn word_rows(word: &str, prefix: bool, view: &View<'_>) -> Result<(RowSet, &'static str), PlanError> {
    let segment = view.segment;
    let len = segment.len();
    // A beginning of hex digits can go on to be a number.
    let all_hex = word.bytes().all(|b| b.is_ascii_hexdigit());
    let class = class(word.as_bytes());
    // So can a beginning that begins with a digit, as a number with letters behind it.
    let open_number = prefix && (word.as_bytes().first().is_some_and(u8::is_ascii_digit) || all_hex && word.len() < ID_WORD);
    if class == WordClass::Number || open_number {
        return Ok(match (view.scan)(word) {
            Some(mut set) => {
                set.exact = false;
                (set, "source scan")
            }
            None => (RowSet::unknown(len), "every record"),
        });
    }
    let mut set = RowSet::none(len);
    let mut by = "word index";
    if class == WordClass::Id || (prefix && all_hex) {
        id_rows(word, prefix, &[None], segment, &mut set)?;
        set.exact = false;
        by = "id index";
        if !prefix {
            return Ok((set, by));
        }
    }
    if !segment.meta()?.has_words {
        return Ok((RowSet::unknown(len), "every record"));
    }
    // Long words are terms by their first bytes.
    let term = first_bytes(word);
    set.exact &= word.len() < LONGEST;
    segment.rows_of_word(term, prefix || word.len() > LONGEST, |row| set.insert(row as usize))?;
    let meta = segment.meta()?;
    let constant: Vec<bool> =
        meta.kind_words.iter().map(|k| k.words.iter().any(|w| if prefix { w.starts_with(term) } else { w == term })).collect();
    if constant.contains(&true) {
        // A row of the kind has the word unless it is one that was indexed in full; that one is in the index if it has it.
        let mut irregular = RowSet::none(len);
        for (kind, _) in constant.iter().enumerate().filter(|(_, c)| **c) {
            meta.kind_words[kind].irregular.iter().for_each(|r| irregular.insert(*r as usize));
        }
        let mut add = |row: usize| {
            if !irregular.contains(row) {
                set.insert(row);
            }
        };
        kind_rows(segment, &constant, &mut add)?;
    }
    Ok((set, by))
}

/// Rows whose kind is chosen.
fn kind_rows(segment: &Segment, chosen: &[bool], add: &mut dyn FnMut(usize)) -> Result<(), StoreError> {
    if chosen.iter().all(|c| *c) {
        (0..segment.len()).for_each(add);
        return Ok(());
    }
    segment.rows()?.of_kinds(chosen, add);
    Ok(())
}

/// Adds rows that bear an id equal to (or beginning with) a text, in any of the spellings.
fn id_rows(text: &str, prefix: bool, kinds: &[Option<IdKind>], segment: &Segment, set: &mut RowSet) -> Result<(), StoreError> {
    let ids = segment.ids()?;
    let mut found = Vec::new();
    let mut canonical = String::new();
    if prefix && ["chatcmpl-", "cmpl-"].iter().any(|p| p.starts_with(text)) {
        // The canonical spelling has lost what is asked for: every id could begin so.
        *set = RowSet::unknown(segment.len());
        return Ok(());
    }
    let text = if prefix { text.strip_prefix("0x").unwrap_or(text) } else { text };
    for kind in kinds {
        // The beginning of a hex worker id is no number yet.
        ids::canonical(if prefix { None } else { *kind }, text, &mut canonical);
        if prefix {
            ids.prefix(&canonical, &mut found);
            let undashed: String = canonical.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
            if undashed != canonical && undashed.bytes().all(|b| b.is_ascii_hexdigit()) {
                ids.prefix(&undashed, &mut found);
            }
        } else {
            ids.exact(&canonical, &mut found);
        }
    }
    found.iter().for_each(|row| set.insert(*row as usize));
    Ok(())
}

fn field_rows(field: &Field, view: &View<'_>) -> Result<(RowSet, &'static str), PlanError> {
    let segment = view.segment;
    let len = segment.len();
    let name = Name::new(&field.name);
    let test = ValueTest::new(field)?;
    let every = || Ok((RowSet::unknown(len), "every record"));
    let fact = match name.special {
        Special::Source => view.facts.source,
        Special::Format => view.facts.format,
        Special::Worker => view.facts.worker,
        Special::Role => view.facts.role,
        Special::Host => view.facts.host,
        Special::Unit => view.facts.unit,
        _ => "",
    };
    if test.is_negative() && matches!(name.special, Special::Worker | Special::Role | Special::Host | Special::Unit) {
        // Such a name means facts, fields and ids together, and `!=` asks all of them.
        return every();
    }
    let fact_holds = !fact.is_empty() && test.accepts(if name.special == Special::Source { Item::Path(fact) } else { Item::Text(fact) });
    if fact_holds {
        return Ok((RowSet::all(len), "source"));
    }
    match name.special {
        Special::Source | Special::Format => {
            let set = if fact.is_empty() && field.absent_ok { RowSet::all(len) } else { RowSet::none(len) };
            Ok((set, "source"))
        }
        Special::Kind => {
            let meta = segment.meta()?;
            let chosen: Vec<bool> = meta.kinds.iter().map(|k| test.accepts(Item::Text(k))).collect();
            let mut set = RowSet::none(len);
            if chosen.contains(&true) {
                kind_rows(segment, &chosen, &mut |row| set.insert(row))?;
            }
            Ok((set, "columns"))
        }
        Special::Level => {
            let mut set = RowSet::none(len);
            let mut known = RowSet::none(len);
            segment.column("_level", None, |row, cell| {
                known.insert(row);
                if let Cell::Text(text) = cell
                    && let Some(level) = corr_parsers::event::Level::read(text)
                    && test.accepts(Item::Level(level))
                {
                    set.insert(row);
                }
            })?;
            if field.absent_ok {
                set.unite(&known.complement());
            }
            Ok((set, "columns"))
        }
        Special::Line => {
            let mut set = RowSet::none(len);
            segment.column("_line", None, |row, cell| {
                if let Cell::UInt(line) = cell
                    && test.accepts(Item::Number(line))
                {
                    set.insert(row);
                }
            })?;
            Ok((set, "columns"))
        }
        Special::Ids(kinds) => ids_field(field, &kinds.iter().map(|k| Some(*k)).collect::<Vec<_>>(), view),
        Special::AnyId => ids_field(field, &[None, Some(IdKind::WorkerId)], view),
        Special::Worker => {
            let (mut set, by) = ids_field(field, &[Some(IdKind::WorkerId)], view)?;
            set.unite(&column_rows(field, &test, view)?);
            Ok((set, by))
        }
        Special::Stream | Special::Note => every(),
        Special::Message => match &field.test {
            Test::Equals(text) if !field.absent_ok => {
                let (mut set, by) = text_rows(text, false, false, view)?;
                set.exact = false;
                Ok((set, by))
            }
            _ => every(),
        },
        Special::None
        | Special::Role
        | Special::Host
        | Special::Unit
        | Special::Ident
        | Special::Pid
        | Special::Priority
        | Special::Boot
        | Special::Invocation => {
            if segment.meta()?.overflow || (field.absent_ok && !fact.is_empty()) {
                return every();
            }
            Ok((column_rows(field, &test, view)?, "columns"))
        }
    }
}

fn ids_field(field: &Field, kinds: &[Option<IdKind>], view: &View<'_>) -> Result<(RowSet, &'static str), PlanError> {
    let len = view.segment.len();
    let mut set = RowSet::none(len);
    let mut all_kinds: Vec<Option<IdKind>> = kinds.to_vec();
    all_kinds.push(None);
    match &field.test {
        Test::Equals(text) if !field.absent_ok => id_rows(text, false, &all_kinds, view.segment, &mut set)?,
        Test::Prefix(text) if !field.absent_ok => id_rows(text, true, &all_kinds, view.segment, &mut set)?,
        _ => return Ok((RowSet::unknown(len), "every record")),
    }
    set.exact = set.is_empty();
    Ok((set, "id index"))
}

/// Rows by the columns that a name means: the canonical name or a record's own spelling, whatever the case.
fn column_rows(field: &Field, test: &ValueTest, view: &View<'_>) -> Result<RowSet, PlanError> {
    let segment = view.segment;
    let len = segment.len();
    let meta = segment.meta()?;
    let mut set = RowSet::none(len);
    let mut present = RowSet::none(len);
    if meta.overflow {
        return Ok(RowSet::unknown(len));
    }
    let mut columns = 0;
    for (name, info) in meta.columns.iter().filter(|(name, info)| info.may_mean(name, &field.name)) {
        columns += 1;
        let sure = info.is_exact(name, &field.name);
        segment.column(&column_name(name), None, |row, cell| {
            present.insert(row);
            if !sure || accepts(test, &cell) {
                set.insert(row);
            }
        })?;
        set.exact &= sure;
        present.exact &= sure;
    }
    if test.is_negative() && columns > 1 {
        // A value of each column must differ: the records are asked.
        set = present.clone();
        set.exact = false;
    }
    if field.absent_ok {
        set.unite(&present.complement());
    }
    Ok(set)
}

fn accepts(test: &ValueTest, cell: &Cell<'_>) -> bool {
    use corr_parsers::event::Value;
    let value = match cell {
        Cell::Int(x) => Value::Int(*x),
        Cell::UInt(x) => Value::UInt(*x),
        Cell::Float(x) => Value::Float(*x),
        Cell::Bool(x) => Value::Bool(*x),
        Cell::Text(text) => return test.accepts(Item::Value(&Value::Str((*text).into()))),
    };
    test.accepts(Item::Value(&value))
}
