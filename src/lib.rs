//! corr: what happened on the KV-cache path of an LLM-serving run, and what proves it.
//!
//! The data's way is told in ARCHITECTURE.md. This library holds all logic; `main.rs` and `cli` only map arguments to it.
#![deny(unsafe_code)]
// What is read is untrusted: a panic that input can reach is a crash for a user. Tests may.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

mod aside;
pub mod cli;
pub mod diff;
pub mod evidence;
pub mod export;
pub mod facts;
pub mod marks;
pub mod metrics;
pub mod note;
pub mod query;
pub mod readiness;
pub mod render;
pub mod report;
pub mod run;
pub mod serve;
pub mod store;
pub mod tables;
pub mod timeline;
