//! Names that mean the same: without prefix, with another unit or ending, or as another version calls it.

use corr_metrics::model::canonical;

use super::known;

/// Renames between versions (SGLang 0.5.0 to 0.5.23, Dynamo 0.9 to 1.0), in both directions.
const RENAMED: &[(&str, &str)] = &[
    ("sglang:num_prefill_infight_queue_reqs", "sglang:num_prefill_inflight_queue_reqs"),
    ("sglang:num_prefill_prealloc_queue_reqs", "sglang:num_prefill_bootstrap_queue_reqs"),
    ("sglang:queue_time_s", "sglang:queue_time_seconds"),
    ("sglang:total_retracted_reqs", "sglang:num_retracted_reqs"),
    ("sglang:num_used_tokens", "sglang:kv_used_tokens"),
    ("sglang:gpu_execution_seconds_total", "sglang:forward_execution_seconds_total"),
    ("sglang:cache_config_info", "sglang:page_size"),
    ("sglang:cache_config_info", "sglang:num_pages"),
    ("sglang:engine_startup_time", "sglang:startup_time_seconds"),
    ("dynamo_component_kvstats_total_blocks", "dynamo_component_total_blocks"),
    ("dynamo_component_kvstats_gpu_cache_usage_percent", "dynamo_component_gpu_cache_usage_percent"),
];

/// Of some names those that are like one: renamed, or the same but for prefix, ending and case.
pub fn like<'n>(name: &str, among: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let core = core(name);
    let renamed = |other: &str| RENAMED.iter().any(|(a, b)| (*a, *b) == (name, other) || (*b, *a) == (name, other));
    let mut like: Vec<&str> = among.filter(|other| *other != name && (renamed(other) || self::core(other) == core)).collect();
    like.sort_unstable();
    like
}

/// The family of a series' name, where the table has it; else the name.
pub fn family(name: &str) -> &str {
    let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
    match base {
        Some(base) if known::of(name).is_none() && known::of(base).is_some() => base,
        _ => name,
    }
}

/// What is left without prefix and ending.
fn core(name: &str) -> String {
    let name = canonical(name).to_ascii_lowercase();
    let mut core = name.rsplit(':').next().unwrap_or(&name);
    for end in ["_bucket", "_sum", "_count", "_total", "_seconds", "_s", "_created"] {
        core = core.strip_suffix(end).unwrap_or(core);
    }
    core.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_prefix_ending_and_renames() {
        let there = ["sglang:cached_tokens_total", "sglang:queue_time_seconds", "sglang:num_prefill_bootstrap_queue_reqs", "up"];
        let of = |name: &str| like(name, there.iter().copied());
        assert_eq!(of("cached_tokens"), ["sglang:cached_tokens_total"]);
        assert_eq!(of("sglang:cached_tokens"), ["sglang:cached_tokens_total"]);
        assert_eq!(of("sglang:queue_time_s"), ["sglang:queue_time_seconds"]);
        assert_eq!(of("sglang:num_prefill_prealloc_queue_reqs"), ["sglang:num_prefill_bootstrap_queue_reqs"]);
        assert_eq!(of("sglang:evicted_tokens_total"), [""; 0]);
    }

    #[test]
    fn a_series_name_leads_to_its_family() {
        assert_eq!(family("sglang:time_to_first_token_seconds_bucket"), "sglang:time_to_first_token_seconds");
        assert_eq!(family("sglang:routing_key_running_req_count"), "sglang:routing_key_running_req_count");
    }
}
