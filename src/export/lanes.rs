//! Lanes of a track: slices that overlap lie on different ones, so that those of one lane never do.

/// The ends of what lies on each lane.
#[derive(Debug, Default)]
pub struct Lanes {
    ends: Vec<i64>,
}

impl Lanes {
    /// The first lane that is free from `start` on, taken up to `end`. What comes must begin no earlier than what came before.
    pub fn take(&mut self, start: i64, end: i64) -> usize {
        let free = self.ends.iter().position(|taken| *taken <= start);
        match free.and_then(|lane| self.ends.get_mut(lane).map(|taken| (lane, taken))) {
            Some((lane, taken)) => {
                // One of no length takes nothing, but stands there.
                *taken = end.max(*taken);
                lane
            }
            None => {
                self.ends.push(end);
                self.ends.len() - 1
            }
        }
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
    }
}
