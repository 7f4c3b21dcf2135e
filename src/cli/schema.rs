//! `corr schema`: the tables of a run, their columns, units, and what they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::exit;
use crate::query::sources;
use crate::render::events::Format;
use crate::render::metrics::table;
use crate::render::paint::{Paint, Tone, When};
use crate::render::safe::{self, terminal};
use crate::run::Options;
use crate::run::events::{self, Start};
use crate::store::columns::{ColumnsBuilder, Type};
use crate::tables::columns::{EVENT, TABLES};
use crate::tables::fields;

/// List the tables that `corr sql` asks, with columns, types, units and what they come from.
///
/// Without RUN: what every run has. With it also the fields of each kind of record that the run has, which its view has as columns.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr schema                        the tables, and a view for every kind of record
  corr schema runs/r42               the same, with the fields of the run's own records
  corr schema runs/r42 prefill_batch
  corr schema --format json")]
pub struct Args {
    /// Run directory, file, or glob in quotes.
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only this table or view.
    #[arg(value_name = "TABLE")]
    pub table: Option<String>,
    /// How to write.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Where the index is kept.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Read a source as this format: SOURCE=FORMAT, SOURCE=ENVELOPE+FORMAT, or SOURCE=OUTER>INNER+FORMAT.
    #[arg(long, value_name = "SOURCE=FORMAT")]
    pub format_of: Vec<String>,
}

/// A table as it is told.
struct Told {
    name: String,
    call: String,
    about: String,
    from: String,
    /// Name, type, unit, meaning.
    columns: Vec<[String; 4]>,
    /// Records of the kind in the run.
    records: Option<u64>,
}

/// What is known of the kinds of a run: how many records each has, and the types of their fields.
type Kinds = BTreeMap<String, (u64, BTreeMap<String, Type>)>;

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    // A table alone is no run.
    let (run, table) = match (&args.run, &args.table) {
        (Some(name), None) if known(name) && !std::path::Path::new(name).exists() => (None, Some(name)),
        (run, table) => (run.as_ref(), table.as_ref()),
    };
    let (kinds, partial) = match run {
        Some(run) => of_run(args, run, err)?,
        None => (Kinds::new(), false),
    };
    let mut told = tables(&kinds);
    if let Some(table) = table {
        told.retain(|t| t.name == *table);
        if told.is_empty() {
            writeln!(err, "corr: there is no table {}; `corr schema` lists all", terminal(table))?;
            return Ok(exit::NOTHING);
        }
    }
    match args.format {
        Format::Text => text(&told, table.is_some() || run.is_some(), Paint::new(color), out)?,
        Format::Json => {
            let whole = json!({"schema": "corr.schema.v1", "tables": told.iter().map(json_of).collect::<Vec<_>>()});
            safe::write_json(out, &whole, true)?;
            writeln!(out)?;
        }
        Format::Jsonl => {
            for table in &told {
                safe::write_json(out, &json_of(table), false)?;
                writeln!(out)?;
            }
        }
        Format::Csv | Format::Markdown => {
            let row = |t: &Told, [name, kind, unit, about]: &[String; 4]| {
                vec![t.name.clone(), name.clone(), kind.clone(), unit.clone(), about.clone()]
            };
            let rows = told.iter().flat_map(|t| t.columns.iter().map(move |column| row(t, column)));
            table::write(args.format, &["table", "column", "type", "unit", "about"], rows, out)?;
        }
    }
    out.flush()?;
    Ok(if partial { exit::PARTIAL } else { exit::FOUND })
}

fn known(name: &str) -> bool {
    TABLES.iter().any(|t| t.name == name) || corr_parsers::built_in_kinds().any(|k| k.name == name)
}

/// The kinds of a run and their fields: from the index, else from the records.
fn of_run(args: &Args, run: &str, err: &mut dyn Write) -> anyhow::Result<(Kinds, bool)> {
    let options = Options { tz: Vec::new(), format_of: args.format_of.clone() };
    let sources = sources::open(&[run.to_string()], &options, args.store.as_deref())?;
    let mut kinds = Kinds::new();
    let mut partial = false;
    for note in &sources.notes {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    for file in sources.not_read.iter().filter(|n| n.failure) {
        partial = true;
        writeln!(err, "corr: {}: {}", terminal(&file.name), terminal(&file.why))?;
    }
    for source in &sources.sources {
        for segment in &source.segments {
            let meta = segment.meta()?;
            for ((kind, rows), names) in meta.kinds.iter().zip(&meta.kind_rows).zip(&meta.kind_fields) {
                let types = names.iter().filter_map(|name| Some((name.clone(), meta.columns.get(name)?.kind)));
                add(&mut kinds, kind, *rows, types);
            }
        }
        if !source.segments.is_empty() && !source.needs_tail() {
            continue;
        }
        let bytes = match source.bytes() {
            Ok(bytes) => bytes,
            Err(why) => {
                partial = true;
                writeln!(err, "corr: {}: {}", terminal(&source.name), terminal(why))?;
                continue;
            }
        };
        let from = if source.segments.is_empty() { 0 } else { source.indexed_to.min(bytes.len()) };
        let mut rows: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut types: BTreeMap<&'static str, BTreeMap<String, Type>> = BTreeMap::new();
        let start = Start { offset: from, line: 0, order: None };
        events::each(bytes, &source.layout, source.timing(), start, bytes.len(), |record, event, _| {
            *rows.entry(event.kind.name).or_default() += 1;
            let of_kind = types.entry(event.kind.name).or_default();
            for field in &event.fields {
                let kind = ColumnsBuilder::type_of(&field.value);
                let known = of_kind.entry(field.name.to_string()).or_insert(kind);
                *known = known.with(kind);
            }
            if let Some(meta) = record.meta {
                of_kind.extend(crate::store::segment::envelope_names(meta).map(|(name, kind)| (name.to_string(), kind)));
            }
            std::ops::ControlFlow::Continue(())
        });
        for (kind, rows) in rows {
            add(&mut kinds, kind, rows, types.remove(kind).unwrap_or_default().into_iter());
        }
    }
    Ok((kinds, partial))
}

fn add(kinds: &mut Kinds, kind: &str, rows: u64, types: impl Iterator<Item = (String, Type)>) {
    let of_kind = kinds.entry(kind.to_string()).or_default();
    of_kind.0 += rows;
    for (name, kind) in types {
        let known = of_kind.1.entry(name).or_insert(kind);
        *known = known.with(kind);
    }
}

fn tables(kinds: &Kinds) -> Vec<Told> {
    let column = |c: &crate::tables::Column| [c.name.to_string(), c.kind.word().to_string(), c.unit.to_string(), c.about.to_string()];
    let mut told: Vec<Told> = TABLES
        .iter()
        .map(|t| Told {
            name: t.name.into(),
            call: t.call.into(),
            about: t.about.into(),
            from: t.from.into(),
            columns: t.columns.iter().map(column).collect(),
            records: None,
        })
        .collect();
    let mut names: BTreeSet<&str> = kinds.keys().map(String::as_str).collect();
    names.extend(corr_parsers::kinds().map(|kind| kind.name));
    for name in names.into_iter().filter(|name| !TABLES.iter().any(|t| t.name == *name)) {
        let about = corr_parsers::kinds().find(|kind| kind.name == name).map_or("", |kind| kind.about);
        let mut columns: Vec<[String; 4]> = EVENT.iter().map(column).collect();
        let of_kind = kinds.get(name);
        for (field, kind) in of_kind.into_iter().flat_map(|(_, types)| types) {
            // What an envelope says of host and unit stands in the columns of every event.
            if field != "host" && field != "unit" {
                columns.push([
                    fields::column(field),
                    crate::tables::Type::from(*kind).word().into(),
                    fields::unit(field).into(),
                    format!("field `{field}`"),
                ]);
            }
        }
        told.push(Told {
            name: name.to_string(),
            call: name.to_string(),
            about: about.to_string(),
            from: "the records of this kind".into(),
            columns,
            records: of_kind.map(|(rows, _)| *rows),
        });
    }
    told
}

/// Tables with their columns; views in full only where a run or a table was named, and there the run's own.
fn text(told: &[Told], full: bool, paint: Paint, out: &mut dyn Write) -> std::io::Result<()> {
    let (tables, views): (Vec<&Told>, Vec<&Told>) = told.iter().partition(|t| TABLES.iter().any(|known| known.name == t.name));
    for table in &tables {
        head(table, paint, out)?;
        columns(&table.columns, out)?;
        writeln!(out)?;
    }
    if views.is_empty() {
        return Ok(());
    }
    let own: Vec<&&Told> = views.iter().filter(|v| full && (v.records.is_some() || told.len() == 1)).collect();
    for view in &own {
        head(view, paint, out)?;
        let fields = view.columns.get(EVENT.len()..).unwrap_or_default();
        writeln!(out, "  the columns of events but `fields`{}", if fields.is_empty() { "" } else { ", and" })?;
        columns(fields, out)?;
        writeln!(out)?;
    }
    if own.is_empty() {
        writeln!(out, "A view for every kind of record (docs/kinds.md), with the columns of events and a column for each field:")?;
        for view in &views {
            writeln!(out, "  {:<28} {}", terminal(&view.name), terminal(&view.about))?;
        }
    }
    Ok(())
}

fn head(table: &Told, paint: Paint, out: &mut dyn Write) -> std::io::Result<()> {
    let records = table.records.map_or_else(String::new, |n| format!("  {} records", crate::render::number::grouped(n)));
    writeln!(out, "{}{records}  {}", paint.tone(Tone::Kind, &terminal(&table.call)), terminal(&table.about))?;
    writeln!(out, "  from {}", terminal(&table.from))
}

fn columns(columns: &[[String; 4]], out: &mut dyn Write) -> std::io::Result<()> {
    let width = columns.iter().map(|c| c[0].chars().count()).max().unwrap_or(0);
    for [name, kind, unit, about] in columns {
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        writeln!(out, "  {:<width$}  {kind:<21}  {}{unit}", terminal(name), terminal(about))?;
    }
    Ok(())
}

fn json_of(table: &Told) -> Json {
    let columns: Vec<Json> = table
        .columns
        .iter()
        .map(|[name, kind, unit, about]| json!({"name": name, "type": kind, "unit": (!unit.is_empty()).then_some(unit), "about": about}))
        .collect();
    json!({"name": table.name, "call": table.call, "about": table.about, "from": table.from, "records": table.records, "columns": columns})
}
