//! What shards hold for `corr query`, and how a query is asked of them: a record with all that a query can ask of it, the conditions that columns
//! answer, the question in SQL.

mod bytes;
pub mod masked;
pub mod narrow;
pub mod question;
pub mod whole;
