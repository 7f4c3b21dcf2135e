//! Starts, stops and restarts of LLM servers: when each step of a life happened, how well that is known, and by which line.
//!
//! Data flows one way: a record of a log → [`convert`] → [`observe::Observation`] → [`machine::Machine`] (one state machine for every host
//! and unit, bounded in memory) → [`judge`] → [`history::History`] → [`claim`]. Pure: no clock is asked, nothing is read or printed.
//!
//! Source of the rules: systemd 229 to 257 as run, SGLang 0.4.3 to 0.5.23, Dynamo 0.6 to 1.6 (README.md beside this file's folder says what
//! each line proves).
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

pub mod claim;
pub mod convert;
pub mod history;
pub mod judge;
pub mod machine;
pub mod merge;
pub mod observe;
mod place;
pub mod rows;
pub mod run;
mod steps;
pub mod time;
mod unit;
mod words;

pub use history::{History, Invocation, UnitHistory};
pub use machine::{Machine, Options};
pub use observe::{Fact, Observation};
pub use time::{Cite, Instant, Mark};
