//! Samples of many series in little memory: blocks of up to [`BLOCK`] samples, each found by its times, so that a window costs two searches
//! and two blocks. Series that were scraped together share the bytes of their times, and the table in which a time is searched.

mod area;
mod code;
mod falls;
mod index;
mod pack;
mod plans;
mod read;
mod write;

pub use area::{Area, Missing, Spill, Spilling, spill_by_default};
pub use falls::{Fall, Falls};
pub use read::{Cursor, Store};
pub use write::Writer;

/// Most samples in a block.
pub const BLOCK: usize = 128;

/// Times of a block of samples. Where its values lie is known to the series alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Time of its first and its last sample.
    pub first: i64,
    pub last: i64,
    /// Ordinal of its first sample in the series.
    pub before: u64,
    /// Offset of its times in the area.
    pub times: u64,
    pub n: u16,
}
