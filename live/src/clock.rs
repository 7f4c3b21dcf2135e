//! When: the wall clock for stamps, the monotonic one for everything that is measured.

use std::time::Duration;

use tokio::time::Instant;

/// The clocks of one run. Stamps are read anew for every request, and time elapsed beside them, so a step of the wall clock shows.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    wall: fn() -> i64,
    began: Instant,
}

impl Clock {
    /// `wall` gives nanoseconds since the epoch. The run begins now.
    pub fn new(wall: fn() -> i64) -> Clock {
        Clock { wall, began: Instant::now() }
    }

    /// Nanoseconds since the epoch.
    pub fn wall(&self) -> i64 {
        (self.wall)()
    }

    /// When the run began.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// From the run's begin to an instant.
    pub fn elapsed(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.began)
    }
}

/// Nanoseconds of a duration; those of three centuries for longer ones.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
