//! Of what a verdict is: the whole run, a window, a worker, a session, a request.

use std::collections::BTreeSet;

use crate::identity::{Identity, Request, RequestNo};
use crate::ledger::{SourceLedger, overlaps};

/// What is asked about.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// UTC ns, half open.
    pub window: Option<(i64, i64)>,
    /// Only these requests: those of a session, or one.
    pub requests: Option<BTreeSet<RequestNo>>,
    /// Only what a worker shows: numbers of its ledgers.
    pub ledgers: Option<BTreeSet<usize>>,
}

impl Scope {
    /// It is of requests that are known by their ids: what bears no id says nothing of them.
    pub fn by_identity(&self) -> bool {
        self.requests.is_some()
    }

    /// Whether a request is meant. It belongs to the window in which it is first seen.
    pub fn has(&self, no: RequestNo, request: &Request) -> bool {
        let wanted = self.requests.as_ref().is_none_or(|r| r.contains(&no));
        let in_window = self.window.is_none_or(|w| overlaps(request.first, w));
        let seen_here = self.ledgers.as_ref().is_none_or(|l| request.sources.iter().any(|s| l.contains(s)));
        wanted && in_window && seen_here
    }

    /// Whether a source is meant.
    pub fn has_ledger(&self, number: usize) -> bool {
        self.ledgers.as_ref().is_none_or(|l| l.contains(&number))
    }

    /// The window, else the time from the first stamp of any source to the last.
    pub fn extent(&self, ledgers: &[SourceLedger]) -> Option<(i64, i64)> {
        if self.window.is_some() {
            return self.window;
        }
        let spans = || ledgers.iter().filter_map(|l| l.span);
        Some((spans().map(|s| s.0).min()?, spans().map(|s| s.1).max()?))
    }

    /// The requests that are meant.
    pub fn requests<'a>(&'a self, identity: &'a Identity) -> impl Iterator<Item = (RequestNo, &'a Request)> {
        identity.requests.iter().enumerate().filter(|(no, r)| self.has(*no, r))
    }
}
