//! Answers without samples: metadata, targets, exemplars, lists of series.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::text::seconds;
use super::document::{self, Contents, metric};
use super::split;
use crate::build::Builder;
use crate::model::{Exemplar, Kind, Labels, Precision, canonical};

/// What side answers say, kept apart from the documents.
#[derive(Debug, Default)]
pub(super) struct Side {
    targets: Vec<Target>,
    families: Vec<About>,
    exemplars: Vec<Exemplars>,
    /// Series that exist, by a list of them.
    listed: Vec<document::Metric>,
    /// Code, sentence, file.
    notes: Vec<(&'static str, String, String)>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    scrape_url: String,
    #[serde(default)]
    scrape_pool: String,
    #[serde(default)]
    last_error: String,
    #[serde(default)]
    last_scrape: String,
    last_scrape_duration: Option<f64>,
    #[serde(default)]
    health: String,
    #[serde(default)]
    scrape_interval: String,
    #[serde(default)]
    scrape_timeout: String,
}

#[derive(Debug, Deserialize)]
struct About {
    #[serde(default)]
    metric: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    help: String,
    #[serde(default)]
    unit: String,
}

#[derive(Debug, Deserialize)]
struct Exemplars {
    #[serde(rename = "seriesLabels")]
    series: BTreeMap<String, String>,
    exemplars: Vec<One>,
}

#[derive(Debug, Deserialize)]
struct One {
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// A text, or a number from some proxies.
    value: Box<RawValue>,
    timestamp: Box<RawValue>,
}

impl Side {
    /// Takes what a document holds beside points.
    pub(super) fn take(&mut self, contents: &Contents<'_>, file: &str) {
        for raw in &contents.targets {
            match document::object(raw) {
                Ok(target) => self.targets.push(target),
                Err(e) => self.damaged("a target", &e, file),
            }
        }
        for (name, raw) in &contents.families {
            match document::object::<Vec<About>>(raw) {
                Ok(about) => self.families.extend(about.into_iter().map(|a| About { metric: name.clone(), ..a })),
                Err(e) => self.damaged("metadata", &e, file),
            }
        }
        for raw in &contents.items {
            self.item(raw, file);
        }
    }

    fn item(&mut self, raw: &RawValue, file: &str) {
        let text = raw.get();
        if text.contains("\"seriesLabels\"") {
            match document::object(raw) {
                Ok(exemplars) => self.exemplars.push(exemplars),
                Err(e) => self.damaged("exemplars", &e, file),
            }
        } else if text.contains("\"target\"") && text.contains("\"type\"") {
            match document::object::<About>(raw) {
                Ok(about) => self.families.push(about),
                Err(e) => self.damaged("metadata", &e, file),
            }
        } else {
            match metric(text) {
                Some(series) => self.listed.push(series),
                None => self.notes.push(("damaged_answer", "an element that is no series".into(), file.to_string())),
            }
        }
    }

    fn damaged(&mut self, what: &str, error: &serde_json::Error, file: &str) {
        self.notes.push(("damaged_answer", format!("{what} that cannot be read: {error}"), file.to_string()));
    }

    /// Whether it matters which series have samples.
    pub(super) fn lists(&self) -> bool {
        !self.listed.is_empty()
    }

    /// What is said of families.
    pub(super) fn families(&self, builder: &mut Builder) {
        for about in self.families.iter().filter(|a| !a.metric.is_empty()) {
            let Some(kind) = Kind::from_word(&about.kind) else {
                builder.note("unknown_type", || format!("metadata has the type {:?}", about.kind), || Some(about.metric.clone()));
                continue;
            };
            let family = builder.family(&about.metric);
            let differs = family.kind.is_some_and(|k| k != kind);
            family.kind.get_or_insert(kind);
            if !about.help.is_empty() {
                family.help.get_or_insert_with(|| about.help.clone());
            }
            if !about.unit.is_empty() {
                family.unit.get_or_insert_with(|| about.unit.clone());
            }
            if differs {
                let what = || "metadata gives a family two types: the first is kept".to_string();
                builder.note("two_types", what, || Some(about.metric.clone()));
            }
        }
    }

    /// What is said of targets, of exemplars and of series without samples. `seen`: canonical name and labels of the series with samples.
    pub(super) fn rest(&self, builder: &mut Builder, seen: &HashSet<(String, Labels)>) {
        for (code, what, file) in &self.notes {
            builder.note(code, || what.clone(), || Some(file.clone()));
        }
        for target in &self.targets {
            self.target(target, builder);
        }
        for group in &self.exemplars {
            let (name, labels, instance) = split(group.series.iter().map(|(k, v)| (k.as_str(), v.as_str())));
            let endpoint = builder.endpoint(instance);
            let series = builder.series(endpoint, name, &labels, Precision::F64);
            for one in &group.exemplars {
                let value = one.value.get().trim_matches('"').parse::<f64>().ok();
                let (Some(at), Some(value)) = (seconds(one.timestamp.get().trim_matches('"')), value) else {
                    let what = || "an exemplar whose stamp or value is no number".to_string();
                    builder.note("damaged_answer", what, || Some(format!("{name}{labels}")));
                    continue;
                };
                let labels = Labels::new(one.labels.iter().map(|(k, v)| (k.as_str(), v.as_str())));
                builder.exemplar(Exemplar { series, scraped: at, at: Some(at), labels, value });
                let what = "Prometheus keeps one stamp of an exemplar: its own, or that of the scrape where it had none";
                builder.note("exemplar_one_stamp", || what.into(), || None);
            }
        }
        for listed in &self.listed {
            let (name, labels, _) = split(listed.iter().map(|(k, v)| (k.as_str(), v.as_str())));
            if !seen.contains(&(canonical(name).into_owned(), labels.clone())) {
                let what = || "series that Prometheus lists and of which the export holds no sample".to_string();
                builder.note("listed_without_samples", what, || Some(format!("{name}{labels}")));
            }
        }
    }

    fn target(&self, target: &Target, builder: &mut Builder) {
        let endpoint = builder.endpoint(target.labels.get("instance").unwrap_or(&target.scrape_url));
        for (key, value) in target.labels.iter().filter(|(key, _)| *key != "instance") {
            builder.fact(endpoint, key, value);
        }
        let took = target.last_scrape_duration.map(|s| format!("{s}s")).unwrap_or_default();
        for (key, value) in [
            ("url", &target.scrape_url),
            ("scrape_pool", &target.scrape_pool),
            ("health", &target.health),
            ("last_error", &target.last_error),
            ("last_scrape", &target.last_scrape),
            ("last_scrape_duration", &took),
            ("scrape_interval", &target.scrape_interval),
            ("scrape_timeout", &target.scrape_timeout),
        ] {
            builder.fact(endpoint, key, value);
        }
    }
}
