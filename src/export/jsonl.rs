//! A run as a stream of JSON lines for programs: `begin`, `event` for each row of the timeline, `edge` for each edge of the cache path, `note` for what a reader must
//! know, `summary`.

use std::io::{self, Write};

use serde_json::{Map, Value as Json, json};

use crate::render::evidence::Edged;
use crate::render::safe::write_json;
use crate::render::timeline;
use crate::timeline::Row;

/// The schema of the stream.
pub const SCHEMA: &str = "corr.report.v1";

/// Writes the stream.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    notes: u64,
}

impl<'a> Writer<'a> {
    /// Writes the first line.
    pub fn begin(out: &'a mut dyn Write, about: Map<String, Json>) -> io::Result<Writer<'a>> {
        let mut writer = Writer { out, notes: 0 };
        let mut line = Map::new();
        line.insert("type".into(), json!("begin"));
        line.insert("schema".into(), json!(SCHEMA));
        line.extend(about);
        writer.line(&Json::Object(line))?;
        Ok(writer)
    }

    /// A row of the timeline, as `corr timeline --format jsonl` has it: an `event`, or a `mark` that follows from others.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        let mut line = timeline::json(row);
        if row.known.is_none() {
            line["type"] = json!("event");
        }
        line["status"] = json!(row.status());
        self.line(&line)
    }

    /// The edges, as `corr edges --format jsonl` has them.
    pub fn edges(&mut self, edged: &Edged<'_>) -> io::Result<()> {
        edged.edge_lines(self.out)
    }

    /// What a reader must know: `code` says which kind of thing it is.
    pub fn note(&mut self, code: &str, of: Option<&str>, says: &str) -> io::Result<()> {
        self.notes += 1;
        self.line(&json!({"type": "note", "code": code, "of": of, "says": says}))
    }

    /// The last line.
    pub fn end(mut self, mut summary: Json) -> io::Result<()> {
        summary["type"] = json!("summary");
        summary["schema"] = json!(SCHEMA);
        summary["notes"] = json!(self.notes);
        self.line(&summary)
    }

    fn line(&mut self, line: &Json) -> io::Result<()> {
        write_json(self.out, line, false)?;
        writeln!(self.out)
    }
}
