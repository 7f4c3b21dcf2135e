//! Two figures, each known within bounds: what can be said of their difference.

/// The values that a figure can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    /// `None`: nothing bounds it from above.
    pub high: Option<f64>,
    /// `low` itself is not in it, as of a histogram's bucket.
    pub open: bool,
}

/// What is shown of B − A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown {
    /// Both are known exactly, and are one value.
    Equal,
    /// Both can have one value.
    NoDifference,
    /// B is more than A, by so much.
    More { least: f64, most: Option<f64> },
    /// B is less than A, by so much.
    Less { least: f64, most: Option<f64> },
    /// One of them is not known.
    Unknown,
}

impl Range {
    /// Closed on both sides.
    pub fn new(low: f64, high: Option<f64>) -> Range {
        Range { low, high, open: false }
    }

    /// One value.
    pub fn exactly(value: f64) -> Range {
        Range::new(value, Some(value))
    }

    fn is_known(self) -> bool {
        !self.low.is_nan() && !self.high.is_some_and(f64::is_nan)
    }

    /// All of it lies above a bound.
    fn above(self, bound: f64) -> bool {
        self.low > bound || (self.low == bound && self.open)
    }
}

impl Shown {
    /// Of two figures.
    pub fn of(a: Option<Range>, b: Option<Range>) -> Shown {
        let Some((a, b)) = a.zip(b).filter(|(a, b)| a.is_known() && b.is_known()) else { return Shown::Unknown };
        if a == b && a.high == Some(a.low) && !a.open {
            return Shown::Equal;
        }
        let by = |below: Range, above: Range| {
            let bound = below.high?;
            above.above(bound).then(|| (above.low - bound, above.high.map(|high| high - below.low)))
        };
        match (by(a, b), by(b, a)) {
            (Some((least, most)), _) => Shown::More { least, most },
            (_, Some((least, most))) => Shown::Less { least, most },
            _ => Shown::NoDifference,
        }
    }

    /// For programs.
    pub fn name(self) -> &'static str {
        match self {
            Shown::Equal => "equal",
            Shown::NoDifference => "no_difference_shown",
            Shown::More { .. } => "more",
            Shown::Less { .. } => "less",
            Shown::Unknown => "unknown",
        }
    }

    /// A difference is shown.
    pub fn differs(self) -> bool {
        matches!(self, Shown::More { .. } | Shown::Less { .. })
    }

    /// The least and the most of B − A, with its sign.
    pub fn difference(self) -> Option<(Option<f64>, Option<f64>)> {
        match self {
            Shown::Equal => Some((Some(0.0), Some(0.0))),
            Shown::More { least, most } => Some((Some(least), most)),
            Shown::Less { least, most } => Some((most.map(|m| -m), Some(-least))),
            Shown::NoDifference | Shown::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: (f64, Option<f64>), b: (f64, Option<f64>)) -> Shown {
        Shown::of(Some(Range::new(a.0, a.1)), Some(Range::new(b.0, b.1)))
    }

    #[test]
    fn brackets_that_overlap_show_no_difference() {
        assert_eq!(of((5.0, Some(7.0)), (7.0, Some(9.0))), Shown::NoDifference, "both can be 7");
        assert_eq!(of((5.0, None), (70.0, Some(90.0))), Shown::NoDifference, "A has no upper bound");
        assert_eq!(of((5.0, Some(7.0)), (5.0, Some(7.0))), Shown::NoDifference);
        assert_eq!(of((5.0, Some(5.0)), (5.0, Some(5.0))), Shown::Equal);
    }

    #[test]
    fn the_range_of_a_difference_has_both_brackets_in_it() {
        assert_eq!(of((5.0, Some(7.0)), (10.0, Some(14.0))), Shown::More { least: 3.0, most: Some(9.0) });
        assert_eq!(of((10.0, Some(14.0)), (5.0, Some(7.0))), Shown::Less { least: 3.0, most: Some(9.0) });
        assert_eq!(of((5.0, Some(7.0)), (10.0, None)), Shown::More { least: 3.0, most: None });
        assert_eq!(of((10.0, Some(14.0)), (5.0, Some(7.0))).difference(), Some((Some(-9.0), Some(-3.0))));
    }

    #[test]
    fn neighbouring_buckets_do_not_overlap() {
        let bucket = |low, high| Some(Range { low, high, open: true });
        assert_eq!(Shown::of(bucket(0.5, Some(1.0)), bucket(1.0, Some(2.0))), Shown::More { least: 0.0, most: Some(1.5) });
        assert_eq!(Shown::of(bucket(0.5, Some(1.0)), bucket(0.5, Some(1.0))), Shown::NoDifference);
        assert_eq!(Shown::of(bucket(0.5, Some(1.0)), bucket(2.0, None)), Shown::More { least: 1.0, most: None });
    }

    #[test]
    fn what_is_not_known_is_not_compared() {
        assert_eq!(Shown::of(None, Some(Range::exactly(0.0))), Shown::Unknown);
        assert_eq!(of((f64::NAN, None), (1.0, None)), Shown::Unknown);
    }
}
