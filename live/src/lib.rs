//! What corr does while things run: metrics endpoints scraped on a fixed grid into a capture, or looked into as they are now; starts of
//! servers followed until they are ready.
//!
//! A scrape that fails is a record like any other, with the reason. What is written or shown holds no credential: targets are
//! shown without user, password and values of their query, and headers are not shown at all.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

mod clock;
mod exposed;
mod failure;
pub mod follow;
mod http;
pub mod probe;
mod runtime;
mod schedule;
pub mod scrape;
mod stop;
mod target;

pub use clock::Clock;
pub use failure::{Failure, Stage};
pub use http::{Accept, Attempt, Client, ClientError, Headers, Request};
pub use runtime::block_on;
pub use stop::{Stop, outlive_interrupts};
pub use target::{Target, TargetError};
