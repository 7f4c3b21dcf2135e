use proptest::prelude::*;

use super::*;

/// As [`read`] does, from bytes.
fn read_text(text: &[u8]) -> Result<Capture, ReadError> {
    let mut builder = Builder::new(LAYOUT.name, Clock::Wall, StampOf::Evaluation);
    let damaged = || ReadError::Damaged { path: "g.csv".into(), why: "no delimiter".into() };
    let (delimiter, skip) = dialect(text).ok_or_else(damaged)?;
    let text = text.get(skip..).unwrap_or(&[]);
    table_of(Records::new(text, delimiter), "g.csv", &mut builder)?;
    Ok(builder.finish())
}

fn points(capture: &Capture) -> Vec<(String, Vec<(i64, f64)>)> {
    let series = 0..u32::try_from(capture.series.len()).unwrap();
    let of = |i| capture.samples.all(i).iter().map(|s| (s.at / 1_000_000, s.value)).collect();
    series.map(|i| (capture.spelled(crate::model::SeriesId(i)), of(i))).collect()
}

fn codes(capture: &Capture) -> Vec<(&'static str, u64)> {
    capture.notes.iter().map(|n| (n.code, n.count)).collect()
}

const JOINED: &str = "\u{feff}sep=;\r\n\"Time\";\"sglang_x{instance=\"\"h:1\"\", a=\"\"b;c\"\"}\";\"queue, all\"\r\n1795976934876;1.5;\r\n1795976935876;NaN;7\r\n";

#[test]
fn a_joined_table_has_a_series_in_each_column() {
    assert!(panel(JOINED.as_bytes()).is_some());
    let capture = read_text(JOINED.as_bytes()).unwrap();
    let points = points(&capture);
    assert_eq!(points[0].0, r#"sglang_x{a="b;c",instance="h:1"}"#);
    assert_eq!(points[0].1[0], (1_795_976_934_876, 1.5));
    assert!(points[0].1[1].1.is_nan());
    assert_eq!(points[1], ("queue, all".to_string(), vec![(1_795_976_935_876, 7.0)]), "an empty cell is absent");
    assert_eq!((capture.fidelity, capture.stamp_of), (Fidelity::StepFilled, StampOf::Evaluation));
    assert_eq!(codes(&capture), [("step_resampled", 1), ("display_name", 1)]);
    assert_eq!(capture.endpoints[0].name, "h:1");
}

#[test]
fn formatted_times_are_assumed_to_be_utc() {
    let capture = read_text(b"Time,Value\n2026-11-29 18:48:54,12 %\n2026-11-29 18:48:55,13\n29/11/2026,14\n").unwrap();
    assert_eq!(points(&capture), [("Value".to_string(), vec![(1_795_978_135_000, 13.0)])]);
    assert_eq!(capture.clock, Clock::AssumedUtc);
    assert_eq!(codes(&capture), [("step_resampled", 1), ("bad_value", 1), ("bad_line", 1), ("assumed_utc", 1)]);
}

#[test]
fn a_row_a_point_has_labels_in_columns() {
    let text = "Time,__name__,instance,Value\n1795976934876,up,h:1,1\n1795976934876,up,h:2,0\n";
    let capture = read_text(text.as_bytes()).unwrap();
    let got = points(&capture);
    let want = [
        (r#"up{instance="h:1"}"#.to_string(), vec![(1_795_976_934_876, 1.0)]),
        (r#"up{instance="h:2"}"#.into(), vec![(1_795_976_934_876, 0.0)]),
    ];
    assert_eq!(got, want);
    let legacy = read_text(b"Series;Time;Value\n\"x{a=\"\"b\"\"}\";2026-11-29T18:48:54Z;3\n").unwrap();
    assert_eq!(points(&legacy), [(r#"x{a="b"}"#.to_string(), vec![(1_795_978_134_000, 3.0)])]);
    assert_eq!(legacy.clock, Clock::Wall);
}

#[test]
fn damage_is_said_and_the_rest_kept() {
    let capture = read_text(b"Time,a,b\n1795976935876,2\n1795976934876,1,1,1\n1795976936876,3,\"4").unwrap();
    assert_eq!(points(&capture)[0].1, [(1_795_976_934_876, 1.0), (1_795_976_935_876, 2.0), (1_795_976_936_876, 3.0)]);
    assert_eq!(points(&capture)[1].1, [(1_795_976_934_876, 1.0)]);
    assert_eq!(codes(&capture), [("step_resampled", 1), ("ragged_row", 3), ("truncated", 1)]);
    assert_eq!(capture.series[0].trouble.disordered, 1);
    assert!(matches!(read_text(b"Times,a\n1,2\n"), Err(ReadError::Damaged { .. })));
}

#[test]
fn other_tables_are_not_claimed() {
    for other in [
        "timestamp,gpu,util\n1795976934876,0,5\n",
        "time,gpu,util\n1795976934876,0,5\n",
        "Time,Level,Message\n1795976934876,INFO,started\n",
        "Time,Level\nyesterday,3\n",
        "Time\n1795976934876\n",
        "Endpoint,Type,Metric,Unit\na,counter,x,\n",
        "",
    ] {
        assert!(panel(other.as_bytes()).is_none(), "{other}");
    }
    let long = format!("\"Time\"{}", ",\"x{a=\"\"b\"\"}\"".repeat(99));
    assert!(panel(&long.as_bytes()[..long.len() - 3]).is_some(), "a head that ends in the header");
    assert!(panel(b"time,\"x{a=\"\"b\"\"}\"\n1795976934876,5\n").is_some());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_said(cut in 0usize..200, flips in prop::collection::vec((0usize..200, any::<u8>()), 0..6)) {
        let mut bytes = JOINED.as_bytes().to_vec();
        for (at, byte) in flips {
            if let Some(b) = bytes.get_mut(at) {
                *b = byte;
            }
        }
        bytes.truncate(cut);
        panel(&bytes);
        if let Ok(capture) = read_text(&bytes) {
            prop_assert_eq!(capture.fidelity, Fidelity::StepFilled);
        }
    }
}
