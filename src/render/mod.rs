//! What is printed, and how: text, JSON, CSV, Markdown.

pub mod events;
pub mod paint;
pub mod safe;
pub mod shown;
pub mod sources;
