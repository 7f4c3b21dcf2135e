//! Metric captures of LLM serving: bytes of a scrape, a table or an export in; series with samples out; and what a series did in a window,
//! with the samples that say it.
//!
//! Data flows one way: `recognise` → a reader of `layouts` → [`build::Builder`] → [`model::Capture`] → `catalogue` → `window`.
//! Nothing is extrapolated, and what was not captured is a value of its own, never zero.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

pub mod align;
pub mod blocks;
pub mod build;
#[cfg(test)]
mod cases;
pub mod catalogue;
pub mod coverage;
pub mod exposition;
pub mod guard;
pub mod kept;
pub mod known;
pub mod layouts;
pub mod model;
pub mod select;
pub mod window;

/// Changes whenever a reader gives other captures for the same bytes; what was kept of an older reader is read anew.
pub const READER_VERSION: u32 = 2;
