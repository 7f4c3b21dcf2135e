//! What is printed, and how: text, JSON, CSV, Markdown.

pub mod safe;
