//! Facts of a run as text, JSON, CSV and Markdown.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use crate::facts::table::{Cited, Disagreement, Row, Side, Table, Unknown};
use crate::facts::{Basis, Cite, Who};
use crate::render::events::Format;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::{csv_field, markdown_cell, terminal, write_json, write_json_line};
use crate::render::shown::json_value;

/// An answer of `corr facts`.
pub struct Answer<'a> {
    pub table: &'a Table,
    /// As the user gave it.
    pub run: &'a str,
    /// Facts were asked for by name.
    pub named: bool,
    /// What nobody says stands in the answer too.
    pub all: bool,
}

const HEAD: [&str; 5] = ["fact", "value", "workers", "how", "where"];

/// Wider cells do not push the columns behind them.
const MAX_WIDTH: usize = 40;

/// Longer values are cut in a table for people.
const MAX_VALUE: usize = 100;

/// More workers are counted there.
const MAX_NAMES: usize = 6;

impl Answer<'_> {
    /// Writes it.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => self.text(paint, out),
            Format::Json => {
                write_json(out, &self.json(), true)?;
                writeln!(out)
            }
            Format::Jsonl => self.lines(out),
            Format::Csv => self.csv(out),
            Format::Markdown => self.markdown(out),
        }
    }

    fn unknown(&self) -> &[Unknown] {
        if self.all { &self.table.unknown } else { &[] }
    }

    /// For a terminal; a long value is cut unless it was asked for by name.
    fn cells(&self, row: &Row) -> [String; 5] {
        let mut cells = cells_of(row).map(|c| terminal(&c).into_owned());
        let names = workers(&row.who);
        if let Some((some, more)) = names.split_at_checked(MAX_NAMES).filter(|(_, more)| !more.is_empty()) {
            cells[2] = format!("{} and {} more", terminal(&some.join(", ")), more.len());
        }
        if !self.named && cells[1].chars().count() > MAX_VALUE {
            let mark = if row.disputed { "!" } else { "" };
            cells[1] = format!("{}…{mark}", cells[1].chars().take(MAX_VALUE).collect::<String>());
        }
        cells
    }

    fn text(&self, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let cells: Vec<[String; 5]> = self.table.rows.iter().map(|row| self.cells(row)).collect();
        let mut widths = [0usize; 4];
        for row in &cells {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count().min(MAX_WIDTH));
            }
        }
        let mut group = "";
        for (row, cells) in self.table.rows.iter().zip(&cells) {
            if row.group != group {
                if !group.is_empty() {
                    writeln!(out)?;
                }
                group = row.group;
                writeln!(out, "{}", paint.tone(Tone::Kind, &group.to_uppercase()))?;
            }
            let [name, value, who, how, at] = cells;
            let [a, b, c, d] = widths;
            let value = format!("{value:b$}");
            let value = if row.disputed { paint.tone(Tone::Warn, &value) } else { value };
            let line = format!("  {name:a$}  {value}  {who:c$}  {how:d$}  {}", paint.tone(Tone::Place, at));
            writeln!(out, "{}", line.trim_end())?;
            if let Some(note) = row.note.as_deref().filter(|_| speaks(row)) {
                writeln!(out, "  {:a$}  {}", "", paint.tone(Tone::Dim, &terminal(note)))?;
            }
        }
        for one in &self.table.disagreements {
            writeln!(out)?;
            let role = one.role.as_deref().map_or(String::new(), |r| format!(" ({r})"));
            let title = format!("{}{role}: {}", one.name, one.sort.about());
            writeln!(out, "{}", paint.tone(Tone::Warn, &terminal(&title)))?;
            for side in &one.sides {
                let whose = if side.workers.is_empty() { String::new() } else { format!(" · {}", side.workers.join(", ")) };
                let at: Vec<String> = side.cites.iter().map(place).collect();
                let text = format!("{}{whose} · {} · {}", side.value, side.basis.name(), at.join(", "));
                writeln!(out, "  {}", terminal(&text))?;
            }
        }
        if self.unknown().is_empty() {
            let n = self.table.unknown.len();
            if n > 0 {
                writeln!(out)?;
                writeln!(out, "{n} facts are said by no source; --all lists them, with where they would be found")?;
            }
            return Ok(());
        }
        writeln!(out)?;
        writeln!(out, "{}", paint.tone(Tone::Kind, "UNKNOWN"))?;
        let wide = |text: &dyn Fn(&Unknown) -> usize| self.unknown().iter().map(text).max().unwrap_or(0).min(MAX_WIDTH);
        let (a, b) = (wide(&|u| u.name.len()), wide(&|u| whose(&u.who).chars().count()));
        for one in self.unknown() {
            let line = format!("  {:a$}  {:b$}  {}", one.name, whose(&one.who), one.needs);
            writeln!(out, "{}", terminal(&line))?;
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let mut answer = json!({
            "run": self.run,
            "facts": self.table.rows.iter().map(row_json).collect::<Vec<_>>(),
            "disagreements": self.table.disagreements.iter().map(disagreement_json).collect::<Vec<_>>(),
        });
        if let Some(object) = answer.as_object_mut() {
            if self.all {
                object.insert("unknown".into(), self.unknown().iter().map(unknown_json).collect());
            } else {
                object.insert("unknown_count".into(), self.table.unknown.len().into());
            }
        }
        answer
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = self.table.rows.iter().map(|r| ("fact", row_json(r)));
        let disagreements = self.table.disagreements.iter().map(|d| ("disagreement", disagreement_json(d)));
        let unknown = self.unknown().iter().map(|u| ("unknown", unknown_json(u)));
        for (what, json) in rows.chain(disagreements).chain(unknown) {
            write_json_line(out, what, json)?;
        }
        Ok(())
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "group,fact,value,workers,roles,how,disputed,where,note")?;
        for row in &self.table.rows {
            let at: Vec<String> = row.cites.iter().map(|c| place(&c.cite)).collect();
            let (value, how) = (row.value.to_string(), row.bases().join(" "));
            let (workers, roles) = (workers(&row.who).join(" "), roles(&row.who).join(" "));
            let disputed = if row.disputed { "true" } else { "false" };
            let (at, note) = (at.join(" "), row.note.as_deref().unwrap_or(""));
            let cells = [row.group, &row.name, &value, &workers, &roles, &how, disputed, &at, note];
            let cells: Vec<_> = cells.iter().map(|c| csv_field(c)).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        for one in self.unknown() {
            let (workers, roles) = (workers(&one.who).join(" "), roles(&one.who).join(" "));
            let cells = [one.group, one.name, "", &workers, &roles, "unknown", "false", "", &one.needs];
            let cells: Vec<_> = cells.iter().map(|c| csv_field(c)).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }

    fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "| {} |", HEAD.join(" | "))?;
        writeln!(out, "|{}", "---|".repeat(HEAD.len()))?;
        for row in &self.table.rows {
            let cells: Vec<String> = cells_of(row).iter().map(|c| markdown_cell(c)).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        for one in self.unknown() {
            let cells = [one.name, "unknown", &whose(&one.who), "", &one.needs].map(markdown_cell);
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        for one in &self.table.disagreements {
            writeln!(out)?;
            let sides: Vec<String> =
                one.sides.iter().map(|s| format!("{} ({})", s.value, s.cites.first().map(place).unwrap_or_default())).collect();
            writeln!(out, "{}: {}: {}", markdown_cell(&one.name), one.sort.about(), markdown_cell(&sides.join(", ")))?;
        }
        Ok(())
    }
}

/// Does a row need its note to be understood?
fn speaks(row: &Row) -> bool {
    row.group == "windows"
        || matches!(row.name.as_str(), "role" | "incarnations")
        || row.name.starts_with("hicache_")
        || matches!(row.basis, Basis::Computed | Basis::Bounds)
}

fn cells_of(row: &Row) -> [String; 5] {
    let at = match row.cites.as_slice() {
        [] => String::new(),
        [one] => place(&one.cite),
        [first, rest @ ..] => format!("{} +{}", place(&first.cite), rest.len()),
    };
    let mark = if row.disputed { "!" } else { "" };
    [row.name.clone(), format!("{}{mark}", row.value), whose(&row.who), row.bases().join(", "), at]
}

/// `path:line`, with the key path of a configuration file behind it.
fn place(cite: &Cite) -> String {
    match &cite.key {
        Some(key) => format!("{} ({key})", cite.at()),
        None => cite.at(),
    }
}

/// Workers by name; roles where only those are known.
fn whose(who: &[Who]) -> String {
    let names = workers(who);
    if !names.is_empty() {
        return names.join(", ");
    }
    let roles = roles(who);
    if roles.is_empty() { "run".into() } else { format!("all {}", roles.join(", ")) }
}

fn workers(who: &[Who]) -> Vec<&str> {
    let mut out: Vec<&str> = who.iter().filter_map(|w| w.worker.as_deref()).collect();
    out.dedup();
    out
}

fn roles(who: &[Who]) -> Vec<&str> {
    let mut out: Vec<&str> = who.iter().filter_map(|w| w.role.as_deref()).collect();
    out.sort_unstable();
    out.dedup();
    out
}

fn cite_json(cite: &Cite) -> Json {
    let line = (cite.line > 0).then_some(cite.line);
    json!({ "at": cite.at(), "path": cite.name, "line": line, "key": cite.key })
}

fn cited_json(one: &Cited) -> Json {
    let mut json = cite_json(&one.cite);
    if let Some(object) = json.as_object_mut() {
        object.insert("how".into(), one.basis.name().into());
        object.insert("worker".into(), one.worker.clone().into());
    }
    json
}

fn row_json(row: &Row) -> Json {
    json!({
        "name": row.name,
        "group": row.group,
        "value": json_value(&row.value),
        "workers": workers(&row.who),
        "roles": roles(&row.who),
        "how": row.bases(),
        "note": row.note,
        "disputed": row.disputed,
        "citations": row.cites.iter().map(cited_json).collect::<Vec<_>>(),
    })
}

fn disagreement_json(one: &Disagreement) -> Json {
    let side = |side: &Side| {
        json!({
            "value": json_value(&side.value),
            "how": side.basis.name(),
            "workers": side.workers,
            "citations": side.cites.iter().map(cite_json).collect::<Vec<_>>(),
        })
    };
    json!({
        "name": one.name,
        "kind": one.sort.name(),
        "role": one.role,
        "about": one.sort.about(),
        "sides": one.sides.iter().map(side).collect::<Vec<_>>(),
    })
}

fn unknown_json(one: &Unknown) -> Json {
    json!({
        "name": one.name,
        "group": one.group,
        "value": null,
        "workers": workers(&one.who),
        "roles": roles(&one.who),
        "needs": one.needs,
    })
}
