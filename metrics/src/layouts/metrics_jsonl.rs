//! Two schemas that share the name `server_metrics_export.jsonl`, one scrape a line with its metrics as objects.
//!
//! srt-slurm's "schema 2" `{timestamp_ns, metrics: {name: [{labels, value}]}}` keeps no endpoint and drops NaN and infinities. AIPerf's has the
//! endpoint, the first byte's stamp, and histograms as `{buckets, sum, count}`; it leaves out a scrape that equals the one before, `*_info`,
//! NaN, and the `_total` of names.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::marker::PhantomData;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::lines::{self, Lines, Step, first_keys};
use super::{Candidate, Layout, ReadError, Set};
use crate::build::Builder;
use crate::exposition;
use crate::model::{Capture, Clock, EndpointId, Kind, Labels, Outcome, Precision, SeriesId, StampOf};

pub const AIPERF: Layout = Layout {
    name: "aiperf-jsonl",
    about: "server_metrics_export.jsonl of AIPerf: raw cumulative values, unchanged scrapes left out",
    claim: |candidates| claim(candidates, true),
    read: |set| read(set, true),
};

pub const SRT_SCHEMA2: Layout = Layout {
    name: "srt-schema2-jsonl",
    about: "server_metrics_export.jsonl of srt-slurm (schema 2): parsed scrapes without their endpoint",
    claim: |candidates| claim(candidates, false),
    read: |set| read(set, false),
};

fn claim(candidates: &[Candidate], aiperf: bool) -> Vec<Set> {
    let mut sets = Vec::new();
    for candidate in candidates {
        let keys = first_keys(candidate);
        let has = |name: &str| keys.iter().any(|k| k == name);
        if has("timestamp_ns") && has("metrics") && has("endpoint_url") == aiperf {
            let which = if aiperf { "AIPerf's schema" } else { "no endpoint_url, so srt-slurm's schema 2" };
            sets.push(Set {
                files: vec![candidate.part()],
                beside: Vec::new(),
                because: format!("JSON lines with {}: {which}", keys.join(", ")),
                ties: Vec::new(),
            });
        }
    }
    sets
}

#[derive(serde::Deserialize)]
struct Row {
    timestamp_ns: i64,
    endpoint_url: Option<String>,
    endpoint_latency_ns: Option<i64>,
    metrics: Pairs<Vec<Item>>,
}

#[derive(serde::Deserialize)]
struct Item {
    labels: Option<Pairs<String>>,
    value: Option<Number>,
    buckets: Option<Pairs<Number>>,
    sum: Option<Number>,
    count: Option<Number>,
}

/// An object's members in their order.
struct Pairs<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Pairs<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        from.deserialize_map(Members(PhantomData))
    }
}

/// A value as number, or as text for what JSON has no number for.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Number {
    Number(f64),
    Text(String),
}

impl Number {
    fn value(&self) -> Option<f64> {
        match self {
            Number::Number(value) => Some(*value),
            Number::Text(text) => exposition::value(text),
        }
    }
}

/// Remembers series by name and labels as they stand.
#[derive(Default)]
struct Known {
    ids: HashMap<EndpointId, HashMap<Box<str>, SeriesId>>,
    key: String,
}

impl Known {
    fn series(
        &mut self,
        builder: &mut Builder,
        endpoint: EndpointId,
        name: (&str, &str),
        labels: &[(String, String)],
        le: Option<&str>,
    ) -> SeriesId {
        self.key.clear();
        let (base, ending) = name;
        // lengths keep texts apart that hold any character
        let _ = write!(self.key, "{}:{base}{ending}", base.len() + ending.len());
        for (name, value) in labels.iter().map(|(k, v)| (&**k, &**v)).chain(le.map(|le| ("le", le))) {
            let _ = write!(self.key, "{}:{name}{}:{value}", name.len(), value.len());
        }
        let ids = self.ids.entry(endpoint).or_default();
        if let Some(id) = ids.get(&*self.key) {
            return *id;
        }
        let labels = Labels::new(labels.iter().map(|(k, v)| (&**k, &**v)).chain(le.map(|le| ("le", le))));
        let id = builder.series(endpoint, &format!("{base}{ending}"), &labels, Precision::F64);
        ids.insert(self.key.as_str().into(), id);
        id
    }
}

fn read(set: &Set, aiperf: bool) -> Result<Vec<Capture>, ReadError> {
    let mut captures = Vec::new();
    for part in &set.files {
        captures.push(read_file(&part.path, aiperf).map_err(|error| ReadError::Io { path: part.path.display().to_string(), error })?);
    }
    Ok(captures)
}

fn read_file(path: &Path, aiperf: bool) -> std::io::Result<Capture> {
    let mut lines = Lines::open(path)?;
    let mut builder = if aiperf {
        Builder::new(AIPERF.name, Clock::Wall, StampOf::FirstByte)
    } else {
        Builder::new(SRT_SCHEMA2.name, Clock::Wall, StampOf::Body)
    };
    builder.file(path);
    let mut known = Known::default();
    let mut histograms: HashSet<String> = HashSet::new();
    while let Some(step) = lines.next() {
        let (number, line, ended) = match step {
            Step::Line(number, line, ended) => (number, line, ended),
            other => {
                lines::note(&mut builder, path, &other);
                continue;
            }
        };
        let place = || Some(format!("{}:{number}", path.display()));
        let row: Row = match serde_json::from_slice(line) {
            Ok(row) => row,
            Err(e) => {
                lines::damaged(&mut builder, path, number, ended, &e);
                continue;
            }
        };
        let url = row.endpoint_url.unwrap_or_default();
        let endpoint = builder.endpoint(&url);
        builder.fact(endpoint, "url", &url);
        let at = row.timestamp_ns;
        for (name, items) in &row.metrics.0 {
            for item in items {
                let labels = item.labels.as_ref().map_or(&[][..], |l| &l.0[..]);
                let mut keep = |builder: &mut Builder, ending: &str, le: Option<&str>, value: &Number| match value.value() {
                    Some(value) => {
                        let id = known.series(builder, endpoint, (name, ending), labels, le);
                        builder.push(id, at, value);
                    }
                    None => builder.note("bad_value", || format!("a value of {name} is no number: it is not kept"), place),
                };
                if let Some(value) = &item.value {
                    keep(&mut builder, "", None, value);
                }
                if let Some(buckets) = &item.buckets {
                    for (le, value) in &buckets.0 {
                        keep(&mut builder, "_bucket", Some(le), value);
                    }
                    if !histograms.contains(name) {
                        builder.family(name).kind = Some(Kind::Histogram);
                        histograms.insert(name.clone());
                    }
                }
                for (ending, value) in [("_sum", &item.sum), ("_count", &item.count)] {
                    if let Some(value) = value {
                        keep(&mut builder, ending, None, value);
                    }
                }
                if item.value.is_none() && item.buckets.is_none() && item.sum.is_none() && item.count.is_none() {
                    builder.note(
                        "no_value",
                        || format!("{name} has neither value nor buckets: NaN and infinities are written so, or damage"),
                        place,
                    );
                }
            }
        }
        // without endpoints, a line says nothing of the series that it lacks: they may be of another one
        if aiperf {
            builder.scrape(endpoint, at, row.endpoint_latency_ns, Outcome::Read);
        }
    }
    let file = || Some(path.display().to_string());
    if aiperf {
        let what = "a scrape that equals the one before is left out: a gap can mean that nothing changed, and failed scrapes leave no row";
        builder.note("unchanged_omitted", || what.into(), file);
        builder.note(
            "names_without_total",
            || "names of counters lack their `_total`; `*_info`, `_created` and NaN are left out".into(),
            file,
        );
    } else {
        let what = "lines do not say of which endpoint they are: equal series of several endpoints cannot be told apart";
        builder.note("no_endpoint", || what.into(), file);
        builder.note("nan_omitted", || "NaN and infinities are left out".into(), file);
    }
    Ok(builder.finish())
}
