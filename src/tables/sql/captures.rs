//! Series and samples of metric captures as tables.

use std::ops::ControlFlow;

use corr_metrics::catalogue::Group;
use corr_metrics::model::SeriesId;
use corr_sql::{Give, Wanted};

use super::sheet::{Cell, Sheet};
use super::{Asking, columns};
use crate::evidence;
use crate::metrics::asked::{Asked, Captured, title};
use crate::metrics::workers::{self, Worker};

/// Samples of a series that are decoded at once are those of one span of time; a series of years is not held whole.
const SPAN: i64 = 24 * 3_600 * 1_000_000_000;

/// A series and whose it is.
struct One<'a> {
    captured: &'a Captured<'a>,
    group: &'a Group,
    id: SeriesId,
    endpoint: Option<String>,
    worker: Option<String>,
}

/// One row a sample, series by series.
pub fn samples(asking: &Asking, wanted: &Wanted, give: &mut Give<'_>) -> Result<(), String> {
    let asked = open(asking)?;
    let workers = owners(asking)?;
    let mut sheet = Sheet::new(columns::of("samples"), give);
    let (from, to) = wanted.time("time");
    let with_labels = wanted.column("labels");
    let gone = each(&asked, &workers, wanted, |one| {
        let capture = one.captured.capture();
        let Some(series) = capture.get(one.id) else { return Ok(ControlFlow::Continue(())) };
        let zero = one.captured.dial().to_utc();
        // What has no wall clock has no time, and is in no window.
        let (offset, known) = zero.map_or((0, false), |(offset, _)| (offset, true));
        if !known && (from, to) != (i64::MIN, i64::MAX) {
            return Ok(ControlFlow::Continue(()));
        }
        let elapsed = matches!(capture.clock, corr_metrics::model::Clock::Elapsed { .. });
        let blocks = capture.samples.blocks(one.id.0);
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return Ok(ControlFlow::Continue(())) };
        let (mut at, end) = (first.first.max(from.saturating_sub(offset)), last.last.min(to.saturating_sub(offset)));
        while at <= end {
            let until = at.saturating_add(SPAN).min(end);
            for sample in capture.samples.between(one.id.0, at, until) {
                let row = [
                    Cell::Text(&one.captured.name),
                    (&one.endpoint).into(),
                    (&one.worker).into(),
                    Cell::Text(series.name.seen()),
                    if with_labels { Cell::Map(series.labels.iter().collect()) } else { Cell::None },
                    if known { Cell::Time(sample.at.saturating_add(offset)) } else { Cell::None },
                    if elapsed { Cell::Number(sample.at as f64 / 1e9) } else { Cell::None },
                    Cell::Number(sample.value),
                ];
                if sheet.push(row)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            match until.checked_add(1) {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if gone.is_break() { Ok(()) } else { sheet.end() }
}

/// One row a series.
pub fn series(asking: &Asking, wanted: &Wanted, give: &mut Give<'_>) -> Result<(), String> {
    let asked = open(asking)?;
    let workers = owners(asking)?;
    let mut sheet = Sheet::new(columns::of("series"), give);
    let gone = each(&asked, &workers, wanted, |one| {
        let capture = one.captured.capture();
        let Some(series) = capture.get(one.id) else { return Ok(ControlFlow::Continue(())) };
        let offset = one.captured.dial().to_utc().map(|(offset, _)| offset);
        let time = |sample: Option<corr_metrics::model::Sample>| match offset.zip(sample) {
            Some((offset, sample)) => Cell::Time(sample.at.saturating_add(offset)),
            None => Cell::None,
        };
        sheet.push([
            Cell::Text(&one.captured.name),
            (&one.endpoint).into(),
            (&one.worker).into(),
            Cell::Text(series.name.seen()),
            Cell::Map(series.labels.iter().collect()),
            Cell::Text(&one.group.name),
            Cell::Text(one.group.typed.kind.word()),
            Cell::Text(one.group.typed.origin.word()),
            (&one.group.unit).into(),
            Cell::Text(capture.layout),
            Cell::Count(capture.samples.len(one.id.0)),
            time(capture.samples.first(one.id.0)),
            time(capture.samples.last(one.id.0)),
        ])
    })?;
    if gone.is_break() { Ok(()) } else { sheet.end() }
}

/// The captures of the run; what could not be read of them is said.
pub fn open(asking: &Asking) -> Result<Asked<'_>, String> {
    let asked = evidence::captures(asking.run()?, &asking.options, asking.store.as_deref()).map_err(|e| format!("{e:#}"))?;
    asked.notes.iter().for_each(|note| asking.note(note.clone()));
    asked.not_read.iter().for_each(|file| asking.lost(format!("{}: {}", file.name, file.why)));
    for captured in &asked.captures {
        for note in captured.capture().notes.iter().filter(|note| note.is_loss()) {
            asking.lost(format!("{}: {} ({} times)", captured.name, note.what, note.count));
        }
    }
    Ok(asked)
}

/// The workers that sources name.
fn owners(asking: &Asking) -> Result<Vec<Worker>, String> {
    Ok(workers::workers(asking.run()?.sources.iter().map(|s| &s.owner)))
}

/// Calls `f` with every series that a question can want.
fn each(
    asked: &Asked<'_>,
    workers: &[Worker],
    wanted: &Wanted,
    mut f: impl FnMut(&One<'_>) -> Result<ControlFlow<()>, String>,
) -> Result<ControlFlow<()>, String> {
    for captured in asked.captures.iter().filter(|c| wanted.text("capture", &c.name)) {
        let capture = captured.capture();
        for group in captured.catalogue.families.iter().filter(|g| wanted.text("family", &g.name)) {
            for member in &group.members {
                let at = capture.endpoint(member.endpoint);
                let endpoint = at.map(title).filter(|t| !t.is_empty());
                if !wanted.text("endpoint", endpoint.as_deref().unwrap_or_default()) {
                    continue;
                }
                let worker = at.and_then(|at| workers::of(at, workers, &[])).map(|m| m.worker);
                for id in member.parts.series() {
                    if !capture.get(id).is_some_and(|s| wanted.text("name", s.name.seen())) {
                        continue;
                    }
                    let one = One { captured, group, id, endpoint: endpoint.clone(), worker: worker.clone() };
                    if f(&one)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}
