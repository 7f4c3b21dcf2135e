//! What each source's stamps mean: the zone, how it was found, and how well it holds.
//!
//! Per source, best first (DESIGN.md 4): declared → every stamp zoned → the envelope's stamp, an epoch number or a neighbouring zoned stamp
//! beside the naive one → an id that a zoned source has too → the `TZ` that a recorded command sets → UTC, assumed. Only samples are read, but
//! for stamps without a year, which need one pass over their source.

mod facts;
mod years;

use corr_parsers::clock::{Clock, How, Rule, read_rule};
use corr_parsers::stamp::SECOND;

use self::facts::{Facts, From, Pair};
use super::layout::RunLayout;
use super::sample::Sample;
use super::source::{Class, Source};
use super::{Options, Run, declared};

/// Candidate offsets are multiples of this, in seconds: all zones in use are.
const STEP: i64 = 900;
/// A rule that fewer pairs than this share hold is not used.
const SHARE: f64 = 0.8;

/// Sets the clock of every event source. An error says which option cannot be read.
pub fn find(run: &mut Run, options: &Options) -> Result<(), String> {
    let told = told(run, options)?;
    let layout = RunLayout::read(&run.sources);
    let mut facts: Vec<Option<Facts>> = Vec::with_capacity(run.sources.len());
    for source in &run.sources {
        let event_source = source.class == Class::Events && source.key != "-";
        facts.push(event_source.then(|| Facts::of(source, &Sample::read(source))));
    }
    for i in 0..run.sources.len() {
        let Some(found) = &facts[i] else {
            if let Some((rule, text, by)) = &told[i] {
                run.sources[i].clock = declared_clock(*rule, text, by);
            }
            continue;
        };
        let recorded = layout.tz_of(&run.sources[i].key);
        let mut clock = match own(found, told[i].as_ref()) {
            Ok(clock) => clock,
            Err(mut refused) => match by_ids(run, &facts, i) {
                Ok(Some(clock)) => with_refused(clock, &refused),
                Ok(None) => recorded_or_assumed(found, recorded, &refused),
                Err(why) => {
                    refused.push(why);
                    recorded_or_assumed(found, recorded, &refused)
                }
            },
        };
        name_zone(&mut clock, found, recorded);
        run.sources[i].clock = clock;
    }
    siblings(run, &facts);
    for (source, found) in run.sources.iter_mut().zip(&facts) {
        let Some(found) = found else { continue };
        if found.yearless > 0 {
            let year = run.declared.source(&source.key).year;
            years::fill(source, year);
        } else if let Rule::Named(_) = source.clock.rule {
            // Full dates need no year; with one, the reader also looks for DST folds.
            source.clock.last_year = found.first_naive.map(corr_parsers::clock::year);
        }
    }
    Ok(())
}

/// The clock of a source that is there as bytes only (standard input): what it shows by itself, or what was declared before.
pub fn alone(source: &Source, bytes: &[u8]) -> Clock {
    if source.clock.how == How::Declared {
        return source.clock.clone();
    }
    let head = &bytes[..bytes.len().min(corr_parsers::detect::SAMPLE)];
    let whole = head.len() == bytes.len();
    let facts = Facts::of(source, &Sample { bytes: head.to_vec(), whole });
    own(&facts, None).unwrap_or_else(|refused| recorded_or_assumed(&facts, None, &refused))
}

type Told = (Rule, String, String);

/// What options and `corr.toml` declare, per source: rule, its text, who says so.
fn told(run: &Run, options: &Options) -> Result<Vec<Option<Told>>, String> {
    let mut told: Vec<Option<Told>> = run
        .sources
        .iter()
        .map(|source| {
            let own = run.declared.source(&source.key).tz;
            own.or_else(|| run.declared.tz().cloned()).map(|(rule, text)| (rule, text, "corr.toml".to_string()))
        })
        .collect();
    // A zone for named sources wins over a zone for all, whatever their order.
    let (some, all): (Vec<&String>, Vec<&String>) = options.tz.iter().partition(|t| t.contains('='));
    for option in all {
        let rule = read_rule(option).ok_or_else(|| format!("--tz {option}: {}", declared::bad_zone(option)))?;
        told.fill(Some((rule, option.clone(), format!("--tz {option}"))));
    }
    for option in some {
        let wrong = |error: String| format!("--tz {option}: {error}");
        let (pattern, zone) = option.rsplit_once('=').unwrap_or((option, ""));
        let rule = read_rule(zone).ok_or_else(|| wrong(declared::bad_zone(zone)))?;
        let mut matched = false;
        for (source, told) in run.sources.iter().zip(&mut told) {
            if declared::matches_key(pattern, &source.key).map_err(wrong)? || pattern == source.name {
                *told = Some((rule, zone.to_string(), format!("--tz {option}")));
                matched = true;
            }
        }
        if !matched {
            let keys: Vec<&str> = run.sources.iter().map(|s| s.key.as_str()).collect();
            let near = declared::did_you_mean(pattern, &keys).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(wrong(format!("no source is called `{pattern}`{near}")));
        }
    }
    Ok(told)
}

fn declared_clock(rule: Rule, text: &str, by: &str) -> Clock {
    Clock { rule, how: How::Declared, evidence: format!("{text} declared by {by}"), ..Clock::assumed() }
}

/// The clock that the source shows by itself or is told; if it must be sought elsewhere, why what was found here is not used.
fn own(facts: &Facts, told: Option<&Told>) -> Result<Clock, Vec<String>> {
    if !facts.needs_rule() {
        if facts.zoned > 0 {
            return Ok(Clock { how: How::Zoned, evidence: "every stamp names its zone or is an epoch time".into(), ..Clock::assumed() });
        }
        let evidence =
            if facts.monotonic > 0 { "stamps count from boot or start and name no date" } else { "no stamps in its first records" };
        return Ok(match told {
            Some((rule, text, by)) => declared_clock(*rule, text, by),
            None => Clock { evidence: evidence.into(), ..Clock::assumed() },
        });
    }
    if let Some((rule, text, by)) = told {
        let mut clock = declared_clock(*rule, text, by);
        // What the records say is printed beside the declaration; it does not correct it.
        for (from, pairs) in [(From::Envelope, &facts.envelope), (From::Epoch, &facts.epoch)] {
            if let Some(fit) = fit(pairs, from)
                && let Some(east) = east_at(*rule, facts.first_naive.unwrap_or(0))
                && fit.holds(SHARE)
            {
                clock.pairs = (fit.pairs, fit.hold);
                if i64::from(east) == fit.east {
                    clock.residual = Some(fit.residual);
                } else {
                    let other = show_offset(fit.east);
                    clock.evidence.push_str(&format!(", against {}, which say {other} ({} of {})", from.about(), fit.hold, fit.pairs));
                }
                break;
            }
        }
        return Ok(clock);
    }
    let mut refused: Vec<String> = Vec::new();
    for (from, pairs, how) in [
        (From::Envelope, &facts.envelope, How::Envelope),
        (From::Epoch, &facts.epoch, How::Id),
        (From::Neighbour, &facts.neighbour, How::Id),
    ] {
        let Some(fit) = fit(pairs, from) else { continue };
        if !fit.holds(SHARE) {
            refused.push(fit.refusal(from.about()));
            continue;
        }
        let evidence = format!("{} from {}", show_offset(fit.east), from.about());
        return Ok(with_refused(fit.clock(how, evidence), &refused));
    }
    Err(refused)
}

fn with_refused(mut clock: Clock, refused: &[String]) -> Clock {
    for why in refused {
        clock.evidence.push_str(&format!("; not used: {why}"));
    }
    clock
}

/// The offset that explains most pairs.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// Seconds east of UTC.
    east: i64,
    pairs: usize,
    hold: usize,
    /// Over the pairs that hold, ns.
    residual: (i64, i64),
    /// The offset of the second-largest share, with its pairs.
    other: Option<(i64, usize)>,
}

impl Fit {
    fn holds(&self, share: f64) -> bool {
        self.hold as f64 >= share * self.pairs as f64
    }

    fn clock(&self, how: How, evidence: String) -> Clock {
        let rule = Rule::Fixed(self.east as i32);
        Clock { rule, how, evidence, residual: Some(self.residual), pairs: (self.pairs, self.hold), ..Clock::assumed() }
    }

    fn refusal(&self, about: &str) -> String {
        let mut text = format!("{about}: only {} of {} agree on {}", self.hold, self.pairs, show_offset(self.east));
        if let Some((east, n)) = self.other {
            text.push_str(&format!(", {n} say {}", show_offset(east)));
        }
        text
    }
}

/// Votes of the pairs for an offset. `None` without pairs, or if no offset of a real zone explains any.
fn fit(pairs: &[Pair], from: From) -> Option<Fit> {
    let (low, high) = from.bounds();
    let mut votes: Vec<(i64, usize, (i64, i64))> = Vec::new();
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
        match votes.iter_mut().find(|v| v.0 == east) {
            Some(vote) => {
                vote.1 += 1;
                vote.2 = (vote.2.0.min(residual), vote.2.1.max(residual));
            }
            None => votes.push((east, 1, (residual, residual))),
        }
    }
    votes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.abs().cmp(&b.0.abs())).then(a.0.cmp(&b.0)));
    let (east, hold, residual) = *votes.first()?;
    Some(Fit { east, pairs: pairs.len(), hold, residual, other: votes.get(1).map(|v| (v.0, v.1)) })
}

/// The offset by ids that zoned sources have too. `Err` says why what was found is not used.
fn by_ids(run: &Run, facts: &[Option<Facts>], i: usize) -> Result<Option<Clock>, String> {
    let Some(own) = &facts[i] else { return Ok(None) };
    let mut best: Option<(Fit, &str)> = None;
    for (j, partner) in facts.iter().enumerate() {
        let Some(partner) = partner.as_ref().filter(|_| j != i) else { continue };
        let (few, many) = if own.ids.len() < partner.ids.len() { (&own.ids, &partner.ids) } else { (&partner.ids, &own.ids) };
        let mut pairs: Vec<Pair> = Vec::new();
        for (id, a) in few {
            let Some(b) = many.get(id) else { continue };
            let (mine, other) = if own.ids.len() < partner.ids.len() { (a, b) } else { (b, a) };
            if !mine.zoned && other.zoned {
                pairs.push(Pair { utc: other.ns, civil: mine.ns });
            }
        }
        if let Some(fit) = fit(&pairs, From::Id)
            && best.as_ref().is_none_or(|(b, _)| fit.hold > b.hold)
        {
            best = Some((fit, &run.sources[j].key));
        }
    }
    let Some((fit, partner)) = best else { return Ok(None) };
    if !fit.holds(SHARE) {
        return Err(fit.refusal(&format!("{} {partner}", From::Id.about())));
    }
    let evidence = format!("{} from {} {partner}", show_offset(fit.east), From::Id.about());
    Ok(Some(fit.clock(How::Id, evidence)))
}

fn recorded_or_assumed(facts: &Facts, recorded: Option<&(String, String)>, refused: &[String]) -> Clock {
    let mut clock = Clock::assumed();
    if let Some((zone, file)) = recorded
        && let Some(rule) = read_rule(zone)
    {
        clock = Clock { rule, how: How::Recorded, evidence: format!("TZ={zone} recorded in {file}"), ..clock };
    } else if !facts.abbreviations.is_empty() {
        let names = facts.abbreviations.join(", ");
        let evidence =
            format!("stamps carry the zone names {names}; names that are not unique have no time until --tz says what they mean");
        clock = Clock { how: How::Recorded, evidence, ..clock };
    } else if facts.naive_envelope && facts.naive > 0 {
        clock.evidence = "nothing names a zone: envelope and payload are both without one".into();
    }
    with_refused(clock, refused)
}

/// A zone's name says more than its offset (it knows DST): taken where it agrees with an offset that was found.
fn name_zone(clock: &mut Clock, facts: &Facts, recorded: Option<&(String, String)>) {
    let (Rule::Fixed(east), How::Envelope | How::Id) = (clock.rule, clock.how) else { return };
    let Some((zone, file)) = recorded else { return };
    match (read_rule(zone), facts.first_naive) {
        (Some(rule @ Rule::Named(_)), Some(first)) if east_at(rule, first) == Some(east) => {
            clock.rule = rule;
            clock.evidence.push_str(&format!("; TZ={zone} in {file} agrees"));
        }
        (Some(rule), Some(first)) if east_at(rule, first) != Some(east) => {
            clock.evidence.push_str(&format!("; TZ={zone} in {file} does not agree and is not used"));
        }
        _ => {}
    }
}

/// Files of one process have one clock: a file without evidence takes that of its sibling.
fn siblings(run: &mut Run, facts: &[Option<Facts>]) {
    for (i, facts) in facts.iter().enumerate() {
        let wants = facts.as_ref().is_some_and(Facts::needs_rule) && run.sources[i].clock.how == How::Assumed;
        let Some(worker) = run.sources[i].owner.worker.clone().filter(|_| wants) else { continue };
        let folder = |key: &str| key.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_string());
        let mine = folder(&run.sources[i].key);
        let sibling = run.sources.iter().enumerate().find(|(j, other)| {
            *j != i
                && other.owner.worker.as_deref() == Some(worker.as_str())
                && other.owner.host == run.sources[i].owner.host
                && folder(&other.key) == mine
                && matches!(other.clock.how, How::Envelope | How::Id)
        });
        let Some((_, sibling)) = sibling else { continue };
        let evidence = format!("as {}, another file of the same process; {}", sibling.key, run.sources[i].clock.evidence);
        let rule = sibling.clock.rule;
        run.sources[i].clock = Clock { rule, how: How::Recorded, evidence, ..Clock::assumed() };
    }
}

/// Seconds east of UTC of a rule at a civil time (ns, read as UTC).
fn east_at(rule: Rule, civil: i64) -> Option<i32> {
    use chrono::{Offset, TimeZone};
    match rule {
        Rule::Fixed(east) => Some(east),
        Rule::Named(zone) => {
            let naive = chrono::DateTime::from_timestamp_nanos(civil).naive_utc();
            zone.offset_from_local_datetime(&naive).earliest().map(|o| o.fix().local_minus_utc())
        }
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
