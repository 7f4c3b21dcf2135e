//! Several ways found where a clock began: which is taken, and what do the others say of it?

use super::seconds;
use crate::model::Anchor;

/// A way to find where a clock began; the order is that of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// [`super::counters`]
    SharedCounters,
    /// [`super::events`]
    EventCounts,
    /// [`super::uptime`]
    Uptime,
    /// [`super::files::first_line`]
    LogLine,
    /// [`super::files::current_arrow`], [`super::files::last_sample`]
    FileTime,
}

impl Rule {
    /// For output.
    pub fn word(self) -> &'static str {
        match self {
            Rule::SharedCounters => "shared counters",
            Rule::EventCounts => "event counts",
            Rule::Uptime => "uptime",
            Rule::LogLine => "first line of the scraper's log",
            Rule::FileTime => "time of the file",
        }
    }
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub rule: Rule,
    pub anchor: Anchor,
}

/// What was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub rule: Rule,
    pub anchor: Anchor,
    /// The rules that were not taken, best first, and what each says of what was.
    pub beside: Vec<Beside>,
}

/// A rule beside the one that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    pub found: Found,
    /// The two intervals have a point in common.
    pub agrees: bool,
    /// In a sentence.
    pub said: String,
}

/// Takes what the best rule found: of several finds of one rule the one of which the greatest share holds, then the first. `None` of nothing.
pub fn choose(mut found: Vec<Found>) -> Option<Choice> {
    found.sort_by(|a, b| a.rule.cmp(&b.rule).then_with(|| share(&b.anchor).total_cmp(&share(&a.anchor))));
    let mut found = found.into_iter();
    let taken = found.next()?;
    let beside = found.map(|other| beside(&taken, other)).collect();
    Some(Choice { rule: taken.rule, anchor: taken.anchor, beside })
}

fn share(anchor: &Anchor) -> f64 {
    anchor.holds.map_or(0.0, |(holds, of)| holds as f64 / of.max(1) as f64)
}

fn beside(taken: &Found, found: Found) -> Beside {
    let (own, other) = (&taken.anchor, &found.anchor);
    let (word, against) = (found.rule.word(), taken.rule.word());
    let earlier = own.low.saturating_sub(other.high);
    let later = other.low.saturating_sub(own.high);
    let said = if earlier > 0 {
        format!("{word} contradicts {against}: at least {} earlier", seconds(earlier))
    } else if later > 0 {
        format!("{word} contradicts {against}: at least {} later", seconds(later))
    } else {
        format!("{word} agrees with {against}")
    };
    Beside { agrees: earlier <= 0 && later <= 0, said, found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SECOND;

    fn found(rule: Rule, low: i64, high: i64, holds: Option<(u64, u64)>) -> Found {
        Found { rule, anchor: Anchor { low: low * SECOND, high: high * SECOND, how: String::new(), holds } }
    }

    #[test]
    fn the_best_rule_is_taken_and_the_others_are_heard() {
        let all = vec![
            found(Rule::FileTime, 20, 21, None),
            found(Rule::LogLine, 4, 5, None),
            found(Rule::EventCounts, 7, 8, Some((67, 71))),
            found(Rule::EventCounts, 5, 6, Some((71, 71))),
        ];
        let choice = choose(all).unwrap();
        assert_eq!((choice.rule, choice.anchor.low), (Rule::EventCounts, 5 * SECOND));
        let said: Vec<&str> = choice.beside.iter().map(|b| b.said.as_str()).collect();
        assert_eq!(
            said,
            [
                "event counts contradicts event counts: at least 1.000 s later",
                "first line of the scraper's log agrees with event counts",
                "time of the file contradicts event counts: at least 14.000 s later",
            ]
        );
        assert_eq!(choice.beside.iter().map(|b| b.agrees).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(choose(Vec::new()), None);
    }
}
