//! What no record says but records show, as rows of a timeline: starts, stops and readiness of servers, and when each edge was proven.
//!
//! `lives` takes what `readiness` found, `edges` what `evidence` judged; `records` reads the records that they cite. A row holds the interval in which its
//! instant lies and the records that bound it.

mod edges;
mod lives;
mod records;

use corr_evidence::ledger::Cite as Proof;
use corr_parsers::stamp::Stamp;
use corr_readiness::{Cite, Mark as Moment};

use self::records::Records;
use crate::evidence::{Evidence, Judged};
use crate::metrics::asked::Asked;
use crate::query::answer::Window;
use crate::query::sources::Sources;
use crate::readiness::Readiness;
use crate::timeline::{Known, Mark, Row};

/// What a row is worked out from.
#[derive(Clone, Debug)]
enum By {
    /// A record or a sample that the state machine was given.
    Moment(Moment),
    /// A record or a sample that has its own time.
    Cite(Cite),
    /// A record that proves an edge.
    Record(Proof, Stamp),
    /// Samples of a counter: where they stand, and when.
    Samples(String, Stamp),
}

/// A row before its records are read.
#[derive(Clone, Debug)]
struct Draft {
    known: Known,
    mark: Mark,
    kind: &'static str,
    says: String,
    /// Whose it is, where its record does not say.
    whose: Option<String>,
    first: By,
    last: Option<By>,
}

/// Marks of a window, in no order.
pub fn all(
    found: &Readiness,
    evidence: &Evidence<'_>,
    judged: &Judged,
    sources: &Sources,
    captures: &Asked<'_>,
    window: Window,
) -> Vec<Row> {
    let mut drafts = lives::drafts(&found.history);
    drafts.extend(edges::drafts(evidence, judged));
    let records = Records::read(&drafts, sources, captures);
    drafts.into_iter().filter_map(|draft| records.row(draft)).filter(|row| lies_in(row, window)).collect()
}

/// What is bounded on one side alone lies where its record does; what has no time is in no window.
fn lies_in(row: &Row, window: Window) -> bool {
    let first = row.first.stamp;
    let last = row.last.as_ref().map_or(first, |last| last.stamp);
    let Some((from, to)) = first.zip(last) else { return window == Window::default() };
    window.since.is_none_or(|since| from.end.max(to.end) > since) && window.until.is_none_or(|until| from.start < until)
}

impl By {
    fn stamp(&self) -> Option<Stamp> {
        match self {
            By::Moment(moment) => moment.wall,
            By::Cite(_) => None,
            By::Record(_, stamp) | By::Samples(_, stamp) => Some(*stamp),
        }
    }

    /// The record, if it is one: number of the source, or behind the sources of the capture, and offset.
    fn cite(&self) -> Option<Cite> {
        match self {
            By::Moment(moment) => Some(moment.cite),
            By::Cite(cite) => Some(*cite),
            By::Record(cite, _) => Some(Cite { source: cite.source, offset: cite.offset, len: cite.length }),
            By::Samples(..) => None,
        }
    }
}
