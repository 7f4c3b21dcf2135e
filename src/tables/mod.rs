//! The tables of a run: what `corr sql` asks and `corr schema` tells. Their columns are defined here alone.

pub mod columns;
pub mod fields;
#[cfg(any(test, feature = "cluster"))]
pub mod shard;
#[cfg(feature = "sql")]
pub mod sql;

pub use columns::{Column, TABLES, Table, Type};
