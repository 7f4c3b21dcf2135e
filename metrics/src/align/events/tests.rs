use super::*;
use crate::align::choose::{Found, Rule, choose};
use crate::align::pairs::{PAIRS, Pair};
use crate::align::reads::Timing;
use crate::align::tally::tally;
use crate::align::testing;
use crate::cases::cases;
use crate::model::{Capture, EndpointId, SECOND};
use proptest::prelude::*;
use std::path::Path;

const HALF: Timing = Timing { pause: Some(SECOND / 2), took: SECOND / 10 };

/// The stamp of a line of Dynamo's log, text or JSON, if it is of a pair's kind.
fn of_kind(line: &str, pair: &Pair) -> Option<(i64, i64)> {
    let (target, says) = match pair.kind {
        "request_completed" => ("service::metrics", "request completed"),
        "request_received" => ("service::metrics", "request received"),
        "worker_selected" => ("selector", "Selected worker"),
        "worker_request_completed" => ("push_handler", "request completed"),
        "worker_request_received" => ("push_handler", "request received"),
        other => panic!("{other}"),
    };
    if let Ok(row) = serde_json::from_str::<serde_json::Value>(line) {
        let field = |name: &str| row[name].as_str().unwrap_or("");
        let is = field("target").contains(target) && field("message").starts_with(says) && pair.fields.iter().all(|(k, v)| field(k) == *v);
        return is.then(|| testing::stamp(field("time")));
    }
    let has = |(k, v): &(&str, &str)| [format!(" {k}={v} "), format!(" {k}=\"{v}\"")].iter().any(|f| line.contains(f));
    let is = line.contains(&format!("{target}: {says} ")) && pair.fields.iter().all(has);
    is.then(|| testing::stamp(line.split(' ').next().unwrap()))
}

fn stamps(path: &Path, pair: &Pair) -> Vec<(i64, i64)> {
    testing::log(path).iter().filter_map(|l| of_kind(l, pair)).collect()
}

fn endpoint(capture: &Capture, name: &str) -> EndpointId {
    EndpointId(capture.endpoints.iter().position(|e| e.name == name).unwrap() as u32)
}

/// The instant of an event in a `.timeline.jsonl`.
fn timeline(path: &Path, event: &str) -> i64 {
    let text = std::fs::read_to_string(path).unwrap();
    let row = text.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()).find(|r| r["event"] == event).unwrap();
    row["t_ns"].as_i64().unwrap()
}

/// Client's side of every streamed request: `(start, first token)`.
fn client(path: &Path) -> (Vec<i64>, Vec<i64>) {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let mut all = (Vec::new(), Vec::new());
    for row in &rows {
        all.0.extend(row["start_ns"].as_i64());
        all.1.extend(row["first_token_ns"].as_i64());
    }
    all.0.sort_unstable();
    all.1.sort_unstable();
    all
}

struct Run {
    root: std::path::PathBuf,
    capture: Capture,
    /// Hard bounds of the truth, from the client and the runner alone.
    truth: Bound,
}

/// A request that the server counts as started had been sent, and one whose first token is here had been counted; and no scraper begins before
/// it is spawned.
fn open(prefix: &str, file: &str) -> Option<Run> {
    let folder = cases("tachometer/run_dynamo")?;
    let root = testing::run(&folder, prefix);
    let beside = |what: &str| std::path::PathBuf::from(format!("{}.{what}.jsonl", root.display()));
    let capture = testing::tachometer(&[&root.join(file)]);
    let (sent, answered) = client(&beside("client_truth"));
    let started = [("request_type", "stream")];
    let counts = tally(&capture, endpoint(&capture, "router"), "dynamo_frontend_requests_started_total", &started, &HALF);
    let low = counts.iter().filter(|c| c.low > 0).map(|c| sent[c.low as usize - 1] - c.to).max().unwrap();
    let high = counts.iter().filter_map(|c| Some(answered.get(c.high as usize)? - c.from)).min().unwrap();
    let low = low.max(timeline(&beside("timeline"), "_start_tachometer:begin"));
    println!("{prefix}: the clock began in [{low}, {high}]");
    Some(Run { root, capture, truth: Bound { low, high } })
}

impl Run {
    fn fit(&self, pair: &Pair, log: &str, at: &str) -> Result<Fit, NoFit> {
        let found = pair.fit(&stamps(&self.root.join("logs").join(log), pair), &self.capture, endpoint(&self.capture, at), &HALF, None);
        println!("{log} {}: {found:?}", pair.events());
        found
    }
}

/// With stamps taken for the instants of reading, 67 of 71 samples hold. They are taken after the body, and what scrapes took, by the gaps
/// between them, makes all of them hold: later, since a slow scrape read its values long before its stamp.
#[test]
fn the_direct_run() {
    let Some(run) = open("corr-direct", "artifacts/tachometer/local/final.parquet") else { return };
    let pair = &PAIRS[0];
    let events = stamps(&run.root.join("logs/router.log"), pair);
    let mut counts = tally(&run.capture, endpoint(&run.capture, "router"), pair.names[0], pair.labels, &HALF);
    let found = run.fit(pair, "router.log", "router").unwrap();
    assert_eq!((found.base, found.anchor.holds), (0, Some((71, 71))));
    assert!(run.truth.low <= found.anchor.high && found.anchor.low <= run.truth.high);
    let middle = found.anchor.low / 2 + found.anchor.high / 2;
    assert!((middle - 1_795_978_472_290_000_000).abs() < 50_000_000);
    let unsaid = pair.fit(&events, &run.capture, endpoint(&run.capture, "router"), &Timing::default(), None).unwrap();
    println!("without the scraper's configuration: {unsaid:?}");
    assert_eq!(unsaid.anchor.holds, Some((71, 71)));
    assert!(unsaid.anchor.low <= found.anchor.low && found.anchor.high <= unsaid.anchor.high);
    let written = std::fs::metadata(run.root.join("artifacts/tachometer/local/final.parquet")).unwrap().modified().unwrap();
    let written = written.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    let choice = choose(vec![
        Found { rule: Rule::FileTime, anchor: crate::align::files::last_sample(written, counts.last().unwrap().stamp).unwrap() },
        Found { rule: Rule::LogLine, anchor: crate::align::files::first_line(1_795_978_472_000_000_000) },
        Found { rule: Rule::EventCounts, anchor: found.anchor.clone() },
    ]);
    let choice = choice.unwrap();
    println!("{choice:?}");
    assert_eq!((choice.rule, &choice.anchor), (Rule::EventCounts, &found.anchor));
    assert_eq!(choice.beside.iter().map(|b| b.agrees).collect::<Vec<_>>(), [true, false], "the file's time is that of its copy");
    for count in &mut counts {
        count.from = count.to;
    }
    let naive = fit(&events, &counts, None).unwrap();
    assert_eq!((naive.base, naive.anchor.holds), (0, Some((67, 71))));
    let ms: Vec<(i64, i64)> = naive.agreement.best.iter().map(|b| (b.low / 1_000_000, b.high / 1_000_000)).collect();
    assert_eq!(ms[0], (1_795_978_472_293, 1_795_978_472_295));
    assert!(naive.anchor.low <= found.anchor.low && found.anchor.low <= naive.anchor.high, "as many more as fail may fail");
}

#[test]
fn every_pair_of_both_runs_holds_and_contains_the_truth() {
    let files = [("corr-direct", "artifacts/tachometer/local/final.parquet"), ("corr-timeout", "artifacts/tachometer/local/current.arrow")];
    for (prefix, file) in files {
        let Some(run) = open(prefix, file) else { return };
        let mut all = run.truth;
        for pair in PAIRS {
            let places: &[(&str, &str)] = match pair.side {
                crate::align::pairs::Side::Frontend => &[("router.log", "router")],
                crate::align::pairs::Side::Worker => &[("worker-0.log", "worker_agg_0_0"), ("worker-1.log", "worker_agg_1_0")],
            };
            for (log, at) in places {
                let found = match run.fit(pair, log, at) {
                    // one unary request, before the benchmark
                    Err(NoFit::Few { .. }) if pair.fields.contains(&("request_type", "unary")) => continue,
                    found => found.unwrap(),
                };
                assert_eq!((found.base, found.agreement.share()), (0, 1.0));
                all = Bound { low: all.low.max(found.anchor.low), high: all.high.min(found.anchor.high) };
            }
        }
        println!("{prefix}: all agree on {all:?}");
        assert!(all.low <= all.high, "there is an instant that every pair, the client and the runner allow");
    }
}

/// The log of one worker is not that of the other, and a request's end is not its beginning.
#[test]
fn a_wrong_pair_does_not_hold() {
    let Some(run) = open("corr-direct", "artifacts/tachometer/local/final.parquet") else { return };
    for pair in PAIRS.iter().filter(|p| p.side == crate::align::pairs::Side::Worker) {
        for (log, at) in [("worker-0.log", "worker_agg_1_0"), ("worker-1.log", "worker_agg_0_0")] {
            let found = run.fit(pair, log, at);
            assert!(matches!(found, Err(NoFit::Disagree { .. })), "{found:?}");
        }
    }
}

fn counts(events: &[i64], scrapes: &[(i64, i64)], base: i64, anchor: i64) -> Vec<Count> {
    let at = |&(stamp, late): &(i64, i64)| {
        let n = base + events.iter().filter(|&&e| e <= anchor + stamp - late).count() as i64;
        Count { stamp, from: stamp - 2 * late, to: stamp, low: n, high: n }
    };
    scrapes.iter().map(at).collect()
}

#[test]
fn too_little_says_so() {
    assert_eq!(fit(&[(0, 0)], &[], None), Err(NoFit::Few { events: 1, counts: 0 }));
    let events: Vec<(i64, i64)> = (0..100).map(|i| (i, i)).collect();
    let flat: Vec<Count> = (0..100).map(|i| Count { stamp: i, from: i, to: i, low: 7, high: 7 }).collect();
    assert_eq!(fit(&events, &flat, None), Err(NoFit::Few { events: 100, counts: 1 }));
}

/// Events in a strict rhythm fit at any base.
#[test]
fn a_rhythm_tells_nothing() {
    let events: Vec<i64> = (0..200).map(|i| i * 1000).collect();
    let scrapes: Vec<(i64, i64)> = (1..50).map(|i| (i * 1700, 10)).collect();
    let found = fit(&events.iter().map(|e| (*e, *e)).collect::<Vec<_>>(), &counts(&events, &scrapes, 3, 50_000), None);
    assert!(matches!(found, Err(NoFit::Ambiguous { .. })), "{found:?}");
}

/// A month of requests cannot be tried at every base, but near where the log's first line says that the scraper began.
#[test]
fn a_long_log_wants_an_idea_of_when() {
    let mut at = 0;
    let events: Vec<i64> = (0..400_000i64)
        .map(|i| {
            at += 1 + i * i % 97;
            at
        })
        .collect();
    let stamps: Vec<(i64, i64)> = events.iter().map(|e| (*e, *e)).collect();
    let scrapes: Vec<(i64, i64)> = (1..300).map(|i| (i * 1700, 10)).collect();
    let anchor = 9_000_000;
    let base = 12;
    let counts: Vec<Count> = scrapes
        .iter()
        .map(|(stamp, _)| {
            let n = base + events.partition_point(|e| *e <= anchor + stamp) as i64;
            Count { stamp: *stamp, from: *stamp, to: *stamp, low: n, high: n }
        })
        .collect();
    assert!(matches!(fit(&stamps, &counts, None), Err(NoFit::Wide { .. })));
    let found = fit(&stamps, &counts, Some(Bound { low: anchor - 1000, high: anchor })).unwrap();
    assert_eq!((found.base, found.rivals.len()), (base, 0));
    assert!(found.anchor.low <= anchor && anchor <= found.anchor.high);
}

/// Logs as JSON and as text against a folder of scrapes with a wall clock: one machine, so that the two clocks are one. Cancelled, failed,
/// rejected and retried requests are among them, workers were killed and started anew.
#[test]
fn wall_captures_and_the_logs_of_their_runs() {
    let runs = ["A1_trace_payload_headers_jsonl", "D1_disagg_jsonl", "E1_busy_text", "V121_agenttrace_audit_jsonl", "V151_trace_jsonl"];
    for run in runs {
        let Some(folder) = cases(&format!("dynamo/{run}")) else { return };
        let mut builder = crate::build::Builder::new("folder", crate::model::Clock::Wall, crate::model::StampOf::FileName);
        for entry in std::fs::read_dir(folder.join("metrics")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let Some((endpoint, at)) = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".prom").and_then(|n| n.rsplit_once('_'))
            else {
                continue;
            };
            testing::exposition(&mut builder, endpoint, at.parse::<i64>().unwrap() * 1_000_000, &testing::log(&path).join("\n"));
        }
        let capture = builder.finish();
        let mut fitted = 0;
        for (i, at) in capture.endpoints.iter().enumerate() {
            let side = if at.name == "frontend" { crate::align::pairs::Side::Frontend } else { crate::align::pairs::Side::Worker };
            let names = [".log", ".log.gz", ".restart.log", ".restart.log.gz"].map(|end| folder.join(format!("{}{end}", at.name)));
            let lines: Vec<String> = names.iter().filter(|p| p.exists()).flat_map(|p| testing::log(p)).collect();
            for pair in PAIRS.iter().filter(|p| p.side == side) {
                let stamps: Vec<(i64, i64)> = lines.iter().filter_map(|l| of_kind(l, pair)).collect();
                let found = pair.fit(&stamps, &capture, EndpointId(i as u32), &Timing::default(), None);
                println!("{run} {} {}: {} lines, {found:?}", at.name, pair.events(), stamps.len());
                match found {
                    Ok(found) => {
                        assert!(found.anchor.low <= 0 && 0 <= found.anchor.high, "{found:?}");
                        assert!(found.anchor.high - found.anchor.low < SECOND);
                        fitted += 1;
                    }
                    Err(NoFit::Few { .. } | NoFit::Ambiguous { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
        assert!(fitted >= 4, "{run}: {fitted}");
    }
}

proptest! {
    #[test]
    fn the_beginning_is_in_the_interval(
        gaps in prop::collection::vec(1i64..5000, 60..200),
        scrapes in prop::collection::vec((300i64..900, 0i64..100), 80..200),
        base in 0i64..1000,
        anchor in -1_000_000_000i64..1_000_000_000,
        hint in prop::bool::ANY,
    ) {
        let events: Vec<i64> = gaps.iter().scan(anchor + 5000, |at, gap| { *at += gap; Some(*at) }).collect();
        let scrapes: Vec<(i64, i64)> = scrapes.iter().scan(0, |at, (gap, late)| { *at += gap; Some((*at, *late)) }).collect();
        let counts = counts(&events, &scrapes, base, anchor);
        let about = hint.then_some(Bound { low: anchor - 1000, high: anchor + 500 });
        match fit(&events.iter().map(|e| (*e, *e)).collect::<Vec<_>>(), &counts, about) {
            Ok(found) => {
                prop_assert!(found.anchor.low <= anchor && anchor <= found.anchor.high, "{found:?}");
                prop_assert_eq!(found.agreement.share(), 1.0);
            }
            Err(NoFit::Few { .. } | NoFit::Open) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
