//! Rows of a timeline as text, JSON, CSV and Markdown.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::events::{Format, plain};
use super::paint::{Paint, Tone};
use super::safe;
use super::shown::{Shown, beside_json, beside_words, rfc3339};
use crate::timeline::{Folded, Known, Mark, Order, Row};

/// Characters of a message that a row shows; the citation opens the rest.
pub const MESSAGE: usize = 200;
/// Ranges that a row of text shows.
const RANGES: usize = 8;

/// The schema of the JSON.
const SCHEMA: &str = "corr.timeline.v1";

/// Writes rows as they come, the summary last.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    format: Format,
    paint: Paint,
    /// A column of samples.
    metrics: bool,
    /// JSON is one object: its rows are gathered.
    rows: Vec<Json>,
}

impl<'a> Writer<'a> {
    /// Writes what stands above the rows.
    pub fn begin(out: &'a mut dyn Write, format: Format, paint: Paint, metrics: bool) -> io::Result<Writer<'a>> {
        match format {
            Format::Csv => {
                let more = if metrics { ",metrics" } else { "" };
                writeln!(
                    out,
                    "time,last_time,worker,source,kind,folded,count,mark,level,order,status,message,evidence,last_evidence{more}"
                )?
            }
            Format::Markdown => {
                let (head, rule) = if metrics { (" metrics |", "---|") } else { ("", "") };
                writeln!(out, "| UTC | source | event | status | evidence |{head}")?;
                writeln!(out, "|---|---|---|---|---|{rule}")?;
            }
            Format::Text | Format::Json | Format::Jsonl => {}
        }
        Ok(Writer { out, format, paint, metrics, rows: Vec::new() })
    }

    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        match self.format {
            Format::Text => self.text(row),
            Format::Json => {
                self.rows.push(json(row));
                Ok(())
            }
            Format::Jsonl => {
                safe::write_json(self.out, &json(row), false)?;
                writeln!(self.out)
            }
            Format::Csv => self.csv(row),
            Format::Markdown => {
                let cells = [safe::markdown_cell(&times(row)), safe::markdown_cell(&who(&row.first)), event_cell(row), status_cell(row)];
                let evidence = safe::markdown_code(&row.citation());
                let metrics = if self.metrics { format!(" {} |", metrics_cell(row)) } else { String::new() };
                writeln!(self.out, "| {} | {evidence} |{metrics}", cells.join(" | "))
            }
        }
    }

    /// Writes the summary where the format has one.
    pub fn end(self, summary: &Json) -> io::Result<()> {
        match self.format {
            Format::Jsonl => {
                safe::write_json(self.out, summary, false)?;
                writeln!(self.out)
            }
            Format::Json => {
                safe::write_json(self.out, &json!({"schema": SCHEMA, "rows": self.rows, "summary": summary}), true)?;
                writeln!(self.out)
            }
            Format::Text | Format::Csv | Format::Markdown => Ok(()),
        }
    }

    fn text(&mut self, row: &Row) -> io::Result<()> {
        let paint = self.paint;
        let (time, place) = (paint.tone(Tone::Dim, &times(row)), paint.tone(Tone::Place, &safe::terminal(&row.citation())));
        write!(self.out, "{time}  {place} {} ", paint.tone(Tone::Kind, row.first.kind))?;
        let status = row.status();
        if !status.is_empty() {
            let tone = match (row.mark, row.first.level) {
                (_, Some("error" | "fatal")) | (Some(Mark::Failure | Mark::NotReady), _) => Tone::Bad,
                (_, Some("warn")) => Tone::Warn,
                _ => Tone::Dim,
            };
            write!(self.out, "{} ", paint.tone(tone, &format!("[{status}]")))?;
        }
        if let Some(worker) = &row.first.worker {
            write!(self.out, "({}) ", safe::terminal(worker))?;
        }
        writeln!(self.out, "{}", safe::terminal(&message(row, MESSAGE)))?;
        for line in row.first.beside.iter().flat_map(beside_words) {
            writeln!(self.out, "    {}", safe::terminal(&line))?;
        }
        Ok(())
    }

    fn csv(&mut self, row: &Row) -> io::Result<()> {
        let last = row.last.as_deref();
        let mut cells = vec![
            utc(&row.first),
            last.map(utc).unwrap_or_default(),
            row.first.worker.clone().unwrap_or_default(),
            row.first.source.clone(),
            row.first.kind.to_string(),
            row.known.map_or(row.folded.name(), Known::name).to_string(),
            row.count.to_string(),
            row.mark.map_or("", |m| m.name()).to_string(),
            row.first.level.unwrap_or("").to_string(),
            row.order.words().to_string(),
            known(row),
            row.words(),
            row.first.locator(),
            last.map(Shown::locator).unwrap_or_default(),
        ];
        if self.metrics {
            cells.push(row.first.beside.as_ref().map(|b| beside_words(b).join("; ")).unwrap_or_default());
        }
        let cells: Vec<_> = cells.iter().map(|c| safe::csv_field(c).into_owned()).collect();
        writeln!(self.out, "{}", cells.join(","))
    }
}

/// The stamp's start as RFC 3339, whatever its zone rests on; empty for an event without a stamp.
fn utc(event: &Shown) -> String {
    event.stamp.map_or_else(String::new, |stamp| rfc3339(stamp.start, stamp.width()))
}

/// What a program must know of a row before it takes its cells as they stand: status, and how well its time is known.
fn known(row: &Row) -> String {
    let mut words: Vec<String> = Some(row.status()).filter(|s| !s.is_empty()).into_iter().collect();
    if row.first.assumed {
        words.push("zone assumed".into());
    }
    if row.first.stamp.is_none() && row.order != Order::Unstamped {
        words.push("no stamp".into());
    }
    words.join(", ")
}

/// When, of several events from the first to the last.
pub fn times(row: &Row) -> String {
    let first = row.first.time();
    if row.known == Some(Known::By) {
        return format!("by {first}");
    }
    match row.last.as_deref().map(Shown::time) {
        Some(last) if last != first => format!("{first} … {last}"),
        _ => first,
    }
}

/// Whose event it is: the worker, the unit, else the source's own name.
pub fn who(event: &Shown) -> String {
    let known = event.worker.as_ref().or(event.unit.as_ref());
    known.cloned().unwrap_or_else(|| event.source.rsplit('/').next().unwrap_or("").to_string())
}

/// What happened, on one line of at most so many characters, `…` where it was cut.
pub fn message(row: &Row, most: usize) -> String {
    let text = match row.folded {
        Folded::Run if row.ranges.len() > RANGES => {
            let mut short = row.clone();
            short.ranges.truncate(RANGES);
            format!("{}, and {} more", short.words(), row.ranges.len() - RANGES)
        }
        Folded::Run => row.words(),
        Folded::No | Folded::Repeats => read_of(row).unwrap_or_else(|| row.words()),
    };
    let mut lines = text.lines();
    let first = lines.next().unwrap_or("");
    let more = lines.count();
    let mut cut = first.to_string();
    if let Some((end, _)) = first.char_indices().nth(most) {
        cut.truncate(end);
        cut.push('…');
    }
    if more > 0 {
        cut.push_str(&format!(" … +{more} lines"));
    }
    cut
}

/// A message longer than this says less, cut, than what was read of it: a whole request or configuration in one line.
const LONG: usize = 400;

/// Ids and fields of an event whose message is far longer than what is shown.
fn read_of(row: &Row) -> Option<String> {
    let event = &row.first;
    // Where in its program a line was written says nothing of what happened.
    let says = |name: &str| !matches!(name, "target" | "spans" | "file" | "line" | "span_name" | "parent_id");
    // Switches that are off are many, and crowd out the rest: the citation shows them.
    let mut fields = event.fields.iter().filter(|(name, _, value)| says(name) && *value != Json::Bool(false)).peekable();
    event.message.lines().next()?.chars().nth(LONG)?;
    fields.peek()?;
    let times = if row.count > 1 { format!("×{} ", row.count) } else { String::new() };
    let ids = event.ids.iter().map(|(kind, id)| format!("{}={id}", kind.field()));
    let fields = fields.map(|(name, _, value)| format!("{name}={}", plain(value)));
    Some(times + &ids.chain(fields).collect::<Vec<_>>().join(" "))
}

/// Kind and message, for a table.
pub fn event_cell(row: &Row) -> String {
    format!("{} {}", safe::markdown_code(row.first.kind), safe::markdown_cell(&message(row, MESSAGE))).trim_end().to_string()
}

/// The status, for a table.
pub fn status_cell(row: &Row) -> String {
    safe::markdown_cell(&row.status())
}

/// The samples beside a row, for a table.
pub fn metrics_cell(row: &Row) -> String {
    row.first.beside.as_ref().map(|b| safe::markdown_cell(&beside_words(b).join("; "))).unwrap_or_default()
}

/// A row as one JSON object.
pub fn json(row: &Row) -> Json {
    if let Some(known) = row.known {
        return json_mark(row, known);
    }
    let last = row.last.as_deref().map(|last| {
        json!({
            "time": last.time(),
            "start_ns": last.stamp.map(|s| s.start),
            "end_ns": last.stamp.map(|s| s.end),
            "cite": last.locator(),
        })
    });
    let ranges: Vec<Json> = row.ranges.iter().map(|r| json!({"name": r.name, "min": r.min, "max": r.max, "count": r.count})).collect();
    let order = row.order.words();
    json!({
        "type": "row",
        "folded": row.folded.name(),
        "count": row.count,
        "of": (!row.of.is_empty()).then_some(row.of),
        "mark": row.mark.map(|m| m.name()),
        "order": if order.is_empty() { "known" } else { order },
        "time": row.first.time(),
        "cite": row.first.locator(),
        "first": row.first.json(),
        "last": last,
        "ranges": ranges,
    })
}

/// A row that is no event: what is known, when, and the records that say so.
fn json_mark(row: &Row, known: Known) -> Json {
    let order = row.order.words();
    let end = |shown: &Shown| json!({"time": shown.time(), "start_ns": shown.stamp.map(|s| s.start), "end_ns": shown.stamp.map(|s| s.end), "cite": shown.locator()});
    json!({
        "type": "mark",
        "kind": row.first.kind,
        "known": known.name(),
        "mark": row.mark.map(|m| m.name()),
        "count": row.count,
        "order": if order.is_empty() { "known" } else { order },
        "time": times(row),
        "cite": row.first.locator(),
        "worker": row.first.worker,
        "says": row.first.message,
        "from": end(&row.first),
        "to": row.last.as_deref().map(end),
        "metrics": row.first.beside.as_ref().map(beside_json),
    })
}
