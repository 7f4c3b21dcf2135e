//! Changes of verdicts as marks: of an edge that is proven in the window the earliest and the latest record that proves it, of one that only counters show
//! the samples between which they counted.

use corr_evidence::ledger::Shown;
use corr_evidence::verdict::{Activity, Counter, Verdict};
use corr_parsers::stamp::Stamp;

use super::{By, Draft};
use crate::cli::grouped;
use crate::evidence::{Evidence, Judged};
use crate::render::evidence::{attribution, figure};
use crate::timeline::{Known, Mark};

/// The marks of all edges.
pub fn drafts(evidence: &Evidence<'_>, judged: &Judged) -> Vec<Draft> {
    judged.verdicts.iter().flat_map(|verdict| of_edge(evidence, verdict)).collect()
}

fn of_edge(evidence: &Evidence<'_>, verdict: &Verdict) -> Vec<Draft> {
    let Some(edge) = evidence.edges.edges().get(verdict.edge) else { return Vec::new() };
    let draft = |known, kind, says, whose, first, last| Draft { known, mark: Mark::Verdict, kind, says, whose, first, last };
    if verdict.activity == Activity::Active {
        let direct = |c: &&Counter| c.moved() && !c.never_seen && evidence.edges.get(c.signal).is_some_and(|s| s.direct);
        let moved: Vec<&Counter> = verdict.counters.iter().filter(direct).collect();
        let Some((counter, (from, to), cite)) = moved.iter().find_map(|c| Some((*c, c.between?, c.cites.first()?.clone()))) else {
            return Vec::new();
        };
        let unit = evidence.edges.get(counter.signal).map_or("", |s| s.counts.as_str());
        let more = if moved.len() > 1 { format!(", and {} more series", moved.len() - 1) } else { String::new() };
        let before =
            if counter.base > 0.0 { format!(" and {} before the first sample of a process", figure(counter.base)) } else { String::new() };
        let says = format!("{} active: {} {unit}{before} by {}{more}", edge.id, figure(counter.inner), counter.series);
        let sample = |at: i64| By::Samples(cite.clone(), Stamp::new(at, 1));
        return vec![draft(Known::Within, "edge.counted", says, counter.worker.clone(), sample(from), Some(sample(to)))];
    }
    if !matches!(verdict.activity, Activity::Proven | Activity::Conflict) {
        return Vec::new();
    }
    let Some(Shown { earliest, latest }) = Shown::all(verdict.proofs.iter().map(|proof| proof.when)) else { return Vec::new() };
    let count = verdict.count.map_or(String::new(), |n| format!(" ({} in all)", grouped(n)));
    let says = |which: &str| format!("{}: {which} record that proves it{count}; by request {}", edge.id, attribution(&verdict.request));
    let by = |(stamp, cite): (Stamp, _)| By::Record(cite, stamp);
    if earliest.1 == latest.1 {
        return vec![draft(Known::Exact, "edge.first", says("the only"), None, by(earliest), None)];
    }
    let first = draft(Known::Exact, "edge.first", says("the earliest"), None, by(earliest), None);
    vec![first, draft(Known::Exact, "edge.last", says("the latest"), None, by(latest), None)]
}
