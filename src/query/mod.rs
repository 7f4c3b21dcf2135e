//! Questions: their language, their plan, their answers.

pub mod visible;
pub mod words;
