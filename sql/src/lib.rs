//! SQL over tables of Arrow and Parquet, on DataFusion; and, with the feature `cluster`, the same plans on Apache Ballista.
//!
//! Knows nothing of runs: whoever uses it says which tables there are ([`Table`]), asks ([`Engine::ask`]) and gets batches. A question may only read
//! what was registered: statements that write, set or name files are refused before anything is planned.
#![deny(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

mod allowed;
#[cfg(feature = "cluster")]
pub mod cluster;
mod engine;
mod error;
mod files;
mod function;
mod rows;
mod table;

pub use arrow;
pub use engine::{Answer, Engine, Limits, Read};
pub use error::SqlError;
pub use files::{FileOf, Files};
pub use function::{Call, Function};
pub use rows::{Give, Rows, Wanted};
pub use table::{Table, TableFunction};
