use corr_parsers::stamp::Stamp;
use proptest::prelude::*;
use serde_json::json;

use super::super::{Folded, Row};
use super::Folder;
use crate::render::shown::Shown;

const SECOND: i64 = 1_000_000_000;

fn at(kind: &'static str, message: &str, second: i64) -> Shown {
    let mut event = Shown::of_kind(kind, message);
    event.stamp = Some(Stamp { start: second * SECOND, end: (second + 1) * SECOND });
    event.order = Some(second * SECOND);
    event.line = u64::try_from(second).expect("a second") + 1;
    event
}

fn batch(second: i64, usage: f64) -> Shown {
    let mut event = at("decode_batch", &format!("Decode batch, token usage: {usage}"), second);
    event.fields =
        vec![("token_usage".into(), "token usage".into(), json!(usage)), ("queue_reqs".into(), "#queue-req".into(), json!(second))];
    event
}

fn fold(events: Vec<Shown>, chosen: bool) -> Vec<Row> {
    let mut folder = Folder::new(chosen);
    let mut done = Vec::new();
    for (i, event) in events.into_iter().enumerate() {
        folder.push(event, i as u64, &mut done);
    }
    folder.finish(&mut done);
    done.sort_by_key(|r| r.number);
    done
}

fn told(rows: &[Row]) -> Vec<(&'static str, Folded, u64)> {
    rows.iter().map(|r| (r.first.kind, r.folded, r.count)).collect()
}

#[test]
fn periodic_lines_are_one_row_with_least_and_greatest() {
    let rows = fold(vec![batch(1, 0.4), at("hicache_lookup", "one", 2), batch(3, 0.1), batch(4, 0.9)], false);
    assert_eq!(told(&rows), [("decode_batch", Folded::Run, 3), ("hicache_lookup", Folded::No, 1)]);
    assert_eq!(rows[0].words(), "3 lines: token_usage 0.1..0.9, queue_reqs 1..4");
    assert_eq!(rows[0].citation(), "run/a.log:2 … run/a.log:5");
}

#[test]
fn a_mark_of_the_source_ends_its_runs_and_that_of_another_does_not() {
    let mut other = at("server_ready", "ready", 3);
    other.source = "run/b.log".into();
    let events = vec![batch(1, 0.4), batch(2, 0.5), other, batch(4, 0.4), at("sigterm", "stop", 5), batch(6, 0.4), batch(7, 0.5)];
    let run = Folded::Run;
    let want = [("decode_batch", run, 3), ("server_ready", Folded::No, 1), ("sigterm", Folded::No, 1), ("decode_batch", run, 2)];
    assert_eq!(told(&fold(events, false)), want);
}

#[test]
fn a_pause_ends_a_run() {
    let rows = fold(vec![batch(1, 0.4), batch(2, 0.5), batch(63, 0.4), batch(64, 0.5)], false);
    assert_eq!(told(&rows), [("decode_batch", Folded::Run, 2), ("decode_batch", Folded::Run, 2)]);
}

#[test]
fn the_same_message_is_one_row_and_different_ones_a_run_from_the_fourth_on() {
    let same = |n: i64| (0..n).map(|i| at("sglang_log", "same", i)).collect::<Vec<_>>();
    let other = |n: i64| (0..n).map(|i| at("sglang_log", &format!("m {i}"), i)).collect::<Vec<_>>();
    assert_eq!(told(&fold(same(5), false)), [("sglang_log", Folded::Repeats, 5)]);
    assert_eq!(fold(same(5), false)[0].words(), "×5 same");
    assert_eq!(told(&fold(other(3), false)), [("sglang_log", Folded::No, 1); 3]);
    assert_eq!(told(&fold(other(4), false)), [("sglang_log", Folded::Run, 4)]);
    assert_eq!(told(&fold(other(4), true)), [("sglang_log", Folded::No, 1); 4], "what was asked for is shown");
}

#[test]
fn every_rank_may_say_a_mark() {
    let rows = fold(vec![at("sigquit", "child failed", 1), at("sigquit", "child failed", 1), at("sigquit", "other", 2)], false);
    assert_eq!(told(&rows), [("sigquit", Folded::Repeats, 2), ("sigquit", Folded::No, 1)]);
}

#[test]
fn probes_are_apart_from_other_calls() {
    let access = |path: &str, second: i64| {
        let mut event = at("access", &format!("GET {path}"), second);
        event.fields = vec![("path".into(), "path".into(), json!(path)), ("status".into(), "status".into(), json!(200))];
        event
    };
    let events =
        vec![access("/health", 1), access("/metrics", 1), access("/health?x=1", 2), access("/generate", 3), access("/v1/models", 4)];
    let rows = fold(events, false);
    let of: Vec<(u64, &str)> = rows.iter().map(|r| (r.count, r.of)).collect();
    assert_eq!(of, [(2, "of health probes"), (1, "of scrapes"), (2, "of other calls")]);
}

proptest! {
    /// No event is lost, and none is counted twice, whatever comes.
    #[test]
    fn every_event_is_in_one_row(
        picks in prop::collection::vec((0usize..6, 0i64..200, 0usize..4, any::<bool>()), 0..200),
        chosen in any::<bool>(),
    ) {
        let kinds = ["decode_batch", "sglang_log", "sigterm", "access", "exception", "text"];
        let mut picks = picks;
        picks.sort_by_key(|p| p.1);
        let events: Vec<Shown> = picks
            .iter()
            .map(|(kind, second, message, warn)| {
                let mut event = at(kinds[*kind], &format!("message {message}"), *second);
                event.level = warn.then_some("warn");
                event.source = format!("run/{}.log", message % 2);
                event
            })
            .collect();
        let rows = fold(events, chosen);
        prop_assert_eq!(rows.iter().map(|r| r.count).sum::<u64>(), picks.len() as u64);
        let mut numbers: Vec<u64> = rows.iter().map(|r| r.number).collect();
        numbers.dedup();
        prop_assert_eq!(numbers.len(), rows.len(), "each row begins with an event of its own");
        for row in &rows {
            let of_kind = picks.iter().filter(|p| kinds[p.0] == row.first.kind).count() as u64;
            prop_assert!(row.count <= of_kind);
            prop_assert_eq!(row.last.is_some(), row.count > 1);
        }
    }
}
