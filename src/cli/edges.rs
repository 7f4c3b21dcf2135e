//! `corr edges`: what proves each edge of the cache pipeline, to whom it happened, and what cannot be proven.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use corr_evidence::compiled::Edges;
use corr_evidence::scope::Scope;
use corr_evidence::verdict::{Activity, Attribution, Verdict};

use super::exit;
use super::query::zone_of_flags;
use super::window::{self, Flags, Known, Times};
use crate::evidence::{self, Evidence};
use crate::metrics::common::Covers;
use crate::query::extent::extent;
use crate::query::sources::{self, Sources};
use crate::query::{Nothing, locate};
use crate::readiness::windows;
use crate::render::events::Format;
use crate::render::evidence::Edged;
use crate::render::paint::{Paint, When};
use crate::render::safe::terminal;
use crate::run::{self, Options};

/// Say of each edge of the KV-cache pipeline whether it happened and to whom, what proves it, and what cannot be proven.
///
/// Activity is `proven` (a record is the transition), `active` (a counter moved), `absent` (the instrument was there, covered the window and shows
/// none), `partial`, `conflict` or `no-signal`. To whom it happened is `proven k of N`, or UNPROVABLE with the one measurement that would prove it.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "Examples:
  corr edges runs/r42                                  all edges of the whole run
  corr edges runs/r42 --window measured --explain      every proof, counter and gap, with citations
  corr edges runs/r42 --edge l3-restore --format json
  corr edges runs/r42 --session sess-7                 what is proven for one session
  corr edges runs/r42 --require l3-restore=proven      a gate: 0 holds, 1 does not, 4 cannot be known

Exit codes: 0 answered (or the requirement holds), 1 the requirement does not hold or there is nothing to judge, 2 wrong usage or nothing readable,
3 answered, but a source could not be read, 4 the requirement cannot be proven from what is there.")]
pub struct Args {
    /// Run directory, file, or glob in quotes.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// A further run directory, file or glob, read together with RUN.
    #[arg(long = "also", value_name = "RUN")]
    pub also: Vec<String>,
    /// Only these edges.
    #[arg(long, value_name = "EDGE", value_delimiter = ',')]
    pub edge: Vec<String>,
    /// Start of the window.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// End of the window.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// A window that corr.toml declares or the run's records name (warmup, measured, benchmark, teardown, ready:UNIT#N, outage:UNIT#N), or
    /// `common`: what all sources of events cover.
    #[arg(long, value_name = "NAME")]
    pub window: Option<String>,
    /// Only the requests of a session.
    #[arg(long, value_name = "ID", conflicts_with = "request")]
    pub session: Option<String>,
    /// Only one request, by any of its ids.
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,
    /// Only what one worker shows.
    #[arg(long, value_name = "WORKER")]
    pub worker: Option<String>,
    /// Every edge with its proofs, their citations, and what is not there.
    #[arg(long)]
    pub explain: bool,
    /// Cite every record that bears an id in JSON, not the first and the last of each signal; of those without one the query beside them gives all.
    #[arg(long)]
    pub all_citations: bool,
    /// A gate: the edge must be active (or proven) in the scope.
    #[arg(long, value_name = "EDGE[=proven|active]")]
    pub require: Vec<String>,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Where the index is kept.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Zone of stamps that name none: ZONE, or SOURCE=ZONE.
    #[arg(long, value_name = "[SOURCE=]ZONE")]
    pub tz: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let mut runs = vec![args.run.clone()];
    runs.extend(args.also.iter().cloned());
    let options = Options { tz: args.tz.clone(), format_of: Vec::new() };
    let run = run::open(&runs, &options)?;
    let sources = sources::of(&run, &options, args.store.as_deref())?;
    let window = window(args, &sources, now, err)?;
    let evidence = Evidence::gather(&sources, window)?;
    let only = edges(&evidence.edges, &args.edge)?;
    let required = requirements(&evidence.edges, &args.require)?;
    let scope = scope(args, &evidence, window)?;
    let asked = evidence::captures(&run, &options, args.store.as_deref())?;
    for note in &asked.notes {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    let asking = evidence::Asking { of_session: args.session.is_some(), all_cites: args.all_citations };
    let judged = evidence.judge_with(&run, &asked, &scope, asking);
    let mut partial = false;
    for file in evidence.not_read.iter().chain(run.not_read.iter().filter(|n| n.failure)).chain(&asked.not_read) {
        partial = true;
        writeln!(err, "corr: {}: {}", terminal(&file.name), terminal(&file.why))?;
    }
    if sources.sources.is_empty() && asked.captures.is_empty() {
        writeln!(err, "corr: {}: nothing that could be read; `corr sources` lists what there is", terminal(&args.run))?;
        return Ok(exit::ERROR);
    }
    let edged = Edged {
        evidence: &evidence,
        judged: &judged,
        only: &only,
        run: &args.run,
        scope: title(args),
        window,
        explain: args.explain || !args.edge.is_empty(),
    };
    edged.write(args.format, Paint::new(color), out)?;
    out.flush()?;
    let mut worst = if partial { exit::PARTIAL } else { exit::FOUND };
    for required in &required {
        let Some(verdict) = judged.verdicts.iter().find(|v| v.edge == required.edge) else { continue };
        let (code, why) = required.of(verdict, partial);
        if code != exit::FOUND {
            let id = evidence.edges.edges().get(required.edge).map_or("", |e| e.id.as_str());
            writeln!(err, "corr: required {}={}: {why}", terminal(id), required.word())?;
        }
        worst = exit::graver(worst, code);
    }
    Ok(worst)
}

fn title(args: &Args) -> String {
    let mut parts = Vec::new();
    if let Some(window) = &args.window {
        parts.push(format!("window {window}"));
    }
    for (name, value) in [("since", &args.since), ("until", &args.until)] {
        if let Some(value) = value {
            parts.push(format!("{name} {value}"));
        }
    }
    for (name, value) in [("session", &args.session), ("request", &args.request), ("worker", &args.worker)] {
        if let Some(value) = value {
            parts.push(format!("{name} {value}"));
        }
    }
    if parts.is_empty() { "whole run".into() } else { parts.join(", ") }
}

/// The window of the flags, both ends closed by the run's own; `None` for the whole run.
pub(super) fn window(args: &Args, sources: &Sources, now: i64, err: &mut dyn Write) -> anyhow::Result<Option<(i64, i64)>> {
    let flags =
        Flags { since: args.since.as_deref(), until: args.until.as_deref(), window: args.window.as_deref(), around: None, span: "" };
    let covers = || {
        let mut covers = Covers::default();
        covers.add_logs(&sources.sources);
        Ok(covers)
    };
    let known = Known {
        declared: &sources.declared,
        phases: &|| Ok(windows::phases(args.window.as_deref(), sources)),
        stamp: &|event| locate::stamp(event, sources, &args.run),
        covers: &covers,
    };
    let times = Times::read(flags, &known)?;
    if let Some(how) = &times.how {
        writeln!(err, "corr: {}", terminal(how))?;
    }
    if times.open() {
        return Ok(None);
    }
    window::closed(window::resolve(&times, zone_of_flags(&args.tz)?, now, sources)?, || extent(&sources.sources))
}

/// What the flags ask about.
fn scope(args: &Args, evidence: &Evidence<'_>, window: Option<(i64, i64)>) -> Result<Scope, Nothing> {
    let requests = evidence.requests(args.session.as_deref(), args.request.as_deref())?;
    let mut scope = Scope { window, requests, ..Scope::default() };
    if let Some(worker) = &args.worker {
        let found = evidence.of_worker(worker);
        if found.is_empty() {
            let names: BTreeSet<&str> = evidence.ledgers.iter().filter_map(|l| l.worker.as_deref()).collect();
            let names: Vec<&str> = names.into_iter().collect();
            return Err(Nothing(format!("no source is of worker {worker}; there are {}", names.join(", "))));
        }
        scope.ledgers = Some(found);
    }
    Ok(scope)
}

/// Number of an edge.
pub fn edge(edges: &Edges, id: &str) -> anyhow::Result<usize> {
    let ids: Vec<&str> = edges.edges().iter().map(|e| e.id.as_str()).collect();
    match ids.iter().position(|known| *known == id) {
        Some(number) => Ok(number),
        None => {
            let near = run::declared::did_you_mean(id, &ids).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            bail!("there is no edge `{id}`{near} All: {}", ids.join(", "))
        }
    }
}

fn edges(edges: &Edges, ids: &[String]) -> anyhow::Result<Vec<usize>> {
    ids.iter().map(|id| edge(edges, id)).collect()
}

/// What a gate asks of an edge.
struct Required {
    edge: usize,
    proven: bool,
}

fn requirements(edges: &Edges, texts: &[String]) -> anyhow::Result<Vec<Required>> {
    let one = |text: &String| {
        let (id, how) = text.split_once('=').unwrap_or((text, "active"));
        let proven = match how {
            "proven" => true,
            "active" => false,
            other => bail!("--require {text}: `{other}` is neither proven nor active"),
        };
        Ok(Required { edge: edge(edges, id).context("--require")?, proven })
    };
    texts.iter().map(one).collect()
}

impl Required {
    fn word(&self) -> &'static str {
        if self.proven { "proven" } else { "active" }
    }

    /// The gate's exit code, and why it does not hold. `proven` asks for the activity and for whom it concerns.
    fn of(&self, verdict: &Verdict, partial: bool) -> (i32, String) {
        match verdict.activity {
            Activity::Proven | Activity::Active if !self.proven => (exit::FOUND, String::new()),
            Activity::Proven => match &verdict.request {
                Attribution::Proven { k, n, .. } if k == n => (exit::FOUND, String::new()),
                of => (exit::UNPROVABLE, format!("it happened; to whom: {}", crate::render::evidence::attribution(of))),
            },
            Activity::Active => (exit::UNPROVABLE, "a counter moved, no record shows it".into()),
            Activity::Absent if partial => (exit::UNPROVABLE, "none is shown, but a source could not be read".into()),
            Activity::Absent => (exit::NOTHING, verdict.why.clone().unwrap_or_else(|| "absent".into())),
            activity => (exit::UNPROVABLE, verdict.why.clone().unwrap_or_else(|| activity.name().into())),
        }
    }
}
