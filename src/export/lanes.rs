//! Lanes of a track: slices that overlap lie on different ones, so that those of one lane never do.

use std::collections::BTreeSet;

/// Which lanes are taken, and until when.
#[derive(Debug, Default)]
pub struct Lanes {
    /// Where the last slice of each lane ends.
    ends: Vec<i64>,
    /// Lanes of which the last slice ended by the latest start so far.
    free: BTreeSet<usize>,
    /// The others, by their ends.
    taken: BTreeSet<(i64, usize)>,
}

impl Lanes {
    /// The first lane on which nothing ends after `start`, taken up to `end`. Quick where slices come by their starts, right in any order.
    pub fn take(&mut self, start: i64, end: i64) -> usize {
        while let Some(&(until, lane)) = self.taken.first()
            && until <= start
        {
            self.taken.pop_first();
            self.free.insert(lane);
        }
        let is_over = |lane: &usize| self.ends.get(*lane).is_some_and(|until| *until <= start);
        let lane = self.free.iter().copied().find(is_over).unwrap_or(self.ends.len());
        self.free.remove(&lane);
        match self.ends.get_mut(lane) {
            // One of no length takes nothing, but stands there.
            Some(until) => {
                *until = end.max(*until);
                self.taken.insert((*until, lane));
            }
            None => {
                self.ends.push(end);
                self.taken.insert((end, lane));
            }
        }
        lane
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn slices_of_a_lane_do_not_overlap(mut slices in prop::collection::vec((0i64..200, 0i64..40), 0..60)) {
            slices.sort();
            let mut lanes = Lanes::default();
            let placed: Vec<(usize, i64, i64)> =
                slices.iter().map(|(start, length)| (lanes.take(*start, start + length), *start, start + length)).collect();
            for (i, (lane, start, end)) in placed.iter().enumerate() {
                for (other, from, to) in placed.iter().skip(i + 1) {
                    prop_assert!(lane != other || to <= start || end <= from, "{start}..{end} and {from}..{to} on {lane}");
                }
            }
            // No more lanes than slices that are open at once.
            let most = (0..240).map(|at| slices.iter().filter(|(s, l)| *s <= at && at < s + l.max(&1)).count()).max().unwrap_or(0);
            prop_assert!(placed.iter().map(|p| p.0 + 1).max().unwrap_or(0) <= most.max(1));
        }

        #[test]
        fn a_slice_is_on_the_first_lane_that_is_free(slices in prop::collection::vec((0i64..60, 0i64..20), 0..60)) {
            let mut lanes = Lanes::default();
            let mut ends: Vec<i64> = Vec::new();
            for (start, length) in slices {
                let first = ends.iter().position(|end| *end <= start).unwrap_or(ends.len());
                ends.resize(ends.len().max(first + 1), start);
                ends[first] = ends[first].max(start + length);
                prop_assert_eq!(lanes.take(start, start + length), first);
            }
        }
    }

    #[test]
    fn many_that_are_open_at_once_take_no_time_each() {
        let many = 200_000;
        let mut lanes = Lanes::default();
        for number in 0..many {
            assert_eq!(lanes.take(number as i64, i64::MAX), number);
        }
    }
}
