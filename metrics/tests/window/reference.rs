//! Nine windows over a capture by Prometheus, against figures that were computed from the same samples apart from this code
//! (`cases/metrics/reference`), and against Prometheus' own answers where both mean the same.

use std::collections::{BTreeMap, BTreeSet};

use corr_metrics::blocks::{Store, Writer};
use corr_metrics::model::{Precision, Sample};
use corr_metrics::window::counter::Answer;
use corr_metrics::window::quantile::{Cumulative, Estimate, Quantile};
use corr_metrics::window::scrapes::Scrapes;
use corr_metrics::window::{Window, capacity, counter, gauge, histogram, quantile, replica};
use serde_json::{Value, json};

use super::cases::{bytes, cases};
use super::increase::{Rules, increase};

const MS: i64 = 1_000_000;

/// The samples of the API's raw matrix, from which the reference's replica checks were made, end here; the dump goes on for 15 s.
const MATRIX_END: i64 = 1_795_977_181_000 * MS;

type Labels = BTreeMap<String, String>;

/// What `promtool tsdb dump` printed, by series, in memory as slices and as blocks.
struct Dump {
    labels: Vec<Labels>,
    samples: Vec<Vec<Sample>>,
    store: Store,
    /// By instance.
    scrapes: BTreeMap<String, Scrapes>,
}

impl Dump {
    fn read() -> Option<Dump> {
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
        let mut down: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
        for (labels, samples) in labels.iter().zip(&samples).filter(|(labels, _)| labels["__name__"] == "up") {
            let (up, failed): (Vec<&Sample>, Vec<&Sample>) = samples.iter().partition(|s| s.value == 1.0);
            scrapes.insert(labels["instance"].clone(), Scrapes::new(up.iter().map(|s| s.at).collect()));
            down.insert(labels["instance"].clone(), failed.iter().map(|s| s.at).collect());
        }
        // the dump prints the markers of ended series as NaN; where the scrape failed they can be nothing else
        let mut writer = Writer::default();
        for (i, (labels, samples)) in labels.iter().zip(&mut samples).enumerate() {
            for sample in samples {
                if sample.value.is_nan() && down[&labels["instance"]].contains(&sample.at) {
                    sample.value = f64::from_bits(0x7ff0_0000_0000_0002);
                }
                writer.push(i as u32, sample.at, sample.value);
            }
        }
        let store = writer.finish(labels.len());
        Some(Dump { labels, samples, store, scrapes })
    }

    fn find(&self, labels: &Labels) -> usize {
        self.labels.iter().position(|l| l == labels).unwrap_or_else(|| panic!("no series {labels:?}"))
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        (0..self.labels.len()).filter(move |i| self.labels[*i]["__name__"] == name)
    }

    /// The buckets of a family, by the other labels.
    fn buckets(&self, family: &str) -> BTreeMap<Labels, Vec<(f64, usize)>> {
        let mut sets: BTreeMap<Labels, Vec<(f64, usize)>> = BTreeMap::new();
        for series in self.named(&format!("{family}_bucket")) {
            let mut labels = self.labels[series].clone();
            let bound = labels.remove("le").unwrap().parse().unwrap();
            sets.entry(labels).or_default().push((bound, series));
        }
        sets
    }

    /// A family's label sets in a window, by slices and by the store, which must agree.
    fn histograms(&self, family: &str, window: Window) -> Vec<(Labels, histogram::Buckets)> {
        let mut out = Vec::new();
        for (labels, buckets) in self.buckets(family) {
            let slices: Vec<(f64, &[Sample])> = buckets.iter().map(|(le, i)| (*le, &self.samples[*i][..])).collect();
            let numbers: Vec<(f64, u32)> = buckets.iter().map(|(le, i)| (*le, *i as u32)).collect();
            let answer = histogram::of_samples(&slices, window, Precision::F64);
            assert_eq!(answer, histogram::of_store(&mut self.store.cursor(), &numbers, window, Precision::F64));
            if let histogram::Answer::Answered(found) = answer {
                out.push((labels, found));
            }
        }
        out
    }
}

/// `{a="b", c="d"}` or `name{a="b",c="d"}`.
fn read_labels(text: &str) -> Labels {
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

fn object_labels(name: &str, labels: &Value) -> Labels {
    let mut out: Labels = labels.as_object().unwrap().iter().map(|(k, v)| (k.clone(), v.as_str().unwrap().to_string())).collect();
    out.insert("__name__".to_string(), name.to_string());
    out
}

fn file(name: &str) -> Option<Value> {
    Some(serde_json::from_slice(&bytes(&cases("metrics/reference")?.join(name))).unwrap())
}

fn windows(reference: &Value) -> Vec<(String, Window)> {
    let windows = reference["windows"].as_object().unwrap();
    windows
        .iter()
        .map(|(name, w)| (name.clone(), Window::new(w["start_ms"].as_i64().unwrap() * MS, w["end_ms"].as_i64().unwrap() * MS).unwrap()))
        .collect()
}

/// Counts what is compared, and remembers what differs.
#[derive(Default)]
struct Tally {
    compared: BTreeMap<&'static str, usize>,
    differ: Vec<String>,
}

impl Tally {
    fn equal(&mut self, field: &'static str, place: &str, expected: &Value, found: Value) {
        *self.compared.entry(field).or_default() += 1;
        if !same(expected, &found) {
            self.differ.push(format!("{place} {field}: expected {expected}, found {found}"));
        }
    }

    /// Sums taken in another order or unit differ in their last bits.
    fn near(&mut self, field: &'static str, place: &str, expected: &Value, found: Option<f64>) {
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

    fn done(self, what: &str) {
        println!("{what}: {} values compared {:?}, {} differ", self.compared.values().sum::<usize>(), self.compared, self.differ.len());
        assert!(self.differ.is_empty(), "{} differ:\n{}", self.differ.len(), self.differ.join("\n"));
        assert!(!self.compared.is_empty());
    }
}

/// Whole numbers equal; fractions but for the last bit, which serde_json does not always read.
fn same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            a == b || a.fract() != 0.0 && (a - b).abs() <= 2.0 * f64::EPSILON * a.abs()
        }
        (a, b) => a == b,
    }
}

fn pair(sample: Sample) -> Value {
    json!([sample.at / MS, sample.value])
}

#[test]
fn counters_of_nine_windows() {
    let (Some(dump), Some(reference)) = (Dump::read(), file("exact_from_prometheus_samples.json")) else { return };
    let windows = windows(&reference);
    assert_eq!(windows.len(), 9);
    let mut tally = Tally::default();
    let (mut compared, mut above, mut below, mut fractions) = (0, 0, 0, 0);
    let mut families = BTreeSet::new();
    let mut rows = 0;
    for (name, window) in &windows {
        let mut seen = BTreeSet::new();
        for row in reference["windows"][name]["rows"].as_array().unwrap() {
            rows += 1;
            let spelled = row["series"].as_str().unwrap();
            let labels = read_labels(spelled);
            families.insert(labels["__name__"].clone());
            let series = dump.find(&labels);
            seen.insert(series);
            let (samples, scrapes) = (&dump.samples[series], &dump.scrapes[&labels["instance"]]);
            let answer = counter::of_samples(samples, *window, Precision::F64, scrapes);
            let stored = counter::of_store(&mut dump.store.cursor(), series as u32, *window, Precision::F64, scrapes);
            assert_eq!(answer, stored, "the two ways");
            let Answer::Answered(delta) = &answer else { panic!("{name} {spelled}: {answer:?}") };
            let place = format!("{name} {spelled}");
            tally.equal("n", &place, &row["n"], json!(delta.n));
            tally.equal("resets", &place, &row["resets"], json!(delta.resets.len()));
            tally.equal("first", &place, &row["first"], pair(delta.first));
            tally.equal("last", &place, &row["last"], pair(delta.last));
            tally.equal("inner_delta", &place, &row["inner_delta"], json!(delta.inner.value));
            tally.equal("restart_base", &place, &row["restart_base"], json!(delta.restart_base.value));
            tally.equal("outer_bound", &place, &row["outer_bound"], json!(delta.outer.map(|o| o.value)));
            tally.equal("gap_start_ms", &place, &row["gap_start_ms"], json!(delta.start.gap / MS));
            tally.equal("gap_end_ms", &place, &row["gap_end_ms"], json!(delta.end.gap / MS));
            tally.equal("boundary", &place, &row["boundary"], json!([delta.start.grade, delta.end.grade]));
            let appearance = delta.first_appearance.map(|a| json!({ "at": a.at / MS, "value": a.value, "absent_at": a.absent_at / MS }));
            tally.equal("first_appearance", &place, &row["first_appearance_nonzero"], json!(appearance));
            tally.near("prom_increase", &place, &row["prom_increase"], increase(samples, *window, Rules::Two));
            assert_eq!(delta.segments.len(), delta.resets.len() + 1);
            assert_eq!(delta.segments.iter().map(|s| s.n).sum::<u64>(), delta.n);
            let Some(told) = row["prom_increase"].as_f64() else { continue };
            let (low, high) = answer.bracket().unwrap();
            let Some(high) = high else { continue };
            compared += 1;
            above += usize::from(told > high + 1e-9);
            below += usize::from(told < low - 1e-9);
            fractions += usize::from((told - told.round()).abs() > 1e-6);
        }
        // what has no row has no two samples
        for family in &families {
            for series in dump.named(family).filter(|series| !seen.contains(series)) {
                let answer = counter::of_samples(&dump.samples[series], *window, Precision::F64, &Scrapes::unknown());
                assert!(answer.delta().is_none(), "{name} {:?}: {answer:?}", dump.labels[series]);
            }
        }
    }
    println!("{rows} rows; increase: {compared} compared, {above} above the bracket, {below} below, {fractions} not whole");
    let contrast = &reference["contrast"];
    tally.equal("contrast", "compared", &contrast["compared"], json!(compared));
    tally.equal("contrast", "above", &contrast["prom_above_provable_upper_bound"], json!(above));
    tally.equal("contrast", "below", &contrast["prom_below_provable_lower_bound"], json!(below));
    tally.equal("contrast", "fractions", &contrast["prom_not_an_integer"], json!(fractions));
    tally.done("counters");
}

#[test]
fn gauges_and_capacity_of_nine_windows() {
    let (Some(dump), Some(reference)) = (Dump::read(), file("exact_from_prometheus_samples.json")) else { return };
    let mut tally = Tally::default();
    for (name, window) in &windows(&reference) {
        for row in reference["gauges"][name]["gauges"].as_array().unwrap() {
            let labels = object_labels(row["series"].as_str().unwrap(), &row["labels"]);
            let series = dump.find(&labels);
            let hold = gauge::default_hold(dump.scrapes[&labels["instance"]].interval().unwrap());
            let answer = gauge::of_samples(&dump.samples[series], *window, hold, Precision::F64);
            assert_eq!(answer, gauge::of_store(&mut dump.store.cursor(), series as u32, *window, hold, Precision::F64), "the two ways");
            let found = answer.gauge().unwrap_or_else(|| panic!("{name} {labels:?}: {answer:?}"));
            let place = format!("{name} {labels:?}");
            tally.equal("hold_ms", &place, &row["hold_ms"], json!(found.hold / MS));
            tally.equal("n", &place, &row["n"], json!(found.n));
            tally.equal("n_nan", &place, &row["n_nan"], json!(found.n_nan));
            tally.equal("min", &place, &row["min"], json!(found.min.map(|s| s.value)));
            tally.equal("max", &place, &row["max"], json!(found.max.map(|s| s.value)));
            tally.equal("median", &place, &row["median"], json!(found.median.as_ref().map(|m| m.value)));
            tally.near("sample_mean", &place, &row["sample_mean"], found.sample_mean);
            tally.near("time_weighted", &place, &row["time_weighted"], found.time_weighted);
            tally.equal("covered", &place, &row["covered"], json!(found.covered / MS));
            tally.near("coverage", &place, &row["coverage"], found.coverage);
        }
        let rows = reference["gauges"][name]["l1_occupancy"].as_array().unwrap();
        let mut answered = 0;
        for capacity_series in dump.named("sglang_max_total_num_tokens") {
            let mut labels = dump.labels[capacity_series].clone();
            labels.insert("__name__".to_string(), "sglang_kv_available_tokens".to_string());
            let available = &dump.samples[dump.find(&labels)];
            let capacity::Answer::Answered(found) = capacity::of(&dump.samples[capacity_series], available, *window) else { continue };
            answered += 1;
            let row = rows.iter().find(|row| object_labels("sglang_kv_available_tokens", &row["labels"]) == labels).unwrap();
            tally.equal("pairs", name, &row["pairs"], json!(found.pairs));
            tally.equal("max_occupied", name, &row["max_occupied"], json!(found.max.occupied));
            tally.equal("at_ms", name, &row["at_ms"], json!(found.max.at / MS));
            tally.equal("capacity", name, &row["capacity"], json!(found.max.capacity));
            tally.equal("available", name, &row["available"], json!(found.max.available));
        }
        tally.equal("occupancy rows", name, &json!(rows.len()), json!(answered));
    }
    tally.done("gauges");
}

fn compare_quantile(tally: &mut Tally, place: &str, expected: &Value, found: &Quantile) {
    let (value, bracket, censored) = match found.estimate {
        Estimate::Within { value, low, high } => (Some(value), json!([low, high]), Value::Null),
        Estimate::Censored { above } => (Some(above), json!([above, "+Inf"]), json!(true)),
        Estimate::Outside { .. } => panic!("{place}: q out of range"),
        Estimate::Undefined { reason } => {
            tally.equal("why", place, &expected["why"], json!(reason.words()));
            (None, Value::Null, Value::Null)
        }
    };
    tally.equal("quantile n", place, &expected["n"], json!(found.n));
    tally.near("quantile", place, &expected["value"], value);
    if value.is_some() {
        tally.equal("bracket", place, &expected["bracket"], bracket);
        tally.equal("censored", place, &expected["censored"], censored);
        tally.equal("forced_monotonic", place, &expected["forced_monotonic"], json!(found.forced_monotonic));
    }
}

#[test]
fn histograms_of_nine_windows() {
    let (Some(dump), Some(reference)) = (Dump::read(), file("exact_from_prometheus_samples.json")) else { return };
    let mut tally = Tally::default();
    for (name, window) in &windows(&reference) {
        let families = reference["histograms"][name].as_object().unwrap();
        for family in ["sglang_time_to_first_token_seconds", "dynamo_frontend_time_to_first_token_seconds"] {
            let parts: Vec<histogram::Buckets> = dump.histograms(family, *window).into_iter().map(|(_, b)| b).collect();
            let Some(sum) = histogram::Sum::of(parts) else {
                assert!(!families.contains_key(family), "{name} {family}");
                continue;
            };
            let (expected, place) = (&families[family], format!("{name} {family}"));
            let found: Vec<Value> =
                sum.buckets.iter().map(|b| json!([if b.bound.is_finite() { json!(b.bound) } else { json!("+Inf") }, b.count])).collect();
            let deltas = expected["bucket_deltas"].as_array().unwrap();
            assert_eq!(deltas.len(), found.len(), "{place}");
            for (expected, found) in deltas.iter().zip(found) {
                tally.equal("bucket_deltas", &place, expected, found);
            }
            for (field, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
                compare_quantile(&mut tally, &format!("{place} {field}"), &expected[field], &sum.quantile(q));
            }
        }
    }
    tally.done("histograms");
}

#[test]
fn replicas_of_the_capture() {
    let (Some(dump), Some(reference)) = (Dump::read(), file("exact_from_prometheus_samples.json")) else { return };
    let mut tally = Tally::default();
    for (name, expected) in reference["replicas"].as_object().unwrap() {
        let ranks: BTreeMap<String, usize> = dump.named(name).map(|i| (dump.labels[i]["tp_rank"].clone(), i)).collect();
        let slices: Vec<&[Sample]> = ranks
            .values()
            .map(|i| &dump.samples[*i][..])
            .map(|samples| &samples[..samples.partition_point(|s| s.at <= MATRIX_END)])
            .collect();
        let found = replica::counters(&slices, Precision::F64).unwrap();
        tally.equal("verdict", name, &expected["verdict"], json!(found.verdict));
        tally.equal("common_scrapes", name, &expected["common_scrapes"], json!(found.common_scrapes));
        tally.equal("unequal_scrapes", name, &expected["unequal_scrapes"], json!(found.unequal_scrapes));
        for (rank, resets) in ranks.keys().zip(&found.resets) {
            tally.equal("resets", name, &expected["resets"][rank], json!(resets));
        }
        // the reference asks gauges as if they were counters; asked as gauges, those of two ranks are mostly equal
        if name.starts_with("sglang_kv_") {
            let gauges = replica::gauges(&slices, Precision::F64).unwrap();
            assert_eq!(gauges.verdict, replica::Verdict::MostlyEqual, "{name}");
        }
    }
    tally.done("replicas");
}

/// `name(q, sum by (le, more) (rate(family_bucket[60s])))`.
fn read_question(text: &str) -> Option<(f64, bool, &str)> {
    let rest = text.strip_prefix("histogram_quantile(")?;
    let (q, rest) = rest.split_once(", sum by (")?;
    let (by, rest) = rest.split_once(") (rate(")?;
    let (family, _) = rest.split_once("_bucket[")?;
    Some((q.parse().ok()?, by.contains("is_streaming"), family))
}

/// What `sum by (le, …) (rate(…))` holds: every series stretched to the window by itself, then added.
fn stretched(dump: &Dump, family: &str, window: Window, keep: impl Fn(&Labels) -> bool) -> Vec<Cumulative> {
    let mut sums: Vec<Cumulative> = Vec::new();
    for buckets in dump.buckets(family).into_iter().filter(|(labels, _)| keep(labels)).map(|(_, buckets)| buckets) {
        for (bound, series) in buckets {
            let Some(count) = increase(&dump.samples[series], window, Rules::Two) else { continue };
            match sums.iter_mut().find(|b| b.bound == bound) {
                Some(bucket) => bucket.count += count,
                None => sums.push(Cumulative { bound, count, error: 0.0 }),
            }
        }
    }
    sums
}

fn value_of(found: &Quantile) -> Option<f64> {
    match found.estimate {
        Estimate::Within { value, .. } => Some(value),
        Estimate::Censored { above } => Some(above),
        Estimate::Outside { .. } | Estimate::Undefined { .. } => None,
    }
}

#[test]
fn quantiles_are_those_of_prometheus() {
    let (Some(dump), Some(theirs), Some(reference)) =
        (Dump::read(), file("prometheus_reference.json.gz"), file("exact_from_prometheus_samples.json"))
    else {
        return;
    };
    let mut tally = Tally::default();
    let (mut answers, mut undefined, mut at_zero, mut other_windows) = (0, 0, 0, BTreeSet::new());
    for (name, window) in &windows(&reference) {
        for (question, answer) in theirs["answers"][name].as_object().unwrap() {
            let Some((q, by_streaming, family)) = read_question(question) else { continue };
            for result in answer["result"].as_array().unwrap() {
                answers += 1;
                let value: f64 = result["value"][1].as_str().unwrap().parse().unwrap();
                let streaming = result["metric"].get("is_streaming").and_then(Value::as_str);
                let keep = |labels: &Labels| !by_streaming || labels.get("is_streaming").map(String::as_str) == streaming;
                let of_theirs = quantile::of(q, &stretched(&dump, family, *window, keep));
                let parts = dump.histograms(family, *window).into_iter().filter(|(labels, _)| keep(labels));
                let parts: Vec<histogram::Buckets> = parts.map(|(_, buckets)| buckets).collect();
                // with a reset inside, Prometheus adds what the new life had counted before its first scrape; label sets that were not
                // scraped equally long are each stretched by another factor before they are added
                let comparable = parts.iter().all(|p| p.segments.len() == 1 && p.segments == parts[0].segments);
                let ours = histogram::Sum::of(parts).unwrap().quantile(q);
                if value.is_nan() {
                    undefined += 1;
                    // Prometheus divides nothing by nothing where the lowest bucket is empty; the lowest that is not has the answer
                    let zero = q == 0.0 && matches!(ours.estimate, Estimate::Within { value, low, .. } if value == low);
                    at_zero += usize::from(zero);
                    assert!(zero || value_of(&ours).is_none(), "{name} {question}: {ours:?}");
                    continue;
                }
                let place = format!("{name} {question}: Prometheus {value}");
                let near = |found: &Quantile| value_of(found).is_some_and(|found| (found - value).abs() <= 1e-9 * value.abs());
                *tally.compared.entry("our quantile of their rates").or_default() += 1;
                if !near(&of_theirs) {
                    tally.differ.push(format!("{place}, of their rates {of_theirs:?}"));
                }
                if !comparable {
                    other_windows.insert(name.clone());
                    *tally.compared.entry("not comparable").or_default() += 1;
                    continue;
                }
                *tally.compared.entry("our quantile").or_default() += 1;
                if !near(&ours) {
                    tally.differ.push(format!("{place}, found {ours:?}"));
                }
            }
        }
    }
    println!("{answers} answers of Prometheus: {undefined} undefined, {at_zero} of them q = 0 with an empty lowest bucket");
    println!("not comparable for a reset inside or label sets of different scrapes: {other_windows:?}");
    assert_eq!(answers, 330);
    tally.done("quantiles of Prometheus");
}
