//! What a user writes down of a format, and what can be wrong with it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A format as it is declared (docs/user-formats.md). Exactly one of `pattern` and `json` says what its records look like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Name in output and in `--format-of`.
    pub name: String,
    /// One line for people: what writes it.
    pub about: Option<String>,
    /// A regular expression that a record's first line matches from its first byte; its named groups are the parts.
    #[serde(rename = "match")]
    pub pattern: Option<String>,
    /// A record is one JSON object; parts are named by their keys, `usage.prompt_tokens` inside another object.
    #[serde(default)]
    pub json: bool,
    /// JSON: keys that every record has. The stamp's if left out.
    #[serde(default)]
    pub keys: Vec<String>,
    /// JSON: values that members of every record have.
    #[serde(default, rename = "where")]
    pub only: BTreeMap<String, String>,
    /// The part that says when.
    pub stamp: Option<String>,
    /// How it is written, in the letters of strftime; ISO 8601 or an epoch number if left out.
    pub stamp_format: Option<String>,
    /// What an epoch number counts: `s`, `ms`, `us`, `ns`. Its digits say so if left out.
    pub stamp_unit: Option<String>,
    /// The part that is the severity.
    pub level: Option<String>,
    /// The part that is the message; the whole record if left out.
    pub message: Option<String>,
    /// Kind of its events; the name in snake case if left out.
    pub kind: Option<String>,
    /// What such an event says, and what not.
    pub kind_about: Option<String>,
    /// Canonical field name to part.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// Id (`request_id`, `session`, …) to part or parts.
    #[serde(default)]
    pub ids: BTreeMap<String, OneOrMany>,
    /// Parts that hold text of a user or a model.
    #[serde(default)]
    pub withheld: Vec<String>,
    /// Built-in formats whose lines are this one's where both know them.
    #[serde(default)]
    pub over: Vec<String>,
    /// Records and what is read from them.
    #[serde(default)]
    pub samples: Vec<Sample>,
}

/// One name, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one).iter(),
            OneOrMany::Many(many) => many.iter(),
        }
        .map(String::as_str)
    }
}

/// A value that a sample's field must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// A record and what must be read from it; what is left out may be anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The record without its line end.
    pub text: String,
    /// `false`: the format must not take this line.
    #[serde(default = "yes")]
    pub taken: bool,
    /// ISO 8601 with as many digits as the clock has; with `Z` or an offset if, and only if, the record says its zone.
    pub stamp: Option<String>,
    pub level: Option<String>,
    pub message: Option<String>,
    #[serde(default)]
    pub fields: BTreeMap<String, Scalar>,
    #[serde(default)]
    pub ids: BTreeMap<String, OneOrMany>,
    /// Names of the parts that are withheld.
    #[serde(default)]
    pub withheld: Vec<String>,
}

fn yes() -> bool {
    true
}

/// Which part of a definition is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The definition as a whole.
    Whole,
    /// The value of this key.
    Key(&'static str),
    /// A sample, by its place from 0, and the key in it if one is to blame.
    Sample(usize, Option<&'static str>),
}

/// Why a definition cannot be used, with the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the format as written.
    pub format: String,
    pub part: Part,
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "format `{}`: ", self.format)?;
        if let Part::Sample(i, _) = self.part {
            write!(f, "sample {}: ", i + 1)?;
        }
        f.write_str(&self.text)
    }
}

impl std::error::Error for Problem {}

impl Definition {
    /// A problem with a part of this definition.
    pub fn problem(&self, part: Part, text: impl Into<String>) -> Problem {
        Problem { format: self.name.clone(), part, text: text.into() }
    }

    /// The name of its kind.
    pub fn kind_name(&self) -> String {
        self.kind.clone().unwrap_or_else(|| self.name.replace('-', "_"))
    }
}
