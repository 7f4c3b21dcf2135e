//! What was read, what it covers, on which clock, and what is not there.

use corr_metrics::coverage::{Coverage, of_endpoints};
use corr_metrics::model::Clock;
use corr_parsers::clock::How;

use super::model::{CaptureRow, Covered, EndpointRow, GapRow, MissingRow, SourceRow};
use super::{Base, Whole};
use crate::evidence::Evidence;
use crate::metrics::around::Around;
use crate::metrics::asked::{Captured, title};
use crate::metrics::span::Span;
use crate::query::rows::Told;
use crate::query::sources::Asked;
use crate::render::metrics::seconds;
use crate::render::sources::{clock_words, resolution};
use crate::run::coverage;
use crate::run::source::{NotRead, Source, unread};

/// Gaps of an endpoint that are kept, the longest.
const GAPS: usize = 40;

/// What was read.
pub fn of(base: Base<'_>, evidence: &Evidence<'_>, told: &Told, whole: &Whole<'_>, closed: Option<(i64, i64)>) -> Covered {
    let files = base.sources.not_read.iter().filter(|n| n.failure).chain(&evidence.not_read).chain(&base.captures.not_read);
    let files = files.chain(whole.not_read.iter().filter(|n| n.failure));
    let not_read = unread(files, told.failed.iter().map(|(name, why)| (name, why)));
    // What is no failure is said all the same.
    let mut notes = told.notes.clone();
    notes.extend(whole.not_read.iter().filter(|n| !n.failure).map(|n| format!("{}: {}", n.name, n.why)));
    let span = |name: &str| {
        let of = |l: &&corr_evidence::ledger::SourceLedger| base.sources.sources.get(l.source as usize).is_some_and(|s| s.name == name);
        evidence.ledgers.iter().find(of).and_then(|l| l.span)
    };
    let row = |source: &Asked| {
        let seen = told.totals.sources.get(&source.name).copied().unwrap_or_default();
        SourceRow {
            name: source.name.clone(),
            format: source.format.to_string(),
            owner: owner(source),
            span: span(&source.name),
            events: seen.events,
            stamps: seen.width.map_or(String::new(), |w| format!("within {}", resolution(w))),
            clock: clock_words(&source.clock, ""),
        }
    };
    let sources: Vec<SourceRow> = base.sources.sources.iter().map(row).collect();
    let is_assumed = |(source, row): &(&Asked, &SourceRow)| source.clock.how == How::Assumed && row.span.is_some();
    let assumed = base.sources.sources.iter().zip(&sources).filter(is_assumed).map(|(source, _)| source.name.clone()).collect();
    let captures = base.captures.captures.iter().filter(|c| !c.is_log()).map(|c| capture(base, c, closed)).collect();
    Covered { sources, captures, not_read, notes, missing: whole.missing.clone(), assumed }
}

fn owner(source: &Asked) -> String {
    let owner = &source.owner;
    let name = owner.worker.as_ref().or(owner.unit.as_ref());
    match (name, &owner.role) {
        (Some(name), Some(role)) if name != role => format!("{name} ({role})"),
        (Some(name), _) => name.clone(),
        (None, role) => role.clone().unwrap_or_default(),
    }
}

fn capture(base: Base<'_>, captured: &Captured<'_>, closed: Option<(i64, i64)>) -> CaptureRow {
    let dial = captured.dial();
    let covers = match captured.extent() {
        Some((from, to)) => format!("{} … {}", dial.show(from), dial.show(to)),
        None => "no samples".into(),
    };
    let clock = match &captured.capture().clock {
        Clock::Wall => "wall clock, UTC".to_string(),
        Clock::AssumedUtc => "wall clock without a zone, ASSUMED to be UTC".into(),
        Clock::Elapsed { anchor: Some(anchor) } => {
            let error = anchor.high.saturating_sub(anchor.low) / 2;
            format!("counts from its own start, which is known within ± {}: {}", seconds(error), anchor.how)
        }
        Clock::Elapsed { anchor: None } => {
            "counts from its own start, and where that lies is UNKNOWN: its series are on no common axis".into()
        }
    };
    let share_of = if closed.is_some() { "the window" } else { "what the capture covers" };
    CaptureRow { name: captured.name.clone(), covers, clock, share_of, endpoints: endpoints(base, captured, closed) }
}

/// How its endpoints were scraped over a window, UTC ns; over all of it where none was asked.
pub fn endpoints(base: Base<'_>, captured: &Captured<'_>, closed: Option<(i64, i64)>) -> Vec<EndpointRow> {
    let span = Span { since: closed.map(|c| c.0), until: closed.map(|c| c.1) };
    let Ok(placed) = span.on(captured) else { return Vec::new() };
    let ask = Around::of(base.run, captured).ask(captured.capture(), (placed.window.from(), placed.window.to()));
    let one = |covered: Coverage| {
        let mut all_gaps: Vec<(i64, i64, String)> = covered.gaps.iter().map(|gap| (gap.from, gap.to, gap.cause.word().into())).collect();
        all_gaps.sort_by_key(|gap| gap.0);
        let (gaps, gaps_left_out) = longest(captured, &all_gaps);
        let endpoint = covered.id.and_then(|id| captured.capture().endpoint(id));
        EndpointRow {
            id: covered.id,
            name: endpoint.map(title).filter(|name| !name.is_empty()).unwrap_or(covered.endpoint),
            fraction: covered.fraction,
            scrapes: covered.scrapes,
            failed: covered.failed.max(covered.failures.0),
            gaps,
            gaps_left_out,
            all_gaps,
        }
    };
    of_endpoints(captured.capture(), &ask).into_iter().map(one).collect()
}

/// The longest of some gaps on the capture's own clock, by time; second, how many are left out.
pub fn longest(captured: &Captured<'_>, all: &[(i64, i64, String)]) -> (Vec<GapRow>, u64) {
    let mut gaps: Vec<&(i64, i64, String)> = all.iter().collect();
    gaps.sort_by_key(|(from, to, _)| std::cmp::Reverse(to.saturating_sub(*from)));
    gaps.truncate(GAPS);
    gaps.sort_by_key(|gap| gap.0);
    let dial = captured.dial();
    let offset = dial.to_utc().map_or(0, |(offset, _)| offset);
    let row = |(from, to, cause): &(i64, i64, String)| GapRow {
        from: from.saturating_add(offset),
        to: to.saturating_add(offset),
        words: format!("{} … {} ({})", dial.show(*from), dial.show(*to), seconds(to.saturating_sub(*from))),
        cause: cause.clone(),
    };
    (gaps.iter().map(|gap| row(gap)).collect(), all.len().saturating_sub(gaps.len()) as u64)
}

/// What of a complete run is not there; second, sources that could not be read for that, or not to their end.
pub fn missing(base: Base<'_>) -> (Vec<MissingRow>, Vec<NotRead>) {
    let all = coverage::all(base.run, false);
    let why = |one: &std::io::Result<coverage::Coverage>| match one {
        Ok(coverage) => coverage.damage.clone(),
        Err(error) => Some(error.to_string()),
    };
    let lost = |(source, one): (&Source, &Option<std::io::Result<coverage::Coverage>>)| {
        Some(NotRead { name: source.name.clone(), why: why(one.as_ref()?)?, next: String::new(), failure: true })
    };
    let lost = base.run.sources.iter().zip(&all).filter_map(lost).collect();
    let read: Vec<_> = all.iter().map(|one| one.as_ref().and_then(|r| r.as_ref().ok())).collect();
    let found = crate::run::missing::of(base.run, &read);
    (found.into_iter().map(|m| MissingRow { what: m.what, why: m.why.into(), needs: m.needs.into() }).collect(), lost)
}
