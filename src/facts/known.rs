//! The facts that corr asks of a run: under which one name, in which group, of whom, and where it would be found.

use std::borrow::Cow;

/// Of whom a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// The run as a whole.
    Run,
    /// Every engine.
    Engine,
    /// Every SGLang server.
    Sglang,
    /// Every SGLang server that has HiCache on, or whose HiCache is unknown.
    Hicache,
    /// Every Dynamo frontend.
    Frontend,
    /// Every SGLang gateway.
    Gateway,
    /// Said only where it is used: not asked for.
    None,
}

/// One fact that has a name of corr's own.
#[derive(Debug)]
pub struct Known {
    pub name: &'static str,
    pub group: &'static str,
    /// Other spellings: arguments, options, keys; snake case.
    also: &'static [&'static str],
    pub of: Of,
    /// Where it would be found.
    pub needs: &'static str,
}

const ARGS: &str = "the `server_args=` line of the server's log, or its launch command";
const COMMAND: &str = "the launch command (`.command` files, direct-plan.json), or the process's own start lines";
const DUMP: &str = "the frontend's launch command, or CONFIG_DUMP in its log (DYN_LOG=debug)";
const GATEWAY: &str = "the gateway's `Starting router on …` line, or its launch command";
const CLIENT: &str = "the benchmark command (direct-plan.json, recipe, `.command` of its log), or the load generator's result file";
const PHASES: &str = "AIPerf's per-request records (`benchmark_phase`), or [windows] in corr.toml";

const fn known(name: &'static str, group: &'static str, also: &'static [&'static str], of: Of, needs: &'static str) -> Known {
    Known { name, group, also, of, needs }
}

/// All of them, in the order of output.
pub static KNOWN: &[Known] = &[
    known("run_name", "run", &[], Of::None, ""),
    known("job_id", "run", &[], Of::None, ""),
    known("role", "run", &[], Of::None, ""),
    known("incarnations", "run", &[], Of::Engine, "the lines that a process prints at its start, in its log"),
    known("expected_prefill_workers", "run", &[], Of::None, ""),
    known("expected_decode_workers", "run", &[], Of::None, ""),
    known("engine", "model", &["backend_type"], Of::None, ""),
    known("engine_type", "model", &[], Of::None, ""),
    known(
        "sglang_version",
        "model",
        &[],
        Of::Sglang,
        "the frameworks' versions in fingerprint_*.json or CONFIG_DUMP; a log only bounds it",
    ),
    known("dynamo_version", "model", &[], Of::Frontend, "CONFIG_DUMP in the frontend's log (DYN_LOG=debug); a log only bounds it"),
    known("model", "model", &["served_model_name", "model_name"], Of::Run, "the start lines or launch command of a server"),
    known("model_path", "model", &[], Of::Engine, COMMAND),
    known("dtype", "model", &[], Of::None, ""),
    known("quantization", "model", &[], Of::None, ""),
    known("kv_cache_dtype", "model", &[], Of::None, ""),
    known("context_length", "model", &["context_len", "max_model_len"], Of::None, ""),
    known("tp_size", "parallel", &["tp", "tensor_parallel_size"], Of::Sglang, ARGS),
    known("dp_size", "parallel", &["dp", "data_parallel_size"], Of::Sglang, ARGS),
    known("pp_size", "parallel", &["pp", "pipeline_parallel_size"], Of::Sglang, ARGS),
    known("ep_size", "parallel", &["ep", "expert_parallel_size"], Of::None, ""),
    known("nnodes", "parallel", &[], Of::None, ""),
    known("enable_dp_attention", "parallel", &[], Of::None, ""),
    known("disaggregation_mode", "disaggregation", &[], Of::Sglang, ARGS),
    known("disaggregation_transfer_backend", "disaggregation", &[], Of::None, ""),
    known("pd_disaggregation", "disaggregation", &[], Of::None, ""),
    known(
        "kv_pool_tokens",
        "kv cache",
        &["max_total_num_tokens"],
        Of::Engine,
        "`max_total_num_tokens=` or `KV Cache is allocated` in the server's log",
    ),
    known("kv_pool_blocks", "kv cache", &["num_gpu_blocks", "num_gpu_blocks_override"], Of::None, ""),
    known("host_blocks", "kv cache", &["num_host_blocks"], Of::None, ""),
    known("max_total_tokens", "kv cache", &[], Of::None, ""),
    known("page_size", "kv cache", &[], Of::Sglang, ARGS),
    known(
        "block_size",
        "kv cache",
        &["kv_cache_block_size", "trace_block_size"],
        Of::Frontend,
        "[ROUTING_INPUT] lines, or request trace rows",
    ),
    known("mem_fraction_static", "kv cache", &[], Of::None, ""),
    known("max_running_requests", "kv cache", &["max_num_seqs"], Of::None, ""),
    known("max_num_batched_tokens", "kv cache", &[], Of::None, ""),
    known("max_prefill_tokens", "kv cache", &[], Of::None, ""),
    known("chunked_prefill_size", "kv cache", &[], Of::None, ""),
    known("disable_radix_cache", "kv cache", &[], Of::None, ""),
    known("radix_eviction_policy", "kv cache", &[], Of::None, ""),
    known("tree_cache", "kv cache", &[], Of::None, ""),
    known("schedule_policy", "kv cache", &[], Of::None, ""),
    known("hicache", "hicache", &["enable_hierarchical_cache"], Of::Sglang, ARGS),
    known("hicache_attached", "hicache", &[], Of::None, ""),
    known("hicache_write_policy", "hicache", &[], Of::Hicache, ARGS),
    known("hicache_storage_backend", "hicache", &[], Of::Hicache, "`server_args=` where a backend is set; one may be attached at run time"),
    known("hicache_storage_prefetch_policy", "hicache", &[], Of::Hicache, ARGS),
    known(
        "hicache_prefetch_threshold",
        "hicache",
        &["prefetch_threshold"],
        Of::Hicache,
        "`prefetch_threshold` in hicache_storage_backend_extra_config, where it is set",
    ),
    known(
        "hicache_host_pool_tokens",
        "hicache",
        &[],
        Of::Hicache,
        "`Allocating … hierarchical KV host pool` in the server's log (0.5.17 and later)",
    ),
    known("hicache_ratio", "hicache", &[], Of::None, ""),
    known("hicache_size", "hicache", &[], Of::None, ""),
    known("router_mode", "router", &[], Of::Frontend, DUMP),
    known("router_policy", "router", &["policy"], Of::Gateway, GATEWAY),
    known("router_deployment", "router", &[], Of::None, ""),
    known("cache_threshold", "router", &[], Of::None, ""),
    known("balance_abs_threshold", "router", &[], Of::None, ""),
    known("balance_rel_threshold", "router", &[], Of::None, ""),
    known("eviction_interval_secs", "router", &[], Of::None, ""),
    known("max_tree_size", "router", &[], Of::None, ""),
    known("max_concurrent_requests", "router", &[], Of::None, ""),
    known("kv_overlap_score_weight", "router", &[], Of::None, ""),
    known("overlap_score_credit", "router", &[], Of::None, ""),
    known("overlap_score_credit_decay", "router", &[], Of::None, ""),
    known("host_cache_hit_weight", "router", &[], Of::None, ""),
    known("disk_cache_hit_weight", "router", &[], Of::None, ""),
    known("use_kv_events", "router", &["kv_events"], Of::None, ""),
    known("busy_rejection", "router", &[], Of::None, ""),
    known("migration_limit", "router", &[], Of::None, ""),
    known("session_affinity_mode", "router", &[], Of::None, ""),
    known("log_level", "signals", &[], Of::Sglang, ARGS),
    known("enable_metrics", "signals", &[], Of::Sglang, ARGS),
    known("enable_metrics_for_all_schedulers", "signals", &[], Of::None, ""),
    known("log_requests", "signals", &[], Of::Sglang, ARGS),
    known("log_requests_level", "signals", &[], Of::None, ""),
    known("log_requests_format", "signals", &[], Of::None, ""),
    known("log_requests_target", "signals", &[], Of::None, ""),
    known("enable_request_time_stats_logging", "signals", &[], Of::Sglang, ARGS),
    known("export_metrics_to_file", "signals", &[], Of::Sglang, ARGS),
    known("enable_cache_report", "signals", &[], Of::None, ""),
    known("enable_trace", "signals", &[], Of::None, ""),
    known("kv_events_config", "signals", &[], Of::None, ""),
    known("request_id_headers", "signals", &[], Of::None, ""),
    known(
        "request_trace",
        "signals",
        &[],
        Of::Frontend,
        "`Request trace initialized` in the frontend's log, or DYN_REQUEST_TRACE in its environment",
    ),
    known("request_trace_records", "signals", &[], Of::None, ""),
    known("request_trace_sinks", "signals", &[], Of::None, ""),
    known("request_trace_file_format", "signals", &[], Of::None, ""),
    known("request_trace_capacity", "signals", &[], Of::None, ""),
    known(
        "audit",
        "signals",
        &[],
        Of::Frontend,
        "`Audit initialized` (to 1.3) or the records of `Request trace initialized` (1.4 and later) in the frontend's log",
    ),
    known("otlp_export", "signals", &[], Of::None, ""),
    known("system_port", "signals", &[], Of::None, ""),
    known("DYN_LOG", "signals", &[], Of::Frontend, "the launch command's environment, or CONFIG_DUMP (DYN_LOG=debug)"),
    known("scrape_endpoints", "scrape", &[], Of::None, ""),
    known("scrape_frequency_hz", "scrape", &[], Of::None, ""),
    known("scrape_save_interval_secs", "scrape", &[], Of::None, ""),
    known("scrape_interval", "scrape", &[], Of::None, ""),
    known("scrape_job", "scrape", &[], Of::None, ""),
    known("load_command", "load", &[], Of::Run, CLIENT),
    known("load_type", "load", &[], Of::None, ""),
    known("load_concurrency", "load", &["concurrency", "conc", "max_concurrency", "concurrencies"], Of::Run, CLIENT),
    known("load_request_rate", "load", &["request_rate", "req_rate"], Of::Run, CLIENT),
    known("load_isl", "load", &["isl", "random_input_len", "input_len", "input_length", "synthetic_input_tokens_mean"], Of::Run, CLIENT),
    known("load_osl", "load", &["osl", "random_output_len", "output_len", "output_length", "output_tokens_mean"], Of::Run, CLIENT),
    known("load_requests", "load", &["num_prompts", "request_count", "num_requests"], Of::None, ""),
    known("load_warmup_requests", "load", &["num_warmups", "warmup_request_count", "num_warmup_requests"], Of::None, ""),
    known("warmup_requests", "windows", &[], Of::Run, PHASES),
    known("warmup_window", "windows", &[], Of::Run, PHASES),
    known("measured_requests", "windows", &[], Of::Run, PHASES),
    known("measured_window", "windows", &[], Of::Run, PHASES),
    known("benchmark_window", "windows", &[], Of::None, ""),
    known("teardown_window", "windows", &[], Of::None, ""),
    known(
        "benchmark_state",
        "windows",
        &[],
        Of::Run,
        "the driver's own output (`Benchmark completed`, `Sweep failed`: the direct runner's standard output, sweep_*.log), or a result file",
    ),
];

/// Groups in the order of output.
pub static GROUPS: &[&str] = &[
    "run",
    "model",
    "parallel",
    "disaggregation",
    "kv cache",
    "hicache",
    "router",
    "signals",
    "environment",
    "scrape",
    "deployment",
    "load",
    "windows",
];

/// Options that are no fact of their own but begin like some that are.
const PREFIXES: &[(&str, &str)] = &[
    ("router_", "router"),
    ("active_decode_blocks_", "router"),
    ("active_prefill_tokens_", "router"),
    ("kv_overlap_", "router"),
    ("hicache_", "hicache"),
    ("disaggregation_", "disaggregation"),
    ("speculative_", "model"),
];

/// Environment variables that switch signals, or change what a process does on the cache path.
const VARIABLES: &[&str] = &[
    "DYN_LOG",
    "DYN_REQUEST_TRACE",
    "DYN_AGENT_TRACE",
    "DYN_AUDIT",
    "DYN_ROUTER",
    "DYN_KVBM",
    "DYN_SYSTEM_PORT",
    "DYN_SYSTEM_ENABLED",
    "DYN_REQUEST_PLANE",
    "DYN_EVENT_PLANE",
    "DYN_DISCOVERY_BACKEND",
    "DYN_SDK_DISABLE_ANSI_LOGGING",
    "DYN_SKIP_SGLANG_LOG_FORMATTING",
    "OTEL_",
    "SGLANG_LOG",
    "SGLANG_HICACHE",
    "SGLANG_RUST_SERVER",
    "TZ",
];

/// Facts that differ between processes by their nature: no word of it.
const OWN: &[&str] = &["role", "incarnations", "disaggregation_bootstrap_port", "DYN_SYSTEM_PORT", "system_port"];

/// May workers of one role differ in it without being told apart by it?
pub fn differs_by_nature(name: &str) -> bool {
    OWN.contains(&name)
}

/// A process's argument, option or key as a fact: its name and group. `None` for what is no fact of corr's.
pub fn of_process(raw: &str) -> Option<(Cow<'static, str>, &'static str)> {
    let name = snake(raw);
    if let Some(known) =
        KNOWN.iter().find(|k| !matches!(k.group, "load" | "windows") && (k.name == name || k.also.contains(&name.as_str())))
    {
        return Some((known.name.into(), known.group));
    }
    // Addresses are no settings.
    let port = name.ends_with("_port") || name.ends_with("_ip") || name.ends_with("_host");
    let (_, group) = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)).filter(|_| !port)?;
    Some((name.into(), group))
}

/// An option of a load generator: one that is known, or any that is a number.
pub fn of_load(raw: &str, number: bool) -> Option<Cow<'static, str>> {
    let name = snake(raw);
    if let Some(known) = KNOWN.iter().find(|k| k.group == "load" && k.also.contains(&name.as_str())) {
        return Some(known.name.into());
    }
    (number && !name.ends_with("port")).then(|| format!("load_{name}").into())
}

/// Is this a variable that is a fact?
pub fn is_variable(name: &str) -> bool {
    !name.ends_with("_HOST")
        && VARIABLES.iter().any(|v| {
            name == *v || (name.starts_with(v) && (v.ends_with('_') || name.as_bytes().get(v.len()) == Some(&b'_') || *v == "DYN_LOG"))
        })
}

/// The group that a fact's name stands in.
pub fn group_of(name: &str) -> &'static str {
    if let Some(known) = KNOWN.iter().find(|k| k.name == name) {
        return known.group;
    }
    if name.starts_with("load_") {
        return "load";
    }
    if name.ends_with("_window") || name.ends_with("_requests") {
        return "windows";
    }
    if is_variable(name) {
        return "environment";
    }
    of_process(name).map_or("deployment", |(_, group)| group)
}

/// Where a fact stands in output: by group, then by the table, then by name.
pub fn place_of(name: &str) -> (usize, usize) {
    let group = group_of(name);
    let of_group = GROUPS.iter().position(|g| *g == group).unwrap_or(GROUPS.len());
    (of_group, KNOWN.iter().position(|k| k.name == name).unwrap_or(KNOWN.len()))
}

fn snake(raw: &str) -> String {
    raw.trim_start_matches('-').replace('-', "_").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_fact_have_one_name() {
        for raw in ["--served-model-name", "model_name", "model-name"] {
            assert_eq!(of_process(raw).expect("known").0, "model");
        }
        assert_eq!(of_process("--router-temperature").expect("by its beginning"), ("router_temperature".into(), "router"));
        assert_eq!(of_process("api-key"), None);
        assert_eq!(of_load("--max-concurrency", true).as_deref(), Some("load_concurrency"));
        assert_eq!(of_load("--think", true).as_deref(), Some("load_think"));
        assert_eq!(of_load("--out", false), None);
        assert!(
            is_variable("DYN_REQUEST_TRACE_RECORDS")
                && is_variable("DYN_LOGGING_JSONL")
                && !is_variable("DYN_FILE_KV")
                && !is_variable("TZX")
        );
    }

    #[test]
    fn every_group_has_a_place_and_every_question_an_answer() {
        for known in KNOWN {
            assert!(GROUPS.contains(&known.group), "{}", known.group);
            assert_eq!(known.of == Of::None, known.needs.is_empty(), "{}", known.name);
        }
    }
}
