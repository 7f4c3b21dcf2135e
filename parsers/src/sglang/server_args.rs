//! The configuration that a server prints once at its start: `server_args=ServerArgs(k=v, …)` (to 0.5.18) or
//! `server_args={'k': v, …}` (from 0.5.19). One such line is one incarnation of the process.

use super::kinds;
use super::values::{self, Items};
use crate::event::{Event, Secret};

/// The arguments that become fields; the rest stay in the text.
const FIELDS: &[&str] = &[
    "model_path",
    "served_model_name",
    "host",
    "port",
    "grpc_port",
    "nccl_port",
    "tp_size",
    "dp_size",
    "pp_size",
    "ep_size",
    "attn_cp_size",
    "moe_dp_size",
    "nnodes",
    "node_rank",
    "dist_init_addr",
    "enable_dp_attention",
    "device",
    "dtype",
    "quantization",
    "kv_cache_dtype",
    "context_length",
    "page_size",
    "mem_fraction_static",
    "max_total_tokens",
    "max_running_requests",
    "max_queued_requests",
    "max_prefill_tokens",
    "chunked_prefill_size",
    "enable_mixed_chunk",
    "schedule_policy",
    "schedule_conservativeness",
    "decode_log_interval",
    "stream_interval",
    "disable_radix_cache",
    "radix_eviction_policy",
    "enable_hierarchical_cache",
    "hicache_ratio",
    "hicache_size",
    "hicache_write_policy",
    "hicache_io_backend",
    "hicache_mem_layout",
    "hicache_storage_backend",
    "hicache_storage_prefetch_policy",
    "hicache_buffer_mode",
    "enable_lmcache",
    "disaggregation_mode",
    "disaggregation_transfer_backend",
    "disaggregation_bootstrap_port",
    "disaggregation_ib_device",
    "disaggregation_decode_enable_offload_kvcache",
    "kv_events_config",
    "speculative_algorithm",
    "speculative_num_steps",
    "speculative_num_draft_tokens",
    "attention_backend",
    "disable_cuda_graph",
    "disable_overlap_schedule",
    "skip_server_warmup",
    "watchdog_timeout",
    "log_level",
    "log_level_http",
    "log_requests",
    "log_requests_level",
    "log_requests_format",
    "log_requests_target",
    "enable_metrics",
    "enable_metrics_for_all_schedulers",
    "enable_request_time_stats_logging",
    "export_metrics_to_file",
    "export_metrics_to_file_dir",
    "enable_cache_report",
    "enable_trace",
    "otlp_traces_endpoint",
    "oltp_traces_endpoint",
    "crash_dump_folder",
    "tokenizer_worker_num",
    "enable_priority_scheduling",
    "random_seed",
];

/// Reads the line; `message` begins with `server_args=`.
pub fn parse<'a>(message: &'a [u8], event: &mut Event<'a>) {
    event.kind = &kinds::SERVER_ARGS;
    let at = event.message.start;
    let after = b"server_args=".len();
    let open = if message.get(after) == Some(&b'{') {
        after
    } else {
        after + memchr::memchr(b'(', &message[after..message.len().min(after + 64)]).unwrap_or(message.len())
    };
    let mut items = Items::new(message, open);
    while let Some(item) = items.next() {
        let key = &message[item.key.clone()];
        let value = &message[item.value.clone()];
        if is_credential(key, value) {
            event.withhold(at + item.value.start..at + item.value.end, Secret::Credential, "credential");
            continue;
        }
        let Some(name) = FIELDS.iter().find(|name| name.as_bytes() == key) else { continue };
        if let Some(typed) = values::scalar(value, 400) {
            event.field(name, *name, typed);
        }
    }
    if items.end.is_none() {
        event.note = Some("truncated");
    }
}

/// Is the value of this argument a secret? `None`, numbers and booleans are not.
fn is_credential(key: &[u8], value: &[u8]) -> bool {
    if !value.iter().any(|b| matches!(b, b'\'' | b'"')) {
        return false;
    }
    let Ok(key) = std::str::from_utf8(key) else { return false };
    let named = ["api_key", "password", "secret", "credential"].iter().any(|word| key.contains(word)) || key.ends_with("_token");
    // Free-form configuration (`hicache_storage_backend_extra_config`) may carry keys of its own.
    named || (key.ends_with("_config") && holds_secret(value))
}

fn holds_secret(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    [&b"password"[..], b"secret", b"api_key", b"access_key", b"token\""].iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}
