//! `corr probe`: what endpoints expose now, and why a metric is not there.

use std::io::Write;

use corr_live::probe::{self, Outcome};

use super::endpoints::{Endpoints, clock};
use super::exit;

/// Ask metrics endpoints what they expose now: families by exporter and role, latency families, the KV cache of each rank.
///
/// An expected metric that is not there is explained as far as the evidence goes: endpoint down, metrics not enabled, lazy until its first
/// use, another version, spelling, port or role. It is there if any of the endpoints has it.
/// SGLang's cache hit is that of its last prefill batch.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr probe node1:30000
  corr probe prefill=node1:30000 decode=node2:30000 --expect sglang:evicted_tokens_total
  corr probe http://node1:8000 --families --format json

Exit codes: 0 every expected metric is there, 1 one is not though the endpoints answer (without --expect: none exposes metrics), \
2 wrong usage or an endpoint that cannot be read, 3 all are there but an endpoint that answers exposes no metrics, \
4 cannot be known: a metric that need not be there before its first use.")]
pub struct Args {
    #[command(flatten)]
    pub endpoints: Endpoints,
    /// A metric that should be there, in any spelling; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub expect: Vec<String>,
    /// List every family.
    #[arg(long)]
    pub families: bool,
    /// How to write.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<i32> {
    let (targets, client) = args.endpoints.open()?;
    let report = corr_live::block_on(async { probe::run(&targets, &client, clock(), &args.expect).await })?;
    match args.format {
        Format::Text => report.write_text(args.families, out)?,
        Format::Json => report.write_json(out)?,
    }
    out.flush()?;
    Ok(match report.outcome() {
        Outcome::Holds => exit::FOUND,
        Outcome::Fails => exit::NOTHING,
        Outcome::Unreachable => exit::ERROR,
        Outcome::Partly => exit::PARTIAL,
        Outcome::CannotKnow => exit::UNPROVABLE,
    })
}
