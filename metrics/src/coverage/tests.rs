use super::*;
use crate::build::Builder;
use crate::model::{Clock, Labels, Outcome, Precision, SECOND, StampOf};

/// A capture of endpoints with one counter each: samples by time in tenths of a second.
fn capture(endpoints: &[(&str, &[(i64, f64)])]) -> Capture {
    let mut builder = Builder::new("test", Clock::Wall, StampOf::Body);
    for (name, samples) in endpoints {
        let endpoint = builder.endpoint(name);
        let id = builder.series(endpoint, "x_total", &Labels::default(), Precision::F64);
        samples.iter().for_each(|(at, value)| builder.push(id, at * SECOND / 10, *value));
    }
    builder.finish()
}

fn every(from: i64, to: i64, step: usize) -> Vec<(i64, f64)> {
    (from..=to).step_by(step).map(|t| (t, t as f64)).collect()
}

fn ask(to: i64) -> Ask {
    Ask { window: (0, to * SECOND / 10), ..Ask::default() }
}

/// Ends of gaps in tenths of a second, with their causes.
fn told(coverage: &Coverage) -> Vec<(i64, i64, Cause)> {
    coverage.gaps.iter().map(|g| (g.from * 10 / SECOND, g.to * 10 / SECOND, g.cause)).collect()
}

#[test]
fn a_gap_is_longer_than_two_intervals_and_its_cause_is_what_something_says() {
    let mut a = every(0, 100, 5);
    a.retain(|(t, _)| !(31..=49).contains(t));
    let b = every(0, 100, 5);
    let capture = capture(&[("a", &a), ("b", &b)]);
    let all = of_endpoints(&capture, &ask(100));
    assert_eq!(told(&all[0]), [(30, 50, Cause::Unknown)]);
    assert_eq!(all[0].fraction, 0.8);
    assert_eq!((all[1].gaps.len(), all[1].fraction, all[1].scrapes), (0, 1.0, 21));
    let failure = |low: i64, high: i64| Failure { endpoint: "a".into(), low: low * SECOND / 10, high: high * SECOND / 10 };
    let down = Ask { failures: vec![failure(35, 45), failure(90, 100)], ..ask(100) };
    let all = of_endpoints(&capture, &down);
    assert_eq!(told(&all[0]), [(30, 50, Cause::ServerDown)]);
    assert_eq!((all[0].gaps[0].failures, all[0].failures), (1, (2, 0)));
    assert_eq!(all[0].gaps[0].failed, Some((35 * SECOND / 10, 45 * SECOND / 10)), "nobody looked in the rest of the gap");
    let narrow = Ask { window: (4 * SECOND, 10 * SECOND), ..Ask::default() };
    let clipped = &of_endpoints(&capture, &narrow)[0];
    assert_eq!((told(clipped), clipped.scrapes), (vec![(30, 50, Cause::Unknown)], 11), "the gap's own ends are kept");
    assert!((clipped.fraction - 5.0 / 6.0).abs() < 1e-12, "a sixth of the window lies in it");
}

#[test]
fn counters_that_fell_tell_a_restart_and_a_gap_of_all_a_late_scraper() {
    let cut = |mut samples: Vec<(i64, f64)>| {
        samples.retain(|(t, _)| !(31..=49).contains(t));
        samples
    };
    let (a, b, slow) = (cut(every(0, 100, 5)), cut(every(0, 100, 5)), every(0, 100, 20));
    let late = capture(&[("a", &a), ("b", &b), ("slow", &slow)]);
    assert_eq!(told(&of_endpoints(&late, &ask(100))[0]), [(30, 50, Cause::ScraperLate)], "slow could not show it");
    let restarted: Vec<(i64, f64)> = a.iter().map(|&(t, v)| (t, if t > 40 { v - 45.0 } else { v })).collect();
    let whole = every(0, 100, 5);
    let restart = capture(&[("a", &restarted), ("b", &whole)]);
    let all = of_endpoints(&restart, &ask(100));
    assert_eq!((told(&all[0]), all[0].gaps[0].fell), (vec![(30, 50, Cause::Restart)], (1, 1)));
}

#[test]
fn what_was_never_there_and_what_is_outside() {
    let a = every(10, 60, 5);
    let capture = capture(&[("a", &a)]);
    let with = Ask { expected: vec!["a".into(), "b".into()], ..ask(100) };
    let all = of_endpoints(&capture, &with);
    assert_eq!(told(&all[0]), [(60, 100, Cause::Outside)], "ten tenths before the first are no gap: two intervals");
    assert_eq!((all[0].expected, all[1].expected), (Some(true), Some(true)));
    assert_eq!((told(&all[1]), all[1].id), (vec![(0, 100, Cause::Never)], None));
    let stopped = Ask { stop: Some((6 * SECOND, 7 * SECOND)), ..with };
    assert_eq!(told(&of_endpoints(&capture, &stopped)[0]), [(60, 100, Cause::Teardown)]);
    let one = self::capture(&[("a", &[(5, 1.0)])]);
    assert_eq!(of_endpoints(&one, &ask(10))[0].fraction, 0.0, "one scrape covers nothing that is proven");
    let none = self::capture(&[("a", &[])]);
    assert_eq!(told(&of_endpoints(&none, &ask(10))[0]), [(0, 10, Cause::Never)]);
}

#[test]
fn a_body_that_shares_no_series_is_a_phantom() {
    let mut builder = Builder::new("test", Clock::Wall, StampOf::Body);
    let endpoint = builder.endpoint("a");
    let ids: Vec<_> =
        ["x_total", "late", "upstream"].iter().map(|n| builder.series(endpoint, n, &Labels::default(), Precision::F64)).collect();
    for t in 0..20 {
        match t {
            7..10 => builder.push(ids[2], t * SECOND, 500.0),
            _ => builder.push(ids[0], t * SECOND, t as f64),
        }
        if t > 14 {
            builder.push(ids[1], t * SECOND, 1.0);
        }
    }
    let capture = builder.finish();
    let ask = Ask { window: (0, 19 * SECOND), ..Ask::default() };
    let coverage = &of_endpoints(&capture, &ask)[0];
    assert_eq!(coverage.phantoms, [Phantom { series: vec![ids[2]], scrapes: 3, first: 7 * SECOND, last: 9 * SECOND }]);
    assert_eq!((told(coverage), coverage.scrapes), (vec![(60, 100, Cause::Unknown)], 17));
    let scraped = Scraped::of(&capture);
    let late = scraped.appearance(ids[1]).unwrap();
    assert_eq!((late.absent_at, late.first.at), (Some(14 * SECOND), 15 * SECOND));
    assert_eq!(scraped.appearance(ids[0]).unwrap().absent_at, None);
    assert_eq!(told(&scraped.series(ids[1], &ask).unwrap()), [(0, 150, Cause::Absent)]);
}

#[test]
fn scrapes_that_the_capture_keeps_say_more_than_samples() {
    let mut builder = Builder::new("test", Clock::Wall, StampOf::Request);
    let endpoint = builder.endpoint("a");
    let id = builder.series(endpoint, "x_total", &Labels::default(), Precision::F64);
    for t in 0..20 {
        let outcome = if (8..12).contains(&t) { Outcome::Failed("refused".into()) } else { Outcome::Read };
        builder.scrape(endpoint, t * SECOND, None, outcome);
    }
    builder.push(id, 0, 1.0);
    let capture = builder.finish();
    let coverage = &of_endpoints(&capture, &Ask { window: (0, 19 * SECOND), ..Ask::default() })[0];
    assert_eq!(coverage.gaps.len(), 1);
    assert_eq!((coverage.gaps[0].cause, coverage.gaps[0].failures, coverage.failures), (Cause::ServerDown, 4, (4, 0)));
    assert_eq!(coverage.gaps[0].failed, Some((8 * SECOND, 11 * SECOND)), "of seconds 7 to 12");
}

#[test]
fn nothing_covers_a_window_behind_the_capture() {
    let capture = capture(&[("a", &every(0, 100, 5))]);
    let behind = Ask { window: (101 * SECOND / 10, 103 * SECOND / 10), ..Ask::default() };
    let all = of_endpoints(&capture, &behind);
    assert_eq!((all[0].scrapes, all[0].fraction), (0, 0.0));
    assert_eq!(told(&all[0]), [(101, 103, Cause::Outside)]);
}

#[test]
fn scrapes_of_endpoints_without_a_name_are_no_phantoms() {
    let mut builder = Builder::new("test", Clock::Wall, StampOf::Unknown);
    let endpoint = builder.endpoint("");
    for (name, offset) in [("x_total", 0), ("y_total", 3)] {
        let id = builder.series(endpoint, name, &Labels::default(), Precision::F64);
        (0..5).for_each(|i| builder.push(id, i * SECOND + offset, i as f64));
    }
    let all = of_endpoints(&builder.finish(), &ask(40));
    assert!(all[0].phantoms.is_empty());
    assert_eq!(all[0].scrapes, 9, "the last of the second comes after the window");
}
