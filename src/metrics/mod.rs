//! Metric captures of a run, asked: which series, in which window, with which figures.

pub mod anchors;
#[cfg(feature = "cluster")]
pub mod apart;
pub mod around;
pub mod asked;
pub mod beside;
pub mod cited;
pub mod common;
pub mod figures;
pub mod logged;
pub mod moment;
pub mod occupied;
pub mod ratios;
pub mod read;
pub mod span;
pub mod sums;
pub mod units;
pub mod workers;

pub use asked::{Asked, Captured, Hit};
pub use read::Read;
