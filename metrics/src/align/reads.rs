//! When did a scrape read the endpoint? A stamp is the request's start, the first byte, or the end of the body; the values are of an
//! instant somewhere in the request.
//!
//! Where the duration of a scrape is not recorded it is bounded by the gap to the scrape before, for scrapers that wait between scrapes, or
//! taken for granted and said.

use crate::model::{Capture, Clock, EndpointId, Fidelity, Outcome, SECOND, StampOf};

/// What is known of a scraper apart from its capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// How long it waits after a scrape before the next of the same endpoint: `1/frequency` in Tachometer's TOML; the least if endpoints differ.
    pub pause: Option<i64>,
    /// How long a scrape takes at most, where nothing tells.
    pub took: i64,
}

impl Default for Timing {
    fn default() -> Timing {
        Timing { pause: None, took: SECOND / 10 }
    }
}

/// Prometheus moves a scrape's stamp to its grid if it is less than this away.
const GRID: i64 = 2_000_000;

/// An evaluation takes the last sample of so long a time.
const LOOKBACK: i64 = 300 * SECOND;

/// Where scrapes are not kept apart from samples, the series that have the most samples stand for them: so many.
const LONGEST: usize = 32;

/// The requests of one endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Reads {
    /// By stamp.
    spans: Vec<Span>,
    stamp_of: StampOf,
    /// What a scrape takes whose stamp is not among them.
    took: i64,
    /// How durations are known, in words.
    pub said: String,
}

/// The request of one stamp: values are of an instant in `[from, to]`, on the capture's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub stamp: i64,
    pub from: i64,
    pub to: i64,
}

/// Why a capture's values are not of the instants at which they stand.
pub fn unfit(capture: &Capture) -> Option<&'static str> {
    match (capture.fidelity, capture.stamp_of) {
        (Fidelity::StepFilled, _) | (_, StampOf::Evaluation) => Some("its points stand on a grid and are up to five minutes old"),
        (Fidelity::SinceBase, _) => Some("its counters are differences, so that no level is shared"),
        _ => None,
    }
}

impl Reads {
    /// The requests of an endpoint of a capture.
    pub fn of(capture: &Capture, endpoint: EndpointId, timing: &Timing) -> Reads {
        let known = recorded(capture, endpoint);
        let stamps = stamps(capture, endpoint);
        let shortest = stamps.windows(2).filter_map(|w| w.get(1)?.checked_sub(*w.first()?)).min();
        // a wait that is longer than a gap is not this scraper's
        let fits = |pause: &i64| *pause >= 0 && shortest.is_none_or(|s| *pause <= s);
        let used = Timing { pause: timing.pause.filter(fits), took: timing.took.max(0) };
        let starts_at_zero = matches!(capture.clock, Clock::Elapsed { .. });
        let mut how = [0u64; 3];
        let mut before: Option<i64> = None;
        let mut spans = Vec::with_capacity(stamps.len());
        for &stamp in &stamps {
            let found = known.binary_search_by_key(&stamp, |k| k.stamp).ok().and_then(|i| known.get(i));
            let (took, which) = match found {
                Some(k) => (k.took, 0),
                None => match by_gap(capture, &used, stamp, before, shortest) {
                    Some(took) => (took, 1),
                    None => (used.took, 2),
                },
            };
            if let Some(count) = how.get_mut(which) {
                *count += 1;
            }
            let slack = if capture.stamp_of == StampOf::Request && found.is_none_or(|k| k.smoothed) { GRID } else { 0 };
            let mut span = around(capture.stamp_of, stamp, took, slack);
            if starts_at_zero {
                span.from = span.from.max(0).min(span.to);
            }
            spans.push(span);
            before = Some(stamp);
        }
        Reads { spans, stamp_of: capture.stamp_of, took: used.took, said: say(how, timing, &used) }
    }

    /// When the request of this stamp read the values.
    pub fn at(&self, stamp: i64) -> Span {
        let next = self.spans.partition_point(|s| s.stamp < stamp);
        if let Some(span) = self.spans.get(next).filter(|s| s.stamp == stamp) {
            return *span;
        }
        let mut span = around(self.stamp_of, stamp, self.took, GRID);
        // it began after the one before had ended
        if let (StampOf::Body, Some(before)) = (self.stamp_of, next.checked_sub(1).and_then(|i| self.spans.get(i))) {
            span.from = before.stamp;
        }
        span
    }
}

/// Bytes of a body may be made until it ends, and before its first byte.
fn around(stamp_of: StampOf, stamp: i64, took: i64, slack: i64) -> Span {
    let before = stamp.saturating_sub(took).saturating_sub(slack);
    let after = stamp.saturating_add(took).saturating_add(slack);
    let (from, to) = match stamp_of {
        StampOf::Request => (stamp.saturating_sub(slack), after),
        StampOf::Body | StampOf::FileTime => (before, stamp),
        StampOf::Exposition => (stamp, stamp),
        StampOf::Evaluation => (stamp.saturating_sub(LOOKBACK), stamp),
        StampOf::Line { width } => (stamp, stamp.saturating_add(width)),
        StampOf::FirstByte | StampOf::FileName | StampOf::Unknown => (before, after),
    };
    Span { stamp, from, to }
}

/// A duration that the capture holds.
struct Known {
    stamp: i64,
    took: i64,
    /// Its stamp was moved to a grid.
    smoothed: bool,
}

/// Durations of scrapes, by stamp: of the scrapes themselves, or as the series that Prometheus adds to what it scraped.
fn recorded(capture: &Capture, endpoint: EndpointId) -> Vec<Known> {
    let scrapes = capture.endpoint(endpoint).map_or(&[][..], |e| &e.scrapes);
    let mut known: Vec<Known> = scrapes.iter().filter_map(|s| Some(Known { stamp: s.at, took: s.took?.max(0), smoothed: false })).collect();
    if known.is_empty() {
        let series = capture.series.iter().position(|s| s.endpoint == endpoint && s.name.canonical() == "scrape_duration_seconds");
        let samples = series.and_then(|i| u32::try_from(i).ok()).map(|i| capture.samples.all(i)).unwrap_or_default();
        known.extend(samples.iter().filter(|s| (0.0..1e6).contains(&s.value)).map(|s| Known {
            stamp: s.at,
            took: (s.value * SECOND as f64) as i64,
            smoothed: true,
        }));
    }
    known.sort_by_key(|k| k.stamp);
    known.dedup_by_key(|k| k.stamp);
    known
}

/// A scraper that waits between scrapes took at most the gap less the wait; its first scrape, at most what its clock shows.
fn by_gap(capture: &Capture, timing: &Timing, stamp: i64, before: Option<i64>, shortest: Option<i64>) -> Option<i64> {
    if capture.stamp_of != StampOf::Body {
        return None;
    }
    let Some(before) = before else {
        return matches!(capture.clock, Clock::Elapsed { .. }).then_some(stamp.max(0));
    };
    let gap = stamp.checked_sub(before)?;
    match timing.pause {
        Some(pause) => Some(gap.saturating_sub(pause)),
        None => Some(gap.min(gap.saturating_sub(shortest?).saturating_add(timing.took))),
    }
}

fn stamps(capture: &Capture, endpoint: EndpointId) -> Vec<i64> {
    let scrapes = capture.endpoint(endpoint).map_or(&[][..], |e| &e.scrapes);
    let mut stamps: Vec<i64> = scrapes.iter().filter(|s| s.outcome == Outcome::Read).map(|s| s.at).collect();
    if stamps.is_empty() {
        let series = (0u32..).zip(&capture.series).filter(|(_, s)| s.endpoint == endpoint);
        let mut longest: Vec<(u64, u32)> = series.map(|(i, _)| (capture.samples.len(i), i)).collect();
        longest.sort_by_key(|&(n, i)| (std::cmp::Reverse(n), i));
        return capture.samples.times(longest.into_iter().take(LONGEST).map(|(_, i)| i));
    }
    stamps.sort_unstable();
    stamps.dedup();
    stamps
}

fn say([known, gaps, assumed]: [u64; 3], given: &Timing, used: &Timing) -> String {
    let took = super::seconds(used.took);
    let mut parts = Vec::new();
    if known > 0 {
        parts.push("scrapes took what is recorded".to_string());
    }
    if gaps > 0 {
        if let (Some(pause), None) = (given.pause, used.pause) {
            parts.push(format!("a wait of {} is longer than some gaps and is not used", super::seconds(pause)));
        }
        parts.push(match used.pause {
            Some(pause) => format!("scrapes took at most the gap to the one before less a wait of {}", super::seconds(pause)),
            None => format!("scrapes took at most the gap to the one before less the shortest gap, plus an assumed {took}"),
        });
    }
    if assumed > 0 {
        parts.push(format!("{assumed} scrapes of unknown duration are assumed to take at most {took}"));
    }
    if parts.is_empty() { "no scrapes".to_string() } else { parts.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::model::{Labels, Precision};

    const MS: i64 = 1_000_000;

    fn capture(clock: Clock, stamp_of: StampOf, scrapes: &[(i64, Option<i64>)]) -> Capture {
        let mut builder = Builder::new("test", clock, stamp_of);
        let endpoint = builder.endpoint("e");
        for &(at, took) in scrapes {
            builder.scrape(endpoint, at, took, Outcome::Read);
        }
        builder.finish()
    }

    #[test]
    fn a_stamp_is_the_start_or_the_end_of_the_request() {
        let one = |stamp_of| {
            let capture = capture(Clock::Wall, stamp_of, &[(1000 * MS, Some(30 * MS))]);
            let span = Reads::of(&capture, EndpointId(0), &Timing::default()).at(1000 * MS);
            (span.from / MS, span.to / MS)
        };
        assert_eq!(one(StampOf::Request), (1000, 1030));
        assert_eq!(one(StampOf::Body), (970, 1000));
        assert_eq!(one(StampOf::FirstByte), (970, 1030));
        assert_eq!(one(StampOf::Exposition), (1000, 1000));
    }

    #[test]
    fn what_a_scrape_took_is_bounded_by_the_gap_before_it() {
        let scrapes = [(70 * MS, None), (600 * MS, None), (2600 * MS, None)];
        let capture = capture(Clock::Elapsed { anchor: None }, StampOf::Body, &scrapes);
        let timing = Timing { pause: Some(500 * MS), took: 100 * MS };
        let spans = Reads::of(&capture, EndpointId(0), &timing);
        assert_eq!(spans.at(70 * MS).from, 0, "the clock began with the first scrape");
        assert_eq!(spans.at(600 * MS).from, 570 * MS, "530 ms after the last, of which it waited 500");
        assert_eq!(spans.at(2600 * MS).from, 1100 * MS, "it may have hung for 1.5 s");
        let unsaid = Reads::of(&capture, EndpointId(0), &Timing { pause: None, ..timing });
        assert_eq!(unsaid.at(600 * MS).from, 500 * MS, "the shortest gap: what is assumed");
        assert_eq!(unsaid.at(2600 * MS).from, 1030 * MS);
        assert!(unsaid.said.contains("assumed 0.100 s"), "{}", unsaid.said);
        let wrong = Reads::of(&capture, EndpointId(0), &Timing { pause: Some(SECOND), ..timing });
        assert_eq!(wrong.at(600 * MS), unsaid.at(600 * MS));
        assert!(wrong.said.contains("a wait of 1.000 s is longer than some gaps"), "{}", wrong.said);
    }

    #[test]
    fn prometheus_says_itself_what_its_scrapes_took() {
        let mut builder = Builder::new("test", Clock::Wall, StampOf::Request);
        let endpoint = builder.endpoint("e");
        let series = builder.series(endpoint, "scrape_duration_seconds", &Labels::default(), Precision::F64);
        builder.push(series, 1000 * MS, 0.25);
        let spans = Reads::of(&builder.finish(), EndpointId(0), &Timing::default());
        let span = spans.at(1000 * MS);
        assert_eq!((span.from, span.to), (998 * MS, 1252 * MS), "and its stamps stand on a grid, up to 2 ms off");
        assert_eq!(spans.said, "scrapes took what is recorded");
    }

    /// What the exporter noted of each body that it sent to the slow endpoint's scraper, whose stamps are 1.5 s late: the gap less the wait says so.
    #[test]
    fn a_slow_endpoint_is_read_long_before_its_stamp() {
        let Some(folder) = crate::cases::cases("tachometer/run_a") else { return };
        let capture = crate::align::testing::tachometer(&[&folder.join("scrapeA/local/final.parquet")]);
        let slow = EndpointId(capture.endpoints.iter().position(|e| e.name == "worker_slow").unwrap() as u32);
        let reads = Reads::of(&capture, slow, &Timing { pause: Some(SECOND / 2), ..Timing::default() });
        let text = crate::align::testing::gunzip(&folder.join("truth/truth_scrapes.jsonl.gz"));
        let rows = text.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
        let sent: Vec<[i64; 2]> = rows
            .filter(|r| r["ep"] == "worker_slow" && r["who"] == "A" && r["code"] == 200)
            .map(|r| [r["t_get_ns"].as_i64().unwrap(), r["t_sent_ns"].as_i64().unwrap()])
            .collect();
        assert_eq!((sent.len(), reads.spans.len()), (35, 35));
        // no body was stamped before it was sent
        let zero = sent.iter().zip(&reads.spans).map(|([_, sent], span)| sent - span.stamp).max().unwrap();
        for ([asked, _], span) in sent.iter().zip(&reads.spans) {
            let at = asked - zero;
            assert!(span.from <= at + 5 * MS && at <= span.to, "{at} in {span:?}");
        }
        let mut late: Vec<i64> = reads.spans.iter().map(|s| s.to - s.from).collect();
        late.sort_unstable();
        assert_eq!(late[late.len() / 2] / (10 * MS), 151, "1.501 s by the exporter's record, and what the scraper needs to go on");
    }
}
