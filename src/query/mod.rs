//! Which events does the user mean?
//!
//! The way of a query: its text is parsed by [`grammar`] into an [`expr::Expr`]; [`matches::Matcher`] says of one event whether the
//! expression holds, and is the single truth for that, whether events come from a scan or from the store. [`literals`] tells a scan which
//! bytes a match must contain; [`timespec`] reads `--since` and `--until`; [`suggest`] finds what a misspelled name was meant to be.

pub mod answer;
pub mod columns;
pub mod expr;
pub mod extent;
pub mod fetch;
pub mod grammar;
pub mod idtest;
mod lexis;
pub mod literals;
pub mod locate;
pub mod matches;
pub mod names;
pub mod number;
pub mod pattern;
pub mod phases;
pub mod plan;
pub mod rank;
pub mod rows;
pub mod scan;
pub mod sources;
pub mod subject;
pub mod suggest;
pub mod timespec;
pub mod visible;
pub mod window;
pub mod words;

/// There is nothing of what was asked for: no such window, session or request. An answer, not a failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Nothing(pub String);
