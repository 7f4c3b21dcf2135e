//! Which bytes must a record contain to match? A scan skips records and whole blocks that have none of them.
//!
//! What is said holds for the payload's bytes, compared without ASCII case. It holds for a source's raw bytes too, unless these spell the
//! payload otherwise: an escape sequence (ANSI) inside a word, or an envelope that writes text as numbers or `\u0061` (journald's JSON for
//! text that is not plain). A scan of raw bytes must parse records in which such spellings occur.

use corr_parsers::ids::IdKind;

use super::expr::{Expr, Field, Part, Term, Test};
use super::idtest::{IdPrefix, IdTest};
use super::pattern::{self, WordTest};
use super::subject::{Name, Special};

/// More literals than this are no help.
const MAX_LITERALS: usize = 64;

/// Bytes that a record must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// Lower-case ASCII, at least two bytes.
    pub text: String,
    /// A word begins with its first byte (see [`super::words::may_part`]).
    pub begins: bool,
    /// A word ends with its last byte.
    pub ends: bool,
}

impl Literal {
    fn anywhere(text: String) -> Literal {
        Literal { text, begins: false, ends: false }
    }

    /// Takes in what `other`, whose text holds this one's, allows.
    fn widen(&mut self, other: &Literal) {
        let same = self.text.eq_ignore_ascii_case(&other.text);
        self.begins &= same && other.begins;
        self.ends &= same && other.ends;
    }
}

/// Literals of which every matching record contains at least one; `None` if nothing is required.
pub fn required_literals(expr: &Expr) -> Option<Vec<Literal>> {
    match expr {
        Expr::All | Expr::Not(_) => None,
        Expr::And(parts) => parts.iter().filter_map(required_literals).max_by_key(|set| shortest(set)),
        Expr::Or(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(required_literals(part)?);
            }
            reduce(all)
        }
        Expr::Clause(clause) => reduce(of_term(&clause.term)?),
    }
}

/// A set is as good as its shortest literal.
fn shortest(set: &[Literal]) -> usize {
    set.iter().map(|l| l.text.len()).min().unwrap_or(0)
}

/// Lower case; what contains another of the set says nothing beside it.
fn reduce(mut set: Vec<Literal>) -> Option<Vec<Literal>> {
    for literal in &mut set {
        literal.text.make_ascii_lowercase();
    }
    set.sort_by(|a, b| a.text.len().cmp(&b.text.len()).then_with(|| a.text.cmp(&b.text)));
    let mut kept: Vec<Literal> = Vec::new();
    for literal in set {
        if literal.text.len() < 2 || !literal.text.is_ascii() {
            return None;
        }
        match kept.iter_mut().find(|k| literal.text.contains(k.text.as_str())) {
            Some(k) => k.widen(&literal),
            None => kept.push(literal),
        }
    }
    (!kept.is_empty() && kept.len() <= MAX_LITERALS).then_some(kept)
}

fn of_term(term: &Term) -> Option<Vec<Literal>> {
    match term {
        Term::Word(text) => {
            let word = of_words(&pattern::phrase(text))?;
            let mut set = of_ids(IdTest::free(text).literals(&[])?);
            // An id that is spelled one way only stands between marks that are no letters, as a word does; the end of a UUID can stand behind its
            // other digits.
            let plain = text.bytes().all(|b| b.is_ascii_alphanumeric());
            // Before a worker's id `0x` may stand.
            let hex = text.bytes().all(|b| b.is_ascii_hexdigit());
            for id in &mut set {
                let same = plain && id.text.eq_ignore_ascii_case(text);
                (id.begins, id.ends) = (same && !hex, same);
            }
            set.push(word);
            Some(set)
        }
        Term::Phrase(text) => Some(vec![of_words(&pattern::phrase(text))?]),
        Term::Prefix(text) => {
            let parts = [Part::Text(text.clone()), Part::Any];
            Some(vec![of_words(&pattern::glob_phrase(&parts))?, Literal::anywhere(IdPrefix::free(text).literal(&[])?)])
        }
        Term::Glob(glob) => Some(vec![of_words(&pattern::glob_phrase(&glob.parts))?]),
        Term::Regex(_) => None,
        Term::Field(field) => of_field(field),
    }
}

fn of_ids(texts: Vec<String>) -> Vec<Literal> {
    texts.into_iter().map(Literal::anywhere).collect()
}

/// The longest ASCII piece of a word; a word beyond ASCII may be escaped where it stands.
fn of_words(tests: &[WordTest]) -> Option<Literal> {
    let mut best = Literal::anywhere(String::new());
    for test in tests {
        let (texts, begins, ends): (Vec<&str>, bool, bool) = match test {
            WordTest::Exact(text) => (vec![text], true, true),
            WordTest::Prefix(text) => (vec![text], true, false),
            WordTest::Any => continue,
            WordTest::Glob(parts) => {
                let texts = parts.iter().filter_map(|p| if let Part::Text(text) = p { Some(text.as_str()) } else { None });
                (texts.collect(), false, false)
            }
        };
        for text in texts {
            if text.is_ascii() && text.len() > best.text.len() {
                best = Literal { text: text.to_string(), begins, ends };
            }
        }
    }
    (best.text.len() >= 2).then_some(best)
}

/// Names of ids and the message stand in the bytes. Facts and kinds do not, and a field's value may be spelled otherwise there.
fn of_field(field: &Field) -> Option<Vec<Literal>> {
    if field.absent_ok {
        return None;
    }
    let kinds: &[IdKind] = match Name::new(&field.name).special {
        Special::Ids(kinds) => kinds,
        Special::AnyId => &[],
        Special::Message => return of_message(&field.test),
        _ => return None,
    };
    match &field.test {
        Test::Equals(text) => IdTest::new(text).literals(kinds).map(of_ids),
        Test::Prefix(text) => Some(of_ids(vec![IdPrefix::new(text).literal(kinds)?])),
        _ => None,
    }
}

fn of_message(test: &Test) -> Option<Vec<Literal>> {
    let tests = match test {
        Test::Equals(text) => pattern::phrase(text),
        Test::Prefix(text) => pattern::glob_phrase(&[Part::Text(text.clone()), Part::Any]),
        Test::Glob(glob) => pattern::glob_phrase(&glob.parts),
        _ => return None,
    };
    Some(vec![of_words(&tests)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::grammar::parse;

    fn literals(query: &str) -> Option<Vec<String>> {
        required_literals(&parse(query).unwrap()).map(|set| set.into_iter().map(|l| l.text).collect())
    }

    #[test]
    fn whole_words_keep_their_edges_until_a_longer_word_is_taken_in() {
        let edges = |query: &str| {
            let set = required_literals(&parse(query).unwrap()).unwrap();
            set.into_iter().map(|l| (l.text, l.begins, l.ends)).collect::<Vec<_>>()
        };
        assert_eq!(edges("Retract"), [("retract".to_string(), true, true)]);
        assert_eq!(edges("\"a retract of\""), [("retract".to_string(), true, true)]);
        assert_eq!(edges("message:retr*"), [("retr".to_string(), true, false)]);
        assert_eq!(edges("retr*"), [("retr".to_string(), false, false)]);
        assert_eq!(edges("oom OR bloom"), [("oom".to_string(), false, false)]);
    }

    #[test]
    fn what_is_required() {
        let some = |texts: &[&str]| Some(texts.iter().map(|t| t.to_string()).collect::<Vec<_>>());
        assert_eq!(literals("Retract"), some(&["retract"]));
        assert_eq!(literals("/v1/completions"), some(&["completions"]));
        assert_eq!(literals("\"a retract of\""), some(&["retract"]));
        assert_eq!(literals("kind:x level:warn retract OR oom"), some(&["oom", "retract"]));
        assert_eq!(literals("ab abcd NOT abcdef"), some(&["abcd"]));
        assert_eq!(literals("edf9ed0132194585a510233214f462c1"), some(&["233214f462c1"]));
        assert_eq!(literals("rid:chatcmpl-edf9ed01-3219-4585-a510-233214f462c1"), some(&["233214f462c1"]));
        assert_eq!(literals("rid:edf9ed01-32*"), some(&["edf9ed01"]));
        assert_eq!(literals("session:abc#1"), some(&["abc"]));
        assert_eq!(literals("worker_id:fff415b5e1955412"), some(&["fff415b5e1955412", "18443390244906947602"]));
        assert_eq!(literals("dec*e"), some(&["dec"]));
        assert_eq!(literals("/v1/dec*"), some(&["dec"]));
        assert_eq!(literals("message:\"foo barbar\""), some(&["barbar"]));
    }

    #[test]
    fn where_nothing_is_required() {
        for query in [
            "",
            "NOT a1",
            "a",
            "größe",
            "kind:prefill_batch",
            "worker:x",
            "rid:*",
            "rid?:abc",
            "n:[1 TO 5]",
            "/abc/",
            "abc OR kind:x",
            "worker_id:12*",
            "id:1f*",
        ] {
            assert_eq!(literals(query), None, "{query}");
        }
    }
}
