//! x
pub static REQUEST_TRACE: &[(&str, &str)] = &[];
pub static AGENT_TRACE: &[(&str, &str)] = &[];
pub static AUDIT: &[(&str, &str)] = &[];
