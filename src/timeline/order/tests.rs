use corr_parsers::stamp::Stamp;
use proptest::prelude::*;

use super::super::{Order, Row};
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
