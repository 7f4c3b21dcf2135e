//! What proves each edge of the KV-cache pipeline, to whom it happened, and what cannot be proven.
//!
//! Pure: records go in, verdicts come out. The table of edges (`edges.toml`) is data; this crate only evaluates it.
//!
//! ```text
//! records ─ ledger ─ identity ─┐
//! captures ─ counters ─────────┼─ judge ─ verdict
//! edges.toml ─ compiled ───────┘   (attribute: to whom; nothing: why none is shown)
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

mod attribute;
pub mod builtin;
pub mod compare;
pub mod compiled;
pub mod definition;
pub mod identity;
pub mod instruments;
pub mod judge;
pub mod ledger;
mod nothing;
pub mod rules;
pub mod scope;
pub mod twins;
pub mod verdict;
