use corr_parsers::stamp::Stamp;
use proptest::prelude::*;

use super::super::{Known, Mark, Order, Row};
use super::Marker;
use crate::render::shown::Shown;

/// Source, stamp, and whether its zone was assumed.
type Given<'g> = (&'g str, Option<(i64, i64)>, bool);

fn marked(rows: &[Given<'_>], several: bool) -> Vec<(u64, Order)> {
    let mut marker = Marker::new(several);
    let mut out = Vec::new();
    let mut give = |row: Row| -> Result<(), ()> {
        out.push((row.number, row.order));
        Ok(())
    };
    for (i, (source, stamp, assumed)) in rows.iter().enumerate() {
        let mut event = Shown::of_kind("sglang_log", "x");
        event.source = source.to_string();
        event.stamp = stamp.map(|(start, end)| Stamp { start, end });
        event.assumed = *assumed;
        marker.push(Row::new(event, i as u64, "", None), &mut give).expect("rows");
    }
    marker.finish(&mut give).expect("rows");
    out
}

#[test]
fn rows_of_two_sources_that_overlap_are_marked_and_others_are_not() {
    use Order::{Known, Unknown, Unstamped, ZoneAssumed};
    let rows = [
        ("a", Some((0, 10)), false),
        ("a", Some((5, 6)), false),
        ("b", Some((9, 10)), false),
        ("b", Some((10, 11)), false),
        ("c", None, false),
        ("a", Some((11, 12)), true),
    ];
    let orders: Vec<Order> = marked(&rows, true).into_iter().map(|r| r.1).collect();
    assert_eq!(orders, [Unknown, Known, Unknown, Known, Unstamped, ZoneAssumed]);
}

proptest! {
    /// As every pair compared with every other one says, in the order they came.
    #[test]
    fn marks_are_those_of_all_pairs(rows in prop::collection::vec((0usize..3, 0i64..40, 1i64..12), 0..40)) {
        let mut rows = rows;
        rows.sort_by_key(|r| r.1);
        let named: Vec<Given<'_>> =
            rows.iter().map(|(s, start, width)| (["a", "b", "c"][*s], Some((*start, start + width)), false)).collect();
        let got = marked(&named, true);
        prop_assert!(got.iter().map(|r| r.0).eq(0..rows.len() as u64), "the order is kept");
        for (i, (_, order)) in got.iter().enumerate() {
            let overlaps = |j: usize| {
                let (one, other) = (named[i].1.unwrap(), named[j].1.unwrap());
                named[i].0 != named[j].0 && one.0 < other.1 && other.0 < one.1
            };
            let want = if (0..rows.len()).any(overlaps) { Order::Unknown } else { Order::Known };
            prop_assert_eq!(*order, want, "row {}", i);
        }
    }
}

fn event(source: &str, offset: u64, (start, end): (i64, i64)) -> Shown {
    let mut event = Shown::of_kind("sglang_log", "x");
    event.source = source.to_string();
    event.offset = offset;
    event.stamp = Some(Stamp { start, end });
    event
}

proptest! {
    /// A row that is no event is marked where some event may have come before or after it, and it marks no event.
    #[test]
    fn what_is_no_event_is_marked_itself_alone(
        rows in prop::collection::vec((0usize..3, 0i64..40, 1i64..12), 1..30),
        (at, more, known) in (0usize..30, 0usize..30, 0usize..3),
    ) {
        let mut rows = rows;
        rows.sort_by_key(|r| r.1);
        let (at, more) = (at % rows.len(), more % rows.len());
        let (at, until) = (at.min(more), at.max(more));
        let shown = |i: usize| event(["a", "b", "c"][rows[i].0], i as u64, (rows[i].1, rows[i].1 + rows[i].2));
        let known = [Known::Exact, Known::By, Known::Within][known];
        let last = (known == Known::Within).then(|| shown(until));
        let derived = Row { number: 1_000, ..Row::derived(known, Mark::Ready, shown(at), last) };
        let mut marker = Marker::new(true);
        let mut out = Vec::new();
        let mut give = |row: Row| -> Result<(), ()> { out.push((row.number, row.order)); Ok(()) };
        for i in 0..rows.len() {
            marker.push(Row::new(shown(i), i as u64, "", None), &mut give).expect("rows");
            if i == at {
                marker.push(derived.clone(), &mut give).expect("rows");
            }
        }
        marker.finish(&mut give).expect("rows");
        let got = out.iter().find(|r| r.0 == 1_000).expect("the row").1;
        let (own, end) = (rows[at].0, |i: usize| rows[i].1 + rows[i].2);
        let open = |i: &usize| {
            let (i, other) = (*i, rows[*i].0 != own);
            let overlaps = rows[i].1 < end(at) && rows[at].1 < end(i);
            match known {
                Known::Exact | Known::Lasting => other && overlaps,
                Known::By => i <= at || (other && overlaps),
                Known::Within if i <= at => other && end(i) > rows[at].1,
                Known::Within => rows[i].1 < end(at).max(end(until)) && !(rows[i].0 == rows[until].0 && i >= until),
            }
        };
        // By its own record it had happened: what that says came later.
        let meant = (0..rows.len()).filter(|i| *i != at || known == Known::By);
        let want = if meant.into_iter().any(|i| open(&i)) { Order::Unknown } else { Order::Known };
        prop_assert_eq!(got, want, "{:?} {:?} at {} until {}", known, rows, at, until);
        let given: Vec<Given<'_>> = rows.iter().map(|(s, start, width)| (["a", "b", "c"][*s], Some((*start, start + width)), false)).collect();
        let events: Vec<(u64, Order)> = out.into_iter().filter(|r| r.0 != 1_000).collect();
        prop_assert_eq!(events, marked(&given, true));
    }
}
