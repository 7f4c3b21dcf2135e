//! Names of metrics: the spelling that was seen, and the one under which series of one meaning meet.

use std::sync::Arc;

/// A metric's name. Two names are equal if their canonical spellings are.
#[derive(Clone, Debug)]
pub struct Name {
    seen: Arc<str>,
    canonical: Arc<str>,
}

impl Name {
    /// From the spelling in the source.
    pub fn new(seen: &str) -> Name {
        let seen: Arc<str> = seen.trim().into();
        let canonical = match canonical(&seen) {
            std::borrow::Cow::Borrowed(_) => seen.clone(),
            std::borrow::Cow::Owned(other) => other.into(),
        };
        Name { seen, canonical }
    }

    /// For a source that spells a name other than it was served, where what it was is known: Tachometer takes `_bucket` off.
    pub fn meant(seen: &str, served: &str) -> Name {
        Name { seen: seen.trim().into(), canonical: canonical(served.trim()).into() }
    }

    /// From both spellings, as another name had them.
    pub(crate) fn of_spellings(seen: Arc<str>, canonical: Arc<str>) -> Name {
        Name { seen, canonical }
    }

    /// As the source spells it.
    pub fn seen(&self) -> &str {
        &self.seen
    }

    /// As corr spells it: `sglang:x` for `sglang_x`.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for Name {}

impl std::hash::Hash for Name {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.canonical.hash(state);
    }
}

/// One spelling for names that differ by the scraper alone: a server that negotiates OpenMetrics writes `sglang_kv_used_tokens` for
/// `sglang:kv_used_tokens` (prometheus-client 0.23 and later).
pub fn canonical(name: &str) -> std::borrow::Cow<'_, str> {
    match name.strip_prefix("sglang_") {
        Some(rest) if !rest.is_empty() => format!("sglang:{rest}").into(),
        _ => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_sglang_are_one_name() {
        assert_eq!(Name::new("sglang_kv_used_tokens"), Name::new("sglang:kv_used_tokens"));
        assert_eq!(Name::new("sglang_kv_used_tokens").seen(), "sglang_kv_used_tokens");
        assert_eq!(Name::new("dynamo_frontend_requests_total").canonical(), "dynamo_frontend_requests_total");
        assert_eq!(Name::new("q:space_before_brace ").seen(), "q:space_before_brace", "Tachometer keeps a blank before the brace");
    }
}
