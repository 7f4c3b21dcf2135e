//! Metric captures of a run, asked: which series, in which window, with which figures.

pub mod asked;
pub mod figures;
pub mod moment;
pub mod span;
pub mod sums;

pub use asked::{Asked, Captured, Hit};
