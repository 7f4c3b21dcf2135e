//! A server seen from outside: polls of `/health`, scrapes of `/metrics`, requests of clients. Kept as changes, not as rows.

use corr_parsers::stamp::Stamp;
use serde::Serialize;

use crate::time::{Cite, Instant, Mark};

/// One attempt from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub cite: Cite,
    pub host: String,
    /// The unit, as logs name it, or the caller's own name.
    pub unit: String,
    /// When the attempt began.
    pub from: Stamp,
    /// When it ended; the same as `from` where a row has one stamp only.
    pub until: Stamp,
    pub what: What,
}

/// Gauges that are above zero while an engine holds KV of a request.
pub const KV_IN_USE: &[&str] = &[
    "sglang:num_used_tokens",
    "sglang:kv_used_tokens",
    "sglang:token_usage",
    "sglang:full_token_usage",
    "dynamo_component_gpu_cache_usage_percent",
    "vllm:gpu_cache_usage_perc",
    "vllm:kv_cache_usage_perc",
];

/// What the attempt found.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// `/health`: 200, or no answer: refused, timed out.
    Health { up: bool },
    /// `/health`: an answer of another status, 503 above all. It is not ready, and its process is there.
    Unwell,
    /// `/metrics`.
    Scrape {
        up: bool,
        /// `process_start_time_seconds`, as UTC nanoseconds.
        process_start: Option<i64>,
        /// Counters fell together since the scrape before.
        reset: bool,
        /// One of [`KV_IN_USE`] is above zero.
        kv_in_use: Option<bool>,
    },
    /// A client's request.
    Client { ok: bool },
}

/// The last row of one state and the first of the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    pub up: bool,
    /// Start of the last attempt that found the other state; `None`: it was the first row.
    pub last_other: Option<Mark>,
    /// End of the first attempt that found this one.
    pub first: Mark,
    /// Of a state that is not up, the begin of the last attempt in it that was answered all the same.
    pub answered: Option<Mark>,
}

/// More changes than a run worth reading has; more are counted.
const MOST: usize = 100_000;

/// One kind of row, reduced to its changes.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub all: Vec<Change>,
    up: Option<bool>,
    /// Start and end of the attempt before.
    last: Option<(Mark, Mark)>,
    pub rows: u64,
    /// Changes after the first so many, which are not kept.
    pub lost: u64,
}

impl Changes {
    fn take(&mut self, up: bool, answered: bool, from: Mark, until: Mark) {
        self.rows += 1;
        if self.up != Some(up) {
            // What an attempt found was so at some moment between its begin and its end: the interval holds both attempts.
            let change = Change { up, last_other: self.last.map(|(from, _)| from), first: until, answered: None };
            if self.all.len() < MOST { self.all.push(change) } else { self.lost += 1 }
        }
        if answered
            && !up
            && self.lost == 0
            && let Some(change) = self.all.last_mut()
        {
            change.answered = Some(from);
        }
        self.up = Some(up);
        self.last = Some((from, until));
    }
}

impl Change {
    /// When the state changed.
    pub fn instant(&self, why: &'static str) -> Instant {
        match self.last_other {
            Some(after) => Instant::Within { after, before: self.first, why },
            None => Instant::AtMost { mark: self.first, why },
        }
    }
}

/// What was seen of one unit from outside.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    pub health: Changes,
    pub scrapes: Changes,
    pub clients: Changes,
    /// Changes of "a KV gauge is above zero", anew after every reset.
    pub kv: Changes,
    /// Starts of processes that scrapes tell, with the first scrape that did.
    pub process_starts: Vec<(Option<i64>, Change)>,
    /// Of each of those the last scrape that the process before it answered.
    pub answered_before: Vec<Option<Mark>>,
    /// First and last scrape that answered.
    pub answered: Option<[Mark; 2]>,
}

impl Watch {
    /// Changes that are not kept.
    pub fn changes_lost(&self) -> u64 {
        [&self.health, &self.scrapes, &self.clients, &self.kv].iter().map(|changes| changes.lost).sum()
    }

    /// Nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.health.rows + self.scrapes.rows + self.clients.rows == 0
    }

    /// First and last scrape, if all that answered were of one process by its own word.
    pub fn one_process(&self) -> Option<[Mark; 2]> {
        match &self.process_starts[..] {
            [(Some(_), _)] => self.answered.filter(|[first, last]| first.order != last.order),
            _ => None,
        }
    }

    /// Every begin that rows show: an answer after none, or another process that answers.
    pub(crate) fn begins(&self, changes: &Changes) -> Vec<Change> {
        let mut begins: Vec<Change> = changes.all.iter().filter(|change| change.up).copied().collect();
        let ups = begins.clone();
        // The first start is no restart; counters that fell are one.
        let first = usize::from(self.process_starts.first().is_some_and(|(start, _)| start.is_some()));
        for (_, change) in self.process_starts.iter().skip(first) {
            let within = |up: &Change| {
                let starts = |mark: &Mark| mark.wall.map(|wall| wall.start);
                // The attempt before is of the process before.
                let before = change.last_other.is_some_and(|other| other.order == up.first.order);
                !before
                    && starts(&up.first) <= starts(&change.first)
                    && change.last_other.is_none_or(|other| starts(&other) <= starts(&up.first))
            };
            if !ups.iter().any(within) {
                begins.push(*change);
            }
        }
        begins.sort_by_key(|change| (change.first.wall.map(|wall| wall.start), change.first.order));
        begins
    }

    pub(crate) fn take(&mut self, row: &Row, order: u64) {
        let mark = |wall: Stamp| Mark { cite: row.cite, wall: Some(wall), mono: None, boot: None, order };
        let (from, until) = (mark(row.from), mark(row.until));
        match &row.what {
            What::Health { up } => self.health.take(*up, *up, from, until),
            What::Unwell => self.health.take(false, true, from, until),
            What::Client { ok } => self.clients.take(*ok, *ok, from, until),
            What::Scrape { up, process_start, reset, kv_in_use } => {
                let before = self.scrapes.last.map(|(from, _)| from);
                self.scrapes.take(*up, *up, from, until);
                if !up {
                    return;
                }
                let answered = self.answered.map(|[_, last]| last);
                self.answered = Some([self.answered.map_or(until, |[first, _]| first), until]);
                let other = match (process_start, self.process_starts.last()) {
                    (Some(now), Some((Some(was), _))) => now != was,
                    (Some(_), None) => true,
                    // Its start may come with a later scrape than the fall that showed it.
                    (Some(_) | None, _) => *reset,
                };
                if other && self.process_starts.len() < MOST {
                    self.process_starts.push((*process_start, Change { up: true, last_other: before, first: until, answered: None }));
                    self.answered_before.push(answered);
                    self.kv.up = Some(false);
                }
                if let Some(used) = kv_in_use {
                    self.kv.take(*used, true, from, until);
                }
            }
        }
    }
}
