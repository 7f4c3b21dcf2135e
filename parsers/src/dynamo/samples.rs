//! x
pub static TEXT: &[(&str, &str)] = &[];
pub static JSONL: &[(&str, &str)] = &[];
