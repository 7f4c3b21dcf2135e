//! Marks of lives and of edges: against what drivers did and references say of real captures (never given to corr), and by hand on the fixtures.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::program::{Place, cases, copy_tree};

/// All marks of an answer.
fn marks(place: &Place, args: &[&str]) -> Vec<Value> {
    let ran = place.corr(&[&["timeline"], args, &["--limit", "0", "--format", "json"]].concat());
    assert!(matches!(ran.code, Some(0 | 3)), "{args:?}: {:?} {}", ran.code, ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let marks: Vec<Value> = json["rows"].as_array().expect("rows").iter().filter(|r| r["type"] == "mark").cloned().collect();
    assert_eq!(json["summary"]["marks"].as_u64(), Some(marks.len() as u64));
    marks
}

/// The interval in which the instant of a mark lies, UTC ns, as far as it is bounded.
fn bounds(mark: &Value) -> (Option<i64>, Option<i64>) {
    let end = |of: &str, key: &str| mark[of][key].as_i64();
    match mark["known"].as_str().expect("known") {
        "exact" => (end("from", "start_ns"), end("from", "end_ns")),
        "by" => (None, end("from", "end_ns")),
        "after" => (end("from", "start_ns"), None),
        "within" | "lasting" => (end("from", "start_ns"), end("to", "end_ns")),
        other => panic!("{other}"),
    }
}

fn holds(mark: &Value, truth: i64) -> bool {
    let (after, by) = bounds(mark);
    (after.is_some() || by.is_some()) && after.is_none_or(|after| after <= truth) && by.is_none_or(|by| truth < by)
}

/// Seconds since the epoch as nanoseconds, to the microsecond.
fn ns(value: &Value) -> Option<i64> {
    value.as_f64().map(|seconds| (seconds * 1e6).round() as i64 * 1_000)
}

/// The mark of a kind of the n-th run of a unit, which is known by the letters and digits of its name.
fn of<'m>(marks: &'m [Value], kind: &str, number: usize, unit: &str) -> Option<&'m Value> {
    marks.iter().find(|mark| {
        let mut words = mark["says"].as_str().expect("words").split(' ').skip(1);
        mark["kind"] == kind
            && words.next() == Some(&number.to_string())
            && words.nth(1).is_some_and(|name| plain(name.trim_end_matches(':').trim_end_matches(".service")) == plain(unit))
    })
}

/// `worker0` and `worker-0` are one name.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The outage before the n-th run of a unit.
fn outage<'m>(marks: &'m [Value], number: usize, unit: &str) -> Option<&'m Value> {
    marks.iter().find(|mark| {
        let says = mark["says"].as_str().expect("words");
        let name = says.strip_prefix("outage:").and_then(|s| s.split('#').next()).unwrap_or("");
        let of = [format!(" to run {number} ready"), format!("; run {number} was not ready")];
        mark["kind"] == "life.outage" && plain(name) == plain(unit) && of.iter().any(|of| says.contains(of))
    })
}

#[test]
fn lives_of_sglang_captures() {
    let Some(folder) = cases("sglang") else { return };
    let truth: Value = serde_json::from_slice(&std::fs::read(folder.join("truth.json")).expect("truth")).expect("JSON");
    let (mut lives, mut checks, mut outages) = (0, 0, 0);
    for (capture, truth) in truth["captures"].as_object().expect("captures") {
        let mut targets: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for life in truth["incarnations"].as_array().expect("incarnations") {
            targets.entry(life["target"].as_str().expect("a target")).or_default().push(life);
        }
        for (target, incarnations) in targets {
            // The log alone: the polls of the driver are among what it is held against.
            let log = folder.join(capture).join(format!("{target}.log"));
            let Ok(bytes) = std::fs::read(&log) else {
                println!("{capture} {target}: no log of its own here");
                continue;
            };
            let place = Place::new();
            place.write(&format!("run/{target}.log"), &bytes);
            let marks = marks(&place, &["run", "--tz", "UTC", "level:>=fatal", "--marks", "always"]);
            for (i, life) in incarnations.iter().enumerate() {
                let (number, time) = (i + 1, |key: &str| ns(&life[key]));
                let find = |kind: &str| of(&marks, kind, number, target);
                let mut check = |ok: bool, what: &str| {
                    checks += 1;
                    assert!(ok, "{capture} {target} {number}: {what}: {life} {marks:#?}");
                };
                lives += 1;
                check(find("life.started").is_some_and(|m| holds(m, time("exec").expect("exec"))), "started");
                // Whoever is followed by another run has ended; of the last one the log may not say it.
                let ended = find("life.ended");
                check(ended.is_none_or(|m| holds(m, time("process_exited").expect("exit"))), "ended");
                check(ended.is_some() || number == incarnations.len(), "ended at all");
                match time(if target.starts_with("router") { "first_generate_200" } else { "first_health_200" }) {
                    Some(healthy) => {
                        let (after, by) = bounds(find("life.ready").unwrap_or_else(|| panic!("{capture} {target} {number}: not ready")));
                        check(by.is_some_and(|by| by > time("exec").expect("exec")) && after.is_none_or(|after| after <= healthy), "ready");
                        check(find("life.not_ready").is_none(), "ready, so not `not ready`");
                        if let Some(asked) = time("sigterm_sent") {
                            check(find("life.stop").is_some_and(|m| holds(m, asked)), "stop");
                        }
                    }
                    None => check(find("life.not_ready").is_some() && find("life.ready").is_none(), "never ready"),
                }
                if let Some(outage) = outage(&marks, number, target) {
                    let (from, to) = bounds(outage);
                    let gone = ns(&incarnations[i - 1]["process_exited"]).expect("exit");
                    check(from.is_some_and(|from| from <= gone) && to.is_none_or(|to| to > time("exec").expect("exec")), "outage");
                    outages += 1;
                }
            }
        }
    }
    println!("{lives} lives, {outages} outages, {checks} checks");
    assert!(lives >= 30 && outages >= 15 && checks >= 180, "{lives} {outages} {checks}");
}

#[test]
fn the_killed_worker_of_dynamo_captures() {
    let Some(folder) = cases("dynamo") else { return };
    let (mut kills, mut noticed) = (0, 0);
    let mut dirs: Vec<_> = std::fs::read_dir(&folder).expect("cases").map(|entry| entry.expect("an entry").path()).collect();
    dirs.sort();
    for dir in dirs.iter().filter(|dir| dir.join("timeline.jsonl").exists()) {
        let name = dir.file_name().and_then(|n| n.to_str()).expect("a name");
        let text = std::fs::read_to_string(dir.join("timeline.jsonl")).expect("truth");
        let timeline: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let at = |event: &str| timeline.iter().find(|row| row["event"] == event);
        let (Some(dead), Some(kill)) = (at("dead"), at("kill")) else { continue };
        let proc = dead["proc"].as_str().expect("a process");
        let starts: Vec<i64> =
            timeline.iter().filter(|row| row["event"] == "start" && row["proc"] == proc).filter_map(|row| ns(&row["t_unix"])).collect();
        let place = Place::new();
        copy_tree(dir, &place.path("run"));
        for truth in ["timeline.jsonl", "truth.json", "expected.json"] {
            let _ = std::fs::remove_file(place.path("run").join(truth));
        }
        let marks = marks(&place, &["run", "--tz", "UTC"]);
        let find = |kind: &str, number: usize| of(&marks, kind, number, proc);
        let (gone, killed) = (ns(&dead["t_unix"]).expect("a time"), ns(&kill["t_unix"]).expect("a time"));
        let ended = find("life.ended", 1).unwrap_or_else(|| panic!("{name} {proc}: no end in {marks:#?}"));
        assert!(ended["mark"] == "failure" && holds(ended, gone), "{name}: {ended:#}");
        assert!(find("life.stop", 1).is_none(), "{name}: nobody asked it to stop");
        for (number, start) in starts.iter().enumerate() {
            assert!(find("life.started", number + 1).is_some_and(|m| holds(m, *start)), "{name}: start {}", number + 1);
        }
        let (from, to) = bounds(outage(&marks, 2, proc).unwrap_or_else(|| panic!("{name}: no outage in {marks:#?}")));
        assert!(from.is_some_and(|from| from <= gone) && to.is_none_or(|to| to > starts[1]), "{name}: {from:?} {to:?}");
        kills += 1;
        // No worker is lost to others before somebody told it to end.
        for event in timeline.iter().filter(|row| row["event"] == "sigterm") {
            let (other, told) = (event["proc"].as_str().expect("a process"), ns(&event["t_unix"]).expect("a time"));
            let number = if other == proc { 2 } else { 1 };
            if let Some(lost) = of(&marks, "life.lost", number, other) {
                assert!(bounds(lost).1.is_some_and(|by| told < by), "{name} {other}: {lost:#}");
            }
        }
        if let Some(lost) = find("life.lost", 1) {
            let (from, to) = bounds(lost);
            assert!(to.is_some_and(|to| killed < to) && from.is_some_and(|from| from < starts[1]), "{name}: {lost:#}");
            noticed += 1;
        }
    }
    println!("{kills} kills, {noticed} noticed by others");
    assert!(kills >= 7 && noticed >= 7, "{kills} {noticed}");
}

#[test]
fn lives_of_journals() {
    let Some(folder) = cases("journald/cases") else { return };
    let (mut lives, mut checks) = (0, 0);
    let mut dirs: Vec<_> = std::fs::read_dir(&folder).expect("cases").map(|entry| entry.expect("an entry").path()).collect();
    dirs.sort();
    for dir in dirs {
        let name = dir.file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
        let expected: Value = serde_json::from_slice(&std::fs::read(dir.join("expected.json")).expect("expected")).expect("JSON");
        let place = Place::new();
        place.write("journal.export", &std::fs::read(dir.join("export.txt")).expect("the journal"));
        let marks = marks(&place, &["journal.export"]);
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut wanted: Vec<&Value> = expected["invocations"].as_array().expect("invocations").iter().collect();
        // Not by time: in one case the wall clock is set back.
        wanted.sort_by_key(|want| want["invocation"].as_str());
        for want in wanted {
            let unit = want["unit"].as_str().expect("a unit").trim_end_matches(".service");
            let number = numbers.entry(unit).or_default();
            *number += 1;
            lives += 1;
            let find = |kind: &str| of(&marks, kind, *number, unit);
            let verdict = want["verdict"].as_str().expect("a verdict");
            for (kind, key) in [("life.started", "started"), ("life.loaded", "load_end"), ("life.ended", "ended")] {
                // Of a unit that tells when it is ready, `started` is that; its start began before.
                let began = want["t"]["starting"].as_i64().filter(|_| key == "started");
                let Some(at) = began.or(want["t"][key].as_i64()) else { continue };
                checks += 1;
                assert!(find(kind).is_some_and(|m| holds(m, at)), "{name} {unit} {number}: {key} at {at}: {:#?}", find(kind));
            }
            let failed = verdict.contains("warm-up failed");
            if let Some(at) = want["t"]["ready"].as_i64().filter(|_| !failed) {
                checks += 1;
                assert!(find("life.ready").is_some_and(|m| holds(m, at)), "{name} {unit} {number}: ready at {at}: {marks:#?}");
            }
            if verdict.contains("not ready") || verdict.contains("never ready") || failed {
                checks += 1;
                assert!(find("life.ready").is_none() && find("life.not_ready").is_some(), "{name} {unit} {number}: {verdict}: {marks:#?}");
            }
            if let Some(at) = want["t"]["stopping"].as_i64().filter(|_| verdict == "was ready, then stopped") {
                checks += 1;
                // Asked no later than systemd began it.
                assert!(
                    find("life.stop").is_some_and(|m| bounds(m).1.is_some_and(|by| by >= at)),
                    "{name} {unit} {number}: stop: {marks:#?}"
                );
            }
        }
    }
    println!("{lives} lives, {checks} checks");
    assert!(lives >= 20 && checks >= 65, "{lives} {checks}");
}

/// By `grep -n` in server.log and `jq` in health.jsonl: three lives, the second killed (its last line is 52, and the next process's first is 53).
#[test]
fn lives_of_the_restart_fixture() {
    let place = Place::with("restart-run");
    let args = ["restart-run", "--tz", "UTC"];
    let all = marks(&place, &args);
    let lives: Vec<(String, String)> = all
        .iter()
        .filter(|m| m["kind"].as_str().is_some_and(|k| k.starts_with("life.")))
        .map(|m| (m["kind"].as_str().expect("a kind").to_string(), m["cite"].as_str().expect("a citation").to_string()))
        .collect();
    for (kind, line) in
        [("life.loaded", 3), ("life.ready", 10), ("life.loaded", 36), ("life.ready", 43), ("life.loaded", 55), ("life.ready", 62)]
    {
        let exact = (kind.to_string(), format!("restart-run/server.log:{line}"));
        assert!(lives.contains(&exact), "{exact:?} is not in {lives:#?}");
    }
    assert_eq!(lives.iter().filter(|(kind, _)| kind == "life.outage").count(), 2, "{lives:#?}");
    // In the first outage alone: between the SIGTERM of line 28 and the ready line 43.
    let within = marks(&place, &[&args[..], &["--window", "outage:server#1"]].concat());
    let kinds: Vec<&str> = within.iter().filter_map(|m| m["kind"].as_str()).filter(|k| k.starts_with("life.")).collect();
    assert_eq!(kinds.iter().filter(|k| **k == "life.ready").count(), 1, "{within:#?}");
    assert!(!within.iter().any(|m| m["cite"] == "restart-run/server.log:62"), "{within:#?}");
    for mark in all.iter().chain(&within) {
        let cite = mark["cite"].as_str().expect("a citation");
        assert_eq!(place.corr(&["show", cite, "--tz", "UTC"]).code, Some(0), "{cite}");
    }
    assert!(marks(&place, &[&args[..], &["--marks", "never"]].concat()).is_empty());
    assert!(marks(&place, &[&args[..], &["kind:server_ready"]].concat()).is_empty(), "a query chose");
}

/// By `grep -n 'Registered endpoint\|is ready'`: a worker is ready by the endpoint that serves requests (`generate`), not by the one at which routers ask for KV events,
/// which worker-0 registers first (line 36).
#[test]
fn a_worker_is_ready_by_the_endpoint_that_serves() {
    let place = Place::with("direct-run");
    let all = marks(&place, &["direct-run"]);
    for (unit, line) in [("worker-0", "worker-0.log:47"), ("worker-1", "worker-1.log:26"), ("router", "router.log:29")] {
        let ready = of(&all, "life.ready", 1, unit).unwrap_or_else(|| panic!("{unit} is not ready: {all:#?}"));
        assert_eq!(ready["cite"], format!("direct-run/logs/{line}"), "{unit}");
    }
}

/// By `grep -n 'request received'` in the logs of router and workers (health probes are none), and the first row of the trace (`zcat | head -1`): which record proves an
/// edge first; the last ones are the last trace row, the last arrival at a worker, and what the router printed of that request.
#[test]
fn edges_are_proven_from_when_to_when() {
    let place = Place::with("direct-run");
    let all = marks(&place, &["direct-run"]);
    let cite = |kind: &str, id: &str| {
        let named = |m: &&Value| m["kind"] == kind && m["says"].as_str().is_some_and(|s| s.contains(&format!(" {id} (in all ")));
        all.iter().find(named).map(|m| m["cite"].as_str().expect("a citation").trim_start_matches("direct-run/").to_string())
    };
    let trace = "artifacts/dynamo-request-trace.000000.jsonl.gz";
    for (id, first, last) in [
        ("request-router", "logs/router.log:39", &format!("{trace}:39")[..]),
        ("router-worker", "logs/router.log:41", "logs/router.log:339"),
        ("admission", "logs/worker-1.log:52", "logs/worker-1.log:107"),
        ("prefill", &format!("{trace}:1")[..], "logs/router.log:340"),
        ("decode", &format!("{trace}:1")[..], "logs/router.log:340"),
    ] {
        assert_eq!((cite("edge.first", id).as_deref(), cite("edge.last", id).as_deref()), (Some(first), Some(last)), "{id}: {all:#?}");
    }
    // Every edge that `corr edges` calls proven has its marks, and no other one.
    let edges: Value = serde_json::from_str(&place.corr(&["edges", "direct-run", "--format", "json"]).stdout).expect("JSON");
    for found in edges["edges"].as_array().expect("edges") {
        let id = found["edge"].as_str().or(found["id"].as_str()).expect("an id");
        assert_eq!(cite("edge.first", id).is_some(), found["activity"] == "proven", "{id}");
    }
    // Of one request: only what its own records prove.
    let one = marks(&place, &["direct-run", "--request", "edf9ed01-3219-4585-a510-233214f462c1", "--marks", "always"]);
    assert!(one.iter().any(|m| m["kind"].as_str().is_some_and(|k| k.starts_with("edge."))), "{one:#?}");
}

/// By `jq -c '[.timestamp_ns, .error]' raw_prometheus.jsonl`: the last scrape before the port was closed, and the first that answered again. `grep` of the
/// samples: `cached_tokens_total` of the device is in the scrapes up to the first of the two alone, 802593 and 879110.
#[test]
fn what_scrapes_alone_show_is_marked() {
    let place = Place::with("metrics-run");
    let all = marks(&place, &["metrics-run", "--tz", "UTC"]);
    let (before, after) = (1_795_977_049_876_768_011_i64, 1_795_977_057_868_768_302_i64);
    let restarted: Vec<&Value> = all.iter().filter(|m| m["kind"] == "life.restarted").collect();
    assert_eq!(restarted.len(), 1, "{all:#?}");
    assert_eq!((&restarted[0]["from"]["start_ns"], &restarted[0]["to"]["start_ns"]), (&before.into(), &after.into()), "{restarted:#?}");
    assert!(
        restarted[0]["cite"].as_str().is_some_and(|c| c.starts_with("metrics-run/raw_prometheus.jsonl[http://127.0.0.1:13000/metrics]@"))
    );
    let counted: Vec<&Value> = all.iter().filter(|m| m["kind"] == "edge.counted").collect();
    let l1 = counted
        .iter()
        .find(|m| m["says"].as_str().is_some_and(|s| s.starts_with("l1-lookup active: at least 76 517 tokens")))
        .expect("a counter of l1-lookup");
    assert_eq!(l1["from"]["start_ns"], 1_795_977_040_868_764_829_i64, "{l1:#}");
    for mark in counted {
        assert!(mark["known"] == "within" && mark["from"]["start_ns"].as_i64() <= mark["to"]["start_ns"].as_i64(), "{mark:#}");
        // Its citation is one of `corr metrics`.
        let cite = mark["cite"].as_str().expect("a citation");
        let shown = place.corr(&["metrics", "metrics-run", "--around", cite, "sglang:cached_tokens_total"]);
        assert!(matches!(shown.code, Some(0 | 3)), "{cite}: {}", shown.stderr);
    }
}
