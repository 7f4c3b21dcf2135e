//! A run, asked for evidence: its records and captures brought together, and judged by the table of edges.

pub mod counters;
pub mod gather;
pub mod trace;

use std::collections::BTreeSet;
use std::path::Path;

use corr_evidence::builtin;
use corr_evidence::compare::{Comparison, Share};
use corr_evidence::compiled::Edges;
use corr_evidence::identity::{Identity, Join, RequestNo};
use corr_evidence::instruments::Instruments;
use corr_evidence::judge::{Findings, Judge, Population};
use corr_evidence::ledger::{Cite, SourceLedger};
use corr_evidence::rules::{self, Known, Warning};
use corr_evidence::scope::Scope;
use corr_evidence::twins::Twins;
use corr_evidence::verdict::{Counter, Verdict};
use corr_parsers::ids::{self, IdKind};

use crate::metrics::anchors;
use crate::metrics::asked::Asked;
use crate::metrics::workers;
use crate::query::Nothing;
use crate::query::sources::Sources;
use crate::run::source::NotRead;
use crate::run::{Options, Run};

/// What a run's records show.
pub struct Evidence<'s> {
    pub edges: Edges,
    pub sources: &'s Sources,
    pub ledgers: Vec<SourceLedger>,
    /// Which of them hold the same records.
    pub twins: Twins,
    pub identity: Identity,
    pub not_read: Vec<NotRead>,
}

/// Verdicts on a scope, whom they are about, and what stands beside them.
pub struct Judged {
    pub instruments: Instruments,
    pub population: Population,
    pub verdicts: Vec<Verdict>,
    pub shares: Vec<Share>,
    pub comparisons: Vec<Comparison>,
    pub warnings: Vec<Warning>,
    /// How many of the scope's requests of one source another one knows.
    pub joins: Vec<Join>,
    /// Ids of clients that several requests bear, one of them at least of the scope.
    pub shared: Vec<(String, Vec<RequestNo>)>,
}

/// How a scope is asked about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asking {
    /// It is that of one session.
    pub of_session: bool,
    /// Keep the citation of every record.
    pub all_cites: bool,
}

/// What verdicts need to know beside records and counters.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Names of the families that were captured.
    pub families: BTreeSet<String>,
    pub counters: Vec<Counter>,
    /// One session is asked about.
    pub of_session: bool,
    /// The run's records name a warm-up.
    pub has_warmup: bool,
    /// Keep the citation of every record.
    pub all_cites: bool,
}

impl<'s> Evidence<'s> {
    /// Reads all sources of events. `window` bounds what is counted without ids.
    ///
    /// # Errors
    /// If what `corr.toml` adds to the table does not fit it.
    pub fn gather(sources: &'s Sources, window: Option<(i64, i64)>) -> anyhow::Result<Evidence<'s>> {
        let edges = Edges::new([builtin::table()?, sources.declared.evidence().clone()])?;
        let (ledgers, not_read) = gather::ledgers(sources, &edges, window);
        Ok(Evidence { not_read, ..Evidence::of(sources, edges, ledgers) })
    }

    /// What ledgers of sources show.
    pub fn of(sources: &'s Sources, edges: Edges, ledgers: Vec<SourceLedger>) -> Evidence<'s> {
        let (identity, twins) = (Identity::new(&ledgers), Twins::new(&ledgers));
        Evidence { edges, sources, ledgers, twins, identity, not_read: Vec::new() }
    }

    /// `path:line` of a record, which `corr show` opens.
    pub fn locator(&self, cite: Cite) -> String {
        let name = self.sources.sources.get(cite.source as usize).map_or("", |s| s.name.as_str());
        format!("{name}:{}", cite.line)
    }

    /// The numbers of a worker's ledgers: by its name or unit, the port that its records say it serves on, or an id of it (decimal or hex) that its
    /// own records bear.
    pub fn of_worker(&self, name: &str) -> BTreeSet<usize> {
        let mut id = String::new();
        ids::canonical(Some(IdKind::WorkerId), name, &mut id);
        let port = name.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
        let own = |l: &SourceLedger| {
            let owner = self.sources.sources.get(l.source as usize).map(|s| &s.owner);
            let named = l.worker.as_deref() == Some(name) || owner.is_some_and(|o| o.unit.as_deref() == Some(name));
            let serves = port.is_some() && owner.is_some_and(|o| o.port == port);
            // Routers and records of the frontend name every worker.
            let worker = l.worker.is_some() && !matches!(l.role.as_deref(), Some("frontend" | "router" | "client" | "infra"));
            named || serves || (worker && l.bears(IdKind::WorkerId, &id))
        };
        self.ledgers.iter().enumerate().filter(|(_, l)| own(l)).map(|(i, _)| i).collect()
    }

    /// The requests that a session or a request by one of its ids are; `None` if all are meant.
    ///
    /// # Errors
    /// No record bears the session or request.
    pub fn requests(&self, session: Option<&str>, request: Option<&str>) -> Result<Option<BTreeSet<usize>>, Nothing> {
        let (kind, what, id) = match (session, request) {
            (Some(id), _) => (Some(IdKind::Session), "session", id),
            (None, Some(id)) => (None, "request", id),
            (None, None) => return Ok(None),
        };
        let found: BTreeSet<usize> = self.identity.find(kind, id).into_iter().collect();
        if found.is_empty() { Err(Nothing(format!("no record bears {what} {id}"))) } else { Ok(Some(found)) }
    }

    /// Judges a window, and of it a session or a request if one is given.
    ///
    /// # Errors
    /// No record bears the session or request.
    pub fn judge_of(
        &self,
        run: &Run,
        captures: &Asked<'_>,
        window: Option<(i64, i64)>,
        session: Option<&str>,
        request: Option<&str>,
    ) -> Result<Judged, Nothing> {
        let scope = Scope { window, requests: self.requests(session, request)?, ..Scope::default() };
        let asking = Asking { of_session: session.is_some(), ..Asking::default() };
        Ok(self.judge_with(run, captures, &scope, asking))
    }

    /// Judges a scope with what the counters of captures did in it.
    pub fn judge_with(&self, run: &Run, captures: &Asked<'_>, scope: &Scope, asking: Asking) -> Judged {
        let workers = workers::workers(self.sources.sources.iter().map(|s| &s.owner));
        let counters = counters::of(run, captures, &self.edges, scope, &self.ledgers, &workers);
        let has_warmup = self.sources.phases().iter().any(|p| p.name == "warmup");
        let Asking { of_session, all_cites } = asking;
        self.judge(scope, &Beside { families: counters::families(captures), counters, of_session, has_warmup, all_cites })
    }

    /// Judges a scope.
    pub fn judge(&self, scope: &Scope, beside: &Beside) -> Judged {
        let instruments = Instruments::new(&self.edges, &self.ledgers, &beside.families);
        let judge = Judge {
            edges: &self.edges,
            ledgers: &self.ledgers,
            twins: &self.twins,
            identity: &self.identity,
            instruments: &instruments,
            counters: &beside.counters,
            scope,
            all_cites: beside.all_cites,
        };
        let Findings { population, verdicts, shares, comparisons } = judge.findings();
        let known = Known {
            edges: &self.edges,
            ledgers: &self.ledgers,
            families: &beside.families,
            scope,
            of_session: beside.of_session,
            has_warmup: beside.has_warmup,
        };
        let warnings = rules::check(&known, &verdicts);
        let joins = self.identity.joins(scope);
        let meant = |no: &RequestNo| self.identity.requests.get(*no).is_some_and(|request| scope.has(*no, request));
        let shared = self.identity.shared_x_request_ids().into_iter().filter(|(_, of)| of.iter().any(meant));
        let shared = shared.map(|(x, of)| (x.to_string(), of)).collect();
        Judged { instruments, population, verdicts, shares, comparisons, warnings, joins, shared }
    }
}

/// The captures of a run, each on a clock that is known as far as it can be. `store` is `--store`.
pub fn captures<'r>(run: &'r Run, options: &Options, store: Option<&Path>) -> anyhow::Result<Asked<'r>> {
    let mut asked = Asked::read(run, store);
    anchors::settle(run, options, store, &mut asked)?;
    Ok(asked)
}
