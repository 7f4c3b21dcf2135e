//! The first and last points of a series in one answer: enough to tell that the next answer goes on where it ended.
//!
//! A script that asks for `x[5m]` every minute stores most samples several times. Answers that agree on what both hold are one capture, and
//! each sample is taken once; answers that do not agree are captures apart.

/// Points kept of either end: answers that overlap by more are captures apart.
const KEPT: usize = 2048;

/// A point, its value as bits: NaN is equal to itself here.
pub(super) type Bits = (i64, u64);

#[derive(Clone, Debug)]
pub(super) struct Ends {
    first: i64,
    last: i64,
    head: Vec<Bits>,
    tail: Vec<Bits>,
    /// Head and tail are the same, and all there is.
    whole: bool,
}

/// Points by time.
pub(super) fn sorted(at: &[i64], values: &[f64]) -> Vec<Bits> {
    let mut points: Vec<Bits> = at.iter().copied().zip(values.iter().map(|v| v.to_bits())).collect();
    points.sort_by_key(|(at, _)| *at);
    points
}

impl Ends {
    /// Of points by time; `None` for none.
    pub(super) fn new(points: &[Bits]) -> Option<Ends> {
        let (&(first, _), &(last, _)) = (points.first()?, points.last()?);
        let head = points.iter().take(KEPT).copied().collect();
        let tail = points.get(points.len().saturating_sub(KEPT)..)?.to_vec();
        Some(Ends { first, last, head, tail, whole: points.len() <= KEPT })
    }

    /// These points are those of `old` as far as both reach, or of another time.
    pub(super) fn agree(&self, old: &Ends) -> bool {
        if self.first > old.last || self.last < old.first {
            return true;
        }
        let to = old.last.min(self.last);
        let known = old.whole || old.tail.first().is_some_and(|(at, _)| *at < self.first);
        let seen = self.whole || self.head.last().is_some_and(|(at, _)| *at > to);
        let ours = self.head.iter().filter(|(at, _)| *at <= to);
        let theirs = old.tail.iter().filter(|(at, _)| (self.first..=to).contains(at));
        known && seen && self.first >= old.first && ours.eq(theirs)
    }

    /// The point is one of the last.
    pub(super) fn holds(&self, point: &Bits) -> bool {
        point.0 <= self.last && self.tail.get(self.tail.partition_point(|(at, _)| *at < point.0)) == Some(point)
    }

    /// Takes more points, by time, into account.
    pub(super) fn add(&mut self, points: &[Bits]) {
        if let Some(more) = Ends::new(points) {
            let later = points.get(points.partition_point(|(at, _)| *at <= self.last)..).unwrap_or(&[]);
            self.go_on(&more, later);
        }
    }

    /// Takes the series of another answer into account, of which only the ends are known.
    pub(super) fn join(&mut self, other: &Ends) {
        let from = other.tail.partition_point(|(at, _)| *at <= self.last);
        if from == 0 && !other.whole {
            // What lies between is not known: the tail begins anew.
            self.tail.clear();
            self.whole = false;
        }
        self.go_on(other, other.tail.get(from..).unwrap_or(&[]));
    }

    fn go_on(&mut self, more: &Ends, later: &[Bits]) {
        if more.last < self.first {
            (self.first, self.whole) = (more.first, false);
            self.head.clone_from(&more.head);
            return;
        }
        if self.whole {
            self.head.extend(later.iter().take(KEPT.saturating_sub(self.head.len())));
        }
        self.tail.extend_from_slice(later);
        let over = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..over);
        self.whole &= over == 0;
        self.first = self.first.min(more.first);
        self.last = self.last.max(more.last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(range: std::ops::Range<i64>) -> Ends {
        Ends::new(&range.map(|at| (at, 7)).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn answers_agree_where_both_hold_the_same() {
        assert!(ends(5..9).agree(&ends(0..5)), "another time");
        assert!(ends(0..5).agree(&ends(5..9)), "another time");
        assert!(ends(3..9).agree(&ends(0..5)));
        assert!(ends(1..3).agree(&ends(0..5)));
        assert!(!ends(0..5).agree(&ends(3..9)), "its points before the other's are not known to be all");
        assert!(!Ends::new(&[(3, 7), (4, 8)]).unwrap().agree(&ends(0..5)), "another value");
        assert!(!Ends::new(&[(3, 7), (5, 7)]).unwrap().agree(&ends(0..5)), "one is missing");
        assert!(ends(3000..9000).agree(&ends(0..5000)), "2000 in common");
        assert!(!ends(1000..9000).agree(&ends(0..5000)), "more than is kept");
        assert!(Ends::new(&[]).is_none());
    }

    #[test]
    fn answers_that_follow_one_another_are_one() {
        let mut ends = ends(0..3000);
        let more: Vec<Bits> = (2990..6000).map(|at| (at, 7)).collect();
        ends.add(&more);
        assert_eq!((ends.first, ends.last, ends.whole, ends.head.len(), ends.tail.len()), (0, 5999, false, KEPT, KEPT));
        assert!(ends.holds(&(5999, 7)) && ends.holds(&(5000, 7)));
        assert!(!ends.holds(&(5999, 8)) && !ends.holds(&(6000, 7)) && !ends.holds(&(10, 7)));
        ends.add(&[(-5, 7)]);
        assert_eq!((ends.first, ends.last, ends.head.len()), (-5, 5999, 1));
        let mut few = self::ends(0..5);
        few.join(&self::ends(3..9));
        assert!(few.whole && self::ends(0..12).agree(&few));
        few.join(&self::ends(9000..19_000));
        assert!(!few.whole && self::ends(18_000..19_500).agree(&few) && !self::ends(100..19_500).agree(&few));
    }
}
