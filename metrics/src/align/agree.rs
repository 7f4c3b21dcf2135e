//! Many intervals, one number: where do the most of them say that it lies?

/// What one observation says of a number: it is at least `low` and at most `high`. `i64::MIN` and `i64::MAX` leave a side open. One with
/// `low > high` contradicts itself and never holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub low: i64,
    pub high: i64,
}

/// How far bounds agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The most bounds that hold together, of how many.
    pub holds: u64,
    pub of: u64,
    /// Where that many hold, in order; apart if a bound between them does not hold.
    pub best: Vec<Bound>,
    /// Hull of the places where at most twice as many fail as at the best: a bound that is wrong can pull the best place off the truth, and
    /// as many as are seen to be wrong may be wrong unseen. Equal to the best place if all hold.
    pub hull: Bound,
}

impl Agreement {
    /// Share of the bounds that hold, in `[0, 1]`.
    pub fn share(&self) -> f64 {
        self.holds as f64 / self.of as f64
    }

    /// Bounded on both sides.
    pub fn is_bounded(&self) -> bool {
        self.hull.low > i64::MIN && self.hull.high < i64::MAX
    }
}

/// Sweeps over all bounds once they are sorted. `None` if none of them can hold.
pub fn agree(bounds: impl Iterator<Item = Bound> + Clone) -> Option<Agreement> {
    let of = bounds.clone().count() as u64;
    let mut open: Vec<i64> = bounds.clone().filter(|b| b.low <= b.high).map(|b| b.low).collect();
    let mut close: Vec<i64> = bounds.filter(|b| b.low <= b.high).map(|b| b.high).collect();
    open.sort_unstable();
    close.sort_unstable();
    let holds = regions(&open, &close).map(|(_, count)| count).max().filter(|&most| most > 0)?;
    let mut best: Vec<Bound> = Vec::new();
    let floor = (2 * holds).saturating_sub(of).max(1);
    let mut hull = Bound { low: i64::MAX, high: i64::MIN };
    for (region, count) in regions(&open, &close) {
        if count == holds {
            match best.last_mut() {
                Some(last) if last.high.checked_add(1) == Some(region.low) => last.high = region.high,
                _ => best.push(region),
            }
        }
        if count >= floor {
            hull = Bound { low: hull.low.min(region.low), high: hull.high.max(region.high) };
        }
    }
    Some(Agreement { holds, of, best, hull })
}

/// The line cut where the number of bounds that hold changes, with that number.
fn regions<'a>(open: &'a [i64], close: &'a [i64]) -> impl Iterator<Item = (Bound, u64)> + 'a {
    let (mut opened, mut closed) = (0, 0);
    let mut next = Some(i64::MIN);
    std::iter::from_fn(move || {
        let low = next?;
        opened += open.get(opened..).unwrap_or(&[]).iter().take_while(|&&o| o <= low).count();
        closed += close.get(closed..).unwrap_or(&[]).iter().take_while(|&&c| c < low).count();
        let opens = open.get(opened).map_or(i64::MAX, |&o| o - 1);
        let closes = close.get(closed).copied().unwrap_or(i64::MAX);
        let high = opens.min(closes);
        next = high.checked_add(1);
        Some((Bound { low, high }, (opened - closed) as u64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bounds(all: &[(i64, i64)]) -> Option<Agreement> {
        agree(all.iter().map(|&(low, high)| Bound { low, high }))
    }

    #[test]
    fn all_hold_in_their_intersection() {
        let found = bounds(&[(0, 10), (5, 20), (i64::MIN, 8)]).unwrap();
        assert_eq!((found.holds, found.of), (3, 3));
        assert_eq!(found.best, [Bound { low: 5, high: 8 }]);
        assert_eq!(found.hull, Bound { low: 5, high: 8 });
    }

    #[test]
    fn one_that_fails_widens_by_one_more() {
        let found = bounds(&[(0, 10), (4, 6), (3, 7), (2, 8), (20, 30)]).unwrap();
        assert_eq!((found.holds, found.of), (4, 5));
        assert_eq!(found.best, [Bound { low: 4, high: 6 }]);
        assert_eq!(found.hull, Bound { low: 3, high: 7 }, "one failed: one more may");
    }

    #[test]
    fn places_apart_are_both_told() {
        let found = bounds(&[(0, 10), (0, 3), (6, 10)]).unwrap();
        assert_eq!(found.best, [Bound { low: 0, high: 3 }, Bound { low: 6, high: 10 }]);
        assert_eq!(bounds(&[]), None);
        assert_eq!(bounds(&[(3, 2)]), None);
        assert!(!bounds(&[(i64::MIN, 2)]).unwrap().is_bounded());
        assert!(!bounds(&[(i64::MIN, i64::MAX)]).unwrap().is_bounded());
    }

    proptest! {
        #[test]
        fn the_most_that_hold_is_what_counting_at_every_place_finds(
            all in prop::collection::vec((-30i64..30, -30i64..30), 1..40)
        ) {
            let at = |x: i64| all.iter().filter(|(low, high)| *low <= x && x <= *high).count() as u64;
            let most = (-31..31).map(at).max().unwrap();
            match bounds(&all) {
                None => prop_assert_eq!(most, 0),
                Some(found) => {
                    prop_assert_eq!(found.holds, most);
                    for x in -31..31 {
                        prop_assert_eq!(at(x) == most, found.best.iter().any(|b| b.low <= x && x <= b.high));
                    }
                }
            }
        }
    }
}
