//! What an index of a run holds, and how it is made and read.

pub mod captures;
pub mod clocks;
pub mod columns;
mod digest;
pub mod ids;
pub mod manifest;
pub mod open;
mod pages;
pub mod place;
pub mod reopen;
pub mod rows;
pub mod rowset;
pub mod segment;
pub mod text;
pub mod update;
pub mod word_index;
