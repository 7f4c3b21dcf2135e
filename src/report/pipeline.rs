//! The edges of the cache path, judged, with what shows each.

use corr_evidence::ledger;
use corr_evidence::verdict::{Counter, Proof, Verdict};

use super::model::{Beware, Cite, EdgeRow, HINT, MissingRow, Pipeline, Shows, Unprovable};
use super::{Ask, Base, window_flags};
use crate::evidence::{Evidence, Judged};
use crate::query::Nothing;
use crate::render::evidence::details::{absent, attributed, counter_words, needed, proof_words, shell};
use crate::render::evidence::{Edged, attribution, figure, table};

/// Disagreements of an edge that are shown.
const DISAGREE: usize = 5;
/// Counters of an edge that are shown.
const COUNTERS: usize = 40;

/// Judges what is asked.
///
/// # Errors
/// No record bears the session or request.
pub fn judge(base: Base<'_>, evidence: &Evidence<'_>, ask: &Ask) -> Result<Judged, Nothing> {
    evidence.judge_of(base.run, base.captures, ask.closed, ask.session.as_deref(), ask.request.as_deref())
}

/// The verdicts in words.
pub fn of(evidence: &Evidence<'_>, judged: &Judged, ask: &Ask) -> Pipeline {
    let (run, source) = (ask.given.run(), ask.given.words());
    let scope = ask.words.clone();
    let edged = Edged { evidence, judged, only: &[], run: &run, source: &source, scope, window: ask.closed, explain: false };
    let unprovable = needed(&edged).into_iter().map(|((by, needs), edges)| Unprovable {
        by: by.into(),
        edges: edges.into_iter().map(String::from).collect(),
        needs: needs.into(),
    });
    let beware = judged.warnings.iter().map(|w| Beware {
        edge: w.edge.and_then(|e| evidence.edges.edges().get(e)).map_or("run", |e| e.id.as_str()).into(),
        says: w.says.clone(),
        cites: w.cites.iter().take(2).map(|c| record(evidence, *c)).collect(),
    });
    Pipeline {
        population: table::population(&edged),
        edges: edged.verdicts().map(|v| edge(&edged, v, ask)).collect(),
        unprovable: unprovable.collect(),
        beware: beware.collect(),
    }
}

/// A record that evidence names.
pub fn record(evidence: &Evidence<'_>, cite: ledger::Cite) -> Cite {
    Cite { text: evidence.locator(cite), at: Some((cite.source, cite.offset)), open: String::new() }
}

fn edge(edged: &Edged<'_>, verdict: &Verdict, ask: &Ask) -> EdgeRow {
    let Some(edge) = edged.evidence.edges.edges().get(verdict.edge) else { return EdgeRow::default() };
    let mut shows: Vec<Shows> = verdict.proofs.iter().filter_map(|p| proof(edged, "shown by", p)).collect();
    let direct = |c: &&Counter| edged.evidence.edges.get(c.signal).is_some_and(|s| s.direct) || c.moved();
    shows.extend(verdict.counters.iter().filter(direct).take(COUNTERS).filter_map(|c| counter(edged, c, ask)));
    shows.extend(verdict.hints.iter().filter_map(|p| proof(edged, HINT, p)));
    shows.extend(verdict.disagreements.iter().take(DISAGREE).map(|d| Shows {
        signal: d.request.clone(),
        how: "conflict for",
        words: format!("{} against {}", figure(d.one.1), figure(d.other.1)),
        cites: vec![record(edged.evidence, d.one.2), record(edged.evidence, d.other.2)],
        ..Shows::default()
    }));
    let missing = verdict.missing.iter().filter_map(|m| {
        let instrument = edged.evidence.edges.instruments().get(m.instrument)?;
        Some(MissingRow { what: absent(edged, m)?, why: String::new(), needs: instrument.switch.clone() })
    });
    EdgeRow {
        id: edge.id.clone(),
        title: edge.title.clone(),
        activity: verdict.activity.name(),
        count: table::count(&edged.evidence.edges, verdict),
        request: attribution(&verdict.request),
        session: attribution(&verdict.session),
        request_why: attributed(&verdict.request),
        session_why: attributed(&verdict.session),
        why: verdict.why.clone(),
        shows,
        missing: missing.collect(),
        beware: edge.beware.clone(),
    }
}

fn proof(edged: &Edged<'_>, how: &'static str, proof: &Proof) -> Option<Shows> {
    let signal = edged.evidence.edges.get(proof.signal)?;
    Some(Shows {
        signal: signal.id.clone(),
        how,
        words: proof_words(edged, signal, proof),
        does_not_prove: signal.does_not_prove.clone(),
        cites: proof.cites.iter().map(|c| record(edged.evidence, *c)).collect(),
    })
}

fn counter(edged: &Edged<'_>, counter: &Counter, ask: &Ask) -> Option<Shows> {
    let signal = edged.evidence.edges.get(counter.signal)?;
    let gap = counter.gap.as_ref().filter(|_| counter.inner.is_some()).map_or(String::new(), |gap| format!("; {gap}"));
    let asked = if counter.never_seen { signal.metric.as_ref().unwrap_or(&counter.series) } else { &counter.series };
    let open = format!("corr metrics {} {}{}", ask.given.words(), shell(asked), window_flags(ask.closed));
    Some(Shows {
        signal: signal.id.clone(),
        how: if signal.direct { "counter" } else { "consistent with it, and no proof: counter" },
        words: format!("{}{gap}", counter_words(signal, counter)),
        does_not_prove: signal.does_not_prove.clone(),
        cites: counter.cites.iter().map(|text| Cite { text: text.clone(), at: None, open: open.clone() }).collect(),
    })
}
