//! The one place at which a panic of a library that decodes damaged bytes becomes an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `decode` gives. The parquet and arrow crates index into pages and buffers by numbers that the file says; where those lie, they may panic: that
/// is an error too, with their words.
pub fn guarded<T, E: std::fmt::Display>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => {
            let words = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            Err(format!("the file is damaged: {}", words.unwrap_or("decoding stopped")))
        }
    }
}
