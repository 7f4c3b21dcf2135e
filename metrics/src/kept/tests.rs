use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::{Check, KeptError, open, write};
use crate::blocks::{Area, Spill, Spilling, Store, Writer};
use crate::build::Builder;
use crate::model::{Anchor, Capture, Clock, Exemplar, Fidelity, Kind, Labels, Outcome, Precision, StampOf};

/// Spills to memory, as a file would take it: what was viewed before stays what it was.
#[derive(Debug, Default)]
struct Memory(Mutex<Vec<u8>>);

impl Spill for Memory {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }

    fn view(&self) -> io::Result<Area> {
        Ok(Arc::new(self.0.lock().unwrap().clone()))
    }
}

/// A disk that is full after some bytes, and keeps half of what it refused.
#[derive(Debug, Default)]
struct Full(Memory);

impl Spill for Full {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.0.view()?.as_ref().as_ref().len() > 500 {
            self.0.append(&bytes[..bytes.len() / 2])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.append(bytes)
    }

    fn view(&self) -> io::Result<Area> {
        self.0.view()
    }
}

#[derive(Debug)]
struct Gone;

impl Spill for Gone {
    fn append(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn view(&self) -> io::Result<Area> {
        Err(io::ErrorKind::NotFound.into())
    }
}

const MEMORY: fn() -> io::Result<Box<dyn Spill>> = || Ok(Box::<Memory>::default());
const FULL: fn() -> io::Result<Box<dyn Spill>> = || Ok(Box::<Full>::default());
const GONE: fn() -> io::Result<Box<dyn Spill>> = || Ok(Box::new(Gone));
const NOWHERE: fn() -> io::Result<Box<dyn Spill>> = || Err(io::ErrorKind::PermissionDenied.into());

type Bits = Vec<(i64, u64)>;

fn samples(store: &Store, series: u32) -> Bits {
    store.all(series).iter().map(|s| (s.at, s.value.to_bits())).collect()
}

/// Everything that a store answers of a series, as text: NaN is unequal to itself.
fn answers(store: &Store, series: u32, from: i64, to: i64) -> String {
    let mut cursor = store.cursor();
    let ordinals = [cursor.lower(series, from), cursor.upper(series, from), cursor.lower(series, to), cursor.upper(series, to)];
    let got = ordinals.map(|o| cursor.get(series, o).map(|s| (s.at, s.value.to_bits())));
    let between: Bits = store.between(series, from, to).iter().map(|s| (s.at, s.value.to_bits())).collect();
    format!(
        "{:?} {:?} {} {:?} {:?} {:?} {ordinals:?} {got:?} {between:?} {:?}",
        samples(store, series),
        store.len(series),
        store.fall_count(series),
        store.falls(series),
        store.unknown(series),
        store.oddities(series),
        store.times(std::iter::once(series)),
    )
}

fn capture(store: Store) -> Capture {
    let mut builder = Builder::new("kept", Clock::Elapsed { anchor: None }, StampOf::Body);
    let endpoint = builder.endpoint("");
    for i in 0..store.series() {
        builder.series(endpoint, "x_total", &Labels::new([("rank", i.to_string().as_str())]), Precision::F64);
    }
    builder.resume(store);
    builder.finish()
}

fn bytes(capture: &Capture) -> Vec<u8> {
    let mut out = Vec::new();
    write(capture, &mut out).unwrap();
    out
}

fn reopened(bytes: &[u8]) -> Result<Capture, KeptError> {
    open(Arc::new(bytes.to_vec()), Check::All)
}

proptest! {
    #[test]
    fn held_spilled_and_kept_samples_answer_alike(
        rows in prop::collection::vec((0u32..3, -90i64..90, prop_oneof![any::<f64>(), (0u8..9).prop_map(f64::from)]), 0..1500),
        runs in prop::collection::vec((0u32..3, 0usize..400), 0..6),
        (from, to) in (-99i64..99, -99i64..99),
        above in 0usize..3000,
        cut in 0usize..1500,
    ) {
        let fill = |writer: &mut Writer, rows: &[(u32, i64, f64)]| {
            rows.iter().for_each(|&(series, at, value)| writer.push(series, at, value));
            for &(series, n) in &runs {
                let times: Vec<i64> = (100..100 + n as i64).collect();
                writer.extend(series, &times, &times.iter().map(|t| *t as f64).collect::<Vec<_>>());
            }
        };
        let mut held = Writer::default();
        fill(&mut held, &rows);
        let held = held.finish(3);
        for open in [MEMORY, FULL, NOWHERE] {
            let mut writer = Writer::spilling(Spilling { above, open });
            fill(&mut writer, &rows);
            let spilled = writer.finish(3);
            prop_assert_eq!(spilled.damage(), None);
            let capture = capture(spilled);
            let kept = reopened(&bytes(&capture)).unwrap();
            for series in 0..3 {
                let want = answers(&held, series, from, to);
                prop_assert_eq!(&answers(&capture.samples, series, from, to), &want);
                prop_assert_eq!(&answers(&kept.samples, series, from, to), &want);
            }
            // A kept store is written on as if it had never been finished, but for blocks that ended early.
            let (first, second) = rows.split_at(cut.min(rows.len()));
            let mut one = Writer::spilling(Spilling { above, open });
            first.iter().for_each(|&(series, at, value)| one.push(series, at, value));
            let kept = reopened(&bytes(&super::tests::capture(one.finish(3)))).unwrap();
            let mut again = Writer::from(kept.samples);
            fill(&mut again, second);
            let again = again.finish(3);
            for series in 0..3 {
                prop_assert_eq!(samples(&again, series), samples(&held, series));
            }
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(reopened(&bytes).is_err());
    }
}

/// A capture that says everything that one can say.
fn talkative() -> Capture {
    let mut builder = Builder::new("table", Clock::Wall, StampOf::FirstByte);
    builder.clock(Clock::Elapsed { anchor: Some(Anchor { low: -5, high: i64::MAX, how: "by ärger".into(), holds: Some((3, 4)) }) });
    builder.fidelity(Fidelity::SinceBase);
    builder.file(Path::new("run/a b.parquet"));
    let one = builder.endpoint("w0");
    builder.endpoint("");
    builder.fact(one, "url", "http://h:1/metrics");
    builder.fact(one, "role", "decode");
    builder.scrape(one, 7, Some(-1), Outcome::Read);
    builder.scrape(one, 3, None, Outcome::Failed("timed out".into()));
    let a = builder.series(one, "sglang_x_total", &Labels::new([("le", "1.0"), ("k", "\"\n")]), Precision::F32);
    let b = builder.series(one, "y", &Labels::default(), Precision::F64);
    builder.trouble(b).unwrap().damaged = true;
    builder.trouble(a).unwrap().foreign = true;
    builder.trouble(a).unwrap().sum_unproven = true;
    builder.family("y").kind = Some(Kind::GaugeHistogram);
    builder.family("z").help = Some(String::new());
    builder.family("z").unit = Some("s".into());
    let labels = Labels::new([("trace_id", "t")]);
    builder.exemplar(Exemplar { series: b, scraped: 1, at: Some(2), labels, value: f64::NEG_INFINITY });
    builder.note_many("odd_lines", 3, || "what".into(), || Some("run/a b.parquet:3".into()));
    builder.note("other", String::new, || None);
    for i in 0..300 {
        builder.push(a, i, if i == 100 { f64::NAN } else { (i % 200) as f64 });
        builder.push(b, 300 - i, i as f64 / 3.0);
    }
    builder.push(b, 5, 1.0);
    builder.finish()
}

#[test]
fn all_that_a_capture_says_is_kept() {
    let capture = talkative();
    let kept = reopened(&bytes(&capture)).unwrap();
    // Debug output names every field but those of samples.
    let said = |c: &Capture| {
        let mut text = format!("{:?} {:?} {:?} {:?} {:?} ", c.files, c.layout, c.clock, c.stamp_of, c.fidelity);
        text += &format!("{:?} {:?} {:?} {:?} {:?}", c.endpoints, c.series, c.families, c.exemplars, c.notes);
        text
    };
    assert_eq!(said(&kept), said(&capture));
    assert_eq!(kept.series[1].trouble.disordered, 300, "299 that fall, and the last");
    for series in 0..2 {
        assert_eq!(answers(&kept.samples, series, 50, 250), answers(&capture.samples, series, 50, 250));
    }
    assert_eq!(bytes(&kept), bytes(&capture));
}

#[test]
fn damage_at_any_byte_is_noticed() {
    let whole = bytes(&talkative());
    for at in 0..whole.len() {
        let mut bad = whole.clone();
        bad[at] ^= 1 << (at % 8);
        assert!(reopened(&bad).is_err(), "byte {at} of {}", whole.len());
        assert!(reopened(&whole[..at]).is_err(), "cut at {at}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(reopened(&longer).is_err());
    assert!(reopened(&whole).is_ok());
}

#[test]
fn samples_that_cannot_be_read_back_are_no_silent_loss() {
    let mut writer = Writer::spilling(Spilling { above: 0, open: GONE });
    (0..1000).for_each(|i| writer.push(0, i, (i * i) as f64));
    let store = writer.finish(1);
    assert!(store.damage().is_some_and(|d| d.contains("cannot be read back")), "{:?}", store.damage());
    let refused = write(&capture(store), &mut Vec::new());
    assert_eq!(refused.map_err(|e| e.kind()), Err(io::ErrorKind::InvalidInput));
}

#[test]
fn a_million_series_are_opened_without_their_samples() {
    let mut builder = Builder::new("table", Clock::Wall, StampOf::Body);
    let endpoint = builder.endpoint("w");
    for i in 0..1_000_000u32 {
        let labels = Labels::new([("id", i.to_string().as_str()), ("model", "m")]);
        let id = builder.series(endpoint, "x_total", &labels, Precision::F64);
        builder.extend(id, &[0, 1_000], &[f64::from(i), f64::from(i) + 1.0]);
    }
    let bytes = bytes(&builder.finish());
    let size = bytes.len();
    let started = std::time::Instant::now();
    let kept = open(Arc::new(bytes), Check::Tables).unwrap();
    println!("1 000 000 series in {size} bytes, opened in {:?}", started.elapsed());
    assert_eq!(kept.series.len(), 1_000_000);
    assert_eq!(kept.spelled(crate::model::SeriesId(999_999)), "x_total{id=\"999999\",model=\"m\"}");
    assert_eq!(kept.samples.last(999_999).map(|s| s.value), Some(1_000_000.0));
}
