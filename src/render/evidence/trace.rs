//! One request, stage by stage, and the records that bear its ids.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::{UNPROVABLE, figure};
use crate::evidence::Evidence;
use crate::evidence::trace::{After, Seen, Stage, Trace};
use crate::render::events::{Block, Format, Style, Writer};
use crate::render::paint::{Paint, Tone};
use crate::render::safe::{csv_field, markdown_cell, terminal, write_json};
use crate::render::shown::rfc3339;

/// An answer of `corr trace`.
pub struct Traced<'a> {
    pub evidence: &'a Evidence<'a>,
    pub traces: &'a [Trace<'a>],
    /// The id that was asked for.
    pub asked: &'a str,
    /// Requests that the id names.
    pub found: usize,
    /// Without the records themselves.
    pub stages_only: bool,
}

impl Traced<'_> {
    /// Writes it.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => self.text(paint, out),
            Format::Json => {
                let traces: Vec<Json> = self.traces.iter().map(|t| self.json(t)).collect();
                write_json(out, &json!({"schema": "corr.trace.v1", "asked": self.asked, "found": self.found, "requests": traces}), true)?;
                writeln!(out)
            }
            Format::Jsonl => {
                for trace in self.traces {
                    write_json(out, &self.json(trace), false)?;
                    writeln!(out)?;
                }
                Ok(())
            }
            Format::Csv => self.csv(out),
            Format::Markdown => self.markdown(out),
        }
    }

    fn text(&self, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        for (i, trace) in self.traces.iter().enumerate() {
            if i > 0 {
                writeln!(out)?;
            }
            self.head(trace, paint, out)?;
            writeln!(out)?;
            let rows: Vec<[String; 6]> = trace.stages.iter().flat_map(|s| self.rows(s)).collect();
            let head = ["STAGE", "WHEN", "AFTER", "WORKER", "VALUE", "FROM"];
            let mut widths = head.map(str::len);
            for row in &rows {
                for (width, cell) in widths.iter_mut().zip(row).take(5) {
                    *width = (*width).max(cell.chars().count());
                }
            }
            let line = |cells: [&str; 6]| {
                let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
                padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
            };
            writeln!(out, "{}", line(head))?;
            for (stage, row) in trace.stages.iter().flat_map(|s| self.rows(s).into_iter().map(move |r| (s, r))) {
                let text = line([&row[0], &row[1], &row[2], &row[3], &row[4], &row[5]]);
                let nothing = stage.nothing.is_some();
                writeln!(out, "{}", if nothing { paint.tone(Tone::Dim, &text) } else { text })?;
            }
            if !self.stages_only && !trace.records.is_empty() {
                writeln!(out)?;
                let style = Style { paint, ..Style::default() };
                let mut writer = Writer::begin(out, Format::Text, &style, false)?;
                writer.blocks(&[Block { events: trace.records.clone(), joined: false }])?;
            }
            for lost in &trace.lost {
                writeln!(out, "{}", terminal(lost))?;
            }
        }
        Ok(())
    }

    fn head(&self, trace: &Trace<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let request = trace.request;
        writeln!(out, "request {}", paint.tone(Tone::Kind, &terminal(request.name())))?;
        for (id, cite) in request.ids.iter().filter(|(id, _)| id.text != request.name()) {
            writeln!(out, "  {} {}  {}", id.kind.field(), terminal(&id.text), terminal(&self.evidence.locator(*cite)))?;
        }
        for link in &request.links {
            let cite = self.evidence.locator(link.cite);
            writeln!(out, "  {} and {} are one by {}", terminal(&link.one.text), terminal(&link.other.text), terminal(&cite))?;
        }
        for (what, of) in [("session", &request.sessions), ("x-request-id", &request.x_request_ids), ("worker", &request.workers)] {
            for (text, cite) in of {
                writeln!(out, "  {what} {}  {}", terminal(text), terminal(&self.evidence.locator(*cite)))?;
            }
        }
        if request.sessions.is_empty() {
            writeln!(out, "  session {UNPROVABLE}: no record that bears its id bears a session")?;
        }
        let shared = self.evidence.identity.shared_x_request_ids();
        for x in request.x_request_ids.keys() {
            if let Some(others) = shared.get(x.as_str()) {
                writeln!(out, "  x-request-id {} is borne by {} requests; that one is a retry: {UNPROVABLE}", terminal(x), others.len())?;
            }
        }
        if request.probe {
            writeln!(out, "  a health probe")?;
        }
        Ok(())
    }

    fn edge_id(&self, stage: &Stage) -> String {
        self.evidence.edges.edges().get(stage.edge).map_or(String::new(), |e| terminal(&e.id).into_owned())
    }

    fn value(&self, seen: &Seen) -> String {
        let Some(signal) = self.evidence.edges.get(seen.signal) else { return String::new() };
        let amount = seen.amount.map_or(String::new(), |a| format!(" {} {}", figure(a), signal.counts));
        let hint = if seen.direct { "" } else { " (no proof)" };
        format!("{}{amount}{hint}", terminal(&signal.id))
    }

    fn rows(&self, stage: &Stage) -> Vec<[String; 6]> {
        let mut rows: Vec<[String; 6]> = stage
            .seen
            .iter()
            .map(|seen| {
                [
                    self.edge_id(stage),
                    seen.when.map_or("-".into(), |w| rfc3339(w.start, w.width())),
                    seen.after.map_or(String::new(), after),
                    terminal(seen.worker.as_deref().unwrap_or("")).into_owned(),
                    self.value(seen),
                    terminal(&self.evidence.locator(seen.cite)).into_owned(),
                ]
            })
            .collect();
        if let Some(nothing) = &stage.nothing {
            rows.push([
                self.edge_id(stage),
                "-".into(),
                String::new(),
                String::new(),
                format!("nothing: {}", terminal(nothing)),
                String::new(),
            ]);
        }
        rows
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "request,stage,when,after,worker,value,from")?;
        for trace in self.traces {
            for row in trace.stages.iter().flat_map(|s| self.rows(s)) {
                let mut cells = vec![csv_field(trace.request.name()).into_owned()];
                cells.extend(row.iter().map(|c| csv_field(c).into_owned()));
                writeln!(out, "{}", cells.join(","))?;
            }
        }
        Ok(())
    }

    fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "| request | stage | when | after | worker | value | from |")?;
        writeln!(out, "|---|---|---|---|---|---|---|")?;
        for trace in self.traces {
            for row in trace.stages.iter().flat_map(|s| self.rows(s)) {
                let mut cells = vec![markdown_cell(trace.request.name())];
                cells.extend(row.iter().map(|c| markdown_cell(c)));
                writeln!(out, "| {} |", cells.join(" | "))?;
            }
        }
        Ok(())
    }

    fn json(&self, trace: &Trace<'_>) -> Json {
        let request = trace.request;
        let cited = |of: &std::collections::BTreeMap<String, _>| {
            of.iter().map(|(text, cite)| json!({"id": text, "cite": self.evidence.locator(*cite)})).collect::<Vec<_>>()
        };
        let seen = |s: &Seen| {
            let signal = self.evidence.edges.get(s.signal);
            json!({
                "signal": signal.map(|s| s.id.as_str()),
                "direct": s.direct,
                "when": s.when.map(|w| json!({"time": rfc3339(w.start, w.width()), "start_ns": w.start, "end_ns": w.end})),
                "after": s.after.map(|a| match a {
                    After::Between(least, most) => json!({"at_least_ns": least, "at_most_ns": most}),
                    After::OrderUnknown => json!("order unknown"),
                    After::ClockUnknown => json!("unknown: the zone of a clock was assumed"),
                }),
                "worker": s.worker,
                "amount": s.amount,
                "counts": signal.map(|s| s.counts.as_str()),
                "cite": self.evidence.locator(s.cite),
            })
        };
        let stages: Vec<Json> = trace
            .stages
            .iter()
            .map(|s| json!({"stage": self.edge_id(s), "seen": s.seen.iter().map(seen).collect::<Vec<_>>(), "nothing": s.nothing}))
            .collect();
        let records = if self.stages_only { Json::Null } else { trace.records.iter().map(|r| r.json()).collect() };
        json!({
            "type": "request",
            "request": request.name(),
            "ids": request.ids.iter().map(|(id, cite)| json!({
                "kind": id.kind.field(), "id": id.text, "cite": self.evidence.locator(*cite)
            })).collect::<Vec<_>>(),
            "links": request.links.iter().map(|l| json!({
                "one": l.one.text, "other": l.other.text, "cite": self.evidence.locator(l.cite)
            })).collect::<Vec<_>>(),
            "sessions": if request.sessions.is_empty() { json!(UNPROVABLE) } else { json!(cited(&request.sessions)) },
            "x_request_ids": cited(&request.x_request_ids),
            "workers": cited(&request.workers),
            "probe": request.probe,
            "stages": stages,
            "records": records,
            "lost": trace.lost,
        })
    }
}

/// `+2.2 ms`, `+1.0..2.0 s`, `order unknown`, `unknown`.
fn after(after: After) -> String {
    match after {
        After::Between(least, most) if most - least <= 2_000_000 => {
            format!("+{}", crate::render::metrics::seconds(least + (most - least) / 2))
        }
        After::Between(least, most) => {
            format!("+{}..{}", crate::render::metrics::seconds(least), crate::render::metrics::seconds(most))
        }
        After::OrderUnknown => "order unknown".into(),
        After::ClockUnknown => "unknown".into(),
    }
}
