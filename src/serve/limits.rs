//! How much may be asked at once, and for how long?

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

/// Bounds of the work that readers of the pages can cause.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Questions that are answered at once.
    pub at_once: usize,
    /// Questions that wait for a place.
    pub waiting: usize,
    /// How long one waits for its answer.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { at_once: 2, waiting: 32, patience: Duration::from_secs(60) }
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    #[error("too many questions are waiting; ask again in a moment")]
    Full,
    #[error("no answer within {} s; narrow the window or the query, or ask again: what was asked is still being worked out", .0.as_secs())]
    Late(Duration),
    #[error("the work on this question broke off; it is a defect of corr")]
    Broke,
}

/// Where questions wait for their turn.
#[derive(Clone)]
pub struct Gate {
    limits: Limits,
    places: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

impl Gate {
    pub fn new(limits: Limits) -> Gate {
        Gate { limits, places: Arc::new(Semaphore::new(limits.at_once)), queue: Arc::new(Semaphore::new(limits.at_once + limits.waiting)) }
    }

    /// Does the work on a thread of its own when there is a place. Work that takes too long keeps its place until it is done.
    ///
    /// # Errors
    /// Too many wait already, or the time is over.
    pub async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Busy> {
        let patience = self.limits.patience;
        let until = Instant::now() + patience;
        let queued = self.queue.clone().try_acquire_owned().map_err(|_| Busy::Full)?;
        let place = match timeout_at(until, self.places.clone().acquire_owned()).await {
            Ok(Ok(place)) => place,
            Ok(Err(_)) => return Err(Busy::Full),
            Err(_) => return Err(Busy::Late(patience)),
        };
        let task = tokio::task::spawn_blocking(move || {
            let done = work();
            drop((place, queued));
            done
        });
        match timeout_at(until, task).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_)) => Err(Busy::Broke),
            Err(_) => Err(Busy::Late(patience)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn in_runtime<F: Future>(future: F) -> F::Output {
        corr_live::block_on(future).expect("a runtime")
    }

    #[test]
    fn what_takes_too_long_keeps_its_place() {
        let gate = Gate::new(Limits { at_once: 1, waiting: 1, patience: Duration::from_millis(50) });
        let (end, ended) = mpsc::channel::<()>();
        in_runtime(async {
            assert_eq!(gate.work(move || ended.recv()).await.expect_err("it waits"), Busy::Late(Duration::from_millis(50)));
            assert_eq!(gate.work(|| 1).await, Err(Busy::Late(Duration::from_millis(50))), "its place is taken");
            end.send(()).expect("the work listens");
            let patient = Gate { limits: Limits { patience: Duration::from_secs(10), ..gate.limits }, ..gate.clone() };
            assert_eq!(patient.work(|| 2).await, Ok(2), "the place is free");
        });
    }

    #[test]
    fn no_more_wait_than_may() {
        let gate = Gate::new(Limits { at_once: 1, waiting: 0, patience: Duration::from_millis(50) });
        let (end, ended) = mpsc::channel::<()>();
        in_runtime(async {
            assert!(matches!(gate.work(move || ended.recv()).await, Err(Busy::Late(_))));
            assert_eq!(gate.work(|| 1).await, Err(Busy::Full));
            end.send(()).expect("the work listens");
        });
    }

    #[test]
    fn a_panic_is_an_answer() {
        let gate = Gate::new(Limits::default());
        assert_eq!(in_runtime(gate.work(|| -> u8 { std::panic::panic_any(()) })), Err(Busy::Broke));
    }
}
