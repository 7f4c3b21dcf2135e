use super::*;
use corr_parsers::clock::read_rule;
use proptest::prelude::*;

fn at(text: &str) -> i64 {
    chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_nanos_opt().unwrap()
}

fn context(zone: &str) -> Context {
    Context {
        run_start: Some(at("2026-11-29T23:50:00Z")),
        run_end: Some(at("2026-11-30T00:20:00Z")),
        now: at("2027-01-01T00:00:00Z"),
        zone: read_rule(zone).unwrap(),
        anchors: BTreeMap::from([("E3".to_string(), Stamp::new(at("2026-11-29T23:55:00Z"), SECOND))]),
    }
}

fn since(text: &str, zone: &str) -> i64 {
    resolve(&parse(text).unwrap(), Side::Since, &context(zone)).unwrap()
}

fn until(text: &str, zone: &str) -> i64 {
    resolve(&parse(text).unwrap(), Side::Until, &context(zone)).unwrap()
}

#[test]
fn every_form() {
    let cases = [
        ("2026-11-29T12:02:07Z", "2026-11-29T12:02:07Z"),
        ("2026-11-29t12:02:07.25z", "2026-11-29T12:02:07.25Z"),
        ("2026-11-29T12:02:07.123456789+08:00", "2026-11-29T04:02:07.123456789Z"),
        ("2026-11-29 12:02 UTC", "2026-11-29T12:02:00Z"),
        ("2026-11-29 12:02-0500", "2026-11-29T17:02:00Z"),
        ("2026-11-29", "2026-11-29T00:00:00Z"),
        ("2026-11-29 12:02", "2026-11-29T12:02:00Z"),
        ("2026-11-29T12:02:07", "2026-11-29T12:02:07Z"),
        ("23:55", "2026-11-29T23:55:00Z"),
        ("23:55:01.5", "2026-11-29T23:55:01.5Z"),
        ("@1795953727", "2026-11-29T12:02:07Z"),
        ("@1795953727.123", "2026-11-29T12:02:07.123Z"),
        ("start", "2026-11-29T23:50:00Z"),
        ("start+90s", "2026-11-29T23:51:30Z"),
        ("end-5m", "2026-11-30T00:15:00Z"),
        ("now-1h30m", "2026-12-31T22:30:00Z"),
        ("-5m", "2026-12-31T23:55:00Z"),
        ("+250ms", "2027-01-01T00:00:00.250Z"),
        ("E3", "2026-11-29T23:55:00Z"),
        ("E3-1.5s", "2026-11-29T23:54:58.5Z"),
        (" E3±2s ", "2026-11-29T23:54:58Z"),
    ];
    for (text, want) in cases {
        assert_eq!(since(text, "UTC"), at(want), "{text}");
    }
}

#[test]
fn around_an_event_is_wide_by_its_stamp() {
    assert_eq!(until("E3±2s", "UTC"), at("2026-11-29T23:55:03Z"));
    assert_eq!(until("E3+-2s", "UTC"), at("2026-11-29T23:55:03Z"));
    assert_eq!(parse("E3±2s").unwrap().base, Base::Anchor("E3".into()));
    assert_eq!(parse("E3±2s").unwrap().offset, Offset::Around(2 * SECOND));
}

#[test]
fn a_time_of_day_in_a_run_over_midnight() {
    assert_eq!(since("00:10", "UTC"), at("2026-11-30T00:10:00Z"));
    assert_eq!(since("00:30", "UTC"), at("2026-11-29T00:30:00Z"));
    assert_eq!(since("23:40", "UTC"), at("2026-11-29T23:40:00Z"));
    assert_eq!(since("15:55", "America/Los_Angeles"), at("2026-11-29T23:55:00Z"));
    assert_eq!(since("07:55", "+08:00"), at("2026-11-29T23:55:00Z"));
}

#[test]
fn clocks_that_change() {
    let zone = "America/Los_Angeles";
    assert_eq!(since("2026-11-01 01:30", zone), at("2026-11-01T08:30:00Z"));
    assert_eq!(until("2026-11-01 01:30", zone), at("2026-11-01T09:30:00Z"));
    let skipped = resolve(&parse("2026-03-08 02:30").unwrap(), Side::Since, &context(zone)).unwrap_err();
    assert!(skipped.to_string().contains("skip this time"), "{skipped}");
}

#[test]
fn durations() {
    for (text, want) in [
        ("90s", 90 * SECOND),
        ("1h30m", 5400 * SECOND),
        ("250ms", 250_000_000),
        ("1.5s", 1_500_000_000),
        ("2d", 172_800 * SECOND),
        ("10us3ns", 10_003),
    ] {
        assert_eq!(parse_duration(text), Some(want), "{text}");
    }
    for text in ["", "5", "s", "1.s.", "-5s", "5 s", "99999999999d", "1..5s", ".5s", "5x"] {
        assert_eq!(parse_duration(text), None, "{text}");
    }
}

#[test]
fn errors_name_the_next_step() {
    let cases = [
        ("", "a time is expected"),
        ("90s", "a duration needs a start"),
        ("2026-13-01", "not a date or time"),
        ("25:00", "not a date or time"),
        ("12:02Z", "not a date or time"),
        ("@1764417727123", "milliseconds go behind a point"),
        ("start 90s", "after the name"),
        ("start+90", "a duration is numbers with units"),
        ("@", "seconds since the epoch"),
    ];
    for (text, want) in cases {
        let e = parse(text).unwrap_err().to_string();
        assert!(e.contains(want), "{text}: {e}");
    }
    let unknown = resolve(&parse("ready-30s").unwrap(), Side::Since, &context("UTC")).unwrap_err().to_string();
    assert_eq!(unknown, "`ready-30s`: no event is called `ready`; times count from start, end, now or a known event; known are E3");
    let empty = Context { run_start: None, run_end: None, ..context("UTC") };
    assert!(resolve(&parse("12:02").unwrap(), Side::Since, &empty).is_err());
    assert!(resolve(&parse("end-5m").unwrap(), Side::Since, &empty).is_err());
}

#[test]
fn windows_are_half_open() {
    let spec = |text: &str| parse(text).unwrap();
    let found = window(Some(&spec("start+10s")), Some(&spec("start+20s")), &context("UTC")).unwrap();
    let start = context("UTC").run_start.unwrap();
    let place = |from: i64, to: i64| found.place(Stamp { start: start + from * SECOND, end: start + to * SECOND });
    assert_eq!((place(10, 11), place(19, 20)), (Lies::Inside, Lies::Inside));
    assert_eq!((place(9, 10), place(20, 21)), (Lies::Outside, Lies::Outside));
    assert_eq!((place(9, 11), place(19, 21)), (Lies::Unknown, Lies::Unknown));
    assert_eq!(window(None, None, &context("UTC")).unwrap().place(Stamp::new(0, 1)), Lies::Inside);
    let e = window(Some(&spec("start+20s")), Some(&spec("start+20s")), &context("UTC")).unwrap_err();
    assert_eq!(e.to_string(), "`start+20s`: the window is empty: it would end at 2026-11-29T23:50:20Z and start at 2026-11-29T23:50:20Z");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,30}|[-+@±0-9:.TZ a-z]{0,25}") {
        match parse(&text) {
            Ok(spec) => {
                let (a, b) = (resolve(&spec, Side::Since, &context("UTC")), resolve(&spec, Side::Until, &context("Europe/Berlin")));
                prop_assert!(a.is_ok() || !a.unwrap_err().reason.is_empty());
                prop_assert!(b.is_ok() || !b.unwrap_err().reason.is_empty());
            }
            Err(e) => prop_assert!(!e.reason.is_empty()),
        }
    }

    #[test]
    fn a_printed_instant_is_read_again(ns in 0i64..9_000_000_000_000_000_000) {
        let text = chrono::DateTime::from_timestamp_nanos(ns).to_rfc3339_opts(chrono::SecondsFormat::Nanos, true);
        prop_assert_eq!(since(&text, "Asia/Tokyo"), ns);
    }
}
