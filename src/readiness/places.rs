//! From a citation to the words that `corr show` and `corr metrics` open.

use std::collections::{BTreeSet, HashMap};

use corr_metrics::model::EndpointId;
use corr_readiness::Cite;

use crate::metrics::Captured;
use crate::metrics::asked::title;
use crate::query::sources::Sources;
use crate::run::events::count_lines;

/// Citations as `path:line`, or `capture[endpoint]@time`.
#[derive(Clone, Debug, Default)]
pub struct Places {
    shown: HashMap<Cite, String>,
}

impl Places {
    /// Finds the lines of these citations: each source is gone through once.
    pub fn new(cites: &BTreeSet<Cite>, sources: &Sources, captures: &[Captured<'_>]) -> Places {
        let mut shown = HashMap::with_capacity(cites.len());
        let (mut at, mut line, mut of) = (0usize, 1u64, None);
        // By source, then by offset.
        for cite in cites {
            let number = cite.source as usize;
            if let Some(source) = sources.sources.get(number) {
                if of.replace(number) != Some(number) {
                    (at, line) = (0, 1);
                }
                let Ok(bytes) = source.bytes() else { continue };
                let offset = usize::try_from(cite.offset).unwrap_or(usize::MAX).min(bytes.len());
                line += count_lines(bytes.get(at..offset).unwrap_or_default());
                at = offset.max(at);
                shown.insert(*cite, format!("{}:{line}", source.name));
            } else if let Some(captured) = captures.get(number - sources.sources.len()) {
                let endpoint = captured.capture().endpoint(EndpointId(cite.len)).map(title).unwrap_or_default();
                let time = captured.dial().show(i64::try_from(cite.offset).unwrap_or(i64::MAX));
                shown.insert(*cite, format!("{}[{endpoint}]@{time}", captured.name));
            }
        }
        Places { shown }
    }

    /// The place of a citation; empty for one that was not asked for.
    pub fn of(&self, cite: Cite) -> &str {
        self.shown.get(&cite).map_or("", String::as_str)
    }
}
