//! One request through every source: the stages that records show, and those that nothing shows.

use corr_evidence::compiled::SignalRef;
use corr_evidence::identity::{Request, RequestNo};
use corr_evidence::ledger::Cite;
use corr_evidence::scope::Scope;
use corr_evidence::verdict::{Activity, Verdict};
use corr_parsers::clock::How;
use corr_parsers::ids::IdKind;
use corr_parsers::stamp::{Order, Stamp};

use super::{Evidence, Judged};
use crate::query::answer::{self, Question, Sort, Window};
use crate::query::fetch::{Context, Reading};
use crate::query::grammar::{self, quote};
use crate::query::matches::Matcher;
use crate::render::shown::Shown;

/// A request, traced.
pub struct Trace<'e> {
    pub number: RequestNo,
    pub request: &'e Request,
    pub stages: Vec<Stage>,
    /// Every record that bears one of its ids, by time.
    pub records: Vec<Shown>,
    /// Records that could not be read again, with the reason.
    pub lost: Vec<String>,
}

/// One edge of the pipeline, for this request.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Number of the edge in the table.
    pub edge: usize,
    /// What shows it, by time; empty if nothing does.
    pub seen: Vec<Seen>,
    /// Why nothing shows it.
    pub nothing: Option<String>,
}

/// A record that shows a stage.
#[derive(Clone, Debug)]
pub struct Seen {
    pub signal: SignalRef,
    pub cite: Cite,
    pub when: Option<Stamp>,
    pub amount: Option<f64>,
    pub worker: Option<String>,
    /// It is the stage, not only consistent with it.
    pub direct: bool,
    /// Since the stage's record before it that has a stamp.
    pub after: Option<After>,
}

/// Time between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// At least and at most, in ns: stamps are intervals.
    Between(i64, i64),
    /// The stamps overlap, or go back: which came first is not known.
    OrderUnknown,
    /// Their clocks are not known well enough to be compared: the zone of one was assumed.
    ClockUnknown,
}

/// At most so many records of one request are read again.
const MOST_RECORDS: usize = 10_000;

impl<'e> Trace<'e> {
    /// Traces a request. `judged` are the verdicts on it alone, as [`scope`] asks for.
    pub fn new(evidence: &'e Evidence<'_>, number: RequestNo, judged: &Judged) -> anyhow::Result<Option<Trace<'e>>> {
        let Some(request) = evidence.identity.requests.get(number) else { return Ok(None) };
        let mut stages: Vec<Stage> = judged.verdicts.iter().map(|v| stage(evidence, request, v)).collect();
        time_between(evidence, &mut stages);
        let (records, lost) = records(evidence, request)?;
        Ok(Some(Trace { number, request, stages, records, lost }))
    }
}

/// Of one request.
pub fn scope(number: RequestNo) -> Scope {
    Scope { requests: Some([number].into()), ..Scope::default() }
}

fn stage(evidence: &Evidence<'_>, request: &Request, verdict: &Verdict) -> Stage {
    let mut seen: Vec<Seen> = request
        .seen(&evidence.ledgers)
        .filter(|(_, sighting)| usize::from(sighting.signal.edge) == verdict.edge)
        .map(|(ledger, sighting)| Seen {
            signal: sighting.signal,
            cite: sighting.cite,
            when: sighting.when,
            amount: sighting.amount,
            worker: ledger.worker.clone(),
            direct: evidence.edges.get(sighting.signal).is_some_and(|s| s.direct),
            after: None,
        })
        .collect();
    seen.sort_by_key(|s| (s.when.map(|w| (w.start, w.end)), s.cite));
    let nothing = seen.iter().all(|s| !s.direct).then(|| why_nothing(evidence, verdict));
    Stage { edge: verdict.edge, seen, nothing }
}

fn why_nothing(evidence: &Evidence<'_>, verdict: &Verdict) -> String {
    let missing: Vec<&str> = verdict
        .missing
        .iter()
        .filter(|m| m.identity)
        .filter_map(|m| Some(evidence.edges.instruments().get(m.instrument)?.title.as_str()))
        .collect();
    let there = verdict.missing.len() < evidence.edges.signals(verdict.edge).filter(|(_, s)| s.direct).count();
    match (verdict.activity, missing.is_empty(), there) {
        (Activity::Absent, _, _) => verdict.why.clone().unwrap_or_else(|| "it did not happen".into()),
        (_, false, true) => format!("no record of it; not there: {}", missing.join(", ")),
        (_, false, false) => format!("not captured: {}", missing.join(", ")),
        (_, true, _) => "no record of it".into(),
    }
}

/// Between each record and the one before it, over all stages, where clocks allow.
fn time_between(evidence: &Evidence<'_>, stages: &mut [Stage]) {
    let mut before: Option<(Stamp, u32)> = None;
    let assumed = |source: u32| evidence.sources.sources.get(source as usize).is_none_or(|s| s.clock.how == How::Assumed);
    for seen in stages.iter_mut().flat_map(|s| s.seen.iter_mut()).filter(|s| s.direct) {
        let Some(when) = seen.when else { continue };
        if let Some((earlier, source)) = before {
            let comparable = source == seen.cite.source || !(assumed(source) || assumed(seen.cite.source));
            seen.after = Some(match (comparable, earlier.order(&when)) {
                (false, _) => After::ClockUnknown,
                (true, Order::Before) => After::Between(when.start.saturating_sub(earlier.end), when.end.saturating_sub(earlier.start)),
                (true, _) => After::OrderUnknown,
            });
        }
        before = Some((when, seen.cite.source));
    }
}

/// The clauses of a query that finds the records of a request: one holds for each of them.
pub fn clauses(evidence: &Evidence<'_>, request: &Request) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    for id in request.ids.keys() {
        let fields: &[&str] = if id.kind == IdKind::BootstrapRoom { &["bootstrap_room"] } else { &["rid", "request_id"] };
        clauses.extend(fields.iter().map(|field| format!("{field}:{}", quote(&id.text))));
    }
    // A trace that is this request's alone; another one would bring others' records.
    for trace in request.trace_ids.keys().filter(|t| evidence.identity.find(Some(IdKind::TraceId), t).len() == 1) {
        clauses.push(format!("trace_id:{}", quote(trace)));
    }
    clauses
}

fn records(evidence: &Evidence<'_>, request: &Request) -> anyhow::Result<(Vec<Shown>, Vec<String>)> {
    let clauses = clauses(evidence, request);
    if clauses.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let expr = grammar::parse(&clauses.join(" OR ")).map_err(|e| anyhow::anyhow!("{e}"))?;
    let matcher = Matcher::new(&expr)?;
    let (window, sort) = (Window::default(), Sort::Time(true));
    let question = Question { expr, matcher, window, sort, limit: MOST_RECORDS, count_by: None, histogram: None, bodies: false };
    let answer = answer::ask(&question, &evidence.sources.sources)?;
    let mut reading = Reading::new(&answer.hits, &evidence.sources.sources, Context::default(), false);
    let mut shown = Vec::new();
    while let Some(blocks) = reading.next(1_000) {
        shown.extend(blocks.into_iter().flat_map(|b| b.events));
    }
    let mut lost: Vec<String> = reading.lost.values().map(|l| format!("{} records could not be read: {}", l.hits, l.why)).collect();
    if answer.total > answer.hits.len() as u64 {
        lost.push(format!("{} of its {} records are not shown", answer.total - answer.hits.len() as u64, answer.total));
    }
    Ok((shown, lost))
}
