//! Configuration facts of a run: what was set, of whom, and where that stands.
//!
//! Three sorts of source say a fact: a process's own records, the command that launched it, a plan or recipe. Nothing is taken for granted: what no
//! source says is unknown, not a default.

pub mod collect;
pub mod command;
mod ends;
mod files;
pub mod known;
pub mod leaves;
mod records;
pub mod table;
mod whose;

pub(crate) use files::is_asked;

use corr_parsers::event::Value;
use corr_parsers::secret;

/// How a fact is known, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// A process says it of itself, or a record shows it.
    Record,
    /// Worked out from other facts, which are cited.
    Computed,
    /// The command or environment with which a process was launched.
    Launch,
    /// A plan, a recipe, a configuration file: what was asked for.
    Plan,
    /// Only bounds: what the records look like.
    Bounds,
}

impl Basis {
    /// For output.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Record => "record",
            Basis::Computed => "computed",
            Basis::Launch => "launch command",
            Basis::Plan => "plan",
            Basis::Bounds => "bounds",
        }
    }
}

/// Where a fact stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cite {
    /// As printed; can be given back to corr.
    pub name: String,
    /// 1-based; 0 where no line says it (a file's name).
    pub line: u64,
    /// Of a configuration file: the keys from the top.
    pub key: Option<String>,
}

impl Cite {
    /// `path:line`, or the path alone.
    pub fn at(&self) -> String {
        if self.line > 0 { format!("{}:{}", self.name, self.line) } else { self.name.clone() }
    }
}

/// One source says one fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub name: String,
    pub value: Value<'static>,
    /// Whose it is; `None`: the run's, or of a role.
    pub worker: Option<String>,
    pub role: Option<String>,
    pub basis: Basis,
    pub cites: Vec<Cite>,
    /// What the value means, or how it was found.
    pub note: Option<String>,
}

/// Of whom a fact is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    pub worker: Option<String>,
    pub role: Option<String>,
}

/// A value longer than this is cut, and says so.
const MAX_VALUE: usize = 600;

impl Fact {
    /// A fact; credentials in its value are masked, and a long one is cut.
    pub fn new(name: impl Into<String>, value: Value<'static>, who: &Who, basis: Basis, cite: Cite) -> Fact {
        let value = match value {
            Value::Str(text) => Value::Str(short(masked(&text)).into()),
            other => other,
        };
        Fact { name: name.into(), value, worker: who.worker.clone(), role: who.role.clone(), basis, cites: vec![cite], note: None }
    }
}

/// Text with `[withheld]` for every credential in it.
pub fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in secret::find(text.as_bytes()) {
        // A span that splits a character, or is out of order, hides all of the rest.
        match text.get(at..span.start) {
            Some(before) if span.end >= span.start => out.push_str(before),
            _ => break,
        }
        out.push_str("[withheld]");
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or("[withheld]"));
    out
}

fn short(text: String) -> String {
    if text.len() <= MAX_VALUE {
        return text;
    }
    let end = text.floor_char_boundary(MAX_VALUE);
    format!("{}… ({} of {} bytes)", text.get(..end).unwrap_or(""), end, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_do_not_come_through() {
        let cite = Cite { name: "f".into(), line: 1, key: None };
        let text = "client --api-key abcdefgh12345678 --url http://me:hunter22@host/x --n 3";
        let fact = Fact::new("load_command", Value::Str(text.into()), &Who::default(), Basis::Plan, cite);
        let shown = fact.value.to_string();
        assert!(!shown.contains("abcdefgh") && !shown.contains("hunter22"), "{shown}");
        assert!(shown.ends_with("--n 3"), "{shown}");
        assert!(short("é".repeat(600)).ends_with("(600 of 1200 bytes)"));
    }
}
