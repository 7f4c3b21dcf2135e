//! The one place where asynchronous work meets a program that has none.

use std::io;

/// Runs a future to its end on this thread. A name that the resolver still looks up is not waited for.
pub fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let output = runtime.block_on(future);
    runtime.shutdown_background();
    Ok(output)
}
