//! Events as text, JSON, CSV or Markdown.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::paint::{Paint, Tone};
use super::safe;
use super::shown::{Shown, beside_words};

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
    /// A column of samples beside events.
    pub metrics: bool,
}

/// A hit with the records that stand beside it, in source order.
pub struct Block {
    pub events: Vec<Shown>,
    /// It begins where the block before it ends.
    pub joined: bool,
}

/// Writes an answer as it is read: blocks in batches, the summary last.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    format: Format,
    style: &'a Style,
    /// Records beside the hits are written too.
    context: bool,
    blocks: u64,
    /// JSON is one object: its events are gathered.
    events: Vec<Json>,
    /// For each name of the style: an event had it.
    had: Vec<bool>,
}

impl<'a> Writer<'a> {
    /// Writes what stands above the events.
    pub fn begin(out: &'a mut dyn Write, format: Format, style: &'a Style, context: bool) -> io::Result<Writer<'a>> {
        let columns = columns(style);
        match format {
            Format::Csv => {
                let mut head: Vec<String> = columns.iter().map(|c| safe::csv_field(c).into_owned()).collect();
                if context {
                    head.push("context".into());
                }
                writeln!(out, "{}", head.join(","))?;
            }
            Format::Markdown => {
                let head: Vec<String> = columns.iter().map(|c| safe::markdown_cell(c)).collect();
                writeln!(out, "| {} |", head.join(" | "))?;
                writeln!(out, "|{}", "---|".repeat(columns.len()))?;
            }
            Format::Text | Format::Jsonl | Format::Json => {}
        }
        Ok(Writer { out, format, style, context, blocks: 0, events: Vec::new(), had: vec![false; style.fields.len()] })
    }

    /// Writes blocks. Text sets those apart by `--` that do not touch, where there is context.
    pub fn blocks(&mut self, blocks: &[Block]) -> io::Result<()> {
        for block in blocks {
            if self.format == Format::Text && self.context && self.blocks > 0 && !block.joined {
                writeln!(self.out, "--")?;
            }
            self.blocks += 1;
            for event in &block.events {
                for (name, had) in self.style.fields.iter().zip(&mut self.had) {
                    *had = *had || event.get(name).is_some();
                }
                match self.format {
                    Format::Text => text_line(self.out, event, self.style)?,
                    Format::Jsonl => {
                        safe::write_json(self.out, &chosen(event, self.style), false)?;
                        writeln!(self.out)?;
                    }
                    Format::Json => self.events.push(chosen(event, self.style)),
                    Format::Csv => csv_line(self.out, event, self.style, self.context)?,
                    Format::Markdown => markdown_line(self.out, event, self.style)?,
                }
            }
        }
        Ok(())
    }

    /// How many hits were written.
    pub fn written(&self) -> u64 {
        self.blocks
    }

    /// Writes the summary where the format has one; gives the names asked for that no event had.
    pub fn end(self, summary: &Json) -> io::Result<Vec<String>> {
        match self.format {
            Format::Jsonl => {
                safe::write_json(self.out, summary, false)?;
                writeln!(self.out)?;
            }
            Format::Json => {
                let whole = json!({"schema": "corr.query.v1", "events": self.events, "summary": summary});
                safe::write_json(self.out, &whole, true)?;
                writeln!(self.out)?;
            }
            Format::Text | Format::Csv | Format::Markdown => {}
        }
        Ok(self.style.fields.iter().zip(self.had).filter(|(_, had)| !had).map(|(name, _)| name.clone()).collect())
    }
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
    writeln!(out, "{message}")?;
    for line in event.beside.iter().flat_map(beside_words) {
        writeln!(out, "    {}", safe::terminal(&line))?;
    }
    Ok(())
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

const COLUMNS: &[&str] = &["time", "locator", "kind", "level", "worker", "message"];

fn columns(style: &Style) -> Vec<String> {
    let mut columns: Vec<String> =
        if style.fields.is_empty() { COLUMNS.iter().map(|c| c.to_string()).collect() } else { style.fields.clone() };
    if style.metrics {
        columns.push("metrics".into());
    }
    columns
}

/// One line of CSV; what an event lacks is empty.
fn csv_line(out: &mut dyn Write, event: &Shown, style: &Style, context: bool) -> io::Result<()> {
    let columns = columns(style);
    let mut row: Vec<String> =
        columns.iter().map(|c| event.get(c).map(|v| safe::csv_field(&plain(&v)).into_owned()).unwrap_or_default()).collect();
    if context {
        row.push(event.context.to_string());
    }
    writeln!(out, "{}", row.join(","))
}

/// One row of a Markdown table; of a text with several lines the first.
fn markdown_line(out: &mut dyn Write, event: &Shown, style: &Style) -> io::Result<()> {
    let mut row: Vec<String> = Vec::new();
    for column in columns(style) {
        let text = event.get(&column).map(|v| plain(&v)).unwrap_or_default();
        let mark = if event.context && column == "kind" { " (context)" } else { "" };
        row.push(safe::markdown_cell(text.lines().next().unwrap_or("")) + mark);
    }
    writeln!(out, "| {} |", row.join(" | "))
}
