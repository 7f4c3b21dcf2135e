//! Rows of named cells as CSV or Markdown.

use std::io::{self, Write};

use crate::render::events::Format;
use crate::render::safe;

/// Writes a table; `Format::Markdown` as a table for notes, else CSV.
pub fn write(format: Format, columns: &[&str], rows: impl Iterator<Item = Vec<String>>, out: &mut dyn Write) -> io::Result<()> {
    if format == Format::Markdown {
        writeln!(out, "| {} |", columns.join(" | "))?;
        writeln!(out, "|{}", "---|".repeat(columns.len()))?;
        for row in rows {
            let cells: Vec<String> = row.iter().map(|cell| safe::markdown_cell(cell)).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        return Ok(());
    }
    writeln!(out, "{}", columns.join(","))?;
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| safe::csv_field(cell).into_owned()).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}
