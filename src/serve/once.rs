//! What is worked out when it is first asked for, while others who ask wait. Of a failure, or a panic, nothing is kept.

use std::sync::{Arc, Mutex, PoisonError};

/// A value that is not there yet, or is.
pub struct Once<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once(Mutex::new(None))
    }
}

impl<T> Once<T> {
    /// The value, made now if it was not yet.
    ///
    /// # Errors
    /// Those of `make`, which is asked again the next time.
    pub fn get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        // A panic of `make` left nothing.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*kept {
            return Ok(value.clone());
        }
        let value = Arc::new(make()?);
        *kept = Some(value.clone());
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_not_kept_and_a_value_is() {
        let once: Once<u8> = Once::default();
        assert_eq!(once.get(|| Err("first")), Err("first"));
        assert!(std::panic::catch_unwind(|| once.get(|| -> Result<u8, ()> { std::panic::panic_any(()) })).is_err());
        assert_eq!(once.get(|| Ok::<_, ()>(7)).map(|v| *v), Ok(7));
        assert_eq!(once.get(|| Err("not asked")).map(|v| *v), Ok(7));
    }
}
