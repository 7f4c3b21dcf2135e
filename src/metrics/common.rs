//! The window that several sources cover together.

use corr_metrics::model::SECOND;

use super::asked::{Captured, Hit};
use crate::query::sources::Asked as Log;
use crate::render::shown::rfc3339;

/// What a source covers, UTC nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    pub name: String,
    pub first: i64,
    pub last: i64,
}

/// What sources cover, and those that are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covers {
    pub known: Vec<Cover>,
    /// Those that limit nothing: names with the reason.
    pub left_out: Vec<String>,
}

/// A window that all of them cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    pub since: i64,
    pub until: i64,
    /// Which source limits each end.
    pub how: String,
}

impl Covers {
    /// Adds the captures of some hits. Where a clock is known within an interval, what is surely covered.
    pub fn add_hits(&mut self, hits: &[Hit<'_>]) {
        let mut seen: Vec<&Captured<'_>> = Vec::new();
        for hit in hits {
            if seen.iter().any(|c| std::ptr::eq(*c, hit.captured)) {
                continue;
            }
            seen.push(hit.captured);
            let name = hit.captured.name.clone();
            match (hit.captured.dial().to_utc(), hit.captured.extent()) {
                (None, _) => self.left_out.push(format!("{name} (its clock counts from its own start, and where that lies is unknown)")),
                (_, None) => self.left_out.push(format!("{name} (it has no samples)")),
                (Some((offset, error)), Some((first, last))) => {
                    // A log's own stamps say what it covers.
                    let error = if hit.captured.is_log() { 0 } else { error };
                    let first = first.saturating_add(offset).saturating_add(error);
                    let last = last.saturating_add(offset).saturating_sub(error);
                    self.known.push(Cover { name, first, last });
                }
            }
        }
    }

    /// Adds the captures of some hits beside logs that were added as what they are: a field of a log covers what its log does.
    pub fn add_beside_logs(&mut self, mut hits: Vec<Hit<'_>>) {
        hits.retain(|hit| !hit.captured.is_log());
        self.add_hits(&hits);
    }

    /// Leaves out the captures that none of the hits is of.
    pub fn leave_out(&mut self, all: &[Captured<'_>], hits: &[Hit<'_>]) {
        let apart = all.iter().filter(|captured| !hits.iter().any(|hit| std::ptr::eq(hit.captured, *captured)));
        self.left_out.extend(apart.map(|captured| format!("{} (it has none of these series)", captured.name)));
    }

    /// Adds logs and other sources of events. Those without stamps cover nothing that could be said, those of one instant no stretch of time.
    pub fn add_logs(&mut self, logs: &[Log]) {
        for log in logs {
            let (Some(first), Some(last)) = log.extent() else { continue };
            if last.saturating_sub(first) <= SECOND {
                self.left_out.push(format!("{} (all its stamps lie within a second)", log.name));
            } else {
                self.known.push(Cover { name: log.name.clone(), first, last });
            }
        }
    }

    /// Names what is left out.
    fn not(&self) -> String {
        const NAMED: usize = 4;
        let named: Vec<&str> = self.left_out.iter().take(NAMED).map(String::as_str).collect();
        match self.left_out.len() {
            0 => String::new(),
            n if n > NAMED => format!("; left out: {} and {} more", named.join(", "), n - NAMED),
            _ => format!("; left out: {}", named.join(", ")),
        }
    }

    /// What all of them cover; or why there is nothing.
    pub fn shared(&self) -> Result<Shared, String> {
        let not = self.not();
        let (Some(latest), Some(earliest)) = (self.known.iter().max_by_key(|c| c.first), self.known.iter().min_by_key(|c| c.last)) else {
            return Err(format!("nothing that was asked has stamps{not}"));
        };
        let (since, until) = (latest.first, earliest.last);
        let at = |ns: i64| rfc3339(ns, 1_000_000);
        if since >= until {
            let text = format!("{} begins at {} and {} ends at {}", latest.name, at(since), earliest.name, at(until));
            return Err(format!("the {} sources that were asked cover no time together: {text}{not}", self.known.len()));
        }
        let how = format!("what {} sources cover; it begins with {} and ends with {}{not}", self.known.len(), latest.name, earliest.name);
        Ok(Shared { since, until, how })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(known: &[(&str, i64, i64)]) -> Covers {
        let known = known.iter().map(|(name, first, last)| Cover { name: name.to_string(), first: *first, last: *last }).collect();
        Covers { known, ..Covers::default() }
    }

    #[test]
    fn the_latest_start_and_the_earliest_end_limit_it() {
        let shared = covers(&[("a", 0, 100), ("b", 40, 300), ("c", 10, 90)]).shared().unwrap();
        assert_eq!((shared.since, shared.until), (40, 90));
        assert!(shared.how.contains("begins with b and ends with c"), "{}", shared.how);
    }

    #[test]
    fn what_covers_nothing_together_is_said() {
        let why = covers(&[("a", 0, 10), ("b", 10, 20)]).shared().unwrap_err();
        assert!(why.contains("b begins") && why.contains("a ends"), "{why}");
        let left_out = (0..6).map(|i| format!("c{i} (it has none of these series)")).collect();
        let how = Covers { left_out, ..covers(&[("a", 0, 10)]) }.shared().unwrap().how;
        assert!(how.ends_with("; left out: c0 (it has none of these series), c1 (it has none of these series), c2 (it has none of these series), c3 (it has none of these series) and 2 more"), "{how}");
        assert!(Covers::default().shared().unwrap_err().contains("has stamps"));
    }
}
