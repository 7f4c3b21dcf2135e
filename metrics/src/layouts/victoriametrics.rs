//! VictoriaMetrics' `/api/v1/export`: a JSON line a series, `{"metric":{…},"values":[…],"timestamps":[…]}`, stamps in milliseconds.
//! <https://docs.victoriametrics.com/victoriametrics/single-server-victoriametrics/#how-to-export-data-in-json-line-format>
//!
//! One series may have several lines, each over its own time. NaN is `null`, infinities are text. The database keeps what was pushed or
//! scraped, so nothing says which instant of a scrape a stamp is.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::scrapes::Scrapes;
use super::shape::shape;
use super::text::{Line, Lines, head_lines, lines, milliseconds};
use super::{Candidate, Layout, ReadError, Set};
use crate::build::Builder;
use crate::model::{Capture, Clock, Labels, Precision, StampOf};

pub(super) const LAYOUT: Layout = Layout { name: "victoriametrics", about: "VictoriaMetrics /api/v1/export, JSON lines", claim, read };

const KEYS: [&str; 3] = ["metric", "timestamps", "values"];

#[derive(Deserialize)]
struct Series<'a> {
    metric: serde_json::Map<String, serde_json::Value>,
    #[serde(borrow)]
    values: Vec<&'a RawValue>,
    #[serde(borrow)]
    timestamps: Vec<&'a RawValue>,
}

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let ours = candidates.iter().filter(|c| c.text().is_some_and(exported));
    ours.map(|c| Set {
        files: vec![c.part()],
        beside: Vec::new(),
        because: "JSON lines of metric, values and timestamps: VictoriaMetrics' export".into(),
        ties: Vec::new(),
    })
    .collect()
}

/// The first object has these three keys and no other, as far as it can be seen: a line of a long series is longer than a head.
fn exported(head: &[u8]) -> bool {
    head_lines(head).map(str::trim).filter(|l| !l.is_empty()).take(16).find(|l| l.starts_with('{')).is_some_and(|line| {
        let shape = shape(line.as_bytes());
        let mut keys = shape.keys().peekable();
        keys.peek().is_some()
            && keys.all(|k| KEYS.contains(&k))
            && shape.below("metric.")
            && (shape.has("values[]") || shape.has("timestamps[]"))
    })
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let mut builder = Builder::new(LAYOUT.name, Clock::Wall, StampOf::Unknown);
    let mut scrapes = Scrapes::default();
    for part in &set.files {
        builder.file(&part.path);
        export(lines(&part.path)?, &part.path, &mut builder, &mut scrapes);
    }
    scrapes.give(&mut builder);
    Ok(vec![builder.finish()])
}

fn export<R: std::io::Read>(mut lines: Lines<R>, path: &Path, builder: &mut Builder, scrapes: &mut Scrapes) {
    let (mut times, mut values) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next() {
        let (number, bytes) = match line {
            Line::Text { number, bytes, .. } => (number, bytes),
            Line::TooLong { number } => {
                builder.note("bad_line", || "lines that are too long".into(), || Some(format!("{}:{number}", path.display())));
                continue;
            }
            Line::Broken { number, error } => {
                builder.note("truncated", || format!("breaks off: {error}"), || Some(format!("{}:{number}", path.display())));
                return;
            }
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let at = || Some(format!("{}:{number}", path.display()));
        let series: Series<'_> = match serde_json::from_slice(bytes) {
            Ok(series) => series,
            Err(e) => {
                builder.note("bad_line", || format!("lines that are no exported series: {e}"), at);
                continue;
            }
        };
        if series.metric.values().any(|v| !v.is_string()) {
            builder.note("bad_label", || "labels whose value is no text: left out, and the series marked damaged".into(), at);
        }
        if series.values.len() != series.timestamps.len() {
            let what = || format!("lines with {} values and {} stamps: pairs are kept", series.values.len(), series.timestamps.len());
            builder.note("unpaired", what, at);
        }
        times.clear();
        values.clear();
        for (value, stamp) in series.values.iter().zip(&series.timestamps) {
            match (number_of(value.get()), stamp.get().parse::<i64>().ok().and_then(milliseconds)) {
                (Some(value), Some(at)) => {
                    values.push(value);
                    times.push(at);
                }
                _ => builder.note("bad_point", || "points that are no number at a stamp in milliseconds".into(), at),
            }
        }
        put(&series, &times, &values, builder, scrapes);
    }
}

fn put(series: &Series<'_>, times: &[i64], values: &[f64], builder: &mut Builder, scrapes: &mut Scrapes) {
    let text = |key: &str| series.metric.get(key).and_then(|v| v.as_str()).unwrap_or("");
    let name = text("__name__");
    let pairs = series.metric.iter().filter(|(k, _)| *k != "__name__").filter_map(|(k, v)| Some((k.as_str(), v.as_str()?)));
    let labels = Labels::new(pairs);
    let endpoint = builder.endpoint(text("instance"));
    let id = builder.series(endpoint, name, &labels, Precision::F64);
    builder.extend(id, times, values);
    if series.metric.values().any(|v| !v.is_string())
        && let Some(trouble) = builder.trouble(id)
    {
        trouble.damaged = true;
    }
    if Scrapes::wants(name) {
        times.iter().zip(values).for_each(|(&at, &value)| scrapes.take(endpoint, name, at, value));
    }
}

/// `null` is NaN; text is what JSON has no number for.
fn number_of(raw: &str) -> Option<f64> {
    match raw {
        "null" => Some(f64::NAN),
        _ if raw.starts_with('"') => serde_json::from_str::<Cow<'_, str>>(raw).ok()?.parse().ok(),
        _ => raw.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_text(text: &[u8]) -> Capture {
        let mut builder = Builder::new(LAYOUT.name, Clock::Wall, StampOf::Unknown);
        let mut scrapes = Scrapes::default();
        export(Lines::new(text), Path::new("e.jsonl"), &mut builder, &mut scrapes);
        scrapes.give(&mut builder);
        builder.finish()
    }

    const LINES: &str = concat!(
        r#"{"metric":{"__name__":"up","instance":"h:1"},"values":[1,0],"timestamps":[1000,2000]}"#,
        "\n",
        r#"{"metric":{"__name__":"sglang_x","instance":"h:1","a":""},"values":[0.026970000000000008,null,"Infinity","-Infinity"],"timestamps":[1000,2000,3000,4000]}"#,
        "\n",
        r#"{"metric":{"__name__":"sglang_x","instance":"h:1"},"values":[1],"timest"#,
        "\n",
        r#"{"metric":{"__name__":"sglang_x","instance":"h:1"},"values":[7,"x"],"timestamps":[5000,6000,7000]}"#,
        "\n",
    );

    #[test]
    fn values_are_read_to_the_last_digit_and_damage_is_said() {
        let capture = read_text(LINES.as_bytes());
        assert_eq!(capture.series.len(), 2);
        assert_eq!(capture.series[1].name.canonical(), "sglang:x");
        let values: Vec<u64> = capture.samples.all(1).iter().map(|s| s.value.to_bits()).collect();
        let want = [0.026970000000000008, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 7.0].map(f64::to_bits);
        assert_eq!(values, want);
        let notes: Vec<_> = capture.notes.iter().map(|n| (n.code, n.count, n.first.as_deref())).collect();
        assert_eq!(notes, [("bad_line", 1, Some("e.jsonl:3")), ("unpaired", 1, Some("e.jsonl:4")), ("bad_point", 1, Some("e.jsonl:4"))]);
        let failed = capture.endpoints[0].scrapes.iter().filter(|s| matches!(s.outcome, crate::model::Outcome::Failed(_))).count();
        assert_eq!((capture.endpoints[0].name.as_str(), capture.endpoints[0].scrapes.len(), failed), ("h:1", 2, 1));
    }

    #[test]
    fn event_logs_in_json_lines_are_not_claimed() {
        assert!(exported(LINES.as_bytes()));
        assert!(exported(LINES.as_bytes().get(..60).unwrap()), "cut where the head ends");
        for other in [
            r#"{"time":1,"level":"info","msg":"x","metric":{"a":"b"},"values":[1]}"#,
            r#"{"timestamp_ns":1,"metrics":{"a":[{"labels":{},"value":1}]}}"#,
            r#"{"metric":"ttft","values":[1],"timestamps":[1]}"#,
            r#"{"metric":{"a":"b"},"value":1}"#,
            "{}",
            "metric values",
        ] {
            assert!(!exported(other.as_bytes()), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_said(cut in 0usize..400, flips in prop::collection::vec((0usize..400, any::<u8>()), 0..6)) {
            let mut bytes = LINES.as_bytes().to_vec();
            for (at, byte) in flips {
                if let Some(b) = bytes.get_mut(at) {
                    *b = byte;
                }
            }
            bytes.truncate(cut);
            exported(&bytes);
            read_text(&bytes);
        }

        #[test]
        fn noise_is_read_or_said(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            exported(&bytes);
            prop_assert_eq!(read_text(&bytes).series.len(), 0);
        }
    }
}
