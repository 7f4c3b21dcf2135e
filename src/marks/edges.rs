//! Changes of verdicts as marks: of edges that are proven in the window the earliest and the latest record that proves each, of one that only counters
//! show the samples between which they counted. Edges that one record proves first, or last, are one mark.

use corr_evidence::ledger::{Cite, Shown};
use corr_evidence::verdict::{Activity, Counter, Verdict};
use corr_parsers::stamp::Stamp;

use super::{By, Draft};
use crate::evidence::{Evidence, Judged};
use crate::render::evidence::{attribution, figure, table};
use crate::timeline::{Known, Mark};

/// The marks of all edges.
pub fn drafts(evidence: &Evidence<'_>, judged: &Judged) -> Vec<Draft> {
    let mut proofs: Vec<Proven> = Vec::new();
    let mut drafts = Vec::new();
    for verdict in &judged.verdicts {
        match verdict.activity {
            Activity::Proven | Activity::Conflict => proven(evidence, verdict, &mut proofs),
            Activity::Active => drafts.extend(counted(evidence, verdict)),
            Activity::Absent | Activity::Partial | Activity::NoSignal => {}
        }
    }
    drafts.extend(proofs.into_iter().map(|of| Draft {
        known: Known::Exact,
        mark: Mark::Verdict,
        kind: of.which.kind(),
        says: format!("{} {}", of.which.words(), of.edges.join(", ")),
        whose: None,
        first: By::Record(of.cite, of.stamp),
        last: None,
    }));
    drafts
}

/// A record that proves edges for the first or the last time.
struct Proven {
    which: Which,
    cite: Cite,
    stamp: Stamp,
    /// Each with how often it is proven in the window, and of whom.
    edges: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    First,
    Last,
    Only,
}

impl Which {
    fn kind(self) -> &'static str {
        match self {
            Which::First | Which::Only => "edge.first",
            Which::Last => "edge.last",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Which::First => "first proof of",
            Which::Last => "last proof of",
            Which::Only => "only proof of",
        }
    }
}

fn proven(evidence: &Evidence<'_>, verdict: &Verdict, proofs: &mut Vec<Proven>) {
    let Some(edge) = evidence.edges.edges().get(verdict.edge) else { return };
    let Some(Shown { earliest, latest }) = Shown::all(verdict.proofs.iter().map(|proof| proof.when)) else { return };
    let says = format!("{} (in all {}; by request {})", edge.id, table::count(&evidence.edges, verdict), attribution(&verdict.request));
    let marks = match earliest.1 == latest.1 {
        true => vec![(Which::Only, earliest)],
        false => vec![(Which::First, earliest), (Which::Last, latest)],
    };
    for (which, (stamp, cite)) in marks {
        match proofs.iter_mut().find(|known| known.which == which && known.cite == cite) {
            Some(known) => known.edges.push(says.clone()),
            None => proofs.push(Proven { which, cite, stamp, edges: vec![says.clone()] }),
        }
    }
}

/// A counter that moved; of several the first, and how many there are.
fn counted(evidence: &Evidence<'_>, verdict: &Verdict) -> Option<Draft> {
    let edge = evidence.edges.edges().get(verdict.edge)?;
    let direct = |c: &&Counter| c.moved() && !c.never_seen && evidence.edges.get(c.signal).is_some_and(|s| s.direct);
    let moved: Vec<&Counter> = verdict.counters.iter().filter(direct).collect();
    let (counter, (from, to), cite) = moved.iter().find_map(|c| Some((*c, c.between?, c.cites.first()?)))?;
    let unit = evidence.edges.get(counter.signal).map_or("", |s| s.counts.as_str());
    let more = if moved.len() > 1 { format!(", and {} more series", moved.len() - 1) } else { String::new() };
    let before =
        if counter.base > 0.0 { format!(", and {} before the first sample of a process", figure(counter.base)) } else { String::new() };
    let least = counter.inner.map_or("an amount that is not known".to_string(), |inner| format!("at least {} {unit}", figure(inner)));
    let says = format!("{} active: {least}{before}, by {}{more}", edge.id, counter.series);
    let sample = |at: i64| By::Samples(cite.clone(), Stamp::new(at, 1));
    Some(Draft {
        known: Known::Within,
        mark: Mark::Verdict,
        kind: "edge.counted",
        says,
        whose: counter.worker.clone(),
        first: sample(from),
        last: Some(sample(to)),
    })
}
