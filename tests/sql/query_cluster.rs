//! `corr query` over shards on a cluster: the rows of the same question where the run is.

use arrow::array::Array as _;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value as Json;

use super::cluster::Cluster;
use crate::program::{Place, Ran, copy_tree, fixtures};

/// Questions of `direct-run`, each with rows: (arguments, executors read records by `corr_match`).
const QUESTIONS: &[(&[&str], bool)] = &[
    (&["*", "-n", "0"], false),
    (&["kind:route_decision", "-n", "0"], false),
    (&["kind:worker* NOT kind:worker_request*"], false),
    (&["level:>=warn"], false),
    (&["NOT level?:[trace TO info]"], false),
    (&["source:worker-0.log level:debug", "--sort", "-time", "-n", "7"], false),
    (&["format:srtctl OR kind:chat_response"], false),
    (&["selected worker"], true),
    (&["\"selected worker\" OR retract*", "-n", "0"], true),
    (&["127.0.0.? NOT worker"], true),
    (&["/worker_id=[0-9]{5,}/", "-n", "5"], true),
    (&["message:/^Using/"], true),
    (&["kind:request_end ttft_ms:>10", "--sort", "-ttft_ms"], true),
    (&["overlap_blocks:[1 TO *]", "-n", "0"], true),
    (&["worker:worker-1 kind:!=worker_startup", "-n", "11"], true),
    (&["worker_id:8225263693429224768", "--sort", "-overlap_blocks", "-n", "9"], true),
    (&["edf9ed01-3219-4585-a510-233214f462c1"], true),
    (&["rid:edf9ed01*", "--sort", "worker"], true),
    (&["id:*", "--sort", "request_id", "-n", "25"], true),
    (&["line:[3 TO 5]"], true),
    (&["no_such_field?:1 kind:worker_set"], true),
    (&["*", "--since", "2026-11-29T18:54:32Z", "--until", "2026-11-29T18:54:33Z", "-n", "0"], false),
    (&["batch OR worker", "--since", "start+2s", "--until", "end-1s", "-n", "13"], true),
    (&["*", "--since", "18:54:32", "--until", "18:54:32.5"], false),
    (&["kind:request_end", "--fields", "time,request_id,ttft_ms,target"], false),
];

/// Of the same run: hits that are counted.
const COUNTS: &[&[&str]] = &[
    &["*", "--count-by", "kind"],
    &["*", "--count-by", "level", "-n", "0"],
    &["*", "--count-by", "worker"],
    &["worker", "--count-by", "source"],
    &["kind:route_decision", "--count-by", "overlap_blocks"],
    &["kind:request_end", "--count-by", "worker_id", "--since", "start+1s"],
    &["*", "--count-by", "TARGET", "-n", "4"],
    &["*", "--histogram", "1s"],
    &["selected OR kind:request_end", "--histogram", "250ms", "--since", "start+1500ms"],
];

/// A query where the run is, and the same asked of a cluster.
struct Both<'a> {
    place: &'a Place,
    run: &'a str,
    url: String,
}

impl Both<'_> {
    fn ask(&self, arguments: &[&str], format: &str) -> (Ran, Ran) {
        let ask = |run: &str, more: &[&str]| self.place.corr(&[&["query", run], arguments, &["--format", format], more].concat());
        (ask(self.run, &[]), ask("shards", &["--cluster", &self.url, "--patience", "60s"]))
    }

    /// The answer as JSON, which must be the same but for what is said of how it was found.
    fn same(&self, arguments: &[&str]) -> Json {
        self.explained(arguments).0
    }

    /// The same, and what the cluster says of how it was found.
    fn explained(&self, arguments: &[&str]) -> (Json, String) {
        let (local, there) = self.ask(&[arguments, &["--explain"]].concat(), "json");
        assert_eq!(there.code, local.code, "{arguments:?}: {} {}", local.stderr, there.stderr);
        let (mut a, mut b) = (json(&local), json(&there));
        for answer in [&mut a, &mut b] {
            let summary = answer["summary"].as_object_mut().expect("a summary");
            for own in ["sources", "scanned_sources", "scanned_bytes", "zone_assumed", "elapsed_ms", "shards"] {
                summary.remove(own);
            }
        }
        assert_eq!(b, a, "{arguments:?}");
        (b, there.stderr)
    }
}

fn json(ran: &Ran) -> Json {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {} {}", ran.stdout, ran.stderr))
}

fn shards(place: &Place, run: &str) {
    let written = place.corr(&["index", run, "--shards", "shards"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
}

#[test]
fn questions_over_four_shards() {
    let place = Place::with("direct-run");
    shards(&place, "direct-run");
    let cluster = Cluster::start(&place, 2, &[]);
    let both = Both { place: &place, run: "direct-run", url: cluster.url() };
    for (arguments, scans) in QUESTIONS {
        let (answer, explained) = both.explained(arguments);
        let events = answer["events"].as_array().expect("events");
        assert!(!events.is_empty(), "{arguments:?} finds nothing");
        assert_eq!(events.len() as u64, answer["summary"]["shown"].as_u64().expect("shown"));
        assert_eq!(explained.contains("corr_match("), *scans, "{arguments:?}: {explained}");
    }
    for arguments in COUNTS {
        let answer = both.same(arguments);
        assert!(answer["counts"].as_array().or(answer["bins"].as_array()).is_some_and(|n| n.len() > 1), "{arguments:?}: {answer}");
    }
    // Counted in the files: grep for `Selected worker`, for `WARN` and `ERROR`; zcat for `request_end`.
    for (query, n) in [("\"selected worker\"", 40), ("level:>=warn", 4), ("kind:request_end", 39)] {
        assert_eq!(both.same(&[query])["summary"]["matched"], n, "{query}");
    }
    println!("{} questions and {} counts give the local answer", QUESTIONS.len(), COUNTS.len());
    // For people, for programs line by line, for notes; and what is said beside them.
    for format in ["text", "jsonl", "csv", "markdown"] {
        for arguments in [QUESTIONS[3].0, QUESTIONS[12].0, QUESTIONS[22].0, COUNTS[0], COUNTS[7], &["no_such_word"]] {
            let (local, there) = both.ask(arguments, format);
            let lines =
                |ran: &Ran| ran.stdout.lines().filter(|l| !l.contains("\"type\":\"summary\"")).map(String::from).collect::<Vec<_>>();
            assert_eq!((there.code, lines(&there)), (local.code, lines(&local)), "{arguments:?}");
            let said = |ran: &Ran| ran.stderr.lines().filter(|l| !l.starts_with("scanned ")).map(String::from).collect::<Vec<_>>();
            assert_eq!(said(&there), said(&local), "{arguments:?}");
        }
    }
    statistics_are_used(&both);
    // A misspelled name is said.
    let there = both.ask(&["overlap_block:1"], "text").1;
    assert_eq!(there.code, Some(1));
    assert!(there.stderr.contains("did you mean overlap_blocks"), "{}", there.stderr);
    refusals(&both);
    an_older_form(&both);
}

/// The condition that is printed is one that the engine judges by statistics of row groups and pages.
fn statistics_are_used(both: &Both<'_>) {
    let (_, explained) = both.explained(&["kind:request_end level?:*", "--since", "18:54:32", "--until", "18:54:33"]);
    let condition = explained.lines().find_map(|line| line.strip_prefix("where    ")).expect("the condition");
    let sql = format!("EXPLAIN SELECT _line FROM _records WHERE {condition}");
    let ran = both.place.corr(&["sql", "shards", &sql, "--cluster", &both.url, "--format", "jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let pruned = ran.stdout.split("pruning_predicate=").nth(1).expect("a condition on statistics");
    for statistic in ["_kind_min", "_kind_max", "_start_min", "_end_max", "_order_min"] {
        assert!(pruned.contains(statistic), "{statistic}: {}", ran.stdout);
    }
}

/// What is not asked there is one line and what to do instead; so is what is no query.
fn refusals(both: &Both<'_>) {
    let refused: &[&[&str]] = &[
        &["*", "--also", "direct-run"],
        &["*", "--window", "measured"],
        &["*", "--around", "direct-run/logs/router.log:3"],
        &["*", "-C", "1"],
        &["*", "--metrics", "sglang:*"],
        &["*", "--index"],
        &["*", "--store", "store"],
        &["*", "--bodies"],
        &["*", "--tz", "router.log=UTC"],
        &["*", "--format-of", "router.log=text"],
    ];
    for arguments in refused {
        let there = both.ask(arguments, "text").1;
        assert_eq!((there.code, there.stdout.as_str(), there.stderr.lines().count()), (Some(2), "", 1), "{arguments:?}: {}", there.stderr);
        assert!(there.stderr.contains(arguments[1].trim_end_matches(" 1")), "{arguments:?}: {}", there.stderr);
        assert!(there.stderr.contains("not asked of a cluster; "), "{arguments:?}: {}", there.stderr);
    }
    for (arguments, says) in [(&["level:>loud"], "no level"), (&["a AND"], "expected"), (&["/(/"], "pattern")] {
        let (local, there) = both.ask(arguments, "text");
        assert_eq!((there.code, &there.stderr), (Some(2), &local.stderr), "{arguments:?}");
        assert!(there.stderr.contains(says), "{arguments:?}: {}", there.stderr);
    }
}

/// Shards that another version wrote.
fn an_older_form(both: &Both<'_>) {
    let file = std::fs::read_dir(both.place.path("shards")).expect("shards").map(|e| e.expect("a shard").path().join("shard.json")).next();
    let file = file.expect("a shard");
    let text = std::fs::read_to_string(&file).expect("shard.json");
    assert!(text.contains("corr.shard.v4"));
    std::fs::write(&file, text.replace("corr.shard.v4", "corr.shard.v3")).expect("write");
    let there = both.ask(&["*"], "text").1;
    assert_eq!((there.code, there.stdout.as_str()), (Some(2), ""), "{}", there.stderr);
    assert!(there.stderr.contains("another version of corr") && there.stderr.contains("corr index --shards"), "{}", there.stderr);
    shards(both.place, both.run);
    both.same(&["kind:request_end", "-n", "3"]);
}

/// Names, texts and queries that could be taken for another thing on their way; records that are no text; two runs in one place.
#[test]
fn hostile_text() {
    let place = Place::new();
    let nasty = r#"{"time":"2026-11-29T18:00:01Z","level":"warn","na'me":"it's \"x\" \\ $1 ; DROP TABLE _records; --","n":1.5}"#;
    let control = "{\"time\":\"2026-11-29T18:00:02Z\",\"msg\":\"esc \\u001b[31m red \\u0000 \\u202e bidi é 缓存\",\"n\":2}";
    let big = "{\"time\":\"2026-11-29T18:00:03Z\",\"n\":18446744073709551615,\"n\":-1,\"empty\":\"\"}";
    place.write("run/a'b.jsonl", format!("{nasty}\n{control}\n{big}\n").as_bytes());
    place.write("run/b.log", b"no format \xff\xfe at all\n\tbut more\nplain 'quotes' \\ and % _ ?\n\x1b[2Jcleared\n");
    place.write("run/c.log", b"api_key=sk-abcdefghijklmnopqrstuvwxyz012345 done\n[2026-11-29 18:31:02] token: done\n");
    shards(&place, "run");
    let cluster = Cluster::start(&place, 1, &[]);
    let both = Both { place: &place, run: "run", url: cluster.url() };
    let ways: &[&[&str]] = &[
        &["--sort", "n"],
        &["--sort", "-na'me"],
        &["--count-by", "na'me"],
        &["--count-by", "n"],
        &["--histogram", "1s"],
        &["--fields", "na'me,n"],
    ];
    let queries = [
        "*",
        "\"it's\"",
        "\"na'me\":*",
        "\"na'me\":\"it's \\\"x\\\" \\\\ $1 ; DROP TABLE _records; --\"",
        "/\\\\ \\$1/",
        "\"' OR 1=1 --\"",
        "n:>1.5",
        "n:18446744073709551615",
        "n:-1",
        "n:!=-1",
        "empty:*",
        "empty?:\"\"",
        "é",
        "缓存",
        "/\\x00/",
        "/\\xff/",
        "/(?-u:\\xff)/",
        "source:\"a'b.jsonl\"",
        "NOT source:\"a'b.jsonl\"",
        "quotes",
        "/% _ \\?/",
        "cleared",
        "done",
        "/key=.?done/",
        "/\\bdone/",
        "abcdefghijklmnopqrstuvwxyz012345",
        "level:warn",
    ];
    let mut found = 0;
    for (number, query) in queries.iter().enumerate() {
        for way in [number, number + 3] {
            let answer = both.same(&[&[*query], ways[way % ways.len()]].concat());
            found += answer["summary"]["matched"].as_u64().expect("matched");
        }
    }
    assert!(found > 60, "{found}");
    let there = both.ask(&["*"], "text").1;
    assert!(!there.stdout.contains('\u{1b}') && !there.stdout.contains('\u{202e}'), "{:?}", there.stdout);
}

/// Bodies, header values and credentials leave the machine in no column, and are found there as little as where the run is.
#[test]
fn bodies_stay_where_they_are() {
    let place = Place::with("sglang-run");
    copy_tree(&fixtures().join("restart-journals"), &place.path("sglang-run/logs/journals"));
    place.write("sglang-run/logs/key.log", b"api_key=sk-abcdefghijklmnopqrstuvwxyz012345 done\n");
    shards(&place, "sglang-run");
    let mut records = 0;
    for shard in std::fs::read_dir(place.path("shards")).expect("shards") {
        let file = shard.expect("a shard").path().join("events.parquet");
        if !file.exists() {
            continue;
        }
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(file).expect("open")).expect("Parquet").build().expect("Parquet");
        for batch in reader {
            let batch = batch.expect("a batch");
            records += batch.num_rows();
            for column in batch.columns() {
                for buffer in std::iter::once(column.to_data())
                    .chain(column.to_data().child_data().iter().cloned())
                    .flat_map(|d| d.buffers().to_vec())
                {
                    for secret in ["SYNTHETIC-PROMPT", "SYNTHETIC-ANSWER", "abcdefghijklmnopqrstuvwxyz012345"] {
                        assert!(!buffer.as_slice().windows(secret.len()).any(|w| w == secret.as_bytes()), "{secret}");
                    }
                }
            }
        }
    }
    assert!(records > 90, "{records}");
    let cluster = Cluster::start(&place, 1, &[]);
    let both = Both { place: &place, run: "sglang-run", url: cluster.url() };
    let all = both.same(&["*", "-n", "0"]);
    let withheld = all["events"].as_array().expect("events").iter().filter(|e| e["withheld"].is_array()).count();
    assert!(withheld > 2, "{withheld}");
    for query in [
        "SYNTHETIC*",
        "/SYNTHETIC/",
        "text",
        "unit:*",
        "pid:>1",
        "priority:*",
        "ident:*",
        "message:text",
        "rid:64469f4f7f6244d6b59c80708603c139",
        "done",
    ] {
        both.same(&[query, "--sort", "-pid"]);
        both.same(&[query, "--count-by", "unit"]);
    }
}
