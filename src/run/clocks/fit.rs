//! Which offset explains pairs of one moment told by two clocks, and how well.

use corr_parsers::clock::{Clock, How, NamedZone, Rule};
use corr_parsers::stamp::SECOND;

use super::facts::{From, Pair};

/// Candidate offsets are multiples of this, in seconds: all zones in use are.
const STEP: i64 = 900;
/// A rule that fewer pairs than this share hold is not used.
pub const SHARE: f64 = 0.8;

/// So many moments are needed for a weaker kind of evidence to be believed against a better one.
const WITNESSES: usize = 3;

/// The offset that explains most pairs.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Seconds east of UTC.
    pub east: i64,
    pub pairs: usize,
    pub hold: usize,
    /// Over the pairs that hold, ns.
    pub residual: (i64, i64),
    /// How many different zoned moments the pairs that hold have: lines behind one zoned stamp are one witness.
    pub witnesses: usize,
    /// The offset of the second-largest share, with its pairs.
    other: Option<(i64, usize)>,
}

impl Fit {
    pub fn holds(&self, share: f64) -> bool {
        self.hold as f64 >= share * self.pairs as f64
    }

    pub fn clock(&self, how: How, evidence: String) -> Clock {
        let rule = Rule::Fixed(self.east as i32);
        Clock { rule, how, evidence, residual: Some(self.residual), pairs: (self.pairs, self.hold), ..Clock::assumed() }
    }

    /// `UTC+08:00 (7 of 7)`
    pub fn shown(&self) -> String {
        format!("{} ({} of {})", show_offset(self.east), self.hold, self.pairs)
    }

    pub fn refusal(&self, about: &str) -> String {
        let mut text = format!("{about}: only {} of {} agree on {}", self.hold, self.pairs, show_offset(self.east));
        if let Some((east, n)) = self.other {
            text.push_str(&format!(", {n} say {}", show_offset(east)));
        }
        text
    }
}

/// Zones whose offset changes in the year, one for each rule that servers run under.
const DST_ZONES: &[&str] = &[
    "America/Los_Angeles",
    "America/Denver",
    "America/Chicago",
    "America/New_York",
    "America/Halifax",
    "Europe/London",
    "Europe/Berlin",
    "Europe/Helsinki",
    "Asia/Jerusalem",
    "Australia/Sydney",
    "Pacific/Auckland",
];

/// A zone with DST that explains pairs which no single offset does.
pub fn with_dst(pairs: &[Pair], from: From, how: How) -> Option<Clock> {
    let (low, high) = from.bounds();
    for zone in DST_ZONES.iter().filter_map(|name| NamedZone::get(name)) {
        let mut residual: Option<(i64, i64)> = None;
        let mut hold = 0;
        for pair in pairs {
            let east = i64::from(zone.east(pair.utc));
            let rest = pair.utc.saturating_sub(pair.civil).saturating_add(east * SECOND);
            if (low * SECOND..=high * SECOND).contains(&rest) {
                hold += 1;
                residual = Some(residual.map_or((rest, rest), |(a, b)| (a.min(rest), b.max(rest))));
            }
        }
        if hold as f64 >= SHARE * pairs.len() as f64 {
            let evidence = format!("the offset changes as the daylight-saving time of {} does, by {}", zone.name(), from.about());
            return Some(Clock { rule: Rule::Named(zone), how, evidence, residual, pairs: (pairs.len(), hold), ..Clock::assumed() });
        }
    }
    None
}

/// Votes of the pairs for an offset. `None` without pairs, or if no offset of a real zone explains any.
pub fn fit(pairs: &[Pair], from: From) -> Option<Fit> {
    let (low, high) = from.bounds();
    let mut votes: Vec<Vote> = Vec::new();
    for pair in pairs {
        // residual = utc − civil + east lies in [low, high]: at most one multiple of 15 minutes does it.
        let difference = pair.utc.saturating_sub(pair.civil);
        let lowest = (low * SECOND).saturating_sub(difference);
        let east = lowest.div_euclid(SECOND).saturating_add(i64::from(lowest.rem_euclid(SECOND) > 0));
        let east = east.saturating_add(STEP - 1).div_euclid(STEP) * STEP;
        if !(-12 * 3600..=14 * 3600).contains(&east) {
            continue;
        }
        let residual = difference + east * SECOND;
        if residual > high * SECOND {
            continue;
        }
        match votes.iter_mut().find(|v| v.east == east) {
            Some(vote) => {
                vote.hold += 1;
                vote.residual = (vote.residual.0.min(residual), vote.residual.1.max(residual));
                vote.witnesses += usize::from(vote.last_utc != pair.utc);
                vote.last_utc = pair.utc;
            }
            None => votes.push(Vote { east, hold: 1, residual: (residual, residual), witnesses: 1, last_utc: pair.utc }),
        }
    }
    votes.sort_by(|a, b| b.hold.cmp(&a.hold).then(a.east.abs().cmp(&b.east.abs())).then(a.east.cmp(&b.east)));
    let Vote { east, hold, residual, witnesses, .. } = *votes.first()?;
    Some(Fit { east, pairs: pairs.len(), hold, residual, witnesses, other: votes.get(1).map(|v| (v.east, v.hold)) })
}

/// The pairs that one offset explains.
struct Vote {
    east: i64,
    hold: usize,
    residual: (i64, i64),
    witnesses: usize,
    last_utc: i64,
}

/// One kind of evidence with the offset that it gives.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub from: From,
    pub how: How,
    pub fit: Fit,
}

impl Found {
    pub fn said(&self) -> String {
        format!("{}, which say {}", self.from.about(), self.fit.shown())
    }
}

/// What is to be made of two kinds of evidence that give different offsets. `first` is the better kind.
///
/// The envelope's stamps are of another process and win. Else one slip is common and easily told: a local time taken for UTC, whether a
/// program prints it with a `Z` or makes an epoch number of it. It gives no offset at all, never another zone's. So of UTC and another offset
/// the other one is taken; of two others none is: `Err` has both. A few lines behind one zoned stamp may fit a zone by chance and overrule
/// nothing. `Ok` has what is taken and what speaks against it.
pub fn settle(first: Found, second: Found) -> Result<(Found, Found), String> {
    if first.from == From::Envelope || second.fit.witnesses < WITNESSES {
        return Ok((first, second));
    }
    match (first.fit.east, second.fit.east) {
        (0, _) => Ok((second, first)),
        (_, 0) => Ok((first, second)),
        _ => Err(format!("{}, contradicts {}", first.said(), second.said())),
    }
}

/// `UTC`, `UTC+08:00`.
pub fn show_offset(east: i64) -> String {
    if east == 0 {
        return "UTC".into();
    }
    let sign = if east < 0 { '-' } else { '+' };
    format!("UTC{sign}{:02}:{:02}", east.abs() / 3600, east.abs() / 60 % 60)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(east: i64, residuals: &[i64]) -> Vec<Pair> {
        let utc = 1_795_977_516 * SECOND;
        residuals.iter().map(|r| Pair { utc, civil: utc + east * SECOND - r * SECOND / 1000 }).collect()
    }

    #[test]
    fn most_pairs_decide_and_the_residual_is_kept() {
        for east in [0, 19_800, -18_000, 20_700, 50_400, -43_200] {
            let fit = fit(&pairs(east, &[6, 500, 1_017]), From::Envelope).unwrap();
            assert_eq!((fit.east, fit.pairs, fit.hold), (east, 3, 3));
            assert_eq!(fit.residual, (6_000_000, 1_017_000_000));
        }
    }

    #[test]
    fn conflicting_pairs_are_not_used() {
        let mut mixed = pairs(0, &[100, 200, 300]);
        mixed.extend(pairs(3_600, &[100, 200]));
        let fit = fit(&mixed, From::Envelope).unwrap();
        assert!(!fit.holds(SHARE));
        assert_eq!(fit.refusal("pairs"), "pairs: only 3 of 5 agree on UTC, 2 say UTC+01:00");
        // Seven minutes off every zone: no offset explains it.
        assert!(super::fit(&pairs(0, &[-420_000]), From::Envelope).is_none());
    }

    #[test]
    fn a_zone_with_dst_explains_two_offsets() {
        let winter = Pair { utc: 1_767_225_600 * SECOND, civil: (1_767_225_600 - 8 * 3600) * SECOND };
        let summer = Pair { utc: 1_782_864_000 * SECOND, civil: (1_782_864_000 - 7 * 3600) * SECOND };
        let clock = with_dst(&[winter, summer, summer], From::Envelope, How::Envelope).unwrap();
        assert_eq!((clock.rule, clock.pairs), (Rule::Named(NamedZone::get("America/Los_Angeles").unwrap()), (3, 3)));
        // Two offsets that no zone alternates between.
        let other = Pair { civil: summer.civil + 5 * 3600 * SECOND, ..summer };
        assert!(with_dst(&[winter, other, summer], From::Envelope, How::Envelope).is_none());
    }

    #[test]
    fn of_utc_and_a_zone_the_zone_is_taken() {
        let moments = |from, east: i64, n: i64| {
            let pairs: Vec<Pair> = (0..n).map(|i| Pair { utc: i * SECOND, civil: (i + east) * SECOND }).collect();
            Found { from, how: How::Id, fit: fit(&pairs, from).unwrap() }
        };
        let (hours, epoch, near) = (3_600, From::Epoch, From::Neighbour);
        let taken = |a: Found, b: Found| settle(a, b).map(|(taken, _)| (taken.from, taken.fit.east));
        assert_eq!(taken(moments(epoch, 0, 7), moments(near, 8 * hours, 12)), Ok((near, 8 * hours)));
        assert_eq!(taken(moments(epoch, 8 * hours, 7), moments(near, 0, 12)), Ok((epoch, 8 * hours)));
        assert_eq!(taken(moments(From::Envelope, 0, 7), moments(epoch, 8 * hours, 7)), Ok((From::Envelope, 0)));
        // Two moments are too few against a better kind, and two zones are no slip that one knows.
        assert_eq!(taken(moments(epoch, 0, 7), moments(near, 8 * hours, 2)), Ok((epoch, 0)));
        let why = settle(moments(epoch, -5 * hours, 7), moments(near, 8 * hours, 12)).unwrap_err();
        assert!(why.contains("UTC-05:00 (7 of 7)") && why.contains("UTC+08:00 (12 of 12)"), "{why}");
        // Lines behind one zoned stamp are one witness.
        let one = [Pair { utc: 0, civil: 0 }; 5];
        assert_eq!(fit(&one, near).unwrap().witnesses, 1);
    }

    proptest! {
        #[test]
        fn a_fit_explains_what_it_counts(east in -48i64..=56, ms in proptest::collection::vec(-4_900i64..399_000, 1..20), far in any::<i64>()) {
            let mut all = pairs(east * STEP, &ms);
            let fit = fit(&all, From::Envelope).unwrap();
            prop_assert_eq!((fit.east, fit.hold), (east * STEP, all.len()));
            all.push(Pair { utc: far, civil: 0 });
            let _ = super::fit(&all, From::Id);
        }
    }
}
