//! Are an answer's points samples, or a query's value at instants of a grid?
//!
//! `query?query=x[5m]` returns samples. `query_range` returns, at each instant of its grid, the last sample of up to five minutes before. Both
//! have the result type `matrix`. The query tells them apart where it is stored; else the stamps do: those of a range query all lie on one
//! grid, while each target is scraped at its own phase, and late by some milliseconds now and then.

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use super::document::{Contents, Points};
use super::ends::{Ends, sorted};
use crate::model::SECOND;

/// What the points of an answer are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Grade {
    /// Samples.
    Raw,
    /// Values of a query on a grid with this step and phase, in nanoseconds.
    Grid { step: i64, phase: i64 },
    /// One or the other.
    Undecided { step: i64, phase: i64 },
    /// One value a series, at the instant of the query.
    Instant,
}

/// What the stamps of an answer show.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    first: Option<i64>,
    /// Greatest step that all stamps share.
    step: u64,
    /// Least distance within a series.
    spacing: Option<u64>,
    points: u64,
    instances: BTreeSet<String>,
    /// The ends of each series, by the hash of its labels.
    ends: HashMap<u64, Ends>,
    /// A series comes more than once.
    repeats: bool,
}

impl Stamps {
    /// Takes a series.
    pub(super) fn take(&mut self, points: &Points<'_>) {
        let Some(&low) = points.at.iter().min() else { return };
        let first = *self.first.get_or_insert(low);
        for &at in points.at {
            self.step = gcd(self.step, at.abs_diff(first));
        }
        for (a, b) in points.at.iter().zip(points.at.iter().skip(1)) {
            let distance = a.abs_diff(*b);
            if distance > 0 {
                self.spacing = Some(self.spacing.map_or(distance, |s| s.min(distance)));
            }
        }
        self.points += points.at.len() as u64;
        if self.instances.len() < 2
            && let Some((_, instance)) = points.metric.iter().find(|(k, _)| k == "instance")
        {
            self.instances.insert(instance.clone());
        }
        let sorted = sorted(points.at, points.values);
        match self.ends.entry(hash(points.metric)) {
            Entry::Occupied(mut entry) => {
                self.repeats = true;
                entry.get_mut().add(&sorted);
            }
            Entry::Vacant(entry) => {
                if let Some(ends) = Ends::new(&sorted) {
                    entry.insert(ends);
                }
            }
        }
    }

    /// No series of this answer says something else than those before, of the same time.
    fn agree(&self, before: &HashMap<u64, Ends>) -> bool {
        self.ends.iter().all(|(key, ends)| before.get(key).is_none_or(|old| ends.agree(old)))
    }
}

fn hash(metric: &[(String, String)]) -> u64 {
    let mut sorted: Vec<_> = metric.iter().collect();
    sorted.sort();
    let mut hasher = DefaultHasher::new();
    sorted.hash(&mut hasher);
    hasher.finish()
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The grade, and the sentence that says why.
pub(super) fn grade(contents: &Contents<'_>, stamps: &Stamps) -> (Grade, String) {
    if contents.lists && contents.vectors {
        let step = SECOND;
        let why = "samples or instants: answers of several kinds in one file; taken as instants".into();
        return (Grade::Undecided { step, phase: 0 }, why);
    }
    if !contents.lists {
        return (Grade::Instant, "an instant query's vector: the last sample before one instant, not a sample".into());
    }
    let step = contents.step.as_deref().and_then(duration).filter(|s| *s > 0);
    let seen = step.or_else(|| i64::try_from(stamps.step).ok().filter(|s| *s > 0)).unwrap_or(SECOND);
    let phase = stamps.first.unwrap_or(0).rem_euclid(seen);
    if contents.step.is_some() || contents.range {
        let step = contents.step.as_deref().unwrap_or("?");
        return (
            Grade::Grid { step: seen, phase },
            format!("a range query (step {step}) is stored with it: evaluated at instants, not samples"),
        );
    }
    let mut endings = contents.queries.iter().map(|q| ends_in(q));
    let ending = endings.next();
    let ending = match endings.all(|e| Some(e) == ending) {
        true => ending,
        false => {
            let why = "samples or instants: answers to several kinds of query in one file; taken as instants".into();
            return (Grade::Undecided { step: seen, phase }, why);
        }
    };
    match ending {
        Some(Ending::Range) => return (Grade::Raw, "its query ends in a range selector: samples".into()),
        Some(Ending::Subquery) => {
            return (Grade::Grid { step: seen, phase }, "its query is a subquery: evaluated at instants, not samples".into());
        }
        Some(Ending::Value) => {
            return (
                Grade::Grid { step: seen, phase },
                "its query gives a matrix only as a range query: evaluated at instants, not samples".into(),
            );
        }
        None => {}
    }
    let second = SECOND.unsigned_abs();
    // A grid finer than a second under points this far apart would be a query that few steps satisfy.
    if stamps.spacing.is_some_and(|spacing| stamps.step < second && stamps.step.saturating_mul(4) <= spacing) {
        return (Grade::Raw, format!("stamps lie on no grid (common step {} ms): samples", stamps.step / 1_000_000));
    }
    // Stamps rounded to whole seconds have no phase that could tell.
    let phased = phase % SECOND != 0 || seen % SECOND != 0;
    if stamps.instances.len() > 1 && stamps.spacing.is_some() && phased {
        return (
            Grade::Grid { step: seen, phase },
            "several instances lie on one grid, and targets are scraped at phases of their own: evaluated at instants, not samples".into(),
        );
    }
    (
        Grade::Undecided { step: seen, phase },
        "samples or a range query's instants: stamps lie on one grid and the query is not stored; taken as instants".into(),
    )
}

/// A step: seconds, or Prometheus' durations (`15s`, `1m30s`).
fn duration(text: &str) -> Option<i64> {
    if let Some(ns) = super::super::text::seconds(text) {
        return Some(ns);
    }
    let mut ns = 0i64;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let (count, after) = rest.split_at_checked(end)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(end)?;
        let unit = match unit {
            "ms" => SECOND / 1000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            "d" => 86_400 * SECOND,
            _ => return None,
        };
        ns = ns.checked_add(count.parse::<i64>().ok()?.checked_mul(unit)?)?;
        rest = after;
    }
    (ns > 0).then_some(ns)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    /// `x[5m]`
    Range,
    /// `x[5m:1m]`
    Subquery,
    /// Anything else.
    Value,
}

/// What the outermost of a query is: only a selector with a range, or a subquery, ends in brackets (and `offset` or `@` after them).
fn ends_in(query: &str) -> Ending {
    let Some((before, after)) = query.rsplit_once(']') else { return Ending::Value };
    let after = after.trim();
    let modifiers = after.is_empty() || after.starts_with("offset") || after.starts_with('@');
    let Some((_, inside)) = before.rsplit_once('[') else { return Ending::Value };
    match (modifiers, inside.contains(':')) {
        (false, _) => Ending::Value,
        (true, true) => Ending::Subquery,
        (true, false) => Ending::Range,
    }
}

/// Documents that make one capture: of one grade, and agreeing on what several of them hold.
#[derive(Debug)]
pub(super) struct Group {
    pub grade: Grade,
    pub documents: Vec<usize>,
    /// A series comes more than once, in one document or in several.
    pub repeats: bool,
    why: BTreeSet<String>,
    ends: HashMap<u64, Ends>,
}

/// Adds a document to the first group that it fits, or to one of its own.
pub(super) fn group(groups: &mut Vec<Group>, document: usize, grade: Grade, why: String, mut stamps: Stamps) {
    if grade == Grade::Instant {
        // Points of one instant are of one group whatever they say.
        stamps.ends = HashMap::new();
    }
    let place = groups.iter().position(|g| g.grade == grade && stamps.agree(&g.ends));
    if let Some(group) = place.and_then(|i| groups.get_mut(i)) {
        group.documents.push(document);
        group.repeats = true;
        group.why.insert(why);
        for (key, ends) in stamps.ends {
            match group.ends.entry(key) {
                Entry::Occupied(mut entry) => entry.get_mut().join(&ends),
                Entry::Vacant(entry) => {
                    entry.insert(ends);
                }
            }
        }
        return;
    }
    groups.push(Group { grade, documents: vec![document], repeats: stamps.repeats, why: BTreeSet::from([why]), ends: stamps.ends });
}

impl Default for Group {
    /// Of no documents, for answers that hold no points.
    fn default() -> Group {
        Group { grade: Grade::Raw, documents: Vec::new(), repeats: false, why: BTreeSet::new(), ends: HashMap::new() }
    }
}

impl Group {
    /// What the points are, and how that was told.
    pub(super) fn reasons(&self) -> String {
        self.why.iter().map(String::as_str).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_selector_is_told_from_a_query_over_one() {
        assert_eq!(ends_in("x[5m]"), Ending::Range);
        assert_eq!(ends_in(r#"{job="a"}[1h] offset 5m"#), Ending::Range);
        assert_eq!(ends_in("x[5m] @ 1795976926.5"), Ending::Range);
        assert_eq!(ends_in("rate(x[1m])[5m:15s]"), Ending::Subquery);
        assert_eq!(ends_in("rate(x[15s])"), Ending::Value);
        assert_eq!(ends_in(r#"{a="b[5m]"}"#), Ending::Value);
        assert_eq!(ends_in("x"), Ending::Value);
    }

    #[test]
    fn steps_are_seconds_or_durations() {
        assert_eq!(duration("15"), Some(15 * SECOND));
        assert_eq!(duration("0.5"), Some(SECOND / 2));
        assert_eq!(duration("1m30s"), Some(90 * SECOND));
        assert_eq!(duration("x"), None);
        assert_eq!(duration("5y5"), None);
    }
}
