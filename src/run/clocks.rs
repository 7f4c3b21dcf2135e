//! What each source's stamps mean: the zone, how it was found, and how well it holds.
//!
//! Per source, best first: declared → every stamp zoned → the envelope's stamp, an epoch number or a neighbouring zoned stamp
//! beside the naive one → an id that a zoned source has too → the `TZ` that a recorded command sets → UTC, assumed. Only samples are read, but
//! for stamps without a year, which need one pass over their source.

mod facts;
mod fit;
mod years;

use corr_parsers::clock::{Clock, How, Rule, read_rule};

use self::facts::{Facts, From, Pair};
use self::fit::{Fit, Found, SHARE, fit, settle, show_offset, with_dst};
use super::layout::RunLayout;
use super::sample::Sample;
use super::source::Class;
use super::{Options, Run, declared};

/// Sets the clock of every event source. An error says which option cannot be read.
pub fn find(run: &mut Run, options: &Options) -> Result<(), String> {
    let told = told(run, options)?;
    let layout = RunLayout::read(&run.sources);
    let mut facts: Vec<Option<Facts>> = Vec::with_capacity(run.sources.len());
    for source in &run.sources {
        let event_source = source.class == Class::Events;
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
            return Ok(Clock {
                how: How::Zoned,
                evidence: "every stamp names its zone, is an epoch time, or is UTC by its format".into(),
                ..Clock::assumed()
            });
        }
        let evidence = match (facts.from_boot, facts.monotonic) {
            (true, _) => "stamps count from boot and name no date",
            (false, 0) => "no stamps in its first records",
            _ => "stamps count from boot or start and name no date",
        };
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
    let kinds = [
        (From::Envelope, &facts.envelope, How::Envelope),
        (From::Epoch, &facts.epoch, How::Id),
        (From::Neighbour, &facts.neighbour, How::Id),
    ];
    for (i, (from, pairs, how)) in kinds.into_iter().enumerate() {
        if from == From::Neighbour
            && let Some(date) = facts.host_date
            && let Some(behind) = date.until_naive
        {
            let east = show_offset(date.east);
            // The driver starts right behind the date; a zone of its own would put hours between them.
            if (-5..600).contains(&behind) {
                let evidence =
                    format!("{east} from the date that the batch script prints in the same log, {behind} s before its next line");
                return Ok(with_refused(
                    Clock { rule: Rule::Fixed(date.east as i32), how: How::Recorded, evidence, ..Clock::assumed() },
                    &refused,
                ));
            }
            refused.push(format!("the batch script's date says {east}, but the next line would be {behind} s behind it"));
        }
        let Some(fit) = some_fit(pairs, from) else { continue };
        if !fit.holds(SHARE) {
            if let Some(clock) = with_dst(pairs, from, how) {
                return Ok(clock);
            }
            refused.push(fit.refusal(from.about()));
            continue;
        }
        let found = Found { from, how, fit };
        let others = kinds.iter().skip(i + 1).filter_map(|&(from, pairs, how)| Some(Found { from, how, fit: some_fit(pairs, from)? }));
        let rival = others.filter(|other| other.fit.holds(SHARE)).find(|other| other.fit.east != found.fit.east);
        let Some(rival) = rival else {
            let evidence = format!("{} from {}", show_offset(fit.east), from.about());
            return Ok(with_refused(fit.clock(how, evidence), &refused));
        };
        match settle(found, rival) {
            Ok((taken, against)) => {
                let evidence = format!("{} from {}, against {}", taken.fit.shown(), taken.from.about(), against.said());
                return Ok(with_refused(taken.fit.clock(taken.how, evidence), &refused));
            }
            Err(why) => {
                refused.push(why);
                break;
            }
        }
    }
    Err(refused)
}

/// The offset of one kind of evidence, if there is any to speak of.
fn some_fit(pairs: &[Pair], from: From) -> Option<Fit> {
    // One program's stamp before another's proves little by itself.
    fit(pairs, from).filter(|fit| from != From::Neighbour || fit.hold >= 3)
}

fn with_refused(mut clock: Clock, refused: &[String]) -> Clock {
    for why in refused {
        clock.evidence.push_str(&format!("; not used: {why}"));
    }
    clock
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
        if facts.abbreviations.iter().all(|a| a == "UTC" || a == "GMT") {
            clock = Clock { how: How::Zoned, evidence: format!("stamps carry the zone name {names}"), ..clock };
        } else {
            // Names that mean one offset only give their stamps a time; the rule stays assumed.
            clock.evidence =
                format!("stamps carry the zone names {names}; a name that is not unique has no time until --tz says what it means");
        }
    } else if facts.from_boot {
        clock.evidence = "nothing names a zone: the envelope's stamps count from boot and name no date, the payload's name no zone".into();
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
    match rule {
        Rule::Fixed(east) => Some(east),
        Rule::Named(zone) => zone.readings(civil).map(|(first, _)| zone.east(first)),
    }
}
