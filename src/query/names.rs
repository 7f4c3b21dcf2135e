//! A name or an id that no source has: what was it meant to be?

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::answer::{self, Question, Window};
use super::expr::{Clause, Expr, Field, Term, Test};
use super::plan::PlanError;
use super::sources::Sources;
use super::subject::{NAMES, Name, Special};
use super::suggest;
use crate::run::events::{self, Start};

/// Records of a source without an index that are looked at for names.
const LOOKED_AT: usize = 20_000;
/// An id of this length is taken for a whole one: a UUID without its dashes.
const WHOLE_ID: usize = 32;
/// Most ids for which longer ones are looked for.
const MOST_HINTS: usize = 4;

/// Field names that the sources have, canonical and as the records spell them.
#[derive(Debug, Default)]
pub struct Known {
    names: BTreeSet<String>,
    /// A source has records or fields that were not looked at.
    partly: bool,
}

impl Known {
    /// These, or these and others.
    pub fn new(names: BTreeSet<String>, partly: bool) -> Known {
        Known { names, partly }
    }

    /// From the index, or from the first records of what is not indexed.
    pub fn of(sources: &Sources) -> Known {
        let mut known = Known::default();
        for source in &sources.sources {
            for segment in &source.segments {
                let Ok(meta) = segment.meta() else {
                    known.partly = true;
                    continue;
                };
                known.partly |= meta.overflow;
                for (name, info) in &meta.columns {
                    known.names.insert(name.clone());
                    known.names.extend(info.raw.iter().cloned());
                }
            }
            if !source.unindexed && !source.needs_tail() {
                continue;
            }
            let Ok(bytes) = source.bytes() else {
                known.partly = true;
                continue;
            };
            let mut seen = 0;
            let start = Start { offset: source.indexed_to.min(bytes.len()), line: 0, order: None };
            events::each(bytes, &source.layout, source.timing(), start, bytes.len(), |record, event, _| {
                if seen == LOOKED_AT {
                    known.partly = true;
                    return ControlFlow::Break(());
                }
                seen += 1;
                for field in &event.fields {
                    known.add(&field.name);
                    known.add(&field.raw);
                }
                for (name, _) in record.meta.iter().flat_map(|meta| &meta.more) {
                    known.add(name);
                }
                ControlFlow::Continue(())
            });
        }
        known
    }

    fn add(&mut self, name: &str) {
        if !self.names.contains(name) {
            self.names.insert(name.to_string());
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|k| k.eq_ignore_ascii_case(name))
    }

    /// What to say of a field name that no source has; `None` if one has it. `more` are names that are allowed beside fields.
    fn missing(&self, name: &str, more: &[&str]) -> Option<String> {
        if Name::new(name).special != Special::None || more.iter().any(|m| m.eq_ignore_ascii_case(name)) || self.has(name) {
            return None;
        }
        let candidates = NAMES.iter().map(|n| n.0).chain(self.names.iter().map(String::as_str)).chain(more.iter().copied());
        let near = suggest::suggest(name, candidates);
        Some(if self.partly {
            unknown("no source is known to have a field", name, &near)
        } else {
            unknown("no source has a field", name, &near)
        })
    }
}

fn unknown(lead: &str, name: &str, near: &[&str]) -> String {
    if near.is_empty() { format!("{lead} `{name}`") } else { format!("{lead} `{name}`; did you mean {}?", near.join(" or ")) }
}

/// Lines about names that no source has: those of a query that found nothing (`None` if it found something) and those in `asked`, which no hit
/// had. `more` are names that `asked` may hold beside fields.
pub fn unknown_names(query: Option<&Expr>, asked: &[String], more: &[&str], sources: &Sources) -> Vec<String> {
    unknown_of(query, asked, more, &|| Known::of(sources))
}

/// The same of names that are known otherwise.
pub fn unknown_of(query: Option<&Expr>, asked: &[String], more: &[&str], of: &dyn Fn() -> Known) -> Vec<String> {
    let kinds: BTreeSet<&str> = corr_parsers::kinds().map(|k| k.name).collect();
    let mut known: Option<Known> = None;
    let mut lines: Vec<String> = Vec::new();
    let mut say = |line: Option<String>| {
        if let Some(line) = line
            && !lines.contains(&line)
        {
            lines.push(line);
        }
    };
    if let Some(query) = query {
        query.each_clause(&mut |clause| {
            let Term::Field(field) = &clause.term else { return };
            match (Name::new(&field.name).special, &field.test) {
                (Special::Kind, Test::Equals(kind)) if !kinds.contains(kind.as_str()) => {
                    say(Some(unknown("no source has a kind", kind, &suggest::suggest(kind, kinds.iter().copied()))));
                }
                (Special::None, _) => say(known.get_or_insert_with(of).missing(&field.name, &[])),
                _ => {}
            }
        });
    }
    for name in asked {
        say(known.get_or_insert_with(of).missing(name, more));
    }
    lines
}

/// Lines about ids that a query names in part: no record bears exactly these, and some bear longer ones.
pub fn longer_ids(query: &Expr, bodies: bool, sources: &Sources) -> Result<Vec<String>, PlanError> {
    let mut fields: Vec<&Field> = Vec::new();
    query.each_clause(&mut |clause| {
        if let Term::Field(field) = &clause.term
            && let Test::Equals(text) = &field.test
            && matches!(Name::new(&field.name).special, Special::Ids(_) | Special::AnyId)
            && !field.absent_ok
            && !text.is_empty()
            && text.len() < WHOLE_ID
            && fields.len() < MOST_HINTS
            && !fields.contains(&field)
        {
            fields.push(field);
        }
    });
    let mut lines = Vec::new();
    for field in fields {
        let Test::Equals(text) = &field.test else { continue };
        let longer = Field { test: Test::Prefix(text.clone()), ..field.clone() };
        let said = format!("no record bears exactly `{text}`; `{longer}` finds ids that begin so");
        // Other parts of the query may be why nothing was found.
        if found(longer, bodies, sources)? && !found(field.clone(), bodies, sources)? {
            lines.push(said);
        }
    }
    Ok(lines)
}

fn found(field: Field, bodies: bool, sources: &Sources) -> Result<bool, PlanError> {
    let expr = Expr::Clause(Clause { term: Term::Field(field), span: 0..0 });
    let question = Question::count(expr, Window::default(), bodies)?;
    Ok(answer::ask(&question, &sources.sources)?.total > 0)
}
