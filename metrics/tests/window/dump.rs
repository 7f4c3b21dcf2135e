//! A capture by Prometheus as `promtool tsdb dump` prints it, and what is compared with figures of it.

use std::collections::BTreeMap;

use corr_metrics::blocks::{Store, Writer};
use corr_metrics::model::{Endpoint, Outcome, Precision, Sample, Scrape};
use corr_metrics::window::scrapes::Scrapes;
use corr_metrics::window::{Window, histogram};
use serde_json::Value;

use super::cases::{bytes, cases};

pub const MS: i64 = 1_000_000;

pub type Labels = BTreeMap<String, String>;

/// What `promtool tsdb dump` printed, by series, in memory as slices and as blocks.
pub struct Dump {
    pub labels: Vec<Labels>,
    pub samples: Vec<Vec<Sample>>,
    pub store: Store,
    /// By instance.
    pub scrapes: BTreeMap<String, Scrapes>,
}

impl Dump {
    pub fn read() -> Option<Dump> {
        let path = cases("metrics/prometheus")?.join("promtool_tsdb_dump.txt.gz");
        let text = String::from_utf8(bytes(&path)).unwrap();
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut labels, mut samples) = (Vec::new(), Vec::<Vec<Sample>>::new());
        for line in text.lines() {
            let (rest, at) = line.rsplit_once(' ').unwrap();
            let (name, value) = rest.rsplit_once(' ').unwrap();
            let series = *numbers.entry(name).or_insert_with(|| {
                labels.push(read_labels(name));
                samples.push(Vec::new());
                labels.len() - 1
            });
            samples[series].push(Sample { at: at.parse::<i64>().unwrap() * MS, value: value.parse().unwrap() });
        }
        let mut scrapes = BTreeMap::new();
        for (labels, samples) in labels.iter().zip(&samples).filter(|(labels, _)| labels["__name__"] == "up") {
            let mut endpoint = Endpoint::default();
            for up in samples {
                let outcome = if up.value == 1.0 { Outcome::Read } else { Outcome::Failed(String::new()) };
                endpoint.scrapes.push(Scrape { at: up.at, took: None, outcome });
            }
            scrapes.insert(labels["instance"].clone(), Scrapes::of_endpoint(&endpoint).unwrap());
        }
        // the dump prints the markers of ended series as NaN; where the scrape failed they can be nothing else
        let mut writer = Writer::default();
        for (i, (labels, samples)) in labels.iter().zip(&mut samples).enumerate() {
            for sample in samples {
                if sample.value.is_nan() && scrapes[&labels["instance"]].failed().contains(&sample.at) {
                    sample.value = f64::from_bits(0x7ff0_0000_0000_0002);
                }
                writer.push(i as u32, sample.at, sample.value);
            }
        }
        let store = writer.finish(labels.len());
        Some(Dump { labels, samples, store, scrapes })
    }

    pub fn find(&self, labels: &Labels) -> usize {
        self.labels.iter().position(|l| l == labels).unwrap_or_else(|| panic!("no series {labels:?}"))
    }

    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        (0..self.labels.len()).filter(move |i| self.labels[*i]["__name__"] == name)
    }

    /// The buckets of a family, by the other labels.
    pub fn buckets(&self, family: &str) -> BTreeMap<Labels, Vec<(f64, usize)>> {
        let mut sets: BTreeMap<Labels, Vec<(f64, usize)>> = BTreeMap::new();
        for series in self.named(&format!("{family}_bucket")) {
            let mut labels = self.labels[series].clone();
            let bound = labels.remove("le").unwrap().parse().unwrap();
            sets.entry(labels).or_default().push((bound, series));
        }
        sets
    }

    /// A family's label sets in a window, by slices and by the store, which must agree.
    pub fn histograms(&self, family: &str, window: Window) -> Vec<(Labels, histogram::Buckets)> {
        let mut out = Vec::new();
        for (labels, buckets) in self.buckets(family) {
            let slices: Vec<(f64, &[Sample])> = buckets.iter().map(|(le, i)| (*le, &self.samples[*i][..])).collect();
            let numbers: Vec<(f64, u32)> = buckets.iter().map(|(le, i)| (*le, *i as u32)).collect();
            let answer = histogram::of_samples(&slices, window, Precision::F64, &[]);
            assert_eq!(answer, histogram::of_store(&mut self.store.cursor(), &numbers, window, Precision::F64, &[]));
            if let histogram::Answer::Answered(found) = answer {
                out.push((labels, found));
            }
        }
        out
    }
}

/// `{a="b", c="d"}` or `name{a="b",c="d"}`.
pub fn read_labels(text: &str) -> Labels {
    let (name, mut rest) = text.split_once('{').unwrap();
    let mut labels = Labels::new();
    if !name.is_empty() {
        labels.insert("__name__".to_string(), name.to_string());
    }
    while let Some((label, after)) = rest.split_once("=\"") {
        let mut value = String::new();
        let mut chars = after.char_indices();
        let end = loop {
            match chars.next().unwrap() {
                (_, '\\') => match chars.next().unwrap().1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (i, '"') => break i,
                (_, other) => value.push(other),
            }
        };
        labels.insert(label.trim_start_matches([',', ' ']).to_string(), value);
        rest = &after[end + 1..];
    }
    labels
}

pub fn object_labels(name: &str, labels: &Value) -> Labels {
    let mut out: Labels = labels.as_object().unwrap().iter().map(|(k, v)| (k.clone(), v.as_str().unwrap().to_string())).collect();
    out.insert("__name__".to_string(), name.to_string());
    out
}

pub fn file(name: &str) -> Option<Value> {
    Some(serde_json::from_slice(&bytes(&cases("metrics/reference")?.join(name))).unwrap())
}

pub fn windows(reference: &Value) -> Vec<(String, Window)> {
    let windows = reference["windows"].as_object().unwrap();
    windows
        .iter()
        .map(|(name, w)| (name.clone(), Window::new(w["start_ms"].as_i64().unwrap() * MS, w["end_ms"].as_i64().unwrap() * MS).unwrap()))
        .collect()
}

/// Counts what is compared, and remembers what differs.
#[derive(Default)]
pub struct Tally {
    pub compared: BTreeMap<&'static str, usize>,
    pub differ: Vec<String>,
}

impl Tally {
    pub fn equal(&mut self, field: &'static str, place: &str, expected: &Value, found: Value) {
        *self.compared.entry(field).or_default() += 1;
        if !same(expected, &found) {
            self.differ.push(format!("{place} {field}: expected {expected}, found {found}"));
        }
    }

    /// Sums taken in another order or unit differ in their last bits.
    pub fn near(&mut self, field: &'static str, place: &str, expected: &Value, found: Option<f64>) {
        *self.compared.entry(field).or_default() += 1;
        let near = match (expected.as_f64(), found) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
            (None, None) => expected.is_null(),
            _ => false,
        };
        if !near {
            self.differ.push(format!("{place} {field}: expected {expected}, found {found:?}"));
        }
    }

    pub fn done(self, what: &str) {
        println!("{what}: {} values compared {:?}, {} differ", self.compared.values().sum::<usize>(), self.compared, self.differ.len());
        assert!(self.differ.is_empty(), "{} differ:\n{}", self.differ.len(), self.differ.join("\n"));
        assert!(!self.compared.is_empty());
    }
}

/// Whole numbers equal; fractions but for the last bit, which serde_json does not always read.
pub fn same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            a == b || a.fract() != 0.0 && (a - b).abs() <= 2.0 * f64::EPSILON * a.abs()
        }
        (a, b) => a == b,
    }
}
