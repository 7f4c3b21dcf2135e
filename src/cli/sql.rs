//! `corr sql`: a question in SQL over a run's tables.

use std::io::Write;

use super::exit;
use super::flags::{Cluster, Reading, Runs};
use crate::render::events::Format;

/// Ask a run in SQL: events, one view per kind of record, samples, series, what series did in a window, readiness, verdicts, sources.
///
/// `corr schema RUN` lists tables and columns. Only SELECT, and EXPLAIN of it, is answered; a run without an index is asked at once.
#[derive(clap::Args, Debug)]
// What is of this machine is of no use to another.
#[command(mut_arg("cluster", |cluster| cluster.conflicts_with_all(["memory", "store", "tz", "format_of"])))]
#[command(after_long_help = "Examples:
  corr sql runs/r42 'SELECT worker, count(*), avg(cached_tokens) FROM prefill_batch GROUP BY worker ORDER BY worker'
  corr sql runs/r42 \"SELECT time, citation, fields['error_type'] FROM events WHERE level = 'error' ORDER BY time\"
  corr sql runs/r42 \"SELECT series, least, most FROM deltas('measured') WHERE type = 'counter'\" --format csv
  corr sql runs/r42 \"EXPLAIN SELECT count(*) FROM decode_batch WHERE time >= '2026-11-29T18:30:00Z'\"

Rows come in no order but that of ORDER BY.

Exit codes: 0 rows, 1 no row, 2 wrong usage or nothing readable, 3 answered, but a part of the input could not be read or is not whole in a column.")]
pub struct Args {
    #[command(flatten)]
    pub runs: Runs,
    /// The question.
    #[arg(value_name = "SQL")]
    pub sql: String,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// What sorts, joins and groups may hold in memory; what has no room goes to temporary files.
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub memory: String,
    #[command(flatten)]
    pub at: Cluster,
    /// Say what was read, and how conditions on text were judged.
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Says how to get it.
#[cfg(not(feature = "sql"))]
pub fn run(_: &Args, _: &mut dyn Write, err: &mut dyn Write, _: i64) -> anyhow::Result<i32> {
    not_built("SQL", "sql", err)
}

/// What is not built in, how to get it, and what there is instead.
#[cfg(not(feature = "cluster"))]
pub fn not_built(what: &str, feature: &str, err: &mut dyn Write) -> anyhow::Result<i32> {
    let instead = if feature == "sql" { ", and DuckDB reads the same files (docs/store.md)" } else { "" };
    writeln!(err, "corr: this corr is built without {what}; `cargo install --path . --features {feature}` builds it in{instead}")?;
    Ok(exit::ERROR)
}

/// Runs the command.
#[cfg(feature = "sql")]
pub fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    use std::sync::Arc;

    use crate::render::safe::terminal;
    use crate::tables::sql::{Asking, prepare};

    if let Some(cluster) = &args.at.cluster {
        return clustered(args, cluster, out, err);
    }

    let asking = Arc::new(Asking::new(args.runs.all(), args.reading.options(), args.reading.store.clone(), now));
    let limits = corr_sql::Limits { memory: bytes(&args.memory)?, threads: threads() };
    // Every file of the run is looked at before a question is: a run that is none is said, not answered with no rows.
    asking.sources().map_err(anyhow::Error::msg)?;
    let prepared = prepare(&asking, &args.sql, limits)?;
    let mut answer = prepared.engine.ask(&args.sql).map_err(|e| asking.explained(e.into()))?;
    if let Some(records) = &prepared.records {
        records.cut().said(&answer.reads).into_iter().for_each(|lost| asking.lost(lost));
    }
    let rows = write(&mut answer, args.format, out).map_err(|e| asking.explained(e))?;
    if args.explain {
        let from: Vec<String> = answer.reads.iter().map(|r| format!("{} ({})", r.table, r.columns.join(", "))).collect();
        writeln!(err, "corr: read {}; conditions on text by reading each record that the others leave", terminal(&from.join("; ")))?;
    }
    code(&asking.told(), rows, err)
}

/// Says what is to be said beside an answer of so many rows; gives the exit code.
#[cfg(feature = "sql")]
fn code(told: &crate::tables::sql::Told, rows: u64, err: &mut dyn Write) -> anyhow::Result<i32> {
    told.say(err)?;
    Ok(match (told.partial, rows) {
        (true, _) => exit::PARTIAL,
        (false, 0) => exit::NOTHING,
        (false, _) => exit::FOUND,
    })
}

/// Threads that are used at once: one a core.
#[cfg(feature = "sql")]
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Writes an answer as it comes; gives how many rows it has. One that fails before its first rows leaves nothing.
#[cfg(feature = "sql")]
fn write(answer: &mut corr_sql::Answer<'_>, format: Format, out: &mut dyn Write) -> anyhow::Result<u64> {
    let mut next = answer.next_batch()?;
    let mut writer = crate::render::rows::Writer::begin(out, format, &answer.schema)?;
    while let Some(batch) = next {
        writer.batch(&batch)?;
        next = answer.next_batch()?;
    }
    let rows = writer.end()?;
    out.flush()?;
    Ok(rows)
}

/// Asks the shards of runs on a cluster.
#[cfg(not(feature = "cluster"))]
#[cfg(feature = "sql")]
fn clustered(_: &Args, _: &str, _: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    not_built("a cluster", "cluster", err)
}

/// Asks the shards of runs on a cluster.
#[cfg(feature = "cluster")]
fn clustered(args: &Args, cluster: &str, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    use crate::tables::sql::shards;

    let mut engine = args.at.connect(cluster)?;
    let shards = shards::add(&mut engine, &args.runs.all())?;
    if engine.names(&args.sql)?.iter().any(|name| name == "deltas") {
        anyhow::bail!(
            "deltas is worked out from captures, not from rows: no cluster can plan it; ask `corr metrics --cluster`, or the table `samples`"
        );
    }
    let mut answer = engine.ask(&args.sql)?;
    let rows = write(&mut answer, args.format, out)?;
    if args.explain {
        writeln!(err, "corr: {} shards, read by the cluster; conditions on text by a scan of the text column", shards.count())?;
    }
    code(&shards.told(&answer.reads), rows, err)
}

/// `512MB`, `2GiB`, `1000000` as bytes.
#[cfg(feature = "sql")]
pub fn bytes(text: &str) -> anyhow::Result<usize> {
    use anyhow::Context as _;

    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit: usize = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        _ => anyhow::bail!("--memory {text}: write 512MB or 2GiB"),
    };
    let number: usize = number.parse().with_context(|| format!("--memory {text}: write 512MB or 2GiB"))?;
    let least = 16 << 20;
    let bytes = number.checked_mul(unit).with_context(|| format!("--memory {text}: too much"))?;
    anyhow::ensure!(bytes >= least, "--memory {text}: at least 16MiB");
    Ok(bytes)
}
