//! When the next scrape is due: a fixed grid, which a slow scrape does not shift.

use std::time::Duration;

use tokio::time::Instant;

/// Slots at `start`, `start + every`, `start + 2 every`, …; all endpoints share them.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    start: Instant,
    every: Duration,
    last: Option<u64>,
}

/// A slot to be scraped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    pub slot: u64,
    /// Slots before it that passed while an earlier scrape ran.
    pub missed: u64,
    pub at: Instant,
}

impl Grid {
    /// With a length, the last slot is the last one not after it: `10s` every second are eleven scrapes. `every` is not zero.
    pub fn new(start: Instant, every: Duration, length: Option<Duration>) -> Grid {
        Grid { start, every, last: length.map(|l| whole(l, every)) }
    }

    /// The slot after `done`, or the newest that has come at `now`; `None` after the last.
    pub fn next(&self, done: Option<u64>, now: Instant) -> Option<Due> {
        let next = done.map_or(0, |d| d.saturating_add(1));
        if self.last.is_some_and(|last| next > last) {
            return None;
        }
        let come = whole(now.saturating_duration_since(self.start), self.every);
        let slot = come.max(next).min(self.last.unwrap_or(u64::MAX));
        Some(Due { slot, missed: slot - next, at: self.at(slot)? })
    }

    /// `None` for times that the platform cannot say.
    fn at(&self, slot: u64) -> Option<Instant> {
        let nanos = self.every.as_nanos().checked_mul(u128::from(slot))?;
        self.start.checked_add(Duration::from_nanos(u64::try_from(nanos).ok()?))
    }

    /// A start later than this after its slot is called late: a tenth of the interval.
    pub fn tolerance(&self) -> Duration {
        self.every / 10
    }
}

/// How often `every` fits in.
fn whole(length: Duration, every: Duration) -> u64 {
    length.as_nanos().checked_div(every.as_nanos()).and_then(|n| u64::try_from(n).ok()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn slots_stay_on_the_grid_and_missed_ones_are_counted() {
        let start = Instant::now();
        let grid = Grid::new(start, ms(1000), Some(ms(5500)));
        let due = |done, now| grid.next(done, start + ms(now)).map(|d| (d.slot, d.missed, d.at - start));
        assert_eq!(due(None, 0), Some((0, 0, ms(0))));
        assert_eq!(due(Some(0), 30), Some((1, 0, ms(1000))), "no drift by what the first took");
        assert_eq!(due(Some(1), 2300), Some((2, 0, ms(2000))), "late, but not missed");
        assert_eq!(due(Some(1), 4100), Some((4, 2, ms(4000))), "2 and 3 passed");
        assert_eq!(due(Some(1), 90_000), Some((5, 3, ms(5000))), "the last slot is scraped, late");
        assert_eq!(due(Some(5), 5100), None);
    }

    #[test]
    fn without_an_end_it_goes_on() {
        let start = Instant::now();
        let grid = Grid::new(start, ms(10), None);
        assert_eq!(grid.next(Some(99), start).map(|d| d.slot), Some(100));
    }
}
