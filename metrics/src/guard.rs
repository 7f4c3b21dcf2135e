//! Damaged bytes must be an error, also where a library that reads them panics instead.
//!
//! The parquet and arrow crates index into pages and buffers by numbers that the file says, and tantivy asserts what its files say of themselves
//! (`FileSlice`, the bit packer): what a full disk or a foreign hand changed would end the program. All that such libraries read is read inside of
//! [`guard`].

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What `read` gives, or the message of its panic, which is not printed.
///
/// What it was reading is to be given up after a panic: nothing of it may be used again.
pub fn guard<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    hook();
    let outer = GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(outer);
    result.map_err(|payload| message(payload.as_ref()))
}

/// No panic of this thread is printed from now on: for threads of a library that gives a panic on to whoever waits for it, inside of [`guard`].
pub fn quiet() {
    hook();
    GUARDED.set(true);
}

fn hook() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                before(panic);
            }
        }));
    });
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    format!("damaged ({})", text.unwrap_or("no reason given"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        assert_eq!(guard(|| 7), Ok(7));
        let part = [1u8, 2, 3];
        let at = part.len();
        assert_eq!(guard(|| part[at]), Err("damaged (index out of bounds: the len is 3 but the index is 3)".into()));
        assert!(!GUARDED.get());
    }
}
