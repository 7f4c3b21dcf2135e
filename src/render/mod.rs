//! What is printed, and how: text, JSON, CSV, Markdown.

pub mod counts;
pub mod diff;
pub mod events;
pub mod evidence;
pub mod facts;
pub mod html;
pub mod metrics;
pub mod number;
pub mod opened;
pub mod paint;
pub mod readiness;
pub mod report;
#[cfg(feature = "sql")]
pub mod rows;
pub mod safe;
pub mod shown;
pub mod sources;
pub mod timeline;
