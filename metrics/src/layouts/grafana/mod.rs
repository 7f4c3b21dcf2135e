//! Grafana's "Download CSV" of a panel: a table of time and series ("series joined by time", or one series), or a row a point with labels in
//! columns of their own.
//!
//! Points are those of the panel's queries: evaluated at its step, filled from the last sample before, never samples. Formatted times have
//! the zone of the browser that wrote them, which the file does not say.

mod csv;
mod table;
#[cfg(test)]
mod tests;
mod time;

use std::io::Read;

use super::text::{BOM, io_error};
use super::{Candidate, Layout, ReadError, Set, open};
use crate::build::Builder;
use crate::model::{Capture, Clock, Fidelity, StampOf};
use csv::{Record, Records};
use table::Table;
use time::{Written, time};

pub(super) const LAYOUT: Layout = Layout { name: "grafana-csv", about: "Grafana's CSV of a panel", claim, read };

/// Most bytes of a header that are looked through for its delimiter.
const HEADER: u64 = 16 << 20;

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let ours = candidates.iter().filter_map(|c| Some((c, panel(c.text()?)?)));
    ours.map(|(c, table)| Set {
        files: vec![c.part()],
        beside: Vec::new(),
        because: format!("a CSV with a column {:?}: {}", table.time_header(), table.word()),
        ties: Vec::new(),
    })
    .collect()
}

/// The table that a text begins, if it is one of Grafana's: its time column is named so, and its first row has a time there and numbers. Of a
/// table of many series the header alone may be longer than a head: then names of series in it tell.
fn panel(head: &[u8]) -> Option<Table> {
    let (delimiter, skip) = dialect(head)?;
    let mut records = Records::new(head.get(skip..)?, delimiter);
    let Some(Record::Fields { mut fields, cut, .. }) = records.next() else { return None };
    if cut {
        fields.pop();
    }
    let table = Table::new(fields)?;
    let tells = match records.next() {
        Some(Record::Fields { fields, cut: false, .. }) => table.fits(&fields),
        _ => table.names_series(),
    };
    tells.then_some(table)
}

/// Delimiter, and bytes before the header: a byte order mark and Excel's `sep=` line. `None` for text without a delimiter in its first line.
fn dialect(head: &[u8]) -> Option<(u8, usize)> {
    let mut skip = if head.starts_with(BOM) { BOM.len() } else { 0 };
    let text = head.get(skip..)?;
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    let (line, _) = text.split_at(end);
    let line = line.trim_ascii();
    if let Some(rest) = line.strip_prefix(b"sep=") {
        skip += end + 1;
        return Some((*rest.first()?, skip));
    }
    // Outside quotes: names of series hold commas.
    let mut quoted = false;
    for &byte in line {
        match byte {
            b'"' => quoted = !quoted,
            b',' | b';' | b'\t' if !quoted => return Some((byte, skip)),
            _ => {}
        }
    }
    None
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let mut captures = Vec::new();
    for part in &set.files {
        let file = part.path.display().to_string();
        let mut head = Vec::new();
        let looked = open(&part.path).map_err(|e| io_error(&part.path, e))?.take(HEADER).read_to_end(&mut head);
        let Some((delimiter, skip)) = dialect(&head) else {
            return Err(match looked {
                Err(error) => io_error(&part.path, error),
                Ok(_) => ReadError::Damaged { path: file, why: "no delimiter in its first line".into() },
            });
        };
        drop(head);
        let mut input = open(&part.path).map_err(|e| io_error(&part.path, e))?;
        let mut before = vec![0; skip];
        input.read_exact(&mut before).map_err(|e| io_error(&part.path, e))?;
        let mut builder = Builder::new(LAYOUT.name, Clock::Wall, StampOf::Evaluation);
        builder.file(&part.path);
        table_of(Records::new(input, delimiter), &file, &mut builder)?;
        captures.push(builder.finish());
    }
    Ok(captures)
}

fn table_of<R: Read>(mut records: Records<R>, file: &str, builder: &mut Builder) -> Result<(), ReadError> {
    let damaged = |why: String| ReadError::Damaged { path: file.to_string(), why };
    let header = match records.next() {
        Some(Record::Fields { fields, .. }) => fields,
        Some(Record::Broken { error, .. }) => return Err(damaged(error.to_string())),
        _ => return Err(damaged("no header".into())),
    };
    let Some(mut table) = Table::new(header) else { return Err(damaged("no column Time".into())) };
    builder.fidelity(Fidelity::StepFilled);
    let what = "points of a Grafana panel: evaluated at its step from samples of up to minutes before, not samples";
    builder.note("step_resampled", || what.into(), || Some(file.to_string()));
    table.columns(builder, file);
    let mut local = false;
    for record in records {
        let (line, fields, cut) = match record {
            Record::Fields { line, fields, cut } => (line, fields, cut),
            Record::TooLong { line } => {
                builder.note("bad_line", || "rows that are too long".into(), || Some(format!("{file}:{line}")));
                continue;
            }
            Record::Broken { line, error } => {
                builder.note("truncated", || format!("breaks off: {error}"), || Some(format!("{file}:{line}")));
                break;
            }
        };
        if fields.iter().all(String::is_empty) {
            continue;
        }
        let at = || Some(format!("{file}:{line}"));
        if cut {
            builder.note("truncated", || "ends inside a quoted field, which is left out".into(), at);
        }
        let Some((stamp, written)) = table.time(&fields).and_then(time) else {
            builder.note("bad_line", || "rows whose time cannot be read".into(), at);
            continue;
        };
        local |= written == Written::Local;
        let fields = if cut { fields.split_last().map_or(&[][..], |(_, whole)| whole) } else { &fields[..] };
        table.row(fields, stamp, builder, at);
    }
    if local {
        builder.clock(Clock::AssumedUtc);
        let what = "times without a zone, taken as UTC: Grafana formats them in the zone of the browser";
        builder.note("assumed_utc", || what.into(), || Some(file.to_string()));
    }
    Ok(())
}
