//! From a citation to the words that `corr show` and `corr metrics` open.

use std::collections::{BTreeSet, HashMap};

use corr_metrics::model::EndpointId;
use corr_readiness::Cite;

use crate::metrics::Captured;
use crate::metrics::asked::title;
use crate::query::answer::Hit;
use crate::query::fetch;
use crate::query::sources::Sources;

/// Citations as `path:line`, or `capture[endpoint]@time`.
#[derive(Clone, Debug, Default)]
pub struct Places {
    shown: HashMap<Cite, String>,
}

impl Places {
    /// Finds the lines of these citations.
    pub fn new(cites: &BTreeSet<Cite>, sources: &Sources, captures: &[Captured<'_>]) -> Places {
        let mut shown = HashMap::with_capacity(cites.len());
        let (mut records, mut hits) = (Vec::new(), Vec::new());
        for cite in cites {
            let number = cite.source as usize;
            if let Some(source) = sources.sources.get(number) {
                records.push((*cite, source));
                hits.push(Hit { source: number, offset: cite.offset, order: None, key: None });
            } else if let Some(captured) = captures.get(number - sources.sources.len()) {
                let endpoint = captured.capture().endpoint(EndpointId(cite.len)).map(title).unwrap_or_default();
                let time = captured.dial().show(i64::try_from(cite.offset).unwrap_or(i64::MAX));
                shown.insert(*cite, format!("{}[{endpoint}]@{time}", captured.name));
            }
        }
        // Line 0 is that of a source that cannot be read.
        for ((cite, source), line) in records.into_iter().zip(fetch::lines(&hits, &sources.sources)).filter(|(_, line)| *line > 0) {
            shown.insert(cite, format!("{}:{line}", source.name));
        }
        Places { shown }
    }

    /// The place of a citation; empty for one that was not asked for.
    pub fn of(&self, cite: Cite) -> &str {
        self.shown.get(&cite).map_or("", String::as_str)
    }
}
