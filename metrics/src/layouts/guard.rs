//! A panic of a library that decodes damaged bytes as an error like those that it gives.

use crate::guard::guard;

/// What `decode` gives; an error of it, or its panic, in words.
pub fn guarded<T, E: std::fmt::Display>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match guard(decode) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("the file is {panic}")),
    }
}
