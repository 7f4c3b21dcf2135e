//! `corr diff`: expectations are what grep, jq and the scrapes themselves say of the same files, and the files on edges that were written from truth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::{case, corr, unpacked};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name).to_str().unwrap().to_string()
}

/// What becomes of a file; `None` leaves it out.
type Kept = Option<Vec<u8>>;

/// A run's files, each through `change`; without the answers.
fn copy(from: &Path, to: &Path, change: &dyn Fn(&str, Vec<u8>) -> Kept) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let answers = ["client.jsonl", "client_truth", "timeline.jsonl", "health.jsonl", "truth.json", "scrapes.jsonl"];
        if answers.iter().any(|a| name.contains(a)) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(&name), change);
        } else if let Some(bytes) = change(&name, std::fs::read(entry.path()).unwrap()) {
            std::fs::write(to.join(&name), bytes).unwrap();
        }
    }
}

/// Replaces text, which must stand there.
fn replaced(bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(from), "{from}");
    text.replace(from, to).into_bytes()
}

fn answer(arguments: &[&str]) -> (i32, Value) {
    let mut all = vec!["diff", "--format", "json"];
    all.extend(arguments);
    let (code, out, err) = corr(&all);
    assert!(!out.is_empty(), "{arguments:?}: exit code {code}\n{err}");
    (code, serde_json::from_str(&out).unwrap())
}

fn list<'a>(answer: &'a Value, name: &str) -> &'a Vec<Value> {
    answer[name].as_array().unwrap()
}

/// Names of the facts in a state.
fn facts<'a>(answer: &'a Value, state: &str) -> BTreeSet<&'a str> {
    list(answer, "facts").iter().filter(|f| f["state"] == state).map(|f| f["name"].as_str().unwrap()).collect()
}

fn fact<'a>(answer: &'a Value, name: &str) -> &'a Value {
    list(answer, "facts").iter().find(|f| f["name"] == name).unwrap_or_else(|| panic!("{name}"))
}

fn differing_edges(answer: &Value) -> BTreeSet<&str> {
    let edges = list(answer, "verdicts").iter().filter(|v| !v["differs"].as_array().unwrap().is_empty());
    edges.map(|v| v["edge"].as_str().unwrap()).collect()
}

fn alternative<'a>(answer: &'a Value, id: &str) -> Option<&'a Value> {
    list(answer, "alternatives").iter().find(|a| a["id"] == id)
}

/// Words that say that one thing made another.
const CAUSAL: &[&str] =
    &["because", "caused", "causes", "due to", "leads to", "led to", "improve", "regress", "thanks to", "consistent over"];

fn no_cause(text: &str) {
    for word in CAUSAL {
        assert!(!text.contains(word), "`{word}` in\n{text}");
    }
}

#[test]
fn one_run_against_itself_has_no_differences() {
    for name in ["direct-run", "sglang-run", "metrics-run"] {
        let run = fixture(name);
        let (_, found) = answer(&[&run, &run]);
        assert_eq!((&found["one_run"], &found["no_differences"]), (&json!(true), &json!(true)), "{name}");
        assert!(differing_edges(&found).is_empty(), "{name}");
        for row in list(&found, "metrics") {
            assert!(!row["a"].is_null() && !row["b"].is_null(), "{name}: {row}");
            for quantity in list(row, "quantities") {
                let shown = quantity["shown"].as_str().unwrap();
                assert!(["equal", "no_difference_shown", "unknown"].contains(&shown), "{name}: {quantity}");
            }
        }
        let (_, text, _) = corr(&["diff", &run, &run]);
        assert!(text.contains("no differences: ") && text.contains("A and B are one run"), "{text}");
        no_cause(&text);
    }
}

#[test]
fn a_setting_and_an_artifact_that_differ() {
    let temp = tempfile::tempdir().unwrap();
    let run = fixture("direct-run");
    let changed = temp.path().join("changed");
    // worker-0 is asked for 1024 blocks and says that it has them; the request trace is not there.
    let first = |bytes: Vec<u8>, from: &str, to: &str| {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{from}");
        Some(text.replacen(from, to, 1).into_bytes())
    };
    copy(Path::new(&run), &changed, &|name, bytes| match name {
        "direct-plan.json" => first(bytes, "--num-gpu-blocks-override 512", "--num-gpu-blocks-override 1024"),
        "worker-0.log" => first(bytes, "num_gpu_blocks: 512", "num_gpu_blocks: 1024"),
        name if name.contains("dynamo-request-trace") => None,
        _ => Some(bytes),
    });
    let (code, found) = answer(&[&run, changed.to_str().unwrap()]);
    assert_eq!(code, 0);
    assert_eq!(found["one_run"], false);
    // grep -o 'num_gpu_blocks: [0-9]*' logs/worker-*.log: 512 in both of A; in worker-1 alone of B.
    let blocks = fact(&found, "kv_pool_blocks");
    assert_eq!(blocks["state"], "differs");
    let said = |side: &str| {
        let values = blocks[side].as_array().unwrap().iter();
        values.map(|v| (v["value"].as_i64().unwrap(), v["workers"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(said("a"), [(512, json!(["worker-0", "worker-1"]))]);
    let mut b = said("b");
    b.sort_by_key(|v| v.0);
    assert_eq!(b, [(512, json!(["worker-1"])), (1024, json!(["worker-0"]))]);
    let cited = |side: &str| blocks[side][0]["citations"][0]["at"].as_str().unwrap().to_string();
    assert!(cited("a").starts_with(&run) && cited("b").starts_with(changed.to_str().unwrap()), "{blocks}");
    // Without the trace no record has a session: each edge whose sessions A proves is another.
    for row in list(&found, "verdicts") {
        let proven = row["a"]["session"]["verdict"] == "proven";
        let differs = row["differs"].as_array().unwrap().contains(&json!("session"));
        assert!(!proven || differs, "{row}");
        assert_ne!(row["b"]["session"]["verdict"], "proven", "{row}");
    }
    assert!(differing_edges(&found).contains("router-worker"));
    assert_eq!(found["support"]["label"], "directional only");
    let (_, text, _) = corr(&["diff", &run, changed.to_str().unwrap()]);
    assert!(text.contains("directional only: one ordered pair A → B"), "{text}");
    no_cause(&text);
    // The command of a side gives the same verdict.
    let row = list(&found, "verdicts").iter().find(|v| v["edge"] == "router-worker").unwrap();
    let command: Vec<&str> = row["a"]["reproduce"].as_str().unwrap().split(' ').skip(1).collect();
    let (_, edges, _) = corr(&[&command[..], &["--format", "json"]].concat());
    let edges: Value = serde_json::from_str(&edges).unwrap();
    let again = list(&edges, "edges").iter().find(|e| e["edge"] == "router-worker").unwrap();
    assert_eq!(
        (&again["activity"], &again["count"], &again["session"]["k"]),
        (&row["a"]["activity"], &row["a"]["count"], &row["a"]["session"]["k"])
    );
}

/// The window of `metrics-counter.toml`: at least 48089, at most 59591.
const WINDOW: [&str; 4] = ["--since", "2026-11-29T18:30:42.5Z", "--until", "2026-11-29T18:30:48.5Z"];
const DEVICE: &str = "sglang:cached_tokens_total{cache_source=\"device\"}";

/// A copy in which the last sample of the window, and the one after it, are this much more.
fn shifted(to: &Path, by: i64) {
    copy(Path::new(&fixture("metrics-run")), to, &|name, bytes| {
        Some(if name == "raw_prometheus.jsonl" {
            let bytes = replaced(bytes, "} 868835.0", &format!("}} {}.0", 868_835 + by));
            replaced(bytes, "} 873427.0", &format!("}} {}.0", 873_427 + by))
        } else {
            bytes
        })
    });
}

fn increase(found: &Value) -> Value {
    let rows = list(found, "metrics");
    assert_eq!(rows.len(), 1, "{rows:?}");
    list(&rows[0], "quantities").iter().find(|q| q["name"] == "increase").unwrap().clone()
}

#[test]
fn brackets_decide_what_is_shown() {
    let temp = tempfile::tempdir().unwrap();
    let (a, b) = (fixture("metrics-run"), temp.path().join("b"));
    let asked = |b: &Path| answer(&[&[&a, b.to_str().unwrap(), "--metrics", DEVICE][..], &WINDOW].concat()).1;
    shifted(&b, 20_000);
    let of = increase(&asked(&b));
    // 68089 - 59591 and 79591 - 48089.
    assert_eq!((&of["shown"], &of["difference"]), (&json!("more"), &json!({"least": 8498.0, "most": 31502.0})));
    assert_eq!((&of["a"]["range"]["low"], &of["a"]["range"]["high"]), (&json!(48089.0), &json!(59591.0)));
    std::fs::remove_dir_all(&b).unwrap();
    shifted(&b, 5_000);
    let of = increase(&asked(&b));
    assert_eq!((&of["shown"], &of["difference"]), (&json!("no_difference_shown"), &Value::Null), "53089 to 64591 overlaps");
    let (_, text, _) = corr(&[&["diff", &a, b.to_str().unwrap(), "--all", "--metrics", DEVICE][..], &WINDOW].concat());
    assert!(text.contains("increase: A [48089, 59591], B [53089, 64591]: no difference shown"), "{text}");
    // Rates are of the windows' six seconds, and of the two samples.
    let rate = |side: f64| format!("{}", (side / 6.0 * 1000.0).round() / 1000.0);
    assert!(text.contains("increase per second: A [") && text.contains(&rate(48_089.0)[..6]), "{text}");
}

#[test]
fn repetitions_that_are_declared() {
    let temp = tempfile::tempdir().unwrap();
    for (name, by) in [("a1", 0), ("b1", 20_000), ("b2", 20_001), ("a2", 1)] {
        shifted(&temp.path().join(name), by);
    }
    let path = |name: &str| temp.path().join(name).to_str().unwrap().to_string();
    let file = |name: &str, reps: &[(&str, &str, u32, &str)]| {
        let one = |(run, arm, order, id): &(&str, &str, u32, &str)| {
            let id = if id.is_empty() { String::new() } else { format!("matched_replay = \"{id}\"\n") };
            format!("[[rep]]\nrun = \"{run}\"\narm = \"{arm}\"\norder = {order}\n{id}")
        };
        std::fs::write(temp.path().join(name), reps.iter().map(one).collect::<String>()).unwrap();
        path(name)
    };
    let (a, b) = (path("a1"), path("b1"));
    let with = |reps: &str| {
        [&[&a, &b, "--reps", reps, "--metrics", DEVICE][..], &WINDOW].concat().iter().map(|s| s.to_string()).collect::<Vec<_>>()
    };
    let ask = |reps: &str| answer(&with(reps).iter().map(String::as_str).collect::<Vec<_>>()).1;
    let text = |reps: &str| corr(&[&["diff".to_string()][..], &with(reps)].concat().iter().map(String::as_str).collect::<Vec<_>>());

    let both = file("both.toml", &[("a1", "A", 1, ""), ("b1", "B", 2, ""), ("b2", "B", 3, ""), ("a2", "A", 4, "")]);
    let found = ask(&both);
    assert_eq!(found["support"]["label"], "repeated");
    let of = &found["support"]["repetitions"];
    assert_eq!((&of["both_orders"], &of["pairs"][0]["first"], &of["pairs"][1]["first"]), (&json!(true), &json!("A"), &json!("B")));
    let row = list(of, "figures").iter().find(|r| r["quantity"] == "increase").unwrap();
    assert_eq!(row["verdict"], json!({"consistent": true, "b": "more"}));
    // a2 has 48090 to 59592, b2 68090 to 79592.
    assert_eq!(row["pairs"][1]["difference"], json!({"least": 8498.0 , "most": 31502.0}));
    let (_, out, _) = text(&both);
    assert!(out.contains("increase: consistent over 2 repetitions in both orders: B more in each"), "{out}");

    let one_order = file("one.toml", &[("a1", "A", 1, ""), ("b1", "B", 2, ""), ("a2", "A", 3, ""), ("b2", "B", 4, "")]);
    let found = ask(&one_order);
    assert_eq!(found["support"]["label"], "directional only");
    assert!(found["support"]["lacks"][0].as_str().unwrap().contains("a repetition in the order B/A"), "{}", found["support"]);
    let (_, out, _) = text(&one_order);
    no_cause(&out);

    let replays = [("a1", "A", 1, "x"), ("b1", "B", 2, "x"), ("a2", "A", 3, "y"), ("b2", "B", 4, "y")];
    let (_, out, _) = text(&file("replays.toml", &replays));
    assert!(out.contains("consistent over 2 matched replays: B more in each"), "{out}");
    let (_, out, _) = text(&file("lone.toml", &[("a1", "A", 1, "x"), ("b1", "B", 2, "y")]));
    assert!(out.contains("directional only") && out.contains("one run of each arm for matched replay"), "{out}");

    for (name, reps, says) in [
        ("gone.toml", [("a1", "A", 1, ""), ("nowhere", "B", 2, "")], "there is no"),
        ("arm.toml", [("a1", "A", 1, ""), ("b1", "C", 2, "")], "an arm is \"A\" or \"B\""),
        ("order.toml", [("a1", "A", 1, ""), ("b1", "B", 1, "")], "order = 1"),
        ("swapped.toml", [("a1", "B", 1, ""), ("b1", "A", 2, "")], "is of arm B there"),
        ("other.toml", [("a2", "A", 1, ""), ("b2", "B", 2, "")], "none of its repetitions"),
    ] {
        let (code, out, err) = text(&file(name, &reps));
        assert!(code == 2 && out.is_empty() && err.contains(says), "{name}: {code}\n{err}");
    }
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let run = fixture("sglang-run");
    let (code, _, err) = corr(&["diff", &run, &run, "--edge", "decod"]);
    assert!(code == 2 && err.contains("did you mean `decode`?"), "{err}");
    let (code, _, err) = corr(&["diff", &run, &run, "--window", "nowhere"]);
    assert!(code == 2 && err.contains("no window is named `nowhere`"), "{err}");
    let (code, _, err) = corr(&["diff", &run, "/nowhere/at/all"]);
    assert!(code == 2 && err.contains("/nowhere/at/all"), "{err}");
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("notes.txt"), "hello\n").unwrap();
    let at = temp.path().to_str().unwrap();
    let (code, out, err) = corr(&["diff", at, at]);
    assert!(code == 1 && out.is_empty() && err.contains("nothing to compare"), "{code} {err}");
}

#[test]
fn every_format_says_what_it_supports() {
    let (a, b) = (fixture("sglang-run"), fixture("direct-run"));
    for (format, says) in [
        ("text", "directional only: one ordered pair"),
        ("markdown", "| support | directional only |"),
        ("csv", "support,directional only,"),
    ] {
        let (code, out, err) = corr(&["diff", &a, &b, "--format", format]);
        assert!((code == 0 || code == 3) && out.contains(says), "{format}: {code}\n{err}\n{out}");
    }
    let (_, out, _) = corr(&["diff", &a, &b, "--format", "jsonl"]);
    let lines: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let summary = lines.last().unwrap();
    assert_eq!((&summary["type"], &summary["schema"]), (&json!("summary"), &json!("corr.diff.v1")));
    assert!(lines.iter().any(|l| l["type"] == "alternative") && lines.iter().any(|l| l["type"] == "verdict"));
}

/// Of each series of a scraped target: the first and the last value, and what it had counted at the first, which nobody saw. By name and sorted labels.
fn scraped(folder: &Path, target: &str) -> BTreeMap<String, (f64, f64, f64)> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|n| n.starts_with(&format!("{target}_")) && n.contains(".prom"));
    names.sort();
    let mut out: BTreeMap<String, (f64, f64, f64)> = BTreeMap::new();
    for name in &names {
        for line in String::from_utf8(unpacked(&folder.join(name))).unwrap().lines().filter(|l| !l.starts_with('#')) {
            let Some((series, value)) = line.rsplit_once(' ') else { continue };
            let value: f64 = value.parse().unwrap();
            out.entry(sorted(series)).and_modify(|v| v.1 = value).or_insert((value, value, value));
        }
    }
    out
}

fn sorted(series: &str) -> String {
    let Some((name, labels)) = series.split_once('{') else { return series.to_string() };
    let mut labels: Vec<&str> = labels.trim_end_matches('}').split("\",").map(|l| l.trim_end_matches('"')).collect();
    // A label without a value is none.
    labels.retain(|l| !l.trim_end_matches('"').ends_with('='));
    labels.sort_unstable();
    format!("{name}{{{}}}", labels.join(","))
}

#[test]
fn a_run_with_a_trace_and_one_with_audit_bodies_alone() {
    let (Some(a), Some(b)) = (case("dynamo/A1_trace_payload_headers_jsonl"), case("dynamo/B1_audit_body_only_jsonl")) else { return };
    let temp = tempfile::tempdir().unwrap();
    let (copy_a, copy_b) = (temp.path().join("a"), temp.path().join("b"));
    copy(&a, &copy_a, &|_, bytes| Some(bytes));
    copy(&b, &copy_b, &|_, bytes| Some(bytes));
    let (_, found) = answer(&[copy_a.to_str().unwrap(), copy_b.to_str().unwrap()]);
    // commands.txt: DYN_REQUEST_TRACE is 1 and 0; DYN_LOG and the header list stand in A alone, DYN_AUDIT_SINKS in B alone; both run 256 blocks.
    assert_eq!(fact(&found, "DYN_REQUEST_TRACE")["state"], "differs");
    assert!(facts(&found, "not said in B").contains("DYN_LOG"), "{:?}", facts(&found, "not said in B"));
    assert!(facts(&found, "not said in A").contains("DYN_AUDIT_SINKS"), "{:?}", facts(&found, "not said in A"));
    assert_eq!(fact(&found, "kv_pool_blocks")["state"], "equal");
    assert_eq!(fact(&found, "host_blocks")["state"], "equal");
    assert_eq!(alternative(&found, "restart").unwrap()["applies"], true, "w2 is killed and started again in both");
    // Each verdict as the files that were written from truth have it.
    let mut compared = 0;
    for (side, name) in [("a", "A1_trace_payload_headers_jsonl"), ("b", "B1_audit_body_only_jsonl")] {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/edges/expected/{name}.toml"));
        let golden: toml::Table = toml::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
        for edge in golden["edge"].as_array().unwrap() {
            if edge.get("undecided").is_some() {
                continue;
            }
            let id = edge["id"].as_str().unwrap();
            let row = list(&found, "verdicts").iter().find(|v| v["edge"] == id).unwrap();
            let session = match edge["session"].as_str().unwrap().split_once(" of ") {
                Some((k, n)) => format!("proven {k} of {n}"),
                None => edge["session"].as_str().unwrap().to_string(),
            };
            let said = &row[side]["session"];
            let text = match said["verdict"].as_str().unwrap() {
                "proven" => format!("proven {} of {}", said["k"], said["n"]),
                other => other.to_string(),
            };
            assert_eq!((row[side]["activity"].as_str().unwrap(), text), (edge["activity"].as_str().unwrap(), session), "{side} {id}");
            compared += 1;
        }
    }
    println!("{compared} verdicts are those of the files on edges");
    assert!(compared > 20, "{compared}");
    // B proves no session of any request; where A proves some, the verdicts differ.
    for row in list(&found, "verdicts") {
        if row["a"]["session"]["verdict"] == "proven" && row["b"]["activity"] != "absent" {
            assert!(row["differs"].as_array().unwrap().contains(&json!("session")), "{row}");
        }
    }
    // Increases of counters of the frontend and of w1, by the scrapes' own lines.
    let mut checked = 0;
    for target in ["frontend", "w1"] {
        let (of_a, of_b) = (scraped(&a.join("metrics"), target), scraped(&b.join("metrics"), target));
        for row in list(&found, "metrics") {
            if row["a"]["target"] != target || row["a"]["kind"] != "counter" || row["b"].is_null() {
                continue;
            }
            let quantity = list(row, "quantities").iter().find(|q| q["name"] == "increase").unwrap();
            // At least the difference; at most what the series had at its first sample with it.
            let says = |of: &BTreeMap<String, (f64, f64, f64)>, side: &str| {
                let (first, last, before) = of[&sorted(row[side]["series"].as_str().unwrap())];
                (last - first, last - first + before)
            };
            let (in_a, in_b) = (says(&of_a, "a"), says(&of_b, "b"));
            if quantity["a"]["value"].is_null() || quantity["b"]["value"].is_null() {
                continue;
            }
            for (side, says) in [("a", in_a), ("b", in_b)] {
                let range = &quantity[side]["range"];
                assert_eq!((&range["low"], &range["high"]), (&json!(says.0), &json!(says.1)), "{row}");
            }
            let shown = if in_b.0 > in_a.1 {
                "more"
            } else if in_b.1 < in_a.0 {
                "less"
            } else if in_a == in_b && in_a.0 == in_a.1 {
                "equal"
            } else {
                "no_difference_shown"
            };
            assert_eq!(quantity["shown"], shown, "{row}");
            checked += 1;
        }
    }
    println!("{checked} increases are those of the scrapes");
    assert!(checked >= 10, "{checked}");
}

#[test]
fn a_run_with_a_restart_against_itself() {
    let Some(run) = case("sglang/b2-0523-hicache-restart") else { return };
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path().join("run");
    copy(&run, &at, &|_, bytes| Some(bytes));
    let at = at.to_str().unwrap();
    let (_, found) = answer(&[at, at]);
    assert_eq!((&found["one_run"], &found["no_differences"]), (&json!(true), &json!(true)));
    assert!(list(&found, "metrics").len() > 10);
    assert_eq!(found["support"]["label"], "one run");
}

#[test]
fn a_direct_run_against_one_that_was_killed() {
    let (Some(a), Some(b)) =
        (case("tachometer/run_dynamo/corr-direct-20261129T185427Z-1"), case("tachometer/run_dynamo/corr-timeout-20261129T185801Z-3"))
    else {
        return;
    };
    let temp = tempfile::tempdir().unwrap();
    let (copy_a, copy_b) = (temp.path().join("a"), temp.path().join("b"));
    copy(&a, &copy_a, &|_, bytes| Some(bytes));
    copy(&b, &copy_b, &|_, bytes| Some(bytes));
    let (_, found) = answer(&[copy_a.to_str().unwrap(), copy_b.to_str().unwrap()]);
    // jq -r .benchmark_command of both plans: --sessions 26/12, --turns 5/4, --warmup 20/10, --stagger 7/5, --think 3/2.
    let differ = facts(&found, "differs");
    for (name, one, other) in
        [("load_sessions", 26, 12), ("load_turns", 5, 4), ("load_warmup", 20, 10), ("load_stagger", 7, 5), ("load_think", 3, 2)]
    {
        assert!(differ.contains(name), "{name} in {differ:?}");
        let of = fact(&found, name);
        assert_eq!((&of["a"][0]["value"], &of["b"][0]["value"]), (&json!(one), &json!(other)), "{name}");
        let cites = of["a"][0]["citations"].as_array().unwrap();
        assert!(cites.iter().any(|c| c["at"].as_str().unwrap().contains("direct-plan.json:")), "{of}");
    }
    // Both workers of both runs: --block-size 16, 512 blocks.
    assert_eq!((&fact(&found, "kv_pool_blocks")["state"], &fact(&found, "block_size")["state"]), (&json!("equal"), &json!("equal")));
    assert_eq!(alternative(&found, "load").unwrap()["applies"], true);
    assert_eq!(found["support"]["label"], "directional only");
    // A's records name a measured phase of 132 requests (client truth: phase "measured").
    let (_, own) = answer(&[copy_a.to_str().unwrap(), copy_a.to_str().unwrap(), "--window", "measured"]);
    let window = &own["windows"]["a"];
    assert_eq!(window["requests"]["load_generator"], 132);
    let (since, until) = (window["since_ns"].as_i64().unwrap(), window["until_ns"].as_i64().unwrap());
    assert_eq!(window["length_ns"].as_i64().unwrap(), until - since);
    assert!(own["windows"]["a"]["how"].as_str().unwrap().contains("132 requests of the load generator"));
    assert_eq!(own["no_differences"], true);
}
