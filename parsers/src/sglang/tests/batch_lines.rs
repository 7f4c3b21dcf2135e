//! Every periodic line of every version, names and values.

use super::parse_line;
use crate::event::Value;

/// What the stub inputs of the fixture print, the canonical name and the value. `printed` is matched between separators.
const PRINTED: &[(&str, &str, Value<'static>)] = &[
    ("#new-seq: 1", "new_seqs", Value::Int(1)),
    ("#new-token: 1024", "new_tokens", Value::Int(1024)),
    ("#cached-token: 2048", "cached_tokens", Value::Int(2048)),
    ("#token: 21504", "tokens", Value::Int(21504)),
    ("token usage: 0.12", "token_usage", Value::Float(0.12)),
    ("#token: full=21504, swa=4096", "full_tokens", Value::Int(21504)),
    ("#token: full=21504, swa=4096", "swa_tokens", Value::Int(4096)),
    ("token usage: full=0.12, swa=0.06", "full_token_usage", Value::Float(0.12)),
    ("token usage: full=0.12, swa=0.06", "swa_token_usage", Value::Float(0.06)),
    ("#full token: 21504", "full_tokens", Value::Int(21504)),
    ("full token usage: 0.12", "full_token_usage", Value::Float(0.12)),
    ("#swa token: 4096", "swa_tokens", Value::Int(4096)),
    ("swa token usage: 0.06", "swa_token_usage", Value::Float(0.06)),
    ("mamba num: 12", "mamba_num", Value::Int(12)),
    ("mamba usage: 0.19", "mamba_usage", Value::Float(0.19)),
    ("#gpu token: 8192", "gpu_tokens", Value::Int(8192)),
    ("gpu token usage: 0.25", "gpu_token_usage", Value::Float(0.25)),
    ("#cpu token: 65536", "cpu_tokens", Value::Int(65536)),
    ("cpu token usage: 0.50", "cpu_token_usage", Value::Float(0.5)),
    ("#running-req: 8", "running_reqs", Value::Int(8)),
    ("#queue-req: 3", "queue_reqs", Value::Int(3)),
    ("#pending-token: 0", "pending_tokens", Value::Int(0)),
    ("#unbootstrapped-req: 2", "unbootstrapped_reqs", Value::Int(2)),
    ("#transferring-req: 1", "transferring_reqs", Value::Int(1)),
    ("#prealloc-req: 1", "prealloc_reqs", Value::Int(1)),
    ("#prealloc-req: 2", "prealloc_reqs", Value::Int(2)),
    ("#bootstrap-req: 2", "bootstrap_reqs", Value::Int(2)),
    ("#inflight-req: 1", "inflight_reqs", Value::Int(1)),
    ("#optimistic-req: 0", "optimistic_reqs", Value::Int(0)),
    ("#transfer-req: 4", "transfer_reqs", Value::Int(4)),
    ("#host-receive-req: 0", "host_receive_reqs", Value::Int(0)),
    ("#retracted-req: 0", "retracted_reqs", Value::Int(0)),
    ("pre-allocated usage: 0.03", "pre_allocated_usage", Value::Float(0.03)),
    ("accept len: 2.10", "accept_len", Value::Float(2.1)),
    ("accept rate: 0.53", "accept_rate", Value::Float(0.53)),
    ("accept rate: 0.37", "accept_rate", Value::Float(0.37)),
    ("cuda graph: True", "cuda_graph", Value::Bool(true)),
    ("cuda graph: False", "cuda_graph", Value::Bool(false)),
    ("input throughput (token/s): 1234.50", "input_throughput", Value::Float(1234.5)),
    ("gen throughput (token/s): 1234.50", "gen_throughput", Value::Float(1234.5)),
    ("largest-len: 4133", "largest_len", Value::Int(4133)),
    ("time: 0.50", "time_s", Value::Float(0.5)),
];

const TIMESTAMP: &str = "2025-07-12T10:00:00.123456";

#[test]
fn every_version_gives_the_same_names() {
    let mut lines = 0;
    for row in include_str!("../batch_lines.txt").lines().filter(|row| !row.starts_with('#')) {
        let (_, line) = row.split_once('\t').expect("a version range and a line");
        let line = line.strip_suffix('|').expect("the end mark");
        let line = line.replace("(token/s): N", "(token/s): 1234.50").replace("<ISO>", TIMESTAMP);
        let record = format!("[2026-05-20 08:30:03 DP1 TP0] {line}");
        let event = parse_line(&record);
        let prefill = line.starts_with("Prefill");
        assert_eq!(event.kind.name, if prefill { "prefill_batch" } else { "decode_batch" }, "{line}");
        let mut want: Vec<(&str, Value<'_>)> = vec![("dp_rank", Value::Int(1)), ("tp_rank", Value::Int(0))];
        let mut rest = line.as_str();
        for tag in [813, 812] {
            if rest.contains(&format!("[{tag}]")) {
                want.push(("iteration", Value::Int(tag)));
            }
        }
        rest = &rest[rest.find('#').expect("a first item")..];
        let bounded = format!(", {}, ", rest.trim_end_matches([' ', ',']));
        for (printed, name, value) in PRINTED {
            if bounded.contains(&format!(", {printed}, ")) {
                want.push((name, value.clone()));
            }
        }
        if bounded.contains("timestamp: ") {
            want.push(("timestamp", Value::Str(TIMESTAMP.into())));
        }
        // Nothing that the line prints is missing from the table above.
        let printed = bounded.matches(": ").count() + bounded.matches("swa=").count();
        assert_eq!(printed + 2 + usize::from(line.contains('[')), want.len(), "{line}");
        let mut got: Vec<(&str, Value<'_>)> = event.fields.iter().map(|f| (f.name.as_ref(), f.value.clone())).collect();
        let by_name = |a: &(&str, Value<'_>), b: &(&str, Value<'_>)| a.0.cmp(b.0);
        got.sort_by(by_name);
        want.sort_by(by_name);
        assert_eq!(got, want, "{line}");
        assert!(event.columnar && event.note.is_none(), "{line}");
        lines += 1;
    }
    assert_eq!(lines, 124);
}

#[test]
fn optional_tails() {
    let event = parse_line(
        "[2026-11-20 19:46:04.125 TP0] Decode batch, #running-req: 9, #token: 52279, token usage: -0.01, accept len: 2.10, accept rate: 0.37, \
         cap len: 3.00, block accept len: 1.50, npu graph: True, gen throughput (token/s): 0.05, #queue-req: 7, \
         est. decode TFLOPS/s (per GPU): 41.20, est. read BW (GB/s per GPU): 1200.00, est. write BW (GB/s per GPU): 3.00, \
         fwd occupancy: 97.25%, fwd+idle occupancy: 100.00%",
    );
    let want = [
        ("token_usage", Value::Float(-0.01)),
        ("cap_len", Value::Float(3.0)),
        ("block_accept_len", Value::Float(1.5)),
        ("npu_graph", Value::Bool(true)),
        ("est_decode_tflops_s_per_gpu", Value::Float(41.2)),
        ("est_read_bw_gb_s_per_gpu", Value::Float(1200.0)),
        ("est_write_bw_gb_s_per_gpu", Value::Float(3.0)),
        ("fwd_occupancy_percent", Value::Float(97.25)),
        ("fwd_idle_occupancy_percent", Value::Float(100.0)),
    ];
    for (name, value) in want {
        assert_eq!(event.get(name), Some(&value), "{name}");
    }
    assert!(event.columnar);
    let raw = event.fields.iter().find(|f| f.name == "fwd_idle_occupancy_percent").map(|f| f.raw.as_ref());
    assert_eq!(raw, Some("fwd+idle occupancy"));
    let old =
        parse_line("[10:02:03 TP0] Prefill batch. #new-seq: 1, #new-token: 7, #cached-token: 3, cache hit rate: 2.76%, token usage: 0.01");
    assert_eq!(old.get("cache_hit_rate_percent"), Some(&Value::Float(2.76)));
    assert_eq!((old.stamp, old.columnar), (None, false));
}

#[test]
fn unknown_keys_are_kept_and_not_columnar() {
    let event =
        parse_line("[2026-11-20 19:46:04] Prefill batch, #new-seq: 2, #shiny-new-key (x/s): 7, waiting-image-req: 1, #replay-token: 5");
    assert_eq!(event.get("shiny_new_key_x_s"), Some(&Value::Int(7)));
    assert_eq!(event.get("waiting_image_reqs"), Some(&Value::Int(1)));
    assert_eq!(event.get("replay_tokens"), Some(&Value::Int(5)));
    assert!(!event.columnar);
}

#[test]
fn a_line_with_its_middle_eaten_keeps_what_is_whole() {
    // A pager's copy (sglang pull 25960).
    let event = parse_line("[2026-05-20 08:30:03 TP0] Prefill batch, #new-seq: 1, #cached-tounning-req: 8, #queue-req: 3, input thr");
    assert_eq!(event.kind.name, "prefill_batch");
    assert_eq!(event.get("new_seqs"), Some(&Value::Int(1)));
    assert_eq!(event.get("queue_reqs"), Some(&Value::Int(3)));
    assert!(!event.columnar && event.note.is_some());
}
