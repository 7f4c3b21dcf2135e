//! The names of event and span fields that Dynamo 0.6 to 1.6.1 prints, and what each means here.

/// What the value of a field is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A number, bool or word: typed by its text.
    Plain,
    /// Text even if it looks like a number.
    Text,
    /// Text that may name workers and requests: an error, a path, a struct that Debug printed.
    Prose,
    RequestId,
    XRequestId,
    TraceId,
    /// Only 16 hex digits are a span id; 0.6 printed a small counter under this name.
    SpanId,
    Session,
    ParentSession,
    /// The worker that the line speaks of.
    Worker,
    /// A worker in a part that the name says (`prefill_worker_id`): an id and, exact as text, a field.
    WorkerPart,
}

/// The canonical name and role of a field; `None` for names that are not listed.
pub fn known(raw: &str) -> Option<(&'static str, Role)> {
    let len = raw.len().min(LONGEST);
    let first = raw.as_bytes().first();
    let rows = &NAMES[BY_LEN[len]..BY_LEN[len + 1]];
    let found = rows.iter().find(|row| row.0.as_bytes().first() == first && row.0 == raw);
    found.map(|row| (row.1, row.2))
}

/// Is the value of this field an id?
pub fn names_id(raw: &str) -> bool {
    known(raw).is_some_and(|(_, role)| !matches!(role, Plain | Text | Prose))
}

/// Names of this length and more stand together at the end of the table.
const LONGEST: usize = 48;

/// Where in the table the names of each length begin: a lookup compares a few names only.
static BY_LEN: [usize; LONGEST + 2] = {
    let mut starts = [NAMES.len(); LONGEST + 2];
    let mut at = NAMES.len();
    while at > 0 {
        at -= 1;
        let len = NAMES[at].0.len();
        starts[if len < LONGEST { len } else { LONGEST }] = at;
    }
    // A length without names begins where the next one does.
    let mut len = LONGEST;
    while len > 0 {
        len -= 1;
        if starts[len] > starts[len + 1] {
            starts[len] = starts[len + 1];
        }
    }
    starts
};

use Role::*;

/// Sorted by length, then text, for the lookup. (name as printed, canonical name, role)
static NAMES: &[(&str, &str, Role)] = &[
    ("key", "key", Prose),
    ("new", "new", Plain),
    ("uri", "uri", Text),
    ("file", "file", Plain),
    ("line", "line", Plain),
    ("load", "load", Plain),
    ("mode", "mode", Plain),
    ("path", "path", Prose),
    ("class", "class", Text),
    ("error", "error", Prose),
    ("field", "field", Plain),
    ("group", "group", Text),
    ("logit", "logit", Plain),
    ("model", "model", Text),
    ("phase", "phase", Text),
    ("sinks", "sinks", Plain),
    ("topic", "topic", Text),
    ("actual", "actual", Plain),
    ("method", "method", Text),
    ("reason", "reason", Text),
    ("source", "source", Text),
    ("status", "status", Plain),
    ("address", "address", Text),
    ("dp_rank", "dp_rank", Plain),
    ("latency", "latency", Plain),
    ("members", "members", Plain),
    ("span_id", "span_id", SpanId),
    ("subject", "subject", Prose),
    ("ttft_ms", "ttft_ms", Plain),
    ("version", "version", Text),
    ("wait_ms", "wait_ms", Plain),
    ("capacity", "capacity", Plain),
    ("endpoint", "endpoint", Text),
    ("existing", "existing", Plain),
    ("expected", "expected", Plain),
    ("instance", "instance", Prose),
    ("lease_id", "lease_id", WorkerPart),
    ("log_type", "log_type", Text),
    ("protocol", "protocol", Text),
    ("trace_id", "trace_id", TraceId),
    ("ttl_secs", "ttl_secs", Plain),
    ("component", "component", Text),
    ("iteration", "iteration", Plain),
    ("namespace", "namespace", Text),
    ("otel.kind", "otel_kind", Text),
    ("parent_id", "parent_id", Text),
    ("span_name", "span_name", Text),
    ("transport", "transport", Text),
    ("tree_size", "tree_size", Plain),
    ("worker_id", "worker_id", Worker),
    ("avg_itl_ms", "avg_itl_ms", Plain),
    ("block_size", "block_size", Plain),
    ("diagnostic", "diagnostic", Text),
    ("elapsed_ms", "elapsed_ms", Plain),
    ("error.type", "error_type", Text),
    ("error_type", "error_type", Text),
    ("isl_tokens", "isl_tokens", Plain),
    ("latency_ms", "latency_ms", Plain),
    ("model_name", "model_name", Text),
    ("num_blocks", "num_blocks", Plain),
    ("request_id", "request_id", RequestId),
    ("session_id", "session_id", Session),
    ("tracestate", "tracestate", Text),
    ("audio_count", "audio_count", Plain),
    ("disk_blocks", "disk_blocks", Plain),
    ("drop_reason", "drop_reason", Text),
    ("endpoint_id", "endpoint_id", Text),
    ("event_count", "event_count", Plain),
    ("image_count", "image_count", Plain),
    ("instance_id", "instance_id", Worker),
    ("max_entries", "max_entries", Plain),
    ("observation", "observation", Text),
    ("router_mode", "router_mode", Text),
    ("trace_flags", "trace_flags", Text),
    ("video_count", "video_count", Plain),
    ("worker_type", "worker_type", Text),
    ("error_detail", "error_detail", Text),
    ("free_workers", "free_workers", Plain),
    ("input_tokens", "input_tokens", Plain),
    ("local_hashes", "local_hashes", Text),
    ("operation_id", "operation_id", Text),
    ("policy_class", "policy_class", Text),
    ("publisher_id", "publisher_id", Plain),
    ("queue_policy", "queue_policy", Text),
    ("request_type", "request_type", Text),
    ("storage_tier", "storage_tier", Text),
    ("time.busy_us", "time_busy_us", Plain),
    ("time.idle_us", "time_idle_us", Plain),
    ("total_blocks", "total_blocks", Plain),
    ("x_request_id", "x_request_id", XRequestId),
    ("active_leases", "active_leases", Plain),
    ("cached_blocks", "cached_blocks", Plain),
    ("endpoint_path", "endpoint_path", Prose),
    ("endpoint_role", "endpoint_role", Text),
    ("last_event_id", "last_event_id", Plain),
    ("output_tokens", "output_tokens", Plain),
    ("total_workers", "total_workers", Plain),
    ("classification", "classification", Text),
    ("from_worker_id", "from_worker_id", WorkerPart),
    ("kv_used_blocks", "kv_used_blocks", Plain),
    ("net_new_tokens", "net_new_tokens", Plain),
    ("num_operations", "num_operations", Plain),
    ("overlap_blocks", "overlap_blocks", Plain),
    ("overlap_tokens", "overlap_tokens", Plain),
    ("previous_stage", "previous_stage", Plain),
    ("candidate_count", "candidate_count", Plain),
    ("matched_workers", "matched_workers", Plain),
    ("queried_workers", "queried_workers", Plain),
    ("request.attempt", "request_attempt", Plain),
    ("request.outcome", "request_outcome", Text),
    ("total_kv_blocks", "total_blocks", Plain),
    ("decode_worker_id", "decode_worker_id", WorkerPart),
    ("dynamo.component", "dynamo_component", Text),
    ("endpoint_with_id", "endpoint_with_id", Prose),
    ("migration.reason", "migration_reason", Text),
    ("otel.status_code", "otel_status_code", Text),
    ("partial_response", "partial_response", Plain),
    ("time.duration_us", "time_duration_us", Plain),
    ("topology_domains", "topology_domains", Text),
    ("dynamo.request.id", "dynamo_request_id", RequestId),
    ("dynamo.session.id", "dynamo_session_id", Session),
    ("inflight_requests", "inflight_requests", Plain),
    ("overlap_worker_id", "overlap_worker_id", WorkerPart),
    ("parent_session_id", "parent_session_id", ParentSession),
    ("prefill_worker_id", "prefill_worker_id", WorkerPart),
    ("worker_overloaded", "worker_overloaded", Plain),
    ("dynamo.instance.id", "dynamo_instance_id", Text),
    ("host_pinned_blocks", "host_pinned_blocks", Plain),
    ("migration.is_retry", "migration_is_retry", Plain),
    ("overloaded_workers", "overloaded_workers", Plain),
    ("selected_worker_id", "selected_worker_id", WorkerPart),
    ("cancellation.signal", "cancellation_signal", Text),
    ("cancellation.source", "cancellation_source", Text),
    ("dynamo.operation.id", "dynamo_operation_id", Text),
    ("x_dynamo_request_id", "x_dynamo_request_id", RequestId),
    ("active_decode_blocks", "active_decode_blocks", Plain),
    ("dynamo.process.epoch", "dynamo_process_epoch", Plain),
    ("overloaded_instances", "overloaded_instances", Plain),
    ("active_prefill_tokens", "active_prefill_tokens", Plain),
    ("dynamo.lifecycle.mode", "dynamo_lifecycle_mode", Text),
    ("dynamo.operation.role", "dynamo_operation_role", Text),
    ("dynamo.session.source", "dynamo_session_source", Text),
    ("highest_overlap_blocks", "highest_overlap_blocks", Plain),
    ("dynamo.lifecycle.schema", "dynamo_lifecycle_schema", Text),
    ("effective_cached_blocks", "effective_cached_blocks", Plain),
    ("highest_overlap_dp_rank", "highest_overlap_dp_rank", Plain),
    ("otel.status_description", "otel_status_description", Text),
    ("represented_block_count", "represented_block_count", Plain),
    ("dynamo.lifecycle.profile", "dynamo_lifecycle_profile", Text),
    ("migration.from_worker_id", "migration_from_worker_id", WorkerPart),
    ("highest_overlap_worker_id", "highest_overlap_worker_id", WorkerPart),
    ("migration.tokens_completed", "migration_tokens_completed", Plain),
    ("selected_worker_overloaded", "selected_worker_overloaded", Plain),
    ("dynamo.request.terminal.error", "dynamo_request_terminal_error", Plain),
    ("active_decode_blocks_threshold", "active_decode_blocks_threshold", Plain),
    ("active_prefill_tokens_threshold", "active_prefill_tokens_threshold", Plain),
    ("dynamo.lifecycle.identity.state", "dynamo_lifecycle_identity_state", Text),
    ("dynamo.request.terminal.outcome", "dynamo_request_terminal_outcome", Text),
    ("active_prefill_tokens_threshold_frac", "active_prefill_tokens_threshold_frac", Plain),
    ("dynamo.request.terminal.timestamp_unix_ns", "dynamo_request_terminal_timestamp_unix_ns", Plain),
];

/// Every word of every name above and of the JSONL head, and how a missing value is printed, for the `words` of columnar kinds.
macro_rules! name_words {
    () => {
        "active actual address attempt audio avg block blocks busy cached cancellation candidate capacity class classification code completed component count decode description detail diagnostic disk domains dp drop duration dynamo effective elapsed endpoint entries epoch error event existing expected field file flags frac free from group hashes highest host id identity idle image inflight input instance instances is isl iteration itl key kind kv last latency lease leases level lifecycle line load local log logit matched max members message method migration mode model ms name namespace net new none ns null num observation operation operations otel outcome output overlap overloaded parent partial path phase pinned policy prefill previous process profile protocol publisher queried queue rank reason represented request requests response retry role router schema secs selected session signal sinks size some source span stage state status storage subject target terminal threshold tier time timestamp tokens topic topology total trace tracestate transport tree ttft ttl type unix uri us used version video wait with worker workers x"
    };
}
pub(super) use name_words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_their_words_listed() {
        for pair in NAMES.windows(2) {
            assert!((pair[0].0.len(), pair[0].0) < (pair[1].0.len(), pair[1].0), "{} {}", pair[0].0, pair[1].0);
        }
        let words: Vec<&str> = name_words!().split(' ').collect();
        for (raw, _, _) in NAMES {
            for word in raw.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()) {
                assert!(words.contains(&word), "{word} of {raw}");
            }
        }
        assert_eq!(known("error.type"), Some(("error_type", Text)));
        assert_eq!(known("nothing"), None);
        assert_eq!(known(&"x".repeat(100)), None);
        for (raw, name, role) in NAMES {
            assert_eq!(known(raw), Some((*name, *role)), "{raw}");
        }
    }
}
