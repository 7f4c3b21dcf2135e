//! `up` and `scrape_duration_seconds`: what Prometheus writes of its own scrapes beside the samples.

use std::collections::HashMap;

use crate::build::Builder;
use crate::model::{EndpointId, Outcome, SECOND};

/// Collects both series, so that each endpoint's scrapes are known with those that failed.
#[derive(Debug, Default)]
pub(super) struct Scrapes {
    up: Vec<(EndpointId, i64, f64)>,
    took: HashMap<(EndpointId, i64), f64>,
}

impl Scrapes {
    /// Takes a sample of any series; those of other names are passed over.
    pub(super) fn take(&mut self, endpoint: EndpointId, name: &str, at: i64, value: f64) {
        match name {
            "up" => self.up.push((endpoint, at, value)),
            "scrape_duration_seconds" => {
                self.took.insert((endpoint, at), value);
            }
            _ => {}
        }
    }

    /// Whether samples of a name are of use to [`Scrapes::take`].
    pub(super) fn wants(name: &str) -> bool {
        matches!(name, "up" | "scrape_duration_seconds")
    }

    /// Gives the scrapes to the capture. A NaN `up` (the target went away) is no scrape.
    pub(super) fn give(self, builder: &mut Builder) {
        for (endpoint, at, up) in self.up {
            if up.is_nan() {
                continue;
            }
            let outcome = if up == 0.0 {
                Outcome::Failed("up is 0: Prometheus could not scrape it, and keeps no reason".into())
            } else {
                Outcome::Read
            };
            let took = self.took.get(&(endpoint, at)).filter(|s| s.is_finite() && (0.0..1e9).contains(*s));
            builder.scrape(endpoint, at, took.map(|s| (s * SECOND as f64).round() as i64), outcome);
        }
    }
}
