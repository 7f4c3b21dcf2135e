//! What sentences say beside numbers holds: of which records, of which window, between which samples; what was not captured is no zero.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::citations::{records, span, split};
use crate::common::{Capture, cases, corr, edge, json, locator, unpacked};

const SGLANG: &str = "sglang/c-0523-tp2-dp2";

fn text(path: &Path) -> String {
    String::from_utf8(unpacked(path)).unwrap()
}

fn all(answer: &Value, what: &str) -> Vec<Value> {
    answer["edges"].as_array().unwrap().iter().flat_map(|e| e[what].as_array().unwrap().clone()).collect()
}

/// Scrapes of a target between two instants, ms: files are named by their time.
fn scrapes_between(folder: &Path, from: i64, to: i64) -> usize {
    let times = std::fs::read_dir(folder).unwrap().filter_map(|e| {
        let name = e.unwrap().file_name().to_string_lossy().into_owned();
        name.split('.').next()?.parse::<i64>().ok()
    });
    times.filter(|t| *t >= from && *t < to).collect::<BTreeSet<_>>().len()
}

/// 18:51:38 to 18:51:50: the one server had ended, the other was not scraped yet.
#[test]
fn without_a_sample_nothing_is_zero() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, SGLANG);
    let (since, until) = ("2026-11-29T18:51:38Z", "2026-11-29T18:51:50Z");
    for target in ["tp2", "dp2"] {
        assert_eq!(scrapes_between(&capture.original.join("metrics").join(target), 1_795_978_298_000, 1_795_978_310_000), 0, "{target}");
    }
    let window = ["edges", capture.path(), "--since", since, "--until", until];
    let answer = json(&window);
    let counters = all(&answer, "counters");
    assert!(counters.len() > 20, "{}", counters.len());
    for counter in &counters {
        assert!(counter["increase"].is_null() && counter["cites"].as_array().unwrap().is_empty(), "{counter}");
        assert!(counter["not_covered"].as_str().is_some_and(|why| why.contains("no sample of it")), "{counter}");
    }
    let (code, out, err) = corr(&[&window[..], &["--explain"]].concat());
    assert_eq!(code, 0, "{err}");
    for line in out.lines().filter(|l| l.contains("counter sglang:")) {
        assert!(line.contains("unknown, not zero"), "{line}");
    }
    assert!(!out.contains("did not move"), "{out}");
    println!("{} counters without a sample, none of them zero", counters.len());
}

/// Requests are of the request log, tokens of the scheduler's batches: 61 of them, probes and warm-ups too.
#[test]
fn tokens_of_batches_are_not_those_of_requests() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, SGLANG);
    let (mut batches, mut tokens) = (0, 0.0);
    for log in ["tp2.log", "dp2.log"] {
        for line in text(&capture.original.join(log)).lines().filter(|l| l.contains("Prefill batch")) {
            let (_, rest) = line.split_once("#new-token: ").unwrap();
            batches += 1;
            tokens += rest.split(',').next().unwrap().parse::<f64>().unwrap();
        }
    }
    let answer = json(&["edges", capture.path()]);
    let prefill = edge(&answer, "prefill");
    assert_eq!((prefill["amount"].as_f64(), prefill["amount_of"]["records"].as_u64()), (Some(tokens), Some(batches)));
    assert_eq!(prefill["amount_of"]["signal"], "prefill-batch");
    assert_eq!(edge(&answer, "decode")["amount_of"]["requests"], edge(&answer, "decode")["count"]);
    let (_, out, _) = corr(&["edges", capture.path()]);
    let line = out.lines().find(|l| l.starts_with("prefill ")).unwrap();
    assert!(line.contains(&format!("60 requests; 3 950 tokens in {batches} records of prefill-batch")), "{line}");
    println!("{batches} batches, {tokens} tokens");
}

/// The stamp of a line of SGLang's log, as it stands there.
fn stamp(line: &str) -> &str {
    line.strip_prefix('[').and_then(|l| l.split_once(']')).unwrap_or_else(|| panic!("no stamp: {line}")).0
}

#[test]
fn the_first_and_the_last_proof_are_so_by_their_stamps() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, SGLANG);
    let mut stamps: Vec<String> = Vec::new();
    for log in ["tp2.log", "dp2.log"] {
        let log = text(&capture.original.join(log));
        let ends = log.lines().filter(|l| l.contains("Finish: ") && !l.contains("HEALTH_CHECK"));
        stamps.extend(ends.map(|l| stamp(l).to_string()));
    }
    stamps.sort();
    let answer = json(&["edges", capture.path()]);
    let ended = edge(&answer, "admission")["proofs"].as_array().unwrap().iter().find(|p| p["signal"] == "request-log-end").unwrap();
    assert_eq!(ended["records"].as_u64(), Some(stamps.len() as u64));
    let shares = answer["shares"].as_array().unwrap();
    let share = shares.iter().find(|s| s["id"] == "engine-reuse").unwrap();
    for cited in [ended, share] {
        let cites: Vec<&str> = cited["cites"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
        let at = |cite: &str| {
            let (path, line) = locator(cite);
            stamp(text(Path::new(path)).lines().nth(line - 1).unwrap()).to_string()
        };
        assert_eq!(cites.iter().map(|c| at(c)).collect::<Vec<_>>(), [stamps[0].clone(), stamps[stamps.len() - 1].clone()], "{cites:?}");
    }
    println!("{} ends of requests, from {} to {}", stamps.len(), stamps[0], stamps[stamps.len() - 1]);
}

/// What evictions were counted is bounded from below alone, and what the series had at their first sample is said.
#[test]
fn evictions_are_at_least_what_samples_show() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, SGLANG);
    // By the scrapes: 281 to 1 711 and 311 to 1 711 of two ranks that say the same, 294 to 1 101.
    let (_, out, _) = corr(&["edges", capture.path()]);
    let line = out.lines().find(|l| l.starts_with("l1-evict ")).unwrap();
    assert!(line.contains("at least 2 237 tokens, 575 more before first samples"), "{line}");
    let (_, out, _) = corr(&["edges", capture.path(), "--edge", "l1-evict"]);
    assert!(out.contains("of tp2: at least 1 430 tokens; 281 before the first sample of a process"), "{out}");
    let (_, diff, err) = corr(&["diff", capture.path(), capture.path(), "--metrics", "sglang:evicted_tokens_total", "--all"]);
    let says: Vec<&str> = diff.lines().filter(|l| l.contains("+1430 (")).collect();
    assert!(!says.is_empty(), "{diff}{err}");
    for line in says {
        assert!(line.contains("at least 1430, at most 1711); first seen with 281") && !line.contains("exactly"), "{line}");
    }
    let page = capture.run.join("page.html");
    let (code, _, err) = corr(&["report", capture.path(), "-o", page.to_str().unwrap()]);
    assert!(code == 0 || code == 3, "{err}");
    let page = text(&page);
    assert!(
        page.contains("+1430 (at least 1430; no upper bound); first seen with 281, which is not in it"),
        "no base in the page's figures"
    );
    assert!(page.contains("% of what the capture covers"), "shares of nothing");
}

/// In a window: the records that are counted, without those behind it and with those of requests that began before, are what the command gives.
#[test]
fn records_of_a_window_add_up_to_what_the_command_gives() {
    let Some(cases) = cases() else { return };
    for (below, since, until) in [
        ("dynamo/T1_tool_events_localtz_noansi", "2026-11-29T18:52:39.500Z", "2026-11-29T18:52:43.200Z"),
        ("sglang/d-0523-router", "2026-11-29T18:52:05Z", "2026-11-29T18:52:30Z"),
    ] {
        let capture = Capture::of(&cases, below);
        let answer = json(&["edges", capture.path(), "--since", since, "--until", until]);
        let (mut compared, mut outside, mut others) = (0, 0, 0);
        for shown in [all(&answer, "proofs"), all(&answer, "hints")].concat() {
            let command = shown["reproduce"].as_str().unwrap();
            let number = |key: &str| shown[key].as_u64().unwrap() as usize;
            let given = records(&split(command)).len();
            let own = number("records") - number("records_outside_window") + number("records_of_other_windows");
            assert_eq!(given, own, "{below}: {command}: {shown}");
            compared += 1;
            outside += number("records_outside_window");
            others += number("records_of_other_windows");
        }
        println!("{below}: {compared} signals; {outside} records behind the window, {others} of requests of others");
        assert!(compared > 8 && outside + others > 0, "{compared} {outside} {others}");
    }
}

/// A router's output and its log folder hold the same records.
#[test]
fn a_log_that_is_there_twice_is_counted_once() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, "sglang/d-0523-router");
    let log = text(&capture.original.join("router.log"));
    let answer = json(&["edges", capture.path()]);
    let started = edge(&answer, "request-router")["proofs"].as_array().unwrap()[0].clone();
    assert_eq!(started["signal"], "gateway-request-started");
    // Both logs have each arrival once: by one of them.
    let twice = records(&split(&started["reproduce"].as_str().unwrap().replace(" NOT source:", " source:")));
    assert_eq!(started["records"].as_u64(), Some(twice.len() as u64), "the other log has as many");
    assert_eq!(started["same_records_in"].as_array().map(Vec::len), Some(1), "{started}");
    assert!(log.matches("started processing request").count() >= twice.len());
    // The same capture with one of both is judged the same.
    let alone = Capture::of(&cases, "sglang/d-0523-router");
    std::fs::remove_dir_all(alone.run.join("router-log-dir")).unwrap();
    let one = json(&["edges", alone.path()]);
    let mut compared = 0;
    for (a, b) in answer["edges"].as_array().unwrap().iter().zip(one["edges"].as_array().unwrap()) {
        assert_eq!((&a["edge"], &a["count"], &a["amount"]), (&b["edge"], &b["count"], &b["amount"]));
        for (a, b) in a["proofs"].as_array().unwrap().iter().zip(b["proofs"].as_array().unwrap()) {
            assert_eq!((&a["signal"], &a["records"], &a["amount"]), (&b["signal"], &b["records"], &b["amount"]));
            compared += 1;
        }
    }
    println!("{compared} signals are the same with one log and with both");
}

/// `corr show` of samples gives those between the ends of the citation.
#[test]
fn citations_of_samples_open() {
    let Some(cases) = cases() else { return };
    let mut opened = 0;
    for below in [SGLANG, "dynamo/D1_disagg_jsonl"] {
        let capture = Capture::of(&cases, below);
        let answer = json(&["edges", capture.path()]);
        let counters = all(&answer, "counters");
        let step = (counters.len() / 6).max(1);
        let never = counters.iter().filter(|c| c["never_seen"] == true).take(1);
        for counter in counters.iter().step_by(step).chain(never) {
            for cite in counter["cites"].as_array().unwrap() {
                let cite = cite.as_str().unwrap();
                let (code, out, err) = corr(&["show", cite, "--run", capture.path(), "--format", "json"]);
                assert_eq!(code, 0, "{cite}: {err}");
                let shown: Value = serde_json::from_str(&out).unwrap();
                let series = shown["series"].as_array().unwrap();
                let (_, name, target, from, to) = span(cite);
                assert!(!series.is_empty(), "{cite}");
                for one in series {
                    assert_eq!(one["target"], target, "{cite}");
                    let family = one["series"].as_str().unwrap().split('{').next().unwrap();
                    assert_eq!(family, name.split('{').next().unwrap(), "{cite}");
                }
                if counter["never_seen"] == true {
                    assert!(!name.contains('{'), "{cite}: the family, not another series");
                } else {
                    assert_eq!((series.len(), &series[0]["series"]), (1, &counter["series"]), "{cite}");
                    let samples = series[0]["samples"].as_array().unwrap();
                    assert_eq!((samples[0][0].as_str(), samples[samples.len() - 1][0].as_str()), (Some(from), Some(to)), "{cite}");
                }
                opened += 1;
            }
        }
        // Found without --run, too, where the path says it.
        let cite = counters.iter().find_map(|c| c["cites"][0].as_str()).unwrap();
        let (code, _, err) = corr(&["show", cite]);
        assert_eq!(code, 0, "{cite}: {err}");
        let (code, _, err) = corr(&["show", &cite.replace("@20", "@10"), "--run", capture.path()]);
        assert!(code == 2 && err.contains("no samples are cited so"), "{code} {err}");
    }
    println!("{opened} citations of samples opened");
}

#[test]
fn an_empty_window_is_said_to_be_what_it_is() {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, SGLANG);
    for (flag, time, says) in [
        ("--since", "2026-11-30T00:00:00Z", "it begins at 2026-11-30T00:00:00.000000Z, and the run ends at 2026-11-29T18:52:37"),
        ("--until", "2026-11-20T00:00:00Z", "it ends at 2026-11-20T00:00:00.000000Z, and the run begins at 2026-11-29T18:50:34"),
    ] {
        let (code, _, err) = corr(&["edges", capture.path(), flag, time]);
        assert!(code == 2 && err.contains(says) && !err.contains("before it begins"), "{code} {err}");
    }
}
