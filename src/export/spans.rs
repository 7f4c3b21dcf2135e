//! Spans of requests: by one record that states both ends, or by a record of the start and one of the end in the same source.
//!
//! A span is given an end only where a record says one. Where stamps are coarse, or their zone was assumed, it is drawn as long as it can have been and says so.

use std::collections::HashMap;

use corr_parsers::ids::IdKind;
use corr_parsers::stamp::Stamp;

use super::LeftOut;
use super::stated::{self, field};
use crate::render::shown::{Shown, rfc3339};

/// A part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub name: &'static str,
    pub start: i64,
    pub end: i64,
    /// How its place was inferred; `None` if a record states both ends.
    pub evidence: Option<&'static str>,
}

/// A request, as one process or client saw it. UTC nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The worker, else the source.
    pub track: String,
    pub name: String,
    /// The id by which its records name it.
    pub id: Option<(IdKind, String)>,
    pub start: i64,
    pub end: i64,
    /// Why its ends are not stated to a millisecond; `None` if they are.
    pub evidence: Option<String>,
    /// The records that say so.
    pub cites: Vec<String>,
    /// The session that these records bear.
    pub session: Option<String>,
    pub stages: Vec<Stage>,
    /// It is a span of somebody's trace already.
    pub traced: bool,
}

/// A start without an end, or an end without a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loose {
    pub track: String,
    pub id: String,
    pub at: i64,
    pub cite: String,
    /// `no record of its end was read`.
    pub why: &'static str,
}

/// What is gathered of the events.
#[derive(Debug, Default)]
pub struct Spans {
    pub spans: Vec<Span>,
    pub loose: Vec<Loose>,
    pub left_out: LeftOut,
    open: HashMap<(String, &'static str, String), Open>,
}

/// A start that waits for its end.
#[derive(Debug)]
struct Open {
    /// How many came before: the order in which those without an end are told.
    number: usize,
    track: String,
    stamp: Stamp,
    assumed: bool,
    cite: String,
    session: Option<String>,
}

/// Kinds of an end with those of its start, which bear one request's id in one source.
const PAIRS: &[(&str, &str)] = &[
    ("request_completed", "request_received"),
    ("request_finished", "request_received"),
    ("worker_request_completed", "worker_request_received"),
    ("gateway_request_finished", "gateway_request_started"),
];

/// So many starts are held at a time; more than any server has open.
const MOST_OPEN: usize = 1_000_000;
/// A stamp is as good as an instant if it is no wider, in ns.
const FINE: i64 = 1_000_000;

const NO_END: &str = "no record of its end was read";
const NO_START: &str = "no record of its start was read";
const AGAIN: &str = "no record of its end was read before another start of the same id";

impl Spans {
    /// Takes the next event, in the order of time.
    pub fn push(&mut self, event: &Shown) {
        let id = request_id(event);
        if let Some(stated) = stated::of(event) {
            self.left_out.some("times of steps that lie outside their request", stated.outside);
            let coarse = event.kind == "request_end" && event.stamp.is_none_or(|s| s.width() > FINE);
            self.spans.push(Span {
                track: track(event),
                name: stated.name,
                id: id.clone(),
                start: stated.start,
                end: stated.end,
                evidence: coarse.then(|| "the stamp of the end is wider than a millisecond".to_string()),
                cites: vec![event.locator()],
                session: session(event),
                stages: stated.stages,
                traced: event.kind == "otlp_span",
            });
            // A start that the same log has of it is told with the end's own times.
            if let (Some((_, start)), Some((_, id))) = (PAIRS.iter().find(|(end, _)| *end == event.kind), id) {
                self.open.remove(&(event.source.clone(), *start, id));
            }
            return;
        }
        let (Some((_, id)), Some(stamp)) = (id, event.stamp) else { return };
        if let Some((_, start)) = PAIRS.iter().find(|(_, start)| *start == event.kind) {
            self.begin(event, start, id, stamp);
        } else if let Some((_, start)) = PAIRS.iter().find(|(end, _)| *end == event.kind) {
            self.end(event, start, id, stamp);
        }
    }

    fn begin(&mut self, event: &Shown, kind: &'static str, id: String, stamp: Stamp) {
        if self.open.len() >= MOST_OPEN {
            self.left_out.one("starts of requests beyond a million that are open at once");
            return;
        }
        let open = Open {
            number: self.spans.len() + self.loose.len() + self.open.len(),
            track: track(event),
            stamp,
            assumed: event.assumed,
            cite: event.locator(),
            session: session(event),
        };
        if let Some(before) = self.open.insert((event.source.clone(), kind, id.clone()), open) {
            self.loose.push(before.loose(id, AGAIN));
        }
    }

    fn end(&mut self, event: &Shown, kind: &'static str, id: String, stamp: Stamp) {
        let found = self.open.remove(&(event.source.clone(), kind, id.clone()));
        let loose = |why| Loose { track: track(event), id: id.clone(), at: stamp.start, cite: event.locator(), why };
        let Some(open) = found else {
            self.loose.push(loose(NO_START));
            return;
        };
        if stamp.end <= open.stamp.start {
            // The clock was set back in between: how long it took is not known.
            self.loose.push(open.loose(id.clone(), "the record of its end is stamped before that of its start"));
            self.loose.push(loose("it is stamped before the record of its start"));
            return;
        }
        let fine = |s: Stamp| s.width() <= FINE;
        let (end, evidence) = if fine(open.stamp) && fine(stamp) && stamp.start >= open.stamp.start {
            (stamp.start, (open.assumed || event.assumed).then(|| "the zone of the stamps was assumed".to_string()))
        } else {
            let between = |s: Stamp| format!("in [{}, {})", rfc3339(s.start, 1_000), rfc3339(s.end, 1_000));
            let assumed = if open.assumed || event.assumed { "; the zone of the stamps was assumed" } else { "" };
            let clamped =
                format!("clamped to the longest that it can be: it began {}, it ended {}{assumed}", between(open.stamp), between(stamp));
            (stamp.end, Some(clamped))
        };
        self.spans.push(Span {
            track: open.track,
            name: call(event),
            id: request_id(event),
            start: open.stamp.start,
            end,
            evidence,
            cites: vec![open.cite, event.locator()],
            session: open.session.or_else(|| session(event)),
            stages: Vec::new(),
            traced: false,
        });
    }

    /// All spans by start, the longer first, and what stayed without an end or a start, by time.
    pub fn finish(mut self) -> (Vec<Span>, Vec<Loose>, LeftOut) {
        let mut open: Vec<(String, Open)> = self.open.drain().map(|((_, _, id), open)| (id, open)).collect();
        open.sort_by(|a, b| (a.1.number, &a.1.cite).cmp(&(b.1.number, &b.1.cite)));
        self.loose.extend(open.into_iter().map(|(id, open)| open.loose(id, NO_END)));
        self.loose.sort_by(|a, b| (a.at, &a.cite).cmp(&(b.at, &b.cite)));
        self.spans.sort_by(|a, b| (a.start, std::cmp::Reverse(a.end), &a.cites).cmp(&(b.start, std::cmp::Reverse(b.end), &b.cites)));
        (self.spans, self.loose, self.left_out)
    }
}

impl Open {
    fn loose(self, id: String, why: &'static str) -> Loose {
        Loose { track: self.track, id, at: self.stamp.start, cite: self.cite, why }
    }
}

/// A worker also serves its neighbours: only `generate` is inference.
fn call(event: &Shown) -> String {
    let worker = event.kind == "worker_request_completed";
    match field(event, "endpoint").and_then(|e| e.as_str()).filter(|e| worker && *e != "generate") {
        Some(endpoint) => format!("call of {endpoint}"),
        None => "request".into(),
    }
}

/// Whose track an event is on: the worker's, else the source's.
pub fn track(event: &Shown) -> String {
    event.worker.clone().unwrap_or_else(|| event.source.clone())
}

/// The one request that an event names; `None` for none, or for several.
pub fn request_id(event: &Shown) -> Option<(IdKind, String)> {
    let mut ids = event.ids.iter().filter(|(kind, _)| matches!(kind, IdKind::RequestId | IdKind::Rid));
    let first = ids.next()?;
    ids.all(|(_, text)| *text == first.1).then(|| first.clone())
}

fn session(event: &Shown) -> Option<String> {
    event.ids.iter().find(|(kind, _)| *kind == IdKind::Session).map(|(_, text)| text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &'static str, line: u64, id: &str, start: i64, width: i64) -> Shown {
        let ids = vec![(IdKind::RequestId, id.to_string())];
        let mut event = Shown::of_kind(kind, "");
        (event.ids, event.line, event.stamp) = (ids, line, Some(Stamp { start, end: start + width }));
        event
    }

    fn told(events: &[Shown]) -> (Vec<Span>, Vec<Loose>) {
        let mut spans = Spans::default();
        events.iter().for_each(|e| spans.push(e));
        let (spans, loose, _) = spans.finish();
        (spans, loose)
    }

    #[test]
    fn a_start_and_an_end_are_a_span() {
        let (spans, loose) = told(&[event("request_received", 1, "a", 1_000, 1_000), event("request_completed", 2, "a", 9_000, 1_000)]);
        assert_eq!((spans[0].start, spans[0].end, spans[0].evidence.as_deref()), (1_000, 9_000, None));
        assert_eq!((spans[0].cites.clone(), loose.len()), (vec!["run/a.log:1".to_string(), "run/a.log:2".into()], 0));
    }

    #[test]
    fn no_end_is_invented() {
        let (spans, loose) = told(&[
            event("request_received", 1, "a", 1_000, 1),
            event("request_received", 2, "a", 2_000, 1),
            event("worker_request_completed", 3, "b", 3_000, 1),
        ]);
        assert!(spans.is_empty());
        let told: Vec<(&str, &str)> = loose.iter().map(|l| (l.id.as_str(), l.why)).collect();
        assert_eq!(told, [("a", AGAIN), ("a", NO_END), ("b", NO_START)]);
    }

    #[test]
    fn coarse_stamps_are_clamped_and_say_so() {
        let second = 1_000_000_000;
        let (spans, _) = told(&[event("request_received", 1, "a", second, second), event("request_finished", 2, "a", second, second)]);
        assert_eq!((spans[0].start, spans[0].end), (second, 2 * second));
        assert!(spans[0].evidence.as_deref().unwrap().contains("longest that it can be"), "{:?}", spans[0].evidence);
    }

    #[test]
    fn a_clock_that_was_set_back_gives_no_span() {
        let (spans, loose) = told(&[event("request_received", 1, "a", 5_000, 1), event("request_completed", 2, "a", 1_000, 1)]);
        assert_eq!((spans.len(), loose.len()), (0, 2));
    }
}
