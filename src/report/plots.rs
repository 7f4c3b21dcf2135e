//! Series of captures and of logs against time. A line is never drawn over a time in which nothing was scraped.

use std::collections::BTreeSet;

use corr_metrics::catalogue::Parts;
use corr_metrics::known::LOG;
use corr_metrics::model::{EndpointId, Kind, Sample, SeriesId};
use corr_metrics::select::Selector;
use corr_metrics::window::gauge;

use super::covered::longest;
use super::model::{Cite, Covered, Plot, PlotLine, PlotMark, Plots, Timeline};
use super::{Ask, Base, window_flags};
use crate::metrics::asked::{Asked, Captured, Hit, title};
use crate::metrics::logged;
use crate::metrics::span::{Placed, Span};
use crate::render::evidence::shell;
use crate::render::metrics::seconds;

/// Families that say most of a run, in this order.
const FAMILIES: &[&str] = &[
    "sglang:num_running_reqs",
    "sglang:num_queue_reqs",
    "sglang:token_usage",
    "sglang:cache_hit_rate",
    "sglang:cached_tokens_total",
    "sglang:gen_throughput",
    "sglang:prompt_tokens_total",
    "sglang:generation_tokens_total",
    "sglang:evicted_tokens_total",
    "sglang:load_back_tokens_total",
    "sglang:prefetched_tokens_total",
    "sglang:backuped_tokens_total",
    "sglang:hicache_host_used_tokens",
    "dynamo_frontend_inflight_requests",
    "dynamo_frontend_queued_requests",
    "dynamo_frontend_requests_total",
    "dynamo_component_inflight_requests",
    "dynamo_component_gpu_cache_usage_percent",
    "dynamo_component_kv_cache_hit_rate",
];
/// Fields of log records, where captures leave room.
const FIELDS: &[&str] = &["running_reqs", "queue_reqs", "token_usage", "cached_tokens", "gen_throughput", "ttft_ms", "latency_ms"];
/// Plots of a report that chose them itself.
const PLOTS: usize = 12;
/// Plots of a report that was asked for series.
const ASKED: usize = 40;
/// Lines of one plot: as many as can be told apart.
const LINES: usize = 6;
/// Columns by which samples are reduced: of each the first, the least, the greatest and the last are kept.
const COLUMNS: i64 = 300;
/// Samples that are drawn one by one.
const FEW: usize = 900;
/// Points of a line that is drawn in pieces.
const MOST_POINTS: usize = 3_000;
/// Marks on a plot.
const MARKS: usize = 100;

/// Fields of log records of which series are made, beside those that are asked for.
pub fn fields() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().copied()
}

/// The series of logs, as `corr metrics log:FIELD` reads them.
pub fn logged<'r>(base: Base<'_>, series: &[Selector], fields: impl Iterator<Item = &'static str>) -> Asked<'r> {
    let mut selectors: Vec<Selector> = series.iter().filter(|s| s.of_log()).cloned().collect();
    let known: BTreeSet<&str> = fields.collect();
    selectors.extend(known.iter().filter_map(|field| Selector::parse(&format!("{LOG}{field}")).ok()));
    let mut asked = Asked::default();
    asked.add_logged(base.run, logged::read(&selectors, base.sources));
    asked
}

/// Plots what is asked, or what says most.
pub fn of(base: Base<'_>, logged: &Asked<'_>, ask: &Ask, axis: Option<(i64, i64)>, covered: &Covered, timeline: &Timeline) -> Plots {
    let mut found = Plots { marks: axis.map_or(Vec::new(), |axis| marks(timeline, axis)), ..Plots::default() };
    let names: Vec<String> = if ask.series.is_empty() {
        FAMILIES.iter().map(|name| name.to_string()).chain(FIELDS.iter().map(|field| format!("{LOG}{field}"))).collect()
    } else {
        Vec::new()
    };
    let mut selectors: Vec<Selector> = ask.series.clone();
    selectors.extend(names.iter().filter_map(|name| Selector::parse(name).ok()));
    let most = if ask.series.is_empty() { PLOTS } else { ASKED };
    for selector in &selectors {
        let of = if selector.of_log() { logged } else { base.captures };
        let hits = of.hits(std::slice::from_ref(selector));
        let mut drawn = 0;
        let mut rest = &hits[..];
        while let Some(first) = rest.first() {
            let same = |hit: &Hit<'_>| std::ptr::eq(hit.captured, first.captured) && std::ptr::eq(hit.group, first.group);
            let (family, others) = rest.split_at(rest.iter().take_while(|hit| same(hit)).count());
            rest = others;
            let Some((placed, axis)) = axis.and_then(|axis| Some((placed(first.captured, axis)?, axis))) else { continue };
            let sampled = sampled(family, &placed);
            if sampled.is_empty() {
                continue;
            }
            drawn += 1;
            if found.plots.len() < most {
                found.plots.extend(plot(family, &sampled, &placed, ask, axis, covered));
            } else {
                found.left_out.push(format!("{} of {}", first.group.name, first.captured.name));
            }
        }
        if drawn == 0 && !ask.series.is_empty() {
            found.none.push(match (hits.is_empty(), selector.of_log()) {
                (true, true) => format!("{}: no record has such a field with a number", selector.text),
                (true, false) => of.none_such(selector),
                (false, _) => format!("{}: no sample of it lies on the axis of this report", selector.text),
            });
        }
    }
    found
}

/// Where an axis lies on a capture; `None` if nobody knows.
fn placed(captured: &Captured<'_>, axis: (i64, i64)) -> Option<Placed> {
    captured.dial().to_utc()?;
    Span { since: Some(axis.0), until: Some(axis.1) }.on(captured).ok()
}

/// The series of a family that have samples there.
fn sampled(hits: &[Hit<'_>], placed: &Placed) -> Vec<SeriesId> {
    let Some(first) = hits.first() else { return Vec::new() };
    let mut cursor = first.captured.capture().samples.cursor();
    let (from, to) = (placed.window.from(), placed.window.to());
    hits.iter().flat_map(drawn).filter(|id| cursor.lower(id.0, from) < cursor.upper(id.0, to)).collect()
}

/// One family of one capture, of which these series have samples.
fn plot(hits: &[Hit<'_>], sampled: &[SeriesId], placed: &Placed, ask: &Ask, axis: (i64, i64), covered: &Covered) -> Option<Plot> {
    let first = hits.first()?;
    let captured = first.captured;
    let (offset, error) = captured.dial().to_utc()?;
    let kind = first.group.typed.kind;
    let rates = kind == Kind::Counter || matches!(first.member.parts, Parts::Histogram { .. });
    let (mut lines, mut still) = (Vec::new(), Vec::new());
    let mut too_large = false;
    for id in sampled {
        // No more are read than are drawn.
        if lines.len() == LINES {
            break;
        }
        let samples = captured.capture().samples.between(id.0, placed.window.from(), placed.window.to());
        let (Some(from), Some(to)) = (samples.first(), samples.last()) else { continue };
        let limit = captured.scrapes_of(*id).interval().map_or(i64::MAX, gauge::default_hold);
        let (pieces, left_out) = match (captured.is_log(), rates) {
            (true, _) => (values(&samples, i64::MAX), false),
            (false, true) => steps(&samples, limit),
            (false, false) => (values(&samples, limit), false),
        };
        too_large |= left_out;
        let reduced = samples.len() > FEW;
        let (mut pieces, joined) = if reduced { lessened(pieces, axis, captured.is_log()) } else { (pieces, !captured.is_log()) };
        for point in pieces.iter_mut().flatten() {
            point.0 = point.0.saturating_add(offset);
        }
        let spelled = captured.capture().spelled(*id);
        let cite = Cite {
            text: captured.citation(*id, from.at, to.at),
            at: None,
            open: format!("corr metrics {} {}{} --rows", ask.given.words(), shell(&spelled), window_flags(Some(axis))),
        };
        let line = (*id, PlotLine { name: String::new(), pieces, samples: samples.len() as u64, reduced, joined, cite });
        // What never moved says least.
        if moves(&line.1) {
            lines.push(line);
        } else if still.len() < LINES {
            still.push(line);
        }
    }
    lines.append(&mut still);
    lines.truncate(LINES);
    let lines_left_out = sampled.len().saturating_sub(lines.len()) as u64;
    let names = names(captured, &lines.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    for ((_, line), name) in lines.iter_mut().zip(names) {
        line.name = name;
    }
    let endpoints: BTreeSet<EndpointId> = hits.iter().map(|hit| hit.member.endpoint).collect();
    let (gaps, gaps_left_out) = longest(captured, &gaps(captured, covered, &endpoints));
    let error = (error > 0 && !captured.is_log()).then(|| format!("this capture's clock is known within ± {}", seconds(error)));
    let too_large = too_large.then(|| "where no line is drawn between two samples, a rate may be too large for a number".to_string());
    let note = error.into_iter().chain(too_large).reduce(|a, b| format!("{a}; {b}"));
    Some(Plot {
        family: first.group.name.clone(),
        capture: captured.name.clone(),
        help: first.group.help.clone(),
        what: match (captured.is_log(), rates) {
            (true, _) => "records of a log, each by itself",
            (false, true) => "per second, between each two samples",
            (false, false) => "value",
        },
        lines: lines.into_iter().map(|(_, line)| line).collect(),
        lines_left_out,
        gaps,
        gaps_left_out,
        note,
    })
}

/// The series of a hit that are drawn: of a histogram its count.
fn drawn(hit: &Hit<'_>) -> Vec<SeriesId> {
    match &hit.member.parts {
        Parts::Histogram { buckets, count, .. } => count.or_else(|| buckets.last().map(|(_, id)| *id)).into_iter().collect(),
        Parts::Summary { quantiles, .. } => quantiles.iter().map(|(_, id)| *id).collect(),
        Parts::One(_) => hit.series.clone(),
    }
}

/// When none of these endpoints was scraped, on the capture's clock.
fn gaps(captured: &Captured<'_>, covered: &Covered, endpoints: &BTreeSet<EndpointId>) -> Vec<(i64, i64, String)> {
    let Some(row) = covered.captures.iter().find(|row| row.name == captured.name) else { return Vec::new() };
    // Of an endpoint that nothing is known of it cannot be said.
    let of = |id: &EndpointId| row.endpoints.iter().find(|e| e.id == Some(*id)).map_or(Vec::new(), |e| e.all_gaps.clone());
    endpoints.iter().map(of).reduce(|a, b| in_both(&a, &b)).unwrap_or_default()
}

/// What lies in a gap of both lists, each by time; with both causes, where they differ.
fn in_both(a: &[(i64, i64, String)], b: &[(i64, i64, String)]) -> Vec<(i64, i64, String)> {
    let mut found = Vec::new();
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let (from, to) = (one.0.max(other.0), one.1.min(other.1));
        if from < to {
            let cause = if one.2.split(" / ").any(|cause| cause == other.2) { one.2.clone() } else { format!("{} / {}", one.2, other.2) };
            found.push((from, to, cause));
        }
        if one.1 <= other.1 {
            left.next()
        } else {
            right.next()
        };
    }
    found
}

type Points = Vec<(i64, f64)>;

/// Values, in pieces: a gap, and a value that is none, begin a new one.
fn values(samples: &[Sample], limit: i64) -> Vec<Points> {
    let mut pieces: Vec<Points> = Vec::new();
    let mut open = false;
    let mut last = i64::MIN;
    for sample in samples {
        if !sample.value.is_finite() {
            open = false;
            continue;
        }
        match pieces.last_mut() {
            Some(piece) if open && sample.at.saturating_sub(last) <= limit => piece.push((sample.at, sample.value)),
            _ => pieces.push(vec![(sample.at, sample.value)]),
        }
        (open, last) = (true, sample.at);
    }
    pieces
}

/// What a counter counted a second from each sample to the next; a fall begins a new piece, since nobody knows what was counted across it. Second, whether
/// some rate is too large for a number, and left out.
fn steps(samples: &[Sample], limit: i64) -> (Vec<Points>, bool) {
    let mut pieces: Vec<Points> = Vec::new();
    let mut open = false;
    let mut too_large = false;
    for (a, b) in samples.iter().zip(samples.iter().skip(1)) {
        let apart = b.at.saturating_sub(a.at);
        let counted = b.value - a.value;
        let rate = counted / (apart as f64 / 1e9);
        if apart <= 0 || apart > limit || counted < 0.0 || !rate.is_finite() {
            too_large |= apart > 0 && apart <= limit && rate == f64::INFINITY && b.value.is_finite();
            open = false;
            continue;
        }
        match pieces.last_mut() {
            Some(piece) if open => piece.extend([(a.at, rate), (b.at, rate)]),
            _ => pieces.push(vec![(a.at, rate), (b.at, rate)]),
        }
        open = true;
    }
    (pieces, too_large)
}

/// Of each column of time the first, the least, the greatest and the last point.
fn reduce(points: &[(i64, f64)], width: i64) -> Points {
    let mut out: Points = Vec::new();
    let mut rest = points;
    while let Some((at, _)) = rest.first() {
        let column = at.div_euclid(width);
        let (of, others) = rest.split_at(rest.iter().take_while(|(at, _)| at.div_euclid(width) == column).count().max(1));
        rest = others;
        let by_value = |a: &&(i64, f64), b: &&(i64, f64)| a.1.total_cmp(&b.1);
        let mut kept: Points =
            [of.first(), of.iter().min_by(by_value), of.iter().max_by(by_value), of.last()].into_iter().flatten().copied().collect();
        kept.sort_by_key(|point| point.0);
        kept.dedup();
        out.append(&mut kept);
    }
    out
}

/// Each piece with few points of a column; where there are gaps beside nearly every sample, points that stand alone. `alone`: they do anyway.
fn lessened(pieces: Vec<Points>, axis: (i64, i64), alone: bool) -> (Vec<Points>, bool) {
    let width = (axis.1.saturating_sub(axis.0) / COLUMNS).max(1);
    let each: Vec<Points> = pieces.iter().map(|piece| reduce(piece, width)).collect();
    if !alone && each.iter().map(Vec::len).sum::<usize>() <= MOST_POINTS {
        return (each, true);
    }
    let all: Points = pieces.into_iter().flatten().collect();
    (vec![reduce(&all, width)], false)
}

fn moves(line: &PlotLine) -> bool {
    let mut values = line.pieces.iter().flatten().map(|point| point.1);
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// What tells lines apart: endpoint and labels in which they differ.
fn names(captured: &Captured<'_>, ids: &[SeriesId]) -> Vec<String> {
    let capture = captured.capture();
    let series: Vec<_> = ids.iter().filter_map(|id| capture.get(*id)).collect();
    let labels: BTreeSet<&str> = series.iter().flat_map(|s| s.labels.iter().map(|(name, _)| name)).collect();
    let differs = |label: &&str| series.iter().any(|s| s.labels.get(label) != series.first().and_then(|f| f.labels.get(label)));
    let telling: Vec<&str> = labels.into_iter().filter(differs).collect();
    let several = series.iter().any(|s| Some(s.endpoint) != series.first().map(|f| f.endpoint));
    let name = |s: &&corr_metrics::model::Series| {
        let target = capture.endpoint(s.endpoint).map(title).unwrap_or_default();
        let own = telling.iter().filter_map(|label| Some(format!("{label}={}", s.labels.get(label)?)));
        let parts: Vec<String> = Some(target).filter(|t| !t.is_empty() && (several || telling.is_empty())).into_iter().chain(own).collect();
        if parts.is_empty() { s.name.seen().to_string() } else { parts.join(" ") }
    };
    series.iter().map(name).collect()
}

/// Starts, instants of readiness, stops and failures of the timeline; of those of one name in one column the first.
fn marks(timeline: &Timeline, axis: (i64, i64)) -> Vec<PlotMark> {
    let width = (axis.1.saturating_sub(axis.0) / COLUMNS).max(1);
    let mut marks: Vec<PlotMark> = Vec::new();
    for row in &timeline.rows {
        let (Some(name), Some((at, _))) = (row.mark, row.span) else { continue };
        let told = marks.iter().rev().any(|mark| mark.name == name && mark.at.div_euclid(width) == at.div_euclid(width));
        if !told && !matches!(name, "members" | "phase" | "verdict") && marks.len() < MARKS {
            marks.push(PlotMark { at, name, words: format!("{} {} {}", row.time, row.who, row.kind) });
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: &[(i64, f64)]) -> Vec<Sample> {
        of.iter().map(|(at, value)| Sample { at: *at, value: *value }).collect()
    }

    #[test]
    fn nothing_was_scraped_where_no_endpoint_was() {
        let gaps = |all: &[(i64, i64, &str)]| all.iter().map(|(from, to, cause)| (*from, *to, cause.to_string())).collect::<Vec<_>>();
        let a = gaps(&[(0, 10, "late"), (20, 50, "failed"), (60, 61, "late")]);
        let b = gaps(&[(5, 25, "late"), (30, 40, "late"), (45, 60, "failed")]);
        let both = [(5, 10, "late"), (20, 25, "failed / late"), (30, 40, "failed / late"), (45, 50, "failed")];
        assert_eq!(in_both(&a, &b), gaps(&both));
        assert_eq!(in_both(&a, &[]), gaps(&[]));
        // A third one with one gap over all of it changes nothing, and says no cause twice.
        assert_eq!(in_both(&gaps(&both), &gaps(&[(0, 100, "late")]))[1], (20, 25, "failed / late".to_string()));
    }

    #[test]
    fn a_gap_is_not_joined() {
        let found = values(&samples(&[(0, 1.0), (10, 2.0), (50, 3.0), (60, f64::NAN), (70, 4.0)]), 20);
        assert_eq!(found, [vec![(0, 1.0), (10, 2.0)], vec![(50, 3.0)], vec![(70, 4.0)]]);
    }

    #[test]
    fn a_counter_that_fell_is_not_joined() {
        let second = 1_000_000_000;
        let found = steps(&samples(&[(0, 10.0), (second, 12.0), (2 * second, 1.0), (3 * second, 4.0), (9 * second, 5.0)]), 2 * second);
        assert_eq!(found, (vec![vec![(0, 2.0), (second, 2.0)], vec![(2 * second, 3.0), (3 * second, 3.0)]], false));
    }

    #[test]
    fn a_rate_that_no_number_holds_is_said_not_drawn() {
        let second = 1_000_000_000;
        // 1e308 within a millisecond are 1e311 a second; 1e308 within a second are a number.
        let found = steps(&samples(&[(0, 0.0), (second / 1_000, 1e308), (second, 1e308), (2 * second, 1.5e308)]), 2 * second);
        assert_eq!(found, (vec![vec![(second / 1_000, 0.0), (second, 0.0), (second, 5e307), (2 * second, 5e307)]], true));
        assert_eq!(steps(&samples(&[(0, -1e308), (second, 1e308)]), 2 * second), (vec![], true));
        assert_eq!(steps(&samples(&[(0, 0.0), (second, f64::INFINITY)]), 2 * second), (vec![], false), "that is no rate of samples");
    }

    #[test]
    fn reduced_points_keep_the_least_and_the_greatest() {
        let points: Points = (0..1_000)
            .map(|i| {
                (
                    i,
                    if i == 417 {
                        -5.0
                    } else if i == 433 {
                        99.0
                    } else {
                        1.0
                    },
                )
            })
            .collect();
        let found = reduce(&points, 100);
        assert_eq!(found.len(), 10 * 2 + 2);
        assert!(found.contains(&(417, -5.0)) && found.contains(&(433, 99.0)));
        assert!(found.is_sorted_by_key(|p| p.0) && found.first() == Some(&(0, 1.0)) && found.last() == Some(&(999, 1.0)));
    }
}
