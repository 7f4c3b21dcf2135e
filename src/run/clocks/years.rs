//! The year of the last entry, for stamps without one.

use std::ops::ControlFlow;

use corr_parsers::clock::{self, Clock, TurnFinder, Turns};
use corr_parsers::stamp::{RawStamp, Zone};

use crate::run::source::Source;
use crate::run::timing::Timing;
use crate::run::{bytes, events};

/// Fills `last_year` of a source whose stamps have no year; reads it whole once. `declared` is the year that `corr.toml` gives for the last
/// entry. Which entries are of which year is found again, by the same pass, where they are read ([`Timing::of`]).
pub fn fill(source: &mut Source, declared: Option<i32>) {
    let Ok(opened) = bytes::open(&source.path) else { return };
    let mut finder = TurnFinder::new();
    let mut dated: Option<(u64, i32)> = None;
    let timing = Timing::plain(Clock::assumed());
    let start = events::Start { offset: 0, line: 0, order: None };
    events::each(&opened.bytes, &source.detection.layout, &timing, start, opened.bytes.len(), |record, event, _| {
        let outer = record.meta.and_then(|m| m.stamp);
        let offset = record.offset as u64;
        let yearless = outer.or(event.stamp).filter(|s| s.zone == Zone::Yearless);
        if yearless.is_some()
            && let Some(full) = event.stamp.filter(has_date)
        {
            dated = Some((offset, clock::year(full.ns)));
        }
        if let Some(stamp) = yearless {
            finder.push(offset, &stamp);
        }
        ControlFlow::Continue(())
    });
    let turns = if let Some(year) = declared {
        source.clock.evidence.push_str(&format!("; year {year} of the last entry declared in corr.toml"));
        finder.finish(&source.clock, year)
    } else if let Some((offset, year)) = dated {
        source.clock.evidence.push_str(&format!("; year {year} from a full date in the payload"));
        through(finder, &source.clock, offset, year)
    } else {
        let turns = finder.finish_before(&source.clock, source.stat.mtime);
        source.clock.evidence.push_str("; year from the file's last write, as no record names one");
        turns
    };
    source.clock.last_year = turns.year(u64::MAX);
}

fn has_date(stamp: &RawStamp) -> bool {
    !matches!(stamp.zone, Zone::Yearless | Zone::Monotonic)
}

/// The turns for which the entry at `offset` is of the year `year`.
fn through(finder: TurnFinder, clock: &Clock, offset: u64, year: i32) -> Turns {
    let guess = finder.clone().finish(clock, year);
    match guess.year(offset) {
        Some(found) if found != year => finder.finish(clock, year.saturating_add(year - found)),
        _ => guess,
    }
}
