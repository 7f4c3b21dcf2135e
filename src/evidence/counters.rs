//! What the counters that are signals did in a scope, from the run's metric captures.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};

use corr_evidence::compiled::{Edges, SignalRef};
use corr_evidence::definition::Signal;
use corr_evidence::ledger::SourceLedger;
use corr_evidence::scope::Scope;
use corr_evidence::verdict::Counter;
use corr_metrics::catalogue::{Group, Parts};
use corr_metrics::coverage::{Coverage, Gap, Scraped};
use corr_metrics::model::{EndpointId, Kind, canonical};
use corr_metrics::window::Window;
use corr_metrics::window::counter::Answer;

use crate::metrics::around::Around;
use crate::metrics::asked::{Asked, Captured, Hit, title};
use crate::metrics::workers::{self, Worker};
use crate::run::Run;

/// The names of all families that were captured.
pub fn families(asked: &Asked<'_>) -> BTreeSet<String> {
    asked.captures.iter().filter(|c| !c.is_log()).flat_map(|c| c.catalogue.families.iter().map(|g| g.name.clone())).collect()
}

/// Every counter of every signal. Fields of log records are no counters.
pub fn of(run: &Run, asked: &Asked<'_>, edges: &Edges, scope: &Scope, ledgers: &[SourceLedger], workers: &[Worker]) -> Vec<Counter> {
    let mut counters = Vec::new();
    if scope.by_identity() {
        return counters;
    }
    let whole = scope.extent(ledgers);
    for captured in asked.captures.iter().filter(|c| !c.is_log()) {
        let around = Around::of(run, captured);
        let asking = Asking { captured, around: &around, scope, whole, ledgers, workers, covered: Covered::default() };
        for (at, signal) in edges.all() {
            if let Some(metric) = &signal.metric {
                asking.family(at, signal, metric, &mut counters);
            }
        }
    }
    counters
}

struct Asking<'a> {
    captured: &'a Captured<'a>,
    around: &'a Around,
    scope: &'a Scope,
    whole: Option<(i64, i64)>,
    ledgers: &'a [SourceLedger],
    workers: &'a [Worker],
    covered: Covered<'a>,
}

/// How the capture's endpoints were scraped, found once for all counters.
#[derive(Default)]
struct Covered<'a> {
    scraped: OnceCell<Scraped<'a>>,
    /// By the window's ends, on the capture's clock.
    within: RefCell<HashMap<(i64, i64), Vec<Coverage>>>,
}

impl Asking<'_> {
    fn family(&self, at: SignalRef, signal: &Signal, metric: &str, counters: &mut Vec<Counter>) {
        for group in self.captured.catalogue.families.iter().filter(|g| same_family(&g.name, metric)) {
            for member in &group.members {
                let series = member.parts.series();
                let fits = signal.labels.iter().all(|(name, value)| member.labels.get(name) == Some(value.as_str()));
                if fits {
                    let hit = Hit { captured: self.captured, group, member, series };
                    counters.extend(self.counter(at, signal, &hit));
                } else if signal.lazy_label && !self.has_labels(group, member.endpoint, signal) {
                    // The family is there, the label's series not yet: it counted nothing so far.
                    let known = counters.iter().any(|c: &Counter| c.signal == at && c.endpoint == self.endpoint(member.endpoint));
                    if let Some(counter) =
                        self.counter(at, signal, &Hit { captured: self.captured, group, member, series: member.parts.series() })
                        && !known
                    {
                        counters.push(self.never_came(counter, &group.name, metric, signal, member.endpoint));
                    }
                }
            }
        }
    }

    /// A labelled series that was in no scrape, from what another one of its family did: where no scrape of the window had the family it is not known
    /// to be missing. What is cited is the family.
    fn never_came(&self, other: Counter, family: &str, metric: &str, signal: &Signal, endpoint: EndpointId) -> Counter {
        let offset = self.captured.dial().to_utc().map_or(0, |(offset, _)| offset);
        let own = |at: i64| at.saturating_sub(offset);
        let cites = other.between.map(|(from, to)| self.captured.cited(family, endpoint, own(from), own(to))).into_iter().collect();
        let seen = other.between.map(|_| 0.0);
        let series = format!("{metric}{{{}}}", labels(signal));
        Counter { never_seen: true, inner: seen, outer: seen, base: 0.0, resets: 0, series, cites, ..other }
    }

    fn has_labels(&self, group: &Group, endpoint: EndpointId, signal: &Signal) -> bool {
        group
            .members
            .iter()
            .any(|m| m.endpoint == endpoint && signal.labels.iter().all(|(name, value)| m.labels.get(name) == Some(value.as_str())))
    }

    fn endpoint(&self, id: EndpointId) -> String {
        self.captured.capture().endpoint(id).map(title).unwrap_or_default()
    }

    /// The series that counts: of a histogram its number of observations.
    fn counter(&self, at: SignalRef, signal: &Signal, hit: &Hit<'_>) -> Option<Counter> {
        let of_sum = !matches!(signal.counts.as_str(), "requests" | "events" | "times");
        let capture = self.captured.capture();
        let id = match &hit.member.parts {
            Parts::One(id) if hit.group.typed.kind != Kind::Gauge => *id,
            Parts::One(_) => return None,
            // What is counted is their sum, or how many there were.
            Parts::Histogram { sum: Some(sum), .. } | Parts::Summary { sum: Some(sum), .. } if of_sum => {
                if !self.observed(hit) {
                    return None;
                }
                *sum
            }
            Parts::Histogram { buckets, count, .. } => count.or_else(|| buckets.last().map(|b| b.1))?,
            Parts::Summary { count, .. } => (*count)?,
        };
        let endpoint = capture.endpoint(hit.member.endpoint);
        let mapped = endpoint.and_then(|e| workers::of(e, self.workers, &[])).map(|m| m.worker);
        if let Some(meant) = &self.scope.ledgers {
            let of_worker = |l: &usize| self.ledgers.get(*l).and_then(|l| l.worker.as_deref()) == mapped.as_deref();
            if mapped.is_none() || !meant.iter().any(of_worker) {
                return None;
            }
        }
        let (offset, _) = self.captured.dial().to_utc()?;
        let own = |(from, to): (i64, i64)| Window::new(from.saturating_sub(offset), to.saturating_sub(offset));
        let covered = own(self.window(mapped.as_deref())?)?;
        // Of the whole run all samples count, also those after a worker's last line.
        let window = match (self.scope.window, self.captured.extent()) {
            (None, Some((first, last))) => Window::new(first.min(covered.from()), last.max(covered.to()))?,
            _ => covered,
        };
        let mut cursor = capture.samples.cursor();
        let scrapes = self.captured.scrapes_of(id);
        let answer = corr_metrics::window::counter::of_capture(capture, &mut cursor, id, window, &scrapes)?;
        let outer = answer.bracket().and_then(|b| b.1);
        let (mut inner, mut base, mut resets, mut ends) = (None, 0.0, 0, None);
        // Samples around the window that are one value leave nothing between them.
        let still = outer.filter(|most| *most == 0.0);
        match &answer {
            Answer::Answered(delta) => {
                inner = Some(delta.inner.value);
                base = delta.restart_base.value;
                resets = delta.resets.len();
                base += delta.first_appearance.map_or(0.0, |a| a.value);
                ends = Some((delta.first, delta.last));
                if self.scope.window.is_none() && delta.first_appearance.is_none() {
                    // Of the whole run all that the first process had counted is the run's too.
                    base += delta.first.value;
                }
            }
            Answer::OneSample(one) => {
                base = if self.scope.window.is_none() { one.sample.value } else { one.first_appearance.map_or(0.0, |a| a.value) };
                ends = Some((one.sample, one.sample));
                if let Some((before, after)) = one.start.outside.zip(one.end.outside).filter(|_| still.is_some()) {
                    (inner, ends) = (still, Some((before, after)));
                }
            }
            Answer::NoSamples(none) => {
                if let Some(around) = none.before.zip(none.after).filter(|_| still.is_some()) {
                    (inner, ends) = (still, Some(around));
                }
            }
            Answer::Refused(_) => {}
        }
        let gap = match &answer {
            _ if inner.is_some() => self.gap(hit.member.endpoint, covered).or_else(|| lost(inner, base, resets)),
            Answer::Refused(refusal) => Some(refusal.words().to_string()),
            Answer::OneSample(_) => Some("one sample of it lies in the window, which is no difference".to_string()),
            _ => Some("no sample of it lies in the window".to_string()),
        };
        let cites = ends.map(|(first, last)| self.captured.citation(id, first.at, last.at)).into_iter().collect();
        Some(Counter {
            signal: at,
            series: capture.spelled(id),
            endpoint: self.endpoint(hit.member.endpoint),
            worker: mapped,
            rankless: rankless(hit),
            never_seen: false,
            inner,
            outer,
            base,
            resets,
            gap,
            cites,
            between: ends.map(|(first, last)| (first.at.saturating_add(offset), last.at.saturating_add(offset))),
        })
    }

    /// Something was observed at all: a sum of nothing is no zero.
    fn observed(&self, hit: &Hit<'_>) -> bool {
        let (Parts::Histogram { count, .. } | Parts::Summary { count, .. }) = &hit.member.parts else { return true };
        let capture = self.captured.capture();
        let last = |id: &corr_metrics::model::SeriesId| {
            let last = capture.samples.blocks(id.0).last().map(|b| b.last)?;
            capture.samples.between(id.0, last, last).last().map(|s| s.value)
        };
        count.as_ref().and_then(last).is_none_or(|n| n > 0.0)
    }

    /// The window, else the time that its worker's logs reach over, else that of the run.
    fn window(&self, worker: Option<&str>) -> Option<(i64, i64)> {
        if self.scope.window.is_some() {
            return self.scope.window;
        }
        let spans = self.ledgers.iter().filter(|l| worker.is_some() && l.worker.as_deref() == worker).filter_map(|l| l.span);
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).or(self.whole).or_else(|| {
            let (offset, _) = self.captured.dial().to_utc()?;
            let (first, last) = self.captured.extent()?;
            Some((first.saturating_add(offset), last.saturating_add(offset)))
        })
    }

    /// What part of the window was not scraped.
    fn gap(&self, endpoint: EndpointId, window: Window) -> Option<String> {
        let capture = self.captured.capture();
        let ends = (window.from(), window.to());
        let mut within = self.covered.within.borrow_mut();
        let all = within.entry(ends).or_insert_with(|| {
            let scraped = self.covered.scraped.get_or_init(|| Scraped::of(capture));
            scraped.endpoints(&self.around.ask(capture, ends))
        });
        let covered = all.iter().find(|c| c.id == Some(endpoint))?;
        let longest: &Gap = covered.gaps.iter().max_by_key(|g| g.to.saturating_sub(g.from))?;
        let dial = self.captured.dial();
        let more = covered.gaps.len().saturating_sub(1);
        let others = if more == 0 { String::new() } else { format!(", and {more} more") };
        Some(format!("not scraped from {} to {} ({}){others}", dial.show(longest.from), dial.show(longest.to), longest.cause.word()))
    }
}

/// Both spellings of a name are one family; a counter's `_total` may be missing where the exposition dropped it.
fn same_family(name: &str, metric: &str) -> bool {
    canonical(name) == canonical(metric)
}

/// What a process counted behind its last sample is in none: a counter that began anew and shows nothing may have counted.
fn lost(inner: Option<f64>, base: f64, resets: usize) -> Option<String> {
    let nothing = inner == Some(0.0) && base == 0.0;
    (nothing && resets > 0)
        .then(|| "it began anew in the window, and what was counted before that and after the last sample is lost".to_string())
}

/// Labels of ranks that share one request.
const RANKS: &[&str] = &["tp_rank", "pp_rank", "moe_ep_rank", "attn_cp_rank"];

fn rankless(hit: &Hit<'_>) -> String {
    let labels = hit.member.labels.iter().filter(|(name, _)| !RANKS.contains(name));
    labels.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

fn labels(signal: &Signal) -> String {
    signal.labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect::<Vec<_>>().join(",")
}
