//! What proves each edge of the KV-cache pipeline, to whom it happened, and what cannot be proven.
//!
//! Pure: observations go in, verdicts come out. The table of edges (`edges.toml`) is data; this crate only evaluates it.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod builtin;
pub mod definition;
