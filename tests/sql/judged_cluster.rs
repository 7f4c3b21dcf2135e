//! `corr metrics` and `corr edges` over shards on a cluster: the answer of the same question where the run is.

use serde_json::Value as Json;

use super::cluster::Cluster;
use crate::program::{Place, Ran, cases, copy_tree, fixtures, words};

/// A question where the run is, and the same asked of a cluster over its shards.
struct Both<'a> {
    place: &'a Place,
    run: &'a str,
    url: String,
}

impl Both<'_> {
    fn ask(&self, command: &str, arguments: &[&str]) -> (Ran, Ran) {
        let ask = |run: &str, more: &[&str]| self.place.corr(&[&[command, run], arguments, more].concat());
        (ask(self.run, &[]), ask("shards", &["--cluster", &self.url, "--patience", "60s"]))
    }

    /// The answer, which must be the same to the letter but for how the run is named, as must be what is said beside it.
    fn same(&self, command: &str, arguments: &[&str]) -> Ran {
        let (local, there) = self.ask(command, arguments);
        let named = |text: &str| {
            text.replace(&format!("shards --cluster {}", self.url), self.run)
                .replace("\"run\": \"shards\"", &format!("\"run\": \"{}\"", self.run))
                .replace("\"run\":\"shards\"", &format!("\"run\":\"{}\"", self.run))
        };
        assert_eq!((there.code, named(&there.stderr)), (local.code, local.stderr.clone()), "{command} {arguments:?}");
        let (a, b) = (&local.stdout, named(&there.stdout));
        let differs = a.lines().zip(b.lines()).find(|(a, b)| a != b);
        assert!(*a == b, "{command} {arguments:?}: {differs:?}");
        local
    }

    fn json(&self, command: &str, arguments: &[&str]) -> Json {
        let ran = self.same(command, &[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{command} {arguments:?}: {e}: {} {}", ran.stdout, ran.stderr))
    }

    /// What is not asked there is one line, with what to do instead.
    fn refused(&self, command: &str, arguments: &[&str]) {
        let there = self.ask(command, arguments).1;
        assert_eq!((there.code, there.stdout.as_str(), there.stderr.lines().count()), (Some(2), "", 1), "{arguments:?}: {}", there.stderr);
        assert!(there.stderr.contains(": not asked of a cluster; "), "{arguments:?}: {}", there.stderr);
    }
}

/// A run with its shards.
fn shards(place: &Place, run: &str) -> usize {
    let written = place.corr(&["index", run, "--shards", "shards"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    std::fs::read_dir(place.path("shards")).expect("shards").count()
}

/// Windows and evidence of a site's own.
const DECLARED: &str = "[windows.down]\nsince = \"2026-11-29T18:30:49Z\"\nuntil = \"2026-11-29T18:30:59Z\"\n\
    [windows.later]\nsince = \"start+10s\"\nuntil = \"end-1s\"\n\
    [[evidence.edge]]\nid = \"site-edge\"\ntitle = \"a site's own\"\nconcerns = \"occurrences\"\nunit = \"events\"\n\
    needs = { request = { any = \"the site's log\" }, session = { any = \"the site's log\" } }\n\
    [[evidence.signal]]\nedge = \"site-edge\"\nid = \"site\"\ninstrument = \"dynamo-frontend-log\"\nkinds = [\"worker_selected\"]\n\
    counts = \"requests\"\nproves = \"transition\"\ndirect = true\nidentity = [\"request_id\"]\ndoes_not_prove = \"whose\"\n";

/// Records of a router and two workers, and a capture with scrapes that failed and a process that began anew.
fn run() -> Place {
    let place = Place::with("direct-run");
    std::fs::rename(place.path("direct-run"), place.path("run")).expect("rename");
    copy_tree(&fixtures().join("metrics-run"), &place.path("run/served"));
    place.write("run/corr.toml", DECLARED.as_bytes());
    place
}

/// Of that run, each with an answer. The server was down from 18:30:50 to 18:30:57.
const METRICS: &[&[&str]] = &[
    &["--limit", "0"],
    &["--list", "sglang:kv_*"],
    &["sglang:kv_*", "--limit", "0"],
    &["sglang:cached_tokens_total", "--since", "2026-11-29T18:30:43Z", "--until", "2026-11-29T18:30:49Z"],
    &["sglang:cached_tokens_total", "--since", "2026-11-29T18:30:45Z", "--until", "2026-11-29T18:31:00Z"],
    &["*", "--since", "2026-11-29T18:30:48Z", "--until", "2026-11-29T18:30:58Z", "--limit", "0"],
    &["*", "--since", "2026-11-29T18:30:51Z", "--until", "2026-11-29T18:30:55Z"],
    &["sglang:*", "--rows", "--since", "18:30:44", "--until", "18:30:59", "--limit", "0"],
    &["sglang:load_back_tokens_total", "--by", "tp_rank", "--since", "2026-11-29T18:30:42Z"],
    &["*", "--by", "target", "--until", "2026-11-29T18:30:59Z"],
    &["sglang:cached_tokens_total", "--per", "sglang:prompt_tokens_total", "--until", "2026-11-29T18:30:59Z"],
    &["sglang:load_back_tokens_total", "--per", "sglang:cached_tokens_total", "--since", "2026-11-29T18:30:43Z"],
    &["{tp_rank=\"1\"}", "--since", "end-8s", "--quantiles", "0.25,0.999"],
    &["*", "--window", "common"],
    &["*", "--window", "down"],
    &["sglang:*", "--window", "later", "--per", "sglang:prompt_tokens_total"],
    &["sglang:*", "--window", "ready:logs/worker-0#1"],
    &["*", "--since", "start+1s", "--until", "end-1s"],
    &["sglang:no_such_series"],
];

#[test]
fn metrics_over_four_shards() {
    let place = run();
    let folders = shards(&place, "run");
    assert!(folders >= 5, "four shards of records and one of the whole run: {folders}");
    let cluster = Cluster::start(&place, 2, &[]);
    let both = Both { place: &place, run: "run", url: cluster.url() };
    for arguments in METRICS {
        both.json("metrics", arguments);
    }
    for format in ["text", "csv", "markdown", "jsonl"] {
        both.same("metrics", &["sglang:*", "--since", "2026-11-29T18:30:45Z", "--format", format]);
    }
    // By the scrapes' own text: 802 593 at 18:30:40.9 and 879 110 at 18:30:49.9.
    let one =
        ["sglang:cached_tokens_total{cache_source=\"device\"}", "--since", "2026-11-29T18:30:40.8Z", "--until", "2026-11-29T18:30:50Z"];
    let counted = both.same("metrics", &[&one[..], &["--format", "csv"]].concat());
    assert!(counted.stdout.contains("76517"), "{}", counted.stdout);
    println!("{} questions give the local answer", METRICS.len());
    for arguments in [
        &["sglang:*", "--around", "run/logs/router.log:3"][..],
        &["log:token_usage"],
        &["sglang:*", "--also", "run"],
        &["sglang:*", "--store", "store"],
        &["sglang:*", "--tz", "router.log=UTC"],
        &["sglang:*", "--format-of", "router.log=text"],
    ] {
        both.refused("metrics", arguments);
    }
    edges(&both);
}

/// Of the same run.
fn edges(both: &Both<'_>) {
    let request = both.place.corr(&["query", "run", "kind:request_end", "-n", "1", "--fields", "request_id", "--format", "csv"]);
    let id = request.stdout.lines().nth(1).unwrap_or_default().to_string();
    assert!(id.len() > 10, "{}", request.stdout);
    let asked: &[&[&str]] = &[
        &[],
        &["--explain", "--all-citations"],
        &["--since", "2026-11-29T18:54:32Z", "--until", "2026-11-29T18:54:34Z", "--explain"],
        &["--since", "2026-11-29T18:30:45Z", "--until", "2026-11-29T18:31:00Z"],
        &["--since", "start+2s", "--until", "end-1s"],
        &["--request", &id, "--explain"],
        &["--session", "sess-000", "--explain", "--all-citations"],
        &["--window", "down"],
        &["--window", "later", "--explain"],
        &["--window", "ready:worker-1#1"],
        &["--edge", "admission,site-edge"],
        &["--worker", "worker-0"],
        &["--worker", "worker-1", "--since", "end-6s"],
        &["--require", "l3-restore=proven"],
        &["--require", "l3-restore"],
    ];
    // 40 lines of the router say `Selected worker`, each of another request (grep).
    let own = both.json("edges", &["--edge", "site-edge"]);
    assert_eq!((own["edges"][0]["activity"].as_str(), own["edges"][0]["count"].as_u64()), (Some("proven"), Some(40)));
    // The command that is printed asks the cluster too.
    let there = both.ask("edges", &["--edge", "site-edge", "--format", "json"]).1;
    let there: Json = serde_json::from_str(&there.stdout).expect("JSON");
    let command = words(there["edges"][0]["proofs"][0]["reproduce"].as_str().expect("a command"));
    assert!(command[0] == "corr" && command.contains(&both.url), "{command:?}");
    let ran = both.place.corr(&[&command[1..], &["--format".into(), "json".into()]].concat());
    let records: Json = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{command:?}: {e}: {}", ran.stderr));
    assert_eq!(records["summary"]["matched"], 40, "{command:?}");
    let mut known = 0;
    for arguments in asked {
        let answer = both.json("edges", arguments);
        let edges = answer["edges"].as_array().expect("edges");
        known += edges.iter().filter(|edge| edge["activity"] == "proven" || edge["activity"] == "active").count();
    }
    assert!(known > 10, "{known} edges that happened");
    for format in ["text", "csv", "markdown", "jsonl"] {
        both.same("edges", &["--explain", "--format", format]);
    }
    // What there is not is said in the same words.
    for arguments in
        [["--session", "no-such-session"], ["--window", "measured"], ["--window", "ready:no-such-unit#1"], ["--edge", "no-such-edge"]]
    {
        let (local, there) = both.ask("edges", &arguments);
        assert_eq!((there.code, &there.stdout, &there.stderr), (local.code, &local.stdout, &local.stderr), "{arguments:?}");
        assert!(local.code != Some(0) && !local.stderr.is_empty(), "{arguments:?}");
    }
    for arguments in [&["--tz", "router.log=UTC"][..], &["--also", "run"], &["--store", "store"], &["--format-of", "router.log=text"]] {
        both.refused("edges", arguments);
    }
    println!("{} questions about edges give the local answer", asked.len());
}

/// Captures of real runs: elapsed clocks that events or a log anchor, scrapes that failed, processes that began anew, error pages read as samples.
#[test]
fn real_captures() {
    for (below, since, until) in [
        ("tachometer/run_dynamo/corr-direct-20261129T185427Z-1", "2026-11-29T18:54:50Z", "2026-11-29T18:55:10Z"),
        ("tachometer/run_a/scrapeA", "2026-11-29T18:47:00Z", "2026-11-29T18:47:30Z"),
        ("sglang/b2-0523-hicache-restart", "2026-11-29T19:13:35Z", "2026-11-29T19:13:50Z"),
        ("tachometer/run_scraper_restarted", "start+1s", "end-1s"),
    ] {
        let Some(case) = cases(below) else { return };
        let place = Place::new();
        copy_tree(&case, &place.path("run"));
        for truth in ["truth.json", "client.jsonl", "health.jsonl", "truth.jsonl"] {
            let _ = std::fs::remove_file(place.path(&format!("run/{truth}")));
        }
        let folders = shards(&place, "run");
        let cluster = Cluster::start(&place, 2, &[]);
        let both = Both { place: &place, run: "run", url: cluster.url() };
        let window = ["--since", since, "--until", until];
        for arguments in [
            &["--limit", "0"][..],
            &[&["*", "--limit", "0"], &window[..]].concat(),
            &[&["*_total", "--by", "target"], &window[..]].concat(),
            &[&["*", "--rows", "--limit", "500"], &window[..]].concat(),
        ] {
            both.json("metrics", arguments);
        }
        for arguments in [&[][..], &[&["--explain"], &window[..]].concat()] {
            both.json("edges", arguments);
        }
        println!("{below}: {folders} folders, 6 questions give the local answer");
    }
}

/// Two runs in one place are asked as `--also` asks them.
#[test]
fn two_runs_in_one_place() {
    let place = Place::with("metrics-run");
    copy_tree(&fixtures().join("direct-run"), &place.path("direct-run"));
    for run in ["metrics-run", "direct-run"] {
        shards(&place, run);
    }
    let cluster = Cluster::start(&place, 1, &[]);
    let url = cluster.url();
    let arguments = ["sglang:*", "--since", "2026-11-29T18:30:45Z", "--until", "2026-11-29T18:31:00Z", "--format", "json"];
    let local = place.corr(&[&["metrics", "direct-run", "--also", "metrics-run"], &arguments[..]].concat());
    let there = place.corr(&[&["metrics", "shards", "--cluster", &url], &arguments[..]].concat());
    assert_eq!((there.code, there.stdout), (local.code, local.stdout), "{} {}", local.stderr, there.stderr);
    // Samples of another capture, or of another writing of the same one, are an error, not an answer.
    let blocks = |run: &str| {
        let folders = std::fs::read_dir(place.path("shards")).expect("shards").map(|e| e.expect("an entry").path());
        let of_run = |path: &std::path::PathBuf| path.to_string_lossy().contains(run) && path.to_string_lossy().ends_with(".whole");
        folders.into_iter().find(of_run).expect("a folder").join("_blocks.parquet")
    };
    let before = std::fs::read(blocks("metrics-run")).expect("blocks");
    let raw = std::fs::read_to_string(place.path("metrics-run/raw_prometheus.jsonl")).expect("scrapes");
    assert!(raw.contains("879110"));
    place.write("metrics-run/raw_prometheus.jsonl", raw.replace("879110", "879111").as_bytes());
    shards(&place, "metrics-run");
    let foreign = std::fs::read(blocks("direct-run")).expect("blocks");
    for other in [foreign, before] {
        std::fs::write(blocks("metrics-run"), other).expect("write");
        let there = place.corr(&[&["metrics", "shards", "--cluster", &url], &arguments[..]].concat());
        assert_eq!((there.code, there.stdout.as_str()), (Some(2), ""), "{}", there.stderr);
        assert!(there.stderr.contains("lack samples") && there.stderr.contains("corr index --shards"), "{}", there.stderr);
    }
}

/// What could not be read where the run is was not read there.
#[test]
fn what_was_not_read_is_said() {
    let place = Place::with("metrics-run");
    std::fs::rename(place.path("metrics-run"), place.path("run")).expect("rename");
    place.write("run/broken/final.parquet", b"PAR1 this is no Parquet file PAR1");
    place.write("run/logs/b.log.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03no deflate at all");
    let written = place.corr(&["index", "run", "--shards", "shards"]);
    assert_eq!(written.code, Some(3), "{}", written.stderr);
    let cluster = Cluster::start(&place, 1, &[]);
    let both = Both { place: &place, run: "run", url: cluster.url() };
    for (command, arguments, names) in [
        ("metrics", &["sglang:kv_*", "--since", "2026-11-29T18:30:45Z", "--format", "json"][..], &["final.parquet"][..]),
        ("edges", &["--format", "json"], &["final.parquet", "b.log.gz"]),
    ] {
        let (local, there) = both.ask(command, arguments);
        assert_eq!((there.code, local.code), (Some(3), Some(3)), "{} {}", local.stderr, there.stderr);
        for name in names {
            assert!(local.stderr.contains(name) && there.stderr.contains(name), "{name}: {} {}", local.stderr, there.stderr);
        }
        if command == "metrics" {
            assert_eq!(there.stdout, local.stdout);
        }
    }
}
