//! `corr edges`: what proves each edge of the cache pipeline, to whom it happened, and what cannot be proven.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context as _, bail};
use corr_evidence::compiled::Edges;
use corr_evidence::scope::Scope;
use corr_evidence::verdict::{Activity, Attribution, Verdict};

use super::flags::{self, Cluster, Reading, Runs};
use super::opened::Opened;
use super::{exit, line};
use crate::evidence::{self, Evidence, Judged};
use crate::metrics::asked::Asked as Captures;
use crate::query::Nothing;
use crate::render::events::Format;
use crate::render::evidence::Edged;
use crate::render::paint::{Paint, When};
use crate::render::safe::terminal;
use crate::run::source::unread;
use crate::run::{self, Run};

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
  corr edges s3://bucket/r42 --cluster df://head:50050      over shards that `corr index --shards` wrote

Exit codes: 0 answered (or the requirement holds), 1 the requirement does not hold or there is nothing to judge, 2 wrong usage or nothing readable,
3 answered, but a source could not be read, 4 the requirement cannot be proven from what is there.")]
pub struct Args {
    #[command(flatten)]
    pub runs: Runs,
    /// Only these edges.
    #[arg(long, value_name = "EDGE", value_delimiter = ',')]
    pub edge: Vec<String>,
    #[command(flatten)]
    pub when: flags::Window,
    #[command(flatten)]
    pub scope: flags::Scope,
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
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub at: Cluster,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    #[cfg(feature = "cluster")]
    if let Some(cluster) = &args.at.cluster {
        return super::edges_cluster::run(args, cluster, color, out, err, now);
    }
    #[cfg(not(feature = "cluster"))]
    if args.at.cluster.is_some() {
        return super::sql::not_built("a cluster", "cluster", err);
    }
    let opened = Opened::new(&args.runs, &args.reading)?;
    let window = window(args, &opened, err, now)?;
    let evidence = Evidence::gather(&opened.sources, window)?;
    let asked = Asked::of(args, &evidence, window)?;
    let captures = opened.captures()?;
    for note in opened.sources.notes.iter().chain(&captures.notes) {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    let judged = asked.judge(&opened.run, &captures);
    let failures = opened.sources.not_read.iter().filter(|n| n.failure);
    let not_read = unread(failures.chain(&evidence.not_read).chain(&captures.not_read), []);
    for (name, why) in &not_read {
        writeln!(err, "corr: {}: {}", terminal(name), terminal(why))?;
    }
    if opened.is_empty() && captures.captures.is_empty() {
        writeln!(err, "corr: {}: nothing that could be read; `corr sources` lists what there is", terminal(&args.runs.words()))?;
        return Ok(exit::ERROR);
    }
    asked.write(&judged, &line::source(&args.runs, &args.reading), !not_read.is_empty(), color, out, err)
}

/// The window of the flags, its ends closed; what says where it lies is said.
pub(super) fn window(args: &Args, opened: &Opened, err: &mut dyn Write, now: i64) -> anyhow::Result<Option<(i64, i64)>> {
    let scoped = opened.scope(args.when.flags(), &args.reading, None, now)?;
    if let Some(how) = &scoped.how {
        writeln!(err, "corr: {}", terminal(how))?;
    }
    opened.closed(&scoped)
}

/// What is asked of a run's evidence.
pub(super) struct Asked<'a> {
    args: &'a Args,
    evidence: &'a Evidence<'a>,
    window: Option<(i64, i64)>,
    only: Vec<usize>,
    required: Vec<Required>,
    scope: Scope,
}

impl<'a> Asked<'a> {
    /// As the flags say.
    ///
    /// # Errors
    /// There is no such edge, worker, session or request.
    pub fn of(args: &'a Args, evidence: &'a Evidence<'a>, window: Option<(i64, i64)>) -> anyhow::Result<Asked<'a>> {
        let only = edges(&evidence.edges, &args.edge)?;
        let required = requirements(&evidence.edges, &args.require)?;
        Ok(Asked { args, evidence, window, only, required, scope: scope(args, evidence, window)? })
    }

    /// The verdicts, by what counters of captures did too.
    pub fn judge(&self, run: &Run, captures: &Captures<'_>) -> Judged {
        let asking = evidence::Asking { of_session: self.args.scope.session.is_some(), all_cites: self.args.all_citations };
        self.evidence.judge_with(run, captures, &self.scope, asking)
    }

    /// Writes them; gives the exit code. `source` is what asks the same runs again, `partial` says that something was not read.
    pub fn write(
        &self,
        judged: &Judged,
        source: &str,
        partial: bool,
        color: When,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> anyhow::Result<i32> {
        let Asked { args, evidence, window, .. } = *self;
        let edged = Edged {
            evidence,
            judged,
            only: &self.only,
            run: &args.runs.run,
            source,
            scope: title(args),
            window,
            explain: args.explain || !args.edge.is_empty(),
        };
        edged.write(args.format, Paint::new(color), out)?;
        out.flush()?;
        let mut worst = if partial { exit::PARTIAL } else { exit::FOUND };
        for required in &self.required {
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
}

fn title(args: &Args) -> String {
    let flags::Window { since, until, window } = &args.when;
    let flags::Scope { session, request } = &args.scope;
    let said =
        [("window", window), ("since", since), ("until", until), ("session", session), ("request", request), ("worker", &args.worker)];
    let parts: Vec<String> = said.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?))).collect();
    if parts.is_empty() { "whole run".into() } else { parts.join(", ") }
}

/// What the flags ask about.
fn scope(args: &Args, evidence: &Evidence<'_>, window: Option<(i64, i64)>) -> Result<Scope, Nothing> {
    let requests = evidence.requests(args.scope.session.as_deref(), args.scope.request.as_deref())?;
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
