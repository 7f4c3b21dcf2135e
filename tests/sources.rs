//! `corr sources` end to end: on the real captures where they are at hand, and on bad input.

#[path = "program/cases.rs"]
mod cases;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use cases::cases as case;
use serde_json::Value;

fn corr(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_corr")).args(args).env("NO_COLOR", "1").stdin(Stdio::null()).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(run: &Path, more: &[&str]) -> (Value, i32) {
    let mut args = vec!["sources", run.to_str().unwrap(), "--format", "json"];
    args.extend(more);
    let output = corr(&args);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    (value, code(&output))
}

fn source<'v>(report: &'v Value, key: &str) -> &'v Value {
    let sources = report["sources"].as_array().unwrap();
    sources.iter().find(|s| s["key"] == key).unwrap_or_else(|| panic!("no source {key}"))
}

fn missing(report: &Value) -> Vec<&str> {
    report["missing"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap()).collect()
}

/// Every byte and record of every source has one place, summed here again from the parts.
fn adds_up(report: &Value) {
    for source in report["sources"].as_array().unwrap() {
        let accounting = &source["accounting"];
        for part in ["bytes", "records"] {
            let mut sum = accounting["parsed"][part].as_u64().unwrap();
            for class in ["skipped", "unparsed"] {
                sum += accounting[class].as_object().unwrap().values().map(|t| t[part].as_u64().unwrap()).sum::<u64>();
            }
            assert_eq!(sum, accounting[part].as_u64().unwrap(), "{part} of {}", source["key"]);
        }
        let lines = accounting["lines"].as_i64().unwrap();
        assert_eq!(lines, accounting["records"].as_i64().unwrap() + accounting["continuation_lines"].as_i64().unwrap());
        if source["compression"] == "none" {
            assert_eq!(accounting["bytes"], source["bytes_on_disk"], "{}", source["key"]);
        }
    }
}

#[test]
fn the_direct_run() {
    let Some(run) = case("tachometer/run_dynamo/corr-direct-20261129T185427Z-1") else { return };
    let (report, code) = json(&run, &[]);
    assert_eq!(code, 0);
    assert_eq!(report["schema"], "corr.sources.v1");
    assert_eq!(report["layout"], "direct");
    adds_up(&report);
    let trace = source(&report, "artifacts/dynamo-request-trace.000000.jsonl.gz");
    assert_eq!(trace["format"], "dynamo-request-trace");
    // 1 smoke, 20 warm-up, 132 measured.
    assert_eq!(trace["kinds"]["request_end"], 153);
    assert_eq!(trace["requests"]["seen"], 153);
    assert_eq!(trace["requests"]["with_session"], 112);
    for (key, worker, role) in [
        ("logs/router.log", "router", "frontend"),
        ("logs/worker-0.log", "worker-0", "unified"),
        ("logs/worker-1.log", "worker-1", "unified"),
    ] {
        let log = source(&report, key);
        assert_eq!((&log["owner"]["worker"], &log["owner"]["role"]), (&worker.into(), &role.into()));
        assert_eq!(log["format"], "dynamo-text");
        assert_eq!(log["clock"]["how"], "zoned");
        assert_eq!(log["clock"]["resolution_ns"], 1000);
        assert_eq!(log["accounting"]["unparsed"], serde_json::json!({}));
    }
    assert_eq!(source(&report, "logs/router.log")["first"]["start"], "2026-11-29T18:54:31.160201Z");
    let others = report["other_files"].as_array().unwrap();
    let copy = others.iter().find(|o| o["class"] == "duplicate").unwrap();
    assert_eq!(copy["key"], "artifacts/tachometer/raw/scrape/final.parquet");
    assert_eq!(copy["of"], "artifacts/tachometer/local/final.parquet");
    assert_eq!(report["planned"].as_array().unwrap().len(), 3);
    let missing = missing(&report);
    assert!(missing.contains(&"session") && missing.contains(&"journald"), "{missing:?}");
    for there in ["request_trace", "router_log", "worker_log", "metrics", "debug", "zone"] {
        assert!(!missing.contains(&there), "{there}");
    }
}

#[test]
fn the_killed_direct_run_and_the_slurm_run() {
    if let Some(run) = case("tachometer/run_dynamo/corr-timeout-20261129T185801Z-3") {
        let (report, _) = json(&run, &[]);
        adds_up(&report);
        assert_eq!(report["layout"], "direct");
        assert!(report["other_files"].as_array().unwrap().iter().any(|o| o["what"] == "tachometer"));
    }
    if let Some(run) = case("tachometer/run_slurm_tacho_asshipped") {
        let (report, code) = json(&run, &[]);
        assert_eq!(code, 0);
        adds_up(&report);
        assert_eq!(report["layout"], "slurm");
        let frontend = source(&report, "logs/node01_frontend_0.out");
        assert_eq!(frontend["owner"]["host"], "node01");
        assert_eq!(frontend["owner"]["worker"], "frontend-0");
        assert!(missing(&report).contains(&"worker_log"), "the job died before a worker wrote anything");
    }
}

#[test]
fn a_sweep_log_has_the_zone_that_its_batch_script_prints() {
    let run = tempfile::tempdir().unwrap();
    let log = |zone: &str, hour: u32| {
        format!(
            "Start: Sun Nov 29 10:50:41 {zone} 2026\n2026-11-29 {hour}:50:42 [INFO] Sweep Orchestrator\n✓ Sweep completed successfully\nEnd: Sun Nov 29 10:55:41 {zone} 2026\n"
        )
    };
    for (name, zone, hour) in [("sweep_1.log", "PST", 10), ("sweep_2.log", "+08", 10), ("sweep_3.log", "UTC", 20)] {
        std::fs::write(run.path().join(name), log(zone, hour)).unwrap();
    }
    let (report, _) = json(run.path(), &[]);
    adds_up(&report);
    let clock = |key: &str| source(&report, key)["clock"].clone();
    for (key, rule, how) in
        [("sweep_1.log", "-08:00", "recorded"), ("sweep_2.log", "+08:00", "recorded"), ("sweep_3.log", "UTC", "assumed")]
    {
        assert_eq!((&clock(key)["rule"], &clock(key)["how"]), (&rule.into(), &how.into()), "{key}");
    }
    // A driver with a zone of its own is said, not believed.
    assert!(clock("sweep_3.log")["evidence"].as_str().unwrap().contains("the next line would be 36001 s behind it"));
}

#[test]
fn sglang_clocks_are_found_by_evidence() {
    for (below, key, how) in [
        ("sglang/a-0523-text", "server.log", "id"),
        ("sglang/b-0523-json-hicache", "request-log/vm_0.log", "id"),
        ("sglang/e-0523-pd-mooncake-tcp", "decode.log", "id"),
        ("sglang/f-056post2-text", "server.log", "id"),
        ("sglang/g-0509-journald", "journal/journalctl-o-json.jsonl", "envelope"),
    ] {
        let Some(run) = case(below) else { continue };
        let (report, code) = json(&run, &[]);
        assert_eq!(code, 0, "{below}");
        adds_up(&report);
        let log = source(&report, key);
        // All captures ran under TZ=UTC.
        assert_eq!((&log["clock"]["rule"], &log["clock"]["how"]), (&"UTC".into(), &how.into()), "{below}");
        let (pairs, hold) = (log["clock"]["pairs"].as_u64().unwrap(), log["clock"]["pairs_that_hold"].as_u64().unwrap());
        assert!(pairs > 0 && hold * 5 >= pairs * 4, "{below}: {hold} of {pairs}");
    }
    let Some(run) = case("sglang/a-0523-text") else { return };
    let (report, _) = json(&run, &[]);
    let log = source(&report, "server.log");
    assert_eq!((&log["owner"]["role"], &log["versions"][0]["product"]), (&"unified".into(), &"SGLang".into()));
    // The server really was 0.5.23.
    assert_eq!(log["versions"][0]["to"], Value::Null);
    // truth.json: the log begins at the process's exec and ends at or before the last process's exit.
    let truth: Value = serde_json::from_slice(&std::fs::read(run.join("truth.json")).unwrap()).unwrap();
    let mut times = Vec::new();
    numbers(&truth, &mut times);
    let low = times.iter().copied().fold(f64::INFINITY, f64::min);
    let high = times.iter().copied().fold(0.0, f64::max);
    let at = |end: &str| log[end]["start_ns"].as_f64().unwrap() / 1e9;
    assert!(at("first") >= low - 1.0 && at("last") <= high + 1.0, "{low} {} {} {high}", at("first"), at("last"));
}

/// Every epoch time in a JSON value.
fn numbers(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Number(n) => out.extend(n.as_f64().filter(|n| (1.7e9..1.9e9).contains(n))),
        Value::Array(items) => items.iter().for_each(|v| numbers(v, out)),
        Value::Object(items) => items.values().for_each(|v| numbers(v, out)),
        _ => {}
    }
}

/// Engine lines of +08:00 beside front-end lines in UTC, and epoch numbers made of the local time as if it were UTC.
#[test]
fn clocks_that_contradict_each_other_are_both_said() {
    let run = tempfile::tempdir().unwrap();
    let log = |moments: u32, hour: u32, epoch: u64| {
        let mut text = String::new();
        for i in 0..moments {
            text.push_str(&format!(
                "2026-11-20T11:46:{i:02}.000000Z  INFO sglang_server::api_server::log: 10.42.0.9:42037 - \"GET /metrics HTTP/1.1\" 200 OK\n"
            ));
            text.push_str(&format!("[2026-11-20 {hour}:46:{i:02} TP0] Prefill batch, #new-seq: 2, #new-token: 8192, #cached-token: 0, token usage: 0.01, #running-req: 7, #queue-req: 0\n"));
            text.push_str(&format!(
                "[2026-11-20 {hour}:46:{i:02} TP0] ReqTimeStats(rid={i:032x}, input_len=8, cached_input_len=0, output_len=9, attempts=1, type=unified): queue_duration=3.11ms, forward_duration=500.00ms, entry_time={}.000\n",
                epoch + u64::from(i)
            ));
        }
        text
    };
    // date -u -d '2026-11-20 19:46:00' +%s; the true moment is eight hours before.
    std::fs::write(run.path().join("slip.log"), log(5, 19, 1_795_203_960)).unwrap();
    std::fs::write(run.path().join("agree.log"), log(5, 19, 1_795_203_960 - 8 * 3600)).unwrap();
    // Two moments do not overrule the epoch numbers; what they say is said.
    std::fs::write(run.path().join("few.log"), log(2, 19, 1_795_203_960)).unwrap();
    // Neither offset is a slip that is known.
    std::fs::write(run.path().join("both.log"), log(5, 19, 1_795_203_960 - 3 * 3600)).unwrap();
    let (report, _) = json(run.path(), &[]);
    let clock = |key: &str| source(&report, key)["clock"].clone();
    for (key, rule, how) in
        [("slip.log", "+08:00", "id"), ("agree.log", "+08:00", "id"), ("few.log", "UTC", "id"), ("both.log", "UTC", "assumed")]
    {
        assert_eq!((&clock(key)["rule"], &clock(key)["how"]), (&rule.into(), &how.into()), "{key}: {}", clock(key)["evidence"]);
    }
    let said = |key: &str| clock(key)["evidence"].as_str().unwrap().to_string();
    let slip = said("slip.log");
    assert!(slip.starts_with("UTC+08:00 (10 of 10) from zoned stamps") && slip.contains("which say UTC (5 of 5)"), "{slip}");
    assert!(
        said("few.log").starts_with("UTC (2 of 2) from epoch times") && said("few.log").contains("UTC+08:00 (4 of 4)"),
        "{}",
        said("few.log")
    );
    assert!(said("both.log").contains("UTC+03:00 (5 of 5)") && said("both.log").contains("UTC+08:00 (10 of 10)"), "{}", said("both.log"));
    assert!(!said("agree.log").contains("against"));

    let Some(samples) = case("sglang-samples") else { return };
    for colour in ["ansi", "nocolor"] {
        let path = samples.join(format!("rust-frontend-tp2-0.5.23-{colour}-tz+0800.log"));
        let (report, _) = json(&path, &[]);
        let clock = &report["sources"][0]["clock"];
        assert_eq!(clock["rule"], "+08:00", "{}", clock["evidence"]);
        assert!(clock["evidence"].as_str().unwrap().contains("which say UTC (7 of 7)"), "{}", clock["evidence"]);
        println!("{}: {}", path.display(), clock["evidence"]);
    }
}

#[test]
fn stamps_that_count_from_boot_name_no_date() {
    let run = tempfile::tempdir().unwrap();
    let line = |text: &str| format!("[  912.000123] gpu-7 python3[9]: {text}\n");
    std::fs::write(run.path().join("bare.log"), line("Loading weights") + &line("Loaded weights")).unwrap();
    std::fs::write(run.path().join("naive.log"), line("[2026-11-20 19:46:00 TP0] Init parallel begin.")).unwrap();
    let (report, _) = json(run.path(), &[]);
    assert_eq!(source(&report, "bare.log")["envelope"], "journald-short-monotonic");
    assert_eq!(source(&report, "bare.log")["clock"]["evidence"], "stamps count from boot and name no date");
    let naive = source(&report, "naive.log")["clock"]["evidence"].as_str().unwrap().to_string();
    assert!(naive.contains("the envelope's stamps count from boot and name no date"), "{naive}");
}

#[test]
fn journald_under_a_zone_that_is_not_utc() {
    let Some(run) = case("journald/real/v252/America_New_York") else { return };
    let (report, _) = json(&run, &[]);
    adds_up(&report);
    for key in ["json.txt", "export.txt", "short-iso-precise.txt", "short-full.txt"] {
        let clock = &source(&report, key)["clock"];
        assert_eq!((&clock["rule"], &clock["how"]), (&"-05:00".into(), &"envelope".into()), "{key}");
    }
    // Neither the envelope nor the payload names a zone: assumed, and said to be missing.
    assert_eq!(source(&report, "short.txt")["clock"]["how"], "assumed");
    assert!(missing(&report).contains(&"zone"));
    let (report, _) = json(&run, &["--tz", "short.txt=America/New_York"]);
    let declared = source(&report, "short.txt");
    let precise = source(&report, "short-iso-precise.txt");
    assert_eq!(declared["clock"]["how"], "declared");
    let second = |v: &Value| v["first"]["start_ns"].as_i64().unwrap() / 1_000_000_000;
    assert_eq!(second(declared), second(precise), "the same first entry in both modes");
}

#[test]
fn stamps_without_a_year_get_one() {
    let Some(run) = case("journald/synthetic/v252/UTC") else { return };
    let (report, _) = json(&run, &[]);
    adds_up(&report);
    let (short, iso) = (source(&report, "short.txt"), source(&report, "short-iso.txt"));
    for end in ["first", "last"] {
        assert_eq!(short[end]["start"], iso[end]["start"], "{end} entry, over New Year");
    }
}

#[test]
fn dynamo_in_a_local_zone() {
    let Some(run) = case("dynamo/T1_tool_events_localtz_noansi") else { return };
    let (report, _) = json(&run, &[]);
    adds_up(&report);
    let log = source(&report, "frontend.log.gz");
    assert_eq!(log["clock"]["how"], "zoned");
    // 13:52:31.800431-05:00 in the file.
    assert_eq!(log["first"]["start"], "2026-11-29T18:52:31.800431Z");
    assert!(missing(&report).contains(&"debug"));
    let Some(run) = case("dynamo/D1_disagg_jsonl") else { return };
    let (report, _) = json(&run, &[]);
    for (key, worker, role) in [("p1.log", "p1", "prefill"), ("d1.log", "d1", "decode"), ("p2.restart.log", "p2", "prefill")] {
        let owner = &source(&report, key)["owner"];
        assert_eq!((&owner["worker"], &owner["role"]), (&worker.into(), &role.into()), "{key}");
    }
}

const ROUTER: &str = "2026-11-29T18:54:31.401318Z  INFO main.async_main: Request migration disabled (limit: 0)\n\
     2026-11-29T18:56:31.431357Z  INFO dynamo_llm::request_trace::sink: Request trace sinks ready sinks=1\n";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_empty_directory() {
    let dir = tempfile::tempdir().unwrap();
    let output = corr(&["sources", dir.path().to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(output.stdout.is_empty());
    let said = stderr(&output);
    assert!(said.contains(dir.path().to_str().unwrap()) && said.contains("is empty; give the directory"), "{said}");
    let output = corr(&["sources", "no/such/run"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("no/such/run: no such file"), "{}", stderr(&output));
}

#[test]
fn a_directory_without_a_known_format() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("notes.txt"), "remember\nthe milk\n").unwrap();
    let output = corr(&["sources", dir.path().to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    let said = stderr(&output);
    assert!(
        said.contains("no file is in a format that corr knows (notes.txt looked at)") && said.contains("--explain notes.txt"),
        "{said}"
    );
    std::fs::write(dir.path().join("blob.bin"), [0u8, 1, 2, 3, 0xff, 0xfe, 0, 0].repeat(100)).unwrap();
    let said = stderr(&corr(&["sources", dir.path().to_str().unwrap()]));
    assert!(said.contains("blob.bin: binary, in no format that corr knows; if it is a log"), "{said}");
}

#[test]
fn bad_files_do_not_hide_good_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("router.log"), ROUTER).unwrap();
    let (report, clean) = json(dir.path(), &[]);
    assert_eq!((clean, report["layout"].as_str()), (0, Some("none")));
    assert_eq!(source(&report, "router.log")["gaps"], serde_json::json!([]), "two stamps have no usual distance");
    let line = |second: u32| format!("2026-11-29T18:{:02}:{:02}.000000Z  INFO main.async_main: beat\n", second / 60, second % 60);
    let beats: String = (0..40).chain(400..440).map(line).collect();
    std::fs::write(path("w0.log"), beats).unwrap();
    let (report, _) = json(dir.path(), &[]);
    let gaps = source(&report, "w0.log")["gaps"].as_array().unwrap();
    assert_eq!(gaps.len(), 1);
    assert_eq!((gaps[0]["line_after"].as_u64(), gaps[0]["at_least_ns"].as_i64().map(|ns| ns / 1_000_000_000)), (Some(41), Some(360)));

    std::fs::write(path("empty.log.gz"), b"").unwrap();
    let long = ROUTER.repeat(2_000);
    let packed = gzip(long.as_bytes());
    std::fs::write(path("w1.log.gz"), &packed[..packed.len() - 20]).unwrap();
    std::fs::write(path("copy.log"), ROUTER).unwrap();
    std::fs::write(path("blob.bin"), [0u8, 1, 2, 3, 0xff, 0xfe, 0, 0].repeat(100)).unwrap();
    let (report, code) = json(dir.path(), &[]);
    assert_eq!(code, 3);
    adds_up(&report);
    let cut = source(&report, "w1.log.gz");
    assert!(cut["damage"].as_str().unwrap().contains("breaks off"), "{}", cut["damage"]);
    let read = cut["accounting"]["bytes"].as_u64().unwrap();
    assert!(read > 0 && read <= long.len() as u64);
    let names: Vec<&str> = report["not_read"].as_array().unwrap().iter().map(|n| n["name"].as_str().unwrap()).collect();
    assert!(names.iter().any(|n| n.ends_with("empty.log.gz")) && names.iter().any(|n| n.ends_with("blob.bin")), "{names:?}");
    // copy.log and router.log hold the same bytes: the first by name is read.
    assert!(report["other_files"].as_array().unwrap().iter().any(|o| o["class"] == "duplicate" && o["key"] == "router.log"));
    let output = corr(&["sources", dir.path().to_str().unwrap()]);
    let said = stderr(&output);
    assert!(said.contains("w1.log.gz: the stream breaks off") && said.contains("empty.log.gz: empty"), "{said}");
}

#[cfg(unix)]
#[test]
fn an_unreadable_file() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("router.log"), ROUTER).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("gone.log")).unwrap();
    let (report, code) = json(dir.path(), &[]);
    assert_eq!(code, 0, "a link to nothing is said and is no failure to read");
    assert_eq!(report["not_read"][0]["why"], "a link to nothing");
    let locked = dir.path().join("locked.log");
    std::fs::write(&locked, ROUTER).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&locked).is_ok() {
        println!("skipped: file modes do not bind this user");
        return;
    }
    let (report, code) = json(dir.path(), &[]);
    assert_eq!(code, 3);
    assert!(report["not_read"].as_array().unwrap().iter().any(|n| n["name"].as_str().unwrap().ends_with("locked.log")));
    assert_eq!(report["sources"].as_array().unwrap().len(), 1);
}

#[test]
fn declarations_and_options() {
    let dir = tempfile::tempdir().unwrap();
    let log = "[2026-11-29 18:37:11] max_total_num_tokens=3000, chunked_prefill_size=256, max_prefill_tokens=16384, max_running_requests=16, context_len=2048\n";
    std::fs::write(dir.path().join("server.log"), log).unwrap();
    let first = |report: &Value| source(report, "server.log")["first"]["start"].as_str().unwrap().to_string();
    let (report, _) = json(dir.path(), &[]);
    assert_eq!(first(&report), "2026-11-29T18:37:11Z");
    assert!(missing(&report).contains(&"zone"));
    std::fs::write(dir.path().join("server.log.command"), "bash -lc 'TZ=America/New_York python -m sglang.launch_server'").unwrap();
    let (report, _) = json(dir.path(), &[]);
    assert_eq!(first(&report), "2026-11-29T23:37:11Z");
    assert_eq!(source(&report, "server.log")["clock"]["how"], "recorded");
    std::fs::write(dir.path().join("corr.toml"), "[source.\"*.log\"]\ntz = \"+08:00\"\nworker = \"d7\"\nrole = \"decode\"\n").unwrap();
    let (report, _) = json(dir.path(), &[]);
    assert_eq!(first(&report), "2026-11-29T10:37:11Z");
    let owner = &source(&report, "server.log")["owner"];
    assert_eq!((&owner["worker"], &owner["role"]), (&"d7".into(), &"decode".into()));
    let (report, _) = json(dir.path(), &["--tz", "server.log=UTC"]);
    assert_eq!(first(&report), "2026-11-29T18:37:11Z");
    let (report, _) = json(dir.path(), &["--format-of", "*.log=sglang", "--tz", "UTC"]);
    assert_eq!(source(&report, "server.log")["format"], "sglang");
    let (report, exit) = json(dir.path(), &["--format-of", "server.log=text,dynamo-text"]);
    assert_eq!((exit, &source(&report, "server.log")["format"]), (0, &"dynamo-text".into()));
    assert_eq!(source(&report, "server.log")["kinds"]["scheduler_sized"], Value::Null);
    let run = dir.path().to_str().unwrap();
    for (args, want) in [
        (["--tz", "srever.log=UTC"], "did you mean `server.log`?"),
        (["--tz", "Mars"], "`Mars` is no time zone"),
        (["--format-of", "server.log=sglnag"], "did you mean `sglang`?"),
    ] {
        let output = corr(&["sources", run, args[0], args[1]]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(want), "{}", stderr(&output));
    }
    std::fs::write(dir.path().join("corr.toml"), "tz = \"UTC\"\n[source.x]\nrole = \"decoder\"\n").unwrap();
    let output = corr(&["sources", run]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("corr.toml:3: no role is called `decoder`"), "{}", stderr(&output));
}

#[test]
fn hostile_names_and_text_stay_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let name = "a\u{1b}[31m|b\u{202e}.log";
    std::fs::write(dir.path().join(name), ROUTER).unwrap();
    let run = dir.path().to_str().unwrap();
    for format in ["text", "json", "jsonl", "csv", "markdown"] {
        let output = corr(&["sources", run, "--format", format]);
        assert_eq!(code(&output), 0, "{format}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.is_empty());
        assert!(!text.contains('\u{1b}'), "{format}");
        if matches!(format, "text" | "csv" | "markdown") {
            assert!(!text.contains('\u{202e}'), "{format}");
        }
        if format == "markdown" {
            assert!(text.contains("a\\\\x1b\\[31m\\|b"), "{text}");
        }
    }
    let explained = corr(&["sources", run, "--explain", name]);
    assert_eq!(code(&explained), 0);
    let text = String::from_utf8(explained.stdout).unwrap();
    assert!(text.contains("dynamo-text") && text.contains("2 of 2 records begin with") && !text.contains('\u{1b}'), "{text}");
    let output = corr(&["sources", run, "--explain", "nothing.log"]);
    assert_eq!(code(&output), 2);
}

#[test]
fn standard_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_corr"))
        .args(["sources", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&gzip(ROUTER.as_bytes())).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let log = source(&report, "-");
    assert_eq!((&log["format"], &log["compression"], &log["clock"]["how"]), (&"dynamo-text".into(), &"gzip".into(), &"zoned".into()));
    assert_eq!(log["accounting"]["bytes"], ROUTER.len());
}

/// SGLang under `srun -l` in a pod whose log file was packed: each envelope is peeled, named, and its fields are searched.
#[test]
fn nested_envelopes() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path();
    let line = |i: usize, text: &str| format!("2026-05-20T06:30:{:02}.5Z stderr F {:02}: {text}\n", i % 60, i % 12);
    let mut log = String::new();
    for i in 0..600 {
        log += &line(i, &format!("[2026-05-20 08:30:{:02} TP0] Decode batch, #running-req: 1, #token: {i}, token usage: 0.91", i % 60));
    }
    log += &line(3, "Traceback (most recent call last):");
    std::fs::write(run.join("0.log.gz"), gzip(log.as_bytes())).unwrap();
    let (report, code) = json(run, &[]);
    assert_eq!(code, 0);
    adds_up(&report);
    let source = source(&report, "0.log.gz");
    assert_eq!((&source["envelope"], &source["format"]), (&"cri > srun".into(), &"sglang".into()));
    assert_eq!(source["kinds"]["decode_batch"], 600);
    // The pod's stamps name UTC, which says where SGLang's lie.
    assert_eq!((&source["clock"]["rule"], &source["clock"]["how"]), (&"+02:00".into(), &"envelope".into()));
    let shown = |args: &[&str]| {
        let output = corr(args);
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let path = run.to_str().unwrap();
    assert!(shown(&["sources", path]).contains("cri > srun + sglang"));
    let explained = shown(&["sources", path, "--explain", "0.log.gz"]);
    assert!(explained.contains("  envelope   cri: ") && explained.contains("  inside it  srun: "), "{explained}");
    let query = ["query", path, "task:3 stream:stderr #token:>550", "--format", "csv", "--fields", "time,task,tokens"];
    let scanned = shown(&query);
    assert_eq!(scanned.lines().count(), 1 + 4, "{scanned}");
    assert!(scanned.contains("2026-05-20T06:30:15.500000000Z,3,555"), "{scanned}");
    assert!(corr(&["index", path]).status.success());
    assert_eq!(shown(&query), scanned);
    std::fs::write(run.join("corr.toml"), "[source.\"0.log.gz\"]\nenvelope = \"cri\"\n").unwrap();
    assert_eq!(self::source(&json(run, &[]).0, "0.log.gz")["envelope"], "cri");
}
