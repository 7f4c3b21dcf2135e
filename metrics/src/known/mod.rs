//! What SGLang, Dynamo and process families are, where a capture does not say.
//!
//! `families.tsv`: family, type. From the sources of SGLang 0.4.3 to 0.5.23 and of KVBM, scrapes of Dynamo 1.6.1 and of the router 0.3.2; `a|b` where
//! versions differ. And what every Prometheus client and Prometheus itself write of a process and a scrape.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::model::Kind;

/// What names of series begin with that are fields of log records: `log:token_usage`.
pub const LOG: &str = "log:";

static FAMILIES: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| include_str!("families.tsv").lines().filter_map(|line| line.split_once('\t')).collect());

/// The type of a family by its canonical name; `None` if it is not in the table, or if versions differ.
pub fn kind(family: &str) -> Option<Kind> {
    // A field of log records says what each record says: none that is known counts from the start of its process.
    if family.starts_with(LOG) {
        return Some(Kind::Gauge);
    }
    FAMILIES.get(family).and_then(|word| Kind::from_word(word))
}

/// Every family of the table, in no order.
pub fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.keys().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_types() {
        assert_eq!(kind("sglang:cached_tokens_total"), Some(Kind::Counter));
        assert_eq!(kind("sglang:kv_available_tokens"), Some(Kind::Gauge));
        assert_eq!(kind("dynamo_component_kv_cache_events_applied"), Some(Kind::Counter), "a counter without `_total`");
        assert_eq!(kind("sglang:kv_transfer_total_mb"), None, "a gauge, later a histogram");
        for line in include_str!("families.tsv").lines() {
            let (_, word) = line.split_once('\t').unwrap();
            assert!(word.split('|').all(|w| Kind::from_word(w).is_some()), "{line}");
        }
    }
}
