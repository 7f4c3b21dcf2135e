//! Events as text, JSON, CSV or Markdown.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::paint::{Paint, Tone};
use super::safe;
use super::shown::Shown;

/// How answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One line an event, for people.
    Text,
    /// One JSON object a line, a summary last.
    Jsonl,
    /// One JSON object.
    Json,
    /// One header, one line an event.
    Csv,
    /// A table for notes.
    Markdown,
}

/// What is shown of each event.
#[derive(Clone, Debug, Default)]
pub struct Style {
    /// Only these names, in this order.
    pub fields: Vec<String>,
    /// Text lines are cut to this many columns; 0 leaves them whole.
    pub width: usize,
    pub paint: Paint,
}

/// A hit with the records that stand beside it, in source order.
pub struct Block {
    pub events: Vec<Shown>,
}

/// Writes blocks as lines of text. Blocks with context are set apart by `--`.
pub fn text(out: &mut dyn Write, blocks: &[Block], style: &Style) -> io::Result<()> {
    let apart = blocks.iter().any(|b| b.events.len() > 1);
    for (i, block) in blocks.iter().enumerate() {
        if apart && i > 0 {
            writeln!(out, "--")?;
        }
        for event in &block.events {
            text_line(out, event, style)?;
        }
    }
    Ok(())
}

fn text_line(out: &mut dyn Write, event: &Shown, style: &Style) -> io::Result<()> {
    let paint = &style.paint;
    let mark = if event.context { "-" } else { " " };
    let mut used = 0;
    let time = event.time();
    let locator = event.locator();
    used += time.len() + locator.chars().count() + 4;
    write!(out, "{}{mark} {} ", paint.tone(Tone::Dim, &time), paint.tone(Tone::Place, &safe::terminal(&locator)))?;
    if !style.fields.is_empty() {
        let values: Vec<String> = style
            .fields
            .iter()
            .filter_map(|name| event.get(name).map(|v| format!("{name}={}", plain(&v))))
            .map(|t| safe::terminal(&t).into_owned())
            .collect();
        return writeln!(out, "{}", values.join(" "));
    }
    used += event.kind.len() + 1;
    write!(out, "{} ", paint.tone(Tone::Kind, event.kind))?;
    if let Some(level @ ("warn" | "error" | "fatal")) = event.level {
        used += level.len() + 1;
        write!(out, "{} ", paint.tone(Tone::of_level(level), level))?;
    }
    if let Some(worker) = &event.worker {
        let worker = safe::terminal(worker);
        used += worker.chars().count() + 3;
        write!(out, "({worker}) ")?;
    }
    let brief = event.brief();
    let mut lines = brief.lines();
    let first = lines.next().unwrap_or("");
    let more = lines.count();
    let mut message = safe::terminal(first).into_owned();
    if more > 0 {
        message.push_str(&format!(" … +{more} lines"));
    }
    if style.width > 0 {
        message = cut(&message, style.width.saturating_sub(used).max(20));
    }
    writeln!(out, "{message}")
}

/// The first columns of a text, `…` where it was cut.
fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_string();
    }
    let mut out: String = text.chars().take(columns - 1).collect();
    out.push('…');
    out
}

/// A JSON value as people write it: text without quotes.
pub fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What is written of an event as JSON: all of it, or the names asked for.
fn chosen(event: &Shown, style: &Style) -> Json {
    if style.fields.is_empty() {
        return event.json();
    }
    let mut out = serde_json::Map::new();
    out.insert("type".into(), json!(if event.context { "context" } else { "event" }));
    for name in &style.fields {
        out.insert(name.clone(), event.get(name).unwrap_or(Json::Null));
    }
    Json::Object(out)
}

/// Writes one JSON object a line, the summary last.
pub fn jsonl(out: &mut dyn Write, blocks: &[Block], style: &Style, summary: &Json) -> io::Result<()> {
    for event in blocks.iter().flat_map(|b| &b.events) {
        writeln!(out, "{}", chosen(event, style))?;
    }
    writeln!(out, "{summary}")
}

/// Writes one JSON object with all events and the summary.
pub fn json(out: &mut dyn Write, blocks: &[Block], style: &Style, summary: &Json) -> io::Result<()> {
    let events: Vec<Json> = blocks.iter().flat_map(|b| &b.events).map(|e| chosen(e, style)).collect();
    let whole = json!({"schema": "corr.query.v1", "events": events, "summary": summary});
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

const COLUMNS: &[&str] = &["time", "locator", "kind", "level", "worker", "message"];

fn columns(style: &Style) -> Vec<String> {
    if style.fields.is_empty() { COLUMNS.iter().map(|c| c.to_string()).collect() } else { style.fields.clone() }
}

/// Writes CSV: a header, then one line an event; what an event lacks is empty.
pub fn csv(out: &mut dyn Write, blocks: &[Block], style: &Style) -> io::Result<()> {
    let columns = columns(style);
    let context = blocks.iter().flat_map(|b| &b.events).any(|e| e.context);
    let mut head: Vec<String> = columns.iter().map(|c| safe::csv_field(c).into_owned()).collect();
    if context {
        head.push("context".into());
    }
    writeln!(out, "{}", head.join(","))?;
    for event in blocks.iter().flat_map(|b| &b.events) {
        let mut row: Vec<String> =
            columns.iter().map(|c| event.get(c).map(|v| safe::csv_field(&plain(&v)).into_owned()).unwrap_or_default()).collect();
        if context {
            row.push(event.context.to_string());
        }
        writeln!(out, "{}", row.join(","))?;
    }
    Ok(())
}

/// Writes a Markdown table.
pub fn markdown(out: &mut dyn Write, blocks: &[Block], style: &Style) -> io::Result<()> {
    let columns = columns(style);
    let head: Vec<String> = columns.iter().map(|c| safe::markdown_cell(c)).collect();
    writeln!(out, "| {} |", head.join(" | "))?;
    writeln!(out, "|{}", "---|".repeat(columns.len()))?;
    for event in blocks.iter().flat_map(|b| &b.events) {
        let row: Vec<String> = columns
            .iter()
            .map(|c| {
                let text = event.get(c).map(|v| plain(&v)).unwrap_or_default();
                let first = text.lines().next().unwrap_or("").to_string();
                let mark = if event.context && c == "kind" { " (context)" } else { "" };
                safe::markdown_cell(&first) + mark
            })
            .collect();
        writeln!(out, "| {} |", row.join(" | "))?;
    }
    Ok(())
}
