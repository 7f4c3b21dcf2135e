use super::*;
use crate::align::testing;
use crate::build::Builder;
use crate::cases::cases;
use crate::model::{Clock, Labels, Outcome, SECOND, StampOf};
use proptest::prelude::*;

fn default(a: &Capture, b: &Capture) -> Result<Offset, NoOffset> {
    offset(a, b, &Timing::default(), &Timing::default())
}

fn contains(anchor: &Anchor, truth: i64) -> bool {
    anchor.low <= truth && truth <= anchor.high
}

#[test]
fn a_second_scraper_whose_clock_is_fast() {
    let Some(folder) = cases("metrics/raw") else { return };
    let wall = testing::raw(&folder.join("raw_prometheus.jsonl.gz"), false);
    let fast = testing::raw(&folder.join("raw_skewed_clock.jsonl.gz"), false);
    let found = default(&wall, &fast).unwrap();
    println!("{found:?}");
    assert!(contains(&found.anchor, 2_700_000_000));
    assert!(found.anchor.high - found.anchor.low <= SECOND / 5);
    assert_eq!(found.segments, []);
    let back = default(&fast, &wall).unwrap();
    assert!(contains(&back.anchor, -2_700_000_000));
}

/// Each row of the second scraper holds both its clocks, so that what its elapsed clock began at is in the file.
#[test]
fn an_elapsed_clock_gets_its_epoch_from_another_capture() {
    let Some(folder) = cases("metrics/raw") else { return };
    let wall = testing::raw(&folder.join("raw_prometheus.jsonl.gz"), false);
    let path = folder.join("raw_skewed_clock.jsonl.gz");
    let elapsed = testing::raw(&path, true);
    let text = testing::gunzip(&path);
    let row: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let began = row["timestamp_ns"].as_i64().unwrap() - testing::ns(&row["elapsed_s"].to_string()) - 2_700_000_000;
    let found = default(&elapsed, &wall).unwrap();
    println!("{began} in {found:?}");
    assert!(contains(&found.anchor, began));
    assert!(found.anchor.high - found.anchor.low <= SECOND / 5);
}

/// Two scrapers with one period see each counter at one phase: their bracket cannot be narrower than the period less what the phases leave.
/// A period that differs walks through all phases.
#[test]
fn prometheus_and_two_scripts() {
    let Some(folder) = cases("metrics") else { return };
    let api = testing::matrix(&folder.join("prometheus/api/query_matrix_raw_5m.json.gz"));
    for (name, truth, width) in [("raw_prometheus", 0, SECOND), ("raw_skewed_clock", -2_700_000_000, SECOND / 5)] {
        let raw = testing::raw(&folder.join(format!("raw/{name}.jsonl.gz")), false);
        let found = default(&raw, &api).unwrap();
        println!("{found:?}");
        assert!(contains(&found.anchor, truth), "one machine");
        assert!(found.anchor.high - found.anchor.low <= width);
    }
}

/// The exporter wrote when it sent each body; a stamp is taken after that, the latest stamp less its sending bounds the truth from below.
#[test]
fn two_tachometers_of_one_run() {
    let Some(folder) = cases("tachometer/run_a") else { return };
    let read = |who: &str| testing::tachometer(&[&folder.join(format!("scrape{who}/local/final.parquet"))]);
    let (a, b) = (read("A"), read("B"));
    let half = Timing { pause: Some(SECOND / 2), ..Timing::default() };
    let whole = Timing { pause: Some(SECOND), ..Timing::default() };
    let found = offset(&a, &b, &half, &whole).unwrap();
    println!("{found:?}");
    // zero of A at .2606 and of B at .6040 by the exporter's record of what it sent: each within the few milliseconds until a body was parsed
    let truth = 1_795_978_006_260_600_000 - 1_795_978_006_604_000_000;
    let slack = 15_000_000;
    assert!(found.anchor.low - slack <= truth && truth <= found.anchor.high + slack);
    assert!(found.anchor.high - found.anchor.low <= SECOND / 5);
}

/// Tachometer's older files have neither a wall clock nor 64 bits; the newer of the same scrapes says where they began. The other scraper's clock is
/// 2.7 s fast.
#[test]
fn an_old_tachometer_file_gets_its_epoch() {
    let Some(folder) = cases("metrics") else { return };
    let old = testing::tachometer(&[&folder.join("layouts/T_tachometer/genA_final.parquet")]);
    let raw = testing::raw(&folder.join("raw/raw_skewed_clock.jsonl.gz"), false);
    let began = testing::tachometer_began(&folder.join("layouts/T_tachometer/genB_final.parquet"));
    let found = default(&old, &raw).unwrap();
    println!("{began} + 2.7 s in {found:?}");
    assert!(contains(&found.anchor, began + 2_700_000_000));
    assert!(found.anchor.high - found.anchor.low <= SECOND / 2);
}

#[test]
fn captures_with_nothing_in_common_say_so() {
    let empty = Builder::new("t", Clock::Wall, StampOf::Request).finish();
    assert_eq!(default(&empty, &empty), Err(NoOffset::NoEndpoint));
    let mut grid = Builder::new("grid", Clock::Wall, StampOf::Evaluation);
    grid.endpoint("x");
    assert!(matches!(default(&grid.finish(), &empty), Err(NoOffset::Unfit { layout: "grid", .. })));
    let flat = capture(&[], &[0, 1, 2], 0, "x");
    assert_eq!(default(&flat, &flat), Err(NoOffset::NoCrossing { shared: 0 }));
}

#[test]
fn counters_of_two_processes_disagree() {
    let one: Vec<i64> = (0..200).map(|i| i * i % 977 * 3 + i * 1000).collect();
    let other: Vec<i64> = (0..200).map(|i| i * i * 5).collect();
    let scrapes: Vec<i64> = (0..100).map(|i| i * 2000).collect();
    let found = default(&capture(&one, &scrapes, 0, "x"), &capture(&other, &scrapes, 0, "x"));
    assert!(matches!(found, Err(NoOffset::Disagree { .. }) | Err(NoOffset::NoCrossing { .. })), "{found:?}");
}

/// A worker that is a tenth faster than another passes the same levels ever earlier: that is no drift.
#[test]
fn two_speeds_are_no_drift() {
    let events = |gap: i64| (0..5000).map(|i| i * gap + i * i % 37).collect::<Vec<i64>>();
    let scrapes: Vec<i64> = (0..1000).map(|i| i * 300).collect();
    let found = default(&capture(&events(100), &scrapes, 0, "x"), &capture(&events(110), &scrapes, 0, "x"));
    assert!(matches!(found, Err(NoOffset::Disagree { .. })), "{found:?}");
}

#[test]
fn clocks_that_drift_are_fitted_by_parts() {
    // 10 events a second for 1000 s, the second clock gains 5 ms a second
    let events: Vec<i64> = (0..10_000).map(|i| i * 100 + i * i % 37).collect();
    let scrapes: Vec<i64> = (0..1000).map(|i| i * 1000).collect();
    let a = capture(&events, &scrapes, 0, "x");
    let mut builder = Builder::new("t", Clock::Wall, StampOf::Request);
    let id = builder.endpoint("x");
    let series = builder.series(id, "n_total", &Labels::default(), Precision::F64);
    for scrape in scrapes.iter().map(|s| s + 400) {
        let at = (scrape + scrape / 200) * MS;
        builder.scrape(id, at, Some(MS), Outcome::Read);
        builder.push(series, at, count(&events, scrape) as f64);
    }
    let found = default(&a, &builder.finish()).unwrap();
    assert!(found.segments.len() > 1, "{found:?}");
    for segment in &found.segments {
        assert!(segment.low <= segment.to / 200 && segment.from / 200 <= segment.high, "{segment:?}");
    }
    assert!(found.anchor.low <= 500 * MS && found.anchor.high >= 4500 * MS);
    assert!(found.notes.iter().any(|n| n.contains("drift")), "{:?}", found.notes);
}

/// Two workers of one kind, with names that tell nothing: their values do.
#[test]
fn workers_without_an_address_are_told_by_their_values() {
    let one: Vec<i64> = (0..300).map(|i| i * 310 + i * i % 101).collect();
    let other: Vec<i64> = (0..300).map(|i| i * 290 + i * i % 89).collect();
    let scrapes: Vec<i64> = (0..90).map(|i| i * 1000).collect();
    let both = |names: [&str; 2], shift: i64| {
        let mut builder = Builder::new("t", Clock::Wall, StampOf::Request);
        for (name, events) in names.iter().zip([&one, &other]) {
            add(&mut builder, events, &scrapes, shift, name);
        }
        builder.finish()
    };
    let found = default(&both(["a", "b"], 0), &both(["p", "q"], 5000)).unwrap();
    let same: Vec<(u32, u32)> = found.same.iter().map(|s| (s.a.0, s.b.0)).collect();
    assert_eq!(same, [(0, 0), (1, 1)]);
    assert!(contains(&found.anchor, 5000 * MS));
}

#[test]
fn ten_thousand_series_cost_no_more_than_the_best_of_them() {
    let mut builder = Builder::new("t", Clock::Wall, StampOf::Request);
    let id = builder.endpoint("x");
    let times: Vec<i64> = (0..2000).map(|i| i * SECOND).collect();
    let values: Vec<f64> = (0..2000).map(f64::from).collect();
    for i in 0..10_000 {
        let series = builder.series(id, &format!("n{i}_total"), &Labels::default(), Precision::F64);
        builder.extend(series, &times, &values);
    }
    let capture = builder.finish();
    let found = default(&capture, &capture).unwrap();
    assert!(contains(&found.anchor, 0));
    let (_, of) = found.anchor.holds.unwrap();
    assert!(of < 400_000, "{of} of 20 million levels were looked at");
}

const MS: i64 = 1_000_000;

/// How many of `events` (ms) happened before `at`.
fn count(events: &[i64], at: i64) -> usize {
    events.iter().filter(|e| **e < at).count()
}

/// A counter of `events` scraped at `scrapes` (true ms) by a clock that is `shift` ms fast. Reading takes 1 ms and happens at its middle.
fn add(builder: &mut Builder, events: &[i64], scrapes: &[i64], shift: i64, endpoint: &str) {
    let id = builder.endpoint(endpoint);
    let series = builder.series(id, "n_total", &Labels::default(), Precision::F64);
    for &scrape in scrapes {
        let at = (scrape + shift) * MS;
        builder.scrape(id, at, Some(MS), Outcome::Read);
        builder.push(series, at, count(events, scrape) as f64);
    }
}

fn capture(events: &[i64], scrapes: &[i64], shift: i64, endpoint: &str) -> Capture {
    let mut builder = Builder::new("t", Clock::Wall, StampOf::Request);
    add(&mut builder, events, scrapes, shift, endpoint);
    builder.finish()
}

/// Times at random distances.
fn schedule(gaps: impl Strategy<Value = Vec<i64>>) -> impl Strategy<Value = Vec<i64>> {
    gaps.prop_map(|gaps| {
        gaps.iter()
            .scan(0, |at, gap| {
                *at += gap;
                Some(*at)
            })
            .collect()
    })
}

/// A process that is started anew at `restarts`: its counter then begins at zero. Some scrapes are lost.
fn scraped(events: &[(i64, i64)], restarts: &[i64], scrapes: &[(i64, bool)], shift: i64, precision: Precision) -> Capture {
    let mut builder = Builder::new("t", Clock::Wall, StampOf::Request);
    let id = builder.endpoint("x");
    let series = builder.series(id, "n_total", &Labels::default(), precision);
    for &(scrape, lost) in scrapes {
        let at = (scrape + shift) * MS;
        if lost {
            builder.scrape(id, at, Some(MS), Outcome::Failed("lost".to_string()));
            continue;
        }
        builder.scrape(id, at, Some(MS), Outcome::Read);
        let born = restarts.iter().copied().filter(|r| *r < scrape).max().unwrap_or(i64::MIN);
        let value: i64 = events.iter().filter(|(t, _)| born < *t && *t < scrape).map(|(_, n)| n).sum();
        let value = value as f64;
        builder.push(series, at, if precision == Precision::F32 { f64::from(value as f32) } else { value });
    }
    builder.finish()
}

proptest! {
    #[test]
    fn the_truth_is_always_in_the_bracket(
        events in schedule(prop::collection::vec(1i64..400, 20..200)),
        sizes in prop::collection::vec(1i64..9_000_000, 200),
        a in schedule(prop::collection::vec(5i64..900, 20..120)),
        b in schedule(prop::collection::vec(5i64..900, 20..120)),
        shift in -1_000_000i64..1_000_000,
        narrow in prop::bool::ANY,
    ) {
        let events: Vec<(i64, i64)> = events.into_iter().zip(sizes).collect();
        let all = |times: &[i64]| times.iter().map(|t| (*t, false)).collect::<Vec<_>>();
        let precision = if narrow { Precision::F32 } else { Precision::F64 };
        let one = scraped(&events, &[], &all(&a), 0, Precision::F64);
        let other = scraped(&events, &[], &all(&b), shift, precision);
        match default(&one, &other) {
            Ok(found) => {
                prop_assert!(contains(&found.anchor, shift * MS), "{found:?}");
                prop_assert_eq!(found.anchor.holds.map(|(h, of)| h == of), Some(true));
            }
            Err(NoOffset::NoCrossing { .. }) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn lost_samples_and_restarts_leave_the_truth_in_the_bracket(
        gaps in prop::collection::vec(1i64..400, 200..400),
        a in prop::collection::vec((5i64..900, prop::bool::weighted(0.2)), 80..160),
        b in prop::collection::vec((5i64..900, prop::bool::weighted(0.2)), 80..160),
        restarts in prop::collection::vec(5_000i64..60_000, 0..3),
        shift in -1_000_000i64..1_000_000,
    ) {
        let walk = |gaps: &[(i64, bool)]| gaps.iter().scan(0, |at, (gap, lost)| { *at += gap; Some((*at, *lost)) }).collect::<Vec<_>>();
        let events: Vec<(i64, i64)> = gaps.iter().scan(0, |at, gap| { *at += gap; Some((*at, 1 + gap % 7)) }).collect();
        let one = scraped(&events, &restarts, &walk(&a), 0, Precision::F64);
        let other = scraped(&events, &restarts, &walk(&b), shift, Precision::F64);
        // a restart that no fall shows is a life that looks like part of another: refused or outvoted, never a wrong answer
        if let Ok(found) = default(&one, &other) {
            prop_assert!(contains(&found.anchor, shift * MS), "{found:?}");
        }
    }

    /// Now and then a replica that is behind serves a count of 300 ms before. That need not contradict anything; it cannot move the bracket by more.
    #[test]
    fn old_values_move_the_bracket_by_no_more_than_their_age(
        gaps in prop::collection::vec(1i64..400, 200..400),
        a in prop::collection::vec((5i64..900, prop::bool::weighted(0.02)), 80..160),
        b in prop::collection::vec((5i64..900, prop::bool::weighted(0.02)), 80..160),
        shift in -1_000_000i64..1_000_000,
    ) {
        let events: Vec<i64> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
        let stale = |scrapes: &[(i64, bool)], shift: i64| {
            let mut builder = Builder::new("t", Clock::Wall, StampOf::Request);
            let id = builder.endpoint("x");
            let series = builder.series(id, "n_total", &Labels::default(), Precision::F64);
            let mut at = 0;
            for (gap, old) in scrapes {
                at += gap;
                builder.scrape(id, (at + shift) * MS, Some(MS), Outcome::Read);
                builder.push(series, (at + shift) * MS, count(&events, if *old { at - 300 } else { at }) as f64);
            }
            builder.finish()
        };
        if let Ok(found) = default(&stale(&a, 0), &stale(&b, shift)) {
            let anchor = &found.anchor;
            prop_assert!(anchor.low - 300 * MS <= shift * MS && shift * MS <= anchor.high + 300 * MS, "{found:?}");
        }
    }
}

/// Values and times that nobody served.
fn any_capture() -> impl Strategy<Value = Capture> {
    let time = prop_oneof![any::<i64>(), -5i64..50, Just(i64::MAX), Just(i64::MIN)];
    let value = prop_oneof![any::<f64>(), (0i32..9).prop_map(f64::from), Just(f64::NAN), Just(f64::INFINITY)];
    let took = prop_oneof![Just(None), any::<i64>().prop_map(Some), (0i64..9).prop_map(Some)];
    let clock = prop_oneof![Just(Clock::Wall), Just(Clock::Elapsed { anchor: None })];
    let stamp_of = prop_oneof![Just(StampOf::Request), Just(StampOf::Body), Just(StampOf::FirstByte), Just(StampOf::Unknown)];
    let rows = prop::collection::vec((time, value, took, 0usize..3), 0..120);
    (rows, clock, stamp_of).prop_map(|(rows, clock, stamp_of)| {
        let mut builder = Builder::new("t", clock, stamp_of);
        for (i, (at, value, took, which)) in rows.into_iter().enumerate() {
            let id = builder.endpoint(["", "x", "y"][which]);
            let name = ["n_total", "x_uptime_seconds", "scrape_duration_seconds", "m_bucket"][i % 4];
            let precision = if which == 1 { Precision::F32 } else { Precision::F64 };
            let series = builder.series(id, name, &Labels::new([("le", "1")]), precision);
            builder.push(series, at, value);
            if took.is_some() {
                builder.scrape(id, at, took, Outcome::Read);
            }
        }
        builder.finish()
    })
}

proptest! {
    #[test]
    fn nothing_that_a_capture_can_hold_stops_the_search(a in any_capture(), b in any_capture(), pause in any::<Option<i64>>(), took in any::<i64>()) {
        let timing = Timing { pause, took };
        if let Ok(found) = offset(&a, &b, &timing, &Timing::default()) {
            prop_assert!(found.anchor.low <= found.anchor.high);
        }
        if let Ok(found) = crate::align::uptime::offset(&a, &b, &timing, &Timing::default()) {
            prop_assert!(found.low <= found.high);
        }
        let events: Vec<(i64, i64)> = (0..20).map(|i| (i * 3, i * 3 + 1)).collect();
        for pair in crate::align::pairs::PAIRS {
            for i in 0..4 {
                let _ = pair.fit(&events, &a, EndpointId(i), &timing, None);
            }
        }
        let counts = crate::align::tally::tally(&a, EndpointId(0), "n_total", &[], &timing);
        if let Ok(found) = crate::align::events::fit(&events, &counts, None) {
            prop_assert!(found.anchor.low <= found.anchor.high);
        }
    }
}
