//! Is this the id that the user means, however either is spelled?

use corr_parsers::ids::{self, Id, IdKind};

/// Shortest free word that can be a worker id in another base: shorter numbers would find workers by chance.
const FREE_WORKER_LEN: usize = 12;
/// Parts that a UUID's dashes make, as offsets of the dashes.
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// A whole id.
#[derive(Clone, Debug)]
pub struct IdTest {
    text: String,
    /// Canonical, for every kind but workers.
    key: String,
    /// Canonical as a worker id; `None` if such ids are compared by `key`.
    worker: Option<String>,
}

impl IdTest {
    /// For `rid:…` and all other fields of ids.
    pub fn new(text: &str) -> IdTest {
        let mut key = String::new();
        ids::canonical(None, text, &mut key);
        let mut worker = String::new();
        ids::canonical(Some(IdKind::WorkerId), text, &mut worker);
        IdTest { text: text.to_string(), key, worker: Some(worker) }
    }

    /// For a word without a field. Short numbers find worker ids only as they are printed.
    pub fn free(text: &str) -> IdTest {
        let mut test = IdTest::new(text);
        if text.len() < FREE_WORKER_LEN {
            test.worker = None;
        }
        test
    }

    pub fn holds(&self, id: &Id) -> bool {
        if id.text == self.text {
            return true;
        }
        let mut have = String::new();
        if id.kind == IdKind::WorkerId
            && let Some(worker) = &self.worker
        {
            ids::canonical(Some(IdKind::WorkerId), &id.text, &mut have);
            return have == *worker;
        }
        // Canonical spelling changes neither the last character nor, but for dashes, the length: most others need no closer look.
        let (a, b) = (id.text.as_bytes().last(), self.key.as_bytes().last());
        if !matches!((a, b), (Some(a), Some(b)) if a.eq_ignore_ascii_case(b)) {
            return false;
        }
        ids::canonical(None, &id.text, &mut have);
        have == self.key
    }

    /// Texts of which each spelling of the id contains at least one, in any case; `None` where that cannot be said.
    pub fn literals(&self, kinds: &[IdKind]) -> Option<Vec<String>> {
        let mut found = Vec::new();
        let workers = kinds.is_empty() || kinds.contains(&IdKind::WorkerId);
        if workers
            && let Some(worker) = &self.worker
            && let Ok(number) = worker.parse::<u64>()
        {
            found.push(worker.clone());
            found.push(format!("{number:x}"));
        }
        if kinds != [IdKind::WorkerId] || found.is_empty() {
            let hex = self.key.len() >= 16 && self.key.bytes().all(|b| b.is_ascii_hexdigit());
            // With dashes or without, a UUID ends in the same twelve digits.
            let literal = if hex && self.key.len() == 32 { &self.key[20..] } else { plain_run(&self.key) };
            found.push(literal.to_string());
        }
        if found.iter().any(|literal| literal.len() < 2) { None } else { Some(found) }
    }
}

/// The longest run of characters that no JSON or shell writer escapes.
pub fn plain_run(text: &str) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    // Of equal runs any will do.
    text.split(|c| !plain(c)).max_by_key(|run| run.len()).unwrap_or("")
}

/// The beginning of an id.
#[derive(Clone, Debug)]
pub struct IdPrefix {
    /// As typed.
    text: String,
    /// Without a response id's prefix; what the canonical spelling of an id that is not hex begins with.
    stripped: String,
    /// Lower-case digits without dashes, if this can be the beginning of a UUID or of hex.
    hex: Option<String>,
    /// Whether worker ids are compared as numbers in both bases.
    workers: bool,
}

impl IdPrefix {
    /// For fields of ids.
    pub fn new(text: &str) -> IdPrefix {
        let stripped = text.strip_prefix("chatcmpl-").or_else(|| text.strip_prefix("cmpl-")).unwrap_or(text);
        IdPrefix { text: text.to_string(), stripped: stripped.to_string(), hex: hex_prefix(stripped), workers: true }
    }

    /// For a word without a field.
    pub fn free(text: &str) -> IdPrefix {
        IdPrefix { workers: false, ..IdPrefix::new(text) }
    }

    pub fn holds(&self, id: &Id) -> bool {
        if id.text.starts_with(&self.text) {
            return true;
        }
        if self.stripped.is_empty() {
            return false;
        }
        let mut have = String::new();
        if self.workers
            && id.kind == IdKind::WorkerId
            && let Some(number) = ids::worker_id(&id.text)
        {
            let digits = self.stripped.strip_prefix("0x").unwrap_or(&self.stripped);
            let starts = |spelled: String| spelled.starts_with(&digits.to_ascii_lowercase());
            return starts(number.to_string()) || starts(format!("{number:x}"));
        }
        ids::canonical(None, &id.text, &mut have);
        if have.starts_with(&self.stripped) {
            return true;
        }
        let is_hex = have.len() >= 16 && have.bytes().all(|b| b.is_ascii_hexdigit());
        is_hex && self.hex.as_ref().is_some_and(|hex| have.starts_with(hex.as_str()))
    }

    /// As [`IdTest::literals`].
    pub fn literal(&self, kinds: &[IdKind]) -> Option<String> {
        if self.workers && (kinds.is_empty() || kinds.contains(&IdKind::WorkerId)) {
            return None;
        }
        let literal = match &self.hex {
            // The digits before a UUID's first dash stand together in every spelling.
            Some(hex) => &hex[..hex.len().min(DASHES[0])],
            None if self.stripped.is_empty() => plain_run(&self.text),
            None => plain_run(&self.stripped),
        };
        (literal.len() >= 2).then(|| literal.to_string())
    }
}

fn hex_prefix(text: &str) -> Option<String> {
    let mut digits = String::with_capacity(text.len());
    let dashed = text.contains('-');
    for (i, b) in text.bytes().enumerate() {
        if b == b'-' {
            if !DASHES.contains(&i) {
                return None;
            }
        } else if b.is_ascii_hexdigit() && !(dashed && DASHES.contains(&i)) {
            digits.push(b.to_ascii_lowercase() as char);
        } else {
            return None;
        }
    }
    (!digits.is_empty()).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn id(kind: IdKind, text: &str) -> Id<'_> {
        Id { kind, text: Cow::Borrowed(text) }
    }

    const DASHED: &str = "edf9ed01-3219-4585-a510-233214f462c1";

    #[test]
    fn one_id_in_all_spellings() {
        let spelled = [
            DASHED,
            "EDF9ED01-3219-4585-A510-233214F462C1",
            "edf9ed0132194585a510233214f462c1",
            "chatcmpl-edf9ed01-3219-4585-a510-233214f462c1",
        ];
        for a in spelled {
            for b in spelled {
                assert!(IdTest::new(a).holds(&id(IdKind::Rid, b)), "{a} {b}");
                let literals = IdTest::new(a).literals(&[IdKind::Rid]).unwrap();
                assert!(literals.iter().any(|l| b.to_ascii_lowercase().contains(l.as_str())), "{a} {b} {literals:?}");
            }
        }
        assert!(!IdTest::new("abc").holds(&id(IdKind::Session, "ABC")));
        assert!(!IdTest::new(DASHED).holds(&id(IdKind::Rid, "edf9ed01-3219-4585-a510-233214f462d1")));
    }

    #[test]
    fn workers_in_both_bases() {
        let worker = id(IdKind::WorkerId, "fff415b5e1955412");
        assert!(IdTest::new("18443390244906947602").holds(&worker));
        assert!(IdTest::free("0xFFF415B5E1955412").holds(&worker));
        assert!(IdPrefix::new("1844339").holds(&worker));
        assert!(IdPrefix::new("FFF4").holds(&id(IdKind::WorkerId, "18443390244906947602")));
        assert!(!IdPrefix::free("1844339").holds(&worker));
        assert!(IdTest::new("12").holds(&id(IdKind::WorkerId, "0xc")));
        assert!(!IdTest::free("12").holds(&id(IdKind::WorkerId, "0xc")));
        assert_eq!(
            IdTest::new("18443390244906947602").literals(&[IdKind::WorkerId]).unwrap(),
            ["18443390244906947602", "fff415b5e1955412"]
        );
        assert_eq!(IdTest::new("12").literals(&[IdKind::WorkerId]), None);
    }

    #[test]
    fn beginnings() {
        for prefix in ["edf9", "EDF9ED01-32", "edf9ed0132", "chatcmpl-edf9", DASHED] {
            assert!(IdPrefix::new(prefix).holds(&id(IdKind::Rid, "edf9ed0132194585a510233214f462c1")), "{prefix}");
            assert!(IdPrefix::new(prefix).holds(&id(IdKind::Rid, DASHED)), "{prefix}");
            assert_eq!(
                IdPrefix::new(prefix).literal(&[IdKind::Rid]).unwrap(),
                if prefix.len() == 4 || prefix.ends_with("-edf9") { "edf9" } else { "edf9ed01" }
            );
        }
        assert!(IdPrefix::new("chatcmpl-").holds(&id(IdKind::Rid, "chatcmpl-1")));
        assert!(IdPrefix::new("ab").holds(&id(IdKind::Rid, "chatcmpl-abx")));
        assert!(!IdPrefix::new("edf9e-d01").holds(&id(IdKind::Rid, DASHED)));
        assert!(!IdPrefix::new("chatcmpl-").holds(&id(IdKind::Rid, DASHED)));
    }
}
