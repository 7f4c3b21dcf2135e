//! What stands around a capture in its run: the scraper's configuration and its log.

use std::path::Path;

use corr_metrics::coverage::Ask;
use corr_metrics::layouts::tachometer::expected::{self, Expected};
use corr_metrics::layouts::tachometer::log::{self, Log};
use corr_metrics::model::{Capture, Clock};
use serde::{Deserialize, Serialize};

use super::asked::Captured;
use crate::run::Run;
use crate::run::layout::{base_name, small_text};
use crate::run::source::Source;

/// Configuration and log of a scraper.
#[derive(Debug, Default)]
pub struct Around {
    /// With the name of the file that says so.
    pub expected: Option<(String, Expected)>,
    pub log: Option<(String, Log)>,
    /// What they say, where they are not there themselves.
    told: Option<Told>,
}

/// What configuration and log of a scraper say of a capture.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Told {
    ask: Ask,
    every: Option<i64>,
}

/// The largest log that is read: one line a failed scrape.
const MAX_LOG: u64 = 256 << 20;

impl Around {
    /// Looks for them: of several files of a run those that stand nearest to the capture's.
    pub fn of(run: &Run, captured: &Captured<'_>) -> Around {
        if let Some(told) = &captured.told {
            return Around { told: Some(told.clone()), ..Around::default() };
        }
        if captured.is_log() {
            // No scraper was told of a log, nor tells of it.
            return Around::default();
        }
        let Some(key) = captured.source.set.files.first().map(|part| part.key.as_str()) else { return Around::default() };
        let is_log = |base: &str| base == "tachometer.log" || base == "tachometer.out";
        let log = nearest(run, key, &is_log).into_iter().find_map(|source| Some((source.name.clone(), read_log(&source.path)?)));
        let is_config = |base: &str| {
            matches!(
                base,
                "tachometer.toml" | "tachometer_config.toml" | "direct-plan.json" | "prometheus.yml" | "prometheus.yaml" | "c.toml"
            )
        };
        let expected = nearest(run, key, &is_config)
            .into_iter()
            .find_map(|source| Some((source.name.clone(), read_config(&source.path, base_name(&source.key))?)))
            .filter(|(_, expected)| knows(expected, captured.capture()));
        Around { expected, log, told: None }
    }

    /// What they say, to be kept where they are not.
    pub fn told(&self, capture: &Capture) -> Told {
        Told { ask: self.ask(capture, (0, 0)), every: self.every() }
    }

    /// What coverage is asked of, over a window of the capture's clock.
    pub fn ask(&self, capture: &Capture, window: (i64, i64)) -> Ask {
        if let Some(told) = &self.told {
            return Ask { window, ..told.ask.clone() };
        }
        let anchor = match &capture.clock {
            Clock::Elapsed { anchor } => anchor.as_ref(),
            _ => None,
        };
        // A log has wall stamps: on a clock whose zero is unknown they lie nowhere.
        let placed = !matches!(capture.clock, Clock::Elapsed { anchor: None });
        let log = self.log.as_ref().filter(|_| placed).map(|(_, log)| log);
        Ask {
            window,
            expected: self.expected.iter().flat_map(|(_, e)| e.targets.iter().map(|t| name_in(capture, t))).collect(),
            failures: log.map(|log| log.failures_on(anchor)).unwrap_or_default(),
            stop: log.and_then(|log| log.stop_on(anchor)),
        }
    }

    /// Configured time between two scrapes of an endpoint, the least of all; ns.
    pub fn every(&self) -> Option<i64> {
        if let Some(told) = &self.told {
            return told.every;
        }
        self.expected.as_ref()?.1.targets.iter().filter_map(|t| t.every).min()
    }
}

/// A target as the capture names it: by its own name, or by its URL.
fn name_in(capture: &Capture, target: &expected::Target) -> String {
    let same = |e: &&corr_metrics::model::Endpoint| {
        e.name == target.name || (e.url.is_some() && e.url == target.url) || target.url.as_deref() == Some(e.name.as_str())
    };
    capture.endpoints.iter().find(same).map_or_else(|| target.name.clone(), |e| e.name.clone())
}

/// The configuration is of this capture: some endpoint of it is there.
fn knows(expected: &Expected, capture: &Capture) -> bool {
    expected.targets.iter().any(|target| {
        let name = name_in(capture, target);
        capture.endpoints.iter().any(|e| e.name == name)
    })
}

/// Sources of these names, those first that share the longest beginning of folders with the key.
fn nearest<'r>(run: &'r Run, key: &str, wanted: &dyn Fn(&str) -> bool) -> Vec<&'r Source> {
    let shared = |other: &str| key.split('/').zip(other.split('/')).take_while(|(a, b)| a == b).count();
    let mut found: Vec<&Source> = run.sources.iter().filter(|s| wanted(base_name(&s.key))).collect();
    found.sort_by_key(|s| (std::cmp::Reverse(shared(&s.key)), s.key.split('/').count()));
    found
}

fn read_config(path: &Path, base: &str) -> Option<Expected> {
    let text = small_text(path)?;
    match base.rsplit('.').next() {
        Some("json") => expected::from_plan(&text).ok(),
        Some("yml" | "yaml") => expected::from_prometheus(&text).ok(),
        _ => expected::from_toml(&text).ok(),
    }
}

fn read_log(path: &Path) -> Option<Log> {
    if std::fs::metadata(path).ok()?.len() > MAX_LOG {
        return None;
    }
    log::read(std::io::BufReader::new(std::fs::File::open(path).ok()?)).ok()
}
