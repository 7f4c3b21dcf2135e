//! The unit that the name of a field or a series says.

/// A unit as a word, and as it stands behind a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    pub word: &'static str,
    pub sign: &'static str,
}

const fn unit(word: &'static str, sign: &'static str) -> Unit {
    Unit { word, sign }
}

/// Endings of names over all formats and exporters; the first that fits counts.
const ENDINGS: &[(&str, Unit)] = &[
    ("_gb_s", unit("GB per second", "GB/s")),
    ("_mb_s", unit("MB per second", "MB/s")),
    ("_ms", unit("milliseconds", "ms")),
    ("_us", unit("microseconds", "us")),
    ("_ns", unit("nanoseconds", "ns")),
    ("_seconds", unit("seconds", "s")),
    ("_secs", unit("seconds", "s")),
    ("_sec", unit("seconds", "s")),
    ("_s", unit("seconds", "s")),
    ("_bytes", unit("bytes", "bytes")),
    ("_gb", unit("GB", "GB")),
    ("_mb", unit("MB", "MB")),
    ("_tokens", unit("tokens", "tokens")),
    ("_blocks", unit("blocks", "blocks")),
    ("_requests", unit("requests", "requests")),
    ("_reqs", unit("requests", "requests")),
    ("_pct", unit("percent", "percent")),
    ("_percent", unit("percent", "percent")),
    ("_ratio", unit("share", "ratio")),
    ("token_usage", unit("share", "ratio")),
    ("mamba_usage", unit("share", "ratio")),
    ("pre_allocated_usage", unit("share", "ratio")),
    ("_hit_rate", unit("share", "ratio")),
    ("gen_throughput", unit("tokens per second", "tokens/s")),
    ("input_throughput", unit("tokens per second", "tokens/s")),
];

/// The unit of a name; `None` where it says none. What is counted up (`_total`) has the unit of what is counted.
pub fn of_name(name: &str) -> Option<Unit> {
    let name = name.strip_suffix("_total").unwrap_or(name);
    let says =
        |ending: &str| name.ends_with(ending) || matches!(name, "tokens" | "bytes" | "blocks") && ending.strip_prefix('_') == Some(name);
    ENDINGS.iter().find(|(ending, _)| says(ending)).map(|(_, unit)| *unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_units() {
        let said = |name| of_name(name).map(|unit| (unit.word, unit.sign));
        for (name, word, sign) in [
            ("ttft_ms", "milliseconds", "ms"),
            ("sglang:time_to_first_token_seconds", "seconds", "s"),
            ("process_cpu_seconds_total", "seconds", "s"),
            ("transfer_speed_gb_s", "GB per second", "GB/s"),
            ("sglang:token_usage", "share", "ratio"),
            ("cache_hit_rate", "share", "ratio"),
            ("sglang:prompt_tokens_total", "tokens", "tokens"),
            ("sglang:num_running_reqs", "requests", "requests"),
            ("gen_throughput", "tokens per second", "tokens/s"),
            ("tokens", "tokens", "tokens"),
        ] {
            assert_eq!(said(name), Some((word, sign)), "{name}");
        }
        // A rate of requests by second, a port, an id.
        for name in ["request_rate", "port", "rid", "request_throughput", "s"] {
            assert_eq!(said(name), None, "{name}");
        }
    }
}
