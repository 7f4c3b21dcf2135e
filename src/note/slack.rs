//! The same for a chat: aligned text in one fence, because Slack shows no tables.

use std::collections::BTreeMap;

use super::body::{Note, one_day, short};
use crate::render::evidence::details::needed;
use crate::render::evidence::{UNPROVABLE, table};
use crate::render::safe::fenced;
use crate::render::timeline::{message, who};
use crate::timeline::most_telling;

/// Rows that a message has at most.
const ROWS: usize = 30;
/// Characters of a message.
const MESSAGE: usize = 80;

/// The body of the block.
pub fn write(note: &Note<'_>) -> String {
    let mut lines = vec![format!("{}: {}", note.run, note.asked)];
    lines.push(format!("window {}", note.window.unwrap_or("the whole run")));
    let rows = most_telling(note.rows, ROWS);
    let cut = if (rows.len() as u64) < note.totals.rows { format!(", the {} most telling shown", rows.len()) } else { String::new() };
    lines.push(format!("{}{cut}", note.totals.words()));
    lines.extend(note.not_read.iter().map(|(name, why)| format!("not read: {name}: {why}")));
    let day = one_day(note.rows);
    lines.push(String::new());
    let utc = day.as_ref().map_or("UTC".to_string(), |day| format!("UTC {day}"));
    let mut cells: Vec<[String; 5]> = vec![[utc, "SOURCE".into(), "EVENT".into(), "STATUS".into(), "EVIDENCE".into()]];
    cells.extend(rows.iter().map(|row| {
        let event = format!("{} {}", row.first.kind, message(row, MESSAGE));
        [short(row, day.as_deref()), who(&row.first), event.trim_end().to_string(), row.status(), row.first.locator()]
    }));
    let cells: Vec<[String; 5]> = cells.into_iter().map(|row| row.map(|c| fenced(&c))).collect();
    let mut widths = [0; 5];
    for row in &cells {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    lines.extend(cells.iter().map(|row| {
        let padded: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        padded.join("  ").trim_end().to_string()
    }));
    lines.push(String::new());
    lines.push(format!("edges: {}", table::population(note.edged)));
    let mut by_activity: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for verdict in note.edged.verdicts() {
        let id = note.edged.evidence.edges.edges().get(verdict.edge).map_or("", |e| e.id.as_str());
        by_activity.entry(verdict.activity.name()).or_default().push(id);
    }
    lines.extend(by_activity.iter().map(|(activity, edges)| format!("  {activity}: {}", edges.join(", "))));
    let mut unprovable: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for ((what, _), edges) in needed(note.edged) {
        unprovable.entry(what).or_default().extend(edges);
    }
    lines.extend(unprovable.iter().map(|(what, edges)| format!("  {UNPROVABLE} by {what}: {}", edges.join(", "))));
    lines.extend(note.commands.iter().cloned());
    let mut out = String::from("```\n");
    for line in lines {
        out.push_str(&fenced(&line));
        out.push('\n');
    }
    out.push_str("```\n");
    out
}
