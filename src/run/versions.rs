//! Which version of a program wrote a source, from what its records look like.
//!
//! Boundaries were found by comparing sampled releases: a boundary may be off by a release that
//! was not sampled. A hint bounds the version; it never names one.

use corr_parsers::event::Event;
use corr_parsers::ids::IdKind;
use corr_parsers::record::Record;
use memchr::memmem;

/// One thing that was seen and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    pub product: &'static str,
    /// First version that writes this.
    pub from: Option<&'static str>,
    /// Last version that writes this.
    pub to: Option<&'static str>,
    pub why: &'static str,
}

const fn hint(product: &'static str, from: &'static str, to: &'static str, why: &'static str) -> Hint {
    let from = if from.is_empty() { None } else { Some(from) };
    let to = if to.is_empty() { None } else { Some(to) };
    Hint { product, from, to, why }
}

const S: &str = "SGLang";
const D: &str = "Dynamo";

static BATCH_DOT: Hint = hint(S, "", "0.5.3.post3", "`Prefill batch.` with a full stop");
static BATCH_COMMA: Hint = hint(S, "0.5.4", "", "`Prefill batch,` with a comma");
static STATS_OLD: Hint = hint(S, "0.4.6", "0.5.11", "`Req Time Stats(`");
static STATS_NEW: Hint = hint(S, "0.5.12", "", "`ReqTimeStats(`");
static STATS_ATTEMPTS: Hint = hint(S, "0.5.16", "", "`attempts=` in ReqTimeStats");
static ARGS_CLASS: Hint = hint(S, "", "0.5.18", "`server_args=ServerArgs(`");
static ARGS_DICT: Hint = hint(S, "0.5.19", "", "`server_args={`");
static INIT_TORCH: Hint = hint(S, "", "0.5.20", "`Init torch distributed`");
static INIT_PARALLEL: Hint = hint(S, "0.5.21", "", "`Init parallel`");
static TIMINGS: Hint = hint(S, "0.5.17", "", "`Engine startup timings`");
static METRICS_FILE: Hint = hint(S, "0.5.5.post3", "", "a request metrics file");
static PREFETCH_WAIT: Hint = hint(S, "0.5.22", "", "`storage_prefetch_wait`");
static JSON_LOG: Hint = hint(S, "0.5.7", "", "a JSON request log");
static UNIFIED_CACHE: Hint = hint(S, "0.5.18", "", "`Init Unified Radix Cache.`");

static SELECTED_TEXT: Hint = hint(D, "0.6", "1.2", "`Selected worker: …` as text");
static SELECTED_FIELDS: Hint = hint(D, "1.3", "", "`Selected worker` with fields");
static SELECTED_ID: Hint = hint(D, "1.4", "", "`Selected worker` with a request id");
static RECEIVED: Hint = hint(D, "1.1", "", "`request received`");
static ROUTE_SPANS: Hint = hint(D, "1.5", "", "`route request …`");
static AFFINITY: Hint = hint(D, "1.6", "", "session affinity lines");
static ROUTING: Hint = hint(D, "1.0", "", "`[ROUTING]`");
static ROUTING_INPUT: Hint = hint(D, "1.1", "", "`[ROUTING_INPUT]`");
static LOWER_TIER: Hint = hint(D, "1.2", "", "lower-tier lookups");
static OVERLOADED: Hint = hint(D, "1.3", "", "`all eligible workers are overloaded`");
static RESIDENCY: Hint = hint(D, "1.5", "", "`residency_domain` in KV events");
static SPANS_ALWAYS: Hint = hint(D, "0.6", "0.8", "`SPAN_CREATED`");
static TRACE: Hint = hint(D, "1.3", "", "schema dynamo.request.trace.v1");
static TRACE_PAYLOAD: Hint = hint(D, "1.4", "", "`request_payload` rows");
static TRACE_TRIGGER: Hint = hint(D, "1.5", "", "`input_trigger` in trace rows");
static AGENT_TRACE: Hint = hint(D, "1.2", "1.2", "schema dynamo.agent.trace.v1");
static AUDIT: Hint = hint(D, "0.6", "1.3", "audit records of version 1");

/// The hint that a record gives, if any. Cheap enough for every record, and asked of the first few of each kind.
pub fn of(record: &Record<'_>, event: &Event<'_>) -> Option<&'static Hint> {
    let format = record.format.map_or("", |f| f.name);
    let has = |text: &[u8]| memmem::find(record.payload, text).is_some();
    let message = record.payload.get(event.message.clone()).unwrap_or_default();
    let dynamo = format.starts_with("dynamo");
    Some(match event.kind.name {
        "prefill_batch" if message.starts_with(b"Prefill batch.") => &BATCH_DOT,
        "prefill_batch" if message.starts_with(b"Prefill batch,") => &BATCH_COMMA,
        "request_time_stats" if message.starts_with(b"Req Time Stats(") => &STATS_OLD,
        "request_time_stats" if has(b", attempts=") => &STATS_ATTEMPTS,
        "request_time_stats" => &STATS_NEW,
        "server_args" if message.starts_with(b"server_args=ServerArgs(") => &ARGS_CLASS,
        "server_args" if message.starts_with(b"server_args={") => &ARGS_DICT,
        "init_begin" if message.starts_with(b"Init torch distributed begin") => &INIT_TORCH,
        "init_begin" if message.starts_with(b"Init parallel begin") => &INIT_PARALLEL,
        "startup_timings" => &TIMINGS,
        "request_metrics" if has(b"\"storage_prefetch_wait\"") => &PREFETCH_WAIT,
        "request_metrics" => &METRICS_FILE,
        "tree_cache" if message.starts_with(b"Init Unified Radix Cache.") => &UNIFIED_CACHE,
        "request_received" | "request_finished" if !dynamo && message.first() == Some(&b'{') => &JSON_LOG,
        "worker_selected" if message.starts_with(b"Selected worker:") => &SELECTED_TEXT,
        "worker_selected" if event.ids.iter().any(|id| id.kind == IdKind::RequestId) && has(b"logit") => &SELECTED_ID,
        "worker_selected" if has(b"router_mode") => &SELECTED_FIELDS,
        "request_received" | "worker_request_received" if dynamo => &RECEIVED,
        "route_completed" | "route_failed" | "route_cancelled" | "migration_retry" => &ROUTE_SPANS,
        "session_affinity" => &AFFINITY,
        "route_decision" => &ROUTING,
        "routing_input" => &ROUTING_INPUT,
        "lower_tier_lookup" => &LOWER_TIER,
        "scheduling_overloaded" => &OVERLOADED,
        "kv_event_recorded" if has(b"residency_domain") => &RESIDENCY,
        "span_created" => &SPANS_ALWAYS,
        "request_payload" if format == "dynamo-request-trace" => &TRACE_PAYLOAD,
        "request_end" if format == "dynamo-request-trace" && event.get("input_trigger").is_some() => &TRACE_TRIGGER,
        "request_end" if format == "dynamo-request-trace" => &TRACE,
        "request_end" if format == "dynamo-agent-trace" => &AGENT_TRACE,
        "audit_record" if format == "dynamo-audit" => &AUDIT,
        _ => return None,
    })
}

/// What the hints of one product say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub product: &'static str,
    pub from: Option<&'static str>,
    pub to: Option<&'static str>,
    /// The hints that set the bounds.
    pub why: Vec<&'static str>,
    /// The hints exclude each other: more than one version wrote this source.
    pub conflict: bool,
}

impl Range {
    /// `SGLang 0.5.19 to 0.5.20`, `Dynamo 1.5 or later`.
    pub fn text(&self) -> String {
        let product = self.product;
        match (self.from, self.to) {
            (Some(from), Some(to)) if self.conflict => format!("{product} of more than one version ({to} or earlier, and {from} or later)"),
            (Some(from), Some(to)) if from == to => format!("{product} {from}"),
            (Some(from), Some(to)) => format!("{product} {from} to {to}"),
            (Some(from), None) => format!("{product} {from} or later"),
            (None, Some(to)) => format!("{product} {to} or earlier"),
            (None, None) => product.to_string(),
        }
    }
}

/// Puts hints together, one range a product.
pub fn ranges(hints: &[&'static Hint]) -> Vec<Range> {
    let mut out: Vec<Range> = Vec::new();
    for product in [S, D] {
        let mine: Vec<&&Hint> = hints.iter().filter(|h| h.product == product).collect();
        if mine.is_empty() {
            continue;
        }
        let from = mine.iter().filter(|h| h.from.is_some()).max_by_key(|h| h.from.map(number));
        let to = mine.iter().filter(|h| h.to.is_some()).min_by_key(|h| h.to.map(number));
        let mut why: Vec<&'static str> = from.into_iter().chain(to).map(|h| h.why).collect();
        why.dedup();
        let (from, to) = (from.and_then(|h| h.from), to.and_then(|h| h.to));
        let conflict = from.zip(to).is_some_and(|(from, to)| number(from) > number(to));
        out.push(Range { product, from, to, why, conflict });
    }
    out
}

/// `0.5.3.post3` as numbers that compare.
fn number(version: &str) -> [u32; 4] {
    let mut out = [0; 4];
    for (slot, part) in out.iter_mut().zip(version.split('.')) {
        *slot = part.trim_start_matches("post").parse().unwrap_or(0);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_meet_and_conflicts_are_said() {
        let ranges_of = |hints: &[&'static Hint]| ranges(hints).iter().map(Range::text).collect::<Vec<_>>();
        assert_eq!(ranges_of(&[&ARGS_DICT, &INIT_TORCH, &BATCH_COMMA]), ["SGLang 0.5.19 to 0.5.20"]);
        assert_eq!(ranges_of(&[&BATCH_DOT]), ["SGLang 0.5.3.post3 or earlier"]);
        assert_eq!(ranges_of(&[&TRACE, &ROUTE_SPANS]), ["Dynamo 1.5 or later"]);
        assert_eq!(ranges_of(&[&STATS_OLD, &STATS_NEW]), ["SGLang of more than one version (0.5.11 or earlier, and 0.5.12 or later)"]);
        assert!(number("0.5.4") > number("0.5.3.post3"));
    }
}
