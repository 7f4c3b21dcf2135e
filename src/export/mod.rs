//! What people carry into other tools: traces for Perfetto and tracing backends, restart windows for a note, a dashboard.
//!
//! `spans` makes spans of the records of requests, `stated` reads those that one record states by itself. Each format is a file that takes gathered values and
//! writes them; nothing here reads a run. What was not drawn is counted in [`LeftOut`] and said by whoever writes.

pub mod counters;
pub mod grafana;
pub mod jsonl;
mod lanes;
pub mod mermaid;
pub mod otlp;
pub mod perfetto;
pub mod spans;
mod stated;

use std::collections::BTreeMap;

/// What an export leaves out, by reason, with how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<String, u64>);

impl LeftOut {
    /// Counts one.
    pub fn one(&mut self, why: &str) {
        self.some(why, 1);
    }

    /// Counts several; nothing for none.
    pub fn some(&mut self, why: &str, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.get_mut(why) {
            Some(known) => *known += count,
            None => _ = self.0.insert(why.to_string(), count),
        }
    }

    /// Reasons and counts, by reason.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(why, count)| (why.as_str(), *count))
    }
}
