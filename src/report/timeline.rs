//! The timeline of a report: rows, and how many events there were by time.

use std::collections::HashMap;

use super::model::{Cite, Density, EventRow, Timeline};
use super::{Ask, Base};
use crate::query::answer::Question;
use crate::query::rows::{self, How, Told};
use crate::render::shown::Shown;
use crate::render::timeline::{message, times, who};
use crate::timeline::{Mark, Row};

/// Columns of the picture of events.
const COLUMNS: i64 = 240;
/// Characters of a message; its record opens the rest.
const MESSAGE: usize = 400;

/// Reads the events of a question; `marks` stand among their rows.
pub fn of(base: Base<'_>, question: &Question, ask: &Ask, axis: Option<(i64, i64)>, marks: Vec<Row>) -> anyhow::Result<(Timeline, Told)> {
    let numbers: HashMap<&str, u32> = base.sources.sources.iter().map(|s| s.name.as_str()).zip(0..).collect();
    let mut density = Density::new(axis);
    let how = How { all: ask.all, limit: ask.rows, chosen: ask.chosen() };
    let mut kept = Vec::new();
    let told = rows::of(question, base.sources, how, marks, &mut |event| density.add(event), &mut |row| {
        kept.push(event_row(&row, &numbers, ask));
        Ok(())
    })?;
    let timeline = Timeline { rows: kept, events: told.totals.events, of: told.totals.rows, at_edge: told.at_edge, density };
    Ok((timeline, told))
}

fn event_row(row: &Row, numbers: &HashMap<&str, u32>, ask: &Ask) -> EventRow {
    let events = || [Some(&row.first), row.last.as_deref()].into_iter().flatten();
    let cite = |event: &Shown| {
        let (text, at) = (event.locator(), numbers.get(event.source.as_str()).map(|number| (*number, event.offset)));
        // Of a mark it may be a capture that says it.
        let open = if at.is_some() { String::new() } else { ask.given.opens(&text, ask.closed) };
        Cite { text, at, open }
    };
    let ends = |event: &Shown| event.stamp.map(|s| (s.start, s.end)).or_else(|| event.order.map(|at| (at, at)));
    EventRow {
        span: events().filter_map(ends).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
        time: times(row),
        who: who(&row.first),
        source: row.first.source.clone(),
        kind: row.first.kind.to_string(),
        level: row.first.level,
        mark: row.mark.map(Mark::name),
        status: row.status(),
        count: row.count,
        message: message(row, MESSAGE),
        cites: events().map(cite).collect(),
    }
}

impl Density {
    fn new(axis: Option<(i64, i64)>) -> Density {
        let Some((from, to)) = axis else { return Density::default() };
        // Whole columns, so that the last one reaches the end.
        let width = to.saturating_sub(from).saturating_add(COLUMNS - 1) / COLUMNS;
        let width = width.max(1);
        let columns = usize::try_from(to.saturating_sub(from).saturating_add(width - 1) / width).unwrap_or(0).max(1);
        Density { from, width, events: vec![0; columns], serious: vec![0; columns], unstamped: 0 }
    }

    fn add(&mut self, event: &Shown) {
        let Some(stamp) = event.stamp.filter(|_| self.width > 0) else {
            self.unstamped += 1;
            return;
        };
        // One that reaches over an edge of the window stands at the edge.
        let last = self.events.len().saturating_sub(1);
        let column = usize::try_from(stamp.start.saturating_sub(self.from) / self.width).unwrap_or(0).min(last);
        if let Some(n) = self.events.get_mut(column) {
            *n += 1;
        }
        if matches!(event.level, Some("warn" | "error" | "fatal"))
            && let Some(n) = self.serious.get_mut(column)
        {
            *n += 1;
        }
    }
}
