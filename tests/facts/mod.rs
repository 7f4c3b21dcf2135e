//! `corr facts`: expectations are what grep and jq say of the same files.

use std::path::Path;

use serde_json::{Value, json};

use super::{case, copy, corr};

fn facts(arguments: &[&str]) -> Value {
    let mut all = vec!["facts", "--format", "json"];
    all.extend(arguments);
    let (code, out, err) = corr(&all);
    assert_eq!(code, 0, "{arguments:?}\n{err}");
    serde_json::from_str(&out).unwrap()
}

/// The values of a fact that a process has.
fn of(answer: &Value, name: &str, worker: &str) -> Vec<Value> {
    let rows = answer["facts"].as_array().unwrap().iter();
    let mine = |r: &&Value| r["name"] == name && r["workers"].as_array().unwrap().contains(&json!(worker));
    rows.filter(mine).map(|r| r["value"].clone()).collect()
}

/// The one row of a fact.
fn row<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let rows: Vec<&Value> = answer["facts"].as_array().unwrap().iter().filter(|r| r["name"] == name).collect();
    assert_eq!(rows.len(), 1, "{name}: {rows:?}");
    rows[0]
}

fn cites(of: &Value) -> Vec<String> {
    of["citations"].as_array().unwrap().iter().map(|c| c["at"].as_str().unwrap().to_string()).collect()
}

fn unknown(answer: &Value) -> Vec<&str> {
    answer["unknown"].as_array().unwrap().iter().map(|u| u["name"].as_str().unwrap()).collect()
}

/// Every cited line opens, whatever its file is. Gives how many there were.
fn open_all(answer: &Value, run: &Path) -> usize {
    let rows = answer["facts"].as_array().unwrap().iter();
    let mut all: Vec<String> =
        rows.flat_map(cites).filter(|at| at.rsplit_once(':').is_some_and(|(_, n)| n.parse::<u64>().is_ok())).collect();
    all.sort();
    all.dedup();
    for at in &all {
        let (code, out, err) = corr(&["show", at, "--run", run.to_str().unwrap(), "-C", "0"]);
        assert!(code == 0 && !out.is_empty(), "{at}: exit code {code}\n{err}");
    }
    all.len()
}

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A server's first line, as SGLang 0.5.19 and later print it.
fn server_args(rest: &str) -> String {
    format!(
        "[2026-11-29 19:13:21] server_args={{'model_path': '/m', 'served_model_name': 'tiny', 'tp_size': 1, 'disaggregation_mode': 'decode', {rest}}}\n"
    )
}

#[test]
fn the_fixture_of_a_direct_run() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/direct-run");
    let answer = facts(&[run.to_str().unwrap(), "--all"]);
    // jq .model_name,.expected_decode,.worker_processes[].command direct-plan.json
    assert_eq!(row(&answer, "model")["value"], "tiny");
    assert_eq!(row(&answer, "expected_decode_workers")["value"], 2);
    for worker in ["worker-0", "worker-1"] {
        assert_eq!(of(&answer, "block_size", worker), [json!(16)]);
        assert_eq!(of(&answer, "kv_pool_blocks", worker), [json!(512)]);
        assert_eq!(of(&answer, "max_running_requests", worker), [json!(16)]);
    }
    assert_eq!(of(&answer, "DYN_SYSTEM_PORT", "worker-1"), [json!(7501)]);
    assert_eq!(of(&answer, "router_mode", "router"), [json!("kv")]);
    assert_eq!(row(&answer, "load_sessions")["citations"][0]["key"], "benchmark_command");
    // grep -c '^\[\[endpoints' tachometer.toml; its third frequency stands in line 26.
    assert_eq!(row(&answer, "scrape_endpoints")["value"], 3);
    let frequency = row(&answer, "scrape_frequency_hz");
    let toml = std::fs::read_to_string(run.join("tachometer.toml")).unwrap();
    let lines: Vec<usize> = toml.lines().enumerate().filter(|(_, l)| l.starts_with("frequency")).map(|(n, _)| n + 1).collect();
    let cited: Vec<String> = lines.iter().map(|n| format!("{}:{n}", run.join("tachometer.toml").display())).collect();
    assert_eq!(cites(frequency), cited);
    // Nothing says how the benchmark ended, and nothing is made up for it.
    for name in ["benchmark_state", "measured_requests", "load_concurrency", "load_isl"] {
        assert!(unknown(&answer).contains(&name), "{name}");
        assert!(!answer["facts"].as_array().unwrap().iter().any(|r| r["name"] == name), "{name}");
    }
    assert!(open_all(&answer, &run) > 10);
}

#[test]
fn workers_that_disagree_are_told_with_both_citations() {
    let temp = tempfile::tempdir().unwrap();
    write(temp.path(), "decode-0.log", &server_args("'page_size': 16, 'port': 1001"));
    write(temp.path(), "decode-1.log", &server_args("'page_size': 64, 'port': 1002"));
    write(temp.path(), "decode-2.log", &server_args("'page_size': 16, 'port': 1003"));
    write(temp.path(), "decode-2.log.command", "python -m sglang.launch_server --page-size 1 --tp-size 1 --enable-metrics\n");
    let answer = facts(&[temp.path().to_str().unwrap()]);
    let told = answer["disagreements"].as_array().unwrap();
    let workers: Vec<&Value> = told.iter().filter(|d| d["kind"] == "workers").collect();
    assert_eq!(workers.len(), 1, "{told:?}");
    assert_eq!((&workers[0]["name"], &workers[0]["role"]), (&json!("page_size"), &json!("decode")));
    let sides = workers[0]["sides"].as_array().unwrap();
    let side = |value: i64| sides.iter().find(|s| s["value"] == value).unwrap();
    assert_eq!(side(16)["workers"], json!(["decode-0", "decode-2"]));
    assert_eq!(side(64)["workers"], json!(["decode-1"]));
    assert_eq!(cites(side(64)), [format!("{}:1", temp.path().join("decode-1.log").display())]);
    let asked: Vec<&Value> = told.iter().filter(|d| d["kind"] == "asked").collect();
    assert_eq!(asked.len(), 1, "{told:?}");
    assert_eq!(asked[0]["sides"][1]["value"], 1);
    assert!(cites(&asked[0]["sides"][1])[0].ends_with("decode-2.log.command:1"));
    let (_, text, _) = corr(&["facts", temp.path().to_str().unwrap(), "--name", "page_size"]);
    assert!(text.contains("workers of one role disagree") && text.contains("64!"), "{text}");
    // One process alone.
    let one = facts(&[temp.path().to_str().unwrap(), "--worker", "decode-1", "--name", "page_size"]);
    assert_eq!(row(&one, "page_size")["value"], 64);
    assert_eq!(row(&one, "page_size")["workers"], json!(["decode-1"]));
}

#[test]
fn a_restart_with_other_arguments_is_told() {
    let temp = tempfile::tempdir().unwrap();
    let first = server_args("'hicache_write_policy': 'write_back', 'enable_hierarchical_cache': True");
    let second = server_args("'hicache_write_policy': 'write_through', 'enable_hierarchical_cache': True");
    write(temp.path(), "decode-0.log", &format!("{first}{second}"));
    let answer = facts(&[temp.path().to_str().unwrap(), "--all"]);
    assert_eq!(of(&answer, "incarnations", "decode-0"), [json!(2)]);
    let told = &answer["disagreements"][0];
    assert_eq!((&told["name"], &told["kind"]), (&json!("hicache_write_policy"), &json!("process")));
    let path = temp.path().join("decode-0.log");
    let both: Vec<String> = told["sides"].as_array().unwrap().iter().flat_map(cites).collect();
    assert_eq!(both, [format!("{}:1", path.display()), format!("{}:2", path.display())]);
    // HiCache is on, and no argument names a storage backend: it is unknown, not `none`.
    assert!(unknown(&answer).contains(&"hicache_storage_backend"));
    assert!(unknown(&answer).contains(&"page_size"));
}

#[test]
fn credentials_are_withheld_wherever_they_stand() {
    let temp = tempfile::tempdir().unwrap();
    let secret = "hunter2hunter2hunter2";
    write(
        temp.path(),
        "direct-plan.json",
        &format!(
            "{{\"name\": \"r\", \"model_name\": \"m\", \"benchmark_command\": \"client --api-key {secret} --url http://me:{secret}@h/v1 --concurrency 8\"}}"
        ),
    );
    write(temp.path(), "config.yaml", &format!("model:\n  path: /m\nbackend:\n  type: sglang\n  hicache_api_key: {secret}\n"));
    write(
        temp.path(),
        "logs/decode-0.log",
        &server_args(&format!(
            "'api_key': '{secret}', 'hicache_storage_backend_extra_config': '{{\"token\": \"{secret}\", \"prefetch_threshold\": 7}}'"
        )),
    );
    for format in ["text", "json", "jsonl", "csv", "markdown"] {
        let (code, out, err) = corr(&["facts", temp.path().to_str().unwrap(), "--all", "--format", format]);
        assert_eq!(code, 0, "{err}");
        assert!(!out.contains(secret) && !err.contains(secret), "{format}: {out}");
        assert!(out.contains("load_concurrency") && out.contains("[withheld]") || format == "markdown", "{format}: {out}");
    }
    let answer = facts(&[temp.path().to_str().unwrap()]);
    assert_eq!(row(&answer, "load_concurrency")["value"], 8);
    assert_eq!(of(&answer, "hicache_prefetch_threshold", "decode-0"), [json!(7)]);
    let (code, out, _) =
        corr(&["show", &format!("{}:5", temp.path().join("config.yaml").display()), "--run", temp.path().to_str().unwrap()]);
    assert_eq!(code, 0);
    assert!(!out.contains(secret) && out.contains("[withheld]"), "{out}");
}

#[test]
fn recipes_and_scrape_configurations() {
    let temp = tempfile::tempdir().unwrap();
    write(
        temp.path(),
        "config.yaml",
        "name: r1 # the run\nmodel:\n  path: /models/m\nfrontend:\n  args:\n    router-mode: kv\n  env:\n    DYN_LOG: \"debug\"\nbackend:\n  sglang_config:\n    prefill:\n      tensor-parallel-size: 4\n      page-size: 64\n    decode:\n      tensor-parallel-size: 8\n  decode_environment:\n    DYN_REQUEST_TRACE: \"0\"\nbenchmark:\n  type: sa-bench\n  isl: 1024\n  osl: 128\n  concurrencies: \"64x128\"\n",
    );
    write(
        temp.path(),
        "prometheus.yml",
        "global:\n  scrape_interval: 5s\nscrape_configs:\n- job_name: sglang\n  static_configs:\n  - targets: ['h:1']\n",
    );
    let answer = facts(&[temp.path().to_str().unwrap()]);
    let value = |name: &str, role: &str| {
        let rows = answer["facts"].as_array().unwrap().iter();
        let mine = |r: &&Value| r["name"] == name && r["roles"].as_array().unwrap().contains(&json!(role));
        rows.filter(mine).map(|r| r["value"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((value("tp_size", "prefill"), value("tp_size", "decode")), (vec![json!(4)], vec![json!(8)]));
    assert_eq!(value("page_size", "prefill"), [json!(64)]);
    assert_eq!(value("router_mode", "frontend"), [json!("kv")]);
    assert_eq!(value("request_trace", "decode"), [json!(false)]);
    for (name, want) in
        [("load_isl", json!(1024)), ("load_osl", json!(128)), ("load_concurrency", json!("64x128")), ("load_type", json!("sa-bench"))]
    {
        assert_eq!(row(&answer, name)["value"], want, "{name}");
    }
    assert_eq!(row(&answer, "scrape_interval")["value"], "5s");
    let isl = &row(&answer, "load_isl")["citations"][0];
    assert_eq!((isl["line"].as_u64(), isl["key"].as_str()), (Some(20), Some("benchmark.isl")));
    assert_eq!(row(&answer, "model_path")["how"], json!(["plan"]));
}

#[test]
fn what_cannot_be_read_is_said() {
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().to_str().unwrap();
    write(temp.path(), "direct-plan.json", "{\"name\": \"r\", \"model_name\": \"m\", \"benchmark_command\": \"client --conc");
    let (code, out, err) = corr(&["facts", run]);
    assert_eq!(code, 3, "{err}");
    assert!(out.contains("direct-plan.json:1 (model_name)") && err.contains("breaks off"), "{out}\n{err}");
    let (code, _, err) = corr(&["facts", run, "--name", "no_such_fact"]);
    assert_eq!(code, 3, "{err}");
    write(temp.path(), "direct-plan.json", "{\"name\": \"r\"}");
    assert_eq!(corr(&["facts", run, "--name", "no_such_fact"]).0, 1);
    assert_eq!(corr(&["facts", run, "--worker", "w9"]).0, 1);
    assert_eq!(corr(&["facts", run, "--name", "["]).0, 2);
    assert_eq!(corr(&["facts", &format!("{run}/nowhere")]).0, 2);
}

#[test]
fn a_benchmark_is_finished_only_if_a_record_says_so() {
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().to_str().unwrap();
    let start = "[srtctl:2026-11-29T18:54:29Z] Run directory: /r\n[srtctl:2026-11-29T18:54:34Z] Starting benchmark\n";
    write(temp.path(), "runner.log", start);
    let answer = facts(&[run, "--all"]);
    let state = answer["unknown"].as_array().unwrap().iter().find(|u| u["name"] == "benchmark_state").unwrap();
    assert!(state["needs"].as_str().unwrap().contains("runner.log:2"), "{state}");
    write(temp.path(), "runner.log", &format!("{start}[srtctl:2026-11-29T18:55:21Z] ERROR: owned service agg-1 exited\n"));
    let answer = facts(&[run]);
    assert_eq!(row(&answer, "benchmark_state")["value"], "not finished");
    assert!(row(&answer, "benchmark_state")["note"].as_str().unwrap().ends_with("agg-1"));
    write(temp.path(), "runner.log", &format!("{start}[srtctl:2026-11-29T18:55:21Z] Benchmark completed successfully\n"));
    let answer = facts(&[run]);
    assert_eq!(row(&answer, "benchmark_state")["value"], "finished");
    assert!(cites(row(&answer, "benchmark_state"))[0].ends_with("runner.log:3"));
}

#[test]
fn a_result_says_the_load_and_that_it_came_to_its_end() {
    let temp = tempfile::tempdir().unwrap();
    let result = |concurrency: u32| {
        format!(
            "{{\"date\": \"20261129-185432\", \"backend\": \"dynamo\", \"model_id\": \"tiny\", \"tokenizer_id\": \"tiny\", \"num_prompts\": 64, \"request_rate\": 2.5, \"max_concurrency\": {concurrency}, \"duration\": 20.5, \"completed\": 64}}\n"
        )
    };
    for concurrency in [8, 16] {
        write(temp.path(), &format!("results_concurrency_{concurrency}.json"), &result(concurrency));
    }
    let answer = facts(&[temp.path().to_str().unwrap()]);
    // Two levels are two values of the load, and no disagreement.
    let levels = answer["facts"].as_array().unwrap().iter().filter(|r| r["name"] == "load_concurrency");
    assert_eq!(levels.map(|r| r["value"].as_i64().unwrap()).collect::<std::collections::BTreeSet<_>>(), [8, 16].into());
    assert_eq!(answer["disagreements"], json!([]));
    assert_eq!(row(&answer, "load_request_rate")["value"], 2.5);
    assert_eq!(row(&answer, "load_requests")["value"], 64);
    assert_eq!(row(&answer, "model")["value"], "tiny");
    let state = row(&answer, "benchmark_state");
    assert_eq!((&state["value"], state["citations"].as_array().unwrap().len()), (&json!("finished"), 2));
}

#[test]
fn case_hicache_over_restarts() {
    let Some(case) = case("sglang/b2-0523-hicache-restart") else { return };
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().join("b2");
    copy(&case, &run);
    let answer = facts(&[run.to_str().unwrap(), "--all"]);
    // grep -o of the three server_args lines (8, 198, 323), and lines 37, 41 and 44 behind the first.
    for (name, want) in [
        ("hicache", json!(true)),
        ("hicache_write_policy", json!("write_through")),
        ("hicache_storage_backend", json!("file")),
        ("hicache_storage_prefetch_policy", json!("wait_complete")),
        ("hicache_prefetch_threshold", json!(32)),
        ("hicache_host_pool_tokens", json!(3616)),
        ("page_size", json!(16)),
        ("kv_pool_tokens", json!(2400)),
        ("tp_size", json!(1)),
        ("dp_size", json!(1)),
        ("pp_size", json!(1)),
        ("disaggregation_mode", json!("null")),
        ("model", json!("tiny-qwen2")),
        ("enable_metrics", json!(true)),
        ("log_requests_level", json!(0)),
        ("incarnations", json!(3)),
    ] {
        assert_eq!(of(&answer, name, "server"), [want], "{name}");
    }
    let log = run.join("server.log");
    let starts: Vec<String> = [8, 198, 323].iter().map(|n| format!("{}:{n}", log.display())).collect();
    assert_eq!(cites(row(&answer, "incarnations")), starts);
    assert!(cites(row(&answer, "hicache_write_policy")).contains(&starts[0]));
    assert_eq!(answer["disagreements"], json!([]));
    // What the launch command asked for is cited beside what the server says.
    assert!(cites(row(&answer, "page_size")).iter().any(|c| c.contains("command.json:")));
    for name in ["load_command", "measured_window", "benchmark_state"] {
        assert!(unknown(&answer).contains(&name), "{name}");
    }
    println!("{} citations opened", open_all(&answer, &run));
}

#[test]
fn case_prefill_and_decode() {
    let Some(case) = case("sglang/e-0523-pd-mooncake-tcp") else { return };
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().join("e");
    copy(&case, &run);
    let answer = facts(&[run.to_str().unwrap(), "--all"]);
    for worker in ["prefill", "decode"] {
        assert_eq!(of(&answer, "role", worker), [json!(worker)]);
        assert_eq!(of(&answer, "disaggregation_mode", worker), [json!(worker)]);
        assert_eq!(of(&answer, "disaggregation_transfer_backend", worker), [json!("mooncake")]);
        assert_eq!(of(&answer, "kv_pool_tokens", worker), [json!(3000)]);
        assert_eq!(of(&answer, "hicache", worker), [json!(false)]);
    }
    // The two roles may differ in what their own role sets: that is no disagreement.
    assert_eq!(of(&answer, "disable_radix_cache", "prefill"), [json!(false)]);
    assert_eq!(of(&answer, "disable_radix_cache", "decode"), [json!(true)]);
    assert_eq!(answer["disagreements"], json!([]));
    // grep -c server_args= of the two logs: 1 and 2.
    assert_eq!(of(&answer, "incarnations", "prefill"), [json!(1)]);
    assert_eq!(of(&answer, "incarnations", "decode"), [json!(2)]);
    assert_eq!(of(&answer, "router_policy", "router"), [json!("cache_aware")]);
    assert_eq!(of(&answer, "cache_threshold", "router"), [json!(0.3)]);
    assert_eq!(of(&answer, "router_deployment", "router"), [json!("PrefillDecode")]);
    // Policies of a cache that is off are no policies in use.
    assert!(row(&answer, "hicache_write_policy")["note"].as_str().unwrap().contains("off"));
    assert!(!unknown(&answer).contains(&"hicache_storage_backend"));
}

#[test]
fn case_switches_of_dynamo() {
    let Some(case) = case("dynamo/A1_trace_payload_headers_jsonl") else { return };
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().join("A1");
    copy(&case, &run);
    // Only what the logs say.
    std::fs::remove_file(run.join("commands.txt")).unwrap();
    let answer = facts(&[run.to_str().unwrap(), "--all"]);
    let frontend = run.join("frontend.log");
    // The environment in CONFIG_DUMP, line 7 of frontend.log.
    for (name, want) in [
        ("DYN_REQUEST_TRACE", json!(1)),
        ("DYN_REQUEST_TRACE_RECORDS", json!("request_end,request_payload,tool")),
        ("DYN_REQUEST_TRACE_FILE_ROLL_LINES", json!(200)),
        (
            "DYN_REQUEST_TRACE_HTTP_HEADER_CAPTURE_LIST",
            json!(
                "x-request-id,x-dynamo-session-id,x-dynamo-parent-session-id,x-claude-code-session-id,thread-id,x-session-id,traceparent,user-agent"
            ),
        ),
        ("DYN_LOGGING_JSONL", json!(1)),
        ("dynamo_version", json!("1.6.1")),
        ("router_mode", json!("kv")),
        ("migration_limit", json!(3)),
    ] {
        assert_eq!(of(&answer, name, "frontend"), [want], "{name}");
        assert_eq!(cites(row(&answer, name))[0], format!("{}:7", frontend.display()), "{name}");
    }
    assert_eq!(of(&answer, "request_trace", "frontend"), [json!(true)]);
    let records = row(&answer, "request_trace_records");
    assert_eq!(records["value"], "[\"request_end\", \"request_payload\", \"tool\"]");
    assert_eq!(cites(records), [format!("{}:15", frontend.display())]);
    assert_eq!(of(&answer, "incarnations", "w1"), [json!(1)]);
    assert_eq!(of(&answer, "incarnations", "w2"), [json!(2)]);
    for worker in ["w1", "w2"] {
        assert_eq!(of(&answer, "kv_pool_blocks", worker), [json!(256)]);
        assert_eq!(of(&answer, "host_blocks", worker), [json!(512)]);
        assert_eq!(of(&answer, "kv_pool_tokens", worker), [json!(256 * 16)]);
    }
    assert_eq!(of(&answer, "audit", "frontend"), [json!(true)]);
    assert_eq!(answer["disagreements"], json!([]));
    println!("{} citations opened", open_all(&answer, &run));
}

#[test]
fn case_audit_and_trace_are_told_apart() {
    let Some(b1) = case("dynamo/B1_audit_body_only_jsonl") else { return };
    let Some(v061) = case("dynamo/V061_etcd_nats_text") else { return };
    let temp = tempfile::tempdir().unwrap();
    let (b, v) = (temp.path().join("B1"), temp.path().join("V061"));
    copy(&b1, &b);
    copy(&v061, &v);
    // Line 8 of the frontend's log: the trace holds payloads alone, as DYN_REQUEST_TRACE="0" and DYN_AUDIT_FORCE_LOGGING="1" in commands.txt ask.
    let answer = facts(&[b.to_str().unwrap()]);
    assert_eq!((&row(&answer, "request_trace")["value"], &row(&answer, "audit")["value"]), (&json!(false), &json!(true)));
    assert_eq!(row(&answer, "DYN_AUDIT_FORCE_LOGGING")["value"], 1);
    assert_eq!(answer["disagreements"], json!([]));
    assert_eq!(row(&answer, "request_trace_records")["value"], "[\"request_payload\"]");
    // Line 3: `Audit initialized`; no request trace in 0.6.1.
    let answer = facts(&[v.to_str().unwrap(), "--all"]);
    assert_eq!(row(&answer, "audit")["value"], true);
    assert!(cites(row(&answer, "audit"))[0].ends_with("frontend.log:3"));
    assert!(unknown(&answer).contains(&"request_trace"));
}

/// The router's log stands beside what it printed (`--log-dir`): truth.json has two lives of it, as of each worker.
#[test]
fn case_a_log_that_stands_twice() {
    let Some(case) = case("sglang/d-0523-router") else { return };
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().join("run");
    copy(&case, &run);
    let truth: Value = serde_json::from_slice(&std::fs::read(case.join("truth.json")).unwrap()).unwrap();
    for name in ["truth.json", "health.jsonl"] {
        let _ = std::fs::remove_file(run.join(name));
    }
    let answer = facts(&[run.to_str().unwrap(), "--all"]);
    for (target, worker) in [("router", "router"), ("worker0", "worker-0"), ("worker1", "worker-1")] {
        let lives = truth["events"].as_array().unwrap().iter().filter(|e| e["event"] == "exec" && e["target"] == target).count();
        assert_eq!(of(&answer, "incarnations", worker), [json!(lives)], "{target}");
    }
}

#[test]
fn case_direct_run() {
    let Some(case) = case("tachometer/run_dynamo") else { return };
    let name = "corr-direct-20261129T185427Z-1";
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().join(name);
    copy(&case.join(name), &run);
    let answer = facts(&[run.to_str().unwrap(), "--all"]);
    // jq -r .metadata.benchmark_phase artifacts/aiperf/trace.jsonl | sort | uniq -c: 132 profiling, 20 warmup; ends by their least start and greatest end.
    assert_eq!(row(&answer, "measured_requests")["value"], 132);
    assert_eq!(row(&answer, "warmup_requests")["value"], 20);
    let rows = super::lines(&run.join("artifacts/aiperf/trace.jsonl"));
    for (phase, window) in [("profiling", "measured_window"), ("warmup", "warmup_window")] {
        let of = |key: &str| {
            rows.iter()
                .filter(|r| r["metadata"]["benchmark_phase"] == phase)
                .map(|r| r["metadata"][key].as_i64().unwrap())
                .collect::<Vec<_>>()
        };
        let time = |ns: i64| chrono::DateTime::from_timestamp_nanos(ns).format("%Y-%m-%dT%H:%M:%S%.9fZ").to_string();
        // Half-open: one nanosecond behind the last end.
        let want =
            format!("{} to {}", time(*of("request_start_ns").iter().min().unwrap()), time(of("request_end_ns").iter().max().unwrap() + 1));
        assert_eq!(row(&answer, window)["value"], want);
    }
    for worker in ["worker-0", "worker-1"] {
        assert_eq!(of(&answer, "engine_type", worker), [json!("sglang")]);
        assert_eq!(of(&answer, "incarnations", worker), [json!(1)]);
        assert_eq!(of(&answer, "kv_pool_tokens", worker), [json!(512 * 16)]);
    }
    for (flag, want) in [("sessions", 26), ("turns", 5), ("warmup", 20), ("stagger", 7), ("think", 3)] {
        assert_eq!(row(&answer, &format!("load_{flag}"))["value"], want);
    }
    assert_eq!(row(&answer, "load_command")["citations"].as_array().unwrap().len(), 2);
    assert!(unknown(&answer).contains(&"benchmark_state"));
    // grep 'Request trace initialized' logs/router.log: records=["request_end", "tool"].
    assert_eq!((of(&answer, "request_trace", "router"), of(&answer, "audit", "router")), (vec![json!(true)], vec![json!(false)]));
    assert_eq!(answer["disagreements"], json!([]));
    // The runner's own output says how it ended: lines 7 and 9.
    let log = temp.path().join("runner.log");
    std::fs::copy(case.join(format!("{name}.runner.log")), &log).unwrap();
    let answer = facts(&[run.to_str().unwrap(), "--also", log.to_str().unwrap()]);
    assert_eq!(row(&answer, "benchmark_state")["value"], "finished");
    assert_eq!(cites(row(&answer, "benchmark_state")), [format!("{}:9", log.display())]);
    assert_eq!(row(&answer, "benchmark_window")["value"], "2026-11-29T18:54:34Z to 2026-11-29T18:55:21Z");
}

#[test]
fn case_slurm_run_that_was_given_up() {
    let Some(case) = case("tachometer/run_slurm_tacho_asshipped") else { return };
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().join("slurm");
    copy(&case, &run);
    let answer = facts(&[run.to_str().unwrap(), "--all"]);
    // Lines 78 and 79 of the sweep's log; Tachometer, exit code 1.
    let state = row(&answer, "benchmark_state");
    assert_eq!(state["value"], "not finished");
    let sweep = run.join("logs/sweep_4241.log");
    assert_eq!(cites(state), [format!("{}:78", sweep.display()), format!("{}:79", sweep.display())]);
    assert!(state["note"].as_str().unwrap().contains("tachometer"));
    // The workers' logs are empty: their `Command:` lines (41 and 45) say what was launched.
    for (worker, line) in [("worker-0", 41), ("worker-1", 45)] {
        assert_eq!(of(&answer, "block_size", worker), [json!(16)]);
        assert!(cites(row(&answer, "kv_pool_blocks")).contains(&format!("{}:{line}", sweep.display())));
    }
    assert_eq!(row(&answer, "load_sessions")["value"], 12);
    assert_eq!(row(&answer, "agg_workers")["value"], 2);
}
