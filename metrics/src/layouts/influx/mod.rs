//! InfluxDB line protocol, as Telegraf writes what it scraped (`outputs.file`), and of other writers.
//!
//! Telegraf's Prometheus input knows two forms. Version 2: measurement `prometheus`, the metric's name is the field, `le` and `quantile` are
//! tags. Version 1: the measurement is the family, fields are `counter`, `gauge`, `value`, `sum`, `count`, and a field for each bucket or
//! quantile, named by its bound; so types are known.
//! <https://github.com/influxdata/telegraf/blob/master/plugins/inputs/prometheus/README.md>
//! Other lines become `measurement_field`, as Telegraf's Prometheus output names them.
//!
//! Line protocol has no NaN: such samples are absent from a file, and their absence is no gap of scraping.
//!
//! Telegraf stamps after the body was read, and its agent rounds stamps to its `precision`, by default one second.

mod line;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::Read;

use super::text::{Line, Lines, by_size, head_lines, lines};
use super::{Candidate, Layout, ReadError, Set};
use crate::build::Builder;
use crate::model::{Capture, Clock, Kind, Labels, Precision, SECOND, SeriesId, StampOf};
use line::{Field, Point, point};

pub(super) const LAYOUT: Layout = Layout { name: "influx", about: "InfluxDB line protocol, Telegraf's forms 1 and 2", claim, read };

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let ours = candidates.iter().filter_map(|c| Some((c, form_of(c.text()?)?)));
    ours.map(|(c, form)| Set {
        files: vec![c.part()],
        beside: Vec::new(),
        because: format!("line protocol with stamps: {}", form.word()),
        ties: Vec::new(),
    })
    .collect()
}

/// The form of the first line, if the first lines are all line protocol with a number and a stamp.
fn form_of(head: &[u8]) -> Option<Form> {
    let mut form = None;
    let lines = head_lines(head).filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
    for line in lines.take(20) {
        let point = point(line)?;
        stamp(&point)?;
        if !point.fields.iter().any(|(_, f)| !matches!(f, Field::Text)) {
            return None;
        }
        form.get_or_insert(form_of_point(&point));
    }
    form
}

/// How names stand in a line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    One,
    Two,
    Other,
}

impl Form {
    fn word(self) -> &'static str {
        match self {
            Form::One => "Telegraf's form 1 (the measurement is the family)",
            Form::Two => "Telegraf's form 2 (the field is the metric)",
            Form::Other => "measurements with fields of their own",
        }
    }
}

fn form_of_point(point: &Point<'_>) -> Form {
    let one = |name: &str| matches!(name, "counter" | "gauge" | "value" | "sum" | "count") || name.parse::<f64>().is_ok();
    if point.fields.iter().all(|(name, _)| one(name)) {
        Form::One
    } else if point.measurement == "prometheus" || point.tags.iter().any(|(k, _)| k == "url") {
        Form::Two
    } else {
        Form::Other
    }
}

fn stamp(point: &Point<'_>) -> Option<(i64, &'static str)> {
    by_size(point.stamp?.parse().ok()?)
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let mut builder = Builder::new(LAYOUT.name, Clock::Wall, StampOf::Unknown);
    for part in &set.files {
        builder.file(&part.path);
        protocol(lines(&part.path)?, &part.path.display().to_string(), &mut builder);
    }
    Ok(vec![builder.finish()])
}

fn protocol<R: Read>(mut lines: Lines<R>, file: &str, builder: &mut Builder) {
    let mut known: HashMap<Box<str>, SeriesId> = HashMap::new();
    let (mut samples, mut fractions, mut telegraf, mut digits) = (0u64, false, true, 0);
    while let Some(line) = lines.next() {
        let (number, bytes, ended) = match line {
            Line::Text { number, bytes, ended } => (number, bytes, ended),
            Line::TooLong { number } => {
                builder.note("bad_line", || "lines that are no line protocol".into(), || Some(format!("{file}:{number}")));
                continue;
            }
            Line::Broken { number, error } => {
                builder.note("truncated", || format!("breaks off: {error}"), || Some(format!("{file}:{number}")));
                break;
            }
        };
        if bytes.trim_ascii().is_empty() || bytes.starts_with(b"#") {
            continue;
        }
        let at = || Some(format!("{file}:{number}"));
        let Some(point) = std::str::from_utf8(bytes).ok().and_then(point) else {
            builder.note("bad_line", || "lines that are no line protocol".into(), at);
            continue;
        };
        let length = point.stamp.map_or(0, str::len);
        if !ended && digits != 0 && length != digits {
            builder.note("truncated", || "the last line has no end, and its stamp is not as long as the others".into(), at);
            break;
        }
        let Some((time, unit)) = stamp(&point) else {
            builder.note("no_stamp", || "lines without a stamp: when they were true is not known".into(), at);
            continue;
        };
        digits = length;
        if unit != "ns" {
            builder.note("unit_by_size", || format!("stamps whose size says {unit}, not nanoseconds"), at);
        }
        fractions |= time % SECOND != 0;
        let form = form_of_point(&point);
        telegraf &= form != Form::Other;
        for (i, (_, field)) in point.fields.iter().enumerate() {
            let value = match *field {
                Field::Number(value) => value,
                Field::Whole(value, exact) => {
                    if !exact {
                        builder.note("rounded", || "whole numbers that a float of 64 bits rounds".into(), at);
                    }
                    value
                }
                Field::Bool(value) => f64::from(u8::from(value)),
                Field::Text => {
                    builder.note("text_field", || "fields that hold text are no metric".into(), at);
                    continue;
                }
            };
            let series = series(&point, i, form, &mut known, builder);
            builder.push(series, time, value);
            samples += 1;
        }
    }
    if samples > 0 && telegraf {
        builder.stamp_of(StampOf::Body);
    }
    if samples > 0 && !fractions {
        let what = "all stamps are whole seconds: Telegraf rounds them to its precision, and a scrape was up to a second from its stamp";
        builder.note("rounded_stamps", || what.into(), || Some(file.to_string()));
    }
}

/// The series of a field.
fn series(point: &Point<'_>, i: usize, form: Form, known: &mut HashMap<Box<str>, SeriesId>, builder: &mut Builder) -> SeriesId {
    let field = point.fields.get(i).map_or("", |(name, _)| name.as_str());
    // Whether a bound is a bucket's or a quantile lies in the other fields.
    let buckets = form == Form::One && bounds(point);
    let key = format!("{}\n{field}\n{buckets}", point.head);
    if let Some(id) = known.get(key.as_str()) {
        return *id;
    }
    let tag = |name: &str| point.tags.iter().find(|(k, _)| k == name).map_or("", |(_, v)| v.as_str());
    let endpoint = builder.endpoint(if tag("url").is_empty() { tag("host") } else { tag("url") });
    builder.fact(endpoint, "url", tag("url"));
    builder.fact(endpoint, "host", tag("host"));
    let (name, bound, kind) = match form {
        Form::Two => (field.to_string(), None, None),
        Form::Other => (format!("{}_{field}", point.measurement), None, None),
        Form::One => match field {
            "counter" => (point.measurement.clone(), None, Some(Kind::Counter)),
            "gauge" => (point.measurement.clone(), None, Some(Kind::Gauge)),
            "value" => (point.measurement.clone(), None, None),
            "sum" | "count" => (format!("{}_{field}", point.measurement), None, None),
            bound if buckets => (format!("{}_bucket", point.measurement), Some(("le", bound)), Some(Kind::Histogram)),
            bound => (point.measurement.clone(), Some(("quantile", bound)), Some(Kind::Summary)),
        },
    };
    if let Some(kind) = kind {
        builder.family(&point.measurement).kind.get_or_insert(kind);
    }
    // The endpoint stands for `url`; `host` is where Telegraf ran.
    let tags = point.tags.iter().filter(|(k, _)| k != "url").map(|(k, v)| (k.as_str(), v.as_str()));
    let labels = Labels::new(tags.chain(bound));
    let id = builder.series(endpoint, &name, &labels, Precision::F64);
    known.insert(key.into(), id);
    id
}

/// Fields named by numbers are buckets: one is infinite, as the last of a histogram's is, or no quantile.
fn bounds(point: &Point<'_>) -> bool {
    point.fields.iter().filter_map(|(name, _)| name.parse::<f64>().ok()).any(|bound| !(0.0..=1.0).contains(&bound))
}
