//! Latency and cache figures: of captures by their histograms and counters, of logs by the fields of their records, and shares of tokens.

use corr_metrics::known::LOG;
use corr_metrics::model::Kind;
use corr_metrics::select::Selector;
use corr_metrics::window::histogram;

use super::cites::first_record;
use super::model::{Cite, FigureRow, Figures};
use super::pipeline::record;
use super::{Ask, Base, window_flags};
use crate::evidence::{Evidence, Judged};
use crate::metrics::asked::{Asked, Captured, Hit};
use crate::metrics::figures::{self, Figure, Histogram, QUANTILES};
use crate::metrics::span::Span;
use crate::render::evidence::{figure, shell};
use crate::render::metrics::Row;

/// Figures that are shown.
const MOST: usize = 120;
/// Fields of log records that are times.
const FIELDS: &[&str] = &[
    "ttft_ms",
    "latency_ms",
    "duration_ms",
    "avg_itl_ms",
    "itl_ms",
    "request_latency",
    "e2e_latency",
    "queue_time",
    "inter_token_latency",
    "inter_chunk_latency",
    "time_to_first_token",
    "total_time_ms",
    "e2e_s",
    "ttft_s",
    "latency_s",
];
const TIMES: &[&str] = &[
    "latency",
    "first_token",
    "ttft",
    "inter_token",
    "itl",
    "duration_seconds",
    "queue_time",
    "queue_seconds",
    "time_per_output",
    "_wait_seconds",
];
const CACHE: &[&str] = &["cached", "hit", "evict", "prefetch", "backup", "load_back", "hicache", "kvbm", "cache"];
const LOAD: &[&str] = &["requests_total", "prompt_tokens_total", "generation_tokens_total", "num_retracted_requests_total", "num_aborted"];

/// Fields of log records of which figures are made.
pub fn fields() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().copied()
}

/// What a family is about, if it is about one of these.
fn about(name: &str, kind: Kind) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let observed = matches!(kind, Kind::Histogram | Kind::Summary);
    match kind {
        Kind::Histogram | Kind::Summary if has(TIMES) => Some("latency"),
        Kind::Counter if has(LOAD) => Some("load"),
        Kind::Counter if has(CACHE) => Some("cache"),
        _ if observed && has(CACHE) => Some("cache"),
        Kind::Gauge if name.contains("hit_rate") => Some("cache"),
        _ => None,
    }
}

/// All of them.
pub fn of(base: Base<'_>, logged: &Asked<'_>, evidence: &Evidence<'_>, judged: &Judged, ask: &Ask) -> Figures {
    let mut found = Figures::default();
    for share in &judged.shares {
        let quotient = if share.below > 0.0 { format!("{:.3}", share.above / share.below) } else { "no tokens".into() };
        found.rows.push(FigureRow {
            about: "cache",
            name: share.of.id.clone(),
            words: format!("{quotient} = {} of {} tokens, {} requests", figure(share.above), figure(share.below), share.requests),
            says: share.of.says.clone(),
            cites: share.cites.iter().map(|c| record(evidence, *c)).collect(),
        });
    }
    for one in &judged.comparisons {
        let conflict = if one.of.independent && one.agree < one.requests { "conflict: " } else { "" };
        found.rows.push(FigureRow {
            about: "cache",
            name: one.of.id.clone(),
            words: format!(
                "{conflict}{} of {} requests agree ({} against {})",
                one.agree,
                one.requests,
                figure(one.left),
                figure(one.right)
            ),
            says: one.of.says.clone(),
            cites: one.cites.iter().map(|c| record(evidence, *c)).collect(),
        });
    }
    let selectors: Vec<Selector> = FIELDS.iter().filter_map(|field| Selector::parse(&format!("{LOG}{field}")).ok()).collect();
    let of_logs = logged.hits(&selectors).into_iter().map(|hit| ("latency", hit));
    let of_captures = base.captures.hits(&[]).into_iter().filter_map(|hit| Some((about(&hit.group.name, hit.group.typed.kind)?, hit)));
    let mut hits: Vec<(&'static str, Hit<'_>)> = of_logs.chain(of_captures).collect();
    hits.sort_by_key(|(about, _)| order(about));
    for (about, hit) in hits {
        // A figure for which there is no room is not worked out.
        if found.rows.len() < MOST {
            add(base, &hit, about, ask, &mut found);
        } else {
            found.left_out += 1;
        }
    }
    found.left_out += found.rows.len().saturating_sub(MOST) as u64;
    found.rows.truncate(MOST);
    found.rows.sort_by_key(|row| order(row.about));
    found
}

fn order(about: &str) -> usize {
    ["latency", "cache", "load"].iter().position(|known| *known == about).unwrap_or(usize::MAX)
}

/// A histogram in which nothing was observed here.
fn silent(figure: &Figure) -> bool {
    match figure {
        Figure::Histogram(Histogram { answer: histogram::Answer::Answered(found), .. }) => {
            found.buckets.last().is_none_or(|bucket| bucket.cumulative.count <= 0.0)
        }
        _ => false,
    }
}

/// The window that a figure is computed over, as flags: without any `corr metrics` lists samples, and the run's own ends are those of its logs.
fn computed_over(captured: &Captured<'_>, ask: &Ask) -> String {
    match ask.closed.or_else(|| captured.span_utc()) {
        None => " --since start --until end".into(),
        window => window_flags(window),
    }
}

fn add(base: Base<'_>, hit: &Hit<'_>, about: &'static str, ask: &Ask, found: &mut Figures) {
    let span = Span { since: ask.closed.map(|c| c.0), until: ask.closed.map(|c| c.1) };
    let Ok(placed) = span.on(hit.captured) else {
        found.left_out += 1;
        return;
    };
    for part in figures::of(hit, &placed, QUANTILES) {
        let row = Row { hit, placed, part, worker: None };
        if !row.answers() || silent(&row.part.figure) {
            found.left_out += 1;
            continue;
        }
        let spelled = row.part.series.first().filter(|_| row.part.series.len() == 1).map(|id| hit.captured.capture().spelled(*id));
        let asked = spelled.unwrap_or_else(|| format!("{}{}", hit.group.name, hit.member.labels));
        let open = format!("corr metrics {} {}{}", ask.given.words(), shell(&asked), computed_over(hit.captured, ask));
        found.rows.push(FigureRow {
            about,
            name: row.name(),
            words: row.brief(),
            says: hit.group.help.clone().unwrap_or_default(),
            cites: row.citation().map(|text| Cite { at: first_record(base, &text), text, open }).into_iter().collect(),
        });
    }
}
