use super::*;
use crate::stamp::{days, read_iso};

fn clock(rule: &str) -> Clock {
    Clock { rule: read_rule(rule).unwrap(), how: How::Declared, ..Clock::assumed() }
}

fn yearless(text: &str) -> RawStamp {
    let full = read_iso(format!("1972-{text}").as_bytes()).unwrap();
    RawStamp { zone: Zone::Yearless, ..full }
}

fn utc(text: &str) -> i64 {
    read_iso(text.as_bytes()).unwrap().ns
}

fn abbreviated(text: &str, name: &[u8; 6]) -> RawStamp {
    RawStamp { zone: Zone::Abbreviation(*name), ..read_iso(text.as_bytes()).unwrap() }
}

fn turns(clock: &Clock, stamps: &[RawStamp], newest: i32) -> Turns {
    let mut finder = TurnFinder::new();
    for (i, raw) in stamps.iter().enumerate() {
        finder.push(i as u64 * 100, raw);
    }
    finder.finish(clock, newest)
}

fn all(clock: &Clock, stamps: &[RawStamp], newest: i32) -> Vec<i64> {
    let aligner = Aligner::with_turns(clock, turns(clock, stamps, newest));
    stamps.iter().enumerate().map(|(i, raw)| aligner.stamp_at(i as u64 * 100, raw).unwrap().start).collect()
}

#[test]
fn a_new_year_between_two_entries() {
    let stamps = ["12-31 23:59:59", "01-01 00:00:00", "03-08 10:00:00", "12-30 08:00:00", "01-02 08:00:00"].map(yearless);
    let want = ["2024-12-31 23:59:59", "2025-01-01 00:00:00", "2025-03-08 10:00:00", "2025-12-30 08:00:00", "2026-01-02 08:00:00"];
    assert_eq!(all(&clock("UTC"), &stamps, 2026), want.map(utc));
}

#[test]
fn a_step_back_over_new_year_is_no_new_year() {
    let stamps = ["12-31 23:59:59", "01-01 00:00:05", "12-31 23:59:58", "01-01 00:00:01"].map(yearless);
    let want = ["2025-12-31 23:59:59", "2026-01-01 00:00:05", "2025-12-31 23:59:58", "2026-01-01 00:00:01"];
    assert_eq!(all(&clock("UTC"), &stamps, 2026), want.map(utc));
}

#[test]
fn newest_first() {
    let stamps = ["01-02 08:00:00", "01-01 00:00:00", "12-31 23:59:59", "12-30 23:00:00"].map(yearless);
    let want = ["2026-01-02 08:00:00", "2026-01-01 00:00:00", "2025-12-31 23:59:59", "2025-12-30 23:00:00"];
    assert_eq!(all(&clock("UTC"), &stamps, 2026), want.map(utc));
}

#[test]
fn a_file_written_just_after_new_year() {
    let mut finder = TurnFinder::new();
    finder.push(0, &yearless("12-31 23:59:59"));
    assert_eq!(finder.finish_before(&clock("UTC"), utc("2026-01-01 00:10:00")).year(0), Some(2025));
    let mut finder = TurnFinder::new();
    finder.push(0, &yearless("02-29 12:00:00"));
    assert_eq!(finder.finish_before(&clock("UTC"), utc("2026-01-01 00:10:00")).year(0), Some(2024));
}

#[test]
fn without_a_year_there_is_no_answer() {
    assert_eq!(Aligner::new(&clock("UTC")).stamp(&yearless("12-31 23:59:59")), None);
    let aligner = Aligner::with_turns(&clock("UTC"), Turns::one_year(2025));
    assert_eq!(aligner.stamp_at(0, &yearless("02-29 00:00:00")), None);
}

#[test]
fn a_fold_is_seen_at_the_step_back_and_from_any_offset() {
    let zone = clock("America/Los_Angeles");
    let text = ["2026-11-01 01:30:30", "2026-11-01 01:59:59", "2026-11-01 01:00:00", "2026-11-01 01:30:30", "2026-11-01 02:00:00"];
    let want = ["2026-11-01 08:30:30", "2026-11-01 08:59:59", "2026-11-01 09:00:00", "2026-11-01 09:30:30", "2026-11-01 10:00:00"];
    let stamps = text.map(|t| read_iso(t.as_bytes()).unwrap());
    assert_eq!(all(&zone, &stamps, 2026), want.map(utc));
    let mut in_order = Aligner::new(&zone);
    assert_eq!(stamps.map(|raw| in_order.stamp(&raw).unwrap().start), want.map(utc));
    let aligner = Aligner::with_turns(&zone, turns(&zone, &stamps, 2026));
    let (stamp, other) = aligner.stamp_and_other(300, &stamps[3]).unwrap();
    assert_eq!((stamp.start, other.map(|s| s.start)), (utc("2026-11-01 09:30:30"), Some(utc("2026-11-01 08:30:30"))));
    // The same fold of another year is another fold.
    let next_year = read_iso(b"2027-11-07 01:30:30").unwrap();
    assert_eq!(aligner.stamp_at(500, &next_year).unwrap().start, utc("2027-11-07 08:30:30"));
}

#[test]
fn a_long_gap_before_a_fold_is_no_step_back() {
    let stamps = ["03-08 10:00:00", "11-01 01:29:50", "11-01 01:30:00"].map(yearless);
    let want = ["2026-03-08 17:00:00", "2026-11-01 08:29:50", "2026-11-01 08:30:00"].map(utc);
    assert_eq!(all(&clock("America/Los_Angeles"), &stamps, 2026), want);
}

#[test]
fn small_inversions_do_not_turn_a_fold() {
    let stamps = ["2026-11-01 01:30:06", "2026-11-01 01:30:05"].map(|t| read_iso(t.as_bytes()).unwrap());
    let zone = clock("America/Los_Angeles");
    let want = ["2026-11-01 08:30:06", "2026-11-01 08:30:05"].map(utc);
    assert_eq!(all(&zone, &stamps, 2026), want);
    let mut in_order = Aligner::new(&zone);
    assert_eq!(stamps.map(|raw| in_order.stamp(&raw).unwrap().start), want);
}

#[test]
fn the_skipped_hour_has_no_time() {
    let raw = read_iso(b"2026-03-08 02:30:00").unwrap();
    assert_eq!(Aligner::new(&clock("America/Los_Angeles")).stamp(&raw), None);
    assert!(Aligner::new(&clock("America/New_York")).stamp(&read_iso(b"2026-03-08 03:00:00").unwrap()).is_some());
}

#[test]
fn an_abbreviation_tells_the_fold() {
    let mut zone = Aligner::new(&clock("America/Los_Angeles"));
    assert_eq!(zone.stamp(&abbreviated("2026-11-01 01:30:30", b"PST   ")).unwrap().start, utc("2026-11-01 09:30:30"));
    assert_eq!(zone.stamp(&abbreviated("2026-11-01 01:30:30", b"PDT   ")).unwrap().start, utc("2026-11-01 08:30:30"));
    let mut india = Aligner::new(&clock("Asia/Kolkata"));
    assert_eq!(india.stamp(&abbreviated("2026-11-01 05:30:00", b"IST   ")).unwrap().start, utc("2026-11-01 00:00:00"));
}

#[test]
fn an_assumed_clock_is_not_used_against_a_zone_name() {
    let mut assumed = Aligner::new(&Clock::assumed());
    assert_eq!(assumed.stamp(&abbreviated("2026-11-01 01:30:30", b"IST   ")), None);
    assert_eq!(assumed.stamp(&abbreviated("2026-11-01 01:30:30", b"PST   ")).unwrap().start, utc("2026-11-01 09:30:30"));
    let mut declared = Aligner::new(&clock("+05:30"));
    assert_eq!(declared.stamp(&abbreviated("2026-11-01 05:30:00", b"IST   ")).unwrap().start, utc("2026-11-01 00:00:00"));
}

proptest::proptest! {
    /// Any stamps in any order: no panic, and a jump gives what the table says.
    #[test]
    fn any_stamps(stamps: Vec<(i64, bool)>, year in -300_000i32..300_000) {
        for rule in ["UTC", "America/Los_Angeles", "Australia/Lord_Howe"] {
            let zone = clock(rule);
            let stamps: Vec<RawStamp> = stamps
                .iter()
                .map(|(ns, yearless)| RawStamp { ns: *ns, width: 1, zone: if *yearless { Zone::Yearless } else { Zone::Naive }, at: 0, len: 0 })
                .collect();
            let table = turns(&zone, &stamps, year);
            let mut aligner = Aligner::with_turns(&zone, table);
            for (i, raw) in stamps.iter().enumerate() {
                let _ = (aligner.stamp_at(i as u64 * 100, raw), aligner.stamp(raw));
            }
        }
    }

    /// The days of any year come back with that year, in order, from both ends.
    #[test]
    fn years_of_ordered_stamps(mut gaps in proptest::collection::vec(0i64..150, 1..60), first in 0i64..20_000) {
        gaps[0] = 0;
        let mut day = first;
        let mut want = Vec::new();
        for gap in gaps {
            day += gap;
            let t = chrono::DateTime::from_timestamp_nanos(day * 86_400 * SECOND).naive_utc();
            use chrono::Datelike;
            want.push((day * 86_400 * SECOND, days(1972, t.month(), t.day()).unwrap() * 86_400 * SECOND));
        }
        let newest = year(want.last().unwrap().0);
        let stamps: Vec<RawStamp> = want.iter().map(|(_, ns)| RawStamp { ns: *ns, width: 1, zone: Zone::Yearless, at: 0, len: 0 }).collect();
        let got = all(&clock("UTC"), &stamps, newest);
        assert_eq!(got, want.iter().map(|(ns, _)| *ns).collect::<Vec<_>>());
    }
}
