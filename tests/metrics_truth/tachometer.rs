//! Captures of Tachometer with all that its files lose: what must be concluded (cases/tachometer/testcases.jsonl), against what was served.

use serde_json::Value;

use super::{ask, cases, figures, ns, place, program, text, unzip};
use program::Place;

/// The first scraper's file of `run_a`: 32-bit floats, no wall clock, suffixes cut.
const FILE: &str = "final.parquet";
const WHOLE: [&str; 4] = ["--since", "start", "--until", "end"];

fn scrape_a() -> Option<(Place, std::path::PathBuf)> {
    let folder = cases("tachometer/run_a")?;
    Some((place(&folder, &["scrapeA/local/final.parquet"]), folder))
}

fn one(place: &Place, run: &str, selector: &str) -> Value {
    let answer = ask(place, &[&[run, selector][..], &WHOLE].concat());
    let found = figures(&answer);
    assert_eq!(found.len(), 1, "{selector}");
    found[0].clone()
}

/// What the exporter served the first scraper: values of a line at each scrape of an endpoint, in order.
fn served(truth: &str, endpoint: &str, line: &str) -> Vec<f64> {
    let mut rows: Vec<(i64, f64)> = Vec::new();
    for row in truth.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()) {
        if row["who"] != "A" || row["ep"] != endpoint || row["code"] != 200 || row["sent"] != true {
            continue;
        }
        let value = row["body"].as_str().unwrap_or("").lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(' ')?.parse().ok());
        rows.extend(value.map(|value| (row["t_sent_ns"].as_i64().unwrap(), value)));
    }
    rows.sort_by_key(|row| row.0);
    rows.into_iter().map(|row| row.1).collect()
}

/// F32-1 to F32-3: the difference that was served lies within the error that is printed, and the error is not hidden.
#[test]
fn rounded_counters_carry_what_rounding_leaves_open() {
    let Some((place, folder)) = scrape_a() else { return };
    let truth = unzip(&folder.join("truth/truth_scrapes.jsonl.gz"));
    let tokens = "sglang:generation_tokens_total{engine_type=\"unified\",model_name=\"tiny\",pp_rank=\"0\",tp_rank=\"0\"}";
    for (id, endpoint, line, selector, stored, n) in [
        ("F32-1", "quirks", "q:past_2p24_total", "q:past_2p24_total", 332.0, 136),
        ("F32-2", "worker_agg_1_0", tokens, "sglang:generation_tokens_total{tp_rank=\"0\",target=\"worker_agg_1_0\"}", 6_656.0, 135),
        ("F32-3", "quirks", "q:at_1e10_total", "q:at_1e10_total", 33_792.0, 136),
    ] {
        let values = served(&truth, endpoint, line);
        assert_eq!(values.len(), n, "{id}: scrapes that were served");
        let real = values.last().unwrap() - values.first().unwrap();
        let figure = one(&place, FILE, selector);
        let inner = &figure["answer"]["inner"];
        let (value, error) = (inner["value"].as_f64().unwrap(), inner["error"].as_f64().unwrap());
        assert_eq!((value, figure["answer"]["n"].as_u64()), (stored, Some(n as u64)), "{id}");
        assert!(value != real && (value - real).abs() <= error, "{id}: {value} ± {error}, served {real}");
        assert!(figure["answer"]["least"].as_f64().unwrap() <= real, "{id}");
        assert_eq!(figure["exact"], false, "{id}");
        assert!(text(&place, &[&[FILE, selector][..], &WHOLE].concat()).contains("as values were stored as 32-bit floats"), "{id}");
    }
}

/// RST-1 and F32-4: 63558, a restart, and 84855 of which a second restart at 55 s hid itself by counting past the old value: 49339 then 51166.
/// 198688 were counted in the window. Start times step by 128 s: the first restart does not show in them, the second does.
#[test]
fn a_restart_that_no_fall_shows_is_found_by_the_start_time() {
    let Some((place, _)) = scrape_a() else { return };
    let figure = one(&place, FILE, "sglang:prompt_tokens_total{tp_rank=\"0\",target=\"worker_agg_2_0\"}");
    let answer = &figure["answer"];
    let resets: Vec<(Option<f64>, Option<f64>)> =
        answer["resets"].as_array().unwrap().iter().map(|r| (r["before"]["value"].as_f64(), r["after"]["value"].as_f64())).collect();
    assert_eq!(resets, [(Some(69_557.0), Some(1_093.0)), (Some(49_339.0), Some(51_166.0))]);
    let evidence = answer["reset_evidence"].as_array().unwrap();
    assert_eq!((&evidence[0]["evidence"], &evidence[1]["evidence"]), (&"together".into(), &"started".into()), "{evidence:?}");
    // Instants on the capture's clock, as everywhere; not numbers.
    let told = (evidence[1]["after"].as_str().unwrap(), evidence[1]["by"].as_str().unwrap());
    assert!(told.0.starts_with("+55.04") && told.1.starts_with("+55.69"), "{told:?}");
    let (inner, base) = (answer["inner"]["value"].as_f64().unwrap(), answer["restart_base"]["value"].as_f64().unwrap());
    assert_eq!(inner, (69_557.0 - 5_999.0) + (49_339.0 - 1_093.0) + (84_855.0 - 51_166.0));
    assert_eq!(base, 1_093.0 + 51_166.0);
    assert!((148_413.0..=198_688.0).contains(&(inner + base)), "{}", inner + base);
    assert!(answer["least"].as_f64() <= Some(198_688.0) && answer["most"].is_null(), "nothing bounds it from above: {answer}");
}

/// LAZ-1: first seen with 4096 and never moved.
#[test]
fn a_series_that_appears_late_adds_nothing_and_is_told() {
    let Some((place, _)) = scrape_a() else { return };
    let figure = one(&place, FILE, "sglang:cached_tokens_total{cache_source=\"host\",tp_rank=\"0\",target=\"worker_agg_0_0\"}");
    let answer = &figure["answer"];
    let first = &answer["first_appearance"];
    assert_eq!((answer["inner"]["value"].as_f64(), first["value"].as_f64()), (Some(0.0), Some(4_096.0)), "{answer}");
    let (absent, at) = (first["absent_at"].as_str().unwrap(), first["at"].as_str().unwrap());
    assert!(absent.starts_with("+23.1") && at.starts_with("+23.6"), "{absent} {at}");
    assert!(answer["most"].is_null(), "zero before is not proven: {answer}");
}

/// HIS-1 to HIS-3, HIS-5, HIS-6: the sum beside a bucket is the first set's; counts and quantiles are right.
#[test]
fn a_sum_that_may_be_another_sets_gives_no_mean() {
    let Some((place, _)) = scrape_a() else { return };
    for (id, selector, sets) in
        [("HIS-1, HIS-2", "q:two_sets_seconds", 2), ("HIS-3", "sglang:time_to_first_token_seconds{target=\"worker_agg_0_0\"}", 2)]
    {
        let answer = ask(&place, &[&[FILE, selector][..], &WHOLE].concat());
        let found = figures(&answer);
        assert_eq!(found.len(), sets, "{id}");
        for figure in found {
            assert!(figure["answer"]["mean"].is_null(), "{id}: {figure}");
            assert_eq!(figure["answer"]["no_mean"], "sum_unproven", "{id}");
        }
        let said = text(&place, &[&[FILE, selector][..], &WHOLE].concat());
        assert!(said.contains("no mean: the sum that stands beside it is of one of several label sets"), "{id}: {said}");
    }
    // Worker B's observations lie between 1 and 2 (345 at the end, 14 at the first scrape); A's below 0.5.
    let answer = ask(&place, &[&[FILE, "q:two_sets_seconds{worker=\"B\"}"][..], &WHOLE].concat());
    let found = &figures(&answer)[0]["answer"];
    let half = &found["quantiles"][0];
    assert_eq!((half["n"].as_f64(), half["low"].as_f64(), half["high"].as_f64()), (Some(331.0), Some(1.0), Some(2.0)), "{half}");
    // HIS-6: what the file calls the lower bound of the first bucket is above its upper one.
    let answer = ask(&place, &[&[FILE, "q:neg_delta"][..], &WHOLE].concat());
    let half = &figures(&answer)[0]["answer"]["quantiles"][0];
    assert!(half["low"].as_f64() < half["high"].as_f64(), "{half}");
}

/// SUF-3, LBL-1, LBL-6, LBL-8: several series under one name, a value that is the exemplar's, lines that were never stored.
#[test]
fn damaged_identity_is_refused_and_absence_is_not_zero() {
    let Some((place, _)) = scrape_a() else { return };
    for (id, selector) in
        [("SUF-3", "q:summ_seconds{worker=\"A\"}"), ("LBL-1", "q:label_torture{v=\"com\"}"), ("LBL-6", "q:om_total{a=\"1\"}")]
    {
        let answer = ask(&place, &[&[FILE, selector][..], &WHOLE].concat());
        assert_eq!(figures(&answer)[0]["answer"]["status"], "refused", "{id}");
    }
    for (id, selector, value) in [
        ("LBL-3", r#"q:label_torture{v="q\"uote"}"#, 2.0),
        ("LBL-3", r#"q:label_torture{v="back\\slash"}"#, 8.0),
        ("LBL-3", r#"q:label_torture{v="new\nline"}"#, 9.0),
        ("LBL-5", "q:space_before_brace", 7.0),
    ] {
        let found = one(&place, FILE, selector);
        assert_eq!(found["answer"]["min"]["value"].as_f64(), Some(value), "{id} {selector}");
    }
    for selector in ["q:garbage", "q:hex", "q:under"] {
        let ran = place.corr(&["metrics", FILE, selector]);
        assert_eq!(ran.code, Some(1), "LBL-8 {selector}: {}", ran.stdout);
        assert!(ran.stderr.contains("no such series"), "LBL-8 {selector}: {}", ran.stderr);
    }
}

/// CLK-6: a stamp is after the body.
#[test]
fn the_stamp_is_said_to_be_later_than_the_values() {
    let Some((place, _)) = scrape_a() else { return };
    assert!(text(&place, &[FILE, "-n", "1"]).contains("a stamp is taken after the body: values are older by the scrape's duration"));
}

/// GAP-1 to GAP-3, GAP-5, GAP-6: each gap with its cause as far as the scraper's log and the samples show it. Twelve of the down worker's 19
/// `Error scraping` lines fall into its outage, seven into the teardown; an endpoint that answered 503 left none.
#[test]
fn gaps_have_the_cause_that_is_shown() {
    let Some(folder) = cases("tachometer/run_a") else { return };
    let place = place(&folder, &["scrapeA"]);
    // The last samples are of 18:47:58; the scraper went on until it had compacted.
    let args = ["scrapeA", "process_start_time_seconds", "--since", "start", "--until", "2026-11-29T18:48:00.5Z"];
    let answer = ask(&place, &args);
    let of = |target: &str| answer["coverage"].as_array().unwrap().iter().find(|c| c["target"] == target).unwrap().clone();
    let gaps = |target: &str| -> Vec<(String, f64, u64)> {
        let gap = |g: &Value| {
            let seconds = g["length_ns"].as_f64().unwrap() / 1e9;
            (g["cause"].as_str().unwrap().to_string(), seconds, g["failed_scrapes"].as_u64().unwrap())
        };
        of(target)["gaps"].as_array().unwrap().iter().map(gap).collect()
    };
    let down = gaps("worker_agg_2_0");
    let (cause, length, failed) = &down[0];
    assert_eq!((cause.as_str(), *failed), ("server_down", 12), "GAP-1");
    assert!((length - 6.56).abs() < 0.01, "GAP-1: 27.13 to 33.69, not {length} s");
    assert_eq!(down.iter().filter(|g| g.0 == "server_down").count(), 1, "GAP-6: the teardown is no outage: {down:?}");
    assert!(down.iter().any(|g| g.0 == "teardown" && g.2 == 7), "GAP-6: {down:?}");
    let silent = gaps("worker_agg_3_0");
    let (cause, length, failed) = &silent[0];
    assert_eq!((cause.as_str(), *failed), ("unknown", 0), "GAP-2");
    assert!((length - 9.74).abs() < 0.01, "GAP-2: 12.00 to 21.74, not {length} s");
    assert_eq!(of("worker_agg_3_0")["phantom_scrapes"], 8, "GAP-3: an error page that was read as samples");
    let never = of("never_there");
    assert_eq!((&never["scrapes"], &never["expected"]), (&0.into(), &true.into()), "GAP-5");
    assert_eq!(gaps("never_there")[0].2, 38, "GAP-5");
}

/// GAP-7: a setting of 2 Hz that ran at a fraction of it.
#[test]
fn the_period_is_that_of_the_stamps() {
    let Some(folder) = cases("tachometer/run_a_starved") else { return };
    let place = place(&folder, &["scrapeA"]);
    let answer = ask(&place, &["scrapeA", "-n", "1"]);
    let mut asked = 0;
    for endpoint in answer["captures"][0]["endpoints"].as_array().unwrap() {
        if let Some(interval) = endpoint["interval_ns"].as_i64() {
            assert!((2_800_000_000..=8_000_000_000).contains(&interval), "{endpoint}");
            asked += 1;
        }
    }
    assert!(asked > 0);
}

/// KIL-1, KIL-2: 48137 rows in six files of a scraper that was killed while it synced, or in what the official compaction made of them; 24192
/// samples were taken.
#[test]
fn copies_are_counted_once() {
    let Some(folder) = cases("tachometer/run_a/scrapeC") else { return };
    for (id, part) in [("KIL-1", "local"), ("KIL-2", "compacted_after_kill")] {
        let place = place(&folder, &[part]);
        let answer = ask(&place, &[part, "-n", "1"]);
        let capture = &answer["captures"][0];
        let note = capture["notes"].as_array().unwrap().iter().find(|n| n["code"] == "copies_dropped");
        let said = note.unwrap_or_else(|| panic!("{id}"))["what"].as_str().unwrap();
        let dropped = 48_137 - 24_192;
        assert!(said.starts_with(&format!("{dropped} of 48137 rows are copies")), "{id}: {said}");
    }
}

/// A scraper that was killed while it wrote: 2017 of the rows of `current.arrow` are in `out-1.parquet` too (cases/metrics/README.md).
#[test]
fn what_stands_in_two_files_of_a_killed_scraper_is_counted_once() {
    let Some(folder) = cases("metrics/layouts/T_tachometer") else { return };
    let place = place(&folder, &["crash_leftovers"]);
    let answer = ask(&place, &["crash_leftovers"]);
    let capture = &answer["captures"][0];
    let note = capture["notes"].as_array().unwrap().iter().find(|n| n["code"] == "copies_dropped").expect("copies are told");
    assert!(note["what"].as_str().unwrap().starts_with("2017 of "), "{note}");
}

/// KIL-4: two lives of the scraper in one file, each with a clock of its own: 22 of 39 scrapes are left, and the counter of scrapes rises by one
/// a scrape in either.
#[test]
fn two_lives_in_one_file_are_two_captures() {
    let Some(folder) = cases("tachometer/run_scraper_restarted") else { return };
    let place = place(&folder, &["final.parquet"]);
    let answer = ask(&place, &[&[FILE, "q:scrapes_total"][..], &WHOLE].concat());
    let mut names = Vec::new();
    let mut scrapes = 0;
    for figure in figures(&answer) {
        let found = &figure["answer"];
        let n = found["n"].as_u64().unwrap();
        scrapes += n;
        assert_eq!(found["resets"].as_array().map(Vec::len), Some(0), "{figure}");
        assert!(found["inner"]["value"].as_f64().unwrap() >= (n - 1) as f64, "{figure}");
        names.push(figure["citation"].as_str().unwrap().split('#').next().unwrap().to_string());
    }
    assert_eq!(scrapes, 22);
    assert_eq!(names, ["final.parquet (1 of 2)", "final.parquet (2 of 2)"], "a citation is of one of them");
    let listed = ask(&place, &[FILE]);
    for capture in listed["captures"].as_array().unwrap() {
        assert_eq!((&capture["clock"], &capture["anchor"]), (&"elapsed".into(), &Value::Null), "the first start cannot be proven");
    }
}

/// RUN-3: the window that the killed run's capture and its router's log cover together ends with the capture, at 19.7 s of the scraper's clock
/// (the router's log has 1 to 2 s more). A body that was saved once limits nothing.
#[test]
fn the_common_window_of_a_killed_run_ends_with_its_capture() {
    let Some(folder) = cases("tachometer/run_dynamo") else { return };
    const RUN: &str = "corr-timeout-20261129T185801Z-3";
    let place = place(&folder, &[RUN]);
    let series = [RUN, "dynamo_frontend_requests_total", "log:*{source=\"router.log\"}", "--window", "common"];
    let said = text(&place, &series);
    let capture = format!("{RUN}/artifacts/tachometer/local/current.arrow");
    assert!(said.contains(&format!("what 2 sources cover; it begins with {capture} and ends with {capture}\n")), "{said}");
    let answer = ask(&place, &series);
    let figure = figures(&answer).iter().find(|f| f["family"] == "dynamo_frontend_requests_total").unwrap();
    let to = ns(&figure["answer"]["window"]["to"]);
    // The scraper was told of workers; the router's log was not told of any.
    let of_log: Vec<&Value> =
        answer["coverage"].as_array().unwrap().iter().filter(|c| c["capture"].as_str().unwrap().ends_with("router.log")).collect();
    assert_eq!(of_log.iter().map(|c| (&c["target"], &c["expected"])).collect::<Vec<_>>(), [(&"router".into(), &Value::Null)]);
    // The scraper was started at 686.742.
    let after = (to - 1_795_978_686_741_808_375) as f64 / 1e9;
    assert!((19.5..=19.8).contains(&after), "{after}");
    let ran = place.corr(&["query", RUN, "*", "--window", "common", "-n", "1"]);
    assert!(ran.stderr.contains("smoke.json (all its stamps lie within a second)"), "{}", ran.stderr);
}
