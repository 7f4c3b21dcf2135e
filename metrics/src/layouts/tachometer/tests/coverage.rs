//! Cases of cases/tachometer/testcases.jsonl on gaps, with the scraper's own log and configuration.

use std::fs::File;
use std::io::BufReader;

use super::*;
use crate::cases::cases;
use crate::coverage::{Ask, Cause, Coverage, Gap, Scraped, of_endpoints};
use crate::layouts::tachometer::{expected, log};

/// A capture with what its log and its TOML say, asked over all of its time.
fn asked(root: &Path, run: &str) -> (Capture, Ask, log::Log) {
    let capture = capture(root, &format!("{run}/raw/scrape/final.parquet"));
    let log = log::read(BufReader::new(File::open(root.join(run).join("tachometer.log")).unwrap())).unwrap();
    let toml = std::fs::read_to_string(root.join(run).join("tachometer.toml")).unwrap();
    let anchor = log.anchor().unwrap();
    let last = capture.samples.times(0..capture.series.len() as u32).last().copied().unwrap();
    let ask = Ask {
        window: (0, last),
        expected: expected::from_toml(&toml).unwrap().targets.into_iter().map(|t| t.name).collect(),
        failures: log.failures_on(Some(&anchor)),
        stop: log.stop_on(Some(&anchor)),
    };
    (capture, ask, log)
}

fn of<'a>(all: &'a [Coverage], endpoint: &str) -> &'a Coverage {
    all.iter().find(|c| c.endpoint == endpoint).unwrap()
}

/// The gap that begins at a time, in hundredths of a second.
fn gap(coverage: &Coverage, hundredths: f64) -> &Gap {
    let found = coverage.gaps.iter().find(|g| (seconds(g.from) * 100.0).round() == hundredths);
    found.unwrap_or_else(|| panic!("no gap at {hundredths}: {:?}", coverage.gaps))
}

#[test]
fn gaps_and_their_causes() {
    let Some(root) = cases("tachometer") else { return };
    let (capture, ask, log) = asked(&root, "run_a/scrapeA");
    let scraped = Scraped::of(&capture);
    let all = scraped.endpoints(&ask);

    let two = of(&all, "worker_agg_2_0");
    let outage = gap(two, 2713.0);
    assert_eq!(((seconds(outage.to) * 100.0).round(), outage.cause, outage.failures), (3369.0, Cause::ServerDown, 12), "GAP-1");
    assert!(outage.fell.0 > 0 && outage.fell.0 <= outage.fell.1, "GAP-1: counters fell across it: {:?}", outage.fell);
    assert_eq!(log.failures["worker_agg_2_0"].at.len(), 19, "GAP-1");
    assert_eq!(two.failures.0 + two.failures.1, 19, "GAP-1");

    let three = of(&all, "worker_agg_3_0");
    let silent = gap(three, 1200.0);
    assert_eq!(((seconds(silent.to) * 100.0).round(), silent.cause, silent.failures), (2174.0, Cause::Unknown, 0), "GAP-2");
    let hang = gap(three, 3709.0);
    assert_eq!((hang.cause, hang.failures), (Cause::Unknown, 0), "a server that hangs leaves no line");

    assert_eq!(three.phantoms.len(), 1, "GAP-3");
    let phantom = &three.phantoms[0];
    assert_eq!((capture.get(phantom.series[0]).unwrap().name.seen(), phantom.scrapes), ("upstream", 8), "GAP-3");
    assert_eq!((seconds(phantom.first) * 10.0).floor(), 176.0, "GAP-3");
    assert_eq!((seconds(phantom.last) * 10.0).floor(), 212.0, "GAP-3");
    let counter = find(&capture, "worker_agg_3_0", "sglang:num_requests_total", &[("tp_rank", "0")])
        .into_iter()
        .chain(find(&capture, "worker_agg_3_0", "sglang:num_requests_total", &[]))
        .next()
        .unwrap();
    let series = scraped.series(counter, &ask).unwrap();
    assert_eq!(gap(&series, 1200.0).cause, Cause::Unknown, "GAP-3: of the series, whatever the endpoint looks like");
    let error = scraped.series(phantom.series[0], &ask).unwrap();
    assert!(error.fraction < 0.1, "GAP-3: {}", error.fraction);

    let never = of(&all, "never_there");
    assert_eq!((never.id, never.expected, never.scrapes, never.fraction), (None, Some(true), 0, 0.0), "GAP-5");
    assert_eq!(never.failures.0 + never.failures.1, 38, "GAP-5");
    assert_eq!(never.gaps[0].cause, Cause::Never, "GAP-5");

    // Scraping goes on while the capture is compacted: lines after the stop are of the teardown, and no gap is an outage there.
    let down: Vec<&Coverage> = all.iter().filter(|c| c.gaps.iter().any(|g| g.cause == Cause::ServerDown)).collect();
    assert_eq!(down.len(), 1, "GAP-6: one endpoint had an outage");
    assert!(all.iter().filter(|c| c.id.is_some()).all(|c| c.failures.1 > 0), "GAP-6");
    let beyond = Ask { window: (0, ask.window.1 + 5 * SECOND), ..ask.clone() };
    let later = scraped.endpoints(&beyond);
    for name in ["worker_agg_0_0", "worker_agg_1_0", "worker_agg_2_0", "worker_agg_3_0", "quirks"] {
        assert_eq!(of(&later, name).gaps.last().unwrap().cause, Cause::Teardown, "GAP-6: {name}");
    }

    // At 64.6 s every endpoint of 2 Hz misses two scrapes.
    for name in ["worker_agg_0_0", "worker_agg_1_0", "worker_agg_2_0", "worker_agg_3_0", "quirks"] {
        let late = of(&all, name).gaps.iter().find(|g| (64..65).contains(&(g.from / SECOND))).unwrap();
        assert_eq!(late.cause, Cause::ScraperLate, "{name}");
    }
    println!("ran: GAP-1 GAP-2 GAP-3 GAP-5 GAP-6");
}

#[test]
fn a_starved_scrapers_period_is_that_of_its_stamps() {
    let Some(root) = cases("tachometer") else { return };
    let (capture, ask, _) = asked(&root, "run_a_starved/scrapeA");
    let toml = std::fs::read_to_string(root.join("run_a_starved/scrapeA/tachometer.toml")).unwrap();
    let target = expected::from_toml(&toml).unwrap().targets.into_iter().find(|t| t.name == "worker_agg_0_0").unwrap();
    assert_eq!(target.every, Some(SECOND / 2), "GAP-7: 2 Hz are configured");
    let interval = of(&of_endpoints(&capture, &ask), "worker_agg_0_0").interval.unwrap();
    let tenths = |ns: i64| (seconds(ns) * 10.0).round();
    assert_eq!((tenths(interval.least), tenths(interval.most)), (28.0, 80.0), "GAP-7");
    println!("ran: GAP-7");
}

#[test]
fn what_configurations_and_logs_of_runs_say() {
    let Some(root) = cases("tachometer") else { return };
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let direct = "run_dynamo/corr-direct-20261129T185427Z-1";
    let plan = expected::from_plan(&text(&format!("{direct}/direct-plan.json"))).unwrap();
    assert_eq!(plan, expected::from_toml(&text(&format!("{direct}/tachometer.toml"))).unwrap(), "the plan holds the same text");
    let names: Vec<&str> = plan.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["router", "worker_agg_0_0", "worker_agg_1_0"]);
    assert_eq!(plan.targets[2].facts["worker_index"], "1");

    let open = |path: &str| log::read(BufReader::new(File::open(root.join(path)).unwrap())).unwrap();
    let whole = open(&format!("{direct}/logs/tachometer.log"));
    assert_eq!(whole.saves.last().map(|s| s.rows), Some(82_971));
    assert!(whole.stop.is_some() && whole.complete.is_some());
    let killed = open("run_dynamo/corr-timeout-20261129T185801Z-3/logs/tachometer.log");
    assert_eq!((killed.stop, killed.complete, killed.saves.len()), (None, None, 4), "RUN-3: no end marker");
    let current = capture(&root, "run_dynamo/corr-timeout-20261129T185801Z-3/artifacts/tachometer/local/current.arrow");
    let last = current.samples.times(0..current.series.len() as u32).last().copied().unwrap();
    assert_eq!((seconds(last) * 10.0).floor(), 197.0, "RUN-3: metrics end at 19.7 s");
    let refused = open("run_slurm_tacho_asshipped/logs/tachometer.out");
    assert!(refused.fatal[0].contains("is an existing directory"), "RUN-1");
    println!("ran: RUN-1 (log) RUN-3 (metrics)");

    let Some(root) = cases("metrics") else { return };
    let prometheus = expected::from_prometheus(&std::fs::read_to_string(root.join("prometheus.yml")).unwrap()).unwrap();
    let names: Vec<&str> = prometheus.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["127.0.0.1:13000", "127.0.0.1:18000", "127.0.0.1:19100"]);
    assert!(prometheus.targets.iter().all(|t| t.every == Some(SECOND)));
    println!("ran: prometheus.yml");
}
