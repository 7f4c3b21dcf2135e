//! What is known of SGLang's and Dynamo's families beside their type: since which version, at which server, and when they appear.
//!
//! `known.tsv`: family, first version, last version, place, when, what must be switched on. An empty version is older or newer than all
//! that were looked at (SGLang 0.4.3.post4 to 0.5.23, Dynamo 1.6.1). From the collectors' sources and scrapes; a series of a labelled
//! family exists only after its first use in both (prometheus-client's `labels()`, Rust's `Vec` types), so `event` is the rule.

use std::collections::HashMap;
use std::sync::LazyLock;

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    pub family: &'static str,
    pub first: Option<Version>,
    pub last: Option<Version>,
    /// The newest version's text, for output.
    pub first_text: &'static str,
    pub last_text: &'static str,
    pub place: Place,
    pub appears: Appears,
    /// What must be switched on or served for it to exist.
    pub needs: Option<&'static str>,
}

/// Which server has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Any,
    Prefill,
    Decode,
    /// Prefill and decode servers, not unified ones.
    Pd,
    /// Dynamo's frontend, with its router.
    Frontend,
    /// Dynamo's workers.
    Worker,
}

/// When it appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appears {
    /// With the scheduler's first report: a prefill or decode batch, or 30 s of idling.
    Report,
    /// At the start or with the first report, by version.
    Constant,
    /// With the first request.
    Request,
    /// With its first event.
    Event,
}

/// `0.5.5.post3`; a release candidate is before its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32, u32, u32, i32);

impl Version {
    /// `None` for anything else.
    pub fn parse(text: &str) -> Option<Version> {
        let mut parts = text.splitn(3, '.');
        let (major, minor, rest) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
        if let Some((patch, post)) = rest.split_once(".post") {
            return Some(Version(major, minor, patch.parse().ok()?, post.parse().ok()?));
        }
        if let Some((patch, _)) = rest.split_once("rc") {
            return Some(Version(major, minor, patch.parse().ok()?, -1));
        }
        Some(Version(major, minor, rest.parse().ok()?, 0))
    }
}

static FACTS: LazyLock<HashMap<&'static str, Fact>> =
    LazyLock::new(|| include_str!("known.tsv").lines().filter_map(row).map(|fact| (fact.family, fact)).collect());

fn row(line: &'static str) -> Option<Fact> {
    let mut cells = line.split('\t');
    let (family, first, last) = (cells.next()?, cells.next()?, cells.next()?);
    let place = match cells.next()? {
        "any" => Place::Any,
        "prefill" => Place::Prefill,
        "decode" => Place::Decode,
        "pd" => Place::Pd,
        "frontend" => Place::Frontend,
        "worker" => Place::Worker,
        _ => return None,
    };
    let appears = match cells.next()? {
        "report" => Appears::Report,
        "constant" => Appears::Constant,
        "request" => Appears::Request,
        "event" => Appears::Event,
        _ => return None,
    };
    let needs = cells.next().filter(|n| !n.is_empty());
    let (first_text, last_text) = (first, last);
    Some(Fact { family, first: Version::parse(first), last: Version::parse(last), first_text, last_text, place, appears, needs })
}

/// What is known of a family, by its canonical name.
pub fn of(family: &str) -> Option<&'static Fact> {
    FACTS.get(family)
}

/// All names, in no order.
pub fn names() -> impl Iterator<Item = &'static str> {
    FACTS.keys().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let lines = include_str!("known.tsv").lines().count();
        assert_eq!(FACTS.len(), lines, "a row is damaged or there twice");
        for fact in FACTS.values() {
            assert_eq!(fact.first.is_some(), !fact.first_text.is_empty(), "{fact:?}");
            assert_eq!(fact.last.is_some(), !fact.last_text.is_empty(), "{fact:?}");
        }
    }

    #[test]
    fn facts_of_some() {
        let kv = of("sglang:kv_available_tokens").unwrap();
        assert_eq!((kv.first_text, kv.last, kv.place, kv.appears), ("0.5.11", None, Place::Any, Appears::Report));
        assert_eq!(of("sglang:num_decode_transfer_queue_reqs").unwrap().place, Place::Decode);
        assert_eq!(of("sglang:prefetched_tokens_total").unwrap().needs, Some("an L3 backend (--hicache-storage-backend)"));
        assert_eq!(of("dynamo_frontend_requests_total").unwrap().place, Place::Frontend);
        assert_eq!(of("sglang:num_prefill_prealloc_queue_reqs").unwrap().last_text, "0.5.11");
    }

    #[test]
    fn versions_are_ordered() {
        let v = |t| Version::parse(t).unwrap();
        assert!(v("0.5.0rc0") < v("0.5.0") && v("0.5.5") < v("0.5.5.post3") && v("0.5.5.post3") < v("0.5.11"));
        assert_eq!(Version::parse("main"), None);
    }
}
