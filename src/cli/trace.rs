//! `corr trace`: one request or session through every source.

use std::io::Write;

use corr_parsers::ids::IdKind;

use super::exit;
use super::flags::{Reading, Runs};
use super::line::Line;
use crate::evidence::{Beside, Evidence, trace};
use crate::query::sources;
use crate::render::events::Format;
use crate::render::evidence::trace::Traced;
use crate::render::paint::{Paint, When};
use crate::render::safe::terminal;
use crate::run::source::unread;

/// Follow one request, or the requests of a session, through every source: each stage with its time, worker, value and citation, and the stages of
/// which nothing exists.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr trace runs/r42 edf9ed01-3219-4fba-ae43-92d17e6a16a5
  corr trace runs/r42 session:sess-7 --stages
  corr trace runs/r42 xr-17 --format json

Exit codes: 0 found, 1 no record bears the id, 2 wrong usage or nothing readable, 3 found, but a source could not be read.")]
pub struct Args {
    #[command(flatten)]
    pub runs: Runs,
    /// An id of any kind, or `session:ID`, `x_request_id:ID`, `trace_id:ID`, `request_id:ID`, `rid:ID`.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Stages only, without the records themselves.
    #[arg(long)]
    pub stages: bool,
    /// Show at most this many requests of a session; 0 shows all.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub reading: Reading,
}

/// Kinds that can be written before an id.
const KINDS: &[IdKind] =
    &[IdKind::Session, IdKind::XRequestId, IdKind::TraceId, IdKind::RequestId, IdKind::Rid, IdKind::BootstrapRoom, IdKind::RoutingKey];

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    let sources = sources::open(&args.runs.all(), &args.reading.options(), args.reading.store.as_deref())?;
    for note in &sources.notes {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    let evidence = Evidence::gather(&sources, None)?;
    let (kind, id) = match args.id.split_once(':') {
        Some((name, id)) => match KINDS.iter().find(|k| k.field() == name) {
            Some(kind) => (Some(*kind), id),
            None => (None, args.id.as_str()),
        },
        None => (None, args.id.as_str()),
    };
    let not_read = unread(sources.not_read.iter().filter(|n| n.failure).chain(&evidence.not_read), []);
    for (name, why) in &not_read {
        writeln!(err, "corr: {}: {}", terminal(name), terminal(why))?;
    }
    let partial = !not_read.is_empty();
    let mut found = evidence.identity.find(kind, id);
    if found.is_empty() {
        let query = Line::of("corr query").runs(&args.runs).word(id).reading(&args.reading).text();
        writeln!(err, "corr: no record bears the id {}; `{}` looks for it as text", terminal(id), terminal(&query))?;
        return Ok(if partial { exit::PARTIAL } else { exit::NOTHING });
    }
    found.sort_by_key(|no| evidence.identity.requests.get(*no).and_then(|r| r.first.map(|f| f.start)));
    let all = found.len();
    if args.limit > 0 {
        found.truncate(args.limit);
    }
    // No metric says anything of one request: captures are not read.
    let beside = Beside::default();
    let mut traces = Vec::with_capacity(found.len());
    for no in found {
        let judged = evidence.judge(&trace::scope(no), &beside);
        traces.extend(trace::Trace::new(&evidence, no, &judged)?);
    }
    let traced = Traced { evidence: &evidence, traces: &traces, asked: &args.id, found: all, stages_only: args.stages };
    traced.write(args.format, Paint::new(color), out)?;
    out.flush()?;
    if traces.len() < all {
        writeln!(err, "corr: showing {} of {all} requests; --limit 0 for all", traces.len())?;
    }
    Ok(if partial { exit::PARTIAL } else { exit::FOUND })
}
